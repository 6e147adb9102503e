/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * scan.c
 *	  Scans a maplet index.
 *
 * A scan first collects all places of all its keys, and then returns them in the order of TIDs,
 * each of them once.  There are two reasons.  A false place of one key can be a row of another,
 * which would pass the recheck twice.  And a cursor that stays open for hours cannot keep a
 * position in an index that changes.  All rows are rechecked, by the executor or, for many keys at
 * once, by the scan itself (verify.h).
 *
 * Places beyond the table's end are dropped.  The index may still have entries of rows that were
 * removed together with the table's last pages, and these pages cannot be read.  The table's size
 * is read after the places are known, so that no row at one of these places is beyond it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relscan.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "storage/bufmgr.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/tuplesort.h"

#include "maplet/hash.h"
#include "maplet/lookup.h"
#include "maplet/maplet.h"
#include "maplet/unique.h"
#include "maplet/verify.h"
#include "pg/compat.h"

#define ST_SORT sort_u64
#define ST_ELEMENT_TYPE uint64
#define ST_COMPARE(a, b) (*(a) < *(b) ? -1 : *(a) > *(b))
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

#define ST_SORT sort_elements
#define ST_ELEMENT_TYPE MapletElement
#define ST_COMPARE(a, b) ((a)->hash < (b)->hash ? -1 : (a)->hash > (b)->hash)
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* Where a scan has the places (block and offset of rows) that it is to return. */
typedef enum ScanPhase
{
	SCAN_NEW,					/* Nothing has been looked up yet. */
	SCAN_IN_MEMORY,				/* The places are in the array "places", from index "at" on. */
	SCAN_IN_SORT,				/* The places are in the Tuplesortstate "sort". */
} ScanPhase;

typedef struct MapletScan
{
	MemoryContext context;		/* The scan's memory context. */
	MapletView	view;
	MapletHasher hasher;
	Oid			key_type;		/* The type of keys that the hasher is for, as in sk_subtype. */
	bool		hasher_made;

	uint64		hash;			/* The hash of a key that is not an array. */

	/* The memory context of an array's elements and hashes; NULL if there are none. */
	MemoryContext array;

	/*
	 * Rechecks rows if the key is an array; NULL if the executor rechecks them, or the key is not
	 * an array.
	 */
	MapletVerifier *verifier;

	/*
	 * Rechecks rows if the key is not an array; NULL if the executor rechecks them, or the key is
	 * an array.
	 */
	MapletExact *exact;

	ScanPhase	phase;
	uint64	   *places;
	Size		n;
	Size		room;
	Size		at;

	/* Sorts the places if they exceed work_mem; NULL as long as they do not. */
	Tuplesortstate *sort;

	/* The place that was returned last; 0 if none was, as no place is 0. */
	uint64		last;
	BlockNumber table_end;
} MapletScan;

IndexScanDesc
bloomfam_maplet_beginscan(Relation index, int nkeys, int norderbys)
{
	IndexScanDesc scan = RelationGetIndexScan(index, nkeys, norderbys);
	MapletScan  *state = (MapletScan *) palloc0(sizeof(MapletScan));

	/*
	 * The scan's own memory context is freed at its end: ON CONFLICT begins a scan for each row, in
	 * a context that lives as long as the statement.
	 */
	state->context = AllocSetContextCreate(CurrentMemoryContext, "maplet scan",
										   ALLOCSET_SMALL_SIZES);
	scan->opaque = state;
	return scan;
}

static void
forget_places(MapletScan *state)
{
	if (state->sort != NULL)
		tuplesort_end(state->sort);
	state->sort = NULL;
	if (state->verifier != NULL)
		bloomfam_maplet_verifier_end(state->verifier);
	state->verifier = NULL;
	if (state->exact != NULL)
		bloomfam_maplet_exact_end(state->exact);
	state->exact = NULL;
	if (state->array != NULL)
		MemoryContextDelete(state->array);
	state->array = NULL;
	state->phase = SCAN_NEW;
	state->n = 0;
	state->at = 0;
	state->last = 0;
}

void
bloomfam_maplet_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys,
					   int norderbys)
{
	if (keys != NULL && scan->numberOfKeys > 0)
		memmove(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
	forget_places((MapletScan *) scan->opaque);
}

void
bloomfam_maplet_endscan(IndexScanDesc scan)
{
	MapletScan  *state = (MapletScan *) scan->opaque;

	forget_places(state);
	MemoryContextDelete(state->context);
	pfree(state);
}

/* ---- the keys to look up ---- */

static void
fit_hasher(IndexScanDesc scan, MapletScan *state, Oid type)
{
	if (!state->hasher_made || state->key_type != type)
	{
		state->hasher_made = false;
		bloomfam_maplet_hasher_make(&state->hasher, state->context, scan->indexRelation, type);
		state->key_type = type;
		state->hasher_made = true;
	}
	bloomfam_maplet_hasher_fit(&state->hasher, scan->indexRelation, &state->view.meta);
}

/*
 * Makes a palloc'd array of an array's elements that are not NULL, in the order of their hashes,
 * and returns their number.
 */
static Size
hash_elements(MapletScan *state, Datum value, MapletElement **elements)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	Oid			type = ARR_ELEMTYPE(array);
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Datum	   *values;
	bool	   *nulls;
	int			count;
	Size		n = 0;
	int			i;

	get_typlenbyvalalign(type, &typlen, &typbyval, &typalign);
	deconstruct_array(array, type, typlen, typbyval, typalign, &values, &nulls, &count);
	*elements = (MapletElement *)
		palloc_extended(Max(count, 1) * sizeof(MapletElement), MCXT_ALLOC_HUGE);
	for (i = 0; i < count; i++)
	{
		if (!nulls[i])
		{
			(*elements)[n].hash = maplet_hash(&state->hasher, values[i]);
			(*elements)[n++].value = values[i];
		}
		if (i % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	sort_elements(*elements, n);
	return n;
}

/*
 * Makes a palloc'd array of the different hashes of the elements, which are in the order of their
 * hashes, and returns the number of hashes.
 */
static Size
different_hashes(const MapletElement *elements, Size n, uint64 **hashes)
{
	Size		kept = 0;
	Size		i;

	*hashes = (uint64 *) palloc_extended(Max(n, 1) * sizeof(uint64), MCXT_ALLOC_HUGE);
	for (i = 0; i < n; i++)
		if (i == 0 || elements[i].hash != elements[i - 1].hash)
			(*hashes)[kept++] = elements[i].hash;
	return kept;
}

/*
 * Returns the condition whose key is to be looked up, or NULL if no row can satisfy all conditions.
 * All conditions are on the index's only column, and all are rechecked, so one of them suffices.  A
 * single value is preferred to an array.
 */
static ScanKey
choose_key(IndexScanDesc scan)
{
	ScanKey		chosen = NULL;
	int			i;

	if (scan->numberOfKeys < 1)
		elog(ERROR, "a maplet index cannot be scanned without a key");
	for (i = 0; i < scan->numberOfKeys; i++)
	{
		ScanKey		key = &scan->keyData[i];

		if (key->sk_flags & SK_ISNULL)
			return NULL;
		if (key->sk_strategy != HTEqualStrategyNumber)
			elog(ERROR, "unrecognized strategy number: %d", key->sk_strategy);
		if (chosen == NULL || (chosen->sk_flags & SK_SEARCHARRAY))
			chosen = key;
	}
	return chosen;
}

/*
 * Sets *hashes to the hashes to look up, which live until forget_places(), and returns their
 * number.  Decides whether the executor or the scan itself rechecks rows.
 */
static Size
prepare(IndexScanDesc scan, Relation table, const uint64 **hashes)
{
	MapletScan  *state = (MapletScan *) scan->opaque;
	ScanKey		key = choose_key(scan);
	MapletElement *elements;
	uint64	   *different;
	Size		n;
	MemoryContext old;

	bloomfam_count_index_search(scan);
	if (key == NULL)
		return 0;
	bloomfam_maplet_meta_refresh(scan->indexRelation, &state->view);
	fit_hasher(scan, state, key->sk_subtype);
	if (!(key->sk_flags & SK_SEARCHARRAY))
	{
		if (bloomfam_maplet_must_be_exact(scan->indexRelation, scan->xs_snapshot) &&
			scan->numberOfKeys == 1 && !OidIsValid(key->sk_subtype))
		{
			old = MemoryContextSwitchTo(state->context);
			state->exact = bloomfam_maplet_exact_make(table, scan->indexRelation,
													  scan->xs_snapshot, key->sk_argument);
			MemoryContextSwitchTo(old);
		}
		state->hash = maplet_hash(&state->hasher, key->sk_argument);
		*hashes = &state->hash;
		return 1;
	}

	state->array = AllocSetContextCreate(state->context, "maplet keys", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(state->array);
	n = hash_elements(state, key->sk_argument, &elements);
	state->verifier = bloomfam_maplet_verifier_make(scan, table, key, &state->view.meta, elements,
													n);
	n = different_hashes(elements, n, &different);
	MemoryContextSwitchTo(old);
	*hashes = different;
	return n;
}

/* ---- collecting places into a bitmap ---- */

typedef struct BitmapTarget
{
	IndexScanDesc scan;
	TIDBitmap  *bitmap;
	Relation	table;
	BlockNumber table_end;
	int64		n;
} BitmapTarget;

static void
found_for_bitmap(void *arg, uint64 hash, const uint64 *places, uint32 n)
{
	BitmapTarget *target = (BitmapTarget *) arg;
	uint32		i;

	for (i = 0; i < n; i++)
	{
		ItemPointerData tid;

		/* Read the table's size again, as the table may have grown. */
		if (BF_RUN_BLOCK(places[i]) >= target->table_end)
			target->table_end = RelationGetNumberOfBlocks(target->table);
		if (BF_RUN_BLOCK(places[i]) >= target->table_end)
			continue;
		bloomfam_maplet_place_to_tid(target->scan->indexRelation, target->table, true, places[i],
									 &tid);
		tbm_add_tuples(target->bitmap, &tid, 1, true);
		target->n++;
	}
}

/* ---- returning places one by one ---- */

static void
found_for_scan(void *arg, uint64 hash, const uint64 *places, uint32 n)
{
	MapletScan  *state = (MapletScan *) arg;
	uint32		i;

	if (state->sort == NULL && state->n + n > state->room)
	{
		Size		room = Max(state->room * 2, 64);

		if (room * sizeof(uint64) > (Size) work_mem * 1024 && state->n > 0)
		{
			MemoryContext old = MemoryContextSwitchTo(state->context);

			state->sort = tuplesort_begin_datum(INT8OID, Int8LessOperator, InvalidOid, false,
												work_mem, NULL, TUPLESORT_NONE);
			MemoryContextSwitchTo(old);
			for (i = 0; i < state->n; i++)
				tuplesort_putdatum(state->sort, Int64GetDatum((int64) state->places[i]), false);
			state->n = 0;
		}
		else if (state->places == NULL)
			state->places = (uint64 *) MemoryContextAlloc(state->context, room * sizeof(uint64));
		else
			state->places = (uint64 *) repalloc_huge(state->places, room * sizeof(uint64));
		if (state->sort == NULL)
			state->room = room;
	}
	if (state->sort != NULL)
	{
		for (i = 0; i < n; i++)
			tuplesort_putdatum(state->sort, Int64GetDatum((int64) places[i]), false);
		return;
	}
	memcpy(&state->places[state->n], places, n * sizeof(uint64));
	state->n += n;
}

/* Returns the next place in order, or 0 at the end.  The same place can come several times. */
static uint64
next_place(MapletScan *state)
{
	Datum		value;
	bool		isnull;

	if (state->phase == SCAN_IN_MEMORY)
		return state->at < state->n ? state->places[state->at++] : 0;
	if (!bloomfam_tuplesort_getdatum(state->sort, &value, &isnull))
		return 0;
	return (uint64) DatumGetInt64(value);
}

/* Looks up all hashes in the index, and sorts the places found for next_place() to return. */
static void
collect_places(IndexScanDesc scan, const uint64 *hashes, Size n)
{
	MapletScan  *state = (MapletScan *) scan->opaque;

	bloomfam_maplet_lookup(scan->indexRelation, &state->view, hashes, n, found_for_scan, state);
	state->table_end = 0;
	if (state->sort != NULL)
	{
		tuplesort_performsort(state->sort);
		state->phase = SCAN_IN_SORT;
	}
	else
	{
		if (state->n > 1)
			sort_u64(state->places, state->n);
		state->phase = SCAN_IN_MEMORY;
	}
}

/*
 * Sets *tid to the next place that passes the scan's own recheck, each place once.  Returns false
 * if there are no more.
 */
static bool
next_tid(IndexScanDesc scan, Relation table, bool for_bitmap, ItemPointer tid)
{
	MapletScan  *state = (MapletScan *) scan->opaque;
	uint64		place;

	while ((place = next_place(state)) != 0)
	{
		/*
		 * Equal places follow each other, so comparing with the last one returns each place once.
		 */
		Assert(place >= state->last);
		if (place == state->last)
			continue;
		state->last = place;
		if (BF_RUN_BLOCK(place) >= state->table_end)
		{
			if (state->table_end != 0)
				/*
				 * Stop: places come in order, so all further ones are beyond the table's end, too.
				 */
				return false;
			state->table_end = RelationGetNumberOfBlocks(table);
			if (BF_RUN_BLOCK(place) >= state->table_end)
				return false;
		}
		bloomfam_maplet_place_to_tid(scan->indexRelation, table, for_bitmap, place, tid);
		if ((state->verifier == NULL || bloomfam_maplet_verify(state->verifier, tid)) &&
			(state->exact == NULL || bloomfam_maplet_exact_has(state->exact, place)))
			return true;
		CHECK_FOR_INTERRUPTS();
	}
	return false;
}

bool
bloomfam_maplet_gettuple(IndexScanDesc scan, ScanDirection direction)
{
	MapletScan  *state = (MapletScan *) scan->opaque;
	const uint64 *hashes = NULL;
	Size		n;

	if (direction != ForwardScanDirection)
		elog(ERROR, "a maplet index cannot be scanned backwards");
	if (state->phase == SCAN_NEW)
	{
		n = prepare(scan, scan->heapRelation, &hashes);
		collect_places(scan, hashes, n);
	}
	scan->xs_recheck = state->verifier == NULL && state->exact == NULL;
	return next_tid(scan, scan->heapRelation, false, &scan->xs_heaptid);
}

int64
bloomfam_maplet_getbitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	MapletScan  *state = (MapletScan *) scan->opaque;
	BitmapTarget target = {scan, bitmap, NULL, 0, 0};
	const uint64 *hashes = NULL;
	Size		n;
	ItemPointerData tid;

	/* The executor has the table locked, but does not pass it to an index scan for a bitmap. */
	target.table = table_open(scan->indexRelation->rd_index->indrelid, NoLock);
	n = prepare(scan, target.table, &hashes);
	if (state->verifier == NULL)
		bloomfam_maplet_lookup(scan->indexRelation, &state->view, hashes, n, found_for_bitmap,
							   &target);
	else
	{
		collect_places(scan, hashes, n);
		while (next_tid(scan, target.table, true, &tid))
		{
			tbm_add_tuples(bitmap, &tid, 1, false);
			target.n++;
		}
	}
	forget_places(state);
	table_close(target.table, NoLock);
	return target.n;
}
