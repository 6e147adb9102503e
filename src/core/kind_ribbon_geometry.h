/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_ribbon_geometry.h
 *	  Private to the ribbon filter: the layout of a layer, and the equations of a key.
 *
 * The comment at the head of kind_ribbon.c explains slots, columns, blocks, buckets, layers and the
 * two parts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KIND_RIBBON_GEOMETRY_H
#define KIND_RIBBON_GEOMETRY_H

#include "bf_static.h"

/* Indexes in BfHeader.param. */
#define PARAM_TERNARY	1		/* The share of a layer's slots in the ternary part, in 65536ths. */
/* 1 if the binary part has w - 1 columns, 0 if it has w. */
#define PARAM_LESS		2

#define TERNARY_ONE		65536	/* The value of param[PARAM_TERNARY] for a share of 1. */
/* Slots of a block: as many as a word has bits, so that a row spans two blocks at most. */
#define BLOCK_SLOTS		64
#define BUCKET_SLOTS	128		/* The number of slots that share a threshold. */
#define WORD_BYTES		8		/* The size of one column of a block in bytes. */
/*
 * The number of blocks whose ternary columns are stored together: a byte holds five digits, as 3^5
 * < 256.
 */
#define GROUP_BLOCKS	5
#define GROUP_BYTES		64
/* Bytes at the beginning of a layer that hold the number of blocks of the next one. */
#define NEXT_BYTES		4
#define MAX_LAYERS		4
#define FRONT			4		/* The most columns in the front, which a probe reads first. */

/*
 * The four thresholds that a bucket can have: keys whose start lies below the threshold, counted in
 * slots from the beginning of the bucket, are bumped to the next layer.  The values were found by
 * trying, for this width of rows and load of the table; moving one of them by a few slots changes
 * next to nothing.
 */
static const uint8_t threshold[4] = {0, 12, 36, BUCKET_SLOTS};

/*
 * The least number of blocks for which a layer is divided into two parts.  A smaller layer consists
 * of one part only, the one with the lower FPR.
 */
#define MIN_PARTED		24

/*
 * Odd numbers without structure.  Multiplied with a key's mix, they give numbers that are
 * independent of the mix and of each other: the fingerprint, and the key's place in each layer but
 * the first.
 */
#define FINGERPRINT		UINT64_C(0xa0761d6478bd642f)
static const uint64_t place_multiplier[MAX_LAYERS] = {
	0, UINT64_C(0xe7037ed1a0b428db), UINT64_C(0x8ebc6af09c88c6e3), UINT64_C(0x589965cc75374cc3),
};

/* ---- the layout of a layer ---- */

/* The layout of a layer.  Offsets are in bytes from the beginning of the layer. */
typedef struct Layer
{
	const uint8_t *bytes;		/* The layer itself, when it is read. */
	uint64_t	blocks;

	/* The number of blocks of the binary part; the remaining blocks are the ternary part. */
	uint64_t	binary_blocks;

	/*
	 * The number of slots where the row of a key can start; 0 if the layer does not lie within the
	 * payload.
	 */
	uint64_t	starts;

	/*
	 * Rows may not start in the last block of the binary part, from which they would reach into the
	 * ternary part.  The slots of that block are left out when starts are numbered; the numbers
	 * from gap_at on belong to slots after it.
	 */
	uint64_t	gap_at;

	/* The number of slots by which starts with numbers from gap_at on are moved. */
	uint64_t	gap;
	unsigned	front_width;	/* The number of columns of the front. */
	unsigned	rest_width;		/* The number of columns of the rest in the ternary part. */

	/* The number of columns of the rest that only the binary part has. */
	unsigned	extra_width;
	uint64_t	front;			/* The offset of the layer's front columns. */
	uint64_t	rest;			/* The offset of the layer's remaining columns of one bit. */
	uint64_t	groups;			/* The offset of the groups of ternary columns. */
	uint64_t	len;
} Layer;

/*
 * Returns the number of ternary blocks of a layer with the given number of blocks.  It is a
 * multiple of a group, or all blocks, and such that the FPR is at most the requested one.  Neither
 * part is left with a single block, in which no row could start.
 */
static inline uint64_t
ternary_blocks(const BfHeader *head, uint64_t blocks)
{
	/* True if the ternary part has a lower FPR than the binary part. */
	bool		lower = head->param[PARAM_LESS] != 0;
	uint64_t	share = head->param[PARAM_TERNARY];
	uint64_t	groups;

	if (share == 0 || share == TERNARY_ONE)
		return share == 0 ? 0 : blocks;
	if (blocks < MIN_PARTED)
		return lower ? blocks : 0;

	/*
	 * The share is one of slots where rows can start, and no row starts in the last block of either
	 * part.
	 */
	groups = ((blocks - 2) * share / TERNARY_ONE + (lower ? GROUP_BLOCKS + 1 : 0)) / GROUP_BLOCKS;
	if (groups * GROUP_BLOCKS + 2 > blocks)
		return lower ? blocks : (groups - 1) * GROUP_BLOCKS;
	return groups * GROUP_BLOCKS;
}

/* Returns the number of columns of one bit that both parts have. */
static inline unsigned
common_width(const BfHeader *head)
{
	return BF_MAX(head->param[BF_STATIC_WIDTH], 2) - 2;
}

/* Computes the layout of a layer from its number of blocks, which is at least 2. */
static inline void
layer_shape(const BfHeader *head, uint32_t blocks, Layer *layer)
{
	uint64_t	ternary = ternary_blocks(head, blocks);
	unsigned	common = common_width(head);

	layer->front_width = BF_MIN(FRONT, common);
	layer->rest_width = common - layer->front_width;
	layer->extra_width = head->param[BF_STATIC_WIDTH] - head->param[PARAM_LESS] - common;
	layer->blocks = blocks;
	layer->binary_blocks = blocks - ternary;
	layer->gap = ternary > 0 && ternary < blocks ? BLOCK_SLOTS : 0;
	layer->starts = (layer->blocks - 1) * BLOCK_SLOTS - layer->gap;
	layer->gap_at = layer->gap > 0 ? (layer->binary_blocks - 1) * BLOCK_SLOTS : 0;
	/* A bucket has 2 blocks, and a byte has the thresholds of 4 buckets. */
	layer->front = NEXT_BYTES + (layer->blocks + 7) / 8;
	layer->rest = layer->front + layer->blocks * layer->front_width * WORD_BYTES;
	layer->groups = layer->rest + (layer->blocks * layer->rest_width +
								   layer->binary_blocks * layer->extra_width) *
									  WORD_BYTES;
	layer->len = layer->groups + (ternary + GROUP_BLOCKS - 1) / GROUP_BLOCKS * GROUP_BYTES;
}

/* Return the offsets at which a block's columns of the front and of the rest begin. */
static inline uint64_t
front_offset(const Layer *layer, uint64_t block)
{
	return layer->front + block * layer->front_width * WORD_BYTES;
}

static inline uint64_t
rest_offset(const Layer *layer, uint64_t block)
{
	return layer->rest +
		   (block * layer->rest_width + BF_MIN(block, layer->binary_blocks) * layer->extra_width) *
			   WORD_BYTES;
}

/*
 * Returns the offset of the group that a ternary block belongs to.  The block's digits in the group
 * have the number (block - binary_blocks) % GROUP_BLOCKS.
 */
static inline uint64_t
group_offset(const Layer *layer, uint64_t block)
{
	return layer->groups + (block - layer->binary_blocks) / GROUP_BLOCKS * GROUP_BYTES;
}

/* Returns the slot where the row of a key with the given place starts. */
static inline uint64_t
start_at(const Layer *layer, uint64_t place)
{
	uint64_t	start = bf_cell(place, layer->starts);

	return start + (start >= layer->gap_at ? layer->gap : 0);
}

/* ---- the equations of a key ---- */

/*
 * Returns the 64 coefficients of a key's row; the lowest bit is that of the row's start.  That bit
 * is always 1, so that the row does begin there.
 */
static inline uint64_t
coefficients_of(uint64_t mix)
{
	return mix | 1;
}

/*
 * Returns the fingerprint that a key's row must add up to: as many of its high bits as there are
 * columns, column 0 being the lowest of them.  The bits below them decide the digit of the ternary
 * column.
 */
static inline uint64_t
fingerprint_of(uint64_t mix)
{
	return mix * FINGERPRINT;
}

static inline uint32_t
fingerprint_bits(uint64_t fingerprint, unsigned width)
{
	return (uint32_t) (fingerprint >> (64 - width));
}

static inline unsigned
fingerprint_trit(uint64_t fingerprint, unsigned width)
{
	return (unsigned) bf_cell(fingerprint << width, 3);
}

static inline uint64_t
parity(uint64_t x)
{
	return (uint64_t) __builtin_parityll(x);
}

/* The location of a key's row. */
typedef struct Window
{
	/*
	 * The front of the block in which the row starts; the front of the next block follows it.  NULL
	 * if the layer is not within the payload.
	 */
	const uint8_t *front;
	uint64_t	mix;			/* The key's mix, from bf_static_mix(). */
	uint64_t	start;			/* The slot where the row starts. */
	unsigned	layer;			/* The number of the layer. */
} Window;

/*
 * The coefficients of a row, shifted to the two blocks over which it reaches.  This avoids cutting
 * the row's 64 slots out of the words of two blocks.
 */
typedef struct Coefficients
{
	uint64_t	in_low;
	uint64_t	in_high;
} Coefficients;

static inline Coefficients
shifted_coefficients(const Window *window)
{
	uint64_t	all = coefficients_of(window->mix);
	unsigned	shift = window->start % BLOCK_SLOTS;

	return (Coefficients){.in_low = all << shift, .in_high = all >> 1 >> (BLOCK_SLOTS - 1 - shift)};
}

/*
 * Returns the sum (XOR) of a row in one column, whose words in the row's two blocks are at low and
 * high.
 */
static inline uint64_t
sum(const uint8_t *low, const uint8_t *high, Coefficients in)
{
	return parity((bf_load64(low) & in.in_low) ^ (bf_load64(high) & in.in_high));
}

/* 64 digits of 0, 1 or 2, in two bits each. */
typedef struct Planes
{
	uint64_t	some;			/* The set of digits that are 1 or 2. */
	uint64_t	two;			/* The set of digits that are 2. */
} Planes;

/* Returns the sum of a row in the ternary column, modulo 3. */
static inline unsigned
ternary_sum(Planes low, Planes high, Coefficients in)
{
	return (unsigned) (__builtin_popcountll(low.some & in.in_low) +
					   __builtin_popcountll(low.two & in.in_low) +
					   __builtin_popcountll(high.some & in.in_high) +
					   __builtin_popcountll(high.two & in.in_high)) %
		   3;
}

/* The powers of 3 from 3^0 to 3^4. */
static const uint8_t power[GROUP_BLOCKS] = {1, 3, 9, 27, 81};

/* Returns the byte that stores five digits, which are the digits of n = 0 to 242 to the base 3. */
static inline uint8_t
group_byte(unsigned n)
{
	return (uint8_t) ((n * 256 + 242) / 243);
}

#endif							/* KIND_RIBBON_GEOMETRY_H */
