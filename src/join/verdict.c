/*-------------------------------------------------------------------------
 *
 * verdict.c
 *	  Whether a hash join gets filters, and why not.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/lsyscache.h"

#include "join/column.h"
#include "join/foreign.h"
#include "join/hash.h"
#include "join/spec.h"
#include "join/verdict.h"

/* Is it a scan that may be done by pages? */
static bool
is_paged(Plan *plan)
{
	return IsA(plan, SeqScan) ||
		   (bloomfam_join_node_kind(plan) != JOIN_NODE_OTHER && IsA(plan->lefttree, SeqScan));
}

/* Does a plan give all rows of a table, so that statistics know how many? */
static bool
is_whole_table(const Plan *plan)
{
	while (bloomfam_join_node_kind(plan) != JOIN_NODE_OTHER)
		plan = outerPlan(plan);
	return IsA(plan, SeqScan) && plan->qual == NIL;
}

/* Is the filter expected to pay? */
static JoinVerdict
judge_way(const JoinWay *way, bool parallel)
{
	const HashJoin *join = way->join;
	JoinVerdict verdict;
	const Plan *hash = innerPlan(join);
	double		spilling =
		bloomfam_join_spilling(hash->plan_rows, hash->plan_width, outerPlan(join)->plan_width);
	ListCell   *lc;

	memset(&verdict, 0, sizeof(verdict));
	verdict.per_process = parallel;
	bloomfam_join_estimate_begin(&verdict.estimate, hash->plan_rows,
								 is_whole_table(outerPlan(hash)), way->drop);
	foreach(lc, way->places)
	{
		const JoinPlace *place = lfirst(lc);
		Plan	   *plan = *place->slot;

		verdict.per_process |= place->below_gather;
		bloomfam_join_estimate_place(&verdict.estimate, plan->plan_rows, is_paged(plan),
									 place->nodes, spilling);
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
		bloomfam_join_estimate_foreign(
			&verdict.estimate, scan->plan_rows,
			bloomfam_join_foreign_is_guessed(way->query->stmt, place->scan));
	}
	if (way->places == NIL && verdict.unsent == verdict.foreign)
		verdict.reason = JOIN_HAS_NO_PLACE;
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
find_key_columns(HashJoin *join, JoinKeyColumn *columns, JoinVerdict *verdicts)
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
		if (column->attribute == 0 || !bloomfam_join_is_indifferent(column->inner) ||
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
decide(List *ways, const JoinWay *way, bool parallel, JoinVerdict *verdicts)
{
	JoinVerdict verdict = judge_way(way, parallel);
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

List *
bloomfam_join_judge(const JoinQuery *query, bool parallel, HashJoin *join, JoinVerdict *verdicts)
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
		for (i = 0; i < list_length(join->hashkeys); i++)
			verdicts[i].reason = JOIN_KEEPS_ROWS;
		return NIL;
	}
	n = find_key_columns(join, columns, verdicts);
	if (n == 0)
		return NIL;

	/*
	 * one filter of the whole key drops more than one for each column, unless some of these get
	 * further down
	 */
	bloomfam_join_walk(&all, query, parallel, join, columns, n);
	for (i = 0; i < n && n > 1 && together; i++)
	{
		bloomfam_join_walk(&one, query, parallel, join, &columns[i], 1);
		together = bloomfam_join_same_places(&all, &one);
	}
	if (together)
		return decide(NIL, &all, parallel, verdicts);
	for (i = 0; i < n; i++)
	{
		if (columns[i].computed && columns[i].hash_key > 0)
		{
			verdicts[columns[i].hash_key].reason = JOIN_KEY_IS_COMPUTED;
			continue;
		}
		bloomfam_join_walk(&one, query, parallel, join, &columns[i], 1);
		ways = decide(ways, &one, parallel, verdicts);
	}
	return ways;
}
