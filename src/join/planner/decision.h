/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * decision.h
 *	  Whether a join gets filters, and why not.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_DECISION_H
#define BLOOMFAM_JOIN_DECISION_H

#include "join/planner/pushdown.h"

/* What became of a key of a join: a hash key, or a merge clause. */
typedef struct JoinKeyDecision
{
	JoinReason	reason;			/* why the key has no filter; JOIN_NO_REASON: it has one */
	const JoinPushdown *pushdown; /* the filter that was considered; NULL: none was */
} JoinKeyDecision;

/* What became of a join. */
typedef struct JoinDecision
{
	Join	   *join;			/* a HashJoin, or a MergeJoin whose outer side is a Sort */
	List	   *ancestors;		/* plan nodes, the nearest first */
	JoinKeyDecision *key_decisions; /* on each of its keys */
} JoinDecision;

/* The conditions that a HashJoin or MergeJoin compares keys by: a list of OpExpr. */
extern List *bloomfam_join_conditions(const Join *join);

/*
 * Decides about a join in a part of the plan that so many workers run: returns a list of
 * JoinPushdown, one for each filter that it is to get, and fills the decisions on its keys.
 */
extern List *bloomfam_join_decide(const JoinPlanInfo *plan_info, int workers, Join *join,
								  JoinKeyDecision *key_decisions);

#endif							/* BLOOMFAM_JOIN_DECISION_H */
