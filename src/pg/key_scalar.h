/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_scalar.h
 *	  The hashers of keys of built-in types that are hashed by bytes of this module's own.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_KEY_SCALAR_H
#define BLOOMFAM_KEY_SCALAR_H

#include "pg/key.h"

/*
 * Makes the hasher of a scalar built-in type, in the current memory context.  Returns NULL for
 * other types.
 */
extern BloomfamHasher *bloomfam_scalar_hasher(Oid type);

/* Returns the family of a scalar built-in type, or NULL for other types. */
extern const char *bloomfam_scalar_family(Oid type);

/*
 * bloomfam_inner_bloomkey_hasher() makes the hasher of bloomkeys as values within another key.
 * bloomfam_bloomkey_hasher() makes that of bloomkeys as hashes, each of the key that it was made
 * of.
 */
extern BloomfamHasher *bloomfam_inner_bloomkey_hasher(void);
extern BloomfamHasher *bloomfam_bloomkey_hasher(void);

/*
 * Returns whether the hasher's hash is bf_hash_u64() of the key as an integer of 2, 4 or 8 bytes.
 */
extern bool bloomfam_hasher_is_integer(const BloomfamHasher *hasher);

#endif							/* BLOOMFAM_KEY_SCALAR_H */
