/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * keys.h
 *	  Private to the library: the keys that a call is given, of one column or of several.
 *
 * A key of several columns has the hash that the server gives to a row of them: that of an item
 * for each column, as keys/key_hash.h writes it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_LIB_KEYS_H
#define BF_LIB_KEYS_H

#include "client/lib/column_hash.h"

/* Keys, opened to be hashed. */
typedef struct BfKeys
{
	const BloomfamColumn *column;	/* as given; of rows, columns has their columns */
	bool		is_row;
	size_t		ncolumns;		/* 1 for keys that are no rows; 0: all of no rows, or of NULLs */
	BfColumnReader columns[BLOOMFAM_MAX_COLUMNS];
} BfKeys;

/*
 * bf_keys_open: checks that a column is one, or that rows have columns that are, and that they go
 * with the type.  Fails with BLOOMFAM_BAD_ARGUMENT, BLOOMFAM_WRONG_TYPE.
 */
extern BloomfamStatus bf_keys_open(BfKeys *keys, const BloomfamType *type,
								   const BloomfamColumn *column, BloomfamError *error);

/*
 * Hashes keys first to first + n - 1, counted from the column's first one; n fits the batch.  Where
 * a row has more readings than one, its second hash differs from its first, and is no hash of it.
 */
extern void bf_keys_hash(const BfKeys *keys, size_t first, size_t n, BfBatch *batch);

/* Where key i has its column c among the keys of columns[c]. */
static inline size_t
bf_keys_row(const BfKeys *keys, size_t i)
{
	return keys->is_row ? keys->column->first + i : i;
}

/* All readings of a key: one hash for each choice among the readings of its columns. */
typedef struct BfReadings
{
	const BfKeys *keys;
	size_t		left;			/* readings that were not given yet */
	size_t		n[BLOOMFAM_MAX_COLUMNS];	/* readings of a column; 0: it is NULL */
	size_t		at[BLOOMFAM_MAX_COLUMNS];	/* the one that comes next */
	uint64_t	hashes[BLOOMFAM_MAX_COLUMNS][BF_MAX_READINGS];
} BfReadings;

/*
 * bf_readings_begin: begins to enumerate the readings of key i, which has a hash.  Returns false if
 * there are too many to look at.
 */
extern bool bf_readings_begin(BfReadings *readings, const BfKeys *keys, size_t i);

/* Gives the hashes of at most room readings, and returns how many; 0 at the end. */
extern size_t bf_readings_next(BfReadings *readings, uint64_t *hashes, size_t room);

#endif							/* BF_LIB_KEYS_H */
