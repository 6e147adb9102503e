/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * pair.h
 *	  Pairs of base relations with equalities between them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_PAIR_H
#define BLOOMFAM_JOIN_PAIR_H

#include "nodes/pathnodes.h"

#include "join/sampling/search.h"
#include "join/sampling/sizes.h"

/* A key has no more columns. */
#define JOIN_MOST_COLUMNS	4

/* A column of either relation, which are equal. */
typedef struct JoinPairColumn
{
	const Var  *probe;
	const Var  *searched;
	JoinKeyComparison comparison;
	List	   *clauses;		/* RestrictInfo: the equality, in each form that the planner has */
} JoinPairColumn;

/* Two base relations, of which one's keys are searched in the other. */
typedef struct JoinPair
{
	RelOptInfo *probe;			/* whose rows have a match, or none */
	RelOptInfo *searched;		/* where they have it */
	JoinPairColumn columns[JOIN_MOST_COLUMNS]; /* the key; at least one */
	int			ncolumns;
	List	   *conditions;		/* of the table that is searched: those that are evaluated */
	RestrictInfo *parameter;	/* ... one by which a column equals a parameter, or NULL */
	AttrNumber	value_column;	/* that column; else 0 */
	JoinType	type;			/* of the join: INNER, LEFT, FULL; SEMI, ANTI: the probe is left */
	bool		right_of_semi;	/* both are on the right of a semi join, with several on its left */
	bool		unique;			/* no two rows that are searched have one key */
	bool		unique_in_all;	/* ... nor two of all rows of that table */
	const char *reason;			/* why it is not sampled; NULL: it is */
} JoinPair;

/* Is there any condition between two base relations? */
extern bool bloomfam_join_are_joined(PlannerInfo *root, RelOptInfo *a, RelOptInfo *b);

/*
 * Fills in a pair whose relations are set.  Returns NULL, or why it cannot be searched.  It makes
 * the clauses that the search for a join order will find.
 */
extern const char *bloomfam_join_pair_init(PlannerInfo *root, JoinPair *pair);

/* Which of a pair's columns has an index as this one, compared in the same way?  -1: none. */
extern int	bloomfam_join_pair_column(const JoinPair *pair, const IndexOptInfo *index, int number);

/* Has a query two conditions and more between these?  Some may not be equalities. */
extern bool bloomfam_join_have_several(PlannerInfo *root, RelOptInfo *a, RelOptInfo *b);

/* The selectivity of its equalities as the server has it. */
extern double bloomfam_join_pair_selectivity(PlannerInfo *root, const JoinPair *pair);

/* Gives its equalities another selectivity than the server's; share: for semi and anti joins. */
extern void bloomfam_join_pair_set(PlannerInfo *root, JoinSizes *sizes, const JoinPair *pair,
								   double selectivity, double share);

/*
 * Does a query have a relation that makes one right size among wrong ones worse than none?  Its
 * keys reach far beyond those of a large relation that it is joined to; it has no conditions, but
 * is joined by other columns to a relation that has some.
 *
 * Sized by all of its rows that can come, each join was right within a quarter.  But then no filter
 * is planned for a join of which more rows come than go in, and queries took up to 1.4 times as
 * long.
 */
extern bool bloomfam_join_comes_back(PlannerInfo *root);

/* Other relations with conditions that have the pair's key, too, if the searched one has some. */
extern Relids bloomfam_join_thirds(PlannerInfo *root, const JoinPair *pair);

#endif							/* BLOOMFAM_JOIN_PAIR_H */
