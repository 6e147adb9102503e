/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * rows.c
 *	  Takes a sample of a large relation's rows.
 *
 * A table of N blocks is divided into as many strata as rows are wanted, and one block of each
 * stratum is read.  A hash decides which block of its stratum that is, and which rows of the block
 * are taken.  A regular choice could be biased: tables are often made in some order, and each
 * fourth row may be of one kind.  The blocks of a table are prefetched together, so that a table
 * which is not cached costs a few round trips.
 *
 * A block has fewer wide rows than narrow ones.  So rows have weights: the rows taken from a block
 * stand for all rows of the block that meet the conditions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/heapam.h"
#include "access/tupconvert.h"
#include "common/hashfn.h"
#include "parser/parsetree.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "sampling/permission.h"
#include "sampling/rows.h"

/*
 * The maximum number of rows that are taken from a block.  More than one is taken only if other
 * blocks had none, or if the tables have few blocks.
 */
#define MOST_ROWS_OF_BLOCK	4

/* One stratum of the sample: a range of a table's blocks, from which one block is read. */
typedef struct Stratum
{
	const RelOptInfo *table;
	BlockNumber block;
} Stratum;

/*
 * Adds the tables that have a relation's rows to the list.  Sets *reason if a table cannot be read.
 */
static List *
add_tables(PlannerInfo *root, const RelOptInfo *rel, List *tables, const char **reason)
{
	ListCell   *lc;

	if (!planner_rt_fetch(rel->relid, root)->inh)
	{
		*reason = bloomfam_sample_forbidden(root, rel, NULL, false);
		return lappend(tables, (void *) rel);
	}
	foreach(lc, root->append_rel_list)
	{
		const AppendRelInfo *child = lfirst_node(AppendRelInfo, lc);
		RelOptInfo *child_rel = root->simple_rel_array[child->child_relid];

		if (*reason == NULL && child->parent_relid == rel->relid && child_rel != NULL &&
			!IS_DUMMY_REL(child_rel))
			tables = add_tables(root, child_rel, tables, reason);
	}
	return tables;
}

/*
 * Chooses at most n blocks of the tables, as if these were one table.  Returns the number of
 * blocks.
 */
static int
choose_blocks(List *tables, int n, Stratum *strata)
{
	double		total = 0;
	double		before = 0;		/* The number of blocks of the tables before the current one. */
	int			i = 0;
	ListCell   *lc;

	foreach(lc, tables)
		total += ((const RelOptInfo *) lfirst(lc))->pages;
	n = (int) Min(n, total);
	foreach(lc, tables)
	{
		const RelOptInfo *table = lfirst(lc);

		for (; i < n; i++)
		{
			double		within = murmurhash32(i + 1) / (PG_UINT32_MAX + 1.0);
			double		block = floor((i + within) * total / n);

			if (block >= before + table->pages)
				break;
			strata[i] = (Stratum) {table, (BlockNumber) (block - before)};
		}
		before += table->pages;
	}
	return i;
}

/* Finds the rows of a block that the active snapshot sees, and returns their number. */
static int
find_visible(Relation relation, Buffer buffer, HeapTupleData *rows)
{
	Snapshot	snapshot = GetActiveSnapshot();
	Page		page = BufferGetPage(buffer);
	bool		all_visible;
	OffsetNumber offset;
	int			n = 0;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	/* A standby's snapshot may be older than the page's mark that all rows are visible. */
	all_visible = PageIsAllVisible(page) && !snapshot->takenDuringRecovery;
	for (offset = FirstOffsetNumber;
		 offset <= PageGetMaxOffsetNumber(page) && n < MaxHeapTuplesPerPage; offset++)
	{
		ItemId		item = PageGetItemId(page, offset);

		if (!ItemIdIsNormal(item))
			continue;
		rows[n].t_len = ItemIdGetLength(item);
		rows[n].t_data = (HeapTupleHeader) PageGetItem(page, item);
		rows[n].t_tableOid = RelationGetRelid(relation);
		ItemPointerSet(&rows[n].t_self, BufferGetBlockNumber(buffer), offset);
		n += all_visible || HeapTupleSatisfiesVisibility(&rows[n], snapshot, buffer);
	}
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return n;
}

/*
 * Takes at most "most" rows of a block that meet the conditions, in random order.  If map is not
 * NULL, it turns them into rows of the sampled relation.  The search goes on to find one row more
 * than it takes: how many rows it looks at until then gives an unbiased estimate of how many rows
 * meet the conditions (J. B. S. Haldane, "On a method of estimating frequencies", 1945).
 */
static void
take_rows(SampleReader *reader, Relation relation, TupleConversionMap *map, BlockNumber block,
		  int most, SampleRows *sample)
{
	HeapTupleData rows[MaxHeapTuplesPerPage];
	Buffer		buffer = ReadBuffer(relation, block);
	uint32		hash = block;
	int			n = find_visible(relation, buffer, rows);
	int			first = sample->nrows;
	int			nread = 0;
	int			nfound = 0;
	double		npassing;

	while (nread < n && nfound <= most && bloomfam_sample_may_go_on(reader))
	{
		HeapTupleData tuple;
		int			other;

		hash = murmurhash32(hash + 1);
		other = nread + hash % (n - nread);
		tuple = rows[other];
		rows[other] = rows[nread++];
		ExecStoreHeapTuple(map != NULL ? execute_attr_map_tuple(&tuple, map) : &tuple,
						   reader->slot, map != NULL);
		if (bloomfam_sample_meets_conditions(reader) && nfound++ < most)
			sample->rows[sample->nrows++] =
				(SampleRow) {ExecCopySlotHeapTuple(reader->slot), 0, sample->nblocks};
		ExecClearTuple(reader->slot);
	}
	ReleaseBuffer(buffer);
	npassing = nfound > most ? (double) n * most / (nread - 1) : nfound;
	for (; first < sample->nrows; first++)
		sample->rows[first].weight = npassing / Min(nfound, most);
}

/*
 * Takes rows of the first n strata, which are of one table and are prefetched together. nleft is
 * the number of all strata that are left.
 */
static void
read_table(PlannerInfo *root, SampleReader *reader, const Stratum *strata, int n, int nleft,
		   int nrows, SampleRows *sample)
{
	Relation	relation =
		table_open(planner_rt_fetch(strata[0].table->relid, root)->relid, NoLock);
	TupleConversionMap *map =
		convert_tuples_by_name(RelationGetDescr(relation), sample->desc);
	BlockNumber nblocks = RelationGetNumberOfBlocks(relation);
	int			i;

	/*
	 * The planner assumes some blocks for a table that was never vacuumed, so a block may not
	 * exist.
	 */
	for (i = 0; i < n; i++)
		if (strata[i].block < nblocks)
			PrefetchBuffer(relation, MAIN_FORKNUM, strata[i].block);
	for (i = 0; i < n; i++)
	{
		/*
		 * The most rows to take from this block: the rows that are still missing, divided evenly
		 * among the blocks that are left.
		 */
		int			most = (nrows - sample->nrows + nleft - i - 1) / (nleft - i);

		if (strata[i].block >= nblocks || most == 0 || !bloomfam_sample_may_go_on(reader))
			continue;
		bloomfam_sample_spend(reader->budget, 1, 0);
		take_rows(reader, relation, map, strata[i].block, Min(most, MOST_ROWS_OF_BLOCK), sample);
		sample->nblocks++;
	}
	table_close(relation, NoLock);
}

const char *
bloomfam_sample_rows(PlannerInfo *root, const RelOptInfo *rel,
					 const SampleConditions *conditions, int nrows, SampleBudget *budget,
					 SampleRows *sample)
{
	Relation	relation = table_open(planner_rt_fetch(rel->relid, root)->relid, NoLock);
	Stratum		strata[SAMPLE_MOST_ROWS];
	const char *reason = NULL;
	List	   *tables = add_tables(root, rel, NIL, &reason);
	int			n = choose_blocks(tables, nrows, strata);
	SampleReader reader;
	int			i;
	int			end;

	sample->desc = CreateTupleDescCopy(RelationGetDescr(relation));
	table_close(relation, NoLock);
	if (reason != NULL)
		return reason;
	bloomfam_sample_reader_begin(&reader,
								 MakeSingleTupleTableSlot(sample->desc, &TTSOpsHeapTuple),
								 conditions, budget);
	for (i = 0; i < n; i = end)
	{
		for (end = i; end < n && strata[end].table == strata[i].table;)
			end++;
		read_table(root, &reader, &strata[i], end - i, n - i, nrows, sample);
	}
	bloomfam_sample_reader_end(&reader);
	return reader.reason == NULL && sample->nrows == 0
			   ? "no row was found that meets the conditions"
			   : reader.reason;
}
