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

struct MapletKeyReader
{
	MemoryContext context;		/* The memory context that has everything in this struct. */
	Relation	table;
	Relation	index;
	IndexInfo  *info;			/* A private IndexInfo, whose expressions are prepared in estate. */
	EState	   *estate;
	TupleTableSlot *slot;

	/* The predicate of a partial index; NULL if the index is not partial. */
	ExprState  *predicate;

	/* The equality of each column. */
	int			ncolumns;
	FmgrInfo	equal[INDEX_MAX_KEYS];

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

/* Returns the operator of a column's operator class. */
static Oid
own_equality(Relation index, int column)
{
	Oid			type = index->rd_opcintype[column];
	Oid			operator = get_opfamily_member(index->rd_opfamily[column], type, type,
											   HTEqualStrategyNumber);

	if (!OidIsValid(operator))
		elog(ERROR, "index \"%s\" has no equality", RelationGetRelationName(index));
	return operator;
}

MapletKeyReader *
bloomfam_maplet_keys_make(Relation table, Relation index)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "maplet rows",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	MapletKeyReader *keys = (MapletKeyReader *) palloc0(sizeof(MapletKeyReader));
	int			i;

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
	keys->ncolumns = IndexRelationGetNumberOfKeyAttributes(index);
	for (i = 0; i < keys->ncolumns; i++)
		fmgr_info_cxt(get_opcode(own_equality(index, i)), &keys->equal[i], CurrentMemoryContext);
	if (keys->info->ii_Predicate != NIL)
		keys->predicate = ExecPrepareQual(keys->info->ii_Predicate, keys->estate);
	MemoryContextSwitchTo(old);
	return keys;
}

/* Frees the MapletKeyReader, and ends the fetch of table rows that was begun with them. */
static void
keys_end(MapletKeyReader *keys, IndexFetchTableData *fetch)
{
	ExecDropSingleTupleTableSlot(keys->slot);
	table_index_fetch_end(fetch);
	FreeExecutorState(keys->estate);
	MemoryContextDelete(keys->context);
}

void
bloomfam_maplet_check_equality(Relation index)
{
	int			i;

	for (i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
	{
		Oid			type = TupleDescAttr(RelationGetDescr(index), i)->atttypid;
		Oid			operator = own_equality(index, i);
		Oid			equality = lookup_type_cache(getBaseType(type), TYPECACHE_EQ_OPR)->eq_opr;

		if (operator != equality)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
					 errmsg("a maplet index of type %s cannot be unique", format_type_be(type)),
					 errdetail("Its operator class compares by %s, the type itself by %s.",
							   format_operator_qualified(operator),
							   OidIsValid(equality) ? format_operator_qualified(equality) :
							   "none"),
					 errhint("Create the index on an expression of another type.")));
	}
}

/*
 * Fetches the row at a place that the snapshot sees.  Returns false if the snapshot sees no row
 * there, or if the row does not belong in a partial index.
 */
static bool
fetch_row(MapletKeyReader *keys, IndexFetchTableData *fetch, uint64 place, Snapshot snapshot)
{
	ExprContext *context = GetPerTupleExprContext(keys->estate);
	ItemPointerData tid;
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
	return keys->predicate == NULL || ExecQual(keys->predicate, context);
}

/*
 * Fetches the row at a place like fetch_row(), and forms its key, which stays valid until the next
 * call.  Returns false also if a column of the key is NULL.
 */
static bool
fetch_key(MapletKeyReader *keys, IndexFetchTableData *fetch, uint64 place, Snapshot snapshot,
		  Datum *key)
{
	bool		isnull[INDEX_MAX_KEYS];
	int			i;

	if (!fetch_row(keys, fetch, place, snapshot))
		return false;
	FormIndexDatum(keys->info, keys->slot, keys->estate, key, isnull);
	for (i = 0; i < keys->ncolumns; i++)
		if (isnull[i])
			return false;
	return true;
}

/*
 * Returns whether two keys are equal in all columns.  The next fetch_row() frees what the
 * comparison has allocated.
 */
static bool
keys_are_equal(MapletKeyReader *keys, const Datum *left, const Datum *right)
{
	MemoryContext old =
		MemoryContextSwitchTo(GetPerTupleMemoryContext(keys->estate));
	bool		result = true;
	int			i;

	for (i = 0; result && i < keys->ncolumns; i++)
		result = DatumGetBool(FunctionCall2Coll(&keys->equal[i], keys->index->rd_indcollation[i],
												left[i], right[i]));
	MemoryContextSwitchTo(old);
	return result;
}

/* ---- searching for one key ---- */

static void
found_places(void *arg, uint64 hash, const uint64 *places, uint32 n)
{
	MapletKeyReader *keys = (MapletKeyReader *) arg;

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
bloomfam_maplet_search_key(MapletKeyReader *keys, MapletView *view, uint64 hash,
						   const Datum *key, ItemPointer self)
{
	MapletKeySearch result = {MAPLET_NO_CONFLICT, InvalidTransactionId, 0, false};
	uint64		own = maplet_tid_place(self);
	IndexFetchTableData *fetch;
	SnapshotData dirty;
	Size		i;

	bloomfam_maplet_meta_refresh(keys->index, view);
	keys->n = 0;
	bloomfam_maplet_lookup_again(keys->index, view, hash, found_places, keys);
	if (keys->n == 0)
		return result;

	InitDirtySnapshot(dirty);
	fetch = bloomfam_table_index_fetch_begin(keys->table);
	for (i = 0; i < keys->n; i++)
	{
		Datum		other[INDEX_MAX_KEYS];

		CHECK_FOR_INTERRUPTS();
		if (keys->places[i] == own)
		{
			result.found_self = true;
			continue;
		}
		if (result.conflict != MAPLET_NO_CONFLICT ||
			!fetch_key(keys, fetch, keys->places[i], &dirty, other) ||
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
	MapletKeyReader *keys;
	IndexFetchTableData *fetch;
	SnapshotData dirty;
	Snapshot	snapshot;
	Datum	   *key;			/* A value for each column; NULL if all rows will do. */
};

bool
bloomfam_maplet_must_be_exact(Relation index, Snapshot snapshot)
{
	return snapshot != NULL && !IsMVCCSnapshot(snapshot) &&
		(index->rd_index->indisreplident ||
		 !heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL));
}

MapletExact *
bloomfam_maplet_exact_make(Relation table, Relation index, Snapshot snapshot,
						   const Datum *key)
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
	exact->key = NULL;
	if (key != NULL)
	{
		Size		size = exact->keys->ncolumns * sizeof(Datum);

		exact->key = (Datum *) memcpy(MemoryContextAlloc(exact->keys->context, size), key, size);
	}
	return exact;
}

bool
bloomfam_maplet_exact_has(MapletExact *exact, uint64 place)
{
	Datum		other[INDEX_MAX_KEYS];

	if (exact->key == NULL)
		return fetch_row(exact->keys, exact->fetch, place, exact->snapshot);
	return fetch_key(exact->keys, exact->fetch, place, exact->snapshot, other) &&
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
	MapletKeyReader *keys;
	IndexFetchTableData *fetch;
	Snapshot	snapshot;
	uint64		hash;			/* The hash of the last row that was added. */

	/* The place of the row that was added if it is the only one with the hash; otherwise 0. */
	uint64		first;

	/*
	 * List of Datum *, each with a value for each column: the different keys of the rows with this
	 * hash that the snapshot sees.
	 */
	List	   *different;
	MemoryContext scratch;		/* The memory context of the list "different" and its keys. */
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
	MapletKeyReader *keys = duplicates->keys;
	MemoryContext old;
	Datum		key[INDEX_MAX_KEYS];
	Datum	   *kept;
	ListCell   *lc;
	int			i;

	if (!fetch_key(keys, duplicates->fetch, place, duplicates->snapshot, key))
		return NULL;
	foreach(lc, duplicates->different)
		if (keys_are_equal(keys, (const Datum *) lfirst(lc), key))
		{
			bool		isnull[INDEX_MAX_KEYS] = {false};
			const char *text = BuildIndexValueDescription(keys->index, key, isnull);

			return text != NULL ? text : "";
		}
	old = MemoryContextSwitchTo(duplicates->scratch);
	kept = (Datum *) palloc(keys->ncolumns * sizeof(Datum));
	for (i = 0; i < keys->ncolumns; i++)
	{
		Form_pg_attribute column = TupleDescAttr(RelationGetDescr(keys->index), i);

		kept[i] = datumCopy(key[i], column->attbyval, column->attlen);
	}
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
