/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * page.c
 *	  Writes whole pages of a signature index.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg/index_page.h"
#include "signature/page.h"

void
bloomfam_signature_corrupted(Relation index, BlockNumber block, const char *reason)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("signature index \"%s\" is damaged at block %u",
					RelationGetRelationName(index), block),
			 errdetail_internal("%s", reason),
			 errhint("Please REINDEX it.")));
}

void
bloomfam_signature_page_init(Page page, SignaturePageKind kind, uint64 owner, uint32 number,
							 Size used)
{
	SignatureStamp *stamp;

	Assert(used <= SIGNATURE_BODY);
	PageInit(page, BLCKSZ, sizeof(SignatureStamp));
	stamp = signature_stamp(page);
	Assert((char *) stamp == (char *) page + ((PageHeader) page)->pd_special);
	stamp->owner = owner;
	stamp->number = number;
	stamp->kind = kind;
	stamp->magic = SIGNATURE_MAGIC;
	((PageHeader) page)->pd_lower = MAXALIGN(SizeOfPageHeaderData) + used;
}

void
bloomfam_signature_page_write(Relation index, ForkNumber fork, BlockNumber block, Page image)
{
	Assert(signature_stamp(image)->magic == SIGNATURE_MAGIC);
	bloomfam_index_extend(index, fork, block + 1);
	bloomfam_index_page_write(index, fork, block, image, true);
}
