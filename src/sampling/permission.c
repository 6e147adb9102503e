/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * permission.c
 *	  Checks what the planner may read to sample a join.
 *
 * Sampling must not tell anybody what they may not see, and must not leave anything behind that the
 * query's own reading would not.
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
 * Returns whether this query, or one that it is part of, is planned as the subplan of an
 * expression.  The server compares alternatives of such subplans without counting the loops around
 * them, so that a size which is right makes it take the worse alternative.  It plans the subplans
 * before the query around them has an array of relations.  It also plans CTEs before that, but in
 * order and before all subplans: while a CTE is planned, the list of the CTEs' plans is shorter
 * than the list of CTEs.
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

/* Returns whether this query is, or may be, behind a security barrier. */
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
	/* In a serializable transaction, reading would leave predicate locks. */
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

/* Returns whether a user may select these columns. */
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
 * The server checks the same rights before it uses the values of other rows for an estimate.  One
 * check is added: rows that are read with the rights of a view's owner are not sampled for a user
 * who may not select all of them.  Conditions of the view may hide rows, and may not be among those
 * evaluated.
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
