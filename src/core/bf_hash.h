/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_hash.h
 *	  The hash function of all filters, and how its 64 bits are used.
 *
 * Keys become canonical bytes (src/keys), and canonical bytes become 64 bits by XXH3 with seed 0.
 * What is stored in filters depends on these bits, so neither step may ever change. xxHash promises
 * that the output of XXH3 is frozen since its version 0.8.0; test/core/t_hash.c checks it.
 *
 * The bits of the hash are used as follows:
 *
 *	- The cell (block, word) is the high end of the hash: bf_cell(h, cells) = floor(h * cells /
 *	  2^64).  It is monotone in h, so that hashes in order fill a filter in order, and
 *	  floor(bf_cell(h, d * c) / d) = bf_cell(h, c), which is what makes folding exact.
 *	- The bits within a cell come from the low half, or from a remix of the whole hash, so that the
 *	  bits are independent of the cell.
 *
 * The hash of kind parquet is XXH64 with seed 0, and its cells and bits are those of the Parquet
 * specification (kind_parquet.c), which uses the bits of the hash in the same way.
 *
 * As different keys may have the same 64 bits, no FPR is below keys / 2^64: 5e-11 for 10^9 keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_HASH_H
#define BF_HASH_H

#include <stddef.h>
#include <stdint.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Returns the hash of a key's canonical bytes. */
static inline uint64_t
bf_hash_bytes(const void *bytes, size_t len)
{
	return XXH3_64bits(bytes, len);
}

/*
 * Returns the hash of bytes with a seed; with seed 0 it equals bf_hash_bytes().  For hashes that
 * nobody shall be able to craft; filters have no seed.
 */
static inline uint64_t
bf_hash_bytes_seeded(uint64_t seed, const void *bytes, size_t len)
{
	return XXH3_64bits_withSeed(bytes, len, seed);
}

/* Returns the hash of an integer: that of its 8 bytes, little-endian. */
static inline uint64_t
bf_hash_u64(uint64_t value)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	value = __builtin_bswap64(value);
#endif
	return XXH3_64bits(&value, sizeof(value));
}

static inline uint64_t
bf_hash_u64_seeded(uint64_t seed, uint64_t value)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	value = __builtin_bswap64(value);
#endif
	return XXH3_64bits_withSeed(&value, sizeof(value), seed);
}

/*
 * Replaces n integers by their hashes, which are those of bf_hash_u64().  Handles eight integers at
 * a time where the processor has AVX-512.  Cannot fail.
 */
extern void bf_hash_u64_many(uint64_t *values, size_t n);

/*
 * Returns the hash that Parquet's filters use: XXH64 of a value in Parquet's plain encoding,
 * without the length that precedes values of some types.
 */
static inline uint64_t
bf_hash_plain(const void *bytes, size_t len)
{
	return XXH64(bytes, len, 0);
}

/* Returns the id of a key family: the hash of its name, but never 0, which means "no family". */
static inline uint64_t
bf_family_id(const char *name, size_t len)
{
	uint64_t	id = bf_hash_bytes(name, len);

	return id != 0 ? id : 1;
}

/*
 * Returns floor(h * cells / 2^64): a number below cells that is taken from the high bits of h
 * ("fastrange", Lemire 2019).
 */
static inline uint64_t
bf_cell(uint64_t h, uint64_t cells)
{
	return (uint64_t) (((unsigned __int128) h * cells) >> 64);
}

/*
 * Returns the i-th remix of a hash, for kinds whose probes can fall anywhere.  A remix serves as an
 * independent hash, and has good low bits as well.
 *
 * Double hashing (h1 + i * h2) would save a multiplication, but is visibly worse in small filters,
 * where the arithmetic progressions of different keys coincide (Dillinger, Manolios 2004).  The
 * constants are 2^64 over the golden ratio, and a multiplier of good spectral quality (Steele,
 * Vigna 2022, for 64-bit LCGs).
 */
static inline uint64_t
bf_remix(uint64_t h, unsigned i)
{
	uint64_t	g = h + i * UINT64_C(0x9e3779b97f4a7c15);

	g = (g ^ (g >> 32)) * UINT64_C(0xd1342543de82ef95);
	return g ^ (g >> 32);
}

/*
 * Hashes are collected, merged and passed on in the ascending order of bf_order(h), a bijection,
 * and kinds that are built in shards divide the hashes by it.  It is not the order of h itself,
 * because hashes may well arrive in the order of h, and a hash table whose slots are taken from the
 * high bits of its keys degenerates if the keys arrive in the table's own order.  The constants are
 * 2^64 over the golden ratio, and its inverse modulo 2^64.
 */
#define BF_ORDER_MULTIPLIER		UINT64_C(0x9e3779b97f4a7c15)
#define BF_ORDER_INVERSE		UINT64_C(0xf1de83e19937733d)

static inline uint64_t
bf_order(uint64_t h)
{
	return h * BF_ORDER_MULTIPLIER;
}

/*
 * Returns the shard of a hash, 0 to shards - 1, where a set of keys is divided among several
 * filters.  (Shards within one filter, of a kind that is built at once, are chosen in bf_static.c,
 * by bf_order().)  The shard depends on a mix of the whole hash (the finalizer of MurmurHash3,
 * Appleby, with Stafford's thirteenth set of constants), so that the keys of one shard are spread
 * over all of their filter.  If the shard were taken from the hash's high bits, the keys of a shard
 * would all lie in one part of their filter, and its FPR would be that of a filter as small as that
 * part.
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
