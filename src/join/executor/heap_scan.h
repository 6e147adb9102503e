/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * heap_scan.h
 *	  The scan of a heap, block by block, without those in which no row can match.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_HEAP_SCAN_H
#define BLOOMFAM_JOIN_HEAP_SCAN_H

#include "access/heapam.h"

#include "join/executor/gate.h"

/* So many blocks are known ahead at most. */
#define JOIN_PRUNED_SCAN_AHEAD	32

/* Where the scan is.  All zero: it goes its own way, block after block. */
typedef struct JoinPrunedScan
{
	bool		active;
	JoinProbe  *probes;			/* whose blocks are found say which to leave out */
	int			nprobes;
	BlockNumber next;			/* to look at, not in parallel; */
	BlockNumber left;			/* ... as the first one of so many, in a circle */

	/* blocks to be read next, in a circle: they were looked for in the server's buffers */
	int			most;			/* 0: there are no more to take */
	int			nahead;
	int			first;
	BlockNumber ahead[JOIN_PRUNED_SCAN_AHEAD];
	BlockNumber last;			/* of these */
} JoinPrunedScan;

/*
 * Takes over a scan that goes by pages, and forward, at the block that it is on, or before its
 * first one, which in parallel is the only time.  Some probe's blocks are found, so it has some.
 */
extern void bloomfam_join_pruned_scan_begin(JoinPrunedScan *pruned_scan, HeapScanDesc scan,
											JoinProbe *probes, int nprobes);

/*
 * Sends it to the next row that its snapshot sees, on blocks where rows can match, as
 * heap_getnextslot() does but for the slot.  False at the end, after which it can begin anew.
 */
extern bool bloomfam_join_pruned_scan_next(JoinPrunedScan *pruned_scan, HeapScanDesc scan);

#endif							/* BLOOMFAM_JOIN_HEAP_SCAN_H */
