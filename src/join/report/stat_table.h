/*-------------------------------------------------------------------------
 *
 * stat_table.h
 *	  A bounded table of counters in shared memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_STAT_TABLE_H
#define BLOOMFAM_JOIN_STAT_TABLE_H

#include "datatype/timestamp.h"

/* Whose counters they are. */
typedef struct JoinStatKey
{
	Oid			role;
	Oid			database;
	uint64		query;			/* 0: has no id */
} JoinStatKey;

/* What the filters of joins did, in one execution of a plan or in several. */
typedef struct JoinStatCounts
{
	uint64		executions;		/* of plans with filters */
	uint64		built;			/* filters that were made */
	uint64		discarded;		/* ... that were not: there were too many keys */
	uint64		disabled;		/* ... that did not pay at the end of an execution */
	uint64		pushed;			/* ... that went to a foreign server */
	uint64		probed;			/* rows, at each place where a filter is asked */
	uint64		removed;
	uint64		not_checked;
	uint64		bytes;			/* of the filters that were made */
} JoinStatCounts;

typedef enum JoinStatRowKind
{
	JOIN_STAT_QUERY,			/* of a key */
	JOIN_STAT_EVICTED			/* the sum of those that had to make room */
} JoinStatRowKind;

typedef struct JoinStatRow
{
	JoinStatRowKind kind;
	JoinStatKey key;
	JoinStatCounts counts;
	TimestampTz since;			/* the first of them */
} JoinStatRow;

/* It may lie at another address in each process. */
typedef struct JoinStatTable JoinStatTable;

/* The bytes of a table of at most so many keys. */
extern Size bloomfam_join_stat_table_size(int most);

/* Makes an empty one in memory of that size; its lock is of this tranche. */
extern void bloomfam_join_stat_table_init(JoinStatTable *table, int most, int tranche);

extern int	bloomfam_join_stat_table_tranche(const JoinStatTable *table);

/*
 * Adds to the counters of a key.  If there is no room for it, keys that are seldom added to make
 * room: their counters are added to one sum.
 */
extern void bloomfam_join_stat_table_add(JoinStatTable *table, const JoinStatKey *key,
										 const JoinStatCounts *counts);

/* A copy of all that it has, in the current memory context. */
extern JoinStatRow *bloomfam_join_stat_table_rows(JoinStatTable *table, int *n);

extern void bloomfam_join_stat_table_reset(JoinStatTable *table);

#endif							/* BLOOMFAM_JOIN_STAT_TABLE_H */
