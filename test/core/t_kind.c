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

static uint32_t
max_probes(const BfKind *kind)
{
	BfHeader	head = test_head(kind, 4, 1);

	while (kind->check(&head) == NULL)
		head.param[0]++;
	return head.param[0] - 1;
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
	CHECK(bf_kind_by_id(BF_KIND_COUNTING) == NULL);
	CHECK(bf_kind_by_id(256 + BF_KIND_STANDARD) == NULL);
	CHECK(bf_kind_by_name("") == NULL);
	CHECK(bf_kind_by_name("Blocked") == NULL);
}

/* bf_kind_check itself can fail. */
static void
broken_tables(void)
{
	const BfKind *good = bf_kind_by_id(BF_KIND_BLOCKED);
	BfKind		bad;

#define BROKEN(change) \
	do { \
		bad = *good; \
		change; \
		CHECK(bf_kind_check(&bad) != NULL); \
	} while (0)

	CHECK(bf_kind_check(good) == NULL);
	BROKEN(bad.name = NULL);
	BROKEN(bad.check = NULL);
	BROKEN(bad.prober = NULL);
	BROKEN(bad.probe_many = NULL);
	BROKEN(bad.stats = NULL);
	BROKEN(bad.design = NULL);
	BROKEN(bad.size = NULL);
	BROKEN(bad.add = NULL);
	BROKEN(bad.unite = NULL);
	BROKEN(bad.intersect = NULL);
	BROKEN(bad.combined_head = NULL);
	BROKEN(bad.fold = NULL);
	BROKEN(bad.cell_size = 12);
	BROKEN(bad.caps &= ~(uint32_t) BF_CAN_ADD);
	BROKEN(bad.caps &= ~(uint32_t) BF_CAN_FOLD);
	BROKEN(bad.caps |= BF_INTERNAL);
}

/* ---- adding and probing ---- */

static void
empty_body(const BfKind *kind)
{
	static const uint64_t sizes[] = {1, 2, 10, 1000, 100000};
	size_t		s;

	for (s = 0; s < 5; s++)
	{
		BfHeader	head = test_plan(kind, 0.01, sizes[s]);
		TestFilter	filter = test_empty(&head);
		bool		result[1000];
		BfStats		stats;
		int			i;

		memset(result, 1, sizeof(result));
		kind->probe_many(&filter.view, others, 1000, result);
		for (i = 0; i < 1000; i++)
			CHECK(!result[i] && !test_probe(&filter, others[i]));
		CHECK(!test_probe(&filter, 0) && !test_probe(&filter, UINT64_MAX));
		bf_stats(NULL, &filter.view, &stats);
		CHECK(stats.bits == head.payload_len * 8 && stats.bits_set == 0 && stats.keys == 0 && stats.fpr == 0);
		CHECK(stats.hashes == head.param[0]);
		kind->add(&filter.view.head, test_payload(&filter), keys, 0);
		CHECK(bits_set(&filter) == 0);
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
	static const uint64_t corners[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63, (UINT64_C(1) << 63) - 1,
		UINT32_MAX, UINT64_C(1) << 32};
	int			r;

	for (r = 0; r < 4; r++)
	{
		size_t		n;

		for (n = 1; n <= MAX_KEYS; n = n * 3 + 1)
		{
			BfHeader	head = test_plan(kind, rates[r], n);
			TestFilter	whole = build(&head, keys, n);
			TestFilter	single = test_empty(&head);
			static bool result[MAX_KEYS];
			uint64_t	before;
			size_t		i;
			size_t		found = 0;

			holds(&whole, keys, n, "added");

			/* one at a time, backwards and twice: the same filter */
			for (i = n; i > 0; i--)
				test_add(&single, &keys[i - 1], 1);
			before = bits_set(&single);
			test_add(&single, keys, n);
			CHECK(bits_set(&single) == before);
			bf_seal(single.data, single.len);
			CHECKF(test_same(&whole, &single), "%s: %zu keys, one by one and together", kind->name, n);

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
			CHECKF(found <= 2000 * rates[r] + 5 * sqrt(2000 * rates[r]) + 1, "%s: %zu of 2000 found at %g", kind->name,
				found, rates[r]);

			test_add(&whole, corners, 8);
			holds(&whole, corners, 8, "corners");
			holds(&whole, keys, n, "corners added");
			test_free(&whole);
			test_free(&single);
		}
	}
}

static void
added_keys_are_found(void)
{
	each_kind(BF_CAN_ADD, added_body);
}

/* Far more keys than planned: the filter fills, and still has every key. */
static void
overfull_body(const BfKind *kind)
{
	BfHeader	head = test_plan(kind, 0.01, 3);
	TestFilter	filter = build(&head, keys, MAX_KEYS);
	BfStats		stats;

	holds(&filter, keys, MAX_KEYS, "overfull");
	bf_stats(NULL, &filter.view, &stats);
	CHECK(stats.bits_set == stats.bits && stats.fpr == 1 && isfinite(stats.keys) && stats.keys > 3);
	test_free(&filter);
}

static void
overfull(void)
{
	each_kind(BF_CAN_ADD, overfull_body);
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

/* A filter of a random size and number of probes with hashes[0 .. n - 1]. */
static TestFilter
random_filter(const BfKind *kind, const uint64_t *hashes, size_t n, const char *family)
{
	BfHeader	head = test_head(kind, random_cells(), 1 + (uint32_t) test_below(max_probes(kind)));

	head.capacity = 1 + test_below(1000);
	head.target_fpr = 0.001 + test_fraction() / 2;
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

/* Both ways round; checks commutativity. */
static TestFilter
either(const TestFilter *a, const TestFilter *b, bool intersect)
{
	TestFilter	one = intersect ? test_intersect(a, b) : test_union(a, b);
	TestFilter	other = intersect ? test_intersect(b, a) : test_union(b, a);

	CHECKF(test_same(&one, &other), "%s: %s of %" PRIu64 " and %" PRIu64 " bytes is not commutative",
		   a->view.head.kind->name,
		   intersect ? "intersection" : "union", a->view.head.payload_len, b->view.head.payload_len);
	test_free(&other);
	return one;
}

static void
laws_body(const BfKind *kind)
{
	int			round;

	for (round = 0; round < 1500; round++)
	{
		size_t		n = test_below(60);
		const uint64_t *from = keys + test_below(MAX_KEYS - 400);
		const char *family = round % 3 == 0 ? "" : "int8";
		TestFilter	a = random_filter(kind, from, n, family);
		TestFilter	b = random_filter(kind, from + 50, n, "int8");
		TestFilter	c = random_filter(kind, from + 100, 2 * n, family);
		TestFilter	same = test_union(&a, &a);
		TestFilter	ab;
		TestFilter	bc;
		TestFilter	left;
		TestFilter	right;
		size_t		i;

		/* now and then of one size, which has a way of its own */
		if (round % 4 == 0)
		{
			BfHeader	head = b.view.head;

			head.payload_len = a.view.head.payload_len;
			head.family = "int8";
			test_free(&c);
			c = build(&head, from + 100, 2 * n);
		}

		CHECKF(test_same(&a, &same), "%s: f | f is not f, %" PRIu64 " bytes", kind->name, a.view.head.payload_len);
		test_free(&same);
		same = test_intersect(&a, &a);
		CHECKF(test_same(&a, &same), "%s: f & f is not f, %" PRIu64 " bytes", kind->name, a.view.head.payload_len);
		test_free(&same);

		ab = either(&a, &b, false);
		bc = either(&b, &c, false);
		left = either(&ab, &c, false);
		right = either(&a, &bc, false);
		CHECKF(test_same(&left, &right), "%s: union of %" PRIu64 ", %" PRIu64 " and %" PRIu64 " bytes is not associative",
			   kind->name,
			   a.view.head.payload_len, b.view.head.payload_len, c.view.head.payload_len);
		holds(&ab, from, n, "a in a | b");
		holds(&ab, from + 50, n, "b in a | b");
		holds(&left, from, n, "a in a | b | c");
		holds(&left, from + 50, n, "b in a | b | c");
		holds(&left, from + 100, 2 * n, "c in a | b | c");
		for (i = 0; i < 100; i++)
			CHECK(!test_probe(&a, others[i]) || test_probe(&ab, others[i]));

		/* the header says what took part */
		CHECK(ab.view.head.param[0] == BF_MIN(a.view.head.param[0], b.view.head.param[0]));
		CHECK(ab.view.head.capacity == BF_MAX(a.view.head.capacity, b.view.head.capacity));
		CHECK(ab.view.head.keys_added == BF_MAX(a.view.head.keys_added, b.view.head.keys_added));
		CHECK(kind->check(&ab.view.head) == NULL);
		test_free(&right);
		test_free(&left);
		test_free(&bc);
		test_free(&ab);

		/* the common keys: the last 50 of a's first 100, where there are so many */
		ab = either(&a, &b, true);
		if (n > 50)
			holds(&ab, from + 50, n - 50, "a & b");
		CHECK(ab.view.head.keys_added == BF_MIN(a.view.head.keys_added, b.view.head.keys_added));
		for (i = 0; i < 100; i++)
			CHECK(!(test_probe(&a, others[i]) && test_probe(&b, others[i])) || test_probe(&ab, others[i]));
		test_free(&ab);

		/* among filters of one size the intersection is no larger than either, and associative */
		if (round % 4 == 0)
		{
			TestFilter	cac;

			ab = either(&c, &c, true);
			CHECK(test_same(&ab, &c));
			test_free(&ab);
			if (a.view.head.param[0] == c.view.head.param[0])
			{
				ab = either(&a, &c, true);
				for (i = 0; i < ab.view.head.payload_len; i++)
					CHECK(ab.view.payload[i] == (a.view.payload[i] & c.view.payload[i]));
				test_free(&ab);
			}
			ab = either(&a, &c, true);
			cac = either(&ab, &c, true);
			CHECKF(test_same(&ab, &cac), "%s: (a & c) & c is not a & c", kind->name);
			test_free(&cac);
			test_free(&ab);
		}
		test_free(&a);
		test_free(&b);
		test_free(&c);
	}
}

static void
set_laws(void)
{
	each_kind(BF_CAN_ADD | BF_CAN_UNION | BF_CAN_INTERSECT, laws_body);
}

/* Three filters of one size: union and intersection are the bytes' own, k alike. */
static void
same_size_body(const BfKind *kind)
{
	uint64_t	cells;

	for (cells = 1; cells < 70; cells++)
	{
		BfHeader	head = test_head(kind, cells, 5);
		TestFilter	f[3];
		TestFilter	both;
		TestFilter	direct;
		TestFilter	one;
		TestFilter	other;
		size_t		i;

		for (i = 0; i < 3; i++)
			f[i] = build(&head, keys + 100 * i, 200);
		both = test_union(&f[0], &f[1]);
		direct = build(&head, keys, 300);
		CHECKF(test_same(&both, &direct), "%s: %" PRIu64 " cells: union differs from a direct build", kind->name, cells);
		test_free(&both);
		both = test_intersect(&f[0], &f[1]);
		for (i = 0; i < head.payload_len; i++)
			CHECK(both.view.payload[i] == (f[0].view.payload[i] & f[1].view.payload[i]));
		one = test_intersect(&both, &f[2]);
		test_free(&both);
		both = test_intersect(&f[1], &f[2]);
		other = test_intersect(&f[0], &both);
		CHECK(test_same(&one, &other));
		test_free(&both);
		test_free(&one);
		test_free(&other);
		test_free(&direct);
		for (i = 0; i < 3; i++)
			test_free(&f[i]);
	}
}

static void
same_size(void)
{
	each_kind(BF_CAN_ADD | BF_CAN_UNION | BF_CAN_INTERSECT, same_size_body);
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

	/* with another hash the identity's family is none of the filter's: t_parquet.c */
	if (kind->hash_id != BF_HASH_XXH3)
	{
		test_free(&none);
		test_free(&named);
		return;
	}
	for (round = 0; round < 50; round++)
	{
		TestFilter	f = random_filter(kind, keys, 50, "int8");
		TestFilter	e = random_filter(kind, keys, 0, "");
		TestFilter	r = either(&f, &none, false);

		CHECKF(test_same(&r, &f), "%s: f | identity is not f", kind->name);
		test_free(&r);
		r = either(&f, &named, false);
		/* the identity may know the name that f lacks */
		CHECK(r.view.head.payload_len == f.view.head.payload_len && memcmp(r.view.payload, f.view.payload,
			f.view.head.payload_len) == 0);
		CHECK(r.view.head.family_len == 4 && memcmp(r.view.head.family, "int8", 4) == 0);
		CHECK(r.view.head.keys_added == f.view.head.keys_added && r.view.head.capacity == f.view.head.capacity);
		test_free(&r);
		/* an empty filter takes the family */
		r = either(&e, &named, false);
		CHECK(r.view.head.family_id == named.view.head.family_id && r.view.head.family_len == 4);
		CHECK(r.view.head.kind == kind);
		test_free(&r);
		/* with nothing in common */
		r = either(&f, &none, true);
		CHECK(r.view.head.kind == none.view.head.kind && r.view.head.payload_len == 0 && r.view.head.keys_added == 0);
		CHECK(r.view.head.family_id == f.view.head.family_id && !test_probe(&r, keys[0]));
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
	TestFilter	r = either(&none, &named, false);

	each_kind(BF_CAN_ADD | BF_CAN_UNION | BF_CAN_INTERSECT, identity_body);
	CHECK(test_same(&r, &named));
	test_free(&r);
	r = either(&none, &named, true);
	CHECK(test_same(&r, &named));
	test_free(&r);
	r = either(&none, &none, false);
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
		status = i < 25 ? bf_union_plan(&f[0].view, &f[1].view, &out) : bf_intersect_plan(&f[0].view, &f[1].view, &out);
		unlike = head[0].family_id != 0 && head[1].family_id != 0 && head[0].family_id != head[1].family_id;
		CHECKF(status == (unlike ? BF_FAMILY_MISMATCH : BF_OK), "%d and %d: %d", i % 5, i / 5 % 5, status);
		if (status == BF_OK)
		{
			CHECK(out.family_id == (head[0].family_id != 0 ? head[0].family_id : head[1].family_id));
			CHECK(out.family_len == BF_MAX(head[0].family_len, head[1].family_len));
			CHECK(memcmp(out.family, i % 5 == 3 || i / 5 % 5 == 3 ? "text" : "int8", out.family_len) == 0);
		}
		test_free(&f[0]);
		test_free(&f[1]);
	}
}

static void
families(void)
{
	each_kind(BF_CAN_UNION | BF_CAN_INTERSECT, families_body);
}

/* Filters of different kinds do not combine, internal ones do not fold or unite. */
static void
kinds_do_not_mix(void)
{
	TestFilter	f[4];
	BfHeader	head;
	int			i;
	int			j;

	head = test_plan(bf_kind_by_id(BF_KIND_STANDARD), 0.01, 10);
	f[0] = test_empty(&head);
	head = test_plan(bf_kind_by_id(BF_KIND_BLOCKED), 0.01, 10);
	f[1] = test_empty(&head);
	memset(&head, 0, sizeof(head));
	head.kind = bf_kind_by_id(BF_KIND_PARTIAL);
	head.hash_id = BF_HASH_XXH3;
	head.param[0] = BF_KIND_BLOCKED;
	head.target_fpr = 0.01;
	f[2] = test_empty(&head);
	f[3] = identity_of("");

	for (i = 0; i < 3; i++)
		for (j = 0; j < 3; j++)
			if (i != j)
			{
				BfStatus	status = bf_union_plan(&f[i].view, &f[j].view, &head);

				CHECKF(status == BF_KIND_MISMATCH || (status == BF_UNSUPPORTED && (i == 2 || j == 2)), "%d %d: %d", i, j,
					status);
				status = bf_intersect_plan(&f[i].view, &f[j].view, &head);
				CHECKF(status == BF_KIND_MISMATCH || (status == BF_UNSUPPORTED && (i == 2 || j == 2)), "%d %d: %d", i, j,
					status);
			}
	CHECK(bf_union_plan(&f[2].view, &f[2].view, &head) == BF_UNSUPPORTED);
	CHECK(bf_intersect_plan(&f[2].view, &f[2].view, &head) == BF_UNSUPPORTED);
	CHECK(bf_fold_plan(NULL, &f[2].view, 0.01, &head) == BF_UNSUPPORTED);
	for (i = 0; i < 4; i++)
	{
		CHECK(bf_fold_plan(NULL, &f[i].view, 0, &head) == BF_FPR_OUT_OF_RANGE);
		CHECK(bf_fold_plan(NULL, &f[i].view, 1, &head) == BF_FPR_OUT_OF_RANGE);
		CHECK(bf_fold_plan(NULL, &f[i].view, NAN, &head) == BF_FPR_OUT_OF_RANGE);
		test_free(&f[i]);
	}
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
			CHECKF(test_same(&folded, &direct), "%s: %" PRIu64 " cells folded by %" PRIu64, kind->name, sizes[s], d);

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
	each_kind(BF_CAN_ADD | BF_CAN_FOLD, fold_body);
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
	each_kind(BF_CAN_ADD | BF_CAN_FOLD, fold_plan_body);
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
	each_kind(BF_CAN_ADD | BF_CAN_FOLD | BF_CAN_UNION, fold_of_union_body);
}

/* Chains of operations on filters that all hold the same keys: each result holds them. */
static void
chain_body(const BfKind *kind)
{
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
			TestFilter	r;
			const char *reason;
			BfView		view;

			test_add(&g, others + test_below(1000), test_below(50));
			switch (test_below(4))
			{
				case 0:
					r = test_union(&f, &g);
					break;
				case 1:
					r = test_intersect(&f, &g);
					break;
				case 2:
					r = test_intersect(&g, &f);
					break;
				default:
					r = test_fold(&f, 0.05 + test_fraction() * 0.9);
					break;
			}
			CHECKF(bf_validate(r.data, r.len, &view, &reason) == BF_OK, "%s", reason);
			holds(&r, common, n, "chain");
			test_free(&f);
			test_free(&g);
			f = r;
			if (f.view.head.payload_len > 1 << 20)
				break;
		}
		test_free(&f);
	}
}

static void
chains_lose_no_key(void)
{
	each_kind(BF_CAN_ADD | BF_CAN_UNION | BF_CAN_INTERSECT | BF_CAN_FOLD, chain_body);
}

/* ---- the rest ---- */

static void
count_interrupts(void *arg)
{
	(*(uint64_t *) arg)++;
}

/* Long loops look for interrupts, at least once in a MB of cells of 8 bytes. */
static void
interrupt_body(const BfKind *kind)
{
	uint64_t	calls = 0;
	BfEnv		env = {.check_interrupts = count_interrupts, .arg = &calls};
	BfHeader	head = test_head(kind, 720720, 5);
	TestFilter	filter = test_empty(&head);
	TestFilter	out = test_empty(&head);
	uint64_t	least = 720720 / 65536;
	BfHeader	planned;
	BfStats		stats;

	test_add(&filter, keys, 100);
#define EXPECT_CALLS(call) \
	do { \
		calls = 0; \
		call; \
		CHECKF(calls >= least && calls <= 40 * least, "%s: " #call ": %" PRIu64 " calls", kind->name, calls); \
	} while (0)

	EXPECT_CALLS(bf_stats(&env, &filter.view, &stats));
	EXPECT_CALLS(bf_union(&env, &head, test_payload(&out), &filter.view, &filter.view));
	EXPECT_CALLS(bf_intersect(&env, &head, test_payload(&out), &filter.view, &filter.view));
	EXPECT_CALLS(bf_fold(&env, &head, test_payload(&out), &filter.view));
	EXPECT_CALLS(bf_fold_plan(&env, &filter.view, 0.01, &planned));

	/* no callback, no environment */
	env.check_interrupts = NULL;
	bf_stats(&env, &filter.view, &stats);
	bf_stats(NULL, &filter.view, &stats);
	test_free(&filter);
	test_free(&out);
}

static void
interrupts_are_looked_for(void)
{
	each_kind(BF_CAN_ADD | BF_CAN_UNION | BF_CAN_INTERSECT | BF_CAN_FOLD, interrupt_body);
}

/* Folding far reads many cells for each that it writes; there too. */
static void
far_fold_body(const BfKind *kind)
{
	uint64_t	calls = 0;
	BfEnv		env = {.check_interrupts = count_interrupts, .arg = &calls};
	BfHeader	head = test_head(kind, 720720, 5);
	BfHeader	one = test_head(kind, 2, 5);
	TestFilter	filter = test_empty(&head);
	TestFilter	out = test_empty(&one);

	bf_fold(&env, &one, test_payload(&out), &filter.view);
	CHECKF(calls >= 2, "%s: %" PRIu64 " calls in folding %" PRIu64 " cells to 2", kind->name, calls, UINT64_C(720720));
	test_free(&filter);
	test_free(&out);
}

static void
interrupts_in_far_folds(void)
{
	each_kind(BF_CAN_ADD | BF_CAN_FOLD, far_fold_body);
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
			BfHeader	head = test_plan(kind, rates[r], 6000);
			size_t		n = (size_t) (6000 * loads[l]);
			TestFilter	filter = build(&head, keys, n);
			uint64_t	hits = 0;
			uint64_t	probes = 400000;
			BfStats		stats;
			uint64_t	i;
			double		measured;

			bf_stats(NULL, &filter.view, &stats);
			CHECK(stats.bits == head.payload_len * 8);
			CHECK(stats.bits_set == bits_set(&filter));
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
	each_kind(BF_CAN_ADD, stats_body);
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
 * The bits of a key are those that are documented, however many at a time add sets: bit i is x times the i-th power's top
 * 9 bits.
 */
static void
blocked_layout(void)
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
	RUN(set_laws);
	RUN(same_size);
	RUN(identity_is_neutral);
	RUN(families);
	RUN(kinds_do_not_mix);
	RUN(folds_are_direct_builds);
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
