/*-------------------------------------------------------------------------
 *
 * unfiltered_joins.h
 *	  Joins that are no hash joins, and so have no filters, for EXPLAIN.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_UNFILTERED_JOINS_H
#define BLOOMFAM_JOIN_UNFILTERED_JOINS_H

#include "nodes/plannodes.h"

/* How a condition that a hash join could have is met instead. */
typedef enum JoinUnfilteredKind
{
	JOIN_UNFILTERED_MERGE,		/* by a merge join */
	JOIN_UNFILTERED_LOOP,		/* by a nested loop that compares all pairs of rows */
	JOIN_UNFILTERED_INDEX		/* by looking rows up, for each row of a nested loop's outer side */
} JoinUnfilteredKind;

typedef struct JoinUnfiltered
{
	JoinUnfilteredKind kind;
	Plan	   *plan;			/* the node whose condition it is */
	List	   *ancestors;		/* plan nodes, the nearest first */
	Node	   *condition;
} JoinUnfiltered;

/* Those of a finished plan: a list of JoinUnfiltered. */
extern List *bloomfam_join_list_unfiltered(PlannedStmt *stmt);

#endif							/* BLOOMFAM_JOIN_UNFILTERED_JOINS_H */
