/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * run.h
 *	  Plans, writes and reads runs in the file of a maplet index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_MAPLET_RUN_H
#define BLOOMFAM_MAPLET_RUN_H

#include "maplet/meta.h"

/*
 * The properties of the entries of a run that is to be written, by which its size and format are
 * planned.
 */
typedef struct MapletRunFacts
{
	uint64		entries;		/* The maximum number of entries, at least 1. */
	uint64		fingerprints;	/* The approximate number of different fingerprints. */
	BlockNumber first_block;
	BlockNumber last_block;
	uint32		offsets;		/* The largest offset number of a row. */
} MapletRunFacts;

/* Extends the range of blocks and offset numbers in *facts to include the place of an entry. */
static inline void
maplet_facts_add(MapletRunFacts *facts, uint64 place)
{
	facts->first_block = Min(facts->first_block, BF_RUN_BLOCK(place));
	facts->last_block = Max(facts->last_block, BF_RUN_BLOCK(place));
	facts->offsets = Max(facts->offsets, BF_RUN_OFFSET(place));
}

/*
 * Reserves pages for a run that keeps p bits of each hash, and makes it the output with this
 * number: fills meta->outputs[output], whatever it held before.
 */
extern void bloomfam_maplet_plan_run(Relation index, MapletMeta *meta, int output, int p,
									 const MapletRunFacts *facts);

/*
 * Adds a completely written output to the runs of the index, in the metapage's contents.  An output
 * without entries is dropped.
 */
extern void bloomfam_maplet_install_run(MapletMeta *meta, int output);

/* ---- writing a run ---- */

typedef struct MapletRunWriter
{
	Relation	index;
	int			number;			/* The output's number. */

	/*
	 * In CREATE INDEX, the metapage's contents in memory; NULL if the metapage is in the file
	 * already.
	 */
	MapletMeta *local;
	MapletOutput output;		/* The output, as far as it is written. */
	BfRun		run;
	BfRunWriter writer;
	BlockNumber nblocks;		/* A number of blocks that the file is known to have at least. */
	uint32		pages;			/* The number of pages that this writer has written. */
	PGAlignedBlock page;
	uint8		bodies[2 * MAPLET_BODY];
} MapletRunWriter;

/*
 * Begins to write an output, or resumes it after the main pages that *output says are written.
 * local is the metapage's contents in a build, and otherwise NULL.
 */
extern void bloomfam_maplet_write_begin(MapletRunWriter *w, Relation index, int number,
										const MapletOutput *output, MapletMeta *local);

/*
 * Adds an entry to the run; entries must come in the order of their hashes.  Writes the pages that
 * are then complete.
 */
extern void bloomfam_maplet_write(MapletRunWriter *w, const BfRunEntry *entry);

/*
 * Writes all main pages before the one with this number, and updates w->output, which the caller
 * then stores in the metapage.  The number must be the run's number of main pages, or be above that
 * of the last entry's page.
 */
extern void bloomfam_maplet_write_until(MapletRunWriter *w, uint32 number);

/* ---- reading a run ---- */

/*
 * Locks and opens a page of a run.  Returns false, with nothing locked, if the page belongs to
 * another run or tail by now; the caller must then look at the metapage.  Raises an error if the
 * page belongs to this run and is damaged.
 */
extern bool bloomfam_maplet_open_page(Relation index, const MapletRun *run, const BfRun *open,
									  BfRunPageKind kind, uint32 number, int lockmode,
									  BufferAccessStrategy strategy, Buffer *buffer,
									  BfRunPage *page);

/*
 * Returns the block of a run's main or overflow page.  Raises an error if the run has no such page.
 */
extern BlockNumber bloomfam_maplet_page_block(Relation index, const MapletRun *run,
											  BfRunPageKind kind, uint32 number);

/* Reads a run's entries in order, from a given main page on. */
typedef struct MapletRunReader
{
	Relation	index;
	const MapletRun *run;
	const BfRun *open;
	BufferAccessStrategy strategy;
	uint32		interval;		/* The number of the next main page to read. */

	/* The number of the next overflow page to read, of the last main page. */
	uint32		overflow_at;

	/* The number after that of the last main page's last overflow page. */
	uint32		overflow_end;
	BfRunEntry *entries;		/* The entries of the page that was read last; palloc'd. */
	uint32		n;

	/* The number of entries of the array "entries" that maplet_read() has returned. */
	uint32		at;
} MapletRunReader;

extern void bloomfam_maplet_read_begin(MapletRunReader *reader, Relation index,
									   const MapletRun *run, const BfRun *open, uint32 interval,
									   BufferAccessStrategy strategy);

/*
 * Reads the entries of the run's next page, and sets reader->n to their number.  Returns false at
 * the end of the run.  Is called by maplet_read().
 */
extern bool bloomfam_maplet_read_page(MapletRunReader *reader);

/* Returns the run's next entry, or NULL at the end.  Raises an error if a page is not the run's. */
static inline const BfRunEntry *
maplet_read(MapletRunReader *reader)
{
	while (unlikely(reader->at >= reader->n))
		if (!bloomfam_maplet_read_page(reader))
			return NULL;
	return &reader->entries[reader->at++];
}

#endif							/* BLOOMFAM_MAPLET_RUN_H */
