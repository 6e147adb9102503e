/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * parse.c
 *	  Keys from the text that the server writes: the choice of a reader, and the simple readers; see
 *	  parse.h.
 *
 *-------------------------------------------------------------------------
 */
#include "client/lib/parse.h"

#include "client/lib/form.h"

static const char bad_utf8[] = "it is not valid UTF-8";
static const char zero_byte[] = "it has a zero byte, which no text has";
static const char not_hex[] = "it is not \\x and an even number of hexadecimal digits";

/* The maximum length of an enum's label in bytes. */
#define LABEL_BYTES		63

/* ---- functions for all readers ---- */

static inline char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char) (c + 'a' - 'A') : c;
}

bool
bf_take_word(BfText *text, const char *word)
{
	size_t		len = strlen(word);
	size_t		i;

	if ((size_t) (text->end - text->at) < len)
		return false;
	for (i = 0; i < len; i++)
		if (lower(text->at[i]) != word[i])
			return false;
	text->at += len;
	return true;
}

bool
bf_is_word(const char *text, size_t len, const char *word)
{
	BfText		rest = {text, text + len};

	return bf_take_word(&rest, word) && rest.at == rest.end;
}

bool
bf_take_digits(BfText *text, int min, int max, int64_t *value)
{
	const char *p = text->at;
	int64_t		sum = 0;

	for (; p < text->end && bf_is_digit(*p); p++)
	{
		if (p - text->at == max)
			return false;
		sum = sum * 10 + (*p - '0');
	}
	if (p - text->at < min)
		return false;
	*value = sum;
	text->at = p;
	return true;
}

/* ---- texts ---- */

#define HIGH_BITS	UINT64_C(0x8080808080808080)
#define LOW_BITS	UINT64_C(0x0101010101010101)

BloomfamAnswer
bf_check_text(const char *text, size_t len, bool any_bytes, const char **reason)
{
	size_t		i = 0;

	while (i < len)
	{
		size_t		n;

		/* Skip eight ASCII characters at a time if none of them is zero. */
		if (len - i >= 8)
		{
			uint64_t	word;

			memcpy(&word, text + i, 8);
			if (((word | ~((word | HIGH_BITS) - LOW_BITS)) & HIGH_BITS) == 0)
			{
				i += 8;
				continue;
			}
		}
		if (text[i] == '\0')
		{
			*reason = zero_byte;
			return BLOOMFAM_IMPOSSIBLE;
		}
		n = bf_utf8_length(text + i, len - i);
		if (n == 0 && !any_bytes)
			return bf_bad(bad_utf8, reason);
		i += n > 0 ? n : 1;
	}
	return BLOOMFAM_ABSENT;
}

static BloomfamAnswer
parse_text(const char *text, size_t len, BfKey *key, const char **reason)
{
	(void) reason;
	key->u.string.bytes = text;
	key->u.string.len = len;
	return BLOOMFAM_ABSENT;
}

static BloomfamAnswer
parse_name(const char *text, size_t len, BfKey *key, const char **reason)
{
	if (!bf_name_is_sure(text, len))
		return bf_bad("of a name that is longer than 63 bytes, and not all ASCII, the server's "
					  "encoding says where it is cut",
					  reason);
	return parse_text(text, bf_name_length(text, len), key, reason);
}

static BloomfamAnswer
parse_any_text(const char *text, size_t len, BfKey *key, const char **reason)
{
	key->second_len = bf_name_length(text, len);
	key->has_second = key->second_len < len;
	return parse_text(text, len, key, reason);
}

static BloomfamAnswer
parse_enum(const char *text, size_t len, BfKey *key, const char **reason)
{
	if (len == 0 || len > LABEL_BYTES)
		return bf_bad("no label of an enum is empty, or longer than 63 bytes", reason);
	return parse_text(text, len, key, reason);
}

/* ---- other simple types ---- */

static BloomfamAnswer
parse_bool(const char *text, size_t len, BfKey *key, const char **reason)
{
	static const char *const words[2][6] = {{"f", "false", "n", "no", "off", "0"},
											{"t", "true", "y", "yes", "on", "1"}};
	size_t		i;

	for (i = 0; i < 12; i++)
		if (bf_is_word(text, len, words[i % 2][i / 2]))
		{
			key->u.boolean = i % 2 == 1;
			return BLOOMFAM_ABSENT;
		}
	return bf_bad("it is not t, f, true or false", reason);
}

static BloomfamAnswer
parse_char(const char *text, size_t len, BfKey *key, const char **reason)
{
	if (len > 1)
		return bf_bad("it is not a single byte", reason);
	key->u.character = len == 1 ? text[0] : '\0';
	return BLOOMFAM_ABSENT;
}

static BloomfamAnswer
parse_bytea(const char *text, size_t len, BfKey *key, const char **reason)
{
	size_t		i;

	if (len < 2 || len % 2 != 0 || text[0] != '\\' || text[1] != 'x')
		return bf_bad(not_hex, reason);
	for (i = 2; i < len; i++)
		if (bf_hex_digits[(uint8_t) text[i]] > 15)
			return bf_bad(not_hex, reason);
	key->is_hex = true;
	return parse_text(text + 2, len - 2, key, reason);
}

/*
 * Reads a UUID: 32 hexadecimal digits, optionally in braces, with an optional hyphen after each
 * group of four digits but the last.
 */
static BloomfamAnswer
parse_uuid(const char *text, size_t len, BfKey *key, const char **reason)
{
	static const char no_uuid[] = "it is not 32 hexadecimal digits with hyphens";
	BfText		rest = {text, text + len};
	bool		braces = bf_take(&rest, '{');
	size_t		i;

	for (i = 0; i < 16; i++)
	{
		if (rest.end - rest.at < 2 ||
			bf_hex_decode((const uint8_t *) rest.at, 1, key->u.bytes + i) == 0)
			return bf_bad(no_uuid, reason);
		rest.at += 2;
		if (i % 2 == 1 && i < 15)
			(void) bf_take(&rest, '-');
	}
	if (braces && !bf_take(&rest, '}'))
		return bf_bad(no_uuid, reason);
	return rest.at == rest.end ? BLOOMFAM_ABSENT : bf_bad(no_uuid, reason);
}

/* Reads one to eight hexadecimal digits. */
static bool
take_hex32(BfText *text, uint32_t *value)
{
	int			n = 0;

	*value = 0;
	for (; text->at < text->end && bf_hex_digits[(uint8_t) *text->at] <= 15; text->at++)
	{
		if (++n > 8)
			return false;
		*value = *value << 4 | bf_hex_digits[(uint8_t) *text->at];
	}
	return n > 0;
}

static BloomfamAnswer
parse_pg_lsn(const char *text, size_t len, BfKey *key, const char **reason)
{
	BfText		rest = {text, text + len};
	uint32_t	high;
	uint32_t	low;

	if (!take_hex32(&rest, &high) || !bf_take(&rest, '/') || !take_hex32(&rest, &low) ||
		rest.at != rest.end)
		return bf_bad("it is not two hexadecimal numbers with a slash between", reason);
	key->u.integer = (int64_t) ((uint64_t) high << 32 | low);
	return BLOOMFAM_ABSENT;
}

static BloomfamAnswer
parse_bit(const char *text, size_t len, BfKey *key, const char **reason)
{
	size_t		i;

	for (i = 0; i < len; i++)
		if (text[i] != '0' && text[i] != '1')
			return bf_bad("there are other digits than 0 and 1", reason);
	if (len > INT32_MAX - 8)
		return bf_bad("it is longer than any bit string", reason);
	return parse_text(text, len, key, reason);
}

/* ---- the reader of each type ---- */

static const BfReader readers[] = {
	[BLOOMFAM_TYPE_INT] = bf_parse_int,
	[BLOOMFAM_TYPE_FLOAT] = bf_parse_float,
	[BLOOMFAM_TYPE_REAL] = bf_parse_real,
	[BLOOMFAM_TYPE_DOUBLE] = bf_parse_double,
	[BLOOMFAM_TYPE_ANY_TEXT] = parse_any_text,
	[BLOOMFAM_TYPE_TEXT] = parse_text,
	[BLOOMFAM_TYPE_BPCHAR] = parse_text,
	[BLOOMFAM_TYPE_NAME] = parse_name,
	[BLOOMFAM_TYPE_NUMERIC] = bf_parse_numeric,
	[BLOOMFAM_TYPE_BOOL] = parse_bool,
	[BLOOMFAM_TYPE_CHAR] = parse_char,
	[BLOOMFAM_TYPE_BYTEA] = parse_bytea,
	[BLOOMFAM_TYPE_UUID] = parse_uuid,
	[BLOOMFAM_TYPE_DATE] = bf_parse_date,
	[BLOOMFAM_TYPE_TIME] = bf_parse_time,
	[BLOOMFAM_TYPE_TIMETZ] = bf_parse_timetz,
	[BLOOMFAM_TYPE_TIMESTAMP] = bf_parse_timestamp,
	[BLOOMFAM_TYPE_TIMESTAMPTZ] = bf_parse_timestamptz,
	[BLOOMFAM_TYPE_INTERVAL] = bf_parse_interval,
	[BLOOMFAM_TYPE_OID] = bf_parse_oid,
	[BLOOMFAM_TYPE_INET] = bf_parse_inet,
	[BLOOMFAM_TYPE_MACADDR] = bf_parse_macaddr,
	[BLOOMFAM_TYPE_MACADDR8] = bf_parse_macaddr8,
	[BLOOMFAM_TYPE_PG_LSN] = parse_pg_lsn,
	[BLOOMFAM_TYPE_BIT] = parse_bit,
	[BLOOMFAM_TYPE_ENUM] = parse_enum,
};

BloomfamAnswer
bf_parse(const BloomfamType *type, const char *text, size_t len, bool any_bytes, BfKey *key,
		 const char **reason)
{
	bool		is_text = false;

	key->has_second = false;
	key->is_hex = false;
	switch (type->id)
	{
		case BLOOMFAM_TYPE_ANY_TEXT:
		case BLOOMFAM_TYPE_TEXT:
		case BLOOMFAM_TYPE_BPCHAR:
		case BLOOMFAM_TYPE_NAME:
		case BLOOMFAM_TYPE_ENUM:
			is_text = true;
			break;
		default:
			break;
	}
	if (is_text)
	{
		BloomfamAnswer answer = bf_check_text(text, len, any_bytes, reason);

		if (answer != BLOOMFAM_ABSENT)
			return answer;
	}
	return readers[type->id](text, len, key, reason);
}
