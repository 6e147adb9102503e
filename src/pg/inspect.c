/*-------------------------------------------------------------------------
 *
 * inspect.c
 *	  What can be known of a filter.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "funcapi.h"
#include "utils/builtins.h"

#include "pg/bloomfam.h"

PG_FUNCTION_INFO_V1(bloomfam_info);
PG_FUNCTION_INFO_V1(bloomfam_cardinality);
PG_FUNCTION_INFO_V1(bloomfam_fpr);

static void
read_stats(Datum datum, BfView *view, BfStats *stats)
{
	bloomfam_view_open(datum, view);
	bf_stats(&bloomfam_env, view, stats);
}

/*
 * bloom_cardinality(bloomfilter) -> float8: strict, immutable.  Reads the whole filter.
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
 * bloom_fpr(bloomfilter) -> float8: strict, immutable.  Reads the whole filter.
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
 * What a filter does not have is NULL: the empty aggregate has neither capacity nor target.
 */
Datum
bloomfam_info(PG_FUNCTION_ARGS)
{
	enum
	{
		KIND, KEY_TYPE, KEYS_ADDED, KEYS_ESTIMATED, CAPACITY, TARGET_FPR, ESTIMATED_FPR, FILL_RATIO,
		BYTES, BITS, BITS_PER_KEY, HASHES, STAGES, FORMAT_VERSION, NCOLUMNS
	};
	BfView		view;
	BfStats		stats;
	TupleDesc	desc;
	Datum		values[NCOLUMNS];
	bool		nulls[NCOLUMNS] = {false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE || desc->natts != NCOLUMNS)
		elog(ERROR, "return type must be the row type of bloom_info");

	read_stats(PG_GETARG_DATUM(0), &view, &stats);

	values[KIND] = CStringGetTextDatum(view.head.kind->name);
	values[KEY_TYPE] = CStringGetTextDatum(bloomfam_family_display(view.head.family, view.head.family_len,
																   view.head.family_id));
	nulls[KEY_TYPE] = view.head.family_id == 0;
	values[KEYS_ADDED] = Int64GetDatum((int64) view.head.keys_added);
	values[KEYS_ESTIMATED] = Int64GetDatum((int64) rint(Min(stats.keys, 9e18)));
	values[CAPACITY] = Int64GetDatum((int64) view.head.capacity);
	nulls[CAPACITY] = view.head.capacity == 0;
	values[TARGET_FPR] = Float8GetDatum(view.head.target_fpr);
	nulls[TARGET_FPR] = view.head.target_fpr == 0;
	values[ESTIMATED_FPR] = Float8GetDatum(stats.fpr);
	values[FILL_RATIO] = Float8GetDatum(stats.bits > 0 ? (double) stats.bits_set / (double) stats.bits : 0);
	nulls[FILL_RATIO] = stats.bits == 0;
	values[BYTES] = Int64GetDatum((int64) (VARHDRSZ + bf_data_size(&view.head)));
	values[BITS] = Int64GetDatum((int64) stats.bits);
	values[BITS_PER_KEY] = Float8GetDatum(stats.keys > 0 ? (double) stats.bits / stats.keys : 0);
	nulls[BITS_PER_KEY] = stats.keys <= 0;
	values[HASHES] = Int32GetDatum((int32) stats.hashes);
	values[STAGES] = Int32GetDatum(stats.bits > 0 ? 1 : 0);
	values[FORMAT_VERSION] = Int32GetDatum(BF_FORMAT_VERSION);

	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}
