/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_run_write.c
 *	  Writing of the pages of runs; see bf_run.h, and bf_run_int.h for the layout.
 *
 *-------------------------------------------------------------------------
 */
#include "bf_run_int.h"

void
bf_run_fill_begin(const BfRun *run, BfRunFill *fill)
{
	memset(fill->body, 0, run->body);
	fill->n = 0;
	fill->samples = 0;
}

/*
 * Completes the directory of a page and writes its head.  The number of entries is taken from fill,
 * the other fields from *page.
 */
void
bf_run_fill_end(BfRunFill *fill, const BfRunPage *page)
{
	uint8_t    *body = fill->body;

	while (fill->samples < bf_run_samples(page->run))
		bf_store16(body + BF_RUN_HEAD + 2 * fill->samples++, (uint16_t) fill->n);
	bf_store16(body, (uint16_t) fill->n);
	body[2] = (uint8_t) page->kind;
	bf_store32(body + 4, page->interval);
	bf_store32(body + 8, page->overflow);
	bf_store32(body + 12, page->overflow_at);
	bf_store64(body + 16, page->first);
}

uint32_t
bf_run_remove(const BfRunPage *page, bool (*dead) (void *arg, uint64_t place), void *arg,
			  uint8_t *out)
{
	const BfRun *run = page->run;
	BfRunFill	fill = {.body = out};
	BfRunCursor cursor = {0};
	BfRunRecord record;
	uint32_t	removed = 0;

	bf_run_fill_begin(run, &fill);
	while (bf_run_next(page, &cursor, &record))
	{
		uint64_t	rest = bf_run_divide(record.record, run->places, run->by_places);

		if (dead(arg, bf_run_place(run, record.record - rest * run->places)))
			removed++;
		else if (record.bucket < run->buckets)
			bf_run_fill_add(run, &fill, &record);
	}
	bf_run_fill_end(&fill, page);
	return removed;
}

/*
 * Completes a page and passes it to w->emit.  Sets the fields n, body, run and interval of *page;
 * the caller must have set the others.
 */
static void
emit(BfRunWriter *w, BfRunFill *fill, uint32_t number, BfRunPage *page)
{
	page->run = w->run;
	page->body = fill->body;
	page->n = fill->n;
	page->interval = w->interval;
	bf_run_fill_end(fill, page);
	w->emit(w->arg, page->kind, number, fill->body, bf_run_page_used(page));
}

static BfRunStatus
emit_overflow(BfRunWriter *w)
{
	BfRunPage	page = {.kind = BF_RUN_OVERFLOW, .first = w->over_first};

	if (w->overflow >= BF_RUN_MAX_PAGES)
		return BF_RUN_TOO_LARGE;
	page.overflow = w->overflow - w->overflow_begin;
	page.overflow_at = w->overflow;
	emit(w, &w->over_fill, page.overflow_at, &page);
	w->overflow++;
	return BF_RUN_OK;
}

static void
begin_interval(BfRunWriter *w, uint32_t interval)
{
	w->interval = interval;
	w->overflow_begin = w->overflow;
	w->spilled = false;
	w->begin = w->last = bf_run_begin(&w->run->shape, interval);
	w->end = interval < w->run->shape.pages ? bf_run_begin(&w->run->shape, interval + 1) : w->begin;
	bf_run_fill_begin(w->run, &w->main_fill);
}

void
bf_run_write_begin(BfRunWriter *w, const BfRun *run, uint32_t interval, uint32_t overflow,
				   uint8_t *pages, BfRunEmit emit_page, void *arg)
{
	memset(w, 0, sizeof(*w));
	w->run = run;
	w->emit = emit_page;
	w->arg = arg;
	w->main_fill.body = pages;
	w->over_fill.body = pages + run->body;
	w->overflow = overflow;
	begin_interval(w, interval);
}

BfRunStatus
bf_run_write_until(BfRunWriter *w, uint32_t interval)
{
	interval = BF_MIN(interval, w->run->shape.pages);
	while (w->interval < interval)
	{
		BfRunPage	page = {.kind = BF_RUN_MAIN, .first = w->begin};

		if (w->spilled)
		{
			BfRunStatus status = emit_overflow(w);

			if (status != BF_RUN_OK)
				return status;
			w->spilled = false;
		}
		page.overflow = w->overflow - w->overflow_begin;
		page.overflow_at = w->overflow_begin;
		emit(w, &w->main_fill, w->interval, &page);
		begin_interval(w, w->interval + 1);
	}
	return BF_RUN_OK;
}

/*
 * Sets *fill to the page that the next entry of the interval goes to; kept are the entry's kept
 * bits.  Emits a full overflow page, and begins a new one if needed.
 */
static BfRunStatus
room_for_one(BfRunWriter *w, uint64_t kept, BfRunFill **fill)
{
	*fill = w->spilled ? &w->over_fill : &w->main_fill;
	if ((*fill)->n < w->run->capacity)
		return BF_RUN_OK;
	if (w->spilled)
	{
		BfRunStatus status = emit_overflow(w);

		if (status != BF_RUN_OK)
			return status;
	}
	*fill = &w->over_fill;
	bf_run_fill_begin(w->run, *fill);
	w->spilled = true;
	w->over_first = kept;
	return BF_RUN_OK;
}

BfRunStatus
bf_run_write(BfRunWriter *w, const BfRunEntry *entry)
{
	const BfRun *run = w->run;
	const BfRunShape *shape = &run->shape;
	uint64_t	kept = entry->hash >> (64 - shape->p);
	uint64_t	block = (entry->place >> 16) - shape->first_block;
	uint64_t	offset = (entry->place & UINT16_MAX) - 1;
	uint64_t	behind;
	uint64_t	rest;
	BfRunRecord record;
	BfRunFill  *fill;
	BfRunStatus status;

	if (block >= shape->blocks || offset >= shape->offsets)
		return BF_RUN_NO_PLACE;
	if (kept < w->last || w->interval >= shape->pages)
		return BF_RUN_DISORDER;
	if (kept >= w->end)
	{
		status = bf_run_write_until(w, bf_run_page_of(run, entry->hash));
		if (status != BF_RUN_OK)
			return status;
	}
	status = room_for_one(w, kept, &fill);
	if (status != BF_RUN_OK)
		return status;

	behind = (kept - w->begin) >> shape->s;
	record.low = (kept - w->begin) & bf_run_mask(shape->s);
	record.bucket = (uint32_t) bf_run_divide(behind, shape->d, run->by_d);
	rest = behind - record.bucket * shape->d;
	record.record = rest * run->places + block * shape->offsets + offset;
	w->fingerprints += w->main_fill.n == 0 || kept != w->last;
	bf_run_fill_add(run, fill, &record);
	w->last = kept;
	w->entries++;
	return BF_RUN_OK;
}
