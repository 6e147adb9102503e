/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * page.h
 *	  Pages of a signature index: their owners, and the writing of whole pages.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_SIGNATURE_PAGE_H
#define BLOOMFAM_SIGNATURE_PAGE_H

#include "pg/compat.h"

#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

#include "core/bf_signature.h"

typedef enum SignaturePageKind
{
	SIGNATURE_PAGE_META = 1,
	SIGNATURE_PAGE_DIRECTORY = 2,
	SIGNATURE_PAGE_BATCH = 3,
	SIGNATURE_PAGE_SLAB = 4
} SignaturePageKind;

/*
 * The special space of every page, which says of what kind the page is and to which batch or slab
 * it belongs.
 */
typedef struct SignatureStamp
{
	uint64		owner;			/* The id of the batch or slab; 0 for other pages. */
	uint32		number;			/* The page's number in its batch, slab or directory. */
	uint16		kind;			/* The page's kind, a SignaturePageKind. */
	uint16		magic;			/* Always SIGNATURE_MAGIC. */
} SignatureStamp;

#define SIGNATURE_MAGIC		0x5347

/* The number of bytes that a page has for its contents, between its header and its stamp. */
#define SIGNATURE_BODY \
	(BLCKSZ - MAXALIGN(SizeOfPageHeaderData) - MAXALIGN(sizeof(SignatureStamp)))

/* The number of blocks of signatures that a page has room for. */
#define SIGNATURE_SLOTS		((uint32) (SIGNATURE_BODY / BF_SIGNATURE_BLOCK_BYTES))

static inline SignatureStamp *
signature_stamp(Page page)
{
	return (SignatureStamp *) ((char *) page + BLCKSZ - MAXALIGN(sizeof(SignatureStamp)));
}

static inline char *
signature_body(Page page)
{
	return (char *) page + MAXALIGN(SizeOfPageHeaderData);
}

/* Returns the block of a signature that is in this slot of the page. */
static inline uint64 *
signature_slot(Page page, uint32 slot)
{
	Assert(slot < SIGNATURE_SLOTS);
	return (uint64 *) (signature_body(page) + (Size) slot * BF_SIGNATURE_BLOCK_BYTES);
}

/*
 * Returns whether the page is of this kind and has this owner.  The page may have any bytes.  If
 * the result is false, the page has another owner, or is damaged; only the metapage can tell which.
 */
static inline bool
signature_page_is(Page page, SignaturePageKind kind, uint64 owner, uint32 number)
{
	const SignatureStamp *stamp = signature_stamp(page);

	return stamp->owner == owner && stamp->number == number && stamp->kind == kind &&
		   stamp->magic == SIGNATURE_MAGIC &&
		   ((PageHeader) page)->pd_special == BLCKSZ - MAXALIGN(sizeof(SignatureStamp));
}

/*
 * Raises the error that a page is damaged, for a page that is not what the metapage says of its
 * block.
 */
extern void bloomfam_signature_corrupted(Relation index, BlockNumber block, const char *reason)
	pg_attribute_noreturn();

/* Initializes a page in memory; the first "used" bytes of its body, all zeros, count as in use. */
extern void bloomfam_signature_page_init(Page page, SignaturePageKind kind, uint64 owner,
										 uint32 number, Size used);

/*
 * Overwrites a whole page, whatever was there, and logs it as a full page image.  Extends the file
 * if the block does not exist.
 */
extern void bloomfam_signature_page_write(Relation index, ForkNumber fork, BlockNumber block,
										  Page image);

#endif							/* BLOOMFAM_SIGNATURE_PAGE_H */
