/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * build.c
 *	  The node on top of a join's build side, which collects the keys of the rows that it returns.
 *
 * The node returns its child's rows unchanged.  When they end, it makes the filter, and ties it to
 * the hash table that the join is about to probe, or to the sorted rows that it is about to merge.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "join/base/gucs.h"
#include "join/executor/node.h"
#include "pg/server_structs.h"

/*
 * Adds a row's key to the filter and to what foreign scans are sent.  A key with a NULL in it is
 * not added to the filter, as NULL equals nothing.
 */
static void
add_row(JoinBuildState *state, TupleTableSlot *slot)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	JoinFilter *filter = state->filter;
	const JoinColumnInfo *column = state->info->columns;
	const JoinKey *key = state->keys;
	int			n = state->info->ncolumns;
	MemoryContext old;
	/*
	 * The hash of the key's columns so far; if the filter is of_numbers, the key itself as a
	 * number.
	 */
	uint64		hash = 0;
	int			i;

	ResetExprContext(econtext);
	econtext->ecxt_outertuple = slot;
	old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	for (i = 0; i < n; i++, column++, key++)
	{
		Datum		value;
		bool		isnull;
		uint64		next;

		if (column->attribute != 0)
			value = slot_getattr(slot, column->attribute, &isnull);
		else
			value = ExecEvalExpr(state->expressions[i], econtext, &isnull);
		if (isnull)
			break;
		if (state->foreign_of[i] != NULL)
			bloomfam_join_foreign_add(state->foreign_of[i], value);
		if (key->integer)
		{
			state->numbers[i] = bloomfam_join_number(key->typlen, value);
			next = (uint64) state->numbers[i];
			if (!filter->of_numbers)
				next = bf_hash_u64(next);
		}
		else
			next = key->hash(key, value);
		hash = i == 0 ? next : bloomfam_join_hash_combine(hash, next);
	}
	MemoryContextSwitchTo(old);
	if (i == n)
		bloomfam_join_filter_add(filter, hash, state->numbers);
}

void
bloomfam_join_build_tie(JoinBuildState *state, PlanState *join)
{
	bool		is_hash_join = IsA(join, HashJoinState);
	ListCell   *lc;

	/*
	 * The plan of a subquery is visited once for each expression that refers to it, so the build
	 * node may be tied to the join already.
	 */
	if (state->filter == NULL || state->filter->join == join)
		return;
	Assert(state->filter->join == NULL);
	state->filter->join = join;
	state->filter->kept = bloomfam_join_build_kept(join);
	foreach(lc, state->foreign)
		bloomfam_join_foreign_tie(lfirst(lc),
								  is_hash_join ? outerPlanState(join) : innerPlanState(join));

	/*
	 * By default a hash join may fetch the first row of the probe side before it builds its hash
	 * table, to save building if there is no such row.  That row would come too early to be probed.
	 */
	if (is_hash_join && state->info->build_first)
		bloomfam_hash_join_build_first((HashJoinState *) join);
}

static TupleTableSlot *
exec_build(PlanState *node)
{
	JoinBuildState *state = (JoinBuildState *) node;
	TupleTableSlot *slot = ExecProcNode(outerPlanState(node));
	ListCell   *lc;

	Assert(state->filter != NULL);
	if (state->ended)
		return slot;
	if (TupIsNull(slot))
	{
		bloomfam_join_filter_finish(state->filter);
		foreach(lc, state->foreign)
			bloomfam_join_foreign_finish(lfirst(lc));
		state->ended = true;
	}
	else if (state->filter->state != JOIN_FILTER_DISCARDED || state->foreign != NIL ||
			 state->filter->ncolumns > 0)
		add_row(state, slot);
	return slot;
}

static void
begin_build(CustomScanState *css, EState *estate, int eflags)
{
	JoinBuildState *state = (JoinBuildState *) css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	const JoinFilterInfo *info;
	ListCell   *lc;
	int			i;

	bloomfam_join_node_begin(css, estate, eflags);
	info = state->info = bloomfam_join_filter_infos(plan);
	state->foreign_of = palloc0(info->ncolumns * sizeof(JoinForeign *));
	foreach(lc, info->foreign)
	{
		i = ((const JoinForeignInfo *) lfirst(lc))->column;
		if (state->foreign_of[i] != NULL)
			continue;
		state->foreign_of[i] =
			bloomfam_join_foreign_begin(estate, info->foreign, i, info->columns[i].collation);
		state->foreign = lappend(state->foreign, state->foreign_of[i]);
	}

	/* EvalPlanQual rechecks few rows, most of which join, so that a filter would not pay. */
	if (estate->es_epq_active != NULL || bloomfam_join_filter == JOIN_FILTER_OFF)
		return;

	state->filter = bloomfam_join_filter_get(estate, info->param);
	state->keys = bloomfam_join_node_keys(info);
	state->numbers = palloc(info->ncolumns * sizeof(int64));
	state->expressions = palloc0(info->ncolumns * sizeof(ExprState *));
	for (i = 0; i < info->ncolumns; i++)
	{
		const JoinColumnInfo *column = &info->columns[i];

		if (column->attribute == 0)
			state->expressions[i] =
				ExecInitExpr(list_nth(plan->custom_exprs, column->expression), &css->ss.ps);
		bloomfam_join_filter_collect(state->filter, info->ncolumns, i, &state->keys[i],
									 column->type, column->kept && bloomfam_join_may_skip());
	}
	css->ss.ps.ExecProcNode = exec_build;
}

static void
end_build(CustomScanState *css)
{
	JoinBuildState *state = (JoinBuildState *) css;
	ListCell   *lc;

	foreach(lc, state->foreign)
		bloomfam_join_foreign_end(lfirst(lc));
	if (state->filter != NULL)
		bloomfam_join_node_leave_counts(&state->parallel, 0,
										(JoinCounts) {.build = state->filter->counts});
	ExecEndNode(outerPlanState(css));
}

static void
rescan_build(CustomScanState *css)
{
	JoinBuildState *state = (JoinBuildState *) css;
	ListCell   *lc;

	state->ended = false;
	if (state->filter != NULL)
		bloomfam_join_filter_restart(state->filter);
	foreach(lc, state->foreign)
		bloomfam_join_foreign_reset(lfirst(lc));
	if (outerPlanState(css)->chgParam == NULL)
		ExecReScan(outerPlanState(css));
}

/* ---- build nodes below a Parallel Hash ---- */

/*
 * Returns the initial state of the shared filter.  If the leader has no filter, no process may make
 * one.
 */
static JoinSharedState
state_to_begin(const JoinBuildState *state)
{
	return state->filter != NULL ? JOIN_SHARED_COLLECTING : JOIN_SHARED_DISCARDED;
}

/*
 * Makes this process a participant in building the shared filter.  The leader calls it each time
 * that workers are about to start.
 */
static void
participate(JoinBuildState *state, JoinNodeDsm *dsm)
{
	if (state->filter != NULL && state->info->parallel_hash)
		bloomfam_join_filter_tie(state->filter, JOIN_FILTER_PARTICIPANT, &dsm->filters[0],
								 state->css.ss.ps.state->es_query_dsa);
}

static void
stop_sharing(CustomScanState *css, JoinNodeDsm *dsm)
{
	JoinFilter *filter = ((JoinBuildState *) css)->filter;

	if (filter->role == JOIN_FILTER_PARTICIPANT)
		bloomfam_join_filter_tie(filter, JOIN_FILTER_PRIVATE, NULL, NULL);
}

static void
initialize_dsm(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	JoinBuildState *state = (JoinBuildState *) css;

	bloomfam_join_node_share(&state->parallel, css, pcxt, coordinate, state_to_begin(state),
							 state->filter != NULL ? stop_sharing : NULL);
	participate(state, coordinate);
}

static void
reinitialize_dsm(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	JoinBuildState *state = (JoinBuildState *) css;
	JoinNodeDsm *dsm = coordinate;

	if (pcxt->seg == NULL)
		return;
	bloomfam_join_shared_reset(&dsm->filters[0], css->ss.ps.state->es_query_dsa,
							   state_to_begin(state));
	participate(state, dsm);
}

static void
initialize_worker(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	JoinBuildState *state = (JoinBuildState *) css;
	JoinNodeDsm *dsm = coordinate;

	/*
	 * The worker has no filter if bloomfam.join_filter was changed since the leader began.  The
	 * keys of this worker would then be missing, so the filter is refused.  If the worker takes
	 * part in the build, no process can have finished the filter yet.
	 */
	if (state->filter == NULL)
		bloomfam_join_shared_refuse(&dsm->filters[0]);
	else
		state->parallel.dsm = dsm;
	participate(state, dsm);
}

static const CustomExecMethods build_exec_methods = {
	.CustomName = "Bloom Filter Build",
	.BeginCustomScan = begin_build,
	.ExecCustomScan = bloomfam_join_node_exec,
	.EndCustomScan = end_build,
	.ReScanCustomScan = rescan_build,
	.EstimateDSMCustomScan = bloomfam_join_node_estimate,
	.InitializeDSMCustomScan = initialize_dsm,
	.ReInitializeDSMCustomScan = reinitialize_dsm,
	.InitializeWorkerCustomScan = initialize_worker,
	.ExplainCustomScan = bloomfam_join_build_explain,
};

Node *
bloomfam_join_build_create(CustomScan *plan)
{
	JoinBuildState *state = (JoinBuildState *) newNode(sizeof(JoinBuildState), T_CustomScanState);

	state->css.methods = &build_exec_methods;
	return (Node *) state;
}
