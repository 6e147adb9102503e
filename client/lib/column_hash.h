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

/*
 * Number of keys that are hashed together, so few that their hashes stay in the first-level cache.
 */
#define BF_KEYS_PER_BATCH	512
#define BF_MIN_KEYS(n)		((n) < BF_KEYS_PER_BATCH ? (n) : BF_KEYS_PER_BATCH)

/* The hashes of a batch of keys. */
typedef struct BfBatch
{
	size_t		n;
	/*
	 * True if some key's answer is not BLOOMFAM_ABSENT, or some key has a second hash.  If false,
	 * answers may be unset.
	 */
	bool		odd;
	/* True if some key has a second hash.  If false, second may be unset. */
	bool		has_second;
	uint64_t	hashes[BF_KEYS_PER_BATCH];	/* Hash of each key; 0 for a key without a hash. */
	/* Second hash of each key; equal to the first for a key with one reading. */
	uint64_t	second[BF_KEYS_PER_BATCH];
	/* Answer for each key; BLOOMFAM_ABSENT: the key has a hash. */
	uint8_t		answers[BF_KEYS_PER_BATCH];
} BfBatch;

/*
 * Hashes keys first to first + n - 1 of a column, counted from the column's first key. n is at most
 * BF_KEYS_PER_BATCH.
 */
extern void bf_column_hash(const BfColumnReader *reader, size_t first, size_t n, BfBatch *batch);

/*
 * Hashes key i of a column.  Returns the key's answer, hashes and reason as bf_key_hash() does;
 * sets *n only for a key with a hash.
 */
extern BloomfamAnswer bf_column_hash_one(const BfColumnReader *reader, size_t i,
										 uint64_t hashes[2], int *n, const char **reason);

/*
 * The maximum number of readings (possible meanings) of one key.  A long text that may be a name
 * has the most, since a server may cut a name at any of several places.
 */
#define BF_MAX_READINGS	(BF_NAME_MAX_CHARS - BF_NAME_MIN_CHARS + 4)

/*
 * Computes the hashes of all readings (possible meanings, such as a text and the names that it may
 * be cut to) of key i.  Returns their number; 0 if the key has no hash, e.g. because it is NULL.
 */
extern size_t bf_column_readings(const BfColumnReader *reader, size_t i,
								 uint64_t hashes[BF_MAX_READINGS]);

/* The dictionary entry that a key refers to. */
typedef struct BfIndex
{
	bool		is_null;
	/* Index into the dictionary; UINT64_MAX: the key refers to no entry. */
	uint64_t	at;
} BfIndex;

/* Returns the dictionary entry that key i refers to; the column must have a dictionary. */
extern BfIndex bf_column_index(const BloomfamColumn *column, size_t i);

/* Gets the text of key i for a message.  Returns false if the key is not a text. */
extern bool bf_column_text(const BfColumnReader *reader, size_t i, BfString *text);

#endif							/* BF_LIB_COLUMN_HASH_H */
