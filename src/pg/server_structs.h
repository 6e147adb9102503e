/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * server_structs.h
 *	  Reads and writes members of the server's own structures; the only file that knows these
 *	  members.
 *
 * These structures are not an interface.  A major version may change what a member means, and the
 * compiler would not tell.  So all but two of these functions work only on major versions whose
 * structures were looked at (BLOOMFAM_KNOWN_MAJOR).  On other versions they raise errors, and their
 * callers do without: filters work row by row, and nothing is skipped, prefetched or pushed to
 * foreign servers.  The exceptions are bloomfam_join_build_kept(), by which a filter knows that it
 * belongs to the rows that a join keeps, and bloomfam_hash_join_build_first(), which does nothing
 * on other versions.
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

/*
 * On versions that are not known, the compiler does not see this code, as its members may not
 * exist.
 */
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

/* Returns whether the scan takes its blocks from those that several processes share. */
static inline bool
bloomfam_heap_scan_is_parallel(HeapScanDesc scan)
{
	BLOOMFAM_IF_KNOWN(return scan->rs_base.rs_parallel != NULL);
}

/* Returns whether the scan is on a block: it is not before its first row and after its last one. */
static inline bool
bloomfam_heap_scan_has_begun(HeapScanDesc scan)
{
	BLOOMFAM_IF_KNOWN(return scan->rs_inited);
}

/* Returns the number of blocks that the table had when the scan began. */
static inline BlockNumber
bloomfam_heap_scan_nblocks(HeapScanDesc scan)
{
	BLOOMFAM_IF_KNOWN(return scan->rs_nblocks);
}

/* Returns the block at which the scan begins.  The other blocks follow in a circle. */
static inline BlockNumber
bloomfam_heap_scan_start_block(HeapScanDesc scan)
{
	BLOOMFAM_IF_KNOWN(return scan->rs_startblock);
}

/*
 * bloomfam_heap_scan_block() returns the block that the scan is on, and bloomfam_heap_scan_page()
 * its page, which is pinned and not locked.  The scan must have begun.
 */
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
 * The next functions are for heap scans that work page by page. bloomfam_heap_scan_nrows() returns
 * how many rows of the scan's block its snapshot sees, at most MaxHeapTuplesPerPage.
 * bloomfam_heap_scan_row() returns which of them is the current one, and
 * bloomfam_heap_scan_set_row() sets that. bloomfam_heap_scan_line() returns a row's line pointer.
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

/*
 * Makes a row of the heap scan's block the current one, and puts it into the slot, which pins the
 * page.
 */
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
 * Takes a scan that works page by page to a block, and finds the rows there that its snapshot sees.
 * The scan's own steps do that for the next block.  PostgreSQL 17 divided that function.
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

/*
 * Drops what the scan's read stream (PostgreSQL 17 and later) has read ahead, as other code will
 * read the blocks from now on.
 */
static inline void
bloomfam_heap_scan_leave_stream(HeapScanDesc scan)
{
#if BLOOMFAM_HEAP_SCAN_HAS_STREAM
	BLOOMFAM_IF_KNOWN(
		if (scan->rs_read_stream != NULL)
			read_stream_reset(scan->rs_read_stream));
#endif
}

/* Ends a heap scan as after its last block, so that it can begin anew. */
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

/*
 * Begins to take blocks that several processes share.  PostgreSQL 19 can scan a part of the table.
 */
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

/*
 * Returns the next of the blocks that several processes share; InvalidBlockNumber after the last
 * one.
 */
static inline BlockNumber
bloomfam_heap_scan_next_parallel(HeapScanDesc scan)
{
	BLOOMFAM_IF_KNOWN(return table_block_parallelscan_nextpage(
		scan->rs_base.rs_rd, scan->rs_parallelworkerdata,
		(ParallelBlockTableScanDesc) scan->rs_base.rs_parallel));
}

/* ---- hash joins (HashJoinState, nodes/execnodes.h; HashJoinTable, executor/hashjoin.h) ---- */

/*
 * Returns where a join keeps what it has read of its build side: a hash join its hash table, and a
 * merge join, whose outer side is a Sort, the sorted rows.  The pointer there is NULL while the
 * join has none.  Callers compare the pointer, and do not use what it points to.  This function
 * works on every major version, as no filter can do without it.  If a member has another name, it
 * does not compile.
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
 * Lets a hash join build its hash table before it asks the outer side for a row, as it does after a
 * rescan of an outer side that had rows.  It must be called before the join's first row, and only
 * for a join for which the planner has decided that nobody can see the difference
 * (planner/decision.c, build_first_refusal()).  On major versions that are not known it does
 * nothing, so that rows pass until the filter is ready.
 */
static inline void
bloomfam_hash_join_build_first(HashJoinState *join)
{
#if BLOOMFAM_KNOWN_MAJOR
	join->hj_OuterNotEmpty = true;
#endif
}

/* ---- pruning of partitions (PartitionPruneContext, partitioning/partprune.h) ---- */

/*
 * Prepares for get_matching_partitions() with a partition key of this strategy and number of
 * columns, and with nsteps steps, whose expressions are constants.  The columns' collations and
 * support functions must stay valid.  Allocates memory in the current context.
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

/* Returns the text of the remote query, or NULL if it is not where it should be. */
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

/*
 * Returns the attribute numbers, as an integer list, of the columns that a scan with a query
 * returns.
 */
static inline List *
bloomfam_postgres_fdw_columns(const ForeignScan *scan)
{
	BLOOMFAM_IF_KNOWN(return lsecond(scan->fdw_private));
}

/* Returns the expressions of the remote query's parameters $1, $2, ... */
static inline List *
bloomfam_postgres_fdw_params(const ForeignScan *scan)
{
	BLOOMFAM_IF_KNOWN(return scan->fdw_exprs);
}

/* Adds a parameter to those of the remote query, and returns its number. */
static inline int
bloomfam_postgres_fdw_add_param(ForeignScan *scan, Param *param)
{
	BLOOMFAM_IF_KNOWN(
		scan->fdw_exprs = lappend(scan->fdw_exprs, param);
		return list_length(scan->fdw_exprs));
}

#endif							/* BLOOMFAM_SERVER_STRUCTS_H */
