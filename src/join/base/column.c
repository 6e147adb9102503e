/*-------------------------------------------------------------------------
 *
 * column.c
 *	  Expressions of a plan that are columns.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"

#include "join/base/column.h"

const Var *
bloomfam_join_var(const Expr *expr)
{
	while (IsA(expr, RelabelType))
		expr = ((const RelabelType *) expr)->arg;
	return IsA(expr, Var) && ((const Var *) expr)->varattno > 0 ? (const Var *) expr : NULL;
}

AttrNumber
bloomfam_join_column(const Expr *expr, int varno)
{
	const Var  *column = bloomfam_join_var(expr);

	return column != NULL && column->varno == varno ? column->varattno : 0;
}

AttrNumber
bloomfam_join_column_behind(const Plan *plan, AttrNumber attribute, int varno)
{
	return bloomfam_join_column(((TargetEntry *) list_nth(plan->targetlist, attribute - 1))->expr,
								varno);
}
