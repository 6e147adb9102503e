/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * candidate.h
 *	  A filter that could be made: what the planner knows of it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_CANDIDATE_H
#define BLOOMFAM_JOIN_CANDIDATE_H

#include "nodes/pathnodes.h"

#include "join/planner/cost.h"
#include "join/planner/pushdown.h"

/*
 * Describes a key of a hash join: the operator that compares it, its column of the outer child (0:
 * it is none) and its expression over the Hash's child.  plan_info is NULL while there is no plan.
 * Returns JOIN_NO_REASON if a filter can be of this key, else why not.
 */
extern JoinReason bloomfam_join_describe_key(JoinKeyColumn *key, AttrNumber attribute,
											 Oid operator, Oid collation, Expr *inner,
											 const JoinPlanInfo *plan_info);

/* ---- from paths ---- */

/*
 * The filter of a join of two relations that are being joined, all keys of which are columns of one
 * base relation of the side that is probed.  Of a hash join that is the outer one, of a merge join
 * the inner one.  As in a finished plan, the filter is of those keys that it can be of.
 */
typedef struct JoinPathCandidate
{
	JoinCandidate candidate;
	PlannerInfo *root;
	const RelOptInfo *built;	/* the other side */
	List	   *clauses;		/* of RestrictInfo: those by which the server would join */
	Index		relid;			/* that base relation */
	bool		long_keys;		/* it takes time to fetch the keys */
	Cost		comparing;		/* one row with those of its bucket, in a hash join */
	double		read;			/* the fraction of the base relation that is read where partitions
								 * or blocks are pruned; -1 if that was not estimated yet */
	double		scanned;		/* rows of that relation that are read, by all processes */
} JoinPathCandidate;

/*
 * Finds the keys of a join of the two relations.  Returns false if a filter could be of none of
 * them, or their sides in the relation that is probed are not all columns of one base relation.
 */
extern bool bloomfam_join_candidate_keys(JoinPathCandidate *path_candidate,
										 const RelOptInfo *probed, const JoinPathExtraData *extra,
										 JoinType jointype);

/*
 * Describes the candidate for a join of two paths, of which one is probed, and the filter is made
 * from the other.  Returns false if the filter would come to no scan of the
 * relation, or of what a subquery reads for it.
 */
extern bool bloomfam_join_candidate_paths(JoinPathCandidate *path_candidate, const Path *probed,
										  const Path *built, bool parallel_hash);

/*
 * How many rows of the outer side have one key of the candidate's, as far as statistics tell; else
 * 1.
 */
extern double bloomfam_join_candidate_rows_per_key(const JoinPathCandidate *path_candidate);

/* The outer side, or only one, of a path that a filter may be pushed down through; else NULL. */
extern const Path *bloomfam_join_path_below(const Path *path);

/* ---- from a finished plan ---- */

/* Describes the candidate of a filter whose targets were found. */
extern void bloomfam_join_candidate_plan(JoinPushdown *pushdown);

/* The foreign scans of the filter, as its cost is to be estimated with: those that are sent to. */
extern void bloomfam_join_candidate_foreign(JoinPushdown *pushdown);

#endif							/* BLOOMFAM_JOIN_CANDIDATE_H */
