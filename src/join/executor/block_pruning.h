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
#include "join/filter/filter.h"

typedef enum JoinBlocksPhase
{
	JOIN_BLOCKS_NOT_YET,		/* the keys are not known so far */
	JOIN_BLOCKS_FOUND,			/* the others need not be read */
	/* all are read, because */
	JOIN_BLOCKS_LATE,			/* ... the scan had begun when the keys became known */
	JOIN_BLOCKS_IN_PART,		/* ... some are read of rows that must all be dropped, or none */
	JOIN_BLOCKS_UNKNOWN,		/* ... the keys were not kept */
	JOIN_BLOCKS_NO_INDEX,		/* ... there is no index now that has all that the snapshot sees */
	JOIN_BLOCKS_COSTLY,			/* ... asking the index takes too long beside the scan */
	JOIN_BLOCKS_MANY			/* ... those that can match are too many, or too scattered */
} JoinBlocksPhase;

/* What is known of them for one filter of a scan: since the scan began. */
typedef struct JoinBlockPruning
{
	JoinBlocksPhase phase;
	JoinFilter *filter;
	const JoinFilterInfo *info;
	const AttrNumber *attributes;	/* of the table */
	bool		guarded;		/* the scan has conditions */
	Snapshot	snapshot;
	MemoryContext context;		/* of what was found */
	Oid			index;			/* that was asked last */

	/* a bit for so many blocks, as a power of two */
	uint64	   *words;
	int			shift;
	uint64		nbits;
	uint64		nset;
} JoinBlockPruning;

/*
 * For a filter of the scan of a table, whose columns these are; some of them are indexed, as the
 * spec says.  Lives as long as the query's state, as they do.
 */
extern JoinBlockPruning *
bloomfam_join_block_pruning_begin(EState *estate, const JoinFilterInfo *info, JoinFilter *filter,
								  const AttrNumber *attributes, bool guarded);

/*
 * Finds them if the keys are known, for a scan that has begun, of a table that has so many blocks
 * to it; a parallel one is this process's share.  For each phase but the first one that is so
 * until the scan begins anew.
 */
extern JoinBlocksPhase bloomfam_join_block_pruning_search(JoinBlockPruning *blocks, Relation table,
														  BlockNumber nblocks, bool parallel);

/* The scan goes on without, for this reason: that its keys are late, or rows would be in part. */
extern void bloomfam_join_block_pruning_miss(JoinBlockPruning *blocks, JoinBlocksPhase reason);

/* The scan begins anew. */
extern void bloomfam_join_block_pruning_forget(JoinBlockPruning *blocks);

/* The indexes that may be asked, of a table of this size, for EXPLAIN: a list of OIDs. */
extern List *bloomfam_join_block_pruning_indexes(const JoinBlockPruning *blocks, Relation table);

/* Can it have rows that match?  Once they are found. */
static inline bool
bloomfam_join_blocks_can_match(const JoinBlockPruning *blocks, BlockNumber block)
{
	uint64		bit = block >> blocks->shift;

	return bit >= blocks->nbits || (blocks->words[bit / 64] >> (bit % 64) & 1) != 0;
}

#endif							/* BLOOMFAM_JOIN_BLOCK_PRUNING_H */
