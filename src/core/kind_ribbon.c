/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_ribbon.c
 *	  The ribbon filter, the smallest of the kinds that are built at once: a few thousandths above
 *	  the lower bound of size.
 *
 * The filter is the solution of a system of equations, one for each key.  It is a table of *slots*,
 * each with one bit in each of w *columns*.  A key's *row* covers 64 slots, from the key's *start*
 * on.  The row has 64 coefficients, one bit each, which choose some of these slots.  The equation
 * is that in each column the bits of the chosen slots XOR to a bit of the key's fingerprint.  For a
 * key that was not added, the sums have nothing to do with the fingerprint: w columns let 2^-w of
 * such keys pass.
 *
 * Sorted by their starts, the rows form a matrix whose coefficients lie in a narrow band along the
 * diagonal, a *ribbon*, so that Gaussian elimination is fast: if a slot's row stands at the first
 * coefficient of a new row, it is subtracted from the new row, which thereby starts later, and so
 * on until the new row comes to a slot where no row stands.
 *
 * That works as long as no stretch of the table has more keys than slots.  To have spare slots
 * everywhere would cost space.  So the table has fewer slots than keys, and keys for which there is
 * no room are *bumped* to the next *layer*: another such table, where they have other starts.  To
 * tell which keys were bumped, slots are divided into *buckets* of 128, and each bucket has a
 * *threshold* of 2 bits: keys that start below its 0th, 12th, 36th or 128th slot are not in this
 * layer.  Keys are added from a bucket's high starts down, because rows of the previous bucket
 * reach into its low starts and take room there.  A twentieth of the keys is bumped; keys that the
 * last layer bumps become stragglers (bf_static.h).  So nothing is tried twice and no seed is
 * searched for.  One slot in 1500 remains empty, and thresholds take 2/128 bits a key.
 *
 * With columns of one bit, the FPR is a power of two.  For other rates, the slots are divided into
 * a *binary part*, with columns of one bit, and after it a *ternary part*, in which one column of
 * digits 0, 1 and 2 replaces one or two columns of one bit; in it, a row's digits are added modulo
 * 3.  With s the share of the ternary part, the FPR is (formula: rate_of())
 *
 *		param[2] = 0:	binary w bits;		ternary w - 2 bits and a digit;	2^-w (1 + s/3)
 *		param[2] = 1:	binary w - 1 bits;	ternary w - 2 bits and a digit;	2^-(w-1) (1 - s/3)
 *
 * This wastes at most 0.04 bits a key; mixing w and w - 1 columns of one bit instead would waste up
 * to 0.086, which is 1.15 % at an FPR of 1 %.  The ternary column has the same coefficients, 0 or
 * 1, but an elimination of its own, modulo 3; a key is in the layer if it has room in both.  No row
 * reaches from one part into the other.
 *
 *		table		the layers, one after the other
 *		layer		u32: number of blocks of the next layer, 0 if there is none;
 *					thresholds: 2 bits for each bucket, zeros up to a whole byte;
 *					front: the first min(4, w - 2) columns, block by block;
 *					rest: the other columns of one bit, block by block;
 *					groups: the ternary columns, each of five blocks
 *		block		64 slots: for each column a word of 8 bytes, the first slot in its lowest bit
 *		group		64 bytes; byte i has the digits of the i-th slots of the five blocks.  With n
 *					the number that these digits make to the base 3, the first block's the highest,
 *					it is ceil(256 n / 243), so that digit k is floor(3 (byte 3^k mod 256) / 256):
 *					1.6 bits a digit, where log2(3) is 1.585
 *		geometry	number of blocks of the first layer
 *
 *		param[0]	w
 *		param[1]	s, in 65536ths
 *		param[2]	0 or 1, as in the table of FPRs
 *		param[3]	number of shards (bf_static.h)
 *
 * No row starts in the last block of a part; rows of the block before it reach into it.  A probe
 * reads the front of two neighbouring blocks, 64 bytes, and the rest only if the front agrees,
 * which for keys that were not added it does once in 16 times.
 *
 * kind_ribbon_geometry.h has the layout and the equations, kind_ribbon_table.h opens a stored
 * table, kind_ribbon_probe.c and kind_ribbon_wide.c probe it, kind_ribbon_fill.c,
 * kind_ribbon_fill_wide.c and kind_ribbon_solve.c build it.
 *
 * Dietzfelbinger, Walzer 2019, "Efficient Gauss elimination for near-quadratic matrices with one
 * short random block per row"; Dillinger, Walzer 2021, "Ribbon filter: practically smaller than
 * Bloom and Xor"; Dillinger, Hübschle-Schneider, Sanders, Walzer 2022, "Fast succinct retrieval and
 * approximate membership using ribbon", where the bumping comes from.
 *
 *-------------------------------------------------------------------------
 */
#include "bf_int.h"

#include "kind_ribbon_geometry.h"
#include "kind_ribbon_probe.h"
#include "kind_ribbon_solve.h"

#include <math.h>

/* ---- parameters and size of a ribbon filter ---- */

/* Returns the FPR of a layer in which the given share of the starts is in the ternary part. */
static double
rate_of(const uint32_t *param, double ternary)
{
	return ldexp(param[PARAM_LESS] ? 1 - ternary / 3 : 1 + ternary / 3,
				 (int) param[PARAM_LESS] - (int) param[BF_STATIC_WIDTH]);
}

/* Returns the FPR of a shard's table, taken as that of its first layer, which has 19 of 20 keys. */
static double
table_fpr(const BfHeader *head, uint32_t geometry)
{
	uint64_t	ternary = ternary_blocks(head, geometry);
	uint64_t	binary = geometry - ternary;

	return rate_of(head->param, ternary <= 1
									? 0
									: (double) (ternary - 1) /
										  (double) (ternary - 1 + (binary > 0 ? binary - 1 : 0)));
}

/*
 * Chooses w, the binary part's number of columns (param[2]) and the share of the ternary part.  The
 * result for powers of two is exact: no logarithm is involved, whose rounding could differ between
 * machines.
 */
static void
ribbon_design(BfDesign *design)
{
	unsigned	width = bf_static_width(design->fpr);
	/* The excess of fpr over 2^-w: fpr is 2^-w (1 + over). */
	double		over = ldexp(design->fpr, (int) width) - 1;

	design->param[BF_STATIC_WIDTH] = width;
	if (width == 1)
		/*
		 * A filter with w = 1 has no ternary part, as there must be at least one whole column of
		 * bits.
		 */
		over = 0;
	design->param[PARAM_LESS] = over > 1.0 / 3;
	design->param[PARAM_TERNARY] =
		(uint32_t) (over > 1.0 / 3 ? ceil((1 - over) * 1.5 * TERNARY_ONE) : over * 3 * TERNARY_ONE);
	design->expected_fpr =
		rate_of(design->param, (double) design->param[PARAM_TERNARY] / TERNARY_ONE);

	/*
	 * A ternary column counts for 1.6 bits.  1/1000 is added for slots that remain empty, and 17
	 * thousandths of a bit for thresholds and later layers.
	 */
	design->millibits =
		(uint32_t) (((width - design->param[PARAM_LESS]) * UINT64_C(1000) * TERNARY_ONE +
					 (design->param[PARAM_LESS] ? 600 : -INT64_C(400)) *
						 design->param[PARAM_TERNARY]) /
					TERNARY_ONE * 1001 / 1000) +
		17;
}

static uint64_t
ribbon_size(const BfDesign *design, uint64_t keys)
{
	return bf_static_size(design, keys, bf_ribbon_table_len);
}

/* ---- checking a ribbon filter ---- */

/*
 * Checks that each byte of a layer's ternary columns is one that a builder writes.  Five blocks
 * share a group; if the last group has fewer blocks, the digits of the missing ones must be zeros.
 */
static bool
groups_ok(const Layer *layer, const uint8_t *bytes)
{
	uint64_t	left = layer->blocks - layer->binary_blocks;
	uint64_t	at;

	for (at = layer->groups; at < layer->len; at += GROUP_BYTES)
	{
		unsigned	unit = left < GROUP_BLOCKS ? power[GROUP_BLOCKS - left] : 1;
		unsigned	i;

		for (i = 0; i < GROUP_BYTES; i++)
		{
			unsigned	n = bytes[at + i] * 243U / 256;

			if (group_byte(n) != bytes[at + i] || n % unit != 0)
				return false;
		}
		left -= BF_MIN(left, GROUP_BLOCKS);
	}
	return true;
}

/*
 * Implements BfStaticKind.validate: checks that the layers follow each other, and that all padding
 * is zero.
 */
static const char *
ribbon_table_validate(const BfHeader *head, uint32_t geometry, const uint8_t *table, uint64_t avail,
					  uint64_t *len)
{
	uint32_t	blocks = geometry;
	unsigned	i;

	*len = 0;
	for (i = 0; blocks != 0; i++)
	{
		Layer		layer;

		if (i == MAX_LAYERS)
			return "a table has too many layers";
		if (blocks < 2)
			return "a layer is too short";
		layer_shape(head, blocks, &layer);
		if (layer.len > avail - *len)
			return "a layer reaches beyond the payload";
		if (!bf_packed_padding_ok(table + *len + NEXT_BYTES, (layer.blocks + 1) / 2, 2))
			return "the padding of thresholds is not zero";
		if (!groups_ok(&layer, table + *len))
			return "a byte does not hold five digits";
		blocks = bf_load32(table + *len);
		*len += layer.len;
	}
	return NULL;
}

static const char *
ribbon_check(const BfHeader *head)
{
	const char *reason = bf_static_check(head);

	if (reason != NULL)
		return reason;
	if (head->param[PARAM_TERNARY] > TERNARY_ONE || head->param[PARAM_LESS] > 1)
		return "the share of ternary blocks is out of range";
	if (head->param[BF_STATIC_WIDTH] == 1 &&
		(head->param[PARAM_TERNARY] != 0 || head->param[PARAM_LESS] != 0))
		return "a single column cannot be divided";
	return NULL;
}

/* ---- the table of the kind ---- */

static const BfStaticKind ribbon = {
	.scratch_len = bf_ribbon_scratch_len,
	.max_table_len = bf_ribbon_max_table_len,
	.solve = bf_ribbon_solve,
	.validate = ribbon_table_validate,
};

static const char *
ribbon_validate(const BfPort *port, const BfView *view)
{
	return bf_static_validate(port, view, &ribbon);
}

static BfStatus
ribbon_build(const BfPort *port, BfHeader *head, BfSource *source, BfSink *sink)
{
	return bf_static_build(port, head, source, sink, &ribbon);
}

static void
ribbon_stats(const BfPort *port, const BfView *view, uint64_t fold, BfStats *stats)
{
	(void) fold;
	bf_static_stats(port, view, table_fpr, stats);
	stats->hashes = 1;
}

const BfKind bf_kind_ribbon = {
	.id = BF_KIND_RIBBON,
	.name = "ribbon",
	.caps = BF_FROM_SET,
	.hash_id = BF_HASH_XXH3,
	.min_fpr = 1e-9,
	.better_kind = "standard",
	.advice = "Filters of this kind are built at once, by bloom_agg.",
	.when = "never changed once built: the smallest of all, slower to build than binary_fuse",
	.design = ribbon_design,
	.size = ribbon_size,
	.check = ribbon_check,
	.validate = ribbon_validate,
	.prober = bf_ribbon_prober,
	.probe_many = bf_ribbon_probe_many,
	.build = ribbon_build,
	.stats = ribbon_stats,
};
