/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * info.c
 *	  Implements signature_info() and signature_check().
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/heapam.h"
#include "access/htup_details.h"
#include "catalog/index.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "pg/index_open.h"
#include "signature/signature.h"
#include "signature/store.h"
#include "signature/summarize.h"

PG_FUNCTION_INFO_V1(bloomfam_signature_info);
PG_FUNCTION_INFO_V1(bloomfam_signature_check);

/*
 * Is called for each batch and slab of an index, with the number of its ranges, and of its first
 * range in the table.
 */
typedef void (*EachGroup) (void *arg, const SignatureMeta *meta, const SignatureGroup *group,
						   SignaturePageKind kind, uint32 n, uint32 first);

static void
each_group(Relation index, const SignatureMeta *meta, EachGroup visit, void *arg)
{
	SignatureGroup *slabs = (SignatureGroup *) palloc(SIGNATURE_BODY);
	uint32		first = 0;
	uint32		i;

	while (first < meta->nslabs)
	{
		uint32		n = bloomfam_signature_slabs_read(index, meta, first, slabs);

		for (i = 0; i < n; i++)
			visit(arg, meta, &slabs[i], SIGNATURE_PAGE_SLAB, SIGNATURE_WIDTH,
				  (first + i) * SIGNATURE_WIDTH);
		first += n;
	}
	for (i = 0; i < meta->batch_count; i++)
		visit(arg, meta, &meta->batches[i].group, SIGNATURE_PAGE_BATCH, meta->batches[i].count,
			  (meta->nslabs + i) * SIGNATURE_WIDTH);
	pfree(slabs);
}

/* ---- signature_info() ---- */

typedef struct Figures
{
	Relation	index;
	int64		dirty;			/* The number of dirty ranges. */
	double		blocks;			/* The number of blocks of all signatures. */
	double		counted;		/* The number of blocks of which the following are sums. */
	double		filled;			/* The part of the bits that is set. */
	double		false_keys;		/* The probability of a false key. */
} Figures;

/* Adds the figures of blocks that lie side by side. */
static void
add_blocks(Figures *figures, const SignatureMeta *meta, const uint64 *blocks, uint32 n)
{
	uint32		i;

	for (i = 0; i < n; i++)
	{
		double		filled = (double) bf_signature_count(
			blocks + (Size) i * BF_SIGNATURE_BLOCK_WORDS, BF_SIGNATURE_BLOCK_WORDS) /
			BF_SIGNATURE_BLOCK_BITS;

		figures->filled += filled;
		figures->false_keys += pow(filled, meta->bits);
	}
	figures->counted += n;
}

/* Adds the figures of a batch or slab.  Of each range's signature, the first block is looked at. */
static void
add_figures(void *arg, const SignatureMeta *meta, const SignatureGroup *group,
			SignaturePageKind kind, uint32 n, uint32 first)
{
	Figures    *figures = (Figures *) arg;
	uint32		side_by_side = kind == SIGNATURE_PAGE_SLAB ? n : 1;
	uint32		i;

	figures->dirty += signature_set_count(&group->dirty);
	figures->blocks += (double) n * group->blocks;
	for (i = 0; i < n; i += side_by_side)
	{
		uint32		slot;
		uint32		number = signature_place(group, kind, i, 0, &slot);
		Buffer		buffer = ReadBuffer(figures->index, group->start + number);
		Page		page = BufferGetPage(buffer);

		CHECK_FOR_INTERRUPTS();
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		if (signature_page_is(page, kind, group->id, number))
			add_blocks(figures, meta, signature_slot(page, slot), side_by_side);
		UnlockReleaseBuffer(buffer);
	}
}

/*
 * Implements signature_info(index regclass): one row of figures.
 */
Datum
bloomfam_signature_info(PG_FUNCTION_ARGS)
{
	BloomfamOpenIndex opened;
	SignatureMeta *meta;
	Figures		figures = {0};
	TupleDesc	desc;
	Datum		values[9];
	bool		nulls[9] = {false};
	double		ranges;
	double		summarized;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	bloomfam_index_open(PG_GETARG_OID(0), "signature", bloomfam_signature_build, AccessShareLock,
						BLOOMFAM_INDEX_USER_MONITOR, &opened);
	figures.index = opened.index;
	meta = bloomfam_signature_meta_read(opened.index);
	each_group(opened.index, meta, add_figures, &figures);
	ranges = ceil((double) RelationGetNumberOfBlocks(opened.table) / meta->pages_per_range);
	summarized = Min((double) signature_summarized(meta), ranges);

	values[0] = Int32GetDatum((int32) meta->pages_per_range);
	values[1] = Int64GetDatum((int64) ranges);
	values[2] = Int64GetDatum((int64) summarized);
	values[3] = Int64GetDatum(figures.dirty);
	values[4] = Int64GetDatum((int64) (ranges - summarized));
	values[5] = Float8GetDatum(meta->bits_per_key);
	values[6] = Int64GetDatum(summarized > 0 ?
							  (int64) (figures.blocks / signature_summarized(meta) *
									   BF_SIGNATURE_BLOCK_BYTES) : 0);
	values[7] = Float8GetDatum(figures.filled / Max(figures.counted, 1));
	values[8] = Float8GetDatum(figures.false_keys / Max(figures.counted, 1));
	bloomfam_index_close(&opened);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}

/* ---- signature_check() ---- */

typedef struct Check
{
	Relation	index;
	SignatureReader *reader;
	BfSignatureShape shape;
	uint64	   *signature;		/* A copy of the signature of the range that is being checked. */
	uint32		range;
	uint64		missing;		/* The number of keys that the signature does not have. */
} Check;

static void
check_keys(void *arg, const uint64 *hashes, uint32 n)
{
	Check	   *check = (Check *) arg;
	uint32		i;

	for (i = 0; i < n; i++)
	{
		BfSignatureProbe probe = bf_signature_probe(&check->shape, hashes[i]);

		check->missing += !bf_signature_block_has(
			check->signature + (Size) probe.block * BF_SIGNATURE_BLOCK_WORDS, &probe);
	}
}

static void
check_group(void *arg, const SignatureMeta *meta, const SignatureGroup *group,
			SignaturePageKind kind, uint32 n, uint32 first)
{
	Check	   *check = (Check *) arg;
	uint32		i;

	check->shape = signature_shape(meta, group);
	check->signature = (uint64 *) palloc((Size) group->blocks * BF_SIGNATURE_BLOCK_BYTES);
	for (i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		bloomfam_signature_copy(check->index, group, kind, i, check->signature);
		if (signature_set_has(&group->dirty, i))
			continue;
		check->missing = 0;
		(void) bloomfam_signature_read_range(check->reader, meta, first + i, check_keys, check);
		if (check->missing > 0)
			ereport(ERROR,
					(errcode(ERRCODE_INDEX_CORRUPTED),
					 errmsg("signature index \"%s\" lacks keys of rows in its range %u",
							RelationGetRelationName(check->index), first + i),
					 errhint("Please REINDEX it.")));
	}
	pfree(check->signature);
}

/*
 * Implements signature_check(index regclass): raises an error unless the index is whole, and has
 * the keys of all rows that a new snapshot sees.  The index's expressions and its predicate are the
 * owner's code, so they are run as the table's owner, whoever calls.  No range is summarized
 * meanwhile.
 */
Datum
bloomfam_signature_check(PG_FUNCTION_ARGS)
{
	BloomfamOpenIndex opened;
	Check		check;
	SignatureColumns *columns;
	SignatureMeta *meta;
	Oid			user;
	int			context;
	int			nest_level;

	bloomfam_index_open(PG_GETARG_OID(0), "signature", bloomfam_signature_build, AccessShareLock,
						BLOOMFAM_INDEX_USER_OWNER, &opened);
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(opened.table->rd_rel->relowner,
						   context | SECURITY_RESTRICTED_OPERATION);
	nest_level = NewGUCNestLevel();
	bloomfam_restrict_search_path();

	bloomfam_signature_lock(opened.index);
	check.index = opened.index;
	meta = bloomfam_signature_meta_read(opened.index);
	columns = bloomfam_signature_columns_make(opened.index, meta->ngram);
	check.reader = bloomfam_signature_reader_make(opened.table, opened.index, columns,
												  SIGNATURE_CHECK);
	check.reader->snapshot = RegisterSnapshot(GetLatestSnapshot());
	meta = bloomfam_signature_meta_read(opened.index);
	bloomfam_signature_columns_fit(columns, opened.index, meta);
	each_group(opened.index, meta, check_group, &check);
	UnregisterSnapshot(check.reader->snapshot);
	bloomfam_signature_unlock(opened.index);

	AtEOXact_GUC(false, nest_level);
	SetUserIdAndSecContext(user, context);
	bloomfam_index_close(&opened);
	PG_RETURN_VOID();
}
