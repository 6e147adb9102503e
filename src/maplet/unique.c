/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * unique.c
 *	  Finds out whether other rows of a table have a key.
 *
 * An index gives the rows whose hashes agree with a key's.  Whether such a row has the key is found
 * out in the table: the row is fetched, its key is formed as the index forms it, and compared by
 * the operator class's equality.
 *
 * The README in this folder ("Unique indexes") says how a unique index keeps two sessions from
 * inserting the same key.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/pg_index.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/regproc.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "maplet/lookup.h"
#include "maplet/tail.h"
#include "maplet/unique.h"
#include "maplet/verify.h"

struct MapletKeys
{
	MemoryContext context;		/* The memory context that has everything in this struct. */
	Relation	table;
	Relation	index;
	IndexInfo  *info;			/* A private IndexInfo, whose expressions are prepared in estate. */
	EState	   *estate;
	TupleTableSlot *slot;

	/* The predicate of a partial index; NULL if the index is not partial. */
	ExprState  *predicate;
	FmgrInfo	equal;

	/* The number of blocks that the table had when it was last asked for. */
	BlockNumber table_end;

	/*
	 * The places (block and offset of rows) that a search has found: n of them, in an array with
	 * room for "room" places.
	 */
	uint64	   *places;
	Size		room;
	Size		n;
};

MapletKeys *
bloomfam_maplet_keys_make(Relation table, Relation index)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "maplet rows",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	MapletKeys *keys = (MapletKeys *) palloc0(sizeof(MapletKeys));
	Oid			type = index->rd_opcintype[0];
	Oid			operator = get_opfamily_member(index->rd_opfamily[0], type, type,
											   HTEqualStrategyNumber);

	if (!OidIsValid(operator))
		elog(ERROR, "index \"%s\" has no equality", RelationGetRelationName(index));
	keys->context = context;
	keys->table = table;
	keys->index = index;
	keys->info = BuildIndexInfo(index);
	keys->estate = CreateExecutorState();
	/*
	 * The slot gets a copy of the tuple descriptor, as a copy has no reference count to be
	 * released.
	 */
	keys->slot = MakeSingleTupleTableSlot(CreateTupleDescCopy(RelationGetDescr(table)),
										  table_slot_callbacks(table));
	fmgr_info_cxt(get_opcode(operator), &keys->equal, CurrentMemoryContext);
	if (keys->info->ii_Predicate != NIL)
		keys->predicate = ExecPrepareQual(keys->info->ii_Predicate, keys->estate);
	MemoryContextSwitchTo(old);
	return keys;
}

/* Frees the MapletKeys, and ends the fetch of table rows that was begun with them. */
static void
keys_end(MapletKeys *keys, IndexFetchTableData *fetch)
{
	ExecDropSingleTupleTableSlot(keys->slot);
	table_index_fetch_end(fetch);
	FreeExecutorState(keys->estate);
	MemoryContextDelete(keys->context);
}

void
bloomfam_maplet_check_equality(Relation index)
{
	Oid			type = TupleDescAttr(RelationGetDescr(index), 0)->atttypid;
	Oid			own = index->rd_opcintype[0];
	Oid			operator = get_opfamily_member(index->rd_opfamily[0], own, own,
											   HTEqualStrategyNumber);
	Oid			equality = lookup_type_cache(getBaseType(type), TYPECACHE_EQ_OPR)->eq_opr;

	if (operator != equality)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("a maplet index of type %s cannot be unique", format_type_be(type)),
				 errdetail("Its operator class compares by %s, the type itself by %s.",
						   format_operator_qualified(operator),
						   OidIsValid(equality) ? format_operator_qualified(equality) : "none"),
				 errhint("Create the index on an expression of another type.")));
}

/*
 * Fetches the row at a place that the snapshot sees, and forms its key, which stays valid until the
 * next call.  Returns false if the snapshot sees no row there, if the key is NULL, or if a row has
 * come there since the lookup that does not belong in a partial index.
 */
static bool
fetch_key(MapletKeys *keys, IndexFetchTableData *fetch, uint64 place, Snapshot snapshot,
		  Datum *key)
{
	ExprContext *context = GetPerTupleExprContext(keys->estate);
	ItemPointerData tid;
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	bool		again = false;

	/*
	 * Entries may be left of rows that were removed together with the table's last pages.  VACUUM
	 * removes no further pages as long as the caller has a lock on the table.
	 */
	if (BF_RUN_BLOCK(place) >= keys->table_end)
		keys->table_end = RelationGetNumberOfBlocks(keys->table);
	if (BF_RUN_BLOCK(place) >= keys->table_end)
		return false;
	ResetExprContext(context);
	bloomfam_maplet_place_to_tid(keys->index, keys->table, false, place, &tid);

	/*
	 * If updates have chained several versions at this place, the first one will do.  All versions
	 * have the same key, and the snapshot says of the first one whether the row is there.
	 */
	if (!table_index_fetch_tuple(fetch, &tid, snapshot, keys->slot, &again, NULL))
		return false;
	context->ecxt_scantuple = keys->slot;
	if (keys->predicate != NULL && !ExecQual(keys->predicate, context))
		return false;
	FormIndexDatum(keys->info, keys->slot, keys->estate, values, isnull);
	*key = values[0];
	return !isnull[0];
}

/*
 * Returns whether two keys are equal.  The next fetch_key() frees what the comparison has
 * allocated.
 */
static bool
keys_are_equal(MapletKeys *keys, Datum left, Datum right)
{
	MemoryContext old =
		MemoryContextSwitchTo(GetPerTupleMemoryContext(keys->estate));
	bool		result = DatumGetBool(FunctionCall2Coll(&keys->equal,
														keys->index->rd_indcollation[0], left,
														right));

	MemoryContextSwitchTo(old);
	return result;
}

/* ---- searching for one key ---- */

static void
found_places(void *arg, uint64 hash, const uint64 *places, uint32 n)
{
	MapletKeys *keys = (MapletKeys *) arg;

	if (keys->n + n > keys->room)
	{
		Size		room = Max(Max(keys->room * 2, 64), keys->n + n);

		keys->places = keys->places == NULL ?
			(uint64 *) MemoryContextAlloc(keys->context, room * sizeof(uint64)) :
			(uint64 *) repalloc_huge(keys->places, room * sizeof(uint64));
		keys->room = room;
	}
	memcpy(&keys->places[keys->n], places, n * sizeof(uint64));
	keys->n += n;
}

MapletKeySearch
bloomfam_maplet_search_key(MapletKeys *keys, MapletView *view, uint64 hash, Datum key,
						   ItemPointer self)
{
	MapletKeySearch result = {MAPLET_NO_CONFLICT, InvalidTransactionId, 0, false};
	uint64		own = maplet_tid_place(self);
	IndexFetchTableData *fetch;
	SnapshotData dirty;
	Size		i;

	bloomfam_maplet_meta_refresh(keys->index, view);
	keys->n = 0;
	bloomfam_maplet_lookup(keys->index, view, &hash, 1, found_places, keys);
	if (keys->n == 0)
		return result;

	InitDirtySnapshot(dirty);
	fetch = bloomfam_table_index_fetch_begin(keys->table);
	for (i = 0; i < keys->n; i++)
	{
		Datum		other;

		CHECK_FOR_INTERRUPTS();
		if (keys->places[i] == own)
		{
			result.found_self = true;
			continue;
		}
		if (result.conflict != MAPLET_NO_CONFLICT ||
			!fetch_key(keys, fetch, keys->places[i], &dirty, &other) ||
			!keys_are_equal(keys, other, key))
			continue;
		result.transaction = TransactionIdIsValid(dirty.xmin) ? dirty.xmin : dirty.xmax;
		result.token = dirty.speculativeToken;
		result.conflict = TransactionIdIsValid(result.transaction) ? MAPLET_CONFLICT_IN_DOUBT :
			MAPLET_CONFLICT;
	}
	ExecClearTuple(keys->slot);
	table_index_fetch_end(fetch);
	return result;
}

/* ---- finding the rows of a key exactly ---- */

struct MapletExact
{
	MapletKeys *keys;
	IndexFetchTableData *fetch;
	SnapshotData dirty;
	Snapshot	snapshot;
	Datum		key;
};

bool
bloomfam_maplet_must_be_exact(Relation index, Snapshot snapshot)
{
	return snapshot != NULL && !IsMVCCSnapshot(snapshot) &&
		(index->rd_index->indisreplident ||
		 !heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL));
}

MapletExact *
bloomfam_maplet_exact_make(Relation table, Relation index, Snapshot snapshot, Datum key)
{
	MapletExact *exact = (MapletExact *) palloc(sizeof(MapletExact));

	exact->keys = bloomfam_maplet_keys_make(table, index);
	exact->fetch = bloomfam_table_index_fetch_begin(table);
	/*
	 * For a dirty snapshot, use one of our own: the server writes to it what it finds out about a
	 * row, and must not write to the caller's.
	 */
	InitDirtySnapshot(exact->dirty);
	exact->snapshot = snapshot->snapshot_type == SNAPSHOT_DIRTY ? &exact->dirty : snapshot;
	exact->key = key;
	return exact;
}

bool
bloomfam_maplet_exact_has(MapletExact *exact, uint64 place)
{
	Datum		other;

	return fetch_key(exact->keys, exact->fetch, place, exact->snapshot, &other) &&
		keys_are_equal(exact->keys, other, exact->key);
}

void
bloomfam_maplet_exact_end(MapletExact *exact)
{
	keys_end(exact->keys, exact->fetch);
	pfree(exact);
}

/* ---- finding duplicates among many rows ---- */

struct MapletDuplicates
{
	MapletKeys *keys;
	IndexFetchTableData *fetch;
	Snapshot	snapshot;
	uint64		hash;			/* The hash of the last row that was added. */

	/* The place of the row that was added if it is the only one with the hash; otherwise 0. */
	uint64		first;

	/* List of Datum *: the different keys of the rows with this hash that the snapshot sees. */
	List	   *different;
	MemoryContext scratch;		/* The memory context of the list "different" and its keys. */
	int16		typlen;
	bool		typbyval;
};

MapletDuplicates *
bloomfam_maplet_duplicates_make(Relation table, Relation index, Snapshot snapshot)
{
	MapletDuplicates *duplicates = (MapletDuplicates *) palloc0(sizeof(MapletDuplicates));

	duplicates->keys = bloomfam_maplet_keys_make(table, index);
	duplicates->fetch = bloomfam_table_index_fetch_begin(table);
	duplicates->snapshot = snapshot;
	duplicates->scratch = AllocSetContextCreate(CurrentMemoryContext, "maplet duplicates",
												ALLOCSET_SMALL_SIZES);
	get_typlenbyval(TupleDescAttr(RelationGetDescr(index), 0)->atttypid, &duplicates->typlen,
					&duplicates->typbyval);
	return duplicates;
}

/*
 * Reads a row, and compares its key with those of earlier rows with the same hash.  If one is
 * equal, returns the key's text, or "" if the user may not see it.  Otherwise keeps the key and
 * returns NULL.
 */
static const char *
compare_row(MapletDuplicates *duplicates, uint64 place)
{
	MapletKeys *keys = duplicates->keys;
	MemoryContext old;
	Datum		key;
	Datum	   *kept;
	ListCell   *lc;

	if (!fetch_key(keys, duplicates->fetch, place, duplicates->snapshot, &key))
		return NULL;
	foreach(lc, duplicates->different)
		if (keys_are_equal(keys, *(Datum *) lfirst(lc), key))
		{
			bool		isnull = false;
			const char *text = BuildIndexValueDescription(keys->index, &key, &isnull);

			return text != NULL ? text : "";
		}
	old = MemoryContextSwitchTo(duplicates->scratch);
	kept = (Datum *) palloc(sizeof(Datum));
	*kept = datumCopy(key, duplicates->typbyval, duplicates->typlen);
	duplicates->different = lappend(duplicates->different, kept);
	MemoryContextSwitchTo(old);
	return NULL;
}

const char *
bloomfam_maplet_duplicates_add(MapletDuplicates *duplicates, uint64 hash, uint64 place)
{
	const char *result = NULL;

	CHECK_FOR_INTERRUPTS();
	if (hash != duplicates->hash)
	{
		if (duplicates->different != NIL)
			MemoryContextReset(duplicates->scratch);
		duplicates->different = NIL;
		duplicates->hash = hash;
		duplicates->first = place;
		return NULL;
	}
	if (duplicates->first != 0)
		result = compare_row(duplicates, duplicates->first);
	duplicates->first = 0;
	return result != NULL ? result : compare_row(duplicates, place);
}

void
bloomfam_maplet_duplicates_end(MapletDuplicates *duplicates)
{
	keys_end(duplicates->keys, duplicates->fetch);
	MemoryContextDelete(duplicates->scratch);
}
