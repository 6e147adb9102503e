/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_rows.c
 *	  Keys of several columns: their types, their hashes, their readings, and what is refused.
 *
 * The expected hash of a row is computed here from the hashes of its columns, item by item.
 *
 *-------------------------------------------------------------------------
 */
#include "columns.h"

#define MOST	1500

/* Computes the hash of a row from the hashes of its n columns, some of which may be NULL. */
static uint64_t
row_hash(const uint64_t *hashes, const bool *nulls, size_t n)
{
	uint8_t		bytes[BLOOMFAM_MAX_COLUMNS * 9];
	size_t		i;
	size_t		j;

	for (i = 0; i < n; i++)
	{
		bytes[9 * i] = nulls[i] ? 0 : 1;
		for (j = 0; j < 8; j++)
			bytes[9 * i + 1 + j] = nulls[i] ? 0 : (uint8_t) (hashes[i] >> (8 * j));
	}
	return bf_hash_bytes(bytes, 9 * n);
}

/* ---- types ---- */

static void
check_name(const char *name, const char *family, size_t ncolumns)
{
	BloomfamType type;
	BloomfamError error;
	BloomfamStatus status = bloomfam_type_by_name(name, NULL, &type, &error);

	CHECKF(status == BLOOMFAM_OK, "%s: %s", name, status == BLOOMFAM_OK ? "" : error.message);
	if (status != BLOOMFAM_OK)
		return;
	CHECKF(strcmp(type.family, family) == 0, "%s: %s", name, type.family);
	CHECK(type.family_id == bf_family_id(family, strlen(family)));
	CHECK(bloomfam_type_columns(&type) == ncolumns && (type.id == BLOOMFAM_TYPE_ROW) == (strncmp(family, "row(", 4) == 0));
}

static void
check_no_name(const char *name, const char *kind, BloomfamStatus expected)
{
	BloomfamType type;
	BloomfamError error;
	BloomfamStatus status;

	client_error_init(&error);
	status = bloomfam_type_by_name(name, kind, &type, &error);
	CHECKF(status == expected && client_error_is_whole(&error, status), "%s: status %d", name, status);
}

static void
types(void)
{
	BloomfamType type = client_type("int, \"char\", enum \"a,(b\".\"c)\"\"d\", numeric, double precision");
	static const BloomfamTypeId ids[] = {BLOOMFAM_TYPE_INT, BLOOMFAM_TYPE_CHAR, BLOOMFAM_TYPE_ENUM, BLOOMFAM_TYPE_NUMERIC, BLOOMFAM_TYPE_DOUBLE};
	static const char *families[] = {"int", "char", "enum \"a,(b\".\"c)\"\"d\"", "numeric", "float"};
	BloomfamType many[BLOOMFAM_MAX_COLUMNS + 1];
	BloomfamType column;
	BloomfamError error;
	char		name[400] = "";
	size_t		i;

	check_name("int,date", "row(int,date)", 2);
	check_name(" ROW( bigint , timestamp with time zone,char(3)) ", "row(int,timestamptz,text)", 3);
	check_name("row(int)", "row(int)", 1);
	check_name("enum \"a\".\"b\" , int", "row(enum \"a\".\"b\",int)", 2);
	check_name("int", "int", 1);
	CHECK(bloomfam_type_columns(&type) == 5);
	for (i = 0; i < LENGTH(ids); i++)
	{
		bloomfam_type_column(&type, i, &column);
		CHECKF(column.id == ids[i] && strcmp(column.family, families[i]) == 0 && column.family_id == bf_family_id(families[i], strlen(families[i])), "column %zu: %s", i, column.family);
		CHECK(bloomfam_type_columns(&column) == 1);
	}
	bloomfam_type_column(&column, 0, &type);
	CHECK(memcmp(&type, &column, sizeof(type)) == 0);

	check_no_name("int,", NULL, BLOOMFAM_BAD_ARGUMENT);
	check_no_name(",int", NULL, BLOOMFAM_BAD_ARGUMENT);
	check_no_name("row()", NULL, BLOOMFAM_BAD_ARGUMENT);
	check_no_name("int,nothing", NULL, BLOOMFAM_BAD_ARGUMENT);
	check_no_name("int,numeric(9,2)", NULL, BLOOMFAM_BAD_ARGUMENT);
	check_no_name("int,date", "parquet", BLOOMFAM_BAD_ARGUMENT);
	check_no_name("int,parquet int64", NULL, BLOOMFAM_BAD_ARGUMENT);
	check_no_name("int,row(int,int)", NULL, BLOOMFAM_NOT_ASKABLE);
	check_no_name("int,text[]", NULL, BLOOMFAM_NOT_ASKABLE);

	for (i = 0; i < LENGTH(many); i++)
	{
		many[i] = client_type("bit");
		strcat(name, i > 0 ? ",bit" : "bit");
	}
	CHECK(bloomfam_row_type(many, BLOOMFAM_MAX_COLUMNS, &type, &error) == BLOOMFAM_OK && bloomfam_type_columns(&type) == BLOOMFAM_MAX_COLUMNS);
	check_no_name(name, NULL, BLOOMFAM_BAD_ARGUMENT);
	client_error_init(&error);
	CHECK(bloomfam_row_type(many, 0, &type, &error) == BLOOMFAM_BAD_ARGUMENT && client_error_is_whole(&error, BLOOMFAM_BAD_ARGUMENT));
	for (i = 0; i < LENGTH(many); i++)
		many[i] = client_type("timestamptz");
	client_error_init(&error);
	CHECK(bloomfam_row_type(many, BLOOMFAM_MAX_COLUMNS, &type, &error) == BLOOMFAM_NOT_ASKABLE && client_error_is_whole(&error, BLOOMFAM_NOT_ASKABLE));
}

/* ---- hashes ---- */

/*
 * Tests random integers, texts and booleans, with NULLs, pieces that begin anywhere, and a
 * dictionary.
 */
static void
hashes(void)
{
	static int64_t numbers[MOST];
	static uint8_t nulls[MOST];
	static BloomfamPiece pieces[MOST];
	static uint8_t bools[MOST];
	static uint8_t index[MOST];
	static const double few[] = {0.5, -1, 2};
	static uint64_t row_hashes[MOST];
	static uint8_t row_answers[MOST];
	BloomfamColumn dictionary = bloomfam_doubles(few, 3);
	BloomfamColumn columns[4];
	BloomfamColumn rows;
	Hashed		parts[4];
	Hashed		all;
	const uint64_t *part_hashes[4];
	const uint8_t *part_answers[4];
	size_t		i;
	size_t		c;

	for (i = 0; i < MOST; i++)
	{
		numbers[i] = (int64_t) test_random() >> (test_random() % 64);
		nulls[i] = test_random() % 5 == 0;
		pieces[i].bytes = test_random() % 7 == 0 ? NULL : (const char *) numbers;
		pieces[i].len = test_random() % 30;
		bools[i] = test_random() % 2;
		index[i] = (uint8_t) (test_random() % 3);
	}
	columns[0] = bloomfam_int64s(numbers, MOST);
	columns[0].nulls = nulls;
	columns[1] = bloomfam_pieces(BLOOMFAM_BYTES, pieces, MOST);
	columns[2] = column_of(BLOOMFAM_BOOLEAN, BLOOMFAM_BOOLS, bools, MOST);
	columns[3] = column_of(BLOOMFAM_INTEGER, BLOOMFAM_UINT8, index, MOST);
	columns[3].dictionary = &dictionary;
	parts[0] = hash_column("int", &columns[0]);
	parts[1] = hash_column("bytea", &columns[1]);
	parts[2] = hash_column("bool", &columns[2]);
	parts[3] = hash_column("float8", &columns[3]);
	rows = bloomfam_rows(columns, 4, MOST);
	all = hash_column("int,bytea,bool,float8", &rows);
	CHECK(all.counts.absent == MOST && all.counts.first_odd == BLOOMFAM_NO_ROW);
	for (c = 0; c < 4; c++)
	{
		part_hashes[c] = parts[c].hashes;
		part_answers[c] = parts[c].answers;
	}
	/* more columns than a key may have: no answer, and nothing is read of them */
	bloomfam_row_hashes(part_hashes, part_answers, BLOOMFAM_MAX_COLUMNS + 1, 2, row_hashes, row_answers);
	CHECK(row_answers[0] == BLOOMFAM_BAD && row_answers[1] == BLOOMFAM_BAD && row_hashes[1] == 0);
	bloomfam_row_hashes(part_hashes, part_answers, 4, MOST, row_hashes, row_answers);
	for (i = 0; i < MOST; i++)
	{
		uint64_t	of_columns[4];
		bool		is_null[4];

		for (c = 0; c < 4; c++)
		{
			of_columns[c] = parts[c].hashes[i];
			is_null[c] = parts[c].answers[i] == BLOOMFAM_NULL;
		}
		CHECK(all.hashes[i] == row_hash(of_columns, is_null, 4) && all.answers[i] == BLOOMFAM_ABSENT);
		CHECK(row_hashes[i] == all.hashes[i] && row_answers[i] == BLOOMFAM_ABSENT);
	}

	/* pieces of the rows, whose columns begin elsewhere */
	for (i = 0; i + 600 < MOST; i += 173)
	{
		BloomfamColumn shifted[4];
		Hashed		some;

		memcpy(shifted, columns, sizeof(columns));
		for (c = 0; c < 4; c++)
		{
			shifted[c].first = c;
			shifted[c].n -= c;
		}
		rows = bloomfam_rows(shifted, 4, 600 - 3);
		rows.first = i;
		some = hash_column("int,bytea,bool,float8", &rows);
		for (c = 0; c < 3; c++)
		{
			uint64_t	of_columns[4] = {parts[0].hashes[i + c], parts[1].hashes[i + c + 1], parts[2].hashes[i + c + 2], parts[3].hashes[i + c + 3]};
			bool		is_null[4] = {parts[0].answers[i + c] == BLOOMFAM_NULL, parts[1].answers[i + c + 1] == BLOOMFAM_NULL, false, false};

			CHECK(some.hashes[c] == row_hash(of_columns, is_null, 4));
		}
	}

	/* rows that are NULL themselves */
	rows = bloomfam_rows(columns, 4, MOST);
	rows.nulls = nulls;
	all = hash_column("int,bytea,bool,float8", &rows);
	for (i = 0; i < MOST; i++)
		CHECK(nulls[i] ? all.answers[i] == BLOOMFAM_NULL && all.hashes[i] == 0 : all.answers[i] == BLOOMFAM_ABSENT && all.hashes[i] == row_hashes[i]);
	rows = bloomfam_rows(NULL, 4, MOST);
	rows.all_null = true;
	all = hash_column("int,bytea,bool,float8", &rows);
	CHECK(all.counts.null == MOST);
	forget();
}

/* ---- asking and building ---- */

static BloomfamFilter *
build(const BloomfamType *type, const BloomfamColumn *column)
{
	BloomfamBuilder *builder;
	BloomfamFilter *filter;
	BloomfamError error;

	if (bloomfam_builder_make(NULL, type, "ribbon", 1e-9, 0, &builder, &error) != BLOOMFAM_OK || bloomfam_builder_add(builder, column, NULL, NULL, &error) != BLOOMFAM_OK ||
		bloomfam_builder_finish(builder, &filter, &error) != BLOOMFAM_OK)
	{
		printf("a filter is not built: %s\n", error.message);
		exit(2);
	}
	bloomfam_builder_free(builder);
	return filter;
}

static BloomfamColumn
texts(BloomfamPiece *pieces, const char *const *values, size_t n)
{
	size_t		i;

	for (i = 0; i < n; i++)
	{
		pieces[i].bytes = values[i];
		pieces[i].len = values[i] != NULL ? strlen(values[i]) : 0;
	}
	return bloomfam_pieces(BLOOMFAM_WRITTEN, pieces, n);
}

/*
 * Checks that a key is asked for in all readings if the filter does not know the types of its
 * columns.
 */
static void
readings(void)
{
	static const char long_text[] = "\xc3\xa9 a text of more than sixty-three bytes, in which \xc3\xa9 occurs twice, and more";
	const char *floats[] = {"0.1", "0.1", "0.1", "7"};
	const char *names[] = {long_text, long_text, "short", NULL};
	const char *ints[] = {"1", "2", "3", "4"};
	static const char *const filters[] = {"real,name,int", "double precision,text,int", "real,text,int", "double precision,text,int"};
	BloomfamPiece pieces[3][4];
	size_t		f;
	size_t		i;

	for (f = 0; f < LENGTH(filters); f++)
	{
		BloomfamType type = client_type(filters[f]);
		BloomfamType own;
		BloomfamColumn columns[3] = {texts(pieces[0], floats, 4), texts(pieces[1], names, 4), texts(pieces[2], ints, 4)};
		BloomfamColumn rows = bloomfam_rows(columns, 3, 4);
		BloomfamFilter *filter;
		BloomfamError error;
		uint8_t		answers[4];
		uint64_t	hashes[4];

		/* a name that some server cut, in an encoding in which this is one byte */
		if (f == 0)
		{
			pieces[1][0].len = pieces[1][1].len = 62;
		}
		filter = build(&type, &rows);
		pieces[1][0].len = pieces[1][1].len = strlen(long_text);
		CHECK(bloomfam_filter_type(filter, &own, &error) == BLOOMFAM_OK && own.id == BLOOMFAM_TYPE_ROW && own.columns[0] == BLOOMFAM_TYPE_FLOAT && own.columns[1] == BLOOMFAM_TYPE_ANY_TEXT);
		CHECK(bloomfam_ask(filter, NULL, &rows, answers, NULL, &error) == BLOOMFAM_OK);
		for (i = 0; i < 4; i++)
			CHECKF(answers[i] == BLOOMFAM_MAYBE, "filter %zu, row %zu: %d", f, i, answers[i]);

		/* with another number they are no keys */
		for (i = 0; i < 4; i++)
			ints[i] = "-1";
		columns[2] = texts(pieces[2], ints, 4);
		CHECK(bloomfam_ask(filter, NULL, &rows, answers, NULL, &error) == BLOOMFAM_OK);
		for (i = 0; i < 4; i++)
			CHECKF(answers[i] == BLOOMFAM_ABSENT, "filter %zu, row %zu: %d", f, i, answers[i]);

		/* none has one hash but the last, and building says so */
		CHECK(bloomfam_hash(&own, &rows, hashes, answers, NULL, &error) == BLOOMFAM_OK);
		CHECK(answers[0] == BLOOMFAM_BAD && answers[2] == BLOOMFAM_BAD && answers[3] == BLOOMFAM_ABSENT && hashes[0] == 0);
		client_error_init(&error);
		CHECK(bloomfam_column_error(&own, &rows, 1, &error) == BLOOMFAM_BAD_KEY && client_error_is_whole(&error, BLOOMFAM_BAD_KEY) && error.row == 1);
		for (i = 0; i < 4; i++)
			ints[i] = (const char *[]) {"1", "2", "3", "4"}[i];
		bloomfam_close(filter);
	}
	forget();
}

/* Checks that a key with more readings than are tested may be in the filter. */
static void
too_many_readings(void)
{
	BloomfamType types[13];
	BloomfamType type;
	BloomfamColumn columns[13];
	BloomfamColumn rows;
	BloomfamPiece piece = {"0.1", 3};
	BloomfamFilter *filter;
	BloomfamError error;
	uint8_t		answer;
	size_t		i;

	for (i = 0; i < LENGTH(types); i++)
	{
		types[i] = client_type("real");
		columns[i] = bloomfam_pieces(BLOOMFAM_WRITTEN, &piece, 1);
	}
	CHECK(bloomfam_row_type(types, LENGTH(types), &type, &error) == BLOOMFAM_OK);
	rows = bloomfam_rows(columns, LENGTH(types), 1);
	filter = build(&type, &rows);
	CHECK(bloomfam_ask(filter, NULL, &rows, &answer, NULL, &error) == BLOOMFAM_OK && answer == BLOOMFAM_MAYBE);
	piece.bytes = "0.3";
	CHECK(bloomfam_ask(filter, &type, &rows, &answer, NULL, &error) == BLOOMFAM_OK && answer == BLOOMFAM_ABSENT);
	CHECK(bloomfam_ask(filter, NULL, &rows, &answer, NULL, &error) == BLOOMFAM_OK && answer == BLOOMFAM_MAYBE);
	bloomfam_close(filter);
}

/* ---- what cannot be asked ---- */

static void
odd_keys(void)
{
	const char *ints[] = {"1", "x", "9223372036854775808", "x", NULL};
	const char *days[] = {"2024-01-01", "2024-01-01", "2024-01-01", "nothing", NULL};
	BloomfamPiece pieces[2][5];
	BloomfamColumn columns[2] = {texts(pieces[0], ints, 5), texts(pieces[1], days, 5)};
	BloomfamColumn rows = bloomfam_rows(columns, 2, 5);
	BloomfamType type = client_type("int,date");
	static const uint8_t expected[] = {BLOOMFAM_ABSENT, BLOOMFAM_BAD, BLOOMFAM_IMPOSSIBLE, BLOOMFAM_BAD, BLOOMFAM_ABSENT};
	static const char *const column_named[] = {NULL, "column 1", "column 1", "column 1", NULL};
	BloomfamBuilder *builder;
	BloomfamError error;
	BloomfamCounts counts;
	uint8_t		answers[5];
	Hashed		hashed = hash_column("int,date", &rows);
	size_t		i;

	for (i = 0; i < 5; i++)
	{
		BloomfamStatus status;

		CHECKF(hashed.answers[i] == expected[i], "row %zu: %d", i, hashed.answers[i]);
		client_error_init(&error);
		status = bloomfam_column_error(&type, &rows, i, &error);
		CHECK(column_named[i] == NULL ? status == BLOOMFAM_OK
									  : status == BLOOMFAM_BAD_KEY && client_error_is_whole(&error, status) && error.row == i && strstr(error.detail, column_named[i]) != NULL);
	}
	CHECK(hashed.counts.bad == 2 && hashed.counts.impossible == 1 && hashed.counts.first_odd == 1);
	CHECK(bloomfam_column_error(&type, &rows, 5, &error) == BLOOMFAM_BAD_ARGUMENT);
	CHECK(bloomfam_builder_make(NULL, &type, NULL, 0, 0, &builder, &error) == BLOOMFAM_OK);
	client_error_init(&error);
	CHECK(bloomfam_builder_add(builder, &rows, NULL, NULL, &error) == BLOOMFAM_BAD_KEY && error.row == 1);
	CHECK(bloomfam_builder_add(builder, &rows, answers, &counts, &error) == BLOOMFAM_OK && counts.absent == 2 && memcmp(answers, expected, 5) == 0);
	bloomfam_builder_free(builder);
	forget();
}

static void
refused(void)
{
	int64_t		numbers[4] = {1, 2, 3, 4};
	BloomfamColumn columns[2] = {bloomfam_int64s(numbers, 4), bloomfam_int64s(numbers, 4)};
	BloomfamColumn rows = bloomfam_rows(columns, 2, 4);
	BloomfamColumn inner = bloomfam_rows(columns, 2, 4);
	BloomfamColumn index = column_of(BLOOMFAM_INTEGER, BLOOMFAM_INT64, numbers, 1);
	BloomfamPiece piece = {"(1,2)", 5};
	BloomfamColumn text = bloomfam_pieces(BLOOMFAM_WRITTEN, &piece, 1);

	check_status("int,int", &rows, BLOOMFAM_OK, "rows");
	check_status("int", &rows, BLOOMFAM_WRONG_TYPE, "rows");
	check_status("int,int", &columns[0], BLOOMFAM_WRONG_TYPE, "integers");
	check_status("int,int", &text, BLOOMFAM_WRONG_TYPE, "a text form");
	check_status("int,int,int", &rows, BLOOMFAM_WRONG_TYPE, "rows of two columns");
	check_status("int,date", &rows, BLOOMFAM_WRONG_TYPE, "integers for a date");
	index.dictionary = &rows;
	check_status("int,int", &index, BLOOMFAM_BAD_ARGUMENT, "a dictionary of rows");
	columns[1].n = 3;
	check_status("int,int", &rows, BLOOMFAM_BAD_ARGUMENT, "a column that is too short");
	rows.n = 3;
	check_status("int,int", &rows, BLOOMFAM_OK, "rows of fewer keys");
	rows.first = 1;
	check_status("int,int", &rows, BLOOMFAM_BAD_ARGUMENT, "a column that is too short, from its second key on");
	rows.first = SIZE_MAX;
	check_status("int,int", &rows, BLOOMFAM_BAD_ARGUMENT, "a first row that is none");
	rows = bloomfam_rows(columns, 2, 3);
	columns[1] = inner;
	check_status("int,int", &rows, BLOOMFAM_WRONG_TYPE, "rows within rows");
	columns[1] = bloomfam_int64s(NULL, 3);
	check_status("int,int", &rows, BLOOMFAM_BAD_ARGUMENT, "a column without values");
	rows = bloomfam_rows(NULL, 2, 3);
	check_status("int,int", &rows, BLOOMFAM_BAD_ARGUMENT, "no columns");
	rows = bloomfam_rows(NULL, 2, 0);
	check_status("int,int", &rows, BLOOMFAM_OK, "no rows");
	rows = bloomfam_rows(columns, SIZE_MAX, 0);
	check_status("int,int", &rows, BLOOMFAM_WRONG_TYPE, "more columns than there can be");
}

int
main(void)
{
	test_seed(test_is_long() ? (uint64_t) time(NULL) : 47);
	RUN(types);
	RUN(hashes);
	RUN(readings);
	RUN(too_many_readings);
	RUN(odd_keys);
	RUN(refused);
	return test_finish();
}
