/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * decisions.c
 *	  What EXPLAIN and the log say of the planner's decisions on joins.
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

/* A figure that a decision rests on. */
typedef struct Figure
{
	const char *label;
	double		value;			/* < 0: unknown */
} Figure;

/* The most figures that one decision shows. */
#define MAX_FIGURES	4

/* The decision on a key, as EXPLAIN and the log show it. */
typedef struct KeyReport
{
	int			filter;			/* the filter's number; 0: the key has none, for that reason */
	const char *reason;			/* NULL: it has one */
	Figure		figures[MAX_FIGURES];
	int			nfigures;
	const char *sent;			/* what foreign scans may be sent; NULL: there are none */
} KeyReport;

/* Returns the number of a key's filter, from 1; 0 if it has none. */
static int
filter_number(const JoinKeyDecision *key_decision)
{
	return key_decision->pushdown != NULL ? key_decision->pushdown->number : 0;
}

/*
 * Returns what the filter's foreign scans may be sent, and why not the rest; NULL if it has no
 * foreign scans.
 */
static const char *
sent_to_foreign_scans(const JoinPushdown *pushdown)
{
	static const char *const names[JOIN_SENDINGS] = {
		[JOIN_SEND_KEYS] = "keys", [JOIN_SEND_BOUNDS] = "bounds", [JOIN_SEND_FILTER] = "filter"
	};
	int			n = list_length(pushdown->foreign);
	int			sent[JOIN_SENDINGS] = {0};	/* scans that may be sent this */
	JoinReason	reasons[JOIN_SENDINGS];	/* why the last refused scan may not be sent this */
	bool		one_reason = true;	/* nothing may be sent anywhere, for one reason */
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

/* Adds the rows that are expected on the probe side, and how many of them the filter removes. */
static void
add_expected(KeyReport *report, const JoinPushdown *pushdown)
{
	const JoinCandidate *candidate = &pushdown->candidate;
	const JoinEstimate *estimate = &candidate->estimate;

	add_figure(report, pushdown->per_process ? "Expected Rows Probed per Process"
											 : "Expected Rows Probed",
			   estimate->guess == JOIN_GUESSES_ROWS ? -1 : estimate->probed);
	add_figure(report, "Expected Rows Removed",
			   estimate->guess == JOIN_GUESSES_NOTHING ? estimate->probed * candidate->drop : -1);
}

/* Fills the report on a key. */
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

/* Appends a report as text; names are the keys that it is about, or NIL if that is clear. */
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
	if (report->sent != NULL)
		appendStringInfo(out, "  " SENT_LABEL ": %s", report->sent);
}

/* A key of a join, as its probe side has it. */
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
	Bitmapset  *done = NULL;	/* keys that were named with an earlier one */
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
			/* of one filter, or without one for one reason */
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

/* An EXPLAIN of the decisions on a plan's joins. */
typedef struct ExplainContext
{
	ExplainState *es;
	bool		begun;			/* there was a decision */
	List	   *ancestors;		/* of the plan node in hand, nearest first */
} ExplainContext;

/* Shows the decision about one condition; label is what the plan calls the condition. */
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
			ExplainPropertyInteger("Filter", NULL, report->filter, es);
		if (report->reason != NULL)
			ExplainPropertyText("Reason", report->reason, es);
		for (i = 0; i < report->nfigures; i++)
		{
			const Figure *figure = &report->figures[i];

			if (figure->value >= 0)
				ExplainPropertyFloat(figure->label, NULL, figure->value, 0, es);
		}
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

	/* a condition for each key, in their order */
	foreach(lc, bloomfam_join_conditions(decision->join))
	{
		KeyReport	report;

		report_key(&report, &decision->key_decisions[foreach_current_index(lc)]);
		explain_decision(explain, IsA(decision->join, HashJoin) ? "Hash Cond" : "Merge Cond",
						 lfirst(lc), context, &report);
	}
}

/* Does a nested loop hand this value to its inner side, one of those above? */
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
 * Which sides of a join an expression refers to: as the plan has the columns of a join, or on the
 * inner side of nested loops, to which the values of outer rows are handed.
 */
typedef struct Sides
{
	List	   *loops;			/* nodes above, of which those loops are; NIL: a join's own sides */
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

/* Could it be a key of a hash join: an equality between one side of a join and the other? */
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

/* Has a condition a subquery, or compares it with the elements of an array that one makes? */
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

/* The plan nodes that meet conditions which a hash join could have met, too. */
typedef struct OtherJoin
{
	NodeTag		node;
	size_t		conditions;		/* offset of their list */
	bool		looks_up;		/* conditions between a nested loop's outer row and the node's; else
								 * those between the node's own sides */
	const char *label;
	JoinReason	reason;			/* why there is no hash join, unless find_reason() knows better */
} OtherJoin;

static const OtherJoin other_joins[] = {
	{T_MergeJoin, offsetof(MergeJoin, mergeclauses), false, "Merge Cond", JOIN_BY_MERGE},
	{T_NestLoop, offsetof(NestLoop, join.joinqual), false, "Join Cond", JOIN_BY_LOOP},
	{T_IndexScan, offsetof(IndexScan, indexqualorig), true, "Index Cond", JOIN_BY_INDEX},
	{T_BitmapHeapScan, offsetof(BitmapHeapScan, bitmapqualorig), true, "Index Cond", JOIN_BY_INDEX},
	/* its condition is on the index's columns, which EXPLAIN knows */
	{T_IndexOnlyScan, offsetof(IndexOnlyScan, indexqual), true, "Index Cond", JOIN_BY_INDEX},
	/* what else is asked of the rows found */
	{T_IndexScan, offsetof(IndexScan, scan.plan.qual), true, "Filter", JOIN_BY_INDEX},
	{T_BitmapHeapScan, offsetof(BitmapHeapScan, scan.plan.qual), true, "Filter", JOIN_BY_INDEX},
	{T_IndexOnlyScan, offsetof(IndexOnlyScan, scan.plan.qual), true, "Filter", JOIN_BY_INDEX},
	{T_SeqScan, offsetof(SeqScan, scan.plan.qual), true, "Filter", JOIN_BY_LOOP},
	/* hash joins have these, too */
	{T_HashJoin, offsetof(HashJoin, join.joinqual), false, "Join Filter", JOIN_HAS_NO_EQUALITY},
};

/* Finds why a condition has no filter; JOIN_NO_REASON: it is none between tables. */
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

	/* a hash join of that kind would have none either */
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

/* Shows the conditions that are no keys of hash joins, and so have no filters. */
static bool
explain_other_joins(Plan **slot, void *context)
{
	ExplainContext *explain = context;
	size_t		i;

	for (i = 0; i < lengthof(other_joins); i++)
		if (other_joins[i].node == nodeTag(*slot) &&
			(IsA(*slot, HashJoin) || bloomfam_join_keeper(*slot) == NULL))
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
