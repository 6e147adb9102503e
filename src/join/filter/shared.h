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

#include "join/filter/form.h"

/*
 * Of a filter that a Parallel Hash's participants build: COLLECTING to DISCARDED.  Of a copy that
 * the leader leaves its workers: NO_COPY, READY, KEYS_ONLY.
 */
typedef enum JoinSharedState
{
	JOIN_SHARED_COLLECTING,		/* participants hand over keys */
	JOIN_SHARED_TOO_MANY,		/* of numbers: only their bounds are handed over any more */
	JOIN_SHARED_BUILDING,		/* all was handed over, and a process makes the filter */
	JOIN_SHARED_READY,			/* design and payload are there */
	JOIN_SHARED_DISCARDED,		/* there is none: too many keys, or no memory */
	JOIN_SHARED_NO_COPY,		/* the leader has left nothing (yet) */
	JOIN_SHARED_KEYS_ONLY		/* ... it has left what is known of the keys, but no filter */
} JoinSharedState;

typedef struct JoinShared
{
	pg_atomic_uint32 state;		/* a JoinSharedState */
	pg_atomic_uint64 nkeys;		/* in all chunks */
	dsa_pointer_atomic chunks;	/* list of JoinChunk: keys for the filter */
	dsa_pointer payload;		/* unaligned; invalid: the filter has none */
	JoinDesign	design;			/* READY */
	dsa_pointer_atomic pieces;	/* list of JoinKeysPiece: JoinKeys, one piece of each process */
	pg_atomic_uint32 piece_lost;	/* a process could not add its piece */
} JoinShared;

/* A process's handle of it. */
typedef struct JoinSharedHandle
{
	JoinShared *shared;
	dsa_area   *area;
	dsa_pointer chunk;			/* the one that keys are collected in; invalid: none */
} JoinSharedHandle;

/* Initializes new memory. */
extern void bloomfam_join_shared_init(JoinShared *shared, JoinSharedState state);

/* Frees all that is there, and initializes it again.  No other process may be using it. */
extern void bloomfam_join_shared_reset(JoinShared *shared, dsa_area *area, JoinSharedState state);

/*
 * Makes room for more keys of this process.  False if there is none for the filter's keys, of any
 * process: there are more than the filter of one process may have, and a chunk each; or no memory.
 */
extern bool bloomfam_join_shared_more(JoinSharedHandle *handle, JoinCollected *collected,
									  JoinBuildCounts *counts);

/*
 * Hands over all that was collected, and finished columns.  Each participant does so before its
 * build node returns the end of the rows.
 */
extern void bloomfam_join_shared_hand_over(JoinSharedHandle *handle, JoinCollected *collected,
										   const JoinKeys *keys, int ncolumns,
										   JoinBuildCounts *counts);

/*
 * Merges the columns of all processes, in this context.  False if a piece is missing: keys are
 * undefined then, else finished.
 */
extern bool bloomfam_join_shared_get_keys(const JoinSharedHandle *handle, JoinKeys *keys,
										  int ncolumns, MemoryContext context);

/* This process cannot build its part: there is no filter, unless one was made already. */
extern void bloomfam_join_shared_refuse(JoinShared *shared);

/*
 * All participants have handed over: the first process that calls this makes the filter, of
 * numbers within these bounds or of hashes, while the others return BUILDING.  Returns the state.
 */
extern JoinSharedState bloomfam_join_shared_make(JoinSharedHandle *handle, bool of_numbers,
												 JoinKeysRange bounds, JoinBuildCounts *counts);

/* The payload and design of a filter that is READY; NULL: its form has no payload. */
extern const uint8 *bloomfam_join_shared_get(const JoinSharedHandle *handle, JoinDesign *design);

/*
 * Turns NO_COPY into a copy of a filter (NULL: KEYS_ONLY) and of its keys (NULL: none are known).
 * False if there is no memory for the filter.
 */
extern bool bloomfam_join_shared_copy(JoinShared *shared, dsa_area *area,
									  const JoinFilterProbe *probe, const JoinKeys *keys,
									  int ncolumns);

static inline JoinSharedState
bloomfam_join_shared_state(const JoinShared *shared)
{
	return (JoinSharedState) pg_atomic_read_u32(unconstify(pg_atomic_uint32 *, &shared->state));
}

/* Has the leader left anything there? */
static inline bool
bloomfam_join_shared_has_copy(const JoinShared *shared)
{
	JoinSharedState state = bloomfam_join_shared_state(shared);

	return state == JOIN_SHARED_READY || state == JOIN_SHARED_KEYS_ONLY;
}

#endif							/* BLOOMFAM_JOIN_SHARED_H */
