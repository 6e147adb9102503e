/*-------------------------------------------------------------------------
 *
 * design.c
 *	  What a join's filter is made of, which form it has, how large it is, and how it is filled.
 *
 * Of keys that are integers the numbers are collected, and hashed at the end, many at once, if
 * they are hashed at all: where they lie close together, a bitmap of all numbers from the smallest
 * to the largest is not much larger than a Bloom filter, has no false positives, and needs no
 * hash.
 *
 * Where the hashes of the build side do not fit work_mem * hash_mem_multiplier, or the filter of
 * them bloomfam.join_filter_max_size, there is none: passing all rows is right, and a filter of
 * that size would not have been in any cache.  Of numbers a bitmap goes on if it fits both, as it
 * does not grow with their number.  Else there are still the bounds, which cost nothing to have,
 * and next to nothing to ask.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "core/bf_hash.h"
#include "join/base/gucs.h"
#include "join/filter/design.h"

/* Between two looks at interrupts. */
#define ADD_AT_ONCE	65536

/*
 * A bitmap is made if it takes at most so many times what a Bloom filter would, which is hashed
 * for; or so few bytes that the nearest cache has them all.
 */
#define BITMAP_TIMES	2
#define BITMAP_SMALL	(32 * 1024)

/* What bloomfam.join_filter_fpr asks for; computing it takes longer than a small query. */
static const BfDesign *
current_design(void)
{
	static BfDesign design;

	if (design.kind == NULL || design.fpr != bloomfam_join_filter_fpr)
	{
		const BfKind *kind = bf_kind_by_id(JOIN_FILTER_KIND);

		if (bf_design(kind, bloomfam_join_filter_fpr, &design) != BF_OK)
			elog(ERROR, "no filter has a false positive rate of %g", bloomfam_join_filter_fpr);
	}
	return &design;
}

void
bloomfam_join_collect(JoinCollected *collected, JoinCollects what)
{
	memset(collected, 0, sizeof(*collected));
	collected->what = what;
	collected->smallest = PG_INT64_MAX;
	collected->largest = PG_INT64_MIN;
}

/* The bytes of a bitmap, in whole words, of numbers that are at most so far apart. */
static inline uint64
bitmap_bytes(uint64 span)
{
	return (span / 64 + 1) * sizeof(uint64);
}

/* The bytes that a bitmap of any number of numbers may have. */
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
set_bits(uint64 *words, int64 first, const uint64 *numbers, uint64 n)
{
	uint64		i;

	for (i = 0; i < n; i++)
	{
		uint64		bit = numbers[i] - (uint64) first;

		words[bit / 64] |= UINT64CONST(1) << bit % 64;
	}
}

/* A bitmap begins with a whole word, so that a wider one takes its words as they are. */
bool
bloomfam_join_collect_bits(JoinCollected *collected, MemoryContext context)
{
	int64		first = (int64) ((uint64) collected->smallest & ~UINT64CONST(63));
	uint64		span = (uint64) collected->largest - (uint64) first;

	if ((collected->what != JOIN_COLLECTS_NUMBERS && collected->what != JOIN_COLLECTS_BITS) ||
		bitmap_bytes(span) > most_bitmap_bytes())
		return false;
	if (collected->words == NULL || first != collected->first || span != collected->span)
	{
		uint64	   *words = MemoryContextAllocExtended(context, bitmap_bytes(span),
													   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

		if (collected->words != NULL)
		{
			uint64		rows_before = (uint64) collected->first - (uint64) first;

			memcpy(words + rows_before / 64, collected->words, bitmap_bytes(collected->span));
			pfree(collected->words);
		}
		collected->words = words;
		collected->first = first;
		collected->span = span;
	}
	set_bits(collected->words, first, collected->values, collected->n);
	collected->what = JOIN_COLLECTS_BITS;
	collected->earlier += collected->n;
	collected->n = 0;
	return true;
}

bool
bloomfam_join_collect_less(JoinCollected *collected)
{
	collected->values = NULL;
	collected->n = collected->room = 0;
	collected->words = NULL;
	collected->earlier = 0;
	if (collected->what == JOIN_COLLECTS_HASHES)
		return false;
	collected->what = JOIN_COLLECTS_BOUNDS;
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
bloomfam_join_design_plan(const JoinCollected *collected, uint64 nkeys, JoinDesign *design)
{
	memset(design, 0, sizeof(*design));
	if (collected->what != JOIN_COLLECTS_HASHES && collected->smallest <= collected->largest)
	{
		design->first = collected->smallest;
		design->span = (uint64) collected->largest - (uint64) collected->smallest;
	}
	if (collected->what == JOIN_COLLECTS_BOUNDS)
	{
		design->form = JOIN_FORM_RANGE;
		return true;
	}
	if (collected->what == JOIN_COLLECTS_BITS)
	{
		design->form = JOIN_FORM_BITMAP;
		design->first = collected->first;
		design->span = collected->span;
		design->size = bitmap_bytes(collected->span);
		return true;
	}
	if (collected->what == JOIN_COLLECTS_NUMBERS &&
		bitmap_bytes(design->span) <=
			Max(BITMAP_TIMES * bloomfam_join_design_bytes(nkeys), BITMAP_SMALL))
	{
		design->form = JOIN_FORM_BITMAP;
		design->size = bitmap_bytes(design->span);
		return true;
	}
	/* an empty set has a filter as well: the smallest, which contains nothing */
	design->form = JOIN_FORM_BLOOM;
	if (bf_plan(current_design(), Max(nkeys, 1), &design->head) != BF_OK)
		return false;
	design->size = design->head.payload_len;
	return true;
}

void
bloomfam_join_design_clear(const JoinDesign *design, uint8 *payload)
{
	memset(payload, 0, design->size);
	if (design->form == JOIN_FORM_BLOOM)
		bf_init(&design->head, payload);
}

void
bloomfam_join_design_fill(const JoinDesign *design, JoinCollects what, uint8 *payload,
						  uint64 *values, uint64 n)
{
	uint64		done;

	for (done = 0; done < n; done += ADD_AT_ONCE)
	{
		uint64	   *next = values + done;
		uint64		count = Min(ADD_AT_ONCE, n - done);

		if (design->form == JOIN_FORM_BITMAP)
			set_bits((uint64 *) payload, design->first, next, count);
		else
		{
			if (what == JOIN_COLLECTS_NUMBERS)
				bf_hash_u64_many(next, count);
			design->head.kind->add(&design->head, payload, next, count);
		}
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * A probe waits for memory where the filter does not fit the caches of the second and of the last
 * level; sizes that are usual.
 */
#define SECOND_CACHE		(1024.0 * 1024.0)
#define LAST_CACHE			(16.0 * 1024.0 * 1024.0)

double
bloomfam_join_waiting(double bytes)
{
	return bytes <= SECOND_CACHE ? 1 : bytes <= LAST_CACHE ? 2 : 4;
}
