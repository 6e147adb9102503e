/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * column.h
 *	  Private to the library: columns of keys, opened to be read.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_LIB_COLUMN_H
#define BF_LIB_COLUMN_H

#include "client/lib/key.h"

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

/*
 * bf_column_open: checks that a column is one, and goes with the type.  O(1).  Fails with
 * BLOOMFAM_BAD_ARGUMENT, BLOOMFAM_WRONG_TYPE.
 */
extern BloomfamStatus bf_column_open(BfColumnReader *reader, const BloomfamType *type,
									 const BloomfamColumn *column, BloomfamError *error);

#endif							/* BF_LIB_COLUMN_H */
