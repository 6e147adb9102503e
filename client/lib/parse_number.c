/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * parse_number.c
 *	  Keys from text: integers, floats, decimals; see parse.h.
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE				/* Needed for strtod_l(). */

#include "client/lib/parse.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

static const char no_number[] = "it is not a number";
static const char out_of_range[] = "it is out of range";

/* ---- integers ---- */

BloomfamAnswer
bf_parse_int(const char *text, size_t len, BfKey *key, const char **reason)
{
	const char *p = text;
	const char *end = text + len;
	bool		negative = false;
	bool		overflow = false;
	uint64_t	sum = 0;

	if (p < end && (*p == '-' || *p == '+'))
		negative = *p++ == '-';
	if (p == end)
		return bf_bad("it is not an integer", reason);
	/* The first 18 digits cannot overflow, so they are added up without checks. */
	for (; p < end && end - p <= 18; p++)
	{
		if (!bf_is_digit(*p))
			return bf_bad("it is not an integer", reason);
		sum = sum * 10 + (uint64_t) (*p - '0');
	}
	for (; p < end; p++)
	{
		if (!bf_is_digit(*p))
			return bf_bad("it is not an integer", reason);
		overflow |= __builtin_mul_overflow(sum, UINT64_C(10), &sum);
		overflow |= __builtin_add_overflow(sum, (uint64_t) (*p - '0'), &sum);
	}
	if (overflow || sum > (uint64_t) INT64_MAX + negative)
	{
		*reason = "it is out of the range of bigint";
		return BLOOMFAM_IMPOSSIBLE;
	}
	key->u.integer = (int64_t) (negative ? -sum : sum);
	return BLOOMFAM_ABSENT;
}

BloomfamAnswer
bf_parse_oid(const char *text, size_t len, BfKey *key, const char **reason)
{
	BloomfamAnswer answer = bf_parse_int(text, len, key, reason);

	/*
	 * The server reads a negative OID as another number, so negative numbers are refused, "-0" as
	 * well.
	 */
	if (answer != BLOOMFAM_ABSENT || key->u.integer < 0 || key->u.integer > UINT32_MAX ||
		text[0] == '-')
		return bf_bad("it is not an integer from 0 to 4294967295", reason);
	return BLOOMFAM_ABSENT;
}

/* ---- decimal numbers ---- */

/* The forms of a written number. */
typedef enum NumberForm
{
	NUMBER_DIGITS,
	NUMBER_NAN,
	NUMBER_INFINITY
} NumberForm;

typedef struct Number
{
	NumberForm	form;
	bool		negative;
	BfString	text;			/* Digits, perhaps with a decimal point; at least one digit. */
	int64_t		exponent;
} Number;

/*
 * An exponent that is larger in amount may be read as any number beyond this limit: it is out of
 * the range of every type in any case.
 */
#define MAX_EXPONENT	1000000000

static BloomfamAnswer
read_number(const char *text, size_t len, Number *number, const char **reason)
{
	BfText		rest = {text, text + len};
	int			ndigits = 0;
	bool		point = false;

	memset(number, 0, sizeof(*number));
	if (bf_is_word(text, len, "nan"))
	{
		number->form = NUMBER_NAN;
		return BLOOMFAM_ABSENT;
	}
	number->negative = bf_take(&rest, '-');
	if (!number->negative)
		(void) bf_take(&rest, '+');
	if (bf_is_word(rest.at, (size_t) (rest.end - rest.at), "infinity") ||
		bf_is_word(rest.at, (size_t) (rest.end - rest.at), "inf"))
	{
		number->form = NUMBER_INFINITY;
		return BLOOMFAM_ABSENT;
	}

	number->text.bytes = rest.at;
	for (; rest.at < rest.end; rest.at++)
	{
		if (bf_is_digit(*rest.at))
			ndigits = 1;
		else if (*rest.at == '.' && !point)
			point = true;
		else
			break;
	}
	number->text.len = (size_t) (rest.at - number->text.bytes);
	if (ndigits == 0)
		return bf_bad(no_number, reason);
	if (bf_take(&rest, 'e') || bf_take(&rest, 'E'))
	{
		bool		down = bf_take(&rest, '-');

		if (!down)
			(void) bf_take(&rest, '+');
		if (!bf_at_digit(&rest))
			return bf_bad(no_number, reason);
		for (; bf_at_digit(&rest); rest.at++)
			if (number->exponent < MAX_EXPONENT)
				number->exponent = number->exponent * 10 + (*rest.at - '0');
		if (down)
			number->exponent = -number->exponent;
	}
	return rest.at == rest.end ? BLOOMFAM_ABSENT : bf_bad(no_number, reason);
}

/* ---- numeric ---- */

/*
 * The server's limits on the digits of a numeric before and after the decimal point.  The digits
 * after the point that are written in the text count even if they are zero.
 */
#define MAX_BEFORE		131072
#define MAX_BEHIND		16383

BloomfamAnswer
bf_parse_numeric(const char *text, size_t len, BfKey *key, const char **reason)
{
	BfDecimal  *decimal = &key->u.decimal;
	BloomfamAnswer answer;
	Number		number;
	const char *point;
	BfString   *digits = &number.text;
	int64_t		before;
	int64_t		behind;

	answer = read_number(text, len, &number, reason);
	if (answer != BLOOMFAM_ABSENT)
		return answer;
	memset(decimal, 0, sizeof(*decimal));
	if (number.form == NUMBER_NAN)
		decimal->form = BF_DECIMAL_NAN;
	else if (number.form == NUMBER_INFINITY)
		decimal->form = number.negative ? BF_DECIMAL_MINUS_INFINITY : BF_DECIMAL_INFINITY;
	if (number.form != NUMBER_DIGITS)
		return BLOOMFAM_ABSENT;

	/* Leading zeros are removed, as they do not count as digits of a numeric. */
	while (digits->len > 1 && digits->bytes[0] == '0' && digits->bytes[1] != '.')
	{
		digits->bytes++;
		digits->len--;
	}
	point = memchr(digits->bytes, '.', digits->len);
	before = point != NULL ? point - digits->bytes : (int64_t) digits->len;
	behind = point != NULL ? (int64_t) digits->len - before - 1 : 0;
	if (number.exponent < -2 * MAX_BEFORE || number.exponent > 2 * MAX_BEFORE ||
		behind - number.exponent > MAX_BEHIND || before + number.exponent > MAX_BEFORE)
		return bf_bad("it has more digits than a numeric", reason);
	decimal->form = BF_DECIMAL_DIGITS;
	decimal->negative = number.negative;
	decimal->text = number.text;
	decimal->exponent = (int32_t) number.exponent;
	return BLOOMFAM_ABSENT;
}

/* ---- floats ---- */

/*
 * The powers of ten that a double represents exactly; a float represents the first FLOAT_TENS + 1
 * of them exactly.
 */
static const double tens[] = {1e0,	1e1,  1e2,	1e3,  1e4,	1e5,  1e6,	1e7,
							  1e8,	1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
							  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

#define DOUBLE_TENS		22
#define FLOAT_TENS		10

/* A double and a float represent all integers up to these limits exactly. */
#define DOUBLE_EXACT	(UINT64_C(1) << 53)
#define FLOAT_EXACT		(UINT64_C(1) << 24)

/*
 * Number of digits that decide how a number is rounded.  Further digits only decide whether the
 * number is above the one that these digits say: no binary64 number, and no point halfway between
 * two of them, has more than 767 digits.
 */
#define ENOUGH_DIGITS	800

/* The significant digits of a number, as an integer times 10^exponent. */
typedef struct Digits
{
	uint64_t	integer;		/* The number's digits as an integer, valid if is_small. */
	bool		is_small;		/* True if the integer is at most DOUBLE_EXACT. */
	int64_t		exponent;
	size_t		n;
	char		digits[ENOUGH_DIGITS + 1];	/* The digits without leading zeros; empty for zero. */
} Digits;

static void
collect_digits(const Number *number, Digits *result)
{
	const char *p = number->text.bytes;
	const char *end = p + number->text.len;
	bool		behind = false;
	bool		more = false;
	uint64_t	sum = 0;

	result->exponent = number->exponent;
	result->n = 0;
	result->is_small = true;
	for (; p < end; p++)
	{
		if (*p == '.')
		{
			behind = true;
			continue;
		}
		if (result->n < ENOUGH_DIGITS)
		{
			if (result->n > 0 || *p != '0')
				result->digits[result->n++] = *p;
			if (result->n <= 16)
				sum = sum * 10 + (uint64_t) (*p - '0');
			result->exponent -= behind;
		}
		else
		{
			more |= *p != '0';
			result->exponent += !behind;
		}
	}
	result->is_small = result->n <= 16 && sum <= DOUBLE_EXACT;
	result->integer = sum;
	if (more)
	{
		result->digits[result->n++] = '1';
		result->exponent--;
	}
}

/*
 * Converts digits with strtod() or strtof() in the C locale, as the server does.  An exponent
 * beyond 100000 in either direction is cut, which leaves the number out of range.  Returns false if
 * there is no C locale.
 */
static bool
by_library(const Digits *digits, bool is_float, double *value)
{
	char		text[ENOUGH_DIGITS + 32];
	int64_t		exponent = digits->exponent;
	locale_t	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t) 0);

	if (c_locale == (locale_t) 0)
		return false;
	if (exponent > 100000)
		exponent = 100000;
	if (exponent < -100000)
		exponent = -100000;
	memcpy(text, digits->digits, digits->n);
	snprintf(text + digits->n, sizeof(text) - digits->n, "e%d", (int) exponent);
	*value = is_float ? (double) strtof_l(text, NULL, c_locale) : strtod_l(text, NULL, c_locale);
	freelocale(c_locale);
	return true;
}

/*
 * Converts a number to double or real.  Returns false if the server would report it as out of
 * range.
 */
static bool
to_binary(const Number *number, const Digits *digits, bool is_float, double *value)
{
	int			most = is_float ? FLOAT_TENS : DOUBLE_TENS;

	if (number->form == NUMBER_NAN)
		*value = (double) NAN;
	else if (number->form == NUMBER_INFINITY)
		*value = (double) INFINITY;
	else if (digits->n == 0)
		*value = 0;
	else if (digits->is_small && digits->integer <= (is_float ? FLOAT_EXACT : DOUBLE_EXACT) &&
			 digits->exponent >= -most && digits->exponent <= most)
	{
		/*
		 * The integer and the power of ten are exact, so one multiplication or division of them
		 * rounds correctly (Clinger 1990).
		 */
		double		integer = (double) digits->integer;

		if (is_float && digits->exponent < 0)
			*value = (double) ((float) integer / (float) tens[-digits->exponent]);
		else if (is_float)
			*value = (double) ((float) integer * (float) tens[digits->exponent]);
		else if (digits->exponent < 0)
			*value = integer / tens[-digits->exponent];
		else
			*value = integer * tens[digits->exponent];
	}
	else if (!by_library(digits, is_float, value) || isinf(*value) || *value == 0)
		return false;
	if (number->negative)
		*value = -*value;
	return true;
}

static BloomfamAnswer
read_float(const char *text, size_t len, Number *number, Digits *digits, const char **reason)
{
	BloomfamAnswer answer = read_number(text, len, number, reason);

	if (answer == BLOOMFAM_ABSENT && number->form == NUMBER_DIGITS)
		collect_digits(number, digits);
	return answer;
}

BloomfamAnswer
bf_parse_real(const char *text, size_t len, BfKey *key, const char **reason)
{
	Number		number;
	Digits		digits;
	BloomfamAnswer answer = read_float(text, len, &number, &digits, reason);

	if (answer == BLOOMFAM_ABSENT && !to_binary(&number, &digits, true, &key->u.number))
		return bf_bad(out_of_range, reason);
	return answer;
}

BloomfamAnswer
bf_parse_double(const char *text, size_t len, BfKey *key, const char **reason)
{
	Number		number;
	Digits		digits;
	BloomfamAnswer answer = read_float(text, len, &number, &digits, reason);

	if (answer == BLOOMFAM_ABSENT && !to_binary(&number, &digits, false, &key->u.number))
		return bf_bad(out_of_range, reason);
	return answer;
}

/*
 * Reads a number as double precision.  Gives it a second reading (possible meaning) as real, if the
 * nearest real is another number and in range.
 */
BloomfamAnswer
bf_parse_float(const char *text, size_t len, BfKey *key, const char **reason)
{
	Number		number;
	Digits		digits;
	BloomfamAnswer answer = read_float(text, len, &number, &digits, reason);

	if (answer != BLOOMFAM_ABSENT)
		return answer;
	if (!to_binary(&number, &digits, false, &key->u.number))
		return bf_bad(out_of_range, reason);
	key->has_second = to_binary(&number, &digits, true, &key->second_number) &&
					  number.form != NUMBER_NAN && key->second_number != key->u.number;
	return BLOOMFAM_ABSENT;
}
