/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * foreign.c
 *	  Sends join filters to foreign servers, so that rows that cannot join are not fetched.
 *
 * In a finished plan, the remote query of a scan by postgres_fdw gets conditions on the key's
 * column (remote_query.c).  The column is compared with additional parameters of the query
 * (PARAM_EXEC), which the join's build node sets when its rows end.  There are three forms, and the
 * query has conditions for each form that may be sent to its scan (sending.c).  Which of them are
 * sent is known at the end of the build:
 *
 *	- the keys themselves, if they are at most bloomfam.join_foreign_keys: an index there can find
 *	  the rows that have them;
 *	- the bounds of the keys, together with the keys or without them: a btree or BRIN index there
 *	  can find the rows between them;
 *	- a filter, if both servers have the extension and the keys are not sent.
 *
 * The parameters of forms that are not sent are NULL, which lets every key pass; a row without a
 * key joins nothing, and may be dropped in any case. postgres_fdw evaluates its parameters when it
 * opens the cursor, for the first row that it is asked for.  If the build side has not come to its
 * end then, or had too many keys, the parameters are still NULL.
 *
 * Types.  Nothing guarantees that a foreign table's columns have the types of the remote columns;
 * postgres_fdw only needs a text that the local type can read.  A remote character(5) behind a
 * local text keeps its trailing blanks here, but a key that is compared there loses them.  A remote
 * timestamp behind a local timestamptz is read in the local time zone.  So a filter is probed only
 * if the foreign server sees an expected type, which is checked for each row; and keys are sent
 * only to columns whose type the foreign server has told (remote_table.c).
 *
 * Rescans. postgres_fdw keeps its cursor, or the rows that it has, unless a parameter of the scan
 * has changed.  The build side must not depend on an outer parameter.  Then it begins anew only in
 * a rescan of its join, before the probe side does, and marks the parameters of the foreign scans
 * as changed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "commands/defrem.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/plancat.h"
#include "parser/parsetree.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "join/base/filter_info.h"
#include "join/base/gucs.h"
#include "join/fdw/foreign.h"
#include "join/fdw/remote_query.h"
#include "pg/builder.h"
#include "pg/compat.h"
#include "pg/hasher.h"
#include "pg/params.h"
#include "pg/plan_nodes.h"
#include "pg/server_structs.h"

/*
 * The false positive rate of filters that are sent.  It is lower than for filters that are probed
 * here, since sending a row costs far more than two more bits for each key, which halve the rate.
 */
#define FOREIGN_FPR 0.001

struct JoinForeign
{
	EState	   *estate;

	/*
	 * List of JoinForeignInfo: the executor parameters by which the values of this key column are
	 * sent.
	 */
	List	   *infos;
	Oid			type;			/* The type of the keys on the build side. */
	Oid			collation;

	/*
	 * The root of the join's probe side, which has all foreign scans of the filter below it; NULL:
	 * it is not known yet.
	 */
	PlanState  *probe_side;
	bool		has_filter;		/* Whether some foreign scan may be sent a filter. */

	/*
	 * Whether some foreign scan may be sent a filter, but not the keys themselves, so that a filter
	 * must be made even if all keys fit into a list.
	 */
	bool		filter_alone;

	/* The hash function for the keys of a filter that is sent; NULL: no key was hashed yet. */
	BloomfamHasher *hasher;

	/*
	 * The set of hashes for the filter that is to be sent; NULL: it has no keys yet, too many keys,
	 * or all keys are in the list instead.
	 */
	Builder    *builder;
	bool		abandoned;		/* Whether the filter was given up, because it has too many keys. */

	/* The keys and bounds to be sent as plain values; NULL: none are sent. */
	JoinKeyList *list;

	/* The memory context of the parameters' values, which is reset for each build. */
	MemoryContext values;
	JoinSent	sent;

	/* Whether keys or bounds were sent, and the query has not ended yet. */
	bool		in_doubt;
	MemoryContextCallback callback;
};

/* ---- sizes of foreign tables ---- */

/* Tells whether the planner asks the foreign server for its estimates of a table. */
static bool
uses_remote_estimates(Oid table)
{
	const ForeignTable *foreign = GetForeignTable(table);
	List	   *options =
		list_concat_copy(GetForeignServer(foreign->serverid)->options, foreign->options);
	bool		uses = false;
	ListCell   *lc;

	/* Options of the table come after those of the server, and override them. */
	foreach(lc, options)
		if (strcmp(((DefElem *) lfirst(lc))->defname, "use_remote_estimate") == 0)
			uses = defGetBoolean(lfirst(lc));
	return uses;
}

static bool
was_never_analyzed(Oid table)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
	bool		result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", table);
	result = ((Form_pg_class) GETSTRUCT(tuple))->reltuples < 0;
	ReleaseSysCache(tuple);
	return result;
}

bool
bloomfam_join_foreign_is_guessed(const PlannedStmt *stmt, const ForeignScan *scan)
{
	int			i = -1;

	while ((i = bms_next_member(scan->fs_relids, i)) >= 0)
	{
		const RangeTblEntry *rte = rt_fetch(i, stmt->rtable);

		if (rte->rtekind == RTE_RELATION && rte->relkind == RELKIND_FOREIGN_TABLE &&
			was_never_analyzed(rte->relid) && !uses_remote_estimates(rte->relid) &&
			bloomfam_join_remote_size_known(rte->relid).rows == 0)
			return true;
	}
	return false;
}

/*
 * Tells whether the query reads a relation with the rights of the present user, and whether this
 * user may read something of it.  Privileges on a partition are those on the table that the query
 * names.
 */
static bool
is_read_by_user(PlannerInfo *root, const RelOptInfo *rel)
{
	Oid			user = GetUserId();
	Index		relid = rel->relid;
	Oid			table = planner_rt_fetch(relid, root)->relid;

	while (root->append_rel_array != NULL && root->append_rel_array[relid] != NULL)
	{
		relid = root->append_rel_array[relid]->parent_relid;
		if (planner_rt_fetch(relid, root)->rtekind == RTE_RELATION)
			table = planner_rt_fetch(relid, root)->relid;
	}
	return (!OidIsValid(rel->userid) || rel->userid == user) &&
		   (pg_class_aclcheck(table, user, ACL_SELECT) == ACLCHECK_OK ||
			pg_attribute_aclcheck_all(table, user, ACL_SELECT, ACLMASK_ANY) == ACLCHECK_OK);
}

void
bloomfam_join_foreign_size(PlannerInfo *root, RelOptInfo *rel)
{
	const RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);
	Oid			table = rte->relid;
	Relation	relation;
	JoinRemoteSize size;

	/* A query of a single relation has no joins. */
	if (rte->rtekind != RTE_RELATION || rte->relkind != RELKIND_FOREIGN_TABLE ||
		rel->tuples >= 0 ||
		(list_length(root->parse->rtable) < 2 && root->parent_root == NULL) ||
		bloomfam_join_foreign_keys < 0 || !BLOOMFAM_KNOWN_MAJOR ||
		!bloomfam_join_is_postgres_fdw(GetForeignServer(GetForeignTable(table)->serverid)) ||
		uses_remote_estimates(table) || !is_read_by_user(root, rel))
		return;
	relation = table_open(table, NoLock);
	size = bloomfam_join_remote_size(relation);
	table_close(relation, NoLock);
	if (size.rows == 0)
		return;
	rel->pages = (BlockNumber) size.pages;
	rel->tuples = size.rows;
}

/*
 * Returns the design (kind and false positive rate) of all filters that are sent.  It is computed
 * only once in a session, as that takes longer than a small query.
 */
static const BfDesign *
foreign_design(void)
{
	static BfDesign design;

	if (design.kind == NULL)
		bloomfam_design(bf_kind_by_id(BF_KIND_BLOCKED), FOREIGN_FPR, &design);
	return &design;
}

/* Returns the largest number of keys with which a filter is sent. */
static double
most_keys(void)
{
	return bloomfam_join_foreign_max_bytes() * 8.0 * 1000 / foreign_design()->millibits;
}

bool
bloomfam_join_foreign_expected(const JoinForeignKey *key, double keys)
{
	return bloomfam_join_may_be_sent(key, keys, most_keys());
}

/*
 * Tells whether nothing is known about how many of a scan's rows have which key, as there are no
 * statistics.
 */
static bool
key_is_unknown(const PlannedStmt *stmt, const ForeignScan *scan, AttrNumber attribute)
{
	const Var  *column = bloomfam_join_remote_scan_column(scan, attribute);
	const RangeTblEntry *rte;

	if (scan->scan.scanrelid == 0)
	{
		const TargetEntry *entry = list_nth(scan->fdw_scan_tlist, column->varattno - 1);

		/*
		 * There are no statistics of an expression that the foreign server computes, even if every
		 * table was analyzed.
		 */
		if (!IsA(entry->expr, Var))
			return false;
		column = (const Var *) entry->expr;
	}
	rte = rt_fetch(column->varno, stmt->rtable);
	return rte->rtekind == RTE_RELATION &&
		   !SearchSysCacheExists3(STATRELATTINH, ObjectIdGetDatum(rte->relid),
								  Int16GetDatum(column->varattno), BoolGetDatum(false));
}

JoinGuess
bloomfam_join_foreign_guess(const PlannedStmt *stmt, const ForeignScan *scan,
							AttrNumber attribute, double keys)
{
	if (keys > most_keys())
		return JOIN_GUESSES_NOTHING;
	if (bloomfam_join_foreign_is_guessed(stmt, scan))
		return JOIN_GUESSES_ROWS;
	return key_is_unknown(stmt, scan, attribute) ? JOIN_GUESSES_FRACTION : JOIN_GUESSES_NOTHING;
}

/* ---- executor parameters in the plan ---- */

/* Adds a new parameter of the executor, and returns its number. */
static int
new_param(PlannedStmt *stmt, Oid type)
{
	stmt->paramExecTypes = lappend_oid(stmt->paramExecTypes, type);
	return list_length(stmt->paramExecTypes) - 1;
}

/*
 * Returns the executor parameters by which values of a key column are sent to remote columns of the
 * given type; or, if the type is 0, those by which a filter of the key column is sent.  If there
 * are none yet, adds an element without parameters to *infos.
 */
static JoinForeignInfo *
find_info(List **infos, int column, Oid key_type, Oid type)
{
	JoinForeignInfo *info;
	ListCell   *lc;

	foreach(lc, *infos)
	{
		info = lfirst(lc);
		if (info->column == column && info->type == type)
			return info;
	}
	info = palloc(sizeof(JoinForeignInfo));
	*info = (JoinForeignInfo) {
		.column = column, .key_type = key_type, .type = type,
		.filter = -1, .keys = -1, .least = -1, .greatest = -1, .user = GetUserId()
	};
	*infos = lappend(*infos, info);
	return info;
}

List *
bloomfam_join_foreign_plan(PlannedStmt *stmt, ForeignScan *scan, AttrNumber attribute,
						   const JoinSendings *sendings, int column, Oid key_type, List **infos)
{
	bool		keys = sendings->reasons[JOIN_SEND_KEYS] == JOIN_NO_REASON;
	bool		bounds = sendings->reasons[JOIN_SEND_BOUNDS] == JOIN_NO_REASON;
	JoinRemoteCondition condition = {
		.key = bloomfam_join_remote_scan_column(scan, attribute), .table = sendings->table,
		.filter = -1, .keys = -1, .least = -1, .greatest = -1, .type = sendings->remote.type
	};
	List	   *own = NIL;

	Assert(bloomfam_join_sends(sendings) && !bloomfam_join_sendings_are_open(sendings));
	if (keys || bounds)
	{
		JoinForeignInfo *info = find_info(infos, column, key_type, condition.type);

		if (keys && info->keys < 0)
			info->keys = new_param(stmt, get_array_type(condition.type));
		if (bounds && info->least < 0)
		{
			info->least = new_param(stmt, condition.type);
			info->greatest = new_param(stmt, condition.type);
		}
		condition.keys = info->keys;
		condition.least = info->least;
		condition.greatest = info->greatest;
		bloomfam_join_remote_depend(stmt, condition.table);
		own = lappend(own, info);
	}
	if (sendings->reasons[JOIN_SEND_FILTER] == JOIN_NO_REASON)
	{
		JoinForeignInfo *info = find_info(infos, column, key_type, InvalidOid);
		Oid			type;

		condition.schema = bloomfam_join_filter_type(&type);
		if (info->filter < 0)
			info->filter = new_param(stmt, type);
		info->alone |= !keys;
		condition.filter = info->filter;

		/*
		 * The parameter has the type bloomfilter, so a cached plan must be made anew if that type
		 * changes.
		 */
		bloomfam_plan_depends_on(stmt, TYPEOID, type);
		own = lappend(own, info);
	}
	bloomfam_join_remote_add(stmt, scan, &condition);
	return own;
}

/* ---- sending in execution ---- */

static void
set_param(EState *estate, int param, Datum value)
{
	estate->es_param_exec_vals[param].value = value;
	estate->es_param_exec_vals[param].isnull = false;
}

static void
clear_param(EState *estate, int param)
{
	if (param < 0)
		return;
	estate->es_param_exec_vals[param].value = (Datum) 0;
	estate->es_param_exec_vals[param].isnull = true;
}

/*
 * Sets all executor parameters of a key column to NULL, so that foreign servers are sent nothing.
 */
static void
clear_params(JoinForeign *foreign)
{
	ListCell   *lc;

	foreach(lc, foreign->infos)
	{
		const JoinForeignInfo *info = lfirst(lc);

		clear_param(foreign->estate, info->filter);
		clear_param(foreign->estate, info->keys);
		clear_param(foreign->estate, info->least);
		clear_param(foreign->estate, info->greatest);
	}
	MemoryContextReset(foreign->values);
	memset(&foreign->sent, 0, sizeof(JoinSent));
}

/* Frees the keys that were collected for the filter. */
static void
drop_builder(JoinForeign *foreign)
{
	if (foreign->builder != NULL)
		MemoryContextDelete(foreign->builder->context);
	foreign->builder = NULL;
}

/* Returns the builder of the filter.  Makes it, and the hasher, when first needed. */
static Builder *
get_builder(JoinForeign *foreign)
{
	MemoryContext context = foreign->estate->es_query_cxt;

	if (foreign->hasher == NULL)
		foreign->hasher = bloomfam_hasher_make_local(context, foreign->type, foreign->collation);
	if (foreign->builder == NULL)
	{
		const BloomfamHasher *hasher = foreign->hasher;

		foreign->builder = bloomfam_builder_make(context, NULL);
		bloomfam_builder_probe(foreign->builder, foreign_design(), 0);
		bloomfam_builder_set_family(foreign->builder, hasher->family_id, hasher->family,
									hasher->family_len);
	}
	return foreign->builder;
}

/* Gives up the filter that is to be sent if it has too many keys. */
static void
check_size(JoinForeign *foreign)
{
	if (foreign->builder->set.count > (uint64) most_keys() ||
		bloomfam_set_memory(&foreign->builder->set) > get_hash_memory_limit())
	{
		drop_builder(foreign);
		foreign->abandoned = true;
	}
}

/*
 * Collects a key for the filter that is to be sent, or gives that filter up if there are too many.
 */
static void
add_to_filter(void *arg, Datum key)
{
	JoinForeign *foreign = arg;
	Builder    *builder;

	if (foreign->abandoned)
		return;
	builder = get_builder(foreign);
	bloomfam_builder_add(builder, foreign->hasher->hash(foreign->hasher, key));
	if (builder->npending == 0)
		check_size(foreign);
}

/*
 * Callback for the end of the query's executor state: after an error, forgets what foreign servers
 * have told.
 */
static void
query_has_gone(void *arg)
{
	const JoinForeign *foreign = arg;

	/*
	 * The query may have ended in an error that was caused by what was sent: by a remote column
	 * whose type has changed meanwhile.
	 */
	if (foreign->in_doubt)
		bloomfam_join_remote_forget();
}

JoinForeign *
bloomfam_join_foreign_begin(EState *estate, const List *infos, int column, Oid collation)
{
	MemoryContext context = estate->es_query_cxt;
	MemoryContext old = MemoryContextSwitchTo(context);
	JoinForeign *foreign = palloc0(sizeof(JoinForeign));
	Oid			user = GetUserId();
	bool		as_others = bloomfam_reads_as_others(estate->es_plannedstmt, user);
	bool		clear = false;
	bool		bounds = false;
	const ListCell *lc;

	foreign->estate = estate;
	foreign->collation = collation;
	foreach(lc, infos)
	{
		const JoinForeignInfo *info = lfirst(lc);

		if (info->column != column)
			continue;
		foreign->infos = lappend(foreign->infos, unconstify(JoinForeignInfo *, info));
		foreign->type = info->key_type;
		foreign->filter_alone |= info->alone;

		/*
		 * The planner checked whether the user that it planned for may send a foreign server what
		 * rows read with other users' rights hold.  The plan may be executed by another user, and
		 * privileges may have been revoked since, so it is checked again.
		 */
		foreign->has_filter |= info->filter >= 0 && bloomfam_join_foreign_keys >= 0 &&
							   (info->user == user || !as_others);
		clear |= OidIsValid(info->type) && info->user == user && !as_others;
		bounds |= info->least >= 0;
	}
	Assert(foreign->infos != NIL);
	foreign->values = AllocSetContextCreate(context, "bloomfam foreign parameters",
											ALLOCSET_SMALL_SIZES);

	/* bloomfam.join_foreign_keys may have changed since the query was planned. */
	if (clear && bloomfam_join_foreign_keys > 0)
		foreign->list =
			bloomfam_join_key_list_make(context, foreign->type, bounds,
										foreign->has_filter ? add_to_filter : NULL, foreign);
	foreign->callback.func = query_has_gone;
	foreign->callback.arg = foreign;
	MemoryContextRegisterResetCallback(context, &foreign->callback);
	clear_params(foreign);
	MemoryContextSwitchTo(old);
	return foreign;
}

void
bloomfam_join_foreign_tie(JoinForeign *foreign, PlanState *probe_side)
{
	Assert(foreign->probe_side == NULL);
	foreign->probe_side = probe_side;
}

/*
 * Tells whether the list has all keys so far, and every foreign scan may be sent the list, so that
 * no filter is needed.
 */
static bool
list_is_enough(const JoinForeign *foreign)
{
	return foreign->list != NULL && foreign->list->reason == JOIN_NO_REASON &&
		   !foreign->filter_alone;
}

void
bloomfam_join_foreign_add(JoinForeign *foreign, Datum key)
{
	if (foreign->list != NULL)
		bloomfam_join_key_list_add(foreign->list, key);

	/*
	 * If the list of keys was dropped just now for being too long, or for this key, dropping it has
	 * added the keys in it to the filter.
	 */
	if (foreign->has_filter && !list_is_enough(foreign))
		add_to_filter(foreign, key);
}

/* Sets the parameters for keys and bounds that are sent to remote columns of one type. */
static void
send_clear(JoinForeign *foreign, const JoinForeignInfo *info)
{
	EState	   *estate = foreign->estate;
	const JoinKeyList *list = foreign->list;
	Datum		least;
	Datum		greatest;

	if (info->keys >= 0 && list->reason == JOIN_NO_REASON)
	{
		set_param(estate, info->keys, bloomfam_join_key_list_array(list, info->type));
		foreign->sent.keys = true;
		foreign->sent.nkeys = bloomfam_join_key_list_length(list);
		foreign->in_doubt = true;
	}
	if (info->least >= 0 &&
		bloomfam_join_key_list_bounds(list, info->type, &least, &greatest))
	{
		set_param(estate, info->least, least);
		set_param(estate, info->greatest, greatest);
		foreign->sent.bounds = true;
		foreign->in_doubt = true;
	}
}

/*
 * Returns the finished filter to be sent, in the current memory context; 0 if it has too many keys.
 */
static Datum
finish_filter(JoinForeign *foreign)
{
	Datum		filter;

	if (foreign->abandoned)
		return (Datum) 0;

	/* If there are no keys, a filter is sent that contains nothing. */
	bloomfam_builder_flush(get_builder(foreign));
	check_size(foreign);
	if (foreign->abandoned)
		return (Datum) 0;
	filter = bloomfam_builder_finish(foreign->builder);
	drop_builder(foreign);
	return filter;
}

void
bloomfam_join_foreign_finish(JoinForeign *foreign)
{
	MemoryContext old;
	Datum		filter = (Datum) 0;
	ListCell   *lc;

	if (foreign->probe_side == NULL)
		return;
	old = MemoryContextSwitchTo(foreign->values);
	if (foreign->has_filter && !list_is_enough(foreign))
		filter = finish_filter(foreign);
	if (foreign->list != NULL)
		foreign->sent.no_list = foreign->list->reason;
	foreach(lc, foreign->infos)
	{
		const JoinForeignInfo *info = lfirst(lc);

		if (OidIsValid(info->type) && foreign->list != NULL)
			send_clear(foreign, info);
		else if (info->filter >= 0 && filter != (Datum) 0)
		{
			set_param(foreign->estate, info->filter, filter);
			foreign->sent.filter = VARSIZE(DatumGetPointer(filter));
		}
	}
	MemoryContextSwitchTo(old);
}

/* Tells whether a parameter is among those in a list of JoinForeignInfo. */
static bool
is_param_of(const List *infos, int param)
{
	const ListCell *lc;

	foreach(lc, infos)
	{
		const JoinForeignInfo *info = lfirst(lc);

		if (param == info->filter || param == info->keys || param == info->least ||
			param == info->greatest)
			return true;
	}
	return false;
}

/*
 * Marks the parameters of those foreign scans below a node that are sent something as changed, so
 * that these scans begin anew.
 */
static bool
restart_scans(PlanState *node, void *context)
{
	JoinForeign *foreign = context;

	if (node == NULL)
		return false;
	if (IsA(node, ForeignScanState))
	{
		ListCell   *lc;

		foreach(lc, bloomfam_postgres_fdw_params((ForeignScan *) node->plan))
		{
			Param	   *param = lfirst(lc);

			if (IsA(param, Param) && param->paramkind == PARAM_EXEC &&
				is_param_of(foreign->infos, param->paramid))
				node->chgParam = bms_add_member(node->chgParam, param->paramid);
		}
	}
	return planstate_tree_walker(node, restart_scans, context);
}

void
bloomfam_join_foreign_reset(JoinForeign *foreign)
{
	drop_builder(foreign);
	foreign->abandoned = false;
	if (foreign->list != NULL)
		bloomfam_join_key_list_reset(foreign->list);
	clear_params(foreign);
	if (foreign->probe_side != NULL)
		restart_scans(foreign->probe_side, foreign);
}

void
bloomfam_join_foreign_end(JoinForeign *foreign)
{
	foreign->in_doubt = false;
}

JoinSent
bloomfam_join_foreign_sent(const JoinForeign *foreign)
{
	return foreign->sent;
}

bool
bloomfam_join_foreign_may_send(const JoinForeign *foreign, JoinSending what)
{
	ListCell   *lc;

	foreach(lc, foreign->infos)
	{
		const JoinForeignInfo *info = lfirst(lc);
		int			param = what == JOIN_SEND_KEYS ? info->keys
							: what == JOIN_SEND_BOUNDS ? info->least : info->filter;

		if (param >= 0)
			return true;
	}
	return false;
}

static bool
has_value(const EState *estate, int param)
{
	return param >= 0 && !estate->es_param_exec_vals[param].isnull;
}

JoinForeignGot
bloomfam_join_foreign_got(const EState *estate, const List *infos)
{
	JoinForeignGot got = JOIN_FOREIGN_GOT_NOTHING;
	const ListCell *lc;

	foreach(lc, infos)
	{
		const JoinForeignInfo *info = lfirst(lc);

		if (has_value(estate, info->filter) || has_value(estate, info->keys))
			return JOIN_FOREIGN_GOT_KEYS;
		if (has_value(estate, info->least))
			got = JOIN_FOREIGN_GOT_BOUNDS;
	}
	return got;
}
