/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kinds.h
 *	  Functions for tests that go over all kinds: keys, and lookups in a filter.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_TEST_KINDS_H
#define BF_TEST_KINDS_H

#include "test.h"

#define MAX_KEYS	20000

static uint64_t keys[MAX_KEYS];
static uint64_t others[MAX_KEYS];

/* Makes the keys, and as many other hashes.  Every program calls this function first. */
static inline void
make_keys(uint64_t seed)
{
	int			i;

	test_seed(seed);
	for (i = 0; i < MAX_KEYS; i++)
	{
		keys[i] = test_random();
		others[i] = test_random();
	}
}

/* Runs body for each kind that has all of the given capabilities and can be planned. */
static inline void
each_kind(uint32_t caps, void (*body) (const BfKind *kind))
{
	const BfKind *kind;
	size_t		i;

	for (i = 0; (kind = bf_kind_at(i)) != NULL; i++)
		if (kind->design != NULL && (kind->caps & caps) == caps)
			body(kind);
}

/* Runs body for each kind whose filters are arrays of bits in cells. */
static inline void
each_kind_of_cells(void (*body) (const BfKind *kind))
{
	const BfKind *kind;
	size_t		i;

	for (i = 0; (kind = bf_kind_at(i)) != NULL; i++)
		if (test_has_cells(kind))
			body(kind);
}

static inline uint32_t
max_probes(const BfKind *kind)
{
	BfHeader	head = test_head(kind, 4, 1);

	while (kind->check(&head) == NULL)
		head.param[0]++;
	return head.param[0] - 1;
}

/* Returns whether a filter's contents are independent of the order in which its keys came. */
static inline bool
any_order(const BfKind *kind)
{
	return kind->add != NULL && !(kind->caps & BF_FROM_SET);
}

static inline TestFilter
build(const BfHeader *head, const uint64_t *hashes, size_t n)
{
	TestFilter	filter = test_empty(head);

	test_add(&filter, hashes, n);
	bf_seal(&test_env, filter.data, filter.len);
	return filter;
}

/* Checks that all of the hashes are in the filter, by every function for lookups. */
static inline void
holds(const TestFilter *filter, const uint64_t *hashes, size_t n, const char *what)
{
	static bool result[MAX_KEYS];
	size_t		missing = 0;
	size_t		i;

	memset(result, 0, sizeof(result));
	filter->view.head.kind->probe_many(&filter->view, hashes, n, result);
	for (i = 0; i < n; i++)
		missing += !result[i] || !test_probe(filter, hashes[i]);
	CHECKF(missing == 0, "%s: %s: %zu of %zu keys are missing", filter->view.head.kind->name, what, missing, n);
}

/* Checks that two filters give the same answers to all lookups. */
static inline void
answer_alike(const TestFilter *a, const TestFilter *b, const char *what)
{
	const BfKind *kind = a->view.head.kind;
	static bool one[MAX_KEYS];
	static bool two[MAX_KEYS];
	size_t		unlike = 0;
	int			half;
	size_t		i;

	for (half = 0; half < 2; half++)
	{
		const uint64_t *hashes = half == 0 ? keys : others;

		kind->probe_many(&a->view, hashes, MAX_KEYS, one);
		kind->probe_many(&b->view, hashes, MAX_KEYS, two);
		for (i = 0; i < MAX_KEYS; i++)
			unlike += one[i] != two[i];
		for (i = 0; i < 1000; i++)
		{
			unlike += test_probe(a, hashes[i]) != test_probe(b, hashes[i]);
			if (kind->count != NULL)
				unlike += kind->count(&a->view, hashes[i]) != kind->count(&b->view, hashes[i]);
		}
	}
	CHECKF(unlike == 0, "%s: %s: %zu answers differ", kind->name, what, unlike);
}

/*
 * Checks that a kind's probe, with any instructions, agrees with its scalar probe, on blocks of
 * every density.  Asks for 10 times the given number of hashes.
 */
static inline void
twins_agree(const BfKind *kind, uint32_t k, BfProbe scalar, uint64_t hashes)
{
	BfHeader	head = test_head(kind, 13, k);
	uint64_t	yes = 0;
	uint64_t	no = 0;
	int			density;

	for (density = 0; density < 10; density++)
	{
		TestFilter	filter = test_empty(&head);
		BfProbe		probe = kind->prober(&filter.view);
		uint8_t    *payload = test_payload(&filter);
		uint64_t	i;

		/* from a few bits to all but a few */
		for (i = 0; i < head.payload_len * 8; i++)
			if (test_below(10) < (uint64_t) density || test_below(100) < 5)
				payload[i / 8] |= (uint8_t) (1 << (i % 8));
		for (i = 0; i < hashes; i++)
		{
			uint64_t	hash = test_random();

			/* half of them all but one bit there: exactly the bits of a key, less one */
			if (i % 2 == 0)
			{
				test_add(&filter, &hash, 1);
				CHECK(probe(&filter.view, hash) && scalar(&filter.view, hash));
				payload[test_below(head.payload_len)] &= (uint8_t) ~(1 << test_below(8));
			}
			CHECKF(probe(&filter.view, hash) == scalar(&filter.view, hash), "%s: k %u, hash %016" PRIx64, kind->name, k, hash);
			if (scalar(&filter.view, hash))
				yes++;
			else
				no++;
		}
		test_free(&filter);
	}
	CHECKF(yes > hashes / 2 && no > hashes / 2, "%s: k %u, %" PRIu64 " yes, %" PRIu64 " no", kind->name, k, yes, no);
}

/*
 * Checks, one bit at a time, that each of a key's bits counts, so that neither probe omits a bit.
 * Returns the number of bits.
 */
static inline unsigned
bits_that_count(const BfKind *kind, uint32_t k, BfProbe scalar, uint64_t hash)
{
	BfHeader	head = test_head(kind, 1, k);
	TestFilter	filter = build(&head, &hash, 1);
	uint8_t    *payload = test_payload(&filter);
	unsigned	set = 0;
	unsigned	bit;

	for (bit = 0; bit < head.payload_len * 8; bit++)
	{
		uint8_t		mask = (uint8_t) (1 << (bit % 8));

		if (!(payload[bit / 8] & mask))
			continue;
		set++;
		payload[bit / 8] ^= mask;
		CHECKF(!test_probe(&filter, hash) && !scalar(&filter.view, hash), "%s: k %u, bit %u", kind->name, k, bit);
		payload[bit / 8] ^= mask;
	}
	test_free(&filter);
	return set;
}

static inline uint64_t
bits_set(const TestFilter *filter)
{
	const uint8_t *p = filter->view.payload;
	uint64_t	set = 0;
	uint64_t	i;

	for (i = 0; i < filter->view.head.payload_len; i++)
		set += (unsigned) __builtin_popcount(p[i]);
	return set;
}

/*
 * Checks that a filter folded by a factor equals a directly built filter, which is freed, and that
 * its statistics can be predicted.
 */
static inline void
fold_is(const TestFilter *filter, uint64_t by, TestFilter *direct, BfStats *stats)
{
	TestFilter	folded = test_empty(&direct->view.head);
	BfStats		ahead;

	bf_fold(NULL, &direct->view.head, test_payload(&folded), &filter->view);
	CHECKF(test_same_payload(&folded, direct), "%s: %" PRIu64 " bytes folded by %" PRIu64, direct->view.head.kind->name,
		   filter->view.head.payload_len, by);
	bf_stats_folded(NULL, &filter->view, by, &ahead);
	bf_stats(NULL, &folded.view, stats);
	CHECK(memcmp(&ahead, stats, sizeof(ahead)) == 0);
	test_free(&folded);
	test_free(direct);
}

static inline bool
is_valid(TestFilter *filter)
{
	const char *reason = NULL;
	BfView		view;

	bf_seal(&test_env, filter->data, filter->len);
	return CHECKF(bf_validate(&test_env, filter->data, filter->len, &view, &reason) == BF_OK, "%s: a good value is refused: %s",
				  filter->view.head.kind->name, reason);
}

/* Checks that a filter's statistics are within the limits that hold for every filter. */
static inline void
plausible(const TestFilter *filter, BfStats *stats)
{
	const char *name = filter->view.head.kind->name;

	bf_stats(&test_env, &filter->view, stats);
	CHECKF(stats->bits > 0 || filter->view.head.payload_len == 0 || filter->view.head.kind->build != NULL, "%s: no bits", name);
	CHECKF(stats->bits_set <= stats->bits, "%s: %" PRIu64 " bits set of %" PRIu64, name, stats->bits_set, stats->bits);
	CHECKF(stats->fill <= 1 && (stats->fill >= 0 || stats->fill == -1), "%s: fill %g", name, stats->fill);
	CHECKF(stats->hashes >= 1 && stats->stages >= 1, "%s: %u hashes, %u stages", name, stats->hashes, stats->stages);
	CHECKF(stats->keys >= 0 && isfinite(stats->keys), "%s: %g keys", name, stats->keys);
	CHECKF(stats->fpr >= 0 && stats->fpr <= 1, "%s: FPR %g", name, stats->fpr);
}

#endif							/* BF_TEST_KINDS_H */
