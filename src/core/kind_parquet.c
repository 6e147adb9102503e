/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_parquet.c
 *	  The split block Bloom filter of the Parquet file format, bit for bit.
 *
 * The payload is the bitset in the form that a Parquet file contains; bf_parquet.h describes the
 * header that precedes it in a file.  A block is 8 words of 32 bits, little-endian, and a key sets
 * one bit in each word:
 *
 *		block = floor((h >> 32) * blocks / 2^32)	fewer than 2^31
 *		x = bits 31..0 of h
 *		bit in word i = the 5 high bits of x * salt[i] mod 2^32
 *
 * h is XXH64, not the hash of the other kinds.  As with bf_cell(), which rounds differently, the
 * block grows with the hash, and floor(block / d) is the block in a filter with a d-th as many
 * blocks: so bf_cells.h applies to this kind as well.
 *
 * Eight probes are right for an FPR of about 0.5 %.  For other rates, and because the number of
 * keys varies more in a smaller block, this kind takes more space than a blocked filter: 10.53 bits
 * a key at 1 %, 16.9 at 0.1 %.
 *
 * The specification allows any number of blocks, and so do the checks of this file.  But several
 * readers (Arrow C++, Velox, Impala) refuse numbers that are not powers of two, and users choose
 * this kind so that other programs can read the filter.  Filters are therefore given a power of
 * two, up to twice what they need; folds and unions keep it.
 *
 *		param[0]	8, the number of probes
 *
 * FPR: bf_math_split_fpr().
 *
 * Apache Parquet, BloomFilter.md; Apple 2022, "Split block Bloom filters".
 *
 *-------------------------------------------------------------------------
 */
#include "bf_int.h"

#include "bf_blocks.h"
#include "bf_cells.h"
#include "bf_cpu.h"
#include "bf_math.h"

#define BLOCK_BYTES		(BF_SPLIT_BITS / 8)
#define BIT_SHIFT		(32 - 5)	/* A word has 2^5 bits. */

/* The constants of Parquet's specification, one for each word of a block. */
static const uint32_t salt[BF_SPLIT_WORDS] __attribute__((aligned(32))) = {
	0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31
};

/* Returns the offset in bytes of a hash's block. */
static inline uint64_t
block_offset(uint64_t hash, uint64_t blocks)
{
	return ((hash >> 32) * blocks >> 32) * BLOCK_BYTES;
}

static inline const uint8_t *
block_of(const BfView *view, uint64_t hash)
{
	return view->payload + block_offset(hash, view->head.payload_len / BLOCK_BYTES);
}

static void
parquet_design(BfDesign *design)
{
	design->millibits = bf_math_split_design(design->fpr);
	design->param[0] = BF_SPLIT_WORDS;
}

static uint64_t
parquet_size(const BfDesign *design, uint64_t keys)
{
	uint64_t	needed = bf_math_cells(keys, design->millibits, BF_SPLIT_BITS);
	uint64_t	blocks = 1;

	while (blocks < needed)
	{
		blocks *= 2;
		if (blocks > BF_MAX_VALUE_SIZE / BLOCK_BYTES)
			return UINT64_MAX;
	}
	return blocks * BLOCK_BYTES;
}

static const char *
parquet_check(const BfHeader *head)
{
	/* BF_MAX_VALUE_SIZE keeps the number of blocks far below 2^31. */
	if (head->payload_len == 0 || head->payload_len % BLOCK_BYTES != 0)
		return "the payload is not a whole number of blocks";
	if (head->param[0] != BF_SPLIT_WORDS)
		return "the number of probes is out of range";
	if (head->param[1] != 0 || head->param[2] != 0 || head->param[3] != 0)
		return "reserved fields of the header are not zero";
	return NULL;
}

/*
 * Returns whether all of a key's bits are set in a block.  The parameter k, in this and in the
 * related functions, is always BF_SPLIT_WORDS.
 */
static inline bool
test_bits_scalar(const uint8_t *block, uint32_t x, unsigned k)
{
	uint32_t	all = 1;
	unsigned	i;

	(void) k;
	for (i = 0; i < BF_SPLIT_WORDS; i++)
		all &= bf_load32(block + i * 4) >> ((x * salt[i]) >> BIT_SHIFT);
	return all & 1;
}

static bool
probe_scalar(const BfView *view, uint64_t hash)
{
	return test_bits_scalar(block_of(view, hash), (uint32_t) hash, BF_SPLIT_WORDS);
}

static bool
parquet_probe_sliced(const BfHeader *head, uint64_t hash, BfFetch fetch, void *arg)
{
	uint64_t	offset = block_offset(hash, head->payload_len / BLOCK_BYTES);

	return test_bits_scalar(fetch(arg, offset, BLOCK_BYTES), (uint32_t) hash, BF_SPLIT_WORDS);
}

/*
 * For the test that compares implementations: returns the probe in plain C, whose results must
 * equal those of the probe that parquet_prober() chooses.
 */
BfProbe
bf_parquet_scalar_twin(void)
{
	return probe_scalar;
}

static inline void
set_bits_scalar(uint8_t *block, uint32_t x, unsigned k)
{
	unsigned	i;

	(void) k;
	for (i = 0; i < BF_SPLIT_WORDS; i++)
		bf_store32(block + i * 4, bf_load32(block + i * 4) | UINT32_C(1)
																 << ((x * salt[i]) >> BIT_SHIFT));
}

#ifdef BF_HAVE_AVX2

/* Returns a mask of the bit that a key has in each word of its block. */
__attribute__((target("avx2")))
static inline __m256i
mask_of(uint32_t x)
{
	__m256i product =
		_mm256_mullo_epi32(_mm256_set1_epi32((int) x), _mm256_load_si256((const __m256i *) salt));

	return _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32(product, BIT_SHIFT));
}

__attribute__((target("avx2")))
static inline bool
test_bits_avx2(const uint8_t *block, uint32_t x, unsigned k)
{
	(void) k;
	return _mm256_testc_si256(_mm256_loadu_si256((const __m256i *) block), mask_of(x));
}

__attribute__((target("avx2")))
static inline void
set_bits_avx2(uint8_t *block, uint32_t x, unsigned k)
{
	__m256i    *words = (__m256i *) block;

	(void) k;
	_mm256_storeu_si256(words, _mm256_or_si256(_mm256_loadu_si256(words), mask_of(x)));
}

__attribute__((target("avx2")))
static bool
probe_avx2(const BfView *view, uint64_t hash)
{
	return test_bits_avx2(block_of(view, hash), (uint32_t) hash, BF_SPLIT_WORDS);
}

__attribute__((target("avx2")))
static void
probe_many_avx2(const BfView *view, const uint64_t *hashes, size_t n, bool *result)
{
	bf_blocks_probe_many(view, hashes, n, result, block_offset, test_bits_avx2);
}

__attribute__((target("avx2")))
static size_t
add_avx2(const BfHeader *head, uint8_t *payload, const uint64_t *hashes, size_t n)
{
	return bf_blocks_add(head, payload, hashes, n, block_offset, set_bits_avx2);
}

#endif							/* BF_HAVE_AVX2 */

#ifdef BF_HAVE_NEON

/* Returns whether all of a key's bits are set in a block; handles four words at a time. */
static inline bool
test_bits_neon(const uint8_t *block, uint32_t x, unsigned k)
{
	uint32x4_t	clear = vdupq_n_u32(0);
	unsigned	i;

	(void) k;
	for (i = 0; i < BF_SPLIT_WORDS; i += 4)
	{
		uint32x4_t	bit = vshrq_n_u32(vmulq_n_u32(vld1q_u32(salt + i), x), BIT_SHIFT);
		uint32x4_t	mask = vshlq_u32(vdupq_n_u32(1), vreinterpretq_s32_u32(bit));

		clear = vorrq_u32(clear, vbicq_u32(mask, vreinterpretq_u32_u8(vld1q_u8(block + i * 4))));
	}
	return vmaxvq_u32(clear) == 0;
}

static bool
probe_neon(const BfView *view, uint64_t hash)
{
	return test_bits_neon(block_of(view, hash), (uint32_t) hash, BF_SPLIT_WORDS);
}

#endif							/* BF_HAVE_NEON */

static BfProbe
parquet_prober(const BfView *view)
{
#ifdef BF_HAVE_AVX2
	if (bf_have_avx2())
		return probe_avx2;
#endif
	(void) view;
#ifdef BF_HAVE_NEON
	return probe_neon;
#else
	return probe_scalar;
#endif
}

static void
parquet_probe_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result)
{
#ifdef BF_HAVE_AVX2
	if (bf_have_avx2())
	{
		probe_many_avx2(view, hashes, n, result);
		return;
	}
#endif
#ifdef BF_HAVE_NEON
	bf_blocks_probe_many(view, hashes, n, result, block_offset, test_bits_neon);
#else
	bf_blocks_probe_many(view, hashes, n, result, block_offset, test_bits_scalar);
#endif
}

size_t
bf_parquet_scalar_add(const BfHeader *head, uint8_t *payload, const uint64_t *hashes, size_t n)
{
	return bf_blocks_add(head, payload, hashes, n, block_offset, set_bits_scalar);
}

static size_t
parquet_add(const BfHeader *head, uint8_t *payload, const uint64_t *hashes, size_t n)
{
#ifdef BF_HAVE_AVX2
	if (bf_have_avx2())
		return add_avx2(head, payload, hashes, n);
#endif
	return bf_parquet_scalar_add(head, payload, hashes, n);
}

static void
parquet_stats(const BfPort *port, const BfView *view, uint64_t fold, BfStats *stats)
{
	uint64_t	blocks = view->head.payload_len / BLOCK_BYTES / fold;
	uint64_t	i;

	for (i = 0; i < blocks; i++)
	{
		uint64_t	block[BLOCK_BYTES / 8];
		/*
		 * Of the 2^40 ways to choose one bit in each word, the number in which all eight chosen
		 * bits are set.
		 */
		uint64_t	passed = 1;
		unsigned	j;

		bf_cells_gather(port, block, view->payload + i * fold * BLOCK_BYTES, fold, BLOCK_BYTES / 8);
		for (j = 0; j < BLOCK_BYTES / 8; j++)
		{
			unsigned	one = (unsigned) __builtin_popcount((uint32_t) block[j]);
			unsigned	other = (unsigned) __builtin_popcount((uint32_t) (block[j] >> 32));

			stats->bits_set += one + other;
			passed *= (uint64_t) one * other;
		}
		stats->fpr += (double) passed;
		if ((i & BF_INTERRUPT_MASK) == 0)
			bf_check_interrupts(port);
	}

	/*
	 * The FPR is the mean of the blocks' FPRs, as for kind blocked.  The number of keys is
	 * estimated from all blocks at once: word i of all blocks together forms one array, in which
	 * each key sets one bit.
	 */
	stats->bits = blocks * BF_SPLIT_BITS;
	stats->hashes = BF_SPLIT_WORDS;
	stats->fpr /= (double) blocks * (UINT64_C(1) << 40);
	stats->keys = bf_math_keys((double) stats->bits_set, (double) stats->bits, BF_SPLIT_WORDS);
	stats->fill = (double) stats->bits_set / (double) stats->bits;
}

const BfKind bf_kind_parquet = {
	.id = BF_KIND_PARQUET,
	.name = "parquet",
	.caps = BF_CAN_ADD | BF_CAN_UNION | BF_CAN_INTERSECT | BF_CAN_FOLD,
	.hash_id = BF_HASH_XXH64_PLAIN,
	.min_fpr = 1e-5,			/* The lowest FPR is the same as that of kind blocked. */
	.better_kind = "standard",
	.when = "the filter comes from a Parquet file, or goes into one",
	.cell_size = BLOCK_BYTES,
	.design = parquet_design,
	.size = parquet_size,
	.check = parquet_check,
	.prober = parquet_prober,
	.probe_many = parquet_probe_many,
	.probe_sliced = parquet_probe_sliced,
	.add = parquet_add,
	.stats = parquet_stats,
	.combined_head = bf_cells_combined_head,
	.unite = bf_cells_unite,
	.intersect = bf_cells_intersect,
	.fold_plan = bf_cells_fold_plan,
	.fold = bf_cells_fold,
};
