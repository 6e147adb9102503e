/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * index.h
 *	  Which rows an index is known to have.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_INDEX_H
#define BLOOMFAM_INDEX_H

#include "utils/rel.h"
#include "utils/snapshot.h"

/*
 * Has a valid index an entry for each row that a snapshot of this transaction sees?  false: it
 * cannot be known.
 *
 * After CREATE INDEX it may lack older versions of rows that were updated within their page before,
 * and rows that were deleted before and that only a standby's snapshot sees.  The index is open.
 * What says that a key is nowhere in a table by an index must ask this first: where this said true
 * wrongly, rows would be lost.
 */
extern bool bloomfam_index_is_complete(Relation index, Snapshot snapshot);

#endif							/* BLOOMFAM_INDEX_H */
