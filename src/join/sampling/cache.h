/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * cache.h
 *	  What was found of pairs of columns, kept by this session.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_SAMPLE_CACHE_H
#define BLOOMFAM_JOIN_SAMPLE_CACHE_H

#include "join/sampling/match_share.h"

/*
 * What was found for this text, which says all that it depends on; NULL: nothing, or it was dropped
 * since.  To be copied before anything else is done.
 */
extern const JoinMatchShares *bloomfam_join_cache_find(const char *text);

/* A column that was read, whose statistics may have been, too. */
typedef struct JoinCacheSource
{
	Oid			relation;
	AttrNumber	column;
	bool		inherited;		/* statistics of its children's rows, too */
} JoinCacheSource;

/*
 * Keeps what was found since nothing was found for this text, until any of the tables, or
 * statistics of any of the columns, are said to have changed.  Not at all if anything was
 * meanwhile, or the active snapshot may be older than the last change that was told.
 */
extern void bloomfam_join_cache_keep(const char *text, const JoinCacheSource *sources,
									 int nsources, const JoinMatchShares *shares);

#endif							/* BLOOMFAM_JOIN_SAMPLE_CACHE_H */
