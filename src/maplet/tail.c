/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * tail.c
 *	  Tails: the hash tables that take new entries; their switch and their flush.
 *
 * A switch writes the idle tail's pages before it makes that tail the active one.  So each page of
 * a tail in use has the tail's generation; a page that does not is damaged, or the metapage has
 * changed.  Then the old tail is flushed: its entries become a run.
 *
 * A flush can be left and resumed, like a merge (merge.c).  The tail and the run are in the order
 * of hashes, so the number of main pages that are written says which pages of the tail come next.
 * Inserts do the flush in steps while the other tail fills.  Lookups search the old tail until the
 * whole run is there.  An insert that finds both tails full ends the flush itself, and so does
 * VACUUM.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "maplet/merge.h"
#include "maplet/run.h"
#include "maplet/sort.h"
#include "maplet/tail.h"
#include "pg/index_page.h"

int
bloomfam_maplet_tail_count(Page page)
{
	const MapletTailEntry *entries = maplet_tail_entries(page);
	int			low = 0;
	int			high = MAPLET_TAIL_CAPACITY;

	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (ItemPointerGetOffsetNumberNoCheck(&entries[middle].tid) != InvalidOffsetNumber)
			low = middle + 1;
		else
			high = middle;
	}
	/*
	 * The bisection ends between a used and an unused entry, even if used and unused ones are mixed
	 * on a damaged page.
	 */
	Assert(low == 0 ||
		   ItemPointerGetOffsetNumberNoCheck(&entries[low - 1].tid) != InvalidOffsetNumber);
	Assert(low == MAPLET_TAIL_CAPACITY ||
		   ItemPointerGetOffsetNumberNoCheck(&entries[low].tid) == InvalidOffsetNumber);
	return low;
}

int
bloomfam_maplet_tail_count_checked(Relation index, BlockNumber block, Page page)
{
	const MapletTailEntry *entries = maplet_tail_entries(page);
	int			count = bloomfam_maplet_tail_count(page);
	int			i;

	for (i = 0; i < MAPLET_TAIL_CAPACITY; i++)
		if ((ItemPointerGetOffsetNumberNoCheck(&entries[i].tid) != 0) != (i < count))
			bloomfam_maplet_corrupted(index, block, "entries of a tail with a gap");
	return count;
}

void
bloomfam_maplet_tail_format(Relation index, ForkNumber fork, const MapletTail *tail, bool log)
{
	PGAlignedBlock page;
	uint32		i;

	bloomfam_index_extend(index, fork, tail->extent.start + tail->extent.len);
	for (i = 0; i < tail->extent.len; i++)
	{
		bloomfam_maplet_page_init(page.data, MAPLET_PAGE_TAIL, tail->generation, i, 0);
		bloomfam_index_page_write(index, fork, tail->extent.start + i, page.data, log);
	}
}

/* ---- flushing a tail ---- */

/*
 * The number of entries after which bloomfam_maplet_flush() releases its lock for other processes.
 */
#define FLUSH_ENTRIES		8192

/*
 * Copies the entries of a tail's page, and returns their number.  Sets *overflowed to whether
 * entries of the page went on to the next page.  The tail waits for its flush, so nobody adds
 * entries to it any more, but VACUUM may remove some.
 */
static int
read_page(Relation index, const MapletTail *tail, uint32 number, MapletTailEntry *entries,
		  bool *overflowed)
{
	BlockNumber block = tail->extent.start + number;
	Buffer		buffer = ReadBuffer(index, block);
	Page		page = BufferGetPage(buffer);
	int			count;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (!maplet_page_is(page, MAPLET_PAGE_TAIL, tail->generation) ||
		maplet_stamp(page)->number != number)
		bloomfam_maplet_corrupted(index, block, "a page of a tail is missing");
	count = bloomfam_maplet_tail_count_checked(index, block, page);
	memcpy(entries, maplet_tail_entries(page), count * sizeof(MapletTailEntry));
	*overflowed = maplet_stamp(page)->overflowed;
	UnlockReleaseBuffer(buffer);
	return count;
}

/*
 * Reserves a run for all entries of the tail, and fills *output as the output of the tail's flush.
 * If the tail has no entries, the output's id stays 0.
 */
static void
plan_flush(Relation index, const MapletTail *tail, MapletOutput *output)
{
	MapletTailEntry *page = (MapletTailEntry *) palloc(MAPLET_TAIL_USED);
	MapletRunFacts facts = {0, 0, InvalidBlockNumber, 0, 1};
	MapletChange change;
	double		rows;
	bool		overflowed;
	uint32		i;
	int			j;

	for (i = 0; i < tail->extent.len; i++)
	{
		int			count = read_page(index, tail, i, page, &overflowed);

		for (j = 0; j < count; j++)
			maplet_facts_add(&facts, maplet_tid_place(&page[j].tid));
		facts.entries += count;
	}
	if (facts.entries == 0)
		return;
	facts.fingerprints = facts.entries;

	bloomfam_maplet_change_begin(index, &change);
	rows = bloomfam_maplet_entries(change.meta) + facts.entries;
	while (change.meta->p < MAPLET_HASH_BITS &&
		   bloomfam_maplet_bits(rows, change.meta->remainder_bits) > change.meta->p)
		change.meta->p = Min(change.meta->p + MAPLET_P_STEP, MAPLET_HASH_BITS);
	bloomfam_maplet_plan_run(index, change.meta, MAPLET_FLUSH_OUTPUT, change.meta->p, &facts);
	*output = change.meta->outputs[MAPLET_FLUSH_OUTPUT];
	bloomfam_maplet_change_commit(&change);
}

/*
 * Returns the tail's entries from hash "begin" to hash "last", in order, in a palloc'd array, and
 * sets *n to their number.  They are on the pages of these hashes, and on the pages after them that
 * entries went on to.
 */
static BfRunEntry *
read_hashes(Relation index, const MapletTail *tail, uint64 begin, uint64 last, uint64 *n)
{
	uint32		npages = tail->extent.len;
	uint32		first_page = maplet_tail_page(begin, npages);
	uint32		own_pages = maplet_tail_page(last, npages) - first_page + 1;
	uint32		max_pages = Min(own_pages + MAPLET_TAIL_WALK - 1, npages);
	MapletTailEntry *page = (MapletTailEntry *) palloc(MAPLET_TAIL_USED);
	BfRunEntry *entries = (BfRunEntry *)
		palloc((Size) max_pages * MAPLET_TAIL_CAPACITY * sizeof(BfRunEntry));
	bool		overflowed = false;
	uint32		i;
	int			j;

	*n = 0;
	for (i = 0; i < own_pages || (i < max_pages && overflowed); i++)
	{
		int			count = read_page(index, tail, (first_page + i) % npages, page, &overflowed);

		for (j = 0; j < count; j++)
		{
			uint64		hash = maplet_tail_hash(&page[j]);

			if (hash < begin || hash > last)
				continue;
			entries[*n].hash = hash;
			entries[*n].place = maplet_tid_place(&page[j].tid);
			(*n)++;
		}
	}
	return bloomfam_maplet_sort(entries, *n);
}

/*
 * Writes the next main pages of the flush's output, enough for about the given number of entries.
 */
static void
flush_pages(Relation index, const MapletTail *tail, MapletOutput *output, uint64 entries)
{
	MapletRunWriter *w = (MapletRunWriter *) palloc(sizeof(MapletRunWriter));
	uint32		pages = output->run.shape.pages;
	uint64		until = pages;
	BfRunEntry *sorted;
	uint64		n;
	uint64		i;

	bloomfam_maplet_write_begin(w, index, MAPLET_FLUSH_OUTPUT, output, NULL);
	if (output->interval < pages)
	{
		if (entries < output->expected)
			until = Min(until, output->interval + entries * pages / output->expected + 1);
		sorted = read_hashes(index, tail, bf_run_page_begin(&w->run, output->interval),
							 until < pages ? bf_run_page_begin(&w->run, (uint32) until) - 1 :
							 PG_UINT64_MAX, &n);
		for (i = 0; i < n; i++)
			bloomfam_maplet_write(w, &sorted[i]);
		bloomfam_maplet_write_until(w, (uint32) until);
	}
	*output = w->output;
}

/*
 * Does a step of a flush, for about the given number of entries.  Flushes the tail of the given
 * generation, or if that is 0, whichever tail waits for its flush.  Does nothing while there are
 * more than MAPLET_MANY_RUNS runs, so that there is always room for the flush's run.  Returns
 * whether anything of the flush is left to do.  The caller must hold MAPLET_LOCK_FLUSH.
 */
static bool
flush_step(Relation index, uint64 generation, uint64 entries)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "maplet flush",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	MapletView *view = (MapletView *) palloc(sizeof(MapletView));
	MapletOutput *output = &view->meta.outputs[MAPLET_FLUSH_OUTPUT];
	const MapletTail *tail;
	MapletChange change;
	bool		left = false;

	Assert(bloomfam_maplet_has_lock(index, MAPLET_LOCK_FLUSH));
	bloomfam_maplet_meta_read(index, view);
	tail = &view->meta.tails[1 - view->meta.active];
	if (!view->meta.pending || (generation != 0 && tail->generation != generation))
		left = false;
	else if (view->meta.nruns > MAPLET_MANY_RUNS)
		left = true;
	else
	{
		if (output->run.id == 0)
			plan_flush(index, tail, output);
		if (output->run.id != 0)
		{
			flush_pages(index, tail, output, entries);
			left = output->interval < output->run.shape.pages;
		}

		bloomfam_maplet_change_begin(index, &change);
		change.meta->outputs[MAPLET_FLUSH_OUTPUT] = *output;
		if (!left)
		{
			bloomfam_maplet_install_run(change.meta, MAPLET_FLUSH_OUTPUT);
			change.meta->pending = false;
		}
		bloomfam_maplet_change_commit(&change);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return left;
}

void
bloomfam_maplet_flush(Relation index)
{
	MapletView *view = (MapletView *) palloc(sizeof(MapletView));
	uint64		generation;
	bool		left;

	bloomfam_maplet_meta_read(index, view);
	generation = view->meta.tails[1 - view->meta.active].generation;
	left = view->meta.pending;
	pfree(view);
	while (left)
	{
		bloomfam_maplet_limit_runs(index);
		bloomfam_maplet_lock(index, MAPLET_LOCK_FLUSH);
		left = flush_step(index, generation, FLUSH_ENTRIES);
		bloomfam_maplet_unlock(index, MAPLET_LOCK_FLUSH);
		CHECK_FOR_INTERRUPTS();
	}
}

void
bloomfam_maplet_step(Relation index, uint64 inserted)
{
	if (bloomfam_maplet_trylock(index, MAPLET_LOCK_FLUSH))
	{
		flush_step(index, 0, 2 * inserted);
		bloomfam_maplet_unlock(index, MAPLET_LOCK_FLUSH);
	}
	bloomfam_maplet_merge_some(index, inserted);
}

/* ---- switching tails ---- */

/*
 * Makes the idle tail the active one, and doubles its size if the runs have grown enough.  The
 * caller must hold MAPLET_LOCK_SWITCH, and know that no tail waits for its flush.
 */
static void
switch_tails(Relation index)
{
	MapletChange change;
	MapletMeta *meta;
	MapletTail	next;
	int			idle;
	uint32		npages;

	bloomfam_maplet_change_begin(index, &change);
	Assert(bloomfam_maplet_has_lock(index, MAPLET_LOCK_SWITCH));
	meta = change.meta;
	Assert(!meta->pending);
	idle = 1 - meta->active;
	npages = meta->tails[meta->active].extent.len;
	if (npages < MAPLET_MAX_TAIL_PAGES &&
		bloomfam_maplet_entries(meta) >= (double) MAPLET_TAIL_SHARE * npages * MAPLET_TAIL_CAPACITY)
		npages *= 2;
	if (meta->tails[idle].extent.len != npages)
	{
		meta->tails[idle].extent.len = 0;
		bloomfam_maplet_allocate(meta, npages, &meta->tails[idle].extent, 1);
	}
	meta->tails[idle].generation = maplet_new_id(meta);
	next = meta->tails[idle];
	Assert(next.extent.len > 0 && (next.extent.len & (next.extent.len - 1)) == 0);
	bloomfam_maplet_change_commit(&change);

	bloomfam_maplet_tail_format(index, MAIN_FORKNUM, &next, true);

	bloomfam_maplet_change_begin(index, &change);
	change.meta->active = idle;
	change.meta->pending = true;
	change.meta->version = maplet_new_id(change.meta);
	bloomfam_maplet_change_commit(&change);
}

void
bloomfam_maplet_make_room(Relation index, uint64 generation)
{
	MapletView *view = (MapletView *) palloc(sizeof(MapletView));

	for (;;)
	{
		bloomfam_maplet_meta_read(index, view);
		if (view->meta.tails[view->meta.active].generation != generation)
			break;
		if (view->meta.pending)
		{
			/* Both tails are full.  All processes that wait for room take turns in flushing. */
			bloomfam_maplet_flush(index);
			continue;
		}
		bloomfam_maplet_lock(index, MAPLET_LOCK_SWITCH);
		bloomfam_maplet_meta_read(index, view);
		if (view->meta.tails[view->meta.active].generation == generation && !view->meta.pending)
			switch_tails(index);
		bloomfam_maplet_unlock(index, MAPLET_LOCK_SWITCH);
	}
	pfree(view);
}

void
bloomfam_maplet_flush_all(Relation index)
{
	MapletView *view = (MapletView *) palloc(sizeof(MapletView));

	bloomfam_maplet_meta_read(index, view);
	bloomfam_maplet_make_room(index, view->meta.tails[view->meta.active].generation);
	pfree(view);
	bloomfam_maplet_flush(index);
}
