/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * permission.c
 *	  What the planner may read to sample a join.
 *
 * Reading may neither tell anybody what they may not see, nor leave anything behind that reading in
 * the query would not.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "parser/parsetree.h"
#include "utils/acl.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"

#include "sampling/permission.h"

static const char hidden[] = "a policy or a security barrier hides rows";

/*
 * Is this query, or one that it is part of, planned as a subplan of an expression?  The server
 * compares alternatives of such subplans by counting without the loops around them, so that a size
 * which is right makes it take the worse one.  It plans them before the query around them has an
 * array of relations.  So it does with CTEs, but in order, before all others: while one is planned
 * the list of their plans is shorter than the list of CTEs.
 */
static bool
is_of_expression(const PlannerInfo *root)
{
	for (; root->parent_root != NULL; root = root->parent_root)
		if (root->parent_root->simple_rel_array == NULL &&
			list_length(root->parent_root->cte_plan_ids) >=
				list_length(root->parent_root->parse->cteList))
			return true;
	return false;
}

/* Is this query, or may it be, behind a security barrier? */
static bool
is_behind_barrier(const PlannerInfo *root)
{
	const PlannerInfo *parent;
	ListCell   *lc;

	for (parent = root->parent_root; parent != NULL; parent = parent->parent_root)
		foreach(lc, parent->parse->rtable)
			if (lfirst_node(RangeTblEntry, lc)->security_barrier)
				return true;
	return false;
}

const char *
bloomfam_sample_query_forbidden(PlannerInfo *root)
{
	/* in a serializable transaction reading would leave predicate locks */
	if (!ActiveSnapshotSet() || TransactionIdIsValid(CheckXidAlive) || HistoricSnapshotActive() ||
		!IsMVCCSnapshot(GetActiveSnapshot()) || IsParallelWorker() || IsInParallelMode() ||
		IsolationIsSerializable())
		return "the transaction is serializable, or may not be read in while it plans";
	if (root->hasLateralRTEs || is_of_expression(root))
		return "the query has LATERAL, or is the subplan of an expression";
	if (root->qual_security_level > 0 || is_behind_barrier(root))
		return hidden;
	return NULL;
}

/* May a user select these columns? */
static bool
may_select(Oid table, const Bitmapset *columns, Oid user)
{
	int			column = -1;

	if (pg_class_aclcheck(table, user, ACL_SELECT) == ACLCHECK_OK)
		return true;
	while ((column = bms_next_member(columns, column)) >= 0)
		if (pg_attribute_aclcheck(table, column, user, ACL_SELECT) != ACLCHECK_OK)
			return false;
	return columns != NULL;
}

/*
 * The server checks the same rights before it estimates by the values of other rows.  Here is one
 * check more: rows of a view's owner are not sampled for a user who may not select all of them, as
 * conditions of the view may hide rows, and be none that are evaluated.
 */
const char *
bloomfam_sample_forbidden(PlannerInfo *root, const RelOptInfo *rel, const Bitmapset *columns,
						  bool partitioned)
{
	const RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);
	const char *no_table = "a relation is not a table whose rows can be read here";
	Relation	relation;
	bool		readable;

	if (rte->securityQuals != NIL ||
		check_enable_rls(rte->relid, GetUserId(), true) == RLS_ENABLED)
		return hidden;
	if (columns != NULL &&
		(!may_select(rte->relid, columns, GetUserId()) ||
		 (OidIsValid(rel->userid) && !may_select(rte->relid, columns, rel->userid))))
		return "there is no right to select";
	if (rte->tablesample == NULL && rte->inh && partitioned)
		return NULL;
	if (rte->tablesample != NULL || rte->inh ||
		(rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW))
		return no_table;
	relation = table_open(rte->relid, NoLock);
	readable = relation->rd_rel->relam == HEAP_TABLE_AM_OID && !RELATION_IS_OTHER_TEMP(relation) &&
		RelationIsPopulated(relation);
	table_close(relation, NoLock);
	return readable ? NULL : no_table;
}
