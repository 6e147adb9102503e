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
		bool		indifferent;
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
find_params(JoinQuery *query, Plan *plan)
{
	ListCell   *lc;
	ListCell   *lp;

	if (plan == NULL)
		return;
	check_stack_depth();
	if (IsA(plan, ModifyTable))
		query->epq_params = bms_add_member(query->epq_params, ((ModifyTable *) plan)->epqParam);
	else if (IsA(plan, LockRows))
		query->epq_params = bms_add_member(query->epq_params, ((LockRows *) plan)->epqParam);
	foreach(lc, plan->initPlan)
	{
		const SubPlan *subplan = lfirst_node(SubPlan, lc);

		if (bms_is_member(subplan->plan_id, query->volatility->plans))
			foreach(lp, subplan->setParam)
				query->volatility->params =
					bms_add_member(query->volatility->params, lfirst_int(lp));
	}
	foreach(lc, bloomfam_join_other_children(plan))
		find_params(query, lfirst(lc));
	find_params(query, plan->lefttree);
	find_params(query, plan->righttree);
}

bool
bloomfam_join_is_on_its_own(const JoinQuery *query, const Plan *plan)
{
	return bms_is_subset(plan->extParam, query->epq_params);
}

static bool
is_known(const JoinKnown *known, const Plan *plan)
{
	return plan->plan_node_id >= 0 && plan->plan_node_id < known->n &&
		   known->nodes[plan->plan_node_id].plan == plan;
}

/* Notes what was found of a node, and returns it. */
static bool
note_known(JoinKnown *known, const Plan *plan, bool indifferent)
{
	int			i = plan->plan_node_id;
	int			n = Max(known->n, 16);

	if (i < 0 || i >= MOST_KNOWN)
		return indifferent;
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
	known->nodes[i].indifferent = indifferent;
	return indifferent;
}

/* Have a node's own expressions subplans, those of its keys included or not? */
static bool
has_subplans(const JoinQuery *query, Plan *plan, bool in_keys)
{
	return query->stmt->subplans != NIL && bloomfam_join_node_has_subplans(plan, in_keys);
}

bool
bloomfam_join_node_is_indifferent(const JoinQuery *query, Plan *plan)
{
	if (is_known(query->nodes, plan))
		return query->nodes->nodes[plan->plan_node_id].indifferent;
	return note_known(query->nodes, plan,
					  !has_subplans(query, plan, false) &&
						  !bloomfam_join_node_is_volatile(query->stmt, plan, query->volatility));
}

/* Are all plans of a list indifferent as a whole? */
static bool
trees_are_indifferent(const JoinQuery *query, const List *plans)
{
	ListCell   *lc;

	foreach(lc, plans)
		if (!bloomfam_join_tree_is_indifferent(query, lfirst(lc)))
			return false;
	return true;
}

bool
bloomfam_join_tree_is_indifferent(const JoinQuery *query, Plan *plan)
{
	if (plan == NULL)
		return true;
	if (is_known(query->trees, plan))
		return query->trees->nodes[plan->plan_node_id].indifferent;
	check_stack_depth();
	return note_known(query->trees, plan,
					  !bloomfam_join_node_is_volatile(query->stmt, plan, query->volatility) &&
						  !bloomfam_join_is_volatile(plan->initPlan, query->volatility) &&
						  trees_are_indifferent(query, bloomfam_join_other_children(plan)) &&
						  bloomfam_join_tree_is_indifferent(query, plan->lefttree) &&
						  bloomfam_join_tree_is_indifferent(query, plan->righttree));
}

bool
bloomfam_join_is_repeatable(const JoinQuery *query, Plan *plan)
{
	ListCell   *lc;

	if (plan == NULL)
		return true;
	check_stack_depth();
	if (!bloomfam_join_plan_node(plan)->repeatable)
		return false;
	foreach(lc, bloomfam_join_other_children(plan))
		if (!bloomfam_join_is_repeatable(query, lfirst(lc)))
			return false;
	return bloomfam_join_node_is_indifferent(query, plan) && !has_subplans(query, plan, true) &&
		   bloomfam_join_is_repeatable(query, plan->lefttree) &&
		   bloomfam_join_is_repeatable(query, plan->righttree);
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
bloomfam_join_query_init(JoinQuery *query, PlannedStmt *stmt)
{
	ListCell   *lc;

	query->stmt = stmt;
	query->has_barrier = false;
	query->epq_params = NULL;
	query->volatility = palloc0(sizeof(JoinVolatility));
	query->nodes = palloc0(sizeof(JoinKnown));
	query->trees = palloc0(sizeof(JoinKnown));
	foreach(lc, stmt->rtable)
		query->has_barrier |= lfirst_node(RangeTblEntry, lc)->security_barrier;

	/* what a subplan asks for comes before it in their list, as it was planned before */
	foreach(lc, stmt->subplans)
	{
		find_params(query, lfirst(lc));
		if (!bloomfam_join_tree_is_indifferent(query, lfirst(lc)))
			query->volatility->plans =
				bms_add_member(query->volatility->plans, foreach_current_index(lc) + 1);
	}
	find_params(query, stmt->planTree);

	/* what was found of subplans came before all such parameters were known */
	memset(query->trees, 0, sizeof(JoinKnown));
}
