/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * remote_table.h
 *	  What another server says of the table that a foreign table stands for: types and size.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_REMOTE_TABLE_H
#define BLOOMFAM_JOIN_REMOTE_TABLE_H

#include "access/attnum.h"
#include "foreign/foreign.h"
#include "nodes/pg_list.h"
#include "utils/relcache.h"

#include "join/base/reasons.h"

/* The type that a column has on the other server. */
typedef struct JoinRemoteColumn
{
	Oid			type;			/* of PostgreSQL's own, which have the same OID everywhere; 0: some
								 * other, as a domain, an enum or an array */
	int32		typmod;
} JoinRemoteColumn;

/* The size that the table has there; 0: it is not known, or has none, as a view. */
typedef struct JoinRemoteSize
{
	double		pages;
	double		rows;			/* that there is room for */
} JoinRemoteSize;

/* Does the server belong to postgres_fdw? */
extern bool bloomfam_join_is_postgres_fdw(const ForeignServer *server);

/* The name on the other server of a foreign table's schema, of itself, and of a column of it. */
extern const char *bloomfam_join_remote_schema(Oid table);
extern const char *bloomfam_join_remote_name(Oid table);
extern const char *bloomfam_join_remote_column_name(Oid table, AttrNumber attribute);

/*
 * Has the other servers tell of these foreign tables of postgres_fdw, unless they have told this
 * session.  As the present user, in one subtransaction.  An error there, or of the connection, is
 * no error here: it is only not known then.  But a query that is cancelled meanwhile is.
 */
extern void bloomfam_join_remote_ask(List *tables);

/*
 * Fills in what is known of a column of a table for which the last bloomfam_join_remote_ask() was.
 * Returns JOIN_NO_REASON, or why nothing is known.
 */
extern JoinReason bloomfam_join_remote_column(Oid table, AttrNumber attribute,
											  JoinRemoteColumn *column);

/*
 * The size of a foreign table that is open, which is asked for once in a session as above, with the
 * types of its columns.
 */
extern JoinRemoteSize bloomfam_join_remote_size(Relation table);

/* The same, but nobody is asked. */
extern JoinRemoteSize bloomfam_join_remote_size_known(Oid table);

/*
 * A query failed that relied on what was known: all of it is forgotten, and cached plans are made
 * anew that depend on it (bloomfam_join_remote_depend()).  May be called in a transaction that
 * failed.
 */
extern void bloomfam_join_remote_forget(void);

/* Makes a plan depend on what is known of a foreign table. */
extern void bloomfam_join_remote_depend(PlannedStmt *stmt, Oid table);

#endif							/* BLOOMFAM_JOIN_REMOTE_TABLE_H */
