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
	const MapletElement *elements;
	Size		n;
	FmgrInfo   *equal;			/* The equality, called with a row's key and an element. */
	Oid			collation;
	MapletHasher hasher;		/* The hasher for keys of the column's own type. */
	AttrNumber	column;
	Snapshot	snapshot;
	IndexFetchTableData *fetch;
	TupleTableSlot *slot;

	/* The memory context that comparisons use; it is reset after each row. */
	MemoryContext scratch;
};

MapletVerifier *
bloomfam_maplet_verifier_make(IndexScanDesc scan, Relation table, ScanKey key,
							  const MapletMeta *meta, const MapletElement *elements, Size n)
{
	Relation	index = scan->indexRelation;
	AttrNumber	column = index->rd_index->indkey.values[0];
	MapletVerifier *verifier;

	/*
	 * The scan can recheck rows itself only if its array is the only condition: another one would
	 * have to be rechecked, too.  And unless the snapshot is an MVCC snapshot, the rows that it
	 * sees may change until the executor fetches the row.
	 */
	if (n < WORTHWHILE_ELEMENTS || scan->numberOfKeys != 1 || column <= 0 ||
		scan->xs_snapshot == NULL || !IsMVCCSnapshot(scan->xs_snapshot))
		return NULL;

	verifier = (MapletVerifier *) palloc(sizeof(MapletVerifier));
	verifier->elements = elements;
	verifier->n = n;
	verifier->equal = &key->sk_func;
	verifier->collation = key->sk_collation;
	bloomfam_maplet_hasher_make(&verifier->hasher, CurrentMemoryContext, index, InvalidOid);
	bloomfam_maplet_hasher_fit(&verifier->hasher, index, meta);
	verifier->column = column;
	verifier->snapshot = scan->xs_snapshot;
	verifier->fetch = bloomfam_table_index_fetch_begin(table);
	verifier->slot = table_slot_create(table, NULL);
	verifier->scratch = AllocSetContextCreate(CurrentMemoryContext, "maplet comparison",
											  ALLOCSET_SMALL_SIZES);
	return verifier;
}

static bool
equals_element(MapletVerifier *verifier, Datum value)
{
	uint64		hash = maplet_hash(&verifier->hasher, value);
	Size		low = 0;
	Size		high = verifier->n;

	while (low < high)
	{
		Size		middle = low + (high - low) / 2;

		if (verifier->elements[middle].hash < hash)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < verifier->n && verifier->elements[low].hash == hash; low++)
		if (DatumGetBool(FunctionCall2Coll(verifier->equal, verifier->collation, value,
										   verifier->elements[low].value)))
			return true;
	return false;
}

bool
bloomfam_maplet_verify(MapletVerifier *verifier, ItemPointer tid)
{
	ItemPointerData at = *tid;
	bool		again = false;
	bool		all_dead = false;
	bool		isnull = true;
	bool		result = false;
	Datum		value;
	MemoryContext old;

	/* An MVCC snapshot sees at most one of the versions that updates have chained at this TID. */
	if (!table_index_fetch_tuple(verifier->fetch, &at, verifier->snapshot, verifier->slot, &again,
								 &all_dead))
		return false;
	old = MemoryContextSwitchTo(verifier->scratch);
	value = slot_getattr(verifier->slot, verifier->column, &isnull);
	if (!isnull)
		result = equals_element(verifier, value);
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
