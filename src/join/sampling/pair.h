/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * pair.h
 *	  Pairs of base relations with an equality between them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_PAIR_H
#define BLOOMFAM_JOIN_PAIR_H

#include "nodes/pathnodes.h"

#include "join/sampling/search.h"

/* Two base relations, of which one's keys are searched in the other. */
typedef struct JoinPair
{
	RelOptInfo *probe;			/* whose rows have a match, or none */
	RelOptInfo *searched;		/* where they have it */
	const Var  *probe_column;
	const Var  *searched_column;
	JoinKeyComparison comparison;
	List	   *conditions;		/* of the table that is searched: those that are evaluated */
	RestrictInfo *parameter;	/* ... one by which a column equals a parameter, or NULL */
	AttrNumber	value_column;	/* that column; else 0 */
	JoinType	type;			/* of the join: INNER, LEFT, FULL; SEMI, ANTI: the probe is left */
	List	   *clauses;		/* RestrictInfo: the equality, in each form that the planner has */
} JoinPair;

/* Is there any condition between two base relations? */
extern bool bloomfam_join_are_joined(PlannerInfo *root, RelOptInfo *a, RelOptInfo *b);

/*
 * Fills in a pair whose relations are set.  Returns NULL, or why it cannot be searched.  It makes
 * the clauses that the search for a join order will find.
 */
extern const char *bloomfam_join_pair_init(PlannerInfo *root, JoinPair *pair);

/* The selectivity of its equality as the server has it. */
extern double bloomfam_join_pair_selectivity(PlannerInfo *root, const JoinPair *pair);

/* Gives its equality this selectivity in place of the server's; share: for semi and anti joins. */
extern void bloomfam_join_pair_set(PlannerInfo *root, const JoinPair *pair, double selectivity,
								   double share);

/*
 * Does a query have a relation that makes one right size among wrong ones worse than none?  Its
 * keys reach far beyond those of a large relation that it is joined to; it has no conditions, but
 * is joined by other columns to a relation that has some.
 */
extern bool bloomfam_join_comes_back(PlannerInfo *root);

#endif							/* BLOOMFAM_JOIN_PAIR_H */
