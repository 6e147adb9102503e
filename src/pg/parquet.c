/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * parquet.c
 *	  Reads and writes the filters of Parquet files.
 *
 * The bytes are those that a file has from a column's bloom_filter_offset on: the header of
 * bf_parquet.h, and the bitset, which is the payload of kind parquet unchanged.  The filter in the
 * file does not say what its keys are, so the user must, and correctly: a column of INT64 that is
 * taken for one of INT32 answers "no" to everything.
 *
 * To SQL, -0 equals 0, and all NaNs are equal, while Parquet hashes what is stored.  So a filter
 * that comes from a file and may contain -0 gets 0, too.  Each filter of floats gets the NaN that
 * is probed for here, as nobody can tell which other NaNs there are.  On the way back, 0 adds -0,
 * and the NaN adds the one that x86 makes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "core/bf_parquet.h"
#include "pg/datum.h"
#include "pg/key_plain.h"
#include "pg/params.h"
#include "pg/port.h"
#include "pg/value.h"

PG_FUNCTION_INFO_V1(bloomfam_from_parquet);
PG_FUNCTION_INFO_V1(bloomfam_to_parquet);

/* The false positive rate that a filter from a file is assumed to be sized for. */
#define ASSUMED_FPR		0.01

/*
 * Returns the hash that Parquet's filters have for a float of "size" bytes whose highest 16 bits
 * are "high", and whose other bits are zero.
 */
static uint64
float_hash(int size, uint16 high)
{
	uint8		bytes[sizeof(double)] = {0};

	bytes[size - 2] = (uint8) high;
	bytes[size - 1] = (uint8) (high >> 8);
	return bf_hash_plain(bytes, size);
}

static uint64
zero_hash(int size, bool negative)
{
	return float_hash(size, negative ? 0x8000 : 0);
}

static uint64
nan_hash(int size, bool negative)
{
	return float_hash(size, (size == sizeof(float) ? 0x7fc0 : 0x7ff8) | (negative ? 0x8000 : 0));
}

static bool
may_contain(const BfHeader *head, const uint8 *payload, uint64 hash)
{
	BfView		view;

	view.head = *head;
	view.payload = payload;
	return head->kind->prober(&view) (&view, hash);
}

/*
 * bloom_from_parquet(data bytea, key_type regtype [, column_type text]) -> bloomfilter: strict,
 * immutable.
 *
 * The file has neither capacity nor target false positive rate.  The capacity is what the size is
 * good for at 1 %, and the estimated number of keys stands for the number added.  Raises 22P03 for
 * bytes that are not such a filter, 22023 and 0A000 for types that do not go together
 * (key_plain.c), and 54000 for a filter that is too large.
 */
Datum
bloomfam_from_parquet(PG_FUNCTION_ARGS)
{
	struct varlena *data = PG_GETARG_VARLENA_PP(0);
	Oid			type = PG_GETARG_OID(1);
	const uint8 *bytes = (uint8 *) VARDATA_ANY(data);
	size_t		offset = 0;
	const char *reason = bf_parquet_read_header(bytes, VARSIZE_ANY_EXHDR(data), &offset);
	BfDesign	design;
	BfHeader	head;
	BfView		view;
	BfStats		stats;
	struct varlena *value;
	uint8	   *payload;
	int			size;

	if (reason != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid Parquet bloom filter"),
				 errdetail("Reason: %s.", reason)));
	if (!get_typisdefined(type))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("type with OID %u does not exist", type)));

	bloomfam_design(bf_kind_by_id(BF_KIND_PARQUET), ASSUMED_FPR, &design);
	bloomfam_plan(&design, 1, &head);
	head.payload_len = VARSIZE_ANY_EXHDR(data) - offset;
	head.capacity = head.payload_len * 8 * 1000 / design.millibits;
	bloomfam_plain_family(type, PG_NARGS() > 2 ? text_to_cstring(PG_GETARG_TEXT_PP(2)) : NULL,
						  &head);

	value = bloomfam_value_alloc(&head, &payload);
	bloomfam_copy(payload, bytes + offset, head.payload_len);
	size = bloomfam_plain_float_size(&head);
	if (size != 0)
	{
		uint64		hashes[2] = {nan_hash(size, false), zero_hash(size, false)};

		head.kind->add(&head, payload, hashes,
					   may_contain(&head, payload, zero_hash(size, true)) ? 2 : 1);
	}
	view.head = head;
	view.payload = payload;
	bf_stats(&bloomfam_port, &view, &stats);
	head.keys_added = (uint64) rint(stats.keys);
	return bloomfam_value_finish(value, &head);
}

/*
 * bloom_to_parquet(filter bloomfilter) -> bytea: strict, immutable.  Raises 0A000 for filters of
 * other kinds.
 */
Datum
bloomfam_to_parquet(PG_FUNCTION_ARGS)
{
	BfView		view;
	uint8		header[BF_PARQUET_MAX_HEADER];
	size_t		header_len;
	bytea	   *result;
	uint8	   *bitset;
	int			size;

	bloomfam_view_open(PG_GETARG_DATUM(0), &view);
	if (view.head.kind->id != BF_KIND_PARQUET)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a bloom filter of kind \"%s\" is none of Parquet's", view.head.kind->name),
				 errhint("Build the filter with kind \"%s\".", "parquet")));

	header_len = bf_parquet_write_header(header, (uint32) view.head.payload_len);
	result = palloc(VARHDRSZ + header_len + view.head.payload_len);
	SET_VARSIZE(result, VARHDRSZ + header_len + view.head.payload_len);
	memcpy(VARDATA(result), header, header_len);
	bitset = (uint8 *) VARDATA(result) + header_len;
	bloomfam_copy(bitset, view.payload, view.head.payload_len);

	size = bloomfam_plain_float_size(&view.head);
	if (size != 0)
	{
		uint64		hashes[2];
		int			n = 0;

		if (may_contain(&view.head, bitset, zero_hash(size, false)))
			hashes[n++] = zero_hash(size, true);
		if (may_contain(&view.head, bitset, nan_hash(size, false)))
			hashes[n++] = nan_hash(size, true);
		view.head.kind->add(&view.head, bitset, hashes, n);
	}
	PG_RETURN_BYTEA_P(result);
}
