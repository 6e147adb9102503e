/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * plan_nodes.c
 *	  The server's types of plan nodes and expressions, and what is known of each.
 *
 * There are two tables.  Nothing is known of a type that is in neither: callers take it for
 * volatile and not repeatable, and send no filter through it.  That includes nodes of extensions
 * (CustomScan) and nodes that change tables (ModifyTable).
 *
 * .ci/checks/plan-nodes compares the tables with the server's plannodes.h and primnodes.h.  Each
 * member there that can have expressions must be named here, or be named in that check with the
 * reason why it need not be.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/syscache.h"

#include "pg/compat.h"
#include "pg/plan_nodes.h"

#define AT(type, member)	offsetof(type, member)
#define GROUPING(type, by) GROUPING_OF(type, numCols, by)
#define GROUPING_OF(type, n, by) \
	{AT(type, n), AT(type, by##ColIdx), AT(type, by##Operators), AT(type, by##Collations)}

static const BloomfamPlanNode known_types[] = {
	/* Plan nodes without expressions other than their columns and conditions. */
	[T_ProjectSet] = {.is_known = true},
	[T_RecursiveUnion] = {.is_known = true},
	[T_CteScan] = {.is_known = true},
	[T_NamedTuplestoreScan] = {.is_known = true},
	[T_WorkTableScan] = {.is_known = true},
	[T_SeqScan] = {.is_known = true, .scans_table = true, .repeatable = true},
	[T_Material] = {.is_known = true, .repeatable = true},
	[T_Sort] = {.is_known = true, .repeatable = true},
	[T_IncrementalSort] = {.is_known = true, .repeatable = true},
	[T_Gather] = {.is_known = true, .repeatable = true},
	[T_GatherMerge] = {.is_known = true, .repeatable = true},
	[T_LockRows] = {.is_known = true, .locks_rows = true},

	/* Plan nodes that group rows. */
	[T_Group] = {.is_known = true, .repeatable = true, .grouping = GROUPING(Group, grp)},
	[T_Unique] = {.is_known = true, .repeatable = true, .grouping = GROUPING(Unique, uniq)},
	[T_Agg] =
	{
		.is_known = true, .repeatable = true, .grouping = GROUPING(Agg, grp)
	},

	[T_SetOp] =
	{
		.is_known = true, .grouping = BLOOMFAM_SET_OPERATION_GROUPING(GROUPING)
	},

	/*
	 * Plan nodes with several children, or with one that is neither the left nor the right child.
	 */
	[T_Append] = {.is_known = true, .repeatable = true, .children = AT(Append, appendplans)},
	[T_MergeAppend] =
	{
		.is_known = true, .repeatable = true, .children = AT(MergeAppend, mergeplans)
	},
	[T_BitmapAnd] = {.is_known = true, .repeatable = true, .children = AT(BitmapAnd, bitmapplans)},
	[T_BitmapOr] = {.is_known = true, .repeatable = true, .children = AT(BitmapOr, bitmapplans)},
	[T_SubqueryScan] = {.is_known = true, .repeatable = true, .child = AT(SubqueryScan, subplan)},

	/* Plan nodes with expressions of their own. */
	[T_Result] =
	{
		.is_known = true, .repeatable = true, .exprs = {AT(Result, resconstantqual)}
	},
	[T_SampleScan] =
	{
		.is_known = true, .scans_table = true, .exprs = {AT(SampleScan, tablesample)}
	},
	[T_IndexScan] =
	{
		.is_known = true, .repeatable = true, .scans_table = true,
		.exprs = {AT(IndexScan, indexqual), AT(IndexScan, indexqualorig),
				  AT(IndexScan, indexorderby), AT(IndexScan, indexorderbyorig)}
	},
	[T_IndexOnlyScan] =
	{
		.is_known = true, .repeatable = true, .scans_table = true,
		.exprs = {AT(IndexOnlyScan, indexqual), AT(IndexOnlyScan, recheckqual),
				  AT(IndexOnlyScan, indexorderby)}
	},
	[T_BitmapIndexScan] =
	{
		.is_known = true, .repeatable = true,
		.exprs = {AT(BitmapIndexScan, indexqual), AT(BitmapIndexScan, indexqualorig)}
	},
	[T_BitmapHeapScan] =
	{
		.is_known = true, .repeatable = true, .scans_table = true,
		.exprs = {AT(BitmapHeapScan, bitmapqualorig)}
	},
	[T_TidScan] = {.is_known = true, .scans_table = true, .exprs = {AT(TidScan, tidquals)}},
	[T_TidRangeScan] =
	{
		.is_known = true, .scans_table = true, .exprs = {AT(TidRangeScan, tidrangequals)}
	},
	[T_FunctionScan] = {.is_known = true, .exprs = {AT(FunctionScan, functions)}},
	[T_ValuesScan] = {.is_known = true, .exprs = {AT(ValuesScan, values_lists)}},
	[T_TableFuncScan] = {.is_known = true, .exprs = {AT(TableFuncScan, tablefunc)}},
	[T_ForeignScan] =
	{
		.is_known = true, .scans_table = true,
		.exprs = {AT(ForeignScan, fdw_exprs), AT(ForeignScan, fdw_recheck_quals)}
	},
	[T_NestLoop] =
	{
		.is_known = true, .repeatable = true, .exprs = {AT(NestLoop, join.joinqual)}
	},
	[T_MergeJoin] =
	{
		.is_known = true, .repeatable = true,
		.exprs = {AT(MergeJoin, join.joinqual), AT(MergeJoin, mergeclauses)}
	},
	[T_HashJoin] =
	{
		.is_known = true, .repeatable = true,
		.exprs = {AT(HashJoin, join.joinqual), AT(HashJoin, hashclauses), AT(HashJoin, hashkeys)}
	},
	[T_Hash] =
	{
		.is_known = true, .repeatable = true, .exprs = {AT(Hash, hashkeys)}
	},
	[T_Memoize] =
	{
		.is_known = true, .repeatable = true,
		.exprs = {AT(Memoize, param_exprs)}
	},
	[T_WindowAgg] =
	{
		.is_known = true, .grouping = GROUPING_OF(WindowAgg, partNumCols, part),
		.exprs = {AT(WindowAgg, startOffset), AT(WindowAgg, endOffset),
				  AT(WindowAgg, runCondition), AT(WindowAgg, runConditionOrig)}
	},
	[T_Limit] =
	{
		.is_known = true, .exprs = {AT(Limit, limitOffset), AT(Limit, limitCount)}
	},

	/* A node of an extension is not known, as it may evaluate anything, but its children are. */
	[T_CustomScan] = {.children = AT(CustomScan, custom_plans)},
};

const BloomfamPlanNode *
bloomfam_plan_node(const Plan *plan)
{
	static const BloomfamPlanNode unknown_type = {.is_known = false};

	return nodeTag(plan) < lengthof(known_types) ? &known_types[nodeTag(plan)] : &unknown_type;
}

/* Returns the member of a node that is this number of bytes from its beginning. */
static void *
member_of(Plan *plan, uint16 at)
{
	return *(void **) ((char *) plan + at);
}

List *
bloomfam_plan_children(Plan *plan)
{
	uint16		at = bloomfam_plan_node(plan)->children;

	return at != 0 ? member_of(plan, at) : NIL;
}

bool
bloomfam_plan_walker(Plan *plan, BloomfamPlanWalker walker, void *context)
{
	uint16		child = bloomfam_plan_node(plan)->child;
	ListCell   *lc;

	check_stack_depth();
	if ((plan->lefttree != NULL && walker(&plan->lefttree, context)) ||
		(plan->righttree != NULL && walker(&plan->righttree, context)) ||
		(child != 0 && walker((Plan **) ((char *) plan + child), context)))
		return true;
	foreach(lc, bloomfam_plan_children(plan))
		if (walker((Plan **) &lfirst(lc), context))
			return true;
	return false;
}

bool
bloomfam_plan_stmt_walker(PlannedStmt *stmt, BloomfamPlanWalker walker, void *context)
{
	ListCell   *lc;

	if (walker(&stmt->planTree, context))
		return true;
	foreach(lc, stmt->subplans)
		if (lfirst(lc) != NULL && walker((Plan **) &lfirst(lc), context))
			return true;
	return false;
}

void
bloomfam_plan_depends_on(PlannedStmt *stmt, int cache, Oid object)
{
	uint32		hash = GetSysCacheHashValue1(cache, ObjectIdGetDatum(object));
	PlanInvalItem *item;
	ListCell   *lc;

	foreach(lc, stmt->invalItems)
	{
		item = lfirst_node(PlanInvalItem, lc);
		if (item->cacheId == cache && item->hashValue == hash)
			return;
	}
	item = makeNode(PlanInvalItem);
	item->cacheId = cache;
	item->hashValue = hash;
	stmt->invalItems = lappend(stmt->invalItems, item);
}

/* Appends a node's members at these offsets to a list; the offsets end with 0. */
static List *
add_members(List *list, Plan *plan, const uint16 *members, size_t n)
{
	size_t		i;

	for (i = 0; i < n && members[i] != 0; i++)
		list = lappend(list, member_of(plan, members[i]));
	return list;
}

List *
bloomfam_plan_expressions(Plan *plan)
{
	const BloomfamPlanNode *node = bloomfam_plan_node(plan);
	List	   *list = list_make2(plan->targetlist, plan->qual);

	return add_members(list, plan, node->exprs, lengthof(node->exprs));
}

bool
bloomfam_plan_groups(Plan *plan)
{
	return bloomfam_plan_node(plan)->grouping[0] != 0;
}

bool
bloomfam_plan_groups_by(Plan *plan, AttrNumber column, Oid *operator, Oid *collation)
{
	const uint16 *members = bloomfam_plan_node(plan)->grouping;
	const AttrNumber *columns;
	int			n;
	int			i;

	if (members[0] == 0)
		return false;
	n = *(int *) ((char *) plan + members[0]);
	columns = member_of(plan, members[1]);
	for (i = 0; i < n && columns[i] != column; i++)
		;
	if (i == n)
		return false;
	*operator = ((const Oid *) member_of(plan, members[2]))[i];
	*collation = ((const Oid *) member_of(plan, members[3]))[i];
	return true;
}

#define PLAIN	BLOOMFAM_EXPRESSION_PLAIN
#define MAKES_VALUE	BLOOMFAM_EXPRESSION_MAKES_VALUE

static const BloomfamExpression expressions[] = {
	[T_List] = PLAIN, [T_TargetEntry] = PLAIN, [T_SortGroupClause] = PLAIN,
	[T_TableSampleClause] = PLAIN, [T_PlaceHolderVar] = PLAIN, [T_Var] = PLAIN,
	[T_Const] = PLAIN, [T_GroupingFunc] = PLAIN, [T_SubscriptingRef] = PLAIN,
	[T_DistinctExpr] = PLAIN, [T_NullIfExpr] = PLAIN, [T_ScalarArrayOpExpr] = PLAIN,
	[T_BoolExpr] = PLAIN, [T_AlternativeSubPlan] = PLAIN, [T_FieldSelect] = PLAIN,
	[T_FieldStore] = PLAIN, [T_RelabelType] = PLAIN, [T_ArrayCoerceExpr] = PLAIN,
	[T_ConvertRowtypeExpr] = PLAIN, [T_CollateExpr] = PLAIN, [T_CaseExpr] = PLAIN,
	[T_CaseWhen] = PLAIN, [T_CaseTestExpr] = PLAIN, [T_ArrayExpr] = PLAIN, [T_RowExpr] = PLAIN,
	[T_RowCompareExpr] = PLAIN, [T_CoalesceExpr] = PLAIN, [T_MinMaxExpr] = PLAIN,
	[T_SQLValueFunction] = PLAIN, [T_XmlExpr] = PLAIN, [T_NullTest] = PLAIN,
	[T_BooleanTest] = PLAIN, [T_CoerceToDomainValue] = PLAIN,
	[T_OpExpr] = MAKES_VALUE, [T_CoerceViaIO] = MAKES_VALUE, [T_CoerceToDomain] = MAKES_VALUE,
	BLOOMFAM_EXPRESSIONS(PLAIN, MAKES_VALUE)
};

BloomfamExpression
bloomfam_expression(const Node *node)
{
	return nodeTag(node) < lengthof(expressions) ? expressions[nodeTag(node)]
												 : BLOOMFAM_EXPRESSION_UNKNOWN;
}
