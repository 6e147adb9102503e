/*-------------------------------------------------------------------------
 *
 * plan.c
 *	  A finished plan gets filters: for each of its hash joins those that are expected to pay
 *	  (decision.c), and on its scans those that the query names (stored_conditions.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "join/base/filter_info.h"
#include "join/planner/decision.h"
#include "join/planner/insert_nodes.h"
#include "join/planner/plan.h"
#include "join/planner/stored_conditions.h"
#include "pg/plan_nodes.h"

typedef struct PlanContext
{
	JoinPlanInfo plan_info;
	JoinRewrite rewrite;
	bool		row_security;
	int			workers;		/* that run the part of the plan in hand; 0: none does */
	List	   *ancestors;		/* of the node in hand, nearest first */
	List	   *decisions;		/* of JoinDecision */
} PlanContext;

static void
plan_join(PlanContext *context, HashJoin *join)
{
	JoinDecision *decision = palloc(sizeof(JoinDecision));
	ListCell   *lc;
	int			i;

	decision->join = join;
	decision->ancestors = list_copy(context->ancestors);
	decision->key_decisions = palloc0(list_length(join->hashkeys) * sizeof(JoinKeyDecision));
	foreach (lc, bloomfam_join_decide(&context->plan_info, context->workers, join,
									  decision->key_decisions))
	{
		const JoinPushdown *pushdown = lfirst(lc);
		int number = bloomfam_join_add_filter(&context->rewrite, context->workers > 0, pushdown);

		for (i = 0; i < pushdown->ncolumns; i++)
			decision->key_decisions[pushdown->columns[i].hash_key].filter = number;
	}
	context->decisions = lappend(context->decisions, decision);
}

/* Moves conditions with stored filters from a scan to the node on top of it. */
static void
plan_scan(PlanContext *context, Plan **slot)
{
	Plan	   *parent = context->ancestors != NIL ? linitial(context->ancestors) : NULL;
	List	   *conditions;
	ListCell   *lc;

	/* a node of another extension may know its child's type */
	if (parent != NULL && IsA(parent, CustomScan) &&
		bloomfam_join_node_kind(parent) == JOIN_NODE_OTHER)
		return;
	conditions = bloomfam_join_take_stored(context->plan_info.stmt, context->plan_info.volatility,
										   (Scan *) *slot, context->row_security);
	foreach(lc, conditions)
		parent = (Plan *) bloomfam_join_add_condition(&context->rewrite, context->workers > 0,
													  slot, parent, lfirst(lc));
}

/* From the top down: when a scan is come to, all filters of joins that go there are there. */
static bool
plan_tree(Plan **slot, void *plan_context)
{
	PlanContext *context = plan_context;
	Plan	   *plan = *slot;
	int			workers = context->workers;

	if (IsA(plan, HashJoin))
		plan_join(context, (HashJoin *) plan);
	context->workers = bloomfam_join_workers(plan, workers);
	context->ancestors = lcons(plan, context->ancestors);
	bloomfam_plan_walker(plan, plan_tree, context);
	context->ancestors = list_delete_first(context->ancestors);
	context->workers = workers;
	if (IsA(plan, SeqScan))
		plan_scan(context, slot);
	return false;
}

List *
bloomfam_join_plan(PlannedStmt *stmt, bool row_security)
{
	PlanContext context = {.row_security = row_security};

	if (stmt->commandType == CMD_UTILITY)
		return NIL;
	bloomfam_join_plan_info_init(&context.plan_info, stmt);
	context.rewrite.stmt = stmt;
	bloomfam_plan_stmt_walker(stmt, plan_tree, &context);
	Assert(context.ancestors == NIL && context.workers == 0);
	bloomfam_join_expect_rows(&context.rewrite);
	bloomfam_join_note_dependencies(stmt, context.plan_info.volatility);
	return context.decisions;
}
