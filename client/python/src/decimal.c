/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * decimal.c
 *	  decimal.Decimal as a text of digits.
 *
 * The limited API has no functions for Decimals, but str() of a Decimal is exact: "-12.50",
 * "1E+400", "0E-6", "NaN", "sNaN12", "-Infinity".  An exponent may have eighteen digits, so a
 * number is written out without exponent only if it is within the range of numeric.
 *
 *-------------------------------------------------------------------------
 */
#include "object.h"

/*
 * The maximum number of digits of a numeric without precision, before and after the decimal point.
 */
#define MAX_BEFORE		131072
#define MAX_AFTER		16383

/*
 * An exponent is not computed further beyond this limit, as no number with such an exponent fits a
 * numeric.
 */
#define MAX_EXPONENT	1000000000

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Reads an exponent, which begins with an E; no text means exponent 0.  Returns false if there is
 * any other text.
 */
static bool
read_exponent(const char *text, const char *end, int64_t *exponent)
{
	bool		negative = false;

	*exponent = 0;
	if (text == end)
		return true;
	if (*text != 'E' && *text != 'e')
		return false;
	text++;
	if (text < end && (*text == '+' || *text == '-'))
		negative = *text++ == '-';
	if (text == end)
		return false;
	for (; text < end; text++)
	{
		if (!is_digit(*text))
			return false;
		if (*exponent < MAX_EXPONENT)
			*exponent = *exponent * 10 + (*text - '0');
	}
	if (negative)
		*exponent = -*exponent;
	return true;
}

/*
 * Returns the i-th digit of a number whose digits have a decimal point at point, which is not
 * counted.
 */
static char
digit_at(const char *digits, const char *point, size_t i)
{
	return digits + i < point ? digits[i] : digits[i + 1];
}

DecimalKind
decimal_plain(const char *text, size_t len, PyObject **plain)
{
	const char *end = text + len;
	const char *digits = text;
	const char *point = NULL;
	bool		negative = false;
	size_t		ndigits = 0;
	size_t		first = 0;
	int64_t		exponent;
	/* Number of digits before the decimal point, without leading zeros. */
	int64_t		before;
	int64_t		after;
	size_t		i;
	char	   *out;

	*plain = NULL;
	if (digits < end && (*digits == '-' || *digits == '+'))
		negative = *digits++ == '-';
	if (end - digits >= 3 && memcmp(digits, "NaN", 3) == 0)
		return DECIMAL_NAN;
	if (end - digits >= 4 && memcmp(digits, "sNaN", 4) == 0)
		return DECIMAL_NONE;
	if (end - digits == 8 && memcmp(digits, "Infinity", 8) == 0)
		return negative ? DECIMAL_MINUS_INFINITY : DECIMAL_INFINITY;

	for (text = digits; text < end && (is_digit(*text) || (*text == '.' && point == NULL)); text++)
	{
		if (*text == '.')
			point = text;
		else
			ndigits++;
	}
	if (ndigits == 0 || !read_exponent(text, end, &exponent))
		return DECIMAL_NONE;
	if (point == NULL)
		point = text;

	before = (int64_t) (point - digits) + exponent;
	while (first < ndigits && digit_at(digits, point, first) == '0')
	{
		first++;
		before--;
	}
	while (ndigits > first && digit_at(digits, point, ndigits - 1) == '0')
		ndigits--;
	if (first == ndigits)
	{
		*plain = PyBytes_FromString("0");
		return DECIMAL_NUMBER;
	}
	after = (int64_t) (ndigits - first) - before;
	if (before > MAX_BEFORE || after > MAX_AFTER)
		return DECIMAL_BEYOND;

	len = (size_t) negative + (size_t) (before > 0 ? before : 1) +
		(size_t) (after > 0 ? after + 1 : 0);
	*plain = PyBytes_FromStringAndSize(NULL, (Py_ssize_t) len);
	if (*plain == NULL)
		return DECIMAL_NUMBER;
	out = PyBytes_AsString(*plain);
	if (negative)
		*out++ = '-';
	if (before <= 0)
		*out++ = '0';
	i = first;
	for (; before > 0; before--)
	{
		*out++ = i < ndigits ? digit_at(digits, point, i) : '0';
		i++;
	}
	if (after > 0)
	{
		*out++ = '.';
		for (; before < 0; before++)
			*out++ = '0';
		while (i < ndigits)
			*out++ = digit_at(digits, point, i++);
	}
	return DECIMAL_NUMBER;
}

bool
decimal_whole(const char *plain, size_t len, int64_t *number, bool *beyond)
{
	const char *end = plain + len;
	bool		negative = plain < end && *plain == '-';
	uint64_t	limit = (uint64_t) INT64_MAX + (negative ? 1 : 0);
	uint64_t	magnitude = 0;

	*beyond = false;
	if (memchr(plain, '.', len) != NULL)
		return false;
	for (plain += negative; plain < end; plain++)
	{
		uint64_t	digit = (uint64_t) (*plain - '0');

		if (magnitude > (limit - digit) / 10)
		{
			*beyond = true;
			return true;
		}
		magnitude = magnitude * 10 + digit;
	}
	*number = negative ? -(int64_t) (magnitude - 1) - 1 : (int64_t) magnitude;
	return true;
}
