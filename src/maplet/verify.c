/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * verify.c
 *	  Checks whether rows have one of many keys.
 *
 * The executor rechecks `= ANY (array)` by comparing a row with one element after the other, unless
 * the planner knew the array.  With 10^5 elements that takes 10^5 comparisons for each row.  The
 * verifier fetches the row, hashes its key, and compares it only with elements of that hash.  The
 * executor then fetches the row again, from a page that is already in a buffer.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tableam.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "maplet/hash.h"
#include "maplet/verify.h"

/*
 * The number of array elements below which the executor's recheck of the rows is no slower than the
 * scan's own.
 */
#define WORTHWHILE_ELEMENTS		100

void
bloomfam_maplet_place_to_tid(Relation index, Relation table, bool for_bitmap, uint64 place,
							 ItemPointer tid)
{
	if (unlikely(BF_RUN_OFFSET(place) > MaxHeapTuplesPerPage) &&
		(for_bitmap || table->rd_tableam == GetHeapamTableAmRoutine()))
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("maplet index \"%s\" is damaged",
						RelationGetRelationName(index)),
				 errdetail("It has a row at (%u,%u), where none can be.", BF_RUN_BLOCK(place),
						   BF_RUN_OFFSET(place)),
				 errhint("Please REINDEX it.")));
	ItemPointerSet(tid, BF_RUN_BLOCK(place), BF_RUN_OFFSET(place));
}

struct MapletVerifier
{
	const MapletCondition *conditions;	/* One for each column of the index. */
	MapletHasher hasher;		/* The hasher for keys of the columns' own types. */
	Relation	index;
	Snapshot	snapshot;
	IndexFetchTableData *fetch;
	TupleTableSlot *slot;

	/* The memory context that comparisons use; it is reset after each row. */
	MemoryContext scratch;
};

MapletVerifier *
bloomfam_maplet_verifier_make(IndexScanDesc scan, Relation table,
							  const MapletCondition *conditions, const MapletMeta *meta, Size n)
{
	Relation	index = scan->indexRelation;
	int			ncolumns = IndexRelationGetNumberOfKeyAttributes(index);
	MapletVerifier *verifier;
	int			i;

	/*
	 * The scan can recheck rows itself only if it has no other conditions: these would have to be
	 * rechecked, too.  And unless the snapshot is an MVCC snapshot, the rows that it sees may
	 * change until the executor fetches the row.
	 */
	if (n < WORTHWHILE_ELEMENTS || scan->numberOfKeys != ncolumns || scan->xs_snapshot == NULL ||
		!IsMVCCSnapshot(scan->xs_snapshot))
		return NULL;
	for (i = 0; i < ncolumns; i++)
		if (index->rd_index->indkey.values[i] <= 0)
			return NULL;

	verifier = (MapletVerifier *) palloc(sizeof(MapletVerifier));
	verifier->conditions = conditions;
	bloomfam_maplet_hasher_make(&verifier->hasher, CurrentMemoryContext, index, NULL);
	bloomfam_maplet_hasher_fit(&verifier->hasher, index, meta);
	verifier->index = index;
	verifier->snapshot = scan->xs_snapshot;
	verifier->fetch = bloomfam_table_index_fetch_begin(table);
	verifier->slot = table_slot_create(table, NULL);
	verifier->scratch = AllocSetContextCreate(CurrentMemoryContext, "maplet comparison",
											  ALLOCSET_SMALL_SIZES);
	return verifier;
}

static bool
meets_condition(MapletVerifier *verifier, int column, Datum value)
{
	const MapletCondition *condition = &verifier->conditions[column];
	uint64		hash = maplet_hash_column(&verifier->hasher, column, value);
	Size		low = 0;
	Size		high = condition->n;

	while (low < high)
	{
		Size		middle = low + (high - low) / 2;

		if (condition->elements[middle].hash < hash)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < condition->n && condition->elements[low].hash == hash; low++)
		if (DatumGetBool(FunctionCall2Coll(&condition->key->sk_func,
										   condition->key->sk_collation, value,
										   condition->elements[low].value)))
			return true;
	return false;
}

bool
bloomfam_maplet_verify(MapletVerifier *verifier, ItemPointer tid)
{
	ItemPointerData at = *tid;
	bool		again = false;
	bool		all_dead = false;
	bool		result = true;
	int			i;
	MemoryContext old;

	/* An MVCC snapshot sees at most one of the versions that updates have chained at this TID. */
	if (!table_index_fetch_tuple(verifier->fetch, &at, verifier->snapshot, verifier->slot, &again,
								 &all_dead))
		return false;
	old = MemoryContextSwitchTo(verifier->scratch);
	for (i = 0; result && i < verifier->hasher.ncolumns; i++)
	{
		AttrNumber	attribute = verifier->index->rd_index->indkey.values[i];
		bool		isnull;
		Datum		value = slot_getattr(verifier->slot, attribute, &isnull);

		result = !isnull && meets_condition(verifier, i, value);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(verifier->scratch);
	return result;
}

void
bloomfam_maplet_verifier_end(MapletVerifier *verifier)
{
	ExecDropSingleTupleTableSlot(verifier->slot);
	table_index_fetch_end(verifier->fetch);
}
