/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * gather.h
 *	  Gathers the entries of a table's rows for a build, in one process or with parallel workers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_MAPLET_GATHER_H
#define BLOOMFAM_MAPLET_GATHER_H

#include "access/parallel.h"
#include "nodes/execnodes.h"
#include "utils/snapshot.h"

#include "maplet/collect.h"
#include "maplet/run.h"

typedef struct MapletGathered
{
	MapletCollector *collector;
	Size		memory;			/* The memory limit of each collector, in bytes. */
	MapletRunFacts facts;
	double		heap_tuples;

	/* The number of parallel workers that took part, not counting this process. */
	int			workers;
	ParallelContext *parallel;	/* NULL if there are no parallel workers. */
	Snapshot	snapshot;
} MapletGathered;

/*
 * Scans the table and fills *gathered with the entries of its rows. meta is the metapage's contents
 * of the index to be built, which say how keys are hashed.  The collector holds all entries until
 * bloomfam_maplet_gather_end() is called, and must not be used afterwards.
 */
extern void bloomfam_maplet_gather(Relation table, Relation index, IndexInfo *info,
								   const MapletMeta *meta, MapletGathered *gathered);
extern void bloomfam_maplet_gather_end(MapletGathered *gathered);

#endif							/* BLOOMFAM_MAPLET_GATHER_H */
