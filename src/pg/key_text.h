/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_text.h
 *	  Keys that are texts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_KEY_TEXT_H
#define BLOOMFAM_KEY_TEXT_H

#include "pg/key.h"

/* Is this text, varchar, bpchar, name, or an untyped literal? */
extern bool bloomfam_is_text(Oid type);

/* The hasher of such a type under a collation, in the current memory context. */
extern BloomfamHasher *bloomfam_text_hasher(Oid type, Oid collation);

#endif							/* BLOOMFAM_KEY_TEXT_H */
