/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * remote_query.c
 *	  The remote query of a scan by postgres_fdw, and conditions that are added to it.
 *
 * The remote query, the first item of fdw_private, becomes a subquery, which the other server's
 * planner dissolves again:
 *
 *		SELECT * FROM (SELECT a, b FROM public.fact) AS s(c1, c2) WHERE
 *		($1::bigint[] IS NULL OR s.c1 = ANY (THERE($1::bigint[])) AND THERE(s.c1) = ANY ($1)) AND
 *		($2::bigint IS NULL OR s.c1 >= THERE($2::bigint)) AND ($3::bigint IS NULL OR ...) AND
 *		CASE WHEN pg_typeof((NULL::public.fact).a) = 'bigint'::regtype THEN true ELSE ... END
 *
 * and what may be sent is parameters, in fdw_exprs.  Which of them are NULL is known when the
 * query is sent: the other server plans it then, with their values, so that a condition on one that
 * is NULL vanishes, and one on another may be an index's.
 *
 * THERE(x) stands for CASE WHEN pg_typeof(0) IS NOT NULL THEN x END, which is x, and by a function
 * that is stable.  The other server's table may be a foreign one itself, or have partitions that
 * are; and then types are right that are declared there, not those behind it.  A condition with
 * a function that is not immutable is sent on to no third server.  An index may have it all the
 * same, as estimates may have its value.  But a list of keys that is no constant is searched from
 * its beginning, where there is no index; so it is there a second time, to be hashed.
 *
 * The last condition has no column, so it is evaluated once.  What is sent in clear is right only
 * for columns of the type that the other server told of (remote_table.c).  If that was changed
 * there since, the query might parse, and drop rows that match here.  So it must fail: the
 * condition is an error then, and never false.
 *
 * A filter is asked for by a condition that looks at the type for each row, and lets all rows pass
 * if it is another one: no index helps there, and nobody was asked for the type.  A local type's
 * modifier rounds or cuts what arrives (numeric(10,2)), so the remote value is cast to it.  Text is
 * hashed under COLLATE "C", whatever the remote column's collation, since equality here is that of
 * bytes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "join/fdw/remote_query.h"
#include "join/fdw/remote_table.h"
#include "join/fdw/remote_types.h"
#include "pg/expression.h"
#include "pg/server_structs.h"

const Var *
bloomfam_join_remote_scan_column(const ForeignScan *scan, AttrNumber attribute)
{
	const TargetEntry *output = list_nth(scan->scan.plan.targetlist, attribute - 1);
	int			varno = scan->scan.scanrelid > 0 ? (int) scan->scan.scanrelid : INDEX_VAR;
	const Var  *var = bloomfam_expression_var(output->expr);

	return var != NULL && (int) var->varno == varno ? var : NULL;
}

int
bloomfam_join_remote_place(const ForeignScan *scan, const Var *column)
{
	ListCell   *lc;

	foreach(lc, bloomfam_postgres_fdw_columns(scan))
		if (lfirst_int(lc) == column->varattno)
			return foreach_current_index(lc) + 1;
	return 0;
}

/* The scan's remote query, if it is one whose rows may be filtered afterwards; else NULL. */
static const char *
find_query(const ForeignScan *scan)
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

bool
bloomfam_join_remote_is_plain(const ForeignScan *scan)
{
	return find_query(scan) != NULL;
}

/* Has the scan this parameter of the executor sent; returns its number in the query. */
static int
add_param(PlannedStmt *stmt, ForeignScan *scan, int id)
{
	Param	   *param = makeNode(Param);

	Assert(id < list_length(stmt->paramExecTypes));
	param->paramkind = PARAM_EXEC;
	param->paramid = id;
	param->paramtype = list_nth_oid(stmt->paramExecTypes, id);
	param->paramtypmod = -1;
	param->paramcollid = get_typcollation(param->paramtype);
	param->location = -1;
	return bloomfam_postgres_fdw_add_param(scan, param);
}

/* Appends what a filter is asked for: its number in the query, the column's place there. */
static void
append_filter(StringInfo sql, const JoinRemoteCondition *condition, int param, int place)
{
	const Var  *key = condition->key;
	const char *schema = quote_identifier(condition->schema);

	/* postgres_fdw has set the search path to pg_catalog there */
	appendStringInfo(sql, "($%d::%s.bloomfilter IS NULL OR CASE WHEN pg_typeof(s.c%d) IN (%s)",
					 param, schema, place, bloomfam_join_remote_types_of_filter(key->vartype));
	appendStringInfo(sql, " THEN %s.bloom_may_contain($%d::%s.bloomfilter, s.c%d", schema, param,
					 schema, place);

	/* without the cast to text, COLLATE would be an error where the remote column is none */
	if (key->vartypmod >= 0 || type_is_collatable(key->vartype))
		appendStringInfo(
			sql, "::%s",
			format_type_extended(key->vartype, key->vartypmod, FORMAT_TYPE_TYPEMOD_GIVEN));
	if (type_is_collatable(key->vartype))
		appendStringInfoString(sql, " COLLATE \"C\"");
	appendStringInfoString(sql, ") ELSE true END)");
}

/* What is evaluated on the other server, and not on a third one. */
#define THERE_BEGIN	"CASE WHEN pg_typeof(0) IS NOT NULL THEN "
#define THERE_END	" END"

/* Appends what holds if there are no keys, or the column is among them. */
static void
append_keys(StringInfo sql, int place, int param, const char *type)
{
	appendStringInfo(sql, "($%d::%s[] IS NULL OR s.c%d = ANY (" THERE_BEGIN "$%d::%s[]" THERE_END
					 ") AND " THERE_BEGIN "s.c%d" THERE_END " = ANY ($%d::%s[]))",
					 param, type, place, param, type, place, param, type);
}

/* Appends what holds if there is no bound, or the column is on this side of it. */
static void
append_bound(StringInfo sql, int place, const char *operator, int param, const char *type)
{
	appendStringInfo(sql, "($%d::%s IS NULL OR s.c%d %s " THERE_BEGIN "$%d::%s" THERE_END ")",
					 param, type, place, operator, param, type);
}

/* Appends what is an error unless the column still has its type there, modifier included. */
static void
append_guard(StringInfo sql, const JoinRemoteCondition *condition)
{
	Oid			table = condition->table;
	AttrNumber	attribute = condition->key->varattno;
	const char *name = quote_qualified_identifier(bloomfam_join_remote_schema(table),
												  bloomfam_join_remote_name(table));
	const char *column = bloomfam_join_remote_column_name(table, attribute);
	const char *type =
		psprintf("pg_typeof((NULL::%s).%s)", name, quote_identifier(column));
	StringInfoData message;

	appendStringInfo(sql, "CASE WHEN %s = %s::regtype", type,
					 quote_literal_cstr(format_type_be(condition->type)));
	if (condition->key->vartypmod >= 0)
		appendStringInfo(sql,
						 " AND (SELECT atttypmod FROM pg_attribute WHERE attrelid = %s::regclass"
						 " AND attname = %s AND NOT attisdropped) = %d",
						 quote_literal_cstr(name), quote_literal_cstr(column),
						 condition->key->vartypmod);

	/* no constant, which would be an error whenever the query is planned */
	initStringInfo(&message);
	appendStringInfo(&message, "bloomfam: the type of %s.%s has changed since the query was planned"
					 ", and is now ", name, quote_identifier(column));
	appendStringInfo(sql, " THEN true ELSE (%s || %s::text)::boolean END",
					 quote_literal_cstr(message.data), type);
}

void
bloomfam_join_remote_add(PlannedStmt *stmt, ForeignScan *scan,
						 const JoinRemoteCondition *condition)
{
	const char *query = find_query(scan);
	int			place = bloomfam_join_remote_place(scan, condition->key);
	const char *between = " WHERE ";
	StringInfoData sql;
	int			i;

	Assert(query != NULL && place > 0);
	Assert((condition->least >= 0) == (condition->greatest >= 0));
	Assert(condition->filter >= 0 || condition->keys >= 0 || condition->least >= 0);
	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT * FROM (%s) AS s(", query);
	for (i = 1; i <= list_length(bloomfam_postgres_fdw_columns(scan)); i++)
		appendStringInfo(&sql, "%sc%d", i > 1 ? ", " : "", i);
	appendStringInfoChar(&sql, ')');
	if (condition->keys >= 0 || condition->least >= 0)
	{
		const char *type = format_type_be(condition->type);

		Assert(OidIsValid(condition->table) && OidIsValid(condition->type));
		if (condition->keys >= 0)
		{
			appendStringInfoString(&sql, between);
			append_keys(&sql, place, add_param(stmt, scan, condition->keys), type);
			between = " AND ";
		}
		if (condition->least >= 0)
		{
			appendStringInfoString(&sql, between);
			append_bound(&sql, place, ">=", add_param(stmt, scan, condition->least), type);
			appendStringInfoString(&sql, " AND ");
			append_bound(&sql, place, "<=", add_param(stmt, scan, condition->greatest), type);
			between = " AND ";
		}
		appendStringInfoString(&sql, between);
		append_guard(&sql, condition);
	}
	if (condition->filter >= 0)
	{
		appendStringInfoString(&sql, between);
		append_filter(&sql, condition, add_param(stmt, scan, condition->filter), place);
	}
	bloomfam_postgres_fdw_set_query(scan, sql.data);
}
