/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * parse_net.c
 *	  Keys from text: network addresses; see parse.h.
 *
 *-------------------------------------------------------------------------
 */
#include "client/lib/parse.h"

#include "client/lib/form.h"

static const char no_inet[] = "it is not an address such as 10.1.2.3/8 or 2001:db8::1";
static const char no_macaddr[] = "it is not hexadecimal digits such as 08:00:2b:01:02:03";

/* Reads a decimal number without leading zeros, from 0 to max. */
static bool
take_decimal(BfText *text, int64_t max, int64_t *value)
{
	bool		zero = text->at < text->end && *text->at == '0';
	const char *begin = text->at;

	return bf_take_digits(text, 1, 3, value) && *value <= max && !(zero && text->at - begin > 1);
}

static bool
take_ipv4(BfText *text, uint8_t address[4])
{
	int			i;

	for (i = 0; i < 4; i++)
	{
		int64_t		value;

		if ((i > 0 && !bf_take(text, '.')) || !take_decimal(text, 255, &value))
			return false;
		address[i] = (uint8_t) value;
	}
	return true;
}

/* Reads a group of an IPv6 address: one to four hexadecimal digits. */
static bool
take_group(BfText *text, unsigned *value)
{
	int			n;

	*value = 0;
	for (n = 0; text->at < text->end && bf_hex_digits[(uint8_t) *text->at] <= 15; n++)
	{
		if (n == 4)
			return false;
		*value = *value << 4 | bf_hex_digits[(uint8_t) *text->at++];
	}
	return n > 0;
}

/*
 * Reads an IPv6 address: eight groups.  "::" may replace groups that are zero, and the last two
 * groups may be an IPv4 address.
 */
static bool
take_ipv6(BfText *text, uint8_t address[16])
{
	uint8_t		bytes[16];
	size_t		n = 0;
	/* Offset of the bytes that "::" replaces; SIZE_MAX: there is no "::". */
	size_t		gap = SIZE_MAX;

	if (text->end - text->at >= 2 && text->at[0] == ':' && text->at[1] == ':')
	{
		gap = 0;
		text->at += 2;
	}
	while (n < sizeof(bytes))
	{
		BfText		begin = *text;
		unsigned	value;

		/* The address may end without a further group only right after "::". */
		if (!take_group(text, &value))
		{
			if (gap == n && (text->at == text->end || *text->at == '/'))
				break;
			return false;
		}
		if (text->at < text->end && *text->at == '.')
		{
			*text = begin;
			if (n > sizeof(bytes) - 4 || !take_ipv4(text, bytes + n))
				return false;
			n += 4;
			break;
		}
		bytes[n++] = (uint8_t) (value >> 8);
		bytes[n++] = (uint8_t) value;
		if (text->at == text->end || *text->at == '/')
			break;
		if (n == sizeof(bytes) || !bf_take(text, ':'))
			return false;
		if (bf_take(text, ':'))
		{
			if (gap != SIZE_MAX)
				return false;
			gap = n;
		}
	}
	if ((gap == SIZE_MAX) != (n == sizeof(bytes)))
		return false;
	if (gap == SIZE_MAX)
		gap = n;
	memset(address, 0, sizeof(bytes));
	memcpy(address, bytes, gap);
	memcpy(address + sizeof(bytes) - (n - gap), bytes + gap, n - gap);
	return true;
}

BloomfamAnswer
bf_parse_inet(const char *text, size_t len, BfKey *key, const char **reason)
{
	BfText		rest = {text, text + len};
	BfInet	   *inet = &key->u.inet;
	int64_t		bits;

	memset(inet, 0, sizeof(*inet));
	inet->version = memchr(text, ':', len) != NULL ? 6 : 4;
	bits = inet->version == 4 ? 32 : 128;
	if (!(inet->version == 4 ? take_ipv4(&rest, inet->address)
							 : take_ipv6(&rest, inet->address)) ||
		(bf_take(&rest, '/') && !take_decimal(&rest, bits, &bits)) || rest.at != rest.end)
		return bf_bad(no_inet, reason);
	inet->bits = (uint8_t) bits;
	return BLOOMFAM_ABSENT;
}

/*
 * Reads n pairs of hexadecimal digits.  The pairs are separated by ':' throughout, by '-'
 * throughout, or not at all.
 */
static BloomfamAnswer
read_macaddr(const char *text, size_t len, size_t n, uint8_t *bytes, const char **reason)
{
	BfText		rest = {text, text + len};
	char		mark = len > 2 && (text[2] == ':' || text[2] == '-') ? text[2] : '\0';
	size_t		i;

	for (i = 0; i < n; i++)
	{
		if (i > 0 && mark != '\0' && !bf_take(&rest, mark))
			return bf_bad(no_macaddr, reason);
		if (rest.end - rest.at < 2 ||
			bf_hex_decode((const uint8_t *) rest.at, 1, bytes + i) == 0)
			return bf_bad(no_macaddr, reason);
		rest.at += 2;
	}
	return rest.at == rest.end ? BLOOMFAM_ABSENT : bf_bad(no_macaddr, reason);
}

BloomfamAnswer
bf_parse_macaddr(const char *text, size_t len, BfKey *key, const char **reason)
{
	return read_macaddr(text, len, 6, key->u.bytes, reason);
}

BloomfamAnswer
bf_parse_macaddr8(const char *text, size_t len, BfKey *key, const char **reason)
{
	return read_macaddr(text, len, 8, key->u.bytes, reason);
}
