/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * numeric.c
 *	  Conversions of decimal numbers that are keys; see numeric.h.
 *
 *-------------------------------------------------------------------------
 */
#include "keys/numeric.h"

/* The number of decimal digits in a digit of base 10000. */
#define DECIMALS	4

static const uint16_t powers[] = {1, 10, 100, 1000};

/* Divides and rounds down, whereas C's division rounds towards zero. */
static inline int64_t
floor_div(int64_t a, int64_t b)
{
	return a >= 0 ? a / b : -((-a + b - 1) / b);
}

void
bf_numeric_of_text(BfNumeric *number, bool negative, const char *text, size_t n, int32_t exponent,
				   uint16_t *room)
{
	const char *point = n > 0 ? memchr(text, '.', n) : NULL;
	const char *end = text + n;
	/* The power of ten that the text's last decimal digit stands for. */
	int64_t		lowest = exponent;
	int64_t		power;
	int64_t		decimals = (int64_t) n;

	if (point != NULL)
	{
		lowest -= end - point - 1;
		decimals--;
	}
	memset(number, 0, sizeof(*number));
	number->digits = room;
	if (decimals == 0)
		return;
	number->sign = negative ? BF_NUMERIC_NEGATIVE : BF_NUMERIC_POSITIVE;
	power = lowest + decimals - 1;
	number->weight = (int32_t) floor_div(power, DECIMALS);
	number->ndigits = (size_t) (number->weight - floor_div(lowest, DECIMALS) + 1);
	memset(room, 0, number->ndigits * sizeof(*room));
	for (; text < end; text++)
	{
		int64_t		place;

		if (*text == '.')
			continue;
		place = floor_div(power, DECIMALS);
		room[number->weight - place] =
			(uint16_t) (room[number->weight - place] +
						(*text - '0') * powers[power - place * DECIMALS]);
		power--;
	}
}

void
bf_numeric_of_int128(BfNumeric *number, __int128 value, int32_t scale, uint16_t *room)
{
	unsigned __int128 rest = value < 0 ? -(unsigned __int128) value : (unsigned __int128) value;
	/* The power of 10000 that the lowest digit to the base 10000 stands for. */
	int64_t		lowest = floor_div(-(int64_t) scale, DECIMALS);
	/* The power of ten for the decimal zeros that end the lowest digit to the base 10000. */
	unsigned	zeros = powers[-(int64_t) scale - lowest * DECIMALS];
	uint16_t   *next = room + BF_NUMERIC_INT128_ROOM;

	if (rest != 0)
	{
		*--next = (uint16_t) ((unsigned) (rest % (10000 / zeros)) * zeros);
		rest /= 10000 / zeros;
	}
	while (rest > UINT64_MAX)
	{
		*--next = (uint16_t) (rest % 10000);
		rest /= 10000;
	}
	for (; rest != 0; rest = (uint64_t) rest / 10000)
		*--next = (uint16_t) ((uint64_t) rest % 10000);

	number->sign = value < 0 ? BF_NUMERIC_NEGATIVE : BF_NUMERIC_POSITIVE;
	number->digits = next;
	number->ndigits = (size_t) (room + BF_NUMERIC_INT128_ROOM - next);
	number->weight = (int32_t) (lowest + (int64_t) number->ndigits - 1);
}

/* Returns 10^n; n is at most 38. */
static unsigned __int128
power_of_ten(int n)
{
	unsigned __int128 power = 1;

	while (n-- > 0)
		power *= 10;
	return power;
}

bool
bf_numeric_unscaled(const BfNumeric *number, int precision, int scale, __int128 *integer)
{
	unsigned __int128 limit = power_of_ten(precision);
	unsigned __int128 sum = 0;
	size_t		i;

	if (number->sign != BF_NUMERIC_POSITIVE && number->sign != BF_NUMERIC_NEGATIVE)
		return false;
	for (i = 0; i < number->ndigits; i++)
	{
		unsigned	digit = bf_numeric_digit(number, i);
		int64_t		exponent = 4 * ((int64_t) number->weight - (int64_t) i) + scale;

		if (digit == 0)
			continue;
		if (exponent < 0)
		{
			/*
			 * The number is an integer at this scale only if all decimal digits beyond the scale
			 * are zeros.
			 */
			unsigned	divisor = exponent > -4 ? powers[-exponent] : 10000;

			if (digit % divisor != 0)
				return false;
			sum += digit / divisor;
		}
		else
		{
			/* No overflow: neither this product nor the sum exceeds twice the limit. */
			if (exponent > precision || digit > limit / power_of_ten((int) exponent))
				return false;
			sum += digit * power_of_ten((int) exponent);
		}
		if (sum >= limit)
			return false;
	}
	*integer = number->sign == BF_NUMERIC_NEGATIVE ? -(__int128) sum : (__int128) sum;
	return true;
}
