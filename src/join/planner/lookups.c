/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * lookups.c
 *	  Compares a filtered scan with a nested loop that looks up rows by an index.
 *
 * A hash join with a filter scans a relation in which a nested loop would look up the rows of each
 * key.  The planner compares their costs, but counts pages by different rules.  A page that lookups
 * visit again is assumed to be in the cache (index_pages_fetched()), and the pages that lookups
 * fetch are divided by the processes of a parallel plan (cost_index() counts for all outer rows, of
 * which each process has a part).  A page of a sequential scan is always read, and by one process
 * (cost_seqscan()).  In truth a page that both read costs both the same, cached or not.  What
 * decides is the rest: the pages that only the scan reads, and the processor's work.
 *
 * So the cost of pages that lookups would read as well is not counted against the scan.  Without
 * it, the join with a filter replaces the nested loop, at the nested loop's cost, if the join is
 * the faster of the two; no other plan has to compete with a lower cost.  Where lookups would read
 * few pages, nothing changes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/spccache.h"

#include "join/base/column_stats.h"
#include "join/planner/lookups.h"

/*
 * The number of rows that are scanned in page batches in the time in which an index scan fetches
 * one row, or one more page with matching rows; measured as 60 to 100.
 */
#define ROWS_PER_LOOKUP		64.0

/*
 * Measured times, in nanoseconds and for tables in memory: of a row and of a page scanned in page
 * batches, of an index lookup, and of a row that a lookup fetches.  Only the ratios of these times
 * matter.
 */
#define TIME_OF_ROW			7.0
#define TIME_OF_PAGE		1400.0
#define TIME_OF_LOOKUP		700.0
#define TIME_OF_FETCH		1200.0

static const RelOptInfo *
scanned_relation(const JoinPathCandidate *path_candidate)
{
	return path_candidate->root->simple_rel_array[path_candidate->relid];
}

/* Tells whether a path looks up rows of a relation by parameters from the build side alone. */
static bool
is_lookup(const JoinPathCandidate *path_candidate, const Path *path)
{
	return PATH_REQ_OUTER(path) != NULL &&
		   bms_is_subset(PATH_REQ_OUTER(path), path_candidate->built->relids);
}

/* Returns the index path that finds a path's rows, if the path uses a single index; else NULL. */
static const IndexPath *
index_of(const Path *path)
{
	if (IsA(path, BitmapHeapPath))
		path = ((const BitmapHeapPath *) path)->bitmapqual;
	return IsA(path, IndexPath) ? (const IndexPath *) path : NULL;
}

/*
 * Returns the cost of one lookup, without the conditions that the join would also evaluate for the
 * rows found: a condition with a subquery may cost more than all the rest.
 */
static Cost
cost_of_lookup(PlannerInfo *root, const Path *path)
{
	const IndexPath *index = index_of(path);
	QualCost	conditions;

	if (index == NULL)
		return path->total_cost;
	cost_qual_eval(&conditions, path->param_info->ppi_clauses, root);
	return Max(path->total_cost -
				   conditions.per_tuple * path->parent->tuples * index->indexselectivity,
			   index->indextotalcost);
}

bool
bloomfam_join_lookups_are_faster(const JoinPathCandidate *path_candidate, Cost hash_join)
{
	const RelOptInfo *rel = scanned_relation(path_candidate);
	double		lookups = path_candidate->built->rows;
	ListCell   *lc;

	foreach(lc, rel->cheapest_parameterized_paths)
	{
		const Path *path = lfirst(lc);
		Cost		cost;

		if (!is_lookup(path_candidate, path))
			continue;

		/*
		 * The planner counts the time of a disk access for each lookup.  If all pages are in
		 * memory, a lookup takes far less time, and a lower cost of the hash join would make the
		 * planner choose the slower plan.
		 */
		cost = cost_of_lookup(path_candidate->root, path);
		if (lookups * cost < hash_join &&
			lookups * Max(cost / random_page_cost, 1) * ROWS_PER_LOOKUP < path_candidate->scanned)
			return true;
	}
	return false;
}

/*
 * Returns how many pages of the table the given number of lookups fetch.  The server's estimate
 * assumes that the rows are scattered.  Rows in the order of the index are stored together, and so
 * are rows of neighbouring keys, which the keys may be.  As in cost_index(), the square of the
 * correlation weighs the two estimates.
 */
static double
fetched_pages(const JoinPathCandidate *path_candidate, const IndexPath *index, double lookups)
{
	const RelOptInfo *rel = scanned_relation(path_candidate);
	AttrNumber	column = index->indexinfo->indexkeys[0];
	double		order = column <= 0 ? 0 : bloomfam_join_column_order(
		planner_rt_fetch(path_candidate->relid, path_candidate->root)->relid, column);
	double		anywhere = index_pages_fetched(lookups * rel->tuples * index->indexselectivity,
											   rel->pages, index->indexinfo->pages,
											   path_candidate->root);
	double		together = lookups * rel->pages * index->indexselectivity;

	return Min(order * order * together + (1 - order * order) * anywhere, rel->pages);
}

JoinLookups
bloomfam_join_lookups(const JoinPathCandidate *path_candidate, bool partial)
{
	const RelOptInfo *rel = scanned_relation(path_candidate);
	const RelOptInfo *built = path_candidate->built;
	const Path *outer = built->cheapest_total_path;
	const Path *cheapest = NULL;
	double		read = path_candidate->read < 0 ? 1 : path_candidate->read;
	double		fetched;
	Cost		page_cost;
	ListCell   *lc;

	foreach(lc, rel->cheapest_parameterized_paths)
	{
		const Path *path = lfirst(lc);

		/*
		 * Index-only scans are left out, as the pages that they read are not those of the table,
		 * which the hash join's scan would read.
		 */
		if (is_lookup(path_candidate, path) && index_of(path) != NULL &&
			path->pathtype != T_IndexOnlyScan &&
			(path->parallel_safe || !partial) &&
			(cheapest == NULL || path->total_cost < cheapest->total_cost))
			cheapest = path;
	}
	if (partial)
		outer = built->partial_pathlist != NIL ? linitial(built->partial_pathlist) : NULL;
	if (cheapest == NULL || outer == NULL)
		return (JoinLookups) {0};
	fetched = Max(rel->tuples * index_of(cheapest)->indexselectivity, 1);
	if (built->rows * (TIME_OF_LOOKUP + fetched * TIME_OF_FETCH) <
		path_candidate->scanned * TIME_OF_ROW + rel->pages * read * TIME_OF_PAGE)
		return (JoinLookups) {0};
	get_tablespace_page_costs(rel->reltablespace, NULL, &page_cost);
	return (JoinLookups) {
		.cost = outer->total_cost + outer->rows * cheapest->total_cost,
		.pages = page_cost * Min(rel->pages * read, fetched_pages(path_candidate,
																  index_of(cheapest), built->rows))
	};
}
