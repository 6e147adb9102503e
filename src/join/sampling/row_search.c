/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * row_search.c
 *	  A table is searched for rows of another, which are sampled, by several columns at once.
 *
 * Statistics have keys of one column.  How several columns go together only rows tell, so some are
 * read: one row of a block each, where the blocks lie evenly over the table as it was when it was
 * last vacuumed or analyzed.  So the same rows are read again while the table grows.  Where a
 * block lies in its stratum, and a row among those of its block, follows from a hash: tables are
 * often made in order, and each fourth row may be of one kind.  A row stands for all of its block,
 * so that wide rows count no more than others.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "access/tableam.h"
#include "common/hashfn.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "join/sampling/key_sample.h"
#include "join/sampling/reader.h"
#include "join/sampling/row_search.h"
#include "pg/compat.h"

/* Rows of the sample; with fewer nothing is said. */
#define MOST_ROWS			200
#define FEWEST_ROWS			40

/* Blocks that a row may take beside those of the index: its own, and some of rows alike. */
#define BLOCKS_OF_ROW		4

/* A key is looked for in so many rows. */
#define MOST_ROWS_OF_KEY	32

#define TOO_LONG	"a value of the key is longer than 1 kB"

/* A search that is going on. */
typedef struct Search
{
	const JoinRowSearch *plan;
	const JoinPair *pair;
	JoinReader	reader;			/* of the table that is searched */
	TableScanDesc scan;			/* of the other one */
	TupleTableSlot *next;		/* a row of a block */
	TupleTableSlot *row;		/* the one that is taken */
	int			nsearched;		/* columns that the index is searched by, in its order */
	int			searched[JOIN_MOST_COLUMNS]; /* which of the pair's these are */
	bool		compared[JOIN_MOST_COLUMNS]; /* the others */
	FmgrInfo	equal[JOIN_MOST_COLUMNS];
	Datum		values[JOIN_MOST_COLUMNS]; /* the row's key */
} Search;

/* By which columns of the pair, from its first column on, can an index be searched? */
static int
count_columns(const IndexOptInfo *index, const JoinPair *pair, int *columns)
{
	int			n;

	for (n = 0; n < Min(index->nkeycolumns, pair->ncolumns); n++)
	{
		columns[n] = bloomfam_join_pair_column(pair, index, n);
		if (columns[n] < 0)
			break;
	}
	return n;
}

/* The index that finds the fewest rows of a key; NULL if there is none. */
static const IndexOptInfo *
find_index(PlannerInfo *root, Search *search)
{
	const IndexOptInfo *best = NULL;
	double		most_keys = 0;
	ListCell   *lc;
	int			i;

	foreach(lc, search->pair->searched->indexlist)
	{
		const IndexOptInfo *index = lfirst(lc);
		int			columns[JOIN_MOST_COLUMNS];
		double		keys = 1;
		int			n;

		if (!bloomfam_join_reader_can_search(index))
			continue;
		n = count_columns(index, search->pair, columns);
		for (i = 0; i < n; i++)
			keys *= Max(bloomfam_join_ndistinct(root, search->pair->columns[columns[i]].searched),
						1);
		if (n == 0 || keys <= most_keys)
			continue;
		best = index;
		most_keys = keys;
		search->nsearched = n;
		memcpy(search->searched, columns, sizeof(columns));
	}
	return best;
}

/* Prepares comparisons: of columns of the index as it has them, of others after that. */
static void
prepare(Search *search)
{
	int			i;

	for (i = 0; i < search->pair->ncolumns; i++)
		search->compared[i] = true;
	for (i = 0; i < search->nsearched; i++)
		search->compared[search->searched[i]] = false;
	for (i = 0; i < search->pair->ncolumns; i++)
	{
		const JoinKeyComparison *comparison = &search->pair->columns[i].comparison;

		fmgr_info(get_opcode(get_opfamily_member(comparison->family, comparison->right,
												 comparison->left, BTEqualStrategyNumber)),
				  &search->equal[i]);
	}
}

/*
 * Takes the key of the row; *complete: no column is NULL.  Returns NULL, or why it cannot be
 * searched.
 */
static const char *
take_key(Search *search, bool *complete)
{
	TupleDesc	desc = search->row->tts_tupleDescriptor;
	int			i;

	*complete = false;
	for (i = 0; i < search->pair->ncolumns; i++)
	{
		AttrNumber	attribute = search->pair->columns[i].probe->varattno;
		bool		isnull;
		Datum		value = slot_getattr(search->row, attribute, &isnull);

		if (isnull)
			return NULL;
		if (!bloomfam_join_reader_copy_key(&search->reader, TupleDescAttr(desc, attribute - 1),
										   value, &search->values[i]))
			return TOO_LONG;
	}
	*complete = true;
	return NULL;
}

/* Has the row that was found this key?  Returns NULL, or why that is not known. */
static const char *
compare(Search *search, bool *equal)
{
	TupleDesc	desc = search->reader.slot->tts_tupleDescriptor;
	int			i;

	*equal = false;
	for (i = 0; i < search->pair->ncolumns; i++)
	{
		const JoinPairColumn *column = &search->pair->columns[i];
		AttrNumber	attribute = column->searched->varattno;
		bool		isnull;
		Datum		value;

		if (!search->compared[i])
			continue;
		value = slot_getattr(search->reader.slot, attribute, &isnull);
		if (isnull)
			return NULL;

		/* what is long takes long to read, and may be equal to what is short */
		if (!bloomfam_join_reader_is_short(&search->reader, TupleDescAttr(desc, attribute - 1),
										   value))
			return TOO_LONG;
		if (!DatumGetBool(FunctionCall2Coll(&search->equal[i], column->comparison.collation,
											value, search->values[i])))
			return NULL;
	}
	*equal = true;
	return NULL;
}

/* How many rows have the key, as far as it matters?  Returns NULL, or why that is not known. */
static const char *
search_row(Search *search, int *nmatching)
{
	int			most = search->plan->unique ? 1 : JOIN_MOST_MATCHES;
	ScanKeyData keys[JOIN_MOST_COLUMNS];
	const char *reason;
	bool		complete;
	int			nrows = 0;
	int			i;

	*nmatching = 0;
	reason = take_key(search, &complete);
	if (reason != NULL || !complete)
		return reason;
	for (i = 0; i < search->nsearched; i++)
	{
		const JoinKeyComparison *comparison =
			&search->pair->columns[search->searched[i]].comparison;

		ScanKeyEntryInitializeWithInfo(
			&keys[i], 0, i + 1, BTEqualStrategyNumber, comparison->left, comparison->collation,
			&search->equal[search->searched[i]], search->values[search->searched[i]]);
	}
	bloomfam_join_reader_seek(&search->reader, keys, search->nsearched);
	while (*nmatching < most && nrows < MOST_ROWS_OF_KEY &&
		   !bloomfam_join_reader_is_over(&search->reader) &&
		   bloomfam_join_reader_next(&search->reader))
	{
		bool		equal;

		reason = compare(search, &equal);
		if (reason != NULL)
			return reason;
		if (equal)
			*nmatching += bloomfam_join_reader_matches(&search->reader);
		nrows++;
	}
	return *nmatching == 0 && nrows == MOST_ROWS_OF_KEY
			   ? "too many rows are alike in the columns of an index"
			   : NULL;
}

/* Takes a row of a block, each with the same probability; returns of how many. */
static int
take_row(Search *search, BlockNumber block, uint32 hash)
{
	ItemPointerData first;
	ItemPointerData last;
	int			n = 0;

	search->reader.nblocks++;
	ItemPointerSet(&first, block, FirstOffsetNumber);
	ItemPointerSet(&last, block, MaxOffsetNumber);
	if (search->scan == NULL)
		search->scan = bloomfam_beginscan_tidrange(search->plan->probe, GetActiveSnapshot(),
												   &first, &last);
	else
		table_rescan_tidrange(search->scan, &first, &last);
	while (table_scan_getnextslot_tidrange(search->scan, ForwardScanDirection, search->next))
	{
		hash = murmurhash32(hash + 1);
		if (hash % ++n == 0)
			ExecCopySlot(search->row, search->next);
	}
	return n;
}

/*
 * The blocks that rows are taken of: as many as the table had when it was last vacuumed or
 * analyzed, unless it has become another one since.
 */
static BlockNumber
blocks_of(Relation probe)
{
	BlockNumber blocks = RelationGetNumberOfBlocks(probe);
	BlockNumber known = Max(probe->rd_rel->relpages, 0);

	return known <= blocks && known >= blocks / 2 ? known : blocks;
}

/* Takes rows, as many as the budget is enough for, and searches their keys. */
static const char *
search_rows(Search *search, JoinMatchShare *share)
{
	BlockNumber blocks = blocks_of(search->plan->probe);
	int			most = search->plan->most_blocks / (search->reader.height + 1 + BLOCKS_OF_ROW);
	int			strata = Min(Min(most, MOST_ROWS), blocks);
	JoinRowCounts counts = {0};
	int			i;

	if (most < FEWEST_ROWS)
		return bloomfam_join_over_budget;
	for (i = 0; i < strata && !bloomfam_join_reader_is_over(&search->reader); i++)
	{
		uint32		hash = murmurhash32(i + 1);
		BlockNumber block = (i + hash / (PG_UINT32_MAX + 1.0)) * blocks / strata;
		double		weight = take_row(search, Min(block, blocks - 1), hash);
		const char *reason;
		int			nmatching;

		if (weight == 0)
			continue;
		reason = search_row(search, &nmatching);
		if (reason != NULL)
			return reason;
		counts.nrows++;
		counts.weights += weight;
		counts.squares += weight * weight;
		if (nmatching > 0)
			counts.matching += weight;
		counts.matches += weight * nmatching;
		counts.more |= !search->plan->unique && nmatching == JOIN_MOST_MATCHES;
	}
	if (bloomfam_join_reader_is_over(&search->reader))
		return bloomfam_join_over_budget;
	if (counts.nrows < FEWEST_ROWS)
		return "too few rows were found";
	counts.nblocks = search->reader.nblocks;
	bloomfam_join_match_share_of_rows(&counts, share);
	return NULL;
}

const char *
bloomfam_join_row_search(PlannerInfo *root, const JoinRowSearch *plan, JoinMatchShare *share)
{
	Search		search = {.plan = plan, .pair = plan->pair};
	const IndexOptInfo *index = find_index(root, &search);
	const char *reason;

	if (index == NULL)
		return "there is no btree index";
	if (plan->probe->rd_tableam->scan_set_tidrange == NULL)
		return "the table to be sampled is not a heap";
	prepare(&search);
	bloomfam_join_reader_begin(&search.reader, plan->searched, plan->pair->conditions, 0,
							   plan->most_blocks);
	bloomfam_join_reader_open(&search.reader, index, search.nsearched);
	search.next = table_slot_create(plan->probe, NULL);
	search.row = table_slot_create(plan->probe, NULL);
	reason = search_rows(&search, share);
	share->index = index->indexoid;
	share->nblocks = search.reader.nblocks;
	ExecDropSingleTupleTableSlot(search.row);
	ExecDropSingleTupleTableSlot(search.next);
	if (search.scan != NULL)
		table_endscan(search.scan);
	bloomfam_join_reader_end(&search.reader);
	return reason;
}
