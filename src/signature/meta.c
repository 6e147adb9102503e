/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * meta.c
 *	  The metapage of a signature index and its directory.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/pg_prng.h"
#include "miscadmin.h"
#include "storage/lmgr.h"

#include "pg/index_page.h"
#include "signature/meta.h"

StaticAssertDecl(SIGNATURE_WIDTH <= 128 && SIGNATURE_WIDTH <= 2 * BF_SIGNATURE_MATCHES,
				 "a set has a bit for each range");
StaticAssertDecl(SIGNATURE_PER_PAGE >= 1, "a page has a block of each range");

#define META_BLOCK		((BlockNumber) 0)

void
bloomfam_signature_lock(Relation index)
{
	LockPage(index, META_BLOCK, ExclusiveLock);
}

bool
bloomfam_signature_trylock(Relation index)
{
	return ConditionalLockPage(index, META_BLOCK, ExclusiveLock);
}

void
bloomfam_signature_unlock(Relation index)
{
	UnlockPage(index, META_BLOCK, ExclusiveLock);
}

static uint64
hash_constants(const SignatureMeta *meta)
{
	return bf_hash_bytes(meta, offsetof(SignatureMeta, constants));
}

void
bloomfam_signature_meta_init(Page page, uint32 pages_per_range, uint32 ngram,
							 double bits_per_key, uint64 rules)
{
	SignatureMeta *meta = signature_meta(page);

	bloomfam_signature_page_init(page, SIGNATURE_PAGE_META, 0, 0, SIGNATURE_BODY);
	memset(meta, 0, SIGNATURE_BODY);
	meta->format = SIGNATURE_FORMAT;
	meta->pages_per_range = pages_per_range;
	meta->bits = bf_signature_shape(1, bits_per_key).bits;
	meta->ngram = ngram;
	meta->bits_per_key = bits_per_key;
	meta->seed = pg_prng_uint64(&pg_global_prng_state);
	meta->rules = rules;
	meta->constants = hash_constants(meta);

	/*
	 * Ids begin at random, so that pages of a file that had been truncated within a transaction are
	 * not mistaken for those of the new one.
	 */
	meta->last_id = pg_prng_uint64(&pg_global_prng_state) >> 1;
	meta->end = 1;
}

/* Returns whether all these blocks are below "end" and none is the metapage. */
static bool
blocks_exist(BlockNumber end, BlockNumber start, uint32 length)
{
	return start > META_BLOCK && start < end && length <= end - start;
}

/*
 * Returns whether the batches' fields are valid.  The pages of ranges that have signatures are in
 * the file, which has nblocks; the others are reserved.
 */
static bool
batches_are_valid(const SignatureMeta *meta, BlockNumber nblocks)
{
	uint64		reserved = 0;
	uint32		i;

	for (i = 0; i < meta->batch_count; i++)
	{
		const SignatureBatch *batch = &meta->batches[i];
		uint32		slot;

		if (batch->group.blocks < 1 || batch->group.blocks > BF_SIGNATURE_MAX_BLOCKS ||
			batch->count > SIGNATURE_WIDTH ||
			(i + 1 < meta->batch_count && batch->count < SIGNATURE_WIDTH) ||
			!blocks_exist(meta->end, batch->group.start,
						  signature_batch_pages(batch->group.blocks)) ||
			(batch->count > 0 &&
			 !blocks_exist(nblocks, batch->group.start,
						   signature_batch_place(&batch->group, batch->count - 1,
												 batch->group.blocks - 1, &slot) + 1)))
			return false;
		reserved += signature_batch_pages(batch->group.blocks);
	}
	return meta->end <= nblocks + reserved;
}

/* Returns whether the free extents are within what is used or reserved, and in order. */
static bool
free_is_valid(const SignatureMeta *meta)
{
	BlockNumber last = META_BLOCK;
	uint32		i;

	for (i = 0; i < meta->nfree; i++)
	{
		const SignatureExtent *extent = &meta->free[i];

		if (extent->start <= last || extent->length < 1 ||
			!blocks_exist(meta->end, extent->start, extent->length))
			return false;
		last = extent->start + extent->length - 1;
	}
	return true;
}

/*
 * Raises an error for values that this module would not have written: nothing is read beyond the
 * file's end, or written far from it, because of a damaged metapage.
 */
static void
check_meta(Relation index, Page page)
{
	const SignatureMeta *meta = signature_meta(page);
	BlockNumber nblocks = RelationGetNumberOfBlocks(index);
	bool		good = signature_page_is(page, SIGNATURE_PAGE_META, 0, 0);
	uint32		i;

	if (good)
		bloomfam_index_check_format(index, "signature", meta->format, SIGNATURE_FORMAT);
	good = good && meta->constants == hash_constants(meta) &&
		meta->pages_per_range >= 1 && meta->bits >= 1 &&
		meta->bits <= BF_SIGNATURE_MAX_BITS && meta->batch_count <= SIGNATURE_BATCHES &&
		meta->nfree <= SIGNATURE_FREE_EXTENTS && meta->ndirectory <= SIGNATURE_DIRECTORY &&
		meta->nslabs <= (uint64) meta->ndirectory * SIGNATURE_ENTRIES &&
		batches_are_valid(meta, nblocks) && free_is_valid(meta);
	for (i = 0; good && i < meta->ndirectory; i++)
		good = blocks_exist(nblocks, meta->directory[i], 1);
	if (!good)
		bloomfam_signature_corrupted(index, META_BLOCK, "It is not a metapage.");
}

SignatureMeta *
bloomfam_signature_meta_read(Relation index)
{
	SignatureMeta *copy = (SignatureMeta *) palloc(SIGNATURE_BODY);
	Buffer		buffer;

	if (RelationGetNumberOfBlocks(index) == 0)
		bloomfam_signature_corrupted(index, META_BLOCK, "The file is empty.");
	buffer = ReadBuffer(index, META_BLOCK);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	check_meta(index, BufferGetPage(buffer));
	memcpy(copy, signature_meta(BufferGetPage(buffer)), SIGNATURE_BODY);
	UnlockReleaseBuffer(buffer);
	return copy;
}

void
bloomfam_signature_change_begin(Relation index, SignatureChange *change)
{
	change->buffer = ReadBuffer(index, META_BLOCK);
	LockBuffer(change->buffer, BUFFER_LOCK_EXCLUSIVE);
	check_meta(index, BufferGetPage(change->buffer));
	change->xlog = GenericXLogStart(index);
	change->meta = signature_meta(GenericXLogRegisterBuffer(change->xlog, change->buffer, 0));
	change->directory = InvalidBuffer;
	change->slab = NULL;
}

void
bloomfam_signature_change_add_slab(Relation index, SignatureChange *change,
								   const SignatureMeta *meta, uint32 slab)
{
	BlockNumber block = meta->directory[slab / SIGNATURE_ENTRIES];
	Page		page;

	change->directory = ReadBuffer(index, block);
	LockBuffer(change->directory, BUFFER_LOCK_EXCLUSIVE);
	page = BufferGetPage(change->directory);
	if (!signature_page_is(page, SIGNATURE_PAGE_DIRECTORY, 0, slab / SIGNATURE_ENTRIES))
		bloomfam_signature_corrupted(index, block, "It is not a page of the directory.");
	page = GenericXLogRegisterBuffer(change->xlog, change->directory, 0);
	change->slab = (SignatureGroup *) signature_body(page) + slab % SIGNATURE_ENTRIES;
}

void
bloomfam_signature_change_slab(Relation index, SignatureChange *change, const SignatureMeta *meta,
							   uint32 slab)
{
	change->buffer = InvalidBuffer;
	change->meta = NULL;
	change->xlog = GenericXLogStart(index);
	bloomfam_signature_change_add_slab(index, change, meta, slab);
}

static void
release(SignatureChange *change)
{
	if (BufferIsValid(change->directory))
		UnlockReleaseBuffer(change->directory);
	if (BufferIsValid(change->buffer))
		UnlockReleaseBuffer(change->buffer);
}

void
bloomfam_signature_change_commit(SignatureChange *change)
{
	GenericXLogFinish(change->xlog);
	release(change);
}

void
bloomfam_signature_change_abandon(SignatureChange *change)
{
	GenericXLogAbort(change->xlog);
	release(change);
}

uint32
bloomfam_signature_slabs_read(Relation index, const SignatureMeta *meta, uint32 first,
							  SignatureGroup *slabs)
{
	uint32		number = first / SIGNATURE_ENTRIES;
	uint32		n = Min(meta->nslabs, (number + 1) * SIGNATURE_ENTRIES) - first;
	Buffer		buffer = ReadBuffer(index, meta->directory[number]);
	Page		page = BufferGetPage(buffer);
	BlockNumber nblocks = RelationGetNumberOfBlocks(index);
	uint32		i;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (!signature_page_is(page, SIGNATURE_PAGE_DIRECTORY, 0, number))
		bloomfam_signature_corrupted(index, meta->directory[number],
									 "It is not a page of the directory.");
	memcpy(slabs, (SignatureGroup *) signature_body(page) + first % SIGNATURE_ENTRIES,
		   n * sizeof(SignatureGroup));
	UnlockReleaseBuffer(buffer);
	for (i = 0; i < n; i++)
		if (slabs[i].blocks < 1 || slabs[i].blocks > BF_SIGNATURE_MAX_BLOCKS ||
			!blocks_exist(nblocks, slabs[i].start, signature_slab_pages(slabs[i].blocks)))
			bloomfam_signature_corrupted(index, meta->directory[number],
										 "A slab has no valid place.");
	return n;
}

/* Removes the i-th free extent. */
static void
remove_free(SignatureMeta *meta, uint32 i)
{
	meta->nfree--;
	memmove(&meta->free[i], &meta->free[i + 1], (meta->nfree - i) * sizeof(SignatureExtent));
}

BlockNumber
bloomfam_signature_allocate(SignatureMeta *meta, uint32 length)
{
	BlockNumber start = meta->end;
	uint32		i;

	for (i = 0; i < meta->nfree; i++)
		if (meta->free[i].length >= length)
		{
			start = meta->free[i].start;
			meta->free[i].start += length;
			meta->free[i].length -= length;
			if (meta->free[i].length == 0)
				remove_free(meta, i);
			return start;
		}
	if (length > MaxBlockNumber - meta->end)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a signature index cannot have more than %u blocks", MaxBlockNumber)));
	meta->end += length;
	return start;
}

void
bloomfam_signature_free(SignatureMeta *meta, BlockNumber start, uint32 length)
{
	SignatureExtent *free = meta->free;
	uint32		i = 0;

	while (i < meta->nfree && free[i].start < start)
		i++;
	if (i > 0 && free[i - 1].start + free[i - 1].length == start)
	{
		free[i - 1].length += length;
		if (i < meta->nfree && start + length == free[i].start)
		{
			free[i - 1].length += free[i].length;
			remove_free(meta, i);
		}
	}
	else if (i < meta->nfree && start + length == free[i].start)
	{
		free[i].start = start;
		free[i].length += length;
	}
	else if (meta->nfree < SIGNATURE_FREE_EXTENTS)
	{
		memmove(&free[i + 1], &free[i], (meta->nfree - i) * sizeof(SignatureExtent));
		meta->nfree++;
		free[i].start = start;
		free[i].length = length;
	}

	/*
	 * If there are too many extents, the new one stays unused until the index is built anew.  That
	 * takes 32 changes of the signatures' size with extents that fit no other.
	 */
	if (meta->nfree > 0 && free[meta->nfree - 1].start + free[meta->nfree - 1].length == meta->end)
		meta->end = free[--meta->nfree].start;
}
