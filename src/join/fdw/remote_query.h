/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * remote_query.h
 *	  The remote query of a scan by postgres_fdw, and conditions that are added to it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_REMOTE_QUERY_H
#define BLOOMFAM_JOIN_REMOTE_QUERY_H

#include "nodes/plannodes.h"

/* A condition on a column of the remote query.  Its parameters are the executor's. */
typedef struct JoinRemoteCondition
{
	const Var  *key;			/* bloomfam_join_remote_scan_column() */
	Oid			table;			/* the foreign table that it is of; 0: nothing was asked of it */

	/* what may be sent, by these parameters; -1: not this */
	int			filter;
	const char *schema;			/* ... whose functions are in this one there */
	int			keys;			/* an array of the type below */
	int			least;			/* ... and with this, the other one: of that type */
	int			greatest;
	Oid			type;			/* the remote column's */
} JoinRemoteCondition;

/*
 * The column of a scan's table or of its remote query that an output column of it is; NULL if it is
 * none.
 */
extern const Var *bloomfam_join_remote_scan_column(const ForeignScan *scan, AttrNumber attribute);

/* Its place among the columns that the remote query returns, from 1 on; 0: not there. */
extern int	bloomfam_join_remote_place(const ForeignScan *scan, const Var *column);

/* Can the rows of the scan's remote query be filtered afterwards? */
extern bool bloomfam_join_remote_is_plain(const ForeignScan *scan);

/* Adds a condition to a query that is plain, and has the column. */
extern void bloomfam_join_remote_add(PlannedStmt *stmt, ForeignScan *scan,
									 const JoinRemoteCondition *condition);

#endif							/* BLOOMFAM_JOIN_REMOTE_QUERY_H */
