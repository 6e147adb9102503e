/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * filter.h
 *	  The filter of one join: what its build node and its probe nodes share, and its processes.
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
 * The states of a filter: of what one process has of it (JoinFilter.state), and of what is in
 * shared memory (JoinShared.state).  That is the filter that the participants of a Parallel Hash
 * build, or a copy that the leader leaves its workers: JoinFilter.role says which.
 */
typedef enum JoinFilterState
{
	/*
	 * In a process, in a Parallel Hash: keys are being collected, or will be.  Set by who makes the
	 * filter, or empties it for another build.  Not ready.
	 */
	JOIN_FILTER_COLLECTING,

	/*
	 * In a Parallel Hash: there are more numbers than are collected, so only their bounds are
	 * handed over.  Set by the participant that has no room for more.  Not ready.
	 */
	JOIN_FILTER_TOO_MANY,

	/*
	 * In a Parallel Hash: all participants have handed over their keys, and one process makes the
	 * filter.  Set by that one, the first to probe.  Not ready.
	 */
	JOIN_FILTER_BUILDING,

	/*
	 * Everywhere: the filter has all keys of the build side.  Set by who has made it or its copy,
	 * and in another process when it finds that.  Ready; a process's own filter only as long as
	 * its join has the hash table, or the sorted rows, that it was built along with
	 * (bloomfam_join_filter_ready()).
	 */
	JOIN_FILTER_READY,

	/*
	 * In a process, in a Parallel Hash: this build makes no filter, as there are too many keys, or
	 * there is no memory.  Set by who notices, and in another process when it finds that, or
	 * KEYS_ONLY.  Never ready.
	 */
	JOIN_FILTER_DISCARDED,

	/* In a copy: the leader has left nothing, or not yet.  Set by the leader.  Not ready. */
	JOIN_FILTER_NO_COPY,

	/*
	 * In a copy: the leader has left what is known of the keys, but no filter.  Set by the leader.
	 * Never ready.
	 */
	JOIN_FILTER_KEYS_ONLY
} JoinFilterState;

/* Who builds a filter. */
typedef enum JoinFilterRole
{
	JOIN_FILTER_PRIVATE,		/* this process, for itself */
	JOIN_FILTER_PARTICIPANT,	/* all participants of a Parallel Hash, each with some keys */
	JOIN_FILTER_COPY			/* the leader, whose join is above the Gather; this is a worker */
} JoinFilterRole;

/* What processes share of a filter, in the dynamic shared memory of a node. */
typedef struct JoinShared
{
	pg_atomic_uint32 state;		/* a JoinFilterState; JoinFilter.role says of what */
	JoinFilterProbe design;		/* the filter, if READY, without its pointers */
	dsa_pointer payload;		/* the filter's, unaligned; invalid: it has none */
	dsa_pointer_atomic pieces;	/* list of what is known of the columns, from each process */
	pg_atomic_uint32 piece_lost;	/* 1: a process could not add its piece, or will not; else 0 */

	/* of the filter of a Parallel Hash */
	dsa_pointer_atomic chunks;	/* list of keys for the filter */
	pg_atomic_uint64 nkeys;		/* how many keys are in all chunks */

	/* of a copy, for the leader alone */
	dsa_area   *area;			/* the area that it is in; NULL: nothing was left there */
	uint64		build;			/* counts.builds when it was left: a later build outdates it */
} JoinShared;

/*
 * What one process has of a filter.  It lives as long as the query's state; build and probe nodes
 * find it through a parameter slot of the executor (es_param_exec_vals), as a plan's nodes may not
 * know each other.
 */
typedef struct JoinFilter
{
	JoinFilterRole role;		/* which of the members marked PRIVATE, PARTICIPANT, COPY are set */
	JoinFilterState state;		/* COLLECTING, READY or DISCARDED */
	PlanState  *join;			/* a hash join or merge join; NULL: not tied to it (yet), so nothing
								 * is made; always of COPY */
	void	  **kept;			/* bloomfam_join_build_kept() of the join; NULL if join is */
	void	   *table;			/* READY: the hash table, or the sorted rows, that it was built
								 * along with */
	bool		of_numbers;		/* its key is one column of integers, keys[0] */
	JoinCollected collected;	/* COLLECTING: the keys so far */
	JoinFilterProbe probe;		/* READY: the filter, to be probed */

	/* PRIVATE */
	MemoryContext context;		/* has collected and the payload; reset for each build */
	List	   *copies;			/* JoinShareds that were left to workers, one for each Gather */

	/* PARTICIPANT, COPY */
	JoinShared *shared;			/* what other processes have of it */
	dsa_area   *area;			/* the area that shared's pointers are of */
	dsa_pointer chunk;			/* PARTICIPANT: what collected is in; invalid: it is empty */

	/* what is known of the key's columns, also if the filter is discarded */
	int			ncolumns;		/* 0: no column is collected or used for pruning */
	JoinKeys   *keys;			/* what is known of each column */
	MemoryContext keys_context; /* has their lists, and what was found by them; reset for each
								 * build; NULL: ncolumns is 0 */
	bool		keys_complete;	/* they are all of the last build; then no column is LISTING */
	void	   *keys_table;		/* the hash table, or the sorted rows, that they were collected
								 * along with; NULL: none, or of COPY */
	uint64		keys_build;		/* number of complete builds, by which users know a new one */

	bool		passed_unfiltered;	/* an all-or-none target let rows pass before the filter was
									 * ready: it stays off for this execution */
	struct JoinProbeGroup *group;	/* the executor's; NULL: no node probes it yet */
	JoinBuildCounts counts;		/* what this process did to build it */
} JoinFilter;

/* ---- a filter in shared memory (filter_shared.c) ---- */

/* Initializes new memory. */
extern void bloomfam_join_shared_init(JoinShared *shared, JoinFilterState state);

/* Frees all that is there, and initializes it again.  No other process may be using it. */
extern void bloomfam_join_shared_reset(JoinShared *shared, dsa_area *area, JoinFilterState state);

/* Says that this process cannot build its part: no filter is made, unless there is one already. */
extern void bloomfam_join_shared_refuse(JoinShared *shared);

/*
 * Tries to get a filter from shared memory: when the join of this process probes, or when the
 * leader has left a copy.  Returns whether rows may be dropped by it.
 */
extern bool bloomfam_join_filter_attach(JoinFilter *filter);

/* ---- the filter of a process (filter.c) ---- */

/* Returns the filter in this parameter slot; the first call makes it, a private one. */
extern JoinFilter *bloomfam_join_filter_get(EState *estate, int param);

/*
 * Gives a filter another role, and empties it.  With another role than PRIVATE, shared's pointers
 * are of this area; area NULL: there is none, so the role is PRIVATE.
 */
extern void bloomfam_join_filter_tie(JoinFilter *filter, JoinFilterRole role, JoinShared *shared,
									 dsa_area *area);

/*
 * Has the build node collect this column of so many, of this type and hashed so; list: it is used
 * for pruning, from the next build on.
 */
extern void bloomfam_join_filter_collect(JoinFilter *filter, int ncolumns, int column,
										 const JoinKey *key, Oid type, bool list);

/* Prepares a filter for probe nodes that prune by some of so many columns. */
extern void bloomfam_join_filter_keep(JoinFilter *filter, int ncolumns);

/* Empties a filter whose build side is rescanned, as what is there belongs to the last build. */
extern void bloomfam_join_filter_restart(JoinFilter *filter);

/* Makes room in collected; or has less collected, or none: then there is no room. */
extern void bloomfam_join_filter_more(JoinFilter *filter);

/*
 * Ends a build: makes the filter of the keys, and ties it to the hash table that the join now has;
 * or hands the keys over.
 */
extern void bloomfam_join_filter_finish(JoinFilter *filter);

/*
 * Returns the finished columns of the keys that the join of this process is probing with.  NULL:
 * they are not known (yet), also later, as the build side may be rescanned.
 */
extern const JoinKeys *bloomfam_join_filter_keys(JoinFilter *filter);

/* ---- copies for workers (filter_copies.c) ---- */

/*
 * Leaves a copy for the workers that are about to start in this area: of the filter, if it is
 * ready, and of what is known of its keys.  It is in shared, which is NO_COPY if it is new, or
 * where another node has left one in this area; one of an older build is freed.  all_or_none: the
 * node is such a target, and without a copy it is off in this process as well.
 */
extern void bloomfam_join_filter_leave_copy(JoinFilter *filter, JoinShared *shared, dsa_area *area,
											bool all_or_none);

/* Forgets the copy that was left there, as the memory of shared goes away. */
extern void bloomfam_join_filter_forget_copy(JoinFilter *filter, JoinShared *shared);

/* ---- among these three files: nobody else calls these ---- */

/*
 * Makes a filter READY: it holds as long as the join has the hash table that it now has.  Another
 * process may have filled the payload, which must stay; NULL: the form has none.
 */
extern void bloomfam_join_filter_use(JoinFilter *filter, const JoinFilterProbe *design,
									 const uint8 *payload);

/* Counts a filter that was made; memory: all that making it took, in bytes. */
extern void bloomfam_join_filter_count(JoinFilter *filter, const JoinFilterProbe *design,
									   Size memory);

/*
 * Returns the bounds of all numbers of a build that has ended, in all processes.  They are those of
 * int64 if a participant's piece was lost, or of hashes, where they do not matter.
 */
extern JoinKeysRange bloomfam_join_filter_bounds(JoinFilter *filter);

/*
 * Makes room for more keys of this participant.  Returns false if there is none for the filter's
 * keys, of any process: there are more than the filter of one process may have, and a chunk each;
 * or there is no memory.
 */
extern bool bloomfam_join_shared_more(JoinFilter *filter);

/* Hands over what this participant has collected, as its part of the build is over. */
extern void bloomfam_join_shared_hand_over(JoinFilter *filter);

/* Adds a process's columns, finished; without columns nothing is known of any. */
extern void bloomfam_join_shared_put_keys(JoinShared *shared, dsa_area *area, const JoinKeys *keys,
										  int ncolumns);

/*
 * Merges the columns of all processes.  Returns false if a piece is missing: the filter's are
 * undefined then, else finished.
 */
extern bool bloomfam_join_shared_get_keys(JoinFilter *filter);

/* Gets memory for a payload of so many bytes, which may be 0.  False: there is no memory. */
extern bool bloomfam_join_shared_allocate(JoinShared *shared, dsa_area *area, Size size);

/* Returns the payload, aligned; NULL: the form has none. */
extern uint8 *bloomfam_join_shared_payload(const JoinShared *shared, dsa_area *area);

/* ---- what is inlined ---- */

/* Returns the state of what is in shared memory. */
static inline JoinFilterState
bloomfam_join_shared_state(const JoinShared *shared)
{
	return (JoinFilterState) pg_atomic_read_u32(unconstify(pg_atomic_uint32 *, &shared->state));
}

/* Tells whether the leader has left anything there. */
static inline bool
bloomfam_join_shared_has_copy(const JoinShared *shared)
{
	JoinFilterState state = bloomfam_join_shared_state(shared);

	return state == JOIN_FILTER_READY || state == JOIN_FILTER_KEYS_ONLY;
}

/*
 * Adds a row's key: the number if the filter is of_numbers, else the hash of all columns.  numbers:
 * those of the columns that are integers.
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
 * Tells the same to an all-or-none target, below an aggregate: once a row of a key has passed,
 * every later row of that key must.  Of a discarded filter all pass.
 */
static inline bool
bloomfam_join_filter_ready_for_all_or_none(JoinFilter *filter)
{
	bool		ready = bloomfam_join_filter_ready(filter);

	filter->passed_unfiltered |= !ready && filter->state != JOIN_FILTER_DISCARDED;
	return ready && !filter->passed_unfiltered;
}

/*
 * Tells whether an all-or-none target may prune partitions and blocks.  Rows of the same keys
 * elsewhere must be dropped as well, so the filter must be exact.
 */
static inline bool
bloomfam_join_filter_may_skip_all_or_none(JoinFilter *filter)
{
	return bloomfam_join_filter_ready_for_all_or_none(filter) &&
		   filter->probe.form == JOIN_FORM_BITMAP;
}

/* Tells whether this process alone will build a filter, as soon as its join wants to probe. */
static inline bool
bloomfam_join_filter_awaited(JoinFilter *filter)
{
	return filter->role == JOIN_FILTER_PRIVATE && filter->join != NULL &&
		   filter->state != JOIN_FILTER_DISCARDED && !bloomfam_join_filter_ready(filter);
}

#endif							/* BLOOMFAM_JOIN_FILTER_H */
