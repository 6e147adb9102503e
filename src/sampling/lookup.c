/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * lookup.c
 *	  Counts the rows of the searched relation that match each row of a sample.
 *
 * The sample's keys are sorted first, and each different key is looked up once, however many rows
 * have it.  A small table is read as a whole, and each of its rows is searched among the sorted
 * keys.  In a larger table, an index finds the rows of a key, and columns of the key that the index
 * lacks are compared.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "access/transam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/pg_am_d.h"
#include "commands/defrem.h"
#include "executor/instrument.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/snapmgr.h"

#include "pg/compat.h"
#include "sampling/lookup.h"

/*
 * A table with more rows than this, or with more blocks than a sample has, is searched by an index
 * if it has one.  To read it would take longer than the half of a millisecond that a search takes.
 * Without an index, a table of up to five times this size is read.
 */
#define READ_MOST_ROWS		4000

/* An index search looks at no more rows of a key, as each row may be on a block of its own. */
#define MOST_ROWS_OF_KEY	32

/* A key of the sample.  A row with a NULL in its key is left out. */
typedef struct Key
{
	Datum	   *values;			/* The key's value in each of the pair's columns. */
	int			row;			/* The number of the key's row in the sample. */
	uint32		nmatches;
} Key;

/* The state of a lookup. */
typedef struct Search
{
	const SamplePair *pair;
	const SampleLookup *lookup;
	SampleReader reader;		/* The reader of the searched table. */

	/* For each column, compares a key of the sample with a searched row's key. */
	FmgrInfo	compare[INDEX_MAX_KEYS];

	/* For each column, compares two keys of the sample. */
	FmgrInfo	compare_keys[INDEX_MAX_KEYS];
	Datum		values[INDEX_MAX_KEYS]; /* The key of the row in the reader's slot. */
	Key		   *keys;			/* The sample's keys, in ascending order. */
	int			nkeys;
} Search;

/* ---- choosing how to look up ---- */

/*
 * Returns the strategy number of equality in this kind of index, or InvalidStrategy if it is not a
 * kind that is known to find all rows.
 */
static StrategyNumber
equality_of(const IndexOptInfo *index)
{
	if (index->relam == BTREE_AM_OID)
		return BTEqualStrategyNumber;
	return index->relam == HASH_AM_OID || index->relam == get_am_oid("maplet", true)
			   ? HTEqualStrategyNumber
			   : InvalidStrategy;
}

/*
 * Returns which of the pair's columns this column of the index can be searched by, or -1 if none.
 */
static int
find_column(const IndexOptInfo *index, int number, const SamplePair *pair)
{
	int			i;

	for (i = 0; i < pair->ncolumns; i++)
		/*
		 * An operator family that a user has made may call the user's functions, so an index with
		 * such a family is not used; maplet indexes are, whose families belong to this extension.
		 */
		if (index->indexkeys[number] == pair->columns[i].searched->varattno &&
			(index->opfamily[number] < FirstNormalObjectId ||
			 index->relam >= FirstNormalObjectId) &&
			index->indexcollations[number] == pair->columns[i].collation &&
			get_op_opfamily_strategy(pair->columns[i].search_operator, index->opfamily[number]) ==
				equality_of(index))
			return i;
	return -1;
}

/* Returns the number of distinct values of a column, or 1 if it is not known. */
static double
distinct_values(PlannerInfo *root, const Var *column)
{
	VariableStatData stats;
	bool		isdefault;
	double		n;

	examine_variable(root, (Node *) column, 0, &stats);
	n = get_variable_numdistinct(&stats, &isdefault);
	ReleaseVariableStats(stats);
	return isdefault ? 1 : Max(n, 1);
}

/*
 * Takes an index for the lookup if its columns have more distinct keys than those of the best index
 * so far.
 */
static void
try_index(PlannerInfo *root, const SamplePair *pair, const IndexOptInfo *index,
		  SampleLookup *best)
{
	SampleLookup other = {.index = index, .keys = 1};
	int			n;

	if (index->hypothetical || index->indpred != NIL ||
		equality_of(index) == InvalidStrategy || ReindexIsProcessingIndex(index->indexoid))
		return;
	for (n = 0; n < index->nkeycolumns; n++)
	{
		other.columns[n] = find_column(index, n, pair);
		if (other.columns[n] < 0)
			break;
		other.keys *= distinct_values(root, pair->columns[other.columns[n]].searched);
	}
	/* A maplet of several columns must be searched by all of them. */
	if (n == 0 || (n < index->nkeycolumns && !index->amoptionalkey) || other.keys <= best->keys)
		return;
	other.nkeys = n;
	/*
	 * Hash and maplet indexes report no height of a tree; looking up a key in them accesses two
	 * blocks most often.
	 */
	other.blocks_of_row = Max(index->tree_height + 1, 2) +
		Min(Max(pair->searched->tuples / other.keys, 1), MOST_ROWS_OF_KEY);
	*best = other;
}

const char *
bloomfam_sample_lookup_init(PlannerInfo *root, const SamplePair *pair, SampleLookup *lookup)
{
	const RelOptInfo *rel = pair->searched;
	double		size = Max(rel->tuples / READ_MOST_ROWS, (double) rel->pages / SAMPLE_MOST_ROWS);
	ListCell   *lc;

	*lookup = (SampleLookup) {.blocks_once = rel->pages};
	if (size <= 1)
		return NULL;
	foreach(lc, rel->indexlist)
		try_index(root, pair, lfirst(lc), lookup);
	return lookup->index == NULL && size > 5
			   ? "the searched table is not small, and has no index on the key"
			   : NULL;
}

/* ---- the sample's keys ---- */

/* Compares a key of the sample with other values by the given functions, column by column. */
static int
compare_values(Search *search, FmgrInfo *functions, const Key *key, const Datum *values)
{
	int			order = 0;
	int			i;

	for (i = 0; i < search->pair->ncolumns && order == 0; i++)
		order =
			DatumGetInt32(FunctionCall2Coll(&functions[i], search->pair->columns[i].collation,
											key->values[i], values[i]));
	return order;
}

static int
compare_keys(const void *a, const void *b, void *arg)
{
	Search	   *search = arg;

	return compare_values(search, search->compare_keys, a, ((const Key *) b)->values);
}

/*
 * Gets the key of a row of the large relation (is_large) or the searched one.  Returns false if the
 * key has a NULL, or a value that is too long to be read.
 */
static bool
get_key(Search *search, TupleTableSlot *slot, bool is_large, Datum *values)
{
	int			i;

	for (i = 0; i < search->pair->ncolumns; i++)
	{
		const SampleColumn *column = &search->pair->columns[i];
		AttrNumber	number = (is_large ? column->large : column->searched)->varattno;
		bool		isnull;

		values[i] = slot_getattr(slot, number, &isnull);
		if (isnull || !bloomfam_sample_is_short(
						  &search->reader,
						  TupleDescAttr(slot->tts_tupleDescriptor, number - 1)->attlen, values[i]))
			return false;
	}
	return true;
}

/* Takes the keys of the sampled rows, and sorts them. */
static void
take_keys(Search *search, const SampleRows *sample)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(sample->desc, &TTSOpsHeapTuple);
	Datum	   *values = palloc(sample->nrows * search->pair->ncolumns * sizeof(Datum));
	int			row;

	search->keys = palloc(sample->nrows * sizeof(Key));
	for (row = 0; row < sample->nrows; row++)
	{
		Key		   *key = &search->keys[search->nkeys];

		*key = (Key) {&values[row * search->pair->ncolumns], row, 0};
		ExecStoreHeapTuple(sample->rows[row].tuple, slot, false);
		search->nkeys += get_key(search, slot, true, key->values);
	}
	ExecDropSingleTupleTableSlot(slot);
	qsort_arg(search->keys, search->nkeys, sizeof(Key), compare_keys, search);
}

/* ---- reading the whole table ---- */

/*
 * Counts the row in the reader's slot as a match of the first of the sample's keys that equal its
 * own.
 */
static void
count_row(Search *search)
{
	int			low = 0;
	int			high = search->nkeys;

	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (compare_values(search, search->compare, &search->keys[middle], search->values) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < search->nkeys &&
		compare_values(search, search->compare, &search->keys[low], search->values) == 0)
		search->keys[low].nmatches++;
}

static void
read_table(Search *search, Relation relation)
{
	/*
	 * The scan does not start where other scans of the table are (synchronize_seqscans), so that
	 * the rows always come in the same order.
	 */
	TableScanDesc scan =
		table_beginscan_strat(relation, GetActiveSnapshot(), 0, NULL, true, false);

	bloomfam_sample_spend(search->reader.budget, RelationGetNumberOfBlocks(relation), 0);
	while (bloomfam_sample_may_go_on(&search->reader) &&
		   table_scan_getnextslot(scan, ForwardScanDirection, search->reader.slot))
		if (bloomfam_sample_meets_conditions(&search->reader) &&
			get_key(search, search->reader.slot, false, search->values))
			count_row(search);
	table_endscan(scan);
}

/* ---- searching an index ---- */

static int64
all_accesses(void)
{
	return pgBufferUsage.shared_blks_hit + pgBufferUsage.shared_blks_read +
		   pgBufferUsage.local_blks_hit + pgBufferUsage.local_blks_read;
}

/*
 * Reads the next row of an index search.  Returns false if there is none, or if the reader may not
 * go on.
 */
static bool
next_row(SampleReader *reader, IndexScanDesc scan)
{
	bool		found = false;
	bool		is_end = false;

	while (!found && !is_end && bloomfam_sample_may_go_on(reader))
	{
		int64		before = all_accesses();

		is_end = !scan->xs_heap_continue && index_getnext_tid(scan, ForwardScanDirection) == NULL;
		if (!is_end)
			found = index_fetch_heap(scan, reader->slot);
		/*
		 * The index must not mark entries of dead rows as dead, or the next planning of the query
		 * would access fewer blocks, and could choose another plan.
		 */
		scan->kill_prior_tuple = false;
		bloomfam_sample_spend(reader->budget, all_accesses() - before, 0);
	}
	return found;
}

/*
 * Counts the rows of the searched table that have a key.  Returns true if it stopped before looking
 * at all of them, as only MOST_ROWS_OF_KEY are looked at.
 */
static bool
look_up(Search *search, IndexScanDesc scan, ScanKey scan_keys, Key *key)
{
	SampleReader *reader = &search->reader;
	int			nrows = 0;
	int			i;

	for (i = 0; i < search->lookup->nkeys; i++)
		scan_keys[i].sk_argument = key->values[search->lookup->columns[i]];
	index_rescan(scan, scan_keys, search->lookup->nkeys, NULL, 0);
	key->nmatches = 0;
	for (; nrows < MOST_ROWS_OF_KEY && next_row(reader, scan); nrows++)
		/* Compare the whole key, as the index may be lossy, or lack columns of the key. */
		key->nmatches += get_key(search, reader->slot, false, search->values) &&
			compare_values(search, search->compare, key, search->values) == 0 &&
			bloomfam_sample_meets_conditions(reader);
	return nrows == MOST_ROWS_OF_KEY;
}

/*
 * Looks up each key in the index.  Sets *are_more if a key may have more matches than were counted.
 */
static void
search_index(Search *search, Relation relation, bool *are_more)
{
	const SampleLookup *lookup = search->lookup;
	SampleReader *reader = &search->reader;
	int			spent = reader->budget->spent;
	ScanKeyData scan_keys[INDEX_MAX_KEYS];
	/* The planner has locked the index when it read its properties. */
	Relation	index = index_open(lookup->index->indexoid, NoLock);
	IndexScanDesc scan =
		bloomfam_index_beginscan(relation, index, GetActiveSnapshot(), lookup->nkeys);
	int			i;

	for (i = 0; i < lookup->nkeys; i++)
	{
		const SampleColumn *column = &search->pair->columns[lookup->columns[i]];

		ScanKeyEntryInitialize(&scan_keys[i], 0, i + 1, equality_of(lookup->index),
							   column->large_type, column->collation,
							   get_opcode(column->search_operator), (Datum) 0);
	}
	/*
	 * A session's first index search also reads system catalogs, whose blocks must not be charged
	 * to the budget.  So the first key is looked up twice, and only the second time is charged.
	 */
	if (search->nkeys > 0)
		look_up(search, scan, scan_keys, &search->keys[0]);
	if (bloomfam_sample_may_go_on(reader))
		reader->budget->spent = spent;
	for (i = 0; i < search->nkeys && reader->reason == NULL; i++)
		/* Rows with equal keys follow each other, and only the first of them is looked up. */
		if ((i == 0 || compare_keys(&search->keys[i - 1], &search->keys[i], search) != 0) &&
			look_up(search, scan, scan_keys, &search->keys[i]))
		{
			*are_more = true;
			if (search->keys[i].nmatches == 0)
				reader->reason = "a key has many rows, and none of the first ones matches";
		}
	index_endscan(scan);
	index_close(index, NoLock);
}

/* ---- looking up, with or without an index ---- */

const char *
bloomfam_sample_lookup(PlannerInfo *root, const SamplePair *pair, const SampleLookup *lookup,
					   const SampleRows *sample, SampleBudget *budget, SampleMatches *matches)
{
	Relation	relation =
		table_open(planner_rt_fetch(pair->searched->relid, root)->relid, NoLock);
	Search		search = {.pair = pair, .lookup = lookup};
	int			before = budget->spent;
	int			first = 0;
	int			i;

	for (i = 0; i < pair->ncolumns; i++)
	{
		const SampleColumn *column = &pair->columns[i];

		fmgr_info(get_opfamily_proc(column->family, column->large_type, column->searched_type,
									BTORDER_PROC),
				  &search.compare[i]);
		fmgr_info(get_opfamily_proc(column->family, column->large_type, column->large_type,
									BTORDER_PROC),
				  &search.compare_keys[i]);
	}
	bloomfam_sample_reader_begin(&search.reader, table_slot_create(relation, NULL),
								 &pair->conditions, budget);
	take_keys(&search, sample);
	if (lookup->index == NULL)
		read_table(&search, relation);
	else
		search_index(&search, relation, &matches->are_more);
	bloomfam_sample_reader_end(&search.reader);
	table_close(relation, NoLock);

	/* Rows with equal keys have the matches that were counted for the first of them. */
	for (i = 0; i < search.nkeys && search.reader.reason == NULL; i++)
	{
		if (compare_keys(&search.keys[first], &search.keys[i], &search) != 0)
			first = i;
		matches->of_row[search.keys[i].row] = search.keys[first].nmatches;
	}
	matches->nblocks = budget->spent - before;
	return search.reader.reason;
}
