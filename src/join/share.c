/*-------------------------------------------------------------------------
 *
 * share.c
 *	  What share of a table a hash join is expected to read that leaves out partitions and pages.
 *
 * Which ones can match is found out when the keys are known (partition.c, blocks.c); here, when
 * the join is planned, how many keys are expected.  Where they lie nobody knows, so they are taken
 * to lie anywhere: that they are neighbours, as days of a month are, makes it less.  And there
 * may be more of them than expected, so they are counted twice.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/brin.h"
#include "access/genam.h"
#include "catalog/pg_am_d.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"

#include "join/column.h"
#include "join/index.h"
#include "join/keys.h"
#include "join/levels.h"
#include "join/settings.h"
#include "join/share.h"

/* So many times more keys than expected. */
#define KEYS_IN_DOUBT	2.0

/* Distinct keys of one column that are expected. */
static double
count_keys(PlannerInfo *root, const JoinKeyColumn *column, double inner_rows)
{
	return KEYS_IN_DOUBT *
		   estimate_num_groups(root, list_make1(column->inner), inner_rows, NULL, NULL);
}

/* ---- partitions ---- */

/* The column of the join that a partition key's column of this number is; NULL if it is none. */
static const JoinKeyColumn *
find_column(const RelOptInfo *rel, int number, const JoinKeyColumn *columns, int ncolumns)
{
	const Var  *var = bloomfam_join_var(linitial(rel->partexprs[number]));
	int			i;

	for (i = 0; var != NULL && i < ncolumns; i++)
		if (columns[i].attribute == var->varattno)
			return &columns[i];
	return NULL;
}

/*
 * A partition is read if a key lies in it; the larger it is, the more likely.  With so many keys,
 * and p its share of the rows, that is 1 - (1 - p)^keys.
 */
static double
share_of_partitions(PlannerInfo *root, const RelOptInfo *rel, const JoinKeyColumn *columns,
					int ncolumns, double inner_rows)
{
	PartitionScheme scheme = rel->part_scheme;
	int			needed = scheme->strategy == PARTITION_STRATEGY_HASH ? scheme->partnatts : 1;
	double		keys = 1;
	double		rows = 0;
	double		left = 0;
	int			i;

	for (i = 0; i < needed; i++)
	{
		JoinPartitionColumn by = {
			.strategy = scheme->strategy, .family = scheme->partopfamily[i],
			.type = scheme->partopcintype[i], .collation = scheme->partcollation[i]
		};
		const JoinKeyColumn *column = find_column(rel, i, columns, ncolumns);

		if (column == NULL || bloomfam_join_skip_by(column, &by) != JOIN_SKIP_PARTITIONS)
			return 1;
		keys *= count_keys(root, column, inner_rows);
	}
	if (keys > JOIN_KEYS_FEW)
		return 1;
	i = -1;
	while ((i = bms_next_member(rel->live_parts, i)) >= 0)
		rows += Max(rel->part_rels[i]->tuples, 1);
	i = -1;
	while ((i = bms_next_member(rel->live_parts, i)) >= 0)
	{
		double		part = Max(rel->part_rels[i]->tuples, 1) / rows;

		left += part * pow(1 - part, keys);
	}
	return 1 - left;
}

/* ---- pages ---- */

/*
 * Where rows lie in the order of a column, but for a shift of up to half of a window, and all are
 * uniform, the correlation is 1 / sqrt(1 + window^2), as the variances add up.  Returns the
 * window, as a share of the table.
 */
static double
window_of_order(double order)
{
	return order > 0 ? Min(sqrt(1 / (order * order) - 1), 1) : 1;
}

/* What is expected of the keys of a column, in a table. */
typedef struct Spread
{
	double		keys;
	double		matching;		/* the share of the table's rows that have one of them */
	double		order;			/* of the table by the column, see bloomfam_join_index_order() */
} Spread;

/*
 * Of keys that lie anywhere the gaps between are as the spacings of uniform random points: of m,
 * the r widest make r/m (1 + 1/(r+1) + ... + 1/m) of the whole (H. A. David and H. N. Nagaraja,
 * Order Statistics, 2003, section 6.4).  The sum is about ln(m/r).  They are of the rows that do
 * not match.  At both ends of each a range of the index has others as well, and rows that are not
 * quite in order lie in half a window.
 */
static double
share_of_ranges(const RelOptInfo *rel, double pages_per_range, const Spread *spread)
{
	double		asking = (rel->pages / pages_per_range + 1) * JOIN_ROWS_PER_SUMMARY;
	double		budget = rel->tuples * bloomfam_join_index_budget(spread->order);
	double		gaps = spread->keys + 1;
	double		most = floor((budget - JOIN_ROWS_PER_INDEX) / asking);
	double		skipped;

	most = Min(Min(most, JOIN_INDEX_MOST_RANGES), gaps);
	if (most < 1)
		return 1;
	skipped = (1 - spread->matching) * most / gaps * (1 + log(gaps / most));
	skipped -= most * (window_of_order(spread->order) + 2 * pages_per_range / rel->pages);
	skipped -= (JOIN_ROWS_PER_INDEX + most * asking) / rel->tuples;
	return 1 - Max(skipped, 0);
}

/* By one index, whose lock is the planner's. */
static double
share_by_index(const RelOptInfo *rel, const IndexOptInfo *info, const JoinIndexed *column,
			   const Spread *spread)
{
	Relation	index = index_open(info->indexoid, NoLock);
	double		share = 1;

	if (bloomfam_join_index_use(index, column).way == JOIN_INDEX_BY_RANGE)
	{
		BrinStatsData stats;

		brinGetStats(index, &stats);
		share = share_of_ranges(rel, stats.pagesPerRange, spread);
	}
	index_close(index, NoLock);
	return share;
}

/* Is it a BRIN index of all rows of its table, with this column? */
static bool
is_brin_of(const IndexOptInfo *info, AttrNumber attribute)
{
	int			i;

	if (info->relam == BRIN_AM_OID && !info->hypothetical && info->indpred == NIL)
		for (i = 0; i < info->nkeycolumns; i++)
			if (info->indexkeys[i] == attribute)
				return true;
	return false;
}

/*
 * By the BRIN index that leaves least.  Others are asked for one key after the other: so does a
 * nested loop, which reads the same pages, and the planner knows what that costs.
 */
static double
share_of_pages(PlannerInfo *root, const RelOptInfo *rel, const JoinKeyColumn *column,
			   double inner_rows, double drop)
{
	Oid			table = planner_rt_fetch(rel->relid, root)->relid;
	JoinIndexed indexed = {
		.attribute = column->attribute, .operator = column->operator,
		.type = column->hashing.inner.type, .guarded = rel->baserestrictinfo != NIL
	};
	double		share = 1;
	ListCell   *lc;

	foreach(lc, rel->indexlist)
	{
		const IndexOptInfo *info = lfirst(lc);
		Spread		spread;

		if (!is_brin_of(info, column->attribute) ||
			!bloomfam_join_keys_can_keep(column->hashing.kind, indexed.type))
			continue;
		spread.keys = count_keys(root, column, inner_rows);
		spread.matching = Min(KEYS_IN_DOUBT * (1 - drop), 1);
		spread.order = bloomfam_join_index_order(table, column->attribute);
		if (spread.keys <= JOIN_KEYS_FEW)
			share = Min(share, share_by_index(rel, info, &indexed, &spread));
	}
	return share;
}

double
bloomfam_join_share(PlannerInfo *root, const RelOptInfo *rel, const JoinKeyColumn *columns,
					int ncolumns, double inner_rows, double drop)
{
	double		share = 1;
	int			i;

	if (!bloomfam_join_filter_skip)
		return 1;
	if (rel->part_scheme != NULL && rel->part_rels != NULL)
		return share_of_partitions(root, rel, columns, ncolumns, inner_rows);
	if (rel->pages > 0 && rel->tuples >= 1)
		for (i = 0; i < ncolumns; i++)
			share = Min(share, share_of_pages(root, rel, &columns[i], inner_rows, drop));
	return share;
}
