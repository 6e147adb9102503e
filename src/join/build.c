/*-------------------------------------------------------------------------
 *
 * build.c
 *	  The node on top of a hash join's build side: remembers the hashes of the keys that go by.
 *
 * It hands its child's rows on as they are.  When they end, the filter is made, and tied to the
 * hash table that the join is about to probe.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "utils/memutils.h"

#include "join/join.h"

/* Adds the row's key, unless a column of it is NULL: that equals nothing. */
static void
add_row(JoinBuildState *state, TupleTableSlot *slot)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	MemoryContext old;
	uint64		hash = 0;
	int			i;

	ResetExprContext(econtext);
	econtext->ecxt_outertuple = slot;
	old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	for (i = 0; i < state->ncolumns; i++)
	{
		Datum		value;
		bool		isnull;
		uint64		next;

		if (state->attributes[i] != 0)
			value = slot_getattr(slot, state->attributes[i], &isnull);
		else
			value = ExecEvalExpr(state->expressions[i], econtext, &isnull);
		if (isnull)
			break;
		if (state->foreign != NULL && state->foreign[i] != NULL)
			bloomfam_join_foreign_add(state->foreign[i], value);
		next = state->keys[i].hash(&state->keys[i], value);
		hash = i == 0 ? next : bloomfam_join_hash_combine(hash, next);
	}
	MemoryContextSwitchTo(old);
	if (i == state->ncolumns)
		bloomfam_join_filter_add(state->filter, hash);
}

/* Does something with each filter that travels. */
static void
for_each_foreign(JoinBuildState *state, void (*action) (JoinForeign *foreign))
{
	int			i;

	for (i = 0; state->foreign != NULL && i < state->ncolumns; i++)
		if (state->foreign[i] != NULL)
			action(state->foreign[i]);
}

void
bloomfam_join_build_tie_foreign(JoinBuildState *state, PlanState *probe_side)
{
	int			i;

	for (i = 0; state->foreign != NULL && i < state->ncolumns; i++)
		if (state->foreign[i] != NULL)
			bloomfam_join_foreign_tie(state->foreign[i], probe_side);
}

static TupleTableSlot *
exec_build(PlanState *node)
{
	JoinBuildState *state = (JoinBuildState *) node;
	TupleTableSlot *slot = ExecProcNode(outerPlanState(node));

	if (state->phase == JOIN_BUILD_ENDED)
		return slot;
	if (state->phase == JOIN_BUILD_FRESH)
	{
		bloomfam_join_filter_begin(state->filter);
		state->phase = JOIN_BUILD_READING;
	}
	if (TupIsNull(slot))
	{
		bloomfam_join_filter_finish(state->filter);
		for_each_foreign(state, bloomfam_join_foreign_finish);
		state->phase = JOIN_BUILD_ENDED;
	}
	else if (!state->filter->abandoned || state->foreign != NULL)
		add_row(state, slot);
	return slot;
}

/* Begins the filters that travel, if there are any. */
static void
begin_foreign(JoinBuildState *state, EState *estate)
{
	List	   *private = ((CustomScan *) state->css.ss.ps.plan)->custom_private;
	int			i;

	if (list_length(private) < 2)
		return;
	state->foreign = palloc0(state->ncolumns * sizeof(JoinForeign *));
	for (i = 0; i < state->ncolumns; i++)
	{
		int			param = list_nth_int(lsecond(private), 2 * i);

		if (param >= 0)
			state->foreign[i] = bloomfam_join_foreign_begin(estate, param);
	}
}

static void
begin_build(CustomScanState *css, EState *estate, int eflags)
{
	JoinBuildState *state = (JoinBuildState *) css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	List	   *spec = linitial(plan->custom_private);
	int			expression = 0;
	int			i;

	bloomfam_join_node_begin(css, estate, eflags);
	state->ncolumns = bloomfam_join_spec_ncolumns(spec);
	begin_foreign(state, estate);

	/* EvalPlanQual asks for a few rows again, of which some are known to join */
	if (estate->es_epq_active != NULL || bloomfam_join_filter == JOIN_FILTER_OFF)
		return;

	state->filter = bloomfam_join_filter_get(estate, list_nth_int(spec, JOIN_SPEC_PARAM));
	state->shared = bloomfam_join_spec_is_shared(spec);
	bloomfam_join_builds_begun++;
	bloomfam_join_node_columns(spec, false, &state->keys, &state->attributes);
	state->expressions = palloc0(state->ncolumns * sizeof(ExprState *));
	for (i = 0; i < state->ncolumns; i++)
	{
		if (state->attributes[i] == 0)
			state->expressions[i] =
				ExecInitExpr(list_nth(plan->custom_exprs, expression++), &css->ss.ps);
		if (state->foreign != NULL && state->foreign[i] != NULL)
			bloomfam_join_foreign_enable(state->foreign[i],
										 list_nth_int(lsecond(plan->custom_private), 2 * i + 1),
										 bloomfam_join_spec_column(spec, i, JOIN_COLUMN_COLLATION));
	}
	css->ss.ps.ExecProcNode = exec_build;
}

static void
end_build(CustomScanState *css)
{
	bloomfam_join_build_end_worker((JoinBuildState *) css);
	ExecEndNode(outerPlanState(css));
}

static void
rescan_build(CustomScanState *css)
{
	JoinBuildState *state = (JoinBuildState *) css;

	state->phase = JOIN_BUILD_FRESH;
	if (state->filter != NULL)
		state->filter->complete = false;
	for_each_foreign(state, bloomfam_join_foreign_reset);
	if (outerPlanState(css)->chgParam == NULL)
		ExecReScan(outerPlanState(css));
}

static const CustomExecMethods build_exec_methods = {
	.CustomName = "Bloom Filter Build",
	.BeginCustomScan = begin_build,
	.ExecCustomScan = bloomfam_join_node_exec,
	.EndCustomScan = end_build,
	.ReScanCustomScan = rescan_build,
	.EstimateDSMCustomScan = bloomfam_join_build_estimate,
	.InitializeDSMCustomScan = bloomfam_join_build_initialize,
	.ReInitializeDSMCustomScan = bloomfam_join_build_reinitialize,
	.InitializeWorkerCustomScan = bloomfam_join_build_initialize_worker,
	.ExplainCustomScan = bloomfam_join_build_explain,
};

static Node *
create_build(CustomScan *plan)
{
	JoinBuildState *state = (JoinBuildState *) newNode(sizeof(JoinBuildState), T_CustomScanState);

	state->css.methods = &build_exec_methods;
	return (Node *) state;
}

const CustomScanMethods bloomfam_join_build_methods = {
	.CustomName = "Bloom Filter Build",
	.CreateCustomScanState = create_build,
};
