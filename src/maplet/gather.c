/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * gather.c
 *	  Gathers the entries of a table's rows for a build, in one process or with parallel workers.
 *
 * Most of a build's time goes into reading rows and hashing their keys.  Parallel workers and the
 * process that builds share this work.  The workers leave the entries that they have collected in
 * shared files, one for each part.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "lib/hyperloglog.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "utils/snapmgr.h"

#include "maplet/gather.h"
#include "maplet/hash.h"

#define MIN_MEMORY		((Size) 4 * 1024 * 1024)
#define WORKER_PAGES	((BlockNumber) (UINT64CONST(256) * 1024 * 1024 / BLCKSZ))

#define KEY_SHARED		UINT64CONST(0x4d50000000000001)
#define KEY_SCAN		UINT64CONST(0x4d50000000000002)

/*
 * Different hashes are counted by a HyperLogLog sketch of 2^SKETCH_BITS registers, each of 6 bits
 * in a byte of its own.  The count is off by about 3 %.
 */
#define SKETCH_BITS		10
#define SKETCH_SIZE		(1 << SKETCH_BITS)

/* What one process of a build has found in the part of the table that it has scanned. */
typedef struct Found
{
	MapletRunFacts facts;
	uint8		sketch[SKETCH_SIZE];
	double		heap_tuples;
	bool		broken_hot_chain;

	/* The number of entries in each part's file; set by workers only. */
	uint64		counts[MAPLET_PARTS];
} Found;

/* What the building process and its parallel workers have in shared memory. */
typedef struct GatherShared
{
	Oid			table;
	Oid			index;
	bool		concurrent;
	Size		memory;			/* The memory limit of each process's collector, in bytes. */
	SharedFileSet files;
	MapletMeta	meta;
	Found		found[FLEXIBLE_ARRAY_MEMBER];	/* What each worker has found, by its number. */
} GatherShared;

typedef struct Gathering
{
	MapletHasher hasher;
	MapletCollector *collector;
	MapletRunFacts facts;
	hyperLogLogState sketch;
} Gathering;

static void
take_row(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool alive, void *arg)
{
	Gathering *state = (Gathering *) arg;
	MapletTailEntry entry;
	uint64		hash;

	if (!maplet_hash_row(&state->hasher, values, isnull, &hash))
		return;
	maplet_tail_entry(&entry, hash, tid);
	bloomfam_maplet_collect(state->collector, &entry, hash);
	maplet_facts_add(&state->facts, maplet_tid_place(tid));
	state->facts.entries++;
	addHyperLogLog(&state->sketch, (uint32) (hash >> 32));
}

/*
 * Scans the part of the table that a parallel scan gives this process, or the whole table if scan
 * is NULL.  Adds the rows' entries to the collector, and fills *found except for its counts.
 */
static void
scan_table(Relation table, Relation index, IndexInfo *info, const MapletMeta *meta,
		   MapletCollector *collector, bool progress, TableScanDesc scan, Found *found)
{
	Gathering state;

	bloomfam_maplet_hasher_make(&state.hasher, CurrentMemoryContext, index, NULL);
	bloomfam_maplet_hasher_fit(&state.hasher, index, meta);
	state.collector = collector;
	memset(&state.facts, 0, sizeof(state.facts));
	state.facts.first_block = InvalidBlockNumber;
	state.facts.offsets = 1;
	initHyperLogLog(&state.sketch, SKETCH_BITS);
	Assert(state.sketch.nRegisters == SKETCH_SIZE);

	/*
	 * Without workers, the scan is not synchronized with other sequential scans, so that a hot
	 * key's entries are collected in the table's order.
	 */
	found->heap_tuples = table_index_build_scan(table, index, info, scan != NULL, progress,
												take_row, &state, scan);
	found->broken_hot_chain = info->ii_BrokenHotChain;
	found->facts = state.facts;
	memcpy(found->sketch, state.sketch.hashesArr, SKETCH_SIZE);
	freeHyperLogLog(&state.sketch);
}

/* ---- parallel workers ---- */

extern PGDLLEXPORT void bloomfam_maplet_build_worker(dsm_segment *segment, shm_toc *toc);

/* Runs as a parallel worker of a build.  The server calls this function by its name. */
void
bloomfam_maplet_build_worker(dsm_segment *segment, shm_toc *toc)
{
	GatherShared *shared = (GatherShared *) shm_toc_lookup(toc, KEY_SHARED, false);
	ParallelTableScanDesc scan = (ParallelTableScanDesc) shm_toc_lookup(toc, KEY_SCAN, false);
	LOCKMODE	table_lock = shared->concurrent ? ShareUpdateExclusiveLock : ShareLock;
	LOCKMODE	index_lock = shared->concurrent ? RowExclusiveLock : AccessExclusiveLock;
	Relation	table = table_open(shared->table, table_lock);
	Relation	index = index_open(shared->index, index_lock);
	IndexInfo  *info = BuildIndexInfo(index);
	Found	   *found = &shared->found[ParallelWorkerNumber];
	MapletShare share;
	MapletCollector *collector;

	info->ii_Concurrent = shared->concurrent;
	SharedFileSetAttach(&shared->files, segment);
	share.files = &shared->files;
	share.worker = ParallelWorkerNumber;
	share.counts = found->counts;
	collector = bloomfam_maplet_collector_make(0, shared->memory, &share);
	scan_table(table, index, info, &shared->meta, collector, false,
			   bloomfam_beginscan_parallel(table, scan), found);
	bloomfam_maplet_collector_share(collector);
	bloomfam_maplet_collector_free(collector);

	index_close(index, index_lock);
	table_close(table, table_lock);
}

/* ---- the process that builds ---- */

/*
 * Returns how many parallel workers to request.  A worker makes one file for each part, and making
 * and reading these files takes as long as about two million rows.  So a worker with less than
 * WORKER_PAGES pages of the table would only delay the build.
 */
static int
worthwhile_workers(Relation table, Relation index)
{
	BlockNumber pages = RelationGetNumberOfBlocks(table);
	int			nworkers;

	if (pages == 0)
		return 0;
	/*
	 * plan_create_index_workers() goes by the table's size, by settings, and by whether the index's
	 * expressions are parallel safe.  PostgreSQL 15 and 16 call it for B-trees only.
	 */
	nworkers = plan_create_index_workers(RelationGetRelid(table), RelationGetRelid(index));
	/* Do not reduce the number of workers if the table's option parallel_workers is set. */
	if (RelationGetParallelWorkers(table, -1) != -1)
		return nworkers;
	return (int) Min((BlockNumber) nworkers, pages / WORKER_PAGES);
}

/*
 * Starts parallel workers.  Returns the state that is shared with them, or NULL if no worker could
 * be started.
 */
static GatherShared *
start_workers(Relation table, Relation index, IndexInfo *info, const MapletMeta *meta,
			  int nworkers, MapletGathered *gathered)
{
	ParallelContext *parallel;
	GatherShared *shared;
	ParallelTableScanDesc scan;
	Size		shared_size = offsetof(GatherShared, found) + nworkers * sizeof(Found);
	Size		scan_size;

	EnterParallelMode();
	parallel = CreateParallelContext("bloomfam", "bloomfam_maplet_build_worker", nworkers);
	gathered->parallel = parallel;
	gathered->snapshot = info->ii_Concurrent ? RegisterSnapshot(GetTransactionSnapshot()) :
		SnapshotAny;
	scan_size = table_parallelscan_estimate(table, gathered->snapshot);
	shm_toc_estimate_chunk(&parallel->estimator, shared_size);
	shm_toc_estimate_chunk(&parallel->estimator, scan_size);
	shm_toc_estimate_keys(&parallel->estimator, 2);
	InitializeParallelDSM(parallel);
	if (parallel->seg == NULL)
	{
		bloomfam_maplet_gather_end(gathered);
		return NULL;
	}

	shared = (GatherShared *) shm_toc_allocate(parallel->toc, shared_size);
	memset(shared, 0, shared_size);
	shared->table = RelationGetRelid(table);
	shared->index = RelationGetRelid(index);
	shared->concurrent = info->ii_Concurrent;
	shared->memory = Max(gathered->memory / (nworkers + 1), MIN_MEMORY);
	shared->meta = *meta;
	SharedFileSetInit(&shared->files, parallel->seg);
	shm_toc_insert(parallel->toc, KEY_SHARED, shared);
	scan = (ParallelTableScanDesc) shm_toc_allocate(parallel->toc, scan_size);
	table_parallelscan_initialize(table, scan, gathered->snapshot);
	shm_toc_insert(parallel->toc, KEY_SCAN, scan);

	LaunchParallelWorkers(parallel);
	gathered->workers = parallel->nworkers_launched;
	if (gathered->workers == 0)
	{
		bloomfam_maplet_gather_end(gathered);
		return NULL;
	}
	return shared;
}

/*
 * Waits for the workers to finish, and adds what they have found to *gathered.  Their sketches are
 * merged into that of *own, which holds what this process has found.
 */
static void
add_workers(GatherShared *shared, IndexInfo *info, MapletGathered *gathered, Found *own)
{
	MapletShare *shares = (MapletShare *) palloc(gathered->workers * sizeof(MapletShare));
	int			i;
	int			j;

	WaitForParallelWorkersToFinish(gathered->parallel);
	for (i = 0; i < gathered->workers; i++)
	{
		const Found *found = &shared->found[i];
		MapletRunFacts *facts = &gathered->facts;

		facts->entries += found->facts.entries;
		facts->first_block = Min(facts->first_block, found->facts.first_block);
		facts->last_block = Max(facts->last_block, found->facts.last_block);
		facts->offsets = Max(facts->offsets, found->facts.offsets);
		gathered->heap_tuples += found->heap_tuples;
		info->ii_BrokenHotChain |= found->broken_hot_chain;
		shares[i].files = &shared->files;
		shares[i].worker = i;
		shares[i].counts = shared->found[i].counts;
		bloomfam_maplet_collector_add(gathered->collector, &shares[i]);
		for (j = 0; j < SKETCH_SIZE; j++)
			own->sketch[j] = Max(own->sketch[j], found->sketch[j]);
	}
}

/* Estimates from the sketch how many different hashes there are.  The result is at most entries. */
static uint64
count_hashes(const Found *found, uint64 entries)
{
	hyperLogLogState sketch;
	double		n;

	initHyperLogLog(&sketch, SKETCH_BITS);
	memcpy(sketch.hashesArr, found->sketch, SKETCH_SIZE);
	n = estimateHyperLogLog(&sketch);
	freeHyperLogLog(&sketch);
	return n < (double) entries ? (uint64) Max(n, 1) : entries;
}

void
bloomfam_maplet_gather(Relation table, Relation index, IndexInfo *info, const MapletMeta *meta,
					   MapletGathered *gathered)
{
	GatherShared *shared = NULL;
	TableScanDesc scan = NULL;
	Found		found;
	int			nworkers = 0;

	memset(gathered, 0, sizeof(*gathered));
	gathered->memory = Max((Size) maintenance_work_mem * 1024, MIN_MEMORY);

	nworkers = worthwhile_workers(table, index);
	if (nworkers > 0)
		shared = start_workers(table, index, info, meta, nworkers, gathered);
	if (shared != NULL)
	{
		gathered->memory = shared->memory;
		scan = bloomfam_beginscan_parallel(table, (ParallelTableScanDesc)
										   shm_toc_lookup(gathered->parallel->toc, KEY_SCAN,
														  false));
	}

	gathered->collector = bloomfam_maplet_collector_make(0, gathered->memory, NULL);
	scan_table(table, index, info, meta, gathered->collector, true, scan, &found);
	gathered->facts = found.facts;
	gathered->heap_tuples = found.heap_tuples;
	if (shared != NULL)
		add_workers(shared, info, gathered, &found);
	gathered->facts.fingerprints = count_hashes(&found, gathered->facts.entries);
}

void
bloomfam_maplet_gather_end(MapletGathered *gathered)
{
	if (gathered->parallel == NULL)
		return;
	if (IsMVCCSnapshot(gathered->snapshot))
		UnregisterSnapshot(gathered->snapshot);
	DestroyParallelContext(gathered->parallel);
	ExitParallelMode();
	gathered->parallel = NULL;
}
