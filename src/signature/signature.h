/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * signature.h
 *	  The entry points of the index access method "signature", which the server calls.
 *
 * The README in this folder describes the states of a range, the invariants, and the files in their
 * order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_SIGNATURE_H
#define BLOOMFAM_SIGNATURE_H

#include "pg/compat.h"

#include "access/amapi.h"
#include "access/genam.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"

/* Defined in signature.c, and called when the module is loaded. */
extern void bloomfam_signature_init(void);

/* Defined in build.c. */
extern IndexBuildResult *bloomfam_signature_build(Relation table, Relation index,
												  IndexInfo *info);
extern void bloomfam_signature_buildempty(Relation index);

/* Defined in insert.c. */
extern bool bloomfam_signature_insert(Relation index, Datum *values, bool *isnull,
									  ItemPointer tid, Relation table, IndexUniqueCheck unique,
									  bool unchanged, IndexInfo *info);

/* Defined in vacuum.c. */
extern IndexBulkDeleteResult *bloomfam_signature_bulkdelete(IndexVacuumInfo *info,
															IndexBulkDeleteResult *stats,
															IndexBulkDeleteCallback callback,
															void *callback_state);
extern IndexBulkDeleteResult *bloomfam_signature_vacuumcleanup(IndexVacuumInfo *info,
															   IndexBulkDeleteResult *stats);

/* Defined in scan.c. */
extern IndexScanDesc bloomfam_signature_beginscan(Relation index, int nkeys, int norderbys);
extern void bloomfam_signature_rescan(IndexScanDesc scan, ScanKey keys, int nkeys,
									  ScanKey orderbys, int norderbys);
extern int64 bloomfam_signature_getbitmap(IndexScanDesc scan, TIDBitmap *bitmap);
extern void bloomfam_signature_endscan(IndexScanDesc scan);

/* Defined in cost.c. */
extern void bloomfam_signature_costestimate(PlannerInfo *root, IndexPath *path,
											double loop_count, Cost *startup_cost,
											Cost *total_cost, Selectivity *selectivity,
											double *correlation, double *pages);

#endif							/* BLOOMFAM_SIGNATURE_H */
