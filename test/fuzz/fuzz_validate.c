/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * fuzz_validate.c
 *	  Bytes from outside: what bf_validate accepts can be used in every way that its kind knows, and loses no key by it.
 *
 * The first byte says whether the checksum is put right first, without which no fuzzer would come further: bit 0; and whether what
 * bf_open accepts is used though it is not valid: bit 1.  The rest is the value.
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

/* A set united with itself, or intersected, is itself: the whole value. */
static void
check_idempotence(const TestFilter *filter)
{
	TestFilter	same;
	int			i;

	for (i = 0; i < 2; i++)
		if (fuzz_combine(&filter->view, &filter->view, i == 1, &same))
		{
			MUST(i == 0 && filter->view.head.kind->caps & BF_MULTISET ? true : test_same(&same, filter));
			test_free(&same);
		}
}

static void
check_fold(const TestFilter *filter, double fpr)
{
	BfHeader	head;
	TestFilter	folded;
	BfStats		stats;
	BfStats		before;

	if (bf_fold_plan(&test_env, &filter->view, fpr, &head) != BF_OK)
		return;
	MUST(head.payload_len <= filter->view.head.payload_len);
	folded = test_fold(filter, fpr);
	fuzz_valid(&folded);
	bf_stats(&test_env, &filter->view, &before);
	bf_stats(&test_env, &folded.view, &stats);
	MUST(stats.fpr <= fpr || test_same_payload(&folded, filter));
	if (test_has_cells(filter->view.head.kind))
		MUST(before.fpr <= stats.fpr * (1 + 1e-12));
	test_free(&folded);
}

/* One form is as good as the other. */
static void
check_forms(const TestFilter *filter)
{
	TestFilter	packed = test_copy(filter);
	TestFilter	again;

	test_pack(&packed);
	fuzz_valid(&packed);
	again = test_copy(&packed);
	test_loosen(&again);
	MUST(test_same_payload(&again, filter));
	test_free(&again);
	test_free(&packed);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t	hashes[EXERCISE_HASHES];
	uint8_t    *copy;
	const char *reason;
	TestFilter	filter;
	BfView		view;
	uint64_t	i;

	if (size < 1)
		return 0;
	for (i = 0; i < EXERCISE_HASHES; i++)
		hashes[i] = fuzz_hash(i);
	copy = fuzz_copy(data + 1, size - 1);
	if ((data[0] & 1) && size - 1 >= BF_FIXED_HEADER_SIZE)
		bf_seal(&test_env, copy, size - 1);
	if (bf_validate(&test_env, copy, size - 1, &view, &reason) == BF_OK)
	{
		const BfKind *kind = view.head.kind;

		MUST(reason == NULL);
		MUST(view.payload == copy + size - 1 - view.head.payload_len);
		for (i = 0; kind->id == BF_KIND_BLOCKED && i < EXERCISE_HASHES; i++)
			MUST(bf_blocked_scalar_twin() (&view, hashes[i]) == fuzz_probe(&view, hashes[i]));
		exercise(&view, &view, hashes, true);
		if (exercise_loose(&view, &filter))
		{
			bf_seal(&test_env, filter.data, filter.len);
			check_fold(&filter, 0.5);
			check_fold(&filter, 0.01);
			check_idempotence(&filter);
			check_forms(&filter);
			test_free(&filter);
		}

		/* with a good filter of its kind, of the same family, if it has one at all */
		if (kind->design != NULL)
		{
			BfHeader	head;

			filter = test_make(kind, 0.01, 10, hashes, view.head.family_id != 0 ? 10 : 0);
			head = filter.view.head;
			head.family_id = view.head.family_id;
			head.family_len = 0;
			bf_write_header(filter.data, &head);
			test_open(&filter);
			exercise(&view, &filter.view, hashes, true);
			exercise(&filter.view, &view, hashes, true);
			test_free(&filter);
		}
	}
	else
	{
		MUST(reason != NULL);
		if ((data[0] & 2) && bf_open(copy, size - 1, size - 1, &view, &reason) == BF_OK)
			exercise(&view, &view, hashes, false);
	}
	fuzz_no_fault();
	free(copy);
	return 0;
}
