/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * sizes.h
 *	  What samples have changed of the sizes that the planner knows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_SIZES_H
#define BLOOMFAM_JOIN_SIZES_H

#include "nodes/pathnodes.h"

/*
 * The changes for one search for a join order; all in the planner's memory.  Those of a search
 * for a part of the joins stay: the search for the rest takes them for the server's own.
 */
typedef struct JoinSizes
{
	List	   *clauses;		/* what stood in each changed clause: JoinSizeOfClause */
	List	   *keys;			/* the query's foreign keys, as they were */
} JoinSizes;

/* Gives a clause other selectivities, as cost.h has them: of inner joins, of the join's type. */
extern void bloomfam_join_sizes_set(PlannerInfo *root, JoinSizes *sizes, RestrictInfo *info,
									Selectivity norm, Selectivity outer);

/* Leaves these of the query's foreign keys. */
extern void bloomfam_join_sizes_set_keys(PlannerInfo *root, JoinSizes *sizes, List *keys);

/* Has anything been changed? */
extern bool bloomfam_join_sizes_differ(const JoinSizes *sizes);

/* Exchanges what is there with what was there: the server's own sizes are back, or the others. */
extern void bloomfam_join_sizes_swap(PlannerInfo *root, JoinSizes *sizes);

/*
 * Forgets the selectivities that a search has estimated for joins that are no inner ones: those of
 * semi joins depend on the sizes of the joins within them.
 */
extern void bloomfam_join_sizes_forget_outer(PlannerInfo *root);

#endif							/* BLOOMFAM_JOIN_SIZES_H */
