/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_ribbon_solve.c
 *	  Builds the table of a shard: for each layer, elimination and then back substitution.
 *
 *-------------------------------------------------------------------------
 */
#include "kind_ribbon_solve.h"

#include "bf_cpu.h"
#include "kind_ribbon_fill.h"

/*
 * The number of 1024ths by which a layer of many keys has fewer slots than keys; it bumps a few
 * more keys than that.  More bumping would cost time and layers, less would leave slots empty.
 */
#define OVERLOAD		51

/*
 * A layer with fewer keys than FEW_KEYS has more slots than keys, by OVERLOAD 1024ths and
 * SLACK_SLOTS and a block; it bumps next to no keys, as a further layer would not be worth its own
 * overhead.
 */
#define FEW_KEYS		1500
#define SLACK_SLOTS		16

/* Up to this many bumped keys, the list of stragglers takes no more space than a further layer. */
#define LIST_KEYS		12

/* ---- sizes of layers and tables ---- */

/* Returns the number of blocks of a layer of the given number of keys. */
static uint32_t
blocks_for(uint32_t keys)
{
	uint64_t	part = (uint64_t) keys * OVERLOAD / 1024;
	uint64_t	slots = keys >= FEW_KEYS ? keys - part : keys + part + SLACK_SLOTS + BLOCK_SLOTS;

	return (uint32_t) BF_MAX(slots / BLOCK_SLOTS, 2);
}

/*
 * Returns the most blocks that a layer of at most the given number of keys can have.  The number of
 * blocks does not only grow with the keys: it drops at FEW_KEYS.
 */
static uint32_t
max_blocks(uint32_t keys)
{
	return BF_MAX(blocks_for(keys), blocks_for(BF_MIN(keys, FEW_KEYS - 1)));
}

static uint64_t
max_ternary_blocks(const BfHeader *head, uint32_t keys)
{
	uint64_t	blocks = max_blocks(keys);

	return head->param[PARAM_TERNARY] == 0
			   ? 0
			   : BF_MIN(blocks,
						BF_MAX(ternary_blocks(head, blocks) + 2 * GROUP_BLOCKS, MIN_PARTED));
}

/*
 * Returns the most bumped keys that a further layer may have.  If more keys were bumped, that was
 * not by chance: hashes were crafted to crowd in this layer and would crowd in the next.  All
 * bumped keys then become stragglers.
 */
static uint32_t
max_next_keys(uint32_t keys)
{
	return keys / 4;
}

uint64_t
bf_ribbon_scratch_len(const BfHeader *head, uint32_t n)
{
	uint64_t	slots = (uint64_t) max_blocks(n) * BLOCK_SLOTS;
	uint64_t	ternary = max_ternary_blocks(head, n) * BLOCK_SLOTS;

	return slots * (sizeof(uint64_t) + sizeof(uint32_t)) + ternary * (sizeof(Planes) + 1) +
		   ((uint64_t) n + 2 * max_next_keys(n)) * sizeof(uint32_t);
}

/*
 * Implements BfStaticKind.max_table_len.  No block takes more space than one with w columns of one
 * bit, not even a ternary block.
 */
uint64_t
bf_ribbon_max_table_len(const BfHeader *head, uint32_t n)
{
	uint64_t	len = 0;
	unsigned	i;

	for (i = 0; i < MAX_LAYERS; i++, n = max_next_keys(n))
		len += NEXT_BYTES + max_blocks(n) * (1 + head->param[BF_STATIC_WIDTH] * WORD_BYTES) +
			   GROUP_BYTES;
	return len;
}

/*
 * Returns the approximate length of a table of n keys.  Expects a twentieth of a layer's keys to be
 * bumped, and none of a layer of few keys.
 */
uint64_t
bf_ribbon_table_len(const uint32_t *param, uint64_t n)
{
	BfHeader	head = {.param = {param[0], param[1], param[2], param[3]}};
	uint64_t	len = 0;
	unsigned	i;

	for (i = 0; i < MAX_LAYERS && n > LIST_KEYS; i++)
	{
		Layer		layer;

		layer_shape(&head, blocks_for((uint32_t) n), &layer);
		len += layer.len;
		n = n < FEW_KEYS ? 0 : n * (OVERLOAD + 1) / 1024;
	}
	return len;
}

/* ---- building a layer ---- */

static inline uint64_t
start_of_bumped(const BfShardBuild *build, const Layer *layer, const Band *band, uint32_t i)
{
	uint64_t	mix = bf_static_mix(build->hashes[band->bumped[i]]);

	return start_at(layer, mix * place_multiplier[band->number]);
}

/*
 * Sorts the keys that the previous layer has bumped by where their rows start in this layer.  It is
 * a counting sort, with its counters in the memory that the rows take later.
 */
static void
sort_keys(const BfShardBuild *build, const Layer *layer, Band *band, uint32_t n)
{
	uint32_t   *count = (uint32_t *) (void *) band->row;
	uint32_t	sum = 0;
	uint64_t	s;
	uint32_t	i;

	memset(count, 0, layer->blocks * BLOCK_SLOTS * sizeof(uint32_t));
	for (i = 0; i < n; i++)
		count[start_of_bumped(build, layer, band, i)]++;
	for (s = 0; s < layer->blocks * BLOCK_SLOTS; s++)
	{
		uint32_t	here = count[s];

		count[s] = sum;
		sum += here;
	}
	for (i = 0; i < n; i++)
	{
		uint64_t	start = start_of_bumped(build, layer, band, i);
		uint32_t	to = count[start]++;

		band->key[to] = band->bumped[i];
		band->start[to] = (uint32_t) start;
	}
}

/*
 * Performs back substitution in four columns of a block, from its last slot to its first.  A slot's
 * bit follows from the 63 slots after it, by the row that stands in the slot. window has 64 slots
 * of each column, the current one in the lowest bit; when the block's first slot is done, it is the
 * block's word.
 */
static inline __attribute__((always_inline)) void
solve_four(const uint64_t *row, const uint32_t *value, unsigned column, uint64_t *window)
{
	uint64_t	a = window[0];
	uint64_t	b = window[1];
	uint64_t	c = window[2];
	uint64_t	d = window[3];
	int			i;

	for (i = BLOCK_SLOTS - 1; i >= 0; i--)
	{
		uint32_t	v = value[i] >> column;

		a <<= 1;
		b <<= 1;
		c <<= 1;
		d <<= 1;
		a |= parity(a & row[i]) ^ (v & 1);
		b |= parity(b & row[i]) ^ (v >> 1 & 1);
		c |= parity(c & row[i]) ^ (v >> 2 & 1);
		d |= parity(d & row[i]) ^ (v >> 3 & 1);
	}
	window[0] = a;
	window[1] = b;
	window[2] = c;
	window[3] = d;
}

/*
 * Performs back substitution in the ternary column of a block, from its last slot to its first.
 * Each slot's digit is added to the slot's byte in n with the weight that the block has in its
 * group.
 */
static inline __attribute__((always_inline)) void
solve_ternary(const Planes *row, const uint8_t *value, Planes *window, uint8_t *n, unsigned weight)
{
	Planes		x = *window;
	int			i;

	for (i = BLOCK_SLOTS - 1; i >= 0; i--)
	{
		uint64_t	some;
		unsigned	digit;

		x.some <<= 1;
		x.two <<= 1;
		some = x.some & row[i].some;
		digit = (unsigned) (value[i] + 2 * (__builtin_popcountll(some) +
											__builtin_popcountll(some & (x.two ^ row[i].two)))) %
				3;
		x.some |= digit != 0;
		x.two |= digit >> 1;
		n[i] = (uint8_t) (n[i] + digit * weight);
	}
	*window = x;
}

/*
 * Performs back substitution in all columns, from the last block to the first.  Slots without a row
 * become 0.  No row of the binary part reaches into the ternary one, so the contents of the windows
 * do not matter where the parts meet.
 */
static inline __attribute__((always_inline)) void
solve_with(const BfPort *port, const Layer *layer, const Band *band, uint8_t *out)
{
	uint64_t	window[BF_STATIC_MAX_WIDTH] = {0};
	Planes		ternary_window = {0, 0};
	uint8_t		n[GROUP_BYTES] = {0};
	uint64_t	block;

	for (block = layer->blocks; block-- > 0;)
	{
		bool		ternary = block >= layer->binary_blocks;
		unsigned	columns = layer->rest_width + (ternary ? 0 : layer->extra_width);
		unsigned	i;

		for (i = 0; i < layer->front_width + columns; i += 4)
			solve_four(band->row + block * BLOCK_SLOTS, band->value + block * BLOCK_SLOTS, i,
					   window + i);
		for (i = 0; i < layer->front_width; i++)
			bf_store64(out + front_offset(layer, block) + i * WORD_BYTES, window[i]);
		for (i = 0; i < columns; i++)
			bf_store64(out + rest_offset(layer, block) + i * WORD_BYTES,
					   window[layer->front_width + i]);
		if (ternary)
		{
			uint64_t	number = block - layer->binary_blocks;
			unsigned	k = (unsigned) (number % GROUP_BLOCKS);

			solve_ternary(band->ternary_row + number * BLOCK_SLOTS,
						  band->ternary_value + number * BLOCK_SLOTS, &ternary_window, n,
						  power[GROUP_BLOCKS - 1 - k]);
			for (i = 0; k == 0 && i < GROUP_BYTES; i++)
			{
				out[group_offset(layer, block) + i] = group_byte(n[i]);
				n[i] = 0;
			}
		}
		if (block % 512 == 0)
			bf_check_interrupts(port);
	}
}

static void
solve_scalar(const BfPort *port, const Layer *layer, const Band *band, uint8_t *out)
{
	solve_with(port, layer, band, out);
}

#ifdef BF_HAVE_AVX2

__attribute__((target("popcnt")))
static void
solve_popcnt(const BfPort *port, const Layer *layer, const Band *band, uint8_t *out)
{
	solve_with(port, layer, band, out);
}

#endif							/* BF_HAVE_AVX2 */

static void
solve_band(const BfPort *port, const Layer *layer, const Band *band, uint8_t *out)
{
#ifdef BF_HAVE_AVX2
	if (bf_have_avx2())
	{
		solve_popcnt(port, layer, band, out);
		return;
	}
#endif
	solve_scalar(port, layer, band, out);
}

void
bf_ribbon_solve(const BfPort *port, BfShardBuild *build)
{
	uint64_t	slots = (uint64_t) max_blocks(build->n) * BLOCK_SLOTS;
	uint64_t	ternary_slots = max_ternary_blocks(build->head, build->n) * BLOCK_SLOTS;
	uint32_t	n = build->n;
	uint8_t    *bytes = build->table;
	uint32_t	nbumped;
	Band		band;

	band.row = build->scratch;
	band.ternary_row = (Planes *) (void *) (band.row + slots);
	band.value = (uint32_t *) (void *) (band.ternary_row + ternary_slots);
	band.start = band.value + slots;
	band.key = band.start + max_next_keys(n);
	band.bumped = band.key + max_next_keys(n);
	band.ternary_value = (uint8_t *) (band.bumped + build->n);

	for (band.number = 0;; band.number++)
	{
		uint32_t	blocks = blocks_for(n);
		Layer		layer;

		layer_shape(build->head, blocks, &layer);
		if (band.number == 0)
			build->geometry = blocks;
		else
			sort_keys(build, &layer, &band, n);
		memset(band.row, 0, layer.blocks * BLOCK_SLOTS * sizeof(*band.row));
		memset(band.value, 0, layer.blocks * BLOCK_SLOTS * sizeof(*band.value));
		ternary_slots = (layer.blocks - layer.binary_blocks) * BLOCK_SLOTS;
		memset(band.ternary_row, 0, ternary_slots * sizeof(*band.ternary_row));
		memset(band.ternary_value, 0, ternary_slots);
		nbumped = bf_ribbon_fill(port, build, &layer, &band, n, bytes + NEXT_BYTES);
		solve_band(port, &layer, &band, bytes);
		bytes += layer.len;

		if (nbumped <= LIST_KEYS || nbumped > max_next_keys(n) || band.number == MAX_LAYERS - 1)
			break;
		bf_store32(bytes - layer.len, blocks_for(nbumped));
		n = nbumped;
	}
	build->table_len = (uint64_t) (bytes - build->table);
	for (n = 0; n < nbumped; n++)
		build->straggler[band.bumped[n]] = 1;
}
