/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * keys.h
 *	  Collects the numbers of a build side's keys: the smallest, the largest, and a list if they are
 *	  few.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_KEYS_H
#define BLOOMFAM_JOIN_KEYS_H

#include "join/filter/hash.h"

/* The largest number of distinct keys that are listed. */
#define JOIN_KEYS_FEW	4096

/* How much is known of the numbers in one column of the build side's keys. */
typedef enum JoinKeysPhase
{
	/* Nothing is known: the column is not collected, or not by all processes. */
	JOIN_KEYS_UNKNOWN,

	/* The column is being collected: its bounds, and its distinct numbers in a hash table. */
	JOIN_KEYS_LISTING,

	/* The column is complete: its bounds are known, and "values" has all its distinct numbers. */
	JOIN_KEYS_LISTED,

	/* Only bounds are collected or known: no list is wanted, or there are too many numbers. */
	JOIN_KEYS_BOUNDED
} JoinKeysPhase;

/* The numbers from the smallest to the largest, both included; empty if smallest > largest. */
typedef struct JoinKeysRange
{
	int64		smallest;
	int64		largest;
} JoinKeysRange;

struct joinkeys_hash;

/*
 * What is known of one column of the build side's keys, over all rows that have no NULL in any
 * column of the key.  The bounds of the build side's numbers are kept here only: filters and
 * pruning both use them.
 */
typedef struct JoinKeys
{
	/*
	 * What is to be collected of the column's keys in each build, as the phase that a build begins
	 * with: UNKNOWN (nothing), LISTING (bounds and a list) or BOUNDED (bounds only).
	 */
	JoinKeysPhase wanted;

	/*
	 * The column's type on the build side, which is an integer type in the sense of
	 * JoinKey.integer.
	 */
	Oid			type;
	int16		typlen;
	JoinKeysPhase phase;

	/* The smallest and the largest number; meaningless in phase UNKNOWN. */
	JoinKeysRange bounds;

	/* The fields "distinct" and "last" are used in phase LISTING. */
	struct joinkeys_hash *distinct; /* The distinct numbers so far; NULL: there are none yet. */
	int64		last;			/* The number that was added last, if "distinct" is not NULL. */

	/* The fields "values" and "nvalues" are used in phase LISTED. */
	int64	   *values;			/* The distinct numbers in ascending order. */
	int			nvalues;		/* The length of values[]; 0 in all other phases. */
} JoinKeys;

/*
 * Tells whether keys that are hashed as "kind" says, and that have this type on the build side, can
 * be used for pruning: they must be integers in whose order the type's default btree operator
 * family sorts them.
 */
extern bool bloomfam_join_keys_can_keep(JoinHashKind kind, Oid type);

/*
 * Begins to collect a column anew, in the given phase.  Does not free an old list: that is left to
 * the memory context that it is in.
 */
extern void bloomfam_join_keys_begin(JoinKeys *keys, JoinKeysPhase phase);

/* Adds a number to the list of a column in phase LISTING.  May allocate in the given context. */
extern void bloomfam_join_keys_list(JoinKeys *keys, int64 number, MemoryContext context);

/*
 * Completes a column after its last number: if it is in phase LISTING, it becomes LISTED, with its
 * list in the given context.
 */
extern void bloomfam_join_keys_finish(JoinKeys *keys, MemoryContext context);

/*
 * Sets ranges[] to at most "most" (at least 1) disjoint ranges, in ascending order, that together
 * contain all numbers of a finished column; the gaps between them are the widest gaps between its
 * numbers.  Returns the number of ranges, which is 0 if the column has no numbers.
 */
extern int	bloomfam_join_keys_ranges(const JoinKeys *keys, JoinKeysRange *ranges, int most);

/*
 * Merges a finished column of another process, whose list is at "values", into a column that is not
 * finished.  If either column is UNKNOWN, the result is UNKNOWN.
 */
extern void bloomfam_join_keys_merge(JoinKeys *keys, const JoinKeys *other, const int64 *values,
									 MemoryContext context);

/* Tells whether at least the bounds of a finished column are known. */
static inline bool
bloomfam_join_keys_are_known(const JoinKeys *keys)
{
	return keys->phase == JOIN_KEYS_LISTED || keys->phase == JOIN_KEYS_BOUNDED;
}

/* Returns a number as a value of the column's type. */
static inline Datum
bloomfam_join_keys_datum(const JoinKeys *keys, int64 number)
{
	Datum		value = bloomfam_join_number_datum(keys->typlen, number);

	Assert(bloomfam_join_number(keys->typlen, value) == number);
	return value;
}

/* Adds a row's number to a column.  May allocate in the given context. */
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
