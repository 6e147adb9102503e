/*-------------------------------------------------------------------------
 *
 * shared.h
 *	  A filter in dynamic shared memory, that several processes build or use.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_SHARED_H
#define BLOOMFAM_JOIN_SHARED_H

#include "port/atomics.h"
#include "utils/dsa.h"

#include "join/filter/counts.h"
#include "join/filter/filter_probe.h"
#include "join/filter/keys.h"

typedef enum JoinSharedState
{
	JOIN_SHARED_NONE,			/* keys are being handed over */
	JOIN_SHARED_TOO_MANY,		/* of numbers: their bounds alone are */
	JOIN_SHARED_BUILDING,		/* all were, and somebody makes the filter */
	JOIN_SHARED_READY,
	JOIN_SHARED_DISCARDED,		/* too many, or no memory */
	JOIN_SHARED_KEYS_ONLY		/* ... a copy: what is known of the keys is there all the same */
} JoinSharedState;

typedef struct JoinShared
{
	pg_atomic_uint32 state;		/* a JoinSharedState */
	pg_atomic_uint64 nkeys;		/* that were handed over */
	dsa_pointer_atomic chunks;	/* they are in these; the last one */
	pg_atomic_uint64 smallest;	/* of numbers: an int64 each */
	pg_atomic_uint64 largest;
	dsa_pointer payload;		/* of the filter, before it is aligned; invalid: it has none */
	JoinDesign	design;
	dsa_pointer_atomic keys;	/* what is known of them, a piece from each process; the last one */
	pg_atomic_uint32 keys_lost;	/* somebody's piece is missing */
} JoinShared;

/* A process's hold of it. */
typedef struct JoinSharedHandle
{
	JoinShared *shared;
	dsa_area   *area;
	dsa_pointer chunk;			/* that its keys are collected in */
} JoinSharedHandle;

/* Begins one in memory that is new. */
extern void bloomfam_join_shared_init(JoinShared *shared, JoinSharedState state);

/* Frees all, and begins anew.  No other process may be using it. */
extern void bloomfam_join_shared_reset(JoinShared *shared, dsa_area *area, JoinSharedState state);

/*
 * Makes room for more keys of this process's share; false if there are too many, for all.  They
 * may together be as many as the filter of one process may have, and a chunk each.
 */
extern bool bloomfam_join_shared_more(JoinSharedHandle *handle, JoinCollected *collected,
									  JoinBuildCounts *counts);

/* Hands over what was collected; when there are no more, before the build node says so. */
extern void bloomfam_join_shared_hand_over(JoinSharedHandle *handle, JoinCollected *collected,
										   JoinBuildCounts *counts);

/*
 * Hands over what this process has kept of its keys; all do so before their build nodes tell the
 * end of the rows.
 */
extern void bloomfam_join_shared_put_keys(JoinShared *shared, dsa_area *area, const JoinKeys *keys,
										  int ncolumns);

/*
 * Reads what all have kept together, in this context.  Returns whether anything is known; keys is
 * then finished.
 */
extern bool bloomfam_join_shared_get_keys(const JoinShared *shared, dsa_area *area, JoinKeys *keys,
										  int ncolumns, MemoryContext context);

/* This process does not keep its keys: then nothing is known of any. */
extern void bloomfam_join_shared_lose_keys(JoinShared *shared);

/* This process could have no share: then there is no filter, unless it has been made. */
extern void bloomfam_join_shared_refuse(JoinShared *shared);

/*
 * All shares have been handed over: the first process that comes makes the filter, of numbers or
 * of hashes.  Returns the state, as the next one does.
 */
extern JoinSharedState bloomfam_join_shared_make(JoinSharedHandle *handle, bool of_numbers,
												 JoinBuildCounts *counts);

extern JoinSharedState bloomfam_join_shared_state(const JoinShared *shared);

/* The filter, once it is READY. */
extern const uint8 *bloomfam_join_shared_get(const JoinSharedHandle *handle, JoinDesign *design);

/*
 * Makes it, which has been given up, READY with a copy of a filter and of its keys, if there is
 * memory; keys NULL: none are known; set NULL: the filter was given up, so its KEYS_ONLY.
 */
extern bool bloomfam_join_shared_copy(JoinShared *shared, dsa_area *area,
									  const JoinFilterProbe *filter_probe, const JoinKeys *keys,
									  int ncolumns);

/* Has the leader left anything there? */
extern bool bloomfam_join_shared_has_copy(const JoinShared *shared);

#endif							/* BLOOMFAM_JOIN_SHARED_H */
