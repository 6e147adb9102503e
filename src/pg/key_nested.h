/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_nested.h
 *	  The hashers of keys that consist of other values: arrays, ranges, multiranges and rows.
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
 * Returns whether a range type compares its bounds by the equality of their type.  It does not if
 * its operator class is another one than the default, which the bounds' hash function follows.
 */
extern bool bloomfam_range_has_default_equality(const TypeCacheEntry *range);

/*
 * Make the hashers of arrays, ranges, multiranges and rows, in the current memory context.  Each is
 * made of the hashers of its parts, which must live as long.
 */
extern BloomfamHasher *bloomfam_array_hasher(Oid type, Oid element_type, BloomfamHasher *element);

/* Raises the error 0A000 if the range type has another equality than its subtype. */
extern BloomfamHasher *bloomfam_range_hasher(TypeCacheEntry *range, BloomfamHasher *bound);
extern BloomfamHasher *bloomfam_multirange_hasher(TypeCacheEntry *range, BloomfamHasher *bound);

/*
 * Makes the hasher of rows, which must have this type and typmod (bloomfam_row_type()). desc is
 * kept, and columns[] has NULL for each dropped column.
 */
extern BloomfamHasher *bloomfam_row_hasher(Oid type, int32 typmod, TupleDesc desc,
										   BloomfamHasher **columns);

/* Gets the type of a row, as the row itself says. typmod is -1 unless the row is anonymous. */
static inline void
bloomfam_row_type(HeapTupleHeader row, Oid *type, int32 *typmod)
{
	*type = HeapTupleHeaderGetTypeId(row);
	*typmod = *type == RECORDOID ? HeapTupleHeaderGetTypMod(row) : -1;
}

#endif							/* BLOOMFAM_KEY_NESTED_H */
