/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_ribbon_geometry.h
 *	  Private to the ribbon filter: where everything lies in a layer, and which equations a key has.
 *
 * See kind_ribbon.c for what slots, columns, blocks, buckets, layers and the two parts are.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KIND_RIBBON_GEOMETRY_H
#define KIND_RIBBON_GEOMETRY_H

#include "bf_static.h"

/* Of BfHeader.param. */
#define PARAM_TERNARY	1		/* the share of slots in the ternary part, in 65536ths */
#define PARAM_LESS		2		/* by how many columns the binary part is narrower than w: 0 or 1 */

#define TERNARY_ONE		65536	/* the share 1 */
#define BLOCK_SLOTS		64		/* as many as a word has bits: a row spans two blocks at most */
#define BUCKET_SLOTS	128		/* slots that share a threshold */
#define WORD_BYTES		8		/* a column of a block */
#define GROUP_BLOCKS	5		/* blocks whose ternary columns are stored together: 3^5 < 256 */
#define GROUP_BYTES		64
#define NEXT_BYTES		4		/* at the beginning of a layer: the blocks of the next one */
#define MAX_LAYERS		4
#define FRONT			4		/* columns that a probe reads first */

/*
 * The four thresholds a bucket can have: keys whose start lies below it, counted in slots from the
 * beginning of the bucket, are bumped to the next layer.  Found by trying, for this width of rows
 * and load of the table; moving one by a few slots changes next to nothing.
 */
static const uint8_t threshold[4] = {0, 12, 36, BUCKET_SLOTS};

/*
 * A layer with fewer blocks than this is not divided into two parts: all of it is the part with the
 * lower FPR.
 */
#define MIN_PARTED		24

/*
 * Odd numbers without structure.  Multiplied with a key's mix, they give numbers that are
 * independent of it and of each other: the fingerprint, and the key's place in each layer but the
 * first.
 */
#define FINGERPRINT		UINT64_C(0xa0761d6478bd642f)
static const uint64_t place_multiplier[MAX_LAYERS] = {
	0, UINT64_C(0xe7037ed1a0b428db), UINT64_C(0x8ebc6af09c88c6e3), UINT64_C(0x589965cc75374cc3),
};

/* ---- where everything lies in a layer ---- */

/* Offsets are in bytes from the beginning of the layer. */
typedef struct Layer
{
	const uint8_t *bytes;		/* the layer itself, when it is read */
	uint64_t	blocks;
	uint64_t	binary_blocks;	/* the binary part; the other blocks are the ternary part */
	uint64_t	starts;			/* slots where the row of a key can start; 0: the layer does not lie
								 * within the payload */
	uint64_t	gap_at;			/* rows may not start in the last block of the binary part, from
								 * which they would reach into the other: these slots are left out
								 * when starts are numbered, so the numbers from gap_at on ... */
	uint64_t	gap;			/* ... are this many slots further on */
	unsigned	front_width;	/* columns of the front */
	unsigned	rest_width;		/* columns of the rest in the ternary part ... */
	unsigned	extra_width;	/* ... and how many more the binary part has */
	uint64_t	front;			/* where the front begins */
	uint64_t	rest;			/* where the rest begins */
	uint64_t	groups;			/* where the groups of ternary columns begin */
	uint64_t	len;
} Layer;

/*
 * The number of ternary blocks among so many: a multiple of a group or all of them, and such that
 * the FPR is at most what was asked for.  Neither part ends up with a single block, in which no row
 * could start.
 */
static inline uint64_t
ternary_blocks(const BfHeader *head, uint64_t blocks)
{
	bool		lower = head->param[PARAM_LESS] != 0;	/* has the ternary part the lower FPR? */
	uint64_t	share = head->param[PARAM_TERNARY];
	uint64_t	groups;

	if (share == 0 || share == TERNARY_ONE)
		return share == 0 ? 0 : blocks;
	if (blocks < MIN_PARTED)
		return lower ? blocks : 0;

	/* the share is one of starts, and the last block of each part has none */
	groups = ((blocks - 2) * share / TERNARY_ONE + (lower ? GROUP_BLOCKS + 1 : 0)) / GROUP_BLOCKS;
	if (groups * GROUP_BLOCKS + 2 > blocks)
		return lower ? blocks : (groups - 1) * GROUP_BLOCKS;
	return groups * GROUP_BLOCKS;
}

/* The columns of one bit that both parts have. */
static inline unsigned
common_width(const BfHeader *head)
{
	return BF_MAX(head->param[BF_STATIC_WIDTH], 2) - 2;
}

/* Computes the layout of a layer from its number of blocks, at least 2. */
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
	layer->front = NEXT_BYTES + (layer->blocks + 7) / 8; /* 2 blocks a bucket, 4 buckets a byte */
	layer->rest = layer->front + layer->blocks * layer->front_width * WORD_BYTES;
	layer->groups = layer->rest + (layer->blocks * layer->rest_width +
								   layer->binary_blocks * layer->extra_width) *
									  WORD_BYTES;
	layer->len = layer->groups + (ternary + GROUP_BLOCKS - 1) / GROUP_BLOCKS * GROUP_BYTES;
}

/* Where a block's columns of the front and of the rest begin. */
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
 * Where the group of a ternary block begins.  The block's digits in it are number
 * (block - binary_blocks) % GROUP_BLOCKS.
 */
static inline uint64_t
group_offset(const Layer *layer, uint64_t block)
{
	return layer->groups + (block - layer->binary_blocks) / GROUP_BLOCKS * GROUP_BYTES;
}

/* The slot where the row of a key with this place starts. */
static inline uint64_t
start_at(const Layer *layer, uint64_t place)
{
	uint64_t	start = bf_cell(place, layer->starts);

	return start + (start >= layer->gap_at ? layer->gap : 0);
}

/* ---- the equations of a key ---- */

/*
 * The 64 coefficients of a key's row, the lowest bit that of its start.  That one is always 1, so
 * that the row does begin there.
 */
static inline uint64_t
coefficients_of(uint64_t mix)
{
	return mix | 1;
}

/*
 * What the key's row must add up to: as many high bits as there are columns, column 0 being the
 * lowest of these bits; what follows them decides the ternary column.
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

/* Where the row of a key lies. */
typedef struct Window
{
	const uint8_t *front;		/* the front of the block that it starts in, which that of the next
								 * block follows; NULL: the layer is not within the payload */
	uint64_t	mix;			/* the key's */
	uint64_t	start;			/* slot */
	unsigned	layer;			/* number of the layer */
} Window;

/*
 * A row reaches over two blocks.  Instead of cutting 64 slots out of their words, the coefficients
 * are shifted to where the slots are.
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

/* What a row adds up to in one column, whose words in the two blocks are at low and high. */
static inline uint64_t
sum(const uint8_t *low, const uint8_t *high, Coefficients in)
{
	return parity((bf_load64(low) & in.in_low) ^ (bf_load64(high) & in.in_high));
}

/* 64 digits of 0, 1 or 2, in two bits each. */
typedef struct Planes
{
	uint64_t	some;			/* which are 1 or 2 */
	uint64_t	two;			/* which are 2 */
} Planes;

/* What a row adds up to in the ternary column, modulo 3. */
static inline unsigned
ternary_sum(Planes low, Planes high, Coefficients in)
{
	return (unsigned) (__builtin_popcountll(low.some & in.in_low) +
					   __builtin_popcountll(low.two & in.in_low) +
					   __builtin_popcountll(high.some & in.in_high) +
					   __builtin_popcountll(high.two & in.in_high)) %
		   3;
}

/* Powers of 3. */
static const uint8_t power[GROUP_BLOCKS] = {1, 3, 9, 27, 81};

/* The byte that stores five digits, the digits of n = 0 to 242 to the base 3. */
static inline uint8_t
group_byte(unsigned n)
{
	return (uint8_t) ((n * 256 + 242) / 243);
}

#endif							/* KIND_RIBBON_GEOMETRY_H */
