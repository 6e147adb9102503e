/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * compare.c
 *	  Equality, order and hash of filters, for GROUP BY, DISTINCT, UNION and indexes.
 *
 * Filters are equal if their bytes are.  The order has no meaning.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "common/hashfn.h"
#include "miscadmin.h"

#include "pg/compat.h"

PG_FUNCTION_INFO_V1(bloomfam_eq);
PG_FUNCTION_INFO_V1(bloomfam_ne);
PG_FUNCTION_INFO_V1(bloomfam_lt);
PG_FUNCTION_INFO_V1(bloomfam_le);
PG_FUNCTION_INFO_V1(bloomfam_gt);
PG_FUNCTION_INFO_V1(bloomfam_ge);
PG_FUNCTION_INFO_V1(bloomfam_cmp);
PG_FUNCTION_INFO_V1(bloomfam_hash);
PG_FUNCTION_INFO_V1(bloomfam_hash_extended);

/*
 * The number of bytes that are compared between two answers to interrupts: less than a millisecond.
 */
#define BYTES_PER_CHECK	((Size) 1024 * 1024)

/* Does what memcmp() does, and answers interrupts. */
static int
compare_bytes(const char *a, const char *b, Size size)
{
	int			result = 0;
	Size		done;

	for (done = 0; done < size && result == 0; done += BYTES_PER_CHECK)
	{
		CHECK_FOR_INTERRUPTS();
		result = memcmp(a + done, b + done, Min(BYTES_PER_CHECK, size - done));
	}
	return result;
}

/* Compares two filters; the result is less than, equal to or greater than 0. */
static int
compare(FunctionCallInfo fcinfo)
{
	struct varlena *a = PG_GETARG_VARLENA_PP(0);
	struct varlena *b = PG_GETARG_VARLENA_PP(1);
	Size		a_len = VARSIZE_ANY_EXHDR(a);
	Size		b_len = VARSIZE_ANY_EXHDR(b);
	int			result = compare_bytes(VARDATA_ANY(a), VARDATA_ANY(b), Min(a_len, b_len));

	if (result == 0 && a_len != b_len)
		result = a_len < b_len ? -1 : 1;

	/* Free detoasted copies, as a B-tree's comparisons must not leak memory. */
	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	return result;
}

/* Returns whether two filters have the same bytes.  Values of different lengths are not fetched. */
static bool
same_bytes(FunctionCallInfo fcinfo)
{
	return toast_raw_datum_size(PG_GETARG_DATUM(0)) == toast_raw_datum_size(PG_GETARG_DATUM(1)) &&
		compare(fcinfo) == 0;
}

/*
 * The operators of (bloomfilter, bloomfilter) -> boolean: =, <>, <, <=, >, >=.  Strict, immutable.
 */
Datum
bloomfam_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(same_bytes(fcinfo));
}

Datum
bloomfam_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(!same_bytes(fcinfo));
}

Datum
bloomfam_lt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) < 0);
}

Datum
bloomfam_le(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) <= 0);
}

Datum
bloomfam_gt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) > 0);
}

Datum
bloomfam_ge(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) >= 0);
}

/* bloom_cmp(bloomfilter, bloomfilter) -> integer: the B-tree support function 1. */
Datum
bloomfam_cmp(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(compare(fcinfo));
}

/* The hash support functions 1 and 2 of bloomfilter. */
Datum
bloomfam_hash(PG_FUNCTION_ARGS)
{
	struct varlena *value = PG_GETARG_VARLENA_PP(0);
	Datum result = hash_any((unsigned char *) VARDATA_ANY(value), (int) VARSIZE_ANY_EXHDR(value));

	PG_FREE_IF_COPY(value, 0);
	return result;
}

Datum
bloomfam_hash_extended(PG_FUNCTION_ARGS)
{
	struct varlena *value = PG_GETARG_VARLENA_PP(0);
	Datum			result = hash_any_extended((unsigned char *) VARDATA_ANY(value),
											   (int) VARSIZE_ANY_EXHDR(value), PG_GETARG_INT64(1));

	PG_FREE_IF_COPY(value, 0);
	return result;
}
