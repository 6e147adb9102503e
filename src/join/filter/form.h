/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * form.h
 *	  Chooses, makes and probes the three forms of a join's filter: Bloom filter, bitmap and range.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_FORM_H
#define BLOOMFAM_JOIN_FORM_H

#include "core/bf.h"
#include "core/bf_format.h"
#include "join/filter/keys.h"

#define JOIN_FILTER_KIND		BF_KIND_BLOCKED

/* The number of keys that a build may always collect, however low the limits are set. */
#define JOIN_FIRST_KEYS	1024

/* What a build collects of its rows' keys to make the filter. */
typedef enum JoinCollects
{
	/* values[] holds hashes: the key is not a single column of an integer type. */
	JOIN_COLLECTS_HASHES,
	JOIN_COLLECTS_NUMBERS,		/* values[] holds the keys as numbers. */

	/*
	 * values[] overflowed: older numbers are bits of the bitmap words[], and values[] holds the
	 * numbers that are not yet added to it.
	 */
	JOIN_COLLECTS_BITMAP,

	/* Only the bounds in JoinKeys are collected, as a bitmap would be too large. */
	JOIN_COLLECTS_BOUNDS
} JoinCollects;

typedef struct JoinCollected
{
	JoinCollects what;

	/* The fields "values", "n" and "room" are used unless "what" is JOIN_COLLECTS_BOUNDS. */
	/* The collected hashes or numbers; NULL: nothing is allocated yet. */
	uint64	   *values;
	uint64		n;
	uint64		room;			/* The allocated length of values[]. */

	/* The fields from "words" on are used if "what" is JOIN_COLLECTS_BITMAP. */
	uint64	   *words;

	/* The number of rows whose keys are in words[], and no longer in values[]. */
	uint64		nfolded;

	/* The number that the bitmap's first bit stands for, a multiple of 64. */
	int64		first;

	/* The number that the bitmap's last bit stands for, minus "first". */
	uint64		span;
} JoinCollected;

typedef enum JoinForm
{
	/* A Bloom filter of hashes, with a false positive rate of 1 in 200. */
	JOIN_FORM_BLOOM,

	/* A bitmap with a bit for each number in a range; it has no false positives. */
	JOIN_FORM_BITMAP,

	/* A range: all numbers in it pass.  It is used if there are too many keys. */
	JOIN_FORM_RANGE
} JoinForm;

/*
 * A finished filter of any form.  It never denies a key that was added.  A Bloom filter is probed
 * with hashes, the other forms with numbers.
 *
 * The struct is copied through shared memory without its pointers: each process sets
 * view.head.kind, view.payload and probe itself (bloomfam_join_filter_use()).
 */
typedef struct JoinFilterProbe
{
	JoinForm	form;
	Size		size;			/* The payload's size in bytes; 0 for a range. */
	int64		first;			/* BITMAP, RANGE: the smallest number of the range. */
	uint64		span;			/* BITMAP, RANGE: the largest number of the range, minus "first". */

	/*
	 * BLOOM: the Bloom filter's head and payload.  BITMAP: only the payload is used; it is an array
	 * of 64-bit words, and the lowest bit of the first word stands for the number "first".
	 */
	BfView		view;
	BfProbe		probe;			/* BLOOM: the function that probes the Bloom filter for one hash. */
} JoinFilterProbe;

/* Counts what a process did to build a filter, summed over all rescans. */
typedef struct JoinBuildCounts
{
	/* Builds that ended; a filter that processes share is counted by the process that makes it. */
	uint64		builds;

	/*
	 * Builds with too many keys for a Bloom filter or a bitmap, or without memory for one.  Their
	 * filter is a range, if the keys are numbers, else there is none.
	 */
	uint64		discarded;
	uint64		bitmaps;		/* Builds whose filter became a bitmap. */
	uint64		ranges;			/* Builds whose filter became a range; they count as discarded. */

	/*
	 * The number of rows whose keys were collected for a filter; if processes share the filter,
	 * only the rows that this process read.
	 */
	uint64		keys;
	uint64		bytes;			/* The sum of the payload sizes of all filters made, in bytes. */
	Size		largest;		/* The largest payload size, in bytes. */

	/* The most memory that was allocated for making a filter, in bytes. */
	Size		memory;
} JoinBuildCounts;

/*
 * Returns the largest number of keys for which there is room: their hashes in work memory, and
 * their Bloom filter within bloomfam.join_filter_max_size.
 */
extern uint64 bloomfam_join_design_most(void);

/*
 * Tells whether a bitmap of numbers whose largest and smallest differ by "span" is within the
 * limits for a bitmap's size.
 */
extern bool bloomfam_join_design_has_bits(double span);

/* Returns the size of a Bloom filter of the given number of keys, in bytes. */
extern double bloomfam_join_design_bytes(double nkeys);

/*
 * Adds values[], which are numbers within the given bounds, to the bitmap words[], and empties
 * values[].  Makes the bitmap, or replaces it by a wider one, in the given memory context.  Returns
 * false and changes nothing if hashes are collected, or if the bitmap would be larger than allowed.
 */
extern bool bloomfam_join_fold(JoinCollected *collected, JoinKeysRange bounds,
							   MemoryContext context);

/*
 * Designs a filter for nkeys keys that were collected as "what" says, and sets *design.  "bounds"
 * are the bounds of all numbers; they are ignored for hashes.  Returns false if no such filter can
 * be made.
 */
extern bool bloomfam_join_design_plan(JoinCollects what, JoinKeysRange bounds, uint64 nkeys,
									  JoinFilterProbe *design);

/* Initializes a payload of the design's size, so that the filter holds no keys. */
extern void bloomfam_join_design_clear(const JoinFilterProbe *design, uint8 *payload);

/*
 * Adds n values, which are hashes or numbers as "what" says (HASHES or NUMBERS), to a payload.  If
 * the filter is a Bloom filter, numbers are replaced by their hashes in place.  Checks for
 * interrupts.
 */
extern void bloomfam_join_design_fill(const JoinFilterProbe *design, JoinCollects what,
									  uint8 *payload, uint64 *values, uint64 n);

/*
 * Probes for n keys, which are hashes for a Bloom filter and numbers for the other forms, and sets
 * result[i] to whether key i may have been added.
 */
extern void bloomfam_join_may_contain_many(const JoinFilterProbe *probe, const uint64 *keys, int n,
										   bool *result);

/*
 * Returns how many times longer probing a filter of the given size takes than probing one that is
 * in the processor's cache.  The steps are at usual sizes of the second level and the last level
 * cache.
 */
static inline double
bloomfam_join_waiting(double bytes)
{
	return bytes <= 1024.0 * 1024.0 ? 1 : bytes <= 16.0 * 1024.0 * 1024.0 ? 2 : 4;
}

/* Tells whether a filter is probed with numbers, rather than with hashes. */
static inline bool
bloomfam_join_takes_numbers(const JoinFilterProbe *probe)
{
	return probe->form != JOIN_FORM_BLOOM;
}

/* Probes for one key, which is a hash for a Bloom filter and a number for the other forms. */
static inline bool
bloomfam_join_may_contain(const JoinFilterProbe *probe, uint64 key)
{
	const uint64 *words = (const uint64 *) probe->view.payload;
	uint64		bit = key - (uint64) probe->first;

	switch (probe->form)
	{
		case JOIN_FORM_BLOOM:
			return probe->probe(&probe->view, key);
		case JOIN_FORM_BITMAP:
			return bit <= probe->span && (words[bit / 64] >> bit % 64 & 1) != 0;
		case JOIN_FORM_RANGE:
			return bit <= probe->span;
	}
	pg_unreachable();
}

#endif							/* BLOOMFAM_JOIN_FORM_H */
