/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_function.c
 *	  The hasher of keys that are hashed by a function of the server or of an extension.
 *
 * It is for types whose equality this module does not know.  The family's name has what the
 * function depends on after "@": the server's major version and byte order, the encoding, and for a
 * type with collations the database's collation and the key's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "pg/key_family.h"
#include "pg/key_function.h"

/* A hasher that calls an extended hash function of the server. */
typedef struct FunctionHasher
{
	BloomfamHasher base;
	FmgrInfo	function;
	FunctionCallInfo call;

	/* Room for a key of another type as text; NULL if none is allocated. */
	text	   *text;
	Size		text_size;
	MemoryContext context;
} FunctionHasher;

/*
 * Hashes a key by the function.  The result is mixed, as some bits of the server's hash functions
 * are worse than others.
 */
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

/* Hashes a string as text, by the function for text. */
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

/*
 * If the type's default hash operator class is that of another type (as varchar has that of text),
 * and the type has the other one's equality, too, returns the other type; otherwise this type.
 */
Oid
bloomfam_key_relabelled(Oid type)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC);

	return OidIsValid(entry->hash_extended_proc) ? entry->hash_opintype : type;
}

/* ---- keys that outlive their database ---- */

/*
 * Returns whether this is a type of the server with its own hash function, whose hash depends only
 * on what the text of a value says.
 */
static bool
is_hashed_by_text(Oid type)
{
	switch (type)
	{
		case XIDOID:
		case XID8OID:
		case CIDOID:
		case TIDOID:
		case JSONBOID:
#ifdef OID8OID					/* The type oid8 exists since PostgreSQL 19. */
		case OID8OID:
#endif
			return true;
		default:
			return false;
	}
}

static PGFunction
routine_of(Oid function)
{
	FmgrInfo	info;

	fmgr_info(function, &info);
	return info.fn_addr;
}

/* Returns whether both types have the same output function, and so the same text form of values. */
static bool
are_written_alike(Oid type, Oid other)
{
	Oid			output;
	Oid			other_output;
	bool		is_varlena;

	getTypeOutputInfo(type, &output, &is_varlena);
	getTypeOutputInfo(other, &other_output, &is_varlena);
	return routine_of(output) == routine_of(other_output);
}

void
bloomfam_key_check_lasting(Oid type)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC);
	Oid			function = entry->hash_extended_proc;
	Oid			other = entry->hash_opintype;

	if (!OidIsValid(function))
		/* Return without an error, as a type without a hash function has no keys. */
		return;

	if (other == type && type < FirstNormalObjectId)
	{
		if (!is_hashed_by_text(type))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot hash keys of type %s", format_type_be(type)),
					 errdetail("In another database, the same value may have another hash."),
					 errhint("Cast the key to text.")));
		return;
	}

	/*
	 * A value of a few bytes may stand for something that has a name in this database, as a
	 * regclass does.  A longer value is complete by itself.
	 */
	if (other == type && routine_of(function) == hashoidextended)
		other = OIDOID;
	if (other != type && get_typlen(other) > 0 && !are_written_alike(type, other))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot hash keys of type %s", format_type_be(type)),
				 errdetail("They are hashed as %s, and another database may have another %s by the "
						   "same name.",
						   format_type_be(other), format_type_be(other)),
				 errhint("Cast the key to text, or to %s for its value in this database.",
						 format_type_be(other))));
}

/*
 * Raises an error if there is no collation: the key might be hashed under another one than it is
 * compared under.
 */
void
bloomfam_key_check_collation(Oid collation)
{
	if (!OidIsValid(collation))
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_COLLATION),
				 errmsg("could not determine which collation to use for hashing a key"),
				 errhint("Use the COLLATE clause to set the collation explicitly.")));
}

/* Makes the hasher of a type that this module does not know, by its default hash operator class. */
BloomfamHasher *
bloomfam_other_hasher(Oid type, Oid collation)
{
	/* The type cache finds only a hash function that goes with the equality that it has found. */
	TypeCacheEntry *entry = lookup_type_cache(type,
											  TYPECACHE_EQ_OPR | TYPECACHE_HASH_EXTENDED_PROC);
	BloomfamHasher *hasher;
	StringInfoData name;

	if (!OidIsValid(entry->hash_extended_proc))
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
