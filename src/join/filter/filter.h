/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * filter.h
 *	  Makes, finishes and rebuilds the filter of one join in a process, and tells whether it is
 *	  ready.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_FILTER_H
#define BLOOMFAM_JOIN_FILTER_H

#include "join/filter/filter_shared.h"
#include "join/filter/filter_state.h"

/*
 * Returns the filter in a parameter slot of the executor.  The first call makes it, in role
 * PRIVATE.
 */
extern JoinFilter *bloomfam_join_filter_get(EState *estate, int param);

/*
 * Sets the role of a filter, and empties it.  In another role than PRIVATE, the pointers in
 * "shared" refer to the given DSA area.  If area is NULL, the role becomes PRIVATE.
 */
extern void bloomfam_join_filter_tie(JoinFilter *filter, JoinFilterRole role, JoinShared *shared,
									 dsa_area *area);

/*
 * Has the build node collect one column of a key that has ncolumns columns.  "key" says how the
 * column is hashed, and "type" is its type on the build side.  If "list" is true, the column is
 * used for pruning, so its values are listed from the next build on.
 */
extern void bloomfam_join_filter_collect(JoinFilter *filter, int ncolumns, int column,
										 const JoinKey *key, Oid type, bool list);

/*
 * Prepares a filter for probe nodes that prune by columns of its key, which has ncolumns columns.
 */
extern void bloomfam_join_filter_keep(JoinFilter *filter, int ncolumns);

/* Empties a filter whose build side is rescanned, as its keys belong to the last build. */
extern void bloomfam_join_filter_restart(JoinFilter *filter);

/*
 * Makes room for more values in "collected", or has less collected if there are too many keys: only
 * their bounds, or nothing.  In the latter case there is no room afterwards.
 */
extern void bloomfam_join_filter_more(JoinFilter *filter);

/*
 * Ends a build.  Makes the filter of the collected keys and ties it to the hash table, or the
 * sorted rows, that the join now has; or, in a Parallel Hash, hands the keys over.
 */
extern void bloomfam_join_filter_finish(JoinFilter *filter);

/* ---- inline functions ---- */

/*
 * Adds a row's key to the filter that is being built.  "key" is the number if the filter is
 * of_numbers, else the hash of all columns.  "numbers" holds the numbers of those columns that are
 * integers.
 */
static inline void
bloomfam_join_filter_add(JoinFilter *filter, uint64 key, const int64 *numbers)
{
	JoinCollected *collected = &filter->collected;
	int			i;

	for (i = 0; i < filter->ncolumns; i++)
		if (filter->keys[i].phase != JOIN_KEYS_UNKNOWN)
			bloomfam_join_keys_add(&filter->keys[i], numbers[i], filter->keys_context);
	if (collected->what == JOIN_COLLECTS_BOUNDS || filter->state == JOIN_FILTER_DISCARDED)
		return;
	if (unlikely(collected->n == collected->room))
	{
		bloomfam_join_filter_more(filter);
		if (collected->n == collected->room)
			return;
	}
	Assert(collected->n < collected->room);
	collected->values[collected->n++] = key;
}

/* Tells whether rows may be dropped by a filter now. */
static inline bool
bloomfam_join_filter_ready(JoinFilter *filter)
{
	if (likely(filter->state == JOIN_FILTER_READY))
		return filter->role == JOIN_FILTER_COPY ||
			   (filter->table != NULL && *filter->kept == filter->table);
	return filter->role != JOIN_FILTER_PRIVATE && filter->state != JOIN_FILTER_DISCARDED &&
		   bloomfam_join_filter_attach(filter);
}

/*
 * Tells an all-or-none target, which is below an aggregate, whether rows may be dropped by a filter
 * now.  Once a row with a key without a match has passed such a target, every later row with that
 * key must pass.  So if rows pass while the filter is not ready, it stays off.  A discarded filter
 * lets all rows pass anyway.
 */
static inline bool
bloomfam_join_filter_ready_for_all_or_none(JoinFilter *filter)
{
	bool		ready = bloomfam_join_filter_ready(filter);

	filter->passed_unfiltered |= !ready && filter->state != JOIN_FILTER_DISCARDED;
	return ready && !filter->passed_unfiltered;
}

/*
 * Tells whether an all-or-none target may prune partitions and blocks.  Rows with the same keys
 * elsewhere must be dropped as well, so the filter must be exact: a bitmap.
 */
static inline bool
bloomfam_join_filter_may_skip_all_or_none(JoinFilter *filter)
{
	return bloomfam_join_filter_ready_for_all_or_none(filter) &&
		   filter->probe.form == JOIN_FORM_BITMAP;
}

/* Tells whether this process alone will build the filter as soon as its join wants to probe. */
static inline bool
bloomfam_join_filter_awaited(JoinFilter *filter)
{
	return filter->role == JOIN_FILTER_PRIVATE && filter->join != NULL &&
		   filter->state != JOIN_FILTER_DISCARDED && !bloomfam_join_filter_ready(filter);
}

#endif							/* BLOOMFAM_JOIN_FILTER_H */
