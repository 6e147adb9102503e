/*-------------------------------------------------------------------------
 *
 * fuzz.h
 *	  What the fuzz targets share: an assertion that stops them, and what one may do with any filter that was accepted.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_FUZZ_H
#define BF_FUZZ_H

#include "../core/test.h"

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

/* The union or intersection; false where the two do not go together. */
static inline bool
fuzz_combine(const BfView *a, const BfView *b, bool intersect, TestFilter *result)
{
	BfHeader	head;
	BfStatus	status = intersect ? bf_intersect_plan(a, b, &head) : bf_union_plan(a, b, &head);
	const char *reason;
	BfView		view;

	if (status != BF_OK)
		return false;
	*result = test_empty(&head);
	if (intersect)
		bf_intersect(NULL, &head, test_payload(result), a, b);
	else
		bf_union(NULL, &head, test_payload(result), a, b);
	bf_seal(result->data, result->len);
	MUST(bf_validate(result->data, result->len, &view, &reason) == BF_OK);
	return true;
}

#endif							/* BF_FUZZ_H */
