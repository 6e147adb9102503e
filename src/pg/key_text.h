/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_text.h
 *	  The hasher of keys that are texts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_KEY_TEXT_H
#define BLOOMFAM_KEY_TEXT_H

#include "pg/key.h"

/* Returns whether this is the type text, varchar, bpchar or name, or that of an untyped literal. */
extern bool bloomfam_is_text(Oid type);

/* Makes the hasher of a type of texts under a collation, in the current memory context. */
extern BloomfamHasher *bloomfam_text_hasher(Oid type, Oid collation);

#endif							/* BLOOMFAM_KEY_TEXT_H */
