/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * hash.c
 *	  Hashes the keys of a join to 64 bits.
 *
 * The join's operator belongs to a hash operator family, whose hash functions agree about what its
 * operators call equal, across data types and under the collation.  Where equality is known to be
 * that of the bytes or of integers, hashing the bytes or the number is faster and gives the same
 * guarantee.
 *
 * Only types that are listed here by their OIDs are known to be so.  Anybody may add a type to the
 * server's operator families: an unsigned integer of four bytes that can equal an int8 belongs into
 * the family of integers, but has other bytes than the int4 of the same number.  So the way of
 * hashing is decided for the pair of types, when the join is planned, and the plan carries it to
 * both sides.  For types that are not known, the hash functions are those that a hash join calls.
 * A merge join calls none: there it counts that whoever made the operator family says they agree.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "join/filter/hash.h"
#include "pg/compat.h"
#include "pg/key_nested.h"

static bool
is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

static bool
is_nondeterministic(Oid collation)
{
	return OidIsValid(collation) && !get_collation_isdeterministic(collation);
}

/*
 * The types for which the server's own equality operator is known to compare the bytes, if their
 * collation is deterministic.  The types bpchar and name are not among them, as their equal values
 * have equal bytes only if they are padded alike.
 */
static const Oid plain_types[] = {
	INT2OID, INT4OID, INT8OID, BOOLOID, CHAROID, OIDOID, DATEOID, TIMEOID, TIMESTAMPOID,
	TIMESTAMPTZOID, CASHOID, PG_LSNOID, ANYENUMOID, TEXTOID, BYTEAOID, UUIDOID,
};

/*
 * Tells whether the server's own equality operator calls two values of this type equal if and only
 * if their bytes are equal.
 */
static bool
equality_is_of_bytes(Oid type, Oid collation)
{
	size_t		i;

	for (i = 0; i < lengthof(plain_types); i++)
		if (plain_types[i] == type)
			return !is_nondeterministic(collation);
	return false;
}

/* Hashes an integer by its number, so that an int2 has the hash of the int8 that it equals. */
static uint64
hash_integer(const JoinKey *key, Datum value)
{
	return bf_hash_u64((uint64) bloomfam_join_number(key->typlen, value));
}

static uint64
hash_fixed(const JoinKey *key, Datum value)
{
	return bf_hash_bytes(DatumGetPointer(value), key->typlen);
}

static uint64
hash_varlena(const JoinKey *key, Datum value)
{
	struct varlena *plain = PG_DETOAST_DATUM_PACKED(value);
	uint64		hash = bf_hash_bytes(VARDATA_ANY(plain), VARSIZE_ANY_EXHDR(plain));

	if (plain != (struct varlena *) DatumGetPointer(value))
		pfree(plain);
	return hash;
}

/*
 * Hashes a value by the operator family's 32-bit hash function.  32 bits are enough: a filter of n
 * keys lets a fraction n / 2^32 of the rows without a match pass because of equal hashes.
 */
static uint64
hash_by_function(const JoinKey *key, Datum value)
{
	return bf_hash_u64(DatumGetUInt32(
		FunctionCall1Coll(unconstify(FmgrInfo *, &key->function), key->collation, value)));
}

static uint64
hash_by_long_function(const JoinKey *key, Datum value)
{
	return DatumGetUInt64(FunctionCall2Coll(unconstify(FmgrInfo *, &key->function), key->collation,
											value, Int64GetDatum(0)));
}

/*
 * Tells whether a type is one of the server's own and no container.  The 64-bit hash function of a
 * container raises an error if its elements' type has no such function.  Whether they have the
 * 32-bit function is known (bloomfam_join_can_hash()).
 */
static bool
is_own_scalar(Oid type)
{
	return type < FirstNormalObjectId && type != ANYARRAYOID && type != ANYRANGEOID &&
		   type != ANYMULTIRANGEOID && type != RECORDOID;
}

/*
 * Replaces the 32-bit hash functions in *result by the 64-bit ones, if the server's own operator
 * family has them for its own types.  A 64-bit function may disagree with the operators, and nobody
 * would have noticed, as no join calls it.  An extension's may, and so does the server's for bpchar
 * under a nondeterministic collation: in PostgreSQL 15 it hashes the trailing blanks, which the
 * operator ignores.
 */
static void
take_long_functions(Oid operator, Oid collation, JoinHashing *result)
{
	const TypeCacheEntry *probe;
	const TypeCacheEntry *build;

	if (!is_own_scalar(result->probe.type) || !is_own_scalar(result->build.type) ||
		is_nondeterministic(collation))
		return;
	probe = lookup_type_cache(result->probe.type, TYPECACHE_HASH_EXTENDED_PROC);
	build = lookup_type_cache(result->build.type, TYPECACHE_HASH_EXTENDED_PROC);
	if (probe->hash_opf >= FirstNormalObjectId || build->hash_opf != probe->hash_opf ||
		!op_in_opfamily(operator, probe->hash_opf) || !OidIsValid(probe->hash_extended_proc) ||
		!OidIsValid(build->hash_extended_proc))
		return;
	result->kind = JOIN_HASH_FAMILY_EXTENDED;
	result->probe.function = probe->hash_extended_proc;
	result->build.function = build->hash_extended_proc;
}

/*
 * Tells whether the hash function that the server calls for a part of a container can hash a type
 * all the way down.
 */
static bool
can_hash_part(Oid type, Oid collation)
{
	/* The type cache has only a hash function that fits the equality, if it has looked for that. */
	const TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_HASH_PROC);

	return bloomfam_join_can_hash(entry->hash_proc, type, collation);
}

static bool
can_hash_columns(Oid type)
{
	TupleDesc	columns;
	bool		result = true;
	int			i;

	/* The columns of rows without a type are not known before they come. */
	if (get_typtype(type) != TYPTYPE_COMPOSITE)
		return false;
	columns = lookup_rowtype_tupdesc_copy(type, -1);
	for (i = 0; i < columns->natts && result; i++)
		result = TupleDescAttr(columns, i)->attisdropped ||
				 can_hash_part(TupleDescAttr(columns, i)->atttypid,
							   TupleDescAttr(columns, i)->attcollation);
	FreeTupleDesc(columns);
	return result;
}

/*
 * A container's function looks for those of its parts only when it comes to a value of them.  The
 * type cache knows of a container whether that will do, but does not forget it when a row type
 * within changes, so the parts are looked into here.
 */
bool
bloomfam_join_can_hash(Oid function, Oid type, Oid collation)
{
	const TypeCacheEntry *range;

	check_stack_depth();
	type = getBaseType(type);
	switch (function)
	{
		case F_HASH_ARRAY:
			return OidIsValid(get_element_type(type)) &&
				   can_hash_part(get_element_type(type), collation);
		case F_HASH_RECORD:
			return can_hash_columns(type);
		case F_HASH_RANGE:
		case F_HASH_MULTIRANGE:
			range = lookup_type_cache(type, TYPECACHE_RANGE_INFO | TYPECACHE_MULTIRANGE_INFO);
			if (range->rngtype != NULL)
				range = range->rngtype;
			return range->rngelemtype != NULL &&
				   bloomfam_range_has_default_equality(range) &&
				   can_hash_part(range->rngelemtype->type_id, range->rng_collation);
		case F_HASHNAME:
			/*
			 * Names are compared by their collation, but hashed by their bytes.  The server's own
			 * hash joins lose rows of equal names that have different hashes; a merge join does not
			 * lose them, nor may a filter.
			 */
			return OidIsValid(collation) && !is_nondeterministic(collation);
		case F_HASHTEXT:
		case F_HASHBPCHAR:
			return true;
		default:
			/* Of other functions it is not known whether they obey such a collation. */
			return OidIsValid(function) && !is_nondeterministic(collation);
	}
}

bool
bloomfam_join_hashing(Oid operator, Oid collation, Oid probe_type, Oid build_type,
					  JoinHashing *result)
{
	JoinHashSide *probe = &result->probe;
	JoinHashSide *build = &result->build;

	memset(result, 0, sizeof(*result));
	if (!op_strict(operator) || !op_hashjoinable(operator, probe_type) ||
		!get_op_hash_functions(operator, &probe->function, &build->function))
		return false;
	op_input_types(operator, &probe->type, &build->type);

	/*
	 * The operators of containers do not tell the types of their parts, so the types of both sides'
	 * expressions are examined.  Rows of different types can be compared, too.
	 */
	if (!bloomfam_join_can_hash(probe->function, probe_type, collation) ||
		!bloomfam_join_can_hash(build->function, build_type, collation))
		return false;
	if (operator < FirstNormalObjectId && is_integer(probe->type) && is_integer(build->type))
		result->kind = JOIN_HASH_NUMBER;
	else if (operator < FirstNormalObjectId && probe->type == build->type &&
			 equality_is_of_bytes(probe->type, collation))
		result->kind = JOIN_HASH_BYTES;
	else
	{
		result->kind = JOIN_HASH_FAMILY;
		take_long_functions(operator, collation, result);
	}
	if (result->kind == JOIN_HASH_NUMBER || result->kind == JOIN_HASH_BYTES)
		probe->function = build->function = InvalidOid;
	result->trust = JOIN_HASH_LEAKPROOF;
	if (OidIsValid(probe->function) && !get_func_leakproof(probe->function))
		result->trust = result->kind == JOIN_HASH_FAMILY_EXTENDED ? JOIN_HASH_CANNOT_FAIL
																  : JOIN_HASH_MAY_FAIL;
	return true;
}

void
bloomfam_join_key_init(JoinKey *key, JoinHashKind kind, const JoinHashSide *side, Oid collation)
{
	if (kind == JOIN_HASH_NONE)
		elog(ERROR, "a key of type %u has no hash", side->type);
	memset(key, 0, sizeof(*key));
	key->collation = collation;
	key->typlen = get_typlen(side->type);
	if (kind == JOIN_HASH_FAMILY || kind == JOIN_HASH_FAMILY_EXTENDED)
	{
		fmgr_info(side->function, &key->function);
		key->hash = kind == JOIN_HASH_FAMILY ? hash_by_function : hash_by_long_function;
		return;
	}
	key->integer = kind == JOIN_HASH_NUMBER || get_typbyval(side->type);
	Assert(!key->integer || key->typlen == 1 || key->typlen == 2 || key->typlen == 4 ||
		   key->typlen == 8);
	if (key->integer)
		key->hash = hash_integer;
	else
		key->hash = key->typlen == -1 ? hash_varlena : hash_fixed;
}
