/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * lookup.c
 *	  Looks up hashes of keys, to find the places of their rows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "maplet/lookup.h"
#include "maplet/run.h"
#include "maplet/tail.h"

/*
 * The number of hashes that are looked up by one copy of the metapage.  It is small, so that the
 * index seldom changes meanwhile.  Each time the index has changed, the number is halved, so that
 * the lookup comes to an end.
 */
#define BATCH			512

/*
 * The number of main pages from which on a run may not be in memory, so that its pages are
 * prefetched.
 */
#define LARGE_RUN_PAGES	256

/* The maximum number of places that are passed to the caller at once. */
#define PLACES			64

/* The maximum number of places that are remembered of a hash. */
#define REMEMBERED		16

/*
 * What was found outside the active tail when this process last looked up a single hash.  The
 * places may have lost their rows since, and have others.
 */
static struct
{
	Oid			index;
	uint64		version;		/* The metapage's version; 0 if there is nothing to remember. */
	uint64		hash;
	uint32		n;				/* Greater than REMEMBERED if there were too many places. */
	uint64		places[REMEMBERED];
}			remembered;

typedef struct Lookup
{
	Relation	index;
	const MapletView *view;
	const uint64 *hashes;
	Size		n;
	MapletFound found;
	void	   *arg;
	bool		remember;		/* Whether the places that are found now are remembered. */

	/*
	 * The block of a page that does not belong any more to the run or tail that it belongs to in
	 * the copy of the metapage.
	 */
	BlockNumber missed;
} Lookup;

static void
pass_places(Lookup *lookup, uint64 hash, const uint64 *places, uint32 n)
{
	if (lookup->remember)
	{
		if (remembered.n + n <= REMEMBERED)
			memcpy(&remembered.places[remembered.n], places, n * sizeof(uint64));
		remembered.n = Min(remembered.n + n, REMEMBERED + 1);
	}
	lookup->found(lookup->arg, hash, places, n);
}

static void
search_tail_page(Lookup *lookup, BlockNumber block, Page page, Size begin, Size end)
{
	const MapletTailEntry *entries = maplet_tail_entries(page);
	int			count = bloomfam_maplet_tail_count(page);
	Size		i;
	int			j;

	for (i = begin; i < end; i++)
	{
		MapletTailEntry key;

		memset(&key, 0, sizeof(key));
		maplet_tail_entry(&key, lookup->hashes[i], &key.tid);
		for (j = 0; j < count; j++)
			if (unlikely(entries[j].hash[2] == key.hash[2] && entries[j].hash[1] == key.hash[1] &&
						 entries[j].hash[0] == key.hash[0]))
			{
				uint64		place = maplet_tid_place(&entries[j].tid);

				if (unlikely(BF_RUN_OFFSET(place) == InvalidOffsetNumber))
					bloomfam_maplet_corrupted(lookup->index, block, "an entry without a place");
				pass_places(lookup, lookup->hashes[i], &place, 1);
			}
	}
}

/*
 * Searches a tail for all hashes.  Returns false, and sets lookup->missed, if a page does not
 * belong to the tail any more.
 */
static bool
search_tail(Lookup *lookup, const MapletTail *tail)
{
	uint32		npages = tail->extent.len;
	Size		begin;
	Size		end;

	for (begin = 0; begin < lookup->n; begin = end)
	{
		uint32		home = maplet_tail_page(lookup->hashes[begin], npages);
		uint32		step;
		bool		more = true;

		for (end = begin + 1; end < lookup->n; end++)
			if (maplet_tail_page(lookup->hashes[end], npages) != home)
				break;
		for (step = 0; more && step < Min(MAPLET_TAIL_WALK, npages); step++)
		{
			uint32		number = (home + step) % npages;
			BlockNumber block = tail->extent.start + number;
			Buffer		buffer = ReadBuffer(lookup->index, block);
			Page		page = BufferGetPage(buffer);

			LockBuffer(buffer, BUFFER_LOCK_SHARE);
			if (!maplet_page_is(page, MAPLET_PAGE_TAIL, tail->generation) ||
				maplet_stamp(page)->number != number)
			{
				UnlockReleaseBuffer(buffer);
				lookup->missed = block;
				return false;
			}
			search_tail_page(lookup, block, page, begin, end);
			more = maplet_stamp(page)->overflowed;
			UnlockReleaseBuffer(buffer);
		}
	}
	return true;
}

static void
find_in_page(Lookup *lookup, uint64 hash, const BfRunPage *page, const BfRunAim *aim)
{
	uint64		places[PLACES];
	uint32		from = 0;
	uint32		n;

	do
	{
		n = bf_run_find(page, aim, &from, places, PLACES);
		if (n > 0)
			pass_places(lookup, hash, places, n);
	} while (n == PLACES);
}

/*
 * Searches the overflow pages that follow a main page for a hash.  Returns false, and sets
 * lookup->missed, if a page does not belong to the run any more.
 */
static bool
search_overflow(Lookup *lookup, const MapletRun *run, const BfRun *open,
				const BfRunPage *main_page, uint64 hash, const BfRunAim *aim)
{
	BfRunSearch search;
	BfRunPage	page;
	Buffer		buffer;
	uint32		number;
	bool		more;

	bf_run_search_begin(&search, main_page);
	while (bf_run_search_next(&search, &number))
	{
		if (!bloomfam_maplet_open_page(lookup->index, run, open, BF_RUN_OVERFLOW, number,
									   BUFFER_LOCK_SHARE, NULL, &buffer, &page))
			goto missed;
		bf_run_search_tell(&search, &page, aim);
		UnlockReleaseBuffer(buffer);
	}
	do
	{
		if (!bloomfam_maplet_open_page(lookup->index, run, open, BF_RUN_OVERFLOW, number,
									   BUFFER_LOCK_SHARE, NULL, &buffer, &page))
			goto missed;
		find_in_page(lookup, hash, &page, aim);
		more = bf_run_more(&page, aim) && number + 1 < search.end;
		UnlockReleaseBuffer(buffer);
		number++;
		CHECK_FOR_INTERRUPTS();
	} while (more);
	return true;

missed:
	lookup->missed = bloomfam_maplet_page_block(lookup->index, run, BF_RUN_OVERFLOW, number);
	return false;
}

/*
 * Searches a run for all hashes.  Returns false, and sets lookup->missed, if a page does not belong
 * to the run any more.
 */
static bool
search_run(Lookup *lookup, const MapletRun *run, const BfRun *open)
{
	Buffer		buffer = InvalidBuffer;
	BfRunPage	page;
	uint32		number = 0;
	Size		i;

	for (i = 0; i < lookup->n; i++)
	{
		BfRunAim	aim;

		bf_run_aim(open, lookup->hashes[i], &aim);
		if (buffer == InvalidBuffer || aim.page != number)
		{
			if (buffer != InvalidBuffer)
				UnlockReleaseBuffer(buffer);
			CHECK_FOR_INTERRUPTS();
			number = aim.page;
			if (!bloomfam_maplet_open_page(lookup->index, run, open, BF_RUN_MAIN, number,
										   BUFFER_LOCK_SHARE, NULL, &buffer, &page))
			{
				lookup->missed = bloomfam_maplet_page_block(lookup->index, run, BF_RUN_MAIN,
															number);
				return false;
			}
		}
		find_in_page(lookup, lookup->hashes[i], &page, &aim);
		if (page.overflow > 0 && bf_run_more(&page, &aim))
		{
			/* Release the main page while its overflow pages are read. */
			BfRunPage	main_page = page;

			UnlockReleaseBuffer(buffer);
			buffer = InvalidBuffer;
			if (!search_overflow(lookup, run, open, &main_page, lookup->hashes[i], &aim))
				return false;
		}
	}
	if (buffer != InvalidBuffer)
		UnlockReleaseBuffer(buffer);
	return true;
}

/*
 * If a single hash is looked up, prefetches the page that it has in each large run, so that these
 * pages are read at the same time.  Does nothing unless there are at least two large runs.
 */
static void
prefetch(Lookup *lookup)
{
	const MapletMeta *meta = &lookup->view->meta;
	int			nlarge = 0;
	uint32		i;

	for (i = 0; i < meta->nruns; i++)
		nlarge += meta->runs[i].shape.pages >= LARGE_RUN_PAGES;
	if (nlarge < 2)
		return;
	for (i = 0; i < meta->nruns; i++)
		if (meta->runs[i].shape.pages >= LARGE_RUN_PAGES)
		{
			uint32		page = bf_run_page_of(&lookup->view->runs[i], lookup->hashes[0]);

			PrefetchBuffer(lookup->index, MAIN_FORKNUM,
						   bloomfam_maplet_page_block(lookup->index, &meta->runs[i], BF_RUN_MAIN,
													  page));
		}
}

static bool
search_all(Lookup *lookup)
{
	const MapletMeta *meta = &lookup->view->meta;
	uint32		i;

	/*
	 * Tails and runs may be searched in any order: an entry that moves from a tail to a run, or
	 * from run to run, gets a page with another owner's id.  So a search by one copy of the
	 * metapage either finds all entries, or finds a page with an unexpected owner and is done
	 * again.
	 */
	if (lookup->n == 1)
		prefetch(lookup);
	lookup->remember = false;
	if (!search_tail(lookup, &meta->tails[meta->active]))
		return false;
	lookup->remember = lookup->n == 1;
	if (lookup->remember)
	{
		remembered.version = 0;
		remembered.n = 0;
	}
	if (meta->pending && !search_tail(lookup, &meta->tails[1 - meta->active]))
		return false;
	for (i = 0; i < meta->nruns; i++)
		if (!search_run(lookup, &meta->runs[i], &lookup->view->runs[i]))
			return false;
	if (lookup->remember && remembered.n <= REMEMBERED)
	{
		remembered.index = RelationGetRelid(lookup->index);
		remembered.version = meta->version;
		remembered.hash = lookup->hashes[0];
	}
	return true;
}

void
bloomfam_maplet_lookup(Relation index, MapletView *view, const uint64 *hashes, Size n,
					   MapletFound found, void *arg)
{
	Lookup		lookup;
	Size		done = 0;
	Size		batch = BATCH;

	lookup.index = index;
	lookup.view = view;
	lookup.found = found;
	lookup.arg = arg;
	while (done < n)
	{
		lookup.hashes = hashes + done;
		lookup.n = Min(batch, n - done);
		if (done > 0)
			bloomfam_maplet_meta_refresh(index, view);
		while (!search_all(&lookup))
		{
			bloomfam_maplet_meta_expect_change(index, view, lookup.missed,
											   "a page is not where the metapage says");
			batch = Max(batch / 2, 1);
			lookup.n = Min(batch, n - done);
		}
		done += lookup.n;
		batch = Min(batch * 2, BATCH);
	}
}

void
bloomfam_maplet_lookup_again(Relation index, MapletView *view, uint64 hash, MapletFound found,
							 void *arg)
{
	const MapletMeta *meta = &view->meta;
	Lookup		lookup = {index, view, &hash, 1, found, arg, false, InvalidBlockNumber};

	if (remembered.version == 0 || remembered.version != meta->version ||
		remembered.hash != hash || remembered.index != RelationGetRelid(index) ||
		!search_tail(&lookup, &meta->tails[meta->active]))
		bloomfam_maplet_lookup(index, view, &hash, 1, found, arg);
	else if (remembered.n > 0)
		found(arg, hash, remembered.places, remembered.n);
}
