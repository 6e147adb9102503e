/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * report.c
 *	  What EXPLAIN and the log say of joins that were sampled.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "lib/stringinfo.h"

#include "join/base/explain_text.h"
#include "join/sampling/report.h"
#include "join/sampling/sampling.h"
#include "pg/compat.h"

/* Which join it is about, or the relations of which joins. */
static const char *
name_of(const JoinSampled *sampled)
{
	StringInfoData out;
	ListCell   *lc;

	if (sampled->kind == JOIN_SAMPLED_PAIR)
		return sampled->condition != NULL
			? sampled->condition : psprintf("%s, %s", sampled->probe, sampled->searched);
	initStringInfo(&out);
	foreach(lc, sampled->relations)
		appendStringInfo(&out, foreach_current_index(lc) > 0 ? ", %s" : "%s",
						 (char *) lfirst(lc));
	return out.data;
}

/* Whether the joins are others. */
static char *
text_of_order(const JoinReorder *order)
{
	/* rounded down, as it is compared */
	double		percent = floor(order->saving * 1000) / 10;

	if (order->choice == JOIN_REORDER_CHANGED && order->saving < JOIN_REORDER_MARGIN)
		return pstrdup("Others than without samples, as fewer of them are disabled.");
	if (order->choice == JOIN_REORDER_CHANGED)
		return psprintf("Others than without samples, which are expected to be %.1f%% cheaper.",
						percent);
	if (percent == 0)
		return pstrdup("The same as without samples.");
	return psprintf("The same as without samples: others are expected to be %.1f%% cheaper, which "
					"is less than %.0f%%.", percent, JOIN_REORDER_MARGIN * 100);
}

/* What came of it, in sentences. */
static char *
text_of(const JoinSampled *sampled)
{
	const JoinMatchShare *share = &sampled->share;
	StringInfoData out;

	if (sampled->kind == JOIN_SAMPLED_ORDER)
		return text_of_order(&sampled->order);
	if (sampled->reason != NULL)
		return psprintf("Not sampled: %s.", sampled->reason);
	initStringInfo(&out);
	appendStringInfo(&out,
					 "%.1f%% of the rows of %s have a match (%.1f%% to %.1f%%), by %d %s in ",
					 share->share * 100, sampled->probe, share->low * 100, share->high * 100,
					 share->nkeys, share->of_rows ? "of them" : "keys of its statistics");
	appendStringInfo(&out, sampled->index != NULL ? "index %s" : "%s",
					 sampled->index != NULL ? sampled->index : sampled->searched);
	appendStringInfo(&out, " (%d blocks). The server expects %.1f%%", share->nblocks,
					 sampled->expected * 100);
	if (sampled->unused != NULL)
		appendStringInfo(&out, ", which is kept: %s.", sampled->unused);
	else
		appendStringInfo(&out, "; planned with %.1f%%.", sampled->used * 100);
	if (sampled->alike > 0)
		appendStringInfo(&out, " A parameter is expected to select %.1f%% of them.",
						 sampled->alike * 100);
	return out.data;
}

void
bloomfam_join_sampling_log(List *sampled)
{
	ListCell   *lc;

	/* not to the client, who may run a function of somebody who may read more */
	foreach(lc, sampled)
	{
		const JoinSampled *one = lfirst(lc);

		ereport(LOG_SERVER_ONLY,
				one->kind == JOIN_SAMPLED_ORDER
				? errmsg("joins of %s", name_of(one))
				: errmsg("size of the join on %s", name_of(one)),
				errdetail_internal("%s", text_of(one)));
	}
}

static void
explain_sampled(const JoinSampled *sampled, ExplainState *es)
{
	const JoinMatchShare *share = &sampled->share;

	if (is_text(es))
	{
		indent(es);
		appendStringInfo(es->str, "%s%s: %s\n",
						 sampled->kind == JOIN_SAMPLED_ORDER ? "Joins of " : "", name_of(sampled),
						 text_of(sampled));
		return;
	}
	ExplainOpenGroup("Join Sample", NULL, true, es);
	ExplainPropertyText("Join", name_of(sampled), es);
	if (sampled->reason != NULL)
		ExplainPropertyText("Not Sampled", sampled->reason, es);
	else
	{
		ExplainPropertyText("Probe Relation", sampled->probe, es);
		ExplainPropertyText("Searched Relation", sampled->searched, es);
		if (sampled->index != NULL)
			ExplainPropertyText("Index", sampled->index, es);
		ExplainPropertyInteger(share->of_rows ? "Rows" : "Keys", NULL, share->nkeys, es);
		ExplainPropertyInteger("Blocks", NULL, share->nblocks, es);
		ExplainPropertyFloat("Share", NULL, share->share, 6, es);
		ExplainPropertyFloat("Share From", NULL, share->low, 6, es);
		ExplainPropertyFloat("Share To", NULL, share->high, 6, es);
		ExplainPropertyFloat("Expected Share", NULL, sampled->expected, 6, es);
		if (sampled->alike > 0)
			ExplainPropertyFloat("Parameter Share", NULL, sampled->alike, 6, es);
		if (sampled->unused == NULL)
			ExplainPropertyFloat("Planned Share", NULL, sampled->used, 6, es);
	}
	ExplainCloseGroup("Join Sample", NULL, true, es);
}

static void
explain_order(const JoinSampled *sampled, ExplainState *es)
{
	const JoinReorder *order = &sampled->order;

	ExplainOpenGroup("Joins", NULL, true, es);
	ExplainPropertyList("Relations", sampled->relations, es);
	ExplainPropertyBool("Changed", order->choice == JOIN_REORDER_CHANGED, es);
	ExplainPropertyFloat("Expected Saving", NULL, order->saving, 6, es);
	ExplainCloseGroup("Joins", NULL, true, es);
}

void
bloomfam_join_sampling_explain(List *sampled, ExplainState *es)
{
	ListCell   *lc;

	if (sampled == NIL)
		return;
	ExplainOpenGroup("Join Samples", "Join Samples", false, es);
	if (is_text(es))
	{
		indent(es);
		appendStringInfoString(es->str, "Join Samples:\n");
		es->indent++;
	}
	foreach(lc, sampled)
		if (is_text(es) || ((JoinSampled *) lfirst(lc))->kind == JOIN_SAMPLED_PAIR)
			explain_sampled(lfirst(lc), es);
	if (is_text(es))
		es->indent--;
	ExplainCloseGroup("Join Samples", "Join Samples", false, es);
	if (is_text(es))
		return;

	/* a list of its own, so that all members of each are alike */
	ExplainOpenGroup("Joins With Samples", "Joins With Samples", false, es);
	foreach(lc, sampled)
		if (((JoinSampled *) lfirst(lc))->kind == JOIN_SAMPLED_ORDER)
			explain_order(lfirst(lc), es);
	ExplainCloseGroup("Joins With Samples", "Joins With Samples", false, es);
}
