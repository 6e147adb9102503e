/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * column.c
 *	  Columns of keys: which columns are valid, and how a key of each meaning is read as a C value.
 *
 *-------------------------------------------------------------------------
 */
#include "client/lib/column.h"

#include "client/lib/column_values.h"
#include "client/lib/parse.h"

static const char bad_offsets[] = "its place in the column is not within the column";

/* ---- reading keys of each meaning ---- */

static BloomfamAnswer
read_written(const BfColumnReader *reader, size_t i, BfKey *key, const char **reason)
{
	BfString	string;

	if (!bf_load_string(reader->values, reader->end, i, &string))
		return bf_bad(bad_offsets, reason);
	return bf_parse(&reader->type, string.bytes, string.len, reader->values->any_bytes, key,
					reason);
}

/*
 * Reads a value of a column with meaning TEXT as a key of a text type.  Unlike a value in its
 * written form, it has only one reading (possible meaning).
 */
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

	if (!bf_load_string(reader->values, reader->end, i, &string))
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

/* Sets a key to integer times 10^-scale, as an int or a numeric according to the reader's type. */
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

	/*
	 * If keys are of type int, a decimal with digits other than zero after the decimal point equals
	 * no key.
	 */
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
	BloomfamAnswer answer = bf_load_integer(reader->values, i, &value, reason);

	switch (reader->type.id)
	{
		case BLOOMFAM_TYPE_NUMERIC:
			return set_decimal(reader,
							   answer == BLOOMFAM_ABSENT ? (__int128) value
														 : (__int128) (uint64_t) value,
							   0, key, reason);
		case BLOOMFAM_TYPE_OID:
			/* The server reads a negative OID as another number, so the key is refused. */
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
	return set_decimal(reader, BF_LOAD(__int128, reader->values->values, i), reader->values->scale,
					   key, reason);
}

static BloomfamAnswer
read_floating(const BfColumnReader *reader, size_t i, BfKey *key, const char **reason)
{
	double		number = reader->values->layout == BLOOMFAM_FLOAT32
							 ? (double) BF_LOAD(float, reader->values->values, i)
							 : BF_LOAD(double, reader->values->values, i);

	key->has_second = false;
	key->u.number = number;
	/*
	 * A column of type real stores the nearest real number, and a filter of doubles would not
	 * contain that number.  So a number that no real equals is not asked for.
	 */
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
	key->u.boolean = reader->values->layout == BLOOMFAM_BITS ? bf_bit_is_set(values, i)
															 : values[i] != 0;
	return BLOOMFAM_ABSENT;
}

/*
 * Reads a date, time or timestamp.  The largest and smallest numbers mean infinity to some
 * programs, such as DuckDB, and a finite moment to others, such as pyarrow; a key with such a
 * number gets two readings (possible meanings), which are both looked up.
 */
static BloomfamAnswer
read_instant(const BfColumnReader *reader, size_t i, BfKey *key, const char **reason)
{
	const BloomfamColumn *column = reader->values;
	BfInstant  *instant = &key->u.instant;
	int64_t		infinity = column->layout == BLOOMFAM_INT32 ? INT32_MAX : INT64_MAX;
	BloomfamAnswer answer = bf_load_integer(column, i, &instant->value, reason);

	instant->unit = column->scale;
	instant->epoch = BF_SINCE_1970;
	key->has_second = false;
	if (column->meaning == BLOOMFAM_TIME)
		return answer;
	/*
	 * A date counted in units of time gets no second reading, as a finite moment: the largest
	 * number of such units is not a whole day.
	 */
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
	BloomfamAnswer answer = bf_load_integer(reader->values, i, &value, reason);

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

/* ---- the reader for a column ---- */

/* Sets of layouts, represented as bits. */
#define BIT(layout)		(UINT32_C(1) << (layout))
#define STRINGS			(BIT(BLOOMFAM_FIXED) | BIT(BLOOMFAM_OFFSETS32) | BIT(BLOOMFAM_OFFSETS64) | \
						 BIT(BLOOMFAM_VIEWS) | BIT(BLOOMFAM_PIECES))
#define SIGNED			(BIT(BLOOMFAM_INT8) | BIT(BLOOMFAM_INT16) | BIT(BLOOMFAM_INT32) | \
						 BIT(BLOOMFAM_INT64))
#define INTEGERS		(SIGNED | BIT(BLOOMFAM_UINT8) | BIT(BLOOMFAM_UINT16) | \
						 BIT(BLOOMFAM_UINT32) | BIT(BLOOMFAM_UINT64))

/* Sets of types, represented as bits. */
#define WHOLE_TEXTS		(BIT(BLOOMFAM_TYPE_ANY_TEXT) | BIT(BLOOMFAM_TYPE_TEXT) | \
						 BIT(BLOOMFAM_TYPE_BPCHAR))
#define TEXTS			(WHOLE_TEXTS | BIT(BLOOMFAM_TYPE_NAME) | BIT(BLOOMFAM_TYPE_ENUM))
#define FLOATS			(BIT(BLOOMFAM_TYPE_FLOAT) | BIT(BLOOMFAM_TYPE_REAL) | \
						 BIT(BLOOMFAM_TYPE_DOUBLE))

/* The layouts and types that a meaning goes with. */
typedef struct MeaningRow
{
	const char *name;			/* The meaning's name in messages. */
	uint32_t	layouts;
	uint32_t	types;
	BfReadKey	read;
} MeaningRow;

static const MeaningRow meanings[] = {
	[BLOOMFAM_WRITTEN] = {"text forms", STRINGS, ~BIT(BLOOMFAM_TYPE_ROW), read_written},
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
	/*
	 * Columns of rows have no function that reads a value: bf_keys_open() opens their columns one
	 * by one.
	 */
	[BLOOMFAM_ROW] = {"rows", BIT(BLOOMFAM_COLUMNS), BIT(BLOOMFAM_TYPE_ROW), NULL},
};

#define MEANINGS	(sizeof(meanings) / sizeof(meanings[0]))

/* The maximum scale of a decimal; the minimum is its negative. */
#define MAX_SCALE	100000

static BloomfamStatus
no_column(BloomfamError *error, const char *why)
{
	(void) bf_fail(error, BLOOMFAM_BAD_ARGUMENT, "invalid column of keys");
	bf_detail(error, "Reason: %s.", why);
	return BLOOMFAM_BAD_ARGUMENT;
}

/*
 * Checks that the members of a column are valid for its layout.  Returns the reason why not, or
 * NULL.
 */
static const char *
check_column(const BloomfamColumn *column, bool is_dictionary)
{
	const BloomfamColumn *dictionary = column->dictionary;
	uint32_t	layouts;

	if (dictionary != NULL)
	{
		if (is_dictionary)
			return "a dictionary has a dictionary";
		if (dictionary->meaning == BLOOMFAM_ROW)
			return "a dictionary has rows";
		layouts = INTEGERS;
	}
	else if ((size_t) column->meaning >= MEANINGS)
		return "its meaning is unknown";
	else
		layouts = meanings[column->meaning].layouts;
	if ((size_t) column->layout > BLOOMFAM_COLUMNS || !(layouts & BIT(column->layout)))
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
	if (column->meaning >= BLOOMFAM_DATE && column->meaning <= BLOOMFAM_DURATION &&
		column->scale != 0 && column->scale != 3 && column->scale != 6 && column->scale != 9)
		return "the unit of its times is none of 0, 3, 6 and 9";
	return NULL;
}

/* Returns the fastest way to hash batches of a column's keys. */
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

/*
 * Returns the offset at which a column's last value ends; no value is read beyond it.  Returns 0
 * for a layout without offsets.
 */
static int64_t
end_of_values(const BloomfamColumn *values)
{
	size_t		last = values->first + values->n;

	if (values->n == 0 || values->all_null)
		return 0;
	if (values->layout == BLOOMFAM_OFFSETS32)
		return BF_LOAD(int32_t, values->offsets, last);
	if (values->layout == BLOOMFAM_OFFSETS64)
		return BF_LOAD(int64_t, values->offsets, last);
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
		bf_hint(error, type->id == BLOOMFAM_TYPE_ROW
						   ? "Give a column for each of the type's."
						   : "Convert the keys, or give them as texts that the server would "
							 "write.");
		return BLOOMFAM_WRONG_TYPE;
	}
	reader->way = batch_way(reader);
	reader->is_text = reader->values->meaning != BLOOMFAM_BYTES;
	reader->is_any_text = type->id == BLOOMFAM_TYPE_ANY_TEXT &&
						  reader->values->meaning == BLOOMFAM_WRITTEN;
	reader->end = end_of_values(reader->values);
	return BLOOMFAM_OK;
}
