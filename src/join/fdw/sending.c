/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * sending.c
 *	  Decides what of a filter may be sent to a foreign scan.
 *
 * A row that the foreign server drops is never seen here.  So the foreign server must judge its key
 * as this server would: a filter by the key's hash, keys and bounds by the operators of the remote
 * column's type.  Where it is not known that it does, nothing is sent.
 *
 * Keys as plain values.  Sent keys may be seen by others.  The keys are those of rows that come to
 * the join, after the conditions and policies of each table were applied.  The foreign table, its
 * server and the login there may have been set up by the present user, so the keys must be values
 * that this user may select.  A plan does not show which part of it comes from somebody else's
 * view, and a view's conditions are not always applied before the join.  So keys are not sent if
 * the query reads anything with the rights of others, whose privileges the user does not have.  Nor
 * is a filter, since its keys may be guessed; but if the whole query is within a view, the filter
 * is sent to the server of the view's owner, as that owner.
 *
 * Text.  Two texts whose collation is deterministic are equal if and only if their bytes are.  The
 * remote column may have any collation, since texts with equal bytes are equal under each
 * collation.  The foreign server may have any encoding: a key of ASCII characters has the same
 * bytes in each, and no other text arrives here with these bytes.  Other keys might not even be
 * valid text there, and are not sent (key_list.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/hash.h"
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "catalog/dependency.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
#include "utils/varlena.h"

#include "join/base/gucs.h"
#include "join/fdw/remote_query.h"
#include "join/fdw/remote_types.h"
#include "join/fdw/sending.h"
#include "pg/compat.h"

/* ---- what can be sent in any form ---- */

/* Returns the key's type on the build side. */
static Oid
build_type(const JoinForeignKey *key)
{
	return exprType((Node *) key->column->build_expr);
}

/*
 * Tells whether an operator is the server's own equality operator of a type, perhaps with another
 * type of the server on its other side.  Being in the type's operator family is not enough, since
 * an extension may have added operators for its own types to it.
 */
static bool
is_equality_of(Oid operator, Oid type)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_HASH_OPFAMILY);

	return operator < FirstNormalObjectId && OidIsValid(entry->hash_opf) &&
		   get_op_opfamily_strategy(operator, entry->hash_opf) == HTEqualStrategyNumber;
}

/* Tells whether the key's operator is the server's own equality for the types of both sides. */
static bool
is_equality(const JoinForeignKey *key)
{
	return is_equality_of(key->column->operator, key->type) &&
		   is_equality_of(key->column->operator, build_type(key));
}

/* Returns the reason why nothing at all can be sent; JOIN_NO_REASON if something may be. */
static JoinReason
refusal(const JoinForeignKey *key)
{
	if (!BLOOMFAM_KNOWN_MAJOR)
		return JOIN_FOREIGN_UNKNOWN_MAJOR;
	if (bloomfam_join_foreign_keys < 0)
		return JOIN_FOREIGN_IS_OFF;
	if (!bloomfam_join_is_postgres_fdw(GetForeignServer(key->server)))
		return JOIN_FOREIGN_OTHER_WRAPPER;
	return JOIN_NO_REASON;
}

/*
 * Returns the reason why nothing can be sent to a scan of postgres_fdw; JOIN_NO_REASON if something
 * may be.
 */
static JoinReason
scan_refusal(const ForeignScan *scan, bool volatile_free, const Var *column)
{
	if (!bloomfam_join_remote_is_plain(scan))
		return JOIN_FOREIGN_LOCKS_OR_SORTS;
	if (!volatile_free)
		return JOIN_FOREIGN_IS_VOLATILE;
	if (column == NULL)
		return JOIN_FOREIGN_NOT_IN_SCAN;
	if (bloomfam_join_remote_place(scan, column) == 0)
		return JOIN_FOREIGN_NOT_IN_QUERY;
	return JOIN_NO_REASON;
}

/* ---- sending filters ---- */

/*
 * Tells whether the foreign server has this extension, as its owner declares by the postgres_fdw
 * option "extensions".
 */
static bool
server_knows_us(const ForeignServer *server)
{
	ListCell   *lc;

	foreach(lc, server->options)
	{
		DefElem    *option = lfirst(lc);
		List	   *names;
		ListCell   *ln;

		if (strcmp(option->defname, "extensions") != 0 ||
			!SplitIdentifierString(pstrdup(defGetString(option)), ',', &names))
			continue;
		foreach(ln, names)
			if (strcmp(lfirst(ln), "bloomfam") == 0)
				return true;
	}
	return false;
}

char *
bloomfam_join_filter_type(Oid *type)
{
	CatCList   *list = SearchSysCacheList1(TYPENAMENSP, CStringGetDatum("bloomfilter"));
	Oid			extension = get_extension_oid("bloomfam", true);
	char	   *schema = NULL;
	int			i;

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

/* Returns the reason why no filter can be sent; JOIN_NO_REASON if one can be. */
static JoinReason
filter_refusal(const JoinForeignKey *key)
{
	Oid			filter_type;

	if (!server_knows_us(GetForeignServer(key->server)))
		return JOIN_FOREIGN_NO_EXTENSION;
	if (bloomfam_join_remote_types_of_filter(key->type) == NULL ||
		bloomfam_join_remote_types_of_filter(build_type(key)) == NULL ||
		!is_equality(key))
		return JOIN_FOREIGN_OTHER_HASH;
	if (key->reads_as_others)
		return JOIN_FOREIGN_RIGHTS_OF_OTHERS;
	if (OidIsValid(key->column->collation) &&
		(!get_collation_isdeterministic(key->column->collation) ||
		 GetDatabaseEncoding() != PG_UTF8))
		return JOIN_FOREIGN_OTHER_TEXT;
	if (bloomfam_join_filter_type(&filter_type) == NULL)
		return JOIN_FOREIGN_NO_EXTENSION_HERE;
	return JOIN_NO_REASON;
}

/* ---- sending keys and bounds ---- */

/*
 * Returns the reason why neither keys nor bounds can be sent, as far as that is known without
 * asking the foreign server; JOIN_NO_REASON if they may be.
 */
static JoinReason
clear_refusal(const JoinForeignKey *key)
{
	if (bloomfam_join_foreign_keys == 0)
		return JOIN_FOREIGN_KEYS_ARE_0;
	if (!OidIsValid(key->table))
		return JOIN_FOREIGN_NO_TABLE;
	if (bloomfam_join_remote_clear(key->type, build_type(key)) == JOIN_CLEAR_NOTHING ||
		!is_equality(key))
		return JOIN_FOREIGN_TYPE;
	if (OidIsValid(key->column->collation) &&
		!get_collation_isdeterministic(key->column->collation))
		return JOIN_FOREIGN_COLLATION;
	if (OidIsValid(key->user) && key->user != GetUserId())
		return JOIN_FOREIGN_OTHER_USER;
	if (key->reads_as_others)
		return JOIN_FOREIGN_RIGHTS_OF_OTHERS;
	return JOIN_NO_REASON;
}

/* ---- sending in all forms ---- */

JoinSendings
bloomfam_join_sendings(const PlannedStmt *stmt, const ForeignScan *scan, bool volatile_free,
					   AttrNumber attribute, const JoinKeyColumn *key_column)
{
	JoinForeignKey key = {.column = key_column, .server = scan->fs_server};
	JoinSendings sendings = {.table = InvalidOid};
	JoinReason	reason = refusal(&key);
	const Var  *column;

	if (reason == JOIN_NO_REASON)
	{
		column = bloomfam_join_remote_scan_column(scan, attribute);
		reason = scan_refusal(scan, volatile_free, column);
	}
	if (reason != JOIN_NO_REASON)
	{
		bloomfam_join_sendings_refuse(&sendings, reason);
		return sendings;
	}
	key.type = column->vartype;
	if (scan->scan.scanrelid > 0)
	{
		Assert(rt_fetch(column->varno, stmt->rtable)->rtekind == RTE_RELATION);
		key.table = rt_fetch(column->varno, stmt->rtable)->relid;
		key.user = bloomfam_foreign_scan_user(stmt, scan);
	}
	key.reads_as_others =
		bloomfam_reads_as_others(stmt, OidIsValid(key.user) ? key.user : GetUserId());
	sendings.reasons[JOIN_SEND_FILTER] = filter_refusal(&key);
	reason = clear_refusal(&key);
	sendings.reasons[JOIN_SEND_KEYS] = sendings.reasons[JOIN_SEND_BOUNDS] = reason;
	if (reason != JOIN_NO_REASON)
		return sendings;
	sendings.table = key.table;
	if (bloomfam_join_remote_clear(key.type, build_type(&key)) == JOIN_CLEAR_KEYS)
		sendings.reasons[JOIN_SEND_BOUNDS] = JOIN_FOREIGN_TYPE_OF_BOUNDS;
	return sendings;
}

void
bloomfam_join_sendings_refuse(JoinSendings *sendings, JoinReason reason)
{
	int			i;

	for (i = 0; i < JOIN_SENDINGS; i++)
		if (sendings->reasons[i] == JOIN_NO_REASON)
			sendings->reasons[i] = reason;
	sendings->table = InvalidOid;
}

void
bloomfam_join_sendings_settle(JoinSendings *sendings, const ForeignScan *scan,
							  AttrNumber attribute)
{
	const Var  *column = bloomfam_join_remote_scan_column(scan, attribute);
	JoinReason	reason;

	Assert(bloomfam_join_sendings_are_open(sendings));
	reason = bloomfam_join_remote_column(sendings->table, column->varattno, &sendings->remote);
	if (reason == JOIN_NO_REASON &&
		!bloomfam_join_remote_agrees(column->vartype, sendings->remote.type))
		reason = JOIN_FOREIGN_REMOTE_TYPE;
	if (reason == JOIN_NO_REASON && column->vartypmod >= 0 &&
		column->vartypmod != sendings->remote.typmod)
		reason = JOIN_FOREIGN_REMOTE_TYPMOD;
	if (reason == JOIN_NO_REASON)
		return;
	sendings->table = InvalidOid;
	if (sendings->reasons[JOIN_SEND_KEYS] == JOIN_NO_REASON)
		sendings->reasons[JOIN_SEND_KEYS] = reason;
	if (sendings->reasons[JOIN_SEND_BOUNDS] == JOIN_NO_REASON)
		sendings->reasons[JOIN_SEND_BOUNDS] = reason;
}

bool
bloomfam_join_may_be_sent(const JoinForeignKey *key, double keys, double most)
{
	return refusal(key) == JOIN_NO_REASON &&
		   ((keys <= bloomfam_join_foreign_keys && clear_refusal(key) == JOIN_NO_REASON) ||
			(keys <= most && filter_refusal(key) == JOIN_NO_REASON));
}
