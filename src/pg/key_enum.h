/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_enum.h
 *	  Keys that are of an enum.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_KEY_ENUM_H
#define BLOOMFAM_KEY_ENUM_H

#include "pg/key.h"

/* The hasher of an enum, in the current memory context. */
extern BloomfamHasher *bloomfam_enum_hasher(Oid type);

#endif							/* BLOOMFAM_KEY_ENUM_H */
