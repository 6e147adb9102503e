/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * prune_cost.c
 *	  Estimates the fraction of a table that is read if partitions and blocks are pruned.
 *
 * Which partitions and blocks can match is found during execution, when the keys are known
 * (partition_pruning.c, block_pruning.c).  Here it is estimated from the expected number of keys,
 * doubled as there may be more.  Keys are assumed to be scattered, unless statistics tell that they
 * are neighbours: if the build side is a table stored in the order of the key and of a column that
 * a condition restricts to a range, such as the days of a year.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/brin.h"
#include "access/genam.h"
#include "catalog/pg_am_d.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/typcache.h"

#include "join/base/column_stats.h"
#include "join/base/gucs.h"
#include "join/base/index.h"
#include "join/filter/keys.h"
#include "join/planner/constants.h"
#include "join/planner/partition_ancestors.h"
#include "join/planner/prune_cost.h"
#include "pg/expression.h"

/* What is expected of the keys in one column. */
typedef struct Spread
{
	double		keys;			/* The number of distinct keys that are expected. */
	double		matching;		/* The fraction of the relation's rows that have one of the keys. */
	bool		together;		/* Whether the keys are neighbours; if not, they are scattered. */
} Spread;

/*
 * Tells whether a condition restricts a column to a range, and the table is stored in the order of
 * that column.
 */
static bool
takes_range(const Expr *condition, Oid table)
{
	const OpExpr *operator = (const OpExpr *) condition;
	const Var  *column;
	Expr	   *bound;
	Oid			family;

	if (!is_opclause(condition) || list_length(operator->args) != 2)
		return false;
	column = bloomfam_expression_var(linitial(operator->args));
	bound = lsecond(operator->args);
	if (column == NULL)
	{
		column = bloomfam_expression_var(lsecond(operator->args));
		bound = linitial(operator->args);
	}
	if (column == NULL || !is_pseudo_constant_clause((Node *) bound))
		return false;
	family = lookup_type_cache(column->vartype, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	return op_in_opfamily(operator->opno, family) &&
		   bloomfam_join_column_order(table, column->varattno) > SURELY_IN_ORDER;
}

static bool
lie_together(PlannerInfo *root, const RelOptInfo *built, const JoinKeyColumn *column)
{
	const Var  *key = bloomfam_expression_var(column->build_expr);
	Oid			table;
	ListCell   *lc;

	if (key == NULL || key->varno != built->relid || built->rtekind != RTE_RELATION)
		return false;
	table = planner_rt_fetch(built->relid, root)->relid;
	foreach(lc, built->baserestrictinfo)
		if (takes_range(lfirst_node(RestrictInfo, lc)->clause, table))
			return bloomfam_join_column_order(table, key->varattno) > SURELY_IN_ORDER;
	return false;
}

static Spread
expect_keys(PlannerInfo *root, const RelOptInfo *built, const JoinKeyColumn *column, double drop)
{
	return (Spread) {
		.keys = KEYS_IN_DOUBT * estimate_num_groups(root, list_make1(column->build_expr),
													built->rows, NULL, NULL),
		.matching = Min(KEYS_IN_DOUBT * (1 - drop), 1),
		.together = lie_together(root, built, column)
	};
}

/* ---- the fraction of partitions that is read ---- */

static double
fraction_of_partitions(PlannerInfo *root, const RelOptInfo *rel, const JoinCandidate *candidate,
					   const RelOptInfo *built)
{
	const JoinKeyColumn *columns = candidate->columns;
	AttrNumber *attributes = palloc(candidate->ncolumns * sizeof(AttrNumber));
	List	   *pruning;
	JoinReason	reason;
	double		keys = 1;
	double		rows = 0;
	double		fraction = 0;
	Spread		spread = {0};
	bool		run;
	ListCell   *lc;
	int			i;

	for (i = 0; i < candidate->ncolumns; i++)
		attributes[i] = columns[i].attribute;
	pruning = bloomfam_join_partition_columns(planner_rt_fetch(rel->relid, root)->relid, columns,
											  candidate->ncolumns, attributes, &reason);
	if (pruning == NIL)
		return 1;
	foreach(lc, pruning)
	{
		spread = expect_keys(root, built, &columns[lfirst_int(lc)], candidate->drop);
		keys *= spread.keys;
	}
	run = spread.together && rel->part_scheme->strategy == PARTITION_STRATEGY_RANGE;
	i = -1;
	while ((i = bms_next_member(rel->live_parts, i)) >= 0)
		rows += Max(rel->part_rels[i]->tuples, 1);
	i = -1;
	while ((i = bms_next_member(rel->live_parts, i)) >= 0)
	{
		double		part = Max(rel->part_rels[i]->tuples, 1) / rows;

		/* The probability that at least one key lies in the partition. */
		double		chance = keys <= JOIN_KEYS_FEW ? 1 - pow(1 - part, keys) : 1;

		/*
		 * If the matching rows are adjacent in the order of the partition key, they extend into
		 * this partition with at most this probability.
		 */
		if (run)
			chance = Min(chance, part + spread.matching);
		fraction += part * chance;
	}
	return Min(fraction, 1);
}

/* ---- the fraction of pages that is read ---- */

/*
 * Returns the window of the order of rows by a column, as a fraction of the table, from the
 * correlation.  If rows lie in the order of the column except for a shift of up to half a window,
 * and everything is uniform, the correlation is 1 / sqrt(1 + window^2), as the variances add up.
 */
static double
window_of_order(double order)
{
	return order > 0 ? Min(sqrt(1 / (order * order) - 1), 1) : 1;
}

/*
 * Returns the fraction of the whole that the widest gaps between keys cover; "most" is their
 * number, and "gaps" the number of all gaps.  If keys are scattered, the gaps are the spacings of
 * uniform random points: of m gaps, the r widest cover r/m (1 + 1/(r+1) + ... + 1/m) of the whole
 * (H.  A.  David and H.  N.  Nagaraja, Order Statistics, 2003, section 6.4).  The sum is about
 * ln(m/r).
 */
static double
fraction_of_gaps(double gaps, double most)
{
	return most / gaps * (1 + log(gaps / most));
}

/*
 * Returns the fraction of a table's pages that remain to be read after searching a BRIN index for
 * ranges of keys.  The rows that do not match are in the gaps between these ranges.  At both ends
 * of each gap, a page range of the index also has rows that match, and rows that are not quite in
 * order take up half a window.
 */
static double
fraction_of_ranges(const RelOptInfo *rel, double pages_per_range, const Spread *spread,
				   double order)
{
	double		searching = (rel->pages / pages_per_range + 1) * JOIN_ROWS_PER_SUMMARY;
	double		budget = rel->tuples * bloomfam_join_index_budget(order);
	double		gaps = spread->together ? 1 : spread->keys + 1;
	double		most = floor((budget - JOIN_ROWS_PER_INDEX) / searching);
	double		between;
	double		at_ends;
	double		searched;

	most = Min(Min(most, JOIN_INDEX_MOST_RANGES), gaps);
	if (most < 1 || (spread->keys > JOIN_KEYS_FEW && !spread->together))
		return 1;
	between = (1 - spread->matching) * fraction_of_gaps(gaps, most);
	at_ends = most * (window_of_order(order) + 2 * pages_per_range / rel->pages);
	searched = (JOIN_ROWS_PER_INDEX + most * searching) / rel->tuples;
	return 1 - Max(between - at_ends - searched, 0);
}

/*
 * Returns the fraction of a table's pages that is read with the BRIN index that leaves the fewest.
 * Other indexes are not considered, as they are searched for one key after the other: a nested loop
 * does that too and reads the same pages, and the planner knows what that costs.
 */
static double
fraction_of_pages(PlannerInfo *root, const RelOptInfo *rel, const JoinKeyColumn *column,
				  const RelOptInfo *built, double drop)
{
	Oid			table = planner_rt_fetch(rel->relid, root)->relid;
	JoinIndexed indexed = {
		.attribute = column->attribute, .operator = column->operator,
		.type = column->hashing.build.type, .guarded = rel->baserestrictinfo != NIL
	};
	double		fraction = 1;
	ListCell   *lc;

	if (!bloomfam_join_keys_can_keep(column->hashing.kind, indexed.type))
		return 1;
	foreach(lc, rel->indexlist)
	{
		const IndexOptInfo *info = lfirst(lc);
		Relation	index;

		if (info->relam != BRIN_AM_OID || info->hypothetical)
			continue;
		index = index_open(info->indexoid, NoLock);	/* The planner has locked the index already. */
		if (bloomfam_join_index_use(index, &indexed).search == JOIN_INDEX_BY_RANGE)
		{
			Spread		spread = expect_keys(root, built, column, drop);
			double		order = bloomfam_join_column_order(table, column->attribute);
			BrinStatsData stats;

			brinGetStats(index, &stats);
			fraction = Min(fraction, fraction_of_ranges(rel, stats.pagesPerRange, &spread, order));
		}
		index_close(index, NoLock);
	}
	return fraction;
}

double
bloomfam_join_read_fraction(PlannerInfo *root, const RelOptInfo *rel,
							const JoinCandidate *candidate, const RelOptInfo *built)
{
	double		fraction = 1;
	int			i;

	if (!bloomfam_join_may_skip())
		return 1;
	if (rel->part_scheme != NULL && rel->part_rels != NULL)
		fraction = fraction_of_partitions(root, rel, candidate, built);
	else if (rel->pages > 0 && rel->tuples >= 1)
		for (i = 0; i < candidate->ncolumns; i++)
			fraction = Min(fraction, fraction_of_pages(root, rel, &candidate->columns[i], built,
													   candidate->drop));
	Assert(fraction >= 0 && fraction <= 1);
	return fraction;
}
