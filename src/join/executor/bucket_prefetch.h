/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bucket_prefetch.h
 *	  Prefetches the buckets of joins' hash tables that the rows of a page will need.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_BUCKET_PREFETCH_H
#define BLOOMFAM_JOIN_BUCKET_PREFETCH_H

#include "join/executor/heap_batch_columns.h"
#include "join/executor/node.h"

/*
 * Prefetches the hash table buckets that the joins will look up for the n rows in "scratch" (the
 * rows of one page), which have passed all filters and are about to go to the joins.  Overwrites
 * scratch->hashes.
 */
extern void bloomfam_join_prefetch_buckets(JoinProbeState *state, JoinBatchScratch *scratch,
										   TupleDesc desc, int n);

#endif							/* BLOOMFAM_JOIN_BUCKET_PREFETCH_H */
