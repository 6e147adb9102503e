/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * slice.c
 *	  Probing a TOASTed filter without fetching it.
 *
 * One key probed in many stored filters needs from each the header and one block or a few words:
 * two chunks out of hundreds.  Whether a filter will be probed for one key or for a million is not
 * known beforehand; so it is read by slices until those have cost about what fetching it does,
 * and fetched then.  That is never more than about twice the better of the two.
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
 * Reading a chunk for a slice costs about as much as this many bytes of fetching all.  So a value
 * is fetched whole after one read for each such part of it, that of the header included.
 */
#define BYTES_PER_SLICE		(8 * 1024)

/*
 * After so many chunks in a row that lay elsewhere, they are no longer looked for by their place.
 */
#define MAX_MISPLACED		8

/* The most that a kind fetches at a time. */
#define MAX_SLICE			BF_MAX_HEADER_SIZE

/* Columns of a TOAST table. */
enum
{
	CHUNK_ID = 1, CHUNK_SEQ, CHUNK_DATA
};

/* What is open while one filter is probed. */
struct BloomfamSliceScan
{
	Relation	table;
	Relation   *indexes;
	int			nindexes;
	IndexScanDesc scan;
	SnapshotData room;
	Snapshot	snapshot;
	TupleTableSlot *slot;
	ScanKeyData key[2];			/* of the index: value id, number of the chunk */
	int32		last_seq;		/* the last chunk that was read, and where it lies; -1: none */
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
 * Has the table this block?  Asking the file system costs a tenth of a slice, so what the server
 * knew of it last is believed: tables grow, and the backend that makes one shorter takes that
 * knowledge from all others before they can lock it again, as begin_scan() has.
 */
static bool
has_block(Relation table, int64 block)
{
	BlockNumber known = RelationGetSmgr(table)->smgr_cached_nblocks[MAIN_FORKNUM];

	return (known != InvalidBlockNumber && block < known) ||
		   block < RelationGetNumberOfBlocks(table);
}

/*
 * Puts a chunk into the slot if it lies where it should, seen from the last one that was read:
 * the second look is for a page that has one chunk more than the others, as the rest of another
 * value was short.
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

/* The data of a chunk, good until the next one is read. */
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
			bloomfam_header_open(NULL, 0, 0, &slice->view); /* raises an error: too short */
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
		slice->toast_pointer[0] = 0;	/* if this fails half-way */
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

/* For the kind's routine: a part of the payload. */
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
