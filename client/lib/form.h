/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * form.h
 *	  Private to the library: the forms in which a value comes and goes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_LIB_FORM_H
#define BF_LIB_FORM_H

#include "client/lib/error.h"

/* A value found in bytes of some form. */
typedef struct BfFound
{
	BloomfamForm form;
	const uint8_t *bytes;		/* the value, or the digits that stand for it */
	size_t		len;
} BfFound;

/*
 * bf_form_find: finds the value in untrusted bytes, and checks what is around it.
 *
 * Constant time.  Whether the digits of a hex form are such, and the value is a filter, is not
 * looked at.  Fails with BLOOMFAM_INVALID.
 */
extern BloomfamStatus bf_form_find(const void *bytes, size_t len, BfFound *found,
								   BloomfamError *error);

/* Do digits stand for the value? */
static inline bool
bf_form_is_hex(BloomfamForm form)
{
	return form == BLOOMFAM_HEX || form == BLOOMFAM_COPY_TEXT;
}

/*
 * bf_hex_decode: 2 n digits, of either case, as n bytes; returns how many bytes it could write,
 * fewer than n where something is no digit.
 */
extern size_t bf_hex_decode(const uint8_t *digits, size_t n, uint8_t *to);

/* The value of a hex digit; 255 for what is none. */
extern const uint8_t bf_hex_digits[256];

/* bf_hex_encode: n bytes as 2 n digits in lower case. */
extern void bf_hex_encode(const uint8_t *bytes, size_t n, char *to);

#define BF_COPY_HEADER		(11 + 4 + 4)	/* signature, flags, length of the extension */
#define BF_COPY_FIELD		(2 + 4)	/* fields of a row, length of one */
#define BF_COPY_TRAILER		2

/* What is before a value of len bytes in COPY's binary form, and what is behind it. */
extern void bf_copy_begin(uint8_t to[BF_COPY_HEADER + BF_COPY_FIELD], size_t len);
extern const uint8_t bf_copy_trailer[BF_COPY_TRAILER];

#endif							/* BF_LIB_FORM_H */
