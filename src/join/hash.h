/*-------------------------------------------------------------------------
 *
 * hash.h
 *	  The keys of a join as 64 bits.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_HASH_H
#define BLOOMFAM_JOIN_HASH_H

#include "fmgr.h"

#include "core/bf_hash.h"

/*
 * One column of a join's key, on one of its sides.  The routine depends on the operator and the
 * types of both sides, so that the hashes of both sides agree.
 */
typedef struct JoinKey JoinKey;

struct JoinKey
{
	uint64		(*hash) (const JoinKey *key, Datum value); /* value is not NULL; may allocate in
															 * the current memory context */
	bool		leakproof;		/* hashing tells nobody anything about the value, not even by an
								 * error */
	int16		typlen;			/* of the type that is hashed */
	bool		integer;		/* the value is an integer of typlen bytes, hashed by its number */
	Oid			collation;
	FmgrInfo	function;		/* the operator family's own, where there is no shorter way */
};

/*
 * Is this operator one whose sides both can be hashed, and that never says "equal" of a NULL?
 * Then also tells whether hashing its left side, the probe's, gives nothing away of the value,
 * not even by an error.
 */
extern bool bloomfam_join_key_usable(Oid operator, Oid collation, bool *leakproof);

/* Prepares the hashing of one side of an operator that is usable, in the current memory context. */
extern void bloomfam_join_key_init(JoinKey *key, Oid operator, Oid collation, bool outer);

/* What comes of a key's further column. */
static inline uint64
bloomfam_join_hash_combine(uint64 hash, uint64 next)
{
	return bf_remix(hash ^ (next << 1 | next >> 63), 1);
}

#endif							/* BLOOMFAM_JOIN_HASH_H */
