/*-------------------------------------------------------------------------
 *
 * filter.c
 *	  What the two sides of a join share: the filter of one join, in one process.
 *
 * The planner's estimate of the build side may be wrong by any factor, so keys are kept, 8 bytes
 * each, as hashes or as numbers, until it is known how many they are; the filter is then made for
 * that (design.c).  Repeated keys are counted each time: a Bloom filter comes out larger than it
 * need be, never too small.
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
	bloomfam_join_collect(&filter->collected,
						  filter->of_numbers ? JOIN_COLLECTS_NUMBERS : JOIN_COLLECTS_HASHES);
}

void
bloomfam_join_filter_take_numbers(JoinFilter *filter)
{
	filter->of_numbers = true;
	restart_collecting(filter);
}

void
bloomfam_join_filter_keep(JoinFilter *filter, int ncolumns)
{
	MemoryContext parent = GetMemoryChunkContext(filter);

	if (filter->ncolumns > 0)
		return;
	filter->ncolumns = ncolumns;
	filter->keys = MemoryContextAllocZero(parent, ncolumns * sizeof(JoinKeys));
	filter->keys_context =
		AllocSetContextCreate(parent, "bloomfam join keys", ALLOCSET_SMALL_SIZES);
}

void
bloomfam_join_filter_keep_column(JoinFilter *filter, int column, Oid type)
{
	bloomfam_join_keys_begin(&filter->keys[column], type);
}

/* Forgets what it has kept, and begins to keep it if this process is one that builds. */
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
		if (OidIsValid(filter->keys[i].type))
			bloomfam_join_keys_begin(&filter->keys[i], filter->keys[i].type);
}

/* From now on, and as long as the join has the hash table that it now has, the keys are these. */
static void
use_keys(JoinFilter *filter)
{
	if (filter->join != NULL)
		filter->keys_table = filter->join->hj_HashTable;
	filter->keys_complete = true;
	filter->keys_build++;
	filter->lookups = 0;
}

/* All keys of this process are in. */
static void
finish_keys(JoinFilter *filter)
{
	int			i;

	if (filter->ncolumns == 0)
		return;
	for (i = 0; i < filter->ncolumns; i++)
		bloomfam_join_keys_finish(&filter->keys[i], filter->keys_context);
	if (filter->role == JOIN_FILTER_PARTICIPANT)
		bloomfam_join_shared_put_keys(filter->handle.shared, filter->handle.area, filter->keys,
									  filter->ncolumns);
	else if (filter->join != NULL)
		use_keys(filter);
}

const JoinKeys *
bloomfam_join_filter_keys(JoinFilter *filter)
{
	HashJoinTable table = filter->join != NULL ? filter->join->hj_HashTable : NULL;

	if (filter->ncolumns == 0)
		return NULL;

	/* as with the filter itself, see bloomfam_join_filter_attach() */
	if (filter->role != JOIN_FILTER_COPY && table == NULL)
		return NULL;
	if (!filter->keys_complete && filter->role != JOIN_FILTER_PRIVATE &&
		(filter->role == JOIN_FILTER_PARTICIPANT ||
		 bloomfam_join_shared_has_copy(filter->handle.shared)) &&
		bloomfam_join_shared_get_keys(filter->handle.shared, filter->handle.area, filter->keys,
									  filter->ncolumns, filter->keys_context))
		use_keys(filter);
	if (!filter->keys_complete || filter->keys_table != table)
		return NULL;
	return filter->keys;
}

void
bloomfam_join_filter_tie(JoinFilter *filter, JoinFilterRole role, JoinShared *shared,
						 dsa_area *area)
{
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

/* There are too many keys to collect them. */
static void
collect_less(JoinFilter *filter)
{
	if (!bloomfam_join_collect_less(&filter->collected))
		filter->phase = JOIN_FILTER_ABANDONED;
}

void
bloomfam_join_filter_more(JoinFilter *filter)
{
	JoinCollected *collected = &filter->collected;
	uint64		most = bloomfam_join_design_most();
	uint64		room = collected->room == 0 ? JOIN_FIRST_KEYS : collected->room * 2;

	if (filter->phase == JOIN_FILTER_ABANDONED)
		return;
	if (filter->role == JOIN_FILTER_PARTICIPANT)
	{
		if (!bloomfam_join_shared_more(&filter->handle, collected, &filter->counts))
			collect_less(filter);
		return;
	}
	if (collected->room >= most)
	{
		if (!bloomfam_join_collect_bits(collected, filter->context))
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

/*
 * From now on, and as long as the join has the hash table that it now has, the filter is this
 * one.
 */
static void
use(JoinFilter *filter, const JoinDesign *design, const uint8 *payload)
{
	bloomfam_join_filter_probe_open(&filter->filter_probe, design, payload);
	if (filter->join != NULL)
		filter->table = filter->join->hj_HashTable;
	filter->phase = JOIN_FILTER_COMPLETE;
}

/* The bytes of a private filter of what was collected, which are a bitmap already, or are made. */
static uint8 *
make_payload(JoinFilter *filter, const JoinDesign *design)
{
	JoinCollected *collected = &filter->collected;
	Size		size = design->size + BLOOMFAM_CACHE_LINE;
	char	   *memory;
	uint8	   *payload;

	if (collected->what == JOIN_COLLECTS_BITS)
		return (uint8 *) collected->words;
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
	uint8	   *payload = make_payload(filter, design);

	filter->counts.keys += collected->earlier + collected->n;
	bloomfam_join_count_filter(&filter->counts, design->form, design->size,
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

	if (collected->what == JOIN_COLLECTS_BITS &&
		!bloomfam_join_collect_bits(collected, filter->context))
		collect_less(filter);
	made = filter->phase != JOIN_FILTER_ABANDONED &&
		   bloomfam_join_design_plan(collected, collected->n, &design);
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
	finish_keys(filter);
	if (filter->role != JOIN_FILTER_PARTICIPANT)
		finish_private(filter);
	else if (filter->phase != JOIN_FILTER_ABANDONED)
		bloomfam_join_shared_hand_over(&filter->handle, &filter->collected, &filter->counts);
}

bool
bloomfam_join_filter_attach(JoinFilter *filter)
{
	JoinSharedState state;
	JoinDesign	design;
	const uint8 *payload;

	if (filter->role == JOIN_FILTER_PARTICIPANT)
	{
		/*
		 * the join has a table before it asks the probe side for rows, and then all have handed
		 * over
		 */
		if (filter->join == NULL || filter->join->hj_HashTable == NULL)
			return false;
		state = bloomfam_join_shared_make(&filter->handle, filter->of_numbers, &filter->counts);
	}
	else
		state = bloomfam_join_shared_state(filter->handle.shared);
	switch (state)
	{
		case JOIN_SHARED_NONE:
		case JOIN_SHARED_TOO_MANY:
		case JOIN_SHARED_BUILDING:
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

/* The copy that the workers in this area have; NULL if they have none. */
static JoinCopy *
find_copy(JoinFilter *filter, const dsa_area *area)
{
	JoinCopy   *copy = filter->copies;

	while (copy != NULL && copy->area != area)
		copy = copy->next;
	return copy;
}

/* The same as below; false: there is no copy. */
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
		bloomfam_join_shared_reset(shared, area, JOIN_SHARED_DISCARDED);
		bloomfam_join_filter_forget_copy(filter, shared);
	}
	if (!known || !bloomfam_join_shared_copy(shared, area, ready ? &filter->filter_probe : NULL,
											 keys, filter->ncolumns))
		return false;
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
	/* workers have the leader's settings of now, and may use none */
	if (area != NULL && !(leave_copy(filter, shared, area) &&
						  bloomfam_join_filter != JOIN_FILTER_OFF))
		filter->passed_unfiltered |= all_or_none;
}
