/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * join_type.h
 *	  What the planner of filters knows of types of joins.
 *
 * "Outer" and "inner" are the sides of the plan node; a hash join hashes its inner side.  Each
 * function is false for a type that it does not name, which gives no wrong result: a filter is not
 * made, not pushed through the join, or not offered as a partial path or a merge join, or the join
 * is taken not to build first, or to hide rows.  Only estimates may be wrong then, by
 * bloomfam_join_returns_built().
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_TYPE_H
#define BLOOMFAM_JOIN_TYPE_H

#include "nodes/nodes.h"

#include "pg/compat.h"

/*
 * Tells whether outer rows that match no inner row add nothing to the join, so that a filter of the
 * inner side's keys may drop them.
 */
static inline bool
bloomfam_join_drops_outer(JoinType type)
{
	return type == JOIN_INNER || type == JOIN_SEMI || type == JOIN_RIGHT ||
		   BLOOMFAM_IS_RIGHT_SEMI_OR_ANTI(type);
}

/*
 * Tells the same of inner rows, so that a filter of the outer side's keys may drop them.  It is
 * asked for merge joins alone.
 */
static inline bool
bloomfam_join_drops_inner(JoinType type)
{
	return type == JOIN_INNER || type == JOIN_LEFT || type == JOIN_SEMI || type == JOIN_ANTI;
}

/*
 * Tells whether the join's rows are some of the rows of a filter's build side, each at most once:
 * those that match a row of the probe side, or those that match none.  "probes_inner" says that the
 * probe side is the inner one.  With another type, no fewer rows are joined than match.
 */
static inline bool
bloomfam_join_returns_built(JoinType type, bool probes_inner)
{
	return probes_inner ? type == JOIN_SEMI || type == JOIN_ANTI
						: BLOOMFAM_IS_RIGHT_SEMI_OR_ANTI(type);
}

/* Returns how many rows of the build side match a row of the probe side, in a join of that sort. */
static inline double
bloomfam_join_matching_built(JoinType type, double joined, double built)
{
	return type == JOIN_ANTI || BLOOMFAM_IS_RIGHT_ANTI(type) ? Max(built - joined, 0)
															 : Min(joined, built);
}

/* Tells whether outer rows may be dropped if the joins above have no use for them. */
static inline bool
bloomfam_join_may_pass_outer(JoinType type)
{
	return type == JOIN_INNER || type == JOIN_LEFT || type == JOIN_SEMI || type == JOIN_ANTI;
}

/* Tells whether inner rows may be dropped if the joins above have no use for them. */
static inline bool
bloomfam_join_may_pass_inner(JoinType type)
{
	return type == JOIN_INNER || type == JOIN_RIGHT || BLOOMFAM_IS_RIGHT_SEMI_OR_ANTI(type);
}

/*
 * Tells whether rows of one side may be dropped if the joins above have no use for the rows of the
 * other side that they match: the outer side, or, if to_inner is true, the inner one.
 */
static inline bool
bloomfam_join_may_pass_across(JoinType type, bool to_inner)
{
	return type == JOIN_INNER || (type == JOIN_SEMI && to_inner);
}

/* Tells whether a hash join needs its unmatched inner rows, and so builds before it probes. */
static inline bool
bloomfam_join_needs_inner(JoinType type)
{
	return type == JOIN_RIGHT || type == JOIN_FULL || BLOOMFAM_IS_RIGHT_ANTI(type);
}

/*
 * Tells, of those types by which outer rows may be dropped, whether each process of a parallel plan
 * may join its part of the outer rows with all inner rows.  With the others, each process would
 * return those inner rows that match none of its own outer rows, or match one once more.
 */
static inline bool
bloomfam_join_may_be_partial(JoinType type)
{
	return type == JOIN_INNER || type == JOIN_SEMI;
}

/* Tells whether the join only asks whether outer rows have a match. */
static inline bool
bloomfam_join_is_existence(JoinType type)
{
	return type == JOIN_SEMI || type == JOIN_ANTI;
}

/* Tells whether the join returns all of its outer rows, so that it hides none of them. */
static inline bool
bloomfam_join_returns_outer(JoinType type)
{
	return type == JOIN_LEFT;
}

#endif							/* BLOOMFAM_JOIN_TYPE_H */
