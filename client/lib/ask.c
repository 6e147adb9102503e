/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * ask.c
 *	  Hashing columns of keys, and asking filters for them.
 *
 *-------------------------------------------------------------------------
 */
#include "client/lib/filter.h"
#include "client/lib/keys.h"

#include <stdio.h>

/* ---- the type of the keys, and that of the filter's keys ---- */

/*
 * Finds the type as which keys are hashed to ask a filter for them.  A filter of kind parquet knows
 * the type of its Parquet column: an integer may be asked of int32 and int64, a float of float and
 * double, a decimal of any decimal column.  An SQL type does not determine the Parquet column, so
 * the filter's column is used.
 */
static BloomfamStatus
fit_type(const BloomfamFilter *filter, const BloomfamType *type, BloomfamType *fitted,
		 BloomfamError *error)
{
	const BfHeader *head = &filter->view.head;
	const BloomfamType *own = &filter->type;
	char		family[BF_FAMILY_ROOM];

	if (type == NULL)
		return bloomfam_filter_type(filter, fitted, error);
	*fitted = *type;
	if (head->family_id == 0)
		return BLOOMFAM_OK;
	if (filter->type_status != BF_TYPE_OK)
		return bf_type_error(filter->type_status, head, error);
	if (type->family_id == head->family_id)
		return BLOOMFAM_OK;
	if (bf_type_is_plain(own) && bf_type_same_class(type->id, own->id) &&
		type->id != BLOOMFAM_TYPE_BPCHAR)
	{
		*fitted = *own;
		fitted->id = type->id;
		return BLOOMFAM_OK;
	}
	(void) bf_fail(error, BLOOMFAM_WRONG_TYPE,
				   "key does not have the type of the bloom filter's keys");
	bf_detail(error, "The filter holds keys of type %s, and the key is of type %s.",
			  bf_family_text(head, family), type->family);
	bf_hint(error, "Cast the key to the type that the filter was built from.");
	return BLOOMFAM_WRONG_TYPE;
}

/* ---- counting ---- */

static void
count_begin(BloomfamCounts *counts)
{
	memset(counts, 0, sizeof(*counts));
	counts->first_odd = BLOOMFAM_NO_ROW;
}

/* Counts n answers of any kind; at is the index of the first answer's key in its column. */
static void
count_odd(BloomfamCounts *counts, const uint8_t *answers, size_t at, size_t n)
{
	size_t		i;

	for (i = 0; i < n; i++)
	{
		switch (answers[i])
		{
			case BLOOMFAM_ABSENT:
				counts->absent++;
				continue;
			case BLOOMFAM_MAYBE:
				counts->maybe++;
				continue;
			case BLOOMFAM_IMPOSSIBLE:
				counts->impossible++;
				break;
			case BLOOMFAM_NULL:
				counts->null++;
				break;
			default:
				counts->bad++;
				break;
		}
		if (counts->first_odd == BLOOMFAM_NO_ROW)
			counts->first_odd = at + i;
	}
}

/* Counts n answers that are all ABSENT or MAYBE. */
static void
count_plain(BloomfamCounts *counts, const uint8_t *answers, size_t n)
{
	uint64_t	maybe = 0;
	size_t		i;

	for (i = 0; i < n; i++)
		maybe += answers[i];
	counts->maybe += maybe;
	counts->absent += n - maybe;
}

/* ---- hashing ---- */

BloomfamStatus
bloomfam_hash(const BloomfamType *type, const BloomfamColumn *column, uint64_t *hashes,
			  uint8_t *answers, BloomfamCounts *counts, BloomfamError *error)
{
	BfKeys		keys;
	BloomfamCounts counted;
	BloomfamStatus status = bf_keys_open(&keys, type, column, error);
	size_t		at;
	size_t		i;

	if (status != BLOOMFAM_OK)
		return status;
	count_begin(&counted);
	for (at = 0; at < column->n; at += BF_KEYS_PER_BATCH)
	{
		BfBatch		batch;

		bf_keys_hash(&keys, at, BF_MIN_KEYS(column->n - at), &batch);
		if (!batch.odd)
			memset(batch.answers, BLOOMFAM_ABSENT, batch.n);
		for (i = 0; batch.has_second && i < batch.n; i++)
		{
			/*
			 * A key with two readings (possible meanings, such as text or name) cannot be hashed
			 * for the caller, as it is unknown which of them is meant: its answer is BAD.
			 */
			if (batch.hashes[i] == batch.second[i])
				continue;
			batch.answers[i] = BLOOMFAM_BAD;
			batch.hashes[i] = 0;
		}
		memcpy(hashes + at, batch.hashes, batch.n * sizeof(*hashes));
		if (answers != NULL)
			memcpy(answers + at, batch.answers, batch.n);
		if (batch.odd)
			count_odd(&counted, batch.answers, at, batch.n);
		else
			counted.absent += batch.n;
	}
	if (counts != NULL)
		*counts = counted;
	return BLOOMFAM_OK;
}

/* Fills in the error for key i, which could not be read for the given reason. */
static BloomfamStatus
key_error(const BfColumnReader *reader, size_t i, const char *reason, BloomfamError *error)
{
	char		shown[64];
	BfString	text;

	if (bf_column_text(reader, i, &text))
	{
		bf_clean(shown, sizeof(shown), text.bytes, text.len);
		(void) bf_fail(error, BLOOMFAM_BAD_KEY, "invalid key of type %s: \"%s\"%s",
					   bf_type_sql_name(reader->type.id), shown,
					   strlen(shown) < text.len ? "..." : "");
	}
	else
		(void) bf_fail(error, BLOOMFAM_BAD_KEY, "invalid key of type %s",
					   bf_type_sql_name(reader->type.id));
	bf_detail(error, "Reason: %s.", reason);
	if (error != NULL)
		error->row = i;
	return BLOOMFAM_BAD_KEY;
}

/* Tells what is wrong with key i of a single column; see bloomfam_column_error(). */
static BloomfamStatus
column_error(const BfColumnReader *reader, size_t i, BloomfamError *error)
{
	BloomfamStatus status;
	uint64_t	hashes[2];
	const char *reason;
	int			n = 1;

	switch (bf_column_hash_one(reader, i, hashes, &n, &reason))
	{
		case BLOOMFAM_BAD:
		case BLOOMFAM_IMPOSSIBLE:
			return key_error(reader, i, reason, error);
		case BLOOMFAM_NULL:
			return BLOOMFAM_OK;
		default:
			break;
	}
	if (n == 1)
		return BLOOMFAM_OK;
	if (reader->values->meaning >= BLOOMFAM_DATE)
	{
		status = key_error(reader, i, "this number is infinity to some, and a moment to others",
						   error);
		bf_hint(error, "Give the key as text.");
		return status;
	}
	status = key_error(reader, i, "it is not the same key for all types of the family", error);
	bf_hint(error, "Say the type of the key.");
	return status;
}

BloomfamStatus
bloomfam_column_error(const BloomfamType *type, const BloomfamColumn *column, size_t i,
					  BloomfamError *error)
{
	BfKeys		keys;
	BloomfamStatus status = bf_keys_open(&keys, type, column, error);
	size_t		c;

	if (status != BLOOMFAM_OK)
		return status;
	if (i >= column->n)
		return bf_fail(error, BLOOMFAM_BAD_ARGUMENT, "the column has no such key");
	for (c = 0; status == BLOOMFAM_OK && c < keys.ncolumns; c++)
		status = column_error(&keys.columns[c], bf_keys_row(&keys, i), error);
	if (status != BLOOMFAM_OK && keys.is_row && error != NULL)
	{
		size_t		used = strlen(error->detail);

		error->row = i;
		snprintf(error->detail + used, sizeof(error->detail) - used,
				 " It is column %d of the key.", (int) c);
	}
	return status;
}

/* ---- asking ---- */

/* Probes n hashes.  A filter without a family has no keys, whatever its payload holds. */
static void
probe(const BloomfamFilter *filter, const uint64_t *hashes, size_t n, uint8_t *answers)
{
	_Static_assert(sizeof(bool) == 1, "an answer is a bool");

	if (filter->view.head.family_id == 0)
		memset(answers, BLOOMFAM_ABSENT, n);
	else
		filter->view.head.kind->probe_many(&filter->view, hashes, n, (bool *) answers);
}

/*
 * Returns whether the filter may contain key i in any of its readings (possible meanings, such as a
 * text and the name that it is cut to).
 */
static bool
may_be_another(const BloomfamFilter *filter, const BfKeys *keys, size_t i)
{
	uint64_t	hashes[BF_KEYS_PER_BATCH];
	uint8_t		answers[BF_KEYS_PER_BATCH];
	BfReadings	readings;
	size_t		n;

	if (!bf_readings_begin(&readings, keys, i))
		return true;
	while ((n = bf_readings_next(&readings, hashes, BF_KEYS_PER_BATCH)) > 0)
	{
		probe(filter, hashes, n, answers);
		if (memchr(answers, BLOOMFAM_MAYBE, n) != NULL)
			return true;
	}
	return false;
}

/*
 * Sets the answers for a batch in which some keys have no hash or two readings (possible meanings).
 * first is the index of the batch's first key.  On entry, answers are those for the keys' first
 * hashes.
 */
static void
answer_odd(const BloomfamFilter *filter, const BfKeys *keys, size_t first, const BfBatch *batch,
		   uint8_t *answers)
{
	uint8_t		second[BF_KEYS_PER_BATCH];
	bool		may_be_more = keys->is_row || keys->columns[0].is_any_text;
	size_t		i;

	/*
	 * The second hash of a key of several columns only marks that it has several readings (possible
	 * meanings).  It is the hash of none of them, so it is not probed.
	 */
	memset(second, BLOOMFAM_ABSENT, batch->n);
	if (batch->has_second && !keys->is_row)
		probe(filter, batch->second, batch->n, second);
	for (i = 0; i < batch->n; i++)
	{
		if (batch->answers[i] != BLOOMFAM_ABSENT)
			answers[i] = batch->answers[i];
		else if (batch->has_second)
		{
			answers[i] |= second[i];
			if (answers[i] == BLOOMFAM_ABSENT && may_be_more &&
				batch->hashes[i] != batch->second[i] && filter->view.head.family_id != 0)
				answers[i] = may_be_another(filter, keys, first + i);
		}
	}
}

/* Asks for the keys of a column one by one, without use of a dictionary. */
static BloomfamStatus
ask_column(const BloomfamFilter *filter, const BfKeys *keys, uint8_t *answers,
		   BloomfamCounts *counts, BloomfamError *error)
{
	size_t		n = keys->column->n;
	size_t		at;

	for (at = 0; at < n; at += BF_KEYS_PER_BATCH)
	{
		BfBatch		batch;

		if (at % (128 * BF_KEYS_PER_BATCH) == 0 && bf_host_stops(&filter->host))
			return bf_fail(error, BLOOMFAM_STOPPED, "stopped");
		bf_keys_hash(keys, at, BF_MIN_KEYS(n - at), &batch);
		probe(filter, batch.hashes, batch.n, answers + at);
		if (batch.odd)
		{
			answer_odd(filter, keys, at, &batch, answers + at);
			count_odd(counts, answers + at, at, batch.n);
		}
		else
			count_plain(counts, answers + at, batch.n);
	}
	return BLOOMFAM_OK;
}

/*
 * Looks up each value of a column's dictionary in the filter only once, and gives each key the
 * answer for its dictionary value.
 */
static BloomfamStatus
ask_dictionary(const BloomfamFilter *filter, const BloomfamType *type,
			   const BloomfamColumn *column, uint8_t *answers, BloomfamCounts *counts,
			   BloomfamError *error)
{
	const BloomfamHost *host = &filter->host;
	const BloomfamColumn *values = column->dictionary;
	uint8_t    *of_values = host->alloc(host->arg, values->n > 0 ? values->n : 1);
	BfKeys		keys;
	BloomfamCounts unused;
	BloomfamStatus status;
	size_t		i;

	if (of_values == NULL)
		return bf_no_memory(error);
	status = bf_keys_open(&keys, type, values, error);
	count_begin(&unused);
	if (status == BLOOMFAM_OK)
		status = ask_column(filter, &keys, of_values, &unused, error);
	for (i = 0; status == BLOOMFAM_OK && i < column->n; i++)
	{
		BfIndex		index = bf_column_index(column, i);

		answers[i] = index.is_null			  ? BLOOMFAM_NULL
					 : index.at >= values->n ? BLOOMFAM_BAD
											  : of_values[index.at];
	}
	host->release(host->arg, of_values);
	if (status == BLOOMFAM_OK)
		count_odd(counts, answers, 0, column->n);
	return status;
}

BloomfamStatus
bloomfam_ask(const BloomfamFilter *filter, const BloomfamType *type, const BloomfamColumn *column,
			 uint8_t *answers, BloomfamCounts *counts, BloomfamError *error)
{
	BfKeys		keys;
	BloomfamCounts counted;
	BloomfamType fitted;
	BloomfamStatus status = bf_filter_check_askable(filter, error);

	if (status == BLOOMFAM_OK)
		status = fit_type(filter, type, &fitted, error);
	if (status == BLOOMFAM_OK)
		status = bf_keys_open(&keys, &fitted, column, error);
	if (status != BLOOMFAM_OK)
		return status;
	count_begin(&counted);

	/* Asking for a dictionary's values saves time if there are at most as many values as keys. */
	if (column->dictionary != NULL && column->dictionary->n <= column->n)
		status = ask_dictionary(filter, &fitted, column, answers, &counted, error);
	else
		status = ask_column(filter, &keys, answers, &counted, error);
	if (status == BLOOMFAM_OK && counts != NULL)
		*counts = counted;
	return status;
}

BloomfamStatus
bloomfam_ask_hashes(const BloomfamFilter *filter, const BloomfamType *type,
					const uint64_t *hashes, size_t n, uint8_t *answers, BloomfamError *error)
{
	BloomfamStatus status = bf_filter_check_askable(filter, error);
	BloomfamType fitted;
	size_t		at;

	if (status != BLOOMFAM_OK)
		return status;
	if (type == NULL)
		return bf_fail(error, BLOOMFAM_BAD_ARGUMENT, "hashes without a type");
	status = fit_type(filter, type, &fitted, error);
	if (status != BLOOMFAM_OK)
		return status;
	/*
	 * A filter of kind parquet has another hash function, so that hashes of an SQL type do not fit.
	 */
	if (fitted.family_id != type->family_id)
		return bf_fail(error, BLOOMFAM_WRONG_TYPE,
					   "hashes are not those of the bloom filter's type");
	for (at = 0; at < n; at += BF_KEYS_PER_BATCH)
	{
		if (at % (128 * BF_KEYS_PER_BATCH) == 0 && bf_host_stops(&filter->host))
			return bf_fail(error, BLOOMFAM_STOPPED, "stopped");
		probe(filter, hashes + at, BF_MIN_KEYS(n - at), answers + at);
	}
	return BLOOMFAM_OK;
}
