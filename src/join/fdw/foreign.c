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
#include "utils/guc.h"
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
#include "pg/server_structs.h"

/*
 * The share of rows without a match that are sent all the same.  Less than for filters that stay
 * here: a row on its way costs far more than the two bits a key that it takes to halve it.
 */
#define FOREIGN_FPR 0.001

struct JoinForeign
{
	EState		   *estate;
	int				param;
	bool			tied;  /* all scans are known */
	List		   *scans; /* of ForeignScanState */
	BloomfamHasher *hasher;
	Builder		   *builder; /* NULL: no keys yet, or too many */
	bool			abandoned;
	uint64			max_keys;
	Size			max_memory;
	Datum			filter; /* 0: none */
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
	const char *remote; /* names in pg_catalog */
} ForeignType;

static const ForeignType foreign_types[] = {
	{INT2OID, "int2,int4,int8"},
	{INT4OID, "int2,int4,int8"},
	{INT8OID, "int2,int4,int8"},
	{TEXTOID, "text,varchar"},
	{VARCHAROID, "text,varchar"},
	{BPCHAROID, "bpchar"},
	{NUMERICOID, "numeric"},
	{FLOAT4OID, "float4"},
	{FLOAT8OID, "float8"},
	{UUIDOID, "uuid"},
	{DATEOID, "date"},
	{TIMEOID, "time"},
	{TIMESTAMPOID, "timestamp"},
	{TIMESTAMPTZOID, "timestamptz"},
	{BYTEAOID, "bytea"},
	{OIDOID, "oid"},
	{INETOID, "inet"},
	{MACADDROID, "macaddr"},
	{MACADDR8OID, "macaddr8"},
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
 * The place of a column of the scan's tuple among the columns that the remote query returns, from
 * 1 on; 0: not there.  And its type.
 */
static int
find_remote_column(PlannedStmt *stmt, const ForeignScan *scan, AttrNumber attribute, Oid *type,
				   int32 *typmod)
{
	List	 *retrieved = bloomfam_postgres_fdw_columns(scan);
	ListCell *lc;

	if (scan->scan.scanrelid > 0)
	{
		Oid collation;

		get_atttypetypmodcoll(rt_fetch(scan->scan.scanrelid, stmt->rtable)->relid, attribute, type,
							  typmod, &collation);
	}
	else
	{
		Node *expr = (Node *) ((TargetEntry *) list_nth(scan->fdw_scan_tlist, attribute - 1))->expr;

		*type = exprType(expr);
		*typmod = exprTypmod(expr);
	}
	foreach (lc, retrieved)
		if (lfirst_int(lc) == attribute)
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

/* Appends the remote condition on a column. */
static void
append_condition(StringInfo sql, const ForeignType *type, int32 typmod, int column, int param,
				 const char *schema)
{
	bool  is_text = type->type == TEXTOID || type->type == VARCHAROID || type->type == BPCHAROID;
	char *names = pstrdup(type->remote);
	char *name;
	char *rest;

	schema = quote_identifier(schema);

	/* postgres_fdw has set the search path to pg_catalog there */
	appendStringInfo(sql, "CASE WHEN pg_typeof(s.c%d) IN (", column);
	for (name = strtok_r(names, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest))
		appendStringInfo(sql, "%s'%s'::regtype", name == names ? "" : ", ", name);
	appendStringInfo(sql, ") THEN %s.bloom_may_contain($%d::%s.bloomfilter, s.c%d", schema, param,
					 schema, column);

	/* without the cast to text, COLLATE would be an error where the remote column is none */
	if (typmod >= 0 || is_text)
		appendStringInfo(sql, "::%s",
						 format_type_extended(type->type, typmod, FORMAT_TYPE_TYPEMOD_GIVEN));
	if (is_text)
		appendStringInfoString(sql, " COLLATE \"C\"");
	appendStringInfoString(sql, ") ELSE true END");
}

/*
 * The column of a scan's table or of its remote query that an output column of it is; 0 if it is
 * none.
 */
static AttrNumber
scan_column(ForeignScan *scan, AttrNumber attribute)
{
	return bloomfam_join_column_behind(&scan->scan.plan, attribute,
									   scan->scan.scanrelid > 0 ? (int) scan->scan.scanrelid
																: INDEX_VAR);
}

/* Sets *value to what an option says, if it is there. */
static void
read_bool_option(List *options, const char *name, bool *value)
{
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *option = lfirst(lc);

		if (strcmp(option->defname, name) == 0)
			*value = defGetBoolean(option);
	}
}

/* Does the planner ask the server for its estimates of a table? */
static bool
uses_remote_estimates(const ForeignScan *scan, Oid table)
{
	bool		probes = false;

	read_bool_option(GetForeignServer(scan->fs_server)->options, "use_remote_estimate", &probes);
	read_bool_option(GetForeignTable(table)->options, "use_remote_estimate", &probes);
	return probes;
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

bool
bloomfam_join_foreign_key_is_unknown(const PlannedStmt *stmt, ForeignScan *scan,
									 AttrNumber attribute)
{
	AttrNumber	column = scan_column(scan, attribute);
	Index		table = scan->scan.scanrelid;
	const RangeTblEntry *rte;

	if (table == 0)
	{
		const TargetEntry *entry = list_nth(scan->fdw_scan_tlist, column - 1);
		const Var  *var = (const Var *) entry->expr;

		/* of what the other server computes there are none, whatever was analyzed */
		if (!IsA(var, Var))
			return false;
		table = var->varno;
		column = var->varattno;
	}
	rte = rt_fetch(table, stmt->rtable);
	return rte->rtekind == RTE_RELATION &&
		   !SearchSysCacheExists3(STATRELATTINH, ObjectIdGetDatum(rte->relid),
								  Int16GetDatum(column), BoolGetDatum(false));
}

const char *
bloomfam_join_foreign_refusal(PlannedStmt *stmt, ForeignScan *scan, bool volatile_free,
							  AttrNumber attribute, Oid operator, Oid collation,
							  Oid build_type)
{
	AttrNumber key = scan_column(scan, attribute);
	Oid		   type;
	int32	   typmod;
	Oid		   filter_type;

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
	if (key == 0)
		return "the key is no column of the foreign scan";
	if (find_remote_column(stmt, scan, key, &type, &typmod) == 0)
		return "the key is no column of the remote query";
	if (find_foreign_type(type) == NULL || find_foreign_type(build_type) == NULL ||
		!is_equality_of(operator, type) || !is_equality_of(operator, build_type))
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
	Oid		filter_type;
	char   *schema = find_filter_type(&filter_type);
	Oid		type;
	int32	typmod;
	int		column = find_remote_column(stmt, scan, scan_column(scan, attribute), &type, &typmod);
	Param  *filter = makeNode(Param);
	StringInfoData sql;
	int			   number;
	int			   i;

	/* bloomfam_join_foreign_refusal() had no objection */
	Assert(query != NULL && schema != NULL && column > 0);
	if (*param < 0)
	{
		PlanInvalItem *item = makeNode(PlanInvalItem);

		*param = list_length(stmt->paramExecTypes);
		stmt->paramExecTypes = lappend_oid(stmt->paramExecTypes, filter_type);

		/* a plan must not outlive the type */
		item->cacheId = TYPEOID;
		item->hashValue = GetSysCacheHashValue1(TYPEOID, ObjectIdGetDatum(filter_type));
		stmt->invalItems = lappend(stmt->invalItems, item);
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
	append_condition(&sql, find_foreign_type(type), typmod, column, number, schema);
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

double
bloomfam_join_foreign_most(void)
{
	return bloomfam_join_filter_foreign_max_size * 1024.0 * 8 * 1000 / foreign_design()->millibits;
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
bloomfam_join_foreign_begin(EState *estate, int param)
{
	JoinForeign *foreign = MemoryContextAllocZero(estate->es_query_cxt, sizeof(JoinForeign));

	foreign->estate = estate;
	foreign->param = param;
	set_filter(foreign, (Datum) 0);
	return foreign;
}

void
bloomfam_join_foreign_enable(JoinForeign *foreign, Oid type, Oid collation)
{
	foreign->hasher =
		bloomfam_hasher_make_local(foreign->estate->es_query_cxt, type, collation);
	foreign->max_keys = (uint64) bloomfam_join_foreign_most();
	foreign->max_memory = get_hash_memory_limit();
}

/* The builder, made when first needed. */
static Builder *
get_builder(JoinForeign *foreign)
{
	if (foreign->builder == NULL)
	{
		const BloomfamHasher *hasher = foreign->hasher;

		foreign->builder = bloomfam_builder_make(foreign->estate->es_query_cxt, NULL);
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
	if (foreign->builder->set.count > foreign->max_keys ||
		bloomfam_set_memory(&foreign->builder->set) > foreign->max_memory)
	{
		drop_builder(foreign);
		foreign->abandoned = true;
	}
}

/* Notes the scans below a node that get the filter. */
static bool
find_scans(PlanState *node, void *context)
{
	JoinForeign *foreign = context;

	if (node == NULL)
		return false;
	if (IsA(node, ForeignScanState))
	{
		ListCell *lc;

		foreach (lc, bloomfam_postgres_fdw_params((ForeignScan *) node->plan))
		{
			Param *param = lfirst(lc);

			if (IsA(param, Param) && param->paramkind == PARAM_EXEC &&
				param->paramid == foreign->param)
				foreign->scans = lappend(foreign->scans, node);
		}
	}
	return planstate_tree_walker(node, find_scans, context);
}

void
bloomfam_join_foreign_tie(JoinForeign *foreign, PlanState *probe_side)
{
	MemoryContext old = MemoryContextSwitchTo(foreign->estate->es_query_cxt);

	Assert(!foreign->tied && foreign->scans == NIL);
	(void) find_scans(probe_side, foreign);
	foreign->tied = true;
	MemoryContextSwitchTo(old);
}

void
bloomfam_join_foreign_add(JoinForeign *foreign, Datum key)
{
	Builder *builder;

	Assert(foreign->hasher != NULL && foreign->filter == (Datum) 0);
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

	if (!foreign->tied || foreign->abandoned)
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

void
bloomfam_join_foreign_reset(JoinForeign *foreign)
{
	ListCell *lc;

	drop_builder(foreign);
	foreign->abandoned = false;
	set_filter(foreign, (Datum) 0);
	foreach (lc, foreign->scans)
	{
		PlanState *scan = lfirst(lc);

		Assert(IsA(scan, ForeignScanState));
		scan->chgParam = bms_add_member(scan->chgParam, foreign->param);
	}
}

bool
bloomfam_join_foreign_was_pushed(const EState *estate, int param)
{
	const ParamExecData *slot = &estate->es_param_exec_vals[param];

	return !slot->isnull && slot->value != (Datum) 0;
}

Size
bloomfam_join_foreign_size(const JoinForeign *foreign)
{
	return foreign->filter != (Datum) 0 ? VARSIZE(DatumGetPointer(foreign->filter)) : 0;
}
