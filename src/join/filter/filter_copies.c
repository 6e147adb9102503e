/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * filter_copies.c
 *	  Leaves copies of a filter to parallel workers.
 *
 * A join above a Gather has its filter in the leader alone.  When the Gather starts its workers,
 * the leader leaves them a copy of the filter, or, if the filter was discarded, of what is known of
 * its columns: JoinShared.copy goes from NONE to FILTER or KEYS.  The workers read
 * the copy in the way in which they read the filter of a Parallel Hash (filter_shared.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "join/base/gucs.h"
#include "join/filter/filter_copies.h"

/*
 * Fills a JoinShared that has no copy with one of the filter, if "ready" is true, and of the
 * given keys (NULL: none are known).  Returns false if there is no memory.
 */
static bool
fill_copy(JoinFilter *filter, JoinShared *shared, dsa_area *area, bool ready, const JoinKeys *keys)
{
	const JoinFilterProbe *probe = &filter->probe;

	Assert(!bloomfam_join_shared_has_copy(shared));
	Assert(!DsaPointerIsValid(shared->payload));
	if (ready)
	{
		if (!bloomfam_join_shared_allocate(shared, area, probe->size))
			return false;
		if (probe->size > 0)
			memcpy(bloomfam_join_shared_payload(shared, area), probe->view.payload, probe->size);
		shared->design = *probe;
	}
	if (keys != NULL)
		bloomfam_join_shared_put_keys(shared, area, keys, filter->ncolumns);
	shared->area = area;
	shared->build = filter->counts.builds;
	pg_write_barrier();
	pg_atomic_write_u32(&shared->copy, ready ? JOIN_COPY_FILTER : JOIN_COPY_KEYS);
	return true;
}

void
bloomfam_join_filter_forget_copy(JoinFilter *filter, JoinShared *shared)
{
	filter->copies = list_delete_ptr(filter->copies, shared);
}

/* Leaves a copy as bloomfam_join_filter_leave_copy() does.  Returns whether there is one. */
static bool
leave_copy(JoinFilter *filter, JoinShared *shared, dsa_area *area)
{
	const JoinKeys *keys = bloomfam_join_filter_keys(filter);
	bool		ready = bloomfam_join_filter_ready(filter);
	bool		known = (ready || keys != NULL) && !filter->passed_unfiltered;
	MemoryContext old;
	ListCell   *lc;

	/*
	 * All nodes whose workers use this DSA area, that is, all nodes below one Gather, share one
	 * copy of the filter.
	 */
	foreach(lc, filter->copies)
		if (((JoinShared *) lfirst(lc))->area == area)
			shared = lfirst(lc);
	if (shared->area == area)
	{
		if (known && shared->build == filter->counts.builds)
			return true;
		bloomfam_join_shared_reset(shared, area, JOIN_SHARED_COLLECTING);
	}
	if (!known || !fill_copy(filter, shared, area, ready, keys))
	{
		bloomfam_join_filter_forget_copy(filter, shared);
		return false;
	}
	old = MemoryContextSwitchTo(GetMemoryChunkContext(filter));
	filter->copies = list_append_unique_ptr(filter->copies, shared);
	MemoryContextSwitchTo(old);
	return true;
}

void
bloomfam_join_filter_leave_copy(JoinFilter *filter, JoinShared *shared, dsa_area *area,
								bool all_or_none)
{
	/*
	 * Workers start with the leader's present configuration parameters, by which they may use no
	 * filter.
	 */
	if (area != NULL && !(leave_copy(filter, shared, area) &&
						  bloomfam_join_filter != JOIN_FILTER_OFF))
		filter->passed_unfiltered |= all_or_none;
}
