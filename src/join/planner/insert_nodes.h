/*-------------------------------------------------------------------------
 *
 * insert_nodes.h
 *	  Filters put into a finished plan: the nodes that build and probe them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_INSERT_NODES_H
#define BLOOMFAM_JOIN_INSERT_NODES_H

#include "join/planner/partition_ancestors.h"
#include "join/planner/stored_conditions.h"

/* A plan while it gets filters. */
typedef struct JoinRewrite
{
	PlannedStmt *stmt;
	int			last_node_id;	/* 0: not known yet */
	int			nfilters;
	List	   *probes;			/* of CustomScan: the probe nodes for filters of joins */
	JoinPartitionAncestors ancestors;
} JoinRewrite;

/*
 * Puts a join's filter into the plan: a node on its build side, and one at each target.
 * parallel: the join is in the part of the plan that workers run.  Returns the filter's number.
 */
extern int bloomfam_join_add_filter(JoinRewrite *rewrite, bool parallel,
									const JoinPushdown *pushdown);

/*
 * All filters are there: probe nodes say how many rows are expected to pass.  No cost depends on
 * it any more.
 */
extern void bloomfam_join_expect_rows(JoinRewrite *rewrite);

/*
 * Puts a probe node for a condition with a stored filter on top of a scan, or adds it to the one
 * that is there: the parent, which may be NULL or some other node.
 */
extern CustomScan *bloomfam_join_add_condition(JoinRewrite *rewrite, bool parallel, Plan **slot,
											   Plan *parent,
											   const JoinStoredCondition *condition);

#endif							/* BLOOMFAM_JOIN_INSERT_NODES_H */
