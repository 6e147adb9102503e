/*-------------------------------------------------------------------------
 *
 * build.c
 *	  From keys to filters: bloom_create, bloom_add, bloom_add_all.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "pg/bloomfam.h"

PG_FUNCTION_INFO_V1(bloomfam_create);
PG_FUNCTION_INFO_V1(bloomfam_add);
PG_FUNCTION_INFO_V1(bloomfam_add_all);

/*
 * bloom_create(expected bigint, fpr float8, kind text, key_type regtype) -> bloomfilter: not strict (key_type may be NULL), immutable.
 *
 * An empty filter.  22023 for what is out of range, 54000 for one that would be too large.
 */
Datum
bloomfam_create(PG_FUNCTION_ARGS)
{
	BfDesign	design;
	BfHeader	head;
	struct varlena *value;
	uint8	   *payload;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("expected number of keys, false positive rate and kind must not be null")));
	bloomfam_design(bloomfam_kind_arg(PG_GETARG_TEXT_PP(2)), PG_GETARG_FLOAT8(1), &design);
	bloomfam_plan(&design, bloomfam_expected_arg(PG_GETARG_INT64(0)), &head);
	if (!PG_ARGISNULL(3))
	{
		Oid			type = PG_GETARG_OID(3);
		BloomfamHasher *hasher;

		/* a regtype may be a number, or the hyphen that stands for none */
		if (!get_typisdefined(type))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_OBJECT),
					 errmsg("type with OID %u does not exist", type)));
		hasher = bloomfam_hasher_make(CurrentMemoryContext, type, get_typcollation(type), head.hash_id);
		if (hasher->family_id == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("type %s does not say what the keys are", format_type_be(type)),
					 errhint("Leave the key type out: the first key that is added sets it.")));
		head.family_id = hasher->family_id;
		head.family = hasher->family;
		head.family_len = hasher->family_len;
	}
	value = bloomfam_value_alloc(&head, &payload);
	return bloomfam_value_finish(value, &head);
}

/* The hasher of argument 1, kept in fn_extra. */
static BloomfamHasher *
get_hasher(FunctionCallInfo fcinfo, bool keys_are_array)
{
	BloomfamHasher *hasher = fcinfo->flinfo->fn_extra;

	if (hasher == NULL)
	{
		Oid			type = bloomfam_key_type(fcinfo, 1);

		if (keys_are_array)
			type = get_base_element_type(type);
		hasher = bloomfam_hasher_make(fcinfo->flinfo->fn_mcxt, type, PG_GET_COLLATION(), BF_HASH_XXH3);
		fcinfo->flinfo->fn_extra = hasher;
	}
	return hasher;
}

/* A filter without a family takes that of its first key; any other must have it. */
static void
take_family(BfHeader *head, const BloomfamHasher *hasher)
{
	if (head->family_id == 0)
	{
		head->family_id = hasher->family_id;
		head->family = hasher->family;
		head->family_len = hasher->family != NULL ? hasher->family_len : 0;
	}
	else if (head->family_id != hasher->family_id)
		bloomfam_family_error(head, hasher->family, hasher->family_len, hasher->family_id);
}

static void
check_can_add(const BfView *view)
{
	if (!(view->head.kind->caps & BF_CAN_ADD))
		bloomfam_unsupported_error(view->head.kind, "add keys to", BF_CAN_ADD);
}

/* A copy of the view's filter, under a header that may differ in family and number of keys, with more hashes. */
static Datum
copy_and_add(const BfView *view, const BfHeader *head, const uint64 *hashes, int n)
{
	uint8	   *payload;
	struct varlena *value = bloomfam_value_alloc(head, &payload);

	memcpy(payload, view->payload, head->payload_len);
	head->kind->add(head, payload, hashes, n);
	return bloomfam_value_finish(value, head);
}

/*
 * bloom_add(bloomfilter, "any") -> bloomfilter: not strict, immutable.
 *
 * A NULL key changes nothing; a NULL filter, which may contain every key, stays NULL.  42804 for a key of another type, 0A000 for kinds
 * that cannot be added to.  Copies the filter.
 */
Datum
bloomfam_add(PG_FUNCTION_ARGS)
{
	BloomfamHasher *hasher;
	BfView		view;
	BfHeader	head;
	uint64		hash;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));

	bloomfam_view_open(PG_GETARG_DATUM(0), &view);
	check_can_add(&view);
	hasher = get_hasher(fcinfo, false);
	hash = hasher->hash(hasher, PG_GETARG_DATUM(1));
	head = view.head;
	take_family(&head, hasher);
	head.keys_added = bloomfam_count_keys(head.keys_added, 1);
	return copy_and_add(&view, &head, &hash, 1);
}

/*
 * bloom_add_all(bloomfilter, anyarray) -> bloomfilter: not strict, immutable.
 *
 * The same with the elements of an array, of any number of dimensions; NULLs among them are passed over.
 */
Datum
bloomfam_add_all(PG_FUNCTION_ARGS)
{
	BloomfamHasher *hasher;
	BfView		view;
	BfHeader	head;
	ArrayType  *array;
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Datum	   *keys;
	bool	   *nulls;
	uint64	   *hashes;
	int			nkeys;
	int			n = 0;
	int			i;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));

	bloomfam_view_open(PG_GETARG_DATUM(0), &view);
	check_can_add(&view);
	hasher = get_hasher(fcinfo, true);
	array = PG_GETARG_ARRAYTYPE_P(1);
	get_typlenbyvalalign(ARR_ELEMTYPE(array), &typlen, &typbyval, &typalign);
	deconstruct_array(array, ARR_ELEMTYPE(array), typlen, typbyval, typalign, &keys, &nulls, &nkeys);

	head = view.head;
	hashes = palloc(Max(nkeys, 1) * sizeof(uint64));
	for (i = 0; i < nkeys; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (nulls[i])
			continue;
		hashes[n++] = hasher->hash(hasher, keys[i]);
		take_family(&head, hasher);
	}
	head.keys_added = bloomfam_count_keys(head.keys_added, n);
	return copy_and_add(&view, &head, hashes, n);
}
