/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_hash.c
 *	  The hash function is frozen, and its bits are used as bf_hash.h says.
 *
 *-------------------------------------------------------------------------
 */
#include "test.h"

#define XSUM_PRIME32	UINT64_C(2654435761)
#define XSUM_PRIME64	UINT64_C(11400714785074694797)

/*
 * The test vectors that xxHash publishes for XXH3_64bits with seed 0 (tests/sanity_test_vectors.h,
 * before 0.8.2 cli/xsum_sanity_check.c), one or more for each code path.  The input is the first
 * len bytes of fill_xsum().
 */
static const struct
{
	size_t		len;
	uint64_t	hash;
}			published[] =
{
	{0, UINT64_C(0x2d06800538d394c2)},
	{1, UINT64_C(0xc44bdff4074eecdb)},
	{2, UINT64_C(0x7a9978044cb8a8bb)},
	{3, UINT64_C(0x54247382a8d6b94d)},
	{4, UINT64_C(0xe5dc74bc51848a51)},
	{6, UINT64_C(0x27b56a84cd2d7325)},
	{8, UINT64_C(0x24ccc9acaa9f65e4)},
	{9, UINT64_C(0x14d5001c15dd3f2b)},
	{12, UINT64_C(0xa713daf0dfbb77e7)},
	{16, UINT64_C(0x981b17d36c7498c9)},
	{17, UINT64_C(0x796f5acd3a60f862)},
	{24, UINT64_C(0xa3fe70bf9d3510eb)},
	{48, UINT64_C(0x397da259ecba1f11)},
	{64, UINT64_C(0x9cb48487720ec49d)},
	{80, UINT64_C(0xbcdefbbb2c47c90a)},
	{128, UINT64_C(0xfcff24126754d861)},
	{129, UINT64_C(0x98f1b0a679a2ca29)},
	{195, UINT64_C(0xcd94217ee362ec3a)},
	{240, UINT64_C(0x81c3c2b67f568ccf)},
	{241, UINT64_C(0xc5a639ecd2030e5e)},
	{403, UINT64_C(0xcdeb804d65c6dea4)},
	{512, UINT64_C(0x617e49599013cb6b)},
	{2048, UINT64_C(0xdd59e2c3a5f038e0)},
	{2240, UINT64_C(0x6e73a90539cf2948)},
	{2367, UINT64_C(0xcb37aeb9e5d361ed)},
};

static void
fill_xsum(uint8_t *buffer, size_t len)
{
	uint64_t	generator = XSUM_PRIME32;
	size_t		i;

	for (i = 0; i < len; i++)
	{
		buffer[i] = (uint8_t) (generator >> 56);
		generator *= XSUM_PRIME64;
	}
}

static void
published_vectors(void)
{
	uint8_t		all[2367];
	size_t		i;

	fill_xsum(all, sizeof(all));
	for (i = 0; i < sizeof(published) / sizeof(published[0]); i++)
	{
		/* exactly as long as the input, at each alignment */
		size_t		shift;

		for (shift = 0; shift < 8; shift++)
		{
			uint8_t    *copy = test_malloc(published[i].len + shift);
			uint64_t	hash;

			memcpy(copy + shift, all, published[i].len);
			hash = bf_hash_bytes(copy + shift, published[i].len);
			CHECKF(hash == published[i].hash, "length %zu, shift %zu: %016" PRIx64, published[i].len, shift, hash);
			free(copy);
		}
	}
}

/* Checks that a number is hashed as its 8 bytes, lowest byte first, on any machine. */
static void
u64_is_its_bytes(void)
{
	int			i;

	/* computed once from the published 8-byte vector: its input read as a little-endian number */
	CHECK(bf_hash_u64(UINT64_C(0x24a332b79b925200)) == UINT64_C(0x24ccc9acaa9f65e4));

	for (i = 0; i < 10000; i++)
	{
		uint64_t	value = i < 64 ? UINT64_C(1) << i : i < 128 ? ~(UINT64_C(1) << (i - 64)) : test_random();
		uint8_t		bytes[8];
		int			j;

		for (j = 0; j < 8; j++)
			bytes[j] = (uint8_t) (value >> (8 * j));
		CHECKF(bf_hash_u64(value) == bf_hash_bytes(bytes, 8), "%016" PRIx64, value);
	}
}

/*
 * Checks that hashing many numbers at once, in batches of every length, gives the hash of each
 * number alone, with and without AVX-512, and that nothing beyond the batch is touched.
 */
static void
many_are_as_one(void)
{
	uint64_t	values[300];
	uint64_t	hashes[300 + 1];
	size_t		n;
	size_t		i;

	for (n = 0; n <= 300; n++)
	{
		for (i = 0; i < n; i++)
			values[i] = i < 64 ? UINT64_C(1) << i : test_random() >> test_below(64);
		for (bf_wide_off = false;; bf_wide_off = true)
		{
			memcpy(hashes, values, n * sizeof(uint64_t));
			hashes[n] = 4711;
			bf_hash_u64_many(hashes, n);
			for (i = 0; i < n; i++)
				CHECKF(hashes[i] == bf_hash_u64(values[i]), "%016" PRIx64 ", the %zuth of %zu", values[i], i, n);
			CHECK(hashes[n] == 4711);
			if (bf_wide_off)
				break;
		}
		bf_wide_off = false;
	}
}

static void
cells_are_monotone(void)
{
	int			i;

	for (i = 0; i < 100000; i++)
	{
		uint64_t	cells = test_random() >> test_below(64);
		uint64_t	h = i % 4 == 0 ? ~UINT64_C(0) - test_below(100) : test_random();
		uint64_t	step = test_random() >> test_below(64);
		uint64_t	higher = h + step >= h ? h + step : UINT64_MAX;

		if (cells == 0)
			cells = 1;
		CHECKF(bf_cell(h, cells) < cells, "%" PRIu64 " of %" PRIu64, h, cells);
		CHECKF(bf_cell(h, cells) <= bf_cell(higher, cells), "%" PRIu64 " of %" PRIu64, h, cells);
	}
	CHECK(bf_cell(0, 17) == 0);
	CHECK(bf_cell(UINT64_MAX, 17) == 16);
	CHECK(bf_cell(UINT64_C(1) << 63, 16) == 8);
	CHECK(bf_cell((UINT64_C(1) << 63) - 1, 16) == 7);
}

/* Checks that each cell gets its share of evenly spread hashes, to within one. */
static void
cells_are_fair(void)
{
	uint64_t	cells;

	for (cells = 1; cells <= 300; cells++)
	{
		uint64_t	count[300] = {0};
		uint64_t	per_cell = 50;
		uint64_t	step = UINT64_MAX / (cells * per_cell);
		uint64_t	i;

		for (i = 0; i < cells * per_cell; i++)
			count[bf_cell(i * step + step / 2, cells)]++;
		for (i = 0; i < cells; i++)
			CHECKF(count[i] + 1 >= per_cell && count[i] <= per_cell + 1, "cell %" PRIu64 " of %" PRIu64, i, cells);
	}
}

/* Checks that floor(bf_cell(h, d * c) / d) = bf_cell(h, c), which makes folding exact. */
static void
cells_fold(void)
{
	int			i;

	for (i = 0; i < 300000; i++)
	{
		uint64_t	c = 1 + test_below(UINT64_C(1) << (1 + test_below(32)));
		uint64_t	d = 1 + test_below(UINT64_C(1) << (1 + test_below(30)));
		uint64_t	h = test_random();

		/* half of them right at a boundary between cells */
		if (i % 2 == 0)
			h = (UINT64_MAX / c) * test_below(c) + test_below(5) - 2;
		CHECKF(bf_cell(h, d * c) / d == bf_cell(h, c), "h %" PRIu64 " c %" PRIu64 " d %" PRIu64, h, c, d);
	}
}

/*
 * Checks that no family has ID 0, which means "no family".  The name in the test is the one string
 * of 8 bytes whose XXH3 is 0.
 */
static void
family_is_never_zero(void)
{
	static const unsigned char zero[8] = {0x42, 0xd5, 0x68, 0xe1, 0x38, 0xd7, 0x27, 0xff};

	CHECK(bf_hash_bytes(zero, sizeof(zero)) == 0);
	CHECK(bf_family_id((const char *) zero, sizeof(zero)) != 0);
	CHECK(bf_family_id("int8", 4) == bf_hash_bytes("int8", 4));
	CHECK(bf_family_id("int8", 4) != bf_family_id("int9", 4));
}

int
main(void)
{
	test_seed(1);
	RUN(published_vectors);
	RUN(u64_is_its_bytes);
	RUN(many_are_as_one);
	RUN(cells_are_monotone);
	RUN(cells_are_fair);
	RUN(cells_fold);
	RUN(family_is_never_zero);
	return test_finish();
}
