/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * tail.h
 *	  Tails: the hash tables that take new entries.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_MAPLET_TAIL_H
#define BLOOMFAM_MAPLET_TAIL_H

#include "core/bf_hash.h"
#include "storage/itemptr.h"

#include "maplet/meta.h"

/*
 * An entry.  A page's entries are appended, and its unused ones are zero, so that the first whose
 * TID has offset 0 is the end.  pd_lower is that of a full page, but for a page without any.
 */
typedef struct MapletTailEntry
{
	uint16		hash[3];		/* the high bits of the hash, the highest first */
	ItemPointerData tid;
} MapletTailEntry;

StaticAssertDecl(sizeof(MapletTailEntry) == 12, "no padding in tails");

#define MAPLET_TAIL_CAPACITY	((int) (MAPLET_BODY / sizeof(MapletTailEntry)))
#define MAPLET_TAIL_USED		(MAPLET_TAIL_CAPACITY * sizeof(MapletTailEntry))

/* A full page sends entries to so many pages after it, at most; then the tail is full. */
#define MAPLET_TAIL_WALK		16

static inline MapletTailEntry *
maplet_tail_entries(Page page)
{
	return (MapletTailEntry *) maplet_body(page);
}

static inline void
maplet_tail_entry(MapletTailEntry *entry, uint64 hash, ItemPointer tid)
{
	entry->hash[0] = (uint16) (hash >> 48);
	entry->hash[1] = (uint16) (hash >> 32);
	entry->hash[2] = (uint16) (hash >> 16);
	entry->tid = *tid;
}

static inline uint64
maplet_tail_hash(const MapletTailEntry *entry)
{
	return (uint64) entry->hash[0] << 48 | (uint64) entry->hash[1] << 32 |
		(uint64) entry->hash[2] << 16;
}

/* The page of a hash among so many, a power of two. */
static inline uint32
maplet_tail_page(uint64 hash, uint32 npages)
{
	return (uint32) bf_cell(hash, npages);
}

static inline uint64
maplet_tid_place(const ItemPointerData *tid)
{
	return BF_RUN_PLACE((uint64) ItemPointerGetBlockNumberNoCheck(tid),
						ItemPointerGetOffsetNumberNoCheck(tid));
}

/* A tail is doubled when the runs have so many times the entries that it has room for. */
#define MAPLET_TAIL_SHARE		4

/*
 * Steps of flushing and merging while a tail fills.  Chosen pages trigger one each, at staggered
 * fill counts, so that steps spread evenly over that time.
 */
#define MAPLET_TAIL_STEPS		32

static inline uint32
maplet_pages_per_step(uint32 npages)
{
	return Max(npages / MAPLET_TAIL_STEPS, 1);
}

/* Is a step due, as page number has got its count-th entry? */
static inline bool
maplet_step_is_due(uint32 number, int count, uint32 npages)
{
	uint32		pages = maplet_pages_per_step(npages);

	return number % pages == 0 &&
		count == (int) (MAPLET_TAIL_CAPACITY * (number + pages) / (npages + pages));
}

/* How many entries a page has.  Any bytes will do. */
extern int	bloomfam_maplet_tail_count(Page page);

/*
 * The same for who is to write them anew, so that entries behind one without a place would be lost.
 * Raises an error if there is such a gap.  Reads all of the page.
 */
extern int	bloomfam_maplet_tail_count_checked(Relation index, BlockNumber block, Page page);

/* Writes the empty pages of a tail. */
extern void bloomfam_maplet_tail_format(Relation index, ForkNumber fork, const MapletTail *tail,
										bool log);

/*
 * A step, after so many entries were inserted: twice as many are flushed of the tail that waits for
 * it, if one does and nobody else is at it, so that it is done when the other one is half full;
 * and a step of merging.  The caller holds no lock.
 */
extern void bloomfam_maplet_step(Relation index, uint64 inserted);

/*
 * Ends the flush of the tail that waits for it at the call, if one does.  The caller holds no
 * lock.
 */
extern void bloomfam_maplet_flush(Relation index);

/*
 * Makes room for inserts: switches tails unless the active one is not of this generation any
 * more; before, ends a flush under way.
 */
extern void bloomfam_maplet_make_room(Relation index, uint64 generation);

/* Flushes both tails, so that all entries there are at the call are in runs. */
extern void bloomfam_maplet_flush_all(Relation index);

#endif							/* BLOOMFAM_MAPLET_TAIL_H */
