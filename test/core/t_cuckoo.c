/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_cuckoo.c
 *	  The cuckoo filter: compared with a multiset of what it keeps of a key; full tables, equal
 *	  keys, and corrupt bytes.
 *
 *-------------------------------------------------------------------------
 */
#include "test.h"

#define MAX_KEYS	200000

static const BfKind *kind;
static uint64_t keys[MAX_KEYS];

/* Makes an empty filter with exactly the given numbers of bucket pairs and of bits in a tag. */
static TestFilter
table(uint64_t pairs, uint32_t bits)
{
	BfHeader	head = test_plan(kind, 0.01, 1);

	head.param[0] = bits;
	head.payload_len = pairs * bits + 32;
	return test_empty(&head);
}

static size_t
add(TestFilter *filter, const uint64_t *hashes, size_t n)
{
	return kind->add(&filter->view.head, test_payload(filter), hashes, n);
}

static size_t
take(TestFilter *filter, const uint64_t *hashes, size_t n)
{
	return kind->remove(&filter->view.head, test_payload(filter), hashes, n);
}

static uint8_t *
payload_copy(const TestFilter *filter)
{
	uint8_t    *copy = test_malloc(filter->view.head.payload_len);

	memcpy(copy, filter->view.payload, filter->view.head.payload_len);
	return copy;
}

static bool
payload_is(const TestFilter *filter, const uint8_t *copy)
{
	return memcmp(copy, filter->view.payload, filter->view.head.payload_len) == 0;
}

static double
key_count(const TestFilter *filter)
{
	BfStats		stats;

	bf_stats(NULL, &filter->view, &stats);
	return stats.keys;
}

static unsigned
stashed(const TestFilter *filter)
{
	const uint8_t *stash = filter->view.payload + filter->view.head.payload_len - 32;
	unsigned	n = 0;
	int			i;

	for (i = 0; i < 4; i++)
		n += bf_load64(stash + i * 8) != 0;
	return n;
}

/* Returns what the filter keeps of a key: two keys that agree in it are the same to the filter. */
static uint64_t
kept(uint64_t hash, uint64_t pairs, uint32_t bits)
{
	uint64_t	tags = (UINT64_C(1) << bits) - 1;

	return bf_cell(hash, pairs) * tags + ((hash & UINT32_MAX) * tags >> 32);
}

/* ---- sizes ---- */

static void
sizes(void)
{
	static const struct
	{
		double		fpr;
		uint32_t	bits;
		double		per_key;
	}			want[] =
	{
		{0.5, 4, 4.22}, {0.1, 6, 7.30}, {0.01, 10, 10.53}, {0.0039, 11, 11.58}, {0.001, 13, 13.69}, {0.0001, 17, 17.90},
		{2e-9, 32, 33.69}
	};
	BfDesign	design;
	size_t		i;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++)
	{
		BfHeader	head = test_plan(kind, want[i].fpr, 10000000);

		CHECK(bf_design(kind, want[i].fpr, &design) == BF_OK);
		CHECKF(design.param[0] == want[i].bits, "%g: %u bits", want[i].fpr, design.param[0]);
		CHECKF((double) head.payload_len * 8 / 1e7 <= want[i].per_key, "%g: %.4f bits per key", want[i].fpr,
			   (double) head.payload_len * 8 / 1e7);
		CHECK(design.expected_fpr <= want[i].fpr && design.expected_fpr > 0);
	}
	/* a lower load where one bit more would cost more */
	CHECK(bf_design(kind, 0.0073, &design) == BF_OK && design.param[0] == 10 && design.millibits > 10527);

	CHECK(bf_design(kind, 1e-9, &design) == BF_FPR_TOO_LOW);
	CHECK(bf_design(kind, 0.01, &design) == BF_OK);
	for (i = 1; i < 64; i++)
	{
		BfHeader	head;
		BfStatus	status = bf_plan(&design, UINT64_C(1) << i, &head);

		CHECKF(status == (i <= 28 ? BF_OK : BF_TOO_LARGE), "2^%zu keys: %d", i, status);
	}
	CHECK(bf_plan(&design, UINT64_MAX, &(BfHeader) {0}) == BF_TOO_LARGE);
}

static void
headers(void)
{
	BfHeader	good = test_plan(kind, 0.01, 1000);
	BfHeader	head;

	CHECK(kind->check(&good) == NULL);
#define BROKEN(change) \
	do { \
		head = good; \
		change; \
		CHECK(kind->check(&head) != NULL); \
	} while (0)
	BROKEN(head.param[0] = 0);
	BROKEN(head.param[0] = 3);
	BROKEN(head.param[0] = 33);
	BROKEN(head.param[0] = UINT32_MAX);
	BROKEN(head.param[1] = 1);
	BROKEN(head.param[2] = 1);
	BROKEN(head.param[3] = 1);
	BROKEN(head.payload_len = 0);
	BROKEN(head.payload_len = 31);
	BROKEN(head.payload_len = 32);
	BROKEN(head.payload_len++);
}

/*
 * Checks that the planned number of keys always finds room: many small sets, a few large ones, with
 * all numbers of bits.
 */
static void
planned_keys_fit(void)
{
	static const double rates[] = {0.9, 0.3, 0.01, 0.0001, 1e-6, 3e-9};
	size_t		n;
	int			r;

	for (r = 0; r < 6; r++)
	{
		BfDesign	design;

		CHECK(bf_design(kind, rates[r], &design) == BF_OK);
		for (n = 1; n <= 40000; n += 1 + n / 20)
		{
			size_t		sets = 1 + (r == 2 ? 10000 : 2000) / n;

			while (sets-- > 0)
			{
				const uint64_t *set = keys + test_below(MAX_KEYS - n + 1);
				TestFilter	filter;
				BfHeader	head;

				CHECK(bf_plan(&design, n, &head) == BF_OK);
				filter = test_empty(&head);
				CHECKF(add(&filter, set, n) == n, "%zu keys at %g", n, rates[r]);
				CHECK(key_count(&filter) == (double) n);
				CHECK(test_probe(&filter, set[0]) && test_probe(&filter, set[n - 1]));
				test_free(&filter);
			}
		}
	}
}

/* ---- against a multiset ---- */

#define UNIVERSE	400

/*
 * Adds and removes random keys of a small universe.  A model knows which keys are the same to the
 * filter, and how many of each there are; the filter must give the model's answers, including every
 * false positive.
 */
static void
model_round(uint64_t pairs, uint32_t bits, unsigned operations)
{
	TestFilter	filter = table(pairs, bits);
	uint64_t	hash[UNIVERSE];
	unsigned	same_as[UNIVERSE];	/* the first key that is the same one to the filter */
	unsigned	count[UNIVERSE] = {0};
	unsigned	own[UNIVERSE] = {0};
	uint64_t	total = 0;
	uint64_t	refused = 0;
	bool		result[UNIVERSE];
	unsigned	used = 2 + (unsigned) test_below(UNIVERSE - 2);
	unsigned	op;
	unsigned	i;

	for (i = 0; i < used; i++)
	{
		hash[i] = test_random();
		for (same_as[i] = 0; kept(hash[same_as[i]], pairs, bits) != kept(hash[i], pairs, bits); same_as[i]++)
			;
	}
	for (op = 0; op < operations; op++)
	{
		/* wanders between nearly empty and full */
		bool		adding = test_below(100) < (op / 300 % 2 == 0 ? 75 : 30);
		uint8_t    *before = payload_copy(&filter);
		BfView		view;
		const char *reason;

		i = (unsigned) test_below(used);
		if (adding)
		{
			size_t		n = add(&filter, &hash[i], 1);

			total += n;
			own[i] += (unsigned) n;
			count[same_as[i]] += (unsigned) n;
			CHECK(count[same_as[i]] <= 8);
			if (n == 0)
			{
				refused++;
				CHECK(payload_is(&filter, before));
				/* only ever for want of room, and never while a third is free, but where too many are the same */
				CHECKF(total >= 9 || count[same_as[i]] == 8, "full with %" PRIu64 " keys", total);
			}
		}
		else if (count[same_as[i]] == 0)
		{
			CHECK(take(&filter, &hash[i], 1) == 0);
			CHECK(payload_is(&filter, before));
		}
		else if (own[i] > 0)
		{
			CHECK(take(&filter, &hash[i], 1) == 1);
			own[i]--;
			count[same_as[i]]--;
			total--;
		}
		free(before);
		CHECK(test_probe(&filter, hash[i]) == (count[same_as[i]] > 0));
		if (op % 64 != 0)
			continue;
		kind->probe_many(&filter.view, hash, used, result);
		for (i = 0; i < used; i++)
			CHECKF(result[i] == (count[same_as[i]] > 0) && test_probe(&filter, hash[i]) == result[i],
				   "%" PRIu64 " pairs of %u bits: key %u is there %u times", pairs, bits, i, count[same_as[i]]);
		CHECK(key_count(&filter) == (double) total);
		bf_seal(&test_env, filter.data, filter.len);
		CHECK(bf_validate(&test_env, filter.data, filter.len, &view, &reason) == BF_OK);
	}
	CHECK(pairs * 8 > 3 * used || refused > 0);

	/* all out again, and nothing is left */
	for (i = 0; i < used; i++)
		while (own[i]-- > 0)
			CHECK(take(&filter, &hash[i], 1) == 1);
	for (i = 0; i < filter.view.head.payload_len; i++)
		CHECK(filter.view.payload[i] == 0);
	test_free(&filter);
}

static void
model(void)
{
	uint32_t	bits;
	int			round;

	for (round = 0; round < 2; round++)
		for (bits = 4; bits <= 32; bits++)
			model_round(round == 0 ? 1 : 1 + test_below(30), bits, test_in_part() ? 1200 : 3000);
}

/* ---- false positives ---- */

static void
false_positives(void)
{
	static const double rates[] = {0.01, 0.0039, 0.001, 0.0001};
	static const uint64_t sizes_of[] = {1, 2, 10, 1000, 100000};
	int			r;
	int			s;

	for (r = 0; r < 4; r++)
		for (s = 0; s < 5; s++)
		{
			uint64_t	n = sizes_of[s];
			uint64_t	filters = BF_MAX(1, 1000 / n);
			uint64_t	probes = test_trials(2000000) / filters;
			double		found = 0;
			double		claimed = 0;
			double		expect;
			uint64_t	f;

			for (f = 0; f < filters; f++)
			{
				BfHeader	head = test_plan(kind, rates[r], n);
				TestFilter	filter = test_empty(&head);
				BfStats		stats;
				uint64_t	i;

				for (i = 0; i < n; i++)
				{
					uint64_t	hash = test_random();

					CHECK(add(&filter, &hash, 1) == 1);
				}
				for (i = 0; i < probes; i++)
					found += test_probe(&filter, test_random());
				bf_stats(NULL, &filter.view, &stats);
				claimed += stats.fpr * (double) probes;
				CHECK(stats.fpr <= rates[r] && stats.hashes == 2 && stats.stages == 1);
				test_free(&filter);
			}
			expect = rates[r] * (double) (filters * probes);
			CHECKF(found <= expect + 5 * sqrt(expect) + 1, "%" PRIu64 " keys at %g: %.0f found, %.0f expected", n, rates[r], found, expect);
			CHECKF(fabs(found - claimed) <= 5 * sqrt(claimed) + 3 + 0.01 * claimed, "%" PRIu64 " keys at %g: %.0f found, %.0f by the statistics",
				   n, rates[r], found, claimed);
		}
}

/* ---- full tables and equal keys ---- */

static void
full_tables(void)
{
	uint32_t	bits;

	for (bits = 4; bits <= 32; bits++)
	{
		uint64_t	pairs = 1 + test_below(200);
		TestFilter	filter = table(pairs, bits);
		size_t		n = add(&filter, keys, MAX_KEYS);
		uint8_t    *before = payload_copy(&filter);
		uint8_t    *spare;
		bool	   *result = test_malloc(n);
		uint64_t	missing = 0;
		size_t		i;

		CHECKF(n < MAX_KEYS && n <= pairs * 8 + 4, "%" PRIu64 " pairs: %zu keys", pairs, n);
		CHECKF(pairs < 20 || n >= pairs * 8 * 0.9, "%" PRIu64 " pairs of %u bits: full with %zu keys", pairs, bits, n);
		CHECK(stashed(&filter) == 4 || pairs == 1);
		kind->probe_many(&filter.view, keys, n, result);
		for (i = 0; i < n; i++)
			missing += !result[i];
		CHECKF(missing == 0, "%" PRIu64 " of %zu keys are missing", missing, n);

		/* whatever is refused leaves no trace */
		CHECK(add(&filter, keys + n, 1) == 0);
		CHECK(payload_is(&filter, before));

		/* one by one, the same keys are taken and the same bytes come out */
		test_free(&filter);
		filter = table(pairs, bits);
		for (i = 0; i < n; i++)
			CHECK(add(&filter, keys + i, 1) == 1);
		CHECK(add(&filter, keys + n, 1) == 0);
		CHECK(payload_is(&filter, before));

		/* room that removals make is used, first for the stash */
		CHECK(take(&filter, keys, n / 2) == n / 2);
		CHECK(pairs < 20 || bits < 8 || stashed(&filter) <= 1);
		CHECK(key_count(&filter) == (double) (n - n / 2));
		spare = payload_copy(&filter);
		CHECK(add(&filter, keys, n / 4) == n / 4);
		CHECK(take(&filter, keys, n / 4) == n / 4);
		CHECK(key_count(&filter) == (double) (n - n / 2));
		kind->probe_many(&filter.view, keys + n / 2, n - n / 2, result);
		for (i = 0; i < n - n / 2; i++)
			CHECK(result[i]);
		free(spare);
		free(before);
		free(result);
		test_free(&filter);
	}
}

static void
equal_keys(void)
{
	uint32_t	bits;
	int			i;

	for (bits = 4; bits <= 32; bits++)
	{
		TestFilter	filter = table(50, bits);
		uint64_t	eight[9];
		uint8_t    *before;

		for (i = 0; i < 9; i++)
			eight[i] = keys[bits];
		CHECK(add(&filter, eight, 8) == 8);
		before = payload_copy(&filter);
		CHECK(add(&filter, eight, 1) == 0);
		CHECK(payload_is(&filter, before));
		CHECK(key_count(&filter) == 8);
		/*
		 * Other keys can be added and removed.  With few bits, some of these keys would equal the
		 * repeated one.
		 */
		if (bits >= 10)
		{
			CHECK(add(&filter, keys + 100, 200) == 200);
			CHECK(add(&filter, eight, 1) == 0);
			CHECK(take(&filter, keys + 100, 200) == 200);
		}
		CHECK(take(&filter, eight, 3) == 3);
		CHECK(test_probe(&filter, eight[0]));
		CHECK(add(&filter, eight, 9) == 3);
		CHECK(take(&filter, eight, 9) == 8);
		CHECK(!test_probe(&filter, eight[0]));
		CHECK(key_count(&filter) == 0);
		free(before);
		test_free(&filter);
	}
}

/* ---- bytes that lie ---- */

/*
 * Uses a filter in every way: whatever its bytes are, ASan must find nothing, and every call must
 * end.
 */
static void
use(TestFilter *filter)
{
	bool		result[100];
	BfStats		stats;
	uint64_t	j;

	bf_stats(NULL, &filter->view, &stats);
	CHECK(stats.keys >= 0 && stats.fpr >= 0 && stats.fpr <= 1);
	kind->probe_many(&filter->view, keys, 100, result);
	for (j = 0; j < 100; j++)
		CHECK(result[j] == test_probe(filter, keys[j]));
	add(filter, keys, 100);
	take(filter, keys, 100);
	for (j = 0; j < 30; j++)
		if (add(filter, keys + j, 1) == 1)
			CHECK(test_probe(filter, keys[j]));
}

static void
lies(void)
{
	int			round;

	for (round = 0; round < 1000; round++)
	{
		uint32_t	bits = 4 + (uint32_t) test_below(29);
		TestFilter	filter = table(1 + test_below(6), bits);
		uint64_t	len = filter.view.head.payload_len;
		uint64_t	i;
		BfView		view;
		const char *reason;

		add(&filter, keys + test_below(1000), test_below(60));
		if (round % 2 == 0)
			for (i = 0; i < len; i++)
				test_payload(&filter)[i] = (uint8_t) test_random();
		else
			test_payload(&filter)[round % 4 == 1 ? len - 1 - test_below(32) : test_below(len)] ^= (uint8_t) (1 + test_below(255));
		bf_seal(&test_env, filter.data, filter.len);

		/* what validates is no surprise afterwards either */
		if (bf_validate(&test_env, filter.data, filter.len, &view, &reason) == BF_OK)
		{
			uint64_t	first = bf_load64(view.payload + len - 32);

			CHECK(first <= (len - 32) / bits * ((UINT64_C(1) << bits) - 1));
		}
		use(&filter);
		test_free(&filter);
	}
}

static void
broken_stashes(void)
{
	TestFilter	filter = table(7, 10);
	uint8_t    *stash = test_payload(&filter) + 70;
	uint64_t	most = 7 * 1023;
	BfView		view;
	const char *reason;

#define STASH(a, b, ok) \
	do { \
		bf_store64(stash, a); \
		bf_store64(stash + 8, b); \
		bf_seal(&test_env, filter.data, filter.len); \
		CHECK((bf_validate(&test_env, filter.data, filter.len, &view, &reason) == BF_OK) == (ok)); \
	} while (0)
	STASH(0, 0, true);
	STASH(1, 0, true);
	STASH(most, 1, true);
	STASH(most + 1, 0, false);
	STASH(1, most + 1, false);
	STASH(0, 1, false);
	STASH(UINT64_MAX, 0, false);
	test_free(&filter);
}

int
main(void)
{
	size_t		i;

	kind = bf_kind_by_id(BF_KIND_CUCKOO);
	test_seed(20261121);
	for (i = 0; i < MAX_KEYS; i++)
		keys[i] = test_random();
	RUN(sizes);
	RUN(headers);
	RUN(planned_keys_fit);
	RUN(model);
	RUN(false_positives);
	RUN(full_tables);
	RUN(equal_keys);
	RUN(lies);
	RUN(broken_stashes);
	return test_finish();
}
