/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * form.h
 *	  The three forms of a join's filter (Bloom filter, bitmap, range): which one, made, probed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_FORM_H
#define BLOOMFAM_JOIN_FORM_H

#include "core/bf.h"
#include "core/bf_format.h"
#include "join/filter/keys.h"

#define JOIN_FILTER_KIND		BF_KIND_BLOCKED

/* A build may always collect so many keys, however low the limits are set. */
#define JOIN_FIRST_KEYS	1024

/* What is collected of the rows' keys for the filter. */
typedef enum JoinCollects
{
	JOIN_COLLECTS_HASHES,		/* values[] are hashes: not one column of integers */
	JOIN_COLLECTS_NUMBERS,		/* values[] are numbers */
	JOIN_COLLECTS_BITMAP,		/* values[] overflowed: older numbers are bits in words[], values[]
								 * is the batch that is not yet added to them */
	JOIN_COLLECTS_BOUNDS		/* a bitmap would be too large: nothing but JoinKeys' bounds */
} JoinCollects;

typedef struct JoinCollected
{
	JoinCollects what;

	/* all but BOUNDS */
	uint64	   *values;			/* NULL: no room yet */
	uint64		n;
	uint64		room;			/* allocated length of values[] */

	/* BITMAP */
	uint64	   *words;
	uint64		nfolded;		/* rows that are in words[], and not in values[] any more */
	int64		first;			/* number of the first bit; a multiple of 64 */
	uint64		span;			/* number of the last bit, less first */
} JoinCollected;

typedef enum JoinForm
{
	JOIN_FORM_BLOOM,			/* of hashes; one in 200 keys is a false positive */
	JOIN_FORM_BITMAP,			/* a bit for each number of a range; exact */
	JOIN_FORM_RANGE				/* all numbers of the range pass: there were too many keys */
} JoinForm;

/*
 * A finished filter, whatever its form.  It never denies a key that was added.  A Bloom filter is
 * probed with hashes, the other forms with numbers.
 *
 * It goes through shared memory without its pointers: view.head.kind, view.payload and probe are
 * set anew by each process (bloomfam_join_filter_use()).
 */
typedef struct JoinFilterProbe
{
	JoinForm	form;
	Size		size;			/* of the payload, in bytes; 0 of a range */
	int64		first;			/* BITMAP, RANGE: smallest number of the range */
	uint64		span;			/* ... largest, less first */
	BfView		view;			/* BLOOM: its head; BLOOM, BITMAP: its payload, of a bitmap words of
								 * 64 bits, that of first is the lowest */
	BfProbe		probe;			/* BLOOM */
} JoinFilterProbe;

/* What a process did to build a filter, over all rescans. */
typedef struct JoinBuildCounts
{
	uint64		builds;			/* of a shared filter, counted by the process that makes it */
	uint64		discarded;		/* ... that had too many keys */
	uint64		bitmaps;		/* ... that came out as a bitmap */
	uint64		ranges;			/* ... of the discarded ones: that came out as a range */
	uint64		keys;			/* rows with a key; of a shared filter, this process's rows */
	uint64		bytes;			/* of all filters' payloads */
	Size		largest;		/* ... of the largest one */
	Size		memory;			/* the most that was allocated at once */
} JoinBuildCounts;

/* The most keys that both work memory and the Bloom filter of them have room for. */
extern uint64 bloomfam_join_design_most(void);

/* May a bitmap be as large as one of numbers that are at most so far apart? */
extern bool bloomfam_join_design_has_bits(double span);

/* The bytes of a Bloom filter of so many keys. */
extern double bloomfam_join_design_bytes(double nkeys);

/*
 * Adds values[], which are numbers within these bounds, to the bitmap that they are collected in,
 * and empties values[].  The bitmap is made, or replaced by a wider one, in this context; true.
 * False, and nothing was changed, if it would be larger than a filter may be, or of hashes.
 */
extern bool bloomfam_join_fold(JoinCollected *collected, JoinKeysRange bounds,
							   MemoryContext context);

/*
 * Designs a filter of so many keys that were collected so; bounds are those of all numbers, and do
 * not matter of hashes.  False: there is no such filter.
 */
extern bool bloomfam_join_design_plan(JoinCollects what, JoinKeysRange bounds, uint64 nkeys,
									  JoinFilterProbe *design);

/* Begins a payload of the design's size, which contains nothing then. */
extern void bloomfam_join_design_clear(const JoinFilterProbe *design, uint8 *payload);

/*
 * Adds HASHES or NUMBERS to a payload.  Numbers are hashed in place if the filter is a Bloom
 * filter.  Answers interrupts.
 */
extern void bloomfam_join_design_fill(const JoinFilterProbe *design, JoinCollects what,
									  uint8 *payload, uint64 *values, uint64 n);

/* Probes for n keys: hashes or numbers. */
extern void bloomfam_join_may_contain_many(const JoinFilterProbe *probe, const uint64 *keys, int n,
										   bool *result);

/*
 * How many times longer a probe of a filter of so many bytes takes than one in the cache: it waits
 * for memory beyond usual sizes of the second and of the last level cache.
 */
static inline double
bloomfam_join_waiting(double bytes)
{
	return bytes <= 1024.0 * 1024.0 ? 1 : bytes <= 16.0 * 1024.0 * 1024.0 ? 2 : 4;
}

/* Is it probed with numbers? */
static inline bool
bloomfam_join_takes_numbers(const JoinFilterProbe *probe)
{
	return probe->form != JOIN_FORM_BLOOM;
}

/* Probes for one key: a hash or a number. */
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
