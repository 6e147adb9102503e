/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * plan.h
 *	  A finished plan gets filters.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_PLAN_H
#define BLOOMFAM_JOIN_PLAN_H

#include "nodes/plannodes.h"

/*
 * Adds filters to a finished plan, in which row security has a part or not.  Returns the
 * decisions: a JoinDecision for each of its hash joins.
 */
extern List *bloomfam_join_plan(PlannedStmt *stmt, bool row_security);

#endif							/* BLOOMFAM_JOIN_PLAN_H */
