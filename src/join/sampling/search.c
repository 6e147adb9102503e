/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * search.c
 *	  A table is searched for a sample of keys, under its conditions, while a query is planned.
 *
 * A small table is read once, and its keys are merged with the sample.  Of a larger one a btree
 * index is searched for each key.  From a bound on, further keys of the table are taken as long as
 * they lie on the same block: they are a sample of the range that the bound begins.
 *
 * Blocks are counted here, as the search needs them: the server's own counters would tell of
 * catalogs, too, which are read once in a session, and plans must not depend on that.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/genam.h"
#include "access/heapam.h"
#include "access/nbtree.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/pg_am_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/sortsupport.h"
#include "utils/typcache.h"

#include "join/sampling/search.h"
#include "pg/compat.h"

/* A range is judged by no more keys, and a key by no more rows. */
#define MOST_KEYS_OF_RANGE	8
#define MOST_ROWS_OF_KEY	32

/* With fewer keys nothing is said. */
#define FEWEST_KEYS			40

/* A row that is stored elsewhere in part counts as so many blocks more. */
#define BLOCKS_OF_LONG_ROW	8

/* Statistics have no keys of more bytes. */
#define WIDEST_KEY			1024

/* A search that is going on. */
typedef struct Search
{
	const JoinSearch *plan;
	JoinFound  *found;
	FmgrInfo	compare;		/* a key of the sample with one of the table */
	EState	   *estate;
	ExprState  *conditions;
	TupleTableSlot *slot;
	FmgrInfo	hash;			/* of the other column's values */
	Oid			hash_collation;
	Bitmapset  *long_columns;	/* that are evaluated and may be stored elsewhere */
} Search;

/* A key of the table, when all of it is read. */
typedef struct TableKey
{
	Datum		value;
	int			nrows;			/* that meet the conditions */
	JoinFoundKey of_row;		/* has one of those a value in the other column? */
	bool		common;			/* it is one of the sample's common keys */
} TableKey;

/* Does the row in the slot meet the conditions? */
static bool
row_matches(Search *search)
{
	ExprContext *context = GetPerTupleExprContext(search->estate);
	int			column = -1;

	while ((column = bms_next_member(search->long_columns, column)) >= 0)
	{
		bool		isnull;
		Datum		value = slot_getattr(search->slot, column, &isnull);

		if (!isnull && VARATT_IS_EXTERNAL(DatumGetPointer(value)))
			search->found->nblocks += BLOCKS_OF_LONG_ROW;
	}
	ResetExprContext(context);
	context->ecxt_scantuple = search->slot;
	return ExecQual(search->conditions, context);
}

/* Takes the value of the row in the slot, which matches, in the other column, if one is wanted. */
static void
take_value(Search *search, JoinFoundKey *key)
{
	bool		isnull;
	Datum		value;

	if (search->plan->value_column == 0)
		return;
	value = slot_getattr(search->slot, search->plan->value_column, &isnull);
	key->has_value = !isnull;
	if (!isnull)
		key->value =
			DatumGetUInt32(FunctionCall1Coll(&search->hash, search->hash_collation, value));
}

static int
compare(Search *search, Datum sampled, Datum of_table)
{
	return DatumGetInt32(FunctionCall2Coll(&search->compare, search->plan->comparison.collation,
										   sampled, of_table));
}

static bool
is_over_budget(const Search *search)
{
	return search->found->nblocks > search->plan->most_blocks;
}

/* ---- all of the table ---- */

static int
compare_table_keys(const void *a, const void *b, void *arg)
{
	return ApplySortComparator(((const TableKey *) a)->value, false,
							   ((const TableKey *) b)->value, false, arg);
}

/*
 * A copy of a key, which is not compressed nor stored elsewhere: it is compared many times.  False:
 * it is wider than any key of the sample.
 */
static bool
copy_key(Search *search, Form_pg_attribute attribute, Datum value, Datum *copy)
{
	if (attribute->attlen != -1)
		*copy = datumCopy(value, attribute->attbyval, attribute->attlen);
	else if (toast_raw_datum_size(value) > WIDEST_KEY)
		return false;
	else
	{
		if (VARATT_IS_EXTERNAL(DatumGetPointer(value)))
			search->found->nblocks += BLOCKS_OF_LONG_ROW;
		*copy = PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
	}
	return true;
}

/* The keys of a table, in their order, each once; sets their number. */
static TableKey *
read_table(Search *search, int *nkeys)
{
	const JoinSearch *plan = search->plan;
	Form_pg_attribute attribute =
		TupleDescAttr(RelationGetDescr(plan->relation), plan->column - 1);
	/* not synchronized with other scans: rows come in one order */
	TableScanDesc scan =
		table_beginscan_strat(plan->relation, GetActiveSnapshot(), 0, NULL, true, false);
	int			most = 1024;
	TableKey   *keys = palloc(most * sizeof(TableKey));
	SortSupportData sort;
	int			n = 0;
	int			kept = 0;
	int			i;

	while (!is_over_budget(search) &&
		   table_scan_getnextslot(scan, ForwardScanDirection, search->slot))
	{
		bool		isnull;
		Datum		value = slot_getattr(search->slot, plan->column, &isnull);

		CHECK_FOR_INTERRUPTS();
		if (isnull)
			continue;
		if (n == most)
		{
			most *= 2;
			keys = repalloc_huge(keys, most * sizeof(TableKey));
		}
		if (!copy_key(search, attribute, value, &keys[n].value))
			continue;
		keys[n].common = false;
		keys[n].of_row = (JoinFoundKey) {0};
		keys[n].nrows = row_matches(search);
		if (keys[n].nrows > 0)
			take_value(search, &keys[n].of_row);
		n++;
	}
	table_endscan(scan);

	memset(&sort, 0, sizeof(sort));
	sort.ssup_cxt = CurrentMemoryContext;
	sort.ssup_collation = plan->comparison.collation;
	PrepareSortSupportFromOrderingOp(
		get_opfamily_member(plan->comparison.family, plan->comparison.right,
							plan->comparison.right, BTLessStrategyNumber),
		&sort);
	qsort_arg(keys, n, sizeof(TableKey), compare_table_keys, &sort);
	for (i = 0; i < n; i++)
		if (kept > 0 && compare_table_keys(&keys[kept - 1], &keys[i], &sort) == 0)
		{
			keys[kept - 1].nrows += keys[i].nrows;
			if (!keys[kept - 1].of_row.has_value)
				keys[kept - 1].of_row = keys[i].of_row;
		}
		else
			keys[kept++] = keys[i];
	*nkeys = kept;
	return keys;
}

/* What is said of a key that the table has. */
static JoinFoundKey
found_in_table(const TableKey *key)
{
	JoinFoundKey found = key->of_row;

	found.exists = true;
	found.nrows = key->nrows;
	found.matches = key->nrows > 0;
	return found;
}

/* Finds the sample's common keys, and marks them. */
static void
find_common(Search *search, TableKey *keys, int nkeys)
{
	const JoinKeySample *sample = search->plan->sample;
	JoinFound  *found = search->found;
	int			i;

	found->ncommon = sample->ncommon;
	for (i = 0; i < sample->ncommon; i++)
	{
		int			low = 0;
		int			high = nkeys;

		while (low < high)
		{
			int			middle = (low + high) / 2;

			if (compare(search, sample->common[i], keys[middle].value) > 0)
				low = middle + 1;
			else
				high = middle;
		}
		if (low < nkeys && compare(search, sample->common[i], keys[low].value) == 0)
		{
			keys[low].common = true;
			found->common[i] = found_in_table(&keys[low]);
		}
		found->common[i].weight = sample->frequencies[i];
	}
}

/* The outermost bounds stand for half as many keys as others do. */
static double
weight_of_bound(const JoinKeySample *sample, int bound)
{
	return bound == 0 || bound == sample->nbounds - 1 ? 0.5 : 1;
}

/* Finds the bounds, and what is between them. */
static void
merge_bounds(Search *search, const TableKey *keys, int nkeys)
{
	const JoinKeySample *sample = search->plan->sample;
	JoinFound  *found = search->found;
	int			k = 0;
	int			i;

	for (i = 0; i < sample->nbounds; i++)
	{
		JoinFoundKey *key = &found->keys[i];

		while (k < nkeys && compare(search, sample->bounds[i], keys[k].value) > 0)
			k++;
		if (k < nkeys && compare(search, sample->bounds[i], keys[k].value) == 0)
			*key = found_in_table(&keys[k]);
		key->weight = weight_of_bound(sample, i);
	}
	found->nkeys = sample->nbounds;
	for (i = 0, k = 0; i < sample->nbounds - 1; i++)
	{
		JoinFoundRange *range = &found->ranges[i];
		int			nmatching = 0;

		while (k < nkeys && compare(search, sample->bounds[i], keys[k].value) > 0)
			k++;
		for (; k < nkeys && compare(search, sample->bounds[i + 1], keys[k].value) > 0; k++)
			if (!keys[k].common)
			{
				range->nkeys++;
				nmatching += keys[k].nrows > 0;
			}
		range->weight = 1;
		if (range->nkeys > 0)
			range->matching = (double) nmatching / range->nkeys *
							  (found->keys[i].exists + found->keys[i + 1].exists) / 2;
		else
			range->matching = found->keys[i].matches;
	}
	found->nranges = sample->nbounds - 1;
}

static const char *
search_by_reading(Search *search)
{
	TableKey   *keys;
	int			nkeys;

	search->found->nblocks = RelationGetNumberOfBlocks(search->plan->relation);
	if (is_over_budget(search) || search->found->nblocks > JOIN_READ_MOST_BLOCKS)
		return "it would access too many blocks";
	keys = read_table(search, &nkeys);
	if (is_over_budget(search))
		return "it would access too many blocks";
	find_common(search, keys, nkeys);
	if (search->plan->sample->nbounds > 0)
		merge_bounds(search, keys, nkeys);
	return NULL;
}

/* ---- by an index ---- */

/* A scan of the index, from one key of the sample on. */
typedef struct IndexSearch
{
	IndexScanDesc scan;
	ScanDirection direction;	/* to greater keys */
	FmgrInfo	equal;
	FmgrInfo	not_less;
	int			height;
	int			nentries;		/* since the last key */
	BlockNumber block;			/* of the last row; none yet: invalid */
} IndexSearch;

/* Begins with rows whose key is this one, or with all from it on. */
static void
begin_key(Search *search, IndexSearch *index, Datum key, bool from_it_on)
{
	ScanKeyData scan_key;

	ScanKeyEntryInitializeWithInfo(
		&scan_key, 0, 1, from_it_on ? BTGreaterEqualStrategyNumber : BTEqualStrategyNumber,
		search->plan->comparison.left, search->plan->comparison.collation,
		from_it_on ? &index->not_less : &index->equal, key);
	index_rescan(index->scan, &scan_key, 1, NULL, 0);
	index->nentries = 0;
	index->block = InvalidBlockNumber;
	search->found->nblocks += index->height + 1;
}

/*
 * The next row; false: there is none, or not on the same block, if it is to be there, or the search
 * is over its budget.
 */
static bool
next_row(Search *search, IndexSearch *index, bool same_block)
{
	for (;;)
	{
		if (!index->scan->xs_heap_continue)
		{
			ItemPointer tid = index_getnext_tid(index->scan, index->direction);

			CHECK_FOR_INTERRUPTS();
			if (tid == NULL)
				return false;
			/* another leaf of the index, now and then */
			if (++index->nentries % 64 == 0)
				search->found->nblocks++;
			if (ItemPointerGetBlockNumber(tid) != index->block)
			{
				if (same_block && index->block != InvalidBlockNumber)
					return false;
				index->block = ItemPointerGetBlockNumber(tid);
				search->found->nblocks++;
			}
		}
		if (index_fetch_heap(index->scan, search->slot))
			return true;
		if (is_over_budget(search))
			return false;
	}
}

/* Looks a key up. */
static void
search_key(Search *search, IndexSearch *index, Datum key, JoinFoundKey *found)
{
	int			most = search->plan->unique ? 1 : JOIN_MOST_MATCHES;
	int			nrows = 0;

	begin_key(search, index, key, false);
	while (found->nrows < most && nrows++ < MOST_ROWS_OF_KEY && !is_over_budget(search) &&
		   next_row(search, index, false))
	{
		found->exists = true;
		if (!row_matches(search))
			continue;
		if (found->nrows++ == 0)
			take_value(search, found);
	}
	found->matches = found->nrows > 0;
}

/* Looks a bound up, and further keys of its range; end: where that ends, or NULL. */
static void
search_range(Search *search, IndexSearch *index, Datum bound, const Datum *end,
			 JoinFoundKey *found, JoinFoundRange *range)
{
	int			nmatching = 0;
	bool		isnull;

	if (!search->plan->unique)
	{
		search_key(search, index, bound, found);
		range->nkeys = 1;
		range->matching = found->matches;
		return;
	}
	begin_key(search, index, bound, true);
	while (range->nkeys < MOST_KEYS_OF_RANGE && next_row(search, index, range->nkeys > 0))
	{
		Datum		value = slot_getattr(search->slot, search->plan->column, &isnull);
		bool		matches;

		if (range->nkeys == 0 && compare(search, bound, value) != 0)
			return;				/* no such key */
		if (range->nkeys > 0 && end != NULL && compare(search, *end, value) <= 0)
			break;
		matches = row_matches(search);
		if (range->nkeys++ == 0)
		{
			found->exists = true;
			found->matches = matches;
			found->nrows = matches;
			if (matches)
				take_value(search, found);
		}
		nmatching += matches;
	}
	if (range->nkeys > 0)
		range->matching = (double) nmatching / range->nkeys;
}

/* Can this index of the planner's be searched by the key? */
static bool
is_suitable(const IndexOptInfo *index, const JoinSearch *search)
{
	return index->relam == BTREE_AM_OID && !index->hypothetical && index->indpred == NIL &&
		   index->nkeycolumns >= 1 && index->indexkeys[0] == search->column &&
		   index->opfamily[0] == search->comparison.family && index->tree_height >= 0 &&
		   index->indexcollations[0] == search->comparison.collation &&
		   !ReindexIsProcessingIndex(index->indexoid);
}

/* The smallest index that can; NULL if there is none. */
static const IndexOptInfo *
find_index(const JoinSearch *search)
{
	const IndexOptInfo *best = NULL;
	ListCell   *lc;

	foreach(lc, search->rel->indexlist)
	{
		const IndexOptInfo *index = lfirst(lc);

		if (is_suitable(index, search) && (best == NULL || index->pages < best->pages))
			best = index;
	}
	return best;
}

/*
 * How many keys of the sample are searched: as many as the budget is enough for, in halves of
 * common ones and bounds if not for all.  Every stride-th bound is.
 */
static bool
choose_keys(const JoinSearch *search, int height, int *ncommon, int *stride)
{
	const JoinKeySample *sample = search->sample;
	int			most = search->most_blocks / (height + 2 + (search->unique ? 0 : 2));
	int			nbounds;

	if (most < Min(FEWEST_KEYS, sample->ncommon + sample->nbounds))
		return false;
	nbounds = Min(sample->nbounds, Max(most / 2, most - sample->ncommon));
	*stride = nbounds > 0 ? (sample->nbounds + nbounds - 1) / nbounds : 1;
	*ncommon = Min(sample->ncommon, most - nbounds);
	return true;
}

static void
search_keys(Search *search, IndexSearch *index, int ncommon, int stride)
{
	const JoinKeySample *sample = search->plan->sample;
	JoinFound  *found = search->found;
	int			last = sample->nbounds - 1;
	int			i;

	for (i = 0; i < sample->nbounds && !is_over_budget(search); i += stride)
	{
		JoinFoundKey *key = &found->keys[found->nkeys];
		JoinFoundRange *range = &found->ranges[found->nkeys++];

		search_range(search, index, sample->bounds[i], i < last ? &sample->bounds[i + 1] : NULL,
					 key, range);
		key->weight = range->weight = weight_of_bound(sample, i);
	}
	found->nranges = found->nkeys;
	for (i = 0; i < ncommon && !is_over_budget(search); i++)
	{
		search_key(search, index, sample->common[i], &found->common[i]);
		found->common[i].weight = sample->frequencies[i];
		found->ncommon++;
	}
}

static const char *
search_by_index(Search *search, const IndexOptInfo *info)
{
	const JoinKeyComparison *comparison = &search->plan->comparison;
	IndexSearch index = {
		.height = info->tree_height,
		.direction = info->reverse_sort[0] ? BackwardScanDirection : ForwardScanDirection
	};
	Relation	relation;
	int			ncommon;
	int			stride;

	if (!choose_keys(search->plan, index.height, &ncommon, &stride))
		return "it would access too many blocks";
	fmgr_info(get_opcode(get_opfamily_member(comparison->family, comparison->right,
											 comparison->left, BTEqualStrategyNumber)),
			  &index.equal);
	fmgr_info(get_opcode(get_opfamily_member(comparison->family, comparison->right,
											 comparison->left, BTGreaterEqualStrategyNumber)),
			  &index.not_less);
	/* locked when the planner has read of it */
	relation = index_open(info->indexoid, NoLock);
	index.scan =
		bloomfam_index_beginscan(search->plan->relation, relation, GetActiveSnapshot(), 1);
	search->found->index = info->indexoid;
	search->found->nblocks = 1;	/* where the index begins */
	search_keys(search, &index, ncommon, stride);
	index_endscan(index.scan);
	index_close(relation, NoLock);
	return is_over_budget(search) ? "it would access too many blocks" : NULL;
}

/* ---- either ---- */

/* The columns that are evaluated and may be stored elsewhere. */
static Bitmapset *
find_long_columns(const JoinSearch *search, List *conditions)
{
	TupleDesc	desc = RelationGetDescr(search->relation);
	Bitmapset  *used = NULL;
	Bitmapset  *result = NULL;
	int			member = -1;

	pull_varattnos((Node *) conditions, search->rel->relid, &used);
	if (search->value_column != 0)
		used = bms_add_member(used, search->value_column - FirstLowInvalidHeapAttributeNumber);
	while ((member = bms_next_member(used, member)) >= 0)
	{
		int			column = member + FirstLowInvalidHeapAttributeNumber;

		Assert(column > 0);
		if (TupleDescAttr(desc, column - 1)->attlen == -1)
			result = bms_add_member(result, column);
	}
	return result;
}

const char *
bloomfam_join_search(const JoinSearch *plan, JoinFound *found)
{
	const JoinKeySample *sample = plan->sample;
	const JoinKeyComparison *comparison = &plan->comparison;
	const IndexOptInfo *index = find_index(plan);
	List	   *conditions = extract_actual_clauses(plan->conditions, false);
	Search		search = {.plan = plan, .found = found};
	const char *reason;

	memset(found, 0, sizeof(*found));
	found->common = palloc0((sample->ncommon + 1) * sizeof(JoinFoundKey));
	found->keys = palloc0((sample->nbounds + 1) * sizeof(JoinFoundKey));
	found->ranges = palloc0((sample->nbounds + 1) * sizeof(JoinFoundRange));
	if (plan->rel->pages > JOIN_READ_MOST_BLOCKS && index == NULL)
		return "there is no btree index";
	fmgr_info(get_opfamily_proc(comparison->family, comparison->left, comparison->right,
								BTORDER_PROC),
			  &search.compare);
	search.estate = CreateExecutorState();
	search.conditions = ExecPrepareQual(conditions, search.estate);
	search.long_columns = find_long_columns(plan, conditions);
	if (plan->value_column != 0)
	{
		Form_pg_attribute attribute =
			TupleDescAttr(RelationGetDescr(plan->relation), plan->value_column - 1);

		fmgr_info(lookup_type_cache(attribute->atttypid, TYPECACHE_HASH_PROC)->hash_proc,
				  &search.hash);
		search.hash_collation = attribute->attcollation;
	}
	search.slot = table_slot_create(plan->relation, NULL);
	if (index != NULL &&
		(plan->rel->pages > JOIN_READ_MOST_BLOCKS || plan->rel->tuples > JOIN_READ_FEW_ROWS))
		reason = search_by_index(&search, index);
	else
		reason = search_by_reading(&search);
	ExecDropSingleTupleTableSlot(search.slot);
	FreeExecutorState(search.estate);
	return reason;
}
