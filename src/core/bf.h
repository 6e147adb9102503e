/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf.h
 *	  The interface of the filter core: what a kind of filter is, and what can be done with a
 *	  filter.
 *
 * This folder knows nothing of PostgreSQL.  It works on 64-bit hashes and on bytes, gets memory and
 * the check for interrupts from its caller, reports errors by status code, and keeps no state of
 * its own.  A filter is a *value*: a header (bf_format.h), followed by a payload that only the
 * filter's kind understands.
 *
 * The core distinguishes two sorts of bytes:
 *
 *	- *untrusted* bytes have come from outside.  bf_validate() reads them once, wholly.
 *	- *opened* bytes have passed at least bf_open(), which looks at the header alone, in constant
 *	  time.  That is enough for every other function of the core to be memory-safe on them,
 *	  whatever the payload holds.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_H
#define BF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The largest size of a filter's value, header and payload together, in bytes.  The text form of a
 * value has two characters per byte, and PostgreSQL's limit for a datum is 1 GB; see
 * docs/design.md.
 */
#define BF_MAX_VALUE_SIZE		((uint64_t) 500 * 1024 * 1024)

/*
 * The largest size in bytes of the transition state of an aggregate that is passed between
 * processes (kind "partial").  The state is never converted to text: it must fit a datum, and a
 * tuple around it.
 */
#define BF_MAX_PARTIAL_SIZE		((uint64_t) 1023 * 1024 * 1024)

/* The longest name of a key family, in bytes. */
#define BF_MAX_FAMILY_LEN		255

/* The number of 32-bit parameters that a kind may keep in the header. */
#define BF_NPARAMS				4

typedef enum BfStatus
{
	BF_OK = 0,
	BF_CORRUPT,					/* The bytes are not a valid filter; *reason says why. */
	BF_FPR_OUT_OF_RANGE,		/* The false positive rate is not in (0, 1). */
	BF_FPR_TOO_LOW,				/* The false positive rate is below what this kind can reach. */
	BF_TOO_LARGE,				/* The value would exceed BF_MAX_VALUE_SIZE. */
	BF_FULL,					/* The filter takes no more keys, and cannot grow. */
	BF_UNSUPPORTED,				/* This kind of filter does not support the operation. */
	BF_FAMILY_MISMATCH,			/* The filters' keys belong to different key families. */
	BF_KIND_MISMATCH			/* The filters are of different kinds. */
} BfStatus;

/*
 * The services that the core needs from its caller.
 *
 * check_interrupts and alloc may leave by longjmp and never return, as PostgreSQL's functions for
 * these do.  The caller then frees whatever the core has allocated, which it must keep track of (as
 * a memory context does); there is nothing else to clean up.  The comments of functions that
 * allocate say so.
 */
typedef struct BfPort
{
	void		(*check_interrupts) (void *arg);

	/* Returns memory that is not zeroed and is aligned for any type; never returns NULL. */
	void	   *(*alloc) (void *arg, size_t size);

	/* Frees memory from alloc; memory may be NULL. */
	void		(*release) (void *arg, void *memory);
	void	   *arg;
} BfPort;

/*
 * The hashes for kinds whose filters are built from all hashes at once.  n is the number of
 * distinct hashes.  The hashes come in the ascending order of bf_order() (bf_hash.h), in which
 * src/pg/collect.c keeps them: each once, or, for a kind with BF_MULTISET, as often as it is to be
 * counted.  read() stores the next hashes, at most max, and returns how many it has stored: 0 at
 * the end.
 */
typedef struct BfSource BfSource;

struct BfSource
{
	uint64_t	n;
	size_t		(*read) (BfSource *source, uint64_t *hashes, size_t max);
};

/*
 * The destination to which BfKind.build writes the payload of a filter that is built at once from
 * all its keys. extend() appends zero bytes to the payload; it may move the payload, and then
 * changes bytes.
 */
typedef struct BfSink BfSink;

struct BfSink
{
	uint8_t    *bytes;
	uint64_t	len;
	void		(*extend) (BfSink *sink, uint64_t more);
};

/* The hash function of a filter's keys.  The numbers are stored in filters, and never reused. */
typedef enum BfHashId
{
	BF_HASH_XXH3 = 1,			/* XXH3 with 64 bits and seed 0, of a key's canonical bytes. */
	BF_HASH_XXH64_PLAIN = 2		/* XXH64 with seed 0, of a key in Parquet's plain encoding. */
} BfHashId;

/*
 * The kinds of filters.  The numbers are stored in filters, and never reused; numbers that are
 * missing from bf_kinds.c are reserved.
 */
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
	BF_KIND_IDENTITY = 64,		/* Internal kind: the result of an aggregate that got no keys. */

	/* Internal kind: an aggregate's state on its way between processes. */
	BF_KIND_PARTIAL = 65
} BfKindId;

/* The capabilities of a kind, which are flags in BfKind.caps. */
#define BF_CAN_ADD			0x01
#define BF_CAN_REMOVE		0x02
#define BF_CAN_UNION		0x04
#define BF_CAN_INTERSECT	0x08
#define BF_CAN_FOLD			0x10
#define BF_CAN_COUNT		0x20	/* The kind can tell how often a key was added. */
#define BF_INTERNAL			0x80	/* The kind is internal: users cannot ask for it. */

/*
 * Filters of this kind must be built from the whole set of keys: either the kind needs all keys
 * before it can store the first, or its bytes depend on the order in which keys are added.  An
 * aggregate therefore collects the distinct hashes first, and adds them in the order of bf_order(),
 * so that the same set always gives the same bytes.
 */
#define BF_FROM_SET			0x100

/*
 * Adding a key to a filter of this kind twice differs from adding it once, and a union adds up
 * counts: f | f is not f.
 */
#define BF_MULTISET			0x200

/* The highest count that any kind keeps for a key: adding the key once more changes nothing. */
#define BF_MAX_TIMES		15

typedef struct BfKind BfKind;

/* A parsed header.  Lengths are in bytes; capacity and keys_added are numbers of keys. */
typedef struct BfHeader
{
	const BfKind *kind;
	BfHashId	hash_id;

	/*
	 * The bf_family_id() of the key family's name; 0 while the filter has no key family, as it
	 * holds no keys.
	 */
	uint64_t	family_id;

	/*
	 * The number of keys that the filter was sized for; 0 for kind "identity", which has no size.
	 */
	uint64_t	capacity;

	/* The number of additions; a key that is added repeatedly is counted each time. */
	uint64_t	keys_added;

	/* The false positive rate at capacity, in (0, 1); 0 for kind "identity", which has none. */
	double		target_fpr;
	uint64_t	payload_len;
	uint32_t	param[BF_NPARAMS];	/* The kind's own parameters; unused ones are 0. */

	/* The length of the key family's name in bytes; 0 where only its id is known. */
	uint32_t	family_len;

	/*
	 * The key family's name in UTF-8, not terminated by a zero byte.  It points into the filter's
	 * value or into the caller's memory.
	 */
	const char *family;
} BfHeader;

/*
 * An opened filter.  It points into the bytes that it was opened on; payload is NULL if those bytes
 * were only the header.
 */
typedef struct BfView
{
	BfHeader	head;
	const uint8_t *payload;
} BfView;

/*
 * The parameters of a filter that follow from its kind and FPR alone, whatever the number of keys.
 * A design is computed once and may be used for many filters.
 */
typedef struct BfDesign
{
	const BfKind *kind;
	double		fpr;

	/* The payload's size in thousandths of a bit per key, before rounding to whole cells. */
	uint32_t	millibits;

	/*
	 * Thousandths of a bit per key in the packed form, when the filter holds as many keys as it was
	 * sized for; 0 if the kind has no packed form.
	 */
	uint32_t	stored_millibits;

	/* The FPR that results; less than fpr if the kind cannot meet fpr exactly. */
	double		expected_fpr;
	uint32_t	param[BF_NPARAMS];
} BfDesign;

/* Statistics that are computed from a filter's payload. */
typedef struct BfStats
{
	uint64_t	bits;			/* Size of the array of bits, counters or slots. */
	uint64_t	bits_set;

	/*
	 * The share of the bits, counters or slots that are in use; negative if that has no meaning for
	 * the kind.
	 */
	double		fill;
	uint32_t	hashes;			/* Number of probes per key. */

	/*
	 * The number of stages, which are probed one after another, of a filter of kind "scalable"; 1
	 * for most kinds.
	 */
	uint32_t	stages;

	/* Number of counters that have reached their maximum and stay there. */
	uint64_t	saturated;
	double		keys;			/* Estimated number of distinct keys. */
	double		fpr;			/* Estimated current FPR. */
} BfStats;

typedef bool (*BfProbe) (const BfView *view, uint64_t hash);

/*
 * Fetches len bytes from an offset within a payload.  The returned bytes are valid until the next
 * call.
 */
typedef const uint8_t *(*BfFetch) (void *arg, uint64_t offset, uint64_t len);

/*
 * The table of a kind: one constant, exported by the kind's own file.
 *
 * The members from prober on work on opened bytes only.  Where a member may be NULL, its comment
 * says so; the capability bit that belongs to it is then clear, which bf_kind_check() checks in the
 * unit tests.
 */
struct BfKind
{
	BfKindId	id;
	const char *name;			/* The kind's name, as used in SQL. */

	/* The kind's capabilities: BF_CAN_*, BF_INTERNAL, BF_FROM_SET and BF_MULTISET. */
	uint32_t	caps;
	BfHashId	hash_id;
	double		min_fpr;		/* The lowest FPR that the kind can reach. */

	/* The name of the kind that users are told to use for an FPR below min_fpr. */
	const char *better_kind;

	/*
	 * The hint for users who ask for what the kind cannot do; NULL: the hint says to use another
	 * kind.
	 */
	const char *advice;
	const char *when;			/* Tells users when to choose the kind; NULL for internal kinds. */

	/* The size of a cell in bytes, if the payload is an array of cells (bf_cells.h), else 0. */
	uint32_t	cell_size;

	/*
	 * Chooses the parameters for design->fpr, which is in [min_fpr, 1).  Sets millibits, param, and
	 * expected_fpr, which the caller has set to fpr.  NULL for internal kinds.
	 */
	void		(*design) (BfDesign *design);

	/*
	 * Returns the length of a payload for the given number of keys, which is at least 1; a result
	 * above BF_MAX_VALUE_SIZE means too large.  The payload of a filter that is built at once may
	 * become a little shorter or longer.  NULL for internal kinds.
	 */
	uint64_t	(*size) (const BfDesign *design, uint64_t keys);

	/*
	 * Checks that all other functions of the BfKind are memory-safe on a filter with this header
	 * and with any payload of head->payload_len bytes.  Takes constant time.  Returns NULL, or the
	 * reason why not.
	 */
	const char *(*check) (const BfHeader *head);

	/*
	 * Checks that the payload is well formed, by reading all of it.  Returns NULL, or the reason
	 * why not.  May be NULL: then any payload is well formed.
	 */
	const char *(*validate) (const BfPort *port, const BfView *view);

	/*
	 * Returns the function that probes this filter fastest on this processor.  That function
	 * allocates nothing and cannot fail.  The payload may move between calls of it; the header may
	 * not change.
	 */
	BfProbe		(*prober) (const BfView *view);

	/*
	 * Probes many hashes: sets result[i] to whether the filter may contain hashes[i].  Faster than
	 * n single probes if the filter does not fit the processor's caches.
	 */
	void		(*probe_many) (const BfView *view, const uint64_t *hashes, size_t n, bool *result);

	/*
	 * Probes a filter whose header alone is in memory, by fetching the few bytes of the payload
	 * that decide.  May be NULL, if the bytes that decide are most of the payload.
	 */
	bool		(*probe_sliced) (const BfHeader *head, uint64_t hash, BfFetch fetch, void *arg);

	/*
	 * Turns a zeroed payload into that of an empty filter.  May be NULL: then a zeroed payload is
	 * an empty filter's already.
	 */
	void		(*init) (const BfHeader *head, uint8_t *payload);

	/*
	 * Adds hashes to a payload, in place, one after the other, and returns how many it has added:
	 * fewer than n if the filter is then full, in which case the remaining hashes leave no trace.
	 * The caller updates the header.  NULL without BF_CAN_ADD.
	 */
	size_t		(*add) (const BfHeader *head, uint8_t *payload, const uint64_t *hashes, size_t n);

	/*
	 * Members of kinds that grow when they are full. grow_plan fills in the header of a larger
	 * filter, or returns BF_TOO_LARGE if there is none. grow fills in the larger filter's payload,
	 * which comes zeroed.  The larger filter gives the same answers as the smaller one.  Both are
	 * NULL if a full filter of the kind takes no more keys.
	 */
	BfStatus	(*grow_plan) (const BfView *view, BfHeader *head);
	void		(*grow) (const BfHeader *head, uint8_t *out, const BfView *view);

	/*
	 * Removes hashes, in place, one after the other, and returns how many it has removed: fewer
	 * than n if the next hash is certainly not in the filter, for which nothing is changed.  A key
	 * that was never added, but that the filter may contain, must not be removed: that would remove
	 * other keys.  NULL without BF_CAN_REMOVE.
	 */
	size_t		(*remove) (const BfHeader *head, uint8_t *payload, const uint64_t *hashes,
						   size_t n);

	/*
	 * Returns a lower bound on the number of times that the hash was added and not removed;
	 * UINT64_MAX if the number is no longer known.  NULL without BF_CAN_COUNT.
	 */
	uint64_t	(*count) (const BfView *view, uint64_t hash);

	/*
	 * Builds a filter from all hashes of a source at once, into an empty sink. head comes from
	 * bf_plan() for the number of hashes, at least 1; the final length is stored in it.  Whatever
	 * the hashes are, returns BF_OK or BF_TOO_LARGE.  Allocates.  NULL with BF_CAN_ADD.
	 */
	BfStatus	(*build) (const BfPort *port, BfHeader *head, BfSource *source, BfSink *sink);

	/*
	 * Members of kinds whose filters have a *packed* form, in which they are stored, and a *loose*
	 * form, which takes more space and can be changed. loosen_plan and pack_plan fill in the header
	 * of the other form; loosen and pack then fill in its payload, which comes zeroed.  None of the
	 * four is called on a filter that has the wanted form already. add, remove, combined_head,
	 * unite, intersect, fold_plan and fold work on the loose form only; prober, probe_many, count
	 * and stats work on both.  All are NULL if the kind has only one form.
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
	 * stages = 1. fold is a divisor of the number of cells: the statistics are those that the
	 * filter would have after being folded by it. fold is 1 for kinds without cells.
	 */
	void		(*stats) (const BfPort *port, const BfView *view, uint64_t fold, BfStats *stats);

	/*
	 * Fills in the statistics of an unfolded filter from a part of its payload, which is longer
	 * than max_bytes: keys, fill and fpr are estimates for the whole filter, as far as the part
	 * allows.  May be NULL: then a part of the cells is a filter of a part of the keys or, for a
	 * kind without cells, a part says nothing about the whole.
	 */
	void		(*stats_sampled) (const BfPort *port, const BfView *view, uint64_t max_bytes,
								  BfStats *stats);

	/*
	 * Fills in the header of the union or intersection of two filters of this kind, except for the
	 * family, which is set already; returns false if the filters cannot be combined.  May look at
	 * what the payloads say of themselves, in constant time.  NULL without BF_CAN_UNION and
	 * BF_CAN_INTERSECT.
	 */
	bool		(*combined_head) (const BfView *a, const BfView *b, BfHeader *head);

	/*
	 * Unite or intersect the payload out with a view: out becomes "out op view". out belongs to
	 * head, which combined_head has made for this view and another filter.  A zeroed payload is the
	 * empty set.  Both operations are commutative and, without BF_MULTISET, idempotent, to the
	 * byte.  The union is associative whatever the sizes, the intersection among filters of the
	 * same size. unite is NULL without BF_CAN_UNION, intersect without BF_CAN_INTERSECT.
	 */
	void (*unite)(const BfPort *port, const BfHeader *head, uint8_t *out, const BfView *view);
	void		(*intersect) (const BfPort *port, const BfHeader *head, uint8_t *out,
							  const BfView *view);

	/*
	 * fold_plan changes head, which comes as a copy of the view's header, to that of the smallest
	 * filter to which the view can be folded without exceeding fpr, or leaves it unchanged. fold
	 * then writes that filter's payload, which comes zeroed.  Both are NULL without BF_CAN_FOLD.
	 */
	void		(*fold_plan) (const BfPort *port, const BfView *view, double fpr, BfHeader *head);
	void (*fold)(const BfPort *port, const BfHeader *head, uint8_t *out, const BfView *view);
};

/* ---- the registry of kinds (bf_kinds.c) ---- */

/* Return the kind with the given number or name; NULL if there is none. */
extern const BfKind *bf_kind_by_id(unsigned id);
extern const BfKind *bf_kind_by_name(const char *name);

/*
 * Returns the i-th kind in the order of the kinds' numbers, which puts internal kinds last; NULL
 * after the last kind.
 */
extern const BfKind *bf_kind_at(size_t i);

/*
 * Checks that the functions and other members of a BfKind agree with its capabilities.  Returns
 * NULL, or what is wrong.
 */
extern const char *bf_kind_check(const BfKind *kind);

/* ---- operations on filters of every kind (bf_filter.c, bf_sort.c) ---- */

/*
 * Chooses a kind's parameters for a false positive rate.
 *
 * fpr is a fraction in (0, 1).  Fails with BF_FPR_OUT_OF_RANGE, BF_FPR_TOO_LOW, or BF_UNSUPPORTED
 * for an internal kind.  Allocates nothing.  Takes about 0.1 ms for kind blocked, so keep the
 * design where many filters share it.
 */
extern BfStatus bf_design(const BfKind *kind, double fpr, BfDesign *design);

/*
 * Fills in the header of an empty filter of a design for the given number of distinct keys (at
 * least 1).
 *
 * The family is left empty.  With that number of keys the filter's FPR, averaged over the choice of
 * keys, is at most the design's (by the kind's formula in bf_math.h) plus the floor of a 64-bit
 * hash, keys / 2^64.  Fails with BF_TOO_LARGE.  The same arguments give the same header everywhere,
 * because the header determines stored bytes.
 */
extern BfStatus bf_plan(const BfDesign *design, uint64_t keys, BfHeader *head);

/* Turns a zeroed payload into that of an empty filter with this header. */
extern void bf_init(const BfHeader *head, uint8_t *payload);

/*
 * Sorts hashes in the order of bf_order(), drops repeated ones, and returns how many remain.
 *
 * Sorts in place, with at most 128 kB of memory from port.  Takes time linear in n: at worst a
 * constant times n for each of the 8 bytes of a hash.  For callers that have hashes in memory and
 * need a BfSource.
 */
extern uint64_t bf_sort_hashes(const BfPort *port, uint64_t *hashes, uint64_t n);

/*
 * Sorts hashes in the order of bf_order(), for kinds with BF_MULTISET: keeps each hash as often as
 * it occurs, but at most BF_MAX_TIMES times.  Returns how many remain, and sets *distinct to the
 * number of different hashes.
 */
extern uint64_t bf_sort_multiset(const BfPort *port, uint64_t *hashes, uint64_t n,
								 uint64_t *distinct);

/*
 * bf_union_plan and bf_union make the filter that may contain whatever a or b may contain.
 *
 * bf_union_plan fills in the header; it fails with BF_FAMILY_MISMATCH, BF_KIND_MISMATCH or
 * BF_UNSUPPORTED.  If bf_validate() accepts both filters and the plan succeeds, bf_validate()
 * accepts the union, too; the same holds for all that the functions of this file and the members of
 * the kinds make of filters.
 *
 * bf_union writes the payload out, for which the caller has made room: out must be zeroed and
 * overlap neither argument.  There are no false negatives: each key of a or b is in the result.
 * The FPR of the result is that of a filter of its size that was given the keys of both; it is
 * higher where the sizes of a and b differ (bf_cells.h).  The union of a filter with itself is the
 * filter itself, except for kinds with BF_MULTISET.  Time and memory are linear in the result.
 */
extern BfStatus bf_union_plan(const BfView *a, const BfView *b, BfHeader *head);
extern void bf_union(const BfPort *port, const BfHeader *head, uint8_t *out, const BfView *a,
						 const BfView *b);

/*
 * bf_intersect_plan and bf_intersect make a filter that may contain what both a and b may contain.
 *
 * bf_intersect_plan fills in the header; it fails with BF_FAMILY_MISMATCH, BF_KIND_MISMATCH or
 * BF_UNSUPPORTED. bf_intersect writes the payload out, which must be zeroed and overlap neither
 * argument.  There are no false negatives: each key that is in both a and b is in the result, whose
 * FPR lies between that of a filter built of the common keys and the lower of the FPRs of a and b.
 */
extern BfStatus bf_intersect_plan(const BfView *a, const BfView *b, BfHeader *head);
extern void bf_intersect(const BfPort *port, const BfHeader *head, uint8_t *out, const BfView *a,
							 const BfView *b);

/*
 * bf_fold_plan and bf_fold make, of all filters whose size divides the given filter's, the smallest
 * whose estimated FPR is at most fpr.
 *
 * Folding by d joins every d neighbouring cells into one.  The result is, bit for bit, what
 * building the filter with a d-th of the cells would have given.  If no fold meets fpr, the size
 * stays.  Fails with BF_UNSUPPORTED or BF_FPR_OUT_OF_RANGE.  The plan reads the payload a few
 * times.
 */
extern BfStatus bf_fold_plan(const BfPort *port, const BfView *view, double fpr, BfHeader *head);
extern void bf_fold(const BfPort *port, const BfHeader *head, uint8_t *out, const BfView *view);

/* Fills in the statistics of a filter.  Reads the whole payload. */
extern void bf_stats(const BfPort *port, const BfView *view, BfStats *stats);

/*
 * Fills in the statistics of a filter, reading at most max_bytes of its payload; max_bytes must be
 * at least a thousand.
 *
 * If the payload is longer, a part of max_bytes is read: keys, fill and fpr are then estimates for
 * the whole filter, and the other statistics are those of the part.  Returns false if a part says
 * nothing about the whole, which is so for large filters that are built at once, whose header has
 * the number of keys.  Takes constant time for a given max_bytes.
 */
extern bool bf_stats_sampled(const BfPort *port, const BfView *view, uint64_t max_bytes,
							 BfStats *stats);

/*
 * Fills in the statistics that a filter whose kind has cells would have after a fold that joins
 * each `fold` cells into one; fold must divide the number of the filter's cells.
 */
extern void bf_stats_folded(const BfPort *port, const BfView *view, uint64_t fold, BfStats *stats);

#endif							/* BF_H */
