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

/*
 * Keeps what was found since nothing was found for this text, until any of the tables, or
 * anybody's statistics, are said to have changed; not at all if they were meanwhile.  searched,
 * too: the tables that were searched, or twice the same.
 */
extern void bloomfam_join_cache_keep(const char *text, Oid probe, Oid searched, Oid searched_too,
									 const JoinMatchShares *shares);

#endif							/* BLOOMFAM_JOIN_SAMPLE_CACHE_H */
