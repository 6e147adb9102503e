/*-------------------------------------------------------------------------
 *
 * plan_volatility.c
 *	  A finished plan: which parts of it are volatile, and which are repeatable.
 *
 * A filter makes a part of a plan give fewer rows.  Then other parts run less often, which could be
 * seen by what volatile functions do.  And a plan that runs again must give the same rows again,
 * where something was kept that depends on them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"

#include "join/base/column.h"
#include "join/base/filter_info.h"
#include "join/planner/plan_volatility.h"
#include "pg/compat.h"
#include "pg/plan_nodes.h"

int
bloomfam_join_workers(const Plan *plan, int workers)
{
	if (IsA(plan, Gather))
		return ((const Gather *) plan)->num_workers;
	return IsA(plan, GatherMerge) ? ((const GatherMerge *) plan)->num_workers : workers;
}

/*
 * Adds the parameters by which EvalPlanQual tells scans to begin anew, and those of volatile
 * subplans that are evaluated when their result is first needed (initPlans).  Notes the highest
 * number of a node, and whether there is a hash join.
 */
static bool
find_params(Plan **slot, void *context)
{
	JoinPlanInfo *plan_info = context;
	Plan	   *plan = *slot;
	ListCell   *lc;
	ListCell   *lp;

	plan_info->has_hash_join |= IsA(plan, HashJoin);
	plan_info->highest_node_id = Max(plan_info->highest_node_id, plan->plan_node_id);
	if (IsA(plan, ModifyTable))
		plan_info->epq_params =
			bms_add_member(plan_info->epq_params, ((ModifyTable *) plan)->epqParam);
	else if (IsA(plan, LockRows))
		plan_info->epq_params =
			bms_add_member(plan_info->epq_params, ((LockRows *) plan)->epqParam);
	foreach(lc, plan->initPlan)
	{
		const SubPlan *subplan = lfirst_node(SubPlan, lc);

		if (bms_is_member(subplan->plan_id, plan_info->volatility->plans))
			foreach(lp, subplan->setParam)
				plan_info->volatility->params =
					bms_add_member(plan_info->volatility->params, lfirst_int(lp));
	}
	return bloomfam_plan_walker(plan, find_params, plan_info);
}

/* Is what an Append is pruned by while it runs volatile? */
static bool
pruning_is_volatile(const PartitionPruneInfo *pruning, JoinVolatility *volatility)
{
	ListCell   *lt;
	ListCell   *lp;
	ListCell   *ls;

	if (pruning == NULL)
		return false;
	foreach(lt, pruning->prune_infos)
		foreach(lp, lfirst(lt))
			foreach(ls, lfirst_node(PartitionedRelPruneInfo, lp)->exec_pruning_steps)
			{
				const Node *step = lfirst(ls);

				if (IsA(step, PartitionPruneStepCombine))
					continue;
				if (!IsA(step, PartitionPruneStepOp) ||
					bloomfam_join_is_volatile(((const PartitionPruneStepOp *) step)->exprs,
											  volatility))
					return true;
			}
	return false;
}

/* Is a table among these locked or changed by the statement, maybe by the server that has it? */
static bool
is_locked(const PlannedStmt *stmt, const Bitmapset *relations)
{
	ListCell   *lc;

	foreach(lc, stmt->rowMarks)
	{
		const PlanRowMark *mark = lfirst_node(PlanRowMark, lc);

		if (mark->strength != LCS_NONE &&
			(bms_is_member(mark->rti, relations) || bms_is_member(mark->prti, relations)))
			return true;
	}
	return bloomfam_changes_relation(stmt, relations);
}

/*
 * Can it be seen how often a foreign scan runs: does it lock rows there, or are values checked by
 * something volatile when they arrive?
 */
static bool
foreign_scan_is_volatile(const PlannedStmt *stmt, ForeignScan *scan, JoinVolatility *volatility)
{
	List	   *columns = pull_var_clause((Node *) list_make3(scan->scan.plan.targetlist,
															  scan->scan.plan.qual,
															  scan->fdw_scan_tlist),
										  PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS |
											  PVC_RECURSE_PLACEHOLDERS);
	ListCell   *lc;

	if (scan->operation != CMD_SELECT || is_locked(stmt, scan->fs_relids))
		return true;
	foreach(lc, columns)
		if (bloomfam_join_type_is_volatile(lfirst_node(Var, lc)->vartype, volatility))
			return true;
	return false;
}

/*
 * Could it be seen how often a node's own expressions are evaluated, or has it any that are not
 * known?
 */
static bool
node_is_volatile(const JoinPlanInfo *plan_info, Plan *plan)
{
	const PlannedStmt *stmt = plan_info->stmt;
	JoinVolatility *volatility = plan_info->volatility;
	const BloomfamPlanNode *node = bloomfam_plan_node(plan);

	if (!node->is_known || node->locks_rows ||
		bloomfam_join_is_volatile(bloomfam_plan_expressions(plan, true), volatility))
		return true;
	switch (nodeTag(plan))
	{
		case T_CteScan:
			return bms_is_member(((CteScan *) plan)->ctePlanId, volatility->plans);
		case T_Append:
			return pruning_is_volatile(BLOOMFAM_PRUNING_OF(stmt, (Append *) plan), volatility);
		case T_MergeAppend:
			return pruning_is_volatile(BLOOMFAM_PRUNING_OF(stmt, (MergeAppend *) plan), volatility);
		case T_ForeignScan:
			return foreign_scan_is_volatile(stmt, (ForeignScan *) plan, volatility);
		default:
			return false;
	}
}

/* Is a node or what is below it volatile?  Its subplans count, initPlans included. */
static bool
tree_is_volatile(Plan **slot, void *plan_info)
{
	JoinPlanInfo *info = plan_info;

	return node_is_volatile(info, *slot) ||
		   bloomfam_join_is_volatile((*slot)->initPlan, info->volatility) ||
		   bloomfam_plan_walker(*slot, tree_is_volatile, info);
}

/* The member of a set that a node is, or what is below nodes of ours. */
static int
member_of(Plan *plan)
{
	return (unsigned) bloomfam_join_below_own(plan)->plan_node_id % 65536;
}

static bool
is_in_volatile_trees(Plan **slot, void *plan_info)
{
	return bms_is_member(member_of(*slot), ((JoinPlanInfo *) plan_info)->volatile_trees);
}

static bool
is_in_unrepeatable_trees(Plan **slot, void *plan_info)
{
	return bms_is_member(member_of(*slot), ((JoinPlanInfo *) plan_info)->unrepeatable_trees);
}

/* Have a node's own expressions subplans, those of its keys included or not? */
static bool
has_subplans(const JoinPlanInfo *plan_info, Plan *plan, bool in_keys)
{
	return plan_info->stmt->subplans != NIL &&
		   contain_subplans((Node *) bloomfam_plan_expressions(plan, in_keys));
}

/* Finds the members of all three sets in a plan, from the bottom up. */
static bool
fill_sets(Plan **slot, void *plan_info)
{
	JoinPlanInfo *info = plan_info;
	Plan	   *plan = *slot;
	int			member = member_of(plan);
	bool		is_volatile = node_is_volatile(info, plan);

	bloomfam_plan_walker(plan, fill_sets, info);
	if (is_volatile || has_subplans(info, plan, false))
		info->volatile_nodes = bms_add_member(info->volatile_nodes, member);
	if (is_volatile || bloomfam_join_is_volatile(plan->initPlan, info->volatility) ||
		bloomfam_plan_walker(plan, is_in_volatile_trees, info))
		info->volatile_trees = bms_add_member(info->volatile_trees, member);
	if (is_volatile || has_subplans(info, plan, true) || !bloomfam_plan_node(plan)->repeatable ||
		bloomfam_plan_walker(plan, is_in_unrepeatable_trees, info))
		info->unrepeatable_trees = bms_add_member(info->unrepeatable_trees, member);
	return false;
}

bool
bloomfam_join_node_is_volatile_free(const JoinPlanInfo *plan_info, Plan *plan)
{
	return !bms_is_member(member_of(plan), plan_info->volatile_nodes);
}

bool
bloomfam_join_tree_is_volatile_free(const JoinPlanInfo *plan_info, Plan *plan)
{
	return !bms_is_member(member_of(plan), plan_info->volatile_trees);
}

bool
bloomfam_join_is_repeatable(const JoinPlanInfo *plan_info, Plan *plan)
{
	return !bms_is_member(member_of(plan), plan_info->unrepeatable_trees);
}

/* Does a node group rows, or one below it? */
static bool
groups_rows(Plan **slot, void *unused)
{
	return bloomfam_plan_groups(*slot) || bloomfam_plan_walker(*slot, groups_rows, NULL);
}

/*
 * Is a column of a plan's rows the same each time, as the rows are?  What an aggregate computes, or
 * DISTINCT ON keeps of a group, may depend on the order in which rows come, which scans and workers
 * do not promise.
 */
static bool
column_is_repeatable(Plan *plan, AttrNumber attribute)
{
	Plan	   *child;
	AttrNumber	behind = 0;
	ListCell   *lc;
	Oid			operator;
	Oid			collation;

	check_stack_depth();
	plan = bloomfam_join_below_own(plan);
	if (IsA(plan, Append) || IsA(plan, MergeAppend))
	{
		foreach(lc, bloomfam_plan_children(plan))
			if (!column_is_repeatable(lfirst(lc), attribute))
				return false;
		return true;
	}
	child = IsA(plan, SubqueryScan) ? ((SubqueryScan *) plan)->subplan : plan->lefttree;
	if (child != NULL)
		behind = bloomfam_join_column_behind(plan, attribute,
											 IsA(plan, SubqueryScan)
												 ? (int) ((Scan *) plan)->scanrelid
												 : OUTER_VAR);
	if (bloomfam_plan_groups(plan) &&
		!bloomfam_plan_groups_by(plan, behind, &operator, &collation))
		return false;
	if (behind == 0 && plan->righttree != NULL)
	{
		child = plan->righttree;
		behind = bloomfam_join_column_behind(plan, attribute, INNER_VAR);
	}
	return behind != 0 ? column_is_repeatable(child, behind) : !groups_rows(&plan, NULL);
}

bool
bloomfam_join_expression_is_repeatable(Plan *plan, Expr *expression)
{
	ListCell   *lc;

	foreach(lc, pull_var_clause((Node *) expression, 0))
		if (!column_is_repeatable(plan, lfirst_node(Var, lc)->varattno))
			return false;
	return true;
}

void
bloomfam_join_plan_info_init(JoinPlanInfo *plan_info, PlannedStmt *stmt)
{
	ListCell   *lc;

	memset(plan_info, 0, sizeof(*plan_info));
	plan_info->stmt = stmt;
	plan_info->volatility = palloc0(sizeof(JoinVolatility));
	foreach(lc, stmt->rtable)
		plan_info->has_barrier |= lfirst_node(RangeTblEntry, lc)->security_barrier;

	/* a subplan comes after those that it has itself, as these were planned before */
	foreach(lc, stmt->subplans)
	{
		if (lfirst(lc) == NULL) /* an alternative that the planner has not chosen */
			continue;
		find_params((Plan **) &lfirst(lc), plan_info);
		if (tree_is_volatile((Plan **) &lfirst(lc), plan_info))
			plan_info->volatility->plans =
				bms_add_member(plan_info->volatility->plans, foreach_current_index(lc) + 1);
	}
	find_params(&stmt->planTree, plan_info);

	/* all volatile parameters are known; without a hash join nobody asks */
	if (plan_info->has_hash_join)
		bloomfam_plan_stmt_walker(stmt, fill_sets, plan_info);
}
