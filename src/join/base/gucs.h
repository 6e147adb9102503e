/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * gucs.h
 *	  The settings of the join filter: those that begin with bloomfam.join_.
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

extern int	bloomfam_join_filter;	/* a JoinFilterMode */
extern int	bloomfam_join_filter_max_size;	/* kB; never 0 */
extern int	bloomfam_join_foreign_keys; /* 0: filters, but no keys; -1: nothing is sent */
extern bool bloomfam_join_filter_log;
extern bool bloomfam_join_filter_plans;
extern bool bloomfam_join_filter_skip;
extern bool bloomfam_join_samples;

/* The size in kB beyond which neither a filter nor a list of keys is sent to a foreign server. */
#define JOIN_FOREIGN_MAX_SIZE	1024

/* May partitions and blocks be skipped that cannot match? */
static inline bool
bloomfam_join_may_skip(void)
{
	return BLOOMFAM_KNOWN_MAJOR && bloomfam_join_filter_skip;
}

/*
 * Returns the bytes that a filter, or a list of keys, may have that a foreign server is sent; 0 if
 * nothing may be sent.
 */
static inline Size
bloomfam_join_foreign_max_bytes(void)
{
	if (bloomfam_join_foreign_keys < 0)
		return 0;
	return (Size) Min(bloomfam_join_filter_max_size, JOIN_FOREIGN_MAX_SIZE) * 1024;
}

/*
 * Makes them known to the server.  If the module was not loaded in time, whoever switches the
 * filters on is warned that they stay off.
 */
extern void bloomfam_join_gucs_define(bool loaded_in_time);

#endif							/* BLOOMFAM_JOIN_GUCS_H */
