/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * open.h
 *	  A maplet index that a function is given.
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

/* Who may open it. */
typedef enum MapletUser
{
	MAPLET_USER_OWNER,			/* its owner */
	MAPLET_USER_MONITOR,		/* members of pg_stat_scan_tables, too */
	MAPLET_USER_CHECKED_LATER	/* the caller sees to it */
} MapletUser;

/*
 * Locks and opens the table and then the index.  Raises an error if it is no maplet index, or not
 * to be read by this session, or not to be opened by the user.
 */
extern void bloomfam_maplet_open(Oid index, LOCKMODE lockmode, MapletUser user,
								 MapletOpened *opened);
extern void bloomfam_maplet_close(MapletOpened *opened);

#endif							/* BLOOMFAM_MAPLET_OPEN_H */
