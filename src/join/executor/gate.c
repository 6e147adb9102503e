/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * gate.c
 *	  The filters of a probe node: their selectivity gates, and the order in which they are probed.
 *
 * The gate: a filter that drops too few rows is disabled for a while.
 *
 * Adaptive filter order: a row is dropped by the first filter that does not have its key, so the
 * best filter to begin with is the one that drops the most rows for the cost of its probe.  In the
 * plan, filters that are expected to drop more come first.  How many rows they drop is then
 * measured: from time to time there is a trial, in which each filter in turn is probed first for
 * some rows, which no other filter has seen; after that, the filters are ordered by the result.
 * (Zhu et al., "Looking Ahead Makes Query Plans Robust", VLDB 2017, sort filters by the fraction
 * that passes.)  If the filters drop rows independently of each other, no other order is cheaper.
 *
 * A node with a filter that the query names keeps the plan's order: such a filter may raise an
 * error for a row that the filter before it drops.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "join/base/gucs.h"
#include "join/executor/gate.h"

#define LONGEST_PAUSE	(JOIN_PAUSE_ROWS * 64)

/*
 * The filters of a node are tried in turns, to find their best order: TURN_ROWS is the number of
 * rows for which one filter is probed first, and TRIAL_FRACTION is the time between two such
 * trials, as a multiple of a trial's rows.
 */
#define TURN_ROWS	1024
#define TRIAL_FRACTION	64

/*
 * The number of rows after which it is checked again whether all filters of a node are ready, so
 * that a trial of their order can begin.
 */
#define LOOK_AGAIN	64

/*
 * The approximate cost, in nanoseconds, of reading an integer that is not at a fixed offset in its
 * row, so that the columns before it must be walked through.
 */
#define COST_OF_WALK	25.0

/*
 * A filter is put before another one if its rank is higher by this factor, as what filters drop
 * varies.
 */
#define BETTER		1.1

void
bloomfam_join_probe_count(JoinProbe *probe, uint64 tested, uint64 removed)
{
	Assert(removed <= tested);
	/* While a filter is paused, rows are not checked by it, and so not counted in this function. */
	Assert(probe->pause == 0);
	probe->counts.tested += tested;
	probe->counts.removed += removed;
	probe->sample_tested += tested;
	probe->sample_removed += removed;
	if (probe->sample_tested < JOIN_SAMPLE_ROWS)
		return;
	probe->counts.disabled =
		probe->sample_removed < probe->info->min_drop / 1000.0 * probe->sample_tested &&
		probe->filter != NULL && !probe->all_or_none && bloomfam_join_filter != JOIN_FILTER_FORCE;
	if (probe->counts.disabled)
		probe->pause = Min(Max(probe->last_pause * 2, JOIN_PAUSE_ROWS), LONGEST_PAUSE);
	probe->last_pause = probe->pause;
	probe->sample_tested = probe->sample_removed = 0;
}

/* ---- the order of filters ---- */

/*
 * Returns the approximate cost of probing a filter for one row, in nanoseconds.  "walked" is the
 * average number of integers of the row's key that are not at a fixed offset in the row, because
 * columns before them have NULLs or values of varying length.
 */
static double
cost_of(const JoinProbe *probe, double walked)
{
	static const double costs[] = {
		[JOIN_FORM_BLOOM] = 2.5,
		[JOIN_FORM_BITMAP] = 1.0,
		[JOIN_FORM_RANGE] = 0.5,
	};
	const JoinFilterProbe *design = &probe->filter->probe;
	double		cost =
		costs[design->form] * bloomfam_join_waiting(design->size) + COST_OF_WALK * walked;
	int			i;

	for (i = 0; i < probe->ncolumns; i++)
	{
		const JoinKey *key = &probe->keys[i];

		/*
		 * The cost of one key column is that of reading an integer from a page, or of hashing a
		 * value of another type.
		 */
		if (key->integer)
			cost += 1.0;
		else
			cost += OidIsValid(key->function.fn_oid) ? 25.0 : 12.0;
	}
	return cost;
}

JoinProbeOrder *
bloomfam_join_probe_order_make(const JoinProbe *probes, int nprobes)
{
	/*
	 * The order and its arrays are one allocation, to save memory: each of a thousand partitions
	 * may have an order.
	 */
	JoinProbeOrder *order =
		palloc0(sizeof(JoinProbeOrder) + nprobes * (sizeof(double) + 2 * sizeof(int)));
	bool		is_fixed = nprobes < 2;
	int			i;

	order->turn = -1;
	order->n = nprobes;
	order->ranks = (double *) (order + 1);
	order->filters = (int *) (order->ranks + nprobes);
	order->decided = order->filters + nprobes;
	for (i = 0; i < nprobes; i++)
	{
		order->filters[i] = order->decided[i] = i;
		is_fixed |= probes[i].filter == NULL;
	}
	if (is_fixed)
		order->left = PG_UINT64_MAX;
	return order;
}

/* Tells whether all filters are ready, except those that never will be. */
static bool
all_are_ready(const JoinProbeOrder *order, const JoinProbe *probes)
{
	int			i;

	for (i = 0; i < order->n; i++)
	{
		JoinFilter *filter = probes[i].filter;

		if (filter->state != JOIN_FILTER_DISCARDED && !bloomfam_join_filter_ready(filter))
			return false;
	}
	return true;
}

/*
 * Begins the turn of a filter in a trial: it is probed first, and the others follow in the order
 * that was decided last.
 */
static void
begin_turn(JoinProbeOrder *order, const JoinProbe *probes, int turn)
{
	int			next = 1;
	int			i;

	order->tested = probes[turn].counts.tested;
	order->removed = probes[turn].counts.removed;
	order->walked = probes[turn].walked;
	order->turn = turn;
	order->left = TURN_ROWS;
	order->filters[0] = turn;
	for (i = 0; i < order->n; i++)
		if (order->decided[i] != turn)
			order->filters[next++] = order->decided[i];
	Assert(next == order->n);	/* Each filter of the node is in filters[] exactly once. */
}

/* Sets the rank of the filter whose turn in the trial has ended. */
static void
end_turn(JoinProbeOrder *order, const JoinProbe *probes)
{
	const JoinProbe *probe = &probes[order->turn];
	uint64		tested = probe->counts.tested - order->tested;
	uint64		removed = probe->counts.removed - order->removed;

	Assert(probe->counts.tested >= order->tested && probe->counts.removed >= order->removed);

	/*
	 * A filter's rank is 0 if no row was probed in its turn, because the gate has disabled the
	 * filter or it was never ready.
	 */
	order->ranks[order->turn] = 0;
	if (tested > 0)
		order->ranks[order->turn] =
			removed / (tested * cost_of(probe, (double) (probe->walked - order->walked) / tested));
}

/* Sorts the filters by their ranks.  Filters with about the same rank keep their order. */
static void
decide(JoinProbeOrder *order)
{
	int			i;
	int			j;

	for (i = 1; i < order->n; i++)
	{
		int			filter = order->decided[i];

		for (j = i;
			 j > 0 && order->ranks[filter] > order->ranks[order->decided[j - 1]] * BETTER; j--)
			order->decided[j] = order->decided[j - 1];
		order->decided[j] = filter;
	}
	memcpy(order->filters, order->decided, order->n * sizeof(int));
	order->turn = -1;
	order->left = TURN_ROWS * TRIAL_FRACTION * order->n;
}

void
bloomfam_join_probe_order_change(JoinProbeOrder *order, const JoinProbe *probes)
{
	if (order->turn >= 0)
		end_turn(order, probes);
	else if (!all_are_ready(order, probes))
	{
		order->left = LOOK_AGAIN;
		return;
	}
	if (order->turn + 1 < order->n)
		begin_turn(order, probes, order->turn + 1);
	else
		decide(order);
}
