/*-------------------------------------------------------------------------
 *
 * plan.c
 *	  Which joins get a filter, and where in the plan it drops rows.
 *
 * The planner has finished: join order and methods stay as they are, and only rows that the join
 * would drop anyway may be dropped earlier.  For each hash join whose kind allows that, the
 * columns of its key are followed down the probe side, as far as a row that is missing there is
 * just a row that the join does not get.  Where the way ends, a probe node is put on top; a scan
 * of a heap is then done by pages.
 *
 * The way leads through a node only if all columns of the key come unchanged from one child of
 * it, and
 *
 *	- nothing in the node counts or remembers what it is asked: volatile functions, subplans;
 *	- a row less in the child is a row less in the result: not the nullable side of an outer join,
 *	  no limit, no window, no set operation; an aggregate or DISTINCT only by columns of the key
 *	  that it groups by in the same sense of equality;
 *	- what the node keeps for a rescan stays right then.  Sort, Material, Memoize, the hash table
 *	  of a lower join may keep rows while the join builds anew, with other keys; so its build side
 *	  must come out the same each time: without parameters and without volatile functions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "join/join.h"

typedef struct PlanContext
{
	PlannedStmt *stmt;
	bool		row_security;
	int			last_node_id;	/* 0: not known yet */
	bool		parallel;		/* in the part of the plan that workers run */
	int			nfilters;
	List	   *ancestors;		/* of the node in hand, nearest first */
	List	   *decisions;		/* of JoinDecision */
	Bitmapset  *epq_params;		/* what EvalPlanQual tells scans by; it never changes in the plan
								 * itself */
} PlanContext;

/* A column of a join's key. */
typedef struct KeyColumn
{
	Oid			operator;
	Oid			collation;
	AttrNumber	attribute;		/* of the join's outer child */
	Expr	   *inner;			/* over the Hash's child */
	bool		computed;		/* ... and no plain column of it */
	int			hash_key;		/* of the join, from 0 */
	bool		leakproof;
} KeyColumn;

/* Where a filter is to drop rows: on top of *slot, whose columns these are. */
typedef struct Place
{
	Plan	  **slot;
	AttrNumber *attributes;
	bool		below_gather;	/* which the join is not */
	int			nodes;			/* that a row passes from here on to the join, and that one */
} Place;

/* A foreign scan that it leads to, on top of which it may be, or not. */
typedef struct ForeignPlace
{
	ForeignScan *scan;
	AttrNumber	attribute;		/* the first column of the key, of its, that the filter can travel
								 * by */
	int			column;			/* ... of the key */
	const char *reason;			/* NULL; or why there is none, and it does not travel there */
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
	bool		below_gather;	/* has it led through one? */
	int			nodes;			/* that it has led through */
	List	   *places;
	double		drop;			/* the share of rows at these places that it is expected to drop */
	List	   *foreign;		/* of ForeignPlace */
} Way;

static void follow(Way *way, Plan **slot, const AttrNumber *attributes);

/* ---- about plans ---- */

/*
 * The children of a node that are neither its left nor its right one; of several in a list, that;
 * else NIL.
 */
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

/* Raises *highest to the highest number of a node in a plan. */
static void
find_highest_node_id(Plan *plan, int *highest)
{
	ListCell   *lc;

	if (plan == NULL)
		return;
	check_stack_depth();
	*highest = Max(*highest, plan->plan_node_id);
	find_highest_node_id(plan->lefttree, highest);
	find_highest_node_id(plan->righttree, highest);
	foreach(lc, other_children(plan))
		find_highest_node_id(lfirst(lc), highest);
}

static int
next_node_id(PlanContext *context)
{
	ListCell   *lc;

	if (context->last_node_id == 0)
	{
		find_highest_node_id(context->stmt->planTree, &context->last_node_id);
		foreach(lc, context->stmt->subplans)
			find_highest_node_id(lfirst(lc), &context->last_node_id);
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
	return expression == NULL ||
		   (!contain_volatile_functions(expression) && !contain_subplans(expression));
}

/* The same of a node's own expressions. */
static bool
node_is_indifferent(Plan *plan)
{
	if (!bloomfam_join_is_indifferent(plan->qual) ||
		!bloomfam_join_is_indifferent(plan->targetlist))
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
is_probe(Plan *plan)
{
	return IsA(plan, CustomScan) && ((CustomScan *) plan)->methods == &bloomfam_join_probe_methods;
}

static inline bool
is_ours(Plan *plan)
{
	return is_probe(plan) || (IsA(plan, CustomScan) &&
							  ((CustomScan *) plan)->methods == &bloomfam_join_build_methods);
}

/*
 * Does a plan without parameters give the same rows each time?  Of the nodes, those that surely
 * do.
 */
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
	return node_is_indifferent(plan) && is_repeatable(plan->lefttree) &&
		   is_repeatable(plan->righttree);
}

/* ---- the way down ---- */

const Var *
bloomfam_join_var(const Expr *expr)
{
	while (IsA(expr, RelabelType))
		expr = ((const RelabelType *) expr)->arg;
	return IsA(expr, Var) && ((const Var *) expr)->varattno > 0 ? (const Var *) expr : NULL;
}

AttrNumber
bloomfam_join_column(const Expr *expr, int varno)
{
	const Var  *column = bloomfam_join_var(expr);

	return column != NULL && column->varno == varno ? column->varattno : 0;
}

AttrNumber
bloomfam_join_column_behind(const Plan *plan, AttrNumber attribute, int varno)
{
	return bloomfam_join_column(((TargetEntry *) list_nth(plan->targetlist, attribute - 1))->expr,
								varno);
}

/*
 * All columns of the key behind their columns in the plan; NULL unless all are of this child or
 * table.
 */
static AttrNumber *
columns_behind(Way *way, Plan *plan, const AttrNumber *attributes, int varno)
{
	AttrNumber *behind = palloc(way->ncolumns * sizeof(AttrNumber));
	int			i;

	for (i = 0; i < way->ncolumns; i++)
	{
		behind[i] = bloomfam_join_column_behind(plan, attributes[i], varno);
		if (behind[i] == 0)
			return NULL;
	}
	return behind;
}

/*
 * Are all columns of the key among those that a node groups by, and does it group in the join's
 * sense of equality?  Otherwise a group could lose some of its rows and not others.
 */
static bool
groups_by_key(Way *way, const AttrNumber *behind, int ngroup, const AttrNumber *group,
			  const Oid *operators, const Oid *collations)
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

static ForeignPlace *
foreign_place(Way *way, ForeignScan *scan, const AttrNumber *attributes)
{
	ForeignPlace *place = palloc(sizeof(ForeignPlace));
	int			i;

	place->scan = scan;
	for (i = 0; i < way->ncolumns; i++)
	{
		const KeyColumn *column = &way->columns[i];

		place->column = i;
		place->attribute = attributes[i];
		place->reason =
			bloomfam_join_foreign_refusal(way->context->stmt, scan, attributes[i], column->operator,
										  column->collation, exprType((Node *) column->inner));
		if (place->reason == NULL)
			break;
	}
	return place;
}

static void
stop_here(Way *way, Plan **slot, const AttrNumber *attributes)
{
	Place	   *place = palloc(sizeof(Place));

	place->slot = slot;
	place->attributes = palloc(way->ncolumns * sizeof(AttrNumber));
	memcpy(place->attributes, attributes, way->ncolumns * sizeof(AttrNumber));
	place->below_gather = way->below_gather;
	place->nodes = way->nodes + 1;

	/* an Append asks an asynchronous child itself, and would not know a node in between */
	if (!(*slot)->async_capable)
		way->places = lappend(way->places, place);

	/* with a parameter of its own, the scan would send the filter anew for each of its values */
	if (way->travels && IsA(*slot, ForeignScan) && is_on_its_own(way->context, *slot))
		way->foreign = lappend(way->foreign, foreign_place(way, (ForeignScan *) *slot, attributes));
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

/*
 * The child of a join that the key's columns come from, if rows of it may be dropped; else NULL.
 * There must be nothing between a hash join and its Hash, so the way must be able to go on
 * through that.  *behind has these columns in the outer child, if they are all of that one, and
 * then in the child that is returned.
 */
static Plan **
side_of_join(Way *way, Plan *plan, const AttrNumber *attributes, AttrNumber **behind)
{
	JoinType	type = ((Join *) plan)->jointype;

	if (*behind != NULL &&
		(type == JOIN_INNER || type == JOIN_LEFT || type == JOIN_SEMI || type == JOIN_ANTI))
		return &plan->lefttree;
	if ((type == JOIN_INNER || type == JOIN_RIGHT || BLOOMFAM_IS_RIGHT_SEMI_OR_ANTI(type)) &&
		(!IsA(plan, HashJoin) || (way->keepers && node_is_indifferent(plan->righttree))))
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
		behind =
			columns_behind(way, plan, attributes,
						   IsA(plan, SubqueryScan) ? (int) ((Scan *) plan)->scanrelid : OUTER_VAR);
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
			case T_Gather:
			case T_GatherMerge:
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

					if (behind != NULL && agg->groupingSets == NIL &&
						(agg->aggstrategy == AGG_SORTED || way->keepers) &&
						groups_by_key(way, behind, agg->numCols, agg->grpColIdx, agg->grpOperators,
									  agg->grpCollations))
						next = &plan->lefttree;
					break;
				}
			case T_Group:
				{
					Group	   *group = (Group *) plan;

					if (behind != NULL &&
						groups_by_key(way, behind, group->numCols, group->grpColIdx,
									  group->grpOperators, group->grpCollations))
						next = &plan->lefttree;
					break;
				}
			case T_Unique:
				{
					Unique	   *unique = (Unique *) plan;

					if (behind != NULL &&
						groups_by_key(way, behind, unique->numCols, unique->uniqColIdx,
									  unique->uniqOperators, unique->uniqCollations))
						next = &plan->lefttree;
					break;
				}
			case T_SubqueryScan:
				{
					SubqueryScan *scan = (SubqueryScan *) plan;

					/* what a security barrier hides may not be hashed by what could tell */
					if (way->leakproof ||
						!rt_fetch(scan->scan.scanrelid, way->context->stmt->rtable)
							 ->security_barrier)
						next = &scan->subplan;
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
					/*
					 * hands rows on as they are; and one node on top of a scan is enough for all
					 * filters
					 */
					ListCell   *lc;

					follow(way, &plan->lefttree, attributes);
					foreach(lc, way->places)
						if (((Place *) lfirst(lc))->slot == &plan->lefttree && is_probe(plan))
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
	{
		bool		below_gather = way->below_gather;

		way->below_gather |= IsA(plan, Gather) || IsA(plan, GatherMerge);
		way->nodes++;
		follow(way, next, behind);
		way->nodes--;
		way->below_gather = below_gather;
	}
}

/* ---- nodes ---- */

/* Puts a node that hands rows on as they are on top of a plan, which workers run or not. */
static CustomScan *
put_on_top(PlanContext *context, Plan **slot, const CustomScanMethods *methods, bool parallel)
{
	Plan	   *child = *slot;
	CustomScan *node = makeNode(CustomScan);
	Plan	   *plan = &node->scan.plan;
	ListCell   *lc;

	foreach(lc, child->targetlist)
	{
		TargetEntry *entry = lfirst(lc);
		TargetEntry *below = flatCopyTargetEntry(entry);
		TargetEntry *above = flatCopyTargetEntry(entry);	/* clients are told of its origin */

		below->expr = (Expr *) makeVarFromTargetEntry(OUTER_VAR, entry);
		above->expr = (Expr *) makeVarFromTargetEntry(INDEX_VAR, entry);
		node->custom_scan_tlist = lappend(node->custom_scan_tlist, below);
		plan->targetlist = lappend(plan->targetlist, above);
	}
	plan->startup_cost = child->startup_cost;
	plan->total_cost = child->total_cost;
	plan->plan_rows = child->plan_rows; /* a Hash above sizes its table by it */
	plan->plan_width = child->plan_width;
	plan->parallel_safe = child->parallel_safe;
	plan->parallel_aware = parallel;	/* else it would get no shared memory */
	plan->plan_node_id = next_node_id(context);
	plan->lefttree = child;
	plan->extParam = bms_copy(child->extParam);
	plan->allParam = bms_copy(child->allParam);
	node->methods = methods;
	*slot = plan;
	return node;
}

static List *
make_spec(int param, int number, bool shared, const Way *way, const AttrNumber *attributes)
{
	List	   *spec = list_make4_int(param, number, shared, (int) (way->drop * 1000));
	int			i;

	for (i = 0; i < way->ncolumns; i++)
	{
		spec = lappend_int(spec, way->columns[i].operator);
		spec = lappend_int(spec, way->columns[i].collation);
		spec = lappend_int(spec, attributes[i]);
		spec = lappend_int(spec, way->columns[i].hash_key);
	}
	return spec;
}

/* Adds a filter to those of a probe node: before those that are expected to drop less. */
static void
add_spec(CustomScan *probe, List *spec)
{
	int			i = 0;

	while (i < list_length(probe->custom_private) &&
		   list_nth_int(list_nth(probe->custom_private, i), JOIN_SPEC_DROP) >=
			   list_nth_int(spec, JOIN_SPEC_DROP))
		i++;
	probe->custom_private = list_insert_nth(probe->custom_private, i, spec);
}

/* Lets the filter travel to the foreign scans that it can. */
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

		if (place->reason != NULL)
			continue;
		bloomfam_join_foreign_plan(context->stmt, place->scan, place->attribute,
								   &params[place->column]);
		any = true;
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

/*
 * Puts a filter into the plan: on the build side of the join, and at its places.  Returns its
 * number.
 */
static int
add_filter(PlanContext *context, HashJoin *join, const Way *way)
{
	PlannedStmt *stmt = context->stmt;
	Plan	   *hash = innerPlan(join);
	int			param = list_length(stmt->paramExecTypes);
	int			number = ++context->nfilters;
	AttrNumber *attributes = palloc0(way->ncolumns * sizeof(AttrNumber));
	CustomScan *build;
	List	   *expressions = NIL;
	ListCell   *lc;
	int			i;

	stmt->paramExecTypes = lappend_oid(stmt->paramExecTypes, INTERNALOID);
	for (i = 0; i < way->ncolumns; i++)
	{
		attributes[i] = bloomfam_join_column(way->columns[i].inner, OUTER_VAR);
		if (attributes[i] == 0)
			expressions = lappend(expressions, copyObject(way->columns[i].inner));
	}
	build = put_on_top(context, &outerPlan(hash), &bloomfam_join_build_methods, context->parallel);
	build->custom_exprs = expressions;
	build->custom_private =
		list_make1(make_spec(param, number, hash->parallel_aware, way, attributes));

	add_foreign(context, way, build);

	foreach(lc, way->places)
	{
		Place	   *place = lfirst(lc);
		CustomScan *probe = (CustomScan *) *place->slot;

		if (!is_probe(&probe->scan.plan))
			probe = put_on_top(context, place->slot, &bloomfam_join_probe_methods,
							   context->parallel || place->below_gather);
		add_spec(probe, make_spec(param, number, place->below_gather, way, place->attributes));
	}
	return number;
}

/* ---- which joins ---- */

/* Is it a scan that may be done by pages? */
static bool
is_paged(Plan *plan)
{
	return IsA(plan, SeqScan) || (is_ours(plan) && IsA(plan->lefttree, SeqScan));
}

/* Is the filter expected to pay? */
static JoinVerdict
judge(const HashJoin *join, const Way *way)
{
	JoinVerdict verdict;
	const Plan *hash = innerPlan(join);
	double		spilling =
		bloomfam_join_spilling(hash->plan_rows, hash->plan_width, outerPlan(join)->plan_width);
	ListCell   *lc;

	bloomfam_join_verdict_begin(&verdict, hash->plan_rows, way->drop);
	foreach(lc, way->places)
	{
		const Place *place = lfirst(lc);
		Plan	   *plan = *place->slot;

		bloomfam_join_verdict_place(&verdict, plan->plan_rows, is_paged(plan), place->nodes,
									spilling);
	}
	foreach(lc, way->foreign)
	{
		const ForeignPlace *place = lfirst(lc);
		Plan	   *scan = &place->scan->scan.plan;

		verdict.foreign++;
		if (place->reason != NULL)
		{
			verdict.unsent++;
			verdict.unsent_reason = place->reason;
			continue;
		}
		if (scan->async_capable)	/* else it was among those */
			verdict.probed += scan->plan_rows;
		bloomfam_join_verdict_foreign(&verdict, scan->plan_rows);
	}
	if (way->places == NIL && verdict.unsent == verdict.foreign)
		verdict.reason = JOIN_HAS_NO_PLACE;
	else
		verdict.reason = bloomfam_join_verdict_end(&verdict);
	return verdict;
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
	/* the Hash's parameters are those of its keys, too */
	way->keepers = bms_is_empty(innerPlan(join)->extParam) && bms_is_empty(build->extParam) &&
				   is_repeatable(build);

	/* EvalPlanQual shares parameters with the query that it belongs to, though it may build anew */
	way->travels = !context->parallel && is_on_its_own(context, innerPlan(join)) &&
				   is_on_its_own(context, build) &&
				   (is_repeatable(build) ||
					(context->stmt->commandType == CMD_SELECT && context->stmt->rowMarks == NIL &&
					 !context->stmt->hasModifyingCTE));
	way->leakproof = true;
	way->drop = 1 - Min(join->join.plan.plan_rows / Max(outerPlan(join)->plan_rows, 1), 1);
	for (i = 0; i < ncolumns; i++)
	{
		way->leakproof &= columns[i].leakproof;
		attributes[i] = columns[i].attribute;
	}
	follow(way, &outerPlan(join), attributes);
}

/*
 * The columns of a join's key that a filter can use; returns their number, and says in the
 * verdicts why not of the others.
 *
 * A key that the build side computes may fail, by a division by zero for instance, but the Hash
 * does not come to compute it where a key before it is NULL.  So it is used only together with
 * all keys before it: the build node then stops where the Hash does.
 */
static int
find_key_columns(HashJoin *join, KeyColumn *columns, JoinVerdict *verdicts)
{
	Hash	   *hash = (Hash *) innerPlan(join);
	int			n = 0;
	int			i;

	for (i = 0; i < list_length(join->hashkeys); i++)
	{
		KeyColumn  *column = &columns[n];

		column->attribute = bloomfam_join_column(list_nth(join->hashkeys, i), OUTER_VAR);
		column->operator = list_nth_oid(join->hashoperators, i);
		column->collation = list_nth_oid(join->hashcollations, i);
		column->inner = list_nth(hash->hashkeys, i);
		column->hash_key = i;
		column->computed = bloomfam_join_column(column->inner, OUTER_VAR) == 0;
		if (column->attribute == 0 || !bloomfam_join_is_indifferent(column->inner) ||
			(column->computed && n < i))
			verdicts[i].reason = JOIN_KEY_IS_COMPUTED;
		else if (!bloomfam_join_key_usable(column->operator, column->collation, &column->leakproof))
			verdicts[i].reason = JOIN_KEY_HAS_NO_HASH;
		else
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

/*
 * Decides about one filter, and puts it into the plan; tells the verdict of the keys that it is
 * of.
 */
static void
decide(PlanContext *context, HashJoin *join, const Way *way, JoinVerdict *verdicts)
{
	JoinVerdict verdict = judge(join, way);
	int			i;

	if (verdict.reason == JOIN_HAS_FILTER)
		verdict.filter = add_filter(context, join, way);
	for (i = 0; i < way->ncolumns; i++)
		verdicts[way->columns[i].hash_key] = verdict;
}

static void
plan_keys(PlanContext *context, HashJoin *join, JoinVerdict *verdicts)
{
	KeyColumn  *columns = palloc(list_length(join->hashkeys) * sizeof(KeyColumn));
	int			n = find_key_columns(join, columns, verdicts);
	bool		together = true;
	Way			all;
	Way			one;
	int			i;

	if (n == 0)
		return;

	/*
	 * one filter of the whole key drops more than one for each column, unless some of these get
	 * further down
	 */
	init_way(&all, context, join, columns, n);
	for (i = 0; i < n && n > 1 && together; i++)
	{
		init_way(&one, context, join, &columns[i], 1);
		together = same_places(&all, &one);
	}
	if (together)
	{
		decide(context, join, &all, verdicts);
		return;
	}
	for (i = 0; i < n; i++)
	{
		if (columns[i].computed && columns[i].hash_key > 0)
		{
			verdicts[columns[i].hash_key].reason = JOIN_KEY_IS_COMPUTED;
			continue;
		}
		init_way(&one, context, join, &columns[i], 1);
		decide(context, join, &one, verdicts);
	}
}

static void
plan_join(PlanContext *context, HashJoin *join)
{
	int			nkeys = list_length(join->hashkeys);
	JoinDecision *decision = palloc(sizeof(JoinDecision));
	int			i;

	decision->join = join;
	decision->ancestors = list_copy(context->ancestors);
	decision->verdicts = palloc0(nkeys * sizeof(JoinVerdict));
	if (bloomfam_join_may_drop_outer(join->join.jointype))
		plan_keys(context, join, decision->verdicts);
	else
		for (i = 0; i < nkeys; i++)
			decision->verdicts[i].reason = JOIN_KEEPS_ROWS;
	context->decisions = lappend(context->decisions, decision);
}

/* Moves conditions with stored filters from a scan to the node on top of it. */
static void
plan_scan(PlanContext *context, Plan **slot, Plan *parent)
{
	CustomScan *probe = (CustomScan *) parent;
	List	   *conditions;
	ListCell   *lc;

	/* who knows what others' nodes think of their children */
	if (parent != NULL && IsA(parent, CustomScan) && !is_ours(parent))
		return;
	conditions = bloomfam_join_take_stored(context->stmt, (Scan *) *slot, context->row_security);
	if (conditions == NIL)
		return;
	if (parent == NULL || !is_probe(parent))
	{
		probe = put_on_top(context, slot, &bloomfam_join_probe_methods, context->parallel);
		if (ExecSupportsBackwardScan(outerPlan(probe)))
			probe->flags |= CUSTOMPATH_SUPPORT_BACKWARD_SCAN;
	}
	foreach(lc, conditions)
		add_spec(probe, bloomfam_join_stored_spec(probe, lfirst(lc)));
}

/* From the top down: when a scan is come to, all filters of joins that go there are there. */
static void
plan_tree(PlanContext *context, Plan **slot, Plan *parent)
{
	Plan	   *plan = *slot;
	bool		parallel = context->parallel;
	ListCell   *lc;

	if (plan == NULL)
		return;
	check_stack_depth();
	if (IsA(plan, HashJoin))
		plan_join(context, (HashJoin *) plan);
	context->parallel |= IsA(plan, Gather) || IsA(plan, GatherMerge);
	context->ancestors = lcons(plan, context->ancestors);
	plan_tree(context, &plan->lefttree, plan);
	plan_tree(context, &plan->righttree, plan);
	if (IsA(plan, SubqueryScan))
		plan_tree(context, &((SubqueryScan *) plan)->subplan, plan);
	else
		foreach(lc, other_children(plan))
			plan_tree(context, (Plan **) &lfirst(lc), plan);
	context->ancestors = list_delete_first(context->ancestors);
	context->parallel = parallel;
	if (IsA(plan, SeqScan))
		plan_scan(context, slot, parent);
}

List *
bloomfam_join_plan(PlannedStmt *stmt, bool row_security)
{
	PlanContext context = {.stmt = stmt, .row_security = row_security};
	ListCell   *lc;

	if (stmt->commandType == CMD_UTILITY)
		return NIL;
	context.epq_params = find_epq_params(stmt->planTree, NULL);
	foreach(lc, stmt->subplans)
		context.epq_params = find_epq_params(lfirst(lc), context.epq_params);
	plan_tree(&context, &stmt->planTree, NULL);
	foreach(lc, stmt->subplans)
		plan_tree(&context, (Plan **) &lfirst(lc), NULL);
	return context.decisions;
}
