/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * numeric.h
 *	  Decimal numbers as keys: a sign, and digits of base 10000.
 *
 * That is how the server stores a numeric, so its digits are hashed where they are.  Whoever has a
 * number as text or as an integer with a scale makes such digits of it, in memory of its own.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_NUMERIC_H
#define BF_NUMERIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What a number is, and the first of its canonical bytes. */
typedef enum BfNumericSign
{
	BF_NUMERIC_POSITIVE = 0,	/* zero, too */
	BF_NUMERIC_NEGATIVE = 1,
	BF_NUMERIC_NAN = 2,			/* these three have no digits */
	BF_NUMERIC_INFINITY = 3,
	BF_NUMERIC_MINUS_INFINITY = 4
} BfNumericSign;

/*
 * A number.  There may be zeros before and behind its other digits, as 1.0 and 1.00 are one key.
 */
typedef struct BfNumeric
{
	BfNumericSign sign;
	int32_t		weight;			/* the power of 10000 of the first digit */
	size_t		ndigits;		/* 0: zero, or what has no digits */
	const void *digits;			/* each below 10000, in 2 bytes of the machine's order, the highest
								 * first; at any address */
} BfNumeric;

/* How many digits of base 10000 a number of n decimal digits has at most. */
#define BF_NUMERIC_ROOM(n)		((size_t) (n) / 4 + 2)

/* The same for the integers of 128 bits. */
#define BF_NUMERIC_INT128_ROOM	BF_NUMERIC_ROOM(39)

static inline uint16_t
bf_numeric_digit(const BfNumeric *number, size_t i)
{
	uint16_t	digit;

	memcpy(&digit, (const char *) number->digits + i * sizeof(digit), sizeof(digit));
	return digit;
}

/*
 * bf_numeric_of_text: the number that decimal digits stand for, times 10^exponent.
 *
 * text is n characters '0' to '9', perhaps with one '.' among them; this is not checked.  exponent
 * is from -10^9 to 10^9, and n is at most 10^9.  room has BF_NUMERIC_ROOM(n) places, is the
 * caller's, and is pointed into.  Cannot fail; time linear in n.
 */
extern void bf_numeric_of_text(BfNumeric *number, bool negative, const char *text, size_t n,
							   int32_t exponent, uint16_t *room);

/*
 * bf_numeric_of_int128: value times 10^-scale.
 *
 * As above; scale is from -10^9 to 10^9, and room has BF_NUMERIC_INT128_ROOM places.
 */
extern void bf_numeric_of_int128(BfNumeric *number, __int128 value, int32_t scale,
								 uint16_t *room);

/*
 * bf_numeric_unscaled: the number times 10^scale, if that is an integer of at most so many decimal
 * digits; false if not.
 *
 * precision is from 1 to 38, scale from 0 to precision.  NaN and infinities are no such numbers.
 */
extern bool bf_numeric_unscaled(const BfNumeric *number, int precision, int scale,
								__int128 *integer);

#endif							/* BF_NUMERIC_H */
