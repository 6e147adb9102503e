/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * candidate.h
 *	  Describes a filter that could be made (a candidate), from paths or from a finished plan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_CANDIDATE_H
#define BLOOMFAM_JOIN_CANDIDATE_H

#include "nodes/pathnodes.h"

#include "join/planner/cost.h"
#include "join/planner/pushdown.h"

/*
 * Describes a key column of a join in *key: its attribute number in the probe side's child (0: it
 * is not a column there) and its type there, the operator that compares it, and its expression over
 * the build side's child.  plan_info is NULL while there is no plan yet.  Returns JOIN_NO_REASON if
 * a filter can use the column, else the reason why not.
 */
extern JoinReason bloomfam_join_describe_key(JoinKeyColumn *key, AttrNumber attribute,
											 Oid probe_type, Oid operator, Oid collation,
											 Expr *build_expr, const JoinPlanInfo *plan_info);

/* ---- candidates from paths ---- */

/*
 * Tells whether a hash or merge join of two relations can use a clause: whether it compares
 * expressions over one relation each.  Sets *turned to whether that over the relation on the
 * filter's build side is on the clause's left.
 */
extern bool bloomfam_join_clause_compares(const RestrictInfo *clause, JoinType jointype,
										  const RelOptInfo *probed, const RelOptInfo *built,
										  bool *turned);

/*
 * A candidate for a join of two relations for which paths are being made.  All keys of the join are
 * columns of one base relation on the probe side.  The probe side is the outer relation of a hash
 * join, and the inner one of a merge join.  As in a finished plan, the filter uses those keys that
 * it can use.
 */
typedef struct JoinPathCandidate
{
	JoinCandidate candidate;
	PlannerInfo *root;
	const RelOptInfo *built;	/* The relation on the join's build side. */

	/* List of RestrictInfo: the clauses by which the server would do the join. */
	List	   *clauses;

	/* The range table index of the base relation on the probe side whose columns the keys are. */
	Index		relid;

	/* Whether fetching the keys takes time, because they are compressed or in a TOAST table. */
	bool		long_keys;

	/* The cost of comparing one row of the probe side with those rows that it could match. */
	Cost		comparing;

	/*
	 * The fraction of the base relation that is read if partitions or blocks are pruned; -1: it has
	 * not been estimated yet.
	 */
	double		read;

	/* The number of rows of the base relation that all processes together read. */
	double		scanned;
} JoinPathCandidate;

/*
 * Finds the keys of a join of the relation "probed" with path_candidate->built.  Returns false if
 * no filter can use any of the keys, or if the keys on the probe side are not all columns of one
 * base relation.
 */
extern bool bloomfam_join_candidate_keys(JoinPathCandidate *path_candidate,
										 const RelOptInfo *probed, const JoinPathExtraData *extra,
										 JoinType jointype);

/*
 * Describes the candidate for a join of two paths: the filter is made of the rows of "built", and
 * rows of "probed" are probed. parallel_hash says that it is a Parallel Hash join.  Returns false
 * if the filter could not be pushed down to a scan of the base relation or of what a subquery reads
 * for it.
 */
extern bool bloomfam_join_candidate_paths(JoinPathCandidate *path_candidate, const Path *probed,
										  const Path *built, bool parallel_hash);

/*
 * Sets the fraction of the probe side's rows that match no key, for a join of type "jointype" with
 * "joined" rows.  "probes_inner" says that the probe side is the inner one.
 */
extern void bloomfam_join_candidate_set_drop(JoinPathCandidate *path_candidate, JoinType jointype,
											 bool probes_inner, double joined, double probed);

/*
 * Returns the path below a path through which a filter may be pushed down: its only input, or the
 * outer side of a join.  Returns NULL for a path of another type.
 */
extern const Path *bloomfam_join_path_below(const Path *path);

/* ---- candidates from a finished plan ---- */

/* Describes the candidate of a filter in a finished plan, after its targets were found. */
extern void bloomfam_join_candidate_plan(JoinPushdown *pushdown);

/*
 * Sets the candidate's list of foreign scans, for estimating its cost: those foreign scans that the
 * filter, its keys or their bounds may be sent to.
 */
extern void bloomfam_join_candidate_foreign(JoinPushdown *pushdown);

#endif							/* BLOOMFAM_JOIN_CANDIDATE_H */
