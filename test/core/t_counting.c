/*-------------------------------------------------------------------------
 *
 * t_counting.c
 *	  What is special to counters: removal, counts, saturation, and the packed form.
 *
 *-------------------------------------------------------------------------
 */
#include "test.h"

static const BfKind *kind;

static inline uint64_t
hash_of(uint64_t number)
{
	return test_mix(number + UINT64_C(0x5851f42d4c957f2d));
}

static BfHeader
head_of(uint64_t words, uint32_t k)
{
	BfHeader	head = test_head(kind, words, k);

	head.family_id = 1;			/* some family, not by name */
	return head;
}

static void
add(TestFilter *filter, uint64_t hash, uint64_t times)
{
	while (times-- > 0)
		CHECK(kind->add(&filter->view.head, test_payload(filter), &hash, 1) == 1);
}

/* Is one removed? */
static bool
take(TestFilter *filter, uint64_t hash)
{
	return kind->remove(&filter->view.head, test_payload(filter), &hash, 1) == 1;
}

static uint64_t
count(const TestFilter *filter, uint64_t hash)
{
	return kind->count(&filter->view, hash);
}

/* The other form of a loose filter, and back. */
static TestFilter
pack(const TestFilter *loose)
{
	BfHeader	head;
	TestFilter	filter;
	const char *reason;

	memset(&head, 0xaa, sizeof(head));
	kind->pack_plan(NULL, &loose->view, &head);
	filter = test_empty(&head);
	kind->pack(NULL, &head, test_payload(&filter), &loose->view);
	bf_seal(filter.data, filter.len);
	CHECK(kind->is_packed(&filter.view.head));
	CHECKF(bf_validate(filter.data, filter.len, &filter.view, &reason) == BF_OK, "%s", reason);
	return filter;
}

static TestFilter
loosen(const BfView *packed)
{
	BfHeader	head;
	TestFilter	filter;

	memset(&head, 0xaa, sizeof(head));
	kind->loosen_plan(&packed->head, &head);
	filter = test_empty(&head);
	kind->loosen(NULL, &head, test_payload(&filter), packed);
	bf_seal(filter.data, filter.len);
	CHECK(!kind->is_packed(&filter.view.head));
	return filter;
}

static const uint8_t *
fetch(void *arg, uint64_t offset, uint64_t len)
{
	const TestFilter *filter = arg;

	CHECK(len > 0 && offset + len <= filter->view.head.payload_len);
	return filter->view.payload + offset;
}

static bool
sliced(TestFilter *filter, uint64_t hash)
{
	return kind->probe_sliced(&filter->view.head, hash, fetch, filter);
}

static unsigned
counter_at(const TestFilter *loose, uint64_t at)
{
	return loose->view.payload[at / 2] >> (at % 2 * 4) & 15;
}

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

/* A key's counters are those that are documented. */
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

/* Nothing is lost, and nothing counted too low. */
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
			bf_seal(slot->filter.data, slot->filter.len);
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

/* What was added and removed leaves no trace: the bytes are those of the keys that remain, in any order. */
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
			bf_seal(filter.data, filter.len);
			bf_seal(direct.data, direct.len);
			CHECK(test_same(&filter, &direct));
		}
		test_free(&filter);
		test_free(&direct);
	}
}

/* A batch stops at the first key that is not there; those before it are gone, those after it are not looked at. */
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
		/* it cannot be known to be gone */
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

/* Fifteen are too many, fourteen are not; probes that meet count for as many. */
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

/* Folding, by every divisor, is building smaller, counts included. */
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
			TestFilter	folded;
			BfStats		ahead;
			BfStats		after;

			if (sizes[s] % d != 0)
				continue;
			smaller.payload_len /= d;
			direct = test_empty(&smaller);
			folded = test_empty(&smaller);
			for (n = 300; n-- > 0;)
				add(&direct, hash_of(n), 1 + n % 5);
			bf_fold(NULL, &smaller, test_payload(&folded), &filter.view);
			CHECKF(memcmp(folded.view.payload, direct.view.payload, smaller.payload_len) == 0, "%" PRIu64 " words by %" PRIu64, sizes[s],
				d);
			bf_stats(NULL, &folded.view, &after);
			bf_stats_folded(NULL, &filter.view, d, &ahead);
			CHECK(memcmp(&ahead, &after, sizeof(ahead)) == 0);
			bf_stats_folded(NULL, &packed.view, d, &ahead);
			CHECK(memcmp(&ahead, &after, sizeof(ahead)) == 0);
			test_free(&direct);
			test_free(&folded);
		}
		test_free(&packed);
		test_free(&filter);
	}
}

/* ---- the packed form ---- */

/* Counters of all kinds of distribution. */
static void
fill(TestFilter *loose, int how)
{
	uint8_t    *p = test_payload(loose);
	uint64_t	n = loose->view.head.payload_len * 2;
	uint64_t	i;

	for (i = 0; i < n; i++)
	{
		unsigned	value = 0;

		switch (how)
		{
			case 0:				/* none */
				break;
			case 1:				/* all the same */
				value = 15;
				break;
			case 2:				/* anything */
				value = (unsigned) test_below(16);
				break;
			case 3:				/* few */
				value = test_below(100) == 0;
				break;
			case 4:				/* as in a filter at its capacity */
			case 5:				/* more so */
				while (value < 15 && test_below(how == 4 ? 3 : 2) == 0)
					value++;
				break;
			case 6:				/* a few that occur often */
				value = test_below(10) == 0 ? 12 : 0;
				break;
			case 7:				/* one */
				value = i == n - 1 ? 15 : 0;
				break;
			default:
				value = 1 + (unsigned) test_below(2);
				break;
		}
		p[i / 2] = (uint8_t) (p[i / 2] | value << i % 2 * 4);
	}
	bf_seal(loose->data, loose->len);
}

static void
there_and_back(void)
{
	static const uint64_t large[] = {127, 128, 129, 255, 256, 257, 1000, 20000, 65537};
	uint64_t	forms[16] = {0};
	unsigned	used = 0;
	uint64_t	size;
	int			how;

	for (how = 0; how < 9; how++)
		for (size = 1; size < 80; size++)
		{
			BfHeader	head = head_of(size <= 70 ? size : large[size - 71], 1 + (uint32_t) test_below(12));
			TestFilter	loose = test_empty(&head);
			TestFilter	packed;
			TestFilter	again;
			TestFilter	back;
			BfStats		a;
			BfStats		b;
			bool		result[50];
			uint64_t	hashes[50];
			int			i;

			fill(&loose, how);
			packed = pack(&loose);
			back = loosen(&packed.view);
			CHECKF(test_same(&loose, &back), "%" PRIu64 " words, %d: not the same again", size, how);
			again = pack(&back);
			CHECK(test_same(&packed, &again));
			/* and without the processor's help */
			memset(test_payload(&again), 0, again.view.head.payload_len);
			bf_counting_portable_pack(&again.view.head, test_payload(&again), &loose.view);
			CHECK(test_same(&packed, &again));
			memset(test_payload(&back), 0xaa, back.view.head.payload_len);
			bf_counting_portable_loosen(test_payload(&back), &packed.view);
			CHECK(test_same(&loose, &back));
			CHECK(packed.len <= loose.len);
			forms[packed.view.head.param[3]]++;

			bf_stats(NULL, &loose.view, &a);
			bf_stats(NULL, &packed.view, &b);
			CHECK(memcmp(&a, &b, sizeof(a)) == 0);
			CHECK(a.bits == head.payload_len * 2 && a.hashes == head.param[0]);
			CHECK((a.saturated == a.bits) == (how == 1));
			for (i = 0; i < 50; i++)
			{
				hashes[i] = test_random();
				CHECK(test_probe(&loose, hashes[i]) == test_probe(&packed, hashes[i]));
				CHECK(test_probe(&loose, hashes[i]) == sliced(&loose, hashes[i]));
				CHECK(test_probe(&loose, hashes[i]) == sliced(&packed, hashes[i]));
				CHECKF(count(&loose, hashes[i]) == count(&packed, hashes[i]), "%" PRIu64 " words, %d: %" PRIu64 " and %" PRIu64, size, how,
					   count(&loose, hashes[i]), count(&packed, hashes[i]));
			}
			kind->probe_many(&packed.view, hashes, 50, result);
			for (i = 0; i < 50; i++)
				CHECK(result[i] == test_probe(&loose, hashes[i]));
			test_free(&loose);
			test_free(&packed);
			test_free(&again);
			test_free(&back);
		}
	for (how = 0; how < 16; how++)
		used += forms[how] > 0;
	CHECKF(used >= 5 && forms[0] > 0 && forms[1] > 0, "only %u numbers of planes were tried", used);
}

/* Everything that opened bytes may be put to; nothing is said about the answers. */
static void
use(const BfView *view)
{
	uint64_t	hashes[40];
	bool		result[40];
	TestFilter	loose;
	BfStats		stats;
	uint64_t	i;

	for (i = 0; i < 40; i++)
	{
		hashes[i] = test_random();
		CHECK(kind->count(view, hashes[i]) == 0 || kind->prober(view) (view, hashes[i]));
	}
	kind->probe_many(view, hashes, 40, result);
	bf_stats(NULL, view, &stats);
	CHECK(stats.bits_set <= stats.bits && stats.fpr >= 0 && stats.fpr <= 1 && isfinite(stats.keys));
	if (!kind->is_packed(&view->head))
		return;
	loose = loosen(view);
	for (i = 0; i < 40; i++)
		CHECK(test_probe(&loose, hashes[i]) == result[i]);
	bf_counting_portable_loosen(test_payload(&loose), view);
	for (i = 0; i < 40; i++)
		CHECK(test_probe(&loose, hashes[i]) == result[i]);
	test_free(&loose);
}

/* Whoever accepts it must find what pack() makes of these counters. */
static void
is_canonical(const BfView *view)
{
	TestFilter	loose = loosen(view);
	BfHeader	head;
	uint8_t    *payload;

	kind->pack_plan(NULL, &loose.view, &head);
	payload = test_malloc(head.payload_len);
	memset(payload, 0, head.payload_len);
	kind->pack(NULL, &head, payload, &loose.view);
	CHECK(memcmp(head.param, view->head.param, sizeof(head.param)) == 0 && head.payload_len == view->head.payload_len);
	CHECK(head.payload_len != view->head.payload_len || memcmp(payload, view->payload, head.payload_len) == 0);
	free(payload);
	test_free(&loose);
}

/* Every single byte of a small value, with every value: refused, or harmless and what would have been written. */
static void
corrupted_bytes(void)
{
	static const struct
	{
		uint64_t	words;
		int			how;
	}			cases[] = {{1, 7}, {3, 2}, {8, 4}, {9, 6}, {12, 5}, {40, 4}, {131, 3}};
	uint64_t	refused = 0;
	uint64_t	accepted = 0;
	size_t		c;

	for (c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
	{
		BfHeader	head = head_of(cases[c].words, 5);
		TestFilter	loose = test_empty(&head);
		TestFilter	packed;
		size_t		at;

		fill(&loose, cases[c].how);
		packed = pack(&loose);
		for (at = BF_OFF_PARAM; at < packed.len; at++)
		{
			/* all values of the first few and the last few bytes, a few of each other */
			unsigned	step = at < 200 || at + 40 > packed.len ? 1 : 29;
			uint8_t		good = packed.data[at];
			unsigned	value;

			for (value = 0; value < 256; value += step)
			{
				BfView		view;
				const char *reason;

				packed.data[at] = (uint8_t) value;
				if (bf_open(packed.data, packed.len, packed.len, &view, &reason) != BF_OK)
				{
					refused++;
					continue;
				}
				use(&view);
				bf_seal(packed.data, packed.len);
				if (bf_validate(packed.data, packed.len, &view, &reason) != BF_OK)
				{
					CHECK(value != good);
					refused++;
					continue;
				}
				accepted++;
				if (kind->is_packed(&view.head))
					is_canonical(&view);
			}
			packed.data[at] = good;
		}
		test_free(&loose);
		test_free(&packed);
	}
	printf("%" PRIu64 " refused, %" PRIu64 " accepted\n", refused, accepted);
	CHECK(refused > 10000 && accepted > 1000);
}

/* Payloads of noise under headers that pass: safe, and hardly ever valid. */
static void
noise(void)
{
	uint64_t	opened = 0;
	int			round;

	for (round = 0; round < 20000; round++)
	{
		BfHeader	head = head_of(1, 1 + (uint32_t) test_below(10));
		TestFilter	filter;
		const char *reason;
		BfView		view;
		uint64_t	i;

		head.param[1] = 1;
		head.param[2] = 1 + (uint32_t) test_below(200);
		head.param[3] = (uint32_t) test_below(17);
		head.payload_len = head.param[3] == 0 ? head.param[2] * 8 : 8 * (1 + test_below(head.param[2]));
		if (kind->check(&head) != NULL)
			continue;
		opened++;
		filter = test_empty(&head);
		for (i = 0; i < head.payload_len; i++)
			if (test_below(4) != 0)
				test_payload(&filter)[i] = (uint8_t) (round % 3 == 0 ? test_random() & test_random() & test_random() : test_random());
		use(&filter.view);
		bf_seal(filter.data, filter.len);
		if (bf_validate(filter.data, filter.len, &view, &reason) == BF_OK)
			is_canonical(&view);
		test_free(&filter);
	}
	CHECK(opened > 5000);
}

/* Headers that no member may be given. */
static void
refused_headers(void)
{
	BfHeader	good = head_of(100, 7);
	BfHeader	packed = good;
	BfHeader	bad;

	packed.param[1] = 1;
	packed.param[2] = 100;
	packed.param[3] = 2;
	packed.payload_len = 304;
	CHECK(kind->check(&good) == NULL && kind->check(&packed) == NULL);

#define REFUSED(from, change) \
	do { \
		bad = from; \
		change; \
		CHECKF(kind->check(&bad) != NULL, #change); \
	} while (0)

	REFUSED(good, bad.param[0] = 0);
	REFUSED(good, bad.param[0] = BF_MAX_PROBES + 1);
	REFUSED(good, bad.payload_len = 0);
	REFUSED(good, bad.payload_len++);
	REFUSED(good, bad.param[2] = 1);
	REFUSED(good, bad.param[3] = 1);
	REFUSED(packed, bad.param[1] = 2);
	REFUSED(packed, bad.param[2] = 0);
	REFUSED(packed, bad.param[2] = 1000);
	REFUSED(packed, bad.param[2] = 38);
	REFUSED(packed, bad.param[2] = UINT32_MAX);
	REFUSED(packed, bad.param[3] = 0);
	REFUSED(packed, bad.param[3] = 16);
	REFUSED(packed, bad.payload_len = 800);
	REFUSED(packed, bad.payload_len = 200);
	REFUSED(packed, bad.payload_len += 4);

	/* a value that would not fit when loosened, at the largest size that does */
	packed.param[2] = (uint32_t) ((BF_MAX_VALUE_SIZE - bf_payload_offset(packed.family_len)) / 8);
	packed.payload_len = (uint64_t) packed.param[2] * 3;
	packed.payload_len -= packed.payload_len % 8;
	CHECK(kind->check(&packed) == NULL);
	REFUSED(packed, bad.param[2]++);
}

/* ---- size and speed ---- */

static void
bits_per_key(void)
{
	static const struct
	{
		double		fpr;
		double		allowed;	/* bits per key, stored */
	}			rows[] = {{0.1, 9}, {0.01, 17}, {0.001, 25.5}};
	uint64_t	n = 1000000;
	size_t		r;

	for (r = 0; r < sizeof(rows) / sizeof(rows[0]); r++)
	{
		BfHeader	head = test_plan(kind, rows[r].fpr, n);
		TestFilter	loose = test_empty(&head);
		TestFilter	packed;
		TestFilter	back;
		BfDesign	design;
		BfStats		stats;
		double		bits;
		double		start;
		double		times[3];
		uint64_t	found = 0;
		uint64_t	counted = 0;
		uint64_t	i;

		for (i = 0; i < n; i++)
			add(&loose, hash_of(i), 1);
		start = test_seconds();
		packed = pack(&loose);
		times[0] = test_seconds() - start;
		start = test_seconds();
		back = loosen(&packed.view);
		times[1] = test_seconds() - start;
		CHECK(memcmp(back.view.payload, loose.view.payload, head.payload_len) == 0);
		bits = (double) packed.len * 8 / (double) n;
		start = test_seconds();
		for (i = 0; i < 100000; i++)
			counted += count(&packed, hash_of(i));
		times[2] = test_seconds() - start;
		for (i = n; i < 2 * n; i++)
			found += test_probe(&packed, hash_of(i));
		bf_stats(NULL, &packed.view, &stats);
		printf("%g: %.2f bits per key stored, %.2f loose, %u planes; per 16 counters %.1f ns to pack, %.1f to loosen; %.0f ns a count; "
			   "counted %.3f times too high; FPR %.4g\n", rows[r].fpr, bits, (double) loose.len * 8 / (double) n,
			   packed.view.head.param[3], times[0] * 1e9 / ((double) head.payload_len / 8), times[1] * 1e9 / ((double) head.payload_len / 8),
			   times[2] * 1e4, (double) counted / 100000 - 1, (double) found / (double) n);
		CHECKF(bits <= rows[r].allowed, "%g bits per key at %g", bits, rows[r].fpr);
		CHECK(bf_design(kind, rows[r].fpr, &design) == BF_OK);
		CHECKF(fabs(bits * 1000 / design.stored_millibits - 1) < 0.01, "%g bits per key, %u thousandths announced", bits,
			   design.stored_millibits);
		CHECK(design.millibits > 2 * design.stored_millibits);
		CHECK(counted >= 100000 && counted < 102000 + 100000 * rows[r].fpr * 2);
		CHECK((double) found <= (double) n * rows[r].fpr + 5 * sqrt((double) n * rows[r].fpr));
		CHECK(fabs(stats.keys / (double) n - 1) < 0.01 && stats.saturated == 0);
		test_free(&loose);
		test_free(&packed);
		test_free(&back);
	}
}

static void
count_interrupts(void *arg)
{
	(*(uint64_t *) arg)++;
}

static void
interrupts(void)
{
	uint64_t	calls = 0;
	BfEnv		env = {.check_interrupts = count_interrupts, .arg = &calls};
	BfHeader	head = head_of(720720, 7);
	uint64_t	least = 720720 / 65536;
	TestFilter	loose = test_empty(&head);
	TestFilter	packed = pack(&loose);
	BfHeader	plan;
	BfStats		stats;

	/* not through env only: NULL was fine above */
	kind->pack_plan(&env, &loose.view, &plan);
	CHECKF(calls >= least && calls < 40 * least, "%" PRIu64 " calls", calls);
	calls = 0;
	memset(test_payload(&packed), 0, plan.payload_len);
	kind->pack(&env, &plan, test_payload(&packed), &loose.view);
	CHECKF(calls >= least && calls < 40 * least, "%" PRIu64 " calls", calls);
	calls = 0;
	kind->loosen(&env, &head, test_payload(&loose), &packed.view);
	CHECKF(calls >= least && calls < 40 * least, "%" PRIu64 " calls", calls);
	calls = 0;
	bf_stats(&env, &packed.view, &stats);
	CHECKF(calls >= least && calls < 40 * least, "%" PRIu64 " calls", calls);
	test_free(&loose);
	test_free(&packed);
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
	RUN(there_and_back);
	RUN(corrupted_bytes);
	RUN(noise);
	RUN(refused_headers);
	RUN(bits_per_key);
	RUN(interrupts);
	return test_finish();
}
