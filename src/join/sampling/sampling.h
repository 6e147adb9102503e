/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * sampling.h
 *	  Sizes of joins by a sample of their keys: bloomfam.join_samples.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_SAMPLING_H
#define BLOOMFAM_JOIN_SAMPLING_H

#include "optimizer/paths.h"

#include "join/sampling/join_order.h"
#include "join/sampling/match_share.h"
#include "join/sampling/sizes.h"

/* What is told of. */
typedef enum JoinSampledKind
{
	JOIN_SAMPLED_PAIR,			/* a pair of relations, or two pairs with one key */
	JOIN_SAMPLED_ORDER			/* whether the joins are others than without samples */
} JoinSampledKind;

/* What came of it; strings and lists live as long as the planner's own. */
typedef struct JoinSampled
{
	JoinSampledKind kind;
	JoinReorder	order;			/* of an order, with the aliases of its relations */
	List	   *relations;
	/* all else is of pairs */
	const char *condition;		/* the equality, by aliases */
	const char *probe;			/* the relation whose rows have a match, by its alias */
	const char *searched;
	const char *reason;			/* why it was not sampled; NULL: it was */
	JoinMatchShare share;		/* if it was */
	const char *index;			/* by which; NULL: none.  It may be dropped before this is told */
	double		alike;			/* of these, those that a parameter selects; 0: the server's */
	double		expected;		/* the server's own */
	double		used;			/* that the query is planned with; < 0: the server's */
	const char *unused;			/* why the server's was kept; NULL: it was not */
} JoinSampled;

/* A query that is planned. */
typedef struct JoinSampling
{
	List	   *sampled;		/* what came of its pairs: JoinSampled */
	int			nblocks;		/* that searches may still access */
	JoinSizes	sizes;			/* what they changed, for the present search for a join order */
	struct JoinSampling *outer;	/* in whose planning it is planned */
} JoinSampling;

/* Begins and ends a query, also in the middle of another; errors end it, too. */
extern void bloomfam_join_sampling_begin(JoinSampling *sampling);
extern void bloomfam_join_sampling_end(JoinSampling *sampling);

/*
 * Searches for a join order by the function that would do it anyway, with sizes of what these
 * relations are joined to.
 */
extern RelOptInfo *bloomfam_join_sampled_search(PlannerInfo *root, int levels,
												List *initial_rels,
												join_search_hook_type search);

#endif							/* BLOOMFAM_JOIN_SAMPLING_H */
