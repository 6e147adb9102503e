/*-------------------------------------------------------------------------
 *
 * prune_cost.h
 *	  Which fraction of a table is read by a hash join that prunes partitions and blocks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_PRUNE_COST_H
#define BLOOMFAM_JOIN_PRUNE_COST_H

#include "nodes/pathnodes.h"

#include "join/planner/pushdown.h"

/*
 * The fraction of a base relation that is read, from 0 to 1: of its partitions, if it has some,
 * else of its pages.  The hash join is by these columns, with innerrel on the inner side, and drops
 * this fraction of the relation's rows.  The columns' attributes are the relation's; inner is as it
 * is in the query.  1 while bloomfam.join_filter_skip is off.
 */
extern double bloomfam_join_read_fraction(PlannerInfo *root, const RelOptInfo *rel,
										  const JoinKeyColumn *columns, int ncolumns,
										  const RelOptInfo *innerrel, double drop);

#endif							/* BLOOMFAM_JOIN_PRUNE_COST_H */
