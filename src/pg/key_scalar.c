/*-------------------------------------------------------------------------
 *
 * key_scalar.c
 *	  Keys of built-in types with bytes of their own.
 *
 * Canonical bytes: little-endian whatever the machine, and the hash is bf_hash_bytes() of them.
 * They are stored in filters for ever.
 *
 *	int				int2, int4, int8: the value, sign-extended to 8 bytes
 *	float			float4, float8: IEEE 754 binary64, 8 bytes; -0 as 0, every NaN as
 *					0x7ff8000000000000
 *	numeric			1 byte: 0 zero or positive, 1 negative, 2 NaN, 3 Infinity, 4 -Infinity; for
 *					numbers other than zero then the power of 10000 of the first digit, 4 bytes,
 *					and the digits of base 10000, 2 bytes each, neither the first nor the last
 *					being zero
 *	bool, char		1 byte
 *	bytea			the bytes
 *	uuid			16 bytes, as in its text form
 *	date			days since 2000-01-01, 4 bytes
 *	time, timestamp, timestamptz
 *					microseconds since midnight, or since 2000-01-01 (UTC for timestamptz), 8
 *					bytes
 *	timetz			microseconds since midnight, 8 bytes; seconds west of UTC, 4 bytes
 *	interval		microseconds, a month being 30 days and a day 24 hours, 16 bytes
 *	oid				4 bytes
 *	inet			inet, cidr: 1 byte 4 or 6; 1 byte length of the netmask; 4 or 16 bytes of
 *					address
 *	macaddr, macaddr8
 *					6 or 8 bytes
 *	pg_lsn			8 bytes
 *	bit				bit, varbit: number of bits, 4 bytes; the hash of the bytes that hold them,
 *					8 bytes
 *	bloomkey(ID)	within another key, ID being the family id as 16 hexadecimal digits: the
 *					family id, 8 bytes, and the hash, 8 bytes; by itself a bloomkey is its hash
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>
#include <sys/socket.h>			/* AF_INET, for inet.h */

#include "catalog/pg_type.h"
#include "utils/date.h"
#include "utils/inet.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"
#include "utils/varbit.h"

#include "pg/bloomkey.h"
#include "pg/key_bytes.h"
#include "pg/key_family.h"
#include "pg/key_numeric.h"
#include "pg/key_scalar.h"

/* ---- of fixed size ---- */

static uint64
key_int2(BloomfamHasher *hasher, Datum key)
{
	return bf_hash_u64_seeded(hasher->seed, (uint64) (int64) DatumGetInt16(key));
}

static uint64
key_int4(BloomfamHasher *hasher, Datum key)
{
	return bf_hash_u64_seeded(hasher->seed, (uint64) (int64) DatumGetInt32(key));
}

/* int8, and the types that are counts of something since a fixed point */
static uint64
key_int8(BloomfamHasher *hasher, Datum key)
{
	return bf_hash_u64_seeded(hasher->seed, (uint64) DatumGetInt64(key));
}

static inline uint64
hash_double(const BloomfamHasher *hasher, double value)
{
	uint64		bits;

	if (isnan(value))
		bits = UINT64CONST(0x7ff8000000000000);
	else if (value == 0)
		bits = 0;
	else
		memcpy(&bits, &value, sizeof(bits));
	return bf_hash_u64_seeded(hasher->seed, bits);
}

static uint64
key_float4(BloomfamHasher *hasher, Datum key)
{
	return hash_double(hasher, (double) DatumGetFloat4(key));
}

static uint64
key_float8(BloomfamHasher *hasher, Datum key)
{
	return hash_double(hasher, DatumGetFloat8(key));
}

static uint64
key_bool(BloomfamHasher *hasher, Datum key)
{
	uint8		byte = DatumGetBool(key) ? 1 : 0;

	return bf_hash_bytes_seeded(hasher->seed, &byte, 1);
}

static uint64
key_char(BloomfamHasher *hasher, Datum key)
{
	char		byte = DatumGetChar(key);

	return bf_hash_bytes_seeded(hasher->seed, &byte, 1);
}

/* oid and date */
static uint64
key_4_bytes(BloomfamHasher *hasher, Datum key)
{
	uint8		bytes[4];

	put_le(bytes, DatumGetUInt32(key), 4);
	return bf_hash_bytes_seeded(hasher->seed, bytes, sizeof(bytes));
}

static uint64
key_timetz(BloomfamHasher *hasher, Datum key)
{
	TimeTzADT  *value = DatumGetTimeTzADTP(key);
	uint8		bytes[12];

	put_le(bytes, (uint64) value->time, 8);
	put_le(bytes + 8, (uint32) value->zone, 4);
	return bf_hash_bytes_seeded(hasher->seed, bytes, sizeof(bytes));
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
	return bf_hash_bytes_seeded(hasher->seed, bytes, sizeof(bytes));
}

static uint64
key_uuid(BloomfamHasher *hasher, Datum key)
{
	return bf_hash_bytes_seeded(hasher->seed, DatumGetPointer(key), UUID_LEN);
}

static uint64
key_macaddr(BloomfamHasher *hasher, Datum key)
{
	return bf_hash_bytes_seeded(hasher->seed, DatumGetPointer(key), sizeof(macaddr));
}

static uint64
key_macaddr8(BloomfamHasher *hasher, Datum key)
{
	return bf_hash_bytes_seeded(hasher->seed, DatumGetPointer(key), sizeof(macaddr8));
}

/* ---- bloomkeys ---- */

/* A bloomkey within another key, whose family then tells what it was made of. */
typedef struct InnerHasher
{
	BloomfamHasher base;
	uint64		family_id;		/* of the last one */
	MemoryContext context;
} InnerHasher;

static uint64
key_inner_bloomkey(BloomfamHasher *hasher, Datum key)
{
	InnerHasher *self = (InnerHasher *) hasher;
	BloomfamKey *value = DatumGetBloomkeyP(key);
	uint8		bytes[16];

	if (value->family_id != self->family_id)
	{
		char		name[sizeof("bloomkey(0123456789abcdef)")];

		snprintf(name, sizeof(name), "bloomkey(%016llx)", (unsigned long long) value->family_id);
		bloomfam_family_change(hasher, self->context, name);
		self->family_id = value->family_id;
	}

	put_le(bytes, value->family_id, 8);
	put_le(bytes + 8, value->hash, 8);
	return bf_hash_bytes_seeded(hasher->seed, bytes, sizeof(bytes));
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

/* ---- of variable size ---- */

static uint64
key_bytea(BloomfamHasher *hasher, Datum key)
{
	struct varlena *value = PG_DETOAST_DATUM_PACKED(key);
	uint64		hash = bf_hash_bytes_seeded(hasher->seed, VARDATA_ANY(value),
											 VARSIZE_ANY_EXHDR(value));

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
	hash = bf_hash_bytes_seeded(hasher->seed, bytes, 2 + size);

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
	put_le(bytes + 4,
		   bf_hash_bytes_seeded(hasher->seed, data + sizeof(nbits),
								VARSIZE_ANY_EXHDR(value) - sizeof(nbits)),
		   8);

	free_copy(value, key);
	return bf_hash_bytes_seeded(hasher->seed, bytes, sizeof(bytes));
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

	hash = bf_hash_bytes_seeded(hasher->seed, bytes, len);
	if (bytes != local)
		pfree(bytes);
	free_copy(value, key);
	return hash;
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
	bloomfam_family_set(hasher, family);
	return hasher;
}

static const ScalarType *
find_scalar(Oid type)
{
	size_t		i;

	for (i = 0; i < lengthof(scalar_types); i++)
	{
		if (scalar_types[i].type == type)
			return &scalar_types[i];
	}
	return NULL;
}

/* The hasher of a type with own bytes; NULL for others. */
BloomfamHasher *
bloomfam_scalar_hasher(Oid type)
{
	const ScalarType *scalar = find_scalar(type);

	return scalar != NULL ? make_scalar(scalar->family, scalar->hash) : NULL;
}

const char *
bloomfam_scalar_family(Oid type)
{
	const ScalarType *scalar = find_scalar(type);

	return scalar != NULL ? scalar->family : NULL;
}

BloomfamHasher *
bloomfam_inner_bloomkey_hasher(void)
{
	InnerHasher *self = (InnerHasher *) palloc0(sizeof(InnerHasher));

	self->base.hash = key_inner_bloomkey;
	self->base.varies = true;
	self->context = CurrentMemoryContext;
	return &self->base;
}

BloomfamHasher *
bloomfam_bloomkey_hasher(void)
{
	BloomfamHasher *hasher = (BloomfamHasher *) palloc0(sizeof(BloomfamHasher));

	hasher->hash = key_bloomkey;
	hasher->varies = true;
	return hasher;
}

bool
bloomfam_hasher_is_integer(const BloomfamHasher *hasher)
{
	return hasher->hash == key_int2 || hasher->hash == key_int4 || hasher->hash == key_int8;
}
