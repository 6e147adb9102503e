/*-------------------------------------------------------------------------
 *
 * plan_volatility.c
 *	  A finished plan, and what its nodes notice and repeat.
 *
 * A filter makes a part of a plan give less rows.  Then other parts are asked less often, which
 * volatile functions would notice.  And a plan that runs again must give the same rows again, where
 * something was kept that depends on them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "optimizer/optimizer.h"

#include "join/base/column.h"
#include "join/planner/plan_volatility.h"

/* No more nodes are remembered, whatever numbers they have. */
#define MOST_KNOWN	65536

/*
 * What is known of nodes of a plan, so that none is looked at again.  Each is at its number; nodes
 * that others have added may share one.
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
 * Adds the parameters by which EvalPlanQual tells scans to begin anew, and those of subqueries
 * that notice how often they are asked, which they are when the first row needs them.
 */
static void
find_params(JoinPlanInfo *plan_info, Plan *plan)
{
	ListCell   *lc;
	ListCell   *lp;

	if (plan == NULL)
		return;
	check_stack_depth();
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
	foreach(lc, bloomfam_join_other_children(plan))
		find_params(plan_info, lfirst(lc));
	find_params(plan_info, plan->lefttree);
	find_params(plan_info, plan->righttree);
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

/* Have a node's own expressions subplans, those of its keys included or not? */
static bool
has_subplans(const JoinPlanInfo *plan_info, Plan *plan, bool in_keys)
{
	return plan_info->stmt->subplans != NIL && bloomfam_join_node_has_subplans(plan, in_keys);
}

bool
bloomfam_join_node_is_volatile_free(const JoinPlanInfo *plan_info, Plan *plan)
{
	if (is_known(plan_info->nodes, plan))
		return plan_info->nodes->nodes[plan->plan_node_id].volatile_free;
	return note_known(
		plan_info->nodes, plan,
		!has_subplans(plan_info, plan, false) &&
			!bloomfam_join_node_is_volatile(plan_info->stmt, plan, plan_info->volatility));
}

/* Are all plans of a list indifferent as a whole? */
static bool
trees_are_volatile_free(const JoinPlanInfo *plan_info, const List *plans)
{
	ListCell   *lc;

	foreach(lc, plans)
		if (!bloomfam_join_tree_is_volatile_free(plan_info, lfirst(lc)))
			return false;
	return true;
}

bool
bloomfam_join_tree_is_volatile_free(const JoinPlanInfo *plan_info, Plan *plan)
{
	if (plan == NULL)
		return true;
	if (is_known(plan_info->trees, plan))
		return plan_info->trees->nodes[plan->plan_node_id].volatile_free;
	check_stack_depth();
	return note_known(
		plan_info->trees, plan,
		!bloomfam_join_node_is_volatile(plan_info->stmt, plan, plan_info->volatility) &&
			!bloomfam_join_is_volatile(plan->initPlan, plan_info->volatility) &&
			trees_are_volatile_free(plan_info, bloomfam_join_other_children(plan)) &&
			bloomfam_join_tree_is_volatile_free(plan_info, plan->lefttree) &&
			bloomfam_join_tree_is_volatile_free(plan_info, plan->righttree));
}

bool
bloomfam_join_is_repeatable(const JoinPlanInfo *plan_info, Plan *plan)
{
	ListCell   *lc;

	if (plan == NULL)
		return true;
	check_stack_depth();
	if (!bloomfam_join_plan_node(plan)->repeatable)
		return false;
	foreach(lc, bloomfam_join_other_children(plan))
		if (!bloomfam_join_is_repeatable(plan_info, lfirst(lc)))
			return false;
	return bloomfam_join_node_is_volatile_free(plan_info, plan) &&
		   !has_subplans(plan_info, plan, true) &&
		   bloomfam_join_is_repeatable(plan_info, plan->lefttree) &&
		   bloomfam_join_is_repeatable(plan_info, plan->righttree);
}

/* Does a node group rows, or one below it? */
static bool
groups_rows(Plan *plan)
{
	ListCell   *lc;

	if (plan == NULL)
		return false;
	check_stack_depth();
	if (IsA(plan, Agg) || IsA(plan, Group) || IsA(plan, Unique))
		return true;
	foreach(lc, bloomfam_join_other_children(plan))
		if (groups_rows(lfirst(lc)))
			return true;
	return groups_rows(plan->lefttree) || groups_rows(plan->righttree);
}

/* Is a column of a plan's rows the same each time, as the rows are? */
static bool column_is_repeatable(Plan *plan, AttrNumber attribute);

/* The same of a node that groups rows, by these columns of its child. */
static bool
grouped_is_repeatable(Plan *plan, AttrNumber attribute, int n, const AttrNumber *columns)
{
	AttrNumber	behind = bloomfam_join_column_behind(plan, attribute, OUTER_VAR);
	int			i;

	for (i = 0; i < n; i++)
		if (columns[i] == behind)
			return column_is_repeatable(plan->lefttree, behind);
	return false;
}

/*
 * What an aggregate computes, or DISTINCT ON keeps of a group, may depend on the order in which
 * rows come, which scans and workers do not promise.
 */
static bool
column_is_repeatable(Plan *plan, AttrNumber attribute)
{
	AttrNumber	behind;
	ListCell   *lc;

	check_stack_depth();
	switch (nodeTag(plan))
	{
		case T_Agg:
			return grouped_is_repeatable(plan, attribute, ((Agg *) plan)->numCols,
										 ((Agg *) plan)->grpColIdx);
		case T_Group:
			return grouped_is_repeatable(plan, attribute, ((Group *) plan)->numCols,
										 ((Group *) plan)->grpColIdx);
		case T_Unique:
			return grouped_is_repeatable(plan, attribute, ((Unique *) plan)->numCols,
										 ((Unique *) plan)->uniqColIdx);
		case T_Append:
		case T_MergeAppend:
			foreach(lc, bloomfam_join_other_children(plan))
				if (!column_is_repeatable(lfirst(lc), attribute))
					return false;
			return true;
		case T_SubqueryScan:
			behind =
				bloomfam_join_column_behind(plan, attribute, ((Scan *) plan)->scanrelid);
			return behind != 0 ? column_is_repeatable(((SubqueryScan *) plan)->subplan, behind)
							   : !groups_rows(plan);
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
	return !groups_rows(plan);
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

	plan_info->stmt = stmt;
	plan_info->has_barrier = false;
	plan_info->epq_params = NULL;
	plan_info->volatility = palloc0(sizeof(JoinVolatility));
	plan_info->nodes = palloc0(sizeof(JoinKnown));
	plan_info->trees = palloc0(sizeof(JoinKnown));
	foreach(lc, stmt->rtable)
		plan_info->has_barrier |= lfirst_node(RangeTblEntry, lc)->security_barrier;

	/* what a subplan asks for comes before it in their list, as it was planned before */
	foreach(lc, stmt->subplans)
	{
		find_params(plan_info, lfirst(lc));
		if (!bloomfam_join_tree_is_volatile_free(plan_info, lfirst(lc)))
			plan_info->volatility->plans =
				bms_add_member(plan_info->volatility->plans, foreach_current_index(lc) + 1);
	}
	find_params(plan_info, stmt->planTree);

	/* what was found of subplans came before all such parameters were known */
	memset(plan_info->trees, 0, sizeof(JoinKnown));
}
