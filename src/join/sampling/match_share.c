/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * match_share.c
 *	  Which fraction of a relation's rows has a match, as estimated from a sample of its keys.
 *
 * Common keys count as their frequencies.  Of the others there are two estimates.  The bounds are
 * keys of rows, every n-th in order: right on average, whatever the conditions, but few.  The
 * ranges between them have many keys of the table that was searched.  These may differ from the
 * rows' own: working days from all days, customers who buy much from all customers.  So it is
 * weighed how likely that is, by what the two differ by.
 *
 * The variance of a systematic sample is estimated by the differences of neighbours.  So it is
 * small where the conditions follow the order of the keys.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "join/sampling/match_share.h"

/* The normal distribution has 95 % within so many standard deviations. */
#define DEVIATIONS	1.96

/* Of two cases one is so likely that the other counts for nothing in an interval. */
#define MOST_LIKELY	0.95

/*
 * Conditions may go with how often a key occurs, which is so likely beforehand: of joins by keys of
 * Zipf's law one in 1,200 was sized worse than by the server, and one in 225 with a half.  Then
 * they hold for a key of a row with other odds than for a key of the table, by a factor whose
 * logarithm deviates from 0 by so much.  It does by more the fewer of the table's keys have rows:
 * then it is about those that have none.
 */
#define LIKELY_BIASED		0.3
#define DEVIATION_OF_ODDS	1.0
#define MOST_DEVIATION		3.0

/* Values of a column are compared, each with each, if so many keys have a match. */
#define FEWEST_ALIKE	30
#define MOST_ALIKE		1000

/* How many keys the server's value counts as. */
#define PRIOR_KEYS	4

/*
 * No less is planned with than this part of what there may be at most: random joins of which less
 * than 1 % matched were nearest to that (bench/sql/run sizes).
 */
#define LEAST_OF_HIGH	3

/*
 * A range has no sharp end, and of 1,000 joins 50 lie beyond theirs.  So what the server expects
 * stays if so many standard deviations reach it, but not if it differs by more than so many times:
 * of conditions that leave what has most rows or none the server knows nothing.
 */
#define MOST_DEVIATIONS	3.0
#define MOST_TIMES		5
#define BEYOND_HIGH		1.1		/* of the range, however much it differs */

/*
 * A difference by less than that is small: costs are no more exact.  A size that is too small leads
 * to nested loops, which cost more than a size that is too large.
 */
#define NEAR_ABOVE		1.5		/* what is planned with, beside what the server expects */
#define NEAR_BELOW		2.5

/* Rows that ANALYZE reads at its default target. */
#define ANALYZED_ROWS	30000

/* None of these rows has it: 95 % of what has so large a share would be seen (1 - 0.05^(1/n)). */
#define LEAST_SEEN	(3.0 / ANALYZED_ROWS)

typedef struct Estimate
{
	double		share;
	double		variance;
} Estimate;

/* ... and where it lies with a probability of 95 %. */
typedef struct Interval
{
	double		share;
	double		low;
	double		high;
} Interval;

/* Sums over a sample in order. */
typedef struct Sums
{
	double		values;			/* times weights */
	double		weights;
	double		squares;		/* differences of neighbours */
	double		last;			/* value */
	int			n;
} Sums;

static inline void
add_value(Sums *sums, double weight, double value)
{
	sums->values += weight * value;
	sums->weights += weight;
	if (sums->n > 0)
		sums->squares += (value - sums->last) * (value - sums->last);
	sums->last = value;
	sums->n++;
}

/* What so many keys leave open even if no neighbours differ. */
static inline double
least_variance(double nkeys)
{
	return 2 / (nkeys * nkeys);
}

/* The mean; its variance is half the squared difference of neighbours, on average. */
static Estimate
estimate_of(const Sums *sums, double nkeys)
{
	Estimate	estimate;

	estimate.share = sums->values / sums->weights;
	estimate.variance = sums->n > 1 ? sums->squares / (2 * (sums->n - 1)) / sums->n : 0.25;
	estimate.variance += least_variance(nkeys);
	return estimate;
}

/*
 * Few matches are not spread normally: below them the bound is that of so many events of Poisson's
 * distribution as would leave as much open (Byar's approximation; Breslow and Day, "Statistical
 * Methods in Cancer Research", volume II, 1987).  So two matches tell that there are some.  Above
 * them it is left nearer than it could be: if what the server expects were kept more often there,
 * joins of five would be sized worse (bench/sql/run sizes: 95th percentile 5.4 for 4.0).
 */
static Interval
interval_of(const Estimate *estimate)
{
	double		share = estimate->share;
	double		reach = DEVIATIONS * sqrt(estimate->variance);
	double		events = share * share / estimate->variance;
	double		part = events > 0 ? 1 - 1 / (9 * events) - DEVIATIONS / (3 * sqrt(events)) : 0;

	return (Interval) {.share = share,
					  .low = Max(share - reach, share * pow(Max(part, 0), 3)),
					  .high = share + reach};
}

/* Which fraction of the bounds match, or exist at all. */
static Estimate
by_keys(const JoinFound *found, bool exist)
{
	Sums		sums = {0};
	int			i;

	for (i = 0; i < found->nkeys; i++)
	{
		const JoinFoundKey *key = &found->keys[i];

		add_value(&sums, key->weight, exist ? key->exists : key->matches);
	}
	return estimate_of(&sums, found->nkeys);
}

static Estimate
by_ranges(const JoinFound *found)
{
	Estimate	estimate;
	Estimate	existing;
	Sums		sums = {0};
	double		nkeys = 0;		/* that were looked at; of a bound that is missing, that one */
	double		within = 0;
	double		ratio;
	int			i;

	for (i = 0; i < found->nranges; i++)
	{
		const JoinFoundRange *range = &found->ranges[i];

		add_value(&sums, range->weight, range->matching);
		nkeys += Max(range->nkeys, 1);
		within += range->weight * range->weight * range->matching * (1 - range->matching) /
				  Max(range->nkeys / 2.0, 1);
	}
	estimate = estimate_of(&sums, nkeys);
	/* what matches may lie within a range, behind the keys that were seen of it */
	if (OidIsValid(found->index))
	{
		estimate.variance += 0.25 / ((double) found->nranges * found->nranges);
		return estimate;
	}

	/*
	 * But of a table that was read each range is known as a whole.  Which of the rows' keys it has
	 * is not: that is known of bounds alone.
	 */
	existing = by_keys(found, true);
	ratio = existing.share > 0 ? Min(estimate.share / existing.share, 1) : 1;
	estimate.variance = within / (sums.weights * sums.weights) + least_variance(nkeys) +
						ratio * ratio * existing.variance;
	return estimate;
}

/* How likely a difference is, beside other variances, in the normal distribution. */
static double
likelihood(double difference, double variance)
{
	return exp(-difference * difference / (2 * variance)) / sqrt(variance);
}

/*
 * Weighs what bounds and ranges say.  If the conditions do not go with how many rows a key has, the
 * ranges are right, as they have more keys.  If they do, the bounds are, but no further from the
 * ranges than odds deviate.
 */
static Interval
weigh(const JoinFound *found, const Estimate *bounds, const Estimate *ranges)
{
	double		difference = bounds->share - ranges->share;
	double		variance = bounds->variance + ranges->variance;
	double		least = 0.5 / found->nkeys;
	double		mean =
		Min(Max((bounds->share + ranges->share) / 2, least), Max(1 - least, least));
	double		deviation = Min(DEVIATION_OF_ODDS / found->occurring, MOST_DEVIATION);
	double		bias = Max(deviation * mean * (1 - mean), least * least);
	double		with_bias;
	double		probability;
	double		weight;
	Estimate	biased;
	Interval	without;
	Interval	with;
	Interval	result;

	bias *= bias;
	with_bias = LIKELY_BIASED * likelihood(difference, variance + bias);
	probability =
		with_bias / (with_bias + (1 - LIKELY_BIASED) * likelihood(difference, variance));
	weight = (ranges->variance + bias) / (variance + bias);
	biased.share = ranges->share + weight * difference;
	biased.variance = weight * bounds->variance;
	with = interval_of(&biased);
	without = interval_of(ranges);

	result.share = without.share + probability * (with.share - without.share);
	if (probability > MOST_LIKELY)
		without = with;
	else if (probability < 1 - MOST_LIKELY)
		with = without;
	result.low = Min(without.low, with.low);
	result.high = Max(without.high, with.high);
	return result;
}

/* How many rows a match is of, on average, if all of a key were counted, and at least. */
static void
set_rows_per_match(const JoinFound *found, double rest, JoinMatchShare *result)
{
	double		rows = 0;
	double		matches = 0;
	double		weights = 0;
	bool		all = true;
	int			i;

	for (i = 0; i < found->nkeys; i++)
		weights += found->keys[i].weight;
	for (i = 0; i < found->ncommon + found->nkeys; i++)
	{
		const JoinFoundKey *key =
			i < found->ncommon ? &found->common[i] : &found->keys[i - found->ncommon];
		double		weight = i < found->ncommon ? key->weight : key->weight * rest / weights;

		rows += weight * key->nrows;
		matches += weight * key->matches;
		all &= !OidIsValid(found->index) || key->nrows < JOIN_MOST_MATCHES;
	}
	result->least_per_match = matches > 0 ? rows / matches : 0;
	result->rows_per_match = all ? result->least_per_match : 0;
}

/* The fraction of the table's keys that match, of those of the sample; 0: it has none of them. */
static double
matching_of_existing(const JoinFound *found)
{
	int			nexisting = 0;
	int			nmatching = 0;
	int			i;

	for (i = 0; i < found->ncommon + found->nkeys; i++)
	{
		const JoinFoundKey *key =
			i < found->ncommon ? &found->common[i] : &found->keys[i - found->ncommon];

		nexisting += key->exists;
		nmatching += key->matches;
	}
	return nexisting > 0 ? (double) nmatching / nexisting : 0;
}

/*
 * The probability that two rows with a match have one value there: how many a parameter of their
 * kind is expected to select.  Of a bound's key there is no second row.  0: not known.
 */
static double
alike(const JoinFound *found, double rest)
{
	int			n = found->ncommon + found->nkeys;
	double	   *weights;
	const JoinFoundKey **keys;
	double		sum = 0;
	double		all = 0;
	double		equal = 0;
	double		bounds = 0;
	int			nmatching = 0;
	int			i;
	int			k;

	if (!found->has_values || n > MOST_ALIKE)
		return 0;
	weights = palloc(n * sizeof(double));
	keys = palloc(n * sizeof(JoinFoundKey *));
	for (i = 0; i < found->nkeys; i++)
		sum += found->keys[i].weight;
	for (i = 0; i < n; i++)
	{
		bool		common = i < found->ncommon;

		keys[i] = common ? &found->common[i] : &found->keys[i - found->ncommon];
		weights[i] = common ? keys[i]->weight : keys[i]->weight * rest / sum;
		if (!keys[i]->matches)
			weights[i] = 0;
		else
			nmatching++;
		all += weights[i];
		if (!common)
			bounds += weights[i] * weights[i];
	}
	for (i = 0; i < n; i++)
		for (k = 0; k < n; k++)
			if ((i != k || i < found->ncommon) && keys[i]->has_value && keys[k]->has_value &&
				keys[i]->value == keys[k]->value)
				equal += weights[i] * weights[k];
	return nmatching < FEWEST_ALIKE ? 0 : equal / (all * all - bounds);
}

bool
bloomfam_join_match_share(const JoinKeySample *sample, const JoinFound *found,
						  JoinMatchShare *result)
{
	double		common = 0;
	double		matching = 0;
	double		unsearched = 0; /* variance of a key's weight beside what it itself has */
	double		rest;
	Interval	others = {0, 0, 0};
	double		variance;
	double		reach;
	int			i;

	for (i = 0; i < found->ncommon; i++)
	{
		const JoinFoundKey *key = &found->common[i];

		common += key->weight;
		matching += key->weight * key->matches;
		/* it differs from each other that it stands for, and these from each other */
		unsearched += key->weight * (key->weight - sample->frequencies[key->number]);
	}
	rest = Max(1 - sample->null_fraction - common, 0);
	if (found->nkeys > 0)
	{
		Estimate	bounds = by_keys(found, false);

		others = interval_of(&bounds);
		if (found->nranges > 0)
		{
			Estimate	ranges = by_ranges(found);

			others = weigh(found, &bounds, &ranges);
		}
	}
	else if (common <= rest)
		return false;
	else
		others = (Interval) {.share = matching / common, .low = 0, .high = 1};

	result->share = Min(matching + rest * others.share, 1);
	variance = result->share * (1 - result->share) / ANALYZED_ROWS;
	if (common > 0)
		variance += unsearched * (matching / common) * (1 - Min(matching / common, 1));
	reach = DEVIATIONS * sqrt(variance);
	result->low = Max(result->share - hypot(rest * (others.share - others.low), reach), 0);
	result->high = Min(
		Max(result->share + hypot(rest * (others.high - others.share), reach), LEAST_SEEN), 1);
	Assert(result->low <= result->share && result->share <= result->high);
	result->by_bounds = rest > 0 ? rest / (rest + common) : 0;
	set_rows_per_match(found, rest, result);
	result->of_existing = matching_of_existing(found);
	result->alike = alike(found, rest);
	result->nkeys = found->ncommon + found->nkeys;
	result->of_one_key = sample->ncommon > 0 ? sample->frequencies[0]
											 : 1 / Max(sample->ndistinct, 1);
	result->index = found->index;
	result->nblocks = found->nblocks;
	return true;
}

/*
 * What two tables have of keys that both were searched for: a match if both have one.  Returns how
 * many there are.
 */
static int
find_in_both(const JoinFoundKey *a, int na, const JoinFoundKey *b, int nb, JoinFoundKey *both)
{
	int			n = 0;
	int			i;
	int			k = 0;

	for (i = 0; i < na; i++)
	{
		while (k < nb && b[k].number < a[i].number)
			k++;
		if (k < nb && b[k].number == a[i].number)
			both[n++] = (JoinFoundKey) {
				.number = a[i].number,
				.weight = a[i].weight,
				.exists = a[i].exists && b[k].exists,
				.matches = a[i].matches && b[k].matches,
				.nrows = Min((int64) a[i].nrows * b[k].nrows, PG_INT32_MAX)
			};
	}
	return n;
}

/* Of ranges nothing is known: which of their keys match in both was not seen. */
bool
bloomfam_join_match_share_of_both(const JoinKeySample *sample, const JoinFound *a,
								  const JoinFound *b, JoinMatchShare *result)
{
	JoinFound	both = {0};

	/* by an index not all rows of a key were counted, perhaps */
	both.index = OidIsValid(a->index) ? a->index : b->index;
	both.common = palloc((a->ncommon + 1) * sizeof(JoinFoundKey));
	both.keys = palloc((a->nkeys + 1) * sizeof(JoinFoundKey));
	both.ncommon = find_in_both(a->common, a->ncommon, b->common, b->ncommon, both.common);
	if (both.ncommon == 0 && sample->ncommon > 0)
		return false;
	bloomfam_join_found_weigh(sample, &both);
	both.nkeys = find_in_both(a->keys, a->nkeys, b->keys, b->nkeys, both.keys);
	return bloomfam_join_match_share(sample, &both, result);
}

void
bloomfam_join_match_share_of_rows(const JoinRowCounts *counts, JoinMatchShare *result)
{
	/* as many equal weights would leave as much open (Kish, "Survey Sampling", 1965) */
	double		n = counts->weights * counts->weights / counts->squares;
	double		share = counts->matching / counts->weights;
	Estimate	estimate = {share, share * (1 - share) / n + least_variance(n)};
	Interval	interval = interval_of(&estimate);

	memset(result, 0, sizeof(*result));
	result->share = share;
	result->low = interval.low;
	result->high = Min(interval.high, 1);
	if (counts->matching > 0 && !counts->more)
		result->rows_per_match = counts->matches / counts->matching;
	result->nkeys = counts->nrows;
	result->by_bounds = 1;
	result->of_rows = true;
	result->nblocks = counts->nblocks;
}

bool
bloomfam_join_share_may_be(const JoinMatchShare *share, double expected, bool anti)
{
	double		found = share->share;
	double		low = share->low;
	double		high = share->high;

	if (!anti)
		high *= BEYOND_HIGH;
	if (expected > found / MOST_TIMES && expected < found * MOST_TIMES)
	{
		double		power = MOST_DEVIATIONS / DEVIATIONS;

		/* a factor of the range taken to a power is that of as many deviations in logarithms */
		low = found * pow(low / found, power);
		if (!anti)
			high = Max(high, found * pow(share->high / found, power));
	}
	return expected >= low && expected <= high;
}

double
bloomfam_join_share_beside(const JoinMatchShare *share, double expected)
{
	double		prior = share->by_bounds * PRIOR_KEYS / (share->nkeys + PRIOR_KEYS);
	double		posterior = share->share + (expected - share->share) * prior;

	/* where nothing was found there may be less than can be seen */
	return Min(Max(posterior, share->high / LEAST_OF_HIGH), 1);
}

/* Does a size differ so little from another that this may stay? */
static bool
is_near(double size, double other)
{
	return size > other ? size <= other * NEAR_ABOVE : size * NEAR_BELOW >= other;
}

bool
bloomfam_join_share_is_near(const JoinMatchShare *share, double expected, bool anti)
{
	double		used = bloomfam_join_share_beside(share, expected);

	return is_near(used, expected) && (!anti || is_near(1 - used, 1 - expected));
}
