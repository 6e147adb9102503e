/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * probe.c
 *	  The node on the probe side, which drops rows whose keys are not in the filters of joins above.
 *
 * The node probes its child's rows one by one, unless heap_batch.c has taken over the child's scan
 * and drops rows before they become executor tuples.  Rows pass while a filter is not ready, or
 * disabled by the gate.  Filters that the query names (stored.c) are always probed, by
 * heap_batch.c.
 *
 * If the child's rows are of a partition in which no row can match (partition_pruning.c), the child
 * is not executed.  If it began to be executed before the build side came to its end, it returns no
 * more rows from then on.  Nobody waits for the build.
 *
 * There may be a thousand partitions with few rows each, and as many probe nodes; so what they all
 * need is prepared once for each filter.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/lsyscache.h"

#include "join/base/gucs.h"
#include "join/executor/heap_batch.h"
#include "join/filter/filter_copies.h"

/* Tells whether a row may have a match in the join, as far as one filter knows. */
static inline bool
row_may_join(const JoinProbe *probe, TupleTableSlot *slot)
{
	const JoinFilterProbe *filter_probe = &probe->filter->probe;
	/*
	 * The hash of the key's columns so far; if the filter is a bitmap or a range, the key itself as
	 * a number.
	 */
	uint64		hash = 0;
	int			i;

	for (i = 0; i < probe->ncolumns; i++)
	{
		bool		isnull;
		Datum		value = slot_getattr(slot, probe->attributes[i], &isnull);
		uint64		next;

		if (isnull)
			return false;
		if (bloomfam_join_takes_numbers(filter_probe))
			next = (uint64) bloomfam_join_number(probe->keys[i].typlen, value);
		else
			next = probe->keys[i].hash(&probe->keys[i], value);
		hash = i == 0 ? next : bloomfam_join_hash_combine(hash, next);
	}
	return bloomfam_join_may_contain(filter_probe, hash);
}

static TupleTableSlot *
exec_rows(PlanState *node)
{
	JoinProbeState *state = (JoinProbeState *) node;
	ExprContext *econtext = node->ps_ExprContext;

	for (;;)
	{
		TupleTableSlot *slot = state->batch != NULL ? bloomfam_join_heap_batch_exec(node)
												   : ExecProcNode(outerPlanState(node));
		MemoryContext old;
		bool		pass = true;
		int			i;

		if (TupIsNull(slot))
			return slot;
		ResetExprContext(econtext);
		old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		/*
		 * In page batches, heap_batch.c has already counted the row for the order of the filters.
		 */
		if (state->batch == NULL)
			bloomfam_join_probe_order_next(state->order, state->probes, 1);
		for (i = 0; i < state->nprobes && pass; i++)
		{
			JoinProbe  *probe = &state->probes[state->order->filters[i]];

			if (probe->access != JOIN_ROW_BY_ROW || !bloomfam_join_probe_awake(probe, 1))
				continue;
			pass = row_may_join(probe, slot);
			bloomfam_join_probe_count(probe, 1, !pass);
		}
		MemoryContextSwitchTo(old);
		if (pass)
			return slot;
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Returns the next row, as an ExecProcNode callback, while it is not known yet whether the
 * partition can match.  An answer holds until a rescan, as the join does not build again before
 * that, or builds from the same keys.
 */
static TupleTableSlot *
exec_partition(PlanState *node)
{
	JoinProbeState *state = (JoinProbeState *) node;
	bool		undecided = false;
	int			i;

	Assert(state->may_skip);
	for (i = 0; i < state->nprobes; i++)
	{
		JoinProbe  *probe = &state->probes[i];
		JoinReason	answer;

		if (probe->partition == NULL)
			continue;
		answer = bloomfam_join_partition_prune(probe->partition);
		if (answer == JOIN_NO_REASON && probe->all_or_none &&
			!bloomfam_join_filter_may_skip_all_or_none(probe->filter))
			answer = JOIN_SKIP_ALL_OR_NONE;
		probe->counts.scans += !state->begun;
		probe->counts.partition = answer;
		if (answer == JOIN_NO_REASON)
		{
			probe->counts.skipped++;
			state->begun = true;
			return NULL;
		}
		undecided |= answer == JOIN_SKIP_TOO_LATE;
	}
	state->begun = true;
	if (!undecided)
		ExecSetExecProcNode(node, state->exec);
	return state->exec(node);
}

/* Returns what the probe nodes of a filter share.  The first call allocates it. */
static JoinProbeGroup *
get_group(JoinFilter *filter)
{
	if (filter->group == NULL)
		filter->group =
			MemoryContextAllocZero(GetMemoryChunkContext(filter), sizeof(JoinProbeGroup));
	return filter->group;
}

/*
 * Prepares one filter of a probe node: how its key's columns are hashed, and the partition that it
 * may skip.
 */
static void
begin_filter(JoinProbeState *state, const JoinFilterInfo *info, JoinProbe *probe)
{
	CustomScan *plan = (CustomScan *) state->css.ss.ps.plan;
	EState	   *estate = state->css.ss.ps.state;
	int			i;

	probe->node = state;
	probe->info = info;
	probe->access = info->access;
	probe->all_or_none = info->all_or_none;
	probe->ncolumns = info->kind == JOIN_INFO_STORED ? 1 : info->ncolumns;
	probe->attributes = palloc(probe->ncolumns * sizeof(AttrNumber));
	if (info->kind == JOIN_INFO_STORED)
	{
		probe->stored = bloomfam_join_stored_make(&state->css,
												  list_nth(plan->custom_exprs, info->condition),
												  probe->attributes);
		probe->keys = &probe->stored->key;
	}
	else
	{
		JoinFilter *filter = probe->filter = bloomfam_join_filter_get(estate, info->param);
		JoinProbeGroup *group = get_group(filter);

		/* How keys are hashed is prepared once, by the first of the filter's probe nodes. */
		if (group->keys == NULL)
			group->keys = bloomfam_join_node_keys(info);
		probe->keys = group->keys;
		for (i = 0; i < info->ncolumns; i++)
		{
			Assert(probe->keys[i].collation == info->columns[i].collation);
			Assert(probe->keys[i].typlen == get_typlen(info->columns[i].type));
			probe->attributes[i] = info->columns[i].attribute;
		}
		if (info->ancestors != NIL && bloomfam_join_may_skip())
		{
			bloomfam_join_filter_keep(filter, info->ncolumns);
			probe->partition = bloomfam_join_partition_begin(estate, info, filter);
			group->probes = lappend(group->probes, probe);
			state->may_skip = true;
		}
	}
}

/*
 * Makes the probe nodes of a filter hash in one expression context, which each row resets.  A
 * context of its own would be most of a node's memory.  A node with a filter that the query names
 * keeps its own context, in which that filter is computed.
 */
static void
share_context(CustomScanState *css, JoinProbeGroup *group)
{
	PlanState  *node = &css->ss.ps;

	Assert(node->ps_ProjInfo == NULL && node->qual == NULL);
	Assert(node->state->es_epq_active == NULL);
	if (group->context == NULL)
		group->context = node->ps_ExprContext;
	if (group->context == node->ps_ExprContext)
		return;
	FreeExprContext(node->ps_ExprContext, false);
	node->ps_ExprContext = group->context;
}

static void
begin_probe(CustomScanState *css, EState *estate, int eflags)
{
	JoinProbeState *state = (JoinProbeState *) css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	int			n = bloomfam_join_nfilters(plan);
	bool		idle;
	int			i;

	Assert(n > 0);
	state->infos = bloomfam_join_filter_infos(plan);
	for (i = 0; i < n; i++)
		state->has_stored |= state->infos[i].kind == JOIN_INFO_STORED;

	/*
	 * EvalPlanQual reads a few rows again, which pass.  If bloomfam.join_filter is off, no filter
	 * of a join is ever ready.
	 */
	idle = !state->has_stored &&
		   (estate->es_epq_active != NULL || bloomfam_join_filter == JOIN_FILTER_OFF);
	if (!state->has_stored && !idle)
		share_context(css, get_group(bloomfam_join_filter_get(estate, state->infos[0].param)));
	bloomfam_join_node_begin(css, estate, eflags);
	if (idle)
		return;

	state->probes = palloc0(n * sizeof(JoinProbe));
	state->nprobes = n;
	for (i = 0; i < n; i++)
		begin_filter(state, &state->infos[i], &state->probes[i]);
	state->order = bloomfam_join_probe_order_make(state->probes, n);
	state->exec = exec_rows;
	bloomfam_join_heap_batch_init(state);
	css->ss.ps.ExecProcNode = state->may_skip ? exec_partition : state->exec;
}

static void
end_probe(CustomScanState *css)
{
	JoinProbeState *state = (JoinProbeState *) css;
	int			i;

	for (i = 0; i < state->nprobes; i++)
		bloomfam_join_node_leave_counts(&state->parallel, i,
										(JoinCounts) {.probe = state->probes[i].counts});
	ExecEndNode(outerPlanState(css));
}

static void
rescan_probe(CustomScanState *css)
{
	JoinProbeState *state = (JoinProbeState *) css;
	int			i;

	if (state->may_skip)
		ExecSetExecProcNode(&css->ss.ps, exec_partition);
	state->begun = false;
	for (i = 0; i < state->nprobes; i++)
	{
		if (state->probes[i].stored != NULL)
			bloomfam_join_stored_rescan(state->probes[i].stored);
		if (state->probes[i].blocks != NULL)
			bloomfam_join_block_pruning_forget(state->probes[i].blocks);
	}
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

/* ---- probe nodes below a Gather ---- */

/*
 * Leaves copies of the filters of joins above the Gather for the workers that are about to start.
 */
static void
leave_copies(JoinProbeState *state, JoinNodeDsm *dsm)
{
	int			i;

	for (i = 0; i < state->nprobes; i++)
		if (state->infos[i].from_leader)
			bloomfam_join_filter_leave_copy(state->probes[i].filter, &dsm->filters[i],
											state->css.ss.ps.state->es_query_dsa,
											state->probes[i].all_or_none);
}

static void
forget_copies(CustomScanState *css, JoinNodeDsm *dsm)
{
	JoinProbeState *state = (JoinProbeState *) css;
	int			i;

	Assert(dsm->nfilters == state->nprobes);
	for (i = 0; i < state->nprobes; i++)
		if (state->probes[i].filter != NULL)
			bloomfam_join_filter_forget_copy(state->probes[i].filter, &dsm->filters[i]);
}

static void
initialize_dsm(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	JoinProbeState *state = (JoinProbeState *) css;

	bloomfam_join_node_share(&state->parallel, css, pcxt, coordinate, JOIN_SHARED_COLLECTING,
							 state->nprobes > 0 ? forget_copies : NULL);
	leave_copies(state, coordinate);
}

static void
reinitialize_dsm(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	if (pcxt->seg != NULL)
		leave_copies((JoinProbeState *) css, coordinate);
}

static void
initialize_worker(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	JoinProbeState *state = (JoinProbeState *) css;
	JoinNodeDsm *dsm = coordinate;
	int			i;

	Assert(dsm->nfilters == state->nprobes || state->nprobes == 0);
	state->parallel.dsm = dsm;
	for (i = 0; i < state->nprobes; i++)
		if (bloomfam_join_shared_has_copy(&dsm->filters[i]))
			bloomfam_join_filter_tie(state->probes[i].filter, JOIN_FILTER_COPY, &dsm->filters[i],
									 css->ss.ps.state->es_query_dsa);
}

static const CustomExecMethods probe_exec_methods = {
	.CustomName = "Bloom Filter Probe",
	.BeginCustomScan = begin_probe,
	.ExecCustomScan = bloomfam_join_node_exec,
	.EndCustomScan = end_probe,
	.ReScanCustomScan = rescan_probe,
	.MarkPosCustomScan = mark_probe,
	.RestrPosCustomScan = restore_probe,
	.EstimateDSMCustomScan = bloomfam_join_node_estimate,
	.InitializeDSMCustomScan = initialize_dsm,
	.ReInitializeDSMCustomScan = reinitialize_dsm,
	.InitializeWorkerCustomScan = initialize_worker,
	.ExplainCustomScan = bloomfam_join_probe_explain,
};

Node *
bloomfam_join_probe_create(CustomScan *plan)
{
	JoinProbeState *state = (JoinProbeState *) newNode(sizeof(JoinProbeState), T_CustomScanState);

	state->css.methods = &probe_exec_methods;
	return (Node *) state;
}
