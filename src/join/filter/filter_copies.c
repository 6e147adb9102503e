/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * filter_copies.c
 *	  The copies of a filter that the leader leaves its workers.
 *
 * A join above a Gather has its filter in the leader alone, when the Gather starts its workers.
 * The leader leaves them a copy of it, or if it was discarded, of what is known of its columns: a
 * JoinShared goes from NO_COPY to READY or KEYS_ONLY.  The workers read that as they read a filter
 * of a Parallel Hash (filter_shared.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "join/base/gucs.h"
#include "join/filter/filter.h"

/* A copy that the leader has left the workers of one Gather. */
typedef struct Copy
{
	dsa_area   *area;			/* of that Gather */
	JoinShared *shared;
	uint64		build;			/* counts.builds at that time: it is outdated by a later build */
} Copy;

/* Turns NO_COPY into a copy of the filter, if it is ready, and of these keys (NULL: none known). */
static bool
fill_copy(JoinFilter *filter, JoinShared *shared, dsa_area *area, bool ready, const JoinKeys *keys)
{
	const JoinFilterProbe *probe = &filter->probe;

	Assert(bloomfam_join_shared_state(shared) == JOIN_FILTER_NO_COPY);
	Assert(!DsaPointerIsValid(shared->payload));
	if (ready)
	{
		if (!bloomfam_join_shared_allocate(shared, area, probe->design.size))
			return false;
		if (probe->design.size > 0)
			memcpy(bloomfam_join_shared_payload(shared, area), probe->payload, probe->design.size);
		shared->design = probe->design;
	}
	if (keys != NULL)
		bloomfam_join_shared_put_keys(shared, area, keys, filter->ncolumns);
	pg_write_barrier();
	pg_atomic_write_u32(&shared->state, ready ? JOIN_FILTER_READY : JOIN_FILTER_KEYS_ONLY);
	return true;
}

void
bloomfam_join_filter_forget_copy(JoinFilter *filter, const JoinShared *shared)
{
	ListCell   *lc;

	foreach(lc, filter->copies)
	{
		Copy   *copy = lfirst(lc);

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
	Copy   *copy = NULL;	/* that was left for the workers in this area */
	ListCell   *lc;

	foreach(lc, filter->copies)
		if (((Copy *) lfirst(lc))->area == area)
			copy = lfirst(lc);
	if (copy != NULL)
	{
		if (known && copy->build == filter->counts.builds)
			return true;
		shared = copy->shared;
		bloomfam_join_shared_reset(shared, area, JOIN_FILTER_NO_COPY);
	}
	if (!known || !fill_copy(filter, shared, area, ready, keys))
	{
		bloomfam_join_filter_forget_copy(filter, shared);
		return false;
	}
	if (copy == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(filter));

		copy = palloc(sizeof(Copy));
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
