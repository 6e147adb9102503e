/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * reader.c
 *	  Reads rows of a table while a query is planned: under conditions, and within a budget.
 *
 * Blocks are counted here, as a search needs them: the server's own counters would tell of
 * catalogs, too, which are read once in a session, and plans must not depend on that.
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
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/datum.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "join/sampling/reader.h"
#include "pg/compat.h"

const char	bloomfam_join_over_budget[] = "it would access too many blocks";

/* Of these columns of the relation, those whose values may be long. */
static Bitmapset *
find_long_columns(Relation relation, const Bitmapset *columns)
{
	Bitmapset  *result = NULL;
	int			member = -1;

	while ((member = bms_next_member(columns, member)) >= 0)
	{
		AttrNumber	column = member + FirstLowInvalidHeapAttributeNumber;

		Assert(column > 0);
		if (TupleDescAttr(RelationGetDescr(relation), column - 1)->attlen == -1)
			result = bms_add_member(result, column);
	}
	return result;
}

/*
 * Parts conditions into those that are evaluated first and those about long values, which take
 * time.  The columns of the latter are added to the reader's.
 */
static void
prepare_conditions(JoinReader *reader, Index relid, List *clauses)
{
	List	   *first = NIL;
	List	   *about_long = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		Bitmapset  *columns = NULL;

		pull_varattnos(lfirst(lc), relid, &columns);
		columns = find_long_columns(reader->relation, columns);
		if (columns == NULL)
			first = lappend(first, lfirst(lc));
		else
			about_long = lappend(about_long, lfirst(lc));
		reader->long_columns = bms_join(reader->long_columns, columns);
	}
	reader->conditions = ExecPrepareQual(first, reader->estate);
	reader->conditions_about_long = ExecPrepareQual(about_long, reader->estate);
}

void
bloomfam_join_reader_begin(JoinReader *reader, RelOptInfo *rel, Relation relation,
						   List *conditions, AttrNumber used, int most_blocks)
{
	memset(reader, 0, sizeof(*reader));
	reader->relation = relation;
	reader->estate = CreateExecutorState();
	if (used != 0)
		reader->long_columns = find_long_columns(
			relation, bms_make_singleton(used - FirstLowInvalidHeapAttributeNumber));
	prepare_conditions(reader, rel->relid, extract_actual_clauses(conditions, false));
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

/* Counts the blocks of a value beside the row's own: where it is stored, and what it takes up. */
static void
count_value(JoinReader *reader, struct varlena *value)
{
	if (VARATT_IS_EXTERNAL_ONDISK(value))
		reader->nblocks += Max(JOIN_BLOCKS_OF_LONG_ROW,
							   toast_datum_size(PointerGetDatum(value)) / TOAST_MAX_CHUNK_SIZE);
	if (VARATT_IS_EXTERNAL(value) || VARATT_IS_COMPRESSED(value))
	{
		reader->nunpacked += toast_raw_datum_size(PointerGetDatum(value));
		reader->nblocks += reader->nunpacked / BLCKSZ;
		reader->nunpacked %= BLCKSZ;
	}
}

bool
bloomfam_join_reader_matches(JoinReader *reader)
{
	ExprContext *context = GetPerTupleExprContext(reader->estate);
	int			column = -1;

	ResetExprContext(context);
	context->ecxt_scantuple = reader->slot;
	if (!ExecQual(reader->conditions, context))
		return false;
	while ((column = bms_next_member(reader->long_columns, column)) >= 0)
	{
		bool		isnull;
		Datum		value = slot_getattr(reader->slot, column, &isnull);

		if (!isnull)
			count_value(reader, (struct varlena *) DatumGetPointer(value));
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

/*
 * The next entry of the index.  The blocks on the way down are counted already; but between two
 * entries there may be leaves full of dead ones, which are passed over.
 */
static ItemPointer
next_entry(JoinReader *reader)
{
	int64		before = all_accesses();
	ItemPointer tid = index_getnext_tid(reader->scan, ForwardScanDirection);
	int64		surplus = all_accesses() - before - (reader->height + 2);

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
			/* another leaf of the index, now and then */
			if (++reader->nentries % 64 == 0)
				reader->nblocks++;
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
