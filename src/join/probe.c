/*-------------------------------------------------------------------------
 *
 * probe.c
 *	  The node on the probe side: drops rows whose keys are not in the filters of joins above.
 *
 * It looks at its child's rows one by one, unless page.c has taken over the child's scan and
 * drops them before they become rows.  Rows pass while a filter is not ready, and while it does
 * not pay; but for the filters of conditions (stored.c), which are always page.c's to ask.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "join/join.h"
#include "pg/env.h"

/* The share of rows that a filter must drop to be worth a look at each row, one by one. */
#define WORTH_OF_ROWS		0.25

#define LONGEST_PAUSE		(JOIN_PAUSE_ROWS * 64)

void
bloomfam_join_probe_count(JoinProbe *probe, uint64 tested, uint64 dropped, double worth)
{
	probe->counts.tested += tested;
	probe->counts.dropped += dropped;
	probe->sample_tested += tested;
	probe->sample_dropped += dropped;
	if (probe->sample_tested < JOIN_SAMPLE_ROWS)
		return;
	if (probe->sample_dropped < worth * probe->sample_tested &&
		bloomfam_join_filter != JOIN_FILTER_FORCE)
	{
		probe->last_pause = Min(Max(probe->last_pause * 2, JOIN_PAUSE_ROWS), LONGEST_PAUSE);
		probe->pause = probe->last_pause;
	}
	else
		probe->last_pause = 0;
	probe->sample_tested = probe->sample_dropped = 0;
}

JoinProbeCounts
bloomfam_join_probe_counts(const JoinProbe *probe)
{
	JoinProbeCounts counts = probe->counts;
	BfStats		stats;

	counts.switched_off = probe->pause > 0;
	if (probe->filter != NULL && probe->filter->complete)
	{
		bf_stats(&bloomfam_env, &probe->filter->view, &stats);
		counts.fpr = stats.fpr;
	}
	return counts;
}

/* May this row join, as far as one filter knows? */
static inline bool
row_may_join(const JoinProbe *probe, TupleTableSlot *slot)
{
	uint64		hash = 0;
	int			i;

	for (i = 0; i < probe->ncolumns; i++)
	{
		bool		isnull;
		Datum		value = slot_getattr(slot, probe->attributes[i], &isnull);
		uint64		next;

		if (isnull)
			return false;
		next = probe->keys[i].hash(&probe->keys[i], value);
		hash = i == 0 ? next : bloomfam_join_hash_combine(hash, next);
	}
	return probe->filter->probe(&probe->filter->view, hash);
}

static TupleTableSlot *
exec_rows(PlanState *node)
{
	JoinProbeState *state = (JoinProbeState *) node;
	ExprContext *econtext = node->ps_ExprContext;

	for (;;)
	{
		TupleTableSlot *slot = state->page != NULL ? bloomfam_join_page_exec(node)
												   : ExecProcNode(outerPlanState(node));
		MemoryContext old;
		bool		pass = true;
		int			i;

		if (TupIsNull(slot))
			return slot;
		ResetExprContext(econtext);
		old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		for (i = 0; i < state->nprobes && pass; i++)
		{
			JoinProbe  *probe = &state->probes[i];

			if (probe->stored != NULL || !bloomfam_join_probe_awake(probe, 1))
				continue;
			pass = row_may_join(probe, slot);
			bloomfam_join_probe_count(probe, 1, !pass, WORTH_OF_ROWS);
		}
		MemoryContextSwitchTo(old);
		if (pass)
			return slot;
		CHECK_FOR_INTERRUPTS();
	}
}

static void
begin_probe(CustomScanState *css, EState *estate, int eflags)
{
	JoinProbeState *state = (JoinProbeState *) css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	bool		conditions = false;
	ListCell   *lc;

	foreach(lc, plan->custom_private)
		conditions |= list_nth_int(lfirst(lc), JOIN_SPEC_PARAM) == JOIN_SPEC_STORED;
	bloomfam_join_node_begin(css, estate, eflags);

	/*
	 * EvalPlanQual asks for a few rows again, and they pass; with the setting off, no filter of a
	 * join is ever ready
	 */
	if (!conditions && (estate->es_epq_active != NULL || bloomfam_join_filter == JOIN_FILTER_OFF))
		return;

	state->probes = palloc0(list_length(plan->custom_private) * sizeof(JoinProbe));
	foreach(lc, plan->custom_private)
	{
		List	   *spec = lfirst(lc);
		JoinProbe  *probe = &state->probes[state->nprobes++];

		if (list_nth_int(spec, JOIN_SPEC_PARAM) == JOIN_SPEC_STORED)
		{
			bloomfam_join_stored_init(probe, css, spec);
			continue;
		}
		probe->filter = bloomfam_join_filter_get(estate, list_nth_int(spec, JOIN_SPEC_PARAM));
		probe->ncolumns = bloomfam_join_spec_ncolumns(spec);
		bloomfam_join_node_columns(spec, true, &probe->keys, &probe->attributes);
	}
	state->by_rows = true;
	state->page = bloomfam_join_page_init(state);
	css->ss.ps.ExecProcNode = state->by_rows ? exec_rows : bloomfam_join_page_exec;
}

static void
end_probe(CustomScanState *css)
{
	bloomfam_join_probe_end_worker((JoinProbeState *) css);
	ExecEndNode(outerPlanState(css));
}

static void
rescan_probe(CustomScanState *css)
{
	JoinProbeState *state = (JoinProbeState *) css;
	int			i;

	for (i = 0; i < state->nprobes; i++)
		if (state->probes[i].stored != NULL)
			bloomfam_join_stored_rescan(state->probes[i].stored);
	if (outerPlanState(css)->chgParam == NULL)
		ExecReScan(outerPlanState(css));
}

static void
mark_probe(CustomScanState *css)
{
	ExecMarkPos(outerPlanState(css));
}

static void
restore_probe(CustomScanState *css)
{
	ExecRestrPos(outerPlanState(css));
}

/* A shared filter goes with the query's shared memory, before EXPLAIN looks at it. */
static void
shutdown_probe(CustomScanState *css)
{
	JoinProbeState *state = (JoinProbeState *) css;
	int			i;

	for (i = 0; i < state->nprobes && css->ss.ps.instrument != NULL; i++)
		state->probes[i].counts = bloomfam_join_probe_counts(&state->probes[i]);
}

static const CustomExecMethods probe_exec_methods = {
	.CustomName = "Bloom Filter Probe",
	.BeginCustomScan = begin_probe,
	.ExecCustomScan = bloomfam_join_node_exec,
	.EndCustomScan = end_probe,
	.ReScanCustomScan = rescan_probe,
	.MarkPosCustomScan = mark_probe,
	.RestrPosCustomScan = restore_probe,
	.EstimateDSMCustomScan = bloomfam_join_probe_estimate,
	.InitializeDSMCustomScan = bloomfam_join_probe_initialize,
	.ReInitializeDSMCustomScan = bloomfam_join_probe_reinitialize,
	.InitializeWorkerCustomScan = bloomfam_join_probe_initialize_worker,
	.ShutdownCustomScan = shutdown_probe,
	.ExplainCustomScan = bloomfam_join_probe_explain,
};

static Node *
create_probe(CustomScan *plan)
{
	JoinProbeState *state = (JoinProbeState *) newNode(sizeof(JoinProbeState), T_CustomScanState);

	state->css.methods = &probe_exec_methods;
	return (Node *) state;
}

const CustomScanMethods bloomfam_join_probe_methods = {
	.CustomName = "Bloom Filter Probe",
	.CreateCustomScanState = create_probe,
};
