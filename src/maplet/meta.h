/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * meta.h
 *	  The metapage: which runs and tails an index has, and which flush and merges are under way.
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

/* The maximum number of runs.  Merging keeps their number well below it (merge.c). */
#define MAPLET_MAX_RUNS			72

/*
 * The outputs, that is, runs that are being written: number MAPLET_FLUSH_OUTPUT is that of the
 * flush, and each of the others is that of one level's merge.
 */
#define MAPLET_FLUSH_OUTPUT		0
#define MAPLET_OUTPUTS			8

/* Tests make tails smaller, so that they are switched, flushed and merged often. */
#ifndef MAPLET_MAX_TAIL_PAGES
#define MAPLET_MAX_TAIL_PAGES	128
#endif
#define MAPLET_FIRST_TAIL_PAGES	2

/* The number of a hash's high bits that a tail keeps, and so the most that a run can keep. */
#define MAPLET_HASH_BITS		48
#define MAPLET_HASH_MASK		(~((UINT64CONST(1) << (64 - MAPLET_HASH_BITS)) - 1))

/* Limits and defaults of the storage options remainder_bits and rows. */
#define MAPLET_MIN_REMAINDER	1
#define MAPLET_MAX_REMAINDER	16
#define MAPLET_DEFAULT_REMAINDER 8
#define MAPLET_MAX_ROWS			1e11

/* Unless the option rows is set, runs keep enough bits of a hash for at least this many rows. */
#define MAPLET_MIN_ROWS			1e6

/*
 * When the index has grown, the number of bits that new runs keep is increased by this many at a
 * time.
 */
#define MAPLET_P_STEP			3

#define MAPLET_FAMILY_LEN		128

/*
 * The maximum number of extents that a run's main pages are in.  With several extents, a run can
 * fill gaps that merged runs have left in the file.
 */
#define MAPLET_PIECES			3

typedef struct MapletExtent
{
	BlockNumber start;
	uint32		len;			/* The number of blocks; 0 for an extent that does not exist. */
} MapletExtent;

typedef struct MapletRun
{
	uint64		id;

	/* The number of entries that were written, less those that VACUUM has removed. */
	uint64		entries;
	uint64		fingerprints;	/* The number of different fingerprints that were written. */
	BfRunShape	shape;

	/* The extents of the shape.pages main pages, in the order of the pages. */
	MapletExtent main[MAPLET_PIECES];
	MapletExtent overflow[2];	/* The extents of the overflow pages, in the order of the pages. */
	uint32		noverflow;		/* The number of overflow pages that are written. */

	/*
	 * The number of the output (the new run) into which a merge is writing this run's entries; 0 if
	 * no merge reads the run.
	 */
	uint32		output;
} MapletRun;

/* A run that a flush or merge is writing. run.id is 0 if no run is being written. */
typedef struct MapletOutput
{
	/*
	 * The run that is being written, with its extents reserved; run.entries is the number of
	 * entries written so far.
	 */
	MapletRun	run;
	uint64		expected;		/* The maximum number of entries that the whole run will have. */

	/* The number of main pages that are written: those with smaller numbers than this. */
	uint32		interval;
	uint32		unused;
} MapletOutput;

typedef struct MapletTail
{
	uint64		generation;
	MapletExtent extent;		/* The tail's pages; the length is 0 or a power of two. */
} MapletTail;

typedef struct MapletMeta
{
	uint32		format;
	uint32		hash_id;		/* The hash function of keys, a BfHashId. */
	uint64		version;		/* Gets a new value with each change that lookups must see. */
	uint64		next_id;
	uint64		seed;
	uint64		family_id;
	double		rows_hint;		/* The option rows; 0 if it is not set. */
	uint32		remainder_bits;
	uint32		p;				/* The number of bits of a hash that the next run keeps. */

	/*
	 * The number of the first block behind all blocks that were ever used; it and all later blocks
	 * have never been used.
	 */
	BlockNumber end;
	uint16		active;			/* The number of the tail that takes new entries: 0 or 1. */
	uint16		pending;		/* 1 if the tail that is not active waits for its flush, else 0. */
	MapletTail	tails[2];
	uint32		nruns;
	uint32		family_len;

	/* The family of the keys' types in UTF-8, possibly cut short; for messages only. */
	char		family[MAPLET_FAMILY_LEN];
	MapletOutput outputs[MAPLET_OUTPUTS];

	/* The index's runs, in the order in which they were added to it. */
	MapletRun	runs[MAPLET_MAX_RUNS];
} MapletMeta;

StaticAssertDecl(sizeof(MapletMeta) <= MAPLET_BODY, "the metapage holds it all");

/* A copy of the metapage, and its runs as bf_run_open() has opened them. */
typedef struct MapletView
{
	MapletMeta	meta;
	BfRun		runs[MAPLET_MAX_RUNS];
} MapletView;

/* The heavyweight page locks of an index, by their block numbers, and what they protect. */
typedef enum MapletLock
{
	MAPLET_LOCK_SWITCH = 0,		/* Protects the switch of tails. */

	/* Protects the tail that waits for its flush, and MAPLET_FLUSH_OUTPUT. */
	MAPLET_LOCK_FLUSH = 1,

	/* Protects all outputs of merges (the runs that merges are writing). */
	MAPLET_LOCK_MERGE = 2,

	/*
	 * The first of the lock numbers that stand for keys; all larger numbers do, too.  See
	 * bloomfam_maplet_lock_key().
	 */
	MAPLET_LOCK_FIRST_KEY = 3
} MapletLock;

extern void bloomfam_maplet_lock(Relation index, MapletLock lock);
extern bool bloomfam_maplet_trylock(Relation index, MapletLock lock);
extern void bloomfam_maplet_unlock(Relation index, MapletLock lock);

/* Returns whether this process holds the lock.  Is only for assertions. */
extern bool bloomfam_maplet_has_lock(Relation index, MapletLock lock);

/*
 * Takes the lock of a key.  An insert into a unique index holds it while it looks for the key and
 * adds its entry.  It is one of 65,536 page locks, chosen by the high bits of the key's hash.  It
 * must be taken before MAPLET_LOCK_SWITCH, MAPLET_LOCK_FLUSH, MAPLET_LOCK_MERGE and any buffer
 * lock.  Its holder must not wait for a transaction.
 */
extern void bloomfam_maplet_lock_key(Relation index, uint64 hash);
extern void bloomfam_maplet_unlock_key(Relation index, uint64 hash);

/*
 * Initializes the metapage of an index without entries, in memory.  The first tail has tail_pages
 * pages, which follow the metapage in the file.
 */
extern void bloomfam_maplet_meta_init(Page page, double rows, int remainder_bits,
									  uint32 tail_pages, uint64 family_id, const char *family,
									  uint32 family_len);

static inline MapletMeta *
maplet_meta(Page page)
{
	return (MapletMeta *) maplet_body(page);
}

/*
 * Copies the metapage to *view, and checks all of it.  Raises an error if it is not a valid
 * metapage.
 */
extern void bloomfam_maplet_meta_read(Relation index, MapletView *view);

/*
 * Refreshes a copy of the metapage, whose version may be 0 at first.  Copies the metapage only if
 * its version differs from the copy's, and returns whether it did.  The last copy is kept with the
 * open relation, so that a scan that begins with no copy seldom makes one.
 */
extern bool bloomfam_maplet_meta_refresh(Relation index, MapletView *view);

/*
 * Refreshes the copy of the metapage of a caller that has found a page in another owner's hands.
 * Raises an error if the copy was the newest one, as then the page is damaged.
 */
extern void bloomfam_maplet_meta_expect_change(Relation index, MapletView *view,
											   BlockNumber block, const char *reason);

/*
 * A change of the metapage, which is atomic and logged.  The caller edits *meta between
 * bloomfam_maplet_change_begin() and bloomfam_maplet_change_commit().  A failure between the two
 * must raise an error (ereport), which undoes the change.
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

/* ---- functions of the metapage's contents, in memory ---- */

static inline uint64
maplet_new_id(MapletMeta *meta)
{
	return meta->next_id++;
}

/*
 * Reserves len blocks in at most npieces extents: in the smallest gap of the file that has room for
 * all of them, or else in the largest gaps, with the rest at the file's end.  Extents that are not
 * needed get length 0.  Raises an error if the index would exceed 2^32 blocks.
 */
extern void bloomfam_maplet_allocate(MapletMeta *meta, uint32 len, MapletExtent *pieces,
									 int npieces);

/*
 * Fills the array with all extents that are in use or reserved, in the order of their blocks, and
 * returns their number.  It is at most MAPLET_MAX_EXTENTS.
 */
#define MAPLET_MAX_EXTENTS \
	(2 + (MAPLET_PIECES + 2) * (MAPLET_MAX_RUNS + MAPLET_OUTPUTS))
extern int	bloomfam_maplet_extents(const MapletMeta *meta, MapletExtent *extents);

/* Returns the run with this id, or NULL if there is none. */
extern MapletRun *bloomfam_maplet_find_run(MapletMeta *meta, uint64 id);

/* Returns the number of entries of all runs. */
extern double bloomfam_maplet_entries(const MapletMeta *meta);

/*
 * Returns how many bits of a hash runs keep for this number of rows: log2 of the rows, rounded up,
 * and remainder_bits more, within the limits 12 and MAPLET_HASH_BITS.
 */
extern int	bloomfam_maplet_bits(double rows, int remainder_bits);

/*
 * Returns the block of a run's main or overflow page, or InvalidBlockNumber if the run has no such
 * page.  Sets *neighbours to the number of the run's next pages that directly follow it in the
 * file.
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
