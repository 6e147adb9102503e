/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * cost.c
 *	  Estimates what a join filter costs and saves.
 *
 * The model is used for the paths that the planner considers (paths.c) and for the finished plan
 * (decision.c).  Both describe the filter as a JoinCandidate (candidate.c).  Its constants are in
 * constants.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "optimizer/optimizer.h"

#include "join/base/column_stats.h"
#include "join/base/gucs.h"
#include "join/filter/form.h"
#include "join/planner/constants.h"
#include "join/planner/cost.h"
#include "pg/compat.h"

Cost
bloomfam_join_cost_of_passing(double rows)
{
	return rows * COST_OF_NODE * cpu_operator_cost;
}

JoinHashTrust
bloomfam_join_trust(const JoinCandidate *candidate)
{
	JoinHashTrust trust = JOIN_HASH_LEAKPROOF;
	int			i;

	Assert(candidate->ncolumns > 0);
	for (i = 0; i < candidate->ncolumns; i++)
		trust = Min(trust, candidate->columns[i].hashing.trust);
	return trust;
}

/*
 * Returns the difference between the largest and the smallest key; -1 if the key is not a single
 * column of an integer type, or if statistics do not tell.
 */
static double
span_of_keys(const JoinCandidate *candidate)
{
	const JoinHashing *hashing = &candidate->columns[0].hashing;

	if (candidate->ncolumns != 1 || candidate->attribute == 0 ||
		!bloomfam_join_keys_can_keep(hashing->kind, hashing->build.type))
		return -1;
	return bloomfam_join_column_span(candidate->table, candidate->attribute, bloomfam_join_number);
}

/* Adds the cost of building the filter to the estimate. */
static void
add_keys(JoinEstimate *estimate, const JoinCandidate *candidate)
{
	estimate->most =
		bloomfam_join_design_most() * (candidate->keys_are_sure ? 1.0 : SURPLUS_OF_KEYS);
	estimate->waiting = bloomfam_join_waiting(bloomfam_join_design_bytes(candidate->keys));
	estimate->cost = candidate->keys / candidate->adding * COST_OF_KEY * cpu_operator_cost;
	if (candidate->keys > estimate->most)
	{
		double		span = span_of_keys(candidate);

		/*
		 * A bitmap has room for any number of integer keys within its range.  The range is doubled,
		 * as it comes from statistics, which are a sample and may be out of date.
		 */
		if (span >= 0 && bloomfam_join_design_has_bits(SURPLUS_OF_SPAN * span))
		{
			estimate->most = candidate->keys;
			estimate->waiting = bloomfam_join_waiting(span / 8);
		}
	}
}

/*
 * Adds to the estimate the cost of probing at a site, and what is saved by the rows dropped there.
 */
static void
add_site(JoinEstimate *estimate, const JoinCandidate *candidate, JoinFilterSite *site)
{
	/*
	 * The fraction of all rows that are read and dropped: all that match are among those that are
	 * read.
	 */
	double		dropped = Max(site->read - (1 - candidate->drop), 0);
	bool		in_batches = site->access != JOIN_ROW_BY_ROW;
	double		rows = in_batches ? site->rows_before : site->rows_after;
	double		per_probe = (in_batches ? COST_OF_PAGED_ROW : COST_OF_ROW) * estimate->waiting;

	Assert(site->rows_before >= site->rows_after);
	Assert(site->read >= 0 && site->read <= 1);
	Assert(estimate->waiting >= 1);
	site->min_drop = in_batches ? LEAST_DROP_OF_PAGES : LEAST_DROP_OF_ROWS;
	if (site->long_keys)
	{
		per_probe += COST_OF_LONG_KEY;
		estimate->saved += site->rows_after * candidate->left * candidate->drop *
			COST_OF_LONG_KEY * cpu_operator_cost;
		site->min_drop = LEAST_DROP_OF_LONG_KEYS;
	}
	/*
	 * In page batches, a row that the filter drops costs nothing more: not even the scan's
	 * conditions are evaluated for it.
	 */
	if (in_batches)
		estimate->saved +=
			rows * candidate->left * dropped * (cpu_tuple_cost + site->condition_cost);
	estimate->probed += rows;
	estimate->cost += COST_OF_SITE * cpu_operator_cost;
	estimate->cost += rows * candidate->left * site->read * per_probe * cpu_operator_cost;
	estimate->cost += site->shared_pages * site->read * COST_OF_SHARED_PAGE * cpu_operator_cost;
	estimate->saved += site->passing * candidate->drop;

	/*
	 * Filters of joins below may prune the same blocks.  Of what they leave to be read, the
	 * fraction is taken to be that of the rows that they leave.
	 */
	estimate->saved += site->scanning * candidate->left * (1 - site->read);
}

/*
 * Adds to the estimate what it costs that a foreign server probes its rows, and what it saves that
 * the server sends fewer.
 */
static void
add_foreign_site(JoinEstimate *estimate, const JoinCandidate *candidate,
				 const JoinForeignSite *site)
{
	double		rows = site->rows * candidate->left;
	Cost		saved;

	/*
	 * The rows of a scan that is not asynchronous are counted at its JoinFilterSite, as a probe
	 * node above the scan probes them.
	 */
	if (site->is_async)
		estimate->probed += site->rows;
	estimate->guess = Max(estimate->guess, site->guess);
	estimate->cost += rows * COST_OF_ROW * cpu_operator_cost;
	saved = rows * candidate->drop * COST_OF_SENT_ROW * cpu_operator_cost;
	if (site->charged > 0)
		saved = Min(saved, site->charged * candidate->left * candidate->drop);
	estimate->saved += saved;
}

/* Returns the first reason against a filter that applies, or JOIN_NO_REASON. */
static JoinReason
decide(const JoinCandidate *candidate)
{
	const JoinEstimate *estimate = &candidate->estimate;

	if (bloomfam_join_filter == JOIN_FILTER_FORCE)
		return JOIN_NO_REASON;
	if (candidate->keys > estimate->most)
		return JOIN_HAS_TOO_MANY_KEYS;
	if (estimate->probed < LEAST_ROWS && estimate->guess < JOIN_GUESSES_ROWS)
		return JOIN_PROBES_FEW_ROWS;

	/*
	 * If only a guess of rows says that the filter does not pay, the filter is made all the same.
	 */
	if (estimate->guess != JOIN_GUESSES_NOTHING)
		return JOIN_NO_REASON;
	if (candidate->drop < LEAST_DROP)
		return JOIN_DROPS_FEW_ROWS;
	return estimate->saved < estimate->cost ? JOIN_COSTS_MORE : JOIN_NO_REASON;
}

JoinReason
bloomfam_join_estimate(JoinCandidate *candidate)
{
	JoinEstimate *estimate = &candidate->estimate;
	ListCell   *lc;

	Assert(candidate->adding >= 1);
	Assert(candidate->drop >= 0 && candidate->drop <= 1);
	Assert((candidate->attribute != 0) == OidIsValid(candidate->table));
	memset(estimate, 0, sizeof(*estimate));
	add_keys(estimate, candidate);
	foreach(lc, candidate->sites)
		add_site(estimate, candidate, lfirst(lc));
	foreach(lc, candidate->foreign)
		add_foreign_site(estimate, candidate, lfirst(lc));
	return decide(candidate);
}

bool
bloomfam_join_is_worth_building_first(const Plan *outer, double left, Cost building)
{
	/*
	 * The rows that other filters leave may be at the end of the outer side, if rows are stored in
	 * the order of a filter's keys.  If building was in vain because no row is left, it has at
	 * least cost little compared with that scan.
	 */
	if (left < 1 && building < BUILD_FOR_NOTHING * outer->total_cost)
		return true;

	/*
	 * Building must not cost more than the scan that the filter can shorten, as there may be no row
	 * to probe.
	 */
	if (building > outer->total_cost)
		return false;
	return outer->startup_cost +
			   (outer->total_cost - outer->startup_cost) / Max(outer->plan_rows * left, 1) >
		   FIRST_ROW * building;
}
