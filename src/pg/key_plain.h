/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_plain.h
 *	  Keys as Parquet has them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_KEY_PLAIN_H
#define BLOOMFAM_KEY_PLAIN_H

#include "pg/key.h"

/* The hasher for kind parquet, in the current memory context. */
extern BloomfamHasher *bloomfam_plain_hasher_make(Oid type, Oid collation);

/*
 * Tells a new hasher the typmod of its keys, which Parquet's decimals depend on; -1 if there is
 * none.
 */
extern void bloomfam_hasher_typmod(BloomfamHasher *hasher, int32 typmod);

/*
 * The family of the keys of a filter that comes from Parquet, for a key type and the type of the
 * column there; NULL: what the key type would be written as.  Into the current memory context.
 */
extern void bloomfam_plain_family(Oid type, const char *column, BfHeader *head);

/* The size of the floats that a filter's keys are in plain encoding; 0 if they are none. */
extern int bloomfam_plain_float_size(const BfHeader *head);

#endif							/* BLOOMFAM_KEY_PLAIN_H */
