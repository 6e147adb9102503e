/*-------------------------------------------------------------------------
 *
 * volatility.c
 *	  Expressions whose evaluation somebody may count.
 *
 * A filter makes parts of a plan run less often.  That must not be seen: a volatile function is
 * called as often as without filters.  The server's contain_volatile_functions() looks at the
 * functions of an expression, and trusts all else.  Here only what is known is trusted: the types
 * of expression nodes are listed, and one that is missing counts as volatile.  Three things that
 * call functions without naming them are looked into: a domain's CHECK, the functions that an
 * aggregate consists of, and a subplan that is evaluated when its result is first needed.
 *
 * What the server itself calls an undefined number of times is trusted: the support functions of
 * operator classes, by which it sorts and compares, and those that read and write a base type.
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
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "join/planner/volatility.h"
#include "pg/compat.h"

static bool is_volatile(Node *node, void *context);

/* Has a domain a volatile CHECK, itself or one that it is made of? */
static bool
domain_is_volatile(Oid domain)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "domain's constraints", ALLOCSET_SMALL_SIZES);
	DomainConstraintRef *constraints =
		MemoryContextAlloc(context, sizeof(DomainConstraintRef));
	bool		result = false;
	ListCell   *lc;

	/* they stay until the context goes */
	InitDomainConstraintRef(domain, constraints, context, false);
	foreach(lc, constraints->constraints)
		result |= is_volatile((Node *) ((DomainConstraintState *) lfirst(lc))->check_expr, NULL);
	MemoryContextDelete(context);
	return result;
}

/* Is a column of a row type of such a type? */
static bool
row_is_volatile(Oid type)
{
	TupleDesc	columns = lookup_rowtype_tupdesc_noerror(type, -1, true);
	bool		result = false;
	int			i;

	if (columns == NULL)
		return true;
	for (i = 0; i < columns->natts && !result; i++)
		result = !TupleDescAttr(columns, i)->attisdropped &&
				 bloomfam_join_type_is_volatile(TupleDescAttr(columns, i)->atttypid);
	ReleaseTupleDesc(columns);
	return result;
}

bool
bloomfam_join_type_is_volatile(Oid type)
{
	/*
	 * the server's own have no such CHECK, and of an anonymous row the columns are seen where it is
	 * made
	 */
	if (type < FirstNormalObjectId)
		return false;
	check_stack_depth();
	switch (get_typtype(type))
	{
		case TYPTYPE_BASE:
			return OidIsValid(get_element_type(type)) &&
				   bloomfam_join_type_is_volatile(get_element_type(type));
		case TYPTYPE_ENUM:
			return false;
		case TYPTYPE_RANGE:
			return bloomfam_join_type_is_volatile(get_range_subtype(type));
		case TYPTYPE_MULTIRANGE:
			return bloomfam_join_type_is_volatile(get_multirange_range(type));
		case TYPTYPE_DOMAIN:
			return domain_is_volatile(type) || bloomfam_join_type_is_volatile(getBaseType(type));
		case TYPTYPE_COMPOSITE:
			return row_is_volatile(type);
		default:
			return true;
	}
}

/* Is a type among these OIDs checked so? */
static bool
types_are_volatile(const List *types)
{
	ListCell   *lc;

	foreach(lc, types)
		if (bloomfam_join_type_is_volatile(lfirst_oid(lc)))
			return true;
	return false;
}

static bool
function_is_volatile(Oid function, void *context)
{
	return func_volatile(function) == PROVOLATILE_VOLATILE;
}

/* Is one of the functions volatile that an aggregate consists of?  Of itself the server says no. */
static bool
aggregate_is_volatile(Oid function)
{
	HeapTuple	tuple;
	bool		result = false;
	size_t		i;

	if (function < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(function));
	if (HeapTupleIsValid(tuple))
	{
		Form_pg_aggregate form = (Form_pg_aggregate) GETSTRUCT(tuple);
		const Oid	functions[] = {form->aggtransfn, form->aggfinalfn, form->aggcombinefn,
								   form->aggserialfn, form->aggdeserialfn, form->aggmtransfn,
								   form->aggminvtransfn, form->aggmfinalfn};

		for (i = 0; i < lengthof(functions) && !result; i++)
			result = OidIsValid(functions[i]) && function_is_volatile(functions[i], NULL);
		ReleaseSysCache(tuple);
	}
	return result;
}

static bool
param_is_volatile(const Param *param, const JoinVolatileSubplans *subplans)
{
	switch (param->paramkind)
	{
		case PARAM_EXTERN:
			return false;
		case PARAM_EXEC:
			return subplans != NULL && bms_is_member(param->paramid, subplans->params);
		default:
			return true;
	}
}

/*
 * Is a node itself volatile, apart from those below it and from the functions that it names?  The
 * table of the types that are known.
 */
static bool
node_is_volatile(Node *node, const JoinVolatileSubplans *subplans)
{
	switch (nodeTag(node))
	{
			/* these call no function, or only those that they name */
		case T_List:
		case T_TargetEntry:
		case T_TableSampleClause:
		case T_PlaceHolderVar:
		case T_Var:
		case T_Const:
		case T_GroupingFunc:
		case T_SubscriptingRef:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
		case T_BoolExpr:
		case T_AlternativeSubPlan:
		case T_FieldSelect:
		case T_FieldStore:
		case T_RelabelType:
		case T_ArrayCoerceExpr:
		case T_ConvertRowtypeExpr:
		case T_CollateExpr:
		case T_CaseExpr:
		case T_CaseWhen:
		case T_CaseTestExpr:
		case T_ArrayExpr:
		case T_RowExpr:
		case T_RowCompareExpr:
		case T_CoalesceExpr:
		case T_MinMaxExpr:
		case T_SQLValueFunction:
		case T_XmlExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_CoerceToDomainValue:
		BLOOMFAM_JSON_CASES
			return false;

			/* these make values of types that nothing else in the expression may tell */
		case T_FuncExpr:
		case T_CoerceViaIO:
		case T_CoerceToDomain:
		BLOOMFAM_JSON_CASES_WITH_TYPE
			return bloomfam_join_type_is_volatile(exprType(node));
		case T_RangeTblFunction:
			return types_are_volatile(((RangeTblFunction *) node)->funccoltypes);
		case T_TableFunc:
			return types_are_volatile(((TableFunc *) node)->coltypes);

		case T_Aggref:
			return aggregate_is_volatile(((Aggref *) node)->aggfnoid);
		case T_WindowFunc:
			return aggregate_is_volatile(((WindowFunc *) node)->winfnoid);
		case T_Param:
			return param_is_volatile((Param *) node, subplans);
		case T_SubPlan:
			return subplans != NULL && bms_is_member(((SubPlan *) node)->plan_id, subplans->plans);
		default:
			return true;
	}
}

static bool
is_volatile(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return node_is_volatile(node, context) ||
		   check_functions_in_node(node, function_is_volatile, NULL) ||
		   expression_tree_walker(node, is_volatile, context);
}

bool
bloomfam_join_is_volatile(const void *expression, const JoinVolatileSubplans *subplans)
{
	return is_volatile(unconstify(Node *, (const Node *) expression),
					   unconstify(JoinVolatileSubplans *, subplans));
}

bool
bloomfam_join_is_indifferent(void *expression)
{
	return expression == NULL ||
		   (!bloomfam_join_is_volatile(expression, NULL) && !contain_subplans(expression));
}
