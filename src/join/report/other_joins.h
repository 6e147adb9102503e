/*-------------------------------------------------------------------------
 *
 * other_joins.h
 *	  Joins that are no hash joins, and so have no filters, for EXPLAIN.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_OTHER_JOINS_H
#define BLOOMFAM_JOIN_OTHER_JOINS_H

#include "nodes/plannodes.h"

/* How a condition that a hash join could have is met instead. */
typedef enum JoinOtherKind
{
	JOIN_OTHER_MERGE,			/* by a merge join */
	JOIN_OTHER_LOOP,			/* by a nested loop that compares all pairs of rows */
	JOIN_OTHER_LOOKUP			/* by looking rows up, for each row of a nested loop's outer side */
} JoinOtherKind;

typedef struct JoinOther
{
	JoinOtherKind kind;
	Plan	   *plan;			/* the node whose condition it is */
	List	   *ancestors;		/* plan nodes, the nearest first */
	Node	   *condition;
} JoinOther;

/* Those of a finished plan: a list of JoinOther. */
extern List *bloomfam_join_others(PlannedStmt *stmt);

#endif							/* BLOOMFAM_JOIN_OTHER_JOINS_H */
