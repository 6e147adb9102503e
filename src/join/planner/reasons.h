/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * reasons.h
 *	  Why a key of a hash join has no filter: the reasons, and the text of each.
 *
 * EXPLAIN VERBOSE and the log take their words from here.  .ci/checks/reasons compares the table of
 * docs/join_filter_reference.md.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_REASONS_H
#define BLOOMFAM_JOIN_REASONS_H

/* Whether a filter is made: of the reasons against one, the first that applies. */
typedef enum JoinReason
{
	JOIN_HAS_FILTER,
	JOIN_KEEPS_ROWS,			/* rows without a match are in its result */
	JOIN_KEY_IS_COMPUTED,		/* on the probe side; or on the build side by a subquery */
	JOIN_KEY_HAS_NO_HASH,
	JOIN_KEY_IS_VOLATILE,		/* one of the probe side's: it would be evaluated less often */
	JOIN_HAS_NO_TARGET,
	JOIN_BUILDS_TOO_LATE,		/* all targets are read before there is a filter */
	JOIN_HAS_TOO_MANY_KEYS,		/* it would be discarded */
	JOIN_PROBES_FEW_ROWS,
	JOIN_DROPS_FEW_ROWS,
	JOIN_COSTS_MORE				/* than it saves */
} JoinReason;

/* May the join build before it reads its outer side, where the server would not? */
typedef enum JoinBuildFirst
{
	JOIN_MAY_BUILD_FIRST,
	JOIN_BUILD_WOULD_BE_SEEN,	/* by volatile functions or row locks of either side */
	JOIN_BUILD_COSTS_MORE		/* than all of the outer side, which may turn out to be empty */
} JoinBuildFirst;

/*
 * The texts of the reasons, NULL for JOIN_HAS_FILTER.  A % and a letter after it stand for a
 * figure: %k the keys, %K how many there may be, %r the rows that would be probed, %R
 * bloomfam.join_filter_min_rows, %d the percentage that would be dropped, %D
 * bloomfam.join_filter_min_drop, %s what that saves, %c what it costs, and %b for why the join may
 * not build first.
 */
extern const char *const bloomfam_join_reasons[JOIN_COSTS_MORE + 1];

/* Why the join may not build first, as %b has it and of foreign scans; NULL if it may. */
extern const char *const bloomfam_join_build_first_reasons[JOIN_BUILD_COSTS_MORE + 1];

#endif							/* BLOOMFAM_JOIN_REASONS_H */
