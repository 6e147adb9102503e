/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * scan.c
 *	  Scans a signature index: marks all pages of the ranges that may have matching rows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relscan.h"
#include "access/table.h"
#include "catalog/index.h"
#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "pgstat.h"
#include "utils/memutils.h"

#include "signature/search.h"
#include "signature/signature.h"

typedef struct SignatureScan
{
	MemoryContext context;		/* The memory context of what belongs to one set of conditions. */
	SignatureColumns *columns;	/* NULL before the first search. */
} SignatureScan;

IndexScanDesc
bloomfam_signature_beginscan(Relation index, int nkeys, int norderbys)
{
	IndexScanDesc scan = RelationGetIndexScan(index, nkeys, norderbys);
	SignatureScan *self = (SignatureScan *) palloc0(sizeof(SignatureScan));

	self->context = AllocSetContextCreate(CurrentMemoryContext, "signature index: scan",
										  ALLOCSET_DEFAULT_SIZES);
	scan->opaque = self;
	return scan;
}

void
bloomfam_signature_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys,
						  int norderbys)
{
	if (keys != NULL && scan->numberOfKeys > 0)
		memmove(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
}

typedef struct Marking
{
	TIDBitmap  *bitmap;
	uint32		pages_per_range;
	BlockNumber nblocks;		/* The table's size when the search began. */
	int64		pages;			/* The number of pages that were marked. */
} Marking;

static void
mark_pages(Marking *marking, uint64 first, uint64 end)
{
	uint64		block;

	for (block = first; block < Min(end, marking->nblocks); block++)
	{
		if (block % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		tbm_add_page(marking->bitmap, (BlockNumber) block);
		marking->pages++;
	}
}

static void
mark_ranges(void *arg, uint32 first, uint32 n, const SignatureSet *set)
{
	Marking    *marking = (Marking *) arg;
	uint64		size = marking->pages_per_range;
	uint32		i;

	if (set == NULL)
		mark_pages(marking, first * size, marking->nblocks);
	for (i = 0; i < n; i++)
		if (signature_set_has(set, i))
			mark_pages(marking, (first + i) * size, (first + i + 1) * size);
}

int64
bloomfam_signature_getbitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	SignatureScan *self = (SignatureScan *) scan->opaque;
	Relation	index = scan->indexRelation;
	Relation	table = table_open(IndexGetRelation(RelationGetRelid(index), false),
								   AccessShareLock);
	Marking		marking = {bitmap, 0, 0, 0};
	MemoryContext old = MemoryContextSwitchTo(self->context);
	SignatureMeta *meta = bloomfam_signature_meta_read(index);
	SignatureSearch *search;

	pgstat_count_index_scan(index);
	if (self->columns == NULL)
	{
		MemoryContextSwitchTo(MemoryContextGetParent(self->context));
		self->columns = bloomfam_signature_columns_make(index, meta->ngram);
		MemoryContextSwitchTo(self->context);
	}
	bloomfam_signature_columns_fit(self->columns, index, meta);
	search = bloomfam_signature_search_make(self->columns, index, scan->keyData,
											scan->numberOfKeys);
	marking.pages_per_range = meta->pages_per_range;

	/* What is added to the table from now on is not visible to the scan's snapshot. */
	marking.nblocks = RelationGetNumberOfBlocks(table);
	while (!search->finds_nothing &&
		   !bloomfam_signature_search(index, meta, search, mark_ranges, &marking))
	{
		uint64		last_id = meta->last_id;

		/* A page was given to another owner, which the metapage's copy did not know of. */
		CHECK_FOR_INTERRUPTS();
		meta = bloomfam_signature_meta_read(index);
		if (meta->last_id == last_id)
			bloomfam_signature_corrupted(index, search->missed,
										 "A page is not where the index expects it.");
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(self->context);
	table_close(table, AccessShareLock);

	/* The executor shows this as the number of rows. */
	return marking.pages * 10;
}

void
bloomfam_signature_endscan(IndexScanDesc scan)
{
	SignatureScan *self = (SignatureScan *) scan->opaque;

	MemoryContextDelete(self->context);
	pfree(self);
}
