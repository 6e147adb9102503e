/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * index.h
 *	  Finds out whether an index has all rows that a snapshot sees.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_INDEX_H
#define BLOOMFAM_INDEX_H

#include "utils/rel.h"
#include "utils/snapshot.h"

/*
 * Returns whether a valid index has an entry for each row that a snapshot of this transaction sees.
 * The index must be open.  Returns false if that cannot be known.
 *
 * After CREATE INDEX, an index may lack older versions of rows that were updated within their page
 * before, and rows that were deleted before and that only a standby's snapshot sees.  Code that
 * concludes from an index that a key is nowhere in its table must call this function first.  A
 * wrong result of true would lose rows.
 */
extern bool bloomfam_index_is_complete(Relation index, Snapshot snapshot);

#endif							/* BLOOMFAM_INDEX_H */
