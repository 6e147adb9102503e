/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * heap_batch_columns.c
 *	  Reads and hashes the columns of a filter's key straight from a heap's page.
 *
 * An integer that is at the same offset in each row is read without a function call.  Other columns
 * are found as heap_getattr() finds them, but beginning at the last offset that is known.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tupmacs.h"

#include "join/executor/heap_batch_columns.h"

/*
 * Caches the offset of an attribute in rows that have NULLs in the same places.  "present" has a
 * bit for each attribute up to the wanted one, which is set if the row has a value for it.
 */
typedef struct NullPattern
{
	/* The bits of the rows whose offset is cached, one for each attribute; 0: nothing is cached. */
	uint64		present;
	Size		offset;
} NullPattern;

#define NULL_PATTERN_BITS	4
#define NULL_PATTERNS		(1 << NULL_PATTERN_BITS)

/* The number of attributes that NullPattern.present has bits for. */
#define MOST_PRESENT		64

/* 2^64 divided by the golden ratio: multiplying by it spreads a number over the upper bits. */
#define GOLDEN				UINT64CONST(0x9E3779B97F4A7C15)

/* A column of a filter's key in a heap. */
struct JoinBatchColumn
{
	AttrNumber	attribute;		/* The column's attribute number in the table. */

	/*
	 * For rows without NULLs: the attribute from which on the column is looked for, and that
	 * attribute's offset from the start of the row's data.
	 */
	AttrNumber	first;
	Size		offset;

	/*
	 * The column's own offset in rows with NULLs, by their patterns; used if no attribute before it
	 * varies in length.
	 */
	NullPattern patterns[NULL_PATTERNS];
};

/*
 * Sets column->first to the last attribute, up to the given one, that is at the same offset in all
 * rows without NULLs, and column->offset to that offset.
 */
static void
find_column(JoinBatchColumn *column, TupleDesc desc, AttrNumber attribute)
{
	Size		end = 0;

	column->attribute = attribute;
	for (column->first = 1;; column->first++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, column->first - 1);

		column->offset = end;
		if (att->attlen <= 0)
			break;
		column->offset = att_align_nominal(end, att->attalign);
		if (column->first == attribute)
			break;
		end = column->offset + att->attlen;
	}
}

JoinBatchColumn *
bloomfam_join_batch_columns(TupleDesc desc, const AttrNumber *attributes, int ncolumns)
{
	JoinBatchColumn *columns = palloc0(ncolumns * sizeof(JoinBatchColumn));
	int			i;

	for (i = 0; i < ncolumns; i++)
		find_column(&columns[i], desc, attributes[i]);
	return columns;
}

/*
 * Returns which attributes, up to the given one, a row with NULLs has a value for: a bit for each.
 */
static inline uint64
present_up_to(HeapTupleHeader row, AttrNumber attribute)
{
	uint64		present = 0;
	int			i;

	Assert(attribute <= MOST_PRESENT);
	for (i = 0; i < (attribute + 7) / 8; i++)
		present |= (uint64) row->t_bits[i] << (8 * i);
	return present & (PG_UINT64_MAX >> (MOST_PRESENT - attribute));
}

/* Tells whether a row has an attribute, and no NULL in it or before it. */
static inline bool
is_at_fixed_offset(HeapTupleHeader row, AttrNumber attribute)
{
	if (unlikely(HeapTupleHeaderGetNatts(row) < attribute))
		return false;
	if (likely((row->t_infomask & HEAP_HASNULL) == 0))
		return true;
	return attribute <= MOST_PRESENT &&
		   present_up_to(row, attribute) == PG_UINT64_MAX >> (MOST_PRESENT - attribute);
}

/*
 * Reads an attribute of a row, wherever it is, as heap_getattr() does, but beginning at the last
 * offset that is known.
 */
static Datum
read_attribute(HeapTupleHeader row, JoinBatchColumn *column, TupleDesc desc, bool *isnull)
{
	NullPattern *pattern = NULL;
	const char *data = (const char *) row + row->t_hoff;
	const uint8 *nulls = (row->t_infomask & HEAP_HASNULL) != 0 ? row->t_bits : NULL;
	Form_pg_attribute att = TupleDescAttr(desc, column->attribute - 1);
	Size		offset = nulls == NULL ? column->offset : 0;
	int			i = nulls == NULL ? column->first - 1 : 0;

	if (unlikely(HeapTupleHeaderGetNatts(row) < column->attribute))
		return getmissingattr(desc, column->attribute, isnull);
	*isnull = nulls != NULL && att_isnull(column->attribute - 1, nulls);
	if (*isnull)
		return (Datum) 0;
	if (nulls != NULL && column->first == column->attribute && att->attlen > 0 &&
		column->attribute <= MOST_PRESENT)
	{
		uint64		present = present_up_to(row, column->attribute);

		pattern = &column->patterns[(present * GOLDEN) >> (64 - NULL_PATTERN_BITS)];
		if (likely(pattern->present == present))
			return fetch_att(data + pattern->offset, att->attbyval, att->attlen);
		pattern->present = present;
	}
	for (;; i++)
	{
		if (nulls != NULL && att_isnull(i, nulls))
			continue;
		att = TupleDescAttr(desc, i);
		offset = att_align_pointer(offset, att->attalign, att->attlen, data + offset);
		if (i == column->attribute - 1)
			break;
		offset = att_addlength_pointer(offset, att->attlen, data + offset);
	}
	if (pattern != NULL)
		pattern->offset = offset;
	return fetch_att(data + offset, att->attbyval, att->attlen);
}

/* Reads the column of all rows that have it at its fixed offset, and collects the other rows. */
#define READ_INTEGERS(type) \
	for (i = 0; i < n; i++) \
	{ \
		HeapTupleHeader row = scratch->rows[i]; \
		type		value; \
		\
		if (likely(is_at_fixed_offset(row, column->attribute))) \
		{ \
			memcpy(&value, (const char *) row + row->t_hoff + column->offset, sizeof(value)); \
			hashes[i] = (uint64) (int64) value; \
		} \
		else \
			scratch->slow_rows[nslow_rows++] = i; \
	}

/*
 * Hashes one column of the n rows in the scratch.  If "first" is true, it is the first column of
 * the key, else its hashes are combined with those of the columns before it.  The other parameters
 * are those of bloomfam_join_batch_hash().  Returns how many numbers were not at a fixed offset in
 * their row.
 */
static int
hash_column(JoinBatchScratch *scratch, const JoinKey *key, JoinBatchColumn *column,
			TupleDesc desc, int n, bool first, bool numbers, bool spare_long)
{
	uint64	   *hashes = first ? scratch->hashes : scratch->column;
	bool		integers = key->integer && column->first == column->attribute;
	int			nslow_rows = 0;
	int			i;

	Assert(n >= 0 && n <= MaxHeapTuplesPerPage && column->attribute > 0);
	Assert(column->attribute <= desc->natts);
	Assert(!integers || TupleDescAttr(desc, column->attribute - 1)->attlen == key->typlen);

	/* Most keys are an integer at a fixed offset, which is read without a function call. */
	if (integers && key->typlen == 8)
		READ_INTEGERS(int64)
	else if (integers && key->typlen == 4)
		READ_INTEGERS(int32)
	else if (integers && key->typlen == 2)
		READ_INTEGERS(int16)
	else
		for (i = 0; i < n; i++)
			scratch->slow_rows[nslow_rows++] = i;
	if (nslow_rows < n && !numbers)
		bf_hash_u64_many(hashes, n);

	spare_long &= TupleDescAttr(desc, column->attribute - 1)->attlen == -1;
	if (first)
	{
		memset(scratch->null, false, n);
		memset(scratch->spared, false, n);
	}
	for (i = 0; i < nslow_rows; i++)
	{
		int			slow_row = scratch->slow_rows[i];
		bool		isnull;
		Datum		value = read_attribute(scratch->rows[slow_row], column, desc, &isnull);

		scratch->null[slow_row] |= isnull;
		if (isnull)
			continue;
		if (spare_long && VARATT_IS_EXTENDED(DatumGetPointer(value)) &&
			!VARATT_IS_SHORT(DatumGetPointer(value)))
			scratch->spared[slow_row] = true;
		else
			hashes[slow_row] = numbers ? (uint64) bloomfam_join_number(key->typlen, value)
									   : key->hash(key, value);
	}
	if (!first)
		for (i = 0; i < n; i++)
			scratch->hashes[i] = bloomfam_join_hash_combine(scratch->hashes[i], hashes[i]);
	return key->integer ? nslow_rows : 0;
}

uint64
bloomfam_join_batch_hash(JoinBatchScratch *scratch, const JoinKey *keys, JoinBatchColumn *columns,
						 int ncolumns, TupleDesc desc, int n, bool numbers, bool spare_long)
{
	uint64		walked = 0;
	int			i;

	for (i = 0; i < ncolumns; i++)
		walked += hash_column(scratch, &keys[i], &columns[i], desc, n, i == 0, numbers, spare_long);
	return walked;
}
