/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_lookup.h
 *	  Private to the core: probing the table of the kinds binary_fuse and xor (bf_graph.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_LOOKUP_H
#define BF_LOOKUP_H

#include "bf_graph.h"

/* The state of one key's probe between bf_lookup_begin() and bf_lookup_end(). */
typedef struct BfLookup
{
	BfShard		shard;
	bool		usable;			/* True if the shard has a table that lies within the payload. */
	uint32_t	fingerprint;
	uint64_t	position[BF_GRAPH_MAX_ARITY];
} BfLookup;

/*
 * Performs the first half of a probe: finds out where the key's cells are.  Reads the shard's
 * directory entry, but not the table.
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

/* Prefetches a key's cells, between the two halves of its probe. */
static inline __attribute__((always_inline)) void
bf_lookup_prefetch(const BfView *view, unsigned arity, const BfLookup *lookup)
{
	unsigned	width = view->head.param[BF_STATIC_WIDTH];
	unsigned	j;

	for (j = 0; j < arity; j++)
		__builtin_prefetch(lookup->shard.table + (lookup->position[j] * width >> 3));
}

/*
 * Performs the second half of a probe: returns whether the key may be contained.  Returns true if
 * the shard's table does not lie within the payload, which only a maliciously crafted value can
 * bring about: so there is never a false negative.
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

/*
 * Probes one key: performs both halves of a probe.  Functions that BfKind.prober returns consist of
 * a call of this function.
 */
static inline __attribute__((always_inline)) bool
bf_lookup_one(const BfView *view, uint64_t hash, unsigned arity, BfGraphOf graph_of,
			  BfPositions positions)
{
	BfLookup	lookup;

	bf_lookup_begin(view, hash, arity, graph_of, positions, &lookup);
	return bf_lookup_end(view, arity, &lookup);
}

/* Probes n keys in batches, so that the cache misses of a batch's keys overlap. */
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
 * Implements BfKind.probe_many of the kinds binary_fuse and xor, for any number of shards,
 * including 0.  Uses AVX-512 where the processor has it, which takes half the time or less.
 */
extern void bf_lookup_probe_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result,
							   BfGraphOf graph_of);

#endif							/* BF_LOOKUP_H */
