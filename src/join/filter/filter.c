/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * filter.c
 *	  The filter of one join: in one process, or shared by several.
 *
 * The planner's estimate of the build side may be wrong by any factor, so keys are collected, 8
 * bytes each, as hashes or as numbers, until their number is known; the filter is then made for
 * that (form.c).  Duplicate keys count each time: a Bloom filter comes out larger than it need be,
 * never too small.
 *
 * Each row is collected once: its key for the filter, and the numbers that its columns are for
 * their bounds and lists (keys.c), which pruning uses as well.
 *
 * Where each process builds a hash table of its own, it builds a filter of its own as well, and
 * only the counts for EXPLAIN are shared.  In two cases the filter is shared, in the query's DSA,
 * with a JoinShared in a node's dynamic shared memory:
 *
 * Each participant of a Parallel Hash reads a part of the build side.  It collects its keys in
 * chunks, and hands them over, with pieces of what is known of its columns (keys.c), before its
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

#include "utils/memutils.h"

#include "join/base/gucs.h"
#include "join/filter/filter.h"
#include "pg/port.h"

/*
 * What the processes hand over is in lists, whose items begin with the next one.  Here, keys of one
 * participant.
 */
typedef struct JoinChunk
{
	dsa_pointer next;
	uint64		nkeys;
	uint64		keys[FLEXIBLE_ARRAY_MEMBER];
} JoinChunk;

/* A column of one participant, finished. */
typedef struct JoinKeysPiece
{
	dsa_pointer next;
	int			column;
	JoinKeys	keys;			/* but for its list, which is at values */
	int64		values[FLEXIBLE_ARRAY_MEMBER];
} JoinKeysPiece;

/* From 4 kB to 1 MB */
#define CHUNK_FIRST_KEYS	510
#define CHUNK_MOST_KEYS	(128 * 1024 - 2)

/* A copy that the leader has left the workers of one Gather. */
typedef struct JoinCopy
{
	dsa_area   *area;			/* of that Gather */
	JoinShared *shared;
	uint64		build;			/* counts.builds at that time: it is outdated by a later build */
} JoinCopy;

JoinFilter *
bloomfam_join_filter_get(EState *estate, int param)
{
	ParamExecData *slot = &estate->es_param_exec_vals[param];

	if (slot->value == (Datum) 0)
	{
		JoinFilter *filter = MemoryContextAllocZero(estate->es_query_cxt, sizeof(JoinFilter));

		filter->context = AllocSetContextCreate(estate->es_query_cxt, "bloomfam join filter",
												ALLOCSET_DEFAULT_SIZES);
		slot->value = PointerGetDatum(filter);
	}
	return (JoinFilter *) DatumGetPointer(slot->value);
}

/* Nothing is collected yet. */
static void
restart_collecting(JoinFilter *filter)
{
	memset(&filter->collected, 0, sizeof(JoinCollected));
	filter->collected.what = filter->of_numbers ? JOIN_COLLECTS_NUMBERS : JOIN_COLLECTS_HASHES;
}

void
bloomfam_join_filter_keep(JoinFilter *filter, int ncolumns)
{
	MemoryContext parent = GetMemoryChunkContext(filter);

	Assert(filter->ncolumns == 0 || filter->ncolumns == ncolumns);
	if (filter->ncolumns > 0)
		return;
	filter->ncolumns = ncolumns;
	filter->keys = MemoryContextAllocZero(parent, ncolumns * sizeof(JoinKeys));
	filter->keys_context =
		AllocSetContextCreate(parent, "bloomfam join keys", ALLOCSET_SMALL_SIZES);
}

void
bloomfam_join_filter_collect(JoinFilter *filter, int ncolumns, int column, const JoinKey *key,
							 Oid type, bool list)
{
	JoinKeys   *keys;

	filter->of_numbers = ncolumns == 1 && key->integer;
	restart_collecting(filter);
	if (!list && !filter->of_numbers)
		return;
	Assert(key->integer && column < ncolumns);
	bloomfam_join_filter_keep(filter, ncolumns);
	keys = &filter->keys[column];
	keys->wanted = list ? JOIN_KEYS_LISTING : JOIN_KEYS_BOUNDED;
	keys->type = type;
	keys->typlen = key->typlen;
	bloomfam_join_keys_begin(keys, keys->wanted);
}

/* Empties the columns: this process begins to collect those that it wants. */
static void
restart_keys(JoinFilter *filter)
{
	int			i;

	filter->keys_complete = false;
	filter->keys_table = NULL;
	if (filter->ncolumns == 0)
		return;
	MemoryContextReset(filter->keys_context);
	for (i = 0; i < filter->ncolumns; i++)
		bloomfam_join_keys_begin(&filter->keys[i], filter->keys[i].wanted);
}

/* The columns are finished: they hold as long as the join has the hash table that it now has. */
static void
use_keys(JoinFilter *filter)
{
	if (filter->join != NULL)
		filter->keys_table = bloomfam_hash_join_table(filter->join);
	filter->keys_complete = true;
	filter->keys_build++;
	filter->lookups = 0;
}

/* ---- in shared memory ---- */

void
bloomfam_join_shared_init(JoinShared *shared, JoinSharedState state)
{
	pg_atomic_init_u32(&shared->state, state);
	pg_atomic_init_u64(&shared->nkeys, 0);
	dsa_pointer_atomic_init(&shared->chunks, InvalidDsaPointer);
	shared->payload = InvalidDsaPointer;
	dsa_pointer_atomic_init(&shared->pieces, InvalidDsaPointer);

	/* the leader has no filter: it will not hand over the keys of its own part */
	pg_atomic_init_u32(&shared->piece_lost, state == JOIN_SHARED_DISCARDED ? 1 : 0);
}

/* Of all processes that try it, one moves the state on; it gets true. */
static bool
move_state(JoinShared *shared, JoinSharedState from, JoinSharedState to)
{
	uint32		expected = from;

	return pg_atomic_compare_exchange_u32(&shared->state, &expected, to);
}

/* Adds an item to a list; next is its first member. */
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

/* Hands over the chunk that keys were collected in, if there is one. */
static void
put_chunk(JoinFilter *filter)
{
	JoinCollected *collected = &filter->collected;
	JoinChunk  *chunk;

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

/*
 * Makes room for more keys of this process.  False if there is none for the filter's keys, of any
 * process: there are more than the filter of one process may have, and a chunk each; or no memory.
 */
static bool
next_chunk(JoinFilter *filter)
{
	JoinShared *shared = filter->shared;
	JoinCollected *collected = &filter->collected;
	uint64		room =
		collected->room == 0 ? CHUNK_FIRST_KEYS : Min(collected->room * 2, CHUNK_MOST_KEYS);

	put_chunk(filter);
	Assert(!DsaPointerIsValid(filter->chunk));
	if (bloomfam_join_shared_state(shared) == JOIN_SHARED_COLLECTING &&
		pg_atomic_read_u64(&shared->nkeys) < bloomfam_join_design_most())
		filter->chunk = dsa_allocate_extended(
			filter->area, offsetof(JoinChunk, keys) + room * sizeof(uint64), DSA_ALLOC_NO_OOM);
	if (DsaPointerIsValid(filter->chunk))
	{
		collected->values = ((JoinChunk *) dsa_get_address(filter->area, filter->chunk))->keys;
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

/* Adds this process's columns, finished; without columns nothing is known of any. */
static void
put_keys(JoinShared *shared, dsa_area *area, const JoinKeys *keys, int ncolumns)
{
	bool		lost = ncolumns == 0;
	int			i;

	for (i = 0; i < ncolumns && !lost; i++)
	{
		Size		length = keys[i].nvalues * sizeof(int64);
		dsa_pointer own = dsa_allocate_extended(area, offsetof(JoinKeysPiece, values) + length,
												DSA_ALLOC_NO_OOM);

		Assert(keys[i].phase != JOIN_KEYS_LISTING && keys[i].nvalues <= JOIN_KEYS_FEW);
		lost = !DsaPointerIsValid(own);
		if (!lost)
		{
			JoinKeysPiece *piece = dsa_get_address(area, own);

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

/*
 * Merges the columns of all processes.  False if a piece is missing: the filter's are undefined
 * then, else finished.
 */
static bool
get_keys(JoinFilter *filter)
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
		const JoinKeysPiece *piece = dsa_get_address(filter->area, next);

		Assert(piece->column < filter->ncolumns);
		bloomfam_join_keys_merge(&filter->keys[piece->column], &piece->keys, piece->values,
								 filter->keys_context);
		next = piece->next;
	}
	for (i = 0; i < filter->ncolumns; i++)
		bloomfam_join_keys_finish(&filter->keys[i], filter->keys_context);
	return true;
}

/* Gets memory for a payload of so many bytes, which may be none; false: there is no memory. */
static bool
allocate_payload(JoinShared *shared, dsa_area *area, Size size)
{
	if (size > 0)
		shared->payload = dsa_allocate_extended(area, size + BLOOMFAM_CACHE_LINE,
												DSA_ALLOC_HUGE | DSA_ALLOC_NO_OOM);
	return size == 0 || DsaPointerIsValid(shared->payload);
}

/* The payload, aligned; NULL: the form has none. */
static uint8 *
payload_of(const JoinShared *shared, dsa_area *area)
{
	if (!DsaPointerIsValid(shared->payload))
		return NULL;
	return (uint8 *) TYPEALIGN(BLOOMFAM_CACHE_LINE, dsa_get_address(area, shared->payload));
}

/* ---- the keys of pruning ---- */

const JoinKeys *
bloomfam_join_filter_keys(JoinFilter *filter)
{
	HashJoinTable table = filter->join != NULL ? bloomfam_hash_join_table(filter->join) : NULL;

	if (filter->ncolumns == 0)
		return NULL;

	/* as with the filter itself, see bloomfam_join_filter_attach() */
	if (filter->role != JOIN_FILTER_COPY && table == NULL)
		return NULL;
	if (!filter->keys_complete && filter->role != JOIN_FILTER_PRIVATE &&
		(filter->role == JOIN_FILTER_PARTICIPANT ||
		 bloomfam_join_shared_has_copy(filter->shared)) && get_keys(filter))
		use_keys(filter);
	if (!filter->keys_complete || filter->keys_table != table)
		return NULL;
	return filter->keys;
}

/*
 * The bounds of all numbers of the build, in all processes, once it has ended; all int64 if a
 * participant's piece was lost.  They do not matter of hashes.
 */
static JoinKeysRange
get_bounds(JoinFilter *filter)
{
	const JoinKeys *keys = filter->keys;

	if (filter->of_numbers && filter->role == JOIN_FILTER_PARTICIPANT)
		keys = bloomfam_join_filter_keys(filter);
	if (!filter->of_numbers || keys == NULL || keys->phase == JOIN_KEYS_UNKNOWN)
		return (JoinKeysRange) {PG_INT64_MIN, PG_INT64_MAX};
	return (JoinKeysRange) {keys->smallest, keys->largest};
}

/* ---- collecting ---- */

void
bloomfam_join_filter_tie(JoinFilter *filter, JoinFilterRole role, JoinShared *shared,
						 dsa_area *area)
{
	Assert(role == JOIN_FILTER_PRIVATE || filter->copies == NULL);
	Assert(role != JOIN_FILTER_COPY || filter->join == NULL);
	filter->role = area != NULL ? role : JOIN_FILTER_PRIVATE;
	filter->phase = JOIN_FILTER_BUILDING;
	filter->shared = shared;
	filter->area = area;
	filter->chunk = InvalidDsaPointer;
	restart_collecting(filter);
	restart_keys(filter);
}

void
bloomfam_join_filter_restart(JoinFilter *filter)
{
	MemoryContextReset(filter->context);
	filter->phase = JOIN_FILTER_BUILDING;
	filter->table = NULL;
	restart_collecting(filter);
	restart_keys(filter);
}

/* There are too many keys to collect them: of numbers the bounds are left, of hashes nothing. */
static void
collect_less(JoinFilter *filter)
{
	restart_collecting(filter);
	if (filter->of_numbers)
		filter->collected.what = JOIN_COLLECTS_BOUNDS;
	else
		filter->phase = JOIN_FILTER_ABANDONED;
}

void
bloomfam_join_filter_more(JoinFilter *filter)
{
	JoinCollected *collected = &filter->collected;
	uint64		most = bloomfam_join_design_most();
	uint64		room = collected->room == 0 ? JOIN_FIRST_KEYS : collected->room * 2;

	Assert(filter->phase == JOIN_FILTER_BUILDING && collected->n == collected->room);
	Assert(collected->what != JOIN_COLLECTS_BOUNDS);
	/* its own numbers would not do for a bitmap of all: of too many the bounds are left */
	if (filter->role == JOIN_FILTER_PARTICIPANT)
	{
		if (!next_chunk(filter))
			collect_less(filter);
		return;
	}
	if (collected->room >= most)
	{
		if (!bloomfam_join_fold(collected, get_bounds(filter), filter->context))
		{
			MemoryContextReset(filter->context);
			collect_less(filter);
		}
		return;
	}
	room = Min(room, most);
	if (collected->values == NULL)
		collected->values = MemoryContextAlloc(filter->context, room * sizeof(uint64));
	else
		collected->values = repalloc_huge(collected->values, room * sizeof(uint64));
	collected->room = room;
}

/* ---- the end of a build ---- */

/* Counts a finished filter; memory: all that making it took, in bytes. */
static void
count_filter(JoinBuildCounts *counts, const JoinDesign *design, Size memory)
{
	counts->bitmaps += design->form == JOIN_FORM_BITMAP;
	counts->ranges += design->form == JOIN_FORM_RANGE;
	counts->bytes += design->size;
	counts->largest = Max(counts->largest, design->size);
	counts->memory = Max(counts->memory, memory);
}

/*
 * The filter is finished: it holds as long as the join has the hash table that it now has.  Another
 * process may have filled the payload, which must stay.
 */
static void
use(JoinFilter *filter, const JoinDesign *design, const uint8 *payload)
{
	JoinFilterProbe *probe = &filter->probe;

	Assert((filter->join == NULL) == (filter->role == JOIN_FILTER_COPY));
	Assert((payload == NULL) == (design->size == 0));
	Assert(payload == (const uint8 *) MAXALIGN(payload));
	probe->design = *design;
	probe->payload = payload;
	if (design->form == JOIN_FORM_BLOOM)
	{
		/* the module need not lie at the same address in the process that designed the filter */
		probe->design.head.kind = bf_kind_by_id(JOIN_FILTER_KIND);
		probe->view.head = probe->design.head;
		probe->view.payload = payload;
		probe->probe = probe->view.head.kind->prober(&probe->view);
	}
	if (filter->join != NULL)
		filter->table = bloomfam_hash_join_table(filter->join);
	filter->phase = JOIN_FILTER_COMPLETE;
}

/* Ends a build that is private: makes the filter of what was collected. */
static void
finish_private(JoinFilter *filter)
{
	JoinCollected *collected = &filter->collected;
	JoinDesign	design;
	uint8	   *payload;
	Size		size;
	bool		made;

	if (collected->what == JOIN_COLLECTS_BITMAP &&
		!bloomfam_join_fold(collected, get_bounds(filter), filter->context))
		collect_less(filter);
	made = filter->phase != JOIN_FILTER_ABANDONED &&
		   bloomfam_join_design_plan(collected->what, get_bounds(filter), collected->n, &design);
	filter->counts.builds++;
	filter->counts.discarded += !made || design.form == JOIN_FORM_RANGE;
	if (!made)
		filter->phase = JOIN_FILTER_ABANDONED;
	if (!made || filter->join == NULL)
		return;

	payload = (uint8 *) collected->words;
	size = design.size + BLOOMFAM_CACHE_LINE;
	Assert(payload == NULL || (collected->n == 0 && design.form == JOIN_FORM_BITMAP &&
							   design.first == collected->first && design.span == collected->span));
	if (payload == NULL && design.size > 0)
	{
		char	   *memory = MemoryContextAllocExtended(filter->context, size, MCXT_ALLOC_HUGE);

		payload = (uint8 *) TYPEALIGN(BLOOMFAM_CACHE_LINE, memory);
		bloomfam_advise_huge_pages(memory, size);
		bloomfam_join_design_clear(&design, payload);
		bloomfam_join_design_fill(&design, collected->what, payload, collected->values,
								  collected->n);
	}
	filter->counts.keys += collected->nfolded + collected->n;
	count_filter(&filter->counts, &design, size + collected->room * sizeof(uint64));
	if (collected->values != NULL)
		pfree(collected->values);
	restart_collecting(filter);
	use(filter, &design, payload);
}

void
bloomfam_join_filter_finish(JoinFilter *filter)
{
	int			i;

	for (i = 0; i < filter->ncolumns; i++)
		bloomfam_join_keys_finish(&filter->keys[i], filter->keys_context);
	if (filter->role == JOIN_FILTER_PARTICIPANT)
	{
		Assert(bloomfam_join_shared_state(filter->shared) != JOIN_SHARED_BUILDING);
		Assert(bloomfam_join_shared_state(filter->shared) != JOIN_SHARED_READY);
		put_chunk(filter);
		put_keys(filter->shared, filter->area, filter->keys, filter->ncolumns);
		return;
	}
	if (filter->join != NULL)
		use_keys(filter);
	finish_private(filter);
}

/*
 * Makes the filter of all that was handed over, or the range of numbers where that cannot be.
 * Called by the one process that has moved the state to BUILDING.
 */
static void
make_shared(JoinFilter *filter, JoinCollects what)
{
	JoinShared *shared = filter->shared;
	JoinDesign *design = &shared->design;
	JoinKeysRange bounds = get_bounds(filter);
	uint64		nkeys = pg_atomic_read_u64(&shared->nkeys);
	uint64		filled PG_USED_FOR_ASSERTS_ONLY = 0;
	dsa_pointer next = dsa_pointer_atomic_read(&shared->chunks);
	uint8	   *payload;
	bool		made = false;

	Assert(bloomfam_join_shared_state(shared) == JOIN_SHARED_BUILDING);
	if (what != JOIN_COLLECTS_BOUNDS)
	{
		made = nkeys <= bloomfam_join_design_most() &&
			   bloomfam_join_design_plan(what, bounds, nkeys, design) &&
			   allocate_payload(shared, filter->area, design->size);
		filter->counts.builds++;
		filter->counts.discarded += !made;
	}
	if (!made && what != JOIN_COLLECTS_HASHES)
		made = bloomfam_join_design_plan(JOIN_COLLECTS_BOUNDS, bounds, nkeys, design);
	payload = payload_of(shared, filter->area);
	if (payload != NULL)
	{
		bloomfam_join_design_clear(design, payload);
		while (DsaPointerIsValid(next))
		{
			JoinChunk  *chunk = dsa_get_address(filter->area, next);

			filled += chunk->nkeys;
			bloomfam_join_design_fill(design, what, payload, chunk->keys, chunk->nkeys);
			next = chunk->next;
		}
		Assert(filled == nkeys);
	}
	if (made)
		count_filter(&filter->counts, design, design->size + nkeys * sizeof(uint64));
	free_list(&shared->chunks, filter->area);
	pg_write_barrier();
	pg_atomic_write_u32(&shared->state, made ? JOIN_SHARED_READY : JOIN_SHARED_DISCARDED);
}

bool
bloomfam_join_filter_attach(JoinFilter *filter)
{
	JoinShared *shared = filter->shared;
	JoinSharedState state;

	Assert(filter->role != JOIN_FILTER_PRIVATE && filter->phase == JOIN_FILTER_BUILDING);

	/* once the join has a table and asks the probe side for rows, all have handed over */
	if (filter->role == JOIN_FILTER_PARTICIPANT &&
		(filter->join == NULL || bloomfam_hash_join_table(filter->join) == NULL))
		return false;
	state = bloomfam_join_shared_state(shared);
	if ((state == JOIN_SHARED_COLLECTING || state == JOIN_SHARED_TOO_MANY) &&
		move_state(shared, state, JOIN_SHARED_BUILDING))
		make_shared(filter, state == JOIN_SHARED_TOO_MANY ? JOIN_COLLECTS_BOUNDS
					: filter->of_numbers				  ? JOIN_COLLECTS_NUMBERS
														  : JOIN_COLLECTS_HASHES);
	state = bloomfam_join_shared_state(shared);
	if (state == JOIN_SHARED_DISCARDED || state == JOIN_SHARED_KEYS_ONLY)
		filter->phase = JOIN_FILTER_ABANDONED;
	if (state != JOIN_SHARED_READY)
		return false;
	pg_read_barrier();
	use(filter, &shared->design, payload_of(shared, filter->area));
	return true;
}

/* ---- the leader's copies ---- */

/* Turns NO_COPY into a copy of the filter, if it is ready, and of these keys (NULL: none known). */
static bool
fill_copy(JoinFilter *filter, JoinShared *shared, dsa_area *area, bool ready, const JoinKeys *keys)
{
	const JoinFilterProbe *probe = &filter->probe;

	Assert(bloomfam_join_shared_state(shared) == JOIN_SHARED_NO_COPY);
	Assert(!DsaPointerIsValid(shared->payload));
	if (ready)
	{
		if (!allocate_payload(shared, area, probe->design.size))
			return false;
		if (probe->design.size > 0)
			memcpy(payload_of(shared, area), probe->payload, probe->design.size);
		shared->design = probe->design;
	}
	if (keys != NULL)
		put_keys(shared, area, keys, filter->ncolumns);
	pg_write_barrier();
	pg_atomic_write_u32(&shared->state, ready ? JOIN_SHARED_READY : JOIN_SHARED_KEYS_ONLY);
	return true;
}

void
bloomfam_join_filter_forget_copy(JoinFilter *filter, const JoinShared *shared)
{
	ListCell   *lc;

	foreach(lc, filter->copies)
	{
		JoinCopy   *copy = lfirst(lc);

		if (copy->shared == shared)
		{
			filter->copies = foreach_delete_current(filter->copies, lc);
			pfree(copy);
		}
	}
}

/* As bloomfam_join_filter_leave_copy(); false: there is no copy. */
static bool
leave_copy(JoinFilter *filter, JoinShared *shared, dsa_area *area)
{
	const JoinKeys *keys = bloomfam_join_filter_keys(filter);
	bool		ready = bloomfam_join_filter_ready(filter);
	bool		known = (ready || keys != NULL) && !filter->passed_unfiltered;
	JoinCopy   *copy = NULL;	/* that was left for the workers in this area */
	ListCell   *lc;

	foreach(lc, filter->copies)
		if (((JoinCopy *) lfirst(lc))->area == area)
			copy = lfirst(lc);
	if (copy != NULL)
	{
		if (known && copy->build == filter->counts.builds)
			return true;
		shared = copy->shared;
		bloomfam_join_shared_reset(shared, area, JOIN_SHARED_NO_COPY);
	}
	if (!known || !fill_copy(filter, shared, area, ready, keys))
	{
		bloomfam_join_filter_forget_copy(filter, shared);
		return false;
	}
	if (copy == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(filter));

		copy = palloc(sizeof(JoinCopy));
		copy->area = area;
		copy->shared = shared;
		filter->copies = lappend(filter->copies, copy);
		MemoryContextSwitchTo(old);
	}
	copy->build = filter->counts.builds;
	return true;
}

void
bloomfam_join_filter_leave_copy(JoinFilter *filter, JoinShared *shared, dsa_area *area,
								bool all_or_none)
{
	/* workers begin with the leader's present GUCs, by which they may use no filter */
	if (area != NULL && !(leave_copy(filter, shared, area) &&
						  bloomfam_join_filter != JOIN_FILTER_OFF))
		filter->passed_unfiltered |= all_or_none;
}
