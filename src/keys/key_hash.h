/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_hash.h
 *	  From a key to 64 bits: the canonical bytes of a C value, hashed.
 *
 * This is the only implementation of "equal keys have equal bytes", for the server and for all
 * programs that hash keys outside of it.  This folder knows nothing of PostgreSQL: the server's
 * types are read by src/pg, text forms and the layouts of other systems by clients.
 *
 * Canonical bytes are little-endian on every machine, and the hash is bf_hash_bytes_seeded() of
 * them.  The hashes are stored in filters for ever.  The canonical bytes by family:
 *
 *	int				int2, int4, int8: the value, sign-extended to 8 bytes
 *	float			float4, float8: IEEE 754 binary64, 8 bytes; -0 as 0, every NaN as
 *					0x7ff8000000000000
 *	text			text, varchar, char(n), name: UTF-8 without blanks at the end
 *	numeric			1 byte: a BfNumericSign; for numbers other than zero then the power of 10000 of
 *					the first digit, 4 bytes, and the digits of base 10000, 2 bytes each, neither
 *					the first nor the last being zero
 *	bool, char		1 byte
 *	bytea			the bytes
 *	uuid			16 bytes, as in its text form
 *	date			days since 2000-01-01, 4 bytes
 *	time, timestamp, timestamptz
 *					microseconds since midnight, or since 2000-01-01 (UTC for timestamptz), 8
 *					bytes
 *	timetz			microseconds since midnight, 8 bytes; seconds west of UTC, 4 bytes
 *	interval		microseconds, a month being 30 days and a day 24 hours, 16 bytes
 *	oid				4 bytes
 *	inet			inet, cidr: 1 byte 4 or 6; 1 byte length of the netmask; 4 or 16 bytes of
 *					address
 *	macaddr, macaddr8
 *					6 or 8 bytes
 *	pg_lsn			8 bytes
 *	bit				bit, varbit: number of bits, 4 bytes; the hash of the bytes that hold them,
 *					8 bytes
 *	row(x,y)		an item for each column: see bf_key_put_item()
 *
 * Every function that hashes takes the seed, which is 0 for filters, and a value, allocates nothing
 * and cannot fail.  Keys that SQL's = calls equal get equal hashes, if they are values of one
 * family and, for texts, equal under a deterministic collation.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_KEY_HASH_H
#define BF_KEY_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/bf_hash.h"
#include "keys/numeric.h"

/*
 * The time from 1970-01-01, where Unix begins to count, to 2000-01-01, where keys begin to count.
 */
#define BF_KEY_EPOCH_DAYS		10957
#define BF_KEY_DAY_USECS		INT64_C(86400000000)
#define BF_KEY_EPOCH_USECS		(BF_KEY_EPOCH_DAYS * BF_KEY_DAY_USECS)

/* The values of infinite dates, and of infinite timestamps with and without time zone. */
#define BF_KEY_DATE_INFINITY			INT32_MAX
#define BF_KEY_DATE_MINUS_INFINITY		INT32_MIN
#define BF_KEY_TIMESTAMP_INFINITY		INT64_MAX
#define BF_KEY_TIMESTAMP_MINUS_INFINITY INT64_MIN

/* Writes the low len bytes of a number, at most 8, the lowest byte first. */
static inline void
bf_key_put_le(uint8_t *bytes, uint64_t value, size_t len)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	value = __builtin_bswap64(value);
#endif
	memcpy(bytes, &value, len);
}

/* ---- parts of composite keys ---- */

/*
 * The size in bytes of an item, the form in which one column of a row or one element of an array is
 * hashed.
 */
#define BF_KEY_ITEM_SIZE	9

/*
 * Writes the item of a part of a composite key: the byte 1 and the hash of the part's value; for a
 * NULL, 0 and 8 zeros.
 */
static inline void
bf_key_put_item(uint8_t *bytes, bool is_null, uint64_t hash)
{
	bytes[0] = is_null ? 0 : 1;
	bf_key_put_le(bytes + 1, is_null ? 0 : hash, 8);
}

/* ---- keys that are numbers of 8 or 4 bytes ---- */

/* Hashes a key of family int. */
static inline uint64_t
bf_key_int(uint64_t seed, int64_t value)
{
	return bf_hash_u64_seeded(seed, (uint64_t) value);
}

/* Hashes a key of family time, timestamp, timestamptz or pg_lsn. */
static inline uint64_t
bf_key_8_bytes(uint64_t seed, uint64_t value)
{
	return bf_hash_u64_seeded(seed, value);
}

/* Hashes a key of family date or oid. */
static inline uint64_t
bf_key_4_bytes(uint64_t seed, uint32_t value)
{
	uint8_t		bytes[4];

	bf_key_put_le(bytes, value, 4);
	return bf_hash_bytes_seeded(seed, bytes, sizeof(bytes));
}

/*
 * Returns the 8 canonical bytes of a float.  A binary32 is widened by the caller, which is exact.
 */
static inline uint64_t
bf_key_double_bits(double value)
{
	uint64_t	bits;

	if (__builtin_isnan(value))
		return UINT64_C(0x7ff8000000000000);
	if (value == 0)
		return 0;
	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* Hashes a key of family float. */
static inline uint64_t
bf_key_double(uint64_t seed, double value)
{
	return bf_hash_u64_seeded(seed, bf_key_double_bits(value));
}

/*
 * Hashes a key of family numeric that has no zeros before or after its other digits, as
 * bf_key_numeric() does, but piece by piece, for numbers with many digits.
 */
extern uint64_t bf_key_long_numeric(uint64_t seed, const BfNumeric *number);

/* The number of digits for which there is room on the stack: up to 256 decimal ones. */
#define BF_KEY_NUMERIC_LOCAL	64

/* Hashes a key of family numeric. */
static inline uint64_t
bf_key_numeric(uint64_t seed, const BfNumeric *number)
{
	BfNumeric	stripped = *number;
	uint8_t		bytes[1 + 4 + 2 * BF_KEY_NUMERIC_LOCAL];
	size_t		len = 1;
	size_t		i;

	while (stripped.ndigits > 0 && bf_numeric_digit(&stripped, 0) == 0)
	{
		stripped.digits = (const char *) stripped.digits + sizeof(uint16_t);
		stripped.ndigits--;
		stripped.weight = (int32_t) ((uint32_t) stripped.weight - 1);
	}
	while (stripped.ndigits > 0 && bf_numeric_digit(&stripped, stripped.ndigits - 1) == 0)
		stripped.ndigits--;

	if (stripped.ndigits > BF_KEY_NUMERIC_LOCAL)
		return bf_key_long_numeric(seed, &stripped);
	bytes[0] = (uint8_t) stripped.sign;
	if (stripped.ndigits > 0)
	{
		bf_key_put_le(bytes + 1, (uint32_t) stripped.weight, 4);
		for (i = 0; i < stripped.ndigits; i++)
			bf_key_put_le(bytes + 5 + 2 * i, bf_numeric_digit(&stripped, i), 2);
		len = 5 + 2 * stripped.ndigits;
	}
	else if (stripped.sign == BF_NUMERIC_NEGATIVE)
		bytes[0] = BF_NUMERIC_POSITIVE; /* A zero with a minus sign is the same key as zero. */
	return bf_hash_bytes_seeded(seed, bytes, len);
}

/* ---- keys of a single byte ---- */

/* Hashes a key of family bool. */
static inline uint64_t
bf_key_bool(uint64_t seed, bool value)
{
	uint8_t		byte = value ? 1 : 0;

	return bf_hash_bytes_seeded(seed, &byte, 1);
}

/* Hashes a key of family char, that is, of type "char". */
static inline uint64_t
bf_key_char(uint64_t seed, char value)
{
	return bf_hash_bytes_seeded(seed, &value, 1);
}

/* ---- keys that are strings of bytes ---- */

/* Hashes a key of family bytea. */
static inline uint64_t
bf_key_bytes(uint64_t seed, const void *bytes, size_t len)
{
	return bf_hash_bytes_seeded(seed, bytes, len);
}

/*
 * Returns the length of a text without blanks at its end.  Blanks are U+0020 alone, which is one
 * byte in UTF-8 as in each server encoding.
 */
static inline size_t
bf_key_text_len(const char *text, size_t len)
{
	while (len > 0 && text[len - 1] == ' ')
		len--;
	return len;
}

/* Hashes a key of family text.  The text is in UTF-8, which is not checked. */
static inline uint64_t
bf_key_text(uint64_t seed, const char *text, size_t len)
{
	return bf_hash_bytes_seeded(seed, text, bf_key_text_len(text, len));
}

/* ---- keys of other types ---- */

/* Hashes a key of family uuid: 16 bytes. */
static inline uint64_t
bf_key_uuid(uint64_t seed, const void *bytes)
{
	return bf_hash_bytes_seeded(seed, bytes, 16);
}

/* Hashes a key of family macaddr: 6 bytes. */
static inline uint64_t
bf_key_macaddr(uint64_t seed, const void *bytes)
{
	return bf_hash_bytes_seeded(seed, bytes, 6);
}

/* Hashes a key of family macaddr8: 8 bytes. */
static inline uint64_t
bf_key_macaddr8(uint64_t seed, const void *bytes)
{
	return bf_hash_bytes_seeded(seed, bytes, 8);
}

/*
 * Hashes a key of family timetz: microseconds since midnight, up to and including 24:00, and
 * seconds west of UTC.
 */
static inline uint64_t
bf_key_timetz(uint64_t seed, int64_t usecs, int32_t zone)
{
	uint8_t		bytes[12];

	bf_key_put_le(bytes, (uint64_t) usecs, 8);
	bf_key_put_le(bytes + 8, (uint32_t) zone, 4);
	return bf_hash_bytes_seeded(seed, bytes, sizeof(bytes));
}

/* Hashes a key of family interval, given its length in microseconds. */
static inline uint64_t
bf_key_interval_span(uint64_t seed, __int128 usecs)
{
	uint8_t		bytes[16];

	bf_key_put_le(bytes, (uint64_t) usecs, 8);
	bf_key_put_le(bytes + 8, (uint64_t) (usecs >> 64), 8);
	return bf_hash_bytes_seeded(seed, bytes, sizeof(bytes));
}

/*
 * Hashes a key of family interval.  Equal intervals are those that the server's comparison calls
 * equal.  Infinite intervals (PostgreSQL 17 and later) have the largest, or the smallest, number in
 * each of the three parameters.
 */
static inline uint64_t
bf_key_interval(uint64_t seed, int32_t months, int32_t days, int64_t usecs)
{
	return bf_key_interval_span(seed,
								(__int128) ((int64_t) months * 30 + days) * BF_KEY_DAY_USECS +
									usecs);
}

/*
 * Hashes a key of family inet, of type inet or cidr: version 4 with 4 bytes of address, or version
 * 6 with 16; bits is the length of the netmask.
 */
static inline uint64_t
bf_key_inet(uint64_t seed, int version, uint8_t bits, const void *address)
{
	uint8_t		bytes[2 + 16];

	bytes[0] = (uint8_t) version;
	bytes[1] = bits;
	if (version == 4)
	{
		memcpy(bytes + 2, address, 4);
		return bf_hash_bytes_seeded(seed, bytes, 2 + 4);
	}
	memcpy(bytes + 2, address, 16);
	return bf_hash_bytes_seeded(seed, bytes, 2 + 16);
}

/*
 * Hashes a key of family bit, of type bit or varbit: the number of bits, and the len bytes that
 * hold them, (nbits + 7) / 8.  The first bit is the highest of its byte; bits after the last are 0.
 */
static inline uint64_t
bf_key_bit(uint64_t seed, uint32_t nbits, const void *bits, size_t len)
{
	uint8_t		bytes[12];

	bf_key_put_le(bytes, nbits, 4);
	bf_key_put_le(bytes + 4, bf_hash_bytes_seeded(seed, bits, len), 8);
	return bf_hash_bytes_seeded(seed, bytes, sizeof(bytes));
}

#endif							/* BF_KEY_HASH_H */
