/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * ask.c
 *	  Hashing columns of keys, and asking filters for them.
 *
 *-------------------------------------------------------------------------
 */
#include "client/lib/column.h"
#include "client/lib/column_hash.h"
#include "client/lib/filter.h"

/* ---- the type of keys, and that of the filter's ---- */

/*
 * What keys of a type are when they are asked of a filter.  Kind parquet knows its columns' types:
 * an integer may be asked of int32 and of int64, a float of both floats, a decimal of any.  An
 * SQL type does not say which of them, so the filter's counts.
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

/* Counts answers, the first of which is that of key at. */
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

/* The same of answers that are all 0 or 1. */
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
	BfColumnReader reader;
	BloomfamCounts counted;
	BloomfamStatus status = bf_column_open(&reader, type, column, error);
	size_t		at;
	size_t		i;

	if (status != BLOOMFAM_OK)
		return status;
	count_begin(&counted);
	for (at = 0; at < column->n; at += BF_KEYS_PER_BATCH)
	{
		BfBatch		batch;

		bf_column_hash(&reader, at, BF_MIN_KEYS(column->n - at), &batch);
		if (!batch.odd)
			memset(batch.answers, BLOOMFAM_ABSENT, batch.n);
		for (i = 0; batch.has_second && i < batch.n; i++)
		{
			/* nobody knows which of the two it is */
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

/* What is wrong with a key whose reading was as told. */
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

BloomfamStatus
bloomfam_column_error(const BloomfamType *type, const BloomfamColumn *column, size_t i,
					  BloomfamError *error)
{
	BfColumnReader reader;
	BloomfamStatus status = bf_column_open(&reader, type, column, error);
	uint64_t	hashes[2];
	const char *reason;
	int			n = 1;

	if (status != BLOOMFAM_OK)
		return status;
	if (i >= column->n)
		return bf_fail(error, BLOOMFAM_BAD_ARGUMENT, "the column has no such key");
	switch (bf_column_hash_one(&reader, i, hashes, &n, &reason))
	{
		case BLOOMFAM_BAD:
		case BLOOMFAM_IMPOSSIBLE:
			return key_error(&reader, i, reason, error);
		case BLOOMFAM_NULL:
			return BLOOMFAM_OK;
		default:
			break;
	}
	if (n == 1)
		return BLOOMFAM_OK;
	if (reader.values->meaning >= BLOOMFAM_DATE)
	{
		status = key_error(&reader, i, "this number is infinity to some, and a moment to others",
						   error);
		bf_hint(error, "Give the key as text.");
		return status;
	}
	status = key_error(&reader, i, "it is not the same key for all types of the family", error);
	bf_hint(error, "Say the type of the key.");
	return status;
}

/* ---- asking ---- */

/* Probes n hashes.  A filter that has no family has no keys, whatever its payload holds. */
static void
probe(const BloomfamFilter *filter, const uint64_t *hashes, size_t n, uint8_t *answers)
{
	_Static_assert(sizeof(bool) == 1, "an answer is a bool");

	if (filter->view.head.family_id == 0)
		memset(answers, BLOOMFAM_ABSENT, n);
	else
		filter->view.head.kind->probe_many(&filter->view, hashes, n, (bool *) answers);
}

/* Is a text there as one of the names that it may have been cut to, in any encoding? */
static bool
may_be_cut(const BloomfamFilter *filter, const BfColumnReader *reader, size_t i)
{
	uint64_t	hashes[BF_NAME_MAX_CHARS - BF_NAME_MIN_CHARS + 2];
	bool		maybe[BF_NAME_MAX_CHARS - BF_NAME_MIN_CHARS + 2];
	bool		any = false;
	size_t		n = 0;
	size_t		chars = 0;
	size_t		at = 0;
	BfString	text;

	if (!bf_column_text(reader, i, &text) || bf_name_is_sure(text.bytes, text.len))
		return false;

	/* within a character, where those of a database are bytes */
	hashes[n++] = bf_column_hash_text(reader, text.bytes, BF_NAME_BYTES);
	while (at < text.len && chars < BF_NAME_MAX_CHARS)
	{
		size_t		next = bf_utf8_length(text.bytes + at, text.len - at);

		at += next > 0 ? next : 1;
		if (++chars >= BF_NAME_MIN_CHARS)
			hashes[n++] = bf_column_hash_text(reader, text.bytes, at);
	}
	filter->view.head.kind->probe_many(&filter->view, hashes, n, maybe);
	for (at = 0; at < n; at++)
		any |= maybe[at];
	return any;
}

/* Answers for a batch, from key first on, in which some keys are not as others. */
static void
answer_odd(const BloomfamFilter *filter, const BfColumnReader *reader, size_t first,
		   const BfBatch *batch, uint8_t *answers)
{
	uint8_t		second[BF_KEYS_PER_BATCH];
	size_t		i;

	if (batch->has_second)
		probe(filter, batch->second, batch->n, second);
	for (i = 0; i < batch->n; i++)
	{
		if (batch->answers[i] != BLOOMFAM_ABSENT)
			answers[i] = batch->answers[i];
		else if (batch->has_second)
		{
			answers[i] |= second[i];
			if (answers[i] == BLOOMFAM_ABSENT && reader->is_any_text &&
				batch->hashes[i] != batch->second[i] && filter->view.head.family_id != 0)
				answers[i] = may_be_cut(filter, reader, first + i);
		}
	}
}

/* Asks for a column without a dictionary. */
static BloomfamStatus
ask_column(const BloomfamFilter *filter, const BfColumnReader *reader, uint8_t *answers,
		   BloomfamCounts *counts, BloomfamError *error)
{
	size_t		n = reader->column->n;
	size_t		at;

	for (at = 0; at < n; at += BF_KEYS_PER_BATCH)
	{
		BfBatch		batch;

		if (at % (128 * BF_KEYS_PER_BATCH) == 0 && bf_host_stops(&filter->host))
			return bf_fail(error, BLOOMFAM_STOPPED, "stopped");
		bf_column_hash(reader, at, BF_MIN_KEYS(n - at), &batch);
		probe(filter, batch.hashes, batch.n, answers + at);
		if (batch.odd)
		{
			answer_odd(filter, reader, at, &batch, answers + at);
			count_odd(counts, answers + at, at, batch.n);
		}
		else
			count_plain(counts, answers + at, batch.n);
	}
	return BLOOMFAM_OK;
}

/* Asks for each value of a dictionary once, and for a column what it says of these. */
static BloomfamStatus
ask_dictionary(const BloomfamFilter *filter, const BloomfamType *type,
			   const BloomfamColumn *column, uint8_t *answers, BloomfamCounts *counts,
			   BloomfamError *error)
{
	const BloomfamHost *host = &filter->host;
	const BloomfamColumn *values = column->dictionary;
	uint8_t    *of_values = host->alloc(host->arg, values->n > 0 ? values->n : 1);
	BfColumnReader reader;
	BloomfamCounts unused;
	BloomfamStatus status;
	size_t		i;

	if (of_values == NULL)
		return bf_no_memory(error);
	status = bf_column_open(&reader, type, values, error);
	count_begin(&unused);
	if (status == BLOOMFAM_OK)
		status = ask_column(filter, &reader, of_values, &unused, error);
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
	BfColumnReader reader;
	BloomfamCounts counted;
	BloomfamType fitted;
	BloomfamStatus status = bf_filter_check_askable(filter, error);

	if (status == BLOOMFAM_OK)
		status = fit_type(filter, type, &fitted, error);
	if (status == BLOOMFAM_OK)
		status = bf_column_open(&reader, &fitted, column, error);
	if (status != BLOOMFAM_OK)
		return status;
	count_begin(&counted);

	/* a dictionary pays if its values are fewer than the keys */
	if (column->dictionary != NULL && column->dictionary->n <= column->n)
		status = ask_dictionary(filter, &fitted, column, answers, &counted, error);
	else
		status = ask_column(filter, &reader, answers, &counted, error);
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
	status = fit_type(filter, type, &fitted, error);
	if (status != BLOOMFAM_OK)
		return status;
	/* a column of Parquet has hashes of its own */
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
