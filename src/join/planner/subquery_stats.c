/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * subquery_stats.c
 *	  Provides statistics of a subquery's columns where the server has none.
 *
 * For a column of a subquery, the server looks up the statistics of the table's column behind it,
 * but not if the subquery groups its rows or is a set operation.  Then it assumes 200 distinct
 * values.  So a join with a few keys seems to keep all rows of the subquery, and a filter to drop
 * none.
 *
 * Here the column is followed to its tables nevertheless.  Grouping does not change the number of
 * distinct values, so only that number is passed on, and not how often each value occurs.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_statistic.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"
#include "utils/rel.h"

#include "join/planner/subquery_stats.h"
#include "pg/compat.h"
#include "pg/expression.h"

/* What is known of an output column of a query. */
typedef struct ColumnStats
{
	double		distinct;		/* The number of distinct values that are not NULL. */
	double		nulls;			/* The fraction of rows in which the column is NULL. */
} ColumnStats;

static bool find_stats(PlannerInfo *root, AttrNumber attribute, ColumnStats *stats);

/*
 * Finds what is known of an output column of a set operation, or of one of its inputs.  Returns
 * false if nothing is known.
 */
static bool
find_set_stats(PlannerInfo *root, const Node *set, AttrNumber attribute, ColumnStats *stats)
{
	const SetOperationStmt *operation = (const SetOperationStmt *) set;
	ColumnStats right;

	check_stack_depth();
	if (IsA(set, RangeTblRef))
	{
		const RelOptInfo *rel = root->simple_rel_array[((const RangeTblRef *) set)->rtindex];

		return rel != NULL && rel->subroot != NULL &&
			   find_stats(rel->subroot, attribute, stats);
	}
	if (!IsA(set, SetOperationStmt) ||
		!find_set_stats(root, operation->larg, attribute, stats) ||
		!find_set_stats(root, operation->rarg, attribute, &right))
		return false;
	if (operation->op == SETOP_UNION)
	{
		stats->distinct += right.distinct;
		stats->nulls = 0;
	}
	else if (operation->op == SETOP_INTERSECT)
		stats->distinct = Min(stats->distinct, right.distinct);
	return true;
}

/* Tells whether a column is the only one in a list of SortGroupClauses. */
static bool
is_only_one(const List *clauses, const TargetEntry *entry)
{
	return list_length(clauses) == 1 && entry->ressortgroupref != 0 &&
		   linitial_node(SortGroupClause, clauses)->tleSortGroupRef == entry->ressortgroupref;
}

/*
 * Finds what is known of an output column of a planned query.  Returns false if nothing is known.
 */
static bool
find_stats(PlannerInfo *root, AttrNumber attribute, ColumnStats *stats)
{
	const Query *query = root->parse;
	const TargetEntry *entry = get_tle_by_resno(query->targetList, attribute);
	const Var  *column;
	VariableStatData vardata;
	bool		is_default;

	if (query->setOperations != NULL)
		return find_set_stats(root, query->setOperations, attribute, stats);
	if (entry == NULL || entry->resjunk || query->groupingSets != NIL || query->hasTargetSRFs)
		return false;
	if (is_only_one(query->groupClause, entry) || is_only_one(query->distinctClause, entry))
	{
		const Path *path = fetch_upper_rel(root, UPPERREL_FINAL, NULL)->cheapest_total_path;

		*stats = (ColumnStats) {.distinct = path->rows};
		return true;
	}
	column = bloomfam_expression_var(entry->expr);
	if (column == NULL || column->varlevelsup != 0)
		return false;
	examine_variable(root, unconstify(Node *, (const Node *) column), 0, &vardata);
	stats->distinct = get_variable_numdistinct(&vardata, &is_default);
	stats->nulls = HeapTupleIsValid(vardata.statsTuple)
					   ? ((Form_pg_statistic) GETSTRUCT(vardata.statsTuple))->stanullfrac
					   : 0;
	ReleaseVariableStats(vardata);
	return !is_default;
}

/* Returns the PlannerInfo of a CTE's query; NULL if the CTE is recursive or has none. */
static PlannerInfo *
root_of_cte(PlannerInfo *root, const RangeTblEntry *rte)
{
	PlannerInfo *cte_root = root;
	Index		level;
	ListCell   *lc;

	for (level = rte->ctelevelsup; level > 0 && cte_root != NULL; level--)
		cte_root = cte_root->parent_root;
	if (cte_root == NULL || rte->self_reference)
		return NULL;
	foreach(lc, cte_root->parse->cteList)
	{
		const CommonTableExpr *cte = lfirst_node(CommonTableExpr, lc);
		int			number = foreach_current_index(lc);
		int			plan_id;

		if (strcmp(cte->ctename, rte->ctename) != 0)
			continue;
		plan_id = number < list_length(cte_root->cte_plan_ids)
					  ? list_nth_int(cte_root->cte_plan_ids, number)
					  : 0;
		return plan_id > 0 && !cte->cterecursive ? list_nth(root->glob->subroots, plan_id - 1)
												 : NULL;
	}
	return NULL;
}

/*
 * Makes a pg_statistic row with the given number of distinct values and fraction of NULLs, and
 * without most common values and other slots.
 */
static HeapTuple
make_tuple(const ColumnStats *stats, double rows)
{
	Relation	catalog = table_open(StatisticRelationId, AccessShareLock);
	Datum		values[Natts_pg_statistic] = {0};
	bool		nulls[Natts_pg_statistic] = {0};
	HeapTuple	tuple;
	int			i;

	values[Anum_pg_statistic_stanullfrac - 1] = Float4GetDatum((float4) stats->nulls);
	values[Anum_pg_statistic_stadistinct - 1] =
		Float4GetDatum((float4) clamp_row_est(Min(stats->distinct, rows)));
	for (i = Anum_pg_statistic_stanumbers1; i <= Natts_pg_statistic; i++)
		nulls[i - 1] = true;
	tuple = heap_form_tuple(RelationGetDescr(catalog), values, nulls);
	table_close(catalog, AccessShareLock);
	return tuple;
}

bool
bloomfam_join_subquery_stats(PlannerInfo *root, const RangeTblEntry *rte, AttrNumber attribute,
							 VariableStatData *vardata)
{
	const RelOptInfo *rel = NULL;
	PlannerInfo *subroot;
	const Query *query;
	ColumnStats stats;
	int			i;

	/*
	 * Columns behind a security barrier are refused, as the server refuses them: statistics could
	 * reveal rows that the user may not see.
	 */
	if ((rte->rtekind != RTE_SUBQUERY && rte->rtekind != RTE_CTE) || rte->inh ||
		rte->security_barrier || attribute <= 0)
		return false;
	for (i = 1; i < root->simple_rel_array_size && rel == NULL; i++)
		if (root->simple_rte_array[i] == rte)
			rel = root->simple_rel_array[i];
	if (rel == NULL)
		return false;
	subroot = rte->rtekind == RTE_CTE ? root_of_cte(root, rte) : rel->subroot;
	if (subroot == NULL)
		return false;
	query = subroot->parse;
	/*
	 * The output columns of a CTE that changes rows are those of its RETURNING clause, not of its
	 * targetlist.
	 */
	if (query->commandType != CMD_SELECT)
		return false;
	if (query->setOperations == NULL && query->groupClause == NIL &&
		query->distinctClause == NIL &&
		(rte->rtekind != RTE_CTE || BLOOMFAM_KNOWS_COLUMNS_OF_CTES))
		return false;
	if (!find_stats(subroot, attribute, &stats))
		return false;
	vardata->statsTuple = make_tuple(&stats, rel->tuples);
	vardata->freefunc = heap_freetuple;
	/*
	 * The user needs no privilege for the statistics made here, as they contain no column values.
	 */
	vardata->acl_ok = true;
	return true;
}
