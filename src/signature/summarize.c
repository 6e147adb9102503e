/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * summarize.c
 *	  Summarizes ranges: reads their rows and gives them signatures.
 *
 * All rows on a range's pages are read, whatever their visibility, but for those that nobody can
 * ever see: an aborted transaction's.  The server's own functions for this (as BRIN uses them)
 * leave out rows that are dead here, which a standby's snapshot may still see.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/procarray.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "signature/store.h"
#include "signature/summarize.h"

/* The memory for signatures that are computed before pages are changed, in bytes. */
#define REDO_MEMORY		((Size) 16 * 1024 * 1024)

/*
 * The largest part of a range's bytes that a signature may take.  Ranges with very many different
 * keys, such as lines with random ids, get fewer bits for each key.
 */
#define LARGEST_PART	0.11

/* The number of bits by which different keys are counted. */
#define COUNTER_BITS	((Size) 1 << 23)

SignatureReader *
bloomfam_signature_reader_make(Relation table, Relation index, SignatureColumns *columns,
							   SignatureCaller caller)
{
	SignatureReader *reader = (SignatureReader *) palloc0(sizeof(SignatureReader));
	TupleDesc	desc;

	reader->table = table;
	reader->index = index;
	reader->caller = caller;
	reader->columns = columns;
	reader->info = BuildIndexInfo(index);
	reader->estate = CreateExecutorState();

	/*
	 * The descriptor is a copy, as one of the relation would have to be released.  It has the
	 * values of columns that were added with a default.
	 */
	desc = CreateTupleDescCopyConstr(RelationGetDescr(table));
	reader->slot = MakeSingleTupleTableSlot(desc, &TTSOpsHeapTuple);
	GetPerTupleExprContext(reader->estate)->ecxt_scantuple = reader->slot;
	reader->predicate = ExecPrepareQual(reader->info->ii_Predicate, reader->estate);
	reader->evaluates = reader->info->ii_Expressions != NIL || reader->info->ii_Predicate != NIL;
	reader->row = AllocSetContextCreate(CurrentMemoryContext, "signature index: rows",
										ALLOCSET_DEFAULT_SIZES);
	if (caller != SIGNATURE_INSERT)
		reader->strategy = GetAccessStrategy(BAS_BULKREAD);
	return reader;
}

/* What is to be done with a row. */
typedef enum RowFate
{
	ROW_READ,
	ROW_SKIPPED,
	ROW_UNKNOWN,
	ROW_LATER
} RowFate;

/* Decides about a row of a page that is locked in SHARE mode. */
static RowFate
judge_row(const SignatureReader *reader, HeapTuple row, TransactionId horizon, Buffer buffer)
{
	if (reader->caller == SIGNATURE_CHECK)
		return HeapTupleSatisfiesVisibility(row, reader->snapshot, buffer) ? ROW_READ :
			ROW_SKIPPED;

	/*
	 * A row without TOASTed values can be read whatever its state, unless an expression could raise
	 * an error for it.
	 */
	if (!HeapTupleHasExternal(row) && !reader->evaluates && reader->caller != SIGNATURE_BUILD)
		return ROW_READ;
	switch (HeapTupleSatisfiesVacuum(row, horizon, buffer))
	{
		case HEAPTUPLE_DEAD:
			/* A build leaves out dead rows, as the server's own do. */
			if (reader->caller == SIGNATURE_BUILD || HeapTupleHeaderXminInvalid(row->t_data))
				return ROW_SKIPPED;

			/* The row's values may be gone from the TOAST table. */
			return ROW_UNKNOWN;
		case HEAPTUPLE_INSERT_IN_PROGRESS:
			return reader->caller == SIGNATURE_INSERT && reader->evaluates &&
				!TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(row->t_data)) ?
				ROW_LATER : ROW_READ;
		default:
			return ROW_READ;
	}
}

/* Adds the keys of a row that is in memory. */
static void
read_row(SignatureReader *reader, HeapTuple row)
{
	ExprContext *econtext = GetPerTupleExprContext(reader->estate);
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	ExecStoreHeapTuple(row, reader->slot, false);
	if (reader->predicate == NULL || ExecQual(reader->predicate, econtext))
	{
		FormIndexDatum(reader->info, reader->slot, reader->estate, values, isnull);
		bloomfam_signature_extract(reader->columns, values, isnull, &reader->keys);
	}
	if (reader->evaluates)
		ResetExprContext(econtext);
	reader->rows++;
}

/*
 * Reads the rows of a page.  They are read from a copy, since extracting keys may take long, and
 * read other pages.
 */
static SignatureRead
read_page(SignatureReader *reader, BlockNumber block, TransactionId horizon)
{
	Buffer		buffer = ReadBufferExtended(reader->table, MAIN_FORKNUM, block, RBM_NORMAL,
											reader->strategy);
	Page		page = BufferGetPage(buffer);
	PGAlignedBlock copy;
	OffsetNumber offsets[BLCKSZ / sizeof(ItemIdData)];
	int			n = 0;
	SignatureRead result = SIGNATURE_READ_ALL;
	OffsetNumber last;
	OffsetNumber offset;
	MemoryContext old;
	int			i;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	last = PageIsNew(page) ? 0 : PageGetMaxOffsetNumber(page);
	last = Min(last, lengthof(offsets));
	for (offset = FirstOffsetNumber; offset <= last; offset++)
	{
		ItemId		item = PageGetItemId(page, offset);
		HeapTupleData row;

		if (!ItemIdIsNormal(item))
			continue;
		row.t_data = (HeapTupleHeader) PageGetItem(page, item);
		row.t_len = ItemIdGetLength(item);
		row.t_tableOid = RelationGetRelid(reader->table);
		ItemPointerSet(&row.t_self, block, offset);
		switch (judge_row(reader, &row, horizon, buffer))
		{
			case ROW_READ:
				offsets[n++] = offset;
				break;
			case ROW_SKIPPED:
				break;
			case ROW_UNKNOWN:
				result = Max(result, SIGNATURE_READ_IN_PART);
				break;
			case ROW_LATER:
				result = SIGNATURE_READ_LATER;
				break;
		}
	}
	if (n > 0)
		memcpy(copy.data, page, BLCKSZ);
	UnlockReleaseBuffer(buffer);
	if (result == SIGNATURE_READ_LATER)
		return result;

	old = MemoryContextSwitchTo(reader->row);
	for (i = 0; i < n; i++)
	{
		ItemId		item = PageGetItemId(copy.data, offsets[i]);
		HeapTupleData row;

		row.t_data = (HeapTupleHeader) PageGetItem(copy.data, item);
		row.t_len = ItemIdGetLength(item);
		row.t_tableOid = RelationGetRelid(reader->table);
		ItemPointerSet(&row.t_self, block, offsets[i]);
		read_row(reader, &row);
	}
	ExecClearTuple(reader->slot);
	MemoryContextSwitchTo(old);
	MemoryContextReset(reader->row);
	return result;
}

SignatureRead
bloomfam_signature_read_range(SignatureReader *reader, const SignatureMeta *meta, uint32 range,
							  void (*take) (void *, const uint64 *, uint32), void *arg)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(reader->table);
	uint64		first = (uint64) range * meta->pages_per_range;
	uint64		end = Min(first + meta->pages_per_range, nblocks);
	TransactionId horizon = GetOldestNonRemovableTransactionId(reader->table);
	SignatureRead result = SIGNATURE_READ_ALL;
	uint64		block;

	signature_keys_begin(&reader->keys, take, arg);
	for (block = first; block < end && result != SIGNATURE_READ_LATER; block++)
	{
		SignatureRead read;

		CHECK_FOR_INTERRUPTS();
		read = read_page(reader, (BlockNumber) block, horizon);
		result = Max(result, read);
	}
	signature_keys_end(&reader->keys);
	return result;
}

double
bloomfam_signature_bytes_per_page(Relation table)
{
	double		pages = Max((double) RelationGetNumberOfBlocks(table), 1);
	double		toasted = 0;

	if (OidIsValid(table->rd_rel->reltoastrelid))
	{
		Relation	toast = table_open(table->rd_rel->reltoastrelid, AccessShareLock);

		toasted = (double) RelationGetNumberOfBlocks(toast);
		table_close(toast, AccessShareLock);
	}
	return (pages + toasted) / pages * BLCKSZ;
}

/* ---- counting different keys ---- */

static void
count_keys(void *arg, const uint64 *hashes, uint32 n)
{
	uint64	   *words = (uint64 *) arg;
	uint32		i;

	for (i = 0; i < n; i++)
	{
		uint64		bit = bf_cell(hashes[i], COUNTER_BITS);

		words[bit / 64] |= UINT64CONST(1) << (bit % 64);
	}
}

/* Estimates by the bits that are left clear (Whang et al., "linear counting", TODS 1990). */
double
bloomfam_signature_measure(SignatureReader *reader, const SignatureMeta *meta, uint32 range)
{
	uint64	   *words = (uint64 *) palloc0(COUNTER_BITS / 8);
	double		clear;

	(void) bloomfam_signature_read_range(reader, meta, range, count_keys, words);
	clear = (double) COUNTER_BITS - (double) bf_signature_count(words, COUNTER_BITS / 64);
	pfree(words);
	return -(double) COUNTER_BITS * log(Max(clear, 1) / COUNTER_BITS);
}

/* ---- summarizing a range ---- */

typedef struct Summary
{
	BfSignatureShape shape;
	uint64	   *signature;
} Summary;

static void
take_keys(void *arg, const uint64 *hashes, uint32 n)
{
	const Summary *summary = (const Summary *) arg;

	bf_signature_add(summary->signature, &summary->shape, hashes, n);
}

/*
 * Ends what a summarizer left unfinished that was cancelled or has crashed.  Whoever has the lock
 * is the only one.
 */
static SignatureMeta *
begin_step(SignatureReader *reader)
{
	SignatureMeta *meta = bloomfam_signature_meta_read(reader->index);
	SignatureChange change;

	if (meta->claimed == signature_summarized(meta) && !meta->merging)
		return meta;
	bloomfam_signature_change_begin(reader->index, &change);
	change.meta->claimed = signature_summarized(change.meta);
	change.meta->merging = false;
	memcpy(meta, change.meta, SIGNATURE_BODY);
	bloomfam_signature_change_commit(&change);
	return meta;
}

/*
 * Makes the first batch, which is full, a slab.  An insert into one of its ranges meanwhile marks
 * the range as dirty, as the key may come too late for the copy.
 */
static void
make_slab(Relation index)
{
	SignatureMeta *meta;
	SignatureChange change;
	SignatureGroup slab;
	BlockNumber directory = InvalidBlockNumber;

	bloomfam_signature_change_begin(index, &change);
	change.meta->merging = true;
	change.meta->last_id++;
	meta = (SignatureMeta *) palloc(SIGNATURE_BODY);
	memcpy(meta, change.meta, SIGNATURE_BODY);
	bloomfam_signature_change_commit(&change);
	Assert(meta->batch_count > 0 && meta->batches[0].count == SIGNATURE_WIDTH);

	/*
	 * The pages are reserved in the copy only, until they are written: nobody else reserves any,
	 * and after a crash they are still free.
	 */
	memset(&slab, 0, sizeof(slab));
	slab.id = meta->last_id;
	slab.blocks = meta->batches[0].group.blocks;
	if (meta->nslabs / SIGNATURE_ENTRIES >= meta->ndirectory)
	{
		PGAlignedBlock page;

		directory = bloomfam_signature_allocate(meta, 1);
		bloomfam_signature_page_init(page.data, SIGNATURE_PAGE_DIRECTORY, 0, meta->ndirectory,
									 SIGNATURE_BODY);
		bloomfam_signature_page_write(index, MAIN_FORKNUM, directory, page.data);
		meta->directory[meta->ndirectory++] = directory;
	}
	slab.start = bloomfam_signature_allocate(meta, signature_slab_pages(slab.blocks));
	bloomfam_signature_write_slab(index, &meta->batches[0].group, &slab);
	bloomfam_signature_free(meta, meta->batches[0].group.start,
							signature_batch_pages(meta->batches[0].group.blocks));

	bloomfam_signature_change_begin(index, &change);
	bloomfam_signature_change_add_slab(index, &change, meta, change.meta->nslabs);
	slab.dirty = change.meta->batches[0].group.dirty;
	*change.slab = slab;
	change.meta->end = meta->end;
	change.meta->nfree = meta->nfree;
	memcpy(change.meta->free, meta->free, sizeof(meta->free));
	if (BlockNumberIsValid(directory))
		change.meta->directory[change.meta->ndirectory++] = directory;
	change.meta->nslabs++;
	change.meta->batch_count--;
	memmove(&change.meta->batches[0], &change.meta->batches[1],
			change.meta->batch_count * sizeof(SignatureBatch));
	change.meta->merging = false;
	bloomfam_signature_change_commit(&change);
	pfree(meta);
}

/* Returns whether the first batch is full, and should be made a slab now. */
static bool
slab_is_due(const SignatureMeta *meta, SignatureCaller caller)
{
	if (meta->batch_count == 0 || meta->batches[0].count < SIGNATURE_WIDTH ||
		(meta->ndirectory == SIGNATURE_DIRECTORY &&
		 meta->nslabs == SIGNATURE_DIRECTORY * SIGNATURE_ENTRIES))
		return false;
	return caller == SIGNATURE_BUILD ||
		(meta->batch_count > 1 && meta->batches[1].count >= SIGNATURE_RANGES_BEHIND);
}

/*
 * Adds a batch, whose signatures are made for the number of keys that the ranges before it had, as
 * far as they take no more than a part of the bytes of a range.
 */
static void
add_batch(SignatureMeta *meta, double keys, double bytes)
{
	SignatureBatch *batch = &meta->batches[meta->batch_count];
	uint32		most = (uint32) Min(Max(bytes * LARGEST_PART / BF_SIGNATURE_BLOCK_BYTES, 1),
									BF_SIGNATURE_MAX_BLOCKS);

	memset(batch, 0, sizeof(SignatureBatch));
	batch->group.blocks = Min(bf_signature_shape(keys, meta->bits_per_key).blocks, most);
	batch->group.start = bloomfam_signature_allocate(meta,
													 signature_batch_pages(batch->group.blocks));
	batch->group.id = ++meta->last_id;
	meta->batch_count++;
}

/* Takes back the claim of a range that could not be summarized, or publishes its signature. */
static bool
end_step(Relation index, const Summary *summary, SignatureRead read)
{
	SignatureChange change;
	SignatureBatch *batch;
	bool		done;

	bloomfam_signature_change_begin(index, &change);
	done = !change.meta->spoiled && read != SIGNATURE_READ_LATER;
	if (done)
	{
		batch = &change.meta->batches[change.meta->batch_count - 1];
		if (read == SIGNATURE_READ_IN_PART)
			signature_set_add(&batch->group.dirty, batch->count);
		batch->keys += bf_signature_keys(
			&summary->shape,
			bf_signature_count(summary->signature,
							   (size_t) summary->shape.blocks * BF_SIGNATURE_BLOCK_WORDS));
		batch->count++;
	}
	change.meta->claimed = signature_summarized(change.meta);
	bloomfam_signature_change_commit(&change);
	return done;
}

bool
bloomfam_signature_step(SignatureReader *reader, uint32 behind)
{
	Relation	index = reader->index;
	SignatureMeta *meta = begin_step(reader);
	uint32		range = signature_summarized(meta);
	BlockNumber nblocks = RelationGetNumberOfBlocks(reader->table);
	const SignatureBatch *last =
		meta->batch_count > 0 ? &meta->batches[meta->batch_count - 1] : NULL;
	bool		is_new = last == NULL || last->count == SIGNATURE_WIDTH;
	SignatureChange change;
	Summary		summary;
	SignatureRead read;
	double		keys = 0;
	double		bytes = 0;
	bool		done;

	if (slab_is_due(meta, reader->caller))
	{
		pfree(meta);
		make_slab(index);
		return true;
	}
	if (((uint64) range + 1 + behind) * meta->pages_per_range > nblocks ||
		(is_new && meta->batch_count == SIGNATURE_BATCHES))
	{
		pfree(meta);
		return false;
	}

	/* A tenth more than on average before, as ranges differ. */
	if (is_new)
	{
		keys = 1.1 * (last != NULL ? last->keys / last->count :
					  bloomfam_signature_measure(reader, meta, range));
		bytes = bloomfam_signature_bytes_per_page(reader->table) * meta->pages_per_range;
	}
	bloomfam_signature_change_begin(index, &change);
	Assert(change.meta->claimed == range);
	if (is_new)
		add_batch(change.meta, keys, bytes);
	change.meta->claimed = range + 1;
	change.meta->spoiled = false;
	memcpy(meta, change.meta, SIGNATURE_BODY);
	bloomfam_signature_change_commit(&change);

	last = &meta->batches[meta->batch_count - 1];
	summary.shape = signature_shape(meta, &last->group);
	summary.signature = (uint64 *) palloc0((Size) last->group.blocks * BF_SIGNATURE_BLOCK_BYTES);
	read = bloomfam_signature_read_range(reader, meta, range, take_keys, &summary);
	if (read != SIGNATURE_READ_LATER)
		bloomfam_signature_append(index, &last->group, last->count, summary.signature);
	done = end_step(index, &summary, read);
	pfree(summary.signature);
	pfree(meta);
	return done;
}

/* ---- dirty ranges ---- */

/*
 * Begins a change of a group's entry: that of a batch in the metapage, which has a number below
 * SIGNATURE_BATCHES, or that of a slab in the directory.
 */
static SignatureGroup *
change_group(Relation index, const SignatureMeta *meta, SignaturePageKind kind, uint32 number,
			 SignatureChange *change)
{
	if (kind == SIGNATURE_PAGE_BATCH)
	{
		bloomfam_signature_change_begin(index, change);
		return &change->meta->batches[number].group;
	}
	bloomfam_signature_change_slab(index, change, meta, number);
	return change->slab;
}

/*
 * Summarizes some of a group's dirty ranges anew.  "first" is the number of the group's first range
 * in the table.
 */
static void
redo_ranges(SignatureReader *reader, const SignatureMeta *meta, SignaturePageKind kind,
			uint32 number, const SignatureGroup *group, uint32 first, const uint32 *ranges,
			uint32 n)
{
	SignatureChange change;
	SignatureGroup *entry = change_group(reader->index, meta, kind, number, &change);
	uint64	  **signatures = (uint64 **) palloc(n * sizeof(uint64 *));
	uint32	   *read = (uint32 *) palloc(n * sizeof(uint32));
	uint32		nread = 0;
	uint32		i;

	memset(&entry->redone, 0, sizeof(entry->redone));
	for (i = 0; i < n; i++)
		signature_set_add(&entry->redone, ranges[i]);
	bloomfam_signature_change_commit(&change);

	for (i = 0; i < n; i++)
	{
		Summary		summary;

		summary.shape = signature_shape(meta, group);
		summary.signature = (uint64 *) palloc0((Size) group->blocks * BF_SIGNATURE_BLOCK_BYTES);
		signatures[nread] = summary.signature;
		if (bloomfam_signature_read_range(reader, meta, first + ranges[i], take_keys,
										  &summary) == SIGNATURE_READ_ALL)
			read[nread++] = ranges[i];
		else
			pfree(summary.signature);
	}
	bloomfam_signature_replace(reader->index, group, kind, read, nread, signatures);

	entry = change_group(reader->index, meta, kind, number, &change);
	for (i = 0; i < nread; i++)
	{
		if (signature_set_has(&entry->redone, read[i]))
			signature_set_remove(&entry->dirty, read[i]);
		pfree(signatures[i]);
	}
	memset(&entry->redone, 0, sizeof(entry->redone));
	bloomfam_signature_change_commit(&change);
	pfree(read);
	pfree(signatures);
}

static void
redo_group(SignatureReader *reader, const SignatureMeta *meta, SignaturePageKind kind,
		   uint32 number, const SignatureGroup *group, uint32 first)
{
	Size		size = (Size) group->blocks * BF_SIGNATURE_BLOCK_BYTES;
	uint32		most = (uint32) Max(REDO_MEMORY / size, 1);
	uint32		ranges[SIGNATURE_WIDTH];
	uint32		n = 0;
	uint32		i;

	for (i = 0; i < SIGNATURE_WIDTH; i++)
		if (signature_set_has(&group->dirty, i))
			ranges[n++] = i;
	for (i = 0; i < n; i += most)
		redo_ranges(reader, meta, kind, number, group, first, ranges + i, Min(most, n - i));
}

void
bloomfam_signature_redo(SignatureReader *reader)
{
	SignatureMeta *meta = begin_step(reader);
	SignatureGroup *slabs = (SignatureGroup *) palloc(SIGNATURE_BODY);
	uint32		first = 0;
	uint32		i;

	while (first < meta->nslabs)
	{
		uint32		n = bloomfam_signature_slabs_read(reader->index, meta, first, slabs);

		for (i = 0; i < n; i++)
			redo_group(reader, meta, SIGNATURE_PAGE_SLAB, first + i, &slabs[i],
					   (first + i) * SIGNATURE_WIDTH);
		first += n;
	}
	for (i = 0; i < meta->batch_count; i++)
		redo_group(reader, meta, SIGNATURE_PAGE_BATCH, i, &meta->batches[i].group,
				   (meta->nslabs + i) * SIGNATURE_WIDTH);
	pfree(slabs);
	pfree(meta);
}
