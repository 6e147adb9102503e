/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * build.c
 *	  Makes filters and changes their keys: bloom_create, bloom_add, bloom_add_all, bloom_add_new,
 *	  bloom_remove, bloom_remove_all.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "pg/datum.h"
#include "pg/edit.h"
#include "pg/literal.h"
#include "pg/params.h"
#include "pg/port.h"
#include "pg/value.h"

PG_FUNCTION_INFO_V1(bloomfam_create);
PG_FUNCTION_INFO_V1(bloomfam_create_text);
PG_FUNCTION_INFO_V1(bloomfam_add);
PG_FUNCTION_INFO_V1(bloomfam_add_all);
PG_FUNCTION_INFO_V1(bloomfam_add_new);
PG_FUNCTION_INFO_V1(bloomfam_remove);
PG_FUNCTION_INFO_V1(bloomfam_remove_all);
PG_FUNCTION_INFO_V1(bloomfam_add_literal);
PG_FUNCTION_INFO_V1(bloomfam_add_all_literal);
PG_FUNCTION_INFO_V1(bloomfam_add_new_literal);
PG_FUNCTION_INFO_V1(bloomfam_remove_literal);
PG_FUNCTION_INFO_V1(bloomfam_remove_all_literal);

static void null_argument_error(void) pg_attribute_noreturn();

static void
null_argument_error(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("expected number of keys, false positive rate and kind must not be null")));
	pg_unreachable();
}

/* Plans an empty filter without a family, and fills its header. */
static void
plan_empty(int64 expected, double fpr, const BfKind *kind, BfHeader *head)
{
	BfDesign	design;

	bloomfam_design(kind, fpr, &design);
	if (!(kind->caps & BF_CAN_ADD))
		bloomfam_unsupported_error(kind, "create", BF_CAN_ADD);
	bloomfam_plan(&design, bloomfam_expected_arg(expected), head);
}

static Datum
make_empty(BfHeader *head)
{
	uint8	   *payload;
	struct varlena *value = bloomfam_value_alloc(head, &payload);

	bf_init(head, payload);
	return bloomfam_value_finish(value, head);
}

/*
 * bloom_create(expected bigint, fpr float8, kind text, key_type regtype) -> bloomfilter: not strict
 * (key_type may be NULL), immutable.
 *
 * Returns an empty filter.  Raises 22023 for arguments out of range, and 54000 for a filter that
 * would be too large.
 */
Datum
bloomfam_create(PG_FUNCTION_ARGS)
{
	BfHeader	head;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		null_argument_error();
	plan_empty(PG_GETARG_INT64(0), PG_GETARG_FLOAT8(1), bloomfam_kind_arg(PG_GETARG_TEXT_PP(2)),
			   &head);
	if (!PG_ARGISNULL(3))
	{
		Oid			type = PG_GETARG_OID(3);
		BloomfamHasher *hasher;

		/* A regtype may be any number, or "-", which stands for no type. */
		if (!get_typisdefined(type))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_OBJECT),
					 errmsg("type with OID %u does not exist", type)));
		hasher =
			bloomfam_hasher_make(CurrentMemoryContext, type, get_typcollation(type), head.hash_id);
		if (hasher->family_id == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("type %s does not say what the keys are", format_type_be(type)),
					 errhint("Leave the key type out: the first key that is added sets it.")));
		head.family_id = hasher->family_id;
		head.family = hasher->family;
		head.family_len = hasher->family_len;
	}
	return make_empty(&head);
}

/*
 * bloom_create(bigint, text) -> bloomfilter: not strict, immutable.
 *
 * Returns an empty filter.  The text is a kind or, if it is a number, a false positive rate, as
 * bloom_agg reads it.  Raises 22004 for a NULL.
 */
Datum
bloomfam_create_text(PG_FUNCTION_ARGS)
{
	const BfKind *kind = bf_kind_by_name(BLOOMFAM_DEFAULT_KIND);
	double		fpr = BLOOMFAM_DEFAULT_FPR;
	BfHeader	head;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		null_argument_error();
	bloomfam_kind_or_fpr_arg(PG_GETARG_TEXT_PP(1),
							 "The type of the keys has a name: bloom_create(1000, key_type => "
							 "'bigint').",
							 &kind, &fpr);
	plan_empty(PG_GETARG_INT64(0), fpr, kind, &head);
	return make_empty(&head);
}

/*
 * Returns the hasher of argument 1, or of its elements if it is an array, for a filter's hash and
 * family.  The hashers are kept in fn_extra.
 */
static BloomfamHasher *
get_hasher(FunctionCallInfo fcinfo, const ArrayType *array, const BfHeader *filter)
{
	BloomfamHashers *hashers = bloomfam_hashers_get(fcinfo, 1, array != NULL);
	BloomfamHasher *hasher;

	if (array != NULL)
		bloomfam_hashers_see_array(hashers, array);
	hasher = bloomfam_hasher_for(hashers, filter->hash_id);
	bloomfam_hasher_fit(hasher, filter);
	return hasher;
}

/*
 * What distinguishes one function that changes a filter (adding keys, removing keys) from another.
 */
typedef struct Change
{
	uint32		needed_cap;

	/*
	 * How a key without a type is changed that can be read as several keys (in several types): if
	 * true, all of these keys are added or removed; if false, it is an error.
	 */
	bool		takes_readings;

	/* The change as a text, for "cannot ... a bloom filter of kind ...". */
	const char *what;
	void		(*apply) (BloomfamEdit *edit, const uint64 *hashes, int n);
} Change;

static const Change adding = {BF_CAN_ADD, true, "add keys to", bloomfam_edit_add};
static const Change adding_new = {BF_CAN_ADD, false, "add keys to", bloomfam_edit_add};
static const Change removing = {BF_CAN_REMOVE, false, "remove keys from",
								bloomfam_edit_remove};

/* Begins to change argument 0.  Raises an error if its kind does not allow the change. */
static BloomfamEdit *
begin_change(FunctionCallInfo fcinfo, const Change *change)
{
	BloomfamEdit *edit = bloomfam_edit_begin(PG_GETARG_DATUM(0));

	if (!(edit->head.kind->caps & change->needed_cap))
		bloomfam_unsupported_error(edit->head.kind, change->what, change->needed_cap);
	return edit;
}

static Datum
change_one(FunctionCallInfo fcinfo, const Change *change)
{
	BloomfamEdit *edit;
	BloomfamHasher *hasher;
	uint64		hash;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));

	edit = begin_change(fcinfo, change);
	hasher = get_hasher(fcinfo, NULL, &edit->head);
	hash = hasher->hash(hasher, PG_GETARG_DATUM(1));
	bloomfam_edit_check_family(edit, hasher);
	change->apply(edit, &hash, 1);
	bloomfam_edit_take_family(edit, hasher);
	return bloomfam_edit_end(edit);
}

static BloomfamLiteral *
get_literal(FunctionCallInfo fcinfo)
{
	if (fcinfo->flinfo->fn_extra == NULL)
		fcinfo->flinfo->fn_extra =
			bloomfam_literal_make(fcinfo->flinfo->fn_mcxt, PG_GET_COLLATION(), false, false);
	return fcinfo->flinfo->fn_extra;
}

/*
 * Changes a filter by one key without a type.  A key that is added in all its readings is found for
 * each type that the column may have.  But it can be removed, or be called new, only if all
 * readings had been added.  So these changes require a single reading.
 */
static Datum
change_one_literal(FunctionCallInfo fcinfo, const Change *change)
{
	BloomfamEdit *edit;
	const BloomfamReadings *readings;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));

	edit = begin_change(fcinfo, change);
	readings = bloomfam_literal_read(get_literal(fcinfo), PG_GETARG_DATUM(1), &edit->head);
	if (!change->takes_readings)
		bloomfam_literal_check_one(readings, &edit->head);
	change->apply(edit, readings->hashes, readings->n);
	return bloomfam_edit_end(edit);
}

/*
 * The keys of an array without its NULLs, and their hashes.  A key without a type has a hash for
 * each type that it can be read as, so there may be more hashes than keys.
 */
typedef struct HashedKeys
{
	Oid			type;
	int16		typlen;
	bool		typbyval;
	char		typalign;
	int			n;
	Datum	   *keys;
	uint64	   *hashes;
} HashedKeys;

/*
 * Hashes the array that is argument 1, for a filter to be changed.  The keys must have the filter's
 * family, or give it theirs.
 */
typedef void (*HashKeys) (FunctionCallInfo fcinfo, BloomfamEdit *edit, const Change *change,
						  HashedKeys *hashed);

static void
hash_keys(FunctionCallInfo fcinfo, BloomfamEdit *edit, const Change *change, HashedKeys *hashed)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(1);
	BloomfamHasher *hasher = get_hasher(fcinfo, array, &edit->head);
	bool	   *nulls;
	int			nkeys;
	int			i;

	hashed->type = ARR_ELEMTYPE(array);
	get_typlenbyvalalign(hashed->type, &hashed->typlen, &hashed->typbyval, &hashed->typalign);
	deconstruct_array(array, hashed->type, hashed->typlen, hashed->typbyval, hashed->typalign,
					  &hashed->keys, &nulls, &nkeys);
	hashed->hashes = palloc(Max(nkeys, 1) * sizeof(uint64));
	hashed->n = 0;
	for (i = 0; i < nkeys; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (nulls[i])
			continue;
		hashed->keys[hashed->n] = hashed->keys[i];
		hashed->hashes[hashed->n++] = hasher->hash(hasher, hashed->keys[i]);
		bloomfam_edit_take_family(edit, hasher);
	}
}

/* Hashes the keys of an array literal. */
static void
hash_keys_literal(FunctionCallInfo fcinfo, BloomfamEdit *edit, const Change *change,
				  HashedKeys *hashed)
{
	const BloomfamLiterals *literals =
		bloomfam_literal_read_array(get_literal(fcinfo), PG_GETARG_DATUM(1), &edit->head);
	int			i;

	hashed->type = TEXTOID;
	hashed->typlen = -1;
	hashed->typbyval = false;
	hashed->typalign = TYPALIGN_INT;
	hashed->keys = palloc(Max(literals->n, 1) * sizeof(Datum));
	hashed->hashes =
		palloc_extended(Max(literals->n, 1) * sizeof(uint64) * BLOOMFAM_MAX_READINGS,
						MCXT_ALLOC_HUGE);
	hashed->n = 0;
	for (i = 0; i < literals->n; i++)
	{
		const BloomfamReadings *readings;
		int			j;

		CHECK_FOR_INTERRUPTS();
		if (literals->nulls[i])
			continue;
		if (edit->head.family_id == 0)
			bloomfam_literal_untyped_error();
		readings = &literals->readings[i];
		if (!change->takes_readings)
		{
			bloomfam_literal_check_one(readings, &edit->head);
			hashed->keys[hashed->n] = literals->keys[i];
		}
		for (j = 0; j < readings->n; j++)
			hashed->hashes[hashed->n++] = readings->hashes[j];
	}
}

static Datum
change_all(FunctionCallInfo fcinfo, const Change *change, HashKeys hash)
{
	BloomfamEdit *edit;
	HashedKeys	hashed;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));

	edit = begin_change(fcinfo, change);
	hash(fcinfo, edit, change, &hashed);
	change->apply(edit, hashed.hashes, hashed.n);
	return bloomfam_edit_end(edit);
}

/*
 * bloom_add(bloomfilter, "any") -> bloomfilter: not strict, immutable.
 *
 * A NULL key changes nothing.  A NULL filter, which may contain every key, stays NULL.  Raises
 * 42804 for a key of another type, 0A000 for a kind to which no keys can be added, and 54000 for a
 * filter that is full and does not grow.  Copies the filter, except for a PL/pgSQL variable that
 * the result is assigned to in PostgreSQL 18 (support.c).
 */
Datum
bloomfam_add(PG_FUNCTION_ARGS)
{
	return change_one(fcinfo, &adding);
}

/*
 * bloom_add_all(bloomfilter, anyarray) -> bloomfilter: not strict, immutable.
 *
 * Adds the elements of an array of any number of dimensions, as bloom_add does; NULL elements are
 * skipped.
 */
Datum
bloomfam_add_all(PG_FUNCTION_ARGS)
{
	return change_all(fcinfo, &adding, hash_keys);
}

/* The number of keys that are tested and added at a time. */
#define NEW_BATCH		256

static Datum
add_new(FunctionCallInfo fcinfo, HashKeys hash)
{
	BloomfamEdit *edit;
	HashedKeys	hashed;
	TupleDesc	desc;
	Datum		values[2];
	bool		nulls[2] = {false, false};
	int			nadded = 0;
	int			done;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE || desc->natts != 2)
		elog(ERROR, "return type must be the row type of bloom_add_new");
	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("bloom filter must not be null")));
	values[0] = PG_GETARG_DATUM(0);
	if (PG_ARGISNULL(1))
	{
		nulls[1] = true;
		PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
	}

	edit = begin_change(fcinfo, &adding_new);
	hash(fcinfo, edit, &adding_new, &hashed);
	for (done = 0; done < hashed.n; done += NEW_BATCH)
	{
		int			n = Min(NEW_BATCH, hashed.n - done);
		bool		known[NEW_BATCH];
		BfView		view;
		BfProbe		probe;
		int			i;

		/*
		 * Test all keys at once first, which fetches their places in the filter.  Then test those
		 * that seem new one after the other, as they may repeat.
		 */
		CHECK_FOR_INTERRUPTS();
		bloomfam_edit_view(edit, &view);
		view.head.kind->probe_many(&view, hashed.hashes + done, n, known);
		probe = view.head.kind->prober(&view);
		for (i = 0; i < n; i++)
		{
			uint64		hash = hashed.hashes[done + i];

			if (known[i] || probe(&view, hash))
				continue;
			bloomfam_edit_add(edit, &hash, 1);
			bloomfam_edit_view(edit, &view);
			hashed.keys[nadded++] = hashed.keys[done + i];
		}
	}
	values[0] = bloomfam_edit_end(edit);
	values[1] = PointerGetDatum(construct_array(hashed.keys, nadded, hashed.type, hashed.typlen,
												hashed.typbyval, hashed.typalign));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}

/*
 * bloom_add_new(bloomfilter, anyarray, OUT filter bloomfilter, OUT added anyarray) -> record: not
 * strict, immutable.
 *
 * Adds those keys of the array that the filter, with the keys added before them, does not contain.
 * Returns them in their order beside the new filter.  A key that was never added is left out with
 * the filter's false positive rate, and a key that was added before is never returned.  NULL keys
 * are skipped.  A NULL array gives the unchanged filter and NULL.  Raises 22004 for a NULL filter,
 * as it does not tell which keys are new.  Other errors are those of bloom_add.
 */
Datum
bloomfam_add_new(PG_FUNCTION_ARGS)
{
	return add_new(fcinfo, hash_keys);
}

/*
 * bloom_remove(bloomfilter, "any") -> bloomfilter: not strict, immutable.
 *
 * Takes away one addition of the key.  NULLs are treated as by bloom_add.  Raises 22023 for a key
 * that is certainly not in the filter.  Removing a key that was never added, but that the filter
 * may contain, takes other keys away and cannot be detected.  Raises 42804 and 0A000 as bloom_add
 * does.
 */
Datum
bloomfam_remove(PG_FUNCTION_ARGS)
{
	return change_one(fcinfo, &removing);
}

/*
 * bloom_remove_all(bloomfilter, anyarray) -> bloomfilter: not strict, immutable.
 *
 * Removes the elements of an array as bloom_remove does: either all of them, or raises an error.
 */
Datum
bloomfam_remove_all(PG_FUNCTION_ARGS)
{
	return change_all(fcinfo, &removing, hash_keys);
}

/*
 * The functions of this name with a bloomliteral for the key, or for the array of keys: not strict,
 * immutable.
 *
 * Keys are read as the filter's family would read them.  Raises 42P18 for a filter that has no
 * family yet, or one that cannot read literals. bloom_add and bloom_add_all add a key in all its
 * readings; the other functions raise 42P18 if there are several.  New keys are returned as text,
 * as they were written.
 */
Datum
bloomfam_add_literal(PG_FUNCTION_ARGS)
{
	return change_one_literal(fcinfo, &adding);
}

Datum
bloomfam_add_all_literal(PG_FUNCTION_ARGS)
{
	return change_all(fcinfo, &adding, hash_keys_literal);
}

Datum
bloomfam_add_new_literal(PG_FUNCTION_ARGS)
{
	return add_new(fcinfo, hash_keys_literal);
}

Datum
bloomfam_remove_literal(PG_FUNCTION_ARGS)
{
	return change_one_literal(fcinfo, &removing);
}

Datum
bloomfam_remove_all_literal(PG_FUNCTION_ARGS)
{
	return change_all(fcinfo, &removing, hash_keys_literal);
}
