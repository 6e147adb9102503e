/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * s_ribbon.c
 *	  Ribbons of ten million keys: size against the bound, rates, and time beside the floor.
 *
 * The floor is the time of one random read of 64 bytes from an array as large as the filter,
 * batched and prefetched as probes are; it is measured before each filter.  Sizes are those of the
 * whole value, including its header.  Times are printed but not judged, because they depend on what
 * else the machine does. s_ribbon N takes another number of keys.  With LONG=1 there are four times
 * as many probes, two more rates, and the floor.
 *
 *-------------------------------------------------------------------------
 */
#include "test.h"

#define PROBES		(test_is_long() ? UINT64_C(20000000) : UINT64_C(5000000))
#define BATCH		4096

static uint64_t nkeys = 10000000;
static volatile uint64_t sink;

/* Returns the CPU time used, which other processes on the machine do not affect directly. */
static double
cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

/* Returns hash number i of a run.  Run 0 has the keys; other runs have other hashes. */
static inline uint64_t
nth(uint64_t run, uint64_t i)
{
	return test_mix(run * UINT64_C(0x2545f4914f6cdd1d) + i * UINT64_C(0x9e3779b97f4a7c15));
}

/*
 * Returns the time in ns of reading one random cache line of len bytes of memory, with hashes
 * computed as for probes.
 */
static double
floor_ns(uint64_t len)
{
	uint64_t	lines = len / 64;
	uint8_t    *bytes = test_malloc(lines * 64);
	uint64_t	hashes[BATCH];
	uint64_t	sum = 0;
	double		spent = 0;
	uint64_t	i;

	memset(bytes, 1, lines * 64);
	for (i = 0; i < PROBES; i += BATCH)
	{
		double		begin;
		unsigned	j;
		unsigned	k;

		for (j = 0; j < BATCH; j++)
			hashes[j] = nth(3, i + j);
		begin = cpu_seconds();
		for (j = 0; j < BATCH; j += BF_BATCH)
		{
			for (k = j; k < j + BF_BATCH; k++)
				__builtin_prefetch(bytes + bf_cell(hashes[k], lines) * 64);
			for (k = j; k < j + BF_BATCH; k++)
				sum += bf_load64(bytes + bf_cell(hashes[k], lines) * 64);
		}
		spent += cpu_seconds() - begin;
	}
	sink = sum;
	free(bytes);
	return spent * 1e9 / (double) i;
}

/* Probes n hashes of a run, in random order, and returns how many the filter claims to contain. */
static uint64_t
claimed(const TestFilter *filter, uint64_t run, uint64_t n, bool many, double *ns)
{
	const BfKind *kind = filter->view.head.kind;
	BfProbe		probe = kind->prober(&filter->view);
	uint64_t	hashes[BATCH];
	bool		result[BATCH];
	uint64_t	count = 0;
	double		spent = 0;
	uint64_t	i;

	for (i = 0; i < n; i += BATCH)
	{
		uint64_t	batch = BF_MIN(n - i, BATCH);
		double		begin;
		uint64_t	j;

		for (j = 0; j < batch; j++)
			hashes[j] = nth(run, i + j);
		begin = cpu_seconds();
		if (many)
			kind->probe_many(&filter->view, hashes, batch, result);
		else
			for (j = 0; j < batch; j++)
				result[j] = probe(&filter->view, hashes[j]);
		spent += cpu_seconds() - begin;
		for (j = 0; j < batch; j++)
			count += result[j];
	}
	*ns = spent * 1e9 / (double) n;
	return count;
}

static void
one_rate(double fpr, double most)
{
	const BfKind *kind = bf_kind_by_id(BF_KIND_RIBBON);
	double		bound = -log2(fpr);
	uint64_t   *hashes = test_malloc(nkeys * sizeof(uint64_t));
	TestSource	source = {.source.read = test_source_read, .hashes = hashes};
	BfSink		out = {.extend = test_sink_extend};
	BfHeader	head = test_plan(kind, fpr, nkeys);
	TestFilter	filter;
	double		build_ns;
	double		one_ns;
	double		many_ns;
	double		hit_ns;
	double		base;
	double		bits;
	double		rate;
	uint64_t	false_positives;
	const char *reason;
	BfView		view;
	uint64_t	i;

	for (i = 0; i < nkeys; i++)
		hashes[i] = nth(0, i);
	source.source.n = bf_sort_hashes(&test_env, hashes, nkeys);
	test_set_family(&head, nkeys > 0 ? "int8" : "");
	head.keys_added = nkeys;
	build_ns = cpu_seconds();
	CHECK(kind->build(&test_env, &head, &source.source, &out) == BF_OK);
	build_ns = (cpu_seconds() - build_ns) * 1e9 / (double) nkeys;
	free(hashes);
	filter = test_of_payload(&head, &out);
	CHECK(bf_validate(&test_env, filter.data, filter.len, &view, &reason) == BF_OK);

	base = test_is_long() ? floor_ns(filter.len) : 0;
	false_positives = claimed(&filter, 1, PROBES, false, &one_ns);
	CHECK(claimed(&filter, 1, PROBES, true, &many_ns) == false_positives);
	CHECK(claimed(&filter, 0, nkeys, true, &hit_ns) == nkeys);
	CHECK(claimed(&filter, 0, nkeys, false, &rate) == nkeys);

	bits = (double) filter.len * 8 / (double) nkeys;
	rate = (double) false_positives / (double) PROBES;
	printf("%8" PRIu64 " keys  %6.4f %%  %7.4f bits/key, bound %7.4f: %+.3f %%  measured %7.5f %%  build %5.1f  floor %4.1f"
		   "  probe %4.1f, batch %4.1f, batch of keys %4.1f ns\n",
		   nkeys, fpr * 100, bits, bound, (bits / bound - 1) * 100, rate * 100, build_ns, base, one_ns, many_ns, hit_ns);
	CHECKF(bits <= bound * most, "%.4f bits per key", bits);
	CHECKF(fabs((double) false_positives - fpr * (double) PROBES) <= 5 * sqrt(fpr * (double) PROBES) + 1e-3 * fpr * (double) PROBES,
		   "measured %g where %g was asked for", rate, fpr);
	test_free(&filter);
}

static void
at_one_percent(void)
{
	one_rate(0.01, 1.0070);
}

static void
at_one_in_256(void)
{
	one_rate(0.0039, 1.0035);
}

static void
at_one_per_mille(void)
{
	one_rate(0.001, 1.0035);
}

static void
at_one_in_ten_thousand(void)
{
	one_rate(0.0001, 1.0050);
}

int
main(int argc, char **argv)
{
	if (argc > 1)
		nkeys = strtoull(argv[1], NULL, 10);
	RUN(at_one_percent);
	RUN(at_one_in_ten_thousand);
	if (test_is_long())
	{
		RUN(at_one_in_256);
		RUN(at_one_per_mille);
	}
	return test_finish();
}
