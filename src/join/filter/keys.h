/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * keys.h
 *	  The numbers that the keys of a build side are: smallest, largest, and a list if they are few.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_KEYS_H
#define BLOOMFAM_JOIN_KEYS_H

#include "join/filter/hash.h"

/* So many distinct keys are listed. */
#define JOIN_KEYS_FEW	4096

/* What is known of a column. */
typedef enum JoinKeysPhase
{
	JOIN_KEYS_UNKNOWN,			/* nothing: not collected, or not by all processes */
	JOIN_KEYS_LISTING,			/* being collected: bounds, and a hash table of distinct numbers */
	JOIN_KEYS_LISTED,			/* complete: bounds, and all distinct numbers in values */
	JOIN_KEYS_BOUNDED			/* only bounds: no list was wanted, or there were too many */
} JoinKeysPhase;

/* Numbers from the smallest to the largest, both included; none if smallest > largest. */
typedef struct JoinKeysRange
{
	int64		smallest;
	int64		largest;
} JoinKeysRange;

struct joinkeys_hash;

/*
 * One column of the keys, over all rows that have no NULL in any column of the key.  It has the
 * only bounds of a build side's numbers: filters and pruning use the same.
 */
typedef struct JoinKeys
{
	JoinKeysPhase wanted;		/* what a build begins with: UNKNOWN, LISTING or BOUNDED */
	Oid			type;			/* on the build side; an integer type (JoinKey) */
	int16		typlen;
	JoinKeysPhase phase;
	JoinKeysRange bounds;		/* not of UNKNOWN */

	/* LISTING */
	struct joinkeys_hash *distinct; /* NULL: none yet */
	int64		last;			/* ... else: the number added last */

	/* LISTED */
	int64	   *values;			/* ascending */
	int			nvalues;		/* 0 in all other phases */
} JoinKeys;

/*
 * Can keys that are hashed so, and have this type on the build side, be used for pruning: are they
 * integers that the type's default btree family orders as such?
 */
extern bool bloomfam_join_keys_can_keep(JoinHashKind kind, Oid type);

/* Begins a column anew in this phase; the memory of a list is its context's to free. */
extern void bloomfam_join_keys_begin(JoinKeys *keys, JoinKeysPhase phase);

/* Adds a number to the list of a LISTING column; may allocate in this context. */
extern void bloomfam_join_keys_list(JoinKeys *keys, int64 number, MemoryContext context);

/* The last number was added: a LISTING column is LISTED. */
extern void bloomfam_join_keys_finish(JoinKeys *keys, MemoryContext context);

/*
 * Up to most (at least 1) disjoint ranges that contain all numbers of a finished column, ascending,
 * with the widest gaps between them.  Returns how many they are: 0 without numbers.
 */
extern int	bloomfam_join_keys_ranges(const JoinKeys *keys, JoinKeysRange *ranges, int most);

/*
 * Merges a finished column of another process, whose list is at values, into one that is not
 * finished; unknown there is unknown of all.
 */
extern void bloomfam_join_keys_merge(JoinKeys *keys, const JoinKeys *other, const int64 *values,
									 MemoryContext context);

/* Of columns that are finished: are there bounds at least? */
static inline bool
bloomfam_join_keys_are_known(const JoinKeys *keys)
{
	return keys->phase == JOIN_KEYS_LISTED || keys->phase == JOIN_KEYS_BOUNDED;
}

/* A number as a value of the column's type. */
static inline Datum
bloomfam_join_keys_datum(const JoinKeys *keys, int64 number)
{
	Datum		value = bloomfam_join_number_datum(keys->typlen, number);

	Assert(bloomfam_join_number(keys->typlen, value) == number);
	return value;
}

/* Adds a row's number; may allocate in this context. */
static inline void
bloomfam_join_keys_add(JoinKeys *keys, int64 number, MemoryContext context)
{
	Assert(keys->phase == JOIN_KEYS_LISTING || keys->phase == JOIN_KEYS_BOUNDED);
	keys->bounds.smallest = Min(keys->bounds.smallest, number);
	keys->bounds.largest = Max(keys->bounds.largest, number);
	if (keys->phase == JOIN_KEYS_LISTING && (keys->distinct == NULL || keys->last != number))
		bloomfam_join_keys_list(keys, number, context);
}

#endif							/* BLOOMFAM_JOIN_KEYS_H */
