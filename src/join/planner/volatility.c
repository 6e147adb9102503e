/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * volatility.c
 *	  What of a plan somebody may count: expressions, nodes and all below; and what of it gives the
 *	  same rows each time.
 *
 * A filter makes parts of a plan give fewer rows.  So others run less often.  That must not be
 * seen: a volatile function is called as often as without filters.  And a part that runs again must
 * give the same rows again, where something was kept that depends on them.
 *
 * The server's contain_volatile_functions() looks at the functions of an expression, and trusts
 * all else.  Here only what is known is trusted: the types of plan nodes and of expressions are
 * listed (pg/plan_nodes.c), and one that is missing counts as volatile.  Three things that call
 * functions without naming them are looked into: a domain's CHECK, the functions that an aggregate
 * consists of, and a subplan that is evaluated when its result is first needed.
 *
 * What the server itself calls an undefined number of times is trusted: the support functions of
 * operator classes, by which it sorts and compares, and those that read and write a base type.
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

/* ---- expressions ---- */

/* One look at an expression. */
typedef struct Walker
{
	const JoinPlanInfo *plan_info;	/* NULL: no plan yet */
	List	   *domains;		/* whose CHECKs are looked into: they may lead to themselves */
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

/* Has a domain a volatile CHECK, itself or one that it is made of? */
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

	/* they stay until the context goes */
	InitDomainConstraintRef(domain, constraints, context, false);
	foreach(lc, constraints->constraints)
		result |= is_volatile((Node *) ((DomainConstraintState *) lfirst(lc))->check_expr, walker);
	MemoryContextDelete(context);
	walker->domains = list_delete_last(walker->domains);
	return result;
}

/* Is one of these columns of such a type? */
static bool
columns_are_volatile(Walker *walker, TupleDesc columns)
{
	int			i;

	for (i = 0; i < columns->natts; i++)
		if (!TupleDescAttr(columns, i)->attisdropped &&
			type_is_volatile(walker, TupleDescAttr(columns, i)->atttypid))
			return true;
	return false;
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
	/* the server's own have no such CHECK; anonymous rows are looked at where they are made */
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
			return domain_is_volatile(walker, type) || type_is_volatile(walker, getBaseType(type));
		case TYPTYPE_COMPOSITE:
			return row_is_volatile(walker, type);
		default:
			return true;
	}
}

/* Is a type among these OIDs checked so? */
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
 * Does a function make a value of such a type?  Of an anonymous row the columns are those of its
 * parameters; if it was given one, it may make another one of the same columns: nothing tells.
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
		case TYPEFUNC_RECORD:	/* the query says what its columns are */
			return false;
		case TYPEFUNC_COMPOSITE:
		case TYPEFUNC_COMPOSITE_DOMAIN:
			return columns_are_volatile(walker, columns);
		default:
			return true;
	}
}

/*
 * Is one of the functions volatile that an aggregate consists of, or does one make a value of such
 * a type?  Of itself the server says no.
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
 * Is a node itself volatile, apart from those below it and from the functions that it names?  Here
 * are the types that more is to be asked of; the others are in the table of pg/plan_nodes.c, as
 * .ci/checks/plan-nodes sees.
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
	/* most are columns, of each of a thousand partitions */
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

/* ---- plans ---- */

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
 * Adds the parameters by which EvalPlanQual tells scans to begin anew, and those of subplans that
 * are evaluated when their result is first needed (initPlans), which are volatile or never change.
 * Notes the highest number of a node, and whether there is a join that may get a filter.
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

/* Is what an Append is pruned by while it runs volatile? */
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

/* Is a table among these locked or changed by the statement, maybe by the server that has it? */
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
 * Can it be seen how often a foreign scan runs: does it lock rows there, or are values checked by
 * something volatile when they arrive?
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
 * Could it be seen how often a node's own expressions are evaluated, or has it any that are not
 * known?
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

/* The member of a set that a node is, or what is below nodes of ours. */
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

/* Have a node's own expressions subplans? */
static bool
has_subplans(const JoinPlanInfo *plan_info, Plan *plan)
{
	return plan_info->stmt->subplans != NIL &&
		   contain_subplans((Node *) bloomfam_plan_expressions(plan));
}

/* Finds the members of all three sets in a plan, from the bottom up. */
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

/* Does a node group rows, or one below it? */
static bool
groups_rows(Plan **slot, void *unused)
{
	return bloomfam_plan_groups(*slot) || bloomfam_plan_walker(*slot, groups_rows, NULL);
}

/*
 * Is a column of a plan's rows the same each time, as the rows are?  What an aggregate computes, or
 * DISTINCT ON keeps of a group, may depend on the order in which rows come, which scans and workers
 * do not promise.
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

	/* a subplan comes after those that it has itself, as these were planned before */
	foreach(lc, stmt->subplans)
	{
		if (lfirst(lc) == NULL) /* an alternative that the planner has not chosen */
			continue;
		find_params((Plan **) &lfirst(lc), plan_info);
		fill_sets((Plan **) &lfirst(lc), plan_info);
		if (!bloomfam_join_tree_is_volatile_free(plan_info, lfirst(lc)))
			plan_info->volatile_subplans =
				bms_add_member(plan_info->volatile_subplans, foreach_current_index(lc) + 1);
	}
	find_params(&stmt->planTree, plan_info);

	/* once more, as all volatile parameters are known; without such a join nobody asks */
	if (plan_info->has_join)
		bloomfam_plan_stmt_walker(stmt, fill_sets, plan_info);
}
