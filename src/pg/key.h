/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key.h
 *	  From an SQL value to 64 bits: what a hasher is.
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
 * fn_extra); a key then costs one indirect call, with nothing allocated or looked up.
 *
 * family and family_id say which family the last hashed key was of.  They are fixed when the
 * hasher is made, unless it varies: types whose values carry their own family (bloomkey,
 * anonymous rows, and what holds such) have NULL and 0 there until the first key, and each key
 * may change them.  A bloomkey has an id only; its name is filled in where the id is that of a
 * well-known family.
 */
typedef struct BloomfamHasher BloomfamHasher;

struct BloomfamHasher
{
	uint64		(*hash) (BloomfamHasher *self, Datum key);	/* key is not NULL */
	uint64		family_id;		/* 0: not known yet */
	const char *family;			/* UTF-8, at most BF_MAX_FAMILY_LEN bytes; NULL: not known */
	uint32		family_len;
	BfHashId	hash_id;
	bool		varies;			/* family and family_id are each key's own */

	/*
	 * For hashers that can turn to several families: turns to the filter's if that is one of
	 * them, or to the hasher's own for a filter without keys.  NULL for others.
	 */
	void		(*fit) (BloomfamHasher *self, const BfHeader *filter);

	/*
	 * Keys are only probed for, not added.  One that the filter's family cannot represent then has
	 * any hash, as it equals no key of the filter; otherwise it is an error.
	 */
	bool		probing;

	/*
	 * Hashed along with the bytes of numbers, texts, uuids and their like; 0 for filters, whose
	 * hashes everybody computes alike.  The caller's to set.
	 */
	uint64		seed;

	/* what the routine needs follows in the files' own structs */
};

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

#endif							/* BLOOMFAM_KEY_H */
