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
#include "join/base/partition_key.h"
#include "join/planner/pushdown.h"

/* What is known of the partitions in a finished plan, while one filter is inserted. */
typedef struct JoinPartitionAncestors
{
	const JoinPushdown *pushdown; /* the filter's */
	AppendRelInfo **of_child;	/* by range table index; NULL: not needed yet; for all filters */
	List	   *parents;		/* partitioned tables, and what prunes them: for this filter */
	JoinSkip	skip;			/* whether partitions are skipped, of all targets together */
	bool		some;			/* ... some partition can be skipped */
} JoinPartitionAncestors;

/*
 * Can keys of a column of the join tell which partitions can match, as values of this column of
 * the partition key?  JOIN_SKIP_PARTITIONS if so, else why not.
 */
extern JoinSkip bloomfam_join_skip_by(const JoinKeyColumn *column, const JoinPartitionKey *key,
									  int number);

/*
 * The partition ancestors of a scan, from the uppermost one on that the filter's keys can prune; a
 * list of JoinAncestorInfo.  The attributes are the filter's columns in the plan's rows.  NIL if
 * the plan is no scan of a partition, if keys prune none of its ancestors, or if it is volatile:
 * then it could be seen that it was not executed.
 */
extern List *bloomfam_join_partition_ancestors(JoinPartitionAncestors *ancestors, const Plan *plan,
											   const AttrNumber *attributes);

#endif							/* BLOOMFAM_JOIN_PARTITION_ANCESTORS_H */
