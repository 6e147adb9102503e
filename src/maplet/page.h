/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * page.h
 *	  Pages of a maplet index: whose they are, and how a whole one is written.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_MAPLET_PAGE_H
#define BLOOMFAM_MAPLET_PAGE_H

#include "pg/compat.h"

#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

typedef enum MapletPageKind
{
	MAPLET_PAGE_META = 1,
	MAPLET_PAGE_TAIL = 2,
	MAPLET_PAGE_RUN = 3
} MapletPageKind;

/* The special space of every page. */
typedef struct MapletStamp
{
	uint64		owner;			/* the run's id, the tail's generation, 0 for the metapage */
	uint32		number;			/* tail: which of its pages; else 0 */
	uint8		overflowed;		/* tail: entries of this page went on to its neighbour */
	uint8		kind;			/* MapletPageKind */
	uint16		magic;			/* MAPLET_MAGIC */
} MapletStamp;

#define MAPLET_MAGIC	0x4d50

/* What a page holds between header and stamp. */
#define MAPLET_BODY		(BLCKSZ - MAXALIGN(SizeOfPageHeaderData) - MAXALIGN(sizeof(MapletStamp)))

static inline MapletStamp *
maplet_stamp(Page page)
{
	return (MapletStamp *) ((char *) page + BLCKSZ - MAXALIGN(sizeof(MapletStamp)));
}

static inline char *
maplet_body(Page page)
{
	return (char *) page + MAXALIGN(SizeOfPageHeaderData);
}

/*
 * Is this page of that kind and owner?  Any bytes will do.  false: it is of somebody else, or
 * damaged; only the metapage can tell which.
 */
static inline bool
maplet_page_is(Page page, MapletPageKind kind, uint64 owner)
{
	const MapletStamp *stamp = maplet_stamp(page);

	return stamp->owner == owner && stamp->kind == kind && stamp->magic == MAPLET_MAGIC &&
		((PageHeader) page)->pd_special == BLCKSZ - MAXALIGN(sizeof(MapletStamp));
}

/* Raises the error for a page that is not what the metapage says. */
extern void bloomfam_maplet_corrupted(Relation index, BlockNumber block, const char *reason)
	pg_attribute_noreturn();

/* Makes an empty page in memory, with as many bytes of the body in use. */
extern void bloomfam_maplet_page_init(Page page, MapletPageKind kind, uint64 owner, uint32 number,
									  Size used);

/*
 * Writes a page whole, whatever was there, and logs it unless not wanted (the caller will log the
 * file as a whole).  The block must exist.
 */
extern void bloomfam_maplet_page_write(Relation index, ForkNumber fork, BlockNumber block,
									   Page image, bool log);

/*
 * Makes the file at least so many blocks long.  To be called before blocks of reserved space are
 * written, also when that was done before: after a crash the file may be shorter again.  Takes no
 * longer where a whole large run was reserved before them, which its merge is still to write.
 */
extern void bloomfam_maplet_extend(Relation index, ForkNumber fork, BlockNumber nblocks);

#endif							/* BLOOMFAM_MAPLET_PAGE_H */
