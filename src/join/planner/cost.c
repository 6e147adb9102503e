/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * cost.c
 *	  A filter that could be made, and the one model of what it costs and saves.
 *
 * It serves the paths that the planner considers (paths.c) and the finished plan (decision.c). Both
 * describe the filter as a JoinCandidate.  Which rows are probed at a site, in page batches or row
 * by row, is decided here, and the plan carries it to heap_batch.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "executor/executor.h"
#include "optimizer/optimizer.h"

#include "join/base/column_stats.h"
#include "join/base/gucs.h"
#include "join/filter/form.h"
#include "join/planner/cost.h"
#include "pg/compat.h"

/*
 * What a filter costs and saves, in cpu_operator_cost, as measured (docs/design.md): a key
 * of the build side; a row that is probed in a page batch, or by itself; a row that is dropped
 * before it becomes a tuple, and what it then does not cost in each node that it would have passed.
 */
#define COST_OF_KEY			2.0
#define COST_OF_PAGED_ROW	0.4
#define COST_OF_ROW			1.0
#define SAVED_AT_SCAN		2.0
#define SAVED_PER_NODE		4.0
#define SAVED_PER_PUSHED_ROW	40.0 /* of a row that a foreign server does not send */
#define COST_OF_LONG_KEY	150.0	/* to fetch and hash it: the filter, and the join once more */

/*
 * The fraction of rows that a filter must drop to be worth probing, in thousandths: in page
 * batches; row by row; and where the join then fetches a long key again.
 */
#define MIN_DROP_OF_PAGES		80
#define MIN_DROP_OF_ROWS		250
#define MIN_DROP_OF_LONG_KEYS	900

/*
 * A filter that would get too many keys is not begun; where their number is a guess, only if it
 * were so many times too many.
 */
#define KEYS_IN_DOUBT		2.0

/* Numbers may lie so many times further apart than statistics tell. */
#define SPAN_IN_DOUBT		2.0

double
bloomfam_join_cost_of_keys(double keys)
{
	return keys * COST_OF_KEY * cpu_operator_cost;
}

double
bloomfam_join_cost_of_passing(double rows)
{
	return rows * SAVED_PER_NODE * cpu_operator_cost;
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

JoinHashTrust
bloomfam_join_trust(const JoinKeyColumn *columns, int ncolumns)
{
	JoinHashTrust trust = JOIN_HASH_LEAKPROOF;
	int			i;

	Assert(ncolumns > 0);
	for (i = 0; i < ncolumns; i++)
		trust = Min(trust, columns[i].hashing.trust);
	return trust;
}

bool
bloomfam_join_scans_table(NodeTag scan)
{
	return scan == T_SeqScan || scan == T_IndexScan || scan == T_BitmapHeapScan;
}

/*
 * In page batches, keys are hashed of rows that the join may never come to, as below a LIMIT.  So
 * hashing must not fail.  And it is done before the scan's conditions are evaluated.  So hashing
 * must give away nothing of rows that they would hide.  A long key would be fetched for each row,
 * most of which may not come to the join: it is probed after them, or not by the filter at all.
 * Scans of a major version that is not known are left alone, and those with volatile conditions:
 * these come first, and so see all rows, as without a filter.
 */
static JoinAccess
decide_access(JoinHashTrust trust, const JoinFilterSite *site)
{
	if (!BLOOMFAM_KNOWN_MAJOR || !site->is_batch_scan || trust == JOIN_HASH_MAY_FAIL)
		return JOIN_ROW_BY_ROW;
	if (!site->conditions)
		return JOIN_PAGE_BATCHES;
	return trust == JOIN_HASH_LEAKPROOF && !site->long_keys ? JOIN_PAGE_BATCHES_SPARING
															: JOIN_ROW_BY_ROW;
}

/*
 * How far apart the keys are; -1 if they are no single column of integers, or statistics do not
 * tell.
 */
static double
span_of_keys(const JoinCandidate *candidate)
{
	const JoinHashing *hashing = &candidate->columns[0].hashing;

	if (candidate->ncolumns != 1 || candidate->attribute == 0 ||
		!bloomfam_join_keys_can_keep(hashing->kind, hashing->inner.type))
		return -1;
	return bloomfam_join_column_span(candidate->table, candidate->attribute, bloomfam_join_number);
}

static void
add_keys(JoinEstimate *estimate, const JoinCandidate *candidate)
{
	estimate->keys = candidate->keys;
	estimate->most =
		bloomfam_join_design_most() * (candidate->keys_are_sure ? 1.0 : KEYS_IN_DOUBT);
	estimate->waiting = bloomfam_join_waiting(bloomfam_join_design_bytes(candidate->keys));
	estimate->cost = bloomfam_join_cost_of_keys(candidate->keys);
	if (estimate->keys > estimate->most)
	{
		double		span = span_of_keys(candidate);

		/* a bitmap has room for any number of keys; statistics are a sample, and of yesterday */
		if (span >= 0 && bloomfam_join_design_has_bits(SPAN_IN_DOUBT * span))
		{
			estimate->most = estimate->keys;
			estimate->waiting = bloomfam_join_waiting(span / 8);
		}
	}
}

/* Decides how rows of a site are probed, and adds what that costs and saves. */
static void
add_site(JoinEstimate *estimate, const JoinCandidate *candidate, JoinFilterSite *site)
{
	double		per_row =
		site->nodes * SAVED_PER_NODE * cpu_operator_cost + candidate->spilling;
	double		per_probe;
	double		rows;

	Assert(site->rows_before >= site->rows_after);
	Assert(site->nodes > 0);
	Assert(estimate->waiting >= 1);
	site->access =
		decide_access(bloomfam_join_trust(candidate->columns, candidate->ncolumns), site);
	if (site->access == JOIN_ROW_BY_ROW)
	{
		rows = site->rows_after;
		per_probe = COST_OF_ROW * estimate->waiting;
		site->min_drop = MIN_DROP_OF_ROWS;
	}
	else
	{
		rows = site->rows_before;
		per_probe = COST_OF_PAGED_ROW * estimate->waiting;
		site->min_drop = MIN_DROP_OF_PAGES;
		estimate->saved +=
			rows * estimate->dropped * (SAVED_AT_SCAN * cpu_operator_cost + site->condition_cost);
	}
	if (site->long_keys)
	{
		per_row += COST_OF_LONG_KEY * cpu_operator_cost;
		per_probe += COST_OF_LONG_KEY;
		site->min_drop = MIN_DROP_OF_LONG_KEYS;
	}
	site->probing = rows * per_probe * cpu_operator_cost;
	estimate->probed += rows;
	estimate->cost += site->probing;
	estimate->saved += site->rows_after * estimate->dropped * per_row;
}

static void
add_foreign(JoinEstimate *estimate, const JoinForeignSite *site)
{
	if (site->is_async)			/* else a JoinFilterSite has counted them */
		estimate->probed += site->rows;
	estimate->guess = Max(estimate->guess, site->guess);
	estimate->cost += site->rows * COST_OF_ROW * cpu_operator_cost;
	estimate->saved += site->rows * estimate->dropped * SAVED_PER_PUSHED_ROW * cpu_operator_cost;
}

/* Of the reasons against a filter, the first that applies. */
static JoinReason
decide(const JoinEstimate *estimate)
{
	if (bloomfam_join_filter == JOIN_FILTER_FORCE)
		return JOIN_NO_REASON;
	if (estimate->keys > estimate->most)
		return JOIN_HAS_TOO_MANY_KEYS;
	if (estimate->probed < bloomfam_join_filter_min_rows && estimate->guess < JOIN_GUESSES_ROWS)
		return JOIN_PROBES_FEW_ROWS;

	/* a figure that means nothing is no reason against it */
	if (estimate->guess != JOIN_GUESSES_NOTHING)
		return JOIN_NO_REASON;
	if (estimate->dropped < bloomfam_join_filter_min_drop)
		return JOIN_DROPS_FEW_ROWS;
	return estimate->saved < estimate->cost ? JOIN_COSTS_MORE : JOIN_NO_REASON;
}

JoinReason
bloomfam_join_estimate(JoinCandidate *candidate, JoinEstimate *estimate)
{
	int			i;

	Assert(candidate->drop >= 0 && candidate->drop <= 1);
	Assert((candidate->attribute != 0) == OidIsValid(candidate->table));
	memset(estimate, 0, sizeof(*estimate));
	estimate->dropped = candidate->drop;
	add_keys(estimate, candidate);
	for (i = 0; i < candidate->nsites; i++)
		add_site(estimate, candidate, &candidate->sites[i]);
	for (i = 0; i < candidate->nforeign; i++)
		add_foreign(estimate, &candidate->foreign[i]);
	return decide(estimate);
}
