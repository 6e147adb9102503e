/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * volatile.c
 *	  Tells whether the user could see how often an expression is evaluated.
 *
 * The server's contain_volatile_functions() looks at the functions in an expression, and trusts all
 * else.  Here only what is known is trusted: the types of expressions are listed (plan_nodes.c),
 * and a type that is not listed counts as volatile.  Three things that call functions without
 * naming them are looked into: the CHECK of a domain, the functions that an aggregate consists of,
 * and a subplan that is evaluated when its result is first needed.
 *
 * Functions that the server itself calls an undefined number of times are trusted: the support
 * functions of operator classes, by which it sorts and compares, and the input and output functions
 * of base types.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "access/tupdesc.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "pg/plan_nodes.h"
#include "pg/volatile.h"

/* The state of examining one expression. */
typedef struct Walker
{
	/* What is known of the plan that the expression belongs to; NULL: there is no plan yet. */
	const BloomfamVolatile *known;

	/* The domains whose CHECKs are being examined, as a CHECK may refer to its own domain. */
	List	   *domains;
} Walker;

static bool is_volatile(Node *node, void *context);
static bool type_is_volatile(Walker *walker, Oid type);

static bool
function_is_volatile(Oid function, void *context)
{
	const BloomfamVolatile *known = ((Walker *) context)->known;

	if (known != NULL && function >= FirstNormalObjectId)
		bloomfam_plan_depends_on(known->stmt, PROCOID, function);
	return func_volatile(function) == PROVOLATILE_VOLATILE;
}

/* Tells whether a domain, or a domain that it is based on, has a volatile CHECK. */
static bool
domain_is_volatile(Walker *walker, Oid domain)
{
	MemoryContext context;
	DomainConstraintRef *constraints;
	bool		result = false;
	ListCell   *lc;

	if (list_member_oid(walker->domains, domain))
		return false;
	if (walker->known != NULL)
		bloomfam_plan_depends_on(walker->known->stmt, TYPEOID, domain);
	context =
		AllocSetContextCreate(CurrentMemoryContext, "domain's constraints", ALLOCSET_SMALL_SIZES);
	constraints = MemoryContextAlloc(context, sizeof(DomainConstraintRef));
	walker->domains = lappend_oid(walker->domains, domain);

	/* The constraints stay in memory until the memory context is deleted. */
	InitDomainConstraintRef(domain, constraints, context, false);
	foreach(lc, constraints->constraints)
		result |= is_volatile((Node *) ((DomainConstraintState *) lfirst(lc))->check_expr, walker);
	MemoryContextDelete(context);
	walker->domains = list_delete_last(walker->domains);
	return result;
}

/*
 * Tells whether making a value of the type of one of these columns may call a volatile function.
 * All columns are looked into in any case, as the plan depends on their types.
 */
static bool
columns_are_volatile(Walker *walker, TupleDesc columns)
{
	bool		result = false;
	int			i;

	for (i = 0; i < columns->natts; i++)
		if (!TupleDescAttr(columns, i)->attisdropped)
			result |= type_is_volatile(walker, TupleDescAttr(columns, i)->atttypid);
	return result;
}

static bool
row_is_volatile(Walker *walker, Oid type)
{
	TupleDesc	columns = lookup_rowtype_tupdesc_noerror(type, -1, true);
	bool		result;

	if (columns == NULL)
		return true;
	if (walker->known != NULL)
		walker->known->stmt->relationOids =
			list_append_unique_oid(walker->known->stmt->relationOids, get_typ_typrelid(type));
	result = columns_are_volatile(walker, columns);
	ReleaseTupleDesc(columns);
	return result;
}

static bool
type_is_volatile(Walker *walker, Oid type)
{
	/*
	 * None of the server's own types has a domain with a CHECK in it.  For an anonymous record, the
	 * expression that makes the record is examined instead.
	 */
	if (type < FirstNormalObjectId)
		return false;
	check_stack_depth();
	switch (get_typtype(type))
	{
		case TYPTYPE_BASE:
			return OidIsValid(get_element_type(type)) &&
				   type_is_volatile(walker, get_element_type(type));
		case TYPTYPE_ENUM:
			return false;
		case TYPTYPE_RANGE:
			return type_is_volatile(walker, get_range_subtype(type));
		case TYPTYPE_MULTIRANGE:
			return type_is_volatile(walker, get_multirange_range(type));
		case TYPTYPE_DOMAIN:
			return type_is_volatile(walker, getBaseType(type)) || domain_is_volatile(walker, type);
		case TYPTYPE_COMPOSITE:
			return row_is_volatile(walker, type);
		default:
			return true;
	}
}

/*
 * Tells whether making a value of one of the types in a list of OIDs may call a volatile function.
 */
static bool
types_are_volatile(Walker *walker, const List *types)
{
	ListCell   *lc;

	foreach(lc, types)
		if (type_is_volatile(walker, lfirst_oid(lc)))
			return true;
	return false;
}

/*
 * Tells whether making a function's result may call a volatile function through a domain's CHECK.
 * If the result is an anonymous row, its columns are those of the function's output parameters.  A
 * function that is given an anonymous row may return another one with the same columns, which are
 * not known, so it counts as volatile.
 */
static bool
result_is_volatile(Walker *walker, const FuncExpr *call)
{
	TupleDesc	columns;
	ListCell   *lc;

	if (call->funcresulttype != RECORDOID && call->funcresulttype != RECORDARRAYOID)
		return type_is_volatile(walker, call->funcresulttype);
	foreach(lc, call->args)
	{
		Oid			type = exprType(lfirst(lc));

		if (type == RECORDOID || type == RECORDARRAYOID)
			return true;
	}
	if (call->funcid < FirstNormalObjectId)
		return false;
	switch (get_func_result_type(call->funcid, NULL, &columns))
	{
		case TYPEFUNC_RECORD:	/* The query itself lists the record's columns and their types. */
			return false;
		case TYPEFUNC_COMPOSITE:
		case TYPEFUNC_COMPOSITE_DOMAIN:
			return columns_are_volatile(walker, columns);
		default:
			return true;
	}
}

/*
 * Tells whether one of an aggregate's support functions is volatile, or making its transition
 * values calls a volatile function.  The server's catalog never marks an aggregate itself as
 * volatile.
 */
static bool
aggregate_is_volatile(Walker *walker, Oid function)
{
	HeapTuple	tuple;
	bool		result = false;
	size_t		i;

	Assert(OidIsValid(function));
	if (function < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(function));
	if (HeapTupleIsValid(tuple))
	{
		Form_pg_aggregate form = (Form_pg_aggregate) GETSTRUCT(tuple);
		const Oid	functions[] = {form->aggtransfn, form->aggfinalfn, form->aggcombinefn,
								   form->aggserialfn, form->aggdeserialfn, form->aggmtransfn,
								   form->aggminvtransfn, form->aggmfinalfn};

		result = (!IsPolymorphicType(form->aggtranstype) &&
				  type_is_volatile(walker, form->aggtranstype)) ||
				 (OidIsValid(form->aggmtranstype) && !IsPolymorphicType(form->aggmtranstype) &&
				  type_is_volatile(walker, form->aggmtranstype));
		for (i = 0; i < lengthof(functions) && !result; i++)
			result = OidIsValid(functions[i]) && function_is_volatile(functions[i], walker);
		ReleaseSysCache(tuple);
	}
	return result;
}

static bool
param_is_volatile(const Param *param, const BloomfamVolatile *known)
{
	switch (param->paramkind)
	{
		case PARAM_EXTERN:
			return false;
		case PARAM_EXEC:
			return known != NULL && bms_is_member(param->paramid, known->params);
		default:
			return true;
	}
}

/*
 * Tells whether an expression node itself is volatile, apart from the nodes below it and from
 * functions that it names.  Only the node types that need closer examination are listed here; the
 * other types are in the table of pg/plan_nodes.c, as .ci/checks/plan-nodes verifies.
 */
static bool
node_is_volatile(Walker *walker, Node *node)
{
	BloomfamExpression kind;

	switch (nodeTag(node))
	{
		case T_FuncExpr:
			return result_is_volatile(walker, (FuncExpr *) node);
		case T_RangeTblFunction:
			return types_are_volatile(walker, ((RangeTblFunction *) node)->funccoltypes);
		case T_TableFunc:
			return types_are_volatile(walker, ((TableFunc *) node)->coltypes);

		case T_Aggref:
			return aggregate_is_volatile(walker, ((Aggref *) node)->aggfnoid) ||
				   type_is_volatile(walker, ((Aggref *) node)->aggtranstype) ||
				   type_is_volatile(walker, ((Aggref *) node)->aggtype);
		case T_WindowFunc:
			return aggregate_is_volatile(walker, ((WindowFunc *) node)->winfnoid) ||
				   type_is_volatile(walker, ((WindowFunc *) node)->wintype);
		case T_Param:
			return param_is_volatile((Param *) node, walker->known);
		case T_SubPlan:
			return walker->known != NULL &&
				   bms_is_member(((SubPlan *) node)->plan_id, walker->known->subplans);
		default:
			kind = bloomfam_expression(node);
			return kind == BLOOMFAM_EXPRESSION_UNKNOWN ||
				   (kind == BLOOMFAM_EXPRESSION_MAKES_VALUE &&
					type_is_volatile(walker, exprType(node)));
	}
}

static bool
is_volatile(Node *node, void *context)
{
	/* Most expressions are columns, and a plan may have those of a thousand partitions. */
	if (node == NULL || IsA(node, Var) || IsA(node, Const))
		return false;
	return node_is_volatile(context, node) ||
		   check_functions_in_node(node, function_is_volatile, context) ||
		   expression_tree_walker(node, is_volatile, context);
}

bool
bloomfam_is_volatile(const void *expression, const BloomfamVolatile *known)
{
	Walker		walker = {.known = known};

	return is_volatile(unconstify(Node *, (const Node *) expression), &walker);
}

bool
bloomfam_type_is_volatile(Oid type, const BloomfamVolatile *known)
{
	Walker		walker = {.known = known};

	return type_is_volatile(&walker, type);
}
