/*-------------------------------------------------------------------------
 *
 * paths.c
 *	  Hash joins that are planned by what their filters are expected to save.
 *
 * insert_nodes.c adds filters to plans that are finished.  Without more, the planner would choose a
 * nested loop over an index, or a merge join, where a hash join would be faster whose probe side
 * is scanned by pages under a filter.  So for each pair of relations that it considers, it is
 * offered the hash join once more, at a total cost that is lower by what the filter is expected
 * to save.  The join is the server's own in all else, and as legal: if it gets no filter in the
 * end, its cost was too low, and nothing else is wrong.
 *
 * The planner works from the bottom up, and knows the costs of the paths below when it comes to a
 * join.  So what a filter saves anywhere is taken from the cost of the join that it is of; costs
 * and rows of what is below stay as they are.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "join/base/column.h"
#include "join/base/gucs.h"
#include "join/filter/design.h"
#include "join/filter/hash.h"
#include "join/filter/keys.h"
#include "join/planner/cost.h"
#include "join/planner/paths.h"
#include "join/planner/prune_cost.h"
#include "pg/compat.h"

/*
 * So many rows are scanned by pages in the time that one is looked up by an index, or that
 * another page takes of which it has rows: 60 to 100.
 */
#define ROWS_PER_LOOKUP		64.0

/*
 * Joins of fewer rows are planned as ever: they take no longer than looking for a better plan
 * would, where there are many of them.
 */
#define ROWS_TO_PLAN_FOR	100000.0

/*
 * Estimates are most wrong where filters are most used, so a plan that is cheaper by less than
 * this share of a join's cost stays.  Where other joins come above, a nested loop may look up
 * each row of it, and there may be many times as many as the planner expects: what the scan costs
 * is sure, and a saving on it is not, so there the share is also of what the join costs without a
 * filter.  What a join below has left for a tie counts for those above it: were it left at each
 * of a chain of hash joins, the nested loop above the first would win, which is what is not safe.
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
 * A hash join that is considered, and what its filter is expected to save, in the planner's
 * units.
 */
typedef struct Candidate
{
	const RelOptInfo *innerrel;
	bool		filters;		/* if not, it is considered for what is below alone */
	Cost		discounted;		/* what a join below costs that was offered for less, or 0 */
	List	   *clauses;		/* of RestrictInfo, those that it hashes by, as the server would
								 * choose them */
	JoinKeyColumn *columns;		/* ... and what of them a filter has */
	Index		relid;			/* the base relation whose columns all their outer sides are */
	JoinHashTrust trust;		/* in hashing these columns */
	bool		long_keys;		/* it takes time to fetch them */
	double		drop;			/* the share of the outer side's rows that match none of them */
	double		fraction;		/* of what scanning that relation costs, what remains if nothing is
								 * read in which keys cannot be; -1: not known yet */
	double		left;			/* the share of its rows that filters of joins further down leave */
	Cost		comparing;		/* an outer row with the inner ones of its bucket */
	double		spilling;
	int			nodes;			/* from its scan up to the join, and that one */
	JoinEstimate estimate;		/* what decision.c will say of the filter */
	double		scanned;		/* rows of that relation, by all processes together */
	double		saved;
} Candidate;

/* Is this a column of a table, with long keys? */
static bool
has_long_keys(PlannerInfo *root, const Var *column)
{
	const RangeTblEntry *rte = planner_rt_fetch(column->varno, root);

	return rte->rtekind == RTE_RELATION &&
		   bloomfam_join_has_long_keys(rte->relid, column->varattno, rte->inh);
}

/*
 * Finds the clauses to hash by; false if there are none, or decision.c would make no single filter
 * of them all.
 */
static bool
find_clauses(PlannerInfo *root, Candidate *candidate, const RelOptInfo *outerrel,
			 const RelOptInfo *innerrel, const List *restrictlist)
{
	const ListCell *lc;

	candidate->trust = JOIN_HASH_LEAKPROOF;
	candidate->columns = palloc(list_length(restrictlist) * sizeof(JoinKeyColumn));
	foreach(lc, restrictlist)
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, lc);
		const OpExpr *equal = (const OpExpr *) clause->clause;
		JoinKeyColumn *key = &candidate->columns[list_length(candidate->clauses)];
		const Var  *column;

		if (!clause->can_join || !OidIsValid(clause->hashjoinoperator))
			continue;
		if (bms_is_subset(clause->left_relids, outerrel->relids) &&
			bms_is_subset(clause->right_relids, innerrel->relids))
		{
			column = bloomfam_join_var((const Expr *) get_leftop(clause->clause));
			key->inner = (Expr *) get_rightop(clause->clause);
			key->operator = equal->opno;
		}
		else if (bms_is_subset(clause->left_relids, innerrel->relids) &&
				 bms_is_subset(clause->right_relids, outerrel->relids))
		{
			/* without one, the server could not turn it round either */
			key->operator = get_commutator(equal->opno);
			if (!OidIsValid(key->operator))
				return false;
			column = bloomfam_join_var((const Expr *) get_rightop(clause->clause));
			key->inner = (Expr *) get_leftop(clause->clause);
		}
		else
			continue;
		if (column == NULL || (candidate->clauses != NIL && column->varno != candidate->relid) ||
			!bloomfam_join_hashing(key->operator, equal->inputcollid, &key->hashing))
			return false;
		key->collation = equal->inputcollid;
		key->attribute = column->varattno;
		candidate->relid = column->varno;
		candidate->trust = Min(candidate->trust, key->hashing.outer.trust);
		candidate->long_keys |= has_long_keys(root, column);
		candidate->clauses = lappend(candidate->clauses, clause);
	}
	return candidate->clauses != NIL;
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
 * NULL if that is not on the outer side all the way. A filter may go down by inner sides, too,
 * see pushdown.c; but what it then saves is something else.  Counts the nodes in between, and what
 * is saved there, of what they cost themselves.
 */
static const Path *
follow(Candidate *candidate, const Path *path)
{
	for (;;)
	{
		const Path *child = down(path);
		double		own = path->total_cost;

		if (child == NULL)
			return path->parent->relid == candidate->relid ? path : NULL;
		if (!bms_is_member(candidate->relid, child->parent->relids))
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
		candidate->nodes++;
		candidate->saved +=
			Max(Min(own, bloomfam_join_cost_of_passing(child->rows)), 0) * candidate->drop;
		path = child;
	}
}

/* Describes a scan where the filter would be asked, of whose rows one process sees this share. */
static JoinFilterSite
describe_scan(const Candidate *candidate, const Path *scan, double scale)
{
	const RelOptInfo *rel = scan->parent;
	double		rows = scan->rows * scale;
	JoinFilterSite	  site = {.nodes = candidate->nodes,
							  .spilling = candidate->spilling,
							  .rows_before = rows,
							  .after = rows};
	ListCell   *lc;

	if (scan->pathtype != T_SeqScan)
		return site;
	site.is_scan = true;
	site.volatile_free = bloomfam_join_is_volatile_free(scan->pathtarget->exprs, NULL);
	foreach(lc, rel->baserestrictinfo)
		site.volatile_free &=
			bloomfam_join_is_volatile_free(lfirst_node(RestrictInfo, lc)->clause, NULL);
	site.conditions = rel->baserestrictinfo != NIL;
	site.columns = true;
	site.trust = candidate->trust;
	site.long_keys = candidate->long_keys;
	site.rows_before = Max(rows, rows * rel->tuples / Max(rel->rows, 1));
	site.condition_cost = rel->baserestrictcost.per_tuple;
	return site;
}

/* The share of the scan's cost that remains; the same for all paths of the two relations. */
static double
get_read_fraction(PlannerInfo *root, Candidate *candidate, const RelOptInfo *rel)
{
	if (candidate->fraction < 0)
		candidate->fraction = bloomfam_join_read_fraction(root, rel, candidate->columns,
														  list_length(candidate->clauses),
														  candidate->innerrel, candidate->drop);
	return candidate->fraction;
}

/* Adds what is saved at a scan, of whose rows this share is read, by what is done for each. */
static void
add_rows(Candidate *candidate, const Path *scan, const JoinFilterSite *site, double fraction)
{
	/* all that match are in what is read, so less is dropped there */
	double		dropped = Max(fraction - (1 - candidate->drop), 0);

	bloomfam_join_estimate_site(&candidate->estimate, site);

	/* by pages, nothing is done for a row that is dropped: its conditions are not asked either */
	if (bloomfam_join_access(site) != JOIN_ROW_BY_ROW)
		candidate->saved +=
			site->rows_before * candidate->left * dropped * (cpu_tuple_cost + site->condition_cost);
	candidate->saved -=
		bloomfam_join_cost_of_probing(&candidate->estimate, site) * candidate->left * fraction;
	candidate->scanned += scan->parent->tuples * fraction;
}

/*
 * Adds what is saved by reading only this share of a scan, or of several.  Joins further down may
 * leave out the same: of what they read, at least so much is left as there are rows left of it.
 */
static void
add_skipped(Candidate *candidate, const Path *scan, double fraction)
{
	candidate->saved +=
		(scan->total_cost - scan->startup_cost) * (1 - fraction) * candidate->left;
}

static void
add_scans(PlannerInfo *root, Candidate *candidate, const Path *scan)
{
	const List *scans;
	double		rows = 0;
	double		fraction = 1;
	ListCell   *lc;

	if (!IsA(scan, AppendPath))
	{
		JoinFilterSite site = describe_scan(candidate, scan, 1);

		if (bloomfam_join_access(&site) != JOIN_ROW_BY_ROW)
			fraction = get_read_fraction(root, candidate, scan->parent);
		add_skipped(candidate, scan, fraction);
		add_rows(candidate, scan, &site, fraction);
		return;
	}
	scans = ((const AppendPath *) scan)->subpaths;
	fraction = get_read_fraction(root, candidate, scan->parent);
	add_skipped(candidate, scan, fraction);
	candidate->nodes++;
	foreach(lc, scans)
		rows += ((const Path *) lfirst(lc))->rows;
	foreach(lc, scans)
	{
		JoinFilterSite site = describe_scan(candidate, lfirst(lc), scan->rows / Max(rows, 1));

		add_rows(candidate, lfirst(lc), &site, fraction);
	}
}

/*
 * What one lookup costs, without the conditions that the join would ask as well of the rows that
 * it finds: one with a subquery may cost more than all else.
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
is_faster_fetched_by_index(PlannerInfo *root, const Candidate *candidate, const RelOptInfo *rel)
{
	const Relids others = candidate->innerrel->relids;
	double		lookups = candidate->innerrel->rows;
	ListCell   *lc;

	foreach(lc, rel->cheapest_parameterized_paths)
	{
		const Path *path = lfirst(lc);
		const Relids needed = PATH_REQ_OUTER(path);
		Cost		cost;

		if (needed == NULL || !bms_is_subset(needed, others))
			continue;
		cost = cost_of_index_fetch(root, path);
		if (lookups * cost < rel->cheapest_total_path->total_cost &&
			lookups * Max(cost / random_page_cost, 1) * ROWS_PER_LOOKUP < candidate->scanned)
			return true;
	}
	return false;
}

/* How far apart the keys are, as decision.c would find of the plan; -1 if nothing tells. */
static double
span_of_keys(PlannerInfo *root, const Candidate *candidate, const Path *inner)
{
	const RelOptInfo *rel = candidate->innerrel;
	const JoinKeyColumn *key = &candidate->columns[0];
	const Var  *column = bloomfam_join_var(key->inner);

	if (list_length(candidate->clauses) != 1 || column == NULL || column->varno != rel->relid ||
		rel->rtekind != RTE_RELATION ||
		!bloomfam_join_keys_can_keep(key->hashing.kind, key->hashing.inner.type) ||
		(inner->pathtype != T_SeqScan && inner->pathtype != T_IndexScan &&
		 inner->pathtype != T_BitmapHeapScan))
		return -1;
	return bloomfam_join_span(planner_rt_fetch(rel->relid, root)->relid, column->varattno);
}

/* Is a filter expected to save anything in a hash join of these paths?  Then tells how much. */
static bool
saves(PlannerInfo *root, Candidate *candidate, const Path *outer, const Path *inner,
	  bool parallel_hash)
{
	const Path *scan;

	candidate->spilling =
		bloomfam_join_spilling(inner->rows, inner->pathtarget->width, outer->pathtarget->width);
	candidate->nodes = 1;
	candidate->scanned = 0;
	candidate->saved = outer->rows * candidate->drop *
						   (list_length(candidate->clauses) * cpu_operator_cost +
							candidate->comparing + candidate->spilling) -
					   bloomfam_join_cost_of_keys(inner->rows);
	scan = follow(candidate, outer);
	if (scan == NULL)
		return false;
	candidate->left = Min(outer->rows / Max(scan->rows, 1), 1);
	bloomfam_join_estimate_begin(&candidate->estimate, inner->rows, true, candidate->drop);
	if (candidate->estimate.keys > candidate->estimate.most && !parallel_hash)
		bloomfam_join_estimate_span(&candidate->estimate,
									span_of_keys(root, candidate, inner));
	add_scans(root, candidate, scan);
	return candidate->saved > 0 &&
		   bloomfam_join_estimate_end(&candidate->estimate) == JOIN_HAS_FILTER &&
		   !is_faster_fetched_by_index(root, candidate, scan->parent);
}

/* Are there more relations to join to these? */
static bool
is_joined_further(const PlannerInfo *root, const RelOptInfo *joinrel)
{
	return !bms_is_subset(root->all_baserels, joinrel->top_parent_relids != NULL
												  ? joinrel->top_parent_relids
												  : joinrel->relids);
}

/*
 * What a join of this cost is offered for less: what its filter saves, without the near tie, of
 * all but a join below that was offered so.
 */
static Cost
discount(const PlannerInfo *root, const RelOptInfo *joinrel, const Candidate *candidate,
		 Cost total)
{
	Cost		settled = candidate->discounted;
	Cost		margin = NEAR_TIE * Max(total - settled - candidate->saved, 0);

	if (is_joined_further(root, joinrel))
		margin += NEAR_TIE * (total - settled);
	return Max(candidate->saved - margin, 0) + SAFER * settled;
}

/*
 * Offers the planner a hash join of these paths, if a filter is expected to save anything, or it
 * stands above a join that was offered for less.
 */
static void
consider(PlannerInfo *root, RelOptInfo *joinrel, JoinType jointype, JoinPathExtraData *extra,
		 Candidate *candidate, Path *outer, Path *inner, bool partial, bool parallel_hash)
{
	JoinCostWorkspace costs;
	Path	   *path;
	Cost		saved;

	if (!candidate->filters || !saves(root, candidate, outer, inner, parallel_hash))
	{
		if (candidate->discounted == 0)
			return;
		candidate->saved = 0;
	}
	initial_cost_hashjoin(root, &costs, jointype, candidate->clauses, outer, inner, extra,
						  parallel_hash);
	saved = discount(root, joinrel, candidate, costs.total_cost);
	if (saved <= 0 ||
		(partial ? !bloomfam_add_partial_path_precheck(joinrel, &costs, costs.total_cost - saved)
				 : !bloomfam_add_path_precheck(joinrel, &costs, costs.total_cost - saved)))
		return;
	path =
		(Path *) create_hashjoin_path(root, joinrel, jointype, &costs, extra, outer, inner,
									  parallel_hash, extra->restrictlist, NULL, candidate->clauses);
	saved = discount(root, joinrel, candidate, path->total_cost);
	path->total_cost = Max(path->total_cost - saved, path->startup_cost);
	if (is_discounted(path))
		discounting = root->glob;
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

/* Offers the planner hash joins of these relations, of as many paths as hash_inner_and_outer(). */
static pg_noinline void
consider_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
			   RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra, bool filters)
{
	Candidate	candidate;
	QualCost	comparing;
	Path	   *outer = outerrel->cheapest_total_path;
	Path	   *inner = innerrel->cheapest_total_path;

	if ((jointype != JOIN_INNER && jointype != JOIN_SEMI) || !enable_hashjoin ||
		!bms_is_empty(joinrel->lateral_relids) || outer->param_info != NULL ||
		inner->param_info != NULL)
		return;
	memset(&candidate, 0, sizeof(candidate));
	candidate.innerrel = innerrel;
	candidate.drop = 1 - joinrel->rows / outerrel->rows;
	candidate.filters = filters;
	candidate.discounted = cost_of_discounted(root, outer);
	candidate.fraction = -1;
	if (!find_clauses(root, &candidate, outerrel, innerrel, extra->restrictlist))
		return;
	cost_qual_eval(&comparing, candidate.clauses, root);
	candidate.comparing =
		comparing.per_tuple *
		(jointype == JOIN_INNER && !extra->inner_unique ? COMPARED : COMPARED_IN_VAIN);

	consider(root, joinrel, jointype, extra, &candidate, outer, inner, false, false);
	if (!joinrel->consider_parallel || outerrel->partial_pathlist == NIL)
		return;
	outer = linitial(outerrel->partial_pathlist);
	candidate.discounted = cost_of_discounted(root, outer);
	if (enable_parallel_hash && innerrel->partial_pathlist != NIL)
		consider(root, joinrel, jointype, extra, &candidate, outer,
				 linitial(innerrel->partial_pathlist), true, true);
	if (!inner->parallel_safe)
		inner = get_cheapest_parallel_safe_total_inner(innerrel->pathlist);
	if (inner != NULL)
		consider(root, joinrel, jointype, extra, &candidate, outer, inner, true, false);
}

void
bloomfam_join_add_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
						RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra)
{
	bool		filters = may_filter(joinrel, outerrel, innerrel);

	/* most pairs end here, of which there are thousands */
	if (filters || cost_of_discounted(root, outerrel->cheapest_total_path) > 0)
		consider_paths(root, joinrel, outerrel, innerrel, jointype, extra, filters);
}
