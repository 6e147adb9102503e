/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * report.c
 *	  Reports on sampled joins in EXPLAIN and in the server's log.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "pg/explain_text.h"
#include "sampling/report.h"

/* Returns what came of a pair as text: labels and values, named as the properties of EXPLAIN. */
static char *
text_of(const SampleTold *told)
{
	const SampleFraction *fraction = &told->fraction;
	StringInfoData text;

	if (told->reason != NULL)
		return psprintf("Not Sampled: %s", told->reason);
	initStringInfo(&text);
	appendStringInfo(&text, "Fraction: %.1f%% (%.1f%% to %.1f%%)  Expected Fraction: %.1f%%",
					 fraction->fraction * 100, fraction->low * 100, fraction->high * 100,
					 told->expected * 100);
	if (told->planned >= 0)
		appendStringInfo(&text, "  Planned Fraction: %.1f%%", told->planned * 100);
	if (told->given != NULL)
		appendStringInfo(&text, "  Given Relation: %s", told->given);
	appendStringInfo(&text, "  Rows: %d  Blocks Read: %d", fraction->nrows,
					 told->sample_blocks + told->nblocks);
	if (told->index != NULL)
		appendStringInfo(&text, "  Index: %s", told->index);
	if (told->nleft > 0)
		appendStringInfo(&text, "  Conditions Not Evaluated: %d", told->nleft);
	return text.data;
}

void
bloomfam_sample_log(List *told)
{
	ListCell   *lc;

	/*
	 * The messages go to the server's log only, not to the client: the client may be running a
	 * function of a user who may read more than its own user may.
	 */
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
	if (told->reason != NULL)
		ExplainPropertyText("Not Sampled", told->reason, es);
	else
	{
		if (told->index != NULL)
			ExplainPropertyText("Index", told->index, es);
		if (told->given != NULL)
			ExplainPropertyText("Given Relation", told->given, es);
		ExplainPropertyInteger("Rows", NULL, told->fraction.nrows, es);
		ExplainPropertyInteger("Blocks Read", NULL, told->sample_blocks + told->nblocks, es);
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
