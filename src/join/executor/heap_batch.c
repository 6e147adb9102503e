/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * heap_batch.c
 *	  Probes filters on the scan of a heap with all rows of a page at once.
 *
 * A heap scan finds all visible rows of a page at once, and stores where they are.  So the keys of
 * all these rows can be hashed together, straight from the page, and their blocks of the filter
 * fetched together; then the scan is moved to the next row that passes.  The other rows never
 * become executor tuples, which would cost several times what the filter does.
 *
 * This file works on the heap's scan descriptor.  Scans of other table access methods, and scans
 * that do not go by pages, are left to probe.c.  No row is dropped without being probed.
 * heap_batch_columns.c reads keys from the page.
 *
 * If an index tells in which blocks rows can match (block_pruning.c), the other blocks are not read
 * at all from the moment that the filter's keys are known (heap_scan.c).
 *
 * The scan's own conditions are evaluated after the filter, not before it.  The plan says which
 * filters of joins may be probed in this way (decide_access() in planner/candidate.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "join/base/column.h"
#include "join/base/gucs.h"
#include "join/executor/heap_batch.h"
#include "join/executor/heap_batch_columns.h"
#include "join/executor/heap_scan.h"
#include "pg/port.h"
#include "pg/server_structs.h"

/*
 * After a page that was not in the server's buffers, the number of pages for which the buffers are
 * not searched for the next page to prefetch it.
 */
#define COLD_PAGES			64

/*
 * The largest number of cache lines that are prefetched for each row that the next page is expected
 * to have.
 */
#define LINES_PER_ROW		4

struct JoinHeapBatch
{
	/* Whether the rows of a page are probed together; if not, every row is probed singly. */
	bool		in_batches;

	/*
	 * Whether some filter may still search an index for the blocks that can match, now or as soon
	 * as its keys are known.
	 */
	bool		undecided;
	JoinPrunedScan pruned_scan;

	/*
	 * Of the page that the scan is on: whether the next page follows after the rows in passing[];
	 * if not, the next row of the same page does.
	 */
	bool		selected;
	int			npassing;		/* The number of its rows in passing[]. */
	int			next;			/* The index in passing[] of the row to return next. */

	/*
	 * The number of coming pages for which the server's buffers are not searched for the page after
	 * them, as pages were not in the buffers lately.
	 */
	int			cold;

	JoinBatchScratch *scratch;	/* Memory for the rows of one page; NULL: no page was probed yet. */

	/* The numbers of those rows of the page that pass all filters. */
	uint16		passing[MaxHeapTuplesPerPage];
};

/*
 * Prefetches the cache lines from one address up to, and without, the line of the address "end",
 * but at most "most" of them.  Returns the first line.
 */
static inline const char *
prefetch_lines(const char *from, const char *end, int most)
{
	const char *first = (const char *) TYPEALIGN_DOWN(BLOOMFAM_CACHE_LINE, from);
	const char *last = (const char *) TYPEALIGN_DOWN(BLOOMFAM_CACHE_LINE, end);
	const char *line;

	for (line = first; line != last && most > 0; line += BLOOMFAM_CACHE_LINE, most--)
		__builtin_prefetch(line, 0, 2);
	return first;
}

/*
 * Returns the page after the one that the scan is on; NULL if it is not known to be in a buffer.
 * Each row of a page that has not been accessed lately costs a wait for memory, unless it was
 * prefetched some time before.  So the next page's line pointers are prefetched here, and its rows
 * in find_rows(); most pages of a table have their rows in about the same places as the page
 * before.  The page is not pinned, and may become another one at any time: it is never read, only
 * prefetched.
 */
static const char *
find_next_page(JoinHeapBatch *batch, HeapScanDesc scan, Page bytes)
{
	const JoinPrunedScan *pruned_scan = &batch->pruned_scan;
	PrefetchBufferResult found;
	BlockNumber block;
	const char *page;

	if (batch->cold > 0)
	{
		batch->cold--;
		return NULL;
	}
	block = bloomfam_heap_scan_block(scan) + 1;
	if (pruned_scan->active)
		block = pruned_scan->nahead > 0 ? pruned_scan->ahead[pruned_scan->first]
										: InvalidBlockNumber;
	if (block >= bloomfam_heap_scan_nblocks(scan))
		return NULL;
	found = PrefetchBuffer(bloomfam_heap_scan_relation(scan), MAIN_FORKNUM, block);
	if (!BufferIsValid(found.recent_buffer))
	{
		batch->cold = COLD_PAGES;
		return NULL;
	}
	page = BufferGetPage(found.recent_buffer);
	prefetch_lines(page, page + ((PageHeader) bytes)->pd_lower + BLOOMFAM_CACHE_LINE - 1,
				   BLCKSZ / BLOOMFAM_CACHE_LINE);
	return page;
}

/*
 * Stores "count" rows of the page that the scan is on, from the present row on, in scratch->rows
 * and their numbers in passing[].
 */
static void
find_rows(JoinHeapBatch *batch, HeapScanDesc scan, int count)
{
	Page		bytes = bloomfam_heap_scan_page(scan);
	int			end = bloomfam_heap_scan_row(scan) + count;
	const char *ahead = count > 1 ? find_next_page(batch, scan, bytes) : NULL;
	const char *prefetched = ahead != NULL ? ahead + BLCKSZ : NULL;
	int			n = 0;
	int			i;

	Assert(count > 0 && end <= bloomfam_heap_scan_nrows(scan));
	Assert(bloomfam_heap_scan_nrows(scan) <= MaxHeapTuplesPerPage);
	for (i = bloomfam_heap_scan_row(scan); i < end; i++)
	{
		HeapTupleHeader row = (HeapTupleHeader) PageGetItem(
			bytes, PageGetItemId(bytes, bloomfam_heap_scan_line(scan, i)));

		/*
		 * A page is filled from its end, so the row before this one in number is the one behind it
		 * on the page.
		 */
		if (ahead != NULL)
			prefetched = prefetch_lines(ahead + ((const char *) row - (const char *) bytes),
										prefetched, LINES_PER_ROW);
		batch->passing[n] = i;
		batch->scratch->rows[n++] = row;
	}
}

/* Probes a filter with the n rows in the scratch, and sets scratch->pass for each. */
static void
probe_filter(JoinHeapBatch *batch, JoinProbe *probe, TupleDesc desc, int n)
{
	JoinBatchScratch *scratch = batch->scratch;
	const JoinStored *stored = probe->stored;
	bool		numbers = stored == NULL && bloomfam_join_takes_numbers(&probe->filter->probe);

	probe->walked += bloomfam_join_batch_hash(
		scratch, probe->keys, probe->batch_columns, probe->ncolumns, desc, n, numbers,
		probe->access == JOIN_PAGE_BATCHES_SPARING && !probe->all_or_none);
	if (stored == NULL)
		bloomfam_join_may_contain_many(&probe->filter->probe, scratch->hashes, n, scratch->pass);
	else if (stored->answer == JOIN_ANSWER_PROBE)
		stored->filter.view.head.kind->probe_many(&stored->filter.view, scratch->hashes, n,
												  scratch->pass);
	else
		memset(scratch->pass, stored->answer == JOIN_ANSWER_YES, n);
}

/* Keeps those of the n rows that the filter let pass, and returns their number. */
static int
keep_passing(JoinHeapBatch *batch, int n)
{
	JoinBatchScratch *scratch = batch->scratch;
	int			kept = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		batch->passing[kept] = batch->passing[i];
		scratch->rows[kept] = scratch->rows[i];
		kept += (scratch->pass[i] | scratch->spared[i]) & !scratch->null[i];
	}
	return kept;
}

/*
 * Tells whether the present row must be probed alone, because a join above has asked for its first
 * row and will build afterwards: the rows after it are to be probed when the filter is ready.
 */
static bool
is_first_row(const JoinProbeState *state)
{
	int			f;

	for (f = 0; f < state->nprobes; f++)
		if (state->probes[f].stored == NULL && state->probes[f].access != JOIN_ROW_BY_ROW &&
			bloomfam_join_filter_awaited(state->probes[f].filter))
			return true;
	return false;
}

/* ---- selecting the rows of a page ---- */

/*
 * Returns the scratch memory of a node, which the nodes with the same first filter share.  A filter
 * that the query names may be computed by a subplan while rows are hashed, whose own scans need
 * another scratch; so a node with such a filter has its own.
 */
static JoinBatchScratch *
get_scratch(const JoinProbeState *state)
{
	JoinBatchScratch *own = NULL;
	JoinBatchScratch **scratch =
		state->has_stored ? &own : &state->probes[0].filter->group->scratch;

	if (*scratch == NULL)
		*scratch = MemoryContextAllocZero(state->css.ss.ps.state->es_query_cxt, sizeof(**scratch));
	return *scratch;
}

/*
 * Finds those rows, from the present one to the end of the page that the scan is on, that pass all
 * filters.  If rows must be probed singly, only the present row is probed.
 */
static void
select_rows(JoinProbeState *state, ScanState *child, HeapScanDesc scan)
{
	JoinHeapBatch *batch = state->batch;
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	TupleDesc	desc = RelationGetDescr(child->ss_currentRelation);
	bool		singly = is_first_row(state);
	bool		looked = false;
	MemoryContext old;
	int			n;
	int			i;

	/* The scan is on a row, and knows which rows of its page the snapshot sees. */
	Assert(bloomfam_heap_scan_has_begun(scan) && IsMVCCSnapshot(child->ps.state->es_snapshot));
	Assert(bloomfam_heap_scan_row(scan) < bloomfam_heap_scan_nrows(scan));
	if (unlikely(batch->scratch == NULL))
		batch->scratch = get_scratch(state);
	n = singly ? 1 : bloomfam_heap_scan_nrows(scan) - bloomfam_heap_scan_row(scan);

	/* The heap's scan itself has counted the present row as read for the statistics. */
	bloomfam_count_rows_read(child->ss_currentRelation, n - 1);
	bloomfam_join_probe_order_next(state->order, state->probes, n);
	ResetExprContext(econtext);
	old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	for (i = 0; i < state->nprobes; i++)
	{
		JoinProbe  *probe = &state->probes[state->order->filters[i]];
		int			kept;

		if (probe->access == JOIN_ROW_BY_ROW)
			continue;
		if (probe->stored == NULL && !bloomfam_join_probe_awake(probe, n))
			continue;
		if (!looked)
			find_rows(batch, scan, n);
		looked = true;
		probe_filter(batch, probe, desc, n);
		kept = keep_passing(batch, n);
		bloomfam_join_probe_count(probe, n, n - kept);
		n = kept;
	}
	for (i = 0; i < n && !looked; i++)
		batch->passing[i] = bloomfam_heap_scan_row(scan) + i;
	MemoryContextSwitchTo(old);
	batch->selected = !singly;
	batch->npassing = n;
	batch->next = 0;
}

/* Tells whether the row in the scan's slot passes the filters that the query names. */
static bool
row_passes(JoinProbeState *state, TupleTableSlot *slot)
{
	MemoryContext old;
	bool		pass = true;
	int			f;

	ResetExprContext(state->css.ss.ps.ps_ExprContext);
	old = MemoryContextSwitchTo(state->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	for (f = 0; f < state->nprobes && pass; f++)
	{
		JoinProbe  *probe = &state->probes[f];
		bool		isnull;
		Datum		key;

		if (probe->stored == NULL)
			continue;
		key = slot_getattr(slot, probe->attributes[0], &isnull);
		pass = !isnull && bloomfam_join_stored_passes(probe->stored, key);
		probe->counts.tested++;
		probe->counts.removed += !pass;
	}
	MemoryContextSwitchTo(old);
	return pass;
}

/*
 * Searches the indexes of filters whose keys have become known since the last page, and prunes
 * blocks by the result.  A parallel scan can do that only before it begins, as no other process
 * would read the blocks that this process has taken.
 */
static void
prune_blocks(JoinProbeState *state, HeapScanDesc scan)
{
	JoinHeapBatch *batch = state->batch;
	bool		parallel = bloomfam_heap_scan_is_parallel(scan);
	bool		found = false;
	int			f;

	batch->undecided = false;
	for (f = 0; f < state->nprobes; f++)
	{
		JoinBlockPruning *blocks = state->probes[f].blocks;

		if (blocks == NULL)
			continue;
		if (state->probes[f].all_or_none &&
			!bloomfam_join_filter_may_skip_all_or_none(state->probes[f].filter))
			blocks->reason = JOIN_SKIP_ALL_OR_NONE;
		bloomfam_join_block_pruning_search(blocks, bloomfam_heap_scan_nblocks(scan), parallel);
		if (blocks->reason == JOIN_BLOCKS_NOT_YET && parallel)
			blocks->reason = JOIN_SKIP_TOO_LATE;
		batch->undecided |= blocks->reason == JOIN_BLOCKS_NOT_YET;
		found |= blocks->reason == JOIN_NO_REASON;
		state->probes[f].counts.blocks = blocks->reason;
		state->probes[f].counts.index = blocks->index;
	}
	if (found && !batch->pruned_scan.active)
		bloomfam_join_pruned_scan_begin(&batch->pruned_scan, scan, state->probes, state->nprobes);
}

/* Moves to the next row of the scan, whether it passes or not.  Returns false at the end. */
static bool
next_unseen_row(JoinProbeState *state, ScanState *child, HeapScanDesc scan)
{
	JoinHeapBatch *batch = state->batch;

	if (unlikely(batch->undecided))
		prune_blocks(state, scan);
	if (!batch->pruned_scan.active)
		return table_scan_getnextslot(child->ss_currentScanDesc, ForwardScanDirection,
									  child->ss_ScanTupleSlot);
	if (bloomfam_join_pruned_scan_next(&batch->pruned_scan, scan))
	{
		bloomfam_count_rows_read(child->ss_currentRelation, 1);
		return true;
	}
	ExecClearTuple(child->ss_ScanTupleSlot);
	return false;
}

/*
 * Puts the next row of the child's scan that passes all filters into the child's slot.  Returns
 * false at the end.
 */
static bool
next_row(JoinProbeState *state, ScanState *child)
{
	JoinHeapBatch *batch = state->batch;
	TupleTableSlot *slot = child->ss_ScanTupleSlot;
	HeapScanDesc scan;
	bool		singly;
	int			row;

	if (child->ss_currentScanDesc == NULL)
		child->ss_currentScanDesc =
			bloomfam_table_beginscan(child->ss_currentRelation, child->ps.state->es_snapshot);
	singly = !batch->in_batches || !ScanDirectionIsForward(child->ps.state->es_direction);
	scan = (HeapScanDesc) child->ss_currentScanDesc;
	if (unlikely(singly || !bloomfam_heap_scan_has_begun(scan)))
	{
		/*
		 * Rows are fetched singly from where the scan is, or the scan begins anew: what was found
		 * of a page is forgotten.
		 */
		batch->selected = false;
		batch->npassing = batch->next = 0;
		batch->pruned_scan.active = false;
		batch->undecided = true;
	}

	/*
	 * A cursor may move backwards: the scan then stays on the row that it returned last, to go on
	 * from there.
	 */
	while (unlikely(singly))
	{
		CHECK_FOR_INTERRUPTS();
		if (!table_scan_getnextslot(child->ss_currentScanDesc, child->ps.state->es_direction, slot))
			return false;
		if (row_passes(state, slot))
			return true;
	}

	while (batch->next >= batch->npassing)
	{
		CHECK_FOR_INTERRUPTS();

		/*
		 * After the last row of a page comes the next page.  If the scan has gone backwards, the
		 * rest of its page is probed from the present row on.
		 */
		if (batch->selected)
			bloomfam_heap_scan_set_row(scan, bloomfam_heap_scan_nrows(scan) - 1);
		if (!next_unseen_row(state, child, scan))
			return false;
		select_rows(state, child, scan);
	}

	/*
	 * Giving the row to the slot replaces heap_getnextslot(): the row is on the page that the scan
	 * is on, and it is visible.
	 */
	row = batch->passing[batch->next];
	Assert(row >= bloomfam_heap_scan_row(scan));
	Assert(batch->next == 0 || batch->passing[batch->next - 1] < row);
	batch->next++;
	bloomfam_heap_scan_give_row(scan, row, slot);
	return true;
}

/*
 * Executes the child's scan in its place: evaluates its conditions and target list for the rows
 * that pass.
 */
static TupleTableSlot *
scan_child(JoinProbeState *state, ScanState *child)
{
	ExprContext *econtext = child->ps.ps_ExprContext;
	ProjectionInfo *projection = child->ps.ps_ProjInfo;
	bool		qualifies;

	if (child->ps.qual == NULL && projection == NULL)
		return next_row(state, child) ? child->ss_ScanTupleSlot
									  : ExecClearTuple(child->ss_ScanTupleSlot);
	do
	{
		ResetExprContext(econtext);
		if (!next_row(state, child))
			return ExecClearTuple(projection != NULL ? projection->pi_state.resultslot
													 : child->ss_ScanTupleSlot);
		econtext->ecxt_scantuple = child->ss_ScanTupleSlot;
		qualifies = child->ps.qual == NULL || ExecQual(child->ps.qual, econtext);
		if (!qualifies)
			InstrCountFiltered1(child, 1);
	} while (!qualifies);
	return projection != NULL ? ExecProject(projection) : child->ss_ScanTupleSlot;
}

TupleTableSlot *
bloomfam_join_heap_batch_exec(PlanState *node)
{
	JoinProbeState *state = (JoinProbeState *) node;
	ScanState  *child = (ScanState *) outerPlanState(node);
	TupleTableSlot *slot;

	/*
	 * ExecProcNode() is not called for the child, so its rescan and its instrumentation are done
	 * here.
	 */
	if (child->ps.chgParam != NULL)
		ExecReScan(&child->ps);
	if (child->ps.instrument == NULL)
		return scan_child(state, child);
	InstrStartNode(child->ps.instrument);
	slot = scan_child(state, child);
	InstrStopNode(child->ps.instrument, TupIsNull(slot) ? 0.0 : 1.0);
	return slot;
}

/*
 * Prepares the columns of a filter's key in the table.  Prepares block pruning as well, if an index
 * has some of the columns and the scan is done in page batches.
 */
static void
prepare_columns(JoinProbeState *state, JoinProbe *probe, TupleDesc desc)
{
	Scan	   *plan = (Scan *) outerPlanState(state)->plan;
	bool		indexed = false;
	int			c;

	for (c = 0; c < probe->ncolumns && probe->filter != NULL; c++)
	{
		probe->attributes[c] =
			bloomfam_join_column_behind(&plan->plan, probe->attributes[c], plan->scanrelid);
		indexed |= OidIsValid(probe->info->columns[c].indexed);
	}
	probe->batch_columns = bloomfam_join_batch_columns(desc, probe->attributes, probe->ncolumns);
	if (!indexed || !state->batch->in_batches || !bloomfam_join_may_skip())
		return;
	bloomfam_join_filter_keep(probe->filter, probe->ncolumns);
	probe->blocks = palloc(sizeof(JoinBlockPruning));
	*probe->blocks = (JoinBlockPruning) {
		.reason = JOIN_BLOCKS_NOT_YET, .filter = probe->filter, .info = probe->info,
		.attributes = probe->attributes, .scan = (ScanState *) outerPlanState(state)
	};
}

void
bloomfam_join_heap_batch_init(JoinProbeState *state)
{
	PlanState  *child = outerPlanState(state);
	Relation	table;
	JoinHeapBatch *batch;
	bool		in_batches;
	int			by_row = 0;
	int			f;

	if (!IsA(child, SeqScanState))
		return;

	/*
	 * Page batches need a heap and an MVCC snapshot; the planner could know neither the table's
	 * access method nor the snapshot.
	 */
	table = ((ScanState *) child)->ss_currentRelation;
	in_batches = BLOOMFAM_KNOWN_MAJOR && table->rd_tableam == GetHeapamTableAmRoutine() &&
				 IsMVCCSnapshot(child->state->es_snapshot);
	for (f = 0; f < state->nprobes; f++)
	{
		if (state->probes[f].filter != NULL && !in_batches)
			state->probes[f].access = JOIN_ROW_BY_ROW;
		by_row += state->probes[f].access == JOIN_ROW_BY_ROW;
	}
	if (by_row == state->nprobes)
		return;

	batch = palloc0(sizeof(JoinHeapBatch));
	batch->in_batches = in_batches;
	state->batch = batch;
	if (by_row == 0)
		state->exec = bloomfam_join_heap_batch_exec;
	for (f = 0; f < state->nprobes; f++)
		if (state->probes[f].access != JOIN_ROW_BY_ROW)
			prepare_columns(state, &state->probes[f], RelationGetDescr(table));

	/*
	 * WHERE CURRENT OF looks in a cursor's plan for the node that scans the table, and for its
	 * current row: the probe node passes for that scan.
	 */
	state->css.ss.ss_currentRelation = table;
	state->css.ss.ss_ScanTupleSlot = ((ScanState *) child)->ss_ScanTupleSlot;
}
