/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_utf8.c
 *	  Converts texts of the database to UTF-8.
 *
 * The server's own routines for this are not used.  They take the default conversion that the
 * search path finds, which anybody may make, and show the bytes that they cannot convert.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_conversion.h"
#include "catalog/pg_namespace.h"
#include "utils/memutils.h"

#include "pg/key_utf8.h"

/*
 * Returns the server's function that converts the database's encoding to UTF-8; InvalidOid if there
 * is none.
 */
static Oid
conversion(void)
{
	static Oid	function = InvalidOid;
	static bool known = false;

	/* The encoding of a database does not change, so the function is looked up once. */
	if (!known)
		function = FindDefaultConversion(PG_CATALOG_NAMESPACE, GetDatabaseEncoding(), PG_UTF8);
	known = true;
	return function;
}

bool
bloomfam_utf8_exists(void)
{
	return bloomfam_utf8_is_plain() || OidIsValid(conversion());
}

/* Returns whether a string is ASCII, which is the same in every encoding of a database. */
static bool
is_ascii(const char *str, int len)
{
	int			i;

	for (i = 0; i < len; i++)
	{
		if (IS_HIGHBIT_SET(str[i]))
			return false;
	}
	return true;
}

char *
bloomfam_utf8_from_server(const char *str, int len, size_t *utf8_len)
{
	char	   *utf8;

	if (bloomfam_utf8_is_plain() || is_ascii(str, len))
	{
		*utf8_len = (size_t) len;
		return unconstify(char *, str);
	}

	if (OidIsValid(conversion()))
	{
		/* Allocate as many bytes as the server itself does for a conversion. */
		utf8 = (char *) MemoryContextAllocHuge(CurrentMemoryContext,
											   (Size) len * MAX_CONVERSION_GROWTH + 1);
		if (DatumGetInt32(OidFunctionCall6(conversion(), Int32GetDatum(GetDatabaseEncoding()),
										   Int32GetDatum(PG_UTF8), CStringGetDatum(str),
										   CStringGetDatum(utf8), Int32GetDatum(len),
										   BoolGetDatum(true))) == len)
		{
			*utf8_len = strlen(utf8);
			return utf8;
		}
	}
	ereport(ERROR,
			(errcode(ERRCODE_UNTRANSLATABLE_CHARACTER),
			 errmsg("text of encoding \"%s\" has a character that has no equivalent in UTF-8",
					GetDatabaseEncodingName()),
			 errdetail("Keys that are texts, and names of types, are hashed in UTF-8."),
			 errhint("Use the bytes of the text as the key, by convert_to(key, '%s').",
					 GetDatabaseEncodingName())));
	return NULL;				/* keep compiler quiet */
}
