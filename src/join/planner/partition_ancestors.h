/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * partition_ancestors.h
 *	  Follows the scan of a partition up to the partitioned tables above it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_PARTITION_ANCESTORS_H
#define BLOOMFAM_JOIN_PARTITION_ANCESTORS_H

#include "join/base/filter_info.h"
#include "join/planner/pushdown.h"

/* What is known of the partitions in a finished plan, while one filter is added to it. */
typedef struct JoinPartitionAncestors
{
	const JoinPushdown *pushdown; /* The filter that is being added. */

	/*
	 * Array by range table index of the child relation: its AppendRelInfo, or NULL.  It serves all
	 * filters of the plan.  NULL: it has not been needed yet.
	 */
	AppendRelInfo **of_child;

	/*
	 * List of the partitioned tables looked at so far for this filter, and of the columns that
	 * prune them.
	 */
	List	   *parents;

	/*
	 * The last reason found why no target's partition can be skipped; JOIN_NO_REASON: some can be
	 * skipped, or no partition is scanned.
	 */
	JoinReason	not_skipped;
	bool		some;			/* Whether some partition can be skipped. */
} JoinPartitionAncestors;

/*
 * Finds the columns of a join's key that are needed to prune the partitions of a table.
 * attributes[] are the key columns' attribute numbers in that table (0: not a column of it).
 * Returns a list of the numbers, from 0, of those key columns that are partition key columns.
 * Returns NIL, and sets *reason, if the keys cannot tell which partitions can match.
 */
extern List *bloomfam_join_partition_columns(Oid table, const JoinKeyColumn *columns, int ncolumns,
											 const AttrNumber *attributes, JoinReason *reason);

/*
 * Returns the partition ancestors of a scan, as a list of JoinAncestorInfo that begins with the
 * uppermost ancestor whose partitions the filter's keys can prune. attributes[] are the filter's
 * columns in the plan's output.  Returns NIL if the plan is not the scan of a partition, if the
 * keys prune none of its ancestors, or if the plan is volatile, as the user could then see that it
 * was not executed.
 */
extern List *bloomfam_join_partition_ancestors(JoinPartitionAncestors *ancestors, const Plan *plan,
											   const AttrNumber *attributes);

#endif							/* BLOOMFAM_JOIN_PARTITION_ANCESTORS_H */
