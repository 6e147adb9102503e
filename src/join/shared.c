/*-------------------------------------------------------------------------
 *
 * shared.c
 *	  A filter in dynamic shared memory, that several processes build or use.
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
 * What the build side's keys were (keys.c) goes the same way, a piece from each participant, and
 * counts only if no piece is missing.  It is complete even where the filter is given up.
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

#include "join/shared.h"
#include "pg/env.h"

/* Hashes that were collected one after the other by one participant. */
typedef struct JoinChunk
{
	dsa_pointer next;
	uint64		nhashes;
	uint64		hashes[FLEXIBLE_ARRAY_MEMBER];
} JoinChunk;

/* What one participant has kept of its keys. */
typedef struct JoinKeysPiece
{
	dsa_pointer next;
	int64		bytes[FLEXIBLE_ARRAY_MEMBER];
} JoinKeysPiece;

#define CHUNK_SIZE(nhashes)	(offsetof(JoinChunk, hashes) + (nhashes) * sizeof(uint64))

/* From 4 kB to 1 MB */
#define CHUNK_FIRST_HASHES	510
#define CHUNK_MOST_HASHES	(128 * 1024 - 2)

void
bloomfam_join_shared_init(JoinShared *shared, JoinSharedState state)
{
	pg_atomic_init_u32(&shared->state, state);
	pg_atomic_init_u64(&shared->nhashes, 0);
	dsa_pointer_atomic_init(&shared->chunks, InvalidDsaPointer);
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

void
bloomfam_join_shared_hand_over(JoinShare *share, JoinHashes *hashes, JoinBuildCounts *counts)
{
	JoinShared *shared = share->shared;
	JoinChunk  *chunk;
	dsa_pointer last;

	if (!DsaPointerIsValid(share->chunk))
		return;
	chunk = dsa_get_address(share->area, share->chunk);
	chunk->nhashes = hashes->n;
	last = dsa_pointer_atomic_read(&shared->chunks);
	do
		chunk->next = last;
	while (!dsa_pointer_atomic_compare_exchange(&shared->chunks, &last, share->chunk));
	pg_atomic_fetch_add_u64(&shared->nhashes, hashes->n);

	counts->keys += hashes->n;
	share->chunk = InvalidDsaPointer;
	memset(hashes, 0, sizeof(*hashes));
}

bool
bloomfam_join_shared_more(JoinShare *share, JoinHashes *hashes, JoinBuildCounts *counts)
{
	JoinShared *shared = share->shared;
	uint64		room =
		hashes->room == 0 ? CHUNK_FIRST_HASHES : Min(hashes->room * 2, CHUNK_MOST_HASHES);

	bloomfam_join_shared_hand_over(share, hashes, counts);
	if (pg_atomic_read_u32(&shared->state) == JOIN_SHARED_NONE &&
		pg_atomic_read_u64(&shared->nhashes) < bloomfam_join_design_most())
		share->chunk = dsa_allocate_extended(share->area, CHUNK_SIZE(room), DSA_ALLOC_NO_OOM);
	if (DsaPointerIsValid(share->chunk))
	{
		hashes->values = ((JoinChunk *) dsa_get_address(share->area, share->chunk))->hashes;
		hashes->room = room;
		return true;
	}
	if (move_shared(shared, JOIN_SHARED_NONE, JOIN_SHARED_GIVEN_UP))
	{
		free_chunks(shared, share->area);
		counts->builds++;
		counts->given_up++;
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
	move_shared(shared, JOIN_SHARED_NONE, JOIN_SHARED_GIVEN_UP);
}

/* Makes the filter of all hashes; done by the one process that has moved it to BUILDING. */
static void
make_filter(JoinShare *share, JoinBuildCounts *counts)
{
	JoinShared *shared = share->shared;
	uint64		nhashes = pg_atomic_read_u64(&shared->nhashes);
	dsa_pointer next;
	uint8	   *payload;

	counts->builds++;
	if (nhashes > bloomfam_join_design_most() || !bloomfam_join_design_plan(nhashes, &shared->head))
		shared->payload = InvalidDsaPointer;
	else
		shared->payload =
			dsa_allocate_extended(share->area, shared->head.payload_len + BLOOMFAM_CACHE_LINE,
								  DSA_ALLOC_HUGE | DSA_ALLOC_NO_OOM);
	if (!DsaPointerIsValid(shared->payload))
	{
		free_chunks(shared, share->area);
		pg_atomic_write_u32(&shared->state, JOIN_SHARED_GIVEN_UP);
		counts->given_up++;
		return;
	}
	bloomfam_join_count_filter(counts, shared->head.payload_len,
							   shared->head.payload_len + nhashes * sizeof(uint64));
	payload =
		(uint8 *) TYPEALIGN(BLOOMFAM_CACHE_LINE, dsa_get_address(share->area, shared->payload));
	bloomfam_join_design_clear(&shared->head, payload);
	for (next = dsa_pointer_atomic_read(&shared->chunks); DsaPointerIsValid(next);)
	{
		JoinChunk  *chunk = dsa_get_address(share->area, next);

		bloomfam_join_design_fill(&shared->head, payload, chunk->hashes, chunk->nhashes);
		next = chunk->next;
	}
	free_chunks(shared, share->area);
	pg_write_barrier();
	pg_atomic_write_u32(&shared->state, JOIN_SHARED_READY);
}

JoinSharedState
bloomfam_join_shared_look(const JoinShared *shared)
{
	return (JoinSharedState) pg_atomic_read_u32(unconstify(pg_atomic_uint32 *, &shared->state));
}

JoinSharedState
bloomfam_join_shared_make(JoinShare *share, JoinBuildCounts *counts)
{
	if (bloomfam_join_shared_look(share->shared) == JOIN_SHARED_NONE &&
		move_shared(share->shared, JOIN_SHARED_NONE, JOIN_SHARED_BUILDING))
		make_filter(share, counts);
	return bloomfam_join_shared_look(share->shared);
}

const uint8 *
bloomfam_join_shared_get(const JoinShare *share, BfHeader *head)
{
	pg_read_barrier();
	*head = share->shared->head;
	/* the module need not lie at the same address everywhere */
	head->kind = bf_kind_by_id(JOIN_FILTER_KIND);
	return (const uint8 *) TYPEALIGN(BLOOMFAM_CACHE_LINE,
									 dsa_get_address(share->area, share->shared->payload));
}

bool
bloomfam_join_shared_copy(JoinShared *shared, dsa_area *area, const BfView *view,
						  const JoinKeys *keys, int ncolumns)
{
	Size		size = view->head.payload_len;

	Assert(bloomfam_join_shared_look(shared) == JOIN_SHARED_GIVEN_UP);
	Assert(!DsaPointerIsValid(shared->payload));
	shared->payload =
		dsa_allocate_extended(area, size + BLOOMFAM_CACHE_LINE, DSA_ALLOC_HUGE | DSA_ALLOC_NO_OOM);
	if (!DsaPointerIsValid(shared->payload))
		return false;
	memcpy((void *) TYPEALIGN(BLOOMFAM_CACHE_LINE, dsa_get_address(area, shared->payload)),
		   view->payload, size);
	shared->head = view->head;
	if (keys != NULL)
		bloomfam_join_shared_put_keys(shared, area, keys, ncolumns);
	pg_write_barrier();
	pg_atomic_write_u32(&shared->state, JOIN_SHARED_READY);
	return true;
}
