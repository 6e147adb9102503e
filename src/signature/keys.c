/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * keys.c
 *	  The keys of an index's columns.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/index.h"

#include "signature/keys.h"

/* The number of a query's keys up to which it is found out which of them are required. */
#define MAX_EXAMINED_KEYS	500

/* The most keys that are looked for if a range must have all of them. */
#define MAX_NEEDED_KEYS		64

uint64		bloomfam_signature_keys_id = 0;

static const SignatureClass *
class_of(Relation index, int number)
{
	if (OidIsValid(index_getprocid(index, number + 1, SIGNATURE_NGRAMS_PROC)))
		return &bloomfam_signature_ngram;
	if (OidIsValid(index_getprocid(index, number + 1, SIGNATURE_EXTRACT_VALUE_PROC)))
		return &bloomfam_signature_gin;
	return &bloomfam_signature_scalar;
}

SignatureColumns *
bloomfam_signature_columns_make(Relation index, uint32 ngram)
{
	SignatureColumns *columns = (SignatureColumns *) palloc0(sizeof(SignatureColumns));
	StringInfoData rules;

	initStringInfo(&rules);
	for (columns->n = 0; columns->n < IndexRelationGetNumberOfKeyAttributes(index); columns->n++)
	{
		const SignatureClass *class = class_of(index, columns->n);
		SignatureColumn *column = class->make(index, columns->n, ngram, &rules);

		column->class = class;
		column->collation = index->rd_indcollation[columns->n];
		columns->columns[columns->n] = column;
		appendStringInfoChar(&rules, '\n');
	}
	columns->rules = bf_family_id(rules.data, rules.len);
	pfree(rules.data);
	return columns;
}

void
bloomfam_signature_columns_fit(SignatureColumns *columns, Relation index,
							   const SignatureMeta *meta)
{
	int			i;

	if (meta->rules != columns->rules)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("signature index \"%s\" was built for keys that were hashed otherwise",
						RelationGetRelationName(index)),
				 errhint("Please REINDEX it: a collation, a type or the server has changed.")));
	for (i = 0; i < columns->n; i++)
		columns->columns[i]->seed = bf_remix(meta->seed, (unsigned) i + 1);
}

void
bloomfam_signature_extract(const SignatureColumns *columns, const Datum *values,
						   const bool *isnull, SignatureKeys *keys)
{
	int			i;

	for (i = 0; i < columns->n; i++)
		if (!isnull[i])
			columns->columns[i]->class->extract(columns->columns[i], values[i], keys);
}

void
bloomfam_signature_query_finish(SignatureQuery *query)
{
	bool	   *present;
	uint32		i;

	if (query->ask != SIGNATURE_ASK_KEYS)
		return;
	query->required = (bool *) palloc(Max(query->nkeys, 1) * sizeof(bool));
	query->nrequired = 0;
	if (query->decide == NULL)
	{
		Assert(query->unknown == NULL && query->nkeys > 0);

		/* Of many keys some are enough: those at equal distances. */
		if (query->nkeys > MAX_NEEDED_KEYS)
		{
			for (i = 0; i < MAX_NEEDED_KEYS; i++)
				query->hashes[i] = query->hashes[(uint64) i * query->nkeys / MAX_NEEDED_KEYS];
			query->nkeys = MAX_NEEDED_KEYS;
		}
		memset(query->required, true, query->nkeys);
		query->nrequired = query->nkeys;
		return;
	}

	/*
	 * A key is required if the answer is no when all others are there.  For many keys that would
	 * take too long.
	 */
	present = (bool *) palloc(Max(query->nkeys, 1) * sizeof(bool));
	memset(present, true, query->nkeys);
	if (!query->decide(query, present))
		query->ask = SIGNATURE_NO_ROW;
	memset(query->required, false, query->nkeys);
	for (i = 0; i < query->nkeys && query->nkeys <= MAX_EXAMINED_KEYS &&
		 query->ask == SIGNATURE_ASK_KEYS; i++)
	{
		present[i] = query->unknown != NULL && query->unknown[i];
		query->required[i] = !present[i] && !query->decide(query, present);
		query->nrequired += query->required[i];
		present[i] = true;
	}
	memset(present, false, query->nkeys);
	for (i = 0; query->unknown != NULL && i < query->nkeys; i++)
		present[i] = query->unknown[i];

	/* Of keys that are all missing from nearly all ranges, most ranges would be asked in vain. */
	if (query->ask == SIGNATURE_ASK_KEYS && query->nrequired == 0 &&
		query->decide(query, present))
		query->ask = SIGNATURE_ASK_NOTHING;
	pfree(present);
}
