/*-------------------------------------------------------------------------
 *
 * key.c
 *	  From an SQL value to 64 bits.
 *
 * What must hold: two values that SQL's = calls equal hash equally.  The routines follow the
 * server's equality type by type; where a type's equality is not known here, the type's own hash
 * function decides, and what it depends on becomes part of the family.
 *
 * canonical bytes
 *
 *	Little-endian whatever the machine; the hash is bf_hash_bytes() of them.  They are stored in
 *	filters for ever.
 *
 *	int				int2, int4, int8: the value, sign-extended to 8 bytes float			float4,
 *	float8: IEEE 754 binary64, 8 bytes; -0 as 0, every NaN as 0x7ff8000000000000
 *	text			text, varchar, bpchar without its trailing blanks, name: the characters in
 *	UTF-8 numeric			1 byte: 0 zero or positive, 1 negative, 2 NaN, 3 Infinity, 4
 *	-Infinity; for numbers other than zero then the
 *					power of 10000 of the first digit, 4 bytes, and the digits of base 10000, 2
 *					bytes each, neither the first nor the last being zero
 *	bool, char		1 byte
 *	bytea			the bytes
 *	uuid			16 bytes, as in its text form
 *	date			days since 2000-01-01, 4 bytes
 *	time, timestamp, timestamptz
 *					microseconds since midnight, or since 2000-01-01 (UTC for timestamptz), 8 bytes
 *	timetz			microseconds since midnight, 8 bytes; seconds west of UTC, 4 bytes
 *	interval		microseconds, a month being 30 days and a day 24 hours, 16 bytes
 *	oid				4 bytes inet			inet, cidr: 1 byte 4 or 6; 1 byte length of the
 *	netmask; 4 or 16 bytes of address macaddr, macaddr8
 *					6 or 8 bytes
 *	pg_lsn			8 bytes
 *	bit				bit, varbit: number of bits, 4 bytes; the hash of the bytes that hold them, 8 bytes
 *	bloomkey		within another key: the family id, 8 bytes, and the hash, 8 bytes; by itself a bloomkey is its hash
 *	enum "s"."t"	the label in UTF-8
 *
 *	Composites are made of items.  An item is 9 bytes: 1 and the value's hash; or, for a null, 0
 *	and 8 zeros.
 *
 *	x[]				number of dimensions, 4 bytes; for each its length and its lower bound, 4
 *	bytes each; the elements' items oidvector		as oid[] with all lower bounds 0, since its =
 *	does not look at them range(x)		1 byte of flags (1 empty, 2 and 4 without lower and upper
 *	bound, 8 and 16 with inclusive lower and upper
 *					bound), then the bounds' hashes, 8 bytes each, 0 for a bound that is not there
 *	multirange(x)	number of ranges, 4 bytes; the ranges' bytes
 *	row(x,y)		the items of the columns
 *	record			an anonymous row within another key: the row's family id, 8 bytes, and its hash, 8 bytes
 *
 *	Filters of kind parquet hash other bytes, by another hash, and their families have names that
 *	begin with "parquet": key_plain.c.
 *
 *	The other families have a part after "@" that names what their hash depends on; see
 *	append_server() and append_collation().
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>
#include <sys/socket.h>			/* AF_INET, for inet.h */

#include "access/htup_details.h"
#include "access/tupdesc.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_range.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "pg/bloomkey.h"
#include "pg/key.h"
#include "utils/array.h"
#include "utils/arrayaccess.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/inet.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/multirangetypes.h"
#include "utils/pg_lsn.h"
#include "utils/rangetypes.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"
#include "utils/uuid.h"
#include "utils/varbit.h"

/* One item of a composite, and one range, in canonical bytes. */
#define ITEM_SIZE			(1 + sizeof(uint64))
#define RANGE_SIZE			(1 + 2 * sizeof(uint64))

/* Work buffers beyond this are not kept from key to key. */
#define BUFFER_KEEP_SIZE	((Size) 1024 * 1024)

/* A work buffer that is reused from key to key. */
typedef struct WorkBuffer
{
	MemoryContext context;
	uint8	   *data;
	Size		size;
} WorkBuffer;

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

typedef struct EnumLabel
{
	Oid			value;
	char		status;			/* simplehash's own */
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
	enumlabels_hash *labels;	/* of the values seen so far */
	uint64		generation;		/* of pg_enum, when labels was empty */
} EnumHasher;

typedef struct ArrayHasher
{
	BloomfamHasher base;
	BloomfamHasher *element;
	int16		typlen;			/* of the element */
	bool		typbyval;
	char		typalign;
	bool		ignore_bounds;	/* = does not look at lower bounds */
	WorkBuffer	buffer;
} ArrayHasher;

/* Ranges and multiranges. */
typedef struct RangeHasher
{
	BloomfamHasher base;
	BloomfamHasher *bound;
	TypeCacheEntry *range;
	WorkBuffer	buffer;			/* of a multirange */
} RangeHasher;

/* Rows of one type. */
typedef struct RowHasher
{
	BloomfamHasher base;
	Oid			type;
	int32		typmod;			/* tells anonymous row types apart; -1 for others */
	TupleDesc	desc;
	BloomfamHasher **columns;	/* NULL for a dropped one */
	Datum	   *values;
	bool	   *nulls;
	uint8	   *bytes;
} RowHasher;

/* A row type that a hasher was made from, and the state that it was in. */
typedef struct Watched
{
	TypeCacheEntry *entry;
	uint64		identifier;
} Watched;

/*
 * The root of a hasher that may have to be made anew: because a row type within it was altered,
 * or because each key brings its own row type.
 */
typedef struct TreeHasher
{
	BloomfamHasher base;
	Oid			type;
	int32		typmod;
	Oid			collation;
	bool		rows;			/* type and typmod are each key's own */
	bool		nested;			/* an anonymous row within another key */
	BloomfamHasher *root;		/* NULL: not made yet */
	List	   *watched;		/* of Watched */
	MemoryContext context;		/* holds root, watched and nothing else */
} TreeHasher;

/* What making a hasher collects on its way down. */
typedef struct Build
{
	List	   *watched;		/* of Watched */
} Build;

static BloomfamHasher *make_hasher(Build *build, Oid type, Oid collation);

/* ---- families ---- */

/*
 * The families whose hash depends on nothing but the value, and that have no user's names in
 * them.
 */
#define PLAIN_FAMILIES(X)                                                                 \
	X("int")                                                                              \
	X("float")                                                                            \
	X("text") X("numeric") X("bool") X("bytea") X("uuid") X("date") X("time") X("timetz") \
		X("timestamp") X("timestamptz") X("interval") X("oid") X("inet") X("macaddr")     \
			X("macaddr8") X("char") X("pg_lsn") X("bit") X("bloomkey") X("oidvector") X("record")

#define WITH_NESTING(name)	name, name "[]", "range(" name ")", "multirange(" name ")",

/*
 * The name of the family with this id, if it is one of those, or one of their arrays, ranges or
 * multiranges; else NULL.
 */
const char *
bloomfam_family_name(uint64 family_id)
{
	static const char *const names[] = {PLAIN_FAMILIES(WITH_NESTING)};
	static uint64 ids[lengthof(names)];
	size_t		i;

	if (ids[lengthof(names) - 1] == 0)
	{
		for (i = 0; i < lengthof(names); i++)
			ids[i] = bf_family_id(names[i], strlen(names[i]));
	}

	for (i = 0; i < lengthof(names); i++)
	{
		if (ids[i] == family_id)
			return names[i];
	}
	return NULL;
}

/*
 * Gives a hasher its family.  A name that is too long for a filter's header keeps its beginning,
 * and a hash of all of it, so that different families still differ.
 */
static void
set_family(BloomfamHasher *hasher, const char *name)
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

/* Appends a string of the database in UTF-8 and double quotes; NULL as nothing in quotes. */
static void
append_quoted(StringInfo buf, const char *str)
{
	const char *p = "";

	if (str != NULL)
		p = pg_server_to_any(str, (int) strlen(str), PG_UTF8);

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
static void
append_type(StringInfo buf, Oid type)
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

/* Appends what every hash function of the server depends on. */
static void
append_server(StringInfo buf)
{
#ifdef WORDS_BIGENDIAN
	const char *byte_order = "be";
#else
	const char *byte_order = "le";
#endif

	appendStringInfo(buf, "pg%d:%s", BLOOMFAM_PG_MAJOR, byte_order);
}

/*
 * A text column of a catalog's row as a string; NULL for a null, or if this major version has no
 * such column.
 */
static char *
catalog_string(int cacheid, HeapTuple tuple, AttrNumber attnum)
{
	Datum		value;
	bool		isnull;

	if (attnum == InvalidAttrNumber)
		return NULL;
	value = SysCacheGetAttr(cacheid, tuple, attnum, &isnull);
	return isnull ? NULL : TextDatumGetCString(value);
}

/*
 * Appends what a collation's comparisons depend on: its provider, its locale, the version of that
 * locale that the library at hand has, and its rules if there are any.  Not its name: two
 * collations with the same of all this compare the same.
 */
static void
append_collation(StringInfo buf, Oid collation)
{
	HeapTuple	tuple;
	char		provider;
	char	   *collate;
	char	   *ctype;
	char	   *locale;
	char	   *rules;
	const char *main_locale;

	if (collation == DEFAULT_COLLATION_OID)
	{
		tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for database %u", MyDatabaseId);
		provider = ((Form_pg_database) GETSTRUCT(tuple))->datlocprovider;
		collate = catalog_string(DATABASEOID, tuple, Anum_pg_database_datcollate);
		ctype = catalog_string(DATABASEOID, tuple, Anum_pg_database_datctype);
		locale = catalog_string(DATABASEOID, tuple, BLOOMFAM_ANUM_DAT_LOCALE);
		rules = catalog_string(DATABASEOID, tuple, BLOOMFAM_ANUM_DAT_RULES);
	}
	else
	{
		tuple = SearchSysCache1(COLLOID, ObjectIdGetDatum(collation));
		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for collation %u", collation);
		provider = ((Form_pg_collation) GETSTRUCT(tuple))->collprovider;
		collate = catalog_string(COLLOID, tuple, Anum_pg_collation_collcollate);
		ctype = catalog_string(COLLOID, tuple, Anum_pg_collation_collctype);
		locale = catalog_string(COLLOID, tuple, BLOOMFAM_ANUM_COLL_LOCALE);
		rules = catalog_string(COLLOID, tuple, BLOOMFAM_ANUM_COLL_RULES);
	}
	ReleaseSysCache(tuple);

	main_locale = provider == COLLPROVIDER_LIBC ? collate : locale;
	appendStringInfo(buf, ":%s:", collprovider_name(provider));
	append_quoted(buf, main_locale);
	if (collate != NULL || ctype != NULL)
	{
		/* the classes of characters; a database has these whatever its provider */
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

/* ---- bytes ---- */

static void
buffer_init(WorkBuffer *buffer)
{
	buffer->context = CurrentMemoryContext;
	buffer->data = NULL;
	buffer->size = 0;
}

/* Room for so many bytes; what was there before is lost. */
static uint8 *
buffer_reserve(WorkBuffer *buffer, Size size)
{
	if (size > buffer->size)
	{
		uint8	   *old = buffer->data;

		size = Max(size, 2 * buffer->size);
		buffer->data = NULL;
		buffer->size = 0;
		if (old != NULL)
			pfree(old);
		buffer->data = (uint8 *) MemoryContextAllocHuge(buffer->context, size);
		buffer->size = size;
	}
	return buffer->data;
}

/* Gives an uncommonly large buffer back. */
static void
buffer_release(WorkBuffer *buffer)
{
	if (buffer->size > BUFFER_KEEP_SIZE)
	{
		pfree(buffer->data);
		buffer->data = NULL;
		buffer->size = 0;
	}
}

/* Writes the item of a value, and returns where the next one goes. */
static inline uint8 *
put_item(uint8 *bytes, BloomfamHasher *hasher, Datum value, bool isnull)
{
	bytes[0] = isnull ? 0 : 1;
	put_le(bytes + 1, isnull ? 0 : hasher->hash(hasher, value), sizeof(uint64));
	return bytes + ITEM_SIZE;
}

/* ---- types with own bytes, of fixed size ---- */

static uint64
key_int2(BloomfamHasher *hasher, Datum key)
{
	return bf_hash_u64((uint64) (int64) DatumGetInt16(key));
}

static uint64
key_int4(BloomfamHasher *hasher, Datum key)
{
	return bf_hash_u64((uint64) (int64) DatumGetInt32(key));
}

/* int8, and the types that are counts of something since a fixed point */
static uint64
key_int8(BloomfamHasher *hasher, Datum key)
{
	return bf_hash_u64((uint64) DatumGetInt64(key));
}

static inline uint64
hash_double(double value)
{
	uint64		bits;

	if (isnan(value))
		bits = UINT64CONST(0x7ff8000000000000);
	else if (value == 0)
		bits = 0;
	else
		memcpy(&bits, &value, sizeof(bits));
	return bf_hash_u64(bits);
}

static uint64
key_float4(BloomfamHasher *hasher, Datum key)
{
	return hash_double((double) DatumGetFloat4(key));
}

static uint64
key_float8(BloomfamHasher *hasher, Datum key)
{
	return hash_double(DatumGetFloat8(key));
}

static uint64
key_bool(BloomfamHasher *hasher, Datum key)
{
	uint8		byte = DatumGetBool(key) ? 1 : 0;

	return bf_hash_bytes(&byte, 1);
}

static uint64
key_char(BloomfamHasher *hasher, Datum key)
{
	char		byte = DatumGetChar(key);

	return bf_hash_bytes(&byte, 1);
}

/* oid and date */
static uint64
key_4_bytes(BloomfamHasher *hasher, Datum key)
{
	uint8		bytes[4];

	put_le(bytes, DatumGetUInt32(key), 4);
	return bf_hash_bytes(bytes, sizeof(bytes));
}

static uint64
key_timetz(BloomfamHasher *hasher, Datum key)
{
	TimeTzADT  *value = DatumGetTimeTzADTP(key);
	uint8		bytes[12];

	put_le(bytes, (uint64) value->time, 8);
	put_le(bytes + 8, (uint32) value->zone, 4);
	return bf_hash_bytes(bytes, sizeof(bytes));
}

/* As interval_cmp() sees it, infinite ones (17 and later) and all. */
static uint64
key_interval(BloomfamHasher *hasher, Datum key)
{
	Interval   *value = DatumGetIntervalP(key);
	int64		days = (int64) value->month * DAYS_PER_MONTH + value->day;
	__int128	span = (__int128) days * USECS_PER_DAY + value->time;
	uint8		bytes[16];

	put_le(bytes, (uint64) span, 8);
	put_le(bytes + 8, (uint64) (span >> 64), 8);
	return bf_hash_bytes(bytes, sizeof(bytes));
}

static uint64
key_uuid(BloomfamHasher *hasher, Datum key)
{
	return bf_hash_bytes(DatumGetPointer(key), UUID_LEN);
}

static uint64
key_macaddr(BloomfamHasher *hasher, Datum key)
{
	return bf_hash_bytes(DatumGetPointer(key), sizeof(macaddr));
}

static uint64
key_macaddr8(BloomfamHasher *hasher, Datum key)
{
	return bf_hash_bytes(DatumGetPointer(key), sizeof(macaddr8));
}

/* A bloomkey within another key: a value like any other. */
static uint64
key_inner_bloomkey(BloomfamHasher *hasher, Datum key)
{
	BloomfamKey *value = DatumGetBloomkeyP(key);
	uint8		bytes[16];

	put_le(bytes, value->family_id, 8);
	put_le(bytes + 8, value->hash, 8);
	return bf_hash_bytes(bytes, sizeof(bytes));
}

/* A bloomkey by itself: a key of another type that has been hashed before. */
static uint64
key_bloomkey(BloomfamHasher *hasher, Datum key)
{
	BloomfamKey *value = DatumGetBloomkeyP(key);

	if (value->family_id != hasher->family_id)
	{
		hasher->family_id = value->family_id;
		hasher->family = bloomfam_family_name(value->family_id);
		hasher->family_len = hasher->family != NULL ? (uint32) strlen(hasher->family) : 0;
	}
	return value->hash;
}

/* ---- types with own bytes, of variable size ---- */

static uint64
key_bytea(BloomfamHasher *hasher, Datum key)
{
	struct varlena *value = PG_DETOAST_DATUM_PACKED(key);
	uint64		hash = bf_hash_bytes(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));

	free_copy(value, key);
	return hash;
}

static uint64
key_inet(BloomfamHasher *hasher, Datum key)
{
	inet	   *value = DatumGetInetPP(key);
	uint8		bytes[2 + 16];
	int			size = ip_addrsize(value);
	uint64		hash;

	bytes[0] = ip_family(value) == PGSQL_AF_INET ? 4 : 6;
	bytes[1] = ip_bits(value);
	memcpy(bytes + 2, ip_addr(value), size);
	hash = bf_hash_bytes(bytes, 2 + size);

	free_copy(value, key);
	return hash;
}

static uint64
key_bit(BloomfamHasher *hasher, Datum key)
{
	struct varlena *value = PG_DETOAST_DATUM_PACKED(key);
	char	   *data = VARDATA_ANY(value);
	uint8		bytes[12];
	int32		nbits;

	memcpy(&nbits, data, sizeof(nbits));
	put_le(bytes, (uint32) nbits, 4);
	put_le(bytes + 4, bf_hash_bytes(data + sizeof(nbits), VARSIZE_ANY_EXHDR(value) - sizeof(nbits)),
		   8);

	free_copy(value, key);
	return bf_hash_bytes(bytes, sizeof(bytes));
}

/* Digits that fit the stack: numbers of up to 256 decimal digits. */
#define NUM_LOCAL_DIGITS		64

static uint64
key_numeric(BloomfamHasher *hasher, Datum key)
{
	struct varlena *value = PG_DETOAST_DATUM_PACKED(key);
	NumericDigits number;
	uint8		local[1 + 4 + 2 * NUM_LOCAL_DIGITS];
	uint8	   *bytes = local;
	size_t		len = 1;
	size_t		i;
	uint64		hash;

	read_numeric(value, &number);
	if (number.special != 0)
		bytes[0] = number.special == NUM_SPECIAL_NAN   ? 2
				   : number.special == NUM_SPECIAL_INF ? 3
													   : 4;
	else if (number.ndigits == 0)
		bytes[0] = 0;
	else
	{
		len = 1 + 4 + 2 * number.ndigits;
		if (len > sizeof(local))
			bytes = (uint8 *) palloc(len);
		bytes[0] = number.negative ? 1 : 0;
		put_le(bytes + 1, (uint32) number.weight, 4);
		for (i = 0; i < number.ndigits; i++)
			put_le(bytes + 5 + 2 * i, numeric_digit(&number, i), 2);
	}

	hash = bf_hash_bytes(bytes, len);
	if (bytes != local)
		pfree(bytes);
	free_copy(value, key);
	return hash;
}

/* ---- text ---- */

/* Hashes characters of the database's encoding as UTF-8. */
static uint64
hash_converted(const char *str, int len)
{
	char	   *utf8 = pg_server_to_any(str, len, PG_UTF8);
	uint64		hash;

	if (utf8 == str)			/* nothing to convert */
		return bf_hash_bytes(str, len);
	hash = bf_hash_bytes(utf8, strlen(utf8));
	pfree(utf8);
	return hash;
}

static uint64
hash_string(const char *str, int len)
{
	return encoding_is_plain() ? bf_hash_bytes(str, len) : hash_converted(str, len);
}

static uint64
key_text_converted(BloomfamHasher *hasher, Datum key)
{
	struct varlena *value = PG_DETOAST_DATUM_PACKED(key);
	uint64		hash = hash_converted(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));

	free_copy(value, key);
	return hash;
}

static uint64
key_bpchar(BloomfamHasher *hasher, Datum key)
{
	struct varlena *value = PG_DETOAST_DATUM_PACKED(key);
	char	   *str = VARDATA_ANY(value);
	uint64		hash = hash_string(str, bpchartruelen(str, VARSIZE_ANY_EXHDR(value)));

	free_copy(value, key);
	return hash;
}

/* name, and the C strings that literals of type unknown are */
static uint64
key_cstring(BloomfamHasher *hasher, Datum key)
{
	const char *str = DatumGetPointer(key);

	return hash_string(str, (int) strlen(str));
}

/* ---- types that are hashed by the server ---- */

/* The server's hash functions leave some bits worse than others: mix. */
static uint64
key_by_function(BloomfamHasher *hasher, Datum key)
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
static uint64
string_by_function(FunctionHasher *self, const char *str, Size len)
{
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
	return key_by_function(&self->base, PointerGetDatum(self->text));
}

/* name and unknown; name's own hash function does not look at the collation, though its = does. */
static uint64
key_cstring_by_function(BloomfamHasher *hasher, Datum key)
{
	const char *str = DatumGetPointer(key);

	return string_by_function((FunctionHasher *) hasher, str, strlen(str));
}

/*
 * bpchar; its own hash function, in 15, does not drop trailing blanks under such collations,
 * though its = does.
 */
static uint64
key_bpchar_by_function(BloomfamHasher *hasher, Datum key)
{
	struct varlena *value = PG_DETOAST_DATUM_PACKED(key);
	char	   *str = VARDATA_ANY(value);
	uint64		hash;

	hash = string_by_function((FunctionHasher *) hasher, str,
							  bpchartruelen(str, VARSIZE_ANY_EXHDR(value)));
	free_copy(value, key);
	return hash;
}

/* Makes a hasher of an extended hash function, which is called with the seed 0. */
static FunctionHasher *
make_function(Oid function, Oid collation)
{
	FunctionHasher *self = (FunctionHasher *) palloc0(sizeof(FunctionHasher));

	self->base.hash = key_by_function;
	self->context = CurrentMemoryContext;
	fmgr_info_cxt(function, &self->function, CurrentMemoryContext);
	self->call = (FunctionCallInfo) palloc0(SizeForFunctionCallInfo(2));
	InitFunctionCallInfoData(*self->call, &self->function, 2, collation, NULL, NULL);
	self->call->args[0].isnull = false;
	self->call->args[1].value = Int64GetDatum(0);
	self->call->args[1].isnull = false;
	return self;
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

static void no_hash_function(Oid type) pg_attribute_noreturn();

static void
no_hash_function(Oid type)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_FUNCTION),
			 errmsg("could not identify a 64-bit hash function for type %s", format_type_be(type)),
			 errhint("Cast the key to a type that has one, such as text.")));
}

/*
 * Text under a collation: by its bytes if equality is that of bytes, else by the server's hash
 * function for text, which sees what is equal under the collation.
 */
static BloomfamHasher *
make_text(Oid type, Oid collation)
{
	BloomfamHasher *hasher;
	bool		is_cstring = type == NAMEOID || type == UNKNOWNOID;
	StringInfoData name;

	/* a literal has no collation of its own */
	if (type == UNKNOWNOID && !OidIsValid(collation))
		collation = DEFAULT_COLLATION_OID;
	bloomfam_key_check_collation(collation);

	if (get_collation_isdeterministic(collation))
	{
		hasher = (BloomfamHasher *) palloc0(sizeof(BloomfamHasher));
		if (is_cstring)
			hasher->hash = key_cstring;
		else if (type == BPCHAROID)
			hasher->hash = key_bpchar;
		else
			hasher->hash = encoding_is_plain() ? key_bytea : key_text_converted;
		set_family(hasher, "text");
		return hasher;
	}

	hasher = &make_function(F_HASHTEXTEXTENDED, collation)->base;
	if (is_cstring)
		hasher->hash = key_cstring_by_function;
	else if (type == BPCHAROID)
		hasher->hash = key_bpchar_by_function;
	initStringInfo(&name);
	appendStringInfoString(&name, "text@");
	append_server(&name);
	append_collation(&name, collation);
	set_family(hasher, name.data);
	pfree(name.data);
	return hasher;
}

/* ---- enums ---- */

/* Counts the changes of pg_enum that this backend hears of. */
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
	uint64		hash;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid internal value for enum: %u", value)));
	label = NameStr(((Form_pg_enum) GETSTRUCT(tuple))->enumlabel);
	hash = hash_string(label, (int) strlen(label));
	ReleaseSysCache(tuple);
	return hash;
}

/* By label: values of an enum are OIDs, which differ from database to database. */
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

static BloomfamHasher *
make_enum(Oid type)
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
	append_type(&name, type);
	set_family(&self->base, name.data);
	pfree(name.data);
	return &self->base;
}

/* ---- arrays ---- */

static uint64
key_array(BloomfamHasher *hasher, Datum key)
{
	ArrayHasher *self = (ArrayHasher *) hasher;
	AnyArrayType *array = DatumGetAnyArrayP(key);
	int			ndim = AARR_NDIM(array);
	int		   *dims = AARR_DIMS(array);
	int		   *bounds = AARR_LBOUND(array);
	int			nitems = ArrayGetNItems(ndim, dims);
	Size		size = 4 + (Size) ndim * 8 + (Size) nitems * ITEM_SIZE;
	uint8	   *bytes = buffer_reserve(&self->buffer, size);
	uint8	   *p = bytes;
	array_iter	iter;
	uint64		hash;
	int			i;

	put_le(p, (uint32) ndim, 4);
	p += 4;
	for (i = 0; i < ndim; i++)
	{
		put_le(p, (uint32) dims[i], 4);
		put_le(p + 4, self->ignore_bounds ? 0 : (uint32) bounds[i], 4);
		p += 8;
	}

	array_iter_setup(&iter, array);
	for (i = 0; i < nitems; i++)
	{
		bool		isnull;
		Datum		value =
			array_iter_next(&iter, &isnull, i, self->typlen, self->typbyval, self->typalign);

		p = put_item(p, self->element, value, isnull);
	}

	hash = bf_hash_bytes(bytes, size);
	buffer_release(&self->buffer);
	if (!VARATT_IS_EXPANDED_HEADER(array))
		free_copy(array, key);
	return hash;
}

static BloomfamHasher *
make_array(Build *build, Oid type, Oid element_type, Oid collation)
{
	ArrayHasher *self = (ArrayHasher *) palloc0(sizeof(ArrayHasher));
	char	   *name;

	self->base.hash = key_array;
	self->element = make_hasher(build, element_type, collation);
	get_typlenbyvalalign(element_type, &self->typlen, &self->typbyval, &self->typalign);
	buffer_init(&self->buffer);

	/* int2vector has no = of its own, and takes that of arrays */
	self->ignore_bounds = type == OIDVECTOROID;
	name = self->ignore_bounds ? pstrdup("oidvector") : psprintf("%s[]", self->element->family);
	set_family(&self->base, name);
	pfree(name);
	return &self->base;
}

/* ---- ranges and multiranges ---- */

static void
put_range(uint8 *bytes, BloomfamHasher *bound, const RangeBound *lower, const RangeBound *upper,
		  bool empty)
{
	memset(bytes, 0, RANGE_SIZE);
	if (empty)
	{
		bytes[0] = 1;
		return;
	}

	/* whether an infinite bound is inclusive has no meaning */
	if (lower->infinite)
		bytes[0] |= 2;
	else
	{
		bytes[0] |= lower->inclusive ? 8 : 0;
		put_le(bytes + 1, bound->hash(bound, lower->val), sizeof(uint64));
	}
	if (upper->infinite)
		bytes[0] |= 4;
	else
	{
		bytes[0] |= upper->inclusive ? 16 : 0;
		put_le(bytes + 1 + sizeof(uint64), bound->hash(bound, upper->val), sizeof(uint64));
	}
}

static uint64
key_range(BloomfamHasher *hasher, Datum key)
{
	RangeHasher *self = (RangeHasher *) hasher;
	RangeType  *value = DatumGetRangeTypeP(key);
	RangeBound	lower;
	RangeBound	upper;
	bool		empty;
	uint8		bytes[RANGE_SIZE];

	range_deserialize(self->range, value, &lower, &upper, &empty);
	put_range(bytes, self->bound, &lower, &upper, empty);
	free_copy(value, key);
	return bf_hash_bytes(bytes, sizeof(bytes));
}

static uint64
key_multirange(BloomfamHasher *hasher, Datum key)
{
	RangeHasher *self = (RangeHasher *) hasher;
	MultirangeType *value = DatumGetMultirangeTypeP(key);
	uint32		count = value->rangeCount;
	Size		size = 4 + (Size) count * RANGE_SIZE;
	uint8	   *bytes = buffer_reserve(&self->buffer, size);
	uint8	   *p = bytes;
	uint64		hash;
	uint32		i;

	put_le(p, count, 4);
	p += 4;
	for (i = 0; i < count; i++)
	{
		RangeBound	lower;
		RangeBound	upper;

		multirange_get_bounds(self->range, value, i, &lower, &upper);
		put_range(p, self->bound, &lower, &upper, false);
		p += RANGE_SIZE;
	}

	hash = bf_hash_bytes(bytes, size);
	buffer_release(&self->buffer);
	free_copy(value, key);
	return hash;
}

/*
 * Ranges compare their bounds by an operator class of their own.  Unless that has the subtype's
 * equality, what the subtype's hasher tells apart may be one and the same to the range.
 */
static void
check_range_equality(TypeCacheEntry *range)
{
	HeapTuple	tuple = SearchSysCache1(RANGETYPE, ObjectIdGetDatum(range->type_id));
	Oid			opclass;
	Oid			subtype = range->rngelemtype->type_id;
	Oid			opfamily;
	Oid			opcintype;
	Oid			equality;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for range type %u", range->type_id);
	opclass = ((Form_pg_range) GETSTRUCT(tuple))->rngsubopc;
	ReleaseSysCache(tuple);

	if (!get_opclass_opfamily_and_input_type(opclass, &opfamily, &opcintype))
		elog(ERROR, "cache lookup failed for operator class %u", opclass);
	equality = get_opfamily_member(opfamily, opcintype, opcintype, BTEqualStrategyNumber);
	if (!OidIsValid(equality) || equality != lookup_type_cache(subtype, TYPECACHE_EQ_OPR)->eq_opr)
		ereport(
			ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot hash keys of type %s", format_type_be(range->type_id)),
			 errdetail(
				 "The operator class of the range type has another equality than its subtype %s by default.",
				 format_type_be(subtype)),
			 errhint("Use a range type with the subtype's default operator class.")));
}

static BloomfamHasher *
make_range_or_multirange(Build *build, Oid type, bool is_multirange)
{
	RangeHasher *self = (RangeHasher *) palloc0(sizeof(RangeHasher));
	char	   *name;

	if (is_multirange)
	{
		self->range = lookup_type_cache(type, TYPECACHE_MULTIRANGE_INFO)->rngtype;
		self->base.hash = key_multirange;
	}
	else
	{
		self->range = lookup_type_cache(type, TYPECACHE_RANGE_INFO);
		self->base.hash = key_range;
	}
	check_range_equality(self->range);
	self->bound = make_hasher(build, self->range->rngelemtype->type_id, self->range->rng_collation);
	buffer_init(&self->buffer);

	name = psprintf("%s(%s)", is_multirange ? "multirange" : "range", self->bound->family);
	set_family(&self->base, name);
	pfree(name);
	return &self->base;
}

/* ---- rows ---- */

/* The type of a row, as it says itself; typmod is -1 unless it is anonymous. */
static inline void
row_type(HeapTupleHeader row, Oid *type, int32 *typmod)
{
	*type = HeapTupleHeaderGetTypeId(row);
	*typmod = *type == RECORDOID ? HeapTupleHeaderGetTypMod(row) : -1;
}

static uint64
key_row(BloomfamHasher *hasher, Datum key)
{
	RowHasher  *self = (RowHasher *) hasher;
	HeapTupleHeader row = DatumGetHeapTupleHeader(key);
	HeapTupleData tuple;
	Oid			type;
	int32		typmod;
	uint8	   *p = self->bytes;
	int			i;

	check_stack_depth();

	row_type(row, &type, &typmod);
	if (type != self->type || typmod != self->typmod)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("unexpected row type %s in a key", format_type_be(type)),
				 errdetail("The key's type has %s there.", format_type_be(self->type))));

	tuple.t_len = HeapTupleHeaderGetDatumLength(row);
	ItemPointerSetInvalid(&tuple.t_self);
	tuple.t_tableOid = InvalidOid;
	tuple.t_data = row;
	heap_deform_tuple(&tuple, self->desc, self->values, self->nulls);

	for (i = 0; i < self->desc->natts; i++)
	{
		if (self->columns[i] != NULL)
			p = put_item(p, self->columns[i], self->values[i], self->nulls[i]);
	}

	free_copy(row, key);
	return bf_hash_bytes(self->bytes, p - self->bytes);
}

static BloomfamHasher *
make_row(Build *build, Oid type, int32 typmod)
{
	RowHasher  *self = (RowHasher *) palloc0(sizeof(RowHasher));
	StringInfoData name;
	int			natts;
	int			i;

	self->base.hash = key_row;
	self->type = type;
	self->typmod = typmod;

	if (type == RECORDOID)
	{
		TupleDesc	desc = lookup_rowtype_tupdesc(type, typmod);

		/* an anonymous row type never changes; the copy keeps us free of reference counts */
		self->desc = CreateTupleDescCopyConstr(desc);
		ReleaseTupleDesc(desc);
	}
	else
	{
		TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_TUPDESC);
		Watched    *watched = (Watched *) palloc(sizeof(Watched));

		if (entry->tupDesc == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("type %s is not composite", format_type_be(type))));
		self->desc = CreateTupleDescCopyConstr(entry->tupDesc);
		watched->entry = entry;
		watched->identifier = entry->tupDesc_identifier;
		build->watched = lappend(build->watched, watched);
	}

	natts = self->desc->natts;
	self->columns = (BloomfamHasher **) palloc0(natts * sizeof(BloomfamHasher *));
	self->values = (Datum *) palloc0(natts * sizeof(Datum));
	self->nulls = (bool *) palloc0(natts * sizeof(bool));
	self->bytes = (uint8 *) palloc(natts * ITEM_SIZE);

	initStringInfo(&name);
	appendStringInfoString(&name, "row(");
	for (i = 0; i < natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(self->desc, i);

		if (column->attisdropped)
			continue;
		self->columns[i] = make_hasher(build, column->atttypid, column->attcollation);
		if (name.data[name.len - 1] != '(')
			appendStringInfoChar(&name, ',');
		appendStringInfoString(&name, self->columns[i]->family);
	}
	appendStringInfoChar(&name, ')');
	set_family(&self->base, name.data);
	pfree(name.data);
	return &self->base;
}

/* ---- hashers that are made anew ---- */

/* Was a row type altered since?  The type cache changes the identifier then, or clears it. */
static inline bool
tree_is_stale(const TreeHasher *tree)
{
	ListCell   *lc;

	foreach(lc, tree->watched)
	{
		Watched    *watched = (Watched *) lfirst(lc);

		if (watched->entry->tupDesc_identifier != watched->identifier)
			return true;
	}
	return false;
}

static void
tree_make(TreeHasher *tree, Oid type, int32 typmod)
{
	MemoryContext old;
	Build		build = {NIL};
	BloomfamHasher *root;

	/* an error half way must not leave a tree behind */
	tree->root = NULL;
	tree->watched = NIL;
	if (!tree->nested)
	{
		tree->base.family = NULL;
		tree->base.family_len = 0;
		tree->base.family_id = 0;
	}
	MemoryContextReset(tree->context);

	old = MemoryContextSwitchTo(tree->context);
	if (tree->rows)
		root = make_row(&build, type, typmod);
	else
		root = make_hasher(&build, type, tree->collation);
	MemoryContextSwitchTo(old);

	tree->type = type;
	tree->typmod = typmod;
	tree->watched = build.watched;
	tree->root = root;
	if (!tree->nested)
	{
		tree->base.family = root->family;
		tree->base.family_len = root->family_len;
		tree->base.family_id = root->family_id;
	}
}

static uint64
key_tree(BloomfamHasher *hasher, Datum key)
{
	TreeHasher *self = (TreeHasher *) hasher;
	HeapTupleHeader row = NULL;
	Oid			type = self->type;
	int32		typmod = self->typmod;
	Datum		value = key;
	uint64		hash;

	check_stack_depth();

	if (self->rows)
	{
		row = DatumGetHeapTupleHeader(key);
		value = PointerGetDatum(row);
		row_type(row, &type, &typmod);
	}
	if (self->root == NULL || type != self->type || typmod != self->typmod || tree_is_stale(self))
		tree_make(self, type, typmod);

	hash = self->root->hash(self->root, value);
	if (self->nested)
	{
		uint8		bytes[16];

		/* the family of the whole does not tell this row's */
		put_le(bytes, self->root->family_id, 8);
		put_le(bytes + 8, hash, 8);
		hash = bf_hash_bytes(bytes, sizeof(bytes));
	}
	if (row != NULL)
		free_copy(row, key);
	return hash;
}

/*
 * Makes an empty tree in the current memory context; type is InvalidOid if only the keys tell it.
 */
static TreeHasher *
make_tree(Oid type, Oid collation, bool rows)
{
	TreeHasher *self = (TreeHasher *) palloc0(sizeof(TreeHasher));

	self->base.hash = key_tree;
	self->type = type;
	self->typmod = -1;
	self->collation = collation;
	self->rows = rows;
	self->context =
		AllocSetContextCreate(CurrentMemoryContext, "bloomfam hasher", ALLOCSET_SMALL_SIZES);
	return self;
}

/* ---- from a type to its hasher ---- */

typedef struct ScalarType
{
	Oid			type;
	const char *family;
	uint64		(*hash) (BloomfamHasher *hasher, Datum key);
} ScalarType;

static const ScalarType scalar_types[] = {
	{BOOLOID, "bool", key_bool},
	{BYTEAOID, "bytea", key_bytea},
	{CHAROID, "char", key_char},
	{INT8OID, "int", key_int8},
	{INT2OID, "int", key_int2},
	{INT4OID, "int", key_int4},
	{OIDOID, "oid", key_4_bytes},
	{FLOAT4OID, "float", key_float4},
	{FLOAT8OID, "float", key_float8},
	{MACADDR8OID, "macaddr8", key_macaddr8},
	{MACADDROID, "macaddr", key_macaddr},
	{INETOID, "inet", key_inet},
	{CIDROID, "inet", key_inet},
	{DATEOID, "date", key_4_bytes},
	{TIMEOID, "time", key_int8},
	{TIMESTAMPOID, "timestamp", key_int8},
	{TIMESTAMPTZOID, "timestamptz", key_int8},
	{INTERVALOID, "interval", key_interval},
	{TIMETZOID, "timetz", key_timetz},
	{BITOID, "bit", key_bit},
	{VARBITOID, "bit", key_bit},
	{NUMERICOID, "numeric", key_numeric},
	{UUIDOID, "uuid", key_uuid},
	{LSNOID, "pg_lsn", key_int8}
};

static BloomfamHasher *
make_scalar(const char *family, uint64 (*hash) (BloomfamHasher *hasher, Datum key))
{
	BloomfamHasher *hasher = (BloomfamHasher *) palloc0(sizeof(BloomfamHasher));

	hasher->hash = hash;
	set_family(hasher, family);
	return hasher;
}

/* The hasher of a type with own bytes; NULL for others. */
static BloomfamHasher *
make_own(Oid type, Oid collation)
{
	size_t		i;

	switch (type)
	{
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case NAMEOID:
		case UNKNOWNOID:
			return make_text(type, collation);
	}

	for (i = 0; i < lengthof(scalar_types); i++)
	{
		if (scalar_types[i].type == type)
			return make_scalar(scalar_types[i].family, scalar_types[i].hash);
	}
	return NULL;
}

/* Has the type an operator = of its own, in whatever schema, other than this one? */
static bool
has_other_equality(Oid type, Oid equality)
{
	CatCList   *list = SearchSysCacheList3(OPERNAMENSP, CStringGetDatum("="),
										   ObjectIdGetDatum(type), ObjectIdGetDatum(type));
	bool		result = false;
	int			i;

	for (i = 0; i < list->n_members && !result; i++)
		result = ((Form_pg_operator) GETSTRUCT(&list->members[i]->tuple))->oid != equality;
	ReleaseSysCacheList(list);
	return result;
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

/* A type that we know nothing of: what its default hash operator class says. */
static BloomfamHasher *
make_other(Oid type, Oid collation)
{
	/* the type cache finds no hash function that does not go with the type's equality */
	TypeCacheEntry *entry =
		lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_HASH_EXTENDED_PROC);
	BloomfamHasher *hasher;
	StringInfoData name;

	if (!OidIsValid(entry->hash_extended_proc))
		no_hash_function(type);

	if (entry->hash_opintype != type)
	{
		/*
		 * The operator class is another type's, of which this one is a relabelling.  So is its
		 * equality, if it has none of its own that is in no operator class.
		 */
		if (has_other_equality(type, entry->eq_opr))
			no_hash_function(type);
		hasher = make_own(entry->hash_opintype, collation);
		if (hasher != NULL)
			return hasher;
	}

	if (type_is_collatable(type))
		bloomfam_key_check_collation(collation);

	hasher = &make_function(entry->hash_extended_proc, collation)->base;
	initStringInfo(&name);
	append_type(&name, type);
	appendStringInfoChar(&name, '@');
	append_server(&name);
	appendStringInfo(&name, ":%s", GetDatabaseEncodingName());
	if (type_is_collatable(type))
	{
		append_collation(&name, DEFAULT_COLLATION_OID);
		if (collation != DEFAULT_COLLATION_OID)
			append_collation(&name, collation);
	}
	set_family(hasher, name.data);
	pfree(name.data);
	return hasher;
}

/* Makes the hasher of a type, which may be part of a key's, in the current memory context. */
static BloomfamHasher *
make_hasher(Build *build, Oid type, Oid collation)
{
	BloomfamHasher *hasher;
	Oid			element;

	check_stack_depth();

	type = getBaseType(type);
	hasher = make_own(type, collation);
	if (hasher != NULL)
		return hasher;

	if (type == RECORDOID)
	{
		TreeHasher *tree = make_tree(InvalidOid, InvalidOid, true);

		tree->nested = true;
		set_family(&tree->base, "record");
		return &tree->base;
	}

	element = get_element_type(type);
	if (OidIsValid(element))
		return make_array(build, type, element, collation);

	switch (get_typtype(type))
	{
		case TYPTYPE_BASE:
			if (bloomfam_is_bloomkey(type))
				return make_scalar("bloomkey", key_inner_bloomkey);
			return make_other(type, collation);
		case TYPTYPE_ENUM:
			return make_enum(type);
		case TYPTYPE_RANGE:
			return make_range_or_multirange(build, type, false);
		case TYPTYPE_MULTIRANGE:
			return make_range_or_multirange(build, type, true);
		case TYPTYPE_COMPOSITE:
			return make_row(build, type, -1);
		default:
			no_hash_function(type);	/* pseudo-types */
	}
	return NULL;				/* keep compiler quiet */
}

/* Are there rows of a named type at the bottom of an array, a range or a multirange? */
static bool
holds_rows(Oid type)
{
	for (;;)
	{
		Oid			inner;

		type = getBaseType(type);
		inner = get_element_type(type);
		if (!OidIsValid(inner))
			inner = get_range_subtype(type);
		if (!OidIsValid(inner))
			inner = get_multirange_range(type);
		if (!OidIsValid(inner))
			return get_typtype(type) == TYPTYPE_COMPOSITE;
		type = inner;
	}
}

/*
 * Makes a hasher for keys of an SQL type under a collation.
 *
 * Errors: 42883 for a type without hash function, 42P22 for one that needs a collation when there
 * is none, 0A000 for a range type with an equality of its own, or one that Parquet does not have.
 * The hashers of rows look at each row's type, and make themselves anew when it is another than
 * the last, or was altered; family then changes too, and the old name is gone.
 */
BloomfamHasher *
bloomfam_hasher_make(MemoryContext context, Oid type, Oid collation, BfHashId hash_id)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	Build		build = {NIL};
	BloomfamHasher *hasher;

	if (hash_id == BF_HASH_XXH64_PLAIN)
	{
		hasher = bloomfam_plain_hasher_make(type, collation);
		MemoryContextSwitchTo(old);
		return hasher;
	}
	if (hash_id != BF_HASH_XXH3)
		elog(ERROR, "unrecognized hash: %d", (int) hash_id);

	type = getBaseType(type);
	if (type == RECORDOID)
		hasher = &make_tree(InvalidOid, InvalidOid, true)->base;
	else if (holds_rows(type))
	{
		TreeHasher *tree = make_tree(type, collation, get_typtype(type) == TYPTYPE_COMPOSITE);

		tree_make(tree, type, -1);
		hasher = &tree->base;
	}
	else if (get_typtype(type) == TYPTYPE_BASE && bloomfam_is_bloomkey(type))
	{
		hasher = (BloomfamHasher *) palloc0(sizeof(BloomfamHasher));
		hasher->hash = key_bloomkey;
	}
	else
		hasher = make_hasher(&build, type, collation);

	hasher->hash_id = hash_id;
	MemoryContextSwitchTo(old);
	return hasher;
}

/* ---- the type of an argument ---- */

/*
 * The type of an argument that is a key.
 *
 * That of the expression, whatever it was relabelled from: a cast is what SQL's = would see, too.
 * No argument arrives relabelled behind the user's back, as keys are declared "any"; an untyped
 * literal is a bloomliteral, which is text.
 */
Oid
bloomfam_key_type(FunctionCallInfo fcinfo, int argno)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, argno);

	if (!OidIsValid(type))
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_DATATYPE),
				 errmsg("could not determine the type of the key")));
	return type;
}

/*
 * The typmod of such an argument, where its expression tells; else -1.  What an aggregate's
 * functions are told of their arguments has none, so that of the call itself is looked at.
 */
int32
bloomfam_key_typmod(FunctionCallInfo fcinfo, int argno)
{
	Node	   *expr = fcinfo->flinfo->fn_expr;
	Aggref	   *aggref = AggGetAggref(fcinfo);
	List	   *args = NIL;

	if (aggref != NULL)
		/* argument 0 is the state */
		return exprTypmod((Node *) list_nth_node(TargetEntry, aggref->args, argno - 1)->expr);
	if (expr != NULL && IsA(expr, FuncExpr))
		args = ((FuncExpr *) expr)->args;
	else if (expr != NULL && IsA(expr, OpExpr))
		args = ((OpExpr *) expr)->args;
	return argno < list_length(args) ? exprTypmod(list_nth(args, argno)) : -1;
}

bool
bloomfam_hasher_is_integer(const BloomfamHasher *hasher)
{
	return hasher->hash == key_int2 || hasher->hash == key_int4 || hasher->hash == key_int8;
}

void
bloomfam_hashers_init(BloomfamHashers *hashers, FunctionCallInfo fcinfo, int argno,
					  bool keys_are_array)
{
	Oid			type = bloomfam_key_type(fcinfo, argno);

	memset(hashers, 0, sizeof(*hashers));
	hashers->context = fcinfo->flinfo->fn_mcxt;
	hashers->type = keys_are_array ? get_base_element_type(type) : type;
	hashers->typmod = bloomfam_key_typmod(fcinfo, argno);
	hashers->collation = PG_GET_COLLATION();
}

BloomfamHashers *
bloomfam_hashers_get(FunctionCallInfo fcinfo, int argno, bool keys_are_array)
{
	BloomfamHashers *hashers = fcinfo->flinfo->fn_extra;

	if (hashers == NULL)
	{
		hashers = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(BloomfamHashers));
		bloomfam_hashers_init(hashers, fcinfo, argno, keys_are_array);
		fcinfo->flinfo->fn_extra = hashers;
	}
	return hashers;
}

/* Makes the one for this hash. */
BloomfamHasher *
bloomfam_hashers_make(BloomfamHashers *hashers, BfHashId hash_id)
{
	BloomfamHasher *hasher =
		bloomfam_hasher_make(hashers->context, hashers->type, hashers->collation, hash_id);

	bloomfam_hasher_typmod(hasher, hashers->typmod);
	hasher->probing = hashers->probing;
	hashers->by_id[hash_id] = hasher;
	return hasher;
}
