/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * pushdown.h
 *	  Finds where a filter can drop rows, by following a join's key down a finished plan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_PUSHDOWN_H
#define BLOOMFAM_JOIN_PUSHDOWN_H

#include "nodes/plannodes.h"

#include "join/fdw/sending.h"
#include "join/planner/cost.h"
#include "join/planner/plan_info.h"

/* What a filter was pushed down through, on the way from its join. */
typedef struct JoinCrossed
{
	/* Whether the filter was pushed through a Gather, so that its join is above the Gather. */
	bool		below_gather;

	/*
	 * Whether the filter was pushed through the Hash of a lower join, or a set operation that
	 * hashes.
	 */
	bool		below_hash;

	/*
	 * Whether the filter was pushed through a blocking node, which reads all rows before it returns
	 * the first one.
	 */
	bool		below_blocking;

	/*
	 * Whether it was pushed through an aggregate or the like: once a row of a key has passed, every
	 * later row of that key must pass.
	 */
	bool		all_or_none;

	/* The number of workers that run this part of the plan; 0: only the leader runs it. */
	int			workers;
	int			nodes;			/* The number of nodes that the filter was pushed through. */

	/*
	 * The slot of the child of the last Append that the filter was pushed through; NULL: there was
	 * none.
	 */
	Plan	  **branch;
	const AttrNumber *branch_attributes;
} JoinCrossed;

/*
 * A foreign scan that a filter was pushed down to.  It is at a target, or it is asynchronous, so
 * that no probe node can be put on top of it.
 */
typedef struct JoinForeignTarget
{
	JoinForeignSite site;
	ForeignScan *scan;
	bool		volatile_free;	/* Whether none of the scan's conditions and columns is volatile. */

	/* The key's columns among the scan's output columns; NULL: nothing may be sent. */
	const AttrNumber *attributes;

	/*
	 * The number, from 0, of the first column of the filter's key whose values, or a filter of
	 * them, may be sent.
	 */
	int			column;

	/* What may be sent for that column, and the reasons why the rest may not. */
	JoinSendings sendings;
	List	   *infos;			/* List of JoinForeignInfo: what the scan is sent; set in plan.c. */
} JoinForeignTarget;

/*
 * A place where a filter is to drop rows: a probe node is put on top of the plan in *slot, and
 * "attributes" are the key's columns in that plan's output.
 */
typedef struct JoinTarget
{
	JoinFilterSite site;
	Plan	  **slot;
	const AttrNumber *attributes;

	/* What the filter was pushed through from its join, the join included, to the target. */
	JoinCrossed	crossed;

	/* The foreign scan at the target; NULL: no foreign scan is there. */
	JoinForeignTarget *foreign;

	/*
	 * List of JoinAncestorInfo: the partitioned tables above the scanned partition, if the join's
	 * keys can tell that no row of the partition matches; else NIL.  Set in plan.c.
	 */
	List	   *ancestors;

	/*
	 * The columns of the key for which the scanned table has an index that can be searched for
	 * keys; set in plan.c.
	 */
	Bitmapset  *indexed;
} JoinTarget;

/* A filter of a join in a finished plan, and where it is pushed down to. */
typedef struct JoinPushdown
{
	/* The filter as the cost model sees it; its sites are those of the targets. */
	JoinCandidate candidate;
	const JoinPlanInfo *plan_info;

	/* The join: a HashJoin, or a MergeJoin whose outer side is a Sort. */
	Join	   *join;

	/*
	 * The Hash, or that Sort.  It reads the build side to its end before the join asks the probe
	 * side for a row, or can be made to do so.
	 */
	Plan	   *build_parent;
	Plan	  **probe_side;		/* The slot of the join's probe side. */

	/*
	 * Whether the filter may be pushed through nodes that keep rows; and whether only through those
	 * that the session's settings do not change, as the join may be executed again.
	 */
	bool		crosses_materialization;
	bool		is_rescanned;

	/* The reason why nothing can be sent to foreign scans; JOIN_NO_REASON: it may be sent. */
	JoinReason	not_to_foreign;

	/*
	 * While targets are looked for: what the filter has been pushed through so far, without the
	 * join.
	 */
	JoinCrossed	crossed;

	/* List of JoinTarget: the places where the filter is to drop rows. */
	List	   *targets;

	/* List of JoinForeignTarget: the foreign scans that the filter was pushed down to. */
	List	   *foreign;

	/*
	 * Whether the sites' numbers of rows are those that one of several parallel processes probes,
	 * not those of all processes together.
	 */
	bool		per_process;

	/* The reason why the join may not build first; JOIN_NO_REASON: it may. */
	JoinReason	not_first;

	/* The filter's number in the plan, from 1, set in plan.c; 0: the filter is not made. */
	int			number;

	/*
	 * The number of the executor parameter by which the build node and the probe nodes find the
	 * filter.
	 */
	int			param;
} JoinPushdown;

/*
 * Returns the node that reads and keeps a join's build side: the Hash of a hash join, or the Sort
 * on the outer side of a merge join.  Returns NULL for any other node.
 */
static inline Plan *
bloomfam_join_build_parent(const Plan *join)
{
	if (IsA(join, HashJoin))
		return innerPlan(join);
	return IsA(join, MergeJoin) && IsA(outerPlan(join), Sort) ? outerPlan(join) : NULL;
}

/*
 * Follows the key of a join down its probe side, and finds the targets of its filter.  "workers" is
 * the number of workers that run the join's part of the plan; 0: only the leader runs it.  The
 * result refers to columns[], which must stay in memory.
 */
extern JoinPushdown *bloomfam_join_pushdown_find(const JoinPlanInfo *plan_info, int workers,
												 Join *join, const JoinKeyColumn *columns,
												 int ncolumns);

/* ---- called only by pushdown.c and pushdown_cte.c ---- */

/*
 * Returns the columns of a child, or of a table, that are behind the given output columns of a plan
 * for all columns of the key.  Returns NULL if one of them is not a column with this varno.
 */
extern AttrNumber *bloomfam_join_pushdown_columns(JoinPushdown *pushdown, Plan *plan,
												  const AttrNumber *attributes, int varno);

/* Tells whether a filter can be pushed through a node, as far as its own expressions allow. */
extern bool bloomfam_join_pushdown_passes(const JoinPushdown *pushdown, Plan *plan);

/*
 * Finds the targets below the plan in *slot, or makes one on top of it.  "attributes" are the key's
 * columns in the plan's output.
 */
extern void bloomfam_join_pushdown_follow(JoinPushdown *pushdown, Plan **slot,
										  const AttrNumber *attributes);

/* ---- asking foreign servers ---- */

/*
 * Asks foreign servers for the types of remote columns that are not known yet, and then settles
 * what may be sent to foreign scans.  Returns whether anything was not known.
 */
extern bool bloomfam_join_pushdown_ask(JoinPushdown *pushdown);

#endif							/* BLOOMFAM_JOIN_PUSHDOWN_H */
