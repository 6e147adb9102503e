/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_run.h
 *	  Runs: sorted, immutable maps of fingerprints to places, in pages; a maplet index consists of
 *	  runs.
 *
 * A run holds entries (hash, place) in the order of their hashes, and keeps the top p bits of each
 * hash (the *kept* bits).  A lookup returns all places whose kept bits equal those of the key: it
 * never misses one, and returns n / 2^p false ones on average, for n entries
 * (bf_run_false_places()).
 *
 *	- *Main pages.*  Page i of m has the entries whose kept bits are in the i-th of m intervals, as
 *	  equal as whole numbers allow: so a lookup computes the one main page to read.
 *	- *Overflow pages.*  They take the entries of an interval that exceed its main page's capacity,
 *	  in order.  Overflow pages are numbered through the run, from 0 on, and those of an interval
 *	  are neighbours.  The main page stores the number of the first one, and how many there are.
 *	  Each overflow page stores the kept bits of the entry that it began with, by which an
 *	  interval's overflow pages are bisected.
 *	- *Within a page.*  Let v be an entry's kept bits less those that the interval begins with;
 *	  low = the lowest s bits of v, and v >> s = bucket * d + rest.  The buckets are stored in
 *	  unary (Elias-Fano): per bucket a 1 for each of its entries, then a 0.  The rest and the place
 *	  are stored as one number of w bits, rest * places + place, where d = floor(2^w / places).  As
 *	  neither factor need be a power of two, nothing is lost to rounding.  low is nearly always
 *	  empty: it is for runs in which rest and place would not fit 56 bits.
 *
 * An entry takes w + s + 1 bits and its share of the zeros, altogether about p - log2(n) +
 * log2(places) + 2 bits.  A smaller run has fewer places, so that this number is nearly the same
 * for all runs of an index.
 *
 * Outside of a run, a *place* is block * 2^16 + offset, 1 <= offset.  Within a run, a place is
 * relative to the run's first block, with as many numbers per block as there are offsets.  Runs
 * with different p and places are merged by reading entries (bf_run_read()) and writing them
 * (BfRunWriter): hashes are then aligned at the top of 64 bits, with zeros below the kept bits; a
 * writer drops the bits that its run does not keep.  The entries of one fingerprint have no order
 * among themselves.
 *
 * A page is a *body* of a given number of bytes (what the server's own header and special space
 * leave), whose bytes are the same on every machine (src/maplet/FORMAT.md).  Bodies are untrusted:
 * only pages that bf_run_open_page() has accepted are read.  It takes constant time and makes all
 * functions of this file memory-safe whatever the rest of the page holds; bf_run_check_page()
 * checks a whole page.  Shapes are untrusted, too, until bf_run_open() has accepted them.
 *
 * No function of this file allocates, blocks or takes long: each one's work is bounded by one page,
 * except that a writer calls emit() once per page.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_RUN_H
#define BF_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most bits of a hash that a run can keep (the kept bits). */
#define BF_RUN_MAX_P			56

/* The smallest and the largest size of a page's body, in bytes. */
#define BF_RUN_MIN_BODY			512
#define BF_RUN_MAX_BODY			32768

/* The most main pages that a run may have; also the most overflow pages. */
#define BF_RUN_MAX_PAGES		UINT32_C(0xfffffffe)

#define BF_RUN_MAX_ENTRIES		(UINT64_C(1) << 48)

/* A place, composed of a block and an offset, and its two parts. */
#define BF_RUN_PLACE(block, offset)		((uint64_t) (block) << 16 | (offset))
#define BF_RUN_BLOCK(place)				((uint32_t) ((place) >> 16))
#define BF_RUN_OFFSET(place)			((uint16_t) (place))

/*
 * The properties of a run that must be stored to read it; all others follow from them.  The struct
 * has no padding, so that a metapage may hold it unchanged.
 */
typedef struct BfRunShape
{
	/*
	 * The number of different values of `rest`, the part of a hash that an entry stores in one
	 * number with its place; at least 1.
	 */
	uint64_t	d;

	/*
	 * The number of main pages, from 1 to the lesser of BF_RUN_MAX_PAGES and 2^p, where p is the
	 * number of kept bits.
	 */
	uint32_t	pages;
	uint32_t	first_block;	/* The first block of the table that the run's places can be in. */
	uint32_t	blocks;

	/* The largest offset of a place within its block; the smallest is 1. */
	uint16_t	offsets;
	uint8_t		p;				/* The number of kept bits of a hash, 1 to BF_RUN_MAX_P. */

	/*
	 * The number of bits of `low`, the lowest bits of a hash, which an entry stores after rest and
	 * place; usually 0.
	 */
	uint8_t		s;
} BfRunShape;

/*
 * A shape that bf_run_open() has accepted, and values that follow from it.  Not stored; callers may
 * only read it.
 */
typedef struct BfRun
{
	BfRunShape	shape;
	uint32_t	body;			/* The size of a page's body in bytes. */
	uint32_t	capacity;		/* The most entries that a page can have; 1 to 65535. */
	uint32_t	buckets;		/* The number of buckets of a page. */
	uint32_t	unary_at;		/* Offset of the unary part in bytes from the body's beginning. */
	uint32_t	records_at;

	/* The number of bits of a stored entry: w for rest and place, and s for low. */
	uint32_t	width;
	uint32_t	w;
	uint64_t	places;			/* The number of different places, blocks * offsets. */

	/*
	 * floor((2^64 - 1) / d), with which bf_run_divide() divides by d. by_places and by_offsets are
	 * the corresponding values for the members places and offsets.
	 */
	uint64_t	by_d;
	uint64_t	by_places;
	uint64_t	by_offsets;
} BfRun;

/*
 * Plans the shape of a run for n entries with p kept bits, all of whose places are in the given
 * blocks and offsets, in pages whose bodies have the given size in bytes.
 *
 * n is the number of entries for which the main pages are made, filled to 1 - 2.3 / sqrt(capacity)
 * on average (0.947 at 8 kB).  A run may get more or fewer entries: with more entries there are
 * overflow pages, with fewer some space is left unused.  Where most entries have the same few
 * fingerprints, n can be less than the number of entries, down to the number of fingerprints: then
 * all main pages are full, and little space is lost in them.
 *
 * Returns false and sets nothing if there is no such shape: p, the body or n is out of range (n = 0
 * is taken as 1), there are no blocks or offsets, there are blocks beyond 2^32, there would be more
 * pages than BF_RUN_MAX_PAGES, or a body would not hold an entry.  Computes with whole numbers
 * alone, so that the result is the same on every machine.
 */
extern bool bf_run_plan(uint64_t n, unsigned p, uint32_t first_block, uint64_t blocks,
						unsigned offsets, uint32_t body, BfRunShape *shape);

/*
 * Checks a shape that comes from outside, and fills in *run.  Returns false and sets *reason if the
 * shape is not valid.  Takes constant time.
 */
extern bool bf_run_open(const BfRunShape *shape, uint32_t body, BfRun *run, const char **reason);

/*
 * Returns the most overflow pages that a run of n entries can have: floor((n - 1) / capacity),
 * since an interval that has overflow pages has filled its main page.  With hashes that are spread
 * evenly, a run has about one overflow page per hundred main pages.
 */
extern uint64_t bf_run_max_overflow(const BfRun *run, uint64_t n);

/*
 * Returns the expected number of false places of a lookup in a run, n / 2^p, for uniform hashes:
 * each entry that does not belong to the key agrees with it in p bits with probability 2^-p.  For
 * an index, the values of its runs are added.  The value is exact on average; by the union bound it
 * is also an upper bound of the probability that there is any false place.
 */
extern double bf_run_false_places(uint64_t n, unsigned p);

/*
 * Returns the average number of bytes that an entry takes in a run of n entries of uniform hashes
 * with this shape, including overflow pages. page is the size in bytes of a whole page, which is
 * more than its body.
 *
 * A main page overflows when a Poisson number with mean n / pages exceeds the capacity (taken as
 * normally distributed).  The result is page / n times the number of main pages and expected
 * overflow pages.  Elias-Fano: Elias 1974, Fano 1971; the remainder of the formula is that at the
 * head of bf_run.h.
 */
extern double bf_run_entry_bytes(const BfRun *run, uint64_t n, uint32_t page);

/*-------------------------------------------------------------------------
 * Locating a key's entries in a run.
 *-------------------------------------------------------------------------
 */

/* A key's hash, split as a run needs it; computed once per run and key. */
typedef struct BfRunAim
{
	uint64_t	kept;			/* The key's kept bits, not aligned: a number below 2^p. */
	uint64_t	low;

	/* The least record that an entry of the key can have: rest * places. */
	uint64_t	record;
	uint32_t	page;			/* The number of the key's main page. */
	uint32_t	bucket;
} BfRunAim;

/* Computes *aim from a key's hash. hash has all its 64 bits, but only the top p bits are used. */
extern void bf_run_aim(const BfRun *run, uint64_t hash, BfRunAim *aim);

/*
 * Return the number of the main page that a hash belongs to, and the least hash of main page i,
 * aligned at the top of 64 bits; i is less than the number of main pages.
 */
extern uint32_t bf_run_page_of(const BfRun *run, uint64_t hash);
extern uint64_t bf_run_page_begin(const BfRun *run, uint32_t i);

/*-------------------------------------------------------------------------
 * The pages of a run.
 *-------------------------------------------------------------------------
 */

/* The kinds of pages.  The numbers are stored, and never reused. */
typedef enum BfRunPageKind
{
	BF_RUN_MAIN = 1,
	BF_RUN_OVERFLOW = 2
} BfRunPageKind;

/*
 * A page that bf_run_open_page() has accepted.  It points to the body, which must not change
 * meanwhile.
 */
typedef struct BfRunPage
{
	const BfRun *run;
	const uint8_t *body;
	BfRunPageKind kind;
	uint32_t	n;				/* The number of entries, at most the run's capacity. */

	/* The number of the page's interval, which is the number of the interval's main page. */
	uint32_t	interval;

	/*
	 * In a main page: the number of its overflow pages.  In an overflow page: its index among the
	 * interval's overflow pages, from 0.
	 */
	uint32_t	overflow;

	/*
	 * In a main page: the number in the run of its first overflow page.  In an overflow page: its
	 * own number.
	 */
	uint32_t	overflow_at;

	/*
	 * Kept bits, not aligned; no entry of the page has less.  In a main page: the beginning of the
	 * interval.  In an overflow page: the kept bits of its first entry at the time it was written.
	 */
	uint64_t	first;
} BfRunPage;

/*
 * Checks the head of a page that comes from outside, in constant time, and fills in *page.  Returns
 * false and sets *reason if it is not a page of this run's shape.  The caller must compare kind,
 * and interval or overflow_at, with those of the page that it wanted.
 */
extern bool bf_run_open_page(const BfRun *run, const uint8_t *body, BfRunPage *page,
							 const char **reason);

/*
 * Checks whether a whole page is as a writer or a removal leaves it: all that bf_run_open_page()
 * checks; the unary part has as many ones as there are entries, all within the buckets; hashes are
 * in order, within the interval, and none is below first; places are among the run's; the directory
 * is right; all other bytes are zero.  Returns false and sets *reason if not.  Takes time
 * proportional to the page's size.
 */
extern bool bf_run_check_page(const BfRun *run, const uint8_t *body, const char **reason);

/*
 * Stores the places of an aim's entries in a page, at most max at a time, and returns how many it
 * has stored.
 *
 * *from must be 0 at first, and is updated to where the next call is to go on.  A result below max
 * means that the page has no more of them.  The page must belong to the aim's interval.  There are
 * no false negatives: every place that was written with these kept bits and not removed is
 * returned.  Takes 100 ns in cache, and little per place.
 */
extern uint32_t bf_run_find(const BfRunPage *page, const BfRunAim *aim, uint32_t *from,
							uint64_t *places, uint32_t max);

/*
 * Returns whether further entries with the aim's kept bits may be on overflow pages.  If page is
 * the main page, any of its overflow pages may have them; if page is an overflow page, the next
 * one, which does not exist if page is the last.
 */
extern bool bf_run_more(const BfRunPage *page, const BfRunAim *aim);

/*
 * The state of a bisection of an interval's overflow pages, which finds the first that may have
 * entries of an aim:
 *
 *		bf_run_search_begin(&search, &main);
 *		while (bf_run_search_next(&search, &number))
 *		{
 *			open the run's overflow page of this number
 *			bf_run_search_tell(&search, &page, &aim);
 *		}
 *
 * When bf_run_search_next() returns false, number is that of the page to read first; then the next
 * pages are to be read, while bf_run_more() returns true and number + 1 < search.end.  Only for a
 * main page with overflow > 0.  Even if a damaged index gives a wrong page, the search stays within
 * the interval's overflow pages, and ends.
 */
typedef struct BfRunSearch
{
	/* The number in the run of the first overflow page of the interval that is searched. */
	uint32_t	begin;
	uint32_t	end;			/* The number of the interval's last overflow page, plus 1. */

	/* All overflow pages before this one begin below the aim's kept bits. */
	uint32_t	low;

	/* No overflow page from this one on begins below the aim's kept bits. */
	uint32_t	high;
} BfRunSearch;

extern void bf_run_search_begin(BfRunSearch *search, const BfRunPage *main_page);
extern bool bf_run_search_next(BfRunSearch *search, uint32_t *number);
extern void bf_run_search_tell(BfRunSearch *search, const BfRunPage *page, const BfRunAim *aim);

/* An entry of a run, as it is read and written. */
typedef struct BfRunEntry
{
	/*
	 * The entry's hash.  In an entry that was read: its kept bits at the top of 64 bits, with zeros
	 * below.
	 */
	uint64_t	hash;
	uint64_t	place;			/* The place: block * 2^16 + offset. */
} BfRunEntry;

/* The position up to which a page has been read.  All fields are zero at first. */
typedef struct BfRunCursor
{
	uint32_t	entry;			/* The number of entries that have been read. */
	uint32_t	word;			/* The number of words of the unary part that have been loaded. */

	/*
	 * The 1 bits, each for an entry, of the last loaded word that have not been read yet.  When
	 * none remain, the next word is loaded.
	 */
	uint64_t	left;
} BfRunCursor;

/*
 * Reads the next entries of a page in order, at most max, and returns how many; a result below max
 * means that the page has ended.
 *
 * Reads 50 million entries a second and more.  The entries of a damaged page may be out of order,
 * or of another interval, but their blocks and offsets are always among the run's places.
 */
extern uint32_t bf_run_read(const BfRunPage *page, BfRunCursor *cursor, BfRunEntry *entries,
							uint32_t max);

/*
 * Writes a copy of a page to out, without the entries for which dead() returns true, and returns
 * the number of those. out has the size of the body, and must not overlap it.
 *
 * dead() is called for each entry in order.  If the result is 0, out is not to be used.  Overflow
 * pages stay where they are, even when they become empty.  If bf_run_check_page() would refuse the
 * page, out may lack further entries: check a page first, or the damage can no longer be seen.
 */
extern uint32_t bf_run_remove(const BfRunPage *page, bool (*dead) (void *arg, uint64_t place),
							  void *arg, uint8_t *out);

/*
 * Returns how many bytes of a body are in use; all bytes after them are zero.  Meant for pd_lower.
 */
extern uint32_t bf_run_page_used(const BfRunPage *page);

/*-------------------------------------------------------------------------
 * Writing a run.
 *-------------------------------------------------------------------------
 */

typedef enum BfRunStatus
{
	BF_RUN_OK = 0,

	/*
	 * The entry's hash is below the last one, or belongs to an interval whose pages were already
	 * emitted.
	 */
	BF_RUN_DISORDER,

	/* The entry's place is not among those that the run's shape allows. */
	BF_RUN_NO_PLACE,
	BF_RUN_TOO_LARGE			/* The run would have more overflow pages than BF_RUN_MAX_PAGES. */
} BfRunStatus;

/*
 * Receives a page from a writer: the main page, or the overflow page, of the given number in the
 * run.  The first used bytes of body are in use, the rest is zero padding. body belongs to the
 * writer, and is valid until the function returns.  Main pages come in order without a gap; so do
 * overflow pages, and those of an interval come before its main page.  The function may leave by
 * longjmp; the writer must then not be used again.
 */
typedef void (*BfRunEmit) (void *arg, BfRunPageKind kind, uint32_t number, const uint8_t *body,
						   uint32_t used);

/* A page that is being filled. */
typedef struct BfRunFill
{
	uint8_t    *body;
	uint32_t	n;

	/* The number of entries of the page's directory that have been written. */
	uint32_t	samples;
} BfRunFill;

typedef struct BfRunWriter
{
	const BfRun *run;
	BfRunEmit	emit;
	void	   *arg;
	BfRunFill	main_fill;
	BfRunFill	over_fill;

	/* True if the interval's main page is full, so that over_fill is in use. */
	bool		spilled;

	/* The interval that is being filled; the pages of all previous intervals have been emitted. */
	uint32_t	interval;

	/* The number of overflow pages of the whole run that have been emitted. */
	uint32_t	overflow;
	uint32_t	overflow_begin; /* The value of overflow at the beginning of the interval. */
	uint64_t	begin;			/* The first kept bits of the interval, not aligned. */
	uint64_t	end;			/* The end of the interval, exclusive; kept bits, not aligned. */
	uint64_t	last;			/* The kept bits of the last entry. */
	uint64_t	over_first;		/* The kept bits of the overflow page's first entry. */
	uint64_t	entries;		/* The number of entries that this writer has written. */

	/* The number of different fingerprints among the entries that this writer has written. */
	uint64_t	fingerprints;
} BfRunWriter;

/*
 * Begins writing a run at main page `interval`, when `overflow` overflow pages have been emitted;
 * both are 0 for a new run.  A run can be written in several parts, by different processes: each
 * begins where the previous one has finished, with the values of w->interval and w->overflow, and
 * nothing else has to be kept in between.  (The entries to go on with are those from
 * bf_run_page_begin(interval) on.) pages is memory for two bodies, which stays the caller's.
 */
extern void bf_run_write_begin(BfRunWriter *w, const BfRun *run, uint32_t interval,
							   uint32_t overflow, uint8_t *pages, BfRunEmit emit, void *arg);

/*
 * Writes the next entry; entries must come in the order of their kept bits.  Emits the pages that
 * are complete before it, including empty main pages of intervals without entries.  Takes 30 ns.
 * If the result is not BF_RUN_OK, the entry was not written.
 */
extern BfRunStatus bf_run_write(BfRunWriter *w, const BfRunEntry *entry);

/*
 * Emits the pages of all intervals before `interval`; with `interval` equal to the run's number of
 * main pages, the run is complete.  Afterwards w->interval is at least `interval`, and is the
 * interval to begin at when writing is continued elsewhere.
 */
extern BfRunStatus bf_run_write_until(BfRunWriter *w, uint32_t interval);

#endif							/* BF_RUN_H */
