/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * heap_batch.c
 *	  Filters on the scan of a heap: a page at a time.
 *
 * The heap finds all visible rows of a page at once, and notes where they are.  So the keys of
 * all of them can be hashed together, straight from the page, their blocks of the filter fetched
 * together, and the scan sent on to the next row that passes: the others never become rows of the
 * executor, which costs several times what the filter does.
 *
 * This reaches into the heap's scan descriptor.  Scans of other table access methods, and those
 * that do not go by pages, are left to probe.c.  Nothing is skipped that was not looked at.  Keys
 * are read from the page by heap_batch_columns.c.  What the joins will need of the rows that pass
 * is prefetched (bucket_prefetch.c).
 *
 * Where an index tells in which blocks rows can match (block_pruning.c), the others are not read
 * at all (heap_scan.c), from when the filter's keys are known.
 *
 * The scan's own conditions come after the filter, not before.  Which filters of joins may be asked
 * so the plan says (decide_access() in planner/candidate.c).
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
#include "join/executor/bucket_prefetch.h"
#include "join/executor/heap_batch.h"
#include "join/executor/heap_batch_columns.h"
#include "join/executor/heap_scan.h"
#include "pg/port.h"
#include "pg/server_structs.h"

/* After a page that was not in the server's buffers, so many are not looked for. */
#define COLD_PAGES			64

/* How many lines of the cache are asked for at most where a row is expected. */
#define LINES_PER_ROW		4

struct JoinHeapBatch
{
	bool		in_batches;		/* else all is done row by row */
	bool		some_wait;		/* filters of conditions, for some of the scan's, for now */
	List	   *conditions;		/* the scan's, as ExprStates; NIL: no filter ever waits */

	bool		undecided;		/* some filter may look for blocks that can match, now or as soon as
								 * its keys are known */
	JoinPrunedScan pruned_scan;

	/*
	 * of the page that the scan is on: which rows pass, and the next of these that the scan is to
	 * give
	 */
	bool		selected;		/* after these comes the next page; else the next row */
	int			npassing;
	int			next;

	int			cold;			/* for so many pages do not look for the next one */

	JoinBatchScratch *scratch;	/* NULL: no page was looked at yet */
	uint16		passing[MaxHeapTuplesPerPage];	/* the numbers of rows of the page */
};

/*
 * Asks for the lines of the cache from one address up to the line of another, but not for too
 * many.  Returns the first of them.
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
 * Returns the page after the one that the scan is on; NULL: it is not known to be in a buffer.  Of
 * a page that has not been looked at lately, each row costs a wait for memory, unless it was asked
 * for some time before: here its line pointers, then its rows, of which most pages of a table have
 * about as many as the last one.  Not pinned, it may be another page any time: it is never read,
 * but only asked for.
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
 * Notes so many rows of the page that the scan is on, from the present one on, in the scratch's
 * rows and in passing.
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

		/* a page is filled from its end, so the row before is the one behind */
		if (ahead != NULL)
			prefetched = prefetch_lines(ahead + ((const char *) row - (const char *) bytes),
										prefetched, LINES_PER_ROW);
		batch->passing[n] = i;
		batch->scratch->rows[n++] = row;
	}
}

/* Probes a filter with so many rows: what it says of their keys is in the scratch's pass. */
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

/* Keeps, of so many rows, those that the filter let pass; returns their number. */
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
 * Notes, before rows are looked at, which filters of conditions wait for others.  They do if they
 * could raise an error that they would not after them: until the first key has been hashed, and
 * always if hashing any may fail.
 *
 * Returns whether the present row is to be looked at alone.  It is if a join above has asked for
 * its first row, and will build then: the rows after that one are for the filter to see.  And it is
 * if hashing a key could fail, for a condition: then no row is looked at before it is asked for.
 */
static bool
note_waiting(JoinProbeState *state)
{
	bool		singly = false;
	int			f;

	state->batch->some_wait = false;
	for (f = 0; f < state->nprobes; f++)
	{
		const JoinProbe *probe = &state->probes[f];
		JoinStored *stored = probe->stored;

		if (stored == NULL)
		{
			singly |= probe->access != JOIN_ROW_BY_ROW &&
					  bloomfam_join_filter_awaited(probe->filter);
			continue;
		}
		stored->waits =
			stored->answer == JOIN_ANSWER_NOT_YET || stored->may_fail ? stored->before : 0;
		state->batch->some_wait |= stored->waits > 0;
		singly |= stored->may_fail && stored->waits == 0;
	}
	return singly;
}

/* ---- the rows of a page ---- */

/*
 * Returns the scratch of a node: that of its first filter.  A filter that the query names may be
 * computed by a subplan while rows are hashed, and scans in there need another one: such a node has
 * its own.
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
 * Finds, of the rows of the page that the scan is on, from the present one on, those that pass
 * all filters; of a page that is not done with, the present row alone is looked at.
 */
static void
select_rows(JoinProbeState *state, ScanState *child, HeapScanDesc scan)
{
	JoinHeapBatch *batch = state->batch;
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	TupleDesc	desc = RelationGetDescr(child->ss_currentRelation);
	bool		singly = note_waiting(state);
	bool		looked = false;
	MemoryContext old;
	int			n;
	int			i;

	/* the scan is on a row, and of all that are on its page this process knows which it sees */
	Assert(bloomfam_heap_scan_has_begun(scan) && IsMVCCSnapshot(child->ps.state->es_snapshot));
	Assert(bloomfam_heap_scan_row(scan) < bloomfam_heap_scan_nrows(scan));
	if (unlikely(batch->scratch == NULL))
		batch->scratch = get_scratch(state);
	n = singly ? 1 : bloomfam_heap_scan_nrows(scan) - bloomfam_heap_scan_row(scan);

	/* the present row was counted by the scan */
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
		if (probe->stored != NULL ? probe->stored->waits > 0 : !bloomfam_join_probe_awake(probe, n))
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
	if (looked && !singly && n > 0)
		bloomfam_join_prefetch_buckets(state, batch->scratch, desc, n);
	MemoryContextSwitchTo(old);
	batch->selected = !singly;
	batch->npassing = n;
	batch->next = 0;
}

/*
 * Tells whether the row in the scan's slot passes the filters of conditions that wait for so many
 * of the scan's conditions, 0 for those that wait for none.
 */
static bool
row_passes(JoinProbeState *state, TupleTableSlot *slot, int conditions)
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

		if (probe->stored == NULL || probe->stored->waits != conditions)
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
 * Asks the indexes of filters whose keys have become known since the last page, and leaves out
 * blocks by what they say.  In parallel only a scan that has not begun can do that, as others
 * would not read what it has taken.
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

/* Goes to the next row of the scan, whether it passes or not; false at the end. */
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

/* Puts the next row of the child's scan that passes all filters into its slot; false at the end. */
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
		/* row by row from where it is, or anew */
		batch->selected = false;
		batch->npassing = batch->next = 0;
		batch->pruned_scan.active = false;
		batch->undecided = true;
	}

	/* for cursors that go backwards: it stays on the row that it gave last, to go on from there */
	while (unlikely(singly))
	{
		CHECK_FOR_INTERRUPTS();
		if (!table_scan_getnextslot(child->ss_currentScanDesc, child->ps.state->es_direction, slot))
			return false;
		note_waiting(state);
		if (row_passes(state, slot, 0))
			return true;
	}

	while (batch->next >= batch->npassing)
	{
		CHECK_FOR_INTERRUPTS();

		/*
		 * after the last row of a page is the next page; what is left of one after going
		 * backwards is looked at from there
		 */
		if (batch->selected)
			bloomfam_heap_scan_set_row(scan, bloomfam_heap_scan_nrows(scan) - 1);
		if (!next_unseen_row(state, child, scan))
			return false;
		select_rows(state, child, scan);
	}

	/* in place of heap_getnextslot(): it is on the page that the scan is on, and visible */
	row = batch->passing[batch->next];
	Assert(row >= bloomfam_heap_scan_row(scan));
	Assert(batch->next == 0 || batch->passing[batch->next - 1] < row);
	batch->next++;
	bloomfam_heap_scan_give_row(scan, row, slot);
	return true;
}

/* Tells whether a row passes the scan's conditions, and the filters that wait among them. */
static bool
row_qualifies(JoinProbeState *state, ScanState *child, ExprContext *econtext)
{
	JoinHeapBatch *batch = state->batch;
	bool		pass = true;
	int			i;

	Assert(!batch->some_wait || batch->conditions != NIL);
	if (!batch->some_wait)
		pass = child->ps.qual == NULL || ExecQual(child->ps.qual, econtext);
	for (i = 0; batch->some_wait && pass && i < list_length(batch->conditions); i++)
	{
		pass = ExecQual(list_nth(batch->conditions, i), econtext);
		if (pass && !row_passes(state, child->ss_ScanTupleSlot, i + 1))
			return false;
	}
	if (!pass)
		InstrCountFiltered1(child, 1);
	return pass;
}

/* Executes the child's scan in its place: conditions and target list, on the rows that pass. */
static TupleTableSlot *
scan_child(JoinProbeState *state, ScanState *child)
{
	ExprContext *econtext = child->ps.ps_ExprContext;
	ProjectionInfo *projection = child->ps.ps_ProjInfo;

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
	} while (!row_qualifies(state, child, econtext));
	return projection != NULL ? ExecProject(projection) : child->ss_ScanTupleSlot;
}

TupleTableSlot *
bloomfam_join_heap_batch_exec(PlanState *node)
{
	JoinProbeState *state = (JoinProbeState *) node;
	ScanState  *child = (ScanState *) outerPlanState(node);
	TupleTableSlot *slot;

	/* what ExecProcNode() would do for the child */
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
 * Prepares the columns of a filter's key in the table; and block pruning, if an index has some of
 * them and the scan goes by pages.
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
	ListCell   *lc;
	int			f;

	if (!IsA(child, SeqScanState))
		return;

	/* what the plan could not know */
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

	note_waiting(state);
	foreach(lc, batch->some_wait ? child->plan->qual : NIL)
		batch->conditions = lappend(batch->conditions, ExecInitQual(list_make1(lfirst(lc)), child));

	/* WHERE CURRENT OF looks for the scan of a table, and for its row */
	state->css.ss.ss_currentRelation = table;
	state->css.ss.ss_ScanTupleSlot = ((ScanState *) child)->ss_ScanTupleSlot;
}
