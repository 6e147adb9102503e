/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * keys.c
 *	  The keys that a call is given, of one column or of several; see keys.h.
 *
 *-------------------------------------------------------------------------
 */
#include "client/lib/keys.h"

#include "client/lib/column_values.h"

/* Number of rows that are hashed together.  Their items take 18 kB of stack. */
#define ROWS_AT_ONCE	64

/*
 * The maximum number of readings (possible meanings) of one key that are looked up.  A key with
 * more readings is answered MAYBE.
 */
#define MAX_ROW_READINGS	4096

/* ---- opening ---- */

/* Opens the columns of a column of rows, which has been checked itself. */
static BloomfamStatus
open_columns(BfKeys *keys, const BloomfamType *type, BloomfamError *error)
{
	const BloomfamColumn *rows = keys->column;
	const BloomfamColumn *columns = rows->values;
	size_t		end;
	size_t		i;

	if (rows->width != type->ncolumns)
		return bf_fail(error, BLOOMFAM_WRONG_TYPE,
					   "keys of %d columns are given, where the type has %d", (int) rows->width,
					   (int) type->ncolumns);
	if (columns == NULL || rows->all_null)
		return BLOOMFAM_OK;
	if (__builtin_add_overflow(rows->first, rows->n, &end))
		end = SIZE_MAX;
	for (i = 0; i < type->ncolumns; i++)
	{
		BloomfamType of_column;
		BloomfamStatus status;

		bloomfam_type_column(type, i, &of_column);
		status = bf_column_open(&keys->columns[i], &of_column, &columns[i], error);
		if (status != BLOOMFAM_OK)
			return status;
		if (columns[i].n < end)
			return bf_fail(error, BLOOMFAM_BAD_ARGUMENT,
						   "column %d of the keys is shorter than the keys are many",
						   (int) i + 1);
	}
	keys->ncolumns = type->ncolumns;
	return BLOOMFAM_OK;
}

BloomfamStatus
bf_keys_open(BfKeys *keys, const BloomfamType *type, const BloomfamColumn *column,
			 BloomfamError *error)
{
	BloomfamStatus status = bf_column_open(&keys->columns[0], type, column, error);

	keys->column = column;
	keys->is_row = type->id == BLOOMFAM_TYPE_ROW;
	keys->ncolumns = keys->is_row ? 0 : 1;
	return status == BLOOMFAM_OK && keys->is_row ? open_columns(keys, type, error) : status;
}

/* ---- hashing ---- */

/*
 * Combines the answer for a column with the answer for the columns before it to the answer for a
 * row.
 */
static inline uint8_t
worse(uint8_t of_column, uint8_t so_far)
{
	if (of_column == BLOOMFAM_BAD || so_far == BLOOMFAM_BAD)
		return BLOOMFAM_BAD;
	return of_column == BLOOMFAM_IMPOSSIBLE ? of_column : so_far;
}

/* Hashes n rows, at most ROWS_AT_ONCE, and stores their hashes in the batch from index to on. */
static void
hash_rows(const BfKeys *keys, size_t first, size_t n, BfBatch *batch, size_t to)
{
	size_t		length = keys->ncolumns * BF_KEY_ITEM_SIZE;
	uint8_t		items[ROWS_AT_ONCE * BLOOMFAM_MAX_COLUMNS * BF_KEY_ITEM_SIZE];
	uint8_t		several[ROWS_AT_ONCE] = {0};	/* True if the row has a second reading. */
	BfBatch		part;
	size_t		c;
	size_t		i;

	memset(batch->answers + to, BLOOMFAM_ABSENT, n);
	for (c = 0; c < keys->ncolumns; c++)
	{
		uint8_t    *item = items + c * BF_KEY_ITEM_SIZE;

		bf_column_hash(&keys->columns[c], bf_keys_row(keys, first), n, &part);
		if (!part.odd)
		{
			for (i = 0; i < n; i++, item += length)
				bf_key_put_item(item, false, part.hashes[i]);
			continue;
		}
		for (i = 0; i < n; i++, item += length)
		{
			bf_key_put_item(item, part.answers[i] == BLOOMFAM_NULL, part.hashes[i]);
			batch->answers[to + i] = worse(part.answers[i], batch->answers[to + i]);
			several[i] |= part.has_second && part.answers[i] == BLOOMFAM_ABSENT &&
				part.hashes[i] != part.second[i];
		}
	}
	for (i = 0; i < n; i++)
	{
		bool		fine = batch->answers[to + i] == BLOOMFAM_ABSENT;
		uint64_t	hash = fine ? bf_hash_bytes(items + i * length, length) : 0;

		batch->odd |= !fine;
		batch->hashes[to + i] = hash;
		batch->second[to + i] = fine && several[i] ? ~hash : hash;
		batch->has_second |= fine && several[i];
	}
}

void
bf_keys_hash(const BfKeys *keys, size_t first, size_t n, BfBatch *batch)
{
	const BloomfamColumn *column = keys->column;
	size_t		done;
	size_t		i;

	if (!keys->is_row)
	{
		bf_column_hash(&keys->columns[0], first, n, batch);
		return;
	}
	batch->n = n;
	batch->odd = false;
	batch->has_second = false;
	for (done = 0; done < n && !column->all_null; done += ROWS_AT_ONCE)
		hash_rows(keys, first + done, n - done < ROWS_AT_ONCE ? n - done : ROWS_AT_ONCE, batch,
				  done);
	batch->odd |= batch->has_second;

	/*
	 * Besides their columns, the rows themselves can be NULL, as values of a composite type can be.
	 */
	if (!column->all_null && column->validity == NULL && column->nulls == NULL)
		return;
	for (i = 0; i < n; i++)
	{
		if (!bf_is_null(column, column->first + first + i))
			continue;
		batch->answers[i] = BLOOMFAM_NULL;
		batch->hashes[i] = 0;
		batch->second[i] = 0;
		batch->odd = true;
	}
}

void
bloomfam_row_hashes(const uint64_t *const *hashes, const uint8_t *const *answers, size_t ncolumns,
					size_t n, uint64_t *row_hashes, uint8_t *row_answers)
{
	uint8_t		items[BLOOMFAM_MAX_COLUMNS * BF_KEY_ITEM_SIZE];
	size_t		i;
	size_t		c;

	if (ncolumns > BLOOMFAM_MAX_COLUMNS)
	{
		memset(row_hashes, 0, n * sizeof(*row_hashes));
		memset(row_answers, BLOOMFAM_BAD, n);
		return;
	}
	for (i = 0; i < n; i++)
	{
		uint8_t		answer = BLOOMFAM_ABSENT;

		for (c = 0; c < ncolumns; c++)
		{
			bf_key_put_item(items + c * BF_KEY_ITEM_SIZE, answers[c][i] == BLOOMFAM_NULL,
							hashes[c][i]);
			answer = worse(answers[c][i], answer);
		}
		row_answers[i] = answer;
		row_hashes[i] = answer == BLOOMFAM_ABSENT
							? bf_hash_bytes(items, ncolumns * BF_KEY_ITEM_SIZE)
							: 0;
	}
}

/* ---- readings ---- */

bool
bf_readings_begin(BfReadings *readings, const BfKeys *keys, size_t i)
{
	size_t		c;

	readings->keys = keys;
	readings->left = 1;
	for (c = 0; c < keys->ncolumns; c++)
	{
		readings->n[c] = bf_column_readings(&keys->columns[c], bf_keys_row(keys, i),
											readings->hashes[c]);
		readings->at[c] = 0;
		if (readings->n[c] > 0)
			readings->left *= readings->n[c];
		if (readings->left > MAX_ROW_READINGS)
			return false;
	}
	return true;
}

/* Advances to the next combination of the columns' readings, as an odometer does. */
static void
next_choice(BfReadings *readings)
{
	size_t		c;

	for (c = 0; c < readings->keys->ncolumns; c++)
	{
		if (++readings->at[c] < readings->n[c])
			return;
		readings->at[c] = 0;
	}
}

size_t
bf_readings_next(BfReadings *readings, uint64_t *hashes, size_t room)
{
	const BfKeys *keys = readings->keys;
	uint8_t		items[BLOOMFAM_MAX_COLUMNS * BF_KEY_ITEM_SIZE];
	size_t		n;
	size_t		c;

	for (n = 0; n < room && readings->left > 0; n++, readings->left--)
	{
		for (c = 0; c < keys->ncolumns; c++)
			bf_key_put_item(items + c * BF_KEY_ITEM_SIZE, readings->n[c] == 0,
							readings->hashes[c][readings->at[c]]);
		hashes[n] = keys->is_row ? bf_hash_bytes(items, keys->ncolumns * BF_KEY_ITEM_SIZE)
								 : readings->hashes[0][readings->at[0]];
		next_choice(readings);
	}
	return n;
}
