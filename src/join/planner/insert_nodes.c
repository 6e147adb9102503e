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
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/snapmgr.h"

#include "join/base/column.h"
#include "join/base/filter_info.h"
#include "join/base/gucs.h"
#include "join/base/index.h"
#include "join/fdw/foreign.h"
#include "join/filter/keys.h"
#include "join/planner/cost.h"
#include "join/planner/insert_nodes.h"
#include "join/planner/stored_conditions.h"
#include "pg/plan_nodes.h"

/* Raises *highest, an int, to the highest number of a node in a plan. */
static bool
find_highest_node_id(Plan **slot, void *highest)
{
	*(int *) highest = Max(*(int *) highest, (*slot)->plan_node_id);
	return bloomfam_plan_walker(*slot, find_highest_node_id, highest);
}

static int
next_node_id(JoinRewrite *rewrite)
{
	if (rewrite->last_node_id == 0)
		bloomfam_plan_stmt_walker(rewrite->stmt, find_highest_node_id, &rewrite->last_node_id);
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

	/* a hash join expects its Hash, and an Append its asynchronous child, with nothing between */
	Assert(!IsA(child, Hash) && !child->async_capable);
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
static JoinFilterInfo
make_info(const JoinPushdown *pushdown, int param, int number, bool outer,
		  const AttrNumber *attributes)
{
	JoinFilterInfo info = {.kind = JOIN_INFO_JOIN, .condition = -1};
	int			i;

	info.param = param;
	info.number = number;
	info.drop = (int) (pushdown->drop * 1000);
	info.ncolumns = pushdown->ncolumns;
	info.columns = palloc0(pushdown->ncolumns * sizeof(JoinColumnInfo));
	for (i = 0; i < pushdown->ncolumns; i++)
	{
		JoinColumnInfo *column = &info.columns[i];
		const JoinHashing *hashing = &pushdown->columns[i].hashing;
		const JoinHashSide *side = outer ? &hashing->outer : &hashing->inner;

		column->hashing = hashing->kind;
		column->type = side->type;
		column->function = side->function;
		column->operator = pushdown->columns[i].operator;
		column->collation = pushdown->columns[i].collation;
		column->attribute = attributes[i];
		column->expression = -1;
		Assert(attributes[i] != 0 || !outer);
		column->hash_key = pushdown->columns[i].hash_key;
		column->foreign_param = -1;
	}
	return info;
}

/* Has the filter pushed to the foreign scans that can take it. */
static void
add_foreign(JoinRewrite *rewrite, const JoinPushdown *pushdown, JoinFilterInfo *build)
{
	ListCell   *lc;

	foreach(lc, pushdown->foreign)
	{
		JoinForeignTarget *target = lfirst(lc);
		JoinColumnInfo *column = &build->columns[target->column];

		if (target->reason != NULL)
			continue;
		bloomfam_join_foreign_plan(rewrite->stmt, target->scan, target->attribute,
								   &column->foreign_param);
		column->foreign_type = exprType((Node *) pushdown->columns[target->column].inner);
	}
}

/* The columns of a filter's key for which the table of a scan has such an index. */
static Bitmapset *
indexed_columns(JoinRewrite *rewrite, const JoinPushdown *pushdown, const JoinTarget *target,
				const Scan *scan)
{
	Relation	table =
		table_open(rt_fetch(scan->scanrelid, rewrite->stmt->rtable)->relid, NoLock);
	Snapshot	snapshot = ActiveSnapshotSet() ? GetActiveSnapshot() : NULL;
	Bitmapset  *columns = NULL;
	int			i;

	for (i = 0; i < pushdown->ncolumns; i++)
	{
		const JoinKeyColumn *column = &pushdown->columns[i];
		JoinIndexed indexed = {
			.attribute =
				bloomfam_join_column_behind(&scan->plan, target->attributes[i], scan->scanrelid),
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
 * Finds what keys can tell at the targets besides which rows match: which of them are partitions,
 * and which of their tables have an index that knows where keys are.  Returns the columns of the
 * key whose values must be kept for that.
 */
static Bitmapset *
find_what_keys_tell(JoinRewrite *rewrite, const JoinPushdown *pushdown)
{
	Bitmapset  *kept = NULL;
	ListCell   *lc;
	ListCell   *ll;
	ListCell   *li;

	bloomfam_join_partition_ancestors_begin(&rewrite->ancestors, rewrite->stmt, pushdown);
	if (!bloomfam_join_may_skip())
		return NULL;
	foreach(lc, pushdown->targets)
	{
		JoinTarget *target = lfirst(lc);
		const Plan *plan = bloomfam_join_below_own(*target->slot);

		target->ancestors =
			bloomfam_join_partition_ancestors(&rewrite->ancestors, plan, target->attributes);
		foreach(ll, target->ancestors)
			foreach(li, ((JoinAncestorInfo *) lfirst(ll))->columns)
				kept = bms_add_member(kept, lfirst_int(li));
		if (IsA(plan, SeqScan) && bloomfam_join_index_may_pay(target->site.rows_before) &&
			(!plan->parallel_aware || pushdown->build_first == JOIN_MAY_BUILD_FIRST) &&
			target->site.access != JOIN_ROW_BY_ROW)
			target->indexed = indexed_columns(rewrite, pushdown, target, (const Scan *) plan);
		kept = bms_add_members(kept, target->indexed);
	}
	return kept;
}

/* The fraction of the cost of building that the first row of the outer side may cost. */
#define FIRST_ROW			0.01

/*
 * The fraction of the cost of the outer side that building may cost where other filters drop rows.
 * Those that they leave may lie at its end, as rows do where they are in the order of a filter's
 * keys.  If there are none, at least their scan was for less.
 */
#define BUILD_FOR_NOTHING	0.1

/*
 * A hash join reads a row of its outer side before it builds, where that costs less, and does not
 * build if there is none.  That row comes before the filter.  Is it worth more to have the filter
 * first?  left: the fraction of the outer side's rows that other filters leave.
 */
static bool
is_worth_building_first(const Plan *outer, double left, Cost building)
{
	if (left < 1 && building < BUILD_FOR_NOTHING * outer->total_cost)
		return true;

	/* never what costs more than the scan that it can shorten: there may be no row */
	if (building > outer->total_cost)
		return false;
	return outer->startup_cost +
			   (outer->total_cost - outer->startup_cost) / Max(outer->plan_rows * left, 1) >
		   FIRST_ROW * building;
}

/*
 * The fraction of rows that filters of joins above leave at the first target, where the first row
 * is looked for: those that are there by then.
 */
static double
fraction_left(const JoinPushdown *pushdown)
{
	const JoinTarget *target = pushdown->targets != NIL ? linitial(pushdown->targets) : NULL;
	double		fraction = 1;
	const CustomScan *probe;
	const JoinFilterInfo *infos;
	int			i;

	if (target == NULL || bloomfam_join_node_kind(*target->slot) != JOIN_NODE_PROBE)
		return fraction;
	probe = (const CustomScan *) *target->slot;
	infos = bloomfam_join_filter_infos(probe);
	for (i = 0; i < bloomfam_join_nfilters(probe); i++)
		if (infos[i].kind == JOIN_INFO_JOIN && infos[i].build_first)
			fraction *= 1 - infos[i].drop / 1000.0;
	return fraction;
}

/*
 * Is the join to build before it reads its outer side?  Else the first row is not checked, nor is
 * what is read for it: by a node below that reads to the end, a worker, or another server; or by a
 * parallel scan, which can leave out pages only if it knows them before it begins.  And at an
 * all-or-none target every row must be checked.
 */
static bool
builds_first(const JoinPushdown *pushdown)
{
	const Plan *outer = outerPlan(pushdown->join);
	ListCell   *lc;

	if (pushdown->build_first != JOIN_MAY_BUILD_FIRST)
		return false;
	foreach(lc, pushdown->foreign)
		if (((JoinForeignTarget *) lfirst(lc))->reason == NULL)
			return true;
	foreach(lc, pushdown->targets)
	{
		const JoinTarget *target = lfirst(lc);

		if (target->crossed.below_gather || target->crossed.below_hash ||
			target->crossed.all_or_none ||
			(target->indexed != NULL && bloomfam_join_below_own(*target->slot)->parallel_aware))
			return true;
	}
	return is_worth_building_first(outer, fraction_left(pushdown),
								   innerPlan(pushdown->join)->total_cost);
}

/* Tells the probe node on top of a foreign scan that the filter is pushed there, if it is. */
static void
note_foreign(const JoinPushdown *pushdown, const JoinFilterInfo *build, const Plan *child,
			 JoinFilterInfo *probe)
{
	ListCell   *lc;

	foreach(lc, pushdown->foreign)
	{
		const JoinForeignTarget *target = lfirst(lc);

		if (&target->scan->scan.plan == child && target->reason == NULL)
			probe->columns[target->column].foreign_param =
				build->columns[target->column].foreign_param;
	}
}

/* Tells a probe node for which columns of the key the scan below it has an index. */
static void
note_indexed(const JoinPushdown *pushdown, const Bitmapset *indexed, JoinFilterInfo *probe)
{
	int			i = -1;

	while ((i = bms_next_member(indexed, i)) >= 0)
		probe->columns[i].indexed = pushdown->columns[i].hashing.inner.type;
}

/* Puts the node on top of the join's build side; returns what it carries. */
static JoinFilterInfo
add_build(JoinRewrite *rewrite, bool parallel, const JoinPushdown *pushdown, int param, int number,
		  const Bitmapset *kept)
{
	Plan	   *hash = innerPlan(pushdown->join);
	CustomScan *node = put_on_top(rewrite, &outerPlan(hash), JOIN_NODE_BUILD, parallel);
	AttrNumber *attributes = palloc(pushdown->ncolumns * sizeof(AttrNumber));
	JoinFilterInfo info;
	int			i;

	for (i = 0; i < pushdown->ncolumns; i++)
		attributes[i] = bloomfam_join_column(pushdown->columns[i].inner, OUTER_VAR);
	info = make_info(pushdown, param, number, false, attributes);
	info.parallel_hash = hash->parallel_aware;
	info.build_first = builds_first(pushdown);
	info.skip = rewrite->ancestors.skip;
	for (i = 0; i < pushdown->ncolumns; i++)
		info.columns[i].kept = bms_is_member(i, kept);
	for (i = 0; i < pushdown->ncolumns; i++)
		if (attributes[i] == 0)
		{
			info.columns[i].expression = list_length(node->custom_exprs);
			node->custom_exprs =
				lappend(node->custom_exprs, copyObject(pushdown->columns[i].inner));
		}
	add_foreign(rewrite, pushdown, &info);
	bloomfam_join_filter_info_add(node, &info);
	return info;
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
bloomfam_join_add_filter(JoinRewrite *rewrite, bool parallel, const JoinPushdown *pushdown)
{
	PlannedStmt *stmt = rewrite->stmt;
	int			param = list_length(stmt->paramExecTypes);
	int			number = ++rewrite->nfilters;
	Bitmapset  *kept = find_what_keys_tell(rewrite, pushdown);
	JoinFilterInfo build;
	ListCell   *lc;

	stmt->paramExecTypes = lappend_oid(stmt->paramExecTypes, INTERNALOID);
	build = add_build(rewrite, parallel, pushdown, param, number, kept);
	foreach(lc, pushdown->targets)
	{
		JoinTarget *target = lfirst(lc);
		const JoinCrossed *crossed = &target->crossed;
		bool		workers = parallel || crossed->below_gather;
		CustomScan *probe = probe_on_top(rewrite, target->slot, workers);
		JoinFilterInfo info = make_info(pushdown, param, number, true, target->attributes);

		note_foreign(pushdown, &build, outerPlan(probe), &info);
		note_indexed(pushdown, target->indexed, &info);
		info.build_first = build.build_first;
		info.from_leader = crossed->below_gather;
		info.access = target->site.access;
		info.min_drop = bloomfam_join_site_min_drop(&target->site);
		info.all_or_none = crossed->all_or_none;
		info.unbuffered = !crossed->materialized;
		info.ancestors = target->ancestors;
		if (info.ancestors != NIL && crossed->branch != NULL && crossed->branch != target->slot &&
			bloomfam_join_tree_is_volatile_free(pushdown->plan_info, *crossed->branch))
		{
			/* the other side of a join of partitions is not to be read for nothing */
			CustomScan *all = probe_on_top(rewrite, crossed->branch, workers);
			JoinFilterInfo skip =
				make_info(pushdown, param, number, true, crossed->branch_attributes);

			skip.from_leader = crossed->below_gather;
			skip.access = JOIN_NO_ROWS;
			skip.all_or_none = crossed->all_or_none;
			skip.ancestors = info.ancestors;
			info.ancestors = NIL;
			if (!bloomfam_join_has_filter(all, number))
				bloomfam_join_filter_info_add(all, &skip);
		}
		bloomfam_join_filter_info_add(probe, &info);
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
	JoinFilterInfo info = {
		.kind = JOIN_INFO_STORED, .drop = JOIN_STORED_DROP, .access = JOIN_PAGE_BATCHES};

	if (parent == NULL || bloomfam_join_node_kind(parent) != JOIN_NODE_PROBE)
	{
		probe = put_on_top(rewrite, slot, JOIN_NODE_PROBE, parallel);
		if (ExecSupportsBackwardScan(outerPlan(probe)))
			probe->flags |= CUSTOMPATH_SUPPORT_BACKWARD_SCAN;
	}
	info.condition = list_length(probe->custom_exprs);
	info.before = condition->before;
	probe->custom_exprs = lappend(probe->custom_exprs, condition->condition);
	bloomfam_join_filter_info_add(probe, &info);
	return probe;
}
