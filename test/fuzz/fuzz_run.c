/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * fuzz_run.c
 *	  Pages of runs from outside, of shapes from outside: nothing that is done with one does harm, and what is checked keeps its entries.
 *
 * The first 24 bytes are the shape, in the order of its fields and little-endian; 2 say how large a body is, 8 are a hash, the rest is the
 * page, cut or filled with zeros to a body's size.
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

#include "../../src/core/bf_run.h"

#define HEAD	34

static bool
is_odd(void *arg, uint64_t place)
{
	(void) arg;
	return (place ^ place >> 16) & 1;
}

/* All entries; those of damaged pages may be fewer than n. */
static uint32_t
read_all(const BfRunPage *page, BfRunEntry *entries)
{
	BfRunCursor cursor = {0};
	uint32_t	n = 0;
	uint32_t	read;

	while ((read = bf_run_read(page, &cursor, entries + n, 100)) > 0)
		n += read;
	return n;
}

static uint32_t
find_all(const BfRunPage *page, uint64_t hash)
{
	uint64_t	places[7];
	uint32_t	from = 0;
	uint32_t	found = 0;
	uint32_t	n;
	uint32_t	i;
	BfRunAim	aim;

	bf_run_aim(page->run, hash, &aim);
	bf_run_more(page, &aim);
	do
	{
		n = bf_run_find(page, &aim, &from, places, 7);
		found += n;
		for (i = 0; i < n; i++)
			MUST(BF_RUN_BLOCK(places[i]) - page->run->shape.first_block < page->run->shape.blocks);
		MUST(found <= page->n);
	} while (n == 7);
	return found;
}

static void
use(const BfRunPage *page, uint64_t hash, bool valid)
{
	const BfRun *run = page->run;
	BfRunEntry *entries = test_malloc((page->n + 100) * sizeof(BfRunEntry));
	uint8_t    *out = test_malloc(run->body);
	uint32_t	n = read_all(page, entries);
	uint32_t	removed;
	uint32_t	end;
	uint32_t	found;
	uint32_t	i;
	BfRunPage	after;
	const char *reason;

	MUST(valid ? n == page->n : n <= page->n);
	for (i = 0; i < n; i++)
	{
		MUST(BF_RUN_BLOCK(entries[i].place) - run->shape.first_block < run->shape.blocks);
		MUST((uint32_t) BF_RUN_OFFSET(entries[i].place) - 1 < run->shape.offsets);
		MUST(!valid || i == 0 || entries[i - 1].hash <= entries[i].hash);
	}
	find_all(page, hash);
	/* some keys that are there: each with all its entries */
	for (i = 0; i < n; i = end + n / 20)
	{
		for (end = i; end < n && entries[end].hash == entries[i].hash; end++)
			;
		while (i > 0 && entries[i - 1].hash == entries[i].hash)
			i--;
		found = find_all(page, entries[i].hash);
		MUST(!valid || found == end - i);
	}
	removed = bf_run_remove(page, is_odd, NULL, out);
	if (removed > 0 && valid)
	{
		MUST(bf_run_check_page(run, out, &reason));
		MUST(bf_run_open_page(run, out, &after, &reason));
		MUST(after.n == page->n - removed);
		MUST(bf_run_page_used(&after) <= bf_run_page_used(page));
	}
	if (removed == 0 && valid)
		MUST(memcmp(out, page->body, run->body) == 0);
	free(out);
	free(entries);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	BfRunShape	shape;
	BfRun		run;
	BfRunPage	page;
	uint8_t    *body;
	const char *reason;
	uint32_t	len;
	bool		valid;

	if (size < HEAD)
		return 0;
	shape.d = bf_load64(data);
	shape.pages = bf_load32(data + 8);
	shape.first_block = bf_load32(data + 12);
	shape.blocks = bf_load32(data + 16);
	shape.offsets = bf_load16(data + 20);
	shape.p = data[22];
	shape.s = data[23];
	len = bf_load16(data + 24);
	if (!bf_run_open(&shape, len, &run, &reason))
	{
		MUST(reason != NULL);
		return 0;
	}
	body = test_malloc(len);
	memset(body, 0, len);
	memcpy(body, data + HEAD, BF_MIN(len, size - HEAD));
	valid = bf_run_check_page(&run, body, &reason);
	MUST(valid == (reason == NULL));
	if (bf_run_open_page(&run, body, &page, &reason))
		use(&page, bf_load64(data + 26), valid);
	else
		MUST(!valid);
	fuzz_no_fault();
	free(body);
	return 0;
}
