/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_counting.c
 *	  Tests of counters: removal, counts and saturation.
 *
 *-------------------------------------------------------------------------
 */
#include "kinds.h"
#include "counting.h"

/* ---- the arithmetic of sixteen ---- */

static void
counters_in_words(void)
{
	int			round;

	for (round = 0; round < 100000; round++)
	{
		/* every pair of values, and any company */
		uint64_t	a = round < 256 ? UINT64_C(0x1111111111111111) * (unsigned) (round % 16) : test_random();
		uint64_t	b = round < 256 ? UINT64_C(0x1111111111111111) * (unsigned) (round / 16) : test_random();
		uint64_t	sum = bf_counters_add(a, b);
		uint64_t	min = bf_counters_min(a, b);
		int			i;

		for (i = 0; i < 64; i += 4)
		{
			unsigned	x = a >> i & 15;
			unsigned	y = b >> i & 15;

			CHECKF((sum >> i & 15) == BF_MIN(x + y, 15), "%u + %u is %u", x, y, (unsigned) (sum >> i & 15));
			CHECKF((min >> i & 15) == BF_MIN(x, y), "the lesser of %u and %u is %u", x, y, (unsigned) (min >> i & 15));
		}
	}
}

/* Checks that a key's counters are the documented ones. */
static void
layout(void)
{
	uint32_t	k;

	for (k = 1; k <= BF_MAX_PROBES; k++)
	{
		BfHeader	head = head_of(7, k);
		TestFilter	filter = test_empty(&head);
		unsigned	expected[7 * 16] = {0};
		uint64_t	n;
		uint32_t	i;

		for (n = 0; n < 3; n++)
		{
			for (i = 0; i < k; i++)
			{
				uint64_t	g = hash_of(n) + i * UINT64_C(0x9e3779b97f4a7c15);
				uint64_t	word;

				g = (g ^ (g >> 32)) * UINT64_C(0xd1342543de82ef95);
				g ^= g >> 32;
				word = (uint64_t) (((unsigned __int128) g * 7) >> 64);
				expected[word * 16 + (g >> 26 & 15)]++;
			}
			add(&filter, hash_of(n), 1);
		}
		for (i = 0; i < 7 * 16; i++)
			CHECKF(counter_at(&filter, i) == BF_MIN(expected[i], 15), "k %u, counter %u", k, i);
		test_free(&filter);
	}
}

/* ---- the model ---- */

#define SLOTS		6
#define UNIVERSE	256

typedef struct Slot
{
	TestFilter	filter;
	unsigned	times[UNIVERSE];	/* each number's */
} Slot;

static void
replace(Slot *slot, TestFilter filter)
{
	test_free(&slot->filter);
	slot->filter = filter;
}

static void
start_anew(Slot *slot)
{
	uint64_t	words = test_below(2) == 0 ? UINT64_C(1) << test_below(9) : 1 + test_below(300);
	BfHeader	head = head_of(words, 1 + (uint32_t) test_below(test_below(4) == 0 ? 30 : 8));

	replace(slot, test_empty(&head));
	memset(slot->times, 0, sizeof(slot->times));
}

/* Checks that no key is lost, and that no key is counted too low. */
static void
whole(const Slot *slot, const char *after)
{
	uint64_t	n;

	for (n = 0; n < UNIVERSE; n++)
	{
		uint64_t	counted = count(&slot->filter, hash_of(n));

		CHECKF(slot->times[n] == 0 || test_probe(&slot->filter, hash_of(n)), "after %s: a key is lost", after);
		CHECKF(counted >= slot->times[n], "after %s: %" PRIu64 " counted of %u", after, counted, slot->times[n]);
		CHECK(counted == 0 || test_probe(&slot->filter, hash_of(n)));
	}
}

static void
model(void)
{
	Slot		slots[SLOTS] = {{{0}, {0}}};
	uint64_t	done[8] = {0};
	uint64_t	refused = 0;
	uint64_t	exact = 0;
	int			step;
	int			i;

	for (i = 0; i < SLOTS; i++)
		start_anew(&slots[i]);
	for (step = 0; step < 200000; step++)
	{
		Slot	   *slot = &slots[test_below(SLOTS)];
		uint64_t	dice = test_below(1000);
		uint64_t	n = test_below(UNIVERSE);
		uint64_t	hash = hash_of(n);

		if (dice < 400)
		{
			uint64_t	times = test_below(30) == 0 ? 16 : 1 + test_below(2);

			done[0]++;
			add(&slot->filter, hash, times);
			slot->times[n] += (unsigned) times;
		}
		else if (dice < 800)
		{
			done[1]++;
			if (slot->times[n] > 0)
			{
				CHECK(take(&slot->filter, hash));
				slot->times[n]--;
			}
			else if (count(&slot->filter, hash) == 0)
			{
				uint8_t    *before = test_malloc(slot->filter.len);

				memcpy(before, slot->filter.data, slot->filter.len);
				CHECK(!take(&slot->filter, hash));
				CHECK(memcmp(before, slot->filter.data, slot->filter.len) == 0);
				free(before);
				refused++;
			}
		}
		else if (dice < 940)
		{
			uint64_t	counted = count(&slot->filter, hash);

			done[2]++;
			CHECK(counted >= slot->times[n]);
			exact += counted == slot->times[n];
		}
		else if (dice < 970)
		{
			const Slot *a = &slots[test_below(SLOTS)];
			const Slot *b = &slots[test_below(SLOTS)];
			bool		intersect = dice >= 955;
			TestFilter	both = intersect ? test_intersect(&a->filter, &b->filter) : test_union(&a->filter, &b->filter);
			unsigned	times[UNIVERSE];

			done[intersect ? 4 : 3]++;
			for (i = 0; i < UNIVERSE; i++)
				times[i] = intersect ? BF_MIN(a->times[i], b->times[i]) : a->times[i] + b->times[i];
			replace(slot, both);
			memcpy(slot->times, times, sizeof(times));
			whole(slot, intersect ? "an intersection" : "a union");
		}
		else if (dice < 975)
		{
			done[5]++;
			replace(slot, test_fold(&slot->filter, 0.001 + test_fraction() * 0.7));
			whole(slot, "a fold");
		}
		else if (dice < 990)
		{
			TestFilter	packed = pack(&slot->filter);
			TestFilter	back = loosen(&packed.view);

			done[6]++;
			for (i = 0; i < UNIVERSE; i++)
			{
				CHECK(count(&packed, hash_of((uint64_t) i)) == count(&slot->filter, hash_of((uint64_t) i)));
				CHECK(test_probe(&packed, hash_of((uint64_t) i)) == test_probe(&slot->filter, hash_of((uint64_t) i)));
			}
			bf_seal(&test_env, slot->filter.data, slot->filter.len);
			CHECK(test_same(&back, &slot->filter));
			test_free(&packed);
			replace(slot, back);
		}
		else
		{
			BfStats		stats;

			/* take all out again, down to what is left of saturated counters and unlike sizes */
			done[7]++;
			for (i = 0; i < UNIVERSE; i++)
				while (slot->times[i] > 0)
				{
					CHECK(test_probe(&slot->filter, hash_of((uint64_t) i)));
					CHECK(take(&slot->filter, hash_of((uint64_t) i)));
					slot->times[i]--;
				}
			bf_stats(NULL, &slot->filter.view, &stats);
			if (test_below(3) == 0 || stats.fill > 0.5)
				start_anew(slot);
		}
	}
	for (i = 0; i < SLOTS; i++)
	{
		whole(&slots[i], "all");
		test_free(&slots[i].filter);
	}
	for (i = 0; i < 8; i++)
		CHECK(done[i] > 500);
	printf("%" PRIu64 " adds, %" PRIu64 " removals, %" PRIu64 " refused, %" PRIu64 " counts, %" PRIu64 " exact\n", done[0], done[1],
		refused, done[2], exact);
	CHECK(refused > 1000 && exact > done[2] / 10);
}

/* Checks that removal undoes addition: the bytes are those of the remaining keys, in any order. */
static void
exact_inverses(void)
{
	int			round;

	for (round = 0; round < 500; round++)
	{
		BfHeader	head = head_of(1 + test_below(60), 1 + (uint32_t) test_below(9));
		TestFilter	filter = test_empty(&head);
		TestFilter	direct = test_empty(&head);
		unsigned	times[40] = {0};
		uint64_t	most = head.payload_len / 2;
		uint64_t	n;
		BfStats		stats;
		int			i;

		for (n = 0; n < most; n++)
		{
			i = (int) test_below(40);
			if (times[i] > 0 && test_below(2) == 0)
			{
				CHECK(take(&filter, hash_of((uint64_t) i)));
				times[i]--;
			}
			else if (times[i] < 3)
			{
				add(&filter, hash_of((uint64_t) i), 1);
				times[i]++;
			}
			bf_stats(NULL, &filter.view, &stats);
			if (stats.saturated > 0)
				break;
		}
		if (stats.saturated == 0)
		{
			for (i = 40; i-- > 0;)
				add(&direct, hash_of((uint64_t) i), times[i]);
			bf_seal(&test_env, filter.data, filter.len);
			bf_seal(&test_env, direct.data, direct.len);
			CHECK(test_same(&filter, &direct));
		}
		test_free(&filter);
		test_free(&direct);
	}
}

/*
 * Checks that removing a batch stops at the first key that is not in the filter: the keys before it
 * are removed, and the keys after it are not looked at.
 */
static void
removal_stops(void)
{
	BfHeader	head = test_plan(kind, 0.0001, 1000);
	TestFilter	filter = test_empty(&head);
	TestFilter	expected = test_empty(&head);
	uint64_t	hashes[20];
	uint64_t	i;

	for (i = 0; i < 20; i++)
		hashes[i] = hash_of(i);
	CHECK(kind->remove(&head, test_payload(&filter), hashes, 20) == 0);
	CHECK(kind->remove(&head, test_payload(&filter), hashes, 0) == 0);
	CHECK(memcmp(filter.view.payload, expected.view.payload, head.payload_len) == 0);
	for (i = 0; i < 20; i++)
		if (i != 13)
			add(&filter, hashes[i], 1);
	for (i = 14; i < 20; i++)
		add(&expected, hashes[i], 1);
	CHECK(kind->remove(&head, test_payload(&filter), hashes, 20) == 13);
	CHECK(memcmp(filter.view.payload, expected.view.payload, head.payload_len) == 0);
	/* one that shares some counters with others: all or none */
	for (i = 1000; i < 3000; i++)
	{
		if (test_probe(&filter, hash_of(i)))
			continue;
		CHECK(!take(&filter, hash_of(i)));
		CHECK(memcmp(filter.view.payload, expected.view.payload, head.payload_len) == 0);
	}
	test_free(&filter);
	test_free(&expected);
}

/* ---- saturation ---- */

static void
saturation(void)
{
	BfHeader	head = head_of(3, 7);
	uint64_t	n;
	uint64_t	shared = 0;

	for (n = 1; n < 300; n++)
	{
		TestFilter	filter = test_empty(&head);
		TestFilter	before = test_empty(&head);
		BfStats		stats;
		uint64_t	i;
		bool		shares = false;

		add(&filter, hash_of(n), 1);
		add(&filter, hash_of(0), 20);
		CHECK(count(&filter, hash_of(0)) == UINT64_MAX);
		bf_stats(NULL, &filter.view, &stats);
		CHECK(stats.saturated >= 4 && stats.saturated <= 14);
		for (i = 0; i < 20; i++)
		{
			CHECK(take(&filter, hash_of(0)));
			CHECK(test_probe(&filter, hash_of(n)) && count(&filter, hash_of(n)) >= 1);
		}
		/* A saturated key cannot be known to be gone. */
		CHECK(test_probe(&filter, hash_of(0)) && count(&filter, hash_of(0)) == UINT64_MAX);

		/* what is not saturated goes; what is, stays */
		CHECK(take(&filter, hash_of(n)));
		add(&before, hash_of(0), 20);
		CHECK(memcmp(filter.view.payload, before.view.payload, head.payload_len) == 0 || stats.saturated > 7);
		for (i = 0; i < 48; i++)
			shares |= counter_at(&filter, i) == 15 && counter_at(&before, i) == 15;
		shared += shares;
		test_free(&filter);
		test_free(&before);
	}
	CHECK(shared > 100);
}

/*
 * Checks that a key can be counted up to fourteen times, and that from fifteen additions on its
 * number is unlimited.  Probes of a key that meet in one counter each add to that counter.
 */
static void
counts(void)
{
	uint32_t	k;

	for (k = 1; k <= 40; k++)
	{
		BfHeader	head = head_of(k <= 10 ? 4096 : 1, k);
		TestFilter	filter = test_empty(&head);
		uint64_t	times;

		for (times = 1; times < 15; times++)
		{
			uint64_t	most = 0;
			uint64_t	i;

			add(&filter, hash_of(k), 1);
			for (i = 0; i < head.payload_len * 2; i++)
				most = BF_MAX(most, counter_at(&filter, i));
			if (k <= 10)
				CHECKF(count(&filter, hash_of(k)) == times, "k %u: %" PRIu64 " of %" PRIu64, k, count(&filter, hash_of(k)), times);
			else if (most < 15)
				CHECKF(count(&filter, hash_of(k)) == times, "k %u: %" PRIu64 " of %" PRIu64, k, count(&filter, hash_of(k)), times);
			else
				CHECK(count(&filter, hash_of(k)) >= times);
		}
		add(&filter, hash_of(k), 1);
		CHECK(k > 10 || count(&filter, hash_of(k)) == UINT64_MAX);
		test_free(&filter);
	}
}

/* ---- unions and folds, of counters that saturate too ---- */

static void
sums_in_any_order(void)
{
	int			round;

	for (round = 0; round < 600; round++)
	{
		uint64_t	same = 1 + test_below(100);
		uint32_t	k = 1 + (uint32_t) test_below(8);
		TestFilter	f[4];
		TestFilter	left;
		TestFilter	right;
		TestFilter	half;
		TestFilter	direct;
		BfHeader	head;
		int			i;
		uint64_t	n;

		head = head_of(same, k);
		direct = test_empty(&head);
		for (i = 0; i < 4; i++)
		{
			head = head_of(round % 2 == 0 ? same : 1 + test_below(100), k);
			head.keys_added = test_below(100);
			f[i] = test_empty(&head);
			for (n = test_below(60); n > 0; n--)
			{
				uint64_t	hash = hash_of(test_below(40));
				uint64_t	times = 1 + test_below(4);

				add(&f[i], hash, times);
				add(&direct, hash, times);
			}
		}

		/* ((a + b) + c) + d and (d + b) + (c + a) */
		half = test_union(&f[0], &f[1]);
		right = test_union(&half, &f[2]);
		test_free(&half);
		left = test_union(&right, &f[3]);
		test_free(&right);
		half = test_union(&f[2], &f[0]);
		direct.view.head.keys_added = 0;
		{
			TestFilter	other = test_union(&f[3], &f[1]);

			right = test_union(&other, &half);
			test_free(&other);
		}
		CHECKF(test_same(&left, &right), "sums of unlike sizes depend on the order");
		if (round % 2 == 0)
			CHECKF(memcmp(left.view.payload, direct.view.payload, left.view.head.payload_len) == 0,
				   "a union is not what adding would have given");
		test_free(&half);
		test_free(&left);
		test_free(&right);
		test_free(&direct);
		for (i = 0; i < 4; i++)
			test_free(&f[i]);
	}
}

/* Checks that folding by every divisor equals building a smaller filter, including its counts. */
static void
folds(void)
{
	static const uint64_t sizes[] = {1, 2, 12, 60, 97, 128, 360};
	size_t		s;

	for (s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
	{
		BfHeader	head = head_of(sizes[s], 6);
		TestFilter	filter = test_empty(&head);
		TestFilter	packed;
		uint64_t	d;
		uint64_t	n;

		for (n = 0; n < 300; n++)
			add(&filter, hash_of(n), 1 + n % 5);
		packed = pack(&filter);
		for (d = 1; d <= sizes[s]; d++)
		{
			BfHeader	smaller = head;
			TestFilter	direct;
			BfStats		of_packed;
			BfStats		stats;

			if (sizes[s] % d != 0)
				continue;
			smaller.payload_len /= d;
			direct = test_empty(&smaller);
			for (n = 300; n-- > 0;)
				add(&direct, hash_of(n), 1 + n % 5);
			fold_is(&filter, d, &direct, &stats);
			bf_stats_folded(NULL, &packed.view, d, &of_packed);
			CHECK(memcmp(&of_packed, &stats, sizeof(stats)) == 0);
		}
		test_free(&packed);
		test_free(&filter);
	}
}

int
main(void)
{
	kind = bf_kind_by_id(BF_KIND_COUNTING);
	test_seed(7);
	RUN(counters_in_words);
	RUN(layout);
	RUN(model);
	RUN(exact_inverses);
	RUN(removal_stops);
	RUN(saturation);
	RUN(counts);
	RUN(sums_in_any_order);
	RUN(folds);
	return test_finish();
}
