/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * filter_use.h
 *	  Takes a filter into use in this process.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_FILTER_USE_H
#define BLOOMFAM_JOIN_FILTER_USE_H

#include "join/filter/filter_state.h"

/*
 * Makes a filter READY.  It stays ready as long as the join has the hash table, or the sorted rows,
 * that it now has.  The payload, which another process may have filled, must stay in memory; it is
 * NULL if the filter's form has none.
 */
extern void bloomfam_join_filter_use(JoinFilter *filter, const JoinFilterProbe *design,
									 const uint8 *payload);

/* Counts a filter that was made.  "memory" is all the memory that making it took, in bytes. */
extern void bloomfam_join_filter_count(JoinFilter *filter, const JoinFilterProbe *design,
									   Size memory);

/*
 * Marks the key's columns as complete.  They are valid as long as the join has the hash table, or
 * the sorted rows, that it now has.
 */
extern void bloomfam_join_filter_use_keys(JoinFilter *filter);

#endif							/* BLOOMFAM_JOIN_FILTER_USE_H */
