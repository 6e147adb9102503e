/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * collect_pile.h
 *	  The values of a set that its table has no place for, in a hash table with a secret seed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_COLLECT_PILE_H
#define BLOOMFAM_COLLECT_PILE_H

#include "core/bf.h"

/* What a value in the pile is counted as, in bytes. */
#define BLOOMFAM_PILE_BYTES		48

struct pile_hash;

typedef struct BloomfamPile
{
	struct pile_hash *hash;		/* NULL: the pile is empty */
	uint64		count;			/* values in it */
} BloomfamPile;

typedef struct BloomfamPileEntry
{
	uint64		value;
	uint8		repeats;		/* how often it came again, up to BF_MAX_TIMES - 1 */
	char		status;			/* the hash table's */
} BloomfamPileEntry;

/* Counts a value that came more times where it came before. */
static inline void
bloomfam_add_repeats(uint8 *repeats, int more)
{
	*repeats = (uint8) Min(*repeats + more, BF_MAX_TIMES - 1);
}

/*
 * Adds a value that came repeats + 1 times; returns whether it is a new one.  The pile's memory
 * comes from context.  Constant time on average, whoever chose the values.
 */
extern bool bloomfam_pile_add(BloomfamPile *pile, MemoryContext context, uint64 value,
							  uint8 repeats);

/*
 * Returns the values, in order, as an array that the caller frees with pfree(), and empties the
 * pile, which has some.
 */
extern BloomfamPileEntry *bloomfam_pile_take(BloomfamPile *pile, MemoryContext context);

extern void bloomfam_pile_free(BloomfamPile *pile);

#endif							/* BLOOMFAM_COLLECT_PILE_H */
