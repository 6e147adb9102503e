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

/* No more nodes are remembered, whatever numbers they have. */
#define MOST_KNOWN	65536

/*
 * Cached answers for the nodes of a plan.  Each is at its plan_node_id; nodes that other extensions
 * have added may have one in common.
 */
struct JoinKnown
{
	int			n;
	struct
	{
		const Plan *plan;		/* NULL: none yet */
		bool		volatile_free;
	}		   *nodes;
};

int
bloomfam_join_workers(const Plan *plan, int workers)
{
	if (IsA(plan, Gather))
		return ((const Gather *) plan)->num_workers;
	return IsA(plan, GatherMerge) ? ((const GatherMerge *) plan)->num_workers : workers;
}

/*
 * Adds the parameters by which EvalPlanQual tells scans to begin anew, and those of volatile
 * subplans that are evaluated when their result is first needed (initPlans).  Finds the highest
 * number of a node, too.
 */
static bool
find_params(Plan **slot, void *context)
{
	JoinPlanInfo *plan_info = context;
	Plan	   *plan = *slot;
	ListCell   *lc;
	ListCell   *lp;

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

bool
bloomfam_join_is_on_its_own(const JoinPlanInfo *plan_info, const Plan *plan)
{
	return bms_is_subset(plan->extParam, plan_info->epq_params);
}

static bool
is_known(const JoinKnown *known, const Plan *plan)
{
	return plan->plan_node_id >= 0 && plan->plan_node_id < known->n &&
		   known->nodes[plan->plan_node_id].plan == plan;
}

/* Notes what was found of a node, and returns it. */
static bool
note_known(JoinKnown *known, const Plan *plan, bool volatile_free)
{
	int			i = plan->plan_node_id;
	int			n = Max(known->n, 16);

	if (i < 0 || i >= MOST_KNOWN)
		return volatile_free;
	while (n <= i)
		n *= 2;
	Assert(n <= MOST_KNOWN);
	if (known->n == 0)
		known->nodes = palloc0(n * sizeof(*known->nodes));
	else if (known->n < n)
	{
		known->nodes = repalloc(known->nodes, n * sizeof(*known->nodes));
		memset(&known->nodes[known->n], 0, (n - known->n) * sizeof(*known->nodes));
	}
	known->n = n;
	known->nodes[i].plan = plan;
	known->nodes[i].volatile_free = volatile_free;
	return volatile_free;
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

	if ((!node->is_known && bloomfam_join_node_kind(plan) == JOIN_NODE_OTHER) ||
		node->locks_rows ||
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

/* Have a node's own expressions subplans, those of its keys included or not? */
static bool
has_subplans(const JoinPlanInfo *plan_info, Plan *plan, bool in_keys)
{
	return plan_info->stmt->subplans != NIL &&
		   contain_subplans((Node *) bloomfam_plan_expressions(plan, in_keys));
}

bool
bloomfam_join_node_is_volatile_free(const JoinPlanInfo *plan_info, Plan *plan)
{
	if (is_known(plan_info->nodes, plan))
		return plan_info->nodes->nodes[plan->plan_node_id].volatile_free;
	return note_known(
		plan_info->nodes, plan,
		!has_subplans(plan_info, plan, false) && !node_is_volatile(plan_info, plan));
}

static bool
tree_is_volatile(Plan **slot, void *plan_info)
{
	return !bloomfam_join_tree_is_volatile_free(plan_info, *slot);
}

bool
bloomfam_join_tree_is_volatile_free(const JoinPlanInfo *plan_info, Plan *plan)
{
	if (is_known(plan_info->trees, plan))
		return plan_info->trees->nodes[plan->plan_node_id].volatile_free;
	return note_known(
		plan_info->trees, plan,
		!node_is_volatile(plan_info, plan) &&
			!bloomfam_join_is_volatile(plan->initPlan, plan_info->volatility) &&
			!bloomfam_plan_walker(plan, tree_is_volatile,
									   unconstify(JoinPlanInfo *, plan_info)));
}

static bool
is_unrepeatable(Plan **slot, void *plan_info)
{
	return !bloomfam_join_is_repeatable(plan_info, *slot);
}

bool
bloomfam_join_is_repeatable(const JoinPlanInfo *plan_info, Plan *plan)
{
	return (bloomfam_plan_node(plan)->repeatable ||
			bloomfam_join_node_kind(plan) != JOIN_NODE_OTHER) &&
		   bloomfam_join_node_is_volatile_free(plan_info, plan) &&
		   !has_subplans(plan_info, plan, true) &&
		   !bloomfam_plan_walker(plan, is_unrepeatable,
									  unconstify(JoinPlanInfo *, plan_info));
}

/* Does a node group rows, or one below it? */
static bool
groups_rows(Plan **slot, void *unused)
{
	BloomfamGrouping grouping;

	return bloomfam_plan_grouping(*slot, &grouping) ||
		   bloomfam_plan_walker(*slot, groups_rows, NULL);
}

/*
 * Is a column of a plan's rows the same each time, as the rows are?  What an aggregate computes, or
 * DISTINCT ON keeps of a group, may depend on the order in which rows come, which scans and workers
 * do not promise.
 */
static bool
column_is_repeatable(Plan *plan, AttrNumber attribute)
{
	BloomfamGrouping grouping;
	AttrNumber	behind;
	ListCell   *lc;
	int			i;

	check_stack_depth();
	if (bloomfam_plan_grouping(plan, &grouping))
	{
		behind = bloomfam_join_column_behind(plan, attribute, OUTER_VAR);
		for (i = 0; i < grouping.n; i++)
			if (grouping.columns[i] == behind)
				return column_is_repeatable(plan->lefttree, behind);
		return false;
	}
	switch (nodeTag(plan))
	{
		case T_Append:
		case T_MergeAppend:
			foreach(lc, bloomfam_plan_children(plan))
				if (!column_is_repeatable(lfirst(lc), attribute))
					return false;
			return true;
		case T_SubqueryScan:
			behind =
				bloomfam_join_column_behind(plan, attribute, ((Scan *) plan)->scanrelid);
			return behind != 0 ? column_is_repeatable(((SubqueryScan *) plan)->subplan, behind)
							   : !groups_rows(&plan, NULL);
		case T_CustomScan:
			return column_is_repeatable(plan->lefttree, attribute);
		default:
			break;
	}
	if (plan->lefttree != NULL)
	{
		behind = bloomfam_join_column_behind(plan, attribute, OUTER_VAR);
		if (behind != 0)
			return column_is_repeatable(plan->lefttree, behind);
	}
	if (plan->righttree != NULL)
	{
		behind = bloomfam_join_column_behind(plan, attribute, INNER_VAR);
		if (behind != 0)
			return column_is_repeatable(plan->righttree, behind);
	}
	return !groups_rows(&plan, NULL);
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
	plan_info->nodes = palloc0(sizeof(JoinKnown));
	plan_info->trees = palloc0(sizeof(JoinKnown));
	foreach(lc, stmt->rtable)
		plan_info->has_barrier |= lfirst_node(RangeTblEntry, lc)->security_barrier;

	/* a subplan comes after those that it has itself, as these were planned before */
	foreach(lc, stmt->subplans)
	{
		if (lfirst(lc) == NULL) /* an alternative that the planner has not chosen */
			continue;
		find_params((Plan **) &lfirst(lc), plan_info);
		if (!bloomfam_join_tree_is_volatile_free(plan_info, lfirst(lc)))
			plan_info->volatility->plans =
				bms_add_member(plan_info->volatility->plans, foreach_current_index(lc) + 1);
	}
	find_params(&stmt->planTree, plan_info);

	/* forget cached answers: they came before all volatile parameters were known */
	memset(plan_info->trees, 0, sizeof(JoinKnown));
}
