/*-------------------------------------------------------------------------
 *
 * plan_volatility.h
 *	  A finished plan: which parts of it are volatile, and which are repeatable.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_PLAN_VOLATILITY_H
#define BLOOMFAM_JOIN_PLAN_VOLATILITY_H

#include "nodes/plannodes.h"

#include "join/planner/volatility.h"

/* What is known of a plan's nodes. */
typedef struct JoinKnown JoinKnown;

/* A plan that filters are added to. */
typedef struct JoinPlanInfo
{
	PlannedStmt *stmt;
	int			highest_node_id;
	bool		has_barrier;	/* some view or subquery in it hides rows from those who query it */
	Bitmapset  *epq_params;		/* what EvalPlanQual tells scans by; it never changes in the plan
								 * itself */
	JoinVolatility *volatility;
	JoinKnown  *nodes;			/* are a node's own expressions volatile-free? */
	JoinKnown  *trees;			/* ... and all below? */
} JoinPlanInfo;

/* How many workers run the part of a plan below a node, which so many run. */
extern int	bloomfam_join_workers(const Plan *plan, int workers);

/* Prepares to answer what is asked of a finished plan below. */
extern void bloomfam_join_plan_info_init(JoinPlanInfo *plan_info, PlannedStmt *stmt);

/* Are a node's own expressions volatile-free: neither volatile, nor with subplans? */
extern bool bloomfam_join_node_is_volatile_free(const JoinPlanInfo *plan_info, Plan *plan);

/*
 * Is nothing in a plan volatile, its subplans included?  So it cannot be seen how often it runs, or
 * how far it is read.
 */
extern bool bloomfam_join_tree_is_volatile_free(const JoinPlanInfo *plan_info, Plan *plan);

/* Is a plan without parameters from outside, while the plan that it is part of runs? */
extern bool bloomfam_join_is_on_its_own(const JoinPlanInfo *plan_info, const Plan *plan);

/*
 * Does a plan without parameters give the same rows each time?  Of the nodes, those that surely
 * do.
 */
extern bool bloomfam_join_is_repeatable(const JoinPlanInfo *plan_info, Plan *plan);

/* Is what an expression makes of the rows of such a plan the same each time, too? */
extern bool bloomfam_join_expression_is_repeatable(Plan *plan, Expr *expression);

#endif							/* BLOOMFAM_JOIN_PLAN_VOLATILITY_H */
