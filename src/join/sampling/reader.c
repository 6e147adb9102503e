/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * reader.c
 *	  Reads rows of a table while a query is planned: under conditions, and within a budget.
 *
 * Blocks are counted here, as a search needs them: the server's own counters tell of catalogs, too,
 * which are read once in a session, and plans must not depend on that.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/heaptoast.h"
#include "access/genam.h"
#include "access/heapam.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/pg_am_d.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/array.h"
#include "utils/datum.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "join/sampling/permission.h"
#include "join/sampling/reader.h"
#include "pg/compat.h"

/* Operators count, too, beyond a few for each row: so many take the time that a block does. */
#define OPERATORS_OF_ROW	16
#define OPERATORS_OF_BLOCK	400

const char	bloomfam_join_over_budget[] = "it would access too many blocks";

/*
 * A column that a condition reads, or the search does, and whose values may be long.  Each mention
 * is one, as each operator unpacks its arguments anew.
 */
typedef struct LongValue
{
	AttrNumber	column;
	int			nreads;			/* of the value, for a row */
	int			npasses;		/* each of its bytes is looked at so often */
} LongValue;

/* Columns are looked for in a condition. */
typedef struct LongValueContext
{
	TupleDesc	desc;			/* of the table */
	List	   *values;			/* LongValue */
	int			nreads;			/* by the operator that is an ancestor */
	int			npasses;
} LongValueContext;

static List *
add_long_value(List *values, TupleDesc desc, AttrNumber column, int nreads, int npasses)
{
	LongValue  *value;

	Assert(column > 0);
	if (TupleDescAttr(desc, column - 1)->attlen != -1)
		return values;
	value = palloc(sizeof(LongValue));
	*value = (LongValue) {column, nreads, npasses};
	return lappend(values, value);
}

/* How often a list's operator reads its left side: for each element, unless it is hashed. */
static int
reads_of_list(const ScalarArrayOpExpr *expr)
{
	const Const *list = lsecond(expr->args);

	if (OidIsValid(expr->hashfuncid) || !IsA(list, Const) || list->constisnull)
		return 1;
	return Max(ArrayGetNItems(ARR_NDIM(DatumGetArrayTypeP(list->constvalue)),
							  ARR_DIMS(DatumGetArrayTypeP(list->constvalue))),
			   1);
}

static bool
find_long_values(Node *node, void *arg)
{
	LongValueContext *context = arg;
	LongValueContext inner = *context;
	const text *pattern = NULL;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		context->values = add_long_value(context->values, context->desc, ((Var *) node)->varattno,
										 context->nreads, context->npasses);
		return false;
	}
	/* not read, to tell that */
	if (IsA(node, NullTest) && IsA(((NullTest *) node)->arg, Var))
		return false;
	if (IsA(node, OpExpr) || IsA(node, FuncExpr))
		inner.nreads = 1;
	else if (IsA(node, ScalarArrayOpExpr))
		inner.nreads = reads_of_list((ScalarArrayOpExpr *) node);
	if (IsA(node, OpExpr))
		pattern = bloomfam_join_like_pattern((OpExpr *) node, ((OpExpr *) node)->opfuncid);
	if (pattern != NULL)
		inner.npasses = Max(VARSIZE_ANY_EXHDR(pattern), 1);
	expression_tree_walker(node, find_long_values, &inner);
	context->values = inner.values;
	return false;
}

/* Counts what is evaluated for a row, operators and all else: of a list, for each element. */
static bool
count_operators(Node *node, void *arg)
{
	int		   *n = arg;

	if (node == NULL)
		return false;
	if (IsA(node, ScalarArrayOpExpr))
		*n += reads_of_list((ScalarArrayOpExpr *) node);
	else if (!IsA(node, Var) && !IsA(node, Const) && !IsA(node, List))
		(*n)++;
	return expression_tree_walker(node, count_operators, arg);
}

/*
 * Parts conditions into those that are evaluated first and those about long values, which take
 * time.  What the latter read is added to the reader's.
 */
static void
prepare_conditions(JoinReader *reader, List *clauses)
{
	List	   *first = NIL;
	List	   *about_long = NIL;
	int			noperators = 0;
	ListCell   *lc;

	count_operators((Node *) clauses, &noperators);
	reader->noperators = Max(noperators - OPERATORS_OF_ROW, 0);
	foreach(lc, clauses)
	{
		LongValueContext context = {
			.desc = RelationGetDescr(reader->relation), .nreads = 1, .npasses = 1};

		find_long_values(lfirst(lc), &context);
		if (context.values == NIL)
			first = lappend(first, lfirst(lc));
		else
			about_long = lappend(about_long, lfirst(lc));
		reader->long_values = list_concat(reader->long_values, context.values);
	}
	reader->conditions = ExecPrepareQual(first, reader->estate);
	reader->conditions_about_long = ExecPrepareQual(about_long, reader->estate);
}

void
bloomfam_join_reader_begin(JoinReader *reader, Relation relation, List *conditions, AttrNumber used,
						   int most_blocks)
{
	memset(reader, 0, sizeof(*reader));
	reader->relation = relation;
	reader->estate = CreateExecutorState();
	if (used != 0)
		reader->long_values = add_long_value(NIL, RelationGetDescr(relation), used, 1, 1);
	prepare_conditions(reader, extract_actual_clauses(conditions, false));
	reader->slot = table_slot_create(relation, NULL);
	reader->most_blocks = most_blocks;
}

void
bloomfam_join_reader_end(JoinReader *reader)
{
	if (reader->scan != NULL)
	{
		index_endscan(reader->scan);
		index_close(reader->index, NoLock);
	}
	ExecDropSingleTupleTableSlot(reader->slot);
	FreeExecutorState(reader->estate);
}

/*
 * Counts a value of the row in the slot as blocks, beside the row's own: where it is stored, what
 * it takes up, and how often LIKE looks at its bytes, which takes time as reading does.
 */
static void
count_value(JoinReader *reader, const LongValue *value)
{
	bool		isnull;
	Datum		datum = slot_getattr(reader->slot, value->column, &isnull);
	struct varlena *stored = (struct varlena *) DatumGetPointer(datum);
	int64		nblocks = 0;

	if (isnull)
		return;
	if (VARATT_IS_EXTERNAL_ONDISK(stored))
		nblocks = Max(JOIN_BLOCKS_OF_LONG_ROW, toast_datum_size(datum) / TOAST_MAX_CHUNK_SIZE) *
				  value->nreads;
	if (VARATT_IS_EXTERNAL(stored) || VARATT_IS_COMPRESSED(stored) || value->npasses > 1)
	{
		reader->nbytes += toast_raw_datum_size(datum) * Max(value->nreads, value->npasses);
		nblocks += reader->nbytes / BLCKSZ;
		reader->nbytes %= BLCKSZ;
	}
	reader->nblocks += Min(nblocks, reader->most_blocks + 1);
}

bool
bloomfam_join_reader_matches(JoinReader *reader)
{
	ExprContext *context = GetPerTupleExprContext(reader->estate);
	ListCell   *lc;

	reader->noperations += reader->noperators;
	reader->nblocks += reader->noperations / OPERATORS_OF_BLOCK;
	reader->noperations %= OPERATORS_OF_BLOCK;
	ResetExprContext(context);
	context->ecxt_scantuple = reader->slot;
	if (bloomfam_join_reader_is_over(reader) || !ExecQual(reader->conditions, context))
		return false;
	foreach(lc, reader->long_values)
	{
		if (bloomfam_join_reader_is_over(reader))
			break;
		count_value(reader, lfirst(lc));
	}
	return !bloomfam_join_reader_is_over(reader) &&
		   ExecQual(reader->conditions_about_long, context);
}

bool
bloomfam_join_reader_can_search(const IndexOptInfo *index)
{
	return index->relam == BTREE_AM_OID && !index->hypothetical && index->indpred == NIL &&
		   index->nkeycolumns >= 1 && index->tree_height >= 0 &&
		   !ReindexIsProcessingIndex(index->indexoid);
}

void
bloomfam_join_reader_open(JoinReader *reader, const IndexOptInfo *index, int nkeys)
{
	reader->height = index->tree_height;
	/* locked when the planner has read of it */
	reader->index = index_open(index->indexoid, NoLock);
	reader->scan = bloomfam_index_beginscan(reader->relation, reader->index,
											GetActiveSnapshot(), nkeys);
	reader->nblocks++;			/* where the index begins */
}

void
bloomfam_join_reader_seek(JoinReader *reader, ScanKey keys, int nkeys)
{
	index_rescan(reader->scan, keys, nkeys, NULL, 0);
	reader->nentries = 0;
	reader->block = InvalidBlockNumber;
	reader->nblocks += reader->height + 1;
}

static int64
all_accesses(void)
{
	return pgBufferUsage.shared_blks_hit + pgBufferUsage.shared_blks_read +
		   pgBufferUsage.local_blks_hit + pgBufferUsage.local_blks_read;
}

/* The next entry of the index; surplus: how many blocks were accessed beside those counted. */
static ItemPointer
accessed_entry(JoinReader *reader, int64 *surplus)
{
	int64		before = all_accesses();
	ItemPointer tid = index_getnext_tid(reader->scan, ForwardScanDirection);

	/* those on the way down to the first one are counted already */
	*surplus = all_accesses() - before - (reader->nentries == 0 ? reader->height + 1 : 0);
	return tid;
}

/*
 * The next entry of the index.  Between two entries are leaves that end, and others full of dead
 * ones, which are passed over.  But a session's first search reads catalogs, too.  So a search
 * that began with more accesses than expected is begun again: then it has what it needs.
 */
static ItemPointer
next_entry(JoinReader *reader)
{
	int64		surplus;
	ItemPointer tid = accessed_entry(reader, &surplus);

	if (surplus > 0 && reader->nentries == 0)
	{
		index_rescan(reader->scan, NULL, reader->scan->numberOfKeys, NULL, 0);
		tid = accessed_entry(reader, &surplus);
	}
	if (surplus > 0)
		reader->nblocks += Min(surplus, reader->most_blocks + 1);
	return tid;
}

bool
bloomfam_join_reader_next(JoinReader *reader)
{
	for (;;)
	{
		if (!reader->scan->xs_heap_continue)
		{
			ItemPointer tid = next_entry(reader);

			CHECK_FOR_INTERRUPTS();
			if (tid == NULL)
				return false;
			reader->nentries++;
			if (ItemPointerGetBlockNumber(tid) != reader->block)
			{
				reader->block = ItemPointerGetBlockNumber(tid);
				reader->nblocks++;
			}
		}
		if (index_fetch_heap(reader->scan, reader->slot))
			return true;
		if (bloomfam_join_reader_is_over(reader))
			return false;
	}
}

int
bloomfam_join_reader_beside(JoinReader *reader, OffsetNumber row, int step, int most)
{
	Buffer		buffer;
	Page		page;
	OffsetNumber offset;
	int			n = 0;

	if (reader->relation->rd_tableam != GetHeapamTableAmRoutine())
		return 0;
	/* the slot has it pinned */
	Assert(TTS_IS_BUFFERTUPLE(reader->slot) && most <= JOIN_MOST_BESIDE);
	buffer = ((BufferHeapTupleTableSlot *) reader->slot)->buffer;
	page = BufferGetPage(buffer);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	for (offset = row + step;
		 n < most && offset >= FirstOffsetNumber && offset <= PageGetMaxOffsetNumber(page);
		 offset += step)
	{
		ItemId		item = PageGetItemId(page, offset);
		HeapTuple	tuple = &reader->beside[n];

		if (!ItemIdIsNormal(item))
			break;
		tuple->t_len = ItemIdGetLength(item);
		tuple->t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple->t_tableOid = RelationGetRelid(reader->relation);
		ItemPointerSet(&tuple->t_self, BufferGetBlockNumber(buffer), offset);
		if (!HeapTupleSatisfiesVisibility(tuple, GetActiveSnapshot(), buffer))
			break;
		n++;
	}
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return n;
}

void
bloomfam_join_reader_show(JoinReader *reader, int number)
{
	ExecStoreBufferHeapTuple(&reader->beside[number], reader->slot,
							 ((BufferHeapTupleTableSlot *) reader->slot)->buffer);
}

bool
bloomfam_join_reader_is_short(JoinReader *reader, Form_pg_attribute attribute, Datum value)
{
	if (attribute->attlen != -1)
		return true;
	if (toast_raw_datum_size(value) > JOIN_WIDEST_KEY)
		return false;
	if (VARATT_IS_EXTERNAL(DatumGetPointer(value)))
		reader->nblocks += JOIN_BLOCKS_OF_LONG_ROW;
	return true;
}

bool
bloomfam_join_reader_copy_key(JoinReader *reader, Form_pg_attribute attribute, Datum value,
							  Datum *copy)
{
	if (!bloomfam_join_reader_is_short(reader, attribute, value))
		return false;
	if (attribute->attlen != -1)
		*copy = datumCopy(value, attribute->attbyval, attribute->attlen);
	else
		*copy = PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
	return true;
}
