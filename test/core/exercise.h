/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * exercise.h
 *	  Does everything that can be done with an opened filter, in memory of exactly the size that the
 *	  filter asks for.
 *
 * The tests of hostile bytes use it, under sanitizers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_EXERCISE_H
#define BF_EXERCISE_H

#include "test.h"

/* Number of hashes that are asked for, added and removed. */
#define EXERCISE_HASHES		60

/* Returns whether a value would need more memory than a test should allocate. */
static inline bool
exercise_too_large(const BfHeader *head)
{
	return head->payload_len > 4 * 1024 * 1024;
}

/*
 * Makes the loose form of a view's value.  Returns false, and makes nothing, if that form is too
 * large.
 */
static inline bool
exercise_loose(const BfView *view, TestFilter *filter)
{
	const BfKind *kind = view->head.kind;
	BfHeader	head;

	if (kind->is_packed != NULL && kind->is_packed(&view->head))
	{
		kind->loosen_plan(&view->head, &head);
		if (exercise_too_large(&head))
			return false;
	}
	*filter = test_zeroed(&view->head);
	if (view->head.payload_len > 0)
		memcpy(test_payload(filter), view->payload, view->head.payload_len);
	test_loosen(filter);
	return true;
}

static inline void
exercise_answers(const BfView *view, const uint64_t *hashes, bool *result)
{
	view->head.kind->probe_many(view, hashes, EXERCISE_HASHES, result);
}

/* Checks that the filter answers true for every hash for which the first answers were true. */
static inline void
exercise_still_there(const TestFilter *filter, const uint64_t *hashes, const bool *first, const bool *second, const char *after)
{
	int			i;

	for (i = 0; i < EXERCISE_HASHES; i++)
		CHECKF(!first[i] || !second[i] || test_probe(filter, hashes[i]), "%s: lost by %s", filter->view.head.kind->name, after);
}

/*
 * Checks that a value made from valid filters is valid.  If the type's input function refused a
 * stored value, it could be dumped, but not restored.
 */
static inline void
exercise_accepted(const TestFilter *filter, const char *after)
{
	const char *reason;
	BfView		view;

	bf_seal(&test_env, filter->data, filter->len);
	CHECKF(bf_validate(&test_env, filter->data, filter->len, &view, &reason) == BF_OK, "%s: refused after %s: %s", filter->view.head.kind->name, after, reason);
}

/* Adds hashes to a filter, grows the filter, and removes hashes. */
static inline void
exercise_changes(TestFilter *filter, const uint64_t *hashes, bool valid)
{
	const BfKind *kind = filter->view.head.kind;
	bool		result[EXERCISE_HASHES];
	BfHeader	head;
	size_t		added;
	int			i;

	if (kind->add != NULL)
	{
		added = kind->add(&filter->view.head, test_payload(filter), hashes, EXERCISE_HASHES);
		CHECK(added <= EXERCISE_HASHES);
		for (i = 0; valid && i < (int) added; i++)
			CHECKF(test_probe(filter, hashes[i]), "%s: added and not there", kind->name);
		if (valid)
			exercise_accepted(filter, "adding");
	}
	exercise_answers(&filter->view, hashes, result);
	if (kind->grow != NULL && kind->grow_plan(&filter->view, &head) == BF_OK && !exercise_too_large(&head))
	{
		CHECK(test_grow(filter));
		for (i = 0; valid && i < EXERCISE_HASHES; i++)
			CHECKF(test_probe(filter, hashes[i]) == result[i], "%s: growing changed an answer", kind->name);
		if (valid)
			exercise_accepted(filter, "growing");
		kind->add(&filter->view.head, test_payload(filter), hashes, EXERCISE_HASHES);
	}
	for (i = 0; kind->remove != NULL && i < EXERCISE_HASHES; i++)
	{
		/* what removal finds out may be more than what a probe does */
		bool		there = test_probe(filter, hashes[i]) && (kind->count == NULL || kind->count(&filter->view, hashes[i]) > 0);
		size_t		removed = kind->remove(&filter->view.head, test_payload(filter), &hashes[i], 1);

		CHECK(removed <= 1);
		if (valid)
			CHECKF(removed == there, "%s: there %d, removed %zu", kind->name, there, removed);
	}
	if (valid)
		exercise_accepted(filter, "adding and removing");
}

/*
 * Does everything that may be done with an opened filter.  A valid filter must also keep its
 * promises; an invalid one must only do no harm.
 */
static inline void
exercise(const BfView *view, const BfView *friend, const uint64_t *hashes, bool valid)
{
	const BfKind *kind = view->head.kind;
	BfProbe		probe = kind->prober(view);
	bool		result[EXERCISE_HASHES];
	bool		friends[EXERCISE_HASHES];
	TestFilter	filter;
	TestFilter	other;
	TestFilter	made;
	BfStats		stats;
	BfHeader	head;
	int			i;

	exercise_answers(view, hashes, result);
	for (i = 0; i < EXERCISE_HASHES; i++)
	{
		CHECK(probe(view, hashes[i]) == result[i]);
		if (kind->count != NULL)
			CHECK(kind->count(view, hashes[i]) == 0 || result[i]);
	}
	bf_stats(&test_env, view, &stats);
	CHECK(isfinite(stats.keys) && stats.keys >= 0);
	CHECK(stats.fpr >= 0 && stats.fpr <= 1);
	CHECK(stats.bits_set <= stats.bits);
	if (bf_stats_sampled(&test_env, view, BF_MAX(view->head.payload_len / 3, 1000), &stats))
		CHECK(isfinite(stats.keys) && stats.keys >= 0 && stats.fpr >= 0 && stats.fpr <= 1 && stats.bits_set <= stats.bits);

	if (!exercise_loose(view, &filter))
		return;
	if (valid)
	{
		exercise_still_there(&filter, hashes, result, result, "loosening");
		exercise_accepted(&filter, "loosening");
	}
	if (bf_fold_plan(&test_env, &filter.view, 0.3, &head) == BF_OK && !exercise_too_large(&head))
	{
		made = test_fold(&filter, 0.3);
		if (valid)
		{
			exercise_still_there(&made, hashes, result, result, "folding");
			exercise_accepted(&made, "folding");
		}
		test_free(&made);
	}
	if (kind->pack != NULL)
	{
		made = test_copy(&filter);
		test_pack(&made);
		if (valid)
		{
			exercise_still_there(&made, hashes, result, result, "packing");
			exercise_accepted(&made, "packing");
		}
		test_free(&made);
	}

	if (exercise_loose(friend, &other))
	{
		bool		yes[EXERCISE_HASHES];

		memset(yes, 1, sizeof(yes));
		exercise_answers(friend, hashes, friends);
		for (i = 0; i < 6; i++)
		{
			/* with itself, with the other, and that one with it */
			const TestFilter *a = i / 2 == 2 ? &other : &filter;
			const TestFilter *b = i / 2 == 1 ? &other : &filter;
			bool		intersect = i % 2;
			BfStatus	status = intersect ? bf_intersect_plan(&a->view, &b->view, &head) : bf_union_plan(&a->view, &b->view, &head);

			if (status != BF_OK || exercise_too_large(&head) || !CHECK(test_combine(a, b, intersect, &made)))
				continue;
			if (valid && !intersect)
			{
				exercise_still_there(&made, hashes, result, yes, "a union");
				exercise_still_there(&made, hashes, i / 2 == 0 ? result : friends, yes, "a union");
			}
			else if (valid)
				exercise_still_there(&made, hashes, result, i / 2 == 0 ? result : friends, "an intersection");
			if (valid)
				exercise_accepted(&made, intersect ? "an intersection" : "a union");
			test_free(&made);
		}
		test_free(&other);
	}
	exercise_changes(&filter, hashes, valid);
	test_free(&filter);
}

#endif							/* BF_EXERCISE_H */
