/*-------------------------------------------------------------------------
 *
 * query.c
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
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"

#include "join/column.h"
#include "join/query.h"
#include "join/spec.h"

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

List *
bloomfam_join_other_children(Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_Append:
			return ((Append *) plan)->appendplans;
		case T_MergeAppend:
			return ((MergeAppend *) plan)->mergeplans;
		case T_BitmapAnd:
			return ((BitmapAnd *) plan)->bitmapplans;
		case T_BitmapOr:
			return ((BitmapOr *) plan)->bitmapplans;
		case T_SubqueryScan:
			return list_make1(((SubqueryScan *) plan)->subplan);
		case T_CustomScan:
			return ((CustomScan *) plan)->custom_plans;
		default:
			return NIL;
	}
}

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

		if (bms_is_member(subplan->plan_id, query->noticing))
			foreach(lp, subplan->setParam)
				query->noticing_params =
					bms_add_member(query->noticing_params, lfirst_int(lp));
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

/* Is there a subquery that notices how often it is asked, or what one gives? */
static bool
has_noticing_subplan(Node *node, void *context)
{
	const JoinQuery *query = context;

	if (node == NULL)
		return false;
	if (IsA(node, SubPlan) && bms_is_member(((SubPlan *) node)->plan_id, query->noticing))
		return true;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC &&
		bms_is_member(((Param *) node)->paramid, query->noticing_params))
		return true;
	return expression_tree_walker(node, has_noticing_subplan, context);
}

/*
 * Does an expression, or a list of them, notice nothing of how often it is asked?  There may be
 * subqueries in it, which it is worth most to ask less often.
 */
static bool
notices_nothing(const JoinQuery *query, void *expression)
{
	return !contain_volatile_functions(expression) &&
		   (query->noticing == NULL ||
			!has_noticing_subplan(expression, unconstify(JoinQuery *, query)));
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

/* The keys that a node compares, or the functions or values that it asks for: NULL if none. */
static void *
keys_of(Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_HashJoin:
			return ((HashJoin *) plan)->hashclauses;
		case T_MergeJoin:
			return ((MergeJoin *) plan)->mergeclauses;
		case T_Hash:
			return ((Hash *) plan)->hashkeys;
		case T_IndexScan:
			return ((IndexScan *) plan)->indexqualorig;
		case T_IndexOnlyScan:
			return ((IndexOnlyScan *) plan)->indexqual;
		case T_BitmapHeapScan:
			return ((BitmapHeapScan *) plan)->bitmapqualorig;
		case T_FunctionScan:
			return ((FunctionScan *) plan)->functions;
		case T_TableFuncScan:
			return ((TableFuncScan *) plan)->tablefunc;
		case T_ValuesScan:
			return ((ValuesScan *) plan)->values_lists;
		case T_SampleScan:
			return ((SampleScan *) plan)->tablesample;
		case T_Limit:
			return ((Limit *) plan)->limitCount;
		case T_WindowAgg:
			return ((WindowAgg *) plan)->startOffset;
		default:
			return NULL;
	}
}

/*
 * The conditions of a join beside its keys, or of a Result beside its rows', or what else a node
 * asks for: NULL if nothing.
 */
static void *
conditions_of(Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_HashJoin:
		case T_NestLoop:
		case T_MergeJoin:
			return ((Join *) plan)->joinqual;
		case T_Result:
			return ((Result *) plan)->resconstantqual;
		case T_Limit:
			return ((Limit *) plan)->limitOffset;
		case T_WindowAgg:
			return ((WindowAgg *) plan)->endOffset;
		default:
			return NULL;
	}
}

bool
bloomfam_join_node_is_indifferent(const JoinQuery *query, Plan *plan)
{
	void	   *others = conditions_of(plan);

	if (is_known(query->nodes, plan))
		return query->nodes->nodes[plan->plan_node_id].indifferent;
	return note_known(query->nodes, plan,
					  !contain_subplans((Node *) plan->qual) &&
						  !contain_subplans((Node *) plan->targetlist) &&
						  !contain_subplans(others) && notices_nothing(query, plan->qual) &&
						  notices_nothing(query, plan->targetlist) &&
						  notices_nothing(query, others) &&
						  notices_nothing(query, keys_of(plan)));
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
	if (IsA(plan, CteScan) && bms_is_member(((CteScan *) plan)->ctePlanId, query->noticing))
		return note_known(query->trees, plan, false);
	return note_known(query->trees, plan,
					  !IsA(plan, LockRows) && notices_nothing(query, plan->qual) &&
						  notices_nothing(query, plan->targetlist) &&
						  notices_nothing(query, conditions_of(plan)) &&
						  notices_nothing(query, keys_of(plan)) &&
						  notices_nothing(query, plan->initPlan) &&
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
	switch (nodeTag(plan))
	{
		case T_SeqScan:
		case T_IndexScan:
		case T_IndexOnlyScan:
		case T_BitmapHeapScan:
		case T_BitmapIndexScan:
		case T_BitmapAnd:
		case T_BitmapOr:
		case T_Result:
		case T_Append:
		case T_MergeAppend:
		case T_SubqueryScan:
		case T_Sort:
		case T_IncrementalSort:
		case T_Material:
		case T_Memoize:
		case T_Hash:
		case T_HashJoin:
		case T_NestLoop:
		case T_MergeJoin:
		case T_Agg:
		case T_Group:
		case T_Unique:
		case T_Gather:
		case T_GatherMerge:
			break;
		default:
			if (bloomfam_join_node_kind(plan) == JOIN_NODE_OTHER)
				return false;
	}
	foreach(lc, bloomfam_join_other_children(plan))
		if (!bloomfam_join_is_repeatable(query, lfirst(lc)))
			return false;
	return bloomfam_join_node_is_indifferent(query, plan) &&
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
	query->epq_params = query->noticing = query->noticing_params = NULL;
	query->nodes = palloc0(sizeof(JoinKnown));
	query->trees = palloc0(sizeof(JoinKnown));
	foreach(lc, stmt->rtable)
		query->has_barrier |= lfirst_node(RangeTblEntry, lc)->security_barrier;

	/* what a subplan asks for comes before it in their list, as it was planned before */
	foreach(lc, stmt->subplans)
	{
		find_params(query, lfirst(lc));
		if (!bloomfam_join_tree_is_indifferent(query, lfirst(lc)))
			query->noticing =
				bms_add_member(query->noticing, foreach_current_index(lc) + 1);
	}
	find_params(query, stmt->planTree);

	/* what was found of subplans may be otherwise by those parameters */
	memset(query->trees, 0, sizeof(JoinKnown));
}
