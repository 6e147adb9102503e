/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * maplet.h
 *	  The entry points of the index access method "maplet", which the server calls.
 *
 * The README in this folder describes the life of an entry, the locks, the invariants, and the
 * files in their order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_MAPLET_H
#define BLOOMFAM_MAPLET_H

#include "pg/compat.h"

#include "access/amapi.h"
#include "access/genam.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"

/*
 * The largest number of keys that a scan looks up if it has arrays for several columns, whose
 * elements are combined.  A single array may have more elements.
 */
#define MAPLET_MAX_COMBINATIONS	(1024 * 1024)

/* Defined in maplet.c, and called when the module is loaded. */
extern void bloomfam_maplet_init(void);

/* Defined in build.c. */
extern IndexBuildResult *bloomfam_maplet_build(Relation table, Relation index, IndexInfo *info);
extern void bloomfam_maplet_buildempty(Relation index);

/* Defined in insert.c. */
extern bool bloomfam_maplet_insert(Relation index, Datum *values, bool *isnull, ItemPointer tid,
								   Relation table, IndexUniqueCheck unique, bool unchanged,
								   IndexInfo *info);

/* Defined in scan.c. */
extern IndexScanDesc bloomfam_maplet_beginscan(Relation index, int nkeys, int norderbys);
extern void bloomfam_maplet_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys,
								   int norderbys);
extern bool bloomfam_maplet_gettuple(IndexScanDesc scan, ScanDirection direction);
extern int64 bloomfam_maplet_getbitmap(IndexScanDesc scan, TIDBitmap *bitmap);
extern void bloomfam_maplet_endscan(IndexScanDesc scan);

/* Defined in vacuum.c. */
extern IndexBulkDeleteResult *bloomfam_maplet_bulkdelete(IndexVacuumInfo *info,
														 IndexBulkDeleteResult *stats,
														 IndexBulkDeleteCallback callback,
														 void *callback_state);
extern IndexBulkDeleteResult *bloomfam_maplet_vacuumcleanup(IndexVacuumInfo *info,
															IndexBulkDeleteResult *stats);

/* Defined in cost.c. */
extern void bloomfam_maplet_costestimate(PlannerInfo *root, IndexPath *path, double loop_count,
										 Cost *startup_cost, Cost *total_cost,
										 Selectivity *selectivity, double *correlation,
										 double *pages);

#endif							/* BLOOMFAM_MAPLET_H */
