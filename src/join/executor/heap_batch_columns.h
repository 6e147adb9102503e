/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * heap_batch_columns.h
 *	  The columns of a filter's key, read and hashed straight from a heap's page.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_HEAP_BATCH_COLUMNS_H
#define BLOOMFAM_JOIN_HEAP_BATCH_COLUMNS_H

#include "access/htup_details.h"
#include "executor/hashjoin.h"

#include "join/filter/hash.h"

/* Of the rows of one page, so many buckets are prefetched at most, of all joins together. */
#define JOIN_BUCKETS_PREFETCHED	512

/*
 * Scratch for the rows of one page, shared by the nodes of a filter: of a thousand partitions with
 * few rows, each would have to bring its own into the processor's caches.  heap_batch.c says which
 * nodes share one.
 */
typedef struct JoinBatchScratch
{
	HeapTupleHeader rows[MaxHeapTuplesPerPage];
	uint64		hashes[MaxHeapTuplesPerPage];
	uint64		column[MaxHeapTuplesPerPage];	/* the hashes of one more column of the key */
	uint16		slow_rows[MaxHeapTuplesPerPage]; /* rows whose column is read the long way */
	bool		null[MaxHeapTuplesPerPage];
	bool		spared[MaxHeapTuplesPerPage];	/* its key was not fetched: it passes */
	bool		pass[MaxHeapTuplesPerPage];
	HashJoinTuple *buckets[JOIN_BUCKETS_PREFETCHED]; /* heads of those buckets */
} JoinBatchScratch;

/* One column of a filter's key, in a table. */
typedef struct JoinBatchColumn JoinBatchColumn;

/* Makes the columns that are these attributes of a table, in the current memory context. */
extern JoinBatchColumn *bloomfam_join_batch_columns(TupleDesc desc, const AttrNumber *attributes,
													int ncolumns);

/*
 * Hashes the keys of all rows in the scratch, n.  numbers: the key has one column, and its numbers
 * are wanted instead.  spare_long: rows whose key is not at hand, but compressed or in another
 * table, are noted in spared instead.  Of those and of NULLs the hash may be any: what a filter
 * says of it does not matter.  Returns how many numbers were not at a fixed place in their row.
 */
extern uint64 bloomfam_join_batch_hash(JoinBatchScratch *scratch, const JoinKey *keys,
									   JoinBatchColumn *columns, int ncolumns, TupleDesc desc,
									   int n, bool numbers, bool spare_long);

#endif							/* BLOOMFAM_JOIN_HEAP_BATCH_COLUMNS_H */
