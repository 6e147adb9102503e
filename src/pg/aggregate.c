/*-------------------------------------------------------------------------
 *
 * aggregate.c
 *	  bloom_agg, bloom_union_agg, bloom_intersect_agg.
 *
 * Two kinds of state for one builder:
 *
 *	- bloom_agg("any") has a state of type internal, with functions that serialise, deserialise
 *	  and combine it: PostgreSQL's parallel plans need no more.
 *	- bloom_agg(bloomkey) and the aggregates over filters have a state of type bloomfilter, with a
 *	  function that combines: engines that split aggregates over nodes (Citus) push down those
 *	  only whose state is a real type, which travels as text or binary, and whose arguments have
 *	  concrete types, because they call the functions without the expression that would tell.
 *	  Within a process the state is an expanded object, so that a row does not copy it.
 *
 * The result's bytes do not depend on how the rows were divided among workers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/builtins.h"

#include "pg/bloomkey.h"
#include "pg/builder.h"
#include "pg/datum.h"
#include "pg/hasher.h"
#include "pg/key_family.h"
#include "pg/params.h"

PG_FUNCTION_INFO_V1(bloomfam_agg_trans);
PG_FUNCTION_INFO_V1(bloomfam_agg_combine);
PG_FUNCTION_INFO_V1(bloomfam_agg_serial);
PG_FUNCTION_INFO_V1(bloomfam_agg_deserial);
PG_FUNCTION_INFO_V1(bloomfam_agg_final);
PG_FUNCTION_INFO_V1(bloomfam_agg_key_trans);
PG_FUNCTION_INFO_V1(bloomfam_agg_key_combine);
PG_FUNCTION_INFO_V1(bloomfam_agg_key_final);
PG_FUNCTION_INFO_V1(bloomfam_union_trans);
PG_FUNCTION_INFO_V1(bloomfam_union_combine);
PG_FUNCTION_INFO_V1(bloomfam_union_final);
PG_FUNCTION_INFO_V1(bloomfam_intersect_trans);
PG_FUNCTION_INFO_V1(bloomfam_intersect_final);

#define DEFAULT_FPR		0.01
#define DEFAULT_KIND	"blocked"

/*
 * The least that an aggregate may use, whatever work_mem says: smaller tables would make too many
 * runs.
 */
#define MIN_BUDGET		((Size) 1024 * 1024)

/*
 * What all groups of an aggregate node share, per memory context of states: there is one for each
 * grouping set that is computed at a time.  Lives in fn_extra.
 */
typedef struct AggBudget
{
	BloomfamBudget budget;		/* first: its chunk's context is where the file's buffer goes */
	MemoryContext context;		/* whose states it is for */
	bool		callback_set;
	struct AggBudget *next;
} AggBudget;

typedef struct AggNode
{
	BloomfamHasher *hasher;		/* for the rows of the state that was given last, and of all
								 * states if args_constant */
	BloomfamHashers hashers;	/* once there is a hasher */
	uint64		int_family;		/* of that hasher, if keys are int4 or int8 and nothing else is to
								 * be looked at; else 0 */
	bool		key_is_int4;
	AggBudget  *budgets;
	BfDesign	design;			/* of the last state made; kind NULL: none */
	bool		args_constant;	/* fpr, kind and expected are the same for every row */
} AggNode;

/* The states are about to go: so does their file. */
static void
release_budget(Datum arg)
{
	AggBudget  *shared = (AggBudget *) DatumGetPointer(arg);

	if (shared->budget.file != NULL)
		BufFileClose(shared->budget.file);
	shared->budget.file = NULL;
	shared->budget.used = 0;
	shared->callback_set = false;
}

static MemoryContext
agg_context(FunctionCallInfo fcinfo, int *how)
{
	MemoryContext context;

	*how = AggCheckCallContext(fcinfo, &context);
	if (*how == 0)
		elog(ERROR, "aggregate function called in non-aggregate context");
	return context;
}

static AggNode *
get_node(FunctionCallInfo fcinfo)
{
	AggNode    *node = fcinfo->flinfo->fn_extra;

	if (node == NULL)
		fcinfo->flinfo->fn_extra = node =
			MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(AggNode));
	return node;
}

/* Makes the state of a new group. */
static Builder *
make_builder(FunctionCallInfo fcinfo, AggNode *node)
{
	int			how;
	MemoryContext context = agg_context(fcinfo, &how);
	AggBudget  *shared;
	Builder    *builder;

	/* a window has no moment at which a file could be closed: its states stay in memory */
	if (how != AGG_CONTEXT_AGGREGATE)
		return bloomfam_builder_make(context, NULL);

	for (shared = node->budgets; shared != NULL; shared = shared->next)
		if (shared->context == context)
			break;
	if (shared == NULL)
	{
		shared = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(AggBudget));
		shared->context = context;
		shared->next = node->budgets;
		node->budgets = shared;
		shared->budget.may_spill = true;
	}
	if (!shared->callback_set)
	{
		AggRegisterCallback(fcinfo, release_budget, PointerGetDatum(shared));
		shared->callback_set = true;
		shared->budget.limit = Max(MIN_BUDGET, (Size) (work_mem * hash_mem_multiplier * 1024.0));
	}
	builder = bloomfam_builder_make(context, &shared->budget);
	if (fcinfo->context != NULL && IsA(fcinfo->context, AggState))
		builder->travels = DO_AGGSPLIT_SKIPFINAL(((AggState *) fcinfo->context)->aggsplit);
	return builder;
}

/*
 * Arguments 2 to 4 of a transition function, as many as there are: fpr, kind, expected.  NULL is
 * as good as left out.
 */
typedef struct AggArgs
{
	double		fpr;
	const BfKind *kind;
	uint64		expected;
} AggArgs;

static AggArgs
get_args(FunctionCallInfo fcinfo)
{
	AggArgs		args;

	args.fpr = PG_NARGS() > 2 && !PG_ARGISNULL(2) ? PG_GETARG_FLOAT8(2) : DEFAULT_FPR;
	args.kind = PG_NARGS() > 3 && !PG_ARGISNULL(3) ? bloomfam_kind_arg(PG_GETARG_TEXT_PP(3))
												   : bf_kind_by_name(DEFAULT_KIND);
	args.expected =
		PG_NARGS() > 4 && !PG_ARGISNULL(4) ? bloomfam_expected_arg(PG_GETARG_INT64(4)) : 0;
	return args;
}

/*
 * Do fpr, kind and expected come from constants?  Then they need not be looked at again for each
 * row.
 */
static bool
args_are_constant(FunctionCallInfo fcinfo)
{
	Aggref	   *aggref = AggGetAggref(fcinfo);
	ListCell   *lc;

	if (PG_NARGS() <= 2)
		return true;
	if (aggref == NULL)
		return false;
	foreach(lc, aggref->args)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if (foreach_current_index(lc) > 0 && !IsA(entry->expr, Const))
			return false;
	}
	return true;
}

/* Makes the state that a group's first key calls for. */
static Builder *
begin_group(FunctionCallInfo fcinfo, AggNode *node)
{
	AggArgs		args = get_args(fcinfo);
	Builder    *builder = make_builder(fcinfo, node);

	if (node->design.kind != args.kind || node->design.fpr != args.fpr)
	{
		bloomfam_design(args.kind, args.fpr, &node->design);
		node->args_constant = args_are_constant(fcinfo);
	}

	/* too large is too large before the first row, too */
	if (args.expected != 0 && args.kind->build == NULL)
	{
		BfHeader	head;

		bloomfam_plan(&node->design, args.expected, &head);
	}
	bloomfam_builder_ask(builder, &node->design, args.expected);
	return builder;
}

/* The filter is one: what it shall be cannot change from row to row. */
static void
check_args(FunctionCallInfo fcinfo, const Builder *builder)
{
	AggArgs		args = get_args(fcinfo);

	if (args.fpr != builder->design.fpr || args.kind != builder->design.kind ||
		args.expected != builder->expected)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg(
				 "false positive rate, kind and expected number of keys must not change within a group")));
}

/* ---- bloom_agg over keys of any type ---- */

/*
 * What a row calls for before its key can be added: a state if it is a group's first, a look at
 * its arguments if they may change, and the hasher of the state's kind.
 */
static pg_noinline Builder *
prepare_row(FunctionCallInfo fcinfo, Builder *builder)
{
	AggNode    *node = get_node(fcinfo);
	BfHashId	hash_id;
	Oid			type;

	if (builder == NULL)
		builder = begin_group(fcinfo, node);
	else if (!node->args_constant)
		check_args(fcinfo, builder);

	if (node->hasher == NULL)
		bloomfam_hashers_init(&node->hashers, fcinfo, 1, false);
	hash_id = builder->design.kind->hash_id;
	type = node->hashers.type;
	node->hasher = bloomfam_hasher_for(&node->hashers, hash_id);
	node->key_is_int4 = type == INT4OID;
	if (node->args_constant && hash_id == BF_HASH_XXH3 && (type == INT4OID || type == INT8OID))
		node->int_family = node->hasher->family_id;
	return builder;
}

/* A row that bloom_agg_trans has no short way for. */
static pg_noinline Datum
add_row(FunctionCallInfo fcinfo, Builder *builder)
{
	AggNode    *node = fcinfo->flinfo->fn_extra;
	BloomfamHasher *hasher;
	uint64		hash;

	/* a group of NULLs is as good as one of no rows */
	if (PG_ARGISNULL(1))
	{
		if (builder == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(builder);
	}

	if (unlikely(builder == NULL || node == NULL || !node->args_constant))
	{
		builder = prepare_row(fcinfo, builder);
		node = fcinfo->flinfo->fn_extra;
	}
	hasher = node->hasher;
	hash = hasher->hash(hasher, PG_GETARG_DATUM(1));
	if (unlikely(builder->family_id != hasher->family_id))
		bloomfam_builder_set_family(builder, hasher->family_id, hasher->family, hasher->family_len);
	bloomfam_builder_add(builder, hash);
	PG_RETURN_POINTER(builder);
}

/*
 * bloom_agg_trans(internal, "any" [, float8 [, text [, bigint]]]) -> internal: not strict.
 *
 * Integers take a short way: their hash is some ns, about what calls and looks would cost.
 */
Datum
bloomfam_agg_trans(PG_FUNCTION_ARGS)
{
	Builder    *builder = PG_ARGISNULL(0) ? NULL : (Builder *) PG_GETARG_POINTER(0);
	AggNode    *node = fcinfo->flinfo->fn_extra;

	if (likely(builder != NULL && node != NULL && node->int_family != 0 &&
			   builder->family_id == node->int_family && !PG_ARGISNULL(1)))
	{
		Datum		key = PG_GETARG_DATUM(1);

		bloomfam_builder_add(builder,
							 bf_hash_u64((uint64) (node->key_is_int4 ? (int64) DatumGetInt32(key)
																	 : DatumGetInt64(key))));
		PG_RETURN_POINTER(builder);
	}
	return add_row(fcinfo, builder);
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
		builder = make_builder(fcinfo, get_node(fcinfo));
	bloomfam_view_open_loose(PG_GETARG_DATUM(1), &view);
	bloomfam_builder_absorb(builder, &view);
	PG_RETURN_POINTER(builder);
}

/*
 * bloom_agg_final(internal, "any" [, float8 [, text [, bigint]]]) -> bloomfilter: not strict; the
 * arguments after the first are there for their types.
 */
Datum
bloomfam_agg_final(PG_FUNCTION_ARGS)
{
	int			how;

	agg_context(fcinfo, &how);
	if (PG_ARGISNULL(0))
	{
		Builder    *builder = bloomfam_builder_make(CurrentMemoryContext, NULL);
		BloomfamHasher *hasher = bloomfam_hasher_make(
			CurrentMemoryContext, bloomfam_key_type(fcinfo, 1), PG_GET_COLLATION(), BF_HASH_XXH3);

		bloomfam_builder_set_family(builder, hasher->family_id, hasher->family, hasher->family_len);
		return bloomfam_builder_finish(builder);
	}
	return bloomfam_builder_finish((Builder *) PG_GETARG_POINTER(0));
}

/* ---- states of type bloomfilter ---- */

typedef void (*TakeView) (Builder *builder, const BfView *view);

/*
 * The builder behind argument 0.  A plain value, which is a state that has travelled, becomes one
 * by take().
 */
static Builder *
state_builder(FunctionCallInfo fcinfo, TakeView take)
{
	Builder    *builder = PG_ARGISNULL(0) ? NULL : bloomfam_builder_from_datum(PG_GETARG_DATUM(0));
	int			how;

	agg_context(fcinfo, &how);
	if (builder == NULL)
	{
		builder = make_builder(fcinfo, get_node(fcinfo));
		if (!PG_ARGISNULL(0))
		{
			BfView		view;

			bloomfam_view_open_loose(PG_GETARG_DATUM(0), &view);
			take(builder, &view);
		}
	}
	return builder;
}

/* Lets the state take argument 1, a filter or a state.  A NULL leaves it as it is. */
static Datum
take_argument(FunctionCallInfo fcinfo, TakeView take)
{
	Builder    *builder;
	BfView		view;

	if (PG_ARGISNULL(1))
	{
		if (PG_ARGISNULL(0))
			PG_RETURN_NULL();
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	}
	builder = state_builder(fcinfo, take);
	bloomfam_view_open_loose(PG_GETARG_DATUM(1), &view);
	take(builder, &view);
	return EOHPGetRWDatum(&builder->eoh);
}

/* The builder behind argument 0 of a final function; there is one. */
static Builder *
final_builder(FunctionCallInfo fcinfo, TakeView take)
{
	Builder    *builder = bloomfam_builder_from_datum(PG_GETARG_DATUM(0));
	int			how;

	agg_context(fcinfo, &how);
	if (builder == NULL)
	{
		BfView		view;

		builder = bloomfam_builder_make(CurrentMemoryContext, NULL);
		bloomfam_view_open_loose(PG_GETARG_DATUM(0), &view);
		take(builder, &view);
	}
	return builder;
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

/*
 * bloom_agg_key_trans(bloomfilter, bloomkey [, float8 [, text [, bigint]]]) -> bloomfilter: not
 * strict.
 */
Datum
bloomfam_agg_key_trans(PG_FUNCTION_ARGS)
{
	AggNode    *node;
	Builder    *builder;
	BloomfamKey *key;

	if (PG_ARGISNULL(1))
	{
		if (PG_ARGISNULL(0))
			PG_RETURN_NULL();
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	}

	node = get_node(fcinfo);
	if (PG_ARGISNULL(0))
	{
		int			how;

		agg_context(fcinfo, &how);
		builder = begin_group(fcinfo, node);
		check_hashed(builder);
	}
	else
	{
		builder = state_builder(fcinfo, bloomfam_builder_absorb);
		if (unlikely(!node->args_constant))
			check_args(fcinfo, builder);
	}

	key = DatumGetBloomkeyP(PG_GETARG_DATUM(1));
	if (unlikely(builder->family_id != key->family_id))
	{
		const char *name = bloomfam_family_name(key->family_id);

		bloomfam_builder_set_family(builder, key->family_id, name, name != NULL ? strlen(name) : 0);
	}
	bloomfam_builder_add(builder, key->hash);
	return EOHPGetRWDatum(&builder->eoh);
}

/*
 * bloom_agg_key_combine(bloomfilter, bloomfilter) -> bloomfilter: not strict.
 */
Datum
bloomfam_agg_key_combine(PG_FUNCTION_ARGS)
{
	return take_argument(fcinfo, bloomfam_builder_absorb);
}

/*
 * bloom_agg_key_final(bloomfilter) -> bloomfilter: not strict.  Of no keys the family is not known.
 */
Datum
bloomfam_agg_key_final(PG_FUNCTION_ARGS)
{
	int			how;

	agg_context(fcinfo, &how);
	return bloomfam_builder_finish(PG_ARGISNULL(0)
									   ? bloomfam_builder_make(CurrentMemoryContext, NULL)
									   : final_builder(fcinfo, bloomfam_builder_absorb));
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
	if (PG_ARGISNULL(1))
	{
		Builder    *builder = state_builder(fcinfo, bloomfam_builder_unite);

		builder->unknown = true;
		return EOHPGetRWDatum(&builder->eoh);
	}
	return take_argument(fcinfo, bloomfam_builder_unite);
}

/*
 * bloom_union_combine(bloomfilter, bloomfilter) -> bloomfilter: not strict.  Here a NULL is the
 * state of no rows.
 */
Datum
bloomfam_union_combine(PG_FUNCTION_ARGS)
{
	return take_argument(fcinfo, bloomfam_builder_unite);
}

/*
 * bloom_union_final(bloomfilter) -> bloomfilter: not strict.
 */
Datum
bloomfam_union_final(PG_FUNCTION_ARGS)
{
	Builder    *builder;
	int			how;

	agg_context(fcinfo, &how);
	builder = PG_ARGISNULL(0) ? bloomfam_builder_make(CurrentMemoryContext, NULL) :
		final_builder(fcinfo, bloomfam_builder_unite);
	if (builder->unknown)
		PG_RETURN_NULL();
	return bloomfam_builder_finish(builder);
}

/*
 * bloom_intersect_trans(bloomfilter, bloomfilter) -> bloomfilter: not strict; also combines.
 *
 * A NULL filter, which may contain every key, takes nothing away.
 */
Datum
bloomfam_intersect_trans(PG_FUNCTION_ARGS)
{
	return take_argument(fcinfo, bloomfam_builder_intersect);
}

/*
 * bloom_intersect_final(bloomfilter) -> bloomfilter: strict.  Of no filters: NULL, which may
 * contain every key.
 */
Datum
bloomfam_intersect_final(PG_FUNCTION_ARGS)
{
	return bloomfam_builder_finish(final_builder(fcinfo, bloomfam_builder_intersect));
}
