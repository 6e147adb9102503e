/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * heap_scan.c
 *	  Scans a heap block by block, leaving out the blocks in which no row can match.
 *
 * It works on the sequential scan's own descriptor, which is on the block that was read last, by
 * the server or by this file.  So it can take over at any time, and what was read before is not
 * read again.  Blocks are read in the scan's order, which need not begin at the first block.  In a
 * parallel scan, each process takes blocks as all processes do, and leaves out those that it knows
 * cannot match; a process that knows nothing reads all that it takes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/rel.h"
#include "utils/spccache.h"

#include "join/executor/heap_scan.h"
#include "pg/server_structs.h"

void
bloomfam_join_pruned_scan_begin(JoinPrunedScan *pruned_scan, HeapScanDesc scan, JoinProbe *probes,
								int nprobes)
{
	BlockNumber n = bloomfam_heap_scan_nblocks(scan);
	BlockNumber start = bloomfam_heap_scan_start_block(scan);
	Oid			tablespace = bloomfam_heap_scan_relation(scan)->rd_rel->reltablespace;
	int			most = get_tablespace_io_concurrency(tablespace);

	/*
	 * A parallel scan may be pruned only before it begins in this process: other processes would
	 * not read the blocks that this process has taken already.
	 */
	Assert(n > 0 && !pruned_scan->active);
	Assert(!bloomfam_heap_scan_is_parallel(scan) || !bloomfam_heap_scan_has_begun(scan));
	*pruned_scan = (JoinPrunedScan) {
		.active = true, .probes = probes, .nprobes = nprobes, .next = start, .left = n,
		.most = Min(Max(most, 1), JOIN_PRUNED_SCAN_AHEAD), .last = InvalidBlockNumber
	};
	if (bloomfam_heap_scan_is_parallel(scan))
		bloomfam_heap_scan_begin_parallel(scan);
	else if (bloomfam_heap_scan_has_begun(scan))
	{
		pruned_scan->next = (bloomfam_heap_scan_block(scan) + 1) % n;
		pruned_scan->left = ((uint64) start + n - pruned_scan->next) % n;
		Assert(bloomfam_heap_scan_block(scan) < n && start < n && pruned_scan->left < n);
	}
	bloomfam_heap_scan_leave_stream(scan);
}

/*
 * Tells whether a block can have rows that match, as far as all filters know.  Each filter counts
 * the pages that it is asked about.
 */
static bool
can_match(JoinPrunedScan *pruned_scan, BlockNumber block)
{
	bool		result = true;
	int			i;

	for (i = 0; i < pruned_scan->nprobes; i++)
	{
		JoinProbe  *probe = &pruned_scan->probes[i];
		bool		can;

		if (probe->blocks == NULL || probe->blocks->reason != JOIN_NO_REASON)
			continue;
		can = bloomfam_join_blocks_can_match(probe->blocks, block);
		probe->counts.pages++;
		probe->counts.pages_skipped += !can;
		result &= can;
	}
	return result;
}

/*
 * Chooses more blocks, in the order of the scan.  A block that does not directly follow the last
 * one is prefetched; for one that does, the operating system reads ahead.
 */
static void
fill_ahead(JoinPrunedScan *pruned_scan, HeapScanDesc scan)
{
	while (pruned_scan->nahead < pruned_scan->most)
	{
		BlockNumber block = InvalidBlockNumber;

		/*
		 * Interrupts are checked for each block, as there may be millions of adjacent blocks in
		 * which no row can match.
		 */
		CHECK_FOR_INTERRUPTS();
		if (bloomfam_heap_scan_is_parallel(scan))
			block = bloomfam_heap_scan_next_parallel(scan);
		else if (pruned_scan->left > 0)
		{
			block = pruned_scan->next;
			Assert(block < bloomfam_heap_scan_nblocks(scan));
			pruned_scan->next = block + 1 < bloomfam_heap_scan_nblocks(scan) ? block + 1 : 0;
			pruned_scan->left--;
		}
		if (block == InvalidBlockNumber)
			pruned_scan->most = 0;
		if (block == InvalidBlockNumber || !can_match(pruned_scan, block))
			continue;
		Assert(pruned_scan->nahead < JOIN_PRUNED_SCAN_AHEAD);
		if (block != pruned_scan->last + 1)
			PrefetchBuffer(bloomfam_heap_scan_relation(scan), MAIN_FORKNUM, block);
		pruned_scan->ahead[(pruned_scan->first + pruned_scan->nahead) % JOIN_PRUNED_SCAN_AHEAD] =
			block;
		pruned_scan->nahead++;
		pruned_scan->last = block;
	}
}

bool
bloomfam_join_pruned_scan_next(JoinPrunedScan *pruned_scan, HeapScanDesc scan)
{
	if (bloomfam_heap_scan_has_begun(scan) &&
		bloomfam_heap_scan_row(scan) + 1 < bloomfam_heap_scan_nrows(scan))
	{
		bloomfam_heap_scan_set_row(scan, bloomfam_heap_scan_row(scan) + 1);
		return true;
	}
	fill_ahead(pruned_scan, scan);
	while (pruned_scan->nahead > 0)
	{
		BlockNumber block = pruned_scan->ahead[pruned_scan->first];

		CHECK_FOR_INTERRUPTS();
		pruned_scan->first = (pruned_scan->first + 1) % JOIN_PRUNED_SCAN_AHEAD;
		pruned_scan->nahead--;
		bloomfam_heap_scan_read_block(scan, block);
		fill_ahead(pruned_scan, scan);
		bloomfam_heap_scan_set_row(scan, 0);
		if (bloomfam_heap_scan_nrows(scan) > 0)
			return true;
	}
	bloomfam_heap_scan_end(scan);
	pruned_scan->active = false;
	return false;
}
