/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_counting.c
 *	  A Bloom filter of counters in place of bits: keys can be removed again, and counted.
 *
 * A key has k counters of 4 bits, placed as the bits of a standard filter (bf_bits.h), with 16
 * counters in a word:
 *
 *		g = remix i of h (bf_hash.h), i = 0 to k - 1
 *		counter = floor(g * words / 2^64) * 16 + bits 29..26 of g
 *
 * Adding a key adds 1 for each of its probes; if two of them fall on the same counter, that counter
 * gets 2.  Removing a key subtracts the same amounts.  So each counter is the plain sum of what its
 * keys have added.  Adding, uniting and folding are all additions, and give the same bytes in any
 * order.
 *
 * A counter that has reached 15 is *saturated*: it no longer knows the true sum, and stays at 15
 * for ever.  That can only lead to false positives.  There are no false negatives, provided that
 * only keys are removed that have been added and not yet removed.  The filter refuses to remove a
 * key if it can tell by itself that the key is not contained.
 *
 *	- count: the least of the key's counters that are not saturated, each divided by the number of
 *	  the key's probes that fall on it.  Because of other keys it may be larger than the truth, but
 *	  never smaller.  Removal is refused exactly when it is 0.
 *	- union: the sum of the counters.  The larger of the two, as some propose, would not do: keys
 *	  of both filters that share a counter would lose it when the first of them is removed.
 *	- intersection: the lesser of two counters.  Of a key that was added m times to one filter and
 *	  n times to the other, min(m, n) remain.
 *	- fold: the sum of neighbouring counters.  Between other sizes (bf_cells.h) a counter is
 *	  repeated, or added to each new counter whose range it overlaps.
 *
 * An array of counters is the *loose* form of the filter, in which it is changed.  It is stored in
 * the *packed* form.  At the usual load most counters are 0 or 1, and their entropy is 1.59 bits.
 * Plane 1 has a bit for each counter, which is set if the counter is 1 or more.  Plane 2 has a bit
 * for each counter whose bit is set in plane 1; the bit is set if the counter is 2 or more.
 * Further planes follow in the same way, up to some plane t.  If there are counters above t, there
 * is a tail with the values, 4 bits each, of the counters that have their bit set in plane t; with
 * t = 0, of all counters.  The shortest of these forms is stored, and among equally short ones that
 * with the least t.  At the usual load there is no tail, and planes take 1 + 0.5 + 0.15 + 0.03 +
 * ... = 1.69 bits a counter.  As plane 1 is a standard filter's array of bits, a packed filter is
 * probed like one.
 *
 *	plane j, 1 to t		words of 64 bits, zeros at the end;
 *						its ranks: for each 2048 bits begun, 4 bytes: how many bits of the plane
 *						are set up to the end of these; zeros up to a whole word
 *	tail				words of 16 counters, zeros at the end
 *
 *		param[0]	k
 *		param[1]	1: packed; 0: loose, and the following are 0
 *		param[2]	number of words of the loose form
 *		param[3]	t, 0 to 15
 *
 * FPR: that of a standard filter with as many bits as there are counters.
 *
 * kind_counting_packed.c implements the packed form, this file all else.
 *
 * Fan, Cao, Almeida, Broder 2000, "Summary cache: a scalable wide-area web cache sharing protocol".
 * The counts: Cohen, Matias 2003, "Spectral Bloom filters" (minimum selection).
 *
 *-------------------------------------------------------------------------
 */
#include "bf_int.h"

#include "bf_cells.h"
#include "bf_math.h"
#include "kind_counting_loose.h"
#include "kind_counting_packed.h"

#include <math.h>

/* ---- parameters and size of a counting filter ---- */

/*
 * Implements BfKind.design.  A filter has as many counters as a standard filter has bits.  Its
 * stored size is that of the planes and their ranks, for counters that have a Poisson distribution
 * of mean k * keys / counters.
 */
static void
counting_design(BfDesign *design)
{
	unsigned	k = 0;
	uint32_t	millicounters = bf_math_standard_design(design->fpr, &k);
	double		mean = 1000.0 * k / millicounters;
	double		p = exp(-mean);	/* The probability that a counter has the value j. */
	/* The probability that a counter is j or more: the share of counters in plane j + 1. */
	double		reached = 1;
	double		bits = 0;
	unsigned	j;

	for (j = 0; j < MAX_PLANES; j++)
	{
		bits += reached * (1 + 8.0 * RANK_BYTES / RUN_BITS);
		reached -= p;
		p *= mean / (j + 1);
	}
	design->millibits = millicounters * COUNTER_BITS;
	design->stored_millibits = (uint32_t) ceil(millicounters * bits);
	design->param[PARAM_PROBES] = k;
}

/*
 * Returns the size of the loose form.  Computed as by standard_size(), with counters in place of
 * bits.
 */
static uint64_t
counting_size(const BfDesign *design, uint64_t keys)
{
	uint64_t	words = bf_math_cells(keys, design->millibits, WORD_COUNTERS * COUNTER_BITS);
	unsigned	k = design->param[PARAM_PROBES];

	while (words < 262144 && bf_math_occupancy_fpr((double) keys * k,
												   (double) words * WORD_COUNTERS, k) > design->fpr)
		words++;
	words = bf_math_round_cells(words);
	return words > BF_MAX_VALUE_SIZE / WORD_BYTES ? UINT64_MAX : words * WORD_BYTES;
}

/* ---- probing a counting filter ---- */

static bool
probe_counters(const BfView *view, uint64_t hash)
{
	uint64_t	words = loose_words(&view->head);
	unsigned	k = view->head.param[PARAM_PROBES];
	unsigned	i;

	for (i = 0; i < k; i++)
		if (get_counter(view->payload, position(hash, i, words)) == 0)
			return false;
	return true;
}

static bool
probe_plane(const BfView *view, uint64_t hash)
{
	uint64_t	words = loose_words(&view->head);
	unsigned	k = view->head.param[PARAM_PROBES];
	unsigned	i;

	for (i = 0; i < k; i++)
	{
		uint64_t	at = position(hash, i, words);

		if (!(view->payload[at / 8] >> (at & 7) & 1))
			return false;
	}
	return true;
}

static BfProbe
counting_prober(const BfView *view)
{
	return has_planes(&view->head) ? probe_plane : probe_counters;
}

static bool
counting_probe_sliced(const BfHeader *head, uint64_t hash, BfFetch fetch, void *arg)
{
	uint64_t	words = loose_words(head);
	unsigned	i;

	for (i = 0; i < head->param[PARAM_PROBES]; i++)
	{
		uint64_t	at = position(hash, i, words);

		if (has_planes(head) ? !(*fetch(arg, at / 8, 1) >> (at & 7) & 1)
							 : get_counter(fetch(arg, at / 2, 1), at & 1) == 0)
			return false;
	}
	return true;
}

static void
counting_probe_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result)
{
	BfProbe		probe = counting_prober(view);
	uint64_t	words = loose_words(&view->head);
	unsigned	per_byte = has_planes(&view->head) ? 8 : 2;
	unsigned	early = BF_MIN(view->head.param[PARAM_PROBES], 2);

	while (n > 0)
	{
		size_t		batch = BF_MIN(n, BF_BATCH);
		size_t		j;
		unsigned	i;

		/*
		 * A key's first two counters decide three of four lookups: prefetch those of the whole
		 * batch.
		 */
		for (j = 0; j < batch; j++)
			for (i = 0; i < early; i++)
				__builtin_prefetch(view->payload + position(hashes[j], i, words) / per_byte);
		for (j = 0; j < batch; j++)
			result[j] = probe(view, hashes[j]);
		hashes += batch;
		result += batch;
		n -= batch;
	}
}

/*
 * Returns an upper bound of the number of times that a key was added and not removed.  The comment
 * at the head of kind_counting.c describes how it is computed.
 */
static uint64_t
counting_count(const BfView *view, uint64_t hash)
{
	uint64_t	words = loose_words(&view->head);
	unsigned	k = view->head.param[PARAM_PROBES];
	uint64_t	at[BF_MAX_PROBES];
	uint64_t	least = UINT64_MAX;
	Planes		planes;
	unsigned	i;

	if (has_planes(&view->head))
		bf_counting_find_planes(view, &planes);
	for (i = 0; i < k; i++)
		at[i] = position(hash, i, words);
	for (i = 0; i < k; i++)
	{
		unsigned	counter = has_planes(&view->head) ? bf_counting_packed_counter(&planes, at[i])
													  : get_counter(view->payload, at[i]);
		unsigned	probes = 0;
		unsigned	j;

		if (counter == SATURATED)
			continue;
		/* A key adds 1 to a counter for each of the key's probes that fall on it. */
		for (j = 0; j < k; j++)
			probes += at[j] == at[i];
		least = BF_MIN(least, counter / probes);
	}
	return least;
}

/* ---- adding and removing keys ---- */

/* The number of keys by which prefetching counters runs ahead of changing them. */
#define AHEAD	4

static inline void
fetch_counters(const uint8_t *payload, uint64_t hash, unsigned k, uint64_t words)
{
	unsigned	i;

	for (i = 0; i < k; i++)
		__builtin_prefetch(payload + position(hash, i, words) / 2, 1);
}

static size_t
counting_add(const BfHeader *head, uint8_t *payload, const uint64_t *hashes, size_t n)
{
	uint64_t	words = loose_words(head);
	unsigned	k = head->param[PARAM_PROBES];
	size_t		j;
	unsigned	i;

	for (j = 0; j < BF_MIN(n, AHEAD); j++)
		fetch_counters(payload, hashes[j], k, words);
	for (j = 0; j < n; j++)
	{
		if (n - j > AHEAD)
			fetch_counters(payload, hashes[j + AHEAD], k, words);
		for (i = 0; i < k; i++)
		{
			uint64_t	at = position(hashes[j], i, words);

			if (get_counter(payload, at) < SATURATED)
				change_counter(payload, at, 1);
		}
	}
	return n;
}

/*
 * Implements BfKind.remove: subtracts 1 from a counter for each probe of a key that falls on it.
 * If a counter is 0, restores the counters that it has changed for the key.  A changed counter is
 * then 13 at most, so a counter at 15 is a saturated one, which was not changed.
 */
static size_t
counting_remove(const BfHeader *head, uint8_t *payload, const uint64_t *hashes, size_t n)
{
	uint64_t	words = loose_words(head);
	unsigned	k = head->param[PARAM_PROBES];
	size_t		j;

	for (j = 0; j < BF_MIN(n, AHEAD); j++)
		fetch_counters(payload, hashes[j], k, words);
	for (j = 0; j < n; j++)
	{
		unsigned	i;

		if (n - j > AHEAD)
			fetch_counters(payload, hashes[j + AHEAD], k, words);
		for (i = 0; i < k; i++)
		{
			uint64_t	at = position(hashes[j], i, words);
			unsigned	counter = get_counter(payload, at);

			if (counter == 0)
				break;
			if (counter < SATURATED)
				change_counter(payload, at, -1);
		}
		if (i == k)
			continue;
		while (i-- > 0)
		{
			uint64_t	at = position(hashes[j], i, words);

			if (get_counter(payload, at) < SATURATED)
				change_counter(payload, at, 1);
		}
		return j;
	}
	return n;
}

/* ---- checks and statistics of a counting filter ---- */

static const char *
counting_check(const BfHeader *head)
{
	if (head->param[PARAM_PROBES] < 1 || head->param[PARAM_PROBES] > BF_MAX_PROBES)
		return "the number of probes is out of range";
	if (head->payload_len == 0 || head->payload_len % WORD_BYTES != 0)
		return "the payload is not a whole number of words";
	if (is_packed(head))
		return bf_counting_check_packed(head);
	return head->param[PARAM_WORDS] != 0 || head->param[PARAM_PLANES] != 0
			   ? "reserved fields of the header are not zero"
			   : NULL;
}

/* Implements BfKind.validate.  Any loose payload is well formed. */
static const char *
counting_validate(const BfPort *port, const BfView *view)
{
	return is_packed(&view->head) ? bf_counting_validate_packed(port, view) : NULL;
}

/*
 * Computes the statistics that a filter would have after a fold, from the given number of words of
 * its loose form, or a few more, from the first on.  For a whole filter, pass the number of all its
 * words, which fold must divide.
 */
static void
stats_of_words(const BfPort *port, const BfView *view, uint64_t fold, uint64_t words,
			   BfStats *stats)
{
	unsigned	k = view->head.param[PARAM_PROBES];
	Reader		reader;
	uint64_t	sum = 0;		/* The sum of the words that the fold joins into one. */
	/* The number of words that the fold has summed up so far for the present word. */
	uint64_t	joined = 0;

	bf_counting_open_reader(&reader, view);
	while (reader.done < words)
	{
		uint64_t	counters[GROUP];
		unsigned	n = reader.read(&reader, counters);
		unsigned	w;

		for (w = 0; w < n; w++)
		{
			sum = bf_counters_add(sum, counters[w]);
			if (++joined < fold)
				continue;
			stats->bits_set += sum_lanes(nonzero_lanes(sum));
			stats->saturated += sum_lanes(saturated_lanes(sum));
			sum = 0;
			joined = 0;
		}
		if ((reader.done & BF_INTERRUPT_MASK) == 0)
			bf_check_interrupts(port);
	}
	stats->bits = reader.done / fold * WORD_COUNTERS;
	stats->fill = (double) stats->bits_set / (double) stats->bits;
	stats->hashes = k;
	stats->keys = bf_math_keys((double) stats->bits_set, (double) stats->bits, k);
	/* The k probes are independent and uniform, so this FPR is exact for the present counters. */
	stats->fpr = pow(stats->fill, k);
}

static void
counting_stats(const BfPort *port, const BfView *view, uint64_t fold, BfStats *stats)
{
	stats_of_words(port, view, fold, loose_words(&view->head), stats);
}

static void
counting_stats_sampled(const BfPort *port, const BfView *view, uint64_t max_bytes, BfStats *stats)
{
	uint64_t	all = loose_words(&view->head);
	double		part = (double) max_bytes / (double) view->head.payload_len;

	/*
	 * The planes of a packed filter are read in parallel, so that an equally large part of each is
	 * read.
	 */
	stats_of_words(port, view, 1, BF_MAX((uint64_t) (part * (double) all), 1), stats);
	stats->keys *= (double) (all * WORD_COUNTERS) / (double) stats->bits;
}

/* ---- union, intersection and fold of the loose form ---- */

static void
combine(const BfPort *port, BfCellOp op, const BfHeader *head, uint8_t *out, const BfView *view)
{
	uint64_t	words = bf_cells_count(&view->head);

	bf_cells_combine(port, op, out, bf_cells_count(head), bf_cells_via(words, WORD_BYTES),
					 view->payload, words, WORD_BYTES);
}

static void
counting_unite(const BfPort *port, const BfHeader *head, uint8_t *out, const BfView *view)
{
	combine(port, BF_CELL_ADD, head, out, view);
}

static void
counting_intersect(const BfPort *port, const BfHeader *head, uint8_t *out, const BfView *view)
{
	combine(port, BF_CELL_MIN, head, out, view);
}

static void
counting_fold(const BfPort *port, const BfHeader *head, uint8_t *out, const BfView *view)
{
	uint64_t	out_words = bf_cells_count(head);

	bf_cells_combine(port, BF_CELL_ADD, out, out_words, out_words, view->payload,
					 bf_cells_count(&view->head), WORD_BYTES);
}

const BfKind bf_kind_counting = {
	.id = BF_KIND_COUNTING,
	.name = "counting",
	.caps = BF_CAN_ADD | BF_CAN_REMOVE | BF_CAN_UNION | BF_CAN_INTERSECT | BF_CAN_FOLD |
			BF_CAN_COUNT | BF_MULTISET,
	.hash_id = BF_HASH_XXH3,
	.min_fpr = 1e-15,
	.when = "keys are removed again, or how often each was added matters",
	/* Folds join words of the loose form (an array of counters), which have this size. */
	.cell_size = WORD_BYTES,
	.design = counting_design,
	.size = counting_size,
	.check = counting_check,
	.validate = counting_validate,
	.prober = counting_prober,
	.probe_many = counting_probe_many,
	.probe_sliced = counting_probe_sliced,
	.add = counting_add,
	.remove = counting_remove,
	.count = counting_count,
	.is_packed = is_packed,
	.loosen_plan = bf_counting_loosen_plan,
	.loosen = bf_counting_loosen,
	.pack_plan = bf_counting_pack_plan,
	.pack = bf_counting_pack,
	.stats = counting_stats,
	.stats_sampled = counting_stats_sampled,
	.combined_head = bf_cells_combined_head,
	.unite = counting_unite,
	.intersect = counting_intersect,
	.fold_plan = bf_cells_fold_plan,
	.fold = counting_fold,
};
