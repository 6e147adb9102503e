/*-------------------------------------------------------------------------
 *
 * gate.h
 *	  One filter of a probe node, and whether it pays.
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

/* How many rows a filter's sample has, and how many pass unseen after one that was not worth it. */
#define JOIN_SAMPLE_ROWS	4096
#define JOIN_PAUSE_ROWS		100000

typedef enum JoinProbeKind
{
	JOIN_PROBE_JOIN,			/* of a join: may be asked, while it is ready and pays */
	JOIN_PROBE_STORED			/* one that the query names: must be asked */
} JoinProbeKind;

/*
 * Whether a join's filter pays is looked at now and then: a sample of rows is counted, and if too
 * few of them were dropped, rows pass unseen until the next sample.
 */
typedef struct JoinProbe
{
	JoinProbeKind kind;
	JoinFilter *filter;			/* a join's */
	JoinPartition *partition;	/* that it may skip; NULL: is none */
	JoinBlockPruning *blocks;	/* of the table that can match; NULL: none are looked for */
	JoinStored *stored;			/* one that the query names */
	JoinAccess	access;			/* one that the query names: by pages */
	double		min_drop;		/* share of rows that it must drop to go on */
	bool		all_or_none;	/* of the rows with a key it drops all, or none: so it does go on */
	bool		unbuffered;		/* a row that passes goes on to the join at once */
	int			ncolumns;
	const JoinKey *keys;
	AttrNumber *attributes;		/* of the child's rows; of a stored filter, the table's column */
	uint64		sample_tested;	/* in the present sample */
	uint64		sample_removed;
	uint64		pause;			/* rows to let pass before the next sample; 0: on */
	uint64		last_pause;		/* the next one is longer */
	JoinProbeCounts counts;		/* see bloomfam_join_probe_counts() */
} JoinProbe;

/* Did its filter not pay, as far as the last sample tells? */
static inline bool
bloomfam_join_probe_is_off(const JoinProbe *probe)
{
	return probe->last_pause > 0;
}

/* A probe's counts with those that are found at the end only; reads all of the filter. */
extern JoinProbeCounts bloomfam_join_probe_counts(const JoinProbe *probe);

/* Counts a filter's work on some rows, and decides whether it goes on. */
extern void bloomfam_join_probe_count(JoinProbe *probe, uint64 tested, uint64 removed);

/* Is a join's filter to look at these rows?  If not, they pass, and are taken off its pause. */
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
