/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * merge.h
 *	  Merging runs, a little at a time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_MAPLET_MERGE_H
#define BLOOMFAM_MAPLET_MERGE_H

#include "maplet/meta.h"

/* With more runs than this no tail is flushed before some are merged. */
#define MAPLET_MANY_RUNS		(MAPLET_MAX_RUNS - 12)

/*
 * Merges while the runs are more, as they are if many steps were cancelled.  The caller holds no
 * lock.
 */
extern void bloomfam_maplet_limit_runs(Relation index);

/*
 * A step, after so many entries were inserted, unless somebody else is at it; several, if the runs
 * are too many.  The caller holds no lock.
 */
extern void bloomfam_maplet_merge_some(Relation index, uint64 inserted);

/*
 * All merges that are under way or due, to the end, step by step.  everything: all runs of
 * equal bits become one.  The caller holds no lock.
 */
extern void bloomfam_maplet_merge_all(Relation index, bool everything);

#endif							/* BLOOMFAM_MAPLET_MERGE_H */
