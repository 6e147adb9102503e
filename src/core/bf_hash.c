/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_hash.c
 *	  The hashing of many integers at once.
 *
 *-------------------------------------------------------------------------
 */
#include "bf_hash.h"

#include "bf_wide.h"

#ifdef BF_HAVE_WIDE

/*
 * Constants for XXH3 of 8 bytes with seed 0, as xxHash 0.8 specifies it (doc/xxhash_spec.md, "Small
 * inputs", 4 to 8 bytes). hash_wide() computes it for one value in each lane: the halves of the
 * value are swapped, two words of the secret are XORed to it, and the rest is the mixer "rrmxmx"
 * (Evensen 2018) with the length added.
 */
#define XXH3_MX2		UINT64_C(0x9fb21c651e98df25)
/*
 * The constant that XXH3 XORs into keys of 8 bytes: bytes 8 to 15 of its default secret, XORed with
 * bytes 16 to 23.
 */
#define XXH3_SECRET		UINT64_C(0xc73ab174c5ecd5a2)

BF_WIDE static void
hash_wide(uint64_t *values, size_t n)
{
	__m512i		multiplier = _mm512_set1_epi64((long long) XXH3_MX2);
	__m512i		secret = _mm512_set1_epi64((long long) XXH3_SECRET);
	size_t		i;

	for (i = 0; i < n; i += BF_WIDE_LANES)
	{
		__mmask8	lanes = bf_wide_lanes(i, n);
		__m512i		h = _mm512_maskz_loadu_epi64(lanes, values + i);

		h = _mm512_xor_si512(_mm512_rol_epi64(h, 32), secret);
		/* With the truth table 0x96, the instruction returns the XOR of all three operands. */
		h = _mm512_ternarylogic_epi64(h, _mm512_rol_epi64(h, 49), _mm512_rol_epi64(h, 24), 0x96);
		h = _mm512_mullo_epi64(h, multiplier);
		h = _mm512_xor_si512(
			h, _mm512_add_epi64(_mm512_srli_epi64(h, 35), _mm512_set1_epi64(sizeof(uint64_t))));
		h = _mm512_mullo_epi64(h, multiplier);
		_mm512_mask_storeu_epi64(values + i, lanes, _mm512_xor_si512(h, _mm512_srli_epi64(h, 28)));
	}
}

#endif							/* BF_HAVE_WIDE */

void
bf_hash_u64_many(uint64_t *values, size_t n)
{
	size_t		i;

#ifdef BF_HAVE_WIDE
	if (bf_have_wide())
	{
		hash_wide(values, n);
		return;
	}
#endif
	for (i = 0; i < n; i++)
		values[i] = bf_hash_u64(values[i]);
}
