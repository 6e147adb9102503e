/*-------------------------------------------------------------------------
 *
 * filter.h
 *	  What the two sides of a join share: the filter of one join, in one process.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_FILTER_H
#define BLOOMFAM_JOIN_FILTER_H

#include "executor/hashjoin.h"
#include "nodes/execnodes.h"

#include "join/filter/filter_probe.h"
#include "join/filter/keys.h"
#include "join/filter/shared.h"

/* Who builds it, and for whom. */
typedef enum JoinFilterRole
{
	JOIN_FILTER_PRIVATE,		/* this process, for itself */
	JOIN_FILTER_PARTICIPANT, /* all participants of a Parallel Hash, each its share of the keys */
	JOIN_FILTER_COPY	 /* the leader, whose join is above the Gather; this is a worker */
} JoinFilterRole;

typedef enum JoinFilterPhase
{
	JOIN_FILTER_BUILDING,		/* or not begun */
	JOIN_FILTER_COMPLETE,		/* all keys of the build side are in */
	JOIN_FILTER_ABANDONED		/* there were too many keys to know anything: no filter this time */
} JoinFilterPhase;

/* What a leader has left the workers of one Gather. */
typedef struct JoinCopy
{
	struct JoinCopy *next;
	dsa_area   *area;			/* of that Gather */
	JoinShared *shared;
	uint64		build;			/* the number of builds by then: a later one is another filter */
} JoinCopy;

/* How the join finds the bucket of a key. */
typedef struct JoinBucketHash JoinBucketHash;

/*
 * It lives as long as the query's state; build and probe nodes find it through a parameter slot
 * of the executor (es_param_exec_vals), as a plan's nodes may not know each other.
 */
typedef struct JoinFilter
{
	JoinFilterRole role;
	JoinFilterPhase phase;
	HashJoinState *join;		/* NULL: not tied to it, so nothing is built; always NULL in a
								 * worker's copy */
	HashJoinTable table;		/* that it was built along with */
	bool		of_numbers;		/* its keys are one column of integers */
	JoinCollected collected;	/* while it is built, as long as the keys' number is not known */
	MemoryContext context;		/* private: holds both, keys and filter; reset for each build */
	JoinSharedHandle	handle;	/* share, copy: of the filter in shared memory */
	JoinCopy   *copies;			/* private: those that a leader has left, one for each Gather */
	JoinFilterProbe		filter_probe; /* once it is complete */

	/* what is kept of the keys themselves, also where the filter is abandoned */
	int			ncolumns;		/* of the key; 0: nothing is kept */
	JoinKeys   *keys;			/* of each column */
	MemoryContext keys_context;
	bool		keys_complete;	/* of the build that was finished last */
	HashJoinTable keys_table;	/* ... that they were kept along with */
	uint64		keys_build;		/* ... its number: that of another build is another one */
	List	   *parents;		/* tables whose partitions they are compared with:
								 * partition_pruning.c's */
	uint64		lookups;		/* ... how often, of this build */
	bool passed_unfiltered; /* rows passed unseen at a place that is to drop all with a key, or
								 * none: so none there from then on */
	List	   *probe_nodes;	/* states of this process's probe nodes that may skip by them */
	JoinBucketHash *bucket_hash;	/* bucket.c's; NULL: not looked for yet */
	JoinBuildCounts counts;
} JoinFilter;

/* The filter in this parameter slot, made when first asked for: a private one. */
extern JoinFilter *bloomfam_join_filter_get(EState *estate, int param);

/*
 * Gives it another role, and empties it.  With another role than private it is the process's hold
 * of the shared one; where the area is NULL, there is nothing shared, and it is private.
 */
extern void bloomfam_join_filter_tie(JoinFilter *filter, JoinFilterRole role, JoinShared *shared,
									 dsa_area *area);

/* Lets it be built of numbers: what is added is a JoinKey's, and not a hash. */
extern void bloomfam_join_filter_take_numbers(JoinFilter *filter);

/*
 * Lets it keep what there is to know of its keys, which have so many columns, besides the filter.
 * On the build side a column of this type is kept: from the next build on.
 */
extern void bloomfam_join_filter_keep(JoinFilter *filter, int ncolumns);
extern void bloomfam_join_filter_keep_column(JoinFilter *filter, int column, Oid type);

/* Begins a build: empties the filter. */
extern void bloomfam_join_filter_begin(JoinFilter *filter);

/* The build side begins anew: what is there belongs to the last build. */
extern void bloomfam_join_filter_outdate(JoinFilter *filter);

/* Makes room for more keys; or collects less of them, or abandons the filter. */
extern void bloomfam_join_filter_more(JoinFilter *filter);

/*
 * Ends a build: makes the filter of the keys, and ties it to the hash table that they went into.
 */
extern void bloomfam_join_filter_finish(JoinFilter *filter);

/*
 * Tries to get a filter from shared memory: when the join of this process probes, or when the
 * leader has left a copy.  Returns whether rows may be dropped by it.
 */
extern bool bloomfam_join_filter_attach(JoinFilter *filter);

/*
 * Sees to it that the workers that are about to start in this area find a copy of the leader's
 * filter, if it is ready, and of what it has kept of its keys, even if it is not: in shared,
 * which must have been given up if it is new, or where another node of theirs has it.  A copy of
 * an older build is freed.  whole: the node is to drop all rows with a key, or none; without a
 * copy, neither does this process.
 */
extern void bloomfam_join_filter_leave_copy(JoinFilter *filter, JoinShared *shared, dsa_area *area,
											bool all_or_none);

/* The memory that shared is in goes away, and the copy with it. */
extern void bloomfam_join_filter_forget_copy(JoinFilter *filter, const JoinShared *shared);

/*
 * The columns of the keys that the join of this process is probing with, each as far as it is
 * known; NULL if none is, which may change at any time, as the build may begin anew.
 */
extern const JoinKeys *bloomfam_join_filter_keys(JoinFilter *filter);

/* Adds a key: a number if it takes those, else a hash. */
static inline void
bloomfam_join_filter_add(JoinFilter *filter, uint64 key)
{
	JoinCollected *collected = &filter->collected;

	if (collected->what != JOIN_COLLECTS_HASHES)
	{
		collected->smallest = Min(collected->smallest, (int64) key);
		collected->largest = Max(collected->largest, (int64) key);
		if (collected->what == JOIN_COLLECTS_BOUNDS)
			return;
	}
	if (unlikely(collected->n == collected->room))
	{
		bloomfam_join_filter_more(filter);
		if (collected->n == collected->room)
			return;
	}
	collected->values[collected->n++] = key;
}

/* May rows be dropped by it now? */
static inline bool
bloomfam_join_filter_ready(JoinFilter *filter)
{
	if (likely(filter->phase == JOIN_FILTER_COMPLETE))
		return filter->role == JOIN_FILTER_COPY ||
			   (filter->table != NULL && filter->join->hj_HashTable == filter->table);
	return filter->role != JOIN_FILTER_PRIVATE && filter->phase != JOIN_FILTER_ABANDONED &&
		   bloomfam_join_filter_attach(filter);
}

/*
 * The same at a place where all rows with a key are to be dropped, or none.  Of a filter that is
 * given up all pass.
 */
static inline bool
bloomfam_join_filter_ready_for_all_or_none(JoinFilter *filter)
{
	bool		ready = bloomfam_join_filter_ready(filter);

	filter->passed_unfiltered |= !ready && filter->phase != JOIN_FILTER_ABANDONED;
	return ready && !filter->passed_unfiltered;
}

/*
 * May partitions and pages be left out there?  Rows with the same keys that are elsewhere must be
 * dropped, too, so the filter must never be wrong.
 */
static inline bool
bloomfam_join_filter_may_skip_all_or_none(JoinFilter *filter)
{
	return bloomfam_join_filter_ready_for_all_or_none(filter) &&
		   filter->filter_probe.design.form == JOIN_FORM_BITMAP;
}

/* Not now, but is it to be built, by this process alone, as soon as its join wants to probe? */
static inline bool
bloomfam_join_filter_awaited(JoinFilter *filter)
{
	return filter->role == JOIN_FILTER_PRIVATE && filter->join != NULL &&
		   filter->phase != JOIN_FILTER_ABANDONED && !bloomfam_join_filter_ready(filter);
}

#endif							/* BLOOMFAM_JOIN_FILTER_H */
