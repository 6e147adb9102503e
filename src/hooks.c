/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * hooks.c
 *	  Connects join filters and samples with the server's hooks.
 *
 * While the planner works, a hook tells it what filters would save in the joins that it considers.
 * When the planner has finished, another hook adds nodes to its plan.  When the executor starts a
 * plan with such nodes, a hook ties them to the joins that they serve, because an executor node
 * knows its children and not its parent.
 *
 * What was decided about joins without a filter is in no node.  EXPLAIN VERBOSE shows it after the
 * plan, when the executor ends, as before PostgreSQL 18 there is no hook that is nearer.  EXPLAIN
 * EXECUTE, which plans elsewhere or not at all, does not show it.
 *
 * The hooks are installed only if the module is loaded before the session's first command (by
 * session_preload_libraries or a similar setting), or for the session of a parallel worker.
 * Otherwise the use of a filter in some query would change how later queries are planned.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "catalog/pg_type_d.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/geqo.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "tcop/pquery.h"
#include "tcop/tcopprot.h"
#include "utils/snapmgr.h"

#include "hooks.h"
#include "join/base/gucs.h"
#include "join/executor/node.h"
#include "join/fdw/foreign.h"
#include "join/planner/paths.h"
#include "join/planner/plan.h"
#include "join/planner/subquery_stats.h"
#include "join/report/decisions.h"
#include "join/report/stat.h"
#include "pg/compat.h"
#include "sampling/report.h"
#include "sampling/sampling.h"

/*
 * The values that the server's hook variables had when this module was loaded, which its own hooks
 * call.  If a hook was not set, this is the server's own function for the planner, the executor and
 * EXPLAIN, and NULL for the other hooks.
 */
static planner_hook_type previous_planner;
static bloomfam_base_rel_hook_type previous_base_rel;
static get_relation_stats_hook_type previous_column_stats;
static set_join_pathlist_hook_type previous_join_paths;
static join_search_hook_type previous_join_search;
static ExecutorStart_hook_type previous_executor_start;
static ExecutorEnd_hook_type previous_executor_end;
static ExplainOneQuery_hook_type previous_explain;

/* An EXPLAIN VERBOSE that is being done, and what was decided when its query was planned. */
typedef struct Explained
{
	ExplainState *es;
	PlannedStmt *stmt;			/* The query's plan; NULL if it is not planned yet. */
	List	   *decisions;
	bool		with_filters;	/* True if the query was planned with join filters switched on. */
	List	   *sampled;
} Explained;

/* The EXPLAIN VERBOSE that is being done; NULL if there is none. */
static Explained *explained = NULL;

/* The samples of the query that is being planned; NULL if no query is. */
static Sampling *sampling = NULL;

/* Is called for each base relation of a query, before its rows are estimated. */
static void
size_base_rel(BLOOMFAM_BASE_REL_PARAMS)
{
	if (previous_base_rel != NULL)
		previous_base_rel(BLOOMFAM_BASE_REL_ARGS);
	if (bloomfam_join_filter != JOIN_FILTER_OFF && bloomfam_join_filter_plans)
		bloomfam_join_foreign_size(root, rel);
}

/*
 * Provides statistics of a column, before the planner looks for them itself.  Returns whether it
 * has any.
 */
static bool
find_column_stats(PlannerInfo *root, RangeTblEntry *rte, AttrNumber attribute,
				  VariableStatData *vardata)
{
	if (previous_column_stats != NULL && previous_column_stats(root, rte, attribute, vardata))
		return true;
	return bloomfam_join_filter != JOIN_FILTER_OFF && bloomfam_join_filter_plans &&
		   bloomfam_join_subquery_stats(root, rte, attribute, vardata);
}

static void
add_paths_with_filters(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
					   RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra)
{
	if (previous_join_paths != NULL)
		previous_join_paths(root, joinrel, outerrel, innerrel, jointype, extra);
	if (bloomfam_join_filter != JOIN_FILTER_OFF && bloomfam_join_filter_plans)
		bloomfam_join_add_paths(root, joinrel, outerrel, innerrel, jointype, extra);
}

/*
 * Sizes joins by samples, and then searches for a join order as the server would without this
 * module.
 */
static RelOptInfo *
search_join_order(PlannerInfo *root, int levels, List *initial_rels)
{
	if (bloomfam_join_samples && sampling != NULL)
		bloomfam_sampling_size_joins(root, initial_rels, sampling);
	if (previous_join_search != NULL)
		return previous_join_search(root, levels, initial_rels);
	if (enable_geqo && levels >= geqo_threshold)
		return geqo(root, levels, initial_rels);
	return standard_join_search(root, levels, initial_rels);
}

/* Plans a query, and sets *told to what came of the samples that were taken for it. */
static PlannedStmt *
plan_with_samples(BLOOMFAM_PLANNER_PARAMS, List **told)
{
	Sampling	own = SAMPLING_INIT;
	Sampling   *outer = sampling;
	/* The variable stmt is volatile because it is set within PG_TRY and read after it. */
	PlannedStmt *volatile stmt;

	/*
	 * Set the variable sampling even if samples are off: a function that is called during planning
	 * may switch them on or off.
	 */
	sampling = &own;
	PG_TRY();
	{
		stmt = previous_planner(BLOOMFAM_PLANNER_ARGS);
	}
	PG_FINALLY();
	{
		sampling = outer;
	}
	PG_END_TRY();
	*told = own.told;
	return stmt;
}

static PlannedStmt *
plan_with_filters(BLOOMFAM_PLANNER_PARAMS)
{
	bool		row_security = parse->hasRowSecurity;
	Explained  *awaited = explained != NULL && explained->stmt == NULL ? explained : NULL;
	List	   *decisions = NIL;
	List	   *sampled = NIL;
	PlannedStmt *stmt;

	/*
	 * Functions that are called during planning may plan queries, too, which are not the explained
	 * one.
	 */
	if (awaited != NULL)
		explained = NULL;
	stmt = plan_with_samples(BLOOMFAM_PLANNER_ARGS, &sampled);
	if (bloomfam_join_filter_log && sampled != NIL)
		bloomfam_sample_log(sampled);
	if (bloomfam_join_filter != JOIN_FILTER_OFF)
		decisions = bloomfam_join_plan(stmt, row_security || stmt->dependsOnRole);
	if (bloomfam_join_filter_log && decisions != NIL)
		bloomfam_join_log(stmt, decisions);
	if (awaited != NULL)
	{
		awaited->stmt = stmt;
		awaited->decisions = decisions;
		awaited->with_filters = bloomfam_join_filter != JOIN_FILTER_OFF;
		awaited->sampled = sampled;
		explained = awaited;
	}
	return stmt;
}

/* Connects the plan nodes that build join filters to the hash and merge joins that they serve. */
static bool
tie_filters(PlanState *node, void *context)
{
	PlanState  *build = NULL;

	if (node == NULL)
		return false;
	if (IsA(node, HashJoinState))
		build = outerPlanState(innerPlanState(node));
	else if (IsA(node, MergeJoinState))
		build = outerPlanState(outerPlanState(node));

	/*
	 * The nodes that build filters for a join are stacked on each other if several columns of the
	 * key have filters of their own.
	 */
	for (; build != NULL && bloomfam_join_node_kind(build->plan) == JOIN_NODE_BUILD;
		 build = outerPlanState(build))
		bloomfam_join_build_tie((JoinBuildState *) build, node);
	return planstate_tree_walker(node, tie_filters, context);
}

/*
 * Returns whether a plan has join filters.  Each filter has a parameter of a type that no other
 * parameter has.
 */
static inline bool
has_filters(const PlannedStmt *stmt)
{
	return list_member_oid(stmt->paramExecTypes, INTERNALOID);
}

static void
start_with_filters(QueryDesc *query, int eflags)
{
	previous_executor_start(query, eflags);
	if (has_filters(query->plannedstmt))
		tie_filters(query->planstate, NULL);
}

/*
 * Counts what the filters did.  For the plan that an EXPLAIN VERBOSE has just shown, also shows
 * what was decided about joins: EXPLAIN ends the executor before it ends its output for the query.
 */
static void
end_with_counts(QueryDesc *query)
{
	if (has_filters(query->plannedstmt))
		bloomfam_join_stat_count(query);
	if (explained != NULL && explained->stmt == query->plannedstmt &&
		explained->es->pstmt == query->plannedstmt)
	{
		if (explained->with_filters)
			bloomfam_join_explain_decisions(explained->stmt, explained->decisions, explained->es);
		bloomfam_sample_explain(explained->sampled, explained->es);
	}
	previous_executor_end(query);
}

/* Plans, runs and shows one query of an EXPLAIN. */
static void
explain_with_decisions(Query *query, int cursor_options, IntoClause *into, ExplainState *es,
					   const char *query_string, ParamListInfo params,
					   QueryEnvironment *environment)
{
	Explained	own = {.es = es};
	Explained  *outer = explained;

	explained = es->verbose ? &own : NULL;
	PG_TRY();
	{
		previous_explain(query, cursor_options, into, es, query_string, params, environment);
	}
	PG_FINALLY();
	{
		explained = outer;
	}
	PG_END_TRY();
}

void
bloomfam_hooks_init(void)
{
	/* True if the module is loaded before the session's first command, or in a parallel worker. */
	bool		in_time =
		process_shared_preload_libraries_in_progress || InitializingParallelWorker ||
		(debug_query_string == NULL && ActivePortal == NULL && !ActiveSnapshotSet());

	bloomfam_join_gucs_define(in_time);
	bloomfam_join_stat_init();
	bloomfam_join_node_register(JOIN_NODE_BUILD, bloomfam_join_build_create);
	bloomfam_join_node_register(JOIN_NODE_PROBE, bloomfam_join_probe_create);

	if (!in_time)
		return;
	previous_planner = planner_hook != NULL ? planner_hook : standard_planner;
	planner_hook = plan_with_filters;
	previous_base_rel = bloomfam_base_rel_hook;
	bloomfam_base_rel_hook = size_base_rel;
	previous_column_stats = get_relation_stats_hook;
	get_relation_stats_hook = find_column_stats;
	previous_join_paths = set_join_pathlist_hook;
	set_join_pathlist_hook = add_paths_with_filters;
	previous_join_search = join_search_hook;
	join_search_hook = search_join_order;
	previous_executor_start =
		ExecutorStart_hook != NULL ? ExecutorStart_hook : standard_ExecutorStart;
	ExecutorStart_hook = start_with_filters;
	previous_executor_end = ExecutorEnd_hook != NULL ? ExecutorEnd_hook : standard_ExecutorEnd;
	ExecutorEnd_hook = end_with_counts;
	previous_explain =
		ExplainOneQuery_hook != NULL ? ExplainOneQuery_hook : bloomfam_standard_explain;
	ExplainOneQuery_hook = explain_with_decisions;
}
