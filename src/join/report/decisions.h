/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * decisions.h
 *	  Shows the planner's decisions on joins in EXPLAIN and in the log.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_DECISIONS_H
#define BLOOMFAM_JOIN_DECISIONS_H

#include "pg/compat.h"

/* Logs what was decided about the joins of a plan.  "decisions" is a list of JoinDecision. */
extern void bloomfam_join_log(PlannedStmt *stmt, List *decisions);

/*
 * Shows in an EXPLAIN, after the plan itself, what was decided about the keys of the plan's hash
 * and merge joins.  Then shows join conditions that other nodes, such as a nested loop, evaluate,
 * and that therefore have no filters.
 */
extern void bloomfam_join_explain_decisions(PlannedStmt *stmt, List *decisions, ExplainState *es);

#endif							/* BLOOMFAM_JOIN_DECISIONS_H */
