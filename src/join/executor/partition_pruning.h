/*-------------------------------------------------------------------------
 *
 * partition_pruning.h
 *	  Whether a partition can have rows that match a build side's keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_PARTITION_PRUNING_H
#define BLOOMFAM_JOIN_PARTITION_PRUNING_H

#include "join/base/filter_info.h"
#include "join/filter/filter.h"

typedef enum JoinPartitionAnswer
{
	JOIN_PARTITION_NOT_YET,		/* the keys are not known, or not known any more */
	JOIN_PARTITION_CANNOT_MATCH,
	JOIN_PARTITION_CAN_MATCH,	/* as far as its bounds tell */
	/* rows can match as well, because */
	JOIN_PARTITION_UNKNOWN,		/* ... the keys were not kept */
	JOIN_PARTITION_MANY_KEYS,	/* ... they are not looked up one by one, and bounds do not tell */
	JOIN_PARTITION_NEW,			/* ... the snapshot may see rows outside its bounds */
	JOIN_PARTITION_IN_PART		/* ... others have some of rows that must all be dropped, or none;
								 * the node says so */
} JoinPartitionAnswer;

#define JOIN_PARTITION_ANSWERS	(JOIN_PARTITION_IN_PART + 1)

/* The partition that one of a node's filters is asked about. */
typedef struct JoinPartition JoinPartition;

/*
 * For the filter of a node whose rows are of a partition: the spec has levels.  To be called when
 * the executor starts, as it opens their tables.  Lives as long as the query's state.
 */
extern JoinPartition *bloomfam_join_partition_begin(EState *estate, const JoinFilterInfo *info,
													JoinFilter *filter);

/*
 * Can rows of it match?  What it says is true until the join begins another build; where it does
 * not know, rows can.
 */
extern JoinPartitionAnswer bloomfam_join_partition_prune(JoinPartition *partition);

#endif							/* BLOOMFAM_JOIN_PARTITION_PRUNING_H */
