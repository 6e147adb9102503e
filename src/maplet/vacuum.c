/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * vacuum.c
 *	  VACUUM: removes the entries of dead rows.
 *
 * VACUUM works while inserts, flushes and merges go on.  It holds no heavyweight lock while it
 * reads, because autovacuum is cancelled when it blocks another process on one.  An entry only ever
 * moves from a tail to a run, and from runs to a run with a larger id.  So VACUUM proceeds in these
 * steps:
 *
 *	1. Both tails are cleaned in place.
 *	2. The flush under way is ended, as it may have read a page of its tail before that was clean.
 *	   Its run is one of those to clean, and all later flushes read a clean tail.
 *	3. Runs are cleaned in place, each known by its id.  A page of another id means that the run
 *	   was merged into one that is still to be cleaned.  Then the metapage is read again, until all
 *	   runs are clean.
 *	4. What merges under way have written until then is cleaned likewise.  What they write later
 *	   comes from clean runs: the metapage was read with the merge lock held, when no merge had the
 *	   entries of an unclean page in memory.  Then VACUUM goes on from step 3 until there is nothing
 *	   left to clean, as a merge may have ended and another one begun meanwhile.
 *
 * The callback is called for every entry, even if no row is dead: CREATE INDEX CONCURRENTLY
 * collects the TIDs of all entries that way.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"

#include "maplet/maplet.h"
#include "maplet/merge.h"
#include "maplet/run.h"
#include "maplet/tail.h"
#include "maplet/wal.h"

typedef struct Vacuum
{
	IndexVacuumInfo *info;
	IndexBulkDeleteResult *stats;
	IndexBulkDeleteCallback callback;
	void	   *callback_state;
	uint8	   *body;			/* A buffer for the cleaned body (entries) of one page of a run. */
} Vacuum;

static bool
is_dead(void *arg, uint64_t place)
{
	Vacuum	   *vacuum = (Vacuum *) arg;
	ItemPointerData tid;

	ItemPointerSet(&tid, BF_RUN_BLOCK(place), BF_RUN_OFFSET(place));
	return vacuum->callback(&tid, vacuum->callback_state);
}

/* ---- cleaning tails ---- */

static void
clean_tail(Vacuum *vacuum, const MapletTail *tail)
{
	Relation	index = vacuum->info->index;
	MapletTailEntry *kept = (MapletTailEntry *) palloc(MAPLET_TAIL_USED);
	uint32		i;

	for (i = 0; i < tail->extent.len; i++)
	{
		Buffer		buffer;
		Page		page;
		MapletTailEntry *entries;
		int			count;
		int			nkept = 0;
		int			j;

		bloomfam_vacuum_delay_point();
		buffer = ReadBufferExtended(index, MAIN_FORKNUM, tail->extent.start + i, RBM_NORMAL,
									vacuum->info->strategy);
		LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
		page = BufferGetPage(buffer);
		if (!maplet_page_is(page, MAPLET_PAGE_TAIL, tail->generation))
		{
			/*
			 * The page has another owner: the tail was flushed since, and its entries are in a run
			 * that is still to be cleaned.
			 */
			UnlockReleaseBuffer(buffer);
			break;
		}
		entries = maplet_tail_entries(page);
		count = bloomfam_maplet_tail_count_checked(index, tail->extent.start + i, page);
		for (j = 0; j < count; j++)
			if (!is_dead(vacuum, maplet_tid_place(&entries[j].tid)))
				kept[nkept++] = entries[j];
		if (nkept < count)
			bloomfam_maplet_log_entries(index, buffer, kept, nkept);
		vacuum->stats->tuples_removed += count - nkept;
		vacuum->stats->num_index_tuples += nkept;
		UnlockReleaseBuffer(buffer);
	}
	pfree(kept);
}

/* ---- cleaning runs ---- */

/*
 * Cleans a page of a run.  Adds the number of entries that are left to *left.  Opens the page into
 * *page, which says for a main page how many overflow pages it has.  Returns false if the page
 * belongs to another run.
 */
static bool
clean_page(Vacuum *vacuum, const MapletRun *run, const BfRun *open, BfRunPageKind kind,
		   uint32 number, uint64 *left, BfRunPage *page)
{
	Relation	index = vacuum->info->index;
	Buffer		buffer;
	uint32		removed;

	bloomfam_vacuum_delay_point();
	if (!bloomfam_maplet_open_page(index, run, open, kind, number, BUFFER_LOCK_EXCLUSIVE,
								   vacuum->info->strategy, &buffer, page))
		return false;
	removed = bf_run_remove(page, is_dead, vacuum, vacuum->body);
	if (removed > 0)
	{
		BfRunPage	cleaned;
		const char *reason = "a page could not be cleaned";

		/*
		 * Check the page first: if it is damaged, cleaning it would lose entries without a trace.
		 */
		if (!bf_run_check_page(open, page->body, &reason) ||
			!bf_run_open_page(open, vacuum->body, &cleaned, &reason))
			bloomfam_maplet_corrupted(index, BufferGetBlockNumber(buffer), reason);
		bloomfam_maplet_log_body(index, buffer, vacuum->body, bf_run_page_used(&cleaned));
	}
	vacuum->stats->tuples_removed += removed;
	*left += page->n - removed;
	UnlockReleaseBuffer(buffer);
	return true;
}

/*
 * Cleans a run's main pages before page number "end", and their overflow pages.  Sets *left to the
 * number of entries that are left.  Returns false if the run does not exist any more.
 */
static bool
clean_run(Vacuum *vacuum, const MapletRun *run, const BfRun *open, uint32 end, uint64 *left)
{
	uint32		i;
	uint32		j;

	*left = 0;
	for (i = 0; i < end; i++)
	{
		BfRunPage	page;
		BfRunPage	overflow;

		if (!clean_page(vacuum, run, open, BF_RUN_MAIN, i, left, &page))
			return false;
		for (j = 0; j < page.overflow; j++)
			if (!clean_page(vacuum, run, open, BF_RUN_OVERFLOW, page.overflow_at + j, left,
							&overflow))
				return false;
	}
	return true;
}

/*
 * Stores how many entries a run has left, and drops the run if it has none.  A run without entries
 * that a merge reads is kept with the count that it has: the merge drops it at its end, with its
 * other inputs.
 */
static void
store_left(Relation index, uint64 id, uint64 left)
{
	MapletChange change;
	MapletRun  *run;

	bloomfam_maplet_change_begin(index, &change);
	run = bloomfam_maplet_find_run(change.meta, id);
	if (run == NULL || (run->entries == left && left > 0) || (left == 0 && run->output != 0))
	{
		bloomfam_maplet_change_abandon(&change);
		return;
	}
	run->entries = left;
	if (left == 0)
	{
		memmove(run, run + 1, (char *) &change.meta->runs[change.meta->nruns] -
				(char *) (run + 1));
		change.meta->nruns--;
		change.meta->version = maplet_new_id(change.meta);
	}
	bloomfam_maplet_change_commit(&change);
}

/*
 * Stores that an output, which may have become a run by now, has lost this number of entries.  It
 * takes MAPLET_LOCK_MERGE, because a step of merging stores the count that it had at its beginning
 * plus what it has added.
 */
static void
store_removed(Relation index, uint64 id, uint64 removed)
{
	MapletChange change;
	MapletRun  *run;
	int			i;

	bloomfam_maplet_lock(index, MAPLET_LOCK_MERGE);
	bloomfam_maplet_change_begin(index, &change);
	run = bloomfam_maplet_find_run(change.meta, id);
	for (i = 0; i < MAPLET_OUTPUTS; i++)
		if (change.meta->outputs[i].run.id == id)
			run = &change.meta->outputs[i].run;
	if (run != NULL)
		run->entries -= Min(run->entries, removed);
	bloomfam_maplet_change_commit(&change);
	bloomfam_maplet_unlock(index, MAPLET_LOCK_MERGE);
}

/*
 * The ids of the runs and outputs that this VACUUM has cleaned of dead entries: all of their pages
 * are clean, or will be when they are written.
 */
typedef struct CleanIds
{
	uint64		ids[MAPLET_MAX_RUNS + MAPLET_OUTPUTS];
	int			n;
} CleanIds;

static bool
is_clean(const CleanIds *clean, uint64 id)
{
	int			i;

	for (i = 0; i < clean->n; i++)
		if (clean->ids[i] == id)
			return true;
	return false;
}

/*
 * Removes from the list the ids that the copy of the metapage does not have any more: ids are never
 * used again.
 */
static void
forget_gone(CleanIds *clean, const MapletMeta *meta)
{
	CleanIds	kept;
	uint32		i;

	kept.n = 0;
	for (i = 0; i < meta->nruns; i++)
		if (is_clean(clean, meta->runs[i].id))
			kept.ids[kept.n++] = meta->runs[i].id;
	for (i = 0; i < MAPLET_OUTPUTS; i++)
		if (meta->outputs[i].run.id != 0 && is_clean(clean, meta->outputs[i].run.id))
			kept.ids[kept.n++] = meta->outputs[i].run.id;
	*clean = kept;
}

/*
 * Is called when a page of this run or output bears another owner's id.  Raises an error if the
 * metapage still lists the run or output, as then the page is damaged.
 */
static void
expect_gone(Relation index, const MapletRun *run)
{
	MapletView *view = (MapletView *) palloc(sizeof(MapletView));
	bool		found;
	int			i;

	bloomfam_maplet_meta_read(index, view);
	found = bloomfam_maplet_find_run(&view->meta, run->id) != NULL;
	for (i = 0; i < MAPLET_OUTPUTS; i++)
		found |= view->meta.outputs[i].run.id == run->id;
	if (found)
		bloomfam_maplet_corrupted(index, run->main[0].start, "a page of a run is missing");
	pfree(view);
}

/*
 * Removes dead entries from all runs of the metapage's copy that this VACUUM has not cleaned yet.
 * Returns whether there were any such runs.
 */
static bool
clean_runs(Vacuum *vacuum, const MapletView *view, CleanIds *clean)
{
	Relation	index = vacuum->info->index;
	bool		found = false;
	uint32		i;

	for (i = 0; i < view->meta.nruns; i++)
	{
		const MapletRun *run = &view->meta.runs[i];
		uint64		left;

		if (is_clean(clean, run->id))
			continue;
		found = true;
		if (clean_run(vacuum, run, &view->runs[i], run->shape.pages, &left))
		{
			Assert(clean->n < (int) lengthof(clean->ids));
			clean->ids[clean->n++] = run->id;
			store_left(index, run->id, left);
		}
		else
			expect_gone(index, run);
	}
	return found;
}

/*
 * Cleans what the merges' outputs in the metapage's copy have so far.  Returns whether there were
 * any that were not clean.  All runs must be clean, and no step of merging may have been under way
 * when the copy was made: then what is written later comes from clean runs.
 */
static bool
clean_outputs(Vacuum *vacuum, const MapletView *view, CleanIds *clean)
{
	Relation	index = vacuum->info->index;
	bool		found = false;
	int			i;

	for (i = MAPLET_FLUSH_OUTPUT + 1; i < MAPLET_OUTPUTS; i++)
	{
		const MapletOutput *output = &view->meta.outputs[i];
		const char *reason;
		BfRun		open;
		double		removed = vacuum->stats->tuples_removed;
		uint64		left;

		if (output->run.id == 0 || is_clean(clean, output->run.id))
			continue;
		found = true;
		if (!bf_run_open(&output->run.shape, MAPLET_BODY, &open, &reason))
			bloomfam_maplet_corrupted(index, 0, reason);
		if (clean_run(vacuum, &output->run, &open, output->interval, &left))
		{
			Assert(clean->n < (int) lengthof(clean->ids));
			clean->ids[clean->n++] = output->run.id;
			store_removed(index, output->run.id,
						  (uint64) (vacuum->stats->tuples_removed - removed));
		}
		else
			expect_gone(index, &output->run);
	}
	return found;
}

IndexBulkDeleteResult *
bloomfam_maplet_bulkdelete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
						   IndexBulkDeleteCallback callback, void *callback_state)
{
	Relation	index = info->index;
	MapletView *view = (MapletView *) palloc(sizeof(MapletView));
	CleanIds	clean = {{0}, 0};
	MapletTail	tails[2];
	int			ntails = 0;
	Vacuum		vacuum;
	int			i;

	if (stats == NULL)
		stats = (IndexBulkDeleteResult *) palloc0(sizeof(IndexBulkDeleteResult));
	vacuum.info = info;
	vacuum.stats = stats;
	vacuum.callback = callback;
	vacuum.callback_state = callback_state;
	vacuum.body = (uint8 *) palloc(MAPLET_BODY);
	stats->num_index_tuples = 0;

	/* End the flush under way first: then most often only one tail has to be cleaned. */
	bloomfam_maplet_flush(index);
	bloomfam_maplet_meta_read(index, view);
	if (view->meta.pending)
		tails[ntails++] = view->meta.tails[1 - view->meta.active];
	tails[ntails++] = view->meta.tails[view->meta.active];
	for (i = 0; i < ntails; i++)
		clean_tail(&vacuum, &tails[i]);

	bloomfam_maplet_flush(index);

	do
	{
		do
		{
			bloomfam_maplet_lock(index, MAPLET_LOCK_MERGE);
			bloomfam_maplet_meta_read(index, view);
			bloomfam_maplet_unlock(index, MAPLET_LOCK_MERGE);
			forget_gone(&clean, &view->meta);
		} while (clean_runs(&vacuum, view, &clean));
	} while (clean_outputs(&vacuum, view, &clean));

	bloomfam_maplet_meta_read(index, view);
	stats->num_index_tuples += bloomfam_maplet_entries(&view->meta);
	stats->num_pages = RelationGetNumberOfBlocks(index);
	pfree(vacuum.body);
	pfree(view);
	return stats;
}

IndexBulkDeleteResult *
bloomfam_maplet_vacuumcleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	if (info->analyze_only)
		return stats;
	if (stats == NULL)
	{
		stats = (IndexBulkDeleteResult *) palloc0(sizeof(IndexBulkDeleteResult));
		stats->num_index_tuples = info->num_heap_tuples;
		stats->estimated_count = true;
	}
	bloomfam_maplet_flush(info->index);
	bloomfam_maplet_merge_all(info->index, false);
	stats->num_pages = RelationGetNumberOfBlocks(info->index);
	return stats;
}
