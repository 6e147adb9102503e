/*-------------------------------------------------------------------------
 *
 * tail.c
 *	  Tails: the hash tables that take new entries; their switch and their flush.
 *
 * The switch prepares the idle tail's pages before it makes that the active one, so that every
 * page of a tail in use has its generation, and one that does not is damaged or the metapage has
 * changed.  Then the old one is flushed: read, sorted, and written as a run.  Whoever finds the
 * tail full does both.  If it fails in between, the next one who needs room flushes first.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "maplet/merge.h"
#include "maplet/run.h"
#include "maplet/sort.h"
#include "maplet/tail.h"

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
	return low;
}

void
bloomfam_maplet_tail_format(Relation index, ForkNumber fork, const MapletTail *tail, bool log)
{
	PGAlignedBlock page;
	uint32		i;

	bloomfam_maplet_extend(index, fork, tail->extent.start + tail->extent.len);
	for (i = 0; i < tail->extent.len; i++)
	{
		bloomfam_maplet_page_init(page.data, MAPLET_PAGE_TAIL, tail->generation, i, 0);
		bloomfam_maplet_page_write(index, fork, tail->extent.start + i, page.data, log);
	}
}

/* ---- flush ---- */

/* All entries of a tail, in order.  Nobody adds to it any more; VACUUM may remove some. */
static BfRunEntry *
read_tail(Relation index, const MapletTail *tail, MapletRunFacts *facts)
{
	uint32		npages = tail->extent.len;
	BfRunEntry *entries = (BfRunEntry *)
		palloc((Size) npages * MAPLET_TAIL_CAPACITY * sizeof(BfRunEntry));
	uint64		n = 0;
	uint32		i;

	for (i = 0; i < npages; i++)
	{
		BlockNumber block = tail->extent.start + i;
		Buffer		buffer = ReadBuffer(index, block);
		Page		page = BufferGetPage(buffer);
		const MapletTailEntry *stored = maplet_tail_entries(page);
		int			count;
		int			j;

		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		if (!maplet_page_is(page, MAPLET_PAGE_TAIL, tail->generation))
			bloomfam_maplet_corrupted(index, block, "a page of a tail is missing");
		count = bloomfam_maplet_tail_count(page);
		for (j = 0; j < count; j++)
		{
			entries[n].hash = maplet_tail_hash(&stored[j]);
			entries[n].place = maplet_tid_place(&stored[j].tid);
			maplet_facts_add(facts, entries[n].place);
			n++;
		}
		UnlockReleaseBuffer(buffer);
	}
	facts->entries = n;
	facts->fingerprints = n;
	return bloomfam_maplet_sort(entries, n);
}

/* The caller holds MAPLET_LOCK_FLUSH.  Returns the number of entries. */
static uint64
flush_pending(Relation index)
{
	MapletView *view = (MapletView *) palloc(sizeof(MapletView));
	MapletRunFacts facts = {0, 0, InvalidBlockNumber, 0, 1};
	MapletChange change;
	MapletRunWriter *w;
	BfRunEntry *entries;
	double		rows;
	uint64		i;
	bool		written = false;

	bloomfam_maplet_meta_read(index, view);
	if (!view->meta.pending)
	{
		pfree(view);
		return 0;
	}
	entries = read_tail(index, &view->meta.tails[1 - view->meta.active], &facts);

	w = (MapletRunWriter *) palloc(sizeof(MapletRunWriter));
	if (facts.entries > 0)
	{
		bloomfam_maplet_change_begin(index, &change);
		rows = bloomfam_maplet_entries(change.meta) + facts.entries;
		while (change.meta->p < MAPLET_HASH_BITS &&
			   bloomfam_maplet_bits(rows, change.meta->remainder_bits) > change.meta->p)
			change.meta->p = Min(change.meta->p + MAPLET_P_STEP, MAPLET_HASH_BITS);
		bloomfam_maplet_plan_run(index, change.meta, MAPLET_FLUSH_OUTPUT, change.meta->p, &facts);
		memcpy(&view->meta, change.meta, sizeof(MapletMeta));
		bloomfam_maplet_change_commit(&change);

		bloomfam_maplet_write_begin(w, index, MAPLET_FLUSH_OUTPUT,
									&view->meta.outputs[MAPLET_FLUSH_OUTPUT], NULL);
		for (i = 0; i < facts.entries; i++)
			bloomfam_maplet_write(w, &entries[i]);
		bloomfam_maplet_write_until(w, w->run.shape.pages);
		written = true;
	}

	bloomfam_maplet_change_begin(index, &change);
	if (written)
		change.meta->outputs[MAPLET_FLUSH_OUTPUT] = w->output;
	else
		memset(&change.meta->outputs[MAPLET_FLUSH_OUTPUT], 0, sizeof(MapletOutput));
	bloomfam_maplet_install_run(change.meta, MAPLET_FLUSH_OUTPUT);
	change.meta->pending = false;
	bloomfam_maplet_change_commit(&change);

	pfree(w);
	pfree(entries);
	pfree(view);
	return facts.entries;
}

void
bloomfam_maplet_flush(Relation index)
{
	uint64		flushed;

	bloomfam_maplet_lock(index, MAPLET_LOCK_FLUSH);
	flushed = flush_pending(index);
	bloomfam_maplet_unlock(index, MAPLET_LOCK_FLUSH);
	if (flushed > 0)
		bloomfam_maplet_merge_some(index, flushed / MAPLET_TAIL_STEPS);
}

/* ---- switch ---- */

/*
 * Makes the idle tail the active one, larger than the other if it may be.  The caller holds
 * MAPLET_LOCK_SWITCH, and knows that no tail waits to be flushed.
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
	meta = change.meta;
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
	bool		switched = false;

	while (!switched)
	{
		bloomfam_maplet_meta_read(index, view);
		if (view->meta.tails[view->meta.active].generation != generation)
			break;
		if (view->meta.pending)
		{
			/* both are full: whoever gets the lock first flushes, the others have waited */
			bloomfam_maplet_flush(index);
			continue;
		}
		bloomfam_maplet_lock(index, MAPLET_LOCK_SWITCH);
		bloomfam_maplet_meta_read(index, view);
		if (view->meta.tails[view->meta.active].generation == generation && !view->meta.pending)
		{
			switch_tails(index);
			switched = true;
		}
		bloomfam_maplet_unlock(index, MAPLET_LOCK_SWITCH);
	}
	pfree(view);
	if (switched)
		bloomfam_maplet_flush(index);
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
