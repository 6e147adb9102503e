/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * decision.c
 *	  Whether a join gets filters, and why not.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

#include "join/base/column.h"
#include "join/base/gucs.h"
#include "join/planner/candidate.h"
#include "join/planner/decision.h"
#include "pg/compat.h"
#include "pg/expression.h"
#include "pg/plan_nodes.h"

/* Do rows of a join's probe side that match no row of the build side add nothing to it? */
static bool
may_drop(const Join *join)
{
	JoinType	type = join->jointype;

	/* the probe side is the inner one, and rows of the outer one stay in any case */
	if (IsA(join, MergeJoin))
		return bloomfam_join_may_pass_outer(type);
	return bloomfam_join_drops_outer(type);
}

List *
bloomfam_join_conditions(const Join *join)
{
	return IsA(join, HashJoin) ? ((const HashJoin *) join)->hashclauses
							   : ((const MergeJoin *) join)->mergeclauses;
}

/* Does the server itself build the join before it reads the outer side? */
static bool
server_builds_first(const Join *join)
{
	const Plan *hash = innerPlan(join);

	/* nodeMergejoin.c fetches the first outer row first, and the Sort then reads all others */
	if (IsA(join, MergeJoin))
		return true;

	/* nodeHashjoin.c: rows of the inner side without a match are needed, or all build together */
	return join->jointype == JOIN_RIGHT || join->jointype == JOIN_FULL ||
		   BLOOMFAM_IS_RIGHT_ANTI(join->jointype) || hash->parallel_aware ||
		   outerPlan(join)->startup_cost >= hash->total_cost;
}

/*
 * How many times the planner's guess a scan of a foreign table may cost that was never analyzed: it
 * takes that for a small one.
 */
#define GUESSED_SCAN	20.0

/* Is there a scan of a foreign table in a plan of which it is a guess what it costs? */
static bool
cost_is_guessed(Plan **slot, void *stmt)
{
	return (IsA(*slot, ForeignScan) &&
			bloomfam_join_foreign_is_guessed(stmt, (const ForeignScan *) *slot)) ||
		   bloomfam_plan_walker(*slot, cost_is_guessed, stmt);
}

/* What scans of CTEs cost beyond what their nodes say: the CTEs' own plans. */
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

/* Can building cost more than all of the outer side, as far as is known? */
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
 * Returns why the join may not build first; JOIN_NO_REASON if it may.  Then it reads its build side
 * though there may be no row to probe, and does not read its outer side if it has built nothing:
 * neither may be seen.
 */
static JoinReason
build_first_refusal(const JoinPushdown *pushdown)
{
	Plan	   *outer = *pushdown->probe_side;
	Plan	   *hash = pushdown->keeper;

	if (server_builds_first(pushdown->join))
		return JOIN_NO_REASON;
	if (!bloomfam_join_tree_is_volatile_free(pushdown->plan_info, outer) ||
		!bloomfam_join_tree_is_volatile_free(pushdown->plan_info, hash))
		return JOIN_BUILD_WOULD_BE_SEEN;
	if (bloomfam_join_filter != JOIN_FILTER_FORCE &&
		may_cost_more(pushdown->plan_info->stmt, hash, outer))
		return JOIN_BUILD_COSTS_MORE;
	return JOIN_NO_REASON;
}

/*
 * Where the join does not build first, a filter is of no use at targets that are read to their end
 * for the first row: below a Gather, or in the hash table of a join further down; nor at those that
 * are all-or-none; nor with foreign scans, which have begun by then.
 */
static void
leave_late_targets(JoinPushdown *pushdown)
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
 * A merge join reads its inner side as far as there are outer rows.  A filter there would have more
 * read, to find a row that passes: unless the rows are all read in any case.
 */
static void
leave_targets_read_in_part(JoinPushdown *pushdown)
{
	ListCell   *lc;

	foreach(lc, pushdown->targets)
	{
		JoinTarget *target = lfirst(lc);

		if (target->crossed.read_to_end)
			continue;
		if (target->foreign != NULL)
			bloomfam_join_sendings_refuse(&target->foreign->sendings, JOIN_FOREIGN_READ_IN_PART);
		pushdown->targets = foreach_delete_current(pushdown->targets, lc);
	}
}

/* Is the filter expected to pay?  Targets that it comes too late for are removed. */
static JoinReason
decide_pushdown(JoinPushdown *pushdown)
{
	const JoinCandidate *candidate = &pushdown->candidate;
	bool		has_targets = pushdown->targets != NIL;
	JoinReason	reason;

	pushdown->not_first = build_first_refusal(pushdown);
	leave_late_targets(pushdown);
	if (IsA(pushdown->join, MergeJoin))
		leave_targets_read_in_part(pushdown);
	bloomfam_join_candidate_plan(pushdown);
	reason = bloomfam_join_estimate(&pushdown->candidate);

	/* other servers are asked only for a filter that is made if they say what is hoped for */
	if (reason == JOIN_NO_REASON && bloomfam_join_pushdown_ask(pushdown))
	{
		bloomfam_join_candidate_foreign(pushdown);
		reason = bloomfam_join_estimate(&pushdown->candidate);
	}
	if (candidate->sites == NIL && candidate->foreign == NIL)
		reason = !has_targets					   ? JOIN_HAS_NO_TARGET
				 : IsA(pushdown->join, MergeJoin) ? JOIN_READS_IN_PART
												  : JOIN_BUILDS_TOO_LATE;
	return reason;
}

/* Does the build side compute a column of the key? */
static bool
is_computed(const JoinKeyColumn *column)
{
	return bloomfam_join_column(column->inner, OUTER_VAR) == 0;
}

/* Describes a hash key, of which both the join and its Hash have an expression. */
static JoinReason
describe_hash_key(const HashJoin *join, int number, JoinKeyColumn *key,
				  const JoinPlanInfo *plan_info)
{
	return bloomfam_join_describe_key(
		key, bloomfam_join_column(list_nth(join->hashkeys, number), OUTER_VAR),
		list_nth_oid(join->hashoperators, number), list_nth_oid(join->hashcollations, number),
		list_nth(((Hash *) innerPlan(join))->hashkeys, number), plan_info);
}

/*
 * Describes a merge clause.  It has the outer side, from which the filter is built, on its left.
 * Below the Sort its column is one of the child's.
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
	return bloomfam_join_describe_key(key, inner, operator, clause->inputcollid, (Expr *) column,
									  plan_info);
}

/*
 * The columns of a join's key that a filter can use; returns their number, and notes the reasons
 * why not of the other ones.
 *
 * A key that the build side computes may fail, by a division by zero for instance, but the Hash
 * does not come to compute it where a key before it is NULL.  So it is used only together with
 * all keys before it: the build node then stops where the Hash does.
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
			reason = JOIN_KEY_IS_COMPUTED;
		key_decisions[i].reason = reason;
		if (reason == JOIN_NO_REASON)
			n++;
	}
	return n;
}

/* Have two filters the same targets? */
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
	/* of each row of the probe side all keys are computed */
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
	 * one filter of all columns drops more than one for each column, unless some of these get
	 * further down
	 */
	all = bloomfam_join_pushdown_find(plan_info, workers, join, columns, n);
	for (i = 0; i < n && n > 1; i++)
	{
		JoinPushdown *one =
			bloomfam_join_pushdown_find(plan_info, workers, join, &columns[i], 1);

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
		JoinKeyDecision decision = {.reason = JOIN_KEY_IS_COMPUTED};

		if (!is_computed(first) || first->hash_key == 0)
			decision = (JoinKeyDecision) {decide_pushdown(pushdown), pushdown};
		for (i = 0; i < candidate->ncolumns; i++)
			key_decisions[candidate->columns[i].hash_key] = decision;
		if (decision.reason != JOIN_NO_REASON)
			pushdowns = foreach_delete_current(pushdowns, lc);
	}
	return pushdowns;
}
