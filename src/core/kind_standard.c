/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_standard.c
 *	  The Bloom filter as Bloom described it: one array of bits, k independent probes.
 *
 * Adding a key sets k bits of the array; the filter may contain a key if all of its k bits are set.
 * Among the kinds to which keys can be added at any time, this one is the smallest.  Its price is
 * that, once a filter is larger than the processor's caches, each of the k probes may be a cache
 * miss.  This is the kind to read first.
 *
 * Each of the k bits is chosen by its own remix of the hash, as bf_bits.h describes.
 *
 *		param[0]	k, the number of probes
 *
 * FPR: (1 - e^(-kn/m))^k for n keys in m bits, in the limit; bf_math_occupancy_fpr() for any size.
 *
 * Bloom 1970, "Space/time trade-offs in hash coding with allowable errors".
 *
 *-------------------------------------------------------------------------
 */
#include "bf_int.h"

#include "bf_bits.h"
#include "bf_cells.h"
#include "bf_math.h"

#include <math.h>

static inline uint64_t
words_of(const BfHeader *head)
{
	return head->payload_len / BF_WORD_BYTES;
}

static void
standard_design(BfDesign *design)
{
	unsigned	k = 0;

	design->millibits = bf_math_standard_design(design->fpr, &k);
	design->param[0] = k;
}

static uint64_t
standard_size(const BfDesign *design, uint64_t keys)
{
	uint64_t	words = bf_math_cells(keys, design->millibits, BF_WORD_BITS);
	unsigned	k = design->param[0];

	/*
	 * The design was computed for the limit of large arrays, which gives small arrays too few bits.
	 * Add words until the formula for this size gives the wanted FPR.  From some size on, the limit
	 * and the formula differ by less than rounding.
	 */
	while (words < 65536 &&
		   bf_math_occupancy_fpr((double) keys * k, (double) words * BF_WORD_BITS, k) > design->fpr)
		words++;
	words = bf_math_round_cells(words);
	return words > BF_MAX_VALUE_SIZE / BF_WORD_BYTES ? UINT64_MAX : words * BF_WORD_BYTES;
}

static const char *
standard_check(const BfHeader *head)
{
	if (head->payload_len == 0 || head->payload_len % BF_WORD_BYTES != 0)
		return "the payload is not a whole number of words";
	if (head->param[0] < 1 || head->param[0] > BF_MAX_PROBES)
		return "the number of probes is out of range";
	if (head->param[1] != 0 || head->param[2] != 0 || head->param[3] != 0)
		return "reserved fields of the header are not zero";
	return NULL;
}

static bool
standard_probe(const BfView *view, uint64_t hash)
{
	return bf_bits_probe(view->payload, hash, view->head.param[0], words_of(&view->head), 0);
}

static bool
standard_probe_sliced(const BfHeader *head, uint64_t hash, BfFetch fetch, void *arg)
{
	return bf_bits_probe_sliced(head, hash, words_of(head), 0, fetch, arg);
}

static BfProbe
standard_prober(const BfView *view)
{
	(void) view;
	return standard_probe;
}

static void
standard_probe_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result)
{
	bf_bits_probe_many(view, hashes, n, result, words_of(&view->head), 0);
}

static size_t
standard_add(const BfHeader *head, uint8_t *payload, const uint64_t *hashes, size_t n)
{
	uint64_t	words = words_of(head);
	unsigned	k = head->param[0];
	size_t		left = n;

	while (left > 0)
	{
		size_t		batch = BF_MIN(left, BF_BATCH);
		size_t		j;
		unsigned	i;
		uint8_t		mask;

		/*
		 * Prefetch only a few keys ahead: a key has k cache lines, and a core can have some tens of
		 * loads outstanding.
		 */
		for (j = 0; j < BF_MIN(batch, 4); j++)
			for (i = 0; i < k; i++)
				__builtin_prefetch(payload + bf_bit_position(hashes[j], i, words, 0, &mask), 1);
		for (j = 0; j < batch; j++)
		{
			if (j + 4 < batch)
				for (i = 0; i < k; i++)
					__builtin_prefetch(payload + bf_bit_position(hashes[j + 4], i, words, 0, &mask),
									   1);
			for (i = 0; i < k; i++)
			{
				uint64_t	at = bf_bit_position(hashes[j], i, words, 0, &mask);

				payload[at] |= mask;
			}
		}
		hashes += batch;
		left -= batch;
	}
	return n;
}

static void
standard_stats(const BfPort *port, const BfView *view, uint64_t fold, BfStats *stats)
{
	uint64_t	words = words_of(&view->head) / fold;
	unsigned	k = view->head.param[0];
	uint64_t	set = 0;
	uint64_t	i;

	for (i = 0; i < words; i++)
	{
		set +=
			bf_cells_popcount(port, view->payload + i * fold * BF_WORD_BYTES, fold, BF_WORD_BYTES);
		if ((i & BF_INTERRUPT_MASK) == 0)
			bf_check_interrupts(port);
	}
	stats->bits = words * BF_WORD_BITS;
	stats->bits_set = set;
	stats->fill = (double) set / (double) stats->bits;
	stats->hashes = k;
	stats->keys = bf_math_keys((double) set, (double) stats->bits, k);
	/* The FPR is exact for the present bits, as the k probes are independent and uniform. */
	stats->fpr = pow((double) set / (double) stats->bits, k);
}

const BfKind bf_kind_standard = {
	.id = BF_KIND_STANDARD,
	.name = "standard",
	.caps = BF_CAN_ADD | BF_CAN_UNION | BF_CAN_INTERSECT | BF_CAN_FOLD,
	.hash_id = BF_HASH_XXH3,
	.min_fpr = 1e-15,
	.when = "space counts more than time, or very low rates",
	.cell_size = BF_WORD_BYTES,
	.design = standard_design,
	.size = standard_size,
	.check = standard_check,
	.prober = standard_prober,
	.probe_many = standard_probe_many,
	.probe_sliced = standard_probe_sliced,
	.add = standard_add,
	.stats = standard_stats,
	.combined_head = bf_cells_combined_head,
	.unite = bf_cells_unite,
	.intersect = bf_cells_intersect,
	.fold_plan = bf_cells_fold_plan,
	.fold = bf_cells_fold,
};
