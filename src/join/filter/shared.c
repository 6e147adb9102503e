/*-------------------------------------------------------------------------
 *
 * shared.c
 *	  A filter in dynamic shared memory, that several processes build or use.
 *
 * Where each process builds a hash table of its own, it builds a filter of its own as well, and
 * nothing is shared but the counts for EXPLAIN.  In two cases the filter is shared, in the
 * query's DSA, under a JoinShared in a node's dynamic shared memory:
 *
 * A Parallel Hash gives each participant a share of the build side.  Each puts the keys of its
 * share, hashes or numbers, into chunks, and hands them over before its build node returns the
 * end of the rows.  The server lets nobody go on to the probe side before all participants have
 * seen that end.  So whoever asks for the filter while its own join probes finds all keys there,
 * even if it came too late to build.  The first who asks makes the filter; the others do not wait
 * for it: their rows pass meanwhile.
 *
 * What the build side's keys were (keys.c) goes the same way, a piece from each participant, and
 * counts only if no piece is missing.  It is complete even where the filter is given up.  So are
 * the bounds of numbers: of too many, all chunks are freed, and the filter is the range.
 *
 * A join above a Gather has its filter ready, in the leader alone, when the Gather starts its
 * workers.  The leader leaves them a copy; of one that was given up, of the keys.
 *
 *		NONE ------------+--> BUILDING -> READY
 *		  |              |
 *		  +-> TOO_MANY --+
 *		  |       |
 *		  +-------+--> GIVEN_UP
 *
 * Nothing waits and nothing is locked.  After an error nothing needs to be cleaned up, as the DSA
 * goes with the query.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "join/filter/shared.h"
#include "pg/port.h"

/* Keys that were collected one after the other by one participant. */
typedef struct JoinChunk
{
	dsa_pointer next;
	uint64		nkeys;
	uint64		keys[FLEXIBLE_ARRAY_MEMBER];
} JoinChunk;

/* What one participant has kept of its keys. */
typedef struct JoinKeysPiece
{
	dsa_pointer next;
	int64		bytes[FLEXIBLE_ARRAY_MEMBER];
} JoinKeysPiece;

#define CHUNK_SIZE(nkeys)	(offsetof(JoinChunk, keys) + (nkeys) * sizeof(uint64))

/* From 4 kB to 1 MB */
#define CHUNK_FIRST_KEYS	510
#define CHUNK_MOST_KEYS	(128 * 1024 - 2)

void
bloomfam_join_shared_init(JoinShared *shared, JoinSharedState state)
{
	pg_atomic_init_u32(&shared->state, state);
	pg_atomic_init_u64(&shared->nkeys, 0);
	dsa_pointer_atomic_init(&shared->chunks, InvalidDsaPointer);
	pg_atomic_init_u64(&shared->smallest, (uint64) PG_INT64_MAX);
	pg_atomic_init_u64(&shared->largest, (uint64) PG_INT64_MIN);
	shared->payload = InvalidDsaPointer;
	dsa_pointer_atomic_init(&shared->keys, InvalidDsaPointer);
	pg_atomic_init_u32(&shared->keys_lost, 0);
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

static void
free_keys(JoinShared *shared, dsa_area *area)
{
	dsa_pointer piece = dsa_pointer_atomic_read(&shared->keys);

	while (DsaPointerIsValid(piece))
	{
		dsa_pointer next = ((JoinKeysPiece *) dsa_get_address(area, piece))->next;

		dsa_free(area, piece);
		piece = next;
	}
}

void
bloomfam_join_shared_reset(JoinShared *shared, dsa_area *area, JoinSharedState state)
{
	free_chunks(shared, area);
	free_keys(shared, area);
	if (DsaPointerIsValid(shared->payload))
		dsa_free(area, shared->payload);
	bloomfam_join_shared_init(shared, state);
}

/* The bounds include those of the numbers that this process has collected so far. */
static void
widen_bounds(JoinShared *shared, const JoinCollected *collected)
{
	uint64		smallest = pg_atomic_read_u64(&shared->smallest);
	uint64		largest = pg_atomic_read_u64(&shared->largest);

	while (collected->smallest < (int64) smallest &&
		   !pg_atomic_compare_exchange_u64(&shared->smallest, &smallest,
										   (uint64) collected->smallest))
		;
	while (collected->largest > (int64) largest &&
		   !pg_atomic_compare_exchange_u64(&shared->largest, &largest,
										   (uint64) collected->largest))
		;
}

void
bloomfam_join_shared_hand_over(JoinSharedHandle *handle, JoinCollected *collected,
							   JoinBuildCounts *counts)
{
	JoinShared *shared = handle->shared;
	JoinChunk  *chunk;
	dsa_pointer last;

	widen_bounds(shared, collected);
	if (!DsaPointerIsValid(handle->chunk))
		return;
	chunk = dsa_get_address(handle->area, handle->chunk);
	chunk->nkeys = collected->n;
	last = dsa_pointer_atomic_read(&shared->chunks);
	do
		chunk->next = last;
	while (!dsa_pointer_atomic_compare_exchange(&shared->chunks, &last, handle->chunk));
	pg_atomic_fetch_add_u64(&shared->nkeys, collected->n);

	counts->keys += collected->n;
	handle->chunk = InvalidDsaPointer;
	collected->values = NULL;
	collected->n = collected->room = 0;
}

bool
bloomfam_join_shared_more(JoinSharedHandle *handle, JoinCollected *collected,
						  JoinBuildCounts *counts)
{
	JoinShared *shared = handle->shared;
	bool		hashes = collected->what == JOIN_COLLECTS_HASHES;
	uint64		room =
		collected->room == 0 ? CHUNK_FIRST_KEYS : Min(collected->room * 2, CHUNK_MOST_KEYS);

	bloomfam_join_shared_hand_over(handle, collected, counts);
	if (pg_atomic_read_u32(&shared->state) == JOIN_SHARED_NONE &&
		pg_atomic_read_u64(&shared->nkeys) < bloomfam_join_design_most())
		handle->chunk = dsa_allocate_extended(handle->area, CHUNK_SIZE(room), DSA_ALLOC_NO_OOM);
	if (DsaPointerIsValid(handle->chunk))
	{
		collected->values = ((JoinChunk *) dsa_get_address(handle->area, handle->chunk))->keys;
		collected->room = room;
		return true;
	}
	if (move_shared(shared, JOIN_SHARED_NONE,
					hashes ? JOIN_SHARED_DISCARDED : JOIN_SHARED_TOO_MANY))
	{
		free_chunks(shared, handle->area);
		counts->builds++;
		counts->discarded++;
	}
	return false;
}

void
bloomfam_join_shared_lose_keys(JoinShared *shared)
{
	pg_atomic_write_u32(&shared->keys_lost, 1);
}

void
bloomfam_join_shared_put_keys(JoinShared *shared, dsa_area *area, const JoinKeys *keys,
							  int ncolumns)
{
	dsa_pointer own = dsa_allocate_extended(area,
											offsetof(JoinKeysPiece, bytes) +
												bloomfam_join_keys_size(keys, ncolumns),
											DSA_ALLOC_NO_OOM);
	JoinKeysPiece *piece;
	dsa_pointer last;

	if (!DsaPointerIsValid(own))
	{
		bloomfam_join_shared_lose_keys(shared);
		return;
	}
	piece = dsa_get_address(area, own);
	bloomfam_join_keys_write(keys, ncolumns, piece->bytes);
	last = dsa_pointer_atomic_read(&shared->keys);
	do
		piece->next = last;
	while (!dsa_pointer_atomic_compare_exchange(&shared->keys, &last, own));
}

bool
bloomfam_join_shared_get_keys(const JoinShared *shared, dsa_area *area, JoinKeys *keys,
							  int ncolumns, MemoryContext context)
{
	JoinShared *readable = unconstify(JoinShared *, shared);
	dsa_pointer next;
	int			i;

	pg_read_barrier();
	next = dsa_pointer_atomic_read(&readable->keys);
	if (!DsaPointerIsValid(next) || pg_atomic_read_u32(&readable->keys_lost) != 0)
		return false;
	for (i = 0; i < ncolumns; i++)
		bloomfam_join_keys_begin(&keys[i], keys[i].type);
	while (DsaPointerIsValid(next))
	{
		const JoinKeysPiece *piece = dsa_get_address(area, next);

		bloomfam_join_keys_merge(keys, ncolumns, piece->bytes, context);
		next = piece->next;
	}
	for (i = 0; i < ncolumns; i++)
		bloomfam_join_keys_finish(&keys[i], context);
	return true;
}

void
bloomfam_join_shared_refuse(JoinShared *shared)
{
	bloomfam_join_shared_lose_keys(shared);
	if (!move_shared(shared, JOIN_SHARED_NONE, JOIN_SHARED_DISCARDED))
		move_shared(shared, JOIN_SHARED_TOO_MANY, JOIN_SHARED_DISCARDED);
}

/* What all have collected together, but for the values themselves. */
static JoinCollected
collect_all(JoinShared *shared, JoinCollects what)
{
	JoinCollected all;

	bloomfam_join_collect(&all, what);
	all.smallest = (int64) pg_atomic_read_u64(&shared->smallest);
	all.largest = (int64) pg_atomic_read_u64(&shared->largest);
	return all;
}

/* Designs the filter, and gets memory for it; false if there is none. */
static bool
plan_filter(JoinSharedHandle *handle, JoinCollects what)
{
	JoinShared *shared = handle->shared;
	uint64		nkeys = pg_atomic_read_u64(&shared->nkeys);
	JoinCollected all = collect_all(shared, what);

	if ((what != JOIN_COLLECTS_BOUNDS && nkeys > bloomfam_join_design_most()) ||
		!bloomfam_join_design_plan(&all, nkeys, &shared->design))
		return false;
	if (shared->design.size > 0)
		shared->payload =
			dsa_allocate_extended(handle->area, shared->design.size + BLOOMFAM_CACHE_LINE,
								  DSA_ALLOC_HUGE | DSA_ALLOC_NO_OOM);
	return shared->design.size == 0 || DsaPointerIsValid(shared->payload);
}

/* The payload, where the form has one; else NULL. */
static uint8 *
payload_of(const JoinShared *shared, dsa_area *area)
{
	if (!DsaPointerIsValid(shared->payload))
		return NULL;
	return (uint8 *) TYPEALIGN(BLOOMFAM_CACHE_LINE, dsa_get_address(area, shared->payload));
}

/* Fills the filter, once there is memory for it. */
static void
fill_filter(JoinSharedHandle *handle, JoinCollects what)
{
	JoinShared *shared = handle->shared;
	uint8	   *payload = payload_of(shared, handle->area);
	dsa_pointer next = dsa_pointer_atomic_read(&shared->chunks);

	if (payload == NULL)
		return;
	bloomfam_join_design_clear(&shared->design, payload);
	while (DsaPointerIsValid(next))
	{
		JoinChunk  *chunk = dsa_get_address(handle->area, next);

		bloomfam_join_design_fill(&shared->design, what, payload, chunk->keys, chunk->nkeys);
		next = chunk->next;
	}
}

/*
 * Makes the filter of all keys, or of the bounds of numbers where that cannot be; done by the one
 * process that has moved it to BUILDING.
 */
static void
make_filter(JoinSharedHandle *handle, JoinCollects what, JoinBuildCounts *counts)
{
	JoinShared *shared = handle->shared;
	bool		made = plan_filter(handle, what);

	if (what != JOIN_COLLECTS_BOUNDS)
	{
		counts->builds++;
		counts->discarded += !made;
	}
	if (!made && what == JOIN_COLLECTS_NUMBERS)
	{
		what = JOIN_COLLECTS_BOUNDS;
		made = plan_filter(handle, what);
	}
	if (made)
	{
		Size		size = shared->design.size;
		Size		collected = pg_atomic_read_u64(&shared->nkeys) * sizeof(uint64);

		fill_filter(handle, what);
		bloomfam_join_count_filter(counts, shared->design.form, size, size + collected);
	}
	free_chunks(shared, handle->area);
	pg_write_barrier();
	pg_atomic_write_u32(&shared->state, made ? JOIN_SHARED_READY : JOIN_SHARED_DISCARDED);
}

JoinSharedState
bloomfam_join_shared_state(const JoinShared *shared)
{
	return (JoinSharedState) pg_atomic_read_u32(unconstify(pg_atomic_uint32 *, &shared->state));
}

JoinSharedState
bloomfam_join_shared_make(JoinSharedHandle *handle, bool of_numbers, JoinBuildCounts *counts)
{
	JoinSharedState state = bloomfam_join_shared_state(handle->shared);

	if (state == JOIN_SHARED_NONE &&
		move_shared(handle->shared, JOIN_SHARED_NONE, JOIN_SHARED_BUILDING))
		make_filter(handle, of_numbers ? JOIN_COLLECTS_NUMBERS : JOIN_COLLECTS_HASHES, counts);
	if (state == JOIN_SHARED_TOO_MANY &&
		move_shared(handle->shared, JOIN_SHARED_TOO_MANY, JOIN_SHARED_BUILDING))
		make_filter(handle, JOIN_COLLECTS_BOUNDS, counts);
	return bloomfam_join_shared_state(handle->shared);
}

const uint8 *
bloomfam_join_shared_get(const JoinSharedHandle *handle, JoinDesign *design)
{
	pg_read_barrier();
	*design = handle->shared->design;
	return payload_of(handle->shared, handle->area);
}

bool
bloomfam_join_shared_copy(JoinShared *shared, dsa_area *area, const JoinFilterProbe *filter_probe,
						  const JoinKeys *keys, int ncolumns)
{
	Size		size = filter_probe != NULL ? filter_probe->design.size : 0;

	Assert(bloomfam_join_shared_state(shared) == JOIN_SHARED_DISCARDED);
	Assert(!DsaPointerIsValid(shared->payload));
	if (size > 0)
	{
		shared->payload = dsa_allocate_extended(area, size + BLOOMFAM_CACHE_LINE,
												DSA_ALLOC_HUGE | DSA_ALLOC_NO_OOM);
		if (!DsaPointerIsValid(shared->payload))
			return false;
		memcpy(payload_of(shared, area), filter_probe->payload, size);
	}
	if (filter_probe != NULL)
		shared->design = filter_probe->design;
	if (keys != NULL)
		bloomfam_join_shared_put_keys(shared, area, keys, ncolumns);
	pg_write_barrier();
	pg_atomic_write_u32(&shared->state,
						filter_probe != NULL ? JOIN_SHARED_READY : JOIN_SHARED_KEYS_ONLY);
	return true;
}

bool
bloomfam_join_shared_has_copy(const JoinShared *shared)
{
	JoinSharedState state = bloomfam_join_shared_state(shared);

	return state == JOIN_SHARED_READY || state == JOIN_SHARED_KEYS_ONLY;
}
