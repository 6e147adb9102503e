/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * gate.c
 *	  The filters of a probe node: the selectivity gate of each, and which is probed first.
 *
 * The gate: a filter that drops too few rows is disabled for a while.
 *
 * Adaptive filter order: a row is dropped by the first filter that does not have its key, so the
 * best one to begin with drops most for what its probe costs.  The plan has those first that are
 * expected to drop most.  How many they drop is measured: now and then each filter is first for
 * some rows, which no other has probed, and then they are ordered by that (Zhu et al., "Looking
 * Ahead Makes Query Plans Robust", VLDB 2017, sort them by the fraction that passes).  If they drop
 * independently of each other, no other order is cheaper.
 *
 * A node with a filter that the query names keeps the plan's order: such a filter may raise an
 * error for a row that the one before it drops.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "join/base/gucs.h"
#include "join/executor/gate.h"

#define LONGEST_PAUSE	(JOIN_PAUSE_ROWS * 64)

/* The rows of a turn; and how many times the rows of a trial are between two trials. */
#define TURN_ROWS	1024
#define TRIAL_FRACTION	64

/* After so many rows it is checked again whether all can be probed. */
#define LOOK_AGAIN	64

/* Nanoseconds or so to reach a number by way of the columns before it. */
#define COST_OF_WALK	25.0

/* One is put before another if its rank is so many times higher: what they drop varies. */
#define BETTER		1.1

void
bloomfam_join_probe_count(JoinProbe *probe, uint64 tested, uint64 removed)
{
	Assert(removed <= tested);
	Assert(probe->pause == 0);	/* else the rows were not checked */
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

/* ---- order ---- */

/*
 * What the probe of a row costs, in nanoseconds or so, where so many numbers of its key are reached
 * by way of the columns before them: these have NULLs, or values of any length.
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

		/* to read a number from a page, or to hash what is none */
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
	/* one piece of memory, as a thousand partitions have one each */
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

/* Can all be probed, but for those that never will be? */
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

/* The next turn: this filter is first, the others follow as was decided. */
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
	Assert(next == order->n);	/* each of them stands there once */
}

/* Ranks the filter whose turn it was. */
static void
end_turn(JoinProbeOrder *order, const JoinProbe *probes)
{
	const JoinProbe *probe = &probes[order->turn];
	uint64		tested = probe->counts.tested - order->tested;
	uint64		removed = probe->counts.removed - order->removed;

	Assert(probe->counts.tested >= order->tested && probe->counts.removed >= order->removed);

	/* none if it was disabled by the gate, or never ready */
	order->ranks[order->turn] = 0;
	if (tested > 0)
		order->ranks[order->turn] =
			removed / (tested * cost_of(probe, (double) (probe->walked - order->walked) / tested));
}

/* By ranks; where they are about the same, as before. */
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
