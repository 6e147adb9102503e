/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * collect.h
 *	  The entries of a build, collected by the high bits of their hashes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_MAPLET_COLLECT_H
#define BLOOMFAM_MAPLET_COLLECT_H

#include "storage/sharedfileset.h"

#include "maplet/tail.h"

#define MAPLET_PART_BITS	8
#define MAPLET_PARTS		(1 << MAPLET_PART_BITS)

/* What a worker has collected, in files that all of the build's processes can read. */
typedef struct MapletShare
{
	SharedFileSet *files;
	int			worker;
	uint64	   *counts;			/* entries of each of the MAPLET_PARTS */
} MapletShare;

typedef struct MapletCollector MapletCollector;

/*
 * For entries that have so many first bits in common: in parts by the next MAPLET_PART_BITS.  What
 * exceeds max_memory, bytes, goes to temporary files, those of *share if it is not NULL, which
 * then must stay.  In a memory context of its own, below the current one.
 */
extern MapletCollector *bloomfam_maplet_collector_make(int first_bits, Size max_memory,
													   const MapletShare *share);
extern void bloomfam_maplet_collector_free(MapletCollector *collector);

extern void bloomfam_maplet_collect(MapletCollector *collector, const MapletTailEntry *entry,
									uint64 hash);

/* A worker's end: puts all of its entries into the files of its share, and sets the counts. */
extern void bloomfam_maplet_collector_share(MapletCollector *collector);

/* Adds what a worker has shared.  *share must stay until the parts are read. */
extern void bloomfam_maplet_collector_add(MapletCollector *collector, const MapletShare *share);

/* How many entries part i has. */
extern uint64 bloomfam_maplet_part_entries(const MapletCollector *collector, int i);

typedef void (*MapletTakeEntries) (void *arg, const MapletTailEntry *entries, uint32 n);

/*
 * Gives all entries of a part, those of one process in the order that they came in, and forgets
 * them.
 */
extern void bloomfam_maplet_part_read(MapletCollector *collector, int i, MapletTakeEntries take,
									  void *arg);

#endif							/* BLOOMFAM_MAPLET_COLLECT_H */
