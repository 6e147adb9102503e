/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * sampling.h
 *	  Sizes of joins by samples of rows: bloomfam.join_samples.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_SAMPLING_H
#define BLOOMFAM_SAMPLING_H

#include "sampling/reader.h"

/*
 * All samples of a query access at most so many blocks, which takes some 3 ms if they are cached.
 */
#define SAMPLING_MOST_BLOCKS	2000

/* What sampling keeps of a query while it is planned; it begins with SAMPLING_INIT. */
typedef struct Sampling
{
	List	   *told;			/* what came of its pairs: SampleTold, in the planner's memory */
	SampleBudget budget;		/* of all its samples */
} Sampling;

#define SAMPLING_INIT	{NIL, {.most = SAMPLING_MOST_BLOCKS}}

/*
 * Samples the joins of these relations, before the planner searches for their order, and gives
 * their clauses the selectivities that the samples say.
 */
extern void bloomfam_sampling_size_joins(PlannerInfo *root, List *initial_rels,
										 Sampling *sampling);

#endif							/* BLOOMFAM_SAMPLING_H */
