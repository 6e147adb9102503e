/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * gate.h
 *	  The filters of a probe node: their selectivity gates, and the order in which they are probed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_GATE_H
#define BLOOMFAM_JOIN_GATE_H

#include "join/executor/block_pruning.h"
#include "join/executor/partition_pruning.h"
#include "join/executor/stored.h"

/*
 * The number of rows in a sample of the gate, and the number of rows that are not checked after a
 * sample in which the filter dropped too few.
 */
#define JOIN_SAMPLE_ROWS	4096
#define JOIN_PAUSE_ROWS		100000

/* Counts what a process did with a filter on the probe side, over all rescans. */
typedef struct JoinProbeCounts
{
	uint64		tested;			/* The number of rows that were probed with the filter. */
	uint64		removed;
	uint64		not_checked;

	/* The number of times that the scan of a partition was begun or skipped. */
	uint64		scans;

	/* The number of times that the partition was skipped, as no row of it could match. */
	uint64		skipped;

	/* The reason why the partition was read the last time; JOIN_NO_REASON: it was skipped. */
	JoinReason	partition;
	uint64		pages;			/* The number of pages that a scan with block pruning came to. */
	uint64		pages_skipped;	/* The number of pages that block pruning left out. */

	/* The OID of the index that was searched last for blocks; 0: none was searched. */
	Oid			index;

	/*
	 * The reason why all pages of the table were read the last time; JOIN_NO_REASON: only some
	 * were.
	 */
	JoinReason	blocks;

	/* Whether the gate had disabled the filter when the execution ended. */
	bool		disabled;
} JoinProbeCounts;

/*
 * One filter of a probe node.  The gate takes samples of the rows probed: if a join's filter drops
 * too few rows of a sample, it is disabled, and rows are not checked until the next sample.
 */
typedef struct JoinProbe
{
	const struct JoinProbeState *node;

	/* The plan's description of the filter; its kind says which of "filter" and "stored" is set. */
	const JoinFilterInfo *info;

	/* The filter, if it is a join's: it is probed while it is ready and not disabled. */
	JoinFilter *filter;
	JoinStored *stored;			/* The filter, if the query names it: it is always probed. */

	/* The partition that the node may skip by this filter; NULL: none. */
	JoinPartition *partition;

	/* The blocks of the scanned table that can match; NULL: no index tells. */
	JoinBlockPruning *blocks;

	/* How the filter is probed; always in page batches if the filter is named by the query. */
	JoinAccess	access;

	/*
	 * Whether the filter must drop either all or none of the rows with the same key, because a node
	 * above groups rows; then the gate never disables it.
	 */
	bool		all_or_none;
	int			ncolumns;
	const JoinKey *keys;

	/*
	 * The key's columns: if access is ROW_BY_ROW, in the child's output; else in the scanned table.
	 */
	AttrNumber *attributes;

	/* How the key's columns are read from pages; NULL if access is ROW_BY_ROW. */
	struct JoinBatchColumn *batch_columns;

	/*
	 * The number of integers read in page batches that were not at a fixed offset in their row, so
	 * that the columns before them had to be walked through.
	 */
	uint64		walked;
	uint64		sample_tested;	/* The number of rows probed in the gate's present sample. */
	uint64		sample_removed;

	/* While the filter is disabled: the number of rows until the next sample; else 0. */
	uint64		pause;

	/* The length of the last pause in rows; 0: the last sample did not disable the filter. */
	uint64		last_pause;
	JoinProbeCounts counts;
} JoinProbe;

/* Counts rows that a filter was probed with.  At the end of a sample, may disable the filter. */
extern void bloomfam_join_probe_count(JoinProbe *probe, uint64 tested, uint64 removed);

/*
 * Tells whether a join's filter is to be probed with the next rows.  If not, counts them as not
 * checked.
 */
static inline bool
bloomfam_join_probe_awake(JoinProbe *probe, uint64 rows)
{
	bool ready = probe->all_or_none ? bloomfam_join_filter_ready_for_all_or_none(probe->filter)
									: bloomfam_join_filter_ready(probe->filter);

	if (likely(ready && probe->pause == 0))
		return true;
	probe->counts.not_checked += rows;
	if (ready)
		probe->pause -= Min(probe->pause, rows);
	return false;
}

/* The adaptive order in which the filters of a node are probed. */
typedef struct JoinProbeOrder
{
	/* The indexes of all filters of the node, in the order in which they are to be probed now. */
	int		   *filters;
	int			n;

	/*
	 * The order that was decided last, which EXPLAIN shows, since filters[] may be that of a trial.
	 */
	int		   *decided;

	/*
	 * The rank of each filter, by its index: the fraction of rows that it dropped in the last
	 * trial, divided by the cost of probing it.
	 */
	double	   *ranks;

	/*
	 * During a trial, in which each filter in turn is probed first: the index of the filter whose
	 * turn it is; else -1.
	 */
	int			turn;

	/*
	 * The fields "tested", "removed" and "walked" hold the counts, as they were before its turn in
	 * a trial, of the filter whose turn it is.
	 */
	uint64		tested;
	uint64		removed;
	uint64		walked;

	/* The number of rows until the turn ends, or until the next trial. */
	uint64		left;
} JoinProbeOrder;

/*
 * Makes the order of a node's filters, which is at first that of the plan, in the current memory
 * context.
 */
extern JoinProbeOrder *bloomfam_join_probe_order_make(const JoinProbe *probes, int nprobes);

/*
 * Ends the present turn, or the phase between two trials, and begins the next one, as the filters'
 * counts suggest.
 */
extern void bloomfam_join_probe_order_change(JoinProbeOrder *order, const JoinProbe *probes);

/*
 * Keeps count of the rows to be probed.  Must be called before the given number of rows is probed,
 * and may change the order.
 */
static inline void
bloomfam_join_probe_order_next(JoinProbeOrder *order, const JoinProbe *probes, uint64 rows)
{
	if (unlikely(order->left <= rows))
		bloomfam_join_probe_order_change(order, probes);
	else
		order->left -= rows;
}

#endif							/* BLOOMFAM_JOIN_GATE_H */
