/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_family.c
 *	  Makes and compares the names of key families.
 *
 * Two keys whose families have the same name are hashed the same way, on any server, for ever.  So
 * a name tells all that the hash depends on.  Types that are hashed by this module's own bytes need
 * nothing more.  A user's type has its qualified name, and after "@" come the server and the
 * collation, if the hash depends on them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "pg/key_family.h"
#include "pg/key_utf8.h"

/*
 * Gives a hasher its family.  A name that is too long for a filter's header is cut, and gets a hash
 * of the whole name at its end, so that different families still differ.
 */
void
bloomfam_family_set(BloomfamHasher *hasher, const char *name)
{
	size_t		len = strlen(name);

	if (len > BF_MAX_FAMILY_LEN)
	{
		char		tail[sizeof("...#0123456789abcdef")];
		int			kept = BF_MAX_FAMILY_LEN - (int) (sizeof(tail) - 1);

		snprintf(tail, sizeof(tail), "...#%016llx", (unsigned long long) bf_hash_bytes(name, len));
		kept = pg_encoding_mbcliplen(PG_UTF8, name, (int) len, kept);
		name = psprintf("%.*s%s", kept, name, tail);
		len = strlen(name);
	}
	else
		name = pstrdup(name);

	hasher->family = name;
	hasher->family_len = (uint32) len;
	hasher->family_id = bf_family_id(name, len);
}

void
bloomfam_family_change(BloomfamHasher *hasher, MemoryContext context, const char *name)
{
	MemoryContext old_context = MemoryContextSwitchTo(context);
	char	   *old_name = unconstify(char *, hasher->family);

	bloomfam_family_set(hasher, name);
	if (old_name != NULL)
		pfree(old_name);
	MemoryContextSwitchTo(old_context);
}

/* Appends a string of the database in UTF-8 and in double quotes; NULL gives two quotes. */
static void
append_quoted(StringInfo buf, const char *str)
{
	const char *p = "";
	size_t		len;

	if (str != NULL)
		p = bloomfam_utf8_from_server(str, (int) strlen(str), &len);

	appendStringInfoChar(buf, '"');
	for (; *p != '\0'; p++)
	{
		if (*p == '"')
			appendStringInfoChar(buf, '"');
		appendStringInfoChar(buf, *p);
	}
	appendStringInfoChar(buf, '"');
}

/* Appends a type's qualified name. */
void
bloomfam_family_append_type(StringInfo buf, Oid type)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	Form_pg_type form;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", type);
	form = (Form_pg_type) GETSTRUCT(tuple);
	append_quoted(buf, get_namespace_name_or_temp(form->typnamespace));
	appendStringInfoChar(buf, '.');
	append_quoted(buf, NameStr(form->typname));
	ReleaseSysCache(tuple);
}

/* Appends what every hash function of the server depends on: its major version and byte order. */
void
bloomfam_family_append_server(StringInfo buf)
{
#ifdef WORDS_BIGENDIAN
	const char *byte_order = "be";
#else
	const char *byte_order = "le";
#endif

	appendStringInfo(buf, "pg%d:%s", BLOOMFAM_PG_MAJOR, byte_order);
}

/* A catalog with locales, and its columns; columns that this major version does not have are 0. */
typedef struct LocaleCatalog
{
	const char *object;
	int			cache;
	AttrNumber	provider;
	AttrNumber	collate;
	AttrNumber	ctype;
	AttrNumber	locale;
	AttrNumber	rules;
} LocaleCatalog;

static const LocaleCatalog databases = {
	.object = "database",
	.cache = DATABASEOID,
	.provider = Anum_pg_database_datlocprovider,
	.collate = Anum_pg_database_datcollate,
	.ctype = Anum_pg_database_datctype,
	.locale = BLOOMFAM_ANUM_DAT_LOCALE,
	.rules = BLOOMFAM_ANUM_DAT_RULES,
};

static const LocaleCatalog collations = {
	.object = "collation",
	.cache = COLLOID,
	.provider = Anum_pg_collation_collprovider,
	.collate = Anum_pg_collation_collcollate,
	.ctype = Anum_pg_collation_collctype,
	.locale = BLOOMFAM_ANUM_COLL_LOCALE,
	.rules = BLOOMFAM_ANUM_COLL_RULES,
};

/*
 * Returns a text column of a catalog's row as a string; NULL if it is null or there is no such
 * column.
 */
static char *
catalog_string(const LocaleCatalog *catalog, HeapTuple tuple, AttrNumber column)
{
	Datum		value;
	bool		isnull;

	if (column == InvalidAttrNumber)
		return NULL;
	value = SysCacheGetAttr(catalog->cache, tuple, column, &isnull);
	return isnull ? NULL : TextDatumGetCString(value);
}

/*
 * Appends what a collation's comparisons depend on: its provider, its locale, the version of that
 * locale in the installed library, and its rules if there are any.  Its name does not matter: two
 * collations that have all of this in common compare alike.
 */
void
bloomfam_family_append_collation(StringInfo buf, Oid collation)
{
	bool		is_default = collation == DEFAULT_COLLATION_OID;
	const LocaleCatalog *catalog = is_default ? &databases : &collations;
	Oid			object = is_default ? MyDatabaseId : collation;
	HeapTuple	tuple = SearchSysCache1(catalog->cache, ObjectIdGetDatum(object));
	bool		isnull;
	char		provider;
	char	   *collate;
	char	   *ctype;
	char	   *locale;
	char	   *rules;
	const char *main_locale;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for %s %u", catalog->object, object);
	provider = DatumGetChar(SysCacheGetAttr(catalog->cache, tuple, catalog->provider, &isnull));
	collate = catalog_string(catalog, tuple, catalog->collate);
	ctype = catalog_string(catalog, tuple, catalog->ctype);
	locale = catalog_string(catalog, tuple, catalog->locale);
	rules = catalog_string(catalog, tuple, catalog->rules);
	ReleaseSysCache(tuple);

	main_locale = provider == COLLPROVIDER_LIBC ? collate : locale;
	appendStringInfo(buf, ":%s:", collprovider_name(provider));
	append_quoted(buf, main_locale);
	if (collate != NULL || ctype != NULL)
	{
		/*
		 * Append what decides about classes of characters; a database has these columns for any
		 * provider.
		 */
		appendStringInfoChar(buf, ':');
		append_quoted(buf, collate);
		appendStringInfoChar(buf, ':');
		append_quoted(buf, ctype);
	}
	appendStringInfoChar(buf, ':');
	append_quoted(buf,
				  main_locale != NULL ? get_collation_actual_version(provider, main_locale) : NULL);
	if (rules != NULL)
	{
		appendStringInfoString(buf, ":rules=");
		append_quoted(buf, rules);
	}
}

/*
 * A family's name taken apart: the name without the parts that begin with "@", and what these say.
 */
typedef struct NameParts
{
	StringInfoData type;

	/* The server of the first part with "@", such as "pg15:le"; NULL if there is no such part. */
	char	   *server;
	bool		has_collation;
} NameParts;

static void
take_apart(const char *name, uint32 len, NameParts *parts)
{
	const char *p = pnstrdup(name, len);

	initStringInfo(&parts->type);
	parts->server = NULL;
	parts->has_collation = false;
	while (*p != '\0')
	{
		bool		quoted = false;
		const char *end = p;

		/* Find the end of a type or of a part with "@".  Within quotes, no character ends it. */
		for (; *end != '\0' && (quoted || end == p || strchr("@,)[", *end) == NULL); end++)
			quoted ^= *end == '"';
		if (*p == '@')
		{
			char	   *part = pnstrdup(p + 1, end - p - 1);
			char	   *rest = strchr(part, ':');

			parts->has_collation |= strstr(part, ":libc:") != NULL ||
				strstr(part, ":icu:") != NULL || strstr(part, ":builtin:") != NULL;
			if (rest != NULL && (rest = strchr(rest + 1, ':')) != NULL)
				*rest = '\0';
			if (parts->server == NULL)
				parts->server = part;
		}
		else
			appendBinaryStringInfo(&parts->type, p, (int) (end - p));
		p = end;
	}
}

FamilyDifference
bloomfam_family_difference(const char *a, uint32 a_len, const char *b, uint32 b_len)
{
	NameParts	one;
	NameParts	other;
	StringInfoData here;

	if (a == NULL && b == NULL)
		return FAMILY_DIFFERS_IN_TYPE;
	if (a == NULL || b == NULL)
	{
		take_apart(a != NULL ? a : b, a != NULL ? a_len : b_len, &one);
		if (one.server == NULL)
			return FAMILY_DIFFERS_IN_TYPE;
		initStringInfo(&here);
		bloomfam_family_append_server(&here);
		return strcmp(one.server, here.data) == 0 ? FAMILY_MAY_DIFFER_IN_SERVER
			: FAMILY_DIFFERS_IN_SERVER;
	}
	take_apart(a, a_len, &one);
	take_apart(b, b_len, &other);
	if (strcmp(one.type.data, other.type.data) != 0)
		return FAMILY_DIFFERS_IN_TYPE;
	if (one.server != NULL && other.server != NULL && strcmp(one.server, other.server) != 0)
		return FAMILY_DIFFERS_IN_SERVER;
	return one.has_collation || other.has_collation ? FAMILY_DIFFERS_IN_COLLATION
		: FAMILY_DIFFERS_IN_TYPE;
}
