/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * decision.c
 *	  Decides whether a join gets filters.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

#include "join/base/column.h"
#include "join/base/gucs.h"
#include "join/planner/candidate.h"
#include "join/planner/constants.h"
#include "join/planner/decision.h"
#include "join/planner/join_type.h"
#include "join/planner/pushdown_cte.h"
#include "pg/expression.h"
#include "pg/plan_nodes.h"

/*
 * Tells whether rows of a join's probe side that match no row of the build side add nothing to the
 * join.
 */
static bool
may_drop(const Join *join)
{
	JoinType	type = join->jointype;

	/*
	 * In a merge join the filter is built from the outer side, and probes the inner side.  So outer
	 * rows without a match are not affected.
	 */
	if (IsA(join, MergeJoin))
		return bloomfam_join_drops_inner(type);
	return bloomfam_join_drops_outer(type);
}

List *
bloomfam_join_conditions(const Join *join)
{
	return IsA(join, HashJoin) ? ((const HashJoin *) join)->hashclauses
							   : ((const MergeJoin *) join)->mergeclauses;
}

/* Tells whether the server itself makes the join build before it reads the probe side. */
static bool
server_builds_first(const Join *join)
{
	const Plan *hash = innerPlan(join);

	/*
	 * nodeMergejoin.c fetches the first outer row first, and the Sort below reads all its rows for
	 * that.
	 */
	if (IsA(join, MergeJoin))
		return true;

	/*
	 * nodeHashjoin.c builds first if unmatched rows of the inner side are needed, if all
	 * participants build one hash table, or if the outer side's first row costs no less than
	 * building.
	 */
	return bloomfam_join_needs_inner(join->jointype) || hash->parallel_aware ||
		   outerPlan(join)->startup_cost >= hash->total_cost;
}

/* Tells whether a plan has a scan of a foreign table whose cost is only a guess. */
static bool
cost_is_guessed(Plan **slot, void *stmt)
{
	return (IsA(*slot, ForeignScan) &&
			bloomfam_join_foreign_is_guessed(stmt, (const ForeignScan *) *slot)) ||
		   bloomfam_plan_walker(*slot, cost_is_guessed, stmt);
}

/*
 * The total cost of computing the CTEs that a plan scans, which the costs of CTE scans do not
 * include.
 */
typedef struct CteCosts
{
	PlannedStmt *stmt;
	Cost		cost;
} CteCosts;

static bool
add_cte_costs(Plan **slot, void *context)
{
	CteCosts   *costs = context;

	if (IsA(*slot, CteScan))
	{
		const Plan *cte = list_nth(costs->stmt->subplans, ((CteScan *) *slot)->ctePlanId - 1);

		costs->cost += cte->total_cost;
	}
	return bloomfam_plan_walker(*slot, add_cte_costs, costs);
}

/* Tells whether building may cost more than reading the whole outer side, as far as is known. */
static bool
may_cost_more(PlannedStmt *stmt, Plan *hash, Plan *outer)
{
	CteCosts	ctes = {.stmt = stmt};
	Cost		most = outer->total_cost;

	add_cte_costs(&outer, &ctes);
	most += ctes.cost;

	if (hash->total_cost > most && cost_is_guessed(&outer, stmt))
		most *= GUESSED_SCAN;
	return hash->total_cost > most || cost_is_guessed(&hash, stmt);
}

/*
 * Returns the reason why the join may not build before it reads its probe side; JOIN_NO_REASON if
 * it may.  A join that builds first reads its build side even if there is no row to probe, and does
 * not read its outer side if the build side has no rows.  Neither may be visible to the user.
 */
static JoinReason
build_first_refusal(const JoinPushdown *pushdown)
{
	Plan	   *outer = *pushdown->probe_side;
	Plan	   *hash = pushdown->build_parent;

	if (server_builds_first(pushdown->join))
		return JOIN_NO_REASON;
	if (!bloomfam_join_tree_is_volatile_free(pushdown->plan_info, outer) ||
		!bloomfam_join_tree_is_volatile_free(pushdown->plan_info, hash))
		return JOIN_BUILD_WOULD_BE_SEEN;
	if (bloomfam_join_filter != JOIN_FILTER_FORCE &&
		may_cost_more(pushdown->plan_info->known.stmt, hash, outer))
		return JOIN_BUILD_COSTS_MORE;
	return JOIN_NO_REASON;
}

/*
 * Removes the targets that a filter would come too late for, if the join does not build first.
 * These are targets below a Gather or in the hash table of a join further down, which are read to
 * their end for the first row; and all-or-none targets, where every row must be probed.  Foreign
 * scans have begun by then, so nothing is sent to them either.
 */
static void
remove_late_targets(JoinPushdown *pushdown)
{
	ListCell   *lc;

	if (pushdown->not_first == JOIN_NO_REASON)
		return;
	foreach(lc, pushdown->targets)
	{
		const JoinCrossed *crossed = &((JoinTarget *) lfirst(lc))->crossed;

		if (crossed->below_gather || crossed->below_hash || crossed->all_or_none)
			pushdown->targets = foreach_delete_current(pushdown->targets, lc);
	}
	foreach(lc, pushdown->foreign)
	{
		JoinForeignTarget *target = lfirst(lc);

		bloomfam_join_sendings_refuse(&target->sendings, pushdown->not_first);
	}
}

/*
 * Removes those targets of a merge join that are not read to their end in any case.  A merge join
 * reads its inner side only as far as there are outer rows.  A filter at such a target would have
 * more rows read, in search of one that passes.
 */
static void
remove_targets_read_in_part(JoinPushdown *pushdown)
{
	ListCell   *lc;

	foreach(lc, pushdown->targets)
	{
		JoinTarget *target = lfirst(lc);

		if (target->crossed.below_blocking)
			continue;
		if (target->foreign != NULL)
			bloomfam_join_sendings_refuse(&target->foreign->sendings, JOIN_FOREIGN_READ_IN_PART);
		pushdown->targets = foreach_delete_current(pushdown->targets, lc);
	}
}

/*
 * Removes the targets at which the filter could drop no rows, or must not.  Returns the reason why
 * there is no filter if no target is left.
 */
static JoinReason
remove_unfit_targets(JoinPushdown *pushdown)
{
	bool		has_targets = pushdown->targets != NIL;

	if (IsA(pushdown->join, MergeJoin))
	{
		remove_targets_read_in_part(pushdown);
		return has_targets ? JOIN_READS_IN_PART : JOIN_HAS_NO_TARGET;
	}
	remove_late_targets(pushdown);
	return has_targets ? JOIN_BUILDS_TOO_LATE : JOIN_HAS_NO_TARGET;
}

/* Decides whether a filter is expected to pay, and returns the reason if not. */
static JoinReason
decide_pushdown(JoinPushdown *pushdown)
{
	const JoinCandidate *candidate = &pushdown->candidate;
	JoinReason	without_targets;
	JoinReason	reason;

	pushdown->not_first = build_first_refusal(pushdown);
	without_targets = remove_unfit_targets(pushdown);
	bloomfam_join_candidate_plan(pushdown);
	reason = bloomfam_join_estimate(&pushdown->candidate);

	/*
	 * Foreign servers are asked only for a filter that would be made if they give the hoped-for
	 * answers.
	 */
	if (reason == JOIN_NO_REASON && bloomfam_join_pushdown_ask(pushdown))
	{
		bloomfam_join_candidate_foreign(pushdown);
		reason = bloomfam_join_estimate(&pushdown->candidate);
	}
	if (candidate->sites == NIL && candidate->foreign == NIL)
		return without_targets;
	return reason;
}

/*
 * Tells whether a column of the key is computed on the build side, rather than a plain column
 * there.
 */
static bool
is_computed(const JoinKeyColumn *column)
{
	return bloomfam_join_column(column->build_expr, OUTER_VAR) == 0;
}

/*
 * Describes a hash key of a hash join.  The join has the outer side's expression, its Hash the
 * inner side's.
 */
static JoinReason
describe_hash_key(const HashJoin *join, int number, JoinKeyColumn *key,
				  const JoinPlanInfo *plan_info)
{
	Node	   *outer = list_nth(join->hashkeys, number);

	return bloomfam_join_describe_key(
		key, bloomfam_join_column((Expr *) outer, OUTER_VAR), exprType(outer),
		list_nth_oid(join->hashoperators, number), list_nth_oid(join->hashcollations, number),
		list_nth(((Hash *) innerPlan(join))->hashkeys, number), plan_info);
}

/*
 * Describes a merge clause.  The outer side, which the filter is built from, is on the clause's
 * left.  The key's column is looked up in the child of the outer side's Sort, as the build node is
 * below it.
 */
static JoinReason
describe_merge_clause(const MergeJoin *join, int number, JoinKeyColumn *key,
					  const JoinPlanInfo *plan_info)
{
	const OpExpr *clause = list_nth_node(OpExpr, join->mergeclauses, number);
	const Var  *outer = bloomfam_expression_var(linitial(clause->args));
	AttrNumber	inner = bloomfam_join_column(lsecond(clause->args), INNER_VAR);
	Oid			operator = get_commutator(clause->opno);
	AttrNumber	below = 0;
	Var		   *column;

	if (outer != NULL && outer->varno == OUTER_VAR)
		below = bloomfam_join_column_behind(outerPlan(join), outer->varattno, OUTER_VAR);
	if (below == 0)
		return JOIN_KEY_IS_COMPUTED;
	if (!OidIsValid(operator))
		return JOIN_KEY_HAS_NO_HASH;
	column = copyObject(unconstify(Var *, outer));
	column->varattno = below;
	return bloomfam_join_describe_key(key, inner, exprType(lsecond(clause->args)), operator,
									  clause->inputcollid, (Expr *) column, plan_info);
}

/*
 * Finds the columns of a join's key that a filter can use, sets columns[] to them and returns their
 * number.  Sets the reason in the decision on each other column.
 *
 * Computing a key on the build side may fail, for instance by a division by zero, but the Hash does
 * not compute it for a row in which an earlier key is NULL.  So a computed key is used only
 * together with all keys before it: then the build node stops at a NULL where the Hash does.
 */
static int
find_key_columns(const JoinPlanInfo *plan_info, Join *join, JoinKeyColumn *columns,
				 JoinKeyDecision *key_decisions)
{
	int			n = 0;
	int			i;

	for (i = 0; i < list_length(bloomfam_join_conditions(join)); i++)
	{
		JoinReason	reason =
			IsA(join, HashJoin)
				? describe_hash_key((HashJoin *) join, i, &columns[n], plan_info)
				: describe_merge_clause((MergeJoin *) join, i, &columns[n], plan_info);

		columns[n].hash_key = i;
		if (reason == JOIN_NO_REASON && n < i && is_computed(&columns[n]))
			reason = JOIN_KEY_IS_COMPUTED_LATE;
		key_decisions[i].reason = reason;
		if (reason == JOIN_NO_REASON)
			n++;
	}
	return n;
}

/* Describes the filter of these columns of a join's key, and finds its targets. */
static JoinPushdown *
push_down(const JoinPlanInfo *plan_info, int workers, Join *join, const JoinKeyColumn *columns,
		  int ncolumns)
{
	JoinPushdown *pushdown =
		bloomfam_join_pushdown_find(plan_info, workers, join, columns, ncolumns);

	bloomfam_join_pushdown_enter_ctes(pushdown);
	return pushdown;
}

/* Tells whether two filters have the same targets. */
static bool
have_same_targets(const JoinPushdown *a, const JoinPushdown *b)
{
	ListCell   *la;
	ListCell   *lb;

	if (list_length(a->targets) != list_length(b->targets))
		return false;
	forboth(la, a->targets, lb, b->targets)
		if (((JoinTarget *) lfirst(la))->slot != ((JoinTarget *) lfirst(lb))->slot)
			return false;
	return true;
}

List *
bloomfam_join_decide(const JoinPlanInfo *plan_info, int workers, Join *join,
					 JoinKeyDecision *key_decisions)
{
	int			nkeys = list_length(bloomfam_join_conditions(join));
	JoinKeyColumn *columns = palloc(nkeys * sizeof(JoinKeyColumn));
	JoinReason	reason = JOIN_NO_REASON;
	JoinPushdown *all;
	List	   *pushdowns = NIL;
	bool		together = true;
	ListCell   *lc;
	int			n;
	int			i;

	if (!may_drop(join))
		reason = JOIN_KEEPS_ROWS;
	/*
	 * The join computes all of its keys for each row of its probe side, so none of them may be
	 * volatile.
	 */
	else if (bloomfam_join_is_volatile(bloomfam_join_conditions(join), plan_info))
		reason = JOIN_KEY_IS_VOLATILE;
	for (i = 0; i < nkeys; i++)
		key_decisions[i].reason = reason;
	if (reason != JOIN_NO_REASON)
		return NIL;
	n = find_key_columns(plan_info, join, columns, key_decisions);
	if (n == 0)
		return NIL;

	/*
	 * One filter of all columns drops more rows than one filter for each column, unless some of the
	 * latter can be pushed further down.
	 */
	all = push_down(plan_info, workers, join, columns, n);
	for (i = 0; i < n && n > 1; i++)
	{
		JoinPushdown *one = push_down(plan_info, workers, join, &columns[i], 1);

		together &= have_same_targets(all, one);
		pushdowns = lappend(pushdowns, one);
	}
	Assert(!is_computed(&columns[0]) || columns[0].hash_key == 0);
	if (together)
		pushdowns = list_make1(all);
	foreach(lc, pushdowns)
	{
		JoinPushdown *pushdown = lfirst(lc);
		const JoinCandidate *candidate = &pushdown->candidate;
		const JoinKeyColumn *first = &candidate->columns[0];
		JoinKeyDecision decision = {.reason = JOIN_KEY_IS_COMPUTED_LATE};

		if (!is_computed(first) || first->hash_key == 0)
			decision = (JoinKeyDecision) {decide_pushdown(pushdown), pushdown};
		for (i = 0; i < candidate->ncolumns; i++)
			key_decisions[candidate->columns[i].hash_key] = decision;
		if (decision.reason != JOIN_NO_REASON)
			pushdowns = foreach_delete_current(pushdowns, lc);
	}
	return pushdowns;
}
