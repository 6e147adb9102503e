/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * shard.c
 *	  Functions of a key without a filter: its hash and its shard.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg/bloomkey.h"
#include "pg/hasher.h"
#include "pg/literal.h"

PG_FUNCTION_INFO_V1(bloomfam_key);
PG_FUNCTION_INFO_V1(bloomfam_key_literal);
PG_FUNCTION_INFO_V1(bloomfam_shard);
PG_FUNCTION_INFO_V1(bloomfam_shard_literal);

/*
 * bloom_key(key "any") -> bloomkey: strict, immutable.  Returns the key, hashed.  Raises the errors
 * of bloomfam_hasher_make() for a type that cannot be hashed. fn_extra holds the hasher.
 */
Datum
bloomfam_key(PG_FUNCTION_ARGS)
{
	BloomfamHasher *hasher =
		bloomfam_hasher_for(bloomfam_hashers_get(fcinfo, 0, false), BF_HASH_XXH3);
	BloomfamKey *key = (BloomfamKey *) palloc(sizeof(BloomfamKey));

	key->hash = hasher->hash(hasher, PG_GETARG_DATUM(0));
	key->family_id = hasher->family_id;
	PG_RETURN_POINTER(key);
}

/*
 * bloom_key(bloomliteral): strict, immutable.  Raises 42P18, as no filter tells how to read the
 * key.
 */
Datum
bloomfam_key_literal(PG_FUNCTION_ARGS)
{
	bloomfam_literal_untyped_error();
}

/*
 * bloom_shard("any", integer) -> integer: strict, immutable.
 *
 * Returns which shard a key belongs to, from 0 to the number of shards less 1; see bf_shard().
 * Raises 22023 for less than one shard, and the errors of a type that cannot be hashed.
 */
Datum
bloomfam_shard(PG_FUNCTION_ARGS)
{
	BloomfamHasher *hasher;
	int32		shards = PG_GETARG_INT32(1);

	if (shards < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of shards must be at least 1")));
	hasher = bloomfam_hasher_for(bloomfam_hashers_get(fcinfo, 0, false), BF_HASH_XXH3);
	PG_RETURN_INT32((int32) bf_shard(hasher->hash(hasher, PG_GETARG_DATUM(0)), (uint64) shards));
}

/*
 * bloom_shard(bloomliteral, integer): strict, immutable.  Raises 42P18: a number that is read as
 * text would be in another shard.
 */
Datum
bloomfam_shard_literal(PG_FUNCTION_ARGS)
{
	bloomfam_literal_untyped_error();
}
