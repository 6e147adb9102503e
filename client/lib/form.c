/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * form.c
 *	  The forms in which filters are read and written; see form.h.
 *
 * COPY's binary format has numbers in big-endian order.  It begins with a signature of 11 bytes,
 * flags, the length of a header extension, and that extension.  Then come the rows: each has the
 * number of its fields (2 bytes), and for each field a length (4 bytes, -1: NULL) and the field's
 * bytes.  At the end is -1 in 2 bytes.
 *
 *-------------------------------------------------------------------------
 */
#include "client/lib/form.h"

static const uint8_t copy_signature[11] = "PGCOPY\n\377\r\n";

const uint8_t bf_copy_trailer[BF_COPY_TRAILER] = {0xff, 0xff};

/*
 * The flags of COPY's binary format that a reader must understand.  The only one defined is for
 * OIDs of rows, which no supported server writes.
 */
#define COPY_CRITICAL	UINT32_C(0xffff0000)

const uint8_t bf_hex_digits[256] = {
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 255, 255, 255, 255, 255, 255,
	255, 10, 11, 12, 13, 14, 15, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 10, 11, 12, 13, 14, 15, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
};

static inline uint32_t
big_endian(const uint8_t *p, int len)
{
	uint32_t	value = 0;
	int			i;

	for (i = 0; i < len; i++)
		value = value << 8 | p[i];
	return value;
}

static BloomfamStatus
not_found(BloomfamError *error, const char *reason)
{
	(void) bf_fail(error, BLOOMFAM_INVALID, "invalid bloom filter");
	bf_detail(error, "Reason: %s.", reason);
	return BLOOMFAM_INVALID;
}

/* Finds the value in a file of COPY in binary format, which must have one row with one field. */
static BloomfamStatus
find_in_copy(const uint8_t *p, size_t len, BfFound *found, BloomfamError *error)
{
	uint64_t	extension;
	uint64_t	value;

	if (len < BF_COPY_HEADER)
		return not_found(error, "the file of COPY in binary format is cut off");
	if (big_endian(p + sizeof(copy_signature), 4) & COPY_CRITICAL)
		return not_found(error, "the file of COPY in binary format has unknown flags");
	extension = big_endian(p + sizeof(copy_signature) + 4, 4);
	p += BF_COPY_HEADER;
	len -= BF_COPY_HEADER;
	if (extension > len || len - extension < 2)
		return not_found(error, "the file of COPY in binary format is cut off");
	p += extension;
	len -= extension;

	if (big_endian(p, 2) == 0xffff)
		return not_found(error, "the file of COPY in binary format has no row");
	if (big_endian(p, 2) != 1)
		return not_found(error, "the file of COPY in binary format has another number of columns "
								"than one");
	if (len < BF_COPY_FIELD)
		return not_found(error, "the file of COPY in binary format is cut off");
	value = big_endian(p + 2, 4);
	p += BF_COPY_FIELD;
	len -= BF_COPY_FIELD;
	if (value == UINT32_MAX)
		return not_found(error, "it is NULL");
	if (value > len || len - value < BF_COPY_TRAILER)
		return not_found(error, "the file of COPY in binary format is cut off");
	if (memcmp(p + value, bf_copy_trailer, BF_COPY_TRAILER) != 0)
		return not_found(error, "the file of COPY in binary format has more than one row");
	if (len - value > BF_COPY_TRAILER)
		return not_found(error, "something follows the end of COPY's binary format");
	found->form = BLOOMFAM_COPY_BINARY;
	found->bytes = p;
	found->len = (size_t) value;
	return BLOOMFAM_OK;
}

/*
 * Finds the hexadecimal digits of a filter in text form; the digits begin after skip bytes of
 * prefix.
 */
static BloomfamStatus
find_digits(BloomfamForm form, size_t skip, const uint8_t *p, size_t len, BfFound *found,
			BloomfamError *error)
{
	if (p[len - 1] == '\n')
		len--;
	if (p[len - 1] == '\r')
		len--;
	if ((len - skip) % 2 != 0)
		return not_found(error, "the number of hexadecimal digits is odd");
	found->form = form;
	found->bytes = p + skip;
	found->len = len - skip;
	return BLOOMFAM_OK;
}

BloomfamStatus
bf_form_find(const void *bytes, size_t len, BfFound *found, BloomfamError *error)
{
	const uint8_t *p = bytes;

	if (len == 0)
		return not_found(error, "it is empty");
	if (len >= 4 && memcmp(p, "bfam", 4) == 0)
	{
		found->form = BLOOMFAM_RAW;
		found->bytes = p;
		found->len = len;
		return BLOOMFAM_OK;
	}
	if (len >= 2 && memcmp(p, "\\x", 2) == 0)
		return find_digits(BLOOMFAM_HEX, 2, p, len, found, error);
	if (len >= 3 && memcmp(p, "\\\\x", 3) == 0)
		return find_digits(BLOOMFAM_COPY_TEXT, 3, p, len, found, error);
	if (len >= sizeof(copy_signature) && memcmp(p, copy_signature, sizeof(copy_signature)) == 0)
		return find_in_copy(p, len, found, error);
	if (len >= 2 && memcmp(p, "\\N", 2) == 0)
		return not_found(error, "it is NULL");
	(void) not_found(error, "the value does not begin as a filter does");
	if (len >= 2 && p[0] == 0x1f && p[1] == 0x8b)
		bf_hint(error, "Decompress it first.");
	else
		bf_hint(error, "Filters are read as bytes, as psql -At prints them, and as COPY writes "
					   "them, in text or binary format.");
	return BLOOMFAM_INVALID;
}

size_t
bf_hex_decode(const uint8_t *digits, size_t n, uint8_t *to)
{
	size_t		i;

	for (i = 0; i < n; i++)
	{
		unsigned	high = bf_hex_digits[digits[2 * i]];
		unsigned	low = bf_hex_digits[digits[2 * i + 1]];

		if ((high | low) > 15)
			break;
		to[i] = (uint8_t) (high << 4 | low);
	}
	return i;
}

void
bf_hex_encode(const uint8_t *bytes, size_t n, char *to)
{
	static const char digits[] = "0123456789abcdef";
	size_t		i;

	for (i = 0; i < n; i++)
	{
		to[2 * i] = digits[bytes[i] >> 4];
		to[2 * i + 1] = digits[bytes[i] & 15];
	}
}

static void
put_big_endian(uint8_t *to, uint32_t value, int len)
{
	while (len-- > 0)
	{
		to[len] = (uint8_t) value;
		value >>= 8;
	}
}

void
bf_copy_begin(uint8_t to[BF_COPY_HEADER + BF_COPY_FIELD], size_t len)
{
	memset(to, 0, BF_COPY_HEADER);
	memcpy(to, copy_signature, sizeof(copy_signature));
	put_big_endian(to + BF_COPY_HEADER, 1, 2);
	put_big_endian(to + BF_COPY_HEADER + 2, (uint32_t) len, 4);
}
