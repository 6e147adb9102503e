/*-------------------------------------------------------------------------
 *
 * bucket.h
 *	  The buckets of joins' hash tables, asked of memory before the joins look into them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_BUCKET_H
#define BLOOMFAM_JOIN_BUCKET_H

#include "executor/hashjoin.h"

#include "join/filter/filter.h"
#include "join/filter/hash.h"

/* Of the rows of one page, so many at most, of all joins together. */
#define JOIN_BUCKETS_PREFETCHED	512

typedef struct JoinBuckets
{
	int			n;
	HashJoinTuple *prefetched[JOIN_BUCKETS_PREFETCHED]; /* each is the head of a bucket */
} JoinBuckets;

/*
 * Is it worth asking for buckets of the filter's join?  Its hash table must be in this process
 * alone, all of it in memory, and too large for the cache next to the processor; and its key one
 * integer, as this one.  The filter is ready, and stays so until the buckets are asked for.
 */
extern bool bloomfam_join_buckets_are_far(JoinFilter *filter, const JoinKey *key);

/* Asks for those of n keys, given as numbers, of a join of which that is so. */
extern void bloomfam_join_buckets_prefetch(JoinBuckets *buckets, const JoinFilter *filter,
										   const JoinKey *key, const uint64 *numbers, int n);

/* Asks for the first row in each bucket that was asked for. */
extern void bloomfam_join_buckets_prefetch_rows(JoinBuckets *buckets);

#endif							/* BLOOMFAM_JOIN_BUCKET_H */
