/*-------------------------------------------------------------------------
 *
 * t_kind.c
 *	  What every kind must do, asked of every kind through its table.
 *
 * A new kind is tested as soon as bf_kinds.c knows it; only a kind's own internals have tests of their own at the end.
 *
 *-------------------------------------------------------------------------
 */
#include "test.h"

#define MAX_KEYS	20000

static uint64_t keys[MAX_KEYS];
static uint64_t others[MAX_KEYS];

/* Runs body for each kind that has all of these capabilities and can be planned. */
static void
each_kind(uint32_t caps, void (*body) (const BfKind *kind))
{
	const BfKind *kind;
	size_t		i;

	for (i = 0; (kind = bf_kind_at(i)) != NULL; i++)
		if (kind->design != NULL && (kind->caps & caps) == caps)
			body(kind);
}

/* ... for each whose filters are arrays of bits in cells. */
static void
each_kind_of_cells(void (*body) (const BfKind *kind))
{
	const BfKind *kind;
	size_t		i;

	for (i = 0; (kind = bf_kind_at(i)) != NULL; i++)
		if (test_has_cells(kind))
			body(kind);
}

static uint32_t
max_probes(const BfKind *kind)
{
	BfHeader	head = test_head(kind, 4, 1);

	while (kind->check(&head) == NULL)
		head.param[0]++;
	return head.param[0] - 1;
}

/* Does a filter's content not hang on the order in which its keys came? */
static bool
any_order(const BfKind *kind)
{
	return kind->add != NULL && !(kind->caps & BF_FROM_SET);
}

static TestFilter
build(const BfHeader *head, const uint64_t *hashes, size_t n)
{
	TestFilter	filter = test_empty(head);

	test_add(&filter, hashes, n);
	bf_seal(filter.data, filter.len);
	return filter;
}

/* All of hashes are in the filter, by every way of asking. */
static void
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

/* Two filters answer alike, whatever is asked. */
static void
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

static uint64_t
bits_set(const TestFilter *filter)
{
	const uint8_t *p = filter->view.payload;
	uint64_t	set = 0;
	uint64_t	i;

	for (i = 0; i < filter->view.head.payload_len; i++)
		set += (unsigned) __builtin_popcount(p[i]);
	return set;
}

static bool
is_valid(TestFilter *filter)
{
	const char *reason = NULL;
	BfView		view;

	bf_seal(filter->data, filter->len);
	return CHECKF(bf_validate(filter->data, filter->len, &view, &reason) == BF_OK, "%s: a good value is refused: %s",
				  filter->view.head.kind->name, reason);
}

/* What the numbers of every filter must be. */
static void
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

/* Any address will do for a member that a table should not have, or not alone. */
#define SOME_MEMBER(member)	((__typeof__(((BfKind *) NULL)->member)) (void (*) (void)) tables)

/* bf_kind_check itself can fail. */
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
 * Far more keys than planned: the filter fills, or grows, or takes no more; whatever it took it still has, and what it did not take left no
 * trace.
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

/* Hands out its hashes in pieces of all sizes. */
static size_t
read_pieces(BfSource *source, uint64_t *hashes, size_t max)
{
	size_t		piece = 1 + test_below(test_below(2) == 0 ? 3 : 1000);

	return test_source_read(source, hashes, BF_MIN(max, piece));
}

/* Memory as it may be, with the number of what was not given back. */
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
			BfEnv		env = GARBAGE_ENV(&garbage);
			TestSource	source = {.source = {.n = n, .read = read_pieces}, .hashes = hashes};
			BfSink		sink = {.extend = test_sink_extend};
			BfHeader	head = test_plan(kind, 0.01, n);

			CHECK(kind->build(&env, &head, &source.source, &sink) == BF_OK);
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

/* Sets of hashes that nobody would meet by chance: all in a row, all with the same high or low bits, in order or in bf_order()'s. */
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

/* Is a hash refused without a trace? */
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

/* The same key many times, as long as there is room: it is there until the last is gone, and there may be no last. */
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

/* Never too few, and seldom too many. */
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
				BfEnv		env = GARBAGE_ENV(&garbage);
				BfHeader	head;

				kind->pack_plan(&env, &loose.view, &head);
				CHECK(head.payload_len == packed.view.head.payload_len);
				memset(test_payload(&again), 0, head.payload_len);
				kind->pack(&env, &head, test_payload(&again), &loose.view);
				CHECK(test_same_payload(&again, &packed));
				bf_stats(&env, &packed.view, &stats);
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

/* ---- union and intersection ---- */

static const uint64_t primes[] = {1, 2, 3, 5, 7, 11, 13, 31, 61, 127, 251};

/* A size: a prime, a power of two, something with many divisors, or anything. */
static uint64_t
random_cells(void)
{
	switch (test_below(4))
	{
		case 0:
			return primes[test_below(sizeof(primes) / sizeof(primes[0]))];
		case 1:
			return UINT64_C(1) << test_below(9);
		case 2:
			return 12 * (1 + test_below(20));
		default:
			return 1 + test_below(300);
	}
}

/* A filter of a random size, of cells also one of a random number of probes, with hashes[0 .. n - 1]. */
static TestFilter
random_filter(const BfKind *kind, const uint64_t *hashes, size_t n, const char *family)
{
	BfHeader	head = test_plan(kind, 0.001 + test_fraction() / 2, n + 100 + test_below(300));

	if (test_has_cells(kind))
	{
		head = test_head(kind, random_cells(), 1 + (uint32_t) test_below(max_probes(kind)));
		head.capacity = 1 + test_below(1000);
		head.target_fpr = 0.001 + test_fraction() / 2;
	}
	test_set_family(&head, family);
	if (head.family_id != 0)
	{
		head.keys_added = test_below(1000);
		/* the name is known on some only */
		if (test_below(3) == 0)
			head.family_len = 0;
	}
	return build(&head, hashes, n);
}

/* Both ways round; checks commutativity.  False if the two cannot be combined. */
static bool
either(const TestFilter *a, const TestFilter *b, bool intersect, TestFilter *result)
{
	TestFilter	other;
	bool		can = test_combine(a, b, intersect, result);

	CHECKF(test_combine(b, a, intersect, &other) == can, "%s: only one way round", a->view.head.kind->name);
	if (!can)
		return false;
	is_valid(result);
	CHECKF(test_same(result, &other), "%s: %s of %" PRIu64 " and %" PRIu64 " bytes is not commutative",
		   a->view.head.kind->name,
		   intersect ? "intersection" : "union", a->view.head.payload_len, b->view.head.payload_len);
	test_free(&other);
	return true;
}

/* Every combination of the three by union and intersection, of which the kind may have but one. */
static void
union_laws(const BfKind *kind, const TestFilter *a, const TestFilter *b, const TestFilter *c, const uint64_t *from, size_t n,
		   uint64_t *combined)
{
	TestFilter	ab;
	TestFilter	bc;
	TestFilter	left;
	TestFilter	right;
	bool		two = false;
	bool		three = false;
	size_t		i;

	if (!(kind->caps & BF_MULTISET))
	{
		CHECK(test_combine(a, a, false, &ab));
		CHECKF(test_same(a, &ab), "%s: f | f is not f, %" PRIu64 " bytes", kind->name, a->view.head.payload_len);
		test_free(&ab);
	}
	if (!either(a, b, false, &ab))
		return;
	(*combined)++;
	holds(&ab, from, n, "a in a | b");
	holds(&ab, from + 50, n, "b in a | b");
	for (i = 0; i < 100; i++)
		CHECK(!test_probe(a, others[i]) || test_probe(&ab, others[i]));

	/* the header says what took part */
	if (test_has_cells(kind))
	{
		CHECK(ab.view.head.param[0] == BF_MIN(a->view.head.param[0], b->view.head.param[0]));
		CHECK(ab.view.head.capacity == BF_MAX(a->view.head.capacity, b->view.head.capacity));
	}
	if (kind->caps & BF_MULTISET)
		CHECK(ab.view.head.keys_added == a->view.head.keys_added + b->view.head.keys_added);
	else
		CHECK(ab.view.head.keys_added == BF_MAX(a->view.head.keys_added, b->view.head.keys_added));

	two = either(b, c, false, &bc);
	three = either(&ab, c, false, &left);
	if (two && three && CHECK(either(a, &bc, false, &right)))
	{
		CHECKF(test_same(&left, &right), "%s: union of %" PRIu64 ", %" PRIu64 " and %" PRIu64 " bytes is not associative",
			   kind->name, a->view.head.payload_len, b->view.head.payload_len, c->view.head.payload_len);
		test_free(&right);
	}
	if (three)
	{
		holds(&left, from, n, "a in a | b | c");
		holds(&left, from + 50, n, "b in a | b | c");
		holds(&left, from + 100, 2 * n, "c in a | b | c");
		test_free(&left);
	}
	if (two)
		test_free(&bc);
	test_free(&ab);
}

static void
intersection_laws(const BfKind *kind, const TestFilter *a, const TestFilter *b, const TestFilter *c, const uint64_t *from, size_t n,
				  uint64_t *combined)
{
	TestFilter	ab;
	TestFilter	aba;
	size_t		i;

	CHECK(test_combine(a, a, true, &ab));
	CHECKF(test_same(a, &ab), "%s: f & f is not f, %" PRIu64 " bytes", kind->name, a->view.head.payload_len);
	test_free(&ab);
	if (either(a, b, true, &ab))
	{
		(*combined)++;
		/* the common keys: the last 50 of a's first 100, where there are so many */
		if (n > 50)
			holds(&ab, from + 50, n - 50, "a & b");
		CHECK(ab.view.head.keys_added == BF_MIN(a->view.head.keys_added, b->view.head.keys_added));
		for (i = 0; i < 100; i++)
			CHECK(!(test_probe(a, others[i]) && test_probe(b, others[i])) || test_probe(&ab, others[i]));
		test_free(&ab);
	}

	/* among filters of one size the intersection is no larger than either, and associative */
	if (a->view.head.payload_len == c->view.head.payload_len && either(a, c, true, &ab))
	{
		if (test_has_cells(kind) && a->view.head.param[0] == c->view.head.param[0])
			for (i = 0; i < ab.view.head.payload_len; i++)
				CHECK(ab.view.payload[i] == (a->view.payload[i] & c->view.payload[i]));
		CHECK(either(&ab, c, true, &aba));
		CHECKF(test_same(&ab, &aba), "%s: (a & c) & c is not a & c", kind->name);
		test_free(&aba);
		test_free(&ab);
	}
}

static void
laws_body(const BfKind *kind)
{
	uint64_t	unions = 0;
	uint64_t	intersections = 0;
	int			rounds = test_has_cells(kind) ? 1500 : 500;
	int			round;

	if (kind->combined_head == NULL)
		return;
	for (round = 0; round < rounds; round++)
	{
		size_t		n = test_below(60);
		const uint64_t *from = keys + test_below(MAX_KEYS - 400);
		const char *family = round % 3 == 0 ? "" : "int8";
		TestFilter	a = random_filter(kind, from, n, family);
		TestFilter	b = random_filter(kind, from + 50, n, "int8");
		TestFilter	c = random_filter(kind, from + 100, 2 * n, family);

		/* now and then of one size, which has a way of its own; of kinds without cells all three of one plan */
		if (round % 4 == 0)
		{
			BfHeader	head = b.view.head;

			if (!test_has_cells(kind))
			{
				head = test_plan(kind, 0.001 + test_fraction() / 2, 200 + test_below(300));
				test_set_family(&head, "int8");
				test_free(&a);
				test_free(&b);
				a = build(&head, from, n);
				b = build(&head, from + 50, n);
			}
			head.payload_len = a.view.head.payload_len;
			head.family = "int8";
			test_free(&c);
			c = build(&head, from + 100, 2 * n);
		}
		if (kind->caps & BF_CAN_UNION)
			union_laws(kind, &a, &b, &c, from, n, &unions);
		if (kind->caps & BF_CAN_INTERSECT)
			intersection_laws(kind, &a, &b, &c, from, n, &intersections);
		test_free(&a);
		test_free(&b);
		test_free(&c);
	}
	CHECKF(kind->unite == NULL || unions > (uint64_t) rounds / 20, "%s: %" PRIu64 " unions", kind->name, unions);
	CHECKF(kind->intersect == NULL || intersections > (uint64_t) rounds / 20, "%s: %" PRIu64 " intersections", kind->name, intersections);
}

static void
set_laws(void)
{
	each_kind(BF_CAN_ADD, laws_body);
}

/* Three filters of one plan: a union is the filter that was given the keys of both, in kinds of bits an intersection that of the bits. */
static void
same_size_body(const BfKind *kind)
{
	uint64_t	size;

	if (!any_order(kind))
		return;
	for (size = 1; size < 70; size++)
	{
		BfHeader	head = test_has_cells(kind) ? test_head(kind, size, 5) : test_plan(kind, 0.01, 5 * size * size);
		TestFilter	f[3];
		TestFilter	both;
		TestFilter	direct;
		TestFilter	one;
		TestFilter	other;
		size_t		i;

		for (i = 0; i < 3; i++)
			f[i] = build(&head, keys + 100 * i, 200);
		both = test_union(&f[0], &f[1]);
		direct = build(&head, keys, kind->caps & BF_MULTISET ? 200 : 300);
		if (kind->caps & BF_MULTISET)
			test_add(&direct, keys + 100, 200);
		CHECKF(test_same_payload(&both, &direct), "%s: size %" PRIu64 ": union differs from a direct build", kind->name, size);
		test_free(&both);
		test_free(&direct);
		if (kind->caps & BF_CAN_INTERSECT)
		{
			both = test_intersect(&f[0], &f[1]);
			if (test_has_cells(kind))
				for (i = 0; i < both.view.head.payload_len; i++)
					CHECK(both.view.payload[i] == (f[0].view.payload[i] & f[1].view.payload[i]));
			one = test_intersect(&both, &f[2]);
			test_free(&both);
			both = test_intersect(&f[1], &f[2]);
			other = test_intersect(&f[0], &both);
			CHECKF(test_same(&one, &other), "%s: size %" PRIu64 ": intersection is not associative", kind->name, size);
			test_free(&both);
			test_free(&one);
			test_free(&other);
		}
		for (i = 0; i < 3; i++)
			test_free(&f[i]);
	}
}

static void
same_size(void)
{
	each_kind(BF_CAN_ADD | BF_CAN_UNION, same_size_body);
}

static TestFilter
identity_of(const char *family)
{
	BfHeader	head;

	memset(&head, 0, sizeof(head));
	head.kind = bf_kind_by_id(BF_KIND_IDENTITY);
	head.hash_id = BF_HASH_XXH3;
	test_set_family(&head, family);
	return test_empty(&head);
}

static void
identity_body(const BfKind *kind)
{
	TestFilter	none = identity_of("");
	TestFilter	named = identity_of("int8");
	int			round;

	for (round = 0; round < 50; round++)
	{
		TestFilter	f = random_filter(kind, keys, 50, "int8");
		TestFilter	e = random_filter(kind, keys, 0, "");
		TestFilter	r;

		CHECK(either(&f, &none, false, &r));
		CHECKF(test_same(&r, &f), "%s: f | identity is not f", kind->name);
		test_free(&r);
		CHECK(either(&f, &named, false, &r));
		/* the identity may know the name that f lacks */
		CHECK(test_same_payload(&r, &f));
		CHECK(r.view.head.family_id == named.view.head.family_id);
		if (kind->hash_id == BF_HASH_XXH3)
			CHECK(r.view.head.family_len == 4 && memcmp(r.view.head.family, "int8", 4) == 0);
		CHECK(r.view.head.keys_added == f.view.head.keys_added && r.view.head.capacity == f.view.head.capacity);
		test_free(&r);
		/* an empty filter takes the family */
		CHECK(either(&e, &named, false, &r));
		if (kind->hash_id == BF_HASH_XXH3)
			CHECK(r.view.head.family_id == named.view.head.family_id && r.view.head.family_len == 4);
		CHECK(r.view.head.kind == kind);
		test_free(&r);
		/* with nothing in common */
		CHECK(either(&f, &none, true, &r));
		CHECK(r.view.head.kind == none.view.head.kind && r.view.head.payload_len == 0 && r.view.head.keys_added == 0);
		if (kind->hash_id == BF_HASH_XXH3)
			CHECK(r.view.head.family_id == f.view.head.family_id);
		CHECK(!test_probe(&r, keys[0]));
		test_free(&r);
		test_free(&e);
		test_free(&f);
	}
	test_free(&none);
	test_free(&named);
}

static void
identity_is_neutral(void)
{
	TestFilter	none = identity_of("");
	TestFilter	named = identity_of("int8");
	TestFilter	r;

	each_kind(BF_CAN_ADD | BF_CAN_UNION, identity_body);
	CHECK(either(&none, &named, false, &r));
	CHECK(test_same(&r, &named));
	test_free(&r);
	CHECK(either(&none, &named, true, &r));
	CHECK(test_same(&r, &named));
	test_free(&r);
	CHECK(either(&none, &none, false, &r));
	CHECK(test_same(&r, &none));
	test_free(&r);
	r = test_fold(&named, 0.01);
	CHECK(test_same(&r, &named));
	test_free(&r);
	test_free(&none);
	test_free(&named);
}

/* Which families combine, and to what. */
static void
families_body(const BfKind *kind)
{
	/* name, known by name, known at all */
	static const struct
	{
		const char *name;
		bool		by_name;
	}			side[] =
	{
		{"", false}, {"int8", true}, {"int8", false}, {"text", true}, {"text", false}
	};
	int			i;
	int			j;
	int			what;

	for (i = 0; i < 25 * 2; i++)
	{
		BfHeader	head[2];
		TestFilter	f[2];
		BfHeader	out;
		BfStatus	status;
		bool		unlike;

		for (j = 0; j < 2; j++)
		{
			what = j == 0 ? i % 5 : i / 5 % 5;
			head[j] = test_plan(kind, 0.01, 10);
			test_set_family(&head[j], side[what].name);
			if (!side[what].by_name)
				head[j].family_len = 0;
			f[j] = test_empty(&head[j]);
		}
		if (!(kind->caps & (i < 25 ? BF_CAN_UNION : BF_CAN_INTERSECT)))
			goto next;
		status = i < 25 ? bf_union_plan(&f[0].view, &f[1].view, &out) : bf_intersect_plan(&f[0].view, &f[1].view, &out);
		unlike = head[0].family_id != 0 && head[1].family_id != 0 && head[0].family_id != head[1].family_id;
		CHECKF(status == (unlike ? BF_FAMILY_MISMATCH : BF_OK), "%d and %d: %d", i % 5, i / 5 % 5, status);
		if (status == BF_OK)
		{
			CHECK(out.family_id == (head[0].family_id != 0 ? head[0].family_id : head[1].family_id));
			CHECK(out.family_len == BF_MAX(head[0].family_len, head[1].family_len));
			CHECK(memcmp(out.family, i % 5 == 3 || i / 5 % 5 == 3 ? "text" : "int8", out.family_len) == 0);
		}
next:
		test_free(&f[0]);
		test_free(&f[1]);
	}
}

static void
families(void)
{
	each_kind(BF_CAN_ADD | BF_CAN_UNION, families_body);
}

/* Filters of different kinds do not combine; what a kind cannot do it says. */
static void
kinds_do_not_mix(void)
{
	TestFilter	f[20];
	const BfKind *kind;
	BfHeader	head;
	size_t		n;
	size_t		i;
	size_t		j;

	for (n = 0; (kind = bf_kind_at(n)) != NULL && CHECK(n < 20); n++)
	{
		if (kind->design != NULL)
			f[n] = test_make(kind, 0.01, 10, keys, 10);
		else if (kind->id == BF_KIND_IDENTITY)
			f[n] = identity_of("");
		else
		{
			memset(&head, 0, sizeof(head));
			head.kind = kind;
			head.hash_id = BF_HASH_XXH3;
			head.param[0] = BF_KIND_BLOCKED;
			head.target_fpr = 0.01;
			f[n] = test_empty(&head);
		}
		test_loosen(&f[n]);
	}

	for (i = 0; i < n; i++)
	{
		const BfHeader *a = &f[i].view.head;

		for (j = 0; j < n; j++)
		{
			const BfHeader *b = &f[j].view.head;
			BfStatus	status = bf_union_plan(&f[i].view, &f[j].view, &head);

			if (i == j || a->kind->id == BF_KIND_IDENTITY || b->kind->id == BF_KIND_IDENTITY)
				continue;
			CHECKF(status == BF_KIND_MISMATCH || (status == BF_UNSUPPORTED && !(a->kind->caps & b->kind->caps & BF_CAN_UNION)),
				   "%s | %s: %d", a->kind->name, b->kind->name, status);
			status = bf_intersect_plan(&f[i].view, &f[j].view, &head);
			CHECKF(status == BF_KIND_MISMATCH || (status == BF_UNSUPPORTED && !(a->kind->caps & b->kind->caps & BF_CAN_INTERSECT)),
				   "%s & %s: %d", a->kind->name, b->kind->name, status);
		}
		CHECK(bf_fold_plan(&test_env, &f[i].view, 0, &head) == BF_FPR_OUT_OF_RANGE);
		CHECK(bf_fold_plan(&test_env, &f[i].view, 1, &head) == BF_FPR_OUT_OF_RANGE);
		CHECK(bf_fold_plan(&test_env, &f[i].view, NAN, &head) == BF_FPR_OUT_OF_RANGE);
		if (a->kind->id == BF_KIND_IDENTITY)
			continue;
		CHECK((bf_union_plan(&f[i].view, &f[i].view, &head) == BF_UNSUPPORTED) == !(a->kind->caps & BF_CAN_UNION));
		CHECK((bf_intersect_plan(&f[i].view, &f[i].view, &head) == BF_UNSUPPORTED) == !(a->kind->caps & BF_CAN_INTERSECT));
		CHECK((bf_fold_plan(&test_env, &f[i].view, 0.01, &head) == BF_UNSUPPORTED) == !(a->kind->caps & BF_CAN_FOLD));
	}
	for (i = 0; i < n; i++)
		test_free(&f[i]);
}

/* ---- folding ---- */

/* For every divisor: folding is a direct build with that number of cells, bit for bit. */
static void
fold_body(const BfKind *kind)
{
	static const uint64_t sizes[] = {1, 2, 12, 60, 97, 128, 360, 5040};
	size_t		s;

	for (s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
	{
		BfHeader	head = test_head(kind, sizes[s], 6);
		TestFilter	filter = build(&head, keys, 2000);
		uint64_t	d;

		for (d = 1; d <= sizes[s]; d++)
		{
			BfHeader	folded_head = head;
			TestFilter	direct;
			TestFilter	folded;
			BfStats		ahead;
			BfStats		after;

			if (sizes[s] % d != 0)
				continue;
			folded_head.payload_len = head.payload_len / d;
			direct = build(&folded_head, keys, 2000);
			folded = test_empty(&folded_head);
			bf_fold(NULL, &folded_head, test_payload(&folded), &filter.view);
			bf_seal(folded.data, folded.len);
			CHECKF(test_same_payload(&folded, &direct), "%s: %" PRIu64 " cells folded by %" PRIu64, kind->name, sizes[s], d);

			/* and stats can tell beforehand */
			bf_stats_folded(NULL, &filter.view, d, &ahead);
			bf_stats(NULL, &folded.view, &after);
			CHECK(ahead.bits == after.bits && ahead.bits_set == after.bits_set && ahead.hashes == after.hashes);
			CHECK(ahead.keys == after.keys && ahead.fpr == after.fpr);
			CHECK(after.bits_set == bits_set(&direct));
			test_free(&folded);
			test_free(&direct);
		}
		test_free(&filter);
	}
}

static void
folds_are_direct_builds(void)
{
	each_kind_of_cells(fold_body);
}

/* Whatever is folded answers for its keys, and meets what was asked if it became smaller; where order tells nothing, it is a direct build. */
static void
fold_any_body(const BfKind *kind)
{
	static const double rates[] = {0.9, 0.3, 0.05, 0.01, 0.0001};
	int			round;

	for (round = 0; round < 60; round++)
	{
		size_t		n = (size_t) exp(test_fraction() * 8);
		TestFilter	filter = test_make(kind, 0.001 + test_fraction() * 0.3, 1 + test_below(4 * n), keys, n);
		BfStats		stats;
		BfStats		after;
		uint64_t	i;
		int			r;

		test_loosen(&filter);
		plausible(&filter, &stats);
		for (r = 0; r < 5; r++)
		{
			TestFilter	folded = test_fold(&filter, rates[r]);
			TestFilter	direct;

			is_valid(&folded);
			holds(&folded, keys, n, "folded");
			plausible(&folded, &after);
			CHECK(folded.view.head.payload_len <= filter.view.head.payload_len);
			CHECKF(after.fpr <= rates[r] || test_same_payload(&folded, &filter), "%s: folded for %g, has %g", kind->name, rates[r],
				after.fpr);
			CHECK(folded.view.head.keys_added == filter.view.head.keys_added && folded.view.head.capacity >= 1);
			for (i = 0; i < 500; i++)
				CHECK(!test_probe(&filter, others[i]) || test_probe(&folded, others[i]));
			if (any_order(kind))
			{
				BfHeader	head = folded.view.head;

				head.keys_added = 0;
				direct = build(&head, keys, n);
				CHECKF(test_same_payload(&folded, &direct), "%s: folded at %g", kind->name, rates[r]);
				test_free(&direct);
			}
			test_free(&folded);
		}
		test_free(&filter);
	}
}

static void
folds_keep_all_keys(void)
{
	each_kind(BF_CAN_ADD | BF_CAN_FOLD, fold_any_body);
}

/*
 * bf_fold_plan: meets fpr if any fold does, and no larger divisor would.  A filter of few keys may have a lower FPR folded by 9 than by 8:
 * there the best need not be found.
 */
static void
fold_plan_is_best(const TestFilter *filter, double fpr, const char *what)
{
	const BfKind *kind = filter->view.head.kind;
	uint64_t	cells = filter->view.head.payload_len / kind->cell_size;
	BfHeader	head;
	BfStats		stats;
	uint64_t	best = 1;
	double		last = 0;
	bool		monotone = true;
	uint64_t	d;
	TestFilter	folded;

	for (d = 1; d <= cells; d++)
		if (cells % d == 0)
		{
			bf_stats_folded(NULL, &filter->view, d, &stats);
			if (stats.fpr <= fpr)
				best = d;
			monotone = monotone && (last <= fpr || stats.fpr > fpr);
			last = stats.fpr;
		}
	if (!CHECK(bf_fold_plan(NULL, &filter->view, fpr, &head) == BF_OK))
		return;
	CHECK(head.payload_len % kind->cell_size == 0 && cells % (head.payload_len / kind->cell_size) == 0);
	CHECKF(head.payload_len / kind->cell_size == cells / best || !monotone,
		   "%s, %s: %" PRIu64 " cells at %g folded to %" PRIu64 " instead of %" PRIu64,
		   kind->name, what, cells, fpr, head.payload_len / kind->cell_size, cells / best);
	CHECK(kind->check(&head) == NULL && head.capacity >= 1);
	folded = test_empty(&head);
	bf_fold(NULL, &head, test_payload(&folded), &filter->view);
	bf_stats(NULL, &folded.view, &stats);
	bf_stats_folded(NULL, &filter->view, 1, &stats);
	if (stats.fpr <= fpr)
	{
		bf_stats(NULL, &folded.view, &stats);
		CHECKF(stats.fpr <= fpr, "%s, %s: folded for %g, has %g", kind->name, what, fpr, stats.fpr);
		CHECK(head.target_fpr == fpr);
	}
	else
		CHECK(head.payload_len == filter->view.head.payload_len);
	test_free(&folded);
}

static void
fold_plan_body(const BfKind *kind)
{
	int			round;

	for (round = 0; round < 150; round++)
	{
		uint64_t	cells = round < 100 ? random_cells() : 840 * (1 + test_below(4));
		BfHeader	head = test_head(kind, cells, 1 + (uint32_t) test_below(8));
		size_t		n = (size_t) exp(test_fraction() * 9.5);
		TestFilter	filter = build(&head, keys, round % 10 == 0 ? 0 : n);

		fold_plan_is_best(&filter, 0.5, "direct");
		fold_plan_is_best(&filter, 0.1, "direct");
		fold_plan_is_best(&filter, 0.01, "direct");
		fold_plan_is_best(&filter, 1e-6, "direct");
		fold_plan_is_best(&filter, exp(-test_fraction() * 10 - 0.001), "direct");
		test_free(&filter);
	}
}

static void
fold_plans(void)
{
	each_kind_of_cells(fold_plan_body);
}

/* A union of unlike sizes holds the smaller one repeated, which is the plainest case for folding it back. */
static void
fold_of_union_body(const BfKind *kind)
{
	BfHeader	large = test_head(kind, 1024, 7);
	BfHeader	small = test_head(kind, 16, 7);
	TestFilter	a = build(&large, keys, 0);
	TestFilter	b = build(&small, keys, 16 * kind->cell_size * 8 / 10);
	TestFilter	both = test_union(&a, &b);

	fold_plan_is_best(&both, 0.02, "repeated");
	test_free(&a);
	test_free(&b);
	test_free(&both);
}

static void
fold_of_a_union(void)
{
	each_kind_of_cells(fold_of_union_body);
}

/* Chains of operations on filters that all hold the same keys: each result holds them. */
static void
chain_body(const BfKind *kind)
{
	uint64_t	lasted = 0;
	int			round;

	for (round = 0; round < 300; round++)
	{
		size_t		n = 1 + test_below(40);
		const uint64_t *common = keys + test_below(MAX_KEYS - 100);
		TestFilter	f = random_filter(kind, common, n, "int8");
		int			step;

		for (step = 0; step < 12; step++)
		{
			TestFilter	g = random_filter(kind, common, n, round % 2 == 0 ? "int8" : "");
			TestFilter	r = {0};

			test_add_some(&g, others + test_below(1000), test_below(50));
			switch (test_below(6))
			{
				case 0:
					if (kind->caps & BF_CAN_UNION)
						test_combine(&f, &g, false, &r);
					break;
				case 1:
					if (kind->caps & BF_CAN_INTERSECT)
						test_combine(&f, &g, true, &r);
					break;
				case 2:
					if (kind->caps & BF_CAN_INTERSECT)
						test_combine(&g, &f, true, &r);
					break;
				case 3:
					if (kind->caps & BF_CAN_FOLD)
						r = test_fold(&f, 0.05 + test_fraction() * 0.9);
					break;
				case 4:
					test_pack(&f);
					break;
				default:
					{
						/* adding, and taking away what was added */
						size_t		added = test_add_some(&f, others + 2000, test_below(30));

						if (kind->caps & BF_CAN_REMOVE && kind->caps & BF_MULTISET)
							CHECK(test_remove(&f, others + 2000, added) == added);
					}
					break;
			}
			test_free(&g);
			if (r.data != NULL)
			{
				test_free(&f);
				f = r;
				lasted++;
			}
			is_valid(&f);
			holds(&f, common, n, "chain");
			if (f.view.head.payload_len > 1 << 20)
				break;
		}
		test_free(&f);
	}
	CHECK(!(kind->caps & (BF_CAN_UNION | BF_CAN_INTERSECT | BF_CAN_FOLD)) || lasted > 100);
}

static void
chains_lose_no_key(void)
{
	each_kind(BF_CAN_ADD, chain_body);
}

/* ---- the rest ---- */

/*
 * Long loops look for interrupts, at least once in 64k cells of what is read or written; not all the time either.  An environment without a
 * callback, and none where no memory is needed, will do.
 */
static void
interrupt_body(const BfKind *kind)
{
	enum {N = 400000};
	Garbage		garbage = {0};
	BfEnv		env = GARBAGE_ENV(&garbage);
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
		EXPECT_CALLS(kind->build(&env, &planned, &source.source, &sink));
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
		EXPECT_CALLS(bf_stats(&env, &filter.view, &stats));
	}
	if (kind->caps & BF_CAN_UNION)
	{
		TestFilter	out;

		CHECK(bf_union_plan(&filter.view, &filter.view, &planned) == BF_OK);
		out = test_zeroed(&planned);
		EXPECT_CALLS(bf_union(&env, &planned, test_payload(&out), &filter.view, &filter.view));
		test_free(&out);
	}
	if (kind->caps & BF_CAN_INTERSECT)
	{
		TestFilter	out;

		CHECK(bf_intersect_plan(&filter.view, &filter.view, &planned) == BF_OK);
		out = test_zeroed(&planned);
		EXPECT_CALLS(bf_intersect(&env, &planned, test_payload(&out), &filter.view, &filter.view));
		test_free(&out);
	}
	if (kind->caps & BF_CAN_FOLD)
	{
		TestFilter	out;

		EXPECT_CALLS(bf_fold_plan(&env, &filter.view, 0.01, &planned));
		out = test_zeroed(&planned);
		EXPECT_CALLS(bf_fold(&env, &planned, test_payload(&out), &filter.view));
		test_free(&out);
	}
	if (kind->pack != NULL)
	{
		TestFilter	packed = test_copy(&filter);
		TestFilter	out;

		test_pack(&packed);
		EXPECT_CALLS(kind->pack_plan(&env, &filter.view, &planned));
		out = test_zeroed(&planned);
		EXPECT_CALLS(kind->pack(&env, &planned, test_payload(&out), &filter.view));
		test_free(&out);
		kind->loosen_plan(&packed.view.head, &planned);
		out = test_zeroed(&planned);
		EXPECT_CALLS(kind->loosen(&env, &planned, test_payload(&out), &packed.view));
		test_free(&out);
		EXPECT_CALLS(bf_stats(&env, &packed.view, &stats));
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

/* Folding far reads many cells for each that it writes; there too. */
static void
far_fold_body(const BfKind *kind)
{
	Garbage		garbage = {0};
	BfEnv		env = GARBAGE_ENV(&garbage);
	BfHeader	head = test_head(kind, 720720, 5);
	BfHeader	one = test_head(kind, 2, 5);
	TestFilter	filter = test_empty(&head);
	TestFilter	out = test_empty(&one);

	bf_fold(&env, &one, test_payload(&out), &filter.view);
	CHECKF(garbage.looks >= 2, "%s: %" PRIu64 " looks in folding %" PRIu64 " cells to 2", kind->name, garbage.looks, UINT64_C(720720));
	test_free(&filter);
	test_free(&out);
}

static void
interrupts_in_far_folds(void)
{
	each_kind_of_cells(far_fold_body);
}

/* The estimates, against what was put in and what is measured. */
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
			uint64_t	probes = 400000;
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

/* ---- blocked ---- */

/* Its SIMD and its scalar probe, on blocks of every density, for every k. */
static void
blocked_twins(void)
{
	const BfKind *kind = bf_kind_by_id(BF_KIND_BLOCKED);
	BfProbe		scalar = bf_blocked_scalar_twin();
	uint32_t	k;
	uint64_t	yes = 0;
	uint64_t	no = 0;

	for (k = 1; k <= BF_MAX_BLOCK_PROBES; k++)
	{
		int			density;

		for (density = 0; density < 10; density++)
		{
			BfHeader	head = test_head(kind, 13, k);
			TestFilter	filter = test_empty(&head);
			BfProbe		probe = kind->prober(&filter.view);
			uint8_t    *payload = test_payload(&filter);
			uint64_t	i;

			/* from a few bits to all but a few */
			for (i = 0; i < head.payload_len * 8; i++)
				if (test_below(10) < (uint64_t) density || test_below(100) < 5)
					payload[i / 8] |= (uint8_t) (1 << (i % 8));
			for (i = 0; i < 2000; i++)
			{
				uint64_t	hash = test_random();

				/* half of them all but one bit there: exactly the bits of a key, less one */
				if (i % 2 == 0)
				{
					test_add(&filter, &hash, 1);
					CHECK(probe(&filter.view, hash) && scalar(&filter.view, hash));
					payload[test_below(head.payload_len)] &= (uint8_t) ~(1 << test_below(8));
				}
				CHECKF(probe(&filter.view, hash) == scalar(&filter.view, hash), "k %u, hash %016" PRIx64, k, hash);
				if (scalar(&filter.view, hash))
					yes++;
				else
					no++;
			}
			test_free(&filter);
		}
	}
	CHECK(yes > 10000 && no > 10000);
}

/* One bit at a time: each of a key's k bits counts, so that neither twin leaves one out. */
static void
blocked_every_bit_counts(void)
{
	const BfKind *kind = bf_kind_by_id(BF_KIND_BLOCKED);
	BfProbe		scalar = bf_blocked_scalar_twin();
	uint32_t	k;

	for (k = 1; k <= BF_MAX_BLOCK_PROBES; k++)
	{
		int			round;

		for (round = 0; round < 100; round++)
		{
			BfHeader	head = test_head(kind, 1, k);
			TestFilter	filter = build(&head, &keys[round], 1);
			uint8_t    *payload = test_payload(&filter);
			unsigned	bit;
			unsigned	set = 0;

			for (bit = 0; bit < BF_BLOCK_BITS; bit++)
			{
				uint8_t		mask = (uint8_t) (1 << (bit % 8));

				if (!(payload[bit / 8] & mask))
					continue;
				set++;
				payload[bit / 8] ^= mask;
				CHECKF(!test_probe(&filter, keys[round]) && !scalar(&filter.view, keys[round]), "k %u bit %u", k, bit);
				payload[bit / 8] ^= mask;
			}
			CHECKF(set >= 1 && set <= k && set + 4 >= k, "k %u: %u bits", k, set);
			test_free(&filter);
		}
	}
}

/*
 * The bits of a key are those that are documented, with whatever instructions add sets them: bit i is x times the i-th power's top 9 bits.
 */
static void
check_blocked_layout(void)
{
	const BfKind *kind = bf_kind_by_id(BF_KIND_BLOCKED);
	uint32_t	k;

	for (k = 1; k <= BF_MAX_BLOCK_PROBES; k++)
	{
		BfHeader	head = test_head(kind, 7, k);
		TestFilter	filter = test_empty(&head);
		uint8_t    *expected = test_malloc(head.payload_len);
		size_t		n;

		memset(expected, 0, head.payload_len);
		for (n = 0; n < 100; n++)
		{
			uint8_t    *block = expected + bf_cell(keys[n], 7) * 64;
			uint32_t	x = (uint32_t) keys[n];
			uint32_t	power = 1;
			uint32_t	i;

			for (i = 0; i < k; i++)
			{
				uint32_t	bit;

				power *= UINT32_C(0x9e3779b9);
				bit = (x * power) >> 23;
				block[bit / 8] |= (uint8_t) (1 << (bit % 8));
			}
			test_add(&filter, &keys[n], 1);
			CHECKF(memcmp(filter.view.payload, expected, head.payload_len) == 0, "k %u, key %zu", k, n);
		}
		test_free(&filter);
		free(expected);
	}
}

static void
blocked_layout(void)
{
	check_blocked_layout();
	bf_wide_off = true;
	check_blocked_layout();
	bf_wide_off = false;
}

int
main(void)
{
	int			i;

	test_seed(4);
	for (i = 0; i < MAX_KEYS; i++)
	{
		keys[i] = test_random();
		others[i] = test_random();
	}
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
	RUN(set_laws);
	RUN(same_size);
	RUN(identity_is_neutral);
	RUN(families);
	RUN(kinds_do_not_mix);
	RUN(folds_are_direct_builds);
	RUN(folds_keep_all_keys);
	RUN(fold_plans);
	RUN(fold_of_a_union);
	RUN(chains_lose_no_key);
	RUN(interrupts_are_looked_for);
	RUN(interrupts_in_far_folds);
	RUN(stats_are_right);
	RUN(blocked_twins);
	RUN(blocked_every_bit_counts);
	RUN(blocked_layout);
	return test_finish();
}
