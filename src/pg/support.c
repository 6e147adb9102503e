/*-------------------------------------------------------------------------
 *
 * support.c
 *	  What the planner and PL/pgSQL are told of our functions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/primnodes.h"
#include "nodes/supportnodes.h"

#include "pg/bloomfam.h"

PG_FUNCTION_INFO_V1(bloomfam_add_support);

/*
 * bloom_add_support(internal) -> internal: strict, immutable; of bloom_add and bloom_remove.
 *
 * In PL/pgSQL's f := bloom_add(f, key) the variable may be changed in place: both functions change nothing if they fail, and a key never lies in
 * the filter.
 */
Datum
bloomfam_add_support(PG_FUNCTION_ARGS)
{
	Node	   *result = NULL;
#if BLOOMFAM_MODIFIES_IN_PLACE
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestModifyInPlace))
	{
		SupportRequestModifyInPlace *modify = (SupportRequestModifyInPlace *) request;
		Param	   *param = linitial(modify->args);

		if (IsA(param, Param) && param->paramkind == PARAM_EXTERN && param->paramid == modify->paramid)
			result = (Node *) param;
	}
#endif
	PG_RETURN_POINTER(result);
}
