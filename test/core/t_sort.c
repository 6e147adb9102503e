/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_sort.c
 *	  bf_sort_hashes, bf_sort_multiset: the order of bf_order(), with every hash once, or as often
 *	  as it occurs.
 *
 *-------------------------------------------------------------------------
 */
#include "test.h"

static int
compare(const void *a, const void *b)
{
	uint64_t	x = bf_order(*(const uint64_t *) a);
	uint64_t	y = bf_order(*(const uint64_t *) b);

	return x < y ? -1 : x > y;
}

/*
 * Sorts n hashes, with a number of different values, both as a set and as a multiset, and compares
 * the results with qsort().
 */
static void
against_qsort(uint64_t n, uint64_t different, int shift)
{
	uint64_t   *hashes = test_malloc(n * sizeof(uint64_t));
	uint64_t   *again = test_malloc(n * sizeof(uint64_t));
	uint64_t   *expected = test_malloc(n * sizeof(uint64_t));
	uint64_t   *times = test_malloc(n * sizeof(uint64_t));
	uint64_t	kept = 0;
	uint64_t	distinct;
	uint64_t	total = 0;
	uint64_t	at = 0;
	uint64_t	wrong = 0;
	uint64_t	i;

	for (i = 0; i < n; i++)
		hashes[i] = again[i] = expected[i] = (test_mix(test_below(different)) << shift) * BF_ORDER_INVERSE;
	qsort(expected, n, sizeof(uint64_t), compare);
	for (i = 0; i < n; i++)
	{
		if (i == 0 || expected[i] != expected[kept - 1])
		{
			expected[kept++] = expected[i];
			times[kept - 1] = 0;
		}
		times[kept - 1]++;
	}

	for (i = 0; i < kept; i++)
		total += BF_MIN(times[i], BF_MAX_TIMES);
	CHECKF(bf_sort_multiset(&test_env, again, n, &distinct) == total && distinct == kept, "%" PRIu64 " of %" PRIu64 ": %" PRIu64, n,
		   different, distinct);
	for (i = 0; i < kept; i++)
	{
		uint64_t	left;

		for (left = BF_MIN(times[i], BF_MAX_TIMES); left > 0; left--)
			wrong += again[at++] != expected[i];
	}
	CHECKF(wrong == 0 && at == total, "%" PRIu64 " of %" PRIu64 ": %" PRIu64 " wrong in a multiset", n, different, wrong);
	free(again);
	free(times);
	CHECKF(bf_sort_hashes(&test_env, hashes, n) == kept, "%" PRIu64 " of %" PRIu64 ": a wrong number is kept", n, different);
	CHECKF(memcmp(hashes, expected, kept * sizeof(uint64_t)) == 0, "%" PRIu64 " of %" PRIu64 ": a wrong order", n, different);
	free(hashes);
	free(expected);
}

static void
sorted(void)
{
	static const uint64_t sizes[] = {0, 1, 2, 47, 48, 49, 1000, 100000, 1000000};
	int			s;

	for (s = 0; s < 9; s++)
	{
		against_qsort(sizes[s], UINT64_MAX, 0);
		against_qsort(sizes[s], sizes[s] + 1, 0);
		against_qsort(sizes[s], 3, 0);
		against_qsort(sizes[s], 1, 0);
		/* all alike but for a few bits, high or low */
		against_qsort(sizes[s], 1000, 60);
		against_qsort(sizes[s], 1000, 20);
	}
}

static void
inverse(void)
{
	int			i;

	for (i = 0; i < 1000; i++)
	{
		uint64_t	h = test_random();

		CHECK(bf_order(h) * BF_ORDER_INVERSE == h);
	}
}

int
main(void)
{
	test_seed(12);
	RUN(sorted);
	RUN(inverse);
	return test_finish();
}
