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

/* What is known of the partitions in a finished plan, while one filter is put in. */
typedef struct JoinPartitionAncestors
{
	const PlannedStmt *stmt;
	const JoinPushdown *pushdown; /* the filter's */
	AppendRelInfo **of_child;	/* by number in the range table; NULL: not needed yet */
	List	   *parents;		/* of tables with partitions, what was found out for this filter */
	JoinSkip	skip;			/* for all of its scans */
	bool		some;			/* ... some partition can be skipped */
} JoinPartitionAncestors;

/* A column of a partition key. */
typedef struct JoinPartitionColumn
{
	char		strategy;		/* PARTITION_STRATEGY_... */
	Oid			family;
	Oid			type;			/* that its operator class is for */
	Oid			collation;
} JoinPartitionColumn;

/*
 * Can keys of a column of the join say what this column is in partitions that can match?
 * JOIN_SKIP_PARTITIONS if so, else why not.
 */
extern JoinSkip bloomfam_join_skip_by(const JoinKeyColumn *column, const JoinPartitionColumn *by);

/* Begins another filter. */
extern void bloomfam_join_partition_ancestors_begin(JoinPartitionAncestors *ancestors,
													const PlannedStmt	   *stmt,
													const JoinPushdown	   *pushdown);

/*
 * If the plan is the scan of a partition: those of the tables above it, none above the one that
 * the query names, from the uppermost on of which keys of the filter tell which partitions can
 * match.  The attributes are the filter's columns in the plan's rows.  A list of JoinAncestorInfo;
 * NIL: keys tell nothing of any, or the scan would notice that it is not begun.
 */
extern List *bloomfam_join_partition_ancestors(JoinPartitionAncestors *ancestors, const Plan *plan,
											   const AttrNumber *attributes);

#endif							/* BLOOMFAM_JOIN_PARTITION_ANCESTORS_H */
