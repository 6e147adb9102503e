/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * page.c
 *	  Writes whole pages of a signature index.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/lmgr.h"

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

/*
 * Extends the file to at least this number of blocks.  A block that is reserved may be missing from
 * the file, because the blocks before it were never needed, or because of a crash.
 */
static void
extend(Relation index, ForkNumber fork, BlockNumber nblocks)
{
	if (RelationGetNumberOfBlocksInFork(index, fork) >= nblocks)
		return;
	LockRelationForExtension(index, ExclusiveLock);
	while (RelationGetNumberOfBlocksInFork(index, fork) < nblocks)
	{
		ReleaseBuffer(ReadBufferExtended(index, fork, P_NEW, RBM_NORMAL, NULL));
		CHECK_FOR_INTERRUPTS();
	}
	UnlockRelationForExtension(index, ExclusiveLock);
}

void
bloomfam_signature_page_write(Relation index, ForkNumber fork, BlockNumber block, Page image)
{
	Buffer		buffer;

	Assert(signature_stamp(image)->magic == SIGNATURE_MAGIC);
	extend(index, fork, block + 1);
	buffer = ReadBufferExtended(index, fork, block, RBM_ZERO_AND_LOCK, NULL);
	START_CRIT_SECTION();
	memcpy(BufferGetPage(buffer), image, BLCKSZ);
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(index) || fork == INIT_FORKNUM)
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}
