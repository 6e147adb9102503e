/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * column.c
 *	  Columns of keys, read one key or one batch at a time; see column.h.
 *
 *-------------------------------------------------------------------------
 */
#include "client/lib/column.h"

#include "client/lib/parse.h"

static const char bad_offsets[] = "its place in the column is not within the column";

/* ---- values of single keys ---- */

/* A number of the machine's own order, at any address. */
#define LOAD(type, values, i) \
	__extension__({ \
		type		value_; \
		memcpy(&value_, (const char *) (values) + (i) * sizeof(type), sizeof(type)); \
		value_; \
	})

static inline bool
bit_is_set(const uint8_t *bits, size_t i)
{
	return bits[i / 8] >> (i % 8) & 1;
}

/* Is value i of a column, counted from the arrays' beginning, NULL? */
static inline bool
is_null(const BloomfamColumn *column, size_t i)
{
	return column->all_null ||
		   (column->validity != NULL && !bit_is_set(column->validity, i)) ||
		   (column->nulls != NULL && column->nulls[i] != 0) ||
		   (column->layout == BLOOMFAM_PIECES && column->dictionary == NULL &&
			LOAD(BloomfamPiece, column->values, i).bytes == NULL);
}

/* An integer of any layout. */
static BloomfamAnswer
load_integer(const BloomfamColumn *column, size_t i, int64_t *value, const char **reason)
{
	const void *values = column->values;
	uint64_t	large;

	switch (column->layout)
	{
		case BLOOMFAM_INT8:
			*value = LOAD(int8_t, values, i);
			return BLOOMFAM_ABSENT;
		case BLOOMFAM_INT16:
			*value = LOAD(int16_t, values, i);
			return BLOOMFAM_ABSENT;
		case BLOOMFAM_INT32:
			*value = LOAD(int32_t, values, i);
			return BLOOMFAM_ABSENT;
		case BLOOMFAM_INT64:
			*value = LOAD(int64_t, values, i);
			return BLOOMFAM_ABSENT;
		case BLOOMFAM_UINT8:
			*value = LOAD(uint8_t, values, i);
			return BLOOMFAM_ABSENT;
		case BLOOMFAM_UINT16:
			*value = LOAD(uint16_t, values, i);
			return BLOOMFAM_ABSENT;
		case BLOOMFAM_UINT32:
			*value = LOAD(uint32_t, values, i);
			return BLOOMFAM_ABSENT;
		default:
			large = LOAD(uint64_t, values, i);
			*value = (int64_t) large;
			if (large <= INT64_MAX)
				return BLOOMFAM_ABSENT;
			*reason = "it is out of the range of bigint";
			return BLOOMFAM_IMPOSSIBLE;
	}
}

/* Arrow's view: of up to 12 bytes, these; of more, the first four of them, a buffer, an offset. */
static bool
load_view(const BloomfamColumn *column, size_t i, BfString *string)
{
	const char *view = (const char *) column->values + 16 * i;
	int32_t		len = LOAD(int32_t, view, 0);
	int32_t		buffer = LOAD(int32_t, view, 2);
	int32_t		offset = LOAD(int32_t, view, 3);

	if (len < 0)
		return false;
	string->len = (size_t) len;
	string->bytes = view + 4;
	if (len <= 12)
		return true;
	if (buffer < 0 || (size_t) buffer >= column->nbuffers || offset < 0 ||
		(int64_t) offset + len > column->buffer_lens[buffer])
		return false;
	string->bytes = (const char *) column->buffers[buffer] + offset;
	return true;
}

/* Bytes of any layout; false where offsets are none. */
static inline bool
load_string(const BfColumnReader *reader, size_t i, BfString *string)
{
	const BloomfamColumn *column = reader->values;
	BloomfamPiece piece;
	int64_t		begin;
	int64_t		end;

	switch (column->layout)
	{
		case BLOOMFAM_FIXED:
			string->len = (size_t) column->width;
			/* of values without bytes there may be no array */
			string->bytes = column->width > 0
								? (const char *) column->values + i * string->len
								: "";
			return true;
		case BLOOMFAM_OFFSETS32:
			begin = LOAD(int32_t, column->offsets, i);
			end = LOAD(int32_t, column->offsets, i + 1);
			break;
		case BLOOMFAM_OFFSETS64:
			begin = LOAD(int64_t, column->offsets, i);
			end = LOAD(int64_t, column->offsets, i + 1);
			break;
		case BLOOMFAM_VIEWS:
			return load_view(column, i, string);
		default:
			piece = LOAD(BloomfamPiece, column->values, i);
			string->bytes = piece.bytes;
			string->len = piece.len;
			return true;
	}
	if (begin < 0 || end < begin || end > reader->end)
		return false;
	string->len = (size_t) (end - begin);
	/* of an empty column there may be no bytes at all */
	string->bytes = string->len > 0 ? (const char *) column->values + begin : "";
	return true;
}

/* ---- keys of single meanings ---- */

static BloomfamAnswer
read_written(const BfColumnReader *reader, size_t i, BfKey *key, const char **reason)
{
	BfString	string;

	if (!load_string(reader, i, &string))
		return bf_bad(bad_offsets, reason);
	return bf_parse(&reader->type, string.bytes, string.len, reader->values->any_bytes, key,
					reason);
}

/* Characters: what a text type makes of its own values, which is not what it makes of literals. */
static BloomfamAnswer
read_text(const BfColumnReader *reader, size_t i, BfKey *key, const char **reason)
{
	BloomfamAnswer answer = read_written(reader, i, key, reason);

	key->has_second = false;
	return answer;
}

static BloomfamAnswer
read_bytes(const BfColumnReader *reader, size_t i, BfKey *key, const char **reason)
{
	size_t		want = 0;
	BfString	string;

	if (!load_string(reader, i, &string))
		return bf_bad(bad_offsets, reason);
	key->is_hex = false;
	switch (reader->type.id)
	{
		case BLOOMFAM_TYPE_BYTEA:
			key->u.string = string;
			return BLOOMFAM_ABSENT;
		case BLOOMFAM_TYPE_UUID:
			want = 16;
			break;
		case BLOOMFAM_TYPE_MACADDR8:
			want = 8;
			break;
		case BLOOMFAM_TYPE_MACADDR:
			want = 6;
			break;
		default:
			want = 1;
			break;
	}
	if (string.len != want)
		return bf_bad("it has another number of bytes than its type", reason);
	memcpy(key->u.bytes, string.bytes, want);
	if (reader->type.id == BLOOMFAM_TYPE_CHAR)
		key->u.character = string.bytes[0];
	return BLOOMFAM_ABSENT;
}

/* An integer, or a decimal, as its type has it. */
static BloomfamAnswer
set_decimal(const BfColumnReader *reader, __int128 integer, int32_t scale, BfKey *key,
			const char **reason)
{
	if (reader->type.id == BLOOMFAM_TYPE_NUMERIC)
	{
		memset(&key->u.decimal, 0, sizeof(key->u.decimal));
		key->u.decimal.form = BF_DECIMAL_INTEGER;
		key->u.decimal.integer = integer;
		key->u.decimal.scale = scale;
		return BLOOMFAM_ABSENT;
	}

	/* int: nothing behind the point */
	for (; scale > 0 && integer != 0; scale--)
	{
		if (integer % 10 != 0)
		{
			*reason = "it is not an integer";
			return BLOOMFAM_IMPOSSIBLE;
		}
		integer /= 10;
	}
	for (; scale < 0 && integer != 0 && integer == (int64_t) integer; scale++)
		integer *= 10;
	if (integer != (int64_t) integer)
	{
		*reason = "it is out of the range of bigint";
		return BLOOMFAM_IMPOSSIBLE;
	}
	key->u.integer = (int64_t) integer;
	return BLOOMFAM_ABSENT;
}

static BloomfamAnswer
read_integer(const BfColumnReader *reader, size_t i, BfKey *key, const char **reason)
{
	int64_t		value;
	BloomfamAnswer answer = load_integer(reader->values, i, &value, reason);

	switch (reader->type.id)
	{
		case BLOOMFAM_TYPE_NUMERIC:
			return set_decimal(reader,
							   answer == BLOOMFAM_ABSENT ? (__int128) value
														 : (__int128) (uint64_t) value,
							   0, key, reason);
		case BLOOMFAM_TYPE_OID:
			/* the server takes a negative one for another number */
			if (answer != BLOOMFAM_ABSENT || value < 0 || value > UINT32_MAX)
				return bf_bad("it is not an integer from 0 to 4294967295", reason);
			break;
		default:
			break;
	}
	key->u.integer = value;
	return answer;
}

static BloomfamAnswer
read_decimal(const BfColumnReader *reader, size_t i, BfKey *key, const char **reason)
{
	return set_decimal(reader, LOAD(__int128, reader->values->values, i), reader->values->scale,
					   key, reason);
}

static BloomfamAnswer
read_floating(const BfColumnReader *reader, size_t i, BfKey *key, const char **reason)
{
	double		number = reader->values->layout == BLOOMFAM_FLOAT32
							 ? (double) LOAD(float, reader->values->values, i)
							 : LOAD(double, reader->values->values, i);

	key->has_second = false;
	key->u.number = number;
	/* a column of real holds the nearest one, and a filter of doubles would deny that */
	if (reader->type.id == BLOOMFAM_TYPE_REAL && number == number &&
		(double) (float) number != number)
	{
		*reason = "no real equals it";
		return BLOOMFAM_IMPOSSIBLE;
	}
	return BLOOMFAM_ABSENT;
}

static BloomfamAnswer
read_boolean(const BfColumnReader *reader, size_t i, BfKey *key, const char **reason)
{
	const uint8_t *values = reader->values->values;

	(void) reason;
	key->u.boolean = reader->values->layout == BLOOMFAM_BITS ? bit_is_set(values, i)
															 : values[i] != 0;
	return BLOOMFAM_ABSENT;
}

/*
 * Dates and times.  The largest and smallest numbers are infinite to some, such as DuckDB, and a
 * moment as others are to the rest, such as pyarrow.
 */
static BloomfamAnswer
read_instant(const BfColumnReader *reader, size_t i, BfKey *key, const char **reason)
{
	const BloomfamColumn *column = reader->values;
	BfInstant  *instant = &key->u.instant;
	int64_t		infinity = column->layout == BLOOMFAM_INT32 ? INT32_MAX : INT64_MAX;
	BloomfamAnswer answer = load_integer(column, i, &instant->value, reason);

	instant->unit = column->scale;
	instant->epoch = BF_SINCE_1970;
	key->has_second = false;
	if (column->meaning == BLOOMFAM_TIME)
		return answer;
	/* no unit has a whole day there */
	key->has_second = (instant->value == infinity || instant->value == -infinity) &&
					  (column->meaning != BLOOMFAM_DATE || column->layout == BLOOMFAM_INT32);
	if (instant->value == infinity)
		instant->epoch = BF_PLUS_INFINITY;
	else if (instant->value == -infinity)
		instant->epoch = BF_MINUS_INFINITY;
	else if (column->meaning == BLOOMFAM_DATE && column->layout == BLOOMFAM_INT64)
	{
		int64_t		day = 86400;
		int			decimals;

		for (decimals = 0; decimals < column->scale; decimals++)
			day *= 10;
		if (instant->value % day != 0)
		{
			*reason = "it is not a whole day";
			return BLOOMFAM_IMPOSSIBLE;
		}
		instant->value /= day;
	}
	return answer;
}

static BloomfamAnswer
read_duration(const BfColumnReader *reader, size_t i, BfKey *key, const char **reason)
{
	int32_t		unit = reader->values->scale;
	int64_t		value;
	BloomfamAnswer answer = load_integer(reader->values, i, &value, reason);

	key->u.span = (__int128) value * (unit == 0 ? 1000000 : unit == 3 ? 1000 : 1);
	if (unit == 9 && value % 1000 != 0)
	{
		*reason = "it is not a whole number of microseconds";
		return BLOOMFAM_IMPOSSIBLE;
	}
	if (unit == 9)
		key->u.span /= 1000;
	return answer;
}

/* ---- which of these ---- */

/* Layouts, as bits. */
#define BIT(layout)		(UINT32_C(1) << (layout))
#define STRINGS			(BIT(BLOOMFAM_FIXED) | BIT(BLOOMFAM_OFFSETS32) | BIT(BLOOMFAM_OFFSETS64) | \
						 BIT(BLOOMFAM_VIEWS) | BIT(BLOOMFAM_PIECES))
#define SIGNED			(BIT(BLOOMFAM_INT8) | BIT(BLOOMFAM_INT16) | BIT(BLOOMFAM_INT32) | \
						 BIT(BLOOMFAM_INT64))
#define INTEGERS		(SIGNED | BIT(BLOOMFAM_UINT8) | BIT(BLOOMFAM_UINT16) | \
						 BIT(BLOOMFAM_UINT32) | BIT(BLOOMFAM_UINT64))

/* Types, as bits. */
#define WHOLE_TEXTS		(BIT(BLOOMFAM_TYPE_ANY_TEXT) | BIT(BLOOMFAM_TYPE_TEXT) | \
						 BIT(BLOOMFAM_TYPE_BPCHAR))
#define TEXTS			(WHOLE_TEXTS | BIT(BLOOMFAM_TYPE_NAME) | BIT(BLOOMFAM_TYPE_ENUM))
#define FLOATS			(BIT(BLOOMFAM_TYPE_FLOAT) | BIT(BLOOMFAM_TYPE_REAL) | \
						 BIT(BLOOMFAM_TYPE_DOUBLE))

/* What goes together. */
typedef struct MeaningRow
{
	const char *name;			/* for messages */
	uint32_t	layouts;
	uint32_t	types;
	BfReadKey	read;
} MeaningRow;

static const MeaningRow meanings[] = {
	[BLOOMFAM_WRITTEN] = {"text forms", STRINGS, UINT32_MAX, read_written},
	[BLOOMFAM_INTEGER] = {"integers", INTEGERS,
						  BIT(BLOOMFAM_TYPE_INT) | BIT(BLOOMFAM_TYPE_NUMERIC) |
							  BIT(BLOOMFAM_TYPE_OID),
						  read_integer},
	[BLOOMFAM_FLOATING] = {"floats", BIT(BLOOMFAM_FLOAT32) | BIT(BLOOMFAM_FLOAT64), FLOATS,
						   read_floating},
	[BLOOMFAM_BOOLEAN] = {"booleans", BIT(BLOOMFAM_BITS) | BIT(BLOOMFAM_BOOLS),
						  BIT(BLOOMFAM_TYPE_BOOL), read_boolean},
	[BLOOMFAM_TEXT] = {"texts", STRINGS, TEXTS, read_text},
	[BLOOMFAM_BYTES] = {"bytes", STRINGS,
						BIT(BLOOMFAM_TYPE_BYTEA) | BIT(BLOOMFAM_TYPE_UUID) |
							BIT(BLOOMFAM_TYPE_MACADDR) | BIT(BLOOMFAM_TYPE_MACADDR8) |
							BIT(BLOOMFAM_TYPE_CHAR),
						read_bytes},
	[BLOOMFAM_DECIMAL] = {"decimals", BIT(BLOOMFAM_INT128),
						  BIT(BLOOMFAM_TYPE_NUMERIC) | BIT(BLOOMFAM_TYPE_INT), read_decimal},
	[BLOOMFAM_DATE] = {"dates", BIT(BLOOMFAM_INT32) | BIT(BLOOMFAM_INT64),
					   BIT(BLOOMFAM_TYPE_DATE), read_instant},
	[BLOOMFAM_TIME] = {"times", BIT(BLOOMFAM_INT32) | BIT(BLOOMFAM_INT64),
					   BIT(BLOOMFAM_TYPE_TIME), read_instant},
	[BLOOMFAM_TIMESTAMP] = {"timestamps", BIT(BLOOMFAM_INT64), BIT(BLOOMFAM_TYPE_TIMESTAMP),
							read_instant},
	[BLOOMFAM_TIMESTAMPTZ] = {"timestamps with time zone", BIT(BLOOMFAM_INT64),
							  BIT(BLOOMFAM_TYPE_TIMESTAMPTZ), read_instant},
	[BLOOMFAM_DURATION] = {"durations", BIT(BLOOMFAM_INT64), BIT(BLOOMFAM_TYPE_INTERVAL),
						   read_duration},
};

#define MEANINGS	(sizeof(meanings) / sizeof(meanings[0]))

/* The largest scale, of either sign, that a decimal may have. */
#define MAX_SCALE	100000

static BloomfamStatus
no_column(BloomfamError *error, const char *why)
{
	(void) bf_fail(error, BLOOMFAM_BAD_ARGUMENT, "invalid column of keys");
	bf_detail(error, "Reason: %s.", why);
	return BLOOMFAM_BAD_ARGUMENT;
}

/* Are the members of a column those of its layout?  NULL, or what is wrong. */
static const char *
check_column(const BloomfamColumn *column, bool is_dictionary)
{
	const BloomfamColumn *dictionary = column->dictionary;
	uint32_t	layouts;

	if (dictionary != NULL)
	{
		if (is_dictionary)
			return "a dictionary has a dictionary";
		layouts = INTEGERS;
	}
	else if ((size_t) column->meaning >= MEANINGS)
		return "its meaning is unknown";
	else
		layouts = meanings[column->meaning].layouts;
	if ((size_t) column->layout > BLOOMFAM_PIECES || !(layouts & BIT(column->layout)))
		return "its layout does not go with its meaning";
	if (column->n == 0 || column->all_null)
		return NULL;
	if (column->layout == BLOOMFAM_FIXED && column->width < 0)
		return "the width of its values is negative";
	if (column->layout == BLOOMFAM_OFFSETS32 || column->layout == BLOOMFAM_OFFSETS64)
		return column->offsets == NULL ? "there are no offsets" : NULL;
	if (column->values == NULL && !(column->layout == BLOOMFAM_FIXED && column->width == 0))
		return "there are no values";
	if (column->layout == BLOOMFAM_VIEWS && column->nbuffers > 0 &&
		(column->buffers == NULL || column->buffer_lens == NULL))
		return "there are no buffers";
	if (dictionary != NULL)
		return NULL;
	if (column->meaning == BLOOMFAM_DECIMAL &&
		(column->scale < -MAX_SCALE || column->scale > MAX_SCALE))
		return "the scale of its decimals is out of range";
	if (column->meaning >= BLOOMFAM_DATE && column->scale != 0 && column->scale != 3 &&
		column->scale != 6 && column->scale != 9)
		return "the unit of its times is none of 0, 3, 6 and 9";
	return NULL;
}

/* How batches of a column are hashed. */
static BfBatchWay
batch_way(const BfColumnReader *reader)
{
	const BloomfamColumn *column = reader->column;

	if (column->dictionary != NULL || column->all_null)
		return BF_BATCH_BY_KEY;
	if (((column->meaning == BLOOMFAM_TEXT || column->meaning == BLOOMFAM_WRITTEN) &&
		 (BIT(reader->type.id) & WHOLE_TEXTS)) ||
		(column->meaning == BLOOMFAM_BYTES && reader->type.id == BLOOMFAM_TYPE_BYTEA))
		return BF_BATCH_STRINGS;
	if (bf_type_is_plain(&reader->type))
		return BF_BATCH_BY_KEY;
	if (column->meaning == BLOOMFAM_INTEGER && reader->type.id == BLOOMFAM_TYPE_INT)
		return column->layout == BLOOMFAM_INT64	  ? BF_BATCH_INT64
			   : column->layout == BLOOMFAM_INT32 ? BF_BATCH_INT32
												  : BF_BATCH_BY_KEY;
	if (column->meaning == BLOOMFAM_FLOATING && column->layout == BLOOMFAM_FLOAT64 &&
		reader->type.id != BLOOMFAM_TYPE_REAL)
		return BF_BATCH_DOUBLE;
	return BF_BATCH_BY_KEY;
}

/* The last offset: nothing is read beyond what the column itself says to be its end. */
static int64_t
end_of_values(const BloomfamColumn *values)
{
	size_t		last = values->first + values->n;

	if (values->n == 0 || values->all_null)
		return 0;
	if (values->layout == BLOOMFAM_OFFSETS32)
		return LOAD(int32_t, values->offsets, last);
	if (values->layout == BLOOMFAM_OFFSETS64)
		return LOAD(int64_t, values->offsets, last);
	return 0;
}

BloomfamStatus
bf_column_open(BfColumnReader *reader, const BloomfamType *type, const BloomfamColumn *column,
			   BloomfamError *error)
{
	const char *wrong = check_column(column, false);
	const MeaningRow *row;

	if (wrong == NULL && column->dictionary != NULL)
		wrong = check_column(column->dictionary, true);
	if (wrong != NULL)
		return no_column(error, wrong);
	reader->column = column;
	reader->values = column->dictionary != NULL ? column->dictionary : column;
	reader->type = *type;
	row = &meanings[reader->values->meaning];
	reader->read = row->read;
	if (!(row->types & BIT(type->id)))
	{
		(void) bf_fail(error, BLOOMFAM_WRONG_TYPE, "%s are no keys of type %s", row->name,
					   bf_type_sql_name(type->id));
		bf_hint(error, "Convert the keys, or give them as texts that the server would write.");
		return BLOOMFAM_WRONG_TYPE;
	}
	reader->way = batch_way(reader);
	reader->is_text = reader->values->meaning != BLOOMFAM_BYTES;
	reader->is_any_text = type->id == BLOOMFAM_TYPE_ANY_TEXT &&
						  reader->values->meaning == BLOOMFAM_WRITTEN;
	reader->end = end_of_values(reader->values);
	return BLOOMFAM_OK;
}

/* ---- hashing ---- */

BfIndex
bf_column_index(const BloomfamColumn *column, size_t i)
{
	BfIndex		index = {is_null(column, column->first + i), UINT64_MAX};
	const char *reason;
	int64_t		at;

	if (!index.is_null &&
		load_integer(column, column->first + i, &at, &reason) == BLOOMFAM_ABSENT && at >= 0)
		index.at = (uint64_t) at;
	return index;
}

/* Where a key's value is among those that are read; false if its index is none. */
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
	if (is_null(reader->column, reader->column->first + i))
		return BLOOMFAM_NULL;
	if (!locate(reader, i, &at))
		return bf_bad("its index is not one of the dictionary", reason);
	if (reader->column->dictionary != NULL && is_null(reader->values, at))
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
		   !reader->column->all_null && locate(reader, i, &at) && load_string(reader, at, text);
}

uint64_t
bf_column_hash_text(const BfColumnReader *reader, const char *bytes, size_t len)
{
	return bf_type_is_plain(&reader->type) ? bf_plain_bytes(bytes, len)
										   : bf_key_text(0, bytes, len);
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

/* May one of these keys be NULL?  Looks at eight bits, or bytes, at a time. */
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
			if (!bit_is_set(column->validity, i))
				return true;
		for (; i + 8 <= end; i += 8)
			if (column->validity[i / 8] != 0xff)
				return true;
		for (; i < end; i++)
			if (!bit_is_set(column->validity, i))
				return true;
	}
	if (column->nulls != NULL)
	{
		for (i = at; i + 8 <= end; i += 8)
			if (LOAD(uint64_t, column->nulls + i, 0) != 0)
				return true;
		for (; i < end; i++)
			if (column->nulls[i] != 0)
				return true;
	}
	return false;
}

/* Marks the keys that are NULL, of a batch whose keys have hashes otherwise. */
static void
mark_nulls(const BfColumnReader *reader, size_t first, BfBatch *batch)
{
	const BloomfamColumn *column = reader->column;
	size_t		i;

	if (!batch->odd)
		memset(batch->answers, BLOOMFAM_ABSENT, batch->n);
	for (i = 0; i < batch->n; i++)
	{
		if (!is_null(column, column->first + first + i))
			continue;
		batch->answers[i] = BLOOMFAM_NULL;
		batch->hashes[i] = 0;
	}
	batch->odd = true;
}

/* Integers and floats: all are hashed, those under a NULL too, whatever is there. */
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
				batch->hashes[i] = (uint64_t) (int64_t) LOAD(int32_t, column->values, at + i);
			break;
		default:
			for (i = 0; i < batch->n; i++)
				batch->hashes[i] = bf_key_double_bits(LOAD(double, column->values, at + i));
			break;
	}
	bf_hash_u64_many(batch->hashes, batch->n);
}

#define HIGH_BITS	UINT64_C(0x8080808080808080)
#define LOW_BITS	UINT64_C(0x0101010101010101)

/* Are all of these bytes characters of ASCII, and none zero? */
static bool
is_plain_ascii(const char *bytes, size_t len)
{
	uint64_t	high = 0;
	uint64_t	not_zero = HIGH_BITS;
	size_t		i;

	for (i = 0; i + 8 <= len; i += 8)
	{
		uint64_t	word = LOAD(uint64_t, bytes + i, 0);

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
 * Which bytes of a batch's texts need no look at each text: in the usual order they stand in a row,
 * so that all can be seen at once.  None, if *begin is *end.
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
		from = LOAD(int32_t, column->offsets, at);
		to = LOAD(int32_t, column->offsets, at + n);
	}
	else if (column->layout == BLOOMFAM_OFFSETS64)
	{
		from = LOAD(int64_t, column->offsets, at);
		to = LOAD(int64_t, column->offsets, at + n);
	}
	else
		return;
	if (from < 0 || to <= from || to > reader->end ||
		!is_plain_ascii((const char *) column->values + from, (size_t) (to - from)))
		return;
	*begin = (uintptr_t) ((const char *) column->values + from);
	*end = (uintptr_t) ((const char *) column->values + to);
}

/* The other reading of texts that a name would cut, where there are such. */
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
			!load_string(reader, reader->column->first + first + i, &string))
			continue;
		len = bf_name_length(string.bytes, string.len);
		if (len < string.len)
			batch->second[i] = bf_column_hash_text(reader, string.bytes, len);
	}
}

/* Texts and bytes as they are, in a loop of their own for each hash. */
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

		if (column->layout == BLOOMFAM_PIECES && is_null(column, column->first + i + first))
			answer = BLOOMFAM_NULL;
		else if (!load_string(reader, column->first + first + i, &string))
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
