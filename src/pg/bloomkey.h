/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bloomkey.h
 *	  The SQL type bloomkey: keys that are already hashed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_BLOOMKEY_H
#define BLOOMFAM_BLOOMKEY_H

#include "pg/compat.h"

typedef struct BloomfamKey
{
	uint64		hash;
	uint64		family_id;
} BloomfamKey;

#define DatumGetBloomkeyP(d)	((BloomfamKey *) DatumGetPointer(d))

/*
 * Returns whether this is the type bloomkey of this extension.  Extensions are relocatable, so the
 * type is known by its input function.
 */
extern bool bloomfam_is_bloomkey(Oid type);

#endif							/* BLOOMFAM_BLOOMKEY_H */
