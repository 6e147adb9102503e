/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * page.h
 *	  Pages of a maplet index, and their owners.
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

/*
 * The special space of every page, which says of what kind the page is and to which run or tail it
 * belongs.
 */
typedef struct MapletStamp
{
	uint64		owner;			/* The run's id or the tail's generation; 0 for the metapage. */

	/* The page's number in its tail; 0 for a page that is not a tail's. */
	uint32		number;

	/* 1 if entries of this page of a tail went on to the next page, else 0. */
	uint8		overflowed;
	uint8		kind;			/* The page's kind, a MapletPageKind. */
	uint16		magic;			/* Always MAPLET_MAGIC. */
} MapletStamp;

#define MAPLET_MAGIC	0x4d50

/* The number of bytes that a page has for its contents, between its header and its stamp. */
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
 * Returns whether the page is of this kind and has this owner.  The page may have any bytes.  If
 * the result is false, the page has another owner, or is damaged; only the metapage can tell which.
 */
static inline bool
maplet_page_is(Page page, MapletPageKind kind, uint64 owner)
{
	const MapletStamp *stamp = maplet_stamp(page);

	return stamp->owner == owner && stamp->kind == kind && stamp->magic == MAPLET_MAGIC &&
		((PageHeader) page)->pd_special == BLCKSZ - MAXALIGN(sizeof(MapletStamp));
}

/*
 * Raises the error that a page is damaged, for a page that is not what the metapage says of its
 * block.
 */
extern void bloomfam_maplet_corrupted(Relation index, BlockNumber block, const char *reason)
	pg_attribute_noreturn();

/* Initializes an empty page in memory; the first "used" bytes of its body count as in use. */
extern void bloomfam_maplet_page_init(Page page, MapletPageKind kind, uint64 owner, uint32 number,
									  Size used);

#endif							/* BLOOMFAM_MAPLET_PAGE_H */
