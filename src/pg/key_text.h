/*-------------------------------------------------------------------------
 *
 * key_text.h
 *	  Keys that are texts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_KEY_TEXT_H
#define BLOOMFAM_KEY_TEXT_H

#include "mb/pg_wchar.h"

#include "pg/key.h"

/* Are the database's bytes to be hashed as they are?  SQL_ASCII does not say what they mean. */
static inline bool
encoding_is_plain(void)
{
	return GetDatabaseEncoding() == PG_UTF8 || GetDatabaseEncoding() == PG_SQL_ASCII;
}

/* Is this text, varchar, bpchar, name, or an untyped literal? */
extern bool bloomfam_is_text(Oid type);

/* The hasher of such a type under a collation, in the current memory context. */
extern BloomfamHasher *bloomfam_text_hasher(Oid type, Oid collation);

/* Hashes characters of the database's encoding as UTF-8. */
extern uint64 bloomfam_hash_string(const char *str, int len);

#endif							/* BLOOMFAM_KEY_TEXT_H */
