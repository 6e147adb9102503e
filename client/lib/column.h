/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * column.h
 *	  Private to the library: columns of keys, read one key or one batch at a time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_LIB_COLUMN_H
#define BF_LIB_COLUMN_H

#include "client/lib/key.h"

/* How many keys are hashed together: their hashes stay in the first cache. */
#define BF_KEYS_PER_BATCH	512
#define BF_MIN_KEYS(n)		((n) < BF_KEYS_PER_BATCH ? (n) : BF_KEYS_PER_BATCH)

typedef struct BfColumnReader BfColumnReader;

/* Reads key i, counted from the column's first one, as a C value; an answer with a reason. */
typedef BloomfamAnswer (*BfReadKey) (const BfColumnReader *reader, size_t i, BfKey *key,
									 const char **reason);

/* Ways to hash a whole batch, where there is a faster one than key by key. */
typedef enum BfBatchWay
{
	BF_BATCH_BY_KEY,
	BF_BATCH_INT64,				/* integers of 8 bytes under int */
	BF_BATCH_INT32,				/* of 4 bytes */
	BF_BATCH_DOUBLE,			/* doubles under float */
	BF_BATCH_STRINGS			/* texts and bytes as they are */
} BfBatchWay;

/* A column with what its keys are read as. */
struct BfColumnReader
{
	const BloomfamColumn *column;
	const BloomfamColumn *values;	/* the column itself, or its dictionary */
	BloomfamType type;
	BfReadKey	read;			/* from values, whatever is NULL */
	BfBatchWay	way;
	bool		is_text;		/* BF_BATCH_STRINGS: of characters */
	bool		is_any_text;	/* ... of which a name keeps less */
	int64_t		end;			/* OFFSETS32, OFFSETS64: where the last of values ends */
};

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

/*
 * bf_column_open: checks that a column is one, and goes with the type.  O(1).  Fails with
 * BLOOMFAM_BAD_ARGUMENT, BLOOMFAM_WRONG_TYPE.
 */
extern BloomfamStatus bf_column_open(BfColumnReader *reader, const BloomfamType *type,
									 const BloomfamColumn *column, BloomfamError *error);

/* Hashes keys first to first + n - 1, counted from the column's first one; n fits the batch. */
extern void bf_column_hash(const BfColumnReader *reader, size_t first, size_t n, BfBatch *batch);

/* One key: its answer, hashes and reason, as of bf_key_hash(). */
extern BloomfamAnswer bf_column_hash_one(const BfColumnReader *reader, size_t i,
										 uint64_t hashes[2], int *n, const char **reason);

/* What key i of a column with a dictionary refers to. */
typedef struct BfIndex
{
	bool		is_null;
	uint64_t	at;				/* UINT64_MAX: nowhere */
} BfIndex;

extern BfIndex bf_column_index(const BloomfamColumn *column, size_t i);

/* The text of a key that is written, for messages; false: it is none. */
extern bool bf_column_text(const BfColumnReader *reader, size_t i, BfString *text);

/* The hash of characters, for a type of texts. */
extern uint64_t bf_column_hash_text(const BfColumnReader *reader, const char *bytes, size_t len);

#endif							/* BF_LIB_COLUMN_H */
