/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_text.c
 *	  The hasher of keys that are texts.
 *
 * The canonical bytes of the family "text" are the characters in UTF-8, without blanks at the end.
 * SQL compares varchar with char(n) as if both were char(n), which ignores such blanks.  So a text
 * with trailing blanks equals one without, though not by the equality of text.  In an encoding that
 * cannot be converted to UTF-8 (MULE_INTERNAL), the bytes are hashed unchanged, under a family with
 * the encoding in its name.
 *
 * Under a collation that calls different bytes equal, texts are hashed by the server's function for
 * text, and the family has the collation in its name.  Blanks are kept there, as the collation may
 * call them equal to something else.  So char(n) is a family of its own.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "keys/key_hash.h"
#include "pg/key_bytes.h"
#include "pg/key_family.h"
#include "pg/key_function.h"
#include "pg/key_text.h"
#include "pg/key_utf8.h"

/* Hashes characters of the database in UTF-8, or unchanged if they cannot be converted. */
static uint64
hash_string(const BloomfamHasher *hasher, const char *str, int len)
{
	size_t		utf8_len;
	char	   *utf8;
	uint64		hash;

	if (bloomfam_utf8_is_plain() || !bloomfam_utf8_exists())
		return bf_key_text(hasher->seed, str, len);
	utf8 = bloomfam_utf8_from_server(str, (int) bf_key_text_len(str, len), &utf8_len);
	hash = bf_key_bytes(hasher->seed, utf8, utf8_len);
	if (utf8 != str)
		pfree(utf8);
	return hash;
}

/* Hashes a text, varchar or bpchar if the database's bytes are hashed unchanged. */
static uint64
key_text_plain(BloomfamHasher *hasher, Datum key)
{
	struct varlena *value = PG_DETOAST_DATUM_PACKED(key);
	uint64		hash = bf_key_text(hasher->seed, VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));

	free_copy(value, key);
	return hash;
}

static uint64
key_text(BloomfamHasher *hasher, Datum key)
{
	struct varlena *value = PG_DETOAST_DATUM_PACKED(key);
	uint64		hash = hash_string(hasher, VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));

	free_copy(value, key);
	return hash;
}

static uint64
key_cstring(BloomfamHasher *hasher, Datum key)
{
	const char *str = DatumGetPointer(key);

	return hash_string(hasher, str, (int) strlen(str));
}

/*
 * Hashes a name by the function for text: name's own hash function ignores the collation, which its
 * = does not.
 */
static uint64
key_cstring_by_function(BloomfamHasher *hasher, Datum key)
{
	const char *str = DatumGetPointer(key);

	return bloomfam_hash_string_by_function(hasher, str, strlen(str));
}

/*
 * Hashes a bpchar by the function for text: in PostgreSQL 15, bpchar's own hash function keeps
 * trailing blanks under such collations, which its = ignores.
 */
static uint64
key_bpchar_by_function(BloomfamHasher *hasher, Datum key)
{
	struct varlena *value = PG_DETOAST_DATUM_PACKED(key);
	char	   *str = VARDATA_ANY(value);
	uint64		hash;

	hash = bloomfam_hash_string_by_function(hasher, str,
											bf_key_text_len(str, VARSIZE_ANY_EXHDR(value)));
	free_copy(value, key);
	return hash;
}

/*
 * Checks a literal of type unknown, a C string that is part of an anonymous row.  Raises an error
 * if the types of text would not all read it as the same key.
 */
static void
check_unknown(const char *str)
{
	size_t		len = strlen(str);

	if (len >= NAMEDATALEN || (len > 0 && str[len - 1] == ' '))
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_DATATYPE),
				 errmsg("could not determine the type of a part of the key"),
				 errdetail("An untyped literal that ends in a blank, or is longer than a name, is "
						   "not the same key for all types of text."),
				 errhint("Cast the literal to its type.")));
}

static uint64
key_unknown(BloomfamHasher *hasher, Datum key)
{
	check_unknown(DatumGetPointer(key));
	return key_cstring(hasher, key);
}

static uint64
key_unknown_by_function(BloomfamHasher *hasher, Datum key)
{
	check_unknown(DatumGetPointer(key));
	return key_cstring_by_function(hasher, key);
}

bool
bloomfam_is_text(Oid type)
{
	return type == TEXTOID || type == VARCHAROID || type == BPCHAROID || type == NAMEOID ||
		type == UNKNOWNOID;
}

/*
 * Makes the hasher of texts under a collation: by their bytes if equality is that of bytes, and
 * otherwise by the server's hash function for text, which gives texts that the collation calls
 * equal the same hash.
 */
BloomfamHasher *
bloomfam_text_hasher(Oid type, Oid collation)
{
	BloomfamHasher *hasher;
	StringInfoData name;

	/* A literal has no collation of its own. */
	if (type == UNKNOWNOID && !OidIsValid(collation))
		collation = DEFAULT_COLLATION_OID;
	bloomfam_key_check_collation(collation);

	if (get_collation_isdeterministic(collation))
	{
		hasher = (BloomfamHasher *) palloc0(sizeof(BloomfamHasher));
		if (type == NAMEOID)
			hasher->hash = key_cstring;
		else if (type == UNKNOWNOID)
			hasher->hash = key_unknown;
		else
			hasher->hash = bloomfam_utf8_is_plain() ? key_text_plain : key_text;
		bloomfam_family_set(hasher, bloomfam_utf8_exists() ? "text"
							: psprintf("text@%s", GetDatabaseEncodingName()));
		return hasher;
	}

	hasher = bloomfam_function_hasher(F_HASHTEXTEXTENDED, collation);
	if (type == NAMEOID)
		hasher->hash = key_cstring_by_function;
	else if (type == UNKNOWNOID)
		hasher->hash = key_unknown_by_function;
	else if (type == BPCHAROID)
		hasher->hash = key_bpchar_by_function;
	initStringInfo(&name);
	appendStringInfoString(&name, type == BPCHAROID ? "bpchar@" : "text@");
	bloomfam_family_append_server(&name);
	bloomfam_family_append_collation(&name, collation);
	bloomfam_family_set(hasher, name.data);
	pfree(name.data);
	return hasher;
}
