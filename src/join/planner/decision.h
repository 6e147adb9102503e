/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * decision.h
 *	  Decides whether a join gets filters.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_DECISION_H
#define BLOOMFAM_JOIN_DECISION_H

#include "join/planner/pushdown.h"

/* The decision on one key of a join: on a hash key, or on a merge clause. */
typedef struct JoinKeyDecision
{
	/* The reason why the key has no filter; JOIN_NO_REASON: it has one. */
	JoinReason	reason;

	/* The filter that was considered for the key; NULL: none was considered. */
	const JoinPushdown *pushdown;
} JoinKeyDecision;

/* The decisions on a join. */
typedef struct JoinDecision
{
	/* The join: a HashJoin, or a MergeJoin whose outer side is a Sort. */
	Join	   *join;
	List	   *ancestors;		/* List of the plan nodes above the join, the nearest first. */
	JoinKeyDecision *key_decisions; /* Array with the decision on each key of the join. */
} JoinDecision;

/* Returns the conditions by which a HashJoin or MergeJoin compares its keys: a list of OpExpr. */
extern List *bloomfam_join_conditions(const Join *join);

/*
 * Decides which filters a join gets, in a part of the plan that the given number of workers run (0:
 * only the leader runs it).  Returns a list with a JoinPushdown for each filter, and sets
 * key_decisions[] for each key.
 */
extern List *bloomfam_join_decide(const JoinPlanInfo *plan_info, int workers, Join *join,
								  JoinKeyDecision *key_decisions);

#endif							/* BLOOMFAM_JOIN_DECISION_H */
