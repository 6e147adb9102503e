/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_blocks.h
 *	  Adding and probing many keys whose bits lie in one block each: the code that the kinds blocked
 *	  and parquet share.
 *
 * The blocks of a batch of keys are prefetched, so that their cache misses overlap.
 * bf_blocks_probe_many() and bf_blocks_add() are inlined together with the functions that are
 * passed to them, which makes one loop for each kind and instruction set:
 *
 *	- offset_of returns the offset of a hash's block, in a payload of the given number of blocks;
 *	- test and set test or set a key's bits in its block; x is the low half of the hash, k the
 *	  number of probes (param[0]).
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_BLOCKS_H
#define BF_BLOCKS_H

#include "bf_int.h"

static inline __attribute__((always_inline)) void
bf_blocks_probe_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result,
					 uint64_t (*offset_of) (uint64_t hash, uint64_t blocks),
					 bool (*test) (const uint8_t *block, uint32_t x, unsigned k))
{
	uint64_t	blocks = view->head.payload_len / view->head.kind->cell_size;
	unsigned	k = view->head.param[0];

	while (n > 0)
	{
		size_t		batch = BF_MIN(n, BF_BATCH);
		const uint8_t *block[BF_BATCH];
		size_t		j;

		for (j = 0; j < batch; j++)
		{
			block[j] = view->payload + offset_of(hashes[j], blocks);
			__builtin_prefetch(block[j]);
		}
		for (j = 0; j < batch; j++)
			result[j] = test(block[j], (uint32_t) hashes[j], k);
		hashes += batch;
		result += batch;
		n -= batch;
	}
}

/* Implements BfKind.add: adds all n keys, since a filter of blocks always has room.  Returns n. */
static inline __attribute__((always_inline)) size_t
bf_blocks_add(const BfHeader *head, uint8_t *payload, const uint64_t *hashes, size_t n,
			  uint64_t (*offset_of) (uint64_t hash, uint64_t blocks),
			  void (*set) (uint8_t *block, uint32_t x, unsigned k))
{
	uint64_t	blocks = head->payload_len / head->kind->cell_size;
	unsigned	k = head->param[0];
	size_t		left = n;

	while (left > 0)
	{
		size_t		batch = BF_MIN(left, BF_BATCH);
		uint8_t    *block[BF_BATCH];
		size_t		j;

		for (j = 0; j < batch; j++)
		{
			block[j] = payload + offset_of(hashes[j], blocks);
			__builtin_prefetch(block[j], 1);
		}
		for (j = 0; j < batch; j++)
			set(block[j], (uint32_t) hashes[j], k);
		hashes += batch;
		left -= batch;
	}
	return n;
}

#endif							/* BF_BLOCKS_H */
