/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * index_page.c
 *	  Writes whole pages of an index, and checks an index's format.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/lmgr.h"

#include "pg/index_page.h"

void
bloomfam_index_page_write(Relation index, ForkNumber fork, BlockNumber block, Page image,
						  bool log)
{
	Buffer		buffer = ReadBufferExtended(index, fork, block, RBM_ZERO_AND_LOCK, NULL);

	Assert(BufferGetBlockNumber(buffer) == block && !PageIsNew(image));
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
 * reserved for others, and the file is extended in large steps.
 */
#define FAR_BLOCKS		128

void
bloomfam_index_extend(Relation index, ForkNumber fork, BlockNumber nblocks)
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

void
bloomfam_index_check_format(Relation index, const char *method, uint32 format, uint32 readable)
{
	if (format != readable)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s index \"%s\" has format %u, which this version of bloomfam cannot read",
						method, RelationGetRelationName(index), format),
				 errdetail("This version reads format %u.", readable),
				 errhint("Install the version of bloomfam that wrote the index, or REINDEX it.")));
}
