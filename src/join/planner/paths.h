/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * paths.h
 *	  Offers the planner joins at a cost that is lowered by what their filters are expected to save.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_PATHS_H
#define BLOOMFAM_JOIN_PATHS_H

#include "nodes/pathnodes.h"

/*
 * Offers the planner joins of a pair of relations whose cost is lowered by what a filter is
 * expected to save.  Must be called as a set_join_pathlist_hook.
 */
extern void bloomfam_join_add_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
									RelOptInfo *innerrel, JoinType jointype,
									JoinPathExtraData *extra);

#endif							/* BLOOMFAM_JOIN_PATHS_H */
