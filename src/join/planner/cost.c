/*-------------------------------------------------------------------------
 *
 * cost.c
 *	  The one model of what a filter costs and saves.
 *
 * It serves those who look at a finished plan (decision.c) and those who look at paths that the
 * planner considers (paths.c).  Both describe the places where a filter would be asked; which rows
 * it looks at there, by pages or one by one, is decided here, and the plan carries it to
 * heap_batch.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "executor/executor.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "join/base/gucs.h"
#include "join/filter/design.h"
#include "join/filter/keys.h"
#include "join/planner/cost.h"
#include "pg/compat.h"

/*
 * What a filter costs and saves, in cpu_operator_cost, as measured (docs/join_filter.md): a key
 * of the build side; a row that is probed with a page of them, or by itself; a row that is
 * dropped before it becomes one, and what it then does not cost in each node that it would have
 * passed.
 */
#define COST_OF_KEY			2.0
#define COST_OF_PAGED_ROW	0.4
#define COST_OF_ROW			1.0
#define SAVED_AT_SCAN		2.0
#define SAVED_PER_NODE		4.0
#define SAVED_PER_PUSHED_ROW	40.0 /* of a row that a foreign server does not send */
#define COST_OF_LONG_KEY	150.0	/* to fetch and hash it: the filter, and the join once more */

/*
 * The share of rows that a filter must drop to be worth a look at each row, in thousandths: a page
 * at a time; one by one; and where the join then fetches a long key again.
 */
#define MIN_DROP_OF_PAGES		80
#define MIN_DROP_OF_ROWS		250
#define MIN_DROP_OF_LONG_KEYS	900

bool
bloomfam_join_may_drop_outer(JoinType type)
{
	return type == JOIN_INNER || type == JOIN_SEMI || type == JOIN_RIGHT ||
		   BLOOMFAM_IS_RIGHT_SEMI_OR_ANTI(type);
}

double
bloomfam_join_cost_of_keys(double keys)
{
	return keys * COST_OF_KEY * cpu_operator_cost;
}

/*
 * ANALYZE counts values of more than a kB, but looks at them no further.  So a column of which it
 * has seen values, and knows neither common ones nor bounds nor their order, has such ones only.
 */
bool
bloomfam_join_has_long_keys(Oid table, AttrNumber attribute, bool inherited)
{
	static const int kinds[] = {STATISTIC_KIND_MCV, STATISTIC_KIND_HISTOGRAM,
								STATISTIC_KIND_CORRELATION};
	HeapTuple	tuple;
	Form_pg_statistic statistic;
	bool		result;
	size_t		i;

	tuple = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(table), Int16GetDatum(attribute),
							BoolGetDatum(inherited));
	if (!HeapTupleIsValid(tuple))
		return false;
	statistic = (Form_pg_statistic) GETSTRUCT(tuple);
	result = get_typlen(get_atttype(table, attribute)) == -1 && statistic->stanullfrac < 1;
	for (i = 0; i < lengthof(kinds) && result; i++)
	{
		AttStatsSlot slot;

		result = !get_attstatsslot(&slot, tuple, kinds[i], InvalidOid, 0);
	}
	ReleaseSysCache(tuple);
	return result;
}

double
bloomfam_join_processes(int workers)
{
	/* the leader is busy with the rows of the workers, too (costsize.c) */
	double		leader = parallel_leader_participation ? 1 - 0.3 * workers : 0;

	return workers + Max(leader, 0);
}

/*
 * By pages, keys are hashed of rows that the join may never ask for, as below a LIMIT.  So hashing
 * must not fail.  And it is done before the scan's conditions are asked.  So hashing must give
 * away nothing of rows that they would hide; and a long key would be fetched for each row, most of
 * which may not come to the join: it is looked at after them, or not by the filter at all.
 */
JoinAccess
bloomfam_join_access(const JoinFilterSite *site)
{
	if (!site->is_scan || !site->volatile_free || !site->columns ||
		site->trust == JOIN_HASH_MAY_FAIL)
		return JOIN_ROW_BY_ROW;
	if (!site->conditions)
		return JOIN_PAGE_BATCHES;
	return site->trust == JOIN_HASH_LEAKPROOF && !site->long_keys ? JOIN_PAGE_BATCHES_SPARING
																	: JOIN_ROW_BY_ROW;
}

int
bloomfam_join_site_min_drop(const JoinFilterSite *site)
{
	if (site->long_keys)
		return MIN_DROP_OF_LONG_KEYS;
	return bloomfam_join_access(site) == JOIN_ROW_BY_ROW ? MIN_DROP_OF_ROWS : MIN_DROP_OF_PAGES;
}

double
bloomfam_join_probed(const JoinFilterSite *site)
{
	return bloomfam_join_access(site) == JOIN_ROW_BY_ROW ? site->after : site->rows_before;
}

Cost
bloomfam_join_cost_of_probing(const JoinEstimate *estimate, const JoinFilterSite *site)
{
	bool		by_rows = bloomfam_join_access(site) == JOIN_ROW_BY_ROW;
	double		cost = (by_rows ? COST_OF_ROW : COST_OF_PAGED_ROW) * estimate->waiting;

	if (site->long_keys)
		cost += COST_OF_LONG_KEY;
	return bloomfam_join_probed(site) * cost * cpu_operator_cost;
}

double
bloomfam_join_cost_of_passing(double rows)
{
	return rows * SAVED_PER_NODE * cpu_operator_cost;
}

/*
 * A filter that would get too many keys is not begun; where their number is a guess, only if it
 * were so many times too many.
 */
#define KEYS_IN_DOUBT		2.0

/* Numbers may lie so many times further apart than statistics tell. */
#define SPAN_IN_DOUBT		2.0

/* The share of the cost of building that the first row of the outer side may cost. */
#define FIRST_ROW			0.01

/*
 * The share of the cost of the outer side that building may cost where other filters drop rows.
 * Those that they leave may lie at its end, as rows do where they are in the order of a filter's
 * keys.  If there are none, at least their scan was for less.
 */
#define BUILD_FOR_NOTHING	0.1

bool
bloomfam_join_builds_first(Cost startup, Cost total, double rows, double left, Cost building)
{
	if (left < 1 && building < BUILD_FOR_NOTHING * total)
		return true;

	/* never what costs more than the scan that it can shorten: there may be no row */
	if (building > total)
		return false;
	return startup + (total - startup) / Max(rows * left, 1) > FIRST_ROW * building;
}

double
bloomfam_join_spilling(double keys, int inner_width, int outer_width)
{
	double		table = keys * (inner_width + MAXALIGN(SizeofHeapTupleHeader));
	double		memory = get_hash_memory_limit();

	if (table <= memory)
		return 0;
	return (1 - memory / table) * 2 * seq_page_cost *
		   (outer_width + MAXALIGN(SizeofHeapTupleHeader)) / BLCKSZ;
}

void
bloomfam_join_estimate_begin(JoinEstimate *estimate, double keys, bool is_sure, double drop)
{
	memset(estimate, 0, sizeof(*estimate));
	estimate->keys = keys;
	estimate->most = bloomfam_join_design_most() * (is_sure ? 1.0 : KEYS_IN_DOUBT);
	estimate->dropped = drop;
	estimate->waiting = bloomfam_join_waiting(bloomfam_join_design_bytes(keys));
	estimate->cost = bloomfam_join_cost_of_keys(keys);
}

/* Widens what is known of a column's numbers by the statistics of a kind. */
static void
widen(HeapTuple tuple, int kind, Oid type, int64 *smallest, int64 *largest)
{
	AttStatsSlot slot;
	int			i;

	if (!get_attstatsslot(&slot, tuple, kind, InvalidOid, ATTSTATSSLOT_VALUES))
		return;
	for (i = 0; i < slot.nvalues; i++)
	{
		int64		number = bloomfam_join_keys_number(type, slot.values[i]);

		*smallest = Min(*smallest, number);
		*largest = Max(*largest, number);
	}
	free_attstatsslot(&slot);
}

double
bloomfam_join_span(Oid table, AttrNumber attribute)
{
	HeapTuple	tuple = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(table),
										Int16GetDatum(attribute), BoolGetDatum(false));
	Oid			type = get_atttype(table, attribute);
	int64		smallest = PG_INT64_MAX;
	int64		largest = PG_INT64_MIN;

	if (!HeapTupleIsValid(tuple))
		return -1;
	widen(tuple, STATISTIC_KIND_MCV, type, &smallest, &largest);
	widen(tuple, STATISTIC_KIND_HISTOGRAM, type, &smallest, &largest);
	ReleaseSysCache(tuple);
	return smallest <= largest ? (double) largest - (double) smallest : -1;
}

/* It is filled as the keys come, and statistics are a sample, and of yesterday. */
void
bloomfam_join_estimate_span(JoinEstimate *estimate, double span)
{
	if (span < 0 || !bloomfam_join_design_has_bits(SPAN_IN_DOUBT * span))
		return;
	estimate->most = Max(estimate->most, estimate->keys);
	estimate->waiting = bloomfam_join_waiting(span / 8);
}

void
bloomfam_join_estimate_site(JoinEstimate *estimate, const JoinFilterSite *site)
{
	double		per_row = site->nodes * SAVED_PER_NODE * cpu_operator_cost + site->spilling;

	if (site->long_keys)
		per_row += COST_OF_LONG_KEY * cpu_operator_cost;
	estimate->probed += bloomfam_join_probed(site);
	estimate->cost += bloomfam_join_cost_of_probing(estimate, site);
	estimate->saved += site->after * estimate->dropped * per_row;
	if (bloomfam_join_access(site) != JOIN_ROW_BY_ROW)
		estimate->saved += site->rows_before * estimate->dropped *
						   (SAVED_AT_SCAN * cpu_operator_cost + site->condition_cost);
}

void
bloomfam_join_estimate_foreign(JoinEstimate *estimate, double rows, JoinGuess guess)
{
	estimate->guess = Max(estimate->guess, guess);
	estimate->cost += rows * COST_OF_ROW * cpu_operator_cost;
	estimate->saved += rows * estimate->dropped * SAVED_PER_PUSHED_ROW * cpu_operator_cost;
}

JoinReason
bloomfam_join_estimate_end(const JoinEstimate *estimate)
{
	if (bloomfam_join_filter == JOIN_FILTER_FORCE)
		return JOIN_HAS_FILTER;
	if (estimate->keys > estimate->most)
		return JOIN_HAS_TOO_MANY_KEYS;
	if (estimate->probed < bloomfam_join_filter_min_rows && estimate->guess < JOIN_GUESSES_ROWS)
		return JOIN_PROBES_FEW_ROWS;

	/* a figure that means nothing is no reason against it */
	if (estimate->guess != JOIN_GUESSES_NOTHING)
		return JOIN_HAS_FILTER;
	if (estimate->dropped < bloomfam_join_filter_min_drop)
		return JOIN_DROPS_FEW_ROWS;
	return estimate->saved < estimate->cost ? JOIN_COSTS_MORE : JOIN_HAS_FILTER;
}
