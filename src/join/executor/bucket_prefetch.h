/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bucket_prefetch.h
 *	  Prefetches the buckets of joins' hash tables that rows of a page will need.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_BUCKET_PREFETCH_H
#define BLOOMFAM_JOIN_BUCKET_PREFETCH_H

#include "join/executor/heap_batch_columns.h"
#include "join/executor/node.h"

/*
 * Asks the memory for what the joins will need of the n rows in the scratch, which have passed all
 * filters and go on to them.  Overwrites their hashes.
 */
extern void bloomfam_join_prefetch_buckets(JoinProbeState *state, JoinBatchScratch *scratch,
										   TupleDesc desc, int n);

#endif							/* BLOOMFAM_JOIN_BUCKET_PREFETCH_H */
