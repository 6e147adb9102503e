/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_stats.c
 *	  Statistics that are estimated from a part of a filter.
 *
 *-------------------------------------------------------------------------
 */
#include "kinds.h"

/* Checks that the statistics of a small filter are those of bf_stats(). */
static void
whole_body(const BfKind *kind)
{
	TestFilter	filter = test_make(kind, 0.01, 500, keys, 500);
	BfStats		all;
	BfStats		sampled;

	bf_stats(&test_env, &filter.view, &all);
	CHECKF(bf_stats_sampled(&test_env, &filter.view, filter.view.head.payload_len, &sampled), "%s: not small enough", kind->name);
	CHECKF(all.keys == sampled.keys && all.fpr == sampled.fpr && all.bits == sampled.bits && all.fill == sampled.fill,
		   "%s: a part that is all", kind->name);
	test_free(&filter);
}

static void
small_filters_are_read_whole(void)
{
	BfView		none = {.head = {.kind = bf_kind_by_id(BF_KIND_IDENTITY), .hash_id = BF_HASH_XXH3}};
	BfStats		stats;

	each_kind(0, whole_body);
	CHECK(bf_stats_sampled(&test_env, &none, 1000, &stats) && stats.keys == 0);
}

/*
 * Compares statistics from a part of a filter with those of the whole, allowing five standard
 * deviations of the number of keys in a part, and the resulting difference of the false positive
 * rate.
 */
static void
compare_parts(const TestFilter *filter, size_t n)
{
	const char *name = filter->view.head.kind->name;
	BfStats		all;
	uint64_t	parts;

	bf_stats(&test_env, &filter->view, &all);
	for (parts = 1; parts <= 6; parts++)
	{
		uint64_t	len = filter->view.head.payload_len;
		double		error = 5 * sqrt((double) parts / (double) n) + 0.03;
		BfStats		sampled;

		/* not a multiple of anything */
		CHECKF(bf_stats_sampled(&test_env, &filter->view, BF_MIN(len / parts + 3, len - 1), &sampled), "%s: no part", name);
		CHECKF(fabs(sampled.keys / (double) n - 1) < error, "%s: %zu keys, estimated %g from 1/%" PRIu64, name, n, sampled.keys, parts);
		CHECKF(fabs(sampled.fill / all.fill - 1) < error, "%s: fill %g, estimated %g", name, all.fill, sampled.fill);
		CHECKF(sampled.bits <= all.bits && (sampled.bits < all.bits || parts == 1) && fabs(log(sampled.fpr / all.fpr)) < 12 * error, "%s: FPR %g, estimated %g", name, all.fpr, sampled.fpr);
	}
}

/*
 * Checks that a part of a filter, whether the filter is below, at or above its capacity, gives the
 * number of keys and the rate as accurately as its size allows, in either form.
 */
static void
part_body(const BfKind *kind)
{
	static const size_t loads[] = {600, 6000, 12000};
	size_t		l;

	if (kind->cell_size == 0 && kind->stats_sampled == NULL)
		return;
	for (l = 0; l < 3; l++)
	{
		/* one that refuses keys when it is full has room for all of them */
		BfHeader	head = test_plan(kind, 0.01, kind->grow_plan == NULL && kind->cell_size == 0 ? 12000 : 6000);
		TestFilter	filter = test_empty(&head);
		size_t		n = test_add_some(&filter, keys, loads[l]);

		compare_parts(&filter, n);
		test_pack(&filter);
		compare_parts(&filter, n);
		test_free(&filter);
	}
}

static void
parts_tell_of_the_whole(void)
{
	each_kind(0, part_body);
}

/*
 * Checks that no statistics are given where a part of a filter is not a filter of a part of the
 * keys.
 */
static void
no_cells_body(const BfKind *kind)
{
	TestFilter	filter = test_make(kind, 0.01, 6000, keys, 6000);
	BfStats		sampled;

	if (kind->cell_size == 0 && kind->stats_sampled == NULL)
		CHECKF(!bf_stats_sampled(&test_env, &filter.view, filter.view.head.payload_len - 1, &sampled), "%s has no parts", kind->name);
	test_free(&filter);
}

static void
others_say_nothing(void)
{
	each_kind(0, no_cells_body);
}

int
main(void)
{
	make_keys(5);
	RUN(small_filters_are_read_whole);
	RUN(parts_tell_of_the_whole);
	RUN(others_say_nothing);
	return test_finish();
}
