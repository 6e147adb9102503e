/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * plan_nodes.h
 *	  The server's types of plan nodes and expressions, and what is known of each.
 *
 * Like server_structs.h, this has only knowledge of the server's structures, which changes with
 * major versions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_PLAN_NODES_H
#define BLOOMFAM_PLAN_NODES_H

#include "postgres.h"

#include "nodes/plannodes.h"

/*
 * What is known of a type of plan node.  Members of its struct are given by their offsets; 0 if it
 * has no such member.
 */
typedef struct BloomfamPlanNode
{
	/* True if BloomfamPlanNode names all members of the node that have expressions. */
	bool		is_known;

	/* True if the node returns the same rows each time when it is given the same input rows. */
	bool		repeatable;

	bool		locks_rows;

	/*
	 * True if the node scans one table, that of scanrelid.  A ForeignScan does not if scanrelid is
	 * 0, or if it has a target list of its own.
	 */
	bool		scans_table;

	/* The member for a child plan that is neither the left nor the right one. */
	uint16		child;
	uint16		children;		/* The member for a list of child plans. */

	/* The members for expressions besides the node's columns and conditions; ended by 0. */
	uint16		exprs[5];

	/*
	 * For a node that groups rows, the members for the number of columns that it groups by, and for
	 * the arrays of their numbers, operators and collations.
	 */
	uint16		grouping[4];
} BloomfamPlanNode;

/* Returns what is known of a node's type; never NULL. */
extern const BloomfamPlanNode *bloomfam_plan_node(const Plan *plan);

/*
 * Returns the list of children of a node such as Append, which is the node's own list, or NIL if it
 * has no list.
 */
extern List *bloomfam_plan_children(Plan *plan);

/*
 * Calls a function for each child of a node, the left one first, until it returns true; then
 * returns true, too.  The function may put another plan in the child's slot.  To go further down,
 * it calls bloomfam_plan_walker() again.  If a node's type is not known, only its left and right
 * child are visited.
 */
typedef bool (*BloomfamPlanWalker) (Plan **slot, void *context);
extern bool bloomfam_plan_walker(Plan *plan, BloomfamPlanWalker walker, void *context);

/*
 * Calls a function for a statement's plan, and then for the plans of its subqueries, until it
 * returns true; then returns true, too.
 */
extern bool bloomfam_plan_stmt_walker(PlannedStmt *stmt, BloomfamPlanWalker walker, void *context);

/*
 * Makes the server plan a statement anew when an object changes that was looked up for its plan.
 * The server does not know of that lookup. cache is a syscache whose only key is the object's OID.
 */
extern void bloomfam_plan_depends_on(PlannedStmt *stmt, int cache, Oid object);

/*
 * Returns a node's own expressions, as a new list of expressions or of lists of them.  If the
 * node's type is not known, some may be missing.
 */
extern List *bloomfam_plan_expressions(Plan *plan);

/* Returns whether a node groups rows. */
extern bool bloomfam_plan_groups(Plan *plan);

/*
 * Returns whether a node groups rows by this column of its child.  Sets *operator and *collation to
 * the equality by which it does.  If the node has several grouping sets, the column must be in one
 * of them.
 */
extern bool bloomfam_plan_groups_by(Plan *plan, AttrNumber column, Oid *operator, Oid *collation);

/* What an expression itself calls, apart from the expressions below it. */
typedef enum BloomfamExpression
{
	/* What the expression calls is not known, or its node type alone does not tell. */
	BLOOMFAM_EXPRESSION_UNKNOWN,

	/*
	 * The expression calls no function, or only those that it names, which make no value of a
	 * domain.
	 */
	BLOOMFAM_EXPRESSION_PLAIN,

	/*
	 * The expression calls the functions that it names, and whatever a value of its type goes
	 * through, which nothing else in the expression may tell.
	 */
	BLOOMFAM_EXPRESSION_MAKES_VALUE
} BloomfamExpression;

/* Returns what is known of an expression's type, or of a part of an expression, such as a list. */
extern BloomfamExpression bloomfam_expression(const Node *node);

#endif							/* BLOOMFAM_PLAN_NODES_H */
