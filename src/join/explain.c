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
	int			i;

	if (es->analyze && state->filter != NULL)
	{
		ExplainPropertyInteger("Filter Keys", NULL, state->filter->keys, es);
		ExplainPropertyInteger("Filter Memory", "kB", state->filter->memory / 1024, es);
		for (i = 0; state->foreign != NULL && i < state->ncolumns; i++)
			if (state->foreign[i] != NULL)
				ExplainPropertyInteger("Foreign Filter Size", "kB", (bloomfam_join_foreign_size(state->foreign[i]) + 1023) / 1024, es);
	}
}

void
bloomfam_join_probe_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	JoinProbeState *state = (JoinProbeState *) node;
	int			i;

	if (es->analyze)
		for (i = 0; i < state->nprobes; i++)
		{
			ExplainPropertyInteger("Rows Probed", NULL, state->probes[i].tested, es);
			ExplainPropertyInteger("Rows Dropped", NULL, state->probes[i].dropped, es);
			ExplainPropertyInteger("Rows Passed Unseen", NULL, state->probes[i].passed_unseen, es);
		}
}
