/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * filter_use.c
 *	  Takes a filter into use in this process.
 *
 * The filter was made by this process, or is found in shared memory.  From then on, it is ready as
 * long as its join has the hash table, or the sorted rows, that it was built along with.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "join/filter/filter_use.h"

void
bloomfam_join_filter_count(JoinFilter *filter, const JoinFilterProbe *design, Size memory)
{
	JoinBuildCounts *counts = &filter->counts;

	counts->bitmaps += design->form == JOIN_FORM_BITMAP;
	counts->ranges += design->form == JOIN_FORM_RANGE;
	counts->bytes += design->size;
	counts->largest = Max(counts->largest, design->size);
	counts->memory = Max(counts->memory, memory);
}

void
bloomfam_join_filter_use(JoinFilter *filter, const JoinFilterProbe *design, const uint8 *payload)
{
	JoinFilterProbe *probe = &filter->probe;

	Assert((filter->join == NULL) == (filter->role == JOIN_FILTER_COPY));
	Assert((payload == NULL) == (design->size == 0));
	Assert(payload == (const uint8 *) MAXALIGN(payload));
	*probe = *design;
	probe->view.payload = payload;
	if (probe->form == JOIN_FORM_BLOOM)
	{
		/*
		 * The module may be loaded at another address in the process that designed the filter, so
		 * its pointers are not valid here.
		 */
		probe->view.head.kind = bf_kind_by_id(JOIN_FILTER_KIND);
		probe->probe = probe->view.head.kind->prober(&probe->view);
	}
	if (filter->join != NULL)
		filter->table = *filter->kept;
	filter->state = JOIN_FILTER_READY;
}

void
bloomfam_join_filter_use_keys(JoinFilter *filter)
{
	if (filter->join != NULL)
		filter->keys_table = *filter->kept;
	filter->keys_complete = true;
	filter->keys_build++;
}
