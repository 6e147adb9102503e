/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * verify.h
 *	  Checks whether rows have one of many keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_MAPLET_VERIFY_H
#define BLOOMFAM_MAPLET_VERIFY_H

#include "access/relscan.h"
#include "access/skey.h"

#include "maplet/meta.h"

/*
 * Makes a TID of a place (BF_RUN_PLACE).  Raises an error if no row of a heap can have the TID, or
 * no bitmap can take it: such a place comes from a damaged page.
 */
extern void bloomfam_maplet_place_to_tid(Relation index, Relation table, bool for_bitmap,
										 uint64 place, ItemPointer tid);

/* One value that an index scan has for a column, which is not NULL, and its hash in the column. */
typedef struct MapletElement
{
	uint64		hash;
	Datum		value;
} MapletElement;

/*
 * The condition of an index scan on one column: the elements of `= ANY (array)`, or the one value
 * of `=`, in the order of their hashes.
 */
typedef struct MapletCondition
{
	ScanKey		key;
	MapletElement *elements;
	Size		n;
} MapletCondition;

typedef struct MapletVerifier MapletVerifier;

/*
 * Makes a verifier for a scan by `= ANY (array)`, in the current memory context.  There is a
 * condition for each column of the index, and n keys meet all of them.  The conditions must stay
 * unchanged as long as the verifier is used.  The verifier holds a pin, so it must be ended.
 * Returns NULL if the scan's rows cannot be verified, or if it does not pay.
 */
extern MapletVerifier *bloomfam_maplet_verifier_make(IndexScanDesc scan, Relation table,
													 const MapletCondition *conditions,
													 const MapletMeta *meta, Size n);

/*
 * Returns whether there is a row at this TID that the scan's snapshot sees and that meets all
 * conditions.  Both answers are exact and need no recheck.
 */
extern bool bloomfam_maplet_verify(MapletVerifier *verifier, ItemPointer tid);

extern void bloomfam_maplet_verifier_end(MapletVerifier *verifier);

#endif							/* BLOOMFAM_MAPLET_VERIFY_H */
