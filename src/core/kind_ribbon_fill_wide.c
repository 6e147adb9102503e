/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_ribbon_fill_wide.c
 *	  Gaussian elimination of a ribbon layer's equations with AVX-512, sixteen keys at a time.
 *
 * kind_ribbon_fill.c takes one row after the other through the slots.  This file takes sixteen rows
 * that start in the same block through the slots together: at each slot, the row that stands in the
 * slot is subtracted from all rows that have a coefficient there; if the slot is free, the first of
 * these rows is put there and subtracted from the others.  The result is the same.
 *
 *-------------------------------------------------------------------------
 */
#include "kind_ribbon_fill_wide.h"

#include "bf_static_wide.h"

#ifdef BF_HAVE_WIDE

/*
 * The rows of eight keys that start in one block: coefficients over that block (low) and the next
 * one (high), digits as in Planes, and the sums that the rows must have.  No row reaches the last
 * slot of the next block.  In the ternary column that slot's bits hold the sum, as one more
 * coefficient, so that it is subtracted along with the coefficients.
 */
typedef struct WideRows
{
	__m512i		low_some;
	__m512i		low_two;
	__m512i		high_some;
	__m512i		high_two;
	__m512i		value;			/* The sums for the columns of one bit. */
} WideRows;

/*
 * The bits that are coefficients in a row's word for the high block; the remaining bit, VALUE_BIT,
 * is the row's value.
 */
#define COEFFICIENTS	((long long) (UINT64_MAX >> 1))
#define VALUE_BIT		63

/*
 * Returns the rows of the next keys that start in the given block, up to eight; lanes without a key
 * are zero.
 */
BF_WIDE_INLINE WideRows
wide_next_rows(Adding *adding, const Band *band, uint32_t block, bool ternary)
{
	const BfShardBuild *build = adding->build;
	const Layer *layer = adding->layer;
	const uint32_t i = adding->next;
	__mmask8	lanes = i < adding->last ? bf_wide_lanes(i, adding->last) : 0;
	unsigned	width = build->head->param[BF_STATIC_WIDTH];
	__m512i		hash;
	__m512i		start;
	__m512i		shift;
	__m512i		mix;
	__m512i		row;
	__m512i		fingerprint;
	WideRows	rows;

	if (band->number == 0)
	{
		hash = _mm512_maskz_loadu_epi64(lanes, build->hashes + i);
		start = _mm512_mullo_epi64(
			hash, _mm512_set1_epi64((long long) (BF_ORDER_MULTIPLIER * build->shards)));
		start = bf_wide_cell(start, _mm512_set1_epi64((long long) layer->starts));
		start = _mm512_mask_add_epi64(
			start, _mm512_cmpge_epu64_mask(start, _mm512_set1_epi64((long long) layer->gap_at)),
			start, _mm512_set1_epi64((long long) layer->gap));
	}
	else
	{
		hash = _mm512_mask_i32gather_epi64(_mm512_setzero_si512(), lanes,
										   _mm256_maskz_loadu_epi32(lanes, band->key + i),
										   build->hashes, sizeof(uint64_t));
		start = _mm512_cvtepu32_epi64(_mm256_maskz_loadu_epi32(lanes, band->start + i));
	}
	lanes =
		_mm512_mask_cmpeq_epi64_mask(lanes, _mm512_srli_epi64(start, 6), _mm512_set1_epi64(block));
	adding->next += (uint32_t) __builtin_popcount(lanes);
	shift = _mm512_and_si512(start, _mm512_set1_epi64(BLOCK_SLOTS - 1));
	mix = bf_wide_mix(hash);
	row = _mm512_or_si512(mix, _mm512_set1_epi64(1));
	fingerprint = _mm512_maskz_mullo_epi64(lanes, mix, _mm512_set1_epi64((long long) FINGERPRINT));
	rows.low_some = _mm512_maskz_sllv_epi64(lanes, row, shift);
	rows.high_some = _mm512_maskz_srlv_epi64(
		lanes, row, _mm512_sub_epi64(_mm512_set1_epi64(BLOCK_SLOTS), shift));
	rows.low_two = rows.high_two = rows.value = _mm512_setzero_si512();
	if (ternary)
	{
		__m512i digit = bf_wide_cell(_mm512_sll_epi64(fingerprint, _mm_cvtsi32_si128((int) width)),
									 _mm512_set1_epi64(3));

		rows.high_two = _mm512_slli_epi64(_mm512_srli_epi64(digit, 1), VALUE_BIT);
		rows.high_some = _mm512_or_si512(
			rows.high_some, _mm512_or_si512(rows.high_two, _mm512_slli_epi64(digit, VALUE_BIT)));
	}
	else
		rows.value = _mm512_srl_epi64(fingerprint, _mm_cvtsi32_si128((int) (64 - width)));
	return rows;
}

/* Returns the row that stands in a slot of the band, copied to all lanes. */
BF_WIDE_INLINE WideRows
wide_row(const Band *band, uint32_t at, bool ternary)
{
	unsigned	bit = at % BLOCK_SLOTS;
	uint64_t	some = ternary ? band->ternary_row[at].some : band->row[at];
	uint64_t	high_some = some >> 1 >> (BLOCK_SLOTS - 1 - bit);
	WideRows	row;

	row.low_some = _mm512_set1_epi64((long long) (some << bit));
	row.low_two = row.high_two = row.value = _mm512_setzero_si512();
	if (ternary)
	{
		uint64_t	two = band->ternary_row[at].two;
		uint64_t	value = band->ternary_value[at];

		high_some |= (value + 1) >> 1 << VALUE_BIT;
		row.low_two = _mm512_set1_epi64((long long) (two << bit));
		row.high_two = _mm512_set1_epi64(
			(long long) (two >> 1 >> (BLOCK_SLOTS - 1 - bit) | value >> 1 << VALUE_BIT));
	}
	else
		row.value = _mm512_set1_epi64(band->value[at]);
	row.high_some = _mm512_set1_epi64((long long) high_some);
	return row;
}

/* Copies the first of the given lanes to all lanes. */
BF_WIDE_INLINE __m512i
wide_first(__m512i x, __mmask8 lanes)
{
	return _mm512_broadcastq_epi64(_mm512_castsi512_si128(_mm512_maskz_compress_epi64(lanes, x)));
}

/*
 * Copies the first row of the given lanes to all lanes; in the ternary column, doubled if its
 * coefficient in the current slot is 2.
 */
BF_WIDE_INLINE WideRows
wide_first_row(const WideRows *rows, __mmask8 lanes, __m512i here, bool ternary)
{
	WideRows	row;

	row.low_some = wide_first(rows->low_some, lanes);
	row.high_some = wide_first(rows->high_some, lanes);
	row.low_two = row.high_two = row.value = _mm512_setzero_si512();
	if (ternary)
	{
		row.low_two = wide_first(rows->low_two, lanes);
		row.high_two = wide_first(rows->high_two, lanes);
		lanes = _mm512_test_epi64_mask(row.low_two, here);
		row.low_two = _mm512_mask_xor_epi64(row.low_two, lanes, row.low_two, row.low_some);
		row.high_two = _mm512_mask_xor_epi64(row.high_two, lanes, row.high_two, row.high_some);
	}
	else
		row.value = wide_first(rows->value, lanes);
	return row;
}

BF_WIDE_INLINE uint64_t
wide_word(__m512i x)
{
	return (uint64_t) _mm_cvtsi128_si64(_mm512_castsi512_si128(x));
}

/* Puts a row that is the same in all lanes into a free slot. */
BF_WIDE_INLINE void
wide_put(Band *band, uint32_t at, const WideRows *rows, bool ternary)
{
	unsigned	bit = at % BLOCK_SLOTS;
	uint64_t	high = wide_word(rows->high_some);
	uint64_t	some = wide_word(rows->low_some) >> bit | high << 1 << (BLOCK_SLOTS - 1 - bit);

	if (ternary)
	{
		uint64_t	high_two = wide_word(rows->high_two);
		uint64_t two = wide_word(rows->low_two) >> bit | high_two << 1 << (BLOCK_SLOTS - 1 - bit);

		band->ternary_row[at] = (Planes) {.some = some, .two = two};
		band->ternary_value[at] = (uint8_t) ((high >> VALUE_BIT) + (high_two >> VALUE_BIT));
	}
	else
	{
		band->row[at] = some;
		band->value[at] = (uint32_t) wide_word(rows->value);
	}
}

/*
 * Computes planes_minus() of kind_ribbon_fill.c in the given lanes; in lanes where twice is set, b
 * is doubled.  The constants are the truth tables of the function's terms of three bits.
 */
BF_WIDE_INLINE void
wide_minus(__m512i *a_some, __m512i *a_two, __m512i b_some, __m512i b_two, __mmask8 lanes,
		   __mmask8 twice)
{
	__m512i t = _mm512_ternarylogic_epi64(*a_some, *a_two,
										  _mm512_mask_xor_epi64(b_two, twice, b_two, b_some), 0x96);

	*a_some = _mm512_mask_ternarylogic_epi64(*a_some, lanes, b_some, t, 0x7c);
	*a_two = _mm512_mask_ternarylogic_epi64(*a_two, lanes, b_some, t, 0x34);
}

/* Subtracts b from the rows in the given lanes; in lanes where twice is set, b is doubled. */
BF_WIDE_INLINE void
wide_subtract(WideRows *a, const WideRows *b, __mmask8 lanes, __mmask8 twice, bool ternary)
{
	if (ternary)
	{
		wide_minus(&a->low_some, &a->low_two, b->low_some, b->low_two, lanes, twice);
		wide_minus(&a->high_some, &a->high_two, b->high_some, b->high_two, lanes, twice);
	}
	else
	{
		a->low_some = _mm512_mask_xor_epi64(a->low_some, lanes, a->low_some, b->low_some);
		a->high_some = _mm512_mask_xor_epi64(a->high_some, lanes, a->high_some, b->high_some);
		a->value = _mm512_mask_xor_epi64(a->value, lanes, a->value, b->value);
	}
}

/* Moves rows on to the next block, when all slots of the low block are done. */
BF_WIDE_INLINE void
wide_next_block(WideRows *a)
{
	const __m512i coefficients = _mm512_set1_epi64(COEFFICIENTS);

	a->low_some = _mm512_and_si512(coefficients, a->high_some);
	a->low_two = _mm512_and_si512(coefficients, a->high_two);
	a->high_some = _mm512_andnot_si512(coefficients, a->high_some);
	a->high_two = _mm512_andnot_si512(coefficients, a->high_two);
}

/* Returns whether any row of a or b has a coefficient left. */
BF_WIDE_INLINE bool
wide_left(const WideRows *a, const WideRows *b)
{
	__m512i		low = _mm512_or_si512(a->low_some, b->low_some);
	__m512i		high = _mm512_or_si512(a->high_some, b->high_some);
	__m512i		all = _mm512_ternarylogic_epi64(low, high, _mm512_set1_epi64(COEFFICIENTS), 0xf8);

	return _mm512_test_epi64_mask(all, all) != 0;
}

/*
 * Implements AddRows for the columns of one bit or, if ternary is true, for the ternary column.
 * ternary is a constant in each call.
 */
BF_WIDE_INLINE bool
wide_add(Adding *adding, Band *band, bool ternary)
{
	while (adding->next < adding->last)
	{
		uint32_t	start = start_of(adding->build, adding->layer, band, adding->next);
		uint32_t	at = start - (ternary ? adding->first_slot : 0);
		WideRows	a = wide_next_rows(adding, band, start / BLOCK_SLOTS, ternary);
		WideRows	b = wide_next_rows(adding, band, start / BLOCK_SLOTS, ternary);
		__m512i		left;

		if (ternary && start < adding->first_slot)
			continue;
		for (;;)
		{
			__m512i		here = _mm512_set1_epi64((long long) (UINT64_C(1) << at % BLOCK_SLOTS));
			__mmask8	a_lanes = _mm512_test_epi64_mask(a.low_some, here);
			__mmask8	b_lanes = _mm512_test_epi64_mask(b.low_some, here);
			__mmask8	a_twice = ternary ? _mm512_test_epi64_mask(a.low_two, here) : 0;
			__mmask8	b_twice = ternary ? _mm512_test_epi64_mask(b.low_two, here) : 0;
			WideRows	row;

			if (ternary ? band->ternary_row[at].some != 0 : band->row[at] != 0)
			{
				row = wide_row(band, at, ternary);
				wide_subtract(&a, &row, a_lanes, a_twice, ternary);
				wide_subtract(&b, &row, b_lanes, b_twice, ternary);
			}
			else if (_kortestz_mask8_u8(a_lanes, b_lanes) == 0)
			{
				row = a_lanes != 0 ? wide_first_row(&a, a_lanes, here, ternary)
								   : wide_first_row(&b, b_lanes, here, ternary);
				wide_put(band, at, &row, ternary);
				adding->added[adding->nadded++] = at;
				wide_subtract(&a, &row, a_lanes, a_twice, ternary);
				wide_subtract(&b, &row, b_lanes, b_twice, ternary);
				if (!wide_left(&a, &b))
					break;
			}
			if (++at % BLOCK_SLOTS == 0)
			{
				wide_next_block(&a);
				wide_next_block(&b);
				if (!wide_left(&a, &b))
					break;
			}
		}
		left =
			ternary ? _mm512_or_si512(a.high_some, b.high_some) : _mm512_or_si512(a.value, b.value);
		if (_mm512_test_epi64_mask(left, left) != 0)
			return false;
	}
	return true;
}

BF_WIDE_INLINE bool
wide_add_rows(Adding *adding, Band *band)
{
	return wide_add(adding, band, false);
}

BF_WIDE_INLINE bool
wide_add_ternary_rows(Adding *adding, Band *band)
{
	return wide_add(adding, band, true);
}

BF_WIDE uint32_t
bf_ribbon_fill_wide(const BfPort *port, const BfShardBuild *build, const Layer *layer, Band *band,
					uint32_t n, uint8_t *thresholds)
{
	return fill_with(port, build, layer, band, n, thresholds, wide_add_rows, wide_add_ternary_rows);
}

#endif							/* BF_HAVE_WIDE */
