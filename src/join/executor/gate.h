/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * gate.h
 *	  The filters of a probe node: the selectivity gate of each, and which is probed first.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_GATE_H
#define BLOOMFAM_JOIN_GATE_H

#include "join/executor/block_pruning.h"
#include "join/executor/partition_pruning.h"
#include "join/executor/stored.h"

/* The rows of a sample; and how many are not checked after one that dropped too few. */
#define JOIN_SAMPLE_ROWS	4096
#define JOIN_PAUSE_ROWS		100000

/* What a process did with a filter on the probe side, over all rescans. */
typedef struct JoinProbeCounts
{
	uint64		tested;			/* rows */
	uint64		removed;
	uint64		not_checked;
	uint64		scans;			/* of a partition: how often it was begun, or skipped */
	uint64		skipped;		/* ... it could not match */
	JoinReason	partition;		/* why it was read the last time; JOIN_NO_REASON: it was skipped */
	uint64		pages;			/* of a table with block pruning: pages reached */
	uint64		pages_skipped;	/* ... that were not read */
	Oid			index;			/* ... the index searched last; 0: none */
	JoinReason	blocks;			/* why all pages were read the last time; JOIN_NO_REASON: not
								 * all were */
	bool		disabled;		/* by the gate, at the end */
} JoinProbeCounts;

/*
 * The gate takes samples: if too few rows of one were dropped, a join's filter is disabled, and
 * rows are not checked until the next sample.
 */
typedef struct JoinProbe
{
	const struct JoinProbeState *node;
	const JoinFilterInfo *info; /* its kind says which of the two next is set */
	JoinFilter *filter;			/* a join's: probed while it is ready and not disabled */
	JoinStored *stored;			/* one that the query names: always probed */
	JoinPartition *partition;	/* that it may skip; NULL: none */
	JoinBlockPruning *blocks;	/* which blocks of the table can match; NULL: no index tells */
	JoinAccess	access;			/* one that the query names: in page batches */
	bool		all_or_none;	/* of the rows with a key it drops all, or none: never disabled */
	int			ncolumns;
	const JoinKey *keys;
	AttrNumber *attributes;		/* ROW_BY_ROW: of the child's rows; else columns of its table */
	struct JoinBatchColumn *batch_columns;	/* NULL: ROW_BY_ROW */
	uint64		walked;			/* numbers in batches that were not at a fixed place in their row */
	uint64		sample_tested;	/* in the present sample */
	uint64		sample_removed;
	uint64		pause;			/* while disabled: rows before the next sample; else 0 */
	uint64		last_pause;		/* 0: the last sample did not disable it */
	JoinProbeCounts counts;
} JoinProbe;

/* Counts rows that a filter was probed with; at the end of a sample, may disable it. */
extern void bloomfam_join_probe_count(JoinProbe *probe, uint64 tested, uint64 removed);

/* Is a join's filter to be probed with the next rows?  If not, they count as not checked. */
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

/* Adaptive filter order: which of a node's filters is probed first. */
typedef struct JoinProbeOrder
{
	int		   *filters;		/* indexes of all in the node, in the order to probe them */
	int			n;
	int		   *decided;		/* in the order that was decided last: the one to show, as the above
								 * may be in the middle of a trial */
	double	   *ranks;			/* by index: fraction dropped in the last trial, by its cost */
	int			turn;			/* in a trial, in which each is first in its turn: the first
								 * one's index; else -1 */
	uint64		tested;			/* ... its counts before */
	uint64		removed;
	uint64		walked;
	uint64		left;			/* rows until the turn changes, or to the next trial */
} JoinProbeOrder;

/* The order of a node's filters, as the plan has them; in the current memory context. */
extern JoinProbeOrder *bloomfam_join_probe_order_make(const JoinProbe *probes, int nprobes);

/* Ends the turn or the phase, and begins the next one by what they did so far. */
extern void bloomfam_join_probe_order_change(JoinProbeOrder *order, const JoinProbe *probes);

/* To be called before so many rows are probed. */
static inline void
bloomfam_join_probe_order_next(JoinProbeOrder *order, const JoinProbe *probes, uint64 rows)
{
	if (unlikely(order->left <= rows))
		bloomfam_join_probe_order_change(order, probes);
	else
		order->left -= rows;
}

#endif							/* BLOOMFAM_JOIN_GATE_H */
