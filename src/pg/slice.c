/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * slice.c
 *	  Probes a TOASTed filter without fetching all of it.
 *
 * Probing many stored filters for one key needs of each the header and one block or a few words:
 * two chunks out of hundreds.  It is not known in advance whether a filter will be probed for one
 * key or for a million.  So it is read by slices until these have cost about as much as fetching it
 * would, and is then fetched.  That never costs more than about twice the better way.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/genam.h"
#include "access/heaptoast.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_type.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/smgr.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "pg/datum.h"

/*
 * The number of bytes of a TOASTed value whose fetching costs about as much as one read of a chunk.
 * So a value is no longer read by slices, but fetched as a whole, after one read for each part of
 * this size, including the read of the header.
 */
#define BYTES_PER_SLICE		(8 * 1024)

/*
 * After this many chunks in a row that were not at their expected place, chunks are looked up by
 * the index only.
 */
#define MAX_MISPLACED		8

/* The maximum number of bytes that a kind reads at a time. */
#define MAX_SLICE			BF_MAX_HEADER_SIZE

/* The attribute numbers of a TOAST table. */
enum
{
	CHUNK_ID = 1, CHUNK_SEQ, CHUNK_DATA
};

/* The open TOAST table, its indexes and the scan, while one TOASTed filter is probed by slices. */
struct BloomfamSliceScan
{
	Relation	table;
	Relation   *indexes;
	int			nindexes;
	IndexScanDesc scan;
	SnapshotData room;
	Snapshot	snapshot;
	TupleTableSlot *slot;
	ScanKeyData key[2];			/* The index's scan keys: the value id and the chunk's number. */

	/* The number of the chunk that was read last, which is at last_tid; -1 if none was read. */
	int32		last_seq;
	ItemPointerData last_tid;
};

static BloomfamSliceScan *
begin_scan(Oid table, Oid value_id)
{
	BloomfamSliceScan *scan = palloc(sizeof(BloomfamSliceScan));
	int			valid;

	scan->table = table_open(table, AccessShareLock);
	valid = toast_open_indexes(scan->table, AccessShareLock, &scan->indexes, &scan->nindexes);
	scan->snapshot = bloomfam_toast_snapshot(&scan->room);
	scan->scan = bloomfam_index_beginscan(scan->table, scan->indexes[valid], scan->snapshot,
										  lengthof(scan->key));
	scan->slot = table_slot_create(scan->table, NULL);
	ScanKeyInit(&scan->key[0], CHUNK_ID, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(value_id));
	ScanKeyInit(&scan->key[1], CHUNK_SEQ, BTEqualStrategyNumber, F_INT4EQ, Int32GetDatum(0));
	scan->last_seq = -1;
	return scan;
}

static void
end_scan(BloomfamSliceScan *scan)
{
	ExecDropSingleTupleTableSlot(scan->slot);
	index_endscan(scan->scan);
	toast_close_indexes(scan->indexes, scan->nindexes, AccessShareLock);
	table_close(scan->table, AccessShareLock);
	pfree(scan);
}

/*
 * Returns whether the table has this block.  Asking the file system costs a tenth of a slice, so
 * the size that the server has cached is used first.  Tables grow; and a backend that shortens one
 * clears the cached size in all others before they can lock the table again, as begin_scan() has
 * done.
 */
static bool
has_block(Relation table, int64 block)
{
	BlockNumber known = RelationGetSmgr(table)->smgr_cached_nblocks[MAIN_FORKNUM];

	return (known != InvalidBlockNumber && block < known) ||
		   block < RelationGetNumberOfBlocks(table);
}

/*
 * Puts a chunk into the slot if it is at its expected place, as seen from the last chunk that was
 * read.  The second look is for a page that has one chunk more than other pages, because the last
 * chunk of another value was short.
 */
static bool
find_by_place(BloomfamSliceScan *scan, int32 seq)
{
	int			looks;

	Assert(scan->last_seq >= 0 && ItemPointerIsValid(&scan->last_tid));
	Assert(CheckRelationLockedByMe(scan->table, AccessShareLock, true));
	for (looks = 0; looks < 2; looks++)
	{
		int64 place = (int64) ItemPointerGetBlockNumber(&scan->last_tid) * EXTERN_TUPLES_PER_PAGE +
					  ItemPointerGetOffsetNumber(&scan->last_tid) - 1 + seq - scan->last_seq;
		int64		block = place / EXTERN_TUPLES_PER_PAGE;
		bool		isnull[2];
		Datum		id;
		Datum		found;

		if (place < 0 || !has_block(scan->table, block))
			return false;
		ItemPointerSet(&scan->last_tid, (BlockNumber) block,
					   (OffsetNumber) (place % EXTERN_TUPLES_PER_PAGE + 1));
		if (!table_tuple_fetch_row_version(scan->table, &scan->last_tid, scan->snapshot,
										   scan->slot))
			return false;
		id = slot_getattr(scan->slot, CHUNK_ID, &isnull[0]);
		found = slot_getattr(scan->slot, CHUNK_SEQ, &isnull[1]);
		if (isnull[0] || isnull[1] ||
			DatumGetObjectId(id) != DatumGetObjectId(scan->key[0].sk_argument))
			return false;
		scan->last_seq = DatumGetInt32(found);
		if (scan->last_seq == seq)
			return true;
	}
	return false;
}

static bool
find_by_index(BloomfamSliceScan *scan, int32 seq)
{
	scan->key[1].sk_argument = Int32GetDatum(seq);
	index_rescan(scan->scan, scan->key, lengthof(scan->key), NULL, 0);
	if (!index_getnext_slot(scan->scan, ForwardScanDirection, scan->slot))
		return false;
	scan->last_seq = seq;
	scan->last_tid = scan->slot->tts_tid;
	return true;
}

/* Returns the data of a chunk, which are valid until the next chunk is read. */
static struct varlena *
read_chunk(BloomfamSlice *slice, int32 seq)
{
	BloomfamSliceScan *scan = slice->scan;
	struct varlena *chunk = NULL;
	bool		isnull = true;
	bool		found = false;

	slice->reads++;
	if (scan->last_seq >= 0 && slice->misplaced < MAX_MISPLACED)
	{
		found = find_by_place(scan, seq);
		slice->misplaced = found ? 0 : slice->misplaced + 1;
	}
	if (found || find_by_index(scan, seq))
		chunk = (struct varlena *) DatumGetPointer(slot_getattr(scan->slot, CHUNK_DATA, &isnull));
	if (isnull || VARATT_IS_EXTENDED(chunk) != VARATT_IS_SHORT(chunk))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("invalid bloom filter"),
				 errdetail("Reason: %s.", "a part of the stored value is missing")));
	return chunk;
}

/* Reads a part of the value that is being scanned. */
static const uint8_t *
read_slice(BloomfamSlice *slice, uint64 offset, uint64 len)
{
	uint64		done = 0;

	Assert(len <= MAX_SLICE && slice->scan != NULL);
	while (done < len)
	{
		uint64		at = (offset + done) % TOAST_MAX_CHUNK_SIZE;
		struct varlena *chunk = read_chunk(slice, (int32) ((offset + done) / TOAST_MAX_CHUNK_SIZE));
		uint64		size = VARSIZE_ANY_EXHDR(chunk);

		if (at >= size)
			/*
			 * The value is shorter than its TOAST pointer says: raise the error for such a header.
			 */
			bloomfam_header_open(NULL, 0, 0, &slice->view);
		size = Min(size - at, len - done);
		memcpy(slice->bytes + done, VARDATA_ANY(chunk) + at, size);
		done += size;
	}
	return slice->bytes;
}

bool
bloomfam_slice_open(BloomfamFilter *filter, Datum datum)
{
	BloomfamSlice *slice = &filter->slice;
	struct varlena *value = (struct varlena *) DatumGetPointer(datum);
	struct varatt_external pointer;
	bool		again;
	Size		len;

	if (!VARATT_IS_EXTERNAL_ONDISK(value) || bloomfam_filter_is_fetched(filter, datum))
		return false;
	VARATT_EXTERNAL_GET_POINTER(pointer, value);
	len = VARATT_EXTERNAL_GET_EXTSIZE(pointer);
	again = memcmp(slice->toast_pointer, &pointer, sizeof(pointer)) == 0 &&
			slice->lxid == BLOOMFAM_MY_LXID;
	if (VARATT_EXTERNAL_IS_COMPRESSED(pointer) ||
		(again ? slice->reads + 1 : 1) * (uint64) BYTES_PER_SLICE > len ||
		(again && slice->view.head.kind->probe_sliced == NULL))
		return false;

	if (!again)
	{
		slice->reads = 0;
		/*
		 * Forget the last filter first: if reading the header fails, no datum may be taken for the
		 * one opened.
		 */
		slice->toast_pointer[0] = 0;
	}
	slice->scan = begin_scan(pointer.va_toastrelid, pointer.va_valueid);
	if (!again)
	{
		Size		avail = Min(len, BF_MAX_HEADER_SIZE);

		memcpy(slice->header, read_slice(slice, 0, avail), avail);
		bloomfam_header_open(slice->header, avail, len, &slice->view);
		memcpy(slice->toast_pointer, &pointer, sizeof(pointer));
		slice->lxid = BLOOMFAM_MY_LXID;
		if (slice->view.head.kind->probe_sliced == NULL)
		{
			bloomfam_slice_close(slice);
			return false;
		}
	}
	return true;
}

/* Reads a part of the payload, for the kind's probe routine. */
static const uint8_t *
fetch_payload(void *arg, uint64_t offset, uint64_t len)
{
	BloomfamSlice *slice = arg;

	return read_slice(slice, bf_payload_offset(slice->view.head.family_len) + offset, len);
}

bool
bloomfam_slice_probe(BloomfamSlice *slice, uint64 hash)
{
	return slice->view.head.kind->probe_sliced(&slice->view.head, hash, fetch_payload, slice);
}

void
bloomfam_slice_close(BloomfamSlice *slice)
{
	end_scan(slice->scan);
	slice->scan = NULL;
}
