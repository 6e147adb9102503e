/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_plain.c
 *	  The hasher of keys as Parquet has them: XXH64 of the value in plain encoding.
 *
 * This file reads the server's values. keys/plain.h has the types of Parquet's columns, what these
 * can hold, and what is hashed.
 *
 * There are no false negatives, by SQL's =.  A key that the column cannot hold is not in the
 * filter, so it may get any hash; adding it is an error. parquet.c adapts filters that other
 * programs wrote.  A char(n) cannot be a key: SQL calls it equal to each varchar that differs in
 * trailing blanks, and Parquet tells these apart.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "keys/plain.h"
#include "pg/bloomkey.h"
#include "pg/key_bytes.h"
#include "pg/key_equality.h"
#include "pg/key_function.h"
#include "pg/key_numeric.h"
#include "pg/key_plain.h"
#include "pg/key_utf8.h"
#include "pg/port.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

/* keys/key_hash.h has copies of some of the server's constants, which must be the same. */
StaticAssertDecl(BF_KEY_EPOCH_DAYS == POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE, "epoch");
StaticAssertDecl(BF_KEY_DATE_MINUS_INFINITY == DATEVAL_NOBEGIN &&
				 BF_KEY_DATE_INFINITY == DATEVAL_NOEND, "infinite dates");
StaticAssertDecl(BF_KEY_TIMESTAMP_MINUS_INFINITY == DT_NOBEGIN &&
				 BF_KEY_TIMESTAMP_INFINITY == DT_NOEND, "infinite timestamps");

typedef struct PlainHasher
{
	BloomfamHasher base;
	BfPlainColumn own;			/* The Parquet column as which keys of the SQL type are written. */
	BfPlainColumn column;		/* The Parquet column for which keys are hashed at present. */
	char		name[BF_PLAIN_MAX_NAME];
} PlainHasher;

/* ---- hashing values ---- */

/*
 * Raises an error for a key that the column cannot hold, or returns any hash if keys are only
 * probed for.
 */
static uint64
no_such_value(const PlainHasher *self)
{
	if (!self->base.probing)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("key cannot be represented as a value of the bloom filter's type"),
				 errdetail("The filter holds keys of type %s.", self->name)));
	return 0;
}

static inline uint64
hash_integer(BloomfamHasher *hasher, int64 value)
{
	PlainHasher *self = (PlainHasher *) hasher;
	uint64		hash;

	return bf_plain_int(&self->column, value, &hash) ? hash : no_such_value(self);
}

static uint64
plain_int2(BloomfamHasher *hasher, Datum key)
{
	return hash_integer(hasher, DatumGetInt16(key));
}

static uint64
plain_int4(BloomfamHasher *hasher, Datum key)
{
	return hash_integer(hasher, DatumGetInt32(key));
}

static uint64
plain_int8(BloomfamHasher *hasher, Datum key)
{
	return hash_integer(hasher, DatumGetInt64(key));
}

static inline uint64
hash_float(BloomfamHasher *hasher, double value)
{
	PlainHasher *self = (PlainHasher *) hasher;
	uint64		hash;

	return bf_plain_double(&self->column, value, &hash) ? hash : no_such_value(self);
}

static uint64
plain_float4(BloomfamHasher *hasher, Datum key)
{
	return hash_float(hasher, DatumGetFloat4(key));
}

static uint64
plain_float8(BloomfamHasher *hasher, Datum key)
{
	return hash_float(hasher, DatumGetFloat8(key));
}

static uint64
plain_date(BloomfamHasher *hasher, Datum key)
{
	return bf_plain_date(DatumGetDateADT(key));
}

static uint64
plain_time(BloomfamHasher *hasher, Datum key)
{
	PlainHasher *self = (PlainHasher *) hasher;
	uint64		hash;

	return bf_plain_time(&self->column, DatumGetTimeADT(key), &hash) ? hash : no_such_value(self);
}

/* Hashes a timestamp or a timestamptz. */
static uint64
plain_timestamp(BloomfamHasher *hasher, Datum key)
{
	PlainHasher *self = (PlainHasher *) hasher;
	Timestamp	value = DatumGetTimestamp(key);
	uint64		hash;

	return bf_plain_timestamp(&self->column, value, &hash) ? hash : no_such_value(self);
}

static uint64
plain_uuid(BloomfamHasher *hasher, Datum key)
{
	return bf_plain_bytes(DatumGetPointer(key), UUID_LEN);
}

static uint64
plain_bytea(BloomfamHasher *hasher, Datum key)
{
	struct varlena *value = PG_DETOAST_DATUM_PACKED(key);
	uint64		hash = bf_plain_bytes(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));

	free_copy(value, key);
	return hash;
}

static uint64
hash_utf8(const char *str, int len)
{
	size_t		utf8_len;
	char	   *utf8 = bloomfam_utf8_from_server(str, len, &utf8_len);
	uint64		hash = bf_plain_bytes(utf8, utf8_len);

	if (utf8 != str)
		pfree(utf8);
	return hash;
}

static uint64
plain_text(BloomfamHasher *hasher, Datum key)
{
	struct varlena *value = PG_DETOAST_DATUM_PACKED(key);
	uint64		hash = hash_utf8(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));

	free_copy(value, key);
	return hash;
}

/* Hashes a name, or a literal of type unknown. */
static uint64
plain_cstring(BloomfamHasher *hasher, Datum key)
{
	const char *str = DatumGetPointer(key);

	return hash_utf8(str, (int) strlen(str));
}

static uint64
plain_numeric(BloomfamHasher *hasher, Datum key)
{
	PlainHasher *self = (PlainHasher *) hasher;
	struct varlena *value;
	BfNumeric	number;
	uint64		hash;
	bool		fits;

	if (self->column.precision == 0)
	{
		/* Any hash will do for a probe: the filter has no keys, as it has no key family yet. */
		if (self->base.probing)
			return 0;
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("precision and scale of the keys of a Parquet bloom filter are not known"),
				 errdetail("Parquet has decimals of up to %d digits.", BF_PLAIN_MAX_PRECISION),
				 errhint("Cast the key to a numeric type that has both, such as numeric(18,2).")));
	}

	value = PG_DETOAST_DATUM_PACKED(key);
	read_numeric(value, &number);
	fits = bf_plain_numeric(&self->column, &number, &hash);
	free_copy(value, key);
	return fits ? hash : no_such_value(self);
}

/* ---- making hashers ---- */

typedef struct KeyType
{
	Oid			type;

	/* The type of Parquet column as which keys of the SQL type are written. */
	BfPlainType column;
	uint64		(*hash) (BloomfamHasher *hasher, Datum key);
} KeyType;

static const KeyType key_types[] = {
	{INT2OID, BF_PLAIN_INT32, plain_int2},
	{INT4OID, BF_PLAIN_INT32, plain_int4},
	{INT8OID, BF_PLAIN_INT64, plain_int8},
	{FLOAT4OID, BF_PLAIN_FLOAT, plain_float4},
	{FLOAT8OID, BF_PLAIN_DOUBLE, plain_float8},
	{NUMERICOID, BF_PLAIN_DECIMAL, plain_numeric},
	{DATEOID, BF_PLAIN_DATE, plain_date},
	{TIMEOID, BF_PLAIN_TIME, plain_time},
	{TIMESTAMPOID, BF_PLAIN_TIMESTAMP, plain_timestamp},
	{TIMESTAMPTZOID, BF_PLAIN_TIMESTAMPTZ, plain_timestamp},
	{UUIDOID, BF_PLAIN_UUID, plain_uuid},
	{TEXTOID, BF_PLAIN_TEXT, plain_text},
	{VARCHAROID, BF_PLAIN_TEXT, plain_text},
	{NAMEOID, BF_PLAIN_TEXT, plain_cstring},
	{UNKNOWNOID, BF_PLAIN_TEXT, plain_cstring},
	{BYTEAOID, BF_PLAIN_BYTEA, plain_bytea}
};

/* Makes the hasher hash keys for another Parquet column from now on. */
static void
turn_to(PlainHasher *self, const BfPlainColumn *column)
{
	self->column = *column;
	if (column->type == BF_PLAIN_DECIMAL && column->precision == 0)
	{
		self->base.family = NULL;
		self->base.family_len = 0;
		self->base.family_id = 0;
		return;
	}
	self->base.family = self->name;
	self->base.family_len = (uint32) bf_plain_write_name(column, self->name);
	self->base.family_id = bf_family_id(self->name, self->base.family_len);
}

static void
plain_fit(BloomfamHasher *hasher, const BfHeader *filter)
{
	PlainHasher *self = (PlainHasher *) hasher;
	BfPlainColumn column;

	if (filter->family_id == 0)
		turn_to(self, &self->own);
	else if (bf_plain_of_family(filter->family, filter->family_len, &column) &&
			 bf_plain_compatible(self->own.type, column.type))
		turn_to(self, &column);
	else
	{
		/*
		 * The caller compares key families and raises the error, except for a numeric without
		 * precision, which has no family to compare.
		 */
		if (self->own.type == BF_PLAIN_DECIMAL)
			bloomfam_family_error(filter, BF_PLAIN_PREFIX "decimal",
								  strlen(BF_PLAIN_PREFIX "decimal"), 1);
		turn_to(self, &self->own);
	}
}

static void type_error(Oid type) pg_attribute_noreturn();

static void
type_error(Oid type)
{
	if (get_typtype(type) == TYPTYPE_BASE && bloomfam_is_bloomkey(type))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot use hashed keys with a bloom filter of kind \"%s\"", "parquet"),
				 errdetail("The keys of this kind go through a hash function of its own."),
				 errhint("Pass the keys themselves.")));
	if (getBaseType(type) == BPCHAROID)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a bloom filter of kind \"%s\" cannot have keys of type %s", "parquet",
						format_type_be(type)),
				 errdetail("Texts that differ in trailing blanks are the same to this type, and "
						   "not to the filter."),
				 errhint("Cast the keys to text.")));
	ereport(
		ERROR,
		(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
		 errmsg("a bloom filter of kind \"%s\" cannot have keys of type %s", "parquet",
				format_type_be(type)),
		 errhint("Cast the keys to smallint, integer, bigint, real, double precision, numeric, "
				 "date, time, timestamp, timestamptz, uuid, text or bytea.")));
}

/*
 * Makes a hasher for the plain encoding.  Raises 0A000 for types that Parquet does not have, and
 * for collations under which different bytes may be equal.  Raises 42P22 if there is no collation.
 */
BloomfamHasher *
bloomfam_plain_hasher_make(Oid type, Oid collation)
{
	int32		typmod = -1;
	Oid			base = getBaseTypeAndTypmod(type, &typmod);
	PlainHasher *self;
	size_t		i;

	if (get_typtype(base) == TYPTYPE_BASE && bloomfam_key_relabelled(base) != base)
	{
		bloomfam_key_check_lasting(base);
		base = bloomfam_key_relabelled(base);
	}
	for (i = 0; i < lengthof(key_types) && key_types[i].type != base; i++)
		 /* Find the entry of the SQL type. */ ;
	if (i == lengthof(key_types))
		type_error(type);

	if (key_types[i].column == BF_PLAIN_TEXT)
	{
		if (base == UNKNOWNOID && !OidIsValid(collation))
			collation = DEFAULT_COLLATION_OID;
		bloomfam_key_check_collation(collation);
		if (!get_collation_isdeterministic(collation))
			ereport(
				ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a bloom filter of kind \"%s\" cannot have keys under a "
						"nondeterministic collation",
						"parquet"),
				 errdetail("Parquet tells texts apart by their bytes."),
				 errhint("Use the COLLATE clause to set another collation.")));
	}

	self = (PlainHasher *) palloc0(sizeof(PlainHasher));
	self->base.hash = key_types[i].hash;
	self->base.hash_id = BF_HASH_XXH64_PLAIN;
	self->base.fit = plain_fit;
	self->own.type = key_types[i].column;
	if (bf_plain_is_time(self->own.type))
		self->own.precision = 6;
	turn_to(self, &self->own);
	bloomfam_hasher_typmod(&self->base, typmod);
	return &self->base;
}

void
bloomfam_hasher_typmod(BloomfamHasher *hasher, int32 typmod)
{
	PlainHasher *self = (PlainHasher *) hasher;
	int			precision;
	int			scale;

	if (hasher->hash != plain_numeric || typmod < (int32) VARHDRSZ)
		return;

	/* The typmod is packed as in numeric.c: the scale may be negative from PostgreSQL 15 on. */
	precision = ((typmod - VARHDRSZ) >> 16) & 0xffff;
	scale = (((typmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024;
	if (bf_plain_set_decimal(&self->own, precision, scale))
		turn_to(self, &self->own);
}

/*
 * Raises the errors of bloomfam_plain_hasher_make().  Raises 22023 if column is not the type of a
 * Parquet column, or if it is for other keys.
 */
void
bloomfam_plain_family(Oid type, const char *column, BfHeader *head)
{
	PlainHasher *hasher;
	BfPlainColumn parsed;

	bloomfam_equality_check_named(type);
	hasher = (PlainHasher *) bloomfam_plain_hasher_make(type, get_typcollation(type));

	if (column != NULL)
	{
		if (!bf_plain_parse(column, &parsed))
			ereport(
				ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unrecognized type of a Parquet column: \"%s\"", column),
				 errhint("Types are int32, int64, float, double, date, time(N), timestamp(N), "
						 "timestamptz(N), with N of 3, 6 or 9, uuid, text, bytea, decimal(P,S), "
						 "decimal(P,S) int64 and decimal(P,S) fixed(N).")));
		if (!bf_plain_compatible(hasher->own.type, parsed.type))
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("keys of type %s are not those of a Parquet column of type %s",
								   format_type_be(type), column)));
		turn_to(hasher, &parsed);
	}
	if (hasher->base.family_id == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("precision and scale of the keys of a Parquet bloom filter are not known"),
				 errhint("Give the column's type in the Parquet file, such as decimal(18,2).")));
	head->family_id = hasher->base.family_id;
	head->family = hasher->base.family;
	head->family_len = hasher->base.family_len;
}

int
bloomfam_plain_float_size(const BfHeader *head)
{
	BfPlainColumn column;

	return bf_plain_of_family(head->family, head->family_len, &column)
			   ? (int) bf_plain_float_size(&column)
			   : 0;
}
