/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * block_pruning.h
 *	  Which blocks of a table can have rows that match a build side's keys, as an index tells.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_BLOCK_PRUNING_H
#define BLOOMFAM_JOIN_BLOCK_PRUNING_H

#include "storage/block.h"

#include "join/base/filter_info.h"
#include "join/base/reasons.h"
#include "join/filter/filter.h"

/* Which blocks can match, as far as one filter of a scan tells, since the scan began. */
typedef struct JoinBlockPruning
{
	JoinReason	reason;			/* why all blocks are read; JOIN_NO_REASON: those that can match are
								 * found */
	JoinFilter *filter;
	const JoinFilterInfo *info; /* some of its columns are indexed */
	const AttrNumber *attributes;	/* ... which these are, of the table */
	ScanState  *scan;			/* of the table */
	Oid			index;			/* that was asked last */

	/* a bit for so many blocks, as a power of two */
	uint64	   *words;
	int			shift;
	uint64		nbits;
} JoinBlockPruning;

/*
 * Finds them if the keys are known, for a scan that has begun, of a table that has so many blocks
 * to it; a parallel one is this process's part.  The reason stays until the scan begins
 * anew, unless it is JOIN_BLOCKS_NOT_YET.
 */
extern void bloomfam_join_block_pruning_search(JoinBlockPruning *blocks, BlockNumber nblocks,
											   bool parallel);

/* The scan begins anew. */
extern void bloomfam_join_block_pruning_forget(JoinBlockPruning *blocks);

/* The indexes that may be asked, of a table of this size, for EXPLAIN: a list of OIDs. */
extern List *bloomfam_join_block_pruning_indexes(JoinBlockPruning *blocks);

/* Can it have rows that match?  Once they are found. */
static inline bool
bloomfam_join_blocks_can_match(const JoinBlockPruning *blocks, BlockNumber block)
{
	uint64		bit = block >> blocks->shift;

	return bit >= blocks->nbits || (blocks->words[bit / 64] >> (bit % 64) & 1) != 0;
}

#endif							/* BLOOMFAM_JOIN_BLOCK_PRUNING_H */
