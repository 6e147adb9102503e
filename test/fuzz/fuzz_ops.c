/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * fuzz_ops.c
 *	  A program of operations on a few filters, each beside the multiset of what it must contain.
 *
 * The first byte is the kind's number; then come instructions of three bytes: what, and two operands.  A multiset is of 64
 * numbers.  After each instruction the filter that it changed must hold its multiset.
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

#define SLOTS			4
#define NUMBERS			64
#define MAX_STEPS		64
#define MAX_PAYLOAD		(64 * 1024)

typedef struct Slot
{
	TestFilter	filter;
	uint32_t	times[NUMBERS];
} Slot;

static void
replace(Slot *slot, TestFilter filter)
{
	test_free(&slot->filter);
	slot->filter = filter;
}

static void
holds(const Slot *slot)
{
	const BfKind *kind = slot->filter.view.head.kind;
	uint64_t	hashes[NUMBERS];
	bool		result[NUMBERS];
	uint64_t	i;

	for (i = 0; i < NUMBERS; i++)
		hashes[i] = fuzz_hash(i);
	kind->probe_many(&slot->filter.view, hashes, NUMBERS, result);
	for (i = 0; i < NUMBERS; i++)
	{
		MUST(slot->times[i] == 0 || result[i]);
		MUST(result[i] == test_probe(&slot->filter, hashes[i]));
		if (kind->count != NULL)
			MUST(kind->count(&slot->filter.view, hashes[i]) >= slot->times[i]);
	}
}

/* Adds numbers from first on, so many if they find room. */
static void
add(Slot *slot, unsigned first, unsigned n)
{
	uint64_t	hashes[NUMBERS];
	size_t		added;
	unsigned	i;

	for (i = 0; i < n && first + i < NUMBERS; i++)
		hashes[i] = fuzz_hash(first + i);
	added = test_add_some(&slot->filter, hashes, i);
	for (i = 0; i < added; i++)
		if (slot->filter.view.head.kind->caps & BF_MULTISET)
			slot->times[first + i]++;
		else
			slot->times[first + i] = 1;
}

/* Removes a number if it is there, and sees it refused if it is certainly not. */
static void
remove_number(Slot *slot, unsigned number)
{
	const BfKind *kind = slot->filter.view.head.kind;
	uint64_t	hash = fuzz_hash(number);
	TestFilter	before;

	if (kind->remove == NULL)
		return;
	if (slot->times[number] > 0)
	{
		MUST(test_remove(&slot->filter, &hash, 1) == 1);
		slot->times[number]--;
	}
	else if (!test_probe(&slot->filter, hash))
	{
		test_loosen(&slot->filter);
		before = test_copy(&slot->filter);
		MUST(test_remove(&slot->filter, &hash, 1) == 0);
		MUST(test_same_payload(&before, &slot->filter));
		test_free(&before);
	}
}

static void
combine(Slot *slot, const Slot *a, const Slot *b, bool intersect)
{
	uint32_t	times[NUMBERS];
	TestFilter	result;
	int			i;

	if (!fuzz_combine(&a->filter.view, &b->filter.view, intersect, &result))
		return;
	for (i = 0; i < NUMBERS; i++)
	{
		if (intersect)
			times[i] = BF_MIN(a->times[i], b->times[i]);
		else if (result.view.head.kind->caps & BF_MULTISET)
			times[i] = a->times[i] + b->times[i];
		else
			times[i] = a->times[i] | b->times[i];
	}
	replace(slot, result);
	memcpy(slot->times, times, sizeof(times));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const BfKind *kind = size > 0 ? bf_kind_by_id(data[0]) : NULL;
	Slot		slots[SLOTS];
	BfHeader	head;
	size_t		step;
	int			i;

	if (kind == NULL || kind->add == NULL)
		return 0;
	memset(slots, 0, sizeof(slots));
	for (i = 0; i < SLOTS; i++)
	{
		head = test_has_cells(kind) ? test_head(kind, 1 + (uint64_t) i * 3, 4) : test_plan(kind, 0.05, 1 + (uint64_t) i * 10);
		slots[i].filter = test_empty(&head);
	}

	for (step = 0; step < MAX_STEPS && 1 + step * 3 + 3 <= size; step++)
	{
		const uint8_t *p = data + 1 + step * 3;
		Slot	   *slot = &slots[p[0] >> 6];
		const Slot *a = &slots[p[1] % SLOTS];
		const Slot *b = &slots[p[2] % SLOTS];
		TestFilter	result;

		switch (p[0] & 15)
		{
			case 0:				/* a new filter of so many cells and probes, or of such a plan */
				if (test_has_cells(kind))
					head = test_head(kind, 1 + p[1], 1 + p[2] % 16);
				else
					head = test_plan(kind, (p[2] + 1) / 300.0, 1 + p[1]);
				replace(slot, test_empty(&head));
				memset(slot->times, 0, sizeof(slot->times));
				break;
			case 1:				/* one key */
				add(slot, p[1] % NUMBERS, 1);
				break;
			case 2:				/* a run of keys */
				add(slot, p[1] % NUMBERS, p[2]);
				break;
			case 3:
				if (kind->caps & BF_CAN_UNION)
					combine(slot, a, b, false);
				break;
			case 4:
				if (kind->caps & BF_CAN_INTERSECT)
					combine(slot, a, b, true);
				break;
			case 5:				/* fold to so much of 256 */
				if (kind->caps & BF_CAN_FOLD)
					replace(slot, test_fold(&slot->filter, (p[1] + 1) / 258.0));
				break;
			case 6:				/* out and in again */
				{
					const char *reason;

					bf_seal(&test_env, slot->filter.data, slot->filter.len);
					result.len = slot->filter.len;
					result.data = fuzz_copy(slot->filter.data, slot->filter.len);
					MUST(bf_validate(&test_env, result.data, result.len, &result.view, &reason) == BF_OK);
					replace(slot, result);
				}
				break;
			case 7:				/* both ways round, the same */
			case 15:
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
			case 8:
				remove_number(slot, p[1] % NUMBERS);
				break;
			case 9:				/* one key many times */
				for (i = 0; i < p[2] % 20; i++)
					add(slot, p[1] % NUMBERS, 1);
				break;
			case 10:
				test_pack(&slot->filter);
				break;
			case 11:
				test_loosen(&slot->filter);
				break;
			case 12:			/* grow, full or not */
				if (kind->grow != NULL && kind->grow_plan(&slot->filter.view, &head) == BF_OK && head.payload_len <= MAX_PAYLOAD)
					test_grow(&slot->filter);
				break;
			default:
				break;
		}
		fuzz_valid(&slot->filter);
		holds(slot);
		fuzz_no_fault();
		if (slot->filter.view.head.payload_len > MAX_PAYLOAD)
		{
			head = test_plan(kind, 0.05, 1);
			replace(slot, test_empty(&head));
			memset(slot->times, 0, sizeof(slot->times));
		}
	}
	for (i = 0; i < SLOTS; i++)
		test_free(&slots[i].filter);
	return 0;
}
