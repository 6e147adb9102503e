/*-------------------------------------------------------------------------
 *
 * order.c
 *	  Adaptive filter order: which of a node's filters is probed first.
 *
 * A row is dropped by the first filter that does not have its key, so the best one to begin with
 * drops most for what its probe costs.  The plan has those first that are expected to drop most.
 * How many they drop is measured: now and then each filter is first for some rows, which no other
 * has probed, and then they are ordered by that (Zhu et al., "Looking Ahead Makes Query Plans
 * Robust", VLDB 2017, sort them by the fraction that passes).  If they drop independently of each
 * other, no other order is cheaper.
 *
 * A filter that the query names keeps its position: it may raise an error for a row that the one
 * before it drops.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "join/executor/order.h"

/* The rows of a turn; and how many times the rows of a trial are between two trials. */
#define TURN_ROWS	1024
#define TRIAL_FRACTION	64

/* After so many rows it is checked again whether all can be probed. */
#define LOOK_AGAIN	64

/* One is put before another if its rank is so many times higher: what they drop varies. */
#define BETTER		1.1

/*
 * What the probe of a row costs, in nanoseconds or so: to read a number from a page, or to hash
 * what is none; then to probe a Bloom filter, a bitmap, or a range.
 */
#define COST_OF_NUMBER		1.0
#define COST_OF_OTHERS		12.0
#define COST_OF_FUNCTION	25.0
#define COST_OF_BLOOM		2.5
#define COST_OF_BITMAP		1.0
#define COST_OF_RANGE		0.5

static double
cost_of(const JoinProbe *probe)
{
	static const double costs[] = {
		[JOIN_FORM_BLOOM] = COST_OF_BLOOM,
		[JOIN_FORM_BITMAP] = COST_OF_BITMAP,
		[JOIN_FORM_RANGE] = COST_OF_RANGE,
	};
	const JoinDesign *design = &probe->filter->probe.design;
	double		cost = costs[design->form] * bloomfam_join_waiting(design->size);
	int			i;

	for (i = 0; i < probe->ncolumns; i++)
	{
		const JoinKey *key = &probe->keys[i];

		if (key->integer)
			cost += COST_OF_NUMBER;
		else
			cost += OidIsValid(key->function.fn_oid) ? COST_OF_FUNCTION : COST_OF_OTHERS;
	}
	return cost;
}

JoinOrder *
bloomfam_join_order_make(const JoinProbe *probes, int nprobes)
{
	/* one piece of memory, as a thousand partitions have one each */
	JoinOrder  *order =
		palloc0(sizeof(JoinOrder) + nprobes * (sizeof(JoinOrderTrial) + 3 * sizeof(int)));
	int			i;

	order->trials = (JoinOrderTrial *) (order + 1);
	order->filters = (int *) (order->trials + nprobes);
	order->positions = order->filters + nprobes;
	order->decided = order->positions + nprobes;
	for (i = 0; i < nprobes; i++)
	{
		order->filters[i] = i;
		if (probes[i].filter == NULL)
			continue;
		order->positions[order->n] = i;
		order->decided[order->n++] = i;
	}
	if (order->n < 2)
		order->left = PG_UINT64_MAX;
	return order;
}

/* Can all be probed, but for those that never will be? */
static bool
all_are_ready(const JoinOrder *order, const JoinProbe *probes)
{
	int			i;

	for (i = 0; i < order->n; i++)
	{
		JoinFilter *filter = probes[order->positions[i]].filter;

		if (filter->phase != JOIN_FILTER_ABANDONED && !bloomfam_join_filter_ready(filter))
			return false;
	}
	return true;
}

/* The next turn: the filter at this position is first, the others follow as was decided. */
static void
begin_turn(JoinOrder *order, const JoinProbe *probes, int turn)
{
	int			first = order->positions[turn];
	int			next = 1;
	int			i;

	order->trials[first].tested = probes[first].counts.tested;
	order->trials[first].removed = probes[first].counts.removed;
	order->phase = JOIN_ORDER_TRIAL;
	order->turn = turn;
	order->left = TURN_ROWS;
	order->filters[order->positions[0]] = first;
	for (i = 0; i < order->n; i++)
		if (order->decided[i] != first)
			order->filters[order->positions[next++]] = order->decided[i];
	Assert(next == order->n);	/* each of them stands there once */
}

/* Ranks the filter whose turn it was. */
static void
end_turn(JoinOrder *order, const JoinProbe *probes)
{
	const JoinProbe *probe = &probes[order->positions[order->turn]];
	JoinOrderTrial *trial = &order->trials[order->positions[order->turn]];
	uint64		tested = probe->counts.tested - trial->tested;

	Assert(probe->counts.tested >= trial->tested && probe->counts.removed >= trial->removed);
	if (tested > 0)
		trial->rank = (probe->counts.removed - trial->removed) / (tested * cost_of(probe));
	else						/* disabled by the gate, or never ready */
		trial->rank = 0;
}

/* By ranks; where they are about the same, as before. */
static void
decide(JoinOrder *order)
{
	int			i;
	int			j;

	for (i = 1; i < order->n; i++)
	{
		int			filter = order->decided[i];

		for (j = i; j > 0 && order->trials[filter].rank >
								 order->trials[order->decided[j - 1]].rank * BETTER; j--)
			order->decided[j] = order->decided[j - 1];
		order->decided[j] = filter;
	}
	for (i = 0; i < order->n; i++)
		order->filters[order->positions[i]] = order->decided[i];
	order->phase = JOIN_ORDER_DECIDED;
	order->left = TURN_ROWS * TRIAL_FRACTION * order->n;
}

void
bloomfam_join_order_change(JoinOrder *order, const JoinProbe *probes)
{
	switch (order->phase)
	{
		case JOIN_ORDER_PLANNED:
		case JOIN_ORDER_DECIDED:
			if (all_are_ready(order, probes))
				begin_turn(order, probes, 0);
			else
				order->left = LOOK_AGAIN;
			break;
		case JOIN_ORDER_TRIAL:
			end_turn(order, probes);
			if (order->turn + 1 < order->n)
				begin_turn(order, probes, order->turn + 1);
			else
				decide(order);
			break;
	}
}

int
bloomfam_join_order_decided(const JoinOrder *order, int position)
{
	int			i;

	for (i = 0; i < order->n; i++)
		if (order->positions[i] == position)
			return order->decided[i];
	return order->filters[position];
}
