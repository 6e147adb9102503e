/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * report.c
 *	  What EXPLAIN and the log say of joins that were sampled.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"


#include "pg/explain_text.h"
#include "sampling/report.h"

/* Says in sentences what came of a pair. */
static char *
text_of(const SampleTold *told)
{
	const SampleFraction *fraction = &told->fraction;
	const char *given = told->given != NULL ? psprintf(" that match %s", told->given) : "";
	const char *kept = ", which is kept";

	if (told->reason != NULL)
		return psprintf("Not sampled: %s.", told->reason);
	if (told->planned >= 0)
		kept = psprintf("; planned with %.1f%%", told->planned * 100);
	return psprintf("%.1f%% of the rows of %s%s have a match (%.1f%% to %.1f%%), by %d of them (%d "
					"blocks) in %s%s (%d blocks). The server expects %.1f%%%s.%s",
					fraction->fraction * 100, told->large, given, fraction->low * 100,
					fraction->high * 100, fraction->nrows, told->sample_blocks,
					told->index != NULL ? "index " : "",
					told->index != NULL ? told->index : told->searched, told->nblocks,
					told->expected * 100, kept,
					told->nleft > 0 ? psprintf(" Conditions not evaluated: %d.", told->nleft) : "");
}

void
bloomfam_sample_log(List *told)
{
	ListCell   *lc;

	/* not to the client, who may run a function of somebody who may read more */
	foreach(lc, told)
		ereport(LOG_SERVER_ONLY,
				errmsg("size of the join on %s", ((SampleTold *) lfirst(lc))->join),
				errdetail_internal("%s", text_of(lfirst(lc))));
}

static void
explain_pair(const SampleTold *told, ExplainState *es)
{
	if (is_text(es))
	{
		indent(es);
		appendStringInfo(es->str, "%s: %s\n", told->join, text_of(told));
		return;
	}
	ExplainOpenGroup("Join Sample", NULL, true, es);
	ExplainPropertyText("Join", told->join, es);
	ExplainPropertyText("Large Relation", told->large, es);
	ExplainPropertyText("Searched Relation", told->searched, es);
	if (told->reason != NULL)
		ExplainPropertyText("Not Sampled", told->reason, es);
	else
	{
		if (told->index != NULL)
			ExplainPropertyText("Index", told->index, es);
		if (told->given != NULL)
			ExplainPropertyText("Given Relation", told->given, es);
		ExplainPropertyInteger("Rows", NULL, told->fraction.nrows, es);
		ExplainPropertyInteger("Sample Blocks", NULL, told->sample_blocks, es);
		ExplainPropertyInteger("Blocks", NULL, told->nblocks, es);
		ExplainPropertyInteger("Conditions Not Evaluated", NULL, told->nleft, es);
		ExplainPropertyFloat("Fraction", NULL, told->fraction.fraction, 6, es);
		ExplainPropertyFloat("Fraction From", NULL, told->fraction.low, 6, es);
		ExplainPropertyFloat("Fraction To", NULL, told->fraction.high, 6, es);
		ExplainPropertyFloat("Expected Fraction", NULL, told->expected, 6, es);
		if (told->planned >= 0)
			ExplainPropertyFloat("Planned Fraction", NULL, told->planned, 6, es);
	}
	ExplainCloseGroup("Join Sample", NULL, true, es);
}

void
bloomfam_sample_explain(List *told, ExplainState *es)
{
	ListCell   *lc;

	if (told == NIL)
		return;
	ExplainOpenGroup("Join Samples", "Join Samples", false, es);
	if (is_text(es))
	{
		indent(es);
		appendStringInfoString(es->str, "Join Samples:\n");
		es->indent++;
	}
	foreach(lc, told)
		explain_pair(lfirst(lc), es);
	if (is_text(es))
		es->indent--;
	ExplainCloseGroup("Join Samples", "Join Samples", false, es);
}
