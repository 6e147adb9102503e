/*-------------------------------------------------------------------------
 *
 * decision.c
 *	  Whether a hash join gets filters, and why not.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/plancat.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "join/base/column.h"
#include "join/base/filter_info.h"
#include "join/base/gucs.h"
#include "join/fdw/foreign.h"
#include "join/filter/hash.h"
#include "join/filter/keys.h"
#include "join/planner/decision.h"
#include "pg/compat.h"

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

/* Describes a place where the filter would be asked. */
static JoinFilterSite
describe_target(const JoinPushdown *pushdown, const JoinTarget *target)
{
	const Plan *plan = *target->slot;
	JoinFilterSite site = {
		.nodes = target->crossed.nodes, .rows_before = plan->plan_rows, .after = plan->plan_rows};
	Oid			table;
	QualCost	condition_cost;
	int			i;

	if (bloomfam_join_node_kind(plan) == JOIN_NODE_PROBE)
		plan = outerPlan(plan);
	if (!IsA(plan, SeqScan))
		return site;
	table = rt_fetch(((const Scan *) plan)->scanrelid, pushdown->plan_info->stmt->rtable)->relid;
	site.is_scan = true;
	site.volatile_free =
		bloomfam_join_node_is_volatile_free(pushdown->plan_info, unconstify(Plan *, plan));
	site.conditions = plan->qual != NIL;
	site.columns = true;
	site.trust = pushdown->trust;
	for (i = 0; i < pushdown->ncolumns; i++)
	{
		AttrNumber	column = bloomfam_join_column_behind(plan, target->attributes[i],
														 ((const Scan *) plan)->scanrelid);

		site.columns &= column != 0;
		site.long_keys |= column != 0 && bloomfam_join_has_long_keys(table, column, false);
	}
	if (!site.conditions)
		return site;
	cost_qual_eval(&condition_cost, plan->qual, NULL);
	site.condition_cost = condition_cost.per_tuple;
	site.rows_before = count_rows(table);
	if (plan->parallel_aware)
		site.rows_before /= bloomfam_join_processes(target->crossed.workers);
	site.rows_before = Max(site.rows_before, site.after);
	return site;
}

/* Does a plan give all rows of a table, so that statistics know how many? */
static bool
is_whole_table(const Plan *plan)
{
	while (bloomfam_join_node_kind(plan) != JOIN_NODE_OTHER)
		plan = outerPlan(plan);
	return IsA(plan, SeqScan) && plan->qual == NIL;
}

/*
 * How far apart its keys are, if they are numbers of one column of a table, which the build side
 * scans; -1 if nothing tells.
 */
static double
span_of_keys(const JoinPushdown *pushdown)
{
	const Plan *hash = innerPlan(pushdown->join);
	const Plan *scan = outerPlan(hash);
	const JoinKeyColumn *key = &pushdown->columns[0];
	AttrNumber	column;
	Index		rti;

	while (bloomfam_join_node_kind(scan) != JOIN_NODE_OTHER)
		scan = outerPlan(scan);
	if (pushdown->ncolumns != 1 || hash->parallel_aware || key->computed ||
		!bloomfam_join_keys_can_keep(key->hashing.kind, key->hashing.inner.type) ||
		!(IsA(scan, SeqScan) || IsA(scan, IndexScan) || IsA(scan, BitmapHeapScan)))
		return -1;
	rti = ((const Scan *) scan)->scanrelid;
	column =
		bloomfam_join_column_behind(scan, bloomfam_join_column(key->inner, OUTER_VAR), rti);
	if (column == 0)
		return -1;
	return bloomfam_join_span(rt_fetch(rti, pushdown->plan_info->stmt->rtable)->relid, column);
}

/*
 * What of the filter's estimate is a guess, as nobody looked at a foreign table that it travels
 * to.  One of too many keys does not, so there is nothing to be tried.
 */
static JoinGuess
guess_at(const JoinPushdown *pushdown, const JoinForeignTarget *target)
{
	const PlannedStmt *stmt = pushdown->plan_info->stmt;

	if (innerPlan(pushdown->join)->plan_rows > bloomfam_join_foreign_most())
		return JOIN_GUESSES_NOTHING;
	if (bloomfam_join_foreign_is_guessed(stmt, target->scan))
		return JOIN_GUESSES_ROWS;
	return bloomfam_join_foreign_key_is_unknown(stmt, target->scan, target->attribute)
			   ? JOIN_GUESSES_FRACTION
			   : JOIN_GUESSES_NOTHING;
}

/* Does the server build the join before it asks the outer side for a row, as it does by itself? */
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
cost_is_guessed(const PlannedStmt *stmt, Plan *plan)
{
	ListCell   *lc;

	if (plan == NULL)
		return false;
	check_stack_depth();
	if (IsA(plan, ForeignScan) &&
		bloomfam_join_foreign_is_guessed(stmt, (const ForeignScan *) plan))
		return true;
	foreach(lc, bloomfam_join_other_children(plan))
		if (cost_is_guessed(stmt, lfirst(lc)))
			return true;
	return cost_is_guessed(stmt, plan->lefttree) || cost_is_guessed(stmt, plan->righttree);
}

/* Can building cost more than all of the outer side, as far as is known? */
static bool
may_cost_more(const PlannedStmt *stmt, Plan *hash, Plan *outer)
{
	Cost		most = outer->total_cost;

	if (hash->total_cost > most && cost_is_guessed(stmt, outer))
		most *= GUESSED_SCAN;
	return hash->total_cost > most || cost_is_guessed(stmt, hash);
}

/*
 * A join that builds first reads its build side though there may be no row to probe, and does
 * not ask its outer side for any if it has built nothing: neither may be seen.
 */
static JoinBuildFirst
may_build_first(const JoinPushdown *pushdown)
{
	Plan	   *outer = outerPlan(pushdown->join);
	Plan	   *hash = innerPlan(pushdown->join);

	if (server_builds_first(pushdown->join))
		return JOIN_MAY_BUILD_FIRST;
	if (!bloomfam_join_tree_is_volatile_free(pushdown->plan_info, outer) ||
		!bloomfam_join_tree_is_volatile_free(pushdown->plan_info, hash))
		return JOIN_BUILD_WOULD_BE_SEEN;
	if (bloomfam_join_filter != JOIN_FILTER_FORCE &&
		may_cost_more(pushdown->plan_info->stmt, hash, outer))
		return JOIN_BUILD_COSTS_MORE;
	return JOIN_MAY_BUILD_FIRST;
}

/* Why it may not; NULL if it may. */
static const char *
reason_of(JoinBuildFirst build_first)
{
	switch (build_first)
	{
		case JOIN_BUILD_WOULD_BE_SEEN:
			return "with the build side first, volatile functions or row locks would differ";
		case JOIN_BUILD_COSTS_MORE:
			return "the build side costs more, and first it would be read for an empty probe side, "
				   "too";
		default:
			return NULL;
	}
}

/*
 * Where the join does not build first, a filter is of no use in places that are read to their end
 * for the first row: below a Gather, in the hash table of a join further down, or where all rows
 * with a key are to be dropped, or none; nor with foreign scans, which have begun by then.
 */
static void
leave_late_targets(JoinPushdown *pushdown)
{
	const char *reason = reason_of(pushdown->build_first);
	ListCell   *lc;

	if (reason == NULL)
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

		if (target->reason == NULL)
			target->reason = reason;
	}
}

/* Is the filter expected to pay?  Places where it comes too late are left. */
static JoinKeyDecision
decide_pushdown(JoinPushdown *pushdown, int workers)
{
	bool		led_somewhere = pushdown->targets != NIL;
	const HashJoin *join = pushdown->join;
	JoinKeyDecision key_decision;
	const Plan *hash = innerPlan(join);
	double		spilling =
		bloomfam_join_spilling(hash->plan_rows, hash->plan_width, outerPlan(join)->plan_width);
	ListCell   *lc;

	memset(&key_decision, 0, sizeof(key_decision));
	key_decision.per_process = workers > 0;
	pushdown->build_first = may_build_first(pushdown);
	key_decision.late_reason = reason_of(pushdown->build_first);
	leave_late_targets(pushdown);
	bloomfam_join_estimate_begin(&key_decision.estimate, hash->plan_rows,
								 is_whole_table(outerPlan(hash)), pushdown->drop);
	if (key_decision.estimate.keys > key_decision.estimate.most)
		bloomfam_join_estimate_span(&key_decision.estimate, span_of_keys(pushdown));
	foreach(lc, pushdown->targets)
	{
		JoinTarget *target = lfirst(lc);
		JoinFilterSite site = describe_target(pushdown, target);

		site.spilling = spilling;
		target->access = bloomfam_join_access(&site);
		target->min_drop = bloomfam_join_site_min_drop(&site);
		target->rows_before = site.rows_before;
		key_decision.per_process |= target->crossed.below_gather;
		bloomfam_join_estimate_site(&key_decision.estimate, &site);
	}
	foreach(lc, pushdown->foreign)
	{
		const JoinForeignTarget *target = lfirst(lc);
		Plan	   *scan = &target->scan->scan.plan;

		key_decision.foreign++;
		if (target->reason != NULL)
		{
			key_decision.not_pushed++;
			key_decision.not_pushed_reason = target->reason;
			continue;
		}
		if (scan->async_capable)	/* else it was among those */
			key_decision.estimate.probed += scan->plan_rows;
		bloomfam_join_estimate_foreign(&key_decision.estimate, scan->plan_rows,
									   guess_at(pushdown, target));
	}
	if (pushdown->targets == NIL && key_decision.not_pushed == key_decision.foreign)
		key_decision.reason = led_somewhere ? JOIN_BUILDS_TOO_LATE : JOIN_HAS_NO_TARGET;
	else
		key_decision.reason = bloomfam_join_estimate_end(&key_decision.estimate);
	return key_decision;
}

/*
 * The columns of a join's key that a filter can use; returns their number, and says in the
 * verdicts why not of the others.
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
			!bloomfam_join_is_volatile_free(column->inner, plan_info->volatility) ||
			(column->computed && n < i))
			key_decisions[i].reason = JOIN_KEY_IS_COMPUTED;
		else if (!bloomfam_join_hashing(column->operator, column->collation, &column->hashing))
			key_decisions[i].reason = JOIN_KEY_HAS_NO_HASH;
		else
			n++;
	}
	return n;
}

/* Decides about one filter; tells the verdict of the keys that it is of. */
static List *
decide(List *pushdowns, JoinPushdown *pushdown, int workers, JoinKeyDecision *key_decisions)
{
	JoinKeyDecision key_decision = decide_pushdown(pushdown, workers);
	int			i;

	for (i = 0; i < pushdown->ncolumns; i++)
		key_decisions[pushdown->columns[i].hash_key] = key_decision;
	if (key_decision.reason == JOIN_HAS_FILTER)
	{
		JoinPushdown *chosen = palloc(sizeof(JoinPushdown));

		*chosen = *pushdown;
		pushdowns = lappend(pushdowns, chosen);
	}
	return pushdowns;
}

/* Says the same of all keys of a join. */
static void
refuse(const HashJoin *join, JoinReason reason, JoinKeyDecision *key_decisions)
{
	int			i;

	for (i = 0; i < list_length(join->hashkeys); i++)
		key_decisions[i].reason = reason;
}

List *
bloomfam_join_decide(const JoinPlanInfo *plan_info, int workers, HashJoin *join,
					 JoinKeyDecision *key_decisions)
{
	JoinKeyColumn  *columns = palloc(list_length(join->hashkeys) * sizeof(JoinKeyColumn));
	List	   *pushdowns = NIL;
	int			n;
	bool		together = true;
	JoinPushdown all;
	JoinPushdown one;
	int			i;

	if (!bloomfam_join_may_drop_outer(join->join.jointype))
	{
		refuse(join, JOIN_KEEPS_ROWS, key_decisions);
		return NIL;
	}
	/* each row of the probe side has all keys asked for */
	if (bloomfam_join_is_volatile(join->hashkeys, plan_info->volatility))
	{
		refuse(join, JOIN_KEY_IS_VOLATILE, key_decisions);
		return NIL;
	}
	n = find_key_columns(plan_info, join, columns, key_decisions);
	if (n == 0)
		return NIL;

	/*
	 * one filter of the whole key drops more than one for each column, unless some of these get
	 * further down
	 */
	bloomfam_join_pushdown_find(&all, plan_info, workers, join, columns, n);
	for (i = 0; i < n && n > 1 && together; i++)
	{
		bloomfam_join_pushdown_find(&one, plan_info, workers, join, &columns[i], 1);
		together = bloomfam_join_same_targets(&all, &one);
	}
	if (together)
		return decide(NIL, &all, workers, key_decisions);
	for (i = 0; i < n; i++)
	{
		if (columns[i].computed && columns[i].hash_key > 0)
		{
			key_decisions[columns[i].hash_key].reason = JOIN_KEY_IS_COMPUTED;
			continue;
		}
		bloomfam_join_pushdown_find(&one, plan_info, workers, join, &columns[i], 1);
		pushdowns = decide(pushdowns, &one, workers, key_decisions);
	}
	return pushdowns;
}
