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

/* How the values of one column of a join's key are hashed, on both of its sides. */
typedef enum JoinHashKind
{
	JOIN_HASH_NONE,				/* not at all: no filter can have it */
	JOIN_HASH_NUMBER,			/* int2, int4, int8 against any of them: by the number */
	JOIN_HASH_BYTES,			/* a type that is known, against itself: by the bytes */
	JOIN_HASH_FAMILY,			/* by the functions of the operator's family that the join calls */
	JOIN_HASH_FAMILY_EXTENDED	/* by those with 64 bits; of the server's own types only */
} JoinHashKind;

/* What hashing may do to rows that nobody has asked for, or may see; the later, the less. */
typedef enum JoinHashTrust
{
	JOIN_HASH_MAY_FAIL,			/* somebody's function: it may raise an error */
	JOIN_HASH_CANNOT_FAIL,		/* the server's own, of its own types */
	JOIN_HASH_LEAKPROOF			/* nor does it tell anybody anything about the value */
} JoinHashTrust;

/* One of the two sides. */
typedef struct JoinHashSide
{
	Oid			type;			/* that the operator takes there */
	Oid			function;		/* of the family; 0: none is called */
	JoinHashTrust trust;
} JoinHashSide;

/* What is decided for a column of a key when its join is planned, once for both sides. */
typedef struct JoinHashing
{
	JoinHashKind kind;
	JoinHashSide outer;			/* the probe's, left of the operator */
	JoinHashSide inner;
} JoinHashing;

/*
 * Decides how both sides of an operator are hashed.  Returns whether they can be: then it never
 * says "equal" of a NULL either.
 */
extern bool bloomfam_join_hashing(Oid operator, Oid collation, JoinHashing *result);

/* Are keys of this type, hashed so, integers (JoinKey)?  They are on both sides, or on neither. */
extern bool bloomfam_join_keys_are_integers(JoinHashKind kind, Oid type);

/* One column of a join's key, on one of its sides, while the plan is executed. */
typedef struct JoinKey JoinKey;

/* The value is not NULL; may allocate in the current memory context. */
typedef uint64 (*JoinHashRoutine) (const JoinKey *key, Datum value);

/* The number that a value is; what the join calls equal is one number, and no two others are. */
typedef int64 (*JoinNumberRoutine) (Datum value);

struct JoinKey
{
	JoinHashRoutine hash;
	int16		typlen;			/* of the type that is hashed */
	bool		integer;		/* the value is an integer of typlen bytes, hashed by its number */
	JoinNumberRoutine number;	/* ... of a join's key: this one */
	Oid			collation;
	FmgrInfo	function;		/* where one is called */
};

/* Prepares the hashing of one side, as it was decided, in the current memory context. */
extern void bloomfam_join_key_init(JoinKey *key, JoinHashKind kind, const JoinHashSide *side,
								   Oid collation);

/* The value that a number is, of a key that is an integer. */
static inline Datum
bloomfam_join_key_datum(const JoinKey *key, int64 number)
{
	switch (key->typlen)
	{
		case sizeof(char):
			return CharGetDatum((char) number);
		case sizeof(int16):
			return Int16GetDatum((int16) number);
		case sizeof(int32):
			return Int32GetDatum((int32) number);
		default:
			return Int64GetDatum(number);
	}
}

/* What comes of a key's further column. */
static inline uint64
bloomfam_join_hash_combine(uint64 hash, uint64 next)
{
	return bf_remix(hash ^ (next << 1 | next >> 63), 1);
}

#endif							/* BLOOMFAM_JOIN_HASH_H */
