/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * run.c
 *	  Runs in the index's file: planning, writing and reading them.
 *
 * A run's main pages are in a few extents, so that a lookup can compute a page's block.  The number
 * of overflow pages is not known in advance.  Some are reserved at first, and if these do not
 * suffice, as many as there can be at worst.  Unused ones are given back when the run is installed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "maplet/run.h"
#include "pg/index_page.h"

/*
 * When the file has to be extended for a run's main page, up to this many of the run's next main
 * pages are included.
 */
#define EXTEND_BY		32

/*
 * If a run has more than HOT_KEY_ENTRIES entries for each fingerprint, hot keys fill overflow pages
 * anyway, so there are only as many main pages as the fingerprints need.  But there are enough for
 * one in INTERVAL_PAGES entries, as a merge stops only between intervals, each of a main page and
 * its overflow pages.  So intervals have no more than that many pages on average, whatever the
 * keys, and main pages that no key belongs to are a small share.
 */
#define HOT_KEY_ENTRIES	64
#define INTERVAL_PAGES	16

void
bloomfam_maplet_plan_run(Relation index, MapletMeta *meta, int number, int p,
						 const MapletRunFacts *facts)
{
	MapletOutput *output = &meta->outputs[number];
	MapletRun  *run = &output->run;
	uint64		n = facts->entries;
	BfRun		open;
	const char *reason = NULL;

	if (n / HOT_KEY_ENTRIES > facts->fingerprints)
		n = Max(facts->fingerprints, n / INTERVAL_PAGES);
	memset(output, 0, sizeof(*output));
	if (!bf_run_plan(n, p, facts->first_block,
					 (uint64) facts->last_block - facts->first_block + 1, facts->offsets,
					 MAPLET_BODY, &run->shape) ||
		!bf_run_open(&run->shape, MAPLET_BODY, &open, &reason))
		elog(ERROR, "no run for " UINT64_FORMAT " entries in blocks %u to %u of index \"%s\"",
			 facts->entries, facts->first_block, facts->last_block,
			 RelationGetRelationName(index));

	bloomfam_maplet_allocate(meta, run->shape.pages, run->main, MAPLET_PIECES);
	run->id = maplet_new_id(meta);
	output->expected = facts->entries;
	n = Min(bf_run_max_overflow(&open, facts->entries), run->shape.pages / 32 + 1);
	bloomfam_maplet_allocate(meta, (uint32) n, &run->overflow[0], 1);
}

void
bloomfam_maplet_install_run(MapletMeta *meta, int number)
{
	MapletOutput *output = &meta->outputs[number];
	MapletRun  *run = &output->run;

	/*
	 * The output must be completely written.  If its id is 0, no run was written, whatever its
	 * other fields say.
	 */
	Assert(run->id == 0 || output->interval == run->shape.pages);
	if (run->id != 0 && run->entries > 0)
	{
		if (meta->nruns >= MAPLET_MAX_RUNS)
			elog(ERROR, "too many runs in a maplet index");
		run->overflow[0].len = Min(run->overflow[0].len, run->noverflow);
		run->overflow[1].len = run->noverflow - run->overflow[0].len;
		meta->runs[meta->nruns++] = *run;
	}
	memset(output, 0, sizeof(*output));
	meta->version = maplet_new_id(meta);
}

/* ---- writing a run ---- */

/* Reserves all overflow pages that the run being written can still need at worst. */
static void
reserve_overflow(MapletRunWriter *w)
{
	MapletRun  *run = &w->output.run;
	uint64		max = bf_run_max_overflow(&w->run, w->output.expected);
	MapletMeta *meta = w->local;
	MapletChange change;

	if (run->overflow[1].len > 0 || max <= run->overflow[0].len || max > BF_RUN_MAX_PAGES)
		elog(ERROR, "too many overflow pages in index \"%s\"", RelationGetRelationName(w->index));
	max -= run->overflow[0].len;
	if (meta == NULL)
	{
		bloomfam_maplet_change_begin(w->index, &change);
		meta = change.meta;
	}
	bloomfam_maplet_allocate(meta, (uint32) max, &run->overflow[1], 1);
	meta->outputs[w->number].run.overflow[1] = run->overflow[1];
	if (w->local == NULL)
		bloomfam_maplet_change_commit(&change);
}

static void
emit_page(void *arg, BfRunPageKind kind, uint32_t number, const uint8_t *body, uint32_t used)
{
	MapletRunWriter *w = (MapletRunWriter *) arg;
	uint32		neighbours;
	BlockNumber block = maplet_run_block(&w->output.run, kind, number, &neighbours);

	if (block == InvalidBlockNumber)
	{
		reserve_overflow(w);
		block = maplet_run_block(&w->output.run, kind, number, &neighbours);

		/*
		 * Overflow pages are written one after the other, and reserve_overflow() has made room for
		 * at least the next one.
		 */
		Assert(kind == BF_RUN_OVERFLOW && block != InvalidBlockNumber);
	}
	if (block >= w->nblocks)
	{
		w->nblocks = block + 1;
		if (kind == BF_RUN_MAIN)
			w->nblocks += Min(EXTEND_BY, neighbours);
		bloomfam_index_extend(w->index, MAIN_FORKNUM, w->nblocks);
	}

	bloomfam_maplet_page_init(w->page.data, MAPLET_PAGE_RUN, w->output.run.id, 0, used);
	memcpy(maplet_body(w->page.data), body, used);
	bloomfam_index_page_write(w->index, MAIN_FORKNUM, block, w->page.data, w->local == NULL);
	w->pages++;
	CHECK_FOR_INTERRUPTS();
}

void
bloomfam_maplet_write_begin(MapletRunWriter *w, Relation index, int number,
							const MapletOutput *output, MapletMeta *local)
{
	const char *reason;

	w->index = index;
	w->number = number;
	w->local = local;
	w->output = *output;
	w->nblocks = RelationGetNumberOfBlocks(index);
	w->pages = 0;
	if (!bf_run_open(&output->run.shape, MAPLET_BODY, &w->run, &reason))
		bloomfam_maplet_corrupted(index, 0, reason);
	bf_run_write_begin(&w->writer, &w->run, output->interval, output->run.noverflow, w->bodies,
					   emit_page, w);
}

static void
check_status(MapletRunWriter *w, BfRunStatus status)
{
	if (unlikely(status != BF_RUN_OK))
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("maplet index \"%s\" is damaged", RelationGetRelationName(w->index)),
				 errdetail_internal("status %d of a run's writer", (int) status),
				 errhint("Please REINDEX it.")));
}

void
bloomfam_maplet_write(MapletRunWriter *w, const BfRunEntry *entry)
{
	check_status(w, bf_run_write(&w->writer, entry));
}

void
bloomfam_maplet_write_until(MapletRunWriter *w, uint32 number)
{
	check_status(w, bf_run_write_until(&w->writer, number));
	w->output.interval = number;
	w->output.run.noverflow = w->writer.overflow;
	w->output.run.entries += w->writer.entries;
	w->output.run.fingerprints += w->writer.fingerprints;
	w->writer.entries = 0;
	w->writer.fingerprints = 0;
}

/* ---- reading a run ---- */

BlockNumber
bloomfam_maplet_page_block(Relation index, const MapletRun *run, BfRunPageKind kind,
						   uint32 number)
{
	uint32		neighbours;
	BlockNumber block = maplet_run_block(run, kind, number, &neighbours);

	if (block == InvalidBlockNumber)
		bloomfam_maplet_corrupted(index, run->main[0].start, "a page that the run does not have");
	return block;
}

bool
bloomfam_maplet_open_page(Relation index, const MapletRun *run, const BfRun *open,
						  BfRunPageKind kind, uint32 number, int lockmode,
						  BufferAccessStrategy strategy, Buffer *buffer, BfRunPage *page)
{
	BlockNumber block = bloomfam_maplet_page_block(index, run, kind, number);
	const char *reason = "another page of the run";
	Page		data;

	*buffer = ReadBufferExtended(index, MAIN_FORKNUM, block, RBM_NORMAL, strategy);
	LockBuffer(*buffer, lockmode);
	data = BufferGetPage(*buffer);
	if (unlikely(!maplet_page_is(data, MAPLET_PAGE_RUN, run->id)))
	{
		UnlockReleaseBuffer(*buffer);
		return false;
	}
	if (unlikely(!bf_run_open_page(open, (const uint8 *) maplet_body(data), page, &reason) ||
				 page->kind != kind ||
				 number != (kind == BF_RUN_MAIN ? page->interval : page->overflow_at)))
		bloomfam_maplet_corrupted(index, block, reason);
	return true;
}

void
bloomfam_maplet_read_begin(MapletRunReader *reader, Relation index, const MapletRun *run,
						   const BfRun *open, uint32 interval, BufferAccessStrategy strategy)
{
	memset(reader, 0, sizeof(*reader));
	reader->index = index;
	reader->run = run;
	reader->open = open;
	reader->interval = interval;
	reader->strategy = strategy;
	reader->entries = (BfRunEntry *) palloc((Size) open->capacity * sizeof(BfRunEntry));
}

bool
bloomfam_maplet_read_page(MapletRunReader *reader)
{
	BfRunCursor cursor = {0};
	bool		is_main = reader->overflow_at >= reader->overflow_end;
	BfRunPageKind kind = is_main ? BF_RUN_MAIN : BF_RUN_OVERFLOW;
	uint32		number = is_main ? reader->interval : reader->overflow_at;
	Buffer		buffer;
	BfRunPage	page;

	CHECK_FOR_INTERRUPTS();
	reader->n = reader->at = 0;
	if (is_main && number >= reader->run->shape.pages)
		return false;
	if (!bloomfam_maplet_open_page(reader->index, reader->run, reader->open, kind, number,
								   BUFFER_LOCK_SHARE, reader->strategy, &buffer, &page))
		bloomfam_maplet_corrupted(reader->index,
								  bloomfam_maplet_page_block(reader->index, reader->run, kind,
															 number),
								  "a page of a run is missing");
	reader->n = bf_run_read(&page, &cursor, reader->entries, reader->open->capacity);
	if (is_main)
	{
		reader->interval++;
		reader->overflow_at = page.overflow_at;
		reader->overflow_end = page.overflow_at + page.overflow;
	}
	else
		reader->overflow_at++;
	UnlockReleaseBuffer(buffer);
	return true;
}
