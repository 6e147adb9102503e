/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * decisions.c
 *	  Shows the planner's decisions on joins in EXPLAIN and in the log.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "pg/explain_text.h"
#include "join/base/gucs.h"
#include "join/filter/form.h"
#include "join/planner/decision.h"
#include "join/report/decisions.h"
#include "pg/compat.h"
#include "pg/plan_nodes.h"

/* The label of the list of what foreign scans may be sent. */
#define SENT_LABEL	"Sent to Foreign Scans"

/* A figure that a decision is based on. */
typedef struct Figure
{
	const char *label;
	double		value;			/* The figure's value; negative: it is unknown. */
} Figure;

/* The largest number of figures that are shown for one decision. */
#define MAX_FIGURES	4

/* The decision on one key, as EXPLAIN and the log show it. */
typedef struct KeyReport
{
	/*
	 * The number of the key's filter, from 1; 0: the key has no filter, for the reason in "reason".
	 */
	int			filter;
	const char *reason;			/* The reason why the key has no filter; NULL: it has one. */
	Figure		figures[MAX_FIGURES];
	int			nfigures;
	bool		per_process;	/* Several processes share the work; the rows are those of one. */

	/*
	 * Text on what foreign scans may be sent of the key's filter; NULL: no foreign scan would be
	 * sent anything.
	 */
	const char *sent;
} KeyReport;

/* Returns the number of a key's filter, from 1; 0 if the key has none. */
static int
filter_number(const JoinKeyDecision *key_decision)
{
	return key_decision->pushdown != NULL ? key_decision->pushdown->number : 0;
}

/*
 * Returns a text that says what the foreign scans of a filter may be sent, and why the rest may
 * not; NULL if the filter has no foreign scans.
 */
static const char *
sent_to_foreign_scans(const JoinPushdown *pushdown)
{
	static const char *const names[JOIN_SENDINGS] = {
		[JOIN_SEND_KEYS] = "keys", [JOIN_SEND_BOUNDS] = "bounds", [JOIN_SEND_FILTER] = "filter"
	};
	int			n = list_length(pushdown->foreign);
	/* The number of scans that may be sent each of keys, bounds and filter. */
	int			sent[JOIN_SENDINGS] = {0};
	/*
	 * For keys, bounds and filter each: why the last foreign scan that is refused it may not be
	 * sent it.
	 */
	JoinReason	reasons[JOIN_SENDINGS];
	/* Whether no scan may be sent anything, for one and the same reason. */
	bool		one_reason = true;
	StringInfoData text;
	ListCell   *lc;
	int			i;

	if (n == 0)
		return NULL;
	for (i = 0; i < JOIN_SENDINGS; i++)
	{
		foreach(lc, pushdown->foreign)
		{
			JoinReason	reason = ((JoinForeignTarget *) lfirst(lc))->sendings.reasons[i];

			if (reason == JOIN_NO_REASON)
				sent[i]++;
			else
				reasons[i] = reason;
		}
		one_reason = one_reason && sent[i] == 0 && reasons[i] == reasons[0];
	}
	if (one_reason)
		return psprintf("0 of %d (%s)", n, bloomfam_join_reason_texts[reasons[0]]);
	initStringInfo(&text);
	for (i = 0; i < JOIN_SENDINGS; i++)
	{
		appendStringInfo(&text, "%s%s %d of %d", i > 0 ? ", " : "", names[i], sent[i], n);
		if (sent[i] < n)
			appendStringInfo(&text, " (%s)", bloomfam_join_reason_texts[reasons[i]]);
	}
	return text.data;
}

static inline void
add_figure(KeyReport *report, const char *label, double value)
{
	Assert(report->nfigures < MAX_FIGURES);
	report->figures[report->nfigures++] = (Figure) {label, value};
}

/*
 * Adds to the report the number of rows that are expected on the probe side, and how many of them
 * the filter is expected to remove.
 */
static void
add_expected(KeyReport *report, const JoinPushdown *pushdown)
{
	const JoinCandidate *candidate = &pushdown->candidate;
	const JoinEstimate *estimate = &candidate->estimate;

	report->per_process = pushdown->per_process;
	add_figure(report, "Expected Rows Probed",
			   estimate->guess == JOIN_GUESSES_ROWS ? -1 : estimate->probed);
	add_figure(report, "Expected Rows Removed",
			   estimate->guess == JOIN_GUESSES_NOTHING ? estimate->probed * candidate->drop : -1);
}

/* Fills in the report on a key. */
static void
report_key(KeyReport *report, const JoinKeyDecision *key_decision)
{
	const JoinPushdown *pushdown = key_decision->pushdown;

	memset(report, 0, sizeof(*report));
	if (key_decision->reason == JOIN_NO_REASON)
		report->filter = filter_number(key_decision);
	else if (key_decision->reason == JOIN_BUILDS_TOO_LATE)
		report->reason = bloomfam_join_reason_texts[pushdown->not_first];
	else
		report->reason = bloomfam_join_reason_texts[key_decision->reason];
	switch (key_decision->reason)
	{
		case JOIN_HAS_TOO_MANY_KEYS:
			add_figure(report, "Expected Keys", pushdown->candidate.keys);
			add_figure(report, "Maximum Keys", bloomfam_join_design_most());
			break;
		case JOIN_NO_REASON:
		case JOIN_PROBES_FEW_ROWS:
		case JOIN_DROPS_FEW_ROWS:
			add_expected(report, pushdown);
			break;
		case JOIN_COSTS_MORE:
			add_expected(report, pushdown);
			add_figure(report, "Saved Cost", pushdown->candidate.estimate.saved);
			add_figure(report, "Filter Cost", pushdown->candidate.estimate.cost);
			break;
		default:
			break;
	}
	if (key_decision->reason == JOIN_NO_REASON || key_decision->reason == JOIN_HAS_NO_TARGET)
		report->sent = sent_to_foreign_scans(pushdown);
}

/*
 * Appends a report as text.  "names" are the keys that it is about; NIL if that is clear without
 * them.
 */
static void
append_report(StringInfo out, const KeyReport *report, List *names)
{
	int			i;

	if (report->filter > 0)
		appendStringInfo(out, "Filter %d", report->filter);
	else
		appendStringInfoString(out, "No filter");
	if (names != NIL)
	{
		appendStringInfoString(out, " (");
		append_names(out, names);
		appendStringInfoChar(out, ')');
	}
	if (report->reason != NULL)
		appendStringInfo(out, ": %s", report->reason);
	for (i = 0; i < report->nfigures; i++)
	{
		appendStringInfo(out, "  %s: ", report->figures[i].label);
		if (report->figures[i].value < 0)
			appendStringInfoString(out, "unknown");
		else
			appendStringInfo(out, "%.0f", report->figures[i].value);
	}
	if (report->per_process)
		appendStringInfoString(out, "  Per Process: true");
	if (report->sent != NULL)
		appendStringInfo(out, "  " SENT_LABEL ": %s", report->sent);
}

/* Returns a key of a join as its probe side has it. */
static Node *
probe_key(const Join *join, int number)
{
	if (IsA(join, HashJoin))
		return list_nth(((const HashJoin *) join)->hashkeys, number);
	return lsecond(list_nth_node(OpExpr, ((const MergeJoin *) join)->mergeclauses, number)->args);
}

static void
log_decision(const JoinDecision *decision, List *context)
{
	Join	   *join = decision->join;
	List	   *conditions = bloomfam_join_conditions(join);
	const char *kind = IsA(join, HashJoin) ? "hash join" : "merge join";
	const JoinKeyDecision *key_decisions = decision->key_decisions;
	int			nkeys = list_length(conditions);
	char	   *condition;
	StringInfoData filters;
	StringInfoData detail;
	Bitmapset  *done = NULL;	/* The keys that were already shown together with an earlier key. */
	int			nfilters = 0;
	int			i;
	int			k;

	context = set_deparse_context_plan(context, &join->plan, decision->ancestors);
	condition =
		deparse_expression((Node *) make_ands_explicit(conditions), context, true, false);
	initStringInfo(&filters);
	initStringInfo(&detail);
	for (i = 0; i < nkeys; i++)
	{
		List	   *keys = NIL;
		KeyReport	report;

		if (bms_is_member(i, done))
			continue;
		for (k = i; k < nkeys; k++)
			/*
			 * Keys of the same filter, or without a filter for the same reason, are shown together.
			 */
			if (key_decisions[k].reason == key_decisions[i].reason &&
				filter_number(&key_decisions[k]) == filter_number(&key_decisions[i]))
			{
				done = bms_add_member(done, k);
				keys = lappend(keys, deparse_expression(probe_key(join, k), context, true, false));
			}
		if (detail.len > 0)
			appendStringInfoChar(&detail, '\n');
		if (key_decisions[i].reason == JOIN_NO_REASON)
			appendStringInfo(&filters, "%s%d", nfilters++ > 0 ? ", " : "",
							 filter_number(&key_decisions[i]));
		report_key(&report, &key_decisions[i]);
		append_report(&detail, &report, keys);
	}

	ereport(LOG,
			nfilters > 0
				? errmsg_plural("bloom filter %s for the %s on %s",
								"bloom filters %s for the %s on %s", nfilters, filters.data, kind,
								condition)
				: errmsg("no bloom filter for the %s on %s", kind, condition),
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

/* The state of showing in EXPLAIN the decisions on a plan's joins. */
typedef struct ExplainContext
{
	ExplainState *es;
	bool		begun;			/* Whether a decision has been shown. */

	/* List of the plan nodes above the current node, the nearest first. */
	List	   *ancestors;
} ExplainContext;

/*
 * Shows the decision about one condition in EXPLAIN.  "label" is what the plan calls the condition.
 */
static void
explain_decision(ExplainContext *explain, const char *label, Node *condition, List *context,
				 const KeyReport *report)
{
	ExplainState *es = explain->es;
	const char *text = deparse_expression(condition, context, true, false);
	int			i;

	if (!explain->begun)
	{
		ExplainOpenGroup("Join Filters", "Join Filters", false, es);
		if (is_text(es))
		{
			indent(es);
			appendStringInfoString(es->str, "Join Filters:\n");
			es->indent++;
		}
		explain->begun = true;
	}
	ExplainOpenGroup("Join Filter", NULL, true, es);
	if (is_text(es))
	{
		StringInfoData decision;

		initStringInfo(&decision);
		append_report(&decision, report, NIL);
		ExplainPropertyText(text, decision.data, es);
	}
	else
	{
		ExplainPropertyText(label, text, es);
		if (report->filter > 0)
			ExplainPropertyInteger("Number", NULL, report->filter, es);
		if (report->reason != NULL)
			ExplainPropertyText("Reason", report->reason, es);
		for (i = 0; i < report->nfigures; i++)
		{
			const Figure *figure = &report->figures[i];

			if (figure->value >= 0)
				ExplainPropertyFloat(figure->label, NULL, figure->value, 0, es);
		}
		if (report->per_process)
			ExplainPropertyBool("Per Process", true, es);
		if (report->sent != NULL)
			ExplainPropertyText(SENT_LABEL, report->sent, es);
	}
	ExplainCloseGroup("Join Filter", NULL, true, es);
}

static void
explain_join(ExplainContext *explain, const JoinDecision *decision)
{
	List	   *context = set_deparse_context_plan(explain->es->deparse_cxt,
												   &decision->join->plan, decision->ancestors);
	ListCell   *lc;

	/*
	 * The join has one hash or merge condition for each element of key_decisions[], in the same
	 * order.
	 */
	foreach(lc, bloomfam_join_conditions(decision->join))
	{
		KeyReport	report;

		report_key(&report, &decision->key_decisions[foreach_current_index(lc)]);
		explain_decision(explain, IsA(decision->join, HashJoin) ? "Hash Cond" : "Merge Cond",
						 lfirst(lc), context, &report);
	}
}

/*
 * Tells whether a parameter is a value that one of the nested loops among "ancestors" passes to its
 * inner side.
 */
static bool
is_of_outer_row(const Param *param, List *ancestors)
{
	ListCell   *la;
	ListCell   *lp;

	if (param->paramkind != PARAM_EXEC)
		return false;
	foreach(la, ancestors)
	{
		if (!IsA(lfirst(la), NestLoop))
			continue;
		foreach(lp, ((NestLoop *) lfirst(la))->nestParams)
			if (((NestLoopParam *) lfirst(lp))->paramno == param->paramid)
				return true;
	}
	return false;
}

/*
 * Which sides of a join an expression refers to, by columns of the join's sides, or, on the inner
 * side of nested loops, by parameters that are values of outer rows.
 */
typedef struct Sides
{
	/*
	 * List of the plan nodes above, among which the nested loops are; NIL: only the join's own
	 * sides count.
	 */
	List	   *loops;
	bool		outer;
	bool		inner;
} Sides;

static bool
note_sides(Node *node, void *context)
{
	Sides  *sides = context;

	if (node == NULL)
		return false;
	if (IsA(node, Param))
		sides->outer |= is_of_outer_row((const Param *) node, sides->loops);
	if (IsA(node, Var))
	{
		sides->outer |= ((Var *) node)->varno == OUTER_VAR;
		sides->inner |= ((Var *) node)->varno != OUTER_VAR;
	}
	return expression_tree_walker(node, note_sides, context);
}

/*
 * Tells whether a condition could be a key of a hash join: whether it is an equality between one
 * side of a join and the other.
 */
static bool
could_be_hashed(const Node *condition, List *loops)
{
	const OpExpr *op = (const OpExpr *) condition;
	Sides		left = {.loops = loops};
	Sides		right = {.loops = loops};

	if (!IsA(condition, OpExpr) || list_length(op->args) != 2 ||
		!op_hashjoinable(op->opno, exprType(linitial(op->args))))
		return false;
	note_sides(linitial(op->args), &left);
	note_sides(lsecond(op->args), &right);
	return left.outer != left.inner && right.outer != right.inner && left.outer != right.outer;
}

/*
 * Tells whether a condition has a subquery, or compares with the elements of an array that a
 * subquery makes.
 */
static bool
has_subquery(Node *node, void *unused)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan))
		return true;
	if (IsA(node, ScalarArrayOpExpr))
	{
		const Node *array = lsecond(((ScalarArrayOpExpr *) node)->args);

		if (IsA(array, Param) && ((const Param *) array)->paramkind == PARAM_EXEC)
			return true;
	}
	return expression_tree_walker(node, has_subquery, NULL);
}

/* A type of plan node that evaluates conditions which a hash join could have evaluated as well. */
typedef struct OtherJoin
{
	NodeTag		node;

	/* The offset of the list of conditions in the plan node's struct. */
	size_t		conditions;

	/*
	 * Whether the conditions are between a nested loop's outer row and the node's rows; if not,
	 * they are between the node's own two sides.
	 */
	bool		looks_up;
	const char *label;

	/* The reason why there is no hash join, unless find_reason() finds another one. */
	JoinReason	reason;
} OtherJoin;

static const OtherJoin other_joins[] = {
	{T_MergeJoin, offsetof(MergeJoin, mergeclauses), false, "Merge Cond", JOIN_BY_MERGE},
	{T_NestLoop, offsetof(NestLoop, join.joinqual), false, "Join Cond", JOIN_BY_LOOP},
	{T_IndexScan, offsetof(IndexScan, indexqualorig), true, "Index Cond", JOIN_BY_INDEX},
	{T_BitmapHeapScan, offsetof(BitmapHeapScan, bitmapqualorig), true, "Index Cond", JOIN_BY_INDEX},
	/* The conditions of an IndexOnlyScan refer to the index's columns, which EXPLAIN can show. */
	{T_IndexOnlyScan, offsetof(IndexOnlyScan, indexqual), true, "Index Cond", JOIN_BY_INDEX},
	/*
	 * The entries from here on are for the scans' filter conditions, which are evaluated for the
	 * rows that the scan or its index has found.
	 */
	{T_IndexScan, offsetof(IndexScan, scan.plan.qual), true, "Filter", JOIN_BY_INDEX},
	{T_BitmapHeapScan, offsetof(BitmapHeapScan, scan.plan.qual), true, "Filter", JOIN_BY_INDEX},
	{T_IndexOnlyScan, offsetof(IndexOnlyScan, scan.plan.qual), true, "Filter", JOIN_BY_INDEX},
	{T_SeqScan, offsetof(SeqScan, scan.plan.qual), true, "Filter", JOIN_BY_LOOP},
	/* A hash join may have conditions other than its hash clauses. */
	{T_HashJoin, offsetof(HashJoin, join.joinqual), false, "Join Filter", JOIN_HAS_NO_EQUALITY},
};

/*
 * Returns the reason why a condition has no filter; JOIN_NO_REASON if it is not a condition between
 * tables.
 */
static JoinReason
find_reason(const Plan *plan, const OtherJoin *other, Node *condition, List *loops)
{
	Sides		sides = {.loops = loops};

	if (!could_be_hashed(condition, loops))
	{
		if (has_subquery(condition, NULL))
			return JOIN_IS_SUBQUERY;
		note_sides(condition, &sides);
		return sides.outer && sides.inner ? JOIN_HAS_NO_EQUALITY : JOIN_NO_REASON;
	}
	if (contain_volatile_functions(condition))
		return JOIN_IS_VOLATILE;

	/* A hash join of this join type (anti or full) would have no filter either. */
	if (!other->looks_up && (((const Join *) plan)->jointype == JOIN_ANTI ||
							 ((const Join *) plan)->jointype == JOIN_FULL))
		return JOIN_KEEPS_ROWS;
	return other->reason;
}

static void
explain_other_join(ExplainContext *explain, Plan *plan, const OtherJoin *other)
{
	List	   *context =
		set_deparse_context_plan(explain->es->deparse_cxt, plan, explain->ancestors);
	ListCell   *lc;

	foreach(lc, *(List **) ((char *) plan + other->conditions))
	{
		JoinReason	reason =
			find_reason(plan, other, lfirst(lc), other->looks_up ? explain->ancestors : NIL);

		if (reason != JOIN_NO_REASON)
		{
			KeyReport	report = {.reason = bloomfam_join_reason_texts[reason]};

			explain_decision(explain, other->label, lfirst(lc), context, &report);
		}
	}
}

/*
 * Shows the conditions in a plan that are not keys of joins with a build side, and so have no
 * filters.
 */
static bool
explain_other_joins(Plan **slot, void *context)
{
	ExplainContext *explain = context;
	size_t		i;

	for (i = 0; i < lengthof(other_joins); i++)
		if (other_joins[i].node == nodeTag(*slot) &&
			(IsA(*slot, HashJoin) || bloomfam_join_build_parent(*slot) == NULL))
			explain_other_join(explain, *slot, &other_joins[i]);
	explain->ancestors = lcons(*slot, explain->ancestors);
	bloomfam_plan_walker(*slot, explain_other_joins, explain);
	explain->ancestors = list_delete_first(explain->ancestors);
	return false;
}

void
bloomfam_join_explain_decisions(PlannedStmt *stmt, List *decisions, ExplainState *es)
{
	ExplainContext	explain = {.es = es};
	ListCell   *lc;

	foreach(lc, decisions)
		explain_join(&explain, lfirst(lc));
	bloomfam_plan_stmt_walker(stmt, explain_other_joins, &explain);
	if (!explain.begun)
		return;
	if (is_text(es))
		es->indent--;
	ExplainCloseGroup("Join Filters", "Join Filters", false, es);
}
