/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * prune_cost.c
 *	  Which fraction of a table is read by a hash join that prunes partitions and blocks.
 *
 * Which ones can match is found at execution, when the keys are known (partition_pruning.c,
 * block_pruning.c).  Here it is estimated from the expected number of keys, doubled as there may be
 * more.  Keys are taken to be anywhere, unless statistics tell that they are neighbours: the inner
 * side is a table in the order of the key, and of a column of which a condition takes a range, as
 * the days of a year.
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
#include "join/planner/partition_ancestors.h"
#include "join/planner/prune_cost.h"
#include "pg/expression.h"

/* So many times more keys than expected. */
#define KEYS_IN_DOUBT	2.0

/* Rows lie in the order of a column, if that of statistics is more. */
#define SURELY_IN_ORDER	0.99

/* What is expected of the keys of one column. */
typedef struct Spread
{
	double		keys;			/* distinct ones */
	double		matching;		/* the fraction of the relation's rows that have one of them */
	bool		together;		/* they are neighbours; else they are anywhere */
} Spread;

/* Does a condition take a range of a column, in whose order the table is? */
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
lie_together(PlannerInfo *root, const RelOptInfo *innerrel, const JoinKeyColumn *column)
{
	const Var  *key = bloomfam_expression_var(column->inner);
	Oid			table;
	ListCell   *lc;

	if (key == NULL || key->varno != innerrel->relid || innerrel->rtekind != RTE_RELATION)
		return false;
	table = planner_rt_fetch(innerrel->relid, root)->relid;
	foreach(lc, innerrel->baserestrictinfo)
		if (takes_range(lfirst_node(RestrictInfo, lc)->clause, table))
			return bloomfam_join_column_order(table, key->varattno) > SURELY_IN_ORDER;
	return false;
}

static Spread
expect_keys(PlannerInfo *root, const RelOptInfo *innerrel, const JoinKeyColumn *column, double drop)
{
	return (Spread) {
		.keys = KEYS_IN_DOUBT * estimate_num_groups(root, list_make1(column->inner),
													innerrel->rows, NULL, NULL),
		.matching = Min(KEYS_IN_DOUBT * (1 - drop), 1),
		.together = lie_together(root, innerrel, column)
	};
}

/* ---- partitions ---- */

static double
fraction_of_partitions(PlannerInfo *root, const RelOptInfo *rel, const JoinCandidate *candidate,
					   const RelOptInfo *innerrel)
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
		spread = expect_keys(root, innerrel, &columns[lfirst_int(lc)], candidate->drop);
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

		/* that a key lies in it */
		double		chance = keys <= JOIN_KEYS_FEW ? 1 - pow(1 - part, keys) : 1;

		/* the rows that match, side by side, reach into it */
		if (run)
			chance = Min(chance, part + spread.matching);
		fraction += part * chance;
	}
	return Min(fraction, 1);
}

/* ---- pages ---- */

/*
 * Where rows lie in the order of a column, but for a shift of up to half of a window, and all are
 * uniform, the correlation is 1 / sqrt(1 + window^2), as the variances add up.  Returns the
 * window, as a fraction of the table.
 */
static double
window_of_order(double order)
{
	return order > 0 ? Min(sqrt(1 / (order * order) - 1), 1) : 1;
}

/*
 * Of keys that lie anywhere the gaps between are as the spacings of uniform random points: of m,
 * the r widest make r/m (1 + 1/(r+1) + ... + 1/m) of the whole (H. A. David and H. N. Nagaraja,
 * Order Statistics, 2003, section 6.4).  The sum is about ln(m/r).
 */
static double
fraction_of_gaps(double gaps, double most)
{
	return most / gaps * (1 + log(gaps / most));
}

/*
 * The rows that do not match are in the gaps.  At both ends of each a range of the index has others
 * as well, and rows that are not quite in order lie in half a window.
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
 * By the BRIN index that leaves least.  Others are searched for one key after the other: so does a
 * nested loop, which reads the same pages, and the planner knows what that costs.
 */
static double
fraction_of_pages(PlannerInfo *root, const RelOptInfo *rel, const JoinKeyColumn *column,
				  const RelOptInfo *innerrel, double drop)
{
	Oid			table = planner_rt_fetch(rel->relid, root)->relid;
	JoinIndexed indexed = {
		.attribute = column->attribute, .operator = column->operator,
		.type = column->hashing.inner.type, .guarded = rel->baserestrictinfo != NIL
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
		index = index_open(info->indexoid, NoLock);	/* the planner has locked it */
		if (bloomfam_join_index_use(index, &indexed).search == JOIN_INDEX_BY_RANGE)
		{
			Spread		spread = expect_keys(root, innerrel, column, drop);
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
							const JoinCandidate *candidate, const RelOptInfo *innerrel)
{
	double		fraction = 1;
	int			i;

	if (!bloomfam_join_may_skip())
		return 1;
	if (rel->part_scheme != NULL && rel->part_rels != NULL)
		fraction = fraction_of_partitions(root, rel, candidate, innerrel);
	else if (rel->pages > 0 && rel->tuples >= 1)
		for (i = 0; i < candidate->ncolumns; i++)
			fraction = Min(fraction, fraction_of_pages(root, rel, &candidate->columns[i], innerrel,
													   candidate->drop));
	Assert(fraction >= 0 && fraction <= 1);
	return fraction;
}
