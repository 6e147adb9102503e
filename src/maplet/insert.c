/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * insert.c
 *	  Inserting a row's entry.
 *
 * The metapage is held in SHARE mode until the entry's page is held in EXCLUSIVE mode, so that
 * the tail cannot be switched between: the flush would have read the page already.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "maplet/hash.h"
#include "maplet/maplet.h"
#include "maplet/tail.h"
#include "maplet/wal.h"

/* What inserts of one statement keep. */
typedef struct InsertState
{
	MapletHasher hasher;
} InsertState;

static InsertState *
insert_state(Relation index, IndexInfo *info)
{
	InsertState *state;
	MapletView *view;

	if (info->ii_AmCache != NULL)
		return (InsertState *) info->ii_AmCache;

	view = (MapletView *) palloc(sizeof(MapletView));
	state = (InsertState *) MemoryContextAlloc(info->ii_Context, sizeof(InsertState));
	bloomfam_maplet_hasher_make(&state->hasher, info->ii_Context, index, InvalidOid);
	bloomfam_maplet_meta_read(index, view);
	bloomfam_maplet_hasher_fit(&state->hasher, index, &view->meta);
	pfree(view);
	info->ii_AmCache = state;
	return state;
}

typedef enum InsertResult
{
	INSERT_DONE,
	INSERT_STEP_IS_DUE,			/* done, and it is time for a step of flushing and merging */
	INSERT_TAIL_IS_FULL
} InsertResult;

/* Adds an entry to the active tail, which *tail then is. */
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

		/* a page that has sent entries on takes no more, so that readers need not wonder */
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

bool
bloomfam_maplet_insert(Relation index, Datum *values, bool *isnull, ItemPointer tid,
					   Relation table, IndexUniqueCheck unique, bool unchanged, IndexInfo *info)
{
	InsertState *state;
	uint64		hash;
	MapletTail	tail;
	InsertResult result;

	if (isnull[0])
		return false;
	state = insert_state(index, info);
	hash = maplet_hash(&state->hasher, values[0]);
	for (;;)
	{
		result = insert_entry(index, hash, tid, state->hasher.seed, &tail);
		if (result != INSERT_TAIL_IS_FULL)
			break;
		bloomfam_maplet_make_room(index, tail.generation);
		CHECK_FOR_INTERRUPTS();
	}
	if (result == INSERT_STEP_IS_DUE)
		bloomfam_maplet_step(index, (uint64) maplet_pages_per_step(tail.extent.len) *
							 MAPLET_TAIL_CAPACITY);
	return false;
}
