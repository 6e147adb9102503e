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

#include "nodes/pathnodes.h"

#include "join/sampling/match_share.h"

/* What came of a pair of relations; strings and lists live as long as the planner's own. */
typedef struct JoinSampled
{
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
	struct JoinSampling *outer;	/* in whose planning it is planned */
} JoinSampling;

/* Begins and ends a query, also in the middle of another; errors end it, too. */
extern void bloomfam_join_sampling_begin(JoinSampling *sampling);
extern void bloomfam_join_sampling_end(JoinSampling *sampling);

/* Before the search for a join order: sizes of what these relations are joined to. */
extern void bloomfam_join_sample(PlannerInfo *root, List *initial_rels);

#endif							/* BLOOMFAM_JOIN_SAMPLING_H */
