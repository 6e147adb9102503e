/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * build.c
 *	  Builds a signature index.
 *
 * A build chooses the size of ranges, and then summarizes range by range as inserts do later.  The
 * table's last pages, which are not a full range, stay without a signature.  A concurrent
 * build only writes the metapage: vacuum.c says why.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/memutils.h"

#include "signature/options.h"
#include "signature/signature.h"
#include "signature/summarize.h"

/*
 * A range has this many pages, unless they have more than this many different keys.  Then it has
 * as many pages as have so many.
 */
#define DEFAULT_RANGE		16
#define KEYS_OF_RANGE		25000.0

/* The number of ranges whose keys are counted before a build. */
#define SAMPLED_RANGES		4

/* Returns the bits per key that an index has by its options or the classes of its columns. */
static double
choose_bits_per_key(Relation index)
{
	double		bits = bloomfam_signature_options_of(index)->bits_per_key;
	int			i;

	if (bits > 0)
		return bits;
	for (i = 1; i <= IndexRelationGetNumberOfKeyAttributes(index); i++)
		if (!OidIsValid(index_getprocid(index, i, SIGNATURE_NGRAMS_PROC)))
			return SIGNATURE_KEY_BITS;
	return SIGNATURE_NGRAM_BITS;
}

/* Chooses the number of pages of a range by the keys of some ranges. */
static uint32
choose_range(Relation table, Relation index, SignatureReader *reader, SignatureMeta *meta)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(table);
	uint32		chosen = (uint32) bloomfam_signature_options_of(index)->pages_per_range;
	uint32		ranges = nblocks / DEFAULT_RANGE;
	uint32		step = Max(ranges / SAMPLED_RANGES, 1);
	double		keys = 0;
	uint32		i;

	if (chosen > 0)
		return chosen;
	meta->pages_per_range = DEFAULT_RANGE;
	for (i = step / 2; i < ranges; i += step)
		keys = Max(keys, bloomfam_signature_measure(reader, meta, i));
	chosen = DEFAULT_RANGE;
	while (chosen > 1 && keys / DEFAULT_RANGE * chosen > KEYS_OF_RANGE)
		chosen /= 2;

	/* The directory must have room for a table that is four times as large. */
	while (chosen < SIGNATURE_MAX_RANGE && nblocks / chosen >
		   (uint64) SIGNATURE_DIRECTORY * SIGNATURE_ENTRIES * SIGNATURE_WIDTH / 4)
		chosen *= 2;
	return chosen;
}

/* Writes the metapage of an index without signatures. */
static void
write_meta(Relation index, ForkNumber fork, uint32 pages_per_range,
		   const SignatureColumns *columns)
{
	PGAlignedBlock page;

	bloomfam_signature_meta_init(page.data, pages_per_range,
								 (uint32) bloomfam_signature_ngram_size(index),
								 choose_bits_per_key(index), columns->rules);
	bloomfam_signature_page_write(index, fork, 0, page.data);
}

IndexBuildResult *
bloomfam_signature_build(Relation table, Relation index, IndexInfo *info)
{
	IndexBuildResult *result = (IndexBuildResult *) palloc0(sizeof(IndexBuildResult));
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "signature index: build",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	SignatureColumns *columns;
	SignatureReader *reader;
	SignatureMeta *meta;
	uint32		pages_per_range;
	BlockNumber nblocks = RelationGetNumberOfBlocks(table);
	uint64		rest;

	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data", RelationGetRelationName(index));
	if (table->rd_tableam != GetHeapamTableAmRoutine())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a signature index needs a table of access method heap")));

	columns = bloomfam_signature_columns_make(index);
	reader = bloomfam_signature_reader_make(table, index, columns, SIGNATURE_BUILD);
	meta = (SignatureMeta *) palloc0(SIGNATURE_BODY);
	pages_per_range = choose_range(table, index, reader, meta);
	write_meta(index, MAIN_FORKNUM, pages_per_range, columns);
	meta = bloomfam_signature_meta_read(index);
	bloomfam_signature_columns_fit(columns, index, meta);
	reader->rows = 0;
	if (!info->ii_Concurrent)
	{
		uint32		done = 0;

		pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_TOTAL, nblocks);
		bloomfam_signature_lock(index);
		while (bloomfam_signature_step(reader, 0))
		{
			CHECK_FOR_INTERRUPTS();
			pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE,
										 Min((uint64) ++done * pages_per_range, nblocks));
		}
		bloomfam_signature_unlock(index);

		/* The rest gets no signature yet, but its rows are counted, and must be valid. */
		meta = bloomfam_signature_meta_read(index);
		for (rest = signature_summarized(meta); rest * pages_per_range < nblocks; rest++)
			(void) bloomfam_signature_measure(reader, meta, (uint32) rest);
	}
	result->heap_tuples = result->index_tuples = reader->rows;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return result;
}

void
bloomfam_signature_buildempty(Relation index)
{
	const SignatureOptions *options = bloomfam_signature_options_of(index);

	write_meta(index, INIT_FORKNUM,
			   options->pages_per_range > 0 ? (uint32) options->pages_per_range : DEFAULT_RANGE,
			   bloomfam_signature_columns_make(index));
}
