/*-------------------------------------------------------------------------
 *
 * filter.c
 *	  What the two sides of a join share: the filter of one join, in one process.
 *
 * The planner's estimate of the build side may be wrong by any factor, so hashes are kept, 8
 * bytes each, until their number is known; the filter is then sized for that.  Repeated keys are
 * counted each time: the filter comes out larger than it need be, never too small.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "join/filter.h"
#include "pg/env.h"

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
	if (filter->role == JOIN_FILTER_SHARE)
		bloomfam_join_shared_put_keys(filter->share.shared, filter->share.area, filter->keys,
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
		(filter->role == JOIN_FILTER_SHARE ||
		 bloomfam_join_shared_look(filter->share.shared) == JOIN_SHARED_READY) &&
		bloomfam_join_shared_get_keys(filter->share.shared, filter->share.area, filter->keys,
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
	filter->share.shared = shared;
	filter->share.area = area;
	filter->share.chunk = InvalidDsaPointer;
	memset(&filter->hashes, 0, sizeof(filter->hashes));
	restart_keys(filter);
}

void
bloomfam_join_filter_begin(JoinFilter *filter)
{
	MemoryContextReset(filter->context);
	filter->phase = JOIN_FILTER_BUILDING;
	filter->table = NULL;
	memset(&filter->hashes, 0, sizeof(filter->hashes));
	restart_keys(filter);
}

void
bloomfam_join_filter_outdate(JoinFilter *filter)
{
	if (filter->phase == JOIN_FILTER_COMPLETE)
		filter->phase = JOIN_FILTER_BUILDING;
	filter->keys_complete = false;
}

void
bloomfam_join_filter_more(JoinFilter *filter)
{
	JoinHashes *hashes = &filter->hashes;
	uint64		most = bloomfam_join_design_most();
	uint64		room = hashes->room == 0 ? JOIN_FIRST_HASHES : hashes->room * 2;

	if (filter->phase == JOIN_FILTER_ABANDONED)
		return;
	if (filter->role == JOIN_FILTER_SHARE)
	{
		if (!bloomfam_join_shared_more(&filter->share, hashes, &filter->counts))
			filter->phase = JOIN_FILTER_ABANDONED;
		return;
	}
	if (hashes->room >= most)
	{
		MemoryContextReset(filter->context);
		memset(hashes, 0, sizeof(*hashes));
		filter->phase = JOIN_FILTER_ABANDONED;
		return;
	}
	room = Min(room, most);
	if (hashes->values == NULL)
		hashes->values = MemoryContextAlloc(filter->context, room * sizeof(uint64));
	else
		hashes->values = repalloc_huge(hashes->values, room * sizeof(uint64));
	hashes->room = room;
}

/*
 * From now on, and as long as the join has the hash table that it now has, the filter is this
 * one.
 */
static void
use(JoinFilter *filter, const BfHeader *head, const uint8 *payload)
{
	filter->view.head = *head;
	filter->view.payload = payload;
	filter->probe = head->kind->prober(&filter->view);
	if (filter->join != NULL)
		filter->table = filter->join->hj_HashTable;
	filter->phase = JOIN_FILTER_COMPLETE;
}

/* Ends a build that is private. */
static void
finish_private(JoinFilter *filter)
{
	JoinHashes *hashes = &filter->hashes;
	BfHeader	head;
	char	   *memory;
	Size		size;
	uint8	   *payload;

	filter->counts.builds++;
	if (filter->phase != JOIN_FILTER_ABANDONED && !bloomfam_join_design_plan(hashes->n, &head))
		filter->phase = JOIN_FILTER_ABANDONED;
	filter->counts.given_up += filter->phase == JOIN_FILTER_ABANDONED;
	if (filter->phase == JOIN_FILTER_ABANDONED || filter->join == NULL)
		return;
	size = head.payload_len + BLOOMFAM_CACHE_LINE;
	memory = MemoryContextAllocExtended(filter->context, size, MCXT_ALLOC_HUGE);
	bloomfam_advise_huge_pages(memory, size);
	payload = (uint8 *) TYPEALIGN(BLOOMFAM_CACHE_LINE, memory);
	bloomfam_join_design_clear(&head, payload);
	bloomfam_join_design_fill(&head, payload, hashes->values, hashes->n);
	filter->counts.keys += hashes->n;
	bloomfam_join_count_filter(&filter->counts, head.payload_len,
							   size + hashes->room * sizeof(uint64));
	if (hashes->values != NULL)
		pfree(hashes->values);
	memset(hashes, 0, sizeof(*hashes));
	use(filter, &head, payload);
}

void
bloomfam_join_filter_finish(JoinFilter *filter)
{
	finish_keys(filter);
	if (filter->role != JOIN_FILTER_SHARE)
		finish_private(filter);
	else if (filter->phase != JOIN_FILTER_ABANDONED)
		bloomfam_join_shared_hand_over(&filter->share, &filter->hashes, &filter->counts);
}

bool
bloomfam_join_filter_attach(JoinFilter *filter)
{
	JoinSharedState state;
	BfHeader	head;
	const uint8 *payload;

	if (filter->role == JOIN_FILTER_SHARE)
	{
		/*
		 * the join has a table before it asks the probe side for rows, and then all have handed
		 * over
		 */
		if (filter->join == NULL || filter->join->hj_HashTable == NULL)
			return false;
		state = bloomfam_join_shared_make(&filter->share, &filter->counts);
	}
	else
		state = bloomfam_join_shared_look(filter->share.shared);
	switch (state)
	{
		case JOIN_SHARED_NONE:
		case JOIN_SHARED_BUILDING:
			return false;
		case JOIN_SHARED_GIVEN_UP:
			filter->phase = JOIN_FILTER_ABANDONED;
			return false;
		case JOIN_SHARED_READY:
			break;
	}
	payload = bloomfam_join_shared_get(&filter->share, &head);
	use(filter, &head, payload);
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

void
bloomfam_join_filter_leave_copy(JoinFilter *filter, JoinShared *shared, dsa_area *area)
{
	JoinCopy   *copy;

	if (area == NULL)
		return;
	copy = find_copy(filter, area);
	if (copy != NULL)
	{
		if (bloomfam_join_filter_ready(filter) && copy->build == filter->counts.builds)
			return;
		shared = copy->shared;
		bloomfam_join_shared_reset(shared, area, JOIN_SHARED_GIVEN_UP);
		bloomfam_join_filter_forget_copy(filter, shared);
	}
	if (!bloomfam_join_filter_ready(filter) ||
		!bloomfam_join_shared_copy(shared, area, &filter->view, bloomfam_join_filter_keys(filter),
								   filter->ncolumns))
		return;
	copy = MemoryContextAlloc(GetMemoryChunkContext(filter), sizeof(JoinCopy));
	copy->next = filter->copies;
	copy->area = area;
	copy->shared = shared;
	copy->build = filter->counts.builds;
	filter->copies = copy;
}
