/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_math.h
 *	  Every formula for sizes and false positive rates, with its source and its range.
 *
 * What is stored must not depend on the last bit of some machine's logarithm.  Sizes are therefore
 * passed on in whole thousandths of a bit per key, rounded up, and all further computation of
 * stored sizes is integer arithmetic.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_MATH_H
#define BF_MATH_H

#include <stdint.h>

#define BF_BLOCK_BITS	512
#define BF_MAX_BLOCK_PROBES		16
#define BF_MAX_PROBES	64

/*
 * The shape of a block of a split block filter: BF_SPLIT_WORDS words of BF_SPLIT_WORD_BITS bits; a
 * key sets one bit in each word.
 */
#define BF_SPLIT_WORDS	8
#define BF_SPLIT_WORD_BITS		32
#define BF_SPLIT_BITS	(BF_SPLIT_WORDS * BF_SPLIT_WORD_BITS)

/*
 * Returns the FPR of one array of m bits in which bits have been set "throws" times, each time a
 * bit chosen independently and uniformly, so that some throws coincide.
 *
 * This is the probability that k independent uniform probes all hit set bits: E[(X/m)^k], where X
 * is the number of different bits that are set.  It is computed from the mean and the variance of
 * X, which are exact (occupancy problem; Feller, vol.  I), as if X were log-normal.  The textbook's
 * (1 - e^(-kn/m))^k ignores the variance and is too low for small m (Bose et al.  2008).  Valid for
 * any m >= 1 and k <= BF_MAX_PROBES.  The result is never below the exact value, and at most 20 %
 * above it for 64 bits, 2 % from 256 bits on (test/core/t_math.c).
 */
extern double bf_math_occupancy_fpr(double throws, double m, unsigned k);

/*
 * Returns the FPR of k slices of slice_bits bits each, after each of the keys has set one bit,
 * chosen uniformly, in each slice.
 *
 * The formula is (1 - (1 - 1/m)^n)^k.  It is exact as an average over all sets of keys: slices are
 * independent, and a probe of one slice hits with the probability of its mean fill (Kirsch,
 * Mitzenmacher 2008, section 3, as a limit).  Valid for any slice_bits >= 1.
 */
extern double bf_math_partitioned_fpr(double keys, double slice_bits, unsigned k);

/*
 * Returns the FPR of a blocked filter with load keys per block on average.
 *
 * The number of keys in a block has a Poisson distribution; each block is an array of BF_BLOCK_BITS
 * bits (Putze, Sanders, Singler 2007, formula 3, with the FPR of a block by
 * bf_math_occupancy_fpr()).  Range: 0 <= load <= BF_BLOCK_BITS, k <= BF_MAX_BLOCK_PROBES.
 */
extern double bf_math_blocked_fpr(double load, unsigned k);

/*
 * Set *k to the number of probes that needs the fewest bits per key for fpr, and return that number
 * of bits in thousandths, rounded up and at least 1000.  The textbook's k = bits * ln 2 is not the
 * best whole k.
 */
extern uint32_t bf_math_standard_design(double fpr, unsigned *k);
extern uint32_t bf_math_blocked_design(double fpr, unsigned *k);

/*
 * Returns the FPR of a split block filter with load keys per block on average.
 *
 * A block is 8 words of 32 bits, and a key sets one bit in each word.  After i keys a given bit is
 * set with probability 1 - (31/32)^i, and a probe hits if its bits in all 8 words are set; so the
 * FPR is the mean of (1 - (31/32)^i)^8 under a Poisson distribution of i (Apple 2022, "Split block
 * Bloom filters", after Putze, Sanders, Singler 2007).  Range: 0 <= load <= BF_BLOCK_BITS.
 */
extern double bf_math_split_fpr(double load);

/*
 * Returns the bits per key, in thousandths, that a split block filter needs for fpr; rounded up and
 * at least 1000.
 */
extern uint32_t bf_math_split_design(double fpr);

/*
 * Estimates how many distinct keys have set bits_set of m bits with k probes each.
 *
 * The estimate is -(m/k) ln(1 - X/m) for X = bits_set (Swamidass, Baldi 2007).  For a full array,
 * which would give infinity, X is taken as half a bit less.
 */
extern double bf_math_keys(double bits_set, double m, unsigned k);

/*
 * Returns the number of cells to use where at least the given number is needed.
 *
 * Rounds up to a multiple of a highly composite number, the largest that adds less than 1/128.  A
 * filter of that size can be folded by 2, 3, 4, 5, 6 and so on, where a power of two could only be
 * halved.  The rounding is monotone: a larger number is never rounded to a smaller result.
 */
extern uint64_t bf_math_round_cells(uint64_t cells);

/* Returns ceil(keys * millibits / (1000 * cell_bits)), saturated at UINT64_MAX. */
extern uint64_t bf_math_cells(uint64_t keys, uint32_t millibits, uint32_t cell_bits);

#endif							/* BF_MATH_H */
