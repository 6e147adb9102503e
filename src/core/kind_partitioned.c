/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_partitioned.c
 *	  A Bloom filter divided into k slices, with one probe in each.
 *
 * The i-th bit of a key lies in slice i.  This takes a little more space than a standard filter,
 * because a key always sets k different bits, whereas k bits chosen in one array sometimes
 * coincide: with m bits in all, the share of bits set is 1 - (1 - k/m)^n instead of 1 - (1 -
 * 1/m)^(kn).  In return the slices are independent, each a filter with one probe.  The FPR is
 * exactly the product of the slices' fills, and slices can be left out, which a union with a filter
 * of fewer probes makes use of.
 *
 * The slices follow each other, W words of 64 bits each.  Within a slice, a bit is chosen and
 * folded as in a standard filter (bf_bits.h).
 *
 *		param[0]	k; the payload is k * W words
 *
 * FPR = (1 - (1 - k/m)^n)^k, exactly (bf_math_partitioned_fpr()); for given bits, the product of
 * the slices' fills.
 *
 * Kirsch, Mitzenmacher 2008, "Less hashing, same performance: building a better Bloom filter"
 * (section 3); Almeida, Baquero, Preguica, Hutchison 2007, "Scalable Bloom filters" (section 2).
 *
 *-------------------------------------------------------------------------
 */
#include "bf_int.h"

#include "bf_bits.h"
#include "bf_cells.h"
#include "bf_math.h"

#include <math.h>

/*
 * Returns the number of words of a slice.  Computed in 32 bits, which suffice for the length of any
 * value: every probe begins with this division, and one of 64 bits takes three times as long.
 */
static inline uint64_t
slice_words(const BfHeader *head)
{
	return (uint32_t) (head->payload_len / BF_WORD_BYTES) / head->param[0];
}

/*
 * Implements BfKind.design.  Uses the design of a standard filter, which is right in the limit of
 * large filters; partitioned_size() corrects it for small ones.
 */
static void
partitioned_design(BfDesign *design)
{
	unsigned	k = 0;

	design->millibits = bf_math_standard_design(design->fpr, &k);
	design->param[0] = k;
}

static uint64_t
partitioned_size(const BfDesign *design, uint64_t keys)
{
	unsigned	k = design->param[0];
	uint64_t	words = bf_math_cells(keys, design->millibits, k * BF_WORD_BITS);

	/*
	 * The design's bits per key are those for the limit of large filters: they give each slice half
	 * a bit too few, which matters only where it exceeds the effect of rounding.
	 */
	while (words < 65536 &&
		   bf_math_partitioned_fpr((double) keys, (double) words * BF_WORD_BITS, k) > design->fpr)
		words++;
	words = bf_math_round_cells(words);
	return words > BF_MAX_VALUE_SIZE / BF_WORD_BYTES / k ? UINT64_MAX : words * BF_WORD_BYTES * k;
}

static const char *
partitioned_check(const BfHeader *head)
{
	if (head->param[0] < 1 || head->param[0] > BF_MAX_PROBES)
		return "the number of probes is out of range";
	if (head->payload_len == 0 || head->payload_len % (head->param[0] * BF_WORD_BYTES) != 0)
		return "the payload is not a whole number of words in each slice";
	if (head->param[1] != 0 || head->param[2] != 0 || head->param[3] != 0)
		return "reserved fields of the header are not zero";
	return NULL;
}

static bool
partitioned_probe(const BfView *view, uint64_t hash)
{
	uint64_t	words = slice_words(&view->head);

	return bf_bits_probe(view->payload, hash, view->head.param[0], words, words);
}

static bool
partitioned_probe_sliced(const BfHeader *head, uint64_t hash, BfFetch fetch, void *arg)
{
	uint64_t	words = slice_words(head);

	return bf_bits_probe_sliced(head, hash, words, words, fetch, arg);
}

static BfProbe
partitioned_prober(const BfView *view)
{
	(void) view;
	return partitioned_probe;
}

static void
partitioned_probe_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result)
{
	uint64_t	words = slice_words(&view->head);

	bf_bits_probe_many(view, hashes, n, result, words, words);
}

/*
 * Implements BfKind.add.  Adds a batch of keys slice by slice: so there are as many loads
 * outstanding as keys in the batch, and they all fall into one k-th of the filter, which may fit a
 * cache where the whole filter does not.
 */
static size_t
partitioned_add(const BfHeader *head, uint8_t *payload, const uint64_t *hashes, size_t n)
{
	uint64_t	words = slice_words(head);
	unsigned	k = head->param[0];
	size_t		left = n;

	while (left > 0)
	{
		size_t		batch = BF_MIN(left, BF_BATCH);
		unsigned	i;

		for (i = 0; i < k; i++)
		{
			uint8_t    *at[BF_BATCH];
			uint8_t		mask[BF_BATCH];
			size_t		j;

			for (j = 0; j < batch; j++)
			{
				at[j] = payload + bf_bit_position(hashes[j], i, words, words, &mask[j]);
				__builtin_prefetch(at[j], 1);
			}
			for (j = 0; j < batch; j++)
				*at[j] |= mask[j];
		}
		hashes += batch;
		left -= batch;
	}
	return n;
}

static void
partitioned_stats(const BfPort *port, const BfView *view, uint64_t fold, BfStats *stats)
{
	uint64_t	words = slice_words(&view->head) / fold;
	unsigned	k = view->head.param[0];
	const uint8_t *p = view->payload;
	uint64_t	since = 0;		/* The number of words read since the last check for interrupts. */
	unsigned	i;

	stats->bits = words * k * BF_WORD_BITS;
	stats->hashes = k;
	stats->fpr = 1;
	for (i = 0; i < k; i++)
	{
		uint64_t	set = 0;
		uint64_t	w;

		for (w = 0; w < words; w++)
		{
			set += bf_cells_popcount(port, p, fold, BF_WORD_BYTES);
			p += fold * BF_WORD_BYTES;
			since += fold;
			if (since > BF_INTERRUPT_MASK)
			{
				bf_check_interrupts(port);
				since = 0;
			}
		}
		stats->bits_set += set;
		/*
		 * The FPR is exact for the present bits, as the probes of the slices are independent and
		 * uniform.
		 */
		stats->fpr *= (double) set / (double) (words * BF_WORD_BITS);
	}
	stats->fill = (double) stats->bits_set / (double) stats->bits;
	stats->keys = bf_math_keys((double) stats->bits_set, (double) stats->bits, k);
}

/*
 * Implements BfKind.combined_head as bf_cells_combined_head() does, but for cells that consist of a
 * word of every slice.  Here the largest size to which a filter may be redrawn depends on k.
 * Therefore the union of several filters beyond 64 MB that differ both in size and in k may depend
 * on the order in which they are united.
 */
static bool
partitioned_combined_head(const BfView *a, const BfView *b, BfHeader *head)
{
	unsigned	a_k = a->head.param[0];
	unsigned	b_k = b->head.param[0];
	uint64_t	words = slice_words(&a->head);

	if (slice_words(&b->head) != words)
		words = BF_MAX(bf_cells_via(words, a_k * BF_WORD_BYTES),
					   bf_cells_via(slice_words(&b->head), b_k * BF_WORD_BYTES));
	*head = a->head;
	head->param[0] = BF_MIN(a_k, b_k);
	head->capacity = BF_MAX(a->head.capacity, b->head.capacity);
	head->target_fpr = BF_MAX(a->head.target_fpr, b->head.target_fpr);
	head->payload_len = words * head->param[0] * BF_WORD_BYTES;
	return true;
}

/*
 * Combines a view into out slice by slice: uses the first of the view's slices, as many as the
 * result has.
 */
static void
combine_slices(const BfPort *port, BfCellOp op, const BfHeader *head, uint8_t *out,
			   const BfView *view, uint64_t via)
{
	uint64_t	out_words = slice_words(head);
	uint64_t	words = slice_words(&view->head);
	unsigned	i;

	for (i = 0; i < head->param[0]; i++)
		bf_cells_combine(port, op, out + i * out_words * BF_WORD_BYTES, out_words, via,
						 view->payload + i * words * BF_WORD_BYTES, words, BF_WORD_BYTES);
}

static void
partitioned_unite(const BfPort *port, const BfHeader *head, uint8_t *out, const BfView *view)
{
	combine_slices(port, BF_CELL_OR, head, out, view,
				   bf_cells_via(slice_words(&view->head), view->head.param[0] * BF_WORD_BYTES));
}

static void
partitioned_intersect(const BfPort *port, const BfHeader *head, uint8_t *out, const BfView *view)
{
	combine_slices(port, BF_CELL_AND, head, out, view,
				   bf_cells_via(slice_words(&view->head), view->head.param[0] * BF_WORD_BYTES));
}

static void
partitioned_fold_plan(const BfPort *port, const BfView *view, double fpr, BfHeader *head)
{
	bf_cells_fold_plan_each(port, view, slice_words(&view->head), fpr, head);
}

static void
partitioned_fold(const BfPort *port, const BfHeader *head, uint8_t *out, const BfView *view)
{
	combine_slices(port, BF_CELL_OR, head, out, view, slice_words(head));
}

const BfKind bf_kind_partitioned = {
	.id = BF_KIND_PARTITIONED,
	.name = "partitioned",
	.caps = BF_CAN_ADD | BF_CAN_UNION | BF_CAN_INTERSECT | BF_CAN_FOLD,
	.hash_id = BF_HASH_XXH3,
	.min_fpr = 1e-15,
	.when = "an FPR that is exact for small filters too, or slices that are handled one by one",
	.cell_size = BF_WORD_BYTES,
	.design = partitioned_design,
	.size = partitioned_size,
	.check = partitioned_check,
	.prober = partitioned_prober,
	.probe_many = partitioned_probe_many,
	.probe_sliced = partitioned_probe_sliced,
	.add = partitioned_add,
	.stats = partitioned_stats,
	.combined_head = partitioned_combined_head,
	.unite = partitioned_unite,
	.intersect = partitioned_intersect,
	.fold_plan = partitioned_fold_plan,
	.fold = partitioned_fold,
};
