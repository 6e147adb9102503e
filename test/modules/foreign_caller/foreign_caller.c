/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * foreign_caller.c
 *	  Calls the functions of an aggregate as no executor does, but as Citus does.
 *
 *	CREATE AGGREGATE split_agg(aggregate oid, node int, VARIADIC "any")
 *
 * returns what the given aggregate returns for the arguments after the node, computed in two steps.
 * Each node has a state of its own, which the transition function makes.  The states are sent and
 * received as between processes: as text if the state has a real type, by the serialise and
 * deserialise functions if it is internal.  The states are then combined, and finished.
 *
 * Each call goes through an FmgrInfo made for that call only.  The FmgrInfo's memory context exists
 * for that call only, and is reset, overwritten and freed afterwards.  The call's result is freed,
 * too, except for a state: it is copied, as in the executor, unless it is an expanded object in the
 * aggregate's context.
 *
 * state_bytes(aggregate oid, ...) returns the length of the states as they are sent instead.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_agg.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/expandeddatum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(split_trans);
PG_FUNCTION_INFO_V1(split_final);
PG_FUNCTION_INFO_V1(state_bytes_final);

#define MAX_NODES	8
#define MAX_ARGS	8

/*
 * Number of arguments of split_trans() before those of the aggregate: the state, the aggregate, the
 * node.
 */
#define FIRST_ARG	3

typedef struct State
{
	Datum		value;
	bool		isnull;
} State;

typedef struct Split
{
	MemoryContext context;		/* the aggregate's */
	struct FormData_pg_aggregate form;
	int			nargs;			/* of the aggregate */
	Oid			types[MAX_ARGS];
	Oid			collation;
	int16		typlen;
	bool		typbyval;
	State		states[MAX_NODES];
} Split;

/* Overwrites all memory of a context, and frees the context. */
static void
destroy(MemoryContext context)
{
	Size		size;

	MemoryContextReset(context);
	size = MemoryContextMemAllocated(context, true);
	while (MemoryContextMemAllocated(context, true) == size)
		memset(MemoryContextAlloc(context, 512), 0x7f, 512);
	MemoryContextDelete(context);
}

/*
 * Calls a function on behalf of the aggregate that calls this module.  What the function may keep
 * is in a context that is gone afterwards.  If keep is true, the result is a state of an aggregate,
 * which is copied as the executor copies states, and replaces the old one.
 */
static State
call(FunctionCallInfo fcinfo, Split *split, Oid function, Node *expr, int nargs, const State *args,
	 bool keep)
{
	LOCAL_FCINFO(inner, FUNC_MAX_ARGS);
	FmgrInfo   *flinfo;
	MemoryContext row;
	MemoryContext old;
	State		result;
	int			i;

	/* no size that a list of freed contexts is kept of: the memory really goes */
	row = AllocSetContextCreate(CurrentMemoryContext, "one call", 24 * 1024, 24 * 1024, 96 * 1024);
	old = MemoryContextSwitchTo(row);
	flinfo = palloc(sizeof(FmgrInfo));
	fmgr_info(function, flinfo);
	if (expr != NULL)
		fmgr_info_set_expr(expr, flinfo);
	InitFunctionCallInfoData(*inner, flinfo, nargs, split->collation, fcinfo->context,
							 fcinfo->resultinfo);
	result.isnull = false;
	for (i = 0; i < nargs; i++)
	{
		inner->args[i].value = args[i].value;
		inner->args[i].isnull = args[i].isnull;
		result.isnull |= args[i].isnull;
	}
	if (flinfo->fn_strict && result.isnull)
		result.value = (Datum) 0;
	else
	{
		result.value = FunctionCallInvoke(inner);
		result.isnull = inner->isnull;
	}

	if (keep && !result.isnull && !split->typbyval &&
		(args[0].isnull || DatumGetPointer(result.value) != DatumGetPointer(args[0].value)))
	{
		MemoryContextSwitchTo(split->context);
		if (!(DatumIsReadWriteExpandedObject(result.value, false, split->typlen) &&
			  MemoryContextGetParent(DatumGetEOHP(result.value)->eoh_context) == split->context))
			result.value = datumCopy(result.value, false, split->typlen);
		if (!args[0].isnull)
		{
			if (DatumIsReadWriteExpandedObject(args[0].value, false, split->typlen))
				DeleteExpandedObject(args[0].value);
			else
				pfree(DatumGetPointer(args[0].value));
		}
	}
	else if (!keep && !result.isnull)
	{
		/* a varlena, as all that comes out here is but for internal states */
		MemoryContextSwitchTo(old);
		result.value = PointerGetDatum(PG_DETOAST_DATUM_COPY(result.value));
	}
	MemoryContextSwitchTo(old);
	destroy(row);
	return result;
}

/* Makes the expression that tells a function the type of its argument of type "any". */
static Node *
call_expr(Split *split, bool final)
{
	Expr	   *trans;
	Expr	   *inverse;
	Expr	   *expr;

	if (split->form.aggtranstype != INTERNALOID)
		return NULL;			/* Citus has none, and nobody needs one */
	if (final)
	{
		Oid			types[MAX_ARGS];

		memcpy(types, split->types, sizeof(types));
		build_aggregate_finalfn_expr(types, split->nargs + 1, split->form.aggtranstype,
									 InvalidOid, split->collation, split->form.aggfinalfn, &expr);
	}
	else
		build_aggregate_transfn_expr(split->types, split->nargs, 0, false,
									 split->form.aggtranstype, split->collation,
									 split->form.aggtransfn, InvalidOid, &trans, &inverse),
			expr = trans;
	return (Node *) expr;
}

static Split *
begin(FunctionCallInfo fcinfo)
{
	Split	   *split;
	MemoryContext context;
	HeapTuple	tuple;
	int			i;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "not an aggregate");
	split = MemoryContextAllocZero(context, sizeof(Split));
	split->context = context;
	tuple = SearchSysCache1(AGGFNOID, PG_GETARG_DATUM(1));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "no such aggregate");
	memcpy(&split->form, GETSTRUCT(tuple), sizeof(split->form));
	ReleaseSysCache(tuple);
	split->collation = PG_GET_COLLATION();
	split->nargs = PG_NARGS() - FIRST_ARG;
	if (split->nargs > MAX_ARGS)
		elog(ERROR, "too many arguments");
	for (i = 0; i < split->nargs; i++)
		split->types[i] = get_fn_expr_argtype(fcinfo->flinfo, FIRST_ARG + i);
	get_typlenbyval(split->form.aggtranstype, &split->typlen, &split->typbyval);
	for (i = 0; i < MAX_NODES; i++)
		split->states[i].isnull = true;
	return split;
}

/*
 * split_trans(internal, oid, int, VARIADIC "any") -> internal: the transition function of
 * split_agg.
 */
Datum
split_trans(PG_FUNCTION_ARGS)
{
	Split	   *split = PG_ARGISNULL(0) ? begin(fcinfo) : (Split *) PG_GETARG_POINTER(0);
	State	   *state = &split->states[PG_GETARG_INT32(2) % MAX_NODES];
	State		args[MAX_ARGS + 1];
	int			i;

	args[0] = *state;
	for (i = 0; i < split->nargs; i++)
	{
		args[1 + i].value = PG_GETARG_DATUM(FIRST_ARG + i);
		args[1 + i].isnull = PG_ARGISNULL(FIRST_ARG + i);
	}
	*state = call(fcinfo, split, split->form.aggtransfn, call_expr(split, false), split->nargs + 1,
				  args, true);
	PG_RETURN_POINTER(split);
}

/* Converts a state for sending: to text, or to bytes if it is internal. */
static State
send_state(FunctionCallInfo fcinfo, Split *split, State state)
{
	Oid			output;
	bool		varlena;

	if (state.isnull)
		return state;
	if (split->form.aggtranstype == INTERNALOID)
		return call(fcinfo, split, split->form.aggserialfn, NULL, 1, &state, false);
	getTypeOutputInfo(split->form.aggtranstype, &output, &varlena);
	state.value = CStringGetTextDatum(OidOutputFunctionCall(output, state.value));
	return state;
}

/*
 * split_final(internal, oid, int, VARIADIC "any") -> bloomfilter: the final function of split_agg.
 */
Datum
split_final(PG_FUNCTION_ARGS)
{
	Split	   *split;
	State		total = {.isnull = true};
	State		result;
	int			i;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	split = (Split *) PG_GETARG_POINTER(0);
	for (i = 0; i < MAX_NODES; i++)
	{
		State		args[2] = {total, send_state(fcinfo, split, split->states[i])};

		if (!args[1].isnull && split->form.aggtranstype == INTERNALOID)
		{
			State		bytes[2] = {args[1], {.value = (Datum) 0, .isnull = false}};
			LOCAL_FCINFO(inner, 2);
			FmgrInfo	flinfo;

			/* what it returns is for the combine function of the same row */
			fmgr_info(split->form.aggdeserialfn, &flinfo);
			InitFunctionCallInfoData(*inner, &flinfo, 2, InvalidOid, fcinfo->context, NULL);
			inner->args[0].value = bytes[0].value;
			inner->args[0].isnull = false;
			inner->args[1].value = (Datum) 0;
			inner->args[1].isnull = false;
			args[1].value = FunctionCallInvoke(inner);
		}
		else if (!args[1].isnull)
		{
			Oid			input;
			Oid			ioparam;

			getTypeInputInfo(split->form.aggtranstype, &input, &ioparam);
			args[1].value =
				OidInputFunctionCall(input, TextDatumGetCString(args[1].value), ioparam, -1);
		}
		total = call(fcinfo, split, split->form.aggcombinefn, NULL, 2, args, true);
		if (!args[1].isnull)
		{
			memset(DatumGetPointer(args[1].value), 0x7f, VARSIZE_ANY(DatumGetPointer(args[1].value)));
			pfree(DatumGetPointer(args[1].value));
		}
	}
	{
		State		args[MAX_ARGS + 1];

		/* the arguments after the state are there for their types */
		args[0] = total;
		for (i = 1; i <= split->nargs; i++)
			args[i] = (State){.isnull = true};
		if (total.isnull == false && split->form.aggtranstype != INTERNALOID)
			args[0].value = MakeExpandedObjectReadOnly(total.value, false, split->typlen);
		result = call(fcinfo, split, split->form.aggfinalfn, call_expr(split, true),
					  split->form.aggfinalextra ? split->nargs + 1 : 1, args, false);
	}
	if (result.isnull)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(result.value);
}

/* state_bytes_final(internal) -> bigint: the total length of all nodes' states. */
Datum
state_bytes_final(PG_FUNCTION_ARGS)
{
	Split	   *split = (Split *) PG_GETARG_POINTER(0);
	int64		bytes = 0;
	int			i;

	for (i = 0; i < MAX_NODES; i++)
	{
		State		sent = send_state(fcinfo, split, split->states[i]);

		if (!sent.isnull)
			bytes += VARSIZE_ANY_EXHDR(DatumGetPointer(sent.value));
	}
	PG_RETURN_INT64(bytes);
}
