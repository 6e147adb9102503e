/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_strings.c
 *	  Columns of texts and bytes: in each layout, with bytes that are not valid text, and with
 *	  offsets that point anywhere.
 *
 *-------------------------------------------------------------------------
 */
#include "columns.h"

static const char *const texts[] = {"", "a", "a ", "  ", "hello", "\xc3\xa9\xe6\x97\xa5", "exactly twelv", "exactly twelve", "a text that is longer than any view has room for, and than a name", "1", "-5"};

#define NTEXTS	LENGTH(texts)

/* Lays out the texts as a column, with first texts before it, in memory of exactly its size. */
static BloomfamColumn
texts_as(BloomfamLayout layout, size_t first)
{
	char		bytes[1000];
	int32_t		offsets32[NTEXTS + 1];
	int64_t		offsets64[NTEXTS + 1];
	BloomfamPiece pieces[NTEXTS];
	uint8_t		views[16 * NTEXTS] = {0};
	char		long_bytes[1000];
	int32_t		long_len = 0;
	const void *buffers[2];
	int64_t		lens[2];
	BloomfamColumn column = column_of(BLOOMFAM_TEXT, layout, NULL, NTEXTS - first);
	size_t		i;

	offsets32[0] = 3;
	for (i = 0; i < NTEXTS; i++)
	{
		int32_t		len = (int32_t) strlen(texts[i]);

		memcpy(bytes + offsets32[i], texts[i], (size_t) len);
		offsets32[i + 1] = offsets32[i] + len;
		pieces[i].bytes = keep(texts[i], (size_t) len);
		pieces[i].len = (size_t) len;
		memcpy(views + 16 * i, &len, 4);
		memcpy(views + 16 * i + 4, texts[i], (size_t) BF_MIN(len, 12));
		if (len > 12)
		{
			int32_t		buffer = 1;

			memcpy(long_bytes + long_len, texts[i], (size_t) len);
			memcpy(views + 16 * i + 8, &buffer, 4);
			memcpy(views + 16 * i + 12, &long_len, 4);
			long_len += len;
		}
	}
	for (i = 0; i <= NTEXTS; i++)
		offsets64[i] = offsets32[i];
	column.first = first;
	switch (layout)
	{
		case BLOOMFAM_OFFSETS32:
			column.values = keep(bytes, (size_t) offsets32[NTEXTS]);
			column.offsets = keep(offsets32, sizeof(offsets32));
			break;
		case BLOOMFAM_OFFSETS64:
			column.values = keep(bytes, (size_t) offsets32[NTEXTS]);
			column.offsets = keep(offsets64, sizeof(offsets64));
			break;
		case BLOOMFAM_VIEWS:
			buffers[0] = NULL;
			lens[0] = 0;
			buffers[1] = keep(long_bytes, (size_t) long_len);
			lens[1] = long_len;
			column.values = keep(views, sizeof(views));
			column.nbuffers = 2;
			column.buffers = keep(buffers, sizeof(buffers));
			column.buffer_lens = keep(lens, sizeof(lens));
			break;
		default:
			column.values = keep(pieces, sizeof(pieces));
			break;
	}
	return column;
}

static const BloomfamLayout string_layouts[] = {BLOOMFAM_OFFSETS32, BLOOMFAM_OFFSETS64, BLOOMFAM_VIEWS, BLOOMFAM_PIECES};

static void
strings(void)
{
	size_t		layout;
	size_t		first;
	size_t		i;

	for (layout = 0; layout < LENGTH(string_layouts); layout++)
		for (first = 0; first < 3; first++)
		{
			BloomfamColumn column = texts_as(string_layouts[layout], first);
			BfPlainColumn ints = {.type = BF_PLAIN_INT64};
			Hashed		hashed = hash_column("text", &column);

			for (i = 0; i < column.n; i++)
			{
				const char *text = texts[first + i];

				CHECKF(hashed.answers[i] == BLOOMFAM_ABSENT && hashed.hashes[i] == bf_key_text(0, text, strlen(text)), "layout %zu, text \"%s\"", layout, text);
			}
			hashed = hash_column("parquet text", &column);
			for (i = 0; i < column.n; i++)
				CHECK(hashed.hashes[i] == bf_plain_bytes(texts[first + i], strlen(texts[first + i])));
			hashed = hash_column("name", &column);
			for (i = 0; i < column.n; i++)
				CHECK(hashed.hashes[i] == bf_key_text(0, texts[first + i], BF_MIN(strlen(texts[first + i]), 63)));
			column.meaning = BLOOMFAM_BYTES;
			hashed = hash_column("bytea", &column);
			for (i = 0; i < column.n; i++)
				CHECK(hashed.hashes[i] == bf_key_bytes(0, texts[first + i], strlen(texts[first + i])));
			hashed = hash_column("\"char\"", &column);
			for (i = 0; i < column.n; i++)
				CHECK(hashed.answers[i] == (strlen(texts[first + i]) == 1 ? BLOOMFAM_ABSENT : BLOOMFAM_BAD));
			check_status("text", &column, BLOOMFAM_WRONG_TYPE, "bytes");
			check_status("bigint", &column, BLOOMFAM_WRONG_TYPE, "bytes");
			column.meaning = BLOOMFAM_WRITTEN;
			hashed = hash_column("bigint", &column);
			for (i = 0; i < column.n; i++)
				CHECK(hashed.hashes[i] == written("bigint", texts[first + i]));
			hashed = hash_column("parquet int64", &column);
			for (i = 0; i < column.n; i++)
			{
				uint64_t	hash = 0;

				CHECK(hashed.answers[i] == (first + i >= 9 ? BLOOMFAM_ABSENT : BLOOMFAM_BAD));
				if (hashed.answers[i] == BLOOMFAM_ABSENT && bf_plain_int(&ints, atoi(texts[first + i]), &hash))
					CHECK(hashed.hashes[i] == hash);
			}
			column.meaning = BLOOMFAM_TEXT;
			check_status("bigint", &column, BLOOMFAM_WRONG_TYPE, "texts");
			check_status("uuid", &column, BLOOMFAM_WRONG_TYPE, "texts");
			check_status("bytea", &column, BLOOMFAM_WRONG_TYPE, "texts");
			forget();
		}
}

/* Tests bytes that are not valid text among valid texts, in batches of all sizes and positions. */
static void
odd_texts(void)
{
	static const char *const odd[] = {"\xff", "a\xc3", "\xed\xa0\x80"};
	enum
	{
		N = 1600
	};
	size_t		trial;

	for (trial = 0; trial < 200; trial++)
	{
		char	   *bytes = test_malloc(N * 20);
		int32_t    *offsets = test_malloc((N + 1) * sizeof(*offsets));
		uint8_t    *expected = test_malloc(N);
		size_t		n = 1 + test_below(N);
		BloomfamColumn column;
		Hashed		hashed;
		size_t		i;

		offsets[0] = 0;
		for (i = 0; i < n; i++)
		{
			char	   *text = bytes + offsets[i];
			size_t		len = test_below(20);
			size_t		j;

			for (j = 0; j < len; j++)
				text[j] = (char) ('!' + test_below(90));
			expected[i] = BLOOMFAM_ABSENT;
			if (test_below(trial < 50 ? 10 : 700) == 0)
			{
				const char *what = odd[test_below(LENGTH(odd))];

				len = strlen(what);
				memcpy(text, what, len);
				expected[i] = BLOOMFAM_BAD;
			}
			else if (len > 0 && test_below(trial < 50 ? 10 : 700) == 0)
			{
				text[test_below(len)] = '\0';
				expected[i] = BLOOMFAM_IMPOSSIBLE;
			}
			else if (len >= 2 && test_below(30) == 0)
				memcpy(text, "\xc3\xa9", 2);
			offsets[i + 1] = offsets[i] + (int32_t) len;
		}
		column = column_of(BLOOMFAM_TEXT, BLOOMFAM_OFFSETS32, keep(bytes, (size_t) offsets[n]), n);
		column.offsets = keep(offsets, (n + 1) * sizeof(*offsets));
		column.any_bytes = test_below(2) == 0;
		hashed = hash_column("text", &column);
		for (i = 0; i < n; i++)
		{
			if (column.any_bytes && expected[i] == BLOOMFAM_BAD)
				expected[i] = BLOOMFAM_ABSENT;
			CHECKF(hashed.answers[i] == expected[i], "text %zu of %zu: answer %d, not %d", i, n, hashed.answers[i], expected[i]);
			CHECK(hashed.hashes[i] == (expected[i] == BLOOMFAM_ABSENT ? bf_key_text(0, bytes + offsets[i], (size_t) (offsets[i + 1] - offsets[i])) : 0));
		}
		free(bytes);
		free(offsets);
		free(expected);
		forget();
	}
}

/* Checks that values whose offsets or views point out of the column are bad, and are not read. */
static void
wild_offsets(void)
{
	uint64_t	trial;

	for (trial = 0; trial < 20000; trial++)
	{
		BloomfamLayout layout = string_layouts[test_below(3)];
		BloomfamColumn column = texts_as(layout, 0);
		BloomfamType type = client_type("text");
		uint64_t	hashes[NTEXTS];
		uint8_t		answers[NTEXTS];
		uint64_t	number = test_random() >> test_below(64);
		size_t		at;

		/* the last offset is the column's own word for its size */
		if (layout == BLOOMFAM_VIEWS)
			memcpy((uint8_t *) kept[nkept - 3] + 4 * test_below(4 * NTEXTS), &number, 4);
		else
		{
			at = test_below(NTEXTS);
			memcpy((uint8_t *) kept[nkept - 1] + at * (layout == BLOOMFAM_OFFSETS32 ? 4 : 8), &number, layout == BLOOMFAM_OFFSETS32 ? 4 : 8);
		}
		CHECK(bloomfam_hash(&type, &column, hashes, answers, NULL, NULL) == BLOOMFAM_OK);
		forget();
	}
}

/*
 * Tests offsets of many batches, some of which point anywhere: each row has the hash that it has
 * alone, or is bad.
 */
static void
wild_rows(void)
{
	enum
	{
		N = 1600,
		LEN = 9000
	};
	uint64_t	trial;

	for (trial = 0; trial < test_trials(3000); trial++)
	{
		bool		wide = test_below(2) == 0;
		size_t		n = 1 + test_below(N);
		char	   *bytes = kept[nkept++] = test_malloc(LEN);
		int64_t		offsets[N + 1];
		int32_t		narrow[N + 1];
		BloomfamColumn column;
		Hashed		hashed;
		size_t		changes;
		size_t		i;

		/* plain texts, and behind them bytes that are none, which no row should have */
		for (i = 0; i < LEN; i++)
			bytes[i] = i < LEN - 1000 ? (char) ('a' + test_below(26)) : "\0\xff"[test_below(2)];
		offsets[0] = 0;
		for (i = 0; i < n; i++)
			offsets[i + 1] = offsets[i] + (int64_t) test_below(6);
		offsets[n] = LEN;
		for (changes = test_below(4); changes > 0; changes--)
		{
			/* most often where batches meet */
			size_t		at = test_below(2) == 0 ? test_below(n) : 512 * test_below(n / 512 + 1);
			static const int64_t numbers[] = {-1, 0, LEN, LEN + 1, 1000000000, INT32_MAX, INT32_MIN};

			if (at < n)
				offsets[at] = test_below(2) == 0 ? numbers[test_below(LENGTH(numbers))] : (int64_t) test_below(LEN + 1);
		}
		for (i = 0; i <= n; i++)
			narrow[i] = (int32_t) offsets[i];
		column = column_of(BLOOMFAM_TEXT, wide ? BLOOMFAM_OFFSETS64 : BLOOMFAM_OFFSETS32, bytes, n);
		column.offsets = wide ? keep(offsets, (n + 1) * 8) : keep(narrow, (n + 1) * 4);
		hashed = hash_column("text", &column);
		for (i = 0; i < n; i++)
		{
			bool		outside = offsets[i] < 0 || offsets[i + 1] < offsets[i] || offsets[i + 1] > LEN;
			BloomfamAnswer expected = BLOOMFAM_BAD;
			uint64_t	hash = 0;

			if (!outside)
			{
				BloomfamType type = client_type("text");
				BloomfamPiece piece = {bytes + offsets[i], (size_t) (offsets[i + 1] - offsets[i])};
				BloomfamColumn alone = bloomfam_pieces(BLOOMFAM_TEXT, &piece, 1);
				uint8_t		answer;

				CHECK(bloomfam_hash(&type, &alone, &hash, &answer, NULL, NULL) == BLOOMFAM_OK);
				expected = answer;
			}
			CHECKF(hashed.answers[i] == expected && hashed.hashes[i] == hash, "row %zu of %zu: answer %d, not %d", i, n, hashed.answers[i], expected);
		}
		forget();
	}
}

int
main(void)
{
	test_seed(test_is_long() ? (uint64_t) time(NULL) : 27);
	RUN(strings);
	RUN(odd_texts);
	RUN(wild_offsets);
	RUN(wild_rows);
	return test_finish();
}
