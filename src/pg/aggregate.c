/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * aggregate.c
 *	  bloom_agg, bloom_union_agg, bloom_intersect_agg.
 *
 * Two states of bloom_agg, a builder each (builder.c):
 *
 *	- bloom_agg("any") has one of type internal, with functions that serialise, deserialise and
 *	  combine it: PostgreSQL's parallel plans need no more.
 *	- bloom_agg(bloomkey) has one of type bloomfilter, with a function that combines: engines that
 *	  split aggregates over nodes (Citus) push down those only whose state is a real type, which
 *	  travels as text or binary, and whose arguments have concrete types, because they call the
 *	  functions without the expression that would tell.  Within a process the state is an expanded
 *	  object, so that a row does not copy it.
 *
 * The aggregates over filters have a state of the latter sort, a combiner (combiner.c).
 *
 * Functions with a state of type bloomfilter can be called by anybody, in an aggregate of his
 * own, with any value: a state that another protocol's functions made is an error, and a plain
 * value is a state that was sent, checked as such.
 *
 * What belongs to a state lives in the aggregate's memory context, and nothing there points to
 * what a call site keeps in fn_extra: a caller may make each call through a new FmgrInfo, whose
 * fn_mcxt does not outlive the row (Citus does).
 *
 * The result's bytes do not depend on how the rows were divided among workers.
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
 * The least that an aggregate may use, whatever work_mem says: smaller tables would make too many
 * runs.
 */
#define MIN_BUDGET		((Size) 1024 * 1024)

/*
 * What the states of one aggregate share that live in one memory context, and live there, too: a
 * node has such a context for each grouping set that is computed at a time, and resets it between
 * groups.
 */
typedef struct AggShared
{
	BloomfamBudget budget;		/* first: its chunk's context is where the file's buffer goes */
	MemoryContext context;		/* whose states it is for */
	Aggref	   *aggref;			/* and which aggregate's; NULL: not known */
	MemoryContextCallback forget;
	struct AggShared *next;
} AggShared;

/* All of them, the one that was used last first. */
static AggShared *all_shared = NULL;

/* What a call site of bloom_agg_trans keeps.  Lives in fn_extra. */
typedef struct AggSite
{
	BloomfamHasher *hasher;		/* for the rows of the state that was given last, and of all
								 * states if args_constant */
	BloomfamHashers hashers;	/* once there is a hasher */
	uint64		int_family;		/* of that hasher, if keys are int4 or int8 and nothing else is to
								 * be looked at; else 0 */
	bool		key_is_int4;
	bool		args_constant;	/* fpr, kind and expected are the same for every row */
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

/* ---- what states share ---- */

/* The states are about to go: so does their file. */
static void
close_file(Datum arg)
{
	AggShared  *shared = (AggShared *) DatumGetPointer(arg);

	if (shared->budget.file != NULL)
		BufFileClose(shared->budget.file);
	shared->budget.file = NULL;
}

/*
 * The context of the states is reset, be it by an error, where their file has been closed
 * already.
 */
static void
forget_shared(void *arg)
{
	AggShared **link = &all_shared;

	while (*link != arg)
		link = &(*link)->next;
	*link = (*link)->next;
}

/* Finds what the states of this call's aggregate share, or makes it. */
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

	/* a window has no moment at which a file could be closed: its states stay in memory */
	if (how != AGG_CONTEXT_AGGREGATE)
		return bloomfam_builder_make(context, NULL);

	builder = bloomfam_builder_make(context, &get_shared(fcinfo, context)->budget);
	if (fcinfo->context != NULL && IsA(fcinfo->context, AggState))
		builder->is_partial = DO_AGGSPLIT_SKIPFINAL(((AggState *) fcinfo->context)->aggsplit);
	return builder;
}

/* ---- what is asked for ---- */

/* What the arguments of a transition function are, after state and key. */
typedef enum AggForm
{
	AGG_FORM_FULL,				/* [float8 [, text [, bigint]]]: fpr, kind, expected */
	AGG_FORM_TEXT				/* text: kind or, if it reads as a number, fpr */
} AggForm;

/* What they ask for.  NULL is as good as left out. */
typedef struct AggArgs
{
	double		fpr;
	const BfKind *kind;
	uint64		expected;
} AggArgs;

/* Leaves no memory behind, as it is called for each row where nothing is known of the call. */
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

/* How the executor calls a transition function, as far as that matters. */
typedef struct AggCall
{
	bool		args_constant;	/* fpr, kind and expected have one value for the whole query */
	bool		finishes;		/* its aggregate has a final function, which gets the states */
} AggCall;

/* Has an argument one value as long as a query runs: a constant's, or that of its parameter? */
static bool
is_constant(const Expr *expr)
{
	while (IsA(expr, RelabelType))
		expr = ((const RelabelType *) expr)->arg;
	return IsA(expr, Const) ||
		   (IsA(expr, Param) && ((const Param *) expr)->paramkind == PARAM_EXTERN);
}

/*
 * Finds out about a call.  Only if the function is that of the aggregate that the executor is at
 * can anything be told; others (Citus) call it on behalf of an aggregate of their own.
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

/* Makes a state that has nothing yet the one that arguments ask for. */
static void
ask(FunctionCallInfo fcinfo, AggForm form, Builder *builder)
{
	AggArgs		args = get_args(fcinfo, form);
	BfDesign	design;

	bloomfam_design(args.kind, args.fpr, &design);

	/* too large is too large before the first row, too */
	if (args.expected != 0 && args.kind->build == NULL)
	{
		BfHeader	head;

		bloomfam_plan(&design, args.expected, &head);
	}
	bloomfam_builder_probe(builder, &design, args.expected);
}

/* The filter is one: what it shall be cannot change from row to row. */
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

/* Raises an error if keys are literals without a type: no filter tells how to read them. */
static void
check_typed(Oid type)
{
	if (bloomfam_is_literal(type))
		bloomfam_literal_untyped_error();
}

/* What the call site keeps, made on its first call. */
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
 * What a row calls for before its key can be added: a state if it is a group's first, a look at
 * its arguments if they may change, and the hasher of the state's kind.
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

/* A row that add_key has no short way for. */
static pg_noinline Datum
add_row(FunctionCallInfo fcinfo, AggForm form, Builder *builder)
{
	AggSite    *site = fcinfo->flinfo->fn_extra;
	BloomfamHasher *hasher;
	uint64		hash;

	/* a group of NULLs is as good as one of no rows */
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

/* Integers take a short way: their hash is some ns, about what calls and looks would cost. */
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
 * bloom_agg_trans(internal, "any" [, float8 [, text [, bigint]]]) -> internal: not strict.
 */
Datum
bloomfam_agg_trans(PG_FUNCTION_ARGS)
{
	return add_key(fcinfo, AGG_FORM_FULL);
}

/*
 * bloom_agg_trans(internal, "any", text) -> internal: not strict.
 */
Datum
bloomfam_agg_text_trans(PG_FUNCTION_ARGS)
{
	return add_key(fcinfo, AGG_FORM_TEXT);
}

/*
 * bloom_agg_serial(internal) -> bytea: strict.
 */
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
 * bloom_agg_deserial(bytea, internal) -> internal: strict.  Hands the bytes on to
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
 * bloom_agg_combine(internal, internal) -> internal: not strict.  The second is what
 * bloom_agg_deserial gave.
 */
Datum
bloomfam_agg_combine(PG_FUNCTION_ARGS)
{
	Builder    *builder = PG_ARGISNULL(0) ? NULL : (Builder *) PG_GETARG_POINTER(0);
	BfView		view;

	/*
	 * two states of no rows make one of no rows: a builder would forget that nothing was asked
	 * for
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
 * bloom_agg_final(internal, "any", text) -> bloomfilter: not strict; the arguments after the first
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

/* ---- states of type bloomfilter ---- */

static const char *
combiner_name(const Combiner *combiner)
{
	return combiner->verb == COMBINER_UNITE ? "bloom_union_agg" : "bloom_intersect_agg";
}

/*
 * The builder that a datum is, or NULL for a plain value, which is a state that was sent; an
 * error for the state of another aggregate.
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

/* May a state be changed in place?  Who has it read-only does not own it. */
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

/* The builder behind argument 0, which a row or a state shall be added to. */
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

/* The combiner behind argument 0, which a filter or a state shall be added to. */
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

/* The state as it is, for a row that adds nothing. */
static Datum
unchanged_state(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

/* Hashed keys went through the hash of most kinds, not through that of all. */
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

/* Compares what a row's arguments ask for with its state, which may have nothing yet. */
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

		/* of a call that nothing is known of, the state may be sent anywhere */
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
 * strict.
 */
Datum
bloomfam_agg_key_trans(PG_FUNCTION_ARGS)
{
	return add_hashed_key(fcinfo, AGG_FORM_FULL);
}

/*
 * bloom_agg_key_trans(bloomfilter, bloomkey, text) -> bloomfilter: not strict.
 */
Datum
bloomfam_agg_key_text_trans(PG_FUNCTION_ARGS)
{
	return add_hashed_key(fcinfo, AGG_FORM_TEXT);
}

/*
 * bloom_agg_key_combine(bloomfilter, bloomfilter) -> bloomfilter: not strict.
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
 * bloom_agg_key_final(bloomfilter) -> bloomfilter: not strict.  Of no keys the family is not known.
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

/* Lets the state take argument 1, a filter. */
static Datum
take_filter(FunctionCallInfo fcinfo, CombinerVerb verb)
{
	Combiner   *combiner = state_combiner(fcinfo, verb);
	BfView		view;

	bloomfam_view_open_loose(PG_GETARG_DATUM(1), &view);
	bloomfam_combiner_take(combiner, &view);
	return EOHPGetRWDatum(&combiner->eoh);
}

/* The combiner behind argument 0 of a final function. */
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
 * A NULL filter may contain every key, and so may any union that it takes part in: the result is
 * NULL.
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
 * bloom_union_combine(bloomfilter, bloomfilter) -> bloomfilter: not strict.  Here a NULL is the
 * state of no rows.
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
 * bloom_union_final(bloomfilter) -> bloomfilter: not strict.
 */
Datum
bloomfam_union_final(PG_FUNCTION_ARGS)
{
	return finish_combiner(fcinfo, COMBINER_UNITE);
}

/*
 * bloom_intersect_trans(bloomfilter, bloomfilter) -> bloomfilter: not strict; also combines.
 *
 * A NULL filter, which may contain every key, takes nothing away.
 */
Datum
bloomfam_intersect_trans(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(1))
		return unchanged_state(fcinfo);
	return take_filter(fcinfo, COMBINER_INTERSECT);
}

/*
 * bloom_intersect_final(bloomfilter) -> bloomfilter: strict.  Of no filters: NULL, which may
 * contain every key.
 */
Datum
bloomfam_intersect_final(PG_FUNCTION_ARGS)
{
	return finish_combiner(fcinfo, COMBINER_INTERSECT);
}
