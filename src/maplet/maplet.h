/*-------------------------------------------------------------------------
 *
 * maplet.h
 *	  The index access method "maplet": what it is, and the entry points of the server.
 *
 * A maplet index maps the hash of a key to the places (TIDs) of its rows.  It keeps only part of
 * the hash, so that it names a few false places, which the server rechecks; it never misses a
 * row.  It is a log-structured store: new entries gather in a small hash table, the *tail*, which
 * is written out as an immutable sorted *run* when it is full; runs are merged into larger ones.
 *
 * Layout
 *
 *	block 0		the metapage (meta.h): all runs, the two tails, merges under way
 *	tails		up to 128 pages each.  The page is the high end of the hash; entries of 12 bytes
 *				(48 bits of hash, TID) are appended to it.  A full page sends what follows to its
 *				next neighbour, up to 16 pages on.  There are two, so that inserts go on while one
 *				is flushed; they begin with 2 pages and double at each switch
 *	runs		pages as src/core/bf_run.h makes them: a main page per interval of hashes, and
 *				overflow pages
 *
 * Every page but the metapage says whose it is: the id of its run, or the generation of its tail
 * (page.h).  Ids are 64 bits, never used twice.  What the metapage does not list is free space,
 * and is used again without further ado: a reader that finds a page of another id begins its key
 * again from the metapage, whose version must have changed; if it has not, the page is damaged.
 *
 * Who may do what when
 *
 *	- An insert takes the metapage in SHARE mode, then its tail page EXCLUSIVE, and keeps both
 *	  while it adds its entry.  The switch of tails takes the metapage EXCLUSIVE: so whoever
 *	  reads the old tail afterwards sees all that was inserted into it.
 *	- A look-up compares the metapage's version, copies it if it has changed, and judges tails
 *	  and runs of a key by that one copy.  An entry is in a tail that the copy knows, or in a run
 *	  that it knows, or an id differs: so look-ups are linearizable.
 *	- A page of a run is written before the metapage lists the run, and changes only in that
 *	  VACUUM removes entries in place.
 *	- Work on the index as a whole is done under heavyweight page locks (MapletLock), each for a
 *	  short time: the switch, a quantum of a flush, a quantum of merging.  Order: SWITCH, FLUSH,
 *	  MERGE, each taken when none of the others is held; then metapage, then tail or run page.
 *	  Nobody asks for the metapage while holding another page.
 *	- VACUUM holds none of them throughout (vacuum.c).
 *
 * A crash between any two steps leaves an index that is whole: each step ends with one change of
 * the metapage.  What a flush or a merge writes is reserved there, and it goes on behind what the
 * metapage says is written.
 *
 * Files, in their order: page, meta, hash, sort, run (read and write runs), merge, tail (switch,
 * flush), lookup, verify; on these stand collect, gather and build, scan, vacuum, cost, info, check
 * and the handler.
 *
 * Source: the structure is a maplet (Bender, Conway, Farach-Colton, Kuszmaul, Tagliavini, arXiv
 * 2510.05518) of quotiented fingerprints (Bender et al., "Don't thrash", VLDB 2012) in a
 * log-structured merge tree (O'Neil et al. 1996).
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

/* maplet.c; called when the module is loaded */
extern void bloomfam_maplet_init(void);

/* build.c */
extern IndexBuildResult *bloomfam_maplet_build(Relation table, Relation index, IndexInfo *info);
extern void bloomfam_maplet_buildempty(Relation index);

/* insert.c */
extern bool bloomfam_maplet_insert(Relation index, Datum *values, bool *isnull, ItemPointer tid,
								   Relation table, IndexUniqueCheck unique, bool unchanged,
								   IndexInfo *info);

/* scan.c */
extern IndexScanDesc bloomfam_maplet_beginscan(Relation index, int nkeys, int norderbys);
extern void bloomfam_maplet_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys,
								   int norderbys);
extern bool bloomfam_maplet_gettuple(IndexScanDesc scan, ScanDirection direction);
extern int64 bloomfam_maplet_getbitmap(IndexScanDesc scan, TIDBitmap *bitmap);
extern void bloomfam_maplet_endscan(IndexScanDesc scan);

/* vacuum.c */
extern IndexBulkDeleteResult *bloomfam_maplet_bulkdelete(IndexVacuumInfo *info,
														 IndexBulkDeleteResult *stats,
														 IndexBulkDeleteCallback callback,
														 void *callback_state);
extern IndexBulkDeleteResult *bloomfam_maplet_vacuumcleanup(IndexVacuumInfo *info,
															IndexBulkDeleteResult *stats);

/* cost.c */
extern void bloomfam_maplet_costestimate(PlannerInfo *root, IndexPath *path, double loop_count,
										 Cost *startup_cost, Cost *total_cost,
										 Selectivity *selectivity, double *correlation,
										 double *pages);

#endif							/* BLOOMFAM_MAPLET_H */
