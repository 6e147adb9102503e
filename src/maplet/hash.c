/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * hash.c
 *	  Computes the hash of a key that a maplet index stores.
 *
 * Keys are hashed as filters hash them, by families of types (src/pg/hasher.h).  Two things are
 * different, because an index lives as long as its table.  First, the metapage records the family
 * of the keys; if a family's hash depends on the version of the server or of a collation, an index
 * that was built with another version is refused.  Second, a label of an enum may be renamed, which
 * would change a hash of labels.  So an enum is hashed by its OID, and types that contain enums
 * cannot be indexed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "pg/port.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/typcache.h"

#include "maplet/hash.h"

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
bloomfam_maplet_is_equality(Oid operator, Oid left, Oid right)
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
 * Raises an error if the operator of an index's column for keys of this type is not the equality
 * that hashes agree with.  A superuser can make an operator class of any operator, or add operators
 * to one, and only amvalidate() reports that.  Keys that such an operator takes for equal would not
 * be found.
 */
static void
check_operator(Relation index, int column, Oid type)
{
	Oid			own = index->rd_opcintype[column];
	Oid			operator = get_opfamily_member(index->rd_opfamily[column], own,
											   OidIsValid(type) ? type : own,
											   HTEqualStrategyNumber);

	if (OidIsValid(operator) &&
		!bloomfam_maplet_is_equality(operator, own, OidIsValid(type) ? type : own))
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

/* Makes the hasher for one column's values of the given type. */
static BloomfamHasher *
make_column(MemoryContext context, Relation index, int column, Oid type)
{
	BloomfamHasher *hasher;

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
	type = getBaseType(type);
	hasher = bloomfam_hasher_make_local(context, get_typtype(type) == TYPTYPE_ENUM ? OIDOID : type,
										index->rd_indcollation[column]);
	if (hasher->family == NULL || hasher->fit != NULL ||
		hasher->family_len >= BF_MAX_FAMILY_LEN || family_has(hasher, "enum \"") ||
		family_has(hasher, "record"))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a maplet index cannot have keys of type %s", format_type_be(type)),
				 errdetail("Equal keys of this type need not have equal hashes for ever.")));
	return hasher;
}

void
bloomfam_maplet_hasher_make(MapletHasher *hasher, MemoryContext context, Relation index,
							const Oid *types)
{
	MemoryContext old;
	StringInfoData names;
	int			i;

	hasher->ncolumns = IndexRelationGetNumberOfKeyAttributes(index);
	hasher->seed = 0;
	for (i = 0; i < hasher->ncolumns; i++)
		hasher->columns[i] = make_column(context, index, i,
										 types != NULL ? types[i] : InvalidOid);
	hasher->family_id = hasher->columns[0]->family_id;
	hasher->family = hasher->columns[0]->family;
	hasher->family_len = hasher->columns[0]->family_len;
	if (hasher->ncolumns == 1)
		return;

	old = MemoryContextSwitchTo(context);
	initStringInfo(&names);
	for (i = 0; i < hasher->ncolumns; i++)
	{
		appendStringInfoString(&names, i > 0 ? ", " : "");
		appendBinaryStringInfo(&names, hasher->columns[i]->family,
							   hasher->columns[i]->family_len);
	}
	MemoryContextSwitchTo(old);
	hasher->family = names.data;
	hasher->family_len = names.len;
	hasher->family_id = bf_family_id(names.data, names.len);
}

void
bloomfam_maplet_hasher_fit(MapletHasher *hasher, Relation index, const MapletMeta *meta)
{
	int			i;

	if (meta->family_id != hasher->family_id || meta->hash_id != hasher->columns[0]->hash_id)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" was built for keys that were hashed otherwise",
						RelationGetRelationName(index)),
				 errdetail("Its keys are of family %s, the key is of family %s.",
						   bloomfam_family_display(meta->family, meta->family_len,
												   meta->family_id),
						   bloomfam_family_display(hasher->family, hasher->family_len,
												   hasher->family_id)),
				 errhint("Please REINDEX it: a collation, a type or the server has changed.")));
	hasher->seed = meta->seed;
	for (i = 0; i < hasher->ncolumns; i++)
		hasher->columns[i]->seed = meta->seed;
}
