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

#include "join/planner/cost.h"
#include "join/planner/plan_volatility.h"

/* What the way of a filter has led through. */
typedef struct JoinCrossed
{
	bool		below_gather;	/* a Gather, which the join is above */
	bool		below_hash;		/* the Hash of a join further down */
	bool		materialized;	/* a node that keeps rows, and hands them on later */
	bool		all_or_none;	/* a node that computes something of a group's rows: of those with a
								 * key all are to be dropped, or none */
	int			workers;		/* of the part of the plan that it is in; 0: it is in none */
	int			nodes;			/* so many of them */
	Plan	  **branch;			/* the child of the last Append; NULL: no Append */
	const AttrNumber *branch_attributes;
} JoinCrossed;

/* Where a filter is to drop rows: on top of *slot, whose columns these are. */
typedef struct JoinTarget
{
	Plan	  **slot;
	AttrNumber *attributes;
	JoinCrossed	crossed;		/* from the join, with it, to here */
	JoinAccess	access;			/* decided in decision.c, as is the share of rows (thousandths), */
	int			min_drop;		/* ... that the filter must drop there */
	double		rows_before;	/* ... and the rows that are scanned there, of one process */
	List	   *ancestors; /* found in insert_nodes.c: of JoinAncestorInfo, by which keys tell the
								 * partition that is scanned here from others; NIL: they do not */
	Bitmapset  *indexed;		/* ... columns of the key by which an index tells where keys are */
} JoinTarget;

/* A foreign scan that it leads to, on top of which it may be, or not. */
typedef struct JoinForeignTarget
{
	ForeignScan *scan;
	AttrNumber	attribute;		/* the first column of the key, of its, that the filter can travel
								 * by */
	int			column;			/* ... of the key */
	const char *reason;			/* NULL; or why there is none, and it does not travel there */
} JoinForeignTarget;

/* The way of one filter down the plan. */
typedef struct JoinPushdown
{
	const JoinPlanInfo *plan_info;
	HashJoin   *join;
	int			ncolumns;
	const JoinKeyColumn *columns;
	bool		crosses_materialization; /* may it lead through nodes that keep rows? */
	bool		pushed_to_foreign; /* may it go to foreign servers? */
	JoinHashTrust trust;		/* in hashing all columns */
	JoinCrossed	crossed;		/* while it is walked: so far, without the join */
	List	   *targets;		/* of JoinTarget */
	double		drop;			/* the share of rows at these places that it is expected to drop */
	List	   *foreign;		/* of JoinForeignTarget */
	JoinBuildFirst build_first;	/* decided in decision.c */
} JoinPushdown;

/*
 * Follows the key of a hash join down its probe side; the join is in a part of the plan that so
 * many workers run, or 0: in none.  The columns must stay.
 */
extern void bloomfam_join_pushdown_find(JoinPushdown *pushdown, const JoinPlanInfo *plan_info,
										int workers, HashJoin *join, const JoinKeyColumn *columns,
										int ncolumns);

/* Do two ways end at the same places? */
extern bool bloomfam_join_same_targets(const JoinPushdown *a, const JoinPushdown *b);

#endif							/* BLOOMFAM_JOIN_PUSHDOWN_H */
