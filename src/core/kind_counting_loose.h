/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_counting_loose.h
 *	  Private to the counting filter: access to the counters of the loose form.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KIND_COUNTING_LOOSE_H
#define KIND_COUNTING_LOOSE_H

#include "bf_cells.h"
#include "bf_hash.h"
#include "bf_int.h"

#define WORD_BYTES		8
#define WORD_COUNTERS	16
#define COUNTER_BITS	4
/* A counter that has reached this value is saturated, and no longer changes. */
#define SATURATED		15

/* The lowest bit of each counter of a word. */
#define LANES			UINT64_C(0x1111111111111111)

/* Indexes in BfHeader.param. */
#define PARAM_PROBES	0		/* The number of probes of a key, k. */
/* 1 if the filter is packed.  0 if it is loose; param[2] and param[3] are then 0. */
#define PARAM_PACKED	1
#define PARAM_WORDS		2		/* The number of words of the loose form. */
#define PARAM_PLANES	3		/* The number of planes (bitmaps) of the packed form, t. */

/* Returns the number of the counter that a key's i-th probe falls on. */
static inline uint64_t
position(uint64_t h, unsigned i, uint64_t words)
{
	uint64_t	g = bf_remix(h, i);

	return bf_cell(g, words) * WORD_COUNTERS + (g >> 26 & (WORD_COUNTERS - 1));
}

/* Returns the counter with number `at` of an array of counters. */
static inline unsigned
get_counter(const uint8_t *counters, uint64_t at)
{
	return counters[at / 2] >> (at & 1) * 4 & 15;
}

/*
 * Adds `by`, which may be negative, to a counter; the caller makes sure that the result is within 0
 * to 15.
 */
static inline void
change_counter(uint8_t *counters, uint64_t at, int by)
{
	counters[at / 2] = (uint8_t) (counters[at / 2] + by * (1 << (at & 1) * 4));
}

static inline bool
is_packed(const BfHeader *head)
{
	return head->param[PARAM_PACKED] != 0;
}

/* Returns the number of words of the filter's loose form, whichever form head describes. */
static inline uint64_t
loose_words(const BfHeader *head)
{
	return is_packed(head) ? head->param[PARAM_WORDS] : head->payload_len / WORD_BYTES;
}

/* Returns whether a filter has planes: it is packed, and does not consist of a tail alone. */
static inline bool
has_planes(const BfHeader *head)
{
	return is_packed(head) && head->param[PARAM_PLANES] > 0;
}

/* Returns a word that has a 1 in the lowest bit of each counter that is not 0. */
static inline uint64_t
nonzero_lanes(uint64_t counters)
{
	counters |= counters >> 2;
	counters |= counters >> 1;
	return counters & LANES;
}

/* Returns a word that has a 1 in the lowest bit of each counter that is 15. */
static inline uint64_t
saturated_lanes(uint64_t counters)
{
	counters &= counters >> 2;
	counters &= counters >> 1;
	return counters & LANES;
}

/* Returns the sum of a word's 16 counters. */
static inline unsigned
sum_lanes(uint64_t lanes)
{
	uint64_t	bytes = (lanes & BF_EVEN_NIBBLES) + (lanes >> 4 & BF_EVEN_NIBBLES);

	/* The multiplication adds the 8 bytes, each at most 30, into the highest byte. */
	return (unsigned) (bytes * UINT64_C(0x0101010101010101) >> 56);
}

#endif							/* KIND_COUNTING_LOOSE_H */
