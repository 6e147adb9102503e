/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * keys.h
 *	  The keys of a column: what values are indexed by, and which keys a condition needs.
 *
 * There are three sorts of operator classes, with one table of functions each (SignatureClass).  An
 * operator class without support functions is one of scalars: a value is its only key
 * (class_scalar.c).  One with GIN's support functions takes keys and decisions from these
 * (class_gin.c).  One with the function SIGNATURE_NGRAMS_PROC has the n-grams of a text
 * as keys (class_ngram.c).
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_SIGNATURE_KEYS_H
#define BLOOMFAM_SIGNATURE_KEYS_H

#include "pg/compat.h"

#include "access/stratnum.h"
#include "lib/stringinfo.h"
#include "utils/rel.h"

#include "signature/meta.h"

/*
 * The numbers of support functions.  Those up to 6 are GIN's, so that the definition of an operator
 * class for GIN can be taken as it is.
 */
#define SIGNATURE_COMPARE_PROC			1
#define SIGNATURE_EXTRACT_VALUE_PROC	2
#define SIGNATURE_EXTRACT_QUERY_PROC	3
#define SIGNATURE_CONSISTENT_PROC		4
#define SIGNATURE_COMPARE_PARTIAL_PROC	5
#define SIGNATURE_TRI_CONSISTENT_PROC	6
#define SIGNATURE_NGRAMS_PROC			7
#define SIGNATURE_PROCS					7

/*
 * Takes hashes of keys, in any order and with repetitions.  They are passed on in portions: take()
 * is called when the array is full, and by signature_keys_end().
 */
typedef struct SignatureKeys SignatureKeys;

struct SignatureKeys
{
	void		(*take) (void *arg, const uint64 *hashes, uint32 n);
	void	   *arg;
	uint64		id;				/* Another one after each signature_keys_begin(). */
	uint32		n;
	uint64		hashes[1024];
};

/* The id that SignatureKeys were given last in this process. */
extern uint64 bloomfam_signature_keys_id;

static inline void
signature_keys_begin(SignatureKeys *keys, void (*take) (void *, const uint64 *, uint32), void *arg)
{
	keys->take = take;
	keys->arg = arg;
	keys->id = ++bloomfam_signature_keys_id;
	keys->n = 0;
}

static inline void
signature_keys_end(SignatureKeys *keys)
{
	keys->take(keys->arg, keys->hashes, keys->n);
	keys->n = 0;
}

static inline void
signature_keys_add(SignatureKeys *keys, uint64 hash)
{
	if (keys->n == lengthof(keys->hashes))
		signature_keys_end(keys);
	keys->hashes[keys->n++] = hash;
}

/* Returns where up to n <= 1024 hashes can be put before keys->n is raised. */
static inline uint64 *
signature_keys_room(SignatureKeys *keys, uint32 n)
{
	Assert(n <= lengthof(keys->hashes));
	if (keys->n + n > lengthof(keys->hashes))
		signature_keys_end(keys);
	return keys->hashes + keys->n;
}

/* What a condition asks of a range. */
typedef enum SignatureAsk
{
	SIGNATURE_ASK_NOTHING,		/* Every range may have rows that meet the condition. */
	SIGNATURE_ASK_KEYS,			/* The keys that a range may have decide. */
	SIGNATURE_NO_ROW			/* No row meets the condition. */
} SignatureAsk;

/* A condition, or one element of a condition on an array. */
typedef struct SignatureQuery SignatureQuery;

struct SignatureQuery
{
	SignatureAsk ask;
	uint32		nkeys;
	uint64	   *hashes;			/* The hash of each key. */

	/*
	 * True for each key that is no key of the index, and which a range may always have, such as the
	 * beginning of a key; NULL if there is none.
	 */
	bool	   *unknown;

	/*
	 * Returns whether a range may have rows that meet the condition, if present[i] says whether it
	 * may have key i.  NULL: it may if it may have all keys.
	 */
	bool		(*decide) (SignatureQuery *query, const bool *present);

	/*
	 * True for each key without which no row meets the condition; set by
	 * bloomfam_signature_query_finish().
	 */
	bool	   *required;
	uint32		nrequired;		/* How many of the keys are required. */
};

typedef struct SignatureColumn SignatureColumn;

typedef struct SignatureClass
{
	/*
	 * Makes the column's state for an operator class, in the current memory context.  "rules"
	 * gets the name of what the hashes depend on.  The number of the column counts from 0.  N-grams
	 * have "ngram" characters.
	 */
	SignatureColumn *(*make) (Relation index, int number, uint32 ngram, StringInfo rules);

	/* Adds the hashes of a value's keys.  The value is not NULL, and may be toasted. */
	void		(*extract) (SignatureColumn *column, Datum value, SignatureKeys *keys);

	/*
	 * Makes the query for "value operator argument" in the current memory context, where the
	 * operator has this strategy number and this type on its right side, and the argument is not
	 * NULL.  The argument must live as long as the query.
	 */
	SignatureQuery *(*ask) (SignatureColumn *column, StrategyNumber strategy, Oid type,
							Datum argument);
} SignatureClass;

struct SignatureColumn
{
	const SignatureClass *class;

	/*
	 * A random number of the index and the column, which makes the column's keys others than the
	 * same keys of other columns and indexes.
	 */
	uint64		seed;
	Oid			collation;		/* The index column's collation; InvalidOid if it has none. */
};

extern const SignatureClass bloomfam_signature_scalar;
extern const SignatureClass bloomfam_signature_gin;
extern const SignatureClass bloomfam_signature_ngram;

/* Returns the hash of a key of the column, given the key's own hash. */
static inline uint64
signature_hash(const SignatureColumn *column, uint64 hash)
{
	return bf_remix(hash ^ column->seed, 1);
}

/*
 * The columns of an index, for extracting keys and asking for them.  Whatever is kept is in the
 * memory context in which they were made.
 */
typedef struct SignatureColumns
{
	int			n;
	uint64		rules;			/* What SignatureMeta.rules is for these columns. */
	SignatureColumn *columns[INDEX_MAX_KEYS];
} SignatureColumns;

/*
 * Makes the columns of an index in the current memory context, for n-grams of this number of
 * characters.  Raises an error if a column's type or operator class cannot be used.
 */
extern SignatureColumns *bloomfam_signature_columns_make(Relation index, uint32 ngram);

/*
 * Lets the columns use the seed of the metapage.  Raises an error if the index was made by other
 * rules: the version of a collation or of the server is another one.
 */
extern void bloomfam_signature_columns_fit(SignatureColumns *columns, Relation index,
										   const SignatureMeta *meta);

/* Adds the hashes of all keys of a row's values. */
extern void bloomfam_signature_extract(const SignatureColumns *columns, const Datum *values,
									   const bool *isnull, SignatureKeys *keys);

/* Finds out which keys of a query are required.  Must be called before the query is used. */
extern void bloomfam_signature_query_finish(SignatureQuery *query);

#endif							/* BLOOMFAM_SIGNATURE_KEYS_H */
