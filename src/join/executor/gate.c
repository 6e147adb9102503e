/*-------------------------------------------------------------------------
 *
 * gate.c
 *	  The selectivity gate: a filter that drops too few rows is disabled for a while.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "join/base/gucs.h"
#include "join/executor/gate.h"

#define LONGEST_PAUSE	(JOIN_PAUSE_ROWS * 64)

void
bloomfam_join_probe_count(JoinProbe *probe, uint64 tested, uint64 removed)
{
	Assert(removed <= tested);
	Assert(probe->pause == 0);	/* else the rows were not checked */
	probe->counts.tested += tested;
	probe->counts.removed += removed;
	probe->sample_tested += tested;
	probe->sample_removed += removed;
	if (probe->sample_tested < JOIN_SAMPLE_ROWS)
		return;
	if (probe->sample_removed < probe->min_drop * probe->sample_tested &&
		probe->kind == JOIN_PROBE_JOIN && !probe->all_or_none &&
		bloomfam_join_filter != JOIN_FILTER_FORCE)
	{
		probe->last_pause = Min(Max(probe->last_pause * 2, JOIN_PAUSE_ROWS), LONGEST_PAUSE);
		probe->pause = probe->last_pause;
	}
	else
		probe->last_pause = 0;
	probe->sample_tested = probe->sample_removed = 0;
}

JoinProbeCounts
bloomfam_join_probe_counts(const JoinProbe *probe)
{
	JoinProbeCounts counts = probe->counts;

	counts.disabled = bloomfam_join_probe_is_off(probe);
	if (probe->kind == JOIN_PROBE_JOIN && probe->filter->phase == JOIN_FILTER_COMPLETE)
		counts.fpr = bloomfam_join_fpr(&probe->filter->probe);
	return counts;
}
