/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * gather.h
 *	  Gathering the entries of a table's rows for a build, alone or with parallel workers.
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
	Size		memory;			/* what it and the like of it may take, in bytes */
	MapletRunFacts facts;
	double		heap_tuples;
	int			workers;		/* that took part, beside this process */
	ParallelContext *parallel;	/* NULL: there were none */
	Snapshot	snapshot;
} MapletGathered;

/*
 * Scans the table.  meta: of the index to be built, which says how keys are hashed.  The collector
 * has all entries until the end is called, after which it is not to be used.
 */
extern void bloomfam_maplet_gather(Relation table, Relation index, IndexInfo *info,
								   const MapletMeta *meta, MapletGathered *gathered);
extern void bloomfam_maplet_gather_end(MapletGathered *gathered);

#endif							/* BLOOMFAM_MAPLET_GATHER_H */
