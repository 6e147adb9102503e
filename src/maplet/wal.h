/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * wal.h
 *	  Changes pages of a maplet index, and logs the changes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_MAPLET_WAL_H
#define BLOOMFAM_MAPLET_WAL_H

#include "maplet/tail.h"

/* Appends an entry to a tail's page that is locked in EXCLUSIVE mode and has count entries. */
extern void bloomfam_maplet_log_entry(Relation index, Buffer buffer, int count,
									  const MapletTailEntry *entry);

/*
 * Marks a tail's page, locked in EXCLUSIVE mode, as one that has sent entries on to the next page.
 */
extern void bloomfam_maplet_log_overflowed(Relation index, Buffer buffer);

/* Replaces all entries of a tail's page, locked in EXCLUSIVE mode, by the given n entries. */
extern void bloomfam_maplet_log_entries(Relation index, Buffer buffer,
										const MapletTailEntry *entries, int n);

/*
 * Replaces the body of a run's page, locked in EXCLUSIVE mode, by the first "used" bytes of body;
 * the rest of the page's body is zeroed.
 */
extern void bloomfam_maplet_log_body(Relation index, Buffer buffer, const uint8 *body,
									 uint32 used);

#endif							/* BLOOMFAM_MAPLET_WAL_H */
