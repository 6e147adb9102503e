/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * expression.h
 *	  Recognizes expressions of the planner that are columns.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_EXPRESSION_H
#define BLOOMFAM_EXPRESSION_H

#include "nodes/primnodes.h"

/*
 * Returns the column that an expression is, directly or relabelled, unless it is a system column or
 * a whole row.  Returns NULL for any other expression.
 */
static inline const Var *
bloomfam_expression_var(const Expr *expr)
{
	while (IsA(expr, RelabelType))
		expr = ((const RelabelType *) expr)->arg;
	return IsA(expr, Var) && ((const Var *) expr)->varattno > 0 ? (const Var *) expr : NULL;
}

#endif							/* BLOOMFAM_EXPRESSION_H */
