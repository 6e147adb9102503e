/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * meta.h
 *	  The metapage: which runs and tails there are, and what is under way.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_MAPLET_META_H
#define BLOOMFAM_MAPLET_META_H

#include "pg/compat.h"

#include "access/generic_xlog.h"
#include "core/bf.h"
#include "core/bf_run.h"
#include "storage/lock.h"

#include "maplet/page.h"

#define MAPLET_FORMAT			1

/* Runs at most.  Merging keeps them well below (merge.c). */
#define MAPLET_MAX_RUNS			72

/* Outputs that are being written: of the flush, and of a merge for each level. */
#define MAPLET_FLUSH_OUTPUT		0
#define MAPLET_OUTPUTS			8

/* Tests make tails small, so that all happens often. */
#ifndef MAPLET_MAX_TAIL_PAGES
#define MAPLET_MAX_TAIL_PAGES	128
#endif
#define MAPLET_FIRST_TAIL_PAGES	2

/* Bits of a hash that a tail keeps, so that no run can keep more. */
#define MAPLET_HASH_BITS		48
#define MAPLET_HASH_MASK		(~((UINT64CONST(1) << (64 - MAPLET_HASH_BITS)) - 1))

/* Options. */
#define MAPLET_MIN_REMAINDER	1
#define MAPLET_MAX_REMAINDER	16
#define MAPLET_DEFAULT_REMAINDER 8
#define MAPLET_MAX_ROWS			1e11

/* What the kept bits of a run are for at least, when nothing is known of the table. */
#define MAPLET_MIN_ROWS			1e6

/* Kept bits grow by so many at a time, as the index does. */
#define MAPLET_P_STEP			3

#define MAPLET_FAMILY_LEN		128

/* Pieces that a run's main pages are in, at most: so it fills gaps that merged runs have left. */
#define MAPLET_PIECES			3

typedef struct MapletExtent
{
	BlockNumber start;
	uint32		len;			/* 0: none */
} MapletExtent;

typedef struct MapletRun
{
	uint64		id;
	uint64		entries;		/* as written, less what VACUUM has removed */
	uint64		fingerprints;	/* different ones, as written */
	BfRunShape	shape;
	MapletExtent main[MAPLET_PIECES];	/* the shape.pages main pages, in this order */
	MapletExtent overflow[2];	/* the overflow pages, in this order */
	uint32		noverflow;		/* ... that are written */
	uint32		output;			/* the merge that reads it; 0: none */
} MapletRun;

/* A run that is being written.  id = 0: none. */
typedef struct MapletOutput
{
	MapletRun	run;			/* its extents are reserved; entries so far */
	uint64		expected;		/* entries that it will have, at most */
	uint32		interval;		/* main pages before it are written */
	uint32		unused;
} MapletOutput;

typedef struct MapletTail
{
	uint64		generation;
	MapletExtent extent;		/* length 0, or a power of two */
} MapletTail;

typedef struct MapletMeta
{
	uint32		format;
	uint32		hash_id;		/* BfHashId */
	uint64		version;		/* another one with each change that look-ups must see */
	uint64		next_id;
	uint64		seed;
	uint64		family_id;
	double		rows_hint;		/* option rows; 0: none */
	uint32		remainder_bits;
	uint32		p;				/* kept bits of the next run */
	BlockNumber end;			/* blocks from here on were never used */
	uint16		active;			/* the tail that takes entries */
	uint16		pending;		/* is the other one to be flushed? */
	MapletTail	tails[2];
	uint32		nruns;
	uint32		family_len;
	char		family[MAPLET_FAMILY_LEN];	/* UTF-8, cut; for messages */
	MapletOutput outputs[MAPLET_OUTPUTS];
	MapletRun	runs[MAPLET_MAX_RUNS];	/* in the order in which they were installed */
} MapletMeta;

StaticAssertDecl(sizeof(MapletMeta) <= MAPLET_BODY, "the metapage holds it all");

/* A copy of the metapage, and what follows from its runs. */
typedef struct MapletView
{
	MapletMeta	meta;
	BfRun		runs[MAPLET_MAX_RUNS];
} MapletView;

/* What the page locks of an index protect. */
typedef enum MapletLock
{
	MAPLET_LOCK_SWITCH = 0,		/* the switch of tails */
	MAPLET_LOCK_FLUSH = 1,		/* the tail that is to be flushed, MAPLET_FLUSH_OUTPUT */
	MAPLET_LOCK_MERGE = 2,		/* all other outputs */
	MAPLET_LOCK_FIRST_KEY = 3	/* this one and those after it: keys (bloomfam_maplet_lock_key()) */
} MapletLock;

extern void bloomfam_maplet_lock(Relation index, MapletLock lock);
extern bool bloomfam_maplet_trylock(Relation index, MapletLock lock);
extern void bloomfam_maplet_unlock(Relation index, MapletLock lock);

/* Only for assertions. */
extern bool bloomfam_maplet_has_lock(Relation index, MapletLock lock);

/*
 * The lock of a key, which who inserts into a unique index holds while it looks for the key and
 * adds its entry.  It is one of 65,536 page locks, by the high bits of the key's hash.  It is
 * taken before the locks above and before any buffer lock, and its holder waits for no transaction.
 */
extern void bloomfam_maplet_lock_key(Relation index, uint64 hash);
extern void bloomfam_maplet_unlock_key(Relation index, uint64 hash);

/* The metapage of an index without entries, in memory.  The first tail follows it in the file. */
extern void bloomfam_maplet_meta_init(Page page, double rows, int remainder_bits,
									  uint32 tail_pages, uint64 family_id, const char *family,
									  uint32 family_len);

static inline MapletMeta *
maplet_meta(Page page)
{
	return (MapletMeta *) maplet_body(page);
}

/* Copies the metapage, checking all of it.  Raises an error if it is none. */
extern void bloomfam_maplet_meta_read(Relation index, MapletView *view);

/*
 * The same for who has a copy (or zeros): reads only if its version has changed, and tells
 * whether.
 */
extern bool bloomfam_maplet_meta_refresh(Relation index, MapletView *view);

/*
 * For who found a page in other hands: refreshes the copy, and raises an error if it was the
 * newest, as then the page is damaged.
 */
extern void bloomfam_maplet_meta_expect_change(Relation index, MapletView *view,
											   BlockNumber block, const char *reason);

/*
 * A change of the metapage, atomic and logged: edits *change.meta between begin and commit.
 * Whatever fails between them must be an error (ereport), which undoes it.
 */
typedef struct MapletChange
{
	Relation	index;
	Buffer		buffer;
	GenericXLogState *xlog;
	MapletMeta *meta;
} MapletChange;

extern void bloomfam_maplet_change_begin(Relation index, MapletChange *change);
extern void bloomfam_maplet_change_commit(MapletChange *change);
extern void bloomfam_maplet_change_abandon(MapletChange *change);

/* ---- of the metapage's contents, in memory ---- */

static inline uint64
maplet_new_id(MapletMeta *meta)
{
	return meta->next_id++;
}

/*
 * Reserves blocks, in at most so many pieces: in the smallest gap of the file that has room for
 * all, else in the largest gaps, and what is left at the file's end.  Pieces that are not needed
 * get length 0.  Raises an error beyond 2^32 blocks.
 */
extern void bloomfam_maplet_allocate(MapletMeta *meta, uint32 len, MapletExtent *pieces,
									 int npieces);

/* All extents in use or reserved, by their blocks; how many. */
#define MAPLET_MAX_EXTENTS \
	(2 + (MAPLET_PIECES + 2) * (MAPLET_MAX_RUNS + MAPLET_OUTPUTS))
extern int	bloomfam_maplet_extents(const MapletMeta *meta, MapletExtent *extents);

/* The run with this id, or NULL. */
extern MapletRun *bloomfam_maplet_find_run(MapletMeta *meta, uint64 id);

/* Entries of all runs. */
extern double bloomfam_maplet_entries(const MapletMeta *meta);

/* Bits to keep for so many rows. */
extern int	bloomfam_maplet_bits(double rows, int remainder_bits);

/*
 * The block of a run's main or overflow page, and in *neighbours how many of the next pages follow
 * it in the file; InvalidBlockNumber: the run has no such page.
 */
static inline BlockNumber
maplet_run_block(const MapletRun *run, BfRunPageKind kind, uint32 number, uint32 *neighbours)
{
	const MapletExtent *extents = kind == BF_RUN_MAIN ? run->main : run->overflow;
	int			n = kind == BF_RUN_MAIN ? lengthof(run->main) : lengthof(run->overflow);
	int			i;

	for (i = 0; i < n; i++)
	{
		if (number < extents[i].len)
		{
			*neighbours = extents[i].len - 1 - number;
			return extents[i].start + number;
		}
		number -= extents[i].len;
	}
	*neighbours = 0;
	return InvalidBlockNumber;
}

#endif							/* BLOOMFAM_MAPLET_META_H */
