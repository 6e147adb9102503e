/*-------------------------------------------------------------------------
 *
 * s_fpr.c
 *	  The false positive rate and the size that are promised, measured.
 *
 * One row for each kind, rate and number of keys.  The measured rate may exceed the target by five standard deviations of
 * the count of false positives, as if that were binomial with the target's probability.  Few keys give filters that differ
 * much, so their rate is the mean over many filters.  The other checks: bits per key of the payload, and what bf_stats
 * makes of the bits.
 *
 *-------------------------------------------------------------------------
 */
#include "test.h"

#define LN2			0.69314718055994530942
#define BATCH		4096

/* Hash number i of a run: no two are the same, as test_mix is a bijection. */
static inline uint64_t
nth(uint64_t run, uint64_t i)
{
	return test_mix(run * UINT64_C(0x2545f4914f6cdd1d) + i * UINT64_C(0x9e3779b97f4a7c15));
}

static void
add_range(TestFilter *filter, uint64_t run, uint64_t n)
{
	uint64_t	hashes[BATCH];
	uint64_t	i;

	for (i = 0; i < n; i += BATCH)
	{
		uint64_t	batch = BF_MIN(n - i, BATCH);
		uint64_t	j;

		for (j = 0; j < batch; j++)
			hashes[j] = nth(run, i + j);
		test_add(filter, hashes, batch);
	}
}

/* How many of hashes number first to first + n - 1 does the filter claim? */
static uint64_t
claimed(const TestFilter *filter, uint64_t run, uint64_t first, uint64_t n)
{
	uint64_t	hashes[BATCH];
	bool		result[BATCH];
	uint64_t	count = 0;
	uint64_t	i;

	/* in the caches there is nothing to prefetch, and a billion probes to make */
	if (filter->view.head.payload_len < 256 * 1024)
	{
		BfProbe		probe = filter->view.head.kind->prober(&filter->view);

		for (i = 0; i < n; i++)
			count += probe(&filter->view, nth(run, first + i));
		return count;
	}
	for (i = 0; i < n; i += BATCH)
	{
		uint64_t	batch = BF_MIN(n - i, BATCH);
		uint64_t	j;

		for (j = 0; j < batch; j++)
			hashes[j] = nth(run, first + i + j);
		filter->view.head.kind->probe_many(&filter->view, hashes, batch, result);
		for (j = 0; j < batch; j++)
			count += result[j];
	}
	return count;
}

/* The most bits per key that are allowed; 0: nothing is said. */
static double
allowed_bits(const BfKind *kind, double fpr, uint64_t n)
{
	if (n < 100000)
		return 0;
	if (kind->id == BF_KIND_STANDARD)
		return 1.02 * -log(fpr) / (LN2 * LN2);
	if (kind->id == BF_KIND_BLOCKED)
		return fpr == 0.01 ? 10.2 : fpr == 0.001 ? 15.8 : 0;
	return 0;
}

static void
row(const BfKind *kind, double fpr, uint64_t n, uint64_t filters, uint64_t probes)
{
	BfHeader	head = test_plan(kind, fpr, n);
	double		bits = (double) head.payload_len * 8 / (double) n;
	double		allowed = allowed_bits(kind, fpr, n);
	double		start = test_seconds();
	uint64_t	per_filter = probes / filters;
	uint64_t	hits = 0;
	uint64_t	lost = 0;
	double		estimated = 0;
	double		keys = 0;
	double		measured;
	double		sigma;
	char		limit[32] = "-";
	uint64_t	f;

	for (f = 0; f < filters; f++)
	{
		TestFilter	filter = test_empty(&head);
		uint64_t	run = test_random();
		BfStats		stats;

		add_range(&filter, run, n);
		lost += BF_MIN(n, 100000) - claimed(&filter, run, 0, BF_MIN(n, 100000));
		hits += claimed(&filter, run, n, per_filter);
		bf_stats(NULL, &filter.view, &stats);
		estimated += stats.fpr / (double) filters;
		keys += stats.keys / (double) n / (double) filters;
		test_free(&filter);
	}
	probes = per_filter * filters;
	measured = (double) hits / (double) probes;
	sigma = sqrt(fpr * (1 - fpr) / (double) probes);
	if (allowed > 0)
		snprintf(limit, sizeof(limit), "%.3f", allowed);
	printf("%-9s %-7g %9" PRIu64 " %9.3f %8s %11.4g %7.4f %+8.1f %11.4g %7.4f %7" PRIu64 " %10" PRIu64 " %6.1f\n",
		   kind->name, fpr, n, bits,
		   limit, measured, measured / fpr, (measured - fpr) / sigma, estimated, keys, filters, probes,
		   test_seconds() - start);
	fflush(stdout);

	CHECKF(lost == 0, "%s at %g with %" PRIu64 " keys: %" PRIu64 " lost", kind->name, fpr, n, lost);
	CHECKF(measured <= fpr + 5 * sigma, "%s at %g with %" PRIu64 " keys: measured %g, %+.1f sigma", kind->name, fpr, n,
		   measured,
		   (measured - fpr) / sigma);
	CHECKF(allowed == 0 || bits <= allowed, "%s at %g with %" PRIu64 " keys: %g bits per key, allowed %g", kind->name, fpr,
		n, bits, allowed);
	/*
	 * the estimate is of these very filters: nothing but the probes' own noise stands between, and 3 % for blocked's
	 * patterns
	 */
	CHECKF(fabs(estimated - measured) <= 5 * sqrt(fmax(estimated, 1 / (double) probes) / (double) probes) + 0.03 * estimated,
		   "%s at %g with %" PRIu64 " keys: measured %g, estimated %g", kind->name, fpr, n, measured, estimated);
	CHECKF(fabs(keys - 1) <= 0.03, "%s at %g with %" PRIu64 " keys: estimated %g times as many", kind->name, fpr, n, keys);
	/* a filter much better than asked for is a mistake in the other direction */
	CHECKF(n < 1000 || kind->id == BF_KIND_PARQUET || measured >= 0.8 * fpr - 5 * sigma, "%s at %g with %" PRIu64 " keys: measured %g", kind->name, fpr, n,
		measured);
}

static void
rows_of(const BfKind *kind, double fpr)
{
	static const uint64_t numbers[] = {1, 10, 1000, 100000, 10000000};
	int			i;

	for (i = 0; i < 5; i++)
	{
		uint64_t	n = numbers[i];
		uint64_t	filters = n <= 10 ? 2000 : n == 1000 ? 200 : 1;

		/* some 2,000 false positives, 100 million probes at the most */
		row(kind, fpr, n, filters, (uint64_t) fmin(1e8, fmax(2e6, 2000 / fpr)));
	}
}

static void
standard(void)
{
	const BfKind *kind = bf_kind_by_id(BF_KIND_STANDARD);

	rows_of(kind, 0.1);
	rows_of(kind, 0.01);
	rows_of(kind, 0.001);
	rows_of(kind, 0.0001);
	rows_of(kind, 1e-6);
	row(kind, 1e-9, 1000, 20, 1000000000);
}

static void
blocked(void)
{
	const BfKind *kind = bf_kind_by_id(BF_KIND_BLOCKED);

	rows_of(kind, 0.1);
	rows_of(kind, 0.01);
	rows_of(kind, 0.001);
	rows_of(kind, 0.0001);
	rows_of(kind, kind->min_fpr);
}

/* Powers of two: up to twice as large as the rate needs, so that it is met by far. */
static void
parquet(void)
{
	const BfKind *kind = bf_kind_by_id(BF_KIND_PARQUET);

	rows_of(kind, 0.1);
	rows_of(kind, 0.01);
	rows_of(kind, 0.001);
	rows_of(kind, 0.0001);
	rows_of(kind, kind->min_fpr);
}

/*
 * The largest filters take too long to fill, but that their bits are chosen evenly can be seen long before: random throws
 * collide more often where some bits are likelier than others.  Sizes up to the largest, not powers of two, which are the
 * kindest.
 */
static void
bits_are_even(void)
{
	static const double share[] = {0.3, 0.55, 0.72, 0.8, 0.99};
	const BfKind *kind;
	size_t		i;

	for (i = 0; (kind = bf_kind_at(i)) != NULL; i++)
	{
		int			s;

		if (kind->cell_size == 0)
			continue;
		for (s = 0; s < 5; s++)
		{
			uint64_t	cells = (uint64_t) (share[s] * (double) BF_MAX_VALUE_SIZE / kind->cell_size);
			BfHeader	head = test_head(kind, cells, 1);
			TestFilter	filter = test_empty(&head);
			double		throws = 16000000;
			double		m = (double) head.payload_len * 8;
			double		arrays = head.param[0]; /* of which a key sets one bit each */
			double		expected = arrays * throws + m * expm1(throws * log1p(-arrays / m));
			double		collisions;
			BfStats		stats;

			add_range(&filter, test_random(), (uint64_t) throws);
			bf_stats(NULL, &filter.view, &stats);
			collisions = arrays * throws - (double) stats.bits_set;
			printf("%s of %.0f MB: %.0f collisions, expected %.0f, %+.1f sigma\n", kind->name, m / 8e6, collisions, expected,
				   (collisions - expected) / sqrt(expected));
			CHECKF(fabs(collisions - expected) <= 5 * sqrt(expected), "%s of %.0f MB: %.0f collisions, expected %.0f",
				   kind->name, m / 8e6,
				   collisions, expected);
			test_free(&filter);
		}
	}
}

int
main(void)
{
	test_seed(5);
	printf("%-9s %-7s %9s %9s %8s %11s %7s %8s %11s %7s %7s %10s %6s\n", "kind", "fpr", "keys", "bits/key", "allowed",
		   "measured",
		   "/target", "sigma", "estimated", "keys", "filters", "probes", "s");
	RUN(standard);
	RUN(blocked);
	RUN(parquet);
	RUN(bits_are_even);
	return test_finish();
}
