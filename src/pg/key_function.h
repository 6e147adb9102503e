/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_function.h
 *	  The hasher of keys that are hashed by a function of the server or of an extension.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_KEY_FUNCTION_H
#define BLOOMFAM_KEY_FUNCTION_H

#include "pg/key.h"

/*
 * Makes a hasher that calls an extended hash function with the seed 0, in the current memory
 * context.  The hasher has no family yet.
 */
extern BloomfamHasher *bloomfam_function_hasher(Oid function, Oid collation);

/*
 * bloomfam_hash_by_function() is the hasher's routine, which calls the function with a key.
 * bloomfam_hash_string_by_function() calls it with a string, as text.
 */
extern uint64 bloomfam_hash_by_function(BloomfamHasher *hasher, Datum key);
extern uint64 bloomfam_hash_string_by_function(BloomfamHasher *hasher, const char *str, Size len);

/*
 * Makes the hasher of a type of which only its default hash operator class is known, in the current
 * memory context.  Raises the error 42883 if the type has none.
 */
extern BloomfamHasher *bloomfam_other_hasher(Oid type, Oid collation);

/*
 * Returns the type that this type relabels, if it has that type's equality, too; otherwise this
 * type.
 */
extern Oid bloomfam_key_relabelled(Oid type);

/*
 * Raises the error 0A000 for a type whose keys may not be found in another database after dump and
 * restore.  For example, values of regclass are other numbers there, for the same names.  It is
 * assumed that an extension's hash function depends only on what the value's text says.
 */
extern void bloomfam_key_check_lasting(Oid type);

/* Raises the error 42P22 if a key that needs a collation has none. */
extern void bloomfam_key_check_collation(Oid collation);

/* Raises the error for a type that cannot be hashed. */
extern void bloomfam_no_hash_error(Oid type) pg_attribute_noreturn();

#endif							/* BLOOMFAM_KEY_FUNCTION_H */
