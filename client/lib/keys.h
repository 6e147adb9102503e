/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * keys.h
 *	  Private to the library: the keys that a call is given, of one column or of several.
 *
 * A key of several columns has the hash that the server gives to a row of these columns: the hash
 * of an array with an item for each column, in the format of keys/key_hash.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_LIB_KEYS_H
#define BF_LIB_KEYS_H

#include "client/lib/column_hash.h"

/* The keys of a call, checked and ready to be hashed. */
typedef struct BfKeys
{
	/* The column as the caller gave it.  For rows, columns holds readers of the rows' columns. */
	const BloomfamColumn *column;
	bool		is_row;
	/*
	 * Number of entries in columns: 1 for keys that are not rows; 0 for rows that are all NULL, or
	 * if there are no rows.
	 */
	size_t		ncolumns;
	BfColumnReader columns[BLOOMFAM_MAX_COLUMNS];
} BfKeys;

/*
 * bf_keys_open: Checks that a column is valid and goes with the type, and for rows, that each of
 * their columns does.  Fails with BLOOMFAM_BAD_ARGUMENT, BLOOMFAM_WRONG_TYPE.
 */
extern BloomfamStatus bf_keys_open(BfKeys *keys, const BloomfamType *type,
								   const BloomfamColumn *column, BloomfamError *error);

/*
 * Hashes keys first to first + n - 1, counted from the column's first key. n is at most
 * BF_KEYS_PER_BATCH.  If a row has more than one reading, its second hash only differs from its
 * first, and is not the hash of a reading.
 */
extern void bf_keys_hash(const BfKeys *keys, size_t first, size_t n, BfBatch *batch);

/* Returns the index of key i among the keys of each columns[c]. */
static inline size_t
bf_keys_row(const BfKeys *keys, size_t i)
{
	return keys->is_row ? keys->column->first + i : i;
}

/*
 * An enumeration of all readings (possible meanings) of a key of several columns: one hash for each
 * combination of the readings of its columns.
 */
typedef struct BfReadings
{
	const BfKeys *keys;
	size_t		left;			/* Number of readings that have not been returned yet. */
	/* Number of readings of each column; 0: the column is NULL. */
	size_t		n[BLOOMFAM_MAX_COLUMNS];
	/* Index of each column's reading in the next combination. */
	size_t		at[BLOOMFAM_MAX_COLUMNS];
	uint64_t	hashes[BLOOMFAM_MAX_COLUMNS][BF_MAX_READINGS];
} BfReadings;

/*
 * bf_readings_begin: Begins to enumerate the readings (possible meanings) of key i, which must have
 * a hash.  Returns false if the key has too many readings to look them all up.
 */
extern bool bf_readings_begin(BfReadings *readings, const BfKeys *keys, size_t i);

/* Stores the hashes of at most room further readings, and returns their number; 0 at the end. */
extern size_t bf_readings_next(BfReadings *readings, uint64_t *hashes, size_t room);

#endif							/* BF_LIB_KEYS_H */
