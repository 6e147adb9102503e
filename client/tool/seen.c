/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * seen.c
 *	  A set of hashes, by linear probing; see seen.h.
 *
 * Keys that are chosen so that their hashes have equal low bits make the set slow, but never wrong.
 *
 *-------------------------------------------------------------------------
 */
#include "seen.h"

#include "report.h"

#include <stdlib.h>

#define FIRST_SLOTS	((size_t) 4096)

/* Puts a hash other than 0 into a free slot.  Returns false if the hash is in a slot already. */
static bool
put(uint64_t *slots, size_t nslots, uint64_t hash)
{
	size_t		at = hash & (nslots - 1);

	for (; slots[at] != 0; at = (at + 1) & (nslots - 1))
	{
		if (slots[at] == hash)
			return false;
	}
	slots[at] = hash;
	return true;
}

/* Doubles the number of slots.  Ends the program if there is no memory. */
static void
grow(Seen *seen)
{
	size_t		nslots = seen->nslots > 0 ? 2 * seen->nslots : FIRST_SLOTS;
	size_t		size = nslots <= SIZE_MAX / sizeof(uint64_t) ? nslots * sizeof(uint64_t) : SIZE_MAX;
	uint64_t   *slots = need_memory(calloc(nslots, sizeof(uint64_t)), size);
	size_t		i;

	for (i = 0; i < seen->nslots; i++)
	{
		if (seen->slots[i] != 0)
			(void) put(slots, nslots, seen->slots[i]);
	}
	free(seen->slots);
	seen->slots = slots;
	seen->nslots = nslots;
}

/*
 * Adds a hash to a set.  Returns false if the hash is in the set already.  The set takes 11 to 21
 * bytes for each hash.
 */
bool
seen_add(Seen *seen, uint64_t hash)
{
	if (hash == 0)
	{
		bool		is_first = !seen->has_zero;

		seen->has_zero = true;
		return is_first;
	}
	if (seen->used >= seen->nslots / 4 * 3)
		grow(seen);
	if (!put(seen->slots, seen->nslots, hash))
		return false;
	seen->used++;
	return true;
}

/* Frees the memory of a set. */
void
seen_free(Seen *seen)
{
	free(seen->slots);
	seen->slots = NULL;
}
