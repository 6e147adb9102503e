/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * parse.h
 *	  Private to the library: keys read from the text that the server writes.
 *
 * Reading is strict.  A text that is accepted means the same value to the server's input function
 * with any settings, as long as DateStyle is ISO or the text has no date.  Everything that the
 * server's output functions write is accepted, for dates in DateStyle ISO and for intervals in the
 * styles postgres and iso_8601.  Any other text is BLOOMFAM_BAD with a reason: a guess could lead
 * to a false negative, so it is an error instead.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_LIB_PARSE_H
#define BF_LIB_PARSE_H

#include "client/lib/key.h"

/*
 * bf_parse: Reads len bytes of text as a key of the given type.  The bytes are untrusted and not
 * terminated.
 *
 * The key may point into the text.  Returns BLOOMFAM_ABSENT; or BLOOMFAM_IMPOSSIBLE or BLOOMFAM_BAD
 * with a reason, which completes "Reason: ...".  With any_bytes, a text need not be valid UTF-8.
 * Takes time linear in len, and allocates no memory.
 */
extern BloomfamAnswer bf_parse(const BloomfamType *type, const char *text, size_t len,
							   bool any_bytes, BfKey *key, const char **reason);

/* Checks that a text has no zero bytes and, unless any_bytes, that it is valid UTF-8. */
extern BloomfamAnswer bf_check_text(const char *text, size_t len, bool any_bytes,
									const char **reason);

/* The readers of single types; these are in parse_number.c, parse_time.c and parse_net.c. */
typedef BloomfamAnswer (*BfReader) (const char *text, size_t len, BfKey *key,
									const char **reason);

extern BloomfamAnswer bf_parse_int(const char *text, size_t len, BfKey *key, const char **reason);
extern BloomfamAnswer bf_parse_oid(const char *text, size_t len, BfKey *key, const char **reason);
extern BloomfamAnswer bf_parse_real(const char *text, size_t len, BfKey *key,
									const char **reason);
extern BloomfamAnswer bf_parse_double(const char *text, size_t len, BfKey *key,
									  const char **reason);
extern BloomfamAnswer bf_parse_float(const char *text, size_t len, BfKey *key,
									 const char **reason);
extern BloomfamAnswer bf_parse_numeric(const char *text, size_t len, BfKey *key,
									   const char **reason);
extern BloomfamAnswer bf_parse_date(const char *text, size_t len, BfKey *key,
									const char **reason);
extern BloomfamAnswer bf_parse_time(const char *text, size_t len, BfKey *key,
									const char **reason);
extern BloomfamAnswer bf_parse_timetz(const char *text, size_t len, BfKey *key,
									  const char **reason);
extern BloomfamAnswer bf_parse_timestamp(const char *text, size_t len, BfKey *key,
										 const char **reason);
extern BloomfamAnswer bf_parse_timestamptz(const char *text, size_t len, BfKey *key,
										   const char **reason);
extern BloomfamAnswer bf_parse_interval(const char *text, size_t len, BfKey *key,
										const char **reason);
extern BloomfamAnswer bf_parse_inet(const char *text, size_t len, BfKey *key,
									const char **reason);
extern BloomfamAnswer bf_parse_macaddr(const char *text, size_t len, BfKey *key,
									   const char **reason);
extern BloomfamAnswer bf_parse_macaddr8(const char *text, size_t len, BfKey *key,
										const char **reason);

/* ---- functions for all readers ---- */

/* A position in a text, and the text's end. */
typedef struct BfText
{
	const char *at;
	const char *end;
} BfText;

static inline BloomfamAnswer
bf_bad(const char *why, const char **reason)
{
	*reason = why;
	return BLOOMFAM_BAD;
}

static inline bool
bf_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool
bf_at_digit(const BfText *text)
{
	return text->at < text->end && bf_is_digit(*text->at);
}

/* Skips the next character if it is c.  Returns whether it was. */
static inline bool
bf_take(BfText *text, char c)
{
	if (text->at == text->end || *text->at != c)
		return false;
	text->at++;
	return true;
}

/*
 * Skips a word, given in lower case, if it is next in the text in upper or lower case.  Returns
 * whether it was.
 */
extern bool bf_take_word(BfText *text, const char *word);

/* Returns whether the text is the given word, in upper or lower case. */
extern bool bf_is_word(const char *text, size_t len, const char *word);

/*
 * Reads all digits that are next in the text.  Returns false, and leaves the position unchanged, if
 * they are fewer than min or more than max, which is at most 18.
 */
extern bool bf_take_digits(BfText *text, int min, int max, int64_t *value);

#endif							/* BF_LIB_PARSE_H */
