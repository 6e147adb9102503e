/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * volatility.h
 *	  What of a plan somebody may count: expressions, nodes and all below; and what of it gives the
 *	  same rows each time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_VOLATILITY_H
#define BLOOMFAM_JOIN_VOLATILITY_H

#include "nodes/plannodes.h"

/*
 * A plan that filters are added to.  Its nodes are members of sets by their plan_node_id, modulo
 * some number.  Nodes that extensions have added may have one in common: then both are members.
 */
typedef struct JoinPlanInfo
{
	PlannedStmt *stmt;
	int			highest_node_id;
	bool		has_join;		/* there is a hash join or merge join; else what is said of its
								 * nodes below is not known */
	bool		has_barrier;	/* some view or subquery in it hides rows from those who query it */
	Bitmapset  *epq_params;		/* what EvalPlanQual tells scans by; it never changes in the plan
								 * itself */
	Bitmapset  *volatile_subplans; /* 1-based plan_ids of subplans with volatile functions or row
									* locks: dropping rows changes how often they run */
	Bitmapset  *volatile_params; /* the parameters that are set by running them, when these are
								  * first needed (initPlans) */
	Bitmapset  *fixed_params;	/* those that are set once in the plan, by initPlans that depend on
								 * nothing */
	Bitmapset  *volatile_nodes; /* nodes with an expression of their own that is volatile */
	Bitmapset  *volatile_trees; /* ... in which or below which something is volatile */
	Bitmapset  *unrepeatable_trees; /* ... that may give other rows each time */
	List	   *filters;		/* of JoinPushdown: those that were put into the plan so far */
} JoinPlanInfo;

/*
 * Is an expression, or a list of them, volatile: could it be seen how often it is evaluated?
 *
 * It is unless all that it consists of is known not to be: a node of a type that is not known
 * counts as volatile, and so does a value of a domain whose CHECK does.  plan_info is of the plan
 * that it belongs to; NULL if there is none yet.  What is looked into that the server does not know
 * of becomes a dependency of the plan, which must not outlive it.  Fails only as the server's
 * look-ups of functions and types do.
 */
extern bool bloomfam_join_is_volatile(const void *expression, const JoinPlanInfo *plan_info);

/* How many workers run the part of a plan below a node, which so many run. */
extern int	bloomfam_join_workers(const Plan *plan, int workers);

/* Prepares to answer what is asked of a finished plan below. */
extern void bloomfam_join_plan_info_init(JoinPlanInfo *plan_info, PlannedStmt *stmt);

/*
 * What follows is asked of the plan as it was then; of nodes of ours, as of what is below them.
 * Is none of a node's own expressions volatile?
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

/* Is what expressions make of the rows of such a plan the same each time, too? */
extern bool bloomfam_join_expressions_are_repeatable(Plan *plan, List *expressions);

#endif							/* BLOOMFAM_JOIN_VOLATILITY_H */
