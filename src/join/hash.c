/*-------------------------------------------------------------------------
 *
 * hash.c
 *	  The keys of a join as 64 bits.
 *
 * The join's operator belongs to an operator family of hash, whose hash functions agree on what
 * its operators call equal, across the types and under the collation.  Where equality is known to
 * be that of the bytes (the btree family of the same operator says so by its "equalimage"
 * function), or that of integers, hashing those is shorter and gives the same guarantee.  The
 * choice depends on the operator and the collation only, so that both sides choose the same.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/hash.h"
#include "access/htup_details.h"
#include "access/nbtree.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_type_d.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "join/hash.h"

/* pg_opfamily.dat: integer_ops of hash, of int2, int4 and int8 */
#define INTEGER_HASH_FAMILY		1977

typedef struct HashFunctions
{
	Oid			family;
	Oid			left_type;
	Oid			right_type;
	bool		extended;		/* they have 64 bits, and a seed */
	Oid			left;
	Oid			right;
} HashFunctions;

/*
 * May the 64-bit hash function of a type raise an error where the 32-bit one, which the join
 * calls in any case, does not?  That of a container does for elements whose type has no such
 * function.
 */
static bool
is_container(Oid type)
{
	return type == ANYARRAYOID || type == ANYRANGEOID || type == ANYMULTIRANGEOID ||
		   type == RECORDOID;
}

/*
 * The family of hash that the operator is the equality of and that can hash both sides; false if
 * there is none.  Of several the first by its number: the catalogue's lists have no order, and
 * both sides must choose the same.
 */
static bool
find_functions(Oid operator, HashFunctions *result)
{
	CatCList   *list = SearchSysCacheList1(AMOPOPID, ObjectIdGetDatum(operator));
	bool		found = false;
	int			i;

	for (i = 0; i < list->n_members; i++)
	{
		Form_pg_amop form = (Form_pg_amop) GETSTRUCT(&list->members[i]->tuple);
		Oid			family = form->amopfamily;
		Oid			left = form->amoplefttype;
		Oid			right = form->amoprighttype;
		int			proc;

		if (form->amopmethod != HASH_AM_OID || form->amopstrategy != HTEqualStrategyNumber ||
			(found && family > result->family))
			continue;
		for (proc = HASHEXTENDED_PROC; proc >= HASHSTANDARD_PROC; proc--)
		{
			if ((proc == HASHEXTENDED_PROC && (is_container(left) || is_container(right))) ||
				!OidIsValid(get_opfamily_proc(family, left, left, proc)) ||
				!OidIsValid(get_opfamily_proc(family, right, right, proc)))
				continue;
			result->family = family;
			result->left_type = left;
			result->right_type = right;
			result->extended = proc == HASHEXTENDED_PROC;
			result->left = get_opfamily_proc(family, left, left, proc);
			result->right = get_opfamily_proc(family, right, right, proc);
			found = true;
			break;
		}
	}
	ReleaseSysCacheList(list);
	return found;
}

/*
 * Are two values of this type equal if and only if their bytes are?  All families of btree that
 * know must say so: text_pattern_ops has the same operator as text_ops, and says yes whatever the
 * collation.
 */
static bool
equality_is_of_bytes(Oid operator, Oid type, Oid collation)
{
	List	   *families = get_mergejoin_opfamilies(operator);
	bool		known = false;
	bool		result = true;
	ListCell   *lc;

	foreach(lc, families)
	{
		Oid			proc = get_opfamily_proc(lfirst_oid(lc), type, type, BTEQUALIMAGE_PROC);

		if (!OidIsValid(proc))
			continue;
		known = true;
		result &= DatumGetBool(OidFunctionCall1Coll(proc, collation, ObjectIdGetDatum(type)));
	}
	list_free(families);
	return known && result;
}

static uint64
hash_int1(const JoinKey *key, Datum value)
{
	return bf_hash_u64((uint64) (int64) (int8) DatumGetChar(value));
}

static uint64
hash_int2(const JoinKey *key, Datum value)
{
	return bf_hash_u64((uint64) (int64) DatumGetInt16(value));
}

static uint64
hash_int4(const JoinKey *key, Datum value)
{
	return bf_hash_u64((uint64) (int64) DatumGetInt32(value));
}

static uint64
hash_int8(const JoinKey *key, Datum value)
{
	return bf_hash_u64((uint64) DatumGetInt64(value));
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

/* 32 bits, which are enough: the share of rows that pass by accident is that of n keys in 2^32. */
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

/*
 * Chooses the routine for a type whose equality is that of its bytes, or of its number; false if
 * there is none.  Of types that are passed by reference these alone: bpchar and name, too, say of
 * themselves that equality is that of their bytes, but only where the padding is the same.
 */
static bool
init_plain(JoinKey *key, Oid type, bool byval)
{
	if (byval)
	{
		key->integer = true;
		switch (key->typlen)
		{
			case 1:
				key->hash = hash_int1;
				return true;
			case 2:
				key->hash = hash_int2;
				return true;
			case 4:
				key->hash = hash_int4;
				return true;
			case 8:
				key->hash = hash_int8;
				return true;
		}
		return false;
	}
	if (type == TEXTOID || type == BYTEAOID)
		key->hash = hash_varlena;
	else if (type == UUIDOID)
		key->hash = hash_fixed;
	else
		return false;
	return true;
}

void
bloomfam_join_key_init(JoinKey *key, Oid operator, Oid collation, bool outer)
{
	HashFunctions functions;
	Oid			type;
	bool		byval;
	Oid			function;

	memset(key, 0, sizeof(*key));
	if (!find_functions(operator, &functions))
		elog(ERROR, "operator %u cannot be hashed", operator);
	key->collation = collation;
	type = outer ? functions.left_type : functions.right_type;
	get_typlenbyval(type, &key->typlen, &byval);

	if (functions.family == INTEGER_HASH_FAMILY ||
		(functions.left_type == functions.right_type &&
		 equality_is_of_bytes(operator, functions.left_type, collation)))
	{
		if (init_plain(key, type, byval))
		{
			key->leakproof = true;
			return;
		}
	}
	function = outer ? functions.left : functions.right;
	fmgr_info(function, &key->function);
	key->hash = functions.extended ? hash_by_function : hash_by_short_function;
	key->integer = false;
	key->leakproof = get_func_leakproof(function);
}

bool
bloomfam_join_key_usable(Oid operator, Oid collation, bool *leakproof)
{
	HashFunctions functions;
	JoinKey		key;

	if (!op_strict(operator) || !find_functions(operator, &functions))
		return false;
	bloomfam_join_key_init(&key, operator, collation, true);
	*leakproof = key.leakproof;
	return true;
}
