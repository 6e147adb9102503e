/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_cells.h
 *	  Arrays of cells: folding, uniting and intersecting, for every kind whose payload is such an
 *	  array.
 *
 * A cell is what one probe reads together: a word of a standard filter, a block of a blocked one.
 * The high bits of a hash decide into which cell it falls (bf_cell()): of z cells, cell i stands
 * for the hashes from i/z to (i+1)/z of their range.  So filters of different sizes are like maps
 * of the same range at different scales, and a filter can be redrawn at the scale of another:
 *
 *	- To fewer cells, by a divisor d: each new cell is the OR of d old ones.  This is exactly what
 *	  building with fewer cells would have given.
 *	- To more cells, by a factor d: each old cell is repeated d times.  The answers are the same.
 *	- To any other number: each new cell is the OR of all old ones that overlap its range.  There
 *	  is no false negative, but bits of keys outside the range come along: 50 % more bits with
 *	  twice as many new cells as old ones, twice the bits with about as many.
 *
 * Two filters of the same size are combined cell by cell.  Filters of different sizes are first
 * each redrawn with a power of two of cells: a filter's own number of cells, if it is a power of
 * two, or else the next power of two above twice that number.  Then the cells of the smaller filter
 * are repeated.  In this way the result does not depend on the order in which many filters are
 * combined, as parallel aggregates require: powers of two divide each other, and the size to which
 * a filter is redrawn depends on that filter alone.
 *
 * For counters, sixteen of 4 bits in a word, addition takes the place of OR, and the minimum that
 * of AND.  A counter that has reached 15 stays at 15.  Cutting sums off at 15 keeps the operations
 * independent of their order: the result is the same as if the whole sum were cut off at the end.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_CELLS_H
#define BF_CELLS_H

#include "bf.h"

typedef enum BfCellOp
{
	BF_CELL_OR,
	BF_CELL_AND,
	BF_CELL_ADD,				/* The sum of counters, cut off at 15. */
	BF_CELL_MIN					/* The minimum of counters. */
} BfCellOp;

#define BF_EVEN_NIBBLES		UINT64_C(0x0f0f0f0f0f0f0f0f)
#define BF_FIFTH_BITS		UINT64_C(0x1010101010101010)

/*
 * Adds sixteen counters of 4 bits to sixteen others, each sum cut off at 15.  Handles every second
 * counter at a time, so that each has a byte with room for the carry.
 */
static inline uint64_t
bf_counters_add(uint64_t a, uint64_t b)
{
	uint64_t	even = (a & BF_EVEN_NIBBLES) + (b & BF_EVEN_NIBBLES);
	uint64_t	odd = (a >> 4 & BF_EVEN_NIBBLES) + (b >> 4 & BF_EVEN_NIBBLES);
	uint64_t	even_over = even & BF_FIFTH_BITS;
	uint64_t	odd_over = odd & BF_FIFTH_BITS;

	even = (even | (even_over - (even_over >> 4))) & BF_EVEN_NIBBLES;
	odd = (odd | (odd_over - (odd_over >> 4))) & BF_EVEN_NIBBLES;
	return even | odd << 4;
}

/* Returns the lesser of each two of sixteen pairs of 4-bit counters. */
static inline uint64_t
bf_counters_min(uint64_t a, uint64_t b)
{
	/*
	 * Each counter of a gets a fifth bit, which remains set when b's counter is subtracted if a's
	 * counter is at least b's.
	 */
	uint64_t even =
		(((a & BF_EVEN_NIBBLES) | BF_FIFTH_BITS) - (b & BF_EVEN_NIBBLES)) & BF_FIFTH_BITS;
	uint64_t	odd =
		(((a >> 4 & BF_EVEN_NIBBLES) | BF_FIFTH_BITS) - (b >> 4 & BF_EVEN_NIBBLES)) & BF_FIFTH_BITS;
	uint64_t	greater = (even - (even >> 4)) | (odd - (odd >> 4)) << 4;

	return (b & greater) | (a & ~greater);
}

static inline uint64_t
bf_cells_count(const BfHeader *head)
{
	return head->payload_len / head->kind->cell_size;
}

/*
 * Members of BfKind that all kinds whose payload is an array of cells share. param[0] is the number
 * of probes: a union or an intersection has the smaller of the two numbers, since a filter that
 * holds the bits of k probes holds those of the first k - 1 probes as well.
 */
extern bool bf_cells_combined_head(const BfView *a, const BfView *b, BfHeader *head);
extern void bf_cells_unite(const BfPort *port, const BfHeader *head, uint8_t *out,
						   const BfView *view);
extern void bf_cells_intersect(const BfPort *port, const BfHeader *head, uint8_t *out,
							   const BfView *view);

/*
 * Plan and perform the folding of an array of cells, by any divisor of the number of cells.  The
 * plan takes the largest divisor for which BfKind.stats estimates an FPR of at most fpr.
 */
extern void bf_cells_fold_plan(const BfPort *port, const BfView *view, double fpr, BfHeader *head);
extern void bf_cells_fold(const BfPort *port, const BfHeader *head, uint8_t *out,
						  const BfView *view);

/*
 * Plans the folding of a payload that consists of several arrays of the given number of cells each.
 */
extern void bf_cells_fold_plan_each(const BfPort *port, const BfView *view, uint64_t cells,
									double fpr, BfHeader *head);

/*
 * Sets acc to the OR of n neighbouring cells, at least 1, each of the given number of 8-byte words.
 * acc has the byte order of the payload.
 */
extern void bf_cells_gather(const BfPort *port, uint64_t *acc, const uint8_t *cells, uint64_t n,
							unsigned words);

/*
 * Unite and intersect arrays of cells that are only part of a payload, or consist of counters.
 * bf_cells_combine() joins src into out: cell by cell if both have the same number of cells,
 * otherwise after redrawing src with via_cells cells; out_cells must be a multiple of via_cells.
 * bf_cells_via() returns the number of cells with which an array is redrawn before it is combined
 * with an array of any other size; its cell_size is the number of bytes that one cell adds to the
 * length of the whole payload.
 */
extern uint64_t bf_cells_via(uint64_t cells, uint64_t cell_size);
extern void bf_cells_combine(const BfPort *port, BfCellOp op, uint8_t *out, uint64_t out_cells,
								 uint64_t via_cells, const uint8_t *src, uint64_t src_cells,
								 uint32_t cell_size);

/* Returns the number of bits that are set in the OR of n neighbouring cells; n is at least 1. */
extern unsigned bf_cells_popcount(const BfPort *port, const uint8_t *cells, uint64_t n,
								  uint32_t cell_size);

#endif							/* BF_CELLS_H */
