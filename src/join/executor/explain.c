/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * explain.c
 *	  Shows the join filter's nodes in EXPLAIN.
 *
 * A filter is named by its number and by the columns of the join's key that it uses: first the
 * columns of the node's own side, by the names that the node has for them, then those of the other
 * side, by the names that the join has.  The join is looked up among the node's ancestors, so the
 * plan needs no copy of the join's key.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/instrument.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "pg/explain_text.h"
#include "join/executor/node.h"
#include "pg/plan_nodes.h"

/* ---- names of filters ---- */

/*
 * Returns the join whose build side a filter is made from, and sets *above to the plan nodes above
 * the join.  The join is an ancestor of each node that has the filter, except of nodes in a CTE.
 * Returns NULL if it is not among the given ancestors.
 */
static Join *
join_of_filter(List *ancestors, int number, List **above)
{
	ListCell   *lc;

	foreach(lc, ancestors)
	{
		Plan	   *plan = NULL;

		if (IsA(lfirst(lc), HashJoin))
			plan = outerPlan(innerPlan(lfirst(lc)));
		else if (IsA(lfirst(lc), MergeJoin))
			plan = outerPlan(outerPlan(lfirst(lc)));
		/* The build nodes of several filters of the join may be on top of each other. */
		for (; plan != NULL && bloomfam_join_node_kind(plan) == JOIN_NODE_BUILD;
			 plan = outerPlan(plan))
			if (bloomfam_join_has_filter((CustomScan *) plan, number))
			{
				*above = list_copy_tail(ancestors, foreach_current_index(lc) + 1);
				return lfirst(lc);
			}
	}
	return NULL;
}

/* The state of searching the whole plan for the join of a filter. */
typedef struct JoinSearch
{
	int			number;			/* The number of the filter whose join is searched for. */

	/* List of the plan nodes from the current one upwards, the nearest first. */
	List	   *ancestors;
	Join	   *found;
	List	   *above;			/* List of the plan nodes above the join in "found". */
} JoinSearch;

static bool
search_join(Plan **slot, void *context)
{
	JoinSearch *search = context;
	bool		found;

	search->ancestors = lcons(*slot, search->ancestors);
	search->found = join_of_filter(search->ancestors, search->number, &search->above);
	found = search->found != NULL || bloomfam_plan_walker(*slot, search_join, search);
	search->ancestors = list_delete_first(search->ancestors);
	return found;
}

/*
 * Returns the join of a filter, searching the whole plan.  Needed for a filter that is probed in a
 * CTE, whose nodes do not have the join among their ancestors.
 */
static Join *
join_in_plan(PlannedStmt *stmt, int number, List **above)
{
	JoinSearch	search = {.number = number};

	if (!bloomfam_plan_stmt_walker(stmt, search_join, &search))
		elog(ERROR, "join of filter %d not found", number);
	*above = search.above;
	return search.found;
}

/*
 * Returns the names, as a list of strings, of the columns of a filter's key at a plan node: the
 * filter's join, the Hash below it, or a probe node.  A merge join has the columns of both sides;
 * "built" chooses the build side's.
 */
static List *
names_at(Plan *plan, List *ancestors, const JoinFilterInfo *info, bool built,
		 const ExplainState *es)
{
	List	   *context = set_deparse_context_plan(es->deparse_cxt, plan, ancestors);
	List	   *names = NIL;
	int			i;

	for (i = 0; i < info->ncolumns; i++)
	{
		const JoinColumnInfo *column = &info->columns[i];
		Node	   *key;

		if (IsA(plan, HashJoin))
			key = list_nth(((HashJoin *) plan)->hashkeys, column->hash_key);
		else if (IsA(plan, Hash))
			key = list_nth(((Hash *) plan)->hashkeys, column->hash_key);
		else if (IsA(plan, MergeJoin))
			key = list_nth(((OpExpr *) list_nth(((MergeJoin *) plan)->mergeclauses,
												column->hash_key))->args, built ? 0 : 1);
		else
			key = list_nth(((CustomScan *) plan)->custom_scan_tlist, column->attribute - 1);
		if (IsA(key, TargetEntry))
			key = (Node *) ((TargetEntry *) key)->expr;
		names = lappend(names, deparse_expression(key, context, true, false));
	}
	return names;
}

/* ---- what is shown of one filter ---- */

/* Shows the number and the key of a join's filter. */
static void
explain_key(ExplainState *es, CustomScan *node, List *ancestors, const JoinFilterInfo *info)
{
	List	   *above;
	Join	   *join = join_of_filter(ancestors, info->number, &above);
	bool		building = bloomfam_join_node_kind(&node->scan.plan) == JOIN_NODE_BUILD;
	Plan	   *build_parent;
	List	   *at_keeper;
	List	   *built;
	List	   *own;
	List	   *other;

	if (join == NULL)
		join = join_in_plan(es->pstmt, info->number, &above);
	build_parent = IsA(join, HashJoin) ? innerPlan(join) : &join->plan;
	at_keeper = IsA(join, HashJoin) ? lcons(join, list_copy(above)) : above;
	built = names_at(build_parent, at_keeper, info, true, es);
	own = building ? built : names_at(&node->scan.plan, ancestors, info, false, es);
	other = building ? names_at(&join->plan, above, info, false, es) : built;

	if (!is_text(es))
	{
		ExplainPropertyInteger("Number", NULL, info->number, es);
		ExplainPropertyList("Key", own, es);
		ExplainPropertyList("Joined With", other, es);
		return;
	}
	indent(es);
	appendStringInfo(es->str, "Bloom Filter %d: (", info->number);
	append_names(es->str, own);
	appendStringInfoString(es->str, ") of the join with (");
	append_names(es->str, other);
	appendStringInfoString(es->str, ")\n");
}

/*
 * Begins the output for one filter, which is a join's or one that the query names.  With VERBOSE,
 * shows the functions by which a join's key is hashed.  "keys" says how the key is hashed; it is
 * NULL if this process does not use the filter.
 */
static void
begin_filter(ExplainState *es, CustomScan *node, List *ancestors, const JoinFilterInfo *info,
			 const JoinKey *keys)
{
	List	   *functions = NIL;
	int			i;

	ExplainOpenGroup("Bloom Filter", NULL, true, es);
	if (info->kind == JOIN_INFO_STORED)
	{
		/*
		 * InitPlans that the condition refers to may still belong to the scan that it was taken
		 * from.
		 */
		List	   *plans = lappend(list_copy(ancestors), outerPlan(&node->scan.plan));
		List	   *context = set_deparse_context_plan(es->deparse_cxt, &node->scan.plan, plans);
		Node	   *condition = list_nth(node->custom_exprs, info->condition);

		ExplainPropertyText("Stored Filter",
							deparse_expression(condition, context, es->verbose, false), es);
	}
	else
		explain_key(es, node, ancestors, info);
	if (is_text(es))
		es->indent++;
	for (i = 0; es->verbose && keys != NULL && i < info->ncolumns; i++)
		functions = lappend(functions, OidIsValid(keys[i].function.fn_oid)
										   ? get_func_name(keys[i].function.fn_oid) : "own");
	if (functions != NIL)
		ExplainPropertyList("Hash", functions, es);
	if (es->analyze && keys == NULL)
		ExplainPropertyText("Not Used", "bloomfam.join_filter is off", es);
}

static void
end_filter(ExplainState *es)
{
	if (is_text(es))
		es->indent--;
	ExplainCloseGroup("Bloom Filter", NULL, true, es);
}

/* ---- what is shown of the processes' counts ---- */

static inline int64
in_kilobytes(Size bytes)
{
	return (bytes + 1023) / 1024;
}

/* Shows one count; in text format as part of the current line, and only if in_text is true. */
static void
explain_count(ExplainState *es, const char *label, uint64 count, bool in_text)
{
	if (!is_text(es))
		ExplainPropertyUInteger(label, NULL, count, es);
	else if (in_text)
		appendStringInfo(es->str, "%s%s: " UINT64_FORMAT,
						 es->str->data[es->str->len - 1] == ' ' ? "" : "  ", label, count);
}

/* Shows what was counted while a filter was built; in text format, completes the current line. */
static void
explain_built(ExplainState *es, const JoinBuildCounts *counts)
{
	explain_count(es, "Builds", counts->builds, counts->builds > 1 || counts->discarded > 0);
	explain_count(es, "Discarded", counts->discarded, counts->discarded > 0);
	explain_count(es, "Bitmaps", counts->bitmaps, counts->bitmaps > 0);
	explain_count(es, "Ranges", counts->ranges, counts->ranges > 0);
	explain_count(es, "Keys", counts->keys, true);
	if (!is_text(es))
	{
		ExplainPropertyInteger("Size", "kB", in_kilobytes(counts->largest), es);
		ExplainPropertyInteger("Peak Memory Usage", "kB", in_kilobytes(counts->memory), es);
		return;
	}
	if (counts->largest > 0)
		appendStringInfo(es->str, "  Size: " INT64_FORMAT "kB  Memory Usage: " INT64_FORMAT "kB",
						 in_kilobytes(counts->largest), in_kilobytes(counts->memory));
	appendStringInfoChar(es->str, '\n');
}

/*
 * Shows what was counted while a filter was probed.  The counts are sums over all loops, unlike the
 * rows beside them, which the server divides by the loops: with "in_loops", the text says so.
 */
static void
explain_probed(ExplainState *es, const JoinProbeCounts *counts, const JoinProbe *probe,
			   bool in_loops)
{
	const char *how = probe->access == JOIN_ROW_BY_ROW ? "row by row" : "in page batches";
	JoinForeignGot foreign = bloomfam_join_node_foreign_got(probe);

	if (!is_text(es))
		ExplainPropertyText("Probed", how, es);
	explain_count(es, "Rows Probed", counts->tested, true);
	if (is_text(es))
		appendStringInfo(es->str, " (%s%s)", how, in_loops ? ", in all loops" : "");
	explain_count(es, "Rows Removed", counts->removed, true);
	explain_count(es, "Rows Not Checked", counts->not_checked, true);
	if (!is_text(es))
	{
		ExplainPropertyBool("Disabled", counts->disabled, es);
		if (foreign != JOIN_FOREIGN_GOT_NOTHING)
			ExplainPropertyBool("Filtered by Foreign Server", true, es);
		return;
	}
	if (foreign == JOIN_FOREIGN_GOT_KEYS)
		appendStringInfoString(es->str, "  (filtered by the foreign server)");
	else if (foreign == JOIN_FOREIGN_GOT_BOUNDS)
		appendStringInfoString(es->str, "  (filtered by the foreign server, by bounds only)");
	else if (counts->disabled)
		appendStringInfoString(es->str, "  (disabled)");
	appendStringInfoChar(es->str, '\n');
}

/*
 * With VERBOSE, shows what each worker counted of a build node's filter (probe is NULL), or of one
 * filter of a probe node.
 */
static void
explain_workers(ExplainState *es, const JoinParallel *parallel, const JoinProbe *probe)
{
	int			filter = probe != NULL ? probe - probe->node->probes : 0;
	int			i;

	if (!es->verbose || es->hide_workers || parallel->nworkers == 0)
		return;
	ExplainOpenGroup("Workers", "Workers", false, es);
	for (i = 0; i < parallel->nworkers; i++)
	{
		const JoinCounts *counts = &parallel->counts[i * parallel->nfilters + filter];

		ExplainOpenGroup("Worker", NULL, true, es);
		if (is_text(es))
		{
			indent(es);
			appendStringInfo(es->str, "Worker %d:  ", i);
		}
		else
			ExplainPropertyInteger("Worker Number", NULL, i, es);
		if (probe == NULL)
			explain_built(es, &counts->build);
		else
			explain_probed(es, &counts->probe, probe, false);
		ExplainCloseGroup("Worker", NULL, true, es);
	}
	ExplainCloseGroup("Workers", "Workers", false, es);
}

/*
 * Shows how many of all partitions or pages were not read; in text format, followed by the text
 * "more".
 */
static void
explain_skipped(ExplainState *es, const char *what, uint64 skipped, uint64 all, const char *more)
{
	char	   *label = psprintf("%s Skipped", what);

	if (is_text(es))
		ExplainPropertyText(
			label, psprintf(UINT64_FORMAT " of " UINT64_FORMAT "%s", skipped, all, more), es);
	else
	{
		ExplainPropertyUInteger(what, NULL, all, es);
		ExplainPropertyUInteger(label, NULL, skipped, es);
	}
}

/* ---- what is shown of skipped partitions ---- */

/*
 * Shows how many partitions were not read.  With a single build, each partition counts once, as
 * skipped if each of its scans was skipped; with several builds, it counts each time that it could
 * have been read.  With VERBOSE, also shows why partitions were read, except where their bounds
 * have room for the keys.  If there were no keys, no reason is shown, as the join has read no more
 * than it had to.
 */
static void
explain_partitions(ExplainState *es, const JoinFilter *filter, const JoinBuildCounts *built)
{
	bool		several_builds = built->builds > 1;
	uint64		partitions = 0;
	uint64		skipped = 0;
	int			read[JOIN_REASONS] = {0};
	StringInfoData reasons;
	ListCell   *lc;
	int			i;

	foreach(lc, filter->group != NULL ? filter->group->probes : NIL)
	{
		JoinProbeCounts sum = bloomfam_join_probe_sum(lfirst(lc));

		partitions += several_builds ? sum.scans : 1;
		skipped += several_builds ? sum.skipped : sum.scans > 0 && sum.skipped == sum.scans;
		if (sum.skipped < sum.scans)
			read[sum.partition]++;
	}
	if (partitions == 0)
		return;
	explain_skipped(es, "Partitions", skipped, partitions, "");
	initStringInfo(&reasons);
	for (i = 0; i < JOIN_REASONS && es->verbose && built->keys > 0; i++)
		if (read[i] > 0 && bloomfam_join_reason_texts[i] != NULL)
			appendStringInfo(&reasons, "%s%s (%d)", reasons.len > 0 ? ", " : "",
							 bloomfam_join_reason_texts[i], read[i]);
	if (reasons.len > 0)
		ExplainPropertyText("Partitions Not Skipped", reasons.data, es);
}

/* ---- what is shown of skipped pages ---- */

/*
 * Shows how many pages were not read, of those of tables whose index was searched; or the reason
 * why none was left out.
 */
static void
explain_pages(ExplainState *es, const JoinProbeCounts *counts)
{
	const char *index = OidIsValid(counts->index) ? get_rel_name(counts->index) : NULL;
	const char *more = is_text(es) && index != NULL ? psprintf("  (%s)", index) : "";
	const char *reason = bloomfam_join_reason_texts[counts->blocks];

	if (!is_text(es) && index != NULL)
		ExplainPropertyText("Index Searched", index, es);
	if (counts->pages > 0)
		explain_skipped(es, "Pages", counts->pages_skipped, counts->pages, more);
	else if (reason != NULL)
		ExplainPropertyText("Pages Not Skipped", psprintf("%s%s", reason, more), es);
}

/* ---- what is shown of foreign servers ---- */

/* Shows what the foreign scans of a filter were sent in the last build. */
static void
explain_sent(ExplainState *es, const JoinForeign *foreign)
{
	JoinSent	sent = bloomfam_join_foreign_sent(foreign);
	const char *reason = NULL;
	List	   *parts = NIL;
	StringInfoData text;

	if (bloomfam_join_foreign_may_send(foreign, JOIN_SEND_KEYS) && !sent.keys)
		reason = bloomfam_join_reason_texts[sent.no_list];
	if (!is_text(es))
	{
		if (sent.keys)
			ExplainPropertyInteger("Foreign Keys Sent", NULL, sent.nkeys, es);
		ExplainPropertyBool("Foreign Bounds Sent", sent.bounds, es);
		ExplainPropertyInteger("Foreign Filter Size", "kB", in_kilobytes(sent.filter), es);
		if (reason != NULL)
			ExplainPropertyText("Foreign Keys Not Sent", reason, es);
		return;
	}
	if (sent.keys)
		parts = lappend(parts, psprintf("%d keys", sent.nkeys));
	if (sent.bounds)
		parts = lappend(parts, "bounds");
	if (sent.filter > 0)
		parts = lappend(parts, psprintf("a filter of " INT64_FORMAT " kB",
										in_kilobytes(sent.filter)));
	if (parts == NIL)
		parts = list_make1("nothing");
	initStringInfo(&text);
	append_names(&text, parts);
	if (reason != NULL)
		appendStringInfo(&text, "  (%s)", reason);
	ExplainPropertyText("Sent to Foreign Servers", text.data, es);
}

/* ---- build and probe nodes ---- */

void
bloomfam_join_build_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	JoinBuildState *state = (JoinBuildState *) node;
	const char *reason = bloomfam_join_reason_texts[state->info->not_skipped];
	int			i;

	ExplainOpenGroup("Bloom Filters", "Bloom Filters", false, es);
	begin_filter(es, (CustomScan *) node->ss.ps.plan, ancestors, state->info, state->keys);
	if (es->analyze && state->filter != NULL)
	{
		JoinBuildCounts sum = bloomfam_join_build_sum(state);

		if (!is_text(es) || sum.builds > 0 || sum.keys > 0)
		{
			if (is_text(es))
				indent(es);
			explain_built(es, &sum);
		}
		explain_workers(es, &state->parallel, NULL);
		for (i = 0; i < state->info->ncolumns; i++)
			if (state->foreign_of[i] != NULL)
				explain_sent(es, state->foreign_of[i]);
		explain_partitions(es, state->filter, &sum);
	}
	if (es->verbose && reason != NULL)
		ExplainPropertyText("Partitions Not Skipped", reason, es);
	end_filter(es);
	ExplainCloseGroup("Bloom Filters", "Bloom Filters", false, es);
}

/* Shows what one filter of a probe node did. */
static void
explain_probe(ExplainState *es, JoinProbe *probe)
{
	JoinProbeCounts sum = bloomfam_join_probe_sum(probe);
	const PlanState *state = &probe->node->css.ss.ps;

	if (!is_text(es) || sum.tested > 0 || sum.not_checked > 0)
	{
		if (is_text(es))
			indent(es);
		explain_probed(es, &sum, probe,
					   state->instrument != NULL && state->instrument->nloops > 1);
	}
	explain_pages(es, &sum);
	explain_workers(es, &probe->node->parallel, probe);
}

void
bloomfam_join_probe_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	JoinProbeState *state = (JoinProbeState *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;
	int			i;

	ExplainOpenGroup("Bloom Filters", "Bloom Filters", false, es);
	for (i = 0; i < bloomfam_join_nfilters(plan); i++)
	{
		int			f = i < state->nprobes ? state->order->decided[i] : i;
		JoinProbe  *probe = f < state->nprobes ? &state->probes[f] : NULL;
		List	   *indexes = NIL;
		ListCell   *lc;

		begin_filter(es, plan, ancestors, &state->infos[f], probe != NULL ? probe->keys : NULL);
		if (probe != NULL && es->analyze && probe->info->access != JOIN_NO_ROWS)
			explain_probe(es, probe);
		else if (probe != NULL && probe->blocks != NULL)
			foreach(lc, bloomfam_join_block_pruning_indexes(probe->blocks))
				indexes = lappend(indexes, get_rel_name(lfirst_oid(lc)));
		if (indexes != NIL)
			ExplainPropertyList("May Skip Pages By", indexes, es);
		end_filter(es);
	}
	ExplainCloseGroup("Bloom Filters", "Bloom Filters", false, es);
}
