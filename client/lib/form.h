/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * form.h
 *	  Private to the library: the forms in which filters are read and written.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_LIB_FORM_H
#define BF_LIB_FORM_H

#include "client/lib/error.h"

/* The place of a filter within bytes of some form. */
typedef struct BfFound
{
	BloomfamForm form;
	/* The filter's bytes in the raw and COPY binary forms, or its hexadecimal digits. */
	const uint8_t *bytes;
	size_t		len;
} BfFound;

/*
 * bf_form_find: Finds the filter in untrusted bytes, and checks what is around it.
 *
 * Takes constant time.  Does not check that the hex forms consist of hexadecimal digits, or that
 * the bytes are a filter.  Fails with BLOOMFAM_INVALID.
 */
extern BloomfamStatus bf_form_find(const void *bytes, size_t len, BfFound *found,
								   BloomfamError *error);

/* Returns whether a form consists of hexadecimal digits. */
static inline bool
bf_form_is_hex(BloomfamForm form)
{
	return form == BLOOMFAM_HEX || form == BLOOMFAM_COPY_TEXT;
}

/*
 * bf_hex_decode: Decodes 2 n hexadecimal digits, in upper or lower case, to n bytes.  Returns the
 * number of bytes written, which is below n if one of the characters is not a digit.
 */
extern size_t bf_hex_decode(const uint8_t *digits, size_t n, uint8_t *to);

/* The value of each hexadecimal digit; 255 for any other character. */
extern const uint8_t bf_hex_digits[256];

/* bf_hex_encode: Writes n bytes as 2 n hexadecimal digits in lower case. */
extern void bf_hex_encode(const uint8_t *bytes, size_t n, char *to);

/* COPY's binary header: signature, flags, and the length of the header's extension. */
#define BF_COPY_HEADER		(11 + 4 + 4)
/* What precedes the value in a row of COPY binary: number of fields, and the field's length. */
#define BF_COPY_FIELD		(2 + 4)
#define BF_COPY_TRAILER		2

/*
 * bf_copy_begin() writes what precedes a value of len bytes in COPY's binary format;
 * bf_copy_trailer is what follows the value.
 */
extern void bf_copy_begin(uint8_t to[BF_COPY_HEADER + BF_COPY_FIELD], size_t len);
extern const uint8_t bf_copy_trailer[BF_COPY_TRAILER];

#endif							/* BF_LIB_FORM_H */
