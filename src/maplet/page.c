/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * page.c
 *	  Pages of a maplet index: their owners.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "maplet/page.h"

void
bloomfam_maplet_corrupted(Relation index, BlockNumber block, const char *reason)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("maplet index \"%s\" is damaged at block %u", RelationGetRelationName(index),
					block),
			 errdetail_internal("%s", reason),
			 errhint("Please REINDEX it.")));
}

void
bloomfam_maplet_page_init(Page page, MapletPageKind kind, uint64 owner, uint32 number, Size used)
{
	MapletStamp *stamp;

	Assert(used <= MAPLET_BODY);
	PageInit(page, BLCKSZ, sizeof(MapletStamp));
	stamp = maplet_stamp(page);
	Assert((char *) stamp == (char *) page + ((PageHeader) page)->pd_special);
	stamp->owner = owner;
	stamp->number = number;
	stamp->kind = kind;
	stamp->magic = MAPLET_MAGIC;
	((PageHeader) page)->pd_lower = MAXALIGN(SizeOfPageHeaderData) + used;
}
