/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key.h
 *	  Private to the library: one key as a C value, and its hash.
 *
 * A key may come from a text or from a layout in memory.  It is first made into a BfKey, whose type
 * determines the member of the union that is valid, and is then hashed in one place, bf_key_hash().
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_LIB_KEY_H
#define BF_LIB_KEY_H

#include "client/lib/type.h"

/* The bytes of a text, a bytea or a similar value. */
typedef struct BfString
{
	const char *bytes;
	size_t		len;
} BfString;

/* The form in which a BfDecimal has its value. */
typedef enum BfDecimalForm
{
	BF_DECIMAL_DIGITS,			/* The number is text times 10^exponent. */
	BF_DECIMAL_INTEGER,			/* The number is integer times 10^-scale. */
	BF_DECIMAL_NAN,
	BF_DECIMAL_INFINITY,
	BF_DECIMAL_MINUS_INFINITY
} BfDecimalForm;

typedef struct BfDecimal
{
	BfDecimalForm form;
	bool		negative;		/* True for a negative number in form DIGITS. */
	BfString	text;			/* The digits of form DIGITS, perhaps with a decimal point. */
	int32_t		exponent;
	__int128	integer;		/* The integer of form INTEGER. */
	int32_t		scale;
} BfDecimal;

/* The maximum number of digits of a decimal, that of the server's numeric. */
#define BF_MAX_DIGITS		(131072 + 16383)

/* What the value of a date or timestamp is counted from, or that it is infinite. */
typedef enum BfEpoch
{
	BF_SINCE_1970,
	BF_SINCE_2000,				/* Counts microseconds or days, as the server does. */
	BF_PLUS_INFINITY,
	BF_MINUS_INFINITY
} BfEpoch;

/* A date in days, or a time or timestamp in a unit of 10^-unit seconds. */
typedef struct BfInstant
{
	BfEpoch		epoch;
	int			unit;			/* Decimal digits of the unit of a second: 0, 3, 6, 9. */
	int64_t		value;
} BfInstant;

typedef struct BfTimetz
{
	int64_t		usecs;			/* Microseconds since midnight. */
	int32_t		zone;			/* Offset of the time zone in seconds west of UTC. */
} BfTimetz;

typedef struct BfInet
{
	int			version;		/* Version of the internet protocol, 4 or 6. */
	uint8_t		bits;			/* Number of bits in the netmask. */
	uint8_t		address[16];
} BfInet;

typedef struct BfKey
{
	union
	{
		int64_t		integer;	/* The value of a key of type INT, OID or PG_LSN. */
		double		number;		/* The value of a FLOAT, REAL or DOUBLE. */
		bool		boolean;
		char		character;
		BfString	string;		/* Texts, BYTEA, ENUM; BIT has the digits '0' and '1'. */
		BfDecimal	decimal;
		BfInstant	instant;	/* The value of a DATE, TIME, TIMESTAMP or TIMESTAMPTZ. */
		BfTimetz	timetz;
		__int128	span;		/* INTERVAL, in microseconds. */
		BfInet		inet;
		uint8_t		bytes[16];	/* The value of a UUID, MACADDR or MACADDR8. */
	}			u;
	/* BYTEA: true if string has two hexadecimal digits for each byte. */
	bool		is_hex;

	/*
	 * True if the key has a second reading (possible meaning), so that both are looked up.  For
	 * DATE, TIMESTAMP and TIMESTAMPTZ, the second reading takes an infinity as a finite moment.
	 */
	bool		has_second;
	/* FLOAT: the number if the key is a real and not a double precision. */
	double		second_number;
	/* ANY_TEXT: the length of the text's part that is kept if the key is a name. */
	size_t		second_len;
} BfKey;

/*
 * bf_key_hash: Computes the hash of a key of the given type.  A key with two readings has two
 * hashes; *n is set to the number of hashes.
 *
 * Returns BLOOMFAM_ABSENT; or BLOOMFAM_IMPOSSIBLE, with a reason, if the family has no such key.
 * Allocates no memory; a number of very many digits takes up to 80 kB of stack.
 */
extern BloomfamAnswer bf_key_hash(const BloomfamType *type, const BfKey *key, uint64_t hashes[2],
								  int *n, const char **reason);

/* The maximum length of a name in bytes. */
#define BF_NAME_BYTES		63

/*
 * bf_name_length() returns the length of the part of a UTF-8 text that a name keeps.
 * bf_name_is_sure() returns whether that length is certain: a server cuts after 63 bytes in the
 * encoding of its database, so only a text of at most 63 bytes or of ASCII is certain.
 */
extern size_t bf_name_length(const char *text, size_t len);
extern bool bf_name_is_sure(const char *text, size_t len);

/*
 * The minimum and maximum number of characters that a name keeps of a text of more than 63 bytes,
 * in any encoding.
 */
#define BF_NAME_MIN_CHARS	15
#define BF_NAME_MAX_CHARS	63

/* The server's ranges of dates and timestamps, in days and microseconds since 2000. */
#define BF_MIN_DATE			(-INT64_C(2451545))	/* 4714-11-24 BC, in days since 2000. */
#define BF_END_DATE			INT64_C(2145031949)	/* 5874898-01-01, excluded. */
#define BF_MIN_TIMESTAMP	(-INT64_C(211813488000000000))
#define BF_END_TIMESTAMP	INT64_C(9223371331200000000)	/* 294277-01-01, excluded. */

#endif							/* BF_LIB_KEY_H */
