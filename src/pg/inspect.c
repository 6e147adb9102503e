/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * inspect.c
 *	  Functions that tell what is known of a filter, and what filters of each kind would take.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "pg/datum.h"
#include "pg/params.h"
#include "pg/port.h"

PG_FUNCTION_INFO_V1(bloomfam_info);
PG_FUNCTION_INFO_V1(bloomfam_cardinality);
PG_FUNCTION_INFO_V1(bloomfam_fpr);
PG_FUNCTION_INFO_V1(bloomfam_kinds);

/*
 * The number of steps of a bisection from 1 to 1e-15 after which a rate is known to 1e-10 of
 * itself.
 */
#define RATE_STEPS		45

static void
read_stats(Datum datum, BfView *view, BfStats *stats)
{
	bloomfam_view_open(datum, view);
	bf_stats(&bloomfam_port, view, stats);
}

/*
 * bloom_cardinality(bloomfilter) -> float8: strict, immutable.  Estimates the number of keys from
 * the whole filter.
 */
Datum
bloomfam_cardinality(PG_FUNCTION_ARGS)
{
	BfView		view;
	BfStats		stats;

	read_stats(PG_GETARG_DATUM(0), &view, &stats);
	PG_RETURN_FLOAT8(stats.keys);
}

/*
 * bloom_fpr(bloomfilter) -> float8: strict, immutable.  Estimates the false positive rate from the
 * whole filter.
 */
Datum
bloomfam_fpr(PG_FUNCTION_ARGS)
{
	BfView		view;
	BfStats		stats;

	read_stats(PG_GETARG_DATUM(0), &view, &stats);
	PG_RETURN_FLOAT8(stats.fpr);
}

/*
 * bloom_info(bloomfilter) -> record: strict, immutable.  Reads the whole filter.
 *
 * A property that a filter does not have is NULL: the empty aggregate has neither capacity nor
 * target.
 */
Datum
bloomfam_info(PG_FUNCTION_ARGS)
{
	enum
	{
		KIND, KEY_TYPE, KEYS_ADDED, KEYS_ESTIMATED, CAPACITY, TARGET_FPR, ESTIMATED_FPR, FILL_RATIO,
		BYTES, BITS, BITS_PER_KEY, HASHES, STAGES, SATURATED, FORMAT_VERSION, NCOLUMNS
	};
	BfView		view;
	BfStats		stats;
	TupleDesc	desc;
	Datum		values[NCOLUMNS];
	bool		nulls[NCOLUMNS] = {false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE || desc->natts != NCOLUMNS)
		elog(ERROR, "return type must be the row type of bloom_info");

	/* bloom_info() accepts an aggregate's state (kind "partial"), too. */
	bloomfam_state_open(PG_GETARG_DATUM(0), &view);
	bf_stats(&bloomfam_port, &view, &stats);

	values[KIND] = CStringGetTextDatum(view.head.kind->name);
	values[KEY_TYPE] = CStringGetTextDatum(
		bloomfam_family_display(view.head.family, view.head.family_len, view.head.family_id));
	nulls[KEY_TYPE] = view.head.family_id == 0;
	values[KEYS_ADDED] = Int64GetDatum((int64) view.head.keys_added);
	values[KEYS_ESTIMATED] = Int64GetDatum((int64) rint(Min(stats.keys, 9e18)));
	values[CAPACITY] = Int64GetDatum((int64) view.head.capacity);
	nulls[CAPACITY] = view.head.capacity == 0;
	values[TARGET_FPR] = Float8GetDatum(view.head.target_fpr);
	nulls[TARGET_FPR] = view.head.target_fpr == 0;
	values[ESTIMATED_FPR] = Float8GetDatum(stats.fpr);
	values[FILL_RATIO] = Float8GetDatum(stats.fill);
	nulls[FILL_RATIO] = stats.fill < 0;
	values[BYTES] = Int64GetDatum((int64) (VARHDRSZ + bf_data_size(&view.head)));
	values[BITS] = Int64GetDatum((int64) stats.bits);
	values[BITS_PER_KEY] = Float8GetDatum(stats.keys > 0 ? (double) stats.bits / stats.keys : 0);
	nulls[BITS_PER_KEY] = stats.keys <= 0;
	values[HASHES] = Int32GetDatum((int32) stats.hashes);
	values[STAGES] = Int32GetDatum(stats.bits > 0 ? (int32) stats.stages : 0);
	values[SATURATED] = Int64GetDatum((int64) stats.saturated);
	nulls[SATURATED] = !(view.head.kind->caps & BF_CAN_COUNT);
	values[FORMAT_VERSION] = Int32GetDatum(BF_FORMAT_VERSION);

	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}

/*
 * Plans a filter of a kind for this number of keys, as it would be stored.  Returns false if there
 * is no such filter.
 */
static bool
plan_filter(const BfKind *kind, uint64 keys, double fpr, BfDesign *design, double *bytes,
			double *bits_per_key)
{
	BfHeader	head;
	double		payload;

	if (bf_design(kind, fpr, design) != BF_OK || bf_plan(design, keys, &head) != BF_OK)
		return false;
	payload = (double) head.payload_len;
	if (design->stored_millibits != 0)
		payload *= (double) design->stored_millibits / design->millibits;
	*bytes = payload + VARHDRSZ + bf_payload_offset(0);
	*bits_per_key = payload * 8 / (double) keys;
	return true;
}

/*
 * Returns the lowest rate at which a filter takes at most this number of bits per key, by bisection
 * of the rate's logarithm.  Returns 1 if no filter does.
 */
static double
affordable_fpr(const BfKind *kind, uint64 keys, double bits_per_key)
{
	double		low = Max(kind->min_fpr, 1e-15);
	double		high = 1;
	int			step;

	for (step = 0; step < RATE_STEPS; step++)
	{
		double		middle = step == 0 ? low : sqrt(low * high);
		BfDesign	design;
		double		bytes;
		double		bits;

		CHECK_FOR_INTERRUPTS();
		if (middle < 1 && plan_filter(kind, keys, middle, &design, &bytes, &bits) &&
			bits <= bits_per_key)
			high = middle;
		else
			low = middle;
		if (high <= low)
			break;
	}
	return high;
}

/*
 * bloom_kinds(expected bigint, fpr float8, max_bits_per_key float8) -> setof record: not strict
 * (the last argument may be NULL), immutable.
 *
 * Returns what a filter of each kind takes for this number of keys: at a false positive rate or, if
 * bits per key are given, at the lowest rate that they allow.  What a kind cannot reach is NULL.
 * Raises 22023 for arguments out of range.
 */
Datum
bloomfam_kinds(PG_FUNCTION_ARGS)
{
	enum
	{
		KIND,
		BYTES,
		BITS_PER_KEY,
		OVERHEAD,
		EXPECTED_FPR,
		CAN_ADD,
		CAN_REMOVE,
		CAN_COUNT,
		CAN_UNION,
		CAN_INTERSECT,
		CAN_FOLD,
		CHOOSE_WHEN,
		NCOLUMNS
	};
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	uint64		keys;
	double		fpr = 0;
	double		bits = 0;
	const BfKind *kind;
	size_t		i;

	if (PG_ARGISNULL(0) || (PG_ARGISNULL(1) && PG_ARGISNULL(2)))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("expected number of keys and false positive rate must not be null")));
	keys = bloomfam_expected_arg(PG_GETARG_INT64(0));
	if (!PG_ARGISNULL(2))
	{
		bits = PG_GETARG_FLOAT8(2);
		if (!(bits > 0 && bits <= 1e6))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("bits per key must be greater than 0 and at most a million")));
	}
	else
	{
		fpr = PG_GETARG_FLOAT8(1);
		if (!(fpr > 0 && fpr < 1))
			bloomfam_params_error(BF_FPR_OUT_OF_RANGE, NULL, fpr, 0);
	}

	InitMaterializedSRF(fcinfo, 0);
	for (i = 0; (kind = bf_kind_at(i)) != NULL; i++)
	{
		Datum		values[NCOLUMNS];
		bool		nulls[NCOLUMNS] = {false};
		BfDesign	design;
		double		bytes;
		double		bits_per_key;

		if (kind->caps & BF_INTERNAL)
			continue;
		values[KIND] = CStringGetTextDatum(kind->name);
		if (plan_filter(kind, keys, bits > 0 ? affordable_fpr(kind, keys, bits) : fpr, &design,
						&bytes, &bits_per_key))
		{
			values[BYTES] = Int64GetDatum((int64) rint(bytes));
			values[BITS_PER_KEY] = Float8GetDatum(bits_per_key);
			values[OVERHEAD] = Float8GetDatum(bits_per_key / -log2(design.expected_fpr) - 1);
			values[EXPECTED_FPR] = Float8GetDatum(design.expected_fpr);
		}
		else
			nulls[BYTES] = nulls[BITS_PER_KEY] = nulls[OVERHEAD] = nulls[EXPECTED_FPR] = true;
		values[CAN_ADD] = BoolGetDatum((kind->caps & BF_CAN_ADD) != 0);
		values[CAN_REMOVE] = BoolGetDatum((kind->caps & BF_CAN_REMOVE) != 0);
		values[CAN_COUNT] = BoolGetDatum((kind->caps & BF_CAN_COUNT) != 0);
		values[CAN_UNION] = BoolGetDatum((kind->caps & BF_CAN_UNION) != 0);
		values[CAN_INTERSECT] = BoolGetDatum((kind->caps & BF_CAN_INTERSECT) != 0);
		values[CAN_FOLD] = BoolGetDatum((kind->caps & BF_CAN_FOLD) != 0);
		values[CHOOSE_WHEN] = CStringGetTextDatum(kind->when);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
