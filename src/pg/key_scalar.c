/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_scalar.c
 *	  The hashers of keys of built-in types that are hashed by bytes of this module's own.
 *
 * This file reads the server's values. keys/key_hash.h has the canonical bytes of each family, and
 * their hash.  One family exists only in the server:
 *
 *	bloomkey(ID)	within another key, ID being the family id as 16 hexadecimal digits: the
 *					family id, 8 bytes, and the hash, 8 bytes; by itself a bloomkey is its hash
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/socket.h>			/* sys/socket.h defines AF_INET, which inet.h needs. */

#include "catalog/pg_type.h"
#include "utils/date.h"
#include "utils/inet.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"
#include "utils/varbit.h"

#include "keys/family.h"
#include "keys/key_hash.h"
#include "pg/bloomkey.h"
#include "pg/key_bytes.h"
#include "pg/key_family.h"
#include "pg/key_numeric.h"
#include "pg/key_scalar.h"

/* What keys/key_hash.h assumes of the server's types. */
StaticAssertDecl(DAYS_PER_MONTH == 30 && USECS_PER_DAY == BF_KEY_DAY_USECS, "interval");
StaticAssertDecl(UUID_LEN == 16 && sizeof(macaddr) == 6 && sizeof(macaddr8) == 8, "uuid, macaddr");

/* ---- types of fixed size ---- */

static uint64
key_int2(BloomfamHasher *hasher, Datum key)
{
	return bf_key_int(hasher->seed, DatumGetInt16(key));
}

static uint64
key_int4(BloomfamHasher *hasher, Datum key)
{
	return bf_key_int(hasher->seed, DatumGetInt32(key));
}

/* Hashes an int8, or a type that counts something since a fixed point: all have the same bytes. */
static uint64
key_int8(BloomfamHasher *hasher, Datum key)
{
	return bf_key_int(hasher->seed, DatumGetInt64(key));
}

static uint64
key_float4(BloomfamHasher *hasher, Datum key)
{
	return bf_key_double(hasher->seed, (double) DatumGetFloat4(key));
}

static uint64
key_float8(BloomfamHasher *hasher, Datum key)
{
	return bf_key_double(hasher->seed, DatumGetFloat8(key));
}

static uint64
key_bool(BloomfamHasher *hasher, Datum key)
{
	return bf_key_bool(hasher->seed, DatumGetBool(key));
}

static uint64
key_char(BloomfamHasher *hasher, Datum key)
{
	return bf_key_char(hasher->seed, DatumGetChar(key));
}

/* Hashes an oid or a date. */
static uint64
key_4_bytes(BloomfamHasher *hasher, Datum key)
{
	return bf_key_4_bytes(hasher->seed, DatumGetUInt32(key));
}

static uint64
key_timetz(BloomfamHasher *hasher, Datum key)
{
	TimeTzADT  *value = DatumGetTimeTzADTP(key);

	return bf_key_timetz(hasher->seed, value->time, value->zone);
}

/*
 * Hashes an interval as interval_cmp() compares it, including infinite ones (PostgreSQL 17 and
 * later).
 */
static uint64
key_interval(BloomfamHasher *hasher, Datum key)
{
	Interval   *value = DatumGetIntervalP(key);

	return bf_key_interval(hasher->seed, value->month, value->day, value->time);
}

static uint64
key_uuid(BloomfamHasher *hasher, Datum key)
{
	return bf_key_uuid(hasher->seed, DatumGetPointer(key));
}

static uint64
key_macaddr(BloomfamHasher *hasher, Datum key)
{
	return bf_key_macaddr(hasher->seed, DatumGetPointer(key));
}

static uint64
key_macaddr8(BloomfamHasher *hasher, Datum key)
{
	return bf_key_macaddr8(hasher->seed, DatumGetPointer(key));
}

/* ---- bloomkeys ---- */

/* The hasher of a bloomkey within another key, whose family tells what the bloomkey was made of. */
typedef struct InnerHasher
{
	BloomfamHasher base;
	uint64		family_id;		/* The family id of the last bloomkey that was hashed. */
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

	bf_key_put_le(bytes, value->family_id, 8);
	bf_key_put_le(bytes + 8, value->hash, 8);
	return bf_hash_bytes_seeded(hasher->seed, bytes, sizeof(bytes));
}

/* Hashes a bloomkey by itself, which is a key of another type that has been hashed before. */
static uint64
key_bloomkey(BloomfamHasher *hasher, Datum key)
{
	BloomfamKey *value = DatumGetBloomkeyP(key);

	if (value->family_id != hasher->family_id)
	{
		hasher->family_id = value->family_id;
		hasher->family = bf_family_name(value->family_id);
		hasher->family_len = hasher->family != NULL ? (uint32) strlen(hasher->family) : 0;
	}
	return value->hash;
}

/* ---- types of variable size ---- */

static uint64
key_bytea(BloomfamHasher *hasher, Datum key)
{
	struct varlena *value = PG_DETOAST_DATUM_PACKED(key);
	uint64		hash = bf_key_bytes(hasher->seed, VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));

	free_copy(value, key);
	return hash;
}

static uint64
key_inet(BloomfamHasher *hasher, Datum key)
{
	inet	   *value = DatumGetInetPP(key);
	uint64		hash = bf_key_inet(hasher->seed, ip_family(value) == PGSQL_AF_INET ? 4 : 6,
								   ip_bits(value), ip_addr(value));

	free_copy(value, key);
	return hash;
}

static uint64
key_bit(BloomfamHasher *hasher, Datum key)
{
	struct varlena *value = PG_DETOAST_DATUM_PACKED(key);
	char	   *data = VARDATA_ANY(value);
	int32		nbits;
	uint64		hash;

	memcpy(&nbits, data, sizeof(nbits));
	hash = bf_key_bit(hasher->seed, (uint32) nbits, data + sizeof(nbits),
					  VARSIZE_ANY_EXHDR(value) - sizeof(nbits));

	free_copy(value, key);
	return hash;
}

static uint64
key_numeric(BloomfamHasher *hasher, Datum key)
{
	struct varlena *value = PG_DETOAST_DATUM_PACKED(key);
	BfNumeric	number;
	uint64		hash;

	read_numeric(value, &number);
	hash = bf_key_numeric(hasher->seed, &number);

	free_copy(value, key);
	return hash;
}

/* ---- the hasher of a type ---- */

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

/* Makes the hasher of a scalar built-in type; returns NULL for other types. */
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
