/*-------------------------------------------------------------------------
 *
 * key_plain.c
 *	  From an SQL value to 64 bits, as Parquet has it: XXH64 of the value in plain encoding.
 *
 * What a key's bytes are depends on the type of the column in the Parquet file, which therefore
 * is the key's family: the name is "parquet ", and the column's type as below.  What
 * parquet.thrift calls it:
 *
 *	int32			INT32: 4 bytes					smallint, integer
 *	int64			INT64: 8 bytes					bigint
 *	float			FLOAT: 4 bytes					real
 *	double			DOUBLE: 8 bytes					double precision
 *	date			INT32: days since 1970			date
 *	time(N)			INT64, INT32 for N = 3: since midnight
 *	timestamp(N), timestamptz(N)
 *					INT64: since 1970; N is 3, 6 or 9, for a unit of a milli-, a micro- or a
 *					nanosecond, and 6 for what is built here
 *	uuid			FIXED_LEN_BYTE_ARRAY(16)		uuid
 *	text			BYTE_ARRAY, without its length: UTF-8
 *									text, varchar, name
 *	bytea			BYTE_ARRAY						bytea
 *	decimal(P,S)	the number times 10^S: INT32 up to P = 9, INT64 up to 18, then
 *					FIXED_LEN_BYTE_ARRAY, big-endian, of the least length that holds all such
 *					numbers; P is at most 38.		numeric
 *	decimal(P,S) int64, decimal(P,S) fixed(N)
 *					the same in INT64, or in FIXED_LEN_BYTE_ARRAY(N), where that is not as above
 *
 * All but byte arrays are little-endian.
 *
 * No false negatives, as SQL's = sees it: -0 is hashed as 0 and every NaN as one, and parquet.c
 * sees to filters that others wrote.  An integer may be asked of int32 and of int64, a float of
 * float and of double: what the column cannot hold equals none of its values.  The same holds of
 * a numeric with more digits than a decimal, and of a time between two units.  Such a key is not
 * in the filter, and may be given any hash; adding it is an error.  A char(n) is no key at all: SQL
 * calls it equal to each varchar that differs in trailing blanks, and Parquet tells these apart.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/int.h"
#include "mb/pg_wchar.h"
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

#define FAMILY_PREFIX		"parquet "

/* Digits of a decimal: what fits 16 bytes, and what all programs that read Parquet can hold. */
#define MAX_PRECISION		38

/* A family's name, at most. */
#define MAX_NAME			64

/* Days and microseconds from Parquet's beginning of time to PostgreSQL's. */
#define EPOCH_DAYS			(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)
#define EPOCH_USECS			(EPOCH_DAYS * USECS_PER_DAY)

typedef enum PlainType
{
	PLAIN_INT32,
	PLAIN_INT64,
	PLAIN_FLOAT,
	PLAIN_DOUBLE,
	PLAIN_DATE,
	PLAIN_TIME,
	PLAIN_TIMESTAMP,
	PLAIN_TIMESTAMPTZ,
	PLAIN_UUID,
	PLAIN_TEXT,
	PLAIN_BYTEA,
	PLAIN_DECIMAL
} PlainType;

static const char *const plain_names[] = {"int32", "int64", "float",	 "double",
										  "date",  "time",	"timestamp", "timestamptz",
										  "uuid",  "text",	"bytea",	 "decimal"};

/* The type of a column. */
typedef struct PlainColumn
{
	PlainType	type;
	int			precision;		/* of a decimal; of times, 3, 6 or 9; 0: not known yet, or has
								 * none */
	int			scale;			/* of a decimal */
	int			bytes;			/* that a decimal has */
	bool		fixed;			/* in a byte array, not in an integer */
} PlainColumn;

typedef struct PlainHasher
{
	BloomfamHasher base;
	PlainColumn own;			/* what keys of this type are written as */
	PlainColumn column;			/* what they are hashed as now */
	char		name[MAX_NAME];
} PlainHasher;

/* ---- types of columns, and their names ---- */

static bool
is_time(PlainType type)
{
	return type == PLAIN_TIME || type == PLAIN_TIMESTAMP || type == PLAIN_TIMESTAMPTZ;
}

/* 10^n, n <= 38 */
static unsigned __int128
power_of_ten(int n)
{
	unsigned __int128 power = 1;

	while (n-- > 0)
		power *= 10;
	return power;
}

/* The least number of bytes that holds every decimal of so many digits, with its sign. */
static int
decimal_bytes(int precision)
{
	unsigned __int128 most = power_of_ten(precision) - 1;
	int			bytes = 1;

	while (most >> (8 * bytes - 1) != 0)
		bytes++;
	return bytes;
}

/* Makes it the column that a decimal is written to. */
static void
set_decimal(PlainColumn *column, int precision, int scale)
{
	column->type = PLAIN_DECIMAL;
	column->precision = precision;
	column->scale = scale;
	column->fixed = precision > 18;
	column->bytes = precision <= 9 ? 4 : precision <= 18 ? 8 : decimal_bytes(precision);
}

static bool
valid_decimal(int precision, int scale)
{
	return precision >= 1 && precision <= MAX_PRECISION && scale >= 0 && scale <= precision;
}

/* Writes the name of a column's family. */
static void
write_name(const PlainColumn *column, char *name)
{
	int			len = snprintf(name, MAX_NAME, FAMILY_PREFIX "%s", plain_names[column->type]);

	if (is_time(column->type))
		snprintf(name + len, MAX_NAME - len, "(%d)", column->precision);
	else if (column->type == PLAIN_DECIMAL)
	{
		PlainColumn usual;

		set_decimal(&usual, column->precision, column->scale);
		len += snprintf(name + len, MAX_NAME - len, "(%d,%d)", column->precision, column->scale);
		if (column->fixed && !(usual.fixed && usual.bytes == column->bytes))
			snprintf(name + len, MAX_NAME - len, " fixed(%d)", column->bytes);
		else if (column->fixed != usual.fixed || column->bytes != usual.bytes)
			snprintf(name + len, MAX_NAME - len, " int64");
	}
}

/* Is nothing left after what sscanf() has read? */
static inline bool
at_end(const char *text, int read)
{
	return read > 0 && text[read] == '\0';
}

/* Reads a decimal: its digits, and how it is stored if that is not as usual. */
static bool
parse_decimal(const char *text, PlainColumn *column)
{
	int			precision;
	int			scale;
	int			bytes;
	int			read = 0;
	int			end = 0;

	if (sscanf(text, " decimal ( %4d , %4d ) %n", &precision, &scale, &read) != 2 || read == 0 ||
		!valid_decimal(precision, scale))
		return false;
	set_decimal(column, precision, scale);
	text += read;
	if (*text == '\0')
		return true;
	if (sscanf(text, "fixed ( %4d ) %n", &bytes, &end) == 1 && at_end(text, end))
	{
		column->fixed = true;
		column->bytes = bytes;
		return bytes >= decimal_bytes(precision) && bytes <= 16;
	}
	(void) sscanf(text, "int64 %n", &end);
	column->fixed = false;
	column->bytes = 8;
	return at_end(text, end) && precision <= 18;
}

/* Reads the type of a column: false if it is none. */
static bool
parse_column(const char *text, PlainColumn *column)
{
	size_t		i;

	memset(column, 0, sizeof(*column));
	for (i = 0; i < lengthof(plain_names); i++)
	{
		const char *name = plain_names[i];
		const char *rest = text + strspn(text, " ");
		int			read = 0;

		column->type = (PlainType) i;
		if (strncmp(rest, name, strlen(name)) != 0)
			continue;
		rest += strlen(name);
		if (column->type == PLAIN_DECIMAL)
			return parse_decimal(text, column);
		if (is_time(column->type))
		{
			/* "time" begins "timestamp", and that begins "timestamptz" */
			if (sscanf(rest, " ( %4d ) %n", &column->precision, &read) == 1 && at_end(rest, read))
				return column->precision == 3 || column->precision == 6 || column->precision == 9;
		}
		else if (rest[strspn(rest, " ")] == '\0')
			return true;
	}
	return false;
}

/* The column that is a filter's family; false if it is of another hash. */
static bool
family_column(const BfHeader *head, PlainColumn *column)
{
	char		name[MAX_NAME];
	char		again[MAX_NAME];
	size_t		prefix = strlen(FAMILY_PREFIX);

	if (head->family_len <= prefix || head->family_len >= MAX_NAME ||
		memcmp(head->family, FAMILY_PREFIX, prefix) != 0)
		return false;
	memcpy(name, head->family, head->family_len);
	name[head->family_len] = '\0';
	if (!parse_column(name + prefix, column))
		return false;
	write_name(column, again);
	return strcmp(name, again) == 0;
}

/* ---- hashing ---- */

static uint64
hash_le(uint64 value, int len)
{
	uint8		bytes[8];

	put_le(bytes, value, len);
	return bf_hash_plain(bytes, len);
}

/* The column cannot hold the key. */
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

static uint64
hash_integer(BloomfamHasher *hasher, int64 value)
{
	PlainHasher *self = (PlainHasher *) hasher;

	if (self->column.type == PLAIN_INT64)
		return hash_le((uint64) value, 8);
	return value == (int32) value ? hash_le((uint64) value, 4) : no_such_value(self);
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

static uint64
hash_float(BloomfamHasher *hasher, double value)
{
	PlainHasher *self = (PlainHasher *) hasher;
	uint64		bits;
	uint32		single_bits;
	float		single = (float) value;

	if (self->column.type == PLAIN_DOUBLE)
	{
		if (isnan(value))
			return hash_le(UINT64CONST(0x7ff8000000000000), 8);
		if (value == 0)
			return hash_le(0, 8);
		memcpy(&bits, &value, sizeof(bits));
		return hash_le(bits, 8);
	}
	if (isnan(value))
		return hash_le(0x7fc00000, 4);
	if (value == 0)
		return hash_le(0, 4);
	if ((double) single != value)
		return no_such_value(self);
	memcpy(&single_bits, &single, sizeof(single_bits));
	return hash_le(single_bits, 4);
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

/* Infinite ones as DuckDB has them; the format has none. */
static uint64
plain_date(BloomfamHasher *hasher, Datum key)
{
	DateADT		value = DatumGetDateADT(key);
	int32		days = DATE_IS_NOBEGIN(value) ? -PG_INT32_MAX
					   : DATE_IS_NOEND(value) ? PG_INT32_MAX
											  : value + EPOCH_DAYS;

	return hash_le((uint32) days, 4);
}

/* Microseconds in the column's unit; false if that is too coarse, or too fine for 64 bits. */
static bool
in_unit(const PlainHasher *self, int64 usecs, int64 *value)
{
	switch (self->column.precision)
	{
		case 3:
			*value = usecs / 1000;
			return usecs % 1000 == 0;
		case 9:
			return !pg_mul_s64_overflow(usecs, 1000, value);
		default:
			*value = usecs;
			return true;
	}
}

static uint64
plain_time(BloomfamHasher *hasher, Datum key)
{
	PlainHasher *self = (PlainHasher *) hasher;
	int64		value;

	if (!in_unit(self, DatumGetTimeADT(key), &value))
		return no_such_value(self);
	return hash_le((uint64) value, self->column.precision == 3 ? 4 : 8);
}

/* timestamp and timestamptz; infinite ones as DuckDB has them */
static uint64
plain_timestamp(BloomfamHasher *hasher, Datum key)
{
	PlainHasher *self = (PlainHasher *) hasher;
	Timestamp	timestamp = DatumGetTimestamp(key);
	int64		value;

	if (TIMESTAMP_IS_NOBEGIN(timestamp))
		value = -PG_INT64_MAX;
	else if (TIMESTAMP_IS_NOEND(timestamp))
		value = PG_INT64_MAX;
	else if (pg_add_s64_overflow(timestamp, EPOCH_USECS, &value) || !in_unit(self, value, &value))
		return no_such_value(self);
	return hash_le((uint64) value, 8);
}

static uint64
plain_uuid(BloomfamHasher *hasher, Datum key)
{
	return bf_hash_plain(DatumGetPointer(key), UUID_LEN);
}

static uint64
plain_bytea(BloomfamHasher *hasher, Datum key)
{
	struct varlena *value = PG_DETOAST_DATUM_PACKED(key);
	uint64		hash = bf_hash_plain(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));

	free_copy(value, key);
	return hash;
}

static uint64
hash_utf8(const char *str, int len)
{
	size_t		utf8_len;
	char	   *utf8 = bloomfam_utf8_from_server(str, len, &utf8_len);
	uint64		hash = bf_hash_plain(utf8, utf8_len);

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

/* name, and literals of type unknown */
static uint64
plain_cstring(BloomfamHasher *hasher, Datum key)
{
	const char *str = DatumGetPointer(key);

	return hash_utf8(str, (int) strlen(str));
}

/*
 * The number times 10^scale; false if that is no integer of at most so many digits.
 */
static bool
unscaled(const NumericDigits *number, int precision, int scale, __int128 *result)
{
	unsigned __int128 limit = power_of_ten(precision);
	unsigned __int128 sum = 0;
	size_t		i;

	if (number->special != 0)
		return false;
	for (i = 0; i < number->ndigits; i++)
	{
		unsigned	digit = numeric_digit(number, i);
		int64		exponent = 4 * ((int64) number->weight - (int64) i) + scale;

		if (digit == 0)
			continue;
		if (exponent < 0)
		{
			/* the rest after the point must be zeros */
			unsigned	divisor = exponent > -4 ? (unsigned) power_of_ten((int) -exponent) : 10000;

			if (digit % divisor != 0)
				return false;
			sum += digit / divisor;
		}
		else
		{
			/* neither product nor sum exceeds twice the limit */
			if (exponent > precision || digit > limit / power_of_ten((int) exponent))
				return false;
			sum += digit * power_of_ten((int) exponent);
		}
		if (sum >= limit)
			return false;
	}
	*result = number->negative ? -(__int128) sum : (__int128) sum;
	return true;
}

static uint64
plain_numeric(BloomfamHasher *hasher, Datum key)
{
	PlainHasher *self = (PlainHasher *) hasher;
	const PlainColumn *column = &self->column;
	struct varlena *value;
	NumericDigits number;
	__int128	integer;
	bool		fits;
	uint8		bytes[16];
	int			i;

	if (column->precision == 0)
	{
		/* a filter without keys has none that this one could equal */
		if (self->base.probing)
			return 0;
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("precision and scale of the keys of a Parquet bloom filter are not known"),
				 errdetail("Parquet has decimals of up to %d digits.", MAX_PRECISION),
				 errhint("Cast the key to a numeric type that has both, such as numeric(18,2).")));
	}

	value = PG_DETOAST_DATUM_PACKED(key);
	read_numeric(value, &number);
	fits = unscaled(&number, column->precision, column->scale, &integer);
	free_copy(value, key);
	if (!fits)
		return no_such_value(self);
	if (!column->fixed)
		return hash_le((uint64) integer, column->bytes);
	for (i = 0; i < column->bytes; i++)
		bytes[i] = (uint8) ((unsigned __int128) integer >> (8 * (column->bytes - 1 - i)));
	return bf_hash_plain(bytes, column->bytes);
}

/* ---- hashers ---- */

typedef struct KeyType
{
	Oid			type;
	PlainType	column;			/* that it is written as */
	uint64		(*hash) (BloomfamHasher *hasher, Datum key);
} KeyType;

static const KeyType key_types[] = {
	{INT2OID, PLAIN_INT32, plain_int2},
	{INT4OID, PLAIN_INT32, plain_int4},
	{INT8OID, PLAIN_INT64, plain_int8},
	{FLOAT4OID, PLAIN_FLOAT, plain_float4},
	{FLOAT8OID, PLAIN_DOUBLE, plain_float8},
	{NUMERICOID, PLAIN_DECIMAL, plain_numeric},
	{DATEOID, PLAIN_DATE, plain_date},
	{TIMEOID, PLAIN_TIME, plain_time},
	{TIMESTAMPOID, PLAIN_TIMESTAMP, plain_timestamp},
	{TIMESTAMPTZOID, PLAIN_TIMESTAMPTZ, plain_timestamp},
	{UUIDOID, PLAIN_UUID, plain_uuid},
	{TEXTOID, PLAIN_TEXT, plain_text},
	{VARCHAROID, PLAIN_TEXT, plain_text},
	{NAMEOID, PLAIN_TEXT, plain_cstring},
	{UNKNOWNOID, PLAIN_TEXT, plain_cstring},
	{BYTEAOID, PLAIN_BYTEA, plain_bytea}
};

/* May keys that are written as the one be asked of a column of the other? */
static bool
compatible(PlainType a, PlainType b)
{
	if (a == PLAIN_INT32 || a == PLAIN_INT64)
		return b == PLAIN_INT32 || b == PLAIN_INT64;
	if (a == PLAIN_FLOAT || a == PLAIN_DOUBLE)
		return b == PLAIN_FLOAT || b == PLAIN_DOUBLE;
	return a == b;
}

/* Hashes as this column has it from now on. */
static void
turn_to(PlainHasher *self, const PlainColumn *column)
{
	self->column = *column;
	if (column->type == PLAIN_DECIMAL && column->precision == 0)
	{
		self->base.family = NULL;
		self->base.family_len = 0;
		self->base.family_id = 0;
		return;
	}
	write_name(column, self->name);
	self->base.family = self->name;
	self->base.family_len = (uint32) strlen(self->name);
	self->base.family_id = bf_family_id(self->name, self->base.family_len);
}

static void
plain_fit(BloomfamHasher *hasher, const BfHeader *filter)
{
	PlainHasher *self = (PlainHasher *) hasher;
	PlainColumn column;

	if (filter->family_id == 0)
		turn_to(self, &self->own);
	else if (family_column(filter, &column) && compatible(self->own.type, column.type))
		turn_to(self, &column);
	else
	{
		/* a mismatch that the caller will find; but a numeric has no family to tell */
		if (self->own.type == PLAIN_DECIMAL)
			bloomfam_family_error(filter, FAMILY_PREFIX "decimal", strlen(FAMILY_PREFIX "decimal"),
								  1);
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
 * Makes a hasher for the plain encoding.  Errors: 0A000 for types that Parquet does not have, and
 * for collations under which unlike bytes may be equal; 42P22 where there is no collation.
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
		 /* look for it */ ;
	if (i == lengthof(key_types))
		type_error(type);

	if (key_types[i].column == PLAIN_TEXT)
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
	if (is_time(self->own.type))
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

	/* as numeric.c packs them: the scale may be negative from 15 on */
	precision = ((typmod - VARHDRSZ) >> 16) & 0xffff;
	scale = (((typmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024;
	if (!valid_decimal(precision, scale))
		return;
	set_decimal(&self->own, precision, scale);
	turn_to(self, &self->own);
}

/*
 * Errors: those of bloomfam_plain_hasher_make(); 22023 for a type of a column that is none, or
 * that goes with other keys.
 */
void
bloomfam_plain_family(Oid type, const char *column, BfHeader *head)
{
	PlainHasher *hasher;
	PlainColumn parsed;

	bloomfam_equality_check_named(type);
	hasher = (PlainHasher *) bloomfam_plain_hasher_make(type, get_typcollation(type));

	if (column != NULL)
	{
		if (!parse_column(column, &parsed))
			ereport(
				ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unrecognized type of a Parquet column: \"%s\"", column),
				 errhint("Types are int32, int64, float, double, date, time(N), timestamp(N), "
						 "timestamptz(N), with N of 3, 6 or 9, uuid, text, bytea, decimal(P,S), "
						 "decimal(P,S) int64 and decimal(P,S) fixed(N).")));
		if (!compatible(hasher->own.type, parsed.type))
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
	PlainColumn column;

	if (!family_column(head, &column))
		return 0;
	return column.type == PLAIN_FLOAT	 ? sizeof(float)
		   : column.type == PLAIN_DOUBLE ? sizeof(double)
										 : 0;
}
