/*-------------------------------------------------------------------------
 *
 * explain.c
 *	  What EXPLAIN says of the join filter's nodes, and what it and the log say of the planner's
 *	  decisions.
 *
 * A filter is named by its number and by the columns of the join's key that it has: first those
 * of the node's own side, as the node knows them, then the other side's, as the join does.  The
 * join is found again among the node's ancestors; the plan needs no copy of its key.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "join/join.h"
#include "pg/compat.h"

/* ---- names ---- */

/*
 * Is this the join whose build side a filter is made from?  There may be several build nodes, one
 * on top of the other.
 */
static bool
join_builds(const HashJoin *join, int number)
{
	Plan	   *plan = outerPlan(innerPlan(join));

	for (; plan != NULL && IsA(plan, CustomScan) &&
		   ((CustomScan *) plan)->methods == &bloomfam_join_build_methods;
		 plan = outerPlan(plan))
		if (list_nth_int(linitial(((CustomScan *) plan)->custom_private), JOIN_SPEC_NUMBER) ==
			number)
			return true;
	return false;
}

/* The join that a filter is for, and what is above it: some ancestor of each of its nodes. */
static HashJoin *
join_of_filter(List *ancestors, int number, List **above)
{
	int			i;

	for (i = 0; i < list_length(ancestors); i++)
	{
		Node	   *node = list_nth(ancestors, i);

		if (IsA(node, HashJoin) && join_builds((HashJoin *) node, number))
		{
			*above = list_copy_tail(ancestors, i + 1);
			return (HashJoin *) node;
		}
	}
	elog(ERROR, "join of filter %d not found", number);
}

/*
 * The columns of a filter's key on one side of its join, a list of strings, as they are called at
 * the join.
 */
static List *
names_at_join(List *context, HashJoin *join, List *above, const List *spec, bool outer)
{
	Plan	   *hash = innerPlan(join);
	List	   *names = NIL;
	int			i;

	if (outer)
		context = set_deparse_context_plan(context, &join->join.plan, above);
	else
		context = set_deparse_context_plan(context, hash, lcons(join, list_copy(above)));
	for (i = 0; i < bloomfam_join_spec_ncolumns(spec); i++)
	{
		List	   *keys = outer ? join->hashkeys : ((Hash *) hash)->hashkeys;
		Node	   *key = list_nth(keys, bloomfam_join_spec_column(spec, i, JOIN_COLUMN_HASH_KEY));

		names = lappend(names, deparse_expression(key, context, true, false));
	}
	return names;
}

/* The same as they are called at a probe node. */
static List *
names_at_probe(List *context, CustomScan *node, List *ancestors, const List *spec)
{
	List	   *names = NIL;
	int			i;

	context = set_deparse_context_plan(context, &node->scan.plan, ancestors);
	for (i = 0; i < bloomfam_join_spec_ncolumns(spec); i++)
	{
		TargetEntry *entry = list_nth(
			node->custom_scan_tlist, bloomfam_join_spec_column(spec, i, JOIN_COLUMN_ATTRIBUTE) - 1);

		names = lappend(names, deparse_expression((Node *) entry->expr, context, true, false));
	}
	return names;
}

static void
append_names(StringInfo out, List *names)
{
	ListCell   *lc;

	foreach(lc, names)
		appendStringInfo(out, "%s%s", lc == list_head(names) ? "" : ", ", (char *) lfirst(lc));
}

/* ---- EXPLAIN ---- */

static inline bool
is_text(const ExplainState *es)
{
	return es->format == EXPLAIN_FORMAT_TEXT;
}

static void
indent(ExplainState *es)
{
	appendStringInfoSpaces(es->str, es->indent * 2);
}

/*
 * Opens what is said of one filter: its number, its key, and with VERBOSE how that is hashed.
 * keys NULL: this process does not use it.
 */
static void
begin_filter(ExplainState *es, CustomScan *node, List *ancestors, const List *spec,
			 const JoinKey *keys)
{
	int			number = list_nth_int(spec, JOIN_SPEC_NUMBER);
	bool		building = node->methods == &bloomfam_join_build_methods;
	List	   *above;
	HashJoin   *join = join_of_filter(ancestors, number, &above);
	List	   *own;
	List	   *other;
	List	   *functions = NIL;
	int			i;

	if (building)
		own = names_at_join(es->deparse_cxt, join, above, spec, false);
	else
		own = names_at_probe(es->deparse_cxt, node, ancestors, spec);
	other = names_at_join(es->deparse_cxt, join, above, spec, building);
	for (i = 0; es->verbose && keys != NULL && i < bloomfam_join_spec_ncolumns(spec); i++)
		functions = lappend(functions, OidIsValid(keys[i].function.fn_oid)
										   ? get_func_name(keys[i].function.fn_oid)
										   : "own");

	ExplainOpenGroup("Bloom Filter", NULL, true, es);
	if (is_text(es))
	{
		indent(es);
		appendStringInfo(es->str, "Bloom Filter %d: (", number);
		append_names(es->str, own);
		appendStringInfoString(es->str, ") of the join with (");
		append_names(es->str, other);
		appendStringInfoString(es->str, ")\n");
		es->indent++;
		if (functions != NIL)
			ExplainPropertyList("Hash", functions, es);
	}
	else
	{
		ExplainPropertyInteger("Number", NULL, number, es);
		ExplainPropertyList("Key", own, es);
		ExplainPropertyList("Joined With", other, es);
		if (functions != NIL)
			ExplainPropertyList("Hash", functions, es);
	}
	if (es->analyze && keys == NULL)
		ExplainPropertyText("Not Used", "bloomfam.join_filter is off", es);
}

/* The same of a filter that the query names itself. */
static void
begin_stored(ExplainState *es, CustomScanState *node, List *ancestors, const JoinStored *stored)
{
	ExplainOpenGroup("Bloom Filter", NULL, true, es);
	bloomfam_join_stored_explain(stored, node, ancestors, es);
	if (is_text(es))
		es->indent++;
}

static void
end_filter(ExplainState *es)
{
	if (is_text(es))
		es->indent--;
	ExplainCloseGroup("Bloom Filter", NULL, true, es);
}

static inline int64
in_kilobytes(Size bytes)
{
	return (bytes + 1023) / 1024;
}

/* What a filter came to while it was built; in text, after what the line begins with. */
static void
explain_built(ExplainState *es, const JoinBuildCounts *counts)
{
	double		bits_per_key = counts->keys == 0 ? 0 : counts->bytes * 8.0 / counts->keys;

	if (!is_text(es))
	{
		ExplainPropertyUInteger("Builds", NULL, counts->builds, es);
		ExplainPropertyUInteger("Given Up", NULL, counts->given_up, es);
		ExplainPropertyUInteger("Keys", NULL, counts->keys, es);
		ExplainPropertyFloat("Bits per Key", NULL, bits_per_key, 1, es);
		ExplainPropertyInteger("Size", "kB", in_kilobytes(counts->largest), es);
		ExplainPropertyInteger("Peak Memory Usage", "kB", in_kilobytes(counts->memory), es);
		return;
	}
	if (counts->builds > 1 || counts->given_up > 0)
		appendStringInfo(es->str, "Builds: " UINT64_FORMAT "  ", counts->builds);
	if (counts->given_up > 0)
		appendStringInfo(es->str, "Given Up: " UINT64_FORMAT "  ", counts->given_up);
	appendStringInfo(es->str, "Keys: " UINT64_FORMAT, counts->keys);
	if (counts->bytes > 0 && counts->keys > 0)
		appendStringInfo(es->str, "  Bits per Key: %.1f", bits_per_key);
	if (counts->largest > 0)
		appendStringInfo(es->str, "  Size: " INT64_FORMAT "kB  Memory Usage: " INT64_FORMAT "kB",
						 in_kilobytes(counts->largest), in_kilobytes(counts->memory));
	appendStringInfoChar(es->str, '\n');
}

/* What a filter did on the probe side. */
static void
explain_probed(ExplainState *es, const JoinProbeCounts *counts, bool by_pages)
{
	if (!is_text(es))
	{
		ExplainPropertyText("Probed By", by_pages ? "pages" : "rows", es);
		ExplainPropertyUInteger("Rows Probed", NULL, counts->tested, es);
		ExplainPropertyUInteger("Rows Dropped", NULL, counts->dropped, es);
		ExplainPropertyUInteger("Rows Passed Unseen", NULL, counts->passed_unseen, es);
		if (counts->fpr > 0)
			ExplainPropertyFloat("Expected FPR", NULL, counts->fpr, 6, es);
		ExplainPropertyBool("Switched Off", counts->switched_off, es);
		return;
	}
	appendStringInfo(es->str,
					 "Rows Probed: " UINT64_FORMAT " (by %s)  Dropped: " UINT64_FORMAT
					 "  Passed Unseen: " UINT64_FORMAT,
					 counts->tested, by_pages ? "pages" : "rows", counts->dropped,
					 counts->passed_unseen);
	if (counts->fpr > 0)
		appendStringInfo(es->str, "  Expected FPR: %.2f%%", counts->fpr * 100);
	if (counts->switched_off)
		appendStringInfoString(es->str, "  (switched off)");
	appendStringInfoChar(es->str, '\n');
}

/* Before and after what is said of one worker. */
static void
begin_worker(ExplainState *es, int worker)
{
	ExplainOpenGroup("Worker", NULL, true, es);
	if (is_text(es))
	{
		indent(es);
		appendStringInfo(es->str, "Worker %d:  ", worker);
	}
	else
		ExplainPropertyInteger("Worker Number", NULL, worker, es);
}

static void
end_worker(ExplainState *es)
{
	ExplainCloseGroup("Worker", NULL, true, es);
}

void
bloomfam_join_build_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	JoinBuildState *state = (JoinBuildState *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;
	int			i;

	ExplainOpenGroup("Bloom Filters", "Bloom Filters", false, es);
	begin_filter(es, plan, ancestors, linitial(plan->custom_private), state->keys);
	if (es->analyze && state->filter != NULL)
	{
		JoinBuildCounts sum = state->filter->counts;

		for (i = 0; i < state->nworkers; i++)
			bloomfam_join_build_counts_add(&sum, &state->workers[i]);
		if (!is_text(es) || sum.builds > 0 || sum.keys > 0)
		{
			if (is_text(es))
				indent(es);
			explain_built(es, &sum);
		}
		if (es->verbose && !es->hide_workers && state->nworkers > 0)
		{
			ExplainOpenGroup("Workers", "Workers", false, es);
			for (i = 0; i < state->nworkers; i++)
			{
				begin_worker(es, i);
				explain_built(es, &state->workers[i]);
				end_worker(es);
			}
			ExplainCloseGroup("Workers", "Workers", false, es);
		}
		for (i = 0; state->foreign != NULL && i < state->ncolumns; i++)
			if (state->foreign[i] != NULL)
				ExplainPropertyInteger(
					"Foreign Filter Size", "kB",
					(bloomfam_join_foreign_size(state->foreign[i]) + 1023) / 1024, es);
	}
	end_filter(es);
	ExplainCloseGroup("Bloom Filters", "Bloom Filters", false, es);
}

/* One filter of a probe node, the probe-th. */
static void
explain_probe(ExplainState *es, const JoinProbeState *state, int probe)
{
	JoinProbeCounts sum = bloomfam_join_probe_counts(&state->probes[probe]);
	bool		by_pages = state->page != NULL;
	int			i;

	for (i = 0; i < state->nworkers; i++)
		bloomfam_join_probe_counts_add(&sum, &state->workers[i * state->nprobes + probe]);
	if (!is_text(es) || sum.tested > 0 || sum.passed_unseen > 0)
	{
		if (is_text(es))
			indent(es);
		explain_probed(es, &sum, by_pages);
	}
	if (!es->verbose || es->hide_workers || state->nworkers == 0)
		return;
	ExplainOpenGroup("Workers", "Workers", false, es);
	for (i = 0; i < state->nworkers; i++)
	{
		begin_worker(es, i);
		explain_probed(es, &state->workers[i * state->nprobes + probe], by_pages);
		end_worker(es);
	}
	ExplainCloseGroup("Workers", "Workers", false, es);
}

void
bloomfam_join_probe_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	JoinProbeState *state = (JoinProbeState *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;
	int			i;

	ExplainOpenGroup("Bloom Filters", "Bloom Filters", false, es);
	for (i = 0; i < list_length(plan->custom_private); i++)
	{
		List	   *spec = list_nth(plan->custom_private, i);

		if (list_nth_int(spec, JOIN_SPEC_PARAM) == JOIN_SPEC_STORED)
			begin_stored(es, node, ancestors, state->probes[i].stored);
		else
			begin_filter(es, plan, ancestors, spec,
						 i < state->nprobes ? state->probes[i].keys : NULL);
		if (es->analyze && i < state->nprobes)
			explain_probe(es, state, i);
		end_filter(es);
	}
	ExplainCloseGroup("Bloom Filters", "Bloom Filters", false, es);
}

/* ---- decisions: the log, and EXPLAIN VERBOSE ---- */

/* Says why foreign scans do not get a filter. */
static void
append_unsent(StringInfo out, const JoinVerdict *verdict)
{
	if (verdict->unsent > 0)
		appendStringInfo(out, " It is not sent with %d of %d foreign scans: %s.", verdict->unsent,
						 verdict->foreign, verdict->unsent_reason);
}

/* Says why a key has no filter. */
static void
append_reason(StringInfo out, const JoinVerdict *verdict)
{
	switch (verdict->reason)
	{
		case JOIN_HAS_FILTER:
			break;
		case JOIN_KEEPS_ROWS:
			appendStringInfoString(
				out, "Rows of the probe side that match none are in the join's result.");
			break;
		case JOIN_KEY_IS_COMPUTED:
			appendStringInfoString(
				out,
				"The key is no plain column of the probe side, or computed by a subquery on the build side.");
			break;
		case JOIN_KEY_HAS_NO_HASH:
			appendStringInfoString(
				out, "The operator is not strict, or its family does not hash both of its types.");
			break;
		case JOIN_HAS_NO_PLACE:
			appendStringInfoString(out, "All of the probe side is scanned asynchronously.");
			append_unsent(out, verdict);
			break;
		case JOIN_PROBES_FEW_ROWS:
			appendStringInfo(
				out, "It would probe %.0f rows, fewer than bloomfam.join_filter_min_rows (%d).",
				verdict->probed, bloomfam_join_filter_min_rows);
			break;
		case JOIN_DROPS_FEW_ROWS:
			appendStringInfo(
				out,
				"It would drop %.1f%% of %.0f rows, less than bloomfam.join_filter_min_drop (%g).",
				verdict->dropped * 100, verdict->probed, bloomfam_join_filter_min_drop);
			break;
		case JOIN_COSTS_MORE:
			appendStringInfo(
				out, "It would drop %.1f%% of %.0f rows, which saves %.0f, and cost %.0f.",
				verdict->dropped * 100, verdict->probed, verdict->saved, verdict->cost);
			break;
	}
}

/* Are two keys of one filter, or without one for one reason? */
static bool
same_verdict(const JoinVerdict *a, const JoinVerdict *b)
{
	return a->reason == b->reason && a->filter == b->filter;
}

/* Was the same said of an earlier key? */
static bool
is_repeated(const JoinVerdict *verdicts, int key)
{
	int			i;

	for (i = 0; i < key; i++)
		if (same_verdict(&verdicts[i], &verdicts[key]))
			return true;
	return false;
}

/* Says what was decided about one key, or several that are named. */
static void
append_verdict(StringInfo out, const JoinVerdict *verdict, List *names)
{
	bool		filtered = verdict->reason == JOIN_HAS_FILTER;

	if (filtered)
		appendStringInfo(out, "Filter %d", verdict->filter);
	else
		appendStringInfoString(out, "No filter");
	if (names != NIL)
	{
		appendStringInfoString(out, " (");
		append_names(out, names);
		appendStringInfoChar(out, ')');
	}
	if (filtered)
	{
		appendStringInfo(out, " is expected to drop %.1f%% of %.0f rows.", verdict->dropped * 100,
						 verdict->probed);
		append_unsent(out, verdict);
	}
	else
	{
		appendStringInfoString(out, ". ");
		append_reason(out, verdict);
	}
}

static void
log_decision(const JoinDecision *decision, List *context)
{
	HashJoin   *join = decision->join;
	const JoinVerdict *verdicts = decision->verdicts;
	int			nkeys = list_length(join->hashkeys);
	char	   *condition;
	StringInfoData filters;
	StringInfoData detail;
	int			nfilters = 0;
	int			i;
	int			k;

	context = set_deparse_context_plan(context, &join->join.plan, decision->ancestors);
	condition =
		deparse_expression((Node *) make_ands_explicit(join->hashclauses), context, true, false);
	initStringInfo(&filters);
	initStringInfo(&detail);
	for (i = 0; i < nkeys; i++)
	{
		List	   *keys = NIL;

		if (is_repeated(verdicts, i))
			continue;
		for (k = i; k < nkeys; k++)
			if (same_verdict(&verdicts[k], &verdicts[i]))
				keys = lappend(
					keys, deparse_expression(list_nth(join->hashkeys, k), context, true, false));

		if (detail.len > 0)
			appendStringInfoChar(&detail, ' ');
		if (verdicts[i].reason == JOIN_HAS_FILTER)
			appendStringInfo(&filters, "%s%d", nfilters++ > 0 ? ", " : "", verdicts[i].filter);
		if (verdicts[i].reason != JOIN_HAS_FILTER && list_length(keys) == nkeys)
			append_reason(&detail, &verdicts[i]);
		else
			append_verdict(&detail, &verdicts[i], keys);
	}

	if (nfilters > 0)
		ereport(LOG,
				errmsg_plural("bloom filter %s for the hash join on %s",
							  "bloom filters %s for the hash join on %s", nfilters, filters.data,
							  condition),
				errdetail_internal("%s", detail.data));
	else
		ereport(LOG,
				errmsg("no bloom filter for the hash join on %s", condition),
				errdetail_internal("%s", detail.data));
}

void
bloomfam_join_log(PlannedStmt *stmt, List *decisions)
{
	List *names = select_rtable_names_for_explain(
		stmt->rtable, bms_add_range(NULL, 1, list_length(stmt->rtable)));
	List	   *context = deparse_context_for_plan_tree(stmt, names);
	ListCell   *lc;

	foreach(lc, decisions)
		log_decision(lfirst(lc), context);
}

static void
explain_verdict(ExplainState *es, const char *condition, const JoinVerdict *verdict)
{
	StringInfoData text;

	initStringInfo(&text);
	append_verdict(&text, verdict, NIL);
	ExplainOpenGroup("Join Filter", NULL, true, es);
	if (is_text(es))
	{
		indent(es);
		appendStringInfo(es->str, "%s: %s\n", condition, text.data);
	}
	else
	{
		ExplainPropertyText("Hash Cond", condition, es);
		ExplainPropertyText("Decision", text.data, es);
	}
	ExplainCloseGroup("Join Filter", NULL, true, es);
}

void
bloomfam_join_explain_decisions(List *decisions, ExplainState *es)
{
	ListCell   *ld;
	ListCell   *lc;

	if (decisions == NIL)
		return;
	ExplainOpenGroup("Join Filters", "Join Filters", false, es);
	if (is_text(es))
	{
		indent(es);
		appendStringInfoString(es->str, "Join Filters:\n");
		es->indent++;
	}
	foreach(ld, decisions)
	{
		const JoinDecision *decision = lfirst(ld);
		List *context = set_deparse_context_plan(es->deparse_cxt, &decision->join->join.plan,
												 decision->ancestors);

		/* a condition for each key, in their order */
		foreach(lc, decision->join->hashclauses)
			explain_verdict(es, deparse_expression(lfirst(lc), context, true, false),
							&decision->verdicts[foreach_current_index(lc)]);
	}
	if (is_text(es))
		es->indent--;
	ExplainCloseGroup("Join Filters", "Join Filters", false, es);
}
