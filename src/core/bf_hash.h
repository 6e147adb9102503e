/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_hash.h
 *	  The one hash, and how its 64 bits are cut.
 *
 * Keys become canonical bytes (src/keys), and these become 64 bits by XXH3 with seed 0.  What
 * is stored in filters depends on these bits, so neither step may ever change.  xxHash promises
 * that the output of XXH3 is frozen since its version 0.8.0; test/core/t_hash.c checks it.
 *
 * Which bits of the hash decide what:
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

/* The hash of canonical bytes. */
static inline uint64_t
bf_hash_bytes(const void *bytes, size_t len)
{
	return XXH3_64bits(bytes, len);
}

/*
 * The same with a seed, of which 0 is the hash above.  For hashes that nobody shall be able to
 * craft; filters have no seed.
 */
static inline uint64_t
bf_hash_bytes_seeded(uint64_t seed, const void *bytes, size_t len)
{
	return XXH3_64bits_withSeed(bytes, len, seed);
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

static inline uint64_t
bf_hash_u64_seeded(uint64_t seed, uint64_t value)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	value = __builtin_bswap64(value);
#endif
	return XXH3_64bits_withSeed(&value, sizeof(value), seed);
}

/*
 * Replaces n integers by their hashes, the same as bf_hash_u64() gives; eight at a time where the
 * processor has AVX-512.  Cannot fail.
 */
extern void bf_hash_u64_many(uint64_t *values, size_t n);

/*
 * The hash of Parquet's filters: XXH64 of a value in Parquet's plain encoding, without the length
 * that precedes some types.
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
 * The i-th remix of a hash, for kinds whose probes can fall anywhere: it does for a hash of its
 * own, with good low bits as well.
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
 * Hashes are collected, merged and handed out in the ascending order of bf_order(h), a bijection,
 * and kinds that are built in shards divide them by it.  It is not the order of h itself, because
 * hashes may well arrive in that order, and a hash table whose slots are taken from the high bits
 * of its keys degenerates on input in its own order.  The constants are 2^64 over the golden ratio,
 * and its inverse modulo 2^64.
 */
#define BF_ORDER_MULTIPLIER		UINT64_C(0x9e3779b97f4a7c15)
#define BF_ORDER_INVERSE		UINT64_C(0xf1de83e19937733d)

static inline uint64_t
bf_order(uint64_t h)
{
	return h * BF_ORDER_MULTIPLIER;
}

/*
 * The shard of a hash, 0 to shards - 1, where a set of keys is divided among several filters.
 * (Shards within one filter, of a kind that is built at once, are bf_static.c's, by bf_order().)
 * It depends on a mix of the whole hash (the finalizer of MurmurHash3, Appleby, with Stafford's
 * thirteenth set of constants), so that the keys of one shard are spread all over their filter.  If
 * it were the hash's high bits, they would all lie in one part of it, and the FPR would be that of
 * a filter as small as that part.
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
