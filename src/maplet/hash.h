/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * hash.h
 *	  From a key to the hash that a maplet index stores.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_MAPLET_HASH_H
#define BLOOMFAM_MAPLET_HASH_H

#include "pg/hasher.h"
#include "utils/rel.h"

#include "maplet/meta.h"

/* Hashes keys of one type for one index. */
typedef struct MapletHasher
{
	BloomfamHasher *hasher;
	uint64		seed;			/* of the index, from its metapage */
	uint64		family_id;
} MapletHasher;

/*
 * Is the operator, of these types, the equality that hashes of keys agree with?  That of the types'
 * default operator class; for two types, an equality that is in one family with theirs.
 */
extern bool bloomfam_maplet_is_equality(Oid operator, Oid left, Oid right);

/*
 * Makes the hasher for keys of a type, in the memory context; InvalidOid: of the operator
 * class's own type.  Raises an error for types whose keys cannot be found again by their hash
 * alone, and where the operator class has another operator than an equality.
 */
extern void bloomfam_maplet_hasher_make(MapletHasher *hasher, MemoryContext context,
										Relation index, Oid type);

/*
 * Takes the seed from the metapage's copy.  Raises an error if the index was made by other rules
 * than the hasher's: another version of a collation or of the server.
 */
extern void bloomfam_maplet_hasher_fit(MapletHasher *hasher, Relation index,
									   const MapletMeta *meta);

/*
 * The hash of a key that is not NULL; only MAPLET_HASH_MASK's bits are set.  The seed is part of
 * the key's own hash, so that nobody can craft keys that collide; for types whose hash takes none,
 * it is mixed in here.
 */
static inline uint64
maplet_hash(const MapletHasher *hasher, Datum key)
{
	uint64		h = hasher->hasher->hash(hasher->hasher, key);

	return bf_remix(h ^ hasher->seed, 1) & MAPLET_HASH_MASK;
}

#endif							/* BLOOMFAM_MAPLET_HASH_H */
