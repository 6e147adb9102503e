/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key.c
 *	  One key as a C value, and its hash; see key.h.
 *
 *-------------------------------------------------------------------------
 */
#include "client/lib/key.h"

#include "client/lib/form.h"

/* The maximum number of digits of a decimal for which a small buffer on the stack is used. */
#define LOCAL_DIGITS	256

/* Number of bytes that are decoded from text and hashed at a time. */
#define PIECE			256

static const char not_whole[] = "it lies between two units of the filter's type";
static const char out_of_range[] = "it is out of the type's range";
static const char not_in_column[] = "the filter's Parquet column cannot hold it";

size_t
bf_name_length(const char *text, size_t len)
{
	size_t		n = 0;

	if (len <= BF_NAME_BYTES)
		return len;
	for (;;)
	{
		size_t		next = bf_utf8_length(text + n, len - n);

		if (next == 0)
			next = 1;			/* An invalid byte counts as a character. */
		if (n + next > BF_NAME_BYTES)
			return n;
		n += next;
	}
}

bool
bf_name_is_sure(const char *text, size_t len)
{
	size_t		i;

	for (i = 0; len > BF_NAME_BYTES && i < len; i++)
		if ((unsigned char) text[i] >= 0x80)
			return false;
	return true;
}

/* ---- numerics ---- */

static BloomfamAnswer
hash_digits(const BloomfamType *type, const BfNumeric *number, uint64_t *hash, const char **reason)
{
	BfPlainColumn column;

	if (!bf_type_is_plain(type))
	{
		*hash = bf_key_numeric(0, number);
		return BLOOMFAM_ABSENT;
	}
	column = bf_type_plain(type);
	if (bf_plain_numeric(&column, number, hash))
		return BLOOMFAM_ABSENT;
	*reason = not_in_column;
	return BLOOMFAM_IMPOSSIBLE;
}

/*
 * Hashes a decimal of very many digits.  The function is not inlined, because its large stack frame
 * is not needed for decimals of few digits.
 */
static __attribute__((noinline)) BloomfamAnswer
hash_many_digits(const BloomfamType *type, const BfDecimal *decimal, uint64_t *hash,
				 const char **reason)
{
	uint16_t	room[BF_NUMERIC_ROOM(BF_MAX_DIGITS + 1)];
	BfNumeric	number;

	bf_numeric_of_text(&number, decimal->negative, decimal->text.bytes, decimal->text.len,
					   decimal->exponent, room);
	return hash_digits(type, &number, hash, reason);
}

static BloomfamAnswer
hash_decimal(const BloomfamType *type, const BfDecimal *decimal, uint64_t *hash,
			 const char **reason)
{
	uint16_t	room[BF_NUMERIC_ROOM(LOCAL_DIGITS)];
	BfNumeric	number;

	memset(&number, 0, sizeof(number));
	switch (decimal->form)
	{
		case BF_DECIMAL_DIGITS:
			if (decimal->text.len > LOCAL_DIGITS)
				return hash_many_digits(type, decimal, hash, reason);
			bf_numeric_of_text(&number, decimal->negative, decimal->text.bytes, decimal->text.len,
							   decimal->exponent, room);
			break;
		case BF_DECIMAL_INTEGER:
			bf_numeric_of_int128(&number, decimal->integer, decimal->scale, room);
			break;
		case BF_DECIMAL_NAN:
			number.sign = BF_NUMERIC_NAN;
			break;
		case BF_DECIMAL_INFINITY:
			number.sign = BF_NUMERIC_INFINITY;
			break;
		case BF_DECIMAL_MINUS_INFINITY:
			number.sign = BF_NUMERIC_MINUS_INFINITY;
			break;
	}
	return hash_digits(type, &number, hash, reason);
}

/* ---- dates and times ---- */

static int64_t
units_per_second(int unit)
{
	return unit == 0 ? 1 : unit == 3 ? 1000 : unit == 6 ? 1000000 : 1000000000;
}

/*
 * Converts a value from units of 10^-from seconds to units of 10^-to seconds.  Returns false if the
 * value is not a whole number of the new units.  The result may need more than 64 bits, even for a
 * timestamp that fits in 64 bits when it is counted from 2000.
 */
static bool
convert(int64_t value, int from, int to, __int128 *result)
{
	int64_t		a = units_per_second(from);
	int64_t		b = units_per_second(to);

	*result = b >= a ? (__int128) value * (b / a) : value / (a / b);
	return b >= a || value % (a / b) == 0;
}

static BloomfamAnswer
impossible(const char *why, const char **reason)
{
	*reason = why;
	return BLOOMFAM_IMPOSSIBLE;
}

static BloomfamAnswer
hash_date(const BloomfamType *type, const BfInstant *date, uint64_t *hash, const char **reason)
{
	int64_t		days = date->value - (date->epoch == BF_SINCE_1970 ? BF_KEY_EPOCH_DAYS : 0);
	int32_t		key;

	if (date->epoch == BF_PLUS_INFINITY)
		key = BF_KEY_DATE_INFINITY;
	else if (date->epoch == BF_MINUS_INFINITY)
		key = BF_KEY_DATE_MINUS_INFINITY;
	else if (bf_type_is_plain(type) && date->epoch == BF_SINCE_1970)
	{
		/* The server's range does not apply, as Parquet's dates have a larger one. */
		*hash = bf_plain_hash_le((uint64_t) date->value, 4);
		return date->value == (int32_t) date->value ? BLOOMFAM_ABSENT
													: impossible(out_of_range, reason);
	}
	else if (days < BF_MIN_DATE || days >= BF_END_DATE)
		return impossible(out_of_range, reason);
	else
		key = (int32_t) days;
	*hash = bf_type_is_plain(type) ? bf_plain_date(key) : bf_key_4_bytes(0, (uint32_t) key);
	return BLOOMFAM_ABSENT;
}

static BloomfamAnswer
hash_time(const BloomfamType *type, const BfInstant *time, uint64_t *hash, const char **reason)
{
	int			unit = bf_type_is_plain(type) ? type->plain_precision : 6;
	__int128	value;

	if (time->value < 0 || time->value > 86400 * units_per_second(time->unit))
		return impossible(out_of_range, reason);
	if (!convert(time->value, time->unit, unit, &value))
		return impossible(not_whole, reason);
	if (bf_type_is_plain(type))
		*hash = bf_plain_hash_le((uint64_t) value, unit == 3 ? 4 : 8);
	else
		*hash = bf_key_8_bytes(0, (uint64_t) value);
	return BLOOMFAM_ABSENT;
}

/* Converts a timestamp to the server's microseconds since 2000. */
static BloomfamAnswer
server_timestamp(const BfInstant *timestamp, int64_t *usecs, const char **reason)
{
	__int128	value = timestamp->value;

	if (timestamp->epoch == BF_SINCE_1970)
	{
		if (!convert(timestamp->value, timestamp->unit, 6, &value))
			return impossible(not_whole, reason);
		value -= BF_KEY_EPOCH_USECS;
	}
	if (value < BF_MIN_TIMESTAMP || value >= BF_END_TIMESTAMP)
		return impossible(out_of_range, reason);
	*usecs = (int64_t) value;
	return BLOOMFAM_ABSENT;
}

static BloomfamAnswer
hash_timestamp(const BloomfamType *type, const BfInstant *timestamp, uint64_t *hash,
			   const char **reason)
{
	BfPlainColumn column;
	BloomfamAnswer answer = BLOOMFAM_ABSENT;
	int64_t		usecs;

	if (timestamp->epoch == BF_PLUS_INFINITY)
		usecs = BF_KEY_TIMESTAMP_INFINITY;
	else if (timestamp->epoch == BF_MINUS_INFINITY)
		usecs = BF_KEY_TIMESTAMP_MINUS_INFINITY;
	else if (timestamp->epoch == BF_SINCE_1970 && bf_type_is_plain(type))
	{
		/*
		 * The server's range does not apply: Parquet's timestamps have a larger one, and may be in
		 * nanoseconds.
		 */
		__int128	value;

		if (!convert(timestamp->value, timestamp->unit, type->plain_precision, &value) ||
			value != (int64_t) value)
			return impossible(not_in_column, reason);
		*hash = bf_plain_hash_le((uint64_t) value, 8);
		return BLOOMFAM_ABSENT;
	}
	else
		answer = server_timestamp(timestamp, &usecs, reason);
	if (answer != BLOOMFAM_ABSENT)
		return answer;
	if (!bf_type_is_plain(type))
	{
		*hash = bf_key_8_bytes(0, (uint64_t) usecs);
		return BLOOMFAM_ABSENT;
	}
	column = bf_type_plain(type);
	return bf_plain_timestamp(&column, usecs, hash) ? BLOOMFAM_ABSENT
													: impossible(not_in_column, reason);
}

/* Hashes a date or timestamp that may have two readings, as infinity and as a finite moment. */
static BloomfamAnswer
hash_instant(const BloomfamType *type, const BfKey *key, uint64_t hashes[2], int *n,
			 const char **reason,
			 BloomfamAnswer (*hash) (const BloomfamType *type, const BfInstant *instant,
									 uint64_t *result, const char **why))
{
	BloomfamAnswer first = hash(type, &key->u.instant, hashes, reason);
	BfInstant	finite = key->u.instant;

	if (!key->has_second)
		return first;
	finite.epoch = BF_SINCE_1970;
	if (first != BLOOMFAM_ABSENT)
		return hash(type, &finite, hashes, reason);
	if (hash(type, &finite, hashes + 1, reason) == BLOOMFAM_ABSENT && hashes[0] != hashes[1])
		*n = 2;
	return BLOOMFAM_ABSENT;
}

/* ---- strings ---- */

/*
 * Returns the hash of a bytea that is given in hexadecimal digits, which are decoded piece by
 * piece.
 */
static uint64_t
hash_hex(const BloomfamType *type, const BfString *digits)
{
	const uint8_t *p = (const uint8_t *) digits->bytes;
	size_t		len = digits->len / 2;
	uint8_t		bytes[PIECE];
	XXH3_state_t canonical;
	XXH64_state_t plain;
	size_t		done;
	size_t		n;

	if (len <= sizeof(bytes))
	{
		(void) bf_hex_decode(p, len, bytes);
		return bf_type_is_plain(type) ? bf_plain_bytes(bytes, len) : bf_key_bytes(0, bytes, len);
	}
	XXH3_64bits_reset(&canonical);
	XXH64_reset(&plain, 0);
	for (done = 0; done < len; done += n)
	{
		n = len - done < sizeof(bytes) ? len - done : sizeof(bytes);
		(void) bf_hex_decode(p + 2 * done, n, bytes);
		if (bf_type_is_plain(type))
			XXH64_update(&plain, bytes, n);
		else
			XXH3_64bits_update(&canonical, bytes, n);
	}
	return bf_type_is_plain(type) ? XXH64_digest(&plain) : XXH3_64bits_digest(&canonical);
}

/*
 * Makes a byte of up to eight digits '0' and '1'; the first digit is the highest bit, and missing
 * digits are 0.
 */
static uint8_t
eight_bits(const char *digits, size_t n)
{
	unsigned	byte = 0;
	size_t		i;

	for (i = 0; i < 8; i++)
		byte = byte << 1 | (i < n && digits[i] == '1');
	return (uint8_t) byte;
}

/*
 * Returns the hash that bf_key_bit() gives to a bit string, for one that is given in digits, which
 * are packed piece by piece.
 */
static uint64_t
hash_bits(const BfString *digits)
{
	uint8_t		bytes[PIECE];
	XXH3_state_t state;
	size_t		len = digits->len / 8 + (digits->len % 8 != 0);
	size_t		filled = 0;
	size_t		i;

	XXH3_64bits_reset(&state);
	for (i = 0; i < len; i++)
	{
		bytes[filled++] = eight_bits(digits->bytes + 8 * i, digits->len - 8 * i);
		if (filled < sizeof(bytes) || len <= sizeof(bytes))
			continue;
		XXH3_64bits_update(&state, bytes, filled);
		filled = 0;
	}
	if (len <= sizeof(bytes))
		return bf_key_bit(0, (uint32_t) digits->len, bytes, len);
	XXH3_64bits_update(&state, bytes, filled);

	bf_key_put_le(bytes, digits->len, 4);
	bf_key_put_le(bytes + 4, XXH3_64bits_digest(&state), 8);
	return bf_hash_bytes(bytes, 12);
}

static uint64_t
hash_text(const BloomfamType *type, const char *text, size_t len)
{
	return bf_type_is_plain(type) ? bf_plain_bytes(text, len) : bf_key_text(0, text, len);
}

/* ---- any key ---- */

static BloomfamAnswer
hash_integer(const BloomfamType *type, int64_t value, uint64_t *hash, const char **reason)
{
	BfPlainColumn column;

	if (!bf_type_is_plain(type))
	{
		*hash = bf_key_int(0, value);
		return BLOOMFAM_ABSENT;
	}
	column = bf_type_plain(type);
	return bf_plain_int(&column, value, hash) ? BLOOMFAM_ABSENT
											  : impossible(not_in_column, reason);
}

static BloomfamAnswer
hash_number(const BloomfamType *type, double value, uint64_t *hash, const char **reason)
{
	BfPlainColumn column;

	if (!bf_type_is_plain(type))
	{
		*hash = bf_key_double(0, value);
		return BLOOMFAM_ABSENT;
	}
	column = bf_type_plain(type);
	return bf_plain_double(&column, value, hash) ? BLOOMFAM_ABSENT
												 : impossible(not_in_column, reason);
}

/*
 * Hashes a float that has one or two readings (as double precision, and as real).  If the filter is
 * of a Parquet column, a reading that the column cannot hold has no hash.
 */
static BloomfamAnswer
hash_float(const BloomfamType *type, const BfKey *key, uint64_t hashes[2], int *n,
		   const char **reason)
{
	BloomfamAnswer first = hash_number(type, key->u.number, hashes, reason);

	if (!key->has_second)
		return first;
	if (first != BLOOMFAM_ABSENT)
		return hash_number(type, key->second_number, hashes, reason);
	if (hash_number(type, key->second_number, hashes + 1, reason) == BLOOMFAM_ABSENT)
		*n = 2;
	return BLOOMFAM_ABSENT;
}

BloomfamAnswer
bf_key_hash(const BloomfamType *type, const BfKey *key, uint64_t hashes[2], int *n,
			const char **reason)
{
	const BfString *string = &key->u.string;

	*n = 1;
	switch (type->id)
	{
		case BLOOMFAM_TYPE_INT:
			return hash_integer(type, key->u.integer, hashes, reason);
		case BLOOMFAM_TYPE_FLOAT:
		case BLOOMFAM_TYPE_REAL:
		case BLOOMFAM_TYPE_DOUBLE:
			return hash_float(type, key, hashes, n, reason);
		case BLOOMFAM_TYPE_ANY_TEXT:
		case BLOOMFAM_TYPE_TEXT:
		case BLOOMFAM_TYPE_BPCHAR:
		case BLOOMFAM_TYPE_NAME:
			hashes[0] = hash_text(type, string->bytes, string->len);
			if (key->has_second)
			{
				hashes[1] = hash_text(type, string->bytes, key->second_len);
				*n = hashes[0] == hashes[1] ? 1 : 2;
			}
			return BLOOMFAM_ABSENT;
		case BLOOMFAM_TYPE_NUMERIC:
			return hash_decimal(type, &key->u.decimal, hashes, reason);
		case BLOOMFAM_TYPE_BOOL:
			hashes[0] = bf_key_bool(0, key->u.boolean);
			return BLOOMFAM_ABSENT;
		case BLOOMFAM_TYPE_CHAR:
			hashes[0] = bf_key_char(0, key->u.character);
			return BLOOMFAM_ABSENT;
		case BLOOMFAM_TYPE_BYTEA:
			hashes[0] = key->is_hex ? hash_hex(type, string)
						: bf_type_is_plain(type) ? bf_plain_bytes(string->bytes, string->len)
												 : bf_key_bytes(0, string->bytes, string->len);
			return BLOOMFAM_ABSENT;
		case BLOOMFAM_TYPE_UUID:
			hashes[0] = bf_type_is_plain(type) ? bf_plain_bytes(key->u.bytes, 16)
											   : bf_key_uuid(0, key->u.bytes);
			return BLOOMFAM_ABSENT;
		case BLOOMFAM_TYPE_DATE:
			return hash_instant(type, key, hashes, n, reason, hash_date);
		case BLOOMFAM_TYPE_TIME:
			return hash_time(type, &key->u.instant, hashes, reason);
		case BLOOMFAM_TYPE_TIMETZ:
			hashes[0] = bf_key_timetz(0, key->u.timetz.usecs, key->u.timetz.zone);
			return BLOOMFAM_ABSENT;
		case BLOOMFAM_TYPE_TIMESTAMP:
		case BLOOMFAM_TYPE_TIMESTAMPTZ:
			return hash_instant(type, key, hashes, n, reason, hash_timestamp);
		case BLOOMFAM_TYPE_INTERVAL:
			hashes[0] = bf_key_interval_span(0, key->u.span);
			return BLOOMFAM_ABSENT;
		case BLOOMFAM_TYPE_OID:
			hashes[0] = bf_key_4_bytes(0, (uint32_t) key->u.integer);
			return BLOOMFAM_ABSENT;
		case BLOOMFAM_TYPE_INET:
			hashes[0] = bf_key_inet(0, key->u.inet.version, key->u.inet.bits, key->u.inet.address);
			return BLOOMFAM_ABSENT;
		case BLOOMFAM_TYPE_MACADDR:
			hashes[0] = bf_key_macaddr(0, key->u.bytes);
			return BLOOMFAM_ABSENT;
		case BLOOMFAM_TYPE_MACADDR8:
			hashes[0] = bf_key_macaddr8(0, key->u.bytes);
			return BLOOMFAM_ABSENT;
		case BLOOMFAM_TYPE_PG_LSN:
			hashes[0] = bf_key_8_bytes(0, (uint64_t) key->u.integer);
			return BLOOMFAM_ABSENT;
		case BLOOMFAM_TYPE_BIT:
			hashes[0] = hash_bits(string);
			return BLOOMFAM_ABSENT;
		case BLOOMFAM_TYPE_ENUM:
			hashes[0] = bf_key_bytes(0, string->bytes, string->len);
			return BLOOMFAM_ABSENT;
		case BLOOMFAM_TYPE_ROW:
			break;
	}
	return impossible("its type is unknown", reason);
}
