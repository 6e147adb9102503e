/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * seen.h
 *	  A set of hashes, those of keys that occurred before.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SEEN_H
#define SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A set of hashes.  A struct of all zeros is an empty set. */
typedef struct Seen
{
	uint64_t   *slots;			/* The hashes; 0: a free slot; NULL: there are no slots yet. */
	size_t		nslots;			/* Number of slots, a power of two; 0: there are no slots yet. */
	size_t		used;
	bool		has_zero;		/* True if the set has the hash 0, which cannot be in a slot. */
} Seen;

extern bool seen_add(Seen *seen, uint64_t hash);
extern void seen_free(Seen *seen);

#endif							/* SEEN_H */
