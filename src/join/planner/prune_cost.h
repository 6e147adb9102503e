/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * prune_cost.h
 *	  Estimates the fraction of a table that is read if partitions and blocks are pruned.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_PRUNE_COST_H
#define BLOOMFAM_JOIN_PRUNE_COST_H

#include "nodes/pathnodes.h"

#include "join/planner/cost.h"

/*
 * Returns the fraction of a base relation that a join with a filter reads, from 0 to 1: of its
 * partitions, if it is partitioned, else of its pages.  "candidate" is the filter, and "built" the
 * build side; the attributes of the candidate's columns are those of "rel", and its expressions of
 * the build side are as in the query.  Returns 1 if bloomfam.join_filter_skip is off.
 */
extern double bloomfam_join_read_fraction(PlannerInfo *root, const RelOptInfo *rel,
										  const JoinCandidate *candidate,
										  const RelOptInfo *built);

#endif							/* BLOOMFAM_JOIN_PRUNE_COST_H */
