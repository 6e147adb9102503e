/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * block_pruning.c
 *	  Finds by an index which blocks of a table can have rows that match a build side's keys.
 *
 * When the keys are known and the scan is about to read, an index is searched: a BRIN index for
 * ranges that the keys lie in, another index for one key after the other.  An index that must be
 * searched by all of its columns is searched for all combinations of their keys, some of which no
 * row of the build side may have.  An index may return more
 * blocks than those with matches, but never fewer: each row that the snapshot sees has an entry, or
 * its block is not summarized.  (Rows that PostgreSQL's own BRIN scans miss since version 16 are
 * added, see add_unsure_blocks().)
 *
 * Searching must not cost more than a small fraction of what reading the whole table would cost.
 * The cost is counted while the index is searched, in rows of the scan; when the budget is used up,
 * all blocks are read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/brin.h"
#include "access/genam.h"
#include "access/skey.h"
#include "access/visibilitymap.h"
#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "optimizer/optimizer.h"
#include "optimizer/plancat.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/float.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/spccache.h"

#include "join/base/column_stats.h"
#include "join/base/gucs.h"
#include "join/base/index.h"
#include "join/executor/block_pruning.h"
#include "pg/compat.h"

/* The fraction of a scan's cost that must be saved by reading only the blocks that can match. */
#define LEAST_SAVING		0.05

/*
 * In a parallel scan, one process's part of the table is taken to be the table's rows divided by
 * this.  Each process searches the index itself.
 */
#define PARALLEL_FRACTION		3.0

/* The largest number of combinations of keys that an index of several columns is searched for. */
#define MOST_COMBINATIONS		65536

/* The state of one search for blocks. */
typedef struct Search
{
	JoinBlockPruning *blocks;
	Relation	table;
	Snapshot	snapshot;
	BlockNumber nblocks;

	/* The number of rows expected in the table, or in this process's part of it. */
	double		rows;

	/*
	 * What remains of the budget for searching indexes, in rows that the scan reads in the same
	 * time.
	 */
	double		budget;
	const JoinKeys *keys;
	JoinIndexed column;

	/*
	 * The blocks found for one column of the key, as a bitmap of the form that
	 * JoinBlockPruning.words has.
	 */
	uint64	   *words;
	uint64		nset;
} Search;

void
bloomfam_join_block_pruning_forget(JoinBlockPruning *blocks)
{
	if (blocks->words != NULL)
		pfree(blocks->words);
	blocks->reason = JOIN_BLOCKS_NOT_YET;
	blocks->words = NULL;
}

/* ---- the blocks that an index search has found ---- */

static inline Size
size_of_words(const JoinBlockPruning *blocks)
{
	return (blocks->nbits / 64 + 1) * sizeof(uint64);
}

static void
add_block(void *arg, BlockNumber block)
{
	Search	   *search = arg;
	uint64		bit = block >> search->blocks->shift;
	uint64		mask = UINT64CONST(1) << (bit % 64);

	if (bit >= search->blocks->nbits)
		return;
	search->nset += (search->words[bit / 64] & mask) == 0;
	search->words[bit / 64] |= mask;
}

/* Subtracts from the search's budget.  Returns false if the budget is used up. */
static inline bool
spend(Search *search, double rows)
{
	search->budget -= rows;
	return search->budget >= 0;
}

/*
 * Tells whether reading only the blocks in search->words is cheaper, by at least LEAST_SAVING and
 * by the planner's cost settings, than reading all blocks.
 */
static bool
pays(const Search *search)
{
	const JoinBlockPruning *blocks = search->blocks;
	double		per_bit = (double) search->nblocks / blocks->nbits;
	double		cpu = search->rows / search->nblocks * cpu_tuple_cost;
	double		random;
	double		sequential;
	uint64		runs = 0;
	uint64		before = 0;
	uint64		i;
	double		read;

	if (bloomfam_join_filter == JOIN_FILTER_FORCE)
		return true;
	get_tablespace_page_costs(search->table->rd_rel->reltablespace, &random, &sequential);
	for (i = 0; i <= blocks->nbits / 64; i++)
	{
		/*
		 * A run of adjacent blocks, which costs one random access, begins at each bit that is set
		 * while the bit before it is not.
		 */
		runs += pg_popcount64(search->words[i] & ~(search->words[i] << 1 | before));
		before = search->words[i] >> 63;
	}
	read = search->nset * per_bit * (sequential + cpu) + runs * (random - sequential);
	return read < (1 - LEAST_SAVING) * search->nblocks * (sequential + cpu);
}

/* ---- searching an index ---- */

static void
set_key(ScanKey key, const JoinIndexUse *use, const JoinIndexOperator *operator, Oid type,
		const JoinKeys *keys, int64 value)
{
	ScanKeyEntryInitialize(key, 0, use->column, operator->strategy, type, use->collation,
						   operator->function, bloomfam_join_keys_datum(keys, value));
}

/* How one column of an index is searched for keys. */
typedef struct SearchedColumn
{
	JoinIndexUse use;
	Oid			type;
	const JoinKeys *keys;
} SearchedColumn;

/*
 * Searches an index for each combination of the keys of n columns.  "rows_per_key" is the number of
 * rows that are expected for one.
 */
static JoinReason
search_by_key(Search *search, Relation index, const SearchedColumn *columns, int n,
			  double rows_per_key)
{
	ScanKeyData keys[INDEX_MAX_KEYS];
	double		combinations = 1;
	bool		within = true;
	IndexScanDesc scan;
	uint64		i;
	int			j;

	for (j = 0; j < n; j++)
	{
		if (columns[j].keys->phase != JOIN_KEYS_LISTED)
			return JOIN_BLOCKS_COSTLY;
		combinations *= columns[j].keys->nvalues;
	}
	if (combinations * (JOIN_ROWS_PER_KEY + rows_per_key * JOIN_ROWS_PER_TID) > search->budget ||
		combinations > MOST_COMBINATIONS)
		return JOIN_BLOCKS_COSTLY;
	scan = bloomfam_index_beginscan(search->table, index, search->snapshot, n);
	for (i = 0; i < (uint64) combinations && within; i++)
	{
		uint64		rest = i;
		ItemPointer tid;

		CHECK_FOR_INTERRUPTS();
		for (j = 0; j < n; j++)
		{
			const JoinKeys *values = columns[j].keys;

			set_key(&keys[j], &columns[j].use, &columns[j].use.equal, columns[j].type, values,
					values->values[rest % values->nvalues]);
			rest /= values->nvalues;
		}
		index_rescan(scan, keys, n, NULL, 0);
		within = spend(search, JOIN_ROWS_PER_KEY);
		while (within && (tid = index_getnext_tid(scan, ForwardScanDirection)) != NULL)
		{
			add_block(search, ItemPointerGetBlockNumber(tid));
			within = spend(search, JOIN_ROWS_PER_TID);
		}
	}
	index_endscan(scan);
	return within ? JOIN_NO_REASON : JOIN_BLOCKS_COSTLY;
}

/*
 * Adds the blocks that may have row versions which the BRIN summary of their page range lacks.  On
 * an all-visible block there is one version of each row, which was there when the range was
 * summarized or has been added to the summary since.
 */
static void
add_unsure_blocks(Search *search)
{
	Buffer		map = InvalidBuffer;
	BlockNumber block;

	for (block = 0; block < search->nblocks; block++)
	{
		uint64		bit = block >> search->blocks->shift;

		if ((search->words[bit / 64] >> (bit % 64) & 1) == 0 &&
			!VM_ALL_VISIBLE(search->table, block, &map))
			add_block(search, block);
		if (block % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	if (BufferIsValid(map))
		ReleaseBuffer(map);
}

static JoinReason
search_by_range(Search *search, Relation index, const JoinIndexUse *use)
{
	JoinKeysRange ranges[JOIN_INDEX_MOST_RANGES];
	BrinStatsData stats;
	IndexScanDesc scan;
	double		cost;
	int			most;
	int			n;
	int			i;

	brinGetStats(index, &stats);
	cost = (search->nblocks / stats.pagesPerRange + 1) * JOIN_ROWS_PER_SUMMARY;
	most = (int) Min(search->budget / cost, JOIN_INDEX_MOST_RANGES);
	if (most < 1)
		return JOIN_BLOCKS_COSTLY;
	n = bloomfam_join_keys_ranges(search->keys, ranges, most);
	scan = bloomfam_index_beginscan_bitmap(index, search->snapshot, 2);
	for (i = 0; i < n; i++)
	{
		TIDBitmap  *bitmap = tbm_create(work_mem * INT64CONST(1024), NULL);
		ScanKeyData keys[2];
		uint64		before = search->nset;

		CHECK_FOR_INTERRUPTS();
		set_key(&keys[0], use, &use->not_less, search->column.type, search->keys,
				ranges[i].smallest);
		set_key(&keys[1], use, &use->not_greater, search->column.type, search->keys,
				ranges[i].largest);
		index_rescan(scan, keys, 2, NULL, 0);
		index_getbitmap(scan, bitmap);
		bloomfam_tbm_for_each_block(bitmap, add_block, search);
		tbm_free(bitmap);
		spend(search, cost + (search->nset - before) * JOIN_ROWS_PER_BLOCK);
		if (!pays(search))
			break;
	}
	index_endscan(scan);
	if (BLOOMFAM_BRIN_LACKS_OLD_VALUES && i == n)
		add_unsure_blocks(search);
	return i == n ? JOIN_NO_REASON : JOIN_BLOCKS_MANY;
}

/* Begins the search of an index, by which no block is found yet. */
static void
begin_index(Search *search, Oid index)
{
	memset(search->words, 0, size_of_words(search->blocks));
	search->nset = 0;
	spend(search, JOIN_ROWS_PER_INDEX);
	search->blocks->index = index;
}

/*
 * Searches one index, if it can be used now, and sets search->words to the blocks found.  Returns
 * the reason why all blocks must be read; JOIN_NO_REASON if it is enough to read the blocks found.
 */
static JoinReason
search_index(Search *search, Oid oid)
{
	Relation	index = bloomfam_join_index_open(oid, search->snapshot);
	JoinReason	reason = JOIN_BLOCKS_NO_INDEX;
	JoinIndexUse use;

	if (index == NULL)
		return JOIN_BLOCKS_NO_INDEX;
	Assert(CheckRelationLockedByMe(index, AccessShareLock, true));
	use = bloomfam_join_index_use(index, &search->column);
	if (use.search != JOIN_INDEX_NOT)
	{
		begin_index(search, oid);
		if (use.search == JOIN_INDEX_BY_KEY)
		{
			SearchedColumn column = {use, search->column.type, search->keys};

			reason = search_by_key(
				search, index, &column, 1,
				bloomfam_join_column_rows_per_value(RelationGetRelid(search->table),
													search->column.attribute, search->rows));
		}
		else
			reason = search_by_range(search, index, &use);
	}
	index_close(index, AccessShareLock);
	return reason == JOIN_NO_REASON && !pays(search) ? JOIN_BLOCKS_MANY : reason;
}

/* ---- searching the indexes of all key columns ---- */

/*
 * Begins a search for blocks. begin_column() then makes it a search for one column of the filter's
 * key.
 */
static Search
begin_search(JoinBlockPruning *blocks, BlockNumber nblocks)
{
	Search		search = {.blocks = blocks, .table = blocks->scan->ss_currentRelation,
		.snapshot = blocks->scan->ps.state->es_snapshot, .nblocks = nblocks};
	BlockNumber pages;
	double		visible;

	estimate_rel_size(search.table, NULL, &pages, &search.rows, &visible);
	return search;
}

/* Describes column i of the filter's key, whose keys have the given type. */
static JoinIndexed
describe_column(const Search *search, int i, Oid type)
{
	const JoinBlockPruning *blocks = search->blocks;

	return (JoinIndexed) {
		.attribute = blocks->attributes[i], .operator = blocks->info->columns[i].operator,
		.type = type, .guarded = blocks->scan->ps.plan->qual != NIL
	};
}

/*
 * Sets the search's budget to a fraction of the table's rows.  Returns false if that is too small
 * for searching an index at all.
 */
static bool
set_budget(Search *search, double fraction)
{
	search->budget = bloomfam_join_filter == JOIN_FILTER_FORCE ? get_float8_infinity()
															   : search->rows * fraction;
	return bloomfam_join_index_is_enough(search->budget);
}

/*
 * Prepares the search for keys of the given type in column i of the filter's key.  Returns false if
 * its budget is too small for searching an index at all.
 */
static bool
begin_column(Search *search, int i, Oid type)
{
	double		order = bloomfam_join_column_order(RelationGetRelid(search->table),
												   search->blocks->attributes[i]);

	search->column = describe_column(search, i, type);
	return set_budget(search, bloomfam_join_index_budget(order));
}

/* Removes the blocks that the search has not found from those that can match. */
static void
keep_common_blocks(const Search *search)
{
	JoinBlockPruning *blocks = search->blocks;
	uint64		i;

	for (i = 0; i <= blocks->nbits / 64; i++)
		blocks->words[i] &= search->words[i];
}

/*
 * Searches the indexes of one column of the key until one gives a result.  Removes the blocks that
 * it does not have from blocks->words, so that this keeps the blocks that all columns have in
 * common.  The result of a search that was given up is discarded, as it has only some of the
 * blocks.  Returns JOIN_NO_REASON, or the reason why no index gave a result.
 */
static JoinReason
search_by_column(Search *search)
{
	JoinReason	reason = JOIN_BLOCKS_NO_INDEX;
	ListCell   *lc;

	foreach(lc, bloomfam_join_indexes(search->table, &search->column, search->snapshot))
	{
		reason = search_index(search, lfirst_oid(lc));
		if (reason != JOIN_NO_REASON)
			continue;
		keep_common_blocks(search);
		break;
	}
	return reason;
}

/*
 * Fills key[] with the columns of the filter's key for a search by all of them at once, and sets
 * the budget of it.  A column whose keys are not known gets attribute 0.  Returns false if the
 * budget is too small.
 */
static bool
begin_whole_key(Search *search, const JoinKeys *keys, JoinIndexed *key)
{
	const JoinBlockPruning *blocks = search->blocks;
	int			i;

	for (i = 0; i < blocks->info->ncolumns; i++)
	{
		Oid			indexed = blocks->info->columns[i].indexed;

		key[i] = describe_column(search, i, keys != NULL ? keys[i].type : indexed);
		if (!OidIsValid(indexed) || (keys != NULL && keys[i].phase != JOIN_KEYS_LISTED))
			key[i].attribute = 0;
	}
	return set_budget(search, JOIN_INDEX_MOST_FRACTION);
}

/* Searches one index by several columns of the key at once, as search_index() does by one. */
static JoinReason
search_whole_index(Search *search, Oid oid, const JoinKeys *keys, const JoinIndexed *key)
{
	Relation	index = bloomfam_join_index_open(oid, search->snapshot);
	JoinReason	reason = JOIN_BLOCKS_NO_INDEX;
	JoinIndexUse uses[INDEX_MAX_KEYS];
	int			numbers[INDEX_MAX_KEYS];
	SearchedColumn columns[INDEX_MAX_KEYS];
	int			n;
	int			i;

	if (index == NULL)
		return JOIN_BLOCKS_NO_INDEX;
	n = bloomfam_join_index_use_whole(index, key, search->blocks->info->ncolumns, uses, numbers);
	for (i = 0; i < n; i++)
		columns[i] = (SearchedColumn) {uses[i], keys[numbers[i]].type, &keys[numbers[i]]};
	if (n > 0)
	{
		begin_index(search, oid);
		reason = search_by_key(search, index, columns, n, 1);
	}
	index_close(index, AccessShareLock);
	return reason == JOIN_NO_REASON && !pays(search) ? JOIN_BLOCKS_MANY : reason;
}

/*
 * Searches the indexes that must be searched by several columns of the key at once, until one gives
 * a result, like search_by_column().  Returns JOIN_NO_REASON, or the reason why none did.
 */
static JoinReason
search_by_whole_key(Search *search, const JoinKeys *keys)
{
	int			nkey = search->blocks->info->ncolumns;
	JoinIndexed *key = palloc(nkey * sizeof(JoinIndexed));
	JoinReason	reason = JOIN_BLOCKS_NO_INDEX;
	ListCell   *lc;

	if (nkey < 2 || !begin_whole_key(search, keys, key))
		return reason;
	foreach(lc, bloomfam_join_whole_indexes(search->table, key, nkey, search->snapshot, NULL))
	{
		reason = search_whole_index(search, lfirst_oid(lc), keys, key);
		if (reason != JOIN_NO_REASON)
			continue;
		keep_common_blocks(search);
		break;
	}
	return reason;
}

/*
 * Searches the indexes of all columns of the key.  Returns JOIN_NO_REASON if one column gave a
 * result, else a reason why none did.
 */
static JoinReason
search_by_columns(Search *search, const JoinKeys *keys)
{
	JoinBlockPruning *blocks = search->blocks;
	JoinReason	result = JOIN_SKIP_KEYS_UNKNOWN;
	Oid			searched = InvalidOid;
	JoinReason	reason;
	int			i;

	Assert(search->nblocks > 0);
	Assert(CheckRelationLockedByMe(search->table, AccessShareLock, true));
	blocks->shift = 0;
	while ((Size) (search->nblocks >> blocks->shift) > work_mem * (Size) 1024)
		blocks->shift++;
	blocks->nbits = ((search->nblocks - 1) >> blocks->shift) + 1;
	Assert(blocks->words == NULL);
	blocks->words = MemoryContextAlloc(blocks->scan->ps.state->es_query_cxt, size_of_words(blocks));
	memset(blocks->words, 0xff, size_of_words(blocks));
	search->words = palloc(size_of_words(blocks));
	for (i = 0; i < blocks->info->ncolumns; i++)
	{
		reason = JOIN_BLOCKS_COSTLY;
		if (!OidIsValid(blocks->info->columns[i].indexed) ||
			!bloomfam_join_keys_are_known(&keys[i]))
			continue;
		search->keys = &keys[i];
		if (begin_column(search, i, keys[i].type))
			reason = search_by_column(search);
		if (reason == JOIN_NO_REASON)
			searched = blocks->index;
		if (result != JOIN_NO_REASON)
			result = reason;
	}
	reason = search_by_whole_key(search, keys);
	if (reason == JOIN_NO_REASON)
		searched = blocks->index;
	if (reason == JOIN_NO_REASON ||
		(reason != JOIN_BLOCKS_NO_INDEX && result != JOIN_NO_REASON))
		result = reason;
	if (OidIsValid(searched))
		blocks->index = searched;
	return result;
}

void
bloomfam_join_block_pruning_search(JoinBlockPruning *blocks, BlockNumber nblocks, bool parallel)
{
	const JoinKeys *keys =
		blocks->reason == JOIN_BLOCKS_NOT_YET ? bloomfam_join_filter_keys(blocks->filter) : NULL;
	MemoryContext scratch;
	MemoryContext old;
	Search		search;

	if (keys == NULL)
		return;
	search = begin_search(blocks, nblocks);
	if (parallel)
		search.rows /= PARALLEL_FRACTION;
	blocks->reason = JOIN_BLOCKS_COSTLY;
	if (nblocks == 0 || !bloomfam_join_index_may_pay(search.rows))
		return;
	scratch = AllocSetContextCreate(CurrentMemoryContext, "bloomfam index", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(scratch);
	blocks->reason = search_by_columns(&search, keys);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);

	/*
	 * The index search for blocks is made only once: nobody searches again until the next rescan.
	 */
	Assert(blocks->reason != JOIN_BLOCKS_NOT_YET);
}

List *
bloomfam_join_block_pruning_indexes(JoinBlockPruning *blocks)
{
	Search		search = begin_search(blocks, 0);
	JoinIndexed *key = palloc(blocks->info->ncolumns * sizeof(JoinIndexed));
	List	   *all = NIL;
	int			i;

	for (i = 0; i < blocks->info->ncolumns; i++)
	{
		Oid			type = blocks->info->columns[i].indexed;

		if (OidIsValid(type) && begin_column(&search, i, type))
			all = list_concat_unique_oid(
				all, bloomfam_join_indexes(search.table, &search.column, search.snapshot));
	}
	if (begin_whole_key(&search, NULL, key))
		all = list_concat_unique_oid(
			all, bloomfam_join_whole_indexes(search.table, key, blocks->info->ncolumns,
											 search.snapshot, NULL));
	return all;
}
