/*-------------------------------------------------------------------------
 *
 * bloomfam.h
 *	  What the files of the glue share, grouped by the file that it lives in.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_H
#define BLOOMFAM_H

#include "core/bf.h"
#include "core/bf_format.h"
#include "core/bf_hash.h"
#include "pg/compat.h"

/* ---- env.c: the core's needs, and its status codes as errors ---- */

extern const BfEnv bloomfam_env;

/*
 * What the processor fetches at a time: payloads begin on such a boundary, so that a block is one
 * fetch.
 */
#define BLOOMFAM_CACHE_LINE		64

/* Asks for huge pages for memory that will be accessed at random; before it is touched. */
extern void bloomfam_advise_huge_pages(void *memory, Size size);

/* Raises the error for a status of bf_design() or bf_plan(). */
extern void bloomfam_params_error(BfStatus status, const BfKind *kind, double fpr, uint64 keys)
	pg_attribute_noreturn();

/* Raises the error for two filters that cannot be combined; verb is "unite" or "intersect". */
extern void bloomfam_combine_error(BfStatus status, const char *verb, const BfView *a,
								   const BfView *b) pg_attribute_noreturn();

/*
 * Raises the error for what a kind cannot do: "cannot <what> of kind ..."; hint names a kind that
 * can.
 */
extern void bloomfam_unsupported_error(const BfKind *kind, const char *what, uint32 needed_cap)
	pg_attribute_noreturn();

/*
 * Raises the error for a filter that takes no more keys, and cannot grow (BF_FULL), or not
 * further (BF_TOO_LARGE).
 */
extern void bloomfam_full_error(const BfHeader *head, BfStatus status) pg_attribute_noreturn();

/* Raises the error for a key of one family and a filter of another. */
extern void bloomfam_family_error(const BfHeader *filter, const char *key_family,
								  uint32 key_family_len, uint64 key_family_id)
	pg_attribute_noreturn();

/*
 * A family for a message, in the server's encoding: its name, or its id where no name is known.
 * palloc'd.
 */
extern char *bloomfam_family_display(const char *name, uint32 len, uint64 id);

/* ---- key.c, key_plain.c: from an SQL value to 64 bits ---- */

/*
 * A hasher turns the keys of one argument into hashes.  The caller makes it once and keeps it (in
 * fn_extra); a key then costs one indirect call, with nothing allocated or looked up.
 *
 * family and family_id say which family the last hashed key was of.  They are fixed when the
 * hasher is made, but for types whose values carry their own (bloomkey, anonymous rows): there
 * they are NULL and 0 until the first key, and may change with each. A bloomkey has an id only;
 * its name is filled in where the id is that of a well-known family.
 */
typedef struct BloomfamHasher BloomfamHasher;

struct BloomfamHasher
{
	uint64		(*hash) (BloomfamHasher *self, Datum key);	/* key is not NULL */
	uint64		family_id;		/* 0: not known yet */
	const char *family;			/* UTF-8, at most BF_MAX_FAMILY_LEN bytes; NULL: not known */
	uint32		family_len;
	BfHashId	hash_id;

	/*
	 * For hashers that can turn to several families: turns to the filter's if that is one of
	 * them, or to the hasher's own for a filter without keys.  NULL for others.
	 */
	void		(*fit) (BloomfamHasher *self, const BfHeader *filter);

	/*
	 * Keys are only asked for, not added.  One that the filter's family cannot represent then has
	 * any hash, as it equals no key of the filter; otherwise it is an error.
	 */
	bool		probing;

	/* what the routine needs follows in the files' own structs */
};

/*
 * Makes a hasher for keys of an SQL type under a collation, in the memory context given.  Raises
 * an error for types that cannot be hashed.
 */
extern BloomfamHasher *bloomfam_hasher_make(MemoryContext context, Oid type, Oid collation,
											BfHashId hash_id);

/*
 * Tells a new hasher the typmod of its keys, which Parquet's decimals depend on; -1 if there is
 * none.
 */
extern void bloomfam_hasher_typmod(BloomfamHasher *hasher, int32 typmod);

/*
 * To be called before keys are hashed for a filter, which has the hasher's hash.  Returns whether
 * keys may now have other hashes.
 */
static inline bool
bloomfam_hasher_fit(BloomfamHasher *hasher, const BfHeader *filter)
{
	if (likely(hasher->family_id == filter->family_id || hasher->fit == NULL))
		return false;
	hasher->fit(hasher, filter);
	return true;
}

/*
 * The family of the keys of a filter that comes from Parquet, for a key type and the type of the
 * column there; NULL: what the key type would be written as.  Into the current memory context.
 */
extern void bloomfam_plain_family(Oid type, const char *column, BfHeader *head);

/* The size of the floats that a filter's keys are in plain encoding; 0 if they are none. */
extern int bloomfam_plain_float_size(const BfHeader *head);

/* Is its hash bf_hash_u64() of the key as an integer, of which the type has 2, 4 or 8 bytes? */
extern bool bloomfam_hasher_is_integer(const BloomfamHasher *hasher);

/* The hashers of one argument, one for each hash that filters may want, made when first needed. */
#define BLOOMFAM_NHASHES	3		/* numbers of hashes are below this */

typedef struct BloomfamHashers
{
	MemoryContext context;
	Oid			type;
	int32		typmod;
	Oid			collation;
	bool		probing;		/* see BloomfamHasher */
	BloomfamHasher *by_id[BLOOMFAM_NHASHES];
} BloomfamHashers;

extern BloomfamHasher *bloomfam_hashers_make(BloomfamHashers *hashers, BfHashId hash_id);

static inline BloomfamHasher *
bloomfam_hasher_for(BloomfamHashers *hashers, BfHashId hash_id)
{
	BloomfamHasher *hasher = hashers->by_id[hash_id];

	return likely(hasher != NULL) ? hasher : bloomfam_hashers_make(hashers, hash_id);
}

/*
 * Fills them for argument argno, whose keys are its value, or the elements of the array that it
 * is.  Raises an error if the call site does not tell the type.
 */
extern void bloomfam_hashers_init(BloomfamHashers *hashers, FunctionCallInfo fcinfo, int argno,
								  bool keys_are_array);

/*
 * The same, made on the first call and kept in fn_extra, for functions that keep nothing else
 * there.
 */
extern BloomfamHashers *bloomfam_hashers_get(FunctionCallInfo fcinfo, int argno,
											 bool keys_are_array);

/*
 * The type of an argument that is a key, or an array of keys.  Raises an error if the call site
 * does not tell.
 */
extern Oid bloomfam_key_type(FunctionCallInfo fcinfo, int argno);

/* The typmod of such an argument; -1 if the call site does not tell. */
extern int32 bloomfam_key_typmod(FunctionCallInfo fcinfo, int argno);

/*
 * The name of the family with this id, if it is one of the well-known ones (those without a
 * user's names in them); else NULL.
 */
extern const char *bloomfam_family_name(uint64 family_id);

/* ---- bloomkey.c: the type of hashed keys ---- */

typedef struct BloomfamKey
{
	uint64		hash;
	uint64		family_id;
} BloomfamKey;

#define DatumGetBloomkeyP(d)	((BloomfamKey *) DatumGetPointer(d))

/*
 * Is this the type bloomkey of this extension?  (By its input function: extensions are
 * relocatable.)
 */
extern bool bloomfam_is_bloomkey(Oid type);

/* ---- datum.c: filters as datums ---- */

/*
 * A TOASTed filter of which only the header has been read, since so far few keys were looked for
 * in it: a probe then reads what it needs, and not the whole value.
 */
typedef struct BloomfamSliceScan BloomfamSliceScan;

typedef struct BloomfamSlice
{
	BfView		view;			/* no payload */
	uint64		toast_pointer[2];	/* which filter, as below; zeros: none */
	uint32		lxid;
	uint32		reads;			/* chunks of this filter that were read */
	uint32		misplaced;		/* chunks, of any filter, that did not lie where they should, in a
								 * row */
	BloomfamSliceScan *scan;		/* from bloomfam_slice_open() to bloomfam_slice_close() */
	uint8		header[BF_MAX_HEADER_SIZE];
	uint8		bytes[BF_MAX_HEADER_SIZE];	/* what was read last */
} BloomfamSlice;

/*
 * An opened filter that is kept from call to call.  What is opened stays open while the datum is
 * the same value: a plain one is used where it lies, a TOASTed one is fetched once.  See datum.c
 * for how a value is known again.  What each row looks at comes first.
 */
typedef struct BloomfamFilter
{
	BfView		view;
	BfProbe		probe;			/* for this view */

	/* what the opened value is known again by: at most one of three */
	uint32		plain_word;		/* the first word of a plain value, which is its length; and its
								 * header, below */
	uint32		lxid;			/* the transaction that toast_pointer holds in */
	uint64		toast_pointer[2];	/* a struct varatt_external; zeros match none */
	Size		compressed_len; /* of a copy of the datum, compressed in its row; 0: none */
	char	   *compressed;

	uint8		header[BF_MAX_HEADER_SIZE]; /* that view was made from */
	Size		header_len;
	char	   *copy;			/* of a value that does not lie plainly in memory */
	MemoryContext context;

	BloomfamSlice slice;		/* beside all that */
} BloomfamFilter;

/* Makes an empty one; what it fetches goes into this context. */
extern void bloomfam_filter_init(BloomfamFilter *filter, MemoryContext context);

/* Opens the datum.  The view is good until the next call or the datum's end. */
extern void bloomfam_filter_open(BloomfamFilter *filter, Datum datum);

static inline uint64
bloomfam_load64(const void *p)
{
	uint64		v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline bool
bloomfam_same_word(const uint8 *a, const uint8 *b, int offset)
{
	return bloomfam_load64(a + offset) == bloomfam_load64(b + offset);
}

/*
 * Are two headers of values of one length the same, but for counts and checksum?  Then what was
 * made of one is good for the other: kind, family, geometry and probe, though not the counts in
 * view.head.  The family's name follows from its id.
 */
static inline bool
bloomfam_same_filter_shape(const uint8 *a, const uint8 *b)
{
	return likely(bloomfam_same_word(a, b, 0)) &&
		   likely(bloomfam_same_word(a, b, BF_OFF_FAMILY_ID)) &&
		   likely(bloomfam_same_word(a, b, BF_OFF_PAYLOAD_LEN)) &&
		   likely(bloomfam_same_word(a, b, BF_OFF_PARAM)) &&
		   likely(bloomfam_same_word(a, b, BF_OFF_PARAM + 8));
}

/* Is the datum the TOAST pointer that was opened last? */
static inline bool
bloomfam_filter_is_fetched(const BloomfamFilter *filter, Datum datum)
{
	const char *toast = VARDATA_EXTERNAL(DatumGetPointer(datum));

	StaticAssertStmt(sizeof(filter->toast_pointer) == sizeof(struct varatt_external),
					 "unexpected size of a TOAST pointer");
	return VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(datum)) &&
		   likely(bloomfam_load64(toast) == filter->toast_pointer[0]) &&
		   likely(bloomfam_load64(toast + 8) == filter->toast_pointer[1]) &&
		   likely(filter->lxid == BLOOMFAM_MY_LXID);
}

/*
 * Is the datum what was opened last, or a plain value of the same shape as that?  Then the view
 * is good for it from now on, and whatever else was made of the header still is.  A few
 * comparisons; false where more are needed.
 */
static inline bool
bloomfam_filter_is_open(BloomfamFilter *filter, Datum datum)
{
	char	   *pointer = DatumGetPointer(datum);
	const uint8 *payload;
	uint32		word;

	if (!VARATT_IS_4B_U(pointer))
		return bloomfam_filter_is_fetched(filter, datum);
	memcpy(&word, pointer, sizeof(word));
	if (unlikely(word != filter->plain_word) ||
		!bloomfam_same_filter_shape((const uint8 *) pointer + VARHDRSZ, filter->header))
		return false;
	payload = (const uint8 *) pointer + VARHDRSZ + filter->header_len;
	if (unlikely(filter->view.payload != payload))
		filter->view.payload = payload;
	return true;
}

/*
 * Opens the datum for one probe of one key, if that is worth it: slice->view then has its header.
 * False: open it whole.  After true, and after bloomfam_slice_probe(), comes
 * bloomfam_slice_close().
 */
extern bool bloomfam_slice_open(BloomfamFilter *filter, Datum datum);
extern bool bloomfam_slice_probe(BloomfamSlice *slice, uint64 hash);
extern void bloomfam_slice_close(BloomfamSlice *slice);

/* bf_open(), or an error that says that the stored value is corrupt. */
extern void bloomfam_header_open(const void *data, Size avail, Size total, BfView *view);

/* Opens an argument for one look, in the current memory context; the view borrows it. */
extern void bloomfam_view_open(Datum datum, BfView *view);

/* The same, and in the form that set operations work on; see loosen() in bf.h. */
extern void bloomfam_view_open_loose(Datum datum, BfView *view);

/* Allocates a value for this header, payload zeroed; *payload is where it goes.  Not sealed. */
extern struct varlena *bloomfam_value_alloc(const BfHeader *head, uint8 **payload);

/*
 * Writes the header, seals, and returns the value as a datum: packed, if its kind is stored so
 * and the value is not, which is then freed.
 */
extern Datum bloomfam_value_finish(struct varlena *value, const BfHeader *head);

/*
 * The same for memory of the right size that others have allocated: says where the payload goes,
 * and at last writes the header and seals.
 */
extern uint8 *bloomfam_value_place(struct varlena *value, const BfHeader *head);
extern void bloomfam_value_seal(struct varlena *value, const BfHeader *head);

/*
 * From a filter in its loose form to one as it is stored: the header, the payload for that
 * header, or all of it in a new value.
 */
extern void bloomfam_stored_head(const BfView *loose, BfHeader *head);
extern void bloomfam_stored_payload(const BfView *loose, const BfHeader *head, uint8 *payload);
extern Datum bloomfam_stored_value(const BfView *loose);

/* The sum of two numbers of keys, but no more than a filter can count to. */
static inline uint64
bloomfam_count_keys(uint64 a, uint64 b)
{
	return a > PG_INT64_MAX || b > PG_INT64_MAX - a ? PG_INT64_MAX : a + b;
}

/* ---- probe.c: functions that the join filter knows conditions by ---- */

extern PGDLLEXPORT Datum bloomfam_may_contain(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum bloomfam_may_be_in(PG_FUNCTION_ARGS);

/* ---- params.c: what a user asks for ---- */

/* Looks up a kind that users may ask for; raises an error that lists them. */
extern const BfKind *bloomfam_kind_arg(text *name);

/* A design, or an error that says which argument is wrong. */
extern void bloomfam_design(const BfKind *kind, double fpr, BfDesign *design);
extern void bloomfam_plan(const BfDesign *design, uint64 keys, BfHeader *head);

/* expected as an argument: at least 1, or an error. */
extern uint64 bloomfam_expected_arg(int64 expected);

#endif							/* BLOOMFAM_H */
