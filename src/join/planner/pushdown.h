/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * pushdown.h
 *	  Where a filter can drop rows: the columns of a join's key, followed down a finished plan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_PUSHDOWN_H
#define BLOOMFAM_JOIN_PUSHDOWN_H

#include "nodes/plannodes.h"

#include "join/fdw/sending.h"
#include "join/planner/cost.h"
#include "join/planner/volatility.h"
#include "pg/compat.h"

/* What a filter was pushed down through, from its join. */
typedef struct JoinCrossed
{
	bool		below_gather;	/* a Gather, which the join is above */
	bool		below_hash;		/* the Hash of a join further down, or a set operation that
								 * hashes */
	bool		read_to_end;	/* a node that reads all rows before it returns the first */
	bool		materialized;	/* a node that keeps rows, and hands them on later */
	bool		all_or_none;	/* an aggregate: once a row of a key has passed, every later row of
								 * that key must */
	int			workers;		/* that run this part of the plan; 0: the leader alone does */
	int			nodes;			/* how many it was pushed through */
	Plan	  **branch;			/* the child of the last Append; NULL: no Append */
	const AttrNumber *branch_attributes;
} JoinCrossed;

/* A foreign scan at a target, or an asynchronous one, which cannot have a target on top. */
typedef struct JoinForeignTarget
{
	JoinForeignSite site;
	ForeignScan *scan;
	bool		volatile_free;	/* none of the scan's conditions and columns is volatile */
	const AttrNumber *attributes;	/* of the key's columns, among the scan's output columns; NULL
									 * if nothing may be sent */
	int			column;			/* the first column of the key by which anything may be sent */
	JoinSendings sendings;		/* what may be sent by it, and why not the rest */
	List	   *infos;			/* of JoinForeignInfo, what the scan is sent: planned in plan.c */
} JoinForeignTarget;

/* Where a filter is to drop rows: on top of *slot, whose columns these are. */
typedef struct JoinTarget
{
	JoinFilterSite site;
	Plan	  **slot;
	const AttrNumber *attributes;
	JoinCrossed	crossed;		/* from the join, with it, to here */
	JoinForeignTarget *foreign;	/* the scan there, if it is one that the filter may be pushed to */
	List	   *ancestors;		/* of JoinAncestorInfo, if keys tell whether the partition scanned
								 * here can match, else NIL: found in plan.c */
	Bitmapset  *indexed;		/* columns of the key by which an index tells where keys are: found
								 * in plan.c */
} JoinTarget;

/* A filter of a join of a finished plan, and how it is pushed down there. */
typedef struct JoinPushdown
{
	JoinCandidate candidate;	/* its sites are those of the targets */
	const JoinPlanInfo *plan_info;
	Join	   *join;			/* a HashJoin, or a MergeJoin whose outer side is a Sort */
	Plan	   *keeper;			/* the Hash, or that Sort: it reads the build side to its end before
								 * the join asks for a row of the probe side, or may be made to */
	Plan	  **probe_side;		/* the join's other side */
	bool		crosses_materialization; /* may it pass nodes that keep rows? */
	JoinReason	not_to_foreign; /* why nothing can be sent to foreign scans; JOIN_NO_REASON: it may
								 * be */
	JoinCrossed	crossed;		/* while targets are looked for: so far, without the join */
	List	   *targets;		/* of JoinTarget */
	List	   *foreign;		/* of JoinForeignTarget */
	bool		per_process;	/* the rows probed are those of one of several processes */
	JoinReason	not_first;		/* why the join may not build first; JOIN_NO_REASON: it may */
	int			number;			/* in the plan, from 1, given in plan.c; 0 if it is not made */
	int			param;			/* the executor's parameter by which its nodes find it */
} JoinPushdown;

/* Returns the node that keeps a join's build side; NULL if the join has none. */
static inline Plan *
bloomfam_join_keeper(const Plan *join)
{
	if (IsA(join, HashJoin))
		return innerPlan(join);
	return IsA(join, MergeJoin) && IsA(outerPlan(join), Sort) ? outerPlan(join) : NULL;
}

/* Do rows of a hash join's outer side that match no row of the inner side add nothing to it? */
static inline bool
bloomfam_join_drops_outer(JoinType type)
{
	return type == JOIN_INNER || type == JOIN_SEMI || type == JOIN_RIGHT ||
		   BLOOMFAM_IS_RIGHT_SEMI_OR_ANTI(type);
}

/*
 * May rows of the outer side of a join of this type be dropped for which the joins above have no
 * use?
 */
static inline bool
bloomfam_join_may_pass_outer(JoinType type)
{
	return type == JOIN_INNER || type == JOIN_LEFT || type == JOIN_SEMI || type == JOIN_ANTI;
}

/*
 * Follows the key of a join down its probe side, and finds the targets of its filter.  The
 * join is in a part of the plan that so many workers run; 0: the leader alone does.  The columns
 * must stay.
 */
extern JoinPushdown *bloomfam_join_pushdown_find(const JoinPlanInfo *plan_info, int workers,
												 Join *join, const JoinKeyColumn *columns,
												 int ncolumns);

/*
 * Asks the other servers what depends on them, if it is not known, and settles what may be sent to
 * foreign scans.  Returns whether anything was open.
 */
extern bool bloomfam_join_pushdown_ask(JoinPushdown *pushdown);

#endif							/* BLOOMFAM_JOIN_PUSHDOWN_H */
