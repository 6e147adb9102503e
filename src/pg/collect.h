/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * collect.h
 *	  A set of 64-bit hashes that is built in bounded memory: how a filter learns the number of
 *	  its distinct keys.
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
 * What all sets of one aggregate node share: how much memory they may use together, and the file
 * that takes what does not fit.
 */
typedef struct BloomfamBudget
{
	Size		limit;			/* bytes for all tables together */
	Size		used;
	bool		may_spill;		/* false: tables grow past the limit instead */
	BufFile    *file;			/* made when first needed */
	off_t		file_end;
} BloomfamBudget;

/* A sorted run of values in the file, different ones unless they are a multiset's. */
typedef struct BloomfamRun
{
	off_t		start;			/* of the first value, in bytes */
	uint64		count;			/* values */
	uint64		distinct;		/* different ones among them */
	uint64		position;		/* values read, while merging */
	uint64		mark;			/* ... when the range began that is being gathered */
} BloomfamRun;

typedef struct BloomfamSet
{
	BloomfamBudget *budget;
	MemoryContext context;
	bool		multiset;		/* values are kept as often as they came, up to BF_MAX_TIMES */
	uint64	   *slots;			/* open addressing, 0 is free; NULL before the first value */
	uint8	   *repeats;		/* of a multiset, behind the slots: how often the value of each
								 * came again; else NULL */
	int			log2_size;
	uint64		count;			/* values in slots and in the pile */
	BloomfamPile pile;			/* what would pile up in the table */
	bool		sorted;			/* slots are an array of count values in order, not a table */
	int			zeros;			/* how often the value 0 came, which slots cannot hold; of a set
								 * at most once */
	BloomfamRun *runs;
	int			nruns;
	int			max_runs;
	uint64		spilled;		/* values in all runs, repeated ones counted */
} BloomfamSet;

/* Sets up an empty set, or multiset, whose memory comes from context. */
extern void bloomfam_set_init(BloomfamSet *set, MemoryContext context, BloomfamBudget *budget,
							  bool multiset);

/*
 * Adds hashes that come in any order but a set's own.  Some ns each while the table is in the
 * caches; at most half a microsecond, whatever they were chosen for.
 */
extern void bloomfam_set_add(BloomfamSet *set, const uint64 *hashes, int n);

/*
 * Adds the hashes of another set, as bloomfam_set_read() gave them: an array of n little-endian
 * numbers at any address, which need not be trusted to be in order.
 */
extern void bloomfam_set_add_set(BloomfamSet *set, const uint8 *hashes, uint64 n);

/* Bytes that the set takes in memory. */
extern Size bloomfam_set_memory(const BloomfamSet *set);

/* Forgets all hashes and releases the table. */
extern void bloomfam_set_clear(BloomfamSet *set);

/*
 * Reading a set: the number of distinct hashes, then each of them, as often as it is kept, in the
 * ascending order of bf_order().  Afterwards the set is as it was, and may be read again.
 */
typedef struct BloomfamSetReader
{
	BloomfamSet *set;
	uint64		distinct;		/* hashes, each counted once */
	uint64		total;			/* hashes that will be read */
	int			zeros;			/* how many zeros have been read */
	uint64		at;				/* the next value, among those in order or in the file */
	int			again;			/* how often it has been read */
} BloomfamSetReader;

extern void bloomfam_set_read_begin(BloomfamSetReader *reader, BloomfamSet *set);

/* Returns how many hashes were read, at most max; 0 at the end. */
extern int bloomfam_set_read(BloomfamSetReader *reader, uint64 *hashes, int max);

/* Turns hashes into little-endian numbers, as they are stored, or back. */
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
