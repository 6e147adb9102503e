/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * decisions.h
 *	  What EXPLAIN and the log say of the planner's decisions on joins.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_DECISIONS_H
#define BLOOMFAM_JOIN_DECISIONS_H

#include "pg/compat.h"

/* Logs what was decided about the hash joins of a plan: a list of JoinDecision. */
extern void bloomfam_join_log(PlannedStmt *stmt, List *decisions);

/*
 * Shows it in an EXPLAIN, after the plan itself, and then the plan's joins that are no hash joins,
 * and so have no filters.
 */
extern void bloomfam_join_explain_decisions(PlannedStmt *stmt, List *decisions, ExplainState *es);

#endif							/* BLOOMFAM_JOIN_DECISIONS_H */
