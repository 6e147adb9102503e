/*-------------------------------------------------------------------------
 *
 * bf_peel.h
 *	  Private to the core: what binary_fuse, xor and xor_plus share, solving by peeling.
 *
 * The table is an array of cells of w bits.  A key has 3 to 5 of them (its *positions*) and a
 * fingerprint of w bits, and is contained if its cells, xored, are its fingerprint.  To build
 * that, keys are peeled off: a cell that only one key uses can be given the value that this key
 * needs, after all others have got theirs, so the key can be taken away for now, which frees its
 * other cells, and so on.  Then cells are set in the reverse order (Chazelle, Kilian, Rubinfeld,
 * Tal 2004, "The Bloomier filter").
 *
 * Where no such cell is left, other filters start again with another seed.  Here one of the keys
 * that are left is given up and becomes a straggler (bf_static.h), and peeling goes on.  It ends
 * always, whatever the hashes, and tables can be smaller than those that peel wholly with high
 * probability (ZOR, 2026, arXiv 2602.03525).
 *
 * How positions are chosen decides how full a table can be:
 *
 *		blocks		one position in each of 3 blocks: 1.23 cells a key (Graf, Lemire 2020, "Xor
 *		filters") fuse		positions in neighbouring segments of 2^lg cells, the first of which
 *		is anywhere: peeling starts at both ends and moves inwards,
 *					which lets tables be nearly as full as those for which a solution exists at
 *					all (Dietzfelbinger, Walzer 2019, "Dense peelable random uniform hypergraphs";
 *					Graf, Lemire 2022, "Binary fuse filters")
 *
 * With g = bf_static_mix(h), of which g_j are bits 16 j to 16 j + 15, and g_lo, g_hi the halves:
 *
 *		blocks		floor(place * len / 2^64), len + floor(g_lo * len / 2^32), 2 len + floor(g_hi * len / 2^32)
 *		fuse		p_0 = floor(place * starts / 2^64), p_j = (p_0 + j 2^lg) with its lg low bits xored with those of g_(j-1)
 *		fingerprint	the w high bits of g * multiplier
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_PEEL_H
#define BF_PEEL_H

#include "bf_static.h"

#define BF_PEEL_MAX_ARITY	5
#define BF_PEEL_MAX_LG		16	/* as many bits as there are of each g_j */

/* Which cells a key has. */
typedef struct BfGraph
{
	bool		fuse;
	unsigned	arity;			/* fuse: 3 to 5; blocks: 3 */
	unsigned	lg;				/* fuse: of the cells in a segment */
	uint64_t	len;			/* fuse: cells that can be a first position, a multiple of 2^lg;
								 * blocks: cells in each */
	uint64_t	deferred;		/* cells from here on are the last choice to be set; those that
								 * are not stay 0 */
} BfGraph;

static inline uint64_t
bf_graph_cells(const BfGraph *graph)
{
	if (graph->fuse)
		return graph->len + ((uint64_t) (graph->arity - 1) << graph->lg);
	return (uint64_t) graph->len * 3;
}

/*
 * Cells in each of three blocks, for so many keys: 1.23 in all for each, from where on random
 * keys can be peeled.
 */
static inline uint64_t
bf_block_len(uint64_t n)
{
	return (n * 41 + 99) / 100;
}

static inline __attribute__((always_inline)) void
bf_fuse_positions(const BfGraph *graph, unsigned arity, uint64_t place, uint64_t mix,
				  uint64_t *position)
{
	uint64_t	segment = UINT64_C(1) << graph->lg;
	uint64_t	first = bf_cell(place, graph->len);
	unsigned	j;

	position[0] = first;
	for (j = 1; j < arity; j++)
		position[j] = (first + j * segment) ^ ((mix >> (16 * (j - 1))) & (segment - 1));
}

static inline __attribute__((always_inline)) void
bf_block_positions(const BfGraph *graph, unsigned arity, uint64_t place, uint64_t mix,
				   uint64_t *position)
{
	uint64_t	len = graph->len;

	(void) arity;
	position[0] = bf_cell(place, len);
	position[1] = len + (((mix & UINT32_MAX) * len) >> 32);
	position[2] = 2 * len + (((mix >> 32) * len) >> 32);
}

#define BF_FINGERPRINT_MULTIPLIER	UINT64_C(0xd1342543de82ef95)

static inline uint32_t
bf_fingerprint(uint64_t mix, unsigned width)
{
	return (uint32_t) ((mix * BF_FINGERPRINT_MULTIPLIER) >> (64 - width));
}

/* ---- building ---- */

/* Bytes of scratch that bf_peel() needs for a table of so many cells. */
extern uint64_t bf_peel_scratch_len(uint64_t cells, uint32_t n);

/*
 * bf_peel: solves a shard, marks its stragglers, and returns the value of each cell; in the
 * scratch memory, where it stays.
 *
 * No false negatives: each key that is not marked has its fingerprint.  Time: some tens of ns a
 * key; for n keys that all have the same positions still linear.  Deterministic.
 */
extern const uint32_t *bf_peel(const BfEnv *env, BfShardBuild *build, const BfGraph *graph);

/* Packs these values as bf_packed_put() would; up to 7 bytes after them are zeroed. */
extern void bf_peel_pack(const BfEnv *env, uint8_t *out, const uint32_t *values, uint64_t n,
						 unsigned width);

/* ---- probing ---- */

/* A key on its way through a probe. */
typedef struct BfLookup
{
	BfShard		shard;
	bool		usable;			/* there is a table, and it is where it should be */
	uint32_t	fingerprint;
	uint64_t	position[BF_PEEL_MAX_ARITY];
} BfLookup;

typedef void (*BfPositions) (const BfGraph *graph, unsigned arity, uint64_t place, uint64_t mix,
							uint64_t *position);

/* The graph that a geometry stands for, whatever that is; one without a table has len 0. */
typedef void (*BfGraphOf) (const BfHeader *head, uint32_t geometry, BfGraph *graph);

/* Where a key's cells are. */
static inline __attribute__((always_inline)) void
bf_lookup_begin(const BfView *view, uint64_t hash, unsigned arity, BfGraphOf graph_of,
				BfPositions positions, BfLookup *lookup)
{
	unsigned	width = view->head.param[BF_STATIC_WIDTH];
	uint64_t	mix = bf_static_mix(hash);
	BfGraph		graph;

	bf_static_find(view, hash, &lookup->shard);
	graph_of(&view->head, lookup->shard.geometry, &graph);
	lookup->usable =
		graph.len != 0 && bf_packed_len(bf_graph_cells(&graph), width) <= lookup->shard.after;
	lookup->fingerprint = bf_fingerprint(mix, width);
	positions(&graph, arity, lookup->shard.place, mix, lookup->position);
}

static inline __attribute__((always_inline)) void
bf_lookup_prefetch(const BfView *view, unsigned arity, const BfLookup *lookup)
{
	unsigned	width = view->head.param[BF_STATIC_WIDTH];
	unsigned	j;

	for (j = 0; j < arity; j++)
		__builtin_prefetch(lookup->shard.table + (lookup->position[j] * width >> 3));
}

/* A key whose table is not where it should be may be contained. */
static inline __attribute__((always_inline)) bool
bf_lookup_end(const BfView *view, unsigned arity, const BfLookup *lookup)
{
	unsigned	width = view->head.param[BF_STATIC_WIDTH];
	uint64_t	value = lookup->fingerprint;
	unsigned	j;

	if (!lookup->usable)
		return lookup->shard.geometry != 0 || bf_static_listed(view, &lookup->shard);
	for (j = 0; j < arity; j++)
	{
		uint64_t	bit = lookup->position[j] * width;

		value ^= bf_load64(lookup->shard.table + (bit >> 3)) >> (bit & 7);
	}
	if ((value & ((UINT64_C(1) << width) - 1)) == 0)
		return true;
	return bf_static_listed(view, &lookup->shard);
}

static inline __attribute__((always_inline)) bool
bf_lookup_one(const BfView *view, uint64_t hash, unsigned arity, BfGraphOf graph_of,
			  BfPositions positions)
{
	BfLookup	lookup;

	bf_lookup_begin(view, hash, arity, graph_of, positions, &lookup);
	return bf_lookup_end(view, arity, &lookup);
}

static inline __attribute__((always_inline)) void
bf_lookup_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result, unsigned arity,
			   BfGraphOf graph_of, BfPositions positions)
{
	while (n > 0)
	{
		size_t		batch = BF_MIN(n, BF_BATCH);
		BfLookup	lookup[BF_BATCH];
		size_t		i;

		for (i = 0; i < batch; i++)
		{
			bf_lookup_begin(view, hashes[i], arity, graph_of, positions, &lookup[i]);
			bf_lookup_prefetch(view, arity, &lookup[i]);
		}
		for (i = 0; i < batch; i++)
			result[i] = bf_lookup_end(view, arity, &lookup[i]);
		hashes += batch;
		result += batch;
		n -= batch;
	}
}

/*
 * BfKind.probe_many of binary_fuse and xor, shards or none.  Where the processor has AVX-512, at
 * half the cost or less (bf_wide.h).
 */
extern void bf_peel_probe_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result,
							   BfGraphOf graph_of);

#endif							/* BF_PEEL_H */
