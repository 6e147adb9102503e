/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * run.h
 *	  Runs in the index's file: planning, writing and reading them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_MAPLET_RUN_H
#define BLOOMFAM_MAPLET_RUN_H

#include "maplet/meta.h"

/* What the entries of a run to be written are like. */
typedef struct MapletRunFacts
{
	uint64		entries;		/* at most; above 0 */
	uint64		fingerprints;	/* about */
	BlockNumber first_block;
	BlockNumber last_block;
	uint32		offsets;		/* the largest */
} MapletRunFacts;

/* Takes a place into account. */
static inline void
maplet_facts_add(MapletRunFacts *facts, uint64 place)
{
	facts->first_block = Min(facts->first_block, BF_RUN_BLOCK(place));
	facts->last_block = Max(facts->last_block, BF_RUN_BLOCK(place));
	facts->offsets = Max(facts->offsets, BF_RUN_OFFSET(place));
}

/* Reserves pages for a run of p kept bits: fills meta->outputs[output], whatever it held. */
extern void bloomfam_maplet_plan_run(Relation index, MapletMeta *meta, int output, int p,
									 const MapletRunFacts *facts);

/*
 * Makes an output that is written whole a run of the index, in the metapage's contents; drops it
 * if it has no entries.
 */
extern void bloomfam_maplet_install_run(MapletMeta *meta, int output);

/* ---- writing ---- */

typedef struct MapletRunWriter
{
	Relation	index;
	int			number;			/* of the output */
	MapletMeta *local;			/* build: the metapage's contents; else NULL, it is the file's */
	MapletOutput output;		/* as far as it is written */
	BfRun		run;
	BfRunWriter writer;
	BlockNumber nblocks;		/* of the file, at least */
	uint32		pages;			/* written by this writer */
	PGAlignedBlock page;
	uint8		bodies[2 * MAPLET_BODY];
} MapletRunWriter;

/* Begins, or goes on, where the output says. */
extern void bloomfam_maplet_write_begin(MapletRunWriter *w, Relation index, int number,
										const MapletOutput *output, MapletMeta *local);

/* The next entry in order; writes what that completes. */
extern void bloomfam_maplet_write(MapletRunWriter *w, const BfRunEntry *entry);

/*
 * Writes all main pages before that of this number, and brings w->output up to date: what the
 * caller then stores in the metapage.  number: the run's number of main pages, or above that of
 * the last entry.
 */
extern void bloomfam_maplet_write_until(MapletRunWriter *w, uint32 number);

/* ---- reading ---- */

/*
 * Locks and opens a page of a run.  false: the page is of somebody else, nothing is locked; the
 * caller looks at the metapage.  Raises an error for a page of this run that is damaged.
 */
extern bool bloomfam_maplet_open_page(Relation index, const MapletRun *run, const BfRun *open,
									  BfRunPageKind kind, uint32 number, int lockmode,
									  BufferAccessStrategy strategy, Buffer *buffer,
									  BfRunPage *page);

/* The block of that page. */
extern BlockNumber bloomfam_maplet_page_block(Relation index, const MapletRun *run,
											  BfRunPageKind kind, uint32 number);

/* Reads a run's entries in order, from a main page on. */
typedef struct MapletRunReader
{
	Relation	index;
	const MapletRun *run;
	const BfRun *open;
	BufferAccessStrategy strategy;
	uint32		interval;		/* the next main page */
	uint32		overflow_at;	/* the next overflow page, ... */
	uint32		overflow_end;	/* ... of the interval before */
	BfRunEntry *entries;		/* of the page read last; palloc'd */
	uint32		n;
	uint32		at;				/* entries handed out */
} MapletRunReader;

extern void bloomfam_maplet_read_begin(MapletRunReader *reader, Relation index,
									   const MapletRun *run, const BfRun *open, uint32 interval,
									   BufferAccessStrategy strategy);

/* The next page's entries, as reader->n says; false at the end.  For maplet_read(). */
extern bool bloomfam_maplet_read_page(MapletRunReader *reader);

/* The next entry; NULL at the end.  Raises an error if a page is not the run's. */
static inline const BfRunEntry *
maplet_read(MapletRunReader *reader)
{
	while (unlikely(reader->at >= reader->n))
		if (!bloomfam_maplet_read_page(reader))
			return NULL;
	return &reader->entries[reader->at++];
}

#endif							/* BLOOMFAM_MAPLET_RUN_H */
