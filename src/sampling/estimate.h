/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * estimate.h
 *	  Which fraction of a large relation's rows has a match, as estimated from a sample.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_SAMPLE_ESTIMATE_H
#define BLOOMFAM_SAMPLE_ESTIMATE_H

#include "sampling/lookup.h"

/*
 * Evidence of so many standard deviations arises by chance in one of 1,000 cases.  It is required
 * to take two pairs for dependent, as many combinations are tested, and to plan with another
 * fraction than the server's where no row of the sample has a match.
 */
#define SAMPLE_SURE_DEVIATIONS	3.0

/* A fraction of the large relation's rows. */
typedef struct SampleFraction
{
	double		fraction;		/* with a match */
	double		low;			/* the true fraction is between these, with 95 % probability */
	double		high;
	double		per_match;		/* searched rows that match such a row, on average */
	int			nrows;			/* of the sample that it is estimated from */
} SampleFraction;

/*
 * Estimates the fraction of rows that have these matches: of all rows if given is NULL, else of the
 * rows that have a match there, of which the sample must have some.
 */
extern SampleFraction bloomfam_sample_fraction(const SampleRows *sample,
											   const SampleMatches *matches,
											   const SampleMatches *given);

/*
 * By how many standard deviations do rows with a match in one pair have one in the other more often
 * than others do?  Negative if they have it less often.
 */
extern double bloomfam_sample_dependence(const SampleRows *sample, const SampleMatches *a,
										 const SampleMatches *b);

#endif							/* BLOOMFAM_SAMPLE_ESTIMATE_H */
