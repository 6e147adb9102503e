/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * form.c
 *	  Chooses, makes and probes the three forms of a join's filter: Bloom filter, bitmap and range.
 *
 * A key that is one integer is collected as a number.  It is hashed at the end of the build, in
 * batches, and only if the filter is a Bloom filter.  Where the numbers lie close together, a
 * bitmap from the smallest to the largest number is not much larger than a Bloom filter, has no
 * false positives, and needs no hashing.
 *
 * If the hashes of the build side exceed work_mem * hash_mem_multiplier, or their Bloom filter
 * exceeds bloomfam.join_filter_max_size, no filter is made and all rows pass; a filter of that size
 * would fit no cache anyway.  Numbers are collected in a bitmap then, if one fits both limits, as
 * its size does not grow with the number of keys.  If it does not fit, the smallest and the largest
 * number become a range filter.  They also do if several processes collect too many numbers, as
 * none of them knows the numbers of the other processes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "core/bf_hash.h"
#include "join/base/gucs.h"
#include "join/filter/form.h"
#include "pg/port.h"

/* The number of keys that are added between two checks for interrupts. */
#define ADD_AT_ONCE	65536

/*
 * A bitmap is preferred to a Bloom filter, whose keys must be hashed, if it is at most BITMAP_TIMES
 * as large, or if it has at most BITMAP_SMALL bytes and so fits the first level cache.
 */
#define BITMAP_TIMES	2
#define BITMAP_SMALL	(32 * 1024)

/*
 * The false positive rate of Bloom filters.  A lower rate would make filters that fit the caches
 * less often, and would drop hardly more rows.
 */
#define FILTER_FPR	0.005

/*
 * Returns the design of all Bloom filters.  It is made once, as that takes longer than a small
 * query.
 */
static const BfDesign *
current_design(void)
{
	static BfDesign design;

	if (design.kind == NULL)
	{
		const BfKind *kind = bf_kind_by_id(JOIN_FILTER_KIND);

		if (bf_design(kind, FILTER_FPR, &design) != BF_OK)
			elog(ERROR, "no filter has a false positive rate of %g", FILTER_FPR);
	}
	return &design;
}

/*
 * Returns the size in bytes, at most 2^61, of a bitmap of whole words for numbers whose largest and
 * smallest differ by "span".
 */
static inline uint64
bitmap_bytes(uint64 span)
{
	return (span / 64 + 1) * sizeof(uint64);
}

/* Returns the largest size in bytes that a bitmap may have, whatever the number of keys. */
static uint64
most_bitmap_bytes(void)
{
	return Min(get_hash_memory_limit(), (uint64) bloomfam_join_filter_max_size * 1024);
}

bool
bloomfam_join_design_has_bits(double span)
{
	return span < 8.0 * most_bitmap_bytes();
}

static void
set_bits(uint64 *words, int64 first, uint64 span, const uint64 *numbers, uint64 n)
{
	uint64		i;

	for (i = 0; i < n; i++)
	{
		uint64		bit = numbers[i] - (uint64) first;

		Assert(bit <= span);
		words[bit / 64] |= UINT64CONST(1) << bit % 64;
	}
}

/*
 * Sets *first and *span to the range of a bitmap for numbers within the given bounds.  The range
 * begins at a multiple of 64, so that a wider bitmap that replaces this one can copy its words
 * unshifted.
 */
static void
align_bounds(JoinKeysRange bounds, int64 *first, uint64 *span)
{
	Assert(bounds.smallest <= bounds.largest);
	*first = (int64) ((uint64) bounds.smallest & ~UINT64CONST(63));
	*span = (uint64) bounds.largest - (uint64) *first;
}

bool
bloomfam_join_fold(JoinCollected *collected, JoinKeysRange bounds, MemoryContext context)
{
	int64		first;
	uint64		span;

	if (collected->what != JOIN_COLLECTS_NUMBERS && collected->what != JOIN_COLLECTS_BITMAP)
		return false;
	align_bounds(bounds, &first, &span);
	if (bitmap_bytes(span) > most_bitmap_bytes())
		return false;
	if (collected->words == NULL || first != collected->first || span != collected->span)
	{
		uint64	   *words = MemoryContextAllocExtended(context, bitmap_bytes(span),
													   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

		if (collected->words != NULL)
		{
			uint64		before = (uint64) collected->first - (uint64) first;

			Assert(first <= collected->first && before % 64 == 0);
			Assert(before + collected->span <= span);
			memcpy(words + before / 64, collected->words, bitmap_bytes(collected->span));
			pfree(collected->words);
		}
		collected->words = words;
		collected->first = first;
		collected->span = span;
	}
	set_bits(collected->words, first, span, collected->values, collected->n);
	collected->what = JOIN_COLLECTS_BITMAP;
	collected->nfolded += collected->n;
	collected->n = 0;
	return true;
}

double
bloomfam_join_design_bytes(double nkeys)
{
	return nkeys * current_design()->millibits / 8000;
}

uint64
bloomfam_join_design_most(void)
{
	uint64		memory = get_hash_memory_limit();
	uint64		bits = (uint64) bloomfam_join_filter_max_size * 1024 * 8;

	return Max(Min(memory / sizeof(uint64), bits * 1000 / current_design()->millibits),
			   JOIN_FIRST_KEYS);
}

bool
bloomfam_join_design_plan(JoinCollects what, JoinKeysRange bounds, uint64 nkeys,
						  JoinFilterProbe *design)
{
	memset(design, 0, sizeof(*design));
	if (what == JOIN_COLLECTS_BITMAP)
		align_bounds(bounds, &design->first, &design->span);
	else if (what != JOIN_COLLECTS_HASHES && bounds.smallest <= bounds.largest)
	{
		design->first = bounds.smallest;
		design->span = (uint64) bounds.largest - (uint64) bounds.smallest;
	}
	if (what == JOIN_COLLECTS_BOUNDS)
	{
		design->form = JOIN_FORM_RANGE;
		return true;
	}
	if (what == JOIN_COLLECTS_BITMAP ||
		(what == JOIN_COLLECTS_NUMBERS &&
		 bitmap_bytes(design->span) <=
			 Max(BITMAP_TIMES * bloomfam_join_design_bytes(nkeys), BITMAP_SMALL)))
	{
		design->form = JOIN_FORM_BITMAP;
		design->size = bitmap_bytes(design->span);
		return true;
	}
	/* A filter without keys is the smallest Bloom filter, which contains nothing. */
	design->form = JOIN_FORM_BLOOM;
	if (bf_plan(current_design(), Max(nkeys, 1), &design->view.head) != BF_OK)
		return false;
	design->size = design->view.head.payload_len;
	return true;
}

void
bloomfam_join_design_clear(const JoinFilterProbe *design, uint8 *payload)
{
	Assert(design->form != JOIN_FORM_RANGE && design->size > 0);
	Assert(payload == (uint8 *) TYPEALIGN(BLOOMFAM_CACHE_LINE, payload));
	memset(payload, 0, design->size);
	if (design->form == JOIN_FORM_BLOOM)
		bf_init(&design->view.head, payload);
}

void
bloomfam_join_design_fill(const JoinFilterProbe *design, JoinCollects what, uint8 *payload,
						  uint64 *values, uint64 n)
{
	uint64		done;

	Assert(design->form != JOIN_FORM_RANGE);
	Assert(what == JOIN_COLLECTS_HASHES || what == JOIN_COLLECTS_NUMBERS);
	Assert(what == JOIN_COLLECTS_NUMBERS || design->form == JOIN_FORM_BLOOM);
	for (done = 0; done < n; done += ADD_AT_ONCE)
	{
		uint64	   *next = values + done;
		uint64		count = Min(ADD_AT_ONCE, n - done);

		if (design->form == JOIN_FORM_BITMAP)
			set_bits((uint64 *) payload, design->first, design->span, next, count);
		else
		{
			if (what == JOIN_COLLECTS_NUMBERS)
				bf_hash_u64_many(next, count);
			design->view.head.kind->add(&design->view.head, payload, next, count);
		}
		CHECK_FOR_INTERRUPTS();
	}
}

static void
bitmap_has_many(const JoinFilterProbe *probe, const uint64 *numbers, int n, bool *result)
{
	uint64		first = (uint64) probe->first;
	uint64		span = probe->span;
	const uint64 *words = (const uint64 *) probe->view.payload;
	int			i;

	for (i = 0; i < n; i++)
	{
		uint64		bit = numbers[i] - first;
		uint64		within = bit <= span;

		/*
		 * Whether a number is in the bitmap's range is as unpredictable as its bit, so the code
		 * avoids branches, which would often be mispredicted.
		 */
		bit &= -within;
		result[i] = (words[bit / 64] >> bit % 64) & within;
	}
}

static void
range_has_many(const JoinFilterProbe *probe, const uint64 *numbers, int n, bool *result)
{
	uint64		first = (uint64) probe->first;
	uint64		span = probe->span;
	int			i;

	for (i = 0; i < n; i++)
		result[i] = numbers[i] - first <= span;
}

void
bloomfam_join_may_contain_many(const JoinFilterProbe *probe, const uint64 *keys, int n,
							   bool *result)
{
	switch (probe->form)
	{
		case JOIN_FORM_BLOOM:
			probe->view.head.kind->probe_many(&probe->view, keys, n, result);
			break;
		case JOIN_FORM_BITMAP:
			bitmap_has_many(probe, keys, n, result);
			break;
		case JOIN_FORM_RANGE:
			range_has_many(probe, keys, n, result);
			break;
	}
}
