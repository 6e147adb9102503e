/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * hasher.c
 *	  Makes the hashers of a type, and those of a function's argument.
 *
 * Two values that SQL's = calls equal must have the same hash.  The files for types follow the
 * server's equality type by type: key_scalar.c and key_text.c hash the bytes of keys/key_hash.h,
 * and key_enum.c and key_nested.c bytes of their own.  If a type's equality is not known, the
 * type's own hash function is used (key_function.c), and what it depends on becomes part of the
 * family.
 *
 * Filters of kind parquet hash other bytes, by another hash function (key_plain.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupdesc.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "pg/bloomkey.h"
#include "pg/hasher.h"
#include "pg/key_bytes.h"
#include "pg/key_enum.h"
#include "pg/key_equality.h"
#include "pg/key_family.h"
#include "pg/key_function.h"
#include "pg/key_nested.h"
#include "pg/key_plain.h"
#include "pg/key_scalar.h"
#include "pg/key_text.h"

/* A row type that a hasher was made from, and the type's state at that time. */
typedef struct Watched
{
	TypeCacheEntry *entry;
	uint64		identifier;
} Watched;

/*
 * A hasher that may have to be made anew, because a row type within it was altered, or because each
 * row brings its own type.
 */
typedef struct TreeHasher
{
	BloomfamHasher base;
	Oid			type;
	int32		typmod;
	Oid			collation;

	/*
	 * True if the hashes go into filters; false if an operator within this database compares the
	 * keys.
	 */
	bool		lasting;

	/*
	 * True if keys are rows that bring their own type; type and typmod are then those of the last
	 * row.
	 */
	bool		rows;
	BloomfamHasher *root;		/* The hasher that hashes keys; NULL if it is not made yet. */
	List	   *watched;		/* List of Watched: the row types that root was made from. */
	MemoryContext context;		/* The memory context of root and watched, and of nothing else. */
} TreeHasher;

/*
 * What is passed down when the hasher of a type is made with the hashers of its parts, and what is
 * collected from the parts.
 */
typedef struct Build
{
	/*
	 * True if the hashes go into filters; false if an operator within this database compares the
	 * keys.
	 */
	bool		lasting;
	List	   *watched;		/* List of Watched: the row types that were found. */
} Build;

static BloomfamHasher *make_hasher(Build *build, Oid type, Oid collation);

/*
 * Makes the hasher of a part of a composite key, such as an element or a column.  Raises an error
 * unless hashes follow the default equality of the part's type, by which parts are compared.
 */
static BloomfamHasher *
make_part(Build *build, Oid type, Oid collation)
{
	bloomfam_equality_check_default(type);
	return make_hasher(build, type, collation);
}

/* ---- hashers of composite keys, made of the hashers of their parts ---- */

static BloomfamHasher *
make_array(Build *build, Oid type, Oid element_type, Oid collation)
{
	BloomfamHasher *element = make_part(build, element_type, collation);

	return bloomfam_array_hasher(type, element_type, element);
}

static BloomfamHasher *
make_range(Build *build, Oid type)
{
	TypeCacheEntry *range = lookup_type_cache(type, TYPECACHE_RANGE_INFO);

	return bloomfam_range_hasher(range, make_part(build, range->rngelemtype->type_id,
												  range->rng_collation));
}

static BloomfamHasher *
make_multirange(Build *build, Oid type)
{
	TypeCacheEntry *range = lookup_type_cache(type, TYPECACHE_MULTIRANGE_INFO)->rngtype;

	return bloomfam_multirange_hasher(range, make_part(build, range->rngelemtype->type_id,
													   range->rng_collation));
}

static BloomfamHasher *
make_row(Build *build, Oid type, int32 typmod)
{
	TupleDesc	desc;
	BloomfamHasher **columns;
	int			i;

	if (type == RECORDOID)
	{
		TupleDesc	shared = lookup_rowtype_tupdesc(type, typmod);

		/*
		 * An anonymous row type never changes, so it is not watched.  A copy needs no reference
		 * count.
		 */
		desc = CreateTupleDescCopyConstr(shared);
		ReleaseTupleDesc(shared);
	}
	else
	{
		TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_TUPDESC);
		Watched    *watched = (Watched *) palloc(sizeof(Watched));

		if (entry->tupDesc == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("type %s is not composite", format_type_be(type))));
		desc = CreateTupleDescCopyConstr(entry->tupDesc);
		watched->entry = entry;
		watched->identifier = entry->tupDesc_identifier;
		build->watched = lappend(build->watched, watched);
	}

	columns = (BloomfamHasher **) palloc0(desc->natts * sizeof(BloomfamHasher *));
	for (i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);

		if (column->attisdropped)
			continue;

		/* ROW(a, b) = ROW(c, d) means a = c AND b = d, with what "=" means for these types. */
		if (type == RECORDOID && build->lasting)
			bloomfam_equality_check_named(column->atttypid);
		columns[i] = make_part(build, column->atttypid, column->attcollation);
	}
	return bloomfam_row_hasher(type, typmod, desc, columns);
}

/* ---- hashers that may be made anew ---- */

/* Copies the key family of the root hasher to the TreeHasher. */
static inline void
take_family(TreeHasher *tree)
{
	tree->base.family = tree->root->family;
	tree->base.family_len = tree->root->family_len;
	tree->base.family_id = tree->root->family_id;
}

/*
 * Returns whether a row type was altered since the hasher was made.  The type cache then changes or
 * clears the type's identifier.
 */
static inline bool
tree_is_stale(const TreeHasher *tree)
{
	ListCell   *lc;

	foreach(lc, tree->watched)
	{
		Watched    *watched = (Watched *) lfirst(lc);

		if (watched->entry->tupDesc_identifier != watched->identifier)
			return true;
	}
	return false;
}

static void
tree_make(TreeHasher *tree, Oid type, int32 typmod)
{
	MemoryContext old;
	Build		build = {tree->lasting, NIL};
	BloomfamHasher *root;

	/* Forget the old hasher first, so that an error cannot leave a part of a hasher behind. */
	tree->root = NULL;
	tree->watched = NIL;
	tree->base.family = NULL;
	tree->base.family_len = 0;
	tree->base.family_id = 0;
	MemoryContextReset(tree->context);

	old = MemoryContextSwitchTo(tree->context);
	if (tree->rows)
		root = make_row(&build, type, typmod);
	else
		root = make_hasher(&build, type, tree->collation);
	MemoryContextSwitchTo(old);

	tree->type = type;
	tree->typmod = typmod;
	tree->watched = build.watched;
	tree->root = root;
	tree->base.varies |= root->varies;
	take_family(tree);
}

static uint64
key_tree(BloomfamHasher *hasher, Datum key)
{
	TreeHasher *self = (TreeHasher *) hasher;
	HeapTupleHeader row = NULL;
	Oid			type = self->type;
	int32		typmod = self->typmod;
	Datum		value = key;
	uint64		hash;

	check_stack_depth();

	if (self->rows)
	{
		row = DatumGetHeapTupleHeader(key);
		value = PointerGetDatum(row);
		bloomfam_row_type(row, &type, &typmod);
	}
	if (self->root == NULL || type != self->type || typmod != self->typmod || tree_is_stale(self))
		tree_make(self, type, typmod);

	hash = self->root->hash(self->root, value);
	if (self->root->varies)
		take_family(self);
	if (row != NULL)
		free_copy(row, key);
	return hash;
}

/*
 * Makes a TreeHasher without a root hasher in the current memory context. type is RECORDOID if only
 * the rows tell their type.
 */
static TreeHasher *
make_tree(Oid type, Oid collation, bool lasting)
{
	TreeHasher *self = (TreeHasher *) palloc0(sizeof(TreeHasher));

	self->base.hash = key_tree;
	self->type = type;
	self->typmod = -1;
	self->collation = collation;
	self->lasting = lasting;
	self->rows = type == RECORDOID || get_typtype(type) == TYPTYPE_COMPOSITE;
	self->base.varies = type == RECORDOID;
	self->context =
		AllocSetContextCreate(CurrentMemoryContext, "bloomfam hasher", ALLOCSET_SMALL_SIZES);
	return self;
}

/* ---- the hasher of a type ---- */

/*
 * Makes the hasher of a type that is hashed by bytes of this module's own; returns NULL for others.
 */
static BloomfamHasher *
make_own(Oid type, Oid collation)
{
	return bloomfam_is_text(type) ? bloomfam_text_hasher(type, collation)
		: bloomfam_scalar_hasher(type);
}

/* Makes the hasher of any other base type. */
static BloomfamHasher *
make_base(Build *build, Oid type, Oid collation)
{
	BloomfamHasher *hasher;

	if (bloomfam_is_bloomkey(type))
		return bloomfam_inner_bloomkey_hasher();
	if (build->lasting)
		bloomfam_key_check_lasting(type);
	hasher = make_own(bloomfam_key_relabelled(type), collation);
	return hasher != NULL ? hasher : bloomfam_other_hasher(type, collation);
}

/* Makes the hasher of a type, which may be a part of a key, in the current memory context. */
static BloomfamHasher *
make_hasher(Build *build, Oid type, Oid collation)
{
	BloomfamHasher *hasher;
	Oid			element;

	check_stack_depth();

	type = getBaseType(type);
	hasher = make_own(type, collation);
	if (hasher != NULL)
		return hasher;

	if (type == RECORDOID)
		return &make_tree(type, InvalidOid, build->lasting)->base;

	element = get_element_type(type);
	if (OidIsValid(element))
		return make_array(build, type, element, collation);

	switch (get_typtype(type))
	{
		case TYPTYPE_BASE:
			return make_base(build, type, collation);
		case TYPTYPE_ENUM:
			return bloomfam_enum_hasher(type);
		case TYPTYPE_RANGE:
			return make_range(build, type);
		case TYPTYPE_MULTIRANGE:
			return make_multirange(build, type);
		case TYPTYPE_COMPOSITE:
			return make_row(build, type, -1);
		default:
			bloomfam_no_hash_error(type);	/* Pseudo-types have no hash. */
	}
	return NULL;				/* keep compiler quiet */
}

/*
 * Returns whether there are rows of a named type at the bottom of an array, a range or a
 * multirange.
 */
static bool
holds_rows(Oid type)
{
	for (;;)
	{
		Oid			inner;

		type = getBaseType(type);
		inner = get_element_type(type);
		if (!OidIsValid(inner))
			inner = get_range_subtype(type);
		if (!OidIsValid(inner))
			inner = get_multirange_range(type);
		if (!OidIsValid(inner))
			return get_typtype(type) == TYPTYPE_COMPOSITE;
		type = inner;
	}
}

/* Makes a hasher of any type with this module's own hash, in the current memory context. */
static BloomfamHasher *
make_any(Oid type, Oid collation, bool lasting)
{
	Build		build = {lasting, NIL};
	BloomfamHasher *hasher;

	type = getBaseType(type);
	if (type == RECORDOID)
		hasher = &make_tree(type, InvalidOid, lasting)->base;
	else if (holds_rows(type))
	{
		TreeHasher *tree = make_tree(type, collation, lasting);

		tree_make(tree, type, -1);
		hasher = &tree->base;
	}
	else if (get_typtype(type) == TYPTYPE_BASE && bloomfam_is_bloomkey(type))
		hasher = bloomfam_bloomkey_hasher();
	else
		hasher = make_hasher(&build, type, collation);

	hasher->hash_id = BF_HASH_XXH3;
	return hasher;
}

BloomfamHasher *
bloomfam_hasher_make(MemoryContext context, Oid type, Oid collation, BfHashId hash_id)
{
	MemoryContext old;
	BloomfamHasher *hasher = NULL;

	bloomfam_equality_check_named(type);
	old = MemoryContextSwitchTo(context);
	if (hash_id == BF_HASH_XXH64_PLAIN)
		hasher = bloomfam_plain_hasher_make(type, collation);
	else if (hash_id == BF_HASH_XXH3)
		hasher = make_any(type, collation, true);
	else
		elog(ERROR, "unrecognized hash: %d", (int) hash_id);
	MemoryContextSwitchTo(old);
	return hasher;
}

BloomfamHasher *
bloomfam_hasher_make_local(MemoryContext context, Oid type, Oid collation)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	BloomfamHasher *hasher = make_any(type, collation, false);

	MemoryContextSwitchTo(old);
	return hasher;
}

/* ---- the hashers of an argument ---- */

/*
 * Returns the type of an argument that is a key.
 *
 * It is the type of the expression, whatever that was relabelled from: SQL's = would see a cast,
 * too.  No argument comes relabelled without the user's knowledge, as keys are declared "any".  An
 * untyped literal is a bloomliteral, which is not hashed here.
 */
Oid
bloomfam_key_type(FunctionCallInfo fcinfo, int argno)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, argno);

	if (!OidIsValid(type))
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_DATATYPE),
				 errmsg("could not determine the type of the key")));
	return type;
}

/*
 * Returns the expressions of a call's arguments, or NIL if they are not known or tell nothing.
 *
 * An aggregate's functions are told the types of their arguments, and no typmods.  But the rows
 * that its transition function gets are those that the aggregate was called with.  Argument 0, the
 * state, has no expression, so it is NULL in the list.
 */
static List *
argument_exprs(FunctionCallInfo fcinfo)
{
	Node	   *expr = fcinfo->flinfo->fn_expr;
	Aggref	   *aggref = AggGetAggref(fcinfo);
	HeapTuple	tuple;
	List	   *args = NIL;
	ListCell   *lc;

	if (aggref == NULL)
	{
		if (expr != NULL && IsA(expr, FuncExpr))
			return ((FuncExpr *) expr)->args;
		if (expr != NULL && IsA(expr, OpExpr))
			return ((OpExpr *) expr)->args;
		return NIL;
	}

	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));
	if (!HeapTupleIsValid(tuple))
		return NIL;
	if (((Form_pg_aggregate) GETSTRUCT(tuple))->aggtransfn == fcinfo->flinfo->fn_oid)
	{
		args = list_make1(NULL);
		foreach(lc, aggref->args)
			args = lappend(args, lfirst_node(TargetEntry, lc)->expr);
	}
	ReleaseSysCache(tuple);
	return args;
}

/* Returns the typmod of an argument that is a key, if its expression tells it, and otherwise -1. */
static int32
key_typmod(FunctionCallInfo fcinfo, int argno)
{
	List	   *args = argument_exprs(fcinfo);

	return argno < list_length(args) ? exprTypmod(list_nth(args, argno)) : -1;
}

void
bloomfam_hashers_init(BloomfamHashers *hashers, FunctionCallInfo fcinfo, int argno,
					  bool keys_are_array)
{
	Oid			type = bloomfam_key_type(fcinfo, argno);

	memset(hashers, 0, sizeof(*hashers));
	hashers->context = fcinfo->flinfo->fn_mcxt;
	hashers->type = keys_are_array ? get_base_element_type(type) : type;
	hashers->typmod = key_typmod(fcinfo, argno);
	hashers->collation = PG_GET_COLLATION();
	hashers->each_array = keys_are_array && type == ANYARRAYOID;
	if (hashers->each_array)
		hashers->context = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "bloomfam hashers",
												 ALLOCSET_SMALL_SIZES);
}

/*
 * The arrays of an anyarray have no collation.  They are compared under their type's collation, as
 * they would be after a cast, which is the only way to their elements that SQL has.
 */
bool
bloomfam_hashers_retype(BloomfamHashers *hashers, Oid type)
{
	/*
	 * Forget the old hashers first, so that an error cannot leave one for the former type behind.
	 */
	memset(hashers->by_id, 0, sizeof(hashers->by_id));
	hashers->type = InvalidOid;
	MemoryContextReset(hashers->context);
	hashers->collation = get_typcollation(type);
	hashers->type = type;
	return true;
}

BloomfamHashers *
bloomfam_hashers_get(FunctionCallInfo fcinfo, int argno, bool keys_are_array)
{
	BloomfamHashers *hashers = fcinfo->flinfo->fn_extra;

	if (hashers == NULL)
	{
		hashers = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(BloomfamHashers));
		bloomfam_hashers_init(hashers, fcinfo, argno, keys_are_array);
		fcinfo->flinfo->fn_extra = hashers;
	}
	return hashers;
}

/* Makes the hasher of an argument's keys for one of the hash functions that filters may have. */
BloomfamHasher *
bloomfam_hashers_make(BloomfamHashers *hashers, BfHashId hash_id)
{
	BloomfamHasher *hasher =
		bloomfam_hasher_make(hashers->context, hashers->type, hashers->collation, hash_id);

	bloomfam_hasher_typmod(hasher, hashers->typmod);
	hasher->probing = hashers->probing;
	hashers->by_id[hash_id] = hasher;
	return hasher;
}
