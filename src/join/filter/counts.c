/*-------------------------------------------------------------------------
 *
 * counts.c
 *	  What a process did, for EXPLAIN.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "join/filter/counts.h"

void
bloomfam_join_build_counts_add(JoinBuildCounts *sum, const JoinBuildCounts *counts)
{
	sum->builds += counts->builds;
	sum->discarded += counts->discarded;
	sum->bitmaps += counts->bitmaps;
	sum->ranges += counts->ranges;
	sum->keys += counts->keys;
	sum->bytes += counts->bytes;
	sum->largest = Max(sum->largest, counts->largest);
	sum->memory = Max(sum->memory, counts->memory);
}

void
bloomfam_join_probe_counts_add(JoinProbeCounts *sum, const JoinProbeCounts *counts)
{
	sum->tested += counts->tested;
	sum->removed += counts->removed;
	sum->not_checked += counts->not_checked;
	sum->scans += counts->scans;
	sum->skipped += counts->skipped;
	sum->partition = Max(sum->partition, counts->partition);
	sum->pages += counts->pages;
	sum->pages_skipped += counts->pages_skipped;
	if (counts->blocks != 0)
	{
		sum->index = counts->index;
		sum->blocks = counts->blocks;
	}
	sum->disabled |= counts->disabled;
	sum->fpr = Max(sum->fpr, counts->fpr);
}

void
bloomfam_join_count_filter(JoinBuildCounts *counts, JoinForm form, Size size, Size memory)
{
	counts->bitmaps += form == JOIN_FORM_BITMAP;
	counts->ranges += form == JOIN_FORM_RANGE;
	counts->bytes += size;
	counts->largest = Max(counts->largest, size);
	counts->memory = Max(counts->memory, memory);
}
