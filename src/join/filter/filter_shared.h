/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * filter_shared.h
 *	  What processes share of a filter: what the participants of a Parallel Hash build together,
 *	  and what the leader leaves to its workers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_FILTER_SHARED_H
#define BLOOMFAM_JOIN_FILTER_SHARED_H

#include "join/filter/filter_state.h"

/*
 * Initializes new shared memory for a filter.  "state" is that of a Parallel Hash's filter; a copy
 * begins with JOIN_COPY_NONE in any case.
 */
extern void bloomfam_join_shared_init(JoinShared *shared, JoinSharedState state);

/*
 * Frees all that a JoinShared refers to, and initializes it again.  No other process may be using
 * it.
 */
extern void bloomfam_join_shared_reset(JoinShared *shared, dsa_area *area, JoinSharedState state);

/*
 * Declares that this process cannot build its part of the filter.  No filter is made then, unless
 * one has been made already.
 */
extern void bloomfam_join_shared_refuse(JoinShared *shared);

/*
 * Tries to get a filter from shared memory.  Called when the join of this process probes, or when
 * the leader may have left a copy.  Returns whether rows may be dropped by the filter.
 */
extern bool bloomfam_join_filter_attach(JoinFilter *filter);

/* ---- what is known of the key's columns ---- */

/*
 * Returns the finished columns of the keys that the join of this process is probing with.  Returns
 * NULL if they are not known, or not yet; they can also be unknown again later, as the build side
 * may be rescanned.
 */
extern const JoinKeys *bloomfam_join_filter_keys(JoinFilter *filter);

/*
 * Returns the bounds of all numbers of a build that has ended in all processes.  They are the
 * bounds of int64 if a participant's piece was lost, or if the keys are hashes, for which bounds do
 * not matter.
 */
extern JoinKeysRange bloomfam_join_filter_bounds(JoinFilter *filter);

/* ---- called only by filter.c and filter_copies.c ---- */

/*
 * Makes room for more keys of this participant.  Returns false if there is no room for more keys of
 * the filter, in any process: the participants have handed over as many keys as the filter of one
 * process may have (besides them, each may have one chunk in hand), or there is no memory.
 */
extern bool bloomfam_join_shared_more(JoinFilter *filter);

/* Hands over what this participant has collected, as its part of the build has ended. */
extern void bloomfam_join_shared_hand_over(JoinFilter *filter);

/*
 * Adds a process's finished columns to the shared list.  If ncolumns is 0, nothing will be known of
 * any column of the key.
 */
extern void bloomfam_join_shared_put_keys(JoinShared *shared, dsa_area *area, const JoinKeys *keys,
										  int ncolumns);

/*
 * Merges the columns of all processes into filter->keys, which are then finished.  Returns false if
 * a process's columns are missing; filter->keys is undefined then.
 */
extern bool bloomfam_join_shared_get_keys(JoinFilter *filter);

/*
 * Allocates shared memory for a payload of the given size, which may be 0.  Returns false if there
 * is no memory.
 */
extern bool bloomfam_join_shared_allocate(JoinShared *shared, dsa_area *area, Size size);

/*
 * Returns the payload in shared memory, aligned to a cache line; NULL if the filter's form has
 * none.
 */
extern uint8 *bloomfam_join_shared_payload(const JoinShared *shared, dsa_area *area);

/* Tells whether the leader has left a filter or keys in a JoinShared for its workers. */
static inline bool
bloomfam_join_shared_has_copy(JoinShared *shared)
{
	return pg_atomic_read_u32(&shared->copy) != JOIN_COPY_NONE;
}

#endif							/* BLOOMFAM_JOIN_FILTER_SHARED_H */
