/*-------------------------------------------------------------------------
 *
 * stored_conditions.h
 *	  Which conditions with a filter become filters of a probe node.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_STORED_CONDITIONS_H
#define BLOOMFAM_JOIN_STORED_CONDITIONS_H

#include "nodes/plannodes.h"

#include "join/planner/volatility.h"

/* The fraction of rows, in thousandths, that it is expected to drop: it is made to be selective. */
#define JOIN_STORED_DROP	900

/* Such a condition. */
typedef struct JoinStoredCondition
{
	Node	   *condition;
	int			before;			/* so many of those that the scan keeps come before it, in the order
								 * of the planner */
} JoinStoredCondition;

/*
 * Takes the conditions that are probes of a filter from a scan of a plan that is finished:
 * returns those that a probe node on top of it is to apply in its stead, of JoinStoredCondition.
 * row_security: they must not come before other conditions.
 */
extern List *bloomfam_join_take_stored(const JoinPlanInfo *plan_info, Scan *scan,
									   bool row_security);

#endif							/* BLOOMFAM_JOIN_STORED_CONDITIONS_H */
