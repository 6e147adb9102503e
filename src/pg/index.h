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

/*
 * Has a valid index an entry for each row that a snapshot sees, of the current transaction and with
 * this xmin?  false: it cannot be known.
 *
 * After CREATE INDEX it may lack older versions of rows that were updated within their page before,
 * and on a standby also rows that were deleted before.  The index is open.  What says that a key is
 * nowhere in a table by an index must ask this first: false where it was true loses rows.
 */
extern bool bloomfam_index_is_complete(Relation index, TransactionId xmin);

#endif							/* BLOOMFAM_INDEX_H */
