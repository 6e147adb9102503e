/*-------------------------------------------------------------------------
 *
 * fuzz_ops.c
 *	  A program of operations on a few filters, each beside the set of what it must contain.
 *
 * The first byte chooses the kind; then come instructions of three bytes: what, and two operands.  A set is one of 64
 * numbers.  After each instruction the filter that it changed must hold its set.
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

#define SLOTS			4
#define MAX_STEPS		64
#define MAX_PAYLOAD		(64 * 1024)

typedef struct Slot
{
	TestFilter	filter;
	uint64_t	set;
} Slot;

static void
replace(Slot *slot, TestFilter filter, uint64_t set)
{
	test_free(&slot->filter);
	slot->filter = filter;
	slot->set = set;
}

static void
holds(const Slot *slot)
{
	uint64_t	hashes[64];
	bool		result[64];
	uint64_t	i;

	for (i = 0; i < 64; i++)
		hashes[i] = fuzz_hash(i);
	slot->filter.view.head.kind->probe_many(&slot->filter.view, hashes, 64, result);
	for (i = 0; i < 64; i++)
	{
		MUST(!(slot->set >> i & 1) || result[i]);
		MUST(result[i] == test_probe(&slot->filter, hashes[i]));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const BfKindId kinds[] = {BF_KIND_STANDARD, BF_KIND_BLOCKED};
	const BfKind *kind;
	Slot		slots[SLOTS];
	size_t		step;
	int			i;

	if (size < 1)
		return 0;
	kind = bf_kind_by_id(kinds[data[0] % 2]);
	for (i = 0; i < SLOTS; i++)
	{
		BfHeader	head = test_head(kind, 1 + (uint64_t) i * 3, 4);

		slots[i].filter = test_empty(&head);
		slots[i].set = 0;
	}

	for (step = 0; step < MAX_STEPS && 1 + step * 3 + 3 <= size; step++)
	{
		const uint8_t *p = data + 1 + step * 3;
		Slot	   *slot = &slots[p[0] >> 6];
		const Slot *a = &slots[p[1] % SLOTS];
		const Slot *b = &slots[p[2] % SLOTS];
		TestFilter	result;
		BfHeader	head;

		switch (p[0] & 7)
		{
			case 0:				/* a new filter of so many cells and probes */
				head = test_head(kind, 1 + p[1], 1 + p[2] % 16);
				replace(slot, test_empty(&head), 0);
				break;
			case 1:				/* one key */
				{
					uint64_t	hash = fuzz_hash(p[1] % 64);

					test_add(&slot->filter, &hash, 1);
					slot->set |= UINT64_C(1) << (p[1] % 64);
				}
				break;
			case 2:				/* a run of keys */
				{
					uint64_t	hashes[64];
					size_t		n = 0;

					for (i = p[1] % 64; i < 64 && n < p[2]; i++)
					{
						hashes[n++] = fuzz_hash((uint64_t) i);
						slot->set |= UINT64_C(1) << i;
					}
					test_add(&slot->filter, hashes, n);
				}
				break;
			case 3:
				if (fuzz_combine(&a->filter.view, &b->filter.view, false, &result))
					replace(slot, result, a->set | b->set);
				break;
			case 4:
				if (fuzz_combine(&a->filter.view, &b->filter.view, true, &result))
					replace(slot, result, a->set & b->set);
				break;
			case 5:				/* fold to so much of 256 */
				MUST(bf_fold_plan(NULL, &slot->filter.view, (p[1] + 1) / 258.0, &head) == BF_OK);
				result = test_empty(&head);
				bf_fold(NULL, &head, test_payload(&result), &slot->filter.view);
				bf_seal(result.data, result.len);
				replace(slot, result, slot->set);
				break;
			case 6:				/* out and in again */
				{
					const char *reason;

					bf_seal(slot->filter.data, slot->filter.len);
					result.len = slot->filter.len;
					result.data = fuzz_copy(slot->filter.data, slot->filter.len);
					MUST(bf_validate(result.data, result.len, &result.view, &reason) == BF_OK);
					replace(slot, result, slot->set);
				}
				break;
			default:			/* both ways round, the same */
				{
					TestFilter	other;

					if (fuzz_combine(&a->filter.view, &b->filter.view, p[0] & 8, &result))
					{
						MUST(fuzz_combine(&b->filter.view, &a->filter.view, p[0] & 8, &other));
						MUST(test_same(&result, &other));
						test_free(&result);
						test_free(&other);
					}
				}
				break;
		}
		holds(slot);
		if (slot->filter.view.head.payload_len > MAX_PAYLOAD)
		{
			head = test_head(kind, 1, 4);
			replace(slot, test_empty(&head), 0);
		}
	}
	for (i = 0; i < SLOTS; i++)
		test_free(&slots[i].filter);
	return 0;
}
