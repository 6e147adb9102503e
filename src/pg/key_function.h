/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_function.h
 *	  Keys that are hashed by a function of the server or of an extension.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_KEY_FUNCTION_H
#define BLOOMFAM_KEY_FUNCTION_H

#include "pg/key.h"

/*
 * Makes a hasher of an extended hash function, which is called with the seed 0, in the current
 * memory context.  It has no family yet.
 */
extern BloomfamHasher *bloomfam_function_hasher(Oid function, Oid collation);

/* A hasher's routine: calls the function.  And the same of a string, as text. */
extern uint64 bloomfam_hash_by_function(BloomfamHasher *hasher, Datum key);
extern uint64 bloomfam_hash_string_by_function(BloomfamHasher *hasher, const char *str, Size len);

/*
 * The hasher of a type that nothing is known of but its default hash operator class, in the
 * current memory context.  42883 if it has none.
 */
extern BloomfamHasher *bloomfam_other_hasher(Oid type, Oid collation);

/* The type that this one is a relabelling of, equality and all; else itself. */
extern Oid bloomfam_key_relabelled(Oid type);

/*
 * Raises an error for a type whose keys may not be found in another database after dump and
 * restore: those of regclass and its like are there other numbers, for the same names.  Of an
 * extension's hash function it is taken for granted that it looks at no more than the text tells.
 *
 * Errors: 0A000.
 */
extern void bloomfam_key_check_lasting(Oid type);

/* Raises an error if there is no collation. */
extern void bloomfam_key_check_collation(Oid collation);

/* Raises the error for a type that cannot be hashed. */
extern void bloomfam_no_hash_error(Oid type) pg_attribute_noreturn();

#endif							/* BLOOMFAM_KEY_FUNCTION_H */
