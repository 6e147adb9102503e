/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * plain.h
 *	  Keys as Parquet has them: XXH64 of a value in plain encoding.
 *
 * What a key's bytes are depends on the type of the column in the Parquet file, which therefore
 * is the key's family: the name is "parquet ", and the column's type as below.  What
 * parquet.thrift calls it:
 *
 *	int32			INT32: 4 bytes					smallint, integer
 *	int64			INT64: 8 bytes					bigint
 *	float			FLOAT: 4 bytes					real
 *	double			DOUBLE: 8 bytes					double precision
 *	date			INT32: days since 1970			date
 *	time(N)			INT64, INT32 for N = 3: since midnight
 *	timestamp(N), timestamptz(N)
 *					INT64: since 1970; N is 3, 6 or 9, for a unit of a milli-, a micro- or a
 *					nanosecond, and 6 for what the server builds
 *	uuid			FIXED_LEN_BYTE_ARRAY(16)		uuid
 *	text			BYTE_ARRAY, without its length: UTF-8
 *									text, varchar, name
 *	bytea			BYTE_ARRAY						bytea
 *	decimal(P,S)	the number times 10^S: INT32 up to P = 9, INT64 up to 18, then
 *					FIXED_LEN_BYTE_ARRAY, big-endian, of the least length that holds all such
 *					numbers; P is at most 38.		numeric
 *	decimal(P,S) int64, decimal(P,S) fixed(N)
 *					the same in INT64, or in FIXED_LEN_BYTE_ARRAY(N), where that is not as above
 *
 * All but byte arrays are little-endian.
 *
 * No false negatives, as SQL's = sees it: -0 is hashed as 0 and every NaN as one.  An integer may
 * be asked of int32 and of int64, a float of float and of double: what the column cannot hold
 * equals none of its values.  The same holds of a number with more digits than a decimal, and of a
 * time between two units.  For such a key a function here returns false: it is in no filter of the
 * column, and cannot be added to one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_PLAIN_H
#define BF_PLAIN_H

#include "keys/key_hash.h"

/* What every name of these families begins with, and how long one is at most, terminated. */
#define BF_PLAIN_PREFIX			"parquet "
#define BF_PLAIN_MAX_NAME		64

/* Digits of a decimal: what fits 16 bytes, and what all programs that read Parquet can hold. */
#define BF_PLAIN_MAX_PRECISION	38

typedef enum BfPlainType
{
	BF_PLAIN_INT32,
	BF_PLAIN_INT64,
	BF_PLAIN_FLOAT,
	BF_PLAIN_DOUBLE,
	BF_PLAIN_DATE,
	BF_PLAIN_TIME,
	BF_PLAIN_TIMESTAMP,
	BF_PLAIN_TIMESTAMPTZ,
	BF_PLAIN_UUID,
	BF_PLAIN_TEXT,
	BF_PLAIN_BYTEA,
	BF_PLAIN_DECIMAL
} BfPlainType;

/* The type of a column. */
typedef struct BfPlainColumn
{
	BfPlainType type;
	int			precision;		/* of a decimal; of times, 3, 6 or 9; 0: not known yet, or has
								 * none */
	int			scale;			/* of a decimal */
	int			bytes;			/* that a decimal has */
	bool		fixed;			/* in a byte array, not in an integer */
} BfPlainColumn;

/* ---- columns and their names ---- */

/* Is it one of the types that have a unit? */
static inline bool
bf_plain_is_time(BfPlainType type)
{
	return type == BF_PLAIN_TIME || type == BF_PLAIN_TIMESTAMP || type == BF_PLAIN_TIMESTAMPTZ;
}

/* The size of the floats that a column has; 0 if it has none. */
static inline size_t
bf_plain_float_size(const BfPlainColumn *column)
{
	return column->type == BF_PLAIN_FLOAT	 ? sizeof(float)
		   : column->type == BF_PLAIN_DOUBLE ? sizeof(double)
											 : 0;
}

/* May keys that are written as the one be asked of a column of the other? */
extern bool bf_plain_compatible(BfPlainType a, BfPlainType b);

/*
 * bf_plain_set_decimal: makes it the column that decimal(precision,scale) is written to.
 *
 * False, and nothing is changed, if Parquet has no such decimal.
 */
extern bool bf_plain_set_decimal(BfPlainColumn *column, int precision, int scale);

/*
 * bf_plain_parse: reads the type of a column, as above, with blanks between its parts.
 *
 * False if it is none; the text may come from anywhere.
 */
extern bool bf_plain_parse(const char *text, BfPlainColumn *column);

/*
 * bf_plain_of_family: the column that a family's name of len bytes stands for, which need not be
 * terminated, or be trusted.  False if it is that of another family.
 */
extern bool bf_plain_of_family(const char *name, size_t len, BfPlainColumn *column);

/*
 * bf_plain_write_name: writes the name of a column's family, terminated, and returns its length.
 * name has BF_PLAIN_MAX_NAME bytes; a decimal's precision is known.
 */
extern size_t bf_plain_write_name(const BfPlainColumn *column, char *name);

/* ---- hashes: of values that the column's type is for; false: it cannot hold this one ---- */

/* The low len bytes of a number, at most 8. */
static inline uint64_t
bf_plain_hash_le(uint64_t value, size_t len)
{
	uint8_t		bytes[8];

	bf_key_put_le(bytes, value, 8);
	return bf_hash_plain(bytes, len);
}

/* int32, int64 */
static inline bool
bf_plain_int(const BfPlainColumn *column, int64_t value, uint64_t *hash)
{
	if (column->type == BF_PLAIN_INT64)
		*hash = bf_plain_hash_le((uint64_t) value, 8);
	else if (value == (int32_t) value)
		*hash = bf_plain_hash_le((uint64_t) value, 4);
	else
		return false;
	return true;
}

/* float, double */
static inline bool
bf_plain_double(const BfPlainColumn *column, double value, uint64_t *hash)
{
	float		single = (float) value;
	uint32_t	bits;

	if (column->type == BF_PLAIN_DOUBLE)
	{
		*hash = bf_plain_hash_le(bf_key_double_bits(value), 8);
		return true;
	}
	if (__builtin_isnan(value))
		bits = 0x7fc00000;
	else if (value == 0)
		bits = 0;
	else if ((double) single != value)
		return false;
	else
		memcpy(&bits, &single, sizeof(bits));
	*hash = bf_plain_hash_le(bits, 4);
	return true;
}

/* date: days since 2000-01-01; infinite ones as DuckDB has them, as the format has none */
static inline uint64_t
bf_plain_date(int32_t days)
{
	uint32_t	since_1970 = (uint32_t) days + BF_KEY_EPOCH_DAYS;

	if (days == BF_KEY_DATE_MINUS_INFINITY)
		since_1970 = (uint32_t) -INT32_MAX;
	else if (days == BF_KEY_DATE_INFINITY)
		since_1970 = INT32_MAX;
	return bf_plain_hash_le(since_1970, 4);
}

/* Microseconds in the column's unit; false if that is too coarse, or too fine for 64 bits. */
static inline bool
bf_plain_in_unit(const BfPlainColumn *column, int64_t usecs, int64_t *value)
{
	switch (column->precision)
	{
		case 3:
			*value = usecs / 1000;
			return usecs % 1000 == 0;
		case 9:
			return !__builtin_mul_overflow(usecs, INT64_C(1000), value);
		default:
			*value = usecs;
			return true;
	}
}

/* time(N): microseconds since midnight */
static inline bool
bf_plain_time(const BfPlainColumn *column, int64_t usecs, uint64_t *hash)
{
	int64_t		value;

	if (!bf_plain_in_unit(column, usecs, &value))
		return false;
	*hash = bf_plain_hash_le((uint64_t) value, column->precision == 3 ? 4 : 8);
	return true;
}

/* timestamp(N), timestamptz(N): microseconds since 2000-01-01; infinite ones as DuckDB has them */
static inline bool
bf_plain_timestamp(const BfPlainColumn *column, int64_t usecs, uint64_t *hash)
{
	int64_t		value;

	if (usecs == BF_KEY_TIMESTAMP_MINUS_INFINITY)
		value = -INT64_MAX;
	else if (usecs == BF_KEY_TIMESTAMP_INFINITY)
		value = INT64_MAX;
	else if (__builtin_add_overflow(usecs, BF_KEY_EPOCH_USECS, &value) ||
			 !bf_plain_in_unit(column, value, &value))
		return false;
	*hash = bf_plain_hash_le((uint64_t) value, 8);
	return true;
}

/*
 * text, bytea, uuid: the bytes.  A text is as it is, in UTF-8: Parquet tells texts apart that
 * differ in blanks at the end, so a char(n), to which these are one key, is no key of such a
 * column.
 */
static inline uint64_t
bf_plain_bytes(const void *bytes, size_t len)
{
	return bf_hash_plain(bytes, len);
}

/* decimal, whose precision is known */
extern bool bf_plain_numeric(const BfPlainColumn *column, const BfNumeric *number, uint64_t *hash);

#endif							/* BF_PLAIN_H */
