/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * partition_pruning.h
 *	  Tells whether a partition can have rows that match a build side's keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_PARTITION_PRUNING_H
#define BLOOMFAM_JOIN_PARTITION_PRUNING_H

#include "join/base/filter_info.h"
#include "join/base/reasons.h"
#include "join/executor/probe_group.h"

/* The partition that a probe node's rows are of, for one of the node's filters. */
typedef struct JoinPartition JoinPartition;

/*
 * Prepares partition pruning for a filter of a node whose rows are of a partition, that is, whose
 * description has ancestors.  Must be called at executor start, as it opens the ancestors' tables.
 * The result lives as long as the query's executor state.
 */
extern JoinPartition *bloomfam_join_partition_begin(EState *estate, const JoinFilterInfo *info,
													JoinFilter *filter);

/*
 * Returns the reason why the partition must be read; JOIN_NO_REASON if no row of it can match the
 * keys of the build side.  JOIN_SKIP_TOO_LATE means that the keys are not known so far; any other
 * answer holds until the join begins another build.  Once for each build and partitioned table,
 * each key is looked up, up to a limit; otherwise a call costs little.
 */
extern JoinReason bloomfam_join_partition_prune(JoinPartition *partition);

#endif							/* BLOOMFAM_JOIN_PARTITION_PRUNING_H */
