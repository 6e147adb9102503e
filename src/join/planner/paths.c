/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * paths.c
 *	  Hash joins that are planned by what their filters are expected to save.
 *
 * plan.c adds filters to plans that are finished.  Without more, the planner would choose a
 * nested loop over an index, or a merge join, where a hash join would be faster whose probe side
 * is scanned in page batches under a filter.  So for each pair of relations that it considers, it
 * is offered the hash join once more, at a total cost that is lower by what the filter is expected
 * to save.  The join is the server's own in all else, and as legal: if it gets no filter in the
 * end, its cost was too low, and nothing else is wrong.
 *
 * The planner works from the bottom up, and knows the costs of the paths below when it comes to a
 * join.  So what a filter saves anywhere is taken from the cost of the join that it is of; costs
 * and rows of what is below stay as they are.  That goes for the scan of a foreign table, too,
 * whose server is sent the keys.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "join/base/column_stats.h"
#include "join/base/gucs.h"
#include "join/filter/form.h"
#include "join/filter/hash.h"
#include "join/planner/cost.h"
#include "join/planner/paths.h"
#include "join/planner/prune_cost.h"
#include "join/planner/volatility.h"
#include "pg/compat.h"
#include "pg/expression.h"

/*
 * So many rows are scanned in page batches in the time that one is fetched by an index, or that
 * another page takes of which it has rows: 60 to 100.
 */
#define ROWS_PER_LOOKUP		64.0

/*
 * Joins of fewer rows are planned as ever: they take no longer than looking for a better plan
 * would, where there are many of them.
 */
#define ROWS_TO_PLAN_FOR	100000.0

/*
 * Hysteresis: the server's plan stays unless the filtered join is 5 % cheaper, as estimates are
 * most wrong where filters are most used.  Where joins follow, 5 % of the unfiltered cost are
 * charged too: a nested loop above may look up many more rows than the planner expects.  A chain of
 * joins is charged once: charged at each, the nested loop above the first would win.
 */
#define NEAR_TIE			0.05

/*
 * The planner takes two costs for one that differ by less than a hundredth, and of these plans the
 * one that begins sooner: above a join with a filter, a nested loop.  So a hash join there is
 * offered for a little more than that hundredth less.
 */
#define SAFER				0.02

/*
 * A row that is dropped is not compared with those of its bucket either.  So many comparisons the
 * server counts at the least (final_cost_hashjoin); the second where it expects one match at
 * most, and knows that this row has none.  They are cheap, but where a key is a subquery.
 */
#define COMPARED			0.5
#define COMPARED_IN_VAIN	0.05

/*
 * A hash join of two relations that is offered to the planner, and what its filter is expected to
 * save, in the planner's units.
 */
typedef struct Offer
{
	PlannerInfo *root;
	RelOptInfo *joinrel;
	const RelOptInfo *innerrel;
	JoinType	jointype;
	JoinPathExtraData *extra;
	JoinCandidate candidate;	/* its filter */
	bool		filters;		/* if not, it is offered for the sake of joins below alone */
	Cost		discounted;		/* what a join below costs that was offered for less, or 0 */
	List	   *clauses;		/* of RestrictInfo, those that it hashes by, as the server would
								 * choose them */
	Index		relid;			/* the base relation whose columns all their outer sides are */
	bool		long_keys;		/* it takes time to fetch them */
	double		fraction;		/* of what scanning that relation costs, what remains if nothing is
								 * read in which keys cannot be; -1: not known yet */
	double		left;			/* the fraction of its rows that filters of joins below leave */
	Cost		comparing;		/* an outer row with the inner ones of its bucket */
	int			nodes;			/* from its scan up to the join, and that one */
	double		scanned;		/* rows of that relation, by all processes together */
	double		saved;
} Offer;

/*
 * Finds the clauses to hash by; false if there are none, or decision.c would make no single filter
 * of them all.
 */
static bool
find_clauses(Offer *offer, const RelOptInfo *outerrel)
{
	const RelOptInfo *innerrel = offer->innerrel;
	const List *restrictlist = offer->extra->restrictlist;
	JoinKeyColumn *columns = palloc(list_length(restrictlist) * sizeof(JoinKeyColumn));
	const ListCell *lc;

	foreach(lc, restrictlist)
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, lc);
		const OpExpr *equal = (const OpExpr *) clause->clause;
		JoinKeyColumn *key = &columns[list_length(offer->clauses)];
		bool		turned = bms_is_subset(clause->left_relids, innerrel->relids);
		const Var  *column;
		const RangeTblEntry *rte;

		if (!clause->can_join || !OidIsValid(clause->hashjoinoperator) ||
			!bms_is_subset(turned ? clause->right_relids : clause->left_relids,
						   outerrel->relids) ||
			(!turned && !bms_is_subset(clause->right_relids, innerrel->relids)))
			continue;
		column = bloomfam_expression_var(turned ? lsecond(equal->args) : linitial(equal->args));
		key->inner = turned ? linitial(equal->args) : lsecond(equal->args);

		/* without a commutator, the server could not turn it round either */
		key->operator = turned ? get_commutator(equal->opno) : equal->opno;
		if (!OidIsValid(key->operator))
			return false;
		if (column == NULL || (offer->clauses != NIL && column->varno != offer->relid) ||
			!bloomfam_join_hashing(key->operator, equal->inputcollid, &key->hashing))
			return false;
		key->collation = equal->inputcollid;
		key->attribute = column->varattno;
		offer->relid = column->varno;
		rte = planner_rt_fetch(column->varno, offer->root);
		offer->long_keys |= rte->rtekind == RTE_RELATION &&
			bloomfam_join_column_is_long(rte->relid, column->varattno, rte->inh);
		offer->clauses = lappend(offer->clauses, clause);
	}
	if (offer->clauses == NIL)
		return false;
	offer->candidate.columns = columns;
	offer->candidate.ncolumns = list_length(offer->clauses);
	return true;
}

/*
 * Was this join offered for less than its inputs cost?  Only discount() does that.  Where it took
 * away less than the join's own cost, it cannot be seen, and a tie is left twice.
 */
static bool
is_discounted(const Path *path)
{
	const JoinPath *join = (const JoinPath *) path;

	return IsA(path, HashPath) &&
		   path->total_cost < join->outerjoinpath->total_cost + join->innerjoinpath->total_cost;
}

/* The outer side, or only one, of a node that a filter may go down through; else NULL. */
static const Path *
down(const Path *path)
{
	switch (nodeTag(path))
	{
		case T_ProjectionPath:
			return ((const ProjectionPath *) path)->subpath;
		case T_MaterialPath:
			return ((const MaterialPath *) path)->subpath;
		case T_SortPath:
		case T_IncrementalSortPath:
			return ((const SortPath *) path)->subpath;
		case T_HashPath:
		case T_MergePath:
		case T_NestPath:
			return ((const JoinPath *) path)->outerjoinpath;
		default:
			return NULL;
	}
}

/*
 * The planning in which a join was last offered for less than its inputs cost; in others nobody
 * has to look for one.  A function that is called meanwhile may plan, too: what is then forgotten
 * is a tie.
 */
static const PlannerGlobal *discounting;

/* What the highest join down there costs that was offered for less; 0 if there is none. */
static Cost
cost_of_discounted(const PlannerInfo *root, const Path *path)
{
	if (root->glob != discounting)
		return 0;
	while (path != NULL && !is_discounted(path))
		path = down(path);
	return path != NULL ? path->total_cost : 0;
}

/*
 * From a path down to the scan of the candidate's relation, or to the Append of its partitions;
 * NULL if some inner side is between. A filter may be pushed down inner sides, too, see
 * pushdown.c; but what it then saves is something else.  Counts the nodes in between, and what
 * is saved there, of what they cost themselves.
 */
static const Path *
follow(Offer *offer, const Path *path)
{
	for (;;)
	{
		const Path *child = down(path);
		double		own = path->total_cost;

		if (child == NULL)
			return path->parent->relid == offer->relid ? path : NULL;
		if (!bms_is_member(offer->relid, child->parent->relids))
			return NULL;
		own -= child->total_cost;
		if (IsA(path, HashPath) || IsA(path, MergePath) || IsA(path, NestPath))
		{
			const JoinPath *join = (const JoinPath *) path;
			JoinType	type = join->jointype;

			if (type != JOIN_INNER && type != JOIN_LEFT && type != JOIN_SEMI && type != JOIN_ANTI)
				return NULL;
			own -= join->innerjoinpath->total_cost;
		}
		offer->nodes++;
		offer->saved +=
			Max(Min(own, bloomfam_join_cost_of_passing(child->rows)), 0) * offer->candidate.drop;
		path = child;
	}
}

/* Describes a scan where rows would be probed, of whose rows one process sees this fraction. */
static JoinFilterSite
describe_scan(const Offer *offer, const Path *scan, double scale)
{
	const RelOptInfo *rel = scan->parent;
	double		rows = scan->rows * scale;
	JoinFilterSite site = {.nodes = offer->nodes, .rows_before = rows, .rows_after = rows};
	ListCell   *lc;

	if (scan->pathtype != T_SeqScan)
		return site;
	site.is_batch_scan = bloomfam_join_is_volatile_free(scan->pathtarget->exprs, NULL);
	foreach(lc, rel->baserestrictinfo)
		site.is_batch_scan &=
			bloomfam_join_is_volatile_free(lfirst_node(RestrictInfo, lc)->clause, NULL);
	site.conditions = rel->baserestrictinfo != NIL;
	site.long_keys = offer->long_keys;
	site.rows_before = Max(rows, rows * rel->tuples / Max(rel->rows, 1));
	site.condition_cost = rel->baserestrictcost.per_tuple;
	return site;
}

/* Describes scans: the only one, or those of an Append, which has these rows. */
static void
describe_scans(Offer *offer, const List *scans, double rows_of_all)
{
	JoinCandidate *candidate = &offer->candidate;
	double		rows = 0;
	ListCell   *lc;

	candidate->nsites = list_length(scans);
	candidate->sites = palloc(candidate->nsites * sizeof(JoinFilterSite));
	foreach(lc, scans)
		rows += ((const Path *) lfirst(lc))->rows;
	foreach(lc, scans)
		candidate->sites[foreach_current_index(lc)] =
			describe_scan(offer, lfirst(lc), rows_of_all / Max(rows, 1));
}

/* Describes the build side: a table whose column the key is? */
static void
describe_build_side(Offer *offer, const Path *inner, bool parallel_hash)
{
	JoinCandidate *candidate = &offer->candidate;
	const RelOptInfo *rel = offer->innerrel;
	const Var  *column = bloomfam_expression_var(candidate->columns[0].inner);

	candidate->keys = inner->rows;
	candidate->keys_are_sure = true;	/* no path is offered for a filter in doubt */
	candidate->table = InvalidOid;
	candidate->attribute = 0;
	if (parallel_hash || column == NULL || column->varno != rel->relid ||
		rel->rtekind != RTE_RELATION || !bloomfam_join_scans_table(inner->pathtype))
		return;
	candidate->table = planner_rt_fetch(rel->relid, offer->root)->relid;
	candidate->attribute = column->varattno;
}

/* Adds what is saved at a scan, of whose rows this fraction is read, by what is done for each. */
static void
add_rows(Offer *offer, const Path *scan, const JoinFilterSite *site, double fraction)
{
	/* all that match are in what is read, so less is dropped there */
	double		dropped = Max(fraction - (1 - offer->candidate.drop), 0);

	/* in page batches, nothing is done for a row that is dropped, not even its conditions */
	if (site->access != JOIN_ROW_BY_ROW)
		offer->saved +=
			site->rows_before * offer->left * dropped * (cpu_tuple_cost + site->condition_cost);
	offer->saved -= site->probing * offer->left * fraction;
	offer->scanned += scan->parent->tuples * fraction;
}

/* Adds what is saved at scans that were described: the only one, or those of an Append. */
static void
add_scans(Offer *offer, const Path *scan, const List *scans)
{
	const JoinCandidate *candidate = &offer->candidate;
	const JoinFilterSite *sites = candidate->sites;
	double		fraction = 1;
	ListCell   *lc;

	if (IsA(scan, AppendPath) || sites[0].access != JOIN_ROW_BY_ROW)
	{
		/* the same for all paths of the two relations */
		if (offer->fraction < 0)
			offer->fraction = bloomfam_join_read_fraction(offer->root, scan->parent, candidate,
														  offer->innerrel);
		fraction = offer->fraction;
		Assert(fraction >= 0 && fraction <= 1);
	}

	/*
	 * Joins below may leave out the same pages: of what they read, at least so much is left as
	 * there are rows left of it.
	 */
	offer->saved += (scan->total_cost - scan->startup_cost) * (1 - fraction) * offer->left;
	foreach(lc, scans)
		add_rows(offer, lfirst(lc), &sites[foreach_current_index(lc)], fraction);
}

/* Is the scan one of a foreign server that is expected to be sent the keys, or a filter of them? */
static bool
is_sent(const Offer *offer, const Path *scan)
{
	const JoinKeyColumn *column = &offer->candidate.columns[0];
	const RelOptInfo *rel = scan->parent;
	const PlannerInfo *root;
	JoinForeignKey key;

	if (scan->pathtype != T_ForeignScan)
		return false;
	Assert(rel->relid == offer->relid);
	key = (JoinForeignKey) {
		.server = rel->serverid, .table = planner_rt_fetch(rel->relid, offer->root)->relid,
		.user = rel->userid, .attribute = column->attribute, .operator = column->operator,
		.collation = column->collation, .build_type = exprType((Node *) column->inner)
	};
	key.type = get_atttype(key.table, key.attribute);
	for (root = offer->root; root != NULL; root = root->parent_root)
		key.reads_as_others |= bloomfam_query_reads_as_others(
			root->parse, OidIsValid(rel->userid) ? rel->userid : GetUserId());

	/* each key is sent once */
	return bloomfam_join_foreign_expected(
		&key, estimate_num_groups(offer->root, list_make1(column->inner), offer->candidate.keys,
								  NULL, NULL));
}

/*
 * Adds what is saved where another server does not send rows.  How it finds the others is not
 * known; but it scans no more than it would without.
 */
static void
add_foreign(Offer *offer, const Path *scan)
{
	offer->saved += (scan->total_cost - scan->startup_cost) * offer->candidate.drop * offer->left;
	offer->scanned += scan->rows;
}

/*
 * What one lookup costs, without the conditions that the join would evaluate as well for the rows
 * that it finds: one with a subquery may cost more than all else.
 */
static Cost
cost_of_index_fetch(PlannerInfo *root, const Path *path)
{
	const Path *index = path;
	QualCost	conditions;

	if (IsA(path, BitmapHeapPath))
		index = ((const BitmapHeapPath *) path)->bitmapqual;
	if (!IsA(index, IndexPath))
		return path->total_cost;
	cost_qual_eval(&conditions, path->param_info->ppi_clauses, root);
	return Max(path->total_cost - conditions.per_tuple * path->parent->tuples *
									  ((const IndexPath *) index)->indexselectivity,
			   ((const IndexPath *) index)->indextotalcost);
}

/*
 * Would a nested loop be faster that looks up rows of the scanned relation for those of the inner
 * side, and has the planner a cost for it that is lower than that of the scan?  It counts the
 * time of a disk for each lookup; if all is in memory, it takes less by far, and a lower cost of
 * the hash join would make the planner choose the slower one.
 */
static bool
is_faster_fetched_by_index(const Offer *offer, const RelOptInfo *rel)
{
	const Relids others = offer->innerrel->relids;
	double		lookups = offer->innerrel->rows;
	ListCell   *lc;

	foreach(lc, rel->cheapest_parameterized_paths)
	{
		const Path *path = lfirst(lc);
		const Relids needed = PATH_REQ_OUTER(path);
		Cost		cost;

		if (needed == NULL || !bms_is_subset(needed, others))
			continue;
		cost = cost_of_index_fetch(offer->root, path);
		if (lookups * cost < rel->cheapest_total_path->total_cost &&
			lookups * Max(cost / random_page_cost, 1) * ROWS_PER_LOOKUP < offer->scanned)
			return true;
	}
	return false;
}

/* Is a filter expected to save anything in a hash join of these paths?  Then tells how much. */
static bool
saves(Offer *offer, const Path *outer, const Path *inner, bool parallel_hash)
{
	JoinCandidate *candidate = &offer->candidate;
	JoinEstimate estimate;
	JoinForeignSite site;
	JoinReason	reason;
	const Path *scan;
	const List *scans;
	bool		sent;

	candidate->spilling =
		bloomfam_join_spilling(inner->rows, inner->pathtarget->width, outer->pathtarget->width);
	offer->nodes = 1;
	offer->scanned = 0;
	offer->saved = outer->rows * candidate->drop *
					   (list_length(offer->clauses) * cpu_operator_cost + offer->comparing +
						candidate->spilling) -
				   bloomfam_join_cost_of_keys(inner->rows);
	scan = follow(offer, outer);
	if (scan == NULL)
		return false;
	if (IsA(scan, AppendPath))
		offer->nodes++;
	scans = IsA(scan, AppendPath) ? ((const AppendPath *) scan)->subpaths
								  : list_make1(unconstify(Path *, scan));
	offer->left = Min(outer->rows / Max(scan->rows, 1), 1);
	describe_build_side(offer, inner, parallel_hash);
	describe_scans(offer, scans, scan->rows);
	sent = is_sent(offer, scan);
	site = (JoinForeignSite) {.rows = scan->rows, .guess = JOIN_GUESSES_NOTHING};
	candidate->foreign = &site;
	candidate->nforeign = sent ? 1 : 0;
	reason = bloomfam_join_estimate(candidate, &estimate);
	if (reason == JOIN_NO_REASON && sent)
		add_foreign(offer, scan);
	else if (reason == JOIN_NO_REASON)
		add_scans(offer, scan, scans);
	pfree(candidate->sites);
	return reason == JOIN_NO_REASON && offer->saved > 0 &&
		   (sent || !is_faster_fetched_by_index(offer, scan->parent));
}

/*
 * What a join of this cost is offered for less: what its filter saves, without the near tie, of
 * all but a join below that was offered so.
 */
static Cost
discount(const Offer *offer, Cost total)
{
	const RelOptInfo *joinrel = offer->joinrel;
	Cost		settled = offer->discounted;
	Cost		margin = NEAR_TIE * Max(total - settled - offer->saved, 0);

	/* are there more relations to join to these? */
	if (!bms_is_subset(offer->root->all_baserels, joinrel->top_parent_relids != NULL
													  ? joinrel->top_parent_relids
													  : joinrel->relids))
		margin += NEAR_TIE * (total - settled);
	return Max(offer->saved - margin, 0) + SAFER * settled;
}

/*
 * Offers the planner a hash join of these paths, if a filter is expected to save anything, or it
 * stands above a join that was offered for less.
 */
static void
consider(Offer *offer, Path *outer, Path *inner, bool partial, bool parallel_hash)
{
	RelOptInfo *joinrel = offer->joinrel;
	JoinCostWorkspace costs;
	Path	   *path;
	Cost		saved;

	if (!offer->filters || !saves(offer, outer, inner, parallel_hash))
	{
		if (offer->discounted == 0)
			return;
		offer->saved = 0;
	}
	initial_cost_hashjoin(offer->root, &costs, offer->jointype, offer->clauses, outer, inner,
						  offer->extra, parallel_hash);
	saved = discount(offer, costs.total_cost);
	if (saved <= 0 ||
		(partial ? !bloomfam_add_partial_path_precheck(joinrel, &costs, costs.total_cost - saved)
				 : !bloomfam_add_path_precheck(joinrel, &costs, costs.total_cost - saved)))
		return;
	path = (Path *) create_hashjoin_path(offer->root, joinrel, offer->jointype, &costs,
										 offer->extra, outer, inner, parallel_hash,
										 offer->extra->restrictlist, NULL, offer->clauses);
	saved = discount(offer, path->total_cost);
	path->total_cost = Max(path->total_cost - saved, path->startup_cost);
	if (is_discounted(path))
		discounting = offer->root->glob;
	if (partial)
		add_partial_path(joinrel, path);
	else
		add_path(joinrel, path);
}

/*
 * May a join of these be worth a filter?  Most are not: of few rows, or without a condition that
 * drops any.  Too many rows of a table may have keys that a bitmap has room for.
 */
static inline bool
may_filter(const RelOptInfo *joinrel, const RelOptInfo *outerrel, const RelOptInfo *innerrel)
{
	double		dropped = outerrel->rows - joinrel->rows;

	if (bloomfam_join_filter != JOIN_FILTER_FORCE &&
		(outerrel->rows < Max(bloomfam_join_filter_min_rows, ROWS_TO_PLAN_FOR) ||
		 dropped < outerrel->rows * bloomfam_join_filter_min_drop))
		return false;
	return dropped > 0 &&
		   (innerrel->relid != 0 || innerrel->rows <= bloomfam_join_design_most());
}

/* Of as many paths as hash_inner_and_outer() makes joins of. */
void
bloomfam_join_add_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
						RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra)
{
	bool		filters = may_filter(joinrel, outerrel, innerrel);
	Offer		offer;
	QualCost	comparing;
	Path	   *outer = outerrel->cheapest_total_path;
	Path	   *inner = innerrel->cheapest_total_path;

	/* most pairs end here, of which there are thousands */
	if ((!filters && cost_of_discounted(root, outer) <= 0) ||
		(jointype != JOIN_INNER && jointype != JOIN_SEMI) || !enable_hashjoin ||
		!bms_is_empty(joinrel->lateral_relids) || outer->param_info != NULL ||
		inner->param_info != NULL)
		return;
	offer = (Offer) {
		.root = root, .joinrel = joinrel, .innerrel = innerrel, .jointype = jointype,
		.extra = extra, .candidate.drop = bloomfam_join_drop(joinrel->rows, outerrel->rows),
		.filters = filters, .discounted = cost_of_discounted(root, outer), .fraction = -1
	};
	if (!find_clauses(&offer, outerrel))
		return;
	cost_qual_eval(&comparing, offer.clauses, root);
	offer.comparing = comparing.per_tuple * (jointype == JOIN_INNER && !extra->inner_unique
												 ? COMPARED
												 : COMPARED_IN_VAIN);

	consider(&offer, outer, inner, false, false);
	if (!joinrel->consider_parallel || outerrel->partial_pathlist == NIL)
		return;
	outer = linitial(outerrel->partial_pathlist);
	offer.discounted = cost_of_discounted(root, outer);
	if (enable_parallel_hash && innerrel->partial_pathlist != NIL)
		consider(&offer, outer, linitial(innerrel->partial_pathlist), true, true);
	if (!inner->parallel_safe)
		inner = get_cheapest_parallel_safe_total_inner(innerrel->pathlist);
	if (inner != NULL)
		consider(&offer, outer, inner, true, false);
}
