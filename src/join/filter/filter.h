/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * filter.h
 *	  The filter of one join: what its build node, its probe nodes and its processes share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_FILTER_H
#define BLOOMFAM_JOIN_FILTER_H

#include "nodes/execnodes.h"
#include "port/atomics.h"
#include "utils/dsa.h"

#include "join/filter/form.h"
#include "pg/server_structs.h"

/*
 * The states of a filter.  JoinFilter.state is the state of what one process has of it.
 * JoinShared.state is the state of what is in shared memory: the filter that the participants of a
 * Parallel Hash build, or a copy that the leader leaves to its workers; JoinFilter.role says which.
 */
typedef enum JoinFilterState
{
	/*
	 * In a process, and in a Parallel Hash: keys are being collected, or will be.  Set by the
	 * process that makes the JoinFilter or JoinShared, or empties it for another build.  The filter
	 * is not ready.
	 */
	JOIN_FILTER_COLLECTING,

	/*
	 * In a Parallel Hash: the keys are more numbers than can be collected, so only their bounds are
	 * handed over.  Set by the participant that finds no room for more.  The filter is not ready.
	 */
	JOIN_FILTER_TOO_MANY,

	/*
	 * In a Parallel Hash: all participants have handed over their keys, and one process is making
	 * the filter.  Set by that process, which is the first to probe.  The filter is not ready.
	 */
	JOIN_FILTER_BUILDING,

	/*
	 * In a process, in a Parallel Hash, and in a copy: the filter has all keys of the build side.
	 * Set by the process that has made the filter or its copy, and by another process in its own
	 * JoinFilter when it finds that.  The filter is ready; but a JoinFilter that is no copy is
	 * ready only as long as its join has the hash table, or the sorted rows, that the filter was
	 * built along with (bloomfam_join_filter_ready()).
	 */
	JOIN_FILTER_READY,

	/*
	 * In a process, and in a Parallel Hash: the present build makes no filter, as there are too
	 * many keys or no memory.  Set by the process that notices it, and by another process in its
	 * own JoinFilter when it finds the shared state to be DISCARDED or KEYS_ONLY.  The filter is
	 * never ready.
	 */
	JOIN_FILTER_DISCARDED,

	/*
	 * The state of a copy (a filter of a join above a Gather, as the leader leaves it in shared
	 * memory for the workers): the leader has left nothing, or not yet.  Set by the leader.  The
	 * filter is not ready.
	 */
	JOIN_FILTER_NO_COPY,

	/*
	 * The state of a copy (a filter of a join above a Gather, as the leader leaves it in shared
	 * memory for the workers): the leader has left what it knows of the keys (bounds and lists, for
	 * pruning), but no filter.  Set by the leader.  The filter is never ready.
	 */
	JOIN_FILTER_KEYS_ONLY
} JoinFilterState;

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
	/* A JoinFilterState, of a Parallel Hash's filter or of a copy (see JoinFilter.role). */
	pg_atomic_uint32 state;

	/* The filter's description without its pointers, valid if the state is READY. */
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

	/* The fields "chunks" and "nkeys" are used by the filter of a Parallel Hash. */
	/* The list of the keys that participants have handed over for the filter. */
	dsa_pointer_atomic chunks;
	pg_atomic_uint64 nkeys;		/* The number of keys in all handed-over chunks. */

	/* The fields "area" and "build" belong to a copy, and only the leader uses them. */
	/* The DSA area that the copy is in; NULL: no copy was left in this JoinShared. */
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

	/* The state of the filter in this process: COLLECTING, READY or DISCARDED. */
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

	/* The fields "context" and "copies" are used in role PRIVATE. */
	/* The memory context of collected keys and of the payload; it is reset for each build. */
	MemoryContext context;

	/* List of JoinShared: the copies that were left to workers, one for each Gather. */
	List	   *copies;

	/* The fields "shared", "area" and "chunk" are used in roles PARTICIPANT and COPY. */
	JoinShared *shared;			/* What the processes share of the filter. */
	dsa_area   *area;			/* The DSA area that the pointers in "shared" refer to. */

	/*
	 * If this process takes part in a Parallel Hash: the chunk of shared memory in which
	 * "collected" stores keys; InvalidDsaPointer: there is none.
	 */
	dsa_pointer chunk;

	/*
	 * The fields from "ncolumns" to "keys_build" say what is known of the key's columns, also if
	 * the filter is discarded.
	 */
	/* The number of the key's columns; 0: no column is collected or used for pruning. */
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

/* ---- a filter in shared memory (filter_shared.c) ---- */

/* Initializes new shared memory for a filter, in the given state. */
extern void bloomfam_join_shared_init(JoinShared *shared, JoinFilterState state);

/*
 * Frees all that a JoinShared refers to, and initializes it again.  No other process may be using
 * it.
 */
extern void bloomfam_join_shared_reset(JoinShared *shared, dsa_area *area, JoinFilterState state);

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

/* ---- the filter of a process (filter.c) ---- */

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

/*
 * Returns the finished columns of the keys that the join of this process is probing with.  Returns
 * NULL if they are not known, or not yet; they can also be unknown again later, as the build side
 * may be rescanned.
 */
extern const JoinKeys *bloomfam_join_filter_keys(JoinFilter *filter);

/* ---- copies for workers (filter_copies.c) ---- */

/*
 * Leaves a copy of the filter, if it is ready, and of what is known of its keys, for the workers
 * that are about to start in the given DSA area.  The copy is put into "shared", which is in state
 * NO_COPY if it is new, unless another node has already left a copy in this area; a copy of an
 * older build is freed. all_or_none says that the calling node is an all-or-none target: if no copy
 * is left, the filter is then off in this process as well.
 */
extern void bloomfam_join_filter_leave_copy(JoinFilter *filter, JoinShared *shared, dsa_area *area,
											bool all_or_none);

/* Forgets the copy that was left in "shared", as its memory is about to go away. */
extern void bloomfam_join_filter_forget_copy(JoinFilter *filter, JoinShared *shared);

/* ---- called only by filter.c, filter_shared.c and filter_copies.c ---- */

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
 * Returns the bounds of all numbers of a build that has ended in all processes.  They are the
 * bounds of int64 if a participant's piece was lost, or if the keys are hashes, for which bounds do
 * not matter.
 */
extern JoinKeysRange bloomfam_join_filter_bounds(JoinFilter *filter);

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

/* ---- inline functions ---- */

/* Returns the state of a filter, or of a copy, in shared memory. */
static inline JoinFilterState
bloomfam_join_shared_state(const JoinShared *shared)
{
	return (JoinFilterState) pg_atomic_read_u32(unconstify(pg_atomic_uint32 *, &shared->state));
}

/* Tells whether the leader has left a filter or keys in a JoinShared for its workers. */
static inline bool
bloomfam_join_shared_has_copy(const JoinShared *shared)
{
	JoinFilterState state = bloomfam_join_shared_state(shared);

	return state == JOIN_FILTER_READY || state == JOIN_FILTER_KEYS_ONLY;
}

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
