/*-------------------------------------------------------------------------
 *
 * order.h
 *	  In which order the filters of a scan are asked.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_ORDER_H
#define BLOOMFAM_JOIN_ORDER_H

#include "join/executor/gate.h"

typedef enum JoinOrderPhase
{
	JOIN_ORDER_PLANNED,			/* as the plan has them, until all can be asked */
	JOIN_ORDER_TRIAL,			/* each goes first in its turn */
	JOIN_ORDER_DECIDED			/* by the last trial, until the next one */
} JoinOrderPhase;

/* What a filter did when it went first. */
typedef struct JoinOrderTrial
{
	uint64		tested;			/* in its turn: its counts before */
	uint64		removed;
	double		rank;			/* by the last turn: what it drops, for what that costs */
} JoinOrderTrial;

typedef struct JoinOrder
{
	JoinOrderPhase phase;
	int		   *filters;		/* numbers of all in the node: the first one is to be asked first */
	int			n;				/* those of joins: the others stay at their places, which are */
	int		   *positions;		/* ... not these among all, in order */
	int		   *decided;		/* their numbers, in the order that was decided last */
	JoinOrderTrial *trials;		/* by number */
	int			turn;			/* in a trial: the number of the one that goes first */
	uint64		left;			/* rows until that, or the phase, changes */
} JoinOrder;

/* Those of a node's filters, as the plan has them; in the current memory context. */
extern JoinOrder *bloomfam_join_order_make(const JoinProbe *probes, int nprobes);

/* Looks at what they have done so far, and at which order is next. */
extern void bloomfam_join_order_change(JoinOrder *order, const JoinProbe *probes);

/* To be called before they are asked of some rows. */
static inline void
bloomfam_join_order_next(JoinOrder *order, const JoinProbe *probes, uint64 rows)
{
	if (unlikely(order->left <= rows))
		bloomfam_join_order_change(order, probes);
	else
		order->left -= rows;
}

/* The filter to be shown at a place: not as it is in the middle of a trial. */
extern int	bloomfam_join_order_decided(const JoinOrder *order, int position);

#endif							/* BLOOMFAM_JOIN_ORDER_H */
