/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_signature.h
 *	  Signatures: Bloom filters that lie side by side, so that one key is looked up in many of them
 *	  at once; a signature index consists of signatures.
 *
 * A signature is a Bloom filter in blocks of 256 bits.  A key belongs to one block, and sets a few
 * bits there (Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2009).
 * Signatures of one shape can be stored in two orders: one signature after the other, as they are
 * written, or block by block, with the same block of many signatures next to each other.  In the
 * second order a key is looked up in all of these by reading one run of memory, as with bit-sliced
 * signatures (Faloutsos, Christodoulakis, TOIS 1984), but a signature is also changed by changing
 * one block in each place, without transposing bits.
 *
 * A signature never denies a key that was added to it.  It claims another key with a probability of
 * about fill^bits, where fill is the fraction of its bits that are set
 * (bf_signature_fpr()).
 *
 * Signatures stay on the machine that made them, so the bytes of a block depend on the machine's
 * byte order.  Blocks are aligned to 8 bytes.  Shapes are trusted: callers check stored ones
 * with bf_signature_shape_is_valid().  No function of this file allocates, blocks or fails.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_SIGNATURE_H
#define BF_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/bf_hash.h"

#define BF_SIGNATURE_BLOCK_BITS		256
#define BF_SIGNATURE_BLOCK_BYTES	32
#define BF_SIGNATURE_BLOCK_WORDS	4

/* The most blocks of a signature (2 MB), and the most bits that a key can set. */
#define BF_SIGNATURE_MAX_BLOCKS		65536
#define BF_SIGNATURE_MAX_BITS		6

/* The most signatures that bf_signature_match() compares with a key at once. */
#define BF_SIGNATURE_MATCHES		64

typedef struct BfSignatureShape
{
	uint32_t	blocks;			/* The number of blocks of a signature. */
	uint32_t	bits;			/* The number of bits that a key sets. */
} BfSignatureShape;

/* Where a key's bits are in signatures of one shape. */
typedef struct BfSignatureProbe
{
	uint32_t	block;			/* The number of the key's block. */
	uint64_t	mask[BF_SIGNATURE_BLOCK_WORDS]; /* The key's bits in its block. */
} BfSignatureProbe;

static inline bool
bf_signature_shape_is_valid(const BfSignatureShape *shape)
{
	return shape->blocks >= 1 && shape->blocks <= BF_SIGNATURE_MAX_BLOCKS &&
		   shape->bits >= 1 && shape->bits <= BF_SIGNATURE_MAX_BITS;
}

/*
 * Returns where the bits of a key with this hash are.  The block is the high end of the hash, which
 * is 16 bits at most, and each bit's position in the block is a byte of the low 48 bits.  So all
 * bits of the hash must be good.
 */
static inline BfSignatureProbe
bf_signature_probe(const BfSignatureShape *shape, uint64_t hash)
{
	BfSignatureProbe probe = {(uint32_t) bf_cell(hash, shape->blocks), {0, 0, 0, 0}};
	uint32_t	i;

	for (i = 0; i < shape->bits; i++, hash >>= 8)
		probe.mask[(hash >> 6) & 3] |= UINT64_C(1) << (hash & 63);
	return probe;
}

/* Adds keys to one signature: shape->blocks blocks of memory, one after the other. */
extern void bf_signature_add(uint64_t *signature, const BfSignatureShape *shape,
							 const uint64_t *hashes, size_t n);

/*
 * Returns whether a block has all bits of the probe.  The block is the one with the probe's number.
 */
static inline bool
bf_signature_block_has(const uint64_t *block, const BfSignatureProbe *probe)
{
	return ((~block[0] & probe->mask[0]) | (~block[1] & probe->mask[1]) |
			(~block[2] & probe->mask[2]) | (~block[3] & probe->mask[3])) == 0;
}

/*
 * Compares a key with n <= 64 signatures whose blocks with the probe's number lie next to each
 * other.  Returns the subset of the bits of "wanted" that stand for signatures which may have the
 * key; bit i stands for block i.
 */
extern uint64_t bf_signature_match(const uint64_t *blocks, unsigned n, uint64_t wanted,
								   const BfSignatureProbe *probe);

/* Returns how many bits are set in n words. */
extern uint64_t bf_signature_count(const uint64_t *words, size_t n);

/*
 * Returns the shape of signatures that are to have this many different keys, with bits_per_key bits
 * of memory for each.  The number of bits that a key sets is the best one for that, bits_per_key *
 * ln 2 (Bloom, CACM 1970).  Any numbers are valid; the result is within the limits.
 */
extern BfSignatureShape bf_signature_shape(double keys, double bits_per_key);

/*
 * Estimates how many different keys a signature has, given how many of its bits are set (Swamidass,
 * Baldi, J. Chem. Inf. Model. 2007).  For a signature that is full, returns the number
 * at which one bit is expected to be left.
 */
extern double bf_signature_keys(const BfSignatureShape *shape, uint64_t set);

/* Estimates the probability that a signature claims a key that it does not have. */
extern double bf_signature_fpr(const BfSignatureShape *shape, double set);

#endif							/* BF_SIGNATURE_H */
