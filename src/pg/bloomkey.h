/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bloomkey.h
 *	  The type of hashed keys.
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
 * Is this the type bloomkey of this extension?  (By its input function: extensions are
 * relocatable.)
 */
extern bool bloomfam_is_bloomkey(Oid type);

#endif							/* BLOOMFAM_BLOOMKEY_H */
