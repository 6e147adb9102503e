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

/*
 * The hasher for keys of one index.  A key has a value for each of the index's columns, and each
 * column has a BloomfamHasher of its own, which is for values of one type.
 */
typedef struct MapletHasher
{
	int			ncolumns;
	BloomfamHasher *columns[INDEX_MAX_KEYS];

	/* The index's seed, from its metapage; 0 until bloomfam_maplet_hasher_fit() has set it. */
	uint64		seed;

	/* The families of all columns, in their order: the id of them all, and their names. */
	uint64		family_id;
	const char *family;
	uint32		family_len;
} MapletHasher;

/*
 * Makes the hasher for keys whose columns have the given types, in the memory context.  For
 * InvalidOid, and if types is NULL, a column's type is its operator class's own.  Raises an error
 * if equal keys of a type might get different hashes one day, or if an operator class has another
 * operator than the type's default equality.
 */
extern void bloomfam_maplet_hasher_make(MapletHasher *hasher, MemoryContext context,
										Relation index, const Oid *types);

/*
 * Takes the seed from a copy of the metapage.  Raises an error if the index was made by other hash
 * rules than the hasher's, because the version of a collation or of the server is another one.
 */
extern void bloomfam_maplet_hasher_fit(MapletHasher *hasher, Relation index,
									   const MapletMeta *meta);

/*
 * Returns the hash of one column's value, which is not NULL.  It is computed with the index's seed,
 * unless the type's hash takes no seed.
 */
static inline uint64
maplet_hash_column(const MapletHasher *hasher, int column, Datum value)
{
	return hasher->columns[column]->hash(hasher->columns[column], value);
}

/*
 * Returns the hash of a key, given the hashes of its columns' values.  Only bits of
 * MAPLET_HASH_MASK are set in it.  The seed is mixed in here, too, so that nobody can craft keys
 * that collide, whatever their types.
 */
static inline uint64
maplet_hash_columns(const MapletHasher *hasher, const uint64 *hashes)
{
	uint64		h = hashes[0];

	if (hasher->ncolumns > 1)
		h = bf_hash_bytes_seeded(hasher->seed, hashes, hasher->ncolumns * sizeof(uint64));
	return bf_remix(h ^ hasher->seed, 1) & MAPLET_HASH_MASK;
}

/*
 * Sets *hash to the hash of a row's key, as the index's columns have it.  Returns false if a column
 * is NULL: the index has no entry for such a row.
 */
static inline bool
maplet_hash_row(const MapletHasher *hasher, const Datum *values, const bool *isnull, uint64 *hash)
{
	uint64		hashes[INDEX_MAX_KEYS];
	int			i;

	for (i = 0; i < hasher->ncolumns; i++)
		if (isnull[i])
			return false;
	hashes[0] = maplet_hash_column(hasher, 0, values[0]);
	for (i = 1; i < hasher->ncolumns; i++)
		hashes[i] = maplet_hash_column(hasher, i, values[i]);
	*hash = maplet_hash_columns(hasher, hashes);
	return true;
}

#endif							/* BLOOMFAM_MAPLET_HASH_H */
