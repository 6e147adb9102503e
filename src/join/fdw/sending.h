/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * sending.h
 *	  What of a filter may be sent to a foreign scan, and why not the rest.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_SENDING_H
#define BLOOMFAM_JOIN_SENDING_H

#include "nodes/plannodes.h"

#include "join/base/reasons.h"
#include "join/fdw/remote_table.h"
#include "join/filter/hash.h"

/* What may be sent. */
typedef enum JoinSending
{
	JOIN_SEND_KEYS,				/* a list of the keys, in clear */
	JOIN_SEND_BOUNDS,			/* the smallest and the largest of them, in clear */
	JOIN_SEND_FILTER			/* a Bloom filter, where both servers have the extension */
} JoinSending;

#define JOIN_SENDINGS	(JOIN_SEND_FILTER + 1)

/* ... to a foreign scan. */
typedef struct JoinSendings
{
	JoinReason	reasons[JOIN_SENDINGS]; /* why each may not be sent; JOIN_NO_REASON: it may */
	Oid			table;			/* of the scan, where keys or bounds may be sent; else 0 */
	JoinRemoteColumn remote;	/* ... the key's there, once it was asked for */
} JoinSendings;

/* A join's key on a column of a foreign table, or of what else a foreign server scans. */
typedef struct JoinForeignKey
{
	const JoinKeyColumn *column; /* how the join compares it */
	Oid			server;
	Oid			table;			/* the foreign table; 0: the column is of more than one */
	Oid			user;			/* that reads it; 0: the present one */
	bool		reads_as_others;	/* the query reads something as others, whose privileges that
									 * one has not */
	Oid			type;			/* of the column, as it is declared here */
} JoinForeignKey;

/* May anything be sent? */
static inline bool
bloomfam_join_sends(const JoinSendings *sendings)
{
	return sendings->reasons[JOIN_SEND_KEYS] == JOIN_NO_REASON ||
		   sendings->reasons[JOIN_SEND_BOUNDS] == JOIN_NO_REASON ||
		   sendings->reasons[JOIN_SEND_FILTER] == JOIN_NO_REASON;
}

/*
 * What may be sent to a scan by an output column of it that is compared as a column of a join's key
 * is, as far as is known without asking its server.  volatile_free: it cannot be noticed how often
 * the scan's conditions and columns are evaluated.  The caller knows that rows without a partner
 * may be dropped below the scan's conditions, and that the build side depends on no outer
 * parameter.
 */
extern JoinSendings bloomfam_join_sendings(const PlannedStmt *stmt, const ForeignScan *scan,
										   bool volatile_free, AttrNumber attribute,
										   const JoinKeyColumn *column);

/*
 * May so many keys be sent, or a filter of them, which is of most keys at the most?  As far as is
 * known of a table before there is a scan.
 */
extern bool bloomfam_join_may_be_sent(const JoinForeignKey *key, double keys, double most);

/* Is the other server to be asked?  bloomfam_join_remote_ask() the table, then do the next. */
static inline bool
bloomfam_join_sendings_are_open(const JoinSendings *sendings)
{
	return OidIsValid(sendings->table) && !OidIsValid(sendings->remote.type);
}

/* Takes back what the type of the scan's remote column forbids, as its server told. */
extern void bloomfam_join_sendings_settle(JoinSendings *sendings, const ForeignScan *scan,
										  AttrNumber attribute);

/* Takes back all, for this reason, but where there is one already. */
extern void bloomfam_join_sendings_refuse(JoinSendings *sendings, JoinReason reason);

/* The schema of the type bloomfilter in this database, and the type; NULL and 0: there is none. */
extern char *bloomfam_join_filter_type(Oid *type);

#endif							/* BLOOMFAM_JOIN_SENDING_H */
