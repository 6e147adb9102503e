/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_numeric.h
 *	  Reads a numeric from its stored form.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_KEY_NUMERIC_H
#define BLOOMFAM_KEY_NUMERIC_H

#include "keys/numeric.h"
#include "pg/compat.h"

static inline uint16
get_u16(const char *bytes)
{
	uint16		value;

	memcpy(&value, bytes, sizeof(value));	/* The data of a packed varlena are not aligned. */
	return value;
}

/*
 * The stored form of a numeric is private to numeric.c, but cannot change, as pg_upgrade keeps
 * tables as they are.  It consists of 16-bit words.  The highest bits of the first word tell three
 * forms apart: 11 is a special value; 10 is a short form, which has sign, scale and weight in that
 * word; anything else is a long form, whose weight is the second word.  Then come the digits.  The
 * scale is for display, and is not part of the value.
 */
#define NUM_FORM_MASK			0xC000
#define NUM_FORM_SPECIAL		0xC000
#define NUM_FORM_SHORT			0x8000
#define NUM_LONG_NEGATIVE		0x4000
#define NUM_SPECIAL_MASK		0xF000
#define NUM_SPECIAL_NAN			0xC000
#define NUM_SPECIAL_INF			0xD000
#define NUM_SHORT_NEGATIVE		0x2000
#define NUM_SHORT_WEIGHT_SIGN	0x0040
#define NUM_SHORT_WEIGHT_MASK	0x003F

/*
 * Reads a stored numeric into *number, which points to the stored digits. numeric.c strips zero
 * digits, but does not rely on that when it compares, and neither does keys/numeric.h.
 */
static inline void
read_numeric(const struct varlena *value, BfNumeric *number)
{
	const char *data = VARDATA_ANY(value);
	const char *end = data + VARSIZE_ANY_EXHDR(value);
	uint16		first = get_u16(data);

	memset(number, 0, sizeof(*number));
	data += sizeof(uint16);
	if ((first & NUM_FORM_MASK) == NUM_FORM_SPECIAL)
	{
		uint16		special = first & NUM_SPECIAL_MASK;

		number->sign = special == NUM_SPECIAL_NAN	? BF_NUMERIC_NAN
					   : special == NUM_SPECIAL_INF ? BF_NUMERIC_INFINITY
													: BF_NUMERIC_MINUS_INFINITY;
		return;
	}
	if ((first & NUM_FORM_MASK) == NUM_FORM_SHORT)
	{
		if (first & NUM_SHORT_NEGATIVE)
			number->sign = BF_NUMERIC_NEGATIVE;
		number->weight = first & NUM_SHORT_WEIGHT_MASK;
		if (first & NUM_SHORT_WEIGHT_SIGN)
			number->weight -= NUM_SHORT_WEIGHT_MASK + 1;
	}
	else
	{
		if (first & NUM_LONG_NEGATIVE)
			number->sign = BF_NUMERIC_NEGATIVE;
		number->weight = (int16) get_u16(data);
		data += sizeof(int16);
	}
	number->ndigits = (end - data) / sizeof(uint16);
	number->digits = data;
}

#endif							/* BLOOMFAM_KEY_NUMERIC_H */
