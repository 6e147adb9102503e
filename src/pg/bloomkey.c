/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bloomkey.c
 *	  The SQL type bloomkey, a hashed key: it is hashed once, to probe many filters.
 *
 * A bloomkey has 16 bytes, is passed by reference, and aligned as double.  It has the key's hash
 * and the id of the key's family; the id is what makes it safe to share a hash.  Its text form is
 * the family id and the hash, 16 hexadecimal digits each, with a colon between them.  Its binary
 * form is both as int8.  No key has the family id 0.
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

#define HEX_DIGITS		16		/* The number of hexadecimal digits of 64 bits. */
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
 * Returns whether this is the type bloomkey of this extension.
 *
 * The type is known by its input function, which is in this library whatever the schema is.  A type
 * that has another size is refused without loading a function.
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

/* Reads 16 hexadecimal digits of either case.  Returns false if any character is not one. */
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
 * bloomkey_in(cstring) -> bloomkey: strict, immutable.  Raises 22P02 for anything but the text
 * form, as a soft error where the server has soft errors.
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

/* bloomkey_out(bloomkey) -> cstring: strict, immutable.  Returns the text form. */
Datum
bloomfam_key_out(PG_FUNCTION_ARGS)
{
	BloomfamKey *key = DatumGetBloomkeyP(PG_GETARG_DATUM(0));

	PG_RETURN_CSTRING(psprintf("%016llx:%016llx", (unsigned long long) key->family_id,
							   (unsigned long long) key->hash));
}

/*
 * bloomkey_recv(internal) -> bloomkey: strict, immutable.  Raises 22P03 for a family id that no key
 * has.
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

/* bloomkey_send(bloomkey) -> bytea: strict, immutable.  Returns the binary form. */
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

/* Compares two bloomkeys by family, then by hash, both unsigned. */
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
 * bloomkey_eq, _ne, _lt, _le, _gt, _ge (bloomkey, bloomkey) -> boolean, and bloomkey_cmp ->
 * integer: strict, immutable.  They compare by family, then by hash.
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
 * Returns the hash by which the server groups bloomkeys.  It is not the hash in them, so that a
 * hash join and a filter do not share its bits.
 */
static uint64
hash_of_key(const BloomfamKey *key)
{
	return bf_hash_u64(key->hash ^ bf_hash_u64(key->family_id));
}

/*
 * bloomkey_hash(bloomkey) -> integer: strict, immutable.  Returns the hash for hash joins and the
 * like.
 */
Datum
bloomfam_key_hash(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32((int32) (uint32) hash_of_key(DatumGetBloomkeyP(PG_GETARG_DATUM(0))));
}

/*
 * bloomkey_hash_extended(bloomkey, bigint) -> bigint: strict, immutable.  With the seed 0 its low
 * half is bloomkey_hash, as the server demands of a hash operator class.
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
 * bloom_hash(bloomkey) -> bigint: strict, immutable.  Returns the hash alone, for use outside of
 * filters.
 */
Datum
bloomfam_key_hash64(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64((int64) DatumGetBloomkeyP(PG_GETARG_DATUM(0))->hash);
}

/*
 * bloom_hash("any") -> bigint: strict, immutable.  Raises 42804, with a hint that says what to
 * write.
 *
 * It does not return the hash: people who know filters that take hashes would give the hash to
 * bloom_agg.  That filter would be one of bigint keys, and deny the keys themselves if they are
 * integers.
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
 * bloom_hash(bloomliteral) -> bigint: strict, immutable.  Returns the hash of a bloomkey that is an
 * untyped literal or parameter.  Raises 22P02 if it is not in a bloomkey's text form.
 */
Datum
bloomfam_key_hash64_literal(PG_FUNCTION_ARGS)
{
	char	   *str = TextDatumGetCString(PG_GETARG_DATUM(0));
	BloomfamKey *key =
		DatumGetBloomkeyP(DirectFunctionCall1(bloomfam_key_in, CStringGetDatum(str)));

	PG_RETURN_INT64((int64) key->hash);
}
