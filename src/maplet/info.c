/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * info.c
 *	  Implements maplet_info(), maplet_runs(), maplet_merge() and maplet_may_contain().
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/sysattr.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"
#include "utils/typcache.h"

#include "maplet/hash.h"
#include "maplet/lookup.h"
#include "maplet/maplet.h"
#include "maplet/merge.h"
#include "maplet/run.h"
#include "maplet/tail.h"
#include "pg/index.h"
#include "pg/index_open.h"
#include "pg/port.h"

PG_FUNCTION_INFO_V1(bloomfam_maplet_info);
PG_FUNCTION_INFO_V1(bloomfam_maplet_runs);
PG_FUNCTION_INFO_V1(bloomfam_maplet_merge);
PG_FUNCTION_INFO_V1(bloomfam_maplet_may_contain);

/* ---- maplet_info(), maplet_runs() and maplet_merge() ---- */

/*
 * Counts the entries of a tail.  Pages that have been reused for another tail or a run do not
 * count.
 */
static uint64
count_tail(Relation index, const MapletTail *tail)
{
	uint64		n = 0;
	uint32		i;

	for (i = 0; i < tail->extent.len; i++)
	{
		Buffer		buffer = ReadBuffer(index, tail->extent.start + i);
		Page		page = BufferGetPage(buffer);

		CHECK_FOR_INTERRUPTS();
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		if (maplet_page_is(page, MAPLET_PAGE_TAIL, tail->generation))
			n += bloomfam_maplet_tail_count(page);
		UnlockReleaseBuffer(buffer);
	}
	return n;
}

static int64
live_pages(const MapletMeta *meta)
{
	int64		pages = 1;
	uint32		i;

	for (i = 0; i < 2; i++)
		pages += meta->tails[i].extent.len;
	for (i = 0; i < meta->nruns; i++)
		pages += (int64) meta->runs[i].shape.pages + meta->runs[i].noverflow;
	return pages;
}

/* Implements maplet_info(index regclass) RETURNS record.  The install script has the columns. */
Datum
bloomfam_maplet_info(PG_FUNCTION_ARGS)
{
	MapletView *view = (MapletView *) palloc0(sizeof(MapletView));
	const MapletMeta *meta = &view->meta;
	BloomfamOpenIndex opened;
	TupleDesc	desc;
	Datum		values[11];
	bool		nulls[11] = {false};
	double		in_runs;
	double		false_places = 0;
	int64		in_tails;
	int64		pages;
	int			merges = 0;
	uint32		i;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	bloomfam_index_open(PG_GETARG_OID(0), "maplet", bloomfam_maplet_build, AccessShareLock,
						BLOOMFAM_INDEX_USER_MONITOR, &opened);
	bloomfam_maplet_meta_read(opened.index, view);
	in_tails = count_tail(opened.index, &meta->tails[meta->active]);
	if (meta->pending)
		in_tails += count_tail(opened.index, &meta->tails[1 - meta->active]);
	in_runs = bloomfam_maplet_entries(meta);
	for (i = 0; i < meta->nruns; i++)
		false_places += bf_run_false_places(meta->runs[i].entries, meta->runs[i].shape.p);
	for (i = 0; i < MAPLET_OUTPUTS; i++)
		merges += i != MAPLET_FLUSH_OUTPUT && meta->outputs[i].run.id != 0;
	pages = live_pages(meta);

	values[0] = Int64GetDatum((int64) in_runs + in_tails);
	values[1] = Int64GetDatum(in_tails);
	values[2] = Int32GetDatum(meta->nruns);
	values[3] = Int32GetDatum(merges);
	values[4] = Int64GetDatum(RelationGetNumberOfBlocks(opened.index));
	values[5] = Int64GetDatum(pages);
	values[6] = Float8GetDatum((double) pages * BLCKSZ / Max(in_runs + in_tails, 1));
	values[7] = Float8GetDatum(false_places);
	values[8] = Int32GetDatum(meta->p);
	values[9] = BoolGetDatum(meta->rows_hint > 0 && in_runs + in_tails > meta->rows_hint);
	values[10] = CStringGetTextDatum(
		bloomfam_family_display(meta->family, meta->family_len, meta->family_id));
	bloomfam_index_close(&opened);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}

/*
 * Implements maplet_runs(index regclass) RETURNS SETOF record: returns a row for each run, the
 * oldest run first.
 */
Datum
bloomfam_maplet_runs(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	MapletView *view = (MapletView *) palloc0(sizeof(MapletView));
	BloomfamOpenIndex opened;
	uint32		i;

	InitMaterializedSRF(fcinfo, 0);
	bloomfam_index_open(PG_GETARG_OID(0), "maplet", bloomfam_maplet_build, AccessShareLock,
						BLOOMFAM_INDEX_USER_MONITOR, &opened);
	bloomfam_maplet_meta_read(opened.index, view);
	for (i = 0; i < view->meta.nruns; i++)
	{
		const MapletRun *run = &view->meta.runs[i];
		Datum		values[7];
		bool		nulls[7] = {false};

		values[0] = Int64GetDatum((int64) run->id);
		values[1] = Int64GetDatum((int64) run->entries);
		values[2] = Int64GetDatum((int64) run->fingerprints);
		values[3] = Int32GetDatum(run->shape.p);
		values[4] = Int64GetDatum(run->shape.pages);
		values[5] = Int64GetDatum(run->noverflow);
		values[6] = BoolGetDatum(run->output != 0);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	bloomfam_index_close(&opened);
	return (Datum) 0;
}

/*
 * Implements maplet_merge(index regclass) RETURNS void: flushes both tails, and merges all runs
 * with the same number of kept bits into one (bloomfam_maplet_merge_all()).
 */
Datum
bloomfam_maplet_merge(PG_FUNCTION_ARGS)
{
	BloomfamOpenIndex opened;

	PreventCommandDuringRecovery("maplet_merge()");
	bloomfam_index_open(PG_GETARG_OID(0), "maplet", bloomfam_maplet_build, RowExclusiveLock,
						BLOOMFAM_INDEX_USER_OWNER, &opened);
	bloomfam_maplet_flush_all(opened.index);
	bloomfam_maplet_merge_all(opened.index, true);
	bloomfam_index_close(&opened);
	PG_RETURN_VOID();
}

/* ---- maplet_may_contain(), a filter that is always current ---- */

/*
 * Raises an error unless the user may read all columns that the index's keys are made of, in all
 * rows of the table.
 */
static void
check_privileges(BloomfamOpenIndex *opened, const IndexInfo *info)
{
	Oid			table = RelationGetRelid(opened->table);
	Bitmapset  *columns = NULL;
	int			column = -1;
	int			i;
	AclResult	result = pg_class_aclcheck(table, GetUserId(), ACL_SELECT);

	if (result != ACLCHECK_OK)
	{
		for (i = 0; i < info->ii_NumIndexKeyAttrs; i++)
			if (info->ii_IndexAttrNumbers[i] != 0)
				columns = bms_add_member(columns, info->ii_IndexAttrNumbers[i] -
										 FirstLowInvalidHeapAttributeNumber);
		pull_varattnos((Node *) info->ii_Expressions, 1, &columns);
		while ((column = bms_next_member(columns, column)) >= 0)
		{
			AttrNumber	attribute = column + FirstLowInvalidHeapAttributeNumber;

			/* A reference to the whole row needs the privilege to read the whole table. */
			if (attribute == InvalidAttrNumber ||
				pg_attribute_aclcheck(table, attribute, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
				aclcheck_error(result, OBJECT_TABLE, RelationGetRelationName(opened->table));
		}
		if (bms_is_empty(columns))
			aclcheck_error(result, OBJECT_TABLE, RelationGetRelationName(opened->table));
	}
	if (check_enable_rls(table, InvalidOid, false) == RLS_ENABLED)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("row security policies of table \"%s\" do not let its index be asked",
						RelationGetRelationName(opened->table))));
}

/*
 * Returns whether the default equality of this type is an operator of the operator family of an
 * index's column.
 */
static bool
has_equality_of(Relation index, int column, Oid type)
{
	Oid			equality = lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr;

	return OidIsValid(equality) && op_in_opfamily(equality, index->rd_opfamily[column]);
}

/*
 * Returns the type that a key's value for an index's column is hashed as, InvalidOid for the
 * column's own.  Makes a value of an untyped literal, whose text is at *value.  Raises an error if
 * the column cannot be compared with values of the type.
 */
static Oid
take_value(Relation index, int column, Oid type, Datum *value)
{
	Oid			own = index->rd_opcintype[column];
	Oid			base = getBaseType(TupleDescAttr(RelationGetDescr(index), column)->atttypid);

	if (!has_equality_of(index, column, base))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" has another equality than its keys' type %s",
						RelationGetRelationName(index), format_type_be(base))));
	if (IsPolymorphicType(own))
		own = base;
	if (type == UNKNOWNOID)
	{
		Oid			input;
		Oid			ioparam;

		getTypeInputInfo(own, &input, &ioparam);
		*value = OidInputFunctionCall(input, DatumGetCString(*value), ioparam, -1);
		return InvalidOid;
	}
	if (OidIsValid(type))
		type = getBaseType(type);
	if (!OidIsValid(type) ||
		(type != own &&
		 (!has_equality_of(index, column, type) ||
		  (!IsBinaryCoercible(type, own) &&
		   !OidIsValid(get_opfamily_member(index->rd_opfamily[column], own, type,
										   HTEqualStrategyNumber))))))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("index \"%s\" has keys of type %s, not %s", RelationGetRelationName(index),
						format_type_be(own), format_type_be(type))));
	return IsBinaryCoercible(type, own) ? InvalidOid : type;
}

static void
note_found(void *arg, uint64 hash, const uint64 *places, uint32 n)
{
	*(bool *) arg = true;
}

/*
 * Implements maplet_may_contain(index regclass, VARIADIC key "any") RETURNS boolean.  The key has a
 * value for each column of the index.  Returns false if no row has the key, not even a deleted row
 * that is not vacuumed yet, or an uncommitted row.  Returns true in a transaction whose snapshot is
 * too old for the index, whatever the key.  Returns NULL for a key with a NULL.
 */
Datum
bloomfam_maplet_may_contain(PG_FUNCTION_ARGS)
{
	MapletView *view = (MapletView *) palloc0(sizeof(MapletView));
	int			nvalues = PG_NARGS() - 1;
	BloomfamOpenIndex opened;
	MapletHasher hasher;
	IndexInfo  *info;
	Relation	index;
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS] = {false};
	Oid			types[INDEX_MAX_KEYS];
	uint64		hash;
	bool		found = false;
	int			i;

	for (i = 0; i < PG_NARGS(); i++)
		if (PG_ARGISNULL(i))
			PG_RETURN_NULL();
	bloomfam_index_open(PG_GETARG_OID(0), "maplet", bloomfam_maplet_build, AccessShareLock,
						BLOOMFAM_INDEX_USER_CHECKED_LATER, &opened);
	index = opened.index;
	info = BuildIndexInfo(index);
	check_privileges(&opened, info);
	if (info->ii_Predicate != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" does not have all rows of its table",
						RelationGetRelationName(index)),
				 errdetail("A partial index cannot tell that no row has a key.")));
	if (nvalues != info->ii_NumIndexKeyAttrs || get_fn_expr_variadic(fcinfo->flinfo))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a key of index \"%s\" must have a value for each of its %d columns",
						RelationGetRelationName(index), info->ii_NumIndexKeyAttrs)));
	for (i = 0; i < nvalues; i++)
	{
		values[i] = PG_GETARG_DATUM(i + 1);
		types[i] = take_value(index, i, get_fn_expr_argtype(fcinfo->flinfo, i + 1), &values[i]);
	}
	bloomfam_maplet_hasher_make(&hasher, CurrentMemoryContext, index, types);

	/* A serializable transaction relies on the answer as it would on a scan's result. */
	if (IsolationIsSerializable())
		PredicateLockRelation(index, GetTransactionSnapshot());
	bloomfam_maplet_meta_read(index, view);
	bloomfam_maplet_hasher_fit(&hasher, index, &view->meta);
	(void) maplet_hash_row(&hasher, values, isnull, &hash);
	bloomfam_maplet_lookup(index, view, &hash, 1, note_found, &found);

	/*
	 * An old snapshot may see rows that the index lacks, so the answer must be true.  The planner
	 * does not use the index with such a snapshot either.
	 */
	if (!bloomfam_index_is_complete(index, GetActiveSnapshot()))
		found = true;
	bloomfam_index_close(&opened);
	PG_RETURN_BOOL(found);
}
