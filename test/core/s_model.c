/*-------------------------------------------------------------------------
 *
 * s_model.c
 *	  Millions of random operations on filters of every kind, each beside the exact set of what it must contain.
 *
 * A slot is a filter and a set, of numbers below UNIVERSE.  Whatever happens to the filter happens to the set; a number in
 * the set that the filter denies is a false negative, and none is forgiven.  False positives are counted with hashes from
 * outside, for which bf_stats tells the probability exactly given the bits: over the run their number must be what the sum
 * of these says.
 *
 *-------------------------------------------------------------------------
 */
#include "test.h"

#define OPERATIONS	12000000
#define SLOTS		10
#define UNIVERSE	2048
#define WORDS		(UNIVERSE / 64)
#define OUTSIDE		8

typedef struct Slot
{
	TestFilter	filter;
	uint64_t	set[WORDS];
	double		fpr;			/* negative: not known since the last change */
} Slot;

static Slot slots[SLOTS];
static uint64_t false_negatives;
static uint64_t positives;
static double expected;
static double variance;

static inline uint64_t
hash_of(uint64_t number)
{
	return test_mix(number + UINT64_C(0x1234567890abcdef));
}

static inline bool
in_set(const Slot *slot, uint64_t number)
{
	return slot->set[number / 64] >> (number % 64) & 1;
}

static void
denied(const Slot *slot, const char *after, uint64_t number)
{
	false_negatives++;
	CHECKF(false, "%s: %" PRIu64 " is lost, seen by %s, payload %" PRIu64 ", k %u", slot->filter.view.head.kind->name,
		   number, after,
		   slot->filter.view.head.payload_len, slot->filter.view.head.param[0]);
}

/* Puts a new filter in place of the old. */
static void
replace(Slot *slot, TestFilter filter)
{
	test_free(&slot->filter);
	slot->filter = filter;
	slot->fpr = -1;
}

static void
start_anew(Slot *slot, const BfKind *kind)
{
	/* from one cell to some hundred, from a design or by chance */
	BfHeader	head = test_plan(kind, 0.001 + test_fraction() * test_fraction() * 0.5, 1 + test_below(1500));

	if (test_below(2) == 0)
		head = test_head(kind, 1 + test_below(test_below(2) == 0 ? 8 : 40), 1 + (uint32_t) test_below(10));
	/* the family comes with the first key in half of them: here it may as well be there */
	test_set_family(&head, test_below(2) == 0 ? "int8" : "");
	replace(slot, test_empty(&head));
	memset(slot->set, 0, sizeof(slot->set));
}

/* Written, read back at another address, validated: the same. */
static void
reopen(Slot *slot)
{
	TestFilter	copy;
	const char *reason;
	BfView		view;

	bf_seal(slot->filter.data, slot->filter.len);
	copy.len = slot->filter.len;
	copy.data = test_malloc(copy.len);
	memcpy(copy.data, slot->filter.data, copy.len);
	CHECKF(bf_validate(copy.data, copy.len, &view, &reason) == BF_OK, "a good value is refused: %s", reason);
	copy.view = view;
	replace(slot, copy);
}

/* A full filter tests nothing. */
static bool
is_useful(Slot *slot)
{
	BfStats		stats;

	if (slot->fpr < 0)
	{
		bf_stats(NULL, &slot->filter.view, &stats);
		slot->fpr = stats.fpr;
	}
	return slot->fpr < 0.9;
}

static void
whole_set(const Slot *slot, const char *after)
{
	uint64_t	hashes[UNIVERSE];
	uint64_t	numbers[UNIVERSE];
	bool		result[UNIVERSE];
	size_t		n = 0;
	uint64_t	i;

	for (i = 0; i < UNIVERSE; i++)
		if (in_set(slot, i))
		{
			numbers[n] = i;
			hashes[n++] = hash_of(i);
		}
	slot->filter.view.head.kind->probe_many(&slot->filter.view, hashes, n, result);
	for (i = 0; i < n; i++)
		if (!result[i])
			denied(slot, after, numbers[i]);
}

static void
run_model(const BfKind *kind)
{
	uint64_t	count[8] = {0};
	uint64_t	present = 0;
	double		start = test_seconds();
	uint64_t	done;
	double		off;
	int			i;

	false_negatives = 0;
	positives = 0;
	expected = 0;
	variance = 0;
	for (i = 0; i < SLOTS; i++)
		start_anew(&slots[i], kind);

	for (done = 0; done < OPERATIONS / 2; done++)
	{
		Slot	   *slot = &slots[test_below(SLOTS)];
		uint64_t	dice = test_below(1000);

		if (dice < 670)
		{
			/* a number of the universe, as often as not in the set */
			uint64_t	number = test_below(UNIVERSE);

			count[0]++;
			if (in_set(slot, number))
			{
				present++;
				if (!test_probe(&slot->filter, hash_of(number)))
					denied(slot, "a probe", number);
			}
		}
		else if (dice < 700)
		{
			/* some hashes from outside: to learn the probability costs more than to probe */
			count[1]++;
			if (is_useful(slot))
			{
				uint64_t	hashes[OUTSIDE];
				bool		result[OUTSIDE];
				int			j;

				for (j = 0; j < OUTSIDE; j++)
					hashes[j] = test_random();
				kind->probe_many(&slot->filter.view, hashes, OUTSIDE, result);
				for (j = 0; j < OUTSIDE; j++)
					positives += result[j];
				expected += OUTSIDE * slot->fpr;
				variance += OUTSIDE * slot->fpr * (1 - slot->fpr);
			}
		}
		else if (dice < 900)
		{
			uint64_t	number = test_below(UNIVERSE);
			uint64_t	hash = hash_of(number);

			count[2]++;
			test_add(&slot->filter, &hash, 1);
			slot->set[number / 64] |= UINT64_C(1) << (number % 64);
			slot->fpr = -1;
		}
		else if (dice < 940)
		{
			uint64_t	hashes[100];
			uint64_t	n = test_below(100);
			uint64_t	j;

			count[3]++;
			for (j = 0; j < n; j++)
			{
				uint64_t	number = test_below(UNIVERSE);

				hashes[j] = hash_of(number);
				slot->set[number / 64] |= UINT64_C(1) << (number % 64);
			}
			test_add(&slot->filter, hashes, n);
			slot->fpr = -1;
		}
		else if (dice < 970)
		{
			const Slot *a = &slots[test_below(SLOTS)];
			const Slot *b = &slots[test_below(SLOTS)];
			bool		intersect = dice >= 955;
			TestFilter	combined = intersect ? test_intersect(&a->filter, &b->filter) : test_union(&a->filter, &b->filter);
			uint64_t	set[WORDS];
			int			w;

			count[intersect ? 5 : 4]++;
			for (w = 0; w < WORDS; w++)
				set[w] = intersect ? a->set[w] & b->set[w] : a->set[w] | b->set[w];
			replace(slot, combined);
			memcpy(slot->set, set, sizeof(set));
			whole_set(slot, intersect ? "an intersection" : "a union");
		}
		else if (dice < 980)
		{
			count[6]++;
			replace(slot, test_fold(&slot->filter, 0.001 + test_fraction() * 0.7));
			whole_set(slot, "a fold");
		}
		else
		{
			count[7]++;
			reopen(slot);
			whole_set(slot, "a reopening");
		}
		if (dice >= 700 && test_below(20) == 0 && (!is_useful(slot) || test_below(10) == 0))
		{
			whole_set(slot, "the end");
			start_anew(slot, kind);
		}
	}

	printf("%s: %" PRIu64 " probes (%" PRIu64 " of members), %" PRIu64 " times from outside, %" PRIu64
		   " adds, %" PRIu64 " batches, %" PRIu64
		   " unions, %" PRIu64 " intersections, %" PRIu64 " folds, %" PRIu64 " reopened\n", kind->name, count[0], present,
		   count[1], count[2], count[3],
		   count[4], count[5], count[6], count[7]);
	off = ((double) positives - expected) / sqrt(variance);
	printf("%s: %" PRIu64 " false negatives; %" PRIu64 " false positives, expected %.0f, %+.1f sigma; %.1f s\n", kind->name,
		   false_negatives,
		   positives, expected, off, test_seconds() - start);

	CHECK(false_negatives == 0);
	CHECKF(present > count[0] / 20, "only %" PRIu64 " members probed", present);
	CHECKF(fabs(off) <= 5, "%s: %" PRIu64 " false positives, expected %.0f", kind->name, positives, expected);
	for (i = 0; i < 8; i++)
		CHECK(count[i] > 10000);
	for (i = 0; i < SLOTS; i++)
		test_free(&slots[i].filter);
}

static void
standard(void)
{
	run_model(bf_kind_by_id(BF_KIND_STANDARD));
}

static void
blocked(void)
{
	run_model(bf_kind_by_id(BF_KIND_BLOCKED));
}

static void
parquet(void)
{
	run_model(bf_kind_by_id(BF_KIND_PARQUET));
}

int
main(void)
{
	test_seed(6);
	RUN(standard);
	RUN(blocked);
	RUN(parquet);
	return test_finish();
}
