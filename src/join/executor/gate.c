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
	probe->counts.disabled =
		probe->sample_removed < probe->info->min_drop / 1000.0 * probe->sample_tested &&
		probe->filter != NULL && !probe->all_or_none && bloomfam_join_filter != JOIN_FILTER_FORCE;
	if (probe->counts.disabled)
		probe->pause = Min(Max(probe->last_pause * 2, JOIN_PAUSE_ROWS), LONGEST_PAUSE);
	probe->last_pause = probe->pause;
	probe->sample_tested = probe->sample_removed = 0;
}
