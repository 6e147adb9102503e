/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_nested.h
 *	  Keys that are made of others: arrays, ranges, multiranges and rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_KEY_NESTED_H
#define BLOOMFAM_KEY_NESTED_H

#include "access/htup_details.h"
#include "access/tupdesc.h"
#include "utils/typcache.h"

#include "pg/key.h"

/*
 * Their hashers, in the current memory context, each made of those of its parts, which have to
 * live as long.
 */
extern BloomfamHasher *bloomfam_array_hasher(Oid type, Oid element_type, BloomfamHasher *element);

/* 0A000 if the range type has another equality than its subtype */
extern BloomfamHasher *bloomfam_range_hasher(TypeCacheEntry *range, BloomfamHasher *bound);
extern BloomfamHasher *bloomfam_multirange_hasher(TypeCacheEntry *range, BloomfamHasher *bound);

/*
 * type and typmod are those that rows have to have, of bloomfam_row_type(); desc is kept, and
 * columns has NULL for each dropped one.
 */
extern BloomfamHasher *bloomfam_row_hasher(Oid type, int32 typmod, TupleDesc desc,
										   BloomfamHasher **columns);

/* The type of a row, as it says itself; typmod is -1 unless it is anonymous. */
static inline void
bloomfam_row_type(HeapTupleHeader row, Oid *type, int32 *typmod)
{
	*type = HeapTupleHeaderGetTypeId(row);
	*typmod = *type == RECORDOID ? HeapTupleHeaderGetTypMod(row) : -1;
}

#endif							/* BLOOMFAM_KEY_NESTED_H */
