/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * s_static.c
 *	  The kinds that are built at once by peeling, at ten million keys: size, false negatives, false
 *	  positive rate, time.
 *
 * Sizes are checked against what the kinds promise.  Times are processor times.  They are printed
 * beside the time of a loop that reads one random 64-byte line for each key from an equal amount of
 * memory, measured at the same moment; they are not judged.  All widths, and times of more than one
 * round, are tested with LONG=1 only.
 *
 *-------------------------------------------------------------------------
 */
#include "test.h"

#define KEYS	10000000
#define PROBES	10000000

static double
cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

/* Returns hash number i; different numbers give different hashes. */
static uint64_t
nth(uint64_t i)
{
	return test_mix((i + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/*
 * Returns the time in ns of reading one random line of 64 bytes from memory of the given size, with
 * 32 lines prefetched together: the best of 5 rounds.
 */
static double
floor_ns(uint64_t bytes)
{
	uint8_t    *memory = test_malloc(bytes + 64);
	double		best = HUGE_VAL;
	uint64_t	sum = 0;
	int			round;

	memset(memory, 1, bytes + 64);
	for (round = 0; round < 5; round++)
	{
		double		start = cpu_seconds();
		uint64_t	i;

		for (i = 0; i < PROBES / 5; i += 32)
		{
			const uint8_t *line[32];
			int			j;

			for (j = 0; j < 32; j++)
			{
				line[j] = memory + bf_cell(nth(i + (uint64_t) j + (uint64_t) round), bytes / 64) * 64;
				__builtin_prefetch(line[j]);
			}
			for (j = 0; j < 32; j++)
				sum += bf_load64(line[j]);
		}
		best = fmin(best, (cpu_seconds() - start) / (PROBES / 5));
	}
	CHECK(sum != 0);
	free(memory);
	return best * 1e9;
}

/*
 * Returns the time in ns per key of probing hashes by probe_many(), the best of several rounds, and
 * stores how many hashes are contained.
 */
static double
probe_ns(const TestFilter *filter, const uint64_t *hashes, uint64_t n, uint64_t *contained)
{
	bool	   *result = test_malloc(n);
	double		best = HUGE_VAL;
	uint64_t	i;
	int			round;

	for (round = 0; round < (test_is_long() ? 3 : 1); round++)
	{
		double		start = cpu_seconds();

		for (i = 0; i < n; i += 4096)
			filter->view.head.kind->probe_many(&filter->view, hashes + i, BF_MIN(n - i, 4096), result + i);
		best = fmin(best, (cpu_seconds() - start) / (double) n);
	}
	for (*contained = 0, i = 0; i < n; i++)
		*contained += result[i];
	free(result);
	return best * 1e9;
}

/* Returns the time in ns per key of probing hashes one after another, with the prober. */
static double
single_ns(const TestFilter *filter, const uint64_t *hashes, uint64_t n)
{
	BfProbe		probe = filter->view.head.kind->prober(&filter->view);
	double		start = cpu_seconds();
	uint64_t	contained = 0;
	uint64_t	i;

	for (i = 0; i < n; i++)
		contained += probe(&filter->view, hashes[i]);
	CHECK(contained <= n);
	return (cpu_seconds() - start) * 1e9 / (double) n;
}

/* Tests one kind.  If arity is not 0, it is the kind's parameter param[1]. */
static void
row(BfKindId id, unsigned arity, unsigned width, double allowed)
{
	const BfKind *kind = bf_kind_by_id(id);
	uint64_t   *hashes = test_malloc(KEYS * sizeof(uint64_t));
	uint64_t   *absent = test_malloc(PROBES * sizeof(uint64_t));
	TestSource	source = {.source.read = test_source_read, .source.n = KEYS, .hashes = hashes};
	BfSink		sink = {.extend = test_sink_extend};
	BfHeader	head = test_plan(kind, ldexp(1, -(int) width), KEYS);
	uint64_t	planned = head.payload_len;
	TestFilter	filter;
	BfStats		stats;
	const char *reason;
	BfView		view;
	double		start;
	double		build;
	double		bits;
	double		hit;
	double		miss;
	double		fpr = ldexp(1, -(int) width);
	double		sigma = sqrt(fpr * (1 - fpr) / PROBES);
	double		measured;
	uint64_t	found;
	uint64_t	false_found;
	uint64_t	stragglers = 0;
	uint64_t	i;

	for (i = 0; i < KEYS; i++)
		hashes[i] = nth(i);
	for (i = 0; i < PROBES; i++)
		absent[i] = nth(KEYS + i);
	CHECK(bf_sort_hashes(&test_env, hashes, KEYS) == KEYS);
	if (arity != 0)
		head.param[1] = arity;
	start = cpu_seconds();
	CHECK(kind->build(&test_env, &head, &source.source, &sink) == BF_OK);
	build = (cpu_seconds() - start) * 1e9 / KEYS;
	CHECK(head.payload_len == sink.len && head.capacity == KEYS);
	for (i = 0; i < head.param[3]; i++)
		stragglers += bf_load32(sink.bytes + i * 16 + 12);

	filter = test_of_payload(&head, &sink);
	CHECKF(bf_validate(&test_env, filter.data, filter.len, &view, &reason) == BF_OK, "%s: %s", kind->name, reason);

	/* in any order but the one that they were built in: for the times */
	for (i = KEYS - 1; i > 0 && test_is_long(); i--)
	{
		uint64_t	other = test_below(i + 1);
		uint64_t	hash = hashes[i];

		hashes[i] = hashes[other];
		hashes[other] = hash;
	}
	hit = probe_ns(&filter, hashes, KEYS, &found);
	miss = probe_ns(&filter, absent, PROBES, &false_found);
	bits = (double) filter.len * 8 / KEYS;
	measured = (double) false_found / PROBES;
	bf_stats(NULL, &filter.view, &stats);
	printf("%-11s %5u %2u %8.3f %7.4f %7.4f %9" PRIu64 " %10.3g %6.1f %6.1f %6.1f %6.1f %6.1f %6.1f\n", kind->name, stats.hashes, width,
		   bits, bits / width, allowed / width, stragglers, measured, (measured - fpr) / sigma, build, hit, miss,
		   test_is_long() ? single_ns(&filter, absent, PROBES) : 0, test_is_long() ? floor_ns(filter.len) : 0);
	fflush(stdout);

	CHECKF(found == KEYS, "%s: %" PRIu64 " keys are lost", kind->name, KEYS - found);
	CHECKF(fabs(measured - fpr) <= 5 * sigma, "%s: FPR %g, %+.1f sigma", kind->name, measured, (measured - fpr) / sigma);
	CHECKF(bits <= allowed, "%s: %g bits per key, allowed %g", kind->name, bits, allowed);
	CHECKF(fabs(stats.fpr / fpr - 1) < 0.01 && stats.keys == KEYS && stats.bits == head.payload_len * 8, "%s: stats", kind->name);
	CHECKF(arity != 0 || fabs((double) planned / (double) head.payload_len - 1) < 0.01, "%s: planned %" PRIu64 ", built %" PRIu64,
		   kind->name, planned, head.payload_len);
	free(hashes);
	free(absent);
	test_free(&filter);
}

static void
ten_million(void)
{
	static const unsigned widths[] = {7, 8, 10, 14};
	int			i;

	/* every day an odd width, else an even one with it, or all */
	for (i = 0; i < 4; i += test_is_everyday() ? 4 : test_is_long() ? 1 : 3)
	{
		double		w = widths[i];

		row(BF_KIND_XOR, 0, widths[i], 1.01 * 1.23 * w);
		row(BF_KIND_XOR_PLUS, 0, widths[i], 1.0824 * w + 0.5125);
		row(BF_KIND_BINARY_FUSE, 3, widths[i], 1.115 * w);
		row(BF_KIND_BINARY_FUSE, 4, widths[i], 1.047 * w);
		row(BF_KIND_BINARY_FUSE, 5, widths[i], 1.034 * w);
	}
}

int
main(void)
{
	test_seed(11);
	printf("%-11s %5s %2s %8s %7s %7s %9s %10s %6s %6s %6s %6s %6s %6s\n", "kind", "arity", "w", "bits/key", "/w", "allowed", "listed", "fpr",
		   "sigma", "build", "hit", "miss", "single", "floor");
	RUN(ten_million);
	return test_finish();
}
