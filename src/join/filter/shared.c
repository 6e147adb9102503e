/*-------------------------------------------------------------------------
 *
 * shared.c
 *	  A filter in dynamic shared memory, that several processes build or use.
 *
 * Where each process builds a hash table of its own, it builds a filter of its own as well, and
 * only the counts for EXPLAIN are shared.  In two cases the filter is shared, in the query's DSA,
 * with a JoinShared in a node's dynamic shared memory:
 *
 * Each participant of a Parallel Hash reads a part of the build side.  It collects its keys in
 * chunks, and hands them over, with a piece of what is known of its columns (keys.c), before its
 * build node returns the end of the rows.  The server's barrier lets nobody probe before all
 * participants have seen that end.  So whoever probes finds all keys there, even if it attached
 * after the build.  The first process that probes makes the filter; the others do not wait for it:
 * their rows pass unfiltered meanwhile.
 *
 * The pieces are complete even where the filter is discarded, or its chunks were freed because
 * there are too many numbers: merged, they have the bounds of a range filter.  Nothing is known of
 * the columns if one piece is missing.
 *
 * A join above a Gather has its filter in the leader alone, when the Gather starts its workers.
 * The leader leaves them a copy of it, or if it was discarded, of its columns.
 *
 *		COLLECTING ------+--> BUILDING -> READY
 *		  |              |        |
 *		  +-> TOO_MANY --+        |
 *		  |       |               |
 *		  +-------+---------------+--> DISCARDED
 *
 *		NO_COPY -> READY or KEYS_ONLY
 *
 * Nothing waits and nothing is locked.  After an error nothing needs to be cleaned up, as the DSA
 * goes with the query.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "join/filter/shared.h"
#include "pg/port.h"

/* Keys of one participant. */
typedef struct JoinChunk
{
	dsa_pointer next;
	uint64		nkeys;
	uint64		keys[FLEXIBLE_ARRAY_MEMBER];
} JoinChunk;

/* The columns of one participant, as bloomfam_join_keys_write() writes them. */
typedef struct JoinKeysPiece
{
	dsa_pointer next;
	int64		ncolumns;
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
	shared->payload = InvalidDsaPointer;
	dsa_pointer_atomic_init(&shared->pieces, InvalidDsaPointer);
	pg_atomic_init_u32(&shared->piece_lost, 0);
}

/* Of all processes that try it, one moves the state on; it gets true. */
static bool
move_state(JoinShared *shared, JoinSharedState from, JoinSharedState to)
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
free_pieces(JoinShared *shared, dsa_area *area)
{
	dsa_pointer piece = dsa_pointer_atomic_read(&shared->pieces);

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
	free_pieces(shared, area);
	if (DsaPointerIsValid(shared->payload))
		dsa_free(area, shared->payload);
	bloomfam_join_shared_init(shared, state);
}

/* Hands over the chunk that keys were collected in, if there is one. */
static void
put_chunk(JoinSharedHandle *handle, JoinCollected *collected, JoinBuildCounts *counts)
{
	JoinShared *shared = handle->shared;
	JoinChunk  *chunk;
	dsa_pointer last;

	Assert(DsaPointerIsValid(handle->chunk) == (collected->values != NULL));
	Assert(collected->n <= collected->room);
	if (!DsaPointerIsValid(handle->chunk))
		return;
	chunk = dsa_get_address(handle->area, handle->chunk);
	Assert(collected->values == chunk->keys);
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

	put_chunk(handle, collected, counts);
	Assert(!DsaPointerIsValid(handle->chunk));
	if (bloomfam_join_shared_state(shared) == JOIN_SHARED_COLLECTING &&
		pg_atomic_read_u64(&shared->nkeys) < bloomfam_join_design_most())
		handle->chunk = dsa_allocate_extended(handle->area, CHUNK_SIZE(room), DSA_ALLOC_NO_OOM);
	if (DsaPointerIsValid(handle->chunk))
	{
		collected->values = ((JoinChunk *) dsa_get_address(handle->area, handle->chunk))->keys;
		collected->room = room;
		return true;
	}
	if (move_state(shared, JOIN_SHARED_COLLECTING,
				   hashes ? JOIN_SHARED_DISCARDED : JOIN_SHARED_TOO_MANY))
	{
		free_chunks(shared, handle->area);
		counts->builds++;
		counts->discarded++;
	}
	return false;
}

/* Adds this process's columns; without columns nothing is known of any. */
static void
put_piece(JoinShared *shared, dsa_area *area, const JoinKeys *keys, int ncolumns)
{
	Size		size =
		offsetof(JoinKeysPiece, bytes) + bloomfam_join_keys_write(keys, ncolumns, NULL);
	dsa_pointer own = InvalidDsaPointer;
	JoinKeysPiece *piece;
	dsa_pointer last;

	if (ncolumns > 0)
		own = dsa_allocate_extended(area, size, DSA_ALLOC_NO_OOM);
	if (!DsaPointerIsValid(own))
	{
		pg_atomic_write_u32(&shared->piece_lost, 1);
		return;
	}
	piece = dsa_get_address(area, own);
	piece->ncolumns = ncolumns;
	bloomfam_join_keys_write(keys, ncolumns, piece->bytes);
	last = dsa_pointer_atomic_read(&shared->pieces);
	do
		piece->next = last;
	while (!dsa_pointer_atomic_compare_exchange(&shared->pieces, &last, own));
}

void
bloomfam_join_shared_hand_over(JoinSharedHandle *handle, JoinCollected *collected,
							   const JoinKeys *keys, int ncolumns, JoinBuildCounts *counts)
{
	Assert(bloomfam_join_shared_state(handle->shared) != JOIN_SHARED_BUILDING);
	Assert(bloomfam_join_shared_state(handle->shared) != JOIN_SHARED_READY);
	put_chunk(handle, collected, counts);
	put_piece(handle->shared, handle->area, keys, ncolumns);
}

bool
bloomfam_join_shared_get_keys(const JoinSharedHandle *handle, JoinKeys *keys, int ncolumns,
							  MemoryContext context)
{
	JoinShared *shared = handle->shared;
	dsa_pointer next;
	int			i;

	pg_read_barrier();
	next = dsa_pointer_atomic_read(&shared->pieces);
	if (!DsaPointerIsValid(next) || pg_atomic_read_u32(&shared->piece_lost) != 0)
		return false;
	for (i = 0; i < ncolumns; i++)
		bloomfam_join_keys_begin(&keys[i], JOIN_KEYS_LISTING);
	while (DsaPointerIsValid(next))
	{
		const JoinKeysPiece *piece = dsa_get_address(handle->area, next);

		Assert(piece->ncolumns == ncolumns);
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
	pg_atomic_write_u32(&shared->piece_lost, 1);
	if (!move_state(shared, JOIN_SHARED_COLLECTING, JOIN_SHARED_DISCARDED))
		move_state(shared, JOIN_SHARED_TOO_MANY, JOIN_SHARED_DISCARDED);
}

/* Designs the filter, and gets memory for its payload; false if there is no filter or no memory. */
static bool
plan_filter(JoinSharedHandle *handle, JoinCollects what, JoinKeysRange bounds)
{
	JoinShared *shared = handle->shared;
	uint64		nkeys = pg_atomic_read_u64(&shared->nkeys);

	if ((what != JOIN_COLLECTS_BOUNDS && nkeys > bloomfam_join_design_most()) ||
		!bloomfam_join_design_plan(what, bounds, nkeys, &shared->design))
		return false;
	if (shared->design.size > 0)
		shared->payload =
			dsa_allocate_extended(handle->area, shared->design.size + BLOOMFAM_CACHE_LINE,
								  DSA_ALLOC_HUGE | DSA_ALLOC_NO_OOM);
	return shared->design.size == 0 || DsaPointerIsValid(shared->payload);
}

/* The payload, aligned; NULL: the form has none. */
static uint8 *
payload_of(const JoinShared *shared, dsa_area *area)
{
	if (!DsaPointerIsValid(shared->payload))
		return NULL;
	return (uint8 *) TYPEALIGN(BLOOMFAM_CACHE_LINE, dsa_get_address(area, shared->payload));
}

/* Fills the payload, if the form has one, with the keys of all chunks. */
static void
fill_filter(JoinSharedHandle *handle, JoinCollects what)
{
	JoinShared *shared = handle->shared;
	uint8	   *payload = payload_of(shared, handle->area);
	dsa_pointer next = dsa_pointer_atomic_read(&shared->chunks);
	uint64		nkeys PG_USED_FOR_ASSERTS_ONLY = 0;

	if (payload == NULL)
		return;
	bloomfam_join_design_clear(&shared->design, payload);
	while (DsaPointerIsValid(next))
	{
		JoinChunk  *chunk = dsa_get_address(handle->area, next);

		nkeys += chunk->nkeys;
		bloomfam_join_design_fill(&shared->design, what, payload, chunk->keys, chunk->nkeys);
		next = chunk->next;
	}
	Assert(nkeys == pg_atomic_read_u64(&shared->nkeys));
}

/*
 * Makes the filter of all keys, or the range of numbers where that cannot be.  Called by the one
 * process that has moved the state to BUILDING.
 */
static void
make_filter(JoinSharedHandle *handle, JoinCollects what, JoinKeysRange bounds,
			JoinBuildCounts *counts)
{
	JoinShared *shared = handle->shared;
	bool		made = plan_filter(handle, what, bounds);

	Assert(bloomfam_join_shared_state(shared) == JOIN_SHARED_BUILDING);
	if (what != JOIN_COLLECTS_BOUNDS)
	{
		counts->builds++;
		counts->discarded += !made;
	}
	if (!made && what == JOIN_COLLECTS_NUMBERS)
	{
		what = JOIN_COLLECTS_BOUNDS;
		made = plan_filter(handle, what, bounds);
	}
	if (made)
	{
		fill_filter(handle, what);
		bloomfam_join_count_filter(counts, &shared->design,
								   shared->design.size +
									   pg_atomic_read_u64(&shared->nkeys) * sizeof(uint64));
	}
	free_chunks(shared, handle->area);
	pg_write_barrier();
	pg_atomic_write_u32(&shared->state, made ? JOIN_SHARED_READY : JOIN_SHARED_DISCARDED);
}

JoinSharedState
bloomfam_join_shared_make(JoinSharedHandle *handle, bool of_numbers, JoinKeysRange bounds,
						  JoinBuildCounts *counts)
{
	JoinShared *shared = handle->shared;

	if (move_state(shared, JOIN_SHARED_COLLECTING, JOIN_SHARED_BUILDING))
		make_filter(handle, of_numbers ? JOIN_COLLECTS_NUMBERS : JOIN_COLLECTS_HASHES, bounds,
					counts);
	else if (move_state(shared, JOIN_SHARED_TOO_MANY, JOIN_SHARED_BUILDING))
		make_filter(handle, JOIN_COLLECTS_BOUNDS, bounds, counts);
	return bloomfam_join_shared_state(shared);
}

const uint8 *
bloomfam_join_shared_get(const JoinSharedHandle *handle, JoinDesign *design)
{
	Assert(bloomfam_join_shared_state(handle->shared) == JOIN_SHARED_READY);
	pg_read_barrier();
	*design = handle->shared->design;
	return payload_of(handle->shared, handle->area);
}

bool
bloomfam_join_shared_copy(JoinShared *shared, dsa_area *area, const JoinFilterProbe *probe,
						  const JoinKeys *keys, int ncolumns)
{
	Size		size = probe != NULL ? probe->design.size : 0;

	Assert(bloomfam_join_shared_state(shared) == JOIN_SHARED_NO_COPY);
	Assert(!DsaPointerIsValid(shared->payload));
	if (size > 0)
	{
		shared->payload = dsa_allocate_extended(area, size + BLOOMFAM_CACHE_LINE,
												DSA_ALLOC_HUGE | DSA_ALLOC_NO_OOM);
		if (!DsaPointerIsValid(shared->payload))
			return false;
		memcpy(payload_of(shared, area), probe->payload, size);
	}
	if (probe != NULL)
		shared->design = probe->design;
	if (keys != NULL)
		put_piece(shared, area, keys, ncolumns);
	pg_write_barrier();
	pg_atomic_write_u32(&shared->state, probe != NULL ? JOIN_SHARED_READY : JOIN_SHARED_KEYS_ONLY);
	return true;
}
