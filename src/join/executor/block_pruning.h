/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * block_pruning.h
 *	  Finds by an index which blocks of a table can have rows that match a build side's keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_BLOCK_PRUNING_H
#define BLOOMFAM_JOIN_BLOCK_PRUNING_H

#include "storage/block.h"

#include "join/base/filter_info.h"
#include "join/base/reasons.h"
#include "join/filter/filter.h"

/* The blocks of a table that can match, as one filter of its scan tells, since the scan began. */
typedef struct JoinBlockPruning
{
	/*
	 * The reason why all blocks are read; JOIN_NO_REASON: the blocks that can match have been
	 * found.
	 */
	JoinReason	reason;
	JoinFilter *filter;

	/*
	 * The description of the filter whose keys are searched for; some of its columns are indexed.
	 */
	const JoinFilterInfo *info;

	/* The attribute numbers of the filter's key columns in the table. */
	const AttrNumber *attributes;
	ScanState  *scan;			/* The execution state of the scan of the table. */
	Oid			index;			/* The OID of the index that was searched last. */

	/*
	 * The blocks that can match, as a bitmap: bit i stands for the 2^shift blocks from block i <<
	 * shift on.
	 */
	uint64	   *words;
	int			shift;
	uint64		nbits;
} JoinBlockPruning;

/*
 * Finds the blocks that can match, if the keys are known, for a scan that has begun.  The table has
 * nblocks blocks for the scan; of a parallel scan, this process reads a part.  Sets blocks->reason,
 * which stays until the scan begins anew unless it is JOIN_BLOCKS_NOT_YET.
 */
extern void bloomfam_join_block_pruning_search(JoinBlockPruning *blocks, BlockNumber nblocks,
											   bool parallel);

/* Forgets which blocks can match, as the scan begins anew. */
extern void bloomfam_join_block_pruning_forget(JoinBlockPruning *blocks);

/*
 * Returns the OIDs of the indexes that may be searched for a table of the present size, for
 * EXPLAIN.
 */
extern List *bloomfam_join_block_pruning_indexes(JoinBlockPruning *blocks);

/*
 * Tells whether a block can have rows that match.  May be called once the blocks have been found.
 */
static inline bool
bloomfam_join_blocks_can_match(const JoinBlockPruning *blocks, BlockNumber block)
{
	uint64		bit = block >> blocks->shift;

	return bit >= blocks->nbits || (blocks->words[bit / 64] >> (bit % 64) & 1) != 0;
}

#endif							/* BLOOMFAM_JOIN_BLOCK_PRUNING_H */
