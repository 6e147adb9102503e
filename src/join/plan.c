/*-------------------------------------------------------------------------
 *
 * plan.c
 *	  Which joins get a filter, and where in the plan it drops rows.
 *
 * The planner has finished: join order and methods stay as they are, and only rows that the join would drop anyway may be dropped earlier.  For each
 * hash join whose kind allows that, the columns of its key are followed down the probe side, as far as a row that is missing there is
 * just a row that the join does not get.  Where the way ends, a probe node is put on top; a scan of a heap is then done by pages.
 *
 * The way leads through a node only if all columns of the key come unchanged from one child of it, and
 *
 *	- nothing in the node counts or remembers what it is asked: volatile functions, subplans;
 *	- a row less in the child is a row less in the result: not the nullable side of an outer join, no limit, no window, no set operation; an
 *	  aggregate or DISTINCT only by columns of the key that it groups by in the same sense of equality;
 *	- what the node keeps for a rescan stays right then.  Sort, Material, Memoize, the hash table of a lower join may keep rows while the join builds
 *	  anew, with other keys; so its build side must come out the same each time: without parameters and without volatile functions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "join/join.h"

typedef struct PlanContext
{
	PlannedStmt *stmt;
	int			last_node_id;	/* 0: not known yet */
	Bitmapset  *epq_params;		/* what EvalPlanQual tells scans by; it never changes in the plan itself */
} PlanContext;

/* A column of a join's key. */
typedef struct KeyColumn
{
	Oid			operator;
	Oid			collation;
	AttrNumber	attribute;		/* of the join's outer child */
	Expr	   *inner;			/* over the Hash's child */
	bool		leakproof;
} KeyColumn;

/* Where a filter is to drop rows: on top of *slot, whose columns these are. */
typedef struct Place
{
	Plan	  **slot;
	AttrNumber *attributes;
} Place;

/* A foreign scan that it leads to, on top of which it may be, or not. */
typedef struct ForeignPlace
{
	ForeignScan *scan;
	const AttrNumber *attributes;
} ForeignPlace;

/* The way of one filter down the plan. */
typedef struct Way
{
	PlanContext *context;
	int			ncolumns;
	const KeyColumn *columns;
	bool		keepers;		/* may it lead through nodes that keep rows? */
	bool		travels;		/* may it go to foreign servers? */
	bool		leakproof;
	List	   *places;
	double		drop;			/* the share of rows at these places that it is expected to drop */
	List	   *foreign;		/* of ForeignPlace */
} Way;

static void follow(Way *way, Plan **slot, const AttrNumber *attributes);

/* ---- about plans ---- */

/* The children of a node that are neither its left nor its right one; of several in a list, that; else NIL. */
static List *
other_children(Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_Append:
			return ((Append *) plan)->appendplans;
		case T_MergeAppend:
			return ((MergeAppend *) plan)->mergeplans;
		case T_BitmapAnd:
			return ((BitmapAnd *) plan)->bitmapplans;
		case T_BitmapOr:
			return ((BitmapOr *) plan)->bitmapplans;
		case T_SubqueryScan:
			return list_make1(((SubqueryScan *) plan)->subplan);
		case T_CustomScan:
			return ((CustomScan *) plan)->custom_plans;
		default:
			return NIL;
	}
}

static int
highest_node_id(Plan *plan)
{
	int			highest;
	ListCell   *lc;

	if (plan == NULL)
		return 0;
	check_stack_depth();
	highest = Max(plan->plan_node_id, Max(highest_node_id(plan->lefttree), highest_node_id(plan->righttree)));
	foreach(lc, other_children(plan))
		highest = Max(highest, highest_node_id(lfirst(lc)));
	return highest;
}

static int
next_node_id(PlanContext *context)
{
	ListCell   *lc;

	if (context->last_node_id == 0)
	{
		context->last_node_id = highest_node_id(context->stmt->planTree);
		foreach(lc, context->stmt->subplans)
			context->last_node_id = Max(context->last_node_id, highest_node_id(lfirst(lc)));
	}
	return ++context->last_node_id;
}

/* Adds the parameters by which EvalPlanQual tells scans to begin anew. */
static Bitmapset *
find_epq_params(Plan *plan, Bitmapset *found)
{
	ListCell   *lc;

	if (plan == NULL)
		return found;
	check_stack_depth();
	if (IsA(plan, ModifyTable))
		found = bms_add_member(found, ((ModifyTable *) plan)->epqParam);
	else if (IsA(plan, LockRows))
		found = bms_add_member(found, ((LockRows *) plan)->epqParam);
	foreach(lc, other_children(plan))
		found = find_epq_params(lfirst(lc), found);
	return find_epq_params(plan->righttree, find_epq_params(plan->lefttree, found));
}

/* Is a plan without parameters from outside, while the plan that it is part of runs? */
static inline bool
is_on_its_own(const PlanContext *context, const Plan *plan)
{
	return bms_is_subset(plan->extParam, context->epq_params);
}

bool
bloomfam_join_is_indifferent(void *expression)
{
	return expression == NULL || (!contain_volatile_functions(expression) && !contain_subplans(expression));
}

/* The same of a node's own expressions. */
static bool
node_is_indifferent(Plan *plan)
{
	if (!bloomfam_join_is_indifferent(plan->qual) || !bloomfam_join_is_indifferent(plan->targetlist))
		return false;
	switch (nodeTag(plan))
	{
		case T_HashJoin:
		case T_NestLoop:
		case T_MergeJoin:
			return bloomfam_join_is_indifferent(((Join *) plan)->joinqual);
		case T_Result:
			return bloomfam_join_is_indifferent(((Result *) plan)->resconstantqual);
		default:
			return true;
	}
}

static inline bool
is_ours(Plan *plan)
{
	return IsA(plan, CustomScan) && (((CustomScan *) plan)->methods == &bloomfam_join_build_methods ||
									 ((CustomScan *) plan)->methods == &bloomfam_join_probe_methods);
}

/* Does a plan without parameters give the same rows each time?  Of the nodes, those that surely do. */
static bool
is_repeatable(Plan *plan)
{
	ListCell   *lc;

	if (plan == NULL)
		return true;
	check_stack_depth();
	switch (nodeTag(plan))
	{
		case T_SeqScan:
		case T_IndexScan:
		case T_IndexOnlyScan:
		case T_BitmapHeapScan:
		case T_BitmapIndexScan:
		case T_BitmapAnd:
		case T_BitmapOr:
		case T_Result:
		case T_Append:
		case T_MergeAppend:
		case T_SubqueryScan:
		case T_Sort:
		case T_IncrementalSort:
		case T_Material:
		case T_Memoize:
		case T_Hash:
		case T_HashJoin:
		case T_NestLoop:
		case T_MergeJoin:
		case T_Agg:
		case T_Group:
		case T_Unique:
		case T_Gather:
		case T_GatherMerge:
			break;
		default:
			if (!is_ours(plan))
				return false;
	}
	foreach(lc, other_children(plan))
		if (!is_repeatable(lfirst(lc)))
			return false;
	return node_is_indifferent(plan) && is_repeatable(plan->lefttree) && is_repeatable(plan->righttree);
}

/* ---- the way down ---- */

/* The column that an output column of a plan is, if it is one as it stands: of this child or table.  0 if not. */
static AttrNumber
column_behind(Plan *plan, AttrNumber attribute, int varno)
{
	Expr	   *expr = ((TargetEntry *) list_nth(plan->targetlist, attribute - 1))->expr;

	while (IsA(expr, RelabelType))
		expr = ((RelabelType *) expr)->arg;
	if (!IsA(expr, Var) || ((Var *) expr)->varno != varno || ((Var *) expr)->varattno <= 0)
		return 0;
	return ((Var *) expr)->varattno;
}

/* All columns of the key behind their columns in the plan; NULL unless all are of this child or table. */
static AttrNumber *
columns_behind(Way *way, Plan *plan, const AttrNumber *attributes, int varno)
{
	AttrNumber *behind = palloc(way->ncolumns * sizeof(AttrNumber));
	int			i;

	for (i = 0; i < way->ncolumns; i++)
	{
		behind[i] = column_behind(plan, attributes[i], varno);
		if (behind[i] == 0)
			return NULL;
	}
	return behind;
}

/*
 * Are all columns of the key among those that a node groups by, and does it group in the join's sense of equality?  Otherwise a group could lose
 * some of its rows and not others.
 */
static bool
groups_by_key(Way *way, const AttrNumber *behind, int ngroup, const AttrNumber *group, const Oid *operators, const Oid *collations)
{
	int			i;
	int			g;

	for (i = 0; i < way->ncolumns; i++)
	{
		for (g = 0; g < ngroup; g++)
			if (group[g] == behind[i] && collations[g] == way->columns[i].collation &&
				equality_ops_are_compatible(operators[g], way->columns[i].operator))
				break;
		if (g == ngroup)
			return false;
	}
	return true;
}

static void
stop_here(Way *way, Plan **slot, const AttrNumber *attributes)
{
	Place	   *place = palloc(sizeof(Place));

	place->slot = slot;
	place->attributes = palloc(way->ncolumns * sizeof(AttrNumber));
	memcpy(place->attributes, attributes, way->ncolumns * sizeof(AttrNumber));

	/* an Append asks an asynchronous child itself, and would not know a node in between */
	if (!(*slot)->async_capable)
		way->places = lappend(way->places, place);
	/* with a parameter of its own, the scan would send the filter anew for each of its values */
	if (way->travels && IsA(*slot, ForeignScan) && is_on_its_own(way->context, *slot))
	{
		ForeignPlace *foreign = palloc(sizeof(ForeignPlace));

		foreign->scan = (ForeignScan *) *slot;
		foreign->attributes = place->attributes;
		way->foreign = lappend(way->foreign, foreign);
	}
}

/* Through an Append to all children that can take it. */
static void
follow_each(Way *way, List *plans, const AttrNumber *attributes)
{
	ListCell   *lc;

	foreach(lc, plans)
	{
		Plan	  **child = (Plan **) &lfirst(lc);

		if ((*child)->async_capable)
			stop_here(way, child, attributes);
		else
			follow(way, child, attributes);
	}
}

/* The child of a join that the key's columns come from, if rows of it may be dropped; else NULL. */
static Plan **
side_of_join(Way *way, Plan *plan, const AttrNumber *attributes, AttrNumber **behind)
{
	JoinType	type = ((Join *) plan)->jointype;

	if (type == JOIN_INNER || type == JOIN_LEFT || type == JOIN_SEMI || type == JOIN_ANTI)
	{
		*behind = columns_behind(way, plan, attributes, OUTER_VAR);
		if (*behind != NULL)
			return &plan->lefttree;
	}
	if (type == JOIN_INNER || type == JOIN_RIGHT || BLOOMFAM_IS_RIGHT_SEMI_OR_ANTI(type))
	{
		*behind = columns_behind(way, plan, attributes, INNER_VAR);
		if (*behind != NULL)
			return &plan->righttree;
	}
	return NULL;
}

/* Finds the places below *slot, or on top of it, where the filter can go. */
static void
follow(Way *way, Plan **slot, const AttrNumber *attributes)
{
	Plan	   *plan = *slot;
	AttrNumber *behind = NULL;
	Plan	  **next = NULL;

	check_stack_depth();
	if (node_is_indifferent(plan))
	{
		behind = columns_behind(way, plan, attributes, OUTER_VAR);
		switch (nodeTag(plan))
		{
			case T_Sort:
			case T_IncrementalSort:
			case T_Material:
			case T_Memoize:
			case T_Hash:
				if (way->keepers)
					next = &plan->lefttree;
				break;
			case T_Result:
				next = &plan->lefttree;
				break;
			case T_HashJoin:
			case T_NestLoop:
			case T_MergeJoin:
				next = side_of_join(way, plan, attributes, &behind);
				break;
			case T_Agg:
				{
					Agg		   *agg = (Agg *) plan;

					if (behind != NULL && agg->groupingSets == NIL && (agg->aggstrategy == AGG_SORTED || way->keepers) &&
						groups_by_key(way, behind, agg->numCols, agg->grpColIdx, agg->grpOperators, agg->grpCollations))
						next = &plan->lefttree;
					break;
				}
			case T_Group:
				{
					Group	   *group = (Group *) plan;

					if (behind != NULL &&
						groups_by_key(way, behind, group->numCols, group->grpColIdx, group->grpOperators, group->grpCollations))
						next = &plan->lefttree;
					break;
				}
			case T_Unique:
				{
					Unique	   *unique = (Unique *) plan;

					if (behind != NULL &&
						groups_by_key(way, behind, unique->numCols, unique->uniqColIdx, unique->uniqOperators, unique->uniqCollations))
						next = &plan->lefttree;
					break;
				}
			case T_SubqueryScan:
				{
					SubqueryScan *scan = (SubqueryScan *) plan;

					/* what a security barrier hides may not be hashed by what could tell */
					if (way->leakproof || !rt_fetch(scan->scan.scanrelid, way->context->stmt->rtable)->security_barrier)
						next = &scan->subplan;
					behind = columns_behind(way, plan, attributes, scan->scan.scanrelid);
					break;
				}
			case T_Append:
			case T_MergeAppend:
				if (behind != NULL)
				{
					follow_each(way, other_children(plan), behind);
					return;
				}
				break;
			case T_CustomScan:
				if (is_ours(plan))
				{
					/* hands rows on as they are; and one node on top of a scan is enough for all filters */
					ListCell   *lc;

					follow(way, &plan->lefttree, attributes);
					foreach(lc, way->places)
						if (((Place *) lfirst(lc))->slot == &plan->lefttree && ((CustomScan *) plan)->methods == &bloomfam_join_probe_methods)
							((Place *) lfirst(lc))->slot = slot;
					return;
				}
				break;
			default:
				break;
		}
	}
	if (next == NULL || *next == NULL || behind == NULL)
		stop_here(way, slot, attributes);
	else
		follow(way, next, behind);
}

/* ---- nodes ---- */

/* Puts a node that hands rows on as they are on top of a plan. */
static CustomScan *
put_on_top(PlanContext *context, Plan **slot, const CustomScanMethods *methods)
{
	Plan	   *child = *slot;
	CustomScan *node = makeNode(CustomScan);
	Plan	   *plan = &node->scan.plan;
	ListCell   *lc;

	foreach(lc, child->targetlist)
	{
		TargetEntry *entry = lfirst(lc);
		Oid			type = exprType((Node *) entry->expr);
		int32		typmod = exprTypmod((Node *) entry->expr);
		Oid			collation = exprCollation((Node *) entry->expr);
		char	   *name = entry->resname != NULL ? pstrdup(entry->resname) : NULL;

		node->custom_scan_tlist = lappend(node->custom_scan_tlist,
										  makeTargetEntry((Expr *) makeVar(OUTER_VAR, entry->resno, type, typmod, collation, 0),
														  entry->resno, name, entry->resjunk));
		plan->targetlist = lappend(plan->targetlist,
								   makeTargetEntry((Expr *) makeVar(INDEX_VAR, entry->resno, type, typmod, collation, 0),
												   entry->resno, name, entry->resjunk));
	}
	plan->startup_cost = child->startup_cost;
	plan->total_cost = child->total_cost;
	plan->plan_rows = child->plan_rows; /* a Hash above sizes its table by it */
	plan->plan_width = child->plan_width;
	plan->parallel_safe = child->parallel_safe;
	plan->plan_node_id = next_node_id(context);
	plan->lefttree = child;
	plan->extParam = bms_copy(child->extParam);
	plan->allParam = bms_copy(child->allParam);
	node->methods = methods;
	*slot = plan;
	return node;
}

static List *
make_spec(int param, const Way *way, const AttrNumber *attributes)
{
	List	   *spec = list_make2_int(param, (int) (way->drop * 1000));
	int			i;

	for (i = 0; i < way->ncolumns; i++)
	{
		spec = lappend_int(spec, way->columns[i].operator);
		spec = lappend_int(spec, way->columns[i].collation);
		spec = lappend_int(spec, attributes[i]);
	}
	return spec;
}

/* Adds a filter to those of a probe node: before those that are expected to drop less. */
static void
add_spec(CustomScan *probe, List *spec)
{
	int			i = 0;

	while (i < list_length(probe->custom_private) &&
		   list_nth_int(list_nth(probe->custom_private, i), JOIN_SPEC_DROP) >= list_nth_int(spec, JOIN_SPEC_DROP))
		i++;
	probe->custom_private = list_insert_nth(probe->custom_private, i, spec);
}

/* Lets the filter travel to the foreign scans at its places, as one of the first column of the key that can. */
static void
add_foreign(PlanContext *context, const Way *way, CustomScan *build)
{
	int		   *params = palloc(way->ncolumns * sizeof(int));
	List	   *list = NIL;
	bool		any = false;
	ListCell   *lc;
	int			i;

	for (i = 0; i < way->ncolumns; i++)
		params[i] = -1;
	foreach(lc, way->foreign)
	{
		ForeignPlace *place = lfirst(lc);
		const char *reason = "";

		for (i = 0; i < way->ncolumns && reason != NULL; i++)
			reason = bloomfam_join_foreign_plan(context->stmt, place->scan, place->attributes[i], way->columns[i].operator, way->columns[i].collation,
											    exprType((Node *) way->columns[i].inner), &params[i]);
		any |= reason == NULL;
		if (reason != NULL && bloomfam_join_filter_log)
			ereport(LOG, (errmsg("join filter is not sent to the foreign server: %s", reason)));
	}
	if (!any)
		return;
	for (i = 0; i < way->ncolumns; i++)
	{
		list = lappend_int(list, params[i]);
		list = lappend_int(list, exprType((Node *) way->columns[i].inner));
	}
	build->custom_private = lappend(build->custom_private, list);
}

/* Puts a filter into the plan: on the build side of the join, and at its places. */
static void
add_filter(PlanContext *context, HashJoin *join, const Way *way)
{
	PlannedStmt *stmt = context->stmt;
	Plan	   *hash = innerPlan(join);
	int			param = list_length(stmt->paramExecTypes);
	AttrNumber *attributes = palloc0(way->ncolumns * sizeof(AttrNumber));
	CustomScan *build;
	List	   *expressions = NIL;
	ListCell   *lc;
	int			i;

	stmt->paramExecTypes = lappend_oid(stmt->paramExecTypes, INTERNALOID);
	for (i = 0; i < way->ncolumns; i++)
	{
		Expr	   *expr = way->columns[i].inner;

		while (IsA(expr, RelabelType))
			expr = ((RelabelType *) expr)->arg;
		if (IsA(expr, Var) && ((Var *) expr)->varno == OUTER_VAR && ((Var *) expr)->varattno > 0)
			attributes[i] = ((Var *) expr)->varattno;
		else
			expressions = lappend(expressions, copyObject(way->columns[i].inner));
	}
	build = put_on_top(context, &outerPlan(hash), &bloomfam_join_build_methods);
	build->custom_exprs = expressions;
	build->custom_private = list_make1(make_spec(param, way, attributes));

	add_foreign(context, way, build);

	foreach(lc, way->places)
	{
		Place	   *place = lfirst(lc);
		CustomScan *probe = (CustomScan *) *place->slot;

		if (!IsA(probe, CustomScan) || probe->methods != &bloomfam_join_probe_methods)
			probe = put_on_top(context, place->slot, &bloomfam_join_probe_methods);
		add_spec(probe, make_spec(param, way, place->attributes));
	}
}

/* ---- which joins ---- */

/* Do rows of the outer side that match no row of the inner side add nothing to the join's result? */
static bool
may_drop_outer(JoinType type)
{
	return type == JOIN_INNER || type == JOIN_SEMI || type == JOIN_RIGHT || BLOOMFAM_IS_RIGHT_SEMI_OR_ANTI(type);
}

/* Is the filter expected to pay? */
static bool
is_worth_it(const HashJoin *join, const Way *way)
{
	double		probed = 0;
	ListCell   *lc;

	if (bloomfam_join_filter == JOIN_FILTER_FORCE)
		return true;
	foreach(lc, way->places)
		probed += (*((Place *) lfirst(lc))->slot)->plan_rows;
	foreach(lc, way->foreign)
	{
		Plan	   *scan = &((ForeignPlace *) lfirst(lc))->scan->scan.plan;

		if (scan->async_capable)	/* else it was among those */
			probed += scan->plan_rows;
	}
	return probed >= bloomfam_join_filter_min_rows && way->drop >= bloomfam_join_filter_min_drop &&
		probed >= innerPlan(join)->plan_rows;
}

static void
init_way(Way *way, PlanContext *context, HashJoin *join, const KeyColumn *columns, int ncolumns)
{
	Plan	   *build = outerPlan(innerPlan(join));
	AttrNumber *attributes = palloc(ncolumns * sizeof(AttrNumber));
	int			i;

	memset(way, 0, sizeof(*way));
	way->context = context;
	way->columns = columns;
	way->ncolumns = ncolumns;
	way->keepers = bms_is_empty(build->extParam) && is_repeatable(build);

	/* EvalPlanQual shares parameters with the query that it belongs to, though it may build anew */
	way->travels = is_on_its_own(context, build) &&
		(is_repeatable(build) || (context->stmt->commandType == CMD_SELECT && context->stmt->rowMarks == NIL && !context->stmt->hasModifyingCTE));
	way->leakproof = true;
	way->drop = 1 - Min(join->join.plan.plan_rows / Max(outerPlan(join)->plan_rows, 1), 1);
	for (i = 0; i < ncolumns; i++)
	{
		way->leakproof &= columns[i].leakproof;
		attributes[i] = columns[i].attribute;
	}
	follow(way, &outerPlan(join), attributes);
}

/* The columns of a join's key that a filter can use; returns their number. */
static int
find_key_columns(HashJoin *join, KeyColumn *columns)
{
	Hash	   *hash = (Hash *) innerPlan(join);
	int			n = 0;
	int			i;

	for (i = 0; i < list_length(join->hashkeys); i++)
	{
		Expr	   *outer = list_nth(join->hashkeys, i);
		KeyColumn  *column = &columns[n];

		while (IsA(outer, RelabelType))
			outer = ((RelabelType *) outer)->arg;
		column->operator = list_nth_oid(join->hashoperators, i);
		column->collation = list_nth_oid(join->hashcollations, i);
		column->inner = list_nth(hash->hashkeys, i);
		if (!IsA(outer, Var) || ((Var *) outer)->varno != OUTER_VAR || ((Var *) outer)->varattno <= 0 ||
			!bloomfam_join_is_indifferent(column->inner) ||
			!bloomfam_join_key_usable(column->operator, column->collation, &column->leakproof))
			continue;
		column->attribute = ((Var *) outer)->varattno;
		n++;
	}
	return n;
}

/* Do two ways end at the same places? */
static bool
same_places(const Way *a, const Way *b)
{
	ListCell   *la;
	ListCell   *lb;

	if (list_length(a->places) != list_length(b->places))
		return false;
	forboth(la, a->places, lb, b->places)
		if (((Place *) lfirst(la))->slot != ((Place *) lfirst(lb))->slot)
			return false;
	return true;
}

static void
plan_join(PlanContext *context, HashJoin *join)
{
	KeyColumn  *columns;
	Way			all;
	Way			one;
	bool		together = true;
	int			n;
	int			i;

	if (!may_drop_outer(join->join.jointype) || innerPlan(join)->parallel_aware)
		return;
	columns = palloc(list_length(join->hashkeys) * sizeof(KeyColumn));
	n = find_key_columns(join, columns);
	if (n == 0)
		return;

	/* one filter of the whole key drops more than one for each column, unless some of these get further down */
	init_way(&all, context, join, columns, n);
	for (i = 0; i < n && n > 1 && together; i++)
	{
		init_way(&one, context, join, &columns[i], 1);
		together = same_places(&all, &one);
	}
	if (together)
	{
		if ((all.places != NIL || all.foreign != NIL) && is_worth_it(join, &all))
			add_filter(context, join, &all);
		return;
	}
	for (i = 0; i < n; i++)
	{
		init_way(&one, context, join, &columns[i], 1);
		if ((one.places != NIL || one.foreign != NIL) && is_worth_it(join, &one))
			add_filter(context, join, &one);
	}
}

static void
plan_tree(PlanContext *context, Plan *plan)
{
	ListCell   *lc;

	if (plan == NULL)
		return;
	check_stack_depth();
	if (IsA(plan, HashJoin))
		plan_join(context, (HashJoin *) plan);
	plan_tree(context, plan->lefttree);
	plan_tree(context, plan->righttree);
	foreach(lc, other_children(plan))
		plan_tree(context, lfirst(lc));
}

void
bloomfam_join_plan(PlannedStmt *stmt)
{
	PlanContext context = {.stmt = stmt};
	ListCell   *lc;

	if (stmt->commandType == CMD_UTILITY)
		return;
	context.epq_params = find_epq_params(stmt->planTree, NULL);
	foreach(lc, stmt->subplans)
		context.epq_params = find_epq_params(lfirst(lc), context.epq_params);
	plan_tree(&context, stmt->planTree);
	foreach(lc, stmt->subplans)
		plan_tree(&context, lfirst(lc));
}
