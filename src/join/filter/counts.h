/*-------------------------------------------------------------------------
 *
 * counts.h
 *	  What a process did, over all rescans, for EXPLAIN: building a filter, and probing one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_COUNTS_H
#define BLOOMFAM_JOIN_COUNTS_H

#include "join/filter/design.h"

typedef struct JoinBuildCounts
{
	uint64		builds;			/* of a shared filter, counted by the process that makes it */
	uint64		discarded;		/* of these: there were too many keys */
	uint64		bitmaps;		/* of these: exact ones of numbers */
	uint64		ranges;			/* of those that were given up: of the bounds of their numbers */
	uint64		keys;			/* rows that had one; of a shared filter, the share */
	uint64		bytes;			/* of all filters' bits */
	Size		largest;		/* of them */
	Size		memory;			/* the most that was allocated at once */
} JoinBuildCounts;

typedef struct JoinProbeCounts
{
	uint64		tested;			/* rows */
	uint64		removed;
	uint64		not_checked;
	uint64		scans;			/* of a partition: how often it was begun, or skipped */
	uint64		skipped;		/* ... it could not match */
	int			partition;		/* ... a JoinPartitionAnswer: the last one */
	uint64		pages;			/* of a table, that an index was asked for: how many were come to */
	uint64		pages_skipped;	/* ... it cannot match any row of theirs */
	Oid			index;			/* ... the one asked last; 0: none */
	int			blocks;			/* ... a JoinBlocksPhase: what came of that */
	bool		disabled;		/* at the end */
	double		fpr;			/* by the filter's fill; 0: not known */
} JoinProbeCounts;

extern void bloomfam_join_build_counts_add(JoinBuildCounts *sum, const JoinBuildCounts *counts);
extern void bloomfam_join_probe_counts_add(JoinProbeCounts *sum, const JoinProbeCounts *counts);

/* Counts a filter that was made: its size, and all that making it took, in bytes. */
extern void bloomfam_join_count_filter(JoinBuildCounts *counts, JoinForm form, Size size,
									   Size memory);

#endif							/* BLOOMFAM_JOIN_COUNTS_H */
