/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_partitioned.c
 *	  Tests of slices: where they lie, and how filters with different numbers of slices combine.
 *
 *-------------------------------------------------------------------------
 */
#include "kinds.h"

static const BfKind *kind;

static BfHeader
head_of(uint64_t words, uint32_t k)
{
	BfHeader	head = test_head(kind, words * k, k);

	head.family_id = 1;			/* some family, not by name */
	CHECK(kind->check(&head) == NULL);
	return head;
}

static const uint8_t *
fetch(void *arg, uint64_t offset, uint64_t len)
{
	const TestFilter *filter = arg;

	CHECK(len > 0 && offset + len <= filter->view.head.payload_len);
	return filter->view.payload + offset;
}

/*
 * Checks that a key has one bit in each slice, at the documented place, and that each of its bits
 * counts.
 */
static void
layout(void)
{
	uint32_t	k;

	for (k = 1; k <= BF_MAX_PROBES; k++)
	{
		BfHeader	head = head_of(7, k);
		TestFilter	filter = build(&head, keys + k, 1);
		uint8_t    *p = test_payload(&filter);
		uint32_t	i;

		for (i = 0; i < k; i++)
		{
			uint64_t	g = keys[k] + i * UINT64_C(0x9e3779b97f4a7c15);
			uint64_t	word;
			uint64_t	bits = 0;
			uint64_t	w;

			g = (g ^ (g >> 32)) * UINT64_C(0xd1342543de82ef95);
			g ^= g >> 32;
			word = i * 7 + (uint64_t) (((unsigned __int128) g * 7) >> 64);
			CHECKF(bf_load64(p + word * 8) == UINT64_C(1) << (g >> 26 & 63), "k %u, slice %u", k, i);
			for (w = i * 7; w < (i + 1) * 7; w++)
				bits |= bf_load64(p + w * 8);
			CHECK(__builtin_popcountll(bits) == 1);

			CHECK(test_probe(&filter, keys[k]) && kind->probe_sliced(&filter.view.head, keys[k], fetch, &filter));
			bf_store64(p + word * 8, 0);
			CHECK(!test_probe(&filter, keys[k]) && !kind->probe_sliced(&filter.view.head, keys[k], fetch, &filter));
			bf_store64(p + word * 8, UINT64_C(1) << (g >> 26 & 63));
		}
		test_free(&filter);
	}
}

static void
refused_headers(void)
{
	BfHeader	good = head_of(10, 7);
	BfHeader	bad;

#define REFUSED(change) \
	do { \
		bad = good; \
		change; \
		CHECKF(kind->check(&bad) != NULL, #change); \
	} while (0)

	REFUSED(bad.param[0] = 0);
	REFUSED(bad.param[0] = 6);
	REFUSED(bad.param[0] = BF_MAX_PROBES + 1);
	REFUSED(bad.param[0] = UINT32_MAX);
	REFUSED(bad.param[1] = 1);
	REFUSED(bad.param[2] = 1);
	REFUSED(bad.param[3] = 1);
	REFUSED(bad.payload_len = 0);
	REFUSED(bad.payload_len -= 8);
	REFUSED(bad.payload_len++);
}

/*
 * Checks unions and intersections of filters with different sizes and numbers of slices: order does
 * not matter, and no key is lost.
 */
static void
laws(void)
{
	int			round;

	for (round = 0; round < 2000; round++)
	{
		TestFilter	f[3];
		TestFilter	ab;
		TestFilter	bc;
		TestFilter	left;
		TestFilter	right;
		uint64_t	words = 1 + test_below(60);
		size_t		n = test_below(60);
		const uint64_t *from = keys + test_below(MAX_KEYS - 400);
		uint32_t	least = BF_MAX_PROBES;
		int			i;

		for (i = 0; i < 3; i++)
		{
			BfHeader	head = head_of(round % 3 == 0 ? words : 1 + test_below(60), 1 + (uint32_t) test_below(9));

			least = BF_MIN(least, head.param[0]);
			f[i] = build(&head, from + 50 * i, n);
		}
		ab = test_union(&f[0], &f[1]);
		bc = test_union(&f[2], &f[1]);
		left = test_union(&ab, &f[2]);
		right = test_union(&f[0], &bc);
		CHECK(test_same_payload(&left, &right));
		CHECK(left.view.head.param[0] == least && kind->check(&left.view.head) == NULL);
		for (i = 0; i < 3; i++)
			holds(&left, from + 50 * i, n, "in a | b | c");

		/* of one size: what building with the fewest slices would have given */
		if (round % 3 == 0)
		{
			BfHeader	head = head_of(words, least);
			TestFilter	direct = build(&head, from, n);

			for (i = 1; i < 3; i++)
				kind->add(&head, test_payload(&direct), from + 50 * i, n);
			CHECK(test_same_payload(&left, &direct));
			test_free(&direct);
		}
		test_free(&left);
		test_free(&right);
		test_free(&bc);

		left = test_union(&f[0], &f[0]);
		CHECK(test_same(&left, &f[0]));
		test_free(&left);
		left = test_intersect(&f[0], &f[0]);
		CHECK(test_same(&left, &f[0]));
		test_free(&left);

		left = test_intersect(&f[0], &f[1]);
		right = test_intersect(&f[1], &f[0]);
		CHECK(test_same_payload(&left, &right));
		if (n > 50)
			holds(&left, from + 50, n - 50, "in a & b");
		for (i = 0; i < 100; i++)
		{
			uint64_t	other = test_random();

			CHECK(!(test_probe(&f[0], other) && test_probe(&f[1], other)) || test_probe(&left, other));
			CHECK(!(test_probe(&f[0], other) || test_probe(&f[1], other)) || test_probe(&ab, other));
		}
		test_free(&left);
		test_free(&right);
		test_free(&ab);
		for (i = 0; i < 3; i++)
			test_free(&f[i]);
	}
}

/*
 * Checks that folding by every divisor of a slice's words equals a direct build, and that fold_plan
 * chooses the best divisor.
 */
static void
folds(void)
{
	static const uint64_t sizes[] = {1, 2, 12, 60, 97, 128, 360};
	size_t		s;

	for (s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
	{
		BfHeader	head = head_of(sizes[s], 6);
		TestFilter	filter = build(&head, keys, 200);
		BfHeader	plan;
		uint64_t	best = 1;
		uint64_t	d;

		for (d = 1; d <= sizes[s]; d++)
		{
			BfHeader	smaller = head;
			TestFilter	direct;
			BfStats		stats;

			if (sizes[s] % d != 0)
				continue;
			smaller.payload_len /= d;
			direct = build(&smaller, keys, 200);
			fold_is(&filter, d, &direct, &stats);
			if (stats.fpr <= 0.05)
				best = d;
		}
		CHECK(bf_fold_plan(NULL, &filter.view, 0.05, &plan) == BF_OK);
		CHECKF(plan.payload_len == head.payload_len / best, "%" PRIu64 " words folded to %" PRIu64 " bytes", sizes[s], plan.payload_len);
		test_free(&filter);
	}
}

/*
 * Checks that the formula for the rate is exact, by measuring many small filters, and that each
 * plan meets its rate but would not with one word less in each slice.
 */
static void
rates(void)
{
	static const struct
	{
		uint64_t	words;
		uint32_t	k;
		size_t		n;
	}			rows[] = {{1, 3, 20}, {1, 7, 40}, {2, 5, 60}, {4, 2, 40}};
	size_t		r;
	uint64_t	n;

	for (r = 0; r < sizeof(rows) / sizeof(rows[0]); r++)
	{
		BfHeader	head = head_of(rows[r].words, rows[r].k);
		double		expected = bf_math_partitioned_fpr((double) rows[r].n, (double) rows[r].words * 64, rows[r].k);
		uint64_t	found = 0;
		double		told = 0;
		double		measured;
		int			round;

		for (round = 0; round < 4000; round++)
		{
			TestFilter	filter;
			uint64_t	hashes[100];
			BfStats		stats;
			size_t		i;

			for (i = 0; i < rows[r].n; i++)
				hashes[i] = test_random();
			filter = build(&head, hashes, rows[r].n);
			for (i = 0; i < 100; i++)
				found += test_probe(&filter, test_random());
			bf_stats(NULL, &filter.view, &stats);
			told += stats.fpr / 4000;
			test_free(&filter);
		}
		measured = (double) found / 400000;
		CHECKF(fabs(measured / expected - 1) < 0.05 && fabs(told / expected - 1) < 0.02, "expected %g, measured %g, told %g", expected,
			   measured, told);
	}

	for (n = 1; n < 100000; n = n * 3 / 2 + 1)
	{
		static const double targets[] = {0.5, 0.1, 0.01, 1e-4, 1e-9};

		for (r = 0; r < 5; r++)
		{
			BfHeader	head = test_plan(kind, targets[r], n);
			uint32_t	k = head.param[0];
			uint64_t	words = head.payload_len / 8 / k;

			CHECK(bf_math_partitioned_fpr((double) n, (double) words * 64, k) <= targets[r]);
			/* up to what rounding for folds costs */
			words -= words / 100 + 1;
			CHECKF(words == 0 || bf_math_partitioned_fpr((double) n, (double) words * 64, k) > targets[r],
				   "%" PRIu64 " keys at %g: %" PRIu64 " words a slice would do", n, targets[r], words);
		}
	}
	CHECK(bf_math_partitioned_fpr(0, 64, 3) == 0 && bf_math_partitioned_fpr(1, 1, 3) == 1);
	CHECK(fabs(bf_math_partitioned_fpr(1, 64, 1) - 1.0 / 64) < 1e-15);
}

int
main(void)
{
	kind = bf_kind_by_id(BF_KIND_PARTITIONED);
	make_keys(8);
	RUN(layout);
	RUN(refused_headers);
	RUN(laws);
	RUN(folds);
	RUN(rates);
	return test_finish();
}
