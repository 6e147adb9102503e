/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * filter_copies.h
 *	  Leaves copies of a filter to parallel workers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_FILTER_COPIES_H
#define BLOOMFAM_JOIN_FILTER_COPIES_H

#include "join/filter/filter.h"

/*
 * Leaves a copy of the filter, if it is ready, and of what is known of its keys, for the workers
 * that are about to start in the given DSA area.  The copy is put into "shared", unless another
 * node has already left a copy in this area; a copy of an older build is freed.  "all_or_none" says
 * that the calling node is an all-or-none target: if no copy is left, the filter is then off in
 * this process as well.
 */
extern void bloomfam_join_filter_leave_copy(JoinFilter *filter, JoinShared *shared, dsa_area *area,
											bool all_or_none);

/* Forgets the copy that was left in "shared", as its memory is about to go away. */
extern void bloomfam_join_filter_forget_copy(JoinFilter *filter, JoinShared *shared);

#endif							/* BLOOMFAM_JOIN_FILTER_COPIES_H */
