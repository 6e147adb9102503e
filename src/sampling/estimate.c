/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * estimate.c
 *	  Estimates from a sample which fraction of a large relation's rows has a match.
 *
 * Intervals are Wilson's (E. B. Wilson, "Probable Inference, the Law of Succession, and
 * Statistical Inference", 1927).  From a few matches they tell that there are some, and from none
 * that there may be some.  Rows of one block tend to be alike, so the sample counts as a sample of
 * blocks.  Blocks that stand for more rows than other blocks make the estimate less sure (L. Kish,
 * "Survey Sampling", 1965).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "sampling/estimate.h"

/*
 * In the normal distribution, 95 % of the values are within this many standard deviations of the
 * mean.
 */
#define DEVIATIONS	1.96

/*
 * Sums over those rows of a sample that have a match in both of two pairs of relations; a pair that
 * is NULL excludes no row.
 */
typedef struct Sums
{
	double		weights;		/* The sum of the rows' weights. */

	/*
	 * The sum, weighted like the rows, of the numbers of searched rows that match them in the first
	 * pair.
	 */
	double		matches;

	/*
	 * The effective size of the sample: the number of rows of equal weight, each from a block of
	 * its own, that would estimate the fraction as precisely.
	 */
	double		effective;
	int			nrows;			/* The number of the sample's rows. */
} Sums;

static Sums
sum_up(const SampleRows *sample, const SampleMatches *a, const SampleMatches *b)
{
	double		of_block[SAMPLE_MOST_ROWS] = {0};
	double		squares = 0;
	Sums		sums = {0};
	int			i;

	for (i = 0; i < sample->nrows; i++)
	{
		const SampleRow *row = &sample->rows[i];

		if ((a != NULL && a->of_row[i] == 0) || (b != NULL && b->of_row[i] == 0))
			continue;
		sums.nrows++;
		sums.weights += row->weight;
		sums.matches += a != NULL ? row->weight * a->of_row[i] : 0;
		of_block[row->block] += row->weight;
	}
	for (i = 0; i < SAMPLE_MOST_ROWS; i++)
		squares += of_block[i] * of_block[i];
	sums.effective = squares > 0 ? sums.weights * sums.weights / squares : 0;
	return sums;
}

SampleFraction
bloomfam_sample_fraction(const SampleRows *sample, const SampleMatches *matches,
						 const SampleMatches *given)
{
	Sums		all = sum_up(sample, NULL, given);
	Sums		matching = sum_up(sample, matches, given);
	double		z = matching.nrows > 0 ? DEVIATIONS : SAMPLE_SURE_DEVIATIONS;
	double		n = all.effective;
	double		p = Min(matching.weights / all.weights, 1);
	double		middle = (p + z * z / (2 * n)) / (1 + z * z / n);
	double		reach = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));

	return (SampleFraction) {
		.fraction = p,
		.low = Max(Min(middle - reach, p), 0), .high = Min(Max(middle + reach, p), 1),
		.per_match = matching.nrows > 0 ? Max(matching.matches / matching.weights, 1) : 1,
		.nrows = all.nrows
	};
}

double
bloomfam_sample_dependence(const SampleRows *sample, const SampleMatches *a,
						   const SampleMatches *b)
{
	Sums		all = sum_up(sample, NULL, NULL);
	double		in_a = sum_up(sample, a, NULL).weights / all.weights;
	double		in_b = sum_up(sample, b, NULL).weights / all.weights;
	double		in_both = sum_up(sample, a, b).weights / all.weights;
	double		variance = in_a * (1 - in_a) * in_b * (1 - in_b) / all.effective;

	/*
	 * Rows come one by one: if few are expected to match in both, one that does is no proof.  So
	 * half a row is taken off (F. Yates, "Contingency Tables Involving Small Numbers and the Chi
	 * Squared Test", 1934).
	 */
	return variance > 0 ? (in_both - in_a * in_b - 0.5 / all.effective) / sqrt(variance) : 0;
}
