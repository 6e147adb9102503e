/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_ribbon_fill.c
 *	  Gaussian elimination of a layer's equations, one key after the other.
 *
 * A new row moves through the band: where a row stands already at its first coefficient, that row
 * is subtracted, which cancels this coefficient, and the new row goes on to its next coefficient.
 * It stays at the first slot that is free.  If no coefficient remains, the equation follows from
 * other equations, or contradicts them.
 *
 *-------------------------------------------------------------------------
 */
#include "kind_ribbon_fill.h"

#include "bf_cpu.h"
#include "kind_ribbon_fill_wide.h"

/* A row that moves through the band during Gaussian elimination. */
typedef struct Moving
{
	/* The row's coefficients, the one of slot `at` in the lowest bit. */
	uint64_t	row;
	uint32_t	at;
	uint32_t	value;			/* The sums that the row must have, a bit for each column. */
} Moving;

typedef struct TernaryMoving
{
	Planes		row;
	uint32_t	at;				/* The slot, counted from the first slot of the ternary part. */

	/* The sum of digits that the row must have modulo 3; the number itself is not reduced. */
	int32_t		value;
} TernaryMoving;

/*
 * Subtracts the band's row at the slot of a moving row from it, and moves it on to its next
 * coefficient; returns false if no coefficient remains.
 */
static inline bool
move_on(const Band *band, Moving *moving)
{
	unsigned	zeros;

	moving->row ^= band->row[moving->at];
	moving->value ^= band->value[moving->at];
	if (moving->row == 0)
		return false;
	zeros = (unsigned) __builtin_ctzll(moving->row);
	moving->row >>= zeros;
	moving->at += zeros;
	return true;
}

/*
 * Returns a - b, digit by digit modulo 3.  The two Boolean functions of three bits that compute the
 * result's bits were each found by a search.
 */
static inline Planes
planes_minus(Planes a, Planes b)
{
	uint64_t	t = a.some ^ a.two ^ b.two;

	return (Planes){.some = (a.some ^ b.some) | (a.some & ~t),
					.two = a.two ^ (b.some & (a.two | ~t))};
}

/*
 * Moves a row of the ternary column on, as move_on() does for the columns of one bit.  The first
 * coefficient of a row is always 1, so that subtracting a row once cancels it: where it comes out
 * as 2, the row is doubled, which exchanges ones and twos.
 */
static inline bool
ternary_move_on(const Band *band, TernaryMoving *moving)
{
	Planes		row = planes_minus(moving->row, band->ternary_row[moving->at]);
	uint64_t	exchange;
	unsigned	zeros;

	moving->value -= band->ternary_value[moving->at];
	if (row.some == 0)
	{
		moving->row = row;
		return false;
	}
	zeros = (unsigned) __builtin_ctzll(row.some);
	row.some >>= zeros;
	row.two >>= zeros;
	exchange = -(row.two & 1);
	row.two ^= row.some & exchange;
	moving->row = row;
	moving->value = (moving->value ^ (int32_t) exchange) - (int32_t) exchange;
	moving->at += zeros;
	return true;
}

/* Sets *moving to the row of the next key; returns false if there is none. */
static inline __attribute__((always_inline)) bool
next_row(Adding *adding, const Band *band, Moving *moving)
{
	uint64_t	mix;

	if (adding->next == adding->last)
		return false;
	mix = bf_static_mix(adding->build->hashes[key_of(band, adding->next)]);
	moving->row = coefficients_of(mix);
	moving->at = start_of(adding->build, adding->layer, band, adding->next++);
	moving->value =
		fingerprint_bits(fingerprint_of(mix), adding->build->head->param[BF_STATIC_WIDTH]);
	return true;
}

static inline __attribute__((always_inline)) bool
next_ternary_row(Adding *adding, const Band *band, TernaryMoving *moving)
{
	while (adding->next < adding->last)
	{
		uint64_t	mix = bf_static_mix(adding->build->hashes[key_of(band, adding->next)]);
		uint32_t	start = start_of(adding->build, adding->layer, band, adding->next++);

		if (start < adding->first_slot)
			continue;
		moving->row = (Planes) {.some = coefficients_of(mix), .two = 0};
		moving->at = start - adding->first_slot;
		moving->value = (int32_t) fingerprint_trit(fingerprint_of(mix),
												   adding->build->head->param[BF_STATIC_WIDTH]);
		return true;
	}
	return false;
}

/*
 * Ends the movement of a row: stores it in the slot where it is, and returns true; or, if no
 * coefficient remains, returns whether the equation agrees with the other ones.
 */
static inline bool
settle(Adding *adding, Band *band, const Moving *moving)
{
	if (moving->row == 0)
		return moving->value == 0;
	band->row[moving->at] = moving->row;
	band->value[moving->at] = moving->value;
	adding->added[adding->nadded++] = moving->at;
	return true;
}

static inline bool
settle_ternary(Adding *adding, Band *band, const TernaryMoving *moving)
{
	if (moving->row.some == 0)
		return moving->value % 3 == 0;
	band->ternary_row[moving->at] = moving->row;
	band->ternary_value[moving->at] = (uint8_t) ((moving->value % 3 + 3) % 3);
	adding->added[adding->nadded++] = moving->at;
	return true;
}

/*
 * Defines a function that adds the rows of all keys, and returns false if one contradicts others.
 * Two rows move alternately, because each has to wait for what it reads.  It makes no difference
 * which of them reaches a free slot first: the slots that are taken in the end, the solution, and
 * whether there is a contradiction follow from the equations alone.
 */
#define ADD_ROWS(name, Row, next, is_free, move, settle) \
	static inline __attribute__((always_inline)) bool \
	name(Adding *adding, Band *band) \
	{ \
		Row			a; \
		Row			b; \
		\
		if (!next(adding, band, &a)) \
			return true; \
		while (next(adding, band, &b)) \
			for (;;) \
			{ \
				if (is_free(a) || !move(band, &a)) \
				{ \
					if (!settle(adding, band, &a)) \
						return false; \
					a = b; \
					break; \
				} \
				if (is_free(b) || !move(band, &b)) \
				{ \
					if (!settle(adding, band, &b)) \
						return false; \
					break; \
				} \
			} \
		while (!is_free(a) && move(band, &a)) \
			; \
		return settle(adding, band, &a); \
	}

#define FREE(moving)			(band->row[(moving).at] == 0)
#define TERNARY_FREE(moving)	(band->ternary_row[(moving).at].some == 0)

ADD_ROWS(add_rows, Moving, next_row, FREE, move_on, settle)
ADD_ROWS(add_ternary_rows, TernaryMoving, next_ternary_row, TERNARY_FREE, ternary_move_on,
		 settle_ternary)

static uint32_t
fill_scalar(const BfPort *port, const BfShardBuild *build, const Layer *layer, Band *band,
			uint32_t n, uint8_t *thresholds)
{
	return fill_with(port, build, layer, band, n, thresholds, add_rows, add_ternary_rows);
}

#ifdef BF_HAVE_AVX2

__attribute__((target("bmi,bmi2"))) static uint32_t
fill_bmi(const BfPort *port, const BfShardBuild *build, const Layer *layer, Band *band, uint32_t n,
		 uint8_t *thresholds)
{
	return fill_with(port, build, layer, band, n, thresholds, add_rows, add_ternary_rows);
}

#endif							/* BF_HAVE_AVX2 */

uint32_t
bf_ribbon_fill(const BfPort *port, const BfShardBuild *build, const Layer *layer, Band *band,
			   uint32_t n, uint8_t *thresholds)
{
#ifdef BF_HAVE_WIDE
	if (bf_have_wide())
		return bf_ribbon_fill_wide(port, build, layer, band, n, thresholds);
#endif
#ifdef BF_HAVE_AVX2
	if (bf_have_avx2())
		return fill_bmi(port, build, layer, band, n, thresholds);
#endif
	return fill_scalar(port, build, layer, band, n, thresholds);
}
