/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * index.c
 *	  Which rows an index is known to have.
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
 * Had the transaction that made this row of a catalog ended when a snapshot was taken, or is it the
 * snapshot's own?
 */
static bool
row_precedes(HeapTuple row, Snapshot snapshot)
{
	TransactionId xid = HeapTupleHeaderGetXmin(row->t_data);

	return TransactionIdIsCurrentTransactionId(xid) || !XidInMVCCSnapshot(xid, snapshot);
}

/*
 * A build leaves out rows that are dead to all snapshots that its server knows of.  A standby's are
 * older, and see such rows; they stay what they are after a promotion, and where they are exported.
 * With a snapshot that was taken when the build had been committed it is whole: what that sees was
 * not deleted then.  Of versions that were updated within their page the server's own indcheckxmin
 * tells, and asks for all snapshots of the transaction; ALTER TABLE forgets it where it keeps the
 * index's file, and is then younger than the old snapshots itself.
 *
 * The row of pg_index is as old as CREATE INDEX or younger, that of pg_class as REINDEX or
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
