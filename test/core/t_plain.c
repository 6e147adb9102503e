/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_plain.c
 *	  src/keys/plain: the names of Parquet columns, and the bytes by which their values are hashed.
 *
 *-------------------------------------------------------------------------
 */
#include "test.h"

#include "keys/plain.h"

#define LENGTH(array)	(sizeof(array) / sizeof((array)[0]))

/* Returns the column that a text names; the text must name a column. */
static BfPlainColumn
column_of(const char *text)
{
	BfPlainColumn column;

	CHECKF(bf_plain_parse(text, &column), "%s", text);
	return column;
}

/* ---- names ---- */

static void
names(void)
{
	static const struct
	{
		const char *text;
		const char *name;
	}			texts[] =
	{
		{"int32", "int32"}, {" int64 ", "int64"}, {"float", "float"}, {"double", "double"}, {"date", "date"}, {"uuid", "uuid"},
		{"text", "text"}, {"bytea", "bytea"}, {"time(3)", "time(3)"}, {"time ( 6 ) ", "time(6)"}, {"timestamp(9)", "timestamp(9)"},
		{"timestamptz(3)", "timestamptz(3)"}, {"  timestamptz\t(\n6)", "timestamptz(6)"},
		{"decimal(9,2)", "decimal(9,2)"}, {" decimal( 9 , 2 ) ", "decimal(9,2)"}, {"decimal(38,0)", "decimal(38,0)"},
		{"decimal(9,2) int64", "decimal(9,2) int64"}, {"decimal(9,2) fixed(4)", "decimal(9,2) fixed(4)"},
		{"decimal(10,2) int64", "decimal(10,2)"}, {"decimal(10,2)fixed(8)", "decimal(10,2) fixed(8)"},
		{"decimal(19,2) fixed(9)", "decimal(19,2)"}, {"decimal(19,2) fixed ( 16 ) ", "decimal(19,2) fixed(16)"},
		{"decimal(38,38)fixed(16)", "decimal(38,38)"}, {"decimal(0010,2)", "decimal(10,2)"}
	};
	size_t		i;

	for (i = 0; i < LENGTH(texts); i++)
	{
		BfPlainColumn column = column_of(texts[i].text);
		BfPlainColumn again;
		char		name[BF_PLAIN_MAX_NAME];
		char		expected[BF_PLAIN_MAX_NAME];
		size_t		len;

		snprintf(expected, sizeof(expected), "parquet %s", texts[i].name);
		memset(name, 'x', sizeof(name));
		len = bf_plain_write_name(&column, name);
		CHECKF(strcmp(name, expected) == 0 && len == strlen(name), "%s: %s", texts[i].text, name);
		CHECKF(bf_plain_of_family(name, len, &again) && memcmp(&again, &column, sizeof(column)) == 0, "%s", name);
	}
}

static void
no_names(void)
{
	static const char *const texts[] = {"", " ", "int", "int32x", "int32 x", "INT32", "parquet int32", "decimal", "decimal()",
		"decimal(0,0)", "decimal(39,0)", "decimal(5,6)", "decimal(5,-1)", "decimal(5)", "decimal(5,2) int32", "decimal(5,2) x",
		"decimal(19,2) int64", "decimal(9,2) fixed(3)", "decimal(9,2) fixed(17)", "decimal(9,2) fixed(99999999999)",
		"decimal(99999999999,2)", "decimal(00009,2)", "decimal(9,2", "decimal(9,2) fixed", "decimal(9,2) fixed(4", "time", "time(0)",
		"time(4)", "time(33)", "timestamp(6", "timestamp(6)z", "timestamptz 6", "text(3)"};
	static const char *const families[] = {"parquet ", "parquet", "parque", "", "int", "Parquet int32", "parquet  int32",
		"parquet int32 ", "parquet decimal(10,2) int64", "parquet decimal(9, 2)", "parquet time(06)",
		"parquet int32                                                            "};
	BfPlainColumn column;
	char		longest[2 * BF_PLAIN_MAX_NAME];
	size_t		i;

	/* A name is copied to where it has room. */
	memset(longest, ' ', sizeof(longest));
	memcpy(longest, "parquet int32", strlen("parquet int32"));
	for (i = strlen("parquet int32") + 1; i <= sizeof(longest); i++)
		CHECKF(!bf_plain_of_family(longest, i, &column), "%zu bytes", i);
	for (i = 0; i < LENGTH(texts); i++)
		CHECKF(!bf_plain_parse(texts[i], &column), "%s", texts[i]);
	for (i = 0; i < LENGTH(families); i++)
	{
		/* not terminated, and not a byte beyond is read */
		size_t		len = strlen(families[i]);
		char	   *copy = test_malloc(len);

		memcpy(copy, families[i], len);
		CHECKF(!bf_plain_of_family(copy, len, &column), "%s", families[i]);
		free(copy);
	}
	CHECK(!bf_plain_of_family("parquet int32\0", 14, &column));
	CHECK(!bf_plain_of_family("parquet int32\0x", 15, &column));
}

/*
 * Checks that each decimal column has enough bytes for its digits, and that one byte less would not
 * be enough.
 */
static void
decimals(void)
{
	int			precision;

	for (precision = 1; precision <= BF_PLAIN_MAX_PRECISION; precision++)
	{
		double		bits = precision * log2(10) + 1;	/* the sign */
		BfPlainColumn column = {0};

		CHECK(bf_plain_set_decimal(&column, precision, precision / 2));
		CHECK(column.type == BF_PLAIN_DECIMAL && column.precision == precision && column.scale == precision / 2);
		if (precision <= 18)
			CHECKF(!column.fixed && column.bytes == (precision <= 9 ? 4 : 8), "%d", precision);
		else
			CHECKF(column.fixed && column.bytes == (int) ceil(bits / 8), "%d: %d bytes", precision, column.bytes);
	}
}

static void
types_that_go_together(void)
{
	int			a;
	int			b;

	for (a = 0; a <= BF_PLAIN_DECIMAL; a++)
		for (b = 0; b <= BF_PLAIN_DECIMAL; b++)
			CHECKF(bf_plain_compatible((BfPlainType) a, (BfPlainType) b) ==
				   (a == b || a + b == BF_PLAIN_INT32 + BF_PLAIN_INT64 ||
					(BF_MIN(a, b) == BF_PLAIN_FLOAT && BF_MAX(a, b) == BF_PLAIN_DOUBLE)), "%d, %d", a, b);
}

/* ---- hashes: each as XXH64 of bytes that stand here ---- */

/* Returns the hash of bytes given as hexadecimal digits. */
static uint64_t
of(const char *hex)
{
	uint8_t		bytes[32];
	size_t		n = strlen(hex) / 2;
	size_t		i;

	for (i = 0; i < n; i++)
	{
		unsigned	byte;

		sscanf(hex + 2 * i, "%2x", &byte);
		bytes[i] = (uint8_t) byte;
	}
	return bf_hash_plain(bytes, n);
}

#define IS(call, hex) \
	CHECKF((call) && hash == of(hex), "%s: %016" PRIx64, #call, hash)
#define IS_NONE(call) \
	CHECKF(!(call), "%s", #call)

static void
integers(void)
{
	BfPlainColumn narrow = column_of("int32");
	BfPlainColumn wide = column_of("int64");
	uint64_t	hash = 0;

	IS(bf_plain_int(&narrow, 258, &hash), "02010000");
	IS(bf_plain_int(&narrow, INT32_MIN, &hash), "00000080");
	IS_NONE(bf_plain_int(&narrow, INT64_C(2147483648), &hash));
	IS_NONE(bf_plain_int(&narrow, INT64_MIN, &hash));
	IS(bf_plain_int(&wide, -2, &hash), "feffffffffffffff");
	IS(bf_plain_int(&wide, INT64_MAX, &hash), "ffffffffffffff7f");
}

static void
floats(void)
{
	BfPlainColumn narrow = column_of("float");
	BfPlainColumn wide = column_of("double");
	BfPlainColumn other = column_of("int32");
	uint64_t	hash = 0;

	IS(bf_plain_double(&narrow, 1.5, &hash), "0000c03f");
	IS(bf_plain_double(&narrow, -0.0, &hash), "00000000");
	IS(bf_plain_double(&narrow, -(double) NAN, &hash), "0000c07f");
	IS(bf_plain_double(&narrow, -(double) INFINITY, &hash), "000080ff");
	IS_NONE(bf_plain_double(&narrow, 0.1, &hash));
	IS_NONE(bf_plain_double(&narrow, 1e-300, &hash));
	IS(bf_plain_double(&wide, 0.1, &hash), "9a9999999999b93f");
	IS(bf_plain_double(&wide, -0.0, &hash), "0000000000000000");
	IS(bf_plain_double(&wide, -(double) NAN, &hash), "000000000000f87f");
	CHECK(bf_plain_float_size(&narrow) == 4 && bf_plain_float_size(&wide) == 8 && bf_plain_float_size(&other) == 0);
}

static void
times(void)
{
	BfPlainColumn milli = column_of("time(3)");
	BfPlainColumn micro = column_of("time(6)");
	BfPlainColumn nano = column_of("time(9)");
	uint64_t	hash = 0;

	CHECK(bf_plain_date(1) == of("ce2a0000"));	/* 2000-01-02: day 10958 */
	CHECK(bf_plain_date(-10957) == of("00000000"));
	CHECK(bf_plain_date(INT32_MAX) == of("ffffff7f"));
	CHECK(bf_plain_date(INT32_MIN) == of("01000080"));
	/* what no date of the server is wraps around, and is no undefined behaviour */
	CHECK(bf_plain_date(INT32_MAX - 1) == of("cb2a0080"));

	IS(bf_plain_time(&milli, 1000, &hash), "01000000");
	IS_NONE(bf_plain_time(&milli, 1001, &hash));
	IS(bf_plain_time(&micro, 1001, &hash), "e903000000000000");
	IS(bf_plain_time(&nano, 1, &hash), "e803000000000000");
	IS(bf_plain_time(&milli, INT64_C(86400000000), &hash), "005c2605");

	milli = column_of("timestamp(3)");
	micro = column_of("timestamptz(6)");
	nano = column_of("timestamp(9)");
	IS(bf_plain_timestamp(&micro, -BF_KEY_EPOCH_USECS, &hash), "0000000000000000");
	IS(bf_plain_timestamp(&milli, 1000 - BF_KEY_EPOCH_USECS, &hash), "0100000000000000");
	IS(bf_plain_timestamp(&nano, 1 - BF_KEY_EPOCH_USECS, &hash), "e803000000000000");
	IS_NONE(bf_plain_timestamp(&milli, -1 - BF_KEY_EPOCH_USECS, &hash));
	IS_NONE(bf_plain_timestamp(&nano, INT64_MAX - 1 - BF_KEY_EPOCH_USECS, &hash));
	IS_NONE(bf_plain_timestamp(&micro, INT64_MAX - 1, &hash));
	IS(bf_plain_timestamp(&nano, INT64_MAX, &hash), "ffffffffffffff7f");
	IS(bf_plain_timestamp(&milli, INT64_MIN, &hash), "0100000000000080");
}

static void
strings(void)
{
	CHECK(bf_plain_bytes("a ", 2) == of("6120"));
	CHECK(bf_plain_bytes("", 0) == UINT64_C(17241709254077376921));
}

/* Hashes an integer with a scale as a decimal in a column. */
static bool
decimal(const char *column_type, __int128 value, int scale, uint64_t *hash)
{
	BfPlainColumn column = column_of(column_type);
	uint16_t	room[BF_NUMERIC_INT128_ROOM];
	BfNumeric	number;

	bf_numeric_of_int128(&number, value, scale, room);
	return bf_plain_numeric(&column, &number, hash);
}

static void
numbers(void)
{
	static const BfNumeric nan = {.sign = BF_NUMERIC_NAN};
	BfPlainColumn column = column_of("decimal(10,2)");
	__int128	nines = (__int128) 10000000000000000000U * 10000000000000000000U - 1;
	uint64_t	hash = 0;

	IS(decimal("decimal(4,1)", -2, 1, &hash), "feffffff");
	IS(decimal("decimal(4,1)", -200, 3, &hash), "feffffff");
	IS(decimal("decimal(9,0)", 999999999, 0, &hash), "ffc99a3b");
	IS(decimal("decimal(10,3)", 258, 3, &hash), "0201000000000000");
	IS(decimal("decimal(18,2)", -999999999999999999, 2, &hash), "01009c584c491ff2");
	IS(decimal("decimal(19,0)", -2, 0, &hash), "fffffffffffffffffe");
	IS(decimal("decimal(20,4)", 258, 4, &hash), "000000000000000102");
	IS(decimal("decimal(38,0)", nines, 0, &hash), "4b3b4ca85a86c47a098a223fffffffff");
	IS(decimal("decimal(38,38)", -2, 38, &hash), "fffffffffffffffffffffffffffffffe");
	IS(decimal("decimal(9,2) int64", 258, 2, &hash), "0201000000000000");
	IS(decimal("decimal(9,2) fixed(5)", -258, 2, &hash), "fffffffefe");
	IS(decimal("decimal(20,2) fixed(16)", 258, 2, &hash), "00000000000000000000000000000102");
	IS_NONE(decimal("decimal(4,1)", 12345, 2, &hash));
	IS_NONE(decimal("decimal(4,1)", 1000, 0, &hash));
	IS_NONE(bf_plain_numeric(&column, &nan, &hash));
}

int
main(void)
{
	RUN(names);
	RUN(no_names);
	RUN(decimals);
	RUN(types_that_go_together);
	RUN(integers);
	RUN(floats);
	RUN(times);
	RUN(strings);
	RUN(numbers);
	return test_finish();
}
