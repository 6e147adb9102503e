/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * candidate.c
 *	  Describes a filter that could be made (a candidate), from paths or from a finished plan.
 *
 * A candidate is described twice.  While the planner considers paths, a filter's expected saving is
 * subtracted from the cost of a hash join or merge join (paths.c).  Once the plan is finished, it
 * is decided whether the filter is made (decision.c).  Both descriptions are made in this file, and
 * one model estimates what either costs and saves (cost.c).
 *
 * A finished plan tells exactly where rows are probed, and what was pushed down elsewhere.  Paths
 * tell what the server charges for each node, and what statistics say of a table's blocks.  A
 * figure that one of the descriptions lacks is set to a value that is neutral in the model.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/transam.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/plancat.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

#include "join/base/column.h"
#include "join/base/column_stats.h"
#include "join/planner/candidate.h"
#include "join/planner/constants.h"
#include "join/planner/cost.h"
#include "join/planner/join_type.h"
#include "join/planner/prune_cost.h"
#include "pg/compat.h"
#include "pg/expression.h"
#include "pg/plan_nodes.h"

/* ---- functions that are used both while paths are made and for finished plans ---- */

/* Makes a plan depend on a hash function, which can be taken out of its operator family. */
static void
depend_on_function(const JoinPlanInfo *plan_info, Oid function)
{
	if (function >= FirstNormalObjectId)
		bloomfam_plan_depends_on(plan_info->known.stmt, PROCOID, function);
}

JoinReason
bloomfam_join_describe_key(JoinKeyColumn *key, AttrNumber attribute, Oid probe_type, Oid operator,
						   Oid collation, Expr *build_expr, const JoinPlanInfo *plan_info)
{
	Oid			build_type = exprType((Node *) build_expr);

	*key = (JoinKeyColumn) {
		.operator = operator, .collation = collation, .attribute = attribute,
		.build_expr = build_expr
	};
	if (plan_info != NULL)
	{
		/* Looking into a type is what makes the plan depend on it. */
		(void) bloomfam_type_is_volatile(probe_type, &plan_info->known);
		(void) bloomfam_type_is_volatile(build_type, &plan_info->known);
	}
	if (!bloomfam_join_hashing(operator, collation, probe_type, build_type, &key->hashing))
		return JOIN_KEY_HAS_NO_HASH;
	if (plan_info != NULL)
	{
		depend_on_function(plan_info, key->hashing.probe.function);
		depend_on_function(plan_info, key->hashing.build.function);
	}
	/*
	 * The build node evaluates a copy of the build side's expression.  An expression with a subplan
	 * cannot be used, since there would be no copy of the subplan.
	 */
	if (attribute == 0 || contain_subplans((Node *) build_expr))
		return JOIN_KEY_IS_COMPUTED;
	return bloomfam_join_is_volatile(build_expr, plan_info) ? JOIN_KEY_IS_VOLATILE
															: JOIN_NO_REASON;
}

/*
 * Decides how a sequential scan is probed whose conditions and columns are all free of volatile
 * functions, and whose table the key's columns belong to.
 *
 * In page batches, keys are hashed of rows that the join may never come to, for instance below a
 * LIMIT.  So hashing must not fail.  If the scan has conditions, keys are hashed before these are
 * evaluated, so hashing must reveal nothing of rows that the conditions would hide.  A long key
 * would be fetched for each row, though most rows may not come to the join; so long keys are probed
 * after the scan's conditions, or let pass by the filter.  Scans of an unknown major version are
 * probed row by row.
 */
static JoinAccess
decide_access(const JoinCandidate *candidate, bool has_conditions, bool long_keys)
{
	JoinHashTrust trust = bloomfam_join_trust(candidate);

	if (!BLOOMFAM_KNOWN_MAJOR || trust == JOIN_HASH_MAY_FAIL)
		return JOIN_ROW_BY_ROW;
	if (!has_conditions)
		return JOIN_PAGE_BATCHES;
	return trust == JOIN_HASH_LEAKPROOF && !long_keys ? JOIN_PAGE_BATCHES_SPARING
													  : JOIN_ROW_BY_ROW;
}

/*
 * Tells whether a scan reads one table, whose columns its target list refers to by their attribute
 * numbers.  "scan" is the tag of a plan node, or the pathtype of a path.
 */
static bool
is_table_scan(NodeTag scan)
{
	return scan == T_SeqScan || scan == T_IndexScan || scan == T_BitmapHeapScan;
}

/*
 * Returns by which factor one process's part of the rows is smaller than all rows, as costsize.c
 * expects for the given number of workers.
 */
static double
count_processes(int workers)
{
	/*
	 * The leader scans a smaller share of the rows the more workers there are, since it also
	 * receives the workers' rows.
	 */
	double		leader = parallel_leader_participation ? 1 - 0.3 * workers : 0;

	return workers + Max(leader, 0);
}

/* ---- describing candidates from paths ---- */

bool
bloomfam_join_clause_compares(const RestrictInfo *clause, JoinType jointype,
							  const RelOptInfo *probed, const RelOptInfo *built, bool *turned)
{
	Relids		probed_side;
	Relids		built_side;

	*turned = bms_is_subset(clause->left_relids, built->relids);
	probed_side = *turned ? clause->right_relids : clause->left_relids;
	built_side = *turned ? clause->left_relids : clause->right_relids;
	if (!clause->can_join || !bms_is_subset(probed_side, probed->relids) ||
		!bms_is_subset(built_side, built->relids))
		return false;

	/*
	 * A clause that is evaluated after an outer join decides about no match.  The server makes the
	 * same distinction of types (clause_sides_match_join()).
	 */
	return !IS_OUTER_JOIN(jointype) ||
		   !RINFO_IS_PUSHED_DOWN(clause, bms_union(probed->relids, built->relids));
}

bool
bloomfam_join_candidate_keys(JoinPathCandidate *path_candidate, const RelOptInfo *probed,
							 const JoinPathExtraData *extra, JoinType jointype)
{
	PlannerInfo *root = path_candidate->root;
	const RelOptInfo *built = path_candidate->built;
	JoinKeyColumn *columns = palloc(list_length(extra->restrictlist) * sizeof(JoinKeyColumn));
	int			ncolumns = 0;
	QualCost	comparing;
	const ListCell *lc;

	foreach(lc, extra->restrictlist)
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, lc);
		const OpExpr *equal = (const OpExpr *) clause->clause;
		bool		turned;
		Expr	   *probe_expr;
		const Var  *column;
		const RangeTblEntry *rte;
		Oid			operator;
		JoinReason	reason;

		if (!OidIsValid(clause->hashjoinoperator) ||
			!bloomfam_join_clause_compares(clause, jointype, probed, built, &turned))
			continue;
		probe_expr = turned ? lsecond(equal->args) : linitial(equal->args);
		column = bloomfam_expression_var(probe_expr);

		/*
		 * If the clause has the build side on its left, the filter needs the operator's commutator.
		 * Without one, the server's hash join could not turn the clause round either.
		 */
		operator = turned ? get_commutator(equal->opno) : equal->opno;
		if (column == NULL || !OidIsValid(operator) ||
			(path_candidate->clauses != NIL && column->varno != path_candidate->relid))
			return false;
		path_candidate->relid = column->varno;
		path_candidate->clauses = lappend(path_candidate->clauses, clause);
		reason = bloomfam_join_describe_key(&columns[ncolumns], column->varattno,
											exprType((Node *) probe_expr), operator,
											equal->inputcollid,
											turned ? linitial(equal->args) : lsecond(equal->args),
											NULL);

		/*
		 * The server considers hash joins by clauses of which it cannot tell that a hash join would
		 * fail, or would lose rows, such as those of ranges of money.  It is not led to one.
		 */
		if (reason == JOIN_KEY_HAS_NO_HASH)
			return false;
		if (reason != JOIN_NO_REASON)
			continue;
		ncolumns++;
		rte = planner_rt_fetch(column->varno, root);
		path_candidate->long_keys |= rte->rtekind == RTE_RELATION &&
			bloomfam_join_column_is_long(rte->relid, column->varattno, rte->inh);
	}
	if (ncolumns == 0)
		return false;
	path_candidate->candidate.columns = columns;
	path_candidate->candidate.ncolumns = ncolumns;
	cost_qual_eval(&comparing, path_candidate->clauses, root);
	path_candidate->comparing =
		comparing.per_tuple *
		(jointype == JOIN_INNER && !extra->inner_unique ? COMPARED : COMPARED_IN_VAIN);
	return true;
}

const Path *
bloomfam_join_path_below(const Path *path)
{
	switch (nodeTag(path))
	{
		case T_ProjectionPath:
			return ((const ProjectionPath *) path)->subpath;
		case T_MaterialPath:
			return ((const MaterialPath *) path)->subpath;
		case T_SortPath:
		case T_IncrementalSortPath:
			return ((const SortPath *) path)->subpath;
		case T_AggPath:
			return ((const AggPath *) path)->subpath;
		case T_GroupPath:
			return ((const GroupPath *) path)->subpath;
		case T_WindowAggPath:
			return ((const WindowAggPath *) path)->subpath;
		case BLOOMFAM_DISTINCT_PATH:
			return ((const BloomfamDistinctPath *) path)->subpath;
		case T_HashPath:
		case T_MergePath:
		case T_NestPath:
			return ((const JoinPath *) path)->outerjoinpath;
		default:
			return NULL;
	}
}

/*
 * Follows a path down to the scan of a relation, or to the Append of its partitions.  Returns NULL
 * if the scan is on the inner side of some join.  (A filter may be pushed down inner sides as well,
 * pushdown.c, but what it saves there is something else.)  Adds to *passing what the nodes in
 * between cost for the rows that pass them, but never more than the server charges for these nodes.
 */
static const Path *
follow(const Path *path, Index relid, Cost *passing)
{
	for (;;)
	{
		const Path *child = bloomfam_join_path_below(path);
		Cost		own = path->total_cost;

		if (child == NULL)
			return path->parent->relid == relid ? path : NULL;
		if (child->parent->reloptkind != RELOPT_UPPER_REL &&
			!bms_is_member(relid, child->parent->relids))
			return NULL;
		own -= child->total_cost;
		if (IsA(path, HashPath) || IsA(path, MergePath) || IsA(path, NestPath))
		{
			const JoinPath *join = (const JoinPath *) path;

			if (!bloomfam_join_may_pass_outer(join->jointype))
				return NULL;
			own -= join->innerjoinpath->total_cost;
		}
		/*
		 * A filter may save the whole cost of a sort above the scan, since each row costs more the
		 * more rows are sorted.  Of another node's cost it saves at most the cost of passing rows
		 * on.
		 */
		if (!IsA(path, SortPath))
			own = Min(own, bloomfam_join_cost_of_passing(child->rows));
		*passing += Max(own, 0);
		path = child;
	}
}

/* Tells whether an output column of a query is among the columns of a list of SortGroupClauses. */
static bool
is_among(const List *clauses, const TargetEntry *entry)
{
	ListCell   *lc;

	foreach(lc, clauses)
		if (entry->ressortgroupref != 0 &&
			lfirst_node(SortGroupClause, lc)->tleSortGroupRef == entry->ressortgroupref)
			return true;
	return false;
}

/*
 * Returns the range table index of the base relation in a subquery that all columns of the key
 * belong to.  Returns 0 if there is none, or if the subquery does something with its rows that no
 * filter can be pushed through.
 */
static Index
relation_within(const JoinCandidate *candidate, const Query *query)
{
	Index		relid = 0;
	ListCell   *lc;
	int			i;

	if (query->setOperations != NULL || query->groupingSets != NIL || query->hasTargetSRFs ||
		query->limitCount != NULL || query->limitOffset != NULL)
		return 0;
	for (i = 0; i < candidate->ncolumns; i++)
	{
		const TargetEntry *entry =
			get_tle_by_resno(query->targetList, candidate->columns[i].attribute);
		const Var  *column = entry != NULL ? bloomfam_expression_var(entry->expr) : NULL;

		if (column == NULL || column->varlevelsup != 0 ||
			(i > 0 && (Index) column->varno != relid) ||
			(query->groupClause != NIL && !is_among(query->groupClause, entry)) ||
			(query->distinctClause != NIL && !is_among(query->distinctClause, entry)))
			return 0;
		foreach(lc, query->windowClause)
			if (!is_among(lfirst_node(WindowClause, lc)->partitionClause, entry))
				return 0;
		relid = column->varno;
	}
	return relid;
}

/*
 * If a path is the scan of a subquery, follows it down to that scan within the subquery to which a
 * filter can be pushed, and adds the cost of the nodes in between to *passing.  If there is none,
 * returns the path itself.
 */
static const Path *
follow_within(const JoinCandidate *candidate, const Path *scan, Cost *passing)
{
	const PlannerInfo *subroot = scan->parent->subroot;
	Cost		within = 0;
	const Path *found = NULL;
	Index		relid;

	if (!IsA(scan, SubqueryScanPath) || subroot == NULL)
		return scan;
	relid = relation_within(candidate, subroot->parse);
	if (relid != 0)
		found = follow(((const SubqueryScanPath *) scan)->subpath, relid, &within);
	if (found == NULL)
		return scan;
	*passing += within;
	return found;
}

/* Describes the site of a filter at a scan that returns the given number of rows to one process. */
static JoinFilterSite *
describe_scan(const JoinPathCandidate *path_candidate, const Path *scan, double rows, Cost passing)
{
	const RelOptInfo *rel = scan->parent;
	JoinFilterSite *site = palloc0(sizeof(JoinFilterSite));
	bool		is_volatile = bloomfam_join_is_volatile(scan->pathtarget->exprs, NULL);
	ListCell   *lc;

	site->access = JOIN_ROW_BY_ROW;
	site->rows_before = site->rows_after = rows;
	site->passing = passing;
	site->read = 1;
	if (scan->pathtype != T_SeqScan)
		return site;
	foreach(lc, rel->baserestrictinfo)
		is_volatile |= bloomfam_join_is_volatile(lfirst_node(RestrictInfo, lc)->clause, NULL);
	site->long_keys = path_candidate->long_keys;
	if (!is_volatile)
		site->access = decide_access(&path_candidate->candidate, rel->baserestrictinfo != NIL,
									 site->long_keys);
	site->rows_before = Max(rows, rows * rel->tuples / Max(rel->rows, 1));
	site->condition_cost = rel->baserestrictcost.per_tuple;
	return site;
}

/*
 * Sets the candidate's sites (where rows would be probed) to the scan of the base relation, or to
 * the scans of its partitions. is_within says that the scans are within a subquery.
 */
static void
describe_scans(JoinPathCandidate *path_candidate, const Path *scan, bool is_within, Cost passing)
{
	JoinCandidate *candidate = &path_candidate->candidate;
	bool		is_append = IsA(scan, AppendPath);
	const List *scans = is_append ? ((const AppendPath *) scan)->subpaths
								  : list_make1(unconstify(Path *, scan));
	double		rows = 0;
	ListCell   *lc;

	list_free_deep(candidate->sites);
	candidate->sites = NIL;
	path_candidate->scanned = 0;
	foreach(lc, scans)
		rows += ((const Path *) lfirst(lc))->rows;
	foreach(lc, scans)
	{
		const Path *child = lfirst(lc);
		double		fraction = child->rows / Max(rows, 1);
		JoinFilterSite *site =
			describe_scan(path_candidate, child, scan->rows * fraction, passing * fraction);

		site->scanning = (scan->total_cost - scan->startup_cost) * fraction;
		if (scan->parallel_workers > 0 && child->pathtype == T_SeqScan)
			site->shared_pages = child->parent->pages;
		candidate->sites = lappend(candidate->sites, site);
		if ((is_append || site->access != JOIN_ROW_BY_ROW) && !is_within)
		{
			/*
			 * The fraction of the relation that is read after pruning is the same for all paths of
			 * the two relations, so it is estimated only once.
			 */
			if (path_candidate->read < 0)
				path_candidate->read = bloomfam_join_read_fraction(
					path_candidate->root, scan->parent, candidate, path_candidate->built);
			site->read = path_candidate->read;
		}
		path_candidate->scanned += child->parent->tuples * site->read;
	}
}

/*
 * Adds the scan to the candidate's foreign scans, if it is one whose server is expected to be sent
 * the keys or a filter of them.
 */
static void
describe_foreign_scan(JoinPathCandidate *path_candidate, const Path *scan)
{
	JoinCandidate *candidate = &path_candidate->candidate;
	const JoinKeyColumn *column = &candidate->columns[0];
	const RelOptInfo *rel = scan->parent;
	const PlannerInfo *root;
	JoinForeignSite *site;
	JoinForeignKey key;

	candidate->foreign = NIL;
	if (scan->pathtype != T_ForeignScan)
		return;
	Assert(rel->relid == path_candidate->relid);
	key = (JoinForeignKey) {
		.column = column, .server = rel->serverid, .user = rel->userid,
		.table = planner_rt_fetch(rel->relid, path_candidate->root)->relid
	};
	key.type = get_atttype(key.table, column->attribute);
	for (root = path_candidate->root; root != NULL; root = root->parent_root)
		key.reads_as_others |= bloomfam_query_reads_as_others(
			root->parse, OidIsValid(rel->userid) ? rel->userid : GetUserId());

	/* The number of keys that are sent is the number of distinct keys, as each key is sent once. */
	if (!bloomfam_join_foreign_expected(
			&key, estimate_num_groups(path_candidate->root, list_make1(column->build_expr),
									  candidate->keys, NULL, NULL)))
		return;
	site = palloc(sizeof(JoinForeignSite));
	*site = (JoinForeignSite) {
		.rows = scan->rows, .charged = scan->total_cost - scan->startup_cost,
		.guess = JOIN_GUESSES_NOTHING
	};
	candidate->foreign = list_make1(site);
	/*
	 * How the foreign server finds the rows is not known, but it scans no more than without the
	 * filter.
	 */
	path_candidate->scanned = scan->rows;
}

/*
 * Returns how many rows of the probe side have the same key, as far as statistics tell; 1 if they
 * do not tell.
 */
static double
rows_per_key(const JoinPathCandidate *path_candidate)
{
	double		tuples = 1;
	/* The number of combinations of the columns' values, if these are independent. */
	double		distinct = 1;
	ListCell   *lc;

	foreach(lc, path_candidate->clauses)
	{
		const RestrictInfo *clause = lfirst_node(RestrictInfo, lc);
		const OpExpr *equal = (const OpExpr *) clause->clause;
		bool		turned = bms_is_subset(clause->left_relids, path_candidate->built->relids);
		VariableStatData vardata;
		bool		is_default;
		double		values;

		examine_variable(path_candidate->root,
						 turned ? lsecond(equal->args) : linitial(equal->args), 0, &vardata);
		values = get_variable_numdistinct(&vardata, &is_default);
		if (!is_default && vardata.rel != NULL)
		{
			tuples = vardata.rel->tuples;
			distinct *= Max(values, 1);
		}
		ReleaseVariableStats(vardata);
	}
	return Max(tuples / distinct, 1);
}

void
bloomfam_join_candidate_set_drop(JoinPathCandidate *path_candidate, JoinType jointype,
								 bool probes_inner, double joined, double probed)
{
	double		built = path_candidate->built->rows;
	double		matched = joined;

	if (bloomfam_join_returns_built(jointype, probes_inner))
		matched = bloomfam_join_matching_built(jointype, joined, built) *
			rows_per_key(path_candidate);
	path_candidate->candidate.drop = bloomfam_join_drop(matched, probed);
}

bool
bloomfam_join_candidate_paths(JoinPathCandidate *path_candidate, const Path *probed,
							  const Path *built, bool parallel_hash)
{
	JoinCandidate *candidate = &path_candidate->candidate;
	const RelOptInfo *builtrel = path_candidate->built;
	const Var  *column = bloomfam_expression_var(candidate->columns[0].build_expr);
	Cost		passing =
		probed->rows *
		(list_length(path_candidate->clauses) * cpu_operator_cost + path_candidate->comparing);
	const Path *outermost = follow(probed, path_candidate->relid, &passing);
	const Path *scan;

	if (outermost == NULL)
		return false;
	scan = follow_within(candidate, outermost, &passing);
	candidate->adding = parallel_hash ? count_processes(built->parallel_workers) : 1;
	candidate->keys = built->rows * candidate->adding;
	/*
	 * The number of keys is taken for exact, so that no more than a filter has room for are
	 * accepted: a join must not be offered for the sake of a filter that is then given up.
	 */
	candidate->keys_are_sure = true;
	candidate->left = Min(probed->rows / Max(outermost->rows, 1), 1);
	candidate->table = InvalidOid;
	candidate->attribute = 0;
	if (!parallel_hash && column != NULL && column->varno == builtrel->relid &&
		builtrel->rtekind == RTE_RELATION && is_table_scan(built->pathtype))
	{
		candidate->table = planner_rt_fetch(builtrel->relid, path_candidate->root)->relid;
		candidate->attribute = column->varattno;
	}
	describe_scans(path_candidate, scan, scan != outermost, passing);
	if (scan == outermost)
		describe_foreign_scan(path_candidate, scan);
	return true;
}

/* ---- describing candidates from a finished plan ---- */

/* Returns the OID of the table that a plan scans. */
static Oid
table_of(const JoinPushdown *pushdown, const Plan *scan)
{
	const PlannedStmt *stmt = pushdown->plan_info->known.stmt;

	return rt_fetch(((const Scan *) scan)->scanrelid, stmt->rtable)->relid;
}

/* Returns the number of rows in a table, as the planner estimates it. */
static double
count_rows(Oid table)
{
	Relation	relation = table_open(table, NoLock);
	BlockNumber pages;
	double		rows;
	double		visible;

	estimate_rel_size(relation, NULL, &pages, &rows, &visible);
	table_close(relation, NoLock);
	return rows;
}

/*
 * Fills in the description of a target (a plan node whose rows are to be probed) for the cost
 * model.
 */
static void
describe_target(const JoinPushdown *pushdown, JoinTarget *target)
{
	const JoinCandidate *candidate = &pushdown->candidate;
	const Plan *plan = bloomfam_join_below_own(*target->slot);
	JoinFilterSite *site = &target->site;
	bool		is_batch_scan;
	double		rows = (*target->slot)->plan_rows;
	Oid			table;
	QualCost	condition_cost;
	int			i;

	*site = (JoinFilterSite) {
		.access = JOIN_ROW_BY_ROW, .rows_before = rows, .rows_after = rows, .read = 1,
		.passing = target->crossed.nodes * bloomfam_join_cost_of_passing(rows)
	};
	if (!IsA(plan, SeqScan))
		return;
	table = table_of(pushdown, plan);
	is_batch_scan =
		bloomfam_join_node_is_volatile_free(pushdown->plan_info, unconstify(Plan *, plan));
	for (i = 0; i < candidate->ncolumns; i++)
	{
		AttrNumber	column = bloomfam_join_column_behind(plan, target->attributes[i],
														 ((const Scan *) plan)->scanrelid);

		is_batch_scan &= column != 0;
		site->long_keys |= column != 0 &&
			get_typlen(candidate->columns[i].hashing.probe.type) == -1 &&
			bloomfam_join_column_is_long(table, column, false);
	}
	if (is_batch_scan)
		site->access = decide_access(candidate, plan->qual != NIL, site->long_keys);
	if (plan->qual == NIL)
		return;
	cost_qual_eval(&condition_cost, plan->qual, NULL);
	site->condition_cost = condition_cost.per_tuple;
	site->rows_before = count_rows(table);
	if (plan->parallel_aware)
		site->rows_before /= count_processes(target->crossed.workers);
	site->rows_before = Max(site->rows_before, site->rows_after);
}

void
bloomfam_join_candidate_foreign(JoinPushdown *pushdown)
{
	JoinCandidate *candidate = &pushdown->candidate;
	ListCell   *lc;

	candidate->foreign = NIL;
	foreach(lc, pushdown->foreign)
	{
		JoinForeignTarget *target = lfirst(lc);
		const Plan *scan = &target->scan->scan.plan;

		if (!bloomfam_join_sends(&target->sendings))
			continue;
		target->site = (JoinForeignSite) {
			.rows = scan->plan_rows, .is_async = scan->async_capable,
			.guess = bloomfam_join_foreign_guess(pushdown->plan_info->known.stmt, target->scan,
												 target->attributes[target->column],
												 candidate->keys)
		};
		candidate->foreign = lappend(candidate->foreign, &target->site);
	}
}

/*
 * Returns how many rows of the probe side have the same key, as far as statistics tell; 1 if they
 * do not tell.
 */
static double
count_rows_per_key(const JoinPushdown *pushdown)
{
	const JoinTarget *target = pushdown->targets != NIL ? linitial(pushdown->targets) : NULL;
	/* The number of combinations of the columns' values, if these are independent. */
	double		distinct = 1;
	const Plan *scan;
	Oid			table;
	int			i;

	if (target == NULL)
		return 1;
	scan = bloomfam_join_below_own(*target->slot);
	if (!is_table_scan(nodeTag(scan)))
		return 1;
	table = table_of(pushdown, scan);
	for (i = 0; i < pushdown->candidate.ncolumns; i++)
	{
		AttrNumber	column = bloomfam_join_column_behind(scan, target->attributes[i],
														 ((const Scan *) scan)->scanrelid);
		double		rows =
			column != 0 ? bloomfam_join_column_rows_per_value(table, column, scan->plan_rows) : 0;

		if (rows > 0)
			distinct *= Max(scan->plan_rows / rows, 1);
	}
	return distinct > 1 ? Max(scan->plan_rows / distinct, 1) : 1;
}

/* Returns the fraction of the probe side's rows that are expected to match no key. */
static double
estimate_drop(const JoinPushdown *pushdown)
{
	JoinType	type = pushdown->join->jointype;
	double		matched = pushdown->join->plan.plan_rows;

	if (bloomfam_join_returns_built(type, IsA(pushdown->join, MergeJoin)))
		matched = bloomfam_join_matching_built(type, matched, pushdown->build_parent->plan_rows) *
			count_rows_per_key(pushdown);
	return bloomfam_join_drop(matched, (*pushdown->probe_side)->plan_rows);
}

void
bloomfam_join_candidate_plan(JoinPushdown *pushdown)
{
	JoinCandidate *candidate = &pushdown->candidate;
	const Plan *build_parent = pushdown->build_parent;
	const Plan *build = bloomfam_join_below_own(outerPlan(build_parent));
	AttrNumber	key = bloomfam_join_column(candidate->columns[0].build_expr, OUTER_VAR);
	ListCell   *lc;

	candidate->adding =
		build_parent->parallel_aware ? count_processes(pushdown->crossed.workers) : 1;
	candidate->keys = build_parent->plan_rows * candidate->adding;
	candidate->keys_are_sure = IsA(build, SeqScan) && build->qual == NIL;
	candidate->drop = estimate_drop(pushdown);
	candidate->left = 1;
	candidate->sites = NIL;
	if (!build_parent->parallel_aware && key != 0 && is_table_scan(nodeTag(build)))
	{
		Index		rti = ((const Scan *) build)->scanrelid;

		candidate->attribute = bloomfam_join_column_behind(build, key, rti);
		if (candidate->attribute != 0)
			candidate->table = table_of(pushdown, build);
	}
	pushdown->per_process = pushdown->crossed.workers > 0;
	foreach(lc, pushdown->targets)
	{
		JoinTarget *target = lfirst(lc);

		describe_target(pushdown, target);
		candidate->sites = lappend(candidate->sites, &target->site);
		pushdown->per_process |= target->crossed.below_gather;
	}
	bloomfam_join_candidate_foreign(pushdown);
}
