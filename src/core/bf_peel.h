/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_peel.h
 *	  Private to the core: computes the tables of the kinds binary_fuse, xor and xor_plus, by
 *	  peeling.
 *
 * The task is to find a value for each cell such that the XOR of every key's cells equals the key's
 * fingerprint (bf_graph.h).  If a cell belongs to one key only, that key's equation can be
 * satisfied last, by this cell, whatever values the other cells get.  So the key is taken away for
 * now ("peeled"), and the cell is noted.  This may leave other cells with one key; peeling goes on
 * until no key is left.  Then the cells are set in the reverse order (Chazelle, Kilian, Rubinfeld,
 * Tal 2004, "The Bloomier filter").
 *
 * It may happen that keys are left, but no cell with a single key.  Other implementations then
 * start again with another hash seed.  This one gives up one of the remaining keys: the key becomes
 * a straggler, which the filter lists separately (bf_static.h), and peeling goes on.  So peeling
 * always ends, whatever the hashes are, and the table may be smaller than one for which peeling
 * succeeds with high probability (ZOR, 2026, arXiv 2602.03525).
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_PEEL_H
#define BF_PEEL_H

#include "bf_graph.h"

/*
 * Returns the number of bytes of scratch memory that bf_peel() needs for n keys in a table of the
 * given number of cells.
 */
extern uint64_t bf_peel_scratch_len(uint64_t cells, uint32_t n);

/*
 * Computes the cells of a shard's table, marks the keys that it gives up in build->straggler, and
 * returns the value of each cell, in an array that lies in build->scratch.
 *
 * There are no false negatives: the cells of each key that is not marked XOR to its fingerprint.
 * Takes time linear in the numbers of keys and cells, even if all keys have the same positions.
 * The same keys always give the same cells.
 */
extern const uint32_t *bf_peel(const BfPort *port, BfShardBuild *build, const BfGraph *graph);

/*
 * Packs n values of width bits each as bf_packed_put() would, but sequentially.  May zero up to 7
 * bytes after the packed values.
 */
extern void bf_peel_pack(const BfPort *port, uint8_t *out, const uint32_t *values, uint64_t n,
						 unsigned width);

#endif							/* BF_PEEL_H */
