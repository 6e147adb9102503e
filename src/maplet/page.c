/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * page.c
 *	  Writes whole pages of a maplet index.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/lmgr.h"

#include "maplet/page.h"
#include "pg/compat.h"

void
bloomfam_maplet_corrupted(Relation index, BlockNumber block, const char *reason)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("maplet index \"%s\" is damaged at block %u", RelationGetRelationName(index),
					block),
			 errdetail_internal("%s", reason),
			 errhint("Please REINDEX it.")));
}

void
bloomfam_maplet_page_init(Page page, MapletPageKind kind, uint64 owner, uint32 number, Size used)
{
	MapletStamp *stamp;

	Assert(used <= MAPLET_BODY);
	PageInit(page, BLCKSZ, sizeof(MapletStamp));
	stamp = maplet_stamp(page);
	Assert((char *) stamp == (char *) page + ((PageHeader) page)->pd_special);
	stamp->owner = owner;
	stamp->number = number;
	stamp->kind = kind;
	stamp->magic = MAPLET_MAGIC;
	((PageHeader) page)->pd_lower = MAXALIGN(SizeOfPageHeaderData) + used;
}

void
bloomfam_maplet_page_write(Relation index, ForkNumber fork, BlockNumber block, Page image,
						   bool log)
{
	Buffer		buffer = ReadBufferExtended(index, fork, block, RBM_ZERO_AND_LOCK, NULL);

	Assert(BufferGetBlockNumber(buffer) == block && maplet_stamp(image)->magic == MAPLET_MAGIC);
	START_CRIT_SECTION();
	memcpy(BufferGetPage(buffer), image, BLCKSZ);
	MarkBufferDirty(buffer);
	if (log && (RelationNeedsWAL(index) || fork == INIT_FORKNUM))
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

/*
 * Up to this many missing blocks are appended one by one.  If more are missing, most of them are
 * reserved for other outputs, and the file is extended in large steps.
 */
#define FAR_BLOCKS		128

void
bloomfam_maplet_extend(Relation index, ForkNumber fork, BlockNumber nblocks)
{
	BlockNumber from = RelationGetNumberOfBlocksInFork(index, fork);

	if (from >= nblocks)
		return;
	LockRelationForExtension(index, ExclusiveLock);
	from = RelationGetNumberOfBlocksInFork(index, fork);
	if (nblocks > from && nblocks - from > FAR_BLOCKS)
		bloomfam_extend_far(index, fork, from, nblocks);
	for (; from < nblocks; from = RelationGetNumberOfBlocksInFork(index, fork))
	{
		Buffer		buffer = ReadBufferExtended(index, fork, P_NEW, RBM_NORMAL, NULL);

		ReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
	}
	UnlockRelationForExtension(index, ExclusiveLock);
}
