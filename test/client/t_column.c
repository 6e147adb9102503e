/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_column.c
 *	  Columns of keys in every layout and meaning, including Arrow arrays: their hashes are those of
 *	  the values.
 *
 * The expected hash of a value comes from src/keys, or from the text of the same value.
 *
 *-------------------------------------------------------------------------
 */
#include "columns.h"

/* ---- integers ---- */

static void
integers(void)
{
	static const int64_t numbers[] = {0, 1, -1, 100, -128, 127, 255, 32767, -32768, 65535, INT32_MAX, INT32_MIN, UINT32_MAX, INT64_MAX, INT64_MIN};
	static const struct
	{
		BloomfamLayout layout;
		int			size;
		bool		is_signed;
	}			layouts[] = {{BLOOMFAM_INT8, 1, true}, {BLOOMFAM_INT16, 2, true}, {BLOOMFAM_INT32, 4, true}, {BLOOMFAM_INT64, 8, true},
		{BLOOMFAM_UINT8, 1, false}, {BLOOMFAM_UINT16, 2, false}, {BLOOMFAM_UINT32, 4, false}, {BLOOMFAM_UINT64, 8, false}};
	size_t		i;
	size_t		j;

	for (i = 0; i < LENGTH(layouts); i++)
	{
		char		bytes[1 + 8 * LENGTH(numbers)];
		int64_t		stored[LENGTH(numbers)];
		BloomfamColumn column;
		Hashed		hashed;

		/* at an odd address */
		for (j = 0; j < LENGTH(numbers); j++)
		{
			memcpy(bytes + 1 + (size_t) layouts[i].size * j, &numbers[j], (size_t) layouts[i].size);
			stored[j] = layouts[i].size == 8 ? numbers[j]
				: layouts[i].is_signed		 ? (int64_t) ((uint64_t) numbers[j] << (64 - 8 * layouts[i].size)) >> (64 - 8 * layouts[i].size)
											 : (int64_t) ((uint64_t) numbers[j] & ((UINT64_C(1) << (8 * layouts[i].size)) - 1));
		}
		column = column_of(BLOOMFAM_INTEGER, layouts[i].layout, (char *) keep(bytes, 1 + (size_t) layouts[i].size * LENGTH(numbers)) + 1, LENGTH(numbers));
		hashed = hash_column("bigint", &column);
		for (j = 0; j < LENGTH(numbers); j++)
		{
			bool		too_large = !layouts[i].is_signed && stored[j] < 0;

			CHECK(hashed.answers[j] == (too_large ? BLOOMFAM_IMPOSSIBLE : BLOOMFAM_ABSENT));
			CHECKF(hashed.hashes[j] == (too_large ? 0 : bf_key_int(0, stored[j])), "layout %d, number %zu", layouts[i].layout, j);
		}
		hashed = hash_column("numeric", &column);
		for (j = 0; j < LENGTH(numbers); j++)
		{
			char		text[40];

			sprintf(text, layouts[i].is_signed ? "%" PRId64 : "%" PRIu64, stored[j]);
			CHECKF(hashed.hashes[j] == written("numeric", text), "numeric %s", text);
		}
		hashed = hash_column("oid", &column);
		for (j = 0; j < LENGTH(numbers); j++)
		{
			bool		fine = stored[j] >= 0 && stored[j] <= UINT32_MAX;

			CHECK(hashed.answers[j] == (fine ? BLOOMFAM_ABSENT : BLOOMFAM_BAD));
			CHECK(!fine || hashed.hashes[j] == bf_key_4_bytes(0, (uint32_t) stored[j]));
		}
		hashed = hash_column("parquet int32", &column);
		for (j = 0; j < LENGTH(numbers); j++)
		{
			BfPlainColumn int32 = {.type = BF_PLAIN_INT32};
			uint64_t	hash = 0;
			bool		fine = bf_plain_int(&int32, stored[j], &hash) && (layouts[i].is_signed || stored[j] >= 0);

			CHECK(hashed.answers[j] == (fine ? BLOOMFAM_ABSENT : BLOOMFAM_IMPOSSIBLE) && (!fine || hashed.hashes[j] == hash));
		}
		check_status("double precision", &column, BLOOMFAM_WRONG_TYPE, "integers");
		check_status("text", &column, BLOOMFAM_WRONG_TYPE, "integers");
		check_status("boolean", &column, BLOOMFAM_WRONG_TYPE, "integers");
		check_status("timestamp", &column, BLOOMFAM_WRONG_TYPE, "integers");
		forget();
	}
}

/* ---- floats, booleans ---- */

static void
floats(void)
{
	static const double doubles[] = {0, -0.0, 1.5, 0.1, 1e300, 5e-324, -1e10};
	double		values[LENGTH(doubles) + 3];
	float		singles[LENGTH(values)];
	uint8_t		bools[] = {0, 1, 2, 0, 255, 0, 0, 1, 1};
	uint8_t		bits[] = {0x96, 0x01};
	BloomfamColumn column;
	Hashed		hashed;
	size_t		n = LENGTH(values);
	size_t		i;

	memcpy(values, doubles, sizeof(doubles));
	values[LENGTH(doubles)] = (double) NAN;
	values[LENGTH(doubles) + 1] = (double) INFINITY;
	values[LENGTH(doubles) + 2] = -(double) INFINITY;
	for (i = 0; i < n; i++)
		singles[i] = (float) values[i];

	column = column_of(BLOOMFAM_FLOATING, BLOOMFAM_FLOAT64, keep(values, sizeof(values)), n);
	hashed = hash_column("double precision", &column);
	for (i = 0; i < n; i++)
		CHECK(hashed.hashes[i] == bf_key_double(0, values[i]));
	hashed = hash_column("real", &column);
	for (i = 0; i < n; i++)
	{
		bool		fine = (double) (float) values[i] == values[i] || isnan(values[i]);

		CHECK(hashed.answers[i] == (fine ? BLOOMFAM_ABSENT : BLOOMFAM_IMPOSSIBLE) && hashed.hashes[i] == (fine ? bf_key_double(0, values[i]) : 0));
	}
	hashed = hash_column("parquet float", &column);
	for (i = 0; i < n; i++)
		CHECKF(hashed.answers[i] == ((double) (float) values[i] == values[i] || isnan(values[i]) ? BLOOMFAM_ABSENT : BLOOMFAM_IMPOSSIBLE), "%g", values[i]);
	column = column_of(BLOOMFAM_FLOATING, BLOOMFAM_FLOAT32, keep(singles, sizeof(singles)), n);
	hashed = hash_column("double precision", &column);
	for (i = 0; i < n; i++)
		CHECK(hashed.hashes[i] == bf_key_double(0, (double) singles[i]));
	check_status("numeric", &column, BLOOMFAM_WRONG_TYPE, "floats");
	check_status("bigint", &column, BLOOMFAM_WRONG_TYPE, "floats");

	column = column_of(BLOOMFAM_BOOLEAN, BLOOMFAM_BOOLS, keep(bools, sizeof(bools)), sizeof(bools));
	hashed = hash_column("bool", &column);
	for (i = 0; i < sizeof(bools); i++)
		CHECK(hashed.hashes[i] == bf_key_bool(0, bools[i] != 0));
	column = column_of(BLOOMFAM_BOOLEAN, BLOOMFAM_BITS, keep(bits, sizeof(bits)), 9);
	hashed = hash_column("bool", &column);
	for (i = 0; i < 9; i++)
		CHECK(hashed.hashes[i] == bf_key_bool(0, bits[i / 8] >> (i % 8) & 1));
	check_status("bigint", &column, BLOOMFAM_WRONG_TYPE, "booleans");
	forget();
}

/* ---- decimals ---- */

static __int128
power(int n)
{
	__int128	result = 1;

	while (n-- > 0)
		result *= 10;
	return result;
}

static void
decimals(void)
{
	static const struct
	{
		int64_t		number;
		int			zeros;		/* that follow */
		int32_t		scale;
		const char *text;		/* as numeric */
		const char *integer;	/* as int; NULL: none */
	}			cases[] = {
		{0, 0, 5, "0", "0"},
		{15, 0, 1, "1.5", NULL},
		{-15, 0, 1, "-1.5", NULL},
		{1500, 0, 2, "15", "15"},
		{15, 0, -2, "1500", "1500"},
		{1, 37, 37, "1", "1"},
		{1, 38, 0, "100000000000000000000000000000000000000", NULL},
		{1, 18, 0, "1000000000000000000", "1000000000000000000"},
		{1, 19, 0, "10000000000000000000", NULL},
		{1, 0, -40, "1e40", NULL},
		{1, 0, 40, "1e-40", NULL},
		{0, 0, -100000, "0", "0"},
		{INT64_MIN, 0, 0, "-9223372036854775808", "-9223372036854775808"},
		{INT64_MAX, 3, 3, "9223372036854775807", "9223372036854775807"},
	};
	BloomfamColumn column;
	__int128	value;
	size_t		i;

	for (i = 0; i < LENGTH(cases); i++)
	{
		Hashed		hashed;

		value = cases[i].number * power(cases[i].zeros);
		column = column_of(BLOOMFAM_DECIMAL, BLOOMFAM_INT128, keep(&value, 16), 1);
		column.scale = cases[i].scale;
		hashed = hash_column("numeric", &column);
		CHECKF(hashed.hashes[0] == written("numeric", cases[i].text), "%s", cases[i].text);
		hashed = hash_column("bigint", &column);
		CHECKF(cases[i].integer == NULL ? hashed.answers[0] == BLOOMFAM_IMPOSSIBLE : hashed.hashes[0] == written("bigint", cases[i].integer), "%s", cases[i].text);
		forget();
	}
	value = 12345;
	column = column_of(BLOOMFAM_DECIMAL, BLOOMFAM_INT128, &value, 1);
	column.scale = 2;
	CHECK(hash_column("parquet decimal(9,2)", &column).hashes[0] == bf_plain_hash_le(12345, 4));
	CHECK(hash_column("parquet decimal(9,3)", &column).hashes[0] == bf_plain_hash_le(123450, 4));
	CHECK(hash_column("parquet decimal(9,1)", &column).answers[0] == BLOOMFAM_IMPOSSIBLE);
	column.scale = 1000000;
	check_status("numeric", &column, BLOOMFAM_BAD_ARGUMENT, "a scale out of range");
	forget();
}

/* ---- dates and times ---- */

typedef struct Instant
{
	BloomfamMeaning meaning;
	BloomfamLayout layout;
	int32_t		unit;
	int64_t		value;
	const char *type;
	const char *text;			/* NULL: no such key */
} Instant;

static const Instant instants[] = {
	{BLOOMFAM_DATE, BLOOMFAM_INT32, 0, 0, "date", "1970-01-01"},
	{BLOOMFAM_DATE, BLOOMFAM_INT32, 0, 19782, "date", "2024-02-29"},
	{BLOOMFAM_DATE, BLOOMFAM_INT32, 0, -1, "date", "1969-12-31"},
	{BLOOMFAM_DATE, BLOOMFAM_INT32, 0, -2440588, "date", "4714-11-24 BC"},
	{BLOOMFAM_DATE, BLOOMFAM_INT32, 0, -2440589, "date", NULL},
	{BLOOMFAM_DATE, BLOOMFAM_INT32, 0, 2145042905, "date", "5874897-12-31"},
	{BLOOMFAM_DATE, BLOOMFAM_INT32, 0, 2145042906, "date", NULL},
	{BLOOMFAM_DATE, BLOOMFAM_INT32, 0, INT32_MAX, "date", "infinity"},
	{BLOOMFAM_DATE, BLOOMFAM_INT32, 0, -INT32_MAX, "date", "-infinity"},
	{BLOOMFAM_DATE, BLOOMFAM_INT32, 0, INT32_MIN, "date", NULL},
	{BLOOMFAM_DATE, BLOOMFAM_INT64, 3, INT64_C(19782) * 86400000, "date", "2024-02-29"},
	{BLOOMFAM_DATE, BLOOMFAM_INT64, 3, -86400000, "date", "1969-12-31"},
	{BLOOMFAM_DATE, BLOOMFAM_INT64, 3, 1, "date", NULL},
	{BLOOMFAM_DATE, BLOOMFAM_INT64, 3, INT64_MIN, "date", NULL},
	{BLOOMFAM_DATE, BLOOMFAM_INT64, 0, 86400, "date", "1970-01-02"},
	{BLOOMFAM_TIME, BLOOMFAM_INT32, 0, 45296, "time", "12:34:56"},
	{BLOOMFAM_TIME, BLOOMFAM_INT32, 3, 45296789, "time", "12:34:56.789"},
	{BLOOMFAM_TIME, BLOOMFAM_INT64, 6, INT64_C(45296789001), "time", "12:34:56.789001"},
	{BLOOMFAM_TIME, BLOOMFAM_INT64, 9, INT64_C(45296789001000), "time", "12:34:56.789001"},
	{BLOOMFAM_TIME, BLOOMFAM_INT64, 9, INT64_C(45296789001001), "time", NULL},
	{BLOOMFAM_TIME, BLOOMFAM_INT64, 6, INT64_C(86400000000), "time", "24:00:00"},
	{BLOOMFAM_TIME, BLOOMFAM_INT64, 6, INT64_C(86400000001), "time", NULL},
	{BLOOMFAM_TIME, BLOOMFAM_INT32, 0, -1, "time", NULL},
	{BLOOMFAM_TIME, BLOOMFAM_INT64, 0, INT64_MAX, "time", NULL},
	{BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, 0, 0, "timestamp", "1970-01-01 00:00:00"},
	{BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, 0, -1, "timestamp", "1969-12-31 23:59:59"},
	{BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, 3, -1, "timestamp", "1969-12-31 23:59:59.999"},
	{BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, 6, -1, "timestamp", "1969-12-31 23:59:59.999999"},
	{BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, 9, -1000, "timestamp", "1969-12-31 23:59:59.999999"},
	{BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, 9, -1, "timestamp", NULL},
	{BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, 9, INT64_C(1709208000123456000), "timestamp", "2024-02-29 12:00:00.123456"},
	{BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, 0, INT64_C(9224318015999), "timestamp", "294276-12-31 23:59:59"},
	{BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, 0, INT64_C(9224318016000), "timestamp", NULL},
	{BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, 0, -INT64_C(210866803200), "timestamp", "4714-11-24 00:00:00 BC"},
	{BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, 0, -INT64_C(210866803201), "timestamp", NULL},
	{BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, 9, INT64_MAX, "timestamp", "infinity"},
	{BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, 3, INT64_MAX, "timestamp", "infinity"},
	{BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, 6, -INT64_MAX, "timestamp", "-infinity"},
	{BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, 6, INT64_MAX - 1, "timestamp", "294247-01-10 04:00:54.775806"},
	{BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, 9, -INT64_MAX, "timestamp", "-infinity"},
	{BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, 6, INT64_MIN, "timestamp", NULL},
	{BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, 0, INT64_MAX - 1, "timestamp", NULL},
	{BLOOMFAM_TIMESTAMPTZ, BLOOMFAM_INT64, 6, INT64_C(1709208000000000), "timestamptz", "2024-02-29 14:00:00+02"},
	{BLOOMFAM_DURATION, BLOOMFAM_INT64, 0, -1, "interval", "-00:00:01"},
	{BLOOMFAM_DURATION, BLOOMFAM_INT64, 3, 86400500, "interval", "1 day 00:00:00.5"},
	{BLOOMFAM_DURATION, BLOOMFAM_INT64, 6, INT64_MIN, "interval", "-2562047788:00:54.775808"},
	{BLOOMFAM_DURATION, BLOOMFAM_INT64, 9, -5000, "interval", "-00:00:00.000005"},
	{BLOOMFAM_DURATION, BLOOMFAM_INT64, 9, 1, "interval", NULL},
	{BLOOMFAM_DURATION, BLOOMFAM_INT64, 0, INT64_C(9223372036854), "interval", "2562047788:00:54"},
	{BLOOMFAM_DATE, BLOOMFAM_INT32, 0, 19782, "parquet date", "2024-02-29"},
	{BLOOMFAM_TIME, BLOOMFAM_INT64, 6, INT64_C(45296789000), "parquet time(3)", "12:34:56.789"},
	{BLOOMFAM_TIME, BLOOMFAM_INT64, 6, INT64_C(45296789001), "parquet time(3)", NULL},
	{BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, 9, INT64_C(1709208000123456000), "parquet timestamp(6)", "2024-02-29 12:00:00.123456"},
	{BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, 9, INT64_C(1709208000123456000), "parquet timestamp(9)", "2024-02-29 12:00:00.123456"},
	{BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, 6, INT64_C(1709208000123456), "parquet timestamp(3)", NULL},
	{BLOOMFAM_TIMESTAMPTZ, BLOOMFAM_INT64, 6, INT64_MAX, "parquet timestamptz(9)", "infinity"},
};

/*
 * Tests a number that means infinity to some programs, and to others a moment that the server has:
 * the key is found if one reading is in the filter, and cannot be added.
 */
static void
infinite(void)
{
	static const char *const written_as[] = {"infinity", "294247-01-10 04:00:54.775807", "-infinity", "2000-01-01 00:00:00"};
	int64_t		number = INT64_MAX;
	size_t		i;

	for (i = 0; i < 2 * LENGTH(written_as); i++)
	{
		bool		zoned = i % 2 == 1;
		BloomfamType type = client_type(zoned ? "timestamptz" : "timestamp");
		char		text[50];
		BloomfamPiece piece = {text, (size_t) sprintf(text, "%s%s", written_as[i / 2], zoned && strstr(written_as[i / 2], "inf") == NULL ? "+00" : "")};
		BloomfamColumn column = bloomfam_pieces(BLOOMFAM_WRITTEN, &piece, 1);
		BloomfamColumn numbers = column_of(zoned ? BLOOMFAM_TIMESTAMPTZ : BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, &number, 1);
		BloomfamBuilder *builder;
		BloomfamFilter *filter;
		BloomfamError error;
		uint8_t		answer;

		numbers.scale = 6;
		CHECK(bloomfam_builder_make(NULL, &type, "ribbon", 1e-9, 0, &builder, &error) == BLOOMFAM_OK);
		CHECK(bloomfam_builder_add(builder, &numbers, NULL, NULL, &error) == BLOOMFAM_BAD_KEY && strstr(error.detail, "infinity to some") != NULL);
		bloomfam_builder_free(builder);
		CHECK(bloomfam_builder_make(NULL, &type, "ribbon", 1e-9, 0, &builder, &error) == BLOOMFAM_OK);
		CHECK(bloomfam_builder_add(builder, &column, NULL, NULL, &error) == BLOOMFAM_OK);
		CHECK(bloomfam_builder_finish(builder, &filter, &error) == BLOOMFAM_OK);
		bloomfam_builder_free(builder);
		CHECK(bloomfam_ask(filter, NULL, &numbers, &answer, NULL, &error) == BLOOMFAM_OK);
		CHECKF(answer == (i < 4 ? BLOOMFAM_MAYBE : BLOOMFAM_ABSENT), "asked of %s: answer %d", text, answer);
		bloomfam_close(filter);
	}
}

static void
times(void)
{
	static const char *const types[] = {"date", "time", "timestamp", "timestamptz", "interval", "bigint", "text", "timetz"};
	int64_t		nanos = 1;
	BloomfamColumn column;
	size_t		i;
	size_t		j;

	for (i = 0; i < LENGTH(instants); i++)
	{
		const Instant *instant = &instants[i];
		int32_t		value32 = (int32_t) instant->value;
		bool		is_32 = instant->layout == BLOOMFAM_INT32;
		Hashed		hashed;

		column = column_of(instant->meaning, instant->layout, is_32 ? keep(&value32, 4) : keep(&instant->value, 8), 1);
		column.scale = instant->unit;
		hashed = hash_column(instant->type, &column);
		if (instant->text == NULL)
			CHECKF(hashed.answers[0] == BLOOMFAM_IMPOSSIBLE, "%s %" PRId64 ": answer %d", instant->type, instant->value, hashed.answers[0]);
		else
			CHECKF(hashed.answers[0] == BLOOMFAM_ABSENT && hashed.hashes[0] == written(instant->type, instant->text), "%s %s: answer %d", instant->type, instant->text, hashed.answers[0]);
		for (j = 0; j < LENGTH(types); j++)
			if (strncmp(instant->type, "parquet", 7) != 0)
				check_status(types[j], &column, strcmp(types[j], instant->type) == 0 ? BLOOMFAM_OK : BLOOMFAM_WRONG_TYPE, instant->type);
		forget();
	}

	/* a nanosecond that a Parquet file holds */
	column = column_of(BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, &nanos, 1);
	column.scale = 9;
	CHECK(hash_column("parquet timestamp(9)", &column).hashes[0] == bf_plain_hash_le(1, 8));
	column.scale = 4;
	check_status("timestamp", &column, BLOOMFAM_BAD_ARGUMENT, "a unit that is none");
	forget();
}

/* ---- bytes of a fixed size ---- */

static void
fixed(void)
{
	uint8_t		bytes[48];
	BloomfamColumn column;
	Hashed		hashed;
	size_t		i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t) (i * 37);
	column = column_of(BLOOMFAM_BYTES, BLOOMFAM_FIXED, keep(bytes, 48), 3);
	column.width = 16;
	hashed = hash_column("uuid", &column);
	for (i = 0; i < 3; i++)
		CHECK(hashed.hashes[i] == bf_key_uuid(0, bytes + 16 * i));
	CHECK(hash_column("parquet uuid", &column).hashes[1] == bf_plain_bytes(bytes + 16, 16));
	CHECK(hash_column("bytea", &column).hashes[2] == bf_key_bytes(0, bytes + 32, 16));
	CHECK(hash_column("macaddr", &column).counts.bad == 3);
	column.width = 6;
	column.n = 8;
	CHECK(hash_column("macaddr", &column).hashes[7] == bf_key_macaddr(0, bytes + 42));
	column.width = 8;
	column.n = 6;
	CHECK(hash_column("macaddr8", &column).hashes[5] == bf_key_macaddr8(0, bytes + 40));
	column.width = -1;
	check_status("bytea", &column, BLOOMFAM_BAD_ARGUMENT, "a negative width");
	column.width = 0;
	column.values = NULL;
	CHECK(hash_column("bytea", &column).hashes[3] == bf_key_bytes(0, "", 0));
	column.values = bytes;
	column.layout = BLOOMFAM_INT64;
	check_status("bytea", &column, BLOOMFAM_BAD_ARGUMENT, "bytes that are integers");
	column.layout = (BloomfamLayout) 50;
	check_status("bytea", &column, BLOOMFAM_BAD_ARGUMENT, "an unknown layout");
	column.layout = BLOOMFAM_PIECES;
	column.meaning = (BloomfamMeaning) 50;
	check_status("bytea", &column, BLOOMFAM_BAD_ARGUMENT, "an unknown meaning");
	forget();
}

/* ---- NULLs, slices, dictionaries: of numbers at random, in batches ---- */

static void
nulls(void)
{
	enum
	{
		N = 3000
	};
	static int64_t numbers[N];
	static uint8_t bits[N / 8 + 1];
	static uint8_t mask[N];
	int			trial;

	for (trial = 0; trial < 300; trial++)
	{
		BloomfamColumn column;
		Hashed		hashed;
		bool		by_bits = trial % 2 == 0;
		bool		by_mask = trial % 3 == 0;
		uint64_t	rare = trial < 100 ? 5 : 2000;
		uint64_t	null_count = 0;
		size_t		first = test_below(N);
		size_t		i;

		memset(bits, 0xff, sizeof(bits));
		memset(mask, 0, sizeof(mask));
		for (i = 0; i < N; i++)
		{
			numbers[i] = (int64_t) test_random();
			if (test_below(rare) == 0)
				bits[i / 8] &= (uint8_t) ~(1 << (i % 8));
			if (test_below(rare) == 0)
				mask[i] = (uint8_t) (1 + test_below(255));
		}
		column = bloomfam_int64s(keep(numbers, sizeof(numbers)), test_below(N - first + 1));
		column.first = first;
		column.validity = by_bits ? keep(bits, sizeof(bits)) : NULL;
		column.nulls = by_mask ? keep(mask, sizeof(mask)) : NULL;
		hashed = hash_column(trial % 5 == 0 ? "numeric" : "bigint", &column);
		for (i = 0; i < column.n; i++)
		{
			bool		null = (by_bits && !(bits[(first + i) / 8] >> ((first + i) % 8) & 1)) || (by_mask && mask[first + i] != 0);

			null_count += null;
			CHECK(hashed.answers[i] == (null ? BLOOMFAM_NULL : BLOOMFAM_ABSENT));
			if (null || trial % 5 != 0)
				CHECK(hashed.hashes[i] == (null ? 0 : bf_key_int(0, numbers[first + i])));
			if (null && null_count == 1)
				CHECK(hashed.counts.first_odd == i);
		}
		CHECK(hashed.counts.null == null_count && (null_count > 0 || hashed.counts.first_odd == BLOOMFAM_NO_ROW));
		column.all_null = true;
		column.values = NULL;
		CHECK(hash_column("uuid", &(BloomfamColumn) {.meaning = BLOOMFAM_WRITTEN, .layout = BLOOMFAM_PIECES, .all_null = true, .n = 5}).counts.null == 5);
		CHECK(hash_column("bigint", &column).counts.null == column.n);
		forget();
	}
}

/* Makes a filter of the integers from 0 to 999. */
static BloomfamFilter *
filter_of_integers(void)
{
	BloomfamType type = client_type("bigint");
	BloomfamBuilder *builder;
	BloomfamFilter *filter;
	BloomfamError error;
	int64_t		numbers[1000];
	BloomfamColumn column = bloomfam_int64s(numbers, 1000);
	size_t		i;

	for (i = 0; i < 1000; i++)
		numbers[i] = (int64_t) i;
	if (bloomfam_builder_make(NULL, &type, "ribbon", 1e-9, 0, &builder, &error) != BLOOMFAM_OK || bloomfam_builder_add(builder, &column, NULL, NULL, &error) != BLOOMFAM_OK ||
		bloomfam_builder_finish(builder, &filter, &error) != BLOOMFAM_OK)
		exit(2);
	bloomfam_builder_free(builder);
	return filter;
}

static void
dictionaries(void)
{
	static const char *const words[] = {"1", "2000", "", "999", "x", "99999999999999999999"};
	static const uint8_t expected[] = {BLOOMFAM_MAYBE, BLOOMFAM_ABSENT, BLOOMFAM_BAD, BLOOMFAM_MAYBE, BLOOMFAM_BAD, BLOOMFAM_IMPOSSIBLE, BLOOMFAM_NULL};
	BloomfamFilter *filter = filter_of_integers();
	int			trial;

	for (trial = 0; trial < 400; trial++)
	{
		BloomfamPiece pieces[LENGTH(words) + 1];
		int32_t		indices[2000];
		uint8_t		bits[250];
		uint8_t		answers[2000];
		BloomfamColumn values;
		BloomfamColumn column;
		BloomfamCounts counts;
		BloomfamError error;
		TestHost	host;
		uint64_t	sums[6] = {0};
		size_t		n = test_below(3) == 0 ? test_below(7) : test_below(2000);
		size_t		i;

		for (i = 0; i < LENGTH(words); i++)
			pieces[i] = (BloomfamPiece) {words[i], strlen(words[i])};
		pieces[LENGTH(words)] = (BloomfamPiece) {NULL, 0};
		for (i = 0; i < 2000; i++)
			indices[i] = (int32_t) test_below(50) == 0 ? (int32_t) test_random() : (int32_t) test_below(LENGTH(pieces));
		memset(bits, 0xff, sizeof(bits));
		bits[0] = 0xfb;
		values = bloomfam_pieces(BLOOMFAM_WRITTEN, keep(pieces, sizeof(pieces)), LENGTH(pieces));
		column = column_of(BLOOMFAM_WRITTEN, BLOOMFAM_INT32, keep(indices, n * 4), n);
		column.dictionary = &values;
		column.validity = trial % 2 == 0 ? keep(bits, n / 8 + 1) : NULL;
		client_host_init(&host);
		memset(answers, 0xaa, sizeof(answers));
		CHECK(bloomfam_ask(filter, NULL, &column, answers, &counts, &error) == BLOOMFAM_OK);
		for (i = 0; i < n; i++)
		{
			uint8_t		want = indices[i] >= 0 && indices[i] < (int32_t) LENGTH(pieces) ? expected[indices[i]] : BLOOMFAM_BAD;

			if (column.validity != NULL && i == 2)
				want = BLOOMFAM_NULL;
			CHECKF(answers[i] == want, "key %zu of %zu, index %d: %d, not %d", i, n, indices[i], answers[i], want);
			sums[want]++;
		}
		CHECK(counts.absent == sums[0] && counts.maybe == sums[1] && counts.impossible == sums[2] && counts.null == sums[3] && counts.bad == sums[5]);
		forget();
	}
	bloomfam_close(filter);
}

/* ---- Arrow ---- */

static void
release_schema(struct ArrowSchema *schema)
{
	schema->release = NULL;
}

static void
release_array(struct ArrowArray *array)
{
	array->release = NULL;
}

static void
arrow(void)
{
	static const struct
	{
		const char *format;
		BloomfamMeaning meaning;
		BloomfamLayout layout;
		int			scale;
		int			buffers;	/* 0: an unknown format */
	}			formats[] = {
		{"c", BLOOMFAM_INTEGER, BLOOMFAM_INT8, 0, 2},
		{"L", BLOOMFAM_INTEGER, BLOOMFAM_UINT64, 0, 2},
		{"i", BLOOMFAM_INTEGER, BLOOMFAM_INT32, 0, 2},
		{"f", BLOOMFAM_FLOATING, BLOOMFAM_FLOAT32, 0, 2},
		{"g", BLOOMFAM_FLOATING, BLOOMFAM_FLOAT64, 0, 2},
		{"b", BLOOMFAM_BOOLEAN, BLOOMFAM_BITS, 0, 2},
		{"u", BLOOMFAM_TEXT, BLOOMFAM_OFFSETS32, 0, 3},
		{"U", BLOOMFAM_TEXT, BLOOMFAM_OFFSETS64, 0, 3},
		{"z", BLOOMFAM_BYTES, BLOOMFAM_OFFSETS32, 0, 3},
		{"Z", BLOOMFAM_BYTES, BLOOMFAM_OFFSETS64, 0, 3},
		{"vu", BLOOMFAM_TEXT, BLOOMFAM_VIEWS, 0, 4},
		{"vz", BLOOMFAM_BYTES, BLOOMFAM_VIEWS, 0, 3},
		{"w:16", BLOOMFAM_BYTES, BLOOMFAM_FIXED, 0, 2},
		{"d:18,2", BLOOMFAM_DECIMAL, BLOOMFAM_INT128, 2, 2},
		{"d:18,-2,128", BLOOMFAM_DECIMAL, BLOOMFAM_INT128, -2, 2},
		{"tdD", BLOOMFAM_DATE, BLOOMFAM_INT32, 0, 2},
		{"tdm", BLOOMFAM_DATE, BLOOMFAM_INT64, 3, 2},
		{"tts", BLOOMFAM_TIME, BLOOMFAM_INT32, 0, 2},
		{"ttm", BLOOMFAM_TIME, BLOOMFAM_INT32, 3, 2},
		{"ttu", BLOOMFAM_TIME, BLOOMFAM_INT64, 6, 2},
		{"ttn", BLOOMFAM_TIME, BLOOMFAM_INT64, 9, 2},
		{"tss:", BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, 0, 2},
		{"tsu:", BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, 6, 2},
		{"tsn:UTC", BLOOMFAM_TIMESTAMPTZ, BLOOMFAM_INT64, 9, 2},
		{"tsm:Europe/Berlin", BLOOMFAM_TIMESTAMPTZ, BLOOMFAM_INT64, 3, 2},
		{"tDn", BLOOMFAM_DURATION, BLOOMFAM_INT64, 9, 2},
		{"e", 0, 0, 0, 0},
		{"", 0, 0, 0, 0},
		{"+l", 0, 0, 0, 0},
		{"d:50,2,256", 0, 0, 0, 0},
		{"d:18", 0, 0, 0, 0},
		{"d:18,x", 0, 0, 0, 0},
		{"w:", 0, 0, 0, 0},
		{"w:-1", 0, 0, 0, 0},
		{"w:16x", 0, 0, 0, 0},
		{"w:9999999", 0, 0, 0, 0},
		{"tiM", 0, 0, 0, 0},
		{"uu", 0, 0, 0, 0},
		{"tdDx", 0, 0, 0, 0},
	};
	size_t		i;

	for (i = 0; i < LENGTH(formats); i++)
	{
		struct ArrowSchema schema = {.format = formats[i].format, .release = release_schema};
		const void *buffers[4] = {NULL, "values", "more", "lengths"};
		struct ArrowArray array = {.length = 3, .null_count = 1, .offset = 2, .n_buffers = formats[i].buffers, .buffers = buffers, .release = release_array};
		BloomfamColumn columns[2];
		BloomfamError error;
		BloomfamStatus status;
		int64_t		n;

		client_error_init(&error);
		status = bloomfam_arrow(&schema, &array, columns, &error);
		if (formats[i].buffers == 0)
		{
			CHECKF(status == BLOOMFAM_WRONG_TYPE && client_error_is_whole(&error, status), "%s: status %d", formats[i].format, status);
			continue;
		}
		if (!CHECKF(status == BLOOMFAM_OK, "%s: %s", formats[i].format, error.detail))
			continue;
		CHECKF(columns[0].meaning == formats[i].meaning && columns[0].layout == formats[i].layout && columns[0].scale == formats[i].scale, "%s", formats[i].format);
		CHECK(columns[0].n == 3 && columns[0].first == 2 && columns[0].dictionary == NULL);
		if (formats[i].layout == BLOOMFAM_VIEWS)
			CHECK(columns[0].nbuffers == (size_t) formats[i].buffers - 3 && columns[0].buffer_lens == buffers[formats[i].buffers - 1]);
		if (formats[i].layout == BLOOMFAM_FIXED)
			CHECK(columns[0].width == 16);
		CHECK(bloomfam_arrow(&schema, &array, columns, NULL) == BLOOMFAM_OK);

		/* arrays that do not fit */
		for (n = 0; n < formats[i].buffers - (formats[i].layout == BLOOMFAM_VIEWS && formats[i].buffers == 4); n++)
		{
			array.n_buffers = n;
			CHECKF(bloomfam_arrow(&schema, &array, columns, &error) == BLOOMFAM_BAD_ARGUMENT, "%s with %" PRId64 " buffers", formats[i].format, n);
		}
		array.n_buffers = formats[i].buffers;
		array.length = -1;
		CHECK(bloomfam_arrow(&schema, &array, columns, &error) == BLOOMFAM_BAD_ARGUMENT);
		array.length = INT64_MAX;
		CHECK(bloomfam_arrow(&schema, &array, columns, &error) == BLOOMFAM_BAD_ARGUMENT);
		array.length = 3;
		array.release = NULL;
		CHECK(bloomfam_arrow(&schema, &array, columns, &error) == BLOOMFAM_BAD_ARGUMENT);
	}
}

/* Tests Arrow arrays with values, slices, NULLs and dictionaries, from the array to the answers. */
static void
arrow_values(void)
{
	struct ArrowSchema value_schema = {.format = "u", .release = release_schema};
	struct ArrowSchema schema = {.format = "c", .release = release_schema, .dictionary = &value_schema};
	BloomfamFilter *filter = filter_of_integers();
	BloomfamColumn columns[2];
	BloomfamError error;
	int32_t    *offsets = keep((int32_t[]) {0, 1, 3, 6, 10}, 20);
	const void *value_buffers[3] = {NULL, offsets, keep("5" "10" "999" "5000", 10)};
	struct ArrowArray values = {.length = 4, .n_buffers = 3, .buffers = value_buffers, .release = release_array};
	const void *buffers[2] = {keep("\x1f", 1), keep((int8_t[]) {3, 0, 1, 2, 3, 0}, 6)};
	struct ArrowArray array = {.length = 5, .null_count = -1, .offset = 1, .n_buffers = 2, .buffers = buffers, .release = release_array, .dictionary = &values};
	int64_t		numbers[] = {7, 8, 5000, -1};
	const void *number_buffers[2] = {keep("\x0b", 1), keep(numbers, sizeof(numbers))};
	struct ArrowSchema number_schema = {.format = "l", .release = release_schema};
	struct ArrowArray number_array = {.length = 3, .null_count = 1, .offset = 1, .n_buffers = 2, .buffers = number_buffers, .release = release_array};
	uint8_t		answers[8];

	CHECK(bloomfam_arrow(&number_schema, &number_array, columns, &error) == BLOOMFAM_OK);
	CHECK(bloomfam_ask(filter, NULL, &columns[0], answers, NULL, &error) == BLOOMFAM_OK);
	CHECK(answers[0] == BLOOMFAM_MAYBE && answers[1] == BLOOMFAM_NULL && answers[2] == BLOOMFAM_ABSENT);
	number_array.null_count = 0;	/* says that the bits mean nothing */
	CHECK(bloomfam_arrow(&number_schema, &number_array, columns, &error) == BLOOMFAM_OK);
	CHECK(bloomfam_ask(filter, NULL, &columns[0], answers, NULL, &error) == BLOOMFAM_OK && answers[1] == BLOOMFAM_ABSENT);

	/* texts are no integers, but may be written ones */
	CHECK(bloomfam_arrow(&schema, &array, columns, &error) == BLOOMFAM_OK && columns[0].dictionary == &columns[1]);
	CHECK(bloomfam_ask(filter, NULL, &columns[0], answers, NULL, &error) == BLOOMFAM_WRONG_TYPE);
	columns[1].meaning = BLOOMFAM_WRITTEN;
	CHECK(bloomfam_ask(filter, NULL, &columns[0], answers, NULL, &error) == BLOOMFAM_OK);
	CHECK(answers[0] == BLOOMFAM_MAYBE && answers[1] == BLOOMFAM_MAYBE && answers[2] == BLOOMFAM_MAYBE && answers[3] == BLOOMFAM_ABSENT && answers[4] == BLOOMFAM_NULL);

	array.dictionary = NULL;
	CHECK(bloomfam_arrow(&schema, &array, columns, &error) == BLOOMFAM_BAD_ARGUMENT);
	array.dictionary = &values;
	schema.format = "g";
	CHECK(bloomfam_arrow(&schema, &array, columns, &error) == BLOOMFAM_BAD_ARGUMENT);
	schema.format = "c";
	value_schema.dictionary = &number_schema;
	CHECK(bloomfam_arrow(&schema, &array, columns, &error) == BLOOMFAM_BAD_ARGUMENT);

	/* all NULL, of which there are no buffers */
	schema = (struct ArrowSchema) {.format = "n", .release = release_schema};
	array = (struct ArrowArray) {.length = 4, .null_count = 4, .release = release_array};
	CHECK(bloomfam_arrow(&schema, &array, columns, &error) == BLOOMFAM_OK);
	memset(answers, 0xaa, sizeof(answers));
	CHECK(bloomfam_ask(filter, NULL, &columns[0], answers, NULL, &error) == BLOOMFAM_OK && answers[0] == BLOOMFAM_NULL && answers[3] == BLOOMFAM_NULL && answers[4] == 0xaa);
	array.length = -1;
	CHECK(bloomfam_arrow(&schema, &array, columns, &error) == BLOOMFAM_BAD_ARGUMENT);
	schema.release = NULL;
	CHECK(bloomfam_arrow(&schema, &array, columns, &error) == BLOOMFAM_BAD_ARGUMENT);
	bloomfam_close(filter);
	forget();
}

int
main(void)
{
	test_seed(test_is_long() ? (uint64_t) time(NULL) : 27);
	RUN(integers);
	RUN(floats);
	RUN(decimals);
	RUN(times);
	RUN(infinite);
	RUN(fixed);
	RUN(nulls);
	RUN(dictionaries);
	RUN(arrow);
	RUN(arrow_values);
	return test_finish();
}
