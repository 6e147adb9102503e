/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * index.h
 *	  Finds the indexes of a table that can tell in which blocks the keys of a join are.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_INDEX_H
#define BLOOMFAM_JOIN_INDEX_H

#include "access/stratnum.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "join/base/gucs.h"

/*
 * The measured costs of searching an index, each in the number of rows that a sequential scan reads
 * in the same time: opening an index and beginning a scan of it; looking up a key, and each row
 * found by that; comparing a summary of a BRIN index with a range, and each block found by that.
 */
#define JOIN_ROWS_PER_INDEX		400.0
#define JOIN_ROWS_PER_KEY		30.0
#define JOIN_ROWS_PER_TID		1.0
#define JOIN_ROWS_PER_SUMMARY	12.0
#define JOIN_ROWS_PER_BLOCK		0.5

/*
 * The fraction of the time of a table's scan that searching its index may take: generally, and if
 * the rows are stored nearly in the order of the searched column, that is, if the column's
 * correlation exceeds JOIN_INDEX_IN_ORDER.
 */
#define JOIN_INDEX_MOST_FRACTION			0.01
#define JOIN_INDEX_MOST_FRACTION_IN_ORDER	0.1
#define JOIN_INDEX_IN_ORDER				0.9

/* The largest number of key ranges that a BRIN index is searched for. */
#define JOIN_INDEX_MOST_RANGES	16

/*
 * Describes a table's column that is compared with a join's keys, for which an index may be
 * searched.
 */
typedef struct JoinIndexed
{
	AttrNumber	attribute;

	/* The join's equality operator; the table's column is its left argument. */
	Oid			operator;

	/* The type of the join's keys, on the operator's right; it is a type whose keys can be kept. */
	Oid			type;

	/* Whether the scan has conditions, which may hide rows from the user. */
	bool		guarded;
} JoinIndexed;

/* How an index is searched. */
typedef enum JoinIndexSearch
{
	JOIN_INDEX_NOT,				/* The index cannot be searched for the keys. */
	JOIN_INDEX_BY_KEY,			/* The index is searched for one key after the other. */

	/* The index is a BRIN index, and is searched for pages that may have keys in a range. */
	JOIN_INDEX_BY_RANGE
} JoinIndexSearch;

/* An operator that an index is searched with: its strategy number and its function. */
typedef struct JoinIndexOperator
{
	StrategyNumber strategy;
	RegProcedure function;
} JoinIndexOperator;

typedef struct JoinIndexUse
{
	JoinIndexSearch search;
	AttrNumber	column;			/* The number of the searched column in the index, from 1. */
	Oid			collation;

	/* The column's equality operator, if keys are searched one by one or in ranges. */
	JoinIndexOperator equal;

	/*
	 * If ranges of keys are searched: the operators for the lower end (>=) and the upper end (<=)
	 * of a range.
	 */
	JoinIndexOperator not_less;
	JoinIndexOperator not_greater;
} JoinIndexUse;

/*
 * Returns how an index can be searched for a join's keys in one column, judged by the index's
 * definition alone.
 */
extern JoinIndexUse bloomfam_join_index_use(Relation index, const JoinIndexed *column);

/*
 * Returns how an index that must be searched by all of its columns at once, such as a maplet of
 * several, can be searched for a join's keys.  Of the columns of the join's key, those whose
 * attribute is 0 are not to be used.  Sets uses[] to how each column of the index is searched, and
 * columns[] to the number, from 0, of the join's column that it is searched for.  Both have room
 * for INDEX_MAX_KEYS.  Returns the number of columns of the index; 0 if it is another index, or a
 * column of it is not in the join's key.
 */
extern int	bloomfam_join_index_use_whole(Relation index, const JoinIndexed *key, int nkey,
										  JoinIndexUse *uses, int *columns);

/*
 * Opens an index of a table that the caller has open and locked.  Returns NULL if the index is not
 * valid and ready, if it lacks the entry of a row that the snapshot sees, or if somebody holds a
 * conflicting lock on it, which is not waited for.  If snapshot is NULL, it is not checked that the
 * index has all entries for it.  The caller closes the index with AccessShareLock.
 */
extern Relation bloomfam_join_index_open(Oid index, Snapshot snapshot);

/*
 * Returns the fraction of the time of a table's scan that searching an index may take.  "order" is
 * the correlation of the rows' physical order with the column, as bloomfam_join_column_order()
 * returns it.
 */
static inline double
bloomfam_join_index_budget(double order)
{
	return order > JOIN_INDEX_IN_ORDER ? JOIN_INDEX_MOST_FRACTION_IN_ORDER
									   : JOIN_INDEX_MOST_FRACTION;
}

/*
 * Tells whether a budget for searching an index is large enough for searching one at all.  The
 * budget is given as the number of rows that a scan reads in the same time.  It always is large
 * enough if bloomfam.join_filter is "force".
 */
static inline bool
bloomfam_join_index_is_enough(double budget)
{
	return budget >= JOIN_ROWS_PER_INDEX || bloomfam_join_filter == JOIN_FILTER_FORCE;
}

/*
 * Tells whether a scan of the given number of rows is long enough that searching an index may pay.
 */
static inline bool
bloomfam_join_index_may_pay(double rows)
{
	return bloomfam_join_index_is_enough(rows * JOIN_INDEX_MOST_FRACTION_IN_ORDER);
}

/*
 * Returns the OIDs of those indexes of a table that bloomfam_join_index_open() can open and that
 * can be searched for a join's keys; indexes that are searched by key come before those searched by
 * range.
 */
extern List *bloomfam_join_indexes(Relation table, const JoinIndexed *column, Snapshot snapshot);

/*
 * Returns the OIDs of those indexes of a table that bloomfam_join_index_open() can open and that
 * bloomfam_join_index_use_whole() says can be searched.  Adds the numbers of the join's columns
 * that these are searched for to *columns, unless that is NULL.
 */
extern List *bloomfam_join_whole_indexes(Relation table, const JoinIndexed *key, int nkey,
										 Snapshot snapshot, Bitmapset **columns);

#endif							/* BLOOMFAM_JOIN_INDEX_H */
