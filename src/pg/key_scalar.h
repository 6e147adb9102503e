/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_scalar.h
 *	  Keys of built-in types with bytes of their own.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_KEY_SCALAR_H
#define BLOOMFAM_KEY_SCALAR_H

#include "pg/key.h"

/* The hasher of such a type, in the current memory context; NULL for other types. */
extern BloomfamHasher *bloomfam_scalar_hasher(Oid type);

/* The family of such a type; NULL for other types. */
extern const char *bloomfam_scalar_family(Oid type);

/* Of bloomkeys: as values within another key, or each for the key that it is the hash of. */
extern BloomfamHasher *bloomfam_inner_bloomkey_hasher(void);
extern BloomfamHasher *bloomfam_bloomkey_hasher(void);

/* Is its hash bf_hash_u64() of the key as an integer, of which the type has 2, 4 or 8 bytes? */
extern bool bloomfam_hasher_is_integer(const BloomfamHasher *hasher);

#endif							/* BLOOMFAM_KEY_SCALAR_H */
