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

/*
 * A plan that filters are added to.  Its nodes are members of sets by their plan_node_id, modulo
 * some number.  Nodes that extensions have added may have one in common: then both are members.
 */
typedef struct JoinPlanInfo
{
	PlannedStmt *stmt;
	int			highest_node_id;
	bool		has_hash_join;	/* else what is said of its nodes below is not known */
	bool		has_barrier;	/* some view or subquery in it hides rows from those who query it */
	Bitmapset  *epq_params;		/* what EvalPlanQual tells scans by; it never changes in the plan
								 * itself */
	JoinVolatility *volatility;
	Bitmapset  *volatile_nodes; /* nodes whose own expressions are not volatile-free; but keys may
								 * have subplans */
	Bitmapset  *volatile_trees; /* ... in which or below which something is volatile */
	Bitmapset  *unrepeatable_trees; /* ... that may give other rows each time */
} JoinPlanInfo;

/* How many workers run the part of a plan below a node, which so many run. */
extern int	bloomfam_join_workers(const Plan *plan, int workers);

/* Prepares to answer what is asked of a finished plan below. */
extern void bloomfam_join_plan_info_init(JoinPlanInfo *plan_info, PlannedStmt *stmt);

/*
 * What follows is asked of the plan as it was then; of nodes of ours, as of what is below them.
 * Are a node's own expressions volatile-free: neither volatile, nor with subplans?
 */
extern bool bloomfam_join_node_is_volatile_free(const JoinPlanInfo *plan_info, Plan *plan);

/*
 * Is nothing in a plan volatile, its subplans included?  So it cannot be seen how often it runs, or
 * how far it is read.
 */
extern bool bloomfam_join_tree_is_volatile_free(const JoinPlanInfo *plan_info, Plan *plan);

/*
 * Does a plan without parameters give the same rows each time?  Of the nodes, those that surely
 * do.
 */
extern bool bloomfam_join_is_repeatable(const JoinPlanInfo *plan_info, Plan *plan);

/* Is what an expression makes of the rows of such a plan the same each time, too? */
extern bool bloomfam_join_expression_is_repeatable(Plan *plan, Expr *expression);

#endif							/* BLOOMFAM_JOIN_PLAN_VOLATILITY_H */
