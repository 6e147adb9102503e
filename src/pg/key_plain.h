/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_plain.h
 *	  The hasher of keys as Parquet has them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_KEY_PLAIN_H
#define BLOOMFAM_KEY_PLAIN_H

#include "pg/key.h"

/* Makes the hasher for filters of kind parquet, in the current memory context. */
extern BloomfamHasher *bloomfam_plain_hasher_make(Oid type, Oid collation);

/*
 * Tells a new hasher the typmod of its keys, on which decimals in Parquet depend; -1 if there is
 * none.
 */
extern void bloomfam_hasher_typmod(BloomfamHasher *hasher, int32 typmod);

/*
 * Sets the key family of a filter that comes from Parquet, by the type of keys and the column's
 * type there.  If column is NULL, it is the type that the keys would be written as.  Allocates
 * memory in the current context.
 */
extern void bloomfam_plain_family(Oid type, const char *column, BfHeader *head);

/* Returns the size of a filter's keys in plain encoding if they are floats, and otherwise 0. */
extern int bloomfam_plain_float_size(const BfHeader *head);

#endif							/* BLOOMFAM_KEY_PLAIN_H */
