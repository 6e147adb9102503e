/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * column_stats.h
 *	  Reads what pg_statistic says about a column of a table.
 *
 * A column without statistics is no error: each function's comment says what it returns then.  The
 * statistics read are those of the table alone, without its inheritance children, unless a function
 * says otherwise.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_COLUMN_STATS_H
#define BLOOMFAM_JOIN_COLUMN_STATS_H

#include "access/attnum.h"

/*
 * Tells whether a column's values are so long that the table stores them compressed or in its TOAST
 * table.  If inherited is true, uses the statistics of the table and its children together.
 * Returns false if there are no statistics.
 */
extern bool bloomfam_join_column_is_long(Oid table, AttrNumber attribute, bool inherited);

/*
 * Returns how well the physical order of a table's rows follows the order of a column: the absolute
 * value of the correlation in pg_statistic, from 0 to 1.  Returns 0 if there are no statistics.
 */
extern double bloomfam_join_column_order(Oid table, AttrNumber attribute);

/*
 * Returns the average number of a table's rows that have the same value in a column; "rows" is the
 * number of the table's rows.  Returns 0 if there are no statistics.
 */
extern double bloomfam_join_column_rows_per_value(Oid table, AttrNumber attribute, double rows);

/*
 * Returns the difference between the largest and the smallest value of a column that the statistics
 * know, or -1 if there are no statistics.  The callback "number" converts a value of the column's
 * type, which has length typlen, to an integer.
 */
extern double bloomfam_join_column_span(Oid table, AttrNumber attribute,
										int64 (*number) (int16 typlen, Datum value));

#endif							/* BLOOMFAM_JOIN_COLUMN_STATS_H */
