/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * literal.c
 *	  Reads keys without a type: untyped literals, and parameters that a driver gives no type.
 *
 * Such keys arrive as text, of the type bloomliteral.  They are read as the filter's own key family
 * would read them, as in column = '...'.  The family may be that of several types, which read a
 * literal differently: a real reads '0.1' as another number than a double precision, and a name
 * cuts off what is longer than 63 bytes, which a text keeps.  The filter does not know which of
 * these types its column had.  So a literal has as many readings as these types make different keys
 * of it.  A probe tests all readings, and the answer is yes if it is for one of them, so that the
 * column's own reading cannot be denied.
 *
 * Only families whose input functions are immutable are read, as probes are immutable.  The input
 * functions are the server's own, known by OID, so no function that a user has made is called.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "pg/hasher.h"
#include "pg/key_equality.h"
#include "pg/literal.h"
#include "pg/port.h"

PG_FUNCTION_INFO_V1(bloomfam_literal_in);
PG_FUNCTION_INFO_V1(bloomfam_literal_recv);

/* A literal of more bytes is not kept to be compared with the next one. */
#define KEEP_SIZE		((Size) 1024 * 1024)

/* One way to read an untyped literal: as a value of one type. */
typedef struct Reader
{
	FmgrInfo	input;
	Oid			type;

	/* Returns whether the reader applies to a literal; NULL if it applies to all. */
	bool		(*applies) (const char *str);
	BloomfamHasher *hasher;
} Reader;

struct BloomfamLiteral
{
	MemoryContext context;
	Oid			collation;
	bool		constant;
	bool		probing;

	/*
	 * The following fields are for the ways (readers) to read literals of the filter's key family.
	 */
	/* The memory context of the readers and of their keys' readings, and of nothing else. */
	MemoryContext readers_context;

	/* The id of the family that the readers are for; 0 if there are no readers. */
	uint64		family_id;
	BfHashId	hash_id;
	int			nreaders;
	Reader		readers[BLOOMFAM_MAX_READINGS];

	/* The following fields have the literal that came last, and its readings. */
	/* The memory context of the last literal and its keys, and of nothing else. */
	MemoryContext last_context;
	struct varlena *last;		/* The last literal; NULL if there is none. */

	/* The readings of the last literal; n is 0 if these readers have not read it. */
	BloomfamReadings readings;

	/* True if the last literal was taken apart as an array into "keys". */
	bool		is_array;
	BloomfamLiterals keys;
};

/* ---- families and their readings ---- */

static bool
fits_float4(const char *str)
{
	float		value;

	/* A number that float4in() would find out of range is not a real. */
	errno = 0;
	value = strtof(str, NULL);
	return errno != ERANGE || (value != 0 && !isinf(value));
}

static bool
exceeds_name(const char *str)
{
	return strlen(str) >= NAMEDATALEN;
}

/*
 * One reading of a family.  The first reading of a family accepts all that any of the family's
 * types accepts, and raises the errors.
 *
 * The types are those of operators =.  A smallint or integer column compares with a number that
 * only a bigint can hold, and is not equal to it. varchar is compared by the = of text, and cidr by
 * that of inet.
 */
typedef struct Reading
{
	const char *family;
	Oid			type;
	Oid			input;
	bool		(*applies) (const char *str);
} Reading;

static const Reading known_readings[] = {
	{"int", INT8OID, F_INT8IN},
	{"float", FLOAT8OID, F_FLOAT8IN},
	{"float", FLOAT4OID, F_FLOAT4IN, fits_float4},
	{"text", TEXTOID, F_TEXTIN},
	{"bpchar", BPCHAROID, F_BPCHARIN},
	{"text", NAMEOID, F_NAMEIN, exceeds_name},
	{"numeric", NUMERICOID, F_NUMERIC_IN},
	{"bool", BOOLOID, F_BOOLIN},
	{"bytea", BYTEAOID, F_BYTEAIN},
	{"uuid", UUIDOID, F_UUID_IN},
	{"oid", OIDOID, F_OIDIN},
	{"inet", INETOID, F_INET_IN},
	{"macaddr", MACADDROID, F_MACADDR_IN},
	{"macaddr8", MACADDR8OID, F_MACADDR8_IN},
	{"pg_lsn", LSNOID, F_PG_LSN_IN},
	{"bit", VARBITOID, F_VARBIT_IN},
	{"char", CHAROID, F_CHARIN},
	{"parquet int32", INT8OID, F_INT8IN},
	{"parquet int64", INT8OID, F_INT8IN},
	{"parquet float", FLOAT4OID, F_FLOAT4IN},
	{"parquet double", FLOAT8OID, F_FLOAT8IN},
	{"parquet double", FLOAT4OID, F_FLOAT4IN, fits_float4},
	{"parquet text", TEXTOID, F_TEXTIN},
	{"parquet text", NAMEOID, F_NAMEIN, exceeds_name},
	{"parquet bytea", BYTEAOID, F_BYTEAIN},
	{"parquet uuid", UUIDOID, F_UUID_IN},
	{"parquet decimal", NUMERICOID, F_NUMERIC_IN}
};

/*
 * Returns whether a name is that of the family, possibly followed by a precision or a collation, as
 * in "parquet decimal(9,2)" or "text@...".
 */
static bool
is_family(const char *name, const char *family)
{
	size_t		len = strlen(family);

	return strncmp(name, family, len) == 0 && strchr("(@", name[len]) != NULL;
}

/* Takes a name in double quotes off the beginning of a string.  Returns NULL if there is none. */
static char *
take_quoted(const char **str)
{
	StringInfoData name;
	const char *p = *str;

	if (*p++ != '"')
		return NULL;
	initStringInfo(&name);
	for (; *p != '"' || p[1] == '"'; p++)
	{
		if (*p == '\0')
			return NULL;
		if (*p == '"')
			p++;
		appendStringInfoChar(&name, *p);
	}
	*str = p + 1;
	return name.data;
}

/*
 * Returns the enum type whose family has this name, given in the server's encoding; InvalidOid if
 * there is none.
 */
static Oid
find_enum(const char *family)
{
	const char *p = family + strlen("enum ");
	char	   *schema_name = take_quoted(&p);
	char	   *type_name = NULL;
	Oid			schema;
	Oid			type = InvalidOid;

	if (schema_name != NULL && *p++ == '.')
		type_name = take_quoted(&p);
	if (type_name == NULL || *p != '\0')
		return InvalidOid;
	schema = LookupNamespaceNoError(schema_name);
	if (OidIsValid(schema))
		type = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum(type_name),
							   ObjectIdGetDatum(schema));
	return OidIsValid(type) && get_typtype(type) == TYPTYPE_ENUM ? type : InvalidOid;
}

/*
 * Types whose keys go into a family that is read as another type.  The filter does not tell the
 * types apart, so the = of each must be the one that hashes follow.
 */
static const struct
{
	Oid			read_as;
	Oid			type;
}			relatives[] = {
	{INT8OID, INT2OID},
	{INT8OID, INT4OID},
	{TEXTOID, VARCHAROID},
	{TEXTOID, BPCHAROID},
	{INETOID, CIDROID},
	{VARBITOID, BITOID}
};

/* Adds a type as which literals are read to the readers, in the current memory context. */
static void
add_reader(BloomfamLiteral *literal, Oid type, Oid input, bool (*applies) (const char *str),
		   const BfHeader *filter)
{
	Reader	   *reader = &literal->readers[literal->nreaders];
	size_t		i;

	Assert(literal->nreaders < BLOOMFAM_MAX_READINGS);
	fmgr_info_cxt(input, &reader->input, CurrentMemoryContext);
	reader->type = type;
	reader->applies = applies;

	for (i = 0; i < lengthof(relatives); i++)
		if (relatives[i].read_as == type)
			bloomfam_equality_check_named(relatives[i].type);
	reader->hasher = bloomfam_hasher_make(CurrentMemoryContext, type, literal->collation,
										  filter->hash_id);
	reader->hasher->probing = literal->probing;
	bloomfam_hasher_fit(reader->hasher, filter);
	literal->nreaders++;
}

/*
 * Returns the type to write before a literal of a family that cannot be read without a type.
 * Returns NULL if the family's name does not say it.  A name in the family is quoted as SQL quotes
 * it.
 */
static char *
type_of_family(const char *family)
{
	static const char *const types[] = {"date", "time", "timetz", "timestamp", "timestamptz",
		"interval"};
	const char *p = family;
	size_t		i;

	if (take_quoted(&p) != NULL && *p++ == '.' && take_quoted(&p) != NULL && *p == '@')
		return pnstrdup(family, p - family);

	/* Skip the prefix of a Parquet column's type, such as "parquet timestamptz(3)". */
	if (strncmp(family, "parquet ", strlen("parquet ")) == 0)
		family += strlen("parquet ");
	for (i = 0; i < lengthof(types); i++)
		if (strncmp(family, types[i], strlen(types[i])) == 0 &&
			(family[strlen(types[i])] == '\0' || family[strlen(types[i])] == '('))
			return pstrdup(types[i]);
	return NULL;
}

static void unreadable_error(const char *family, bool is_array) pg_attribute_noreturn();

/*
 * Raises the error for a family whose literals cannot be read, with a hint that says what to write.
 */
static void
unreadable_error(const char *family, bool is_array)
{
	char	   *type = type_of_family(family);

	ereport(ERROR,
			(errcode(ERRCODE_INDETERMINATE_DATATYPE),
			 errmsg("cannot read an untyped literal or parameter as a key of type %s", family),
			 type == NULL ? errhint("Cast the key to the type that the filter was built from.")
			 : is_array	  ? errhint("Write '{...}'::%s[] for a literal, and $1::%s[] for a "
									"parameter.",
									type, type)
						  : errhint("Write %s '...' for a literal, and $1::%s for a parameter.",
									type, type)));
	pg_unreachable();
}

/* Makes the readers for a filter's family; is_array is for messages. */
static pg_noinline void
make_readers(BloomfamLiteral *literal, const BfHeader *filter, bool is_array)
{
	MemoryContext old;
	char	   *family;
	size_t		i;

	/* Forget the old readers first, so that an error cannot leave some of the new ones behind. */
	literal->family_id = 0;
	literal->nreaders = 0;
	literal->readings.n = 0;
	literal->keys.readings = NULL;
	MemoryContextReset(literal->readers_context);
	if (filter->family_id == 0)
		bloomfam_literal_untyped_error();

	old = MemoryContextSwitchTo(literal->readers_context);
	family = bloomfam_family_display(filter->family, filter->family_len, filter->family_id);
	for (i = 0; i < lengthof(known_readings); i++)
	{
		const Reading *reading = &known_readings[i];

		if (is_family(family, reading->family))
			add_reader(literal, reading->type, reading->input, reading->applies, filter);
	}
	if (strncmp(family, "enum ", strlen("enum ")) == 0)
	{
		Oid			type = find_enum(family);

		if (OidIsValid(type))
			add_reader(literal, type, F_ENUM_IN, NULL, filter);
	}
	if (literal->nreaders == 0)
		unreadable_error(family, is_array);
	MemoryContextSwitchTo(old);
	literal->family_id = filter->family_id;
	literal->hash_id = filter->hash_id;
}

static inline void
match_readers(BloomfamLiteral *literal, const BfHeader *filter, bool is_array)
{
	if (unlikely(literal->family_id != filter->family_id || literal->family_id == 0 ||
				 literal->hash_id != filter->hash_id))
		make_readers(literal, filter, is_array);
}

/* Reads a literal by all readers that apply to it, and stores the different hashes that result. */
static void
read_all(BloomfamLiteral *literal, Datum key, const BfHeader *filter, BloomfamReadings *readings)
{
	char	   *str = TextDatumGetCString(key);
	int			n = 0;
	int			i;

	/* Forget the old readings first, so that an error cannot leave some of the new ones behind. */
	readings->n = 0;
	for (i = 0; i < literal->nreaders; i++)
	{
		Reader	   *reader = &literal->readers[i];
		BloomfamHasher *hasher = reader->hasher;
		uint64		hash;
		int			j;

		if (reader->applies != NULL && !reader->applies(str))
			continue;
		hash = hasher->hash(hasher, InputFunctionCall(&reader->input, str, reader->type, -1));
		if (hasher->family_id != filter->family_id)
			bloomfam_family_error(filter, hasher->family, hasher->family_len, hasher->family_id);
		for (j = 0; j < n && readings->hashes[j] != hash; j++)
			;
		readings->hashes[j] = hash;
		n = Max(n, j + 1);
	}
	readings->n = n;
	pfree(str);
}

/* ---- literals that come again ---- */

/*
 * Returns whether this is the literal that came last.  If not, makes it the last one, of which
 * nothing is known yet.  Very long literals are not kept.
 */
static bool
is_last(BloomfamLiteral *literal, Datum key)
{
	struct varlena *value;
	bool		same;

	if (literal->constant && literal->last != NULL)
		return true;
	value = PG_DETOAST_DATUM_PACKED(key);
	same = literal->last != NULL && VARSIZE_ANY_EXHDR(value) == VARSIZE_ANY_EXHDR(literal->last) &&
		   memcmp(VARDATA_ANY(value), VARDATA_ANY(literal->last), VARSIZE_ANY_EXHDR(value)) == 0;
	if (!same)
	{
		literal->last = NULL;
		literal->readings.n = 0;
		if (literal->keys.readings != NULL)
			pfree(literal->keys.readings);
		memset(&literal->keys, 0, sizeof(literal->keys));
		literal->is_array = false;
		MemoryContextReset(literal->last_context);
		if (literal->constant || VARSIZE_ANY(value) <= KEEP_SIZE)
		{
			literal->last = MemoryContextAlloc(literal->last_context, VARSIZE_ANY(value));
			memcpy(literal->last, value, VARSIZE_ANY(value));
		}
	}
	if (value != (struct varlena *) DatumGetPointer(key))
		pfree(value);
	return same;
}

BloomfamLiteral *
bloomfam_literal_make(MemoryContext context, Oid collation, bool constant, bool probing)
{
	BloomfamLiteral *literal = MemoryContextAllocZero(context, sizeof(BloomfamLiteral));

	literal->context = context;
	literal->collation = collation;
	literal->constant = constant;
	literal->probing = probing;
	literal->readers_context =
		AllocSetContextCreate(context, "bloomfam readers", ALLOCSET_SMALL_SIZES);
	literal->last_context =
		AllocSetContextCreate(context, "bloomfam literal", ALLOCSET_SMALL_SIZES);
	return literal;
}

const BloomfamReadings *
bloomfam_literal_read(BloomfamLiteral *literal, Datum key, const BfHeader *filter)
{
	match_readers(literal, filter, false);
	if (!is_last(literal, key) || literal->readings.n == 0)
		read_all(literal, key, filter, &literal->readings);
	return &literal->readings;
}

void
bloomfam_literal_check_one(const BloomfamReadings *readings, const BfHeader *filter)
{
	if (readings->n == 1)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INDETERMINATE_DATATYPE),
			 errmsg("untyped literal or parameter is not the same key for all types of the family"),
			 errdetail("The filter holds keys of family %s.",
					   bloomfam_family_display(filter->family, filter->family_len,
											   filter->family_id)),
			 errhint("Cast the key to the type that the filter was built from.")));
}

/* ---- array literals ---- */

/*
 * Reads an array of text.  It sets array_nulls, as the meaning of NULL must not depend on a
 * setting.
 */
static ArrayType *
read_array(Datum literal)
{
	char	   *str = TextDatumGetCString(literal);
	bool		saved = Array_nulls;
	Datum		result;

	PG_TRY();
	{
		Array_nulls = true;
		result = OidInputFunctionCall(F_ARRAY_IN, str, TEXTOID, -1);
	}
	PG_FINALLY();
	{
		Array_nulls = saved;
	}
	PG_END_TRY();
	return DatumGetArrayTypeP(result);
}

/* Takes an array literal apart, into last_context. */
static void
take_apart(BloomfamLiteral *literal, Datum keys)
{
	BloomfamLiterals *result = &literal->keys;
	/*
	 * read_array() may fail, so it allocates in the caller's memory context, and the result is
	 * copied.
	 */
	ArrayType  *array = read_array(keys);
	MemoryContext old = MemoryContextSwitchTo(literal->last_context);

	array = DatumGetArrayTypePCopy(PointerGetDatum(array));
	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &result->keys, &result->nulls,
					  &result->n);
	MemoryContextSwitchTo(old);
	literal->is_array = true;
}

/* Reads the keys of an array, into readers_context. */
static void
read_keys(BloomfamLiteral *literal, const BfHeader *filter)
{
	BloomfamLiterals *keys = &literal->keys;
	Size		size = Max(keys->n, 1) * sizeof(BloomfamReadings);
	BloomfamReadings *readings = MemoryContextAllocHuge(CurrentMemoryContext, size);
	int			i;

	for (i = 0; i < keys->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!keys->nulls[i])
			read_all(literal, keys->keys[i], filter, &readings[i]);
	}
	keys->readings = MemoryContextAllocHuge(literal->readers_context, size);
	memcpy(keys->readings, readings, size);
	pfree(readings);
}

const BloomfamLiterals *
bloomfam_literal_read_array(BloomfamLiteral *literal, Datum keys, const BfHeader *filter)
{
	if (!is_last(literal, keys) || !literal->is_array)
		take_apart(literal, keys);
	if (filter != NULL && filter->family_id != 0)
	{
		match_readers(literal, filter, true);
		if (literal->keys.readings == NULL)
			read_keys(literal, filter);
	}
	return &literal->keys;
}

/* ---- the type bloomliteral ---- */

/* bloomliteral_in(cstring) -> bloomliteral: strict, immutable.  Returns the text unchanged. */
Datum
bloomfam_literal_in(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(PG_GETARG_CSTRING(0)));
}

/*
 * bloomliteral_recv(internal) -> bloomliteral: raises an error.
 *
 * A driver that sends bytes has a type in mind that it does not tell.  The bytes of a bytea could
 * be taken for the text form of one, and be another key.
 */
Datum
bloomfam_literal_recv(PG_FUNCTION_ARGS)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot read an untyped parameter in binary format"),
			 errhint("Cast the parameter to the type of the key, as in $1::bytea.")));
	PG_RETURN_NULL();
}

void
bloomfam_literal_untyped_error(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDETERMINATE_DATATYPE),
			 errmsg("could not determine the type of an untyped literal or parameter"),
			 errhint("Cast the key to its type, as in '5'::bigint or $1::bigint.")));
	pg_unreachable();
}

bool
bloomfam_is_literal(Oid type)
{
	FmgrInfo	finfo;
	Oid			input;
	Oid			ioparam;

	if (type < FirstNormalObjectId || get_typlen(type) != -1)
		return false;
	getTypeInputInfo(type, &input, &ioparam);
	fmgr_info(input, &finfo);
	return finfo.fn_addr == bloomfam_literal_in;
}
