/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_math.c
 *	  The formulas for sizes and false positive rates; see bf_math.h.
 *
 *-------------------------------------------------------------------------
 */
#include "bf_math.h"

#include <math.h>

/*
 * The most keys that a block is assumed to have in the sums over the number of keys in a block: 22
 * standard deviations above the highest mean, which is BF_BLOCK_BITS.
 */
#define MAX_BLOCK_KEYS	1024

double
bf_math_occupancy_fpr(double throws, double m, unsigned k)
{
	double		one_free;		/* The probability that a given bit is clear after all throws. */
	/* The probability that two given bits are both clear after all throws. */
	double		two_free;
	double		mean;
	double		variance;
	double		ratio;

	if (throws <= 0)
		return 0;
	if (m <= 1)
		return 1;

	one_free = exp(throws * log1p(-1 / m));
	two_free = m > 2 ? exp(throws * log1p(-2 / m)) : 0;
	mean = m * (1 - one_free);
	variance = m * (m - 1) * two_free + m * one_free - m * m * one_free * one_free;
	ratio = variance > 0 ? variance / (mean * mean) : 0;

	return pow(mean / m, k) * exp(0.5 * k * (k - 1.0) * ratio);
}

double
bf_math_partitioned_fpr(double keys, double slice_bits, unsigned k)
{
	if (keys <= 0)
		return 0;
	if (slice_bits <= 1)
		return 1;
	return pow(-expm1(keys * log1p(-1 / slice_bits)), k);
}

/* Sets fpr_of[i] to the FPR of a block with i keys, for each i below n. */
static void
block_table(unsigned k, double *fpr_of, int n)
{
	int			i;

	for (i = 0; i < n; i++)
		fpr_of[i] = fmin(1, bf_math_occupancy_fpr((double) i * k, BF_BLOCK_BITS, k));
}

/*
 * Returns the mean of fpr_of[] under a Poisson distribution of mean load; beyond the table's n
 * entries, the FPR is taken as 1.
 */
static double
poisson_mean(const double *fpr_of, int n, double load)
{
	double		sum = 0;
	double		rest = 1;
	double		p = exp(-load);	/* e^-load is at least 1e-223, and so does not underflow. */
	int			i;

	for (i = 0; i < n; i++)
	{
		sum += p * fpr_of[i];
		rest -= p;
		p *= load / (i + 1);
	}
	return sum + fmax(rest, 0);
}

/* Returns the highest load, at most bound, whose mean FPR is at most fpr. */
static double
highest_load(const double *fpr_of, int n, double bound, double fpr)
{
	double		low = 0;
	double		high = bound;
	int			step;

	for (step = 0; step < 40; step++)
	{
		double		middle = (low + high) / 2;

		if (poisson_mean(fpr_of, n, middle) <= fpr)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/*
 * Returns how many table entries a load needs: up to 12 standard deviations above the mean, plus 24
 * for small means; at most MAX_BLOCK_KEYS.
 */
static int
table_size(double load)
{
	int			n = (int) (load + 12 * sqrt(load)) + 24;

	return n < MAX_BLOCK_KEYS ? n : MAX_BLOCK_KEYS;
}

double
bf_math_blocked_fpr(double load, unsigned k)
{
	double		fpr_of[MAX_BLOCK_KEYS];
	int			n = table_size(load);

	if (load <= 0)
		return 0;
	block_table(k, fpr_of, n);
	return poisson_mean(fpr_of, n, load);
}

/*
 * Converts bits per key to thousandths, rounded up.  The subtraction makes sure that a number of
 * whole thousandths is not rounded up to the next because of rounding errors.
 */
static uint32_t
millibits(double bits)
{
	return (uint32_t) ceil(fmax(bits, 1) * 1000 - 1e-6);
}

/* Returns the fewest bits per key that k probes need for fpr, from fpr = (1 - e^(-k/bits))^k. */
static double
standard_bits(double fpr, unsigned k)
{
	return -(double) k / log1p(-pow(fpr, 1.0 / k));
}

uint32_t
bf_math_standard_design(double fpr, unsigned *k)
{
	double		best = HUGE_VAL;
	double		ideal = -log2(fpr);
	unsigned	i;

	for (i = 1; i <= BF_MAX_PROBES; i++)
	{
		double		bits;

		/* The best whole k is a neighbour of log2(1/fpr). */
		if (fabs(i - ideal) > 2 && i != 1)
			continue;
		bits = standard_bits(fpr, i);
		if (bits < best)
		{
			best = bits;
			*k = i;
		}
	}
	return millibits(best);
}

uint32_t
bf_math_blocked_design(double fpr, unsigned *k)
{
	/*
	 * The upper bound of the search for the load: no filter of independent bits holds more keys per
	 * block than a standard filter with fractional k would.
	 */
	double		bound = fmin(BF_BLOCK_BITS, BF_BLOCK_BITS * log(2) * log(2) / -log(fpr));
	double		fpr_of[MAX_BLOCK_KEYS];
	double		ideal = -log2(fpr);
	double		best = 0;
	int			n = table_size(bound);
	unsigned	i;

	for (i = 1; i <= BF_MAX_BLOCK_PROBES; i++)
	{
		double		load;

		/*
		 * The best k is at most about log2(1/fpr), and it is the further below that value the lower
		 * fpr is.
		 */
		if ((i > ideal + 2 && i > 1) || (i < ideal * 0.6 - 1 && i < BF_MAX_BLOCK_PROBES))
			continue;
		block_table(i, fpr_of, n);
		load = highest_load(fpr_of, n, bound, fpr);
		if (load > best)
		{
			best = load;
			*k = i;
		}
	}
	return millibits(BF_BLOCK_BITS / best);
}

/* Sets fpr_of[i] to the FPR of a split block with i keys, for each i below n. */
static void
split_table(double *fpr_of, int n)
{
	int			i;

	for (i = 0; i < n; i++)
		fpr_of[i] = pow(-expm1(i * log1p(-1.0 / BF_SPLIT_WORD_BITS)), BF_SPLIT_WORDS);
}

double
bf_math_split_fpr(double load)
{
	double		fpr_of[MAX_BLOCK_KEYS];
	int			n = table_size(load);

	if (load <= 0)
		return 0;
	split_table(fpr_of, n);
	return poisson_mean(fpr_of, n, load);
}

uint32_t
bf_math_split_design(double fpr)
{
	double		fpr_of[MAX_BLOCK_KEYS];
	/*
	 * The search for the highest load ends at one key per bit, because a filter is never given
	 * fewer bits than keys.
	 */
	double		bound = BF_SPLIT_BITS;
	int			n = table_size(bound);

	split_table(fpr_of, n);
	return millibits(BF_SPLIT_BITS / highest_load(fpr_of, n, bound, fpr));
}

double
bf_math_keys(double bits_set, double m, unsigned k)
{
	if (bits_set <= 0)
		return 0;
	return -(m / k) * log1p(-fmin(bits_set, m - 0.5) / m);
}

uint64_t
bf_math_round_cells(uint64_t cells)
{
	/*
	 * A number of cells is rounded up to a multiple of one of these numbers.  Each of them is a
	 * multiple of the next, so that more cells are never rounded to fewer.
	 */
	static const uint32_t composite[] = {720720, 55440, 5040, 2520, 840, 120, 60, 12, 6, 2};
	unsigned	i;

	for (i = 0; i < sizeof(composite) / sizeof(composite[0]); i++)
	{
		uint64_t	c = composite[i];

		if (c * 128 <= cells)
			return cells > UINT64_MAX - c ? cells : (cells + c - 1) / c * c;
	}
	return cells;
}

uint64_t
bf_math_cells(uint64_t keys, uint32_t millibits, uint32_t cell_bits)
{
	unsigned __int128 need = (unsigned __int128) keys * millibits;
	unsigned __int128 unit = (unsigned __int128) 1000 * cell_bits;
	unsigned __int128 cells = (need + unit - 1) / unit;

	return cells > UINT64_MAX ? UINT64_MAX : (uint64_t) cells;
}
