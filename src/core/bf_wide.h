/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_wide.h
 *	  Private to the core: AVX-512, with one key in each of eight lanes of 64 bits.
 *
 * Probes and hashes of many keys are computed for eight keys at a time, and a batch has 64 keys:
 * as many as a word has bits, so that a set of them is a word.  Results are those of the plain
 * code.  Who uses this asks bf_have_wide() (bf_cpu.h) first.
 *
 * The sanitizers do not see what a gather reads.  So its offsets may only come from tables that
 * have been found to lie within the payload.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_WIDE_H
#define BF_WIDE_H

#include "bf_cpu.h"
#include "bf_int.h"

#ifdef BF_HAVE_WIDE

#define BF_WIDE_TARGET	"avx512f,avx512dq,avx512bw,avx512vl,avx512vpopcntdq,bmi,bmi2,popcnt"
#define BF_WIDE			__attribute__((target(BF_WIDE_TARGET)))
#define BF_WIDE_INLINE	static inline __attribute__((always_inline, target(BF_WIDE_TARGET)))

#define BF_WIDE_LANES	8
#define BF_WIDE_BATCH	64		/* keys */

/* ---- lanes and sets of keys ---- */

/* Of the lanes for keys i to i + 7, those that hold a key if there are n in all. */
BF_WIDE_INLINE __mmask8
bf_wide_lanes(size_t i, size_t n)
{
	return (__mmask8) (n - i >= BF_WIDE_LANES ? 0xff : (1 << (n - i)) - 1);
}

/* bf_cell() in each lane, for less than 2^32 cells. */
BF_WIDE_INLINE __m512i
bf_wide_cell(__m512i h, __m512i cells)
{
	__m512i		high = _mm512_mul_epu32(_mm512_srli_epi64(h, 32), cells);
	__m512i		low = _mm512_mul_epu32(h, cells);

	return _mm512_srli_epi64(_mm512_add_epi64(high, _mm512_srli_epi64(low, 32)), 32);
}

/* The set of the first n keys. */
static inline uint64_t
bf_wide_all(size_t n)
{
	return n < BF_WIDE_BATCH ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

/* Stores a set as n bools: is key i in it? */
BF_WIDE_INLINE void
bf_wide_store(bool *result, uint64_t set, size_t n)
{
	_mm512_mask_storeu_epi8(result, bf_wide_all(n), _mm512_maskz_set1_epi8(set, 1));
}

/* ---- loads from a payload ---- */

/*
 * For each lane in lanes, the 64 bits that begin at an offset in bits: eight bytes are loaded, and
 * the bits before the offset are shifted out, so that only the low 57 are certain.
 */
BF_WIDE_INLINE __m512i
bf_wide_gather_bits(const uint8_t *bytes, __m512i bit, __mmask8 lanes)
{
	__m512i word = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), lanes,
											   _mm512_srli_epi64(bit, 3), bytes, 1);

	return _mm512_srlv_epi64(word, _mm512_and_si512(bit, _mm512_set1_epi64(7)));
}

/*
 * The same for a batch, in three steps: bf_wide_set_bits() takes the offsets, bf_wide_load()
 * replaces them by the words that are there, bf_wide_get_bits() shifts.  The second step consists
 * of loads alone, so that the processor has as many cache misses under way as it can.
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

#endif							/* BF_HAVE_WIDE */

#endif							/* BF_WIDE_H */
