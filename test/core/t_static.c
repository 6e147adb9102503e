/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_static.c
 *	  The kinds that are built at once by peeling, and the code that they share: few keys and many
 *	  shards, usual and crafted hashes.
 *
 *-------------------------------------------------------------------------
 */
#include "test.h"

#include "../../src/core/bf_static.h"

/* A kind, and for binary_fuse its number of positions; the tests run for every such variant. */
typedef struct Variant
{
	BfKindId	id;
	unsigned	arity;
} Variant;

static const Variant variants[] = {
	{BF_KIND_XOR, 0}, {BF_KIND_XOR_PLUS, 0}, {BF_KIND_BINARY_FUSE, 3}, {BF_KIND_BINARY_FUSE, 4}, {BF_KIND_BINARY_FUSE, 5},
};

#define NVARIANTS	(int) (sizeof(variants) / sizeof(variants[0]))

/*
 * Builds a filter of the hashes, which get sorted, in a number of shards; 0 shards: as the kind
 * chooses.
 */
static TestFilter
build(const Variant *variant, unsigned width, uint64_t *hashes, uint64_t n, uint32_t shards)
{
	const BfKind *kind = bf_kind_by_id(variant->id);
	TestSource	source = {.source.read = test_source_read, .hashes = hashes};
	BfSink		sink = {.extend = test_sink_extend};
	TestFilter	filter;
	BfHeader	head;
	BfView		view;
	const char *reason;

	source.source.n = bf_sort_hashes(&test_env, hashes, n);
	head = test_plan(kind, ldexp(1, -(int) width), BF_MAX(source.source.n, 1));
	CHECK(head.param[BF_STATIC_WIDTH] == width);
	if (variant->arity != 0)
		head.param[1] = variant->arity;
	head.param[BF_STATIC_SHARDS] = shards;
	test_set_family(&head, n > 0 ? "int8" : "");
	head.keys_added = n;
	CHECK(kind->build(&test_env, &head, &source.source, &sink) == BF_OK);
	CHECK(head.payload_len == sink.len);

	filter = test_of_payload(&head, &sink);
	CHECKF(bf_validate(&test_env, filter.data, filter.len, &view, &reason) == BF_OK, "%s, %" PRIu64 " keys: %s", kind->name, n, reason);
	return filter;
}

static void
random_hashes(uint64_t *hashes, uint64_t n)
{
	uint64_t	i;

	for (i = 0; i < n; i++)
		hashes[i] = test_random();
}

/*
 * Probes hashes in batches, with AVX-512 and without, and one by one; the answers must agree.
 * Returns how many hashes are contained.
 */
static uint64_t
probe_both_ways(const BfView *view, const uint64_t *hashes, uint64_t n)
{
	BfProbe		probe = view->head.kind->prober(view);
	bool	   *result = test_malloc(n);
	uint64_t	count = 0;
	uint64_t	differ = 0;
	uint64_t	i;

	for (bf_wide_off = false, i = 0; i < 2; bf_wide_off = true, i++)
	{
		uint64_t	j;

		memset(result, 0, n);
		view->head.kind->probe_many(view, hashes, n, result);
		for (j = 0; j < n; j++)
			differ += probe(view, hashes[j]) != result[j];
	}
	bf_wide_off = false;
	CHECKF(differ == 0, "%s: one probe and many disagree on %" PRIu64 " of %" PRIu64, view->head.kind->name, differ, n);
	for (i = 0; i < n; i++)
		count += result[i];
	free(result);
	return count;
}

/* Returns how many of the hashes are contained. */
static uint64_t
contained(const TestFilter *filter, const uint64_t *hashes, uint64_t n)
{
	return probe_both_ways(&filter->view, hashes, n);
}

/* Checks that random hashes are contained as often as the width w promises. */
static void
check_fpr(const TestFilter *filter, uint64_t probes, unsigned width)
{
	uint64_t	hashes[1024];
	double		fpr = ldexp(1, -(int) width);
	double		sigma;
	uint64_t	count = 0;
	uint64_t	i;

	probes = BF_MAX(test_trials(probes), 1024) & ~(uint64_t) 1023;
	sigma = sqrt(fpr * (1 - fpr) * (double) probes);
	for (i = 0; i < probes; i += 1024)
	{
		random_hashes(hashes, 1024);
		count += contained(filter, hashes, 1024);
	}
	CHECKF((double) count <= fpr * (double) probes + 5 * sigma + 1, "%s: %" PRIu64 " of %" PRIu64 ", expected %g",
		   filter->view.head.kind->name, count, probes, fpr * (double) probes);
}

static void
check_keys(const TestFilter *filter, const uint64_t *hashes, uint64_t n, const char *what)
{
	uint64_t	found = contained(filter, hashes, n);

	CHECKF(found == n, "%s, %s: %" PRIu64 " of %" PRIu64 " keys are lost", filter->view.head.kind->name, what, n - found, n);
}

static void
few_keys(void)
{
	static const unsigned widths[] = {1, 7, 8, 13, 32};
	int			v;

	for (v = 0; v < NVARIANTS; v++)
	{
		uint64_t	n;

		for (n = 0; n <= 200; n++)
		{
			int			i;

			for (i = 0; i < 5; i++)
			{
				uint64_t	hashes[200];
				TestFilter	filter;
				BfStats		stats;

				random_hashes(hashes, n);
				filter = build(&variants[v], widths[i], hashes, n, 0);
				check_keys(&filter, hashes, n, "few");
				bf_stats(NULL, &filter.view, &stats);
				CHECK(stats.keys == (double) n && stats.bits == filter.view.head.payload_len * 8);
				CHECK(stats.fpr <= ldexp(1.01, -(int) widths[i]) && (n > 0) == (stats.fpr > 0));
				if (n % 20 < 3)
					check_fpr(&filter, 20480, widths[i]);
				/* a list of few, or a table */
				CHECKF(filter.view.head.payload_len <= 24 + n * (widths[i] + 9) / 8 + 1, "%" PRIu64 " keys take %" PRIu64 " bytes", n,
					   filter.view.head.payload_len);
				test_free(&filter);
			}
		}
	}
}

/*
 * Checks the false positive rate of filters of few keys.  The rates of single filters differ, but
 * their mean is as promised.
 */
static void
fpr_of_few(void)
{
	static const uint64_t numbers[] = {1, 2, 3, 10, 30, 100};
	int			v;
	int			i;

	for (v = 0; v < NVARIANTS; v++)
		for (i = 0; i < 6; i++)
		{
			uint64_t	count = 0;
			double		probes = 0;
			int			round;

			for (round = 0; round < (int) test_trials(200); round++)
			{
				uint64_t	hashes[1024];
				TestFilter	filter;

				random_hashes(hashes, numbers[i]);
				filter = build(&variants[v], 7, hashes, numbers[i], 0);
				random_hashes(hashes, 1024);
				count += contained(&filter, hashes, 1024);
				probes += 1024;
				test_free(&filter);
			}
			CHECKF((double) count <= probes / 128 + 5 * sqrt(probes / 128), "%" PRIu64 " keys: %" PRIu64 " of %g", numbers[i], count, probes);
		}
}

static void
many_keys(void)
{
	static const uint64_t numbers[] = {1000, 10000, 100000};
	static const unsigned widths[] = {2, 7, 10, 14, 25};
	uint64_t   *hashes = test_malloc(100000 * sizeof(uint64_t));
	int			v;
	int			i;
	int			w;

	for (v = 0; v < NVARIANTS; v++)
		for (i = 0; i < 3; i++)
			for (w = 0; w < 5; w++)
			{
				uint64_t	n = numbers[i];
				TestFilter	filter;
				TestFilter	same;

				random_hashes(hashes, n);
				/* in any number of shards */
				filter = build(&variants[v], widths[w], hashes, n, w == 0 ? 0 : (uint32_t) test_below(12));
				check_keys(&filter, hashes, n, "many");
				check_fpr(&filter, n == 100000 ? 100000 : 10000, widths[w]);
				test_free(&filter);

				/* in another order, and with one key in ten twice: the same bytes, but for the number of additions */
				filter = build(&variants[v], widths[w], hashes, n - n / 10, 0);
				memcpy(hashes + n - n / 10, hashes, n / 10 * sizeof(uint64_t));
				hashes[0] ^= hashes[n - 1];
				hashes[n - 1] ^= hashes[0];
				hashes[0] ^= hashes[n - 1];
				same = build(&variants[v], widths[w], hashes, n, 0);
				CHECK(filter.len == same.len && memcmp(test_payload(&filter), test_payload(&same), filter.view.head.payload_len) == 0);
				test_free(&filter);
				test_free(&same);
			}
	free(hashes);
}

/* Tests one shard more or less than the keys fill, and shards without keys. */
static void
shards(void)
{
	uint64_t	hashes[3000];
	int			v;
	uint32_t	count;

	for (v = 0; v < NVARIANTS; v++)
		for (count = 1; count < 10000; count = count * 3 + 1)
		{
			TestFilter	filter;

			random_hashes(hashes, 3000);
			filter = build(&variants[v], 9, hashes, 3000, count);
			CHECK(filter.view.head.param[BF_STATIC_SHARDS] == count);
			check_keys(&filter, hashes, 3000, "shards");
			check_fpr(&filter, 20480, 9);
			test_free(&filter);
		}
}

/* Tests hashes that no hash function gives. */
static void
crafted(void)
{
	enum
	{
		N = 20000
	};
	uint64_t   *hashes = test_malloc(N * sizeof(uint64_t));
	int			v;
	int			what;

	for (v = 0; v < NVARIANTS; v++)
		for (what = 0; what < 7; what++)
		{
			static const char *const names[] = {"0, 1, 2", "high 40 bits", "low 40 bits", "one place", "one cell", "powers of two",
			"in order"};
			uint32_t	cuts;

			for (cuts = 0; cuts < 8; cuts += 7)
			{
				TestFilter	filter;
				uint64_t	n = what == 5 ? 64 : N;
				uint64_t	i;

				for (i = 0; i < n; i++)
				{
					uint64_t	order = i;

					switch (what)
					{
						case 0:
							hashes[i] = i;
							continue;
						case 1:
							hashes[i] = UINT64_C(0xabcdef0123000000) + i * 7;
							continue;
						case 2:
							hashes[i] = (i << 40) + UINT64_C(0x123456789a);
							continue;
						case 3:
							order = UINT64_C(0x7777777777000000) + i;
							break;
						case 4:
							order = UINT64_C(0x8888000000000000) + (i << 20);
							break;
						case 5:
							hashes[i] = UINT64_C(1) << i;
							continue;
						default:
							order = i * (UINT64_MAX / N);
							break;
					}
					hashes[i] = order * BF_ORDER_INVERSE;
				}
				filter = build(&variants[v], 8, hashes, n, cuts);
				check_keys(&filter, hashes, n, names[what]);
				check_fpr(&filter, 20480, 8);
				/* at the worst a list of all, each by w + ceil(log2(n)) bits */
				CHECKF(filter.view.head.payload_len <= 8 + 16 * 8 + n * 23 / 8 + 8, "%s: %" PRIu64 " bytes", names[what],
					   filter.view.head.payload_len);
				test_free(&filter);
			}
		}
	free(hashes);
}

/*
 * Tests a shard that gets far more keys than it should: its keys are listed, and the next shard is
 * not changed.
 */
static void
overfull(void)
{
	enum
	{
		N = BF_SHARD_MAX_KEYS + 5000
	};
	uint64_t   *hashes = test_malloc(N * sizeof(uint64_t));
	const Variant *variant = &variants[3];
	TestFilter	filter;
	uint64_t	i;

	for (i = 0; i < N - 5000; i++)
		hashes[i] = (test_random() >> 3) * BF_ORDER_INVERSE;
	for (i = N - 5000; i < N; i++)
		hashes[i] = test_random();
	filter = build(variant, 8, hashes, N, 2);
	CHECK(bf_load32(filter.view.payload + 8) == 0 && bf_load32(filter.view.payload + 12) > BF_SHARD_MAX_KEYS);
	CHECK(bf_load32(filter.view.payload + 16 + 8) != 0);
	check_keys(&filter, hashes, N, "overfull");
	check_fpr(&filter, 20480, 8);
	test_free(&filter);
	free(hashes);
}

/*
 * Checks that the planned scratch memory is sufficient: fewer keys than planned may need more of
 * it.
 */
static void
uneven_shards(void)
{
	uint64_t	hashes[4200];
	int			v;
	uint64_t	n;

	for (v = 0; v < NVARIANTS; v++)
		for (n = 1; n < 4200; n += 1 + n / 7)
		{
			TestFilter	filter;
			uint64_t	i;

			/* nearly all of them in the first of two shards */
			for (i = 0; i < n; i++)
				hashes[i] = (test_random() >> 1) * BF_ORDER_INVERSE;
			hashes[0] = test_random();
			filter = build(&variants[v], 5, hashes, n, 2);
			check_keys(&filter, hashes, n, "uneven");
			test_free(&filter);
		}
}

/* Does everything that can be done with an opened value, whatever its bytes are. */
static void
use(const uint8_t *data, size_t len)
{
	const char *reason;
	BfView		view;
	BfStats		stats;
	uint64_t	hashes[64];

	if (bf_open(data, len, len, &view, &reason) != BF_OK)
		return;
	random_hashes(hashes, 64);
	probe_both_ways(&view, hashes, 64);
	bf_stats(NULL, &view, &stats);
	view.head.kind->validate(&test_env, &view);
}

/*
 * Changes every byte of the parameters and of the payload in several ways, with a correct checksum.
 * A value that is still valid might lack any key, so the test only checks that nothing is read out
 * of bounds.
 */
static void
changed_bytes(void)
{
	static const uint64_t numbers[] = {0, 1, 5, 40, 300};
	static const uint8_t changes[] = {0x01, 0x80, 0xff, 0x10};
	int			v;
	int			i;

	for (v = 0; v < NVARIANTS; v++)
		for (i = 0; i < 5; i++)
		{
			uint64_t	hashes[300];
			TestFilter	filter;
			size_t		at;

			random_hashes(hashes, numbers[i]);
			filter = build(&variants[v], 6, hashes, numbers[i], i == 4 ? 3 : 0);
			for (at = BF_OFF_CAPACITY; at < filter.len; at++)
			{
				int			c;

				if (at >= BF_OFF_KEYS_ADDED + 8 && at < BF_OFF_PARAM)
					continue;
				for (c = 0; c < 4; c++)
				{
					filter.data[at] ^= changes[c];
					use(filter.data, filter.len);
					filter.data[at] ^= changes[c];
				}
			}
			/* the payload shorter than it says */
			for (at = BF_FIXED_HEADER_SIZE; at < filter.len; at++)
			{
				uint8_t    *copy = test_malloc(at);

				memcpy(copy, filter.data, at);
				if (at >= bf_payload_offset(filter.view.head.family_len))
					bf_store64(copy + BF_OFF_PAYLOAD_LEN, at - bf_payload_offset(filter.view.head.family_len));
				use(copy, at);
				free(copy);
			}
			test_free(&filter);
		}
}

/* Tests directories with numbers that come close to overflows. */
static void
hostile_directories(void)
{
	static const uint64_t numbers[] = {0, 1, 7, 31, 32, 33, 8, 100, 1000, 0x7fffffff, 0x80000000, 0xffffffe0, 0xffffffff,
	UINT64_C(0x7fffffffffffffff), UINT64_MAX - 7, UINT64_MAX};
	int			v;
	int			a;
	int			b;
	int			c;

	for (v = 0; v < NVARIANTS; v++)
	{
		uint64_t	hashes[500];
		TestFilter	filter;

		random_hashes(hashes, 500);
		filter = build(&variants[v], 32, hashes, 500, 1);
		for (a = 0; a < 16; a++)
			for (b = 0; b < 13; b++)
				for (c = 0; c < 13; c++)
				{
					uint8_t    *entry = test_payload(&filter);

					bf_store64(entry, numbers[a]);
					bf_store32(entry + 8, (uint32_t) numbers[b]);
					bf_store32(entry + 12, (uint32_t) numbers[c]);
					use(filter.data, filter.len);
				}
		test_free(&filter);
	}
}

/* Checks that bf_validate() rejects each kind of invalid value. */
static void
rejected(void)
{
	int			v;

	for (v = 0; v < NVARIANTS; v++)
	{
		uint64_t	hashes[20000];
		TestFilter	filter;
		uint64_t	length;
		uint64_t	bit;
		uint8_t    *entry;
		uint8_t    *gate;
		uint32_t	stragglers;
		int			i;
		const BfKind *kind = bf_kind_by_id(variants[v].id);

		random_hashes(hashes, 20000);
		filter = build(&variants[v], 7, hashes, 20000, 2);
		CHECK(kind->validate(&test_env, &filter.view) == NULL);
		length = filter.view.head.payload_len;
		/* the directory, the padding at the end */
		for (i = 0; i < 16 * 2; i++)
		{
			if (i % 16 >= 8 && i % 16 < 12 && variants[v].id != BF_KIND_XOR_PLUS)
				continue;		/* geometries may stand for the same length */
			filter.data[bf_payload_offset(4) + (unsigned) i] ^= 0x41;
			CHECKF(kind->validate(&test_env, &filter.view) != NULL, "%s: byte %d of the directory", kind->name, i);
			filter.data[bf_payload_offset(4) + (unsigned) i] ^= 0x41;
		}
		for (i = 1; i <= 8; i++)
		{
			test_payload(&filter)[length - (unsigned) i] ^= 0x10;
			CHECK(kind->validate(&test_env, &filter.view) != NULL);
			test_payload(&filter)[length - (unsigned) i] ^= 0x10;
		}
		/* each bit of the gate, each of the list but the lowest, where order decides */
		entry = test_payload(&filter);
		stragglers = bf_load32(entry + 12);
		CHECK((variants[v].arity != 0) == (stragglers > 0));
		gate = entry + bf_load64(entry) - stragglers * BF_STATIC_GATE;
		for (bit = 0; bit < (uint64_t) stragglers * BF_STATIC_GATE * 8; bit++)
		{
			gate[bit >> 3] ^= (uint8_t) (1 << (bit & 7));
			CHECKF(kind->validate(&test_env, &filter.view) != NULL, "%s: bit %" PRIu64 " of the gate", kind->name, bit);
			gate[bit >> 3] ^= (uint8_t) (1 << (bit & 7));
		}
		CHECK(kind->validate(&test_env, &filter.view) == NULL);
		test_free(&filter);
	}
}

/* Checks the design: w and the parameters that depend on it. */
static void
designs(void)
{
	int			v;

	for (v = 0; v < NVARIANTS; v++)
	{
		const BfKind *kind = bf_kind_by_id(variants[v].id);
		BfDesign	design;
		BfHeader	head;
		unsigned	w;

		for (w = 1; w <= 32; w++)
		{
			CHECK(bf_design(kind, ldexp(1, -(int) w), &design) == BF_OK && design.param[0] == w);
			CHECK(design.expected_fpr == ldexp(1, -(int) w));
			CHECK(bf_design(kind, ldexp(1.999, -(int) w), &design) == BF_OK && design.param[0] == w);
		}
		CHECK(bf_design(kind, 0x1p-33, &design) == BF_FPR_TOO_LOW);
		CHECK(bf_design(kind, 0.01, &design) == BF_OK && design.param[0] == 7);
		CHECK(bf_plan(&design, UINT64_C(1) << 31, &head) == BF_TOO_LARGE);
		CHECK(bf_plan(&design, UINT64_MAX, &head) == BF_TOO_LARGE);
		CHECK(bf_plan(&design, 1, &head) == BF_OK && head.payload_len == 25);
		CHECK(bf_kind_check(kind) == NULL);
	}
}

int
main(void)
{
	test_seed(3);
	RUN(designs);
	RUN(few_keys);
	RUN(fpr_of_few);
	RUN(many_keys);
	RUN(shards);
	RUN(crafted);
	RUN(overfull);
	RUN(uneven_shards);
	RUN(changed_bytes);
	RUN(hostile_directories);
	RUN(rejected);
	return test_finish();
}
