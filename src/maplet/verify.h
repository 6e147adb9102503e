/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * verify.h
 *	  Whether rows have one of many keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_MAPLET_VERIFY_H
#define BLOOMFAM_MAPLET_VERIFY_H

#include "access/relscan.h"
#include "access/skey.h"

#include "maplet/meta.h"

/*
 * Makes a TID of a place (BF_RUN_PLACE).  Raises an error for one that a damaged page has made: one
 * that no row of a heap can have, or that no bitmap can take.
 */
extern void bloomfam_maplet_place_to_tid(Relation index, Relation table, bool for_bitmap,
										 uint64 place, ItemPointer tid);

/* One of the keys: an element of an array, not NULL. */
typedef struct MapletElement
{
	uint64		hash;
	Datum		value;
} MapletElement;

typedef struct MapletVerifier MapletVerifier;

/*
 * For a scan by `= ANY (array)` whose elements, in the order of their hashes, stay as they are.
 * In the current memory context; holds a pin, so that it is to be ended.  NULL: it cannot be done
 * for this scan, or does not pay.
 */
extern MapletVerifier *bloomfam_maplet_verifier_make(IndexScanDesc scan, Relation table,
													 ScanKey key, const MapletMeta *meta,
													 const MapletElement *elements, Size n);

/*
 * Is there at this TID a row, that the scan's snapshot sees, whose key equals an element?  Exact:
 * neither answer needs a recheck.
 */
extern bool bloomfam_maplet_verify(MapletVerifier *verifier, ItemPointer tid);

extern void bloomfam_maplet_verifier_end(MapletVerifier *verifier);

#endif							/* BLOOMFAM_MAPLET_VERIFY_H */
