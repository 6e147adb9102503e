/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_peel.h
 *	  Private to the core: computes the table of binary_fuse, xor and xor_plus, by peeling.
 *
 * Wanted is a value for each cell such that the cells of every key XOR to its fingerprint
 * (bf_graph.h).  If a cell belongs to one key only, that key's equation can be satisfied last, by
 * this cell, whatever the others hold.  So the key is taken away for now ("peeled"), with the cell
 * noted, which may leave other cells with one key; and so on until no key is left.  Then the cells
 * are set in the reverse order (Chazelle, Kilian, Rubinfeld, Tal 2004, "The Bloomier filter").
 *
 * It may happen that keys are left, but no cell with a single key.  Other filters then start again
 * with another hash seed.  Here one of these keys is given up: it becomes a straggler, which the
 * filter lists by itself (bf_static.h), and peeling goes on.  So it always ends, whatever the
 * hashes are, and the table may be smaller than one for which peeling succeeds with high
 * probability (ZOR, 2026, arXiv 2602.03525).
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_PEEL_H
#define BF_PEEL_H

#include "bf_graph.h"

/* Bytes of scratch that bf_peel() needs for n keys in a table of so many cells. */
extern uint64_t bf_peel_scratch_len(uint64_t cells, uint32_t n);

/*
 * bf_peel: computes the cells of a shard, marks the keys that it gives up, and returns the value
 * of each cell, in an array that lies in build->scratch.
 *
 * No false negatives: the cells of each key that is not marked XOR to its fingerprint.  Time:
 * linear in keys and cells, even if all keys have the same positions.  The same keys always give
 * the same cells.
 */
extern const uint32_t *bf_peel(const BfPort *port, BfShardBuild *build, const BfGraph *graph);

/*
 * Packs n values of so many bits as bf_packed_put() would, but sequentially.  Up to 7 bytes after
 * them are zeroed.
 */
extern void bf_peel_pack(const BfPort *port, uint8_t *out, const uint32_t *values, uint64_t n,
						 unsigned width);

#endif							/* BF_PEEL_H */
