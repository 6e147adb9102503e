/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  What differs between PostgreSQL's major versions; the only file that looks at PG_VERSION_NUM.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_COMPAT_H
#define BLOOMFAM_COMPAT_H

#include "postgres.h"

#if PG_VERSION_NUM < 150000
#error "bloomfam needs PostgreSQL 15 or later"
#endif

/*
 * True if this is a major version whose own structures were looked at.  On other versions, nothing
 * is done that depends on them (server_structs.h), which makes queries slower, and not wrong.  To
 * test that, make COPT=-DBLOOMFAM_UNKNOWN_MAJOR makes any version an unknown one.
 */
#ifdef BLOOMFAM_UNKNOWN_MAJOR
#define BLOOMFAM_KNOWN_MAJOR	0
#else
#define BLOOMFAM_KNOWN_MAJOR	(PG_VERSION_NUM < 200000)
#endif

#include "fmgr.h"
#include "nodes/nodes.h"
#include "nodes/plannodes.h"
#include "storage/bufmgr.h"
#include "storage/proc.h"
#include "storage/smgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/rel.h"

/* PostgreSQL 16 moved the varlena macros out of postgres.h. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* PostgreSQL 16 lets input functions report bad input as soft errors. */
#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#define bloomfam_ereturn(escontext, result, ...)	ereturn(escontext, result, __VA_ARGS__)
#else
#define bloomfam_ereturn(escontext, result, ...)	ereport(ERROR, __VA_ARGS__)
#endif

/*
 * Decodes pairs of hex digits, with blanks between pairs, into bytes.  From PostgreSQL 16 on, bad
 * digits are a soft error: then the result is false, and escontext holds the error.
 */
static inline bool
bloomfam_hex_decode(const char *digits, Size len, char *bytes, Node *escontext, Size *nbytes)
{
#if PG_VERSION_NUM >= 160000
	*nbytes = hex_decode_safe(digits, len, bytes, escontext);
	return !SOFT_ERROR_OCCURRED(escontext);
#else
	*nbytes = hex_decode(digits, len, bytes);
	return true;
#endif
}

/*
 * bloomfam_extend_far() extends a file from this number of blocks to nblocks, with zeroes.  It asks
 * the file system for the room, which takes little time; a full file system is an error.  The
 * caller must hold the lock for extending the relation.  It works in steps of 64 MB, to answer
 * interrupts if the room has to be written.  Before PostgreSQL 16, the server cannot ask the file
 * system, so that is done here for all but a step's last block.  The server writes the last one, by
 * which it learns of the step, or makes a segment's file.
 */
#include "miscadmin.h"
#if PG_VERSION_NUM < 160000
#include <fcntl.h>
#include "storage/fd.h"
#ifdef HAVE_POSIX_FALLOCATE
/* Returns whether the file system can give room without writing it. */
static inline bool
bloomfam_allocate_blocks(Relation relation, ForkNumber fork, BlockNumber from, BlockNumber n)
{
	char	   *path = relpath(RelationGetSmgr(relation)->smgr_rnode, fork);
	BlockNumber segment = from / RELSEG_SIZE;
	off_t		at = (off_t) (from % RELSEG_SIZE) * BLCKSZ;
	int			fd;
	int			result;

	if (segment > 0)
		path = psprintf("%s.%u", path, segment);
	fd = OpenTransientFile(path, O_RDWR | PG_BINARY);
	if (fd < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open file \"%s\": %m", path)));
	do
		result = posix_fallocate(fd, at, (off_t) n * BLCKSZ);
	while (result == EINTR);
	CloseTransientFile(fd);
	if (result == EINVAL || result == EOPNOTSUPP)
		return false;
	errno = result;
	if (result != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not extend file \"%s\": %m", path),
				 errhint("Check free disk space.")));
	return true;
}
#endif
#endif

static inline void
bloomfam_extend_far(Relation relation, ForkNumber fork, BlockNumber from, BlockNumber nblocks)
{
	const BlockNumber step = 64 * 1024 * 1024 / BLCKSZ;
#if PG_VERSION_NUM < 160000
#ifdef HAVE_POSIX_FALLOCATE
	bool		can_allocate = true;
#else
	bool		can_allocate = false;
#endif
#endif

	while (from < nblocks)
	{
		BlockNumber n = Min(nblocks - from, step);
#if PG_VERSION_NUM >= 160000
		smgrzeroextend(RelationGetSmgr(relation), fork, from, (int) n, false);
#else
		PGAlignedBlock zeroes;

		n = Min(n, RELSEG_SIZE - from % RELSEG_SIZE);
		if (from % RELSEG_SIZE == 0)
			n = 1;
#ifdef HAVE_POSIX_FALLOCATE
		if (n > 1 && can_allocate)
			can_allocate = bloomfam_allocate_blocks(relation, fork, from, n - 1);
#endif
		if (!can_allocate)
			n = 1;
		memset(&zeroes, 0, sizeof(zeroes));
		smgrextend(RelationGetSmgr(relation), fork, from + n - 1, zeroes.data, false);
#endif
		from += n;
		CHECK_FOR_INTERRUPTS();
	}
}

/* PostgreSQL 17 moved the local transaction id into a struct. */
#if PG_VERSION_NUM >= 170000
#define BLOOMFAM_MY_LXID	(MyProc->vxid.lxid)
#else
#define BLOOMFAM_MY_LXID	(MyProc->lxid)
#endif

/* PostgreSQL 17 has a restricted search path for code that runs as another user. */
#if PG_VERSION_NUM >= 170000
#define bloomfam_restrict_search_path()	RestrictSearchPath()
#else
#define bloomfam_restrict_search_path()	((void) 0)
#endif

/*
 * PostgreSQL 18 replaced this macro, which follows a declaration, by pg_noreturn, which precedes
 * one.
 */
#ifndef pg_attribute_noreturn
#define pg_attribute_noreturn()	__attribute__((noreturn))
#endif

/*
 * Declares get_collation_actual_version() again: utils/pg_locale.h, which declares it, needs the
 * headers of ICU, which may not be installed.
 */
extern char *get_collation_actual_version(char collprovider, const char *collcollate);

/*
 * The columns of a collation's and a database's locale and rules.  PostgreSQL 17 renamed those of
 * locales, which are for every provider and not for ICU alone.  PostgreSQL 16 added rules, which
 * tailor an ICU collation.
 */
#include "catalog/pg_collation.h"
#include "catalog/pg_database.h"
#if PG_VERSION_NUM >= 170000
#define BLOOMFAM_ANUM_COLL_LOCALE	Anum_pg_collation_colllocale
#define BLOOMFAM_ANUM_DAT_LOCALE	Anum_pg_database_datlocale
#else
#define BLOOMFAM_ANUM_COLL_LOCALE	Anum_pg_collation_colliculocale
#define BLOOMFAM_ANUM_DAT_LOCALE	Anum_pg_database_daticulocale
#endif
#if PG_VERSION_NUM >= 160000
#define BLOOMFAM_ANUM_COLL_RULES	Anum_pg_collation_collicurules
#define BLOOMFAM_ANUM_DAT_RULES		Anum_pg_database_daticurules
#else
#define BLOOMFAM_ANUM_COLL_RULES	InvalidAttrNumber
#define BLOOMFAM_ANUM_DAT_RULES		InvalidAttrNumber
#endif

/*
 * PostgreSQL 18 passes instrumentation to index scans, and PostgreSQL 19 passes flags to all scans.
 * PostgreSQL 18 returns the snapshot for reading TOAST tables, instead of filling one.
 */
#include "access/toast_internals.h"
#if PG_VERSION_NUM >= 190000
#define bloomfam_index_beginscan(table, index, snapshot, nkeys) \
	index_beginscan(table, index, snapshot, NULL, nkeys, 0, 0)
#define bloomfam_index_beginscan_bitmap(index, snapshot, nkeys) \
	index_beginscan_bitmap(index, snapshot, NULL, nkeys)
#define bloomfam_table_beginscan(table, snapshot)	table_beginscan(table, snapshot, 0, NULL, 0)
#elif PG_VERSION_NUM >= 180000
#define bloomfam_index_beginscan(table, index, snapshot, nkeys) \
	index_beginscan(table, index, snapshot, NULL, nkeys, 0)
#define bloomfam_index_beginscan_bitmap(index, snapshot, nkeys) \
	index_beginscan_bitmap(index, snapshot, NULL, nkeys)
#define bloomfam_table_beginscan(table, snapshot)	table_beginscan(table, snapshot, 0, NULL)
#else
#define bloomfam_index_beginscan(table, index, snapshot, nkeys) \
	index_beginscan(table, index, snapshot, nkeys, 0)
#define bloomfam_index_beginscan_bitmap(index, snapshot, nkeys) \
	index_beginscan_bitmap(index, snapshot, nkeys)
#define bloomfam_table_beginscan(table, snapshot)	table_beginscan(table, snapshot, 0, NULL)
#endif

/*
 * Counts one more search of an index scan in the statistics, and from PostgreSQL 18 on for EXPLAIN
 * ANALYZE.
 */
#include "access/genam.h"
#include "access/relscan.h"
#include "pgstat.h"
static inline void
bloomfam_count_index_search(IndexScanDesc scan)
{
	pgstat_count_index_scan(scan->indexRelation);
#if PG_VERSION_NUM >= 180000
	if (scan->instrument != NULL)
		scan->instrument->nsearches++;
#endif
}

static inline Snapshot
bloomfam_toast_snapshot(SnapshotData *room)
{
#if PG_VERSION_NUM >= 180000
	return get_toast_snapshot();
#else
	init_toast_snapshot(room);
	return room;
#endif
}

/*
 * PostgreSQL 18 lets PL/pgSQL pass a variable to the function that returns its new value, to be
 * modified in place; see support.c.  Before, an expanded object would be copied for every step,
 * like a plain value, and be flattened in addition.
 */
#define BLOOMFAM_MODIFIES_IN_PLACE	(PG_VERSION_NUM >= 180000)

/*
 * PostgreSQL 16 gave tuplesort_getdatum() an argument to copy or not, and has a function that reads
 * exactly the wanted number of bytes from a BufFile.
 */
#include "storage/buffile.h"
#include "utils/tuplesort.h"
static inline bool
bloomfam_tuplesort_getdatum(Tuplesortstate *state, Datum *value, bool *isnull)
{
#if PG_VERSION_NUM >= 160000
	return tuplesort_getdatum(state, true, false, value, isnull, NULL);
#else
	return tuplesort_getdatum(state, true, value, isnull, NULL);
#endif
}

/* From PostgreSQL 19 on, table_index_fetch_begin() has an argument for flags. */
#include "access/tableam.h"
static inline IndexFetchTableData *
bloomfam_table_index_fetch_begin(Relation table)
{
#if PG_VERSION_NUM >= 190000
	return table_index_fetch_begin(table, SO_NONE);
#else
	return table_index_fetch_begin(table);
#endif
}

static inline void
bloomfam_buffile_read(BufFile *file, void *bytes, size_t size)
{
#if PG_VERSION_NUM >= 160000
	BufFileReadExact(file, bytes, size);
#else
	if (BufFileRead(file, bytes, size) != size)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from a temporary file")));
#endif
}

/* From PostgreSQL 19 on, table_beginscan_parallel() has an argument for options. */
static inline TableScanDesc
bloomfam_beginscan_parallel(Relation table, ParallelTableScanDesc scan)
{
#if PG_VERSION_NUM >= 190000
	return table_beginscan_parallel(table, scan, SO_NONE);
#else
	return table_beginscan_parallel(table, scan);
#endif
}

/*
 * From PostgreSQL 18 on, vacuum_delay_point() has an argument that tells whether it is called by
 * ANALYZE.
 */
#include "commands/vacuum.h"
static inline void
bloomfam_vacuum_delay_point(void)
{
#if PG_VERSION_NUM >= 180000
	vacuum_delay_point(false);
#else
	vacuum_delay_point();
#endif
}

/* PostgreSQL 16 has one function for owners of all sorts of objects. */
#include "catalog/pg_class.h"
#include "utils/acl.h"
static inline bool
bloomfam_owns_relation(Oid relation)
{
#if PG_VERSION_NUM >= 160000
	return object_ownercheck(RelationRelationId, relation, GetUserId());
#else
	return pg_class_ownercheck(relation, GetUserId());
#endif
}

/* PostgreSQL 16 has one function for privileges on all sorts of objects. */
#include "catalog/pg_proc.h"
static inline bool
bloomfam_may_execute(Oid function)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK;
#else
	return pg_proc_aclcheck(function, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK;
#endif
}

/*
 * Returns the user with whose privileges a foreign scan of one table reads; 0 is the current user.
 * PostgreSQL 16 separated privileges from range table entries.
 */
#include "parser/parsetree.h"
static inline Oid
bloomfam_foreign_scan_user(const PlannedStmt *stmt, const ForeignScan *scan)
{
#if PG_VERSION_NUM >= 160000
	return scan->checkAsUser;
#else
	return rt_fetch(scan->scan.scanrelid, stmt->rtable)->checkAsUser;
#endif
}

/*
 * Returns whether any of these list members is checked as another user, who may have privileges
 * that this user does not have.  The members are RTEPermissionInfo, or RangeTblEntry up to
 * PostgreSQL 15.
 */
#include "utils/acl.h"
static inline bool
bloomfam_checks_as_others(const List *checked, Oid user)
{
	const ListCell *lc;

	foreach(lc, checked)
	{
#if PG_VERSION_NUM >= 160000
		Oid			other = lfirst_node(RTEPermissionInfo, lc)->checkAsUser;
#else
		Oid			other = lfirst_node(RangeTblEntry, lc)->checkAsUser;
#endif
		if (OidIsValid(other) && !has_privs_of_role(user, other))
			return true;
	}
	return false;
}

static inline bool
bloomfam_reads_as_others(const PlannedStmt *stmt, Oid user)
{
#if PG_VERSION_NUM >= 160000
	return bloomfam_checks_as_others(stmt->permInfos, user);
#else
	return bloomfam_checks_as_others(stmt->rtable, user);
#endif
}

/*
 * Returns whether a query that is being planned reads anything with the privileges of another user,
 * not counting its subqueries.
 */
static inline bool
bloomfam_query_reads_as_others(const Query *query, Oid user)
{
#if PG_VERSION_NUM >= 160000
	return bloomfam_checks_as_others(query->rteperminfos, user);
#else
	return bloomfam_checks_as_others(query->rtable, user);
#endif
}

/*
 * Returns whether a column may be of a row that an outer join has filled with NULLs.  PostgreSQL 16
 * has outer joins among the relations.
 */
static inline bool
bloomfam_var_is_nulled(const Var *var)
{
#if PG_VERSION_NUM >= 160000
	return var->varnullingrels != NULL;
#else
	return false;
#endif
}

/*
 * Returns the equalities that equivalence classes imply between two base relations.  PostgreSQL 16
 * has one more argument.
 */
#include "optimizer/paths.h"
static inline List *
bloomfam_implied_equalities(PlannerInfo *root, RelOptInfo *outer, RelOptInfo *inner)
{
	Relids		both = bms_union(outer->relids, inner->relids);

#if PG_VERSION_NUM >= 160000
	return generate_join_implied_equalities(root, both, outer->relids, inner, NULL);
#else
	return generate_join_implied_equalities(root, both, outer->relids, inner);
#endif
}

/*
 * PostgreSQL 17 lets an access method say that it can build with workers, which the server then
 * plans.
 */
#if PG_VERSION_NUM >= 170000
#define BLOOMFAM_AM_BUILDS_IN_PARALLEL	.amcanbuildparallel = true,
#else
#define BLOOMFAM_AM_BUILDS_IN_PARALLEL
#endif

/*
 * From PostgreSQL 18 on, index access methods other than B-tree can have unique indexes.  They must
 * say what their strategies compare.
 */
#if PG_VERSION_NUM >= 180000
#include "access/cmptype.h"
#define BLOOMFAM_AM_IS_UNIQUE(compared_by, strategy_of) \
	.amcanunique = true, .amtranslatestrategy = (compared_by), .amtranslatecmptype = (strategy_of),
#else
typedef enum CompareType
{
	COMPARE_INVALID = 0,
	COMPARE_EQ = 3
} CompareType;
#define BLOOMFAM_AM_IS_UNIQUE(compared_by, strategy_of)
#endif

/* From PostgreSQL 16 on, an index that only summarizes pages does not hinder HOT updates. */
#if PG_VERSION_NUM >= 160000
#define BLOOMFAM_AM_IS_SUMMARIZING	.amsummarizing = true,
#else
#define BLOOMFAM_AM_IS_SUMMARIZING
#endif

/* Reads a block that was in this buffer last time; InvalidBuffer if it was not read before. */
#include "storage/bufmgr.h"
#include "utils/rel.h"
#if PG_VERSION_NUM < 160000
#define rd_locator rd_node
#endif
static inline Buffer
bloomfam_read_recent_buffer(Relation relation, BlockNumber block, Buffer recent)
{
	bool		is_there = BufferIsValid(recent) &&
		ReadRecentBuffer(relation->rd_locator, MAIN_FORKNUM, block, recent);

	return is_there ? recent : ReadBuffer(relation, block);
}

/*
 * Returns what an index access method's handler must return.  Up to PostgreSQL 18 the server frees
 * it, so it is a copy; from PostgreSQL 19 on the server keeps it.
 */
#include "access/amapi.h"
static inline Datum
bloomfam_index_am(const IndexAmRoutine *am)
{
#if PG_VERSION_NUM >= 190000
	return PointerGetDatum(am);
#else
	IndexAmRoutine *copy = makeNode(IndexAmRoutine);

	*copy = *am;
	return PointerGetDatum(copy);
#endif
}

/*
 * Tells the joins that return rows of the inner side only.  PostgreSQL 16 added the right anti
 * join, and PostgreSQL 18 the right semi join.
 */
#if PG_VERSION_NUM >= 160000
#define BLOOMFAM_IS_RIGHT_ANTI(jointype)	((jointype) == JOIN_RIGHT_ANTI)
#else
#define BLOOMFAM_IS_RIGHT_ANTI(jointype)	false
#endif
#if PG_VERSION_NUM >= 180000
#define BLOOMFAM_IS_RIGHT_SEMI_OR_ANTI(jointype) \
	(BLOOMFAM_IS_RIGHT_ANTI(jointype) || (jointype) == JOIN_RIGHT_SEMI)
#else
#define BLOOMFAM_IS_RIGHT_SEMI_OR_ANTI(jointype)	BLOOMFAM_IS_RIGHT_ANTI(jointype)
#endif

/*
 * Expression nodes that PostgreSQL 15 does not have, most of them of SQL/JSON, as rows of the table
 * in plan_nodes.c: those that make no value of a type that is asked for (plain), and those that do.
 */
#if PG_VERSION_NUM >= 170000
#define BLOOMFAM_EXPRESSIONS(plain, makes_value) \
	[T_JsonValueExpr] = plain, [T_JsonIsPredicate] = plain, [T_JsonBehavior] = plain, \
	[T_WindowFuncRunCondition] = plain, \
	[T_JsonConstructorExpr] = makes_value, [T_JsonExpr] = makes_value
#elif PG_VERSION_NUM >= 160000
#define BLOOMFAM_EXPRESSIONS(plain, makes_value) \
	[T_JsonValueExpr] = plain, [T_JsonIsPredicate] = plain, [T_JsonConstructorExpr] = makes_value
#else
#define BLOOMFAM_EXPRESSIONS(plain, makes_value)
#endif

/*
 * Returns whether a statement changes one of these relations.  PostgreSQL 19 has their numbers as a
 * set.
 */
static inline bool
bloomfam_changes_relation(const PlannedStmt *stmt, const Bitmapset *relations)
{
#if PG_VERSION_NUM >= 190000
	return bms_overlap(stmt->resultRelationRelids, relations);
#else
	ListCell   *lc;

	foreach(lc, stmt->resultRelations)
		if (bms_is_member(lfirst_int(lc), relations))
			return true;
	return false;
#endif
}

/*
 * Returns how an Append's partitions are pruned while it runs; NULL if they are not.  PostgreSQL 18
 * moved it.
 */
#if PG_VERSION_NUM >= 180000
#define BLOOMFAM_PRUNING_OF(stmt, append) \
	((append)->part_prune_index < 0 ? NULL \
	 : list_nth_node(PartitionPruneInfo, (stmt)->partPruneInfos, (append)->part_prune_index))
#else
#define BLOOMFAM_PRUNING_OF(stmt, append)	((append)->part_prune_info)
#endif

/* Include what a custom node's EXPLAIN needs.  PostgreSQL 18 divided commands/explain.h. */
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#else
#include "commands/explain.h"
#endif

/*
 * Does what EXPLAIN does for a query that no hook takes over.  PostgreSQL 17 has a function for it.
 */
#if PG_VERSION_NUM >= 170000
#define bloomfam_standard_explain	standard_ExplainOneQuery
#else
#include "tcop/tcopprot.h"
static inline void
bloomfam_standard_explain(Query *query, int cursor_options, IntoClause *into, ExplainState *es,
						  const char *query_string, ParamListInfo params,
						  QueryEnvironment *environment)
{
	BufferUsage before = pgBufferUsage;
	BufferUsage used = {0};
	instr_time	start;
	instr_time	duration;
	PlannedStmt *stmt;

	INSTR_TIME_SET_CURRENT(start);
	stmt = pg_plan_query(query, query_string, cursor_options, params);
	INSTR_TIME_SET_CURRENT(duration);
	INSTR_TIME_SUBTRACT(duration, start);
	BufferUsageAccumDiff(&used, &pgBufferUsage, &before);
	ExplainOnePlan(stmt, into, es, query_string, params, environment, &duration,
				   es->buffers ? &used : NULL);
}
#endif

/*
 * Counts several rows at once as pgstat_count_heap_getnext() counts one.  PostgreSQL 16 renamed the
 * counter.
 */
#include "pgstat.h"
#include "utils/rel.h"
static inline void
bloomfam_count_rows_read(Relation table, int rows)
{
	if (pgstat_should_count_relation(table))
#if PG_VERSION_NUM >= 160000
		table->pgstat_info->counts.tuples_returned += rows;
#else
		table->pgstat_info->t_counts.t_tuples_returned += rows;
#endif
}

/*
 * Costs and makes a merge join of two paths that are sorted as it needs them.  PostgreSQL 18 may
 * sort a path that is sorted by the first columns only.
 */
#include "optimizer/cost.h"
#if PG_VERSION_NUM >= 180000
#define bloomfam_initial_cost_mergejoin(root, costs, type, clauses, outer, inner, extra) \
	initial_cost_mergejoin(root, costs, type, clauses, outer, inner, NIL, NIL, 0, extra)
#define bloomfam_create_mergejoin_path(root, rel, type, costs, extra, outer, inner, keys, clauses) \
	create_mergejoin_path(root, rel, type, costs, extra, outer, inner, (extra)->restrictlist, \
						  keys, NULL, clauses, NIL, NIL, 0)
#else
#define bloomfam_initial_cost_mergejoin(root, costs, type, clauses, outer, inner, extra) \
	initial_cost_mergejoin(root, costs, type, clauses, outer, inner, NIL, NIL, extra)
#define bloomfam_create_mergejoin_path(root, rel, type, costs, extra, outer, inner, keys, clauses) \
	create_mergejoin_path(root, rel, type, costs, extra, outer, inner, (extra)->restrictlist, \
						  keys, NULL, clauses, NIL, NIL)
#endif

/*
 * Returns whether a path without order and parameters is worth making, if its total cost is at
 * least this.  PostgreSQL 18 counts disabled nodes, too, and PostgreSQL 19 asks for the startup
 * cost of partial paths.
 */
#include "optimizer/pathnode.h"
static inline bool
bloomfam_add_path_precheck(RelOptInfo *rel, const JoinCostWorkspace *costs, Cost total)
{
#if PG_VERSION_NUM >= 180000
	return add_path_precheck(rel, costs->disabled_nodes, costs->startup_cost, total, NIL, NULL);
#else
	return add_path_precheck(rel, costs->startup_cost, total, NIL, NULL);
#endif
}

static inline bool
bloomfam_add_partial_path_precheck(RelOptInfo *rel, const JoinCostWorkspace *costs, Cost total)
{
#if PG_VERSION_NUM >= 190000
	return add_partial_path_precheck(rel, costs->disabled_nodes, costs->startup_cost, total, NIL);
#elif PG_VERSION_NUM >= 180000
	return add_partial_path_precheck(rel, costs->disabled_nodes, total, NIL);
#else
	return add_partial_path_precheck(rel, total, NIL);
#endif
}

/*
 * Steps through an array.  PostgreSQL 19 is told the elements' type at the beginning, and earlier
 * versions at each step.
 */
#include "utils/arrayaccess.h"
#if PG_VERSION_NUM >= 190000
#define bloomfam_array_iter_setup(iter, array, len, byval, align) \
	array_iter_setup(iter, array, len, byval, align)
#define bloomfam_array_iter_next(iter, isnull, i, len, byval, align) \
	array_iter_next(iter, isnull, i)
#else
#define bloomfam_array_iter_setup(iter, array, len, byval, align)	array_iter_setup(iter, array)
#define bloomfam_array_iter_next(iter, isnull, i, len, byval, align) \
	array_iter_next(iter, isnull, i, len, byval, align)
#endif

/*
 * The parameters of the planner's hook, and the arguments to pass on.  PostgreSQL 19 adds the
 * EXPLAIN for which a query is planned.
 */
#include "optimizer/planner.h"
#if PG_VERSION_NUM >= 190000
#define BLOOMFAM_PLANNER_PARAMS	Query *parse, const char *query_string, int cursor_options, \
								ParamListInfo params, ExplainState *es
#define BLOOMFAM_PLANNER_ARGS	parse, query_string, cursor_options, params, es
#else
#define BLOOMFAM_PLANNER_PARAMS	Query *parse, const char *query_string, int cursor_options, \
								ParamListInfo params
#define BLOOMFAM_PLANNER_ARGS	parse, query_string, cursor_options, params
#endif

/*
 * The hook that is called for a relation of a query after its size was looked up, and before its
 * rows are estimated.  PostgreSQL 19 has another hook for that.
 */
#include "optimizer/plancat.h"
#if PG_VERSION_NUM >= 190000
#define bloomfam_base_rel_hook_type	build_simple_rel_hook_type
#define bloomfam_base_rel_hook		build_simple_rel_hook
#define BLOOMFAM_BASE_REL_PARAMS	PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte
#define BLOOMFAM_BASE_REL_ARGS		root, rel, rte
#else
#define bloomfam_base_rel_hook_type	get_relation_info_hook_type
#define bloomfam_base_rel_hook		get_relation_info_hook
#define BLOOMFAM_BASE_REL_PARAMS	PlannerInfo *root, Oid table, bool inhparent, RelOptInfo *rel
#define BLOOMFAM_BASE_REL_ARGS		root, table, inhparent, rel
#endif

/*
 * Names a tranche of LWLocks.  Up to PostgreSQL 18 each process registers the name, and from
 * PostgreSQL 19 on only the one that makes the tranche.
 */
#include "storage/lwlock.h"
static inline int
bloomfam_new_lwlock_tranche(const char *name)
{
#if PG_VERSION_NUM >= 190000
	return LWLockNewTrancheId(name);
#else
	return LWLockNewTrancheId();
#endif
}

static inline void
bloomfam_name_lwlock_tranche(int tranche, const char *name)
{
#if PG_VERSION_NUM < 190000
	LWLockRegisterTranche(tranche, name);
#endif
}

/*
 * Returns the piece of shared memory that all sessions know by this name.  The first session makes
 * it, and init() fills it.  Returns NULL before PostgreSQL 17, which introduced such segments.
 * PostgreSQL 19 passes an argument to the function.
 */
#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"
#endif
#if PG_VERSION_NUM >= 190000
static inline void
bloomfam_init_segment(void *segment, void *init)
{
	(*(void (**) (void *)) init) (segment);
}
#endif

static inline void *
bloomfam_named_segment(const char *name, Size size, void (*init) (void *segment))
{
#if PG_VERSION_NUM >= 170000
	bool		found;

#if PG_VERSION_NUM >= 190000
	return GetNamedDSMSegment(name, size, bloomfam_init_segment, &found, &init);
#else
	return GetNamedDSMSegment(name, size, init, &found);
#endif
#else
	return NULL;
#endif
}

/*
 * Returns a table of a query's range table, opened for as long as the query runs.  PostgreSQL 18
 * has an argument that tells whether it is a result relation.
 */
#include "executor/executor.h"
static inline Relation
bloomfam_range_table_relation(EState *estate, Index rti)
{
#if PG_VERSION_NUM >= 180000
	return ExecGetRangeTableRelation(estate, rti, false);
#else
	return ExecGetRangeTableRelation(estate, rti);
#endif
}

/*
 * Calls a function with each block that a bitmap has rows of, in the blocks' order.  PostgreSQL 18
 * has separate iterators for several processes and for one.
 */
#include "nodes/tidbitmap.h"
static inline void
bloomfam_tbm_for_each_block(TIDBitmap *bitmap, void (*action) (void *arg, BlockNumber block),
							void *arg)
{
#if PG_VERSION_NUM >= 180000
	TBMPrivateIterator *iterator = tbm_begin_private_iterate(bitmap);
	TBMIterateResult result;

	while (tbm_private_iterate(iterator, &result))
		action(arg, result.blockno);
	tbm_end_private_iterate(iterator);
#else
	TBMIterator *iterator = tbm_begin_iterate(bitmap);
	TBMIterateResult *result;

	while ((result = tbm_iterate(iterator)) != NULL)
		action(arg, result->blockno);
	tbm_end_iterate(iterator);
#endif
}

/*
 * From PostgreSQL 16 on, an update of nothing but a BRIN index's column makes no new entries in
 * other indexes (HOT).  So a range that is summarized later lacks values that older snapshots see.
 */
#define BLOOMFAM_BRIN_LACKS_OLD_VALUES	(PG_VERSION_NUM >= 160000)

/*
 * The members of a SetOp that say which columns it compares.  Until PostgreSQL 17 a SetOp has one
 * child, which returns the rows of both inputs, and from PostgreSQL 18 on it has two.
 */
#if PG_VERSION_NUM >= 180000
#define BLOOMFAM_SET_OPERATION_GROUPING(grouping)	grouping(SetOp, cmp)
#else
#define BLOOMFAM_SET_OPERATION_GROUPING(grouping)	grouping(SetOp, dup)
#endif

/* The path of SELECT DISTINCT.  PostgreSQL 19 removed that of IN, and renamed this one. */
#if PG_VERSION_NUM >= 190000
#define BLOOMFAM_DISTINCT_PATH	T_UniquePath
#define BloomfamDistinctPath	UniquePath
#else
#define BLOOMFAM_DISTINCT_PATH	T_UpperUniquePath
#define BloomfamDistinctPath	UpperUniquePath
#endif

/*
 * From PostgreSQL 17 on, the planner finds statistics of columns through a CTE that groups nothing.
 */
#define BLOOMFAM_KNOWS_COLUMNS_OF_CTES	(PG_VERSION_NUM >= 170000)

/*
 * PostgreSQL 17 gave heap scans streams, which read ahead, and PostgreSQL 19 lets them scan a part
 * of a table.
 */
#define BLOOMFAM_HEAP_SCAN_HAS_STREAM	(PG_VERSION_NUM >= 170000)
#define BLOOMFAM_HEAP_SCAN_HAS_PART		(PG_VERSION_NUM >= 190000)

/*
 * Returns whether this process has the page locked in EXCLUSIVE mode.  Is only for assertions.
 * Before PostgreSQL 17, which has a function for it, returns true if the buffer is valid.
 */
static inline bool
bloomfam_buffer_is_exclusive(Buffer buffer)
{
#if PG_VERSION_NUM >= 190000
	return BufferIsLocal(buffer) || BufferIsLockedByMeInMode(buffer, BUFFER_LOCK_EXCLUSIVE);
#elif PG_VERSION_NUM >= 170000
	return BufferIsLocal(buffer) || BufferIsExclusiveLocked(buffer);
#else
	return BufferIsValid(buffer);
#endif
}

/* Returns whether this process holds a heavyweight lock.  Is only for assertions. */
#include "storage/lock.h"
static inline bool
bloomfam_lock_is_held(const LOCKTAG *tag, LOCKMODE mode)
{
#if PG_VERSION_NUM >= 170000
	return LockHeldByMe(tag, mode, false);
#else
	return LockHeldByMe(tag, mode);
#endif
}

/* PostgreSQL 18 shows a module's name and version, by pg_get_loaded_modules(). */
#if PG_VERSION_NUM >= 180000
#define BLOOMFAM_MODULE_MAGIC(module, release) \
	PG_MODULE_MAGIC_EXT(.name = (module), .version = (release))
#else
#define BLOOMFAM_MODULE_MAGIC(module, release)	PG_MODULE_MAGIC
#endif

/* The major version, for key families whose hashes depend on the server's own hash functions. */
#define BLOOMFAM_PG_MAJOR	(PG_VERSION_NUM / 10000)

#endif							/* BLOOMFAM_COMPAT_H */
