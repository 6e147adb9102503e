/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * s_model.c
 *	  Millions of random operations on filters of every kind, each compared with the exact multiset
 *	  of its keys.
 *
 * A slot is a filter and the number of times that it holds each number below UNIVERSE.  Each
 * operation is applied to the filter and to the multiset.  If the filter denies a number in the
 * multiset, that is a false negative, and a failure.  A number is removed only if it is in the
 * multiset, or if the filter denies it; then the removal must change nothing.
 *
 * False positives are counted with hashes outside of the universe, for which bf_stats tells the
 * probability for the given payload: the total number over the run must agree with the sum of these
 * probabilities.
 *
 *-------------------------------------------------------------------------
 */
#include "test.h"

#define OPERATIONS	(test_is_long() ? 10000000 : test_is_everyday() ? 1000000 : 2000000)	/* of each kind */
#define SLOTS		10
#define UNIVERSE	1024
#define OUTSIDE		8
#define MAX_PAYLOAD	(64 * 1024)

typedef struct Slot
{
	TestFilter	filter;
	uint32_t	times[UNIVERSE];	/* for kinds without BF_MULTISET 0 or 1 */
	double		fpr;			/* negative: not known since the last change */
	bool		full;			/* has been, so that little more can be done with it */
} Slot;

typedef enum Operation
{
	PROBE,
	OUTSIDERS,
	ADD,
	BATCH,
	REMOVE,
	REMOVE_ABSENT,
	COUNT,
	UNION,
	INTERSECTION,
	FOLD,
	REOPEN,
	BUILD,
	NOPERATIONS
} Operation;

static const char *const operation_name[NOPERATIONS] = {
	"probes", "probes from outside", "adds", "batches", "removals", "refused removals", "counts", "unions", "intersections", "folds",
	"reopenings", "builds"
};

/* How often each operation is done, in thousandths. */
static const unsigned operation_share[NOPERATIONS] = {666, 10, 160, 20, 80, 20, 20, 4, 4, 4, 8, 4};

static Slot slots[SLOTS];
static uint64_t done[NOPERATIONS];
static uint64_t full;
static uint64_t grown;
static uint64_t false_negatives;
static uint64_t positives;
static double expected;
static double variance;

static inline uint64_t
hash_of(uint64_t number)
{
	return test_mix(number + UINT64_C(0x1234567890abcdef));
}

static void
denied(const Slot *slot, const char *after, uint64_t number)
{
	false_negatives++;
	CHECKF(false, "%s: %" PRIu64 " is lost, seen by %s, payload %" PRIu64 ", param %u", slot->filter.view.head.kind->name,
		   number, after, slot->filter.view.head.payload_len, slot->filter.view.head.param[0]);
}

/* Notes that a slot's filter has changed. */
static void
changed(Slot *slot)
{
	slot->fpr = -1;
}

static void
replace(Slot *slot, TestFilter filter)
{
	test_free(&slot->filter);
	slot->filter = filter;
	changed(slot);
}

/* Counts a number that was added; in kinds that hold sets, a number is counted only once. */
static void
count_added(Slot *slot, const BfKind *kind, uint64_t number)
{
	if (kind->caps & BF_MULTISET)
		slot->times[number]++;
	else
		slot->times[number] = 1;
}

/*
 * Replaces a slot's filter by an empty filter, or, for a kind that is built at once, by one of a
 * random set.
 */
static void
start_anew(Slot *slot, const BfKind *kind)
{
	memset(slot->times, 0, sizeof(slot->times));
	slot->full = false;
	if (kind->build != NULL)
	{
		uint64_t	hashes[UNIVERSE];
		uint64_t	n = test_below(2 + test_below(UNIVERSE - 1));
		uint64_t	i;

		for (i = 0; i < n; i++)
		{
			uint64_t	number = test_below(UNIVERSE);

			hashes[i] = hash_of(number);
			slot->times[number] = 1;
		}
		replace(slot, test_build(kind, fmax(kind->min_fpr, 0.001 + test_fraction() * test_fraction() * 0.5), hashes, n));
	}
	else
	{
		BfHeader	head = test_some_head(kind, 700);

		/* the family comes with the first key in half of them: here it may as well be there */
		test_set_family(&head, test_below(2) == 0 ? "int8" : "");
		replace(slot, test_empty(&head));
	}
}

/*
 * Writes a filter in either form, reads it back at another address, and checks that it is valid and
 * unchanged.
 */
static void
reopen(Slot *slot)
{
	TestFilter	copy;
	const char *reason = NULL;
	BfView		view;

	if (test_below(2) == 0)
		test_pack(&slot->filter);
	else
		test_loosen(&slot->filter);
	bf_seal(&test_env, slot->filter.data, slot->filter.len);
	copy = test_copy(&slot->filter);
	CHECKF(bf_validate(&test_env, copy.data, copy.len, &view, &reason) == BF_OK, "%s: a good value is refused: %s",
		   slot->filter.view.head.kind->name, reason);
	replace(slot, copy);
}

/* Returns whether a slot's filter is neither too full nor too large to test anything. */
static bool
is_useful(Slot *slot)
{
	BfStats		stats;

	if (slot->fpr < 0)
	{
		bf_stats(&test_env, &slot->filter.view, &stats);
		slot->fpr = stats.fpr;
	}
	return slot->fpr < 0.9 && slot->filter.view.head.payload_len <= MAX_PAYLOAD;
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
		if (slot->times[i] > 0)
		{
			numbers[n] = i;
			hashes[n++] = hash_of(i);
		}
	slot->filter.view.head.kind->probe_many(&slot->filter.view, hashes, n, result);
	for (i = 0; i < n; i++)
		if (!result[i])
			denied(slot, after, numbers[i]);
}

/*
 * Probes OUTSIDE hashes from outside of the universe at once, because computing the probability of
 * a false positive costs more than probing.
 */
static void
probe_outsiders(Slot *slot)
{
	uint64_t	hashes[OUTSIDE];
	bool		result[OUTSIDE];
	int			j;

	if (!is_useful(slot))
		return;
	for (j = 0; j < OUTSIDE; j++)
		hashes[j] = test_random();
	slot->filter.view.head.kind->probe_many(&slot->filter.view, hashes, OUTSIDE, result);
	for (j = 0; j < OUTSIDE; j++)
		positives += result[j];
	expected += OUTSIDE * slot->fpr;
	variance += OUTSIDE * slot->fpr * (1 - slot->fpr);
}

/*
 * Adds numbers.  An addition that finds no room must leave the filter unchanged, and must fail
 * again when it is repeated at once.
 */
static void
add(Slot *slot, const BfKind *kind, const uint64_t *numbers, size_t n)
{
	uint64_t	hashes[100];
	uint64_t	len = slot->filter.len;
	size_t		added;
	size_t		j;

	for (j = 0; j < n; j++)
		hashes[j] = hash_of(numbers[j]);
	added = test_add_some(&slot->filter, hashes, n);
	for (j = 0; j < added; j++)
		count_added(slot, kind, numbers[j]);
	grown += kind->grow != NULL && slot->filter.len != len;
	changed(slot);
	slot->full = slot->full || added < n;
	if (added < n && full++ % 8 == 0)
	{
		TestFilter	copy = test_copy(&slot->filter);

		CHECK(kind->add(&copy.view.head, test_payload(&copy), hashes + added, n - added) == 0);
		CHECKF(test_same_payload(&copy, &slot->filter), "%s: a key without room left a trace", kind->name);
		test_free(&copy);
		whole_set(slot, "a full filter");
	}
}

/* Chooses numbers that are in the multiset.  Returns how many were found. */
static size_t
choose_present(const Slot *slot, uint64_t *numbers, size_t n)
{
	uint32_t	taken[UNIVERSE];
	size_t		found = 0;
	int			tries;

	memcpy(taken, slot->times, sizeof(taken));
	for (tries = 0; tries < 40 && found < n; tries++)
	{
		uint64_t	number = test_below(UNIVERSE);

		if (taken[number] > 0)
		{
			taken[number]--;
			numbers[found++] = number;
		}
	}
	return found;
}

/*
 * Removes numbers that are in the multiset: usually one, sometimes several followed by one that is
 * not in the filter and must not be removed.
 */
static void
remove_present(Slot *slot)
{
	uint64_t	numbers[8];
	uint64_t	hashes[9];
	size_t		n = choose_present(slot, numbers, test_below(4) == 0 ? 8 : 1);
	size_t		removed;
	size_t		j;

	for (j = 0; j < n; j++)
		hashes[j] = hash_of(numbers[j]);
	hashes[n] = test_random();
	test_loosen(&slot->filter);
	removed = test_remove(&slot->filter, hashes, n + !test_probe(&slot->filter, hashes[n]));
	if (removed != n)
		denied(slot, "a removal", removed < n ? numbers[removed] : UNIVERSE);
	for (j = 0; j < n; j++)
		slot->times[numbers[j]]--;
	changed(slot);
}

static void
remove_absent(Slot *slot)
{
	uint64_t	hash = test_below(2) == 0 ? hash_of(test_below(UNIVERSE)) : test_random();
	TestFilter	copy;

	if (test_probe(&slot->filter, hash))
		return;
	test_loosen(&slot->filter);
	copy = test_copy(&slot->filter);
	CHECK(test_remove(&slot->filter, &hash, 1) == 0);
	CHECKF(test_same_payload(&copy, &slot->filter), "%s: a refused removal left a trace", copy.view.head.kind->name);
	test_free(&copy);
}

static void
count(const Slot *slot)
{
	uint64_t	number = test_below(UNIVERSE);
	uint64_t	counted = slot->filter.view.head.kind->count(&slot->filter.view, hash_of(number));

	/* unknown is the largest number that there is */
	if (counted < slot->times[number])
		denied(slot, "a count", number);
}

static void
combine(Slot *slot, bool intersect)
{
	const Slot *a = &slots[test_below(SLOTS)];
	const Slot *b = &slots[test_below(SLOTS)];
	bool		multiset = a->filter.view.head.kind->caps & BF_MULTISET;
	uint32_t	times[UNIVERSE];
	TestFilter	result;
	int			i;

	if (!test_combine(&a->filter, &b->filter, intersect, &result))
		return;
	done[intersect ? INTERSECTION : UNION]++;
	for (i = 0; i < UNIVERSE; i++)
	{
		if (intersect)
			times[i] = BF_MIN(a->times[i], b->times[i]);
		else if (multiset)
			times[i] = a->times[i] + b->times[i];
		else
			times[i] = a->times[i] | b->times[i];
	}
	replace(slot, result);
	memcpy(slot->times, times, sizeof(times));
	whole_set(slot, intersect ? "an intersection" : "a union");
}

static bool
can(const BfKind *kind, Operation operation)
{
	switch (operation)
	{
		case ADD:
		case BATCH:
			return kind->add != NULL;
		case REMOVE:
		case REMOVE_ABSENT:
			return kind->remove != NULL;
		case COUNT:
			return kind->count != NULL;
		case UNION:
			return kind->unite != NULL;
		case INTERSECTION:
			return kind->intersect != NULL;
		case FOLD:
			return kind->fold != NULL;
		case BUILD:
			return kind->build != NULL;
		default:
			return true;
	}
}

static Operation
choose(void)
{
	unsigned	dice = (unsigned) test_below(1000);
	int			operation = 0;

	while (dice >= operation_share[operation])
		dice -= operation_share[operation++];
	return (Operation) operation;
}

static void
run_model(const BfKind *kind)
{
	uint64_t	present = 0;
	double		start = test_seconds();
	double		exact = kind->id == BF_KIND_STANDARD ? 0 : 0.03;
	double		careful = kind->caps & BF_FROM_SET ? 0.2 : exact;	/* filters of a few keys may be better than they know */
	double		off;
	uint64_t	i;

	memset(done, 0, sizeof(done));
	full = 0;
	grown = 0;
	false_negatives = 0;
	positives = 0;
	expected = 0;
	variance = 0;
	for (i = 0; i < SLOTS; i++)
		start_anew(&slots[i], kind);

	for (i = 0; i < OPERATIONS; i++)
	{
		Slot	   *slot = &slots[test_below(SLOTS)];
		Operation	operation = choose();
		uint64_t	numbers[100];
		size_t		n;

		/* what a kind cannot do is a probe more, of a number in or out of the set */
		if (!can(kind, operation))
			operation = PROBE;
		done[operation] += operation != UNION && operation != INTERSECTION;
		switch (operation)
		{
			case PROBE:
				numbers[0] = test_below(UNIVERSE);
				if (slot->times[numbers[0]] > 0)
				{
					present++;
					if (!test_probe(&slot->filter, hash_of(numbers[0])))
						denied(slot, "a probe", numbers[0]);
				}
				break;
			case OUTSIDERS:
				probe_outsiders(slot);
				break;
			case ADD:
				numbers[0] = test_below(UNIVERSE);
				add(slot, kind, numbers, 1);
				break;
			case BATCH:
				n = test_below(100);
				for (size_t j = 0; j < n; j++)
					numbers[j] = test_below(UNIVERSE);
				add(slot, kind, numbers, n);
				break;
			case REMOVE:
				remove_present(slot);
				break;
			case REMOVE_ABSENT:
				remove_absent(slot);
				break;
			case COUNT:
				count(slot);
				break;
			case UNION:
			case INTERSECTION:
				combine(slot, operation == INTERSECTION);
				break;
			case FOLD:
				replace(slot, test_fold(&slot->filter, 0.001 + test_fraction() * 0.7));
				whole_set(slot, "a fold");
				break;
			case REOPEN:
				reopen(slot);
				whole_set(slot, "a reopening");
				break;
			default:
				start_anew(slot, kind);
				whole_set(slot, "a build");
				break;
		}
		if (kind->add != NULL && operation > OUTSIDERS && test_below(20) == 0 && (slot->full || !is_useful(slot) || test_below(10) == 0))
		{
			whole_set(slot, "the end");
			start_anew(slot, kind);
		}
	}

	printf("%s:", kind->name);
	for (i = 0; i < NOPERATIONS; i++)
		if (done[i] > 0)
			printf(" %" PRIu64 " %s,", done[i], operation_name[i]);
	printf(" %" PRIu64 " of the probes of members, %" PRIu64 " times full, %" PRIu64 " times grown\n", present, full, grown);
	off = ((double) positives - expected) / sqrt(variance);
	printf("%s: %" PRIu64 " false negatives; %" PRIu64 " false positives, expected %.0f, %+.1f sigma, ratio %.4f; %.1f s\n", kind->name,
		   false_negatives, positives, expected, off, (double) positives / expected, test_seconds() - start);

	CHECK(false_negatives == 0);
	CHECKF(present > done[PROBE] / 20, "%s: only %" PRIu64 " members probed", kind->name, present);
	CHECKF((double) positives <= expected + 5 * sqrt(variance) + exact * expected &&
		   (double) positives >= expected - 5 * sqrt(variance) - careful * expected,
		   "%s: %" PRIu64 " false positives, expected %.0f", kind->name, positives, expected);
	for (i = 0; i < NOPERATIONS; i++)
		CHECKF(!can(kind, (Operation) i) || done[i] > OPERATIONS / 2000, "%s: %" PRIu64 " %s", kind->name, done[i], operation_name[i]);
	CHECK(kind->grow == NULL || grown > OPERATIONS / 10000);
	for (i = 0; i < SLOTS; i++)
		test_free(&slots[i].filter);
}

/* Runs one test for each kind, in the order of the kinds' numbers. */
int
main(void)
{
	const BfKind *kind;
	size_t		i;

	test_seed(6);
	for (i = 0; (kind = bf_kind_at(i)) != NULL; i++)
	{
		if (kind->design == NULL)
			continue;
		test_begin();
		run_model(kind);
		test_end(kind->name);
	}
	return test_finish();
}
