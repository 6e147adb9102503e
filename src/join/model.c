/*-------------------------------------------------------------------------
 *
 * model.c
 *	  The one model of what a filter costs and saves.
 *
 * It serves those who look at a finished plan (verdict.c) and those who look at paths that the
 * planner considers (paths.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "executor/executor.h"
#include "optimizer/optimizer.h"

#include "join/design.h"
#include "join/model.h"
#include "join/settings.h"
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
#define SAVED_PER_TRAVEL	40.0	/* of a row that a foreign server does not send */

/*
 * A probe waits for memory where the filter does not fit the caches of the second and of the last
 * level; sizes that are usual.
 */
#define SECOND_CACHE		(1024.0 * 1024.0)
#define LAST_CACHE			(16.0 * 1024.0 * 1024.0)

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

double
bloomfam_join_cost_of_probe(const JoinEstimate *estimate, bool paged)
{
	return (paged ? COST_OF_PAGED_ROW : COST_OF_ROW) * estimate->waiting * cpu_operator_cost;
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

/* The share of the cost of building that the first row of the outer side may cost. */
#define FIRST_ROW			0.01

bool
bloomfam_join_builds_first(Cost startup, Cost total, double rows, Cost building)
{
	return startup + (total - startup) / Max(rows, 1) > FIRST_ROW * building;
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
	double		bytes = bloomfam_join_design_bytes(keys);

	memset(estimate, 0, sizeof(*estimate));
	estimate->keys = keys;
	estimate->most = bloomfam_join_design_most() * (is_sure ? 1.0 : KEYS_IN_DOUBT);
	estimate->dropped = drop;
	estimate->waiting = bytes <= SECOND_CACHE ? 1 : bytes <= LAST_CACHE ? 2 : 4;
	estimate->cost = bloomfam_join_cost_of_keys(keys);
}

void
bloomfam_join_estimate_place(JoinEstimate *estimate, double rows, bool paged, int nodes,
							double spilling)
{
	estimate->probed += rows;
	estimate->cost += rows * bloomfam_join_cost_of_probe(estimate, paged);
	estimate->saved +=
		rows * estimate->dropped *
		((nodes * SAVED_PER_NODE + (paged ? SAVED_AT_SCAN : 0)) * cpu_operator_cost + spilling);
}

void
bloomfam_join_estimate_foreign(JoinEstimate *estimate, double rows, bool is_guessed)
{
	estimate->is_guessed |= is_guessed;
	estimate->cost += rows * COST_OF_ROW * cpu_operator_cost;
	estimate->saved += rows * estimate->dropped * SAVED_PER_TRAVEL * cpu_operator_cost;
}

JoinReason
bloomfam_join_estimate_end(const JoinEstimate *estimate)
{
	if (bloomfam_join_filter == JOIN_FILTER_FORCE)
		return JOIN_HAS_FILTER;
	if (estimate->keys > estimate->most)
		return JOIN_HAS_TOO_MANY_KEYS;
	if (estimate->probed < bloomfam_join_filter_min_rows && !estimate->is_guessed)
		return JOIN_PROBES_FEW_ROWS;
	if (estimate->dropped < bloomfam_join_filter_min_drop)
		return JOIN_DROPS_FEW_ROWS;
	return estimate->saved < estimate->cost && !estimate->is_guessed ? JOIN_COSTS_MORE
																	 : JOIN_HAS_FILTER;
}
