/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_run_page.c
 *	  Reading of the pages of runs; see bf_run.h, and bf_run_int.h for the layout.
 *
 *-------------------------------------------------------------------------
 */
#include "bf_run_int.h"

#define BYTES_OF(byte)	(UINT64_C(0x0101010101010101) * (byte))

static bool
refuse(const char **reason, const char *why)
{
	*reason = why;
	return false;
}

bool
bf_run_open_page(const BfRun *run, const uint8_t *body, BfRunPage *page, const char **reason)
{
	*reason = NULL;
	page->run = run;
	page->body = body;
	page->n = bf_load16(body);
	page->kind = (BfRunPageKind) body[2];
	page->interval = bf_load32(body + 4);
	page->overflow = bf_load32(body + 8);
	page->overflow_at = bf_load32(body + 12);
	page->first = bf_load64(body + 16);

	if ((body[2] != BF_RUN_MAIN && body[2] != BF_RUN_OVERFLOW) || body[3] != 0)
		return refuse(reason, "a page is of no known kind");
	if (page->n > run->capacity)
		return refuse(reason, "a page has more entries than it can hold");
	if (page->interval >= run->shape.pages)
		return refuse(reason, "a page's interval is out of range");
	if (page->first >> run->shape.p != 0)
		return refuse(reason, "a page's first hash is out of range");
	if (page->overflow_at > BF_RUN_MAX_PAGES ||
		(page->kind == BF_RUN_MAIN ? page->overflow > BF_RUN_MAX_PAGES - page->overflow_at :
		 page->overflow > page->overflow_at))
		return refuse(reason, "a page's overflow pages are out of range");
	return true;
}

static bool
all_zero(const uint8_t *from, const uint8_t *to)
{
	uint8_t		any = 0;

	for (; from < to; from++)
		any |= *from;
	return any == 0;
}

/* Counts the 1 bits of a page's unary part; a valid page has as many of them as entries. */
static uint32_t
count_ones(const BfRunPage *page)
{
	const uint8_t *unary = page->body + page->run->unary_at;
	uint32_t	ones = 0;
	uint32_t	i;

	for (i = 0; i < bf_run_words(page->run); i++)
		ones += (uint32_t) __builtin_popcountll(bf_load64(unary + 8 * i));
	return ones;
}

/* Checks that the bytes after the directory, and all bits after the last record, are zero. */
static bool
padding_is_zero(const BfRunPage *page)
{
	const BfRun *run = page->run;
	uint64_t	bits = (uint64_t) page->n * run->width;
	const uint8_t *end = page->body + run->records_at + bits / 8;

	if (!all_zero(page->body + BF_RUN_HEAD + 2 * bf_run_samples(run), page->body + run->unary_at))
		return false;
	return *end >> (bits % 8) == 0 && all_zero(end + 1, page->body + run->body);
}

bool
bf_run_check_page(const BfRun *run, const uint8_t *body, const char **reason)
{
	const BfRunShape *shape = &run->shape;
	BfRunPage	page;
	BfRunRecord record;
	BfRunCursor cursor = {0};
	uint64_t	begin;
	uint64_t	end;
	uint64_t	last;
	uint32_t	samples = 0;
	uint32_t	entry = 0;

	if (!bf_run_open_page(run, body, &page, reason))
		return false;
	begin = bf_run_begin(shape, page.interval);
	end = bf_run_begin(shape, page.interval + 1);
	if (page.kind == BF_RUN_MAIN ? page.first != begin : page.first < begin || page.first >= end)
		return refuse(reason, "a page's first hash is not of its interval");
	if (count_ones(&page) != page.n)
		return refuse(reason, "a page's buckets do not hold its entries");
	if (!padding_is_zero(&page))
		return refuse(reason, "a page's padding is not zero");

	for (last = page.first; bf_run_next(&page, &cursor, &record); entry++)
	{
		uint64_t	rest = bf_run_divide(record.record, run->places, run->by_places);
		uint64_t	kept;

		if (record.bucket >= run->buckets || rest >= shape->d)
			return refuse(reason, "an entry's hash is out of range");
		kept = begin + ((record.bucket * shape->d + rest) << shape->s | record.low);
		if (kept < last)
			return refuse(reason, "a page's entries are not in order");
		if (kept >= end)
			return refuse(reason, "an entry's hash is not of its page");
		last = kept;
		for (; samples < record.bucket / BF_RUN_SAMPLE; samples++)
			if (bf_load16(body + BF_RUN_HEAD + 2 * samples) != entry)
				return refuse(reason, "a page's directory is wrong");
	}
	for (; samples < bf_run_samples(run); samples++)
		if (bf_load16(body + BF_RUN_HEAD + 2 * samples) != page.n)
			return refuse(reason, "a page's directory is wrong");
	return true;
}

/*
 * Finds the z-th zero of the unary part, counted from 1, at or after bit *at, and sets *at to the
 * bit after it; returns false if there is none.
 *
 * The sums of bytes are a by-product of counting a word's bits; the zero lies in the first byte
 * whose sum is large enough (Vigna 2008, "Broadword implementation of rank/select queries").
 */
static bool
behind_zero(const BfRunPage *page, uint32_t z, uint32_t *at)
{
	const uint8_t *unary = page->body + page->run->unary_at;
	uint32_t	words = bf_run_words(page->run);
	uint32_t	word = *at / 64;
	uint64_t	above = ~UINT64_C(0) << (*at % 64);

	for (; word < words; word++, above = ~UINT64_C(0))
	{
		uint64_t	zeros = ~bf_load64(unary + 8 * word) & above;
		uint64_t	sums = zeros - (zeros >> 1 & BYTES_OF(0x55));
		uint32_t	byte;

		sums = (sums & BYTES_OF(0x33)) + (sums >> 2 & BYTES_OF(0x33));
		sums = ((sums + (sums >> 4)) & BYTES_OF(0x0f)) * BYTES_OF(1);
		if (sums >> 56 < z)
		{
			z -= (uint32_t) (sums >> 56);
			continue;
		}
		byte = (uint32_t) __builtin_ctzll((sums + BYTES_OF(128 - z)) & BYTES_OF(0x80)) / 8 * 8;
		z -= (uint32_t) (sums << 8 >> byte & 0xff);
		zeros = zeros >> byte;
		while (--z > 0)
			zeros &= zeros - 1;
		*at = word * 64 + byte + (uint32_t) __builtin_ctzll(zeros) + 1;
		return true;
	}
	return false;
}

/* Returns the number of consecutive 1 bits of a page's unary part that begin at bit `at`. */
static uint32_t
ones_from(const BfRunPage *page, uint32_t at)
{
	const uint8_t *unary = page->body + page->run->unary_at;
	uint32_t	words = bf_run_words(page->run);
	uint32_t	word = at / 64;
	uint32_t	ones = 0;

	for (; word < words; word++)
	{
		uint64_t	zeros = ~bf_load64(unary + 8 * word) >> (at % 64);

		if (zeros != 0)
			return ones + (uint32_t) __builtin_ctzll(zeros);
		ones += 64 - at % 64;
		at = 0;
	}
	return ones;
}

/*
 * Finds the entries of a bucket: those from *begin up to, but not including, *end, which is at most
 * page->n.
 */
static void
bucket_entries(const BfRunPage *page, uint32_t bucket, uint32_t *begin, uint32_t *end)
{
	uint32_t	sample = bucket / BF_RUN_SAMPLE;
	uint32_t	z = bucket % BF_RUN_SAMPLE;
	uint32_t	at = sample * BF_RUN_SAMPLE;

	if (sample > 0)
		at += bf_load16(page->body + BF_RUN_HEAD + 2 * (sample - 1));
	if (z > 0 && !behind_zero(page, z, &at))
		at = bucket + page->n;
	*begin = BF_MIN(at - bucket, page->n);
	*end = BF_MIN(*begin + ones_from(page, at), page->n);
}

uint32_t
bf_run_find(const BfRunPage *page, const BfRunAim *aim, uint32_t *from, uint64_t *places,
			uint32_t max)
{
	const BfRun *run = page->run;
	const uint8_t *records = page->body + run->records_at;
	uint32_t	found = 0;
	uint32_t	begin;
	uint32_t	end;
	uint32_t	i;

	bucket_entries(page, aim->bucket, &begin, &end);
	for (i = begin + *from; i < end && found < max; i++)
	{
		uint64_t	at = (uint64_t) i * run->width;
		uint64_t	place = bf_run_get(records, at, run->w) - aim->record;

		/*
		 * If the entry's rest is not the aim's, the difference is either negative, and so wraps
		 * around, or too large.
		 */
		if (place < run->places &&
			(run->shape.s == 0 || bf_run_get(records, at + run->w, run->shape.s) == aim->low))
			places[found++] = bf_run_place(run, place);
	}
	*from = i - begin;
	return found;
}

bool
bf_run_more(const BfRunPage *page, const BfRunAim *aim)
{
	uint32_t	begin;
	uint32_t	end;

	if (page->kind == BF_RUN_MAIN && page->overflow == 0)
		return false;
	bucket_entries(page, aim->bucket, &begin, &end);
	return end >= page->n;
}

void
bf_run_search_begin(BfRunSearch *search, const BfRunPage *main_page)
{
	search->begin = search->low = main_page->overflow_at;
	search->end = search->high = main_page->overflow_at + main_page->overflow;
}

static uint32_t
middle(const BfRunSearch *search)
{
	return search->low + (search->high - search->low) / 2;
}

bool
bf_run_search_next(BfRunSearch *search, uint32_t *number)
{
	if (search->low < search->high)
	{
		*number = middle(search);
		return true;
	}
	/*
	 * The overflow page before the first one that does not begin below the aim's kept bits may end
	 * with entries that have these bits.
	 */
	*number = search->low - (search->low > search->begin);
	return false;
}

void
bf_run_search_tell(BfRunSearch *search, const BfRunPage *page, const BfRunAim *aim)
{
	if (page->first < aim->kept)
		search->low = middle(search) + 1;
	else
		search->high = middle(search);
}

uint32_t
bf_run_read(const BfRunPage *page, BfRunCursor *cursor, BfRunEntry *entries, uint32_t max)
{
	const BfRun *run = page->run;
	const BfRunShape *shape = &run->shape;
	BfRunCursor at = *cursor;
	BfRunRecord record;
	uint64_t	begin;
	uint32_t	i;

	begin = page->kind == BF_RUN_MAIN ? page->first : bf_run_begin(shape, page->interval);
	for (i = 0; i < max && bf_run_next(page, &at, &record); i++)
	{
		uint64_t	rest = bf_run_divide(record.record, run->places, run->by_places);
		uint64_t	kept = begin +
			((record.bucket * shape->d + rest) << shape->s | record.low);

		entries[i].hash = kept << (64 - shape->p);
		entries[i].place = bf_run_place(run, record.record - rest * run->places);
	}
	*cursor = at;
	return i;
}

uint32_t
bf_run_page_used(const BfRunPage *page)
{
	if (page->n == 0)
		return BF_RUN_HEAD;
	return page->run->records_at + (page->n * page->run->width + 7) / 8;
}
