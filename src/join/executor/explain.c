/*-------------------------------------------------------------------------
 *
 * explain.c
 *	  What EXPLAIN says of the join filter's nodes.
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

#include "join/base/explain_text.h"
#include "join/executor/explain.h"
#include "join/executor/partition_pruning.h"
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

	for (; plan != NULL && bloomfam_join_node_kind(plan) == JOIN_NODE_BUILD;
		 plan = outerPlan(plan))
		if (bloomfam_join_has_filter((CustomScan *) plan, number))
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
names_at_join(List *context, HashJoin *join, List *above, const JoinFilterInfo *info, bool outer)
{
	Plan	   *hash = innerPlan(join);
	List	   *names = NIL;
	int			i;

	if (outer)
		context = set_deparse_context_plan(context, &join->join.plan, above);
	else
		context = set_deparse_context_plan(context, hash, lcons(join, list_copy(above)));
	for (i = 0; i < info->ncolumns; i++)
	{
		List	   *keys = outer ? join->hashkeys : ((Hash *) hash)->hashkeys;
		Node	   *key = list_nth(keys, info->columns[i].hash_key);

		names = lappend(names, deparse_expression(key, context, true, false));
	}
	return names;
}

/* The same as they are called at a probe node. */
static List *
names_at_probe(List *context, CustomScan *node, List *ancestors, const JoinFilterInfo *info)
{
	List	   *names = NIL;
	int			i;

	context = set_deparse_context_plan(context, &node->scan.plan, ancestors);
	for (i = 0; i < info->ncolumns; i++)
	{
		TargetEntry *entry = list_nth(
			node->custom_scan_tlist, info->columns[i].attribute - 1);

		names = lappend(names, deparse_expression((Node *) entry->expr, context, true, false));
	}
	return names;
}

/* ---- EXPLAIN ---- */

/*
 * Opens what is said of one filter: its number, its key, and with VERBOSE how that is hashed.
 * keys NULL: this process does not use it.
 */
static void
begin_filter(ExplainState *es, CustomScan *node, List *ancestors, const JoinFilterInfo *info,
			 const JoinKey *keys)
{
	int			number = info->number;
	bool		building = bloomfam_join_node_kind(&node->scan.plan) == JOIN_NODE_BUILD;
	List	   *above;
	HashJoin   *join = join_of_filter(ancestors, number, &above);
	List	   *own;
	List	   *other;
	List	   *functions = NIL;
	int			i;

	if (building)
		own = names_at_join(es->deparse_cxt, join, above, info, false);
	else
		own = names_at_probe(es->deparse_cxt, node, ancestors, info);
	other = names_at_join(es->deparse_cxt, join, above, info, building);
	for (i = 0; es->verbose && keys != NULL && i < info->ncolumns; i++)
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
	List	   *context = set_deparse_context_plan(es->deparse_cxt, node->ss.ps.plan, ancestors);

	ExplainOpenGroup("Bloom Filter", NULL, true, es);
	ExplainPropertyText("Stored Filter",
						deparse_expression(stored->condition, context, es->verbose, false), es);
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
		ExplainPropertyUInteger("Discarded", NULL, counts->discarded, es);
		ExplainPropertyUInteger("Bitmaps", NULL, counts->bitmaps, es);
		ExplainPropertyUInteger("Ranges", NULL, counts->ranges, es);
		ExplainPropertyUInteger("Keys", NULL, counts->keys, es);
		ExplainPropertyFloat("Bits per Key", NULL, bits_per_key, 1, es);
		ExplainPropertyInteger("Size", "kB", in_kilobytes(counts->largest), es);
		ExplainPropertyInteger("Peak Memory Usage", "kB", in_kilobytes(counts->memory), es);
		return;
	}
	if (counts->builds > 1 || counts->discarded > 0)
		appendStringInfo(es->str, "Builds: " UINT64_FORMAT "  ", counts->builds);
	if (counts->discarded > 0)
		appendStringInfo(es->str, "Discarded: " UINT64_FORMAT "  ", counts->discarded);
	if (counts->bitmaps > 0)
		appendStringInfo(es->str, "Bitmaps: " UINT64_FORMAT "  ", counts->bitmaps);
	if (counts->ranges > 0)
		appendStringInfo(es->str, "Ranges: " UINT64_FORMAT "  ", counts->ranges);
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
explain_probed(ExplainState *es, const JoinProbeCounts *counts, JoinAccess access, bool foreign)
{
	const char *how = access == JOIN_ROW_BY_ROW ? "row by row" : "in page batches";

	if (!is_text(es))
	{
		ExplainPropertyText("Probed", how, es);
		ExplainPropertyUInteger("Rows Probed", NULL, counts->tested, es);
		ExplainPropertyUInteger("Rows Removed", NULL, counts->removed, es);
		ExplainPropertyUInteger("Rows Not Checked", NULL, counts->not_checked, es);
		if (counts->fpr > 0)
			ExplainPropertyFloat("Expected FPR", NULL, counts->fpr, 6, es);
		ExplainPropertyBool("Disabled", counts->disabled, es);
		if (foreign)
			ExplainPropertyBool("Filtered by Foreign Server", true, es);
		return;
	}
	appendStringInfo(es->str,
					 "Rows Probed: " UINT64_FORMAT " (%s)  Rows Removed: " UINT64_FORMAT
					 "  Rows Not Checked: " UINT64_FORMAT,
					 counts->tested, how, counts->removed, counts->not_checked);
	if (counts->fpr > 0)
		appendStringInfo(es->str, "  Expected FPR: %.2f%%", counts->fpr * 100);
	if (foreign)
		appendStringInfoString(es->str, "  (filtered by the foreign server)");
	else if (counts->disabled)
		appendStringInfoString(es->str, "  (disabled)");
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

/* Why no partition can be skipped; NULL: there are none, or some can be. */
static const char *
reason_against_skipping(JoinSkip skip)
{
	switch (skip)
	{
		case JOIN_SKIP_NOTHING:
		case JOIN_SKIP_PARTITIONS:
			return NULL;
		case JOIN_SKIP_OTHER_KEY:
			return "they are not made by a column of the key";
		case JOIN_SKIP_OTHER_EQUALITY:
			return "they are not made by the equality of the join";
		case JOIN_SKIP_OTHER_TYPE:
			return "keys of this type are not kept";
		case JOIN_SKIP_PART_OF_HASH:
			return "they are made by hashes of more columns than the key has";
		case JOIN_SKIP_VOLATILE:
			return "volatile functions would be called less often";
	}
	return NULL;
}

/* Why a partition is read, or pages, that are known not to match. */
static const char in_part[] = "below an aggregate only a bitmap skips any";

/* Why a partition was read; NULL: it has keys of the build side, as far as its bounds tell. */
static const char *
reason_for_reading(JoinPartitionAnswer answer)
{
	switch (answer)
	{
		case JOIN_PARTITION_CANNOT_MATCH:
		case JOIN_PARTITION_CAN_MATCH:
			return NULL;
		case JOIN_PARTITION_NOT_YET:
			return "the keys were not known in time";
		case JOIN_PARTITION_UNKNOWN:
			return "the keys are not known";
		case JOIN_PARTITION_MANY_KEYS:
			return "there are too many keys to look up each";
		case JOIN_PARTITION_NEW:
			return "it is newer than the query's snapshot";
		case JOIN_PARTITION_IN_PART:
			return in_part;
	}
	return NULL;
}

/*
 * How many partitions were not read.  Each that was begun nowhere counts once; of several builds,
 * each time that one could have been begun.  And why others were, if not for their keys: without
 * any, the join has read no more than it had to.
 */
static void
explain_skipped(ExplainState *es, const JoinFilter *filter, const JoinBuildCounts *built)
{
	bool		several_builds = built->builds > 1;
	uint64		partitions = 0;
	uint64		skipped = 0;
	int			read[JOIN_PARTITION_ANSWERS] = {0};
	StringInfoData reasons;
	ListCell   *lc;
	int			i;

	foreach(lc, filter->probe_nodes)
	{
		const JoinProbeState *node = lfirst(lc);
		JoinProbeCounts sum = {0};

		for (i = 0; i < node->nprobes; i++)
			if (node->probes[i].filter == filter)
			{
				JoinProbeCounts counts = bloomfam_join_probe_sum(node, i);

				bloomfam_join_probe_counts_add(&sum, &counts);
			}
		partitions += several_builds ? sum.scans : 1;
		skipped += several_builds ? sum.skipped : sum.scans > 0 && sum.skipped == sum.scans;
		if (sum.skipped < sum.scans)
			read[sum.partition]++;
	}
	if (partitions == 0)
		return;
	if (is_text(es))
	{
		indent(es);
		appendStringInfo(es->str, "Partitions Skipped: " UINT64_FORMAT " of " UINT64_FORMAT "\n",
						 skipped, partitions);
	}
	else
	{
		ExplainPropertyUInteger("Partitions", NULL, partitions, es);
		ExplainPropertyUInteger("Partitions Skipped", NULL, skipped, es);
	}
	initStringInfo(&reasons);
	for (i = 0; i < JOIN_PARTITION_ANSWERS && es->verbose && built->keys > 0; i++)
		if (read[i] > 0 && reason_for_reading(i) != NULL)
			appendStringInfo(&reasons, "%s%s (%d)", reasons.len > 0 ? ", " : "",
							 reason_for_reading(i), read[i]);
	if (reasons.len > 0)
		ExplainPropertyText("Partitions Not Skipped", reasons.data, es);
}

void
bloomfam_join_build_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	JoinBuildState *state = (JoinBuildState *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;
	int			i;

	ExplainOpenGroup("Bloom Filters", "Bloom Filters", false, es);
	begin_filter(es, plan, ancestors, state->info, state->keys);
	if (es->analyze && state->filter != NULL)
	{
		JoinBuildCounts sum = bloomfam_join_build_sum(state);

		if (!is_text(es) || sum.builds > 0 || sum.keys > 0)
		{
			if (is_text(es))
				indent(es);
			explain_built(es, &sum);
		}
		if (es->verbose && !es->hide_workers && state->parallel.nworkers > 0)
		{
			ExplainOpenGroup("Workers", "Workers", false, es);
			for (i = 0; i < state->parallel.nworkers; i++)
			{
				begin_worker(es, i);
				explain_built(es, &state->parallel.counts[i].build);
				end_worker(es);
			}
			ExplainCloseGroup("Workers", "Workers", false, es);
		}
		for (i = 0; state->foreign != NULL && i < state->info->ncolumns; i++)
			if (state->foreign[i] != NULL)
				ExplainPropertyInteger(
					"Foreign Filter Size", "kB",
					(bloomfam_join_foreign_size(state->foreign[i]) + 1023) / 1024, es);
		explain_skipped(es, state->filter, &sum);
	}
	if (es->verbose && reason_against_skipping(state->info->skip) != NULL)
		ExplainPropertyText("Partitions Not Skipped", reason_against_skipping(state->info->skip),
							es);
	end_filter(es);
	ExplainCloseGroup("Bloom Filters", "Bloom Filters", false, es);
}

/* The indexes that can tell in which pages of the scanned table rows can match. */
static void
explain_indexes(ExplainState *es, const JoinProbeState *state, const JoinBlockPruning *blocks)
{
	Relation	table = ((ScanState *) outerPlanState(state))->ss_currentRelation;
	List	   *names = NIL;
	ListCell   *lc;

	foreach(lc, bloomfam_join_block_pruning_indexes(blocks, table))
		names = lappend(names, get_rel_name(lfirst_oid(lc)));
	if (names != NIL)
		ExplainPropertyList("May Skip Pages By", names, es);
}

/* Why all pages are read; NULL: not all are. */
static const char *
reason_against_leaving_out(JoinBlocksPhase phase)
{
	switch (phase)
	{
		case JOIN_BLOCKS_NOT_YET:
		case JOIN_BLOCKS_FOUND:
			return NULL;
		case JOIN_BLOCKS_LATE:
			return "the keys were not known in time";
		case JOIN_BLOCKS_IN_PART:
			return in_part;
		case JOIN_BLOCKS_UNKNOWN:
			return "the keys are not known";
		case JOIN_BLOCKS_NO_INDEX:
			return "no index can be used now";
		case JOIN_BLOCKS_COSTLY:
			return "looking for them would take too long";
		case JOIN_BLOCKS_MANY:
			return "too many can match";
	}
	return NULL;
}

/* How many pages were not read, of those that an index was asked for, or why none. */
static void
explain_pages(ExplainState *es, const JoinProbeCounts *counts)
{
	const char *index = OidIsValid(counts->index) ? get_rel_name(counts->index) : NULL;
	const char *reason = reason_against_leaving_out((JoinBlocksPhase) counts->blocks);

	if (!is_text(es))
	{
		if (index != NULL)
			ExplainPropertyText("Index Searched", index, es);
		if (counts->pages > 0)
		{
			ExplainPropertyUInteger("Pages", NULL, counts->pages, es);
			ExplainPropertyUInteger("Pages Skipped", NULL, counts->pages_skipped, es);
		}
		else if (reason != NULL)
			ExplainPropertyText("Pages Not Skipped", reason, es);
		return;
	}
	if (counts->pages == 0 && reason == NULL)
		return;
	indent(es);
	if (counts->pages > 0)
		appendStringInfo(es->str, "Pages Skipped: " UINT64_FORMAT " of " UINT64_FORMAT,
						 counts->pages_skipped, counts->pages);
	else
		appendStringInfo(es->str, "Pages Not Skipped: %s", reason);
	if (index != NULL)
		appendStringInfo(es->str, "  (%s)", index);
	appendStringInfoChar(es->str, '\n');
}

/* One filter of a probe node, the probe-th. */
static void
explain_probe(ExplainState *es, const JoinProbeState *state, int probe)
{
	JoinProbeCounts sum;
	JoinAccess	access = state->probes[probe].access;
	bool		foreign = bloomfam_join_node_was_foreign(state, probe);
	int			i;

	bloomfam_join_probe_note_fpr(&state->probes[probe]);
	sum = bloomfam_join_probe_sum(state, probe);
	if (!is_text(es) || sum.tested > 0 || sum.not_checked > 0)
	{
		if (is_text(es))
			indent(es);
		explain_probed(es, &sum, access, foreign);
	}
	explain_pages(es, &sum);
	if (!es->verbose || es->hide_workers || state->parallel.nworkers == 0)
		return;
	ExplainOpenGroup("Workers", "Workers", false, es);
	for (i = 0; i < state->parallel.nworkers; i++)
	{
		begin_worker(es, i);
		explain_probed(es, &state->parallel.counts[i * state->nprobes + probe].probe, access,
					   foreign);
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
	for (i = 0; i < bloomfam_join_nfilters(plan); i++)
	{
		int			f = i < state->nprobes ? bloomfam_join_order_decided(state->order, i) : i;
		const JoinFilterInfo *info = &state->infos[f];

		if (info->kind == JOIN_INFO_STORED)
			begin_stored(es, node, ancestors, state->probes[f].stored);
		else
			begin_filter(es, plan, ancestors, info,
						 f < state->nprobes ? state->probes[f].keys : NULL);
		if (es->analyze && f < state->nprobes && info->access != JOIN_NO_ROWS)
			explain_probe(es, state, f);
		else if (f < state->nprobes && state->probes[f].blocks != NULL)
			explain_indexes(es, state, state->probes[f].blocks);
		end_filter(es);
	}
	ExplainCloseGroup("Bloom Filters", "Bloom Filters", false, es);
}
