/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_build.c
 *	  Filters that the client library builds and unites have the bytes that src/core/bf_build.c
 *	  makes, in every way of building them.
 *
 *-------------------------------------------------------------------------
 */
#include "client.h"

#include "core/bf_build.h"
#include "keys/key_hash.h"
#include "keys/plain.h"

/* ---- what is expected: the core's own bytes ---- */

typedef struct MallocRoom
{
	BfRoom		room;
} MallocRoom;

static uint8_t *
room_alloc(BfRoom *room, uint64_t size)
{
	(void) room;
	return test_malloc(size);
}

static uint8_t *
room_resize(BfRoom *room, uint8_t *data, uint64_t size)
{
	(void) room;
	return realloc(data, size);
}

static void
room_release(BfRoom *room, uint8_t *data)
{
	(void) room;
	free(data);
}

static BfRoom malloc_room = {room_alloc, room_resize, room_release};

/*
 * Makes the value of the hashes with the core, in memory of its own.  Returns NULL if there is no
 * such value.
 */
static uint8_t *
core_value(const BfKind *kind, double fpr, uint64_t expected, const char *family, const uint64_t *hashes, size_t n, size_t *len)
{
	uint64_t   *copy = test_malloc(n * 8);
	BfDesign	design;
	BfHeader	head;
	uint8_t    *data = NULL;

	if (n > 0)
		memcpy(copy, hashes, n * 8);
	memset(&head, 0, sizeof(head));
	test_set_family(&head, family);
	if (bf_design(kind, fpr, &design) == BF_OK && bf_build_hashes(&test_env, &malloc_room, &design, expected, copy, n, &head, &data) == BF_OK)
		*len = bf_data_size(&head);
	free(copy);
	return data;
}

/* ---- keys: integers, some of them again ---- */

static int64_t
number(uint64_t i)
{
	return (int64_t) test_mix(i + 1);
}

/* Builds a filter of the numbers i mod distinct, in pieces.  Ends the program if that fails. */
static BloomfamFilter *
build_ints(const BloomfamHost *host, const char *kind, double fpr, uint64_t expected, size_t n, size_t distinct, size_t piece)
{
	BloomfamType type = client_type_of_kind("bigint", kind);
	BloomfamBuilder *builder;
	BloomfamFilter *filter;
	BloomfamError error;
	int64_t    *numbers = test_malloc(n * 8);
	size_t		done;
	size_t		i;

	for (i = 0; i < n; i++)
		numbers[i] = number(i % distinct);
	if (bloomfam_builder_make(host, &type, kind, fpr, expected, &builder, &error) != BLOOMFAM_OK)
	{
		printf("%s: %s\n", kind, error.message);
		exit(2);
	}
	for (done = 0; done < n; done += piece)
	{
		BloomfamColumn column = bloomfam_int64s(numbers + done, BF_MIN(piece, n - done));
		BloomfamCounts counts;

		CHECK(bloomfam_builder_add(builder, &column, NULL, &counts, &error) == BLOOMFAM_OK);
		CHECK(counts.absent == column.n && counts.first_odd == BLOOMFAM_NO_ROW);
	}
	if (!CHECKF(bloomfam_builder_finish(builder, &filter, &error) == BLOOMFAM_OK, "%s: %s", kind, error.message))
		exit(2);
	CHECK(bloomfam_builder_add_hashes(builder, NULL, 0, &error) == BLOOMFAM_BAD_ARGUMENT);
	bloomfam_builder_free(builder);
	free(numbers);
	return filter;
}

static bool
same_bytes(const BloomfamFilter *filter, const uint8_t *data, size_t len)
{
	size_t		filter_len;
	const void *bytes = bloomfam_bytes(filter, &filter_len);

	return data != NULL && filter_len == len && memcmp(bytes, data, len) == 0;
}

static const size_t sizes[] = {0, 1, 10, 700, 5000};

static void
kinds(void)
{
	const char *kind_name;
	size_t		k;
	size_t		s;
	int			way;

	for (k = 0; (kind_name = bloomfam_kind_name(k)) != NULL; k++)
		for (s = 0; s < LENGTH(sizes); s++)
			for (way = 0; way < 6; way++)
			{
				const BfKind *kind = bf_kind_by_name(kind_name);
				bool		plain = kind->hash_id == BF_HASH_XXH64_PLAIN;
				size_t		n = sizes[s];
				size_t		distinct = way % 2 == 0 ? BF_MAX(n, 1) : n / 3 + 1;
				uint64_t	expected = way < 2 ? 0 : way < 4 ? 10000 : n / 2 + 1;
				uint64_t   *hashes = test_malloc(n * 8);
				BloomfamFilter *filter = build_ints(NULL, kind_name, 0.01, expected, n, distinct, 1 + test_below(2000));
				BloomfamInfo info;
				BloomfamStats stats;
				BloomfamError error;
				uint8_t    *data;
				size_t		len = 0;
				size_t		i;

				for (i = 0; i < n; i++)
					hashes[i] = plain ? bf_plain_hash_le((uint64_t) number(i % distinct), 8) : bf_key_int(0, number(i % distinct));
				data = core_value(kind, 0.01, expected, plain && n > 0 ? "parquet int64" : "int", hashes, n, &len);
				CHECKF(same_bytes(filter, data, len), "%s of %zu keys, %zu distinct, expected %" PRIu64 ": other bytes", kind_name, n, distinct, expected);
				CHECK(bloomfam_validate(filter, &error) == BLOOMFAM_OK);
				bloomfam_info(filter, &info);
				CHECK(info.keys_added == n && strcmp(info.kind, n > 0 ? kind_name : "identity") == 0 && info.askable);
				CHECK(bloomfam_stats(filter, &stats, &error) == BLOOMFAM_OK);
				CHECKF(n == 0 || (stats.keys > 0.5 * (double) BF_MIN(n, distinct) && stats.keys < 2 * (double) BF_MIN(n, distinct) + 5), "%s: %g keys of %zu", kind_name, stats.keys, distinct);

				/* no false negatives, and all in all few false positives */
				if (n > 0)
				{
					int64_t    *asked = test_malloc(2 * n * 8);
					uint8_t    *answers = test_malloc(2 * n);
					BloomfamColumn column = bloomfam_int64s(asked, 2 * n);
					BloomfamCounts counts;
					uint64_t	found = 0;

					for (i = 0; i < 2 * n; i++)
						asked[i] = i < n ? number(i % distinct) : number(1000000 + i);
					CHECK(bloomfam_ask(filter, NULL, &column, answers, &counts, &error) == BLOOMFAM_OK);
					for (i = 0; i < n; i++)
						found += answers[i] == BLOOMFAM_MAYBE;
					CHECKF(found == n, "%s: %zu keys are denied", kind_name, n - (size_t) found);
					CHECKF(counts.maybe - n <= n / 20 + 5 || expected == n / 2 + 1, "%s: %zu false positives of %zu", kind_name, (size_t) counts.maybe - n, n);
					free(asked);
					free(answers);
				}
				bloomfam_close(filter);
				free(data);
				free(hashes);
			}
}

/* ---- keys of all sorts ---- */

static void
bad_keys(void)
{
	static const char *const texts[] = {"2024-02-29", "2023-02-29", NULL, "infinity", "today", "0001-01-01"};
	static const uint8_t expected[] = {BLOOMFAM_ABSENT, BLOOMFAM_BAD, BLOOMFAM_NULL, BLOOMFAM_ABSENT, BLOOMFAM_BAD, BLOOMFAM_ABSENT};
	BloomfamPiece pieces[3000];
	uint8_t		answers[3000];
	BloomfamType type = client_type("date");
	BloomfamColumn column = bloomfam_pieces(BLOOMFAM_WRITTEN, pieces, 3000);
	BloomfamBuilder *builder;
	BloomfamFilter *filter;
	BloomfamInfo info;
	BloomfamCounts counts;
	BloomfamError error;
	size_t		i;

	for (i = 0; i < 3000; i++)
	{
		const char *text = texts[i < 1500 ? 0 : i % LENGTH(texts)];

		pieces[i] = (BloomfamPiece) {text, text != NULL ? strlen(text) : 0};
	}
	CHECK(bloomfam_builder_make(NULL, &type, "cuckoo", 0.001, 0, &builder, &error) == BLOOMFAM_OK);
	CHECK(bloomfam_builder_add(builder, &column, answers, &counts, &error) == BLOOMFAM_OK);
	for (i = 0; i < 3000; i++)
		CHECK(answers[i] == (i < 1500 ? BLOOMFAM_ABSENT : expected[i % LENGTH(texts)]));
	CHECK(counts.absent == 1500 + 750 && counts.null == 250 && counts.bad == 500 && counts.impossible == 0 && counts.first_odd == 1501);
	CHECK(bloomfam_builder_finish(builder, &filter, &error) == BLOOMFAM_OK);
	bloomfam_info(filter, &info);
	CHECK(info.keys_added == 2250 && strcmp(info.family, "date") == 0);
	CHECK(bloomfam_ask(filter, NULL, &column, answers, NULL, &error) == BLOOMFAM_OK);
	for (i = 1500; i < 3000; i++)
		CHECK(answers[i] == (expected[i % LENGTH(texts)] == BLOOMFAM_ABSENT ? BLOOMFAM_MAYBE : expected[i % LENGTH(texts)]));
	bloomfam_close(filter);
	bloomfam_builder_free(builder);

	/* the first bad key is an error, if nobody takes the answers */
	CHECK(bloomfam_builder_make(NULL, &type, NULL, 0, 100, &builder, &error) == BLOOMFAM_OK);
	client_error_init(&error);
	CHECK(bloomfam_builder_add(builder, &column, NULL, NULL, &error) == BLOOMFAM_BAD_KEY);
	CHECK(error.row == 1501 && strstr(error.message, "2023-02-29") != NULL && client_error_is_whole(&error, BLOOMFAM_BAD_KEY));
	bloomfam_builder_free(builder);

	/* usual parameters */
	CHECK(bloomfam_builder_make(NULL, &type, NULL, 0, 100, &builder, &error) == BLOOMFAM_OK);
	column.n = 1;
	CHECK(bloomfam_builder_add(builder, &column, NULL, NULL, &error) == BLOOMFAM_OK);
	CHECK(bloomfam_builder_finish(builder, &filter, &error) == BLOOMFAM_OK);
	bloomfam_info(filter, &info);
	CHECK(strcmp(info.kind, "blocked") == 0 && info.target_fpr == 0.01 && info.capacity == 100);
	bloomfam_close(filter);
	bloomfam_builder_free(builder);
}

/*
 * Tests a key with two readings: it is found if either reading was added, and cannot be added
 * itself.
 */
static void
two_readings(void)
{
	static const char *const types[] = {"real", "double precision"};
	size_t		i;

	for (i = 0; i < LENGTH(types); i++)
	{
		BloomfamType type = client_type(types[i]);
		BloomfamType any;
		BloomfamPiece piece = {"0.1", 3};
		BloomfamPiece other = {"0.2", 3};
		BloomfamColumn column = bloomfam_pieces(BLOOMFAM_WRITTEN, &piece, 1);
		BloomfamColumn others = bloomfam_pieces(BLOOMFAM_WRITTEN, &other, 1);
		BloomfamBuilder *builder;
		BloomfamFilter *filter;
		BloomfamError error;
		uint8_t		answer;

		CHECK(bloomfam_builder_make(NULL, &type, "ribbon", 1e-9, 0, &builder, &error) == BLOOMFAM_OK);
		CHECK(bloomfam_builder_add(builder, &column, NULL, NULL, &error) == BLOOMFAM_OK);
		CHECK(bloomfam_builder_finish(builder, &filter, &error) == BLOOMFAM_OK);
		bloomfam_builder_free(builder);
		CHECK(bloomfam_ask(filter, NULL, &column, &answer, NULL, &error) == BLOOMFAM_OK && answer == BLOOMFAM_MAYBE);
		CHECK(bloomfam_ask(filter, NULL, &others, &answer, NULL, &error) == BLOOMFAM_OK && answer == BLOOMFAM_ABSENT);
		type = client_type(types[1 - i]);
		CHECK(bloomfam_ask(filter, &type, &column, &answer, NULL, &error) == BLOOMFAM_OK && answer == BLOOMFAM_ABSENT);

		/* by the filter's own type nothing can be built of it */
		CHECK(bloomfam_filter_type(filter, &any, &error) == BLOOMFAM_OK && any.id == BLOOMFAM_TYPE_FLOAT);
		CHECK(bloomfam_builder_make(NULL, &any, NULL, 0, 0, &builder, &error) == BLOOMFAM_OK);
		CHECK(bloomfam_builder_add(builder, &column, NULL, NULL, &error) == BLOOMFAM_BAD_KEY && error.hint[0] != '\0');
		bloomfam_builder_free(builder);
		bloomfam_close(filter);
	}

	/* a long text that may be a name, among many in Arrow's layout */
	{
		static const char long_name[] = "a table with a name that is longer than any name, by far, is it not";
		char		bytes[40000];
		int32_t		offsets[601];
		BloomfamType name = client_type("name");
		BloomfamType text = client_type("text");
		BloomfamPiece piece = {long_name, sizeof(long_name) - 1};
		BloomfamColumn one = bloomfam_pieces(BLOOMFAM_WRITTEN, &piece, 1);
		BloomfamColumn column;
		BloomfamBuilder *builder;
		BloomfamFilter *filter;
		BloomfamError error;
		uint8_t		answers[600];
		size_t		j;

		offsets[0] = 0;
		for (j = 0; j < 600; j++)
			offsets[j + 1] = offsets[j] + (j % 100 == 7 ? sprintf(bytes + offsets[j], "%s", long_name) : sprintf(bytes + offsets[j], "%zu", j));
		memset(&column, 0, sizeof(column));
		column.meaning = BLOOMFAM_WRITTEN;
		column.layout = BLOOMFAM_OFFSETS32;
		column.values = bytes;
		column.offsets = offsets;
		column.n = 600;
		CHECK(bloomfam_builder_make(NULL, &name, "ribbon", 1e-9, 0, &builder, &error) == BLOOMFAM_OK);
		CHECK(bloomfam_builder_add(builder, &one, NULL, NULL, &error) == BLOOMFAM_OK);
		CHECK(bloomfam_builder_finish(builder, &filter, &error) == BLOOMFAM_OK);
		bloomfam_builder_free(builder);
		CHECK(bloomfam_ask(filter, NULL, &column, answers, NULL, &error) == BLOOMFAM_OK);
		for (j = 0; j < 600; j++)
			CHECK(answers[j] == (j % 100 == 7 ? BLOOMFAM_MAYBE : BLOOMFAM_ABSENT));
		CHECK(bloomfam_ask(filter, &text, &column, answers, NULL, &error) == BLOOMFAM_OK);
		for (j = 0; j < 600; j++)
			CHECK(answers[j] == BLOOMFAM_ABSENT);
		bloomfam_close(filter);
	}
}

/* ---- many keys that repeat ---- */

static void
repeated(void)
{
	static const char *const names[] = {"ribbon", "counting", "cuckoo"};
	size_t		n = test_in_part() ? 200000 : 20000000;
	size_t		distinct = 1000;
	size_t		k;

	for (k = 0; k < LENGTH(names); k++)
	{
		const BfKind *kind = bf_kind_by_name(names[k]);
		BloomfamType type = client_type("bigint");
		BloomfamBuilder *builder;
		BloomfamFilter *filter;
		BloomfamError error;
		uint64_t   *hashes = test_malloc(100000 * 8);
		uint64_t   *few = test_malloc(distinct * BF_MAX_TIMES * 8);
		size_t		done;
		size_t		i;
		size_t		len = 0;
		uint8_t    *data;
		BfHeader	head;

		for (i = 0; i < 100000; i++)
			hashes[i] = bf_key_int(0, number(i % distinct));
		CHECK(bloomfam_builder_make(NULL, &type, names[k], 0.01, 0, &builder, &error) == BLOOMFAM_OK);
		for (done = 0; done < n; done += 100000)
			CHECK(bloomfam_builder_add_hashes(builder, hashes, 100000, &error) == BLOOMFAM_OK);
		CHECK(bloomfam_builder_finish(builder, &filter, &error) == BLOOMFAM_OK);

		/*
		 * The filter has the bytes of one with fewer repetitions, as many as a filter can count,
		 * apart from the number of keys in its header.
		 */
		for (i = 0; i < distinct * BF_MAX_TIMES; i++)
			few[i] = hashes[i % distinct];
		data = core_value(kind, 0.01, 0, "int", few, distinct * BF_MAX_TIMES, &len);
		if (CHECK(data != NULL))
		{
			const char *reason;
			BfView		view;

			CHECK(bf_open(data, len, len, &view, &reason) == BF_OK);
			head = view.head;
			head.keys_added = n;
			bf_write_header(data, &head);
			bf_seal(&test_env, data, len);
		}
		CHECKF(same_bytes(filter, data, len), "%s: other bytes", names[k]);
		bloomfam_close(filter);
		bloomfam_builder_free(builder);
		free(hashes);
		free(few);
		free(data);
	}
}

/* ---- parameters ---- */

static void
parameters(void)
{
	static const struct
	{
		const char *type;
		const char *type_kind;
		const char *kind;
		double		fpr;
		uint64_t	expected;
		BloomfamStatus status;
		const char *says;
	}			cases[] = {
		{"bigint", NULL, "bloom", 0.01, 0, BLOOMFAM_BAD_ARGUMENT, "\"bloom\""},
		{"bigint", NULL, "identity", 0.01, 0, BLOOMFAM_BAD_ARGUMENT, "\"identity\""},
		{"bigint", NULL, "partial", 0.01, 0, BLOOMFAM_BAD_ARGUMENT, "\"partial\""},
		{"bigint", NULL, "blocked", 1, 0, BLOOMFAM_BAD_ARGUMENT, "between 0 and 1"},
		{"bigint", NULL, "blocked", -0.1, 0, BLOOMFAM_BAD_ARGUMENT, "between 0 and 1"},
		{"bigint", NULL, "blocked", 1e-9, 0, BLOOMFAM_BAD_ARGUMENT, "1e-09 is too low"},
		{"bigint", NULL, "parquet", 0.01, 0, BLOOMFAM_WRONG_TYPE, "\"parquet\""},
		{"bigint", "parquet", "blocked", 0.01, 0, BLOOMFAM_WRONG_TYPE, "\"blocked\""},
		{"bigint", NULL, "blocked", 0.01, UINT64_C(10000000000), BLOOMFAM_TOO_LARGE, "too large"},
		{"bigint", NULL, "blocked", 0.01, UINT64_MAX, BLOOMFAM_BAD_ARGUMENT, "out of range"},
	};
	BloomfamType type = client_type("bigint");
	BloomfamBuilder *builder;
	BloomfamError error;
	uint64_t	size;
	size_t		i;

	for (i = 0; i < LENGTH(cases); i++)
	{
		BloomfamType of = client_type_of_kind(cases[i].type, cases[i].type_kind);
		BloomfamStatus status;

		client_error_init(&error);
		builder = (BloomfamBuilder *) &error;
		status = bloomfam_builder_make(NULL, &of, cases[i].kind, cases[i].fpr, cases[i].expected, &builder, &error);
		CHECKF(status == cases[i].status && builder == NULL && client_error_is_whole(&error, status) && strstr(error.message, cases[i].says) != NULL, "case %zu: status %d, %s", i, status, error.message);
	}
	CHECK(bloomfam_builder_make(NULL, &type, "blocked", (double) NAN, 0, &builder, &error) == BLOOMFAM_BAD_ARGUMENT);

	/* sizes that are told are those that come */
	for (i = 1; i < 100000; i = i * 3 + 1)
	{
		BloomfamFilter *filter = build_ints(NULL, "standard", 0.001, i, 10, 10, 10);
		BloomfamInfo info;

		CHECK(bloomfam_planned_size(&type, "standard", 0.001, i, &size, &error) == BLOOMFAM_OK);
		bloomfam_info(filter, &info);
		CHECKF(info.size == size, "%zu keys: %" PRIu64 " bytes, not %" PRIu64, i, info.size, size);
		bloomfam_close(filter);
	}
	CHECK(bloomfam_planned_size(&type, NULL, 0, 20000000, &size, &error) == BLOOMFAM_OK && size > 20000000 && size < 30000000);
	CHECK(bloomfam_planned_size(&type, NULL, 0, UINT64_MAX, &size, &error) == BLOOMFAM_TOO_LARGE);
}

/* ---- uniting ---- */

static void
unions(void)
{
	const char *kind_name;
	BloomfamFilter *none = build_ints(NULL, "blocked", 0.01, 0, 0, 1, 1);
	BloomfamFilter *united;
	BloomfamError error;
	int			nunited = 0;
	size_t		k;

	for (k = 0; (kind_name = bloomfam_kind_name(k)) != NULL; k++)
	{
		const BfKind *kind = bf_kind_by_name(kind_name);
		BloomfamFilter *a = build_ints(NULL, kind_name, 0.01, 5000, 3000, 3000, 1000);
		BloomfamFilter *b = build_ints(NULL, kind_name, 0.01, 9000, 2000, 1000, 1000);
		BloomfamStatus status = bloomfam_unite(NULL, a, b, &united, &error);
		TestFilter	x;
		TestFilter	y;
		TestFilter	both;

		x.data = (uint8_t *) (uintptr_t) bloomfam_bytes(a, &x.len);
		y.data = (uint8_t *) (uintptr_t) bloomfam_bytes(b, &y.len);
		test_open(&x);
		test_open(&y);
		if (!test_combine(&x, &y, false, &both))
		{
			CHECKF(status == BLOOMFAM_UNSUPPORTED && client_error_is_whole(&error, status), "%s: status %d", kind_name, status);
			CHECK(united == NULL);
		}
		else if (CHECKF(status == BLOOMFAM_OK, "%s: %s", kind_name, error.message))
		{
			test_pack(&both);
			CHECKF(same_bytes(united, both.data, both.len), "%s: other bytes", kind_name);
			CHECK(bloomfam_validate(united, &error) == BLOOMFAM_OK);
			test_free(&both);
			bloomfam_close(united);
			nunited++;
		}

		/* with what has no keys: as it was */
		if (kind->hash_id == BF_HASH_XXH3 && kind->caps & BF_CAN_UNION && CHECKF(bloomfam_unite(NULL, a, none, &united, &error) == BLOOMFAM_OK, "%s: %s", kind_name, error.message))
		{
			CHECKF(same_bytes(united, x.data, x.len), "%s: other bytes with no keys", kind_name);
			bloomfam_close(united);
		}
		bloomfam_close(a);
		bloomfam_close(b);
	}

	CHECK(nunited >= 5);

	/* unlike ones */
	{
		BloomfamFilter *blocked = build_ints(NULL, "blocked", 0.01, 100, 100, 100, 100);
		BloomfamFilter *standard = build_ints(NULL, "standard", 0.01, 100, 100, 100, 100);
		BloomfamFilter *parquet = build_ints(NULL, "parquet", 0.01, 100, 100, 100, 100);
		BloomfamType type = client_type("oid");
		BloomfamBuilder *builder;
		BloomfamFilter *oids;
		uint64_t	hash = 1;

		CHECK(bloomfam_unite(NULL, blocked, standard, &united, &error) == BLOOMFAM_UNSUPPORTED && united == NULL);
		CHECK(bloomfam_unite(NULL, blocked, parquet, &united, &error) == BLOOMFAM_UNSUPPORTED || error.status == BLOOMFAM_WRONG_TYPE);
		CHECK(bloomfam_builder_make(NULL, &type, "blocked", 0.01, 100, &builder, &error) == BLOOMFAM_OK);
		CHECK(bloomfam_builder_add_hashes(builder, &hash, 1, &error) == BLOOMFAM_OK);
		CHECK(bloomfam_builder_finish(builder, &oids, &error) == BLOOMFAM_OK);
		bloomfam_builder_free(builder);
		CHECK(bloomfam_unite(NULL, blocked, oids, &united, &error) == BLOOMFAM_WRONG_TYPE && strstr(error.detail, "oid") != NULL);
		bloomfam_close(blocked);
		bloomfam_close(standard);
		bloomfam_close(parquet);
		bloomfam_close(oids);
	}
	bloomfam_close(none);
}

/* ---- asking what has no keys, and with other types ---- */

static void
no_keys(void)
{
	BloomfamFilter *none = build_ints(NULL, "blocked", 0.01, 0, 0, 1, 1);
	BfHeader	head = test_plan(bf_kind_by_name("blocked"), 0.01, 100);
	TestFilter	value = test_empty(&head);
	BloomfamFilter *untyped;
	BloomfamType text = client_type("text");
	int64_t		numbers[3] = {1, 2, 3};
	BloomfamColumn ints = bloomfam_int64s(numbers, 3);
	BloomfamPiece piece = {"a", 1};
	BloomfamColumn texts = bloomfam_pieces(BLOOMFAM_TEXT, &piece, 1);
	BloomfamError error;
	uint8_t		answers[3];

	/* the aggregate of no bigints */
	CHECK(bloomfam_ask(none, NULL, &ints, answers, NULL, &error) == BLOOMFAM_OK && answers[0] == BLOOMFAM_ABSENT && answers[2] == BLOOMFAM_ABSENT);
	CHECK(bloomfam_ask(none, &text, &texts, answers, NULL, &error) == BLOOMFAM_WRONG_TYPE);
	CHECK(strstr(error.detail, "int") != NULL && strstr(error.detail, "text") != NULL);

	/* a filter without a family contains nothing, whatever its payload holds */
	memset(test_payload(&value), 0xff, value.view.head.payload_len);
	CHECK(bloomfam_open(NULL, value.data, value.len, 0, &untyped, &error) == BLOOMFAM_OK);
	CHECK(bloomfam_ask(untyped, &text, &texts, answers, NULL, &error) == BLOOMFAM_OK && answers[0] == BLOOMFAM_ABSENT);
	CHECK(bloomfam_ask(untyped, NULL, &texts, answers, NULL, &error) == BLOOMFAM_NOT_ASKABLE);
	bloomfam_close(untyped);
	test_free(&value);
	bloomfam_close(none);
}

/* ---- names that servers cut, by the encodings of their databases ---- */

static void
cut_names(void)
{
	static const char *const parts[] = {"a", "\xc3\xa9", "\xe6\x97\xa5", "\xf0\x9d\x84\x9e"};
	BloomfamType type = client_type("text");
	size_t		trial;

	for (trial = 0; trial < 2000; trial++)
	{
		char		text[400] = "";
		size_t		ends[100];	/* of characters */
		size_t		chars = 20 + test_below(60);
		size_t		widths[4] = {1, 1 + test_below(2), 1 + test_below(3), 1 + test_below(4)};
		size_t		stored = 0;
		size_t		bytes = 0;
		size_t		i;
		BloomfamPiece piece = {text, 0};
		BloomfamColumn column;
		BloomfamColumn asked;
		BloomfamBuilder *builder;
		BloomfamFilter *filter;
		BloomfamError error;
		uint8_t		answer;

		/* the server keeps as many whole characters as have 63 bytes there; in SQL_ASCII 63 bytes */
		for (i = 0; i < chars; i++)
		{
			size_t		which = test_below(4);

			strcat(text, parts[which]);
			ends[i] = strlen(text);
			bytes += widths[which];
			if (bytes <= 63)
				stored = ends[i];
		}
		if (strlen(text) <= 63)
			continue;
		piece.len = trial % 5 == 0 ? 63 : stored;
		column = bloomfam_pieces(BLOOMFAM_TEXT, &piece, 1);
		column.any_bytes = true;
		CHECK(bloomfam_builder_make(NULL, &type, "ribbon", 1e-9, 0, &builder, &error) == BLOOMFAM_OK);
		CHECK(bloomfam_builder_add(builder, &column, NULL, NULL, &error) == BLOOMFAM_OK);
		CHECK(bloomfam_builder_finish(builder, &filter, &error) == BLOOMFAM_OK);
		bloomfam_builder_free(builder);
		piece.len = strlen(text);
		asked = bloomfam_pieces(BLOOMFAM_WRITTEN, &piece, 1);
		CHECKF(bloomfam_ask(filter, NULL, &asked, &answer, NULL, &error) == BLOOMFAM_OK && answer == BLOOMFAM_MAYBE, "\"%s\", of which %zu bytes are stored", text, stored);

		/* another text, and one that is known to be a text, are not there */
		text[0] = '#';
		CHECK(bloomfam_ask(filter, NULL, &asked, &answer, NULL, &error) == BLOOMFAM_OK && (answer == BLOOMFAM_ABSENT || (unsigned char) text[1] >= 0x80));
		bloomfam_close(filter);
	}
}

/* ---- kind parquet ---- */

/*
 * Checks that a filter of no keys has the family of the SQL type, as SQL's aggregate of no keys
 * has.
 */
static void
no_column(void)
{
	static const char *const cases[][2] = {{"int32", "int"}, {"bigint", "int"}, {"real", "float"}, {"decimal(9,2)", "numeric"}, {"timestamptz", "timestamptz"}, {"uuid", "uuid"}};
	size_t		i;

	for (i = 0; i < LENGTH(cases); i++)
	{
		BloomfamType type = client_type_of_kind(cases[i][0], "parquet");
		BloomfamBuilder *builder;
		BloomfamFilter *filter;
		BloomfamError error;
		BloomfamInfo info;

		CHECK(bloomfam_builder_make(NULL, &type, "parquet", 0.01, i % 2 * 100, &builder, &error) == BLOOMFAM_OK);
		CHECK(bloomfam_builder_finish(builder, &filter, &error) == BLOOMFAM_OK);
		bloomfam_builder_free(builder);
		bloomfam_info(filter, &info);
		CHECKF(strcmp(info.family, cases[i][1]) == 0 && strcmp(info.kind, "identity") == 0, "%s: %s", cases[i][0], info.family);
		CHECK(bloomfam_validate(filter, &error) == BLOOMFAM_OK);
		bloomfam_close(filter);
	}
}

/* Checks that keys of an SQL type can be asked for in a filter of any suitable Parquet column. */
static void
parquet(void)
{
	static const struct
	{
		const char *column;
		const char *asked;
		BloomfamStatus status;
	}			cases[] = {
		{"int32", "bigint", BLOOMFAM_OK},
		{"int64", "integer", BLOOMFAM_OK},
		{"double", "double precision", BLOOMFAM_OK},
		{"double", "real", BLOOMFAM_OK},
		{"parquet float", "double precision", BLOOMFAM_OK},
		{"decimal(9,2)", "numeric", BLOOMFAM_OK},
		{"text", "text", BLOOMFAM_OK},
		{"text", "name", BLOOMFAM_OK},
		{"text", "char(3)", BLOOMFAM_WRONG_TYPE},
		{"timestamp(3)", "timestamp", BLOOMFAM_OK},
		{"timestamp(3)", "timestamptz", BLOOMFAM_WRONG_TYPE},
		{"int32", "numeric", BLOOMFAM_WRONG_TYPE},
		{"uuid", "bytea", BLOOMFAM_WRONG_TYPE},
	};
	static const char *const texts[] = {"1", "1", "1.5", "1.5", "1.5", "1.50", "1", "1", "1", "2024-02-29 12:00:00.123", "2024-02-29 12:00:00+00", "1", "\\x00"};
	size_t		i;

	for (i = 0; i < LENGTH(cases); i++)
	{
		BloomfamType type = client_type_of_kind(cases[i].column, "parquet");
		BloomfamType asked = client_type(cases[i].asked);
		BloomfamPiece piece = {texts[i], strlen(texts[i])};
		BloomfamColumn column = bloomfam_pieces(BLOOMFAM_WRITTEN, &piece, 1);
		BloomfamBuilder *builder;
		BloomfamFilter *filter;
		BloomfamError error;
		uint8_t		answer;
		BloomfamStatus status;

		CHECK(bloomfam_builder_make(NULL, &type, "parquet", 0.01, 0, &builder, &error) == BLOOMFAM_OK);
		if (cases[i].status == BLOOMFAM_OK)
			CHECK(bloomfam_builder_add(builder, &column, NULL, NULL, &error) == BLOOMFAM_OK);
		else
			CHECK(bloomfam_builder_add_hashes(builder, &(uint64_t) {1}, 1, &error) == BLOOMFAM_OK);
		CHECK(bloomfam_builder_finish(builder, &filter, &error) == BLOOMFAM_OK);
		bloomfam_builder_free(builder);
		status = bloomfam_ask(filter, &asked, &column, &answer, NULL, &error);
		CHECKF(status == cases[i].status && (status != BLOOMFAM_OK || answer == BLOOMFAM_MAYBE), "%s of %s: status %d", cases[i].asked, cases[i].column, status);
		bloomfam_close(filter);
	}
}

/* ---- no memory, and hosts that stop: at each place ---- */

typedef struct Steps
{
	const char *kind;
	uint64_t	expected;
	size_t		n;
} Steps;

/* Builds, unites, and asks with a dictionary.  Returns the first status that is not BLOOMFAM_OK. */
static BloomfamStatus
all_steps(const BloomfamHost *host, const Steps *steps, const int64_t *numbers, BloomfamError *error)
{
	BloomfamType type = client_type_of_kind("bigint", steps->kind);
	BloomfamColumn column = bloomfam_int64s(numbers, steps->n);
	int32_t		index[4] = {0, 1, 0, 1};
	BloomfamColumn indices = {.layout = BLOOMFAM_INT32, .values = index, .n = 4};
	BloomfamColumn two = bloomfam_int64s(numbers, 2);
	uint8_t		answers[4];
	BloomfamBuilder *builder = NULL;
	BloomfamFilter *filter = NULL;
	BloomfamFilter *united = NULL;
	BloomfamStatus status = bloomfam_builder_make(host, &type, steps->kind, 0.01, steps->expected, &builder, error);

	indices.dictionary = &two;
	if (status == BLOOMFAM_OK)
		status = bloomfam_builder_add(builder, &column, NULL, NULL, error);
	if (status == BLOOMFAM_OK)
		status = bloomfam_builder_finish(builder, &filter, error);
	bloomfam_builder_free(builder);
	if (status == BLOOMFAM_OK)
		status = bloomfam_ask(filter, NULL, &indices, answers, NULL, error);
	if (status == BLOOMFAM_OK)
		CHECK(answers[0] == BLOOMFAM_MAYBE && answers[3] == BLOOMFAM_MAYBE);
	if (status == BLOOMFAM_OK && bf_kind_by_name(steps->kind)->caps & BF_CAN_UNION)
		status = bloomfam_unite(host, filter, filter, &united, error);
	if (status == BLOOMFAM_OK)
		status = bloomfam_validate(united != NULL ? united : filter, error);
	bloomfam_close(united);
	bloomfam_close(filter);
	return status;
}

static void
no_memory(void)
{
	static int64_t numbers[20000];
	const char *kind_name;
	size_t		k;
	size_t		i;
	int			stopping;
	int			sized;

	for (i = 0; i < LENGTH(numbers); i++)
		numbers[i] = number(i);
	for (k = 0; (kind_name = bloomfam_kind_name(k)) != NULL; k++)
		for (stopping = 0; stopping < 2; stopping++)
			for (sized = 0; sized < 2; sized++)
			{
				Steps		steps = {kind_name, sized ? 300 : 0, LENGTH(numbers)};
				uint64_t	at;

				for (at = 1; at < 20000; at++)
				{
					TestHost	host;
					BloomfamError error;
					BloomfamStatus status;

					client_host_init(&host);
					if (stopping)
						host.stop_at = at;
					else
						host.fail_at = at;
					status = all_steps(&host.host, &steps, numbers, &error);
					CHECKF(host.live == 0, "%s: %" PRId64 " pieces of memory are lost", kind_name, host.live);
					if (status == BLOOMFAM_OK)
						break;
					CHECKF(status == (stopping ? BLOOMFAM_STOPPED : BLOOMFAM_NO_MEMORY) && client_error_is_whole(&error, status), "%s, %" PRIu64 ": status %d", kind_name, at, status);
					/* after some hundred at each place, at random */
					if (at > 60)
						at += test_below(at / 8);
				}
				CHECKF(at > 2 && at < 20000, "%s: fine at %" PRIu64, kind_name, at);
			}
}

int
main(void)
{
	test_seed(test_is_long() ? (uint64_t) time(NULL) : 27);
	RUN(kinds);
	RUN(bad_keys);
	RUN(two_readings);
	RUN(repeated);
	RUN(parameters);
	RUN(unions);
	RUN(no_keys);
	RUN(cut_names);
	RUN(no_column);
	RUN(parquet);
	RUN(no_memory);
	return test_finish();
}
