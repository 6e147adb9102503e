/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_utf8.h
 *	  Converts texts of the database to UTF-8.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_KEY_UTF8_H
#define BLOOMFAM_KEY_UTF8_H

#include "mb/pg_wchar.h"

#include "pg/compat.h"

/*
 * Returns whether the database's bytes are hashed without conversion.  They are in UTF-8, and also
 * in SQL_ASCII, which does not say what the bytes mean.
 */
static inline bool
bloomfam_utf8_is_plain(void)
{
	return GetDatabaseEncoding() == PG_UTF8 || GetDatabaseEncoding() == PG_SQL_ASCII;
}

/*
 * Returns whether texts of the database can be had in UTF-8: the server has a conversion, or none
 * is needed.
 */
extern bool bloomfam_utf8_exists(void);

/*
 * Returns a text in UTF-8, and its length there.  Returns the text itself if it is in UTF-8
 * already, and otherwise a palloc'd string with a zero at its end.  Raises the error 22P05 if a
 * character has no such form; the message does not show the character.
 */
extern char *bloomfam_utf8_from_server(const char *str, int len, size_t *utf8_len);

#endif							/* BLOOMFAM_KEY_UTF8_H */
