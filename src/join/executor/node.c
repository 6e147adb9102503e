/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * node.c
 *	  What build and probe nodes have in common: they return their child's rows, hash columns of
 *	  them, and share filters and counts with parallel workers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/shmem.h"

#include "join/executor/node.h"

void
bloomfam_join_node_begin(CustomScanState *css, EState *estate, int eflags)
{
	PlanState  *child = ExecInitNode(outerPlan(css->ss.ps.plan), estate, eflags);

	outerPlanState(css) = child;

	/*
	 * The node returns the very slots that its child returns, so it declares the child's kind of
	 * slot.
	 */
	css->ss.ps.resultops = ExecGetResultSlotOps(child, NULL);
	css->ss.ps.resultopsset = true;
	css->ss.ps.resultopsfixed = false;
}

TupleTableSlot *
bloomfam_join_node_exec(CustomScanState *css)
{
	return ExecProcNode(outerPlanState(css));
}

JoinForeignGot
bloomfam_join_node_foreign_got(const JoinProbe *probe)
{
	return bloomfam_join_foreign_got(probe->node->css.ss.ps.state, probe->info->foreign);
}

JoinKey *
bloomfam_join_node_keys(const JoinFilterInfo *info)
{
	JoinKey    *keys = palloc(info->ncolumns * sizeof(JoinKey));
	int			i;

	for (i = 0; i < info->ncolumns; i++)
	{
		const JoinColumnInfo *column = &info->columns[i];
		JoinHashSide side = {.type = column->type, .function = column->function};

		bloomfam_join_key_init(&keys[i], column->hashing, &side, column->collation);
	}
	return keys;
}

/* ---- sharing with workers ---- */

static inline JoinCounts *
counts_of_worker(JoinNodeDsm *dsm, int worker)
{
	return (JoinCounts *) &dsm->filters[dsm->nfilters] + worker * dsm->nfilters;
}

static void
add_counts(JoinCounts *sum, const JoinCounts *counts)
{
	sum->build.builds += counts->build.builds;
	sum->build.discarded += counts->build.discarded;
	sum->build.bitmaps += counts->build.bitmaps;
	sum->build.ranges += counts->build.ranges;
	sum->build.keys += counts->build.keys;
	sum->build.bytes += counts->build.bytes;
	sum->build.largest = Max(sum->build.largest, counts->build.largest);
	sum->build.memory = Max(sum->build.memory, counts->build.memory);
	sum->probe.tested += counts->probe.tested;
	sum->probe.removed += counts->probe.removed;
	sum->probe.not_checked += counts->probe.not_checked;
	sum->probe.scans += counts->probe.scans;
	sum->probe.skipped += counts->probe.skipped;
	sum->probe.partition = Max(sum->probe.partition, counts->probe.partition);
	sum->probe.pages += counts->probe.pages;
	sum->probe.pages_skipped += counts->probe.pages_skipped;
	sum->probe.index = Max(sum->probe.index, counts->probe.index);
	sum->probe.blocks = Max(sum->probe.blocks, counts->probe.blocks);
	sum->probe.disabled |= counts->probe.disabled;
}

static void
leave_segment(dsm_segment *segment, Datum arg)
{
	JoinParallel *parallel = (JoinParallel *) DatumGetPointer(arg);
	JoinNodeDsm *dsm = parallel->dsm;
	const JoinCounts *counts = counts_of_worker(dsm, 0);
	int			i;

	parallel->segment = NULL;
	parallel->dsm = NULL;
	if (parallel->counts == NULL)
	{
		parallel->nworkers = dsm->nworkers;
		parallel->nfilters = dsm->nfilters;
		parallel->counts =
			MemoryContextAllocZero(parallel->node->ss.ps.state->es_query_cxt,
								   dsm->nworkers * dsm->nfilters * sizeof(JoinCounts));
	}
	for (i = 0; i < Min(parallel->nworkers, dsm->nworkers) * dsm->nfilters; i++)
		add_counts(&parallel->counts[i], &counts[i]);
	parallel->left(parallel->node, dsm);
}

/*
 * Forgets the shared memory segment when the query's memory is freed while the segment still
 * exists, as happens after an error or when a cursor is closed.
 */
static void
forget_segment(void *arg)
{
	JoinParallel *parallel = arg;

	if (parallel->segment != NULL)
		cancel_on_dsm_detach(parallel->segment, leave_segment, PointerGetDatum(parallel));
	parallel->segment = NULL;
}

Size
bloomfam_join_node_estimate(CustomScanState *css, ParallelContext *pcxt)
{
	int			n = bloomfam_join_nfilters((CustomScan *) css->ss.ps.plan);
	Size		counts = mul_size(pcxt->nworkers, sizeof(JoinCounts));

	return add_size(offsetof(JoinNodeDsm, filters),
					mul_size(n, add_size(sizeof(JoinShared), counts)));
}

void
bloomfam_join_node_share(JoinParallel *parallel, CustomScanState *css, ParallelContext *pcxt,
						 void *coordinate, JoinSharedState state,
						 void (*left) (CustomScanState *, JoinNodeDsm *))
{
	JoinNodeDsm *dsm = coordinate;
	int			i;

	memset(dsm, 0, bloomfam_join_node_estimate(css, pcxt));
	dsm->nworkers = pcxt->nworkers;
	dsm->nfilters = bloomfam_join_nfilters((CustomScan *) css->ss.ps.plan);
	for (i = 0; i < dsm->nfilters; i++)
		bloomfam_join_shared_init(&dsm->filters[i], state);
	if (left == NULL || pcxt->seg == NULL)
		return;

	Assert(parallel->segment == NULL);
	parallel->dsm = dsm;
	parallel->segment = pcxt->seg;
	parallel->node = css;
	parallel->left = left;
	if (parallel->reset.func == NULL)
	{
		parallel->reset.func = forget_segment;
		parallel->reset.arg = parallel;
		MemoryContextRegisterResetCallback(css->ss.ps.state->es_query_cxt, &parallel->reset);
	}
	on_dsm_detach(pcxt->seg, leave_segment, PointerGetDatum(parallel));
}

void
bloomfam_join_node_leave_counts(const JoinParallel *parallel, int filter, JoinCounts counts)
{
	if (IsParallelWorker() && parallel->dsm != NULL)
		add_counts(counts_of_worker(parallel->dsm, ParallelWorkerNumber) + filter, &counts);
}

/*
 * Returns the sum of a node's own counts and its workers' counts of one filter, given by its number
 * in the node.
 */
static JoinCounts
sum_counts(const JoinParallel *parallel, int filter, JoinCounts counts)
{
	int			i;

	for (i = 0; i < parallel->nworkers; i++)
		add_counts(&counts, &parallel->counts[i * parallel->nfilters + filter]);
	return counts;
}

JoinBuildCounts
bloomfam_join_build_sum(const JoinBuildState *state)
{
	return sum_counts(&state->parallel, 0, (JoinCounts) {.build = state->filter->counts}).build;
}

JoinProbeCounts
bloomfam_join_probe_sum(const JoinProbe *probe)
{
	const JoinProbeState *node = probe->node;

	return sum_counts(&node->parallel, probe - node->probes,
					  (JoinCounts) {.probe = probe->counts}).probe;
}
