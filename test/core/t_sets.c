/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_sets.c
 *	  Unions, intersections and folds, for every kind that has them.
 *
 *-------------------------------------------------------------------------
 */
#include "kinds.h"

/* ---- union and intersection ---- */

static const uint64_t primes[] = {1, 2, 3, 5, 7, 11, 13, 31, 61, 127, 251};

/*
 * Returns a random number of cells: a prime, a power of two, a number with many divisors, or any
 * number.
 */
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

/*
 * Makes a filter with hashes[0 .. n - 1] of a random size, and, for kinds of cells, with a random
 * number of probes.
 */
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

/*
 * Combines two filters in both orders, and checks that the results are equal.  Returns false if the
 * two cannot be combined.
 */
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

/*
 * Checks every combination of three filters by union and intersection; a kind may have only one of
 * the two.
 */
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
	int			rounds = (test_has_cells(kind) ? 1500 : 500) / (test_in_part() ? 3 : 1);
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

/*
 * Tests three filters of one plan: a union is the filter of both sets of keys, and, in kinds of
 * bits, an intersection is that of the bits.
 */
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

/* Checks which families combine, and the family of the result. */
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

/*
 * Checks that filters of different kinds do not combine, and that a kind reports what it cannot do.
 */
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

/*
 * Checks for every divisor that folding equals a direct build with that number of cells, bit for
 * bit.
 */
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
			BfHeader	smaller = head;
			TestFilter	direct;
			BfStats		stats;
			uint64_t	set;

			if (sizes[s] % d != 0)
				continue;
			smaller.payload_len /= d;
			direct = build(&smaller, keys, 2000);
			set = bits_set(&direct);
			fold_is(&filter, d, &direct, &stats);
			CHECK(stats.bits_set == set);
		}
		test_free(&filter);
	}
}

static void
folds_are_direct_builds(void)
{
	each_kind_of_cells(fold_body);
}

/*
 * Checks that a folded filter still has its keys, and meets the requested rate if it became
 * smaller.  If the order of keys does not matter, the folded filter equals a direct build.
 */
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
 * Checks that bf_fold_plan() meets fpr if any fold does, and that no larger divisor would.  A
 * filter of few keys may have a lower rate when it is folded by 9 than by 8; in such a case the
 * best divisor need not be found.
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

	for (round = 0; round < (test_is_everyday() ? 50 : 150); round++)
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

/*
 * Tests folding a union of different sizes, which repeats the smaller filter: the plainest case for
 * folding it back.
 */
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

/*
 * Tests chains of operations on filters that all hold the same keys: each result holds these keys.
 */
static void
chain_body(const BfKind *kind)
{
	uint64_t	lasted = 0;
	int			round;

	for (round = 0; round < (test_is_everyday() ? 100 : 300); round++)
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

int
main(void)
{
	make_keys(4);
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
	return test_finish();
}
