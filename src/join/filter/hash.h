/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * hash.h
 *	  The keys of a join as 64 bits.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_HASH_H
#define BLOOMFAM_JOIN_HASH_H

#include "access/attnum.h"
#include "fmgr.h"
#include "nodes/primnodes.h"

#include "core/bf_hash.h"

/* How the values of one column of a join's key are hashed, on both of its sides. */
typedef enum JoinHashKind
{
	JOIN_HASH_NONE,				/* not at all: there is no filter of it */
	JOIN_HASH_NUMBER,			/* int2, int4, int8 against any of them: the number */
	JOIN_HASH_BYTES,			/* a type of plain_types[], against itself: its bytes */
	JOIN_HASH_FAMILY,			/* the operator family's hash function, which the join calls */
	JOIN_HASH_FAMILY_EXTENDED	/* its extended one of 64 bits: the server's own types only */
} JoinHashKind;

/* What hashing may do to rows that the join would not have read, or the user may not see. */
typedef enum JoinHashTrust
{
	JOIN_HASH_MAY_FAIL,			/* a user's function: it may raise an error */
	JOIN_HASH_CANNOT_FAIL,		/* the server's own function, of its own types */
	JOIN_HASH_LEAKPROOF			/* nor does it reveal anything of the value */
} JoinHashTrust;

/* One of the two sides. */
typedef struct JoinHashSide
{
	Oid			type;			/* the operator's argument */
	Oid			function;		/* the family's hash function; 0: none is called */
} JoinHashSide;

/* What is decided for a column of a key when its join is planned, once for both sides. */
typedef struct JoinHashing
{
	JoinHashKind kind;
	JoinHashSide outer;			/* the probe's, left of the operator */
	JoinHashSide inner;
	JoinHashTrust trust;		/* in hashing outer: the join hashes all of inner anyway */
} JoinHashing;

/*
 * Decides how both sides of an operator are hashed.  inner_type is the type of the inner side's
 * expression, which says what an array or a record is made of.  Returns whether they can be: then
 * it never says "equal" of a NULL either, and equal keys have equal hashes.
 */
extern bool bloomfam_join_hashing(Oid operator, Oid collation, Oid inner_type,
								  JoinHashing *result);

/* A column of a join's key, while the join is planned. */
typedef struct JoinKeyColumn
{
	Oid			operator;		/* compares it; the probe's side is on its left */
	Oid			collation;		/* is what the operator compares by; 0: none */
	AttrNumber	attribute;		/* of the outer relation that is scanned, or the outer child */
	Expr	   *inner;			/* over the inner relations, or the Hash's child */
	int			hash_key;		/* which of the join's hash keys it is, from 0; for paths 0 */
	JoinHashing hashing;
} JoinKeyColumn;

/* One column of a join's key, on one of its sides, while the plan is executed. */
typedef struct JoinKey
{
	/* hashes a value that is not NULL; may allocate in the current memory context */
	uint64		(*hash) (const struct JoinKey *key, Datum value);
	int16		typlen;			/* of the type that is hashed */
	bool		integer;		/* passed by value, so that bloomfam_join_number() tells what it is:
								 * integers, dates, oids; the same on both sides */
	Oid			collation;
	FmgrInfo	function;		/* where one is called */
} JoinKey;

/* Prepares the hashing of one side, as it was decided, in the current memory context. */
extern void bloomfam_join_key_init(JoinKey *key, JoinHashKind kind, const JoinHashSide *side,
								   Oid collation);

/*
 * The number that a value of an integer type of so many bytes is, sign-extended: what the join
 * calls equal is one number, whatever the lengths, and nothing else is.
 */
static inline int64
bloomfam_join_number(int16 typlen, Datum value)
{
	switch (typlen)
	{
		case sizeof(char):
			return (int8) DatumGetChar(value);
		case sizeof(int16):
			return DatumGetInt16(value);
		case sizeof(int32):
			return DatumGetInt32(value);
		default:
			return DatumGetInt64(value);
	}
}

/* The value of such a type that a number is. */
static inline Datum
bloomfam_join_number_datum(int16 typlen, int64 number)
{
	switch (typlen)
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

/* The hash of a key so far, and that of its next column, as one. */
static inline uint64
bloomfam_join_hash_combine(uint64 hash, uint64 next)
{
	return bf_remix(hash ^ (next << 1 | next >> 63), 1);
}

#endif							/* BLOOMFAM_JOIN_HASH_H */
