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
 * A scan needs a value for each column of the index to look anything up.  If it has conditions on
 * some columns only, or if its arrays have too many combinations, it returns all places of the
 * table that can have a row, and the executor rechecks them.  The planner is told that this costs
 * more than reading the table, so it is done only when everything else is disabled (cost.c).
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
#include "catalog/pg_index.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "storage/bufmgr.h"
#include "utils/array.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"
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

	/* The places are all that the table can have rows at; each is computed from the last one. */
	SCAN_WHOLE_TABLE
} ScanPhase;

typedef struct MapletScan
{
	MemoryContext context;		/* The scan's memory context, which this struct is in. */
	Oid			index;
	uint64		generation;		/* The value of catalog_generation when the scan began. */
	MapletHasher hasher;		/* Valid if hasher_made is true. */

	/*
	 * The hasher's memory context, a child of context, and the types of the columns' values that it
	 * is for, as in sk_subtype.
	 */
	MemoryContext hasher_context;
	Oid			key_types[INDEX_MAX_KEYS];
	bool		hasher_made;

	uint64		hash;			/* The hash of the key if no condition is an array. */

	/* The memory context of arrays' elements and hashes; NULL if there are none. */
	MemoryContext array;

	/*
	 * Rechecks rows if a condition is an array; NULL if the executor rechecks them, or no condition
	 * is an array.
	 */
	MapletVerifier *verifier;

	/*
	 * Rechecks rows if no condition is an array; NULL if the executor rechecks them, or a condition
	 * is an array.  For the whole table, checks a partial index's predicate.
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

	/* A copy of the metapage, the last field: only its version is initialized. */
	MapletView	view;
} MapletScan;

/* ---- beginning and ending scans ---- */

/*
 * The states of ended scans, each with its hasher and its copy of the metapage, for the next scans
 * of the same indexes.  ON CONFLICT and functions that look up single keys begin a scan for each
 * key; without these it would take as long as the look-up.  An index has the element that its OID
 * chooses, and NULL stands for none.
 */
#define KEPT_SCANS		16

/* The maximum number of places that a kept state has room for. */
#define KEPT_PLACES		1024

static MapletScan *kept_scans[KEPT_SCANS];

/* Changes whenever a catalog may have changed that a hasher was made by. */
static uint64 catalog_generation = 1;

static void
relation_changed(Datum arg, Oid relation)
{
	catalog_generation++;
}

static void
catalog_changed(Datum arg, int cache, uint32 hash)
{
	catalog_generation++;
}

static void
watch_catalogs(void)
{
	static const int caches[] = {AMOPSTRATEGY, AMPROCNUM, CLAOID, COLLOID, OPEROID, PROCOID,
	TYPEOID};
	static bool watched = false;
	int			i;

	if (watched)
		return;
	CacheRegisterRelcacheCallback(relation_changed, (Datum) 0);
	for (i = 0; i < lengthof(caches); i++)
		CacheRegisterSyscacheCallback(caches[i], catalog_changed, (Datum) 0);
	watched = true;
}

IndexScanDesc
bloomfam_maplet_beginscan(Relation index, int nkeys, int norderbys)
{
	IndexScanDesc scan = RelationGetIndexScan(index, nkeys, norderbys);
	MapletScan **kept = &kept_scans[RelationGetRelid(index) % KEPT_SCANS];
	MapletScan  *state = *kept;
	MemoryContext context;

	watch_catalogs();
	if (state != NULL && state->index == RelationGetRelid(index) &&
		state->generation == catalog_generation)
	{
		/* From here on the state goes with the current memory context, if the query fails. */
		MemoryContextSetParent(state->context, CurrentMemoryContext);
		*kept = NULL;
		scan->opaque = state;
		return scan;
	}
	context = AllocSetContextCreate(CurrentMemoryContext, "maplet scan", ALLOCSET_DEFAULT_SIZES);
	state = (MapletScan *) MemoryContextAlloc(context, sizeof(MapletScan));
	memset(state, 0, offsetof(MapletScan, view));
	state->view.meta.version = 0;
	state->context = context;
	state->hasher_context = AllocSetContextCreate(context, "maplet hasher",
												  ALLOCSET_SMALL_SIZES);
	state->index = RelationGetRelid(index);
	state->generation = catalog_generation;
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
	MapletScan **kept = &kept_scans[state->index % KEPT_SCANS];

	forget_places(state);
	if (state->generation != catalog_generation || state->room > KEPT_PLACES)
	{
		MemoryContextDelete(state->context);
		return;
	}
	if (*kept != NULL)
		MemoryContextDelete((*kept)->context);
	MemoryContextSetParent(state->context, CacheMemoryContext);
	*kept = state;
}

/* ---- the keys to look up ---- */

/* Makes the scan's hasher fit for values of the types that the conditions on all columns have. */
static void
fit_hasher(IndexScanDesc scan, MapletScan *state, const ScanKey *keys)
{
	int			ncolumns = IndexRelationGetNumberOfKeyAttributes(scan->indexRelation);
	int			i;

	for (i = 0; i < ncolumns; i++)
		if (state->key_types[i] != keys[i]->sk_subtype)
		{
			state->key_types[i] = keys[i]->sk_subtype;
			state->hasher_made = false;
		}
	if (!state->hasher_made)
	{
		MemoryContextReset(state->hasher_context);
		bloomfam_maplet_hasher_make(&state->hasher, state->hasher_context, scan->indexRelation,
									state->key_types);
		state->hasher_made = true;
	}
	bloomfam_maplet_hasher_fit(&state->hasher, scan->indexRelation, &state->view.meta);
}

/* Fills *condition with the values of one column's condition that are not NULL. */
static void
hash_elements(MapletScan *state, int column, ScanKey key, MapletCondition *condition)
{
	ArrayType  *array;
	Oid			type;
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Datum	   *values = &key->sk_argument;
	bool	   *nulls = NULL;
	int			count = 1;
	int			i;

	if (key->sk_flags & SK_SEARCHARRAY)
	{
		array = DatumGetArrayTypeP(key->sk_argument);
		type = ARR_ELEMTYPE(array);
		get_typlenbyvalalign(type, &typlen, &typbyval, &typalign);
		deconstruct_array(array, type, typlen, typbyval, typalign, &values, &nulls, &count);
	}
	condition->key = key;
	condition->n = 0;
	condition->elements = (MapletElement *)
		palloc_extended(Max(count, 1) * sizeof(MapletElement), MCXT_ALLOC_HUGE);
	for (i = 0; i < count; i++)
	{
		if (nulls == NULL || !nulls[i])
		{
			MapletElement *element = &condition->elements[condition->n++];

			element->hash = maplet_hash_column(&state->hasher, column, values[i]);
			element->value = values[i];
		}
		if (i % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	sort_elements(condition->elements, condition->n);
}

/*
 * Returns how many keys meet all conditions: the product of their numbers of elements.  Returns
 * false if several arrays make more keys than are looked up.
 */
static bool
count_keys(const MapletCondition *conditions, int ncolumns, Size *n)
{
	Size		limit = MAPLET_MAX_COMBINATIONS;
	int			i;

	for (i = 0; i < ncolumns; i++)
	{
		limit = Max(limit, conditions[i].n);
		if (conditions[i].n == 0)
		{
			*n = 0;
			return true;
		}
	}
	*n = 1;
	for (i = 0; i < ncolumns; i++)
	{
		if (*n > limit / conditions[i].n)
			return false;
		*n *= conditions[i].n;
	}
	return true;
}

/*
 * Makes a palloc'd array of the different hashes of all n keys that meet the conditions, in
 * ascending order, and returns their number.
 */
static Size
hash_keys(MapletScan *state, const MapletCondition *conditions, Size n, uint64 **hashes)
{
	uint64		columns[INDEX_MAX_KEYS];
	Size		kept = 0;
	Size		i;
	int			j;

	*hashes = (uint64 *) palloc_extended(Max(n, 1) * sizeof(uint64), MCXT_ALLOC_HUGE);
	for (i = 0; i < n; i++)
	{
		Size		rest = i;

		for (j = 0; j < state->hasher.ncolumns; j++)
		{
			columns[j] = conditions[j].elements[rest % conditions[j].n].hash;
			rest /= conditions[j].n;
		}
		(*hashes)[i] = maplet_hash_columns(&state->hasher, columns);
		if (i % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	sort_u64(*hashes, n);
	for (i = 0; i < n; i++)
		if (i == 0 || (*hashes)[i] != (*hashes)[i - 1])
			(*hashes)[kept++] = (*hashes)[i];
	return kept;
}

/* Which keys the conditions of a scan ask for. */
typedef enum ScanKeys
{
	KEYS_NONE,					/* No row can meet all conditions. */
	KEYS_WHOLE,					/* There is a condition for each column of the index. */
	KEYS_PARTIAL				/* A column has no condition, or it is to be NULL. */
} ScanKeys;

/*
 * Sets keys[] to the condition that each column's value is taken from.  All conditions are
 * rechecked, so one for each column suffices.  A single value is preferred to an array.
 */
static ScanKeys
choose_keys(IndexScanDesc scan, ScanKey *keys)
{
	int			ncolumns = IndexRelationGetNumberOfKeyAttributes(scan->indexRelation);
	bool		partial = false;
	int			i;

	memset(keys, 0, ncolumns * sizeof(ScanKey));
	for (i = 0; i < scan->numberOfKeys; i++)
	{
		ScanKey		key = &scan->keyData[i];
		ScanKey    *chosen = &keys[key->sk_attno - 1];

		/*
		 * The apply worker of logical replication searches for NULLs, too, which the index does not
		 * have.
		 */
		if (key->sk_flags & SK_SEARCHNULL)
		{
			partial = true;
			continue;
		}
		if (key->sk_flags & SK_ISNULL)
			return KEYS_NONE;
		if (key->sk_strategy != HTEqualStrategyNumber)
			elog(ERROR, "unrecognized strategy number: %d", key->sk_strategy);
		if (*chosen == NULL || ((*chosen)->sk_flags & SK_SEARCHARRAY))
			*chosen = key;
	}
	for (i = 0; i < ncolumns; i++)
		partial |= keys[i] == NULL;
	return partial ? KEYS_PARTIAL : KEYS_WHOLE;
}

/*
 * Makes the scan return all places of the table.  The executor does not recheck the predicate of a
 * partial index, unless the scan is for a bitmap.
 */
static void
prepare_whole_table(IndexScanDesc scan, Relation table, bool for_bitmap)
{
	MapletScan  *state = (MapletScan *) scan->opaque;
	MemoryContext old;

	state->phase = SCAN_WHOLE_TABLE;
	if (for_bitmap)
		return;
	if (table->rd_tableam != GetHeapamTableAmRoutine())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("maplet index \"%s\" cannot be scanned by some of its columns",
						RelationGetRelationName(scan->indexRelation)),
				 errdetail("Its table has another access method than heap."),
				 errhint("Let the table be read without an index.")));
	if (heap_attisnull(scan->indexRelation->rd_indextuple, Anum_pg_index_indpred, NULL))
		return;
	old = MemoryContextSwitchTo(state->context);
	state->exact = bloomfam_maplet_exact_make(table, scan->indexRelation, scan->xs_snapshot, NULL);
	MemoryContextSwitchTo(old);
}

/* Makes a scan for one key ready: decides who rechecks rows, and hashes the key. */
static void
prepare_key(IndexScanDesc scan, Relation table, const ScanKey *keys)
{
	MapletScan  *state = (MapletScan *) scan->opaque;
	int			ncolumns = state->hasher.ncolumns;
	bool		own_types = true;
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS] = {false};
	MemoryContext old;
	int			i;

	for (i = 0; i < ncolumns; i++)
	{
		values[i] = keys[i]->sk_argument;
		own_types = own_types && !OidIsValid(keys[i]->sk_subtype);
	}
	(void) maplet_hash_row(&state->hasher, values, isnull, &state->hash);
	if (!own_types || scan->numberOfKeys != ncolumns ||
		!bloomfam_maplet_must_be_exact(scan->indexRelation, scan->xs_snapshot))
		return;
	old = MemoryContextSwitchTo(state->context);
	state->exact = bloomfam_maplet_exact_make(table, scan->indexRelation, scan->xs_snapshot,
											  values);
	MemoryContextSwitchTo(old);
}

/*
 * Sets *hashes to the hashes to look up, which live until forget_places(), and returns their
 * number.  Decides whether the executor or the scan itself rechecks rows, and whether the scan
 * returns all places of the table.
 */
static Size
prepare(IndexScanDesc scan, Relation table, bool for_bitmap, const uint64 **hashes)
{
	MapletScan  *state = (MapletScan *) scan->opaque;
	ScanKey		keys[INDEX_MAX_KEYS];
	ScanKeys	asked = choose_keys(scan, keys);
	bool		arrays = false;
	MapletCondition *conditions;
	uint64	   *different;
	Size		n;
	MemoryContext old;
	int			i;

	bloomfam_count_index_search(scan);
	if (asked == KEYS_PARTIAL)
		prepare_whole_table(scan, table, for_bitmap);
	if (asked != KEYS_WHOLE)
		return 0;
	bloomfam_maplet_meta_refresh(scan->indexRelation, &state->view);
	fit_hasher(scan, state, keys);
	for (i = 0; i < state->hasher.ncolumns; i++)
		arrays |= (keys[i]->sk_flags & SK_SEARCHARRAY) != 0;
	if (!arrays)
	{
		prepare_key(scan, table, keys);
		*hashes = &state->hash;
		return 1;
	}

	state->array = AllocSetContextCreate(state->context, "maplet keys", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(state->array);
	conditions = (MapletCondition *) palloc(state->hasher.ncolumns * sizeof(MapletCondition));
	for (i = 0; i < state->hasher.ncolumns; i++)
		hash_elements(state, i, keys[i], &conditions[i]);
	if (count_keys(conditions, state->hasher.ncolumns, &n))
	{
		state->verifier = bloomfam_maplet_verifier_make(scan, table, conditions,
														&state->view.meta, n);
		n = hash_keys(state, conditions, n, &different);
		*hashes = different;
	}
	else
	{
		prepare_whole_table(scan, table, for_bitmap);
		n = 0;
	}
	MemoryContextSwitchTo(old);
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

	if (state->phase == SCAN_WHOLE_TABLE)
		return BF_RUN_OFFSET(state->last) < MaxHeapTuplesPerPage && state->last != 0 ?
			state->last + 1 :
			BF_RUN_PLACE(state->last != 0 ? (uint64) BF_RUN_BLOCK(state->last) + 1 : 0, 1);
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
		n = prepare(scan, scan->heapRelation, false, &hashes);
		if (state->phase != SCAN_WHOLE_TABLE)
			collect_places(scan, hashes, n);
		state->table_end = 0;
	}
	scan->xs_recheck = state->phase == SCAN_WHOLE_TABLE ||
		(state->verifier == NULL && state->exact == NULL);
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
	BlockNumber block;

	/* The executor has the table locked, but does not pass it to an index scan for a bitmap. */
	target.table = table_open(scan->indexRelation->rd_index->indrelid, NoLock);
	n = prepare(scan, target.table, true, &hashes);
	if (state->phase == SCAN_WHOLE_TABLE)
	{
		target.table_end = RelationGetNumberOfBlocks(target.table);
		for (block = 0; block < target.table_end; block++)
			tbm_add_page(bitmap, block);
		target.n = (int64) Max(target.table->rd_rel->reltuples, 0);
	}
	else if (state->verifier == NULL)
		bloomfam_maplet_lookup(scan->indexRelation, &state->view, hashes, n, found_for_bitmap,
							   &target);
	else
	{
		collect_places(scan, hashes, n);
		state->table_end = 0;
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
