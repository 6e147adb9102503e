/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * class_scalar.c
 *	  Operator classes of scalars: a value is its only key, and the only operator is equality.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg/index_key.h"
#include "signature/keys.h"

typedef struct ScalarColumn
{
	SignatureColumn base;
	Relation	index;
	int			number;
	BloomfamHasher *hasher;

	/* The hasher of the latest query's argument, and its type; NULL and InvalidOid at first. */
	BloomfamHasher *other;
	Oid			other_type;
} ScalarColumn;

static SignatureColumn *
make(Relation index, int number, uint32 ngram, StringInfo rules)
{
	ScalarColumn *self = (ScalarColumn *) palloc0(sizeof(ScalarColumn));

	self->index = index;
	self->number = number;
	self->hasher = bloomfam_index_hasher_make(CurrentMemoryContext, index, number, InvalidOid);
	appendBinaryStringInfo(rules, self->hasher->family, (int) self->hasher->family_len);
	return &self->base;
}

static void
extract(SignatureColumn *column, Datum value, SignatureKeys *keys)
{
	ScalarColumn *self = (ScalarColumn *) column;

	signature_keys_add(keys, signature_hash(column, self->hasher->hash(self->hasher, value)));
}

static SignatureQuery *
ask(SignatureColumn *column, StrategyNumber strategy, Oid type, Datum argument)
{
	SignatureQuery *query = (SignatureQuery *) palloc0(sizeof(SignatureQuery));
	ScalarColumn *self = (ScalarColumn *) column;
	BloomfamHasher *hasher = self->hasher;

	if (OidIsValid(type) && type != self->index->rd_opcintype[self->number])
	{
		if (type != self->other_type)
		{
			self->other = bloomfam_index_hasher_make(CurrentMemoryContext, self->index,
													 self->number, type);
			self->other_type = type;
			if (self->other->family_id != self->hasher->family_id)
				elog(ERROR, "keys of type %u are hashed otherwise than the column's", type);
		}
		hasher = self->other;
	}
	query->ask = SIGNATURE_ASK_KEYS;
	query->nkeys = 1;
	query->hashes = (uint64 *) palloc(sizeof(uint64));
	query->hashes[0] = signature_hash(column, hasher->hash(hasher, argument));
	return query;
}

const SignatureClass bloomfam_signature_scalar = {make, extract, ask};
