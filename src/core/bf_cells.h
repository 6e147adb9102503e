/*-------------------------------------------------------------------------
 *
 * bf_cells.h
 *	  Arrays of cells: folding, uniting and intersecting, for every kind whose payload is one.
 *
 * A cell is what one probe reads together: a word of a standard filter, a block of a blocked one.
 * Which cell a hash falls into is the high end of the hash (bf_cell()), so cell i of z stands for
 * the hashes in [i/z, (i+1)/z) of their range, and filters of different sizes are maps of the
 * same range at different scales.
 *
 *	- Fewer cells, by a divisor d: each new cell is the OR of d old ones, exactly what a direct
 *	  build gives.
 *	- More cells, by a factor d: each old cell is repeated d times.  Same answers as before.
 *	- Otherwise: each new cell is the OR of all old ones that overlap its range.  Never a false
 *	  negative, but bits of keys outside the range come along: with twice as many new cells as old
 *	  ones half as many again, with equally many twice as many.
 *
 * Two filters of one size combine cell by cell.  Those of different sizes are first each brought
 * to a power of two, if theirs is none to the next one above twice their size; then the smaller
 * is repeated.  That detour makes the result the same in whatever order many filters are
 * combined, as parallel aggregates need: powers of two divide each other, and what a filter
 * becomes depends on itself alone.
 *
 * Cells of counters, 16 of 4 bits in a word, are added where bits are ORed, and the lesser taken
 * where bits are ANDed.  A counter that has reached 15 stays there: addition so cut is as
 * associative as without, since the cut can be made at the end.
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
	BF_CELL_ADD,				/* of counters, at most 15 */
	BF_CELL_MIN					/* of counters */
} BfCellOp;

#define BF_EVEN_NIBBLES		UINT64_C(0x0f0f0f0f0f0f0f0f)
#define BF_FIFTH_BITS		UINT64_C(0x1010101010101010)

/*
 * Sixteen counters plus sixteen others, each at most 15.  Every second one at a time: a byte has
 * room for the carry.
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

/* The lesser of each two of sixteen counters. */
static inline uint64_t
bf_counters_min(uint64_t a, uint64_t b)
{
	/* the fifth bit survives where the subtraction did not borrow */
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
 * The members of BfKind that all such kinds share.  param[0] is the number of probes: a union or
 * an intersection has the fewer of the two, since a filter that answers for k probes answers for
 * their first k - 1.
 */
extern bool bf_cells_combined_head(const BfHeader *a, const BfHeader *b, BfHeader *head);
extern void bf_cells_unite(const BfEnv *env, const BfHeader *head, uint8_t *out,
						   const BfView *view);
extern void bf_cells_intersect(const BfEnv *env, const BfHeader *head, uint8_t *out,
							   const BfView *view);

/*
 * Folding by any divisor of the number of cells: the plan takes the largest whose stats() meet
 * the rate.
 */
extern void bf_cells_fold_plan(const BfEnv *env, const BfView *view, double fpr, BfHeader *head);
extern void bf_cells_fold(const BfEnv *env, const BfHeader *head, uint8_t *out, const BfView *view);

/* The same plan for a payload of several arrays of so many cells each. */
extern void bf_cells_fold_plan_each(const BfEnv *env, const BfView *view, uint64_t cells,
									double fpr, BfHeader *head);

/*
 * acc = the OR of n neighbouring cells, n >= 1, of so many words of 8 bytes each as they lie in
 * memory.
 */
extern void bf_cells_gather(const BfEnv *env, uint64_t *acc, const uint8_t *cells, uint64_t n,
							unsigned words);

/*
 * The same for arrays of cells that are only part of a payload, or made of counters.
 * bf_cells_combine joins src into out: cell by cell if they have equally many, else by way of a
 * map of via_cells, of which out_cells is a multiple; bf_cells_via says which one a filter takes
 * on its way to any other size.  cell_size there is what one cell adds to the length of the whole
 * payload.
 */
extern uint64_t bf_cells_via(uint64_t cells, uint64_t cell_size);
extern void bf_cells_combine(const BfEnv *env, BfCellOp op, uint8_t *out, uint64_t out_cells,
								 uint64_t via_cells, const uint8_t *src, uint64_t src_cells,
								 uint32_t cell_size);

/* The number of bits set in the OR of n neighbouring cells, n >= 1. */
extern unsigned bf_cells_popcount(const BfEnv *env, const uint8_t *cells, uint64_t n,
								  uint32_t cell_size);

#endif							/* BF_CELLS_H */
