/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * collect.h
 *	  Collects the entries of a build in parts, by the high bits of their hashes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_MAPLET_COLLECT_H
#define BLOOMFAM_MAPLET_COLLECT_H

#include "storage/sharedfileset.h"

#include "maplet/tail.h"

#define MAPLET_PART_BITS	8
#define MAPLET_PARTS		(1 << MAPLET_PART_BITS)

/*
 * The entries that a parallel worker has collected, in files that all processes of the build can
 * read.
 */
typedef struct MapletShare
{
	SharedFileSet *files;
	int			worker;
	uint64	   *counts;			/* The number of entries in each of the MAPLET_PARTS parts. */
} MapletShare;

typedef struct MapletCollector MapletCollector;

/*
 * Makes a collector for entries whose hashes have their first first_bits bits in common.  It
 * collects them in parts by the next MAPLET_PART_BITS bits.  When the entries in memory exceed
 * max_memory bytes, they go to temporary files: to the shared files of *share, which must then
 * outlive the collector, or to private files if share is NULL.  The collector has a memory context
 * of its own, a child of the current one.
 */
extern MapletCollector *bloomfam_maplet_collector_make(int first_bits, Size max_memory,
													   const MapletShare *share);
extern void bloomfam_maplet_collector_free(MapletCollector *collector);

extern void bloomfam_maplet_collect(MapletCollector *collector, const MapletTailEntry *entry,
									uint64 hash);

/*
 * Ends a worker's collector: moves all of its entries to the files of its share, and sets the
 * counts of the share.
 */
extern void bloomfam_maplet_collector_share(MapletCollector *collector);

/*
 * Adds the entries that a worker has shared to the collector. *share must stay valid until all
 * parts have been read.
 */
extern void bloomfam_maplet_collector_add(MapletCollector *collector, const MapletShare *share);

/*
 * Returns the number of entries in part i of the collector, including those of the parallel
 * workers' shares that were added to it.
 */
extern uint64 bloomfam_maplet_part_entries(const MapletCollector *collector, int i);

typedef void (*MapletTakeEntries) (void *arg, const MapletTailEntry *entries, uint32 n);

/*
 * Passes all entries of part i to the function take(), and removes them from the collector.
 * Entries that were collected by the same process are passed in the order in which they were
 * collected.
 */
extern void bloomfam_maplet_part_read(MapletCollector *collector, int i, MapletTakeEntries take,
									  void *arg);

#endif							/* BLOOMFAM_MAPLET_COLLECT_H */
