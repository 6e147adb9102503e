/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * merge.h
 *	  Merges runs, a little at a time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_MAPLET_MERGE_H
#define BLOOMFAM_MAPLET_MERGE_H

#include "maplet/meta.h"

/* While the index has more runs than this, no tail is flushed before some runs are merged. */
#define MAPLET_MANY_RUNS		(MAPLET_MAX_RUNS - 12)

/*
 * Merges runs while there are more than MAPLET_MANY_RUNS, which happens if many steps were
 * cancelled.  The caller must hold none of the locks SWITCH, FLUSH and MERGE.
 */
extern void bloomfam_maplet_limit_runs(Relation index);

/*
 * Does a step of merging, after this number of entries were inserted, unless another process is
 * merging.  Does more steps if there are more than MAPLET_MANY_RUNS runs.  The caller must hold
 * none of the locks SWITCH, FLUSH and MERGE.
 */
extern void bloomfam_maplet_merge_some(Relation index, uint64 inserted);

/*
 * Does all merges that are under way or due, step by step, to their end.  If everything is true,
 * all runs with the same number of kept bits become one.  The caller must hold none of the locks
 * SWITCH, FLUSH and MERGE.
 */
extern void bloomfam_maplet_merge_all(Relation index, bool everything);

#endif							/* BLOOMFAM_MAPLET_MERGE_H */
