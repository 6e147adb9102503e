/*-------------------------------------------------------------------------
 *
 * bf_cells.h
 *	  Arrays of cells: folding, uniting and intersecting, for every kind whose payload is one.
 *
 * A cell is what one probe reads together: a word of a standard filter, a block of a blocked one.  Which cell a hash falls into
 * is the high end of the hash (bf_cell()), so cell i of z stands for the hashes in [i/z, (i+1)/z) of their range, and filters of
 * different sizes are maps of the same range at different scales.
 *
 *	- Fewer cells, by a divisor d: each new cell is the OR of d old ones, exactly what a direct build gives.
 *	- More cells, by a factor d: each old cell is repeated d times.  Same answers as before.
 *	- Otherwise: each new cell is the OR of all old ones that overlap its range.  Never a false negative, but bits of keys outside the
 *	  range come along: with twice as many new cells as old ones half as many again, with equally many twice as many.
 *
 * Two filters of one size combine cell by cell.  Those of different sizes are first each brought to a power of two, if theirs is none to
 * the next one above twice their size; then the smaller is repeated.  That detour makes the result the same in whatever order many
 * filters are combined, as parallel aggregates need: powers of two divide each other, and what a filter becomes depends on itself alone.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_CELLS_H
#define BF_CELLS_H

#include "bf.h"

static inline uint64_t
bf_cells_count(const BfHeader *head)
{
	return head->payload_len / head->kind->cell_size;
}

/*
 * The members of BfKind that all such kinds share.  param[0] is the number of probes: a union or an intersection has the fewer of
 * the two, since a filter that answers for k probes answers for their first k - 1.
 */
extern bool bf_cells_combined_head(const BfHeader *a, const BfHeader *b, BfHeader *head);
extern void bf_cells_unite(const BfEnv *env, const BfHeader *head, uint8_t *out, const BfView *view);
extern void bf_cells_intersect(const BfEnv *env, const BfHeader *head, uint8_t *out, const BfView *view);

/*
 * The fold_plan of kinds whose filters may be folded by every divisor of a number of cells: the largest divisor whose stats() meet the rate.
 */
extern void bf_cells_fold_plan(const BfEnv *env, const BfView *view, uint64_t cells, double fpr, BfHeader *head);

/* Writes the filter folded to the size of head, whose number of cells divides the view's. */
extern void bf_cells_fold(const BfEnv *env, const BfHeader *head, uint8_t *out, const BfView *view);

/* acc = the OR of n neighbouring cells, n >= 1, of so many words of 8 bytes each as they lie in memory. */
extern void bf_cells_gather(const BfEnv *env, uint64_t *acc, const uint8_t *cells, uint64_t n, unsigned words);

/* The number of bits set in the OR of n neighbouring cells, n >= 1. */
extern unsigned bf_cells_popcount(const BfEnv *env, const uint8_t *cells, uint64_t n, uint32_t cell_size);

#endif							/* BF_CELLS_H */
