/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_utf8.h
 *	  Texts of the database in UTF-8.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_KEY_UTF8_H
#define BLOOMFAM_KEY_UTF8_H

#include "mb/pg_wchar.h"

#include "pg/compat.h"

/* Are the database's bytes to be hashed as they are?  SQL_ASCII does not say what they mean. */
static inline bool
bloomfam_utf8_is_plain(void)
{
	return GetDatabaseEncoding() == PG_UTF8 || GetDatabaseEncoding() == PG_SQL_ASCII;
}

/* Has the server a conversion from the database's encoding, or no need of one? */
extern bool bloomfam_utf8_exists(void);

/*
 * A text in UTF-8, and its length there: the text itself if it is that already, else palloc'd and
 * with a zero at its end.  22P05 if a character has no such form; the message does not show it.
 */
extern char *bloomfam_utf8_from_server(const char *str, int len, size_t *utf8_len);

#endif							/* BLOOMFAM_KEY_UTF8_H */
