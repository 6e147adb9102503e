/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_signature.c
 *	  Signatures: Bloom filters that lie side by side.
 *
 *-------------------------------------------------------------------------
 */
#include "core/bf_signature.h"

#include <math.h>

/*
 * Adds keys that each set this number of bits.  Most keys have been added before, if they are words
 * or n-grams of a text: then nothing is stored, so that no key waits for what another one stores.
 */
static inline void
add(uint64_t *signature, uint32_t blocks, const uint64_t *hashes, size_t n, unsigned bits)
{
	size_t		i;
	unsigned	j;

	for (i = 0; i < n; i++)
	{
		uint64_t	hash = hashes[i];
		uint64_t   *block = signature + BF_SIGNATURE_BLOCK_WORDS * bf_cell(hash, blocks);
		uint64_t	has = 1;

#pragma GCC unroll 6
		for (j = 0; j < bits; j++)
			has &= block[(hash >> (8 * j + 6)) & 3] >> (hash >> (8 * j) & 63);
		if (has)
			continue;
#pragma GCC unroll 6
		for (j = 0; j < bits; j++)
			block[(hash >> (8 * j + 6)) & 3] |= UINT64_C(1) << (hash >> (8 * j) & 63);
	}
}

void
bf_signature_add(uint64_t *signature, const BfSignatureShape *shape, const uint64_t *hashes,
				 size_t n)
{
	switch (shape->bits)
	{
		case 3:
			add(signature, shape->blocks, hashes, n, 3);
			break;
		case 6:
			add(signature, shape->blocks, hashes, n, 6);
			break;
		default:
			add(signature, shape->blocks, hashes, n, shape->bits);
			break;
	}
}

uint64_t
bf_signature_match(const uint64_t *blocks, unsigned n, uint64_t wanted,
				   const BfSignatureProbe *probe)
{
	uint64_t	found = 0;
	unsigned	i;

	for (i = 0; i < n; i++)
	{
		const uint64_t *block = blocks + (size_t) BF_SIGNATURE_BLOCK_WORDS * i;

		found |= (uint64_t) bf_signature_block_has(block, probe) << i;
	}
	return found & wanted;
}

uint64_t
bf_signature_count(const uint64_t *words, size_t n)
{
	uint64_t	set = 0;
	size_t		i;

	for (i = 0; i < n; i++)
		set += (uint64_t) __builtin_popcountll(words[i]);
	return set;
}

BfSignatureShape
bf_signature_shape(double keys, double bits_per_key)
{
	double		bits = floor(bits_per_key * M_LN2 + 0.5);
	double		blocks = ceil(keys * bits_per_key / BF_SIGNATURE_BLOCK_BITS);
	BfSignatureShape shape;

	/* Comparisons with a NaN are false, so a NaN becomes the smallest value. */
	shape.bits = !(bits > 1) ? 1 : bits > BF_SIGNATURE_MAX_BITS ? BF_SIGNATURE_MAX_BITS
																: (uint32_t) bits;
	shape.blocks = !(blocks > 1) ? 1 : blocks > BF_SIGNATURE_MAX_BLOCKS ? BF_SIGNATURE_MAX_BLOCKS
																		: (uint32_t) blocks;
	return shape;
}

double
bf_signature_keys(const BfSignatureShape *shape, uint64_t set)
{
	double		all = (double) shape->blocks * BF_SIGNATURE_BLOCK_BITS;
	double		clear = all - (double) set;

	return -all / shape->bits * log((clear < 1 ? 1 : clear) / all);
}

double
bf_signature_fpr(const BfSignatureShape *shape, double set)
{
	return pow(set / ((double) shape->blocks * BF_SIGNATURE_BLOCK_BITS), shape->bits);
}
