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
#include "utils/syscache.h"

#include "pg/index.h"

/* Did the transaction that made this row of a catalog end before all snapshots from xmin on? */
static bool
row_precedes(HeapTuple row, TransactionId xmin)
{
	return TransactionIdPrecedes(HeapTupleHeaderGetXmin(row->t_data), xmin);
}

/*
 * A primary's build leaves out rows that are dead to all of its own snapshots.  A standby's may be
 * older, and see them: of what it sees, an index that was built behind its back lacks what was
 * deleted before.  With a snapshot that was taken when the build had been committed it is whole:
 * what that sees was not deleted then.  The row of pg_index is as old as CREATE INDEX or younger,
 * that of pg_class as REINDEX or TRUNCATE.  A promotion does not make old snapshots known.
 */
bool
bloomfam_index_is_complete(Relation index, TransactionId xmin)
{
	bool		of_standby = TransactionStartedDuringRecovery();
	HeapTuple	row;
	bool		result;

	if (!of_standby && !index->rd_index->indcheckxmin)
		return true;
	if (!row_precedes(index->rd_indextuple, xmin))
		return false;
	if (!of_standby)
		return true;
	row = SearchSysCache1(RELOID, ObjectIdGetDatum(RelationGetRelid(index)));
	if (!HeapTupleIsValid(row))
		elog(ERROR, "cache lookup failed for relation %u", RelationGetRelid(index));
	result = row_precedes(row, xmin);
	ReleaseSysCache(row);
	return result;
}
