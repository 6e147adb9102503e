/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * volatility.h
 *	  Tells what in a plan is volatile, and what returns the same rows each time.
 *
 * Expressions, plan nodes and whole subtrees are volatile if the user could see how often they are
 * evaluated.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_VOLATILITY_H
#define BLOOMFAM_JOIN_VOLATILITY_H

#include "nodes/plannodes.h"

/*
 * What is known of a plan that filters are added to.  Sets of its nodes have as members the nodes'
 * plan_node_id modulo some number.  Nodes that extensions have added may share an ID; then both are
 * members.
 */
typedef struct JoinPlanInfo
{
	PlannedStmt *stmt;
	int			highest_node_id;

	/*
	 * Whether the plan has a hash join or merge join; if not, the sets of nodes below are not
	 * complete.
	 */
	bool		has_join;
	bool		has_barrier;	/* Whether a view or subquery in the query is a security barrier. */

	/*
	 * The executor parameters by which EvalPlanQual signals scans to begin anew.  While the plan
	 * itself is executed, they never change.
	 */
	Bitmapset  *epq_params;

	/*
	 * The 1-based plan_ids of subplans with volatile functions or row locks: dropping rows would
	 * change how often these run.
	 */
	Bitmapset  *volatile_subplans;

	/*
	 * The parameters that are set by running a volatile subplan, when they are first needed
	 * (initPlans).
	 */
	Bitmapset  *volatile_params;

	/* The parameters that are set once in the plan, by initPlans that depend on no parameter. */
	Bitmapset  *fixed_params;
	Bitmapset  *volatile_nodes; /* The nodes with an expression of their own that is volatile. */

	/* The nodes that are volatile themselves, or have a volatile node below them. */
	Bitmapset  *volatile_trees;

	/* The nodes that may return other rows each time they are executed. */
	Bitmapset  *unrepeatable_trees;

	/* List of JoinPushdown: the filters that were added to the plan so far. */
	List	   *filters;
} JoinPlanInfo;

/*
 * Tells whether an expression, or a list of expressions, is volatile: whether the user could see
 * how often it is evaluated.
 *
 * It is volatile unless everything that it consists of is known not to be: an expression node of an
 * unknown type counts as volatile, and so does a value of a domain with a volatile CHECK. plan_info
 * describes the plan that the expression belongs to; NULL if there is no plan yet.  Objects that
 * are looked into without the server knowing of it become dependencies of the plan, so that the
 * plan does not outlive a change of them.  Raises errors only as the server's lookups of functions
 * and types do.
 */
extern bool bloomfam_join_is_volatile(const void *expression, const JoinPlanInfo *plan_info);

/*
 * Makes a plan depend on the columns of all row types that a type has within, so that the plan does
 * not outlive what was found out about hashing them.
 */
extern void bloomfam_join_depend_on_type(const JoinPlanInfo *plan_info, Oid type);

/*
 * Returns how many workers run the part of a plan below a node.  "workers" is the number that run
 * the node itself.
 */
extern int	bloomfam_join_workers(const Plan *plan, int workers);

/* Initializes what is known of a finished plan, for the functions below. */
extern void bloomfam_join_plan_info_init(JoinPlanInfo *plan_info, PlannedStmt *stmt);

/*
 * Tells whether none of a node's own expressions is volatile, in the plan as it was when
 * bloomfam_join_plan_info_init() was called.  For a build or probe node, answers for the node below
 * it.
 */
extern bool bloomfam_join_node_is_volatile_free(const JoinPlanInfo *plan_info, Plan *plan);

/*
 * Tells whether nothing in a plan tree is volatile, including its subplans.  The user then cannot
 * see how often it runs, or how far it is read.
 */
extern bool bloomfam_join_tree_is_volatile_free(const JoinPlanInfo *plan_info, Plan *plan);

/* Tells whether a plan tree without parameters surely returns the same rows each time. */
extern bool bloomfam_join_is_repeatable(const JoinPlanInfo *plan_info, Plan *plan);

/*
 * Tells whether expressions over the rows of a repeatable plan also have the same values each time.
 */
extern bool bloomfam_join_expressions_are_repeatable(Plan *plan, List *expressions);

#endif							/* BLOOMFAM_JOIN_VOLATILITY_H */
