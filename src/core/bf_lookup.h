/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_lookup.h
 *	  Private to the core: probes the table of binary_fuse and xor (bf_graph.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_LOOKUP_H
#define BF_LOOKUP_H

#include "bf_graph.h"

/* A key between the two halves of its probe. */
typedef struct BfLookup
{
	BfShard		shard;
	bool		usable;			/* there is a table, and it lies within the payload */
	uint32_t	fingerprint;
	uint64_t	position[BF_GRAPH_MAX_ARITY];
} BfLookup;

/*
 * The first half of a probe: where the key's cells are.  Reads the shard's directory entry, not the
 * table.
 */
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

/* Between the halves: asks the processor to fetch these cells. */
static inline __attribute__((always_inline)) void
bf_lookup_prefetch(const BfView *view, unsigned arity, const BfLookup *lookup)
{
	unsigned	width = view->head.param[BF_STATIC_WIDTH];
	unsigned	j;

	for (j = 0; j < arity; j++)
		__builtin_prefetch(lookup->shard.table + (lookup->position[j] * width >> 3));
}

/*
 * The second half: is the key contained?  Yes if its table does not lie within the payload, which
 * only a hostile value can bring about: an answer that is never a false negative.
 */
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

/* Both halves for one key: what BfKind.prober returns. */
static inline __attribute__((always_inline)) bool
bf_lookup_one(const BfView *view, uint64_t hash, unsigned arity, BfGraphOf graph_of,
			  BfPositions positions)
{
	BfLookup	lookup;

	bf_lookup_begin(view, hash, arity, graph_of, positions, &lookup);
	return bf_lookup_end(view, arity, &lookup);
}

/* A batch at a time, so that the cache misses of its keys overlap. */
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
 * BfKind.probe_many of binary_fuse and xor, for any number of shards, 0 included.  With AVX-512
 * where the processor has it, which takes half the time or less.
 */
extern void bf_lookup_probe_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result,
							   BfGraphOf graph_of);

#endif							/* BF_LOOKUP_H */
