/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * estimate.h
 *	  Estimates from a sample which fraction of a large relation's rows has a match.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_SAMPLE_ESTIMATE_H
#define BLOOMFAM_SAMPLE_ESTIMATE_H

#include "sampling/lookup.h"

/*
 * Evidence of this many standard deviations arises by chance in one of 1,000 cases.  It is required
 * to take two pairs for dependent, as many combinations are tested.  It is also required to plan
 * with another fraction than the server's if no row of the sample has a match.
 */
#define SAMPLE_SURE_DEVIATIONS	3.0

/* A fraction of the large relation's rows, estimated from a sample. */
typedef struct SampleFraction
{
	double		fraction;		/* The estimated fraction of rows that have a match. */

	/* The true fraction is between low and high with a probability of 95 %. */
	double		low;
	double		high;

	/* How many searched rows match a row that has a match, on average. */
	double		per_match;

	/* The number of the sample's rows that the fraction is estimated from. */
	int			nrows;
} SampleFraction;

/*
 * Estimates the fraction of rows that have a match in "matches".  It is that of all rows if given
 * is NULL, and otherwise that of the rows that have a match in "given"; the sample must have such
 * rows.
 */
extern SampleFraction bloomfam_sample_fraction(const SampleRows *sample,
											   const SampleMatches *matches,
											   const SampleMatches *given);

/*
 * Returns by how many standard deviations rows with a match in pair a have one in pair b more often
 * than other rows do.  The result is negative if they have one less often.
 */
extern double bloomfam_sample_dependence(const SampleRows *sample, const SampleMatches *a,
										 const SampleMatches *b);

#endif							/* BLOOMFAM_SAMPLE_ESTIMATE_H */
