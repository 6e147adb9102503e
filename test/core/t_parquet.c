/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_parquet.c
 *	  Kind parquet: its bits are those that other programs write, and so is the header around them.
 *
 *-------------------------------------------------------------------------
 */
#include "kinds.h"

#include "../../src/core/bf_parquet.h"

static const BfKind *
parquet(void)
{
	return bf_kind_by_id(BF_KIND_PARQUET);
}

/* Sets the bits of a key one at a time, as Parquet's specification describes them. */
static void
set_by_the_book(uint8_t *bitset, uint64_t z, uint64_t hash)
{
	static const uint32_t salt[8] = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU, 0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U};
	uint8_t    *block = bitset + 32 * (((hash >> 32) * z) >> 32);
	int			i;

	for (i = 0; i < 8; i++)
	{
		uint32_t	bit = ((uint32_t) hash * salt[i]) >> 27;

		block[4 * i + bit / 8] |= (uint8_t) (1 << (bit % 8));
	}
}

/* ---- hash and bitset ---- */

/* Checks the hash against test values of the xxHash project, and against that of a short text. */
static void
the_hash(void)
{
	CHECK(bf_hash_plain("", 0) == UINT64_C(17241709254077376921));
	CHECK(bf_hash_plain("a", 1) == UINT64_C(0xd24ec4f1a98c6e5b));
	CHECK(bf_hash_plain("abc", 3) == UINT64_C(0x44bc2cf5ad770999));
}

/*
 * Checks the filter that parquet-mr makes of the texts "a0" to "a9" in 32 bytes, as the tests of
 * parquet-rs have it.
 */
static void
a_filter_of_parquet_mr(void)
{
	static const uint8_t fixture[32] = {
		200, 1, 80, 20, 64, 68, 8, 109, 6, 37, 4, 67, 144, 80, 96, 32, 8, 132, 43, 33, 0, 5, 99, 65, 2, 0, 224, 44, 64, 78, 96, 4
	};
	BfHeader	head = test_head(parquet(), 1, 8);
	TestFilter	filter = test_empty(&head);
	char		text[3] = "a";
	int			i;

	for (i = 0; i < 10; i++)
	{
		uint64_t	hash;

		text[1] = (char) ('0' + i);
		hash = bf_hash_plain(text, 2);
		test_add(&filter, &hash, 1);
	}
	CHECK(memcmp(filter.view.payload, fixture, 32) == 0);
	for (i = 0; i < 10; i++)
	{
		text[1] = (char) ('0' + i);
		CHECK(test_probe(&filter, bf_hash_plain(text, 2)));
	}
	test_free(&filter);
}

/* Checks the layout for any number of blocks, and for every way of adding keys. */
static void
layout(void)
{
	uint64_t	z;

	for (z = 1; z < 200; z++)
	{
		BfHeader	head = test_head(parquet(), z, 8);
		TestFilter	filter = test_empty(&head);
		TestFilter	scalar = test_empty(&head);
		uint8_t    *expected = test_malloc(head.payload_len);
		size_t		n = 1 + test_below(300);
		size_t		i;

		memset(expected, 0, head.payload_len);
		for (i = 0; i < n; i++)
			set_by_the_book(expected, z, keys[i]);
		test_add(&filter, keys, n);
		CHECKF(memcmp(filter.view.payload, expected, head.payload_len) == 0, "%" PRIu64 " blocks, %zu keys", z, n);
		CHECK(bf_parquet_scalar_add(&scalar.view.head, test_payload(&scalar), keys, n) == n);
		CHECKF(memcmp(scalar.view.payload, expected, head.payload_len) == 0, "%" PRIu64 " blocks, %zu keys, scalar", z, n);
		free(expected);
		test_free(&filter);
		test_free(&scalar);
	}
}

static void
twins(void)
{
	twins_agree(parquet(), 8, bf_parquet_scalar_twin(), 20000);
}

typedef struct Fetched
{
	const BfView *view;
	uint8_t		bytes[32];
} Fetched;

static const uint8_t *
fetch(void *arg, uint64_t offset, uint64_t len)
{
	Fetched    *fetched = arg;

	CHECK(len <= sizeof(fetched->bytes) && offset + len <= fetched->view->head.payload_len);
	memcpy(fetched->bytes, fetched->view->payload + offset, len);
	return fetched->bytes;
}

/* Checks that the bytes that are fetched for a probe are those that the probe reads. */
static void
slices(void)
{
	BfHeader	head = test_head(parquet(), 77, 8);
	TestFilter	filter = test_empty(&head);
	Fetched		fetched = {.view = &filter.view};
	size_t		yes = 0;
	size_t		i;

	test_add(&filter, keys, 1500);
	for (i = 0; i < MAX_KEYS; i++)
	{
		bool		answer = parquet()->probe_sliced(&filter.view.head, keys[i], fetch, &fetched);

		CHECK(answer == test_probe(&filter, keys[i]));
		yes += answer;
	}
	CHECK(yes > 1500 && yes < MAX_KEYS / 2);
	test_free(&filter);
}

static void
every_bit_counts(void)
{
	int			round;

	for (round = 0; round < 200; round++)
		CHECK(bits_that_count(parquet(), 8, bf_parquet_scalar_twin(), keys[round]) == 8);
}

/*
 * Checks that the block depends on the high 32 bits only, also at the edges of blocks, so that a
 * fold equals a direct build there.
 */
static void
edges_of_blocks(void)
{
	static const uint64_t sizes[] = {3, 12, 60, 97, 1000, 5040};
	size_t		s;

	for (s = 0; s < 6; s++)
	{
		uint64_t	z = sizes[s];
		BfHeader	head = test_head(parquet(), z, 8);
		TestFilter	filter = test_empty(&head);
		uint64_t	d;
		uint64_t	hashes[600];
		size_t		n = 0;

		/* the last hash of a block and the first of the next, with low bits that would carry */
		while (n < 600)
		{
			uint64_t	i = 1 + test_below(z - 1);
			uint64_t	edge = ((i << 32) + z - 1) / z;

			hashes[n++] = edge << 32 | (uint32_t) test_random();
			hashes[n++] = (edge - 1) << 32 | (UINT32_MAX - test_below(3));
		}
		test_add(&filter, hashes, n);
		for (d = 1; d <= z; d++)
		{
			BfHeader	small = head;
			TestFilter	direct;
			TestFilter	folded;

			if (z % d != 0)
				continue;
			small.payload_len /= d;
			direct = test_empty(&small);
			folded = test_empty(&small);
			test_add(&direct, hashes, n);
			bf_fold(NULL, &small, test_payload(&folded), &filter.view);
			CHECKF(memcmp(direct.view.payload, folded.view.payload, small.payload_len) == 0, "%" PRIu64 " blocks by %" PRIu64, z, d);
			test_free(&direct);
			test_free(&folded);
		}

		/* and a union with a filter of another size keeps all */
		{
			BfHeader	odd = test_head(parquet(), z + 1, 8);
			TestFilter	other = test_empty(&odd);
			TestFilter	both = test_union(&filter, &other);
			size_t		i;

			for (i = 0; i < n; i++)
				CHECK(test_probe(&both, hashes[i]));
			test_free(&other);
			test_free(&both);
		}
		test_free(&filter);
	}
}

/* ---- size ---- */

/*
 * Checks Parquet's own table of bits per key to its one decimal, and the false positive rate of
 * filters that were built.
 */
static void
sizes(void)
{
	static const struct
	{
		double		fpr;
		double		bits;
	}			published[] = {{0.1, 6.0}, {0.01, 10.5}, {0.001, 16.9}, {0.0001, 26.4}};
	double		fpr;
	int			i;

	for (i = 0; i < 4; i++)
	{
		double		bits = bf_math_split_design(published[i].fpr) / 1000.0;

		CHECKF(fabs(bits - published[i].bits) < 0.1, "%g: %g bits", published[i].fpr, bits);
	}
	CHECK(bf_math_split_design(0.01) == 10530);
	for (fpr = 1e-5; fpr < 1; fpr *= 1.1)
	{
		uint32_t	millibits = bf_math_split_design(fpr);

		CHECKF(bf_math_split_fpr(256000.0 / millibits) <= fpr * (1 + 1e-9), "%g: %u", fpr, millibits);
		CHECKF(millibits <= 1000 || bf_math_split_fpr(256000.0 / (millibits - 2)) > fpr, "%g: %u, but less would do", fpr, millibits);
	}
	CHECK(bf_math_split_fpr(0) == 0);
}

static void
smallest(void)
{
	BfHeader	head = test_plan(parquet(), 0.01, 1);

	CHECK(head.payload_len == 32 && head.param[0] == 8 && head.hash_id == BF_HASH_XXH64_PLAIN);
}

/*
 * Checks that the size of a bitset is a power of two, and no larger than needed, after any
 * operation.
 */
static void
powers_of_two(void)
{
	BfDesign	design;
	BfHeader	head;
	uint64_t	n;

	for (n = 1; n < 200000000; n += 1 + n / 7)
	{
		head = test_plan(parquet(), 0.01, n);
		CHECKF((head.payload_len & (head.payload_len - 1)) == 0, "%" PRIu64 " keys: %" PRIu64 " bytes", n, head.payload_len);
		CHECK((double) head.payload_len * 8000 >= (double) n * 10530);
		CHECK(head.payload_len == 32 || (double) head.payload_len * 8000 < 2.0 * (double) n * 10530);
	}
	CHECK(bf_design(parquet(), 0.01, &design) == BF_OK);
	CHECK(bf_plan(&design, 203000000, &head) == BF_OK && head.payload_len == 256 * 1024 * 1024);
	CHECK(bf_plan(&design, 205000000, &head) == BF_TOO_LARGE);
}

/* ---- with others ---- */

static TestFilter
internal_value(BfKindId id, BfHashId hash_id, BfKindId target, uint64_t n)
{
	BfHeader	head;
	TestFilter	filter;
	uint64_t	i;

	memset(&head, 0, sizeof(head));
	head.kind = bf_kind_by_id(id);
	head.hash_id = hash_id;
	test_set_family(&head, "int");
	if (id == BF_KIND_PARTIAL)
	{
		head.param[0] = target;
		head.target_fpr = 0.01;
		head.keys_added = n;
		head.payload_len = n * 8;
	}
	filter.len = bf_data_size(&head);
	filter.data = test_malloc(filter.len);
	memset(filter.data, 0, filter.len);
	bf_write_header(filter.data, &head);
	for (i = 0; i < n; i++)
		bf_store64(filter.data + bf_payload_offset(head.family_len) + i * 8, keys[i]);
	bf_seal(&test_env, filter.data, filter.len);
	return filter;
}

/*
 * Checks that the aggregate of no keys, whose family has another hash function, does not change a
 * filter in a union or intersection.
 */
static void
identity_of_another_hash(void)
{
	TestFilter	none = internal_value(BF_KIND_IDENTITY, BF_HASH_XXH3, 0, 0);
	BfHeader	head = test_head(parquet(), 5, 8);
	int			named;

	test_open(&none);
	for (named = 0; named < 2; named++)
	{
		TestFilter	filter;
		TestFilter	result[4];
		int			i;

		test_set_family(&head, named ? "parquet int32" : "");
		filter = test_empty(&head);
		if (named)
			test_add(&filter, keys, 10);
		bf_seal(&test_env, filter.data, filter.len);
		result[0] = test_union(&filter, &none);
		result[1] = test_union(&none, &filter);
		result[2] = test_intersect(&filter, &none);
		result[3] = test_intersect(&none, &filter);
		CHECK(test_same(&result[0], &filter) && test_same(&result[1], &filter));
		CHECK(test_same(&result[2], &none) && test_same(&result[3], &none));
		for (i = 0; i < 4; i++)
			test_free(&result[i]);
		test_free(&filter);
	}
	test_free(&none);
}

/* Checks that internal kinds carry the hash function of the filter that they will become. */
static void
hashes_of_internal_kinds(void)
{
	static const struct
	{
		BfKindId	id;
		BfHashId	hash;
		BfKindId	target;
		bool		good;
	}			cases[] = {
		{BF_KIND_PARTIAL, BF_HASH_XXH64_PLAIN, BF_KIND_PARQUET, true},
		{BF_KIND_PARTIAL, BF_HASH_XXH3, BF_KIND_PARQUET, false},
		{BF_KIND_PARTIAL, BF_HASH_XXH3, BF_KIND_BLOCKED, true},
		{BF_KIND_PARTIAL, BF_HASH_XXH64_PLAIN, BF_KIND_BLOCKED, false},
		{BF_KIND_PARTIAL, (BfHashId) 3, BF_KIND_PARQUET, false},
		{BF_KIND_IDENTITY, BF_HASH_XXH3, 0, true},
		{BF_KIND_IDENTITY, BF_HASH_XXH64_PLAIN, 0, false},
	};
	size_t		i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		TestFilter	filter = internal_value(cases[i].id, cases[i].hash, cases[i].target, cases[i].id == BF_KIND_PARTIAL ? 7 : 0);
		const char *reason;
		BfView		view;
		BfStatus	status = bf_validate(&test_env, filter.data, filter.len, &view, &reason);

		CHECKF(status == (cases[i].good ? BF_OK : BF_CORRUPT), "case %zu", i);
		if (!cases[i].good)
			CHECK(strncmp(reason, "the hash function", 17) == 0);
		test_free(&filter);
	}
}

/* ---- the header of files ---- */

/* Makes a header and an all-zero bitset in memory of exactly their size, which the caller frees. */
static uint8_t *
with_bitset(const uint8_t *header, size_t header_len, size_t bitset_len)
{
	uint8_t    *bytes = test_malloc(header_len + bitset_len);

	memcpy(bytes, header, header_len);
	memset(bytes + header_len, 0, bitset_len);
	return bytes;
}

static void
header_round_trip(void)
{
	/* parquet-rs has these bytes in a test of its own */
	static const uint8_t known[] = {21, 64, 28, 28, 0, 0, 28, 28, 0, 0, 28, 28, 0, 0, 0};
	static const uint32_t lengths[] = {32, 64, 96, 8160, 8192, 8224, 1048576, 1048608, 134217728, 500 * 1024 * 1024 - 32 * 11};
	uint8_t		header[BF_PARQUET_MAX_HEADER];
	size_t		offset = 0;
	size_t		i;

	CHECK(bf_parquet_write_header(header, 32) == sizeof(known) && memcmp(header, known, sizeof(known)) == 0);
	CHECK(bf_parquet_write_header(header, (UINT32_C(1) << 31) - 32) == BF_PARQUET_MAX_HEADER);
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
	{
		size_t		len = bf_parquet_write_header(header, lengths[i]);
		uint8_t    *bytes;

		if (lengths[i] > 2000000)
			continue;
		bytes = with_bitset(header, len, lengths[i]);
		CHECK(bf_parquet_read_header(bytes, len + lengths[i], &offset) == NULL && offset == len);
		CHECK(bf_parquet_read_header(bytes, len + lengths[i] - 1, &offset) != NULL);
		free(bytes);
		bytes = with_bitset(header, len, lengths[i] + 1);
		CHECK(bf_parquet_read_header(bytes, len + lengths[i] + 1, &offset) != NULL);
		free(bytes);
	}
}

#define BLOCK_UNION		0x1c, 0x1c, 0, 0
#define THE_REST		BLOCK_UNION, BLOCK_UNION, BLOCK_UNION, 0

static void
headers(void)
{
	static const char no_header[] = "the bytes do not begin with the header of a Parquet Bloom filter";
	static const char cut[] = "the header is incomplete";
	static const char length[] = "the length of the bitset is not a positive multiple of 32";
	static const struct
	{
		const char *reason;		/* NULL: good */
		size_t		bitset;
		size_t		len;
		uint8_t		bytes[32];
	}			cases[] = {
		/* numbers of fields written out; another order; a varint with zeros at its end */
		{NULL, 32, 19, {0x05, 2, 64, 0x0c, 4, 0x1c, 0, 0, 0x0c, 6, 0x1c, 0, 0, 0x0c, 8, 0x1c, 0, 0, 0}},
		{NULL, 32, 16, {0x2c, 0x1c, 0, 0, BLOCK_UNION, BLOCK_UNION, 0x05, 2, 64, 0}},
		{NULL, 32, 16, {0x15, 0xc0, 0x00, THE_REST}},
		/* nothing, and less than all */
		{cut, 0, 0, {0}},
		{no_header, 0, 1, {0}},
		{cut, 0, 1, {0x15}},
		{cut, 0, 2, {0x15, 0xc0}},
		{cut, 0, 2, {0x15, 64}},
		{cut, 0, 14, {0x15, 64, BLOCK_UNION, BLOCK_UNION, BLOCK_UNION}},
		{no_header, 32, 11, {0x15, 64, BLOCK_UNION, BLOCK_UNION, 0}},
		{no_header, 32, 13, {0x2c, 0x1c, 0, 0, BLOCK_UNION, BLOCK_UNION, 0}},
		/* fields twice, unknown ones, other types */
		{no_header, 32, 18, {0x15, 64, 0x05, 2, 64, THE_REST}},
		{no_header, 32, 18, {0x15, 64, BLOCK_UNION, BLOCK_UNION, BLOCK_UNION, 0x15, 64, 0}},
		{no_header, 32, 15, {0x16, 64, THE_REST}},
		{no_header, 32, 15, {0x15, 64, 0x15, 0x1c, 0, 0, BLOCK_UNION, BLOCK_UNION, 0}},
		{no_header, 32, 17, {0x05, 0, 64, 0x05, 2, THE_REST}},
		{no_header, 32, 17, {0x05, 1, 64, 0x05, 2, THE_REST}},
		{no_header, 32, 21, {0x05, 0xff, 0xff, 0xff, 0xff, 0x0f, 64, THE_REST}},
		/* varints too long, or too large */
		{no_header, 32, 20, {0x15, 0xc0, 0x80, 0x80, 0x80, 0x80, 0x00, THE_REST}},
		{no_header, 32, 19, {0x15, 0xc0, 0x80, 0x80, 0x80, 0x10, THE_REST}},
		{no_header, 32, 20, {0x15, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, THE_REST}},
		/* lengths */
		{length, 0, 15, {0x15, 0, THE_REST}},
		{length, 32, 15, {0x15, 63, THE_REST}},		/* -32 */
		{length, 31, 15, {0x15, 62, THE_REST}},
		{length, 16, 15, {0x15, 32, THE_REST}},
		{length, 0, 19, {0x15, 0xff, 0xff, 0xff, 0xff, 0x0f, THE_REST}},	/* -2^31 */
		{"the bitset does not have the length that its header says", 32, 19, {0x15, 0xc0, 0xff, 0xff, 0xff, 0x0f, THE_REST}},
		{"the bitset does not have the length that its header says", 0, 15, {0x15, 64, THE_REST}},
		{"the bitset does not have the length that its header says", 64, 15, {0x15, 64, THE_REST}},
		/* another algorithm, hash, compression; unions that are none */
		{"the algorithm of the filter is not BLOCK", 32, 15, {0x15, 64, 0x1c, 0x2c, 0, 0, BLOCK_UNION, BLOCK_UNION, 0}},
		{"the hash of the filter is not XXHASH", 32, 15, {0x15, 64, BLOCK_UNION, 0x1c, 0x2c, 0, 0, BLOCK_UNION, 0}},
		{"the compression of the filter is not UNCOMPRESSED", 32, 15, {0x15, 64, BLOCK_UNION, BLOCK_UNION, 0x1c, 0x2c, 0, 0, 0}},
		{no_header, 32, 14, {0x15, 64, 0x1c, 0, 0, BLOCK_UNION, BLOCK_UNION, 0}},
		{no_header, 32, 15, {0x15, 64, 0x1c, 0x15, 0, 0, BLOCK_UNION, BLOCK_UNION, 0}},
		{no_header, 32, 17, {0x15, 64, 0x1c, 0x1c, 0x15, 2, 0, 0, BLOCK_UNION, BLOCK_UNION, 0}},
		{no_header, 32, 17, {0x15, 64, 0x1c, 0x1c, 0, 0x1c, 0, 0, BLOCK_UNION, BLOCK_UNION, 0}},
	};
	size_t		i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		uint8_t    *bytes = with_bitset(cases[i].bytes, cases[i].len, cases[i].bitset);
		size_t		offset = 0;
		const char *reason = bf_parquet_read_header(bytes, cases[i].len + cases[i].bitset, &offset);

		CHECKF(cases[i].reason == NULL ? reason == NULL : reason != NULL && strcmp(reason, cases[i].reason) == 0,
			   "case %zu: %s", i, reason != NULL ? reason : "accepted");
		if (reason == NULL)
			CHECK(offset == cases[i].len);
		free(bytes);
	}
}

/*
 * Checks with arbitrary bytes that no byte beyond them is read, and that an accepted header is
 * consistent.
 */
static void
hostile_headers(void)
{
	static const uint8_t good[] = {0x15, 64, THE_REST};
	uint64_t	accepted = 0;
	int			round;

	for (round = 0; round < 300000; round++)
	{
		size_t		len = round % 2 == 0 ? test_below(60) : sizeof(good) + 32;
		uint8_t    *bytes = test_malloc(len);
		size_t		changes = test_below(4);
		size_t		offset = 0;
		size_t		i;

		for (i = 0; i < len; i++)
			bytes[i] = round % 2 == 0 ? (uint8_t) test_random() : i < sizeof(good) ? good[i] : 0;
		for (i = 0; i < changes && len > 0; i++)
			bytes[test_below(BF_MIN(len, 20))] = (uint8_t) test_random();
		if (bf_parquet_read_header(bytes, len, &offset) == NULL)
		{
			accepted++;
			CHECK(offset < len && (len - offset) % 32 == 0);
		}
		free(bytes);
	}
	CHECK(accepted > 1000);
}

int
main(void)
{
	make_keys(11);
	RUN(the_hash);
	RUN(a_filter_of_parquet_mr);
	RUN(layout);
	RUN(twins);
	RUN(slices);
	RUN(every_bit_counts);
	RUN(edges_of_blocks);
	RUN(sizes);
	RUN(smallest);
	RUN(powers_of_two);
	RUN(identity_of_another_hash);
	RUN(hashes_of_internal_kinds);
	RUN(header_round_trip);
	RUN(headers);
	RUN(hostile_headers);
	return test_finish();
}
