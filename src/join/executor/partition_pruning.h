/* SPDX-License-Identifier: PostgreSQL */
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
#include "join/executor/probe_group.h"

typedef enum JoinPartitionAnswer
{
	JOIN_PARTITION_NOT_YET,		/* the keys are not known, or not known any more */
	JOIN_PARTITION_CANNOT_MATCH,
	JOIN_PARTITION_CAN_MATCH,	/* as far as its bounds tell */
	/* nothing is known, so it is read: */
	JOIN_PARTITION_UNKNOWN,		/* the keys were not kept */
	JOIN_PARTITION_MANY_KEYS,	/* too many to look up, and bounds are not in the keys' order */
	JOIN_PARTITION_NEW,			/* the snapshot may see rows outside its bounds */
	JOIN_PARTITION_IN_PART		/* an all-or-none target whose filter lets rows pass by accident:
								 * set by probe.c */
} JoinPartitionAnswer;

/* The partition that a node's rows are of, for one of its filters. */
typedef struct JoinPartition JoinPartition;

/*
 * For the filter of a node whose rows are of a partition: the info has ancestors.  To be called at
 * executor start, as it opens their tables.  Lives as long as the query's state.
 */
extern JoinPartition *bloomfam_join_partition_begin(EState *estate, const JoinFilterInfo *info,
													JoinFilter *filter);

/*
 * Can rows of it match the keys of the build side?  False negatives: none; where it is not known,
 * they can.  The answer holds until the join begins another build.  Once for each build and
 * partitioned table it takes a look-up for each key, up to a limit; else little.
 */
extern JoinPartitionAnswer bloomfam_join_partition_prune(JoinPartition *partition);

#endif							/* BLOOMFAM_JOIN_PARTITION_PRUNING_H */
