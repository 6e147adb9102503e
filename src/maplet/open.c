/*-------------------------------------------------------------------------
 *
 * open.c
 *	  A maplet index that a function is given.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_authid.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "maplet/maplet.h"
#include "maplet/open.h"

static bool
may_open(Oid index, MapletUser user)
{
	return user == MAPLET_USER_CHECKED_LATER || bloomfam_owns_relation(index) ||
		(user == MAPLET_USER_MONITOR &&
		 has_privs_of_role(GetUserId(), ROLE_PG_STAT_SCAN_TABLES));
}

void
bloomfam_maplet_open(Oid index, LOCKMODE lockmode, MapletUser user, MapletOpened *opened)
{
	Oid			table = IndexGetRelation(index, true);
	Relation	rel;

	if (!OidIsValid(table))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a maplet index",
						get_rel_name(index) != NULL ? get_rel_name(index) : "(dropped)")));
	if (!may_open(index, user))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_INDEX, get_rel_name(index));

	/* the table first, as everybody */
	opened->lockmode = lockmode;
	opened->table = table_open(table, lockmode);
	opened->index = rel = index_open(index, lockmode);
	if (rel->rd_rel->relkind != RELKIND_INDEX ||
		rel->rd_indam->ambuild != bloomfam_maplet_build ||
		rel->rd_index->indrelid != table)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a maplet index", RelationGetRelationName(rel))));
	if (RELATION_IS_OTHER_TEMP(rel))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary indexes of other sessions")));
	if (!rel->rd_index->indisvalid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not valid", RelationGetRelationName(rel))));
}

void
bloomfam_maplet_close(MapletOpened *opened)
{
	index_close(opened->index, opened->lockmode);
	table_close(opened->table, opened->lockmode);
}

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
bloomfam_maplet_is_complete(Relation index, TransactionId xmin)
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
