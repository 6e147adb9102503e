/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_kind.c
 *	  Tests that every kind must pass, by way of its table of functions.
 *
 * A new kind is tested as soon as bf_kinds.c has it.  Unions, intersections and folds are tested in
 * t_sets.c.
 *
 *-------------------------------------------------------------------------
 */
#include "kinds.h"

/* ---- tables ---- */

static void
tables(void)
{
	const BfKind *kind;
	const BfKind *first;
	unsigned	last = 0;
	size_t		i;
	size_t		j;

	for (i = 0; (kind = bf_kind_at(i)) != NULL; i++)
	{
		const char *wrong = bf_kind_check(kind);

		CHECKF(wrong == NULL, "%s: %s", kind->name, wrong);
		CHECK(kind->id > last && kind->id < 256);
		last = kind->id;
		CHECK(bf_kind_by_id(kind->id) == kind);
		CHECK(bf_kind_by_name(kind->name) == kind);
		CHECK(((kind->caps & BF_INTERNAL) != 0) == (kind->id >= 64));
		for (j = 0; (first = bf_kind_at(j)) != kind; j++)
			CHECK(strcmp(first->name, kind->name) != 0);
		if (kind->better_kind != NULL)
			CHECK(bf_kind_by_name(kind->better_kind) != NULL && bf_kind_by_name(kind->better_kind)->min_fpr < kind->min_fpr);
	}
	CHECK(i >= 4);
	CHECK(bf_kind_by_id(0) == NULL);
	CHECK(bf_kind_by_id(BF_KIND_IDENTITY - 1) == NULL);
	CHECK(bf_kind_by_id(256 + BF_KIND_STANDARD) == NULL);
	CHECK(bf_kind_by_name("") == NULL);
	CHECK(bf_kind_by_name("Blocked") == NULL);
}

/* An arbitrary address for a member that a table should not have, or not alone. */
#define SOME_MEMBER(member)	((__typeof__(((BfKind *) NULL)->member)) (void (*) (void)) tables)

/* Tests that bf_kind_check() rejects inconsistent tables. */
static void
broken_tables(void)
{
	BfKind		good = *bf_kind_by_id(BF_KIND_BLOCKED);
	BfKind		bad;

#define BROKEN(change) \
	do { \
		bad = good; \
		change; \
		CHECKF(bf_kind_check(&bad) != NULL, "%s: " #change, good.name); \
	} while (0)

	CHECK(bf_kind_check(&good) == NULL);
	BROKEN(bad.name = NULL);
	BROKEN(bad.check = NULL);
	BROKEN(bad.prober = NULL);
	BROKEN(bad.probe_many = NULL);
	BROKEN(bad.stats = NULL);
	BROKEN(bad.design = NULL);
	BROKEN(bad.size = NULL);
	BROKEN(bad.when = NULL);
	BROKEN(bad.add = NULL);
	BROKEN(bad.unite = NULL);
	BROKEN(bad.intersect = NULL);
	BROKEN(bad.combined_head = NULL);
	BROKEN(bad.fold = NULL);
	BROKEN(bad.fold_plan = NULL);
	BROKEN(bad.cell_size = 12);
	BROKEN(bad.caps &= ~(uint32_t) BF_CAN_ADD);
	BROKEN(bad.caps &= ~(uint32_t) BF_CAN_FOLD);
	BROKEN(bad.caps |= BF_INTERNAL);

	/* what blocked has not */
	BROKEN(bad.caps |= BF_CAN_REMOVE);
	BROKEN(bad.remove = SOME_MEMBER(remove));
	BROKEN(bad.caps |= BF_CAN_COUNT);
	BROKEN(bad.count = SOME_MEMBER(count));
	BROKEN(bad.build = SOME_MEMBER(build));
	BROKEN(bad.grow_plan = SOME_MEMBER(grow_plan));
	BROKEN(bad.grow = SOME_MEMBER(grow));
	BROKEN(bad.is_packed = SOME_MEMBER(is_packed));
	BROKEN(bad.pack_plan = SOME_MEMBER(pack_plan));
	BROKEN(bad.pack = SOME_MEMBER(pack));
	BROKEN(bad.loosen_plan = SOME_MEMBER(loosen_plan));
	BROKEN(bad.loosen = SOME_MEMBER(loosen));

	/* a kind that grows, removes, counts and has two forms, and one that is built at once */
	good.caps |= BF_CAN_REMOVE | BF_CAN_COUNT;
	good.remove = SOME_MEMBER(remove);
	good.count = SOME_MEMBER(count);
	good.grow_plan = SOME_MEMBER(grow_plan);
	good.grow = SOME_MEMBER(grow);
	good.is_packed = SOME_MEMBER(is_packed);
	good.pack_plan = SOME_MEMBER(pack_plan);
	good.pack = SOME_MEMBER(pack);
	good.loosen_plan = SOME_MEMBER(loosen_plan);
	good.loosen = SOME_MEMBER(loosen);
	CHECK(bf_kind_check(&good) == NULL);
	BROKEN(bad.remove = NULL);
	BROKEN(bad.count = NULL);
	BROKEN(bad.grow_plan = NULL);
	BROKEN(bad.grow = NULL);
	BROKEN(bad.is_packed = NULL);
	BROKEN(bad.pack_plan = NULL);
	BROKEN(bad.pack = NULL);
	BROKEN(bad.loosen_plan = NULL);
	BROKEN(bad.loosen = NULL);

	good = *bf_kind_by_id(BF_KIND_BLOCKED);
	good.caps = BF_FROM_SET;
	good.add = NULL;
	good.unite = NULL;
	good.intersect = NULL;
	good.combined_head = NULL;
	good.fold = NULL;
	good.fold_plan = NULL;
	good.build = SOME_MEMBER(build);
	CHECK(bf_kind_check(&good) == NULL);
	BROKEN(bad.build = NULL);
	BROKEN(bad.caps = 0);
	BROKEN(bad.add = SOME_MEMBER(add));
}

/* ---- adding, building and probing ---- */

static void
empty_body(const BfKind *kind)
{
	static const uint64_t sizes[] = {1, 2, 10, 1000, 100000};
	size_t		s;

	for (s = 0; s < 5; s++)
	{
		TestFilter	filter = test_make(kind, 0.01, sizes[s], keys, 0);
		uint64_t	payload_len = filter.view.head.payload_len;
		bool		result[1000];
		BfStats		stats;
		int			found = 0;
		int			i;

		is_valid(&filter);
		memset(result, 1, sizeof(result));
		kind->probe_many(&filter.view, others, 1000, result);
		for (i = 0; i < 1000; i++)
		{
			found += result[i];
			CHECK(result[i] == test_probe(&filter, others[i]));
		}
		CHECKF(found == 0, "%s: %d keys are in an empty filter", kind->name, found);
		CHECK(!test_probe(&filter, 0) && !test_probe(&filter, UINT64_MAX));
		plausible(&filter, &stats);
		CHECKF(stats.keys == 0 && stats.fpr == 0 && stats.saturated == 0, "%s: empty: %g keys, FPR %g", kind->name, stats.keys, stats.fpr);
		if (test_has_cells(kind))
			CHECK(stats.bits == payload_len * 8 && stats.bits_set == 0 && stats.hashes == filter.view.head.param[0]);
		if (kind->add != NULL)
		{
			TestFilter	copy = test_copy(&filter);

			CHECK(kind->add(&filter.view.head, test_payload(&filter), keys, 0) == 0);
			CHECK(test_same_payload(&copy, &filter));
			test_free(&copy);
		}
		test_free(&filter);
	}
}

static void
empty_contains_nothing(void)
{
	each_kind(0, empty_body);
}

static void
added_body(const BfKind *kind)
{
	static const double rates[] = {0.5, 0.1, 0.01, 0.0001};
	static uint64_t corners[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63, (UINT64_C(1) << 63) - 1,
		UINT32_MAX, UINT64_C(1) << 32};
	static uint64_t all[MAX_KEYS + 8];
	int			r;

	for (r = 0; r < 4; r++)
	{
		double		rate = fmax(rates[r], kind->min_fpr);
		size_t		n;

		for (n = 1; n <= MAX_KEYS; n = n * 3 + 1)
		{
			TestFilter	whole = test_make(kind, rate, n, keys, n);
			TestFilter	again = test_make(kind, rate, n, keys, n);
			static bool result[MAX_KEYS];
			size_t		i;
			size_t		found = 0;

			is_valid(&whole);
			holds(&whole, keys, n, "added");
			CHECKF(test_same(&whole, &again), "%s: %zu keys, twice", kind->name, n);
			test_free(&again);

			/* one at a time, backwards, and without BF_MULTISET twice: the same filter */
			if (any_order(kind))
			{
				BfHeader	head = test_plan(kind, rate, n);

				again = test_empty(&head);
				for (i = n; i > 0; i--)
					test_add(&again, &keys[i - 1], 1);
				CHECKF(test_same_payload(&whole, &again), "%s: %zu keys, one by one and together", kind->name, n);
				if (!(kind->caps & BF_MULTISET))
				{
					test_add(&again, keys, n);
					CHECKF(test_same_payload(&whole, &again), "%s: %zu keys, once and twice", kind->name, n);
				}
				test_free(&again);
			}

			/* probe_many is probe, many times, for whatever number */
			for (i = 0; i < 100; i++)
			{
				size_t		j;

				memset(result, i % 2, sizeof(result));
				kind->probe_many(&whole.view, others + i, i, result);
				for (j = 0; j < i; j++)
					CHECK(result[j] == test_probe(&whole, others[i + j]));
				CHECK(result[i] == (i % 2));
			}

			/* a filter that says yes to everything would pass all of the above */
			for (i = 0; i < 2000; i++)
				found += test_probe(&whole, others[i]);
			CHECKF(found <= 2000 * rate + 5 * sqrt(2000 * rate) + 1, "%s: %zu of 2000 found at %g, %zu keys", kind->name,
				found, rate, n);
			test_free(&whole);

			/* hashes that may mean something */
			memcpy(all, corners, sizeof(corners));
			memcpy(all + 8, keys, n * sizeof(*keys));
			whole = test_make(kind, rate, n + 8, all, n + 8);
			is_valid(&whole);
			holds(&whole, corners, 8, "corners");
			holds(&whole, keys, n, "corners added");
			test_free(&whole);
		}
	}
}

static void
added_keys_are_found(void)
{
	each_kind(0, added_body);
}

/*
 * Adds far more keys than planned.  The filter fills, grows, or takes no more keys.  It still has
 * every key that it took, and a key that it refused leaves no trace.
 */
static void
overfull_body(const BfKind *kind)
{
	static const uint64_t capacities[] = {1, 3, 100, 3000};
	int			c;

	for (c = 0; c < 4; c++)
	{
		BfHeader	head = test_plan(kind, 0.01, capacities[c]);
		TestFilter	filter = test_empty(&head);
		TestFilter	copy;
		size_t		taken = test_add_some(&filter, keys, MAX_KEYS);
		BfStats		stats;

		CHECKF(taken >= capacities[c], "%s: full after %zu of %" PRIu64 " keys", kind->name, taken, capacities[c]);
		is_valid(&filter);
		holds(&filter, keys, taken, "overfull");
		plausible(&filter, &stats);
		CHECKF(stats.keys > 2 || capacities[c] < 3, "%s: %g keys in a full filter", kind->name, stats.keys);
		if (test_has_cells(kind) && capacities[c] <= 3)
			CHECK(stats.bits_set == stats.bits && stats.fpr == 1);

		/* full once more */
		if (taken < MAX_KEYS)
		{
			copy = test_copy(&filter);
			CHECK(test_add_some(&filter, keys + taken, MAX_KEYS - taken) == 0);
			CHECKF(test_same(&copy, &filter), "%s: a key that found no room left a trace", kind->name);
			test_free(&copy);
			copy = build(&head, keys, taken);
			CHECKF(test_same_payload(&copy, &filter), "%s: a key that found no room was there", kind->name);
			test_free(&copy);
		}
		test_free(&filter);
	}
}

static void
overfull(void)
{
	each_kind(BF_CAN_ADD, overfull_body);
}

/* ---- built at once ---- */

/* Reads hashes from a source in pieces of all sizes. */
static size_t
read_pieces(BfSource *source, uint64_t *hashes, size_t max)
{
	size_t		piece = 1 + test_below(test_below(2) == 0 ? 3 : 1000);

	return test_source_read(source, hashes, BF_MIN(max, piece));
}

/* Allocates memory with arbitrary contents, and counts the allocations that were not freed. */
typedef struct Garbage
{
	int			byte;
	int64_t		pieces;
	uint64_t	looks;			/* for interrupts */
} Garbage;

static void *
garbage_alloc(void *arg, size_t size)
{
	Garbage    *garbage = arg;
	void	   *memory = test_malloc(size);

	garbage->pieces++;
	return memset(memory, garbage->byte, size);
}

static void
garbage_release(void *arg, void *memory)
{
	if (memory != NULL)
		((Garbage *) arg)->pieces--;
	free(memory);
}

static void
garbage_look(void *arg)
{
	((Garbage *) arg)->looks++;
}

#define GARBAGE_ENV(garbage) \
	{.check_interrupts = garbage_look, .alloc = garbage_alloc, .release = garbage_release, .arg = (garbage)}

static void
built_body(const BfKind *kind)
{
	static const size_t sizes[] = {0, 1, 2, 3, 5, 10, 33, 100, 777, 3000, MAX_KEYS};
	static uint64_t hashes[2 * MAX_KEYS];
	size_t		s;

	for (s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
	{
		size_t		n = sizes[s];
		TestFilter	filter = test_make(kind, 0.01, n, keys, n);
		TestFilter	again;
		int			round;
		size_t		i;

		/* the other way round, each as often as it may be */
		for (i = 0; i < n; i++)
			hashes[i] = keys[n - 1 - i];
		for (i = 0; i < n; i++)
			hashes[n + i] = keys[test_below(n)];
		again = test_make(kind, 0.01, n, hashes, 2 * n);
		CHECKF(test_same_payload(&filter, &again), "%s: %zu keys in another order, with repeated ones", kind->name, n);
		test_free(&again);

		/* read in pieces, with memory as it comes; all of it is given back */
		memcpy(hashes, keys, n * sizeof(*keys));
		CHECK(bf_sort_hashes(&test_env, hashes, n) == n);
		for (round = 0; kind->build != NULL && round < 4; round++)
		{
			Garbage		garbage = {.byte = round % 2 == 0 ? 0xff : 0x5a};
			BfPort		port = GARBAGE_ENV(&garbage);
			TestSource	source = {.source = {.n = n, .read = read_pieces}, .hashes = hashes};
			BfSink		sink = {.extend = test_sink_extend};
			BfHeader	head = test_plan(kind, 0.01, n);

			CHECK(kind->build(&port, &head, &source.source, &sink) == BF_OK);
			CHECK(head.payload_len == sink.len && kind->check(&head) == NULL);
			CHECKF(memcmp(head.param, filter.view.head.param, sizeof(head.param)) == 0 && head.capacity == filter.view.head.capacity &&
				sink.len == filter.view.head.payload_len && memcmp(sink.bytes, filter.view.payload, sink.len) == 0,
				"%s: %zu keys read in pieces", kind->name, n);
			CHECKF(garbage.pieces == 0, "%s: %" PRId64 " pieces of memory left", kind->name, garbage.pieces);
			free(sink.bytes);
		}
		test_free(&filter);
	}
}

static void
built_of_a_set(void)
{
	each_kind(BF_FROM_SET, built_body);
}

/*
 * Tests sets of hashes that do not occur by chance: consecutive hashes, hashes with equal high or
 * low bits, in numeric order or in that of bf_order().
 */
static void
crafted_body(const BfKind *kind)
{
	enum {N = 5000};
	uint64_t   *hashes = test_malloc(N * sizeof(uint64_t));
	int			which;

	for (which = 0; which < 8; which++)
	{
		TestFilter	filter;
		BfStats		stats;
		uint64_t	i;

		for (i = 0; i < N; i++)
		{
			static const int shifts[] = {0, 32, 51, 0, 20};

			hashes[i] = which < 3 ? i << shifts[which] :
				which < 5 ? i * UINT64_C(0x9e3779b97f4a7c15) << shifts[which] :
				which == 5 ? (i << 7) * BF_ORDER_INVERSE : which == 6 ? (UINT64_MAX - i) * BF_ORDER_INVERSE :
				test_random() >> 40;
		}
		if (kind->build != NULL)
			filter = test_build(kind, 0.01, hashes, N);
		else
		{
			BfHeader	head = test_plan(kind, 0.01, N);
			uint64_t	n = bf_sort_hashes(&test_env, hashes, N);

			/* a kind that can be full may well be so of these */
			filter = test_empty(&head);
			n = test_add_some(&filter, hashes, n);
			holds(&filter, hashes, n, "crafted");
			test_free(&filter);
			continue;
		}
		is_valid(&filter);
		holds(&filter, hashes, filter.view.head.capacity, which == 0 ? "all in a row" : which < 5 ? "shifted" : "crafted");
		plausible(&filter, &stats);
		test_free(&filter);
	}
	free(hashes);
}

static void
crafted_hashes(void)
{
	each_kind(0, crafted_body);
}

/* ---- growing ---- */

static void
grow_body(const BfKind *kind)
{
	static const double rates[] = {0.1, 0.01, 0.0001};
	int			r;

	for (r = 0; kind->grow != NULL && r < 3; r++)
	{
		BfHeader	head = test_plan(kind, rates[r], 40);
		TestFilter	filter = test_empty(&head);
		uint64_t	found = 0;
		size_t		n = 0;
		int			grown = 0;
		size_t		i;

		while (n < MAX_KEYS)
		{
			size_t		some = 1 + test_below(500);
			size_t		wanted = BF_MIN(MAX_KEYS - n, some);
			size_t		added = kind->add(&filter.view.head, test_payload(&filter), keys + n, wanted);
			TestFilter	before;
			uint64_t	hits = 0;
			BfStats		stats;

			n += added;
			test_count_added(&filter, added);
			if (added == wanted)
				continue;
			before = test_copy(&filter);
			if (!CHECKF(test_grow(&filter), "%s: cannot grow with %zu keys", kind->name, n))
			{
				test_free(&before);
				break;
			}
			grown++;
			is_valid(&filter);
			CHECK(filter.view.head.keys_added == before.view.head.keys_added && filter.view.head.family_id == before.view.head.family_id);
			CHECK(filter.view.head.target_fpr == rates[r]);
			answer_alike(&before, &filter, "grown");
			holds(&filter, keys, n, "grown");
			plausible(&filter, &stats);
			for (i = 0; i < MAX_KEYS; i++)
				hits += test_probe(&filter, others[i]);
			CHECKF((double) hits <= MAX_KEYS * rates[r] + 5 * sqrt(MAX_KEYS * rates[r]) + 1, "%s at %g with %zu keys, grown %d times: %" PRIu64
				   " of %d", kind->name, rates[r], n, grown, hits, MAX_KEYS);
			test_free(&before);
		}
		CHECKF(grown >= 3, "%s: grew %d times for %d keys", kind->name, grown, MAX_KEYS);

		/* what was there already needs no more room */
		if (!(kind->caps & BF_MULTISET))
		{
			uint64_t	len = filter.len;
			BfStats		stats;
			BfStats		after;

			plausible(&filter, &stats);
			for (i = 0; i < 3; i++)
				test_add(&filter, keys, MAX_KEYS);
			plausible(&filter, &after);
			CHECKF(filter.len <= 2 * len + 1000 && after.keys <= stats.keys * 1.05 + 100, "%s: %" PRIu64 " bytes, then %zu, of the same keys",
				   kind->name, len, filter.len);
			holds(&filter, keys, MAX_KEYS, "again and again");
		}
		for (i = 0; i < MAX_KEYS; i++)
			found += test_probe(&filter, others[i]);
		CHECKF((double) found <= MAX_KEYS * rates[r] + 5 * sqrt(MAX_KEYS * rates[r]) + 1, "%s at %g: %" PRIu64 " of %d", kind->name, rates[r],
			   found, MAX_KEYS);
		test_free(&filter);
	}
}

static void
growing_changes_no_answer(void)
{
	each_kind(BF_CAN_ADD, grow_body);
}

/* ---- removing and counting ---- */

/* Tests that a hash is refused without a trace. */
static void
refuses(TestFilter *filter, uint64_t hash)
{
	TestFilter	copy = test_copy(filter);

	CHECK(test_remove(filter, &hash, 1) == 0);
	CHECKF(test_same(&copy, filter), "%s: a refused removal left a trace", filter->view.head.kind->name);
	test_free(&copy);
}

static void
remove_body(const BfKind *kind)
{
	static const double rates[] = {0.3, 0.01, 0.0001};
	int			r;

	for (r = 0; r < 3; r++)
	{
		BfHeader	head = test_plan(kind, rates[r], 2000);
		TestFilter	empty = test_empty(&head);
		TestFilter	filter = test_make(kind, rates[r], 2000, keys, 1000);
		TestFilter	before;
		uint64_t	mixed[4];
		BfStats		stats;
		BfStats		after;
		size_t		absent = 0;
		size_t		refused = 0;
		size_t		i;

		test_loosen(&filter);
		before = test_copy(&filter);
		plausible(&before, &stats);

		/* added and removed: as it was, but for places */
		test_add(&filter, keys + 1000, 800);
		for (i = 1800; i > 1400; i--)
			CHECK(test_remove(&filter, &keys[i - 1], 1) == 1);
		CHECK(test_remove(&filter, keys + 1000, 400) == 400);
		is_valid(&filter);
		holds(&filter, keys, 1000, "others removed");
		plausible(&filter, &after);
		CHECKF(after.bits_set == stats.bits_set && fabs(after.keys - stats.keys) < 0.001, "%s: %" PRIu64 " bits, %" PRIu64 " before",
			   kind->name, after.bits_set, stats.bits_set);
		if (any_order(kind))
			CHECKF(test_same_payload(&before, &filter), "%s: adding and removing leave a trace", kind->name);

		/* absent keys are refused, alone and behind others */
		for (i = 0; i < 1000; i++)
			if (!test_probe(&filter, others[i]))
			{
				if (i < 100)
					refuses(&filter, others[i]);
				absent = i;
				refused++;
			}
		CHECKF(refused > 400, "%s: only %zu refused", kind->name, refused);
		mixed[0] = keys[0];
		mixed[1] = keys[1];
		mixed[2] = others[absent];
		mixed[3] = keys[2];
		before = (test_free(&before), test_copy(&filter));
		/* the removal of two may be what makes the third absent, never what makes it present */
		CHECK(test_remove(&filter, mixed, 4) == 2);
		holds(&filter, keys + 2, 998, "two removed");
		test_add(&filter, keys, 2);
		CHECK(test_remove(&before, mixed, 2) == 2);
		test_add(&before, mixed, 2);
		CHECK(test_same_payload(&before, &filter));
		test_free(&before);

		/* all gone: nothing is left, and nothing can be removed */
		CHECK(test_remove(&filter, keys, 1000) == 1000);
		is_valid(&filter);
		plausible(&filter, &after);
		CHECKF(after.bits_set == 0 && after.keys == 0 && after.fpr == 0, "%s: %" PRIu64 " bits left", kind->name, after.bits_set);
		if (any_order(kind))
			CHECK(test_same_payload(&empty, &filter));
		for (i = 0; i < 10; i++)
			refuses(&filter, keys[i]);

		/* and it can be used again */
		test_add(&filter, keys + 5000, 2000);
		holds(&filter, keys + 5000, 2000, "used again");
		test_free(&filter);
		test_free(&empty);
	}
}

/*
 * Adds one key many times, as long as there is room.  The key is found until its last addition is
 * removed; a kind whose counters are saturated may never lose the key.
 */
static void
equal_keys_body(const BfKind *kind)
{
	size_t		times;

	for (times = 1; times < 40; times++)
	{
		TestFilter	filter = test_make(kind, 0.01, 100, keys, 50);
		uint64_t	key = keys[100];
		uint64_t	hashes[40];
		size_t		added;
		size_t		i;

		for (i = 0; i < times; i++)
			hashes[i] = key;
		added = test_add_some(&filter, hashes, times);
		CHECKF(added == times || added >= 2, "%s: %zu of %zu equal keys", kind->name, added, times);
		is_valid(&filter);
		for (i = 0; i < added; i++)
		{
			if (kind->count != NULL)
				CHECKF(kind->count(&filter.view, key) >= added - i, "%s: counted %" PRIu64 " of %zu", kind->name,
					   kind->count(&filter.view, key), added - i);
			CHECKF(test_probe(&filter, key), "%s: lost after %zu of %zu", kind->name, i, added);
			if (kind->caps & BF_MULTISET || i == 0)
				CHECK(test_remove(&filter, &key, 1) == 1);
		}
		holds(&filter, keys, 50, "equal keys removed");
		is_valid(&filter);
		test_free(&filter);
	}
}

static void
removing(void)
{
	each_kind(BF_CAN_ADD | BF_CAN_REMOVE, remove_body);
	each_kind(BF_CAN_ADD | BF_CAN_REMOVE, equal_keys_body);
}

/* Tests that a count is never too low, and seldom too high. */
static void
count_body(const BfKind *kind)
{
	BfHeader	head = test_plan(kind, 0.001, 3000);
	TestFilter	filter = test_empty(&head);
	int			form;
	int			i;
	int			j;

	for (i = 0; i < 1000; i++)
		for (j = 0; j < i % 4; j++)
			test_add(&filter, &keys[i], 1);
	for (form = 0; form < 2; form++)
	{
		int			more = 0;
		int			known = 0;

		for (i = 0; i < 1000; i++)
		{
			uint64_t	counted = kind->count(&filter.view, keys[i]);

			CHECKF(counted >= (uint64_t) i % 4, "%s: %" PRIu64 " instead of %d", kind->name, counted, i % 4);
			more += counted > (uint64_t) i % 4;
			known += counted != UINT64_MAX;
			CHECK(kind->count(&filter.view, others[i]) == 0 || test_probe(&filter, others[i]));
		}
		CHECKF(more < 30 && known == 1000, "%s: %d of 1000 are counted too high, %d known", kind->name, more, known);
		test_pack(&filter);
	}
	test_free(&filter);
}

static void
counting(void)
{
	each_kind(BF_CAN_ADD | BF_CAN_COUNT, count_body);
}

/* ---- the two forms ---- */

static bool
same_stats(const BfStats *a, const BfStats *b)
{
	return a->bits == b->bits && a->bits_set == b->bits_set && a->fill == b->fill && a->hashes == b->hashes && a->stages == b->stages &&
		a->saturated == b->saturated && a->keys == b->keys && a->fpr == b->fpr;
}

static void
forms_body(const BfKind *kind)
{
	static const size_t sizes[] = {0, 1, 2, 10, 100, 1000, 3000, MAX_KEYS};
	size_t		s;
	int			way;

	for (s = 0; kind->pack != NULL && s < sizeof(sizes) / sizeof(sizes[0]); s++)
		for (way = 0; way < 3; way++)
		{
			/* as planned, nearly empty, or with some keys far too often */
			TestFilter	loose = test_make(kind, 0.01, way == 1 ? 5000 : BF_MAX(sizes[s], 1), keys, sizes[s]);
			TestFilter	packed;
			TestFilter	again;
			BfStats		stats;
			BfStats		packed_stats;
			int			round;
			int			i;

			test_loosen(&loose);
			if (way == 2)
				for (i = 0; i < 20; i++)
					test_add_some(&loose, keys, sizes[s] / 10);
			packed = test_copy(&loose);
			test_pack(&packed);
			is_valid(&packed);
			is_valid(&loose);
			CHECKF(packed.len <= loose.len + 64, "%s: %zu bytes, %zu packed", kind->name, loose.len, packed.len);
			CHECK(packed.view.head.keys_added == loose.view.head.keys_added && packed.view.head.capacity == loose.view.head.capacity &&
				packed.view.head.target_fpr == loose.view.head.target_fpr && packed.view.head.family_id == loose.view.head.family_id);
			answer_alike(&loose, &packed, "packed");
			plausible(&loose, &stats);
			plausible(&packed, &packed_stats);
			CHECKF(same_stats(&stats, &packed_stats), "%s: %zu keys: the numbers differ when packed", kind->name, sizes[s]);

			again = test_copy(&packed);
			test_loosen(&again);
			CHECKF(test_same(&again, &loose), "%s: %zu keys, packed and loosened", kind->name, sizes[s]);
			test_pack(&again);
			CHECKF(test_same(&again, &packed), "%s: %zu keys, packed twice", kind->name, sizes[s]);

			/* whatever memory holds, and all of it is given back */
			for (round = 0; round < 2; round++)
			{
				Garbage		garbage = {.byte = round == 0 ? 0xff : 0x5a};
				BfPort		port = GARBAGE_ENV(&garbage);
				BfHeader	head;

				kind->pack_plan(&port, &loose.view, &head);
				CHECK(head.payload_len == packed.view.head.payload_len);
				memset(test_payload(&again), 0, head.payload_len);
				kind->pack(&port, &head, test_payload(&again), &loose.view);
				CHECK(test_same_payload(&again, &packed));
				bf_stats(&port, &packed.view, &stats);
				CHECKF(garbage.pieces == 0, "%s: %" PRId64 " pieces of memory left", kind->name, garbage.pieces);
			}
			test_free(&again);
			test_free(&packed);
			test_free(&loose);
		}
}

static void
two_forms(void)
{
	each_kind(BF_CAN_ADD, forms_body);
}

/* ---- the rest ---- */

/*
 * Tests that long loops check for interrupts, at least once for every 64k cells that are read or
 * written, but not too often.  An environment without a callback works, and no environment is
 * needed where no memory is allocated.
 */
static void
interrupt_body(const BfKind *kind)
{
	enum {N = 400000};
	Garbage		garbage = {0};
	BfPort		port = GARBAGE_ENV(&garbage);
	uint64_t   *hashes = test_malloc(N * sizeof(uint64_t));
	TestFilter	filter;
	uint64_t	least;
	BfHeader	planned;
	BfStats		stats;
	size_t		i;

#define EXPECT_CALLS(call) \
	do { \
		garbage.looks = 0; \
		call; \
		CHECKF(garbage.looks >= least && garbage.looks <= 400 * least + 400, "%s: " #call ": %" PRIu64 " looks", kind->name, \
			   garbage.looks); \
	} while (0)

	for (i = 0; i < N; i++)
		hashes[i] = test_random();
	if (kind->build != NULL)
	{
		TestSource	source = {.source.read = test_source_read, .hashes = hashes};
		BfSink		sink = {.extend = test_sink_extend};

		source.source.n = bf_sort_hashes(&test_env, hashes, N);
		planned = test_plan(kind, 0.001, N);
		least = N / 65536;
		EXPECT_CALLS(kind->build(&port, &planned, &source.source, &sink));
		free(sink.bytes);
		filter = test_build(kind, 0.001, hashes, N);
	}
	else
	{
		/* some MB, mostly empty */
		planned = test_plan(kind, 0.001, 10 * N);
		filter = test_empty(&planned);
		test_add(&filter, hashes, 1000);
	}
	least = filter.view.head.payload_len / (65536 * 64);
	if (kind->build == NULL)
	{
		CHECK(least >= 1);
		EXPECT_CALLS(bf_stats(&port, &filter.view, &stats));
	}
	if (kind->caps & BF_CAN_UNION)
	{
		TestFilter	out;

		CHECK(bf_union_plan(&filter.view, &filter.view, &planned) == BF_OK);
		out = test_zeroed(&planned);
		EXPECT_CALLS(bf_union(&port, &planned, test_payload(&out), &filter.view, &filter.view));
		test_free(&out);
	}
	if (kind->caps & BF_CAN_INTERSECT)
	{
		TestFilter	out;

		CHECK(bf_intersect_plan(&filter.view, &filter.view, &planned) == BF_OK);
		out = test_zeroed(&planned);
		EXPECT_CALLS(bf_intersect(&port, &planned, test_payload(&out), &filter.view, &filter.view));
		test_free(&out);
	}
	if (kind->caps & BF_CAN_FOLD)
	{
		TestFilter	out;

		EXPECT_CALLS(bf_fold_plan(&port, &filter.view, 0.01, &planned));
		out = test_zeroed(&planned);
		EXPECT_CALLS(bf_fold(&port, &planned, test_payload(&out), &filter.view));
		test_free(&out);
	}
	if (kind->pack != NULL)
	{
		TestFilter	packed = test_copy(&filter);
		TestFilter	out;

		test_pack(&packed);
		EXPECT_CALLS(kind->pack_plan(&port, &filter.view, &planned));
		out = test_zeroed(&planned);
		EXPECT_CALLS(kind->pack(&port, &planned, test_payload(&out), &filter.view));
		test_free(&out);
		kind->loosen_plan(&packed.view.head, &planned);
		out = test_zeroed(&planned);
		EXPECT_CALLS(kind->loosen(&port, &planned, test_payload(&out), &packed.view));
		test_free(&out);
		EXPECT_CALLS(bf_stats(&port, &packed.view, &stats));
		test_free(&packed);
	}
	CHECKF(garbage.pieces == 0, "%s: %" PRId64 " pieces of memory left", kind->name, garbage.pieces);

	bf_stats(&test_env, &filter.view, &stats);
	if (test_has_cells(kind))
		bf_stats(NULL, &filter.view, &stats);
	test_free(&filter);
	free(hashes);
}

static void
interrupts_are_looked_for(void)
{
	each_kind(0, interrupt_body);
}

/*
 * Tests that folding by a large factor checks for interrupts: it reads many cells for each cell
 * that it writes.
 */
static void
far_fold_body(const BfKind *kind)
{
	Garbage		garbage = {0};
	BfPort		port = GARBAGE_ENV(&garbage);
	BfHeader	head = test_head(kind, 720720, 5);
	BfHeader	one = test_head(kind, 2, 5);
	TestFilter	filter = test_empty(&head);
	TestFilter	out = test_empty(&one);

	bf_fold(&port, &one, test_payload(&out), &filter.view);
	CHECKF(garbage.looks >= 2, "%s: %" PRIu64 " looks in folding %" PRIu64 " cells to 2", kind->name, garbage.looks, UINT64_C(720720));
	test_free(&filter);
	test_free(&out);
}

static void
interrupts_in_far_folds(void)
{
	each_kind_of_cells(far_fold_body);
}

/* Compares the estimates of bf_stats with the keys that were added and with the measured rate. */
static void
stats_body(const BfKind *kind)
{
	static const double rates[] = {0.2, 0.05, 0.01};
	static const double loads[] = {0.1, 0.5, 1, 1.5, 3};
	int			r;
	int			l;

	for (r = 0; r < 3; r++)
		for (l = 0; l < 5; l++)
		{
			size_t		n = (size_t) (6000 * loads[l]);
			TestFilter	filter;
			uint64_t	hits = 0;
			uint64_t	probes = test_trials(400000);
			BfStats		stats;
			uint64_t	i;
			double		measured;

			if (kind->build != NULL)
				filter = test_make(kind, rates[r], n, keys, n);
			else
			{
				BfHeader	head = test_plan(kind, rates[r], 6000);

				filter = test_empty(&head);
				n = test_add_some(&filter, keys, n);
			}
			if (l % 2 == 0)
				test_pack(&filter);
			plausible(&filter, &stats);
			if (test_has_cells(kind))
			{
				CHECK(stats.bits == filter.view.head.payload_len * 8);
				CHECK(stats.bits_set == bits_set(&filter));
			}
			CHECKF(fabs(stats.keys / (double) n - 1) < 0.03, "%s at %g: %zu keys, estimated %g", kind->name, rates[r], n,
				stats.keys);
			for (i = 0; i < probes; i++)
				hits += test_probe(&filter, test_random());
			measured = (double) hits / (double) probes;
			CHECKF(fabs(stats.fpr - measured) < 5 * sqrt(stats.fpr / (double) probes) + 0.03 * stats.fpr,
				   "%s at %g with %zu keys: estimated %g, measured %g", kind->name, rates[r], n, stats.fpr, measured);
			test_free(&filter);
		}
}

static void
stats_are_right(void)
{
	each_kind(0, stats_body);
}

int
main(void)
{
	make_keys(4);
	RUN(tables);
	RUN(broken_tables);
	RUN(empty_contains_nothing);
	RUN(added_keys_are_found);
	RUN(overfull);
	RUN(built_of_a_set);
	RUN(crafted_hashes);
	RUN(growing_changes_no_answer);
	RUN(removing);
	RUN(counting);
	RUN(two_forms);
	RUN(interrupts_are_looked_for);
	RUN(interrupts_in_far_folds);
	RUN(stats_are_right);
	return test_finish();
}
