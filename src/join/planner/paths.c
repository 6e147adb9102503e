/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * paths.c
 *	  Offers the planner joins at a cost that is lowered by what their filters are expected to save.
 *
 * plan.c adds filters to finished plans.  Without the paths offered here, the planner would choose
 * a nested loop over an index, or a merge join, where a hash join would be faster because its probe
 * side is scanned in page batches under a filter.  So for each pair of relations that the planner
 * considers, it is offered the hash join once more, at a total cost that is lower by what the
 * filter is expected to save.  In all other respects it is the server's own join, and just as
 * valid: if it gets no filter in the end, its cost was too low, and nothing else is wrong.
 *
 * The planner works from the bottom up, and the costs of the paths below a join are fixed when it
 * comes to the join.  So whatever a filter saves is subtracted from the cost of the filter's join,
 * even if it is saved at a scan below; costs and rows of the paths below remain unchanged.  That
 * holds as well for the scan of a foreign table whose server is sent the keys.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"

#include "join/base/gucs.h"
#include "join/filter/form.h"
#include "join/planner/candidate.h"
#include "join/planner/constants.h"
#include "join/planner/join_type.h"
#include "join/planner/lookups.h"
#include "join/planner/paths.h"
#include "pg/compat.h"

/*
 * A join of two relations that is offered to the planner, and what its filter is expected to save,
 * in the planner's cost units.
 */
typedef struct Offer
{
	JoinPathCandidate filter;
	PlannerInfo *root;
	RelOptInfo *joinrel;
	JoinType	jointype;
	JoinPathExtraData *extra;
	Cost		saved;			/* What the filter saves, minus what it costs. */
	bool		lowest;			/* Whether no other join is on its probe side. */
	JoinLookups lookups;		/* The nested loop that the join is to replace, if there is one. */
} Offer;

/*
 * Estimates what a filter saves in a join of these two paths.  Returns whether it saves anything,
 * and sets offer->saved and offer->lookups.  "partial" says that they are partial paths of a
 * parallel plan.
 */
static bool
estimate_saving(Offer *offer, const Path *probed, const Path *built, bool partial,
				bool parallel_hash)
{
	JoinCandidate *candidate = &offer->filter.candidate;

	if (!bloomfam_join_candidate_paths(&offer->filter, probed, built, parallel_hash) ||
		bloomfam_join_estimate(candidate) != JOIN_NO_REASON)
		return false;
	offer->saved = candidate->estimate.saved - candidate->estimate.cost;

	/*
	 * Below may be a join without a filter, and then no margin is charged.  To charge it at the
	 * lowest join that has one gave plans no better, and some worse.
	 */
	offer->lowest = !IS_JOIN_REL(probed->parent);
	offer->lookups = (JoinLookups) {0};
	if (offer->saved <= 0 ||
		(enable_nestloop && bloomfam_join_lookups_win(&offer->filter, partial, &offer->lookups)))
		return false;

	/* If more is joined on the probe side, no nested loop of lookups alone would do the same. */
	if (probed->parent->relid != offer->filter.relid)
		offer->lookups = (JoinLookups) {0};
	return true;
}

/*
 * Returns by how much less than its cost "total" a join is offered: what its filter saves, minus
 * the margin NEAR_TIE.  If the join is to replace a nested loop whose lookups read the same pages,
 * it is offered for slightly less than the nested loop's cost, if the cost of these pages allows.
 */
static Cost
discount(const Offer *offer, Cost total)
{
	const RelOptInfo *joinrel = offer->joinrel;
	Cost		margin = 0;
	Cost		saved;
	Cost		dearer;

	if (offer->lowest)
	{
		margin = NEAR_TIE * Max(total - offer->saved, 0);
		if (!bms_is_subset(offer->root->all_baserels, joinrel->top_parent_relids != NULL
														  ? joinrel->top_parent_relids
														  : joinrel->relids))
			margin += NEAR_TIE * total;
	}
	saved = Max(offer->saved - margin, 0);
	if (offer->lookups.cost <= 0)
		return saved;
	dearer = total - saved - CHEAPER * offer->lookups.cost;
	return saved + Max(Min(dearer, offer->lookups.pages), 0);
}

/* Offers the planner a hash join of two paths, if a filter is expected to save anything. */
static void
consider(Offer *offer, Path *outer, Path *inner, bool partial, bool parallel_hash)
{
	RelOptInfo *joinrel = offer->joinrel;
	JoinCostWorkspace costs;
	Path	   *path;
	Cost		saved;

	initial_cost_hashjoin(offer->root, &costs, offer->jointype, offer->filter.clauses, outer, inner,
						  offer->extra, parallel_hash);
	if (!estimate_saving(offer, outer, inner, partial, parallel_hash))
		return;
	saved = discount(offer, costs.total_cost);
	if (partial ? !bloomfam_add_partial_path_precheck(joinrel, &costs, costs.total_cost - saved)
				: !bloomfam_add_path_precheck(joinrel, &costs, costs.total_cost - saved))
		return;
	path = (Path *) create_hashjoin_path(offer->root, joinrel, offer->jointype, &costs,
										 offer->extra, outer, inner, parallel_hash,
										 offer->extra->restrictlist, NULL, offer->filter.clauses);
	saved = discount(offer, path->total_cost);
	path->total_cost = Max(path->total_cost - saved, path->startup_cost);
	if (partial)
		add_partial_path(joinrel, path);
	else
		add_path(joinrel, path);
}

/*
 * Returns the clauses by which a merge join can merge the two relations, found as the server does.
 */
static List *
find_merge_clauses(const Offer *offer, const RelOptInfo *outerrel, const RelOptInfo *innerrel)
{
	List	   *clauses = NIL;
	ListCell   *lc;

	foreach(lc, offer->extra->restrictlist)
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, lc);
		bool		outer_is_left;

		if (clause->mergeopfamilies == NIL ||
			!bloomfam_join_clause_compares(clause, offer->jointype, innerrel, outerrel,
										   &outer_is_left))
			continue;
		clause->outer_is_left = outer_is_left;
		update_mergeclause_eclasses(offer->root, clause);
		if (!EC_MUST_BE_REDUNDANT(clause->left_ec) && !EC_MUST_BE_REDUNDANT(clause->right_ec))
			clauses = lappend(clauses, clause);
	}
	return clauses;
}

/* Tells whether a subquery is being planned that depends on rows of a query around it. */
static bool
is_correlated(const PlannerInfo *root)
{
	for (root = root->parent_root; root != NULL; root = root->parent_root)
		if (root->plan_params != NIL)
			return true;
	return false;
}

/*
 * Tells whether something in a relation is volatile: then no filter of its keys is pushed through a
 * node that keeps rows.
 */
static bool
is_volatile(const PlannerInfo *root, const RelOptInfo *rel)
{
	int			relid = -1;

	while ((relid = bms_next_member(rel->relids, relid)) >= 0)
	{
		const RelOptInfo *base = root->simple_rel_array[relid];
		const RangeTblEntry *rte = root->simple_rte_array[relid];

		/* rel->relids also has the numbers of outer joins, which have no RelOptInfo. */
		if (base != NULL &&
			(contain_volatile_functions((Node *) rte->subquery) ||
			 contain_volatile_functions((Node *) rte->functions) ||
			 contain_volatile_functions((Node *) rte->values_lists) ||
			 contain_volatile_functions((Node *) base->baserestrictinfo)))
			return true;
	}
	return false;
}

/*
 * Offers the planner a merge join of two sorted sides, if it is a semi-join or anti-join whose
 * inner side has more rows than the outer side.  The outer side is sorted before the inner side is
 * read, so a filter of its keys can drop most of the rows that the inner side would sort.  A hash
 * join of such a type hashes the inner side; the server can hash the outer side for anti-joins from
 * version 16 on, and for semi-joins from version 18 on.
 */
static void
offer_merge_join(Offer *offer, RelOptInfo *outerrel, RelOptInfo *innerrel)
{
	PlannerInfo *root = offer->root;
	RelOptInfo *joinrel = offer->joinrel;
	Path	   *outer = outerrel->cheapest_total_path;
	Path	   *inner = innerrel->cheapest_total_path;
	List	   *clauses;
	List	   *outer_keys;
	JoinCostWorkspace costs;
	Path	   *path;
	Cost		saved;

	if (!bloomfam_join_is_existence(offer->jointype) || !enable_mergejoin ||
		outer->rows >= inner->rows ||
		(bloomfam_join_filter != JOIN_FILTER_FORCE &&
		 inner->rows < ROWS_TO_PLAN_FOR) ||
		is_correlated(root) || is_volatile(root, outerrel))
		return;
	clauses = find_merge_clauses(offer, outerrel, innerrel);
	if (clauses == NIL ||
		!bloomfam_join_candidate_keys(&offer->filter, innerrel, offer->extra, offer->jointype))
		return;
	bloomfam_join_candidate_set_drop(&offer->filter, offer->jointype, true, joinrel->rows,
									 innerrel->rows);
	outer_keys = select_outer_pathkeys_for_merge(root, clauses, joinrel);
	clauses = find_mergeclauses_for_outer_pathkeys(root, outer_keys, clauses);
	outer = (Path *) create_sort_path(root, outerrel, outer, outer_keys, -1);
	inner = (Path *) create_sort_path(root, innerrel, inner,
									  make_inner_pathkeys_for_merge(root, clauses, outer_keys), -1);
	if (!estimate_saving(offer, inner, outer, false, false))
		return;
	bloomfam_initial_cost_mergejoin(root, &costs, offer->jointype, clauses, outer, inner,
									offer->extra);
	path = (Path *) bloomfam_create_mergejoin_path(
		root, joinrel, offer->jointype, &costs, offer->extra, outer, inner,
		build_join_pathkeys(root, joinrel, offer->jointype, outer_keys), clauses);
	saved = discount(offer, path->total_cost);

	/*
	 * The filter saves most of its cost while the merge join's inner side is sorted.  That happens
	 * before the first row is returned, so the saving is subtracted from the startup cost.
	 */
	path->startup_cost =
		Max(path->startup_cost - saved, Min(path->startup_cost, outer->total_cost));
	path->total_cost = Max(path->total_cost - saved, path->startup_cost);
	add_path(joinrel, path);
}

/*
 * Tells whether a join of two relations may be worth a filter.  Most are not: they have few rows,
 * or no condition that drops any.  Too many keys for a Bloom filter may still be worth one if they
 * come from a single table, as they may fit into a bitmap.
 */
static inline bool
may_filter(const RelOptInfo *joinrel, const RelOptInfo *outerrel, const RelOptInfo *innerrel)
{
	double		dropped = outerrel->rows - joinrel->rows;
	/*
	 * Rows of a subquery are counted before the conditions on the subquery's result, as the filter
	 * is probed within the subquery, before these conditions are evaluated.
	 */
	double		probed = outerrel->rtekind == RTE_SUBQUERY && outerrel->relid != 0
							 ? Max(outerrel->tuples, outerrel->rows)
							 : outerrel->rows;

	if (bloomfam_join_filter != JOIN_FILTER_FORCE &&
		(probed < ROWS_TO_PLAN_FOR ||
		 dropped < outerrel->rows * LEAST_DROP))
		return false;
	return dropped > 0 &&
		   (innerrel->relid != 0 || innerrel->rows <= bloomfam_join_design_most());
}

/*
 * Offers the planner a merge join, and hash joins of those pairs of paths that the server's
 * hash_inner_and_outer() makes hash joins of as well.
 */
void
bloomfam_join_add_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
						RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra)
{
	Offer		offer;
	Path	   *outer = outerrel->cheapest_total_path;
	Path	   *inner = innerrel->cheapest_total_path;

	if (!bms_is_empty(joinrel->lateral_relids) || outer->param_info != NULL ||
		inner->param_info != NULL)
		return;
	if (bloomfam_join_is_existence(jointype))
	{
		offer = (Offer) {
			.root = root, .joinrel = joinrel, .jointype = jointype, .extra = extra,
			.filter = {.root = root, .built = outerrel, .read = -1}
		};
		offer_merge_join(&offer, outerrel, innerrel);
	}

	/*
	 * For most pairs of relations no join is offered.  There may be thousands of pairs, so this is
	 * found out before any further work.
	 */
	if (!may_filter(joinrel, outerrel, innerrel) || !bloomfam_join_drops_outer(jointype) ||
		!enable_hashjoin)
		return;
	offer = (Offer) {
		.root = root, .joinrel = joinrel, .jointype = jointype, .extra = extra,
		.filter = {.root = root, .built = innerrel, .read = -1}
	};
	if (!bloomfam_join_candidate_keys(&offer.filter, outerrel, extra, jointype))
		return;
	bloomfam_join_candidate_set_drop(&offer.filter, jointype, false, joinrel->rows,
									 outerrel->rows);

	consider(&offer, outer, inner, false, false);
	if (!bloomfam_join_may_be_partial(jointype) || !joinrel->consider_parallel ||
		outerrel->partial_pathlist == NIL)
		return;
	outer = linitial(outerrel->partial_pathlist);
	if (enable_parallel_hash && innerrel->partial_pathlist != NIL)
		consider(&offer, outer, linitial(innerrel->partial_pathlist), true, true);
	if (!inner->parallel_safe)
		inner = get_cheapest_parallel_safe_total_inner(innerrel->pathlist);
	if (inner != NULL)
		consider(&offer, outer, inner, true, false);
}
