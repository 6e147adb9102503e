/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * plan_nodes.h
 *	  The server's types of plan nodes and of expressions, and what there is to know of each.
 *
 * Like server_structs.h this is knowledge of the server's structures, which changes with a major
 * version, and of nothing else.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_PLAN_NODES_H
#define BLOOMFAM_PLAN_NODES_H

#include "postgres.h"

#include "nodes/plannodes.h"

/* A type of plan node.  Members of its struct are named by their offsets; 0: it has none. */
typedef struct BloomfamPlanNode
{
	bool		is_known;		/* all fields with expressions are named here */
	bool		repeatable;		/* from the same rows it makes the same rows each time */
	bool		keeps_rows;		/* it reads rows, and hands on what it makes of them later */
	bool		locks_rows;
	bool		scans_table;	/* one, whose number is scanrelid; of a ForeignScan, unless that is
								 * 0 or it has a target list of its own */
	uint16		child;			/* a plan that is neither the left nor the right child */
	uint16		children;		/* ... a list of such plans */
	uint16		exprs[5];		/* its own expressions besides its columns and conditions, ended by
								 * 0 */
	uint16		grouping[4];	/* if it groups rows: how many columns it groups by, the arrays of
								 * their numbers, operators and collations */
} BloomfamPlanNode;

/* What is known of a node's type; never NULL. */
extern const BloomfamPlanNode *bloomfam_plan_node(const Plan *plan);

/* The list of children of a node that has one, as Append: its own; else NIL. */
extern List *bloomfam_plan_children(Plan *plan);

/*
 * Calls a function for each child of a node, the left one first, until one returns true: then
 * returns true itself.  It may put another plan in the child's slot, and calls this again to go
 * further down.  Of a node whose type is not known only the left and the right child are known.
 */
typedef bool (*BloomfamPlanWalker) (Plan **slot, void *context);
extern bool bloomfam_plan_walker(Plan *plan, BloomfamPlanWalker walker, void *context);

/* The same for the plan of a statement, and then those of its subqueries. */
extern bool bloomfam_plan_stmt_walker(PlannedStmt *stmt, BloomfamPlanWalker walker, void *context);

/*
 * Lets a plan be made anew when an object changes, by a syscache whose only key is its OID, that
 * was looked into for it, and that the server does not know of.
 */
extern void bloomfam_plan_depends_on(PlannedStmt *stmt, int cache, Oid object);

/*
 * Returns a node's own expressions, as a new list of these or of lists.  Of a node whose type is
 * not known not all are there.
 */
extern List *bloomfam_plan_expressions(Plan *plan);

/* Does a node group rows? */
extern bool bloomfam_plan_groups(Plan *plan);

/*
 * Does it group them by this column of its child?  In the sense of equality of that operator, with
 * that collation.  Of several grouping sets, the column must be in some.
 */
extern bool bloomfam_plan_groups_by(Plan *plan, AttrNumber column, Oid *operator, Oid *collation);

/* What an expression calls, apart from those below it. */
typedef enum BloomfamExpression
{
	BLOOMFAM_EXPRESSION_UNKNOWN,	/* not known, or not without a look at it */
	BLOOMFAM_EXPRESSION_PLAIN,	/* no function, or only those that it names, which make no value of
								 * a domain */
	BLOOMFAM_EXPRESSION_MAKES_VALUE	/* these, and what a value of its type goes through, which
									 * nothing else in it may tell */
} BloomfamExpression;

/* What is known of an expression's type, or of that of what expressions consist of, as lists. */
extern BloomfamExpression bloomfam_expression(const Node *node);

#endif							/* BLOOMFAM_PLAN_NODES_H */
