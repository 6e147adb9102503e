/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * lookup.h
 *	  Looks up hashes of keys, to find the places of their rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_MAPLET_LOOKUP_H
#define BLOOMFAM_MAPLET_LOOKUP_H

#include "maplet/meta.h"

/*
 * Takes n places (BF_RUN_PLACE) of a hash as they are found.  The function must not access the
 * index.
 */
typedef void (*MapletFound) (void *arg, uint64 hash, const uint64 *places, uint32 n);

/*
 * Looks up n hashes (hash.h), which must be ascending and different from each other, and passes all
 * of their places to found().  A place may be passed more than once.
 *
 * view is the caller's copy of the metapage, which is refreshed when necessary.  Every entry is
 * found that was inserted before the caller made the copy or last refreshed it.  Each hash is
 * looked up by one copy.  If a page turns out to belong to another run or tail by now, its hashes
 * are looked up again by a newer copy.  Raises an error if the index is damaged.  Each page is read
 * once for neighbouring hashes.
 */
extern void bloomfam_maplet_lookup(Relation index, MapletView *view, const uint64 *hashes,
								   Size n, MapletFound found, void *arg);

/*
 * Looks up one hash like bloomfam_maplet_lookup(), for a caller that has just refreshed *view.  If
 * this process has looked the same hash up before, no other single hash since, and if the index has
 * the version that it had then, only the active tail is searched: the runs and the other tail can
 * only have lost entries, and what was found there is passed to found() once more.
 */
extern void bloomfam_maplet_lookup_again(Relation index, MapletView *view, uint64 hash,
										 MapletFound found, void *arg);

#endif							/* BLOOMFAM_MAPLET_LOOKUP_H */
