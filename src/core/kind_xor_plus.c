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
#define LINE_RANK	4			/* The size in bytes of the rank with which a line begins. */
#define LINE_CELLS	((LINE_BYTES - LINE_RANK) * 8)

/* The number of lines of a table, and the offsets in bytes of the table's parts. */
typedef struct Parts
{
	uint64_t	nlines;
	uint64_t	lines;
	uint64_t	cells;			/* The offset of the stored cells of the third block. */
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

#ifdef BF_HAVE_WIDE

/*
 * All that a probe needs to know of the filter's shards: each array has an element for each shard.
 * Offsets are from the beginning of the payload.
 */
typedef struct OpenShards
{
	uint64_t	table[BF_WIDE_SHARDS];	/* Offset of the shard's table, in bits. */
	uint64_t	len[BF_WIDE_SHARDS];	/* Number of cells of a block. */
	uint64_t	lines[BF_WIDE_SHARDS];	/* Offset of the table's lines, in bytes. */
	/* Offset of the stored cells of the third block, in bits. */
	uint64_t	cells[BF_WIDE_SHARDS];
	/* The set of shards that have no table, or whose table does not lie within the payload. */
	uint64_t	odd;
	bool		stragglers;		/* True if any shard has stragglers. */
} OpenShards;

static void
open_shards(const BfView *view, OpenShards *open)
{
	uint32_t	i;

	memset(open, 0, sizeof(*open));
	for (i = 0; i < view->head.param[BF_STATIC_SHARDS]; i++)
	{
		BfShard		shard;
		Parts		parts;

		bf_static_open(view, i, &shard);
		parts = parts_of(&view->head, shard.geometry);
		open->stragglers |= shard.stragglers > 0;
		if (shard.geometry == 0 || shard.geometry > UINT32_MAX / 3 || parts.cells > shard.after)
		{
			open->odd |= UINT64_C(1) << i;
			continue;
		}
		open->table[i] = shard.before * 8;
		open->len[i] = shard.geometry;
		open->lines[i] = shard.before + parts.lines;
		open->cells[i] = (shard.before + parts.cells) * 8;
	}
}

/* Transposes the lines of eight keys: word[q] becomes the q-th words of all eight lines. */
BF_WIDE_INLINE void
wide_words(const uint64_t (*line)[LINE_BYTES / 8], __m512i *word)
{
	const __m512i low = _mm512_set_epi64(13, 9, 5, 1, 12, 8, 4, 0);
	const __m512i high = _mm512_set_epi64(15, 11, 7, 3, 14, 10, 6, 2);
	__m512i		a = _mm512_load_si512(line);
	__m512i		b = _mm512_load_si512(line + 2);
	__m512i		c = _mm512_load_si512(line + 4);
	__m512i		d = _mm512_load_si512(line + 6);
	__m512i		ab = _mm512_permutex2var_epi64(a, low, b);
	__m512i		cd = _mm512_permutex2var_epi64(c, low, d);

	word[0] = _mm512_shuffle_i64x2(ab, cd, 0x44);
	word[1] = _mm512_shuffle_i64x2(ab, cd, 0xee);
	ab = _mm512_permutex2var_epi64(a, high, b);
	cd = _mm512_permutex2var_epi64(c, high, d);
	word[2] = _mm512_shuffle_i64x2(ab, cd, 0x44);
	word[3] = _mm512_shuffle_i64x2(ab, cd, 0xee);
}

/*
 * Performs find_third() for eight keys: returns which of them have a third cell that is not zero,
 * and sets *index to the cells' numbers among the stored ones. bit counts from the beginning of the
 * line, whose first 32 bits are the rank.
 */
BF_WIDE_INLINE __mmask8
wide_third(const uint64_t (*line)[LINE_BYTES / 8], __m512i bit, __m512i *index)
{
	const __m512i rank = _mm512_set1_epi64(UINT32_MAX);
	__m512i		word[LINE_BYTES / 8];
	__m512i		mine;			/* The word that contains the bit. */
	int			q;

	wide_words(line, word);
	mine = word[0];
	*index = _mm512_and_si512(word[0], rank);
	word[0] = _mm512_andnot_si512(rank, word[0]);
	for (q = 0; q < LINE_BYTES / 8; q++)
	{
		__m512i		beyond = _mm512_max_epi64(
			_mm512_sub_epi64(_mm512_set1_epi64(64 * (q + 1)), bit), _mm512_setzero_si512());

		*index = _mm512_add_epi64(*index, _mm512_popcnt_epi64(_mm512_sllv_epi64(word[q], beyond)));
		if (q > 0)
			mine = _mm512_mask_mov_epi64(
				mine, _mm512_cmpge_epu64_mask(bit, _mm512_set1_epi64(64 * q)), word[q]);
	}
	return _mm512_test_epi64_mask(mine, _mm512_rolv_epi64(_mm512_set1_epi64(1), bit));
}

BF_WIDE_INLINE void
wide_batch(const BfView *view, const OpenShards *open, const uint64_t *hashes, size_t n,
		   bool *result, BfWideShards shards)
{
	BfWideBits	cell[2];
	BfWideBits	third;
	uint64_t	line_at[BF_WIDE_BATCH] __attribute__((aligned(64)));
	uint64_t	line[BF_WIDE_BATCH][LINE_BYTES / 8] __attribute__((aligned(64)));
	uint64_t	line_bit[BF_WIDE_BATCH] __attribute__((aligned(64)));
	uint64_t	cells[BF_WIDE_BATCH] __attribute__((aligned(64)));
	uint64_t	value[BF_WIDE_BATCH] __attribute__((aligned(64)));
	unsigned	width = view->head.param[BF_STATIC_WIDTH];
	__m512i		end =
		_mm512_set1_epi64((long long) ((view->head.payload_len - BF_STATIC_PADDING) * 8 - width));
	uint64_t	odd = 0;
	uint64_t	out = 0;			/* The keys whose third cell would lie beyond the payload. */
	uint64_t	zero = 0;		/* The keys whose third cell is zero. */
	uint64_t	found = 0;
	size_t		i;
	unsigned	j;

	for (i = 0; i < n; i += BF_WIDE_LANES)
	{
		__m512i		hash = _mm512_maskz_loadu_epi64(bf_wide_lanes(i, n), hashes + i);
		__m512i		mix = bf_wide_mix(hash);
		__m512i		place;
		__m512i		shard = bf_wide_locate(view, hash, shards, &place);
		__m512i		table = bf_wide_pick(open->table, shard, shards);
		__m512i		len = bf_wide_pick(open->len, shard, shards);
		__m512i		position[3];
		__m512i		number;			/* The number of the line that the third cell belongs to. */

		bf_wide_block_positions(len, place, mix, position);
		for (j = 0; j < 2; j++)
			bf_wide_set_bits(
				&cell[j], i,
				_mm512_add_epi64(table, _mm512_mul_epu32(position[j], _mm512_set1_epi64(width))));
		position[2] = _mm512_sub_epi64(position[2], _mm512_add_epi64(len, len));

		/* Divide by 224 = 32 * 7; the reciprocal of 7 is exact for numbers below 2^27. */
		number = _mm512_srli_epi64(
			_mm512_mul_epu32(_mm512_srli_epi64(position[2], 5), _mm512_set1_epi64(0x24924925)), 32);
		_mm512_store_si512(
			line_bit + i,
			_mm512_sub_epi64(_mm512_add_epi64(position[2], _mm512_set1_epi64(LINE_RANK * 8)),
							 _mm512_mul_epu32(number, _mm512_set1_epi64(LINE_CELLS))));
		_mm512_store_si512(line_at + i, _mm512_add_epi64(bf_wide_pick(open->lines, shard, shards),
														 _mm512_slli_epi64(number, 5)));
		_mm512_store_si512(cells + i, bf_wide_pick(open->cells, shard, shards));
		_mm512_store_si512(value + i, bf_wide_fingerprint(mix, width));
		if (open->odd != 0)
			odd |= (uint64_t) bf_wide_among(shard, open->odd) << i;
	}
	for (i = 0; i < n; i++)
		_mm256_store_si256(
			(__m256i *) line[i],
			_mm256_loadu_si256((const __m256i *) (const void *) (view->payload + line_at[i])));
	for (j = 0; j < 2; j++)
		bf_wide_load(cell[j].word, view->payload, n);
	for (i = 0; i < n; i += BF_WIDE_LANES)
	{
		__m512i		bit;
		__mmask8	set = wide_third((const uint64_t(*)[LINE_BYTES / 8]) line + i,
									 _mm512_load_si512(line_bit + i), &bit);
		__mmask8	within;

		bit = _mm512_add_epi64(_mm512_load_si512(cells + i),
							   _mm512_mullo_epi64(bit, _mm512_set1_epi64(width)));
		within = _mm512_cmple_epu64_mask(bit, end);
		out |= (uint64_t) (set & ~within) << i;
		zero |= (uint64_t) (__mmask8) ~set << i;
		bf_wide_set_bits(&third, i, _mm512_maskz_mov_epi64(set & within, bit));
		_mm512_store_si512(value + i,
						   _mm512_xor_si512(_mm512_load_si512(value + i),
											_mm512_xor_si512(bf_wide_get_bits(&cell[0], i),
															 bf_wide_get_bits(&cell[1], i))));
	}
	bf_wide_load(third.word, view->payload, n);
	for (i = 0; i < n; i += BF_WIDE_LANES)
	{
		__m512i		sum = _mm512_load_si512(value + i);

		sum = _mm512_mask_xor_epi64(sum, (__mmask8) ~(zero >> i), sum, bf_wide_get_bits(&third, i));
		found |= (uint64_t) _mm512_testn_epi64_mask(sum, _mm512_set1_epi64((1LL << width) - 1))
				 << i;
	}
	found |= out;
	bf_wide_store(result, found, n);
	for (odd |= open->stragglers ? ~found : 0, odd &= bf_wide_all(n); odd != 0; odd &= odd - 1)
	{
		i = (size_t) __builtin_ctzll(odd);
		result[i] = xor_plus_probe(view, hashes[i]);
	}
}

BF_WIDE_INLINE void
wide_batches(const BfView *view, const OpenShards *open, const uint64_t *hashes, size_t n,
			 bool *result, BfWideShards shards)
{
	while (n > 0)
	{
		size_t		batch = BF_MIN(n, BF_WIDE_BATCH);

		wide_batch(view, open, hashes, batch, result, shards);
		hashes += batch;
		result += batch;
		n -= batch;
	}
}

BF_WIDE static void
wide_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result)
{
	OpenShards	open;

	open_shards(view, &open);
	BF_WIDE_BY_SHARDS(view, wide_batches, &open, hashes, n, result);
}

#endif							/* BF_HAVE_WIDE */

static void
xor_plus_probe_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result)
{
	unsigned	width = view->head.param[BF_STATIC_WIDTH];

	if (view->head.param[BF_STATIC_SHARDS] == 0)
	{
		memset(result, 0, n * sizeof(*result));
		return;
	}
#ifdef BF_HAVE_WIDE
	/*
	 * In a shard without a table, lines are read from the beginning of the payload, which must be
	 * long enough for such a read.
	 */
	if (view->head.payload_len >= LINE_BYTES && bf_wide_probes(view, n))
	{
		wide_many(view, hashes, n, result);
		return;
	}
#endif
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
		/* The lines have arrived by now, and tell where the third cells are. */
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
