/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * column_stats.h
 *	  What statistics (pg_statistic) tell of a column of a table.
 *
 * Nothing here says no: where there are no statistics, a function returns what its comment says.
 * Columns are those of a table as it is scanned, without its children, unless it is said otherwise.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_COLUMN_STATS_H
#define BLOOMFAM_JOIN_COLUMN_STATS_H

#include "access/attnum.h"

/*
 * Are its values so long that the table has them compressed or in its TOAST table?  inherited: of
 * a table and its children together.  false without statistics.
 */
extern bool bloomfam_join_column_is_long(Oid table, AttrNumber attribute, bool inherited);

/*
 * How far rows lie in the order of the column: from 0 to 1, the absolute value of the correlation.
 * 0 without statistics.
 */
extern double bloomfam_join_column_order(Oid table, AttrNumber attribute);

/* How many of a table's rows have one value of the column.  0 without statistics. */
extern double bloomfam_join_column_rows_per_value(Oid table, AttrNumber attribute, double rows);

/*
 * By how much the largest value is larger than the smallest; -1 without statistics.  number
 * converts a value of a type of that length.
 */
extern double bloomfam_join_column_span(Oid table, AttrNumber attribute,
										int64 (*number) (int16 typlen, Datum value));

#endif							/* BLOOMFAM_JOIN_COLUMN_STATS_H */
