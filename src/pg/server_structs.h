/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * server_structs.h
 *	  What is read and written inside the server's own structures: the only file that knows their
 *	  members.
 *
 * These structures are nobody's interface.  A major version may change what a member means, and
 * the compiler would not tell.  So all but one of these functions are for majors that were looked
 * at, BLOOMFAM_KNOWN_MAJOR; on others they are errors, and their callers do without: filters work
 * row by row, nothing is skipped, prefetched or pushed to foreign servers.  The exceptions are
 * bloomfam_hash_join_table(), by which a filter knows that it belongs to the join's hash table, and
 * bloomfam_hash_join_build_first(), which then does nothing.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_SERVER_STRUCTS_H
#define BLOOMFAM_SERVER_STRUCTS_H

#include "postgres.h"

#include "access/heapam.h"
#include "access/relscan.h"
#include "executor/hashjoin.h"
#include "nodes/execnodes.h"
#include "nodes/makefuncs.h"
#include "nodes/plannodes.h"
#include "partitioning/partdesc.h"
#include "partitioning/partprune.h"
#include "storage/bufmgr.h"
#include "utils/partcache.h"

#include "pg/compat.h"

#if BLOOMFAM_HEAP_SCAN_HAS_STREAM
#include "storage/read_stream.h"
#endif

/* On other majors the compiler does not even see the code: its members may not be there. */
#if BLOOMFAM_KNOWN_MAJOR
#define BLOOMFAM_IF_KNOWN(...)	__VA_ARGS__
#else
#define BLOOMFAM_IF_KNOWN(...) \
	elog(ERROR, "bloomfam does not know the structures of this version of PostgreSQL")
#endif

/* ---- the scan of a heap (HeapScanDescData, access/heapam.h) ---- */

static inline Relation
bloomfam_heap_scan_relation(HeapScanDesc scan)
{
	BLOOMFAM_IF_KNOWN(return scan->rs_base.rs_rd);
}

/* Does it take its blocks from those that several processes share? */
static inline bool
bloomfam_heap_scan_is_parallel(HeapScanDesc scan)
{
	BLOOMFAM_IF_KNOWN(return scan->rs_base.rs_parallel != NULL);
}

/* Is it on a block?  Not before the first row, and not after the last one. */
static inline bool
bloomfam_heap_scan_has_begun(HeapScanDesc scan)
{
	BLOOMFAM_IF_KNOWN(return scan->rs_inited);
}

/* The number of blocks of the table when the scan began. */
static inline BlockNumber
bloomfam_heap_scan_nblocks(HeapScanDesc scan)
{
	BLOOMFAM_IF_KNOWN(return scan->rs_nblocks);
}

/* The block that it begins at: others come in a circle. */
static inline BlockNumber
bloomfam_heap_scan_start_block(HeapScanDesc scan)
{
	BLOOMFAM_IF_KNOWN(return scan->rs_startblock);
}

/* The block that it is on, and its page, pinned and not locked; once it has begun. */
static inline BlockNumber
bloomfam_heap_scan_block(HeapScanDesc scan)
{
	BLOOMFAM_IF_KNOWN(return scan->rs_cblock);
}

static inline Page
bloomfam_heap_scan_page(HeapScanDesc scan)
{
	BLOOMFAM_IF_KNOWN(return BufferGetPage(scan->rs_cbuf));
}

/*
 * How many rows of that block the snapshot sees, the present one among these, and the line pointer
 * of each.  Only of scans that go by pages; at most MaxHeapTuplesPerPage.
 */
static inline int
bloomfam_heap_scan_nrows(HeapScanDesc scan)
{
	BLOOMFAM_IF_KNOWN(return (int) scan->rs_ntuples);
}

static inline int
bloomfam_heap_scan_row(HeapScanDesc scan)
{
	BLOOMFAM_IF_KNOWN(return (int) scan->rs_cindex);
}

static inline void
bloomfam_heap_scan_set_row(HeapScanDesc scan, int row)
{
	BLOOMFAM_IF_KNOWN(scan->rs_cindex = row);
}

static inline OffsetNumber
bloomfam_heap_scan_line(HeapScanDesc scan, int row)
{
	BLOOMFAM_IF_KNOWN(return scan->rs_vistuples[row]);
}

/* Makes one of these rows the present one, and puts it into the slot, which pins the page. */
static inline void
bloomfam_heap_scan_give_row(HeapScanDesc scan, int row, TupleTableSlot *slot)
{
	BLOOMFAM_IF_KNOWN(
		OffsetNumber line = scan->rs_vistuples[row];
		Page		page = BufferGetPage(scan->rs_cbuf);
		ItemId		item = PageGetItemId(page, line);

		Assert(scan->rs_inited && row >= 0 && row < (int) scan->rs_ntuples);
		Assert(BufferGetBlockNumber(scan->rs_cbuf) == scan->rs_cblock);
		Assert(ItemIdIsNormal(item));
		scan->rs_cindex = row;
		scan->rs_ctup.t_data = (HeapTupleHeader) PageGetItem(page, item);
		scan->rs_ctup.t_len = ItemIdGetLength(item);
		ItemPointerSet(&scan->rs_ctup.t_self, scan->rs_cblock, line);
		ExecStoreBufferHeapTuple(&scan->rs_ctup, slot, scan->rs_cbuf));
}

/*
 * Takes the scan, which goes by pages, to a block, and finds the rows there that its snapshot
 * sees: what its own steps do for the next block.  17 divided that.
 */
static inline void
bloomfam_heap_scan_read_block(HeapScanDesc scan, BlockNumber block)
{
#if BLOOMFAM_KNOWN_MAJOR && BLOOMFAM_HEAP_SCAN_HAS_STREAM
	if (BufferIsValid(scan->rs_cbuf))
		ReleaseBuffer(scan->rs_cbuf);
	scan->rs_cbuf = InvalidBuffer;
	scan->rs_cbuf = ReadBufferExtended(scan->rs_base.rs_rd, MAIN_FORKNUM, block, RBM_NORMAL,
									   scan->rs_strategy);
	scan->rs_cblock = block;
	heap_prepare_pagescan(&scan->rs_base);
#else
	BLOOMFAM_IF_KNOWN(heapgetpage(&scan->rs_base, block));
#endif
	BLOOMFAM_IF_KNOWN(Assert(scan->rs_cblock == block));
	BLOOMFAM_IF_KNOWN(scan->rs_inited = true);
}

/* Others read the blocks from now on: what a stream of 17 has read ahead is let go. */
static inline void
bloomfam_heap_scan_leave_stream(HeapScanDesc scan)
{
#if BLOOMFAM_HEAP_SCAN_HAS_STREAM
	BLOOMFAM_IF_KNOWN(
		if (scan->rs_read_stream != NULL)
			read_stream_reset(scan->rs_read_stream));
#endif
}

/* As after the last block: it can begin anew. */
static inline void
bloomfam_heap_scan_end(HeapScanDesc scan)
{
	BLOOMFAM_IF_KNOWN(
		if (BufferIsValid(scan->rs_cbuf))
			ReleaseBuffer(scan->rs_cbuf);
		scan->rs_cbuf = InvalidBuffer;
		scan->rs_cblock = InvalidBlockNumber;
		scan->rs_ctup.t_data = NULL;
		scan->rs_inited = false);
#if BLOOMFAM_HEAP_SCAN_HAS_STREAM
	BLOOMFAM_IF_KNOWN(scan->rs_prefetch_block = InvalidBlockNumber);
#endif
}

/* Begins to take blocks that several processes share; 19 could scan a part of the table. */
static inline void
bloomfam_heap_scan_begin_parallel(HeapScanDesc scan)
{
#if BLOOMFAM_HEAP_SCAN_HAS_PART
	BLOOMFAM_IF_KNOWN(table_block_parallelscan_startblock_init(
		scan->rs_base.rs_rd, scan->rs_parallelworkerdata,
		(ParallelBlockTableScanDesc) scan->rs_base.rs_parallel, scan->rs_startblock,
		scan->rs_numblocks));
#else
	BLOOMFAM_IF_KNOWN(table_block_parallelscan_startblock_init(
		scan->rs_base.rs_rd, scan->rs_parallelworkerdata,
		(ParallelBlockTableScanDesc) scan->rs_base.rs_parallel));
#endif
}

/* The next of them; InvalidBlockNumber after the last one. */
static inline BlockNumber
bloomfam_heap_scan_next_parallel(HeapScanDesc scan)
{
	BLOOMFAM_IF_KNOWN(return table_block_parallelscan_nextpage(
		scan->rs_base.rs_rd, scan->rs_parallelworkerdata,
		(ParallelBlockTableScanDesc) scan->rs_base.rs_parallel));
}

/* ---- hash joins (HashJoinState, nodes/execnodes.h; HashJoinTable, executor/hashjoin.h) ---- */

/*
 * Where a join keeps what it has read of its build side: a hash join its hash table, and a merge
 * join, whose outer side is a Sort, the sorted rows.  That is NULL while it has none.  Which one it
 * is matters, not what is in it.  On every major, as no filter can do without; where it has another
 * name nothing compiles.
 */
static inline void **
bloomfam_join_build_kept(PlanState *join)
{
	if (IsA(join, HashJoinState))
		return (void **) &((HashJoinState *) join)->hj_HashTable;
	Assert(IsA(join, MergeJoinState) && IsA(outerPlanState(join), SortState));
	return &((SortState *) outerPlanState(join))->tuplesortstate;
}

/*
 * Lets it build before it asks the outer side for a row, as it does after a rescan of an outer side
 * that had some.  Before its first row, and only of a join for which the planner has decided that
 * nobody can see the difference (planner/decision.c, build_first_refusal()).  On a major that is
 * not known it does nothing: rows then pass until the filter is ready.
 */
static inline void
bloomfam_hash_join_build_first(HashJoinState *join)
{
#if BLOOMFAM_KNOWN_MAJOR
	join->hj_OuterNotEmpty = true;
#endif
}

/* Is all of it in the memory of this process alone? */
static inline bool
bloomfam_hash_table_is_private(HashJoinTable table)
{
	BLOOMFAM_IF_KNOWN(return table->parallel_state == NULL && table->nbatch == 1);
}

/* The bytes of its rows and buckets. */
static inline Size
bloomfam_hash_table_size(HashJoinTable table)
{
	BLOOMFAM_IF_KNOWN(return table->spaceUsed);
}

/* Where the first row with such a hash would be; of a table that is private. */
static inline HashJoinTuple *
bloomfam_hash_table_bucket(HashJoinTable table, uint32 hash)
{
	BLOOMFAM_IF_KNOWN(
		Assert(table->nbuckets > 0 && (table->nbuckets & (table->nbuckets - 1)) == 0);
		Assert(bloomfam_hash_table_is_private(table));
		return &table->buckets.unshared[hash & (table->nbuckets - 1)]);
}

/* ---- pruning of partitions (PartitionPruneContext, partitioning/partprune.h) ---- */

/*
 * Prepares for get_matching_partitions() by a partition key of this strategy and so many columns,
 * with their collations and support functions, which must stay; with so many steps, whose
 * expressions are constants.  What it needs lives in the current context.
 */
static inline void
bloomfam_prune_context_init(PartitionPruneContext *context, char strategy, int ncolumns,
							Oid *collations, FmgrInfo *support, PartitionDesc desc, int nsteps)
{
	BLOOMFAM_IF_KNOWN(
		memset(context, 0, sizeof(*context));
		context->strategy = strategy;
		context->partnatts = ncolumns;
		context->nparts = desc->nparts;
		context->boundinfo = desc->boundinfo;
		context->partcollation = collations;
		context->partsupfunc = support;
		context->stepcmpfuncs = palloc0(nsteps * ncolumns * sizeof(FmgrInfo));
		context->ppccontext = CurrentMemoryContext);
}

/* ---- a scan of postgres_fdw (contrib/postgres_fdw, enum FdwScanPrivateIndex) ---- */

/* The remote query, text; NULL: it is not where it should be. */
static inline const char *
bloomfam_postgres_fdw_query(const ForeignScan *scan)
{
	BLOOMFAM_IF_KNOWN(
		if (list_length(scan->fdw_private) < 2 || !IsA(linitial(scan->fdw_private), String))
			return NULL;
		return strVal(linitial(scan->fdw_private)));
}

static inline void
bloomfam_postgres_fdw_set_query(ForeignScan *scan, char *query)
{
	BLOOMFAM_IF_KNOWN(linitial(scan->fdw_private) = makeString(query));
}

/* The attribute numbers of the columns that it returns, as integers; of a scan with a query. */
static inline List *
bloomfam_postgres_fdw_columns(const ForeignScan *scan)
{
	BLOOMFAM_IF_KNOWN(return lsecond(scan->fdw_private));
}

/* The expressions of its parameters $1, $2, ... */
static inline List *
bloomfam_postgres_fdw_params(const ForeignScan *scan)
{
	BLOOMFAM_IF_KNOWN(return scan->fdw_exprs);
}

/* One more of them; returns its number. */
static inline int
bloomfam_postgres_fdw_add_param(ForeignScan *scan, Param *param)
{
	BLOOMFAM_IF_KNOWN(
		scan->fdw_exprs = lappend(scan->fdw_exprs, param);
		return list_length(scan->fdw_exprs));
}

#endif							/* BLOOMFAM_SERVER_STRUCTS_H */
