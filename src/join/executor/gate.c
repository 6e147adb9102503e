/*-------------------------------------------------------------------------
 *
 * gate.c
 *	  Whether a filter pays.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "join/base/settings.h"
#include "join/executor/gate.h"

#define LONGEST_PAUSE	(JOIN_PAUSE_ROWS * 64)

void
bloomfam_join_probe_count(JoinProbe *probe, uint64 tested, uint64 dropped)
{
	probe->counts.tested += tested;
	probe->counts.dropped += dropped;
	probe->sample_tested += tested;
	probe->sample_dropped += dropped;
	if (probe->sample_tested < JOIN_SAMPLE_ROWS)
		return;
	if (probe->sample_dropped < probe->worth * probe->sample_tested &&
		probe->kind == JOIN_PROBE_JOIN && !probe->whole &&
		bloomfam_join_filter != JOIN_FILTER_FORCE)
	{
		probe->last_pause = Min(Max(probe->last_pause * 2, JOIN_PAUSE_ROWS), LONGEST_PAUSE);
		probe->pause = probe->last_pause;
	}
	else
		probe->last_pause = 0;
	probe->sample_tested = probe->sample_dropped = 0;
}

JoinProbeCounts
bloomfam_join_probe_counts(const JoinProbe *probe)
{
	JoinProbeCounts counts = probe->counts;

	counts.switched_off = bloomfam_join_probe_is_off(probe);
	if (probe->kind == JOIN_PROBE_JOIN && probe->filter->phase == JOIN_FILTER_COMPLETE)
		counts.fpr = bloomfam_join_set_fpr(&probe->filter->set);
	return counts;
}
