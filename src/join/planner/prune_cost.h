/* SPDX-License-Identifier: PostgreSQL */
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

#include "join/planner/cost.h"

/*
 * The fraction of a base relation that is read, from 0 to 1: of its partitions, if it has some,
 * else of its pages.  The hash join is the candidate's, with innerrel on the inner side.  Its
 * columns' attributes are the relation's; inner is as it is in the query.  1 while
 * bloomfam.join_filter_skip is off.
 */
extern double bloomfam_join_read_fraction(PlannerInfo *root, const RelOptInfo *rel,
										  const JoinCandidate *candidate,
										  const RelOptInfo *innerrel);

#endif							/* BLOOMFAM_JOIN_PRUNE_COST_H */
