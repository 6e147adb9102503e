/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * stat.h
 *	  Counters of what the filters of joins did, for all sessions: bloomfam_stat_join_filters.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_STAT_H
#define BLOOMFAM_JOIN_STAT_H

#include "executor/execdesc.h"

/* Makes their settings known to the server, and asks it for their memory.  For _PG_init(). */
extern void bloomfam_join_stat_init(void);

/*
 * Adds what the filters of a plan did.  To be called when its executor is about to end, only of
 * plans that have some.
 */
extern void bloomfam_join_stat_count(QueryDesc *query);

#endif							/* BLOOMFAM_JOIN_STAT_H */
