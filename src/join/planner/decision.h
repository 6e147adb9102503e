/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * decision.h
 *	  Whether a hash join gets filters, and why not.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_DECISION_H
#define BLOOMFAM_JOIN_DECISION_H

#include "join/planner/pushdown.h"

/* What became of a hash key of a join. */
typedef struct JoinKeyDecision
{
	JoinReason	reason;			/* why the key has no filter; JOIN_NO_REASON: it has one */
	const JoinPushdown *pushdown; /* the filter that was considered; NULL: none was */
} JoinKeyDecision;

/* What became of a hash join. */
typedef struct JoinDecision
{
	HashJoin   *join;
	List	   *ancestors;		/* plan nodes, the nearest first */
	JoinKeyDecision *key_decisions; /* on each of its hash keys */
} JoinDecision;

/*
 * Decides about a hash join in a part of the plan that so many workers run: returns a list of
 * JoinPushdown, one for each filter that it is to get, and fills the decisions on its hash keys.
 */
extern List *bloomfam_join_decide(const JoinPlanInfo *plan_info, int workers, HashJoin *join,
								  JoinKeyDecision *key_decisions);

#endif							/* BLOOMFAM_JOIN_DECISION_H */
