/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * index_key.c
 *	  Hashers of the keys of an index's column.
 *
 * Keys are hashed as filters hash them, by families of types (hasher.c).  But an index follows its
 * table: a label of an enum may be renamed, which would change a hash of labels.  So an enum is
 * hashed by its OID, and types that contain enums cannot be indexed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/typcache.h"

#include "pg/index_key.h"

#define EQUALITY	((StrategyNumber) 1)

/*
 * Returns the equality operator of a type's default operator class, that of B-trees or else that of
 * hash indexes; InvalidOid if the type has neither.  Sets *family to the class's operator family,
 * and *strategy to the operator's number in it.  Returns what the type cache has as the type's
 * equality, but finds the one of anyarray, too.
 */
static Oid
default_equality(Oid type, Oid *family, StrategyNumber *strategy)
{
	const TypeCacheEntry *entry =
		lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY | TYPECACHE_HASH_OPFAMILY);
	bool		ordered = OidIsValid(entry->btree_opf);
	Oid			input = ordered ? entry->btree_opintype : entry->hash_opintype;

	*family = ordered ? entry->btree_opf : entry->hash_opf;
	*strategy = ordered ? BTEqualStrategyNumber : HTEqualStrategyNumber;
	return OidIsValid(*family) ? get_opfamily_member(*family, input, input, *strategy) :
		InvalidOid;
}

bool
bloomfam_index_is_equality(Oid operator, Oid left, Oid right)
{
	Oid			family;
	Oid			other_family;
	StrategyNumber strategy;
	StrategyNumber other_strategy;
	Oid			equality = default_equality(left, &family, &strategy);
	Oid			other;

	if (!OidIsValid(equality) || left == right)
		return OidIsValid(equality) && operator == equality;
	other = default_equality(right, &other_family, &other_strategy);
	return OidIsValid(other) && get_op_opfamily_strategy(other, family) == strategy &&
		get_op_opfamily_strategy(operator, family) == strategy;
}

/*
 * Raises an error if the index's operator for keys of this type is not the equality that hashes
 * agree with.  A superuser can make an operator class of any operator, or add operators to one, and
 * only amvalidate() reports that.  Keys that such an operator takes for equal would not be found.
 */
static void
check_operator(Relation index, int column, Oid type)
{
	Oid			own = index->rd_opcintype[column];
	Oid			operator = get_opfamily_member(index->rd_opfamily[column], own,
											   OidIsValid(type) ? type : own, EQUALITY);

	if (OidIsValid(operator) &&
		!bloomfam_index_is_equality(operator, own, OidIsValid(type) ? type : own))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("operator %s of index \"%s\" is not the equality of its hashes",
						format_operator_qualified(operator), RelationGetRelationName(index)),
				 errhint("Use an operator class whose operator is its type's default equality.")));
}

static bool
family_has(const BloomfamHasher *hasher, const char *part)
{
	return memmem(hasher->family, hasher->family_len, part, strlen(part)) != NULL;
}

BloomfamHasher *
bloomfam_index_type_hasher(MemoryContext context, Oid method, Oid type, Oid collation)
{
	BloomfamHasher *hasher;

	type = getBaseType(type);
	hasher = bloomfam_hasher_make_local(context, get_typtype(type) == TYPTYPE_ENUM ? OIDOID : type,
										collation);
	if (hasher->family == NULL || hasher->fit != NULL ||
		hasher->family_len >= BF_MAX_FAMILY_LEN || family_has(hasher, "enum \"") ||
		family_has(hasher, "record"))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a %s index cannot have keys of type %s", get_am_name(method),
						format_type_be(type)),
				 errdetail("Equal keys of this type need not have equal hashes for ever.")));
	return hasher;
}

BloomfamHasher *
bloomfam_index_hasher_make(MemoryContext context, Relation index, int column, Oid type)
{
	check_operator(index, column, type);

	/*
	 * The operator class defines which keys are equal, so its input type decides how keys are
	 * hashed.  It can differ from the column's type, whose values are then binary compatible with
	 * it.
	 */
	if (!OidIsValid(type))
		type = index->rd_opcintype[column];
	if (IsPolymorphicType(type))
		type = TupleDescAttr(RelationGetDescr(index), column)->atttypid;
	return bloomfam_index_type_hasher(context, index->rd_rel->relam, type,
									  index->rd_indcollation[column]);
}
