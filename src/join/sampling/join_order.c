/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * join_order.c
 *	  Whether another join order is worth it.
 *
 * Costs are no more exact than sizes.  Where right sizes make another plan look slightly cheaper
 * than the one that the server has without them, it is as often slower.  So the server's own plan
 * is looked for first: by its sizes.  Its joins, in their order and by their methods, are then
 * costed by the changed sizes, and another plan must be cheaper by a margin.  Either way the
 * planner goes on with the changed sizes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"

#include "join/sampling/join_order.h"
#include "pg/compat.h"

/* A search of more relations takes longer than another order saves a short query. */
#define MOST_LEVELS		7

/* A join of the server's plan. */
typedef struct JoinStep
{
	Relids		outer;
	Relids		inner;
	Relids		joined;
	NodeTag		method;			/* T_NestLoop, T_MergeJoin or T_HashJoin */
} JoinStep;

/* A relation of joined ones, and what it was before. */
typedef struct JoinSaved
{
	RelOptInfo *rel;
	RelOptInfo	was;
} JoinSaved;

/* How all would be joined. */
typedef struct JoinPlan
{
	const Path *path;
	Cost		cost;
} JoinPlan;

/* The paths that are made for a step. */
typedef struct JoinTaken
{
	const JoinStep *step;
	const RelOptInfo *rel;
	List	   *paths;
	List	   *partial_paths;
} JoinTaken;

/* The join that is planned anew; NULL: joins are planned as always. */
static JoinTaken *current = NULL;

/* ---- the joins of a plan ---- */

static RelOptInfo *
find_rel(List *rels, Relids relids)
{
	ListCell   *lc;

	foreach(lc, rels)
		if (bms_equal(((RelOptInfo *) lfirst(lc))->relids, relids))
			return lfirst(lc);
	return NULL;
}

/*
 * Adds the joins of a path, those below first; false: it has something that is neither a join nor
 * known to stand above one.
 */
static bool
add_steps(const Path *path, List *initial_rels, List **steps)
{
	const JoinPath *join = (const JoinPath *) path;
	JoinStep   *step;

	if (find_rel(initial_rels, path->parent->relids) != NULL)
		return true;
	switch (nodeTag(path))
	{
		case T_NestPath:
		case T_MergePath:
		case T_HashPath:
			break;
		case T_MaterialPath:
			return add_steps(((const MaterialPath *) path)->subpath, initial_rels, steps);
		case T_MemoizePath:
			return add_steps(((const MemoizePath *) path)->subpath, initial_rels, steps);
		case T_GatherPath:
			return add_steps(((const GatherPath *) path)->subpath, initial_rels, steps);
		case T_GatherMergePath:
			return add_steps(((const GatherMergePath *) path)->subpath, initial_rels, steps);
		case T_SortPath:
		case T_IncrementalSortPath:
			return add_steps(((const SortPath *) path)->subpath, initial_rels, steps);
		case T_UniquePath:
			return add_steps(((const UniquePath *) path)->subpath, initial_rels, steps);
		default:
			return false;
	}
	/* its paths are taken as they are made, and the server fails where a full join has none */
	if (join->jointype == JOIN_FULL || !add_steps(join->outerjoinpath, initial_rels, steps) ||
		!add_steps(join->innerjoinpath, initial_rels, steps))
		return false;
	step = palloc(sizeof(JoinStep));
	*step = (JoinStep) {join->outerjoinpath->parent->relids,
						join->innerjoinpath->parent->relids, path->parent->relids,
						path->pathtype};
	*steps = lappend(*steps, step);
	return true;
}

/* ---- their cost ---- */

/* Do workers aggregate their rows, and send but the results? */
static bool
workers_aggregate(const PlannerInfo *root)
{
	return (root->parse->hasAggs || root->parse->groupClause != NIL) &&
		   root->parse->groupingSets == NIL && !root->hasNonPartialAggs &&
		   !root->hasNonSerialAggs;
}

/*
 * Which part of the relation's rows is read, as the server counts it: below 1 a fraction, above 1 a
 * number, 0 all.  A LIMIT or a cursor leaves rows out only where nothing else needs them all.
 */
static double
fraction_of(const PlannerInfo *root, const RelOptInfo *rel)
{
	const Query *parse = root->parse;

	if (!bloomfam_is_topmost_join(root, rel) || parse->hasAggs || parse->groupClause != NIL ||
		parse->groupingSets != NIL || root->hasHavingQual || parse->distinctClause != NIL ||
		parse->sortClause != NIL || parse->hasWindowFuncs || root->query_pathkeys != NIL)
		return 0;
	return root->tuple_fraction;
}

static Cost
cost_of(Cost startup, Cost total, double rows, double fraction)
{
	if (fraction >= 1)
		fraction = rows > 0 ? fraction / rows : 1;
	if (fraction <= 0 || fraction > 1)
		fraction = 1;
	return startup + fraction * (total - startup);
}

/*
 * The cheapest way to join all, with workers or without.  Of the topmost join, the server gathers
 * workers only after the search.
 */
static JoinPlan
best_plan(PlannerInfo *root, RelOptInfo *rel)
{
	double		fraction = fraction_of(root, rel);
	const Path *path = get_cheapest_fractional_path(rel, fraction);
	JoinPlan	plan = {path, cost_of(path->startup_cost, path->total_cost, path->rows, fraction)};

	if (bloomfam_is_topmost_join(root, rel) && rel->partial_pathlist != NIL)
	{
		const Path *partial = linitial(rel->partial_pathlist);
		Cost		sent = workers_aggregate(root) ? 0 : parallel_tuple_cost * rel->rows;
		Cost		cost = cost_of(partial->startup_cost + parallel_setup_cost,
								   partial->total_cost + parallel_setup_cost + sent, rel->rows,
								   fraction);
		int			more = bloomfam_disabled_nodes(partial) - bloomfam_disabled_nodes(path);

		if (more < 0 || (more == 0 && cost < plan.cost))
			plan = (JoinPlan) {partial, cost};
	}
	return plan;
}

void
bloomfam_join_order_take_paths(RelOptInfo *joinrel, const RelOptInfo *outerrel)
{
	/* functions that are called meanwhile may plan, too */
	if (current == NULL || current->rel != joinrel)
		return;
	if (bms_equal(outerrel->relids, current->step->outer))
	{
		current->paths = list_concat(current->paths, joinrel->pathlist);
		current->partial_paths = list_concat(current->partial_paths, joinrel->partial_pathlist);
	}
	joinrel->pathlist = NIL;
	joinrel->partial_pathlist = NIL;
}

/* Plans a join anew by its method and with its outer side; false: it cannot be. */
static bool
plan_join(PlannerInfo *root, const JoinStep *step, RelOptInfo *rel, RelOptInfo *outer,
		  RelOptInfo *inner)
{
	BloomfamJoinMethods methods = bloomfam_join_methods(rel);
	JoinTaken	taken = {.step = step, .rel = rel};
	JoinTaken  *before = current;
	RelOptInfo *made = NULL;
	ListCell   *lc;

	bloomfam_forget_paths(rel);
	PG_TRY();
	{
		current = &taken;
		bloomfam_set_join_methods(rel, bloomfam_only_join_method(methods, step->method));
		made = make_join_rel(root, outer, inner);
	}
	PG_FINALLY();
	{
		current = before;
		bloomfam_set_join_methods(rel, methods);
	}
	PG_END_TRY();
	/* 15 and 16 have no hook where a condition is a constant, and all fails where it is false */
	if (made != rel || taken.paths == NIL)
		return false;
	/* what was added after that, by another module's hook, may be for the other outer side */
	rel->pathlist = NIL;
	rel->partial_pathlist = NIL;
	foreach(lc, taken.paths)
		add_path(rel, lfirst(lc));
	foreach(lc, taken.partial_paths)
		add_partial_path(rel, lfirst(lc));
	return true;
}

/*
 * Plans the joins of the steps anew, with the sizes that they have from the search; false: it
 * cannot.  The relations are saved as they are before.
 */
static bool
plan_joins(PlannerInfo *root, List *steps, List *initial_rels, List **saved)
{
	List	   *rels = list_copy(initial_rels);
	ListCell   *lc;

	foreach(lc, steps)
	{
		const JoinStep *step = lfirst(lc);
		RelOptInfo *outer = find_rel(rels, step->outer);
		RelOptInfo *inner = find_rel(rels, step->inner);
		RelOptInfo *rel = find_join_rel(root, step->joined);
		JoinSaved  *before;

		if (outer == NULL || inner == NULL || rel == NULL)
			return false;
		before = palloc(sizeof(JoinSaved));
		*before = (JoinSaved) {rel, *rel};
		*saved = lappend(*saved, before);
		if (!plan_join(root, step, rel, outer, inner))
			return false;
		/* as the server does it after a level of its search */
		if (!bloomfam_is_topmost_join(root, rel))
			generate_useful_gather_paths(root, rel, false);
		set_cheapest(rel);
		rels = lappend(rels, rel);
	}
	return true;
}

/* ---- the search ---- */

/*
 * Does another path have an order of rows that may matter, and this one has not?  Of all joins it
 * is the query's own; of a part of them each, as it may be merged with others.
 */
static bool
order_matters(PlannerInfo *root, const RelOptInfo *rel, const Path *path)
{
	bool		topmost = bloomfam_is_topmost_join(root, rel);
	List	   *paths = list_concat_copy(rel->pathlist, rel->partial_pathlist);
	ListCell   *lc;

	foreach(lc, paths)
	{
		const Path *other = lfirst(lc);
		List	   *order = topmost ? root->query_pathkeys : other->pathkeys;

		if (pathkeys_contained_in(order, other->pathkeys) &&
			!pathkeys_contained_in(order, path->pathkeys))
			return true;
	}
	return false;
}

/* The joins that the server finds by its own sizes, those below first; NIL: they are not known. */
static List *
find_own_steps(PlannerInfo *root, int levels, List *initial_rels, JoinSizes *sizes,
			   join_search_hook_type search)
{
	int			before = list_length(root->join_rel_list);
	List	   *steps = NIL;
	RelOptInfo *rel;
	const Path *path;

	bloomfam_join_sizes_swap(root, sizes);
	rel = search(root, levels, initial_rels);
	path = best_plan(root, rel).path;
	if (bloomfam_has_disable_cost(path) || order_matters(root, rel, path) ||
		!add_steps(path, initial_rels, &steps))
		steps = NIL;
	root->join_rel_list = list_truncate(root->join_rel_list, before);
	root->join_rel_hash = NULL;	/* it is made anew from the list */
	bloomfam_join_sizes_forget_outer(root);
	bloomfam_join_sizes_swap(root, sizes);
	return steps;
}

/* Leaves the relation with paths of these joins, unless the others are cheaper by the margin. */
static JoinReorder
choose_joins(PlannerInfo *root, RelOptInfo *rel, List *steps, List *initial_rels)
{
	JoinPlan	others = best_plan(root, rel);
	JoinReorder	order = {JOIN_REORDER_NOT_COMPARED, 0};
	List	   *saved = NIL;
	ListCell   *lc;

	if (plan_joins(root, steps, initial_rels, &saved))
	{
		JoinPlan	own = best_plan(root, rel);
		int			more = bloomfam_disabled_nodes(others.path) -
			bloomfam_disabled_nodes(own.path);

		order.saving = own.cost > 0 ? Max(1 - others.cost / own.cost, 0) : 0;
		if (more > 0 || (more == 0 && order.saving < JOIN_REORDER_MARGIN))
		{
			order.choice = JOIN_REORDER_KEPT;
			return order;
		}
		order.choice = JOIN_REORDER_CHANGED;
	}
	foreach(lc, saved)
	{
		const JoinSaved *before = lfirst(lc);

		*before->rel = before->was;
	}
	return order;
}

RelOptInfo *
bloomfam_join_order_search(PlannerInfo *root, int levels, List *initial_rels, JoinSizes *sizes,
						   join_search_hook_type search, JoinReorder *order)
{
	List	   *steps = NIL;
	RelOptInfo *rel;

	*order = (JoinReorder) {JOIN_REORDER_NOT_COMPARED, 0};
	if (bloomfam_join_sizes_differ(sizes) && levels <= MOST_LEVELS &&
		!enable_partitionwise_join && !bloomfam_may_aggregate_below_joins(root))
		steps = find_own_steps(root, levels, initial_rels, sizes, search);
	rel = search(root, levels, initial_rels);
	if (steps != NIL)
		*order = choose_joins(root, rel, steps, initial_rels);
	return rel;
}
