/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_wide.h
 *	  Private to the core: helpers for AVX-512 code that handles one key in each of eight 64-bit
 *	  lanes.
 *
 * Probes and hashes of many keys are computed for eight keys at a time.  A batch has 64 keys, as
 * many as a word has bits, so that a set of keys of the batch is a 64-bit word.  The results are
 * the same as those of the plain C code.  Callers must first check that bf_have_wide() (bf_cpu.h)
 * returns true.
 *
 * The sanitizers do not see what a gather instruction reads.  The offsets of a gather may therefore
 * only come from tables that have been checked to lie within the payload.
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
#define BF_WIDE_BATCH	64		/* The number of keys in a batch. */

/* ---- lanes and sets of keys ---- */

/*
 * Returns the mask of those lanes for keys i to i + 7 that hold a key, if there are n keys in all.
 */
BF_WIDE_INLINE __mmask8
bf_wide_lanes(size_t i, size_t n)
{
	return (__mmask8) (n - i >= BF_WIDE_LANES ? 0xff : (1 << (n - i)) - 1);
}

/* Computes bf_cell() in each lane.  The number of cells must be less than 2^32. */
BF_WIDE_INLINE __m512i
bf_wide_cell(__m512i h, __m512i cells)
{
	__m512i		high = _mm512_mul_epu32(_mm512_srli_epi64(h, 32), cells);
	__m512i		low = _mm512_mul_epu32(h, cells);

	return _mm512_srli_epi64(_mm512_add_epi64(high, _mm512_srli_epi64(low, 32)), 32);
}

/* Returns the set of the first n keys of a batch. */
static inline uint64_t
bf_wide_all(size_t n)
{
	return n < BF_WIDE_BATCH ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

/* Stores a set of keys as n bools: result[i] is true if key i is in the set. */
BF_WIDE_INLINE void
bf_wide_store(bool *result, uint64_t set, size_t n)
{
	_mm512_mask_storeu_epi8(result, bf_wide_all(n), _mm512_maskz_set1_epi8(set, 1));
}

/* ---- loads from a payload ---- */

/*
 * For each lane in the mask lanes, returns the 64 bits that begin at the lane's offset, which is in
 * bits.  Eight bytes are loaded, and the bits before the offset are shifted out, so that only the
 * low 57 bits of a result are certain to be valid.
 */
BF_WIDE_INLINE __m512i
bf_wide_gather_bits(const uint8_t *bytes, __m512i bit, __mmask8 lanes)
{
	__m512i word = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), lanes,
											   _mm512_srli_epi64(bit, 3), bytes, 1);

	return _mm512_srlv_epi64(word, _mm512_and_si512(bit, _mm512_set1_epi64(7)));
}

/*
 * Reads up to 64 bits at a bit offset for each key of a batch, in three steps: bf_wide_set_bits()
 * stores the offsets, bf_wide_load() replaces each offset by the word that begins at it, and
 * bf_wide_get_bits() shifts the words.  The second step consists of loads alone, so that the
 * processor can have as many cache misses outstanding as possible.
 */
typedef struct BfWideBits
{
	/* The word that was loaded for each key; before bf_wide_load(), the word's offset in bytes. */
	uint64_t	word[BF_WIDE_BATCH] __attribute__((aligned(64)));
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
