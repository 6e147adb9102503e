/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * couple.h
 *	  Two pairs of one probe, whose tables are searched for the same key.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_COUPLE_H
#define BLOOMFAM_JOIN_COUPLE_H

#include "join/sampling/pair.h"

/*
 * Of the three relations the server joins two first, and then the third by one clause more.  So the
 * size of all three is the product of two pairs' selectivities.
 */
typedef struct JoinCouple
{
	JoinPair   *pairs[2];		/* in the order of their searched tables */
	JoinPair	between;		/* the two tables */
	const JoinPair *first;		/* of these three pairs, the one that is joined first */
	const JoinPair *last;		/* ... whose clause then joins the third relation */
} JoinCouple;

/*
 * Is the pair, of these, one of a couple?  Each can be sampled, and all three joins are inner ones
 * by the same key.
 */
extern bool bloomfam_join_couple_init(PlannerInfo *root, List *initial_rels, List *pairs,
									  JoinPair *pair, JoinCouple *couple);

/* The selectivity of the clauses that join all three, as the server has it now. */
extern double bloomfam_join_couple_selectivity(PlannerInfo *root, const JoinCouple *couple);

/*
 * Gives them this one, in that the last clause gets another; false: it does not, as a join of the
 * probe and one of the tables would look smaller than it is.
 */
extern bool bloomfam_join_couple_set(PlannerInfo *root, JoinSizes *sizes,
									 const JoinCouple *couple, double selectivity);

#endif							/* BLOOMFAM_JOIN_COUPLE_H */
