/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * plan.h
 *	  Adds filters to a finished plan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_PLAN_H
#define BLOOMFAM_JOIN_PLAN_H

#include "nodes/plannodes.h"

/*
 * Adds filters to a finished plan. row_security says whether row security policies apply in the
 * query.  Returns a list with a JoinDecision for each hash join, and for each merge join whose
 * outer side is a Sort.
 */
extern List *bloomfam_join_plan(PlannedStmt *stmt, bool row_security);

#endif							/* BLOOMFAM_JOIN_PLAN_H */
