/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * hasher.h
 *	  Makes the hashers of a type, and those of a function's argument.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_HASHER_H
#define BLOOMFAM_HASHER_H

#include "utils/array.h"

#include "pg/key.h"

/*
 * Makes a hasher for a filter's keys of an SQL type under a collation, in the given memory context.
 * These keys are compared by what "=" means for the type, and a filter outlives its database.
 *
 * Raises the error 42883 for a type without a hash function, and 42P22 for a type that needs a
 * collation if there is none.  Raises 0A000 for a type with an equality that hashes do not follow,
 * a type whose values another database does not have, and a type that Parquet does not have.
 *
 * A hasher of rows looks at each row's type.  It makes itself anew if the type is another than the
 * last row's, or was altered.  Then its family changes, too, and the old family's name is freed.
 */
extern BloomfamHasher *bloomfam_hasher_make(MemoryContext context, Oid type, Oid collation,
											BfHashId hash_id);

/*
 * Makes a hasher like bloomfam_hasher_make(), with this module's own hash, for keys that stay in
 * their database.  The caller must know the operator that compares them: the default equality of
 * the type, or the server's own.
 */
extern BloomfamHasher *bloomfam_hasher_make_local(MemoryContext context, Oid type, Oid collation);

/*
 * The hashers of one argument: one for each hash function that filters may have, made when needed.
 */
#define BLOOMFAM_NHASHES	3		/* The numbers of all hash functions are below this. */

typedef struct BloomfamHashers
{
	MemoryContext context;

	/* The type of the keys; if each_array is set, the element type of the last array. */
	Oid			type;
	int32		typmod;
	Oid			collation;

	/* True if keys are only probed for, and not added; see BloomfamHasher. */
	bool		probing;

	/*
	 * The argument is an anyarray, as in pg_stats: each array says what its elements' type is.  The
	 * memory context holds nothing but the hashers then.
	 */
	bool		each_array;
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
 * Initializes the hashers of argument argno.  The keys are the argument's value, or the elements of
 * the array that it is.  Raises an error if the call site does not tell the type.
 */
extern void bloomfam_hashers_init(BloomfamHashers *hashers, FunctionCallInfo fcinfo, int argno,
								  bool keys_are_array);

/*
 * Returns the hashers of an argument like bloomfam_hashers_init(), made in the first call and kept
 * in fn_extra.  It is for functions that keep nothing else there.
 */
extern BloomfamHashers *bloomfam_hashers_get(FunctionCallInfo fcinfo, int argno,
											 bool keys_are_array);

/*
 * Forgets all hashers, and changes the type of the keys; returns true.  It is called by
 * bloomfam_hashers_see_array(), which must be called with each array of keys before they are
 * hashed.
 */
extern bool bloomfam_hashers_retype(BloomfamHashers *hashers, Oid type);

static inline bool
bloomfam_hashers_see_array(BloomfamHashers *hashers, const ArrayType *array)
{
	return unlikely(hashers->each_array && hashers->type != ARR_ELEMTYPE(array)) &&
		bloomfam_hashers_retype(hashers, ARR_ELEMTYPE(array));
}

/*
 * Returns the type of an argument that is a key or an array of keys.  Raises an error if the call
 * site does not tell it.
 */
extern Oid bloomfam_key_type(FunctionCallInfo fcinfo, int argno);

#endif							/* BLOOMFAM_HASHER_H */
