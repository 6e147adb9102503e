/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * decision.c
 *	  Whether a hash join gets filters, and why not.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/plancat.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "join/base/column.h"
#include "join/base/column_stats.h"
#include "join/base/filter_info.h"
#include "join/base/gucs.h"
#include "join/filter/hash.h"
#include "join/planner/decision.h"
#include "pg/compat.h"
#include "pg/plan_nodes.h"

/* Do rows of a hash join's outer side that match no row of the inner side add nothing to it? */
static bool
may_drop_outer(JoinType type)
{
	return type == JOIN_INNER || type == JOIN_SEMI || type == JOIN_RIGHT ||
		   BLOOMFAM_IS_RIGHT_SEMI_OR_ANTI(type);
}

/* The rows of a table, as the planner counts them. */
static double
count_rows(Oid table)
{
	Relation	relation = table_open(table, NoLock);
	BlockNumber pages;
	double		rows;
	double		visible;

	estimate_rel_size(relation, NULL, &pages, &rows, &visible);
	table_close(relation, NoLock);
	return rows;
}

/* By how much one process's part of the rows is smaller than all, as costsize.c expects. */
static double
count_processes(int workers)
{
	/* the leader is busy with the rows of the workers, too */
	double		leader = parallel_leader_participation ? 1 - 0.3 * workers : 0;

	return workers + Max(leader, 0);
}

/* Describes a target. */
static JoinFilterSite
describe_target(const JoinPushdown *pushdown, const JoinTarget *target)
{
	const Plan *plan = bloomfam_join_below_own(*target->slot);
	double		rows = (*target->slot)->plan_rows;
	JoinFilterSite site = {
		.nodes = target->crossed.nodes, .rows_before = rows, .rows_after = rows
	};
	Oid			table;
	QualCost	condition_cost;
	int			i;

	if (!IsA(plan, SeqScan))
		return site;
	table = rt_fetch(((const Scan *) plan)->scanrelid, pushdown->plan_info->stmt->rtable)->relid;
	site.is_batch_scan =
		bloomfam_join_node_is_volatile_free(pushdown->plan_info, unconstify(Plan *, plan));
	site.conditions = plan->qual != NIL;
	for (i = 0; i < pushdown->ncolumns; i++)
	{
		AttrNumber	column = bloomfam_join_column_behind(plan, target->attributes[i],
														 ((const Scan *) plan)->scanrelid);

		site.is_batch_scan &= column != 0;
		site.long_keys |= column != 0 &&
						  get_typlen(pushdown->columns[i].hashing.outer.type) == -1 &&
						  bloomfam_join_column_is_long(table, column, false);
	}
	if (!site.conditions)
		return site;
	cost_qual_eval(&condition_cost, plan->qual, NULL);
	site.condition_cost = condition_cost.per_tuple;
	site.rows_before = count_rows(table);
	if (plan->parallel_aware)
		site.rows_before /= count_processes(target->crossed.workers);
	site.rows_before = Max(site.rows_before, site.rows_after);
	return site;
}

/* Describes the build side: all rows of a table, or a table whose column the key is? */
static void
describe_build_side(JoinCandidate *candidate, const JoinPushdown *pushdown)
{
	const Plan *hash = innerPlan(pushdown->join);
	const Plan *scan = bloomfam_join_below_own(outerPlan(hash));
	const JoinKeyColumn *key = &pushdown->columns[0];

	candidate->keys = hash->plan_rows;
	candidate->keys_are_sure = IsA(scan, SeqScan) && scan->qual == NIL;
	if (hash->parallel_aware || key->computed || !bloomfam_join_scans_table(nodeTag(scan)))
		return;
	candidate->attribute =
		bloomfam_join_column_behind(scan, bloomfam_join_column(key->inner, OUTER_VAR),
									((const Scan *) scan)->scanrelid);
	if (candidate->attribute != 0)
		candidate->table =
			rt_fetch(((const Scan *) scan)->scanrelid, pushdown->plan_info->stmt->rtable)->relid;
}

/* Does the server itself build the join before it reads the outer side? */
static bool
server_builds_first(const HashJoin *join)
{
	const Plan *hash = innerPlan(join);

	/* nodeHashjoin.c: rows of the inner side without a match are needed, or all build together */
	return join->join.jointype == JOIN_RIGHT || join->join.jointype == JOIN_FULL ||
		   BLOOMFAM_IS_RIGHT_ANTI(join->join.jointype) || hash->parallel_aware ||
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

/* Can building cost more than all of the outer side, as far as is known? */
static bool
may_cost_more(PlannedStmt *stmt, Plan *hash, Plan *outer)
{
	Cost		most = outer->total_cost;

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
	Plan	   *outer = outerPlan(pushdown->join);
	Plan	   *hash = innerPlan(pushdown->join);

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

/* Describes the foreign scans that the filter would be pushed to; of the rest, notes why not. */
static void
describe_foreign(JoinCandidate *candidate, const JoinPushdown *pushdown, JoinKeyDecision *decision)
{
	ListCell   *lc;
	int			i;

	candidate->foreign = palloc(list_length(pushdown->foreign) * sizeof(JoinForeignSite));
	candidate->nforeign = 0;
	decision->foreign = list_length(pushdown->foreign);
	memset(decision->sent, 0, sizeof(decision->sent));
	foreach(lc, pushdown->foreign)
	{
		const JoinForeignTarget *target = lfirst(lc);
		const Plan *scan = &target->scan->scan.plan;

		for (i = 0; i < JOIN_SENDINGS; i++)
		{
			if (target->sendings.reasons[i] == JOIN_NO_REASON)
				decision->sent[i]++;
			else
				decision->not_sent[i] = target->sendings.reasons[i];
		}
		if (!bloomfam_join_sends(&target->sendings))
			continue;
		candidate->foreign[candidate->nforeign++] = (JoinForeignSite) {
			.rows = scan->plan_rows, .is_async = scan->async_capable,
			.guess = bloomfam_join_foreign_guess(pushdown->plan_info->stmt, target->scan,
												 target->key.attribute, candidate->keys)
		};
	}
}

/* Is the filter expected to pay?  Targets that it comes too late for are removed. */
static JoinKeyDecision
decide_pushdown(JoinPushdown *pushdown, int workers)
{
	bool		has_targets = pushdown->targets != NIL;
	const Plan *hash = innerPlan(pushdown->join);
	JoinCandidate candidate = {
		.columns = pushdown->columns, .ncolumns = pushdown->ncolumns, .drop = pushdown->drop
	};
	JoinKeyDecision decision = {.per_process = workers > 0};
	ListCell   *lc;

	decision.not_first = pushdown->not_first = build_first_refusal(pushdown);
	leave_late_targets(pushdown);
	candidate.spilling = bloomfam_join_spilling(hash->plan_rows, hash->plan_width,
												outerPlan(pushdown->join)->plan_width);
	describe_build_side(&candidate, pushdown);
	candidate.sites = palloc(list_length(pushdown->targets) * sizeof(JoinFilterSite));
	foreach(lc, pushdown->targets)
	{
		const JoinTarget *target = lfirst(lc);

		candidate.sites[candidate.nsites++] = describe_target(pushdown, target);
		decision.per_process |= target->crossed.below_gather;
	}
	describe_foreign(&candidate, pushdown, &decision);
	decision.reason = bloomfam_join_estimate(&candidate, &decision.estimate);

	/* other servers are asked only for a filter that is made if they say what is hoped for */
	if (decision.reason == JOIN_NO_REASON && bloomfam_join_pushdown_ask(pushdown))
	{
		describe_foreign(&candidate, pushdown, &decision);
		decision.reason = bloomfam_join_estimate(&candidate, &decision.estimate);
	}
	foreach(lc, pushdown->targets)
		((JoinTarget *) lfirst(lc))->site = candidate.sites[foreach_current_index(lc)];
	if (candidate.nsites == 0 && candidate.nforeign == 0)
		decision.reason = has_targets ? JOIN_BUILDS_TOO_LATE : JOIN_HAS_NO_TARGET;
	return decision;
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
find_key_columns(const JoinPlanInfo *plan_info, HashJoin *join, JoinKeyColumn *columns,
				 JoinKeyDecision *key_decisions)
{
	Hash	   *hash = (Hash *) innerPlan(join);
	int			n = 0;
	int			i;

	for (i = 0; i < list_length(join->hashkeys); i++)
	{
		JoinKeyColumn  *column = &columns[n];

		column->attribute = bloomfam_join_column(list_nth(join->hashkeys, i), OUTER_VAR);
		column->operator = list_nth_oid(join->hashoperators, i);
		column->collation = list_nth_oid(join->hashcollations, i);
		column->inner = list_nth(hash->hashkeys, i);
		column->hash_key = i;
		column->computed = bloomfam_join_column(column->inner, OUTER_VAR) == 0;
		if (column->attribute == 0 ||
			!bloomfam_join_is_volatile_free(column->inner, plan_info) ||
			(column->computed && n < i))
			key_decisions[i].reason = JOIN_KEY_IS_COMPUTED;
		else if (!bloomfam_join_hashing(column->operator, column->collation, &column->hashing))
			key_decisions[i].reason = JOIN_KEY_HAS_NO_HASH;
		else
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
bloomfam_join_decide(const JoinPlanInfo *plan_info, int workers, HashJoin *join,
					 JoinKeyDecision *key_decisions)
{
	int			nkeys = list_length(join->hashkeys);
	JoinKeyColumn *columns = palloc(nkeys * sizeof(JoinKeyColumn));
	JoinReason	reason = JOIN_NO_REASON;
	JoinPushdown *all;
	List	   *pushdowns = NIL;
	bool		together = true;
	ListCell   *lc;
	int			n;
	int			i;

	if (!may_drop_outer(join->join.jointype))
		reason = JOIN_KEEPS_ROWS;
	/* of each row of the probe side all keys are computed */
	else if (bloomfam_join_is_volatile(join->hashkeys, plan_info))
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
	Assert(!columns[0].computed || columns[0].hash_key == 0);
	if (together)
		pushdowns = list_make1(all);
	foreach(lc, pushdowns)
	{
		JoinPushdown *pushdown = lfirst(lc);
		const JoinKeyColumn *first = &pushdown->columns[0];
		JoinKeyDecision decision = {.reason = JOIN_KEY_IS_COMPUTED};

		if (!first->computed || first->hash_key == 0)
			decision = decide_pushdown(pushdown, workers);
		for (i = 0; i < pushdown->ncolumns; i++)
			key_decisions[pushdown->columns[i].hash_key] = decision;
		if (decision.reason != JOIN_NO_REASON)
			pushdowns = foreach_delete_current(pushdowns, lc);
	}
	return pushdowns;
}
