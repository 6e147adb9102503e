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
 * A filter may be probed on a thousand partitions of few rows each.  What all these nodes need
 * alike is made once, and lives as long as the filter, which points to it.
 */
typedef struct JoinProbeGroup
{
	JoinKey    *keys;			/* how they hash the columns of the key; NULL: not made yet */
	ExprContext *context;		/* in which they hash; NULL: there is none yet */
	struct JoinBatchScratch *scratch;	/* of pages; NULL: none of them has looked at one yet */
	FmgrInfo   *bucket_hash;	/* bucket_prefetch.c's; NULL: not looked for yet */
	List	   *probes;			/* the JoinProbes that may prune partitions */
	List	   *parents;		/* tables whose partitions they prune: partition_pruning.c's */
	uint64		lookups;		/* so many keys were looked up in all parents */
	uint64		lookups_build;	/* ... for this build of the keys (keys_build); 0: none yet */
} JoinProbeGroup;

#endif							/* BLOOMFAM_JOIN_PROBE_GROUP_H */
