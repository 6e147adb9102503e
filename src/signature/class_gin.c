/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * class_gin.c
 *	  Operator classes with GIN's support functions, which extract keys and decide about queries.
 *
 * The functions are called as GIN calls them.  But GIN knows whether a row has a key, while a
 * signature tells only that a range has it not (GIN_FALSE), or may have it (GIN_MAYBE).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/gin.h"
#include "access/transam.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/typcache.h"

#include "pg/index_key.h"
#include "signature/keys.h"

typedef struct GinColumn
{
	SignatureColumn base;
	BloomfamHasher *hasher;		/* The hasher of keys. */
	FmgrInfo	extract_value;
	FmgrInfo	extract_query;
	FmgrInfo	consistent;		/* triConsistent if the class has it, else consistent. */
	bool		is_ternary;		/* True if it is triConsistent. */
	Oid			call_collation; /* The collation that GIN calls the functions with. */
} GinColumn;

typedef struct GinQuery
{
	SignatureQuery base;
	GinColumn  *column;
	StrategyNumber strategy;
	Datum		argument;
	Datum	   *keys;
	bool	   *nulls;
	Pointer    *extra;
	GinTernaryValue *check;		/* What the functions are told of each key. */
} GinQuery;

/*
 * Raises an error unless the class compares keys as its key type's default operator class does, as
 * hashes of keys agree with that equality.  The server's functions for keys that are words compare
 * bytes, which is the equality of text.
 */
static void
check_compare(Relation index, int number, Oid key_type)
{
	Oid			compare = index_getprocid(index, number + 1, SIGNATURE_COMPARE_PROC);

	if (!OidIsValid(compare) || compare == F_GIN_CMP_TSLEXEME || compare == F_GIN_COMPARE_JSONB ||
		compare == lookup_type_cache(key_type, TYPECACHE_CMP_PROC)->cmp_proc)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("function %s of the operator class is not the comparison of type %s",
					format_procedure_qualified(compare), format_type_be(key_type)),
			 errdetail("A signature index compares keys by their type's default equality.")));
}

static SignatureColumn *
make(Relation index, int number, uint32 ngram, StringInfo rules)
{
	GinColumn  *self = (GinColumn *) palloc0(sizeof(GinColumn));
	Oid			type = getBaseType(TupleDescAttr(RelationGetDescr(index), number)->atttypid);
	Oid			collation = index->rd_indcollation[number];
	int			i;
	static const int needed[] = {SIGNATURE_EXTRACT_VALUE_PROC, SIGNATURE_EXTRACT_QUERY_PROC};

	for (i = 0; i < (int) lengthof(needed); i++)
		if (!OidIsValid(index_getprocid(index, number + 1, needed[i])))
			elog(ERROR, "missing support function %d for column %d of index \"%s\"", needed[i],
				 number + 1, RelationGetRelationName(index));
	self->is_ternary =
		OidIsValid(index_getprocid(index, number + 1, SIGNATURE_TRI_CONSISTENT_PROC));
	if (!self->is_ternary &&
		!OidIsValid(index_getprocid(index, number + 1, SIGNATURE_CONSISTENT_PROC)))
		elog(ERROR, "missing support function %d for column %d of index \"%s\"",
			 SIGNATURE_CONSISTENT_PROC, number + 1, RelationGetRelationName(index));
	check_compare(index, number, type);
	fmgr_info_copy(&self->extract_value,
				   index_getprocinfo(index, number + 1, SIGNATURE_EXTRACT_VALUE_PROC),
				   CurrentMemoryContext);
	fmgr_info_copy(&self->extract_query,
				   index_getprocinfo(index, number + 1, SIGNATURE_EXTRACT_QUERY_PROC),
				   CurrentMemoryContext);
	fmgr_info_copy(&self->consistent,
				   index_getprocinfo(index, number + 1, self->is_ternary
									 ? SIGNATURE_TRI_CONSISTENT_PROC : SIGNATURE_CONSISTENT_PROC),
				   CurrentMemoryContext);
	self->call_collation = OidIsValid(collation) ? collation : DEFAULT_COLLATION_OID;

	/*
	 * A column without a collation, such as one of type jsonb, has keys that are compared by their
	 * bytes.
	 */
	if (!OidIsValid(collation) && type_is_collatable(type))
		collation = C_COLLATION_OID;
	self->hasher = bloomfam_index_type_hasher(CurrentMemoryContext, index->rd_rel->relam, type,
											  collation);
	appendBinaryStringInfo(rules, self->hasher->family, (int) self->hasher->family_len);
	return &self->base;
}

static void
extract(SignatureColumn *column, Datum value, SignatureKeys *keys)
{
	GinColumn  *self = (GinColumn *) column;
	int32		n = 0;
	bool	   *nulls = NULL;
	Datum	   *values = (Datum *) DatumGetPointer(
		FunctionCall3Coll(&self->extract_value, self->call_collation, value,
						  PointerGetDatum(&n), PointerGetDatum(&nulls)));
	int32		i;

	if (values == NULL)
		return;
	for (i = 0; i < n; i++)
	{
		if (nulls == NULL || !nulls[i])
			signature_keys_add(keys, signature_hash(column, self->hasher->hash(self->hasher,
																			  values[i])));
		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/* Asks triConsistent.  The result true or maybe means that there may be rows. */
static bool
decide_ternary(SignatureQuery *base, const bool *present)
{
	GinQuery   *query = (GinQuery *) base;
	uint32		i;

	for (i = 0; i < base->nkeys; i++)
		query->check[i] = present[i] ? GIN_MAYBE : GIN_FALSE;
	return DatumGetGinTernaryValue(
		FunctionCall7Coll(&query->column->consistent, query->column->call_collation,
						  PointerGetDatum(query->check), UInt16GetDatum(query->strategy),
						  query->argument, UInt32GetDatum(base->nkeys),
						  PointerGetDatum(query->extra), PointerGetDatum(query->keys),
						  PointerGetDatum(query->nulls))) != GIN_FALSE;
}

/*
 * The most keys of which a range may have some or others, for which consistent is asked about all
 * 2^n cases, as GIN does it.
 */
#define MAX_MAYBE_KEYS	4

/*
 * Asks consistent about each set of keys that a row of the range might have: the function knows no
 * "maybe", and may say yes where a key is missing.
 */
static bool
decide_binary(SignatureQuery *base, const bool *present)
{
	GinQuery   *query = (GinQuery *) base;
	bool	   *check = (bool *) query->check;
	uint32		maybe[MAX_MAYBE_KEYS];
	uint32		n = 0;
	uint32		cases;
	uint32		i;

	for (i = 0; i < base->nkeys; i++)
	{
		check[i] = false;
		if (!present[i])
			continue;
		if (n == MAX_MAYBE_KEYS)
			return true;
		maybe[n++] = i;
	}
	for (cases = 0; cases < (UINT32_C(1) << n); cases++)
	{
		bool		recheck = true;

		/* Begin with the case that a row has all of these keys. */
		for (i = 0; i < n; i++)
			check[maybe[i]] = (cases >> i & 1) == 0;
		if (DatumGetBool(
				FunctionCall8Coll(&query->column->consistent, query->column->call_collation,
								  PointerGetDatum(check), UInt16GetDatum(query->strategy),
								  query->argument, UInt32GetDatum(base->nkeys),
								  PointerGetDatum(query->extra), PointerGetDatum(&recheck),
								  PointerGetDatum(query->keys), PointerGetDatum(query->nulls))))
			return true;
	}
	return false;
}

static SignatureQuery *
ask(SignatureColumn *column, StrategyNumber strategy, Oid type, Datum argument)
{
	GinColumn  *self = (GinColumn *) column;
	GinQuery   *query = (GinQuery *) palloc0(sizeof(GinQuery));
	SignatureQuery *base = &query->base;
	int32		n = 0;
	bool	   *partial = NULL;
	int32		mode = GIN_SEARCH_MODE_DEFAULT;
	int32		i;

	query->column = self;
	query->strategy = strategy;
	query->argument = argument;
	query->keys = (Datum *) DatumGetPointer(
		FunctionCall7Coll(&self->extract_query, self->call_collation, argument,
						  PointerGetDatum(&n), UInt16GetDatum(strategy),
						  PointerGetDatum(&partial), PointerGetDatum(&query->extra),
						  PointerGetDatum(&query->nulls), PointerGetDatum(&mode)));

	/*
	 * A query that asks for rows without keys, too, asks for all rows here: a signature does not
	 * tell that a row has no key.
	 */
	if (mode != GIN_SEARCH_MODE_DEFAULT)
	{
		base->ask = SIGNATURE_ASK_NOTHING;
		return base;
	}
	if (query->keys == NULL || n <= 0)
	{
		base->ask = SIGNATURE_NO_ROW;
		return base;
	}
	base->ask = SIGNATURE_ASK_KEYS;
	base->nkeys = (uint32) n;
	base->hashes = (uint64 *) palloc0(n * sizeof(uint64));
	base->decide = self->is_ternary ? decide_ternary : decide_binary;
	query->check = (GinTernaryValue *) palloc0(n * Max(sizeof(GinTernaryValue), sizeof(bool)));
	if (query->nulls == NULL)
		query->nulls = (bool *) palloc0(n * sizeof(bool));
	for (i = 0; i < n; i++)
	{
		if (query->nulls[i] || (partial != NULL && partial[i]))
		{
			if (base->unknown == NULL)
				base->unknown = (bool *) palloc0(n * sizeof(bool));
			base->unknown[i] = true;
		}
		else
			base->hashes[i] = signature_hash(column, self->hasher->hash(self->hasher,
																		query->keys[i]));
	}
	return base;
}

const SignatureClass bloomfam_signature_gin = {make, extract, ask};
