/*-------------------------------------------------------------------------
 *
 * fuzz_validate.c
 *	  Bytes from outside: what bf_validate accepts can be probed, measured, folded, united and intersected,
 *	  and loses no key by it.
 *
 * The first byte says whether the checksum is put right first, without which no fuzzer would come further: bit 0.  The
 * rest is the value.
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

#define SAMPLES	64

static void
check_combination(const BfView *a, const BfView *b)
{
	TestFilter	both;
	uint64_t	i;

	if (fuzz_combine(a, b, false, &both))
	{
		for (i = 0; i < SAMPLES; i++)
			MUST(!(fuzz_probe(a, fuzz_hash(i)) || fuzz_probe(b, fuzz_hash(i))) || test_probe(&both, fuzz_hash(i)));
		test_free(&both);
	}
	if (fuzz_combine(a, b, true, &both))
	{
		for (i = 0; i < SAMPLES; i++)
			MUST(!(fuzz_probe(a, fuzz_hash(i)) && fuzz_probe(b, fuzz_hash(i))) || test_probe(&both, fuzz_hash(i)));
		test_free(&both);
	}
}

/* A filter united with itself, or intersected, is itself: the whole value. */
static void
check_idempotence(const uint8_t *data, size_t len, const BfView *view)
{
	TestFilter	same;
	int			i;

	for (i = 0; i < 2; i++)
		if (fuzz_combine(view, view, i == 1, &same))
		{
			MUST(same.len == len && memcmp(same.data, data, len) == 0);
			test_free(&same);
		}
}

static void
check_fold(const BfView *view, double fpr)
{
	BfHeader	head;
	TestFilter	folded;
	BfStats		stats;
	BfStats		before;
	uint64_t	i;

	if (bf_fold_plan(NULL, view, fpr, &head) != BF_OK)
		return;
	folded = test_empty(&head);
	bf_fold(NULL, &head, test_payload(&folded), view);
	bf_stats(NULL, view, &before);
	bf_stats(NULL, &folded.view, &stats);
	MUST(stats.fpr <= fpr || head.payload_len == view->head.payload_len);
	MUST(before.fpr <= stats.fpr * (1 + 1e-12));
	for (i = 0; i < SAMPLES; i++)
		MUST(!fuzz_probe(view, fuzz_hash(i)) || test_probe(&folded, fuzz_hash(i)));
	test_free(&folded);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t    *copy;
	const char *reason;
	BfView		view;

	if (size < 1)
		return 0;
	copy = fuzz_copy(data + 1, size - 1);
	if ((data[0] & 1) && size - 1 >= BF_FIXED_HEADER_SIZE)
		bf_seal(copy, size - 1);
	if (bf_validate(copy, size - 1, &view, &reason) == BF_OK)
	{
		uint64_t	hashes[SAMPLES];
		bool		result[SAMPLES];
		BfStats		stats;
		size_t		i;
		const BfKind *kind;

		MUST(reason == NULL);
		MUST(view.payload == copy + size - 1 - view.head.payload_len);
		for (i = 0; i < SAMPLES; i++)
			hashes[i] = fuzz_hash(i);
		view.head.kind->probe_many(&view, hashes, SAMPLES, result);
		for (i = 0; i < SAMPLES; i++)
		{
			MUST(fuzz_probe(&view, hashes[i]) == result[i]);
			if (view.head.kind->id == BF_KIND_BLOCKED)
				MUST(bf_blocked_scalar_twin() (&view, hashes[i]) == result[i]);
		}
		bf_stats(NULL, &view, &stats);
		MUST(isfinite(stats.keys) && stats.keys >= 0 && stats.fpr >= 0 && stats.fpr <= 1 && stats.bits_set <= stats.bits);
		check_fold(&view, 0.5);
		check_fold(&view, 0.01);
		check_idempotence(copy, size - 1, &view);
		check_combination(&view, &view);

		/* with a good filter of each kind, of the same family */
		for (i = 0; (kind = bf_kind_at(i)) != NULL; i++)
		{
			BfHeader	head;
			TestFilter	other;

			if (kind->design == NULL)
				continue;
			head = test_head(kind, 3, 4);
			head.family_id = view.head.family_id;
			other = test_empty(&head);
			test_add(&other, hashes, 10);
			check_combination(&view, &other.view);
			check_combination(&other.view, &view);
			test_free(&other);
		}

		/* an opened filter takes keys */
		if (view.head.kind->add != NULL)
		{
			view.head.kind->add(&view.head, copy + size - 1 - view.head.payload_len, hashes, SAMPLES);
			for (i = 0; i < SAMPLES; i++)
				MUST(fuzz_probe(&view, hashes[i]));
		}
	}
	else
		MUST(reason != NULL);
	free(copy);
	return 0;
}
