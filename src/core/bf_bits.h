/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_bits.h
 *	  Probes of single bits that may lie anywhere in a range of words: the code that the kinds
 *	  standard and partitioned share.
 *
 * A range consists of 64-bit words.  Probe i computes a remix g of the hash: the high bits of g
 * choose the word, and bits from the middle of g choose the bit within the word.  So when a filter
 * is folded, the index of the word scales (bf_cells.h), and the bit stays the same:
 *
 *		g = remix i of h (bf_hash.h)
 *		word = floor(g * words / 2^64)
 *		bit = bits 31..26 of g
 *
 * With 2^26 words, the most that a range can have, 2^38 consecutive values of g belong to one word.
 * The bit has to come from well below the bits that choose the word: if the number of words is not
 * a power of two, bits 37..32 are not evenly distributed among the values of g that belong to one
 * word.
 *
 * The range of probe i begins i * stride words after the payload's beginning. stride is 0 where all
 * probes share one range, and equals words where each probe has a range of its own.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_BITS_H
#define BF_BITS_H

#include "bf_int.h"

#include "bf_hash.h"

#define BF_WORD_BYTES	8
#define BF_WORD_BITS	64

/*
 * Returns the offset in the payload of the byte that probe i of hash h reads, and sets *mask to the
 * bit within that byte.  The position is given in bytes, not words, so that the layout is the same
 * on machines of either byte order.
 */
static inline uint64_t
bf_bit_position(uint64_t h, unsigned i, uint64_t words, uint64_t stride, uint8_t *mask)
{
	uint64_t	g = bf_remix(h, i);

	*mask = (uint8_t) (1 << ((g >> 26) & 7));
	return (i * stride + bf_cell(g, words)) * BF_WORD_BYTES + ((g >> 29) & 7);
}

/*
 * Returns whether all k bits of a key are set.  Stops at the first clear bit: as half of a filter's
 * bits are clear, an absent key costs two probes on average, each of which may be a cache miss.
 */
static inline bool
bf_bits_probe(const uint8_t *payload, uint64_t hash, unsigned k, uint64_t words, uint64_t stride)
{
	unsigned	i;

	for (i = 0; i < k; i++)
	{
		uint8_t		mask;
		uint64_t	at = bf_bit_position(hash, i, words, stride, &mask);

		if (!(payload[at] & mask))
			return false;
	}
	return true;
}

/*
 * Returns whether all bits of a key are set in a filter whose payload is not in memory: each byte
 * is read by fetch (see BfKind.probe_sliced).
 */
static inline bool
bf_bits_probe_sliced(const BfHeader *head, uint64_t hash, uint64_t words, uint64_t stride,
					 BfFetch fetch, void *arg)
{
	unsigned	i;

	for (i = 0; i < head->param[0]; i++)
	{
		uint8_t		mask;
		uint64_t	at = bf_bit_position(hash, i, words, stride, &mask);

		if (!(*fetch(arg, at, 1) & mask))
			return false;
	}
	return true;
}

/*
 * Prefetches the first two bits of each of n keys, which decide three of four lookups of absent
 * keys.  Not inlined, because this loop and the loop that probes would compete for registers.
 */
static __attribute__((noinline)) void
bf_bits_prefetch(const BfView *view, const uint64_t *hashes, size_t n, uint64_t words,
				 uint64_t stride)
{
	unsigned	early = BF_MIN(view->head.param[0], 2);
	size_t		j;
	unsigned	i;
	uint8_t		mask;

	for (j = 0; j < n; j++)
		for (i = 0; i < early; i++)
			__builtin_prefetch(view->payload + bf_bit_position(hashes[j], i, words, stride, &mask));
}

static inline void
bf_bits_probe_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result,
				   uint64_t words, uint64_t stride)
{
	const uint8_t *payload = view->payload;
	unsigned	k = view->head.param[0];

	while (n > 0)
	{
		size_t		batch = BF_MIN(n, BF_BATCH);
		size_t		j;

		bf_bits_prefetch(view, hashes, batch, words, stride);
		for (j = 0; j < batch; j++)
			result[j] = bf_bits_probe(payload, hashes[j], k, words, stride);
		hashes += batch;
		result += batch;
		n -= batch;
	}
}

#endif							/* BF_BITS_H */
