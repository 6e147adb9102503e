/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * error.h
 *	  Private to the library: functions that fill in an error.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_LIB_ERROR_H
#define BF_LIB_ERROR_H

#include "client/bloomfam.h"
#include "core/bf.h"

/*
 * Makes the compiler check a function's arguments against its format, which is its argument number
 * "at", as for printf().  Messages are in lower case, as the server's style guide asks.
 */
#define BF_FORMAT(at)	__attribute__((format(printf, at, at + 1)))

/*
 * bf_fail: Fills in an error, which may be NULL, and returns the given status.  The detail and hint
 * are empty afterwards; bf_detail() and bf_hint() set them.  The arguments may be hostile:
 * unprintable characters are replaced.
 */
extern BloomfamStatus bf_fail(BloomfamError *error, BloomfamStatus status, const char *format, ...)
	BF_FORMAT(3);
extern void bf_detail(BloomfamError *error, const char *format, ...) BF_FORMAT(2);
extern void bf_hint(BloomfamError *error, const char *format, ...) BF_FORMAT(2);

/*
 * Writes len bytes as a printable text into room bytes at to.  The text is UTF-8, ends with a zero
 * byte, has '?' in place of control characters and invalid bytes, and is cut at a character's end
 * if it does not fit.
 */
extern void bf_clean(char *to, size_t room, const char *bytes, size_t len);

/* Formats a false positive rate with a decimal point, in any locale; returns room. */
#define BF_RATE_ROOM	32
extern const char *bf_rate(double fpr, char room[BF_RATE_ROOM]);

/*
 * Writes the name of the family of a filter's keys, as bf_clean() does.  Writes the family's number
 * if the name is unknown, and "(none)" if there is no family.  Returns room.
 */
#define BF_FAMILY_ROOM	256
extern const char *bf_family_text(const BfHeader *head, char room[BF_FAMILY_ROOM]);

/*
 * Returns the length of the UTF-8 character at the beginning of the bytes, 1 to 4; 0 if they are
 * not a valid character.  Accepts what the server accepts: no surrogates, no overlong forms,
 * nothing above U+10FFFF.
 */
extern size_t bf_utf8_length(const char *bytes, size_t len);

#endif							/* BF_LIB_ERROR_H */
