/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * hash.h
 *	  Computes the hash of a key that a maplet index stores.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_MAPLET_HASH_H
#define BLOOMFAM_MAPLET_HASH_H

#include "pg/hasher.h"
#include "utils/rel.h"

#include "maplet/meta.h"

/* The hasher for keys of one type in one index. */
typedef struct MapletHasher
{
	BloomfamHasher *hasher;

	/* The index's seed, from its metapage; 0 until bloomfam_maplet_hasher_fit() has set it. */
	uint64		seed;
	uint64		family_id;
} MapletHasher;

/*
 * Returns whether the operator, with these argument types, is the equality that hashes of keys
 * agree with.  If the types are the same, that is the equality of the type's default operator
 * class.  For two types, it is any equality in the operator family of the left type's default
 * class, if the right type's default equality is in that family, too.
 */
extern bool bloomfam_maplet_is_equality(Oid operator, Oid left, Oid right);

/*
 * Makes the hasher for keys of the given type in the memory context.  For InvalidOid, the type is
 * the operator class's own.  Raises an error if equal keys of the type might get different hashes
 * one day, or if the operator class has another operator than the type's default equality.
 */
extern void bloomfam_maplet_hasher_make(MapletHasher *hasher, MemoryContext context,
										Relation index, Oid type);

/*
 * Takes the seed from a copy of the metapage.  Raises an error if the index was made by other hash
 * rules than the hasher's, because the version of a collation or of the server is another one.
 */
extern void bloomfam_maplet_hasher_fit(MapletHasher *hasher, Relation index,
									   const MapletMeta *meta);

/*
 * Returns the hash of a key that is not NULL.  Only bits of MAPLET_HASH_MASK are set in it.  The
 * hasher computes the key's own hash with the index's seed, so that nobody can craft keys that
 * collide.  For types whose hash takes no seed, the seed is mixed in here.
 */
static inline uint64
maplet_hash(const MapletHasher *hasher, Datum key)
{
	uint64		h = hasher->hasher->hash(hasher->hasher, key);

	return bf_remix(h ^ hasher->seed, 1) & MAPLET_HASH_MASK;
}

#endif							/* BLOOMFAM_MAPLET_HASH_H */
