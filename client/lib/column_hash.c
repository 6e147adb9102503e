/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * column_hash.c
 *	  Columns of keys, hashed one key or one batch at a time.
 *
 *-------------------------------------------------------------------------
 */
#include "client/lib/column_hash.h"

#include "client/lib/column_values.h"
#include "client/lib/parse.h"

BfIndex
bf_column_index(const BloomfamColumn *column, size_t i)
{
	BfIndex		index = {bf_is_null(column, column->first + i), UINT64_MAX};
	const char *reason;
	int64_t		at;

	if (!index.is_null &&
		bf_load_integer(column, column->first + i, &at, &reason) == BLOOMFAM_ABSENT && at >= 0)
		index.at = (uint64_t) at;
	return index;
}

/*
 * Finds the index of key i's value in reader->values.  Returns false if the key's index into the
 * dictionary is out of range.
 */
static bool
locate(const BfColumnReader *reader, size_t i, size_t *at)
{
	BfIndex		index;

	*at = reader->column->first + i;
	if (reader->column->dictionary == NULL)
		return true;
	index = bf_column_index(reader->column, i);
	if (index.at >= reader->values->n)
		return false;
	*at = reader->values->first + (size_t) index.at;
	return true;
}

BloomfamAnswer
bf_column_hash_one(const BfColumnReader *reader, size_t i, uint64_t hashes[2], int *n,
				   const char **reason)
{
	BloomfamAnswer answer;
	BfKey		key;
	size_t		at;

	*reason = NULL;
	if (bf_is_null(reader->column, reader->column->first + i))
		return BLOOMFAM_NULL;
	if (!locate(reader, i, &at))
		return bf_bad("its index is not one of the dictionary", reason);
	if (reader->column->dictionary != NULL && bf_is_null(reader->values, at))
		return BLOOMFAM_NULL;
	answer = reader->read(reader, at, &key, reason);
	return answer == BLOOMFAM_ABSENT ? bf_key_hash(&reader->type, &key, hashes, n, reason) : answer;
}

bool
bf_column_text(const BfColumnReader *reader, size_t i, BfString *text)
{
	size_t		at;

	return (reader->values->meaning == BLOOMFAM_WRITTEN ||
			reader->values->meaning == BLOOMFAM_TEXT) &&
		   !reader->column->all_null && locate(reader, i, &at) &&
		   bf_load_string(reader->values, reader->end, at, text);
}

/* Returns the hash that a text has as a key of the reader's type, which is one of texts. */
static uint64_t
hash_text(const BfColumnReader *reader, const char *bytes, size_t len)
{
	return bf_type_is_plain(&reader->type) ? bf_plain_bytes(bytes, len)
										   : bf_key_text(0, bytes, len);
}

/*
 * Stores the hashes of all beginnings of a long text that the server, depending on its encoding,
 * may keep as a name.  Returns their number.
 */
static size_t
hash_cuts(const BfColumnReader *reader, const BfString *text, uint64_t *hashes)
{
	size_t		n = 0;
	size_t		chars = 0;
	size_t		at = 0;

	/* In an encoding of single bytes, a name may be cut within a UTF-8 character. */
	hashes[n++] = hash_text(reader, text->bytes, BF_NAME_BYTES);
	while (at < text->len && chars < BF_NAME_MAX_CHARS)
	{
		size_t		next = bf_utf8_length(text->bytes + at, text->len - at);

		at += next > 0 ? next : 1;
		if (++chars >= BF_NAME_MIN_CHARS)
			hashes[n++] = hash_text(reader, text->bytes, at);
	}
	return n;
}

size_t
bf_column_readings(const BfColumnReader *reader, size_t i, uint64_t hashes[BF_MAX_READINGS])
{
	const char *reason;
	BfString	text;
	int			n = 1;

	if (bf_column_hash_one(reader, i, hashes, &n, &reason) != BLOOMFAM_ABSENT)
		return 0;
	if (n == 1 || !reader->is_any_text || !bf_column_text(reader, i, &text) ||
		bf_name_is_sure(text.bytes, text.len))
		return (size_t) n;
	return (size_t) n + hash_cuts(reader, &text, hashes + n);
}

static void
hash_by_key(const BfColumnReader *reader, size_t first, BfBatch *batch)
{
	size_t		i;

	batch->odd = false;
	for (i = 0; i < batch->n; i++)
	{
		uint64_t	hashes[2];
		int			n = 1;
		const char *reason;
		BloomfamAnswer answer = bf_column_hash_one(reader, first + i, hashes, &n, &reason);

		if (answer != BLOOMFAM_ABSENT)
			hashes[0] = 0;
		else if (n == 2)
			batch->has_second = true;
		batch->odd |= answer != BLOOMFAM_ABSENT;
		batch->hashes[i] = hashes[0];
		batch->second[i] = hashes[answer == BLOOMFAM_ABSENT && n == 2];
		batch->answers[i] = (uint8_t) answer;
	}
	batch->odd |= batch->has_second;
}

/*
 * Returns whether one of n keys from index at on may be NULL, by looking at eight bits or bytes at
 * a time.
 */
static bool
any_null(const BloomfamColumn *column, size_t at, size_t n)
{
	size_t		end = at + n;
	size_t		i;

	if (column->all_null)
		return true;
	if (column->validity != NULL)
	{
		for (i = at; i < end && i % 8 != 0; i++)
			if (!bf_bit_is_set(column->validity, i))
				return true;
		for (; i + 8 <= end; i += 8)
			if (column->validity[i / 8] != 0xff)
				return true;
		for (; i < end; i++)
			if (!bf_bit_is_set(column->validity, i))
				return true;
	}
	if (column->nulls != NULL)
	{
		for (i = at; i + 8 <= end; i += 8)
			if (BF_LOAD(uint64_t, column->nulls + i, 0) != 0)
				return true;
		for (; i < end; i++)
			if (column->nulls[i] != 0)
				return true;
	}
	return false;
}

/* Marks the NULL keys of a batch, whose other keys have been hashed. */
static void
mark_nulls(const BfColumnReader *reader, size_t first, BfBatch *batch)
{
	const BloomfamColumn *column = reader->column;
	size_t		i;

	if (!batch->odd)
		memset(batch->answers, BLOOMFAM_ABSENT, batch->n);
	for (i = 0; i < batch->n; i++)
	{
		if (!bf_is_null(column, column->first + first + i))
			continue;
		batch->answers[i] = BLOOMFAM_NULL;
		batch->hashes[i] = 0;
	}
	batch->odd = true;
}

/* Hashes integers and floats.  Also hashes the values of NULL keys, whatever they are. */
static void
hash_numbers(const BfColumnReader *reader, size_t first, BfBatch *batch)
{
	const BloomfamColumn *column = reader->column;
	size_t		at = column->first + first;
	size_t		i;

	switch (reader->way)
	{
		case BF_BATCH_INT64:
			memcpy(batch->hashes, (const char *) column->values + at * 8, batch->n * 8);
			break;
		case BF_BATCH_INT32:
			for (i = 0; i < batch->n; i++)
				batch->hashes[i] = (uint64_t) (int64_t) BF_LOAD(int32_t, column->values, at + i);
			break;
		default:
			for (i = 0; i < batch->n; i++)
				batch->hashes[i] = bf_key_double_bits(BF_LOAD(double, column->values, at + i));
			break;
	}
	bf_hash_u64_many(batch->hashes, batch->n);
}

#define HIGH_BITS	UINT64_C(0x8080808080808080)
#define LOW_BITS	UINT64_C(0x0101010101010101)

/* Returns whether all bytes are ASCII characters and none is zero. */
static bool
is_plain_ascii(const char *bytes, size_t len)
{
	uint64_t	high = 0;
	uint64_t	not_zero = HIGH_BITS;
	size_t		i;

	for (i = 0; i + 8 <= len; i += 8)
	{
		uint64_t	word = BF_LOAD(uint64_t, bytes + i, 0);

		high |= word;
		not_zero &= (word | HIGH_BITS) - LOW_BITS;
	}
	for (; i < len; i++)
	{
		high |= (uint64_t) (unsigned char) bytes[i];
		not_zero &= bytes[i] != 0 ? HIGH_BITS : 0;
	}
	return (high & HIGH_BITS) == 0 && not_zero == HIGH_BITS;
}

/*
 * Finds the bytes of a batch's texts that are all ASCII without zeros, so that these texts need no
 * check one by one.  In layouts with offsets, the texts usually follow each other, so that one
 * check covers the whole batch.  Bytes, which need no check, are all in the range.  If *begin is
 * *end, every text must be checked.
 */
static void
find_plain(const BfColumnReader *reader, size_t first, size_t n, uintptr_t *begin, uintptr_t *end)
{
	const BloomfamColumn *column = reader->column;
	size_t		at = column->first + first;
	int64_t		from;
	int64_t		to;

	*begin = 0;
	*end = reader->is_text ? 0 : UINTPTR_MAX;
	if (!reader->is_text)
		return;
	if (column->layout == BLOOMFAM_OFFSETS32)
	{
		from = BF_LOAD(int32_t, column->offsets, at);
		to = BF_LOAD(int32_t, column->offsets, at + n);
	}
	else if (column->layout == BLOOMFAM_OFFSETS64)
	{
		from = BF_LOAD(int64_t, column->offsets, at);
		to = BF_LOAD(int64_t, column->offsets, at + n);
	}
	else
		return;
	if (from < 0 || to <= from || to > reader->end ||
		!is_plain_ascii((const char *) column->values + from, (size_t) (to - from)))
		return;
	*begin = (uintptr_t) ((const char *) column->values + from);
	*end = (uintptr_t) ((const char *) column->values + to);
}

/*
 * Computes the second hashes of a batch in which some text is longer than a name can be.  A key's
 * second hash is that of the text as a name, cut to 63 bytes.
 */
static void
hash_names(const BfColumnReader *reader, size_t first, BfBatch *batch)
{
	size_t		i;

	batch->has_second = true;
	batch->odd = true;
	for (i = 0; i < batch->n; i++)
	{
		BfString	string;
		size_t		len;

		batch->second[i] = batch->hashes[i];
		if (batch->answers[i] != BLOOMFAM_ABSENT ||
			!bf_load_string(reader->values, reader->end, reader->column->first + first + i,
							&string))
			continue;
		len = bf_name_length(string.bytes, string.len);
		if (len < string.len)
			batch->second[i] = hash_text(reader, string.bytes, len);
	}
}

/*
 * Hashes a batch of texts or bytes without conversion.  The function is inlined for each hash
 * function.
 */
static inline __attribute__((always_inline)) void
hash_strings_by(const BfColumnReader *reader, size_t first, BfBatch *batch,
				uint64_t (*hash) (const char *bytes, size_t len))
{
	const BloomfamColumn *column = reader->column;
	bool		odd = false;
	size_t		longest = 0;
	uintptr_t	plain;
	uintptr_t	plain_end;
	size_t		i;

	find_plain(reader, first, batch->n, &plain, &plain_end);
	for (i = 0; i < batch->n; i++)
	{
		BloomfamAnswer answer = BLOOMFAM_ABSENT;
		const char *reason;
		BfString	string = {"", 0};

		if (column->layout == BLOOMFAM_PIECES && bf_is_null(column, column->first + i + first))
			answer = BLOOMFAM_NULL;
		else if (!bf_load_string(reader->values, reader->end, column->first + first + i,
								 &string))
			answer = BLOOMFAM_BAD;
		else if ((uintptr_t) string.bytes < plain ||
				 (uintptr_t) string.bytes + string.len > plain_end)
			answer = bf_check_text(string.bytes, string.len, column->any_bytes, &reason);
		odd |= answer != BLOOMFAM_ABSENT;
		longest = string.len > longest ? string.len : longest;
		batch->answers[i] = (uint8_t) answer;
		batch->hashes[i] = answer == BLOOMFAM_ABSENT ? hash(string.bytes, string.len) : 0;
	}
	batch->odd = odd;
	if (reader->is_any_text && longest > BF_NAME_BYTES)
		hash_names(reader, first, batch);
}

static inline uint64_t
hash_one_text(const char *bytes, size_t len)
{
	return bf_key_text(0, bytes, len);
}

static inline uint64_t
hash_one_bytea(const char *bytes, size_t len)
{
	return bf_key_bytes(0, bytes, len);
}

static inline uint64_t
hash_one_plain(const char *bytes, size_t len)
{
	return bf_plain_bytes(bytes, len);
}

static void
hash_strings(const BfColumnReader *reader, size_t first, BfBatch *batch)
{
	if (bf_type_is_plain(&reader->type))
		hash_strings_by(reader, first, batch, hash_one_plain);
	else if (reader->is_text)
		hash_strings_by(reader, first, batch, hash_one_text);
	else
		hash_strings_by(reader, first, batch, hash_one_bytea);
}

void
bf_column_hash(const BfColumnReader *reader, size_t first, size_t n, BfBatch *batch)
{
	const BloomfamColumn *column = reader->column;

	batch->n = n;
	batch->odd = false;
	batch->has_second = false;
	switch (reader->way)
	{
		case BF_BATCH_BY_KEY:
			hash_by_key(reader, first, batch);
			return;
		case BF_BATCH_STRINGS:
			hash_strings(reader, first, batch);
			break;
		default:
			hash_numbers(reader, first, batch);
			break;
	}
	if (any_null(column, column->first + first, n))
		mark_nulls(reader, first, batch);
}
