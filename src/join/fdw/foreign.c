/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * foreign.c
 *	  Join filters that are pushed to a foreign server, so that rows that cannot join are not sent.
 *
 * A finished plan's scan by postgres_fdw gets conditions on the key's column in its remote query
 * (remote_query.c), and what they compare it with as more parameters: PARAM_EXEC, which the build
 * node of the join sets at its end.  There are three forms, and all that may be sent to a scan
 * (sending.c) stand in its query.  Which of them are sent is known at the end of the build:
 *
 *	- the keys themselves, while they are no more than bloomfam.join_foreign_keys: an index there
 *	  finds their rows;
 *	- their bounds, beside the keys or without them: a btree or BRIN index finds what lies between;
 *	- a filter, where both servers have the extension, and the keys are not sent.
 *
 * The parameters of the others are NULL, which passes every key; a row without a key, which joins
 * nothing, may never come.  postgres_fdw evaluates its parameters when it opens the cursor, for the
 * first row that it is asked for.  A build side that has not come to its end then, or had too many
 * keys, has left NULL.
 *
 * What both servers must agree on.  Nobody promises that a foreign table's columns have the types
 * of the remote ones; postgres_fdw is content with a text that the local type can read.  A remote
 * character(5) behind a local text keeps its trailing blanks here, and has none as a key there; a
 * remote timestamp behind a local timestamptz is read in our time zone.  So a filter is asked for
 * only where the other server sees a type that is expected, for each row; and keys are sent only to
 * columns of which it has told the type (remote_table.c).
 *
 * Rescans.  postgres_fdw keeps its cursor, or the rows that it has, unless a parameter of the
 * scan has changed.  The build side must depend on no outer parameter; it then begins anew only
 * in a rescan of its join, before the probe side does, and tells the scans that their parameter
 * has changed.
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
 * The fraction of rows without a match that are sent all the same.  Less than for filters that stay
 * here: a row on its way costs far more than the two bits a key that it takes to halve it.
 */
#define FOREIGN_FPR 0.001

struct JoinForeign
{
	EState	   *estate;
	List	   *infos;			/* of JoinForeignInfo: those of this column */
	Oid			type;			/* of the keys */
	Oid			collation;
	PlanState  *probe_side;		/* above all its scans; NULL: not known yet */
	bool		has_filter;		/* some scan may be sent a filter */
	bool		filter_alone;	/* ... and no keys */
	BloomfamHasher *hasher;		/* NULL: not needed yet */
	Builder    *builder;		/* NULL: no keys yet, or too many, or they are listed */
	bool		abandoned;		/* the filter has too many keys */
	JoinKeyList *list;			/* NULL: nothing is sent in clear */
	MemoryContext values;		/* of the parameters' values, of one build */
	JoinSent	sent;
	bool		in_doubt;		/* keys or bounds were sent, and the query has not ended */
	MemoryContextCallback callback;
};

/* ---- sizes ---- */

/* Does the planner ask the server for its estimates of a table? */
static bool
uses_remote_estimates(Oid table)
{
	const ForeignTable *foreign = GetForeignTable(table);
	List	   *options =
		list_concat_copy(GetForeignServer(foreign->serverid)->options, foreign->options);
	bool		uses = false;
	ListCell   *lc;

	/* the table's stand behind the server's */
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
 * Does the query read the relation with the rights of the present user, who may read something of
 * it?  Rights on a partition are those on the table that the query names.
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

	/* a query of one relation has no joins */
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

/* The design of all such filters; computing it takes longer than a small query. */
static const BfDesign *
foreign_design(void)
{
	static BfDesign design;

	if (design.kind == NULL)
		bloomfam_design(bf_kind_by_id(BF_KIND_BLOCKED), FOREIGN_FPR, &design);
	return &design;
}

/* The number of keys with which a filter is sent at the most. */
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

/* Does nothing tell how many of a scan's rows have which key? */
static bool
key_is_unknown(const PlannedStmt *stmt, const ForeignScan *scan, AttrNumber attribute)
{
	const Var  *column = bloomfam_join_remote_scan_column(scan, attribute);
	const RangeTblEntry *rte;

	if (scan->scan.scanrelid == 0)
	{
		const TargetEntry *entry = list_nth(scan->fdw_scan_tlist, column->varattno - 1);

		/* of what the other server computes there are none, whatever was analyzed */
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

/* ---- parameters ---- */

/* A new parameter of the executor. */
static int
new_param(PlannedStmt *stmt, Oid type)
{
	stmt->paramExecTypes = lappend_oid(stmt->paramExecTypes, type);
	return list_length(stmt->paramExecTypes) - 1;
}

/* The parameters of a column, for remote columns of this type or for filters; may add some. */
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

		/* a plan must not outlive the type */
		bloomfam_plan_depends_on(stmt, TYPEOID, type);
		own = lappend(own, info);
	}
	bloomfam_join_remote_add(stmt, scan, &condition);
	return own;
}

/* ---- execution ---- */

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

/* Nothing is sent. */
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

/* Releases the keys of the filter. */
static void
drop_builder(JoinForeign *foreign)
{
	if (foreign->builder != NULL)
		MemoryContextDelete(foreign->builder->context);
	foreign->builder = NULL;
}

/* The builder, and what hashes for it, made when first needed. */
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

/* Gives the filter up if it has too many keys. */
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

/* Adds a key to the filter. */
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

/* The query's state goes away. */
static void
query_has_gone(void *arg)
{
	const JoinForeign *foreign = arg;

	/* by an error, perhaps of what was sent: of a remote column whose type was changed meanwhile */
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
		 * whose rights they are sent by was decided for the user that it was planned for, who may
		 * have lost privileges of others since
		 */
		foreign->has_filter |= info->filter >= 0 && bloomfam_join_foreign_keys >= 0 &&
							   (info->user == user || !as_others);
		clear |= OidIsValid(info->type) && info->user == user && !as_others;
		bounds |= info->least >= 0;
	}
	Assert(foreign->infos != NIL);
	foreign->values = AllocSetContextCreate(context, "bloomfam foreign parameters",
											ALLOCSET_SMALL_SIZES);

	/* the settings may be others than those that it was planned with */
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

/* Are all keys so far listed, and is the list enough for all scans? */
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

	/* a list that has just been dropped has put there the keys that it had */
	if (foreign->has_filter && !list_is_enough(foreign))
		add_to_filter(foreign, key);
}

/* Sets the parameters of a list, or of bounds, for remote columns of one type. */
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

/* The filter, in the current memory context; 0: it is too large. */
static Datum
finish_filter(JoinForeign *foreign)
{
	Datum		filter;

	if (foreign->abandoned)
		return (Datum) 0;

	/* without any key, it is the filter that contains nothing */
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

/* Is a parameter among those of this list, of JoinForeignInfo? */
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

/* The scans below a node that are sent something are to begin anew. */
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
