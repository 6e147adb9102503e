/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * meta.c
 *	  Reads and changes the metapage, takes the index's locks, and finds free space.
 *
 * Free space is what the metapage does not list.  It is computed from the extents of tails, runs
 * and outputs whenever space is needed, so it cannot be lost, neither by a crash nor otherwise.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/pg_prng.h"
#include "miscadmin.h"
#include "storage/lmgr.h"

#include "maplet/meta.h"
#include "pg/index_page.h"

bool
bloomfam_maplet_has_lock(Relation index, MapletLock lock)
{
	LOCKTAG		tag;

	SET_LOCKTAG_PAGE(tag, index->rd_lockInfo.lockRelId.dbId, index->rd_lockInfo.lockRelId.relId,
					 (BlockNumber) lock);
	return bloomfam_lock_is_held(&tag, ExclusiveLock);
}

/*
 * Returns whether this process holds MAPLET_LOCK_SWITCH, MAPLET_LOCK_FLUSH or MAPLET_LOCK_MERGE.
 * None of the index's locks may be taken while it does.
 */
pg_attribute_unused()
static bool
has_any_lock(Relation index)
{
	return bloomfam_maplet_has_lock(index, MAPLET_LOCK_SWITCH) ||
		bloomfam_maplet_has_lock(index, MAPLET_LOCK_FLUSH) ||
		bloomfam_maplet_has_lock(index, MAPLET_LOCK_MERGE);
}

void
bloomfam_maplet_lock(Relation index, MapletLock lock)
{
	Assert(!has_any_lock(index));
	LockPage(index, (BlockNumber) lock, ExclusiveLock);
}

bool
bloomfam_maplet_trylock(Relation index, MapletLock lock)
{
	Assert(!has_any_lock(index));
	return ConditionalLockPage(index, (BlockNumber) lock, ExclusiveLock);
}

void
bloomfam_maplet_unlock(Relation index, MapletLock lock)
{
	Assert(bloomfam_maplet_has_lock(index, lock));
	UnlockPage(index, (BlockNumber) lock, ExclusiveLock);
}

static inline BlockNumber
lock_of_key(uint64 hash)
{
	return MAPLET_LOCK_FIRST_KEY + (BlockNumber) (hash >> 48);
}

void
bloomfam_maplet_lock_key(Relation index, uint64 hash)
{
	Assert(!has_any_lock(index));
	LockPage(index, lock_of_key(hash), ExclusiveLock);
}

void
bloomfam_maplet_unlock_key(Relation index, uint64 hash)
{
	UnlockPage(index, lock_of_key(hash), ExclusiveLock);
}

int
bloomfam_maplet_bits(double rows, int remainder_bits)
{
	int			bits = remainder_bits;
	double		n;

	for (n = 1; n < rows; n *= 2)
		bits++;
	return Min(Max(bits, 12), MAPLET_HASH_BITS);
}

void
bloomfam_maplet_meta_init(Page page, double rows, int remainder_bits, uint32 tail_pages,
						  uint64 family_id, const char *family, uint32 family_len)
{
	MapletMeta *meta;

	bloomfam_maplet_page_init(page, MAPLET_PAGE_META, 0, 0, sizeof(MapletMeta));
	meta = maplet_meta(page);
	meta->format = MAPLET_FORMAT;
	meta->hash_id = BF_HASH_XXH3;
	/*
	 * Begin the ids of runs and tails at a random number: they must differ from those that an
	 * earlier index has left on pages of the same file.
	 */
	if (!pg_strong_random(&meta->next_id, sizeof(meta->next_id)) ||
		!pg_strong_random(&meta->seed, sizeof(meta->seed)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate a random seed")));
	meta->next_id = (meta->next_id >> 2) + 1;
	meta->version = maplet_new_id(meta);
	meta->rows_hint = rows;
	meta->remainder_bits = remainder_bits;
	meta->p = bloomfam_maplet_bits(rows > 0 ? rows : MAPLET_MIN_ROWS, remainder_bits);
	meta->family_id = family_id;
	meta->family_len = Min(family_len, MAPLET_FAMILY_LEN);
	memcpy(meta->family, family, meta->family_len);
	meta->tails[0].generation = maplet_new_id(meta);
	meta->tails[0].extent.start = 1;
	meta->tails[0].extent.len = tail_pages;
	meta->end = 1 + tail_pages;
}

/* ---- reading the metapage ---- */

static bool
extent_is_sane(const MapletMeta *meta, const MapletExtent *extent)
{
	return extent->len == 0 ||
		(extent->start > 0 && extent->start < meta->end &&
		 extent->len <= meta->end - extent->start);
}

static const char *
check_run(const MapletMeta *meta, const MapletRun *run, BfRun *open)
{
	const char *reason = "not a run";
	uint64		pages = 0;
	int			i;

	if (!bf_run_open(&run->shape, MAPLET_BODY, open, &reason))
		return reason;
	if (run->id == 0 || run->id >= meta->next_id || run->output >= MAPLET_OUTPUTS ||
		run->shape.p > MAPLET_HASH_BITS)
		return "not a run";
	for (i = 0; i < MAPLET_PIECES; i++)
	{
		if (!extent_is_sane(meta, &run->main[i]))
			return "a run's pages are not in the file";
		pages += run->main[i].len;
	}
	if (pages != run->shape.pages || !extent_is_sane(meta, &run->overflow[0]) ||
		!extent_is_sane(meta, &run->overflow[1]) ||
		(uint64) run->overflow[0].len + run->overflow[1].len < run->noverflow)
		return "a run's pages are not in the file";
	return NULL;
}

/*
 * Returns why the contents are not those of a valid metapage, or NULL if they are.  Opens all runs
 * into the array.
 */
static const char *
check_meta(const MapletMeta *meta, BfRun *runs)
{
	const char *reason;
	BfRun		open;
	uint32		i;

	/*
	 * Ids begin below 2^62, and each is one more than the last, so a much larger id was never given
	 * out.
	 */
	if (meta->next_id >= UINT64CONST(1) << 63 || meta->end > MaxBlockNumber)
		return "a number is out of range";
	if (meta->nruns > MAPLET_MAX_RUNS || meta->active > 1 || meta->pending > 1 ||
		meta->family_len > MAPLET_FAMILY_LEN || meta->p < 1 || meta->p > MAPLET_HASH_BITS ||
		meta->remainder_bits < MAPLET_MIN_REMAINDER || meta->remainder_bits > MAPLET_MAX_REMAINDER)
		return "a number is out of range";
	for (i = 0; i < 2; i++)
	{
		const MapletExtent *extent = &meta->tails[i].extent;

		if (!extent_is_sane(meta, extent) || extent->len > MAPLET_MAX_TAIL_PAGES ||
			(extent->len & (extent->len - 1)) != 0)
			return "not a tail";
		if (extent->len == 0 && (i == meta->active || meta->pending))
			return "a tail is missing";
	}
	for (i = 0; i < meta->nruns; i++)
	{
		reason = check_run(meta, &meta->runs[i], &runs[i]);
		if (reason != NULL)
			return reason;
	}
	for (i = 0; i < MAPLET_OUTPUTS; i++)
	{
		if (meta->outputs[i].run.id == 0)
			continue;
		reason = check_run(meta, &meta->outputs[i].run, &open);
		if (reason != NULL)
			return reason;
		if (meta->outputs[i].interval > open.shape.pages)
			return "a number is out of range";
	}
	return NULL;
}

static void
copy_meta(Relation index, Page page, MapletView *view)
{
	const char *reason;

	/* The caller has locked the page, so it does not change between this check and the copy. */
	if (!maplet_page_is(page, MAPLET_PAGE_META, 0))
		bloomfam_maplet_corrupted(index, 0, "not a metapage");
	bloomfam_index_check_format(index, "maplet", maplet_meta(page)->format, MAPLET_FORMAT);
	memcpy(&view->meta, maplet_meta(page), sizeof(MapletMeta));
	reason = check_meta(&view->meta, view->runs);
	if (reason != NULL)
	{
		view->meta.version = 0;
		bloomfam_maplet_corrupted(index, 0, reason);
	}
}

void
bloomfam_maplet_meta_read(Relation index, MapletView *view)
{
	Buffer		buffer = ReadBuffer(index, 0);

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	copy_meta(index, BufferGetPage(buffer), view);
	UnlockReleaseBuffer(buffer);
}

/*
 * A copy of the metapage that the relation cache keeps with an index, in rd_amcache.  It has only
 * as many runs as there are.  The server frees it whenever it reloads the index's catalog entries.
 * What the copy says is used only while the metapage has its version, and no version is used twice,
 * so it need not be known what else may have happened to the file.
 */
typedef struct CachedView
{
	Size		meta_size;		/* The number of bytes of the metapage's contents. */
	Size		runs_size;		/* The number of bytes of the opened runs, which follow. */
	char		bytes[FLEXIBLE_ARRAY_MEMBER];
} CachedView;

static void
cache_view(Relation index, const MapletView *view)
{
	Size		meta_size = offsetof(MapletMeta, runs) + view->meta.nruns * sizeof(MapletRun);
	Size		runs_size = view->meta.nruns * sizeof(BfRun);
	CachedView *cached = (CachedView *)
		MemoryContextAlloc(index->rd_indexcxt,
						   offsetof(CachedView, bytes) + meta_size + runs_size);

	cached->meta_size = meta_size;
	cached->runs_size = runs_size;
	memcpy(cached->bytes, &view->meta, meta_size);
	memcpy(cached->bytes + meta_size, view->runs, runs_size);
	if (index->rd_amcache != NULL)
		pfree(index->rd_amcache);
	index->rd_amcache = cached;
}

bool
bloomfam_maplet_meta_refresh(Relation index, MapletView *view)
{
	Buffer		buffer = ReadBuffer(index, 0);
	Page		page = BufferGetPage(buffer);
	const CachedView *cached = (const CachedView *) index->rd_amcache;
	bool		changed;

	if (view->meta.version == 0 && cached != NULL)
	{
		memcpy(&view->meta, cached->bytes, cached->meta_size);
		memcpy(view->runs, cached->bytes + cached->meta_size, cached->runs_size);
	}
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	changed = !maplet_page_is(page, MAPLET_PAGE_META, 0) ||
		maplet_meta(page)->version != view->meta.version || view->meta.version == 0;
	if (changed)
		copy_meta(index, page, view);
	UnlockReleaseBuffer(buffer);
	if (changed)
		cache_view(index, view);
	return changed;
}

void
bloomfam_maplet_meta_expect_change(Relation index, MapletView *view, BlockNumber block,
								   const char *reason)
{
	if (!bloomfam_maplet_meta_refresh(index, view))
		bloomfam_maplet_corrupted(index, block, reason);
	CHECK_FOR_INTERRUPTS();
}

/* ---- changing the metapage ---- */

void
bloomfam_maplet_change_begin(Relation index, MapletChange *change)
{
	Page		page;
	const char *reason;
	BfRun		runs[MAPLET_MAX_RUNS];

	change->index = index;
	change->buffer = ReadBuffer(index, 0);
	LockBuffer(change->buffer, BUFFER_LOCK_EXCLUSIVE);
	page = BufferGetPage(change->buffer);
	if (!maplet_page_is(page, MAPLET_PAGE_META, 0))
		bloomfam_maplet_corrupted(index, 0, "not a metapage");
	bloomfam_index_check_format(index, "maplet", maplet_meta(page)->format, MAPLET_FORMAT);
	reason = check_meta(maplet_meta(page), runs);
	if (reason != NULL)
		bloomfam_maplet_corrupted(index, 0, reason);
	change->xlog = GenericXLogStart(index);
	change->meta = maplet_meta(GenericXLogRegisterBuffer(change->xlog, change->buffer, 0));
}

void
bloomfam_maplet_change_commit(MapletChange *change)
{
	BfRun		runs[MAPLET_MAX_RUNS];
	const char *reason = check_meta(change->meta, runs);

	/*
	 * If the metapage was damaged in a way that passed the check at first, the change may have made
	 * it invalid.  Then the change is not written.
	 */
	if (reason != NULL)
	{
		GenericXLogAbort(change->xlog);
		bloomfam_maplet_corrupted(change->index, 0, reason);
	}
	Assert(bloomfam_buffer_is_exclusive(change->buffer));
	GenericXLogFinish(change->xlog);
	UnlockReleaseBuffer(change->buffer);
}

void
bloomfam_maplet_change_abandon(MapletChange *change)
{
	GenericXLogAbort(change->xlog);
	UnlockReleaseBuffer(change->buffer);
}

/* ---- the metapage's contents, in memory ---- */

#define ST_SORT sort_extents
#define ST_ELEMENT_TYPE MapletExtent
#define ST_COMPARE(a, b) ((a)->start < (b)->start ? -1 : (a)->start > (b)->start)
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

static int
run_extents(const MapletRun *run, MapletExtent *extents)
{
	int			n = 0;
	int			i;

	for (i = 0; i < MAPLET_PIECES; i++)
		if (run->main[i].len > 0)
			extents[n++] = run->main[i];
	for (i = 0; i < 2; i++)
		if (run->overflow[i].len > 0)
			extents[n++] = run->overflow[i];
	return n;
}

int
bloomfam_maplet_extents(const MapletMeta *meta, MapletExtent *extents)
{
	int			n = 0;
	int			i;

	for (i = 0; i < 2; i++)
		if (meta->tails[i].extent.len > 0)
			extents[n++] = meta->tails[i].extent;
	for (i = 0; i < (int) meta->nruns; i++)
		n += run_extents(&meta->runs[i], &extents[n]);
	for (i = 0; i < MAPLET_OUTPUTS; i++)
		if (meta->outputs[i].run.id != 0)
			n += run_extents(&meta->outputs[i].run, &extents[n]);
	sort_extents(extents, n);
	return n;
}

/*
 * Chooses the gap from which the next extent is taken, when len blocks are to be reserved in at
 * most npieces extents.  That is the smallest gap with room for all blocks, or else the largest
 * gap.  If there is no gap, or only one extent is left, it is the space at the file's end, which is
 * the last element of gaps[].  Returns the gap's index in gaps[].
 */
static int
choose_gap(const MapletExtent *gaps, int n, uint32 len, int npieces)
{
	int			fits = -1;
	int			largest = -1;
	int			i;

	for (i = 0; i < n - 1; i++)
	{
		if (gaps[i].len >= len && (fits < 0 || gaps[i].len < gaps[fits].len))
			fits = i;
		if (gaps[i].len > 0 && (largest < 0 || gaps[i].len > gaps[largest].len))
			largest = i;
	}
	if (fits >= 0)
		return fits;
	return npieces > 1 && largest >= 0 ? largest : n - 1;
}

pg_attribute_unused()
static bool
extent_is_free(const MapletExtent *used, int nused, const MapletExtent *extent)
{
	int			i;

	for (i = 0; i < nused; i++)
		if (extent->start < used[i].start + used[i].len &&
			used[i].start < extent->start + extent->len)
			return false;
	return extent->start > 0;
}

void
bloomfam_maplet_allocate(MapletMeta *meta, uint32 len, MapletExtent *pieces, int npieces)
{
	MapletExtent used[MAPLET_MAX_EXTENTS];
	MapletExtent gaps[MAPLET_MAX_EXTENTS + 1];
	int			nused = bloomfam_maplet_extents(meta, used);
	BlockNumber start = 1;
	int			i;

	for (i = 0; i < nused; i++)
	{
		gaps[i].start = start;
		gaps[i].len = used[i].start > start ? used[i].start - start : 0;
		start = Max(start, used[i].start + used[i].len);
	}
	gaps[nused].start = start;
	gaps[nused].len = MaxBlockNumber - start;

	for (i = 0; i < npieces; i++)
	{
		MapletExtent *gap;

		memset(&pieces[i], 0, sizeof(MapletExtent));
		if (len == 0)
			continue;
		gap = &gaps[choose_gap(gaps, nused + 1, len, npieces - i)];
		pieces[i].start = gap->start;
		pieces[i].len = Min(len, gap->len);
		len -= pieces[i].len;
		gap->start += pieces[i].len;
		gap->len -= pieces[i].len;
		meta->end = Max(meta->end, pieces[i].start + pieces[i].len);

		/* The new extent does not overlap the metapage or a block that is in use or reserved. */
		Assert(pieces[i].len == 0 || extent_is_free(used, nused, &pieces[i]));
	}
	if (len > 0)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a maplet index cannot have more than %u blocks", MaxBlockNumber)));
}

MapletRun *
bloomfam_maplet_find_run(MapletMeta *meta, uint64 id)
{
	uint32		i;

	for (i = 0; i < meta->nruns; i++)
		if (meta->runs[i].id == id)
			return &meta->runs[i];
	return NULL;
}

double
bloomfam_maplet_entries(const MapletMeta *meta)
{
	double		n = 0;
	uint32		i;

	for (i = 0; i < meta->nruns; i++)
		n += meta->runs[i].entries;
	return n;
}
