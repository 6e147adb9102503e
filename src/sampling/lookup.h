/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * lookup.h
 *	  How many rows of the searched relation match each row of a sample.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_SAMPLE_LOOKUP_H
#define BLOOMFAM_SAMPLE_LOOKUP_H

#include "sampling/pair.h"
#include "sampling/rows.h"

/* How a pair's keys are looked up. */
typedef struct SampleLookup
{
	const IndexOptInfo *index;	/* NULL if the searched table is read as a whole */
	int			nkeys;			/* columns that the index is searched by, from its first one on */
	int			columns[INDEX_MAX_KEYS]; /* which of the pair's columns these are */
	double		keys;			/* about how many distinct keys these have in the table */
	double		blocks_once;	/* about how many blocks a lookup accesses, whatever the sample */
	double		blocks_of_row;	/* ... and for each row of the sample */
} SampleLookup;

/* What was found. */
typedef struct SampleMatches
{
	int			nblocks;		/* that were accessed */
	bool		are_more;		/* rows may match more rows than were counted */
	uint32		of_row[SAMPLE_MOST_ROWS]; /* how many rows match each row of the sample */
} SampleMatches;

/* Chooses how to look a pair's keys up.  Returns NULL, or the reason why that cannot be done. */
extern const char *bloomfam_sample_lookup_init(PlannerInfo *root, const SamplePair *pair,
											   SampleLookup *lookup);

/*
 * Looks the keys of the sampled rows up.  Returns NULL, or the reason why that could not be done.
 * Memory that it takes is of the current context.
 */
extern const char *bloomfam_sample_lookup(PlannerInfo *root, const SamplePair *pair,
										  const SampleLookup *lookup, const SampleRows *sample,
										  SampleBudget *budget, SampleMatches *matches);

#endif							/* BLOOMFAM_SAMPLE_LOOKUP_H */
