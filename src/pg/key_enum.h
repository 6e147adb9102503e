/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_enum.h
 *	  The hasher of keys that are enum values.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_KEY_ENUM_H
#define BLOOMFAM_KEY_ENUM_H

#include "pg/key.h"

/* Makes the hasher of an enum type, in the current memory context. */
extern BloomfamHasher *bloomfam_enum_hasher(Oid type);

#endif							/* BLOOMFAM_KEY_ENUM_H */
