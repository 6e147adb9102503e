/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_xor_plus.c
 *	  The xor filter with its third block stored sparsely.
 *
 * This is an xor filter (kind_xor.c) in which peeling sets cells of the third block only where it
 * must.  36 % of the third block's cells then remain zero, and zeros are not stored: a bitmap tells
 * which cells of the block are not zero, and only those cells follow.
 *
 *		table		packed cells of w bits: the first two blocks, of len cells each;
 *					lines of 32 bytes, each for 224 cells of the third block: u32 number of cells
 *					that are not zero in the lines before, then a bitmap of 28 bytes;
 *					packed cells of w bits: those of the third block that are not zero
 *		geometry	len
 *
 *		param[0]	w
 *		param[3]	number of shards (bf_static.h)
 *
 * The FPR is 2^-w.  The size is 1.081 w + 0.469 bits a key: 0.82 w for two blocks, 0.41 * 32 * 8 /
 * 224 for the lines, 0.41 * 0.636 w for the third block.  A probe has a fourth load, which has to
 * wait for the third, that of the line. binary_fuse is smaller for any w, and faster for single
 * probes.
 *
 * Graf, Lemire 2020, "Xor filters: faster and smaller than Bloom and cuckoo filters", section 3.3,
 * where ranks have two levels and the size is 1.0824 w + 0.5125 bits a key.
 *
 *-------------------------------------------------------------------------
 */
#include "bf_int.h"

#include "bf_peel.h"

#define LINE_BYTES	32
/* The size in bytes of a line's rank: the number of cells, not zero, of all lines before it. */
#define LINE_RANK	4
#define LINE_CELLS	((LINE_BYTES - LINE_RANK) * 8)

/* The number of lines of a table, and the offsets in bytes of the table's parts. */
typedef struct Parts
{
	uint64_t	nlines;
	uint64_t	lines;

	/* The offset of the third block's cells that are not zero; only these are stored. */
	uint64_t	cells;
} Parts;

static inline Parts
parts_of(const BfHeader *head, uint64_t len)
{
	Parts		parts;

	parts.nlines = (len + LINE_CELLS - 1) / LINE_CELLS;
	parts.lines = bf_packed_len(len * 2, head->param[BF_STATIC_WIDTH]);
	parts.cells = parts.lines + parts.nlines * LINE_BYTES;
	return parts;
}

static void
xor_plus_design(BfDesign *design)
{
	unsigned	width = bf_static_width(design->fpr);

	design->param[BF_STATIC_WIDTH] = width;
	design->millibits = 1081 * width + 469;
	design->expected_fpr = 1.0 / (double) (UINT64_C(1) << width);
}

/*
 * Returns the expected length of a table for n keys, in bytes.  It expects 636 of 1000 cells of the
 * third block not to be zero.
 */
static uint64_t
xor_plus_table_len(const uint32_t *param, uint64_t n)
{
	BfHeader	head = {.param[BF_STATIC_WIDTH] = param[BF_STATIC_WIDTH]};
	uint64_t	len = bf_block_len(n);

	return parts_of(&head, len).cells + bf_packed_len(len * 636 / 1000, param[BF_STATIC_WIDTH]);
}

static uint64_t
xor_plus_size(const BfDesign *design, uint64_t keys)
{
	return bf_static_size(design, keys, xor_plus_table_len);
}

static const char *
xor_plus_check(const BfHeader *head)
{
	if (head->param[1] != 0 || head->param[2] != 0)
		return "reserved fields of the header are not zero";
	return bf_static_check(head);
}

/* ---- building an xor_plus filter ---- */

static uint64_t
xor_plus_scratch_len(const BfHeader *head, uint32_t n)
{
	(void) head;
	return bf_peel_scratch_len(bf_block_len(n) * 3, n);
}

static uint64_t
xor_plus_max_table_len(const BfHeader *head, uint32_t n)
{
	uint64_t	len = bf_block_len(n);

	return parts_of(head, len).cells + bf_packed_len(len, head->param[BF_STATIC_WIDTH]);
}

static void
xor_plus_solve(const BfPort *port, BfShardBuild *build)
{
	unsigned	width = build->head->param[BF_STATIC_WIDTH];
	uint64_t	len = bf_block_len(build->n);
	BfGraph		graph = {.arity = 3, .len = len, .deferred = len * 2};
	Parts		parts = parts_of(build->head, len);
	uint32_t	set = 0;
	const uint32_t *values = bf_peel(port, build, &graph);
	uint64_t	i;

	bf_peel_pack(port, build->table, values, len * 2, width);
	for (i = 0; i < len; i++)
	{
		uint8_t    *line = build->table + parts.lines + i / LINE_CELLS * LINE_BYTES;
		unsigned	bit = i % LINE_CELLS;

		if (bit == 0)
		{
			bf_store32(line, set);
			bf_check_interrupts(port);
		}
		if (values[len * 2 + i] == 0)
			continue;
		line[LINE_RANK + bit / 8] |= (uint8_t) (1 << (bit % 8));
		bf_packed_put(build->table + parts.cells, set++, width, values[len * 2 + i]);
	}
	build->geometry = (uint32_t) len;
	build->table_len = parts.cells + bf_packed_len(set, width);
}

static const char *
xor_plus_validate_table(const BfHeader *head, uint32_t geometry, const uint8_t *table,
						uint64_t avail, uint64_t *len)
{
	unsigned	width = head->param[BF_STATIC_WIDTH];
	Parts		parts = parts_of(head, geometry);
	uint64_t	set = 0;
	uint64_t	i;

	*len = parts.cells;
	if (*len > avail)
		return "the geometry of a table is out of range";
	if (!bf_packed_padding_ok(table, (uint64_t) geometry * 2, width))
		return "the padding of a table is not zero";
	for (i = 0; i < parts.nlines; i++)
	{
		const uint8_t *line = table + parts.lines + i * LINE_BYTES;
		uint64_t	cell = i * LINE_CELLS;
		unsigned	byte;

		if (bf_load32(line) != set)
			return "a rank does not match the bitmap";
		for (byte = LINE_RANK; byte < LINE_BYTES; byte++, cell += 8)
		{
			unsigned beyond = cell >= geometry		? 0xff
							  : cell + 8 > geometry ? 0xff << (geometry - cell) & 0xff
													: 0;

			if (line[byte] & beyond)
				return "the padding of a bitmap is not zero";
			set += (unsigned) __builtin_popcount(line[byte]);
		}
	}
	*len += bf_packed_len(set, width);
	if (*len > avail)
		return "the geometry of a table is out of range";
	for (i = 0; i < set; i++)
		if (bf_packed_get(table + parts.cells, i, width) == 0)
			return "a cell that is zero is stored as one that is not";
	if (!bf_packed_padding_ok(table + parts.cells, set, width))
		return "the padding of a table is not zero";
	return NULL;
}

static const BfStaticKind frame = {
	.scratch_len = xor_plus_scratch_len,
	.max_table_len = xor_plus_max_table_len,
	.solve = xor_plus_solve,
	.validate = xor_plus_validate_table,
};

static BfStatus
xor_plus_build(const BfPort *port, BfHeader *head, BfSource *source, BfSink *sink)
{
	return bf_static_build(port, head, source, sink, &frame);
}

static const char *
xor_plus_validate(const BfPort *port, const BfView *view)
{
	return bf_static_validate(port, view, &frame);
}

/* ---- probing an xor_plus filter ---- */

/* The state of one key's probe between begin() and end(). */
typedef struct Lookup
{
	BfShard		shard;
	bool		usable;			/* True if the shard has a table that lies within the payload. */
	uint32_t	fingerprint;

	/*
	 * The offsets of the key's cells in the first two blocks, in bits from the beginning of the
	 * table.
	 */
	uint64_t	bit[2];
	uint64_t	line;			/* The offset of the line of the key's third cell, in bytes. */
	unsigned	line_bit;		/* The bit of that line's bitmap that belongs to the cell. */
	uint64_t	cells;			/* The offset of the stored cells of the third block, in bytes. */
} Lookup;

static inline __attribute__((always_inline)) void
begin(const BfView *view, uint64_t hash, Lookup *lookup)
{
	unsigned	width = view->head.param[BF_STATIC_WIDTH];
	uint64_t	mix = bf_static_mix(hash);
	uint64_t	position[3];
	BfGraph		graph;
	uint64_t	third;
	Parts		parts;

	bf_static_find(view, hash, &lookup->shard);
	graph.len = lookup->shard.geometry;
	parts = parts_of(&view->head, graph.len);
	lookup->usable = graph.len != 0 && parts.cells <= lookup->shard.after;
	lookup->fingerprint = bf_fingerprint(mix, width);
	lookup->cells = parts.cells;
	bf_block_positions(&graph, 3, lookup->shard.place, mix, position);
	third = position[2] - 2 * graph.len;
	lookup->bit[0] = position[0] * width;
	lookup->bit[1] = position[1] * width;
	lookup->line = parts.lines + third / LINE_CELLS * LINE_BYTES;
	lookup->line_bit = third % LINE_CELLS;
}

/*
 * Returns the number of bits set in x.  Does not use the instruction for it, which not every x86-64
 * processor has.
 */
static inline unsigned
popcount(uint64_t x)
{
	x -= x >> 1 & UINT64_C(0x5555555555555555);
	x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
	x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (unsigned) ((x * UINT64_C(0x0101010101010101)) >> 56);
}

/*
 * Sets *index to the number of the key's third cell among the stored ones; returns false if the
 * cell is zero, and therefore not stored.
 */
static inline __attribute__((always_inline)) bool
find_third(const Lookup *lookup, uint64_t *index)
{
	const uint8_t *line = lookup->shard.table + lookup->line;
	const uint8_t *word = line + LINE_RANK;
	unsigned	bit = lookup->line_bit;
	uint64_t	last;

	if (!(word[bit / 8] >> (bit % 8) & 1))
		return false;
	*index = bf_load32(line);
	for (; bit >= 64; bit -= 64, word += 8)
		*index += popcount(bf_load64(word));
	/* The bitmap ends with half a word of 64 bits. */
	last = word - line + 8 > LINE_BYTES ? bf_load32(word) : bf_load64(word);
	*index += popcount(last & ((UINT64_C(1) << bit) - 1));
	return true;
}

/*
 * Returns whether the key may be contained; true if the shard's table does not lie within the
 * payload, as there must be no false negatives.
 */
static inline __attribute__((always_inline)) bool
end(const BfView *view, const Lookup *lookup)
{
	unsigned	width = view->head.param[BF_STATIC_WIDTH];
	const uint8_t *table = lookup->shard.table;
	uint64_t	value = lookup->fingerprint;
	uint64_t	third;

	if (!lookup->usable)
		return lookup->shard.geometry != 0 || bf_static_listed(view, &lookup->shard);
	value ^= bf_load64(table + (lookup->bit[0] >> 3)) >> (lookup->bit[0] & 7);
	value ^= bf_load64(table + (lookup->bit[1] >> 3)) >> (lookup->bit[1] & 7);
	if (find_third(lookup, &third))
	{
		if (bf_packed_len(third + 1, width) > lookup->shard.after - lookup->cells)
			return true;
		value ^= bf_packed_get(table + lookup->cells, third, width);
	}
	if ((value & ((UINT64_C(1) << width) - 1)) == 0)
		return true;
	return bf_static_listed(view, &lookup->shard);
}

static bool
xor_plus_probe(const BfView *view, uint64_t hash)
{
	Lookup		lookup;

	begin(view, hash, &lookup);
	return end(view, &lookup);
}

static BfProbe
xor_plus_prober(const BfView *view)
{
	return view->head.param[BF_STATIC_SHARDS] == 0 ? bf_static_probe_none : xor_plus_probe;
}

static void
xor_plus_probe_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result)
{
	unsigned	width = view->head.param[BF_STATIC_WIDTH];

	if (view->head.param[BF_STATIC_SHARDS] == 0)
	{
		memset(result, 0, n * sizeof(*result));
		return;
	}
	while (n > 0)
	{
		size_t		batch = BF_MIN(n, BF_BATCH);
		Lookup		lookup[BF_BATCH];
		size_t		i;

		for (i = 0; i < batch; i++)
		{
			begin(view, hashes[i], &lookup[i]);
			__builtin_prefetch(lookup[i].shard.table + (lookup[i].bit[0] >> 3));
			__builtin_prefetch(lookup[i].shard.table + (lookup[i].bit[1] >> 3));
			__builtin_prefetch(lookup[i].shard.table + lookup[i].line);
		}
		/* The lines have been prefetched by now; they tell where the third cells are. */
		for (i = 0; i < batch; i++)
		{
			uint64_t	third;

			if (lookup[i].usable && find_third(&lookup[i], &third))
				__builtin_prefetch(lookup[i].shard.table + lookup[i].cells + (third * width >> 3));
		}
		for (i = 0; i < batch; i++)
			result[i] = end(view, &lookup[i]);
		hashes += batch;
		result += batch;
		n -= batch;
	}
}

static void
xor_plus_stats(const BfPort *port, const BfView *view, uint64_t fold, BfStats *stats)
{
	(void) fold;
	bf_static_stats(port, view, bf_static_fpr, stats);
	stats->hashes = 3;
}

const BfKind bf_kind_xor_plus = {
	.id = BF_KIND_XOR_PLUS,
	.name = "xor_plus",
	.caps = BF_FROM_SET,
	.hash_id = BF_HASH_XXH3,
	.min_fpr = 0x1p-32,
	.better_kind = "standard",
	.advice = "Filters of this kind are built at once, by bloom_agg.",
	.when = "to compare with: from some 10,000 keys on binary_fuse is smaller, and faster",
	.design = xor_plus_design,
	.size = xor_plus_size,
	.check = xor_plus_check,
	.validate = xor_plus_validate,
	.prober = xor_plus_prober,
	.probe_many = xor_plus_probe_many,
	.build = xor_plus_build,
	.stats = xor_plus_stats,
};
