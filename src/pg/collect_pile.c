/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * collect_pile.c
 *	  The pile of values that have no place in a set's table; see collect_pile.h.
 *
 * In a set's table, a value's slot is its high bits, so somebody who chooses the values can make
 * all of them belong in one slot.  In the pile, the slot depends on a seed that nobody outside of
 * the process knows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/pg_prng.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "pg/collect_pile.h"
#include "pg/compat.h"

/* Interrupts are answered after this many values. */
#define VALUES_PER_CHECK	((uint64) 64 * 1024)

static uint64 pile_seed;

/* Hashes a value and the seed by the finalizer of MurmurHash3. */
static inline uint32
pile_hash_value(uint64 value)
{
	value ^= pile_seed;
	value ^= value >> 33;
	value *= UINT64CONST(0xff51afd7ed558ccd);
	value ^= value >> 33;
	value *= UINT64CONST(0xc4ceb9fe1a85ec53);
	return (uint32) (value ^ (value >> 33));
}

#define SH_PREFIX			pile
#define SH_ELEMENT_TYPE		BloomfamPileEntry
#define SH_KEY_TYPE			uint64
#define SH_KEY				value
#define SH_HASH_KEY(tb, key)	pile_hash_value(key)
#define SH_EQUAL(tb, a, b)	((a) == (b))
#define SH_SCOPE			static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

bool
bloomfam_pile_add(BloomfamPile *pile, MemoryContext context, uint64 value, uint8 repeats)
{
	BloomfamPileEntry *entry;
	bool		found;

	if (pile->hash == NULL)
	{
		while (pile_seed == 0)
			pile_seed = pg_prng_uint64(&pg_global_prng_state);
		pile->hash = pile_create(context, 64, NULL);
	}
	entry = pile_insert(pile->hash, value, &found);
	if (found)
		bloomfam_add_repeats(&entry->repeats, repeats + 1);
	else
	{
		entry->repeats = repeats;
		pile->count++;
	}
	return !found;
}

static int
compare_entries(const void *a, const void *b, void *arg)
{
	uint64		x = ((const BloomfamPileEntry *) a)->value;
	uint64		y = ((const BloomfamPileEntry *) b)->value;

	return x < y ? -1 : x > y;
}

BloomfamPileEntry *
bloomfam_pile_take(BloomfamPile *pile, MemoryContext context)
{
	BloomfamPileEntry *entries;
	BloomfamPileEntry *entry;
	pile_iterator iterator;
	uint64		n = 0;

	entries = MemoryContextAllocHuge(context, pile->count * sizeof(BloomfamPileEntry));
	pile_start_iterate(pile->hash, &iterator);
	while ((entry = pile_iterate(pile->hash, &iterator)) != NULL)
	{
		if (n % VALUES_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		entries[n++] = *entry;
	}
	Assert(n == pile->count);
	bloomfam_pile_free(pile);
	qsort_interruptible(entries, n, sizeof(BloomfamPileEntry), compare_entries, NULL);
	return entries;
}

void
bloomfam_pile_free(BloomfamPile *pile)
{
	if (pile->hash != NULL)
		pile_destroy(pile->hash);
	pile->hash = NULL;
	pile->count = 0;
}
