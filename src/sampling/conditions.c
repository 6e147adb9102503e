/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * conditions.c
 *	  Finds out which conditions of a table the planner may evaluate while it samples.
 *
 * A condition is evaluated for rows that the query itself may never come to, as another condition
 * drops them first.  So it must not have effects, must not tell anybody what it has seen, and must
 * not end the planning with an error.  Only the server's own functions are called.  Those that are
 * immutable and leakproof are safe.  Most of what people write is not marked so: comparing a date
 * with a timestamp, arithmetic, extract().  Further functions are allowed by lists of their names
 * and by the types of their arguments.  The only harm that a listed function can do is to raise an
 * error for some values, which is caught (reader.c).  No listed function makes a long value of a
 * short one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_language_d.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "pg/compat.h"
#include "sampling/conditions.h"

/*
 * A condition with a constant of more bytes, such as a list of thousands of numbers, is left to the
 * server's estimate, as it takes time to prepare such a list for each sample.
 */
#define LONGEST_CONSTANT	8192

/*
 * The type categories that listed functions take and return: booleans, numbers, strings, dates and
 * times, and intervals.
 */
#define LISTED_CATEGORIES	"BNSDT"

/* The names of operators that conditions may call. */
static const char *const listed_operators[] = {
	"=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "^@", NULL
};

/* The names of operators that conditions may call if their right side, a pattern, is a constant. */
static const char *const listed_patterns[] = {"~~", "!~~", "~~*", "!~~*", NULL};

/* The names of functions that conditions may call; one with a type's name converts to the type. */
static const char *const listed_functions[] = {
	"abs", "btrim", "ceil", "ceiling", "char_length", "date", "date_part", "date_trunc",
	"extract", "float4", "float8", "floor", "int2", "int4", "int8", "left", "length", "lower",
	"ltrim", "now", "numeric", "right", "round", "rtrim", "starts_with", "strpos", "substr",
	"text", "time", "timestamp", "timestamptz", "trunc", "upper", "varchar", NULL
};

/* What is known of a condition while it is examined for anything unsafe (is_unsafe()). */
typedef struct Context
{
	const RelOptInfo *rel;
	const Node *node;			/* The node whose functions are being examined. */

	/*
	 * The fields "noperators", "npasses" and "columns" become those of SampleConditions: so far,
	 * they hold what evaluating the examined condition takes.
	 */
	int			noperators;
	int			npasses;
	Bitmapset  *columns;
} Context;

static bool
is_among(const char *name, const char *const *names)
{
	for (; *names != NULL; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return false;
}

/*
 * Returns the constant pattern of an operator such as LIKE, or NULL if the node has no such
 * pattern.
 */
static const Const *
pattern_of(const Node *node)
{
	const OpExpr *expr = (const OpExpr *) node;
	const Const *pattern = IsA(node, OpExpr) ? llast(expr->args) : NULL;

	return pattern != NULL && IsA(pattern, Const) && !pattern->constisnull &&
				   is_among(get_opname(expr->opno), listed_patterns)
			   ? pattern
			   : NULL;
}

/* Returns whether a function is a listed one when it is called by this node. */
static bool
is_listed(Form_pg_proc proc, const Node *node)
{
	Oid			operator = IsA(node, ScalarArrayOpExpr) ? ((const ScalarArrayOpExpr *) node)->opno
														: ((const OpExpr *) node)->opno;
	const char *name;

	if (proc->prolang != INTERNALlanguageId || proc->provolatile == PROVOLATILE_VOLATILE ||
		strchr(LISTED_CATEGORIES, TypeCategory(proc->prorettype)) == NULL)
		return false;
	for (int i = 0; i < proc->pronargs; i++)
		if (strchr(LISTED_CATEGORIES, TypeCategory(proc->proargtypes.values[i])) == NULL)
			return false;
	if (IsA(node, FuncExpr))
		return is_among(NameStr(proc->proname), listed_functions);
	/* An operator that a user has made may have a listed name, and call any function. */
	if (operator >= FirstNormalObjectId)
		return false;
	/* Products and quotients of numeric may have 100,000 digits, so they are not allowed. */
	name = get_opname(operator);
	return pattern_of(node) != NULL ||
		   (is_among(name, listed_operators) &&
			(proc->prorettype != NUMERICOID || strpbrk(name, "*/%") == NULL));
}

/* Returns whether the node that is being examined must not call a function. */
static bool
is_unsafe_function(Oid function, void *arg)
{
	const Node *node = ((Context *) arg)->node;
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Form_pg_proc proc;
	bool		is_safe;

	if (!HeapTupleIsValid(tuple))
		return true;
	proc = (Form_pg_proc) GETSTRUCT(tuple);
	is_safe = function < FirstNormalObjectId && bloomfam_may_execute(function) &&
		((proc->provolatile == PROVOLATILE_IMMUTABLE && proc->proleakproof) ||
		 is_listed(proc, node));
	ReleaseSysCache(tuple);
	return !is_safe;
}

/*
 * Returns whether a condition has anything that is not known to do no harm.  Counts in the context
 * what it takes to evaluate the condition.
 */
static bool
is_unsafe(Node *node, void *arg)
{
	Context    *context = arg;
	const Var  *column = (const Var *) node;
	const Const *constant;

	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Var:
			if (column->varno != context->rel->relid || column->varlevelsup != 0 ||
				column->varattno <= 0)
				return true;
			context->columns = bms_add_member(context->columns, column->varattno);
			return false;
		case T_Const:
			return !((Const *) node)->constisnull && ((Const *) node)->constlen == -1 &&
				   toast_raw_datum_size(((Const *) node)->constvalue) > LONGEST_CONSTANT;
		case T_SQLValueFunction:
			/*
			 * Only dates and times are allowed: other values, such as CURRENT_USER, tell who runs
			 * the query.
			 */
			if (TypeCategory(((SQLValueFunction *) node)->type) != TYPCATEGORY_DATETIME)
				return true;
			break;
		case T_List:
		case T_FuncExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_BoolExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_RelabelType:
		case T_CoalesceExpr:
		case T_CaseExpr:
		case T_CaseWhen:
		case T_CaseTestExpr:
			break;
		case T_ScalarArrayOpExpr:
			/*
			 * A list that is searched by hashing calls the hash function of the list's type as
			 * well, which must also be the server's own.  A value is compared with each element of
			 * a list that is not hashed; 8 bytes of a constant count as an element.
			 */
			constant = lsecond(((ScalarArrayOpExpr *) node)->args);
			if (((ScalarArrayOpExpr *) node)->hashfuncid >= FirstNormalObjectId ||
				(!IsA(constant, Const) && !IsA(constant, ArrayExpr)))
				return true;
			if (IsA(constant, Const) && !OidIsValid(((ScalarArrayOpExpr *) node)->hashfuncid) &&
				!constant->constisnull)
				context->noperators += toast_raw_datum_size(constant->constvalue) / 8;
			break;
		case T_ArrayExpr:
			/* A list that is no constant, as it has an element such as current_date. */
			context->noperators += 2 * list_length(((const ArrayExpr *) node)->elements);
			break;
		case T_OpExpr:
			/* At worst, each byte of the pattern is compared with each byte of the value. */
			constant = pattern_of(node);
			if (constant != NULL)
				context->npasses =
					Max(context->npasses, (int) toast_raw_datum_size(constant->constvalue));
			break;
		default:
			return true;
	}
	context->node = node;
	context->noperators++;
	return check_functions_in_node(node, is_unsafe_function, context) ||
		   expression_tree_walker(node, is_unsafe, context);
}

void
bloomfam_sample_conditions(RelOptInfo *rel, SampleConditions *conditions)
{
	ListCell   *lc;

	memset(conditions, 0, sizeof(*conditions));
	foreach(lc, rel->baserestrictinfo)
	{
		RestrictInfo *info = lfirst_node(RestrictInfo, lc);
		Context		context = {.rel = rel, .npasses = 1};

		if (info->pseudoconstant || info->security_level > 0 ||
			is_unsafe((Node *) info->clause, &context))
		{
			conditions->nleft++;
			continue;
		}
		conditions->evaluated = lappend(conditions->evaluated, info);
		conditions->noperators += context.noperators;
		conditions->npasses = Max(conditions->npasses, context.npasses);
		conditions->columns = bms_add_members(conditions->columns, context.columns);
	}
}
