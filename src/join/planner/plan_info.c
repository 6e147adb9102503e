/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * plan_info.c
 *	  What is known of a plan that filters are added to: what in it is volatile, what may be
 *	  executed again, and what then returns the same rows.
 *
 * A filter makes parts of a plan return fewer rows, so that other parts run less often.  The user
 * must not be able to see that: a volatile function must be called as often as without filters.
 * And a part that runs again must return the same rows again, if something that depends on them was
 * kept.  Plan nodes and whole subtrees are volatile if the user could see how often they are
 * executed; a node type that is not listed (pg/plan_nodes.c) counts as volatile.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"

#include "join/base/column.h"
#include "join/base/filter_info.h"
#include "join/planner/plan_info.h"
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
 * Returns the parameter by which a Gather or Gather Merge tells the parallel scans below it that
 * they begin again; -1 if the node is none, or has none.  The parameter never has a value, and all
 * that depends on it begins again together: it changes no row.
 */
static int
gather_rescan_param(const Plan *plan)
{
	if (IsA(plan, Gather))
		return ((const Gather *) plan)->rescan_param;
	if (IsA(plan, GatherMerge))
		return ((const GatherMerge *) plan)->rescan_param;
	return -1;
}

/*
 * Finds the parameters of a plan: those by which EvalPlanQual tells scans to begin anew, and those
 * of initPlans (evaluated when their result is first needed) that are volatile or never change.
 * Also finds the highest plan_node_id, and whether there is a join that may get a filter.
 */
static bool
find_params(Plan **slot, void *context)
{
	JoinPlanInfo *plan_info = context;
	Plan	   *plan = *slot;
	int			signal = -1;
	ListCell   *lc;
	ListCell   *lp;

	plan_info->has_join |= IsA(plan, HashJoin) || IsA(plan, MergeJoin);
	plan_info->highest_node_id = Max(plan_info->highest_node_id, plan->plan_node_id);
	if (IsA(plan, ModifyTable))
		signal = ((ModifyTable *) plan)->epqParam;
	else if (IsA(plan, LockRows))
		signal = ((LockRows *) plan)->epqParam;
	if (signal >= 0)
		plan_info->epq_params = bms_add_member(plan_info->epq_params, signal);
	else
		signal = gather_rescan_param(plan);
	if (signal >= 0)
		plan_info->fixed_params = bms_add_member(plan_info->fixed_params, signal);
	foreach(lc, plan->initPlan)
	{
		const SubPlan *subplan = lfirst_node(SubPlan, lc);
		const Plan *own = list_nth(plan_info->known.stmt->subplans, subplan->plan_id - 1);

		if (bms_is_empty(own->extParam))
			plan_info->single_subplans =
				bms_add_member(plan_info->single_subplans, subplan->plan_id);
		foreach(lp, subplan->setParam)
		{
			if (bms_is_member(subplan->plan_id, plan_info->known.subplans))
				plan_info->known.params =
					bms_add_member(plan_info->known.params, lfirst_int(lp));
			else if (bms_is_empty(own->extParam))
				plan_info->fixed_params =
					bms_add_member(plan_info->fixed_params, lfirst_int(lp));
		}
	}
	return bloomfam_plan_walker(plan, find_params, plan_info);
}

/* Takes the initPlans of a node, and of those below it, for executed by each process anew. */
static bool
forget_init_plans(Plan **slot, void *context)
{
	JoinPlanInfo *plan_info = context;
	ListCell   *lc;
	ListCell   *lp;

	foreach(lc, (*slot)->initPlan)
	{
		const SubPlan *subplan = lfirst_node(SubPlan, lc);

		plan_info->single_subplans =
			bms_del_member(plan_info->single_subplans, subplan->plan_id);
		foreach(lp, subplan->setParam)
			plan_info->fixed_params =
				bms_del_member(plan_info->fixed_params, lfirst_int(lp));
	}
	return bloomfam_plan_walker(*slot, forget_init_plans, plan_info);
}

/* Finds the initPlans that workers execute: from version 17 on, a Gather may have some below it. */
static bool
find_worker_init_plans(Plan **slot, void *plan_info)
{
	if (IsA(*slot, Gather) || IsA(*slot, GatherMerge))
		return bloomfam_plan_walker(*slot, forget_init_plans, plan_info);
	return bloomfam_plan_walker(*slot, find_worker_init_plans, plan_info);
}

/* Tells whether the expressions by which an Append is pruned during execution are volatile. */
static bool
pruning_is_volatile(const JoinPlanInfo *plan_info, const PartitionPruneInfo *pruning)
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
											  plan_info))
					return true;
			}
	return false;
}

/*
 * Tells whether the statement locks or changes rows of one of these relations, which may be on a
 * foreign server.
 */
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
 * Tells whether the user could see how often a foreign scan runs: whether it locks or changes rows
 * there, or its columns have types that check values by something volatile when they arrive.
 */
static bool
foreign_scan_is_volatile(const JoinPlanInfo *plan_info, ForeignScan *scan)
{
	List	   *columns = pull_var_clause((Node *) list_make3(scan->scan.plan.targetlist,
															  scan->scan.plan.qual,
															  scan->fdw_scan_tlist),
										  PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS |
											  PVC_RECURSE_PLACEHOLDERS);
	ListCell   *lc;

	if (scan->operation != CMD_SELECT || is_locked(plan_info->known.stmt, scan->fs_relids))
		return true;
	foreach(lc, columns)
		if (bloomfam_type_is_volatile(lfirst_node(Var, lc)->vartype, &plan_info->known))
			return true;
	return false;
}

/*
 * Tells whether the user could see how often a node's own expressions are evaluated, or whether
 * some of them are not known.
 */
static bool
plan_node_is_volatile(const JoinPlanInfo *plan_info, Plan *plan)
{
	const BloomfamPlanNode *node = bloomfam_plan_node(plan);

	if (!node->is_known || node->locks_rows ||
		bloomfam_join_is_volatile(bloomfam_plan_expressions(plan), plan_info))
		return true;
	switch (nodeTag(plan))
	{
		case T_CteScan:
			return bms_is_member(((CteScan *) plan)->ctePlanId, plan_info->known.subplans);
		case T_Append:
			return pruning_is_volatile(plan_info, BLOOMFAM_PRUNING_OF(plan_info->known.stmt,
																	  (Append *) plan));
		case T_MergeAppend:
			return pruning_is_volatile(plan_info, BLOOMFAM_PRUNING_OF(plan_info->known.stmt,
																	  (MergeAppend *) plan));
		case T_ForeignScan:
			return foreign_scan_is_volatile(plan_info, (ForeignScan *) plan);
		default:
			return false;
	}
}

/*
 * Returns the number by which a plan node is a member of the sets in JoinPlanInfo.  A build or
 * probe node has the number of the node below it.
 */
static int
member_of(Plan *plan)
{
	return (unsigned) bloomfam_join_below_own(plan)->plan_node_id % 65536;
}

static bool
is_in_set(Plan **slot, void *set)
{
	return bms_is_member(member_of(*slot), set);
}

/* Tells whether a node's own expressions contain subplans. */
static bool
has_subplans(const JoinPlanInfo *plan_info, Plan *plan)
{
	return plan_info->known.stmt->subplans != NIL &&
		   contain_subplans((Node *) bloomfam_plan_expressions(plan));
}

/* Tells whether a node's initPlans may have another result each time, or in another process. */
static bool
init_plans_vary(const JoinPlanInfo *plan_info, const Plan *plan)
{
	ListCell   *lc;
	ListCell   *lp;

	foreach(lc, plan->initPlan)
		foreach(lp, lfirst_node(SubPlan, lc)->setParam)
			if (!bms_is_member(lfirst_int(lp), plan_info->fixed_params))
				return true;
	return false;
}

/*
 * Adds the nodes of a plan to volatile_nodes, volatile_trees and unrepeatable_trees, from the
 * bottom up.
 */
static bool
fill_sets(Plan **slot, void *plan_info)
{
	JoinPlanInfo *info = plan_info;
	Plan	   *plan = *slot;
	int			member = member_of(plan);
	bool		is_volatile = plan_node_is_volatile(info, plan);

	bloomfam_plan_walker(plan, fill_sets, info);
	if (is_volatile)
		info->volatile_nodes = bms_add_member(info->volatile_nodes, member);
	if (is_volatile || bloomfam_join_is_volatile(plan->initPlan, info) ||
		bloomfam_plan_walker(plan, is_in_set, info->volatile_trees))
		info->volatile_trees = bms_add_member(info->volatile_trees, member);

	/*
	 * What an aggregate computes, or which row DISTINCT ON keeps of a group, may depend on the
	 * order in which rows come, which scans and workers do not guarantee.
	 */
	if (is_volatile || has_subplans(info, plan) || !bloomfam_plan_node(plan)->repeatable ||
		bloomfam_plan_groups(plan) || init_plans_vary(info, plan) ||
		bloomfam_plan_walker(plan, is_in_set, info->unrepeatable_trees))
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
bloomfam_join_is_rescanned(const JoinPlanInfo *plan_info, Plan *plan)
{
	return bms_is_member(member_of(plan), plan_info->rescanned_trees);
}

/* Tells whether an expression may have another value when a setting of the session changes. */
static bool
is_mutable(Node *node, void *unused)
{
	if (node == NULL)
		return false;
	/* The server takes these for immutable, although they convert values as settings say. */
	return IsA(node, XmlExpr) || IsA(node, TableFunc) ||
		   expression_tree_walker(node, is_mutable, NULL);
}

static bool
tree_is_mutable(Plan **slot, void *unused)
{
	Node	   *expressions = (Node *) bloomfam_plan_expressions(*slot);

	return contain_mutable_functions(expressions) || is_mutable(expressions, NULL) ||
		   bloomfam_plan_walker(*slot, tree_is_mutable, NULL);
}

bool
bloomfam_join_is_mutable(Plan *plan)
{
	return tree_is_mutable(&plan, NULL);
}

bool
bloomfam_join_is_repeatable(const JoinPlanInfo *plan_info, Plan *plan)
{
	return !bms_is_member(member_of(plan), plan_info->unrepeatable_trees);
}

static bool
add_rescanned(Plan **slot, void *context)
{
	JoinPlanInfo *plan_info = context;

	plan_info->rescanned_trees =
		bms_add_member(plan_info->rescanned_trees, member_of(*slot));
	return bloomfam_plan_walker(*slot, add_rescanned, plan_info);
}

/*
 * Finds the nodes that may be executed again while this one is executed once.  A node of a type
 * that is not known may execute its children as often as it likes, and EvalPlanQual that of a
 * foreign scan.  If a cursor is rewound, and a limit then turns out to be another one, the sort
 * below the limit sorts again.
 */
static bool
find_rescanned(Plan **slot, void *plan_info)
{
	Plan	   *plan = *slot;

	if ((!bloomfam_plan_node(plan)->is_known && !IsA(plan, ModifyTable)) ||
		IsA(plan, ForeignScan) ||
		(IsA(plan, Limit) && contain_mutable_functions((Node *) bloomfam_plan_expressions(plan))))
		return bloomfam_plan_walker(plan, add_rescanned, plan_info);
	if (!IsA(plan, NestLoop) && !IsA(plan, RecursiveUnion))
		return bloomfam_plan_walker(plan, find_rescanned, plan_info);
	(void) find_rescanned(&plan->lefttree, plan_info);
	return add_rescanned(&plan->righttree, plan_info);
}

void
bloomfam_join_plan_info_init(JoinPlanInfo *plan_info, PlannedStmt *stmt)
{
	ListCell   *lc;

	memset(plan_info, 0, sizeof(*plan_info));
	plan_info->known.stmt = stmt;
	foreach(lc, stmt->rtable)
		plan_info->has_barrier |= lfirst_node(RangeTblEntry, lc)->security_barrier;

	/*
	 * The list has each subplan after the subplans that it contains, as these were planned before
	 * it.
	 */
	foreach(lc, stmt->subplans)
	{
		/* NULL in the list stands for an alternative subplan that the planner has not chosen. */
		if (lfirst(lc) == NULL)
			continue;
		find_params((Plan **) &lfirst(lc), plan_info);
		fill_sets((Plan **) &lfirst(lc), plan_info);
		if (!bloomfam_join_tree_is_volatile_free(plan_info, lfirst(lc)))
			plan_info->known.subplans =
				bms_add_member(plan_info->known.subplans, foreach_current_index(lc) + 1);
	}
	find_params(&stmt->planTree, plan_info);
	if (!plan_info->has_join)
		return;
	if (stmt->parallelModeNeeded)
		bloomfam_plan_stmt_walker(stmt, find_worker_init_plans, plan_info);

	/*
	 * The sets are filled once more, for the whole plan, as all volatile parameters are known now.
	 * Without a join that may get a filter, nobody uses them.
	 */
	bloomfam_plan_stmt_walker(stmt, fill_sets, plan_info);
	find_rescanned(&stmt->planTree, plan_info);
	foreach(lc, stmt->subplans)
	{
		int			plan_id = foreach_current_index(lc) + 1;

		if (lfirst(lc) == NULL)
			continue;
		if (bms_is_member(plan_id, plan_info->single_subplans))
			find_rescanned((Plan **) &lfirst(lc), plan_info);
		else
			add_rescanned((Plan **) &lfirst(lc), plan_info);
	}
}
