/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * store.c
 *	  Writes signatures to the pages of batches and slabs.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "signature/store.h"

/* The memory in which the pages of a slab are put together, in bytes. */
#define SLAB_MEMORY		(4 * 1024 * 1024)

/* Reads and locks a page of a batch or slab.  Returns InvalidBuffer if it has another owner. */
static Buffer
lock_page(Relation index, const SignatureGroup *group, SignaturePageKind kind, uint32 number,
		  int mode)
{
	Buffer		buffer = ReadBuffer(index, group->start + number);

	LockBuffer(buffer, mode);
	if (signature_page_is(BufferGetPage(buffer), kind, group->id, number))
		return buffer;
	UnlockReleaseBuffer(buffer);
	return InvalidBuffer;
}

/* Does the same for callers who are the only ones that could give the page to another owner. */
static Buffer
lock_own_page(Relation index, const SignatureGroup *group, SignaturePageKind kind, uint32 number,
			  int mode)
{
	Buffer		buffer = lock_page(index, group, kind, number, mode);

	if (!BufferIsValid(buffer))
		bloomfam_signature_corrupted(index, group->start + number,
									 "A page is not where the index expects it.");
	return buffer;
}

void
bloomfam_signature_append(Relation index, const SignatureGroup *batch, uint32 i,
						  const uint64 *signature)
{
	uint32		done = 0;

	while (done < batch->blocks)
	{
		uint32		slot;
		uint32		number = signature_batch_place(batch, i, done, &slot);
		uint32		n = Min(batch->blocks - done, SIGNATURE_SLOTS - slot);
		const uint64 *source = signature + (Size) done * BF_SIGNATURE_BLOCK_WORDS;

		CHECK_FOR_INTERRUPTS();
		if (slot == 0)
		{
			PGAlignedBlock page;

			bloomfam_signature_page_init(page.data, SIGNATURE_PAGE_BATCH, batch->id, number,
										 n * BF_SIGNATURE_BLOCK_BYTES);
			memcpy(signature_slot(page.data, 0), source, n * BF_SIGNATURE_BLOCK_BYTES);
			bloomfam_signature_page_write(index, MAIN_FORKNUM, batch->start + number, page.data);
		}
		else
		{
			Buffer		buffer = lock_own_page(index, batch, SIGNATURE_PAGE_BATCH, number,
											   BUFFER_LOCK_EXCLUSIVE);
			GenericXLogState *xlog = GenericXLogStart(index);
			Page		page = GenericXLogRegisterBuffer(xlog, buffer, 0);

			memcpy(signature_slot(page, slot), source, n * BF_SIGNATURE_BLOCK_BYTES);
			((PageHeader) page)->pd_lower = MAXALIGN(SizeOfPageHeaderData) +
				(slot + n) * BF_SIGNATURE_BLOCK_BYTES;
			GenericXLogFinish(xlog);
			UnlockReleaseBuffer(buffer);
		}
		done += n;
	}
}

/* Returns whether a signature's block has bits that the other block lacks. */
static bool
block_lacks(const uint64 *block, const uint64 *other)
{
	uint64		lacking = 0;
	int			i;

	for (i = 0; i < BF_SIGNATURE_BLOCK_WORDS; i++)
		lacking |= other[i] & ~block[i];
	return lacking != 0;
}

/* Adds the blocks of a signature from "first" to "end", which are all on one page. */
static bool
add_to_page(Relation index, const SignatureGroup *batch, uint32 i, uint32 first, uint32 end,
			const uint64 *signature)
{
	uint32		slot;
	uint32		number = signature_batch_place(batch, i, first, &slot);
	Buffer		buffer = lock_page(index, batch, SIGNATURE_PAGE_BATCH, number,
								   BUFFER_LOCK_EXCLUSIVE);
	GenericXLogState *xlog = NULL;
	Page		page;
	uint32		block;

	if (!BufferIsValid(buffer))
		return false;
	page = BufferGetPage(buffer);
	for (block = first; block < end; block++, slot++)
	{
		const uint64 *added = signature + (Size) block * BF_SIGNATURE_BLOCK_WORDS;
		uint64	   *stored;
		int			j;

		if (!block_lacks(signature_slot(page, slot), added))
			continue;
		if (xlog == NULL)
		{
			xlog = GenericXLogStart(index);
			page = GenericXLogRegisterBuffer(xlog, buffer, 0);
		}
		stored = signature_slot(page, slot);
		for (j = 0; j < BF_SIGNATURE_BLOCK_WORDS; j++)
			stored[j] |= added[j];
	}
	if (xlog != NULL)
		GenericXLogFinish(xlog);
	UnlockReleaseBuffer(buffer);
	return true;
}

bool
bloomfam_signature_add(Relation index, const SignatureGroup *batch, uint32 i,
					   const uint64 *signature)
{
	static const uint64 none[BF_SIGNATURE_BLOCK_WORDS] = {0};
	uint32		block = 0;

	while (block < batch->blocks)
	{
		uint32		slot;
		uint32		end;

		(void) signature_batch_place(batch, i, block, &slot);
		end = Min(batch->blocks, block + SIGNATURE_SLOTS - slot);
		while (block < end &&
			   !block_lacks(none, signature + (Size) block * BF_SIGNATURE_BLOCK_WORDS))
			block++;
		if (block < end && !add_to_page(index, batch, i, block, end, signature))
			return false;
		block = end;
	}
	return true;
}

void
bloomfam_signature_replace(Relation index, const SignatureGroup *group, SignaturePageKind kind,
						   const uint32 *ranges, uint32 n, uint64 *const *signatures)
{
	uint32		pages = kind == SIGNATURE_PAGE_SLAB ? signature_slab_pages(group->blocks) :
		signature_batch_pages(group->blocks);
	uint32	   *done = (uint32 *) palloc0(n * sizeof(uint32));
	uint32		number;

	/* Both orders put the blocks of a signature on pages in ascending order. */
	for (number = 0; number < pages; number++)
	{
		Buffer		buffer = InvalidBuffer;
		GenericXLogState *xlog = NULL;
		Page		page = NULL;
		uint32		i;

		CHECK_FOR_INTERRUPTS();
		for (i = 0; i < n; i++)
			while (done[i] < group->blocks)
			{
				uint32		slot;

				if (signature_place(group, kind, ranges[i], done[i], &slot) != number)
					break;
				if (xlog == NULL)
				{
					buffer = lock_own_page(index, group, kind, number, BUFFER_LOCK_EXCLUSIVE);
					xlog = GenericXLogStart(index);
					page = GenericXLogRegisterBuffer(xlog, buffer, 0);
				}
				memcpy(signature_slot(page, slot),
					   signatures[i] + (Size) done[i] * BF_SIGNATURE_BLOCK_WORDS,
					   BF_SIGNATURE_BLOCK_BYTES);
				done[i]++;
			}
		if (xlog != NULL)
		{
			GenericXLogFinish(xlog);
			UnlockReleaseBuffer(buffer);
		}
	}
	pfree(done);
}

/* Copies the blocks from "first" on, as many as "npages" pages of a slab have, to these pages. */
static void
gather_pages(Relation index, const SignatureGroup *batch, uint32 first, uint32 npages,
			 PGAlignedBlock *pages)
{
	uint32		end = Min(batch->blocks, first + npages * SIGNATURE_PER_PAGE);
	uint32		i;

	for (i = 0; i < SIGNATURE_WIDTH; i++)
	{
		uint32		block = first;

		CHECK_FOR_INTERRUPTS();
		while (block < end)
		{
			uint32		slot;
			uint32		number = signature_batch_place(batch, i, block, &slot);
			Buffer		buffer = lock_own_page(index, batch, SIGNATURE_PAGE_BATCH, number,
											   BUFFER_LOCK_SHARE);

			for (; block < end && slot < SIGNATURE_SLOTS; block++, slot++)
			{
				uint32		to;
				uint32		page = signature_slab_place(i, block, &to);

				memcpy(signature_slot(pages[page - first / SIGNATURE_PER_PAGE].data, to),
					   signature_slot(BufferGetPage(buffer), slot), BF_SIGNATURE_BLOCK_BYTES);
			}
			UnlockReleaseBuffer(buffer);
		}
	}
}

void
bloomfam_signature_write_slab(Relation index, const SignatureGroup *batch,
							  const SignatureGroup *slab)
{
	uint32		all = signature_slab_pages(slab->blocks);
	uint32		step = Min(all, SLAB_MEMORY / BLCKSZ);
	PGAlignedBlock *pages = (PGAlignedBlock *) palloc(step * sizeof(PGAlignedBlock));
	uint32		first;

	for (first = 0; first < all; first += step)
	{
		uint32		n = Min(step, all - first);
		uint32		i;

		for (i = 0; i < n; i++)
			bloomfam_signature_page_init(pages[i].data, SIGNATURE_PAGE_SLAB, slab->id, first + i,
										 SIGNATURE_BODY);
		gather_pages(index, batch, first * SIGNATURE_PER_PAGE, n, pages);
		for (i = 0; i < n; i++)
			bloomfam_signature_page_write(index, MAIN_FORKNUM, slab->start + first + i,
										  pages[i].data);
	}
	pfree(pages);
}

void
bloomfam_signature_copy(Relation index, const SignatureGroup *group, SignaturePageKind kind,
						uint32 i, uint64 *signature)
{
	Buffer		buffer = InvalidBuffer;
	uint32		locked = 0;
	uint32		block;

	for (block = 0; block < group->blocks; block++)
	{
		uint32		slot;
		uint32		number = signature_place(group, kind, i, block, &slot);

		if (!BufferIsValid(buffer) || number != locked)
		{
			if (BufferIsValid(buffer))
				UnlockReleaseBuffer(buffer);
			buffer = lock_own_page(index, group, kind, number, BUFFER_LOCK_SHARE);
			locked = number;
		}
		memcpy(signature + (Size) block * BF_SIGNATURE_BLOCK_WORDS,
			   signature_slot(BufferGetPage(buffer), slot), BF_SIGNATURE_BLOCK_BYTES);
	}
	UnlockReleaseBuffer(buffer);
}
