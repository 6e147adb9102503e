/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * remote_query.h
 *	  Adds conditions to the remote query of a scan by postgres_fdw.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_REMOTE_QUERY_H
#define BLOOMFAM_JOIN_REMOTE_QUERY_H

#include "nodes/plannodes.h"

/*
 * A condition on a column of the remote query.  Its parameters are given by their numbers in the
 * executor.
 */
typedef struct JoinRemoteCondition
{
	const Var  *key;			/* The column, as bloomfam_join_remote_scan_column() returns it. */

	/*
	 * The foreign table that the column belongs to; 0: only a filter is sent, so the foreign server
	 * was not asked for the column's type.
	 */
	Oid			table;

	/*
	 * The fields from "filter" to "greatest" are numbers of executor parameters that the column is
	 * compared with; -1: the condition has no such parameter.
	 */
	int			filter;

	/* The schema of the extension's functions on the foreign server; set if "filter" is not -1. */
	const char *schema;
	int			keys;			/* The parameter for all keys, an array of "type". */

	/*
	 * The parameters for the smallest and the largest key, of "type"; both are -1, or neither is.
	 */
	int			least;
	int			greatest;
	Oid			type;			/* The type of the remote column. */
} JoinRemoteCondition;

/*
 * Returns the column of a scan's table, or of its remote query, that an output column of the scan
 * is; NULL if it is not such a column.
 */
extern const Var *bloomfam_join_remote_scan_column(const ForeignScan *scan, AttrNumber attribute);

/*
 * Returns the position of a column among those that the remote query returns, from 1; 0 if it is
 * not there.
 */
extern int	bloomfam_join_remote_place(const ForeignScan *scan, const Var *column);

/*
 * Tells whether the rows of a scan's remote query can be filtered by wrapping it in another query.
 */
extern bool bloomfam_join_remote_is_plain(const ForeignScan *scan);

/*
 * Adds a condition to a scan's remote query, which must be plain (bloomfam_join_remote_is_plain())
 * and return the condition's column.
 */
extern void bloomfam_join_remote_add(PlannedStmt *stmt, ForeignScan *scan,
									 const JoinRemoteCondition *condition);

#endif							/* BLOOMFAM_JOIN_REMOTE_QUERY_H */
