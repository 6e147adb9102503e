/*-------------------------------------------------------------------------
 *
 * levels.h
 *	  From the scan of a partition up to the tables that it is a partition of.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_LEVELS_H
#define BLOOMFAM_JOIN_LEVELS_H

#include "join/base/spec.h"
#include "join/planner/pushdown.h"

/* What is known of the partitions in a finished plan, while one filter is put in. */
typedef struct JoinLevels
{
	const PlannedStmt *stmt;
	const JoinWay *way;			/* the filter's */
	AppendRelInfo **of_child;	/* by number in the range table; NULL: not needed yet */
	List	   *parents;		/* of tables with partitions, what was found out for this filter */
	JoinSkip	skip;			/* for all of its scans */
	bool		some;			/* ... some partition can be skipped */
} JoinLevels;

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
extern void bloomfam_join_levels_begin(JoinLevels *levels, const PlannedStmt *stmt,
									   const JoinWay *way);

/*
 * If the plan is the scan of a partition: those of the tables above it, none above the one that
 * the query names, from the uppermost on of which keys of the filter tell which partitions can
 * match.  The attributes are the filter's columns in the plan's rows.  A list of JoinSpecLevel;
 * NIL: keys tell nothing of any, or the scan would notice that it is not begun.
 */
extern List *bloomfam_join_levels(JoinLevels *levels, const Plan *plan,
								  const AttrNumber *attributes);

#endif							/* BLOOMFAM_JOIN_LEVELS_H */
