/*-------------------------------------------------------------------------
 *
 * bf_wide.h
 *	  Private to the core: batches of a static filter's probes with AVX-512, eight keys at a time.
 *
 * What bf_static.h does with one hash is done with eight here, one in each lane of 64 bits, with
 * the same result.  Whoever includes this asks bf_have_wide() first, at run time, and has a way
 * without.
 *
 * What the sanitizers do not see is what a gather reads: offsets come from tables that have been
 * found to lie within the payload.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_WIDE_H
#define BF_WIDE_H

#include "bf_peel.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define BF_HAVE_WIDE

#define BF_WIDE_TARGET	"avx512f,avx512dq,avx512bw,avx512vl,avx512vpopcntdq,bmi,bmi2,popcnt"
#define BF_WIDE			__attribute__((target(BF_WIDE_TARGET)))
#define BF_WIDE_INLINE	static inline __attribute__((always_inline, target(BF_WIDE_TARGET)))

#define BF_WIDE_LANES	8
#define BF_WIDE_BATCH	64		/* keys: as many as a word has bits, so that a set of them is one */
#define BF_WIDE_SHARDS	64		/* of a filter that is probed so, at most */

static inline bool
bf_have_wide(void)
{
	return !bf_wide_off && __builtin_cpu_supports("avx512f") &&
		   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
		   __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vpopcntdq") &&
		   __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
		   __builtin_cpu_supports("popcnt");
}

/* Can so many probes be done so, and are they worth it? */
static inline bool
bf_wide_probes(const BfView *view, size_t n)
{
	return n >= BF_WIDE_LANES && view->head.param[BF_STATIC_SHARDS] <= BF_MIN(n, BF_WIDE_SHARDS) &&
		   bf_have_wide();
}

/* How many shards a filter has: a constant wherever this is an argument. */
typedef enum BfWideShards
{
	BF_WIDE_ONE,
	BF_WIDE_FEW,				/* BF_WIDE_LANES at the most */
	BF_WIDE_MANY
} BfWideShards;

/* The lanes from i on, of n in all, that are there. */
BF_WIDE_INLINE __mmask8
bf_wide_lanes(size_t i, size_t n)
{
	return (__mmask8) (n - i >= BF_WIDE_LANES ? 0xff : (1 << (n - i)) - 1);
}

/* bf_cell(), for less than 2^32 cells. */
BF_WIDE_INLINE __m512i
bf_wide_cell(__m512i h, __m512i cells)
{
	__m512i		high = _mm512_mul_epu32(_mm512_srli_epi64(h, 32), cells);
	__m512i		low = _mm512_mul_epu32(h, cells);

	return _mm512_srli_epi64(_mm512_add_epi64(high, _mm512_srli_epi64(low, 32)), 32);
}

/* bf_static_locate() */
BF_WIDE_INLINE __m512i
bf_wide_locate(const BfView *view, __m512i hash, BfWideShards shards, __m512i *place)
{
	__m512i		number = _mm512_set1_epi64(view->head.param[BF_STATIC_SHARDS]);
	__m512i order = _mm512_mullo_epi64(hash, _mm512_set1_epi64((long long) BF_ORDER_MULTIPLIER));

	*place = shards == BF_WIDE_ONE ? order : _mm512_mullo_epi64(order, number);
	return shards == BF_WIDE_ONE ? _mm512_setzero_si512() : bf_wide_cell(order, number);
}

/* bf_static_mix() */
BF_WIDE_INLINE __m512i
bf_wide_mix(__m512i hash)
{
	hash = _mm512_mullo_epi64(_mm512_xor_si512(hash, _mm512_srli_epi64(hash, 32)),
							  _mm512_set1_epi64((long long) BF_MIX_MULTIPLIER));
	return _mm512_xor_si512(hash, _mm512_srli_epi64(hash, 32));
}

/*
 * Of an array with something for each shard, what is there for these; from a register where all
 * shards fit into one.
 */
BF_WIDE_INLINE __m512i
bf_wide_pick(const uint64_t *array, __m512i shard, BfWideShards shards)
{
	if (shards == BF_WIDE_ONE)
		return _mm512_set1_epi64((long long) array[0]);
	if (shards == BF_WIDE_FEW)
		return _mm512_permutexvar_epi64(shard, _mm512_loadu_si512(array));
	return _mm512_i64gather_epi64(shard, array, sizeof(uint64_t));
}

/* Which of these shards are in a set? */
BF_WIDE_INLINE __mmask8
bf_wide_among(__m512i shard, uint64_t set)
{
	return _mm512_test_epi64_mask(_mm512_sllv_epi64(_mm512_set1_epi64(1), shard),
								  _mm512_set1_epi64((long long) set));
}

/*
 * Eight bytes from each of these offsets in bits, of which the low ones are shifted out; in lanes
 * that there are.
 */
BF_WIDE_INLINE __m512i
bf_wide_gather_bits(const uint8_t *bytes, __m512i bit, __mmask8 lanes)
{
	__m512i word = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), lanes,
											   _mm512_srli_epi64(bit, 3), bytes, 1);

	return _mm512_srlv_epi64(word, _mm512_and_si512(bit, _mm512_set1_epi64(7)));
}

/*
 * The same in three steps, with time between them: offsets in bits, one for each of n keys,
 * become words of memory in their place, and those are shifted.  The second step is all loads, so
 * that the processor has as many on their way as it can.
 */
typedef struct BfWideBits
{
	uint64_t	word[BF_WIDE_BATCH] __attribute__((aligned(64)));	/* or its offset in bytes */
	uint64_t	shift[BF_WIDE_BATCH] __attribute__((aligned(64)));
} BfWideBits;

BF_WIDE_INLINE void
bf_wide_set_bits(BfWideBits *bits, size_t i, __m512i bit)
{
	_mm512_store_si512(bits->word + i, _mm512_srli_epi64(bit, 3));
	_mm512_store_si512(bits->shift + i, _mm512_and_si512(bit, _mm512_set1_epi64(7)));
}

BF_WIDE_INLINE void
bf_wide_load(uint64_t *word, const uint8_t *bytes, size_t n)
{
	size_t		i;

	for (i = 0; i < n; i++)
		word[i] = bf_load64(bytes + word[i]);
}

BF_WIDE_INLINE __m512i
bf_wide_get_bits(const BfWideBits *bits, size_t i)
{
	return _mm512_srlv_epi64(_mm512_load_si512(bits->word + i), _mm512_load_si512(bits->shift + i));
}

/* What cells of so many bits add up to, if the key is contained. */
BF_WIDE_INLINE __m512i
bf_wide_fingerprint(__m512i mix, unsigned width)
{
	return _mm512_srli_epi64(
		_mm512_mullo_epi64(mix, _mm512_set1_epi64((long long) BF_FINGERPRINT_MULTIPLIER)),
		64 - width);
}

/* bf_block_positions() */
BF_WIDE_INLINE void
bf_wide_block_positions(__m512i len, __m512i place, __m512i mix, __m512i *position)
{
	position[0] = bf_wide_cell(place, len);
	position[1] = _mm512_add_epi64(len, _mm512_srli_epi64(_mm512_mul_epu32(mix, len), 32));
	position[2] =
		_mm512_add_epi64(_mm512_add_epi64(len, len),
						 _mm512_srli_epi64(_mm512_mul_epu32(_mm512_srli_epi64(mix, 32), len), 32));
}

/* The first n of a set of keys. */
static inline uint64_t
bf_wide_all(size_t n)
{
	return n < BF_WIDE_BATCH ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

/* Stores the first n of a set as bools. */
BF_WIDE_INLINE void
bf_wide_store(bool *result, uint64_t set, size_t n)
{
	_mm512_mask_storeu_epi8(result, bf_wide_all(n), _mm512_maskz_set1_epi8(set, 1));
}

#endif

#endif							/* BF_WIDE_H */
