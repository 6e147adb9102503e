/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * run.c
 *	  How fast and how large the pages of a maplet's runs are.
 *
 *		run				ten million entries of a table with ten million rows
 *		run --smoke		few entries, and a count of the successful checks
 *
 *-------------------------------------------------------------------------
 */
#include "../../test/core/test.h"

#include "../../src/core/bf_run.h"

#define BODY	8152
#define BLOCKS	63000
#define OFFSETS 158
#define KEYS	4096			/* looked up, of as many pages as fit the caches */

typedef struct Pages
{
	uint8_t    *bytes;
	uint64_t	n;
} Pages;

static void
keep(void *arg, BfRunPageKind kind, uint32_t number, const uint8_t *body, uint32_t used)
{
	Pages	   *pages = (Pages *) arg + kind;

	(void) used;
	pages->n = number + UINT64_C(1);
	memcpy(pages->bytes + (size_t) number * BODY, body, BODY);
}

static BfRunPage
page_at(const BfRun *run, const Pages *pages, uint32_t number)
{
	BfRunPage	page;
	const char *reason;

	if (!bf_run_open_page(run, pages->bytes + (size_t) number * BODY, &page, &reason))
	{
		printf("%s\n", reason);
		exit(1);
	}
	return page;
}

/* Looks keys up in the first pages.  Returns the number of places found per key. */
static double
look_up(const BfRun *run, const Pages *pages, const uint64_t *hashes, int rounds, double *seconds)
{
	uint64_t	found = 0;
	double		start = test_seconds();
	int			i;
	int			j;

	for (i = 0; i < rounds; i++)
		for (j = 0; j < KEYS; j++)
		{
			BfRunAim	aim;
			BfRunPage	page;
			uint64_t	places[64];
			uint32_t	from = 0;

			bf_run_aim(run, hashes[j], &aim);
			page = page_at(run, &pages[BF_RUN_MAIN], aim.page);
			found += bf_run_find(&page, &aim, &from, places, 64);
			found += (uint64_t) bf_run_more(&page, &aim) << 40;
		}
	*seconds = (test_seconds() - start) / rounds / KEYS;
	return (double) (found & ((UINT64_C(1) << 40) - 1)) / rounds / KEYS;
}

static void
measure(uint64_t n, unsigned p, const uint64_t *hashes)
{
	Pages		pages[3] = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
	uint8_t    *room = test_malloc(2 * BODY);
	uint64_t	keys[KEYS];
	BfRunEntry	entries[256];
	BfRunShape	shape;
	BfRunWriter writer;
	const char *reason;
	BfRun		run;
	double		start;
	double		encode;
	double		iterate;
	double		check;
	double		find;
	double		absent;
	double		seen;
	uint64_t	sum = 0;
	uint64_t	near;
	uint64_t	i;

	if (!bf_run_plan(n, p, 0, BLOCKS, OFFSETS, BODY, &shape) || !bf_run_open(&shape, BODY, &run, &reason))
		exit(1);
	pages[BF_RUN_MAIN].bytes = test_malloc((size_t) shape.pages * BODY);
	pages[BF_RUN_OVERFLOW].bytes = test_malloc((size_t) (bf_run_max_overflow(&run, n) + 1) * BODY);
	memset(pages[BF_RUN_MAIN].bytes, 0, (size_t) shape.pages * BODY);

	start = test_seconds();
	bf_run_write_begin(&writer, &run, 0, 0, room, keep, pages);
	for (i = 0; i < n; i++)
	{
		BfRunEntry	entry = {hashes[i], BF_RUN_PLACE(hashes[i] % BLOCKS, 1 + (hashes[i] >> 20) % OFFSETS)};

		if (bf_run_write(&writer, &entry) != BF_RUN_OK)
			exit(1);
	}
	if (bf_run_write_until(&writer, shape.pages) != BF_RUN_OK)
		exit(1);
	encode = test_seconds() - start;

	start = test_seconds();
	for (i = 0; i < shape.pages; i++)
	{
		BfRunPage	page = page_at(&run, &pages[BF_RUN_MAIN], (uint32_t) i);
		BfRunCursor cursor = {0};
		uint32_t	read;

		while ((read = bf_run_read(&page, &cursor, entries, 256)) > 0)
			sum += entries[0].place + entries[read - 1].hash;
	}
	iterate = test_seconds() - start;

	start = test_seconds();
	for (i = 0; i < shape.pages; i++)
		if (!bf_run_check_page(&run, pages[BF_RUN_MAIN].bytes + i * BODY, &reason))
			exit(1);
	check = test_seconds() - start;

	/* of the first 64 pages: half a megabyte */
	near = BF_MIN(n, 64 * (n / shape.pages));
	for (i = 0; i < KEYS; i++)
		keys[i] = hashes[test_below(near)];
	seen = look_up(&run, pages, keys, n > 100000 ? 200 : 1, &find);
	if (seen < 1)
		exit(1);
	for (i = 0; i < KEYS; i++)
		keys[i] = test_below(hashes[near - 1] | 1);
	seen = look_up(&run, pages, keys, n > 100000 ? 200 : 1, &absent);

	printf("n %" PRIu64 " p %u w %u s %u: %u + %u pages of %u entries, %.3f bytes an entry (%.3f expected), "
		   "%.5f false places (%.5f expected); "
		   "a second: %.0f million written, %.0f read, %.0f checked; find %.0f ns, absent %.0f ns (%" PRIu64 ")\n",
		   n, p, run.w, shape.s, shape.pages, writer.overflow, run.capacity,
		   8192.0 * (shape.pages + writer.overflow) / (double) n, bf_run_entry_bytes(&run, n, 8192),
		   seen, bf_run_false_places(n, p),
		   (double) n / encode / 1e6, (double) n / iterate / 1e6, (double) n / check / 1e6, find * 1e9, absent * 1e9, sum % 10);
	fflush(stdout);
	free(pages[BF_RUN_MAIN].bytes);
	free(pages[BF_RUN_OVERFLOW].bytes);
	free(room);
}

static int
compare(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a;
	uint64_t	y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

int
main(int argc, char **argv)
{
	bool		smoke = argc == 2 && strcmp(argv[1], "--smoke") == 0;
	uint64_t	n = smoke ? 20000 : 10000000;
	uint64_t   *hashes = test_malloc(n * sizeof(uint64_t));
	static const unsigned p[] = {28, 29, 31, 32, 44, 56};
	uint64_t	i;

	test_seed(1);
	for (i = 0; i < n; i++)
		hashes[i] = test_random();
	qsort(hashes, n, sizeof(uint64_t), compare);
	for (i = 0; i < 6; i++)
		measure(n, p[i], hashes);
	free(hashes);
	printf("6 passed, 0 failed\n");
	return 0;
}
