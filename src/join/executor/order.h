/*-------------------------------------------------------------------------
 *
 * order.h
 *	  Adaptive filter order: which of a node's filters is probed first.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_ORDER_H
#define BLOOMFAM_JOIN_ORDER_H

#include "join/executor/gate.h"

typedef enum JoinOrderPhase
{
	JOIN_ORDER_PLANNED,			/* as the plan has them, until all can be probed */
	JOIN_ORDER_TRIAL,			/* each is first in its turn */
	JOIN_ORDER_DECIDED			/* by the last trial, until the next one */
} JoinOrderPhase;

/* What a filter did when it was first. */
typedef struct JoinOrderTrial
{
	uint64		tested;			/* in its turn: its counts before */
	uint64		removed;
	double		rank;			/* by the last turn: fraction dropped, by the cost of a probe */
} JoinOrderTrial;

typedef struct JoinOrder
{
	JoinOrderPhase phase;
	int		   *filters;		/* indexes of all in the node, in the order to probe them */
	int			n;				/* filters of joins: only they change their positions, */
	int		   *positions;		/* ... which are these in filters[], ascending */
	int		   *decided;		/* their indexes, in the order that was decided last */
	JoinOrderTrial *trials;		/* by index */
	int			turn;			/* in a trial: which of positions[] had the one that is first */
	uint64		left;			/* rows until the turn or the phase changes */
} JoinOrder;

/* The order of a node's filters, as the plan has them; in the current memory context. */
extern JoinOrder *bloomfam_join_order_make(const JoinProbe *probes, int nprobes);

/* Ends the turn or the phase, and begins the next one by what they did so far. */
extern void bloomfam_join_order_change(JoinOrder *order, const JoinProbe *probes);

/* To be called before so many rows are probed. */
static inline void
bloomfam_join_order_next(JoinOrder *order, const JoinProbe *probes, uint64 rows)
{
	if (unlikely(order->left <= rows))
		bloomfam_join_order_change(order, probes);
	else
		order->left -= rows;
}

/* The filter that EXPLAIN shows at a position: not as it is in the middle of a trial. */
extern int	bloomfam_join_order_decided(const JoinOrder *order, int position);

#endif							/* BLOOMFAM_JOIN_ORDER_H */
