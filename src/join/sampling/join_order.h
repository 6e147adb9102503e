/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * join_order.h
 *	  Whether another join order is worth it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_ORDER_H
#define BLOOMFAM_JOIN_ORDER_H

#include "optimizer/paths.h"

#include "join/sampling/sizes.h"

/* Joins are planned anew if that makes the query cheaper by this fraction. */
#define JOIN_REORDER_MARGIN	0.2

typedef enum JoinReorderChoice
{
	JOIN_REORDER_NOT_COMPARED,
	JOIN_REORDER_KEPT,			/* the joins are those that the server finds by its own sizes */
	JOIN_REORDER_CHANGED
} JoinReorderChoice;

typedef struct JoinReorder
{
	JoinReorderChoice choice;
	double		saving;			/* of the others beside those, as a fraction of the cost */
} JoinReorder;

/*
 * Searches for a join order, by the function that would do that anyway.  If samples have changed
 * sizes, that is called twice: the joins that the server finds by its own sizes are costed by the
 * changed ones.  They are kept, in their order and by their methods, unless others are cheaper by
 * the margin.
 */
extern RelOptInfo *bloomfam_join_order_search(PlannerInfo *root, int levels, List *initial_rels,
											  JoinSizes *sizes, join_search_hook_type search,
											  JoinReorder *order);

/*
 * Takes the paths that were just made for a join with this outer side, where a join is planned
 * anew.  To be called when all others have made theirs.
 */
extern void bloomfam_join_order_take_paths(RelOptInfo *joinrel, const RelOptInfo *outerrel);

#endif							/* BLOOMFAM_JOIN_ORDER_H */
