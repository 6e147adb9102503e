/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf.h
 *	  The filter family: what a kind of filter is, and what can be done with one.
 *
 * This folder knows nothing of PostgreSQL.  It works on 64-bit hashes and on bytes, gets memory and
 * the check for interrupts from its caller, reports errors by status code, and keeps no state of
 * its own.  A filter is a *value*: a header (bf_format.h), and then a payload that only the
 * filter's kind understands.
 *
 * Two sorts of bytes are distinguished everywhere:
 *
 *	- *untrusted* bytes have come from outside.  bf_validate() reads them once, wholly.
 *	- *opened* bytes have passed at least bf_open(), which looks at the header alone, in constant
 *	  time.  That is enough for every other function here to be memory-safe on them, whatever the
 *	  payload holds.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_H
#define BF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The largest value, all included.  Its text form has two characters a byte, and PostgreSQL's
 * limit for a datum is 1 GB; see docs/design.md.
 */
#define BF_MAX_VALUE_SIZE		((uint64_t) 500 * 1024 * 1024)

/*
 * The same for an aggregate's state on its way, which is never text: it must fit a datum, and a
 * tuple around it.
 */
#define BF_MAX_PARTIAL_SIZE		((uint64_t) 1023 * 1024 * 1024)

/* The longest name of a key family, in bytes. */
#define BF_MAX_FAMILY_LEN		255

/* How many words a kind may keep in the header. */
#define BF_NPARAMS				4

typedef enum BfStatus
{
	BF_OK = 0,
	BF_CORRUPT,					/* the bytes are not a filter; *reason says why */
	BF_FPR_OUT_OF_RANGE,		/* not in (0, 1) */
	BF_FPR_TOO_LOW,				/* below what this kind can reach */
	BF_TOO_LARGE,				/* the value would exceed BF_MAX_VALUE_SIZE */
	BF_FULL,					/* takes no more keys, and cannot grow */
	BF_UNSUPPORTED,				/* this kind cannot do it */
	BF_FAMILY_MISMATCH,			/* keys of different families */
	BF_KIND_MISMATCH			/* filters of different kinds */
} BfStatus;

/*
 * What the core needs from its caller.
 *
 * check_interrupts and alloc may leave by longjmp, as PostgreSQL's do, and never return.  The
 * caller then releases whatever the core has allocated, of which it must know (a memory context);
 * there is nothing else to clean up.  Functions that allocate say so.
 */
typedef struct BfPort
{
	void		(*check_interrupts) (void *arg);
	void	   *(*alloc) (void *arg, size_t size);	/* not zeroed, aligned for any type; never
													 * NULL */
	void		(*release) (void *arg, void *memory);	/* NULL is fine */
	void	   *arg;
} BfPort;

/*
 * The hashes for a filter that is built of all of them: n distinct ones, in the order of
 * bf_order() (bf_hash.h), ascending, in which src/pg/collect.c keeps them.  For a kind with
 * BF_MULTISET each comes as often as it counts.  read() stores the next ones, at most max, and
 * returns how many; 0 at the end.
 */
typedef struct BfSource BfSource;

struct BfSource
{
	uint64_t	n;
	size_t		(*read) (BfSource *source, uint64_t *hashes, size_t max);
};

/*
 * Where the payload of such a filter is written.  extend() appends zero bytes; the payload may move
 * by that.
 */
typedef struct BfSink BfSink;

struct BfSink
{
	uint8_t    *bytes;
	uint64_t	len;
	void		(*extend) (BfSink *sink, uint64_t more);
};

/* The hash function of a filter's keys.  Numbers are stored, and never reused. */
typedef enum BfHashId
{
	BF_HASH_XXH3 = 1,			/* XXH3, 64 bits, seed 0, of canonical bytes */
	BF_HASH_XXH64_PLAIN = 2		/* XXH64, seed 0, of Parquet's plain encoding */
} BfHashId;

/* Kinds.  Numbers are stored, and never reused; those missing from bf_kinds.c are reserved. */
typedef enum BfKindId
{
	BF_KIND_STANDARD = 1,
	BF_KIND_PARTITIONED = 2,
	BF_KIND_BLOCKED = 3,
	BF_KIND_PARQUET = 4,
	BF_KIND_COUNTING = 5,
	BF_KIND_SCALABLE = 6,
	BF_KIND_CUCKOO = 7,
	BF_KIND_XOR = 8,
	BF_KIND_XOR_PLUS = 9,
	BF_KIND_BINARY_FUSE = 10,
	BF_KIND_RIBBON = 11,
	BF_KIND_IDENTITY = 64,		/* internal: the aggregate of no keys */
	BF_KIND_PARTIAL = 65		/* internal: an aggregate's state on its way */
} BfKindId;

/* What a kind can do. */
#define BF_CAN_ADD			0x01
#define BF_CAN_REMOVE		0x02
#define BF_CAN_UNION		0x04
#define BF_CAN_INTERSECT	0x08
#define BF_CAN_FOLD			0x10
#define BF_CAN_COUNT		0x20	/* tells how often a key was added */
#define BF_INTERNAL			0x80	/* not for users to ask for */

/*
 * The filter must be built from the whole set of keys: either the kind needs all of them before it
 * can store the first, or its bytes depend on the order in which keys are added.  An aggregate
 * therefore collects the distinct hashes first, and adds them in the order of bf_order(), so that
 * the same set always gives the same bytes.
 */
#define BF_FROM_SET			0x100

/* Adding a key twice differs from adding it once, and a union adds up: f | f is not f. */
#define BF_MULTISET			0x200

/* No kind counts further than this: adding a key once more then changes nothing. */
#define BF_MAX_TIMES		15

typedef struct BfKind BfKind;

/*
 * A parsed header.  Lengths are in bytes, counts in keys.
 */
typedef struct BfHeader
{
	const BfKind *kind;
	BfHashId	hash_id;
	uint64_t	family_id;		/* bf_family_id() of the name of the key family; 0: none yet, as
								 * there are no keys */
	uint64_t	capacity;		/* keys that the filter was sized for; 0: no size (identity) */
	uint64_t	keys_added;		/* additions, repeated keys counted each time */
	double		target_fpr;		/* in (0, 1) at capacity; 0: none (identity) */
	uint64_t	payload_len;
	uint32_t	param[BF_NPARAMS];	/* the kind's own; unused ones are 0 */
	uint32_t	family_len;		/* of the name; 0 where only the id is known */
	const char *family;			/* the name, UTF-8, not terminated; in the value or in the
								 * caller's memory */
} BfHeader;

/*
 * An opened filter.  It points into the bytes that it was opened on; payload is NULL if these were
 * only the header.
 */
typedef struct BfView
{
	BfHeader	head;
	const uint8_t *payload;
} BfView;

/*
 * The parameters that follow from kind and FPR, whatever the number of keys: computed once, used
 * for many filters.
 */
typedef struct BfDesign
{
	const BfKind *kind;
	double		fpr;
	uint32_t	millibits;		/* thousandths of a bit per key, before rounding to whole cells */
	uint32_t	stored_millibits;	/* the same for the packed form, when the filter holds as many
									 * keys as it was sized for; 0: there is no packed form */
	double		expected_fpr;	/* the FPR that results: less than fpr if the kind cannot meet it
								 * exactly */
	uint32_t	param[BF_NPARAMS];
} BfDesign;

/* What can be read off a filter's payload. */
typedef struct BfStats
{
	uint64_t	bits;			/* size of the array of bits, counters or slots */
	uint64_t	bits_set;
	double		fill;			/* share of the bits, counters or slots that are in use; negative:
								 * has no meaning for this kind */
	uint32_t	hashes;			/* probes per key */
	uint32_t	stages;			/* parts that are probed one after another; 1 for most kinds */
	uint64_t	saturated;		/* counters that have reached their maximum and stay there */
	double		keys;			/* estimated distinct keys */
	double		fpr;			/* estimated FPR now */
} BfStats;

typedef bool (*BfProbe) (const BfView *view, uint64_t hash);

/* Fetches len bytes from an offset within a payload; they are valid until the next call. */
typedef const uint8_t *(*BfFetch) (void *arg, uint64_t offset, uint64_t len);

/*
 * A kind: one constant table, exported by the kind's own file.
 *
 * Members from prober on get opened bytes only.  Where a member may be NULL, its comment says so;
 * the capability bit that belongs to it is clear then, which bf_kind_check checks in the unit
 * tests.
 */
struct BfKind
{
	BfKindId	id;
	const char *name;			/* as in SQL */
	uint32_t	caps;			/* BF_CAN_* */
	BfHashId	hash_id;
	double		min_fpr;		/* the lowest FPR; below it ... */
	const char *better_kind;	/* ... users are told to use this kind */
	const char *advice;			/* hint for users who ask for what the kind cannot do; NULL: to use
								 * another kind */
	const char *when;			/* when to choose the kind, for users */
	uint32_t	cell_size;		/* if the payload is an array of cells (bf_cells.h), their size in
								 * bytes; else 0 */

	/*
	 * Chooses the parameters for design->fpr, which is in [min_fpr, 1): sets millibits, param, and
	 * expected_fpr, which comes equal to fpr.  NULL for internal kinds.
	 */
	void		(*design) (BfDesign *design);

	/*
	 * The length of a payload for so many keys, at least 1; more than BF_MAX_VALUE_SIZE means too
	 * large.  A filter that is built at once may become a little shorter or longer.  NULL for
	 * internal kinds.
	 */
	uint64_t	(*size) (const BfDesign *design, uint64_t keys);

	/*
	 * Checks that every other member is memory-safe on a filter with this header, and with
	 * head->payload_len bytes of any payload.  Constant time.  Returns NULL, or the reason why not.
	 */
	const char *(*check) (const BfHeader *head);

	/*
	 * Checks that the payload is well formed, by reading all of it.  Returns NULL, or the reason
	 * why not.  May be NULL: then any payload is.
	 */
	const char *(*validate) (const BfPort *port, const BfView *view);

	/*
	 * Returns the function that probes this filter fastest on this processor.  That function
	 * allocates nothing and cannot fail.  The payload may move between calls; the header may not
	 * change.
	 */
	BfProbe		(*prober) (const BfView *view);

	/*
	 * Probes many hashes: sets result[i] to whether the filter may contain hashes[i].  Faster than
	 * n calls if the filter does not fit the processor's caches.
	 */
	void		(*probe_many) (const BfView *view, const uint64_t *hashes, size_t n, bool *result);

	/*
	 * Probes a filter of which only the header is in memory, by fetching the few bytes of the
	 * payload that decide.  May be NULL, if these are most of the payload.
	 */
	bool		(*probe_sliced) (const BfHeader *head, uint64_t hash, BfFetch fetch, void *arg);

	/*
	 * Makes a zeroed payload that of an empty filter.  May be NULL: it is one already.
	 */
	void		(*init) (const BfHeader *head, uint8_t *payload);

	/*
	 * Adds hashes to a payload, in place, one after the other, and returns how many: fewer than n
	 * if the filter is then full, in which case the others leave no trace.  The caller updates the
	 * header.  NULL without BF_CAN_ADD.
	 */
	size_t		(*add) (const BfHeader *head, uint8_t *payload, const uint64_t *hashes, size_t n);

	/*
	 * For kinds that grow when they are full: grow_plan fills in the header of the larger filter
	 * (BF_TOO_LARGE if there is none), grow its payload, which comes zeroed.  It gives the same
	 * answers as the smaller one.  NULL: a full filter takes no more keys.
	 */
	BfStatus	(*grow_plan) (const BfView *view, BfHeader *head);
	void		(*grow) (const BfHeader *head, uint8_t *out, const BfView *view);

	/*
	 * Removes hashes, in place, one after the other, and returns how many: fewer than n if the next
	 * one is certainly not there, for which nothing is changed.  A key that was never added, but
	 * that the filter may contain, must not be removed: that would remove other keys.  NULL without
	 * BF_CAN_REMOVE.
	 */
	size_t		(*remove) (const BfHeader *head, uint8_t *payload, const uint64_t *hashes,
						   size_t n);

	/*
	 * At least how often the hash was added and not removed; UINT64_MAX if that is no longer known.
	 * NULL without BF_CAN_COUNT.
	 */
	uint64_t	(*count) (const BfView *view, uint64_t hash);

	/*
	 * Builds a filter from all hashes of a source at once, into an empty sink.  head comes from
	 * bf_plan() for their number, at least 1; the final length is put into it.  Whatever the hashes
	 * are, it returns BF_OK or BF_TOO_LARGE.  Allocates.  NULL with BF_CAN_ADD.
	 */
	BfStatus	(*build) (const BfPort *port, BfHeader *head, BfSource *source, BfSink *sink);

	/*
	 * For kinds that have a *packed* form, in which they are stored, and a *loose* one, which takes
	 * more space and can be changed.  The plan fills in the header of the other form, the second
	 * function then the payload, which comes zeroed.  They are not called on a filter that has the
	 * wanted form already.  add, remove, combined_head, unite, intersect, fold_plan and fold work
	 * on the loose form only; prober, probe_many, count and stats on both.  All NULL: there is only
	 * one form.
	 */
	bool		(*is_packed) (const BfHeader *head);
	void		(*loosen_plan) (const BfHeader *packed, BfHeader *loose);
	void		(*loosen) (const BfPort *port, const BfHeader *loose, uint8_t *out,
						   const BfView *packed);
	void		(*pack_plan) (const BfPort *port, const BfView *loose, BfHeader *packed);
	void		(*pack) (const BfPort *port, const BfHeader *packed, uint8_t *out,
						 const BfView *loose);

	/*
	 * Reads the payload and fills in the statistics, which come zeroed except for fill = -1 and
	 * stages = 1.  fold is a divisor of the number of cells: the statistics are those that the
	 * filter would have if it were first folded by it.  It is 1 for kinds without cells.
	 */
	void		(*stats) (const BfPort *port, const BfView *view, uint64_t fold, BfStats *stats);

	/*
	 * The same, unfolded, by a part of a payload that is longer than max_bytes: that of keys, fill
	 * and fpr are the whole's, as far as the part tells.  May be NULL: then a part of the cells is
	 * a filter of a part of the keys or, without cells, nothing is known by a part.
	 */
	void		(*stats_sampled) (const BfPort *port, const BfView *view, uint64_t max_bytes,
								  BfStats *stats);

	/*
	 * Fills in the header of the union or intersection of two filters of this kind, except for the
	 * family, which is set already; false if they cannot be combined.  May look at what the
	 * payloads say of themselves, in constant time.  NULL without BF_CAN_UNION and
	 * BF_CAN_INTERSECT.
	 */
	bool		(*combined_head) (const BfView *a, const BfView *b, BfHeader *head);

	/*
	 * Unites or intersects a payload with a view: out becomes "out op view".  out belongs to head,
	 * which combined_head has made for this view and another filter.  A zeroed payload is the empty
	 * set.  Both are commutative and, without BF_MULTISET, idempotent, to the byte.  The union is
	 * associative whatever the sizes, the intersection among filters of the same size.  NULL
	 * without BF_CAN_UNION, BF_CAN_INTERSECT.
	 */
	void (*unite)(const BfPort *port, const BfHeader *head, uint8_t *out, const BfView *view);
	void		(*intersect) (const BfPort *port, const BfHeader *head, uint8_t *out,
							  const BfView *view);

	/*
	 * fold_plan changes the header, which comes as the view's, to that of the smallest filter that
	 * this one can be folded to without exceeding fpr, or leaves it as it is.  fold then writes
	 * that filter's payload, which comes zeroed.  NULL without BF_CAN_FOLD.
	 */
	void		(*fold_plan) (const BfPort *port, const BfView *view, double fpr, BfHeader *head);
	void (*fold)(const BfPort *port, const BfHeader *head, uint8_t *out, const BfView *view);
};

/* ---- registry (bf_kinds.c) ---- */

/* The kind with this number or name; NULL if there is none. */
extern const BfKind *bf_kind_by_id(unsigned id);
extern const BfKind *bf_kind_by_name(const char *name);

/* The i-th kind in the order of the numbers, internal ones last; NULL after the last. */
extern const BfKind *bf_kind_at(size_t i);

/* Checks that a table's members agree with its capabilities: NULL, or what is wrong with it. */
extern const char *bf_kind_check(const BfKind *kind);

/* ---- what works on every kind (bf_filter.c) ---- */

/*
 * bf_design: chooses a kind's parameters for a false positive rate.
 *
 * fpr is a fraction in (0, 1).  Fails with BF_FPR_OUT_OF_RANGE, BF_FPR_TOO_LOW, or BF_UNSUPPORTED
 * for an internal kind.  No memory; about 0.1 ms for blocked, so keep the design where many
 * filters share it.
 */
extern BfStatus bf_design(const BfKind *kind, double fpr, BfDesign *design);

/*
 * bf_plan: the header of an empty filter of this design for so many distinct keys (at least 1).
 *
 * The family is left empty.  With that many keys the filter's FPR, averaged over the choice of
 * keys, is at most the design's (formula: the kind's in bf_math.h) plus the floor of a 64-bit
 * hash, keys / 2^64.  Fails with BF_TOO_LARGE.  The same arguments give the same header
 * everywhere: it determines stored bytes.
 */
extern BfStatus bf_plan(const BfDesign *design, uint64_t keys, BfHeader *head);

/*
 * bf_init: makes a zeroed payload that of an empty filter with this header.
 */
extern void bf_init(const BfHeader *head, uint8_t *payload);

/*
 * bf_sort_hashes: sorts hashes in the order of bf_order(), drops repeated ones, and returns how
 * many remain.
 *
 * Sorts in place, with at most 128 kB from env.  Time: linear in n; a constant times n for each of
 * the 8 bytes of a hash at worst.  For callers that have hashes in memory and need a BfSource.
 */
extern uint64_t bf_sort_hashes(const BfPort *port, uint64_t *hashes, uint64_t n);

/*
 * bf_sort_multiset: the same for kinds with BF_MULTISET: keeps each hash as often as it is there,
 * but at most BF_MAX_TIMES times.  *distinct is how many different ones there are.
 */
extern uint64_t bf_sort_multiset(const BfPort *port, uint64_t *hashes, uint64_t n,
								 uint64_t *distinct);

/*
 * bf_union_plan, bf_union: the filter that may contain whatever a or b may contain.
 *
 * The plan fills in the header; it fails with BF_FAMILY_MISMATCH, BF_KIND_MISMATCH, BF_UNSUPPORTED.
 * Of two filters that bf_validate() accepts it fails, or the union is one that it accepts, too; the
 * same holds for all that is made of filters here and by their kinds' members.
 * The second function writes the payload, for which the caller has made room: out must be zeroed
 * and overlap neither argument.  No false negatives: each key of a or b is in the result.  Its FPR
 * is that of a filter of its size that was given the keys of both; more where the sizes differ
 * (bf_cells.h).  A filter united with itself is itself.  Time and memory: linear in the result.
 */
extern BfStatus bf_union_plan(const BfView *a, const BfView *b, BfHeader *head);
extern void bf_union(const BfPort *port, const BfHeader *head, uint8_t *out, const BfView *a,
						 const BfView *b);

/*
 * bf_intersect_plan, bf_intersect: a filter that may contain what both a and b may contain.
 *
 * As above.  No false negatives: each key that is in both a and b is in the result, whose FPR
 * lies between that of a filter built of the common keys and the smaller of the two.
 */
extern BfStatus bf_intersect_plan(const BfView *a, const BfView *b, BfHeader *head);
extern void bf_intersect(const BfPort *port, const BfHeader *head, uint8_t *out, const BfView *a,
							 const BfView *b);

/*
 * bf_fold_plan, bf_fold: the smallest filter, of those whose size divides this one's, whose
 * estimated FPR is at most fpr.
 *
 * Folding by d joins every d neighbouring cells into one.  The result is, bit for bit, what
 * building with a d-th of the cells would have given.  If no fold meets fpr, the size stays.  Fails
 * with BF_UNSUPPORTED, BF_FPR_OUT_OF_RANGE.  Reads the payload a few times.
 */
extern BfStatus bf_fold_plan(const BfPort *port, const BfView *view, double fpr, BfHeader *head);
extern void bf_fold(const BfPort *port, const BfHeader *head, uint8_t *out, const BfView *view);

/* bf_stats: statistics of a filter, from its payload, which is read completely. */
extern void bf_stats(const BfPort *port, const BfView *view, BfStats *stats);

/*
 * bf_stats_sampled: the same, reading at most max_bytes of the payload, at least a thousand.
 *
 * Of a larger filter a part of that size is read: keys, fill and fpr are estimates for the whole,
 * the rest is of the part.  False if nothing can be said of the whole by a part: of large filters
 * that are built at once, whose header has the number of keys.  Constant time, but for max_bytes.
 */
extern bool bf_stats_sampled(const BfPort *port, const BfView *view, uint64_t max_bytes,
							 BfStats *stats);

/*
 * The statistics that a filter whose kind has cells would have after being folded by fold, a
 * divisor of their number.
 */
extern void bf_stats_folded(const BfPort *port, const BfView *view, uint64_t fold, BfStats *stats);

#endif							/* BF_H */
