/*-------------------------------------------------------------------------
 *
 * shared.c
 *	  Join filters and the processes of a parallel query.
 *
 * Where each process builds a hash table of its own, it builds a filter of its own as well, and
 * nothing is shared but the counts for EXPLAIN.  In two cases the filter is shared, in the
 * query's DSA, under a JoinShared in a node's dynamic shared memory:
 *
 * A Parallel Hash gives each participant a share of the build side.  Each puts the hashes of its
 * share into chunks, and hands them over before its build node returns the end of the rows.  The
 * server lets nobody go on to the probe side before all participants have seen that end.  So
 * whoever asks for the filter while its own join probes finds all hashes there, even if it came
 * too late to build.  The first who asks makes the filter; the others do not wait for it: their
 * rows pass meanwhile.
 *
 * A join above a Gather has its filter ready, in the leader alone, when the Gather starts its
 * workers.  The leader leaves them a copy.
 *
 *		NONE -> BUILDING -> READY
 *		  |
 *		  +---> GIVEN_UP
 *
 * Nothing waits and nothing is locked.  After an error nothing needs to be cleaned up, as the DSA
 * goes with the query.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "join/join.h"
#include "pg/env.h"

/* Hashes that were collected one after the other by one participant. */
typedef struct JoinChunk
{
	dsa_pointer next;
	uint64		nhashes;
	uint64		hashes[FLEXIBLE_ARRAY_MEMBER];
} JoinChunk;

#define CHUNK_SIZE(nhashes)	(offsetof(JoinChunk, hashes) + (nhashes) * sizeof(uint64))

/* From 4 kB to 1 MB */
#define CHUNK_FIRST_HASHES	510
#define CHUNK_MOST_HASHES	(128 * 1024 - 2)

/* ---- the filter ---- */

static void
init_shared(JoinShared *shared, JoinSharedState state)
{
	pg_atomic_init_u32(&shared->state, state);
	pg_atomic_init_u64(&shared->nhashes, 0);
	dsa_pointer_atomic_init(&shared->chunks, InvalidDsaPointer);
	shared->payload = InvalidDsaPointer;
}

/* Only one process of those that try it at a time gets it from one state to the next. */
static bool
move_shared(JoinShared *shared, JoinSharedState from, JoinSharedState to)
{
	uint32		expected = from;

	return pg_atomic_compare_exchange_u32(&shared->state, &expected, to);
}

/* Frees the chunks that were handed over so far. */
static void
free_chunks(JoinShared *shared, dsa_area *area)
{
	dsa_pointer chunk = dsa_pointer_atomic_read(&shared->chunks);

	while (!dsa_pointer_atomic_compare_exchange(&shared->chunks, &chunk, InvalidDsaPointer))
		;
	while (DsaPointerIsValid(chunk))
	{
		dsa_pointer next = ((JoinChunk *) dsa_get_address(area, chunk))->next;

		dsa_free(area, chunk);
		chunk = next;
	}
}

/* Frees all, and begins anew.  No other process may be using it. */
static void
reset_shared(JoinShared *shared, dsa_area *area, JoinSharedState state)
{
	free_chunks(shared, area);
	if (DsaPointerIsValid(shared->payload))
		dsa_free(area, shared->payload);
	init_shared(shared, state);
}

/* Hands over the chunk that is being filled, if there is one. */
static void
hand_over(JoinFilter *filter)
{
	JoinShared *shared = filter->shared;
	JoinChunk  *chunk;
	dsa_pointer last;

	if (!DsaPointerIsValid(filter->chunk))
		return;
	chunk = dsa_get_address(filter->area, filter->chunk);
	chunk->nhashes = filter->nhashes;
	last = dsa_pointer_atomic_read(&shared->chunks);
	do
		chunk->next = last;
	while (!dsa_pointer_atomic_compare_exchange(&shared->chunks, &last, filter->chunk));
	pg_atomic_fetch_add_u64(&shared->nhashes, filter->nhashes);

	filter->counts.keys += filter->nhashes;
	filter->chunk = InvalidDsaPointer;
	filter->hashes = NULL;
	filter->nhashes = filter->allocated = 0;
}

static void
give_up(JoinFilter *filter)
{
	if (move_shared(filter->shared, JOIN_SHARED_NONE, JOIN_SHARED_GIVEN_UP))
	{
		free_chunks(filter->shared, filter->area);
		filter->counts.builds++;
		filter->counts.given_up++;
	}
	filter->abandoned = true;
}

void
bloomfam_join_shared_more(JoinFilter *filter)
{
	uint64 room =
		filter->allocated == 0 ? CHUNK_FIRST_HASHES : Min(filter->allocated * 2, CHUNK_MOST_HASHES);

	hand_over(filter);
	if (pg_atomic_read_u32(&filter->shared->state) == JOIN_SHARED_NONE &&
		pg_atomic_read_u64(&filter->shared->nhashes) < bloomfam_join_filter_most())
		filter->chunk = dsa_allocate_extended(filter->area, CHUNK_SIZE(room), DSA_ALLOC_NO_OOM);
	if (DsaPointerIsValid(filter->chunk))
	{
		filter->hashes = ((JoinChunk *) dsa_get_address(filter->area, filter->chunk))->hashes;
		filter->allocated = room;
	}
	else
		give_up(filter);
}

void
bloomfam_join_shared_finish(JoinFilter *filter)
{
	if (!filter->abandoned)
		hand_over(filter);
}

/* Makes the filter of all hashes; done by the one process that has moved it to BUILDING. */
static void
make_filter(JoinFilter *filter)
{
	JoinShared *shared = filter->shared;
	uint64		nhashes = pg_atomic_read_u64(&shared->nhashes);
	dsa_pointer next;
	uint8	   *payload;

	filter->counts.builds++;
	if (nhashes > bloomfam_join_filter_most() || !bloomfam_join_filter_plan(nhashes, &shared->head))
		shared->payload = InvalidDsaPointer;
	else
		shared->payload =
			dsa_allocate_extended(filter->area, shared->head.payload_len + BLOOMFAM_CACHE_LINE,
								  DSA_ALLOC_HUGE | DSA_ALLOC_NO_OOM);
	if (!DsaPointerIsValid(shared->payload))
	{
		free_chunks(shared, filter->area);
		pg_atomic_write_u32(&shared->state, JOIN_SHARED_GIVEN_UP);
		filter->counts.given_up++;
		return;
	}
	bloomfam_join_filter_count(filter, shared->head.payload_len,
							   shared->head.payload_len + nhashes * sizeof(uint64));
	payload =
		(uint8 *) TYPEALIGN(BLOOMFAM_CACHE_LINE, dsa_get_address(filter->area, shared->payload));
	memset(payload, 0, shared->head.payload_len);
	bf_init(&shared->head, payload);
	for (next = dsa_pointer_atomic_read(&shared->chunks); DsaPointerIsValid(next);)
	{
		JoinChunk  *chunk = dsa_get_address(filter->area, next);

		bloomfam_join_filter_fill(&shared->head, payload, chunk->hashes, chunk->nhashes);
		next = chunk->next;
	}
	free_chunks(shared, filter->area);
	pg_write_barrier();
	pg_atomic_write_u32(&shared->state, JOIN_SHARED_READY);
}

bool
bloomfam_join_shared_attach(JoinFilter *filter)
{
	JoinShared *shared = filter->shared;
	BfHeader	head;

	/* the join has a table before it asks the probe side for rows, and then all have handed over */
	if (filter->join != NULL && filter->join->hj_HashTable == NULL)
		return false;
	if (filter->join != NULL && pg_atomic_read_u32(&shared->state) == JOIN_SHARED_NONE &&
		move_shared(shared, JOIN_SHARED_NONE, JOIN_SHARED_BUILDING))
		make_filter(filter);
	switch ((JoinSharedState) pg_atomic_read_u32(&shared->state))
	{
		case JOIN_SHARED_NONE:
		case JOIN_SHARED_BUILDING:
			return false;
		case JOIN_SHARED_GIVEN_UP:
			filter->abandoned = true;
			return false;
		case JOIN_SHARED_READY:
			break;
	}
	pg_read_barrier();
	head = shared->head;
	/* the module need not lie at the same address everywhere */
	head.kind = bf_kind_by_id(JOIN_FILTER_KIND);
	bloomfam_join_filter_use(
		filter, &head,
		(uint8 *) TYPEALIGN(BLOOMFAM_CACHE_LINE, dsa_get_address(filter->area, shared->payload)));
	return true;
}

/* Ties a process's filter to the shared one, or to none: with area or shared NULL. */
static void
tie_shared(JoinFilter *filter, JoinShared *shared, dsa_area *area)
{
	filter->shared = area != NULL ? shared : NULL;
	filter->area = area;
	filter->chunk = InvalidDsaPointer;
	filter->hashes = NULL;
	filter->nhashes = filter->allocated = 0;
	filter->complete = filter->abandoned = false;
}

/* ---- counts ---- */

void
bloomfam_join_build_counts_add(JoinBuildCounts *sum, const JoinBuildCounts *counts)
{
	sum->builds += counts->builds;
	sum->given_up += counts->given_up;
	sum->keys += counts->keys;
	sum->bytes += counts->bytes;
	sum->largest = Max(sum->largest, counts->largest);
	sum->memory = Max(sum->memory, counts->memory);
}

void
bloomfam_join_probe_counts_add(JoinProbeCounts *sum, const JoinProbeCounts *counts)
{
	sum->tested += counts->tested;
	sum->dropped += counts->dropped;
	sum->passed_unseen += counts->passed_unseen;
	sum->switched_off |= counts->switched_off;
	sum->fpr = Max(sum->fpr, counts->fpr);
}

/* ---- dynamic shared memory of the nodes ---- */

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
	JoinShared	filters[FLEXIBLE_ARRAY_MEMBER]; /* copies of the leader's, or given up */
	/* then JoinProbeCounts, nprobes for each worker */
};

static inline JoinProbeCounts *
counts_of_probes(JoinProbeDsm *dsm)
{
	return (JoinProbeCounts *) &dsm->filters[dsm->nprobes];
}

/* The state goes before the memory: after an error, or when a cursor is closed. */
static void
forget_segment(void *arg)
{
	JoinSegment *segment = arg;

	if (segment->seg != NULL)
		cancel_on_dsm_detach(segment->seg, segment->left, PointerGetDatum(segment->state));
	segment->seg = NULL;
}

/*
 * Has left(state) called when the leader leaves the memory: then the workers have ended, and what
 * they wrote there can still be read.
 */
static void
watch_segment(JoinSegment *segment, dsm_segment *seg, on_dsm_detach_callback left,
			  CustomScanState *state)
{
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

/*
 * Gets the leader's build node going, each time that workers are about to start.  A participant
 * that has no filter would leave out its share.
 */
static void
start_build(JoinBuildState *state, JoinShared *shared)
{
	if (state->filter != NULL && state->shared)
		tie_shared(state->filter, shared, state->css.ss.ps.state->es_query_dsa);
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
	if (filter->shared != NULL)
		tie_shared(filter, NULL, NULL);
}

void
bloomfam_join_build_initialize(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	JoinBuildState *state = (JoinBuildState *) css;
	JoinBuildDsm *dsm = coordinate;

	memset(dsm, 0, bloomfam_join_build_estimate(css, pcxt));
	dsm->nworkers = pcxt->nworkers;
	init_shared(&dsm->filter, state->filter != NULL ? JOIN_SHARED_NONE : JOIN_SHARED_GIVEN_UP);
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
	reset_shared(&dsm->filter, css->ss.ps.state->es_query_dsa,
				 state->filter != NULL ? JOIN_SHARED_NONE : JOIN_SHARED_GIVEN_UP);
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
		 * the setting was changed since the leader began; if this worker is in time for a share
		 * of the build, nobody has made the filter yet
		 */
		move_shared(&dsm->filter, JOIN_SHARED_NONE, JOIN_SHARED_GIVEN_UP);
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

static bool
is_from_leader(CustomScanState *css, int probe)
{
	return bloomfam_join_spec_is_shared(
		list_nth(((CustomScan *) css->ss.ps.plan)->custom_private, probe));
}

Size
bloomfam_join_probe_estimate(CustomScanState *css, ParallelContext *pcxt)
{
	Size		nprobes = list_length(((CustomScan *) css->ss.ps.plan)->custom_private);

	return add_size(offsetof(JoinProbeDsm, filters),
					add_size(mul_size(nprobes, sizeof(JoinShared)),
							 mul_size(mul_size(nprobes, pcxt->nworkers), sizeof(JoinProbeCounts))));
}

/* Copies a filter of the leader's for its workers, unless another node of them has a copy. */
static void
copy_filter(JoinFilter *filter, JoinShared *shared, dsa_area *area)
{
	Size		size;

	if (area == NULL || filter->copied_to == area || !bloomfam_join_filter_ready(filter))
		return;
	size = filter->view.head.payload_len;
	shared->payload =
		dsa_allocate_extended(area, size + BLOOMFAM_CACHE_LINE, DSA_ALLOC_HUGE | DSA_ALLOC_NO_OOM);
	if (!DsaPointerIsValid(shared->payload))
		return;
	memcpy((void *) TYPEALIGN(BLOOMFAM_CACHE_LINE, dsa_get_address(area, shared->payload)),
		   filter->view.payload, size);
	shared->head = filter->view.head;
	filter->copied_to = area;
	filter->copied_build = filter->counts.builds;
	pg_atomic_write_u32(&shared->state, JOIN_SHARED_READY);
}

static void
left_probe(dsm_segment *seg, Datum arg)
{
	JoinProbeState *state = (JoinProbeState *) DatumGetPointer(arg);
	JoinProbeDsm *dsm = state->dsm;
	JoinProbeCounts *counts = counts_of_probes(dsm);
	int			i;

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
		if (state->probes[i].filter != NULL)
			state->probes[i].filter->copied_to = NULL;
}

void
bloomfam_join_probe_initialize(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	JoinProbeState *state = (JoinProbeState *) css;
	JoinProbeDsm *dsm = coordinate;
	int			i;

	memset(dsm, 0, bloomfam_join_probe_estimate(css, pcxt));
	dsm->nworkers = pcxt->nworkers;
	dsm->nprobes = list_length(((CustomScan *) css->ss.ps.plan)->custom_private);
	for (i = 0; i < dsm->nprobes; i++)
	{
		init_shared(&dsm->filters[i], JOIN_SHARED_GIVEN_UP);
		if (state->probes != NULL && is_from_leader(css, i))
			copy_filter(state->probes[i].filter, &dsm->filters[i], css->ss.ps.state->es_query_dsa);
	}
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
	JoinProbeDsm *dsm = coordinate;
	dsa_area   *area = css->ss.ps.state->es_query_dsa;
	int			i;

	if (pcxt->seg == NULL)
		return;
	for (i = 0; i < dsm->nprobes; i++)
	{
		if (!DsaPointerIsValid(dsm->filters[i].payload) ||
			(state->probes[i].filter->copied_build == state->probes[i].filter->counts.builds &&
			 bloomfam_join_filter_ready(state->probes[i].filter)))
			continue;
		reset_shared(&dsm->filters[i], area, JOIN_SHARED_GIVEN_UP);
		state->probes[i].filter->copied_to = NULL;
	}
	for (i = 0; i < dsm->nprobes; i++)
		if (state->probes != NULL && is_from_leader(css, i))
			copy_filter(state->probes[i].filter, &dsm->filters[i], area);
}

void
bloomfam_join_probe_initialize_worker(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	JoinProbeState *state = (JoinProbeState *) css;
	JoinProbeDsm *dsm = coordinate;
	int			i;

	if (state->probes == NULL)
		return;
	state->dsm = dsm;
	for (i = 0; i < dsm->nprobes; i++)
		if (pg_atomic_read_u32(&dsm->filters[i].state) == JOIN_SHARED_READY)
			tie_shared(state->probes[i].filter, &dsm->filters[i], css->ss.ps.state->es_query_dsa);
}

void
bloomfam_join_probe_end_worker(JoinProbeState *state)
{
	JoinProbeCounts *counts;
	int			i;

	if (!IsParallelWorker() || state->dsm == NULL || state->css.ss.ps.instrument == NULL)
		return;
	counts = counts_of_probes(state->dsm) + ParallelWorkerNumber * state->nprobes;
	for (i = 0; i < state->nprobes; i++)
	{
		JoinProbeCounts own = bloomfam_join_probe_counts(&state->probes[i]);

		bloomfam_join_probe_counts_add(&counts[i], &own);
	}
}
