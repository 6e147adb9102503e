/*-------------------------------------------------------------------------
 *
 * hasher.h
 *	  From an SQL value to 64 bits: what the rest of the glue knows of keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_HASHER_H
#define BLOOMFAM_HASHER_H

#include "core/bf_format.h"
#include "core/bf_hash.h"
#include "pg/compat.h"

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

#endif							/* BLOOMFAM_HASHER_H */
