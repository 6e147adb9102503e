/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_run.c
 *	  Runs: shapes, pages, lookups, removal, merging, the stored bytes, and hostile bytes.
 *
 *-------------------------------------------------------------------------
 */
#include "run_model.h"

/* ---- shapes ---- */

static void
plans(void)
{
	BfRunShape	shape;
	BfRun		run;
	const char *reason;
	int			i;

	for (i = 0; i < 10000; i++)
	{
		uint64_t	n = test_random() >> (16 + test_below(48));
		unsigned	p = 1 + (unsigned) test_below(BF_RUN_MAX_P);
		uint64_t	blocks = (test_random() >> (32 + test_below(32))) + 1;
		unsigned	offsets = 1 + (unsigned) test_below(UINT16_MAX);
		uint32_t	first;
		double		bytes;
		double		ideal;

		blocks = BF_MIN(blocks, UINT32_MAX);
		first = (uint32_t) test_below((UINT64_C(1) << 32) - blocks + 1);
		if (!bf_run_plan(n, p, first, blocks, offsets, 8152, &shape))
		{
			/* 2^32 pages */
			CHECK(n > UINT64_C(1) << 40);
			continue;
		}
		CHECK(bf_run_open(&shape, 8152, &run, &reason) && reason == NULL);
		CHECK(run.w <= 56 && run.shape.s <= 56 && run.capacity > 100);
		CHECK(run.records_at + ((uint64_t) run.capacity * run.width + 7) / 8 + 8 <= run.body);
		CHECK(run.places == blocks * offsets);
		CHECK(shape.p == p && shape.first_block == first && shape.blocks == blocks && shape.offsets == offsets);
		if (n < 1000000 || ldexp(1, (int) p) < 4 * (double) n)
			continue;

		/* p - log2(n) + log2(places) + 2, and a tenth for chance, the heads and the page's own */
		bytes = bf_run_entry_bytes(&run, n, 8192);
		ideal = (p - log2((double) n) + log2((double) run.places) + 2.1) / 8;
		CHECKF(bytes < ideal * 1.13 && bytes > ideal * 0.98, "%g bytes, not %g", bytes, ideal);
	}
}

static void
refused_plans(void)
{
	BfRunShape	shape;

	CHECK(bf_run_plan(0, 1, 0, 1, 1, 512, &shape));
	CHECK(bf_run_plan(0, 56, 0, UINT32_MAX, UINT16_MAX, 512, &shape));
	CHECK(bf_run_plan(0, 56, UINT32_MAX, 1, 1, 512, &shape));
	CHECK(!bf_run_plan(1, 0, 0, 1, 1, 512, &shape));
	CHECK(!bf_run_plan(1, 57, 0, 1, 1, 512, &shape));
	CHECK(!bf_run_plan(1, 1, 0, 0, 1, 512, &shape));
	CHECK(!bf_run_plan(1, 1, 1, UINT64_C(1) << 32, 1, 512, &shape));
	CHECK(!bf_run_plan(1, 1, 2, UINT32_MAX, 1, 512, &shape));
	CHECK(!bf_run_plan(1, 1, 0, 1, 0, 512, &shape));
	CHECK(!bf_run_plan(1, 1, 0, 1, 65536, 512, &shape));
	CHECK(!bf_run_plan(1, 1, 0, 1, 1, 511, &shape));
	CHECK(!bf_run_plan(1, 1, 0, 1, 1, 32769, &shape));
	CHECK(!bf_run_plan(BF_RUN_MAX_ENTRIES, 56, 0, 1000000, 100, 512, &shape));
	CHECK(!bf_run_plan(BF_RUN_MAX_ENTRIES + 1, 56, 0, 1, 1, 8152, &shape));
}

static void
hostile_shape(BfRunShape shape, const char *expected)
{
	const char *reason;
	BfRun		run;

	if (CHECKF(!bf_run_open(&shape, 8152, &run, &reason), "accepted, and not \"%s\"", expected))
		CHECKF(strcmp(reason, expected) == 0, "\"%s\", not \"%s\"", reason, expected);
}

static void
hostile_shapes(void)
{
	const BfRunShape good = {.d = 100, .pages = 10, .blocks = 100, .offsets = 100, .p = 20};
	BfRunShape	bad;
	const char *reason;
	BfRun		run;
	int			i;

	CHECK(bf_run_open(&good, 8152, &run, &reason));
	CHECK(!bf_run_open(&good, 511, &run, &reason) && strcmp(reason, "a page's size is out of range") == 0);
#define WITH(field, value) (bad = good, bad.field = (value), bad)
	hostile_shape(WITH(p, 0), "a number of hash bits is out of range");
	hostile_shape(WITH(p, 57), "a number of hash bits is out of range");
	hostile_shape(WITH(s, 21), "a number of hash bits is out of range");
	hostile_shape(WITH(pages, 0), "the number of pages is out of range");
	hostile_shape(WITH(pages, UINT32_MAX), "the number of pages is out of range");
	hostile_shape(WITH(pages, (1 << 20) + 1), "the number of pages is out of range");
	hostile_shape(WITH(blocks, 0), "the range of places is out of range");
	hostile_shape(WITH(offsets, 0), "the range of places is out of range");
	hostile_shape(WITH(first_block, UINT32_MAX - 98), "the range of places is out of range");
	hostile_shape(WITH(d, 0), "a record is too wide");
	hostile_shape(WITH(d, UINT64_MAX), "a record is too wide");
	hostile_shape(WITH(d, (UINT64_C(1) << 56) / 10000 + 1), "a record is too wide");
	hostile_shape(WITH(d, 1), "a page has no room for its buckets");
	hostile_shape((bad = good, bad.d = 1, bad.pages = 17, bad), "a page has no room for an entry");
#undef WITH

	/* whatever is accepted fits its page */
	for (i = 0; i < 200000; i++)
	{
		uint64_t	words[3] = {test_random(), test_random(), test_random()};
		uint32_t	body = 512 + (uint32_t) test_below(32257);

		memcpy(&bad, words, sizeof(bad));
		bad.d >>= test_below(64);
		bad.pages >>= test_below(32);
		bad.blocks >>= test_below(32);
		bad.offsets >>= test_below(16);
		bad.p &= 63;
		bad.s &= bad.s & 64 ? 0 : 63;
		if (!bf_run_open(&bad, body, &run, &reason))
		{
			CHECK(reason != NULL);
			continue;
		}
		CHECK(run.capacity >= 1 && run.capacity <= UINT16_MAX && run.buckets >= 1 && run.w <= 56);
		CHECK(run.unary_at % 8 == 0 && run.unary_at >= 24 + (run.buckets - 1) / 256 * 2);
		CHECK(run.records_at >= run.unary_at + (run.buckets + run.capacity + 7) / 8);
		CHECK(run.records_at + ((uint64_t) run.capacity * run.width + 7) / 8 + 8 <= body);
	}
}

/* Checks that every hash has exactly one page, and that the page's aim agrees. */
static void
intervals(void)
{
	int			i;
	int			j;

	for (i = 0; i < 1000; i++)
	{
		unsigned	p = 1 + (unsigned) test_below(BF_RUN_MAX_P);
		BfRunShape	shape;
		BfRun		run;
		const char *reason;

		if (!bf_run_plan(test_random() >> (20 + test_below(44)), p, 0, 1000, 100, 8152, &shape))
			continue;
		CHECK(bf_run_open(&shape, 8152, &run, &reason));
		CHECK(bf_run_page_begin(&run, 0) == 0);
		CHECK(bf_run_page_of(&run, UINT64_MAX) == shape.pages - 1);
		for (j = 0; j < 20; j++)
		{
			uint32_t	page = (uint32_t) test_below(shape.pages);
			uint64_t	begin = bf_run_page_begin(&run, page);
			BfRunAim	aim;

			CHECK(bf_run_page_of(&run, begin) == page);
			CHECK(page == 0 || bf_run_page_of(&run, begin - 1) == page - 1);
			bf_run_aim(&run, begin, &aim);
			CHECK(aim.page == page && aim.bucket == 0 && aim.record == 0 && aim.low == 0);
			if (page > 0)
			{
				bf_run_aim(&run, begin - 1, &aim);
				CHECK(aim.page == page - 1 && aim.bucket < run.buckets);
				CHECK(aim.record <= (shape.d - 1) * run.places);
			}
		}
	}
}

/* ---- models ---- */

static void
models(void)
{
	int			i;

	for (i = 0; i < 40; i++)
	{
		RunModel	model = run_random_model(3000);

		run_model(&model);
	}
}

/*
 * Tests runs as indexes have them: small runs with long hashes and distant places, and a large run.
 */
static void
usual(void)
{
	static const RunModel usual[] = {
		{.n = 20000, .planned = 20000, .keys = 800000, .p = 44, .blocks = 4000000000u, .offsets = 291, .body = 8152},
		{.n = 20000, .planned = 20000, .keys = 800000, .p = 56, .blocks = 700, .offsets = 157, .body = 8152},
		{.n = 30000, .planned = 30000, .keys = 1000000, .p = 24, .blocks = 700, .offsets = 157, .body = 8152},
		{.n = 20000, .planned = 20000, .keys = 100, .p = 30, .blocks = 700, .offsets = 157, .body = 8152},
		{.n = 20000, .planned = 500, .keys = 100, .p = 12, .blocks = 700, .offsets = 157, .body = 8152},
		{.n = 20000, .planned = 20000, .keys = 1, .p = 12, .blocks = 700, .offsets = 157, .body = 1000},
		{.n = 1, .planned = 1, .keys = 1, .p = 56, .blocks = 1, .offsets = 1, .body = 8152},
		{.n = 30000, .planned = 30000, .keys = 1000, .p = 1, .blocks = 1, .offsets = 1, .body = 512},
	};
	size_t		i;

	for (i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		run_model(&usual[i]);
}

/*
 * Tests a key with many rows: the pages of its interval are bisected, not read one after another.
 */
static void
bisected(void)
{
	RunModel	model = {.n = 200000, .planned = 2000, .keys = 4000, .p = 12, .blocks = 1000, .offsets = 100, .body = 512};
	TestEntries list = run_random_entries(&model);
	TestEntries found = {0};
	TestRun		run;
	uint64_t	key;

	run_make(&run, &model, &list, 0);
	CHECK(run.pages[BF_RUN_OVERFLOW].n > 50 * run.pages[BF_RUN_MAIN].n);
	for (key = 0; key < 4000; key++)
	{
		int			read = run_find(&run, run_hash(key), &found);
		int			full = (int) (found.n / run.run.capacity);

		CHECKF(read <= full + 11, "%d pages are read for %zu places", read, found.n);
	}
	run_free(&run);
	run_free_entries(&list);
	run_free_entries(&found);
}

/* ---- writers ---- */

static void
misuse(void)
{
	BfRunShape	shape;
	TestRun		run;
	BfRunWriter writer;
	uint8_t		room[2 * 1000];
	int			i;
	static const struct
	{
		uint64_t	hash;
		uint64_t	place;
		BfRunStatus status;
	}			steps[] = {
		{UINT64_C(5) << 60, BF_RUN_PLACE(9, 1), BF_RUN_NO_PLACE},
		{UINT64_C(5) << 60, BF_RUN_PLACE(10, 0), BF_RUN_NO_PLACE},
		{UINT64_C(5) << 60, BF_RUN_PLACE(10, 101), BF_RUN_NO_PLACE},
		{UINT64_C(5) << 60, BF_RUN_PLACE(30, 1), BF_RUN_NO_PLACE},
		{UINT64_C(5) << 60, UINT64_MAX, BF_RUN_NO_PLACE},
		{UINT64_C(5) << 60, BF_RUN_PLACE(29, 100), BF_RUN_OK},
		{UINT64_C(5) << 60, BF_RUN_PLACE(10, 1), BF_RUN_OK},
		{(UINT64_C(5) << 60) - 1, BF_RUN_PLACE(10, 1), BF_RUN_DISORDER},
		{UINT64_C(6) << 60, BF_RUN_PLACE(10, 1), BF_RUN_OK},
		{UINT64_C(5) << 60, BF_RUN_PLACE(10, 1), BF_RUN_DISORDER},
	};

	CHECK(bf_run_plan(10000, 20, 10, 20, 100, 1000, &shape));
	run_begin(&run, &shape, 1000);
	bf_run_write_begin(&writer, &run.run, 0, 0, room, run_emit, &run);
	for (i = 0; i < (int) (sizeof(steps) / sizeof(steps[0])); i++)
		CHECKF(bf_run_write(&writer, &(BfRunEntry) {steps[i].hash, steps[i].place}) == steps[i].status, "step %d", i);
	CHECK(writer.entries == 3 && writer.fingerprints == 2);
	CHECK(bf_run_write_until(&writer, UINT32_MAX) == BF_RUN_OK);
	CHECK(run.pages[BF_RUN_MAIN].n == shape.pages);
	CHECK(bf_run_write(&writer, &(BfRunEntry) {UINT64_MAX, BF_RUN_PLACE(10, 1)}) == BF_RUN_DISORDER);
	CHECK(writer.entries == 3);
	run_free(&run);

	/* the number of overflow pages has an end */
	run_begin(&run, &shape, 1000);
	bf_run_write_begin(&writer, &run.run, 0, BF_RUN_MAX_PAGES, room, run_emit, &run);
	for (i = 0; i < (int) (2 * run.run.capacity); i++)
		CHECK(bf_run_write(&writer, &(BfRunEntry) {0, BF_RUN_PLACE(10, 1)}) == BF_RUN_OK);
	CHECK(bf_run_write(&writer, &(BfRunEntry) {0, BF_RUN_PLACE(10, 1)}) == BF_RUN_TOO_LARGE);
	CHECK(bf_run_write_until(&writer, 1) == BF_RUN_TOO_LARGE);
	run_free(&run);
}

/* ---- the stored bytes ---- */

static void
check_golden(const TestRun *run, BfRunPageKind kind, uint32_t number, const char *expected)
{
	BfRunPage	page = run_page(run, kind, number);
	uint32_t	used = bf_run_page_used(&page);
	char		hex[2 * 512 + 1];
	uint32_t	i;

	for (i = 0; i < used; i++)
		snprintf(hex + 2 * i, 3, "%02x", page.body[i]);
	CHECKF(strcmp(hex, expected) == 0, "page %u of kind %d is %s", number, (int) kind, hex);
}

/* Checks that stored pages are made again to the byte, and remain readable. */
static void
golden(void)
{
	TestEntries list = {0};
	BfRunShape	shape;
	TestRun		run;
	uint64_t	i;

	/* the longest hashes and the farthest places: s > 0 */
	CHECK(bf_run_plan(20, 56, 1000, UINT32_MAX - 1000, 2048, 512, &shape));
	CHECK(shape.s > 0 && shape.pages == 1);
	run_begin(&run, &shape, 512);
	for (i = 0; i < 20; i++)
		run_append(&list, (BfRunEntry) {run_hash(i), BF_RUN_PLACE(1000 + i * i * 9000000, 1 + i * 100)});
	run_truncate(&list, 56);
	run_write(&run, &list, 0);
	check_golden(&run, BF_RUN_MAIN, 0,
				 "140001000000000000000000000000000000000000000000580b591aa029050000000000000000002cb130d125d0b49c"
				 "3920ef15afd4645834ccee38cb402b4286e39f4080084544a7620942461f2c10c1a2423f5c7e0e4c2c6a63061a7ac795"
				 "10502a32c4fd2704dc883f715fce8da5b0a69b8923dbcf646b95c332da44a7e92a980b5c281b40beee1c4a0ca2bd7274"
				 "6615c8d8a87744e87c0382061b41b89a4eb49569e5ea60e500d1c7554bac4138780d98dce60847b72b6ec5122e182457"
				 "1445c1ee32b5c0875f4b34a944ea278582cd643c68113970b27d593931b8f5b8dd332aece81b0769aca9b0ff9473ad3a"
				 "5efd9143d264a16952d02e0f005a4ff9ffb575970959c473f74c2a162f0efde38ac1ca");
	run_free(&run);
	run_free_entries(&list);

	/* many rows of one key: overflow */
	CHECK(bf_run_plan(300, 20, 7, 1000, 100, 512, &shape));
	CHECK(shape.s == 0);
	run_begin(&run, &shape, 512);
	for (i = 0; i < 300; i++)
		run_append(&list, (BfRunEntry) {run_hash(i < 150 ? i : 0), BF_RUN_PLACE(7 + i * 3, 1 + i / 3)});
	run_truncate(&list, 20);
	run_write(&run, &list, 0);
	CHECK(run.pages[BF_RUN_OVERFLOW].n > 0);
	check_golden(&run, BF_RUN_MAIN, 0,
				 "300001000000000000000000000000000000000000000000d40b5204401413a829391254e48d20660014010000000000"
				 "00000000000000002d5dcdbbfe0f688174ba70db705430c53249f267b56a63f2db809a2fa1171960442822728a6688c0"
				 "f2d3eeec43daba6e75e3fb3146dfb38a9381ceb9fea22699f1cc010b382b38647853bac4b3f6beac2e4a716035504221"
				 "989619acd7da5f3c3ab3e3cf28333e14ae3c2e88a58547596ca6e8b5f92997a692141aabfecdb209914de19910117460"
				 "7412002123321288c74a04e5591397c2deabd582bbfca7104788edd15bae214c");
	check_golden(&run, BF_RUN_OVERFLOW, 0,
				 "35000200030000000000000000000000cf360f0000000000000000000000000000c0ffffffffff1f91a0020000000000"
				 "000000000000000030f7acc785cf7a89f9ac57abcf7ae1fbace7d0cf7a3afeac67f6cf7a9300adf71bd07aeb02ad8741"
				 "d07a4405ad0767d07a9d07ad978cd07af509ad27b2d07a4e0cada7d7d07aa70ead37fdd07aff10adc722d17a5813ad47"
				 "48d17ab115add76dd17a0918ad6793d17a621aade7b8d17abb1cad77ded17a131fad0704d27a6c21ad8729d27ac523ad"
				 "174fd27a1d26ada774d27a7628ad279ad27acf2aadb7bfd27a272dade7d3ab0b57885294217b23d9ddc97dfab67b1c63"
				 "4102");
	run_free(&run);
	run_free_entries(&list);
}

/* ---- hostile pages ---- */

/* Changes a number of bytes in a valid page: nothing that can be done with it may do harm. */
static void
hostile_pages(void)
{
	RunModel	model = {.n = 400, .planned = 300, .keys = 300, .p = 20, .blocks = 100, .offsets = 100, .body = 512};
	TestEntries list = run_random_entries(&model);
	TestEntries found = {0};
	TestRun		run;
	uint64_t	share = 3;
	int			i;
	int			refused = 0;

	run_make(&run, &model, &list, 0);
	for (i = 0; i < 30000; i++)
	{
		uint8_t    *body = test_malloc(512);
		uint8_t    *out = test_malloc(512);
		BfRunPageKind kind = test_below(2) == 0 && run.pages[2].n > 0 ? BF_RUN_OVERFLOW : BF_RUN_MAIN;
		BfRunEntry	entries[600];
		BfRunCursor cursor = {0};
		const char *reason;
		BfRunPage	page;
		BfRunAim	aim;
		int			changes;

		memcpy(body, run.pages[kind].body[test_below(run.pages[kind].n)], 512);
		for (changes = (int) test_below(4) + 1; changes > 0; changes--)
			body[test_below(test_below(2) == 0 ? 512 : 32)] ^= (uint8_t) (1 << test_below(8));
		if (bf_run_check_page(&run.run, body, &reason))
			CHECK(reason == NULL);
		else
		{
			CHECK(reason != NULL);
			refused++;
		}
		if (bf_run_open_page(&run.run, body, &page, &reason))
		{
			uint32_t	n = bf_run_read(&page, &cursor, entries, 600);
			uint32_t	removed = bf_run_remove(&page, run_dead, &share, out);
			uint32_t	j;

			CHECK(n <= page.n && removed <= n);
			for (j = 0; j < n; j++)
				CHECK(BF_RUN_BLOCK(entries[j].place) < 100 && BF_RUN_OFFSET(entries[j].place) - 1 < 100);
			bf_run_aim(&run.run, test_random(), &aim);
			found.n = 0;
			run_find_in(&page, &aim, 1 + (uint32_t) test_below(64), &found);
			CHECK(found.n <= page.n);
			bf_run_more(&page, &aim);
		}
		free(body);
		free(out);
	}
	CHECK(refused > 15000);
	run_free(&run);
	run_free_entries(&list);
	run_free_entries(&found);
}

/* Tests each reason for refusing a page. */
static void
reasons(void)
{
	RunModel	model = {.n = 600, .planned = 600, .keys = 6000, .p = 24, .blocks = 99, .offsets = 100, .body = 8152};
	TestEntries list = run_random_entries(&model);
	TestRun		run;
	uint32_t	records;
	int			i;
	struct
	{
		uint32_t	at;
		uint8_t		flip;
		const char *reason;
	}			cases[] = {
		{2, 4, "a page is of no known kind"},
		{3, 1, "a page is of no known kind"},
		{1, 0x80, "a page has more entries than it can hold"},
		{4, 1, "a page's interval is out of range"},
		{22, 1, "a page's first hash is out of range"},
		{19, 1, "a page's first hash is out of range"},
		{16, 1, "a page's first hash is not of its interval"},
		{0, 0, "a page's overflow pages are out of range"},
		{0, 1, "a page's buckets do not hold its entries"},
		{24, 1, "a page's directory is wrong"},
		{8151, 0x80, "a page's padding is not zero"},
		{0, 0, "an entry's hash is out of range"},
		{0, 0, "a page's entries are not in order"},
	};

	run_make(&run, &model, &list, 0);
	CHECK(run.run.shape.pages == 1 && run.run.buckets > 256);
	records = run.run.records_at;
	for (i = 0; i < (int) (sizeof(cases) / sizeof(cases[0])); i++)
	{
		uint8_t    *body = test_malloc(8152);
		const char *reason = NULL;

		memcpy(body, run.pages[BF_RUN_MAIN].body[0], 8152);
		body[cases[i].at] ^= cases[i].flip;
		if (strstr(cases[i].reason, "overflow") != NULL)
			memset(body + 8, 0xff, 8);
		if (strstr(cases[i].reason, "entry's") != NULL)
			memset(body + records, 0xff, run.run.width / 8 + 1);
		if (strstr(cases[i].reason, "entries are not") != NULL)
		{
			/* all rests are 0, but for the first entry of the buckets that have two */
			memset(body + records, 0, 600 * run.run.width / 8);
			for (uint32_t bit = 0; bit + 7 < 600 * run.run.width; bit += 2 * run.run.width)
				body[records + (bit + run.run.width - 2) / 8] |= (uint8_t) (1 << ((bit + run.run.width - 2) % 8));
		}
		CHECK(!bf_run_check_page(&run.run, body, &reason));
		CHECKF(reason != NULL && strcmp(reason, cases[i].reason) == 0, "\"%s\", not \"%s\"", reason, cases[i].reason);
		free(body);
	}
	run_free(&run);
	run_free_entries(&list);
}

int
main(void)
{
	test_seed(20261122);
	RUN(plans);
	RUN(refused_plans);
	RUN(hostile_shapes);
	RUN(intervals);
	RUN(usual);
	RUN(models);
	RUN(bisected);
	RUN(misuse);
	RUN(golden);
	RUN(hostile_pages);
	RUN(reasons);
	return test_finish();
}
