/*-------------------------------------------------------------------------
 *
 * plan_nodes.c
 *	  The server's types of plan nodes, and what there is to know of each.
 *
 * One table.  A type that is not in it is known for nothing: it is volatile, it is not repeatable,
 * and no filter goes through it.  So are the nodes of other extensions (CustomScan), and those
 * that change tables (ModifyTable), which are left out.
 * .ci/checks/plan-nodes compares it with the server's plannodes.h: each member there that can have
 * expressions must be named here, or there with the reason why it need not be.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"

#include "join/base/filter_info.h"
#include "join/planner/plan_nodes.h"
#include "pg/compat.h"

#define AT(type, member)	offsetof(type, member)
#define GROUPING(type, by) \
	{AT(type, numCols), AT(type, by##ColIdx), AT(type, by##Operators), AT(type, by##Collations)}

static const JoinPlanNode known_types[] = {
	/* what has no expressions but its columns and conditions */
	[T_ProjectSet] = {.is_known = true},
	[T_RecursiveUnion] = {.is_known = true},
	[T_SetOp] = {.is_known = true},
	[T_CteScan] = {.is_known = true},
	[T_NamedTuplestoreScan] = {.is_known = true},
	[T_WorkTableScan] = {.is_known = true},
	[T_SeqScan] = {.is_known = true, .repeatable = true},
	[T_Material] = {.is_known = true, .repeatable = true, .keeps_rows = true},
	[T_Sort] = {.is_known = true, .repeatable = true, .keeps_rows = true},
	[T_IncrementalSort] = {.is_known = true, .repeatable = true, .keeps_rows = true},
	[T_Gather] = {.is_known = true, .repeatable = true, .keeps_rows = true},
	[T_GatherMerge] = {.is_known = true, .repeatable = true, .keeps_rows = true},
	[T_LockRows] = {.is_known = true, .locks_rows = true},

	/* what groups rows */
	[T_Group] = {.is_known = true, .repeatable = true, .grouping = GROUPING(Group, grp)},
	[T_Unique] = {.is_known = true, .repeatable = true, .grouping = GROUPING(Unique, uniq)},
	[T_Agg] =
	{
		.is_known = true, .repeatable = true, .keeps_rows = true, .grouping = GROUPING(Agg, grp)
	},

	/* several children; see pruning_is_volatile() */
	[T_Append] =
	{
		.is_known = true, .repeatable = true,
		.children = JOIN_CHILDREN_LIST, .children_at = AT(Append, appendplans)
	},
	[T_MergeAppend] =
	{
		.is_known = true, .repeatable = true,
		.children = JOIN_CHILDREN_LIST, .children_at = AT(MergeAppend, mergeplans)
	},
	[T_BitmapAnd] =
	{
		.is_known = true, .repeatable = true,
		.children = JOIN_CHILDREN_LIST, .children_at = AT(BitmapAnd, bitmapplans)
	},
	[T_BitmapOr] =
	{
		.is_known = true, .repeatable = true,
		.children = JOIN_CHILDREN_LIST, .children_at = AT(BitmapOr, bitmapplans)
	},
	[T_SubqueryScan] =
	{
		.is_known = true, .repeatable = true,
		.children = JOIN_CHILDREN_PLAN, .children_at = AT(SubqueryScan, subplan)
	},

	/* expressions of their own */
	[T_Result] =
	{
		.is_known = true, .repeatable = true, .conditions = {AT(Result, resconstantqual)}
	},
	[T_SampleScan] = {.is_known = true, .keys = {AT(SampleScan, tablesample)}},
	[T_IndexScan] =
	{
		.is_known = true, .repeatable = true,
		.keys = {AT(IndexScan, indexqual), AT(IndexScan, indexqualorig),
				 AT(IndexScan, indexorderby), AT(IndexScan, indexorderbyorig)}
	},
	[T_IndexOnlyScan] =
	{
		.is_known = true, .repeatable = true,
		.keys = {AT(IndexOnlyScan, indexqual), AT(IndexOnlyScan, recheckqual),
				 AT(IndexOnlyScan, indexorderby)}
	},
	[T_BitmapIndexScan] =
	{
		.is_known = true, .repeatable = true,
		.keys = {AT(BitmapIndexScan, indexqual), AT(BitmapIndexScan, indexqualorig)}
	},
	[T_BitmapHeapScan] =
	{
		.is_known = true, .repeatable = true, .keys = {AT(BitmapHeapScan, bitmapqualorig)}
	},
	[T_TidScan] = {.is_known = true, .keys = {AT(TidScan, tidquals)}},
	[T_TidRangeScan] = {.is_known = true, .keys = {AT(TidRangeScan, tidrangequals)}},
	[T_FunctionScan] = {.is_known = true, .keys = {AT(FunctionScan, functions)}},
	[T_ValuesScan] = {.is_known = true, .keys = {AT(ValuesScan, values_lists)}},
	[T_TableFuncScan] = {.is_known = true, .keys = {AT(TableFuncScan, tablefunc)}},
	[T_ForeignScan] =
	{
		.is_known = true,
		.keys = {AT(ForeignScan, fdw_exprs), AT(ForeignScan, fdw_recheck_quals)}
	},
	[T_NestLoop] =
	{
		.is_known = true, .repeatable = true, .conditions = {AT(NestLoop, join.joinqual)}
	},
	[T_MergeJoin] =
	{
		.is_known = true, .repeatable = true, .conditions = {AT(MergeJoin, join.joinqual)},
		.keys = {AT(MergeJoin, mergeclauses)}
	},
	[T_HashJoin] =
	{
		.is_known = true, .repeatable = true, .conditions = {AT(HashJoin, join.joinqual)},
		.keys = {AT(HashJoin, hashclauses), AT(HashJoin, hashkeys)}
	},
	[T_Hash] =
	{
		.is_known = true, .repeatable = true, .keeps_rows = true, .keys = {AT(Hash, hashkeys)}
	},
	[T_Memoize] =
	{
		.is_known = true, .repeatable = true, .keeps_rows = true,
		.keys = {AT(Memoize, param_exprs)}
	},
	[T_WindowAgg] =
	{
		.is_known = true, .conditions = {AT(WindowAgg, endOffset)},
		.keys = {AT(WindowAgg, startOffset), AT(WindowAgg, runCondition),
				 AT(WindowAgg, runConditionOrig)}
	},
	[T_Limit] =
	{
		.is_known = true, .conditions = {AT(Limit, limitOffset)}, .keys = {AT(Limit, limitCount)}
	},
};

/* Nodes of ours, whose children are left ones. */
static const JoinPlanNode own_type = {
	.is_known = true, .repeatable = true, .keys = {AT(CustomScan, custom_exprs)}
};

static const JoinPlanNode custom_type = {
	.children = JOIN_CHILDREN_LIST, .children_at = AT(CustomScan, custom_plans)
};

static const JoinPlanNode unknown_type = {.is_known = false};

const JoinPlanNode *
bloomfam_join_plan_node(const Plan *plan)
{
	if (IsA(plan, CustomScan))
		return bloomfam_join_node_kind(plan) == JOIN_NODE_OTHER ? &custom_type : &own_type;
	if (nodeTag(plan) >= lengthof(known_types) || !known_types[nodeTag(plan)].is_known)
		return &unknown_type;
	return &known_types[nodeTag(plan)];
}

/* The member of a node that is so many bytes from its beginning. */
static void *
member_of(Plan *plan, uint16 at)
{
	return *(void **) ((char *) plan + at);
}

List *
bloomfam_join_child_list(Plan *plan)
{
	const JoinPlanNode *node = bloomfam_join_plan_node(plan);

	return node->children == JOIN_CHILDREN_LIST ? member_of(plan, node->children_at) : NIL;
}

bool
bloomfam_join_plan_walker(Plan *plan, JoinPlanWalker walker, void *context)
{
	const JoinPlanNode *node = bloomfam_join_plan_node(plan);
	ListCell   *lc;

	check_stack_depth();
	if ((plan->lefttree != NULL && walker(&plan->lefttree, context)) ||
		(plan->righttree != NULL && walker(&plan->righttree, context)))
		return true;
	if (node->children == JOIN_CHILDREN_PLAN)
		return walker((Plan **) ((char *) plan + node->children_at), context);
	foreach(lc, bloomfam_join_child_list(plan))
		if (walker((Plan **) &lfirst(lc), context))
			return true;
	return false;
}

bool
bloomfam_join_stmt_walker(PlannedStmt *stmt, JoinPlanWalker walker, void *context)
{
	ListCell   *lc;

	if (walker(&stmt->planTree, context))
		return true;
	foreach(lc, stmt->subplans)
		if (lfirst(lc) != NULL && walker((Plan **) &lfirst(lc), context))
			return true;
	return false;
}

bool
bloomfam_join_grouping(Plan *plan, JoinGrouping *grouping)
{
	const uint16 *members = bloomfam_join_plan_node(plan)->grouping;

	if (members[0] == 0)
		return false;
	grouping->n = *(int *) ((char *) plan + members[0]);
	grouping->columns = member_of(plan, members[1]);
	grouping->operators = member_of(plan, members[2]);
	grouping->collations = member_of(plan, members[3]);
	return true;
}

Plan *
bloomfam_join_below_own(Plan *plan)
{
	while (bloomfam_join_node_kind(plan) != JOIN_NODE_OTHER)
	{
		plan = outerPlan(plan);
		Assert(plan != NULL);
	}
	return plan;
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

/* Does any of a node's members at these offsets, which end with 0, have subplans? */
static bool
members_have_subplans(Plan *plan, const uint16 *members, size_t n)
{
	size_t		i;

	for (i = 0; i < n && members[i] != 0; i++)
		if (contain_subplans(member_of(plan, members[i])))
			return true;
	return false;
}

bool
bloomfam_join_node_has_subplans(Plan *plan, bool in_keys)
{
	const JoinPlanNode *node = bloomfam_join_plan_node(plan);

	return contain_subplans((Node *) plan->qual) || contain_subplans((Node *) plan->targetlist) ||
		   members_have_subplans(plan, node->conditions, lengthof(node->conditions)) ||
		   (in_keys && members_have_subplans(plan, node->keys, lengthof(node->keys)));
}

/* Is any of them volatile? */
static bool
members_are_volatile(Plan *plan, const uint16 *members, size_t n,
					 JoinVolatility *volatility)
{
	size_t		i;

	for (i = 0; i < n && members[i] != 0; i++)
		if (bloomfam_join_is_volatile(member_of(plan, members[i]), volatility))
			return true;
	return false;
}

bool
bloomfam_join_node_is_volatile(const PlannedStmt *stmt, Plan *plan,
							   JoinVolatility *volatility)
{
	const JoinPlanNode *node = bloomfam_join_plan_node(plan);

	if (!node->is_known || node->locks_rows || bloomfam_join_is_volatile(plan->qual, volatility) ||
		bloomfam_join_is_volatile(plan->targetlist, volatility) ||
		members_are_volatile(plan, node->conditions, lengthof(node->conditions), volatility) ||
		members_are_volatile(plan, node->keys, lengthof(node->keys), volatility))
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
