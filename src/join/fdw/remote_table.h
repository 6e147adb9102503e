/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * remote_table.h
 *	  Asks a foreign server about the table behind a foreign table: its columns' types and its size.
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

/* The type that a column has on the foreign server. */
typedef struct JoinRemoteColumn
{
	/*
	 * The type, if it is one of PostgreSQL's own, which have the same OID on every server; 0: it is
	 * another type, such as a domain, an enum or an array.
	 */
	Oid			type;
	int32		typmod;
} JoinRemoteColumn;

/*
 * The size that the table has on the foreign server; 0: it is not known, or it has none, as a view.
 */
typedef struct JoinRemoteSize
{
	double		pages;

	/* The number of rows that there is room for in the table's pages. */
	double		rows;
} JoinRemoteSize;

/* Tells whether a foreign server belongs to postgres_fdw. */
extern bool bloomfam_join_is_postgres_fdw(const ForeignServer *server);

/*
 * Return the names that a foreign table's schema, the table itself, and a column of it have on the
 * foreign server.
 */
extern const char *bloomfam_join_remote_schema(Oid table);
extern const char *bloomfam_join_remote_name(Oid table);
extern const char *bloomfam_join_remote_column_name(Oid table, AttrNumber attribute);

/*
 * Asks the foreign servers about these foreign tables of postgres_fdw, unless this session has the
 * answers already.  The servers are asked as the present user, in one subtransaction for each
 * server and schema.  An error of the foreign server or of the connection is not raised here: the
 * answer is then not known.  But if the query is cancelled meanwhile, that error is raised.
 */
extern void bloomfam_join_remote_ask(List *tables);

/*
 * Sets *column to what is known of a column of a table, for which bloomfam_join_remote_ask() must
 * have been called before.  Returns JOIN_NO_REASON, or the reason why nothing is known.
 */
extern JoinReason bloomfam_join_remote_column(Oid table, AttrNumber attribute,
											  JoinRemoteColumn *column);

/*
 * Returns the size of a foreign table, which must be open.  The foreign server is asked once in a
 * session for it, together with the types of its columns, in the manner of
 * bloomfam_join_remote_ask().
 */
extern JoinRemoteSize bloomfam_join_remote_size(Relation table);

/*
 * Returns the size of a foreign table if it is known, and zeros if not, without asking its server.
 */
extern JoinRemoteSize bloomfam_join_remote_size_known(Oid table);

/*
 * Forgets all answers, after a query failed that relied on them.  Cached plans that depend on the
 * answers (bloomfam_join_remote_depend()) are made anew.  May be called in a failed transaction.
 */
extern void bloomfam_join_remote_forget(void);

/* Makes a plan depend on what is known of a foreign table. */
extern void bloomfam_join_remote_depend(PlannedStmt *stmt, Oid table);

#endif							/* BLOOMFAM_JOIN_REMOTE_TABLE_H */
