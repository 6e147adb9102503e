/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * cost.c
 *	  Estimates the cost of a signature index scan for the planner.
 *
 * Which part of a table's ranges a condition leaves depends on how many ranges have all of its keys
 * by chance, which no statistics tell.  But the index can be asked: if the condition's value is
 * known, it is looked up in some groups of ranges, which takes some microseconds.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "signature/search.h"
#include "signature/signature.h"

/* The number of slabs, or else batches, in which conditions are looked up. */
#define SAMPLED_SLABS	4

/*
 * The fraction of ranges without matching rows that are read all the same, if the condition's value
 * is not known.
 */
#define GUESSED_IN_VAIN	0.03

/* The CPU cost of a page of the index, in operator calls. */
#define PAGE_OPERATORS	50.0

/* The slabs whose entries are read to count dirty ranges. */
#define COUNTED_SLABS	(16 * SIGNATURE_ENTRIES)

/* What is known of a scan before its cost is computed. */
typedef struct Estimate
{
	double		ranges;			/* The number of the table's ranges. */
	double		pages_per_range;
	double		always;			/* The ranges that are read in any case: open and dirty ones. */
	double		fraction;		/* The fraction of the others that are read; negative: not known. */
	double		index_pages;	/* The number of the index's pages that are read. */
} Estimate;

/*
 * Makes a scan key of an index condition.  Returns false if the condition's value is not known yet.
 */
static bool
make_key(PlannerInfo *root, const IndexOptInfo *info, int column, Node *clause, ScanKeyData *key)
{
	Oid			operator;
	Node	   *argument;
	int			strategy;
	Oid			left;
	Oid			right;

	memset(key, 0, sizeof(ScanKeyData));
	if (IsA(clause, OpExpr) && list_length(((OpExpr *) clause)->args) == 2)
	{
		operator = ((OpExpr *) clause)->opno;
		argument = lsecond(((OpExpr *) clause)->args);
	}
	else if (IsA(clause, ScalarArrayOpExpr))
	{
		operator = ((ScalarArrayOpExpr *) clause)->opno;
		argument = lsecond(((ScalarArrayOpExpr *) clause)->args);
		key->sk_flags |= SK_SEARCHARRAY;
	}
	else
		return false;
	argument = estimate_expression_value(root, argument);
	while (IsA(argument, RelabelType))
		argument = (Node *) ((RelabelType *) argument)->arg;
	if (!IsA(argument, Const))
		return false;
	get_op_opfamily_properties(operator, info->opfamily[column], false, &strategy, &left, &right);
	key->sk_attno = (AttrNumber) (column + 1);
	key->sk_strategy = (StrategyNumber) strategy;
	key->sk_subtype = right;
	key->sk_func.fn_strict = op_strict(operator);
	key->sk_argument = ((Const *) argument)->constvalue;
	if (((Const *) argument)->constisnull)
		key->sk_flags |= SK_ISNULL;
	return true;
}

/* Searches a group whose dirty ranges are counted elsewhere. */
static void
sample_group(Relation index, const SignatureMeta *meta, const SignatureGroup *group,
			 SignaturePageKind kind, uint32 n, SignatureSearch *search, double *asked,
			 double *found)
{
	SignatureGroup clean = *group;
	SignatureSet set;

	memset(&clean.dirty, 0, sizeof(clean.dirty));
	if (!bloomfam_signature_search_group(index, meta, &clean, kind, n, search, &set))
		return;
	*asked += n;
	*found += signature_set_count(&set);
}

/* Looks the conditions up in some groups of the index. */
static void
sample(Relation index, const SignatureMeta *meta, SignatureSearch *search, Estimate *estimate)
{
	SignatureGroup *slabs = (SignatureGroup *) palloc(SIGNATURE_BODY);
	uint32		step = Max(meta->nslabs / SAMPLED_SLABS, 1);
	double		asked = 0;
	double		found = 0;
	double		groups = 0;
	uint32		i;

	for (i = step / 2; i < meta->nslabs; i += step)
	{
		(void) bloomfam_signature_slabs_read(index, meta, i, slabs);
		sample_group(index, meta, &slabs[0], SIGNATURE_PAGE_SLAB, SIGNATURE_WIDTH, search,
					 &asked, &found);
		groups++;
	}
	if (groups > 0)
		estimate->index_pages = search->pages / groups * meta->nslabs;
	else
		for (i = 0; i < meta->batch_count; i++)
			sample_group(index, meta, &meta->batches[i].group, SIGNATURE_PAGE_BATCH,
						 meta->batches[i].count, search, &asked, &found);
	for (i = 0; i < meta->batch_count; i++)
		estimate->index_pages += 1.2 * meta->batches[i].count;
	if (asked > 0)
		estimate->fraction = found / asked;
	pfree(slabs);
}

static double
count_dirty(Relation index, const SignatureMeta *meta)
{
	SignatureGroup *slabs = (SignatureGroup *) palloc(SIGNATURE_BODY);
	double		dirty = 0;
	uint32		first;
	uint32		i;

	for (first = 0; first < Min(meta->nslabs, COUNTED_SLABS);)
	{
		uint32		n = bloomfam_signature_slabs_read(index, meta, first, slabs);

		for (i = 0; i < n; i++)
			dirty += signature_set_count(&slabs[i].dirty);
		first += n;
	}
	if (first > 0)
		dirty *= (double) meta->nslabs / first;
	for (i = 0; i < meta->batch_count; i++)
		dirty += signature_set_count(&meta->batches[i].group.dirty);
	pfree(slabs);
	return dirty;
}

/* Asks the index about the conditions of a path. */
static void
ask_index(PlannerInfo *root, const IndexPath *path, Estimate *estimate)
{
	const IndexOptInfo *info = path->indexinfo;
	Relation	index = index_open(info->indexoid, NoLock);
	SignatureMeta *meta = bloomfam_signature_meta_read(index);
	ScanKeyData *keys = NULL;
	int			nkeys = 0;
	bool		is_known = true;
	SignatureColumns *columns;
	ListCell   *lc;
	ListCell   *lc2;

	estimate->pages_per_range = meta->pages_per_range;
	estimate->ranges = ceil(Max((double) info->rel->pages, 1) / meta->pages_per_range);
	estimate->always = Max(estimate->ranges - signature_summarized(meta), 0) +
		count_dirty(index, meta);
	estimate->fraction = -1;
	estimate->index_pages = meta->nslabs;
	foreach(lc, path->indexclauses)
	{
		const IndexClause *clause = lfirst_node(IndexClause, lc);

		foreach(lc2, clause->indexquals)
		{
			RestrictInfo *qual = lfirst_node(RestrictInfo, lc2);

			keys = keys == NULL ? (ScanKeyData *) palloc(sizeof(ScanKeyData)) :
				(ScanKeyData *) repalloc(keys, (nkeys + 1) * sizeof(ScanKeyData));

			/*
			 * Costs must not tell of rows that a view or a policy hides.
			 */
			if (root->qual_security_level == 0 &&
				make_key(root, info, clause->indexcol, (Node *) qual->clause, &keys[nkeys]))
				nkeys++;
			else
				is_known = false;
		}
	}
	if (nkeys > 0)
	{
		SignatureSearch *search;

		columns = bloomfam_signature_columns_make(index, meta->ngram);
		bloomfam_signature_columns_fit(columns, index, meta);
		search = bloomfam_signature_search_make(columns, index, keys, nkeys);
		if (search->finds_nothing)
		{
			estimate->fraction = estimate->always = estimate->index_pages = 0;
			is_known = true;
		}
		else if (search->n == 0)
			estimate->fraction = is_known ? 1 : -1;
		else
			sample(index, meta, search, estimate);
	}
	index_close(index, NoLock);
}

/*
 * Returns the number of random pages that the server must be told of, so that it charges for a
 * bitmap scan what these pages cost.  The server takes pages for scattered, and charges less for
 * each the more there are (cost_bitmap_heap_scan() in costsize.c); ours lie together in ranges.
 */
static double
pages_to_tell(double pages, double total, double pages_per_range, double random_cost,
			  double seq_cost)
{
	double		run = Min(pages_per_range, Max(pages, 1));
	double		cost = pages * (random_cost + (run - 1) * seq_cost) / run;
	double		low = 0;
	double		high = total;
	int			i;

	for (i = 0; i < 30; i++)
	{
		double		middle = (low + high) / 2;
		double		each = middle < 2 ? random_cost :
			random_cost - (random_cost - seq_cost) * sqrt(middle / total);

		if (middle * each < cost)
			low = middle;
		else
			high = middle;
	}
	return low;
}

void
bloomfam_signature_costestimate(PlannerInfo *root, IndexPath *path, double loop_count,
								Cost *startup_cost, Cost *total_cost, Selectivity *selectivity,
								double *correlation, double *pages)
{
	const IndexOptInfo *info = path->indexinfo;
	const RelOptInfo *rel = info->rel;
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "signature index: estimate",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	double		total = Max((double) rel->pages, 1);
	double		tuples = Max(rel->tuples, 1);
	double		read;
	double		told;
	double		fetched;
	double		random_cost;
	double		seq_cost;
	Estimate	estimate = {1, 16, 0, -1, 1};

	if (!info->hypothetical)
		ask_index(root, path, &estimate);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);

	if (estimate.fraction < 0)
	{
		double		rows = tuples *
			clauselist_selectivity(root, get_quals_from_indexclauses(path->indexclauses),
								   (int) rel->relid, JOIN_INNER, NULL);

		estimate.fraction = GUESSED_IN_VAIN + (1 - GUESSED_IN_VAIN) *
			(1 - exp(-rows / estimate.ranges));
	}
	read = Min(estimate.always + estimate.fraction * estimate.ranges, estimate.ranges) *
		estimate.pages_per_range;
	read = Min(Max(read, 1), total);

	/*
	 * The server derives the number of pages from that of rows (compute_bitmap_pages()), and thinks
	 * of exact rows.  So it is told of as many rows as lead it to the pages' cost, and what
	 * it does not charge for the rest of the rows on these pages is charged here.
	 */
	get_tablespace_page_costs(rel->reltablespace, &random_cost, &seq_cost);
	told = pages_to_tell(read, total, estimate.pages_per_range, random_cost, seq_cost);
	told = Min(told, total * 0.999);
	fetched = Min(2 * total * told / (2 * total - told), tuples);
	*selectivity = fetched / tuples;

	get_tablespace_page_costs(info->reltablespace, &random_cost, &seq_cost);
	*startup_cost = estimate.index_pages *
		(random_cost + PAGE_OPERATORS * cpu_operator_cost);
	*total_cost = *startup_cost + Max(read / total * tuples - fetched, 0) *
		(cpu_tuple_cost + rel->baserestrictcost.per_tuple) + 0.1 * cpu_operator_cost * read;
	*correlation = 0;
	*pages = Max(estimate.index_pages, 1);
}
