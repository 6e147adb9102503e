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
#include "join/base/reasons.h"
#include "join/executor/probe_group.h"

/* The partition that a node's rows are of, for one of its filters. */
typedef struct JoinPartition JoinPartition;

/*
 * For the filter of a node whose rows are of a partition: the info has ancestors.  To be called at
 * executor start, as it opens their tables.  Lives as long as the query's state.
 */
extern JoinPartition *bloomfam_join_partition_begin(EState *estate, const JoinFilterInfo *info,
													JoinFilter *filter);

/*
 * Returns why the partition must be read; JOIN_NO_REASON if no row of it can match the keys of the
 * build side.  JOIN_SKIP_TOO_LATE says that the keys are not known so far; any other answer holds
 * until the join begins another build.  Once for each build and partitioned table it takes a
 * look-up for each key, up to a limit; else little.
 */
extern JoinReason bloomfam_join_partition_prune(JoinPartition *partition);

#endif							/* BLOOMFAM_JOIN_PARTITION_PRUNING_H */
