/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * counting.h
 *	  Functions that the tests of counting filters share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_TEST_COUNTING_H
#define BF_TEST_COUNTING_H

#include "test.h"

static const BfKind *kind;	/* counting: a program sets it first */

static inline uint64_t
hash_of(uint64_t number)
{
	return test_mix(number + UINT64_C(0x5851f42d4c957f2d));
}

static inline BfHeader
head_of(uint64_t words, uint32_t k)
{
	BfHeader	head = test_head(kind, words, k);

	head.family_id = 1;			/* some family, not by name */
	return head;
}

static inline void
add(TestFilter *filter, uint64_t hash, uint64_t times)
{
	while (times-- > 0)
		CHECK(kind->add(&filter->view.head, test_payload(filter), &hash, 1) == 1);
}

/* Removes one hash from a filter, and returns whether it was in the filter. */
static inline bool
take(TestFilter *filter, uint64_t hash)
{
	return kind->remove(&filter->view.head, test_payload(filter), &hash, 1) == 1;
}

static inline uint64_t
count(const TestFilter *filter, uint64_t hash)
{
	return kind->count(&filter->view, hash);
}

/*
 * Returns the packed form of a loose filter, after checking that unpacking gives the loose filter
 * back.
 */
static inline TestFilter
pack(const TestFilter *loose)
{
	BfHeader	head;
	TestFilter	filter;
	const char *reason;

	memset(&head, 0xaa, sizeof(head));
	kind->pack_plan(NULL, &loose->view, &head);
	filter = test_empty(&head);
	kind->pack(NULL, &head, test_payload(&filter), &loose->view);
	bf_seal(&test_env, filter.data, filter.len);
	CHECK(kind->is_packed(&filter.view.head));
	CHECKF(bf_validate(&test_env, filter.data, filter.len, &filter.view, &reason) == BF_OK, "%s", reason);
	return filter;
}

static inline TestFilter
loosen(const BfView *packed)
{
	BfHeader	head;
	TestFilter	filter;

	memset(&head, 0xaa, sizeof(head));
	kind->loosen_plan(&packed->head, &head);
	filter = test_empty(&head);
	kind->loosen(NULL, &head, test_payload(&filter), packed);
	bf_seal(&test_env, filter.data, filter.len);
	CHECK(!kind->is_packed(&filter.view.head));
	return filter;
}

static inline const uint8_t *
fetch(void *arg, uint64_t offset, uint64_t len)
{
	const TestFilter *filter = arg;

	CHECK(len > 0 && offset + len <= filter->view.head.payload_len);
	return filter->view.payload + offset;
}

static inline bool
sliced(TestFilter *filter, uint64_t hash)
{
	return kind->probe_sliced(&filter->view.head, hash, fetch, filter);
}

static inline unsigned
counter_at(const TestFilter *loose, uint64_t at)
{
	return loose->view.payload[at / 2] >> (at % 2 * 4) & 15;
}

#endif							/* BF_TEST_COUNTING_H */
