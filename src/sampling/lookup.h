/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * lookup.h
 *	  Counts the rows of the searched relation that match each row of a sample.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_SAMPLE_LOOKUP_H
#define BLOOMFAM_SAMPLE_LOOKUP_H

#include "sampling/pair.h"
#include "sampling/rows.h"

/* How a pair's keys are looked up in the searched relation. */
typedef struct SampleLookup
{
	/* The index that is searched; NULL if the searched table is read as a whole. */
	const IndexOptInfo *index;

	/* The number of the index's leading columns that it is searched by. */
	int			nkeys;

	/* For each of these index columns, the number of the pair's column. */
	int			columns[INDEX_MAX_KEYS];

	/* The approximate number of distinct keys that these columns have in the table. */
	double		keys;

	/*
	 * The approximate number of blocks that a lookup accesses at the start, however many rows the
	 * sample has (the whole table, if no index is used).
	 */
	double		blocks_once;

	/* The approximate number of blocks that a lookup accesses for each row of the sample. */
	double		blocks_of_row;
} SampleLookup;

/* The result of looking up a sample's keys. */
typedef struct SampleMatches
{
	int			nblocks;		/* The number of blocks that were accessed. */

	/* True if a row of the sample may match more rows than were counted. */
	bool		are_more;

	/* For each row of the sample, the number of rows that match it. */
	uint32		of_row[SAMPLE_MOST_ROWS];
} SampleMatches;

/*
 * Chooses how to look up a pair's keys, and fills *lookup.  Returns NULL, or the reason why the
 * keys cannot be looked up.
 */
extern const char *bloomfam_sample_lookup_init(PlannerInfo *root, const SamplePair *pair,
											   SampleLookup *lookup);

/*
 * Looks up the keys of the sampled rows, and fills *matches.  Returns NULL, or the reason why the
 * keys could not be looked up.  Allocates memory in the current context.
 */
extern const char *bloomfam_sample_lookup(PlannerInfo *root, const SamplePair *pair,
										  const SampleLookup *lookup, const SampleRows *sample,
										  SampleBudget *budget, SampleMatches *matches);

#endif							/* BLOOMFAM_SAMPLE_LOOKUP_H */
