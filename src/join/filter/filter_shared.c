/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * filter_shared.c
 *	  The filter that the participants of a Parallel Hash build together.
 *
 * Each participant reads a part of the build side.  It collects its keys in chunks, and hands them
 * over before its build node returns the end of the rows, together with pieces that say what is
 * known of its columns (keys.c).  The server's barrier lets no process probe before all
 * participants have seen the end of their rows.  So a process that probes finds all keys, even if
 * it attached after the build.  The first process that probes makes the filter.  The other
 * processes do not wait for it: meanwhile their rows pass unfiltered.
 *
 * The pieces are complete even where the filter is discarded, or where its chunks were freed
 * because there are too many numbers: merged, they have the bounds of a range filter.  If one piece
 * is missing, nothing is known of the columns.
 *
 * The states of the shared filter (JoinShared.state):
 *
 *		COLLECTING ------+--> BUILDING -> READY
 *		  |              |        |
 *		  +-> TOO_MANY --+        |
 *		  |       |               |
 *		  +-------+---------------+--> DISCARDED
 *
 * Nothing waits and nothing is locked.  After an error nothing needs to be cleaned up, as the DSA
 * area goes away with the query.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "join/filter/filter_shared.h"
#include "join/filter/filter_use.h"
#include "pg/port.h"

/*
 * A chunk of keys collected by one participant of a Parallel Hash; an item of the list
 * JoinShared.chunks.  Its first member points to the next item.
 */
typedef struct Chunk
{
	dsa_pointer next;
	uint64		nkeys;
	uint64		keys[FLEXIBLE_ARRAY_MEMBER];
} Chunk;

/*
 * What one participant of a Parallel Hash knows of one key column; an item of the list
 * JoinShared.pieces.
 */
typedef struct Piece
{
	dsa_pointer next;
	int			column;

	/* What is known of the column, except for its list of numbers, which is at "values" below. */
	JoinKeys	keys;
	int64		values[FLEXIBLE_ARRAY_MEMBER];
} Piece;

/*
 * The number of keys in a participant's first chunk, which has 4 kB, and in its largest ones, of 1
 * MB.
 */
#define CHUNK_FIRST_KEYS	510
#define CHUNK_MOST_KEYS	(128 * 1024 - 2)

void
bloomfam_join_shared_init(JoinShared *shared, JoinSharedState state)
{
	pg_atomic_init_u32(&shared->state, state);
	pg_atomic_init_u32(&shared->copy, JOIN_COPY_NONE);
	pg_atomic_init_u64(&shared->nkeys, 0);
	dsa_pointer_atomic_init(&shared->chunks, InvalidDsaPointer);
	shared->payload = InvalidDsaPointer;
	dsa_pointer_atomic_init(&shared->pieces, InvalidDsaPointer);
	shared->area = NULL;

	/*
	 * The state is DISCARDED if the leader has no filter: then it will not hand over the keys of
	 * its own part of the build side, so pieces will be missing.
	 */
	pg_atomic_init_u32(&shared->piece_lost, state == JOIN_SHARED_DISCARDED ? 1 : 0);
}

/* Returns the state of a Parallel Hash's filter. */
static JoinSharedState
state_of(JoinShared *shared)
{
	return (JoinSharedState) pg_atomic_read_u32(&shared->state);
}

/*
 * Changes the shared state atomically from one state to another.  Returns true to only one of the
 * processes that try it, and false if the state is not "from".
 */
static bool
move_state(JoinShared *shared, JoinSharedState from, JoinSharedState to)
{
	uint32		expected = from;

	return pg_atomic_compare_exchange_u32(&shared->state, &expected, to);
}

/* Adds an item to the front of a list.  "next" points to the item's first member, its link. */
static void
push(dsa_pointer_atomic *list, dsa_pointer item, dsa_pointer *next)
{
	*next = dsa_pointer_atomic_read(list);
	while (!dsa_pointer_atomic_compare_exchange(list, next, item))
		;
}

/* Frees the items that are in a list so far. */
static void
free_list(dsa_pointer_atomic *list, dsa_area *area)
{
	dsa_pointer item = dsa_pointer_atomic_read(list);

	while (!dsa_pointer_atomic_compare_exchange(list, &item, InvalidDsaPointer))
		;
	while (DsaPointerIsValid(item))
	{
		dsa_pointer next = *(dsa_pointer *) dsa_get_address(area, item);

		dsa_free(area, item);
		item = next;
	}
}

void
bloomfam_join_shared_reset(JoinShared *shared, dsa_area *area, JoinSharedState state)
{
	free_list(&shared->chunks, area);
	free_list(&shared->pieces, area);
	if (DsaPointerIsValid(shared->payload))
		dsa_free(area, shared->payload);
	bloomfam_join_shared_init(shared, state);
}

void
bloomfam_join_shared_refuse(JoinShared *shared)
{
	pg_atomic_write_u32(&shared->piece_lost, 1);
	if (!move_state(shared, JOIN_SHARED_COLLECTING, JOIN_SHARED_DISCARDED))
		move_state(shared, JOIN_SHARED_TOO_MANY, JOIN_SHARED_DISCARDED);
}

/* ---- handing over what a process has collected ---- */

/* Hands over the chunk that keys were collected in, if there is one. */
static void
put_chunk(JoinFilter *filter)
{
	JoinCollected *collected = &filter->collected;
	Chunk	   *chunk;

	Assert(DsaPointerIsValid(filter->chunk) == (collected->values != NULL));
	Assert(collected->n <= collected->room);
	if (!DsaPointerIsValid(filter->chunk))
		return;
	chunk = dsa_get_address(filter->area, filter->chunk);
	Assert(collected->values == chunk->keys);
	chunk->nkeys = collected->n;
	push(&filter->shared->chunks, filter->chunk, &chunk->next);
	pg_atomic_fetch_add_u64(&filter->shared->nkeys, collected->n);

	filter->counts.keys += collected->n;
	filter->chunk = InvalidDsaPointer;
	collected->values = NULL;
	collected->n = collected->room = 0;
}

bool
bloomfam_join_shared_more(JoinFilter *filter)
{
	JoinShared *shared = filter->shared;
	JoinCollected *collected = &filter->collected;
	uint64		room =
		collected->room == 0 ? CHUNK_FIRST_KEYS : Min(collected->room * 2, CHUNK_MOST_KEYS);

	put_chunk(filter);
	Assert(!DsaPointerIsValid(filter->chunk));
	if (state_of(shared) == JOIN_SHARED_COLLECTING &&
		pg_atomic_read_u64(&shared->nkeys) < bloomfam_join_design_most())
		filter->chunk = dsa_allocate_extended(
			filter->area, offsetof(Chunk, keys) + room * sizeof(uint64), DSA_ALLOC_NO_OOM);
	if (DsaPointerIsValid(filter->chunk))
	{
		collected->values = ((Chunk *) dsa_get_address(filter->area, filter->chunk))->keys;
		collected->room = room;
		return true;
	}
	if (move_state(shared, JOIN_SHARED_COLLECTING,
				   filter->of_numbers ? JOIN_SHARED_TOO_MANY : JOIN_SHARED_DISCARDED))
	{
		free_list(&shared->chunks, filter->area);
		filter->counts.builds++;
		filter->counts.discarded++;
	}
	return false;
}

void
bloomfam_join_shared_put_keys(JoinShared *shared, dsa_area *area, const JoinKeys *keys,
							  int ncolumns)
{
	bool		lost = ncolumns == 0;
	int			i;

	for (i = 0; i < ncolumns && !lost; i++)
	{
		Size		length = keys[i].nvalues * sizeof(int64);
		dsa_pointer own = dsa_allocate_extended(area, offsetof(Piece, values) + length,
												DSA_ALLOC_NO_OOM);

		Assert(keys[i].phase != JOIN_KEYS_LISTING && keys[i].nvalues <= JOIN_KEYS_FEW);
		lost = !DsaPointerIsValid(own);
		if (!lost)
		{
			Piece	   *piece = dsa_get_address(area, own);

			piece->column = i;
			piece->keys = keys[i];
			if (length > 0)
				memcpy(piece->values, keys[i].values, length);
			push(&shared->pieces, own, &piece->next);
		}
	}
	if (lost)
		pg_atomic_write_u32(&shared->piece_lost, 1);
}

void
bloomfam_join_shared_hand_over(JoinFilter *filter)
{
	Assert(state_of(filter->shared) != JOIN_SHARED_BUILDING);
	Assert(state_of(filter->shared) != JOIN_SHARED_READY);
	put_chunk(filter);
	bloomfam_join_shared_put_keys(filter->shared, filter->area, filter->keys, filter->ncolumns);
}

bool
bloomfam_join_shared_get_keys(JoinFilter *filter)
{
	JoinShared *shared = filter->shared;
	dsa_pointer next;
	int			i;

	pg_read_barrier();
	next = dsa_pointer_atomic_read(&shared->pieces);
	if (!DsaPointerIsValid(next) || pg_atomic_read_u32(&shared->piece_lost) != 0)
		return false;
	for (i = 0; i < filter->ncolumns; i++)
		bloomfam_join_keys_begin(&filter->keys[i], JOIN_KEYS_LISTING);
	while (DsaPointerIsValid(next))
	{
		const Piece *piece = dsa_get_address(filter->area, next);

		Assert(piece->column < filter->ncolumns);
		bloomfam_join_keys_merge(&filter->keys[piece->column], &piece->keys, piece->values,
								 filter->keys_context);
		next = piece->next;
	}
	for (i = 0; i < filter->ncolumns; i++)
		bloomfam_join_keys_finish(&filter->keys[i], filter->keys_context);
	return true;
}

/* ---- what is known of the key's columns ---- */

const JoinKeys *
bloomfam_join_filter_keys(JoinFilter *filter)
{
	void	   *table = filter->join != NULL ? *filter->kept : NULL;

	if (filter->ncolumns == 0)
		return NULL;

	/*
	 * A process whose join has no hash table yet does not know whether all participants have handed
	 * over their keys, see bloomfam_join_filter_attach().
	 */
	if (filter->role != JOIN_FILTER_COPY && table == NULL)
		return NULL;
	if (!filter->keys_complete && filter->role != JOIN_FILTER_PRIVATE &&
		(filter->role == JOIN_FILTER_PARTICIPANT ||
		 bloomfam_join_shared_has_copy(filter->shared)) && bloomfam_join_shared_get_keys(filter))
		bloomfam_join_filter_use_keys(filter);
	if (!filter->keys_complete || filter->keys_table != table)
		return NULL;
	return filter->keys;
}

JoinKeysRange
bloomfam_join_filter_bounds(JoinFilter *filter)
{
	const JoinKeys *keys = filter->keys;

	if (filter->of_numbers && filter->role == JOIN_FILTER_PARTICIPANT)
		keys = bloomfam_join_filter_keys(filter);
	if (!filter->of_numbers || keys == NULL || keys->phase == JOIN_KEYS_UNKNOWN)
		return (JoinKeysRange) {PG_INT64_MIN, PG_INT64_MAX};
	return keys->bounds;
}

/* ---- making the filter ---- */

bool
bloomfam_join_shared_allocate(JoinShared *shared, dsa_area *area, Size size)
{
	if (size > 0)
		shared->payload = dsa_allocate_extended(area, size + BLOOMFAM_CACHE_LINE,
												DSA_ALLOC_HUGE | DSA_ALLOC_NO_OOM);
	return size == 0 || DsaPointerIsValid(shared->payload);
}

uint8 *
bloomfam_join_shared_payload(const JoinShared *shared, dsa_area *area)
{
	if (!DsaPointerIsValid(shared->payload))
		return NULL;
	return (uint8 *) TYPEALIGN(BLOOMFAM_CACHE_LINE, dsa_get_address(area, shared->payload));
}

/*
 * Makes the filter of all keys that were handed over; or, if that is not possible and the keys are
 * numbers, the range of the numbers.  Called by the one process that has moved the state to
 * BUILDING.
 */
static void
make_shared(JoinFilter *filter, JoinCollects what)
{
	JoinShared *shared = filter->shared;
	JoinFilterProbe *design = &shared->design;
	JoinKeysRange bounds = bloomfam_join_filter_bounds(filter);
	uint64		nkeys = pg_atomic_read_u64(&shared->nkeys);
	uint64		filled PG_USED_FOR_ASSERTS_ONLY = 0;
	dsa_pointer next = dsa_pointer_atomic_read(&shared->chunks);
	uint8	   *payload;
	bool		made = false;

	Assert(state_of(shared) == JOIN_SHARED_BUILDING);
	if (what != JOIN_COLLECTS_BOUNDS)
	{
		made = nkeys <= bloomfam_join_design_most() &&
			   bloomfam_join_design_plan(what, bounds, nkeys, design) &&
			   bloomfam_join_shared_allocate(shared, filter->area, design->size);
		filter->counts.builds++;
		filter->counts.discarded += !made;
	}
	if (!made && what != JOIN_COLLECTS_HASHES)
		made = bloomfam_join_design_plan(JOIN_COLLECTS_BOUNDS, bounds, nkeys, design);
	payload = bloomfam_join_shared_payload(shared, filter->area);
	if (payload != NULL)
	{
		bloomfam_join_design_clear(design, payload);
		while (DsaPointerIsValid(next))
		{
			Chunk	   *chunk = dsa_get_address(filter->area, next);

			filled += chunk->nkeys;
			bloomfam_join_design_fill(design, what, payload, chunk->keys, chunk->nkeys);
			next = chunk->next;
		}
		Assert(filled == nkeys);
	}
	if (made)
		bloomfam_join_filter_count(filter, design, design->size + nkeys * sizeof(uint64));
	free_list(&shared->chunks, filter->area);
	pg_write_barrier();
	pg_atomic_write_u32(&shared->state, made ? JOIN_SHARED_READY : JOIN_SHARED_DISCARDED);
}

/*
 * Tells whether the participants of a Parallel Hash have a filter, and makes it if all of them have
 * handed over their keys.  Discards the filter of this process if there will be none.
 */
static bool
find_shared(JoinFilter *filter)
{
	JoinShared *shared = filter->shared;
	JoinSharedState state;

	/*
	 * Once the join has a hash table and asks its probe side for rows, all participants have handed
	 * over their keys.
	 */
	if (filter->join == NULL || *filter->kept == NULL)
		return false;
	state = state_of(shared);
	if ((state == JOIN_SHARED_COLLECTING || state == JOIN_SHARED_TOO_MANY) &&
		move_state(shared, state, JOIN_SHARED_BUILDING))
		make_shared(filter, state == JOIN_SHARED_TOO_MANY ? JOIN_COLLECTS_BOUNDS
					: filter->of_numbers				  ? JOIN_COLLECTS_NUMBERS
														  : JOIN_COLLECTS_HASHES);
	state = state_of(shared);
	if (state == JOIN_SHARED_DISCARDED)
		filter->state = JOIN_FILTER_DISCARDED;
	return state == JOIN_SHARED_READY;
}

/*
 * Tells whether the leader has left a filter.  Discards the filter of this process if the leader
 * has left only what it knows of the keys.
 */
static bool
find_copy(JoinFilter *filter)
{
	JoinCopyState copy = (JoinCopyState) pg_atomic_read_u32(&filter->shared->copy);

	if (copy == JOIN_COPY_KEYS)
		filter->state = JOIN_FILTER_DISCARDED;
	return copy == JOIN_COPY_FILTER;
}

bool
bloomfam_join_filter_attach(JoinFilter *filter)
{
	Assert(filter->role != JOIN_FILTER_PRIVATE && filter->state == JOIN_FILTER_COLLECTING);
	if (filter->role == JOIN_FILTER_COPY ? !find_copy(filter) : !find_shared(filter))
		return false;
	pg_read_barrier();
	bloomfam_join_filter_use(filter, &filter->shared->design,
							 bloomfam_join_shared_payload(filter->shared, filter->area));
	return true;
}
