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
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "join/planner/volatility.h"
#include "pg/compat.h"

/* One look at an expression. */
typedef struct Walker
{
	JoinVolatility *volatility; /* NULL: no plan yet */
	List	   *domains;		/* whose CHECKs are looked into: they may lead to themselves */
} Walker;

static bool is_volatile(Node *node, void *context);
static bool type_is_volatile(Walker *walker, Oid type);

static bool
function_is_volatile(Oid function, void *context)
{
	JoinVolatility *volatility = ((Walker *) context)->volatility;

	if (volatility != NULL && function >= FirstNormalObjectId)
		volatility->functions = list_append_unique_oid(volatility->functions, function);
	return func_volatile(function) == PROVOLATILE_VOLATILE;
}

/* Has a domain a volatile CHECK, itself or one that it is made of? */
static bool
domain_is_volatile(Walker *walker, Oid domain)
{
	MemoryContext context;
	DomainConstraintRef *constraints;
	bool		result = false;
	ListCell   *lc;

	if (list_member_oid(walker->domains, domain))
		return false;
	if (walker->volatility != NULL)
		walker->volatility->types = list_append_unique_oid(walker->volatility->types, domain);
	context =
		AllocSetContextCreate(CurrentMemoryContext, "domain's constraints", ALLOCSET_SMALL_SIZES);
	constraints = MemoryContextAlloc(context, sizeof(DomainConstraintRef));
	walker->domains = lappend_oid(walker->domains, domain);

	/* they stay until the context goes */
	InitDomainConstraintRef(domain, constraints, context, false);
	foreach(lc, constraints->constraints)
		result |= is_volatile((Node *) ((DomainConstraintState *) lfirst(lc))->check_expr, walker);
	MemoryContextDelete(context);
	walker->domains = list_delete_last(walker->domains);
	return result;
}

/* Is one of these columns of such a type? */
static bool
columns_are_volatile(Walker *walker, TupleDesc columns)
{
	int			i;

	for (i = 0; i < columns->natts; i++)
		if (!TupleDescAttr(columns, i)->attisdropped &&
			type_is_volatile(walker, TupleDescAttr(columns, i)->atttypid))
			return true;
	return false;
}

static bool
row_is_volatile(Walker *walker, Oid type)
{
	TupleDesc	columns = lookup_rowtype_tupdesc_noerror(type, -1, true);
	JoinVolatility *volatility = walker->volatility;
	bool		result;

	if (columns == NULL)
		return true;
	if (volatility != NULL)
		volatility->relations =
			list_append_unique_oid(volatility->relations, get_typ_typrelid(type));
	result = columns_are_volatile(walker, columns);
	ReleaseTupleDesc(columns);
	return result;
}

static bool
type_is_volatile(Walker *walker, Oid type)
{
	/* the server's own have no such CHECK; anonymous rows are looked at where they are made */
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
			return domain_is_volatile(walker, type) || type_is_volatile(walker, getBaseType(type));
		case TYPTYPE_COMPOSITE:
			return row_is_volatile(walker, type);
		default:
			return true;
	}
}

/* Is a type among these OIDs checked so? */
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
 * Does a function make a value of such a type?  Of an anonymous row the columns are those of its
 * parameters; if it was given one, it may make another one of the same columns: nothing tells.
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
		case TYPEFUNC_RECORD:	/* the query says what its columns are */
			return false;
		case TYPEFUNC_COMPOSITE:
		case TYPEFUNC_COMPOSITE_DOMAIN:
			return columns_are_volatile(walker, columns);
		default:
			return true;
	}
}

/*
 * Is one of the functions volatile that an aggregate consists of, or does one make a value of such
 * a type?  Of itself the server says no.
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
param_is_volatile(const Param *param, const JoinVolatility *volatility)
{
	switch (param->paramkind)
	{
		case PARAM_EXTERN:
			return false;
		case PARAM_EXEC:
			return volatility != NULL && bms_is_member(param->paramid, volatility->params);
		default:
			return true;
	}
}

/*
 * Is a node itself volatile, apart from those below it and from the functions that it names?  The
 * table of the types that are known; .ci/checks/plan-nodes compares it with primnodes.h.
 */
static bool
node_is_volatile(Walker *walker, Node *node)
{
	switch (nodeTag(node))
	{
			/* these call no function, or only those that they name, which make no domain's value */
		case T_List:
		case T_TargetEntry:
		case T_SortGroupClause:
		case T_TableSampleClause:
		case T_PlaceHolderVar:
		case T_Var:
		case T_Const:
		case T_GroupingFunc:
		case T_SubscriptingRef:
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
		BLOOMFAM_EXPRESSION_CASES
			return false;

			/* these make values of types that nothing else in the expression may tell */
		case T_OpExpr:
		case T_CoerceViaIO:
		case T_CoerceToDomain:
		BLOOMFAM_EXPRESSION_CASES_WITH_TYPE
			return type_is_volatile(walker, exprType(node));
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
			return param_is_volatile((Param *) node, walker->volatility);
		case T_SubPlan:
			return walker->volatility != NULL &&
				   bms_is_member(((SubPlan *) node)->plan_id, walker->volatility->plans);
		default:
			return true;
	}
}

static bool
is_volatile(Node *node, void *context)
{
	/* most are columns, of each of a thousand partitions */
	if (node == NULL || IsA(node, Var) || IsA(node, Const))
		return false;
	return node_is_volatile(context, node) ||
		   check_functions_in_node(node, function_is_volatile, context) ||
		   expression_tree_walker(node, is_volatile, context);
}

bool
bloomfam_join_is_volatile(const void *expression, JoinVolatility *volatility)
{
	Walker		walker = {.volatility = volatility};

	return is_volatile(unconstify(Node *, (const Node *) expression), &walker);
}

bool
bloomfam_join_type_is_volatile(Oid type, JoinVolatility *volatility)
{
	Walker		walker = {.volatility = volatility};

	return type_is_volatile(&walker, type);
}

bool
bloomfam_join_is_volatile_free(void *expression, JoinVolatility *volatility)
{
	return expression == NULL ||
		   (!bloomfam_join_is_volatile(expression, volatility) && !contain_subplans(expression));
}

/* The items of a catalog, by the syscache for which plans are told of changes. */
static List *
invalidated_by(int cache, const List *oids)
{
	List	   *items = NIL;
	ListCell   *lc;

	foreach(lc, oids)
	{
		PlanInvalItem *item = makeNode(PlanInvalItem);

		item->cacheId = cache;
		item->hashValue = GetSysCacheHashValue1(cache, ObjectIdGetDatum(lfirst_oid(lc)));
		items = lappend(items, item);
	}
	return items;
}

void
bloomfam_join_note_dependencies(PlannedStmt *stmt, const JoinVolatility *volatility)
{
	stmt->invalItems =
		list_concat(stmt->invalItems, invalidated_by(TYPEOID, volatility->types));
	stmt->invalItems =
		list_concat(stmt->invalItems, invalidated_by(PROCOID, volatility->functions));
	stmt->relationOids = list_concat_unique_oid(stmt->relationOids, volatility->relations);
}
