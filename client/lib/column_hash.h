/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * column_hash.h
 *	  Private to the library: columns of keys, hashed one key or one batch at a time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_LIB_COLUMN_HASH_H
#define BF_LIB_COLUMN_HASH_H

#include "client/lib/column.h"

/* How many keys are hashed together: their hashes stay in the first cache. */
#define BF_KEYS_PER_BATCH	512
#define BF_MIN_KEYS(n)		((n) < BF_KEYS_PER_BATCH ? (n) : BF_KEYS_PER_BATCH)

/* Hashes of a batch. */
typedef struct BfBatch
{
	size_t		n;
	bool		odd;			/* some key is not BLOOMFAM_ABSENT, or has a second hash: then the
								 * two arrays below are set */
	bool		has_second;		/* some key has */
	uint64_t	hashes[BF_KEYS_PER_BATCH];	/* of keys that have none: 0 */
	uint64_t	second[BF_KEYS_PER_BATCH];	/* of keys with one reading: the same again */
	uint8_t		answers[BF_KEYS_PER_BATCH]; /* BLOOMFAM_ABSENT: it has a hash */
} BfBatch;

/* Hashes keys first to first + n - 1, counted from the column's first one; n fits the batch. */
extern void bf_column_hash(const BfColumnReader *reader, size_t first, size_t n, BfBatch *batch);

/* Hashes one key: returns its answer, hashes and reason, as bf_key_hash() does. */
extern BloomfamAnswer bf_column_hash_one(const BfColumnReader *reader, size_t i,
										 uint64_t hashes[2], int *n, const char **reason);

/* The most readings that one key can have: a text that a name may have cut anywhere has most. */
#define BF_MAX_READINGS	(BF_NAME_MAX_CHARS - BF_NAME_MIN_CHARS + 4)

/*
 * Gives the hashes of all readings of a key, and returns how many they are; 0 for what has no hash,
 * such as NULL.
 */
extern size_t bf_column_readings(const BfColumnReader *reader, size_t i,
								 uint64_t hashes[BF_MAX_READINGS]);

/* What a key of a column with a dictionary refers to. */
typedef struct BfIndex
{
	bool		is_null;
	uint64_t	at;				/* UINT64_MAX: nowhere */
} BfIndex;

/* Returns what key i of a column with a dictionary refers to. */
extern BfIndex bf_column_index(const BloomfamColumn *column, size_t i);

/* Gets the text of a key that is written, for messages; false: it is none. */
extern bool bf_column_text(const BfColumnReader *reader, size_t i, BfString *text);

#endif							/* BF_LIB_COLUMN_HASH_H */
