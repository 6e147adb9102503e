/*-------------------------------------------------------------------------
 *
 * bf_hash.h
 *	  The one hash, and how its 64 bits are cut.
 *
 * Keys become canonical bytes (src/pg/key.c), the bytes become 64 bits by XXH3 with seed 0, and
 * those bits are stored in filters for ever: neither may change.  xxHash promises that XXH3's
 * output is frozen since its version 0.8.0; test/core/t_hash.c holds us to it.
 *
 * Which bits feed which decision:
 *
 *	- the cell (block, word) is the high end of the hash: bf_cell(h, cells) = floor(h * cells /
 *	  2^64).  It is monotone in h, so that hashes in order fill a filter in order, and
 *	  floor(bf_cell(h, d * c) / d) = bf_cell(h, c), which is what makes folding exact;
 *	- the bits within a cell come from the low half, or from a remix of all of it, so that the two
 *	  are independent.
 *
 * Kind parquet's hash is XXH64 with seed 0, and its cells and bits are the Parquet
 * specification's (kind_parquet.c), cut in the same way.
 *
 * 64 bits put a floor of keys / 2^64 under every FPR: 5e-11 for 10^9 keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_HASH_H
#define BF_HASH_H

#include <stddef.h>
#include <stdint.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* The hash of canonical bytes. */
static inline uint64_t
bf_hash_bytes(const void *bytes, size_t len)
{
	return XXH3_64bits(bytes, len);
}

/* The hash of an integer: of its 8 bytes, little-endian. */
static inline uint64_t
bf_hash_u64(uint64_t value)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	value = __builtin_bswap64(value);
#endif
	return XXH3_64bits(&value, sizeof(value));
}

/*
 * Replaces integers by their hashes, which are those of bf_hash_u64(): for batches, several at
 * once where the processor can (AVX-512).  Trusted; cannot fail.
 */
extern void bf_hash_u64_many(uint64_t *values, size_t n);

/*
 * The hash of Parquet's filters: XXH64, of a value in plain encoding, without its length where it
 * has one.
 */
static inline uint64_t
bf_hash_plain(const void *bytes, size_t len)
{
	return XXH64(bytes, len, 0);
}

/* The id of a key family: the hash of its name, never 0 (which means "no family"). */
static inline uint64_t
bf_family_id(const char *name, size_t len)
{
	uint64_t	id = bf_hash_bytes(name, len);

	return id != 0 ? id : 1;
}

/*
 * floor(h * cells / 2^64): a number below cells, from the high bits of h ("fastrange", Lemire
 * 2019).
 */
static inline uint64_t
bf_cell(uint64_t h, uint64_t cells)
{
	return (uint64_t) (((unsigned __int128) h * cells) >> 64);
}

/*
 * The i-th remix of a hash, for kinds whose probes fall anywhere: as good as a hash of its own,
 * its low bits included.
 *
 * Double hashing (h1 + i * h2) would save a multiplication and is visibly worse on small filters,
 * where its arithmetic progressions fall on each other (Dillinger, Manolios 2004).  2^64 over the
 * golden ratio, and a multiplier of good spectral quality (Steele, Vigna 2022, for 64-bit LCGs).
 */
static inline uint64_t
bf_remix(uint64_t h, unsigned i)
{
	uint64_t	g = h + i * UINT64_C(0x9e3779b97f4a7c15);

	g = (g ^ (g >> 32)) * UINT64_C(0xd1342543de82ef95);
	return g ^ (g >> 32);
}

/*
 * The order that hashes are collected, merged and handed out in: that of bf_order(h), a
 * bijection.  Not that of h itself: hash tables whose slot is the high end of their key pile up
 * on input that comes in their own order, and hashes may well come in order.  Kinds that are
 * built in shards cut them from this order.  2^64 over the golden ratio, and its inverse modulo
 * 2^64.
 */
#define BF_ORDER_MULTIPLIER		UINT64_C(0x9e3779b97f4a7c15)
#define BF_ORDER_INVERSE		UINT64_C(0xf1de83e19937733d)

static inline uint64_t
bf_order(uint64_t h)
{
	return h * BF_ORDER_MULTIPLIER;
}

/*
 * The shard of a hash among so many, 0 to shards - 1: where a set is divided among several
 * filters.  From a mix of the whole hash (the finalizer of MurmurHash3, Appleby, with Stafford's
 * thirteenth set of constants), so that the keys of one shard are spread within a filter as all
 * keys are; with the high bits themselves a shard's filter would have keys in one part only, and
 * false positives as if it were that small.
 */
static inline uint64_t
bf_shard(uint64_t h, uint64_t shards)
{
	h ^= h >> 30;
	h *= UINT64_C(0xbf58476d1ce4e5b9);
	h ^= h >> 27;
	h *= UINT64_C(0x94d049bb133111eb);
	h ^= h >> 31;
	return bf_cell(h, shards);
}

#endif							/* BF_HASH_H */
