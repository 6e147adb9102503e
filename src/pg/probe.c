/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * probe.c
 *	  Probes filters: may a filter contain a key?
 *
 * Nothing is known of a NULL key, so the answer is NULL.  A NULL filter means that no filter is
 * known, so it may contain every key, and the answer is true.  Therefore these functions are not
 * strict.  With many keys, each is answered in this way, and the answers are combined by SQL's OR
 * or AND.
 *
 * What a call needs is made on the first row and kept in fn_extra: the key's hash routine, the
 * opened filter, and the routine that probes it.  A row then costs one hash and one probe.
 *
 * Each function has a variant for keys without a type, which are read as the filter would read them
 * (literal.c).  Its answer is yes if any reading of a key may be in the filter.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#include "pg/datum.h"
#include "pg/hasher.h"
#include "pg/literal.h"
#include "pg/port.h"
#include "pg/probe.h"

PG_FUNCTION_INFO_V1(bloomfam_may_contain);
PG_FUNCTION_INFO_V1(bloomfam_may_be_in);
PG_FUNCTION_INFO_V1(bloomfam_may_contain_any);
PG_FUNCTION_INFO_V1(bloomfam_may_contain_all);
PG_FUNCTION_INFO_V1(bloomfam_filter_keys);
PG_FUNCTION_INFO_V1(bloomfam_count);
PG_FUNCTION_INFO_V1(bloomfam_which);
PG_FUNCTION_INFO_V1(bloomfam_may_contain_literal);
PG_FUNCTION_INFO_V1(bloomfam_may_be_in_literal);
PG_FUNCTION_INFO_V1(bloomfam_may_contain_any_literal);
PG_FUNCTION_INFO_V1(bloomfam_may_contain_all_literal);
PG_FUNCTION_INFO_V1(bloomfam_filter_keys_literal);
PG_FUNCTION_INFO_V1(bloomfam_count_literal);
PG_FUNCTION_INFO_V1(bloomfam_which_literal);

typedef struct ProbeState
{
	BloomfamFilter filter;
	BloomfamHasher *hasher;		/* The hasher for the filter that was probed last. */
	bool		constant;		/* True if the filter is a constant, which is open. */

	/* True if "hasher" was made to hash keys as the open filter needs them. */
	bool		fits;
	bool		key_constant;	/* True if the key is a constant. */
	bool		key_hashed;		/* True if key_hash is the hash of the constant key. */
	uint64		key_hash;
	BloomfamHashers hashers;

	/* Used instead of hashers for keys without a type; otherwise NULL. */
	BloomfamLiteral *literal;
} ProbeState;

/* Returns whether an argument is a constant of the expression that the call belongs to. */
static bool
arg_is_constant(FunctionCallInfo fcinfo, int argno)
{
	Node	   *expr = fcinfo->flinfo->fn_expr;
	List	   *args;

	if (expr == NULL)
		return false;
	if (IsA(expr, FuncExpr))
		args = ((FuncExpr *) expr)->args;
	else if (IsA(expr, OpExpr))
		args = ((OpExpr *) expr)->args;
	else
		/*
		 * In a ScalarArrayOpExpr, the function's argument is an element, not the expression's
		 * constant array.
		 */
		return false;
	return argno < list_length(args) && IsA(list_nth(args, argno), Const);
}

static pg_noinline ProbeState *
make_state(FunctionCallInfo fcinfo, int key_arg, bool keys_are_array)
{
	MemoryContext context = fcinfo->flinfo->fn_mcxt;
	ProbeState *state = MemoryContextAllocZero(context, sizeof(ProbeState));

	bloomfam_filter_init(&state->filter, context);
	bloomfam_hashers_init(&state->hashers, fcinfo, key_arg, keys_are_array);
	state->hashers.probing = true;
	if (!state->hashers.each_array)
		state->hasher = bloomfam_hasher_for(&state->hashers, BF_HASH_XXH3);
	state->key_constant = !keys_are_array && arg_is_constant(fcinfo, key_arg);
	fcinfo->flinfo->fn_extra = state;
	return state;
}

static ProbeState *
get_literal_state(FunctionCallInfo fcinfo, int key_arg)
{
	MemoryContext context = fcinfo->flinfo->fn_mcxt;
	ProbeState *state = fcinfo->flinfo->fn_extra;

	if (state == NULL)
	{
		state = MemoryContextAllocZero(context, sizeof(ProbeState));
		bloomfam_filter_init(&state->filter, context);
		state->literal = bloomfam_literal_make(context, PG_GET_COLLATION(),
											   arg_is_constant(fcinfo, key_arg), true);
		fcinfo->flinfo->fn_extra = state;
	}
	return state;
}

static inline ProbeState *
get_state(FunctionCallInfo fcinfo, int key_arg, bool keys_are_array)
{
	ProbeState *state = fcinfo->flinfo->fn_extra;

	return likely(state != NULL) ? state : make_state(fcinfo, key_arg, keys_are_array);
}

/* Makes the hasher hash keys by the hash function and for the key family of this filter. */
static inline void
match_hasher(ProbeState *state, const BfView *view)
{
	if (unlikely(state->hasher->hash_id != view->head.hash_id))
	{
		state->hasher = bloomfam_hasher_for(&state->hashers, view->head.hash_id);
		state->key_hashed = false;
	}
	if (bloomfam_hasher_fit(state->hasher, &view->head))
		state->key_hashed = false;
}

/*
 * Returns whether this datum is the filter that is open, and the hasher hashes keys for it.  Then
 * the view is valid for the datum.
 */
static inline bool
is_open(ProbeState *state, Datum filter)
{
	return likely(state->fits) && bloomfam_filter_is_open(&state->filter, filter);
}

/*
 * Opens the filter.  A constant filter is opened only once, as its value stays where it is in the
 * expression.
 */
static pg_noinline void
open_filter(FunctionCallInfo fcinfo, int filter_arg, ProbeState *state)
{
	bool		first = state->filter.view.payload == NULL;

	state->fits = false;
	bloomfam_filter_open(&state->filter, PG_GETARG_DATUM(filter_arg));
	if (state->literal == NULL)
		match_hasher(state, &state->filter.view);
	state->fits = true;
	if (first)
		state->constant = arg_is_constant(fcinfo, filter_arg);
}

/* Returns the hash of a key.  A constant key, which may be long, is hashed only once. */
static inline uint64
hash_key(FunctionCallInfo fcinfo, int key_arg, ProbeState *state)
{
	BloomfamHasher *hasher = state->hasher;

	if (likely(!state->key_constant))
		return hasher->hash(hasher, PG_GETARG_DATUM(key_arg));
	if (!state->key_hashed)
		state->key_hash = hasher->hash(hasher, PG_GETARG_DATUM(key_arg));
	state->key_hashed = true;
	return state->key_hash;
}

/*
 * Raises an error if the filter holds keys of another family than the hasher's.  Returns false if
 * the filter has no family, and so no keys, and true otherwise.
 */
static inline bool
check_family(const BfView *view, const BloomfamHasher *hasher)
{
	if (likely(view->head.family_id == hasher->family_id))
		return true;
	if (view->head.family_id == 0)
		return false;
	bloomfam_family_error(&view->head, hasher->family, hasher->family_len, hasher->family_id);
}

/*
 * Probes a TOASTed filter of which only slices are read.  Returns whether it may contain the key.
 */
static pg_noinline bool
slice_may_contain(FunctionCallInfo fcinfo, int key_arg, ProbeState *state)
{
	BloomfamSlice *slice = &state->filter.slice;
	uint64		hash;
	bool		result;

	state->fits = false;
	match_hasher(state, &slice->view);
	hash = hash_key(fcinfo, key_arg, state);
	result = check_family(&slice->view, state->hasher) && bloomfam_slice_probe(slice, hash);
	bloomfam_slice_close(slice);
	return result;
}

static pg_attribute_always_inline Datum
may_contain(FunctionCallInfo fcinfo, int filter_arg, int key_arg)
{
	ProbeState *state;
	Datum		filter;
	uint64		hash;

	if (PG_ARGISNULL(key_arg))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(filter_arg))
		PG_RETURN_BOOL(true);

	state = get_state(fcinfo, key_arg, false);
	filter = PG_GETARG_DATUM(filter_arg);
	if (!state->constant && !is_open(state, filter))
	{
		if (bloomfam_slice_open(&state->filter, filter))
			PG_RETURN_BOOL(slice_may_contain(fcinfo, key_arg, state));
		open_filter(fcinfo, filter_arg, state);
	}
	hash = hash_key(fcinfo, key_arg, state);
	PG_RETURN_BOOL(check_family(&state->filter.view, state->hasher) &&
				   state->filter.probe(&state->filter.view, hash));
}

/*
 * bloom_may_contain(bloomfilter, anyelement) -> boolean, also @~: not strict, immutable.
 *
 * False is certain; true is wrong with the filter's false positive rate.  Raises 42804 if the
 * filter holds keys of another type.
 */
Datum
bloomfam_may_contain(PG_FUNCTION_ARGS)
{
	return may_contain(fcinfo, 0, 1);
}

/*
 * bloom_may_be_in(anyelement, bloomfilter) -> boolean, only as ~@: bloom_may_contain() with its
 * arguments the other way round.
 */
Datum
bloomfam_may_be_in(PG_FUNCTION_ARGS)
{
	return may_contain(fcinfo, 1, 0);
}

/* Returns whether the filter may contain any of the keys that an untyped literal can be read as. */
static bool
any_may_be_in(const BfView *view, BfProbe probe, const BloomfamReadings *readings)
{
	int			i;

	for (i = 0; i < readings->n; i++)
		if (probe(view, readings->hashes[i]))
			return true;
	return false;
}

static bool
literal_may_be_in(ProbeState *state, const BfView *view, BfProbe probe, Datum key)
{
	return view->head.family_id != 0 &&
		   any_may_be_in(view, probe, bloomfam_literal_read(state->literal, key, &view->head));
}

static bool
slice_may_contain_literal(ProbeState *state, Datum key)
{
	BloomfamSlice *slice = &state->filter.slice;
	bool		result = false;

	state->fits = false;
	if (slice->view.head.family_id != 0)
	{
		const BloomfamReadings *readings =
			bloomfam_literal_read(state->literal, key, &slice->view.head);
		int			i;

		for (i = 0; i < readings->n && !result; i++)
			result = bloomfam_slice_probe(slice, readings->hashes[i]);
	}
	bloomfam_slice_close(slice);
	return result;
}

static Datum
may_contain_literal(FunctionCallInfo fcinfo, int filter_arg, int key_arg)
{
	ProbeState *state;
	Datum		filter;

	if (PG_ARGISNULL(key_arg))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(filter_arg))
		PG_RETURN_BOOL(true);

	state = get_literal_state(fcinfo, key_arg);
	filter = PG_GETARG_DATUM(filter_arg);
	if (!state->constant && !is_open(state, filter))
	{
		if (bloomfam_slice_open(&state->filter, filter))
			PG_RETURN_BOOL(slice_may_contain_literal(state, PG_GETARG_DATUM(key_arg)));
		open_filter(fcinfo, filter_arg, state);
	}
	PG_RETURN_BOOL(literal_may_be_in(state, &state->filter.view, state->filter.probe,
									 PG_GETARG_DATUM(key_arg)));
}

/*
 * bloom_may_contain(bloomfilter, bloomliteral) -> boolean, also @~; bloom_may_be_in(bloomliteral,
 * bloomfilter), as ~@: not strict, immutable.
 *
 * Probe for a key without a type.  Raise the errors of bloomfam_literal_read().
 */
Datum
bloomfam_may_contain_literal(PG_FUNCTION_ARGS)
{
	return may_contain_literal(fcinfo, 0, 1);
}

Datum
bloomfam_may_be_in_literal(PG_FUNCTION_ARGS)
{
	return may_contain_literal(fcinfo, 1, 0);
}

/* Opens the filter of argument 0.  Raises an error if its kind cannot count. */
static const BfView *
open_to_count(FunctionCallInfo fcinfo, ProbeState *state)
{
	const BfView *view = &state->filter.view;

	if (!state->constant && !is_open(state, PG_GETARG_DATUM(0)))
		open_filter(fcinfo, 0, state);
	if (view->head.kind->count == NULL)
		bloomfam_unsupported_error(view->head.kind, "count keys in", BF_CAN_COUNT);
	return view;
}

/* Returns a count as an SQL value: the largest number stands for a count that is not known. */
static Datum
count_result(FunctionCallInfo fcinfo, uint64 count)
{
	if (count == PG_UINT64_MAX)
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) count);
}

/*
 * bloom_count(bloomfilter, "any") -> bigint: not strict, immutable.
 *
 * Returns an upper bound of how often the key was added and not removed; the true number is never
 * larger.  Returns NULL if that is not known any more, because the key's counters are at their
 * highest, and for a NULL key or filter.  Raises 0A000 for kinds that do not count, and 42804 for a
 * key of another type.
 */
Datum
bloomfam_count(PG_FUNCTION_ARGS)
{
	ProbeState *state;
	const BfView *view;
	uint64		hash;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	state = get_state(fcinfo, 1, false);
	view = open_to_count(fcinfo, state);
	hash = hash_key(fcinfo, 1, state);
	if (!check_family(view, state->hasher))
		PG_RETURN_INT64(0);
	return count_result(fcinfo, view->head.kind->count(view, hash));
}

/*
 * bloom_count(bloomfilter, bloomliteral) -> bigint: not strict, immutable.
 *
 * Returns the largest count of the key's readings, which is an upper bound for each.
 */
Datum
bloomfam_count_literal(PG_FUNCTION_ARGS)
{
	ProbeState *state;
	const BfView *view;
	const BloomfamReadings *readings;
	uint64		most = 0;
	int			i;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	state = get_literal_state(fcinfo, 1);
	view = open_to_count(fcinfo, state);
	if (view->head.family_id == 0)
		PG_RETURN_INT64(0);
	readings = bloomfam_literal_read(state->literal, PG_GETARG_DATUM(1), &view->head);
	for (i = 0; i < readings->n; i++)
		most = Max(most, view->head.kind->count(view, readings->hashes[i]));
	return count_result(fcinfo, most);
}

/* An array of keys, and for each key that is not NULL, whether the filter may contain it. */
typedef struct KeyArray
{
	Oid			type;
	int16		typlen;
	bool		typbyval;
	char		typalign;
	int			n;
	Datum	   *keys;
	bool	   *nulls;
	bool	   *answers;
} KeyArray;

/* The number of keys that are probed between two checks for interrupts. */
#define PROBE_BATCH		65536

/* Probes the array that is argument 1: an array of the keys' type, or an array literal. */
typedef void (*ProbeArray) (FunctionCallInfo fcinfo, KeyArray *array);

static void
probe_array(FunctionCallInfo fcinfo, KeyArray *array)
{
	ArrayType  *value = PG_GETARG_ARRAYTYPE_P(1);
	ProbeState *state;
	uint64	   *hashes;
	bool	   *found;
	int			nhashes = 0;
	int			i;

	array->type = ARR_ELEMTYPE(value);
	get_typlenbyvalalign(array->type, &array->typlen, &array->typbyval, &array->typalign);
	deconstruct_array(value, array->type, array->typlen, array->typbyval, array->typalign,
					  &array->keys, &array->nulls, &array->n);
	array->answers = palloc(Max(array->n, 1) * sizeof(bool));

	memset(array->answers, true, array->n);
	if (PG_ARGISNULL(0))
		return;

	state = get_state(fcinfo, 1, true);
	if (bloomfam_hashers_see_array(&state->hashers, value))
	{
		state->fits = false;
		state->hasher = NULL;
	}
	if (state->hasher == NULL)
		state->hasher = bloomfam_hasher_for(&state->hashers, BF_HASH_XXH3);
	if (!is_open(state, PG_GETARG_DATUM(0)))
		open_filter(fcinfo, 0, state);
	hashes = palloc(Max(array->n, 1) * sizeof(uint64));
	found = palloc(Max(array->n, 1) * sizeof(bool));
	for (i = 0; i < array->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (array->nulls[i])
			continue;
		hashes[nhashes] = state->hasher->hash(state->hasher, array->keys[i]);
		array->answers[i] = check_family(&state->filter.view, state->hasher);
		nhashes++;
	}
	for (i = 0; i < nhashes; i += PROBE_BATCH)
	{
		CHECK_FOR_INTERRUPTS();
		state->filter.view.head.kind->probe_many(&state->filter.view, hashes + i,
												 Min(PROBE_BATCH, nhashes - i), found + i);
	}
	for (nhashes = i = 0; i < array->n; i++)
		if (!array->nulls[i])
			array->answers[i] &= found[nhashes++];
	pfree(hashes);
	pfree(found);
}

static void
probe_array_literal(FunctionCallInfo fcinfo, KeyArray *array)
{
	ProbeState *state = get_literal_state(fcinfo, 1);
	const BfView *view = NULL;
	const BloomfamLiterals *literals;
	int			i;

	if (!PG_ARGISNULL(0))
	{
		if (!is_open(state, PG_GETARG_DATUM(0)))
			open_filter(fcinfo, 0, state);
		view = &state->filter.view;
	}
	literals = bloomfam_literal_read_array(state->literal, PG_GETARG_DATUM(1),
										   view != NULL ? &view->head : NULL);
	array->type = TEXTOID;
	array->typlen = -1;
	array->typbyval = false;
	array->typalign = TYPALIGN_INT;
	array->n = literals->n;
	array->keys = literals->keys;
	array->nulls = literals->nulls;
	array->answers = palloc(Max(array->n, 1) * sizeof(bool));
	for (i = 0; i < array->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!array->nulls[i])
			array->answers[i] =
				view == NULL || (view->head.family_id != 0 &&
								 any_may_be_in(view, state->filter.probe, &literals->readings[i]));
	}
}

/*
 * Returns the OR of the answers for an array of keys if decisive is true, and their AND if it is
 * false.
 */
static Datum
may_contain_quantified(FunctionCallInfo fcinfo, ProbeArray probe, bool decisive)
{
	KeyArray	array;
	bool		unknown = false;
	int			i;

	if (PG_ARGISNULL(1))
		PG_RETURN_NULL();
	probe(fcinfo, &array);
	for (i = 0; i < array.n; i++)
	{
		if (array.nulls[i])
			unknown = true;
		else if (array.answers[i] == decisive)
			PG_RETURN_BOOL(decisive);
	}
	if (unknown)
		PG_RETURN_NULL();
	PG_RETURN_BOOL(!decisive);
}

/*
 * bloom_may_contain_any(bloomfilter, anyarray) -> boolean: not strict, immutable.
 *
 * Returns false, which is certain, if the filter contains none of the keys.
 */
Datum
bloomfam_may_contain_any(PG_FUNCTION_ARGS)
{
	return may_contain_quantified(fcinfo, probe_array, true);
}

/*
 * bloom_may_contain_all(bloomfilter, anyarray) -> boolean: not strict, immutable.
 *
 * Returns false, which is certain, if some key is not in the filter.
 */
Datum
bloomfam_may_contain_all(PG_FUNCTION_ARGS)
{
	return may_contain_quantified(fcinfo, probe_array, false);
}

/*
 * bloom_may_contain_any() and bloom_may_contain_all() for an array literal, whose keys have no
 * type.
 */
Datum
bloomfam_may_contain_any_literal(PG_FUNCTION_ARGS)
{
	return may_contain_quantified(fcinfo, probe_array_literal, true);
}

Datum
bloomfam_may_contain_all_literal(PG_FUNCTION_ARGS)
{
	return may_contain_quantified(fcinfo, probe_array_literal, false);
}

static Datum
filter_keys(FunctionCallInfo fcinfo, ProbeArray probe)
{
	KeyArray	array;
	Datum	   *kept;
	int			nkept = 0;
	int			i;

	if (PG_ARGISNULL(1))
		PG_RETURN_NULL();
	probe(fcinfo, &array);
	kept = palloc(Max(array.n, 1) * sizeof(Datum));
	for (i = 0; i < array.n; i++)
		if (!array.nulls[i] && array.answers[i])
			kept[nkept++] = array.keys[i];
	PG_RETURN_ARRAYTYPE_P(
		construct_array(kept, nkept, array.type, array.typlen, array.typbyval, array.typalign));
}

/*
 * bloom_filter_keys(bloomfilter, anyarray) -> anyarray: not strict, immutable.
 *
 * Returns the keys that the filter may contain, in their order, in an array of one dimension.  A
 * NULL is not known to be in the filter, and is left out.
 */
Datum
bloomfam_filter_keys(PG_FUNCTION_ARGS)
{
	return filter_keys(fcinfo, probe_array);
}

/*
 * bloom_filter_keys(bloomfilter, bloomliteral) -> text[]: not strict, immutable.
 *
 * Returns the keys of an array literal that the filter may contain, as they are written there.
 */
Datum
bloomfam_filter_keys_literal(PG_FUNCTION_ARGS)
{
	return filter_keys(fcinfo, probe_array_literal);
}

/*
 * A function that returns whether one of the filters of bloom_which() may contain the key, which is
 * argument 1.
 */
typedef bool (*AskFilter) (FunctionCallInfo fcinfo, ProbeState *state, const BfView *view);

static bool
probe_filter(FunctionCallInfo fcinfo, ProbeState *state, const BfView *view)
{
	match_hasher(state, view);
	if (!state->key_hashed)
		state->key_hash = state->hasher->hash(state->hasher, PG_GETARG_DATUM(1));
	state->key_hashed = true;
	return check_family(view, state->hasher) &&
		   view->head.kind->prober(view)(view, state->key_hash);
}

static bool
probe_filter_literal(FunctionCallInfo fcinfo, ProbeState *state, const BfView *view)
{
	return literal_may_be_in(state, view, view->head.kind->prober(view), PG_GETARG_DATUM(1));
}

static Datum
which(FunctionCallInfo fcinfo, ProbeState *state, AskFilter ask)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	Datum	   *filters;
	bool	   *nulls;
	Datum	   *positions;
	int			n;
	int			found = 0;
	int			i;

	deconstruct_array(array, ARR_ELEMTYPE(array), -1, false, TYPALIGN_DOUBLE, &filters, &nulls, &n);
	positions = palloc(Max(n, 1) * sizeof(Datum));
	state->key_hashed = false;
	for (i = 0; i < n; i++)
	{
		BfView		view;

		CHECK_FOR_INTERRUPTS();
		if (!nulls[i])
		{
			bloomfam_view_open(filters[i], &view);
			if (!ask(fcinfo, state, &view))
				continue;
		}
		positions[found++] = Int32GetDatum(i + 1);
	}
	state->key_hashed = false;
	PG_RETURN_ARRAYTYPE_P(
		construct_array(positions, found, INT4OID, sizeof(int32), true, TYPALIGN_INT));
}

/*
 * bloom_which(bloomfilter[], "any") -> integer[]: not strict, immutable.
 *
 * Returns the positions, from 1 on, of the filters that may contain the key, including NULL
 * filters.  The key is hashed once.  Returns NULL for a NULL array or key.  Raises 42804 if a
 * filter holds keys of another type.
 */
Datum
bloomfam_which(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	return which(fcinfo, get_state(fcinfo, 1, false), probe_filter);
}

/*
 * bloom_which(bloomfilter[], bloomliteral) -> integer[]: not strict, immutable.
 *
 * Probes for a key without a type.  Each filter reads it as its own family would.
 */
Datum
bloomfam_which_literal(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	return which(fcinfo, get_literal_state(fcinfo, 1), probe_filter_literal);
}
