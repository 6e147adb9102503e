/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * insert.c
 *	  Inserts a row's entry, and refuses a key that a unique index already has.
 *
 * The metapage stays locked in SHARE mode until the entry's page is locked in EXCLUSIVE mode.
 * Otherwise the tail could be switched between the two, and the flush might already have read the
 * page.
 *
 * For a unique index, the key's lock is held from before the search for other rows with the key
 * until the entry is in the index.  So if two sessions insert the same key, the second one finds
 * the first one's entry.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/tableam.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/predicate.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "maplet/hash.h"
#include "maplet/maplet.h"
#include "maplet/tail.h"
#include "maplet/unique.h"
#include "maplet/wal.h"

/* What the inserts of one statement keep in IndexInfo.ii_AmCache. */
typedef struct InsertState
{
	MapletHasher hasher;

	MapletView *view;			/* A copy of the metapage. */

	/* Reads and compares keys for searches in a unique index; NULL before the first search. */
	MapletKeyReader *keys;
} InsertState;

static InsertState *
insert_state(Relation index, IndexInfo *info)
{
	InsertState *state;

	if (info->ii_AmCache != NULL)
		return (InsertState *) info->ii_AmCache;

	state = (InsertState *) MemoryContextAllocZero(info->ii_Context, sizeof(InsertState));
	bloomfam_maplet_hasher_make(&state->hasher, info->ii_Context, index, NULL);
	state->view = (MapletView *) MemoryContextAlloc(info->ii_Context, sizeof(MapletView));
	state->view->meta.version = 0;
	bloomfam_maplet_meta_refresh(index, state->view);
	bloomfam_maplet_hasher_fit(&state->hasher, index, &state->view->meta);
	info->ii_AmCache = state;
	return state;
}

typedef enum InsertResult
{
	INSERT_DONE,

	/*
	 * The entry was inserted, and it is time for a step of flushing a full tail and merging runs.
	 */
	INSERT_STEP_IS_DUE,
	INSERT_TAIL_IS_FULL
} InsertResult;

/*
 * Adds an entry to the active tail, unless the pages of the tail on which it may be put are all
 * full.  Sets *tail to the active tail in either case.
 */
static InsertResult
insert_entry(Relation index, uint64 hash, ItemPointer tid, uint64 seed, MapletTail *tail)
{
	Buffer		meta_buffer = ReadBuffer(index, 0);
	MapletMeta *meta = maplet_meta(BufferGetPage(meta_buffer));
	Buffer		buffer = InvalidBuffer;
	uint32		npages;
	uint32		home;
	uint32		step;

	LockBuffer(meta_buffer, BUFFER_LOCK_SHARE);
	if (!maplet_page_is(BufferGetPage(meta_buffer), MAPLET_PAGE_META, 0) || meta->active > 1 ||
		meta->seed != seed)
		bloomfam_maplet_corrupted(index, 0, "not the metapage that the statement began with");
	*tail = meta->tails[meta->active];
	npages = tail->extent.len;
	if (npages < 1 || npages > MAPLET_MAX_TAIL_PAGES)
		bloomfam_maplet_corrupted(index, 0, "a number is out of range");
	home = maplet_tail_page(hash, npages);

	for (step = 0; step < Min(MAPLET_TAIL_WALK, npages); step++)
	{
		uint32		number = (home + step) % npages;
		BlockNumber block = tail->extent.start + number;
		Page		page;
		int			count;

		buffer = ReadBuffer(index, block);
		page = BufferGetPage(buffer);
		LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
		if (!maplet_page_is(page, MAPLET_PAGE_TAIL, tail->generation) ||
			maplet_stamp(page)->number != number)
			bloomfam_maplet_corrupted(index, block, "a page of a tail is missing");

		/*
		 * A page of a tail that has sent entries on to the next page takes no more entries, even if
		 * VACUUM has made room in it, so that readers can rely on the page's mark.
		 */
		if (!maplet_stamp(page)->overflowed)
		{
			count = bloomfam_maplet_tail_count(page);
			if (count < MAPLET_TAIL_CAPACITY)
			{
				MapletTailEntry entry;

				UnlockReleaseBuffer(meta_buffer);
				maplet_tail_entry(&entry, hash, tid);
				bloomfam_maplet_log_entry(index, buffer, count, &entry);
				UnlockReleaseBuffer(buffer);
				return maplet_step_is_due(number, count + 1, npages) ?
					INSERT_STEP_IS_DUE : INSERT_DONE;
			}
			bloomfam_maplet_log_overflowed(index, buffer);
		}
		UnlockReleaseBuffer(buffer);
	}
	UnlockReleaseBuffer(meta_buffer);
	return INSERT_TAIL_IS_FULL;
}

/*
 * Adds the entry to the active tail; if the pages for it are all full, first makes room by
 * switching tails.  Sets *tail to the tail that took the entry, and returns whether it is time for
 * a step of flushing and merging.
 */
static bool
add_entry(Relation index, uint64 hash, ItemPointer tid, uint64 seed, MapletTail *tail)
{
	for (;;)
	{
		InsertResult result = insert_entry(index, hash, tid, seed, tail);

		if (result != INSERT_TAIL_IS_FULL)
			return result == INSERT_STEP_IS_DUE;
		bloomfam_maplet_make_room(index, tail->generation);
		CHECK_FOR_INTERRUPTS();
	}
}

/* ---- keys of unique indexes ---- */

static void
prepare_search(InsertState *state, Relation table, Relation index, IndexInfo *info)
{
	MemoryContext old;

	if (state->keys != NULL)
		return;
	old = MemoryContextSwitchTo(info->ii_Context);
	state->keys = bloomfam_maplet_keys_make(table, index);
	MemoryContextSwitchTo(old);
}

static void
wait_for(const MapletKeySearch *search, Relation table, ItemPointer tid)
{
	if (search->token != 0)
		SpeculativeInsertionWait(search->transaction, search->token);
	else
		XactLockTableWait(search->transaction, table, tid, XLTW_InsertIndex);
}

/*
 * Returns whether a snapshot of this moment sees the row that is to be inserted.  CREATE INDEX
 * CONCURRENTLY may insert an entry of a row that was deleted meanwhile, which conflicts with
 * nothing.
 */
static bool
row_is_alive(Relation table, const ItemPointerData *tid)
{
	ItemPointerData at = *tid;

	return table_index_fetch_tuple_check(table, &at, SnapshotSelf, NULL);
}

/*
 * Raises the server's own error for a duplicate key in a unique index.  If a serializable
 * transaction has read what another transaction has written since, raises a serialization failure
 * instead, as a B-tree does, so that the transaction is tried again.
 */
static void pg_attribute_noreturn()
raise_duplicate(Relation table, Relation index, Datum *values, bool *isnull)
{
	char	   *key;

	CheckForSerializableConflictIn(index, NULL, InvalidBlockNumber);
	key = BuildIndexValueDescription(index, values, isnull);
	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("duplicate key value violates unique constraint \"%s\"",
					RelationGetRelationName(index)),
			 key != NULL ? errdetail("Key %s already exists.", key) : 0,
			 errtableconstraint(table, RelationGetRelationName(index))));
}

/*
 * Takes the key's lock, and searches for other rows with the key.  If a row is in doubt, releases
 * the lock, waits for the row's transaction, and begins again.  Raises an error if another row has
 * the key.  Otherwise returns true, with the lock held.  With UNIQUE_CHECK_PARTIAL it neither waits
 * nor raises that error: it returns with the lock held, and false if another row may have the key.
 */
static bool
lock_unique_key(InsertState *state, Relation table, Relation index, uint64 hash, Datum *values,
				bool *isnull, ItemPointer tid, IndexUniqueCheck unique)
{
	for (;;)
	{
		MapletKeySearch search;

		bloomfam_maplet_lock_key(index, hash);
		search = bloomfam_maplet_search_key(state->keys, state->view, hash, values, tid);
		if (unique == UNIQUE_CHECK_PARTIAL)
			return search.conflict == MAPLET_NO_CONFLICT;
		if (unique == UNIQUE_CHECK_EXISTING && search.conflict == MAPLET_NO_CONFLICT &&
			!search.found_self)
			bloomfam_maplet_corrupted(index, 0, "a row that is to be checked again is missing");
		if (search.conflict == MAPLET_NO_CONFLICT ||
			(search.conflict == MAPLET_CONFLICT && !row_is_alive(table, tid)))
			return true;
		bloomfam_maplet_unlock_key(index, hash);
		if (search.conflict == MAPLET_CONFLICT)
			raise_duplicate(table, index, values, isnull);
		wait_for(&search, table, tid);
	}
}

/* ---- the entry point of the access method ---- */

bool
bloomfam_maplet_insert(Relation index, Datum *values, bool *isnull, ItemPointer tid,
					   Relation table, IndexUniqueCheck unique, bool unchanged, IndexInfo *info)
{
	InsertState *state;
	uint64		hash;
	MapletTail	tail;
	bool		step_is_due = false;
	bool		result = true;

	state = insert_state(index, info);
	/* NULLs are distinct from each other, and the index has no entries for keys with a NULL. */
	if (!maplet_hash_row(&state->hasher, values, isnull, &hash))
		return true;
	if (unique != UNIQUE_CHECK_NO)
	{
		prepare_search(state, table, index, info);
		result = lock_unique_key(state, table, index, hash, values, isnull, tid, unique);
	}
	if (unique != UNIQUE_CHECK_EXISTING)
		step_is_due = add_entry(index, hash, tid, state->hasher.seed, &tail);
	if (unique != UNIQUE_CHECK_NO)
		bloomfam_maplet_unlock_key(index, hash);
	if (step_is_due)
		bloomfam_maplet_step(index, (uint64) maplet_pages_per_step(tail.extent.len) *
							 MAPLET_TAIL_CAPACITY);
	return result;
}
