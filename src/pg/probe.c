/*-------------------------------------------------------------------------
 *
 * probe.c
 *	  May a filter contain a key?
 *
 * NULLs: of a NULL key nothing is known, so the answer is NULL; a NULL filter is "no filter
 * known", which may contain every key, so the answer is true.  These functions are therefore not
 * strict.  With many keys, each is answered so, and the answers are joined by SQL's OR or AND.
 *
 * What a call needs is made on the first row and kept in fn_extra: the key's hash routine, the
 * opened filter, and the routine that probes it.  A row then costs one hash and one probe.
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
#include "pg/env.h"
#include "pg/hasher.h"
#include "pg/probe.h"

PG_FUNCTION_INFO_V1(bloomfam_may_contain);
PG_FUNCTION_INFO_V1(bloomfam_may_be_in);
PG_FUNCTION_INFO_V1(bloomfam_may_contain_any);
PG_FUNCTION_INFO_V1(bloomfam_may_contain_all);
PG_FUNCTION_INFO_V1(bloomfam_filter_keys);
PG_FUNCTION_INFO_V1(bloomfam_count);
PG_FUNCTION_INFO_V1(bloomfam_which);

typedef struct ProbeState
{
	BloomfamFilter filter;
	BloomfamHasher *hasher;		/* for the filter looked at */
	bool		constant;		/* the filter is a constant, and open */
	bool		fits;			/* hasher is for the filter that is open */
	bool		key_constant;	/* the key is a constant */
	bool		key_hashed;		/* ... and this is its hash */
	uint64		key_hash;
	BloomfamHashers hashers;
} ProbeState;

/* Is an argument a constant of the expression that the call belongs to? */
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
		return false;			/* ScalarArrayOpExpr: the argument is an element */
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
	state->hasher = bloomfam_hasher_for(&state->hashers, BF_HASH_XXH3);
	state->key_constant = !keys_are_array && arg_is_constant(fcinfo, key_arg);
	fcinfo->flinfo->fn_extra = state;
	return state;
}

static inline ProbeState *
get_state(FunctionCallInfo fcinfo, int key_arg, bool keys_are_array)
{
	ProbeState *state = fcinfo->flinfo->fn_extra;

	return likely(state != NULL) ? state : make_state(fcinfo, key_arg, keys_are_array);
}

/* Sees to it that keys are hashed as this filter wants. */
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

/* Is the filter open, and all set for a probe?  Then the view is good for this datum. */
static inline bool
is_open(ProbeState *state, Datum filter)
{
	return likely(state->fits) && bloomfam_filter_is_open(&state->filter, filter);
}

/*
 * Opens the filter; a constant, whose value lies in the expression and stays there, for the last
 * time.
 */
static pg_noinline void
open_filter(FunctionCallInfo fcinfo, int filter_arg, ProbeState *state)
{
	bool		first = state->filter.view.payload == NULL;

	state->fits = false;
	bloomfam_filter_open(&state->filter, PG_GETARG_DATUM(filter_arg));
	match_hasher(state, &state->filter.view);
	state->fits = true;
	if (first)
		state->constant = arg_is_constant(fcinfo, filter_arg);
}

/* The hash of a key; of a constant, which may be long, once. */
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
 * Raises an error unless the filter holds keys of the hasher's family, or none yet, which is then
 * the answer: returns whether it may hold any.
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

/* The same for a filter that is not fetched. */
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
 * bloom_may_contain(bloomfilter, "any") -> boolean, also @~: not strict, immutable.
 *
 * False is certain; true is wrong with the filter's FPR.  42804 if the filter holds keys of
 * another type.
 */
Datum
bloomfam_may_contain(PG_FUNCTION_ARGS)
{
	return may_contain(fcinfo, 0, 1);
}

/*
 * bloom_may_be_in("any", bloomfilter) -> boolean, only as ~@: the same the other way round.
 */
Datum
bloomfam_may_be_in(PG_FUNCTION_ARGS)
{
	return may_contain(fcinfo, 1, 0);
}

/*
 * bloom_count(bloomfilter, "any") -> bigint: not strict, immutable.
 *
 * How often the key was added, and not removed, or more: an upper bound, never less.  NULL where
 * that is not known any more, because the key's counters are at their highest; and for a NULL key
 * or filter.  0A000 for kinds that do not count, 42804 for a key of another type.
 */
Datum
bloomfam_count(PG_FUNCTION_ARGS)
{
	ProbeState *state;
	const BfView *view;
	uint64		hash;
	uint64		count;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	state = get_state(fcinfo, 1, false);
	if (!state->constant && !is_open(state, PG_GETARG_DATUM(0)))
		open_filter(fcinfo, 0, state);
	view = &state->filter.view;
	if (view->head.kind->count == NULL)
		bloomfam_unsupported_error(view->head.kind, "count keys in", BF_CAN_COUNT);
	hash = hash_key(fcinfo, 1, state);
	if (!check_family(view, state->hasher))
		PG_RETURN_INT64(0);
	count = view->head.kind->count(view, hash);
	if (count == PG_UINT64_MAX)
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) count);
}

/* An array of keys, and the answer to each that is not NULL. */
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

/* Probes the array that is argument 1. */
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
	if (!is_open(state, PG_GETARG_DATUM(0)))
		open_filter(fcinfo, 0, state);
	hashes = palloc(Max(array->n, 1) * sizeof(uint64));
	found = palloc(Max(array->n, 1) * sizeof(bool));
	for (i = 0; i < array->n; i++)
	{
		if (array->nulls[i])
			continue;
		hashes[nhashes] = state->hasher->hash(state->hasher, array->keys[i]);
		array->answers[i] = check_family(&state->filter.view, state->hasher);
		nhashes++;
	}
	state->filter.view.head.kind->probe_many(&state->filter.view, hashes, nhashes, found);
	for (nhashes = i = 0; i < array->n; i++)
		if (!array->nulls[i])
			array->answers[i] &= found[nhashes++];
	pfree(hashes);
	pfree(found);
}

/* The OR (if true decides) or the AND (if false does) of the answers for an array of keys. */
static Datum
may_contain_quantified(FunctionCallInfo fcinfo, bool decisive)
{
	KeyArray	array;
	bool		unknown = false;
	int			i;

	if (PG_ARGISNULL(1))
		PG_RETURN_NULL();
	probe_array(fcinfo, &array);
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
 * False, which is certain, if the filter contains none of the keys.
 */
Datum
bloomfam_may_contain_any(PG_FUNCTION_ARGS)
{
	return may_contain_quantified(fcinfo, true);
}

/*
 * bloom_may_contain_all(bloomfilter, anyarray) -> boolean: not strict, immutable.
 *
 * False, which is certain, if some key is not in the filter.
 */
Datum
bloomfam_may_contain_all(PG_FUNCTION_ARGS)
{
	return may_contain_quantified(fcinfo, false);
}

/*
 * bloom_filter_keys(bloomfilter, anyarray) -> anyarray: not strict, immutable.
 *
 * Those keys that the filter may contain, in their order, in an array of one dimension.  A NULL
 * is not known to be in the filter and is left out.
 */
Datum
bloomfam_filter_keys(PG_FUNCTION_ARGS)
{
	KeyArray	array;
	int			nkept = 0;
	int			i;

	if (PG_ARGISNULL(1))
		PG_RETURN_NULL();
	probe_array(fcinfo, &array);
	for (i = 0; i < array.n; i++)
		if (!array.nulls[i] && array.answers[i])
			array.keys[nkept++] = array.keys[i];
	PG_RETURN_ARRAYTYPE_P(construct_array(array.keys, nkept, array.type, array.typlen,
										  array.typbyval, array.typalign));
}

/*
 * bloom_which(bloomfilter[], "any") -> integer[]: not strict, immutable.
 *
 * The positions, from 1 on, of those filters that may contain the key; that of a NULL filter is
 * among them.  The key is hashed once.  NULL for a NULL array or key.  42804 if a filter holds
 * keys of another type.
 */
Datum
bloomfam_which(PG_FUNCTION_ARGS)
{
	ProbeState *state;
	ArrayType  *array;
	Datum	   *filters;
	bool	   *nulls;
	Datum	   *positions;
	int			n;
	int			found = 0;
	int			i;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	state = get_state(fcinfo, 1, false);
	array = PG_GETARG_ARRAYTYPE_P(0);
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
			match_hasher(state, &view);
			if (!state->key_hashed)
				state->key_hash = state->hasher->hash(state->hasher, PG_GETARG_DATUM(1));
			state->key_hashed = true;
			if (!check_family(&view, state->hasher) ||
				!view.head.kind->prober(&view)(&view, state->key_hash))
				continue;
		}
		positions[found++] = Int32GetDatum(i + 1);
	}
	state->key_hashed = false;
	PG_RETURN_ARRAYTYPE_P(
		construct_array(positions, found, INT4OID, sizeof(int32), true, TYPALIGN_INT));
}
