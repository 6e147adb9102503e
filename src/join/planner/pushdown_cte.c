/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * pushdown_cte.c
 *	  Pushes filters from the scans of a CTE into its plan.
 *
 * The plan of a CTE is computed once, for all of its scans.  So a row may be dropped there only if
 * none of the scans has any use for it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "join/base/column.h"
#include "join/base/filter_info.h"
#include "join/planner/pushdown_cte.h"
#include "pg/plan_nodes.h"

/*
 * The number of scans of a CTE in a plan. plan_id is the CTE's number among the statement's
 * subplans.
 */
typedef struct CteScans
{
	int			plan_id;
	int			n;
} CteScans;

static bool
count_cte_scans(Plan **slot, void *context)
{
	CteScans   *scans = context;

	if (IsA(*slot, CteScan) && ((CteScan *) *slot)->ctePlanId == scans->plan_id)
		scans->n++;
	return bloomfam_plan_walker(*slot, count_cte_scans, scans);
}

/* Returns the CTE scan that a target is on top of; NULL if it is on top of another node. */
static CteScan *
cte_scan_of(const JoinTarget *target)
{
	Plan	   *plan = bloomfam_join_below_own(*target->slot);

	return IsA(plan, CteScan) ? (CteScan *) plan : NULL;
}

/*
 * Returns the key's columns in the output of the CTE that a target's scan reads; NULL if one of
 * them is not a column of it.
 */
static const AttrNumber *
columns_of_cte(JoinPushdown *pushdown, const JoinTarget *target, CteScan *scan)
{
	return bloomfam_join_pushdown_columns(pushdown, &scan->scan.plan, target->attributes,
										  scan->scan.scanrelid);
}

/* Merges what another target was pushed through into *crossed. */
static void
merge_crossed(JoinCrossed *crossed, const JoinCrossed *other)
{
	crossed->below_gather |= other->below_gather;
	crossed->below_hash |= other->below_hash;
	crossed->below_blocking &= other->below_blocking;
	crossed->all_or_none |= other->all_or_none;
	crossed->nodes = Min(crossed->nodes, other->nodes);
}

/*
 * Tells whether a column of a plan is a column of a node further down, whose rows the plan passes
 * on.  The plan's column then has no values, besides NULL, that the node's column does not have.
 */
static bool
comes_from(Plan *plan, AttrNumber attribute, const Plan *node, AttrNumber of_node)
{
	AttrNumber	behind;

	check_stack_depth();
	plan = bloomfam_join_below_own(plan);
	if (plan == node)
		return attribute == of_node;
	if (plan->lefttree == NULL || bloomfam_plan_groups(plan))
		return false;
	behind = bloomfam_join_column_behind(plan, attribute, OUTER_VAR);
	if (behind != 0)
		return comes_from(plan->lefttree, behind, node, of_node);
	behind = plan->righttree != NULL ? bloomfam_join_column_behind(plan, attribute, INNER_VAR) : 0;
	return behind != 0 && comes_from(plan->righttree, behind, node, of_node);
}

/*
 * Tells whether a column of another join's key has no other values than the key of this filter.  It
 * has none if the other join's build side consists of rows of this join's build side, and both
 * joins compare the key in the same way.
 */
static bool
has_values_of(const JoinPushdown *other, const JoinKeyColumn *other_key,
			  const JoinPushdown *pushdown)
{
	const JoinKeyColumn *key = &pushdown->candidate.columns[0];
	AttrNumber	column = bloomfam_join_column(key->build_expr, OUTER_VAR);
	AttrNumber	other_column = bloomfam_join_column(other_key->build_expr, OUTER_VAR);

	return pushdown->candidate.ncolumns == 1 && column != 0 && other_column != 0 &&
		   key->operator == other_key->operator && key->collation == other_key->collation &&
		   comes_from(outerPlan(other->build_parent), other_column,
					  bloomfam_join_below_own(outerPlan(pushdown->build_parent)), column);
}

/*
 * Adds to a list those scans of a CTE that have no use for rows which this filter drops, as the
 * filter of another join, which was pushed down to them, has a column of the key in common with
 * this one: the other join drops these rows as well.  Merges what the other filters were pushed
 * through into *crossed.
 */
static List *
add_covered_scans(List *scans, JoinPushdown *pushdown, int plan_id, AttrNumber behind,
				  JoinCrossed *crossed)
{
	ListCell   *lf;
	ListCell   *lc;
	int			i;

	foreach(lf, pushdown->plan_info->filters)
	{
		const JoinPushdown *other = lfirst(lf);

		for (i = 0; i < other->candidate.ncolumns; i++)
		{
			if (!has_values_of(other, &other->candidate.columns[i], pushdown))
				continue;
			foreach(lc, other->targets)
			{
				const JoinTarget *target = lfirst(lc);
				CteScan    *scan = cte_scan_of(target);

				if (scan != NULL && scan->ctePlanId == plan_id &&
					bloomfam_join_column_behind(&scan->scan.plan, target->attributes[i],
												scan->scan.scanrelid) == behind &&
					bloomfam_join_pushdown_passes(pushdown, &scan->scan.plan))
				{
					scans = list_append_unique_ptr(scans, scan);
					merge_crossed(crossed, &target->crossed);
				}
			}
		}
	}
	return scans;
}

/*
 * Pushes the filter into the plan of a CTE, if each scan of the CTE in the whole plan is a target
 * of this filter, or is covered by another one.  Then nobody has any use for the rows that this
 * filter drops.  The targets on top of the scans are removed.  Returns whether the filter was
 * pushed into the CTE, which keeps its rows.
 */
static bool
enter_cte(JoinPushdown *pushdown, CteScan *cte, const AttrNumber *behind)
{
	PlannedStmt *stmt = pushdown->plan_info->known.stmt;
	Plan	  **plan = (Plan **) &lfirst(list_nth_cell(stmt->subplans, cte->ctePlanId - 1));
	Size		size = pushdown->candidate.ncolumns * sizeof(AttrNumber);
	CteScans	scans = {.plan_id = cte->ctePlanId};
	JoinCrossed	crossed = {.below_blocking = true, .nodes = INT_MAX};
	List	   *others = NIL;
	JoinReason	not_to_foreign = pushdown->not_to_foreign;
	List	   *reached = NIL;
	ListCell   *lc;

	foreach(lc, pushdown->targets)
	{
		const JoinTarget *target = lfirst(lc);
		CteScan    *scan = cte_scan_of(target);
		const AttrNumber *columns;

		if (scan == NULL || scan->ctePlanId != cte->ctePlanId)
		{
			others = lappend(others, lfirst(lc));
			continue;
		}
		columns = columns_of_cte(pushdown, target, scan);
		if (columns == NULL || memcmp(columns, behind, size) != 0 ||
			!bloomfam_join_pushdown_passes(pushdown, &scan->scan.plan))
			return false;
		merge_crossed(&crossed, &target->crossed);
		reached = list_append_unique_ptr(reached, scan);
	}
	bloomfam_plan_stmt_walker(stmt, count_cte_scans, &scans);
	reached = add_covered_scans(reached, pushdown, cte->ctePlanId, behind[0], &crossed);
	Assert(list_length(reached) <= scans.n);
	if (list_length(reached) < scans.n ||
		!bloomfam_join_tree_is_volatile_free(pushdown->plan_info, *plan))
		return false;
	pushdown->targets = others;
	pushdown->crossed = crossed;

	/*
	 * A foreign scan in the CTE is not sent anything: it is not below the join, so the join could
	 * not make it begin anew when the keys change.
	 */
	if (not_to_foreign == JOIN_NO_REASON)
		pushdown->not_to_foreign = JOIN_FOREIGN_IN_CTE;
	bloomfam_join_pushdown_follow(pushdown, plan, behind);
	pushdown->not_to_foreign = not_to_foreign;
	return true;
}

void
bloomfam_join_pushdown_enter_ctes(JoinPushdown *pushdown)
{
	ListCell   *lc;

	if (!pushdown->crosses_materialization || pushdown->plan_info->known.stmt->subplans == NIL)
		return;
	foreach(lc, pushdown->targets)
	{
		const JoinTarget *target = lfirst(lc);
		CteScan    *scan = cte_scan_of(target);
		const AttrNumber *behind;

		if (scan == NULL)
			continue;
		behind = columns_of_cte(pushdown, target, scan);
		if (behind != NULL && enter_cte(pushdown, scan, behind))
		{
			bloomfam_join_pushdown_enter_ctes(pushdown);
			return;
		}
	}
}
