/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * sending.h
 *	  Decides what of a filter may be sent to a foreign scan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_SENDING_H
#define BLOOMFAM_JOIN_SENDING_H

#include "nodes/plannodes.h"

#include "join/base/reasons.h"
#include "join/fdw/remote_table.h"
#include "join/filter/hash.h"

/* The forms in which a filter's keys can be sent to a foreign server. */
typedef enum JoinSending
{
	JOIN_SEND_KEYS,				/* A list of the keys, as plain values. */
	JOIN_SEND_BOUNDS,			/* The smallest and the largest key, as plain values. */

	/* A Bloom filter of the keys, if both servers have the extension. */
	JOIN_SEND_FILTER
} JoinSending;

#define JOIN_SENDINGS	(JOIN_SEND_FILTER + 1)

/* What may be sent to one foreign scan. */
typedef struct JoinSendings
{
	/* For each form, the reason why it may not be sent; JOIN_NO_REASON: it may. */
	JoinReason	reasons[JOIN_SENDINGS];

	/* The scan's foreign table, if keys or bounds may be sent; else 0. */
	Oid			table;

	/*
	 * The remote column that keys are compared with, in "table"; its type is 0 until the server was
	 * asked.
	 */
	JoinRemoteColumn remote;
} JoinSendings;

/*
 * A join's key that is a column of a foreign table, or of another relation that a foreign server
 * scans.
 */
typedef struct JoinForeignKey
{
	const JoinKeyColumn *column; /* The join's description of the key column: how it is compared. */
	Oid			server;
	Oid			table;			/* The foreign table; 0: the scan is of more than one table. */
	Oid			user;			/* The user who reads the foreign table; 0: the present user. */

	/*
	 * Whether the query reads any relation with the rights of a user whose privileges the reader of
	 * the foreign table does not have: keys from there must not be shown to the foreign server.
	 */
	bool		reads_as_others;
	Oid			type;			/* The declared type of the column in this database. */
} JoinForeignKey;

/* Tells whether keys, bounds or a filter may be sent. */
static inline bool
bloomfam_join_sends(const JoinSendings *sendings)
{
	return sendings->reasons[JOIN_SEND_KEYS] == JOIN_NO_REASON ||
		   sendings->reasons[JOIN_SEND_BOUNDS] == JOIN_NO_REASON ||
		   sendings->reasons[JOIN_SEND_FILTER] == JOIN_NO_REASON;
}

/*
 * Decides what may be sent to a foreign scan to filter one of its output columns, which is compared
 * as a column of a join's key is, as far as that is known without asking the foreign server.
 * volatile_free says that the user cannot see how often the scan's conditions and columns are
 * evaluated.  The caller must know that rows without a match may be dropped before the scan's
 * conditions are evaluated, and that the build side depends on no outer parameter.
 */
extern JoinSendings bloomfam_join_sendings(const PlannedStmt *stmt, const ForeignScan *scan,
										   bool volatile_free, AttrNumber attribute,
										   const JoinKeyColumn *column);

/*
 * Tells whether the given number of keys may be sent, or a filter of them, which can have "most"
 * keys, as far as that is known of a table before there is a scan.
 */
extern bool bloomfam_join_may_be_sent(const JoinForeignKey *key, double keys, double most);

/*
 * Tells whether the foreign server must be asked for the remote column's type.  The caller then
 * calls bloomfam_join_remote_ask() with the table, and bloomfam_join_sendings_settle() after that.
 */
static inline bool
bloomfam_join_sendings_are_open(const JoinSendings *sendings)
{
	return OidIsValid(sendings->table) && !OidIsValid(sendings->remote.type);
}

/* Refuses to send what the type of the scan's remote column forbids, after its server was asked. */
extern void bloomfam_join_sendings_settle(JoinSendings *sendings, const ForeignScan *scan,
										  AttrNumber attribute);

/*
 * Refuses to send anything to a foreign scan.  The forms (keys, bounds, filter) that were not
 * refused before get the given reason.
 */
extern void bloomfam_join_sendings_refuse(JoinSendings *sendings, JoinReason reason);

/*
 * Returns the schema of the type bloomfilter in this database, and sets *type to the type's OID.
 * Returns NULL, and sets *type to 0, if this database does not have the extension.
 */
extern char *bloomfam_join_filter_type(Oid *type);

#endif							/* BLOOMFAM_JOIN_SENDING_H */
