/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * index.c
 *	  Finds out whether an index has all rows that a snapshot sees.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "access/xact.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "pg/index.h"

/*
 * Returns whether the transaction that made this row of a catalog had ended when the snapshot was
 * taken, or is the snapshot's own.
 */
static bool
row_precedes(HeapTuple row, Snapshot snapshot)
{
	TransactionId xid = HeapTupleHeaderGetXmin(row->t_data);

	return TransactionIdIsCurrentTransactionId(xid) || !XidInMVCCSnapshot(xid, snapshot);
}

/*
 * A build leaves out rows that are dead to all snapshots that its server knows of.  A standby's
 * snapshots are older, and see such rows; they stay so after a promotion, and where they are
 * exported.  If a snapshot was taken after the build was committed, the index is complete for it:
 * no row that the snapshot sees was deleted before.  The server's own indcheckxmin tells about
 * versions that were updated within their page, and must be asked for all snapshots of the
 * transaction.  ALTER TABLE resets it when it keeps the index's file, and makes a row that is
 * younger than the old snapshots.
 *
 * The row of pg_index is as old as CREATE INDEX or younger, and that of pg_class as REINDEX or
 * TRUNCATE.
 */
bool
bloomfam_index_is_complete(Relation index, Snapshot snapshot)
{
	HeapTuple	row = index->rd_indextuple;
	bool		result;

	if (!IsMVCCSnapshot(snapshot) || !row_precedes(row, snapshot) ||
		(index->rd_index->indcheckxmin &&
		 !TransactionIdPrecedes(HeapTupleHeaderGetXmin(row->t_data), TransactionXmin)))
		return false;
	row = SearchSysCache1(RELOID, ObjectIdGetDatum(RelationGetRelid(index)));
	if (!HeapTupleIsValid(row))
		elog(ERROR, "cache lookup failed for relation %u", RelationGetRelid(index));
	result = row_precedes(row, snapshot);
	ReleaseSysCache(row);
	return result;
}
