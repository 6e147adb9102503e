/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bloomkey.c
 *	  The type of hashed keys: hash once, probe many filters.
 *
 * A bloomkey is 16 bytes, passed by reference, aligned as double: the key's hash, and the id of
 * its family, which is what keeps sharing a hash safe.  Its text form is the family id and the
 * hash, 16 hexadecimal digits each, with a colon between; its binary form is the same two as
 * int8.  No key has the family id 0.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "core/bf_hash.h"
#include "libpq/pqformat.h"
#include "pg/bloomkey.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#define HEX_DIGITS		16		/* of 64 bits */
#define TEXT_LEN		(HEX_DIGITS + 1 + HEX_DIGITS)

PG_FUNCTION_INFO_V1(bloomfam_key_in);
PG_FUNCTION_INFO_V1(bloomfam_key_out);
PG_FUNCTION_INFO_V1(bloomfam_key_recv);
PG_FUNCTION_INFO_V1(bloomfam_key_send);
PG_FUNCTION_INFO_V1(bloomfam_key_eq);
PG_FUNCTION_INFO_V1(bloomfam_key_ne);
PG_FUNCTION_INFO_V1(bloomfam_key_lt);
PG_FUNCTION_INFO_V1(bloomfam_key_le);
PG_FUNCTION_INFO_V1(bloomfam_key_gt);
PG_FUNCTION_INFO_V1(bloomfam_key_ge);
PG_FUNCTION_INFO_V1(bloomfam_key_cmp);
PG_FUNCTION_INFO_V1(bloomfam_key_hash);
PG_FUNCTION_INFO_V1(bloomfam_key_hash_extended);
PG_FUNCTION_INFO_V1(bloomfam_key_hash64);
PG_FUNCTION_INFO_V1(bloomfam_key_hash64_any);
PG_FUNCTION_INFO_V1(bloomfam_key_hash64_literal);

/*
 * Is this the type bloomkey of this extension?
 *
 * The type is known by its input function, which is in this library whatever the schema is.  What
 * cannot be it for its size is told without loading a function.
 */
bool
bloomfam_is_bloomkey(Oid type)
{
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Oid			input;
	Oid			ioparam;
	FmgrInfo	finfo;

	get_typlenbyvalalign(type, &typlen, &typbyval, &typalign);
	if (typlen != sizeof(BloomfamKey) || typbyval || typalign != TYPALIGN_DOUBLE)
		return false;

	getTypeInputInfo(type, &input, &ioparam);
	fmgr_info(input, &finfo);
	return finfo.fn_addr == bloomfam_key_in;
}

static BloomfamKey *
make_key(uint64 hash, uint64 family_id)
{
	BloomfamKey *key = (BloomfamKey *) palloc(sizeof(BloomfamKey));

	key->hash = hash;
	key->family_id = family_id;
	return key;
}

/* Reads 16 hexadecimal digits of either case; false if any is not one. */
static bool
parse_hex(const char *digits, uint64 *value)
{
	uint64		result = 0;
	int			i;

	for (i = 0; i < HEX_DIGITS; i++)
	{
		char		c = digits[i];

		if (c >= '0' && c <= '9')
			result = (result << 4) | (uint64) (c - '0');
		else if (c >= 'a' && c <= 'f')
			result = (result << 4) | (uint64) (c - 'a' + 10);
		else if (c >= 'A' && c <= 'F')
			result = (result << 4) | (uint64) (c - 'A' + 10);
		else
			return false;
	}
	*value = result;
	return true;
}

/*
 * bloomkey_in(cstring) -> bloomkey.  Strict, immutable.  22P02 on anything but the text form;
 * soft where the server has soft errors.
 */
Datum
bloomfam_key_in(PG_FUNCTION_ARGS)
{
	char	   *str = PG_GETARG_CSTRING(0);
	uint64		family_id;
	uint64		hash;

	if (strlen(str) != TEXT_LEN || str[HEX_DIGITS] != ':' ||
		!parse_hex(str, &family_id) || !parse_hex(str + HEX_DIGITS + 1, &hash) || family_id == 0)
		bloomfam_ereturn(fcinfo->context, (Datum) 0,
						 (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
						  errmsg("invalid input syntax for type %s: \"%s\"", "bloomkey", str),
						  errhint("Make a bloomkey of a key by bloom_key, as in "
								  "bloom_key('red'::text).")));

	PG_RETURN_POINTER(make_key(hash, family_id));
}

/* bloomkey_out(bloomkey) -> cstring.  Strict, immutable. */
Datum
bloomfam_key_out(PG_FUNCTION_ARGS)
{
	BloomfamKey *key = DatumGetBloomkeyP(PG_GETARG_DATUM(0));

	PG_RETURN_CSTRING(psprintf("%016llx:%016llx", (unsigned long long) key->family_id,
							   (unsigned long long) key->hash));
}

/*
 * bloomkey_recv(internal) -> bloomkey.  Strict, immutable.  22P03 on a family id that no key has.
 */
Datum
bloomfam_key_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	uint64		family_id = (uint64) pq_getmsgint64(buf);
	uint64		hash = (uint64) pq_getmsgint64(buf);

	if (family_id == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid binary value for type %s", "bloomkey"),
				 errdetail("The id of the key family is 0.")));

	PG_RETURN_POINTER(make_key(hash, family_id));
}

/* bloomkey_send(bloomkey) -> bytea.  Strict, immutable. */
Datum
bloomfam_key_send(PG_FUNCTION_ARGS)
{
	BloomfamKey *key = DatumGetBloomkeyP(PG_GETARG_DATUM(0));
	StringInfoData buf;

	pq_begintypsend(&buf);
	pq_sendint64(&buf, key->family_id);
	pq_sendint64(&buf, key->hash);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

/* The order of bloomkeys: by family, then by hash, both unsigned. */
static int
compare_keys(FunctionCallInfo fcinfo)
{
	BloomfamKey *a = DatumGetBloomkeyP(PG_GETARG_DATUM(0));
	BloomfamKey *b = DatumGetBloomkeyP(PG_GETARG_DATUM(1));

	if (a->family_id != b->family_id)
		return a->family_id < b->family_id ? -1 : 1;
	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return 0;
}

/*
 * bloomkey_eq, _ne, _lt, _le, _gt, _ge (bloomkey, bloomkey) -> boolean; _cmp -> integer.  Strict,
 * immutable.
 */
Datum
bloomfam_key_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_keys(fcinfo) == 0);
}

Datum
bloomfam_key_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_keys(fcinfo) != 0);
}

Datum
bloomfam_key_lt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_keys(fcinfo) < 0);
}

Datum
bloomfam_key_le(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_keys(fcinfo) <= 0);
}

Datum
bloomfam_key_gt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_keys(fcinfo) > 0);
}

Datum
bloomfam_key_ge(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_keys(fcinfo) >= 0);
}

Datum
bloomfam_key_cmp(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(compare_keys(fcinfo));
}

/*
 * The hash by which the server groups bloomkeys; not the one that is in them, lest a hash join
 * and a filter share its bits.
 */
static uint64
hash_of_key(const BloomfamKey *key)
{
	return bf_hash_u64(key->hash ^ bf_hash_u64(key->family_id));
}

/* bloomkey_hash(bloomkey) -> integer.  Strict, immutable. */
Datum
bloomfam_key_hash(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32((int32) (uint32) hash_of_key(DatumGetBloomkeyP(PG_GETARG_DATUM(0))));
}

/*
 * bloomkey_hash_extended(bloomkey, bigint) -> bigint.  Strict, immutable.  With the seed 0 its
 * low half is bloomkey_hash, as the server demands of such a pair.
 */
Datum
bloomfam_key_hash_extended(PG_FUNCTION_ARGS)
{
	uint64		hash = hash_of_key(DatumGetBloomkeyP(PG_GETARG_DATUM(0)));
	uint64		seed = (uint64) PG_GETARG_INT64(1);

	if (seed != 0)
		hash = bf_hash_u64(hash ^ seed);
	PG_RETURN_INT64((int64) hash);
}

/*
 * bloom_hash(bloomkey) -> bigint: the hash alone, for use outside of filters.  Strict, immutable.
 */
Datum
bloomfam_key_hash64(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64((int64) DatumGetBloomkeyP(PG_GETARG_DATUM(0))->hash);
}

/*
 * bloom_hash("any") -> bigint: an error with the line to type.  Strict, immutable.  42804.
 *
 * Not the hash: who knows filters that take hashes would give these to bloom_agg.  The filter would
 * be one of bigint keys, and deny the keys themselves where they are integers.
 */
Datum
bloomfam_key_hash64_any(PG_FUNCTION_ARGS)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("key is not hashed yet"),
			 errhint("Write bloom_hash(bloom_key(...)).  Filters hash keys themselves: give them "
					 "the key as it is, as in bloom_agg(id).")));
	PG_RETURN_NULL();
}

/*
 * bloom_hash(bloomliteral) -> bigint: the same of a bloomkey that was written as an untyped literal
 * or parameter.  Strict, immutable.  22P02.
 */
Datum
bloomfam_key_hash64_literal(PG_FUNCTION_ARGS)
{
	char	   *str = TextDatumGetCString(PG_GETARG_DATUM(0));
	BloomfamKey *key =
		DatumGetBloomkeyP(DirectFunctionCall1(bloomfam_key_in, CStringGetDatum(str)));

	PG_RETURN_INT64((int64) key->hash);
}
