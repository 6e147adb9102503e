/*-------------------------------------------------------------------------
 *
 * explain.c
 *	  What EXPLAIN says of the join filter's nodes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/explain.h"

#include "join/join.h"

void
bloomfam_join_build_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	JoinBuildState *state = (JoinBuildState *) node;

	if (es->analyze && state->filter != NULL)
	{
		ExplainPropertyInteger("Filter Keys", NULL, state->filter->keys, es);
		ExplainPropertyInteger("Filter Memory", "kB", state->filter->memory / 1024, es);
	}
}

void
bloomfam_join_probe_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	JoinProbeState *state = (JoinProbeState *) node;
	int			i;

	for (i = 0; i < state->nprobes; i++)
	{
		if (state->probes[i].stored != NULL)
			bloomfam_join_stored_explain(state->probes[i].stored, node, ancestors, es);
		if (es->analyze)
		{
			ExplainPropertyInteger("Rows Probed", NULL, state->probes[i].tested, es);
			ExplainPropertyInteger("Rows Dropped", NULL, state->probes[i].dropped, es);
			ExplainPropertyInteger("Rows Passed Unseen", NULL, state->probes[i].passed_unseen, es);
		}
	}
}
