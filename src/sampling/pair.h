/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * pair.h
 *	  Pairs of base relations that are joined by equalities of their columns.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_SAMPLE_PAIR_H
#define BLOOMFAM_SAMPLE_PAIR_H

#include "nodes/pathnodes.h"

#include "sampling/conditions.h"

/* A column of either relation; the two are compared with each other. */
typedef struct SampleColumn
{
	const Var  *large;
	const Var  *searched;
	Oid			family;			/* of btree, the server's own: the operators that compare them */
	Oid			collation;
	Oid			search_operator;	/* searched = large */
	Oid			large_type;		/* as the operators take it */
	Oid			searched_type;
	List	   *clauses;		/* RestrictInfo: the equality, in each form that the planner has */
} SampleColumn;

/* Rows of one relation are sampled, and their keys are searched in the other one. */
typedef struct SamplePair
{
	RelOptInfo *large;
	RelOptInfo *searched;
	JoinType	type;			/* of their join; large is on the left of JOIN_SEMI and JOIN_ANTI */
	bool		right_of_semi;	/* both are on the right of a semi join, as in EXISTS */
	int			ncolumns;		/* of the key */
	SampleColumn columns[INDEX_MAX_KEYS];
	SampleConditions conditions;	/* of the searched relation */
} SamplePair;

/* Is there any condition between two base relations? */
extern bool bloomfam_sample_are_joined(PlannerInfo *root, RelOptInfo *a, RelOptInfo *b);

/*
 * Fills in the columns and the type of a pair whose relations are set.  Returns NULL, or the reason
 * why it cannot be sampled.  It makes the clauses that the search for a join order will find.
 */
extern const char *bloomfam_sample_pair_init(PlannerInfo *root, SamplePair *pair);

/* Do semi joins or anti joins select rows of the large relation by the searched one? */
static inline bool
bloomfam_sample_is_semi(const SamplePair *pair)
{
	return pair->type == JOIN_SEMI || pair->type == JOIN_ANTI;
}

/*
 * The selectivity of the pair's equalities, as the server estimates it without foreign keys.  If
 * the pair's join is a semi join or an anti join, it is the fraction of the large relation's rows
 * that have a match.
 */
extern double bloomfam_sample_pair_selectivity(PlannerInfo *root, const SamplePair *pair);

/*
 * Gives the pair's equalities another selectivity.  fraction is the fraction of the large
 * relation's rows that have a match, which semi joins and anti joins are sized by.
 */
extern void bloomfam_sample_pair_set(PlannerInfo *root, const SamplePair *pair,
									 double selectivity, double fraction);

/*
 * Gives the selectivity of a pair to the clauses that compare its searched relation with that of
 * another pair, if its one column of the large relation is one of the other's.
 */
extern void bloomfam_sample_set_between(PlannerInfo *root, const SamplePair *other,
										const SamplePair *pair, double selectivity);

/*
 * The alias of a relation in the query, and the text of the pair's equalities by such aliases.
 * Both are in the current memory context.
 */
extern char *bloomfam_sample_alias(PlannerInfo *root, const RelOptInfo *rel);
extern char *bloomfam_sample_pair_text(PlannerInfo *root, const SamplePair *pair);

#endif							/* BLOOMFAM_SAMPLE_PAIR_H */
