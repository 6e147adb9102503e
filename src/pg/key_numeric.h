/*-------------------------------------------------------------------------
 *
 * key_numeric.h
 *	  A numeric as it is stored.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_KEY_NUMERIC_H
#define BLOOMFAM_KEY_NUMERIC_H

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

/* A number: a sign, and digits of base 10000, neither the first nor the last of which is zero. */
typedef struct NumericDigits
{
	uint16		special;		/* NUM_SPECIAL_* of what is none; else 0 */
	bool		negative;
	int32		weight;			/* the power of 10000 of the first digit */
	size_t		ndigits;		/* 0: zero */
	const char *digits;			/* points into the value */
} NumericDigits;

static inline uint16
numeric_digit(const NumericDigits *number, size_t i)
{
	return get_u16(number->digits + i * sizeof(uint16));
}

static inline void
read_numeric(const struct varlena *value, NumericDigits *number)
{
	const char *data = VARDATA_ANY(value);
	const char *end = data + VARSIZE_ANY_EXHDR(value);
	uint16		first = get_u16(data);

	memset(number, 0, sizeof(*number));
	data += sizeof(uint16);
	if ((first & NUM_FORM_MASK) == NUM_FORM_SPECIAL)
	{
		number->special = first & NUM_SPECIAL_MASK;
		return;
	}
	if ((first & NUM_FORM_MASK) == NUM_FORM_SHORT)
	{
		number->negative = (first & NUM_SHORT_NEGATIVE) != 0;
		number->weight = first & NUM_SHORT_WEIGHT_MASK;
		if (first & NUM_SHORT_WEIGHT_SIGN)
			number->weight -= NUM_SHORT_WEIGHT_MASK + 1;
	}
	else
	{
		number->negative = (first & NUM_LONG_NEGATIVE) != 0;
		number->weight = (int16) get_u16(data);
		data += sizeof(int16);
	}

	/* numeric.c strips zero digits itself, but does not rely on it when it compares */
	number->ndigits = (end - data) / sizeof(uint16);
	while (number->ndigits > 0 && get_u16(data) == 0)
	{
		data += sizeof(uint16);
		number->ndigits--;
		number->weight--;
	}
	while (number->ndigits > 0 && get_u16(data + (number->ndigits - 1) * sizeof(uint16)) == 0)
		number->ndigits--;
	number->digits = data;
}

#endif							/* BLOOMFAM_KEY_NUMERIC_H */
