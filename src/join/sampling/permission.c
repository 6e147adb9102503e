/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * permission.c
 *	  What the planner may read of a relation to estimate a join, and what it may evaluate.
 *
 * Reading may neither tell anybody what they may not see, nor fail where the query itself would
 * not, nor leave anything behind that reading in the query would not.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/parallel.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_class_d.h"
#include "catalog/pg_proc_d.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "join/base/column.h"
#include "join/sampling/permission.h"
#include "pg/compat.h"

/* Longer constants, as lists of them, are not evaluated. */
#define LONGEST_CONSTANT	8192

/* Nor are longer patterns: each of their bytes may be compared with each one of a value. */
#define LONGEST_PATTERN		64

/* Nor are conditions that have more columns, constants, operators and lists than these. */
#define MOST_NODES			200

/*
 * Is this query, or one that it is part of, planned as a subplan of an expression?  These are
 * planned before the query around them has an array of relations.  So are CTEs, but in order,
 * before all others: while one is planned the list of their plans is shorter than that of CTEs.
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

/* Is it, or may it be, what is behind a security barrier? */
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
bloomfam_join_sampling_forbidden(PlannerInfo *root)
{
	if (!ActiveSnapshotSet() || TransactionIdIsValid(CheckXidAlive) || HistoricSnapshotActive() ||
		!IsMVCCSnapshot(GetActiveSnapshot()))
		return "there is no snapshot of the query";
	if (IsParallelWorker() || IsInParallelMode())
		return "it is planned within a parallel query";
	/* reading would leave predicate locks */
	if (IsolationIsSerializable())
		return "the transaction is serializable";
	if (root->hasLateralRTEs)
		return "the query has LATERAL";
	if (is_of_expression(root))
		return "the query is the subplan of an expression";
	if (root->qual_security_level > 0)
		return "a policy or a security barrier hides rows";
	if (is_behind_barrier(root))
		return "the query has a view that is a security barrier";
	return NULL;
}

/* May the user select these columns? */
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
 * What the server itself checks before it estimates by the values of other rows; and more: rows of
 * a view's owner are not sampled for who may not select them himself.  The view's conditions may
 * hide them, and be none that are evaluated.
 */
const char *
bloomfam_join_columns_forbidden(PlannerInfo *root, RelOptInfo *rel, Bitmapset *columns)
{
	const RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);

	if (rte->securityQuals != NIL)
		return "a policy or a security barrier hides rows";
	if (!may_select(rte->relid, columns, GetUserId()) ||
		(OidIsValid(rel->userid) && !may_select(rte->relid, columns, rel->userid)))
		return "there is no right to select";
	return NULL;
}

const char *
bloomfam_join_probe_forbidden(PlannerInfo *root, RelOptInfo *rel)
{
	const RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);

	if (rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW &&
		rte->relkind != RELKIND_PARTITIONED_TABLE)
		return "there is a relation that is no table";
	if (rte->tablesample != NULL)
		return "there is a TABLESAMPLE";
	/* the statistics are those of all partitions together */
	if (rel->nparts > 0 && bms_num_members(rel->live_parts) < rel->nparts)
		return "partitions were pruned";
	return NULL;
}

const char *
bloomfam_join_search_forbidden(PlannerInfo *root, RelOptInfo *rel, Relation relation)
{
	const RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);

	if (rte->inh || (rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW) ||
		relation->rd_rel->relam != HEAP_TABLE_AM_OID)
		return "the table to be searched is not a heap";
	if (rte->tablesample != NULL)
		return "there is a TABLESAMPLE";
	if (RELATION_IS_OTHER_TEMP(relation) || !RelationIsPopulated(relation))
		return "the table to be searched cannot be read";
	return NULL;
}

const text *
bloomfam_join_like_pattern(const OpExpr *expr, Oid function)
{
	const Node *pattern = list_length(expr->args) == 2 ? lsecond(expr->args) : NULL;

	if (function != F_TEXTLIKE && function != F_TEXTNLIKE && function != F_BPCHARLIKE &&
		function != F_BPCHARNLIKE)
		return NULL;
	if (pattern == NULL || !IsA(pattern, Const) || ((const Const *) pattern)->constisnull)
		return NULL;
	return DatumGetTextPP(((const Const *) pattern)->constvalue);
}

/*
 * LIKE can fail by its pattern's last backslash, and by nothing else.  A pattern with a backslash
 * anywhere is refused: whether it is the last depends on the encoding.
 */
static bool
is_safe_like(const OpExpr *expr, Oid function)
{
	const text *pattern = bloomfam_join_like_pattern(expr, function);

	return pattern != NULL && VARSIZE_ANY_EXHDR(pattern) <= LONGEST_PATTERN &&
		   memchr(VARDATA_ANY(pattern), '\\', VARSIZE_ANY_EXHDR(pattern)) == NULL;
}

/* Its result may differ, it may fail or tell of its arguments, or it may not be called. */
static bool
is_unsafe_function(Oid function, void *context)
{
	const OpExpr *expr = context;

	if (func_volatile(function) != PROVOLATILE_IMMUTABLE || !bloomfam_may_execute(function))
		return true;
	return !get_func_leakproof(function) && (expr == NULL || !is_safe_like(expr, function));
}

/*
 * May a function fail by its collation?  Some take none that is not deterministic, and columns of
 * different collations have none in common.
 */
static bool
is_unsafe_collation(Node *node, List *args)
{
	Oid			collation = exprInputCollation(node);
	ListCell   *lc;

	if (OidIsValid(collation))
		return !get_collation_isdeterministic(collation);
	foreach(lc, args)
		if (type_is_collatable(exprType(lfirst(lc))))
			return true;
	return false;
}

/* Constants as long as these take time to evaluate, for each row, and to be kept. */
static bool
is_long(const Const *value)
{
	return !value->constisnull && value->constlen == -1 &&
		   toast_raw_datum_size(value->constvalue) > LONGEST_CONSTANT;
}

/* A function that an operator does not name: that of a list which is looked up by hashes. */
static bool
is_unsafe_hash(Oid function)
{
	return OidIsValid(function) && function >= FirstNormalObjectId;
}

/* context: the index of the relation that columns may be of */
static bool
is_unsafe(Node *node, void *context)
{
	const Index *relid = context;

	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Var:
			return ((Var *) node)->varno != *relid || ((Var *) node)->varlevelsup != 0 ||
				   ((Var *) node)->varattno <= 0;
		case T_Const:
			return is_long((const Const *) node);
		case T_NullTest:
			if (((NullTest *) node)->argisrow)
				return true;
			break;
		case T_List:
		case T_BoolExpr:
		case T_BooleanTest:
		case T_RelabelType:
			break;
		case T_FuncExpr:
			if (is_unsafe_collation(node, ((FuncExpr *) node)->args))
				return true;
			break;
		case T_ScalarArrayOpExpr:
			if (is_unsafe_collation(node, ((ScalarArrayOpExpr *) node)->args) ||
				is_unsafe_hash(((ScalarArrayOpExpr *) node)->hashfuncid))
				return true;
			break;
		case T_OpExpr:
			if (is_unsafe_collation(node, ((OpExpr *) node)->args))
				return true;
			break;
		default:
			return true;
	}
	return check_functions_in_node(node, is_unsafe_function, IsA(node, OpExpr) ? node : NULL) ||
		   expression_tree_walker(node, is_unsafe, context);
}

static bool
count_nodes(Node *node, void *context)
{
	int		   *n = context;

	if (node == NULL)
		return false;
	(*n)++;
	return expression_tree_walker(node, count_nodes, context);
}

List *
bloomfam_join_safe_conditions(RelOptInfo *rel)
{
	List	   *safe = NIL;
	int			n = 0;
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
	{
		RestrictInfo *info = lfirst_node(RestrictInfo, lc);

		if (!info->pseudoconstant && info->security_level == 0 &&
			!is_unsafe((Node *) info->clause, &rel->relid))
		{
			count_nodes((Node *) info->clause, &n);
			if (n > MOST_NODES)
				break;
			safe = lappend(safe, info);
		}
	}
	return safe;
}

/* The parameter of a client or a function that an expression is, as it stands or relabelled? */
static bool
is_parameter(const Node *node)
{
	while (IsA(node, RelabelType))
		node = (const Node *) ((const RelabelType *) node)->arg;
	return IsA(node, Param) && ((const Param *) node)->paramkind == PARAM_EXTERN;
}

RestrictInfo *
bloomfam_join_parameter_condition(RelOptInfo *rel, AttrNumber *column)
{
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
	{
		RestrictInfo *info = lfirst_node(RestrictInfo, lc);
		const OpExpr *expr = (const OpExpr *) info->clause;
		const Var  *var;
		const TypeCacheEntry *type;

		if (!is_opclause(expr) || list_length(expr->args) != 2 || info->security_level > 0)
			continue;
		var = bloomfam_join_var(linitial(expr->args));
		if (var == NULL || !is_parameter(lsecond(expr->args)))
		{
			var = bloomfam_join_var(lsecond(expr->args));
			if (var == NULL || !is_parameter(linitial(expr->args)))
				continue;
		}
		type = lookup_type_cache(var->vartype, TYPECACHE_EQ_OPR | TYPECACHE_HASH_PROC);
		if (var->varno != rel->relid || type->eq_opr != expr->opno ||
			type->eq_opr >= FirstNormalObjectId || !OidIsValid(type->hash_proc) ||
			type->hash_proc >= FirstNormalObjectId)
			continue;
		*column = var->varattno;
		return info;
	}
	return NULL;
}
