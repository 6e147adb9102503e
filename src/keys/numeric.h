/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * numeric.h
 *	  Decimal numbers as keys: a sign, and digits of base 10000.
 *
 * The server stores a numeric in this form, so its digits are hashed where they are.  Callers that
 * have a number as text, or as an integer with a scale, convert it to such digits, in memory of
 * their own.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_NUMERIC_H
#define BF_NUMERIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The sign of a number, or which special value it is; also the first of its canonical bytes. */
typedef enum BfNumericSign
{
	BF_NUMERIC_POSITIVE = 0,	/* A positive number, or zero. */
	BF_NUMERIC_NEGATIVE = 1,
	BF_NUMERIC_NAN = 2,			/* NaN; like the two infinities, it has no digits. */
	BF_NUMERIC_INFINITY = 3,
	BF_NUMERIC_MINUS_INFINITY = 4
} BfNumericSign;

/*
 * A decimal number.  There may be zeros before and after its other digits, as 1.0 and 1.00 are the
 * same key.
 */
typedef struct BfNumeric
{
	BfNumericSign sign;
	int32_t		weight;			/* The power of 10000 that the first digit stands for. */

	/* The number of digits to the base 10000; 0 for zero, NaN and the infinities. */
	size_t		ndigits;

	/*
	 * The digits, each below 10000, in 2 bytes of the machine's byte order, the highest digit
	 * first; at any address.
	 */
	const void *digits;
} BfNumeric;

/* The most digits of base 10000 that a number of n decimal digits has. */
#define BF_NUMERIC_ROOM(n)		((size_t) (n) / 4 + 2)

/* The most digits of base 10000 that an integer of 128 bits with a scale has. */
#define BF_NUMERIC_INT128_ROOM	BF_NUMERIC_ROOM(39)

static inline uint16_t
bf_numeric_digit(const BfNumeric *number, size_t i)
{
	uint16_t	digit;

	memcpy(&digit, (const char *) number->digits + i * sizeof(digit), sizeof(digit));
	return digit;
}

/*
 * Sets *number to the number that decimal digits stand for, times 10^exponent.
 *
 * text is n characters '0' to '9', and possibly one '.' among them; this is not checked. exponent
 * is from -10^9 to 10^9, and n is at most 10^9. room is the caller's memory for BF_NUMERIC_ROOM(n)
 * digits; *number points into it.  Cannot fail.  Takes time linear in n.
 */
extern void bf_numeric_of_text(BfNumeric *number, bool negative, const char *text, size_t n,
							   int32_t exponent, uint16_t *room);

/*
 * Sets *number to value times 10^-scale.
 *
 * scale is from -10^9 to 10^9. room is the caller's memory for BF_NUMERIC_INT128_ROOM digits;
 * *number points into it.  Cannot fail.
 */
extern void bf_numeric_of_int128(BfNumeric *number, __int128 value, int32_t scale,
								 uint16_t *room);

/*
 * Sets *integer to the number times 10^scale, if that is an integer of at most `precision` decimal
 * digits; returns false if it is not.
 *
 * precision is from 1 to 38, scale from 0 to precision.  Returns false for NaN and the infinities.
 */
extern bool bf_numeric_unscaled(const BfNumeric *number, int precision, int scale,
								__int128 *integer);

#endif							/* BF_NUMERIC_H */
