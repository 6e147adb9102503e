/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * plan.c
 *	  Adds filters to a finished plan: to each hash join those that are expected to pay
 *	  (decision.c), and to scans those that the query names in conditions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "join/base/column.h"
#include "join/base/filter_info.h"
#include "join/base/gucs.h"
#include "join/base/index.h"
#include "join/fdw/foreign.h"
#include "join/filter/keys.h"
#include "join/planner/constants.h"
#include "join/planner/decision.h"
#include "join/planner/partition_ancestors.h"
#include "join/planner/plan.h"
#include "pg/plan_nodes.h"

/* The state of adding filters to a plan. */
typedef struct PlanContext
{
	JoinPlanInfo plan_info;
	bool		row_security;

	/* The number of workers that run the current part of the plan; 0: only the leader runs it. */
	int			workers;

	/* List of the plan nodes above the current node, the nearest first. */
	List	   *ancestors;
	List	   *decisions;		/* List of JoinDecision: one for each join so far. */
	int			nfilters;
	JoinPartitionAncestors partitions;
} PlanContext;

/* ---- filters of joins ---- */

/*
 * Puts a build or probe node, which returns its child's rows unchanged, on top of the plan in
 * *slot.  "parallel" says whether workers run this part of the plan.
 */
static CustomScan *
put_on_top(PlanContext *context, Plan **slot, JoinNodeKind kind, bool parallel)
{
	Plan	   *child = *slot;
	CustomScan *node = bloomfam_join_node_make(kind);
	Plan	   *plan = &node->scan.plan;
	ListCell   *lc;

	/*
	 * A hash join expects a Hash node as its inner child, and an Append expects the asynchronous
	 * scan itself, so no build or probe node may be put on top of a Hash or an asynchronous scan.
	 */
	Assert(!IsA(child, Hash) && !child->async_capable);
	foreach(lc, child->targetlist)
	{
		TargetEntry *entry = lfirst(lc);
		TargetEntry *below = flatCopyTargetEntry(entry);
		/*
		 * The upper node's target entry keeps resorigtbl and resorigcol, which tell clients from
		 * which table's column a result column comes.
		 */
		TargetEntry *above = flatCopyTargetEntry(entry);

		below->expr = (Expr *) makeVarFromTargetEntry(OUTER_VAR, entry);
		above->expr = (Expr *) makeVarFromTargetEntry(INDEX_VAR, entry);
		node->custom_scan_tlist = lappend(node->custom_scan_tlist, below);
		plan->targetlist = lappend(plan->targetlist, above);
	}
	plan->startup_cost = child->startup_cost;
	plan->total_cost = child->total_cost;
	/* A Hash on top of a build node sizes its hash table by that node's plan_rows. */
	plan->plan_rows = child->plan_rows;
	plan->plan_width = child->plan_width;
	plan->parallel_safe = child->parallel_safe;
	/* The server gives shared memory only to nodes that are parallel-aware. */
	plan->parallel_aware = parallel;
	plan->plan_node_id = ++context->plan_info.highest_node_id;
	plan->lefttree = child;
	plan->extParam = bms_copy(child->extParam);
	plan->allParam = bms_copy(child->allParam);
	*slot = plan;
	return node;
}

/*
 * Makes the description of a filter that a node carries.  For a node on the join's probe side,
 * "attributes" are the key's columns in the output of the node's child; NULL makes the description
 * for the node on the build side.
 */
static JoinFilterInfo
make_info(const JoinPushdown *pushdown, const AttrNumber *attributes)
{
	JoinFilterInfo info = {
		.kind = JOIN_INFO_JOIN, .param = pushdown->param, .number = pushdown->number,
		.drop = (int) (pushdown->candidate.drop * 1000), .condition = -1,
		.ncolumns = pushdown->candidate.ncolumns
	};
	int			i;

	info.columns = palloc(pushdown->candidate.ncolumns * sizeof(JoinColumnInfo));
	for (i = 0; i < pushdown->candidate.ncolumns; i++)
	{
		const JoinKeyColumn *column = &pushdown->candidate.columns[i];
		const JoinHashing *hashing = &column->hashing;
		const JoinHashSide *side = attributes != NULL ? &hashing->probe : &hashing->build;

		info.columns[i] = (JoinColumnInfo) {
			.hashing = hashing->kind, .type = side->type, .function = side->function,
			.operator = column->operator, .collation = column->collation,
			.attribute = attributes != NULL ? attributes[i]
											: bloomfam_join_column(column->build_expr, OUTER_VAR),
			.expression = -1, .hash_key = column->hash_key
		};
		Assert(info.columns[i].attribute != 0 || attributes == NULL);
	}
	return info;
}

/*
 * Adds the conditions and parameters to foreign scans by which they are sent what they may be sent.
 */
static void
send_to_foreign(PlanContext *context, const JoinPushdown *pushdown, JoinFilterInfo *build)
{
	ListCell   *lc;

	foreach(lc, pushdown->foreign)
	{
		JoinForeignTarget *target = lfirst(lc);

		if (bloomfam_join_sends(&target->sendings))
			target->infos = bloomfam_join_foreign_plan(
				context->plan_info.known.stmt, target->scan, target->attributes[target->column],
				&target->sendings, target->column,
				exprType((Node *) pushdown->candidate.columns[target->column].build_expr),
				&build->foreign);
	}
}

/*
 * Returns the numbers of those columns of a filter's key for which the scanned table has an index
 * that can be searched for the keys.
 */
static Bitmapset *
indexed_columns(PlanContext *context, const JoinPushdown *pushdown, const JoinTarget *target,
				const Scan *scan)
{
	Relation	table =
		table_open(rt_fetch(scan->scanrelid, context->plan_info.known.stmt->rtable)->relid, NoLock);
	Snapshot	snapshot = ActiveSnapshotSet() ? GetActiveSnapshot() : NULL;
	int			ncolumns = pushdown->candidate.ncolumns;
	JoinIndexed *key = palloc0(ncolumns * sizeof(JoinIndexed));
	Bitmapset  *columns = NULL;
	int			i;

	for (i = 0; i < ncolumns; i++)
	{
		const JoinKeyColumn *column = &pushdown->candidate.columns[i];
		JoinIndexed indexed = {
			.attribute =
				bloomfam_join_column_behind(&scan->plan, target->attributes[i], scan->scanrelid),
			.operator = column->operator,
			.type = column->hashing.build.type,
			.guarded = scan->plan.qual != NIL
		};

		if (!bloomfam_join_keys_can_keep(column->hashing.kind, indexed.type))
			continue;
		key[i] = indexed;
		if (bloomfam_join_indexes(table, &indexed, snapshot) != NIL)
			columns = bms_add_member(columns, i);
	}
	(void) bloomfam_join_whole_indexes(table, key, ncolumns, snapshot, &columns);
	pfree(key);
	table_close(table, NoLock);
	return columns;
}

/*
 * Finds what keys can tell at the targets besides which rows match: which targets are partitions
 * that can be pruned, and which of their tables have an index that can be searched for keys.
 * Returns the columns of the key whose values must be kept for that.
 */
static Bitmapset *
find_what_keys_tell(PlanContext *context, const JoinPushdown *pushdown)
{
	Bitmapset  *kept = NULL;
	ListCell   *lc;
	ListCell   *ll;
	ListCell   *li;

	context->partitions = (JoinPartitionAncestors) {
		.pushdown = pushdown, .of_child = context->partitions.of_child
	};
	if (!bloomfam_join_may_skip())
		return NULL;
	foreach(lc, pushdown->targets)
	{
		JoinTarget *target = lfirst(lc);
		const Plan *plan = bloomfam_join_below_own(*target->slot);

		target->ancestors =
			bloomfam_join_partition_ancestors(&context->partitions, plan, target->attributes);
		foreach(ll, target->ancestors)
			foreach(li, ((JoinAncestorInfo *) lfirst(ll))->columns)
				kept = bms_add_member(kept, lfirst_int(li));
		if (IsA(plan, SeqScan) && bloomfam_join_index_may_pay(target->site.rows_before) &&
			(!plan->parallel_aware || pushdown->not_first == JOIN_NO_REASON) &&
			target->site.access != JOIN_ROW_BY_ROW)
			target->indexed = indexed_columns(context, pushdown, target, (const Scan *) plan);
		kept = bms_add_members(kept, target->indexed);
	}
	return kept;
}

/*
 * Returns the fraction of a probe node's rows that its filters of joins are expected to let pass.
 * If before_first_row is true, only filters of joins that build first count.
 */
static double
fraction_passing(const CustomScan *probe, bool before_first_row)
{
	const JoinFilterInfo *infos = bloomfam_join_filter_infos(probe);
	double		fraction = 1;
	int			i;

	for (i = 0; i < bloomfam_join_nfilters(probe); i++)
		if (infos[i].kind == JOIN_INFO_JOIN && (infos[i].build_first || !before_first_row))
			fraction *= 1 - infos[i].drop / 1000.0;
	return fraction;
}

/*
 * Decides whether the join is to build before it reads its outer side.  If it does not, the first
 * row is not checked by the filter, nor are the rows read to find it: by a node further down that
 * reads its input to the end, by a worker, or by a foreign server; and a parallel scan can skip
 * pages only if it knows them before it begins.  At an all-or-none target, every row must be
 * checked.
 */
static bool
builds_first(const JoinPushdown *pushdown)
{
	const Plan *outer = *pushdown->probe_side;
	double		left = 1;
	ListCell   *lc;

	if (pushdown->not_first != JOIN_NO_REASON)
		return false;
	foreach(lc, pushdown->foreign)
		if (bloomfam_join_sends(&((JoinForeignTarget *) lfirst(lc))->sendings))
			return true;
	foreach(lc, pushdown->targets)
	{
		const JoinTarget *target = lfirst(lc);

		/* The cost of a CTE scan does not include that of computing the CTE's first row. */
		if (target->crossed.below_gather || target->crossed.below_hash ||
			target->crossed.all_or_none || IsA(bloomfam_join_below_own(*target->slot), CteScan) ||
			(target->indexed != NULL && bloomfam_join_below_own(*target->slot)->parallel_aware))
			return true;

		/*
		 * Judges how many rows the join must read until it finds its first outer row: at the first
		 * target, filters of joins further up may drop rows before.
		 */
		if (lc == list_head(pushdown->targets) &&
			bloomfam_join_node_kind(*target->slot) == JOIN_NODE_PROBE)
			left = fraction_passing((const CustomScan *) *target->slot, true);
	}
	return IsA(pushdown->join, MergeJoin) ||
		   bloomfam_join_is_worth_building_first(outer, left, pushdown->build_parent->total_cost);
}

/*
 * Puts the build node on top of the join's build side.  Returns the description of the filter that
 * it carries.
 */
static JoinFilterInfo
add_build(PlanContext *context, const JoinPushdown *pushdown, const Bitmapset *kept)
{
	Plan	   *build_parent = pushdown->build_parent;
	CustomScan *node =
		put_on_top(context, &outerPlan(build_parent), JOIN_NODE_BUILD, context->workers > 0);
	JoinFilterInfo info = make_info(pushdown, NULL);
	int			i;

	info.parallel_hash = IsA(build_parent, Hash) && build_parent->parallel_aware;
	info.build_first = builds_first(pushdown);
	info.not_skipped = context->partitions.not_skipped;
	for (i = 0; i < pushdown->candidate.ncolumns; i++)
	{
		info.columns[i].kept = bms_is_member(i, kept);
		if (info.columns[i].attribute != 0)
			continue;
		info.columns[i].expression = list_length(node->custom_exprs);
		node->custom_exprs =
			lappend(node->custom_exprs, copyObject(pushdown->candidate.columns[i].build_expr));
	}
	send_to_foreign(context, pushdown, &info);
	bloomfam_join_filter_info_add(node, &info);
	return info;
}

/* Returns the probe node on top of the plan in *slot, which is made if there is none yet. */
static CustomScan *
probe_on_top(PlanContext *context, Plan **slot, bool parallel)
{
	CustomScan *probe = (CustomScan *) *slot;

	if (bloomfam_join_node_kind(&probe->scan.plan) == JOIN_NODE_PROBE)
		return probe;
	return put_on_top(context, slot, JOIN_NODE_PROBE, parallel);
}

/*
 * Puts a join's filter into the plan: a build node on its build side, and a probe node at each
 * target.
 */
static void
add_filter(PlanContext *context, JoinPushdown *pushdown)
{
	PlannedStmt *stmt = context->plan_info.known.stmt;
	JoinFilterInfo build;
	ListCell   *lc;
	int			i;

	pushdown->number = ++context->nfilters;
	context->plan_info.filters = lappend(context->plan_info.filters, pushdown);
	pushdown->param = list_length(stmt->paramExecTypes);
	stmt->paramExecTypes = lappend_oid(stmt->paramExecTypes, INTERNALOID);
	build = add_build(context, pushdown, find_what_keys_tell(context, pushdown));
	foreach(lc, pushdown->targets)
	{
		const JoinTarget *target = lfirst(lc);
		const JoinCrossed *crossed = &target->crossed;
		bool		parallel = context->workers > 0 || crossed->below_gather;
		CustomScan *probe = probe_on_top(context, target->slot, parallel);
		JoinFilterInfo info = make_info(pushdown, target->attributes);

		if (target->foreign != NULL)
			info.foreign = target->foreign->infos;
		for (i = 0; i < pushdown->candidate.ncolumns; i++)
			if (bms_is_member(i, target->indexed))
				info.columns[i].indexed = pushdown->candidate.columns[i].hashing.build.type;
		info.build_first = build.build_first;
		info.from_leader = crossed->below_gather;
		info.access = target->site.access;
		info.min_drop = target->site.min_drop;
		info.all_or_none = crossed->all_or_none;
		info.ancestors = target->ancestors;
		if (info.ancestors != NIL && crossed->branch != NULL && crossed->branch != target->slot &&
			bloomfam_join_tree_is_volatile_free(pushdown->plan_info, *crossed->branch))
		{
			/*
			 * If an Append's child is a join of partitions (partitionwise join), a partition that
			 * cannot match must be skipped with the whole child, or else the child would read the
			 * other side of its join in vain.  So the node that skips is put on top of the child.
			 */
			CustomScan *all = probe_on_top(context, crossed->branch, parallel);
			JoinFilterInfo skip = make_info(pushdown, crossed->branch_attributes);

			skip.from_leader = crossed->below_gather;
			skip.access = JOIN_NO_ROWS;
			skip.all_or_none = crossed->all_or_none;
			skip.ancestors = info.ancestors;
			info.ancestors = NIL;
			if (!bloomfam_join_has_filter(all, pushdown->number))
				bloomfam_join_filter_info_add(all, &skip);
		}
		bloomfam_join_filter_info_add(probe, &info);
	}
}

/* ---- conditions with a stored filter ---- */

/*
 * executor/stored.c says what must be kept in execution when a condition with a stored filter is
 * taken out of a scan.  In planning, two things must be kept:
 *
 *	- The planner may choose the order of conditions, except where row security is involved: a
 *	  function that could reveal something of a row must not see the row before the policy has let
 *	  it pass.  So in a query with row security, only conditions that come first are taken.  (The
 *	  security barrier of a view has a scan of its own.)  If one of a scan's other conditions is
 *	  volatile, none is taken.
 *	- EvalPlanQual evaluates a scan's conditions once more for a row, and would miss a condition
 *	  that was taken.  So nothing is taken in plans that may use EvalPlanQual, which are those that
 *	  lock or change rows of a table that they scan.
 */

/*
 * Tells whether hashing any key of a type is known to raise no error: it is one of the server's own
 * types, but for records, which may have parts of any type.
 */
static bool
can_hash_all(Oid type)
{
	return getBaseType(type) < FirstNormalObjectId && type != RECORDOID && type != RECORDARRAYOID;
}

/* Tells whether a condition probes a filter that can be probed in page batches instead. */
static bool
can_be_taken(Node *condition, Index relid, const JoinPlanInfo *plan_info)
{
	int			filter_arg;
	List	   *args = bloomfam_join_stored_arguments(condition, &filter_arg);
	Node	   *filter;
	Node	   *key;

	if (args == NIL)
		return false;
	filter = list_nth(args, filter_arg);
	key = list_nth(args, 1 - filter_arg);
	return bloomfam_join_column((Expr *) key, relid) != 0 && can_hash_all(exprType(key)) &&
		   !contain_var_clause(filter) && !contain_subplans(filter) &&
		   !bloomfam_join_is_volatile(filter, plan_info);
}

/*
 * Tells whether a table is a heap and not too small to probe it in page batches.  For few rows, the
 * condition itself reads only the blocks of the filter that it probes, whereas page batches would
 * read the whole filter.
 */
static bool
is_worthwhile(Oid relation)
{
	Relation	table = table_open(relation, NoLock);
	bool		result = table->rd_tableam == GetHeapamTableAmRoutine() &&
		(bloomfam_join_filter == JOIN_FILTER_FORCE || table->rd_rel->reltuples < 0 ||
		 table->rd_rel->reltuples >= LEAST_ROWS);

	table_close(table, NoLock);
	return result;
}

/*
 * Adds a condition with a stored filter to the probe node "parent" on top of the scan.  If "parent"
 * is NULL or another kind of node, first puts a probe node on top of the scan in *slot.  Returns
 * the probe node.
 */
static Plan *
add_condition(PlanContext *context, Plan **slot, Plan *parent, Node *condition)
{
	CustomScan *probe = (CustomScan *) parent;
	JoinFilterInfo info = {
		.kind = JOIN_INFO_STORED, .drop = STORED_DROP, .access = JOIN_PAGE_BATCHES
	};

	if (parent == NULL || bloomfam_join_node_kind(parent) != JOIN_NODE_PROBE)
	{
		probe = put_on_top(context, slot, JOIN_NODE_PROBE, context->workers > 0);
		if (ExecSupportsBackwardScan(outerPlan(probe)))
			probe->flags |= CUSTOMPATH_SUPPORT_BACKWARD_SCAN;
	}
	info.condition = list_length(probe->custom_exprs);
	probe->custom_exprs = lappend(probe->custom_exprs, condition);
	bloomfam_join_filter_info_add(probe, &info);
	return &probe->scan.plan;
}

/* Moves conditions with stored filters from a scan to the probe node on top of it. */
static void
take_stored(PlanContext *context, Plan **slot)
{
	const PlannedStmt *stmt = context->plan_info.known.stmt;
	Scan	   *scan = (Scan *) *slot;
	Plan	   *parent = context->ancestors != NIL ? linitial(context->ancestors) : NULL;
	List	   *taken = NIL;
	List	   *left = NIL;
	ListCell   *lc;

	/*
	 * Nothing is taken from a scan below a CustomScan node of another extension, which may depend
	 * on its child's node type.
	 */
	if ((parent != NULL && IsA(parent, CustomScan) &&
		 bloomfam_join_node_kind(parent) == JOIN_NODE_OTHER) ||
		(stmt->commandType != CMD_SELECT && stmt->commandType != CMD_INSERT) ||
		stmt->rowMarks != NIL || stmt->hasModifyingCTE)
		return;
	foreach(lc, scan->plan.qual)
	{
		if ((left == NIL || !context->row_security) &&
			can_be_taken(lfirst(lc), scan->scanrelid, &context->plan_info))
			taken = lappend(taken, lfirst(lc));
		else
			left = lappend(left, lfirst(lc));
	}
	if (taken == NIL || bloomfam_join_is_volatile(left, &context->plan_info) ||
		!is_worthwhile(rt_fetch(scan->scanrelid, stmt->rtable)->relid))
		return;
	scan->plan.qual = left;
	foreach(lc, taken)
		parent = add_condition(context, slot, parent, lfirst(lc));
}

/* ---- walking the plan ---- */

static void
plan_join(PlanContext *context, Join *join)
{
	JoinDecision *decision = palloc(sizeof(JoinDecision));
	ListCell   *lc;

	decision->join = join;
	decision->ancestors = list_copy(context->ancestors);
	decision->key_decisions =
		palloc0(list_length(bloomfam_join_conditions(join)) * sizeof(JoinKeyDecision));
	foreach(lc, bloomfam_join_decide(&context->plan_info, context->workers, join,
									  decision->key_decisions))
		add_filter(context, lfirst(lc));
	context->decisions = lappend(context->decisions, decision);
}

/*
 * Adds filters to the plan in *slot, from the top down: when a scan is reached, it has already got
 * the filters of all joins above it.
 */
static bool
plan_tree(Plan **slot, void *plan_context)
{
	PlanContext *context = plan_context;
	Plan	   *plan = *slot;
	int			workers = context->workers;

	if (bloomfam_join_build_parent(plan) != NULL)
		plan_join(context, (Join *) plan);
	context->workers = bloomfam_join_workers(plan, workers);
	context->ancestors = lcons(plan, context->ancestors);
	bloomfam_plan_walker(plan, plan_tree, context);
	context->ancestors = list_delete_first(context->ancestors);
	context->workers = workers;
	if (IsA(plan, SeqScan))
		take_stored(context, slot);

	/*
	 * All joins above and below have their filters by now, and no cost depends on plan_rows any
	 * more.  So it can be set to the number of rows expected after the filters.
	 */
	if (bloomfam_join_node_kind(plan) == JOIN_NODE_PROBE)
		plan->plan_rows =
			clamp_row_est(plan->plan_rows * fraction_passing((CustomScan *) plan, false));
	return false;
}

List *
bloomfam_join_plan(PlannedStmt *stmt, bool row_security)
{
	PlanContext context = {.row_security = row_security};

	if (stmt->commandType == CMD_UTILITY)
		return NIL;
	bloomfam_join_plan_info_init(&context.plan_info, stmt);
	bloomfam_plan_stmt_walker(stmt, plan_tree, &context);
	Assert(context.ancestors == NIL && context.workers == 0);
	return context.decisions;
}
