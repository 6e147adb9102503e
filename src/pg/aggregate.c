/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * aggregate.c
 *	  The aggregates bloom_agg, bloom_union_agg and bloom_intersect_agg.
 *
 * bloom_agg has two sorts of states, each a builder (builder.c):
 *
 *	- bloom_agg("any") has a state of type internal, with functions that serialize, deserialize and
 *	  combine it.  PostgreSQL's parallel plans need no more.
 *	- bloom_agg(bloomkey) has a state of type bloomfilter, with a function that combines.  Engines
 *	  that split aggregates over nodes (Citus) push down only aggregates whose state is a real type,
 *	  which is sent as text or binary.  They call the functions without an expression that tells
 *	  types, so arguments must have concrete types.  Within a process the state is an expanded
 *	  object, so that a row does not copy it.
 *
 * The aggregates over filters have a state of the latter sort, a combiner (combiner.c).
 *
 * Anybody can call functions with a state of type bloomfilter, in an aggregate of his own, with any
 * value.  A state made by functions of another protocol is an error.  A plain value is taken for a
 * state that was sent, and checked as such.
 *
 * What belongs to a state is in the aggregate's memory context, and does not point to what a call
 * site keeps in fn_extra.  A caller may make each call through a new FmgrInfo, whose fn_mcxt does
 * not outlive the row (Citus does).
 *
 * The bytes of the result do not depend on how the rows were divided among workers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "keys/family.h"
#include "keys/key_hash.h"
#include "pg/aggregate.h"
#include "pg/bloomkey.h"
#include "pg/builder.h"
#include "pg/combiner.h"
#include "pg/datum.h"
#include "pg/hasher.h"
#include "pg/literal.h"
#include "pg/params.h"

PG_FUNCTION_INFO_V1(bloomfam_agg_trans);
PG_FUNCTION_INFO_V1(bloomfam_agg_text_trans);
PG_FUNCTION_INFO_V1(bloomfam_agg_combine);
PG_FUNCTION_INFO_V1(bloomfam_agg_serial);
PG_FUNCTION_INFO_V1(bloomfam_agg_deserial);
PG_FUNCTION_INFO_V1(bloomfam_agg_final);
PG_FUNCTION_INFO_V1(bloomfam_agg_key_trans);
PG_FUNCTION_INFO_V1(bloomfam_agg_key_text_trans);
PG_FUNCTION_INFO_V1(bloomfam_agg_key_combine);
PG_FUNCTION_INFO_V1(bloomfam_agg_key_final);
PG_FUNCTION_INFO_V1(bloomfam_union_trans);
PG_FUNCTION_INFO_V1(bloomfam_union_combine);
PG_FUNCTION_INFO_V1(bloomfam_union_final);
PG_FUNCTION_INFO_V1(bloomfam_intersect_trans);
PG_FUNCTION_INFO_V1(bloomfam_intersect_final);

/*
 * The least memory in bytes that an aggregate may use for its hash tables, whatever work_mem says.
 * With less, too many small sorted runs would be written to its file.
 */
#define MIN_BUDGET		((Size) 1024 * 1024)

/*
 * What the states of one aggregate in one memory context share; it is in that context, too.  A node
 * has such a context for each grouping set that is computed at a time, and resets it between
 * groups.
 */
typedef struct AggShared
{
	/*
	 * The states' budget.  It must come first: the file's buffer is allocated in this chunk's
	 * context.
	 */
	BloomfamBudget budget;
	MemoryContext context;		/* The memory context that the states are in. */
	Aggref	   *aggref;			/* The Aggref of the states; NULL if it is not known. */
	MemoryContextCallback forget;
	struct AggShared *next;
} AggShared;

/* The list of all AggShared, with the one that was used last first. */
static AggShared *all_shared = NULL;

/* What a call site of bloom_agg_trans keeps in fn_extra. */
typedef struct AggSite
{
	/*
	 * The hasher for the rows of the state that was given last; if args_constant is set, for all
	 * states.
	 */
	BloomfamHasher *hasher;
	BloomfamHashers hashers;	/* The hashers of the keys; valid if hasher is not NULL. */

	/*
	 * The hasher's family, if keys are int4 or int8 and a row needs no further checks; otherwise 0.
	 */
	uint64		int_family;
	bool		key_is_int4;
	bool		args_constant;	/* True if fpr, kind and expected are the same for every row. */
} AggSite;

static MemoryContext
agg_context(FunctionCallInfo fcinfo, int *how)
{
	MemoryContext context;

	*how = AggCheckCallContext(fcinfo, &context);
	if (*how == 0)
		elog(ERROR, "aggregate function called in non-aggregate context");
	return context;
}

/* ---- what the states of an aggregate share ---- */

/* Closes the file of the states, which are about to be freed. */
static void
close_file(Datum arg)
{
	AggShared  *shared = (AggShared *) DatumGetPointer(arg);

	if (shared->budget.file != NULL)
		BufFileClose(shared->budget.file);
	shared->budget.file = NULL;
}

/*
 * Removes an AggShared from the list when the context of the states is reset.  If an error resets
 * it, the file has been closed already.
 */
static void
forget_shared(void *arg)
{
	AggShared **link = &all_shared;

	while (*link != arg)
		link = &(*link)->next;
	*link = (*link)->next;
}

/* Returns what the states of this call's aggregate share; makes it if there is none. */
static AggShared *
get_shared(FunctionCallInfo fcinfo, MemoryContext context)
{
	Aggref	   *aggref = AggGetAggref(fcinfo);
	AggShared **link = &all_shared;
	AggShared  *shared;

	while ((shared = *link) != NULL && (shared->context != context || shared->aggref != aggref))
		link = &shared->next;
	if (shared != NULL)
		*link = shared->next;
	else
	{
		shared = MemoryContextAllocZero(context, sizeof(AggShared));
		shared->context = context;
		shared->aggref = aggref;
		shared->budget.may_spill = true;
		shared->budget.limit = Max(MIN_BUDGET, (Size) (work_mem * hash_mem_multiplier * 1024.0));
		AggRegisterCallback(fcinfo, close_file, PointerGetDatum(shared));
		shared->forget.func = forget_shared;
		shared->forget.arg = shared;
		MemoryContextRegisterResetCallback(context, &shared->forget);
	}
	shared->next = all_shared;
	all_shared = shared;
	return shared;
}

/* Makes the state of a new group. */
static Builder *
make_builder(FunctionCallInfo fcinfo)
{
	int			how;
	MemoryContext context = agg_context(fcinfo, &how);
	Builder    *builder;

	/*
	 * A window function's states stay in memory, as there is no moment at which their file could be
	 * closed.
	 */
	if (how != AGG_CONTEXT_AGGREGATE)
		return bloomfam_builder_make(context, NULL);

	builder = bloomfam_builder_make(context, &get_shared(fcinfo, context)->budget);
	if (fcinfo->context != NULL && IsA(fcinfo->context, AggState))
		builder->is_partial = DO_AGGSPLIT_SKIPFINAL(((AggState *) fcinfo->context)->aggsplit);
	return builder;
}

/* ---- the arguments: what filter is asked for ---- */

/* The arguments of a transition function after state and key. */
typedef enum AggForm
{
	/* The arguments fpr, kind and expected: [float8 [, text [, bigint]]]. */
	AGG_FORM_FULL,
	AGG_FORM_TEXT				/* A text that is a kind or, if it reads as a number, fpr. */
} AggForm;

/* The filter that the arguments ask for.  A NULL argument is the same as one that is left out. */
typedef struct AggArgs
{
	double		fpr;
	const BfKind *kind;
	uint64		expected;
} AggArgs;

/*
 * Reads the arguments of a call.  Leaves no memory allocated, as it is called for each row if
 * nothing is known of the call.
 */
static AggArgs
get_args(FunctionCallInfo fcinfo, AggForm form)
{
	AggArgs		args = {.fpr = BLOOMFAM_DEFAULT_FPR, .kind = NULL, .expected = 0};

	if (form == AGG_FORM_TEXT)
	{
		if (!PG_ARGISNULL(2))
			bloomfam_kind_or_fpr_arg(PG_GETARG_TEXT_PP(2),
									 "A key of several columns is a row: bloom_agg((a, b)).",
									 &args.kind, &args.fpr);
	}
	else
	{
		if (PG_NARGS() > 2 && !PG_ARGISNULL(2))
			args.fpr = PG_GETARG_FLOAT8(2);
		if (PG_NARGS() > 3 && !PG_ARGISNULL(3))
			args.kind = bloomfam_kind_arg(PG_GETARG_TEXT_PP(3));
		if (PG_NARGS() > 4 && !PG_ARGISNULL(4))
			args.expected = bloomfam_expected_arg(PG_GETARG_INT64(4));
	}
	if (args.kind == NULL)
		args.kind = bf_kind_by_name(BLOOMFAM_DEFAULT_KIND);
	return args;
}

/* What is known of how the executor calls a transition function. */
typedef struct AggCall
{
	/* True if fpr, kind and expected each have one value for the whole query. */
	bool		args_constant;

	/* True if the aggregate has a final function, which gets the states. */
	bool		finishes;
} AggCall;

/*
 * Returns whether an argument has one value as long as a query runs: a constant or an external
 * parameter.
 */
static bool
is_constant(const Expr *expr)
{
	while (IsA(expr, RelabelType))
		expr = ((const RelabelType *) expr)->arg;
	return IsA(expr, Const) ||
		   (IsA(expr, Param) && ((const Param *) expr)->paramkind == PARAM_EXTERN);
}

/*
 * Finds out about a call.  Something is known only if the function is that of the aggregate that
 * the executor is computing; others (Citus) call it for an aggregate of their own.
 */
static AggCall
examine_call(FunctionCallInfo fcinfo)
{
	AggCall		call = {.args_constant = false, .finishes = false};
	Aggref	   *aggref = AggGetAggref(fcinfo);
	HeapTuple	tuple;
	Form_pg_aggregate form;
	ListCell   *lc;

	if (aggref == NULL)
		return call;
	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));
	if (!HeapTupleIsValid(tuple))
		return call;
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	if (form->aggtransfn == fcinfo->flinfo->fn_oid &&
		list_length(aggref->args) == PG_NARGS() - 1)
	{
		call.finishes = OidIsValid(form->aggfinalfn);
		call.args_constant = true;
		foreach(lc, aggref->args)
		{
			TargetEntry *entry = lfirst_node(TargetEntry, lc);

			if (foreach_current_index(lc) > 0 && !is_constant(entry->expr))
				call.args_constant = false;
		}
	}
	ReleaseSysCache(tuple);
	return call;
}

/* Makes an empty state ask for the filter of the arguments. */
static void
ask(FunctionCallInfo fcinfo, AggForm form, Builder *builder)
{
	AggArgs		args = get_args(fcinfo, form);
	BfDesign	design;

	bloomfam_design(args.kind, args.fpr, &design);

	/* Raise the error for a filter that is too large before the first row. */
	if (args.expected != 0 && args.kind->build == NULL)
	{
		BfHeader	head;

		bloomfam_plan(&design, args.expected, &head);
	}
	bloomfam_builder_probe(builder, &design, args.expected);
}

/* Raises an error if a row's arguments ask for another filter than the rows before. */
static void
check_args(FunctionCallInfo fcinfo, AggForm form, const Builder *builder)
{
	AggArgs		args = get_args(fcinfo, form);

	if (args.fpr != builder->design.fpr || args.kind != builder->design.kind ||
		args.expected != builder->expected)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg(
				 "false positive rate, kind and expected number of keys must not change within a "
				 "group")));
}

/* ---- bloom_agg over keys of any type ---- */

/* Raises an error if keys are literals without a type, as no filter tells how to read them. */
static void
check_typed(Oid type)
{
	if (bloomfam_is_literal(type))
		bloomfam_literal_untyped_error();
}

/* Returns the AggSite of a call site, and makes it in the site's first call. */
static AggSite *
get_site(FunctionCallInfo fcinfo)
{
	AggSite    *site = fcinfo->flinfo->fn_extra;

	if (site == NULL)
	{
		site = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(AggSite));
		site->args_constant = PG_NARGS() <= 2 || examine_call(fcinfo).args_constant;
		fcinfo->flinfo->fn_extra = site;
	}
	return site;
}

/*
 * Prepares the state for a row's key: makes a state for a group's first row, checks the arguments
 * if they may change, and finds the hasher for the state's kind.
 */
static pg_noinline Builder *
prepare_row(FunctionCallInfo fcinfo, AggForm form, Builder *builder)
{
	AggSite    *site = get_site(fcinfo);
	BfHashId	hash_id;
	Oid			type;

	if (builder == NULL)
		builder = make_builder(fcinfo);
	if (builder->content == BUILDER_NOTHING)
		ask(fcinfo, form, builder);
	else if (!site->args_constant)
		check_args(fcinfo, form, builder);

	if (site->hasher == NULL)
	{
		bloomfam_hashers_init(&site->hashers, fcinfo, 1, false);
		check_typed(site->hashers.type);
	}
	hash_id = builder->design.kind->hash_id;
	type = site->hashers.type;
	site->hasher = bloomfam_hasher_for(&site->hashers, hash_id);
	site->key_is_int4 = type == INT4OID;
	if (site->args_constant && hash_id == BF_HASH_XXH3 && (type == INT4OID || type == INT8OID))
		site->int_family = site->hasher->family_id;
	return builder;
}

/* Adds a row's key, if add_key() has no fast path for it. */
static pg_noinline Datum
add_row(FunctionCallInfo fcinfo, AggForm form, Builder *builder)
{
	AggSite    *site = fcinfo->flinfo->fn_extra;
	BloomfamHasher *hasher;
	uint64		hash;

	/* A NULL key adds nothing; a group of NULLs alone has no state, like one without rows. */
	if (PG_ARGISNULL(1))
	{
		if (builder == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(builder);
	}

	if (unlikely(builder == NULL || site == NULL || !site->args_constant))
	{
		builder = prepare_row(fcinfo, form, builder);
		site = fcinfo->flinfo->fn_extra;
	}
	hasher = site->hasher;
	hash = hasher->hash(hasher, PG_GETARG_DATUM(1));
	if (unlikely(builder->family_id != hasher->family_id))
		bloomfam_builder_set_family(builder, hasher->family_id, hasher->family, hasher->family_len);
	bloomfam_builder_add(builder, hash);
	PG_RETURN_POINTER(builder);
}

/*
 * Adds a row's key, with a fast path for integers: their hash takes some ns, about as long as the
 * calls and checks that are left out.
 */
static pg_attribute_always_inline Datum
add_key(FunctionCallInfo fcinfo, AggForm form)
{
	Builder    *builder = PG_ARGISNULL(0) ? NULL : (Builder *) PG_GETARG_POINTER(0);
	AggSite    *site = fcinfo->flinfo->fn_extra;

	if (likely(builder != NULL && site != NULL && site->int_family != 0 &&
			   builder->family_id == site->int_family && !PG_ARGISNULL(1)))
	{
		Datum		key = PG_GETARG_DATUM(1);

		bloomfam_builder_add(builder, bf_key_int(0, site->key_is_int4 ? (int64) DatumGetInt32(key)
																	  : DatumGetInt64(key)));
		PG_RETURN_POINTER(builder);
	}
	return add_row(fcinfo, form, builder);
}

/*
 * bloom_agg_trans(internal, "any" [, float8 [, text [, bigint]]]) -> internal: not strict.  Adds a
 * key to the state.
 */
Datum
bloomfam_agg_trans(PG_FUNCTION_ARGS)
{
	return add_key(fcinfo, AGG_FORM_FULL);
}

/* bloom_agg_trans(internal, "any", text) -> internal: not strict.  Adds a key to the state. */
Datum
bloomfam_agg_text_trans(PG_FUNCTION_ARGS)
{
	return add_key(fcinfo, AGG_FORM_TEXT);
}

/* bloom_agg_serial(internal) -> bytea: strict.  Flattens the state for another process. */
Datum
bloomfam_agg_serial(PG_FUNCTION_ARGS)
{
	Builder    *builder = (Builder *) PG_GETARG_POINTER(0);
	int			how;
	Size		size;
	bytea	   *result;

	agg_context(fcinfo, &how);
	size = EOH_get_flat_size(&builder->eoh);
	result = palloc(size);
	EOH_flatten_into(&builder->eoh, result, size);
	PG_RETURN_BYTEA_P(result);
}

/*
 * bloom_agg_deserial(bytea, internal) -> internal: strict.  Returns the bytes for
 * bloom_agg_combine, which reads them.
 */
Datum
bloomfam_agg_deserial(PG_FUNCTION_ARGS)
{
	int			how;

	agg_context(fcinfo, &how);
	PG_RETURN_POINTER(PG_GETARG_BYTEA_PP(0));
}

/*
 * bloom_agg_combine(internal, internal) -> internal: not strict.  The second argument is what
 * bloom_agg_deserial returned.
 */
Datum
bloomfam_agg_combine(PG_FUNCTION_ARGS)
{
	Builder    *builder = PG_ARGISNULL(0) ? NULL : (Builder *) PG_GETARG_POINTER(0);
	BfView		view;

	/*
	 * NULL stands for a state without rows; two of them make one without rows again.  A builder
	 * would not keep that no filter was asked for.
	 */
	if (PG_ARGISNULL(1))
	{
		if (builder == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(builder);
	}
	if (builder == NULL)
		builder = make_builder(fcinfo);
	bloomfam_state_open_loose(PG_GETARG_DATUM(1), &view);
	bloomfam_builder_absorb(builder, &view);
	PG_RETURN_POINTER(builder);
}

/*
 * bloom_agg_final(internal, "any" [, float8 [, text [, bigint]]]) -> bloomfilter,
 * bloom_agg_final(internal, "any", text) -> bloomfilter: not strict.  The arguments after the first
 * are there for their types.
 */
Datum
bloomfam_agg_final(PG_FUNCTION_ARGS)
{
	int			how;

	agg_context(fcinfo, &how);
	if (PG_ARGISNULL(0))
	{
		Builder    *builder = bloomfam_builder_make(CurrentMemoryContext, NULL);
		Oid			type = bloomfam_key_type(fcinfo, 1);
		BloomfamHasher *hasher;

		check_typed(type);
		hasher = bloomfam_hasher_make(CurrentMemoryContext, type, PG_GET_COLLATION(),
									  BF_HASH_XXH3);
		bloomfam_builder_set_family(builder, hasher->family_id, hasher->family, hasher->family_len);
		return bloomfam_builder_finish(builder);
	}
	return bloomfam_builder_finish((Builder *) PG_GETARG_POINTER(0));
}

/* ---- aggregates whose state is of type bloomfilter ---- */

static const char *
combiner_name(const Combiner *combiner)
{
	return combiner->verb == COMBINER_UNITE ? "bloom_union_agg" : "bloom_intersect_agg";
}

/*
 * Returns the builder behind a datum, or NULL for a plain value, which is a flattened state that
 * came from another process.  Raises an error for the state of another aggregate.
 */
static inline Builder *
datum_builder(Datum state)
{
	Builder    *builder = bloomfam_builder_from_datum(state);
	Combiner   *combiner;

	if (likely(builder != NULL))
		return builder;
	combiner = bloomfam_combiner_from_datum(state);
	if (combiner != NULL)
		bloomfam_wrong_state_error(combiner_name(combiner));
	return NULL;
}

static Combiner *
datum_combiner(Datum state, CombinerVerb verb)
{
	Combiner   *combiner = bloomfam_combiner_from_datum(state);

	if (bloomfam_builder_from_datum(state) != NULL)
		bloomfam_wrong_state_error("bloom_agg");
	if (combiner != NULL && combiner->verb != verb)
		bloomfam_wrong_state_error(combiner_name(combiner));
	return combiner;
}

/*
 * Returns whether a state may be changed in place.  A caller that has it read-only does not own it.
 */
static inline bool
is_ours_to_change(Datum state)
{
	return VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(state));
}

static void
absorb_into_builder(Builder *builder, Datum state)
{
	BfView		view;

	bloomfam_state_open_loose(state, &view);
	bloomfam_builder_absorb(builder, &view);
}

static void
absorb_into_combiner(Combiner *combiner, Datum state)
{
	BfView		view;

	bloomfam_state_open_loose(state, &view);
	bloomfam_combiner_absorb(combiner, &view);
}

/*
 * Returns the builder of argument 0, the aggregate's state, to which a row or a state is to be
 * added.
 */
static Builder *
state_builder(FunctionCallInfo fcinfo)
{
	Builder    *builder = PG_ARGISNULL(0) ? NULL : datum_builder(PG_GETARG_DATUM(0));

	if (builder == NULL || !is_ours_to_change(PG_GETARG_DATUM(0)))
	{
		builder = make_builder(fcinfo);
		if (!PG_ARGISNULL(0))
			absorb_into_builder(builder, PG_GETARG_DATUM(0));
	}
	return builder;
}

/* Returns the combiner of argument 0, to which a filter or a state is to be added. */
static Combiner *
state_combiner(FunctionCallInfo fcinfo, CombinerVerb verb)
{
	int			how;
	MemoryContext context = agg_context(fcinfo, &how);
	Combiner   *combiner = PG_ARGISNULL(0) ? NULL : datum_combiner(PG_GETARG_DATUM(0), verb);

	if (combiner == NULL || !is_ours_to_change(PG_GETARG_DATUM(0)))
	{
		combiner = bloomfam_combiner_make(context, verb);
		if (!PG_ARGISNULL(0))
			absorb_into_combiner(combiner, PG_GETARG_DATUM(0));
	}
	return combiner;
}

/* Returns the unchanged state, for a row that adds nothing. */
static Datum
unchanged_state(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

/*
 * Raises an error for a kind that cannot take hashed keys, as its keys go through another hash
 * function.
 */
static void
check_hashed(const Builder *builder)
{
	const BfKind *kind = builder->design.kind;

	if (kind->hash_id != BF_HASH_XXH3)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot add hashed keys to a bloom filter of kind \"%s\"", kind->name),
				 errdetail("The keys of this kind go through a hash function of its own."),
				 errhint("Pass the keys themselves.")));
}

/*
 * Checks that a row's arguments ask for the filter that the state is for.  A new state takes the
 * filter to build from them.
 */
static pg_noinline void
prepare_key_row(FunctionCallInfo fcinfo, AggForm form, Builder *builder)
{
	if (builder->content != BUILDER_NOTHING)
		check_args(fcinfo, form, builder);
	else
	{
		AggCall		call = examine_call(fcinfo);

		ask(fcinfo, form, builder);
		builder->args_checked = PG_NARGS() <= 2 || call.args_constant;

		/* If nothing is known of the call, the state may be sent to another process. */
		if (!call.finishes && AggGetAggref(fcinfo) != NULL)
			builder->is_partial = true;
	}
	check_hashed(builder);
}

static Datum
add_hashed_key(FunctionCallInfo fcinfo, AggForm form)
{
	Builder    *builder;
	BloomfamKey *key;

	if (PG_ARGISNULL(1))
		return unchanged_state(fcinfo);
	builder = state_builder(fcinfo);
	if (unlikely(!builder->args_checked))
		prepare_key_row(fcinfo, form, builder);

	key = DatumGetBloomkeyP(PG_GETARG_DATUM(1));
	if (unlikely(builder->family_id != key->family_id))
	{
		const char *name = bf_family_name(key->family_id);

		bloomfam_builder_set_family(builder, key->family_id, name, name != NULL ? strlen(name) : 0);
	}
	bloomfam_builder_add(builder, key->hash);
	return EOHPGetRWDatum(&builder->eoh);
}

/*
 * bloom_agg_key_trans(bloomfilter, bloomkey [, float8 [, text [, bigint]]]) -> bloomfilter: not
 * strict.  Adds a hashed key to the state.
 */
Datum
bloomfam_agg_key_trans(PG_FUNCTION_ARGS)
{
	return add_hashed_key(fcinfo, AGG_FORM_FULL);
}

/*
 * bloom_agg_key_trans(bloomfilter, bloomkey, text) -> bloomfilter: not strict.  Adds a hashed key
 * to the state.
 */
Datum
bloomfam_agg_key_text_trans(PG_FUNCTION_ARGS)
{
	return add_hashed_key(fcinfo, AGG_FORM_TEXT);
}

/*
 * bloom_agg_key_combine(bloomfilter, bloomfilter) -> bloomfilter: not strict.  Adds the second
 * state to the first.
 */
Datum
bloomfam_agg_key_combine(PG_FUNCTION_ARGS)
{
	Builder    *builder;

	if (PG_ARGISNULL(1))
		return unchanged_state(fcinfo);
	builder = state_builder(fcinfo);
	absorb_into_builder(builder, PG_GETARG_DATUM(1));
	return EOHPGetRWDatum(&builder->eoh);
}

/*
 * bloom_agg_key_final(bloomfilter) -> bloomfilter: not strict.  If the state has no keys, the
 * filter's key family is not known.
 */
Datum
bloomfam_agg_key_final(PG_FUNCTION_ARGS)
{
	Builder    *builder = PG_ARGISNULL(0) ? NULL : datum_builder(PG_GETARG_DATUM(0));
	int			how;

	agg_context(fcinfo, &how);
	if (builder == NULL)
	{
		builder = bloomfam_builder_make(CurrentMemoryContext, NULL);
		if (!PG_ARGISNULL(0))
			absorb_into_builder(builder, PG_GETARG_DATUM(0));
	}
	return bloomfam_builder_finish(builder);
}

/* Combines the state with argument 1, a filter. */
static Datum
take_filter(FunctionCallInfo fcinfo, CombinerVerb verb)
{
	Combiner   *combiner = state_combiner(fcinfo, verb);
	BfView		view;

	bloomfam_view_open_loose(PG_GETARG_DATUM(1), &view);
	bloomfam_combiner_take(combiner, &view);
	return EOHPGetRWDatum(&combiner->eoh);
}

/* Returns the combiner of argument 0, for a final function. */
static Combiner *
final_combiner(FunctionCallInfo fcinfo, CombinerVerb verb)
{
	Combiner   *combiner = PG_ARGISNULL(0) ? NULL : datum_combiner(PG_GETARG_DATUM(0), verb);
	int			how;

	agg_context(fcinfo, &how);
	if (combiner == NULL)
	{
		combiner = bloomfam_combiner_make(CurrentMemoryContext, verb);
		if (!PG_ARGISNULL(0))
			absorb_into_combiner(combiner, PG_GETARG_DATUM(0));
	}
	return combiner;
}

static Datum
finish_combiner(FunctionCallInfo fcinfo, CombinerVerb verb)
{
	Datum		result;

	if (!bloomfam_combiner_finish(final_combiner(fcinfo, verb), &result))
		PG_RETURN_NULL();
	return result;
}

/*
 * bloom_union_trans(bloomfilter, bloomfilter) -> bloomfilter: not strict.
 *
 * A NULL filter may contain every key, and so may any union with it: the result is NULL then.
 */
Datum
bloomfam_union_trans(PG_FUNCTION_ARGS)
{
	Combiner   *combiner;

	if (!PG_ARGISNULL(1))
		return take_filter(fcinfo, COMBINER_UNITE);
	combiner = state_combiner(fcinfo, COMBINER_UNITE);
	bloomfam_combiner_take_null(combiner);
	return EOHPGetRWDatum(&combiner->eoh);
}

/*
 * bloom_union_combine(bloomfilter, bloomfilter) -> bloomfilter: not strict.  A NULL is the state of
 * no rows.
 */
Datum
bloomfam_union_combine(PG_FUNCTION_ARGS)
{
	Combiner   *combiner;

	if (PG_ARGISNULL(1))
		return unchanged_state(fcinfo);
	combiner = state_combiner(fcinfo, COMBINER_UNITE);
	absorb_into_combiner(combiner, PG_GETARG_DATUM(1));
	return EOHPGetRWDatum(&combiner->eoh);
}

/*
 * bloom_union_final(bloomfilter) -> bloomfilter: not strict.  Returns the union, or NULL if it may
 * contain every key.
 */
Datum
bloomfam_union_final(PG_FUNCTION_ARGS)
{
	return finish_combiner(fcinfo, COMBINER_UNITE);
}

/*
 * bloom_intersect_trans(bloomfilter, bloomfilter) -> bloomfilter: not strict.  Also combines
 * states.
 *
 * A NULL filter, which may contain every key, does not change the intersection.
 */
Datum
bloomfam_intersect_trans(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(1))
		return unchanged_state(fcinfo);
	return take_filter(fcinfo, COMBINER_INTERSECT);
}

/*
 * bloom_intersect_final(bloomfilter) -> bloomfilter: strict.  For no filters the result is NULL,
 * which may contain every key.
 */
Datum
bloomfam_intersect_final(PG_FUNCTION_ARGS)
{
	return finish_combiner(fcinfo, COMBINER_INTERSECT);
}
