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
 * An entry of a tail.  Entries are appended to a page, and unused ones are zero, so the first entry
 * whose TID has offset number 0 is the end.  The first entry sets the page's pd_lower to that of a
 * full page.
 */
typedef struct MapletTailEntry
{
	uint16		hash[3];		/* The high 48 bits of the hash, the highest 16 first. */
	ItemPointerData tid;
} MapletTailEntry;

StaticAssertDecl(sizeof(MapletTailEntry) == 12, "no padding in tails");

#define MAPLET_TAIL_CAPACITY	((int) (MAPLET_BODY / sizeof(MapletTailEntry)))
#define MAPLET_TAIL_USED		(MAPLET_TAIL_CAPACITY * sizeof(MapletTailEntry))

/*
 * An entry is put on the page of its hash, or if that is full, on one of the next pages.  At most
 * this many pages are tried, the first one included.  If all are full, the tail counts as full.
 */
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

/* Returns the page of a hash in a tail with npages pages, a power of two. */
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

/*
 * A tail that becomes the active one is doubled in size if the runs have at least this many times
 * the entries that the tail has room for.
 */
#define MAPLET_TAIL_SHARE		4

/*
 * The maximum number of steps of flushing and merging while a tail fills.  Certain pages trigger
 * one step each, at staggered fill counts, so that the steps are spread evenly over that time.
 */
#define MAPLET_TAIL_STEPS		32

static inline uint32
maplet_pages_per_step(uint32 npages)
{
	return Max(npages / MAPLET_TAIL_STEPS, 1);
}

/*
 * Returns whether a step is due, when the page of this number has got its count-th entry, in a tail
 * of npages pages.
 */
static inline bool
maplet_step_is_due(uint32 number, int count, uint32 npages)
{
	uint32		pages = maplet_pages_per_step(npages);

	return number % pages == 0 &&
		count == (int) (MAPLET_TAIL_CAPACITY * (number + pages) / (npages + pages));
}

/* Returns the number of entries on a page of a tail, by bisection.  The page may have any bytes. */
extern int	bloomfam_maplet_tail_count(Page page);

/*
 * Returns how many entries a page of a tail has, and raises an error if there are entries behind
 * the first unused one.  Is for callers that write the entries anew, as those behind the gap would
 * be lost.  Reads the whole page.
 */
extern int	bloomfam_maplet_tail_count_checked(Relation index, BlockNumber block, Page page);

/* Writes the pages of a tail, without entries; logs them if log is true. */
extern void bloomfam_maplet_tail_format(Relation index, ForkNumber fork, const MapletTail *tail,
										bool log);

/*
 * Does a step of flushing and merging, after this number of entries were inserted.  Flushes twice
 * as many entries of the tail that waits for its flush, if one does, so that its flush is done when
 * the active tail is half full.  Then does a step of merging.  Each of both is left out if another
 * process is doing it.  The caller must hold none of the locks SWITCH, FLUSH and MERGE.
 */
extern void bloomfam_maplet_step(Relation index, uint64 inserted);

/*
 * Ends the flush of the tail that waits for it at the time of the call, if one does.  The caller
 * must hold none of the locks SWITCH, FLUSH and MERGE.
 */
extern void bloomfam_maplet_flush(Relation index);

/*
 * Makes room for inserts: switches tails, unless the active tail has another generation than the
 * given one by now.  If the other tail still waits for its flush, ends the flush first.
 */
extern void bloomfam_maplet_make_room(Relation index, uint64 generation);

/* Flushes both tails, so that all entries that exist at the time of the call are in runs. */
extern void bloomfam_maplet_flush_all(Relation index);

#endif							/* BLOOMFAM_MAPLET_TAIL_H */
