/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key.h
 *	  Private to the library: one key as a C value, and its hash.
 *
 * Whatever a key comes from, text or a layout in memory, it becomes a BfKey first, of which a
 * member of the union is meant that goes with the type.  Then it is hashed, in one place.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_LIB_KEY_H
#define BF_LIB_KEY_H

#include "client/lib/type.h"

/* Bytes of a text, a bytea, ... */
typedef struct BfString
{
	const char *bytes;
	size_t		len;
} BfString;

/* What a numeric is made of. */
typedef enum BfDecimalForm
{
	BF_DECIMAL_DIGITS,			/* text times 10^exponent */
	BF_DECIMAL_INTEGER,			/* integer times 10^-scale */
	BF_DECIMAL_NAN,
	BF_DECIMAL_INFINITY,
	BF_DECIMAL_MINUS_INFINITY
} BfDecimalForm;

typedef struct BfDecimal
{
	BfDecimalForm form;
	bool		negative;		/* of DIGITS */
	BfString	text;			/* of DIGITS: digits, perhaps with a point */
	int32_t		exponent;
	__int128	integer;		/* of INTEGER */
	int32_t		scale;
} BfDecimal;

/* No decimal has more digits in all than the server's numeric. */
#define BF_MAX_DIGITS		(131072 + 16383)

/* Where a date or a timestamp is counted from, if it is finite. */
typedef enum BfEpoch
{
	BF_SINCE_1970,
	BF_SINCE_2000,				/* microseconds, or days */
	BF_PLUS_INFINITY,
	BF_MINUS_INFINITY
} BfEpoch;

/* A date in days; a time or timestamp in seconds, or the unit of so many decimals. */
typedef struct BfInstant
{
	BfEpoch		epoch;
	int			unit;			/* 0, 3, 6, 9 */
	int64_t		value;
} BfInstant;

typedef struct BfTimetz
{
	int64_t		usecs;			/* since midnight */
	int32_t		zone;			/* seconds west of UTC */
} BfTimetz;

typedef struct BfInet
{
	int			version;		/* 4 or 6 */
	uint8_t		bits;			/* of the netmask */
	uint8_t		address[16];
} BfInet;

typedef struct BfKey
{
	union
	{
		int64_t		integer;	/* INT, OID, PG_LSN */
		double		number;		/* FLOAT, REAL, DOUBLE */
		bool		boolean;
		char		character;
		BfString	string;		/* texts, BYTEA, ENUM; BIT: the digits '0' and '1' */
		BfDecimal	decimal;
		BfInstant	instant;	/* DATE, TIME, TIMESTAMP, TIMESTAMPTZ */
		BfTimetz	timetz;
		__int128	span;		/* INTERVAL: microseconds */
		BfInet		inet;
		uint8_t		bytes[16];	/* UUID, MACADDR, MACADDR8 */
	}			u;
	bool		is_hex;			/* of BYTEA: two digits a byte */

	/* another reading of the same; of DATE, TIMESTAMP, TIMESTAMPTZ: as no infinity */
	bool		has_second;
	double		second_number;	/* FLOAT: as real */
	size_t		second_len;		/* ANY_TEXT: as name */
} BfKey;

/*
 * bf_key_hash: the hash of a key of this type; of both readings, if it has two: *n is set.
 *
 * Returns BLOOMFAM_ABSENT, or BLOOMFAM_IMPOSSIBLE with a reason, if the family has no such key.
 * Allocates nothing; takes up to 80 kB of stack for a number of very many digits.
 */
extern BloomfamAnswer bf_key_hash(const BloomfamType *type, const BfKey *key, uint64_t hashes[2],
								  int *n, const char **reason);

/* What a name has room for. */
#define BF_NAME_BYTES		63

/*
 * The length of what a name keeps of a text, in UTF-8.  A server keeps 63 bytes in the encoding of
 * its database, so it is only sure if the text is short, or all ASCII.
 */
extern size_t bf_name_length(const char *text, size_t len);
extern bool bf_name_is_sure(const char *text, size_t len);

/* How few and how many characters of a long text a name keeps, in whatever encoding. */
#define BF_NAME_MIN_CHARS	15
#define BF_NAME_MAX_CHARS	63

/* The server's ranges. */
#define BF_MIN_DATE			(-INT64_C(2451545))	/* 4714-11-24 BC, in days since 2000 */
#define BF_END_DATE			INT64_C(2145031949)	/* 5874898-01-01, excluded */
#define BF_MIN_TIMESTAMP	(-INT64_C(211813488000000000))
#define BF_END_TIMESTAMP	INT64_C(9223371331200000000)	/* 294277-01-01, excluded */

#endif							/* BF_LIB_KEY_H */
