/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * heap_batch_columns.h
 *	  Reads and hashes the columns of a filter's key straight from a heap's page.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_HEAP_BATCH_COLUMNS_H
#define BLOOMFAM_JOIN_HEAP_BATCH_COLUMNS_H

#include "access/htup_details.h"

#include "join/filter/hash.h"

/*
 * Memory for the rows of one page, shared by the nodes of a filter: if each of a thousand
 * partitions with few rows had its own, each would have to bring it into the processor's caches.
 * get_scratch() in heap_batch.c decides which nodes share one.
 */
typedef struct JoinBatchScratch
{
	HeapTupleHeader rows[MaxHeapTuplesPerPage];
	uint64		hashes[MaxHeapTuplesPerPage];

	/*
	 * The hashes of a column of the key other than the first, before they are combined with
	 * "hashes".
	 */
	uint64		column[MaxHeapTuplesPerPage];

	/* The indexes in rows[] of those rows whose column is not at a fixed offset. */
	uint16		slow_rows[MaxHeapTuplesPerPage];
	bool		null[MaxHeapTuplesPerPage];

	/*
	 * Whether the row's key was not fetched, because it is compressed or in a TOAST table: the row
	 * passes.
	 */
	bool		spared[MaxHeapTuplesPerPage];
	bool		pass[MaxHeapTuplesPerPage];
} JoinBatchScratch;

/* One column of a filter's key, as it is read from a table's pages. */
typedef struct JoinBatchColumn JoinBatchColumn;

/*
 * Makes an array of the columns with the given attribute numbers of a table, in the current memory
 * context.
 */
extern JoinBatchColumn *bloomfam_join_batch_columns(TupleDesc desc, const AttrNumber *attributes,
													int ncolumns);

/*
 * Hashes the keys of the n rows in scratch->rows, and sets scratch->hashes.  If "numbers" is true,
 * the key has a single column, and its numbers are stored instead of hashes.  If spare_long is
 * true, keys that are compressed or stored in a TOAST table are not hashed, and their rows are
 * marked in scratch->spared.  The hashes of these rows and of rows with a NULL are undefined, and
 * what a filter says of them is ignored.  Returns how many numbers were not at a fixed offset in
 * their row.
 */
extern uint64 bloomfam_join_batch_hash(JoinBatchScratch *scratch, const JoinKey *keys,
									   JoinBatchColumn *columns, int ncolumns, TupleDesc desc,
									   int n, bool numbers, bool spare_long);

#endif							/* BLOOMFAM_JOIN_HEAP_BATCH_COLUMNS_H */
