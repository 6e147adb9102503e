/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * plan_info.h
 *	  What is known of a plan that filters are added to: what in it is volatile, what may be
 *	  executed again, and what then returns the same rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_PLAN_INFO_H
#define BLOOMFAM_JOIN_PLAN_INFO_H

#include "pg/volatile.h"

/*
 * What is known of a plan that filters are added to.  A set of its nodes is a Bitmapset of numbers
 * that are made of the nodes' plan_node_id.  Nodes may share a number (other extensions number the
 * nodes that they add as they like): then either all of them are in a set or none, which is safe,
 * as the sets list what no filter may pass.
 */
typedef struct JoinPlanInfo
{
	BloomfamVolatile known;		/* The plan, and what in it is volatile. */
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
	 * The parameters that change no row: those that are set once in the plan, by initPlans above
	 * any Gather that depend on no parameter, and those by which a Gather or EvalPlanQual signals
	 * that something begins anew.
	 */
	Bitmapset  *fixed_params;

	/*
	 * The 1-based plan_ids of the subplans that are executed once at most: CTEs and initPlans,
	 * above any Gather, that depend on no parameter.
	 */
	Bitmapset  *single_subplans;
	Bitmapset  *volatile_nodes; /* The nodes with an expression of their own that is volatile. */

	/* The nodes that are volatile themselves, or have a volatile node below them. */
	Bitmapset  *volatile_trees;

	/* The nodes that may be executed again while the plan is executed once, and all below them. */
	Bitmapset  *rescanned_trees;

	/*
	 * The nodes that may return other rows in another process, or when they are executed again,
	 * although no setting of the session has changed.
	 */
	Bitmapset  *unrepeatable_trees;

	/* List of JoinPushdown: the filters that were added to the plan so far. */
	List	   *filters;
} JoinPlanInfo;

/* Tells whether an expression is volatile (bloomfam_is_volatile()); plan_info may be NULL. */
static inline bool
bloomfam_join_is_volatile(const void *expression, const JoinPlanInfo *plan_info)
{
	return bloomfam_is_volatile(expression, plan_info != NULL ? &plan_info->known : NULL);
}

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

/* Tells whether a node may be executed again while the plan is executed once. */
extern bool bloomfam_join_is_rescanned(const JoinPlanInfo *plan_info, Plan *plan);

/*
 * Tells whether a plan tree without parameters surely returns the same rows in each process, and
 * each time, as long as the session's settings are the same.
 */
extern bool bloomfam_join_is_repeatable(const JoinPlanInfo *plan_info, Plan *plan);

/*
 * Tells whether a plan tree has functions that may return something else when the session's
 * settings change, as stable functions do.
 */
extern bool bloomfam_join_is_mutable(Plan *plan);

#endif							/* BLOOMFAM_JOIN_PLAN_INFO_H */
