/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_blocked.c
 *	  A Bloom filter that has all bits of a key in one cache line.
 *
 * The hash chooses a block of 64 bytes, and the block is a small Bloom filter of 512 bits.  So a
 * probe costs at most one cache miss, and only one slice of a stored filter has to be read.  The
 * filter takes 4 % more space than a standard filter at an FPR of 1 %, 8 % at 0.1 %, 15 % at 0.01
 * %, because the number of keys in a block varies: crowded blocks raise the FPR by more than sparse
 * ones lower it.
 *
 *		block = floor(h * blocks / 2^64)	bits 63..40 decide, as there are at most 2^23 blocks
 *		x = bits 31..0 of h
 *		bit i of k = the 9 high bits of x * multiplier[i] mod 2^32
 *
 * The bits in a block must not be an arithmetic progression (a, a + b, a + 2b, ...): the FPR would
 * then be several times that of the formula, and 15 % at any size if b were a constant.
 *
 *		param[0]	k, the number of probes
 *
 * FPR: bf_math_blocked_fpr(), with a Poisson distribution of the keys in a block.
 *
 * Putze, Sanders, Singler 2007, "Cache-, hash- and space-efficient Bloom filters".
 *
 *-------------------------------------------------------------------------
 */
#include "bf_int.h"

#include "bf_blocks.h"
#include "bf_cells.h"
#include "bf_hash.h"
#include "bf_math.h"
#include "bf_wide.h"

#include <math.h>

#define BLOCK_BYTES		(BF_BLOCK_BITS / 8)
#define BIT_SHIFT		(32 - 9)	/* A block has 2^9 bits. */

/*
 * The multipliers that give the positions of a key's bits: the powers 1 to 16 of 0x9e3779b9, which
 * is 2^32 over the golden ratio, modulo 2^32.
 */
static const uint32_t multiplier[BF_MAX_BLOCK_PROBES] __attribute__((aligned(64))) = {
	0x9e3779b9, 0xe35e67b1, 0x734297e9, 0x35fbe861, 0xdeb7c719, 0x0448b211, 0x3459b749, 0xab25f4c1,
	0x52941879, 0x9c95e071, 0xf5ab9aa9, 0x2d6ba521, 0x8bededd9, 0x9bfb72d1, 0x3ae1c209, 0x7fca7981,
};

/* Returns the offset in bytes of a hash's block. */
static inline uint64_t
block_offset(uint64_t hash, uint64_t blocks)
{
	return bf_cell(hash, blocks) * BLOCK_BYTES;
}

static inline const uint8_t *
block_of(const BfView *view, uint64_t hash)
{
	return view->payload + block_offset(hash, view->head.payload_len / BLOCK_BYTES);
}

static void
blocked_design(BfDesign *design)
{
	unsigned	k = 0;

	design->millibits = bf_math_blocked_design(design->fpr, &k);
	design->param[0] = k;
}

static uint64_t
blocked_size(const BfDesign *design, uint64_t keys)
{
	uint64_t	blocks = bf_math_round_cells(bf_math_cells(keys, design->millibits, BF_BLOCK_BITS));

	return blocks > BF_MAX_VALUE_SIZE / BLOCK_BYTES ? UINT64_MAX : blocks * BLOCK_BYTES;
}

static const char *
blocked_check(const BfHeader *head)
{
	if (head->payload_len == 0 || head->payload_len % BLOCK_BYTES != 0)
		return "the payload is not a whole number of blocks";
	if (head->param[0] < 1 || head->param[0] > BF_MAX_BLOCK_PROBES)
		return "the number of probes is out of range";
	if (head->param[1] != 0 || head->param[2] != 0 || head->param[3] != 0)
		return "reserved fields of the header are not zero";
	return NULL;
}

/*
 * Returns whether all k bits of a key are set in a block.  Has no branch on the bits, because half
 * of the bits are set and such branches would be unpredictable.
 */
static inline bool
test_bits_scalar(const uint8_t *block, uint32_t x, unsigned k)
{
	unsigned	all = 1;
	unsigned	i;

	for (i = 0; i < k; i++)
	{
		uint32_t	bit = (x * multiplier[i]) >> BIT_SHIFT;

		all &= (unsigned) block[bit >> 3] >> (bit & 7);
	}
	return all & 1;
}

static bool
probe_scalar(const BfView *view, uint64_t hash)
{
	return test_bits_scalar(block_of(view, hash), (uint32_t) hash, view->head.param[0]);
}

static bool
blocked_probe_sliced(const BfHeader *head, uint64_t hash, BfFetch fetch, void *arg)
{
	uint64_t	offset = block_offset(hash, head->payload_len / BLOCK_BYTES);

	return test_bits_scalar(fetch(arg, offset, BLOCK_BYTES), (uint32_t) hash, head->param[0]);
}

#ifdef BF_HAVE_AVX2

/* Eight elements that are read from element 8 - k on are k ones, then zeros: a mask of k lanes. */
static const uint32_t lane_ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0};

/*
 * Tests the bits that belong to the multipliers first to first + 7, as far as ones has a 1 in their
 * lane.  The block is 16 words of 32 bits, and the 4 high bits of a product choose the word: the
 * low 3 of those bits by permuting each half of the block, the highest by choosing between the
 * halves.
 */
__attribute__((target("avx2")))
static inline bool
test_eight(const uint8_t *block, uint32_t x, unsigned first, __m256i ones)
{
	__m256i		multipliers = _mm256_load_si256((const __m256i *) (multiplier + first));
	__m256i		product = _mm256_mullo_epi32(_mm256_set1_epi32((int) x), multipliers);
	__m256i		word = _mm256_srli_epi32(product, 28);
	__m256i		bit = _mm256_srli_epi32(_mm256_slli_epi32(product, 4), 27);
	__m256i low = _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i *) block), word);
	__m256i		high =
		_mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i *) (block + 32)), word);
	__m256		words = _mm256_blendv_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high),
										 _mm256_castsi256_ps(product));

	return _mm256_testc_si256(_mm256_castps_si256(words), _mm256_sllv_epi32(ones, bit));
}

__attribute__((target("avx2")))
static inline __m256i
ones_for(unsigned k)
{
	return _mm256_loadu_si256((const __m256i *) (lane_ones + 8 - k));
}

__attribute__((target("avx2")))
static inline bool
test_bits_avx2(const uint8_t *block, uint32_t x, unsigned k)
{
	return test_eight(block, x, 0, ones_for(k));
}

__attribute__((target("avx2")))
static inline bool
test_bits_avx2_many(const uint8_t *block, uint32_t x, unsigned k)
{
	return (int) test_eight(block, x, 0, ones_for(8)) &
		   (int) test_eight(block, x, 8, ones_for(k - 8));
}

__attribute__((target("avx2")))
static bool
probe_avx2(const BfView *view, uint64_t hash)
{
	return test_bits_avx2(block_of(view, hash), (uint32_t) hash, view->head.param[0]);
}

__attribute__((target("avx2")))
static bool
probe_avx2_many(const BfView *view, uint64_t hash)
{
	return test_bits_avx2_many(block_of(view, hash), (uint32_t) hash, view->head.param[0]);
}

#endif							/* BF_HAVE_AVX2 */

#ifdef BF_HAVE_NEON

/*
 * Tests all bits of a key at once: a table lookup over the 64 bytes of the block fetches the bytes
 * of sixteen bits.  The bits from number k on count as set.
 */
static inline bool
test_bits_neon(const uint8_t *block, uint32_t x, unsigned k)
{
	static const uint8_t number[BF_MAX_BLOCK_PROBES] = {0, 1, 2,  3,  4,  5,  6,  7,
														8, 9, 10, 11, 12, 13, 14, 15};
	/*
	 * The high half of each product of hash and multiplier: 6 bits choose the byte of the block, 3
	 * the bit in it.
	 */
	uint16x4_t	high[4];
	uint16x8_t	first;
	uint16x8_t	last;
	uint8x16_t	byte;
	uint8x16_t	bit;
	uint8x16_t	set;
	unsigned	i;

	for (i = 0; i < 4; i++)
		high[i] = vshrn_n_u32(vmulq_n_u32(vld1q_u32(multiplier + 4 * i), x), 16);
	first = vcombine_u16(high[0], high[1]);
	last = vcombine_u16(high[2], high[3]);
	byte = vshrq_n_u8(vcombine_u8(vshrn_n_u16(first, 8), vshrn_n_u16(last, 8)), 2);
	bit = vandq_u8(vcombine_u8(vshrn_n_u16(first, 7), vshrn_n_u16(last, 7)), vdupq_n_u8(7));
	set = vtstq_u8(vqtbl4q_u8(vld1q_u8_x4(block), byte),
				   vshlq_u8(vdupq_n_u8(1), vreinterpretq_s8_u8(bit)));
	set = vorrq_u8(set, vcgeq_u8(vld1q_u8(number), vdupq_n_u8((uint8_t) k)));
	return vminvq_u8(set) == UINT8_MAX;
}

static bool
probe_neon(const BfView *view, uint64_t hash)
{
	return test_bits_neon(block_of(view, hash), (uint32_t) hash, view->head.param[0]);
}

#endif							/* BF_HAVE_NEON */

static BfProbe
blocked_prober(const BfView *view)
{
#ifdef BF_HAVE_AVX2
	if (bf_have_avx2())
		return view->head.param[0] <= 8 ? probe_avx2 : probe_avx2_many;
#endif
	(void) view;
#ifdef BF_HAVE_NEON
	return probe_neon;
#else
	return probe_scalar;
#endif
}

/*
 * For the test that compares implementations: returns the probe in plain C, whose results must
 * equal those of the probe that blocked_prober() chooses.
 */
BfProbe
bf_blocked_scalar_twin(void)
{
	return probe_scalar;
}

#ifdef BF_HAVE_AVX2

__attribute__((target("avx2")))
static void
probe_many_avx2(const BfView *view, const uint64_t *hashes, size_t n, bool *result)
{
	if (view->head.param[0] <= 8)
		bf_blocks_probe_many(view, hashes, n, result, block_offset, test_bits_avx2);
	else
		bf_blocks_probe_many(view, hashes, n, result, block_offset, test_bits_avx2_many);
}

#endif

static void
blocked_probe_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result)
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

/* Sets the k bits of a key in a block. */
static inline void
set_bits_scalar(uint8_t *block, uint32_t x, unsigned k)
{
	unsigned	i;

	for (i = 0; i < k; i++)
	{
		uint32_t	bit = (x * multiplier[i]) >> BIT_SHIFT;

		block[bit >> 3] |= (uint8_t) (1 << (bit & 7));
	}
}

#ifdef BF_HAVE_AVX2

/*
 * Sets the k bits of a key in a block, as set_bits_scalar() does, but computes the positions of
 * eight bits at a time.
 */
__attribute__((target("avx2")))
static inline void
set_bits_avx2(uint8_t *block, uint32_t x, unsigned k)
{
	uint32_t	byte[BF_MAX_BLOCK_PROBES] __attribute__((aligned(32)));
	uint32_t	mask[BF_MAX_BLOCK_PROBES] __attribute__((aligned(32)));
	unsigned	i;

	for (i = 0; i < k; i += 8)
	{
		__m256i product = _mm256_mullo_epi32(_mm256_set1_epi32((int) x),
											 _mm256_load_si256((const __m256i *) (multiplier + i)));

		_mm256_store_si256((__m256i *) (byte + i), _mm256_srli_epi32(product, BIT_SHIFT + 3));
		_mm256_store_si256((__m256i *) (mask + i),
						   _mm256_sllv_epi32(_mm256_set1_epi32(1),
											 _mm256_srli_epi32(_mm256_slli_epi32(product, 6), 29)));
	}
	for (i = 0; i < k; i++)
		block[byte[i]] |= (uint8_t) mask[i];
}

#endif

#ifdef BF_HAVE_WIDE

/*
 * Sets the k bits of a key in a block, as set_bits_scalar() does, but in one register that holds
 * the whole block.  For each bit, every word gets 1 shifted by the bit's position minus the word's
 * own position.  In all words but one that difference is not between 0 and 31, and such a shift
 * gives 0.  Positions are stored negated, so that one broadcast from memory and one subtraction
 * suffice.
 */
BF_WIDE_INLINE void
set_bits_wide(uint8_t *block, uint32_t x, unsigned k)
{
	uint32_t	position[BF_MAX_BLOCK_PROBES] __attribute__((aligned(64)));
	__m512i product = _mm512_mullo_epi32(_mm512_set1_epi32((int) x), _mm512_load_si512(multiplier));
	__m512i		word = _mm512_setr_epi32(0, -32, -64, -96, -128, -160, -192, -224, -256, -288, -320,
										 -352, -384, -416, -448, -480);
	__m512i		bits = _mm512_loadu_si512(block);
	unsigned	i;

	_mm512_store_si512(
		position, _mm512_sub_epi32(_mm512_setzero_si512(), _mm512_srli_epi32(product, BIT_SHIFT)));
	for (i = 0; i < k; i++)
	{
		__m512i		shift = _mm512_sub_epi32(word, _mm512_set1_epi32((int) position[i]));

		bits = _mm512_or_si512(bits, _mm512_sllv_epi32(_mm512_set1_epi32(1), shift));
	}
	_mm512_storeu_si512(block, bits);
}

BF_WIDE static size_t
add_wide(const BfHeader *head, uint8_t *payload, const uint64_t *hashes, size_t n)
{
	return bf_blocks_add(head, payload, hashes, n, block_offset, set_bits_wide);
}

#endif

#ifdef BF_HAVE_AVX2

__attribute__((target("avx2")))
static size_t
add_avx2(const BfHeader *head, uint8_t *payload, const uint64_t *hashes, size_t n)
{
	return bf_blocks_add(head, payload, hashes, n, block_offset, set_bits_avx2);
}

#endif

static size_t
blocked_add(const BfHeader *head, uint8_t *payload, const uint64_t *hashes, size_t n)
{
#ifdef BF_HAVE_WIDE
	if (bf_have_wide())
		return add_wide(head, payload, hashes, n);
#endif
#ifdef BF_HAVE_AVX2
	if (bf_have_avx2())
		return add_avx2(head, payload, hashes, n);
#endif
	return bf_blocks_add(head, payload, hashes, n, block_offset, set_bits_scalar);
}

static void
blocked_stats(const BfPort *port, const BfView *view, uint64_t fold, BfStats *stats)
{
	uint64_t	blocks = view->head.payload_len / BLOCK_BYTES / fold;
	unsigned	k = view->head.param[0];
	uint64_t	count[BF_BLOCK_BITS + 1] = {0};
	uint64_t	i;

	for (i = 0; i < blocks; i++)
	{
		count[bf_cells_popcount(port, view->payload + i * fold * BLOCK_BYTES, fold, BLOCK_BYTES)]++;
		if ((i & BF_INTERRUPT_MASK) == 0)
			bf_check_interrupts(port);
	}

	/*
	 * Compute the mean of the blocks' FPRs, not the FPR of the mean block, because crowded blocks
	 * have more than their share of the false positives.
	 */
	stats->bits = blocks * BF_BLOCK_BITS;
	stats->hashes = k;
	for (i = 0; i <= BF_BLOCK_BITS; i++)
	{
		if (count[i] == 0)
			continue;
		stats->bits_set += count[i] * i;
		stats->keys += (double) count[i] * bf_math_keys((double) i, BF_BLOCK_BITS, k);
		stats->fpr += (double) count[i] * pow((double) i / BF_BLOCK_BITS, k);
	}
	stats->fpr /= (double) blocks;
	stats->fill = (double) stats->bits_set / (double) stats->bits;
}

const BfKind bf_kind_blocked = {
	.id = BF_KIND_BLOCKED,
	.name = "blocked",
	.caps = BF_CAN_ADD | BF_CAN_UNION | BF_CAN_INTERSECT | BF_CAN_FOLD,
	.hash_id = BF_HASH_XXH3,
	/*
	 * At an FPR lower than this, the effect of choosing a key's bits by only 32 bits of its hash
	 * would begin to show.
	 */
	.min_fpr = 1e-5,
	.better_kind = "standard",
	.when = "the default: one cache line a probe",
	.cell_size = BLOCK_BYTES,
	.design = blocked_design,
	.size = blocked_size,
	.check = blocked_check,
	.prober = blocked_prober,
	.probe_many = blocked_probe_many,
	.probe_sliced = blocked_probe_sliced,
	.add = blocked_add,
	.stats = blocked_stats,
	.combined_head = bf_cells_combined_head,
	.unite = bf_cells_unite,
	.intersect = bf_cells_intersect,
	.fold_plan = bf_cells_fold_plan,
	.fold = bf_cells_fold,
};
