/*-------------------------------------------------------------------------
 *
 * insert_nodes.c
 *	  Filters put into a finished plan: the nodes that build and probe them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/snapmgr.h"

#include "join/base/column.h"
#include "join/base/index.h"
#include "join/base/settings.h"
#include "join/base/spec.h"
#include "join/fdw/foreign.h"
#include "join/filter/keys.h"
#include "join/planner/cost.h"
#include "join/planner/insert_nodes.h"
#include "join/planner/stored_conditions.h"

/* Raises *highest to the highest number of a node in a plan. */
static void
find_highest_node_id(Plan *plan, int *highest)
{
	ListCell   *lc;

	if (plan == NULL)
		return;
	check_stack_depth();
	*highest = Max(*highest, plan->plan_node_id);
	find_highest_node_id(plan->lefttree, highest);
	find_highest_node_id(plan->righttree, highest);
	foreach(lc, bloomfam_join_other_children(plan))
		find_highest_node_id(lfirst(lc), highest);
}

static int
next_node_id(JoinRewrite *rewrite)
{
	ListCell   *lc;

	if (rewrite->last_node_id == 0)
	{
		find_highest_node_id(rewrite->stmt->planTree, &rewrite->last_node_id);
		foreach(lc, rewrite->stmt->subplans)
			find_highest_node_id(lfirst(lc), &rewrite->last_node_id);
	}
	return ++rewrite->last_node_id;
}

/* Puts a node that hands rows on as they are on top of a plan, which workers run or not. */
static CustomScan *
put_on_top(JoinRewrite *rewrite, Plan **slot, JoinNodeKind kind, bool parallel)
{
	Plan	   *child = *slot;
	CustomScan *node = bloomfam_join_node_make(kind);
	Plan	   *plan = &node->scan.plan;
	ListCell   *lc;

	foreach(lc, child->targetlist)
	{
		TargetEntry *entry = lfirst(lc);
		TargetEntry *below = flatCopyTargetEntry(entry);
		TargetEntry *above = flatCopyTargetEntry(entry);	/* clients are told of its origin */

		below->expr = (Expr *) makeVarFromTargetEntry(OUTER_VAR, entry);
		above->expr = (Expr *) makeVarFromTargetEntry(INDEX_VAR, entry);
		node->custom_scan_tlist = lappend(node->custom_scan_tlist, below);
		plan->targetlist = lappend(plan->targetlist, above);
	}
	plan->startup_cost = child->startup_cost;
	plan->total_cost = child->total_cost;
	plan->plan_rows = child->plan_rows; /* a Hash above sizes its table by it */
	plan->plan_width = child->plan_width;
	plan->parallel_safe = child->parallel_safe;
	plan->parallel_aware = parallel;	/* else it would get no shared memory */
	plan->plan_node_id = next_node_id(rewrite);
	plan->lefttree = child;
	plan->extParam = bms_copy(child->extParam);
	plan->allParam = bms_copy(child->allParam);
	*slot = plan;
	return node;
}

/*
 * What a node on one side of the join carries of a filter; the key's columns are these of its
 * child, 0 standing for an expression.
 */
static JoinSpec
make_spec(const JoinWay *way, int param, int number, bool outer, const AttrNumber *attributes)
{
	JoinSpec	spec = {.kind = JOIN_SPEC_JOIN, .condition = -1};
	int			i;

	spec.param = param;
	spec.number = number;
	spec.drop = (int) (way->drop * 1000);
	spec.ncolumns = way->ncolumns;
	spec.columns = palloc0(way->ncolumns * sizeof(JoinSpecColumn));
	for (i = 0; i < way->ncolumns; i++)
	{
		JoinSpecColumn *column = &spec.columns[i];
		const JoinHashing *hashing = &way->columns[i].hashing;
		const JoinHashSide *side = outer ? &hashing->outer : &hashing->inner;

		column->hashing = hashing->kind;
		column->type = side->type;
		column->function = side->function;
		column->operator = way->columns[i].operator;
		column->collation = way->columns[i].collation;
		column->attribute = attributes[i];
		column->expression = -1;
		column->hash_key = way->columns[i].hash_key;
		column->foreign_param = -1;
	}
	return spec;
}

/* Lets the filter travel to the foreign scans that it can. */
static void
add_foreign(JoinRewrite *rewrite, const JoinWay *way, JoinSpec *build)
{
	ListCell   *lc;

	foreach(lc, way->foreign)
	{
		JoinForeignPlace *place = lfirst(lc);
		JoinSpecColumn *column = &build->columns[place->column];

		if (place->reason != NULL)
			continue;
		bloomfam_join_foreign_plan(rewrite->stmt, place->scan, place->attribute,
								   &column->foreign_param);
		column->foreign_type = exprType((Node *) way->columns[place->column].inner);
	}
}

/* What is at a place, below nodes of ours. */
static const Plan *
scan_at(const JoinPlace *place)
{
	const Plan *plan = *place->slot;

	while (bloomfam_join_node_kind(plan) != JOIN_NODE_OTHER)
		plan = outerPlan(plan);
	return plan;
}

/* The columns of a filter's key for which the table of a scan has such an index. */
static Bitmapset *
indexed_columns(JoinRewrite *rewrite, const JoinWay *way, const JoinPlace *place, const Scan *scan)
{
	Relation	table =
		table_open(rt_fetch(scan->scanrelid, rewrite->stmt->rtable)->relid, NoLock);
	Snapshot	snapshot = ActiveSnapshotSet() ? GetActiveSnapshot() : NULL;
	Bitmapset  *columns = NULL;
	int			i;

	for (i = 0; i < way->ncolumns; i++)
	{
		const JoinKeyColumn *column = &way->columns[i];
		JoinIndexed indexed = {
			.attribute =
				bloomfam_join_column_behind(&scan->plan, place->attributes[i], scan->scanrelid),
			.operator = column->operator,
			.type = column->hashing.inner.type,
			.guarded = scan->plan.qual != NIL
		};

		if (bloomfam_join_keys_can_keep(column->hashing.kind, indexed.type) &&
			bloomfam_join_indexes(table, &indexed, snapshot) != NIL)
			columns = bms_add_member(columns, i);
	}
	table_close(table, NoLock);
	return columns;
}

/*
 * Finds what keys can tell at the places besides which rows match: which of them are partitions,
 * and which of their tables have an index that knows where keys are.  Returns the columns of the
 * key that it takes.
 */
static Bitmapset *
look_at_places(JoinRewrite *rewrite, const JoinWay *way)
{
	Bitmapset  *kept = NULL;
	ListCell   *lc;
	ListCell   *ll;
	ListCell   *li;

	bloomfam_join_levels_begin(&rewrite->levels, rewrite->stmt, way);
	if (!bloomfam_join_filter_skip)
		return NULL;
	foreach(lc, way->places)
	{
		JoinPlace  *place = lfirst(lc);
		const Plan *plan = scan_at(place);

		place->levels = bloomfam_join_levels(&rewrite->levels, plan, place->attributes);
		foreach(ll, place->levels)
			foreach(li, ((JoinSpecLevel *) lfirst(ll))->columns)
				kept = bms_add_member(kept, lfirst_int(li));
		if (IsA(plan, SeqScan) && bloomfam_join_index_may_pay(place->before) &&
			(!plan->parallel_aware || way->build_first == JOIN_MAY_BUILD_FIRST) &&
			(place->access == JOIN_BY_PAGES || place->access == JOIN_BY_PAGES_SPARING))
			place->indexed = indexed_columns(rewrite, way, place, (const Scan *) plan);
		kept = bms_add_members(kept, place->indexed);
	}
	return kept;
}

/*
 * The share of rows that filters of joins above leave at the first place, where the first row is
 * looked for: those that are there by then.
 */
static double
share_left(const JoinWay *way)
{
	const JoinPlace *place = way->places != NIL ? linitial(way->places) : NULL;
	double		share = 1;
	const CustomScan *probe;
	const JoinSpec *specs;
	int			i;

	if (place == NULL || bloomfam_join_node_kind(*place->slot) != JOIN_NODE_PROBE)
		return share;
	probe = (const CustomScan *) *place->slot;
	specs = bloomfam_join_specs(probe);
	for (i = 0; i < bloomfam_join_nspecs(probe); i++)
		if (specs[i].kind == JOIN_SPEC_JOIN && specs[i].eager)
			share *= 1 - specs[i].drop / 1000.0;
	return share;
}

/*
 * Is the join to build before it asks its outer side for the first row?  That row passes unseen,
 * and with it all that is done for it: what a node below reads to the end, or a worker, or another
 * server; or all that is read by a parallel scan, which can leave out pages only if it knows them
 * before it begins.  And no row may pass unseen where all rows with a key are dropped, or none.
 */
static bool
is_eager(const JoinWay *way)
{
	const Plan *outer = outerPlan(way->join);
	ListCell   *lc;

	if (way->build_first != JOIN_MAY_BUILD_FIRST)
		return false;
	foreach(lc, way->foreign)
		if (((JoinForeignPlace *) lfirst(lc))->reason == NULL)
			return true;
	foreach(lc, way->places)
	{
		const JoinPlace *place = lfirst(lc);

		if (place->passed.below_gather || place->passed.below_hash || place->passed.whole ||
			(place->indexed != NULL && scan_at(place)->parallel_aware))
			return true;
	}
	return bloomfam_join_builds_first(outer->startup_cost, outer->total_cost, outer->plan_rows,
									  share_left(way), innerPlan(way->join)->total_cost);
}

/* Tells the probe node on top of a foreign scan that the filter travels there, if it does. */
static void
note_foreign(const JoinWay *way, const JoinSpec *build, const Plan *child, JoinSpec *probe)
{
	ListCell   *lc;

	foreach(lc, way->foreign)
	{
		const JoinForeignPlace *place = lfirst(lc);

		if (&place->scan->scan.plan == child && place->reason == NULL)
			probe->columns[place->column].foreign_param =
				build->columns[place->column].foreign_param;
	}
}

/* Tells a probe node for which columns of the key the scan below it has an index. */
static void
note_indexed(const JoinWay *way, const Bitmapset *indexed, JoinSpec *probe)
{
	int			i = -1;

	while ((i = bms_next_member(indexed, i)) >= 0)
		probe->columns[i].indexed = way->columns[i].hashing.inner.type;
}

/* Puts the node on top of the join's build side; returns what it carries. */
static JoinSpec
add_build(JoinRewrite *rewrite, bool parallel, const JoinWay *way, int param, int number,
		  const Bitmapset *kept)
{
	Plan	   *hash = innerPlan(way->join);
	CustomScan *node = put_on_top(rewrite, &outerPlan(hash), JOIN_NODE_BUILD, parallel);
	AttrNumber *attributes = palloc(way->ncolumns * sizeof(AttrNumber));
	JoinSpec	spec;
	int			i;

	for (i = 0; i < way->ncolumns; i++)
		attributes[i] = bloomfam_join_column(way->columns[i].inner, OUTER_VAR);
	spec = make_spec(way, param, number, false, attributes);
	spec.parallel_hash = hash->parallel_aware;
	spec.eager = is_eager(way);
	spec.skip = rewrite->levels.skip;
	for (i = 0; i < way->ncolumns; i++)
		spec.columns[i].kept = bms_is_member(i, kept);
	for (i = 0; i < way->ncolumns; i++)
		if (attributes[i] == 0)
		{
			spec.columns[i].expression = list_length(node->custom_exprs);
			node->custom_exprs = lappend(node->custom_exprs, copyObject(way->columns[i].inner));
		}
	add_foreign(rewrite, way, &spec);
	bloomfam_join_spec_add(node, &spec);
	return spec;
}

/* The probe node on top of a plan, which may be there. */
static CustomScan *
probe_on_top(JoinRewrite *rewrite, Plan **slot, bool parallel)
{
	CustomScan *probe = (CustomScan *) *slot;

	if (bloomfam_join_node_kind(&probe->scan.plan) == JOIN_NODE_PROBE)
		return probe;
	probe = put_on_top(rewrite, slot, JOIN_NODE_PROBE, parallel);
	rewrite->probes = lappend(rewrite->probes, probe);
	return probe;
}

int
bloomfam_join_add_filter(JoinRewrite *rewrite, bool parallel, const JoinWay *way)
{
	PlannedStmt *stmt = rewrite->stmt;
	int			param = list_length(stmt->paramExecTypes);
	int			number = ++rewrite->nfilters;
	Bitmapset  *kept = look_at_places(rewrite, way);
	JoinSpec	build;
	ListCell   *lc;

	stmt->paramExecTypes = lappend_oid(stmt->paramExecTypes, INTERNALOID);
	build = add_build(rewrite, parallel, way, param, number, kept);
	foreach(lc, way->places)
	{
		JoinPlace  *place = lfirst(lc);
		const JoinPassed *passed = &place->passed;
		bool		workers = parallel || passed->below_gather;
		CustomScan *probe = probe_on_top(rewrite, place->slot, workers);
		JoinSpec	spec = make_spec(way, param, number, true, place->attributes);

		note_foreign(way, &build, outerPlan(probe), &spec);
		note_indexed(way, place->indexed, &spec);
		spec.eager = build.eager;
		spec.from_leader = passed->below_gather;
		spec.access = place->access;
		spec.worth = place->worth;
		spec.whole = passed->whole;
		spec.streams = !passed->stored;
		spec.levels = place->levels;
		if (spec.levels != NIL && passed->branch != NULL && passed->branch != place->slot &&
			bloomfam_join_tree_is_indifferent(way->query, *passed->branch))
		{
			/* the other side of a join of partitions is not to be read for nothing */
			CustomScan *all = probe_on_top(rewrite, passed->branch, workers);
			JoinSpec	skip = make_spec(way, param, number, true, passed->branch_attributes);

			skip.from_leader = passed->below_gather;
			skip.access = JOIN_BY_NOTHING;
			skip.whole = passed->whole;
			skip.levels = spec.levels;
			spec.levels = NIL;
			if (!bloomfam_join_has_filter(all, number))
				bloomfam_join_spec_add(all, &skip);
		}
		bloomfam_join_spec_add(probe, &spec);
	}
	return number;
}

void
bloomfam_join_expect_rows(JoinRewrite *rewrite)
{
	ListCell   *lc;

	foreach(lc, rewrite->probes)
	{
		CustomScan *probe = lfirst(lc);
		Plan	   *plan = &probe->scan.plan;

		/* what a condition drops is in the child's rows */
		plan->plan_rows = clamp_row_est(plan->plan_rows * bloomfam_join_passing(probe));
	}
}

CustomScan *
bloomfam_join_add_condition(JoinRewrite *rewrite, bool parallel, Plan **slot, Plan *parent,
							const JoinStoredCondition *condition)
{
	CustomScan *probe = (CustomScan *) parent;
	JoinSpec	spec = {
		.kind = JOIN_SPEC_STORED, .drop = JOIN_STORED_DROP, .access = JOIN_BY_PAGES};

	if (parent == NULL || bloomfam_join_node_kind(parent) != JOIN_NODE_PROBE)
	{
		probe = put_on_top(rewrite, slot, JOIN_NODE_PROBE, parallel);
		if (ExecSupportsBackwardScan(outerPlan(probe)))
			probe->flags |= CUSTOMPATH_SUPPORT_BACKWARD_SCAN;
	}
	spec.condition = list_length(probe->custom_exprs);
	spec.before = condition->before;
	probe->custom_exprs = lappend(probe->custom_exprs, condition->condition);
	bloomfam_join_spec_add(probe, &spec);
	return probe;
}
