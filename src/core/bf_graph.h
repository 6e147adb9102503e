/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_graph.h
 *	  Private to the core: which cells of the table belong to a key in the kinds binary_fuse, xor
 *	  and xor_plus.
 *
 * The table of these kinds is an array of cells of w bits.  A key has 3 to 5 cells, its
 * *positions*, and a *fingerprint* of w bits; the filter may contain the key if the XOR of its
 * cells equals the fingerprint.  For a key that was not added they are equal by chance, with
 * probability 2^-w. bf_peel.h computes the cells, bf_lookup.h probes them.
 *
 * Keys and cells make a hypergraph: a cell is a vertex, and a key is an edge that joins its cells.
 * How the positions are chosen decides how few cells suffice:
 *
 *		blocks		One position in each of 3 blocks of equal size: 1.23 cells a key (Graf, Lemire
 *					2020, "Xor filters").
 *		fuse		The table is a row of segments of 2^lg cells.  A key has one position in each
 *					of 3 to 5 neighbouring segments, beginning at any.  The solver starts at both
 *					ends of the row, where cells have fewer keys, and works inwards, so that the
 *					table can be nearly as full as any solvable one (Dietzfelbinger, Walzer 2019,
 *					"Dense peelable random uniform hypergraphs"; Graf, Lemire 2022, "Binary fuse
 *					filters").
 *
 * In the following formulas, place is the key's place in its shard (bf_static.h), and g =
 * bf_static_mix(h); g_j are bits 16 j to 16 j + 15 of g, g_lo its low 32 bits, and g_hi its high 32
 * bits:
 *
 *		blocks		p_0 = floor(place * len / 2^64)
 *					p_1 = len + floor(g_lo * len / 2^32)
 *					p_2 = 2 len + floor(g_hi * len / 2^32)
 *		fuse		p_0 = floor(place * len / 2^64)
 *					p_j = p_0 + j 2^lg, of which the lg low bits are XORed with those of g_(j-1)
 *		fingerprint	the w high bits of g * BF_FINGERPRINT_MULTIPLIER mod 2^64
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_GRAPH_H
#define BF_GRAPH_H

#include "bf_static.h"
#include "bf_static_wide.h"

#define BF_GRAPH_MAX_ARITY	5
/*
 * A segment has at most 2^16 cells, because 16 bits of a key's mix choose a cell within its
 * segment.
 */
#define BF_GRAPH_MAX_LG		16

/*
 * A graph, which determines the cells of each key.  The comment at the head of bf_graph.h describes
 * the two types of graphs, fuse and blocks.
 */
typedef struct BfGraph
{
	bool		fuse;
	unsigned	arity;			/* The number of positions of a key.  Fuse: 3 to 5; blocks: 3. */
	unsigned	lg;				/* Fuse only: a segment has 2^lg cells. */

	/*
	 * Fuse: the number of cells where a first position can be, a multiple of 2^lg.  Blocks: the
	 * number of cells in each block.
	 */
	uint64_t	len;

	/*
	 * The first of the cells that the solver sets only where it must; cells that it does not set
	 * stay 0.
	 */
	uint64_t	deferred;
} BfGraph;

/* Returns the number of cells of the whole table. */
static inline uint64_t
bf_graph_cells(const BfGraph *graph)
{
	if (graph->fuse)
		return graph->len + ((uint64_t) (graph->arity - 1) << graph->lg);
	return (uint64_t) graph->len * 3;
}

/*
 * Returns the number of cells in each of the three blocks for n keys.  It makes 1.23 cells per key
 * in all, which is where peeling begins to succeed for random keys.
 */
static inline uint64_t
bf_block_len(uint64_t n)
{
	return (n * 41 + 99) / 100;
}

/*
 * bf_fuse_positions() and bf_block_positions() compute a key's positions in graphs of type fuse and
 * of type blocks; both are of type BfPositions.  They and the arity are passed as constants to
 * functions that are always inlined, so that the compiler makes separate code for each combination.
 */
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

/* An odd number without structure, which makes the fingerprint independent of the positions. */
#define BF_FINGERPRINT_MULTIPLIER	UINT64_C(0xd1342543de82ef95)

static inline uint32_t
bf_fingerprint(uint64_t mix, unsigned width)
{
	return (uint32_t) ((mix * BF_FINGERPRINT_MULTIPLIER) >> (64 - width));
}

typedef void (*BfPositions) (const BfGraph *graph, unsigned arity, uint64_t place, uint64_t mix,
							uint64_t *position);

/*
 * Translates a stored geometry, whatever its value is, to a graph; each kind has a function of this
 * type.  A graph with len 0 says that there is no table.
 */
typedef void (*BfGraphOf) (const BfHeader *head, uint32_t geometry, BfGraph *graph);

#ifdef BF_HAVE_WIDE

/* Compute bf_fingerprint() and bf_block_positions() in each lane (bf_wide.h). */
BF_WIDE_INLINE __m512i
bf_wide_fingerprint(__m512i mix, unsigned width)
{
	return _mm512_srli_epi64(
		_mm512_mullo_epi64(mix, _mm512_set1_epi64((long long) BF_FINGERPRINT_MULTIPLIER)),
		64 - width);
}

BF_WIDE_INLINE void
bf_wide_block_positions(__m512i len, __m512i place, __m512i mix, __m512i *position)
{
	position[0] = bf_wide_cell(place, len);
	position[1] = _mm512_add_epi64(len, _mm512_srli_epi64(_mm512_mul_epu32(mix, len), 32));
	position[2] =
		_mm512_add_epi64(_mm512_add_epi64(len, len),
						 _mm512_srli_epi64(_mm512_mul_epu32(_mm512_srli_epi64(mix, 32), len), 32));
}

#endif							/* BF_HAVE_WIDE */

#endif							/* BF_GRAPH_H */
