/*-------------------------------------------------------------------------
 *
 * dsm.c
 *	  Nodes in the part of a plan that workers run: what they have in dynamic shared memory.
 *
 * A build node below a Parallel Hash has the filter that its participants build together; a probe
 * node below a Gather has the workers' copies of the filters of joins above it.  Both have the
 * workers' counts.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "storage/shmem.h"

#include "join/executor/dsm.h"

/* Of a build node. */
struct JoinBuildDsm
{
	JoinShared	filter;
	int			nworkers;
	JoinBuildCounts workers[FLEXIBLE_ARRAY_MEMBER];
};

/* Of a probe node with nprobes filters. */
struct JoinProbeDsm
{
	int			nworkers;
	int			nprobes;
	JoinShared	filters[FLEXIBLE_ARRAY_MEMBER]; /* the leader's copies */
	/* then JoinProbeCounts, nprobes for each worker */
};

static inline JoinProbeCounts *
counts_of_probes(JoinProbeDsm *dsm)
{
	return (JoinProbeCounts *) &dsm->filters[dsm->nprobes];
}

/* The query's state is freed before the shared memory: after an error, or by CLOSE. */
static void
forget_segment(void *arg)
{
	JoinSegment *segment = arg;

	if (segment->seg != NULL)
		cancel_on_dsm_detach(segment->seg, segment->left, PointerGetDatum(segment->state));
	segment->seg = NULL;
}

/*
 * Lets left(state) be called when the leader detaches: then the workers have ended, and what they
 * wrote there can still be read.
 */
static void
watch_segment(JoinSegment *segment, dsm_segment *seg, on_dsm_detach_callback left,
			  CustomScanState *state)
{
	Assert(segment->seg == NULL);
	Assert(segment->state == NULL || segment->state == state);
	if (segment->state == NULL)
	{
		segment->left = left;
		segment->state = state;
		segment->reset.func = forget_segment;
		segment->reset.arg = segment;
		MemoryContextRegisterResetCallback(state->ss.ps.state->es_query_cxt, &segment->reset);
	}
	segment->seg = seg;
	on_dsm_detach(seg, left, PointerGetDatum(state));
}

/* ---- build nodes ---- */

Size
bloomfam_join_build_estimate(CustomScanState *css, ParallelContext *pcxt)
{
	return add_size(offsetof(JoinBuildDsm, workers),
					mul_size(pcxt->nworkers, sizeof(JoinBuildCounts)));
}

/* Where the leader has no filter, nobody is to make one. */
static JoinSharedState
state_to_begin(const JoinBuildState *state)
{
	return state->filter != NULL ? JOIN_SHARED_COLLECTING : JOIN_SHARED_DISCARDED;
}

/*
 * Prepares a participant's build node, in the leader each time that workers are about to start.
 */
static void
start_build(JoinBuildState *state, JoinShared *shared)
{
	if (state->filter == NULL || !state->info->parallel_hash)
		return;
	bloomfam_join_filter_tie(state->filter, JOIN_FILTER_PARTICIPANT, shared,
							 state->css.ss.ps.state->es_query_dsa);
}

static void
left_build(dsm_segment *seg, Datum arg)
{
	JoinBuildState *state = (JoinBuildState *) DatumGetPointer(arg);
	JoinBuildDsm *dsm = state->dsm;
	JoinFilter *filter = state->filter;
	int			i;

	state->segment.seg = NULL;
	state->dsm = NULL;
	if (state->workers == NULL)
	{
		state->nworkers = dsm->nworkers;
		state->workers = MemoryContextAllocZero(state->css.ss.ps.state->es_query_cxt,
												dsm->nworkers * sizeof(JoinBuildCounts));
	}
	for (i = 0; i < Min(state->nworkers, dsm->nworkers); i++)
		bloomfam_join_build_counts_add(&state->workers[i], &dsm->workers[i]);
	if (filter->role == JOIN_FILTER_PARTICIPANT)
		bloomfam_join_filter_tie(filter, JOIN_FILTER_PRIVATE, NULL, NULL);
}

void
bloomfam_join_build_initialize(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	JoinBuildState *state = (JoinBuildState *) css;
	JoinBuildDsm *dsm = coordinate;

	memset(dsm, 0, bloomfam_join_build_estimate(css, pcxt));
	dsm->nworkers = pcxt->nworkers;
	bloomfam_join_shared_init(&dsm->filter, state_to_begin(state));
	start_build(state, &dsm->filter);
	if (state->filter != NULL && pcxt->seg != NULL)
	{
		state->dsm = dsm;
		watch_segment(&state->segment, pcxt->seg, left_build, css);
	}
}

void
bloomfam_join_build_reinitialize(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	JoinBuildState *state = (JoinBuildState *) css;
	JoinBuildDsm *dsm = coordinate;

	if (pcxt->seg == NULL)
		return;
	bloomfam_join_shared_reset(&dsm->filter, css->ss.ps.state->es_query_dsa,
							   state_to_begin(state));
	start_build(state, &dsm->filter);
}

void
bloomfam_join_build_initialize_worker(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	JoinBuildState *state = (JoinBuildState *) css;
	JoinBuildDsm *dsm = coordinate;

	if (state->filter == NULL)
	{
		/*
		 * bloomfam.join_filter was changed since the leader began.  Keys of this worker would be
		 * missing: if it takes part in the build, nobody has finished the filter yet.
		 */
		bloomfam_join_shared_refuse(&dsm->filter);
		return;
	}
	state->dsm = dsm;
	start_build(state, &dsm->filter);
}

void
bloomfam_join_build_end_worker(JoinBuildState *state)
{
	if (IsParallelWorker() && state->dsm != NULL)
		bloomfam_join_build_counts_add(&state->dsm->workers[ParallelWorkerNumber],
									   &state->filter->counts);
}

/* ---- probe nodes ---- */

Size
bloomfam_join_probe_estimate(CustomScanState *css, ParallelContext *pcxt)
{
	Size		nprobes = bloomfam_join_nfilters((CustomScan *) css->ss.ps.plan);

	return add_size(offsetof(JoinProbeDsm, filters),
					add_size(mul_size(nprobes, sizeof(JoinShared)),
							 mul_size(mul_size(nprobes, pcxt->nworkers), sizeof(JoinProbeCounts))));
}

static void
left_probe(dsm_segment *seg, Datum arg)
{
	JoinProbeState *state = (JoinProbeState *) DatumGetPointer(arg);
	JoinProbeDsm *dsm = state->dsm;
	JoinProbeCounts *counts = counts_of_probes(dsm);
	int			i;

	Assert(dsm->nprobes == state->nprobes);
	state->segment.seg = NULL;
	state->dsm = NULL;
	if (state->workers == NULL)
	{
		state->nworkers = dsm->nworkers;
		state->workers =
			MemoryContextAllocZero(state->css.ss.ps.state->es_query_cxt,
								   dsm->nworkers * state->nprobes * sizeof(JoinProbeCounts));
	}
	for (i = 0; i < Min(state->nworkers, dsm->nworkers) * state->nprobes; i++)
		bloomfam_join_probe_counts_add(&state->workers[i], &counts[i]);
	for (i = 0; i < state->nprobes; i++)
		if (state->probes[i].kind == JOIN_PROBE_JOIN)
			bloomfam_join_filter_forget_copy(state->probes[i].filter, &dsm->filters[i]);
}

/* Copies the filters of joins above the Gather for the workers that are about to start. */
static void
leave_copies(JoinProbeState *state, JoinProbeDsm *dsm)
{
	int			i;

	for (i = 0; i < dsm->nprobes; i++)
		if (state->infos[i].from_leader)
			bloomfam_join_filter_leave_copy(state->probes[i].filter, &dsm->filters[i],
											state->css.ss.ps.state->es_query_dsa,
											state->probes[i].all_or_none);
}

void
bloomfam_join_probe_initialize(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	JoinProbeState *state = (JoinProbeState *) css;
	JoinProbeDsm *dsm = coordinate;
	int			i;

	memset(dsm, 0, bloomfam_join_probe_estimate(css, pcxt));
	dsm->nworkers = pcxt->nworkers;
	dsm->nprobes = bloomfam_join_nfilters((CustomScan *) css->ss.ps.plan);
	for (i = 0; i < dsm->nprobes; i++)
		bloomfam_join_shared_init(&dsm->filters[i], JOIN_SHARED_NO_COPY);
	if (state->probes != NULL)
		leave_copies(state, dsm);
	if (state->probes != NULL && pcxt->seg != NULL)
	{
		state->dsm = dsm;
		watch_segment(&state->segment, pcxt->seg, left_probe, css);
	}
}

void
bloomfam_join_probe_reinitialize(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	JoinProbeState *state = (JoinProbeState *) css;

	if (state->probes != NULL && pcxt->seg != NULL)
		leave_copies(state, coordinate);
}

void
bloomfam_join_probe_initialize_worker(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	JoinProbeState *state = (JoinProbeState *) css;
	JoinProbeDsm *dsm = coordinate;
	int			i;

	if (state->probes == NULL)
		return;
	Assert(dsm->nprobes == state->nprobes);
	state->dsm = dsm;
	for (i = 0; i < dsm->nprobes; i++)
		if (bloomfam_join_shared_has_copy(&dsm->filters[i]))
			bloomfam_join_filter_tie(state->probes[i].filter, JOIN_FILTER_COPY, &dsm->filters[i],
									 css->ss.ps.state->es_query_dsa);
}

void
bloomfam_join_probe_end_worker(JoinProbeState *state)
{
	JoinProbeCounts *counts;
	int			i;

	if (!IsParallelWorker() || state->dsm == NULL)
		return;
	counts = counts_of_probes(state->dsm) + ParallelWorkerNumber * state->nprobes;
	for (i = 0; i < state->nprobes; i++)
	{
		const JoinProbe *probe = &state->probes[i];
		JoinProbeCounts own = probe->counts;

		own.disabled = bloomfam_join_probe_is_off(probe);
		if (state->css.ss.ps.instrument != NULL)
			own = bloomfam_join_probe_counts(probe);
		bloomfam_join_probe_counts_add(&counts[i], &own);
	}
}
