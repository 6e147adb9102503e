/*-------------------------------------------------------------------------
 *
 * hooks.c
 *	  Settings of the join filter, and where it meets the server.
 *
 * While the planner works, a hook tells it what filters would save in the joins that it
 * considers; when it has finished, another adds nodes to its plan.  The executor's ties the nodes
 * of a plan that has some to the hash joins that they serve: an executor node knows its children,
 * not its parent.
 *
 * What was decided about hash joins without a filter is in no node.  EXPLAIN VERBOSE shows it
 * after the plan, when the executor ends: until 18 no hook is nearer.  EXPLAIN EXECUTE, which
 * plans elsewhere or not at all, does not show it.
 *
 * The hooks are there only if the module was loaded before the session's first command (by
 * session_preload_libraries or its like), or for the session of a parallel worker: that somebody
 * has used a filter in some query must not change how later queries are planned.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "tcop/pquery.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"

#include "join/join.h"
#include "pg/compat.h"

int			bloomfam_join_filter = JOIN_FILTER_OFF;
int			bloomfam_join_filter_min_rows = 10000;
int			bloomfam_join_filter_max_size = 64 * 1024;
int			bloomfam_join_filter_foreign_max_size = 1024;
double		bloomfam_join_filter_min_drop = 0.1;
double		bloomfam_join_filter_fpr = 0.005;
bool		bloomfam_join_filter_log = false;
bool		bloomfam_join_filter_plans = true;

int			bloomfam_join_builds_begun = 0;

static const struct config_enum_entry mode_options[] = {
	{"off", JOIN_FILTER_OFF, false},
	{"on", JOIN_FILTER_ON, false},
	{"force", JOIN_FILTER_FORCE, false},
	{NULL, 0, false}
};

static planner_hook_type previous_planner;
static set_join_pathlist_hook_type previous_join_paths;
static ExecutorStart_hook_type previous_executor_start;
static ExecutorEnd_hook_type previous_executor_end;
static ExplainOneQuery_hook_type previous_explain;

/* An EXPLAIN VERBOSE, and what was decided when its query was planned. */
typedef struct Explained
{
	ExplainState *es;
	PlannedStmt *stmt;			/* NULL: not planned yet */
	List	   *decisions;
} Explained;

/* The one that is being done; NULL: none. */
static Explained *explained = NULL;

static void
add_paths_with_filters(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
					   RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra)
{
	if (previous_join_paths != NULL)
		previous_join_paths(root, joinrel, outerrel, innerrel, jointype, extra);
	if (bloomfam_join_filter != JOIN_FILTER_OFF && bloomfam_join_filter_plans)
		bloomfam_join_add_paths(root, joinrel, outerrel, innerrel, jointype, extra);
}

static PlannedStmt *
plan_with_filters(Query *parse, const char *query_string, int cursor_options, ParamListInfo params)
{
	bool		row_security = parse->hasRowSecurity;
	Explained  *awaited = explained != NULL && explained->stmt == NULL ? explained : NULL;
	List	   *decisions = NIL;
	PlannedStmt *stmt;

	/* functions that are called meanwhile may plan, too */
	if (awaited != NULL)
		explained = NULL;
	if (previous_planner != NULL)
		stmt = previous_planner(parse, query_string, cursor_options, params);
	else
		stmt = standard_planner(parse, query_string, cursor_options, params);
	if (bloomfam_join_filter != JOIN_FILTER_OFF)
		decisions = bloomfam_join_plan(stmt, row_security || stmt->dependsOnRole);
	if (bloomfam_join_filter_log && decisions != NIL)
		bloomfam_join_log(stmt, decisions);
	if (awaited != NULL)
	{
		awaited->stmt = stmt;
		awaited->decisions = decisions;
		explained = awaited;
	}
	return stmt;
}

/* Ties the filters of hash joins to them. */
static bool
tie_filters(PlanState *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, HashJoinState))
	{
		PlanState  *build = outerPlanState(innerPlanState(node));

		/* one on the other, where columns of the key have filters of their own */
		for (; build != NULL && bloomfam_join_is_build(build); build = outerPlanState(build))
		{
			if (((JoinBuildState *) build)->filter == NULL)
				continue;
			((JoinBuildState *) build)->filter->join = (HashJoinState *) node;
			bloomfam_join_build_tie_foreign((JoinBuildState *) build, outerPlanState(node));

			/*
			 * The join would first ask the probe side for a row, to save building if there is
			 * none.  It would get it before the filter is there; and if that takes a sort, all of
			 * it would go unfiltered.
			 */
			((HashJoinState *) node)->hj_OuterNotEmpty = true;
		}
	}
	return planstate_tree_walker(node, tie_filters, context);
}

static void
start_with_filters(QueryDesc *query, int eflags)
{
	int			outer = bloomfam_join_builds_begun;

	bloomfam_join_builds_begun = 0;
	if (previous_executor_start != NULL)
		previous_executor_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
	if (bloomfam_join_builds_begun > 0)
		tie_filters(query->planstate, NULL);
	bloomfam_join_builds_begun = outer;
}

/* EXPLAIN has shown the plan, and ends the executor before it ends what it says of the query. */
static void
end_with_decisions(QueryDesc *query)
{
	if (explained != NULL && explained->stmt == query->plannedstmt &&
		explained->es->pstmt == query->plannedstmt)
		bloomfam_join_explain_decisions(explained->decisions, explained->es);
	if (previous_executor_end != NULL)
		previous_executor_end(query);
	else
		standard_ExecutorEnd(query);
}

/* Plans, runs and shows one query. */
static void
explain_with_decisions(Query *query, int cursor_options, IntoClause *into, ExplainState *es,
					   const char *query_string, ParamListInfo params,
					   QueryEnvironment *environment)
{
	ExplainOneQuery_hook_type explain =
		previous_explain != NULL ? previous_explain : bloomfam_standard_explain;
	Explained	own = {.es = es};
	Explained  *outer = explained;

	explained = es->verbose ? &own : NULL;
	PG_TRY();
	{
		explain(query, cursor_options, into, es, query_string, params, environment);
	}
	PG_FINALLY();
	{
		explained = outer;
	}
	PG_END_TRY();
}

/* Is the module being loaded before the session's first command? */
static bool
loaded_at_start(void)
{
	return process_shared_preload_libraries_in_progress || InitializingParallelWorker ||
		(debug_query_string == NULL && ActivePortal == NULL && !ActiveSnapshotSet());
}

void
bloomfam_join_init(void)
{
	DefineCustomEnumVariable(
		"bloomfam.join_filter",
		"Lets hash joins drop rows of their probe side at the scan, by a Bloom filter of their build side.",
		"\"force\" does so wherever it is right, whether or not it is expected to pay. Needs bloomfam in session_preload_libraries.",
		&bloomfam_join_filter, JOIN_FILTER_OFF, mode_options, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable(
		"bloomfam.join_filter_min_rows",
		"Sets the number of probe-side rows from which on a join gets a filter.", NULL,
		&bloomfam_join_filter_min_rows, 10000, 0, INT_MAX, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomRealVariable(
		"bloomfam.join_filter_min_drop",
		"Sets the share of probe-side rows that a filter must be expected to drop.", NULL,
		&bloomfam_join_filter_min_drop, 0.1, 0.0, 1.0, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomRealVariable("bloomfam.join_filter_fpr",
							 "Sets the share of rows without a match that a filter lets pass.",
							 NULL, &bloomfam_join_filter_fpr, 0.005, 0.0001, 0.5, PGC_USERSET, 0,
							 NULL, NULL, NULL);
	DefineCustomIntVariable("bloomfam.join_filter_max_size",
							"Sets the size from which on a join's filter is given up.", NULL,
							&bloomfam_join_filter_max_size, 64 * 1024, 1, 1024 * 1024, PGC_USERSET,
							GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomIntVariable(
		"bloomfam.join_filter_foreign_max_size",
		"Sets the size from which on a join's filter is not sent to a foreign server.",
		"It travels with the query, as a text of twice its size. 0 sends none.",
		&bloomfam_join_filter_foreign_max_size, 1024, 0, 64 * 1024, PGC_USERSET, GUC_UNIT_KB, NULL,
		NULL, NULL);
	DefineCustomBoolVariable(
		"bloomfam.join_filter_log",
		"Logs for each hash join that is planned which filters it gets, or why it gets none.", NULL,
		&bloomfam_join_filter_log, false, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable(
		"bloomfam.join_filter_plans",
		"Lets the planner choose hash joins for what their filters are expected to save.",
		"If it is off, plans are made as without filters.", &bloomfam_join_filter_plans, true,
		PGC_USERSET, 0, NULL, NULL, NULL);

	RegisterCustomScanMethods(&bloomfam_join_build_methods);
	RegisterCustomScanMethods(&bloomfam_join_probe_methods);

	if (!loaded_at_start())
		return;
	previous_planner = planner_hook;
	planner_hook = plan_with_filters;
	previous_join_paths = set_join_pathlist_hook;
	set_join_pathlist_hook = add_paths_with_filters;
	previous_executor_start = ExecutorStart_hook;
	ExecutorStart_hook = start_with_filters;
	previous_executor_end = ExecutorEnd_hook;
	ExecutorEnd_hook = end_with_decisions;
	previous_explain = ExplainOneQuery_hook;
	ExplainOneQuery_hook = explain_with_decisions;
}
