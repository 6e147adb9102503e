/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * sampling.h
 *	  Estimates sizes of joins by samples of rows: the setting bloomfam.join_samples.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_SAMPLING_H
#define BLOOMFAM_SAMPLING_H

#include "sampling/reader.h"

/*
 * All samples of a query together access at most this many blocks.  That takes about 3 ms if the
 * blocks are cached.
 */
#define SAMPLING_MOST_BLOCKS	2000

/* The state of sampling while a query is planned, which begins as SAMPLING_INIT. */
typedef struct Sampling
{
	/* List of SampleTold, in the planner's memory: what came of the pairs. */
	List	   *told;
	SampleBudget budget;		/* The budget of all samples of the query. */
} Sampling;

#define SAMPLING_INIT	{NIL, {.most = SAMPLING_MOST_BLOCKS}}

/*
 * Estimates the sizes of the joins of these relations by samples, before the planner searches for
 * the best order of joins.  Gives the joins' clauses the selectivities that the samples tell.
 */
extern void bloomfam_sampling_size_joins(PlannerInfo *root, List *initial_rels,
										 Sampling *sampling);

#endif							/* BLOOMFAM_SAMPLING_H */
