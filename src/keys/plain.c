/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * plain.c
 *	  Keys in Parquet's form: names of column types, and hashes of decimals; see plain.h.
 *
 *-------------------------------------------------------------------------
 */
#include "keys/plain.h"

static const char *const type_names[] = {"int32", "int64", "float",	 "double",
										 "date",  "time",  "timestamp", "timestamptz",
										 "uuid",  "text",  "bytea",	 "decimal"};

#define TYPES	(sizeof(type_names) / sizeof(type_names[0]))

bool
bf_plain_compatible(BfPlainType a, BfPlainType b)
{
	if (a == BF_PLAIN_INT32 || a == BF_PLAIN_INT64)
		return b == BF_PLAIN_INT32 || b == BF_PLAIN_INT64;
	if (a == BF_PLAIN_FLOAT || a == BF_PLAIN_DOUBLE)
		return b == BF_PLAIN_FLOAT || b == BF_PLAIN_DOUBLE;
	return a == b;
}

/*
 * Returns the least number of bytes that holds every decimal of the given number of digits, with
 * its sign.
 */
static int
decimal_bytes(int precision)
{
	unsigned __int128 most = 1;
	int			bytes = 1;

	while (precision-- > 0)
		most *= 10;
	while ((most - 1) >> (8 * bytes - 1) != 0)
		bytes++;
	return bytes;
}

bool
bf_plain_set_decimal(BfPlainColumn *column, int precision, int scale)
{
	if (precision < 1 || precision > BF_PLAIN_MAX_PRECISION || scale < 0 || scale > precision)
		return false;
	column->type = BF_PLAIN_DECIMAL;
	column->precision = precision;
	column->scale = scale;
	column->fixed = precision > 18;
	column->bytes = precision <= 9 ? 4 : precision <= 18 ? 8 : decimal_bytes(precision);
	return true;
}

/* ---- reading and writing names of column types ---- */

/* Skips white space as C's isspace() defines it. */
static const char *
skip_space(const char *text)
{
	return text + strspn(text, " \t\n\v\f\r");
}

/*
 * Skips white space, and then the given word or mark, and returns the text after it; NULL if
 * something else stands there, or if text is NULL.
 */
static const char *
past(const char *text, const char *mark)
{
	size_t		len = strlen(mark);

	if (text == NULL)
		return NULL;
	text = skip_space(text);
	return strncmp(text, mark, len) == 0 ? text + len : NULL;
}

/*
 * Reads a number of at most four digits, after white space, and returns the text after it; NULL if
 * there is no number, or if text is NULL.
 */
static const char *
read_number(const char *text, int *number)
{
	int			digits;

	if (text == NULL)
		return NULL;
	text = skip_space(text);
	*number = 0;
	for (digits = 0; digits < 4 && text[digits] >= '0' && text[digits] <= '9'; digits++)
		*number = *number * 10 + (text[digits] - '0');
	return digits > 0 ? text + digits : NULL;
}

/* Returns whether nothing but white space is left of the text; false if text is NULL. */
static inline bool
at_end(const char *text)
{
	return text != NULL && *skip_space(text) == '\0';
}

/*
 * Reads the text after "decimal" in the name of a column type: precision and scale, and how the
 * decimal is stored if that is not the usual form.
 */
static bool
parse_decimal(const char *text, BfPlainColumn *column)
{
	int			precision;
	int			scale;
	int			bytes;
	const char *rest;

	text = read_number(past(text, "("), &precision);
	text = past(read_number(past(text, ","), &scale), ")");
	if (text == NULL || !bf_plain_set_decimal(column, precision, scale))
		return false;
	if (at_end(text))
		return true;

	rest = past(read_number(past(past(text, "fixed"), "("), &bytes), ")");
	if (at_end(rest))
	{
		column->fixed = true;
		column->bytes = bytes;
		return bytes >= decimal_bytes(precision) && bytes <= 16;
	}
	column->fixed = false;
	column->bytes = 8;
	return at_end(past(text, "int64")) && precision <= 18;
}

bool
bf_plain_parse(const char *text, BfPlainColumn *column)
{
	size_t		i;

	memset(column, 0, sizeof(*column));
	text += strspn(text, " ");
	for (i = 0; i < TYPES; i++)
	{
		size_t		len = strlen(type_names[i]);
		const char *rest;

		if (strncmp(text, type_names[i], len) != 0)
			continue;
		rest = text + len;
		column->type = (BfPlainType) i;
		if (column->type == BF_PLAIN_DECIMAL)
			return parse_decimal(rest, column);
		if (bf_plain_is_time(column->type))
		{
			/*
			 * If no "(precision)" follows "time", try the next type: "time" is a prefix of
			 * "timestamp", which is a prefix of "timestamptz".
			 */
			if (at_end(past(read_number(past(rest, "("), &column->precision), ")")))
				return column->precision == 3 || column->precision == 6 || column->precision == 9;
		}
		else if (rest[strspn(rest, " ")] == '\0')
			return true;
	}
	return false;
}

bool
bf_plain_of_family(const char *name, size_t len, BfPlainColumn *column)
{
	char		copy[BF_PLAIN_MAX_NAME];
	char		again[BF_PLAIN_MAX_NAME];
	size_t		prefix = strlen(BF_PLAIN_PREFIX);

	if (len <= prefix || len >= sizeof(copy) || memcmp(name, BF_PLAIN_PREFIX, prefix) != 0)
		return false;
	memcpy(copy, name, len);
	copy[len] = '\0';

	/*
	 * A column type can be written in several ways, but only one of them is a key family's name:
	 * write the type's name again, and compare.
	 */
	return bf_plain_parse(copy + prefix, column) &&
		   bf_plain_write_name(column, again) == len && memcmp(again, copy, len) == 0;
}

/* Appends a string to a name, which must have room for it; returns the new end. */
static char *
append(char *end, const char *str)
{
	size_t		len = strlen(str);

	memcpy(end, str, len + 1);
	return end + len;
}

/*
 * Appends a number that is not negative and has at most two digits to a name; returns the new end.
 */
static char *
append_number(char *end, int number)
{
	if (number >= 10)
		*end++ = (char) ('0' + number / 10 % 10);
	*end++ = (char) ('0' + number % 10);
	*end = '\0';
	return end;
}

size_t
bf_plain_write_name(const BfPlainColumn *column, char *name)
{
	char	   *end = append(append(name, BF_PLAIN_PREFIX), type_names[column->type]);

	if (bf_plain_is_time(column->type))
		end = append(append_number(append(end, "("), column->precision), ")");
	else if (column->type == BF_PLAIN_DECIMAL)
	{
		BfPlainColumn usual = *column;

		(void) bf_plain_set_decimal(&usual, column->precision, column->scale);
		end = append_number(append(end, "("), column->precision);
		end = append(append_number(append(end, ","), column->scale), ")");
		if (column->fixed && !(usual.fixed && usual.bytes == column->bytes))
			end = append(append_number(append(end, " fixed("), column->bytes), ")");
		else if (column->fixed != usual.fixed || column->bytes != usual.bytes)
			end = append(end, " int64");
	}
	return (size_t) (end - name);
}

/* ---- hashes of decimals ---- */

bool
bf_plain_numeric(const BfPlainColumn *column, const BfNumeric *number, uint64_t *hash)
{
	__int128	integer;
	uint8_t		bytes[16];
	int			i;

	if (!bf_numeric_unscaled(number, column->precision, column->scale, &integer))
		return false;
	if (!column->fixed)
	{
		*hash = bf_plain_hash_le((uint64_t) integer, (size_t) column->bytes);
		return true;
	}
	for (i = 0; i < column->bytes; i++)
		bytes[i] = (uint8_t) ((unsigned __int128) integer >> (8 * (column->bytes - 1 - i)));
	*hash = bf_hash_plain(bytes, (size_t) column->bytes);
	return true;
}
