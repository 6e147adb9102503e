/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_run.h
 *	  Runs: sorted, immutable maps of fingerprint to place, in pages, of which a maplet index is
 *	  made.
 *
 * A run holds entries (hash, place) in the order of their hashes, of which it keeps the top p
 * bits (the *kept* bits).  A look-up gives all places whose kept bits equal the key's: never one
 * too few, and n / 2^p false ones on average, for n entries (bf_run_false_places()).
 *
 *	- *Main pages.*  Page i of m has the entries whose kept bits are in the i-th of m intervals, as
 *	  equal as whole numbers allow: so a look-up computes its one page.
 *	- *Overflow pages.*  What an interval has beyond its main page's capacity, in order.  An
 *	  interval's overflow pages are neighbours; they are numbered through the run, from 0 on; the
 *	  main page knows the first and how many.  Each knows the kept bits that it began with, by
 *	  which they are bisected.
 *	- *Within a page.*  Let v be an entry's kept bits less those that the interval begins with;
 *	  low = the lowest s bits of v, and v >> s = bucket * d + rest.  The buckets are stored in
 *	  unary (Elias-Fano): per bucket a 1 for each of its entries, then a 0.  The rest goes, with the
 *	  place, into one number of w bits, rest * places + place, where d = floor(2^w / places).  As
 *	  neither factor need be a power of two, nothing is lost to rounding.  low is nearly always
 *	  empty: it is for runs whose rest and place would not fit 56 bits.
 *
 * An entry takes w + s + 1 bits and its share of the zeros, altogether about
 * p - log2(n) + log2(places) + 2 bits: as a smaller run has fewer places, that is nearly the same
 * for all runs of an index.
 *
 * A *place* outside is block * 2^16 + offset, 1 <= offset.  Within a run it is relative to its
 * first block, with as many numbers a block as there are offsets.  Runs of different p and places
 * are merged by reading entries (bf_run_read()) and writing them (BfRunWriter): hashes are then
 * aligned at the top of 64 bits, zeros below the kept ones; a writer drops the bits that it does
 * not keep.  The entries of one fingerprint have no order among themselves.
 *
 * A page is a *body* of so many bytes (what the server's own header and special space leave),
 * whose bytes are the same on every machine (docs/format.md).  Bodies are hostile: only what
 * bf_run_open_page() has accepted is looked at, which takes constant time and makes everything
 * here memory-safe whatever the rest holds; bf_run_check_page() reads it wholly.  So are shapes,
 * until bf_run_open() has accepted them.
 *
 * Nothing here allocates, blocks or takes long: all functions are bounded by one page, except
 * that a writer calls emit() once per page.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_RUN_H
#define BF_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kept bits, at most. */
#define BF_RUN_MAX_P			56

/* The sizes of a page's body, in bytes. */
#define BF_RUN_MIN_BODY			512
#define BF_RUN_MAX_BODY			32768

/* Main pages of a run, and overflow pages, at most. */
#define BF_RUN_MAX_PAGES		UINT32_C(0xfffffffe)

#define BF_RUN_MAX_ENTRIES		(UINT64_C(1) << 48)

/* A place, and what it is made of. */
#define BF_RUN_PLACE(block, offset)		((uint64_t) (block) << 16 | (offset))
#define BF_RUN_BLOCK(place)				((uint32_t) ((place) >> 16))
#define BF_RUN_OFFSET(place)			((uint16_t) (place))

/*
 * What must be stored to read a run: all else follows from it.  No padding, so that a metapage
 * may hold it as it is.
 */
typedef struct BfRunShape
{
	uint64_t	d;				/* how many rests there are, at least 1 */
	uint32_t	pages;			/* main pages, 1 to BF_RUN_MAX_PAGES and 2^p */
	uint32_t	first_block;	/* places: of blocks first_block to first_block + blocks - 1, */
	uint32_t	blocks;
	uint16_t	offsets;		/* and in each of offsets 1 to this */
	uint8_t		p;				/* kept bits, 1 to BF_RUN_MAX_P */
	uint8_t		s;				/* bits of low */
} BfRunShape;

/* A shape that was accepted, and what follows from it.  Not stored.  To be read only. */
typedef struct BfRun
{
	BfRunShape	shape;
	uint32_t	body;			/* bytes */
	uint32_t	capacity;		/* entries of a page, at most; 1 to 65535 */
	uint32_t	buckets;		/* of a page */
	uint32_t	unary_at;		/* bytes from the body's beginning */
	uint32_t	records_at;
	uint32_t	width;			/* w + s, bits of a record */
	uint32_t	w;
	uint64_t	places;			/* blocks * offsets */
	uint64_t	by_d;			/* for division: floor((2^64 - 1) / d), and so on */
	uint64_t	by_places;
	uint64_t	by_offsets;
} BfRun;

/*
 * bf_run_plan: the shape of a run made for n entries with p kept bits, all of whose places are in
 * these blocks and offsets, in pages of so many bytes.
 *
 * n is what the main pages are made for, filled to 1 - 2.3 / sqrt(capacity) on average (0.947 at
 * 8 kB).  A run may get more or fewer entries: with more there are overflow pages, with fewer
 * space is left.  Where most entries have the same few fingerprints, n can be less than their
 * number, down to that of fingerprints: as then all mains are full, and little is lost to them.
 *
 * False, and nothing, where there is no such shape: p, the body or n out of range (n = 0 is taken
 * as 1), no blocks or offsets, blocks beyond 2^32, more pages than BF_RUN_MAX_PAGES, or bodies
 * that do not hold an entry. Whole numbers alone: the same on every machine.
 */
extern bool bf_run_plan(uint64_t n, unsigned p, uint32_t first_block, uint64_t blocks,
						unsigned offsets, uint32_t body, BfRunShape *shape);

/* Takes a shape from outside; false, and *reason, if it is none.  Constant time. */
extern bool bf_run_open(const BfRunShape *shape, uint32_t body, BfRun *run, const char **reason);

/*
 * The most overflow pages that a run of n entries can have: an interval that has any has filled
 * its main page, so floor((n - 1) / capacity).  Hashes that are spread evenly have about one a
 * hundred main pages.
 */
extern uint64_t bf_run_max_overflow(const BfRun *run, uint64_t n);

/*
 * The expected number of false places of a look-up, n / 2^p, for uniform hashes: each entry that
 * is not of the key agrees in p bits with probability 2^-p.  A sum over the runs of an index.
 * Exact on average; by the union bound also an upper bound of the probability of any.
 */
extern double bf_run_false_places(uint64_t n, unsigned p);

/*
 * Bytes an entry takes, on average, in a run of so many entries of uniform hashes with this
 * shape, overflow pages included; page is the size of a whole page, which is more than its body.
 *
 * A main page overflows when a Poisson number of mean n / pages exceeds the capacity (taken as
 * normal); page / n times the main pages and those.  Elias-Fano: Elias 1974, Fano 1971; the rest
 * of the formula is that of this file's head.
 */
extern double bf_run_entry_bytes(const BfRun *run, uint64_t n, uint32_t page);

/*-------------------------------------------------------------------------
 * Where a key's entries are.
 *-------------------------------------------------------------------------
 */

/* A key's hash as seen by a run: computed once per run and key. */
typedef struct BfRunAim
{
	uint64_t	kept;			/* not aligned: below 2^p */
	uint64_t	low;
	uint64_t	record;			/* rest * places: the least of its records */
	uint32_t	page;			/* the number of the main page */
	uint32_t	bucket;
} BfRunAim;

/* hash: all its 64 bits, of which the top p are looked at. */
extern void bf_run_aim(const BfRun *run, uint64_t hash, BfRunAim *aim);

/* The number of the main page of a hash, and the least hash of page i, aligned; i < pages. */
extern uint32_t bf_run_page_of(const BfRun *run, uint64_t hash);
extern uint64_t bf_run_page_begin(const BfRun *run, uint32_t i);

/*-------------------------------------------------------------------------
 * Pages.
 *-------------------------------------------------------------------------
 */

/* Stored: a number is never reused. */
typedef enum BfRunPageKind
{
	BF_RUN_MAIN = 1,
	BF_RUN_OVERFLOW = 2
} BfRunPageKind;

/* A page that was accepted.  Points to the body, which must stay as it is meanwhile. */
typedef struct BfRunPage
{
	const BfRun *run;
	const uint8_t *body;
	BfRunPageKind kind;
	uint32_t	n;				/* entries, at most capacity */
	uint32_t	interval;		/* the main page's number; that of its main page */
	uint32_t	overflow;		/* main: how many overflow pages; overflow: which of them, from 0 */
	uint32_t	overflow_at;	/* their number in the run: the first's; overflow: its own */
	uint64_t	first;			/* kept bits, not aligned: no entry has less; main: the interval's
								 * beginning, overflow: its first entry's when it was written */
} BfRunPage;

/*
 * Takes a page from outside: its head alone, constant time; false, and *reason, if it is none of
 * this shape.  The caller compares kind, interval or overflow_at with those it asked for.
 */
extern bool bf_run_open_page(const BfRun *run, const uint8_t *body, BfRunPage *page,
							 const char **reason);

/*
 * Whether all of it is as a writer, or a removal, leaves it: what bf_run_open_page() asks; as
 * many ones as entries, all within their buckets; hashes in order, within the interval, none
 * below first; places within the run's; the directory; zeros elsewhere.  False, and *reason, if
 * not.  Time of a page.
 */
extern bool bf_run_check_page(const BfRun *run, const uint8_t *body, const char **reason);

/*
 * bf_run_find: the places of an aim's entries in this page, at most max at a time.
 *
 * *from is 0 at first, and says where to go on; fewer than max: there are no more in this page.
 * The page must be of the aim's interval.  No false negatives: every place that was written with
 * these kept bits and not removed. 100 ns in cache, and little per place.
 */
extern uint32_t bf_run_find(const BfRunPage *page, const BfRunAim *aim, uint32_t *from,
							uint64_t *places, uint32_t max);

/*
 * Whether entries of the aim may be in the interval's overflow pages (page: the main page), or in
 * the next one (page: an overflow page; which may not be there, if it is the last).
 */
extern bool bf_run_more(const BfRunPage *page, const BfRunAim *aim);

/*
 * Bisects an interval's overflow pages for the first that may have entries of an aim:
 *
 *		bf_run_search_begin(&search, &main);
 *		while (bf_run_search_next(&search, &number))
 *		{
 *			open the run's overflow page of this number
 *			bf_run_search_tell(&search, &page, &aim);
 *		}
 *
 * Returning false, bf_run_search_next() gives the page to read first; then the next, while
 * bf_run_more() and number + 1 < search.end.  Only for a main page with overflow > 0.  A page
 * that is not the one asked for cannot lead out of the interval's, nor into an endless loop.
 */
typedef struct BfRunSearch
{
	uint32_t	begin;			/* of the interval's overflow pages, as numbers in the run, */
	uint32_t	end;			/* and the one behind the last */
	uint32_t	low;			/* pages before low begin below the aim, */
	uint32_t	high;			/* and pages from high on do not */
} BfRunSearch;

extern void bf_run_search_begin(BfRunSearch *search, const BfRunPage *main_page);
extern bool bf_run_search_next(BfRunSearch *search, uint32_t *number);
extern void bf_run_search_tell(BfRunSearch *search, const BfRunPage *page, const BfRunAim *aim);

/* An entry as it is read and written. */
typedef struct BfRunEntry
{
	uint64_t	hash;			/* reading: the kept bits, aligned at the top, zeros below */
	uint64_t	place;			/* block * 2^16 + offset */
} BfRunEntry;

/* Where reading a page has come to.  All zero at first. */
typedef struct BfRunCursor
{
	uint32_t	entry;			/* so many were read */
	uint32_t	word;			/* of the unary part */
	uint64_t	left;			/* of that word's ones; a word is fetched when there are none */
} BfRunCursor;

/*
 * bf_run_read: the next entries of a page in order, at most max; fewer than max: the page's end.
 *
 * 50 million a second and more.  Of hostile bytes what comes is not in order, or of another
 * interval, but its blocks and offsets are those of the run's places.
 */
extern uint32_t bf_run_read(const BfRunPage *page, BfRunCursor *cursor, BfRunEntry *entries,
							uint32_t max);

/*
 * bf_run_remove: the page without the entries that dead() says yes to, into out, as large as the
 * body and not the same; how many those are.
 *
 * dead() is asked for each entry in order.  With 0 out is not to be used.  Overflow pages stay
 * where they are, an emptied one, too.  Of a page that bf_run_check_page() would refuse, out may
 * lose entries: check first, or it cannot be seen any more that it was damaged.
 */
extern uint32_t bf_run_remove(const BfRunPage *page, bool (*dead) (void *arg, uint64_t place),
							  void *arg, uint8_t *out);

/* How many bytes of a body are in use: all behind are zero.  What pd_lower is for. */
extern uint32_t bf_run_page_used(const BfRunPage *page);

/*-------------------------------------------------------------------------
 * Writing a run.
 *-------------------------------------------------------------------------
 */

typedef enum BfRunStatus
{
	BF_RUN_OK = 0,
	BF_RUN_DISORDER,			/* the hash is below the last one, or of an interval already done */
	BF_RUN_NO_PLACE,			/* the place is not one of the shape's */
	BF_RUN_TOO_LARGE			/* more overflow pages than BF_RUN_MAX_PAGES */
} BfRunStatus;

/*
 * Gets a page: main page number `number` or overflow page number `number` of the run, used bytes
 * of which are not zero padding.  body is the writer's, good until it returns.  Main pages come
 * in order without a gap, overflow pages too, and those of an interval before its main page.  May
 * not return (longjmp): the writer then is not to be used again.
 */
typedef void (*BfRunEmit) (void *arg, BfRunPageKind kind, uint32_t number, const uint8_t *body,
						   uint32_t used);

/* A page being filled. */
typedef struct BfRunFill
{
	uint8_t    *body;
	uint32_t	n;
	uint32_t	samples;		/* of the directory that are written */
} BfRunFill;

typedef struct BfRunWriter
{
	const BfRun *run;
	BfRunEmit	emit;
	void	   *arg;
	BfRunFill	main_fill;
	BfRunFill	over_fill;
	bool		spilled;		/* the interval's main page is full, over_fill is in use */
	uint32_t	interval;		/* that is being filled; all before are emitted */
	uint32_t	overflow;		/* overflow pages emitted, of the whole run */
	uint32_t	overflow_begin; /* the same when the interval was begun */
	uint64_t	begin;			/* of the interval: kept bits, not aligned */
	uint64_t	end;			/* of the interval, exclusive */
	uint64_t	last;			/* kept bits of the last entry */
	uint64_t	over_first;		/* of the overflow page's first entry */
	uint64_t	entries;		/* written by this writer */
	uint64_t	fingerprints;	/* different ones among those */
} BfRunWriter;

/*
 * Begins writing at main page `interval`, when so many overflow pages have been emitted: both 0
 * for a new run.  A run can be written in several goes, by different processes, each of which
 * begins where the one before has finished, with w->interval and w->overflow: between, nothing
 * else has to be kept.  (The entries to go on with are those from bf_run_page_begin(interval)
 * on.)  pages: room for two bodies, the caller's.
 */
extern void bf_run_write_begin(BfRunWriter *w, const BfRun *run, uint32_t interval,
							   uint32_t overflow, uint8_t *pages, BfRunEmit emit, void *arg);

/*
 * The next entry, in the order of the kept bits.  Emits what that completes: also empty pages
 * of intervals without entries.  30 ns.  After another status than BF_RUN_OK nothing was written.
 */
extern BfRunStatus bf_run_write(BfRunWriter *w, const BfRunEntry *entry);

/*
 * Emits all intervals before `interval`; with the run's number of pages the run is complete.
 * w->interval is then at least that, and the place to begin at when writing goes on elsewhere.
 */
extern BfRunStatus bf_run_write_until(BfRunWriter *w, uint32_t interval);

#endif							/* BF_RUN_H */
