/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * lookup.h
 *	  Looking keys up: from hashes to places.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_MAPLET_LOOKUP_H
#define BLOOMFAM_MAPLET_LOOKUP_H

#include "maplet/meta.h"

/* Takes places (BF_RUN_PLACE) of a hash as they are found; may not touch the index. */
typedef void (*MapletFound) (void *arg, uint64 hash, const uint64 *places, uint32 n);

/*
 * Finds all places of the hashes (hash.h), which are ascending and different.  A place may be
 * found more than once.
 *
 * view is the caller's copy of the metapage, which is refreshed when need be.  Every entry that was
 * inserted before the caller made or refreshed it is found: each hash is judged by one copy, and a
 * page that has changed hands since begins its hashes again.  Raises an error if the index is
 * damaged.  Each page is read once for neighbouring hashes.
 */
extern void bloomfam_maplet_lookup(Relation index, MapletView *view, const uint64 *hashes,
								   Size n, MapletFound found, void *arg);

#endif							/* BLOOMFAM_MAPLET_LOOKUP_H */
