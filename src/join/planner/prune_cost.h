/*-------------------------------------------------------------------------
 *
 * prune_cost.h
 *	  What share of a table a hash join is expected to read that leaves out partitions and pages.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_PRUNE_COST_H
#define BLOOMFAM_JOIN_PRUNE_COST_H

#include "nodes/pathnodes.h"

#include "join/planner/pushdown.h"

/*
 * The share of what reading all of a base relation costs, from 0 to 1, in a hash join by these
 * columns with this relation on the inner side that drops this share of the relation's rows: of its
 * partitions, if it has some, else of its pages.  The columns' attributes are the relation's, and
 * inner is as it is in the query.  1 while bloomfam.join_filter_skip is off.
 */
extern double bloomfam_join_read_fraction(PlannerInfo *root, const RelOptInfo *rel,
										  const JoinKeyColumn *columns, int ncolumns,
										  const RelOptInfo *innerrel, double drop);

#endif							/* BLOOMFAM_JOIN_PRUNE_COST_H */
