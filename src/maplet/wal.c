/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * wal.c
 *	  Changes pages of a maplet index, and logs the changes.
 *
 * An insert changes 12 bytes of a page.  GenericXLog would copy the page, compare all of it, and
 * copy it back, which takes longer than the rest of the insert.  So the record of an insert is made
 * here by hand, for GenericXLog's redo routine.  The layout of these records is internal to the
 * server, and has been the same since PostgreSQL 9.6.  BLOOMFAM_KNOWN_MAJOR in compat.h says for
 * which versions it is known; in other versions GenericXLog makes the record.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "access/rmgr.h"
#include "access/xloginsert.h"
#include "miscadmin.h"

#include "maplet/wal.h"

#if BLOOMFAM_KNOWN_MAJOR

/*
 * One fragment of a record of the generic resource manager: its offset in the page, its length, and
 * its bytes (applyPageRedo() in access/transam/generic_xlog.c).
 */
typedef struct Fragment
{
	OffsetNumber offset;
	OffsetNumber length;
	MapletTailEntry entry;
} Fragment;

StaticAssertDecl(sizeof(Fragment) == 16, "no padding in fragments");

static void
log_entry_delta(Relation index, Buffer buffer, int count, const MapletTailEntry *entry)
{
	Page		page = BufferGetPage(buffer);
	MapletTailEntry *end = &maplet_tail_entries(page)[count];
	Fragment	fragment;

	START_CRIT_SECTION();
	*end = *entry;
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(index))
	{
		XLogRecPtr	recptr;

		fragment.offset = (OffsetNumber) ((char *) end - (char *) page);
		fragment.length = sizeof(MapletTailEntry);
		fragment.entry = *entry;
		XLogBeginInsert();
		XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
		XLogRegisterBufData(0, (char *) &fragment, sizeof(fragment));
		recptr = XLogInsert(RM_GENERIC_ID, 0);
		PageSetLSN(page, recptr);
	}
	END_CRIT_SECTION();
}
#endif

void
bloomfam_maplet_log_entry(Relation index, Buffer buffer, int count, const MapletTailEntry *entry)
{
	GenericXLogState *xlog;
	Page		page;

	Assert(bloomfam_buffer_is_exclusive(buffer));
	Assert(count >= 0 && count < MAPLET_TAIL_CAPACITY);
	Assert(maplet_stamp(BufferGetPage(buffer))->kind == MAPLET_PAGE_TAIL);
	Assert(ItemPointerGetOffsetNumberNoCheck(&entry->tid) != InvalidOffsetNumber);

#if BLOOMFAM_KNOWN_MAJOR
	/*
	 * The first entry of a page changes the page's pd_lower, too, so GenericXLog logs it; later
	 * entries are logged as small changes.
	 */
	if (count > 0)
	{
		log_entry_delta(index, buffer, count, entry);
		return;
	}
#endif
	xlog = GenericXLogStart(index);
	page = GenericXLogRegisterBuffer(xlog, buffer, 0);
	maplet_tail_entries(page)[count] = *entry;
	((PageHeader) page)->pd_lower = MAXALIGN(SizeOfPageHeaderData) + MAPLET_TAIL_USED;
	GenericXLogFinish(xlog);
}

void
bloomfam_maplet_log_overflowed(Relation index, Buffer buffer)
{
	GenericXLogState *xlog = GenericXLogStart(index);
	Page		page = GenericXLogRegisterBuffer(xlog, buffer, 0);

	maplet_stamp(page)->overflowed = true;
	GenericXLogFinish(xlog);
}

void
bloomfam_maplet_log_entries(Relation index, Buffer buffer, const MapletTailEntry *entries, int n)
{
	GenericXLogState *xlog = GenericXLogStart(index);
	Page		page = GenericXLogRegisterBuffer(xlog, buffer, 0);

	Assert(bloomfam_buffer_is_exclusive(buffer));
	Assert(n >= 0 && n < MAPLET_TAIL_CAPACITY);
	memset(maplet_body(page), 0, MAPLET_TAIL_USED);
	memcpy(maplet_body(page), entries, n * sizeof(MapletTailEntry));
	GenericXLogFinish(xlog);
}

void
bloomfam_maplet_log_body(Relation index, Buffer buffer, const uint8 *body, uint32 used)
{
	Page		page = BufferGetPage(buffer);

	Assert(bloomfam_buffer_is_exclusive(buffer));
	Assert(used <= MAPLET_BODY && maplet_stamp(page)->kind == MAPLET_PAGE_RUN);
	START_CRIT_SECTION();
	memset(maplet_body(page), 0, MAPLET_BODY);
	memcpy(maplet_body(page), body, used);
	((PageHeader) page)->pd_lower = MAXALIGN(SizeOfPageHeaderData) + used;
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(index))
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
}
