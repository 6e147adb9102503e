/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * s_run.c
 *	  Ten million random operations on runs, compared with the model, and the rate of false places.
 *
 *-------------------------------------------------------------------------
 */
#include "run_model.h"

#define OPERATIONS	10000000

static void
long_model(void)
{
	int			models = 0;

	for (run_operations = 0; run_operations < OPERATIONS; models++)
	{
		RunModel	model = run_random_model(models % 10 == 0 ? 100000 : 5000);

		run_model(&model);
	}
	printf("%" PRIu64 " operations on %d runs\n", run_operations, models);
}

/*
 * Tests the rate of false places.  A lookup of an absent key finds n / 2^p places on average,
 * whatever the run's shape.  Keys are independent, so the variance is the mean, and at most half
 * again as much because of entries that share a fingerprint.
 */
static void
false_places(void)
{
	static const struct
	{
		uint64_t	n;
		unsigned	p;
	}			cases[] = {{1000000, 28}, {1000000, 25}, {1000000, 23}, {50000, 24}, {300, 12}};
	TestEntries found = {0};
	size_t		i;
	uint64_t	j;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		RunModel	model = {.n = cases[i].n, .planned = cases[i].n, .keys = UINT64_MAX / 2, .p = cases[i].p,
		.blocks = 10000, .offsets = 158, .body = 8152};
		TestEntries list = run_random_entries(&model);
		double		expected = bf_run_false_places(cases[i].n, cases[i].p) * 1000000;
		double		sigma = sqrt(1.5 * expected);
		uint64_t	sum = 0;
		TestRun		run;

		run_make(&run, &model, &list, 0);
		for (j = 0; j < 1000000; j++)
		{
			run_find(&run, test_random(), &found);
			sum += found.n;
		}
		CHECKF(fabs((double) sum - expected) <= 5 * sigma, "n %" PRIu64 ", p %u: %" PRIu64 " false places, %.0f expected",
			   cases[i].n, cases[i].p, sum, expected);
		run_free(&run);
		run_free_entries(&list);
	}
	run_free_entries(&found);
}

int
main(void)
{
	test_seed(20261123);
	RUN(long_model);
	RUN(false_places);
	return test_finish();
}
