/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * probe_group.h
 *	  What the probe nodes of one filter share in a process.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_PROBE_GROUP_H
#define BLOOMFAM_JOIN_PROBE_GROUP_H

#include "join/filter/filter.h"

/*
 * A filter may be probed on a thousand partitions of few rows each.  What all these probe nodes
 * need is made once, and lives as long as the filter, which points to it.
 */
typedef struct JoinProbeGroup
{
	/* How the columns of the key are hashed; NULL: it is not prepared yet. */
	JoinKey    *keys;

	/* The expression context in which keys are hashed; NULL: there is none yet. */
	ExprContext *context;

	/* Memory for the rows of a page; NULL: no node has probed a page yet. */
	struct JoinBatchScratch *scratch;

	/*
	 * List of JoinProbe: the filter's entries in those probe nodes that may skip partitions by it.
	 */
	List	   *probes;

	/*
	 * List of the partitioned tables whose partitions the filter can prune; kept by
	 * partition_pruning.c.
	 */
	List	   *parents;

	/* The number of keys that were looked up in the partition bounds of all partitioned tables. */
	uint64		lookups;

	/* The build (JoinFilter.keys_build) that "lookups" counts for; 0: none yet. */
	uint64		lookups_build;
} JoinProbeGroup;

#endif							/* BLOOMFAM_JOIN_PROBE_GROUP_H */
