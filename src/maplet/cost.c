/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * cost.c
 *	  Estimates the cost of a maplet index scan for the planner.
 *
 * A lookup reads one page of each run.  The metapage, the tails and the small runs are expected to
 * stay in memory, as the upper pages of a B-tree do, for which the server counts CPU time only.
 * The keys of an array are looked up in the order of their hashes, so that each page is visited
 * once.  All keys are looked up before the first row is returned, so the lookups are startup cost.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"
#include "utils/syscache.h"

#include "maplet/maplet.h"
#include "maplet/meta.h"

/*
 * The CPU cost of a page that is in memory, in operator calls, as the server has it for B-trees
 * (btcostestimate() in selfuncs.c).
 */
#define PAGE_OPERATORS	50.0

/*
 * The CPU cost, in operator calls, of finding a key in a page that is in memory, and that of
 * hashing and sorting a key.
 */
#define KEY_OPERATORS	8.0

/*
 * The number of pages of a run of which half are assumed to be in memory, unless the run is the
 * largest.
 */
#define HALF_CACHED_PAGES	1024.0

/*
 * Returns whether the planner has statistics on all columns of the index's keys, and so knows how
 * often keys repeat.
 */
static bool
has_statistics(PlannerInfo *root, const IndexOptInfo *index)
{
	RangeTblEntry *rte = planner_rt_fetch(index->rel->relid, root);
	int			i;

	for (i = 0; i < index->nkeycolumns; i++)
	{
		bool		expression = index->indexkeys[i] == 0;
		AttrNumber	attribute = expression ? i + 1 : index->indexkeys[i];

		if (!SearchSysCacheExists3(STATRELATTINH,
								   ObjectIdGetDatum(expression ? index->indexoid : rte->relid),
								   Int16GetDatum(attribute), BoolGetDatum(false)))
			return false;
	}
	return true;
}

/*
 * Returns whether a scan looks up this number of keys.  Otherwise it reads the whole table, because
 * a column has no condition, or because arrays for several columns have too many combinations.
 */
static bool
looks_up(const IndexPath *path, double keys)
{
	Bitmapset  *columns = NULL;
	Bitmapset  *arrays = NULL;
	ListCell   *lc;

	foreach(lc, path->indexclauses)
	{
		IndexClause *clause = lfirst_node(IndexClause, lc);

		columns = bms_add_member(columns, clause->indexcol);
		if (IsA(linitial_node(RestrictInfo, clause->indexquals)->clause, ScalarArrayOpExpr))
			arrays = bms_add_member(arrays, clause->indexcol);
	}
	return bms_num_members(columns) == path->indexinfo->nkeycolumns &&
		(keys <= MAPLET_MAX_COMBINATIONS || bms_num_members(arrays) < 2);
}

/*
 * Estimates how many pages one lookup reads from disk, given the number of lookups that share the
 * cache.
 */
static double
pages_read(PlannerInfo *root, const MapletMeta *meta, double index_pages, double lookups)
{
	double		largest = 0;
	double		read = 0;
	uint32		i;

	for (i = 0; i < meta->nruns; i++)
		largest = Max(largest, meta->runs[i].shape.pages);
	for (i = 0; i < meta->nruns; i++)
	{
		double		pages = meta->runs[i].shape.pages;
		double		part = pages < largest ? pages / (pages + HALF_CACHED_PAGES) : 1;

		read += part * index_pages_fetched(lookups, (BlockNumber) pages, index_pages, root) /
			lookups;
	}
	return read;
}

/*
 * Estimates how many operator calls a scan for this number of keys takes: a cost for each page
 * visited, and a cost for each key in each run.
 */
static double
operators(const MapletMeta *meta, double keys)
{
	double		visits = 1 + Min(keys, Max(meta->tails[meta->active].extent.len, 1));
	uint32		i;

	for (i = 0; i < meta->nruns; i++)
		visits += Min(keys, (double) meta->runs[i].shape.pages);
	return visits * PAGE_OPERATORS + keys * (1.0 + meta->nruns) * KEY_OPERATORS;
}

void
bloomfam_maplet_costestimate(PlannerInfo *root, IndexPath *path, double loop_count,
							 Cost *startup_cost, Cost *total_cost, Selectivity *selectivity,
							 double *correlation, double *pages)
{
	IndexOptInfo *info = path->indexinfo;
	MapletView *view = (MapletView *) palloc(sizeof(MapletView));
	const MapletMeta *meta = &view->meta;
	GenericCosts costs;
	double		keys;
	double		entries;
	double		fingerprints = 0;
	double		false_places = 0;
	double		read = 1;
	double		spc_random_page_cost;
	double		places;
	uint32		i;

	/* A hypothetical index has no runs, and a tail of no pages. */
	memset(&view->meta, 0, offsetof(MapletMeta, runs));
	MemSet(&costs, 0, sizeof(costs));
	genericcostestimate(root, path, loop_count, &costs);
	keys = Max(costs.num_sa_scans, 1);
	get_tablespace_page_costs(info->reltablespace, &spc_random_page_cost, NULL);
	if (!looks_up(path, keys))
	{
		/* All places of the table are tried before the first row is known to be one. */
		*total_cost = *startup_cost = info->rel->pages *
			(spc_random_page_cost + MaxHeapTuplesPerPage * cpu_tuple_cost);
		*selectivity = 1;
		*correlation = 0;
		*pages = Max(info->pages, 1);
		return;
	}
	if (!info->hypothetical)
	{
		Relation	index = index_open(info->indexoid, NoLock);

		bloomfam_maplet_meta_refresh(index, view);
		index_close(index, NoLock);
		read = pages_read(root, meta, Max(info->pages, 1), keys * Max(loop_count, 1));
	}

	entries = bloomfam_maplet_entries(meta);
	for (i = 0; i < meta->nruns; i++)
	{
		fingerprints += meta->runs[i].fingerprints;
		false_places += bf_run_false_places(meta->runs[i].entries, meta->runs[i].shape.p);
	}
	if (fingerprints > 0 && info->indpred == NIL && !has_statistics(root, info))
		costs.indexSelectivity = Min(keys / fingerprints, costs.indexSelectivity);
	places = costs.indexSelectivity * Max(info->rel->tuples, 1) + keys * false_places;

	*startup_cost = keys * read * spc_random_page_cost + operators(meta, keys) * cpu_operator_cost;
	*total_cost = *startup_cost + places * (cpu_index_tuple_cost + cpu_operator_cost);
	*selectivity = Min(costs.indexSelectivity +
					   keys * false_places / Max(entries, 1), 1.0);
	*correlation = 0;
	*pages = ceil(keys * Max(read, 1));
}
