/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * hasher.h
 *	  The hashers of a type, and of an argument.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_HASHER_H
#define BLOOMFAM_HASHER_H

#include "utils/array.h"

#include "pg/key.h"

/*
 * Makes a hasher for keys of filters, of an SQL type under a collation, in the memory context
 * given.  Such keys are compared by what = stands for, and outlive their database.
 *
 * Errors: 42883 for a type without hash function, 42P22 for one that needs a collation when there
 * is none, 0A000 for one with an equality that hashes do not follow, one whose values another
 * database has not, or one that Parquet does not have.
 *
 * The hashers of rows look at each row's type, and make themselves anew when it is another than
 * the last, or was altered; family then changes too, and the old name is gone.
 */
extern BloomfamHasher *bloomfam_hasher_make(MemoryContext context, Oid type, Oid collation,
											BfHashId hash_id);

/*
 * The same, with our own hash, for keys that stay in their database and are compared by an
 * operator that the caller knows: the default equality of the type, or the server's own.
 */
extern BloomfamHasher *bloomfam_hasher_make_local(MemoryContext context, Oid type, Oid collation);

/* The hashers of one argument, one for each hash that filters may want, made when first needed. */
#define BLOOMFAM_NHASHES	3		/* numbers of hashes are below this */

typedef struct BloomfamHashers
{
	MemoryContext context;
	Oid			type;			/* of the keys; with each_array that of the last array's */
	int32		typmod;
	Oid			collation;
	bool		probing;		/* see BloomfamHasher */
	bool		each_array;		/* the argument is an anyarray, as in pg_stats: each array says what
								 * its elements are, and the context holds nothing else */
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
 * To be called with each array of keys before they are hashed.  Returns whether the hashers made so
 * far, if any, are gone, as the keys have another type now.
 */
extern bool bloomfam_hashers_retype(BloomfamHashers *hashers, Oid type);

static inline bool
bloomfam_hashers_see_array(BloomfamHashers *hashers, const ArrayType *array)
{
	return unlikely(hashers->each_array && hashers->type != ARR_ELEMTYPE(array)) &&
		bloomfam_hashers_retype(hashers, ARR_ELEMTYPE(array));
}

/*
 * The type of an argument that is a key, or an array of keys.  Raises an error if the call site
 * does not tell.
 */
extern Oid bloomfam_key_type(FunctionCallInfo fcinfo, int argno);

#endif							/* BLOOMFAM_HASHER_H */
