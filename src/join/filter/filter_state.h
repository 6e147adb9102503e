/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * filter_state.h
 *	  The state of the filter of one join: what its build node, its probe nodes and its processes
 *	  share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_FILTER_STATE_H
#define BLOOMFAM_JOIN_FILTER_STATE_H

#include "nodes/execnodes.h"
#include "port/atomics.h"
#include "utils/dsa.h"

#include "join/filter/form.h"
#include "pg/server_structs.h"

/* The states of a filter in one process (JoinFilter.state). */
typedef enum JoinFilterState
{
	/*
	 * Keys are being collected, or will be.  Set by the process that makes the JoinFilter, or
	 * empties it for another build.  The filter is not ready.
	 */
	JOIN_FILTER_COLLECTING,

	/*
	 * The filter has all keys of the build side.  Set when this process has made the filter, or
	 * found it in shared memory.  A filter that is no copy is ready only as long as its join has
	 * the hash table, or the sorted rows, that the filter was built along with
	 * (bloomfam_join_filter_ready()).
	 */
	JOIN_FILTER_READY,

	/*
	 * The present build makes no filter, as there are too many keys or no memory.  Set by the
	 * process that notices it, or finds that another one has.  The filter is never ready.
	 */
	JOIN_FILTER_DISCARDED
} JoinFilterState;

/* The states of the filter that the participants of a Parallel Hash build (JoinShared.state). */
typedef enum JoinSharedState
{
	/* Keys are being collected.  Set by the leader when it makes or empties the JoinShared. */
	JOIN_SHARED_COLLECTING,

	/*
	 * The keys are more numbers than can be collected, so only their bounds are handed over.  Set
	 * by the participant that finds no room for more.
	 */
	JOIN_SHARED_TOO_MANY,

	/*
	 * All participants have handed over their keys, and one process is making the filter.  Set by
	 * that process, which is the first to probe.
	 */
	JOIN_SHARED_BUILDING,
	JOIN_SHARED_READY,			/* The filter is made.  Set by the process that has made it. */

	/* No filter is made, for want of a participant's keys, memory or room. */
	JOIN_SHARED_DISCARDED
} JoinSharedState;

/* The states of a copy that the leader leaves to its workers (JoinShared.copy), which it sets. */
typedef enum JoinCopyState
{
	JOIN_COPY_NONE,				/* The leader has left nothing, or not yet. */

	/* The leader has left what it knows of the keys (bounds and lists), but no filter. */
	JOIN_COPY_KEYS,
	JOIN_COPY_FILTER			/* The leader has left the filter, and what it knows of the keys. */
} JoinCopyState;

/* Which process builds the filter. */
typedef enum JoinFilterRole
{
	JOIN_FILTER_PRIVATE,		/* This process builds the filter for itself. */

	/* All participants of a Parallel Hash build the filter, each from a part of the keys. */
	JOIN_FILTER_PARTICIPANT,

	/* The leader builds the filter, as its join is above the Gather; this process is a worker. */
	JOIN_FILTER_COPY
} JoinFilterRole;

/* What processes share of a filter.  It is in the dynamic shared memory of a plan node. */
typedef struct JoinShared
{
	/* A JoinSharedState; used by the filter of a Parallel Hash. */
	pg_atomic_uint32 state;

	/* A JoinCopyState; used by a copy, that is, if JoinFilter.role is COPY. */
	pg_atomic_uint32 copy;

	/* The filter's description without its pointers, valid if there is a filter. */
	JoinFilterProbe design;

	/* The filter's payload, not aligned; InvalidDsaPointer: the filter has none. */
	dsa_pointer payload;

	/*
	 * The list of what the processes know of the key's columns (bounds and lists of numbers, for
	 * pruning): one Piece for each column and process.
	 */
	dsa_pointer_atomic pieces;

	/*
	 * 1 if some process's Pieces are missing for good, so that nothing can be said of the columns
	 * of all keys; else 0.
	 */
	pg_atomic_uint32 piece_lost;

	/*
	 * The list of the keys that participants of a Parallel Hash have handed over for the filter.
	 */
	dsa_pointer_atomic chunks;
	pg_atomic_uint64 nkeys;		/* The number of keys in all handed-over chunks. */

	/*
	 * The DSA area that the copy is in; NULL: no copy was left in this JoinShared.  Only the leader
	 * uses it, and "build".
	 */
	dsa_area   *area;

	/* The value of counts.builds when the copy was left: a later build makes the copy obsolete. */
	uint64		build;
} JoinShared;

/*
 * What one process has of a filter.  It lives as long as the query's executor state.  Build and
 * probe nodes find it through a parameter slot of the executor (es_param_exec_vals), because the
 * nodes of a plan may not know each other.
 */
typedef struct JoinFilter
{
	/* Which process builds the filter.  It decides which of JoinFilter's fields are used. */
	JoinFilterRole role;

	JoinFilterState state;

	/*
	 * The hash join or merge join whose build side the filter is built from; NULL: it is not known
	 * (yet), so no filter is made.  Always NULL in a worker that only probes a copy of the leader's
	 * filter (role COPY).
	 */
	PlanState  *join;

	/*
	 * Where the join keeps its hash table or sorted rows (bloomfam_join_build_kept()); NULL if join
	 * is NULL.
	 */
	void	  **kept;

	/*
	 * If state is READY: the hash table, or the sorted rows, that the filter was built along with.
	 */
	void	   *table;

	/* Whether the key is a single column of an integer type, hashed as keys[0]. */
	bool		of_numbers;
	JoinCollected collected;	/* If state is COLLECTING: the keys collected so far. */
	JoinFilterProbe probe;		/* If state is READY: the filter that is probed. */

	/*
	 * In role PRIVATE: the memory context of collected keys and of the payload; it is reset for
	 * each build.
	 */
	MemoryContext context;

	/* In role PRIVATE: list of JoinShared, the copies left to workers, one for each Gather. */
	List	   *copies;

	/* In the other roles: what the processes share of the filter. */
	JoinShared *shared;
	dsa_area   *area;			/* The DSA area that the pointers in "shared" refer to. */

	/*
	 * If this process takes part in a Parallel Hash: the chunk of shared memory in which
	 * "collected" stores keys; InvalidDsaPointer: there is none.
	 */
	dsa_pointer chunk;

	/*
	 * The number of the key's columns; 0: no column is collected or used for pruning.  This field
	 * and those up to "keys_build" say what is known of the columns, also if the filter is
	 * discarded.
	 */
	int			ncolumns;
	JoinKeys   *keys;			/* What is known of each column of the key. */

	/*
	 * The memory context of the columns' lists of numbers and of what partition pruning derives
	 * from them.  It is reset for each build.  NULL: ncolumns is 0.
	 */
	MemoryContext keys_context;

	/* Whether keys[] is complete for the last build; then no column is in phase LISTING. */
	bool		keys_complete;

	/*
	 * The hash table, or the sorted rows, that keys[] was collected along with; NULL: there is
	 * none, or this process is a worker that only probes a copy of the leader's filter (role COPY).
	 */
	void	   *keys_table;

	/* The number of times that keys[] was completed, by which its users recognize a new build. */
	uint64		keys_build;

	/*
	 * Whether a probe node that must drop either all or none of the rows with the same key (as rows
	 * are grouped above it) let rows pass before the filter was ready.  Then the filter is not used
	 * for the rest of this execution.
	 */
	bool		passed_unfiltered;

	/* What the probe nodes of the filter share; NULL: no node probes it yet. */
	struct JoinProbeGroup *group;
	JoinBuildCounts counts;		/* Counts of what this process did to build the filter. */
} JoinFilter;

#endif							/* BLOOMFAM_JOIN_FILTER_STATE_H */
