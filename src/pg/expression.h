/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * expression.h
 *	  Expressions of the planner that are columns.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_EXPRESSION_H
#define BLOOMFAM_EXPRESSION_H

#include "nodes/primnodes.h"

/*
 * Returns the column that an expression is, as it stands or relabelled, if that is no system
 * column; else NULL.
 */
static inline const Var *
bloomfam_expression_var(const Expr *expr)
{
	while (IsA(expr, RelabelType))
		expr = ((const RelabelType *) expr)->arg;
	return IsA(expr, Var) && ((const Var *) expr)->varattno > 0 ? (const Var *) expr : NULL;
}

#endif							/* BLOOMFAM_EXPRESSION_H */
