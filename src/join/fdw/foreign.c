/*-------------------------------------------------------------------------
 *
 * foreign.c
 *	  Join filters that are pushed to a foreign server, so that rows that cannot join are not sent.
 *
 * A finished plan's scan by postgres_fdw is changed in two places.  Its remote query, the first
 * item of fdw_private, becomes a subquery:
 *
 *		SELECT * FROM (SELECT a, b FROM public.fact) AS s(c1, c2) WHERE CASE WHEN pg_typeof(s.c1)
 *		= 'int4'::regtype THEN bloom_may_contain($1::bloomfilter, s.c1) ELSE true END
 *
 * and the filter is one more parameter in fdw_exprs: a PARAM_EXEC, which the build node of the
 * join sets at its end.  postgres_fdw evaluates its parameters when it opens the cursor, for the
 * first row that it is asked for.  A build side that has not come to its end then, or had too
 * many keys, has left NULL, and bloom_may_contain(NULL, ...) passes every key; a row without a
 * key, which joins nothing, never comes.
 *
 * What both servers must agree on.  A row that the other one drops we never see, so its key must
 * hash there as ours would here.  Keys are hashed by our own families, and of these only by ones
 * whose bytes depend on nothing but the value.  But nobody promises that a foreign table's
 * columns have the types of the remote ones; postgres_fdw is content with a text that the local
 * type can read.  A remote character(5) behind a local text keeps its trailing blanks here, and
 * has none as a key there; a remote timestamp behind a local timestamptz is read in our time
 * zone.  So the other server looks at the type, and one that is not expected passes.  A local
 * type's modifier rounds or cuts what arrives (numeric(10,2)), so the remote value is cast to it.
 * Text is hashed under COLLATE "C", whatever the remote column's collation, since equality here
 * is that of bytes; and only where this database is in UTF-8, which remote text arrives in
 * whatever its encoding is.
 *
 * Rescans.  postgres_fdw keeps its cursor, or the rows that it has, unless a parameter of the
 * scan has changed.  The build side must depend on no outer parameter; it then begins anew only
 * in a rescan of its join, before the probe side does, and tells the scans that their parameter
 * has changed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/hash.h"
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc_d.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "foreign/foreign.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
#include "utils/varlena.h"

#include "join/base/column.h"
#include "join/base/gucs.h"
#include "join/fdw/foreign.h"
#include "pg/builder.h"
#include "pg/hasher.h"
#include "pg/params.h"
#include "pg/plan_nodes.h"
#include "pg/server_structs.h"

/*
 * The share of rows without a match that are sent all the same.  Less than for filters that stay
 * here: a row on its way costs far more than the two bits a key that it takes to halve it.
 */
#define FOREIGN_FPR 0.001

struct JoinForeign
{
	EState	   *estate;
	int			param;
	Oid			type;			/* of the keys */
	Oid			collation;
	PlanState  *probe_side;		/* above all its scans; NULL: not known yet */
	BloomfamHasher *hasher;		/* NULL: not needed yet */
	Builder    *builder;		/* NULL: no keys yet, or too many */
	bool		abandoned;
	Datum		filter;			/* 0: none */
};

/* ---- planning ---- */

/*
 * Types whose keys may be asked for elsewhere, and the remote types that arrive as them with the
 * hash that they have there.  int8 as int2 does not arrive at all if it is too large; but float4
 * as float8 arrives as another number.
 */
typedef struct ForeignType
{
	Oid			type;
	const char *remote;			/* as the remote query names them */
} ForeignType;

#define INTEGERS	"'int2'::regtype, 'int4'::regtype, 'int8'::regtype"
#define TEXTS		"'text'::regtype, 'varchar'::regtype"

static const ForeignType foreign_types[] = {
	{INT2OID, INTEGERS},
	{INT4OID, INTEGERS},
	{INT8OID, INTEGERS},
	{TEXTOID, TEXTS},
	{VARCHAROID, TEXTS},
	{BPCHAROID, "'bpchar'::regtype"},
	{NUMERICOID, "'numeric'::regtype"},
	{FLOAT4OID, "'float4'::regtype"},
	{FLOAT8OID, "'float8'::regtype"},
	{UUIDOID, "'uuid'::regtype"},
	{DATEOID, "'date'::regtype"},
	{TIMEOID, "'time'::regtype"},
	{TIMESTAMPOID, "'timestamp'::regtype"},
	{TIMESTAMPTZOID, "'timestamptz'::regtype"},
	{BYTEAOID, "'bytea'::regtype"},
	{OIDOID, "'oid'::regtype"},
	{INETOID, "'inet'::regtype"},
	{MACADDROID, "'macaddr'::regtype"},
	{MACADDR8OID, "'macaddr8'::regtype"},
};

static const ForeignType *
find_foreign_type(Oid type)
{
	size_t i;

	for (i = 0; i < lengthof(foreign_types); i++)
		if (foreign_types[i].type == type)
			return &foreign_types[i];
	return NULL;
}

/*
 * Is the operator the server's ordinary equality of this type, perhaps with another of its types?
 * One of somebody else's type may have been put into the same family.
 */
static bool
is_equality_of(Oid operator, Oid type)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_HASH_OPFAMILY);

	return operator < FirstNormalObjectId && OidIsValid(entry->hash_opf) &&
		   get_op_opfamily_strategy(operator, entry->hash_opf) == HTEqualStrategyNumber;
}

/*
 * Does the server belong to postgres_fdw, and have its objects of ours?  That is the user's word:
 * the option "extensions".
 */
static bool
server_knows_us(const ForeignServer *server)
{
	Oid handler = GetForeignDataWrapper(server->fdwid)->fdwhandler;
	Oid extension =
		OidIsValid(handler) ? getExtensionOfObject(ProcedureRelationId, handler) : InvalidOid;
	char	 *name = OidIsValid(extension) ? get_extension_name(extension) : NULL;
	ListCell *lc;

	if (name == NULL || strcmp(name, "postgres_fdw") != 0)
		return false;
	foreach (lc, server->options)
	{
		DefElem	 *option = lfirst(lc);
		List	 *names;
		ListCell *ln;

		if (strcmp(option->defname, "extensions") != 0 ||
			!SplitIdentifierString(pstrdup(defGetString(option)), ',', &names))
			continue;
		foreach (ln, names)
			if (strcmp(lfirst(ln), "bloomfam") == 0)
				return true;
	}
	return false;
}

/*
 * The schema of the type bloomfilter in this database, and the type; NULL and 0 if the extension
 * is not there.
 */
static char *
find_filter_type(Oid *type)
{
	CatCList *list = SearchSysCacheList1(TYPENAMENSP, CStringGetDatum("bloomfilter"));
	Oid		  extension = get_extension_oid("bloomfam", true);
	char	 *schema = NULL;
	int		  i;

	*type = InvalidOid;
	for (i = 0; i < list->n_members && OidIsValid(extension) && schema == NULL; i++)
	{
		Form_pg_type form = (Form_pg_type) GETSTRUCT(&list->members[i]->tuple);

		if (getExtensionOfObject(TypeRelationId, form->oid) != extension)
			continue;
		*type = form->oid;
		schema = get_namespace_name(form->typnamespace);
	}
	ReleaseSysCacheList(list);
	return schema;
}

/*
 * The column of a scan's table or of its remote query that an output column of it is; NULL if it is
 * none.
 */
static const Var *
scan_column(const ForeignScan *scan, AttrNumber attribute)
{
	const TargetEntry *output = list_nth(scan->scan.plan.targetlist, attribute - 1);
	int			varno = scan->scan.scanrelid > 0 ? (int) scan->scan.scanrelid : INDEX_VAR;
	const Var  *var = bloomfam_join_var(output->expr);

	return var != NULL && (int) var->varno == varno ? var : NULL;
}

/* Its place among the columns that the remote query returns, from 1 on; 0: not there. */
static int
find_remote_column(const ForeignScan *scan, const Var *column)
{
	ListCell   *lc;

	foreach(lc, bloomfam_postgres_fdw_columns(scan))
		if (lfirst_int(lc) == column->varattno)
			return foreach_current_index(lc) + 1;
	return 0;
}

/* The scan's remote query, if it is one whose rows may be filtered afterwards; else NULL. */
static const char *
find_remote_query(const ForeignScan *scan)
{
	const char *query;

	if (scan->operation != CMD_SELECT)
		return NULL;
	query = bloomfam_postgres_fdw_query(scan);

	/*
	 * A lock would be taken in the subquery just the same, and its order is in fact kept; but SQL
	 * promises neither.  Such words within a literal or a name forgo a filter, and no more.
	 */
	if (query == NULL || strstr(query, " ORDER BY ") != NULL ||
		strstr(query, " FOR UPDATE") != NULL || strstr(query, " FOR SHARE") != NULL)
		return NULL;
	return query;
}

/* Appends the remote condition on the column of this number, whose values arrive as key. */
static void
append_condition(StringInfo sql, const Var *key, int column, int param, const char *schema)
{
	/* postgres_fdw has set the search path to pg_catalog there */
	appendStringInfo(sql, "CASE WHEN pg_typeof(s.c%d) IN (%s)", column,
					 find_foreign_type(key->vartype)->remote);
	appendStringInfo(sql, " THEN %s.bloom_may_contain($%d::%s.bloomfilter, s.c%d", schema, param,
					 schema, column);

	/* without the cast to text, COLLATE would be an error where the remote column is none */
	if (key->vartypmod >= 0 || type_is_collatable(key->vartype))
		appendStringInfo(
			sql, "::%s",
			format_type_extended(key->vartype, key->vartypmod, FORMAT_TYPE_TYPEMOD_GIVEN));
	if (type_is_collatable(key->vartype))
		appendStringInfoString(sql, " COLLATE \"C\"");
	appendStringInfoString(sql, ") ELSE true END");
}

/* Does the planner ask the server for its estimates of a table? */
static bool
uses_remote_estimates(const ForeignScan *scan, Oid table)
{
	List	   *options = list_concat_copy(GetForeignServer(scan->fs_server)->options,
										   GetForeignTable(table)->options);
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

		if (rte->rtekind == RTE_RELATION && was_never_analyzed(rte->relid) &&
			!uses_remote_estimates(scan, rte->relid))
			return true;
	}
	return false;
}

const char *
bloomfam_join_foreign_refusal(const ForeignScan *scan, bool volatile_free, AttrNumber attribute,
							  Oid operator, Oid collation, Oid build_type)
{
	const Var  *key = scan_column(scan, attribute);
	Oid			filter_type;

	if (bloomfam_join_filter_foreign_max_size == 0)
		return "bloomfam.join_filter_foreign_max_size is 0";
	if (!BLOOMFAM_KNOWN_MAJOR)
		return "this version of PostgreSQL is not known to bloomfam";
	if (!server_knows_us(GetForeignServer(scan->fs_server)))
		return "the foreign server is none of postgres_fdw with bloomfam among its extensions";
	if (find_remote_query(scan) == NULL)
		return "the remote query locks or sorts its rows";
	if (!volatile_free)
		return "the foreign scan has a volatile condition or column";
	if (key == NULL)
		return "the key is no column of the foreign scan";
	if (find_remote_column(scan, key) == 0)
		return "the key is no column of the remote query";
	if (find_foreign_type(key->vartype) == NULL || find_foreign_type(build_type) == NULL ||
		!is_equality_of(operator, key->vartype) || !is_equality_of(operator, build_type))
		return "keys of this type are not hashed alike by all servers";
	if (OidIsValid(collation) &&
		(!get_collation_isdeterministic(collation) || GetDatabaseEncoding() != PG_UTF8))
		return "the keys' collation or encoding may differ on the foreign server";
	if (find_filter_type(&filter_type) == NULL)
		return "this database does not have the extension";
	return NULL;
}

void
bloomfam_join_foreign_plan(PlannedStmt *stmt, ForeignScan *scan, AttrNumber attribute, int *param)
{
	const char *query = find_remote_query(scan);
	Oid			filter_type;
	const char *schema = find_filter_type(&filter_type);
	const Var  *key = scan_column(scan, attribute);
	Param	   *filter = makeNode(Param);
	StringInfoData sql;
	int			number;
	int			i;

	/* bloomfam_join_foreign_refusal() had no objection */
	Assert(query != NULL && schema != NULL && key != NULL && find_remote_column(scan, key) > 0);
	if (*param < 0)
	{
		*param = list_length(stmt->paramExecTypes);
		stmt->paramExecTypes = lappend_oid(stmt->paramExecTypes, filter_type);

		/* a plan must not outlive the type */
		bloomfam_plan_depends_on(stmt, TYPEOID, filter_type);
	}
	filter->paramkind = PARAM_EXEC;
	filter->paramid = *param;
	filter->paramtype = filter_type;
	filter->paramtypmod = -1;
	filter->paramcollid = InvalidOid;
	filter->location = -1;
	number = bloomfam_postgres_fdw_add_param(scan, filter);

	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT * FROM (%s) AS s(", query);
	for (i = 1; i <= list_length(bloomfam_postgres_fdw_columns(scan)); i++)
		appendStringInfo(&sql, "%sc%d", i > 1 ? ", " : "", i);
	appendStringInfoString(&sql, ") WHERE ");
	append_condition(&sql, key, find_remote_column(scan, key), number, quote_identifier(schema));
	bloomfam_postgres_fdw_set_query(scan, sql.data);
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
	return bloomfam_join_filter_foreign_max_size * 1024.0 * 8 * 1000 / foreign_design()->millibits;
}

/* Does nothing tell how many of a scan's rows have which key? */
static bool
key_is_unknown(const PlannedStmt *stmt, const ForeignScan *scan, AttrNumber attribute)
{
	const Var  *column = scan_column(scan, attribute);
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

/* ---- execution ---- */

/* Sets the parameter; 0: to NULL. */
static void
set_filter(JoinForeign *foreign, Datum filter)
{
	ParamExecData *slot = &foreign->estate->es_param_exec_vals[foreign->param];

	slot->value = filter;
	slot->isnull = filter == (Datum) 0;
	if (foreign->filter != (Datum) 0)
		pfree(DatumGetPointer(foreign->filter));
	foreign->filter = filter;
}

/* Releases the keys. */
static void
drop_builder(JoinForeign *foreign)
{
	if (foreign->builder != NULL)
		MemoryContextDelete(foreign->builder->context);
	foreign->builder = NULL;
}

JoinForeign *
bloomfam_join_foreign_begin(EState *estate, int param, Oid type, Oid collation)
{
	JoinForeign *foreign = MemoryContextAllocZero(estate->es_query_cxt, sizeof(JoinForeign));

	foreign->estate = estate;
	foreign->param = param;
	foreign->type = type;
	foreign->collation = collation;
	set_filter(foreign, (Datum) 0);
	return foreign;
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

void
bloomfam_join_foreign_tie(JoinForeign *foreign, PlanState *probe_side)
{
	Assert(foreign->probe_side == NULL);
	foreign->probe_side = probe_side;
}

void
bloomfam_join_foreign_add(JoinForeign *foreign, Datum key)
{
	Builder *builder;

	Assert(foreign->filter == (Datum) 0);
	if (foreign->abandoned)
		return;
	builder = get_builder(foreign);
	bloomfam_builder_add(builder, foreign->hasher->hash(foreign->hasher, key));
	if (builder->npending == 0)
		check_size(foreign);
}

void
bloomfam_join_foreign_finish(JoinForeign *foreign)
{
	MemoryContext old;

	if (foreign->probe_side == NULL || foreign->abandoned)
		return;

	/* without any key, it is the filter that contains nothing */
	bloomfam_builder_flush(get_builder(foreign));
	check_size(foreign);
	if (foreign->abandoned)
		return;
	old = MemoryContextSwitchTo(foreign->estate->es_query_cxt);
	set_filter(foreign, bloomfam_builder_finish(foreign->builder));
	MemoryContextSwitchTo(old);
	drop_builder(foreign);
}

/* The scans below a node that get the filter are to begin anew. */
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
				param->paramid == foreign->param)
				node->chgParam = bms_add_member(node->chgParam, foreign->param);
		}
	}
	return planstate_tree_walker(node, restart_scans, context);
}

void
bloomfam_join_foreign_reset(JoinForeign *foreign)
{
	drop_builder(foreign);
	foreign->abandoned = false;
	set_filter(foreign, (Datum) 0);
	if (foreign->probe_side != NULL)
		restart_scans(foreign->probe_side, foreign);
}

Size
bloomfam_join_foreign_size(const EState *estate, int param)
{
	Datum		filter = estate->es_param_exec_vals[param].value;

	return filter != (Datum) 0 ? VARSIZE(DatumGetPointer(filter)) : 0;
}
