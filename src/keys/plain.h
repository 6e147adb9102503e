/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * plain.h
 *	  Keys in Parquet's form: XXH64 of a value in plain encoding.
 *
 * The bytes of a key depend on the type of the column in the Parquet file, so the key family is
 * that type: the family's name is "parquet ", followed by the column's type as in the following
 * list.  The second column has the names in parquet.thrift, the third the types of PostgreSQL:
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
 * All values but byte arrays are little-endian.
 *
 * There are no false negatives in the sense of SQL's =: -0 is hashed as 0, and every NaN as one
 * NaN.  An integer may be looked up in int32 and in int64, a float in float and in double: a value
 * that the column cannot hold equals none of its values.  The same is true of a number with more
 * digits than a decimal has, and of a time between two units.  For such a key the functions of this
 * file return false: it is in no filter of the column, and cannot be added to one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_PLAIN_H
#define BF_PLAIN_H

#include "keys/key_hash.h"

/*
 * The prefix of the name of every family of Parquet's columns, and the longest such name in bytes,
 * including the terminating zero.
 */
#define BF_PLAIN_PREFIX			"parquet "
#define BF_PLAIN_MAX_NAME		64

/*
 * The most digits of a decimal: as many as fit 16 bytes, and as all programs that read Parquet can
 * hold.
 */
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

/* The type of a column of a Parquet file. */
typedef struct BfPlainColumn
{
	BfPlainType type;

	/*
	 * The number of digits of a decimal; for times and timestamps, 3, 6 or 9.  0 if it is not known
	 * yet, or if the type has none.
	 */
	int			precision;
	int			scale;			/* The scale of a decimal. */
	int			bytes;			/* The number of bytes of a stored decimal. */

	/* True if a decimal is stored in a byte array, false if in an integer. */
	bool		fixed;
} BfPlainColumn;

/* ---- column types and their names ---- */

/* Returns whether a type has a unit of time. */
static inline bool
bf_plain_is_time(BfPlainType type)
{
	return type == BF_PLAIN_TIME || type == BF_PLAIN_TIMESTAMP || type == BF_PLAIN_TIMESTAMPTZ;
}

/* Returns the size of a column's floats in bytes; 0 if its type is not float or double. */
static inline size_t
bf_plain_float_size(const BfPlainColumn *column)
{
	return column->type == BF_PLAIN_FLOAT	 ? sizeof(float)
		   : column->type == BF_PLAIN_DOUBLE ? sizeof(double)
											 : 0;
}

/* Returns whether keys that are hashed for type a may be looked up in a column of type b. */
extern bool bf_plain_compatible(BfPlainType a, BfPlainType b);

/*
 * Makes *column the type of the column to which decimal(precision,scale) is written.
 *
 * Returns false, and changes nothing, if Parquet has no such decimal.
 */
extern bool bf_plain_set_decimal(BfPlainColumn *column, int precision, int scale);

/*
 * Reads the type of a column from its name, in the form described at the head of plain.h; there may
 * be blanks between the parts.
 *
 * Returns false if the text is not the name of a type.  The text may come from anywhere.
 */
extern bool bf_plain_parse(const char *text, BfPlainColumn *column);

/*
 * Finds the type of the column that a family's name stands for.  The name has len bytes, and need
 * neither be terminated nor trusted.  Returns false if it is the name of another family.
 */
extern bool bf_plain_of_family(const char *name, size_t len, BfPlainColumn *column);

/*
 * Writes the name of a column's family, terminated by a zero byte, and returns its length. name has
 * room for BF_PLAIN_MAX_NAME bytes; the precision of a decimal must be known.
 */
extern size_t bf_plain_write_name(const BfPlainColumn *column, char *name);

/*
 * ---- hashes of values for a column; functions return false if the column cannot hold the value
 * ----
 */

/* Hashes the low len bytes of a number, at most 8, the lowest byte first. */
static inline uint64_t
bf_plain_hash_le(uint64_t value, size_t len)
{
	uint8_t		bytes[8];

	bf_key_put_le(bytes, value, 8);
	return bf_hash_plain(bytes, len);
}

/*
 * Hashes an integer for a column of type int32 or int64; returns false if the column cannot hold
 * it.
 */
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

/*
 * Hashes a float for a column of type float or double; returns false if the column cannot hold it.
 */
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

/*
 * Hashes a date, in days since 2000-01-01.  Infinite dates are hashed in the form in which DuckDB
 * stores them, as Parquet has none.
 */
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

/*
 * Converts microseconds to the unit of a column; returns false if the unit is too coarse for the
 * value, or so fine that the value does not fit 64 bits.
 */
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

/*
 * Hashes a time of day, in microseconds since midnight, for a column of type time(N); returns false
 * if the column cannot hold it.
 */
static inline bool
bf_plain_time(const BfPlainColumn *column, int64_t usecs, uint64_t *hash)
{
	int64_t		value;

	if (!bf_plain_in_unit(column, usecs, &value))
		return false;
	*hash = bf_plain_hash_le((uint64_t) value, column->precision == 3 ? 4 : 8);
	return true;
}

/*
 * Hashes a timestamp, in microseconds since 2000-01-01, for a column of type timestamp(N) or
 * timestamptz(N); returns false if the column cannot hold it.  Infinite timestamps are hashed in
 * the form in which DuckDB stores them.
 */
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
 * Hashes the bytes of a value for a column of type text, bytea or uuid.  A text is hashed
 * unchanged, in UTF-8: Parquet distinguishes texts that differ in blanks at the end.  A char(n)
 * does not, so it cannot be a key of such a column.
 */
static inline uint64_t
bf_plain_bytes(const void *bytes, size_t len)
{
	return bf_hash_plain(bytes, len);
}

/*
 * Hashes a number for a column of type decimal, whose precision must be known; returns false if the
 * column cannot hold it.
 */
extern bool bf_plain_numeric(const BfPlainColumn *column, const BfNumeric *number, uint64_t *hash);

#endif							/* BF_PLAIN_H */
