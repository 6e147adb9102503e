/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * collect_pile.h
 *	  The pile: a hash table with a secret seed, for values of a set that have no place in its
 *	  table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_COLLECT_PILE_H
#define BLOOMFAM_COLLECT_PILE_H

#include "core/bf.h"

/* The bytes of the memory budget that a value in the pile is charged for. */
#define BLOOMFAM_PILE_BYTES		48

struct pile_hash;

typedef struct BloomfamPile
{
	struct pile_hash *hash;		/* The hash table; NULL if the pile is empty. */
	uint64		count;			/* The number of values in the pile. */
} BloomfamPile;

typedef struct BloomfamPileEntry
{
	uint64		value;

	/* How often the value came again after the first time, up to BF_MAX_TIMES - 1. */
	uint8		repeats;
	char		status;			/* The state of the entry in simplehash. */
} BloomfamPileEntry;

/* Counts that a value came "more" times again. */
static inline void
bloomfam_add_repeats(uint8 *repeats, int more)
{
	*repeats = (uint8) Min(*repeats + more, BF_MAX_TIMES - 1);
}

/*
 * Adds to the pile a value that came repeats + 1 times.  Returns whether the value is new in the
 * pile.  The pile's memory is allocated in the context.  Takes constant time on average, even if
 * somebody has chosen the values.
 */
extern bool bloomfam_pile_add(BloomfamPile *pile, MemoryContext context, uint64 value,
							  uint8 repeats);

/*
 * Returns the values of the pile in order, as an array that the caller frees by pfree(), and
 * empties the pile.  The pile must have values.
 */
extern BloomfamPileEntry *bloomfam_pile_take(BloomfamPile *pile, MemoryContext context);

extern void bloomfam_pile_free(BloomfamPile *pile);

#endif							/* BLOOMFAM_COLLECT_PILE_H */
