/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_interrupts.c
 *	  Functions that read or write a whole payload check for interrupts now and then, counted in
 *	  bytes, not in time.
 *
 *-------------------------------------------------------------------------
 */
#include "kinds.h"

#define PAYLOAD		((uint64_t) 24 * 1024 * 1024)

/* The maximum mean number of bytes between two checks, which takes some ms. */
#define BYTES_A_LOOK	((uint64_t) 5 * 1024 * 1024)

static uint64_t before;

static void
begin(void)
{
	before = test_looks;
}

static void
looked(const BfKind *kind, const char *what, uint64_t bytes)
{
	uint64_t	looks = test_looks - before;

	CHECKF(looks >= bytes / BYTES_A_LOOK, "%s: %s of %" PRIu64 " bytes asked %" PRIu64 " times", kind->name, what, bytes, looks);
}

/* Makes a loose filter with some keys and a payload of at least the given number of bytes. */
static TestFilter
large(const BfKind *kind, uint64_t bytes)
{
	uint64_t	n = 1000;
	BfHeader	head = test_plan(kind, 0.01, n);
	TestFilter	filter;

	while (head.payload_len < bytes)
		head = test_plan(kind, 0.01, n *= 2);
	filter = test_empty(&head);
	test_add(&filter, keys, MAX_KEYS);
	return filter;
}

static void
whole_value(const BfKind *kind)
{
	TestFilter	filter = large(kind, PAYLOAD);
	uint64_t	len = filter.len;
	const char *reason;
	BfStats		stats;
	BfView		view;

	begin();
	bf_seal(&test_env, filter.data, filter.len);
	looked(kind, "a checksum", len);
	begin();
	CHECK(bf_validate(&test_env, filter.data, filter.len, &view, &reason) == BF_OK);
	looked(kind, "a validation", len);
	begin();
	bf_stats(&test_env, &filter.view, &stats);
	looked(kind, "a measurement", len);
	if (kind->pack != NULL)
	{
		uint64_t	loose = len;

		begin();
		test_pack(&filter);
		looked(kind, "packing", loose);
		begin();
		CHECK(kind->validate(&test_env, &filter.view) == NULL);
		looked(kind, "a validation of the packed form", filter.len);
		begin();
		test_loosen(&filter);
		looked(kind, "loosening", loose);
	}
	test_free(&filter);
}

static void
combined(const BfKind *kind)
{
	TestFilter	filter = large(kind, PAYLOAD);
	TestFilter	other = large(kind, PAYLOAD);
	int			intersect;

	for (intersect = 0; intersect < 2; intersect++)
	{
		BfHeader	head;
		TestFilter	made;

		if (!(kind->caps & (intersect ? BF_CAN_INTERSECT : BF_CAN_UNION)))
			continue;
		CHECK((intersect ? bf_intersect_plan : bf_union_plan) (&filter.view, &other.view, &head) == BF_OK);
		made = test_zeroed(&head);
		begin();
		(intersect ? bf_intersect : bf_union) (&test_env, &head, test_payload(&made), &filter.view, &other.view);
		looked(kind, intersect ? "an intersection" : "a union", head.payload_len);
		test_free(&made);
	}
	test_free(&filter);
	test_free(&other);
}

static void
folded(const BfKind *kind)
{
	TestFilter	filter = large(kind, PAYLOAD);
	BfHeader	head;
	TestFilter	made;

	begin();
	CHECK(bf_fold_plan(&test_env, &filter.view, 0.01, &head) == BF_OK);
	looked(kind, "planning a fold", filter.len);
	CHECK(head.payload_len < filter.view.head.payload_len);
	made = test_zeroed(&head);
	begin();
	bf_fold(&test_env, &head, test_payload(&made), &filter.view);
	looked(kind, "a fold", filter.len);
	test_free(&made);
	test_free(&filter);
}

static void
values(void)
{
	each_kind(BF_CAN_ADD, whole_value);
}

static void
combinations(void)
{
	each_kind(BF_CAN_ADD | BF_CAN_UNION, combined);
}

static void
folds(void)
{
	each_kind(BF_CAN_ADD | BF_CAN_FOLD, folded);
}

/*
 * Tests a foreign counting filter whose counters are so high that all of them are stored:
 * validation looks at each counter.
 */
static void
saturated(void)
{
	const BfKind *kind = bf_kind_by_id(BF_KIND_COUNTING);
	TestFilter	filter = large(kind, PAYLOAD);

	memset(test_payload(&filter), 0xff, filter.view.head.payload_len);
	test_pack(&filter);
	begin();
	CHECK(kind->validate(&test_env, &filter.view) == NULL);
	looked(kind, "a validation of the packed form", filter.len);
	test_free(&filter);
}

int
main(void)
{
	make_keys(20261123);
	RUN(values);
	RUN(combinations);
	RUN(folds);
	RUN(saturated);
	return test_finish();
}
