/*-------------------------------------------------------------------------
 *
 * hash.c
 *	  The keys of a join as 64 bits.
 *
 * The join's operator belongs to an operator family of hash, whose hash functions agree on what
 * its operators call equal, across the types and under the collation.  Where equality is known to
 * be that of the bytes, or that of integers, hashing those is shorter and gives the same
 * guarantee.
 *
 * It is known of types by their names alone.  Anybody may put a type into the server's families:
 * an unsigned integer of four bytes that equals an int8 belongs into the family of integers, and
 * has other bytes than the int4 of the same number.  So what is decided is decided for the pair of
 * types, when the join is planned, and the plan carries it to both sides.  For types that are not
 * known the functions are those that the join itself calls: if they do not agree, it finds no rows
 * either.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/hash.h"
#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/transam.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_type_d.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "join/filter/hash.h"

/*
 * The 64-bit hash function of a container raises an error for elements whose type has no such
 * function, where the 32-bit one, which the join calls in any case, does not.
 */
static bool
is_container(Oid type)
{
	return type == ANYARRAYOID || type == ANYRANGEOID || type == ANYMULTIRANGEOID ||
		   type == RECORDOID;
}

/*
 * May the 64-bit functions of a family be called for these types?  An extension's may disagree
 * with its operators: no join calls them, so nobody would have found out.
 */
static bool
has_trusted_extended(Oid family, Oid left, Oid right)
{
	return family < FirstNormalObjectId && left < FirstNormalObjectId &&
		   right < FirstNormalObjectId && !is_container(left) && !is_container(right);
}

/*
 * The functions of the hash operator family that the operator is the equality of and that can hash
 * both sides; false if there is none.  Of several families the one with the lowest OID, as syscache
 * lists have no order.
 */
static bool
find_functions(Oid operator, JoinHashing *result)
{
	CatCList   *list = SearchSysCacheList1(AMOPOPID, ObjectIdGetDatum(operator));
	Oid			found = InvalidOid;
	int			i;

	for (i = 0; i < list->n_members; i++)
	{
		Form_pg_amop form = (Form_pg_amop) GETSTRUCT(&list->members[i]->tuple);
		Oid			family = form->amopfamily;
		Oid			left = form->amoplefttype;
		Oid			right = form->amoprighttype;
		int			proc;

		if (form->amopmethod != HASH_AM_OID || form->amopstrategy != HTEqualStrategyNumber ||
			(OidIsValid(found) && family > found))
			continue;
		for (proc = HASHEXTENDED_PROC; proc >= HASHSTANDARD_PROC; proc--)
		{
			Oid			outer = get_opfamily_proc(family, left, left, proc);
			Oid			inner = get_opfamily_proc(family, right, right, proc);

			if ((proc == HASHEXTENDED_PROC && !has_trusted_extended(family, left, right)) ||
				!OidIsValid(outer) || !OidIsValid(inner))
				continue;
			found = family;
			result->kind =
				proc == HASHEXTENDED_PROC ? JOIN_HASH_FAMILY_EXTENDED : JOIN_HASH_FAMILY;
			result->outer = (JoinHashSide) {.type = left, .function = outer};
			result->inner = (JoinHashSide) {.type = right, .function = inner};
			break;
		}
	}
	ReleaseSysCacheList(list);
	return OidIsValid(found);
}

static bool
is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

/*
 * Types of which it is known that the equality of the server's own operator is that of the bytes,
 * if the collation has no other.  Not bpchar and name: of them it is only where the padding is the
 * same.
 */
static const Oid plain_types[] = {
	INT2OID, INT4OID, INT8OID, BOOLOID, CHAROID, OIDOID, DATEOID, TIMEOID, TIMESTAMPOID,
	TIMESTAMPTZOID, CASHOID, PG_LSNOID, ANYENUMOID, TEXTOID, BYTEAOID, UUIDOID,
};

/* Are two values of this type equal if and only if their bytes are, to the server's operator? */
static bool
equality_is_of_bytes(Oid type, Oid collation)
{
	size_t		i;

	for (i = 0; i < lengthof(plain_types); i++)
		if (plain_types[i] == type)
			return !OidIsValid(collation) || get_collation_isdeterministic(collation);
	return false;
}

/* Integers by the number: an int2 hashes as the int8 that it equals. */
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

/* 32 bits are enough: of rows without a match, n keys let n / 2^32 pass. */
static uint64
hash_by_short_function(const JoinKey *key, Datum value)
{
	return bf_hash_u64(DatumGetUInt32(
		FunctionCall1Coll(unconstify(FmgrInfo *, &key->function), key->collation, value)));
}

static uint64
hash_by_function(const JoinKey *key, Datum value)
{
	return DatumGetUInt64(FunctionCall2Coll(unconstify(FmgrInfo *, &key->function), key->collation,
											value, Int64GetDatum(0)));
}

/* The trust in a hash function of the family; 0: none is called. */
static JoinHashTrust
trust_of(JoinHashKind kind, Oid function)
{
	if (!OidIsValid(function) || get_func_leakproof(function))
		return JOIN_HASH_LEAKPROOF;
	return kind == JOIN_HASH_FAMILY_EXTENDED ? JOIN_HASH_CANNOT_FAIL : JOIN_HASH_MAY_FAIL;
}

bool
bloomfam_join_hashing(Oid operator, Oid collation, JoinHashing *result)
{
	JoinHashSide *outer = &result->outer;
	JoinHashSide *inner = &result->inner;

	memset(result, 0, sizeof(*result));
	if (!op_strict(operator) || !find_functions(operator, result))
		return false;
	if (operator < FirstNormalObjectId && is_integer(outer->type) && is_integer(inner->type))
		result->kind = JOIN_HASH_NUMBER;
	else if (operator < FirstNormalObjectId && outer->type == inner->type &&
			 equality_is_of_bytes(outer->type, collation))
		result->kind = JOIN_HASH_BYTES;
	if (result->kind == JOIN_HASH_NUMBER || result->kind == JOIN_HASH_BYTES)
		outer->function = inner->function = InvalidOid;
	outer->trust = trust_of(result->kind, outer->function);
	inner->trust = trust_of(result->kind, inner->function);
	return true;
}

void
bloomfam_join_key_init(JoinKey *key, JoinHashKind kind, const JoinHashSide *side, Oid collation)
{
	memset(key, 0, sizeof(*key));
	key->collation = collation;
	key->typlen = get_typlen(side->type);
	switch (kind)
	{
		case JOIN_HASH_NONE:
			elog(ERROR, "a key of type %u has no hash", side->type);
			break;
		case JOIN_HASH_NUMBER:
		case JOIN_HASH_BYTES:
			key->integer = kind == JOIN_HASH_NUMBER || get_typbyval(side->type);
			Assert(!key->integer || key->typlen == 1 || key->typlen == 2 || key->typlen == 4 ||
				   key->typlen == 8);
			key->hash = key->integer		? hash_integer
						: key->typlen == -1 ? hash_varlena
											: hash_fixed;
			break;
		case JOIN_HASH_FAMILY:
			key->hash = hash_by_short_function;
			break;
		case JOIN_HASH_FAMILY_EXTENDED:
			key->hash = hash_by_function;
			break;
	}
	if (OidIsValid(side->function))
		fmgr_info(side->function, &key->function);
}
