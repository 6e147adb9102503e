/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_ribbon.c
 *	  The ribbon kind: no key is missed, rates between powers of two are met, equal sets make equal
 *	  bytes, and neither crafted hashes nor broken bytes do worse than cost space.
 *
 *-------------------------------------------------------------------------
 */
#include "test.h"

#include "../../src/core/bf_static.h"

#define MAX_KEYS	100000

static uint64_t keys[MAX_KEYS];
static const double rates[] = {0.9, 0.6, 0.5, 0.3, 0.1, 0.05, 0.01, 0.0039, 0.001, 1e-4, 3e-7};

#define NRATES	(sizeof(rates) / sizeof(rates[0]))

static const BfKind *
ribbon(void)
{
	return bf_kind_by_id(BF_KIND_RIBBON);
}

static void
random_keys(uint64_t n)
{
	uint64_t	i;

	for (i = 0; i < n; i++)
		keys[i] = test_random();
}

/* Probes hashes in batches, with AVX-512 and without; the answers must agree. */
static void
probe_many(const BfView *view, const uint64_t *hashes, uint64_t n, bool *result)
{
	bool	   *narrow = test_malloc(n * sizeof(bool));

	bf_wide_off = true;
	ribbon()->probe_many(view, hashes, n, narrow);
	bf_wide_off = false;
	ribbon()->probe_many(view, hashes, n, result);
	CHECK(memcmp(narrow, result, n * sizeof(bool)) == 0);
	free(narrow);
}

/* Builds a filter with AVX-512 and without; the bytes must be the same. */
static TestFilter
build_both_ways(double fpr, uint64_t n)
{
	TestFilter	filter = test_build(ribbon(), fpr, keys, n);
	TestFilter	narrow;

	bf_wide_off = true;
	narrow = test_build(ribbon(), fpr, keys, n);
	bf_wide_off = false;
	CHECKF(narrow.len == filter.len && memcmp(narrow.data, filter.data, filter.len) == 0, "%" PRIu64 " keys at %g: bytes differ", n, fpr);
	test_free(&narrow);
	return filter;
}

/*
 * Builds a filter of the first n keys, which are sorted by that; validates it, and looks up each
 * key, one by one and in batches.
 */
static TestFilter
build(double fpr, uint64_t n, const char *what)
{
	TestFilter	filter = build_both_ways(fpr, n);
	BfProbe		probe = ribbon()->prober(&filter.view);
	BfProbe		twin = n > 0 ? bf_ribbon_scalar_twin() : probe;
	bool	   *result = test_malloc(n * sizeof(bool));
	uint64_t	missed = 0;
	const char *reason = "";
	BfStats		stats;
	BfView		view;
	uint64_t	i;

	CHECKF(bf_validate(&test_env, filter.data, filter.len, &view, &reason) == BF_OK, "%s: %" PRIu64 " keys at %g: %s", what, n, fpr, reason);
	probe_many(&filter.view, keys, n, result);
	for (i = 0; i < n; i++)
		missed += !result[i] || !probe(&filter.view, keys[i]) || !twin(&filter.view, keys[i]);
	CHECKF(missed == 0, "%s: %" PRIu64 " of %" PRIu64 " keys missed at %g", what, missed, n, fpr);
	free(result);

	bf_stats(&test_env, &filter.view, &stats);
	/* a list beside a table may add the 1024th part */
	CHECKF(stats.fpr <= fpr * 1025 / 1024 && stats.hashes == 1 && stats.fill < 0 && stats.bits == filter.view.head.payload_len * 8,
		   "%s: %" PRIu64 " keys at %g: stats say %g", what, n, fpr, stats.fpr);
	return filter;
}

/*
 * Returns how many of n other hashes the filter claims to contain.  All three ways of asking must
 * agree.
 */
static uint64_t
claimed(const TestFilter *filter, uint64_t n)
{
	BfProbe		probe = ribbon()->prober(&filter->view);
	BfProbe		twin = filter->view.head.param[BF_STATIC_SHARDS] > 0 ? bf_ribbon_scalar_twin() : probe;
	uint64_t	hashes[256];
	bool		result[256];
	uint64_t	count = 0;
	uint64_t	differ = 0;
	uint64_t	i;

	for (i = 0; i < n; i += 256)
	{
		uint64_t	batch = BF_MIN(n - i, 256);
		uint64_t	j;

		for (j = 0; j < batch; j++)
			hashes[j] = test_random();
		probe_many(&filter->view, hashes, batch, result);
		for (j = 0; j < batch; j++)
		{
			count += result[j];
			differ += result[j] != probe(&filter->view, hashes[j]) || result[j] != twin(&filter->view, hashes[j]);
		}
	}
	CHECKF(differ == 0, "%" PRIu64 " answers differ between one by one, scalar and batch", differ);
	return count;
}

static void
check_rate(uint64_t count, uint64_t probes, double fpr, uint64_t n)
{
	double		expected = fpr * (double) probes;

	CHECKF((double) count <= expected + 5 * sqrt(expected * (1 - fpr)) + 1, "%" PRIu64 " keys at %g: %" PRIu64 " of %" PRIu64 " claimed",
		   n, fpr, count, probes);
}

/* Returns the number of columns per slot; a ternary column counts 1.6. */
static double
columns(const uint32_t *param)
{
	return param[0] - param[2] + (param[2] ? 0.6 : -0.4) * param[1] / 65536.0;
}

static void
every_small_number(void)
{
	uint64_t	n;
	unsigned	r;

	for (r = 0; r < NRATES; r++)
	{
		uint64_t	count = 0;
		uint64_t	probes = 0;

		for (n = 0; n <= 200; n++)
		{
			TestFilter	filter;

			random_keys(n);
			filter = build(rates[r], n, "small");
			CHECK(n > 0 || claimed(&filter, 256) == 0);
			if (n > 0)
			{
				count += claimed(&filter, 1000);
				probes += 1000;
			}
			/* a list alone takes w + log2 n bits a key and 24 bytes more */
			CHECKF(filter.view.head.payload_len <= 32 + n * 48 / 8, "%" PRIu64 " keys at %g: %" PRIu64 " bytes", n, rates[r],
				   filter.view.head.payload_len);
			test_free(&filter);
		}
		check_rate(count, probes, rates[r], 200);
	}
}

/*
 * Checks that the rate is met, and is lower only as far as the coarseness of groups requires, and
 * that sizes are as promised.
 */
static void
larger_numbers(void)
{
	static const uint64_t numbers[] = {1000, 10000, 100000};
	static const double most[] = {1.5, 1.06, 1.007};
	unsigned	i;
	unsigned	r;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		for (r = 0; r < NRATES; r++)
		{
			uint64_t	n = numbers[i];
			uint64_t	probes = rates[r] < 1e-5 ? 256 : 200000;
			BfHeader	head = test_plan(ribbon(), rates[r], n);
			double		width = columns(head.param);
			TestFilter	filter;
			double		bits;
			uint64_t	count;

			random_keys(n);
			filter = build(rates[r], n, "large");
			count = claimed(&filter, probes);
			check_rate(count, probes, rates[r], n);
			if (n == 100000 && rates[r] <= 0.5)
				CHECKF((double) count >= 0.99 * rates[r] * (double) probes - 5 * sqrt(rates[r] * (double) probes) - 1,
					   "%g: only %" PRIu64 " claimed", rates[r], count);
			bits = (double) filter.view.head.payload_len * 8 / (double) n;
			CHECKF(width < 1 || bits <= width * most[i] + 0.025, "%" PRIu64 " keys at %g: %.4f bits per key for %.4f columns", n, rates[r], bits, width);
			CHECKF(fabs((double) filter.view.head.payload_len / (double) head.payload_len - 1) < (n == 1000 ? 0.3 : 0.03),
				   "%" PRIu64 " keys at %g: planned %" PRIu64 " bytes, built %" PRIu64, n, rates[r], head.payload_len, filter.view.head.payload_len);
			test_free(&filter);
		}
}

/* Checks that a design says the resulting rate, which is at most the requested one. */
static void
designs(void)
{
	double		fpr;

	for (fpr = 0.999; fpr > 1.1e-9; fpr *= 0.93)
	{
		BfDesign	design;

		CHECK(bf_design(ribbon(), fpr, &design) == BF_OK);
		if (fpr >= 0.5)
		{
			CHECK(design.expected_fpr == 0.5 && design.millibits == 1018);
			continue;
		}
		CHECKF(design.expected_fpr <= fpr && design.expected_fpr > fpr * 0.9999, "%g comes to %g", fpr, design.expected_fpr);
		CHECKF(design.millibits >= -log2(fpr) * 1000 && design.millibits < -log2(fpr) * 1002 + 64, "%g takes %u", fpr, design.millibits);
		CHECK(fabs(design.millibits - 17 - columns(design.param) * 1001) < 2);
	}
	{
		BfDesign	design;

		CHECK(bf_design(ribbon(), 0.0078125, &design) == BF_OK && design.param[0] == 7 && design.param[1] == 0 && design.param[2] == 0);
		CHECK(bf_design(ribbon(), 0.5, &design) == BF_OK && design.param[0] == 1 && design.param[1] == 0 && design.param[2] == 0);
		CHECK(bf_design(ribbon(), 9e-10, &design) == BF_FPR_TOO_LOW);
	}
}

/* Checks that neither the order nor the repetition of keys changes the filter. */
static void
order_and_repetition(void)
{
	static const uint64_t numbers[] = {1, 30, 200, 5000, 40000};
	unsigned	i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
	{
		uint64_t	n = numbers[i];
		TestFilter	a;
		TestFilter	b;
		uint64_t	j;

		random_keys(n);
		a = build(0.01, n, "in order");
		for (j = n; j > 1; j--)
		{
			uint64_t	other = test_below(j);
			uint64_t	key = keys[j - 1];

			keys[j - 1] = keys[other];
			keys[other] = key;
		}
		memcpy(keys + n, keys, n * sizeof(uint64_t));
		b = test_build(ribbon(), 0.01, keys, 2 * n);
		CHECKF(a.view.head.payload_len == b.view.head.payload_len &&
			   memcmp(a.view.payload, b.view.payload, a.view.head.payload_len) == 0 && b.view.head.capacity == n,
			   "%" PRIu64 " keys in another order, twice, give other bytes", n);
		test_free(&a);
		test_free(&b);
	}
}

/*
 * Tests hashes that no hash function gives: the filter is right, no larger than a list of the
 * hashes, and built in no more time.
 */
static void
crafted(void)
{
	static const char *const what[] = {"low bits", "high bits", "counted", "one start", "one start in any layer", "one row"};
	unsigned	kind;

	for (kind = 0; kind < sizeof(what) / sizeof(what[0]); kind++)
	{
		static const uint64_t numbers[] = {10, 100, 1000, 20000, 100000};
		unsigned	i;

		for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		{
			uint64_t	n = numbers[i];
			TestFilter	filter;
			double		bits;
			uint64_t	j;

			for (j = 0; j < n; j++)
				switch (kind)
				{
					case 0:
						keys[j] = UINT64_C(0x123456789a) << 24 | j;
						break;
					case 1:
						keys[j] = j << 40 | 0x3456789a;
						break;
					case 2:
						keys[j] = j;
						break;
					case 3:		/* one place, nearly: BF_ORDER_INVERSE takes bf_order() back */
						keys[j] = (UINT64_C(0x7777777777700000) + j) * BF_ORDER_INVERSE;
						break;
					case 4:		/* few mixes: a mix is the product of something of which only the low half varies */
						keys[j] = j * UINT64_C(0x100000001);
						break;
					default:	/* in steps that the order takes to the top */
						keys[j] = (j << 47) * BF_ORDER_INVERSE;
						break;
				}
			filter = build(0.01, n, what[kind]);
			bits = (double) filter.len * 8 / (double) n;
			CHECKF(bits <= 7 + 10 + 17 + 16 + 1200.0 / (double) n, "%s: %" PRIu64 " keys take %.2f bits each", what[kind], n, bits);
			test_free(&filter);
		}
	}
}

/* Tests several shards with few keys, some of them with none. */
static void
shards(void)
{
	static const uint32_t numbers[] = {1, 2, 3, 11, 40, 1000};	/* up to 11: enough keys in each for several layers */
	unsigned	i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
	{
		TestSource	source = {.source.read = test_source_read, .hashes = keys};
		BfSink		sink = {.extend = test_sink_extend};
		BfHeader	head = test_plan(ribbon(), 0.01, 20000);
		TestFilter	filter;
		const char *reason;
		BfView		view;
		uint64_t	missed = 0;
		bool		result[2500];
		uint64_t	j;

		random_keys(20000);
		/* none in the first quarter */
		for (j = 0; j < 20000; j++)
			if (bf_order(keys[j]) >> 62 == 0)
				keys[j] = (bf_order(keys[j]) | UINT64_C(1) << 63) * BF_ORDER_INVERSE;
		source.source.n = bf_sort_hashes(&test_env, keys, 20000);
		head.param[BF_STATIC_SHARDS] = numbers[i];
		head.keys_added = source.source.n;
		test_set_family(&head, source.source.n > 0 ? "int8" : "");
		CHECK(ribbon()->build(&test_env, &head, &source.source, &sink) == BF_OK && head.payload_len == sink.len);
		filter = test_of_payload(&head, &sink);
		CHECK(bf_validate(&test_env, filter.data, filter.len, &view, &reason) == BF_OK);
		for (j = 0; j < source.source.n; j++)
			missed += !test_probe(&filter, keys[j]);
		/* in batches that go from shard to shard, more than there are in a chunk */
		for (j = 0; j < 20000; j += 2500)
		{
			uint64_t	hashes[2500];
			unsigned	k;

			for (k = 0; k < 2500; k++)
				hashes[k] = keys[test_below(source.source.n)];
			probe_many(&filter.view, hashes, 2500, result);
			for (k = 0; k < 2500; k++)
				missed += !result[k];
		}
		CHECKF(missed == 0, "%" PRIu64 " keys missed in %u shards", missed, numbers[i]);
		check_rate(claimed(&filter, 100000), 100000, 0.01, 20000);
		test_free(&filter);
	}
}

/*
 * Changes each byte of the payload and each parameter, with a correct checksum: the value is
 * refused, or is still safe to probe, one by one and in batches.
 */
static void
broken_bytes(void)
{
	static const uint64_t numbers[] = {0, 1, 20, 150, 2000};
	static const uint8_t flips[] = {0x01, 0x80, 0xff};
	uint64_t	refused = 0;
	uint64_t	safe = 0;
	unsigned	i;
	unsigned	f;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
	{
		TestFilter	filter;
		size_t		at;

		random_keys(numbers[i]);
		filter = build(0.01, numbers[i], "broken");
		for (at = BF_OFF_CAPACITY; at < filter.len; at++)
			for (f = 0; f < sizeof(flips); f++)
			{
				const char *reason;
				bool		result[64];
				BfView		view;

				/* the name, the bits of large tables: one is as good as another */
				if (at > 2000 && at % 13 != 0)
					continue;
				filter.data[at] ^= flips[f];
				if (bf_open(filter.data, filter.len, filter.len, &view, &reason) == BF_OK)
				{
					uint64_t	hashes[64];
					BfStats		stats;
					unsigned	j;

					for (j = 0; j < 64; j++)
						hashes[j] = test_random();
					probe_many(&view, hashes, 64, result);
					for (j = 0; j < 64; j++)
						CHECK(ribbon()->prober(&view) (&view, hashes[j]) == result[j]);
					bf_stats(&test_env, &view, &stats);
					bf_seal(&test_env, filter.data, filter.len);
					if (bf_validate(&test_env, filter.data, filter.len, &view, &reason) == BF_OK)
						safe++;
					else
						refused++;
				}
				else
					refused++;
				filter.data[at] ^= flips[f];
			}
		test_free(&filter);
	}
	CHECKF(refused > 500 && safe > 500, "%" PRIu64 " refused, %" PRIu64 " taken", refused, safe);
}

/*
 * Computes the size in bytes of a layer at 1 %, for at least 24 blocks, by repeating the format's
 * arithmetic.
 */
static uint64_t
first_layer_len(const BfHeader *head, uint64_t blocks)
{
	uint64_t	ternary = (blocks - 2) * head->param[1] / 65536 / 5 * 5;

	return 4 + (blocks + 7) / 8 + blocks * 5 * 8 + (blocks - ternary) * 2 * 8 + ternary / 5 * 64;
}

/* Tests changes that no solver makes, and the reason given for refusing each of them. */
static void
refused(void)
{
	TestFilter	filter;
	uint32_t	geometry;
	uint64_t	table;
	uint8_t    *payload;
	const char *reason;
	BfView		view;

#define REFUSED(change, undo, why) \
	do { \
		change; \
		bf_seal(&test_env, filter.data, filter.len); \
		reason = "nothing"; \
		CHECKF(bf_validate(&test_env, filter.data, filter.len, &view, &reason) == BF_CORRUPT && strcmp(reason, why) == 0, "%s: %s", #change, reason); \
		undo; \
	} while (0)

	random_keys(2000);
	filter = build(0.01, 2000, "refused");
	payload = test_payload(&filter);
	table = bf_load64(payload);
	geometry = bf_load32(payload + 8);
	CHECK(geometry > 8 && geometry % 8 != 0 && bf_load32(payload + table) > 0);
	REFUSED(bf_store32(payload + 8, 1), bf_store32(payload + 8, geometry), "a layer is too short");
	REFUSED(bf_store32(payload + 8, 1 << 20), bf_store32(payload + 8, geometry), "a layer reaches beyond the payload");
	REFUSED(payload[table + 4 + geometry / 8] ^= 0x80, payload[table + 4 + geometry / 8] ^= 0x80, "the padding of thresholds is not zero");
	{
		uint32_t	next = bf_load32(payload + table);

		REFUSED(bf_store32(payload + table, 1 << 20), bf_store32(payload + table, next), "a layer reaches beyond the payload");
		REFUSED(bf_store32(payload + table, 0), bf_store32(payload + table, next), "the payload does not end with its last shard");
	}
	{
		/* the first layer's last group lies before the next layer: all bytes but 13, of which 1 is one, hold five digits */
		uint64_t	next = table + first_layer_len(&filter.view.head, geometry);
		uint8_t		byte = payload[next - 1];

		REFUSED(payload[next - 1] = 1, payload[next - 1] = byte, "a byte does not hold five digits");
	}
	REFUSED(bf_store32(filter.data + BF_OFF_PARAM + 4, 65537), bf_store32(filter.data + BF_OFF_PARAM + 4, filter.view.head.param[1]),
			"the share of ternary blocks is out of range");
	REFUSED(filter.data[BF_OFF_PARAM + 8] = 2, filter.data[BF_OFF_PARAM + 8] = 0, "the share of ternary blocks is out of range");
	test_free(&filter);
#undef REFUSED
}

int
main(void)
{
	test_seed(20261121);
	RUN(designs);
	RUN(every_small_number);
	RUN(larger_numbers);
	RUN(order_and_repetition);
	RUN(crafted);
	RUN(shards);
	RUN(broken_bytes);
	RUN(refused);
	return test_finish();
}
