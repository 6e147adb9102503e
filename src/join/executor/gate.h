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

typedef enum JoinProbeKind
{
	JOIN_PROBE_JOIN,			/* a join's: probed while it is ready and not disabled */
	JOIN_PROBE_STORED			/* one that the query names: always probed */
} JoinProbeKind;

/*
 * The gate takes samples: if too few rows of one were dropped, a join's filter is disabled, and
 * rows are not checked until the next sample.
 */
typedef struct JoinProbe
{
	JoinProbeKind kind;
	JoinFilter *filter;			/* a join's */
	JoinPartition *partition;	/* that it may skip; NULL: none */
	JoinBlockPruning *blocks;	/* which blocks of the table can match; NULL: no index tells */
	JoinStored *stored;			/* one that the query names */
	JoinAccess	access;			/* one that the query names: in page batches */
	double		min_drop;		/* fraction of rows that it must drop, or it is disabled */
	bool		all_or_none;	/* of the rows with a key it drops all, or none: never disabled */
	bool		unbuffered;		/* a row that passes goes to the join at once */
	int			ncolumns;
	const JoinKey *keys;
	AttrNumber *attributes;		/* of the child's rows; of a stored filter, the table's column */
	uint64		sample_tested;	/* in the present sample */
	uint64		sample_removed;
	uint64		pause;			/* while disabled: rows before the next sample; else 0 */
	uint64		last_pause;		/* 0: the last sample did not disable it */
	JoinProbeCounts counts;		/* see bloomfam_join_probe_counts() */
} JoinProbe;

/* Did the last sample disable its filter? */
static inline bool
bloomfam_join_probe_is_off(const JoinProbe *probe)
{
	return probe->last_pause > 0;
}

/* A probe's counts, with those that are known at the end only; reads all of the filter. */
extern JoinProbeCounts bloomfam_join_probe_counts(const JoinProbe *probe);

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

#endif							/* BLOOMFAM_JOIN_GATE_H */
