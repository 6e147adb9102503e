/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * partition_ancestors.h
 *	  From the scan of a partition up to the tables that it is a partition of.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_PARTITION_ANCESTORS_H
#define BLOOMFAM_JOIN_PARTITION_ANCESTORS_H

#include "join/base/filter_info.h"
#include "join/planner/pushdown.h"

/* What is known of the partitions in a finished plan, while one filter is inserted. */
typedef struct JoinPartitionAncestors
{
	const JoinPushdown *pushdown; /* the filter's */
	AppendRelInfo **of_child;	/* by range table index; NULL: not needed yet; for all filters */
	List	   *parents;		/* partitioned tables, and what prunes them: for this filter */
	JoinReason	not_skipped;	/* why no partition of any target is skipped, as was found last;
								 * JOIN_NO_REASON: some are, or there are none */
	bool		some;			/* some partition can be skipped */
} JoinPartitionAncestors;

/*
 * Which columns of a join's key, whose attributes in a partitioned table these are (0: not there),
 * are those of its partition key that must be known to prune its partitions?  A list of their
 * numbers, from 0; NIL if keys cannot tell which partitions can match: *reason says why not.
 */
extern List *bloomfam_join_partition_columns(Oid table, const JoinKeyColumn *columns, int ncolumns,
											 const AttrNumber *attributes, JoinReason *reason);

/*
 * The partition ancestors of a scan, from the uppermost one on that the filter's keys can prune; a
 * list of JoinAncestorInfo.  The attributes are the filter's columns in the plan's rows.  NIL if
 * the plan is no scan of a partition, if keys prune none of its ancestors, or if it is volatile:
 * then it could be seen that it was not executed.
 */
extern List *bloomfam_join_partition_ancestors(JoinPartitionAncestors *ancestors, const Plan *plan,
											   const AttrNumber *attributes);

#endif							/* BLOOMFAM_JOIN_PARTITION_ANCESTORS_H */
