/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * column.c
 *	  Recognizes plan expressions that are plain columns, or that probe a filter named by the query.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "nodes/nodeFuncs.h"

#include "join/base/column.h"
#include "pg/expression.h"
#include "pg/probe.h"

AttrNumber
bloomfam_join_column(const Expr *expr, int varno)
{
	const Var  *column = bloomfam_expression_var(expr);

	return column != NULL && column->varno == varno ? column->varattno : 0;
}

AttrNumber
bloomfam_join_column_behind(const Plan *plan, AttrNumber attribute, int varno)
{
	return bloomfam_join_column(((TargetEntry *) list_nth(plan->targetlist, attribute - 1))->expr,
								varno);
}

List *
bloomfam_join_stored_arguments(Node *condition, int *filter_arg)
{
	FmgrInfo	function;
	List	   *args;
	Oid			oid;

	if (IsA(condition, FuncExpr))
	{
		oid = ((FuncExpr *) condition)->funcid;
		args = ((FuncExpr *) condition)->args;
	}
	else if (IsA(condition, OpExpr))
	{
		oid = ((OpExpr *) condition)->opfuncid;
		args = ((OpExpr *) condition)->args;
	}
	else
		return NIL;

	/*
	 * The probe function is recognized by the address of its C function, since the extension is
	 * relocatable: its SQL functions may be in any schema.
	 */
	if (oid < FirstNormalObjectId || list_length(args) != 2)
		return NIL;
	fmgr_info(oid, &function);
	if (function.fn_addr != bloomfam_may_contain && function.fn_addr != bloomfam_may_be_in)
		return NIL;
	*filter_arg = function.fn_addr == bloomfam_may_contain ? 0 : 1;
	return args;
}
