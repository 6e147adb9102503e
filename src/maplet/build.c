/*-------------------------------------------------------------------------
 *
 * build.c
 *	  Building an index of a table's rows.
 *
 * The rows' entries are collected by the high bits of their hashes, in 256 parts, as tails keep
 * them; beyond maintenance_work_mem the parts go to temporary files.  Then each part is sorted by
 * itself and written: all of it becomes one run, and nothing is logged before the end, when the
 * whole file is.
 *
 * A part that exceeds the memory by itself is divided again by its next bits.  Entries of one
 * hash need no order, so that a hot key's part ends there.
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
#include "storage/buffile.h"
#include "utils/memutils.h"

#include "maplet/hash.h"
#include "maplet/maplet.h"
#include "maplet/options.h"
#include "maplet/run.h"
#include "maplet/sort.h"
#include "maplet/tail.h"

#define PART_BITS		8
#define PARTS			(1 << PART_BITS)
#define CHUNK_ENTRIES	682		/* 8 kB */

/* A part's entries: those in memory are later than those in the file. */
typedef struct Part
{
	BufFile    *file;			/* NULL: none yet */
	uint64		in_file;
	MapletTailEntry *chunk;		/* room for CHUNK_ENTRIES; NULL: none yet */
	uint32		in_chunk;
	List	   *full;			/* chunks that are full */
	uint64		n;				/* in all */
} Part;

/* Entries that have their first bits in common, in parts by the next ones. */
typedef struct Collector
{
	int			first_bits;
	Size		memory;
	Size		max_memory;
	MemoryContext context;
	Part		parts[PARTS];
} Collector;

typedef struct BuildState
{
	MapletHasher hasher;
	Collector  *collector;
	MapletRunFacts facts;
	uint64		done;			/* entries written */
	MapletRunWriter *writer;
} BuildState;

/* ---- collecting ---- */

static Collector *
make_collector(int first_bits, Size max_memory)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "maplet build",
												  ALLOCSET_DEFAULT_SIZES);
	Collector  *collector = (Collector *) MemoryContextAllocZero(context, sizeof(Collector));

	collector->context = context;
	collector->first_bits = first_bits;
	collector->max_memory = max_memory;
	return collector;
}

static void
write_chunk(Part *part, const MapletTailEntry *chunk, uint32 n)
{
	BufFileWrite(part->file, (void *) chunk, n * sizeof(MapletTailEntry));
	part->in_file += n;
}

/* Moves all that is in memory to files. */
static void
spill(Collector *collector)
{
	int			i;

	for (i = 0; i < PARTS; i++)
	{
		Part	   *part = &collector->parts[i];
		ListCell   *cell;

		if (part->chunk == NULL)
			continue;
		if (part->file == NULL)
			part->file = BufFileCreateTemp(false);
		foreach(cell, part->full)
		{
			write_chunk(part, (MapletTailEntry *) lfirst(cell), CHUNK_ENTRIES);
			pfree(lfirst(cell));
		}
		list_free(part->full);
		part->full = NIL;
		write_chunk(part, part->chunk, part->in_chunk);
		part->in_chunk = 0;
		CHECK_FOR_INTERRUPTS();
	}
	collector->memory = (Size) PARTS * CHUNK_ENTRIES * sizeof(MapletTailEntry);
}

static void
collect(Collector *collector, const MapletTailEntry *entry, uint64 hash)
{
	Part	   *part = &collector->parts[(hash << collector->first_bits) >> (64 - PART_BITS)];

	if (part->chunk == NULL || part->in_chunk == CHUNK_ENTRIES)
	{
		MemoryContext old = MemoryContextSwitchTo(collector->context);

		if (part->chunk != NULL && collector->memory >= collector->max_memory)
			spill(collector);
		else
		{
			if (part->chunk != NULL)
				part->full = lappend(part->full, part->chunk);
			part->chunk = (MapletTailEntry *)
				palloc(CHUNK_ENTRIES * sizeof(MapletTailEntry));
			part->in_chunk = 0;
			collector->memory += CHUNK_ENTRIES * sizeof(MapletTailEntry);
		}
		MemoryContextSwitchTo(old);
	}
	part->chunk[part->in_chunk++] = *entry;
	part->n++;
}

static void
build_callback(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool alive,
			   void *arg)
{
	BuildState *state = (BuildState *) arg;
	MapletTailEntry entry;
	uint64		hash;

	if (isnull[0])
		return;
	hash = maplet_hash(&state->hasher, values[0]);
	maplet_tail_entry(&entry, hash, tid);
	collect(state->collector, &entry, hash);
	maplet_facts_add(&state->facts, maplet_tid_place(tid));
	state->facts.entries++;
}

/* ---- writing ---- */

typedef void (*TakeEntries) (void *arg, const MapletTailEntry *entries, uint32 n);

/* Gives all entries of a part, in the order that they came in, and forgets them. */
static void
read_part(Collector *collector, Part *part, TakeEntries take, void *arg)
{
	ListCell   *cell;

	if (part->file != NULL)
	{
		MapletTailEntry *entries = (MapletTailEntry *)
			palloc(CHUNK_ENTRIES * sizeof(MapletTailEntry));

		if (BufFileSeek(part->file, 0, 0, SEEK_SET) != 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not rewind a temporary file of a maplet index's build")));
		while (part->in_file > 0)
		{
			uint32		n = (uint32) Min(part->in_file, CHUNK_ENTRIES);

			bloomfam_buffile_read(part->file, entries, n * sizeof(MapletTailEntry));
			take(arg, entries, n);
			part->in_file -= n;
			CHECK_FOR_INTERRUPTS();
		}
		BufFileClose(part->file);
		part->file = NULL;
		pfree(entries);
	}
	foreach(cell, part->full)
	{
		take(arg, (MapletTailEntry *) lfirst(cell), CHUNK_ENTRIES);
		pfree(lfirst(cell));
	}
	part->full = NIL;
	if (part->chunk != NULL)
	{
		take(arg, part->chunk, part->in_chunk);
		pfree(part->chunk);
	}
	part->chunk = NULL;
}

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
	Collector  *collector = (Collector *) arg;
	uint32		i;

	for (i = 0; i < n; i++)
		collect(collector, &entries[i], maplet_tail_hash(&entries[i]));
}

/* Those of one hash. */
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
		bloomfam_maplet_write(state->writer, &entry);
	}
	state->done += n;
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, (int64) state->done);
}

/* Writes a collector's entries in order, part by part, and frees it. */
static void
write_collector(BuildState *state, Collector *collector)
{
	int			bits = collector->first_bits + PART_BITS;
	int			i;

	for (i = 0; i < PARTS; i++)
	{
		Part	   *part = &collector->parts[i];

		if (part->n == 0)
			continue;
		if (bits >= MAPLET_HASH_BITS)
			read_part(collector, part, write_entries, state);
		else if (2 * part->n * sizeof(BfRunEntry) > collector->max_memory)
		{
			Collector  *inner = make_collector(bits, collector->max_memory);

			read_part(collector, part, collect_entries, inner);
			write_collector(state, inner);
		}
		else
		{
			Loaded		loaded = {NULL, 0};
			uint64		j;

			loaded.entries = (BfRunEntry *)
				palloc_extended(part->n * sizeof(BfRunEntry), MCXT_ALLOC_HUGE);
			read_part(collector, part, load_entries, &loaded);
			loaded.entries = bloomfam_maplet_sort(loaded.entries, loaded.n);
			for (j = 0; j < loaded.n; j++)
				bloomfam_maplet_write(state->writer, &loaded.entries[j]);
			pfree(loaded.entries);
			state->done += loaded.n;
			pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, (int64) state->done);
		}
	}
	MemoryContextDelete(collector->context);
}

/*
 * The number of different hashes there are, about: of the part with the fewest entries, which
 * has no hot key, times the number of parts.
 */
static uint64
estimate_fingerprints(const Collector *collector, uint64 entries)
{
	uint64		fewest = entries;
	int			i;

	for (i = 0; i < PARTS; i++)
		fewest = Min(fewest, collector->parts[i].n);
	return Min(entries, Max(fewest * PARTS, PARTS));
}

/* ---- entry points ---- */

IndexBuildResult *
bloomfam_maplet_build(Relation table, Relation index, IndexInfo *info)
{
	IndexBuildResult *result = (IndexBuildResult *) palloc0(sizeof(IndexBuildResult));
	const MapletOptions *options = bloomfam_maplet_options_of(index);
	BuildState	state;
	PGAlignedBlock page;
	MapletMeta *meta = maplet_meta(page.data);
	const BloomfamHasher *hasher;
	uint32		tail_pages = MAPLET_FIRST_TAIL_PAGES;

	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data", RelationGetRelationName(index));

	memset(&state, 0, sizeof(state));
	bloomfam_maplet_hasher_make(&state.hasher, CurrentMemoryContext, index, InvalidOid);
	hasher = state.hasher.hasher;
	bloomfam_maplet_meta_init(page.data, options->rows, options->remainder_bits, tail_pages,
							  hasher->family_id, hasher->family, hasher->family_len);
	bloomfam_maplet_hasher_fit(&state.hasher, index, meta);

	state.facts.first_block = InvalidBlockNumber;
	state.facts.offsets = 1;
	state.collector = make_collector(0, Max((Size) maintenance_work_mem * 1024,
											(Size) 4 * 1024 * 1024));
	/* not in step with other scans: entries of one hash shall come in the order of the table */
	result->heap_tuples = table_index_build_scan(table, index, info, false, true, build_callback,
												 &state, NULL);
	result->index_tuples = (double) state.facts.entries;

	if (state.facts.entries > 0)
	{
		state.facts.fingerprints = estimate_fingerprints(state.collector, state.facts.entries);
		meta->p = bloomfam_maplet_bits(Max((double) state.facts.entries, options->rows),
									   options->remainder_bits);
		if (options->rows <= 0)
			meta->p = Max(meta->p, bloomfam_maplet_bits(MAPLET_MIN_ROWS,
														options->remainder_bits));

		/* as if it had grown to this size */
		while (tail_pages < MAPLET_MAX_TAIL_PAGES &&
			   state.facts.entries >=
			   (uint64) MAPLET_TAIL_SHARE * tail_pages * MAPLET_TAIL_CAPACITY)
			tail_pages *= 2;
		meta->tails[0].extent.len = tail_pages;
		meta->end = 1 + tail_pages;
		bloomfam_maplet_plan_run(index, meta, MAPLET_FLUSH_OUTPUT, meta->p, &state.facts);
	}

	bloomfam_maplet_extend(index, MAIN_FORKNUM, 1);
	bloomfam_maplet_tail_format(index, MAIN_FORKNUM, &meta->tails[0], false);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, MAPLET_BUILD_WRITING);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL, (int64) state.facts.entries);
	if (state.facts.entries > 0)
	{
		state.writer = (MapletRunWriter *) palloc(sizeof(MapletRunWriter));
		bloomfam_maplet_write_begin(state.writer, index, MAPLET_FLUSH_OUTPUT,
									&meta->outputs[MAPLET_FLUSH_OUTPUT], meta);
		write_collector(&state, state.collector);
		bloomfam_maplet_write_until(state.writer, state.writer->run.shape.pages);
		meta->outputs[MAPLET_FLUSH_OUTPUT] = state.writer->output;
		bloomfam_maplet_install_run(meta, MAPLET_FLUSH_OUTPUT);
	}

	/* the metapage last: before, the file is no index */
	bloomfam_maplet_page_write(index, MAIN_FORKNUM, 0, page.data, false);
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

	bloomfam_maplet_hasher_make(&hasher, CurrentMemoryContext, index, InvalidOid);
	bloomfam_maplet_meta_init(page.data, options->rows, options->remainder_bits,
							  MAPLET_FIRST_TAIL_PAGES, hasher.family_id, hasher.hasher->family,
							  hasher.hasher->family_len);
	bloomfam_maplet_extend(index, INIT_FORKNUM, 1);
	bloomfam_maplet_page_write(index, INIT_FORKNUM, 0, page.data, true);
	bloomfam_maplet_tail_format(index, INIT_FORKNUM, &maplet_meta(page.data)->tails[0], true);
}
