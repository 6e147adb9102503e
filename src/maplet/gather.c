/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * gather.c
 *	  Gathering the entries of a table's rows for a build, alone or with parallel workers.
 *
 * Reading and hashing rows is most of a build's work.  Workers do their share of it as the process
 * that builds does, and leave what they have collected in files, part by part.
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

/* Different hashes are counted by so many registers, of 6 bits in a byte each: to 3 % or so. */
#define SKETCH_BITS		10
#define SKETCH_SIZE		(1 << SKETCH_BITS)

/* What a process has found. */
typedef struct Found
{
	MapletRunFacts facts;
	uint8		sketch[SKETCH_SIZE];
	double		heap_tuples;
	bool		broken_hot_chain;
	uint64		counts[MAPLET_PARTS];	/* workers: entries in its files */
} Found;

/* In shared memory. */
typedef struct GatherShared
{
	Oid			table;
	Oid			index;
	bool		concurrent;
	Size		memory;			/* of each process */
	SharedFileSet files;
	MapletMeta	meta;
	Found		found[FLEXIBLE_ARRAY_MEMBER];	/* by each worker */
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

	if (isnull[0])
		return;
	hash = maplet_hash(&state->hasher, values[0]);
	maplet_tail_entry(&entry, hash, tid);
	bloomfam_maplet_collect(state->collector, &entry, hash);
	maplet_facts_add(&state->facts, maplet_tid_place(tid));
	state->facts.entries++;
	addHyperLogLog(&state->sketch, (uint32) (hash >> 32));
}

/* One process's share, or all with scan = NULL. */
static void
scan_table(Relation table, Relation index, IndexInfo *info, const MapletMeta *meta,
		   MapletCollector *collector, bool progress, TableScanDesc scan, Found *found)
{
	Gathering state;

	bloomfam_maplet_hasher_make(&state.hasher, CurrentMemoryContext, index, InvalidOid);
	bloomfam_maplet_hasher_fit(&state.hasher, index, meta);
	state.collector = collector;
	memset(&state.facts, 0, sizeof(state.facts));
	state.facts.first_block = InvalidBlockNumber;
	state.facts.offsets = 1;
	initHyperLogLog(&state.sketch, SKETCH_BITS);
	Assert(state.sketch.nRegisters == SKETCH_SIZE);

	/* alone not in step with other scans: a hot key's entries shall come in the table's order */
	found->heap_tuples = table_index_build_scan(table, index, info, scan != NULL, progress,
												take_row, &state, scan);
	found->broken_hot_chain = info->ii_BrokenHotChain;
	found->facts = state.facts;
	memcpy(found->sketch, state.sketch.hashesArr, SKETCH_SIZE);
	freeHyperLogLog(&state.sketch);
}

/* ---- workers ---- */

extern PGDLLEXPORT void bloomfam_maplet_build_worker(dsm_segment *segment, shm_toc *toc);

/* The server calls it by its name. */
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
 * How many workers to request.  A worker has a file for each part, whose making and reading takes
 * as long as some two million rows: with less than WORKER_PAGES for each it would only delay the
 * build.
 */
static int
worthwhile_workers(Relation table, Relation index)
{
	BlockNumber pages = RelationGetNumberOfBlocks(table);
	int			nworkers;

	if (pages == 0)
		return 0;
	/* by size, settings, and whether expressions are safe; 15 and 16 do not look by themselves */
	nworkers = plan_create_index_workers(RelationGetRelid(table), RelationGetRelid(index));
	/* who has said how many gets them */
	if (RelationGetParallelWorkers(table, -1) != -1)
		return nworkers;
	return (int) Min((BlockNumber) nworkers, pages / WORKER_PAGES);
}

/* Starts workers: what they share, or NULL if there are none. */
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

/* Waits for the workers, and adds what they have found; to *own, what this process has. */
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

/* How many different hashes there are, about. */
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
