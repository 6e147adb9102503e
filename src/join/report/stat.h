/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * stat.h
 *	  Counts what the filters of joins did, for all sessions: the view bloomfam_stat_join_filters.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_STAT_H
#define BLOOMFAM_JOIN_STAT_H

#include "executor/execdesc.h"

/*
 * Defines the configuration parameters of the counters, and requests shared memory for them.  Must
 * be called in _PG_init().
 */
extern void bloomfam_join_stat_init(void);

/*
 * Adds what the filters of a plan did to the counters.  Must be called when the plan's executor is
 * about to end, and only for plans that have filters.
 */
extern void bloomfam_join_stat_count(QueryDesc *query);

#endif							/* BLOOMFAM_JOIN_STAT_H */
