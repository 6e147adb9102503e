/*-------------------------------------------------------------------------
 *
 * bf.h
 *	  The filter family: what a kind of filter is, and what can be done with one.
 *
 * This folder knows nothing of PostgreSQL.  It works on 64-bit hashes and on bytes, takes memory
 * and interrupts from its caller, reports by status code, and keeps no state of its own.  A
 * filter is a *value*: a header (bf_format.h) followed by a payload that only its kind
 * understands.
 *
 * Two kinds of bytes are told apart everywhere:
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
 * check_interrupts may not return (PostgreSQL's longjmps), nor may alloc.  What the core has
 * allocated is then the caller's to release, who knows all of it (a memory context); nothing else
 * of the core's would need to be.  Only what says so allocates.
 */
typedef struct BfEnv
{
	void		(*check_interrupts) (void *arg);
	void	   *(*alloc) (void *arg, size_t size);	/* not zeroed, aligned for any type; never
													 * NULL */
	void		(*release) (void *arg, void *memory);	/* NULL is fine */
	void	   *arg;
} BfEnv;

/*
 * Hashes for a filter that is built at once: n distinct ones, in the ascending order of
 * bf_order() (bf_hash.h), which is the order that src/pg/collect.c keeps them in.  read() hands
 * out the next ones, at most max, and returns how many; 0 at the end.
 */
typedef struct BfSource BfSource;

struct BfSource
{
	uint64_t	n;
	size_t		(*read) (BfSource *source, uint64_t *hashes, size_t max);
};

/*
 * Where the payload of such a filter goes.  extend() makes it longer by some zero bytes; it may
 * move.
 */
typedef struct BfSink BfSink;

struct BfSink
{
	uint8_t    *bytes;
	uint64_t	len;
	void		(*extend) (BfSink *sink, uint64_t more);
};

/* Which hash a filter's keys went through.  Stored: a number is never reused. */
typedef enum BfHashId
{
	BF_HASH_XXH3 = 1,			/* XXH3, 64 bits, seed 0, of canonical bytes */
	BF_HASH_XXH64_PLAIN = 2		/* XXH64, seed 0, of Parquet's plain encoding */
} BfHashId;

/* Kinds.  Stored: a number is never reused.  Those without a table in bf_kinds.c are reserved. */
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
 * What becomes of the keys depends on their order, or all must be known before the first is
 * added.  Who builds such a filter of many rows collects the distinct hashes first, and gives
 * them in the order of bf_order(): the same bytes for the same set.
 */
#define BF_FROM_SET			0x100

/* A key added twice is not the same as added once, and a union adds up: f | f differs from f. */
#define BF_MULTISET			0x200

/* No kind counts further: a key that was added so often may be added again without any change. */
#define BF_MAX_TIMES		15

typedef struct BfKind BfKind;

/*
 * A parsed header.  Lengths are in bytes, counts in keys.
 */
typedef struct BfHeader
{
	const BfKind *kind;
	BfHashId	hash_id;
	uint64_t	family_id;		/* bf_family_id() of the family's name; 0: no family yet, so no
								 * keys */
	uint64_t	capacity;		/* keys that it was sized for; 0: no size (identity) */
	uint64_t	keys_added;		/* additions, repeated keys counted each time */
	double		target_fpr;		/* in (0, 1) at capacity; 0: none (identity) */
	uint64_t	payload_len;
	uint32_t	param[BF_NPARAMS];	/* the kind's own; unused ones are 0 */
	uint32_t	family_len;		/* 0 where only the id is known */
	const char *family;			/* UTF-8, not terminated; points into the value or to the caller's
								 * memory */
} BfHeader;

/*
 * An opened filter.  Borrows the bytes that it was opened on; payload is NULL if those were the
 * header alone.
 */
typedef struct BfView
{
	BfHeader	head;
	const uint8_t *payload;
} BfView;

/*
 * What follows from kind and FPR alone, whatever the number of keys: computed once, used for many
 * filters.
 */
typedef struct BfDesign
{
	const BfKind *kind;
	double		fpr;
	uint32_t	millibits;		/* thousandths of a bit per key, before rounding to whole cells */
	uint32_t	stored_millibits;	/* the same of the packed form, at capacity; 0: there is but
									 * one form */
	double		expected_fpr;	/* what it comes to; less than fpr where it can only be met by
								 * going below */
	uint32_t	param[BF_NPARAMS];
} BfDesign;

/* What can be read off a filter's payload. */
typedef struct BfStats
{
	uint64_t	bits;			/* size of the array of bits, or of what stands in its place */
	uint64_t	bits_set;
	double		fill;			/* share of the places (bits, counters, slots) that are taken;
								 * negative: says nothing here */
	uint32_t	hashes;			/* probes per key */
	uint32_t	stages;			/* parts that are probed one after another; 1 for most */
	uint64_t	saturated;		/* counters that stand at their highest and stay there */
	double		keys;			/* estimated distinct keys */
	double		fpr;			/* estimated FPR now */
} BfStats;

typedef bool (*BfProbe) (const BfView *view, uint64_t hash);

/* Reads len bytes of a payload from offset on, which lie within it; good until the next call. */
typedef const uint8_t *(*BfFetch) (void *arg, uint64_t offset, uint64_t len);

/*
 * A kind: one constant table, exported by the kind's own file.
 *
 * Members from prober down to intersect see opened bytes only.  A member that may be NULL is
 * marked; the capability bit that goes with it is then clear (bf_kind_check, run by the unit
 * tests, holds every table to that).
 */
struct BfKind
{
	BfKindId	id;
	const char *name;			/* as in SQL */
	uint32_t	caps;			/* BF_CAN_* */
	BfHashId	hash_id;
	double		min_fpr;		/* below it, another kind is better or the only one */
	const char *better_kind;	/* ... this one */
	const char *advice; /* what to do instead of what it cannot do; NULL: use another kind */
	const char *when;			/* when to choose it, for users */
	uint32_t	cell_size;		/* bytes that a probe reads together, if the payload is an array
								 * of such cells; else 0 */

	/*
	 * Fills millibits, expected_fpr (which comes as fpr) and param for fpr, which lies in
	 * [min_fpr, 1).  NULL for internal kinds.
	 */
	void		(*design) (BfDesign *design);

	/*
	 * The payload's length for so many keys, at least 1; more than BF_MAX_VALUE_SIZE means too
	 * large.  What is built at once may come out a little different.  NULL for internal kinds.
	 */
	uint64_t	(*size) (const BfDesign *design, uint64_t keys);

	/*
	 * Is this header, whose payload has head->payload_len bytes, one that every other member is
	 * memory-safe on?  Constant time.  Returns NULL, or the reason why not.
	 */
	const char *(*check) (const BfHeader *head);

	/*
	 * Is the payload well formed?  Reads all of it.  Returns NULL, or the reason why not.  May be
	 * NULL: any payload is.
	 */
	const char *(*validate) (const BfView *view);

	/*
	 * Returns the routine that probes this very filter best on this processor.  It allocates
	 * nothing and cannot fail.  The view's payload may later move; its header may not change.
	 */
	BfProbe		(*prober) (const BfView *view);

	/*
	 * Probes many hashes: result[i] = may the filter contain hashes[i]?  Faster than n calls on a
	 * filter that does not fit the caches.
	 */
	void		(*probe_many) (const BfView *view, const uint64_t *hashes, size_t n, bool *result);

	/*
	 * Probes a filter of which only the header is at hand, by fetching the few bytes that decide.
	 * May be NULL: nearly all of them do.
	 */
	bool		(*probe_sliced) (const BfHeader *head, uint64_t hash, BfFetch fetch, void *arg);

	/*
	 * Prepares the payload of an empty filter, which is zeroed.  May be NULL: zeros are one.
	 */
	void		(*init) (const BfHeader *head, uint8_t *payload);

	/*
	 * Adds hashes to a payload, in place, one after the other, and returns how many: fewer than n
	 * if it is full then, exactly as if the others had not been there.  Does not touch the
	 * header.  NULL without BF_CAN_ADD.
	 */
	size_t		(*add) (const BfHeader *head, uint8_t *payload, const uint64_t *hashes, size_t n);

	/*
	 * For kinds that grow when they are full: the header of the larger filter (BF_TOO_LARGE if
	 * there is none), then its payload, zeroed, from the smaller one's.  Answers stay what they
	 * were.  NULL: a full filter takes no more.
	 */
	BfStatus	(*grow_plan) (const BfView *view, BfHeader *head);
	void		(*grow) (const BfHeader *head, uint8_t *out, const BfView *view);

	/*
	 * Removes hashes, in place, one after the other, and returns how many: fewer than n if the
	 * next one is certainly not there, which changes nothing.  A key that was never added, but
	 * may be contained, must not be removed: that takes others away.  NULL without BF_CAN_REMOVE.
	 */
	size_t		(*remove) (const BfHeader *head, uint8_t *payload, const uint64_t *hashes,
						   size_t n);

	/*
	 * How often the hash was added and not removed, or more; UINT64_MAX if that is not known any
	 * more.  NULL without BF_CAN_COUNT.
	 */
	uint64_t	(*count) (const BfView *view, uint64_t hash);

	/*
	 * Builds the filter of all hashes of a source at once; head comes from bf_plan() for their
	 * number (at least 1), and leaves with the sink's length, which comes empty.  Cannot fail for
	 * what the hashes are: BF_OK or BF_TOO_LARGE.  Allocates.  NULL with BF_CAN_ADD.
	 */
	BfStatus	(*build) (const BfEnv *env, BfHeader *head, BfSource *source, BfSink *sink);

	/*
	 * For kinds that are stored denser than they are worked on: from one form to the other,
	 * header first, payload zeroed then.  add, remove, combined_head, unite, intersect, fold_plan
	 * and fold want the loose form, prober, probe_many, count and stats take both.  A filter that
	 * is in the wanted form already is not given.  All NULL: there is but one form.
	 */
	bool		(*is_packed) (const BfHeader *head);
	void		(*loosen_plan) (const BfHeader *packed, BfHeader *loose);
	void		(*loosen) (const BfEnv *env, const BfHeader *loose, uint8_t *out,
						   const BfView *packed);
	void		(*pack_plan) (const BfEnv *env, const BfView *loose, BfHeader *packed);
	void		(*pack) (const BfEnv *env, const BfHeader *packed, uint8_t *out,
						 const BfView *loose);

	/*
	 * Reads off the payload what can be known, as if the filter had first been folded by the
	 * divisor fold of its number of cells (1: as it is; other kinds than those of cells get
	 * nothing else).  Comes zeroed, but for fill = -1 and stages = 1.
	 */
	void		(*stats) (const BfEnv *env, const BfView *view, uint64_t fold, BfStats *stats);

	/*
	 * Fills the header of the union (or intersection) of two filters of this kind, families
	 * already agreed; false if they cannot be combined.  NULL without BF_CAN_UNION,
	 * BF_CAN_INTERSECT.
	 */
	bool		(*combined_head) (const BfHeader *a, const BfHeader *b, BfHeader *head);

	/*
	 * Unites out, a payload that belongs to head, with the view, which took part in head; or
	 * intersects them.  A zeroed payload is the empty set.  Commutative and, without BF_MULTISET,
	 * idempotent, to the byte; the union is also associative, whatever the sizes, the
	 * intersection among filters of one size.  NULL without BF_CAN_UNION, BF_CAN_INTERSECT.
	 */
	void		(*unite) (const BfEnv *env, const BfHeader *head, uint8_t *out, const BfView *view);
	void		(*intersect) (const BfEnv *env, const BfHeader *head, uint8_t *out,
							  const BfView *view);

	/*
	 * Fills the header, which comes as the view's, of the smallest filter that this one can be
	 * folded to at fpr, or leaves it as it is; then writes that filter into out, zeroed.  NULL
	 * without BF_CAN_FOLD.
	 */
	void		(*fold_plan) (const BfEnv *env, const BfView *view, double fpr, BfHeader *head);
	void		(*fold) (const BfEnv *env, const BfHeader *head, uint8_t *out, const BfView *view);
};

/* ---- registry (bf_kinds.c) ---- */

/* The kind with this number or name; NULL if there is none. */
extern const BfKind *bf_kind_by_id(unsigned id);
extern const BfKind *bf_kind_by_name(const char *name);

/* The i-th kind in the order of the numbers, internal ones last; NULL after the last. */
extern const BfKind *bf_kind_at(size_t i);

/* Does the table keep its own promises?  NULL, or what is wrong with it. */
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
 * bf_sort_hashes: puts hashes in the order of bf_order(), drops repeated ones, and returns how
 * many remain.
 *
 * In place, with 128 kB from env beside that at most; time: n log n bits at worst, linear on
 * hashes.  For callers that have hashes in memory and need a BfSource.
 */
extern uint64_t bf_sort_hashes(const BfEnv *env, uint64_t *hashes, uint64_t n);

/*
 * bf_union_plan, bf_union: the filter that may contain whatever a or b may contain.
 *
 * First the header (fails with BF_FAMILY_MISMATCH, BF_KIND_MISMATCH, BF_UNSUPPORTED), then, when
 * the caller has made room for it, the payload; out must be zeroed and overlap neither argument.
 * No false negatives: each key of a or b is in the result.  Its FPR is that of a filter of its
 * size that was given the keys of both; more where the sizes differ (bf_cells.h).  A filter
 * united with itself is itself.  Time and memory: linear in the result.
 */
extern BfStatus bf_union_plan(const BfView *a, const BfView *b, BfHeader *head);
extern void bf_union(const BfEnv *env, const BfHeader *head, uint8_t *out, const BfView *a,
						 const BfView *b);

/*
 * bf_intersect_plan, bf_intersect: a filter that may contain what both a and b may contain.
 *
 * As above.  No false negatives: each key that is in both a and b is in the result, whose FPR
 * lies between that of a filter built of the common keys and the smaller of the two.
 */
extern BfStatus bf_intersect_plan(const BfView *a, const BfView *b, BfHeader *head);
extern void bf_intersect(const BfEnv *env, const BfHeader *head, uint8_t *out, const BfView *a,
							 const BfView *b);

/*
 * bf_fold_plan, bf_fold: the smallest filter, of those whose size divides this one's, whose
 * estimated FPR is at most fpr.
 *
 * Folding by d joins each d neighbouring cells: bit for bit what building with a d-th of the
 * cells would have given.  Where no fold meets fpr the result has the size of the argument.
 * Fails with BF_UNSUPPORTED, BF_FPR_OUT_OF_RANGE.  Reads the payload a few times.
 */
extern BfStatus bf_fold_plan(const BfEnv *env, const BfView *view, double fpr, BfHeader *head);
extern void bf_fold(const BfEnv *env, const BfHeader *head, uint8_t *out, const BfView *view);

/* bf_stats: what the payload tells.  Reads all of it. */
extern void bf_stats(const BfEnv *env, const BfView *view, BfStats *stats);

/*
 * The same as if the filter, whose kind has cells, had first been folded by a divisor of their
 * number.
 */
extern void bf_stats_folded(const BfEnv *env, const BfView *view, uint64_t fold, BfStats *stats);

#endif							/* BF_H */
