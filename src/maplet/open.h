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

/*
 * Locks and opens the table and then the index.  Raises an error if it is no maplet index, or not
 * to be read by this session.  owner: also if the user is not its owner.
 */
extern void bloomfam_maplet_open(Oid index, LOCKMODE lockmode, bool owner, MapletOpened *opened);
extern void bloomfam_maplet_close(MapletOpened *opened);

#endif							/* BLOOMFAM_MAPLET_OPEN_H */
