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

/*
 * A step, after so many entries were inserted: a quantum, unless somebody else is at it; more, if
 * the runs are too many.  The caller holds no lock.
 */
extern void bloomfam_maplet_merge_some(Relation index, uint64 inserted);

/*
 * All merges that are under way or due, to the end, quantum by quantum.  everything: all runs of
 * equal bits become one.  The caller holds no lock.
 */
extern void bloomfam_maplet_merge_all(Relation index, bool everything);

#endif							/* BLOOMFAM_MAPLET_MERGE_H */
