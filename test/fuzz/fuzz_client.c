/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * fuzz_client.c
 *	  The client library on any bytes: as a filter of whatever form, as keys that are written, as a column.
 *
 * The first byte says what the others are.
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

#include "client/bloomfam.h"

/* What one may do with a filter that was opened, validated or not. */
static void
use_filter(const BloomfamFilter *filter, const uint8_t *data, size_t size)
{
	BloomfamPiece pieces[3] = {{data, BF_MIN(size, 100)}, {"2024-02-29 12:00:00", 19}, {NULL, 0}};
	int64_t		numbers[8] = {0, 1, -1, 1000, INT64_MAX, INT64_MIN, 42, 7};
	BloomfamColumn written = bloomfam_pieces(BLOOMFAM_WRITTEN, pieces, 3);
	BloomfamColumn ints = bloomfam_int64s(numbers, 8);
	BloomfamFilter *united;
	BloomfamInfo info;
	BloomfamStats stats;
	BloomfamType type;
	BloomfamCounts counts;
	BloomfamError error;
	uint8_t		answers[8];
	size_t		len;

	bloomfam_info(filter, &info);
	MUST(memchr(info.family, 0, sizeof(info.family)) != NULL);
	MUST(info.askable == (bloomfam_filter_type(filter, &type, &error) == BLOOMFAM_OK));
	(void) bloomfam_stats(filter, &stats, &error);
	if (bloomfam_ask(filter, NULL, &written, answers, &counts, &error) == BLOOMFAM_OK)
		MUST(answers[2] == BLOOMFAM_NULL && counts.null == 1 && counts.maybe + counts.absent + counts.bad + counts.impossible == 2);
	if (bloomfam_ask(filter, NULL, &ints, answers, &counts, &error) == BLOOMFAM_OK)
		MUST(counts.maybe + counts.absent + counts.bad + counts.impossible == 8);
	if (bloomfam_unite(NULL, filter, filter, &united, &error) == BLOOMFAM_OK)
		bloomfam_close(united);
	MUST(bloomfam_bytes(filter, &len) != NULL && len == info.size);
}

/* Bytes as a filter: of validated ones the core says the same. */
static void
as_filter(const uint8_t *data, size_t size)
{
	unsigned	flags;

	for (flags = 0; flags < 8; flags += 4)
	{
		BloomfamFilter *filter;
		BloomfamError error;
		const char *reason;
		const void *bytes;
		size_t		len;
		BfView		view;
		bool		valid;

		if (bloomfam_open(NULL, data, size, flags, &filter, &error) != BLOOMFAM_OK)
		{
			MUST(filter == NULL && error.status == BLOOMFAM_INVALID && error.message[0] != '\0');
			MUST(bloomfam_open(NULL, data, size, flags | BLOOMFAM_VALIDATE, &filter, &error) == BLOOMFAM_INVALID);
			continue;
		}
		use_filter(filter, data, size);
		bytes = bloomfam_bytes(filter, &len);
		valid = bf_validate(&test_env, bytes, len, &view, &reason) == BF_OK;
		MUST(valid == (bloomfam_validate(filter, &error) == BLOOMFAM_OK));
		bloomfam_close(filter);
		MUST(valid == (bloomfam_open(NULL, data, size, flags | BLOOMFAM_VALIDATE, &filter, &error) == BLOOMFAM_OK));
		if (valid)
			bloomfam_close(filter);
	}
}

/* A text as a key of each type; what is read one way must be read so again. */
static void
as_key(const uint8_t *data, size_t size)
{
	BloomfamPiece piece = {data, size};
	BloomfamColumn column = bloomfam_pieces(BLOOMFAM_WRITTEN, &piece, 1);
	const char *name;
	size_t		i;

	for (i = 0; (name = bloomfam_type_name(i)) != NULL; i++)
	{
		BloomfamType type;
		BloomfamError error;
		uint64_t	hashes[2] = {0, 1};
		uint8_t		answers[2] = {0, 0};

		MUST(bloomfam_type_by_name(name, NULL, &type, &error) == BLOOMFAM_OK);
		column.any_bytes = false;
		MUST(bloomfam_hash(&type, &column, &hashes[0], &answers[0], NULL, &error) == BLOOMFAM_OK);
		MUST((answers[0] == BLOOMFAM_ABSENT) == (bloomfam_column_error(&type, &column, 0, &error) == BLOOMFAM_OK));
		column.any_bytes = true;
		MUST(bloomfam_hash(&type, &column, &hashes[1], &answers[1], NULL, &error) == BLOOMFAM_OK);
		if (answers[0] == BLOOMFAM_ABSENT)
			MUST(answers[1] == BLOOMFAM_ABSENT && hashes[0] == hashes[1]);
	}
}

/* A name of a type, before the first zero byte. */
static void
as_name(const uint8_t *data, size_t size)
{
	char	   *name = test_malloc(size + 1);
	BloomfamType type;
	BloomfamError error;

	if (size > 0)
		memcpy(name, data, size);
	name[size] = '\0';
	if (bloomfam_type_by_name(name, NULL, &type, &error) == BLOOMFAM_OK)
		MUST(type.family_id == bf_family_id(type.family, strlen(type.family)));
	(void) bloomfam_type_by_name(name, "parquet", &type, &error);
	free(name);
}

/* Offsets, views or indices into a column, and nothing that is read beyond it. */
static void
as_column(const uint8_t *data, size_t size)
{
	static const BloomfamLayout layouts[] = {BLOOMFAM_OFFSETS32, BLOOMFAM_OFFSETS64, BLOOMFAM_VIEWS};
	BloomfamLayout layout = layouts[data[0] % 3];
	size_t		width = layout == BLOOMFAM_OFFSETS32 ? 4 : layout == BLOOMFAM_OFFSETS64 ? 8 : 16;
	size_t		n = (size - 1) / width;
	char	   *values = test_malloc(256);
	int64_t		lens[1] = {256};
	const void *buffers[1] = {values};
	BloomfamColumn column;
	BloomfamType type;
	BloomfamError error;
	uint8_t	   *copy = fuzz_copy(data + 1, n * width);
	uint64_t   *hashes = test_malloc(n * 8);

	memset(values, 'a', 256);
	memset(&column, 0, sizeof(column));
	column.layout = layout;
	column.meaning = data[0] & 64 ? BLOOMFAM_TEXT : data[0] & 32 ? BLOOMFAM_BYTES : BLOOMFAM_WRITTEN;
	if (layout == BLOOMFAM_VIEWS)
	{
		column.values = copy;
		column.n = n;
		column.nbuffers = 1;
		column.buffers = buffers;
		column.buffer_lens = lens;
	}
	else if (n > 0)
	{
		/* the last one is the column's own word for its size */
		int64_t		end = 256;

		memcpy(copy + (n - 1) * width, &end, width);
		column.values = values;
		column.offsets = copy;
		column.n = n - 1;
	}
	MUST(bloomfam_type_by_name(column.meaning == BLOOMFAM_BYTES ? "bytea" : "text", NULL, &type, &error) == BLOOMFAM_OK);
	MUST(bloomfam_hash(&type, &column, hashes, NULL, NULL, &error) == BLOOMFAM_OK);
	free(hashes);
	free(copy);
	free(values);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t    *copy;

	if (size < 2)
		return 0;
	copy = fuzz_copy(data + 1, size - 1);
	switch (data[0] % 4)
	{
		case 0:
			as_key(copy, size - 1);
			break;
		case 1:
			as_name(copy, size - 1);
			break;
		case 2:
			as_column(copy, size - 1);
			break;
		default:
			as_filter(copy, size - 1);
			break;
	}
	free(copy);
	return 0;
}
