/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * search.c
 *	  A table is searched for a sample of keys, under its conditions, while a query is planned.
 *
 * A small table is read once, and its keys are merged with the sample.  Of a larger one a btree
 * index is searched for each key.  Beside a bound's row, on the same block, are keys of the range
 * that the bound begins, where rows lie in the order of their keys: they are a sample of it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "access/tableam.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/sortsupport.h"
#include "utils/typcache.h"

#include "join/sampling/reader.h"
#include "join/sampling/search.h"

/* A range is judged by no more keys; by more as long as so few matched that these may be rare. */
#define KEYS_OF_RANGE		4
#define MOST_KEYS_OF_RANGE	JOIN_MOST_BESIDE
#define FEW_MATCHING		8

/* A key is judged by no more rows. */
#define MOST_ROWS_OF_KEY	32

/* Of the blocks, as dead entries and rows cost some, too. */
#define FOR_KEYS			0.875

/* With fewer keys nothing is said. */
#define FEWEST_KEYS			40

/* If so few of the table's keys have rows that the sample is of, ranges tell nothing of these. */
#define FEWEST_OCCURRING	0.1

/* A search that is going on. */
typedef struct Search
{
	const JoinSearch *plan;
	JoinFound  *found;
	JoinReader	reader;
	FmgrInfo	compare;		/* a key of the sample with one of the table */
	FmgrInfo	equal;			/* a key of the table with one of the sample */
	FmgrInfo	hash;			/* of the other column's values */
	Oid			hash_collation;
	int			nmatching;		/* keys of ranges that did */
} Search;

/* A key of the table, when all of it is read. */
typedef struct TableKey
{
	Datum		value;
	int			nrows;			/* that meet the conditions */
	JoinFoundKey of_row;		/* has one of those a value in the other column? */
	bool		common;			/* it is one of the sample's common keys */
} TableKey;

/* Takes the value of the row in the slot, which matches, in the other column, if one is wanted. */
static void
take_value(Search *search, JoinFoundKey *key)
{
	bool		isnull;
	Datum		value;

	if (search->plan->value_column == 0)
		return;
	value = slot_getattr(search->reader.slot, search->plan->value_column, &isnull);
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
	return bloomfam_join_reader_is_over(&search->reader);
}

void
bloomfam_join_found_weigh(const JoinKeySample *sample, JoinFound *found)
{
	int			next = 0;
	int			i;

	for (i = 0; i < found->ncommon; i++)
	{
		JoinFoundKey *key = &found->common[i];
		int			last = i < found->ncommon - 1 ? key->number : sample->ncommon - 1;

		Assert(key->number >= next && key->number < sample->ncommon);
		for (key->weight = 0; next <= last; next++)
			key->weight += sample->frequencies[next];
	}
}

/*
 * Which fraction of so many keys of the table, between the bounds, can have rows that the sample is
 * of: these have no more keys than the column, less the common ones.
 */
static double
occurring(const JoinKeySample *sample, double nkeys)
{
	return nkeys > 0 ? Min(Max(sample->ndistinct - sample->ncommon, 0) / nkeys, 1) : 0;
}

/* ---- all of the table ---- */

static int
compare_table_keys(const void *a, const void *b, void *arg)
{
	return ApplySortComparator(((const TableKey *) a)->value, false,
							   ((const TableKey *) b)->value, false, arg);
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
		   table_scan_getnextslot(scan, ForwardScanDirection, search->reader.slot))
	{
		bool		isnull;
		Datum		value = slot_getattr(search->reader.slot, plan->column, &isnull);

		CHECK_FOR_INTERRUPTS();
		if (isnull)
			continue;
		if (n == most)
		{
			most *= 2;
			keys = repalloc_huge(keys, most * sizeof(TableKey));
		}
		if (!bloomfam_join_reader_copy_key(&search->reader, attribute, value, &keys[n].value))
			continue;
		keys[n].common = false;
		keys[n].of_row = (JoinFoundKey) {0};
		keys[n].nrows = bloomfam_join_reader_matches(&search->reader);
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
		found->common[i].number = i;
	}
	bloomfam_join_found_weigh(sample, found);
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
	double		nwithin = 0;
	int			k = 0;
	int			i;

	for (i = 0; i < sample->nbounds; i++)
	{
		JoinFoundKey *key = &found->keys[i];

		while (k < nkeys && compare(search, sample->bounds[i], keys[k].value) > 0)
			k++;
		if (k < nkeys && compare(search, sample->bounds[i], keys[k].value) == 0)
			*key = found_in_table(&keys[k]);
		key->number = i;
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
		nwithin += range->nkeys;
	}
	found->occurring = occurring(sample, nwithin);
	found->nranges = found->occurring >= FEWEST_OCCURRING ? sample->nbounds - 1 : 0;
}

static const char *
search_by_reading(Search *search)
{
	TableKey   *keys;
	int			nkeys;

	search->reader.nblocks = RelationGetNumberOfBlocks(search->plan->relation);
	if (is_over_budget(search) || search->reader.nblocks > JOIN_READ_MOST_BLOCKS)
		return bloomfam_join_over_budget;
	keys = read_table(search, &nkeys);
	if (is_over_budget(search))
		return bloomfam_join_over_budget;
	find_common(search, keys, nkeys);
	if (search->plan->sample->nbounds > 0)
		merge_bounds(search, keys, nkeys);
	return NULL;
}

/* ---- by an index ---- */

/* Begins with the rows whose key is this one. */
static void
seek_key(Search *search, Datum key)
{
	ScanKeyData scan_key;

	ScanKeyEntryInitializeWithInfo(&scan_key, 0, 1, BTEqualStrategyNumber,
								   search->plan->comparison.left,
								   search->plan->comparison.collation, &search->equal, key);
	bloomfam_join_reader_seek(&search->reader, &scan_key, 1);
}

/* Takes what the row in the slot says of its key. */
static void
take_row(Search *search, JoinFoundKey *found)
{
	found->exists = true;
	if (!bloomfam_join_reader_matches(&search->reader))
		return;
	if (found->nrows++ == 0)
		take_value(search, found);
	found->matches = true;
}

/* Looks a key up. */
static void
search_key(Search *search, Datum key, JoinFoundKey *found)
{
	int			most = search->plan->unique ? 1 : JOIN_MOST_MATCHES;
	int			nrows = 0;

	seek_key(search, key);
	while (found->nrows < most && nrows++ < MOST_ROWS_OF_KEY && !is_over_budget(search) &&
		   bloomfam_join_reader_next(&search->reader))
		take_row(search, found);
}

/* Is the key of the row in the slot between two bounds, or behind the last one? */
static bool
is_between(Search *search, Datum bound, const Datum *end)
{
	const JoinSearch *plan = search->plan;
	Form_pg_attribute attribute =
		TupleDescAttr(RelationGetDescr(plan->relation), plan->column - 1);
	bool		isnull;
	Datum		value = slot_getattr(search->reader.slot, plan->column, &isnull);

	if (isnull || !bloomfam_join_reader_is_short(&search->reader, attribute, value))
		return false;
	/* read once, though it is compared twice */
	if (attribute->attlen == -1)
		value = PointerGetDatum(PG_DETOAST_DATUM_PACKED(value));
	return compare(search, bound, value) < 0 &&
		   (end == NULL || compare(search, *end, value) > 0);
}

/* Of the rows beside this one, those of the range: after it, and before it.  Counts the matches. */
static int
search_beside(Search *search, OffsetNumber row, Datum bound, const Datum *end,
			  JoinFoundRange *range)
{
	/* by what was seen of other ranges, not of this one, whose fraction would be biased */
	int			most =
		search->nmatching < FEW_MATCHING ? MOST_KEYS_OF_RANGE : KEYS_OF_RANGE;
	int			nmatching = 0;
	int			step;

	for (step = 1; step >= -1; step -= 2)
	{
		int			n = bloomfam_join_reader_beside(&search->reader, row, step,
													most - range->nkeys);
		int			i;

		for (i = 0; i < n && !is_over_budget(search); i++)
		{
			bloomfam_join_reader_show(&search->reader, i);
			if (!is_between(search, bound, end))
				break;
			range->nkeys++;
			nmatching += bloomfam_join_reader_matches(&search->reader);
		}
	}
	return nmatching;
}

/* Looks a bound up, and further keys of its range; end: where that ends, or NULL. */
static void
search_range(Search *search, Datum bound, const Datum *end, JoinFoundKey *found,
			 JoinFoundRange *range)
{
	OffsetNumber row;
	int			nmatching;

	seek_key(search, bound);
	if (!bloomfam_join_reader_next(&search->reader))
		return;					/* no such key */
	row = ItemPointerGetOffsetNumber(&search->reader.slot->tts_tid);
	take_row(search, found);
	range->nkeys = 1;
	nmatching = found->matches + search_beside(search, row, bound, end, range);
	range->matching = (double) nmatching / range->nkeys;
	search->nmatching += nmatching;
}

/* Can this index of the planner's be searched by the key? */
static bool
is_suitable(const IndexOptInfo *index, const JoinSearch *search)
{
	return bloomfam_join_reader_can_search(index) &&
		   bloomfam_join_index_compares(index, 0, search->column, &search->comparison);
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

void
bloomfam_join_search_choose(JoinSearch *search)
{
	if (search->rel->pages > JOIN_READ_MOST_BLOCKS || search->rel->tuples > JOIN_READ_FEW_ROWS)
		search->index = find_index(search);
	search->most_keys =
		search->index == NULL
			? INT_MAX
			: (int) (search->most_blocks * FOR_KEYS) /
				  (search->index->tree_height + 2 + (search->unique ? 0 : 2));
}

/*
 * How many keys of the sample are searched: in halves of common ones and bounds, if not all can be.
 */
static bool
choose_keys(const JoinSearch *search, int *ncommon, int *nbounds)
{
	const JoinKeySample *sample = search->sample;
	int			most = search->most_keys;

	if (most < Min(FEWEST_KEYS, sample->ncommon + sample->nbounds))
		return false;
	*nbounds = Min(sample->nbounds, Max(most / 2, most - sample->ncommon));
	*ncommon = Min(sample->ncommon, most - *nbounds);
	return true;
}

/* About how many keys of the table lie between the bounds, by its own statistics; 0: not known. */
static double
keys_between_bounds(Search *search)
{
	const JoinKeySample *sample = search->plan->sample;
	const JoinKeySample *own = search->plan->own;
	double		within = 0.5;	/* more than none, if all of them lie between two of its own */
	int			i;

	if (sample->nbounds == 0 || own->nbounds == 0)
		return 0;
	for (i = 0; i < own->nbounds; i++)
		within += compare(search, sample->bounds[0], own->bounds[i]) <= 0 &&
				  compare(search, sample->bounds[sample->nbounds - 1], own->bounds[i]) >= 0;
	return search->plan->rel->tuples * Min(within / (own->nbounds - 1), 1);
}

/* So many common keys are searched, which stand for about the same fraction of the rows each. */
static void
search_common(Search *search, int ncommon)
{
	const JoinKeySample *sample = search->plan->sample;
	JoinFound  *found = search->found;
	double		step = 0;
	double		rows = 0;
	int			i;

	for (i = 0; i < sample->ncommon && ncommon < sample->ncommon; i++)
		step += sample->frequencies[i] / ncommon;
	for (i = 0; i < sample->ncommon && !is_over_budget(search); i++)
	{
		rows += sample->frequencies[i];
		if (rows < step)
			continue;
		rows -= step;
		found->common[found->ncommon].number = i;
		search_key(search, sample->common[i], &found->common[found->ncommon++]);
	}
	bloomfam_join_found_weigh(sample, found);
}

static void
search_keys(Search *search, int ncommon, int nbounds)
{
	const JoinKeySample *sample = search->plan->sample;
	JoinFound  *found = search->found;
	int			last = sample->nbounds - 1;
	int			i;

	if (search->plan->unique)
		found->occurring = occurring(sample, keys_between_bounds(search));

	for (i = 0; i < nbounds && !is_over_budget(search); i++)
	{
		JoinFoundKey *key = &found->keys[found->nkeys++];
		/* the first one and the last one are among them, and others evenly between */
		int			number = nbounds > 1 ? (int64) i * last / (nbounds - 1) : 0;
		Datum		bound = sample->bounds[number];

		key->number = number;
		key->weight = weight_of_bound(sample, number);
		if (found->occurring >= FEWEST_OCCURRING)
		{
			JoinFoundRange *range = &found->ranges[found->nranges++];

			range->weight = key->weight;
			search_range(search, bound, number < last ? &sample->bounds[number + 1] : NULL, key,
						 range);
		}
		else
			search_key(search, bound, key);
	}
	search_common(search, ncommon);
}

static const char *
search_by_index(Search *search)
{
	const JoinKeyComparison *comparison = &search->plan->comparison;
	int			ncommon;
	int			nbounds;

	if (!choose_keys(search->plan, &ncommon, &nbounds))
		return bloomfam_join_over_budget;
	fmgr_info(get_opcode(get_opfamily_member(comparison->family, comparison->right,
											 comparison->left, BTEqualStrategyNumber)),
			  &search->equal);
	bloomfam_join_reader_open(&search->reader, search->plan->index, 1);
	search->found->index = search->plan->index->indexoid;
	search_keys(search, ncommon, nbounds);
	return is_over_budget(search) ? bloomfam_join_over_budget : NULL;
}

/* ---- either ---- */

const char *
bloomfam_join_search(const JoinSearch *plan, JoinFound *found)
{
	const JoinKeySample *sample = plan->sample;
	const JoinKeyComparison *comparison = &plan->comparison;
	Search		search = {.plan = plan, .found = found};
	const char *reason;

	memset(found, 0, sizeof(*found));
	found->has_values = plan->value_column != 0;
	found->common = palloc0((sample->ncommon + 1) * sizeof(JoinFoundKey));
	found->keys = palloc0((sample->nbounds + 1) * sizeof(JoinFoundKey));
	found->ranges = palloc0((sample->nbounds + 1) * sizeof(JoinFoundRange));
	if (plan->rel->pages > JOIN_READ_MOST_BLOCKS && plan->index == NULL)
		return "there is no btree index";
	fmgr_info(get_opfamily_proc(comparison->family, comparison->left, comparison->right,
								BTORDER_PROC),
			  &search.compare);
	bloomfam_join_reader_begin(&search.reader, plan->relation, plan->conditions, plan->value_column,
							   plan->most_blocks);
	if (plan->value_column != 0)
	{
		Form_pg_attribute attribute =
			TupleDescAttr(RelationGetDescr(plan->relation), plan->value_column - 1);

		fmgr_info(lookup_type_cache(attribute->atttypid, TYPECACHE_HASH_PROC)->hash_proc,
				  &search.hash);
		search.hash_collation = attribute->attcollation;
	}
	if (plan->index != NULL)
		reason = search_by_index(&search);
	else
		reason = search_by_reading(&search);
	found->nblocks = search.reader.nblocks;
	bloomfam_join_reader_end(&search.reader);
	return reason;
}
