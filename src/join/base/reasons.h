/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * reasons.h
 *	  Why something was not done: the reasons, and the text of each.
 *
 * EXPLAIN and the log take their words from here.  .ci/checks/reasons compares the tables of
 * docs/join_filter_reference.md and docs/foreign_scans.md.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_REASONS_H
#define BLOOMFAM_JOIN_REASONS_H

/* The check knows by the beginning of a reason's name which table of the docs has its text. */
typedef enum JoinReason
{
	JOIN_NO_REASON,				/* it is done, or may be done */

	/* Why a key has no filter (planner/decision.c, planner/cost.c): the first that applies. */
	JOIN_KEEPS_ROWS,			/* rows without a match are in its result */
	JOIN_KEY_IS_COMPUTED,		/* on the probe side; or on the build side by a subquery */
	JOIN_KEY_HAS_NO_HASH,
	JOIN_KEY_IS_VOLATILE,		/* one of the probe side's: it would be evaluated less often */
	JOIN_HAS_NO_TARGET,
	JOIN_BUILDS_TOO_LATE,		/* all targets are read before there is a filter */
	JOIN_HAS_TOO_MANY_KEYS,		/* it would be discarded */
	JOIN_PROBES_FEW_ROWS,
	JOIN_DROPS_FEW_ROWS,
	JOIN_COSTS_MORE,			/* than it saves */

	/* Why a join has no filter that is no hash join (report/decisions.c). */
	JOIN_BY_MERGE,
	JOIN_BY_LOOP,
	JOIN_BY_INDEX,
	JOIN_IS_VOLATILE,

	/* Why a join may not build before it reads its outer side (planner/decision.c). */
	JOIN_BUILD_WOULD_BE_SEEN,	/* by volatile functions or row locks of either side */
	JOIN_BUILD_COSTS_MORE,		/* than all of the outer side, which may turn out to be empty */

	/*
	 * Why a foreign scan is sent nothing (planner/pushdown.c, fdw/sending.c).  It is sent nothing
	 * either if the join may not build first.
	 */
	JOIN_FOREIGN_UNKNOWN_MAJOR,
	JOIN_FOREIGN_SIZE_IS_0,
	JOIN_FOREIGN_OTHER_WRAPPER,
	JOIN_FOREIGN_IN_WORKERS,
	JOIN_FOREIGN_BUILD_DEPENDS, /* on a row outside of the join */
	JOIN_FOREIGN_BUILD_VARIES,	/* and EvalPlanQual may build anew, with rows locked or changed */
	JOIN_FOREIGN_BEGINS_ANEW,
	JOIN_FOREIGN_LOCKS_OR_SORTS,
	JOIN_FOREIGN_IS_VOLATILE,
	JOIN_FOREIGN_NOT_IN_SCAN,	/* the key is not among the scan's columns */
	JOIN_FOREIGN_NOT_IN_QUERY,	/* the key is not among the remote query's columns */
	JOIN_FOREIGN_RIGHTS_OF_OTHERS,

	/* Why a foreign scan is sent no filter (fdw/sending.c). */
	JOIN_FOREIGN_NO_EXTENSION,
	JOIN_FOREIGN_NO_EXTENSION_HERE,
	JOIN_FOREIGN_OTHER_HASH,
	JOIN_FOREIGN_OTHER_TEXT,	/* collation or encoding */

	/* Why a foreign scan is sent no keys or bounds (fdw/sending.c). */
	JOIN_FOREIGN_KEYS_ARE_0,
	JOIN_FOREIGN_NO_TABLE,
	JOIN_FOREIGN_TYPE,
	JOIN_FOREIGN_TYPE_OF_BOUNDS,
	JOIN_FOREIGN_COLLATION,
	JOIN_FOREIGN_OTHER_USER,

	/* The same, by what its server told of the remote table (fdw/remote_table.c, fdw/sending.c). */
	JOIN_FOREIGN_NOT_TOLD,
	JOIN_FOREIGN_NO_REMOTE_TABLE,
	JOIN_FOREIGN_TOO_OLD,
	JOIN_FOREIGN_REMOTE_TYPE,
	JOIN_FOREIGN_REMOTE_TYPMOD,

	/* Why no partition is skipped (planner/partition_ancestors.c). */
	JOIN_PARTITION_OTHER_KEY,
	JOIN_PARTITION_OTHER_EQUALITY,
	JOIN_PARTITION_OTHER_TYPE,
	JOIN_PARTITION_PART_OF_HASH,
	JOIN_PARTITION_IS_VOLATILE,

	/*
	 * Why a partition is read (executor/partition_pruning.c, executor/probe.c), or all blocks of a
	 * table are (executor/block_pruning.c, executor/heap_batch.c).  What JOIN_SKIP_ begins is said
	 * of both.  Of the reasons of several processes, the last one here is shown.
	 */
	JOIN_BLOCKS_NOT_YET,		/* the keys may become known while the table is read: not shown */
	JOIN_SKIP_TOO_LATE,			/* it was begun before the keys were known */
	JOIN_PARTITION_CAN_MATCH,	/* as far as its bounds tell: not shown */
	JOIN_SKIP_KEYS_UNKNOWN,		/* the keys were not kept */
	JOIN_PARTITION_MANY_KEYS,	/* too many to look up, and bounds are not in the keys' order */
	JOIN_PARTITION_NEW,			/* the snapshot may see rows outside its bounds */
	JOIN_SKIP_ALL_OR_NONE,		/* an all-or-none target whose filter lets rows pass by accident */
	JOIN_BLOCKS_NO_INDEX,		/* no index has all that the snapshot sees */
	JOIN_BLOCKS_COSTLY,			/* searching the index takes too long beside the scan */
	JOIN_BLOCKS_MANY,			/* those that can match are too many, or too scattered */

	/* Why no list of keys was sent to a foreign server (fdw/key_list.c). */
	JOIN_KEY_LIST_TOO_MANY,
	JOIN_KEY_LIST_TOO_LARGE,
	JOIN_KEY_LIST_NOT_ASCII		/* other encodings may not have the text */
} JoinReason;

#define JOIN_REASONS	(JOIN_KEY_LIST_NOT_ASCII + 1)

/*
 * The texts of the reasons; NULL for JOIN_NO_REASON, and for those that are not shown.  A % and a
 * letter after it stand for a figure of the decision on a key: %k the keys, %K how many there may
 * be, %r the rows that would be probed, %R bloomfam.join_filter_min_rows, %d the percentage that
 * would be dropped, %D bloomfam.join_filter_min_drop, %s what that saves, %c what it costs, and %b
 * for why the join may not build first.
 */
extern const char *const bloomfam_join_reason_texts[JOIN_REASONS];

#endif							/* BLOOMFAM_JOIN_REASONS_H */
