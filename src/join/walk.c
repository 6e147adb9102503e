/*-------------------------------------------------------------------------
 *
 * walk.c
 *	  Where a filter can drop rows: the columns of a join's key, followed down a finished plan.
 *
 * The planner has finished: join order and methods stay as they are, and only rows that the join
 * would drop anyway may be dropped earlier.  So the columns of
 * the key of a hash join whose kind allows that are followed down its probe side, as far as a row
 * that is missing there is just a row that the join does not get.  Where the way ends, a filter
 * can be asked.
 *
 * Through a hash join that compares the column of a key with one of its other side it leads down
 * both.
 *
 * The way leads through a node only if all columns of the key come unchanged from one child of
 * it, and
 *
 *	- nothing in the node counts or remembers what it is asked: volatile functions, subplans; nor
 *	  in the other side of a join, which is asked less often if there is less to join;
 *	- a row less in the child is a row less in the result: not the nullable side of an outer join,
 *	  no limit, no window, no set operation; an aggregate or DISTINCT only by columns of the key
 *	  that it groups by in the same sense of equality.  What is computed of a part of a group may
 *	  fail, by a division by zero for instance, where that of all of it does not: so below, all
 *	  rows with a key are dropped, or none;
 *	- the rows that the node drops may be hashed: with a security barrier somewhere in the query,
 *	  only by what is leakproof;
 *	- what the node keeps for a rescan stays right then.  Sort, Material, Memoize, the hash table
 *	  of a lower join may keep rows while the join builds anew, with other keys; so its build side
 *	  must come out the same each time: without parameters and without volatile functions, and its
 *	  key not computed by an aggregate.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "join/column.h"
#include "join/foreign.h"
#include "join/spec.h"
#include "join/walk.h"
#include "pg/compat.h"

List *
bloomfam_join_other_children(Plan *plan)
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

int
bloomfam_join_workers(const Plan *plan, int workers)
{
	if (IsA(plan, Gather))
		return ((const Gather *) plan)->num_workers;
	return IsA(plan, GatherMerge) ? ((const GatherMerge *) plan)->num_workers : workers;
}

/*
 * Adds the parameters by which EvalPlanQual tells scans to begin anew, and those of subqueries
 * that notice how often they are asked, which they are when the first row needs them.
 */
static void
find_params(JoinQuery *query, Plan *plan)
{
	ListCell   *lc;
	ListCell   *lp;

	if (plan == NULL)
		return;
	check_stack_depth();
	if (IsA(plan, ModifyTable))
		query->epq_params = bms_add_member(query->epq_params, ((ModifyTable *) plan)->epqParam);
	else if (IsA(plan, LockRows))
		query->epq_params = bms_add_member(query->epq_params, ((LockRows *) plan)->epqParam);
	foreach(lc, plan->initPlan)
	{
		const SubPlan *subplan = lfirst_node(SubPlan, lc);

		if (bms_is_member(subplan->plan_id, query->noticing))
			foreach(lp, subplan->setParam)
				query->noticing_params =
					bms_add_member(query->noticing_params, lfirst_int(lp));
	}
	foreach(lc, bloomfam_join_other_children(plan))
		find_params(query, lfirst(lc));
	find_params(query, plan->lefttree);
	find_params(query, plan->righttree);
}

/* Is a plan without parameters from outside, while the plan that it is part of runs? */
static inline bool
is_on_its_own(const JoinQuery *query, const Plan *plan)
{
	return bms_is_subset(plan->extParam, query->epq_params);
}

/* Is there a subquery that notices how often it is asked, or what one gives? */
static bool
has_noticing_subplan(Node *node, void *context)
{
	const JoinQuery *query = context;

	if (node == NULL)
		return false;
	if (IsA(node, SubPlan) && bms_is_member(((SubPlan *) node)->plan_id, query->noticing))
		return true;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC &&
		bms_is_member(((Param *) node)->paramid, query->noticing_params))
		return true;
	return expression_tree_walker(node, has_noticing_subplan, context);
}

/*
 * Does an expression, or a list of them, notice nothing of how often it is asked?  There may be
 * subqueries in it, which it is worth most to ask less often.
 */
static bool
notices_nothing(const JoinQuery *query, void *expression)
{
	return !contain_volatile_functions(expression) &&
		   (query->noticing == NULL ||
			!has_noticing_subplan(expression, unconstify(JoinQuery *, query)));
}

/* Notes what was found of a node, and returns it. */
static bool
note_known(JoinKnown *known, const Plan *plan, bool indifferent)
{
	known->known = bms_add_member(known->known, plan->plan_node_id);
	if (indifferent)
		known->indifferent = bms_add_member(known->indifferent, plan->plan_node_id);
	return indifferent;
}

/* The keys that a node compares, or the functions or values that it asks for: NULL if none. */
static void *
keys_of(Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_HashJoin:
			return ((HashJoin *) plan)->hashclauses;
		case T_MergeJoin:
			return ((MergeJoin *) plan)->mergeclauses;
		case T_Hash:
			return ((Hash *) plan)->hashkeys;
		case T_IndexScan:
			return ((IndexScan *) plan)->indexqualorig;
		case T_IndexOnlyScan:
			return ((IndexOnlyScan *) plan)->indexqual;
		case T_BitmapHeapScan:
			return ((BitmapHeapScan *) plan)->bitmapqualorig;
		case T_FunctionScan:
			return ((FunctionScan *) plan)->functions;
		case T_TableFuncScan:
			return ((TableFuncScan *) plan)->tablefunc;
		case T_ValuesScan:
			return ((ValuesScan *) plan)->values_lists;
		case T_SampleScan:
			return ((SampleScan *) plan)->tablesample;
		case T_Limit:
			return ((Limit *) plan)->limitCount;
		case T_WindowAgg:
			return ((WindowAgg *) plan)->startOffset;
		default:
			return NULL;
	}
}

/*
 * The conditions of a join beside its keys, or of a Result beside its rows', or what else a node
 * asks for: NULL if nothing.
 */
static void *
conditions_of(Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_HashJoin:
		case T_NestLoop:
		case T_MergeJoin:
			return ((Join *) plan)->joinqual;
		case T_Result:
			return ((Result *) plan)->resconstantqual;
		case T_Limit:
			return ((Limit *) plan)->limitOffset;
		case T_WindowAgg:
			return ((WindowAgg *) plan)->endOffset;
		default:
			return NULL;
	}
}

bool
bloomfam_join_node_is_indifferent(const JoinQuery *query, Plan *plan)
{
	void	   *others = conditions_of(plan);

	if (bms_is_member(plan->plan_node_id, query->nodes->known))
		return bms_is_member(plan->plan_node_id, query->nodes->indifferent);
	return note_known(query->nodes, plan,
					  !contain_subplans((Node *) plan->qual) &&
						  !contain_subplans((Node *) plan->targetlist) &&
						  !contain_subplans(others) && notices_nothing(query, plan->qual) &&
						  notices_nothing(query, plan->targetlist) &&
						  notices_nothing(query, others) &&
						  notices_nothing(query, keys_of(plan)));
}

/* Are all plans of a list indifferent as a whole? */
static bool
trees_are_indifferent(const JoinQuery *query, const List *plans)
{
	ListCell   *lc;

	foreach(lc, plans)
		if (!bloomfam_join_tree_is_indifferent(query, lfirst(lc)))
			return false;
	return true;
}

bool
bloomfam_join_tree_is_indifferent(const JoinQuery *query, Plan *plan)
{
	if (plan == NULL)
		return true;
	if (bms_is_member(plan->plan_node_id, query->trees->known))
		return bms_is_member(plan->plan_node_id, query->trees->indifferent);
	check_stack_depth();
	if (IsA(plan, CteScan) && bms_is_member(((CteScan *) plan)->ctePlanId, query->noticing))
		return note_known(query->trees, plan, false);
	return note_known(query->trees, plan,
					  !IsA(plan, LockRows) && notices_nothing(query, plan->qual) &&
						  notices_nothing(query, plan->targetlist) &&
						  notices_nothing(query, conditions_of(plan)) &&
						  notices_nothing(query, keys_of(plan)) &&
						  notices_nothing(query, plan->initPlan) &&
						  trees_are_indifferent(query, bloomfam_join_other_children(plan)) &&
						  bloomfam_join_tree_is_indifferent(query, plan->lefttree) &&
						  bloomfam_join_tree_is_indifferent(query, plan->righttree));
}

/*
 * Does a plan without parameters give the same rows each time?  Of the nodes, those that surely
 * do.
 */
static bool
is_repeatable(const JoinQuery *query, Plan *plan)
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
			if (bloomfam_join_node_kind(plan) == JOIN_NODE_OTHER)
				return false;
	}
	foreach(lc, bloomfam_join_other_children(plan))
		if (!is_repeatable(query, lfirst(lc)))
			return false;
	return bloomfam_join_node_is_indifferent(query, plan) && is_repeatable(query, plan->lefttree) &&
		   is_repeatable(query, plan->righttree);
}

/* Does a node group rows, or one below it? */
static bool
groups_rows(Plan *plan)
{
	ListCell   *lc;

	if (plan == NULL)
		return false;
	check_stack_depth();
	if (IsA(plan, Agg) || IsA(plan, Group) || IsA(plan, Unique))
		return true;
	foreach(lc, bloomfam_join_other_children(plan))
		if (groups_rows(lfirst(lc)))
			return true;
	return groups_rows(plan->lefttree) || groups_rows(plan->righttree);
}

/* Is a column of a plan's rows the same each time, as the rows are? */
static bool column_is_repeatable(Plan *plan, AttrNumber attribute);

/* The same of a node that groups rows, by these columns of its child. */
static bool
grouped_is_repeatable(Plan *plan, AttrNumber attribute, int n, const AttrNumber *columns)
{
	AttrNumber	behind = bloomfam_join_column_behind(plan, attribute, OUTER_VAR);
	int			i;

	for (i = 0; i < n; i++)
		if (columns[i] == behind)
			return column_is_repeatable(plan->lefttree, behind);
	return false;
}

/*
 * What an aggregate computes, or DISTINCT ON keeps of a group, may depend on the order in which
 * rows come, which scans and workers do not promise.
 */
static bool
column_is_repeatable(Plan *plan, AttrNumber attribute)
{
	AttrNumber	behind;
	ListCell   *lc;

	check_stack_depth();
	switch (nodeTag(plan))
	{
		case T_Agg:
			return grouped_is_repeatable(plan, attribute, ((Agg *) plan)->numCols,
										 ((Agg *) plan)->grpColIdx);
		case T_Group:
			return grouped_is_repeatable(plan, attribute, ((Group *) plan)->numCols,
										 ((Group *) plan)->grpColIdx);
		case T_Unique:
			return grouped_is_repeatable(plan, attribute, ((Unique *) plan)->numCols,
										 ((Unique *) plan)->uniqColIdx);
		case T_Append:
		case T_MergeAppend:
			foreach(lc, bloomfam_join_other_children(plan))
				if (!column_is_repeatable(lfirst(lc), attribute))
					return false;
			return true;
		case T_SubqueryScan:
			behind =
				bloomfam_join_column_behind(plan, attribute, ((Scan *) plan)->scanrelid);
			return behind != 0 ? column_is_repeatable(((SubqueryScan *) plan)->subplan, behind)
							   : !groups_rows(plan);
		case T_CustomScan:
			return column_is_repeatable(plan->lefttree, attribute);
		default:
			break;
	}
	if (plan->lefttree != NULL)
	{
		behind = bloomfam_join_column_behind(plan, attribute, OUTER_VAR);
		if (behind != 0)
			return column_is_repeatable(plan->lefttree, behind);
	}
	if (plan->righttree != NULL)
	{
		behind = bloomfam_join_column_behind(plan, attribute, INNER_VAR);
		if (behind != 0)
			return column_is_repeatable(plan->righttree, behind);
	}
	return !groups_rows(plan);
}

/* The same of all that a key is computed from. */
static bool
key_is_repeatable(Plan *build, const JoinKeyColumn *columns, int ncolumns)
{
	ListCell   *lc;
	int			i;

	for (i = 0; i < ncolumns; i++)
		foreach(lc, pull_var_clause((Node *) columns[i].inner, 0))
			if (!column_is_repeatable(build, lfirst_node(Var, lc)->varattno))
				return false;
	return true;
}

static void follow(JoinWay *way, Plan **slot, const AttrNumber *attributes);

/*
 * All columns of the key behind their columns in the plan; NULL unless all are of this child or
 * table.
 */
static AttrNumber *
columns_behind(JoinWay *way, Plan *plan, const AttrNumber *attributes, int varno)
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
groups_by_key(JoinWay *way, const AttrNumber *behind, int ngroup, const AttrNumber *group,
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

static JoinForeignPlace *
foreign_place(JoinWay *way, ForeignScan *scan, const AttrNumber *attributes)
{
	JoinForeignPlace *place = palloc(sizeof(JoinForeignPlace));
	bool		indifferent = bloomfam_join_node_is_indifferent(way->query, &scan->scan.plan);
	int			i;

	place->scan = scan;
	for (i = 0; i < way->ncolumns; i++)
	{
		const JoinKeyColumn *column = &way->columns[i];

		place->column = i;
		place->attribute = attributes[i];
		place->reason =
			bloomfam_join_foreign_refusal(way->query->stmt, scan, indifferent, attributes[i],
										  column->operator, column->collation,
										  exprType((Node *) column->inner));
		if (place->reason == NULL)
			break;
	}
	return place;
}

static void
stop_here(JoinWay *way, Plan **slot, const AttrNumber *attributes)
{
	JoinPlace  *place = palloc0(sizeof(JoinPlace));

	place->slot = slot;
	place->attributes = palloc(way->ncolumns * sizeof(AttrNumber));
	memcpy(place->attributes, attributes, way->ncolumns * sizeof(AttrNumber));
	place->passed = way->passed;
	place->passed.nodes++;

	/* an Append asks an asynchronous child itself, and would not know a node in between */
	if (!(*slot)->async_capable)
		way->places = lappend(way->places, place);

	/* with a parameter of its own, the scan would send the filter anew for each of its values */
	if (way->travels && IsA(*slot, ForeignScan) && is_on_its_own(way->query, *slot))
		way->foreign = lappend(way->foreign, foreign_place(way, (ForeignScan *) *slot, attributes));
}

/*
 * The child of a join that the key's columns come from, if rows of it may be dropped; else NULL.
 * Nothing on the other side may notice that: a nested loop asks its inner side once for each row
 * of the outer one; the others leave a side where it is, once the other has no more rows.  There
 * must be nothing between a hash join and its Hash, so the way must be able to go on through that.
 * *behind gets the columns in the child that is returned.
 */
static Plan **
side_of_join(JoinWay *way, Plan *plan, const AttrNumber *attributes, AttrNumber **behind)
{
	JoinType	type = ((Join *) plan)->jointype;

	*behind = columns_behind(way, plan, attributes, OUTER_VAR);
	if (*behind != NULL &&
		(type == JOIN_INNER || type == JOIN_LEFT || type == JOIN_SEMI || type == JOIN_ANTI))
		return bloomfam_join_tree_is_indifferent(way->query, plan->righttree) ? &plan->lefttree
																			  : NULL;
	if ((type == JOIN_INNER || type == JOIN_RIGHT || BLOOMFAM_IS_RIGHT_SEMI_OR_ANTI(type)) &&
		(!IsA(plan, HashJoin) ||
		 (way->keepers && bloomfam_join_node_is_indifferent(way->query, plan->righttree))))
	{
		*behind = columns_behind(way, plan, attributes, INNER_VAR);
		if (*behind != NULL &&
			(IsA(plan, NestLoop) || bloomfam_join_tree_is_indifferent(way->query, plan->lefttree)))
			return &plan->righttree;
	}
	return NULL;
}

/*
 * The column of a hash join's other child that is equal, in the sense of the filter's join, to the
 * key's, which is this one of its outer or inner child; 0: there is none that the way may lead to
 * as well.  A row there whose column is not in the filter matches only rows that are not, either:
 * these are dropped in any case, as are, of a semi-join, those that then match none.
 */
static AttrNumber
column_across(const JoinWay *way, Plan *plan, bool from_inner, AttrNumber attribute)
{
	const JoinKeyColumn *key = &way->columns[0];
	JoinType	type = ((Join *) plan)->jointype;
	ListCell   *lc;

	if (!IsA(plan, HashJoin) || way->ncolumns != 1 ||
		(type != JOIN_INNER && (type != JOIN_SEMI || from_inner)) ||
		(!from_inner &&
		 (!way->keepers || !bloomfam_join_node_is_indifferent(way->query, plan->righttree))))
		return 0;
	foreach(lc, ((HashJoin *) plan)->hashclauses)
	{
		const OpExpr *clause = lfirst_node(OpExpr, lc);
		AttrNumber	outer = bloomfam_join_column(linitial(clause->args), OUTER_VAR);
		AttrNumber	inner = bloomfam_join_column(lsecond(clause->args), INNER_VAR);
		Oid			left;
		Oid			right;

		op_input_types(clause->opno, &left, &right);
		if (outer != 0 && inner != 0 && attribute == (from_inner ? inner : outer) &&
			left == key->hashing.outer.type && right == left &&
			clause->inputcollid == key->collation &&
			equality_ops_are_compatible(clause->opno, key->operator))
			return from_inner ? outer : inner;
	}
	return 0;
}

/* Does a node that groups rows compute something of those of a group, or choose among them? */
static bool
looks_into_groups(const Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_Agg:
			return contain_agg_clause((Node *) plan->targetlist) ||
				   contain_agg_clause((Node *) plan->qual);
		case T_Unique:
			return ((const Unique *) plan)->numCols < list_length(plan->targetlist);
		default:
			return false;
	}
}

/* Can a node drop rows of the child that the way leads to? */
static bool
hides_rows(Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_HashJoin:
		case T_NestLoop:
		case T_MergeJoin:
			return plan->qual != NIL || ((Join *) plan)->jointype != JOIN_LEFT;
		case T_Result:
			return plan->qual != NIL || ((Result *) plan)->resconstantqual != NULL;
		default:
			return plan->qual != NIL;
	}
}

/*
 * Can the way lead through this node, as far as its own expressions tell?  What a security barrier
 * hides may not be hashed by what could tell.  A subquery that needs no node of its own has none in
 * a finished plan, so any node could be its: of one that drops no rows that does not matter.
 */
static bool
is_passable(const JoinWay *way, Plan *plan)
{
	return bloomfam_join_node_is_indifferent(way->query, plan) &&
		   (way->trust == JOIN_HASH_LEAKPROOF || !way->query->has_barrier || !hides_rows(plan));
}

/* Does a node read rows, and hand on what it makes of them later? */
static bool
stores_rows(const Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_Sort:
		case T_IncrementalSort:
		case T_Material:
		case T_Memoize:
		case T_Hash:
		case T_Agg:
		case T_Gather:
		case T_GatherMerge:
			return true;
		default:
			return false;
	}
}

/* Notes that the way leads through a node. */
static void
pass_through(JoinWay *way, const Plan *plan)
{
	way->passed.below_gather |= IsA(plan, Gather) || IsA(plan, GatherMerge);
	way->passed.workers = bloomfam_join_workers(plan, way->passed.workers);
	way->passed.below_hash |= IsA(plan, Hash);
	way->passed.stored |= stores_rows(plan);
	way->passed.whole |= looks_into_groups(plan);
	way->passed.nodes++;
}

/* Through an Append to all children that can take it. */
static void
follow_each(JoinWay *way, Plan **slot, const AttrNumber *attributes)
{
	AttrNumber *behind = columns_behind(way, *slot, attributes, OUTER_VAR);
	ListCell   *lc;

	if (behind == NULL)
	{
		stop_here(way, slot, attributes);
		return;
	}
	foreach(lc, bloomfam_join_other_children(*slot))
	{
		Plan	  **child = (Plan **) &lfirst(lc);

		way->passed.branch = child;
		way->passed.branch_attributes = behind;
		if ((*child)->async_capable)
			stop_here(way, child, behind);
		else
			follow(way, child, behind);
	}
}

/* Through a join to one side of it, or to both. */
static void
follow_join(JoinWay *way, Plan **slot, const AttrNumber *attributes)
{
	Plan	   *plan = *slot;
	AttrNumber *behind;
	Plan	  **next = side_of_join(way, plan, attributes, &behind);
	Plan	  **other;
	AttrNumber	across;

	if (next == NULL)
	{
		stop_here(way, slot, attributes);
		return;
	}
	other = next == &plan->lefttree ? &plan->righttree : &plan->lefttree;
	across = column_across(way, plan, other == &plan->lefttree, behind[0]);
	pass_through(way, plan);
	follow(way, next, behind);
	if (across != 0)
		follow(way, other, &across);
}

/* The only child of a node, if the way can lead there with these columns of it; else NULL. */
static Plan **
only_child(JoinWay *way, Plan *plan, const AttrNumber *behind)
{
	switch (nodeTag(plan))
	{
		case T_Sort:
		case T_IncrementalSort:
		case T_Material:
		case T_Memoize:
		case T_Hash:
			return way->keepers ? &plan->lefttree : NULL;
		case T_Result:
		case T_Gather:
		case T_GatherMerge:
			return plan->lefttree != NULL ? &plan->lefttree : NULL;
		case T_Agg:
			{
				const Agg  *agg = (Agg *) plan;

				return agg->groupingSets == NIL &&
							   (agg->aggstrategy == AGG_SORTED || way->keepers) &&
							   groups_by_key(way, behind, agg->numCols, agg->grpColIdx,
											 agg->grpOperators, agg->grpCollations)
						   ? &plan->lefttree
						   : NULL;
			}
		case T_Group:
			{
				const Group *group = (Group *) plan;

				return groups_by_key(way, behind, group->numCols, group->grpColIdx,
									 group->grpOperators, group->grpCollations)
						   ? &plan->lefttree
						   : NULL;
			}
		case T_Unique:
			{
				const Unique *unique = (Unique *) plan;

				return groups_by_key(way, behind, unique->numCols, unique->uniqColIdx,
									 unique->uniqOperators, unique->uniqCollations)
						   ? &plan->lefttree
						   : NULL;
			}
		case T_SubqueryScan:
			return &((SubqueryScan *) plan)->subplan;
		default:
			return NULL;
	}
}

static void
follow_child(JoinWay *way, Plan **slot, const AttrNumber *attributes)
{
	Plan	   *plan = *slot;
	int			varno = IsA(plan, SubqueryScan) ? (int) ((Scan *) plan)->scanrelid : OUTER_VAR;
	AttrNumber *behind = columns_behind(way, plan, attributes, varno);
	Plan	  **next = behind != NULL ? only_child(way, plan, behind) : NULL;

	if (next == NULL)
	{
		stop_here(way, slot, attributes);
		return;
	}
	pass_through(way, plan);
	follow(way, next, behind);
}

/* A node of ours hands rows on as they are; and one on top of a scan is enough for all filters. */
static void
follow_own(JoinWay *way, Plan **slot, const AttrNumber *attributes)
{
	Plan	   *plan = *slot;
	int			before = list_length(way->places);
	ListCell   *lc;

	follow(way, &plan->lefttree, attributes);
	if (bloomfam_join_node_kind(plan) != JOIN_NODE_PROBE)
		return;
	for_each_from(lc, way->places, before)
	{
		JoinPlace  *place = lfirst(lc);

		if (place->slot == &plan->lefttree)
			place->slot = slot;
	}
}

/* Finds the places below *slot, or on top of it, where the filter can go. */
static void
follow(JoinWay *way, Plan **slot, const AttrNumber *attributes)
{
	const JoinPassed passed = way->passed;

	check_stack_depth();
	if (bloomfam_join_node_kind(*slot) != JOIN_NODE_OTHER)
		follow_own(way, slot, attributes);
	else if (!is_passable(way, *slot))
		stop_here(way, slot, attributes);
	else
		switch (nodeTag(*slot))
		{
			case T_Append:
			case T_MergeAppend:
				follow_each(way, slot, attributes);
				break;
			case T_HashJoin:
			case T_NestLoop:
			case T_MergeJoin:
				follow_join(way, slot, attributes);
				break;
			default:
				follow_child(way, slot, attributes);
				break;
		}
	way->passed = passed;
}

void
bloomfam_join_walk(JoinWay *way, const JoinQuery *query, int workers, HashJoin *join,
				   const JoinKeyColumn *columns, int ncolumns)
{
	Plan	   *build = outerPlan(innerPlan(join));
	bool		repeatable = is_repeatable(query, build);
	AttrNumber *attributes = palloc(ncolumns * sizeof(AttrNumber));
	int			i;

	memset(way, 0, sizeof(*way));
	way->query = query;
	way->join = join;
	way->columns = columns;
	way->ncolumns = ncolumns;
	way->passed.workers = workers;
	/* the Hash's parameters are those of its keys, too */
	way->keepers = bms_is_empty(innerPlan(join)->extParam) && bms_is_empty(build->extParam) &&
				   repeatable && key_is_repeatable(build, columns, ncolumns);

	/* EvalPlanQual shares parameters with the query that it belongs to, though it may build anew */
	way->travels = workers == 0 && is_on_its_own(query, innerPlan(join)) &&
				   is_on_its_own(query, build) &&
				   (repeatable ||
					(query->stmt->commandType == CMD_SELECT && query->stmt->rowMarks == NIL &&
					 !query->stmt->hasModifyingCTE));
	way->trust = JOIN_HASH_LEAKPROOF;
	way->drop = 1 - Min(join->join.plan.plan_rows / Max(outerPlan(join)->plan_rows, 1), 1);
	for (i = 0; i < ncolumns; i++)
	{
		way->trust = Min(way->trust, columns[i].hashing.outer.trust);
		attributes[i] = columns[i].attribute;
	}
	follow(way, &outerPlan(join), attributes);
}

bool
bloomfam_join_same_places(const JoinWay *a, const JoinWay *b)
{
	ListCell   *la;
	ListCell   *lb;

	if (list_length(a->places) != list_length(b->places))
		return false;
	forboth(la, a->places, lb, b->places)
		if (((JoinPlace *) lfirst(la))->slot != ((JoinPlace *) lfirst(lb))->slot)
			return false;
	return true;
}

void
bloomfam_join_query_init(JoinQuery *query, PlannedStmt *stmt)
{
	ListCell   *lc;

	query->stmt = stmt;
	query->has_barrier = false;
	query->epq_params = query->noticing = query->noticing_params = NULL;
	query->nodes = palloc0(sizeof(JoinKnown));
	query->trees = palloc0(sizeof(JoinKnown));
	foreach(lc, stmt->rtable)
		query->has_barrier |= lfirst_node(RangeTblEntry, lc)->security_barrier;

	/* what a subplan asks for comes before it in their list, as it was planned before */
	foreach(lc, stmt->subplans)
	{
		find_params(query, lfirst(lc));
		if (!bloomfam_join_tree_is_indifferent(query, lfirst(lc)))
			query->noticing =
				bms_add_member(query->noticing, foreach_current_index(lc) + 1);
	}
	find_params(query, stmt->planTree);

	/* what was found of subplans may be otherwise by those parameters */
	memset(query->trees, 0, sizeof(JoinKnown));
}
