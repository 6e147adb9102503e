/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * open.h
 *	  Opens the maplet index that is a function's argument.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_MAPLET_OPEN_H
#define BLOOMFAM_MAPLET_OPEN_H

#include "pg/compat.h"

#include "utils/rel.h"

typedef struct MapletOpened
{
	Relation	table;
	Relation	index;
	LOCKMODE	lockmode;
} MapletOpened;

/* Who may open an index by bloomfam_maplet_open(). */
typedef enum MapletUser
{
	MAPLET_USER_OWNER,			/* Only the index's owner may open it. */
	MAPLET_USER_MONITOR,		/* Members of pg_stat_scan_tables may open it, too. */
	MAPLET_USER_CHECKED_LATER	/* Anybody may open it: the caller checks privileges itself. */
} MapletUser;

/*
 * Opens and locks the index's table, and then the index.  Raises an error if it is not a maplet
 * index that this session can read, if the index is not valid, or if the user may not open it.
 * bloomfam_maplet_close() closes and unlocks both.
 */
extern void bloomfam_maplet_open(Oid index, LOCKMODE lockmode, MapletUser user,
								 MapletOpened *opened);
extern void bloomfam_maplet_close(MapletOpened *opened);

#endif							/* BLOOMFAM_MAPLET_OPEN_H */
