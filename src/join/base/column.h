/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * column.h
 *	  Recognizes plan expressions that are plain columns, or that probe a filter named by the query.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_COLUMN_H
#define BLOOMFAM_JOIN_COLUMN_H

#include "access/attnum.h"
#include "nodes/plannodes.h"

/*
 * Returns the attribute number of the column that an expression is, if the expression is a Var
 * whose varno is the given one (a range table index, or OUTER_VAR and the like).  Returns 0 for any
 * other expression.
 */
extern AttrNumber bloomfam_join_column(const Expr *expr, int varno);

/*
 * Returns the attribute number of the column behind output column "attribute" of a plan, if that
 * output column is a Var whose varno is the given one.  Returns 0 otherwise.
 */
extern AttrNumber bloomfam_join_column_behind(const Plan *plan, AttrNumber attribute, int varno);

/*
 * Returns the two arguments of a condition that probes a stored filter (bloom_may_contain() or its
 * commutator, called as a function or as an operator), and sets *filter_arg to the position of the
 * filter among them, 0 or 1; the other argument is the key.  Returns NIL if the condition does not
 * probe a stored filter.
 */
extern List *bloomfam_join_stored_arguments(Node *condition, int *filter_arg);

#endif							/* BLOOMFAM_JOIN_COLUMN_H */
