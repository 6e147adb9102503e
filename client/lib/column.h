/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * column.h
 *	  Private to the library: columns of keys, checked and ready to be read.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_LIB_COLUMN_H
#define BF_LIB_COLUMN_H

#include "client/lib/key.h"

typedef struct BfColumnReader BfColumnReader;

/*
 * Reads the value with index i of reader->values as a C value.  Returns BLOOMFAM_ABSENT, or another
 * answer with its reason.
 */
typedef BloomfamAnswer (*BfReadKey) (const BfColumnReader *reader, size_t i, BfKey *key,
									 const char **reason);

/*
 * How a batch of a column's keys is hashed: some combinations of layout and type have a faster way
 * than key by key.
 */
typedef enum BfBatchWay
{
	BF_BATCH_BY_KEY,
	BF_BATCH_INT64,				/* Integers of 8 bytes, in family int. */
	BF_BATCH_INT32,				/* Integers of 4 bytes, in family int. */
	BF_BATCH_DOUBLE,			/* Doubles, in family float. */
	BF_BATCH_STRINGS			/* Texts and bytes that are hashed without conversion. */
} BfBatchWay;

/* A column that has been checked, and how its keys are read. */
struct BfColumnReader
{
	const BloomfamColumn *column;
	/* The values that are read: the column itself, or its dictionary. */
	const BloomfamColumn *values;
	BloomfamType type;
	BfReadKey	read;			/* Reads a value of values, which must not be NULL. */
	BfBatchWay	way;
	bool		is_text;		/* BF_BATCH_STRINGS: true for characters, false for bytes. */
	/*
	 * True if the keys are written texts and the filter does not tell whether it has texts or
	 * names.  Names keep fewer bytes, so a long key may be in the filter in several cut forms.
	 */
	bool		is_any_text;
	/* OFFSETS32, OFFSETS64: the offset at which the last value ends; otherwise 0. */
	int64_t		end;
};

/*
 * bf_column_open: Checks that a column is valid, and that its meaning goes with the type.  Takes
 * O(1).  Fails with BLOOMFAM_BAD_ARGUMENT, BLOOMFAM_WRONG_TYPE.
 */
extern BloomfamStatus bf_column_open(BfColumnReader *reader, const BloomfamType *type,
									 const BloomfamColumn *column, BloomfamError *error);

#endif							/* BF_LIB_COLUMN_H */
