/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_static_wide.h
 *	  Private to the core: the functions of bf_static.h for eight keys at a time, with AVX-512
 *	  (bf_wide.h).
 *
 * A probe of many keys opens all shards of the filter first, and keeps what it needs of them in
 * arrays with one element for each shard.  For each key, an element is then picked by the number of
 * the key's shard.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_STATIC_WIDE_H
#define BF_STATIC_WIDE_H

#include "bf_static.h"
#include "bf_wide.h"

#ifdef BF_HAVE_WIDE

/* The most shards that a filter can have and be probed with AVX-512. */
#define BF_WIDE_SHARDS	64

/*
 * Returns whether n keys should be probed with AVX-512.  That is not so if opening the shards would
 * take longer than probing.
 */
static inline bool
bf_wide_probes(const BfView *view, size_t n)
{
	return n >= BF_WIDE_LANES && view->head.param[BF_STATIC_SHARDS] <= BF_MIN(n, BF_WIDE_SHARDS) &&
		   bf_have_wide();
}

/*
 * A class of filters by their number of shards, which decides how an element is picked for each
 * key: with one shard the element is a constant, with up to eight it is picked by a permutation of
 * one register, with more by a gather.  The choice is made once per call of probe_many, not for
 * each key: BF_WIDE_BY_SHARDS calls a function, which is always inlined, with the class as its last
 * argument, a constant, so that the compiler makes three versions of the function.
 */
typedef enum BfWideShards
{
	BF_WIDE_ONE,
	BF_WIDE_FEW,				/* At most BF_WIDE_LANES shards. */
	BF_WIDE_MANY
} BfWideShards;

#define BF_WIDE_BY_SHARDS(view, function, ...) \
	do { \
		if ((view)->head.param[BF_STATIC_SHARDS] == 1) \
			function(view, __VA_ARGS__, BF_WIDE_ONE); \
		else if ((view)->head.param[BF_STATIC_SHARDS] <= BF_WIDE_LANES) \
			function(view, __VA_ARGS__, BF_WIDE_FEW); \
		else \
			function(view, __VA_ARGS__, BF_WIDE_MANY); \
	} while (0)

/*
 * Computes bf_static_locate() in each lane: returns the numbers of the shards, and sets *place to
 * the places.
 */
BF_WIDE_INLINE __m512i
bf_wide_locate(const BfView *view, __m512i hash, BfWideShards shards, __m512i *place)
{
	__m512i		number = _mm512_set1_epi64(view->head.param[BF_STATIC_SHARDS]);
	__m512i order = _mm512_mullo_epi64(hash, _mm512_set1_epi64((long long) BF_ORDER_MULTIPLIER));

	*place = shards == BF_WIDE_ONE ? order : _mm512_mullo_epi64(order, number);
	return shards == BF_WIDE_ONE ? _mm512_setzero_si512() : bf_wide_cell(order, number);
}

/* Computes bf_static_mix() in each lane. */
BF_WIDE_INLINE __m512i
bf_wide_mix(__m512i hash)
{
	hash = _mm512_mullo_epi64(_mm512_xor_si512(hash, _mm512_srli_epi64(hash, 32)),
							  _mm512_set1_epi64((long long) BF_MIX_MULTIPLIER));
	return _mm512_xor_si512(hash, _mm512_srli_epi64(hash, 32));
}

/* Returns, in each lane, the element of an array that belongs to the shard in that lane. */
BF_WIDE_INLINE __m512i
bf_wide_pick(const uint64_t *array, __m512i shard, BfWideShards shards)
{
	if (shards == BF_WIDE_ONE)
		return _mm512_set1_epi64((long long) array[0]);
	if (shards == BF_WIDE_FEW)
		return _mm512_permutexvar_epi64(shard, _mm512_loadu_si512(array));
	return _mm512_i64gather_epi64(shard, array, sizeof(uint64_t));
}

/* Returns the lanes whose shard is in a set, which has a bit for each shard. */
BF_WIDE_INLINE __mmask8
bf_wide_among(__m512i shard, uint64_t set)
{
	return _mm512_test_epi64_mask(_mm512_sllv_epi64(_mm512_set1_epi64(1), shard),
								  _mm512_set1_epi64((long long) set));
}

#endif							/* BF_HAVE_WIDE */

#endif							/* BF_STATIC_WIDE_H */
