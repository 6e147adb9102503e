/*-------------------------------------------------------------------------
 *
 * keys.h
 *	  What the keys of a build side were: the smallest and the largest, and all while they are few.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_KEYS_H
#define BLOOMFAM_JOIN_KEYS_H

#include "join/filter/hash.h"

/* So many distinct keys are few. */
#define JOIN_KEYS_FEW	4096

typedef enum JoinKeysPhase
{
	JOIN_KEYS_UNKNOWN,			/* they are not kept, or not all of them were */
	JOIN_KEYS_COLLECTING,
	JOIN_KEYS_LISTED,			/* all of them are in values */
	JOIN_KEYS_BOUNDED			/* there were too many for that: only the bounds are known */
} JoinKeysPhase;

/* Numbers from the smallest to the largest of these, both included. */
typedef struct JoinKeysRange
{
	int64		smallest;
	int64		largest;
} JoinKeysRange;

struct joinkeys_hash;

/* One column of the keys: numbers, of rows that have no NULL in any column of the key. */
typedef struct JoinKeys
{
	JoinKeysPhase phase;
	Oid			type;			/* on the build side */
	int64		smallest;		/* greater than the largest if there are none */
	int64		largest;
	int64	   *values;			/* distinct, in order */
	int			nvalues;
	int64		last;			/* while collecting: the one that came last */
	struct joinkeys_hash *distinct; /* ... NULL: none yet, or too many */
} JoinKeys;

/*
 * Can keys that are hashed so, and have this type on the build side, be kept: are they integers,
 * which the operators of the type's own family of btree compare as such?
 */
extern bool bloomfam_join_keys_can_keep(JoinHashKind kind, Oid type);

/* Begins a column of such keys; what it had is forgotten. */
extern void bloomfam_join_keys_begin(JoinKeys *keys, Oid type);

/* Adds one that the quick way does not know; may allocate in this context. */
extern void bloomfam_join_keys_add_new(JoinKeys *keys, int64 value, MemoryContext context);

/* All are in, if they were kept. */
extern void bloomfam_join_keys_finish(JoinKeys *keys, MemoryContext context);

/* A key as a value of its type, which is passed by value. */
extern Datum bloomfam_join_keys_datum(const JoinKeys *keys, int64 value);

/* A value that is not NULL as a number. */
extern int64 bloomfam_join_keys_number(Oid type, Datum value);

/*
 * Ranges that known keys lie in, in their order, with the widest gaps between them: at least one
 * is asked for, and no more are given; 0 if there are no keys.
 */
extern int	bloomfam_join_keys_ranges(const JoinKeys *keys, JoinKeysRange *ranges, int most);

/* Finished columns as bytes, which another process can read: their number, and to write them. */
extern Size bloomfam_join_keys_size(const JoinKeys *keys, int ncolumns);
extern void bloomfam_join_keys_write(const JoinKeys *keys, int ncolumns, void *bytes);

/*
 * Adds what a process has written to columns that are being collected, and are unknown where it
 * did not know them.
 */
extern void bloomfam_join_keys_merge(JoinKeys *keys, int ncolumns, const void *bytes,
									 MemoryContext context);

static inline bool
bloomfam_join_keys_are_known(const JoinKeys *keys)
{
	return keys->phase == JOIN_KEYS_LISTED || keys->phase == JOIN_KEYS_BOUNDED;
}

static inline void
bloomfam_join_keys_add(JoinKeys *keys, int64 value, MemoryContext context)
{
	if (value == keys->last && keys->smallest <= value && value <= keys->largest)
		return;
	bloomfam_join_keys_add_new(keys, value, context);
}

#endif							/* BLOOMFAM_JOIN_KEYS_H */
