/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * heap_scan.h
 *	  Scans a heap block by block, leaving out the blocks in which no row can match.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_HEAP_SCAN_H
#define BLOOMFAM_JOIN_HEAP_SCAN_H

#include "access/heapam.h"

#include "join/executor/gate.h"

/* The largest number of blocks that a pruned scan chooses in advance. */
#define JOIN_PRUNED_SCAN_AHEAD	32

/*
 * The state of a pruned scan.  If it is all zero, the heap's scan is not pruned, and reads one
 * block after the other.
 */
typedef struct JoinPrunedScan
{
	bool		active;

	/* The node's filters; those that have found blocks say which blocks to leave out. */
	JoinProbe  *probes;
	int			nprobes;
	BlockNumber next;			/* The next block to check; not used in a parallel scan. */

	/*
	 * The number of blocks left to check, from "next" on and wrapping around at the end of the
	 * table.
	 */
	BlockNumber left;

	/*
	 * The fields from "most" to "last" are a ring buffer of nahead blocks to be read next, from
	 * ahead[first] on, which have been prefetched where that is useful.
	 */
	/* The number of blocks to choose in advance; 0: there are no more blocks to take. */
	int			most;
	int			nahead;
	int			first;
	BlockNumber ahead[JOIN_PRUNED_SCAN_AHEAD];
	BlockNumber last;			/* The block that was put into the ring buffer last. */
} JoinPrunedScan;

/*
 * Takes over a scan that goes by pages and forward, at the block that it is on, or before its first
 * block; a parallel scan only before its first block.  Some filter must have found the blocks that
 * can match, so the table has at least one block.
 */
extern void bloomfam_join_pruned_scan_begin(JoinPrunedScan *pruned_scan, HeapScanDesc scan,
											JoinProbe *probes, int nprobes);

/*
 * Moves the scan to the next row that its snapshot sees, on a block where rows can match.  It does
 * what heap_getnextslot() does, except for filling a slot.  Returns false at the end, after which
 * the scan can begin anew.
 */
extern bool bloomfam_join_pruned_scan_next(JoinPrunedScan *pruned_scan, HeapScanDesc scan);

#endif							/* BLOOMFAM_JOIN_HEAP_SCAN_H */
