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
#include "join/planner/constants.h"
#include "join/planner/lookups.h"

static const RelOptInfo *
scanned_relation(const JoinPathCandidate *path_candidate)
{
	return path_candidate->root->simple_rel_array[path_candidate->relid];
}

/*
 * Returns the index path by which a path looks up rows for rows of the build side.  Returns NULL if
 * the path does not do that, or uses more than one index, or one such as BRIN that does not name
 * rows.
 */
static const IndexPath *
lookup_of(const JoinPathCandidate *path_candidate, const Path *path)
{
	if (PATH_REQ_OUTER(path) == NULL ||
		!bms_is_subset(PATH_REQ_OUTER(path), path_candidate->built->relids))
		return NULL;
	if (IsA(path, BitmapHeapPath))
		path = ((const BitmapHeapPath *) path)->bitmapqual;
	if (!IsA(path, IndexPath) || !((const IndexPath *) path)->indexinfo->amhasgettuple)
		return NULL;
	return (const IndexPath *) path;
}

/*
 * Returns the cost of one lookup, without the conditions that the join would also evaluate for the
 * rows found: a condition with a subquery may cost more than all the rest.
 */
static Cost
cost_of_lookup(PlannerInfo *root, const Path *path, const IndexPath *index)
{
	QualCost	conditions;

	cost_qual_eval(&conditions, path->param_info->ppi_clauses, root);
	return Max(path->total_cost -
				   conditions.per_tuple * path->parent->tuples * index->indexselectivity,
			   index->indextotalcost);
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

bool
bloomfam_join_lookups_win(const JoinPathCandidate *path_candidate, bool partial,
						  JoinLookups *lookups)
{
	const RelOptInfo *rel = scanned_relation(path_candidate);
	const RelOptInfo *built = path_candidate->built;
	const Path *outer = built->cheapest_total_path;
	double		pages = rel->pages * (path_candidate->read < 0 ? 1 : path_candidate->read);
	Cost		page_cost;
	ListCell   *lc;

	if (partial)
		outer = built->partial_pathlist != NIL ? linitial(built->partial_pathlist) : NULL;
	*lookups = (JoinLookups) {0};
	get_tablespace_page_costs(rel->reltablespace, NULL, &page_cost);
	foreach(lc, rel->cheapest_parameterized_paths)
	{
		const Path *path = lfirst(lc);
		const IndexPath *index = lookup_of(path_candidate, path);
		Cost		nested_loop;

		if (index == NULL)
			continue;

		/*
		 * The planner counts the time of a disk access for each page.  If all pages are in memory,
		 * a lookup takes far less time than the planner expects.
		 */
		if (built->rows * ROWS_PER_FETCHED_PAGE *
				Max(cost_of_lookup(path_candidate->root, path, index) / random_page_cost, 1) <
			path_candidate->scanned)
			return true;

		/*
		 * The pages that an index-only scan reads are not those of the table, which the hash join's
		 * scan would read.
		 */
		if (outer == NULL || path->pathtype == T_IndexOnlyScan || (partial && !path->parallel_safe))
			continue;
		nested_loop = outer->total_cost + outer->rows * path->total_cost;
		if (lookups->cost > 0 && lookups->cost <= nested_loop)
			continue;
		lookups->cost = nested_loop;
		lookups->pages =
			page_cost * Min(pages, fetched_pages(path_candidate, index, built->rows));
	}
	return false;
}
