/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * index_open.c
 *	  Opens the index that is a function's argument.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/amapi.h"
#include "access/genam.h"
#include "access/table.h"
#include "catalog/index.h"
#include "catalog/pg_authid.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "pg/index_open.h"

static bool
may_open(Oid index, BloomfamIndexUser user)
{
	return user == BLOOMFAM_INDEX_USER_CHECKED_LATER || bloomfam_owns_relation(index) ||
		(user == BLOOMFAM_INDEX_USER_MONITOR &&
		 has_privs_of_role(GetUserId(), ROLE_PG_STAT_SCAN_TABLES));
}

/*
 * Raises an error for an index of a partitioned table.  It has no pages of its own; only the
 * indexes of the partitions have.
 */
static void
refuse_partitioned(Relation rel, const char *method, ambuild_function build)
{
	if (rel->rd_rel->relkind == RELKIND_PARTITIONED_INDEX &&
		GetIndexAmRoutineByAmId(rel->rd_rel->relam, false)->ambuild == build)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is a partitioned index", RelationGetRelationName(rel)),
				 errdetail("Each partition has a %s index of its own.", method),
				 errhint("Ask each of these: SELECT relid FROM pg_partition_tree('%s') WHERE "
						 "isleaf.",
						 quote_qualified_identifier(
							 get_namespace_name(RelationGetNamespace(rel)),
							 RelationGetRelationName(rel)))));
}

void
bloomfam_index_open(Oid index, const char *method, ambuild_function build, LOCKMODE lockmode,
					BloomfamIndexUser user, BloomfamOpenIndex *opened)
{
	Oid			table = IndexGetRelation(index, true);
	Relation	rel;

	if (get_rel_name(index) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", index)));
	if (!OidIsValid(table))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a %s index", get_rel_name(index), method)));
	if (!may_open(index, user))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of index %s", get_rel_name(index)),
				 user == BLOOMFAM_INDEX_USER_MONITOR
				 ? errhint("Members of the role pg_stat_scan_tables may read it as well.")
				 : 0));

	/* Lock the table before the index, as the server does. */
	opened->lockmode = lockmode;
	opened->table = table_open(table, lockmode);
	opened->index = rel = index_open(index, lockmode);
	refuse_partitioned(rel, method, build);
	if (rel->rd_rel->relkind != RELKIND_INDEX ||
		rel->rd_indam->ambuild != build ||
		rel->rd_index->indrelid != table)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a %s index", RelationGetRelationName(rel),
						method)));
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
bloomfam_index_close(BloomfamOpenIndex *opened)
{
	index_close(opened->index, opened->lockmode);
	table_close(opened->table, opened->lockmode);
}
