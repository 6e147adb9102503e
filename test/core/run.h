/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * run.h
 *	  Runs in memory, written and looked up as an index would do, for the tests of bf_run.h.
 *
 * Every page is a malloc() of exactly its body's size, so that ASan sees a read or a write of one
 * byte too many.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_TEST_RUN_H
#define BF_TEST_RUN_H

#include "test.h"

#include "../../src/core/bf_run.h"

typedef struct TestPages
{
	uint8_t   **body;
	uint32_t	n;
	uint32_t	room;
} TestPages;

typedef struct TestRun
{
	BfRun		run;
	TestPages	pages[3];		/* by kind */
} TestRun;

/* A list of entries, or of places if the hashes are not needed. */
typedef struct TestEntries
{
	BfRunEntry *entry;
	size_t		n;
	size_t		room;
} TestEntries;

static inline void
run_append(TestEntries *list, BfRunEntry entry)
{
	if (list->n == list->room)
	{
		list->room = BF_MAX(64, 2 * list->room);
		list->entry = realloc(list->entry, list->room * sizeof(BfRunEntry));
	}
	list->entry[list->n++] = entry;
}

static inline void
run_free_entries(TestEntries *list)
{
	free(list->entry);
	memset(list, 0, sizeof(*list));
}

static inline int
run_compare(const void *a, const void *b)
{
	const BfRunEntry *x = a;
	const BfRunEntry *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

static inline void
run_sort(TestEntries *list)
{
	if (list->n > 0)
		qsort(list->entry, list->n, sizeof(BfRunEntry), run_compare);
}

/* Removes from the hashes the bits that a run of p does not keep, and sorts the entries. */
static inline void
run_truncate(TestEntries *list, unsigned p)
{
	size_t		i;

	for (i = 0; i < list->n; i++)
		list->entry[i].hash &= ~UINT64_C(0) << (64 - p);
	run_sort(list);
}

static inline bool
run_same(const TestEntries *a, const TestEntries *b)
{
	return a->n == b->n && (a->n == 0 || memcmp(a->entry, b->entry, a->n * sizeof(BfRunEntry)) == 0);
}

/* ---- writing ---- */

static inline void
run_emit(void *arg, BfRunPageKind kind, uint32_t number, const uint8_t *body, uint32_t used)
{
	TestRun    *run = arg;
	TestPages  *pages = &run->pages[kind];
	uint32_t	i;

	CHECK(number == pages->n);
	CHECK(used <= run->run.body);
	for (i = used; i < run->run.body; i++)
		if (body[i] != 0)
			CHECKF(false, "byte %u of a page of %u in use is not zero", i, used);
	if (pages->n == pages->room)
	{
		pages->room = BF_MAX(16, 2 * pages->room);
		pages->body = realloc(pages->body, pages->room * sizeof(uint8_t *));
	}
	pages->body[pages->n] = test_malloc(run->run.body);
	memcpy(pages->body[pages->n++], body, run->run.body);
}

static inline void
run_begin(TestRun *run, const BfRunShape *shape, uint32_t body)
{
	const char *reason;

	memset(run, 0, sizeof(*run));
	if (!bf_run_open(shape, body, &run->run, &reason))
	{
		printf("a shape that was just planned cannot be opened: %s\n", reason);
		exit(2);
	}
}

/*
 * Writes all entries.  If every is above 0, the intervals are written in pieces of that many, each
 * by a writer of its own.  Returns the number of fingerprints.
 */
static inline uint64_t
run_write(TestRun *run, const TestEntries *list, uint32_t every)
{
	uint8_t    *room = test_malloc(2 * (size_t) run->run.body);
	uint64_t	fingerprints = 0;
	uint32_t	pages = run->run.shape.pages;
	BfRunWriter writer;
	size_t		i;

	bf_run_write_begin(&writer, &run->run, 0, 0, room, run_emit, run);
	for (i = 0; i < list->n; i++)
	{
		uint32_t	page = bf_run_page_of(&run->run, list->entry[i].hash);

		if (every > 0 && page / every != writer.interval / every)
		{
			uint32_t	overflow;

			CHECK(bf_run_write_until(&writer, page) == BF_RUN_OK);
			CHECK(writer.interval == page);
			fingerprints += writer.fingerprints;
			overflow = writer.overflow;
			bf_run_write_begin(&writer, &run->run, page, overflow, room, run_emit, run);
		}
		if (bf_run_write(&writer, &list->entry[i]) != BF_RUN_OK)
			CHECKF(false, "an entry cannot be written");
	}
	CHECK(bf_run_write_until(&writer, pages) == BF_RUN_OK);
	CHECK(run->pages[BF_RUN_MAIN].n == pages);
	CHECK(run->pages[BF_RUN_OVERFLOW].n == writer.overflow);
	CHECK(writer.overflow <= bf_run_max_overflow(&run->run, list->n));
	free(room);
	return fingerprints + writer.fingerprints;
}

static inline void
run_free(TestRun *run)
{
	uint32_t	i;
	int			kind;

	for (kind = BF_RUN_MAIN; kind <= BF_RUN_OVERFLOW; kind++)
	{
		for (i = 0; i < run->pages[kind].n; i++)
			free(run->pages[kind].body[i]);
		free(run->pages[kind].body);
	}
}

/* ---- reading ---- */

static inline BfRunPage
run_page(const TestRun *run, BfRunPageKind kind, uint32_t number)
{
	const char *reason;
	BfRunPage	page;

	if (number >= run->pages[kind].n || !bf_run_open_page(&run->run, run->pages[kind].body[number], &page, &reason))
	{
		printf("page %u of kind %d cannot be opened\n", number, (int) kind);
		exit(2);
	}
	CHECK(page.kind == kind && (kind == BF_RUN_MAIN ? page.interval : page.overflow_at) == number);
	return page;
}

/* Appends the places that a page has for an aim, max places at a time. */
static inline void
run_find_in(const BfRunPage *page, const BfRunAim *aim, uint32_t max, TestEntries *places)
{
	uint64_t	found[64];
	uint32_t	from = 0;
	uint32_t	n;
	uint32_t	i;

	do
	{
		n = bf_run_find(page, aim, &from, found, max);
		for (i = 0; i < n; i++)
			run_append(places, (BfRunEntry) {.place = found[i]});
	} while (n == max);
}

/* Finds all places of a hash.  Returns the number of pages that were read. */
static inline int
run_find(const TestRun *run, uint64_t hash, TestEntries *places)
{
	BfRunAim	aim;
	BfRunPage	page;
	BfRunSearch search;
	uint32_t	number;
	uint32_t	max = 1 + (uint32_t) (hash & 63);
	int			read = 1;

	places->n = 0;
	bf_run_aim(&run->run, hash, &aim);
	CHECK(aim.page == bf_run_page_of(&run->run, hash));
	page = run_page(run, BF_RUN_MAIN, aim.page);
	run_find_in(&page, &aim, max, places);
	if (!bf_run_more(&page, &aim))
		return read;
	bf_run_search_begin(&search, &page);
	while (bf_run_search_next(&search, &number))
	{
		page = run_page(run, BF_RUN_OVERFLOW, number);
		bf_run_search_tell(&search, &page, &aim);
		read++;
	}
	do
	{
		page = run_page(run, BF_RUN_OVERFLOW, number);
		run_find_in(&page, &aim, max, places);
		read++;
	} while (bf_run_more(&page, &aim) && ++number < search.end);
	return read;
}

/* Reads a run's entries in order, page after page, as a merge does. */
typedef struct TestReader
{
	const TestRun *run;
	BfRunPage	page;
	BfRunCursor cursor;
	uint32_t	next;			/* main page */
	uint32_t	overflow;		/* next overflow page, and the end of the interval's */
	uint32_t	overflow_end;
	uint32_t	at;
	uint32_t	n;
	BfRunEntry	entries[50];
} TestReader;

static inline bool
run_next(TestReader *reader, BfRunEntry *entry)
{
	while (reader->at == reader->n)
	{
		reader->at = reader->n = 0;
		if (reader->page.run != NULL)
			reader->n = bf_run_read(&reader->page, &reader->cursor, reader->entries, 50);
		if (reader->n > 0)
			break;
		memset(&reader->cursor, 0, sizeof(reader->cursor));
		if (reader->overflow < reader->overflow_end)
			reader->page = run_page(reader->run, BF_RUN_OVERFLOW, reader->overflow++);
		else if (reader->next < reader->run->run.shape.pages)
		{
			reader->page = run_page(reader->run, BF_RUN_MAIN, reader->next++);
			reader->overflow = reader->page.overflow_at;
			reader->overflow_end = reader->overflow + reader->page.overflow;
		}
		else
			return false;
	}
	*entry = reader->entries[reader->at++];
	return true;
}

static inline TestEntries
run_read(const TestRun *run)
{
	TestReader	reader = {.run = run};
	TestEntries list = {0};
	BfRunEntry	entry;

	while (run_next(&reader, &entry))
		run_append(&list, entry);
	return list;
}

static inline void
run_check(const TestRun *run)
{
	const char *reason;
	uint32_t	i;
	int			kind;

	for (kind = BF_RUN_MAIN; kind <= BF_RUN_OVERFLOW; kind++)
		for (i = 0; i < run->pages[kind].n; i++)
			if (!bf_run_check_page(&run->run, run->pages[kind].body[i], &reason))
				CHECKF(false, "page %u of kind %d: %s", i, kind, reason);
}

#endif							/* BF_TEST_RUN_H */
