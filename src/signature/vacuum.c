/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * vacuum.c
 *	  Summarizes ranges for VACUUM, and for the last phase of a concurrent build.
 *
 * A signature index has no entries to be deleted.  VACUUM gives signatures to ranges that are full,
 * and new ones to dirty ranges.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/index.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "signature/signature.h"
#include "signature/summarize.h"

/* Summarizes all ranges that are full, and all dirty ones if "redo" is set. */
static void
summarize(Relation index, bool redo)
{
	Relation	table = table_open(IndexGetRelation(RelationGetRelid(index), false),
								   AccessShareLock);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "signature index: summarizing",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	SignatureMeta *meta = bloomfam_signature_meta_read(index);
	SignatureColumns *columns = bloomfam_signature_columns_make(index, meta->ngram);
	SignatureReader *reader;
	int			failures = 0;

	bloomfam_signature_columns_fit(columns, index, meta);
	reader = bloomfam_signature_reader_make(table, index, columns, SIGNATURE_VACUUM);
	bloomfam_signature_lock(index);
	if (redo)
		bloomfam_signature_redo(reader);

	/* A step fails if a row comes into its range meanwhile. */
	while (failures < 3)
	{
		failures = bloomfam_signature_step(reader, 0) ? 0 : failures + 1;
		bloomfam_vacuum_delay_point();
	}
	bloomfam_signature_unlock(index);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	table_close(table, AccessShareLock);
}

/*
 * Deletes nothing.  The last phase of a concurrent build calls this function, too, to learn which
 * rows are in the index.  By then all sessions know of the index, so that ranges can be summarized,
 * and its snapshot was taken before.  It inserts all rows that the snapshot sees, as it
 * learns of none; but all of them are on pages that are read now, so the inserts need not do
 * anything.
 */
IndexBulkDeleteResult *
bloomfam_signature_bulkdelete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
							  IndexBulkDeleteCallback callback, void *callback_state)
{
	if (stats == NULL)
		stats = (IndexBulkDeleteResult *) palloc0(sizeof(IndexBulkDeleteResult));
	if (!info->index->rd_index->indisvalid)
		summarize(info->index, false);
	return stats;
}

IndexBulkDeleteResult *
bloomfam_signature_vacuumcleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	if (info->analyze_only)
		return stats;
	if (stats == NULL)
		stats = (IndexBulkDeleteResult *) palloc0(sizeof(IndexBulkDeleteResult));
	if (info->index->rd_index->indisvalid)
		summarize(info->index, true);
	stats->num_pages = RelationGetNumberOfBlocks(info->index);
	stats->num_index_tuples = info->num_heap_tuples;
	stats->estimated_count = info->estimated_count;
	return stats;
}
