/*-------------------------------------------------------------------------
 *
 * heap_scan.c
 *	  The scan of a heap, block by block, without those in which no row can match.
 *
 * It works on the Seq Scan's own descriptor, which is at the block that was read last, whoever read
 * it, so that it can take over at any time: what was read before is not read again.  Blocks come in
 * the order of the scan, which need not begin at the first one.  In parallel each process takes
 * blocks as all do, and leaves out those that it knows better: what one does not know does no harm.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/rel.h"
#include "utils/spccache.h"

#include "join/executor/heap_scan.h"
#include "pg/compat.h"

void
bloomfam_join_skim_begin(JoinSkim *skim, HeapScanDesc scan, JoinProbe *probes, int nprobes)
{
	BlockNumber n = scan->rs_nblocks;
	int			most = get_tablespace_io_concurrency(scan->rs_base.rs_rd->rd_rel->reltablespace);

	memset(skim, 0, sizeof(*skim));
	skim->active = true;
	skim->parallel = scan->rs_base.rs_parallel != NULL;
	skim->probes = probes;
	skim->nprobes = nprobes;
	skim->most = Min(Max(most, 1), JOIN_SKIM_AHEAD);
	skim->last = InvalidBlockNumber;
	skim->exhausted = n == 0;
	if (skim->exhausted)
		return;
	if (skim->parallel)
		bloomfam_parallel_blocks_begin(scan);
	else if (!scan->rs_inited)
	{
		skim->next = scan->rs_startblock;
		skim->left = n;
	}
	else
	{
		skim->next = scan->rs_cblock + 1 < n ? scan->rs_cblock + 1 : 0;
		skim->left = scan->rs_startblock >= skim->next ? scan->rs_startblock - skim->next
													   : n - skim->next + scan->rs_startblock;
	}
	bloomfam_heap_leave_stream(scan);
}

/* The next block in the order of the scan; InvalidBlockNumber after the last one. */
static BlockNumber
take_block(JoinSkim *skim, HeapScanDesc scan)
{
	BlockNumber block;

	if (skim->parallel)
		return table_block_parallelscan_nextpage(
			scan->rs_base.rs_rd, scan->rs_parallelworkerdata,
			(ParallelBlockTableScanDesc) scan->rs_base.rs_parallel);
	if (skim->left == 0)
		return InvalidBlockNumber;
	skim->left--;
	block = skim->next;
	skim->next = block + 1 < scan->rs_nblocks ? block + 1 : 0;
	return block;
}

/* Can it have rows that match, as far as all know?  Each counts what it is asked. */
static bool
can_match(JoinSkim *skim, BlockNumber block)
{
	bool		result = true;
	int			i;

	for (i = 0; i < skim->nprobes; i++)
	{
		JoinProbe  *probe = &skim->probes[i];
		bool		can;

		if (probe->blocks == NULL || probe->blocks->phase != JOIN_BLOCKS_FOUND)
			continue;
		can = bloomfam_join_blocks_can_match(probe->blocks, block);
		probe->counts.pages++;
		probe->counts.pages_skipped += !can;
		result &= can;
	}
	return result;
}

/*
 * Takes more blocks.  Those that do not come after the last one are asked for; the operating
 * system reads ahead where they do.
 */
static void
fill_ahead(JoinSkim *skim, HeapScanDesc scan)
{
	while (skim->nahead < skim->most && !skim->exhausted)
	{
		BlockNumber block = take_block(skim, scan);

		if (block == InvalidBlockNumber)
		{
			skim->exhausted = true;
			break;
		}
		if (!can_match(skim, block))
			continue;
		if (block != skim->last + 1)
			PrefetchBuffer(scan->rs_base.rs_rd, MAIN_FORKNUM, block);
		skim->ahead[(skim->first + skim->nahead) % JOIN_SKIM_AHEAD] = block;
		skim->nahead++;
		skim->last = block;
	}
}

bool
bloomfam_join_skim_next(JoinSkim *skim, HeapScanDesc scan)
{
	if (scan->rs_inited && scan->rs_cindex + 1 < scan->rs_ntuples)
	{
		scan->rs_cindex++;
		return true;
	}
	fill_ahead(skim, scan);
	while (skim->nahead > 0)
	{
		BlockNumber block = skim->ahead[skim->first];

		CHECK_FOR_INTERRUPTS();
		skim->first = (skim->first + 1) % JOIN_SKIM_AHEAD;
		skim->nahead--;
		bloomfam_heap_read_block(scan, block);
		scan->rs_inited = true;
		fill_ahead(skim, scan);
		scan->rs_cindex = 0;
		if (scan->rs_ntuples > 0)
			return true;
	}
	bloomfam_heap_end_blocks(scan);
	skim->active = false;
	return false;
}
