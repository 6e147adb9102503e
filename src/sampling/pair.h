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

/*
 * A column of the large relation, and the column of the searched relation that it is compared with.
 */
typedef struct SampleColumn
{
	const Var  *large;
	const Var  *searched;

	/* A B-tree operator family of the server's own, whose operators compare the columns. */
	Oid			family;
	Oid			collation;
	Oid			search_operator;	/* The operator of "searched = large". */

	/* The type that the operators take for the large relation's column. */
	Oid			large_type;
	Oid			searched_type;

	/*
	 * List of RestrictInfo: the clauses of the equality, since the planner may have the same
	 * equality several times in different forms.
	 */
	List	   *clauses;
} SampleColumn;

/*
 * Two relations: rows of the large one are sampled, and their keys are looked up in the searched
 * one.
 */
typedef struct SamplePair
{
	RelOptInfo *large;
	RelOptInfo *searched;

	/* The type of their join; the large relation is on the left of JOIN_SEMI and JOIN_ANTI. */
	JoinType	type;

	/* True if both relations are on the right side of a semi join, as in EXISTS. */
	bool		right_of_semi;
	int			ncolumns;		/* The number of columns of the key. */
	SampleColumn columns[INDEX_MAX_KEYS];
	SampleConditions conditions;	/* The conditions of the searched relation. */
} SamplePair;

/* Returns whether there is any condition between two base relations. */
extern bool bloomfam_sample_are_joined(PlannerInfo *root, RelOptInfo *a, RelOptInfo *b);

/*
 * Fills in the columns and the type of a pair whose relations are set.  Returns NULL, or the reason
 * why the pair cannot be sampled.  Makes the clauses that the planner will find again when it
 * searches for a join order.
 */
extern const char *bloomfam_sample_pair_init(PlannerInfo *root, SamplePair *pair);

/*
 * Returns whether a semi join or an anti join selects rows of the large relation by the searched
 * one.
 */
static inline bool
bloomfam_sample_is_semi(const SamplePair *pair)
{
	return pair->type == JOIN_SEMI || pair->type == JOIN_ANTI;
}

/*
 * Returns the selectivity of the pair's equalities, as the server estimates it.  A foreign key
 * counts only if it is one from the large relation to the searched one, with as many columns as the
 * pair.  If the pair's join is a semi join or an anti join, the result is the fraction of the large
 * relation's rows that have a match, estimated without foreign keys.
 */
extern double bloomfam_sample_pair_selectivity(PlannerInfo *root, const SamplePair *pair);

/*
 * Gives the pair's equalities another selectivity, and removes foreign keys that would make the
 * server ignore it. fraction is the fraction of the large relation's rows that have a match, by
 * which semi joins and anti joins are sized.
 */
extern void bloomfam_sample_pair_set(PlannerInfo *root, const SamplePair *pair,
									 double selectivity, double fraction);

/*
 * Gives the selectivity of the first pair, "pair", to the clauses that compare its searched
 * relation with that of the pair "other".  Does so only if "pair" has one column, and "other" has
 * the same column of the large relation among its columns.
 */
extern void bloomfam_sample_set_between(PlannerInfo *root, const SamplePair *other,
										const SamplePair *pair, double selectivity);

/*
 * bloomfam_sample_alias() returns the alias of a relation in the query, and
 * bloomfam_sample_pair_text() the text of a pair's equalities with such aliases.  Both texts are in
 * the current memory context.
 */
extern char *bloomfam_sample_alias(PlannerInfo *root, const RelOptInfo *rel);
extern char *bloomfam_sample_pair_text(PlannerInfo *root, const SamplePair *pair);

#endif							/* BLOOMFAM_SAMPLE_PAIR_H */
