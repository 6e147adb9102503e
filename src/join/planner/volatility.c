/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * volatility.c
 *	  Tells what in a plan is volatile, and what returns the same rows each time.
 *
 * A filter makes parts of a plan return fewer rows, so that other parts run less often.  The user
 * must not be able to see that: a volatile function must be called as often as without filters.
 * And a part that runs again must return the same rows again, if something that depends on them was
 * kept.
 *
 * The server's contain_volatile_functions() looks at the functions in an expression, and trusts all
 * else.  Here only what is known is trusted: the types of plan nodes and of expressions are listed
 * (pg/plan_nodes.c), and a type that is not listed counts as volatile.  Three things that call
 * functions without naming them are looked into: the CHECK of a domain, the functions that an
 * aggregate consists of, and a subplan that is evaluated when its result is first needed.
 *
 * Functions that the server itself calls an undefined number of times are trusted: the support
 * functions of operator classes, by which it sorts and compares, and the input and output functions
 * of base types.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "access/tupdesc.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "join/base/column.h"
#include "join/base/filter_info.h"
#include "join/planner/volatility.h"
#include "pg/compat.h"
#include "pg/plan_nodes.h"

/* ---- volatile expressions ---- */

/* The state of examining one expression. */
typedef struct Walker
{
	/* The plan that the expression belongs to; NULL: there is no plan yet. */
	const JoinPlanInfo *plan_info;

	/* The domains whose CHECKs are being examined, as a CHECK may refer to its own domain. */
	List	   *domains;
} Walker;

static bool is_volatile(Node *node, void *context);
static bool type_is_volatile(Walker *walker, Oid type);

static bool
function_is_volatile(Oid function, void *context)
{
	const JoinPlanInfo *plan_info = ((Walker *) context)->plan_info;

	if (plan_info != NULL && function >= FirstNormalObjectId)
		bloomfam_plan_depends_on(plan_info->stmt, PROCOID, function);
	return func_volatile(function) == PROVOLATILE_VOLATILE;
}

/* Tells whether a domain, or a domain that it is based on, has a volatile CHECK. */
static bool
domain_is_volatile(Walker *walker, Oid domain)
{
	MemoryContext context;
	DomainConstraintRef *constraints;
	bool		result = false;
	ListCell   *lc;

	if (list_member_oid(walker->domains, domain))
		return false;
	if (walker->plan_info != NULL)
		bloomfam_plan_depends_on(walker->plan_info->stmt, TYPEOID, domain);
	context =
		AllocSetContextCreate(CurrentMemoryContext, "domain's constraints", ALLOCSET_SMALL_SIZES);
	constraints = MemoryContextAlloc(context, sizeof(DomainConstraintRef));
	walker->domains = lappend_oid(walker->domains, domain);

	/* The constraints stay in memory until the memory context is deleted. */
	InitDomainConstraintRef(domain, constraints, context, false);
	foreach(lc, constraints->constraints)
		result |= is_volatile((Node *) ((DomainConstraintState *) lfirst(lc))->check_expr, walker);
	MemoryContextDelete(context);
	walker->domains = list_delete_last(walker->domains);
	return result;
}

/*
 * Tells whether making a value of the type of one of these columns may call a volatile function.
 * All columns are looked into in any case, as the plan depends on their types.
 */
static bool
columns_are_volatile(Walker *walker, TupleDesc columns)
{
	bool		result = false;
	int			i;

	for (i = 0; i < columns->natts; i++)
		if (!TupleDescAttr(columns, i)->attisdropped)
			result |= type_is_volatile(walker, TupleDescAttr(columns, i)->atttypid);
	return result;
}

static bool
row_is_volatile(Walker *walker, Oid type)
{
	TupleDesc	columns = lookup_rowtype_tupdesc_noerror(type, -1, true);
	bool		result;

	if (columns == NULL)
		return true;
	if (walker->plan_info != NULL)
		walker->plan_info->stmt->relationOids =
			list_append_unique_oid(walker->plan_info->stmt->relationOids, get_typ_typrelid(type));
	result = columns_are_volatile(walker, columns);
	ReleaseTupleDesc(columns);
	return result;
}

static bool
type_is_volatile(Walker *walker, Oid type)
{
	/*
	 * None of the server's own types has a domain with a CHECK in it.  For an anonymous record, the
	 * expression that makes the record is examined instead.
	 */
	if (type < FirstNormalObjectId)
		return false;
	check_stack_depth();
	switch (get_typtype(type))
	{
		case TYPTYPE_BASE:
			return OidIsValid(get_element_type(type)) &&
				   type_is_volatile(walker, get_element_type(type));
		case TYPTYPE_ENUM:
			return false;
		case TYPTYPE_RANGE:
			return type_is_volatile(walker, get_range_subtype(type));
		case TYPTYPE_MULTIRANGE:
			return type_is_volatile(walker, get_multirange_range(type));
		case TYPTYPE_DOMAIN:
			return type_is_volatile(walker, getBaseType(type)) || domain_is_volatile(walker, type);
		case TYPTYPE_COMPOSITE:
			return row_is_volatile(walker, type);
		default:
			return true;
	}
}

/*
 * Tells whether making a value of one of the types in a list of OIDs may call a volatile function.
 */
static bool
types_are_volatile(Walker *walker, const List *types)
{
	ListCell   *lc;

	foreach(lc, types)
		if (type_is_volatile(walker, lfirst_oid(lc)))
			return true;
	return false;
}

/*
 * Tells whether making a function's result may call a volatile function through a domain's CHECK.
 * If the result is an anonymous row, its columns are those of the function's output parameters.  A
 * function that is given an anonymous row may return another one with the same columns, which are
 * not known, so it counts as volatile.
 */
static bool
result_is_volatile(Walker *walker, const FuncExpr *call)
{
	TupleDesc	columns;
	ListCell   *lc;

	if (call->funcresulttype != RECORDOID && call->funcresulttype != RECORDARRAYOID)
		return type_is_volatile(walker, call->funcresulttype);
	foreach(lc, call->args)
	{
		Oid			type = exprType(lfirst(lc));

		if (type == RECORDOID || type == RECORDARRAYOID)
			return true;
	}
	if (call->funcid < FirstNormalObjectId)
		return false;
	switch (get_func_result_type(call->funcid, NULL, &columns))
	{
		case TYPEFUNC_RECORD:	/* The query itself lists the record's columns and their types. */
			return false;
		case TYPEFUNC_COMPOSITE:
		case TYPEFUNC_COMPOSITE_DOMAIN:
			return columns_are_volatile(walker, columns);
		default:
			return true;
	}
}

/*
 * Tells whether one of an aggregate's support functions is volatile, or making its transition
 * values calls a volatile function.  The server's catalog never marks an aggregate itself as
 * volatile.
 */
static bool
aggregate_is_volatile(Walker *walker, Oid function)
{
	HeapTuple	tuple;
	bool		result = false;
	size_t		i;

	Assert(OidIsValid(function));
	if (function < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(function));
	if (HeapTupleIsValid(tuple))
	{
		Form_pg_aggregate form = (Form_pg_aggregate) GETSTRUCT(tuple);
		const Oid	functions[] = {form->aggtransfn, form->aggfinalfn, form->aggcombinefn,
								   form->aggserialfn, form->aggdeserialfn, form->aggmtransfn,
								   form->aggminvtransfn, form->aggmfinalfn};

		result = (!IsPolymorphicType(form->aggtranstype) &&
				  type_is_volatile(walker, form->aggtranstype)) ||
				 (OidIsValid(form->aggmtranstype) && !IsPolymorphicType(form->aggmtranstype) &&
				  type_is_volatile(walker, form->aggmtranstype));
		for (i = 0; i < lengthof(functions) && !result; i++)
			result = OidIsValid(functions[i]) && function_is_volatile(functions[i], walker);
		ReleaseSysCache(tuple);
	}
	return result;
}

static bool
param_is_volatile(const Param *param, const JoinPlanInfo *plan_info)
{
	switch (param->paramkind)
	{
		case PARAM_EXTERN:
			return false;
		case PARAM_EXEC:
			return plan_info != NULL && bms_is_member(param->paramid, plan_info->volatile_params);
		default:
			return true;
	}
}

/*
 * Tells whether an expression node itself is volatile, apart from the nodes below it and from
 * functions that it names.  Only the node types that need closer examination are listed here; the
 * other types are in the table of pg/plan_nodes.c, as .ci/checks/plan-nodes verifies.
 */
static bool
node_is_volatile(Walker *walker, Node *node)
{
	BloomfamExpression kind;

	switch (nodeTag(node))
	{
		case T_FuncExpr:
			return result_is_volatile(walker, (FuncExpr *) node);
		case T_RangeTblFunction:
			return types_are_volatile(walker, ((RangeTblFunction *) node)->funccoltypes);
		case T_TableFunc:
			return types_are_volatile(walker, ((TableFunc *) node)->coltypes);

		case T_Aggref:
			return aggregate_is_volatile(walker, ((Aggref *) node)->aggfnoid) ||
				   type_is_volatile(walker, ((Aggref *) node)->aggtranstype) ||
				   type_is_volatile(walker, ((Aggref *) node)->aggtype);
		case T_WindowFunc:
			return aggregate_is_volatile(walker, ((WindowFunc *) node)->winfnoid) ||
				   type_is_volatile(walker, ((WindowFunc *) node)->wintype);
		case T_Param:
			return param_is_volatile((Param *) node, walker->plan_info);
		case T_SubPlan:
			return walker->plan_info != NULL && bms_is_member(((SubPlan *) node)->plan_id,
															  walker->plan_info->volatile_subplans);
		default:
			kind = bloomfam_expression(node);
			return kind == BLOOMFAM_EXPRESSION_UNKNOWN ||
				   (kind == BLOOMFAM_EXPRESSION_MAKES_VALUE &&
					type_is_volatile(walker, exprType(node)));
	}
}

static bool
is_volatile(Node *node, void *context)
{
	/* Most expressions are columns, and a plan may have those of a thousand partitions. */
	if (node == NULL || IsA(node, Var) || IsA(node, Const))
		return false;
	return node_is_volatile(context, node) ||
		   check_functions_in_node(node, function_is_volatile, context) ||
		   expression_tree_walker(node, is_volatile, context);
}

bool
bloomfam_join_is_volatile(const void *expression, const JoinPlanInfo *plan_info)
{
	Walker		walker = {.plan_info = plan_info};

	return is_volatile(unconstify(Node *, (const Node *) expression), &walker);
}

void
bloomfam_join_depend_on_type(const JoinPlanInfo *plan_info, Oid type)
{
	Walker		walker = {.plan_info = plan_info};

	/* Looking into the type is what makes the plan depend on it. */
	(void) type_is_volatile(&walker, type);
}

/* ---- volatile and repeatable plans ---- */

int
bloomfam_join_workers(const Plan *plan, int workers)
{
	if (IsA(plan, Gather))
		return ((const Gather *) plan)->num_workers;
	return IsA(plan, GatherMerge) ? ((const GatherMerge *) plan)->num_workers : workers;
}

/*
 * Returns the parameter by which a Gather or Gather Merge tells the parallel scans below it that
 * they begin again; -1 if the node is none, or has none.  The parameter never has a value, and all
 * that depends on it begins again together: it changes no row.
 */
static int
gather_rescan_param(const Plan *plan)
{
	if (IsA(plan, Gather))
		return ((const Gather *) plan)->rescan_param;
	if (IsA(plan, GatherMerge))
		return ((const GatherMerge *) plan)->rescan_param;
	return -1;
}

/*
 * Finds the parameters of a plan: those by which EvalPlanQual tells scans to begin anew, and those
 * of initPlans (evaluated when their result is first needed) that are volatile or never change.
 * Also finds the highest plan_node_id, and whether there is a join that may get a filter.
 */
static bool
find_params(Plan **slot, void *context)
{
	JoinPlanInfo *plan_info = context;
	Plan	   *plan = *slot;
	ListCell   *lc;
	ListCell   *lp;

	plan_info->has_join |= IsA(plan, HashJoin) || IsA(plan, MergeJoin);
	plan_info->highest_node_id = Max(plan_info->highest_node_id, plan->plan_node_id);
	if (IsA(plan, ModifyTable))
		plan_info->epq_params =
			bms_add_member(plan_info->epq_params, ((ModifyTable *) plan)->epqParam);
	else if (IsA(plan, LockRows))
		plan_info->epq_params =
			bms_add_member(plan_info->epq_params, ((LockRows *) plan)->epqParam);
	else if (gather_rescan_param(plan) >= 0)
		plan_info->fixed_params =
			bms_add_member(plan_info->fixed_params, gather_rescan_param(plan));
	foreach(lc, plan->initPlan)
	{
		const SubPlan *subplan = lfirst_node(SubPlan, lc);
		const Plan *own = list_nth(plan_info->stmt->subplans, subplan->plan_id - 1);

		foreach(lp, subplan->setParam)
		{
			if (bms_is_member(subplan->plan_id, plan_info->volatile_subplans))
				plan_info->volatile_params =
					bms_add_member(plan_info->volatile_params, lfirst_int(lp));
			else if (bms_is_empty(own->extParam))
				plan_info->fixed_params =
					bms_add_member(plan_info->fixed_params, lfirst_int(lp));
		}
	}
	return bloomfam_plan_walker(plan, find_params, plan_info);
}

/* Tells whether the expressions by which an Append is pruned during execution are volatile. */
static bool
pruning_is_volatile(const JoinPlanInfo *plan_info, const PartitionPruneInfo *pruning)
{
	ListCell   *lt;
	ListCell   *lp;
	ListCell   *ls;

	if (pruning == NULL)
		return false;
	foreach(lt, pruning->prune_infos)
		foreach(lp, lfirst(lt))
			foreach(ls, lfirst_node(PartitionedRelPruneInfo, lp)->exec_pruning_steps)
			{
				const Node *step = lfirst(ls);

				if (IsA(step, PartitionPruneStepCombine))
					continue;
				if (!IsA(step, PartitionPruneStepOp) ||
					bloomfam_join_is_volatile(((const PartitionPruneStepOp *) step)->exprs,
											  plan_info))
					return true;
			}
	return false;
}

/*
 * Tells whether the statement locks or changes rows of one of these relations, which may be on a
 * foreign server.
 */
static bool
is_locked(const PlannedStmt *stmt, const Bitmapset *relations)
{
	ListCell   *lc;

	foreach(lc, stmt->rowMarks)
	{
		const PlanRowMark *mark = lfirst_node(PlanRowMark, lc);

		if (mark->strength != LCS_NONE &&
			(bms_is_member(mark->rti, relations) || bms_is_member(mark->prti, relations)))
			return true;
	}
	return bloomfam_changes_relation(stmt, relations);
}

/*
 * Tells whether the user could see how often a foreign scan runs: whether it locks or changes rows
 * there, or its columns have types that check values by something volatile when they arrive.
 */
static bool
foreign_scan_is_volatile(const JoinPlanInfo *plan_info, ForeignScan *scan)
{
	List	   *columns = pull_var_clause((Node *) list_make3(scan->scan.plan.targetlist,
															  scan->scan.plan.qual,
															  scan->fdw_scan_tlist),
										  PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS |
											  PVC_RECURSE_PLACEHOLDERS);
	Walker		walker = {.plan_info = plan_info};
	ListCell   *lc;

	if (scan->operation != CMD_SELECT || is_locked(plan_info->stmt, scan->fs_relids))
		return true;
	foreach(lc, columns)
		if (type_is_volatile(&walker, lfirst_node(Var, lc)->vartype))
			return true;
	return false;
}

/*
 * Tells whether the user could see how often a node's own expressions are evaluated, or whether
 * some of them are not known.
 */
static bool
plan_node_is_volatile(const JoinPlanInfo *plan_info, Plan *plan)
{
	const BloomfamPlanNode *node = bloomfam_plan_node(plan);

	if (!node->is_known || node->locks_rows ||
		bloomfam_join_is_volatile(bloomfam_plan_expressions(plan), plan_info))
		return true;
	switch (nodeTag(plan))
	{
		case T_CteScan:
			return bms_is_member(((CteScan *) plan)->ctePlanId, plan_info->volatile_subplans);
		case T_Append:
			return pruning_is_volatile(plan_info, BLOOMFAM_PRUNING_OF(plan_info->stmt,
																	  (Append *) plan));
		case T_MergeAppend:
			return pruning_is_volatile(plan_info, BLOOMFAM_PRUNING_OF(plan_info->stmt,
																	  (MergeAppend *) plan));
		case T_ForeignScan:
			return foreign_scan_is_volatile(plan_info, (ForeignScan *) plan);
		default:
			return false;
	}
}

/*
 * Returns the number by which a plan node is a member of the sets in JoinPlanInfo.  A build or
 * probe node has the number of the node below it.
 */
static int
member_of(Plan *plan)
{
	return (unsigned) bloomfam_join_below_own(plan)->plan_node_id % 65536;
}

static bool
is_in_set(Plan **slot, void *set)
{
	return bms_is_member(member_of(*slot), set);
}

/* Tells whether a node's own expressions contain subplans. */
static bool
has_subplans(const JoinPlanInfo *plan_info, Plan *plan)
{
	return plan_info->stmt->subplans != NIL &&
		   contain_subplans((Node *) bloomfam_plan_expressions(plan));
}

/*
 * Adds the nodes of a plan to volatile_nodes, volatile_trees and unrepeatable_trees, from the
 * bottom up.
 */
static bool
fill_sets(Plan **slot, void *plan_info)
{
	JoinPlanInfo *info = plan_info;
	Plan	   *plan = *slot;
	int			member = member_of(plan);
	bool		is_volatile = plan_node_is_volatile(info, plan);

	bloomfam_plan_walker(plan, fill_sets, info);
	if (is_volatile)
		info->volatile_nodes = bms_add_member(info->volatile_nodes, member);
	if (is_volatile || bloomfam_join_is_volatile(plan->initPlan, info) ||
		bloomfam_plan_walker(plan, is_in_set, info->volatile_trees))
		info->volatile_trees = bms_add_member(info->volatile_trees, member);
	if (is_volatile || has_subplans(info, plan) || !bloomfam_plan_node(plan)->repeatable ||
		bloomfam_plan_walker(plan, is_in_set, info->unrepeatable_trees))
		info->unrepeatable_trees = bms_add_member(info->unrepeatable_trees, member);
	return false;
}

bool
bloomfam_join_node_is_volatile_free(const JoinPlanInfo *plan_info, Plan *plan)
{
	return !bms_is_member(member_of(plan), plan_info->volatile_nodes);
}

bool
bloomfam_join_tree_is_volatile_free(const JoinPlanInfo *plan_info, Plan *plan)
{
	return !bms_is_member(member_of(plan), plan_info->volatile_trees);
}

bool
bloomfam_join_is_repeatable(const JoinPlanInfo *plan_info, Plan *plan)
{
	return !bms_is_member(member_of(plan), plan_info->unrepeatable_trees);
}

/* Tells whether a plan node, or a node below it, groups rows. */
static bool
groups_rows(Plan **slot, void *unused)
{
	return bloomfam_plan_groups(*slot) || bloomfam_plan_walker(*slot, groups_rows, NULL);
}

/*
 * Tells whether a column of a plan's output has the same values each time, given that the plan
 * returns the same rows.  What an aggregate computes, or which row DISTINCT ON keeps of a group,
 * may depend on the order in which rows come, which scans and workers do not guarantee.
 */
static bool
column_is_repeatable(Plan *plan, AttrNumber attribute)
{
	Plan	   *child;
	AttrNumber	behind = 0;
	ListCell   *lc;
	Oid			operator;
	Oid			collation;

	check_stack_depth();
	plan = bloomfam_join_below_own(plan);
	if (IsA(plan, Append) || IsA(plan, MergeAppend))
	{
		foreach(lc, bloomfam_plan_children(plan))
			if (!column_is_repeatable(lfirst(lc), attribute))
				return false;
		return true;
	}
	child = IsA(plan, SubqueryScan) ? ((SubqueryScan *) plan)->subplan : plan->lefttree;
	if (child != NULL)
		behind = bloomfam_join_column_behind(plan, attribute,
											 IsA(plan, SubqueryScan)
												 ? (int) ((Scan *) plan)->scanrelid
												 : OUTER_VAR);
	if (bloomfam_plan_groups(plan) &&
		!bloomfam_plan_groups_by(plan, behind, &operator, &collation))
		return false;
	if (behind == 0 && plan->righttree != NULL)
	{
		child = plan->righttree;
		behind = bloomfam_join_column_behind(plan, attribute, INNER_VAR);
	}
	return behind != 0 ? column_is_repeatable(child, behind) : !groups_rows(&plan, NULL);
}

bool
bloomfam_join_expressions_are_repeatable(Plan *plan, List *expressions)
{
	ListCell   *lc;

	foreach(lc, pull_var_clause((Node *) expressions, 0))
		if (!column_is_repeatable(plan, lfirst_node(Var, lc)->varattno))
			return false;
	return true;
}

void
bloomfam_join_plan_info_init(JoinPlanInfo *plan_info, PlannedStmt *stmt)
{
	ListCell   *lc;

	memset(plan_info, 0, sizeof(*plan_info));
	plan_info->stmt = stmt;
	foreach(lc, stmt->rtable)
		plan_info->has_barrier |= lfirst_node(RangeTblEntry, lc)->security_barrier;

	/*
	 * The list has each subplan after the subplans that it contains, as these were planned before
	 * it.
	 */
	foreach(lc, stmt->subplans)
	{
		/* NULL in the list stands for an alternative subplan that the planner has not chosen. */
		if (lfirst(lc) == NULL)
			continue;
		find_params((Plan **) &lfirst(lc), plan_info);
		fill_sets((Plan **) &lfirst(lc), plan_info);
		if (!bloomfam_join_tree_is_volatile_free(plan_info, lfirst(lc)))
			plan_info->volatile_subplans =
				bms_add_member(plan_info->volatile_subplans, foreach_current_index(lc) + 1);
	}
	find_params(&stmt->planTree, plan_info);

	/*
	 * The sets are filled once more, for the whole plan, as all volatile parameters are known now.
	 * Without a join that may get a filter, nobody uses them.
	 */
	if (plan_info->has_join)
		bloomfam_plan_stmt_walker(stmt, fill_sets, plan_info);
}
