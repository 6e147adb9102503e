/*-------------------------------------------------------------------------
 *
 * plan_nodes.h
 *	  The server's types of plan nodes, and what there is to know of each.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_PLAN_NODES_H
#define BLOOMFAM_JOIN_PLAN_NODES_H

#include "nodes/plannodes.h"

#include "join/planner/volatility.h"

/* Where children are, other than the left and the right one. */
typedef enum JoinPlanChildren
{
	JOIN_CHILDREN_TWO_AT_MOST,
	JOIN_CHILDREN_LIST,			/* a list of plans */
	JOIN_CHILDREN_PLAN			/* a plan */
} JoinPlanChildren;

/* A type of plan node. */
typedef struct JoinPlanNode
{
	bool		is_known;		/* all fields with expressions are named here */
	bool		repeatable;		/* from the same rows it makes the same rows each time */
	bool		keeps_rows;		/* it reads rows, and hands on what it makes of them later */
	bool		locks_rows;
	JoinPlanChildren children;
	uint16		children_at;	/* the member of its struct that has them */
	uint16		conditions[2];	/* the members with its own expressions, ended by 0: those that may
								 * not have subplans if a filter is to go through */
	uint16		keys[5];		/* ... which may */
	uint16		grouping[4];	/* the members of a JoinGrouping; 0: it does not group rows */
} JoinPlanNode;

/* What is known of a node's type; never NULL. */
extern const JoinPlanNode *bloomfam_join_plan_node(const Plan *plan);

/* The list of children of a node that has one, as Append: its own; else NIL. */
extern List *bloomfam_join_child_list(Plan *plan);

/*
 * Calls a function for each child of a node, the left one first, until one returns true: then
 * returns true itself.  It may put another plan in the child's slot, and calls this again to go
 * further down.  Of a node whose type is not known only the left and the right child are known.
 */
typedef bool (*JoinPlanWalker) (Plan **slot, void *context);
extern bool bloomfam_join_plan_walker(Plan *plan, JoinPlanWalker walker, void *context);

/* The same for the plan of a statement, and then those of its subqueries. */
extern bool bloomfam_join_stmt_walker(PlannedStmt *stmt, JoinPlanWalker walker, void *context);

/* By which columns of its child a node groups rows, and in which sense of equality. */
typedef struct JoinGrouping
{
	int			n;
	const AttrNumber *columns;
	const Oid  *operators;
	const Oid  *collations;
} JoinGrouping;

/* Does a node group rows?  Says by what; of several grouping sets, all columns that are in some. */
extern bool bloomfam_join_grouping(Plan *plan, JoinGrouping *grouping);

/* What is below nodes of ours, if the plan begins with some. */
extern Plan *bloomfam_join_below_own(Plan *plan);

/*
 * Have a node's own expressions subplans?  Those of its keys count only with in_keys.  Its type is
 * one that is known.
 */
extern bool bloomfam_join_node_has_subplans(Plan *plan, bool in_keys);

/*
 * Could it be seen how often a node's own expressions are evaluated, or has it any that are not
 * known?
 */
extern bool bloomfam_join_node_is_volatile(const PlannedStmt *stmt, Plan *plan,
										   JoinVolatility *volatility);

#endif							/* BLOOMFAM_JOIN_PLAN_NODES_H */
