/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_enum.c
 *	  The hasher of keys that are enum values.
 *
 * The canonical bytes of the family enum "schema"."type" are the label in UTF-8.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_enum.h"
#include "common/hashfn.h"
#include "lib/stringinfo.h"
#include "utils/inval.h"
#include "utils/syscache.h"

#include "pg/key_enum.h"
#include "pg/key_family.h"
#include "pg/key_utf8.h"

typedef struct EnumLabel
{
	Oid			value;
	char		status;			/* Used by simplehash. */
	uint64		hash;
} EnumLabel;

#define SH_PREFIX		enumlabels
#define SH_ELEMENT_TYPE	EnumLabel
#define SH_KEY_TYPE		Oid
#define SH_KEY			value
#define SH_HASH_KEY(table, key) murmurhash32(key)
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE		static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

typedef struct EnumHasher
{
	BloomfamHasher base;

	/* A table of the hashes of labels, by the OIDs of the enum values that were hashed so far. */
	enumlabels_hash *labels;

	/* The value of enum_generation when the table "labels" was last emptied. */
	uint64		generation;
} EnumHasher;

/* The number of changes of pg_enum that this backend has heard of. */
static uint64 enum_generation = 0;

static void
enum_changed(Datum arg, int cacheid, uint32 hashvalue)
{
	enum_generation++;
}

static uint64
hash_enum_label(Oid value)
{
	HeapTuple	tuple = SearchSysCache1(ENUMOID, ObjectIdGetDatum(value));
	const char *label;
	char	   *utf8;
	size_t		utf8_len;
	uint64		hash;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid internal value for enum: %u", value)));
	label = NameStr(((Form_pg_enum) GETSTRUCT(tuple))->enumlabel);
	utf8 = bloomfam_utf8_from_server(label, (int) strlen(label), &utf8_len);
	hash = bf_hash_bytes(utf8, utf8_len);
	ReleaseSysCache(tuple);
	return hash;
}

/* Hashes an enum value by its label: values are OIDs, which differ from database to database. */
static uint64
key_enum(BloomfamHasher *hasher, Datum key)
{
	EnumHasher *self = (EnumHasher *) hasher;
	Oid			value = DatumGetObjectId(key);
	EnumLabel  *label;
	uint64		hash;
	bool		found;

	if (self->generation != enum_generation)
	{
		enumlabels_reset(self->labels);
		self->generation = enum_generation;
	}

	label = enumlabels_lookup(self->labels, value);
	if (label != NULL)
		return label->hash;

	hash = hash_enum_label(value);
	label = enumlabels_insert(self->labels, value, &found);
	label->hash = hash;
	return hash;
}

BloomfamHasher *
bloomfam_enum_hasher(Oid type)
{
	static bool registered = false;
	EnumHasher *self = (EnumHasher *) palloc0(sizeof(EnumHasher));
	StringInfoData name;

	if (!registered)
	{
		CacheRegisterSyscacheCallback(ENUMOID, enum_changed, (Datum) 0);
		registered = true;
	}

	self->base.hash = key_enum;
	self->labels = enumlabels_create(CurrentMemoryContext, 16, NULL);
	self->generation = enum_generation;
	initStringInfo(&name);
	appendStringInfoString(&name, "enum ");
	bloomfam_family_append_type(&name, type);
	bloomfam_family_set(&self->base, name.data);
	pfree(name.data);
	return &self->base;
}
