/*-------------------------------------------------------------------------
 *
 * gate.h
 *	  One filter of a probe node, and its selectivity gate.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_GATE_H
#define BLOOMFAM_JOIN_GATE_H

#include "join/base/filter_info.h"
#include "join/executor/block_pruning.h"
#include "join/executor/partition_pruning.h"
#include "join/executor/stored.h"
#include "join/filter/filter.h"
#include "join/filter/hash.h"

/* The rows of a sample; and how many are not checked after one that dropped too few. */
#define JOIN_SAMPLE_ROWS	4096
#define JOIN_PAUSE_ROWS		100000

/*
 * The gate takes samples: if too few rows of one were dropped, a join's filter is disabled, and
 * rows are not checked until the next sample.
 */
typedef struct JoinProbe
{
	const JoinFilterInfo *info;
	JoinFilter *filter;			/* a join's: probed while it is ready and not disabled; or NULL */
	JoinStored *stored;			/* ... else one that the query names: always probed */
	JoinPartition *partition;	/* that it may skip; NULL: none */
	JoinBlockPruning *blocks;	/* which blocks of the table can match; NULL: no index tells */
	JoinAccess	access;			/* one that the query names: in page batches */
	bool		all_or_none;	/* of the rows with a key it drops all, or none: never disabled */
	int			ncolumns;
	const JoinKey *keys;
	AttrNumber *attributes;		/* ROW_BY_ROW: of the child's rows; else columns of its table */
	uint64		sample_tested;	/* in the present sample */
	uint64		sample_removed;
	uint64		pause;			/* while disabled: rows before the next sample; else 0 */
	uint64		last_pause;		/* 0: the last sample did not disable it */
	JoinProbeCounts counts;		/* fpr: see bloomfam_join_probe_note_fpr() */
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

/* Notes the rate of false positives by its filter's fill now; reads all of the filter. */
static inline void
bloomfam_join_probe_note_fpr(JoinProbe *probe)
{
	if (probe->filter != NULL && probe->filter->phase == JOIN_FILTER_COMPLETE)
		probe->counts.fpr = bloomfam_join_fpr(&probe->filter->probe);
}

#endif							/* BLOOMFAM_JOIN_GATE_H */
