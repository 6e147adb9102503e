/*-------------------------------------------------------------------------
 *
 * node.c
 *	  What the nodes of both sides have in common: they hand on their child's rows, hash columns of
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

	/* the child's own slots go through */
	css->ss.ps.resultops = ExecGetResultSlotOps(child, NULL);
	css->ss.ps.resultopsset = true;
	css->ss.ps.resultopsfixed = false;
}

TupleTableSlot *
bloomfam_join_node_exec(CustomScanState *css)
{
	return ExecProcNode(outerPlanState(css));
}

bool
bloomfam_join_node_was_foreign(const JoinProbe *probe)
{
	const EState *estate = probe->node->css.ss.ps.state;
	int			i;

	for (i = 0; i < probe->info->ncolumns; i++)
	{
		int			param = probe->info->columns[i].foreign_param;

		if (param >= 0 && bloomfam_join_foreign_size(estate, param) > 0)
			return true;
	}
	return false;
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

/* ---- in the part of a plan that workers run ---- */

static inline JoinCounts *
counts_of_worker(JoinNodeDsm *dsm, int worker)
{
	return (JoinCounts *) &dsm->filters[dsm->nfilters] + worker * dsm->nfilters;
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
		parallel->counts =
			MemoryContextAllocZero(parallel->node->ss.ps.state->es_query_cxt,
								   dsm->nworkers * dsm->nfilters * sizeof(JoinCounts));
	}
	for (i = 0; i < Min(parallel->nworkers, dsm->nworkers) * dsm->nfilters; i++)
	{
		bloomfam_join_build_counts_add(&parallel->counts[i].build, &counts[i].build);
		bloomfam_join_probe_counts_add(&parallel->counts[i].probe, &counts[i].probe);
	}
	parallel->left(parallel->node, dsm);
}

/* The query's state is freed before the shared memory: after an error, or by CLOSE. */
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

JoinCounts *
bloomfam_join_node_worker_counts(const JoinParallel *parallel)
{
	if (!IsParallelWorker() || parallel->dsm == NULL)
		return NULL;
	return counts_of_worker(parallel->dsm, ParallelWorkerNumber);
}

JoinBuildCounts
bloomfam_join_build_sum(const JoinBuildState *state)
{
	JoinBuildCounts sum = state->filter->counts;
	int			i;

	for (i = 0; i < state->parallel.nworkers; i++)
		bloomfam_join_build_counts_add(&sum, &state->parallel.counts[i].build);
	return sum;
}

JoinProbeCounts
bloomfam_join_probe_sum(const JoinProbe *probe)
{
	const JoinProbeState *node = probe->node;
	JoinProbeCounts sum = probe->counts;
	int			i;

	for (i = probe - node->probes; i < node->parallel.nworkers * node->nprobes; i += node->nprobes)
		bloomfam_join_probe_counts_add(&sum, &node->parallel.counts[i].probe);
	return sum;
}
