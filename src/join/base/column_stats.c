/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * column_stats.c
 *	  Reads what pg_statistic says about a column of a table.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "join/base/column_stats.h"

/*
 * Returns the pg_statistic row of a column, or an invalid tuple if there is none.  The caller
 * releases a valid tuple with ReleaseSysCache().
 */
static HeapTuple
find_statistics(Oid table, AttrNumber attribute, bool inherited)
{
	Assert(OidIsValid(table));
	return SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(table), Int16GetDatum(attribute),
						   BoolGetDatum(inherited));
}

/*
 * ANALYZE counts values wider than about a kB, but does not analyze them further.  So a column of
 * variable length that has some values that are not NULL, but neither most common values nor a
 * histogram nor a correlation, has only such wide values.
 */
bool
bloomfam_join_column_is_long(Oid table, AttrNumber attribute, bool inherited)
{
	static const int kinds[] = {STATISTIC_KIND_MCV, STATISTIC_KIND_HISTOGRAM,
								STATISTIC_KIND_CORRELATION};
	HeapTuple	tuple = find_statistics(table, attribute, inherited);
	bool		result;
	size_t		i;

	Assert(attribute > 0);
	if (!HeapTupleIsValid(tuple))
		return false;
	result = get_typlen(get_atttype(table, attribute)) == -1 &&
			 ((Form_pg_statistic) GETSTRUCT(tuple))->stanullfrac < 1;
	for (i = 0; i < lengthof(kinds) && result; i++)
	{
		AttStatsSlot slot;

		result = !get_attstatsslot(&slot, tuple, kinds[i], InvalidOid, 0);
	}
	ReleaseSysCache(tuple);
	return result;
}

double
bloomfam_join_column_order(Oid table, AttrNumber attribute)
{
	HeapTuple	tuple = find_statistics(table, attribute, false);
	AttStatsSlot slot;
	double		order = 0;

	if (!HeapTupleIsValid(tuple))
		return 0;
	if (get_attstatsslot(&slot, tuple, STATISTIC_KIND_CORRELATION, InvalidOid,
						 ATTSTATSSLOT_NUMBERS))
	{
		if (slot.nnumbers == 1)
			order = fabsf(slot.numbers[0]);
		free_attstatsslot(&slot);
	}
	ReleaseSysCache(tuple);
	return order;
}

double
bloomfam_join_column_rows_per_value(Oid table, AttrNumber attribute, double rows)
{
	HeapTuple	tuple = find_statistics(table, attribute, false);
	double		distinct;

	if (!HeapTupleIsValid(tuple))
		return 0;
	distinct = ((Form_pg_statistic) GETSTRUCT(tuple))->stadistinct;
	ReleaseSysCache(tuple);

	/*
	 * stadistinct is the number of distinct values if positive; if negative, it is minus the number
	 * of distinct values divided by the number of rows.
	 */
	if (distinct < 0)
		return -1 / distinct;
	return distinct > 0 ? rows / distinct : 0;
}

/*
 * Widens the range *smallest to *largest so that it includes all values in the statistics slot of
 * the given kind (most common values or histogram bounds), converted to integers.
 */
static void
widen(HeapTuple tuple, int kind, Oid type, int64 (*number) (int16 typlen, Datum value),
	  int64 *smallest, int64 *largest)
{
	AttStatsSlot slot;
	int			i;

	if (!get_attstatsslot(&slot, tuple, kind, InvalidOid, ATTSTATSSLOT_VALUES))
		return;
	for (i = 0; i < slot.nvalues; i++)
	{
		int64		value = number(get_typlen(type), slot.values[i]);

		*smallest = Min(*smallest, value);
		*largest = Max(*largest, value);
	}
	free_attstatsslot(&slot);
}

double
bloomfam_join_column_span(Oid table, AttrNumber attribute,
						  int64 (*number) (int16 typlen, Datum value))
{
	HeapTuple	tuple = find_statistics(table, attribute, false);
	Oid			type = get_atttype(table, attribute);
	int64		smallest = PG_INT64_MAX;
	int64		largest = PG_INT64_MIN;

	Assert(attribute > 0);
	if (!HeapTupleIsValid(tuple))
		return -1;
	widen(tuple, STATISTIC_KIND_MCV, type, number, &smallest, &largest);
	widen(tuple, STATISTIC_KIND_HISTOGRAM, type, number, &smallest, &largest);
	ReleaseSysCache(tuple);
	return smallest <= largest ? (double) largest - (double) smallest : -1;
}
