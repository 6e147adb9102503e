/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * lookups.c
 *	  Lookups by an index, beside the scan that a filter would drop rows of.
 *
 * A hash join with a filter scans a relation in which a nested loop would look up the rows of each
 * key.  The planner compares their costs, and it counts pages by different rules: a page that
 * lookups visit again is taken to be in the cache (index_pages_fetched()), and what they fetch is
 * divided by the processes of a parallel plan (cost_index() counts for all outer rows, of which
 * each process has a part); a page of a sequential scan is always read, and by one process
 * (cost_seqscan()).  In truth a page that both read costs both the same, whether it is in the cache
 * or not, and what decides is the rest: the pages that the scan alone reads, and the work of the
 * processor.
 *
 * So the pages that lookups would read, too, are no part of what speaks against the scan.  Without
 * their cost, the join with a filter takes the place of the nested loop at the price of that, if it
 * is the faster one; no other plan has to compete with a lower cost.  Where lookups would read few
 * pages, nothing changes.
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
 * So many rows are scanned in page batches in the time that one is fetched by an index, or that
 * another page takes of which it has rows: 60 to 100.
 */
#define ROWS_PER_LOOKUP		64.0

/*
 * What a scan in page batches, and lookups, take for tables in memory, in nanoseconds as measured:
 * a row and a page of the scan; a lookup, and a row that it fetches.  Only their ratios count.
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

/* Does this path look up rows of a relation for rows of the build side alone? */
static bool
is_lookup(const JoinPathCandidate *path_candidate, const Path *path)
{
	return PATH_REQ_OUTER(path) != NULL &&
		   bms_is_subset(PATH_REQ_OUTER(path), path_candidate->built->relids);
}

/* Returns the scan of an index that finds a path's rows, if it is of one; else NULL. */
static const IndexPath *
index_of(const Path *path)
{
	if (IsA(path, BitmapHeapPath))
		path = ((const BitmapHeapPath *) path)->bitmapqual;
	return IsA(path, IndexPath) ? (const IndexPath *) path : NULL;
}

/*
 * Returns what one lookup costs, without the conditions that the join would evaluate as well for
 * the rows that it finds: one with a subquery may cost more than all else.
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
		 * The planner counts the time of a disk for each lookup.  If all is in memory, it takes
		 * less by far, and a lower cost of the hash join would make the planner choose the slower
		 * one.
		 */
		cost = cost_of_lookup(path_candidate->root, path);
		if (lookups * cost < hash_join &&
			lookups * Max(cost / random_page_cost, 1) * ROWS_PER_LOOKUP < path_candidate->scanned)
			return true;
	}
	return false;
}

/*
 * Returns how many pages of the table so many lookups fetch.  The server's estimate is one of rows
 * that lie anywhere.  Those in the order of the index lie together, and so do those of neighbouring
 * keys, which the keys may be.  As in cost_index(), the square of the correlation tells how much of
 * both is true.
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

		/* what is looked up in the index alone reads other pages */
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
