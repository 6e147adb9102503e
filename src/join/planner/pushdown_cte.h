/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * pushdown_cte.h
 *	  Pushes filters from the scans of a CTE into its plan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_PUSHDOWN_CTE_H
#define BLOOMFAM_JOIN_PUSHDOWN_CTE_H

#include "join/planner/pushdown.h"

/*
 * Pushes a filter into the CTEs that it can be pushed into, and from there into other CTEs.  Its
 * targets on top of their scans are replaced by those within.
 */
extern void bloomfam_join_pushdown_enter_ctes(JoinPushdown *pushdown);

#endif							/* BLOOMFAM_JOIN_PUSHDOWN_CTE_H */
