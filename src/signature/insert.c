/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * insert.c
 *	  Tells a signature index of a new row, and summarizes ranges that are full.
 *
 * When an insert looks at the state of its row's range, the row is on its page already.  So a
 * summarizer that claims the range later will read the row.  An insert that comes after the claim
 * makes the range known as spoiled, dirty, or adds its keys to the signature itself.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/index.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "access/htup_details.h"

#include "signature/signature.h"
#include "signature/store.h"
#include "signature/summarize.h"

/* What the inserts of one statement keep in IndexInfo.ii_AmCache. */
typedef struct InsertState
{
	Buffer		recent;			/* The buffer that had the metapage last time. */
	uint32		pages_per_range;

	/* True if an insert may summarize other sessions' rows. */
	bool		may_step;

	/*
	 * True if keys are extracted of each row, although they are not needed: if that raises an
	 * error, it must do so now, and not when the range is summarized.
	 */
	bool		extracts_all;
	SignatureColumns *columns;	/* NULL until they are needed. */
	SignatureReader *reader;	/* NULL before the first step. */

	/* The block of the row with which the last step was done that found nothing to do. */
	BlockNumber idle;
} InsertState;

/* Returns whether the function might do something else for other users or search paths. */
static bool
depends_on_session(Oid function, void *context)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Oid			language;

	if (!HeapTupleIsValid(tuple))
		return true;
	language = ((Form_pg_proc) GETSTRUCT(tuple))->prolang;
	ReleaseSysCache(tuple);
	return language != INTERNALlanguageId && language != ClanguageId;
}

/*
 * Returns whether an expression has anything but functions in C, whose results for one user's rows
 * do not depend on the user or search path of the session.  Domains have constraints.
 */
static bool
depends_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, CoerceToDomain) || check_functions_in_node(node, depends_on_session, context))
		return true;
	return expression_tree_walker(node, depends_walker, context);
}

static bool
extracts_by_extension(Relation index)
{
	int			i;

	for (i = 1; i <= IndexRelationGetNumberOfKeyAttributes(index); i++)
		if (index_getprocid(index, i, SIGNATURE_EXTRACT_VALUE_PROC) >= FirstNormalObjectId)
			return true;
	return false;
}

static InsertState *
insert_state(Relation index, IndexInfo *info)
{
	InsertState *state = (InsertState *) info->ii_AmCache;
	SignatureMeta *meta;

	if (state != NULL)
		return state;
	meta = bloomfam_signature_meta_read(index);
	state = (InsertState *) MemoryContextAllocZero(info->ii_Context, sizeof(InsertState));
	state->pages_per_range = meta->pages_per_range;
	state->idle = InvalidBlockNumber;

	/*
	 * While an index is not valid, there may be transactions that do not know of it, and insert
	 * rows without calling this function.
	 */
	state->may_step = index->rd_index->indisvalid &&
		!depends_walker((Node *) info->ii_Expressions, NULL) &&
		!depends_walker((Node *) info->ii_Predicate, NULL);
	state->extracts_all = extracts_by_extension(index);
	pfree(meta);
	info->ii_AmCache = state;
	return state;
}

static void
need_columns(InsertState *state, Relation index, IndexInfo *info)
{
	MemoryContext old;
	SignatureMeta *meta;

	if (state->columns != NULL)
		return;
	old = MemoryContextSwitchTo(info->ii_Context);
	meta = bloomfam_signature_meta_read(index);
	state->columns = bloomfam_signature_columns_make(index, meta->ngram);
	bloomfam_signature_columns_fit(state->columns, index, meta);
	pfree(meta);
	MemoryContextSwitchTo(old);
}

/* ---- rows of ranges that have a signature ---- */

/* The signature that a row alone would have: it takes no more memory if the row has more keys. */
typedef struct RowSignature
{
	BfSignatureShape shape;
	uint64	   *words;
} RowSignature;

static void
take_bits(void *arg, const uint64 *hashes, uint32 n)
{
	RowSignature *row = (RowSignature *) arg;

	bf_signature_add(row->words, &row->shape, hashes, n);
}

/*
 * Marks a range as dirty, and as one into which a row came after VACUUM had begun to summarize it
 * anew.
 */
static void
mark_dirty(SignatureGroup *group, uint32 i)
{
	signature_set_add(&group->dirty, i);
	signature_set_remove(&group->redone, i);
}

static bool
needs_mark(const SignatureGroup *group, uint32 i)
{
	return !signature_set_has(&group->dirty, i) || signature_set_has(&group->redone, i);
}

static void
insert_into_slab(Relation index, const SignatureMeta *meta, uint32 range)
{
	SignatureGroup slabs[SIGNATURE_ENTRIES];
	uint32		slab = range / SIGNATURE_WIDTH;
	SignatureChange change;

	(void) bloomfam_signature_slabs_read(index, meta, slab, slabs);
	if (!needs_mark(&slabs[0], range % SIGNATURE_WIDTH))
		return;
	bloomfam_signature_change_slab(index, &change, meta, slab);
	mark_dirty(change.slab, range % SIGNATURE_WIDTH);
	bloomfam_signature_change_commit(&change);
}

/*
 * Marks the i-th range of a batch as dirty.  Returns false if the batch has become a slab since.
 */
static bool
mark_in_batch(Relation index, uint32 number, uint64 id, uint32 i)
{
	SignatureChange change;
	bool		found;

	bloomfam_signature_change_begin(index, &change);
	found = signature_has_batch(change.meta, number, id);
	if (found)
		mark_dirty(&change.meta->batches[number].group, i);
	bloomfam_signature_change_commit(&change);
	return found;
}

/*
 * Adds a row's keys to the signature of the i-th range of a batch.  Returns false if the batch has
 * become a slab meanwhile.
 */
static bool
insert_into_batch(Relation index, InsertState *state, IndexInfo *info, const SignatureMeta *meta,
				  uint32 number, uint32 i, Datum *values, bool *isnull)
{
	const SignatureGroup *batch = &meta->batches[number].group;
	SignatureKeys *keys;
	SignatureMeta *now;
	RowSignature row = {signature_shape(meta, batch), NULL};
	bool		is_there;
	bool		found;
	bool		is_merged;

	if (signature_set_has(&batch->dirty, i))
		return !signature_set_has(&batch->redone, i) || mark_in_batch(index, number, batch->id, i);

	need_columns(state, index, info);
	row.words = (uint64 *) palloc0((Size) batch->blocks * BF_SIGNATURE_BLOCK_BYTES);
	keys = (SignatureKeys *) palloc(sizeof(SignatureKeys));
	signature_keys_begin(keys, take_bits, &row);
	bloomfam_signature_extract(state->columns, values, isnull, keys);
	signature_keys_end(keys);
	is_there = bloomfam_signature_add(index, batch, i, row.words);

	/* The keys may have come too late for a slab that is being made. */
	now = bloomfam_signature_meta_read(index);
	found = signature_has_batch(now, number, batch->id);
	if (found && !is_there)
		bloomfam_signature_corrupted(index, batch->start,
									 "A page of a batch is not where the index expects it.");
	is_merged = now->merging && number == 0;
	pfree(now);
	return found && (!is_merged || mark_in_batch(index, number, batch->id, i));
}

/* Tells a summarizer that its range has a new row.  Returns false if it has ended meanwhile. */
static bool
spoil(Relation index, uint32 range)
{
	SignatureChange change;

	bloomfam_signature_change_begin(index, &change);
	if (range < signature_summarized(change.meta))
	{
		bloomfam_signature_change_abandon(&change);
		return false;
	}
	if (range < change.meta->claimed)
		change.meta->spoiled = true;
	bloomfam_signature_change_commit(&change);
	return true;
}

/* Handles a row of a range that is not open.  Returns false if it must be called again. */
static bool
insert_once(Relation index, InsertState *state, IndexInfo *info, uint32 range, Datum *values,
			bool *isnull)
{
	SignatureMeta *meta = bloomfam_signature_meta_read(index);
	uint32		i;

	if (range >= meta->claimed)
		return true;
	if (range >= signature_summarized(meta))
		return spoil(index, range);
	if (range < meta->nslabs * SIGNATURE_WIDTH)
	{
		insert_into_slab(index, meta, range);
		return true;
	}
	i = range - meta->nslabs * SIGNATURE_WIDTH;
	return insert_into_batch(index, state, info, meta, i / SIGNATURE_WIDTH, i % SIGNATURE_WIDTH,
							 values, isnull);
}

static void
insert_into_range(Relation index, InsertState *state, IndexInfo *info, uint32 range,
				  Datum *values, bool *isnull)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "signature index: insert",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);

	while (!insert_once(index, state, info, range, values, isnull))
		CHECK_FOR_INTERRUPTS();
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/* ---- open ranges ---- */

/*
 * Summarizes a range if nobody else does so now.  A range is about a millisecond's work.
 */
static void
step(Relation table, Relation index, InsertState *state, IndexInfo *info, BlockNumber block)
{
	MemoryContext old;

	if (!bloomfam_signature_trylock(index))
		return;
	old = MemoryContextSwitchTo(info->ii_Context);
	if (state->reader == NULL)
	{
		need_columns(state, index, info);
		state->reader = bloomfam_signature_reader_make(table, index, state->columns,
													   SIGNATURE_INSERT);
	}
	if (!bloomfam_signature_step(state->reader, SIGNATURE_OPEN_RANGES))
		state->idle = block;
	MemoryContextSwitchTo(old);
	bloomfam_signature_unlock(index);
}

static void
take_nothing(void *arg, const uint64 *hashes, uint32 n)
{
}

/* Raises the error that extracting the row's keys raises, if any. */
static void
try_extract(Relation index, InsertState *state, IndexInfo *info, Datum *values, bool *isnull)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "signature index: insert",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	SignatureKeys *keys = (SignatureKeys *) palloc(sizeof(SignatureKeys));

	need_columns(state, index, info);
	signature_keys_begin(keys, take_nothing, NULL);
	bloomfam_signature_extract(state->columns, values, isnull, keys);
	signature_keys_end(keys);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

bool
bloomfam_signature_insert(Relation index, Datum *values, bool *isnull, ItemPointer tid,
						  Relation table, IndexUniqueCheck unique, bool unchanged,
						  IndexInfo *info)
{
	InsertState *state;
	BlockNumber block = ItemPointerGetBlockNumber(tid);
	const SignatureMeta *meta;
	Buffer		buffer;
	uint32		range;
	uint32		claimed;
	uint32		summarized;

	/*
	 * The last phase of a concurrent build inserts all rows that its snapshot sees.  They were on
	 * their pages when it summarized these (vacuum.c).
	 */
	if (info->ii_Concurrent)
		return false;
	state = insert_state(index, info);
	range = block / state->pages_per_range;
	if (state->extracts_all)
		try_extract(index, state, info, values, isnull);

	buffer = bloomfam_read_recent_buffer(index, 0, state->recent);
	state->recent = buffer;
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	meta = signature_meta(BufferGetPage(buffer));
	claimed = meta->claimed;
	summarized = signature_summarized(meta);
	UnlockReleaseBuffer(buffer);

	if (range < claimed)
		insert_into_range(index, state, info, range, values, isnull);
	else if (range >= (uint64) summarized + 1 + SIGNATURE_OPEN_RANGES && state->may_step &&
			 block != state->idle)
		step(table, index, state, info, block);
	return false;
}
