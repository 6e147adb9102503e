/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * type.c
 *	  Types of keys, and their families; see type.h.
 *
 *-------------------------------------------------------------------------
 */
#include "client/lib/type.h"

#include <stdio.h>

#include "core/bf.h"
#include "keys/family.h"

/* A type: its SQL name, its family, and the type of its Parquet column. */
typedef struct TypeRow
{
	const char *name;
	BfFamily	family;			/* BF_FAMILY_OTHER: an enum or a row. */
	BfPlainType plain;			/* The Parquet column to which the server writes the type. */
	bool		has_plain;
} TypeRow;

static const TypeRow rows[] = {
	[BLOOMFAM_TYPE_INT] = {"bigint", BF_FAMILY_INT, BF_PLAIN_INT64, true},
	[BLOOMFAM_TYPE_FLOAT] = {"real or double precision", BF_FAMILY_FLOAT, BF_PLAIN_DOUBLE, true},
	[BLOOMFAM_TYPE_REAL] = {"real", BF_FAMILY_FLOAT, BF_PLAIN_FLOAT, true},
	[BLOOMFAM_TYPE_DOUBLE] = {"double precision", BF_FAMILY_FLOAT, BF_PLAIN_DOUBLE, true},
	[BLOOMFAM_TYPE_ANY_TEXT] = {"text or name", BF_FAMILY_TEXT, BF_PLAIN_TEXT, true},
	[BLOOMFAM_TYPE_TEXT] = {"text", BF_FAMILY_TEXT, BF_PLAIN_TEXT, true},
	[BLOOMFAM_TYPE_BPCHAR] = {"character", BF_FAMILY_TEXT, 0, false},
	[BLOOMFAM_TYPE_NAME] = {"name", BF_FAMILY_TEXT, BF_PLAIN_TEXT, true},
	[BLOOMFAM_TYPE_NUMERIC] = {"numeric", BF_FAMILY_NUMERIC, BF_PLAIN_DECIMAL, true},
	[BLOOMFAM_TYPE_BOOL] = {"boolean", BF_FAMILY_BOOL, 0, false},
	[BLOOMFAM_TYPE_CHAR] = {"\"char\"", BF_FAMILY_CHAR, 0, false},
	[BLOOMFAM_TYPE_BYTEA] = {"bytea", BF_FAMILY_BYTEA, BF_PLAIN_BYTEA, true},
	[BLOOMFAM_TYPE_UUID] = {"uuid", BF_FAMILY_UUID, BF_PLAIN_UUID, true},
	[BLOOMFAM_TYPE_DATE] = {"date", BF_FAMILY_DATE, BF_PLAIN_DATE, true},
	[BLOOMFAM_TYPE_TIME] = {"time", BF_FAMILY_TIME, BF_PLAIN_TIME, true},
	[BLOOMFAM_TYPE_TIMETZ] = {"time with time zone", BF_FAMILY_TIMETZ, 0, false},
	[BLOOMFAM_TYPE_TIMESTAMP] = {"timestamp", BF_FAMILY_TIMESTAMP, BF_PLAIN_TIMESTAMP, true},
	[BLOOMFAM_TYPE_TIMESTAMPTZ] = {"timestamp with time zone", BF_FAMILY_TIMESTAMPTZ,
								   BF_PLAIN_TIMESTAMPTZ, true},
	[BLOOMFAM_TYPE_INTERVAL] = {"interval", BF_FAMILY_INTERVAL, 0, false},
	[BLOOMFAM_TYPE_OID] = {"oid", BF_FAMILY_OID, 0, false},
	[BLOOMFAM_TYPE_INET] = {"inet", BF_FAMILY_INET, 0, false},
	[BLOOMFAM_TYPE_MACADDR] = {"macaddr", BF_FAMILY_MACADDR, 0, false},
	[BLOOMFAM_TYPE_MACADDR8] = {"macaddr8", BF_FAMILY_MACADDR8, 0, false},
	[BLOOMFAM_TYPE_PG_LSN] = {"pg_lsn", BF_FAMILY_PG_LSN, 0, false},
	[BLOOMFAM_TYPE_BIT] = {"bit varying", BF_FAMILY_BIT, 0, false},
	[BLOOMFAM_TYPE_ENUM] = {"enum", BF_FAMILY_OTHER, 0, false},
	[BLOOMFAM_TYPE_ROW] = {"row", BF_FAMILY_OTHER, 0, false},
};

#define TYPES	(sizeof(rows) / sizeof(rows[0]))

/*
 * Another SQL name of a type.  The names in rows are names of types, too, unless no SQL type has
 * such a name.
 */
typedef struct Alias
{
	const char *name;
	BloomfamTypeId id;
	/* True if a length in parentheses may follow the name, as in varchar(10). */
	bool		has_length;
} Alias;

static const Alias aliases[] = {
	{"bigint", BLOOMFAM_TYPE_INT, false},
	{"int8", BLOOMFAM_TYPE_INT, false},
	{"integer", BLOOMFAM_TYPE_INT, false},
	{"int", BLOOMFAM_TYPE_INT, false},
	{"int4", BLOOMFAM_TYPE_INT, false},
	{"smallint", BLOOMFAM_TYPE_INT, false},
	{"int2", BLOOMFAM_TYPE_INT, false},
	{"real", BLOOMFAM_TYPE_REAL, false},
	{"float4", BLOOMFAM_TYPE_REAL, false},
	{"double precision", BLOOMFAM_TYPE_DOUBLE, false},
	{"float8", BLOOMFAM_TYPE_DOUBLE, false},
	{"float", BLOOMFAM_TYPE_DOUBLE, false},
	{"text", BLOOMFAM_TYPE_TEXT, false},
	{"varchar", BLOOMFAM_TYPE_TEXT, true},
	{"character varying", BLOOMFAM_TYPE_TEXT, true},
	{"char varying", BLOOMFAM_TYPE_TEXT, true},
	{"character", BLOOMFAM_TYPE_BPCHAR, true},
	{"char", BLOOMFAM_TYPE_BPCHAR, true},
	{"bpchar", BLOOMFAM_TYPE_BPCHAR, true},
	{"name", BLOOMFAM_TYPE_NAME, false},
	{"numeric", BLOOMFAM_TYPE_NUMERIC, false},
	{"decimal", BLOOMFAM_TYPE_NUMERIC, false},
	{"boolean", BLOOMFAM_TYPE_BOOL, false},
	{"bool", BLOOMFAM_TYPE_BOOL, false},
	{"\"char\"", BLOOMFAM_TYPE_CHAR, false},
	{"bytea", BLOOMFAM_TYPE_BYTEA, false},
	{"uuid", BLOOMFAM_TYPE_UUID, false},
	{"date", BLOOMFAM_TYPE_DATE, false},
	{"time", BLOOMFAM_TYPE_TIME, false},
	{"time without time zone", BLOOMFAM_TYPE_TIME, false},
	{"time with time zone", BLOOMFAM_TYPE_TIMETZ, false},
	{"timetz", BLOOMFAM_TYPE_TIMETZ, false},
	{"timestamp", BLOOMFAM_TYPE_TIMESTAMP, false},
	{"timestamp without time zone", BLOOMFAM_TYPE_TIMESTAMP, false},
	{"timestamp with time zone", BLOOMFAM_TYPE_TIMESTAMPTZ, false},
	{"timestamptz", BLOOMFAM_TYPE_TIMESTAMPTZ, false},
	{"interval", BLOOMFAM_TYPE_INTERVAL, false},
	{"oid", BLOOMFAM_TYPE_OID, false},
	{"inet", BLOOMFAM_TYPE_INET, false},
	{"cidr", BLOOMFAM_TYPE_INET, false},
	{"macaddr", BLOOMFAM_TYPE_MACADDR, false},
	{"macaddr8", BLOOMFAM_TYPE_MACADDR8, false},
	{"pg_lsn", BLOOMFAM_TYPE_PG_LSN, false},
	{"bit varying", BLOOMFAM_TYPE_BIT, true},
	{"varbit", BLOOMFAM_TYPE_BIT, true},
	{"bit", BLOOMFAM_TYPE_BIT, true},
};

#define ALIASES (sizeof(aliases) / sizeof(aliases[0]))

/* The type that is taken for each family if only the filter is known. */
static const struct
{
	BfFamily	family;
	BloomfamTypeId id;
}			types_of_families[] = {
	{BF_FAMILY_INT, BLOOMFAM_TYPE_INT},
	{BF_FAMILY_FLOAT, BLOOMFAM_TYPE_FLOAT},
	{BF_FAMILY_TEXT, BLOOMFAM_TYPE_ANY_TEXT},
	{BF_FAMILY_NUMERIC, BLOOMFAM_TYPE_NUMERIC},
	{BF_FAMILY_BOOL, BLOOMFAM_TYPE_BOOL},
	{BF_FAMILY_BYTEA, BLOOMFAM_TYPE_BYTEA},
	{BF_FAMILY_UUID, BLOOMFAM_TYPE_UUID},
	{BF_FAMILY_DATE, BLOOMFAM_TYPE_DATE},
	{BF_FAMILY_TIME, BLOOMFAM_TYPE_TIME},
	{BF_FAMILY_TIMETZ, BLOOMFAM_TYPE_TIMETZ},
	{BF_FAMILY_TIMESTAMP, BLOOMFAM_TYPE_TIMESTAMP},
	{BF_FAMILY_TIMESTAMPTZ, BLOOMFAM_TYPE_TIMESTAMPTZ},
	{BF_FAMILY_INTERVAL, BLOOMFAM_TYPE_INTERVAL},
	{BF_FAMILY_OID, BLOOMFAM_TYPE_OID},
	{BF_FAMILY_INET, BLOOMFAM_TYPE_INET},
	{BF_FAMILY_MACADDR, BLOOMFAM_TYPE_MACADDR},
	{BF_FAMILY_MACADDR8, BLOOMFAM_TYPE_MACADDR8},
	{BF_FAMILY_CHAR, BLOOMFAM_TYPE_CHAR},
	{BF_FAMILY_PG_LSN, BLOOMFAM_TYPE_PG_LSN},
	{BF_FAMILY_BIT, BLOOMFAM_TYPE_BIT},
};

#define FAMILIES	(sizeof(types_of_families) / sizeof(types_of_families[0]))

/*
 * The type that is taken for each type of Parquet column if only the filter is known.  A float of 4
 * bytes is a real; a float of 8 bytes may have been a real or a double precision.
 */
static const BloomfamTypeId types_of_plain[] = {
	[BF_PLAIN_INT32] = BLOOMFAM_TYPE_INT,
	[BF_PLAIN_INT64] = BLOOMFAM_TYPE_INT,
	[BF_PLAIN_FLOAT] = BLOOMFAM_TYPE_REAL,
	[BF_PLAIN_DOUBLE] = BLOOMFAM_TYPE_FLOAT,
	[BF_PLAIN_DATE] = BLOOMFAM_TYPE_DATE,
	[BF_PLAIN_TIME] = BLOOMFAM_TYPE_TIME,
	[BF_PLAIN_TIMESTAMP] = BLOOMFAM_TYPE_TIMESTAMP,
	[BF_PLAIN_TIMESTAMPTZ] = BLOOMFAM_TYPE_TIMESTAMPTZ,
	[BF_PLAIN_UUID] = BLOOMFAM_TYPE_UUID,
	[BF_PLAIN_TEXT] = BLOOMFAM_TYPE_ANY_TEXT,
	[BF_PLAIN_BYTEA] = BLOOMFAM_TYPE_BYTEA,
	[BF_PLAIN_DECIMAL] = BLOOMFAM_TYPE_NUMERIC,
};

const char *
bf_type_sql_name(BloomfamTypeId id)
{
	return (size_t) id < TYPES ? rows[id].name : "unknown";
}

const char *
bf_type_sql_family(BloomfamTypeId id)
{
	return bf_family_label(rows[id].family);
}

bool
bf_type_same_class(BloomfamTypeId a, BloomfamTypeId b)
{
	return a == b || (rows[a].family == rows[b].family && rows[a].family != BF_FAMILY_OTHER);
}

const char *
bloomfam_type_name(size_t i)
{
	static const BloomfamTypeId unnamed[] = {BLOOMFAM_TYPE_FLOAT, BLOOMFAM_TYPE_ANY_TEXT,
											 BLOOMFAM_TYPE_ENUM, BLOOMFAM_TYPE_ROW};
	size_t		j;

	/* i counts only the types that a name in SQL stands for, so the other types are skipped. */
	for (j = 0; j < sizeof(unnamed) / sizeof(unnamed[0]); j++)
		if (i >= (size_t) unnamed[j])
			i++;
	return i < TYPES ? rows[i].name : NULL;
}

const char *
bloomfam_kind_name(size_t i)
{
	const BfKind *kind;
	size_t		at;

	for (at = 0; (kind = bf_kind_at(at)) != NULL; at++)
		if (!(kind->caps & BF_INTERNAL) && i-- == 0)
			return kind->name;
	return NULL;
}

BloomfamStatus
bf_kind_error(const char *name, BloomfamError *error)
{
	char		list[192] = "";
	const char *kind;
	size_t		i;

	for (i = 0; (kind = bloomfam_kind_name(i)) != NULL; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s\"%s\"", i > 0 ? ", " : "",
				 kind);
	(void) bf_fail(error, BLOOMFAM_BAD_ARGUMENT, "unrecognized kind of bloom filter: \"%s\"", name);
	bf_hint(error, "Available kinds: %s.", list);
	return BLOOMFAM_BAD_ARGUMENT;
}

/* ---- families ---- */

static void
set_family(BloomfamType *type, BloomfamTypeId id, const char *name, size_t len)
{
	memset(type, 0, sizeof(*type));
	type->id = id;
	type->family_id = bf_family_id(name, len);
	bf_clean(type->family, sizeof(type->family), name, len);
}

static void
set_plain(BloomfamType *type, BloomfamTypeId id, const BfPlainColumn *column)
{
	char		name[BF_PLAIN_MAX_NAME];
	size_t		len = bf_plain_write_name(column, name);

	set_family(type, id, name, len);
	type->plain = (uint8_t) (column->type + 1);
	type->plain_precision = (uint8_t) column->precision;
	type->plain_scale = (uint8_t) column->scale;
	type->plain_bytes = (uint8_t) column->bytes;
	type->plain_fixed = column->fixed;
}

/* Returns the position after a name in double quotes; NULL if p is not at such a name. */
static const char *
past_quoted(const char *p, const char *end)
{
	if (p == NULL || p == end || *p++ != '"')
		return NULL;
	for (; p < end; p++)
	{
		if (*p != '"')
			continue;
		if (p + 1 < end && p[1] == '"')
			p++;
		else
			return p + 1;
	}
	return NULL;
}

/* Returns whether a name is that of an enum's family. */
static bool
is_enum(const char *name, size_t len)
{
	static const char prefix[] = "enum ";
	const char *end = name + len;
	const char *p;

	if (len < sizeof(prefix) || memcmp(name, prefix, sizeof(prefix) - 1) != 0)
		return false;
	p = past_quoted(name + sizeof(prefix) - 1, end);
	if (p == NULL || p == end || *p != '.')
		return false;
	return past_quoted(p + 1, end) == end;
}

/* ---- keys of several columns ---- */

/*
 * Finds the end of the name that begins at p in a list of names: the next comma that is neither in
 * quotes nor in parentheses, or the list's end.
 */
static const char *
past_name(const char *p, const char *end)
{
	int			depth = 0;
	bool		quoted = false;

	for (; p < end && (quoted || depth > 0 || *p != ','); p++)
	{
		if (*p == '"')
			quoted = !quoted;
		else if (!quoted)
			depth += (*p == '(') - (*p == ')');
	}
	return p;
}

/* Sets the type of a key of several columns; the name of its family lists the columns' families. */
static void
set_row(BloomfamType *type, const char *name, size_t len, const BloomfamTypeId *ids, size_t n)
{
	size_t		i;

	set_family(type, BLOOMFAM_TYPE_ROW, name, len);
	type->ncolumns = (uint8_t) n;
	for (i = 0; i < n; i++)
		type->columns[i] = (uint8_t) ids[i];
}

/*
 * Finds the type of a family that is neither that of rows nor that of a Parquet column.  Returns
 * false if there is no such type.
 */
static bool
single_family(uint64_t family_id, const char *name, size_t len, BloomfamTypeId *id)
{
	BfFamily	family = bf_family_by_id(family_id);
	size_t		i;

	for (i = 0; i < FAMILIES; i++)
	{
		if (family == types_of_families[i].family)
		{
			*id = types_of_families[i].id;
			return true;
		}
	}
	*id = BLOOMFAM_TYPE_ENUM;
	return is_enum(name, len);
}

#define ROW_PREFIX	"row("

/*
 * Reads the name of a family of rows.  Returns false unless the keys of every column can be hashed
 * by the library.
 */
static bool
row_family(const char *name, size_t len, BloomfamType *type)
{
	BloomfamTypeId ids[BLOOMFAM_MAX_COLUMNS];
	const char *end = name + len - 1;
	const char *p = name + strlen(ROW_PREFIX);
	size_t		n = 0;

	if (len <= strlen(ROW_PREFIX) || memcmp(name, ROW_PREFIX, strlen(ROW_PREFIX)) != 0 ||
		*end != ')')
		return false;
	for (;;)
	{
		const char *stop = past_name(p, end);

		size_t		part = (size_t) (stop - p);

		if (n == BLOOMFAM_MAX_COLUMNS ||
			!single_family(bf_family_id(p, part), p, part, &ids[n++]))
			return false;
		if (stop == end)
			break;
		p = stop + 1;
	}
	set_row(type, name, len, ids, n);
	return true;
}

BloomfamStatus
bloomfam_row_type(const BloomfamType *types, size_t n, BloomfamType *type, BloomfamError *error)
{
	BloomfamTypeId ids[BLOOMFAM_MAX_COLUMNS];
	char		name[BF_MAX_FAMILY_LEN + 1] = ROW_PREFIX;
	size_t		i;

	if (n == 0 || n > BLOOMFAM_MAX_COLUMNS)
		return bf_fail(error, BLOOMFAM_BAD_ARGUMENT, "a key has from 1 to %d columns",
					   BLOOMFAM_MAX_COLUMNS);
	for (i = 0; i < n; i++)
	{
		size_t		used = strlen(name);

		if (bf_type_is_plain(&types[i]))
			return bf_fail(error, BLOOMFAM_BAD_ARGUMENT,
						   "keys of several columns cannot be those of kind \"parquet\"");
		if (types[i].id == BLOOMFAM_TYPE_ROW)
			return bf_fail(error, BLOOMFAM_NOT_ASKABLE, "a column of a key has rows");
		/*
		 * Each family's name in the name of a row's family is followed by a comma or the closing
		 * parenthesis.
		 */
		if (used + strlen(types[i].family) + 1 >= sizeof(name))
		{
			(void) bf_fail(error, BLOOMFAM_NOT_ASKABLE,
						   "the names of the types of the key's columns are too long");
			bf_detail(error, "Together they have more than %d bytes.", BF_MAX_FAMILY_LEN);
			return BLOOMFAM_NOT_ASKABLE;
		}
		ids[i] = types[i].id;
		strcat(name, types[i].family);
		strcat(name, i + 1 < n ? "," : ")");
	}
	set_row(type, name, strlen(name), ids, n);
	return BLOOMFAM_OK;
}

size_t
bloomfam_type_columns(const BloomfamType *type)
{
	return type->id == BLOOMFAM_TYPE_ROW ? type->ncolumns : 1;
}

void
bloomfam_type_column(const BloomfamType *type, size_t i, BloomfamType *column)
{
	const char *p = type->family + strlen(ROW_PREFIX);
	const char *end = type->family + strlen(type->family) - 1;
	BloomfamType result = *type;

	if (type->id == BLOOMFAM_TYPE_ROW)
	{
		size_t		c;

		for (c = 0; c < i; c++)
			p = past_name(p, end) + 1;
		set_family(&result, (BloomfamTypeId) type->columns[i], p,
				   (size_t) (past_name(p, end) - p));
	}
	*column = result;
}

/* Returns the status of a family that has no type here, according to its name. */
static BfTypeStatus
other_family(const char *name, size_t len)
{
	bool		quoted = false;
	size_t		i;

	for (i = 0; i < len; i++)
	{
		if (name[i] == '"')
			quoted = !quoted;
		else if (name[i] == '@' && !quoted)
			return BF_TYPE_OF_SERVER;
	}
	if (len > 0 && (name[len - 1] == ']' || name[len - 1] == ')' ||
					(len == 9 && memcmp(name, "oidvector", 9) == 0)))
		return BF_TYPE_NESTED;
	return BF_TYPE_UNKNOWN;
}

BfTypeStatus
bf_type_of_family(const BfHeader *head, BloomfamType *type)
{
	bool		is_identity = head->kind->id == BF_KIND_IDENTITY;
	const char *name = head->family;
	size_t		len = head->family_len;
	BloomfamTypeId id;
	BfPlainColumn column;

	memset(type, 0, sizeof(*type));
	if (head->family_id == 0)
		return BF_TYPE_NO_FAMILY;
	if (bf_plain_of_family(name, len, &column))
	{
		/*
		 * A filter of no keys (kind "identity") does not say by which function its keys would be
		 * hashed.
		 */
		if (head->hash_id != BF_HASH_XXH64_PLAIN && !is_identity)
			return BF_TYPE_UNKNOWN;
		set_plain(type, types_of_plain[column.type], &column);
		return BF_TYPE_OK;
	}
	if (head->hash_id != BF_HASH_XXH3)
		return BF_TYPE_UNKNOWN;
	if (single_family(head->family_id, name, len, &id))
	{
		/*
		 * The header always has the name of an enum's family.  It may lack the names of other
		 * families, which are known by their numbers.
		 */
		if (id != BLOOMFAM_TYPE_ENUM)
			name = bf_type_sql_family(id);
		set_family(type, id, name, id != BLOOMFAM_TYPE_ENUM ? strlen(name) : len);
		return BF_TYPE_OK;
	}
	if (row_family(name, len, type))
		return BF_TYPE_OK;
	if (len == 0 && (name = bf_family_name(head->family_id)) != NULL)
		len = strlen(name);
	return other_family(name, len);
}

BloomfamStatus
bf_type_error(BfTypeStatus status, const BfHeader *head, BloomfamError *error)
{
	char		family[BF_FAMILY_ROOM];

	(void) bf_family_text(head, family);
	switch (status)
	{
		case BF_TYPE_NO_FAMILY:
			(void) bf_fail(error, BLOOMFAM_NOT_ASKABLE,
						   "the bloom filter does not know the type of its keys");
			bf_detail(error, "It holds none.");
			bf_hint(error, "Say the type of the keys.");
			break;
		case BF_TYPE_OF_SERVER:
			(void) bf_fail(error, BLOOMFAM_NOT_ASKABLE,
						   "keys of the bloom filter's type can only be hashed by its server");
			bf_detail(error, "The filter holds keys of type %s, whose hash depends on what stands "
							 "after the sign @.", family);
			bf_hint(error, "Ask it in SQL, or build the filter of keys that are cast to a type of "
						   "the server's own, such as text under the collation \"C\".");
			break;
		case BF_TYPE_NESTED:
			(void) bf_fail(error, BLOOMFAM_NOT_ASKABLE,
						   "keys of the bloom filter's type cannot be hashed outside the server");
			bf_detail(error, "The filter holds keys of type %s.", family);
			bf_hint(error, "Ask it in SQL, or build the filter of one text for each key, such as "
						   "concat_ws('|', a, b).");
			break;
		default:
			(void) bf_fail(error, BLOOMFAM_NOT_ASKABLE,
						   "the type of the bloom filter's keys is not known here");
			bf_detail(error, "The filter holds keys of type %s.", family);
			bf_hint(error, "Ask it in SQL.");
			break;
	}
	return BLOOMFAM_NOT_ASKABLE;
}

/* ---- names ---- */

#define NAME_ROOM	256

/*
 * A type's name in lower case, with single blanks between words and no blank at either end.  Its
 * modifiers are apart.
 */
typedef struct TypeName
{
	char		name[NAME_ROOM];
	/* The text in parentheses without blanks; "": there are no parentheses. */
	char		modifiers[NAME_ROOM];
	bool		is_array;
} TypeName;

/*
 * Splits the name of a type into name and modifiers.  Returns false if a part is too long, or the
 * parentheses do not match.
 */
static bool
take_apart(const char *text, TypeName *result)
{
	size_t		n = 0;
	size_t		m = 0;
	bool		inside = false;

	memset(result, 0, sizeof(*result));
	for (; *text != '\0'; text++)
	{
		char		c = *text;

		if (c >= 'A' && c <= 'Z')
			c = (char) (c + 'a' - 'A');
		if (n + 1 >= NAME_ROOM || m + 1 >= NAME_ROOM)
			return false;
		if (c == '(' || c == ')')
		{
			if (inside == (c == '(') || (c == '(' && m > 0))
				return false;
			inside = c == '(';
		}
		else if (inside)
		{
			if (c != ' ')
				result->modifiers[m++] = c;
		}
		else if (c != ' ')
			result->name[n++] = c;
		else if (n > 0 && result->name[n - 1] != ' ')
			result->name[n++] = c;
	}
	if (n > 0 && result->name[n - 1] == ' ')
		n--;
	result->name[n] = '\0';
	if (n > 2 && strcmp(result->name + n - 2, "[]") == 0)
		result->is_array = true;
	if (strncmp(result->name, "pg_catalog.", strlen("pg_catalog.")) == 0)
		memmove(result->name, result->name + strlen("pg_catalog."),
				n + 1 - strlen("pg_catalog."));
	return !inside;
}

static BloomfamStatus
unknown_type(const char *name, BloomfamError *error)
{
	(void) bf_fail(error, BLOOMFAM_BAD_ARGUMENT, "unrecognized type of keys: \"%s\"", name);
	bf_hint(error, "Types are those of SQL, such as bigint, text, uuid, numeric, timestamptz.");
	return BLOOMFAM_BAD_ARGUMENT;
}

/*
 * Finds the type for an SQL name with kind parquet: that of the Parquet column to which the server
 * writes the SQL type.
 */
static BloomfamStatus
plain_by_sql(const char *given, BloomfamTypeId id, const TypeName *name, BloomfamType *type,
			 BloomfamError *error)
{
	BfPlainColumn column;
	char		decimal[NAME_ROOM + sizeof("decimal(,0)")];

	/*
	 * The name "float" is refused, as it has 8 bytes in SQL and 4 in Parquet: a wrong guess would
	 * lead to false negatives.
	 */
	if (strcmp(name->name, "float") == 0)
	{
		(void) bf_fail(error, BLOOMFAM_BAD_ARGUMENT,
					   "type \"%s\" is double precision in SQL, and real in Parquet", given);
		bf_hint(error, "Write \"double precision\", or \"real\".");
		return BLOOMFAM_BAD_ARGUMENT;
	}
	if (!rows[id].has_plain)
	{
		(void) bf_fail(error, BLOOMFAM_BAD_ARGUMENT,
					   "keys of type %s cannot be those of a bloom filter of kind \"parquet\"",
					   rows[id].name);
		if (id == BLOOMFAM_TYPE_BPCHAR)
			bf_detail(error, "Parquet tells texts apart that differ in blanks at the end.");
		return BLOOMFAM_BAD_ARGUMENT;
	}
	memset(&column, 0, sizeof(column));
	column.type = rows[id].plain;
	if (bf_plain_is_time(column.type))
		column.precision = 6;
	/* A bigint has 8 bytes in Parquet; the other integer types have 4. */
	if (id == BLOOMFAM_TYPE_INT && strcmp(name->name, "bigint") != 0 &&
		strcmp(name->name, "int8") != 0)
		column.type = BF_PLAIN_INT32;
	if (id == BLOOMFAM_TYPE_NUMERIC)
	{
		snprintf(decimal, sizeof(decimal), "decimal(%s%s)", name->modifiers,
				 strchr(name->modifiers, ',') != NULL ? "" : ",0");
		if (name->modifiers[0] == '\0' || !bf_plain_parse(decimal, &column))
		{
			(void) bf_fail(error, BLOOMFAM_BAD_ARGUMENT,
						   "precision and scale of the keys of a Parquet bloom filter are not "
						   "known");
			bf_hint(error, "Give the column's type in the Parquet file, such as decimal(18,2).");
			return BLOOMFAM_BAD_ARGUMENT;
		}
	}
	else if (name->modifiers[0] != '\0' && id != BLOOMFAM_TYPE_TEXT)
		return unknown_type(given, error);
	set_plain(type, id, &column);
	return BLOOMFAM_OK;
}

static BloomfamStatus
by_sql_name(const char *given, bool is_parquet, BloomfamType *type, BloomfamError *error)
{
	TypeName	name;
	const char *family;
	size_t		i;

	if (!take_apart(given, &name))
		return unknown_type(given, error);
	for (i = 0; i < ALIASES; i++)
		if (strcmp(aliases[i].name, name.name) == 0)
			break;
	if (i == ALIASES && name.is_array)
	{
		(void) bf_fail(error, BLOOMFAM_NOT_ASKABLE,
					   "keys of type %s cannot be hashed outside the server", given);
		bf_hint(error, "Make one text of each key.");
		return BLOOMFAM_NOT_ASKABLE;
	}
	if (i == ALIASES)
		return unknown_type(given, error);
	if (is_parquet)
		return plain_by_sql(given, aliases[i].id, &name, type, error);
	if (name.modifiers[0] != '\0' &&
		!(aliases[i].has_length &&
		  name.modifiers[strspn(name.modifiers, "0123456789")] == '\0'))
	{
		(void) bf_fail(error, BLOOMFAM_BAD_ARGUMENT,
					   "type \"%s\" has a modifier, which could change keys", given);
		bf_hint(error, "Give the type without it, and keys as they are stored, rounded.");
		return BLOOMFAM_BAD_ARGUMENT;
	}
	family = bf_family_label(rows[aliases[i].id].family);
	set_family(type, aliases[i].id, family, strlen(family));
	return BLOOMFAM_OK;
}

/*
 * Returns the type of the keys of a Parquet column that the caller named.  A caller who names it
 * knows what the keys are, so that the type has a single reading.
 */
static BloomfamTypeId
named_type(const BfPlainColumn *column)
{
	BloomfamTypeId id = types_of_plain[column->type];

	return id == BLOOMFAM_TYPE_FLOAT	  ? BLOOMFAM_TYPE_DOUBLE
		   : id == BLOOMFAM_TYPE_ANY_TEXT ? BLOOMFAM_TYPE_TEXT
										  : id;
}

/* Returns whether a name begins with "row(", in upper or lower case. */
static bool
is_row_prefix(const char *p)
{
	static const char lower[] = ROW_PREFIX;
	size_t		i;

	for (i = 0; lower[i] != '\0'; i++)
	{
		char		c = p[i] >= 'A' && p[i] <= 'Z' ? (char) (p[i] + 'a' - 'A') : p[i];

		if (c != lower[i])
			return false;
	}
	return true;
}

/*
 * Finds the list in a name of several types, such as "int, date" or "row(int, date)".  Returns
 * false if the name is that of a single type.
 */
static bool
is_list(const char *name, const char **list, size_t *len)
{
	const char *end = name + strlen(name);
	const char *p = name + strspn(name, " ");

	while (end > p && end[-1] == ' ')
		end--;
	if (is_row_prefix(p) && end[-1] == ')' && past_name(p, end) == end)
	{
		*list = p + strlen(ROW_PREFIX);
		*len = (size_t) (end - 1 - *list);
		return true;
	}
	*list = p;
	*len = (size_t) (end - p);
	return past_name(p, end) < end;
}

/* Makes the type of a key of several columns from a list of names. */
static BloomfamStatus
by_list(const char *given, const char *list, size_t len, bool is_parquet, BloomfamType *type,
		BloomfamError *error)
{
	BloomfamType types[BLOOMFAM_MAX_COLUMNS];
	const char *end = list + len;
	const char *p;
	const char *stop;
	size_t		n = 0;

	if (is_parquet)
		return bf_fail(error, BLOOMFAM_BAD_ARGUMENT,
					   "keys of several columns cannot be those of kind \"parquet\"");
	for (p = list; p <= end; p = stop + 1)
	{
		char		name[NAME_ROOM];
		size_t		name_len;
		const char *nested;
		size_t		nested_len;
		BloomfamStatus status;

		stop = past_name(p, end);
		p += strspn(p, " ");
		name_len = p < stop ? (size_t) (stop - p) : 0;
		while (name_len > 0 && p[name_len - 1] == ' ')
			name_len--;
		if (name_len == 0 || name_len >= sizeof(name))
			return unknown_type(given, error);
		if (n == BLOOMFAM_MAX_COLUMNS)
			return bloomfam_row_type(types, n + 1, type, error);
		memcpy(name, p, name_len);
		name[name_len] = '\0';
		if (is_list(name, &nested, &nested_len))
			return bf_fail(error, BLOOMFAM_NOT_ASKABLE, "a column of a key has rows");
		status = bloomfam_type_by_name(name, NULL, &types[n++], error);
		if (status != BLOOMFAM_OK)
			return status;
	}
	return bloomfam_row_type(types, n, type, error);
}

BloomfamStatus
bloomfam_type_by_name(const char *name, const char *kind, BloomfamType *type, BloomfamError *error)
{
	const BfKind *of = kind != NULL ? bf_kind_by_name(kind) : NULL;
	bool		is_parquet = of != NULL && of->hash_id == BF_HASH_XXH64_PLAIN;
	bool		is_family = strncmp(name, BF_PLAIN_PREFIX, strlen(BF_PLAIN_PREFIX)) == 0;
	BfPlainColumn column;
	const char *list;
	size_t		len;

	if (kind != NULL && of == NULL)
		return bf_kind_error(kind, error);
	if (is_list(name, &list, &len))
		return by_list(name, list, len, is_parquet, type, error);
	if (bf_plain_of_family(name, strlen(name), &column))
	{
		if (kind != NULL && !is_parquet)
			return bf_fail(error, BLOOMFAM_BAD_ARGUMENT,
						   "keys of type \"%s\" are those of kind \"parquet\" only", name);
		set_plain(type, named_type(&column), &column);
		return BLOOMFAM_OK;
	}
	if (is_enum(name, strlen(name)) && strlen(name) <= BF_MAX_FAMILY_LEN)
	{
		if (is_parquet)
			return bf_fail(error, BLOOMFAM_BAD_ARGUMENT,
						   "keys of an enum cannot be those of a bloom filter of kind "
						   "\"parquet\"");
		set_family(type, BLOOMFAM_TYPE_ENUM, name, strlen(name));
		return strcmp(type->family, name) == 0 ? BLOOMFAM_OK : unknown_type(name, error);
	}
	if (is_parquet && !is_family && bf_plain_parse(name, &column) &&
		column.type != BF_PLAIN_FLOAT)
	{
		set_plain(type, named_type(&column), &column);
		return BLOOMFAM_OK;
	}
	return by_sql_name(name, is_parquet, type, error);
}
