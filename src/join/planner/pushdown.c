/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * pushdown.c
 *	  Finds where a filter can drop rows, by following a join's key down a finished plan.
 *
 * The planner has finished: join order and join methods remain as they are, and only rows that the
 * join would drop anyway may be dropped earlier.  So if the join's type allows it, the columns of
 * its key are followed down its probe side, as long as a row that is missing there is just a row
 * that the join does not get.  The place where that ends is a target, where rows are probed.
 *
 * If a lower hash join compares the key's column with a column of its other side, the filter is
 * pushed down both sides of it.
 *
 * A filter is pushed through a node only if all columns of the key come unchanged from one child of
 * the node, and
 *
 *	- the node is free of volatile functions, and so are both sides of a join;
 *	- a row less in the child is a row less in the result.  That excludes the nullable side of an
 *	  outer join, and a limit.  An aggregate, DISTINCT, a window or a set operation must group by,
 *	  partition by or compare the key's columns, in the same sense of equality.  What is computed of
 *	  a part of a group may fail, for instance by a division by zero, where computing it of the
 *	  whole group does not; so a target below is all-or-none;
 *	- a CTE is read only by scans that the filter was pushed down to as well, or that have no use
 *	  for the rows that it drops (pushdown_cte.c);
 *	- the rows that the node drops may be hashed: if there is a security barrier anywhere in the
 *	  query, only by leakproof functions;
 *	- what the node keeps for a rescan remains correct.  Sort, Material, Memoize and the hash table
 *	  of a lower join may keep rows while the join builds anew with other keys.  So the join must be
 *	  executed once, or its build side must return the same rows each time: it must have no
 *	  parameters that change, no volatile functions, no aggregates, and no functions whose result
 *	  depends on the session's settings.  Where workers share a lower hash table, it must return the
 *	  same rows in each of them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "utils/lsyscache.h"

#include "join/base/column.h"
#include "join/base/filter_info.h"
#include "join/planner/cost.h"
#include "join/planner/join_type.h"
#include "join/planner/pushdown.h"
#include "pg/plan_nodes.h"

/*
 * Tells whether a plan depends on no parameter that is set outside of it while the query runs.
 * Parameters by which EvalPlanQual signals scans to begin anew do not count: they never change
 * while the plan itself is executed.
 */
static bool
is_on_its_own(const JoinPlanInfo *plan_info, const Plan *plan)
{
	return bms_is_subset(plan->extParam, plan_info->epq_params);
}

AttrNumber *
bloomfam_join_pushdown_columns(JoinPushdown *pushdown, Plan *plan, const AttrNumber *attributes,
							   int varno)
{
	AttrNumber *behind = palloc(pushdown->candidate.ncolumns * sizeof(AttrNumber));
	int			i;

	for (i = 0; i < pushdown->candidate.ncolumns; i++)
	{
		behind[i] = bloomfam_join_column_behind(plan, attributes[i], varno);
		if (behind[i] == 0)
			return NULL;
	}
	return behind;
}

/*
 * Tells whether all columns of the key are among those that a node groups by, in the same sense of
 * equality as the join's.  If they are not, a group could lose only some of its rows.
 */
static bool
groups_by_key(JoinPushdown *pushdown, Plan *plan, const AttrNumber *behind)
{
	Oid			operator;
	Oid			collation;
	int			i;

	for (i = 0; i < pushdown->candidate.ncolumns; i++)
		if (!bloomfam_plan_groups_by(plan, behind[i], &operator, &collation) ||
			collation != pushdown->candidate.columns[i].collation ||
			!equality_ops_are_compatible(operator, pushdown->candidate.columns[i].operator))
			return false;
	return true;
}

/*
 * Finds the first column of the filter's key, from number "from" on, whose keys, their bounds or a
 * filter of them may be sent to a foreign scan.  Sets target->column and target->sendings.
 */
static void
find_sendings(const JoinPushdown *pushdown, JoinForeignTarget *target, int from)
{
	int			i;

	for (i = from; i < pushdown->candidate.ncolumns; i++)
	{
		target->column = i;
		target->sendings = bloomfam_join_sendings(pushdown->plan_info->known.stmt, target->scan,
												  target->volatile_free, target->attributes[i],
												  &pushdown->candidate.columns[i]);
		if (bloomfam_join_sends(&target->sendings))
			return;
	}
}

static JoinForeignTarget *
foreign_target(JoinPushdown *pushdown, ForeignScan *scan, const AttrNumber *attributes)
{
	JoinForeignTarget *target = palloc0(sizeof(JoinForeignTarget));
	JoinReason	reason = pushdown->not_to_foreign;

	/* A scan with parameters of its own would be sent the keys again for each value of them. */
	if (reason == JOIN_NO_REASON && !is_on_its_own(pushdown->plan_info, &scan->scan.plan))
		reason = JOIN_FOREIGN_BEGINS_ANEW;
	target->scan = scan;
	if (reason != JOIN_NO_REASON)
	{
		bloomfam_join_sendings_refuse(&target->sendings, reason);
		return target;
	}
	target->volatile_free =
		bloomfam_join_node_is_volatile_free(pushdown->plan_info, &scan->scan.plan);
	target->attributes = attributes;
	find_sendings(pushdown, target, 0);
	return target;
}

static void
stop_here(JoinPushdown *pushdown, Plan **slot, const AttrNumber *attributes)
{
	JoinTarget *target = palloc0(sizeof(JoinTarget));

	target->slot = slot;
	target->attributes = attributes;
	target->crossed = pushdown->crossed;
	target->crossed.nodes++;

	/* An Append calls an asynchronous child itself, and would not recognize a node on top of it. */
	if (!(*slot)->async_capable)
		pushdown->targets = lappend(pushdown->targets, target);

	if (IsA(*slot, ForeignScan))
	{
		target->foreign = foreign_target(pushdown, (ForeignScan *) *slot, attributes);
		pushdown->foreign = lappend(pushdown->foreign, target->foreign);
	}
}

/* Returns the reason why nothing can be sent to any foreign scan; JOIN_NO_REASON if it can. */
static JoinReason
foreign_refusal(const JoinPushdown *pushdown, int workers)
{
	const JoinPlanInfo *plan_info = pushdown->plan_info;
	const PlannedStmt *stmt = plan_info->known.stmt;
	const Plan *build_parent = pushdown->build_parent;

	if (workers > 0)
		return JOIN_FOREIGN_IN_WORKERS;
	if (!is_on_its_own(plan_info, build_parent) ||
		!is_on_its_own(plan_info, outerPlan(build_parent)))
		return JOIN_FOREIGN_BUILD_DEPENDS;

	/*
	 * An EvalPlanQual recheck shares the executor parameters by which keys are sent with the query
	 * that it belongs to, but may build the filter from other rows.
	 */
	if (((stmt->commandType != CMD_SELECT && stmt->commandType != CMD_INSERT) ||
		 stmt->rowMarks != NIL || stmt->hasModifyingCTE) &&
		(!bloomfam_join_is_repeatable(plan_info, pushdown->build_parent) ||
		 bloomfam_join_is_mutable(pushdown->build_parent)))
		return JOIN_FOREIGN_BUILD_VARIES;
	return JOIN_NO_REASON;
}

/*
 * Tells whether a filter may be pushed through a node that keeps rows.  If the join is executed
 * again, a hash table of one batch is kept, and one of several is built again; which of the two it
 * is, a filter may change, so it must make no difference.
 */
static bool
may_cross(const JoinPushdown *pushdown, Plan *plan)
{
	return pushdown->crosses_materialization &&
		   !(pushdown->is_rescanned && bloomfam_join_is_mutable(plan));
}

/* Tells whether a node is blocking: reads all rows of its child before it returns the first one. */
static bool
is_blocking(const Plan *plan)
{
	return IsA(plan, Sort) || IsA(plan, Hash) ||
		   (IsA(plan, Agg) && ((const Agg *) plan)->aggstrategy == AGG_HASHED) ||
		   (IsA(plan, SetOp) && ((const SetOp *) plan)->strategy == SETOP_HASHED);
}

/* Tells whether a plan gets all of its rows from a blocking node. */
static bool
is_above_blocking(const Plan *plan)
{
	plan = bloomfam_join_below_own(unconstify(Plan *, plan));
	if (is_blocking(plan))
		return true;
	switch (nodeTag(plan))
	{
		case T_Agg:
		case T_Material:
		case T_Group:
		case T_Unique:
		case T_WindowAgg:
			return is_above_blocking(plan->lefttree);
		case T_SubqueryScan:
			return is_above_blocking(((const SubqueryScan *) plan)->subplan);
		default:
			return false;
	}
}

/*
 * Returns the slot of the child of a join that the key's columns come from, and sets *behind to
 * these columns in the child.  Returns NULL if they do not come from one child, or if rows of that
 * child may not be dropped.  No node can be put between a hash join and its Hash, so the inner side
 * of a hash join is returned only if the filter can be pushed through the Hash.
 */
static Plan **
side_of_join(JoinPushdown *pushdown, Plan *plan, const AttrNumber *attributes, AttrNumber **behind)
{
	JoinType	type = ((Join *) plan)->jointype;
	bool		is_merge = IsA(plan, MergeJoin);

	*behind = bloomfam_join_pushdown_columns(pushdown, plan, attributes, OUTER_VAR);
	if (*behind != NULL && bloomfam_join_may_pass_outer(type) &&
		(!is_merge || is_above_blocking(plan->lefttree)))
		return &plan->lefttree;
	if ((!is_merge || is_above_blocking(plan->righttree)) &&
		bloomfam_join_may_pass_inner(type) &&
		(!IsA(plan, HashJoin) ||
		 (may_cross(pushdown, plan->righttree) &&
		  bloomfam_join_node_is_volatile_free(pushdown->plan_info, plan->righttree))))
	{
		*behind = bloomfam_join_pushdown_columns(pushdown, plan, attributes, INNER_VAR);
		if (*behind != NULL)
			return &plan->righttree;
	}
	return NULL;
}

/*
 * Returns the column of a hash join's other child that equals the key, in the sense of the filter's
 * join.  "attribute" is the key's column in the inner child if from_inner is true, else in the
 * outer child.  Returns 0 if there is no such column, or if the filter may not be pushed down the
 * other side as well.  A row of the other side whose column is not in the filter matches only rows
 * that are not in the filter either, which are dropped anyway.  In a semi-join, so are rows that
 * then match none.
 */
static AttrNumber
column_across(const JoinPushdown *pushdown, Plan *plan, bool from_inner, AttrNumber attribute)
{
	const JoinKeyColumn *key = &pushdown->candidate.columns[0];
	ListCell   *lc;

	if (!IsA(plan, HashJoin) || pushdown->candidate.ncolumns != 1 ||
		!bloomfam_join_may_pass_across(((Join *) plan)->jointype, !from_inner) ||
		(!from_inner &&
		 (!may_cross(pushdown, plan->righttree) ||
		  !bloomfam_join_node_is_volatile_free(pushdown->plan_info, plan->righttree))))
		return 0;
	foreach(lc, ((HashJoin *) plan)->hashclauses)
	{
		const OpExpr *clause = lfirst_node(OpExpr, lc);
		AttrNumber	outer = bloomfam_join_column(linitial(clause->args), OUTER_VAR);
		AttrNumber	inner = bloomfam_join_column(lsecond(clause->args), INNER_VAR);
		Node	   *across = from_inner ? linitial(clause->args) : lsecond(clause->args);
		Oid			left_type;
		Oid			right_type;

		op_input_types(clause->opno, &left_type, &right_type);
		if (outer != 0 && inner != 0 && attribute == (from_inner ? inner : outer) &&
			left_type == key->hashing.probe.type && right_type == left_type &&
			clause->inputcollid == key->collation &&
			equality_ops_are_compatible(clause->opno, key->operator) &&
			(!OidIsValid(key->hashing.probe.function) ||
			 bloomfam_join_can_hash(key->hashing.probe.function, exprType(across),
									key->collation)))
			return from_inner ? outer : inner;
	}
	return 0;
}

/*
 * Tells whether a node that groups rows computes something of the rows of a group, or chooses among
 * them.
 */
static bool
computes_groups(const Plan *plan)
{
	if (IsA(plan, Agg))
		return contain_agg_clause((Node *) plan->targetlist) ||
			   contain_agg_clause((Node *) plan->qual);
	return IsA(plan, WindowAgg) ||
		   (IsA(plan, Unique) && ((const Unique *) plan)->numCols < list_length(plan->targetlist));
}

static bool
is_join(const Plan *plan)
{
	return IsA(plan, HashJoin) || IsA(plan, NestLoop) || IsA(plan, MergeJoin);
}

/* Tells whether a node can drop rows of the child that the filter is pushed to. */
static bool
hides_rows(const Plan *plan)
{
	return plan->qual != NIL || IsA(plan, SetOp) ||
		   (IsA(plan, WindowAgg) && ((const WindowAgg *) plan)->runCondition != NIL) ||
		   (is_join(plan) && !bloomfam_join_returns_outer(((const Join *) plan)->jointype)) ||
		   (IsA(plan, Result) && ((const Result *) plan)->resconstantqual != NULL);
}

bool
bloomfam_join_pushdown_passes(const JoinPushdown *pushdown, Plan *plan)
{
	/*
	 * Rows that a security barrier hides may be hashed only by leakproof functions.  A finished
	 * plan has no node for a subquery that needs none, so any node that can drop rows may be the
	 * barrier.
	 */
	return bloomfam_join_node_is_volatile_free(pushdown->plan_info, plan) &&
		   (bloomfam_join_trust(&pushdown->candidate) == JOIN_HASH_LEAKPROOF ||
			!pushdown->plan_info->has_barrier || !hides_rows(plan));
}

/* Records in pushdown->crossed that the filter is pushed through a node. */
static void
pass_through(JoinPushdown *pushdown, const Plan *plan)
{
	pushdown->crossed.below_gather |= IsA(plan, Gather) || IsA(plan, GatherMerge);
	pushdown->crossed.workers = bloomfam_join_workers(plan, pushdown->crossed.workers);
	pushdown->crossed.below_hash |= IsA(plan, Hash) ||
		(IsA(plan, SetOp) && ((const SetOp *) plan)->strategy == SETOP_HASHED);
	pushdown->crossed.below_blocking |= is_blocking(plan);
	pushdown->crossed.all_or_none |= computes_groups(plan);
	pushdown->crossed.nodes++;
}

/* Pushes the filter through an Append to all of its children.  Returns false if it cannot be. */
static bool
follow_each(JoinPushdown *pushdown, Plan *plan, const AttrNumber *attributes)
{
	AttrNumber *behind = bloomfam_join_pushdown_columns(pushdown, plan, attributes, OUTER_VAR);
	ListCell   *lc;

	if (behind == NULL)
		return false;
	foreach(lc, bloomfam_plan_children(plan))
	{
		Plan	  **child = (Plan **) &lfirst(lc);

		pushdown->crossed.branch = child;
		pushdown->crossed.branch_attributes = behind;
		if ((*child)->async_capable)
			stop_here(pushdown, child, behind);
		else
			bloomfam_join_pushdown_follow(pushdown, child, behind);
	}
	return true;
}

/* Pushes the filter through a join to one or both of its sides.  Returns false if it cannot be. */
static bool
follow_join(JoinPushdown *pushdown, Plan *plan, const AttrNumber *attributes)
{
	AttrNumber *behind;
	AttrNumber *across;
	Plan	  **next;
	Plan	  **other;

	/*
	 * A nested loop rescans its inner side for each row of the outer one, or reads it up to the
	 * first match; other joins stop reading one side when the other has no more rows.  So if rows
	 * of one side are dropped, less of the other side is read, and more of the same side until a
	 * row passes.  Neither side may be volatile then.
	 */
	if (!bloomfam_join_tree_is_volatile_free(pushdown->plan_info, plan->lefttree) ||
		!bloomfam_join_tree_is_volatile_free(pushdown->plan_info, plan->righttree))
		return false;
	next = side_of_join(pushdown, plan, attributes, &behind);
	if (next == NULL)
		return false;
	other = next == &plan->lefttree ? &plan->righttree : &plan->lefttree;
	across = palloc(sizeof(AttrNumber));
	*across = column_across(pushdown, plan, other == &plan->lefttree, behind[0]);
	pass_through(pushdown, plan);
	bloomfam_join_pushdown_follow(pushdown, next, behind);
	if (*across != 0)
		bloomfam_join_pushdown_follow(pushdown, other, across);
	return true;
}

/*
 * Tells whether a filter may be pushed from a node to its only child without changing the query's
 * result.  "behind" are the attribute numbers of the key's columns in the child's output.
 */
static bool
may_follow_child(JoinPushdown *pushdown, Plan *plan, const AttrNumber *behind)
{
	switch (nodeTag(plan))
	{
		case T_Sort:
		case T_IncrementalSort:
		case T_Material:
		case T_Memoize:
		case T_Hash:
			return may_cross(pushdown, plan);
		case T_Result:
		case T_Gather:
		case T_GatherMerge:
			return plan->lefttree != NULL;
		case T_Agg:
			return ((Agg *) plan)->groupingSets == NIL &&
				   (((Agg *) plan)->aggstrategy == AGG_SORTED || may_cross(pushdown, plan)) &&
				   groups_by_key(pushdown, plan, behind);
		case T_SetOp:
			return (((SetOp *) plan)->strategy == SETOP_SORTED || may_cross(pushdown, plan)) &&
				   groups_by_key(pushdown, plan, behind);
		case T_Group:
		case T_Unique:
		case T_WindowAgg:
			return groups_by_key(pushdown, plan, behind);
		case T_SubqueryScan:
			return true;
		default:
			return false;
	}
}

static bool
follow_child(JoinPushdown *pushdown, Plan *plan, const AttrNumber *attributes)
{
	bool		is_subquery = IsA(plan, SubqueryScan);
	int			varno = is_subquery ? (int) ((Scan *) plan)->scanrelid : OUTER_VAR;
	AttrNumber *behind = bloomfam_join_pushdown_columns(pushdown, plan, attributes, varno);

	if (behind == NULL || !may_follow_child(pushdown, plan, behind))
		return false;
	pass_through(pushdown, plan);
	bloomfam_join_pushdown_follow(
		pushdown, is_subquery ? &((SubqueryScan *) plan)->subplan : &plan->lefttree, behind);
	/*
	 * From PostgreSQL 18 on, a SetOp has two inputs, in which the key's columns have the same
	 * positions.
	 */
	if (plan->righttree != NULL)
		bloomfam_join_pushdown_follow(pushdown, &plan->righttree, behind);
	return true;
}

/*
 * Pushes the filter through a build or probe node, which returns its child's rows unchanged.  If a
 * target is right below a probe node, that node serves the target.
 */
static void
follow_own(JoinPushdown *pushdown, Plan **slot, const AttrNumber *attributes)
{
	Plan	   *plan = *slot;
	int			ntargets = list_length(pushdown->targets);
	ListCell   *lc;

	bloomfam_join_pushdown_follow(pushdown, &plan->lefttree, attributes);
	if (bloomfam_join_node_kind(plan) != JOIN_NODE_PROBE)
		return;
	for_each_from(lc, pushdown->targets, ntargets)
	{
		JoinTarget *target = lfirst(lc);

		if (target->slot == &plan->lefttree)
			target->slot = slot;
	}
}

/* Pushes the filter through a node and further down.  Returns false if it cannot be. */
static bool
follow_through(JoinPushdown *pushdown, Plan *plan, const AttrNumber *attributes)
{
	if (IsA(plan, Append) || IsA(plan, MergeAppend))
		return follow_each(pushdown, plan, attributes);
	return is_join(plan) ? follow_join(pushdown, plan, attributes)
						 : follow_child(pushdown, plan, attributes);
}

void
bloomfam_join_pushdown_follow(JoinPushdown *pushdown, Plan **slot, const AttrNumber *attributes)
{
	const JoinCrossed crossed = pushdown->crossed;

	check_stack_depth();
	if (bloomfam_join_node_kind(*slot) != JOIN_NODE_OTHER)
		follow_own(pushdown, slot, attributes);
	else if (!bloomfam_join_pushdown_passes(pushdown, *slot) ||
			 !follow_through(pushdown, *slot, attributes))
		stop_here(pushdown, slot, attributes);
	pushdown->crossed = crossed;
}

JoinPushdown *
bloomfam_join_pushdown_find(const JoinPlanInfo *plan_info, int workers, Join *join,
							const JoinKeyColumn *columns, int ncolumns)
{
	JoinPushdown *pushdown = palloc0(sizeof(JoinPushdown));
	Plan	   *build_parent = bloomfam_join_build_parent(&join->plan);
	Plan	   *build = outerPlan(build_parent);
	AttrNumber *attributes = palloc(ncolumns * sizeof(AttrNumber));
	int			i;

	for (i = 0; i < ncolumns; i++)
		attributes[i] = columns[i].attribute;
	pushdown->plan_info = plan_info;
	pushdown->join = join;
	pushdown->build_parent = build_parent;
	pushdown->probe_side = IsA(join, HashJoin) ? &outerPlan(join) : &innerPlan(join);
	pushdown->candidate.columns = columns;
	pushdown->candidate.ncolumns = ncolumns;
	pushdown->crossed.workers = workers;
	pushdown->is_rescanned = bloomfam_join_is_rescanned(plan_info, &join->plan);

	/* The parameters of the Hash node include those of its hash keys. */
	pushdown->crosses_materialization =
		bms_is_subset(build_parent->extParam, plan_info->fixed_params) &&
		bms_is_subset(build->extParam, plan_info->fixed_params) &&
		bloomfam_join_tree_is_volatile_free(plan_info, build_parent) &&
		((workers == 0 && !pushdown->is_rescanned) ||
		 bloomfam_join_is_repeatable(plan_info, build_parent)) &&
		!(pushdown->is_rescanned && bloomfam_join_is_mutable(build_parent));

	pushdown->not_to_foreign = foreign_refusal(pushdown, workers);
	bloomfam_join_pushdown_follow(pushdown, pushdown->probe_side, attributes);
	return pushdown;
}

bool
bloomfam_join_pushdown_ask(JoinPushdown *pushdown)
{
	List	   *tables = NIL;
	bool		was_open = false;
	ListCell   *lc;

	foreach(lc, pushdown->foreign)
	{
		const JoinSendings *sendings = &((JoinForeignTarget *) lfirst(lc))->sendings;

		if (bloomfam_join_sendings_are_open(sendings))
			tables = lappend_oid(tables, sendings->table);
	}
	bloomfam_join_remote_ask(tables);
	foreach(lc, pushdown->foreign)
	{
		JoinForeignTarget *target = lfirst(lc);

		while (bloomfam_join_sendings_are_open(&target->sendings))
		{
			was_open = true;
			bloomfam_join_sendings_settle(&target->sendings, target->scan,
										  target->attributes[target->column]);
			if (!bloomfam_join_sends(&target->sendings))
				find_sendings(pushdown, target, target->column + 1);
		}
	}
	return was_open;
}
