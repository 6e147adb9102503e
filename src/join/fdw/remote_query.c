/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * remote_query.c
 *	  Adds conditions to the remote query of a scan by postgres_fdw.
 *
 * The remote query, the first item of fdw_private, becomes a subquery, which the foreign server's
 * planner pulls up again:
 *
 *		SELECT * FROM (SELECT a, b FROM public.fact) AS s(c1, c2) WHERE
 *		($1::bigint[] IS NULL OR s.c1 = ANY (THERE($1::bigint[])) AND THERE(s.c1) = ANY ($1)) AND
 *		($2::bigint IS NULL OR s.c1 >= THERE($2::bigint)) AND ($3::bigint IS NULL OR ...) AND
 *		CASE WHEN pg_typeof((NULL::public.fact).a) = 'bigint'::regtype THEN true ELSE ... END
 *
 * What may be sent is parameters, in fdw_exprs.  Which of them are NULL is known when the query is
 * sent.  The foreign server plans it then with their values, so that a condition on a NULL
 * parameter vanishes, and a condition on another one may become an index condition.
 *
 * THERE(x) stands for CASE WHEN pg_typeof(0) IS NOT NULL THEN x END, which has the value of x, but
 * contains a function that is only stable.  The foreign server's table may itself be a foreign
 * table, or have partitions that are.  In that case its types are those declared on the foreign
 * server, which may differ from those of the table on a third server.  A condition with a function
 * that is not immutable is not sent on to a third server.  It may still be an index condition, and
 * the planner may use its value for estimates.  But if a list of keys is not a constant and there
 * is no index, the list is searched from its beginning for each row.  So the list is there a second
 * time as a constant, which is hashed.
 *
 * The last condition contains no column, so it is evaluated only once.  Keys and bounds are correct
 * only for columns of the type that the foreign server has told (remote_table.c).  If that type was
 * changed since, the query might still be valid and drop rows that match here.  So it must fail:
 * the condition raises an error in that case, and is never false.
 *
 * A filter is probed by a condition that checks the column's type for each row, and lets all rows
 * pass if it is an unexpected type; no index could help there, and nobody was asked for the type.
 * The type modifier of a local column (such as numeric(10,2)) rounds or truncates what arrives, so
 * the remote value is cast to it.  Text is hashed under COLLATE "C", whatever the remote column's
 * collation is, since equality here is that of the bytes.
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

/*
 * Returns a scan's remote query if its rows can be filtered by wrapping it in another query; else
 * NULL.
 */
static const char *
find_query(const ForeignScan *scan)
{
	const char *query;

	if (scan->operation != CMD_SELECT)
		return NULL;
	query = bloomfam_postgres_fdw_query(scan);

	/*
	 * Queries with ORDER BY or row locks are refused: within a subquery, a lock would be taken all
	 * the same and the order is kept in practice, but SQL guarantees neither.  If these words only
	 * occur in a literal or a name, merely a filter is lost.
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

/*
 * Makes a foreign scan send the executor parameter "id" with its remote query.  Returns the
 * parameter's number in the remote query.
 */
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

/*
 * Appends the condition that probes a filter.  "param" is the filter's number among the query's
 * parameters, and "place" the column's position in the query.
 */
static void
append_filter(StringInfo sql, const JoinRemoteCondition *condition, int param, int place)
{
	const Var  *key = condition->key;
	const char *schema = quote_identifier(condition->schema);

	/*
	 * postgres_fdw has set the search path on the foreign server to pg_catalog, so the schema is
	 * needed.
	 */
	appendStringInfo(sql, "($%d::%s.bloomfilter IS NULL OR CASE WHEN pg_typeof(s.c%d) IN (%s)",
					 param, schema, place, bloomfam_join_remote_types_of_filter(key->vartype));
	appendStringInfo(sql, " THEN %s.bloom_may_contain($%d::%s.bloomfilter, s.c%d", schema, param,
					 schema, place);

	/*
	 * The cast to the local type is needed even for text: without it, COLLATE would be an error if
	 * the remote column's type has no collation.
	 */
	if (key->vartypmod >= 0 || type_is_collatable(key->vartype))
		appendStringInfo(
			sql, "::%s",
			format_type_extended(key->vartype, key->vartypmod, FORMAT_TYPE_TYPEMOD_GIVEN));
	if (type_is_collatable(key->vartype))
		appendStringInfoString(sql, " COLLATE \"C\"");
	appendStringInfoString(sql, ") ELSE true END)");
}

/*
 * THERE_BEGIN and THERE_END enclose an SQL expression that is evaluated on the foreign server, and
 * not sent on to a third one.
 */
#define THERE_BEGIN	"CASE WHEN pg_typeof(0) IS NOT NULL THEN "
#define THERE_END	" END"

/* Appends the condition that there is no list of keys, or the column is in the list. */
static void
append_keys(StringInfo sql, int place, int param, const char *type)
{
	appendStringInfo(sql, "($%d::%s[] IS NULL OR s.c%d = ANY (" THERE_BEGIN "$%d::%s[]" THERE_END
					 ") AND " THERE_BEGIN "s.c%d" THERE_END " = ANY ($%d::%s[]))",
					 param, type, place, param, type, place, param, type);
}

/* Appends the condition that there is no bound, or that the column satisfies the bound. */
static void
append_bound(StringInfo sql, int place, const char *operator, int param, const char *type)
{
	appendStringInfo(sql, "($%d::%s IS NULL OR s.c%d %s " THERE_BEGIN "$%d::%s" THERE_END ")",
					 param, type, place, operator, param, type);
}

/*
 * Appends the condition that raises an error unless the remote column still has its type, including
 * the type modifier.
 */
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

	/*
	 * The error must not come from a constant expression, which would raise it whenever the query
	 * is planned.
	 */
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
