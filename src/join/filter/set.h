/*-------------------------------------------------------------------------
 *
 * set.h
 *	  A finished filter, whatever its form, and what it says of keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_SET_H
#define BLOOMFAM_JOIN_SET_H

#include "join/filter/design.h"

/*
 * No key that was added is denied.  A Bloom filter is asked for hashes, and lets pass
 * bloomfam.join_filter_fpr of the others; the other forms are asked for the numbers themselves.
 */
typedef struct JoinSet
{
	JoinDesign	design;
	const uint8 *payload;		/* of a bitmap: a number's bit is its distance from the first */
	BfView		view;			/* of a Bloom filter */
	BfProbe		probe;
} JoinSet;

/*
 * Opens a filter, whose payload was filled by this design, perhaps in another process, and lives
 * as long as the set is used.
 */
extern void bloomfam_join_set_open(JoinSet *set, const JoinDesign *design, const uint8 *payload);

/* Asks for n keys: hashes or numbers. */
extern void bloomfam_join_set_has_many(const JoinSet *set, const uint64 *keys, int n, bool *result);

/* The share of keys that are not in it that it lets pass; reads all of a Bloom filter. */
extern double bloomfam_join_set_fpr(const JoinSet *set);

/* Is it asked for numbers? */
static inline bool
bloomfam_join_set_is_of_numbers(const JoinSet *set)
{
	return set->design.form != JOIN_FORM_BLOOM;
}

static inline bool
bloomfam_join_set_has(const JoinSet *set, uint64 key)
{
	const uint64 *words = (const uint64 *) set->payload;
	uint64		bit = key - (uint64) set->design.first;

	switch (set->design.form)
	{
		case JOIN_FORM_BLOOM:
			return set->probe(&set->view, key);
		case JOIN_FORM_BITMAP:
			return bit <= set->design.span && (words[bit / 64] >> bit % 64 & 1) != 0;
		case JOIN_FORM_RANGE:
			return bit <= set->design.span;
	}
	pg_unreachable();
}

#endif							/* BLOOMFAM_JOIN_SET_H */
