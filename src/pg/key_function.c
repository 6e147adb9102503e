/*-------------------------------------------------------------------------
 *
 * key_function.c
 *	  Keys that are hashed by a function of the server or of an extension.
 *
 * For types whose equality is not known here.  What the function depends on is in the family's
 * name after "@": the server's major version and byte order, the encoding, and for a type with
 * collations the database's collation and the key's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "nodes/value.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "pg/key_family.h"
#include "pg/key_function.h"

/* Hashes by an extended hash function of the server. */
typedef struct FunctionHasher
{
	BloomfamHasher base;
	FmgrInfo	function;
	FunctionCallInfo call;
	text	   *text;			/* room for a key of another type as text */
	Size		text_size;
	MemoryContext context;
} FunctionHasher;

/* The server's hash functions leave some bits worse than others: mix. */
uint64
bloomfam_hash_by_function(BloomfamHasher *hasher, Datum key)
{
	FunctionHasher *self = (FunctionHasher *) hasher;
	Datum		result;

	self->call->args[0].value = key;
	self->call->isnull = false;
	result = FunctionCallInvoke(self->call);
	if (self->call->isnull)
		elog(ERROR, "function %u returned NULL", self->function.fn_oid);
	return bf_hash_u64(DatumGetUInt64(result));
}

/* A string by text's function. */
uint64
bloomfam_hash_string_by_function(BloomfamHasher *hasher, const char *str, Size len)
{
	FunctionHasher *self = (FunctionHasher *) hasher;
	Size		size = VARHDRSZ + len;

	if (size > self->text_size)
	{
		if (self->text != NULL)
			pfree(self->text);
		self->text = NULL;
		self->text_size = 0;
		self->text = (text *) MemoryContextAlloc(self->context, size);
		self->text_size = size;
	}
	SET_VARSIZE(self->text, size);
	memcpy(VARDATA(self->text), str, len);
	return bloomfam_hash_by_function(hasher, PointerGetDatum(self->text));
}

/* Makes a hasher of an extended hash function, which is called with the seed 0. */
BloomfamHasher *
bloomfam_function_hasher(Oid function, Oid collation)
{
	FunctionHasher *self = (FunctionHasher *) palloc0(sizeof(FunctionHasher));

	self->base.hash = bloomfam_hash_by_function;
	self->context = CurrentMemoryContext;
	fmgr_info_cxt(function, &self->function, CurrentMemoryContext);
	self->call = (FunctionCallInfo) palloc0(SizeForFunctionCallInfo(2));
	InitFunctionCallInfoData(*self->call, &self->function, 2, collation, NULL, NULL);
	self->call->args[0].isnull = false;
	self->call->args[1].value = Int64GetDatum(0);
	self->call->args[1].isnull = false;
	return &self->base;
}

void
bloomfam_no_hash_error(Oid type)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_FUNCTION),
			 errmsg("could not identify a 64-bit hash function for type %s", format_type_be(type)),
			 errhint("Cast the key to a type that has one, such as text.")));
}

/* Is this an operator, and another one? */
static inline bool
is_other(Oid operator, Oid equality)
{
	return OidIsValid(operator) && operator != equality;
}

/*
 * Has the type an operator = of its own, other than this one: one that the search path finds, as
 * a query would, or one where the type lives?  What others have in their schemas is none of it.
 */
static bool
has_other_equality(Oid type, Oid equality)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	Oid			schema;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", type);
	schema = ((Form_pg_type) GETSTRUCT(tuple))->typnamespace;
	ReleaseSysCache(tuple);

	return is_other(OpernameGetOprid(list_make1(makeString("=")), type, type), equality) ||
		   is_other(GetSysCacheOid4(OPERNAMENSP, Anum_pg_operator_oid, CStringGetDatum("="),
									ObjectIdGetDatum(type), ObjectIdGetDatum(type),
									ObjectIdGetDatum(schema)),
					equality);
}

/* The type that this one is a relabelling of, equality and all; else itself. */
Oid
bloomfam_key_relabelled(Oid type)
{
	TypeCacheEntry *entry =
		lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_HASH_EXTENDED_PROC);

	if (!OidIsValid(entry->hash_extended_proc) || entry->hash_opintype == type ||
		has_other_equality(type, entry->eq_opr))
		return type;
	return entry->hash_opintype;
}

/* A key under no collation might be hashed by another one than it is compared by. */
void
bloomfam_key_check_collation(Oid collation)
{
	if (!OidIsValid(collation))
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_COLLATION),
				 errmsg("could not determine which collation to use for hashing a key"),
				 errhint("Use the COLLATE clause to set the collation explicitly.")));
}

/* A type that we know nothing of: what its default hash operator class says. */
BloomfamHasher *
bloomfam_other_hasher(Oid type, Oid collation)
{
	/* the type cache finds no hash function that does not go with the type's equality */
	TypeCacheEntry *entry =
		lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_HASH_EXTENDED_PROC);
	BloomfamHasher *hasher;
	StringInfoData name;

	if (!OidIsValid(entry->hash_extended_proc))
		bloomfam_no_hash_error(type);

	/*
	 * The operator class may be another type's, of which this one is a relabelling.  So is its
	 * equality then, if it has none of its own that is in no operator class.
	 */
	if (entry->hash_opintype != type && has_other_equality(type, entry->eq_opr))
		bloomfam_no_hash_error(type);

	if (type_is_collatable(type))
		bloomfam_key_check_collation(collation);

	hasher = bloomfam_function_hasher(entry->hash_extended_proc, collation);
	initStringInfo(&name);
	bloomfam_family_append_type(&name, type);
	appendStringInfoChar(&name, '@');
	bloomfam_family_append_server(&name);
	appendStringInfo(&name, ":%s", GetDatabaseEncodingName());
	if (type_is_collatable(type))
	{
		bloomfam_family_append_collation(&name, DEFAULT_COLLATION_OID);
		if (collation != DEFAULT_COLLATION_OID)
			bloomfam_family_append_collation(&name, collation);
	}
	bloomfam_family_set(hasher, name.data);
	pfree(name.data);
	return hasher;
}
