/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * parse.h
 *	  Private to the library: keys from the text that the server writes.
 *
 * Reading is strict.  What is accepted means the same value to the server's input function,
 * whatever its settings, if its DateStyle is ISO or the text has no date; and all that its output
 * functions write is accepted, of dates in that style, of intervals in the styles postgres and
 * iso_8601.  Anything else is BLOOMFAM_BAD with a reason: an error, where a guess could be a wrong
 * "no".
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_LIB_PARSE_H
#define BF_LIB_PARSE_H

#include "client/lib/key.h"

/*
 * bf_parse: reads len bytes, which are untrusted and not terminated, as a key of this type.
 *
 * The key may point into the text.  Returns BLOOMFAM_ABSENT; or BLOOMFAM_IMPOSSIBLE or BLOOMFAM_BAD
 * with a reason, which completes "Reason: ...".  any_bytes: a text need not be UTF-8.  Time linear
 * in len; no memory.
 */
extern BloomfamAnswer bf_parse(const BloomfamType *type, const char *text, size_t len,
							   bool any_bytes, BfKey *key, const char **reason);

/* A text is checked: valid UTF-8 (unless any_bytes), without zero bytes. */
extern BloomfamAnswer bf_check_text(const char *text, size_t len, bool any_bytes,
									const char **reason);

/* The readers of single types, in the other parse_*.c. */
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

/* ---- what readers share ---- */

/* A place in a text, and its end. */
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

/* Goes past a character, if it is there. */
static inline bool
bf_take(BfText *text, char c)
{
	if (text->at == text->end || *text->at != c)
		return false;
	text->at++;
	return true;
}

/* Goes past a word of small letters, of whatever case, if the text goes on so. */
extern bool bf_take_word(BfText *text, const char *word);

/* Is the text this word, of whatever case? */
extern bool bf_is_word(const char *text, size_t len, const char *word);

/*
 * Reads digits, at least min and at most max of them (up to 18); false, and the text is where it
 * was, if there are fewer or more.
 */
extern bool bf_take_digits(BfText *text, int min, int max, int64_t *value);

#endif							/* BF_LIB_PARSE_H */
