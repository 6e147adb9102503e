/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * error.h
 *	  Private to the library: how an error is filled in.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_LIB_ERROR_H
#define BF_LIB_ERROR_H

#include "client/bloomfam.h"
#include "core/bf.h"

/* A message in lower case, as the server's style guide wants it; formats as of printf(). */
#define BF_FORMAT(at)	__attribute__((format(printf, at, at + 1)))

/*
 * bf_fail: fills in an error, which may be NULL, and returns its status.  Detail and hint are
 * empty then; the two below add to it.  What is formatted may be hostile: it is cleaned.
 */
extern BloomfamStatus bf_fail(BloomfamError *error, BloomfamStatus status, const char *format, ...)
	BF_FORMAT(3);
extern void bf_detail(BloomfamError *error, const char *format, ...) BF_FORMAT(2);
extern void bf_hint(BloomfamError *error, const char *format, ...) BF_FORMAT(2);

/*
 * Makes of len bytes a terminated text that may be printed: UTF-8, control characters and odd bytes
 * as '?', cut at a character's end where it has no room.
 */
extern void bf_clean(char *to, size_t room, const char *bytes, size_t len);

/* A rate as text, whatever the locale. */
#define BF_RATE_ROOM	32
extern const char *bf_rate(double fpr, char room[BF_RATE_ROOM]);

/* The name of a filter's family as bf_clean() has it, or what else is known of it. */
#define BF_FAMILY_ROOM	256
extern const char *bf_family_text(const BfHeader *head, char room[BF_FAMILY_ROOM]);

/*
 * The length of the character of UTF-8 that begins here, 1 to 4 bytes; 0 if none does.  What the
 * server takes: no surrogates, nothing longer than it must be, nothing above U+10FFFF.
 */
extern size_t bf_utf8_length(const char *bytes, size_t len);

#endif							/* BF_LIB_ERROR_H */
