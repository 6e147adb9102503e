/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * hash.h
 *	  Hashes the keys of a join to 64 bits.
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
	JOIN_HASH_NONE,				/* The column is not hashed at all, so there is no filter of it. */

	/* An int2, int4 or int8 compared with any of the three: the number is hashed. */
	JOIN_HASH_NUMBER,

	/* A type of plain_types[] (hash.c) compared with itself: the bytes are hashed. */
	JOIN_HASH_BYTES,

	/* The 32-bit hash function of the operator family, which a hash join calls itself. */
	JOIN_HASH_FAMILY,

	/*
	 * The 64-bit (extended) hash function of the operator family; only for the server's own types.
	 */
	JOIN_HASH_FAMILY_EXTENDED
} JoinHashKind;

/* What hashing may do to rows that the join would not have read, or that the user may not see. */
typedef enum JoinHashTrust
{
	/*
	 * Hashing may raise an error: it calls the hash function that belongs to the join's operator,
	 * which is not leakproof.
	 */
	JOIN_HASH_MAY_FAIL,

	/*
	 * Hashing raises no error: it calls a 64-bit function of the server for the server's own types.
	 */
	JOIN_HASH_CANNOT_FAIL,
	JOIN_HASH_LEAKPROOF			/* Hashing raises no error, and reveals nothing about the value. */
} JoinHashTrust;

/* How one of a join's two sides is hashed. */
typedef struct JoinHashSide
{
	Oid			type;			/* The type of the operator's argument on this side. */

	/* The operator family's hash function for this type; 0: no function is called. */
	Oid			function;
} JoinHashSide;

/*
 * How one column of a join's key is hashed: decided once, when the join is planned, for both sides.
 */
typedef struct JoinHashing
{
	JoinHashKind kind;
	JoinHashSide probe;			/* The probe side, which is left of the operator. */
	JoinHashSide build;			/* The build side. */

	/*
	 * What hashing the probe side may do.  The build side's rows are hashed right where a hash join
	 * hashes them too, or a merge join sorts them: none is hashed that the join would not read.
	 */
	JoinHashTrust trust;
} JoinHashing;

/*
 * Tells whether a hash function of an operator family can hash all values of a type, all the way
 * down, and equal ones alike.  Arrays, rows, ranges and multiranges have one function each, which
 * raises an error if it comes to a value of a type that has none, such as money.  "collation" is
 * the one that the values are compared by; 0: none.
 */
extern bool bloomfam_join_can_hash(Oid function, Oid type, Oid collation);

/*
 * Decides how both sides of an equality operator are hashed, and sets *result.  probe_type and
 * build_type are the types of both sides' expressions, which show the element or column types of an
 * array or a record.  Returns false if the sides cannot be hashed for a filter: a merge join is
 * none the worse for that, so nothing may be left to what a hash join would do.  If it returns
 * true, the operator is strict (a NULL equals nothing), and equal keys have equal hashes.
 */
extern bool bloomfam_join_hashing(Oid operator, Oid collation, Oid probe_type, Oid build_type,
								  JoinHashing *result);

/* Describes one column of a join's key while the join is planned. */
typedef struct JoinKeyColumn
{
	/* The operator that compares the column; the probe side is on its left. */
	Oid			operator;
	Oid			collation;		/* The collation that the operator compares by; 0: none. */

	/*
	 * The column's attribute number in the scanned relation of the probe side, or in the output of
	 * the probe side's plan.
	 */
	AttrNumber	attribute;

	/*
	 * The build side's expression, over its relations, or over the output of the child of the Hash
	 * or Sort.
	 */
	Expr	   *build_expr;

	/*
	 * The number of this column's hash key in the join, from 0; 0 while the planner still makes
	 * paths, as the number is not known then.
	 */
	int			hash_key;
	JoinHashing hashing;
} JoinKeyColumn;

/* Describes one column of a join's key, on one of the join's sides, while the plan is executed. */
typedef struct JoinKey
{
	/* Hashes a value that is not NULL.  May allocate in the current memory context. */
	uint64		(*hash) (const struct JoinKey *key, Datum value);
	int16		typlen;			/* The length of the hashed type, as in pg_type.typlen. */

	/*
	 * Whether the type is passed by value, as integers, dates and oids are, so that
	 * bloomfam_join_number() returns the value as a number.  It is the same on both sides.
	 */
	bool		integer;
	Oid			collation;
	FmgrInfo	function;		/* The hash function, if "hash" calls one. */
} JoinKey;

/*
 * Sets *key up for hashing the values of one side, as bloomfam_join_hashing() decided it.
 * Allocates in the current memory context.  Raises an error if the kind is JOIN_HASH_NONE.
 */
extern void bloomfam_join_key_init(JoinKey *key, JoinHashKind kind, const JoinHashSide *side,
								   Oid collation);

/*
 * Returns the number that a value of an integer type of the given length is, sign-extended to 64
 * bits.  Values of integer types of any lengths are equal to the join if and only if their numbers
 * are equal.
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

/* Returns the value of an integer type of the given length that a number stands for. */
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

/* Combines the hash of a key's first columns with the hash of its next column. */
static inline uint64
bloomfam_join_hash_combine(uint64 hash, uint64 next)
{
	return bf_remix(hash ^ (next << 1 | next >> 63), 1);
}

#endif							/* BLOOMFAM_JOIN_HASH_H */
