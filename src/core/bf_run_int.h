/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_run_int.h
 *	  Private to bf_run*.c: the layout of a page's body, and access to its bit fields.
 *
 *		 0	2	entries
 *		 2	1	kind
 *		 3	1	0
 *		 4	4	interval
 *		 8	4	overflow
 *		12	4	overflow_at
 *		16	8	first
 *		24	..	directory: for each bucket 256, 512, ... the number of entries before it, 2 bytes
 *				each; zeros up to a multiple of 8
 *		..	..	unary: words of 8 bytes, each bucket's ones and its 0, the lowest bit first
 *		..	..	records: of w + s bits, rest * places + place and then low, the lowest bit first
 *		..	..	zeros, 8 bytes at least: every field can be reached by a load of 8 bytes
 *
 * All numbers are little-endian.  The offsets of the parts depend on the shape alone, so that
 * entries are written as they come, and nothing has to be moved when a page is complete.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_RUN_INT_H
#define BF_RUN_INT_H

#include "bf_int.h"

#include "bf_run.h"

#define BF_RUN_HEAD		24
#define BF_RUN_SPARE	8

/*
 * The most bits that a stored entry's number rest * places + place can have, and the most bits of
 * low.  With up to 7 bits before it, such a field fits into one load of 8 bytes.
 */
#define BF_RUN_FIELD	56

/* The number of buckets per entry of the directory. */
#define BF_RUN_SAMPLE	256

static inline uint64_t
bf_run_mask(unsigned bits)
{
	return (UINT64_C(1) << bits) - 1;
}

/*
 * Returns floor(a / b), for a below 2^56 and by = floor((2^64 - 1) / b).  The product of a and by
 * gives the quotient or 1 less.
 */
static inline uint64_t
bf_run_divide(uint64_t a, uint64_t b, uint64_t by)
{
	uint64_t	q = (uint64_t) (((unsigned __int128) a * by) >> 64);

	return q + (a - q * b >= b);
}

/* Returns the first kept bits of interval i, or 2^p for i = pages. */
static inline uint64_t
bf_run_begin(const BfRunShape *shape, uint32_t i)
{
	unsigned __int128 at = (unsigned __int128) i << shape->p;

	return (uint64_t) ((at + shape->pages - 1) / shape->pages);
}

/*
 * Returns the number of entries of a page's directory, which has one for each BF_RUN_SAMPLE
 * buckets, but none for bucket 0.
 */
static inline uint32_t
bf_run_samples(const BfRun *run)
{
	return (run->buckets - 1) / BF_RUN_SAMPLE;
}

static inline uint32_t
bf_run_words(const BfRun *run)
{
	return (run->records_at - run->unary_at) / 8;
}

/*
 * Reads a field of at most BF_RUN_FIELD bits that begins the given number of bits after the address
 * p.
 */
static inline uint64_t
bf_run_get(const uint8_t *p, uint64_t bit, unsigned bits)
{
	return (bf_load64(p + bit / 8) >> (bit % 8)) & bf_run_mask(bits);
}

/*
 * Writes a field that begins the given number of bits after the address p.  Its bits must be zero
 * before.
 */
static inline void
bf_run_put(uint8_t *p, uint64_t bit, uint64_t value)
{
	bf_store64(p + bit / 8, bf_load64(p + bit / 8) | value << (bit % 8));
}

/* An entry in its stored form. */
typedef struct BfRunRecord
{
	uint64_t	record;			/* The stored number, rest * places + place. */
	uint64_t	low;
	uint32_t	bucket;
} BfRunRecord;

/* Converts a place from its number within the run to the form block * 2^16 + offset. */
static inline uint64_t
bf_run_place(const BfRun *run, uint64_t place)
{
	uint64_t	block = bf_run_divide(place, run->shape.offsets, run->by_offsets);

	return BF_RUN_PLACE(run->shape.first_block + (uint32_t) block,
						place - block * run->shape.offsets + 1);
}

/* Reads the next record of a page; returns false at the page's end. */
static inline bool
bf_run_next(const BfRunPage *page, BfRunCursor *cursor, BfRunRecord *record)
{
	const BfRun *run = page->run;
	const uint8_t *records = page->body + run->records_at;
	uint64_t	at = (uint64_t) cursor->entry * run->width;

	if (cursor->entry >= page->n)
		return false;
	while (cursor->left == 0)
	{
		if (cursor->word >= bf_run_words(run))
			return false;
		cursor->left = bf_load64(page->body + run->unary_at + 8 * cursor->word++);
	}
	record->bucket = (cursor->word - 1) * 64 + (uint32_t) __builtin_ctzll(cursor->left) -
		cursor->entry;
	record->record = bf_run_get(records, at, run->w);
	record->low = bf_run_get(records, at + run->w, run->shape.s);
	cursor->left &= cursor->left - 1;
	cursor->entry++;
	return true;
}

/* Begin and end the filling of an empty page, in the order of buckets (bf_run_write.c). */
extern void bf_run_fill_begin(const BfRun *run, BfRunFill *fill);
extern void bf_run_fill_end(BfRunFill *fill, const BfRunPage *page);

/* Adds an entry to a page that is being filled, which must have room for it. */
static inline void
bf_run_fill_add(const BfRun *run, BfRunFill *fill, const BfRunRecord *record)
{
	uint32_t	pos = record->bucket + fill->n;
	uint64_t	at = (uint64_t) fill->n * run->width;
	uint8_t    *records = fill->body + run->records_at;

	while (record->bucket / BF_RUN_SAMPLE > fill->samples)
		bf_store16(fill->body + BF_RUN_HEAD + 2 * fill->samples++, (uint16_t) fill->n);
	fill->body[run->unary_at + pos / 8] |= (uint8_t) (1 << (pos % 8));
	bf_run_put(records, at, record->record);
	if (run->shape.s > 0)
		bf_run_put(records, at + run->w, record->low);
	fill->n++;
}

#endif							/* BF_RUN_INT_H */
