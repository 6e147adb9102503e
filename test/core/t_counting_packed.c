/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_counting_packed.c
 *	  The packed form of counting filters: conversion in both directions, hostile bytes, size and
 *	  speed.
 *
 *-------------------------------------------------------------------------
 */
#include "counting.h"

/* Fills a loose filter with counters of several distributions. */
static void
fill(TestFilter *loose, int how)
{
	uint8_t    *p = test_payload(loose);
	uint64_t	n = loose->view.head.payload_len * 2;
	uint64_t	i;

	for (i = 0; i < n; i++)
	{
		unsigned	value = 0;

		switch (how)
		{
			case 0:				/* none */
				break;
			case 1:				/* all the same */
				value = 15;
				break;
			case 2:				/* anything */
				value = (unsigned) test_below(16);
				break;
			case 3:				/* few */
				value = test_below(100) == 0;
				break;
			case 4:				/* as in a filter at its capacity */
			case 5:				/* more so */
				while (value < 15 && test_below(how == 4 ? 3 : 2) == 0)
					value++;
				break;
			case 6:				/* a few that occur often */
				value = test_below(10) == 0 ? 12 : 0;
				break;
			case 7:				/* one */
				value = i == n - 1 ? 15 : 0;
				break;
			default:
				value = 1 + (unsigned) test_below(2);
				break;
		}
		p[i / 2] = (uint8_t) (p[i / 2] | value << i % 2 * 4);
	}
	bf_seal(&test_env, loose->data, loose->len);
}

static void
there_and_back(void)
{
	static const uint64_t large[] = {127, 128, 129, 255, 256, 257, 1000, 20000, 65537};
	uint64_t	forms[16] = {0};
	unsigned	used = 0;
	uint64_t	size;
	int			how;

	for (how = 0; how < 9; how++)
		for (size = 1; size < 80; size++)
		{
			BfHeader	head = head_of(size <= 70 ? size : large[size - 71], 1 + (uint32_t) test_below(12));
			TestFilter	loose = test_empty(&head);
			TestFilter	packed;
			TestFilter	again;
			TestFilter	back;
			BfStats		a;
			BfStats		b;
			bool		result[50];
			uint64_t	hashes[50];
			int			i;

			fill(&loose, how);
			packed = pack(&loose);
			back = loosen(&packed.view);
			CHECKF(test_same(&loose, &back), "%" PRIu64 " words, %d: not the same again", size, how);
			again = pack(&back);
			CHECK(test_same(&packed, &again));
			/* and without the processor's help */
			memset(test_payload(&again), 0, again.view.head.payload_len);
			bf_counting_portable_pack(&again.view.head, test_payload(&again), &loose.view);
			CHECK(test_same(&packed, &again));
			memset(test_payload(&back), 0xaa, back.view.head.payload_len);
			bf_counting_portable_loosen(test_payload(&back), &packed.view);
			CHECK(test_same(&loose, &back));
			CHECK(packed.len <= loose.len);
			forms[packed.view.head.param[3]]++;

			bf_stats(NULL, &loose.view, &a);
			bf_stats(NULL, &packed.view, &b);
			CHECK(memcmp(&a, &b, sizeof(a)) == 0);
			CHECK(a.bits == head.payload_len * 2 && a.hashes == head.param[0]);
			CHECK((a.saturated == a.bits) == (how == 1));
			for (i = 0; i < 50; i++)
			{
				hashes[i] = test_random();
				CHECK(test_probe(&loose, hashes[i]) == test_probe(&packed, hashes[i]));
				CHECK(test_probe(&loose, hashes[i]) == sliced(&loose, hashes[i]));
				CHECK(test_probe(&loose, hashes[i]) == sliced(&packed, hashes[i]));
				CHECKF(count(&loose, hashes[i]) == count(&packed, hashes[i]), "%" PRIu64 " words, %d: %" PRIu64 " and %" PRIu64, size, how,
					   count(&loose, hashes[i]), count(&packed, hashes[i]));
			}
			kind->probe_many(&packed.view, hashes, 50, result);
			for (i = 0; i < 50; i++)
				CHECK(result[i] == test_probe(&loose, hashes[i]));
			test_free(&loose);
			test_free(&packed);
			test_free(&again);
			test_free(&back);
		}
	for (how = 0; how < 16; how++)
		used += forms[how] > 0;
	CHECKF(used >= 5 && forms[0] > 0 && forms[1] > 0, "only %u numbers of planes were tried", used);
}

/* Does everything that is allowed with opened bytes; the answers are not checked. */
static void
use(const BfView *view)
{
	uint64_t	hashes[40];
	bool		result[40];
	TestFilter	loose;
	BfStats		stats;
	uint64_t	i;

	for (i = 0; i < 40; i++)
	{
		hashes[i] = test_random();
		CHECK(kind->count(view, hashes[i]) == 0 || kind->prober(view) (view, hashes[i]));
	}
	kind->probe_many(view, hashes, 40, result);
	bf_stats(NULL, view, &stats);
	CHECK(stats.bits_set <= stats.bits && stats.fpr >= 0 && stats.fpr <= 1 && isfinite(stats.keys));
	if (!kind->is_packed(&view->head))
		return;
	loose = loosen(view);
	for (i = 0; i < 40; i++)
		CHECK(test_probe(&loose, hashes[i]) == result[i]);
	bf_counting_portable_loosen(test_payload(&loose), view);
	for (i = 0; i < 40; i++)
		CHECK(test_probe(&loose, hashes[i]) == result[i]);
	test_free(&loose);
}

/* Checks that an accepted packed payload is exactly what pack() makes of its counters. */
static void
is_canonical(const BfView *view)
{
	TestFilter	loose = loosen(view);
	BfHeader	head;
	uint8_t    *payload;

	kind->pack_plan(NULL, &loose.view, &head);
	payload = test_malloc(head.payload_len);
	memset(payload, 0, head.payload_len);
	kind->pack(NULL, &head, payload, &loose.view);
	CHECK(memcmp(head.param, view->head.param, sizeof(head.param)) == 0 && head.payload_len == view->head.payload_len);
	CHECK(head.payload_len != view->head.payload_len || memcmp(payload, view->payload, head.payload_len) == 0);
	free(payload);
	test_free(&loose);
}

/*
 * Changes every single byte of a small value to every other value: the result is refused, or is
 * harmless and canonical.
 */
static void
corrupted_bytes(void)
{
	static const struct
	{
		uint64_t	words;
		int			how;
	}			cases[] = {{1, 7}, {3, 2}, {8, 4}, {9, 6}, {12, 5}, {40, 4}, {131, 3}};
	uint64_t	refused = 0;
	uint64_t	accepted = 0;
	size_t		c;

	for (c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
	{
		BfHeader	head = head_of(cases[c].words, 5);
		TestFilter	loose = test_empty(&head);
		TestFilter	packed;
		size_t		at;

		fill(&loose, cases[c].how);
		packed = pack(&loose);
		for (at = BF_OFF_PARAM; at < packed.len; at++)
		{
			/* all values of the first few and the last few bytes, a few of each other */
			unsigned	step = at < 200 || at + 40 > packed.len ? 1 : 29;
			uint8_t		good = packed.data[at];
			unsigned	value;

			for (value = 0; value < 256; value += step)
			{
				BfView		view;
				const char *reason;

				packed.data[at] = (uint8_t) value;
				if (bf_open(packed.data, packed.len, packed.len, &view, &reason) != BF_OK)
				{
					refused++;
					continue;
				}
				use(&view);
				bf_seal(&test_env, packed.data, packed.len);
				if (bf_validate(&test_env, packed.data, packed.len, &view, &reason) != BF_OK)
				{
					CHECK(value != good);
					refused++;
					continue;
				}
				accepted++;
				if (kind->is_packed(&view.head))
					is_canonical(&view);
			}
			packed.data[at] = good;
		}
		test_free(&loose);
		test_free(&packed);
	}
	printf("%" PRIu64 " refused, %" PRIu64 " accepted\n", refused, accepted);
	CHECK(refused > 10000 && accepted > 1000);
}

/* Puts random payloads under valid headers: using them is safe, and they are hardly ever valid. */
static void
noise(void)
{
	uint64_t	opened = 0;
	int			round;

	for (round = 0; round < 20000; round++)
	{
		BfHeader	head = head_of(1, 1 + (uint32_t) test_below(10));
		TestFilter	filter;
		const char *reason;
		BfView		view;
		uint64_t	i;

		head.param[1] = 1;
		head.param[2] = 1 + (uint32_t) test_below(200);
		head.param[3] = (uint32_t) test_below(17);
		head.payload_len = head.param[3] == 0 ? head.param[2] * 8 : 8 * (1 + test_below(head.param[2]));
		if (kind->check(&head) != NULL)
			continue;
		opened++;
		filter = test_empty(&head);
		for (i = 0; i < head.payload_len; i++)
			if (test_below(4) != 0)
				test_payload(&filter)[i] = (uint8_t) (round % 3 == 0 ? test_random() & test_random() & test_random() : test_random());
		use(&filter.view);
		bf_seal(&test_env, filter.data, filter.len);
		if (bf_validate(&test_env, filter.data, filter.len, &view, &reason) == BF_OK)
			is_canonical(&view);
		test_free(&filter);
	}
	CHECK(opened > 5000);
}

/* Checks that headers with invalid fields are refused. */
static void
refused_headers(void)
{
	BfHeader	good = head_of(100, 7);
	BfHeader	packed = good;
	BfHeader	bad;

	packed.param[1] = 1;
	packed.param[2] = 100;
	packed.param[3] = 2;
	packed.payload_len = 304;
	CHECK(kind->check(&good) == NULL && kind->check(&packed) == NULL);

#define REFUSED(from, change) \
	do { \
		bad = from; \
		change; \
		CHECKF(kind->check(&bad) != NULL, #change); \
	} while (0)

	REFUSED(good, bad.param[0] = 0);
	REFUSED(good, bad.param[0] = BF_MAX_PROBES + 1);
	REFUSED(good, bad.payload_len = 0);
	REFUSED(good, bad.payload_len++);
	REFUSED(good, bad.param[2] = 1);
	REFUSED(good, bad.param[3] = 1);
	REFUSED(packed, bad.param[1] = 2);
	REFUSED(packed, bad.param[2] = 0);
	REFUSED(packed, bad.param[2] = 1000);
	REFUSED(packed, bad.param[2] = 38);
	REFUSED(packed, bad.param[2] = UINT32_MAX);
	REFUSED(packed, bad.param[3] = 0);
	REFUSED(packed, bad.param[3] = 16);
	REFUSED(packed, bad.payload_len = 800);
	REFUSED(packed, bad.payload_len = 200);
	REFUSED(packed, bad.payload_len += 4);

	/* a value that would not fit when loosened, at the largest size that does */
	packed.param[2] = (uint32_t) ((BF_MAX_VALUE_SIZE - bf_payload_offset(packed.family_len)) / 8);
	packed.payload_len = (uint64_t) packed.param[2] * 3;
	packed.payload_len -= packed.payload_len % 8;
	CHECK(kind->check(&packed) == NULL);
	REFUSED(packed, bad.param[2]++);
}

/* ---- size and speed ---- */

static void
bits_per_key(void)
{
	static const struct
	{
		double		fpr;
		double		allowed;	/* bits per key, stored */
	}			rows[] = {{0.1, 9}, {0.01, 17}, {0.001, 25.5}};
	uint64_t	n = test_trials(1000000);
	size_t		r;

	for (r = 0; r < sizeof(rows) / sizeof(rows[0]); r++)
	{
		BfHeader	head = test_plan(kind, rows[r].fpr, n);
		TestFilter	loose = test_empty(&head);
		TestFilter	packed;
		TestFilter	back;
		BfDesign	design;
		BfStats		stats;
		double		bits;
		double		start;
		double		times[3];
		uint64_t	found = 0;
		uint64_t	counted = 0;
		uint64_t	i;

		for (i = 0; i < n; i++)
			add(&loose, hash_of(i), 1);
		start = test_seconds();
		packed = pack(&loose);
		times[0] = test_seconds() - start;
		start = test_seconds();
		back = loosen(&packed.view);
		times[1] = test_seconds() - start;
		CHECK(memcmp(back.view.payload, loose.view.payload, head.payload_len) == 0);
		bits = (double) packed.len * 8 / (double) n;
		start = test_seconds();
		for (i = 0; i < 100000; i++)
			counted += count(&packed, hash_of(i));
		times[2] = test_seconds() - start;
		for (i = n; i < 2 * n; i++)
			found += test_probe(&packed, hash_of(i));
		bf_stats(NULL, &packed.view, &stats);
		printf("%g: %.2f bits per key stored, %.2f loose, %u planes; per 16 counters %.1f ns to pack, %.1f to loosen; %.0f ns a count; "
			   "counted %.3f times too high; FPR %.4g\n", rows[r].fpr, bits, (double) loose.len * 8 / (double) n,
			   packed.view.head.param[3], times[0] * 1e9 / ((double) head.payload_len / 8), times[1] * 1e9 / ((double) head.payload_len / 8),
			   times[2] * 1e4, (double) counted / 100000 - 1, (double) found / (double) n);
		CHECKF(bits <= rows[r].allowed, "%g bits per key at %g", bits, rows[r].fpr);
		CHECK(bf_design(kind, rows[r].fpr, &design) == BF_OK);
		CHECKF(fabs(bits * 1000 / design.stored_millibits - 1) < 0.01, "%g bits per key, %u thousandths announced", bits,
			   design.stored_millibits);
		CHECK(design.millibits > 2 * design.stored_millibits);
		CHECK(counted >= 100000 && counted < 102000 + 100000 * rows[r].fpr * 2);
		CHECK((double) found <= (double) n * rows[r].fpr + 5 * sqrt((double) n * rows[r].fpr));
		CHECK(fabs(stats.keys / (double) n - 1) < 0.01 && stats.saturated == 0);
		test_free(&loose);
		test_free(&packed);
		test_free(&back);
	}
}

static void
count_interrupts(void *arg)
{
	(*(uint64_t *) arg)++;
}

static void
interrupts(void)
{
	uint64_t	calls = 0;
	BfPort		port = {.check_interrupts = count_interrupts, .arg = &calls};
	BfHeader	head = head_of(720720, 7);
	uint64_t	least = 720720 / 65536;
	TestFilter	loose = test_empty(&head);
	TestFilter	packed = pack(&loose);
	BfHeader	plan;
	BfStats		stats;

	/* not through env only: NULL was fine above */
	kind->pack_plan(&port, &loose.view, &plan);
	CHECKF(calls >= least && calls < 40 * least, "%" PRIu64 " calls", calls);
	calls = 0;
	memset(test_payload(&packed), 0, plan.payload_len);
	kind->pack(&port, &plan, test_payload(&packed), &loose.view);
	CHECKF(calls >= least && calls < 40 * least, "%" PRIu64 " calls", calls);
	calls = 0;
	kind->loosen(&port, &head, test_payload(&loose), &packed.view);
	CHECKF(calls >= least && calls < 40 * least, "%" PRIu64 " calls", calls);
	calls = 0;
	bf_stats(&port, &packed.view, &stats);
	CHECKF(calls >= least && calls < 40 * least, "%" PRIu64 " calls", calls);
	test_free(&loose);
	test_free(&packed);
}

int
main(void)
{
	kind = bf_kind_by_id(BF_KIND_COUNTING);
	test_seed(7);
	RUN(there_and_back);
	RUN(corrupted_bytes);
	RUN(noise);
	RUN(refused_headers);
	RUN(bits_per_key);
	RUN(interrupts);
	return test_finish();
}
