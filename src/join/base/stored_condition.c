/*-------------------------------------------------------------------------
 *
 * stored_condition.c
 *	  Conditions that probe a filter which the query names.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"

#include "join/base/stored_condition.h"
#include "pg/probe.h"

List *
bloomfam_join_stored_arguments(Node *condition, int *filter_arg)
{
	FmgrInfo function;
	List	*args;
	Oid		 oid;

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

	/* by its C function: extensions are relocatable */
	if (oid < FirstNormalObjectId || list_length(args) != 2)
		return NIL;
	fmgr_info(oid, &function);
	if (function.fn_addr != bloomfam_may_contain && function.fn_addr != bloomfam_may_be_in)
		return NIL;
	*filter_arg = function.fn_addr == bloomfam_may_contain ? 0 : 1;
	return args;
}
