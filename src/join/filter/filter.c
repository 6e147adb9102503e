/*-------------------------------------------------------------------------
 *
 * filter.c
 *	  The filter of one join in one process: what its build node and its probe nodes share.
 *
 * The planner's estimate of the build side may be wrong by any factor, so keys are collected, 8
 * bytes each, as hashes or as numbers, until their number is known; the filter is then made for
 * that (form.c).  Duplicate keys count each time: a Bloom filter comes out larger than it need be,
 * never too small.
 *
 * Each row is collected once: its key for the filter, and the numbers that its columns are for
 * their bounds and lists (keys.c), which pruning uses as well.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "join/base/gucs.h"
#include "join/filter/filter.h"
#include "pg/port.h"

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
		 bloomfam_join_shared_has_copy(filter->handle.shared)) &&
		bloomfam_join_shared_get_keys(&filter->handle, filter->keys, filter->ncolumns,
									  filter->keys_context))
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

void
bloomfam_join_filter_tie(JoinFilter *filter, JoinFilterRole role, JoinShared *shared,
						 dsa_area *area)
{
	Assert(role == JOIN_FILTER_PRIVATE || filter->copies == NULL);
	Assert(role != JOIN_FILTER_COPY || filter->join == NULL);
	filter->role = area != NULL ? role : JOIN_FILTER_PRIVATE;
	filter->phase = JOIN_FILTER_BUILDING;
	filter->handle.shared = shared;
	filter->handle.area = area;
	filter->handle.chunk = InvalidDsaPointer;
	restart_collecting(filter);
	restart_keys(filter);
}

void
bloomfam_join_filter_begin(JoinFilter *filter)
{
	MemoryContextReset(filter->context);
	filter->phase = JOIN_FILTER_BUILDING;
	filter->table = NULL;
	restart_collecting(filter);
	restart_keys(filter);
}

void
bloomfam_join_filter_outdate(JoinFilter *filter)
{
	if (filter->phase == JOIN_FILTER_COMPLETE)
		filter->phase = JOIN_FILTER_BUILDING;
	filter->keys_complete = false;
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
	if (filter->role == JOIN_FILTER_PARTICIPANT)
	{
		if (!bloomfam_join_shared_more(&filter->handle, collected, &filter->counts))
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

/* The filter is finished: it holds as long as the join has the hash table that it now has. */
static void
use(JoinFilter *filter, const JoinDesign *design, const uint8 *payload)
{
	Assert((filter->join == NULL) == (filter->role == JOIN_FILTER_COPY));
	bloomfam_join_open(&filter->probe, design, payload);
	if (filter->join != NULL)
		filter->table = bloomfam_hash_join_table(filter->join);
	filter->phase = JOIN_FILTER_COMPLETE;
}

/* The payload of a private filter of what was collected; NULL: its form has none. */
static const uint8 *
make_payload(JoinFilter *filter, const JoinDesign *design)
{
	JoinCollected *collected = &filter->collected;
	Size		size = design->size + BLOOMFAM_CACHE_LINE;
	char	   *memory;
	uint8	   *payload;

	if (design->form == JOIN_FORM_RANGE)
		return NULL;
	if (collected->what == JOIN_COLLECTS_BITMAP)
	{
		Assert(collected->n == 0 && design->form == JOIN_FORM_BITMAP);
		Assert(design->first == collected->first && design->span == collected->span);
		return (uint8 *) collected->words;
	}
	memory = MemoryContextAllocExtended(filter->context, size, MCXT_ALLOC_HUGE);
	payload = (uint8 *) TYPEALIGN(BLOOMFAM_CACHE_LINE, memory);
	bloomfam_advise_huge_pages(memory, size);
	bloomfam_join_design_clear(design, payload);
	bloomfam_join_design_fill(design, collected->what, payload, collected->values, collected->n);
	return payload;
}

/* Makes a private filter of what was collected. */
static void
make_private(JoinFilter *filter, const JoinDesign *design)
{
	JoinCollected *collected = &filter->collected;
	const uint8 *payload = make_payload(filter, design);

	filter->counts.keys += collected->nfolded + collected->n;
	bloomfam_join_count_filter(&filter->counts, design,
							   design->size + BLOOMFAM_CACHE_LINE +
								   collected->room * sizeof(uint64));
	if (collected->values != NULL)
		pfree(collected->values);
	restart_collecting(filter);
	use(filter, design, payload);
}

/* Ends a build that is private. */
static void
finish_private(JoinFilter *filter)
{
	JoinCollected *collected = &filter->collected;
	JoinDesign	design;
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
	else if (filter->join != NULL)
		make_private(filter, &design);
}

void
bloomfam_join_filter_finish(JoinFilter *filter)
{
	int			i;

	for (i = 0; i < filter->ncolumns; i++)
		bloomfam_join_keys_finish(&filter->keys[i], filter->keys_context);
	if (filter->role == JOIN_FILTER_PARTICIPANT)
	{
		bloomfam_join_shared_hand_over(&filter->handle, &filter->collected, filter->keys,
									   filter->ncolumns, &filter->counts);
		return;
	}
	if (filter->join != NULL)
		use_keys(filter);
	finish_private(filter);
}

bool
bloomfam_join_filter_attach(JoinFilter *filter)
{
	JoinSharedState state;
	JoinDesign	design;
	const uint8 *payload;

	Assert(filter->role != JOIN_FILTER_PRIVATE && filter->phase == JOIN_FILTER_BUILDING);

	/* once the join has a table and asks the probe side for rows, all have handed over */
	if (filter->role == JOIN_FILTER_PARTICIPANT &&
		(filter->join == NULL || bloomfam_hash_join_table(filter->join) == NULL))
		return false;
	state = bloomfam_join_shared_state(filter->handle.shared);
	if (state == JOIN_SHARED_COLLECTING || state == JOIN_SHARED_TOO_MANY)
		state = bloomfam_join_shared_make(&filter->handle, filter->of_numbers, get_bounds(filter),
										  &filter->counts);
	switch (state)
	{
		case JOIN_SHARED_COLLECTING:
		case JOIN_SHARED_TOO_MANY:
		case JOIN_SHARED_BUILDING:
		case JOIN_SHARED_NO_COPY:
			return false;
		case JOIN_SHARED_DISCARDED:
		case JOIN_SHARED_KEYS_ONLY:
			filter->phase = JOIN_FILTER_ABANDONED;
			return false;
		case JOIN_SHARED_READY:
			break;
	}
	payload = bloomfam_join_shared_get(&filter->handle, &design);
	use(filter, &design, payload);
	return true;
}

void
bloomfam_join_filter_forget_copy(JoinFilter *filter, const JoinShared *shared)
{
	JoinCopy  **link = &filter->copies;

	while (*link != NULL && (*link)->shared != shared)
		link = &(*link)->next;
	if (*link != NULL)
	{
		JoinCopy   *copy = *link;

		*link = copy->next;
		pfree(copy);
	}
}

/* The copy that was left for the workers in this area; NULL: none. */
static JoinCopy *
find_copy(JoinFilter *filter, const dsa_area *area)
{
	JoinCopy   *copy = filter->copies;

	while (copy != NULL && copy->area != area)
		copy = copy->next;
	return copy;
}

/* As bloomfam_join_filter_leave_copy(); false: there is no copy. */
static bool
leave_copy(JoinFilter *filter, JoinShared *shared, dsa_area *area)
{
	const JoinKeys *keys = bloomfam_join_filter_keys(filter);
	bool		ready = bloomfam_join_filter_ready(filter);
	bool		known = (ready || keys != NULL) && !filter->passed_unfiltered;
	JoinCopy   *copy = find_copy(filter, area);

	if (copy != NULL)
	{
		if (known && copy->build == filter->counts.builds)
			return true;
		shared = copy->shared;
		bloomfam_join_shared_reset(shared, area, JOIN_SHARED_NO_COPY);
		bloomfam_join_filter_forget_copy(filter, shared);
	}
	if (!known || !bloomfam_join_shared_copy(shared, area, ready ? &filter->probe : NULL, keys,
											 filter->ncolumns))
		return false;
	Assert(find_copy(filter, area) == NULL);
	copy = MemoryContextAlloc(GetMemoryChunkContext(filter), sizeof(JoinCopy));
	copy->next = filter->copies;
	copy->area = area;
	copy->shared = shared;
	copy->build = filter->counts.builds;
	filter->copies = copy;
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
