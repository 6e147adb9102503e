/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * gucs.h
 *	  Declares the configuration parameters of the join filter, whose names begin with
 *	  "bloomfam.join_".
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_GUCS_H
#define BLOOMFAM_JOIN_GUCS_H

#include "pg/compat.h"

typedef enum JoinFilterMode
{
	JOIN_FILTER_OFF,
	JOIN_FILTER_ON,
	JOIN_FILTER_FORCE
} JoinFilterMode;

extern int	bloomfam_join_filter;	/* bloomfam.join_filter: a JoinFilterMode. */
extern int	bloomfam_join_filter_max_size;	/* bloomfam.join_filter_max_size, in kB; at least 1. */
/*
 * bloomfam.join_foreign_keys: the most keys that are sent to a foreign server as plain values; 0:
 * filters are sent, but no keys; -1: nothing is sent.
 */
extern int	bloomfam_join_foreign_keys;
extern bool bloomfam_join_filter_log;
extern bool bloomfam_join_filter_plans;
extern bool bloomfam_join_filter_skip;
extern bool bloomfam_join_samples;

/* The size in kB beyond which neither a filter nor a list of keys is sent to a foreign server. */
#define JOIN_FOREIGN_MAX_SIZE	1024

/*
 * Tells whether the executor may skip partitions and blocks in which no key can match: the module
 * must have been compiled for a major version of the server that it knows, and
 * bloomfam.join_filter_skip must be on.
 */
static inline bool
bloomfam_join_may_skip(void)
{
	return BLOOMFAM_KNOWN_MAJOR && bloomfam_join_filter_skip;
}

/*
 * Returns the most bytes that a filter or a list of keys may have to be sent to a foreign server; 0
 * if nothing may be sent.
 */
static inline Size
bloomfam_join_foreign_max_bytes(void)
{
	if (bloomfam_join_foreign_keys < 0)
		return 0;
	return (Size) Min(bloomfam_join_filter_max_size, JOIN_FOREIGN_MAX_SIZE) * 1024;
}

/*
 * Defines the join filter's configuration parameters. loaded_in_time says whether the module was
 * loaded early enough for join filters to work in this session; if not, a user who switches them on
 * is warned that they have no effect.
 */
extern void bloomfam_join_gucs_define(bool loaded_in_time);

#endif							/* BLOOMFAM_JOIN_GUCS_H */
