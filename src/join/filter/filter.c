/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * filter.c
 *	  Makes, finishes and rebuilds the filter of one join in a process.
 *
 * The planner's estimate of the build side may be wrong by any factor.  So keys are collected
 * first, as hashes or numbers of 8 bytes each, until their number is known.  Then the filter is
 * made for that number (form.c).  Duplicate keys are counted each time, so a Bloom filter may come
 * out larger than necessary, but never too small.
 *
 * Each row is collected once: its key for the filter, and the numbers of its integer columns for
 * their bounds and lists (keys.c), which pruning uses as well.
 *
 * Where each process builds a hash table of its own, it builds a filter of its own as well, and the
 * processes share only the counts for EXPLAIN.  In two cases the filter itself is shared, in the
 * query's DSA area, with a JoinShared in the dynamic shared memory of a plan node.  The
 * participants of a Parallel Hash build one filter together (filter_shared.c).  And a join above a
 * Gather has its filter in the leader, which leaves copies to the workers (filter_copies.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "join/filter/filter.h"
#include "join/filter/filter_use.h"
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

/* Empties what the filter has collected, and begins to collect hashes or numbers. */
static void
restart_collecting(JoinFilter *filter)
{
	filter->collected = (JoinCollected) {
		.what = filter->of_numbers ? JOIN_COLLECTS_NUMBERS : JOIN_COLLECTS_HASHES
	};
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

void
bloomfam_join_filter_tie(JoinFilter *filter, JoinFilterRole role, JoinShared *shared,
						 dsa_area *area)
{
	Assert(role == JOIN_FILTER_PRIVATE || filter->copies == NULL);
	Assert(role != JOIN_FILTER_COPY || filter->join == NULL);
	filter->role = area != NULL ? role : JOIN_FILTER_PRIVATE;
	filter->shared = shared;
	filter->area = area;
	filter->chunk = InvalidDsaPointer;
	bloomfam_join_filter_restart(filter);
}

void
bloomfam_join_filter_restart(JoinFilter *filter)
{
	int			i;

	MemoryContextReset(filter->context);
	filter->state = JOIN_FILTER_COLLECTING;
	filter->table = NULL;
	restart_collecting(filter);

	/*
	 * From now on, this process collects keys for pruning in those columns for which a node has
	 * asked for it.
	 */
	filter->keys_complete = false;
	filter->keys_table = NULL;
	if (filter->keys_context != NULL)
		MemoryContextReset(filter->keys_context);
	for (i = 0; i < filter->ncolumns; i++)
		bloomfam_join_keys_begin(&filter->keys[i], filter->keys[i].wanted);
}

/* ---- collecting keys ---- */

/*
 * Collects less from now on, as there are too many keys: only the bounds of numbers, and no hashes.
 */
static void
collect_less(JoinFilter *filter)
{
	restart_collecting(filter);
	if (filter->of_numbers)
		filter->collected.what = JOIN_COLLECTS_BOUNDS;
	else
		filter->state = JOIN_FILTER_DISCARDED;
}

void
bloomfam_join_filter_more(JoinFilter *filter)
{
	JoinCollected *collected = &filter->collected;
	uint64		most = bloomfam_join_design_most();
	uint64		room = collected->room == 0 ? JOIN_FIRST_KEYS : collected->room * 2;

	Assert(filter->state == JOIN_FILTER_COLLECTING && collected->n == collected->room);
	Assert(collected->what != JOIN_COLLECTS_BOUNDS);
	/*
	 * A participant of a Parallel Hash has only a part of the keys, from which it cannot make the
	 * bitmap of all participants' keys.  So if there are too many numbers, it keeps only their
	 * bounds.
	 */
	if (filter->role == JOIN_FILTER_PARTICIPANT)
	{
		if (!bloomfam_join_shared_more(filter))
			collect_less(filter);
		return;
	}
	if (collected->room >= most)
	{
		if (!bloomfam_join_fold(collected, bloomfam_join_filter_bounds(filter), filter->context))
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

/*
 * Ends the build of a filter that this process does not share: makes the filter of what was
 * collected.
 */
static void
finish_private(JoinFilter *filter)
{
	JoinCollected *collected = &filter->collected;
	JoinFilterProbe	design;
	uint8	   *payload;
	Size		size;
	bool		made;

	if (collected->what == JOIN_COLLECTS_BITMAP &&
		!bloomfam_join_fold(collected, bloomfam_join_filter_bounds(filter), filter->context))
		collect_less(filter);
	made = filter->state != JOIN_FILTER_DISCARDED &&
		   bloomfam_join_design_plan(collected->what, bloomfam_join_filter_bounds(filter),
									 collected->n, &design);
	filter->counts.builds++;
	filter->counts.discarded += !made || design.form == JOIN_FORM_RANGE;
	if (!made)
		filter->state = JOIN_FILTER_DISCARDED;
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
	bloomfam_join_filter_count(filter, &design, size + collected->room * sizeof(uint64));
	if (collected->values != NULL)
		pfree(collected->values);
	restart_collecting(filter);
	bloomfam_join_filter_use(filter, &design, payload);
}

void
bloomfam_join_filter_finish(JoinFilter *filter)
{
	int			i;

	for (i = 0; i < filter->ncolumns; i++)
		bloomfam_join_keys_finish(&filter->keys[i], filter->keys_context);
	if (filter->role == JOIN_FILTER_PARTICIPANT)
	{
		bloomfam_join_shared_hand_over(filter);
		return;
	}
	if (filter->join != NULL)
		bloomfam_join_filter_use_keys(filter);
	finish_private(filter);
}
