/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * wal.h
 *	  Changes of pages, logged.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_MAPLET_WAL_H
#define BLOOMFAM_MAPLET_WAL_H

#include "maplet/tail.h"

/* Puts an entry at the end of a tail's page, which is held in EXCLUSIVE mode and has count. */
extern void bloomfam_maplet_log_entry(Relation index, Buffer buffer, int count,
									  const MapletTailEntry *entry);

/* Marks such a page as one that has sent entries on. */
extern void bloomfam_maplet_log_overflowed(Relation index, Buffer buffer);

/* Replaces such a page's entries by these. */
extern void bloomfam_maplet_log_entries(Relation index, Buffer buffer,
										const MapletTailEntry *entries, int n);

/* Replaces the body of a run's page, held in EXCLUSIVE mode; used bytes are not padding. */
extern void bloomfam_maplet_log_body(Relation index, Buffer buffer, const uint8 *body,
									 uint32 used);

#endif							/* BLOOMFAM_MAPLET_WAL_H */
