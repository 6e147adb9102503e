/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * fuzz.h
 *	  What the fuzz targets share: an assertion that stops them, and what one may do with any filter that was accepted.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_FUZZ_H
#define BF_FUZZ_H

#include "../core/exercise.h"

#define MUST(condition) \
	do { \
		if (!(condition)) \
		{ \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A hash, the i-th of a fixed sequence. */
static inline uint64_t
fuzz_hash(uint64_t i)
{
	return test_mix(i * UINT64_C(0x9e3779b97f4a7c15) + 1);
}

static inline bool
fuzz_probe(const BfView *view, uint64_t hash)
{
	return view->head.kind->prober(view) (view, hash);
}

/* A copy in a malloc of exactly its size, which the caller frees. */
static inline uint8_t *
fuzz_copy(const uint8_t *data, size_t size)
{
	uint8_t    *copy = test_malloc(size);

	/* libFuzzer's empty input may be NULL */
	if (size > 0)
		memcpy(copy, data, size);
	return copy;
}

/* What the helpers of the tests found wrong stops a target, too. */
static inline void
fuzz_no_fault(void)
{
	MUST(test_faults == 0);
}

static inline void
fuzz_valid(TestFilter *filter)
{
	const char *reason;
	BfView		view;

	bf_seal(&test_env, filter->data, filter->len);
	MUST(bf_validate(&test_env, filter->data, filter->len, &view, &reason) == BF_OK);
}

/* The union or intersection; false where the two do not go together, or to something large. */
static inline bool
fuzz_combine(const BfView *a, const BfView *b, bool intersect, TestFilter *result)
{
	TestFilter	left;
	TestFilter	right;
	BfHeader	head;
	bool		done = false;

	if (!exercise_loose(a, &left))
		return false;
	if (exercise_loose(b, &right))
	{
		BfStatus	status = intersect ? bf_intersect_plan(&left.view, &right.view, &head) : bf_union_plan(&left.view, &right.view, &head);

		done = status == BF_OK && !exercise_too_large(&head) && test_combine(&left, &right, intersect, result);
		test_free(&right);
	}
	test_free(&left);
	if (done)
		fuzz_valid(result);
	return done;
}

#endif							/* BF_FUZZ_H */
