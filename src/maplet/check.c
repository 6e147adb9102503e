/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * check.c
 *	  Implements maplet_check(), which checks that an index is intact, that each row of its table
 *	  has an entry, and that a unique index has no key twice.
 *
 * The check runs concurrently with all other work on the index.  When a merge or a flush drops a
 * run or a tail while it is being checked, the rest of it is skipped, as its entries are in another
 * run.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"

#include "maplet/hash.h"
#include "maplet/lookup.h"
#include "maplet/maplet.h"
#include "maplet/run.h"
#include "maplet/tail.h"
#include "maplet/unique.h"
#include "pg/index.h"
#include "pg/index_open.h"

PG_FUNCTION_INFO_V1(bloomfam_maplet_check);

/* ---- checking the index's structure ---- */

/*
 * Is called when a page of a run or tail bears another owner's id.  Rereads the metapage, and
 * raises an error if it still lists the run or tail: then the page is damaged.  Returns if it does
 * not, as the run or tail was dropped and its page reused.  The parameter owner is the id of the
 * run or the generation of the tail.
 */
static void
expect_gone(Relation index, BlockNumber block, uint64 owner)
{
	MapletView *view = (MapletView *) palloc(sizeof(MapletView));
	const MapletMeta *meta = &view->meta;

	bloomfam_maplet_meta_read(index, view);
	if (bloomfam_maplet_find_run(&view->meta, owner) != NULL ||
		meta->tails[meta->active].generation == owner ||
		(meta->pending && meta->tails[1 - meta->active].generation == owner))
		bloomfam_maplet_corrupted(index, block, "a page is not where the metapage says");
	pfree(view);
}

/*
 * Checks one page of a tail, given as a copy.  Raises an error if the page is damaged.  For each
 * page of the tail, farthest[] says how many pages beyond it an entry was found whose hash belongs
 * on that page; the function increases these numbers.
 */
static void
check_tail_page(Relation index, const MapletTail *tail, uint32 number, Page page,
				uint32 *farthest)
{
	BlockNumber block = tail->extent.start + number;
	const MapletTailEntry *entries = maplet_tail_entries(page);
	uint32		npages = tail->extent.len;
	int			count;
	int			i;

	if (maplet_stamp(page)->number != number)
		bloomfam_maplet_corrupted(index, block, "another page of the tail");
	count = bloomfam_maplet_tail_count_checked(index, block, page);
	for (i = 0; i < count; i++)
	{
		uint32		home = maplet_tail_page(maplet_tail_hash(&entries[i]), npages);
		uint32		step = (number + npages - home) % npages;

		if (step >= MAPLET_TAIL_WALK)
			bloomfam_maplet_corrupted(index, block, "an entry on another page of its tail");
		farthest[home] = Max(farthest[home], step);
	}
}

static void
check_tail(Relation index, const MapletTail *tail)
{
	bool		overflowed[MAPLET_MAX_TAIL_PAGES];
	uint32		farthest[MAPLET_MAX_TAIL_PAGES] = {0};
	PGAlignedBlock copy;
	int			pass;
	uint32		i;

	/*
	 * The first pass reads the entries of the tail's pages; the second checks the marks of pages
	 * that have sent entries on to the next page.  An insert marks all pages that it goes past
	 * before it writes its entry, so the marks for every entry found are set by the second pass.
	 */
	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < tail->extent.len; i++)
		{
			BlockNumber block = tail->extent.start + i;
			Buffer		buffer = ReadBuffer(index, block);

			CHECK_FOR_INTERRUPTS();
			LockBuffer(buffer, BUFFER_LOCK_SHARE);
			memcpy(copy.data, BufferGetPage(buffer), BLCKSZ);
			UnlockReleaseBuffer(buffer);
			if (!maplet_page_is(copy.data, MAPLET_PAGE_TAIL, tail->generation))
			{
				expect_gone(index, block, tail->generation);
				return;
			}
			if (pass == 0)
				check_tail_page(index, tail, i, copy.data, farthest);
			else
				overflowed[i] = maplet_stamp(copy.data)->overflowed;
		}
	for (i = 0; i < tail->extent.len; i++)
	{
		uint32		step;

		for (step = 0; step < farthest[i]; step++)
			if (!overflowed[(i + step) % tail->extent.len])
				bloomfam_maplet_corrupted(index, tail->extent.start + i,
										  "an entry of a tail that no look-up finds");
	}
}

static bool
check_run_page(Relation index, const MapletRun *run, const BfRun *open, BfRunPageKind kind,
			   uint32 number, BfRunPage *page)
{
	const char *reason = "not as it was written";
	Buffer		buffer;

	CHECK_FOR_INTERRUPTS();
	if (!bloomfam_maplet_open_page(index, run, open, kind, number, BUFFER_LOCK_SHARE, NULL,
								   &buffer, page))
	{
		expect_gone(index, bloomfam_maplet_page_block(index, run, kind, number), run->id);
		return false;
	}
	if (!bf_run_check_page(open, page->body, &reason))
		bloomfam_maplet_corrupted(index, BufferGetBlockNumber(buffer), reason);
	UnlockReleaseBuffer(buffer);
	return true;
}

static void
check_run(Relation index, const MapletRun *run, const BfRun *open)
{
	uint32		next_overflow = 0;
	uint64		entries = 0;
	uint32		i;
	uint32		j;

	for (i = 0; i < run->shape.pages; i++)
	{
		BlockNumber block = bloomfam_maplet_page_block(index, run, BF_RUN_MAIN, i);
		BfRunPage	page;
		BfRunPage	overflow;

		if (!check_run_page(index, run, open, BF_RUN_MAIN, i, &page))
			return;
		entries += page.n;
		if (page.overflow > 0 && page.overflow_at != next_overflow)
			bloomfam_maplet_corrupted(index, block, "overflow pages with a gap");
		for (j = 0; j < page.overflow; j++)
		{
			if (!check_run_page(index, run, open, BF_RUN_OVERFLOW, next_overflow, &overflow))
				return;
			if (overflow.interval != i || overflow.overflow != j)
				bloomfam_maplet_corrupted(index, block, "overflow pages of another page");
			entries += overflow.n;
			next_overflow++;
		}
	}
	if (next_overflow != run->noverflow || entries > run->entries)
		bloomfam_maplet_corrupted(index, run->main[0].start,
								  "a run with more or less than it should have");
}

/* Checks that no two of the runs, tails and outputs have a block in common. */
static void
check_extents(Relation index, const MapletMeta *meta)
{
	MapletMeta *room = (MapletMeta *) palloc(sizeof(MapletMeta));
	MapletExtent extents[MAPLET_MAX_EXTENTS];
	int			n;
	int			i;

	memcpy(room, meta, sizeof(MapletMeta));
	n = bloomfam_maplet_extents(room, extents);
	for (i = 1; i < n; i++)
		if (extents[i].start < extents[i - 1].start + extents[i - 1].len)
			bloomfam_maplet_corrupted(index, extents[i].start, "a block that is used twice");
	pfree(room);
}

/* ---- checking that the table's rows are in the index ---- */

/* The table's rows are looked up in batches of this many rows. */
#define CHECK_ROWS		65536

typedef struct CheckedRow
{
	uint64		hash;
	uint64		place;
	bool		found;
} CheckedRow;

typedef struct RowCheck
{
	Relation	table;
	Relation	index;
	MapletHasher hasher;
	MapletView *view;
	CheckedRow *rows;
	uint64	   *hashes;
	int			n;
	bool		unique;

	/*
	 * For a unique index, all of its entries that have the hash of a row in rows; NULL if the index
	 * is not unique.
	 */
	CheckedRow *entries;
	Size		nentries;
	Size		room;			/* The number of elements that the array "entries" has room for. */
} RowCheck;

#define ST_SORT sort_rows
#define ST_ELEMENT_TYPE CheckedRow
#define ST_COMPARE(a, b) \
	((a)->hash < (b)->hash ? -1 : (a)->hash > (b)->hash ? 1 : \
	 (a)->place < (b)->place ? -1 : (a)->place > (b)->place)
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

static void
add_entry(RowCheck *check, uint64 hash, uint64 place)
{
	CheckedRow	entry = {hash, place, false};

	if (check->nentries == check->room)
	{
		check->room *= 2;
		check->entries = (CheckedRow *)
			repalloc_huge(check->entries, check->room * sizeof(CheckedRow));
	}
	check->entries[check->nentries++] = entry;
}

static void
found_row(void *arg, uint64 hash, const uint64 *places, uint32 n)
{
	RowCheck   *check = (RowCheck *) arg;
	uint32		i;

	for (i = 0; i < n; i++)
	{
		int			low = 0;
		int			high = check->n;

		if (check->unique)
			add_entry(check, hash, places[i]);

		while (low < high)
		{
			int			middle = (low + high) / 2;
			const CheckedRow *row = &check->rows[middle];

			if (row->hash < hash || (row->hash == hash && row->place < places[i]))
				low = middle + 1;
			else
				high = middle;
		}
		if (low < check->n && check->rows[low].hash == hash &&
			check->rows[low].place == places[i])
			check->rows[low].found = true;
	}
}

/*
 * Raises an error if two of the rows in check->entries have the same key.  Empties check->entries.
 */
static void
check_duplicates(RowCheck *check)
{
	Snapshot	snapshot = RegisterSnapshot(GetTransactionSnapshot());
	MapletDuplicates *duplicates = bloomfam_maplet_duplicates_make(check->table, check->index,
																   snapshot);
	Size		i;

	sort_rows(check->entries, check->nentries);
	for (i = 0; i < check->nentries; i++)
	{
		const CheckedRow *entry = &check->entries[i];
		const char *key = NULL;

		if (i == 0 || entry->hash != entry[-1].hash || entry->place != entry[-1].place)
			key = bloomfam_maplet_duplicates_add(duplicates, entry->hash, entry->place);
		if (key != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_INDEX_CORRUPTED),
					 errmsg("unique maplet index \"%s\" has a key twice",
							RelationGetRelationName(check->index)),
					 *key != '\0' ? errdetail("Key %s is duplicated.", key) : 0,
					 errhint("Please delete all rows of the key but one, and REINDEX it.")));
	}
	bloomfam_maplet_duplicates_end(duplicates);
	UnregisterSnapshot(snapshot);
	check->nentries = 0;
}

static void
look_rows_up(RowCheck *check)
{
	Size		n = 0;
	int			i;

	sort_rows(check->rows, check->n);
	for (i = 0; i < check->n; i++)
		if (i == 0 || check->rows[i].hash != check->rows[i - 1].hash)
			check->hashes[n++] = check->rows[i].hash;
	bloomfam_maplet_meta_refresh(check->index, check->view);
	bloomfam_maplet_lookup(check->index, check->view, check->hashes, n, found_row, check);
	for (i = 0; i < check->n; i++)
		if (!check->rows[i].found)
			ereport(ERROR,
					(errcode(ERRCODE_INDEX_CORRUPTED),
					 errmsg("maplet index \"%s\" lacks a row of its table",
							RelationGetRelationName(check->index)),
					 errdetail("The row is at (%u,%u).", BF_RUN_BLOCK(check->rows[i].place),
							   BF_RUN_OFFSET(check->rows[i].place)),
					 errhint("Please REINDEX it.")));
	if (check->unique)
		check_duplicates(check);
	check->n = 0;
}

static void
check_row(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool alive, void *arg)
{
	RowCheck   *check = (RowCheck *) arg;
	CheckedRow *row = &check->rows[check->n];

	if (!maplet_hash_row(&check->hasher, values, isnull, &row->hash))
		return;
	check->n++;
	row->place = maplet_tid_place(tid);
	row->found = false;
	if (check->n == CHECK_ROWS)
		look_rows_up(check);
}

/*
 * Checks that each row of the table has an entry in the index, and that a unique index has no key
 * twice.  The index's expressions and its predicate are the owner's code, so they are run as the
 * table's owner, whoever calls.
 */
static void
check_rows(BloomfamOpenIndex *opened, MapletView *view)
{
	IndexInfo  *info;
	RowCheck	check;
	Oid			user;
	int			context;
	int			nest_level;

	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(opened->table->rd_rel->relowner,
						   context | SECURITY_RESTRICTED_OPERATION);
	nest_level = NewGUCNestLevel();
	bloomfam_restrict_search_path();

	/*
	 * As in CREATE INDEX CONCURRENTLY, the scan reads the rows that a snapshot sees, and all of
	 * them must be in the index.  An index that is too new for the snapshot may lack some, so it is
	 * refused.
	 */
	if (!bloomfam_index_is_complete(opened->index, GetTransactionSnapshot()))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("index \"%s\" is too new for this snapshot",
						RelationGetRelationName(opened->index))));
	info = BuildIndexInfo(opened->index);
	info->ii_Concurrent = true;
	info->ii_Unique = false;
	info->ii_ExclusionOps = NULL;
	info->ii_ExclusionProcs = NULL;
	info->ii_ExclusionStrats = NULL;

	check.table = opened->table;
	check.index = opened->index;
	check.unique = opened->index->rd_index->indisunique;
	check.nentries = 0;
	check.room = CHECK_ROWS;
	check.entries = check.unique ?
		(CheckedRow *) palloc(check.room * sizeof(CheckedRow)) : NULL;
	check.view = view;
	check.n = 0;
	check.rows = (CheckedRow *) palloc(CHECK_ROWS * sizeof(CheckedRow));
	check.hashes = (uint64 *) palloc(CHECK_ROWS * sizeof(uint64));
	bloomfam_maplet_hasher_make(&check.hasher, CurrentMemoryContext, opened->index, NULL);
	bloomfam_maplet_hasher_fit(&check.hasher, opened->index, &view->meta);
	table_index_build_scan(opened->table, opened->index, info, true, false, check_row, &check,
						   NULL);
	look_rows_up(&check);

	AtEOXact_GUC(false, nest_level);
	SetUserIdAndSecContext(user, context);
}

/*
 * Implements maplet_check(index regclass, heapallindexed boolean) RETURNS void.  Raises an error
 * unless the index is intact, and with heapallindexed also if it lacks a row of its table or, being
 * unique, has a key twice.
 */
Datum
bloomfam_maplet_check(PG_FUNCTION_ARGS)
{
	MapletView *view = (MapletView *) palloc0(sizeof(MapletView));
	BloomfamOpenIndex opened;
	MapletMeta *meta = &view->meta;
	uint32		i;

	bloomfam_index_open(PG_GETARG_OID(0), "maplet", bloomfam_maplet_build, AccessShareLock,
						BLOOMFAM_INDEX_USER_OWNER, &opened);
	bloomfam_maplet_meta_read(opened.index, view);
	check_extents(opened.index, meta);
	check_tail(opened.index, &meta->tails[meta->active]);
	if (meta->pending)
		check_tail(opened.index, &meta->tails[1 - meta->active]);
	for (i = 0; i < meta->nruns; i++)
		check_run(opened.index, &meta->runs[i], &view->runs[i]);
	if (PG_GETARG_BOOL(1))
		check_rows(&opened, view);
	bloomfam_index_close(&opened);
	PG_RETURN_VOID();
}
