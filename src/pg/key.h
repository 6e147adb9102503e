/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key.h
 *	  Defines the hasher, which makes a 64-bit hash of an SQL value.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_KEY_H
#define BLOOMFAM_KEY_H

#include "core/bf_format.h"
#include "core/bf_hash.h"
#include "pg/compat.h"

/*
 * A hasher turns the keys of one argument into hashes.  The caller makes it once and keeps it (in
 * fn_extra).  A key then costs one indirect call, with nothing allocated or looked up.
 *
 * family and family_id say which family the last hashed key was of.  They are fixed when the hasher
 * is made, unless "varies" is set.  Values of some types carry their own family: bloomkey,
 * anonymous rows, and types that contain such values.  Their hashers have NULL and 0 until the
 * first key, and each key may change the family.  A bloomkey has an id only; its family's name is
 * set if the id is that of a well-known family.
 */
typedef struct BloomfamHasher BloomfamHasher;

struct BloomfamHasher
{
	/* Returns the hash of a key that is not NULL. */
	uint64		(*hash) (BloomfamHasher *self, Datum key);
	uint64		family_id;		/* The id of the family; 0 if it is not known yet. */

	/* The family's name in UTF-8, of at most BF_MAX_FAMILY_LEN bytes; NULL if it is not known. */
	const char *family;
	uint32		family_len;
	BfHashId	hash_id;

	/*
	 * True if the family can change from key to key; family and family_id are then those of the
	 * last key.
	 */
	bool		varies;

	/*
	 * Makes a hasher that can have several families take the filter's family if that is one of
	 * them, and the hasher's own family for a filter without keys.  NULL for a hasher that has one
	 * family only.
	 */
	void		(*fit) (BloomfamHasher *self, const BfHeader *filter);

	/*
	 * Keys are only probed for, not added.  Then a key that the filter's family cannot represent
	 * gets any hash, as it equals no key of the filter; if keys are added, it is an error.
	 */
	bool		probing;

	/*
	 * A seed that is hashed along with the bytes of numbers, texts, uuids and the like.  It is 0
	 * for filters, whose hashes must be the same everywhere.  The caller sets it.
	 */
	uint64		seed;

	/*
	 * The structs of particular hashers begin with a BloomfamHasher, followed by what their
	 * routines need.
	 */
};

/*
 * Fits a hasher to a filter, which must have the hasher's hash function.  It must be called before
 * keys are hashed for the filter.  Returns whether keys may have other hashes from now on.
 */
static inline bool
bloomfam_hasher_fit(BloomfamHasher *hasher, const BfHeader *filter)
{
	if (likely(hasher->family_id == filter->family_id || hasher->fit == NULL))
		return false;
	hasher->fit(hasher, filter);
	return true;
}

#endif							/* BLOOMFAM_KEY_H */
