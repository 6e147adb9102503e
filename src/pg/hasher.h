/*-------------------------------------------------------------------------
 *
 * hasher.h
 *	  The hashers of a type, and of an argument.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_HASHER_H
#define BLOOMFAM_HASHER_H

#include "pg/key.h"

/*
 * Makes a hasher for keys of an SQL type under a collation, in the memory context given.  Raises
 * an error for types that cannot be hashed.
 */
extern BloomfamHasher *bloomfam_hasher_make(MemoryContext context, Oid type, Oid collation,
											BfHashId hash_id);

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

#endif							/* BLOOMFAM_HASHER_H */
