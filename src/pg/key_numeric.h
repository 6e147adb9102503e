/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_numeric.h
 *	  A numeric as it is stored.
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

	memcpy(&value, bytes, sizeof(value));	/* a packed varlena's data have no alignment */
	return value;
}

/*
 * The stored form of a numeric is private to numeric.c, but frozen: pg_upgrade keeps tables as
 * they are.  It is 16-bit words. The highest bits of the first tell three forms apart: 11 a
 * special value; 10 a short one, with sign, scale and weight all in that word; else a long one,
 * whose weight is the second word.  Then come the digits.  The scale for display is not part of
 * the value.
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
 * Reads a stored numeric, whose digits stay where they are.  numeric.c strips zero digits itself,
 * but does not rely on it when it compares; nor does keys/numeric.h.
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
