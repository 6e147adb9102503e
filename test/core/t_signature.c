/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_signature.c
 *	  Signatures: no key is denied, false keys are as rare as expected, shapes and estimates.
 *
 *-------------------------------------------------------------------------
 */
#include "core/bf_signature.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t *
make_signature(const BfSignatureShape *shape)
{
	return (uint64_t *) calloc((size_t) shape->blocks * BF_SIGNATURE_BLOCK_WORDS, sizeof(uint64_t));
}

static bool
has(const uint64_t *signature, const BfSignatureShape *shape, uint64_t hash)
{
	BfSignatureProbe probe = bf_signature_probe(shape, hash);

	return bf_signature_block_has(signature + (size_t) probe.block * BF_SIGNATURE_BLOCK_WORDS, &probe);
}

static void
shapes(void)
{
	static const double keys[] = {0, 1, 50, 1000, 21455, 1e6, 1e12, INFINITY, NAN, -5};
	static const double bits[] = {0, 0.5, 2, 5, 8, 12, 20, INFINITY, NAN, -1};
	size_t		i;
	size_t		j;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		for (j = 0; j < sizeof(bits) / sizeof(bits[0]); j++)
		{
			BfSignatureShape shape = bf_signature_shape(keys[i], bits[j]);

			CHECKF(bf_signature_shape_is_valid(&shape), "keys %g, bits %g", keys[i], bits[j]);
		}
	CHECK(bf_signature_shape(21455, 5).blocks == 420 && bf_signature_shape(21455, 5).bits == 3);
	CHECK(bf_signature_shape(1000, 12).blocks == 47 && bf_signature_shape(1000, 12).bits == 6);
	CHECK(bf_signature_shape(1e12, 12).blocks == BF_SIGNATURE_MAX_BLOCKS);
}

/* Compares a signature with the set of its keys, and the counts with what is expected. */
static void
one(double bits_per_key, uint32_t n)
{
	BfSignatureShape shape = bf_signature_shape(n, bits_per_key);
	uint64_t   *signature = make_signature(&shape);
	uint64_t   *hashes = (uint64_t *) malloc(n * sizeof(uint64_t));
	uint64_t	set;
	uint32_t	denied = 0;
	uint32_t	claimed = 0;
	double		expected;
	uint32_t	i;

	for (i = 0; i < n; i++)
		hashes[i] = test_random();
	bf_signature_add(signature, &shape, hashes, n);
	set = bf_signature_count(signature, (size_t) shape.blocks * BF_SIGNATURE_BLOCK_WORDS);
	for (i = 0; i < n; i++)
		denied += !has(signature, &shape, hashes[i]);
	CHECKF(denied == 0, "%u of %u keys are denied", denied, n);

	/* again and one by one: nothing changes */
	for (i = 0; i < n; i++)
		bf_signature_add(signature, &shape, &hashes[i], 1);
	CHECK(set == bf_signature_count(signature, (size_t) shape.blocks * BF_SIGNATURE_BLOCK_WORDS));

	for (i = 0; i < 100000; i++)
		claimed += has(signature, &shape, test_random());
	expected = bf_signature_fpr(&shape, (double) set);

	/* Blocks are not equally full, which adds to the rate: by less than half here. */
	CHECKF(claimed < 1.5 * expected * 100000 + 5 * sqrt(expected * 100000) + 5 && claimed > 0.7 * expected * 100000 - 5 * sqrt(expected * 100000),
		   "%u of 100000 are claimed, %g expected", claimed, expected * 100000);
	CHECKF(fabs(bf_signature_keys(&shape, set) / n - 1) < 0.05 + 3 / sqrt(n), "%g keys of %u", bf_signature_keys(&shape, set), n);
	free(hashes);
	free(signature);
}

/* One key in many signatures side by side: the same answers as one by one. */
static void
matches(void)
{
	uint64_t	blocks[BF_SIGNATURE_MATCHES * BF_SIGNATURE_BLOCK_WORDS];
	BfSignatureShape shape = {1, 3};
	int			trial;

	for (trial = 0; trial < 1000; trial++)
	{
		unsigned	n = (unsigned) test_below(BF_SIGNATURE_MATCHES + 1);
		uint64_t	wanted = test_random();
		BfSignatureProbe probe = bf_signature_probe(&shape, test_random());
		uint64_t	found;
		unsigned	i;

		for (i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
			blocks[i] = test_random() | test_random() | test_random();
		found = bf_signature_match(blocks, n, wanted, &probe);
		for (i = 0; i < 64; i++)
			CHECK((found >> i & 1) == (i < n && (wanted >> i & 1) != 0 && bf_signature_block_has(blocks + i * BF_SIGNATURE_BLOCK_WORDS, &probe)));
	}
}

static void
extremes(void)
{
	BfSignatureShape shape = {1, BF_SIGNATURE_MAX_BITS};
	uint64_t	block[BF_SIGNATURE_BLOCK_WORDS];

	memset(block, 0xff, sizeof(block));
	CHECK(bf_signature_count(block, BF_SIGNATURE_BLOCK_WORDS) == 256);
	CHECK(has(block, &shape, 0) && has(block, &shape, UINT64_MAX));
	CHECK(isfinite(bf_signature_keys(&shape, 256)) && bf_signature_keys(&shape, 0) == 0);
	memset(block, 0, sizeof(block));
	CHECK(!has(block, &shape, 0) && !has(block, &shape, UINT64_MAX));
	shape.blocks = BF_SIGNATURE_MAX_BLOCKS;
	CHECK(bf_signature_probe(&shape, UINT64_MAX).block == BF_SIGNATURE_MAX_BLOCKS - 1);
}

static void
keys(void)
{
	one(5, 21455);
	one(5, 1000);
	one(12, 3000);
	one(12, 100);
	one(2, 500);
	one(20, 500);
}

int
main(void)
{
	test_seed(1);
	RUN(shapes);
	RUN(keys);
	RUN(matches);
	RUN(extremes);
	return test_finish();
}
