/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * setops.c
 *	  Makes filters of filters: union, intersection, folding.  Arguments are never changed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg/datum.h"
#include "pg/port.h"
#include "pg/value.h"

PG_FUNCTION_INFO_V1(bloomfam_union);
PG_FUNCTION_INFO_V1(bloomfam_intersect);
PG_FUNCTION_INFO_V1(bloomfam_fold);

/*
 * Combines the two arguments: plan() makes the header, and apply() fills the payload. unite is for
 * messages: true for a union, false for an intersection.
 */
static Datum
combine(FunctionCallInfo fcinfo, bool unite,
		BfStatus (*plan)(const BfView *a, const BfView *b, BfHeader *head),
		void (*apply)(const BfPort *port, const BfHeader *head, uint8 *out, const BfView *a,
					  const BfView *b))
{
	BfView		a;
	BfView		b;
	BfHeader	head;
	BfStatus	status;
	struct varlena *result;
	uint8	   *payload;

	bloomfam_view_open_loose(PG_GETARG_DATUM(0), &a);
	bloomfam_view_open_loose(PG_GETARG_DATUM(1), &b);
	status = plan(&a, &b, &head);
	if (status != BF_OK)
		bloomfam_combine_error(status, unite, &a, &b);
	result = bloomfam_value_alloc(&head, &payload);
	apply(&bloomfam_port, &head, payload, &a, &b);
	return bloomfam_value_finish(result, &head);
}

/*
 * bloom_union(bloomfilter, bloomfilter) -> bloomfilter, also |: strict, immutable.
 *
 * The result may contain whatever one of the filters may contain.  Raises 42804 for keys of
 * different types, 22023 for different kinds, and 0A000 for kinds that do not unite.  Time and
 * memory are proportional to the result's size.
 */
Datum
bloomfam_union(PG_FUNCTION_ARGS)
{
	return combine(fcinfo, true, bf_union_plan, bf_union);
}

/*
 * bloom_intersect(bloomfilter, bloomfilter) -> bloomfilter, also &: strict, immutable.
 *
 * The result may contain whatever both filters may contain.  Raises 42804 for keys of different
 * types, 22023 for different kinds, and 0A000 for kinds that do not intersect.  Time and memory are
 * proportional to the result's size.
 */
Datum
bloomfam_intersect(PG_FUNCTION_ARGS)
{
	return combine(fcinfo, false, bf_intersect_plan, bf_intersect);
}

/*
 * bloom_fold(bloomfilter, float8) -> bloomfilter: strict, immutable.
 *
 * Returns the smallest fold whose estimated false positive rate is at most the second argument, or
 * the unchanged filter if there is none.  Raises 22023 for a number that is not a rate, and 0A000
 * for kinds that do not fold.
 */
Datum
bloomfam_fold(PG_FUNCTION_ARGS)
{
	double		fpr = PG_GETARG_FLOAT8(1);
	BfView		view;
	BfHeader	head;
	BfStatus	status;
	struct varlena *result;
	uint8	   *payload;

	bloomfam_view_open_loose(PG_GETARG_DATUM(0), &view);
	status = bf_fold_plan(&bloomfam_port, &view, fpr, &head);
	if (status == BF_UNSUPPORTED)
		bloomfam_unsupported_error(view.head.kind, "fold", BF_CAN_FOLD);
	if (status != BF_OK)
		bloomfam_params_error(status, view.head.kind, fpr, 0);
	result = bloomfam_value_alloc(&head, &payload);
	bf_fold(&bloomfam_port, &head, payload, &view);
	return bloomfam_value_finish(result, &head);
}
