/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * collect.h
 *	  A set of 64-bit hashes that is built in bounded memory, by which a filter learns how many
 *	  distinct keys it has.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_COLLECT_H
#define BLOOMFAM_COLLECT_H

#include "port/pg_bswap.h"
#include "storage/buffile.h"

#include "core/bf.h"
#include "pg/collect_pile.h"
#include "pg/compat.h"

/*
 * What all sets of one aggregate node share: a limit of memory, and the file for what exceeds it.
 */
typedef struct BloomfamBudget
{
	Size		limit;			/* The memory limit of all tables together, in bytes. */
	Size		used;

	/*
	 * True if a set may write values to the file when the limit is reached; otherwise tables grow
	 * beyond the limit.
	 */
	bool		may_spill;
	BufFile    *file;			/* The temporary file; NULL until it is needed. */
	off_t		file_end;
} BloomfamBudget;

/*
 * A sorted run of values in the temporary file.  If the run is one of a set, its values are
 * distinct; in a run of a multiset they may repeat.
 */
typedef struct BloomfamRun
{
	off_t		start;			/* The place of the first value in the file, in bytes. */
	uint64		count;			/* The number of values. */
	uint64		distinct;		/* The number of distinct values. */
	uint64		position;		/* The number of values that a merge has read. */

	/* The value of "position" at the beginning of the range that a merge is gathering. */
	uint64		mark;
} BloomfamRun;

typedef struct BloomfamSet
{
	BloomfamBudget *budget;
	MemoryContext context;

	/* True if values are kept as often as they came, up to BF_MAX_TIMES. */
	bool		multiset;

	/* The hash table, with open addressing and 0 for a free slot; NULL before the first value. */
	uint64	   *slots;

	/*
	 * In a multiset, how often the value of each slot came again after the first time, in memory
	 * behind the slots; NULL in a set.
	 */
	uint8	   *repeats;
	int			log2_size;

	/* The number of values in the slots and in the pile, without repeated ones. */
	uint64		count;

	/* The pile: values that linear probing would put too far from their own slots in the table. */
	BloomfamPile pile;

	/* True if the slots were sorted and are now an array of count values, not a hash table. */
	bool		sorted;

	/* How often the value 0 was added, which slots cannot hold; at most 1 in a set. */
	int			zeros;
	BloomfamRun *runs;
	int			nruns;
	int			max_runs;
	uint64		spilled;		/* The number of values in all runs, with repeated ones. */
} BloomfamSet;

/* Initializes an empty set or multiset, whose memory comes from the context. */
extern void bloomfam_set_init(BloomfamSet *set, MemoryContext context, BloomfamBudget *budget,
							  bool multiset);

/*
 * Adds hashes that come in any order except that in which a set is read.  A hash takes some ns
 * while the table is in the caches, and at most half a microsecond, even if somebody has chosen the
 * hashes.
 */
extern void bloomfam_set_add(BloomfamSet *set, const uint64 *hashes, int n);

/*
 * Adds the hashes of another set as bloomfam_set_read() gave them: an array of n little-endian
 * numbers at any address.  The array need not be in order.
 */
extern void bloomfam_set_add_set(BloomfamSet *set, const uint8 *hashes, uint64 n);

/* Returns how many bytes of memory the set takes. */
extern Size bloomfam_set_memory(const BloomfamSet *set);

/* Removes all hashes, and releases the table. */
extern void bloomfam_set_clear(BloomfamSet *set);

/*
 * Reads a set: first the number of distinct hashes, then each of them as often as it is kept, in
 * the ascending order of bf_order().  The set is not changed, and may be read again.
 */
typedef struct BloomfamSetReader
{
	BloomfamSet *set;
	uint64		distinct;		/* The number of distinct hashes. */
	uint64		total;			/* The number of hashes that will be read, with repeated ones. */
	int			zeros;			/* The number of zeros that have been read. */

	/* The index of the next value to read, in the sorted array or in the file. */
	uint64		at;
	int			again;			/* How often the next value has been read already. */
} BloomfamSetReader;

extern void bloomfam_set_read_begin(BloomfamSetReader *reader, BloomfamSet *set);

/* Reads at most max hashes, and returns their number; 0 at the end. */
extern int bloomfam_set_read(BloomfamSetReader *reader, uint64 *hashes, int max);

/* Converts hashes to little-endian numbers, as which they are stored, or back. */
static inline void
bloomfam_swap_hashes(uint64 *hashes, uint64 n)
{
#ifdef WORDS_BIGENDIAN
	uint64		i;

	for (i = 0; i < n; i++)
		hashes[i] = pg_bswap64(hashes[i]);
#endif
}

#endif							/* BLOOMFAM_COLLECT_H */
