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
#include "optimizer/optimizer.h"

#include "join/base/column.h"
#include "join/planner/plan_volatility.h"

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
 * subplans that are evaluated when their result is first needed (initPlans).
 */
static bool
find_params(Plan **slot, void *context)
{
	JoinPlanInfo *plan_info = context;
	Plan	   *plan = *slot;
	ListCell   *lc;
	ListCell   *lp;

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
	return bloomfam_join_plan_walker(plan, find_params, plan_info);
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
		!bloomfam_join_node_is_volatile(plan_info->stmt, plan, plan_info->volatility) &&
			!bloomfam_join_is_volatile(plan->initPlan, plan_info->volatility) &&
			!bloomfam_join_plan_walker(plan, tree_is_volatile,
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
	return bloomfam_join_plan_node(plan)->repeatable &&
		   bloomfam_join_node_is_volatile_free(plan_info, plan) &&
		   !has_subplans(plan_info, plan, true) &&
		   !bloomfam_join_plan_walker(plan, is_unrepeatable,
									  unconstify(JoinPlanInfo *, plan_info));
}

/* Does a node group rows, or one below it? */
static bool
groups_rows(Plan **slot, void *unused)
{
	JoinGrouping grouping;

	return bloomfam_join_grouping(*slot, &grouping) ||
		   bloomfam_join_plan_walker(*slot, groups_rows, NULL);
}

/*
 * Is a column of a plan's rows the same each time, as the rows are?  What an aggregate computes, or
 * DISTINCT ON keeps of a group, may depend on the order in which rows come, which scans and workers
 * do not promise.
 */
static bool
column_is_repeatable(Plan *plan, AttrNumber attribute)
{
	JoinGrouping grouping;
	AttrNumber	behind;
	ListCell   *lc;
	int			i;

	check_stack_depth();
	if (bloomfam_join_grouping(plan, &grouping))
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
			foreach(lc, bloomfam_join_child_list(plan))
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

	plan_info->stmt = stmt;
	plan_info->has_barrier = false;
	plan_info->epq_params = NULL;
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
