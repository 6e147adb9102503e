/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * build.c
 *	  Builds a maplet index from a table's rows.
 *
 * The rows' entries are gathered (gather.c) and collected in 256 parts by the high bits of their
 * hashes (collect.c), in the format that entries have in a tail.  Entries that exceed
 * maintenance_work_mem go to temporary files.  Then each part is sorted by itself and written, so
 * that all parts become one run.  Nothing is logged before the end, when the whole file is logged.
 *
 * A part that is too large to be sorted in memory is divided again by the next bits of the hashes.
 * When all the bits that a tail keeps are used up, all entries of a part have the same hash and
 * need no order.  So the entries of a hot key end the division.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "access/xloginsert.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "maplet/gather.h"
#include "maplet/hash.h"
#include "maplet/maplet.h"
#include "maplet/options.h"
#include "maplet/run.h"
#include "maplet/sort.h"
#include "maplet/tail.h"
#include "maplet/unique.h"
#include "pg/index_page.h"

typedef struct BuildState
{
	Relation	table;
	Relation	index;
	Size		memory;			/* The memory limit of one collector, in bytes. */
	uint64		done;			/* The number of entries written so far. */
	MapletRunWriter *writer;
	MapletDuplicates *duplicates;	/* Detects duplicate keys; NULL if the index is not unique. */
} BuildState;

/* ---- writing the gathered entries as a run ---- */

typedef struct Loaded
{
	BfRunEntry *entries;
	uint64		n;
} Loaded;

static void
load_entries(void *arg, const MapletTailEntry *entries, uint32 n)
{
	Loaded	   *loaded = (Loaded *) arg;
	uint32		i;

	for (i = 0; i < n; i++)
	{
		loaded->entries[loaded->n].hash = maplet_tail_hash(&entries[i]);
		loaded->entries[loaded->n].place = maplet_tid_place(&entries[i].tid);
		loaded->n++;
	}
}

static void
collect_entries(void *arg, const MapletTailEntry *entries, uint32 n)
{
	MapletCollector *collector = (MapletCollector *) arg;
	uint32		i;

	for (i = 0; i < n; i++)
		bloomfam_maplet_collect(collector, &entries[i], maplet_tail_hash(&entries[i]));
}

static void
write_entry(BuildState *state, const BfRunEntry *entry)
{
	const char *key = NULL;

	if (state->duplicates != NULL)
		key = bloomfam_maplet_duplicates_add(state->duplicates, entry->hash, entry->place);
	if (key != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNIQUE_VIOLATION),
				 errmsg("could not create unique index \"%s\"",
						RelationGetRelationName(state->index)),
				 *key != '\0' ? errdetail("Key %s is duplicated.", key) :
				 errdetail("Duplicate keys exist."),
				 errtableconstraint(state->table, RelationGetRelationName(state->index))));
	bloomfam_maplet_write(state->writer, entry);
}

/* Writes the given entries, which all have the same hash, to the run that is being built. */
static void
write_entries(void *arg, const MapletTailEntry *entries, uint32 n)
{
	BuildState *state = (BuildState *) arg;
	BfRunEntry	entry;
	uint32		i;

	for (i = 0; i < n; i++)
	{
		entry.hash = maplet_tail_hash(&entries[i]);
		entry.place = maplet_tid_place(&entries[i].tid);
		write_entry(state, &entry);
	}
	state->done += n;
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, (int64) state->done);
}

/*
 * Writes all entries of a collector in the order of their hashes, part by part, and frees the
 * collector.  All hashes in the collector have their first first_bits bits in common.
 */
static void
write_collector(BuildState *state, MapletCollector *collector, int first_bits)
{
	int			bits = first_bits + MAPLET_PART_BITS;
	int			i;

	for (i = 0; i < MAPLET_PARTS; i++)
	{
		uint64		n = bloomfam_maplet_part_entries(collector, i);

		if (n == 0)
			continue;
		if (bits >= MAPLET_HASH_BITS)
			bloomfam_maplet_part_read(collector, i, write_entries, state);
		else if (2 * n * sizeof(BfRunEntry) > state->memory)
		{
			MapletCollector *inner = bloomfam_maplet_collector_make(bits, state->memory, NULL);

			bloomfam_maplet_part_read(collector, i, collect_entries, inner);
			write_collector(state, inner, bits);
		}
		else
		{
			Loaded		loaded = {NULL, 0};
			uint64		j;

			loaded.entries = (BfRunEntry *)
				palloc_extended(n * sizeof(BfRunEntry), MCXT_ALLOC_HUGE);
			bloomfam_maplet_part_read(collector, i, load_entries, &loaded);
			loaded.entries = bloomfam_maplet_sort(loaded.entries, loaded.n);
			for (j = 0; j < loaded.n; j++)
				write_entry(state, &loaded.entries[j]);
			pfree(loaded.entries);
			state->done += loaded.n;
			pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, (int64) state->done);
		}
	}
	bloomfam_maplet_collector_free(collector);
}

/* ---- entry points of the access method ---- */

IndexBuildResult *
bloomfam_maplet_build(Relation table, Relation index, IndexInfo *info)
{
	IndexBuildResult *result = (IndexBuildResult *) palloc0(sizeof(IndexBuildResult));
	const MapletOptions *options = bloomfam_maplet_options_of(index);
	BuildState	state;
	MapletGathered gathered;
	MapletRunFacts *facts = &gathered.facts;
	PGAlignedBlock page;
	MapletMeta *meta = maplet_meta(page.data);
	MapletHasher hasher;
	uint32		tail_pages = MAPLET_FIRST_TAIL_PAGES;

	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data", RelationGetRelationName(index));

	if (info->ii_Unique && info->ii_NullsNotDistinct)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a maplet index cannot be unique with NULLS NOT DISTINCT"),
				 errdetail("It has no entries for NULLs.")));

	if (info->ii_Unique)
		bloomfam_maplet_check_equality(index);

	memset(&state, 0, sizeof(state));
	state.table = table;
	state.index = index;
	bloomfam_maplet_hasher_make(&hasher, CurrentMemoryContext, index, NULL);
	bloomfam_maplet_meta_init(page.data, options->rows, options->remainder_bits, tail_pages,
							  hasher.family_id, hasher.family, hasher.family_len);

	bloomfam_maplet_gather(table, index, info, meta, &gathered);
	state.memory = gathered.memory;
	result->heap_tuples = gathered.heap_tuples;
	result->index_tuples = (double) facts->entries;
	ereport(DEBUG1,
			(errmsg_internal("rows of maplet index \"%s\" were gathered with %d workers",
							 RelationGetRelationName(index), gathered.workers)));

	if (facts->entries > 0)
	{
		meta->p = bloomfam_maplet_bits(Max((double) facts->entries, options->rows),
									   options->remainder_bits);
		if (options->rows <= 0)
			meta->p = Max(meta->p, bloomfam_maplet_bits(MAPLET_MIN_ROWS,
														options->remainder_bits));

		/*
		 * Give the first tail (the pages that take new entries) the size that it would have if the
		 * index had grown to its size by inserts.
		 */
		while (tail_pages < MAPLET_MAX_TAIL_PAGES &&
			   facts->entries >=
			   (uint64) MAPLET_TAIL_SHARE * tail_pages * MAPLET_TAIL_CAPACITY)
			tail_pages *= 2;
		meta->tails[0].extent.len = tail_pages;
		meta->end = 1 + tail_pages;
		bloomfam_maplet_plan_run(index, meta, MAPLET_FLUSH_OUTPUT, meta->p, facts);
	}

	bloomfam_index_extend(index, MAIN_FORKNUM, 1);
	bloomfam_maplet_tail_format(index, MAIN_FORKNUM, &meta->tails[0], false);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, MAPLET_BUILD_WRITING);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL, (int64) facts->entries);
	if (facts->entries > 0)
	{
		state.writer = (MapletRunWriter *) palloc(sizeof(MapletRunWriter));
		bloomfam_maplet_write_begin(state.writer, index, MAPLET_FLUSH_OUTPUT,
									&meta->outputs[MAPLET_FLUSH_OUTPUT], meta);

		/*
		 * The rows of a unique index are compared as they are now.  A row that was gathered may
		 * have been deleted since by a transaction that CREATE INDEX CONCURRENTLY lets run.
		 */
		if (info->ii_Unique)
			state.duplicates = bloomfam_maplet_duplicates_make(table, index, SnapshotSelf);
		write_collector(&state, gathered.collector, 0);
		if (info->ii_Unique)
			bloomfam_maplet_duplicates_end(state.duplicates);
		bloomfam_maplet_write_until(state.writer, state.writer->run.shape.pages);
		meta->outputs[MAPLET_FLUSH_OUTPUT] = state.writer->output;
		bloomfam_maplet_install_run(meta, MAPLET_FLUSH_OUTPUT);
	}

	bloomfam_maplet_gather_end(&gathered);

	/* Write the metapage last: the file is not a valid index before that. */
	bloomfam_index_page_write(index, MAIN_FORKNUM, 0, page.data, false);
	if (RelationNeedsWAL(index))
		log_newpage_range(index, MAIN_FORKNUM, 0, RelationGetNumberOfBlocks(index), true);
	return result;
}

void
bloomfam_maplet_buildempty(Relation index)
{
	const MapletOptions *options = bloomfam_maplet_options_of(index);
	PGAlignedBlock page;
	MapletHasher hasher;

	bloomfam_maplet_hasher_make(&hasher, CurrentMemoryContext, index, NULL);
	bloomfam_maplet_meta_init(page.data, options->rows, options->remainder_bits,
							  MAPLET_FIRST_TAIL_PAGES, hasher.family_id, hasher.family,
							  hasher.family_len);
	bloomfam_index_extend(index, INIT_FORKNUM, 1);
	bloomfam_index_page_write(index, INIT_FORKNUM, 0, page.data, true);
	bloomfam_maplet_tail_format(index, INIT_FORKNUM, &maplet_meta(page.data)->tails[0], true);
}
