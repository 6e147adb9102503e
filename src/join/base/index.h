/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * index.h
 *	  Which indexes of a table can tell where the keys of a join are.
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
 * What searching an index takes, in rows that a scan would read in the same time, as measured: to
 * open one, and begin; to look a key up, and for each row found; to compare a summary of a BRIN
 * index with a range, and for each block found.
 */
#define JOIN_ROWS_PER_INDEX		400.0
#define JOIN_ROWS_PER_KEY		30.0
#define JOIN_ROWS_PER_TID		1.0
#define JOIN_ROWS_PER_SUMMARY	12.0
#define JOIN_ROWS_PER_BLOCK		0.5

/* The fraction of the scan that it may take; and where rows lie in the order of the keys. */
#define JOIN_INDEX_MOST_FRACTION			0.01
#define JOIN_INDEX_MOST_FRACTION_IN_ORDER	0.1
#define JOIN_INDEX_IN_ORDER				0.9

/* A BRIN index is searched for no more ranges. */
#define JOIN_INDEX_MOST_RANGES	16

/* A column of a table that the keys of a join are compared with. */
typedef struct JoinIndexed
{
	AttrNumber	attribute;
	Oid			operator;		/* the join's; the table's column is on its left */
	Oid			type;			/* of the keys, which is on its right; keys of it can be kept */
	bool		guarded;		/* the scan has conditions, which may hide rows */
} JoinIndexed;

/* How an index is searched. */
typedef enum JoinIndexSearch
{
	JOIN_INDEX_NOT,				/* not at all */
	JOIN_INDEX_BY_KEY,			/* for one key after the other */
	JOIN_INDEX_BY_RANGE			/* for pages with keys in a range: it is a BRIN index */
} JoinIndexSearch;

/* One of the operators that it is searched with. */
typedef struct JoinIndexOperator
{
	StrategyNumber strategy;
	RegProcedure function;
} JoinIndexOperator;

typedef struct JoinIndexUse
{
	JoinIndexSearch search;
	AttrNumber	column;			/* of the index */
	Oid			collation;
	JoinIndexOperator equal;	/* by key */
	JoinIndexOperator not_less; /* by range: its two ends */
	JoinIndexOperator not_greater;
} JoinIndexUse;

/* How this index can be searched for keys, as it was defined. */
extern JoinIndexUse bloomfam_join_index_use(Relation index, const JoinIndexed *column);

/*
 * Opens an index of a table that is open and locked, if it has an entry for each row that this
 * snapshot sees, and nobody keeps it locked; else returns NULL.  Without a snapshot the first is
 * not checked.  To be closed with AccessShareLock.
 */
extern Relation bloomfam_join_index_open(Oid index, Snapshot snapshot);

/*
 * The fraction of a scan that searching an index may take, where rows lie so far in the order of
 * its column (column_stats.h).
 */
static inline double
bloomfam_join_index_budget(double order)
{
	return order > JOIN_INDEX_IN_ORDER ? JOIN_INDEX_MOST_FRACTION_IN_ORDER
									   : JOIN_INDEX_MOST_FRACTION;
}

/* Is it enough to search an index, if that may take as long as scanning so many rows? */
static inline bool
bloomfam_join_index_is_enough(double budget)
{
	return budget >= JOIN_ROWS_PER_INDEX || bloomfam_join_filter == JOIN_FILTER_FORCE;
}

/* Has a scan so many rows that an index may be searched at all? */
static inline bool
bloomfam_join_index_may_pay(double rows)
{
	return bloomfam_join_index_is_enough(rows * JOIN_INDEX_MOST_FRACTION_IN_ORDER);
}

/* Those indexes of a table that can be opened so and searched, by key first: a list of OIDs. */
extern List *bloomfam_join_indexes(Relation table, const JoinIndexed *column, Snapshot snapshot);

#endif							/* BLOOMFAM_JOIN_INDEX_H */
