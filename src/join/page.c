/*-------------------------------------------------------------------------
 *
 * page.c
 *	  Filters on the scan of a heap: a page at a time.
 *
 * The heap finds all visible rows of a page at once, and notes where they are.  So the keys of all of them can be hashed together, straight from
 * the page, their blocks of the filter fetched together, and the scan sent on to the next row that passes: the others never become rows
 * of the executor, which costs several times what the filter does.
 *
 * This reaches into the heap's scan descriptor.  Scans of other table access methods, and those that do not go by pages, are left to probe.c; what
 * cannot be read here the short way is read the long way; nothing is skipped that was not looked at.
 *
 * The scan's own conditions come after the filter, not before.  So there must be nothing in them that counts or remembers what it is asked (volatile
 * functions), and hashing must not give away rows that they would hide.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/tableam.h"
#include "access/tupmacs.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "join/join.h"

/* The share of rows that a filter must drop to be worth a look at each row, a page at a time. */
#define WORTH_OF_PAGES		0.08

/* A column of a filter's key in the heap. */
typedef struct PageColumn
{
	AttrNumber	attribute;		/* of the table */
	int			offset;			/* from the start of the row's data, if nothing before it is NULL; -1: it varies */
} PageColumn;

struct JoinPage
{
	bool		by_pages;		/* else all is done row by row */
	PageColumn **columns;		/* of each filter */

	/* of the page that the scan is on */
	BlockNumber block;			/* whose rows were selected; or */
	BlockNumber passing_block;	/* whose rows all pass */
	int			nselected;
	int			next;
	uint16		selected[MaxHeapTuplesPerPage];	/* indexes into rs_vistuples */

	/* scratch */
	HeapTupleHeader rows[MaxHeapTuplesPerPage];
	uint64		hashes[MaxHeapTuplesPerPage];
	bool		null[MaxHeapTuplesPerPage];
	bool		pass[MaxHeapTuplesPerPage];
};

/* Where an attribute lies in rows without NULLs before it; -1 if that varies. */
static int
fixed_offset(TupleDesc desc, AttrNumber attribute)
{
	Size		offset = 0;
	int			i;

	for (i = 0;; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (i + 1 == attribute && att->attlen > 0)
			return (int) att_align_nominal(offset, att->attalign);
		if (i + 1 == attribute || att->attlen <= 0)
			return -1;
		offset = att_align_nominal(offset, att->attalign) + att->attlen;
	}
}

/* Has the row this attribute, and none up to it that is NULL? */
static inline bool
is_at_fixed_offset(HeapTupleHeader row, AttrNumber attribute)
{
	int			i;

	if (unlikely(HeapTupleHeaderGetNatts(row) < attribute))
		return false;
	if (likely((row->t_infomask & HEAP_HASNULL) == 0))
		return true;
	for (i = 0; i < attribute; i++)
		if (att_isnull(i, row->t_bits))
			return false;
	return true;
}

/* The hash of one column of a row, read the long way; sets *isnull. */
static uint64
hash_attribute(const JoinKey *key, HeapTupleHeader row, AttrNumber attribute, TupleDesc desc, bool *isnull)
{
	HeapTupleData tuple;
	Datum		value;

	/* length and place do not matter to heap_getattr() */
	tuple.t_len = 0;
	tuple.t_data = row;
	tuple.t_tableOid = InvalidOid;
	ItemPointerSetInvalid(&tuple.t_self);
	value = heap_getattr(&tuple, attribute, desc, isnull);
	return *isnull ? 0 : key->hash(key, value);
}

/*
 * Hashes one column of all rows in page->rows: first or combined with what is there.  An integer at a fixed offset, which is what most keys
 * are, without a call.
 */
#define HASH_INTEGERS(type) \
	for (i = 0; i < n; i++) \
	{ \
		HeapTupleHeader row = page->rows[i]; \
		uint64		hash; \
		\
		if (likely(is_at_fixed_offset(row, column->attribute))) \
		{ \
			type		value; \
			\
			memcpy(&value, (const char *) row + row->t_hoff + column->offset, sizeof(value)); \
			hash = bf_hash_u64((uint64) (int64) value); \
			isnull = false; \
		} \
		else \
			hash = hash_attribute(key, row, column->attribute, desc, &isnull); \
		page->hashes[i] = first ? hash : bloomfam_join_hash_combine(page->hashes[i], hash); \
		page->null[i] = first ? isnull : page->null[i] | isnull; \
	}

static void
hash_column(JoinPage *page, const JoinKey *key, const PageColumn *column, TupleDesc desc, int n, bool first)
{
	bool		isnull;
	int			i;

	if (key->integer && column->offset >= 0 && key->typlen == 8)
		HASH_INTEGERS(int64)
	else if (key->integer && column->offset >= 0 && key->typlen == 4)
		HASH_INTEGERS(int32)
	else if (key->integer && column->offset >= 0 && key->typlen == 2)
		HASH_INTEGERS(int16)
	else
	{
		for (i = 0; i < n; i++)
		{
			uint64		hash = hash_attribute(key, page->rows[i], column->attribute, desc, &isnull);

			page->hashes[i] = first ? hash : bloomfam_join_hash_combine(page->hashes[i], hash);
			page->null[i] = first ? isnull : page->null[i] | isnull;
		}
	}
}

/*
 * Selects, of the rows of the page that the scan is on, from the present one on, those that pass all filters.  Returns false if no filter
 * looked at them.
 */
static bool
select_rows(JoinProbeState *state, ScanState *child, HeapScanDesc scan)
{
	JoinPage   *page = state->page;
	TupleDesc	desc = RelationGetDescr(child->ss_currentRelation);
	Page		bytes = BufferGetPage(scan->rs_cbuf);
	int			end = (int) scan->rs_ntuples;
	int			n = 0;
	bool		looked = false;
	int			i;
	int			f;

	for (f = 0; f < state->nprobes; f++)
	{
		JoinProbe  *probe = &state->probes[f];
		JoinAnswer	answer = JOIN_ANSWER_PROBE;
		const BfView *view;
		MemoryContext old;
		int			kept = 0;
		int			c;

		if (probe->stored == NULL &&
			(state->by_rows || !bloomfam_join_probe_awake(probe, looked ? n : end - (int) scan->rs_cindex)))
			continue;
		if (!looked)
		{
			for (i = (int) scan->rs_cindex; i < end; i++)
			{
				page->selected[n] = i;
				page->rows[n++] = (HeapTupleHeader) PageGetItem(bytes, PageGetItemId(bytes, scan->rs_vistuples[i]));
			}
			looked = true;
		}

		ResetExprContext(state->css.ss.ps.ps_ExprContext);
		old = MemoryContextSwitchTo(state->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
		for (c = 0; c < probe->ncolumns; c++)
			hash_column(page, &probe->keys[c], &page->columns[f][c], desc, n, c == 0);
		MemoryContextSwitchTo(old);
		if (probe->stored != NULL)
		{
			answer = bloomfam_join_stored_answer(probe->stored);
			view = bloomfam_join_stored_view(probe->stored);
		}
		else
			view = &probe->filter->view;
		if (answer == JOIN_ANSWER_PROBE)
			view->head.kind->probe_many(view, page->hashes, n, page->pass);
		else
			memset(page->pass, answer == JOIN_ANSWER_YES, n);
		for (i = 0; i < n; i++)
		{
			page->selected[kept] = page->selected[i];
			page->rows[kept] = page->rows[i];
			kept += page->pass[i] & !page->null[i];
		}
		bloomfam_join_probe_count(probe, n, n - kept, WORTH_OF_PAGES);
		n = kept;
	}
	page->nselected = n;
	page->next = 0;
	return looked;
}

/* Does the row in the scan's slot pass the filters of conditions? */
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
		probe->counts.dropped += !pass;
	}
	MemoryContextSwitchTo(old);
	return pass;
}

/*
 * The same row by row: for cursors that go backwards.  The scan is always on the row that it gave last, so that pages can be gone on with from
 * there.
 */
static bool
next_row_singly(JoinProbeState *state, TableScanDesc scan, ScanDirection direction, TupleTableSlot *slot)
{
	while (table_scan_getnextslot(scan, direction, slot))
	{
		if (row_passes(state, slot))
			return true;
		CHECK_FOR_INTERRUPTS();
	}
	return false;
}

/* The next row of the child's scan that passes all filters, in the child's slot; or none. */
static bool
next_row(JoinProbeState *state, ScanState *child)
{
	JoinPage   *page = state->page;
	TupleTableSlot *slot = child->ss_ScanTupleSlot;
	HeapScanDesc scan;

	if (child->ss_currentScanDesc == NULL)
		child->ss_currentScanDesc = table_beginscan(child->ss_currentRelation, child->ps.state->es_snapshot, 0, NULL);
	if (unlikely(!page->by_pages || !ScanDirectionIsForward(child->ps.state->es_direction)))
	{
		page->block = page->passing_block = InvalidBlockNumber;
		return next_row_singly(state, child->ss_currentScanDesc, child->ps.state->es_direction, slot);
	}
	scan = (HeapScanDesc) child->ss_currentScanDesc;
	if (!scan->rs_inited)
		page->block = page->passing_block = InvalidBlockNumber;

	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (page->block != InvalidBlockNumber)
		{
			if (page->next < page->nselected)
			{
				/* the next one after this */
				scan->rs_cindex = page->selected[page->next++] - 1;
				return table_scan_getnextslot(&scan->rs_base, ForwardScanDirection, slot);
			}
			/* ... and after the last is the next page */
			scan->rs_cindex = scan->rs_ntuples - 1;
			page->block = InvalidBlockNumber;
		}
		if (!table_scan_getnextslot(&scan->rs_base, ForwardScanDirection, slot))
			return false;
		if (scan->rs_cblock == page->passing_block)
			return true;
		if (!select_rows(state, child, scan))
		{
			page->passing_block = scan->rs_cblock;
			return true;
		}
		page->block = scan->rs_cblock;
		if (page->nselected > 0 && page->selected[0] == (int) scan->rs_cindex)
		{
			page->next = 1;
			return true;
		}
	}
}

/* In place of the child's own: its conditions and its target list, on the rows that pass. */
static TupleTableSlot *
scan_child(JoinProbeState *state, ScanState *child)
{
	ExprContext *econtext = child->ps.ps_ExprContext;
	ProjectionInfo *projection = child->ps.ps_ProjInfo;

	for (;;)
	{
		ResetExprContext(econtext);
		if (!next_row(state, child))
			return ExecClearTuple(projection != NULL ? projection->pi_state.resultslot : child->ss_ScanTupleSlot);
		econtext->ecxt_scantuple = child->ss_ScanTupleSlot;
		if (child->ps.qual == NULL || ExecQual(child->ps.qual, econtext))
			return projection != NULL ? ExecProject(projection) : child->ss_ScanTupleSlot;
		InstrCountFiltered1(child, 1);
	}
}

TupleTableSlot *
bloomfam_join_page_exec(PlanState *node)
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

/* The column of the table that an output column of its scan is, as it stands; 0 if it is none. */
static AttrNumber
column_behind(Scan *plan, AttrNumber attribute)
{
	Expr	   *expr = ((TargetEntry *) list_nth(plan->plan.targetlist, attribute - 1))->expr;

	while (IsA(expr, RelabelType))
		expr = ((RelabelType *) expr)->arg;
	return IsA(expr, Var) ? Max(((Var *) expr)->varattno, 0) : 0;
}

/* Can all filters of joins look at the table's columns, before the conditions of its scan? */
static bool
joins_can_go_by_pages(JoinProbeState *state, Scan *plan)
{
	int			f;
	int			c;

	if (!bloomfam_join_is_indifferent(plan->plan.qual) || !bloomfam_join_is_indifferent(plan->plan.targetlist))
		return false;
	for (f = 0; f < state->nprobes; f++)
		for (c = 0; state->probes[f].stored == NULL && c < state->probes[f].ncolumns; c++)
			if (column_behind(plan, state->probes[f].attributes[c]) == 0 ||
				(plan->plan.qual != NIL && !state->probes[f].keys[c].leakproof))
				return false;
	return true;
}

JoinPage *
bloomfam_join_page_init(JoinProbeState *state)
{
	PlanState  *child = outerPlanState(state);
	Scan	   *plan = (Scan *) child->plan;
	Relation	table;
	JoinPage   *page;
	bool		conditions = false;
	bool		joins = false;
	int			f;
	int			c;

	if (!IsA(child, SeqScanState))
		return NULL;
	table = ((ScanState *) child)->ss_currentRelation;
	page = palloc0(sizeof(JoinPage));
	page->by_pages = table->rd_tableam == GetHeapamTableAmRoutine() && IsMVCCSnapshot(child->state->es_snapshot);
	for (f = 0; f < state->nprobes; f++)
		if (state->probes[f].stored != NULL)
			conditions = true;
		else
			joins = true;
	state->by_rows = joins && (!page->by_pages || !joins_can_go_by_pages(state, plan));
	if (state->by_rows && !conditions)
		return NULL;

	page->block = page->passing_block = InvalidBlockNumber;
	page->columns = palloc(state->nprobes * sizeof(PageColumn *));
	for (f = 0; f < state->nprobes; f++)
	{
		JoinProbe  *probe = &state->probes[f];

		if (probe->stored == NULL && state->by_rows)
			continue;
		page->columns[f] = palloc(probe->ncolumns * sizeof(PageColumn));
		for (c = 0; c < probe->ncolumns; c++)
		{
			AttrNumber	attribute = probe->attributes[c];

			if (probe->stored == NULL)
				attribute = column_behind(plan, attribute);
			page->columns[f][c].attribute = attribute;
			page->columns[f][c].offset = fixed_offset(RelationGetDescr(table), attribute);
		}
	}

	/* WHERE CURRENT OF looks for the scan of a table, and for its row */
	state->css.ss.ss_currentRelation = table;
	state->css.ss.ss_ScanTupleSlot = ((ScanState *) child)->ss_ScanTupleSlot;
	return page;
}
