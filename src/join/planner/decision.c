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
#include "join/base/settings.h"
#include "join/base/spec.h"
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
static JoinScene
look_at(const JoinWay *way, const JoinPlace *place)
{
	const Plan *plan = *place->slot;
	JoinScene	scene = {
		.nodes = place->passed.nodes, .before = plan->plan_rows, .after = plan->plan_rows};
	Oid			table;
	QualCost	asking;
	int			i;

	if (bloomfam_join_node_kind(plan) == JOIN_NODE_PROBE)
		plan = outerPlan(plan);
	if (!IsA(plan, SeqScan))
		return scene;
	table = rt_fetch(((const Scan *) plan)->scanrelid, way->query->stmt->rtable)->relid;
	scene.is_scan = true;
	scene.indifferent =
		bloomfam_join_node_is_indifferent(way->query, unconstify(Plan *, plan));
	scene.conditions = plan->qual != NIL;
	scene.columns = true;
	scene.trust = way->trust;
	for (i = 0; i < way->ncolumns; i++)
	{
		AttrNumber	column = bloomfam_join_column_behind(plan, place->attributes[i],
														 ((const Scan *) plan)->scanrelid);

		scene.columns &= column != 0;
		scene.long_keys |= column != 0 && bloomfam_join_has_long_keys(table, column, false);
	}
	if (!scene.conditions)
		return scene;
	cost_qual_eval(&asking, plan->qual, NULL);
	scene.asking = asking.per_tuple;
	scene.before = count_rows(table);
	if (plan->parallel_aware)
		scene.before /= bloomfam_join_processes(place->passed.workers);
	scene.before = Max(scene.before, scene.after);
	return scene;
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
span_of_keys(const JoinWay *way)
{
	const Plan *hash = innerPlan(way->join);
	const Plan *scan = outerPlan(hash);
	const JoinKeyColumn *key = &way->columns[0];
	AttrNumber	column;
	Index		rti;

	while (bloomfam_join_node_kind(scan) != JOIN_NODE_OTHER)
		scan = outerPlan(scan);
	if (way->ncolumns != 1 || hash->parallel_aware || key->computed ||
		!bloomfam_join_keys_can_keep(key->hashing.kind, key->hashing.inner.type) ||
		!(IsA(scan, SeqScan) || IsA(scan, IndexScan) || IsA(scan, BitmapHeapScan)))
		return -1;
	rti = ((const Scan *) scan)->scanrelid;
	column =
		bloomfam_join_column_behind(scan, bloomfam_join_column(key->inner, OUTER_VAR), rti);
	if (column == 0)
		return -1;
	return bloomfam_join_span(rt_fetch(rti, way->query->stmt->rtable)->relid, column);
}

/*
 * What of the filter's estimate is a guess, as nobody looked at a foreign table that it travels
 * to.  One of too many keys does not, so there is nothing to be tried.
 */
static JoinGuess
guess_at(const JoinWay *way, const JoinForeignPlace *place)
{
	const PlannedStmt *stmt = way->query->stmt;

	if (innerPlan(way->join)->plan_rows > bloomfam_join_foreign_most())
		return JOIN_GUESSES_NOTHING;
	if (bloomfam_join_foreign_is_guessed(stmt, place->scan))
		return JOIN_GUESSES_ROWS;
	return bloomfam_join_foreign_key_is_unknown(stmt, place->scan, place->attribute)
			   ? JOIN_GUESSES_SHARE
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
may_build_first(const JoinWay *way)
{
	Plan	   *outer = outerPlan(way->join);
	Plan	   *hash = innerPlan(way->join);

	if (server_builds_first(way->join))
		return JOIN_MAY_BUILD_FIRST;
	if (!bloomfam_join_tree_is_indifferent(way->query, outer) ||
		!bloomfam_join_tree_is_indifferent(way->query, hash))
		return JOIN_BUILD_WOULD_BE_SEEN;
	if (bloomfam_join_filter != JOIN_FILTER_FORCE &&
		may_cost_more(way->query->stmt, hash, outer))
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
leave_late_places(JoinWay *way)
{
	const char *reason = reason_of(way->build_first);
	ListCell   *lc;

	if (reason == NULL)
		return;
	foreach(lc, way->places)
	{
		const JoinPassed *passed = &((JoinPlace *) lfirst(lc))->passed;

		if (passed->below_gather || passed->below_hash || passed->whole)
			way->places = foreach_delete_current(way->places, lc);
	}
	foreach(lc, way->foreign)
	{
		JoinForeignPlace *place = lfirst(lc);

		if (place->reason == NULL)
			place->reason = reason;
	}
}

/* Is the filter expected to pay?  Places where it comes too late are left. */
static JoinVerdict
judge_way(JoinWay *way, int workers)
{
	bool		led_somewhere = way->places != NIL;
	const HashJoin *join = way->join;
	JoinVerdict verdict;
	const Plan *hash = innerPlan(join);
	double		spilling =
		bloomfam_join_spilling(hash->plan_rows, hash->plan_width, outerPlan(join)->plan_width);
	ListCell   *lc;

	memset(&verdict, 0, sizeof(verdict));
	verdict.per_process = workers > 0;
	way->build_first = may_build_first(way);
	verdict.late_reason = reason_of(way->build_first);
	leave_late_places(way);
	bloomfam_join_estimate_begin(&verdict.estimate, hash->plan_rows,
								 is_whole_table(outerPlan(hash)), way->drop);
	if (verdict.estimate.keys > verdict.estimate.most)
		bloomfam_join_estimate_span(&verdict.estimate, span_of_keys(way));
	foreach(lc, way->places)
	{
		JoinPlace  *place = lfirst(lc);
		JoinScene	scene = look_at(way, place);

		scene.spilling = spilling;
		place->access = bloomfam_join_access(&scene);
		place->worth = bloomfam_join_worth(&scene);
		place->before = scene.before;
		verdict.per_process |= place->passed.below_gather;
		bloomfam_join_estimate_place(&verdict.estimate, &scene);
	}
	foreach(lc, way->foreign)
	{
		const JoinForeignPlace *place = lfirst(lc);
		Plan	   *scan = &place->scan->scan.plan;

		verdict.foreign++;
		if (place->reason != NULL)
		{
			verdict.unsent++;
			verdict.unsent_reason = place->reason;
			continue;
		}
		if (scan->async_capable)	/* else it was among those */
			verdict.estimate.probed += scan->plan_rows;
		bloomfam_join_estimate_foreign(&verdict.estimate, scan->plan_rows, guess_at(way, place));
	}
	if (way->places == NIL && verdict.unsent == verdict.foreign)
		verdict.reason = led_somewhere ? JOIN_BUILDS_TOO_LATE : JOIN_HAS_NO_PLACE;
	else
		verdict.reason = bloomfam_join_estimate_end(&verdict.estimate);
	return verdict;
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
find_key_columns(const JoinQuery *query, HashJoin *join, JoinKeyColumn *columns,
				 JoinVerdict *verdicts)
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
			!bloomfam_join_is_indifferent(column->inner, query->volatility) ||
			(column->computed && n < i))
			verdicts[i].reason = JOIN_KEY_IS_COMPUTED;
		else if (!bloomfam_join_hashing(column->operator, column->collation, &column->hashing))
			verdicts[i].reason = JOIN_KEY_HAS_NO_HASH;
		else
			n++;
	}
	return n;
}

/* Decides about one filter; tells the verdict of the keys that it is of. */
static List *
decide(List *ways, JoinWay *way, int workers, JoinVerdict *verdicts)
{
	JoinVerdict verdict = judge_way(way, workers);
	int			i;

	for (i = 0; i < way->ncolumns; i++)
		verdicts[way->columns[i].hash_key] = verdict;
	if (verdict.reason == JOIN_HAS_FILTER)
	{
		JoinWay *chosen = palloc(sizeof(JoinWay));

		*chosen = *way;
		ways = lappend(ways, chosen);
	}
	return ways;
}

/* Says the same of all keys of a join. */
static void
refuse(const HashJoin *join, JoinReason reason, JoinVerdict *verdicts)
{
	int			i;

	for (i = 0; i < list_length(join->hashkeys); i++)
		verdicts[i].reason = reason;
}

List *
bloomfam_join_judge(const JoinQuery *query, int workers, HashJoin *join, JoinVerdict *verdicts)
{
	JoinKeyColumn  *columns = palloc(list_length(join->hashkeys) * sizeof(JoinKeyColumn));
	List	   *ways = NIL;
	int			n;
	bool		together = true;
	JoinWay		all;
	JoinWay		one;
	int			i;

	if (!bloomfam_join_may_drop_outer(join->join.jointype))
	{
		refuse(join, JOIN_KEEPS_ROWS, verdicts);
		return NIL;
	}
	/* each row of the probe side has all keys asked for */
	if (bloomfam_join_is_volatile(join->hashkeys, query->volatility))
	{
		refuse(join, JOIN_KEY_IS_VOLATILE, verdicts);
		return NIL;
	}
	n = find_key_columns(query, join, columns, verdicts);
	if (n == 0)
		return NIL;

	/*
	 * one filter of the whole key drops more than one for each column, unless some of these get
	 * further down
	 */
	bloomfam_join_walk(&all, query, workers, join, columns, n);
	for (i = 0; i < n && n > 1 && together; i++)
	{
		bloomfam_join_walk(&one, query, workers, join, &columns[i], 1);
		together = bloomfam_join_same_places(&all, &one);
	}
	if (together)
		return decide(NIL, &all, workers, verdicts);
	for (i = 0; i < n; i++)
	{
		if (columns[i].computed && columns[i].hash_key > 0)
		{
			verdicts[columns[i].hash_key].reason = JOIN_KEY_IS_COMPUTED;
			continue;
		}
		bloomfam_join_walk(&one, query, workers, join, &columns[i], 1);
		ways = decide(ways, &one, workers, verdicts);
	}
	return ways;
}
