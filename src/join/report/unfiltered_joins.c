/*-------------------------------------------------------------------------
 *
 * unfiltered_joins.c
 *	  Joins that are no hash joins, and so have no filters, for EXPLAIN.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

#include "join/report/unfiltered_joins.h"
#include "pg/plan_nodes.h"

typedef struct UnfilteredContext
{
	List	   *ancestors;		/* of the node in hand, nearest first */
	List	   *unfiltered;
} UnfilteredContext;

/* Is it an equality that a hash join could have? */
static bool
is_equality(const Node *condition)
{
	const OpExpr *op = (const OpExpr *) condition;

	return IsA(condition, OpExpr) && list_length(op->args) == 2 &&
		   op_hashjoinable(op->opno, exprType(linitial(op->args)));
}

/* Is it a value that a nested loop hands to its inner side, of those above? */
static bool
is_of_outer_row(const Node *node, List *ancestors)
{
	ListCell   *la;
	ListCell   *lp;

	while (IsA(node, RelabelType))
		node = (const Node *) ((const RelabelType *) node)->arg;
	if (!IsA(node, Param) || ((const Param *) node)->paramkind != PARAM_EXEC)
		return false;
	foreach(la, ancestors)
	{
		if (!IsA(lfirst(la), NestLoop))
			continue;
		foreach(lp, ((NestLoop *) lfirst(la))->nestParams)
			if (((NestLoopParam *) lfirst(lp))->paramno == ((const Param *) node)->paramid)
				return true;
	}
	return false;
}

static void
add(UnfilteredContext *context, JoinUnfilteredKind kind, Plan *plan, List *conditions)
{
	ListCell   *lc;

	foreach(lc, conditions)
	{
		Node	   *condition = lfirst(lc);
		JoinUnfiltered *unfiltered;

		if (!is_equality(condition))
			continue;
		if (kind == JOIN_UNFILTERED_INDEX &&
			!is_of_outer_row(linitial(((OpExpr *) condition)->args), context->ancestors) &&
			!is_of_outer_row(lsecond(((OpExpr *) condition)->args), context->ancestors))
			continue;
		unfiltered = palloc(sizeof(JoinUnfiltered));
		unfiltered->kind = kind;
		unfiltered->plan = plan;
		unfiltered->ancestors = list_copy(context->ancestors);
		unfiltered->condition = condition;
		context->unfiltered = lappend(context->unfiltered, unfiltered);
	}
}

static bool
list_joins(Plan **slot, void *unfiltered_context)
{
	UnfilteredContext *context = unfiltered_context;
	Plan	   *plan = *slot;

	switch (nodeTag(plan))
	{
		case T_MergeJoin:
			add(context, JOIN_UNFILTERED_MERGE, plan, ((MergeJoin *) plan)->mergeclauses);
			break;
		case T_NestLoop:
			add(context, JOIN_UNFILTERED_LOOP, plan, ((NestLoop *) plan)->join.joinqual);
			break;
		case T_IndexScan:
			add(context, JOIN_UNFILTERED_INDEX, plan, ((IndexScan *) plan)->indexqualorig);
			break;
		case T_BitmapHeapScan:
			add(context, JOIN_UNFILTERED_INDEX, plan, ((BitmapHeapScan *) plan)->bitmapqualorig);
			break;
		case T_IndexOnlyScan:
			/* its condition is on the index's columns, which EXPLAIN knows */
			add(context, JOIN_UNFILTERED_INDEX, plan, ((IndexOnlyScan *) plan)->indexqual);
			break;
		default:
			break;
	}
	context->ancestors = lcons(plan, context->ancestors);
	bloomfam_plan_walker(plan, list_joins, context);
	context->ancestors = list_delete_first(context->ancestors);
	return false;
}

List *
bloomfam_join_list_unfiltered(PlannedStmt *stmt)
{
	UnfilteredContext context = {.unfiltered = NIL};

	if (stmt->commandType == CMD_UTILITY)
		return NIL;
	bloomfam_plan_stmt_walker(stmt, list_joins, &context);
	return context.unfiltered;
}
