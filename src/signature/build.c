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
 * A range has this many pages.  If most of the table is in its TOAST table, a range has as many
 * pages as stand for the same number of bytes.
 */
#define DEFAULT_RANGE		16

static uint32
ngram_of(Relation index)
{
	return (uint32) bloomfam_signature_options_of(index)->ngram;
}

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

/* Returns the number of pages of a range. */
static uint32
choose_range(Relation table, Relation index)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(table);
	uint32		chosen = (uint32) bloomfam_signature_options_of(index)->pages_per_range;

	if (chosen > 0)
		return chosen;
	chosen = (uint32) Max(DEFAULT_RANGE * BLCKSZ / bloomfam_signature_bytes_per_page(table), 1);

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
								 ngram_of(index),
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

	columns = bloomfam_signature_columns_make(index, ngram_of(index));
	reader = bloomfam_signature_reader_make(table, index, columns, SIGNATURE_BUILD);
	pages_per_range = choose_range(table, index);
	write_meta(index, MAIN_FORKNUM, pages_per_range, columns);
	meta = bloomfam_signature_meta_read(index);
	bloomfam_signature_columns_fit(columns, index, meta);
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
			   bloomfam_signature_columns_make(index, ngram_of(index)));
}
