/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * seen.h
 *	  A set of the hashes of keys that were there before.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SEEN_H
#define SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zeros: an empty set. */
typedef struct Seen
{
	uint64_t   *slots;			/* 0: a free one; NULL: there are none yet */
	size_t		nslots;			/* a power of two; 0: there are none yet */
	size_t		used;
	bool		has_zero;		/* the hash 0, which no slot can hold */
} Seen;

extern bool seen_add(Seen *seen, uint64_t hash);
extern void seen_free(Seen *seen);

#endif							/* SEEN_H */
